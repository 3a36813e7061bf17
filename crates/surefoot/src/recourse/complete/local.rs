//! A local search for the incumbent: sequential linear programming over worst scenarios.
//!
//! Boxes that are small enough to have their middle survive come late where many features may change.
//! So a local search looks for an action of its own. Around the action so far, the margin in each of the
//! last worst scenarios is linearised, and the cheapest change within a trust region whose linearised
//! margins are not negative is found by a linear program:
//!
//! ```text
//! minimise   cost(t), or cost(t) + price s if there is none with s = 0,
//! such that  margin_j(t0) + gradient_j . (t - t0) + s >= 0  for every j,   |t - t0| <= radius,   s >= 0
//! ```
//!
//! Its solution is attacked, and the scenario found joins the others. The step is taken if it lowers
//! `cost + price max(0, -worst margin)`, and the radius grows; otherwise the radius shrinks. Whatever
//! survives is offered as an incumbent and proved like any other.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::boxes::cost_of;
use super::solve::{Set, Solver};
use crate::action::feasible_change;
use crate::graph::Order;
use crate::program::{Program, Row, Solution};
use crate::proof::Scenario;

/// Evaluations before the local search starts, where few features may change: the first boxes decide easy
/// problems.
const FIRST: usize = 1500;
/// Where no more features than this may change, the first boxes often decide.
pub(super) const FEW: usize = 4;
/// Local searches from random starts may take all evaluations divided by this.
const DIVISOR: usize = 4;
/// The same while no incumbent is known, where many features may change.
const DIVISOR_WITHOUT_INCUMBENT: usize = 2;
/// The same for searches in sets that linear programs suggest.
const DIVISOR_OF_SUGGESTED: usize = 2;
/// The largest number of intervention sets that are searched.
pub(super) const SETS: usize = 8;
/// Random starts for each set, besides the one without any change.
const STARTS: usize = 6;
/// Steps from each start.
const STEPS: usize = 40;
/// The number of last worst scenarios whose margins are linearised.
const KNOWN: usize = 8;
/// The number of scenarios of the pool with which they begin.
const POOLED: usize = 3;
/// The price of a missing unit of margin, in multiples of what it costs to gain one.
const PRICE: f64 = 50.0;
/// The factor by which the price is raised once if the search ends without enough margin.
const RAISED: f64 = 100.0;
/// The linearised margin that is asked for, so that the action survives attacks.
const INSIDE: f64 = 1e-6;
/// A margin may be missed by this much in a linear program.
const LARGEST_MISS: f64 = 1e9;
/// Random starts are within this distance, in standard deviations.
const REACH: f64 = 2.0;
/// The shares by which the last action of a search is enlarged as long as it does not survive.
const ENLARGED: [f64; 3] = [0.001, 0.004, 0.015];
/// A search stops where its trust region is smaller than this.
const SMALLEST: f64 = 1e-5;
/// The largest number of times that a search goes on after thorough attacks broke what it found, and the trust
/// region with which it does.
const ROUNDS: usize = 5;
const NEAR: f64 = 0.25;

/// An action of a local search with its worst scenario.
struct Point {
    change: Vec<f64>,
    scenario: Scenario,
    margin: f64,
}

/// A search by sequential linear programming.
struct Descent {
    at: Point,
    /// The last worst scenarios.
    known: Vec<Scenario>,
    price: f64,
    radius: f64,
    /// Whether the price was raised.
    is_raised: bool,
}

impl Descent {
    /// Adds a scenario, and forgets the oldest one if there are too many.
    fn learn(&mut self, scenario: Scenario) {
        self.known.push(scenario);
        if self.known.len() > KNOWN {
            self.known.remove(0);
        }
    }
}

/// How far the local searches have come.
#[derive(Default)]
pub(super) struct Progress {
    /// The number of searches so far.
    searches: usize,
    /// The evaluations that they took.
    evaluations: usize,
    /// The sets in which they began at the solution of a linear program.
    suggested: Vec<usize>,
}

impl Solver<'_, '_> {
    /// Whether another local search is due.
    ///
    /// The searches from the action that changes nothing come at once where many features may change, and
    /// otherwise after the first boxes. Those from random starts take a share of all evaluations, a larger
    /// one and at once if many features may change and no incumbent is known. Where few may change and none
    /// of the first boxes has an action that survives, there often is none, and none is made.
    ///
    /// The budget is no part of the rule, so that more of it prolongs a search instead of changing it.
    pub(super) fn is_local_search_due(&self) -> bool {
        let evaluations = self.local_searches.evaluations;
        let has_many_features = self.sets.iter().any(|set| set.weights.len() > FEW);
        let is_later = self.prover.evaluations() >= FIRST;
        match self.starts() {
            0 => has_many_features || is_later,
            start if start > STARTS => false,
            _ if self.incumbent.is_none() => {
                has_many_features && DIVISOR_WITHOUT_INCUMBENT * evaluations < self.prover.evaluations()
            }
            _ => is_later && DIVISOR * evaluations < self.prover.evaluations(),
        }
    }

    /// The number of starts from which every one of the first sets has been searched.
    pub(super) fn starts(&self) -> usize {
        self.local_searches.searches / self.searched_sets.len()
    }

    /// If features are undecided: searches once in each set that the linear program of a box suggests, from its solution.
    pub(super) fn search_suggested_set(&mut self, set: usize, start: &[f64]) {
        let is_due = DIVISOR_OF_SUGGESTED * self.local_searches.evaluations <= self.prover.evaluations();
        if self.settings.undecided.is_empty() || !is_due || self.local_searches.suggested.contains(&set) {
            return;
        }
        let before = self.prover.evaluations();
        self.local_searches.suggested.push(set);
        let sides = self.local_sides(set, start);
        self.search_from(set, &sides, start.to_vec());
        self.local_searches.evaluations += self.prover.evaluations() - before;
    }

    /// Searches from an action that was rejected.
    pub(super) fn search_again(&mut self, set: usize, rejected: Vec<f64>) {
        let sides = self.local_sides(set, &rejected);
        self.search_from(set, &sides, rejected);
    }

    /// Searches for a cheap action from the next start in the next of the first intervention sets, and
    /// offers what survives as the incumbent.
    pub(super) fn search_locally(&mut self) {
        let before = self.prover.evaluations();
        let number = self.local_searches.searches;
        let sets = &self.searched_sets;
        let (set, is_random) = (sets[number % sets.len()], number >= sets.len());
        let sides = self.local_sides(set, &vec![0.0; self.sets[set].weights.len()]);
        let mut random = ChaCha8Rng::seed_from_u64(number as u64);
        let at = |&(lower, upper): &(f64, f64)| {
            let (lower, upper) = (lower.max(-REACH), upper.min(REACH));
            match is_random && random.random_bool(0.6) {
                true => lower + (upper - lower) * random.random::<f64>(),
                false => 0.0f64.clamp(lower, upper),
            }
        };
        let mut change: Vec<f64> = sides.iter().map(at).collect();
        if !is_random && let Some(found) = self.by_patterns(set, &sides) {
            change = found;
        }
        self.search_from(set, &sides, change);
        self.local_searches.searches += 1;
        self.local_searches.evaluations += self.prover.evaluations() - before;
    }

    /// The feasible changes of a set; categories stay as they are after a change.
    pub(super) fn local_sides(&self, set: usize, change: &[f64]) -> Vec<(f64, f64)> {
        let features = self.settings.problem.features();
        let integrality = &self.sets[set].integrality;
        let side = |(k, &i): (usize, &usize)| match integrality.is_category(k) {
            true => (change[k], change[k]),
            false => feasible_change(features, i, self.individual[i]),
        };
        self.sets[set].features.iter().enumerate().map(side).collect()
    }

    /// Sequential linear programming from one start. What it offers as the incumbent is attacked thoroughly at
    /// last; if that breaks it, the search goes on with the scenario.
    fn search_from(&mut self, set: usize, sides: &[(f64, f64)], start: Vec<f64>) {
        let before = self.incumbent.clone();
        let mut known: Vec<Scenario> =
            self.margins(set, &start).into_iter().take(POOLED).map(|(_, k)| self.pool[k].clone()).collect();
        let at = self.local_point(set, start, &[]);
        self.consider(set, sides, &at);
        known.push(at.scenario.clone());
        let price = PRICE * self.gain_price(set, &at);
        let mut search = Descent { at, known, price, radius: 1.0, is_raised: false };
        self.descend_locally(set, sides, &mut search);
        for _ in 0..ROUNDS {
            let Some(found) = &self.incumbent else { break };
            let is_known = before.as_ref().is_some_and(|before| before.cost == found.cost);
            if is_known || self.prover.is_spent() {
                break;
            }
            let change = found.change.clone();
            let (scenario, margin) = self.attack_thoroughly(set, &change);
            if margin >= 0.0 || self.add(set, &change, scenario.clone()).is_none() {
                break;
            }
            self.incumbent.clone_from(&before);
            search.learn(scenario);
            search.at = self.local_point(set, search.at.change, &search.known);
            search.radius = NEAR;
            self.descend_locally(set, sides, &mut search);
        }
    }

    /// Takes steps until the trust region is small, and at last enlarges an action that does not survive.
    fn descend_locally(&mut self, set: usize, sides: &[(f64, f64)], search: &mut Descent) {
        let merit = |solver: &Self, point: &Point, price: f64| {
            let cost = cost_of(solver.cost(), &solver.sets[set].weights, &point.change);
            cost + price * (-point.margin).max(0.0)
        };
        for _ in 0..STEPS {
            if search.radius < SMALLEST && search.at.margin < 0.0 && !search.is_raised {
                // The price was estimated at the start. Elsewhere a unit of margin may cost more, and the search
                // converges to an action with a negative margin.
                (search.price, search.radius, search.is_raised) = (RAISED * search.price, 1.0, true);
            }
            if search.radius < SMALLEST || self.prover.is_spent() {
                break;
            }
            let Descent { at, known, price, radius, .. } = &search;
            let Some(change) = self.linear_step(set, sides, &at.change, known, *radius, Some(*price)) else {
                break;
            };
            let next = self.local_point(set, change, known);
            search.learn(next.scenario.clone());
            self.consider(set, sides, &next);
            if merit(self, &next, search.price) < merit(self, &search.at, search.price) - 1e-9 {
                (search.at, search.radius) = (next, 1.5 * search.radius);
            } else {
                search.radius *= 0.35;
            }
        }
        // A search may end a little short of the boundary.
        for share in ENLARGED {
            if search.at.margin >= 0.0 || self.prover.is_spent() {
                break;
            }
            let change = enlarged(&search.at.change, sides, share);
            search.at = self.local_point(set, change, &search.known);
            self.consider(set, sides, &search.at);
        }
    }

    /// Offers an action of a search in single precision, enlarged a little if it does not survive attacks.
    /// Returns whether it became the incumbent.
    pub(super) fn offer_confirmed(&mut self, set: usize, sides: &[(f64, f64)], change: &[f64]) -> bool {
        for share in [0.0].into_iter().chain(ENLARGED) {
            let change = enlarged(change, sides, share);
            let cost = cost_of(self.cost(), &self.sets[set].weights, &change);
            if self.incumbent.as_ref().is_some_and(|found| cost >= found.cost) || self.prover.is_spent() {
                return false;
            }
            if self.survives(set, &change) {
                self.offer(set, change);
                return true;
            }
        }
        false
    }

    /// An action with the worst scenario that attacks find: from no shift, and from the worst of some scenarios.
    fn local_point(&mut self, set: usize, change: Vec<f64>, known: &[Scenario]) -> Point {
        let (mut scenario, mut margin) = self.attack(set, &change, None);
        let values = known.iter().map(|scenario| {
            let graph = self.sets[set].in_scenario(scenario);
            self.prover.jets.evaluate(&graph, &change, Order::Value).value
        });
        let worst = values.zip(known).filter(|(value, _)| !value.is_nan()).min_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((_, start)) = worst {
            let (other, lower) = self.attack(set, &change, Some(start));
            if lower < margin {
                (scenario, margin) = (other, lower);
            }
        }
        Point { change, scenario, margin }
    }

    /// What a unit of margin costs at an action, by its gradient there.
    fn gain_price(&mut self, set: usize, at: &Point) -> f64 {
        let graph = self.sets[set].in_scenario(&at.scenario);
        let gradient = self.prover.jets.evaluate(&graph, &at.change, Order::Gradient).gradient;
        let prices = self.sets[set].weights.iter().zip(&gradient).map(|(w, g)| w / g.abs());
        let least = prices.filter(|price| price.is_finite()).fold(f64::INFINITY, f64::min);
        if least.is_finite() { least } else { 1.0 }
    }

    /// The cheapest change within the trust region whose linearised margins and requirements are met, or
    /// missed by as little as the price, if there is one, makes it worth. `None` if the program cannot be
    /// solved.
    pub(super) fn linear_step(
        &mut self,
        set: usize,
        sides: &[(f64, f64)],
        at: &[f64],
        known: &[Scenario],
        radius: f64,
        price: Option<f64>,
    ) -> Option<Vec<f64>> {
        let Set { requirements, weights, .. } = &self.sets[set];
        let jets = &mut self.prover.jets;
        let mut rows: Vec<Row> = Vec::with_capacity(known.len() + requirements.len());
        let margins = known.iter().map(|scenario| self.sets[set].in_scenario(scenario));
        let graphs: Vec<_> = margins.chain(requirements.iter().cloned()).collect();
        for (number, graph) in graphs.iter().enumerate() {
            let jet = jets.evaluate(graph, at, Order::Gradient);
            if !(jet.value.is_finite() && jet.gradient.iter().all(|g| g.is_finite())) {
                continue;
            }
            let along: f64 = jet.gradient.iter().zip(at).map(|(g, t)| g * t).sum();
            let mut coefficients = jet.gradient;
            // Only margins may be missed; rules may not.
            coefficients.push(if number < known.len() { 1.0 } else { 0.0 });
            let doubt = vec![0.0; coefficients.len()];
            rows.push(Row { coefficients, need: along - jet.value + INSIDE, doubt });
        }
        let near = |sign: f64| -> Vec<f64> {
            let step = |k: usize| (at[k] + sign * radius).clamp(sides[k].0, sides[k].1);
            (0..sides.len()).map(step).chain([0.0]).collect()
        };
        let (lower, mut upper) = (near(-1.0), near(1.0));
        let weights: Vec<f64> = weights.iter().copied().chain([price.unwrap_or(1.0)]).collect();
        let cost = self.cost();
        // First without a miss: for l2 cost a small one would cost next to nothing.
        for largest in [0.0, LARGEST_MISS].into_iter().take(1 + usize::from(price.is_some())) {
            upper[sides.len()] = largest;
            let program = Program { rows: &rows, weights: &weights, cost, lower: &lower, upper: &upper };
            if let Solution::Optimal { mut point, .. } = program.solve() {
                point.pop();
                return Some(point);
            }
        }
        None
    }

    /// Offers an action, with integers where they belong, if it is cheaper than the incumbent and
    /// survives attacks. Otherwise remembers how close it comes.
    fn consider(&mut self, set: usize, sides: &[(f64, f64)], point: &Point) {
        let Set { integrality, weights, .. } = &self.sets[set];
        let Some((lower, upper)) = integrality.tightened(sides.iter().copied().unzip()) else { return };
        let change = integrality.near(&lower, &upper, &point.change);
        if point.margin < 0.0 {
            if change == point.change && self.meets(set, &change) {
                self.note(set, &change, point.margin);
            }
            return;
        }
        let cost = cost_of(self.cost(), weights, &change);
        if self.incumbent.as_ref().is_none_or(|found| cost < found.cost) && self.survives(set, &change) {
            self.offer(set, change);
        }
    }
}

/// A change enlarged by a share, within limits.
fn enlarged(change: &[f64], sides: &[(f64, f64)], share: f64) -> Vec<f64> {
    change.iter().zip(sides).map(|(&c, &(l, u))| (c * (1.0 + share)).clamp(l, u)).collect()
}
