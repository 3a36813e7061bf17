//! The price of robustness: the least cost as a function of the uncertainty.
//!
//! An action that holds for some epsilon holds for every smaller one. Therefore
//!
//! - an action proven at one epsilon is an answer at every smaller one, at its cost;
//! - an impossibility proven at one epsilon holds at every larger one;
//! - a lower bound on the cost proven at one epsilon holds at every larger one.
//!
//! Every answer of a curve uses these conclusions from all searches, so the answers never contradict each
//! other: costs and lower bounds rise with epsilon, and no epsilon is undecided if an action is known for
//! a larger one.

use super::{Settings, Solver};
use crate::error::SettingError;
use crate::outcome::{Outcome, Recourse, Undecided};
use crate::problem::OwnProblem;
use crate::{Budget, Error, Problem, Result};

/// The largest epsilon that is tried, in standard deviations.
const LARGEST: f64 = 1e6;
/// The first epsilon above zero that is tried.
const FIRST: f64 = 0.125;
/// Below this, in standard deviations, two sizes count as equal.
const EPSILON_RESOLUTION: f64 = 1e-6;
/// A search usually costs at most this many times its budget; see
/// [`Complete::with_budget`](super::Complete::with_budget), which also states the most that it costs.
const USUAL_COST_FACTOR: usize = 2;
/// While the largest epsilon is being enclosed, one search may cost the rest of the work divided by this.
const REST_DIVISOR: usize = 2;
/// The number of sizes if none are given, and the largest of them.
const SIZES: (usize, f64) = (12, 4.0);
/// The relative width to which the largest epsilon is enclosed.
pub(super) const TOLERANCE: f64 = 0.01;

/// The uncertainty up to which an action holds for an individual.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reach {
    /// The largest epsilon for which an action is proven to hold. `None` if there is no such proof.
    pub possible: Option<f64>,
    /// The smallest epsilon for which it is proven that no action holds. `None` if there is no such
    /// proof.
    pub impossible: Option<f64>,
}

/// The answers of one individual for several sizes of the uncertainty.
#[derive(Clone, Debug, PartialEq)]
pub struct TradeOff {
    /// The sizes, in the order in which they were asked for.
    pub epsilons: Vec<f64>,
    /// The answer for each.
    pub answers: Vec<Outcome>,
    /// The largest size for which there is an action.
    pub reach: Reach,
    /// The number of evaluations of all searches.
    pub evaluations: usize,
}

/// The cheapest action that holds as a function of epsilon, and the largest epsilon for which there is
/// one. The epsilon of the problem does not matter. `progress` is called before every search with its
/// epsilon.
///
/// Without `epsilons`, twelve sizes are evenly spread from zero to the largest for which an action was
/// found, but not beyond four standard deviations.
///
/// All searches together usually cost at most three times the evaluations of the budget. Two thirds are for
/// the given sizes, where easy searches leave more to the others. One third is for enclosing the largest
/// epsilon to within 1%, where each search may cost half of the rest. If searches cost as much as
/// [`Complete::with_budget`](super::Complete::with_budget) allows, all together cost less than seven times
/// the budget: five times for the given sizes, and 1.25 times for the enclosure. Linear problems without
/// constraints cost none.
///
/// ```
/// use surefoot::recourse::{Settings, trade_off};
/// use surefoot::{Change, Classifier, Feature, Features, Problem};
///
/// let income = Feature::new("income").limits(-5.0, 2.0).change(Change::Increase);
/// let problem = Problem::new(Features::new(vec![income])?, Classifier::linear(vec![1.0], 0.0, 0.5)?)?;
/// let curve = trade_off(&problem, &[-1.0], Some(&[0.0, 0.5, 3.0]), Settings::default(), |_| {})?;
/// let words: Vec<&str> = curve.answers.iter().map(|answer| answer.status()).collect();
/// assert_eq!(words, ["found", "found", "impossible"]);
/// assert!(curve.reach.possible.unwrap() <= 2.0 && curve.reach.impossible.unwrap() >= 2.0);
/// # Ok::<(), surefoot::Error>(())
/// ```
///
/// # Errors
/// Before any search: if a size is negative or not finite, if the settings are invalid, or if no method
/// can answer the problem. Later: as the methods that answer.
pub fn trade_off(
    problem: &Problem,
    individual: &[f64],
    epsilons: Option<&[f64]>,
    settings: Settings,
    progress: impl Fn(f64),
) -> Result<TradeOff> {
    let is_size = |epsilon: &&f64| epsilon.is_finite() && **epsilon >= 0.0;
    if let Some(&epsilon) = epsilons.into_iter().flatten().find(|epsilon| !is_size(epsilon)) {
        return Err(Error::Setting(SettingError::Epsilon { epsilon }));
    }
    let own = problem.for_person(individual)?;
    let (problem, individual) = OwnProblem::or(own.as_ref(), problem, individual);
    let mut searches = Searches::new(problem, individual, settings)?;
    let epsilons = match epsilons {
        Some(given) => {
            searches.settle(given, &progress)?;
            searches.enclose(TOLERANCE, &progress)?;
            given.to_vec()
        }
        None => {
            let reach = searches.enclose(TOLERANCE, &progress)?;
            let sizes = spread(reach.possible.unwrap_or(0.0).min(SIZES.1));
            searches.settle(&sizes, &progress)?;
            sizes
        }
    };
    // Every size has been settled or searched.
    let answer =
        |&epsilon: &f64| searches.at(epsilon).ok_or(Error::Setting(SettingError::Epsilon { epsilon }));
    let answers = epsilons.iter().map(answer).collect::<Result<Vec<Outcome>>>()?;
    Ok(TradeOff { epsilons, answers, reach: searches.reach(), evaluations: searches.evaluations })
}

/// Evenly spaced sizes from zero to the last.
fn spread(last: f64) -> Vec<f64> {
    let mut sizes: Vec<f64> = (0..SIZES.0).map(|k| last * k as f64 / (SIZES.0 - 1) as f64).collect();
    sizes.dedup();
    sizes
}

/// All searches for one individual, and the conclusions from them.
pub(super) struct Searches<'p> {
    problem: &'p Problem,
    individual: &'p [f64],
    settings: Settings,
    /// The answers in ascending order of epsilon.
    known: Vec<Answer>,
    evaluations: usize,
}

/// The answer of one search.
struct Answer {
    epsilon: f64,
    outcome: Outcome,
    /// The budget of the search.
    budget: usize,
}

impl<'p> Searches<'p> {
    pub fn new(problem: &'p Problem, individual: &'p [f64], settings: Settings) -> Result<Self> {
        if !settings.method.proves() {
            return Err(Error::Setting(SettingError::NoProof { method: settings.method.as_str() }));
        }
        Solver::new(problem, settings)?;
        Ok(Self { problem, individual, settings, known: Vec::new(), evaluations: 0 })
    }

    /// Adds an answer that is already known.
    pub fn with_known(mut self, epsilon: f64, outcome: Outcome) -> Self {
        self.learn(Answer { epsilon, outcome, budget: self.settings.budget.evaluations });
        self
    }

    /// Searches for the answers at some sizes, unless they follow from others.
    fn settle(&mut self, epsilons: &[f64], progress: &impl Fn(f64)) -> Result<()> {
        // An answer of impossible makes the searches for all larger sizes unnecessary.
        let mut ascending = epsilons.to_vec();
        ascending.sort_by(f64::total_cmp);
        ascending.dedup();
        let mut left = USUAL_COST_FACTOR.saturating_mul(self.settings.budget.evaluations);
        for (k, &epsilon) in ascending.iter().enumerate() {
            let part = left / (ascending.len() - k);
            if !self.is_settled(epsilon, self.budget(part)) {
                progress(epsilon);
                left = left.saturating_sub(self.search(epsilon, part)?);
            }
        }
        Ok(())
    }

    /// Encloses the largest epsilon for which there is an action to within the relative `tolerance`, or
    /// as far as proofs succeed.
    pub fn enclose(&mut self, tolerance: f64, progress: &impl Fn(f64)) -> Result<Reach> {
        let mut left = self.settings.budget.evaluations;
        while left > 0
            && let Some(epsilon) = self.next(tolerance)
        {
            progress(epsilon);
            left = left.saturating_sub(self.search(epsilon, left / REST_DIVISOR)?);
        }
        Ok(self.reach())
    }

    /// The budget of a search that should cost this many evaluations.
    fn budget(&self, evaluations: usize) -> usize {
        (evaluations / USUAL_COST_FACTOR).clamp(1, self.settings.budget.evaluations)
    }

    /// The epsilon at which a search would narrow the enclosure most; `None` if it is narrow enough.
    fn next(&self, tolerance: f64) -> Option<f64> {
        if self.known.iter().any(|answer| answer.outcome == Outcome::AlreadyFavourable) {
            return None;
        }
        let Reach { possible, impossible } = self.reach();
        let sizes = || self.known.iter().map(|answer| answer.epsilon);
        if possible.is_none() && !sizes().any(|epsilon| epsilon == 0.0) {
            return Some(0.0);
        }
        // Increases epsilon until no action holds.
        let Some(impossible) = impossible else {
            let next = sizes().fold(FIRST / 4.0, f64::max) * 4.0;
            return (next <= LARGEST).then_some(next);
        };
        let middle = |below: f64, above: f64| {
            let is_narrow = above - below <= tolerance * above || above <= EPSILON_RESOLUTION;
            (!is_narrow).then_some(0.5 * (below + above))
        };
        // Bisects between the largest possible epsilon and the next one not found to be possible; then
        // likewise below the smallest impossible one.
        let unproven = possible.and_then(|possible| {
            let above = sizes().filter(|&epsilon| epsilon > possible).fold(impossible, f64::min);
            middle(possible, above)
        });
        let open = sizes().filter(|&epsilon| epsilon < impossible).reduce(f64::max);
        unproven.or_else(|| middle(open?, impossible))
    }

    /// Searches for the answer at one epsilon. Returns the number of evaluations, usually at most
    /// `evaluations`.
    fn search(&mut self, epsilon: f64, evaluations: usize) -> Result<usize> {
        let budget = self.budget(evaluations);
        let problem = self.problem.clone().with_epsilon(epsilon)?;
        let settings = Settings { budget: Budget { evaluations: budget }, ..self.settings };
        let (outcome, used) = Solver::new(&problem, settings)?.solve_counted(self.individual)?;
        self.evaluations += used;
        self.learn(Answer { epsilon, outcome, budget });
        Ok(used)
    }

    fn learn(&mut self, answer: Answer) {
        let place = self.known.partition_point(|known| known.epsilon <= answer.epsilon);
        self.known.insert(place, answer);
    }

    /// Whether a search at an epsilon would find nothing new. This is so if there was a search at this
    /// epsilon with an answer or with at least half the budget; or if it follows from other searches that
    /// there is no action, or one within the gap.
    fn is_settled(&self, epsilon: f64, budget: usize) -> bool {
        let is_searched = |known: &Answer| {
            known.epsilon == epsilon
                && (known.budget >= budget / 2 || !matches!(known.outcome, Outcome::Undecided(_)))
        };
        self.known.iter().any(is_searched)
            || match self.at(epsilon) {
                Some(Outcome::Found(found)) => found.cost_bound >= (1.0 - self.settings.gap) * found.cost,
                Some(Outcome::Impossible(_) | Outcome::AlreadyFavourable) => true,
                Some(Outcome::Undecided(_) | Outcome::Unproved(_)) | None => false,
            }
    }

    /// The conclusion at an epsilon; `None` if none follows from the searches.
    fn at(&self, epsilon: f64) -> Option<Outcome> {
        let smaller =
            || self.known.iter().filter(|known| known.epsilon <= epsilon).map(|known| &known.outcome);
        let larger = self.known.iter().filter(|known| known.epsilon >= epsilon).map(|known| &known.outcome);
        let bound = |outcome: &Outcome| match outcome {
            Outcome::Found(found) => found.cost_bound,
            Outcome::Undecided(undecided) => undecided.cost_bound,
            Outcome::AlreadyFavourable | Outcome::Impossible(_) | Outcome::Unproved(_) => 0.0,
        };
        let bound = smaller().map(bound).fold(0.0, f64::max);
        let cheapest = larger.filter_map(Outcome::recourse).min_by(|a, b| a.cost.total_cmp(&b.cost));
        if let Some(found) = cheapest {
            return Some(Outcome::Found(Recourse { cost_bound: bound.min(found.cost), ..found.clone() }));
        }
        let is_final = |outcome: &&Outcome| !matches!(outcome, Outcome::Undecided(_) | Outcome::Found(_));
        if let Some(outcome) = smaller().rfind(is_final) {
            return Some(outcome.clone());
        }
        // Of several searches at this epsilon, the last one had the largest budget.
        match self.known.iter().rfind(|known| known.epsilon == epsilon).map(|known| &known.outcome) {
            Some(Outcome::Undecided(undecided)) => {
                Some(Outcome::Undecided(Undecided { cost_bound: bound, ..undecided.clone() }))
            }
            _ => None,
        }
    }

    /// The proven enclosure of the largest epsilon for which there is an action.
    fn reach(&self) -> Reach {
        let sizes = |is_one: fn(&Outcome) -> bool| {
            self.known.iter().filter(move |known| is_one(&known.outcome)).map(|known| known.epsilon)
        };
        Reach {
            possible: sizes(|outcome| matches!(outcome, Outcome::Found(_))).reduce(f64::max),
            impossible: sizes(|outcome| matches!(outcome, Outcome::Impossible(_))).reduce(f64::min),
        }
    }
}
