//! The essential features of an action.

use crate::{Action, ActionKind, Problem, Scm};

/// The same action without the features that it neither changes nor holds.
///
/// A feature whose change is zero is *held* if removing it from the action would change the outcome for
/// some perturbation of the uncertainty set:
///
/// - its causes change in one of the causal models, because the action changes one of them or one of their
///   ancestors; or
/// - actions are absolute ([`ActionKind::Absolute`]) and the uncertainty is not zero, so that the fixed
///   level cancels a shift of the feature itself.
///
/// Every other feature whose change is zero is dropped. The result has the same counterfactual and the
/// same margin for every perturbation of the uncertainty set, and the same cost. A zero change that
/// remains means *held*.
///
/// ```
/// use surefoot::{Action, Change, Classifier, Equation, Feature, Features, Problem, Scm, essential};
///
/// let feature = |name: &str| Feature::new(name).change(Change::Any);
/// let features = Features::new(vec![feature("income"), feature("savings"), feature("age")])?;
/// let scm = Scm::new(&features, vec![("savings", Equation::formula("2 * income + u"))])?;
/// let problem = Problem::new(features, Classifier::linear(vec![1.0, 1.0, 1.0], 0.0, 0.5)?)?
///     .with_causal_model(scm)?;
/// // Savings would follow income, age follows nothing.
/// let action = Action { features: vec![0, 1, 2], change: vec![1.0, 0.0, 0.0] };
/// let expected = Action { features: vec![0, 1], change: vec![1.0, 0.0] };
/// assert_eq!(essential(&problem, &action), expected);
/// # Ok::<(), surefoot::Error>(())
/// ```
///
/// # Panics
/// If the action names a feature that does not exist; see [`Action::check`].
pub fn essential(problem: &Problem, action: &Action) -> Action {
    let undoes_shifts = problem.action_kind() == ActionKind::Absolute && !problem.uncertainty().is_none();
    let named = || action.features.iter().copied().zip(action.change.iter().copied());
    let changed: Vec<usize> = named().filter(|(_, change)| *change != 0.0).map(|(i, _)| i).collect();
    let moved: Vec<(&Scm, Vec<bool>)> = problem
        .causal_models()
        .into_iter()
        .map(|scm| (scm, scm.moved_by(&changed, &action.features)))
        .collect();
    let causes_move =
        |i: usize| moved.iter().any(|(scm, moved)| scm.parents(i).iter().any(|&parent| moved[parent]));
    let kept = named().filter(|&(i, change)| change != 0.0 || undoes_shifts || causes_move(i));
    let (features, change) = kept.unzip();
    Action { features, change }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;
    use crate::margin::counterfactual;
    use crate::{Change, Classifier, Equation, Feature, Features, Norm};

    /// `a -> b -> c -> d`, and `e` alone.
    fn problem(form: ActionKind, epsilon: f64) -> Problem {
        let feature = |name: &str| Feature::new(name).change(Change::Any);
        let features = Features::new(["a", "b", "c", "d", "e"].map(feature).to_vec()).unwrap();
        let follows = |from: &str| Equation::formula(format!("2 * {from} + u"));
        let equations = vec![("b", follows("a")), ("c", follows("b")), ("d", follows("c"))];
        let scm = Scm::new(&features, equations).unwrap();
        Problem::new(features, Classifier::linear(vec![1.0; 5], 0.0, 0.5).unwrap())
            .unwrap()
            .with_causal_model(scm)
            .unwrap()
            .with_uncertainty(Norm::LINF, epsilon)
            .unwrap()
            .with_action_kind(form)
    }

    fn kept(problem: &Problem, change: [Option<f64>; 5]) -> Vec<usize> {
        let (features, change) = (0..5).filter_map(|i| Some((i, change[i]?))).unzip();
        essential(problem, &Action { features, change }).features
    }

    #[test]
    fn what_is_held_depends_on_what_moves_its_causes() {
        let relative = problem(ActionKind::Relative, 0.1);
        let (zero, one) = (Some(0.0), Some(1.0));
        // Ancestors count, unless a feature in between is held.
        assert_eq!(kept(&relative, [one, None, zero, None, zero]), [0, 2]);
        assert_eq!(kept(&relative, [one, zero, zero, None, None]), [0, 1]);
        assert_eq!(kept(&relative, [zero, one, None, zero, zero]), [1, 3]);
        assert_eq!(kept(&relative, [zero; 5]), [0usize; 0]);
        // A fixed level cancels a shift, if there may be one.
        assert_eq!(kept(&problem(ActionKind::Absolute, 0.1), [None, one, None, None, zero]), [1, 4]);
        assert_eq!(kept(&problem(ActionKind::Absolute, 0.0), [None, one, zero, None, zero]), [1, 2]);
    }

    /// By the definition: no removed feature makes a difference for any perturbation tried, and every
    /// held one does.
    #[test]
    fn nothing_is_dropped_that_makes_a_difference_and_nothing_kept_that_makes_none() {
        let x = [0.3, -0.2, 1.1, 0.4, -0.9];
        for (form, epsilon) in
            [(ActionKind::Relative, 0.1), (ActionKind::Absolute, 0.1), (ActionKind::Absolute, 0.0)]
        {
            let problem = problem(form, epsilon);
            // Each feature is not named, held, or changed.
            for number in 0..3usize.pow(5) {
                let digit = |i: u32| number / 3usize.pow(i) % 3;
                let named: Vec<usize> = (0..5).filter(|&i| digit(i as u32) > 0).collect();
                let change: Vec<f64> = named.iter().map(|&i| f64::from(digit(i as u32) == 2)).collect();
                let action = Action { features: named, change };
                let short = essential(&problem, &action);
                let mut without = [false; 5];
                for corner in 0..32 {
                    let shift: Vec<f64> =
                        (0..5).map(|i| if corner >> i & 1 == 1 { epsilon } else { -epsilon }).collect();
                    let reached = |action: &Action| counterfactual(&problem, &x, action, &shift).unwrap();
                    assert_eq!(reached(&short), reached(&action), "{action:?}");
                    for (k, &i) in short.features.iter().enumerate().filter(|(k, _)| short.change[*k] == 0.0)
                    {
                        let mut other = short.clone();
                        other.features.remove(k);
                        other.change.remove(k);
                        without[i] |= reached(&other) != reached(&short);
                    }
                }
                let held = short.features.iter().zip(&short.change).filter(|(_, change)| **change == 0.0);
                held.for_each(|(&i, _)| assert!(without[i], "{action:?}: {i} is held for nothing"));
            }
        }
    }
}
