//! Limits on what is changed together, in the checker: that an action keeps them, and that the cases of a proof together
//! contain every action that keeps them.
//!
//! A set of things that may be changed together is contained in a case if the case fixes none of their features. A part
//! of an allowed set is allowed too, so that sets are divided by whether they contain a thing, until all that are left are
//! contained in one case.

use super::{Fault, Stop};
use crate::proof::Case;
use crate::{Action, ActionKind, Problem};

/// The largest number of parts into which allowed sets are divided.
const MOST_PARTS: usize = 1_000_000;

/// Something that is changed as a whole: a feature, or the columns of a group.
struct Thing {
    /// Its features that actions may change.
    features: Vec<usize>,
    /// The lists of the problem, by number, of which at most one thing may be changed.
    lists: Vec<usize>,
}

/// Everything that an action may change.
fn things(problem: &Problem) -> Vec<Thing> {
    let features = problem.features();
    let mut named: Vec<(Option<&str>, Vec<usize>)> = Vec::new();
    for (i, feature) in features.iter().enumerate().filter(|(_, feature)| feature.is_actionable()) {
        let group = feature.group.as_deref();
        match named.iter_mut().find(|(other, _)| group.is_some() && *other == group) {
            Some((_, columns)) => columns.push(i),
            None => named.push((group, vec![i])),
        }
    }
    let lists_of = |group: Option<&str>, columns: &[usize]| {
        let is_in = |list: &Vec<usize>| {
            list.iter().any(|&i| {
                columns.contains(&i) || group.is_some() && features.feature(i).group.as_deref() == group
            })
        };
        let lists = problem.change_limits().one_of().iter().enumerate();
        lists.filter(|(_, list)| is_in(list)).map(|(number, _)| number).collect()
    };
    let thing = |(group, columns): (Option<&str>, Vec<usize>)| Thing {
        lists: lists_of(group, &columns),
        features: columns,
    };
    named.into_iter().map(thing).collect()
}

/// Whether things may be changed together.
fn may_be_together(problem: &Problem, chosen: &[&Thing]) -> bool {
    let limits = problem.change_limits();
    if limits.most_changes().is_some_and(|most| chosen.len() > most) {
        return false;
    }
    (0..limits.one_of().len())
        .all(|list| chosen.iter().filter(|thing| thing.lists.contains(&list)).count() < 2)
}

/// Verifies that the things that an action changes may be changed together. Everything that it names counts, unless its
/// change is zero and nothing would move it or shift it.
pub(super) fn verify_together(problem: &Problem, action: &Action) -> Result<(), Stop> {
    let change_of = |i: usize| {
        let place = action.features.iter().position(|&named| named == i);
        place.map(|place| action.change[place])
    };
    let is_shifted = problem.action_kind() == ActionKind::Absolute && !problem.uncertainty().is_none();
    let counts = |i: usize| match change_of(i) {
        None => false,
        Some(change) if change != 0.0 => true,
        Some(_) => {
            let moves = |&j: &usize| j != i && change_of(j).is_some_and(|change| change != 0.0);
            let follows = |j: usize| problem.causal_models().iter().any(|scm| scm.is_downstream(i, j));
            is_shifted || action.features.iter().copied().filter(|j| moves(j)).any(follows)
        }
    };
    let all = things(problem);
    let changed: Vec<&Thing> = all.iter().filter(|thing| thing.features.iter().any(|&i| counts(i))).collect();
    match may_be_together(problem, &changed) {
        true => Ok(()),
        false => {
            let name = |i: &usize| problem.features().feature(*i).name.clone();
            let features = changed.iter().flat_map(|thing| &thing.features).map(name).collect();
            Err(Stop::Wrong(Fault::Together { features }))
        }
    }
}

/// Verifies that every set of things that may be changed together is contained in one of the cases.
pub(super) fn verify_complete(problem: &Problem, cases: &[Case]) -> Result<(), Stop> {
    let things = things(problem);
    let fixes = |case: &Case, thing: &Thing| thing.features.iter().any(|i| case.fixed.contains(i));
    // Whether each case fixes each thing.
    let fixed: Vec<Vec<bool>> =
        cases.iter().map(|case| things.iter().map(|thing| fixes(case, thing)).collect()).collect();
    // What is chosen, and what may still be.
    let mut open: Vec<(Vec<usize>, Vec<usize>)> = vec![(Vec::new(), (0..things.len()).collect())];
    let mut parts = 0;
    while let Some((chosen, rest)) = open.pop() {
        parts += 1;
        if parts > MOST_PARTS {
            return Err(Stop::Unverified(Fault::CoverTooLarge { parts: cases.len() }));
        }
        let with = |more: &[usize]| -> Vec<&Thing> {
            chosen.iter().chain(more).map(|&thing| &things[thing]).collect()
        };
        let rest: Vec<usize> =
            rest.into_iter().filter(|&thing| may_be_together(problem, &with(&[thing]))).collect();
        let is_contained = |fixed: &&Vec<bool>| !chosen.iter().chain(&rest).any(|&thing| fixed[thing]);
        if chosen.is_empty() && rest.is_empty() || fixed.iter().any(|fixed| is_contained(&fixed)) {
            continue;
        }
        // Things that some case fixes divide the sets.
        let divides = |&&thing: &&usize| {
            let is_possible = |fixed: &&Vec<bool>| !chosen.iter().any(|&kept| fixed[kept]);
            fixed.iter().filter(is_possible).any(|fixed| fixed[thing])
        };
        let Some(&next) = rest.iter().find(divides) else {
            let name = |&i: &usize| problem.features().feature(i).name.clone();
            let kept = if chosen.is_empty() { &rest[..] } else { &chosen[..] };
            let features = kept.iter().flat_map(|&thing| &things[thing].features).map(name).collect();
            return Err(Stop::Wrong(Fault::CasesIncomplete { features }));
        };
        let others: Vec<usize> = rest.iter().copied().filter(|&thing| thing != next).collect();
        open.push((chosen.clone(), others.clone()));
        open.push(([&chosen[..], &[next]].concat(), others));
    }
    Ok(())
}
