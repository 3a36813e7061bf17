//! Sections `of = "person"`: intervals, exact features, groups and covariances, by their closed forms, against
//! samples drawn from what the file says, and in words; and the probabilities that they cover.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::path::Path;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;
use surefoot::attack::{ProjectedGradient, worst_found};
use surefoot::coverage::radius_of_errors;
use surefoot::margin::{margin, no_perturbation, shifts};
use surefoot::recourse::{Settings, Solver};
use surefoot::uncertainty::{Correlation, factor_of};
use surefoot::{
    Action, Activation, Budget, Classifier, Coverage, Norm, People, Problem, ProblemFile, SavedProof,
    Verdict, certify, describe, verify,
};
use surefoot_random::network;

const FEATURES: &str = r#"
epsilon = 0.1
norm = "l2"
limits_on = "action"
classifier = { coefficients = [0.8, 0.6, -0.5, 0.3], intercept = -0.5 }

[[feature]]
name = "income"
mean = 3000
std = 1500
change = "increase"

[[feature]]
name = "savings"
mean = 8000
std = 4000
change = "increase"

[[feature]]
name = "debt"
mean = 2000
std = 1000
change = "fixed"

[[feature]]
name = "age"
mean = 40
std = 10
change = "fixed"
"#;

const WEIGHTS: [f64; 4] = [0.8, 0.6, -0.5, 0.3];

/// Income 2400, savings 6000, debt 2500 and age 30.
const ANA: [f64; 4] = [-0.4, -0.5, 0.5, -1.0];

fn parsed(sections: &str) -> surefoot::Result<Problem> {
    ProblemFile::parse(&format!("{FEATURES}{sections}"), Path::new("problem.toml"))?.problem()
}

fn sections(sections: &[&str]) -> String {
    sections.iter().map(|text| format!("\n[[uncertainty]]\nof = \"person\"\n{text}\n")).collect()
}

fn problem(stated: &[&str]) -> Problem {
    parsed(&sections(stated)).unwrap()
}

/// The cheapest action costs what the score lacks and the worst shift takes, over the largest weight.
fn costs(stated: &[&str], worst: f64) {
    let problem = problem(stated);
    let proof = Solver::new(&problem, Settings::default()).unwrap().prove(&ANA).unwrap();
    let found = proof.outcome.recourse().unwrap();
    let expected = (worst - problem.classifier().score(&ANA)) / 0.8;
    let within = found.cost >= expected * (1.0 - 1e-9) && found.cost <= expected * 1.0101;
    assert!(within, "{stated:?}: {} {expected}", found.cost);
    assert!(found.cost_bound <= expected * (1.0 + 1e-9) && found.cost_bound >= 0.985 * expected);
    let saved = SavedProof::from_json(&proof.to_json(&problem, &ANA)).unwrap();
    let verification = verify(&problem, &saved).unwrap();
    assert!(verification.is_verified(), "{stated:?}: {verification:?}");
    let verdict = certify(&problem, &ANA, &found.action, Budget::default()).unwrap().verdict;
    assert!(matches!(verdict, Verdict::Holds { .. }), "{verdict:?}");
    // With less than the closed form, the action breaks.
    let cheaper = Action { features: vec![0], change: vec![0.999 * expected] };
    let verdict = certify(&problem, &ANA, &cheaper, Budget::default()).unwrap().verdict;
    assert!(matches!(verdict, Verdict::Breaks { .. }), "{verdict:?}");
}

#[test]
fn linear_answers_have_their_closed_forms() {
    let ball = |members: &[usize]| 0.1 * members.iter().map(|&i| WEIGHTS[i].powi(2)).sum::<f64>().sqrt();
    costs(&["features = \"age\"\nexact = true"], ball(&[0, 1, 2]));
    // 5% of an income of 2400 are 120: 0.08 standard deviations.
    costs(&["features = \"income\"\nshare = 0.05"], 0.8 * 0.08 + ball(&[1, 2, 3]));
    costs(&["features = [\"income\", \"debt\"]\nwithin = 500"], 0.8 / 3.0 + 0.5 * 0.5 + ball(&[1, 3]));
    // A debt between 1500 and 2800 can be higher by 0.3, and an age between 20 and 31 lower by 1.
    costs(
        &["features = \"debt\"\nbetween = [1500, 2800]", "features = \"age\"\nbetween = [20, 31]"],
        0.5 * 0.3 + 0.3 + ball(&[0, 1]),
    );
    costs(
        &[
            "features = [\"income\", \"debt\"]\nnorm = \"l1\"\nepsilon = 0.3",
            "features = \"age\"\nexact = true",
        ],
        0.3 * 0.8 + ball(&[1]),
    );
    // Income and savings go together: C = [[1, 0.6], [0.6, 1]].
    let covariance = "features = [\"income\", \"savings\"]\ncovariance = [[1, 0.6], [0.6, 1]]";
    let square = 0.8f64.powi(2) + 2.0 * 0.6 * 0.8 * 0.6 + 0.6f64.powi(2);
    costs(&[covariance], 0.1 * (square + 0.25 + 0.09).sqrt());
    costs(&[&format!("{covariance}\nepsilon = 0.2\nnorm = \"l2\"")], 0.2 * square.sqrt() + ball(&[2, 3]));
}

#[test]
fn actions_hold_for_everything_that_the_file_says() {
    let stated = [
        "features = \"income\"\nshare = 0.05",
        "features = \"debt\"\nbetween = [2300, 2600]",
        "features = [\"savings\", \"age\"]\nnorm = \"l2\"\nepsilon = 0.2\ncovariance = [[1, -0.5], [-0.5, 1]]",
    ];
    let problem = problem(&stated);
    let random = &mut ChaCha8Rng::seed_from_u64(4);
    let proof = Solver::new(&problem, Settings::default()).unwrap().prove(&ANA).unwrap();
    let found = proof.outcome.recourse().unwrap();
    let unshifted = no_perturbation(&problem, &ANA).unwrap();
    assert!(shifts(&problem, &ANA, &unshifted).unwrap().iter().all(|d| d.abs() < 1e-12));
    // The definition of the file, without the engine's coordinates.
    let score = |shift: [f64; 4]| -> f64 {
        let acted = |i: usize| {
            let place = found.action.features.iter().position(|&member| member == i);
            ANA[i] + shift[i] + place.map_or(0.0, |place| found.action.change[place])
        };
        (0..4).map(|i| WEIGHTS[i] * acted(i)).sum::<f64>() - 0.5
    };
    let (mut least, mut reached) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..200_000 {
        let income = random.random_range(-0.08..=0.08);
        let debt = random.random_range(-0.2..=0.1);
        let (a, b): (f64, f64) = (random.sample(StandardNormal), random.sample(StandardNormal));
        let scale = 0.2 / a.hypot(b);
        let savings = scale * a;
        let age = scale * (-0.5 * a + 0.75f64.sqrt() * b);
        least = least.min(score([income, savings, debt, age]));
        // What the engine draws are shifts that the file allows.
        let v = problem.uncertainty().sample(random, 4, true);
        let shift = shifts(&problem, &ANA, &v).unwrap();
        assert!(shift[0].abs() <= 0.08 + 1e-12 && (-0.2 - 1e-12..=0.1 + 1e-12).contains(&shift[2]));
        let whitened = (shift[3] + 0.5 * shift[1]) / 0.75f64.sqrt();
        assert!(shift[1].hypot(whitened) <= 0.2 + 1e-12);
        let value = margin(&problem, &ANA, &found.action, &v).unwrap();
        assert!((value - score([shift[0], shift[1], shift[2], shift[3]])).abs() < 1e-9);
        reached = reached.min(value);
    }
    assert!(least >= found.margin - 1e-9 && reached >= found.margin - 1e-9, "{least} {reached}");
    assert!(least < found.margin + 0.02, "{least} {}", found.margin);
}

#[test]
fn actions_of_networks_hold_for_everything_that_is_said() {
    let random = &mut ChaCha8Rng::seed_from_u64(5);
    let ellipsoid =
        r#"{"of": "person", "features": ["income", "savings"], "covariance": [[1, 0.6], [0.6, 1]]}"#;
    let exact = r#"{"of": "person", "features": "age", "exact": true}"#;
    let share = r#"{"of": "person", "features": "debt", "share": 0.05}"#;
    let mut answered = 0;
    for round in 0..8 {
        let network = network(random, &[4, 8, 1], Activation::Tanh, 1.0);
        let features = problem(&[]).features().clone();
        let plain = Problem::new(features, Classifier::network(network, 0.5).unwrap()).unwrap();
        let plain = plain.with_uncertainty(Norm::L2, 0.1).unwrap();
        let is_round = round % 2 == 0;
        let sections =
            if is_round { format!("[{ellipsoid}, {exact}]") } else { format!("[{share}, {exact}]") };
        let problem = plain.with_sections(&sections).unwrap();
        // An ellipsoid and exact features leave the ball round.
        assert_eq!(problem.uncertainty().norm() == &Norm::L2, is_round);
        if problem.classifier().score(&ANA) >= 0.0 {
            continue;
        }
        let proof = Solver::new(&problem, Settings::default()).unwrap().prove(&ANA).unwrap();
        let saved = SavedProof::from_json(&proof.to_json(&problem, &ANA)).unwrap();
        let verification = verify(&problem, &saved).unwrap();
        assert!(verification.is_verified(), "{round}: {verification:?}");
        let Some(found) = proof.outcome.recourse() else { continue };
        answered += 1;
        let people = ndarray::ArrayView2::from_shape((1, 4), &ANA).unwrap();
        let people = People::from_standardised(problem.features(), people).unwrap();
        let attack = ProjectedGradient { restarts: 200, ..ProjectedGradient::default() };
        let worst = &worst_found(&problem, &people, std::slice::from_ref(&found.action), &attack).unwrap()[0];
        assert!(worst.margin >= found.margin - 1e-9, "{} {}", worst.margin, found.margin);
        let mut acted = ANA;
        found.action.features.iter().zip(&found.action.change).for_each(|(&i, change)| acted[i] += change);
        for _ in 0..if answered < 3 { 1_000_000 } else { 20_000 } {
            let mut ball: Vec<f64> = (0..3).map(|_| random.sample(StandardNormal)).collect();
            let length = ball.iter().map(|y| y * y).sum::<f64>().sqrt();
            ball.iter_mut().for_each(|y| *y *= 0.1 / length);
            let mut after = acted;
            if is_round {
                after[0] += ball[0];
                after[1] += 0.6 * ball[0] + 0.8 * ball[1];
                after[2] += ball[2];
            } else {
                let within = 0.1 / ball[0].hypot(ball[1]);
                after[0] += within * ball[0];
                after[1] += within * ball[1];
                // 5% of a debt of 2500.
                after[2] += random.random_range(-0.125..=0.125);
            }
            let score = problem.classifier().score(&after);
            assert!(score >= found.margin - 1e-9, "{round}: {score} {}", found.margin);
        }
        // A proof is for what was said, and for nothing else.
        let other = sections.replace("0.05", "0.06").replace("0.6", "0.5");
        let other =
            problem.with_sources(surefoot::Sources::default()).unwrap().with_sections(&other).unwrap();
        assert!(!verify(&other, &saved).unwrap().is_verified());
    }
    assert!(answered > 2, "{answered}");
}

#[test]
fn sentences_say_what_is_guarded_against() {
    let said = |stated: &[&str]| {
        let problem = problem(stated);
        let outcome = Solver::new(&problem, Settings::default()).unwrap().solve(&ANA).unwrap();
        let text = describe(&problem, &ANA, &outcome).unwrap();
        let start = text.find("This ").unwrap();
        text[start..text.find(" That is proven").unwrap()].to_owned()
    };
    assert_eq!(
        said(&[]),
        "This still works if circumstances shift a little: income by up to 150, savings by up to 400, debt by up \
         to 100 or age by up to 1, or several together by accordingly less."
    );
    assert_eq!(
        said(&[
            "features = \"income\"\nshare = 0.05",
            "features = \"debt\"\nwithin = 250",
            "features = \"age\"\nexact = true",
        ]),
        "This still works if circumstances shift a little: savings by up to 400; income by up to 5%; debt by up to \
         250, all of it at once. Taken as exact: age."
    );
    assert_eq!(
        said(&[
            "features = [\"income\", \"savings\"]\ncovariance = [[1, 0.6], [0.6, 1]]\nepsilon = 0.2\nnorm = \"l2\"",
            "features = [\"debt\", \"age\"]\nexact = true",
        ]),
        "This still works if circumstances shift a little: income by up to 300 and savings by up to 800, as far as \
         they usually go together. Taken as exact: debt and age."
    );
    assert_eq!(
        said(&[
            "features = [\"income\", \"savings\", \"age\"]\nexact = true",
            "features = \"debt\"\nbetween = [1500, 3000]"
        ]),
        "This still works if circumstances shift a little: debt to anything between 1500 and 3000. Taken as exact: income, \
         savings and age."
    );
}

#[test]
fn mistakes_in_sections_are_told() {
    for (stated, told) in [
        (vec!["features = \"income\""], "`share` is missing"),
        (vec!["share = 0.1"], "`features` is missing"),
        (vec!["features = \"income\"\nshare = 0.1\nexact = true"], "cannot stand together"),
        (vec!["features = \"income\"\nshare = 0.1\nepsilon = 0.1"], "cannot stand together"),
        (vec!["features = \"income\"\nexact = false"], "`exact` is \"false\""),
        (vec!["features = \"income\"\nshare = -0.1"], "-0.1"),
        (vec!["features = \"wealth\"\nshare = 0.1"], "wealth"),
        (vec!["features = \"income\"\nbetween = [1, 2, 3]"], "[least, greatest]"),
        (vec!["features = \"income\"\nbetween = [3000, 2000]"], "not an interval"),
        (vec!["features = \"income\"\nnorm = \"l2\""], "`epsilon` is missing"),
        (vec!["features = \"income\"\nnorm = \"l3\"\nepsilon = 1"], "l3"),
        (vec!["features = \"income\"\nepsilon = -1"], "-1"),
        (vec!["features = [\"income\", \"debt\"]\ncovariance = [[1, 2], [2, 1]]"], "negative eigenvalue"),
        (vec!["features = [\"income\", \"debt\"]\ncovariance = [[1, 0.5], [0.4, 1]]"], "symmetric"),
        (vec!["features = [\"income\", \"debt\"]\ncovariance = [[1]]"], "4"),
        (vec!["features = \"income\"\nshare = 0.1", "features = \"income\"\nexact = true"], "twice"),
        (vec!["features = \"income\"\nepsilon = 0.1", "features = \"income\"\nwithin = 3"], "twice"),
        (
            vec![
                "features = [\"income\", \"debt\"]\ncovariance = [[1, 0.5], [0.5, 1]]",
                "features = \"income\"\nexact = true",
            ],
            "twice",
        ),
        (vec!["features = \"income\"\nmuch = 3"], "much"),
        (vec!["features = [\"income\", \"income\"]\nshare = 0.1"], "twice"),
        (vec!["features = \"income\"\nepsilon = 1\nnorm = \"l1\"\ncovariance = [[2]]"], "the norm is l1"),
    ] {
        let error = parsed(&sections(&stated)).unwrap_err().to_string();
        assert!(error.contains(told), "{stated:?}: {error}");
    }
    // A person whose value is not in its interval.
    let problem = problem(&["features = \"age\"\nbetween = [50, 60]"]);
    let error = Solver::new(&problem, Settings::default()).unwrap().solve(&ANA).unwrap_err();
    assert!(error.to_string().contains("age"), "{error}");
}

#[test]
fn coverage_has_its_closed_forms() {
    // With four features in one l2 ball: the 95% quantile of chi-square with four degrees of freedom.
    let plain = Coverage::new(&problem(&[]), 0.1, None).unwrap();
    let radius = 0.1 * plain.factor(0.95).unwrap();
    assert!((radius / 0.1 - 9.487_729_036_781_154f64.sqrt()).abs() < 1e-9, "{radius}");
    // P(chi-square with 4 degrees <= 1) = 1 - 1.5 exp(-1/2).
    assert!((plain.probability() - (1.0 - 1.5 * (-0.5f64).exp())).abs() < 1e-12);
    // Exact features have no error; what is in an interval is covered by it alone.
    let stated = ["features = [\"debt\", \"age\"]\nexact = true", "features = \"income\"\nshare = 0.05"];
    let stated = problem(&stated);
    assert!(Coverage::new(&stated, 0.1, None).is_err());
    let coverage = Coverage::new(&stated, 0.1, Some(&ANA)).unwrap();
    let erf = |z: f64| Coverage::new(&one(z), 1.0, None).unwrap().probability();
    assert!((coverage.probability() - erf(0.8) * erf(1.0)).abs() < 1e-12);
    assert!(coverage.factor(0.95).is_none(), "the interval alone covers less");
    let coverage = Coverage::new(&stated, 0.02, Some(&ANA)).unwrap();
    let factor = coverage.factor(0.95).unwrap();
    assert!((erf(4.0) * erf(5.0 * factor) - 0.95).abs() < 1e-9);
    // Groups share the factor.
    let groups = ["features = [\"income\", \"savings\"]\nnorm = \"l2\"\nepsilon = 0.2"];
    let coverage = Coverage::new(&problem(&groups), 0.1, None).unwrap();
    let round = |z: f64| 1.0 - (-0.5 * z * z).exp();
    assert!((coverage.probability() - round(2.0) * round(1.0)).abs() < 1e-12);
    let factor = coverage.factor(0.9).unwrap();
    assert!((round(2.0 * factor) * round(factor) - 0.9).abs() < 1e-9);
    for share in [0.0, -1.0, f64::NAN] {
        assert!(Coverage::new(&problem(&groups), share, None).is_err());
    }
}

/// A problem that guards one feature against `z`, and takes the others as exact.
fn one(z: f64) -> Problem {
    problem(&[
        &format!("features = \"income\"\nnorm = \"l2\"\nepsilon = {z}"),
        "features = [\"savings\", \"debt\", \"age\"]\nexact = true",
    ])
}

#[test]
fn observed_errors_are_covered_as_often_as_said() {
    let sizes: Vec<f64> = (1..=19).map(f64::from).collect();
    assert_eq!(radius_of_errors(&sizes, 0.95), Some(19.0));
    assert_eq!(radius_of_errors(&sizes, 0.5), Some(10.0));
    assert_eq!(radius_of_errors(&sizes, 0.96), None);
    assert_eq!(radius_of_errors(&[], 0.5), None);
    let random = &mut ChaCha8Rng::seed_from_u64(7);
    let mut covered = 0;
    for _ in 0..4000 {
        let sizes: Vec<f64> = (0..25).map(|_| random.sample::<f64, _>(StandardNormal).abs()).collect();
        let next: f64 = random.sample(StandardNormal);
        covered += usize::from(next.abs() <= radius_of_errors(&sizes, 0.9).unwrap());
    }
    // 24 of 26, give or take 4 standard errors.
    assert!((f64::from(covered as u32) / 4000.0 - 24.0 / 26.0).abs() < 0.017, "{covered}");
}

#[test]
fn covariances_and_their_factors() {
    let matrix = vec![vec![4.0, 2.0, 0.0], vec![2.0, 2.0, -1.0], vec![0.0, -1.0, 1.0]];
    let factor = factor_of(&matrix).unwrap();
    for i in 0..3 {
        for j in 0..3 {
            let product: f64 = (0..3).map(|k| factor[i * 3 + k] * factor[j * 3 + k]).sum();
            assert!((product - matrix[i][j]).abs() < 1e-12);
        }
    }
    assert_eq!(factor_of(&[vec![0.0]]), Some(vec![0.0]));
    assert!(factor_of(&[vec![1.0, 1.0], vec![1.0, 0.99]]).is_none());
    // The second column is twice the first, the third does not vary.
    let rows = ndarray::array![[1.0, 2.0, 5.0], [2.0, 4.0, 5.0], [4.0, 8.0, 5.0], [3.0, 6.0, 5.0]];
    let Correlation { matrix, shrunk } = Correlation::of_table(rows.view());
    assert!((shrunk - 0.001).abs() < 1e-6, "{shrunk}");
    assert!((matrix[0][1] - 0.999).abs() < 1e-6 && matrix[0][2] == 0.0 && matrix[2][2] == 1.0);
    assert!(factor_of(&matrix).is_some());
    let rows = ndarray::array![[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0], [1.0, 1.0]];
    let found = Correlation::of_table(rows.view());
    // Means 0.2; sums of squares 2.8 and of products 0.8.
    assert!((found.matrix[0][1] - 0.8 / 2.8).abs() < 1e-12 && found.shrunk == 0.0, "{found:?}");
}
