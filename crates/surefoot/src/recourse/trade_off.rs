//! What certainty costs: the cheapest cost as a function of the uncertainty.

use rayon::prelude::*;

use crate::{Error, Norm, Outcome, Problem, Result};

/// Where people who have any recourse at all are looked for, in standard deviations.
const MOST: f64 = 1e6;

/// How far an individual's circumstances may shift before no action holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reach {
    /// The largest uncertainty for which an action was proven to hold; none: not even without
    /// any.
    pub possible: Option<f64>,
    /// The smallest uncertainty for which it was proven that none does; none: nowhere that was
    /// looked at.
    pub impossible: Option<f64>,
}

/// The answers of an individual for several sizes of the uncertainty, in their order, on all
/// cores: the cheapest action that holds as a function of epsilon.
///
/// # Errors
/// As the methods that answer; if a size is not finite or negative.
pub fn trade_off(problem: &Problem, individual: &[f64], epsilons: &[f64]) -> Result<Vec<Outcome>> {
    epsilons.par_iter().map(|&epsilon| answer(problem, individual, epsilon)).collect()
}

/// The largest uncertainty for which an individual has recourse at all, enclosed by proofs on
/// both sides to within `tolerance` as a share, or as far as proofs reach.
///
/// An action that holds for some uncertainty holds for any smaller one, so both ends are found by
/// bisection.
///
/// # Errors
/// As the methods that answer; if the tolerance is not positive.
pub fn reach(problem: &Problem, individual: &[f64], tolerance: f64) -> Result<Reach> {
    if !(tolerance.is_finite() && tolerance > 0.0) {
        return Err(Error::Setting { setting: "tolerance", value: tolerance });
    }
    let mut known: Vec<(f64, Outcome)> = vec![(0.0, answer(problem, individual, 0.0)?)];
    if let Outcome::Impossible(_) = known[0].1 {
        return Ok(Reach { possible: None, impossible: Some(0.0) });
    }
    // Larger and larger until nothing holds.
    let mut epsilon = 0.125;
    while epsilon <= MOST {
        let outcome = answer(problem, individual, epsilon)?;
        let stop = matches!(outcome, Outcome::Impossible(_));
        known.push((epsilon, outcome));
        if stop {
            break;
        }
        epsilon *= 4.0;
    }
    // Between what holds and what does not, and between what may and what cannot.
    let ends: [fn(&Outcome) -> bool; 2] = [
        |outcome| matches!(outcome, Outcome::Found(_) | Outcome::AlreadyFavourable),
        |outcome| !matches!(outcome, Outcome::Impossible(_)),
    ];
    for holds in ends {
        loop {
            let below = known.iter().filter(|(_, o)| holds(o)).map(|(e, _)| *e).fold(f64::NAN, f64::max);
            let above = known.iter().filter(|(_, o)| !holds(o)).map(|(e, _)| *e).fold(f64::NAN, f64::min);
            if below.is_nan() || above.is_nan() || above - below <= tolerance * above {
                break;
            }
            let middle = 0.5 * (below + above);
            known.push((middle, answer(problem, individual, middle)?));
        }
    }
    let found = known.iter().filter(|(_, o)| ends[0](o)).map(|(e, _)| *e);
    let lost = known.iter().filter(|(_, o)| !ends[1](o)).map(|(e, _)| *e);
    Ok(Reach { possible: found.reduce(f64::max), impossible: lost.reduce(f64::min) })
}

fn answer(problem: &Problem, individual: &[f64], epsilon: f64) -> Result<Outcome> {
    let norm: Norm = problem.norm().clone();
    super::answer(&problem.clone().with_uncertainty(norm, epsilon)?, individual)
}
