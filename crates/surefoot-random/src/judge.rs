//! Asks the engine everything about a case, and holds the answers against each other.

mod actions;
mod budget;
mod cheaper;
mod found;
mod letters;
mod options;
#[cfg(test)]
mod tests;
mod trade_off;

use std::path::Path;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use surefoot::outcome::{Recourse, UndecidedReason};
use surefoot::proof::Proof;
use surefoot::recourse::{self, Solver};
use surefoot::verify::Verification;
use surefoot::{Budget, Outcome, People, Problem, SavedProof, describe, verify};

use crate::definition::{obstacle, worst};
use crate::words::has_no_number;
use crate::{Case, Contradiction};

/// How hard a case is examined.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The budget of a search.
    pub evaluations: usize,
    /// Random perturbations of an action that is said to hold.
    pub samples: usize,
    /// Random actions that are said not to hold.
    pub candidates: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { evaluations: 2000, samples: 600, candidates: 150 }
    }
}

/// How often each kind of answer was given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// People who need no recourse.
    pub favourable: usize,
    /// People with an action.
    pub found: usize,
    /// People who provably have none.
    pub impossible: usize,
    /// People of whom neither is known.
    pub undecided: usize,
}

impl Tally {
    fn add(&mut self, outcome: &Outcome) {
        *match outcome {
            Outcome::AlreadyFavourable => &mut self.favourable,
            Outcome::Found(_) => &mut self.found,
            Outcome::Impossible(_) => &mut self.impossible,
            Outcome::Undecided(_) | Outcome::Unproved(_) => &mut self.undecided,
        } += 1;
    }
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.favourable += other.favourable;
        self.found += other.found;
        self.impossible += other.impossible;
        self.undecided += other.undecided;
    }
}

/// Every contradiction among what the engine says about the people of a case, whose files are written
/// into `folder`.
pub fn contradictions(
    case: &Case,
    folder: &Path,
    settings: Settings,
    tally: &mut Tally,
) -> Vec<Contradiction> {
    let (problem, people) = case.read(folder);
    let mut all = Vec::new();
    for individual in people.iter() {
        let Some(own_case) = case.of_person(individual) else {
            let mut judge = Judge::new(case, &problem, individual, settings);
            tally.add(&judge.person());
            all.extend(judge.contradictions);
            continue;
        };
        // What holds of somebody with special values is asked of their own problem, and what is said of them of everybody's.
        let own = problem.for_person(individual).unwrap().unwrap();
        let mut judge = Judge::new(&own_case, &own.problem, &own.individual, settings);
        let outcome = judge.person();
        tally.add(&outcome);
        all.extend(judge.contradictions);
        let mut everybody = Judge::new(case, &problem, individual, settings);
        everybody.special(&outcome);
        all.extend(everybody.contradictions);
    }
    all.extend(threads(&problem, &people, settings));
    all
}

/// The answer by the method that the command chooses.
pub(crate) fn answer(problem: &Problem, individual: &[f64], evaluations: usize) -> surefoot::Result<Outcome> {
    Solver::new(problem, effort(evaluations))?.solve(individual)
}

/// The settings of a search with this budget.
fn effort(evaluations: usize) -> recourse::Settings {
    recourse::Settings { budget: Budget { evaluations }, ..Default::default() }
}

/// The answer of the complete method with its proof.
pub(crate) fn prove(problem: &Problem, individual: &[f64], evaluations: usize) -> surefoot::Result<Proof> {
    let settings = recourse::Settings { method: "complete".parse()?, ..effort(evaluations) };
    Solver::new(problem, settings)?.prove(individual)
}

/// One person of a case, with what contradicts itself so far.
struct Judge<'a> {
    case: &'a Case,
    problem: &'a Problem,
    individual: &'a [f64],
    settings: Settings,
    random: ChaCha8Rng,
    contradictions: Vec<Contradiction>,
}

impl<'a> Judge<'a> {
    fn new(case: &'a Case, problem: &'a Problem, individual: &'a [f64], settings: Settings) -> Self {
        let (seed, number) = case.drawn_from;
        // Other numbers than those the case was drawn with.
        let mut random = ChaCha8Rng::seed_from_u64(!seed);
        random.set_stream(number);
        Judge { case, problem, individual, settings, random, contradictions: Vec::new() }
    }

    fn note(&mut self, property: &'static str, detail: impl Into<String>) {
        self.contradictions.push(Contradiction { property, detail: detail.into() });
    }

    /// Notes a contradiction unless a property holds.
    fn demand(&mut self, holds: bool, property: &'static str, detail: impl FnOnce() -> String) {
        if !holds {
            self.note(property, detail());
        }
    }

    /// The value of a result; an error is noted.
    fn value<T>(&mut self, property: &'static str, result: surefoot::Result<T>) -> Option<T> {
        result.map_err(|error| self.note(property, error.to_string())).ok()
    }

    fn answer(&self, evaluations: usize) -> surefoot::Result<Outcome> {
        answer(self.problem, self.individual, evaluations)
    }

    /// The least margin of an action that sampling finds.
    fn sampled(&mut self, action: &surefoot::Action) -> (f64, Vec<f64>) {
        let Self { case, problem, individual, settings, random, .. } = self;
        worst(random, case, problem, individual, action, settings.samples)
    }

    /// Everything about one person.
    fn person(&mut self) -> Outcome {
        let answered = self.answer(self.settings.evaluations);
        let Some(outcome) = self.value("recourse answers", answered) else {
            return Outcome::AlreadyFavourable;
        };
        let again = self.answer(self.settings.evaluations);
        self.demand(again.as_ref() == Ok(&outcome), "the same twice", || {
            format!("{outcome:?} and {again:?}")
        });
        let score = self.problem.score(self.individual);
        let is_favourable = outcome == Outcome::AlreadyFavourable;
        self.demand(is_favourable == (score >= 0.0), "favourable", || format!("{score} and {outcome:?}"));
        self.told(&outcome);
        if is_favourable {
            return outcome;
        }
        let proof = self.proved();
        if let Some(proof) = &proof {
            self.agree("recourse and its proof", &outcome, &proof.outcome);
            self.checked(proof);
        }
        let solver = Solver::new(self.problem, effort(self.settings.evaluations));
        let own = solver.and_then(|solver| solver.prove(self.individual));
        if let Some(own) = self.value("the method proves its answer", own) {
            self.agree("recourse and the proof of its method", &outcome, &own.outcome);
            let is_same =
                own.outcome.recourse().map(|own| &own.action) == outcome.recourse().map(|own| &own.action);
            self.demand(is_same, "a proof is of the action", || format!("{outcome:?} and {:?}", own.outcome));
            self.checked(&own);
        }
        match &outcome {
            Outcome::Found(found) => {
                self.found(found);
                self.cheaper(found.cost_bound, &found.action);
                self.options(found);
            }
            Outcome::Impossible(shortfall) => {
                let is_short = shortfall.missing > 0.0;
                self.demand(is_short, "shortfall is positive", || format!("{shortfall:?}"));
                self.cheaper(f64::INFINITY, &shortfall.best);
                self.explained(&outcome);
            }
            Outcome::Undecided(undecided) => self.cheaper(undecided.cost_bound, &undecided.best),
            Outcome::AlreadyFavourable | Outcome::Unproved(_) => {}
        }
        self.reason(&outcome);
        self.letters();
        self.verdicts(&outcome);
        self.more_budget(proof.as_ref().map(|proof| &proof.outcome));
        self.trade_off(&outcome);
        outcome
    }

    /// The answer in everybody's problem is that in the person's own, and its proof is verified.
    fn special(&mut self, own: &Outcome) {
        let answered = self.answer(self.settings.evaluations);
        self.demand(answered.as_ref() == Ok(own), "special values", || format!("{answered:?} and {own:?}"));
        if *own == Outcome::AlreadyFavourable {
            return;
        }
        if let Some(proof) = self.proved() {
            self.checked(&proof);
        }
        let words = self.value("describe", describe(self.problem, self.individual, own));
        let is_said = words.is_none_or(|words| words.contains("because the value is special"));
        self.demand(is_said, "special values are said", || format!("{own:?}"));
    }

    /// Numbers are numbers, in the answer and in its words.
    fn told(&mut self, outcome: &Outcome) {
        let numbers = match outcome {
            Outcome::AlreadyFavourable | Outcome::Unproved(_) => vec![],
            Outcome::Found(Recourse { action, counterfactual, cost, cost_bound, margin }) => {
                let lists = action.change.iter().chain(counterfactual);
                lists.copied().chain([*cost, *cost_bound, *margin]).collect()
            }
            Outcome::Impossible(shortfall) if !self.case.has_requirements() => vec![shortfall.missing],
            Outcome::Impossible(_) => vec![],
            Outcome::Undecided(undecided) => {
                let margin = Some(undecided.margin).filter(|margin| !self.none_was_feasible(*margin));
                undecided.best.change.iter().copied().chain(margin).chain([undecided.cost_bound]).collect()
            }
        };
        let are_finite = numbers.iter().all(|number| number.is_finite());
        self.demand(are_finite, "numbers are finite", || format!("{outcome:?}"));
        if let Some(text) = self.value("describe", describe(self.problem, self.individual, outcome)) {
            self.demand(!has_no_number(&text), "words have numbers", || text.clone());
        }
    }

    /// Whether a margin stands for that no action was examined that meets every constraint.
    fn none_was_feasible(&self, margin: f64) -> bool {
        self.case.has_requirements() && margin == f64::NEG_INFINITY
    }

    fn proved(&mut self) -> Option<Proof> {
        let proof = prove(self.problem, self.individual, self.settings.evaluations);
        self.value("a proof is made", proof)
    }

    /// What a proof says is verified by the checker, once it is written and read.
    fn checked(&mut self, proof: &Proof) {
        let saved = proof.saved(self.problem, self.individual);
        let Some(read) = self.value("a proof is read", SavedProof::from_json(&saved.to_json())) else {
            return;
        };
        self.demand(read == saved, "a proof is read as written", || saved.to_json());
        match verify(self.problem, &read) {
            Ok(Verification::Verified(_)) => {}
            Ok(Verification::Unverified(fault)) => {
                self.note("the checker verifies", format!("{}: {fault}", proof.outcome.status()));
            }
            Ok(other) => self.note("the checker agrees", format!("{}: {other:?}", proof.outcome.status())),
            Err(error) => self.note("the checker reads", error.to_string()),
        }
    }

    /// Two answers to one question.
    fn agree(&mut self, property: &'static str, one: &Outcome, other: &Outcome) {
        for (one, other) in [(one, other), (other, one)] {
            self.not_cheaper(property, one, other);
        }
    }

    /// No action of `other` is cheaper than `one` says is possible.
    fn not_cheaper(&mut self, property: &'static str, one: &Outcome, other: &Outcome) {
        if let Outcome::Found(found) = other {
            let is_possible = one.cost_bound() <= found.cost * (1.0 + 1e-9);
            self.demand(is_possible, property, || format!("{one:?} and {other:?}"));
        }
    }

    /// The reason that is given for not deciding is true.
    fn reason(&mut self, outcome: &Outcome) {
        let Outcome::Undecided(undecided) = outcome else { return };
        let action = &undecided.best;
        if !action.features.is_empty() && !self.none_was_feasible(undecided.margin) {
            let obstacle = obstacle(self.case, self.problem, self.individual, action, -1e-9);
            self.demand(obstacle.is_none(), "the best action is feasible", || {
                format!("{action:?}: {obstacle:?}")
            });
        }
        if undecided.reason == UndecidedReason::Rounding {
            let is_small = undecided.margin.abs() <= undecided.required.max(1e-6);
            self.demand(is_small, "undecided by rounding", || format!("{undecided:?}"));
        }
        if undecided.reason == UndecidedReason::Budget {
            let spent = self.proved().map_or(0, |proof| proof.evaluations);
            let is_spent = spent >= self.settings.evaluations;
            self.demand(is_spent, "the budget was spent", || format!("{spent} evaluations: {undecided:?}"));
        }
    }
}

/// The same answers on one thread and on two.
fn threads(problem: &Problem, people: &People, settings: Settings) -> Vec<Contradiction> {
    use rayon::prelude::*;
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let individuals: Vec<&[f64]> = people.iter().collect();
        pool.install(|| {
            let answers = individuals.par_iter().map(|x| answer(problem, x, settings.evaluations));
            answers.collect::<surefoot::Result<Vec<Outcome>>>()
        })
    };
    let (one, two) = (with(1), with(2));
    if one == two {
        return Vec::new();
    }
    vec![Contradiction { property: "the same on two threads", detail: format!("{one:?} and {two:?}") }]
}
