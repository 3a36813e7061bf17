//! The chi-square distribution: that of the squared length of independent standard normal numbers.

use std::f64::consts::PI;

/// Terms after which series and continued fractions are ended; they converge long before.
const TERMS: usize = 100_000;

/// Steps of a bisection after which neighbouring numbers are reached.
const HALVINGS: usize = 200;

/// The distribution function of chi-square with `degrees` degrees of freedom: the regularised incomplete gamma
/// function `P(degrees / 2, x / 2)`, by its power series or, far out, by its continued fraction.
pub(crate) fn chi_square(degrees: usize, x: f64) -> f64 {
    let (a, z) = (0.5 * degrees as f64, 0.5 * x);
    if degrees == 0 || z.is_infinite() {
        return 1.0;
    }
    if z.is_nan() || z <= 0.0 {
        return 0.0;
    }
    // z^a e^-z / gamma(a + 1)
    let scale = (a * z.ln() - z - ln_gamma_of_half(degrees + 2)).exp();
    if z < a + 1.0 {
        let (mut term, mut sum) = (1.0, 1.0);
        for n in 1..TERMS {
            term *= z / (a + n as f64);
            sum += term;
            if term < 1e-17 * sum {
                break;
            }
        }
        return (scale * sum).min(1.0);
    }
    // The upper tail is z^a e^-z / gamma(a) / (z + 1 - a - 1 (1 - a) / (z + 3 - a - 2 (2 - a) / ...)). The
    // denominators are evaluated from the front, by Lentz's method.
    let mut b = z + 1.0 - a;
    let mut d = 1.0 / b;
    let (mut c, mut fraction) = (f64::MAX, d);
    for n in 1..TERMS {
        let part = n as f64 * (a - n as f64);
        b += 2.0;
        d = 1.0 / (part * d + b);
        c = b + part / c;
        let factor = c * d;
        fraction *= factor;
        if (factor - 1.0).abs() < 1e-16 {
            break;
        }
    }
    (1.0 - scale * a * fraction).clamp(0.0, 1.0)
}

/// The logarithm of `gamma(twice / 2)`.
fn ln_gamma_of_half(twice: usize) -> f64 {
    let (first, start) = if twice.is_multiple_of(2) { (1.0, 0.0) } else { (0.5, 0.5 * PI.ln()) };
    let factors = (twice - 1) / 2;
    // gamma(n) is the product of 1 to n - 1, gamma(n + 1/2) is sqrt(pi) times that of 1/2 to n - 1/2.
    (0..factors).fold(start, |sum, i| sum + (first + i as f64).ln())
}

/// The least radius of a ball in which this many independent standard normal numbers lie together with at least this
/// probability, which is below 1.
pub(crate) fn radius(count: usize, probability: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while chi_square(count, high * high) < probability {
        (low, high) = (high, 2.0 * high);
    }
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if chi_square(count, middle * middle) < probability { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn radii_are_roots_of_published_quantiles() {
        for (count, probability, square) in [
            (1, 0.95, 3.841_458_820_694_124_f64),
            (3, 0.99, 11.344_866_730_144_373),
            (10, 0.95, 18.307_038_053_275_146),
            (100, 0.5, 99.334_129_235_988_46),
        ] {
            let found = radius(count, probability);
            assert!((found - square.sqrt()).abs() < 1e-9, "{count} {probability}: {found}");
            assert!(chi_square(count, found * found) >= probability);
        }
    }
}
