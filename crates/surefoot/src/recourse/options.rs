//! More than one option: cheap actions that change different things.

use std::collections::HashSet;

use rayon::prelude::*;

use super::{Settings, Solver};
use crate::error::{CausalModelError, SettingError};
use crate::{Action, Error, Outcome, People, Problem, Recourse, Result};

/// Up to `count` options for everyone, in order, on all cores, each answered as by
/// [`recourse()`](crate::recourse()).
///
/// # Errors
/// As the methods that answer; if `count` is zero.
pub fn recourse_options(problem: &Problem, people: &People, count: usize) -> Result<Vec<Vec<Outcome>>> {
    if people.features() != problem.features() {
        return Err(Error::CausalModel(CausalModelError::OtherFeatures));
    }
    let solver = Solver::new(problem, Settings::default())?;
    let individuals: Vec<&[f64]> = people.iter().collect();
    individuals.into_par_iter().map(|individual| solver.options(individual, count)).collect()
}

/// A change with less than this share of the effort may be dispensable; see [`options`].
const DISPENSABLE_SHARE: f64 = 0.05;

/// The actions that leave some features unchanged, and the cheapest of them.
struct Branch {
    /// The features that must not change, in ascending order.
    fixed: Vec<usize>,
    cheapest: Recourse,
}

/// Up to `count` options of an individual, the cheapest first. `first` is the answer to the problem
/// itself; `answer` solves problems in which some of the features are fixed.
///
/// The first option is the cheapest action that holds. Each further one is the cheapest action that, for
/// every earlier option, leaves out at least one of its essential changes. So no option is an earlier one
/// with something added, with other amounts, or without a dispensable change. Here a change is dispensable if
/// it has less than a twentieth of the effort and can be left out if the others are enlarged, for less than a
/// twentieth of additional cost. All other changes are essential. Every option is proven as the first one is, and its
/// `cost_bound` is valid for all such actions. If there is no action at all, the only outcome says so.
///
/// # Errors
/// As `answer`; if `count` is zero.
pub(super) fn options(
    problem: &Problem,
    first: Outcome,
    count: usize,
    answer: &dyn Fn(&Problem) -> Result<Outcome>,
) -> Result<Vec<Outcome>> {
    if count == 0 {
        return Err(Error::Setting(SettingError::Setting { setting: "options", value: 0.0 }));
    }
    let first = match first {
        Outcome::Found(first) => first,
        other => return Ok(vec![other]),
    };
    let mut chosen: Vec<Recourse> = Vec::new();
    // The essential changes of each option.
    let mut cores: Vec<Vec<usize>> = Vec::new();
    let mut branches = vec![Branch { fixed: Vec::new(), cheapest: first }];
    let mut seen: HashSet<Vec<usize>> = HashSet::new();
    // The lowest bound on the cost in branches that could not be decided.
    let mut open = f64::INFINITY;
    while chosen.len() < count {
        let cost = |branch: &Branch| branch.cheapest.cost;
        let next = (0..branches.len()).min_by(|&a, &b| cost(&branches[a]).total_cmp(&cost(&branches[b])));
        let Some(next) = next else { break };
        let bound = branches.iter().map(|branch| branch.cheapest.cost_bound).fold(open, f64::min);
        let Branch { fixed, mut cheapest } = branches.swap_remove(next);
        let changes = changed(&cheapest.action);
        // The branches together contain all remaining actions. This one is divided by which of the
        // changes an action leaves out.
        let without = match cores.iter().find(|core| core.iter().all(|i| changes.contains(i))) {
            Some(core) => core.clone(),
            None => {
                cheapest.cost_bound = bound.min(cheapest.cost);
                chosen.push(cheapest.clone());
                if chosen.len() == count {
                    break;
                }
                cores.push(core(problem, &cheapest, answer)?);
                cores[cores.len() - 1].clone()
            }
        };
        for i in without {
            let mut fixed = fixed.clone();
            fixed.push(i);
            fixed.sort_unstable();
            if !seen.insert(fixed.clone()) {
                continue;
            }
            let rest = problem.without(&fixed);
            if rest.features().actionable().is_empty() {
                continue;
            }
            match answer(&rest)? {
                Outcome::Found(cheapest) => branches.push(Branch { fixed, cheapest }),
                Outcome::Undecided(undecided) => open = open.min(undecided.cost_bound),
                Outcome::Impossible(_) | Outcome::AlreadyFavourable | Outcome::Unproved(_) => {}
            }
        }
    }
    Ok(sorted(chosen).into_iter().map(Outcome::Found).collect())
}

/// The essential changes of an option: all that are not dispensable.
fn core(
    problem: &Problem,
    option: &Recourse,
    answer: &dyn Fn(&Problem) -> Result<Outcome>,
) -> Result<Vec<usize>> {
    let features = problem.features();
    let changes = option.action.features.iter().zip(&option.action.change);
    let mut efforts: Vec<(f64, usize)> =
        changes.map(|(&i, change)| (features.feature(i).weight * change.abs(), i)).collect();
    let all: f64 = efforts.iter().map(|(effort, _)| effort).sum();
    // Changing a category is never dispensable.
    efforts.retain(|&(effort, i)| {
        effort > 0.0 && effort < DISPENSABLE_SHARE * all && features.feature(i).group.is_none()
    });
    efforts.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut core = changed(&option.action);
    for (_, dispensable) in efforts {
        let rest: Vec<usize> = core.iter().copied().filter(|&i| i != dispensable).collect();
        let others: Vec<usize> = (0..features.len()).filter(|i| !rest.contains(i)).collect();
        let found = answer(&problem.without(&others))?;
        if found.recourse().is_some_and(|found| found.cost <= (1.0 + DISPENSABLE_SHARE) * option.cost) {
            core = rest;
        }
    }
    Ok(core)
}

/// The features that an action changes.
fn changed(action: &Action) -> Vec<usize> {
    let changes = action.features.iter().zip(&action.change).filter(|(_, change)| **change != 0.0);
    changes.map(|(&i, _)| i).collect()
}

/// Sorts options by cost. Within the gap of a method, that may differ from the order in which they were
/// found. From the first option out of order on, only the bound of that position is known.
fn sorted(mut options: Vec<Recourse>) -> Vec<Recourse> {
    let costs: Vec<f64> = options.iter().map(|option| option.cost).collect();
    let bounds: Vec<f64> = options.iter().map(|option| option.cost_bound).collect();
    options.sort_by(|a, b| a.cost.total_cmp(&b.cost));
    let first = (0..options.len()).find(|&k| options[k].cost != costs[k]).unwrap_or(options.len());
    for option in options.iter_mut().skip(first) {
        option.cost_bound = option.cost_bound.min(bounds[first]);
    }
    options
}
