//! `train --errors`, `train --loss-within`, `fit --errors` and `fit --band`.

use super::*;
use surefoot::classifier::Reach;
use surefoot::{Outcome, Verdict};

const TRAIN: [&str; 7] = ["train", "people.csv", "--target", "repaid", "--favourable", "yes", "--hidden"];

fn linear<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&TRAIN, &["none"][..], more].concat()
}

#[test]
fn the_covariance_of_a_logistic_regression_is_guarded_against() {
    let folder = folder();
    let at = folder.path();
    let said = done(at, &linear(&["--errors"]));
    assert!(said.contains("recourse holds for all weights in their 95% confidence region"), "{said}");
    let first = problem(at);
    let ellipsoid = first.classifier().weight_ellipsoid().unwrap();
    assert_eq!(ellipsoid.reach(), Reach::Probability(0.95));
    // Five weights: the root of the quantile of chi-square with five degrees of freedom.
    assert!((ellipsoid.radius() - 11.070_497_693_516_351_f64.sqrt()).abs() < 1e-9);
    // Against the errors by numeric derivatives of the log-loss on the rows that were trained on: here all of them.
    let said = done(at, &linear(&["--errors=0.5", "--test", "0"]));
    assert!(said.contains("50% confidence region"), "{said}");
    let text = std::fs::read_to_string(at.join("problem.toml")).unwrap();
    assert_eq!(text.matches("[[uncertainty]]").count(), 1, "{text}");
    assert!(text.starts_with("# Ours.") && text.contains("# per month"));
    let all = problem(at);
    let trained = all.classifier().trained();
    let (weights, intercept) = trained.coefficients().unwrap();
    let offset = all.classifier().offset();
    let rows: Vec<(Vec<f64>, f64)> = people()
        .lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            let own: Vec<f64> = cells[1..5].iter().map(|cell| cell.parse().unwrap()).collect();
            let z =
                [(own[0] - 40.0) / 9.0, own[1], (own[2] - 2200.0) / 500.0, (own[3] - 4400.0) / 1500.0, 1.0];
            (z.to_vec(), f64::from(u8::from(cells[5] == "yes")))
        })
        .collect();
    let w: Vec<f64> = weights.iter().copied().chain([intercept + offset]).collect();
    let loss = |w: &[f64]| -> f64 {
        let term = |(z, y): &(Vec<f64>, f64)| {
            let logit: f64 = z.iter().zip(w).map(|(z, w)| z * w).sum();
            logit.exp().ln_1p() - y * logit
        };
        rows.iter().map(term).sum()
    };
    let step = 1e-3;
    let at_two = |i: usize, a: f64, j: usize, b: f64| {
        let mut moved = w.clone();
        moved[i] += a * step;
        moved[j] += b * step;
        loss(&moved)
    };
    let second = |i: usize, j: usize| {
        (at_two(i, 1.0, j, 1.0) - at_two(i, 1.0, j, -1.0) - at_two(i, -1.0, j, 1.0)
            + at_two(i, -1.0, j, -1.0))
            / (4.0 * step * step)
    };
    for i in 0..5 {
        let slope = (at_two(i, 0.5, i, 0.5) - at_two(i, -0.5, i, -0.5)) / (2.0 * step);
        assert!(slope.abs() < 1e-3, "weights are at the optimum: {slope}");
    }
    let ellipsoid = all.classifier().weight_ellipsoid().unwrap();
    // The covariance is the inverse of the Hessian: H times the covariance of sums of weights is those sums.
    let unit = |i: usize| (0..5).map(|j| f64::from(i == j)).collect::<Vec<f64>>();
    let covariance = |i: usize, j: usize| {
        let sum: Vec<f64> = unit(i).iter().zip(&unit(j)).map(|(a, b)| a + b).collect();
        let square = |z: &[f64]| ellipsoid.standard_error(z).powi(2);
        if i == j { square(&unit(i)) } else { 0.5 * (square(&sum) - square(&unit(i)) - square(&unit(j))) }
    };
    for i in 0..5 {
        for j in 0..5 {
            let product: f64 = (0..5).map(|k| second(i, k) * covariance(k, j)).sum();
            assert!((product - f64::from(u8::from(i == j))).abs() < 1e-3, "{i} {j}: {product}");
        }
    }
    // What is written is read, answered and verified.
    done(at, &["recourse", "problem.toml", "people.csv", "-o", "answers.csv", "--proofs", "proofs.jsonl"]);
    done(at, &["verify", "problem.toml", "proofs.jsonl"]);
    let rejected = rows.iter().map(|(z, _)| &z[..4]).find(|x| all.classifier().score(x) < -0.5).unwrap();
    let Outcome::Found(found) = surefoot::Complete::new(&all).unwrap().solve(rejected).unwrap() else {
        panic!("nothing found")
    };
    let certificate = surefoot::certify(&all, rejected, &found.action, surefoot::Budget::default()).unwrap();
    assert!(matches!(certificate.verdict, Verdict::Holds { .. }));
}

#[test]
fn models_with_nearly_the_least_loss_are_guarded_against() {
    let folder = folder();
    let at = folder.path();
    let said = done(at, &linear(&["--loss-within", "0.01"]));
    assert!(said.contains("weights whose loss is up to 1% above the least"), "{said}");
    let Reach::Loss { share, least } = problem(at).classifier().weight_ellipsoid().unwrap().reach() else {
        panic!("the share of the loss is written")
    };
    assert!(share == 0.01 && least > 10.0 && least < 480.0, "{least}");
}

#[test]
fn options_that_have_no_effect_or_no_sense_are_refused() {
    let folder = folder();
    let at = folder.path();
    let network = [&TRAIN[..6], &["--errors"]].concat();
    assert!(refused(at, &network).contains("--hidden none"));
    for (more, told) in [
        (vec!["--errors=1"], "--errors is 1; it must be above 0 and below 1"),
        (vec!["--loss-within", "0"], "--loss-within is 0; it must be above 0"),
        (vec!["--errors", "--loss-within", "0.1"], "cannot be used with"),
        (vec!["--errors", "--balanced"], "cannot be used with"),
        (vec!["--errors", "--epochs", "5"], "cannot be used with"),
    ] {
        let said = refused(at, &linear(&more));
        assert!(said.contains(told), "{more:?}: {said}");
    }
    // Nothing was written.
    assert!(!std::fs::read_to_string(at.join("problem.toml")).unwrap().contains("[classifier]"));
}

const FIT: [&str; 4] = ["fit", "people.csv", "--graph", "age, male -> income; income -> savings"];

#[test]
fn errors_of_coefficients_and_bands_are_written() {
    let folder = folder();
    let at = folder.path();
    done(at, &linear(&["--epochs", "2"]));
    let said = done(at, &[&FIT[..], &["--errors"]].concat());
    assert!(said.contains("these errors leave possible"), "{said}");
    let sources = problem(at).sources().unwrap().clone();
    assert_eq!((sources.coefficients.len(), sources.bands.len()), (3, 0));
    // Savings on income by hand: s / sqrt(sum of squares of income about its mean), times the normal quantile.
    let cells = |column: usize, mean: f64, std: f64| -> Vec<f64> {
        let value = |line: &str| line.split(',').nth(column).unwrap().parse::<f64>().unwrap();
        people().lines().skip(1).map(|line| (value(line) - mean) / std).collect()
    };
    let (x, y) = (cells(3, 2200.0, 500.0), cells(4, 4400.0, 1500.0));
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let (mx, my) = (mean(&x), mean(&y));
    let squares: f64 = x.iter().map(|x| (x - mx).powi(2)).sum();
    let slope = x.iter().zip(&y).map(|(x, y)| (x - mx) * (y - my)).sum::<f64>() / squares;
    let rest: f64 = x.iter().zip(&y).map(|(x, y)| (y - my - slope * (x - mx)).powi(2)).sum();
    let error = (rest / 598.0 / squares).sqrt();
    let found = sources.coefficients.iter().find(|error| error.feature == 3).unwrap();
    assert!((found.within / (1.959_963_984_540_054 * error) - 1.0).abs() < 1e-8, "{} {error}", found.within);
    // Once more with a band: sections are replaced.
    done(at, &[&FIT[..], &["--band=0.9"]].concat());
    let sources = problem(at).sources().unwrap().clone();
    assert_eq!((sources.coefficients.len(), sources.bands.len()), (0, 2));
    assert!(sources.bands.iter().all(|band| band.width > 0.1 && band.width < 2.0), "{sources:?}");
    done(at, &[&FIT[..], &["--shape", "network", "--epochs", "2", "--band"]].concat());
    assert_eq!(problem(at).sources().unwrap().bands.len(), 2);
    for (more, told) in [
        (vec!["--errors=1.5"], "--errors=1.5: give a probability"),
        (vec!["--band=0"], "--band=0: give a probability"),
        (vec!["--errors", "--shape", "network"], "for networks give --band"),
        (vec!["--band=0.999"], "too few for a band"),
    ] {
        let said = refused(at, &[&FIT[..], &more].concat());
        assert!(said.contains(told), "{more:?}: {said}");
    }
}
