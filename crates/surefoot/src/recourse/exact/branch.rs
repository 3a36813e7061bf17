//! Branch and bound over intervention sets, where there are too many to enumerate.
//!
//! A node of the search decides for some features whether actions name them, and restricts the changes of
//! integer features to a box. Its [`Relaxation`] bounds the cost from below. The node with the least bound
//! comes first. If an action on one set attains the bound, up to rounding, that set is the cheapest: it is
//! solved like a set that was enumerated. Otherwise the node is split: at a feature that the relaxation
//! uses both as named and as following its causes, or at an integer feature with a fractional change.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::Exact;
use super::arrows::Membership;
use super::constrained::{FAR_AWAY, SetAnswer};
use super::relaxation::{Decided, Next, Relaxation, Relaxed};
use super::rows::Person;
use super::set::Set;
use crate::Result;
use crate::cancel;
use crate::outcome::{Outcome, Recourse, Shortfall, Undecided, UndecidedReason};

/// The number of evaluations of the budget for one relaxation.
const EVALUATIONS: usize = 10;
/// The number of sets that are tried if the budget is spent.
const LAST_SETS: usize = 32;
/// The relative difference between the cost of an action and a bound that counts as rounding.
const ROUNDING: f64 = 1e-9;

/// A node of the search.
struct Node {
    decided: Decided,
    relaxed: Relaxed,
    number: usize,
}

impl Ord for Node {
    /// The greatest node is the one with the least bound; among equals, the last one, which is the deepest.
    fn cmp(&self, other: &Self) -> Ordering {
        other.relaxed.bound.total_cmp(&self.relaxed.bound).then(self.number.cmp(&other.number))
    }
}

impl PartialOrd for Node {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Node {}

/// The nodes that are left, and a bound for those that are settled.
struct Search<'a, 'p> {
    relaxation: Relaxation<'a, 'p>,
    open: BinaryHeap<Node>,
    /// The number of relaxations that were solved.
    solved: usize,
    /// The largest number of relaxations.
    most: usize,
    /// A lower bound of the cost of every action of a settled node.
    bound: f64,
}

impl<'a, 'p> Search<'a, 'p> {
    fn new(exact: &'a Exact<'p>, individual: &[f64], relaxation: Relaxation<'a, 'p>) -> Self {
        let most = (exact.settings.budget.evaluations / EVALUATIONS).max(1);
        let mut search = Self { relaxation, open: BinaryHeap::new(), solved: 0, most, bound: f64::INFINITY };
        if let Some(decided) = search.relaxation.start(individual) {
            search.push(decided, 0.0);
        }
        search
    }

    fn push(&mut self, decided: Decided, bound_of_parent: f64) {
        let mut relaxed = self.relaxation.solve(&decided);
        relaxed.bound = relaxed.bound.max(bound_of_parent);
        self.solved += 1;
        match relaxed.next {
            Next::Nothing => self.bound = self.bound.min(relaxed.bound),
            _ => self.open.push(Node { decided, relaxed, number: self.solved }),
        }
    }

    /// The next set that attains the bound of its node. `None` if no node is left whose bound is below
    /// `cost`, or if the budget is spent.
    fn next(&mut self, exact: &Exact<'_>, cost: f64) -> Option<Vec<usize>> {
        while self.open.peek()?.relaxed.bound < cost * (1.0 - ROUNDING)
            && self.solved < self.most
            && !cancel::is_cancelled()
        {
            let Node { decided, relaxed, .. } = self.open.pop()?;
            match relaxed.next {
                Next::Attained => {
                    self.bound = self.bound.min(relaxed.bound);
                    return Some(relaxed.set);
                }
                Next::Nothing => {}
                Next::Decide(unit) => {
                    let unit = &exact.optional[unit];
                    for membership in [Membership::Out, Membership::In] {
                        let mut decided = decided.clone();
                        unit.iter().for_each(|&i| decided.members[i] = membership);
                        if self.is_possible(&decided) {
                            self.push(decided, relaxed.bound);
                        }
                    }
                }
                Next::Split(parts) => {
                    for sides in parts {
                        let mut part = Decided { sides, ..decided.clone() };
                        self.name_changed(exact, &mut part);
                        if self.is_possible(&part) {
                            self.push(part, relaxed.bound);
                        }
                    }
                }
            }
        }
        None
    }

    /// Whether no feature that is not named must change.
    fn is_possible(&self, decided: &Decided) -> bool {
        let (lower, upper) = &decided.sides;
        let is_out = |k: usize| decided.members[self.relaxation.features[k]] == Membership::Out;
        (0..lower.len()).all(|k| !is_out(k) || lower[k] <= 0.0 && upper[k] >= 0.0)
    }

    /// Decides that every feature that must change is named.
    fn name_changed(&self, exact: &Exact<'_>, decided: &mut Decided) {
        let (lower, upper) = &decided.sides;
        for (k, &i) in self.relaxation.features.iter().enumerate() {
            if (lower[k] > 0.0 || upper[k] < 0.0) && decided.members[i] == Membership::Open {
                let unit = exact.optional.iter().find(|unit| unit.contains(&i));
                unit.into_iter().flatten().for_each(|&i| decided.members[i] = Membership::In);
            }
        }
    }

    /// A lower bound of the cost of every action.
    fn cost_bound(&self) -> f64 {
        self.open.peek().map_or(self.bound, |node| self.bound.min(node.relaxed.bound))
    }

    /// Whether the budget was spent with nodes left below a cost.
    fn is_cut_short(&self, cost: f64) -> bool {
        self.open.peek().is_some_and(|node| node.relaxed.bound < cost * (1.0 - ROUNDING))
    }

    /// The sets that suit the nodes with the least bounds.
    fn last_sets(&mut self) -> Vec<Vec<usize>> {
        let mut sets: Vec<Vec<usize>> = Vec::new();
        let nodes = std::mem::take(&mut self.open).into_sorted_vec();
        for node in nodes.iter().rev().take(LAST_SETS) {
            if !sets.contains(&node.relaxed.set) {
                sets.push(node.relaxed.set.clone());
            }
        }
        sets
    }
}

impl Exact<'_> {
    /// The outcome by branch and bound over intervention sets, and the number of evaluations.
    pub(super) fn solve_by_branching(&self, individual: &[f64], score: f64) -> Result<(Outcome, usize)> {
        let person = Person::new(self, individual, score);
        let relaxation = Relaxation::new(self, &person);
        let mut search = Search::new(self, individual, relaxation);
        let mut best: Option<Recourse> = None;
        let cost = |best: &Option<Recourse>| best.as_ref().map_or(f64::INFINITY, |best| best.cost);
        while let Some(set) = search.next(self, cost(&best)) {
            self.improve(&person, set, &mut best)?;
        }
        let cost_bound = search.cost_bound();
        let is_cut_short = search.is_cut_short(cost(&best));
        let evaluations = search.solved * EVALUATIONS;
        if is_cut_short {
            let prepared = self.sets.iter().map(|set| set.features.clone());
            for set in search.last_sets().into_iter().chain(prepared) {
                self.improve(&person, set, &mut best)?;
            }
        }
        let outcome = match best {
            Some(best) => Outcome::Found(Recourse { cost_bound: cost_bound.min(best.cost), ..best }),
            None => self.none_found(&person, cost_bound, is_cut_short)?,
        };
        Ok((outcome, evaluations))
    }

    /// Replaces the best action by the cheapest one on a set, if that is cheaper.
    fn improve(&self, person: &Person<'_>, features: Vec<usize>, best: &mut Option<Recourse>) -> Result<()> {
        let answer = self.cheapest_on(person, &self.prepare(features), f64::INFINITY)?;
        if let Some(SetAnswer { found: Some(found), .. }) = answer
            && found.is_finite(self.problem)
            && best.as_ref().is_none_or(|best| found.cost < best.cost)
        {
            *best = Some(found);
        }
        Ok(())
    }

    /// The outcome if no action was found.
    fn none_found(&self, person: &Person<'_>, cost_bound: f64, is_cut_short: bool) -> Result<Outcome> {
        let (individual, score) = (person.individual, person.score);
        let shortfall = match (self.problem.requirements().is_empty(), self.is_integer) {
            (false, _) => Some(self.constrained_shortfall(person)),
            (true, true) => self.short_whole(individual, score, cost_bound)?.into_shortfall(),
            (true, false) => self.short(individual, score, cost_bound)?.into_shortfall(),
        };
        let Shortfall { best, missing } =
            shortfall.unwrap_or_else(|| Shortfall { best: self.no_action(), missing: f64::INFINITY });
        if cost_bound == f64::INFINITY {
            return Ok(Outcome::Impossible(Shortfall { best, missing }));
        }
        let reason = match is_cut_short {
            true => UndecidedReason::Budget,
            false if cost_bound >= FAR_AWAY => UndecidedReason::Distance,
            false => UndecidedReason::Rounding,
        };
        let required = self.problem.safety() + self.rounding_of_score(individual, &best.change);
        let margin = -missing;
        Ok(Outcome::Undecided(Undecided { best, margin, required, cost_bound, reason }))
    }

    /// The cost of the cheapest real-valued action that raises the score by `need`, whatever the
    /// uncertainty and the requirements; infinite if there is none. NaN if the search for the cheapest set
    /// ended at the budget, or if numbers overflow.
    pub(crate) fn cost_of_raising(&self, individual: &[f64], need: f64) -> f64 {
        let mut change = Vec::new();
        let mut cost = |set: &Set| self.fill(set, &set.gains, individual, need, &mut change);
        if self.is_enumerated() {
            return self.sets.iter().map(cost).fold(f64::INFINITY, f64::min);
        }
        let relaxation = Relaxation::of_raising(self, individual, need);
        let mut search = Search::new(self, individual, relaxation);
        let mut least = f64::INFINITY;
        while let Some(set) = search.next(self, least) {
            least = least.min(cost(&self.prepare(set)));
        }
        if search.is_cut_short(least) || least.is_infinite() && search.cost_bound().is_finite() {
            return f64::NAN;
        }
        least
    }
}

impl Outcome {
    /// The best action that was examined, where none was found.
    fn into_shortfall(self) -> Option<Shortfall> {
        match self {
            Outcome::Impossible(shortfall) => Some(shortfall),
            Outcome::Undecided(Undecided { best, margin, .. }) => Some(Shortfall { best, missing: -margin }),
            _ => None,
        }
    }
}
