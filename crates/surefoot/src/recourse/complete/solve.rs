//! The search for one individual.

use std::collections::BinaryHeap;

use super::boxes::{Cuboid, cost_of, highest};
use super::{Complete, Proof, RuledOut};
use crate::action::{as_told, feasible_change};
use crate::bound::{Composer, Coordinates, Order, Region};
use crate::certify::{Certificate, LEAST_MARGIN, Prover, Search, Verdict, breaks};
use crate::graph::Graph;
use crate::margin::{counterfactual, margin};
use crate::recourse::{Reason, Shortfall, Undecided};
use crate::{Action, Cost, Outcome, Recourse, Result};

/// By how much, as shares, an incumbent is moved outwards before it is proved.
const PUSHES: [f64; 7] = [0.0035, 0.02, 0.05, 0.12, 0.3, 0.7, 1.5];
/// How many times as much as is left of the budget a proof may seem to need: first little, then
/// more if nothing else helps.
const PATIENCE: [f64; 2] = [1.5, 8.0];
/// How often a push that is larger than it need be is made smaller.
const BETTER: usize = 4;
/// Sides shorter than this are not cut any more.
const SHORTEST: f64 = 1e-5;
/// A change that makes up less than this share of the cost is left out if the action survives it.
const HARDLY: f64 = 0.003;
/// Perturbations of the pool that a box is held against.
const RECENT: usize = 12;

/// What came of an attempt to prove an action.
enum Attempt {
    Proven(Box<Proof>),
    Broken,
    Open,
}

/// One intervention set.
pub(super) struct Set<'p> {
    pub composer: Composer<'p>,
    pub weights: Vec<f64>,
    /// For each perturbation of the pool the margin in the change.
    graphs: Vec<Graph<'p>>,
}

pub(super) struct Solver<'p, 's> {
    pub(super) settings: &'s Complete<'p>,
    pub(super) individual: Vec<f64>,
    pub(super) sets: Vec<Set<'p>>,
    pub(super) coordinates: Coordinates,
    pub(super) pool: Vec<Vec<f64>>,
    pub(super) prover: Prover,
    pub(super) queue: BinaryHeap<Cuboid>,
    /// Boxes too small to be cut.
    pub(super) stuck: f64,
    pub(super) number: usize,
    /// An action that survives attacks, and its cost.
    pub(super) incumbent: Option<(usize, Vec<f64>, f64)>,
    /// The best worst case found of an action that does not hold.
    pub(super) best: Option<(usize, Vec<f64>, f64)>,
    pub(super) ruled_out: Vec<RuledOut>,
    pub(super) proving: usize,
}

impl<'p, 's> Solver<'p, 's> {
    pub fn new(settings: &'s Complete<'p>, individual: &[f64]) -> Result<Self> {
        let problem = settings.problem;
        let mut sets = Vec::with_capacity(settings.sets.len());
        for features in &settings.sets {
            let composer = Composer::new(problem, individual, features)?;
            let weights = features.iter().map(|&i| problem.features().feature(i).weight).collect();
            sets.push(Set { composer, weights, graphs: Vec::new() });
        }
        Ok(Self {
            settings,
            individual: individual.to_vec(),
            sets,
            coordinates: Coordinates::of(problem),
            pool: Vec::new(),
            prover: Prover::new(problem, settings.budget.evaluations),
            queue: BinaryHeap::new(),
            stuck: f64::INFINITY,
            number: 0,
            incumbent: None,
            best: None,
            ruled_out: Vec::new(),
            proving: 0,
        })
    }

    pub(super) fn cost(&self) -> Cost {
        self.settings.problem.cost()
    }

    pub fn run(mut self) -> Result<Proof> {
        let problem = self.settings.problem;
        if problem.classifier().score(&self.individual) >= 0.0 {
            return Ok(self.proof(Outcome::AlreadyFavourable, None));
        }
        self.fill_queue();
        self.prover.set_limit(self.searching());
        let mut tried = false;
        while let Some(cuboid) = self.queue.pop() {
            let cost = cuboid.cost;
            if self
                .incumbent
                .as_ref()
                .is_some_and(|(_, _, found)| cost >= found * (1.0 - 0.55 * self.settings.gap))
            {
                self.queue.push(cuboid);
                match self.finish()? {
                    Some(proof) => return Ok(proof),
                    None if self.incumbent.is_none() => continue,
                    None => {
                        tried = true;
                        break;
                    }
                }
            }
            if self.prover.is_spent() {
                self.queue.push(cuboid);
                break;
            }
            self.look(cuboid);
        }
        if !tried && let Some(proof) = self.finish()? {
            return Ok(proof);
        }
        let bound = self.bound();
        let (set, change, found) = match (self.incumbent.take(), self.best.take()) {
            (Some((set, change, _)), _) | (None, Some((set, change, _))) if bound < f64::INFINITY => {
                let action = self.action(set, &change);
                let worst = self.worst_known(&action);
                (set, change, worst)
            }
            (_, Some(best)) => best,
            (Some((set, change, cost)), None) => (set, change, cost),
            (None, None) => (0, vec![0.0; self.sets[0].weights.len()], f64::NEG_INFINITY),
        };
        let best = self.action(set, &change);
        let outcome = if bound == f64::INFINITY {
            Outcome::Impossible(Shortfall { best, missing: -found })
        } else {
            let required = problem.safety().max(LEAST_MARGIN);
            Outcome::Undecided(Undecided {
                best,
                margin: found,
                required,
                cost_bound: bound,
                reason: Reason::Budget,
            })
        };
        Ok(self.proof(outcome, None))
    }

    fn proof(self, outcome: Outcome, certificate: Option<Certificate>) -> Proof {
        Proof {
            outcome,
            certificate,
            ruled_out: self.ruled_out,
            evaluations: self.prover.evaluations(),
            proving: self.proving,
        }
    }

    /// Nothing that holds costs less than this; infinite: nothing holds.
    fn bound(&self) -> f64 {
        self.queue.peek().map_or(f64::INFINITY, |cuboid| cuboid.cost).min(self.stuck)
    }

    fn action(&self, set: usize, change: &[f64]) -> Action {
        Action { features: self.settings.sets[set].clone(), change: change.to_vec() }
    }

    /// The least margin of an action over the pool.
    fn worst_known(&self, action: &Action) -> f64 {
        let problem = self.settings.problem;
        let zero = vec![0.0; self.individual.len()];
        let all = self.pool.iter().chain([&zero]);
        let margins = all.filter_map(|d| margin(problem, &self.individual, action, d).ok());
        margins.fold(f64::INFINITY, f64::min)
    }

    /// The feasible box of every set, cut at zero.
    fn fill_queue(&mut self) {
        for set in 0..self.sets.len() {
            let features = &self.settings.sets[set];
            let sides: Vec<Vec<(f64, f64)>> = features
                .iter()
                .map(|&i| {
                    let (l, u) = feasible_change(self.settings.problem.features(), i, self.individual[i]);
                    if l < 0.0 && u > 0.0 { vec![(l, 0.0), (0.0, u)] } else { vec![(l, u)] }
                })
                .collect();
            let mut boxes: Vec<Vec<(f64, f64)>> = vec![Vec::new()];
            for side in sides {
                boxes = boxes
                    .into_iter()
                    .flat_map(|so_far| {
                        side.iter().map(move |&s| {
                            let mut longer = so_far.clone();
                            longer.push(s);
                            longer
                        })
                    })
                    .collect();
            }
            for sides in boxes {
                let (lower, upper): (Vec<f64>, Vec<f64>) = sides.into_iter().unzip();
                self.push_near_and_far(set, lower, upper);
            }
        }
    }

    pub(super) fn push(&mut self, set: usize, lower: Vec<f64>, upper: Vec<f64>, cost: f64) {
        self.number += 1;
        let mut cuboid = Cuboid { set, lower, upper, cost, far: false, number: self.number };
        cuboid.cost =
            cost.max(cost_of(self.cost(), &self.sets[set].weights, &cuboid.cheapest()) * (1.0 - 1e-12));
        self.queue.push(cuboid);
    }

    /// What costs more than this is of no interest.
    fn limit(&self) -> f64 {
        self.incumbent.as_ref().map_or(f64::INFINITY, |(_, _, cost)| cost * (1.0 - 0.5 * self.settings.gap))
    }

    /// Rules out a box, finds an incumbent in it, or cuts it.
    fn look(&mut self, cuboid: Cuboid) {
        if cuboid.far {
            return self.look_far(cuboid);
        }
        let set = cuboid.set;
        let middle = cuboid.middle();
        let mut order = self.margins(set, &middle);
        order.truncate(2);
        for (value, k) in &order {
            if *value < 0.0 && self.rule_out(&cuboid, *k) {
                return;
            }
        }
        let start = order.first().map(|(_, k)| self.pool[*k].clone());
        let (perturbation, value) = self.attack(set, &middle, start.as_deref());
        if value < 0.0 {
            self.note(set, &middle, value);
            if let Some(k) = self.add(set, &middle, perturbation)
                && self.rule_out(&cuboid, k)
            {
                return;
            }
        } else {
            self.improve(&cuboid, &middle);
        }
        self.cut(cuboid);
    }

    fn note(&mut self, set: usize, change: &[f64], value: f64) {
        if self.best.as_ref().is_none_or(|(_, _, best)| value > *best) {
            self.best = Some((set, change.to_vec(), value));
        }
    }

    /// Margins of an action under perturbations of the pool, the lowest first.
    pub(super) fn margins(&mut self, set: usize, change: &[f64]) -> Vec<(f64, usize)> {
        self.compose(set);
        let first = self.pool.len().saturating_sub(RECENT);
        let mut order: Vec<(f64, usize)> = (first..self.pool.len())
            .map(|k| (self.prover.jets.evaluate(&self.sets[set].graphs[k], change, Order::Value).value, k))
            .filter(|(value, _)| !value.is_nan())
            .collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        order
    }

    /// Composes what is missing of the pool for a set.
    fn compose(&mut self, set: usize) {
        let Set { composer, graphs, .. } = &mut self.sets[set];
        for perturbation in &self.pool[graphs.len()..] {
            graphs.push(composer.in_change(perturbation));
        }
    }

    /// Whether a perturbation of the pool breaks every action of a box that is cheap enough to be
    /// of interest.
    fn rule_out(&mut self, cuboid: &Cuboid, k: usize) -> bool {
        self.compose(cuboid.set);
        let limit = self.limit();
        let Set { composer, weights, graphs } = &self.sets[cuboid.set];
        let (cost, weights) = (composer.problem().cost(), weights.clone());
        let (lower, upper) = cuboid.shrunk(cost, &weights, limit);
        let region = Region::cuboid(lower.clone(), upper.clone());
        let plane = self.prover.affine.bound(&graphs[k], &region);
        let highest = highest(&plane, &region, cost, &weights, limit);
        if highest >= -LEAST_MARGIN || highest.is_nan() {
            return false;
        }
        let features = composer.features().to_vec();
        let perturbation = self.pool[k].clone();
        let (rays, distance) = (Vec::new(), (0.0, 0.0));
        self.ruled_out.push(RuledOut { features, lower, upper, cost: limit, perturbation, rays, distance });
        if limit < f64::INFINITY {
            // Dearer actions of the box are still open.
            self.push(cuboid.set, cuboid.lower.clone(), cuboid.upper.clone(), limit);
        }
        true
    }

    /// The worst perturbation found for an action, and the margin it leaves.
    pub(super) fn attack(&mut self, set: usize, change: &[f64], start: Option<&[f64]>) -> (Vec<f64>, f64) {
        let composer = &self.sets[set].composer;
        let graph = composer.in_perturbation(change, &self.coordinates);
        let search = Search { gain: 1e-5, steps: 6, ..Prover::search(composer) };
        let origin = vec![0.0; self.individual.len()];
        let start = start.map_or(origin, |d| self.coordinates.of_perturbation(d));
        let found = search.descend(&graph, &start, f64::NEG_INFINITY, &mut self.prover.jets);
        (self.coordinates.admissible(self.settings.problem, &found.at), found.value)
    }

    /// Adds a perturbation to the pool if it breaks the action as the definition has it.
    pub(super) fn add(&mut self, set: usize, change: &[f64], perturbation: Vec<f64>) -> Option<usize> {
        let action = self.action(set, change);
        if !breaks(self.settings.problem, &self.individual, &action, &perturbation) {
            return None;
        }
        let near = |other: &Vec<f64>| {
            let far = other.iter().zip(&perturbation).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
            far < 1e-3 * self.settings.problem.epsilon()
        };
        if let Some(k) = self.pool.iter().rposition(near) {
            return Some(k);
        }
        self.pool.push(perturbation);
        Some(self.pool.len() - 1)
    }

    /// An action that survives: moved towards the cheapest of its box as far as it survives, it
    /// may be the new incumbent.
    fn improve(&mut self, cuboid: &Cuboid, survivor: &[f64]) {
        let set = cuboid.set;
        let cheapest = cuboid.cheapest();
        let at = |share: f64| -> Vec<f64> {
            cheapest.iter().zip(survivor).map(|(c, s)| c + share * (s - c)).collect()
        };
        let (mut low, mut high) = (0.0, 1.0);
        if self.survives(set, &cheapest) {
            high = 0.0;
        }
        while high - low > 0.01 {
            let middle = 0.5 * (low + high);
            if self.survives(set, &at(middle)) { high = middle } else { low = middle }
        }
        let change = at(high);
        let cost = cost_of(self.cost(), &self.sets[set].weights, &change);
        if self.incumbent.as_ref().is_none_or(|(_, _, least)| cost < *least) {
            self.incumbent = Some((set, change, cost));
        }
    }

    fn survives(&mut self, set: usize, change: &[f64]) -> bool {
        let order = self.margins(set, change);
        if order.first().is_some_and(|(value, _)| *value < 0.0) {
            return false;
        }
        let start = order.first().map(|(_, k)| self.pool[*k].clone());
        let (perturbation, value) = self.attack(set, change, start.as_deref());
        if value < 0.0 {
            self.note(set, change, value);
            self.add(set, change, perturbation);
        }
        value >= 0.0
    }

    fn cut(&mut self, cuboid: Cuboid) {
        let weights = &self.sets[cuboid.set].weights;
        let width = |k: usize| weights[k] * cuboid.length(k);
        let longest = (0..weights.len()).reduce(|a, b| if width(b) > width(a) { b } else { a });
        let Some(k) = longest.filter(|&k| width(k) > SHORTEST) else {
            self.stuck = self.stuck.min(cuboid.cost);
            return;
        };
        let at = cuboid.cut(k);
        let Cuboid { set, lower, upper, cost, .. } = cuboid;
        let (mut below, mut above) = (upper.clone(), lower.clone());
        (below[k], above[k]) = (at, at);
        self.push(set, lower, below, cost);
        self.push(set, above, upper, cost);
    }

    /// Proves the incumbent, moved outwards as little as will do. Without an incumbent afterwards
    /// it was broken and the search must go on.
    fn finish(&mut self) -> Result<Option<Proof>> {
        let Some((set, incumbent, _)) = self.incumbent.clone() else { return Ok(None) };
        self.prover.set_limit(self.settings.budget.evaluations);
        let mut failed = 0.0;
        let mut proven = None;
        let rounds = PATIENCE.iter().flat_map(|&patience| PUSHES.map(|push| (patience, push)));
        for (number, (patience, push)) in rounds.enumerate() {
            self.prover.set_patience(patience);
            match self.attempt(set, &incumbent, push)? {
                Attempt::Proven(proof) => {
                    proven = Some((push, proof));
                    break;
                }
                Attempt::Broken if number == 0 => {
                    self.incumbent = None;
                    self.prover.set_limit(self.searching());
                    return Ok(None);
                }
                Attempt::Broken | Attempt::Open => failed = push,
            }
            if self.prover.is_spent() {
                break;
            }
        }
        let Some((mut push, mut proof)) = proven else { return Ok(None) };
        for _ in 0..BETTER {
            if failed == 0.0 || failed >= push || push < 1.3 * failed || self.prover.is_spent() {
                break;
            }
            let between = (failed * push).sqrt();
            match self.attempt(set, &incumbent, between)? {
                Attempt::Proven(better) => (push, proof) = (between, better),
                _ => failed = between,
            }
        }
        proof.ruled_out = std::mem::take(&mut self.ruled_out);
        (proof.evaluations, proof.proving) = (self.prover.evaluations(), self.proving);
        Ok(Some(*proof))
    }

    /// The part of the budget that the search may spend.
    fn searching(&self) -> usize {
        self.settings.budget.evaluations - self.settings.budget.evaluations / 6
    }

    /// An action that is farther out by a share of its cost: all of it, or where that leaves more
    /// in the worst case, the one change that raises the margin most for its price.
    fn outwards(&mut self, set: usize, incumbent: &[f64], push: f64) -> Vec<f64> {
        let features = self.settings.problem.features();
        let sides: Vec<(f64, f64)> = self.settings.sets[set]
            .iter()
            .map(|&i| feasible_change(features, i, self.individual[i]))
            .collect();
        let moved = |(&c, &(l, u)): (&f64, &(f64, f64))| {
            let least = if c == 0.0 { 0.0 } else { 1e-4_f64.copysign(c) };
            (c * (1.0 + push) + least).clamp(l, u)
        };
        let all: Vec<f64> = incumbent.iter().zip(&sides).map(moved).collect();
        if all.len() < 2 {
            return all;
        }
        let (worst, value) = self.attack(set, &all, None);
        let Set { composer, weights, .. } = &self.sets[set];
        let gradient =
            self.prover.jets.evaluate(&composer.in_change(&worst), incumbent, Order::Gradient).gradient;
        let cost = cost_of(self.cost(), weights, incumbent);
        let room =
            |k: usize| if gradient[k] > 0.0 { sides[k].1 - incumbent[k] } else { incumbent[k] - sides[k].0 };
        let far = |k: usize| (push * cost + 1e-4) / weights[k];
        let worth = |k: usize| gradient[k].abs() * far(k).min(room(k));
        let Some(k) = (0..all.len()).reduce(|a, b| if worth(b) > worth(a) { b } else { a }) else {
            return all;
        };
        let mut one = incumbent.to_vec();
        one[k] += far(k).min(room(k)).copysign(gradient[k]);
        one[k] = one[k].clamp(sides[k].0, sides[k].1);
        if self.attack(set, &one, Some(&worst)).1 > value { one } else { all }
    }

    /// The same action as words tell it, and without changes that are hardly worth telling, so
    /// that what is proven is what people are told; unless it does not survive that.
    fn tidied(&mut self, set: usize, change: &[f64]) -> Vec<f64> {
        let problem = self.settings.problem;
        let weights = &self.sets[set].weights;
        let total = cost_of(self.cost(), weights, change);
        let told = |k: usize| {
            let i = self.settings.sets[set][k];
            let told = as_told(problem.features().feature(i), problem.form(), self.individual[i], change[k]);
            let (l, u) = feasible_change(problem.features(), i, self.individual[i]);
            if told >= l && told <= u { told } else { change[k] }
        };
        let told: Vec<f64> = (0..change.len()).map(told).collect();
        let worth = |k: &usize| weights[*k] * change[*k].abs() >= HARDLY * total;
        let mut few = vec![0.0; change.len()];
        (0..change.len()).filter(worth).for_each(|k| few[k] = told[k]);
        if few != told && self.attack(set, &few, None).1 > 0.0 {
            return few;
        }
        if self.attack(set, &told, None).1 > 0.0 { told } else { change.to_vec() }
    }

    /// Tries to prove an action that is farther out by a share.
    fn attempt(&mut self, set: usize, incumbent: &[f64], push: f64) -> Result<Attempt> {
        let problem = self.settings.problem;
        let required = problem.safety().max(LEAST_MARGIN);
        let plain = self.outwards(set, incumbent, push);
        let change = self.tidied(set, &plain);
        let action = self.action(set, &change);
        let before = self.prover.evaluations();
        let starts: Vec<Vec<f64>> =
            self.margins(set, &change).into_iter().take(3).map(|(_, k)| self.pool[k].clone()).collect();
        let proven = self.prover.prove(&self.sets[set].composer, &change, required, &starts, false);
        self.proving += self.prover.evaluations() - before;
        if breaks(problem, &self.individual, &action, &proven.perturbation) {
            let plain = self.action(set, &plain);
            let both = breaks(problem, &self.individual, &plain, &proven.perturbation);
            self.add(set, &change, proven.perturbation);
            return Ok(if both { Attempt::Broken } else { Attempt::Open });
        }
        if proven.lower < required || proven.lower.is_nan() {
            return Ok(Attempt::Open);
        }
        let simple = self.simplified(&action);
        let zero = vec![0.0; self.individual.len()];
        let counterfactual = counterfactual(problem, &self.individual, &simple, &zero)?;
        let cost = problem.cost().of(problem.features(), &simple);
        let cost_bound = self.bound().min(cost);
        let certificate = Certificate {
            action,
            verdict: Verdict::Holds { margin: proven.lower },
            basis: proven.coordinates.basis().to_vec(),
            worst: proven.coordinates.of_perturbation(&proven.perturbation),
            pieces: proven.pieces,
            evaluations: self.prover.evaluations() - before,
        };
        let recourse = Recourse { action: simple, counterfactual, cost, cost_bound, margin: proven.lower };
        Ok(Attempt::Proven(Box::new(Proof {
            outcome: Outcome::Found(recourse),
            certificate: Some(certificate),
            ruled_out: Vec::new(),
            evaluations: 0,
            proving: 0,
        })))
    }

    /// The same action without features that it leaves as they are and that nothing it does
    /// would change.
    fn simplified(&self, action: &Action) -> Action {
        let problem = self.settings.problem;
        if problem.form() == crate::Form::Absolute {
            return action.clone();
        }
        let moved: Vec<usize> =
            action.features.iter().zip(&action.change).filter(|(_, c)| **c != 0.0).map(|(&i, _)| i).collect();
        let held = |i: usize| problem.scm().is_some_and(|scm| moved.iter().any(|&m| scm.is_downstream(i, m)));
        let kept = action.features.iter().zip(&action.change).filter(|(i, c)| **c != 0.0 || held(**i));
        let (features, change) = kept.map(|(&i, &c)| (i, c)).unzip();
        Action { features, change }
    }
}
