//! Distribution functions against published tables, closed forms and sampling.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

use super::distribution::{Distribution, between};
use super::functions::{SumOfSizes, dawson, normal};
use crate::chi_square::chi_square;

#[test]
fn published_values() {
    // Quantiles of chi-square: degrees of freedom, probability, value.
    for (degrees, probability, x) in [
        (1, 0.95, 3.841_458_820_694_124),
        (2, 0.95, 5.991_464_547_107_979),
        (5, 0.95, 11.070_497_693_516_351),
        (10, 0.95, 18.307_038_053_275_146),
        (30, 0.99, 50.892_181_311_517_09),
        (100, 0.95, 124.342_113_404_004_08),
        (10, 0.05, 3.940_299_136_119_027),
    ] {
        let found = chi_square(degrees, x);
        assert!((found - probability).abs() < 1e-12, "{degrees} {x}: {found}");
    }
    // erf(1) and erf(1/2).
    assert!((normal(2f64.sqrt()) - 0.842_700_792_949_714_9).abs() < 1e-14);
    assert!((normal(0.5f64.sqrt()) - 0.520_499_877_813_046_5).abs() < 1e-14);
    for (x, value) in [
        (0.5, 0.424_436_383_502_022_3),
        (1.0, 0.538_079_506_912_768_4),
        (-2.0, -0.301_340_388_923_791_97),
        (10.0, 0.050_253_847_187_598_54),
    ] {
        assert!((dawson(x) - value).abs() < 1e-15, "{x}: {}", dawson(x));
    }
    // Both formulas meet where one takes over from the other.
    assert!((dawson(10.0) / dawson(10.0 - 1e-9) - 1.0).abs() < 1e-9);
    // Imhof (1961), table 1: 0.6, 0.3 and 0.1 times chi-square with one degree of freedom each.
    let weighted = Distribution::new(2.0, &[0.6f64.sqrt(), 0.3f64.sqrt(), 0.1f64.sqrt()]);
    for (x, beyond) in [(0.1f64, 0.9458), (0.7, 0.5064), (2.0, 0.1240)] {
        let found = 1.0 - weighted.at_most(x.sqrt());
        assert!((found - beyond).abs() < 5.1e-5, "{x}: {found}");
    }
}

#[test]
fn closed_forms() {
    // The sum of two sizes: erf(r / 2)^2.
    let two = SumOfSizes::new(&[1.0, 1.0]);
    for r in [0.1, 0.7, 1.5, 3.0, 6.0] {
        let closed = normal(r / 2f64.sqrt()).powi(2);
        assert!((two.at_most(r) - closed).abs() < 1e-9, "{r}: {} {closed}", two.at_most(r));
        assert_eq!(Distribution::new(1.0, &[1.0, 0.0, 1.0]).at_most(r), closed);
        let all = Distribution::new(f64::INFINITY, &[1.0; 3]);
        assert!((all.at_most(r) - normal(r).powi(3)).abs() < 1e-15);
        // Two equal errors: 1 - exp(-r^2 / 2).
        let round = Distribution::new(2.0, &[2.0, 2.0]).at_most(2.0 * r);
        assert!((round - (1.0 - (-0.5 * r * r).exp())).abs() < 1e-14);
    }
    // A large sum of sizes is approximately normal, and certain beyond its largest value.
    let many = SumOfSizes::new(&[1.0; 400]);
    let mean = 400.0 * (2.0 / std::f64::consts::PI).sqrt();
    assert!((many.at_most(mean) - 0.5).abs() < 0.02);
    assert_eq!((many.at_most(0.0), many.at_most(1e6)), (0.0, 1.0));
    assert!((between(-1.0, 2.0, 1.0) - 0.818_594_614_120_364).abs() < 1e-12);
    assert!((between(1.0, 2.0, 1.0) - 0.135_905_121_983_277_9).abs() < 1e-12);
    assert_eq!((between(0.0, 0.0, 0.0), between(0.5, 1.0, 0.0)), (1.0, 0.0));
}

#[test]
fn probabilities_are_those_of_sampled_errors() {
    const SAMPLES: usize = 200_000;
    let mut random = ChaCha8Rng::seed_from_u64(3);
    for deviations in [vec![1.0; 3], vec![1.0, 0.4], vec![1.0, 0.1, 2.0, 0.5, 0.7], vec![0.3; 12]] {
        let errors: Vec<Vec<f64>> = (0..SAMPLES)
            .map(|_| deviations.iter().map(|s| s * random.sample::<f64, _>(StandardNormal)).collect())
            .collect();
        for power in [1.0, 2.0, f64::INFINITY] {
            let norm = |error: &Vec<f64>| match power {
                1.0 => error.iter().map(|e| e.abs()).sum::<f64>(),
                2.0 => error.iter().map(|e| e * e).sum::<f64>().sqrt(),
                _ => error.iter().fold(0.0, |most: f64, e| most.max(e.abs())),
            };
            let mut norms: Vec<f64> = errors.iter().map(norm).collect();
            norms.sort_by(f64::total_cmp);
            let distribution = Distribution::new(power, &deviations);
            for share in [0.01, 0.3, 0.5, 0.9, 0.95, 0.999] {
                let r = norms[(share * SAMPLES as f64) as usize];
                let (found, room) =
                    (distribution.at_most(r), 5.0 * (share * (1.0 - share) / SAMPLES as f64).sqrt());
                assert!((found - share).abs() < room, "{power} {deviations:?} {share}: {found}");
            }
        }
    }
}
