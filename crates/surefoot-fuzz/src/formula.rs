//! Formulas: structural equations and constraints.

use surefoot::proof::Fingerprint;
use surefoot::{
    Action, Change, Classifier, Constraint, Equation, Feature, Features, Intervention, Norm, Problem, Scm,
};

use crate::Reading;
use crate::question::ask_whether_it_holds;

/// `z` has the equation that is read, `x` and `y` are its possible causes.
fn features() -> Features {
    Features::new(vec![
        Feature::new("x").scaling(1.0, 2.0).change(Change::Any),
        Feature::new("y").scaling(-1.0, 0.5).change(Change::Increase).limits(-5.0, 5.0),
        Feature::new("z").scaling(0.5, 1.5).change(Change::Any),
    ])
    .expect("the features are valid")
}

fn problem(formula: &str, inverse: Option<&str>) -> Result<Problem, surefoot::Error> {
    let features = features();
    let equation = match inverse {
        Some(inverse) => Equation::formula_with_inverse(formula, inverse),
        None => Equation::formula(formula),
    };
    let scm = Scm::new(&features, vec![("z", equation)])?;
    Problem::new(features, Classifier::linear(vec![0.5, -0.25, 1.0], -0.3, 0.5)?)?
        .with_causal_model(scm)?
        .with_uncertainty(Norm::L2, 0.1)
}

/// An equation of `z`: the formula on the first line and, if there is another, its inverse on the
/// second.
pub fn equation(bytes: &[u8]) -> Reading {
    let Ok(text) = std::str::from_utf8(bytes) else { return Reading::Refused };
    let (formula, inverse) = match text.split_once('\n') {
        Some((formula, inverse)) => (formula, Some(inverse)),
        None => (text, None),
    };
    let read = match problem(formula, inverse) {
        Ok(problem) => problem,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return Reading::Refused;
        }
    };
    // Parentheses around it change nothing; only a formula at the limit of nesting has no room for them.
    if let Ok(same) = problem(&format!(" ( {formula} ) "), inverse) {
        assert_eq!(Fingerprint::of(&read), Fingerprint::of(&same), "{formula}");
        assert_same_values(&read, &same);
    }
    assert_noise_is_recovered(&read);
    let action = Action { features: vec![0], change: vec![0.5] };
    for individual in [[0.0, 0.0, 0.0], [0.3, -1.0, 2.0]] {
        ask_whether_it_holds(&read, &individual, &action);
    }
    Reading::Accepted
}

/// Noise of the three features; that of `z` is in the units of its equation.
const NOISE: [[f64; 3]; 6] = [
    [0.0, 0.0, 0.0],
    [1.0, -1.0, 0.5],
    [-2.0, 0.25, -3.0],
    [4.0, -4.0, 10.0],
    [0.5, 2.0, -0.125],
    [-1.0, -0.5, 1e3],
];

fn scm(problem: &Problem) -> &Scm {
    problem.scm().expect("the problem has a causal model")
}

fn assert_same_values(one: &Problem, other: &Problem) {
    for noise in NOISE {
        let bits = |problem: &Problem| {
            let individual = scm(problem).predict(&noise).ok()?;
            Some(individual.iter().map(|value| value.to_bits()).collect::<Vec<u64>>())
        };
        assert_eq!(bits(one), bits(other), "with the noise {noise:?}");
    }
}

/// Whoever the model predicts has a noise, and that predicts them again.
fn assert_noise_is_recovered(problem: &Problem) {
    for noise in NOISE {
        let Ok(individual) = scm(problem).predict(&noise) else { continue };
        assert!(individual.iter().all(|value| value.is_finite()), "{individual:?}");
        let unchanged = scm(problem).counterfactual(&individual, Intervention::Additive(&[0.0; 3]));
        assert_eq!(unchanged.as_ref(), Ok(&individual));
        // Values that rounding has made too large or too flat are refused by name.
        let Ok(recovered) = scm(problem).abduct(&individual) else { continue };
        let again = scm(problem).predict(&recovered).expect("the noise was recovered from somebody");
        for (value, expected) in again.iter().zip(&individual) {
            let tolerance = 1e-5 * expected.abs().max(1.0);
            assert!((value - expected).abs() <= tolerance, "{again:?} instead of {individual:?}");
        }
    }
}

/// A constraint, as `rule` has it in a problem file.
pub fn constraint(bytes: &[u8]) -> Reading {
    let Ok(text) = std::str::from_utf8(bytes) else { return Reading::Refused };
    let features = features();
    let rule = match Constraint::parse(&features, text) {
        Ok(rule) => rule,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return Reading::Refused;
        }
    };
    // It is linear: the value in the middle of two individuals is that in the middle of their values.
    let (one, other) = ([0.5, -1.0, 2.0], [-1.5, 0.25, 0.0]);
    let middle: Vec<f64> = one.iter().zip(&other).map(|(a, b)| 0.5 * (a + b)).collect();
    let expected = 0.5 * (rule.value(&one) + rule.value(&other));
    let found = rule.value(&middle);
    assert!(found.is_finite(), "`{text}` gives {found}");
    assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1.0), "`{text}`: {found}, not {expected}");
    let again = Constraint::parse(&features, rule.text()).expect("its text is the rule");
    assert_eq!(again.value(&one).to_bits(), rule.value(&one).to_bits(), "`{text}`");
    Reading::Accepted
}
