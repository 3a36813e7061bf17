//! Proof of the incumbent.

use super::boxes::cost_of;
use super::solve::{Incumbent, Set, Solver};
use crate::action::{feasible_change, rounded_for_display};
use crate::certify::{LEAST_MARGIN, ProofAttempt};
use crate::graph::Order;
use crate::margin::outcome;
use crate::proof::{Certificate, Proof, Scenario, Verdict};
use crate::{Action, Outcome, Recourse, Result};

/// The shares by which the incumbent's changes may be enlarged before it is proved, in ascending order.
pub(super) const PUSHES: [f64; 16] =
    [0.0005, 0.0015, 0.0035, 0.007, 0.012, 0.02, 0.03, 0.045, 0.065, 0.09, 0.12, 0.18, 0.27, 0.4, 0.7, 1.5];
/// A proof is abandoned if its predicted work exceeds the rest of the budget by more than this factor.
const PATIENCE: f64 = 3.0;
/// The number of evaluations that the first proof may cost.
const FIRST_EVALUATIONS: usize = 5_000;
/// The number of evaluations that the first proof by parabolas may cost, and the factor by which its
/// predicted work may exceed that before it is abandoned.
const PARABOLA_EVALUATIONS: usize = 20_000;
const PARABOLA_PATIENCE: f64 = 1.5;
/// After a failed proof by parabolas, an action is searched for that this many evaluations beyond the first
/// cell are predicted to prove.
const NEEDED_MARGIN_EVALUATIONS: usize = 5_000;
/// Incumbents whose costs differ by less than this share count as the same.
const SAME_COST_TOLERANCE: f64 = 1e-3;
/// The largest number of further proofs that are tried.
const ATTEMPTS: usize = 7;
/// A change with less than this share of the cost is dispensable if the action survives attacks without it,
/// although no other change is enlarged.
const DISPENSABLE_COST_SHARE: f64 = 0.003;

/// The result of [`Solver::prove`].
pub(super) struct Tried {
    pub proof: Option<Proof>,
    /// A scenario that breaks the action, if one was found.
    pub broken: Option<Scenario>,
    /// After a failed proof, the margin that is predicted to suffice, if it can be predicted.
    pub needed_margin: f64,
    pub evaluations: usize,
}

/// The result of an attempt to prove an action.
enum Attempt {
    Proven(Box<Proof>),
    Broken(Scenario),
    Open(Box<ProofAttempt>),
}

impl Solver<'_, '_> {
    /// Proves the incumbent, with changes enlarged as little as necessary or, for a proof by parabolas, as
    /// much as the gap allows. If there is no incumbent afterwards, it was broken and the search must go on.
    ///
    /// The margin that a proof needs is estimated from the last failed proof; the smallest enlargement
    /// with such a margin is tried next.
    pub(super) fn finish(&mut self) -> Result<Option<Proof>> {
        let searched = self.prover.evaluations();
        self.limit_proof();
        self.drop_dispensable_changes();
        let Some(Incumbent { set, change: incumbent, cost }) = self.incumbent.clone() else {
            return Ok(None);
        };
        // An action that is expensive to prove may be cheap to prove after a small enlargement.
        self.prover.set_limit(self.prover.evaluations() + self.prover.left().min(FIRST_EVALUATIONS));
        self.prover.set_patience(PATIENCE);
        self.prover.allow_parabolas(false);
        let first = self.attempt(set, &incumbent, PUSHES[0])?;
        self.prover.allow_parabolas(true);
        let open = match first {
            Attempt::Proven(proof) => return Ok(Some(self.with_reasons(*proof))),
            Attempt::Broken(scenario)
                if self.is_broken(set, &incumbent)
                    || self.is_broken_near(set, &incumbent, &scenario)
                    || (cost / self.last_rejected_cost - 1.0).abs() > SAME_COST_TOLERANCE =>
            {
                self.last_rejected_cost = cost;
                self.incumbent = None;
                self.queue.extend(self.open_points.drain(..));
                self.limit_search();
                return Ok(None);
            }
            // Only the enlarged action is broken; the search would find the same incumbent again.
            Attempt::Broken(_) => None,
            Attempt::Open(open) => Some(open),
        };
        self.limit_proof();
        let proven = match open {
            Some(open) if open.is_for_parabolas => {
                self.searched = Some(searched);
                self.prove_by_parabolas(set, &incumbent, cost)?
            }
            open => self.prove_enlarged(set, &incumbent, open)?,
        };
        Ok(proven.map(|proof| self.with_reasons(*proof)))
    }

    /// Proves the action with its changes enlarged as little as seems necessary after the failed proof `open`.
    fn prove_enlarged(
        &mut self,
        set: usize,
        incumbent: &[f64],
        mut open: Option<Box<ProofAttempt>>,
    ) -> Result<Option<Box<Proof>>> {
        let mut margins = [0.0; PUSHES.len()];
        for (margin, push) in margins.iter_mut().zip(PUSHES) {
            let change = self.outwards(set, incumbent, push);
            *margin = self.worst_of(set, &change);
        }
        let (mut failed, mut proven) = (0, None);
        let mut end = PUSHES.len();
        for _ in 0..ATTEMPTS {
            let left = self.prover.left();
            self.needed_margin = open.as_ref().map_or(0.0, |open| open.gap_after(left));
            let likely = (failed + 1..end).find(|&k| margins[k] >= 1.1 * self.needed_margin);
            // If none is likely to succeed, the one with the largest margin is tried.
            let most = || (failed + 1..end).max_by(|&a, &b| margins[a].total_cmp(&margins[b]));
            let next = if proven.is_none() { likely.or_else(most) } else { likely };
            let Some(k) = next.filter(|&k| margins[k] > 0.0 && left > 0) else { break };
            match self.attempt(set, incumbent, PUSHES[k])? {
                Attempt::Proven(proof) => (proven, end) = (Some(proof), k),
                Attempt::Broken(_) => margins[k] = f64::NEG_INFINITY,
                Attempt::Open(other) if likely.is_some() => (open, failed) = (Some(other), k),
                Attempt::Open(_) => break,
            }
        }
        Ok(proven)
    }

    /// Proves the action by parabolas with its changes enlarged as much as the gap allows, because a proof is
    /// the easier the larger the margin. If that fails, [`Solver::needed_margin`] is what the failed proof
    /// predicts for an action that can be proved.
    fn prove_by_parabolas(&mut self, set: usize, incumbent: &[f64], cost: f64) -> Result<Option<Box<Proof>>> {
        let most = self.bound().min(cost) / (1.0 - self.settings.gap);
        let mut push = PUSHES[0];
        for more in PUSHES {
            let change = self.outwards(set, incumbent, more);
            let change = self.simplified_and_rounded(set, &change);
            if cost_of(self.cost(), &self.sets[set].weights, &change) > most {
                break;
            }
            push = more;
        }
        self.prover.set_limit(self.prover.evaluations() + self.prover.left().min(PARABOLA_EVALUATIONS));
        self.prover.set_patience(PARABOLA_PATIENCE);
        match self.attempt(set, incumbent, push)? {
            Attempt::Proven(proof) => return Ok(Some(proof)),
            Attempt::Broken(_) => {}
            Attempt::Open(open) => self.needed_margin = open.gap_after(NEEDED_MARGIN_EVALUATIONS),
        }
        Ok(None)
    }

    /// Whether a recent scenario of the pool breaks an action.
    fn is_broken(&mut self, set: usize, change: &[f64]) -> bool {
        self.margins(set, change).first().is_some_and(|(margin, _)| *margin < 0.0)
    }

    /// Whether a search from a scenario finds one that breaks an action. It joins the pool.
    fn is_broken_near(&mut self, set: usize, change: &[f64], scenario: &Scenario) -> bool {
        let (worst, margin) = self.attack(set, change, Some(scenario));
        margin < 0.0 && self.add(set, change, worst).is_some()
    }

    /// The least margin found by searches from a few scenarios of the pool.
    fn worst_of(&mut self, set: usize, change: &[f64]) -> f64 {
        let starts: Vec<Scenario> =
            self.margins(set, change).into_iter().take(3).map(|(_, k)| self.pool[k].clone()).collect();
        let found = starts.iter().map(|start| self.attack(set, change, Some(start)).1);
        let least = found.fold(f64::INFINITY, f64::min);
        least.min(self.attack(set, change, None).1)
    }

    /// Tries to prove an action within the budget, enlarged by each of some shares until that succeeds. The search
    /// for a break starts at scenarios of `pool`.
    pub(super) fn prove(mut self, action: &Action, shares: &[f64], pool: Vec<Scenario>) -> Result<Tried> {
        let mut tried = Tried { proof: None, broken: None, needed_margin: 0.0, evaluations: 0 };
        let Some(set) = self.set_of(&action.features, &[]) else { return Ok(tried) };
        self.pool = pool;
        self.prover.set_patience(PARABOLA_PATIENCE);
        let limit = self.prover.evaluations() + self.prover.left();
        for (number, &share) in shares.iter().enumerate() {
            let done = self.prover.evaluations();
            self.prover.set_limit(done + limit.saturating_sub(done) / (shares.len() - number));
            match self.attempt(set, &action.change, share)? {
                Attempt::Proven(proof) => {
                    tried.proof = Some(*proof);
                    break;
                }
                Attempt::Broken(scenario) => tried.broken = Some(scenario),
                Attempt::Open(open) if open.parabolas.is_some() => {
                    tried.needed_margin = open.gap_after(NEEDED_MARGIN_EVALUATIONS)
                }
                Attempt::Open(_) => {}
            }
        }
        Ok(Tried { evaluations: self.prover.evaluations(), ..tried })
    }

    fn with_reasons(&mut self, mut proof: Proof) -> Proof {
        proof.ruled_out = std::mem::take(&mut self.ruled_out);
        (proof.evaluations, proof.proving) = (self.prover.evaluations(), self.proving);
        (proof.searched, proof.needed_margin) = (self.searched, self.needed_margin);
        proof
    }

    /// The action with its changes enlarged by a share of its cost, within limits and requirements.
    pub(super) fn outwards(&mut self, set: usize, incumbent: &[f64], push: f64) -> Vec<f64> {
        let moved = self.outwards_freely(set, incumbent, push);
        self.allowed(set, incumbent, moved)
    }

    /// Enlarges all changes or, if the worst case is better, only the change that raises the margin most
    /// for its cost.
    fn outwards_freely(&mut self, set: usize, incumbent: &[f64], push: f64) -> Vec<f64> {
        let features = self.settings.problem.features();
        let sides: Vec<(f64, f64)> = self.sets[set]
            .features
            .iter()
            .map(|&i| feasible_change(features, i, self.individual[i]))
            .collect();
        if let Some(within) = self.outwards_within(set, incumbent, push, &sides) {
            return within;
        }
        let moved = |(&c, &(l, u)): (&f64, &(f64, f64))| {
            let least = if c == 0.0 { 0.0 } else { 1e-4_f64.copysign(c) };
            (c * (1.0 + push) + least).clamp(l, u)
        };
        let all: Vec<f64> = incumbent.iter().zip(&sides).map(moved).collect();
        if all.len() < 2 {
            return all;
        }
        let (worst, value) = self.attack(set, &all, None);
        let graph = self.sets[set].in_scenario(&worst);
        let gradient = self.prover.jets.evaluate(&graph, incumbent, Order::Gradient).gradient;
        let Set { weights, integrality, .. } = &self.sets[set];
        let cost = cost_of(self.cost(), weights, incumbent);
        let slack =
            |k: usize| if gradient[k] > 0.0 { sides[k].1 - incumbent[k] } else { incumbent[k] - sides[k].0 };
        let enlarged = |k: usize| (push * cost + 1e-4) / weights[k];
        let changes_nothing = incumbent.iter().all(|&c| c == 0.0);
        // No further feature is changed by so little.
        let worth = |k: usize| match integrality.step(k) {
            step if enlarged(k) < step || (incumbent[k] == 0.0 && !changes_nothing) => -1.0,
            _ => gradient[k].abs() * enlarged(k).min(slack(k)),
        };
        let Some(k) = (0..all.len()).reduce(|a, b| if worth(b) > worth(a) { b } else { a }) else {
            return all;
        };
        if worth(k) < 0.0 {
            return all;
        }
        let mut one = incumbent.to_vec();
        one[k] += enlarged(k).min(slack(k)).copysign(gradient[k]);
        one[k] = one[k].clamp(sides[k].0, sides[k].1);
        if self.attack(set, &one, Some(&worst)).1 > value { one } else { all }
    }

    /// Rounds the action as it will be displayed and drops dispensable changes, so that the proven action
    /// is the displayed one. Returns the original if the result does not survive attacks.
    pub(super) fn simplified_and_rounded(&mut self, set: usize, change: &[f64]) -> Vec<f64> {
        let problem = self.settings.problem;
        let weights = &self.sets[set].weights;
        let total = cost_of(self.cost(), weights, change);
        let displayed = |k: usize| {
            let i = self.sets[set].features[k];
            let rounded = rounded_for_display(
                problem.features().feature(i),
                problem.action_kind(),
                self.individual[i],
                change[k],
            );
            let (l, u) = feasible_change(problem.features(), i, self.individual[i]);
            if rounded >= l && rounded <= u { rounded } else { change[k] }
        };
        let displayed: Vec<f64> = (0..change.len()).map(displayed).collect();
        let integrality = &self.sets[set].integrality;
        let worth = |k: &usize| {
            integrality.is_integer(*k) || weights[*k] * change[*k].abs() >= DISPENSABLE_COST_SHARE * total
        };
        let mut few = vec![0.0; change.len()];
        (0..change.len()).filter(worth).for_each(|k| few[k] = displayed[k]);
        if few != displayed && self.meets(set, &few) && self.attack(set, &few, None).1 > 0.0 {
            return few;
        }
        let is_good = self.meets(set, &displayed) && self.attack(set, &displayed, None).1 > 0.0;
        if is_good { displayed } else { change.to_vec() }
    }

    /// Tries to prove an action with its changes enlarged by a share.
    fn attempt(&mut self, set: usize, incumbent: &[f64], push: f64) -> Result<Attempt> {
        let problem = self.settings.problem;
        let required = problem.safety().max(LEAST_MARGIN);
        let plain = self.outwards(set, incumbent, push);
        let change = self.simplified_and_rounded(set, &plain);
        let action = self.action(set, &change);
        let starts = self.starting_points(set, &change);
        let mut attempts: Vec<(ProofAttempt, usize)> = Vec::with_capacity(problem.variants().len());
        for variant in 0..problem.variants().len() {
            let before = self.prover.evaluations();
            let composer = &self.sets[set].composers[variant];
            let proven = self.prover.prove(composer, &change, required, &starts, false);
            let evaluations = self.prover.evaluations() - before;
            self.proving += evaluations;
            let scenario = Scenario { variant, perturbation: proven.perturbation.clone() };
            if self.is_broken_in(&action, &scenario) {
                let plain = self.action(set, &plain);
                let both = self.is_broken_in(&plain, &scenario);
                self.add(set, &change, scenario.clone());
                return Ok(if both { Attempt::Broken(scenario) } else { Attempt::Open(Box::new(proven)) });
            }
            if proven.lower < required || proven.lower.is_nan() {
                return Ok(Attempt::Open(Box::new(proven)));
            }
            attempts.push((proven, evaluations));
        }
        let lower = attempts.iter().map(|(proven, _)| proven.lower).fold(f64::INFINITY, f64::min);
        let simple = self.simplified(&action);
        let counterfactual = outcome(problem, &self.individual, &simple)?;
        let cost = problem.cost().of(problem.features(), &simple);
        let cost_bound = self.bound().min(cost);
        // The stated margin is slightly below the proven one, to leave room for the rounding of a
        // checker, which grows with the margin.
        let stated = |lower: f64| (lower * (1.0 - 1e-9)).max(required);
        let margin = stated(lower);
        let recourse = Recourse { action: simple, counterfactual, cost, cost_bound, margin };
        if !recourse.is_finite(problem)
            && let Some((proven, _)) = attempts.pop()
        {
            return Ok(Attempt::Open(Box::new(proven)));
        }
        let certificate = |(proven, evaluations): (ProofAttempt, usize)| Certificate {
            action: action.clone(),
            verdict: Verdict::Holds { margin: stated(proven.lower) },
            basis: proven.coordinates.basis().to_vec(),
            worst: proven.coordinates.of_perturbation(&proven.perturbation),
            pieces: proven.pieces,
            further: Vec::new(),
            evaluations,
        };
        let certificate = Certificate::of_variants(attempts.into_iter().map(certificate).collect());
        Ok(Attempt::Proven(Box::new(Proof {
            outcome: Outcome::Found(recourse),
            certificate: Some(certificate),
            ruled_out: Vec::new(),
            dividing: None,
            cases: Vec::new(),
            evaluations: 0,
            proving: 0,
            searched: None,
            needed_margin: 0.0,
        })))
    }

    /// The same action without the features that it does not change and that no other change affects. In
    /// contrast to [`essential`](crate::essential()) it keeps features that are downstream of a change only by
    /// way of held ones, and all features of absolute actions.
    pub(super) fn simplified(&self, action: &Action) -> Action {
        let problem = self.settings.problem;
        if problem.action_kind() == crate::ActionKind::Absolute {
            return action.clone();
        }
        let moved: Vec<usize> =
            action.features.iter().zip(&action.change).filter(|(_, c)| **c != 0.0).map(|(&i, _)| i).collect();
        let causal_models = problem.causal_models();
        let held = |i: usize| causal_models.iter().any(|scm| moved.iter().any(|&m| scm.is_downstream(i, m)));
        let kept = action.features.iter().zip(&action.change).filter(|(i, c)| **c != 0.0 || held(**i));
        let (features, change) = kept.map(|(&i, &c)| (i, c)).unzip();
        Action { features, change }
    }
}
