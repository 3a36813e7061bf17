//! The search over cases for one individual.

use std::rc::Rc;
use std::time::Instant;

use super::Cases;
use crate::cancel;
use crate::outcome::{Shortfall, Undecided, UndecidedReason};
use crate::proof::{self, Certificate, Proof, Verdict};
use crate::recourse::Settings;
use crate::{Action, Budget, Outcome, Result, certify};

/// The share of the budget, and of the seconds, that the answer of one case may cost: that of the rest divided by this.
const REST_DIVISOR: usize = 3;
/// The number of evaluations that every case counts at least, so that closed forms end too: 20,000 cases with the default
/// budget.
const LEAST_EVALUATIONS: usize = 3;
/// The gap of methods whose answers are the cheapest ones up to rounding.
const CLOSED_FORM_GAP: f64 = 1e-9;

/// The answer of the method to one case.
struct Answer {
    /// The features that are fixed.
    fixed: Vec<usize>,
    proof: Proof,
    /// A lower bound of the cost of the actions of the case; of a method that proves none, the cost of its action.
    bound: f64,
}

/// A case: some features are fixed.
struct Case {
    /// The things that may be changed, in ascending order.
    free: Vec<usize>,
    /// Those of them with which every other one may be changed.
    kept: Vec<usize>,
    answer: Rc<Answer>,
    /// The answer with the highest bound: of this case or of one that contains it.
    best_bound: Rc<Answer>,
}

/// The state of a search.
pub(super) struct Search<'s> {
    cases: &'s Cases<'s>,
    individual: &'s [f64],
    start: Instant,
    pub evaluations: usize,
    pub proving: usize,
    /// The cases that may have to be divided.
    open: Vec<Case>,
    /// The cases that need not or cannot be divided.
    closed: Vec<Case>,
    /// The case of the cheapest allowed action.
    incumbent: Option<(f64, Rc<Answer>)>,
}

impl<'s> Search<'s> {
    /// The search for one individual, when it has ended.
    pub fn run(cases: &'s Cases<'s>, individual: &'s [f64]) -> Result<Self> {
        let mut search = Search {
            cases,
            individual,
            start: Instant::now(),
            evaluations: 0,
            proving: 0,
            open: Vec::new(),
            closed: Vec::new(),
            incumbent: None,
        };
        let answer = Rc::new(search.answer(&[])?);
        let best_bound = Rc::clone(&answer);
        search.open.push(Case { free: cases.things(), kept: Vec::new(), answer, best_bound });
        search.divide_all()?;
        Ok(search)
    }

    /// Divides cases until none is left that may contain a much cheaper action, or the budget is spent.
    fn divide_all(&mut self) -> Result<()> {
        let gap = if self.cases.is_closed_form { CLOSED_FORM_GAP } else { self.cases.settings.gap };
        loop {
            let bound = |case: &Case| case.best_bound.bound;
            // Of equal bounds the last, which has more things kept.
            let next = (0..self.open.len())
                .rev()
                .min_by(|&a, &b| bound(&self.open[a]).total_cmp(&bound(&self.open[b])));
            let Some(next) = next else { return Ok(()) };
            let best = self.incumbent.as_ref().map_or(f64::INFINITY, |(cost, _)| *cost);
            if best.is_finite() && bound(&self.open[next]) >= (1.0 - gap) * best {
                return Ok(());
            }
            let case = &self.open[next];
            let things = self.things_of(&case.answer);
            let is_allowed = things.as_ref().is_some_and(|things| self.cases.allows(things));
            let is_final = match &case.answer.proof.outcome {
                Outcome::AlreadyFavourable | Outcome::Impossible(_) => true,
                Outcome::Found(_) | Outcome::Unproved(_) => is_allowed,
                Outcome::Undecided(_) => self.cases.allows(&case.free),
            };
            if !is_final && self.is_spent() {
                return Ok(());
            }
            let case = self.open.swap_remove(next);
            if !is_final {
                self.divide(case, things)?;
                continue;
            }
            if let Some(advice) = case.answer.proof.outcome.advice()
                && advice.cost < best
            {
                self.incumbent = Some((advice.cost, Rc::clone(&case.answer)));
            }
            self.closed.push(case);
        }
    }

    /// The things that the action of an answer changes, if there is one.
    fn things_of(&self, answer: &Answer) -> Option<Vec<usize>> {
        let advice = answer.proof.outcome.advice()?;
        Some(self.cases.problem.changed_things(advice.action))
    }

    /// Divides a case by one of the things that its action changes, or by any if it has none.
    fn divide(&mut self, case: Case, things: Option<Vec<usize>>) -> Result<()> {
        let cases = self.cases;
        let Case { free, kept, answer, best_bound } = case;
        let candidates = things.as_ref().unwrap_or(&free);
        let effort = |thing: usize| match answer.proof.outcome.advice() {
            Some(advice) => cases.effort(advice.action, thing),
            None => 0.0,
        };
        let candidates = candidates.iter().copied().filter(|thing| !kept.contains(thing));
        // There is one: things that may all be kept may be changed together.
        let Some(chosen) = candidates.reduce(|a, b| if effort(b) > effort(a) { b } else { a }) else {
            self.closed.push(Case { free, kept, answer, best_bound });
            return Ok(());
        };
        let without: Vec<usize> = free.iter().copied().filter(|&thing| thing != chosen).collect();
        if !without.is_empty() {
            self.push(without, kept.clone(), &best_bound)?;
        }
        let mut kept = kept;
        kept.push(chosen);
        let fits = |&thing: &usize| {
            kept.contains(&thing) || cases.allows(&[&kept[..], std::slice::from_ref(&thing)].concat())
        };
        let fitting: Vec<usize> = free.iter().copied().filter(fits).collect();
        if fitting == free {
            self.open.push(Case { free, kept, answer, best_bound });
            return Ok(());
        }
        self.push(fitting, kept, &best_bound)
    }

    /// Answers a case that is contained in another one.
    fn push(&mut self, free: Vec<usize>, kept: Vec<usize>, parent: &Rc<Answer>) -> Result<()> {
        let answer = Rc::new(self.answer(&self.cases.others(&free))?);
        let is_better = answer.bound >= parent.bound;
        let best_bound = Rc::clone(if is_better { &answer } else { parent });
        self.open.push(Case { free, kept, answer, best_bound });
        Ok(())
    }

    /// Whether no further case may be answered.
    fn is_spent(&self) -> bool {
        let settings = &self.cases.settings;
        let elapsed = self.start.elapsed().as_secs_f64();
        self.evaluations >= settings.budget.evaluations
            || settings.seconds.is_some_and(|most| elapsed >= most)
            || cancel::is_cancelled()
    }

    /// The settings of a method that may spend a share of the remaining budget.
    fn share(&self) -> Settings {
        let settings = self.cases.settings;
        let left = settings.budget.evaluations.saturating_sub(self.evaluations);
        let seconds = settings.seconds.map(|seconds| {
            let left = (seconds - self.start.elapsed().as_secs_f64()).max(1e-3);
            left / REST_DIVISOR as f64
        });
        Settings { budget: Budget { evaluations: (left / REST_DIVISOR).max(1) }, seconds, ..settings }
    }

    /// The answer of the method if some features are fixed.
    fn answer(&mut self, fixed: &[usize]) -> Result<Answer> {
        let cases = self.cases;
        let problem = cases.relaxed.without(fixed);
        let method = cases.method.prepare(&problem, self.share())?;
        let proof = match cases.proves_later() {
            true => {
                let (outcome, evaluations) = method.solve(self.individual)?;
                Proof { evaluations, ..Proof::of(outcome, None, Vec::new()) }
            }
            false => method.prove(self.individual)?,
        };
        self.evaluations += proof.evaluations.max(LEAST_EVALUATIONS);
        self.proving += proof.proving;
        let bound = match &proof.outcome {
            Outcome::Unproved(candidate) => candidate.cost,
            // Cases without an action come last, since no bound says where one may be.
            Outcome::Undecided(_) if !cases.method.proves() => f64::MAX,
            outcome => outcome.cost_bound(),
        };
        Ok(Answer { fixed: fixed.to_vec(), proof, bound })
    }

    fn all(&self) -> impl Iterator<Item = &Case> {
        self.closed.iter().chain(&self.open)
    }

    /// The least bound of all cases.
    pub fn bound(&self) -> f64 {
        match self.cases.method.proves() {
            true => self.all().map(|case| case.best_bound.bound).fold(f64::INFINITY, f64::min),
            false => {
                let is_impossible = |case: &Case| matches!(case.answer.proof.outcome, Outcome::Impossible(_));
                if self.all().all(is_impossible) { f64::INFINITY } else { 0.0 }
            }
        }
    }

    /// The cases with their proofs, and the bound that all of them prove.
    pub fn proven_cases(&mut self) -> Result<(f64, Vec<proof::Case>)> {
        let mut answers: Vec<Rc<Answer>> = Vec::new();
        for case in self.closed.iter().chain(&self.open) {
            if !answers.iter().any(|answer| answer.fixed == case.best_bound.fixed) {
                answers.push(Rc::clone(&case.best_bound));
            }
        }
        // A case that another one contains, which was kept for its bound, is not needed.
        let contains = |one: &Rc<Answer>, other: &Rc<Answer>| {
            one.fixed.len() < other.fixed.len() && one.fixed.iter().all(|i| other.fixed.contains(i))
        };
        let all = answers.clone();
        answers.retain(|answer| !all.iter().any(|other| contains(other, answer)));
        let (mut bound, mut proven) = (f64::INFINITY, Vec::with_capacity(answers.len()));
        let evaluations = (self.cases.settings.budget.evaluations / answers.len().max(1)).max(1);
        for answer in answers {
            let later = match self.cases.proves_later() {
                true => Some(self.proof_of(&answer.fixed, Budget { evaluations })?),
                false => None,
            };
            let own = later.as_ref().map_or(answer.bound, |proof| proof.outcome.cost_bound());
            bound = bound.min(own);
            let proof = later.unwrap_or_else(|| answer.proof.clone());
            let Proof { ruled_out, dividing, .. } = proof;
            proven.push(proof::Case { fixed: answer.fixed.clone(), ruled_out, dividing });
        }
        // A bound of zero needs no proof.
        if bound <= 0.0 {
            proven.clear();
        }
        Ok((bound, proven))
    }

    /// The proof of the method if some features are fixed.
    fn proof_of(&mut self, fixed: &[usize], budget: Budget) -> Result<Proof> {
        let problem = self.cases.relaxed.without(fixed);
        let settings = Settings { budget, ..self.cases.settings };
        let proof = self.cases.method.prepare(&problem, settings)?.prove(self.individual)?;
        self.evaluations += proof.evaluations;
        self.proving += proof.proving;
        Ok(proof)
    }

    /// A certificate that the action found holds.
    pub fn certificate(&mut self) -> Result<Option<Certificate>> {
        let Some((_, answer)) = self.incumbent.clone() else { return Ok(None) };
        let Some(found) = answer.proof.outcome.recourse() else { return Ok(None) };
        let proof = self.proof_of(&answer.fixed, self.cases.settings.budget)?;
        let is_same = proof.outcome.recourse().is_some_and(|other| other.action == found.action);
        if let Some(certificate) = proof.certificate.filter(|_| is_same) {
            return Ok(Some(certificate));
        }
        let certificate =
            certify(self.cases.problem, self.individual, &found.action, self.cases.settings.budget)?;
        let is_proven = matches!(certificate.verdict, Verdict::Holds { margin } if margin >= found.margin);
        Ok(is_proven.then_some(certificate))
    }

    /// The outcome with a bound on the cost, and the certificate of the action found if the method gave one.
    pub fn outcome(&mut self, bound: f64) -> Result<(Outcome, Option<Certificate>)> {
        if let Some(case) = self.all().find(|case| case.answer.proof.outcome == Outcome::AlreadyFavourable) {
            return Ok((case.answer.proof.outcome.clone(), None));
        }
        if let Some((_, answer)) = &self.incumbent {
            let certificate = answer.proof.certificate.clone();
            return Ok((answer.proof.outcome.clone().with_cost_bound(bound), certificate));
        }
        if bound == f64::INFINITY {
            return Ok((Outcome::Impossible(self.shortfall()?), None));
        }
        let undecided = |case: &Case| match &case.answer.proof.outcome {
            Outcome::Undecided(undecided) => Some(undecided.clone()),
            _ => None,
        };
        let all: Vec<Undecided> = self.all().filter_map(undecided).collect();
        let reason = match all.first() {
            Some(first) if !self.is_spent() => first.reason,
            _ => UndecidedReason::Budget,
        };
        let is_allowed =
            |undecided: &Undecided| self.cases.allows(&self.cases.problem.changed_things(&undecided.best));
        let best = all.into_iter().filter(is_allowed).max_by(|a, b| a.margin.total_cmp(&b.margin));
        // To do nothing is allowed, if that meets every requirement.
        let problem = self.cases.problem;
        let is_met = problem.is_met(self.individual, self.individual);
        let nothing = Undecided {
            best: Action { features: Vec::new(), change: Vec::new() },
            margin: if is_met { problem.score(self.individual) } else { f64::NEG_INFINITY },
            required: problem.safety(),
            cost_bound: bound,
            reason,
        };
        let best = best.unwrap_or(nothing);
        Ok((Outcome::Undecided(Undecided { cost_bound: bound, reason, ..best }), None))
    }

    /// The best action that is allowed, where none holds.
    fn shortfall(&mut self) -> Result<Shortfall> {
        let shortfall = |case: &Case| match &case.answer.proof.outcome {
            Outcome::Impossible(shortfall) => Some(shortfall.clone()),
            _ => None,
        };
        let mut all: Vec<Shortfall> = self.all().filter_map(shortfall).collect();
        all.sort_by(|a, b| a.missing.total_cmp(&b.missing));
        let things = |shortfall: &Shortfall| self.cases.problem.changed_things(&shortfall.best);
        if let Some(best) = all.iter().find(|shortfall| self.cases.allows(&things(shortfall))) {
            return Ok(best.clone());
        }
        // No best action of a case is allowed: those with the things to which the first gives most effort are.
        let nothing =
            Shortfall { best: Action { features: Vec::new(), change: Vec::new() }, missing: f64::INFINITY };
        let Some(first) = all.first() else { return Ok(nothing) };
        let mut wanted = things(first);
        let effort = |thing: usize| self.cases.effort(&first.best, thing);
        wanted.sort_by(|&a, &b| effort(b).total_cmp(&effort(a)).then(a.cmp(&b)));
        let mut kept: Vec<usize> = Vec::new();
        for thing in wanted {
            kept.push(thing);
            if !self.cases.allows(&kept) {
                kept.pop();
            }
        }
        kept.sort_unstable();
        // It needs a budget of its own: that of the search may be spent.
        let spent = std::mem::take(&mut self.evaluations);
        let answer = self.answer(&self.cases.others(&kept));
        self.evaluations += spent;
        let answer = answer?;
        Ok(match answer.proof.outcome {
            Outcome::Impossible(shortfall) => shortfall,
            Outcome::Undecided(undecided) => Shortfall { best: undecided.best, missing: -undecided.margin },
            _ => nothing,
        })
    }
}
