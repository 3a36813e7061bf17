//! Answers without proof: what the local searches find and thorough attacks do not break.

use super::boxes::cost_of;
use super::finish::PUSHES;
use super::solve::{Incumbent, NearMiss, Solver, Unproven};
use crate::margin::outcome;
use crate::outcome::{Candidate, Undecided, UndecidedReason};
use crate::proof::Scenario;
use crate::{Action, Outcome, Result};

/// Random starts for each intervention set, and how many there may be while nothing is found.
const STARTS: usize = 2;
const MORE_STARTS: usize = 12;
/// The number of blocks of starts for each intervention set, where starts are searched in blocks, and how many there
/// may be while nothing is found.
const BLOCKS: u64 = 2;
const MORE_BLOCKS: u64 = 3;
/// The method gives up an action that attacks still break after this many enlargements. It enlarges further an
/// action that attacks do not break, but whose margin is smaller than the problem requires.
const SMALL_PUSHES: usize = 3;
/// The largest number of candidates that attacks may break.
const REJECTIONS: usize = 8;

impl Solver<'_, '_> {
    /// The cheapest action that local searches find and thorough attacks do not break, and the number of
    /// evaluations.
    pub fn candidate(mut self) -> Result<(Outcome, usize)> {
        if self.settings.problem.finite_score(&self.individual)? >= 0.0 {
            return Ok((Outcome::AlreadyFavourable, 0));
        }
        if let Some((set, change)) = self.find_candidate()? {
            let action = self.simplified(&self.action(set, &change));
            let problem = self.settings.problem;
            let counterfactual = outcome(problem, &self.individual, &action)?;
            let cost = problem.cost().of(problem.features(), &action);
            let candidate = Candidate { action, counterfactual, cost };
            return Ok((Outcome::Unproved(candidate), self.prover.evaluations()));
        }
        let (best, margin) = match self.best.take() {
            Some(NearMiss { set, change, margin }) => (self.action(set, &change), margin),
            None => (Action { features: Vec::new(), change: Vec::new() }, f64::NEG_INFINITY),
        };
        let required = self.settings.problem.safety();
        let reason = UndecidedReason::Method;
        let outcome = Outcome::Undecided(Undecided { best, margin, required, cost_bound: 0.0, reason });
        Ok((outcome, self.prover.evaluations()))
    }

    /// The same action as an incumbent, the scenarios that were tried on it, and the number of evaluations.
    pub fn unproven_candidate(mut self) -> Result<(Option<Unproven>, Vec<Scenario>, usize)> {
        let found = self.find_candidate()?.map(|(set, change)| {
            let cost = cost_of(self.cost(), &self.sets[set].weights, &change);
            Unproven { action: self.action(set, &change), cost }
        });
        Ok((found, self.pool, self.prover.evaluations()))
    }

    /// The intervention set and the change of the cheapest action found that withstands thorough attacks.
    fn find_candidate(&mut self) -> Result<Option<(usize, Vec<f64>)>> {
        match self.can_search_from_many_starts() {
            true => self.search_in_blocks()?,
            false => self.search_one_by_one(),
        }
        self.drop_dispensable_changes();
        for _ in 0..REJECTIONS {
            let Some(Incumbent { set, change, .. }) = self.incumbent.clone() else { break };
            if let Some(change) = self.withstanding(set, &change) {
                return Ok(Some((set, change)));
            }
            self.incumbent = None;
            self.search_again(set, change);
        }
        Ok(None)
    }

    /// Searches from blocks of starts, some more while nothing is found. If attacks break all that is found, a
    /// search in double precision goes on from there.
    fn search_in_blocks(&mut self) -> Result<()> {
        let sets = self.searched_sets.clone();
        let mut rejected = None;
        for number in 0..MORE_BLOCKS {
            for &set in &sets {
                if self.prover.is_spent() {
                    return Ok(());
                }
                let change = self.search_from_many_starts(set, number)?;
                rejected = change.map(|change| (set, change)).or(rejected);
            }
            if self.incumbent.is_some() && number + 1 >= BLOCKS {
                break;
            }
        }
        if let (None, Some((set, change))) = (&self.incumbent, rejected) {
            self.search_again(set, change);
        }
        Ok(())
    }

    fn search_one_by_one(&mut self) {
        loop {
            let most = if self.incumbent.is_some() { STARTS } else { MORE_STARTS };
            if self.prover.is_spent() || self.starts() > most {
                break;
            }
            self.search_locally();
        }
    }

    /// An action with its changes enlarged a little and rounded as it will be displayed, if thorough
    /// attacks do not break it. What breaks it joins the pool.
    fn withstanding(&mut self, set: usize, incumbent: &[f64]) -> Option<Vec<f64>> {
        let mut is_given_up = false;
        // At last the action as it is: near a kink, any enlargement may do harm.
        for (number, push) in PUSHES.into_iter().map(Some).chain([None]).enumerate() {
            if is_given_up && push.is_some() {
                continue;
            }
            let enlarged = match push {
                Some(push) => self.outwards(set, incumbent, push),
                None => incumbent.to_vec(),
            };
            let change = self.simplified_and_rounded(set, &enlarged);
            if !self.meets(set, &change) {
                continue;
            }
            let (scenario, margin) = self.attack_thoroughly(set, &change);
            if margin > self.settings.problem.safety() {
                return Some(change);
            }
            let is_broken = self.add(set, &change, scenario).is_some();
            is_given_up |= is_broken && number + 1 >= SMALL_PUSHES;
        }
        None
    }
}
