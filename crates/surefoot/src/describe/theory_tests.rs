//! The texts of the theory, compared with results derived by hand.

use super::*;
use crate::recourse::Settings;
use crate::theory::{Theory, standard};
use crate::{ActionKind, Change, Classifier, Constraint, Equation, Feature, Features, Kind, Norm, Scm};

fn income(upper: f64) -> Feature {
    Feature::new("income").scaling(3000.0, 1500.0).limits(f64::NEG_INFINITY, upper).change(Change::Increase)
}

fn alone(income: Feature, epsilon: f64) -> Problem {
    let features = Features::new(vec![income]).unwrap();
    let problem = Problem::new(features, Classifier::linear(vec![1.0], 0.0, 0.5).unwrap()).unwrap();
    problem.with_uncertainty(Norm::L2, epsilon).unwrap()
}

fn about(problem: &Problem) -> String {
    describe_theory(problem, &AboutProblem::new(problem).unwrap())
}

fn person(problem: &Problem, value: f64) -> (String, Option<String>) {
    let standard = standard(problem).unwrap();
    let theory = Theory::new(problem, &standard, Settings::default()).unwrap();
    let person = theory.about_person(&[value]).unwrap();
    let told = describe_theory_of_person(problem, &standard, &[value], theory.about(), &person).unwrap();
    (told.join(" "), describe_missing(problem, theory.about(), &person))
}

/// Income is 0.4 standard deviations short of the boundary, and 0.1 more is needed for robustness.
#[test]
fn a_person_by_hand() {
    let (told, missing) = person(&alone(income(f64::INFINITY), 0.1), -0.4);
    assert_eq!(
        told,
        "Without uncertainty: Raise income by 600.1 (from 2400 to 3000.1). This works if nothing else changes. \
         That is proven, as is that no cheaper allowed action would do. It costs 0.4. Robust recourse costs at most 1.25 \
         times as much, 0.5001: scaled in proportion, the action is feasible and withstands every perturbation \
         of size 0.1 (Proposition 6). Of similar people (perturbations of size 0.1 at most) with the same \
         feasible changes, the cheapest actions cost between 0.3 and 0.5, a difference of at most 0.1 from this \
         person's (Appendix D). The action without uncertainty fails under a perturbation of size 1e-6: \
         income 0.0015 lower (Theorem 1)."
    );
    assert_eq!(missing, None);
}

#[test]
fn limits_that_stand_in_the_way_are_named() {
    // The boundary is at 3000, robustness needs 3150.
    let (told, missing) = person(&alone(income(3100.0), 0.1), -0.4);
    assert!(told.contains("Proposition 6 gives no bound") && told.contains("its limit of 3100"), "{told}");
    assert!(
        told.contains("some have no action even without uncertainty, so that no action is robust"),
        "{told}"
    );
    assert!(missing.unwrap().starts_with("extra cost: the action with all changes scaled by 1.25 is not"));
    let (told, missing) = person(&alone(income(2900.0), 0.1), -0.4);
    assert_eq!(told, "There is no action even without uncertainty, and so no robust one.");
    assert_eq!(missing.unwrap(), "there is no action even without uncertainty");
    let (told, missing) = person(&alone(income(f64::INFINITY), 0.1), 1.0);
    assert!(
        told.starts_with("The decision is favourable") && told.contains("nobody needs an action"),
        "{told}"
    );
    assert_eq!(missing, None);
    let (told, _) = person(&alone(income(3100.0), 0.0), -0.4);
    assert!(
        told.contains("The uncertainty is 0, so that this action is the robust one and costs 0.4."),
        "{told}"
    );
}

#[test]
fn guarantees_say_what_they_rest_on() {
    let told = about(&alone(income(f64::INFINITY), 0.1));
    assert!(
        told.contains("has robust recourse (Proposition 3).\n  `income` may change without limit"),
        "{told}"
    );
    assert!(told.contains("Fragility: every minimum-cost action breaks"), "{told}");
    let told = about(&alone(income(3100.0), 0.1));
    assert!(told.contains("nobody whom the classifier turns down has robust recourse"), "{told}");
    // 3100 is 1 / 15 standard deviations above the boundary, and 0.1 are needed.
    assert!(told.contains("at least 0.03333 below the decision boundary"), "{told}");
    let told = about(&alone(income(3200.0).change(Change::Any), 0.1));
    assert!(told.contains("robust recourse (Proposition 2)") && told.contains("at least 0.03333"), "{told}");
    let told = about(&alone(income(3200.0), 0.1));
    assert!(told.contains("Existence: not known"), "{told}");
    assert!(told.contains("Proposition 2 needs every feature to be real-valued and free"), "{told}");
    assert!(told.contains("Proposition 3 needs a real-valued feature that may change without"), "{told}");
}

/// Every condition that is not met is named, each in a line of its own.
#[test]
fn conditions_that_are_not_met_are_named() {
    let features = Features::new(vec![
        income(f64::INFINITY),
        Feature::new("savings").limits(-9.0, 9.0),
        Feature::new("children").kind(Kind::Integer).change(Change::Decrease),
    ])
    .unwrap();
    let scm = Scm::new(&features, vec![("savings", Equation::formula("exp(income / 9000 + u)"))]).unwrap();
    let rule = Constraint::parse(&features, "income >= 100 * children").unwrap();
    let classifier = Classifier::linear(vec![1.0, 1.0, 0.0], 0.0, 0.5).unwrap();
    let problem = Problem::new(features, classifier).unwrap().with_causal_model(scm).unwrap();
    let problem = problem.with_constraints(vec![rule]).unwrap().with_action_kind(ActionKind::Absolute);
    let told = about(&problem);
    let paragraph = |name: &str| {
        let from = told.find(name).unwrap();
        let text = &told[from..];
        text.lines().skip(1).take_while(|line| line.starts_with("  ")).collect::<Vec<_>>()
    };
    let linear = "It needs linear equations, and that of `savings` is not linear.";
    assert_eq!(paragraph("Extra cost"), [format!("  {linear}")]);
    assert_eq!(paragraph("Existence").len(), 2);
    assert_eq!(paragraph("Stability of the cost").len(), 5, "{told}");
    let fragility = paragraph("Fragility").join("\n");
    for words in [
        "It needs relative actions",
        "It needs noise that is added, and that of `savings` is not.",
        "It needs real-valued actions, and `children` is not real-valued.",
        "It needs a problem without constraints, and there is `income >= 100 * children`.",
        "It needs features that follow from actions to have no limits, and `savings` has limits.",
    ] {
        assert!(fragility.contains(words), "{fragility}");
    }
}

#[test]
fn numbers_are_rounded_in_a_direction() {
    assert_eq!((upwards(1.25), downwards(1.25)), ("1.25".into(), "1.25".into()));
    assert_eq!((upwards(1.23401), downwards(1.23409)), ("1.235".into(), "1.234".into()));
    assert_eq!((upwards(0.0), upwards(9.9999), upwards(1.2e-7)), ("0".into(), "10".into(), "1.2e-7".into()));
}
