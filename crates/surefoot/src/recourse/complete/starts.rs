//! Local searches from sixteen starts at once, for the method `local`.
//!
//! The same sequential linear programs as in [`local`](super::local), one search on each SIMD lane of a block and
//! all lanes evaluated together, in single precision. The starts are those of [`SAMPLES`] random actions, and the
//! action that changes nothing, that are closest to success by the merit of a search. The worst perturbation is
//! followed by gradients from the one known so far; each perturbation on the way contributes a linearised margin.
//! What is found is attacked again in double precision before it is offered. If that breaks it, all searches go on
//! with the perturbation that did.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::boxes::cost_of;
use super::local::FEW;
use super::solve::Solver;
use crate::classifier::Precision;
use crate::margin::{Evaluation, Individuals, Margin, margin};
use crate::network::{LANES, Lanes};
use crate::program::{Program, Row, Solution};
use crate::proof::Scenario;
use crate::{Cost, Result};

/// The number of random actions from which the starts are chosen.
const SAMPLES: usize = 4 * LANES;
/// Random actions are within this distance, in standard deviations.
const REACH: f64 = 3.0;
/// The share of the changes of a random action that are not zero.
const CHANGED: f64 = 0.6;
/// The largest number of steps.
const STEPS: usize = 16;
/// A search ends where its trust region is smaller than this.
const SMALLEST: f64 = 1e-3;
/// A step that lowers the merit by less than this share ends the search.
const LEAST_GAIN: f64 = 1e-4;
/// The number of linearised margins that are kept.
const ROWS: usize = 8;
/// The number of perturbations that are followed from the worst one known.
const FOLLOWED: usize = 2;
/// The price of a missing unit of margin, in multiples of what it costs to gain one.
const PRICE: f64 = 50.0;
/// The linearised margin that is asked for: more than the rounding errors of single precision.
const INSIDE: f64 = 1e-5;
/// A margin may be missed by this much in a linear program.
const LARGEST_MISS: f64 = 1e9;
/// The number of evaluations of the budget for one evaluation of a block with its derivatives.
const EVALUATIONS: usize = 4;
/// The largest number of actions that are attacked in double precision before the searches go on.
const CANDIDATES: usize = 3;
/// The largest number of times that the searches go on, and the trust region with which they do.
const ROUNDS: usize = 5;
const NEAR: f64 = 0.25;
/// The number of perturbations that broke actions in double precision, the last ones, that every lane is tried on.
const KNOWN: usize = 4;

/// The margins of a block of actions for one individual.
struct Block<'p> {
    margin: Margin<'p>,
    evaluation: Evaluation,
    individuals: Individuals,
    change: Vec<Lanes>,
    perturbation: Vec<Lanes>,
    /// Perturbations that every lane is tried on.
    known: Vec<Vec<f64>>,
    /// The number of evaluations so far.
    evaluated: usize,
}

/// A margin under one perturbation with its gradient in the change, at one action.
struct Linearised {
    value: f64,
    gradient: Vec<f64>,
    perturbation: Vec<f64>,
}

/// The search on one lane.
struct Lane {
    at: Vec<f64>,
    merit: f64,
    /// The least margin found there.
    worst: f64,
    /// The perturbation with that margin.
    perturbation: Vec<f64>,
    rows: Vec<Row>,
    price: f64,
    radius: f64,
    /// The action that is evaluated next; `None` if the search has ended.
    next: Option<Vec<f64>>,
}

/// What all searches share.
struct Setting<'a> {
    weights: &'a [f64],
    cost: Cost,
    sides: &'a [(f64, f64)],
}

impl<'p> Block<'p> {
    fn new(margin: Margin<'p>, individual: &[f64]) -> Result<Self> {
        let mut individuals = margin.individuals();
        (0..LANES).try_for_each(|lane| margin.place(&mut individuals, lane, individual))?;
        Ok(Self {
            evaluation: margin.evaluation_in(Precision::Single),
            individuals,
            change: vec![Lanes::ZERO; margin.features().len()],
            perturbation: vec![Lanes::ZERO; margin.problem().perturbation_width()],
            margin,
            known: Vec::new(),
            evaluated: 0,
        })
    }

    /// For each action, the linearised margins under some perturbations: the known ones, the given one, and those
    /// that follow from it by gradients.
    fn linearise(&mut self, actions: &[(&[f64], &[f64])]) -> Vec<Vec<Linearised>> {
        let mut found: Vec<Vec<Linearised>> = actions.iter().map(|_| Vec::new()).collect();
        // The last lanes repeat the last action.
        let number = |lane: usize| lane.min(actions.len() - 1);
        for (k, place) in self.change.iter_mut().enumerate() {
            *place = Lanes::from_fn(|lane| actions[number(lane)].0[k]);
        }
        for known in 0..self.known.len() {
            let places = self.perturbation.iter_mut().zip(&self.known[known]);
            places.for_each(|(place, d)| *place = Lanes::splat(*d));
            self.evaluate(&mut found);
        }
        for (i, place) in self.perturbation.iter_mut().enumerate() {
            *place = Lanes::from_fn(|lane| actions[number(lane)].1[i]);
        }
        self.evaluate(&mut found);
        let uncertainty = self.margin.problem().uncertainty();
        let followed = if uncertainty.is_none() { 0 } else { FOLLOWED };
        for _ in 0..followed {
            for lane in 0..actions.len() {
                let downhill: Vec<f64> = self.evaluation.in_perturbation.iter().map(|g| -g.0[lane]).collect();
                let further = uncertainty.maximiser(&downhill);
                self.perturbation.iter_mut().zip(further).for_each(|(place, d)| place.0[lane] = d);
            }
            self.evaluate(&mut found);
        }
        found
    }

    /// Appends the linearised margin of each lane under its present perturbation.
    fn evaluate(&mut self, found: &mut [Vec<Linearised>]) {
        let Self { margin, evaluation, individuals, change, perturbation, .. } = self;
        let value = margin.value(individuals, change, perturbation, evaluation);
        margin.gradients(evaluation);
        self.evaluated += EVALUATIONS;
        for (lane, found) in found.iter_mut().enumerate() {
            let at = |lanes: &[Lanes]| lanes.iter().map(|x| x.0[lane]).collect::<Vec<f64>>();
            found.push(Linearised {
                value: value.0[lane],
                gradient: at(&evaluation.in_action),
                perturbation: at(perturbation),
            });
        }
    }
}

impl Linearised {
    fn is_finite(&self) -> bool {
        self.value.is_finite() && self.gradient.iter().all(|g| g.is_finite())
    }

    /// The row of a linear program whose last variable is the margin that may be missed.
    fn row(&self, at: &[f64]) -> Row {
        let along: f64 = self.gradient.iter().zip(at).map(|(g, t)| g * t).sum();
        let coefficients: Vec<f64> = self.gradient.iter().copied().chain([1.0]).collect();
        let doubt = vec![0.0; coefficients.len()];
        Row { coefficients, need: along - self.value + INSIDE, doubt }
    }
}

impl Setting<'_> {
    fn merit(&self, change: &[f64], worst: f64, price: f64) -> f64 {
        cost_of(self.cost, self.weights, change) + price * (INSIDE - worst).max(0.0)
    }

    /// What a unit of margin costs by a gradient.
    fn price(&self, gradient: &[f64]) -> f64 {
        let prices = self.weights.iter().zip(gradient).map(|(w, g)| w / g.abs());
        let least = prices.filter(|price| price.is_finite()).fold(f64::INFINITY, f64::min);
        PRICE * if least.is_finite() { least } else { 1.0 }
    }
}

impl Lane {
    /// A search that starts at an action; `None` if its margin is not defined.
    fn start(setting: &Setting<'_>, at: &[f64], margins: &[Linearised]) -> Option<Self> {
        let price = setting.price(&margins[0].gradient);
        let (worst, perturbation) = least(margins)?;
        let merit = setting.merit(at, worst, price);
        let rows = rows(margins, at);
        Some(Self {
            at: at.to_vec(),
            merit,
            worst,
            perturbation: perturbation.to_vec(),
            rows,
            price,
            radius: 1.0,
            next: None,
        })
    }

    /// Takes the step that was evaluated if it lowers the merit. Otherwise the trust region shrinks.
    fn judge(&mut self, setting: &Setting<'_>, tried: Vec<f64>, margins: &[Linearised]) {
        let Some((worst, perturbation)) = least(margins) else {
            self.radius *= 0.35;
            return;
        };
        let merit = setting.merit(&tried, worst, self.price);
        if merit < self.merit {
            if self.merit - merit < LEAST_GAIN * self.merit && worst >= 0.0 {
                self.radius = 0.0;
            }
            self.rows = rows(margins, &tried);
            (self.at, self.merit, self.worst) = (tried, merit, worst);
            self.perturbation = perturbation.to_vec();
            self.radius *= 1.5;
        } else {
            let lowest = margins.iter().min_by(|a, b| a.value.total_cmp(&b.value));
            self.rows.extend(lowest.map(|lowest| lowest.row(&tried)));
            if self.rows.len() > ROWS {
                self.rows.remove(0);
            }
            self.radius *= 0.35;
        }
    }

    /// Chooses the next action: the cheapest one within the trust region whose linearised margins are met or
    /// missed by as little as the price makes worth.
    fn choose(&mut self, setting: &Setting<'_>) {
        self.next = None;
        if self.radius < SMALLEST {
            return;
        }
        let near = |sign: f64| -> Vec<f64> {
            let ends = self.at.iter().zip(setting.sides);
            ends.map(|(t, (l, u))| (t + sign * self.radius).max(*l).min(*u)).chain([0.0]).collect()
        };
        let (lower, mut upper) = (near(-1.0), near(1.0));
        let weights: Vec<f64> = setting.weights.iter().copied().chain([self.price]).collect();
        for largest in [0.0, LARGEST_MISS] {
            upper[setting.sides.len()] = largest;
            let program = Program {
                rows: &self.rows,
                weights: &weights,
                cost: setting.cost,
                lower: &lower,
                upper: &upper,
            };
            if let Solution::Optimal { mut point, .. } = program.solve() {
                point.pop();
                self.next = Some(point).filter(|point| *point != self.at);
                return;
            }
        }
    }
}

impl Solver<'_, '_> {
    /// Whether the search from many starts is used: few features may change, by real numbers, nothing is required
    /// of outcomes, and there is one classifier and one causal model. In many dimensions its starts miss cheap actions.
    pub(super) fn can_search_from_many_starts(&self) -> bool {
        let problem = self.settings.problem;
        let has_few = self.sets.iter().all(|set| set.weights.len() <= FEW);
        let is_single = problem.variants().len() == 1;
        has_few && is_single && problem.requirements().is_empty() && problem.whole_feature().is_none()
    }

    /// Searches from many starts in one intervention set, and offers what survives as the incumbent. Returns the
    /// cheapest action found if none of those found survives.
    pub(super) fn search_from_many_starts(&mut self, set: usize, seed: u64) -> Result<Option<Vec<f64>>> {
        let problem = self.settings.problem;
        let mut block = Block::new(Margin::new(problem, &self.sets[set].features), &self.individual)?;
        let sides = self.local_sides(set, &vec![0.0; self.sets[set].weights.len()]);
        let weights = self.sets[set].weights.clone();
        let setting = Setting { weights: &weights, cost: self.cost(), sides: &sides };
        let mut lanes = starts(&mut block, &setting, seed);
        let mut rejected = None;
        for _ in 0..ROUNDS {
            descend(&mut block, &setting, &mut lanes);
            self.prover.count(std::mem::take(&mut block.evaluated));
            let cost = |lane: &&Lane| cost_of(setting.cost, setting.weights, &lane.at);
            let mut good: Vec<&Lane> = lanes.iter().filter(|lane| lane.worst >= 0.0).collect();
            good.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
            let limit = self.incumbent.as_ref().map_or(f64::INFINITY, |found| found.cost);
            good.truncate(CANDIDATES);
            let good: Vec<&Lane> = good.into_iter().filter(|lane| cost(lane) < limit).collect();
            let Some(cheapest) = good.first().map(|lane| lane.at.clone()) else { break };
            for lane in &good {
                // A perturbation that concerns nobody says nothing about other actions.
                let action = self.action(set, &lane.at);
                if margin(problem, &self.individual, &action, &lane.perturbation).is_ok() {
                    self.remember(Scenario { variant: 0, perturbation: lane.perturbation.clone() });
                }
            }
            if good.iter().any(|lane| self.offer_confirmed(set, &sides, &lane.at)) {
                return Ok(None);
            }
            rejected = Some(cheapest);
            if self.prover.is_spent() {
                break;
            }
            let recent = &self.pool[self.pool.len().saturating_sub(KNOWN)..];
            block.known = recent.iter().map(|scenario| scenario.perturbation.clone()).collect();
            resume(&mut block, &setting, &mut lanes);
        }
        Ok(rejected)
    }
}

/// Takes steps on all lanes until every search has ended.
fn descend(block: &mut Block<'_>, setting: &Setting<'_>, lanes: &mut [Lane]) {
    for _ in 0..STEPS {
        lanes.iter_mut().for_each(|lane| lane.choose(setting));
        let mut moving: Vec<&mut Lane> = lanes.iter_mut().filter(|lane| lane.next.is_some()).collect();
        if moving.is_empty() {
            break;
        }
        let tried: Vec<Vec<f64>> = moving.iter_mut().filter_map(|lane| lane.next.take()).collect();
        let actions: Vec<(&[f64], &[f64])> =
            tried.iter().zip(&moving).map(|(tried, lane)| (&tried[..], &lane.perturbation[..])).collect();
        let margins = block.linearise(&actions);
        for ((lane, tried), margins) in moving.into_iter().zip(tried).zip(&margins) {
            lane.judge(setting, tried, margins);
        }
    }
}

/// Evaluates all lanes again, with the perturbations that are known by now, for further steps.
fn resume(block: &mut Block<'_>, setting: &Setting<'_>, lanes: &mut Vec<Lane>) {
    let actions: Vec<(&[f64], &[f64])> =
        lanes.iter().map(|lane| (&lane.at[..], &lane.perturbation[..])).collect();
    let margins = block.linearise(&actions);
    let again = lanes.iter().zip(&margins).filter_map(|(lane, margins)| {
        let started = Lane::start(setting, &lane.at, margins)?;
        let merit = setting.merit(&started.at, started.worst, lane.price);
        Some(Lane { price: lane.price, merit, radius: NEAR, ..started })
    });
    *lanes = again.collect();
}

/// The least margin with its perturbation; `None` if a margin is not finite.
fn least(margins: &[Linearised]) -> Option<(f64, &[f64])> {
    if !margins.iter().all(Linearised::is_finite) {
        return None;
    }
    let lowest = margins.iter().min_by(|a, b| a.value.total_cmp(&b.value))?;
    Some((lowest.value, &lowest.perturbation))
}

fn rows(margins: &[Linearised], at: &[f64]) -> Vec<Row> {
    margins.iter().map(|margin| margin.row(at)).collect()
}

/// The searches that start at the best of some random actions, and at the action that changes nothing.
fn starts(block: &mut Block<'_>, setting: &Setting<'_>, seed: u64) -> Vec<Lane> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let nothing = vec![0.0; block.perturbation.len()];
    let mut lanes: Vec<Lane> = Vec::new();
    for first in (0..SAMPLES).step_by(LANES) {
        let actions: Vec<Vec<f64>> = (first..first + LANES)
            .map(|number| {
                let at = |&(lower, upper): &(f64, f64)| {
                    let (lower, upper) = (lower.max(-REACH), upper.min(REACH));
                    match number > 0 && random.random_bool(CHANGED) {
                        true => lower + (upper - lower) * random.random::<f64>(),
                        false => 0.0f64.max(lower).min(upper),
                    }
                };
                setting.sides.iter().map(at).collect()
            })
            .collect();
        let asked: Vec<(&[f64], &[f64])> = actions.iter().map(|action| (&action[..], &nothing[..])).collect();
        let margins = block.linearise(&asked);
        lanes.extend(
            actions.iter().zip(&margins).filter_map(|(at, margins)| Lane::start(setting, at, margins)),
        );
    }
    // The action that changes nothing always is among them.
    if lanes.len() > LANES {
        lanes[1..].sort_by(|a, b| a.merit.total_cmp(&b.merit));
        lanes.truncate(LANES);
    }
    lanes
}
