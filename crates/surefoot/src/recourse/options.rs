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
/// As the methods that answer; if nobody may have an option.
pub fn recourse_options(problem: &Problem, people: &People, count: usize) -> Result<Vec<Vec<Outcome>>> {
    if people.features() != problem.features() {
        return Err(Error::CausalModel(CausalModelError::OtherFeatures));
    }
    let solver = Solver::new(problem, Settings::default())?;
    let individuals: Vec<&[f64]> = people.iter().collect();
    individuals.into_par_iter().map(|individual| solver.options(individual, count)).collect()
}

/// The share of the effort below which a change may be a token.
const TOKEN: f64 = 0.05;

/// Actions that change some features and not others, and the cheapest of them.
struct Branch {
    /// What is not to be changed, in ascending order.
    fixed: Vec<usize>,
    cheapest: Recourse,
}

/// Up to `count` options of an individual, the cheapest first. `first` is the answer to the problem itself;
/// `answer` answers problems in which some of the features are fixed.
///
/// The first is the cheapest action that holds. Each further one is the cheapest that does without
/// at least one of the changes that matter of every option before it: neither the same with something
/// added nor the same by another amount, nor the same without a token. A token is a change that is
/// less than a twentieth of the effort and can be done without, by more of the others, for less than a
/// twentieth on top. An option holds as the first does, and its `cost_bound` is that of all
/// such actions. Where there is no action at all there is one outcome, which says so.
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
    // Of each option the changes that matter.
    let mut cores: Vec<Vec<usize>> = Vec::new();
    let mut branches = vec![Branch { fixed: Vec::new(), cheapest: first }];
    let mut seen: HashSet<Vec<usize>> = HashSet::new();
    // What may be cheaper in branches that could not be decided.
    let mut open = f64::INFINITY;
    while chosen.len() < count {
        let cost = |branch: &Branch| branch.cheapest.cost;
        let next = (0..branches.len()).min_by(|&a, &b| cost(&branches[a]).total_cmp(&cost(&branches[b])));
        let Some(next) = next else { break };
        let bound = branches.iter().map(|branch| branch.cheapest.cost_bound).fold(open, f64::min);
        let Branch { fixed, mut cheapest } = branches.swap_remove(next);
        let changes = changed(&cheapest.action);
        // All branches together are all actions that are left: those of this one are divided by
        // which of the changes they do without.
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

/// The changes of an option that matter: all but tokens.
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
    // A category has no small change.
    efforts
        .retain(|&(effort, i)| effort > 0.0 && effort < TOKEN * all && features.feature(i).group.is_none());
    efforts.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut core = changed(&option.action);
    for (_, token) in efforts {
        let rest: Vec<usize> = core.iter().copied().filter(|&i| i != token).collect();
        let others: Vec<usize> = (0..features.len()).filter(|i| !rest.contains(i)).collect();
        let found = answer(&problem.without(&others))?;
        if found.recourse().is_some_and(|found| found.cost <= (1.0 + TOKEN) * option.cost) {
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

/// The cheapest first, which within the gap of a method may not be the order they were found in.
/// From the first that is out of order on, only the bound of that place is known.
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
