//! The branch-and-bound search for one individual.

use std::collections::BinaryHeap;
use std::time::Instant;

use super::Complete;
use super::boxes::{Cuboid, cost_of};
use super::local::{FEW, Progress, SETS};
use super::undecided::followers;
use crate::action::feasible_change;
use crate::certify::{Budget, Found, LEAST_MARGIN, Prover, Search, breaks};
use crate::graph::{Followers, Graph, Order};
use crate::integer::Integrality;
use crate::margin::{Composer, Coordinates, margin};
use crate::outcome::{Shortfall, Undecided, UndecidedReason};
use crate::proof::{Certificate, Proof, RuledOut, Scenario};
use crate::recourse::Improvement;
use crate::{Action, Cost, Outcome, Problem, Result};

/// The search leaves the budget divided by this for the proof.
const PROOF_DIVISOR: usize = 6;
/// The search may take this share of the time that is left.
const SEARCH_TIME_SHARE: f64 = 0.6;
/// The search ends when the lower bound is within this share of the gap. The rest of the gap is for the
/// enlargement of changes that makes the incumbent provable.
const SEARCH_GAP_SHARE: f64 = 0.55;
/// Only improvements of the cost by more than this share of the gap are searched for. It is less than
/// [`SEARCH_GAP_SHARE`], so that the bound of boxes that are not searched suffices to end the search.
const IMPROVEMENT_SHARE: f64 = 0.5;
/// Sides shorter than this are not split.
const SHORTEST: f64 = 1e-5;
/// The number of halvings with which a point is moved to where it costs less than the incumbent.
const COST_STEPS: i32 = 7;
/// The number of most recent scenarios of the pool, for each variant, that are tried on an action or a box.
const RECENT: usize = 12;

/// The number of evaluations of a budget that a search may take before a proof begins.
pub(super) fn search_evaluations(budget: Budget) -> usize {
    budget.evaluations - budget.evaluations / PROOF_DIVISOR
}

/// One intervention set or, if features are undecided, all sets with the others and any of these.
pub(super) struct Set<'p> {
    pub features: Vec<usize>,
    /// The undecided features, which may follow others; see [`undecided`](super::undecided).
    pub followers: Followers,
    /// The composer of each variant of the problem.
    pub composers: Vec<Composer<'p>>,
    pub weights: Vec<f64>,
    /// For each scenario of the pool, the margin as a function of the change.
    pub graphs: Vec<Graph<'p>>,
    pub integrality: Integrality,
    /// For each requirement, its value as a function of the change.
    pub requirements: Vec<Graph<'p>>,
}

impl<'p> Set<'p> {
    fn new(
        problem: &'p Problem,
        individual: &[f64],
        features: &[usize],
        undecided: &[usize],
    ) -> Result<Self> {
        let variants = problem.variants().iter();
        let composers = variants.map(|variant| Composer::new(variant, individual, features));
        let composers = composers.collect::<Result<Vec<_>>>()?;
        Ok(Self {
            features: features.to_vec(),
            followers: followers(problem, features, undecided),
            weights: features.iter().map(|&i| problem.features().feature(i).weight).collect(),
            integrality: Integrality::new(problem, individual, features),
            requirements: problem
                .requirements()
                .iter()
                .map(|rule| composers[0].of_requirement(rule))
                .collect(),
            graphs: Vec::new(),
            composers,
        })
    }

    /// The margin in a scenario as a function of the change.
    pub fn in_scenario(&self, scenario: &Scenario) -> Graph<'p> {
        self.composers[scenario.variant].in_change(&scenario.perturbation)
    }
}

/// An action that no scenario found so far breaks.
#[derive(Clone, Debug)]
pub(super) struct Incumbent {
    /// The number of its intervention set.
    pub set: usize,
    pub change: Vec<f64>,
    pub cost: f64,
}

/// The same for use outside of the search.
pub(super) struct Unproven {
    pub action: Action,
    pub cost: f64,
}

/// The best action found that does not hold.
pub(super) struct NearMiss {
    /// The number of its intervention set.
    pub set: usize,
    pub change: Vec<f64>,
    /// The lowest margin found.
    pub margin: f64,
}

pub(super) struct Solver<'p, 's> {
    pub(super) settings: &'s Complete<'p>,
    pub(super) individual: Vec<f64>,
    pub(super) sets: Vec<Set<'p>>,
    /// The numbers of the sets whose boxes cover all actions.
    roots: Vec<usize>,
    /// The numbers of the sets in which local searches begin.
    pub(super) searched_sets: Vec<usize>,
    pub(super) coordinates: Coordinates,
    pub(super) pool: Vec<Scenario>,
    /// The points at which interpolated cuts touch.
    pub(super) points: Vec<Vec<f64>>,
    pub(super) prover: Prover,
    pub(super) queue: BinaryHeap<Cuboid>,
    /// The least cost of a box that is too small to be split.
    pub(super) min_unsplittable_cost: f64,
    /// Single integer-valued actions that were not ruled out.
    pub(super) open_points: Vec<Cuboid>,
    pub(super) number: usize,
    /// The cheapest action so far that no scenario found breaks.
    pub(super) incumbent: Option<Incumbent>,
    /// Among the actions that do not hold, the one with the largest worst-case margin.
    pub(super) best: Option<NearMiss>,
    pub(super) ruled_out: Vec<RuledOut>,
    pub(super) proving: usize,
    /// The number of evaluations when the search ended, if the proofs that followed do not depend on the
    /// budget.
    pub(super) searched: Option<usize>,
    /// The estimated worst-case margin that a proof needs.
    pub(super) needed_margin: f64,
    /// The cost of the last incumbent that was rejected.
    pub(super) last_rejected_cost: f64,
    pub(super) local_searches: Progress,
}

impl<'p, 's> Solver<'p, 's> {
    pub fn new(settings: &'s Complete<'p>, individual: &[f64]) -> Result<Self> {
        let problem = settings.problem;
        let sets =
            settings.sets.iter().map(|features| Set::new(problem, individual, features, &settings.undecided));
        let sets = sets.collect::<Result<Vec<_>>>()?;
        let mut prover = Prover::new(problem, settings.budget.evaluations);
        prover.set_end(settings.end);
        let roots = (0..sets.len()).collect();
        let mut solver = Self {
            settings,
            individual: individual.to_vec(),
            sets,
            roots,
            searched_sets: Vec::new(),
            coordinates: Coordinates::of(problem),
            pool: Vec::new(),
            points: Vec::new(),
            prover,
            queue: BinaryHeap::new(),
            min_unsplittable_cost: f64::INFINITY,
            open_points: Vec::new(),
            number: 0,
            incumbent: None,
            best: None,
            ruled_out: Vec::new(),
            proving: 0,
            searched: None,
            needed_margin: 0.0,
            last_rejected_cost: 0.0,
            local_searches: Progress::default(),
        };
        solver.searched_sets = solver.sets_to_search();
        Ok(solver)
    }

    /// The intervention sets in which local searches begin: the largest ones, which leave more choice. If features are
    /// undecided, those with all of them, with none, and with all but one.
    fn sets_to_search(&mut self) -> Vec<usize> {
        if self.settings.undecided.is_empty() {
            let mut sets: Vec<usize> = (0..self.sets.len()).collect();
            sets.sort_by_key(|&set| std::cmp::Reverse(self.sets[set].weights.len()));
            sets.truncate(SETS);
            return sets;
        }
        let mut found = Vec::new();
        for &root in self.roots.clone().iter().rev() {
            let (all, undecided) = (self.sets[root].features.clone(), self.sets[root].undecided());
            let without = |left_out: &[usize]| -> Vec<usize> {
                all.iter().copied().filter(|i| !left_out.contains(i)).collect()
            };
            let few = [all.clone(), without(&undecided)];
            let one = undecided.iter().map(|&i| without(&[i]));
            for features in few.into_iter().chain(one).filter(|features| !features.is_empty()) {
                found.extend(self.set_of(&features, &[]).filter(|_| found.len() < SETS));
            }
        }
        found
    }

    /// The number of the set of some features of which some are undecided; it is added if it is not there. `None` if
    /// the individual cannot be composed.
    pub(super) fn set_of(&mut self, features: &[usize], undecided: &[usize]) -> Option<usize> {
        let problem = self.settings.problem;
        let followers = followers(problem, features, undecided);
        let is_same = |set: &Set<'_>| set.features == features && set.followers == followers;
        if let Some(set) = self.sets.iter().position(is_same) {
            return Some(set);
        }
        self.sets.push(Set::new(problem, &self.individual, features, undecided).ok()?);
        Some(self.sets.len() - 1)
    }

    pub(super) fn cost(&self) -> Cost {
        self.settings.problem.cost()
    }

    pub fn run(mut self) -> Result<Proof> {
        if self.settings.problem.finite_score(&self.individual)? >= 0.0 {
            return Ok(self.proof(Outcome::AlreadyFavourable, None));
        }
        self.fill_queue();
        self.limit_search();
        while self.seek() {
            if let Some(proof) = self.finish()? {
                return Ok(proof);
            }
            if self.incumbent.is_some() {
                break;
            }
        }
        Ok(self.undecided())
    }

    /// The cheapest action that survives attacks from up to eight axes and the `known` scenarios, without a
    /// proof; all scenarios that were tried on it; and the number of evaluations.
    pub fn cheapest_unproven(mut self, known: &[Scenario]) -> (Option<Unproven>, Vec<Scenario>, usize) {
        self.pool.extend_from_slice(known);
        self.fill_queue();
        while self.seek() {
            let Some(Incumbent { set, change, .. }) = self.incumbent.clone() else { break };
            let (scenario, _) = self.attack_thoroughly(set, &change);
            if self.add(set, &change, scenario.clone()).is_none() {
                self.pool.push(scenario);
                break;
            }
            self.incumbent = None;
            self.queue.extend(self.open_points.drain(..));
        }
        (self.unproven(), self.pool, self.prover.evaluations())
    }

    /// The incumbent.
    fn unproven(&self) -> Option<Unproven> {
        let found = self.incumbent.as_ref()?;
        Some(Unproven { action: self.action(found.set, &found.change), cost: found.cost })
    }

    /// Searches until no box is left that is cheaper than the incumbent by more than [`SEARCH_GAP_SHARE`] of
    /// the gap, or no box at all, or the budget is spent. Returns whether there is an incumbent.
    fn seek(&mut self) -> bool {
        loop {
            self.tell();
            let Some(cuboid) = self.queue.pop() else { break };
            let enough =
                |found: &Incumbent| cuboid.cost >= found.cost * (1.0 - SEARCH_GAP_SHARE * self.settings.gap);
            let is_spent = self.prover.is_spent() || self.number > self.settings.budget.evaluations;
            if self.incumbent.as_ref().is_some_and(enough) || is_spent {
                self.queue.push(cuboid);
                break;
            }
            if self.is_local_search_due() {
                self.queue.push(cuboid);
                self.search_locally();
                continue;
            }
            self.process_box(cuboid);
        }
        self.incumbent.is_some()
    }

    /// Tells the observer what is better than what it was told before.
    fn tell(&self) {
        let Some(observer) = &self.settings.observer else { return };
        let cost = self.incumbent.as_ref().map_or(f64::INFINITY, |found| found.cost);
        // Without anything left every action is ruled out, or the incumbent is the cheapest.
        observer.tell(Improvement::Bound(self.bound().min(cost)));
        if let Some(Incumbent { set, change, cost }) = &self.incumbent {
            observer.tell(Improvement::Incumbent { action: self.action(*set, change), cost: *cost });
        }
    }

    /// The result without a proven action: `Impossible` if the queue is empty and nothing is open,
    /// otherwise `Undecided` with the best action so far.
    pub(super) fn undecided(mut self) -> Proof {
        let problem = self.settings.problem;
        let bound = self.bound();
        // Without an incumbent, the search ends because the budget is spent or because the queue is
        // empty.
        let reason = match &self.incumbent {
            Some(_) => UndecidedReason::Proof,
            None if self.queue.is_empty() => UndecidedReason::Resolution,
            None => UndecidedReason::Budget,
        };
        let (best, margin) = match (self.incumbent.take(), self.best.take()) {
            (_, Some(NearMiss { set, change, margin })) if bound == f64::INFINITY => {
                (self.action(set, &change), margin)
            }
            (Some(Incumbent { set, change, .. }), _) | (None, Some(NearMiss { set, change, .. })) => {
                let action = self.action(set, &change);
                let margin = self.worst_known(&action);
                (action, margin)
            }
            (None, None) => (self.action(0, &vec![0.0; self.sets[0].weights.len()]), f64::NEG_INFINITY),
        };
        let outcome = if bound == f64::INFINITY {
            Outcome::Impossible(Shortfall { best, missing: -margin })
        } else {
            let required = problem.safety().max(LEAST_MARGIN);
            Outcome::Undecided(Undecided { best, margin, required, cost_bound: bound, reason })
        };
        self.proof(outcome, None)
    }

    fn proof(self, outcome: Outcome, certificate: Option<Certificate>) -> Proof {
        Proof {
            outcome,
            certificate,
            ruled_out: self.ruled_out,
            dividing: None,
            cases: Vec::new(),
            evaluations: self.prover.evaluations(),
            proving: self.proving,
            searched: self.searched,
            needed_margin: self.needed_margin,
        }
    }

    /// A lower bound of the cost of any action that holds; infinite if none holds.
    pub(super) fn bound(&self) -> f64 {
        let open = self.queue.peek().into_iter().chain(&self.open_points);
        open.map(|cuboid| cuboid.cost).fold(self.min_unsplittable_cost, f64::min)
    }

    pub(super) fn action(&self, set: usize, change: &[f64]) -> Action {
        Action { features: self.sets[set].features.clone(), change: change.to_vec() }
    }

    /// The least margin of an action over the pool.
    fn worst_known(&self, action: &Action) -> f64 {
        let problem = self.settings.problem;
        let none = self.sets[0].composers[0].no_perturbation();
        let all = self.pool.iter().map(|scenario| &scenario.perturbation).chain([&none]);
        let margins = all.filter_map(|d| margin(problem, &self.individual, action, d).ok());
        margins.fold(f64::INFINITY, f64::min)
    }

    /// Queues the feasible box of every set.
    fn fill_queue(&mut self) {
        for set in self.roots.clone() {
            let features = self.settings.problem.features();
            let side = |&i: &usize| feasible_change(features, i, self.individual[i]);
            let (lower, upper) = self.sets[set].features.iter().map(side).unzip();
            self.push(Cuboid::new(set, lower, upper, 0.0));
        }
    }

    /// Queues a box, shrunk to integer values.
    pub(super) fn push(&mut self, cuboid: Cuboid) {
        let integrality = &self.sets[cuboid.set].integrality;
        // A box without an integer-valued action is empty.
        let Some((lower, upper)) = integrality.tightened((cuboid.lower, cuboid.upper)) else { return };
        let cost = cuboid.cost.max(self.least_cost(cuboid.set, &lower, &upper));
        self.number += 1;
        self.queue.push(Cuboid { lower, upper, cost, number: self.number, ..cuboid });
    }

    /// A lower bound of the cost of the cheapest action of a box. A cost that overflows is clamped to a
    /// finite number, because an infinite bound means that no action holds.
    pub(super) fn least_cost(&self, set: usize, lower: &[f64], upper: &[f64]) -> f64 {
        let Set { integrality, weights, .. } = &self.sets[set];
        let cheapest = integrality.cheapest(lower, upper, self.cost(), weights);
        (cost_of(self.cost(), weights, &cheapest) * (1.0 - 1e-12)).min(f64::MAX)
    }

    /// Actions that cost more than this cannot improve on the incumbent by more than [`IMPROVEMENT_SHARE`] of
    /// the gap.
    pub(super) fn limit(&self) -> f64 {
        let limit = |found: &Incumbent| found.cost * (1.0 - IMPROVEMENT_SHARE * self.settings.gap);
        self.incumbent.as_ref().map_or(f64::INFINITY, limit)
    }

    /// Remembers an action that does not hold if it comes closer than others.
    pub(super) fn note(&mut self, set: usize, change: &[f64], value: f64) {
        // An undefined result has no margin to compare.
        if value == f64::NEG_INFINITY {
            return;
        }
        if self.best.as_ref().is_none_or(|best| value > best.margin) {
            self.best = Some(NearMiss { set, change: change.to_vec(), margin: value });
        }
    }

    /// Margins of an action in the [`RECENT`] last scenarios of the pool for each variant, the lowest first.
    pub(super) fn margins(&mut self, set: usize, change: &[f64]) -> Vec<(f64, usize)> {
        self.compose(set);
        let first = self.pool.len().saturating_sub(RECENT * self.sets[set].composers.len());
        let mut order: Vec<(f64, usize)> = (first..self.pool.len())
            .map(|k| (self.prover.jets.evaluate(&self.sets[set].graphs[k], change, Order::Value).value, k))
            .filter(|(value, _)| !value.is_nan())
            .collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        order
    }

    /// The perturbations of the three recent scenarios that are worst for an action, from which further
    /// searches start.
    pub(super) fn starting_points(&mut self, set: usize, change: &[f64]) -> Vec<Vec<f64>> {
        let worst = self.margins(set, change).into_iter().take(3);
        worst.map(|(_, k)| self.pool[k].perturbation.clone()).collect()
    }

    /// Builds the missing graphs of a set for the scenarios of the pool.
    pub(super) fn compose(&mut self, set: usize) {
        for k in self.sets[set].graphs.len()..self.pool.len() {
            let graph = self.sets[set].in_scenario(&self.pool[k]);
            self.sets[set].graphs.push(graph);
        }
    }

    /// The worst scenario found for an action, and the margin in it. The searches for all variants start at
    /// the perturbation of `start`.
    pub(super) fn attack(&mut self, set: usize, change: &[f64], start: Option<&Scenario>) -> (Scenario, f64) {
        let start = start.map(|scenario| &scenario.perturbation[..]);
        let each = (0..self.sets[set].composers.len())
            .map(|variant| self.attack_variant(variant, set, change, start));
        worst(each.collect())
    }

    /// The worst scenario of one variant that is found for an action, and the margin in it.
    fn attack_variant(
        &mut self,
        variant: usize,
        set: usize,
        change: &[f64],
        start: Option<&[f64]>,
    ) -> (Scenario, f64) {
        let composer = &self.sets[set].composers[variant];
        let graph = composer.in_perturbation(change, &self.coordinates);
        let search = Search { gain: 1e-5, steps: 6, ..Prover::search(composer) };
        let origin = vec![0.0; graph.inputs];
        let start = start.map_or(origin, |d| self.coordinates.of_perturbation(d));
        let mut found = search.follow_gradients(&graph, &start, &mut self.prover.jets);
        if found.value >= 0.0 || found.value.is_nan() {
            found = search.descend(&graph, &found.at, f64::NEG_INFINITY, &mut self.prover.jets);
        }
        (Scenario { variant, perturbation: self.coordinates.admissible(composer, &found.at) }, found.value)
    }

    /// As [`Solver::attack`], by searches from recent scenarios and from up to eight axes; for relu networks also
    /// from where bounds are lowest.
    pub(super) fn attack_thoroughly(&mut self, set: usize, change: &[f64]) -> (Scenario, f64) {
        let starts = self.starting_points(set, change);
        let each = self.sets[set].composers.iter().enumerate().map(|(variant, composer)| {
            let graph = composer.in_perturbation(change, &self.coordinates);
            let mut worst = self.prover.worst(&graph, Prover::search(composer), &starts, true);
            if worst.value >= 0.0 {
                worst = self.prover.worst_by_phases(composer, &graph, worst);
            }
            let perturbation = self.coordinates.admissible(composer, &worst.at);
            (Scenario { variant, perturbation }, worst.value)
        });
        worst(each.collect())
    }

    /// Adds a scenario to the pool if it breaks the action by the definition.
    pub(super) fn add(&mut self, set: usize, change: &[f64], scenario: Scenario) -> Option<usize> {
        let action = self.action(set, change);
        self.is_broken_in(&action, &scenario).then(|| self.remember(scenario))
    }

    /// Adds a scenario to the pool unless one like it is there. Returns its number.
    pub(super) fn remember(&mut self, scenario: Scenario) -> usize {
        let near = |other: &Scenario| {
            let apart = other.perturbation.iter().zip(&scenario.perturbation);
            let far = apart.map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
            other.variant == scenario.variant && far <= 1e-3 * self.settings.problem.uncertainty().radius()
        };
        self.pool.iter().rposition(near).unwrap_or_else(|| {
            self.pool.push(scenario);
            self.pool.len() - 1
        })
    }

    /// Whether a scenario breaks an action by the definition.
    pub(super) fn is_broken_in(&self, action: &Action, scenario: &Scenario) -> bool {
        let variant = &self.settings.problem.variants()[scenario.variant];
        breaks(variant, &self.individual, action, &scenario.perturbation)
    }

    /// Moves a surviving action towards the cheapest one of its box, as long as it survives, and offers
    /// it as the incumbent if it is cheaper.
    pub(super) fn improve(&mut self, cuboid: &Cuboid, survivor: &[f64]) {
        let set = cuboid.set;
        let Set { integrality, weights, .. } = &self.sets[set];
        let cheapest = integrality.cheapest(&cuboid.lower, &cuboid.upper, self.cost(), weights);
        let integrality = integrality.clone();
        let at = |share: f64| -> Vec<f64> {
            // There is nothing between two categories, so they stay as they are.
            let between = |k: usize| match integrality.is_category(k) {
                true => survivor[k],
                false => cheapest[k] + share * (survivor[k] - cheapest[k]),
            };
            let between: Vec<f64> = (0..survivor.len()).map(between).collect();
            integrality.near(&cuboid.lower, &cuboid.upper, &between)
        };
        let (mut low, mut high) = (0.0, 1.0);
        let limit = self.limit();
        let costs = |solver: &Self, share: f64| cost_of(solver.cost(), &solver.sets[set].weights, &at(share));
        if costs(self, 1.0) > limit {
            // Only the part that is cheaper than the incumbent matters.
            high = 0.0;
            for k in 1..=COST_STEPS {
                let more = high + 0.5f64.powi(k);
                if costs(self, more) <= limit {
                    high = more;
                }
            }
            if high == 0.0 || !self.survives(set, &at(high)) {
                return;
            }
        }
        if self.survives(set, &cheapest) {
            high = 0.0;
        }
        while high - low > 0.01 {
            let middle = 0.5 * (low + high);
            if self.survives(set, &at(middle)) { high = middle } else { low = middle }
        }
        let change = if high == 0.0 { cheapest } else { at(high) };
        self.offer(set, change);
    }

    /// Makes a surviving action the incumbent if it is cheaper and, for a relu network with many inputs, no attack
    /// from where bounds are lowest breaks it.
    pub(super) fn offer(&mut self, set: usize, change: Vec<f64>) {
        let cost = cost_of(self.cost(), &self.sets[set].weights, &change);
        let is_cheaper = self.incumbent.as_ref().is_none_or(|found| cost < found.cost);
        if cost.is_finite() && is_cheaper && !self.is_broken_by_phases(set, &change) {
            self.incumbent = Some(Incumbent { set, change, cost });
        }
    }

    /// Whether an attack from where bounds of a relu network are lowest breaks an action. What does joins the pool.
    fn is_broken_by_phases(&mut self, set: usize, change: &[f64]) -> bool {
        for variant in 0..self.sets[set].composers.len() {
            let composer = &self.sets[set].composers[variant];
            let graph = composer.in_perturbation(change, &self.coordinates);
            if graph.inputs <= FEW || !Prover::has_phases(composer, &graph) {
                continue;
            }
            let nothing = Found { at: vec![0.0; graph.inputs], value: f64::INFINITY, gradient: Vec::new() };
            let worst = self.prover.worst_by_phases(composer, &graph, nothing);
            if worst.value < 0.0 {
                let perturbation = self.coordinates.admissible(composer, &worst.at);
                self.note(set, change, worst.value);
                return self.add(set, change, Scenario { variant, perturbation }).is_some();
            }
        }
        false
    }

    pub(super) fn survives(&mut self, set: usize, change: &[f64]) -> bool {
        if !self.meets(set, change) {
            return false;
        }
        let order = self.margins(set, change);
        if order.first().is_some_and(|(value, _)| *value < 0.0) {
            return false;
        }
        let start = order.first().map(|(_, k)| self.pool[*k].clone());
        let (scenario, value) = self.attack(set, change, start.as_ref());
        if value < 0.0 {
            self.note(set, change, value);
            self.add(set, change, scenario);
        }
        value >= 0.0
    }

    /// Splits a box across the side that causes most of the error or, if none does, the longest one;
    /// between its middle and a given point.
    pub(super) fn split(&mut self, cuboid: Cuboid, error_share: &[f64], point: &[f64]) {
        let Set { weights, integrality, .. } = &self.sets[cuboid.set];
        let width = |k: usize| match weights[k] * cuboid.length(k) {
            // Integer sides are split however short they are.
            width if width > 0.0 && integrality.is_integer(k) => width.max(2.0 * SHORTEST),
            width => width,
        };
        let error = |k: usize| match error_share[k] * cuboid.length(k) {
            error if width(k) > SHORTEST && error.is_finite() => error,
            _ => 0.0,
        };
        let longest = (0..weights.len()).reduce(|a, b| if width(b) > width(a) { b } else { a });
        let worst = (0..weights.len()).reduce(|a, b| if error(b) > error(a) { b } else { a });
        let chosen = worst.filter(|&k| error(k) > 0.0).or(longest);
        let Some(k) = chosen.filter(|&k| width(k) > SHORTEST) else {
            let undecided = self.sets[cuboid.set].followers.iter().map(|follower| follower.input).next();
            if let Some(place) = undecided {
                return self.decide(cuboid, place);
            }
            match cuboid.lower == cuboid.upper {
                true => self.open_points.push(cuboid),
                false => self.min_unsplittable_cost = self.min_unsplittable_cost.min(cuboid.cost),
            }
            return;
        };
        let mut at = cuboid.split_point(k);
        let (l, u) = (cuboid.lower[k], cuboid.upper[k]);
        let is_one_sided = l >= 0.0 || u <= 0.0;
        let is_inside = point[k] > l + 0.1 * (u - l) && point[k] < u - 0.1 * (u - l);
        if is_one_sided && (u - l).is_finite() && is_inside {
            at = 0.5 * (at + point[k]);
        }
        if let Some(limit) = integrality.exact_limit(k) {
            // Beyond the limit of exact integers a box may be ruled out, but it cannot be split between
            // integers.
            if cuboid.lower[k] >= limit || cuboid.upper[k] <= -limit {
                self.min_unsplittable_cost = self.min_unsplittable_cost.min(cuboid.cost);
                return;
            }
            at = at.clamp(-limit, limit);
        }
        let (end, start) = integrality.halves(&cuboid.lower, &cuboid.upper, k, at).unwrap_or((at, at));
        let (mut below, mut above) = (cuboid.clone(), cuboid);
        (below.upper[k], above.lower[k]) = (end, start);
        self.push(below);
        self.push(above);
    }

    /// Limits the search to a part of the budget and of the time, so that some is left for the proof.
    pub(super) fn limit_search(&mut self) {
        self.prover.set_limit(search_evaluations(self.settings.budget));
        let now = Instant::now();
        let share = |end: Instant| now + end.saturating_duration_since(now).mul_f64(SEARCH_TIME_SHARE);
        let end = self.settings.end.map(share);
        self.prover.set_end(end);
    }

    /// Allows the proof the whole budget.
    pub(super) fn limit_proof(&mut self) {
        self.prover.set_limit(self.settings.budget.evaluations);
        self.prover.set_end(self.settings.end);
    }
}

/// The scenario with the lowest margin of some, of which there is at least one; the first among equals.
/// Scenarios whose margin is NaN are the last.
fn worst(scenarios: Vec<(Scenario, f64)>) -> (Scenario, f64) {
    let is_worse = |a: f64, b: f64| a < b || (b.is_nan() && !a.is_nan());
    let mut rest = scenarios.into_iter();
    let first = rest.next().unwrap_or((Scenario { variant: 0, perturbation: Vec::new() }, f64::NAN));
    rest.fold(first, |worst, other| if is_worse(other.1, worst.1) { other } else { worst })
}
