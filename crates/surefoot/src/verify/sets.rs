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

use super::cover::Sides;
use super::{Fault, Stop};
use crate::proof::{RuledOut, SavedProof};
use crate::{ActionKind, Problem};

/// The largest number of intervention sets for which a bound is verified by parts of each.
const MOST_SETS: usize = 4096;
/// The largest number of groups of sets that are looked at.
const MOST_FAMILIES: usize = 200_000;

/// The actions of a box on all sets between two: with the decided features, and with any of the open ones.
#[derive(Clone, Debug)]
pub(super) struct Family {
    /// The features of the largest set, in ascending order.
    pub features: Vec<usize>,
    /// Those units of them that a set need not contain.
    pub open: Vec<Vec<usize>>,
    /// The part of the box of all changes that is meant; `None` for all of it.
    pub sides: Option<Sides>,
    /// The parts of the proof that may rule out some of the actions, by number.
    pub parts: Vec<usize>,
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
        Self { features, open, sides: None, parts: Vec::new() }
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

    /// Whether a part may rule out actions on some of the sets.
    pub fn may_be_covered_by(&self, part: &RuledOut) -> bool {
        let has_required = self.features.iter().all(|i| part.features.contains(i) || !self.requires(*i));
        let has_others =
            part.features.iter().all(|i| self.features.contains(i) || part.undecided.contains(i));
        has_required && has_others && part.features.is_sorted_by(|a, b| a < b)
    }

    /// An open unit on which all of some parts decide, if there is a part.
    pub fn unit_decided_by_all(&self, parts: &[usize], saved: &SavedProof) -> Option<usize> {
        let is_decided =
            |unit: &Vec<usize>| parts.iter().all(|&k| !saved.ruled_out[k].undecided.contains(&unit[0]));
        if parts.is_empty() { None } else { self.open.iter().position(is_decided) }
    }

    /// The open unit on which most parts decide.
    fn unit_to_divide(&self, saved: &SavedProof) -> Option<usize> {
        let decides = |unit: &Vec<usize>| {
            self.parts.iter().filter(|&&k| !saved.ruled_out[k].undecided.contains(&unit[0])).count()
        };
        (0..self.open.len()).max_by_key(|&k| decides(&self.open[k]))
    }

    /// The sets with an open unit, and those without it.
    fn divided(&self, unit: usize) -> [Option<Family>; 2] {
        let mut open = self.open.clone();
        let unit = open.remove(unit);
        let kept: Vec<usize> =
            (0..self.features.len()).filter(|&k| !unit.contains(&self.features[k])).collect();
        // Where the unit must change, there are no actions on sets without it.
        let may_stay = |(lower, upper): &Sides| {
            (0..self.features.len()).all(|k| kept.contains(&k) || lower[k] <= 0.0 && upper[k] >= 0.0)
        };
        let on = |ends: &[f64]| kept.iter().map(|&k| ends[k]).collect::<Vec<f64>>();
        let without = (!kept.is_empty() && self.sides.as_ref().is_none_or(may_stay)).then(|| Family {
            features: kept.iter().map(|&k| self.features[k]).collect(),
            open: open.clone(),
            sides: self.sides.as_ref().map(|(lower, upper)| (on(lower), on(upper))),
            parts: self.parts.clone(),
        });
        [Some(Family { open, ..self.clone() }), without]
    }
}

/// Families that are still to be covered.
pub(super) struct Open {
    families: Vec<Family>,
    /// The number of sets.
    count: usize,
    looked: usize,
}

impl Open {
    /// All families. An error if there are too many sets for a proof in which every set has parts of its own.
    pub fn all(problem: &Problem, saved: &SavedProof) -> Result<Self, Stop> {
        let parts = (0..saved.ruled_out.len()).collect();
        let all = Family { parts, ..Family::all(problem) };
        let has_undecided = saved.ruled_out.iter().any(|part| !part.undecided.is_empty());
        if !has_undecided && all.count() > MOST_SETS {
            return Err(Stop::Unverified(Fault::TooManySets { most: MOST_SETS }));
        }
        Ok(Self { count: all.count(), families: vec![all], looked: 0 })
    }

    pub fn count(&self) -> usize {
        self.count
    }

    /// The next family. An error if there were too many.
    pub fn next(&mut self, problem: &Problem, saved: &SavedProof) -> Result<Option<Family>, Stop> {
        self.looked += 1;
        if self.looked > MOST_FAMILIES {
            return Err(Stop::Unverified(Fault::CoverTooLarge { parts: saved.ruled_out.len() }));
        }
        Ok(self.families.pop().map(|family| family.reduced(problem)))
    }

    /// Divides what parts leave of a family.
    pub fn divide(&mut self, rest: Family, saved: &SavedProof) {
        let unit = rest.unit_to_divide(saved);
        self.families.extend(unit.into_iter().flat_map(|unit| rest.divided(unit)).flatten());
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
            false => open.extend(family.divided(0).into_iter().flatten()),
        }
    }
    Ok(sets)
}
