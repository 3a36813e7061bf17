//! The intervention sets that a bound on the cost must cover.
//!
//! Without a causal model, one set suffices: all actionable features together. Naming a further feature
//! and leaving it unchanged costs nothing. It changes nothing for relative actions, and protects the
//! feature from perturbation for absolute ones. With a causal model, every set must be covered. However,
//! a relative action on a set equals one on a larger set that leaves the additional features unchanged,
//! if none of those is downstream of the set. An absolute action is at least as good if the additional
//! features have neither causes nor effects. So only those sets remain to which no such feature can be
//! added. With several causal models, a feature may be added if it may be in each. Columns of a group belong
//! together.
//!
//! A part of a proof that leaves features undecided covers many sets at once. So the sets are divided: into those with a
//! feature and those without it, until parts cover all sets that are left.

use super::{Fault, Stop};
use crate::proof::RuledOut;
use crate::{ActionKind, Problem};

/// The largest number of intervention sets, or of groups of them, for which a bound is verified.
const MOST_SETS: usize = 4096;

/// All sets between two: with the decided features, and with any of the open ones.
#[derive(Clone, Debug)]
pub(super) struct Family {
    /// The features of the largest set, in ascending order.
    pub features: Vec<usize>,
    /// Those units of them that a set need not contain.
    pub open: Vec<Vec<usize>>,
}

impl Family {
    /// All sets that must be covered.
    pub fn all(problem: &Problem) -> Self {
        let features = problem.features().actionable();
        let units = problem.features().actionable_units();
        let scms = problem.causal_models();
        let others = |i: usize| (0..problem.features().len()).filter(move |&j| j != i);
        let is_actionable = |j: &usize| problem.features().feature(*j).is_actionable();
        // Whether some set without the feature cannot be extended by it.
        let is_optional = |i: usize| match problem.action_kind() {
            ActionKind::Relative => {
                others(i).filter(is_actionable).any(|j| scms.iter().any(|scm| scm.is_downstream(i, j)))
            }
            ActionKind::Absolute => {
                others(i).any(|j| scms.iter().any(|scm| scm.is_downstream(i, j) || scm.is_downstream(j, i)))
            }
        };
        let open = units.into_iter().filter(|unit| unit.iter().any(|&i| is_optional(i))).collect();
        Self { features, open }
    }

    /// The same family without those sets that a larger one of it covers.
    fn reduced(mut self, problem: &Problem) -> Self {
        let scms = problem.causal_models();
        if problem.action_kind() == ActionKind::Relative {
            let features = &self.features;
            let follows =
                |i: usize| features.iter().any(|&j| j != i && scms.iter().any(|scm| scm.is_downstream(i, j)));
            self.open.retain(|unit| unit.iter().any(|&i| follows(i)));
        }
        self
    }

    /// The number of sets.
    pub fn count(&self) -> usize {
        1usize.checked_shl(self.open.len() as u32).unwrap_or(usize::MAX)
    }

    /// Whether every set contains a feature.
    fn requires(&self, feature: usize) -> bool {
        self.features.contains(&feature) && !self.open.iter().any(|unit| unit.contains(&feature))
    }

    /// Whether a part rules out actions on every set, if changes that it leaves undecided are zero where they must be.
    pub fn is_covered_by(&self, part: &RuledOut) -> bool {
        let may_be_left_out = |i: &usize| part.undecided.contains(i) || self.requires(*i);
        // Told by numbers alone for most parts.
        let required = self.features.len() - self.open.iter().map(Vec::len).sum::<usize>();
        if part.features.len() < self.features.len() || part.features.len() > required + part.undecided.len()
        {
            return false;
        }
        // So that sides are in the order of the features.
        let is_ascending = part.features.is_sorted_by(|a, b| a < b);
        let has_all = is_ascending && self.features.iter().all(|i| part.features.contains(i));
        let is_plain = part.cone.is_none() || part.features == self.features && self.open.is_empty();
        has_all && is_plain && part.features.iter().all(may_be_left_out)
    }

    /// The sets with an open unit, and those without it; the unit on which most parts differ that cover some of the sets.
    pub fn divided(mut self, parts: &[RuledOut]) -> [Option<Family>; 2] {
        let covers_some = |part: &&RuledOut| {
            let has_required = self.features.iter().all(|i| part.features.contains(i) || !self.requires(*i));
            let has_others =
                part.features.iter().all(|i| self.features.contains(i) || part.undecided.contains(i));
            has_required && has_others
        };
        let some: Vec<&RuledOut> = parts.iter().filter(covers_some).collect();
        let decides =
            |unit: &Vec<usize>| some.iter().filter(|part| !part.undecided.contains(&unit[0])).count();
        let chosen = (0..self.open.len()).max_by_key(|&k| decides(&self.open[k]));
        let Some(unit) = chosen.map(|k| self.open.remove(k)) else { return [None, None] };
        let features: Vec<usize> =
            self.features.iter().copied().filter(|feature| !unit.contains(feature)).collect();
        let without = (!features.is_empty()).then(|| Family { features, open: self.open.clone() });
        [Some(self), without]
    }
}

/// Families that are still to be covered.
pub(super) struct Open {
    families: Vec<Family>,
    looked: usize,
}

impl Open {
    pub fn all(problem: &Problem) -> Self {
        Self { families: vec![Family::all(problem)], looked: 0 }
    }

    /// The next family. An error if there were too many.
    pub fn next(&mut self, problem: &Problem) -> Result<Option<Family>, Stop> {
        let next = self.families.pop().map(|family| family.reduced(problem));
        self.looked += usize::from(next.is_some());
        match self.looked > 2 * MOST_SETS {
            true => Err(Stop::Unverified(Fault::TooManySets { most: MOST_SETS })),
            false => Ok(next),
        }
    }

    pub fn extend(&mut self, families: impl IntoIterator<Item = Family>) {
        self.families.extend(families);
    }
}

/// Every set that must be covered.
pub(super) fn sets(problem: &Problem) -> Result<Vec<Vec<usize>>, Stop> {
    let all = Family::all(problem);
    if all.count() > MOST_SETS {
        return Err(Stop::Unverified(Fault::TooManySets { most: MOST_SETS }));
    }
    let mut sets = Vec::new();
    let mut open = vec![all];
    while let Some(family) = open.pop() {
        match family.open.is_empty() {
            true => sets.push(family.features),
            false => open.extend(family.divided(&[]).into_iter().flatten()),
        }
    }
    Ok(sets)
}
