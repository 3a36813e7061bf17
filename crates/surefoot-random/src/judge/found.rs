//! Checks of an action that was found: it is feasible, costs what is stated, holds, and so does the action in words.

use surefoot::margin::counterfactual;
use surefoot::outcome::Recourse;
use surefoot::{Action, Budget, Outcome, Verdict, certify, describe, describe_action, infeasibility};

use super::Judge;
use crate::definition::{cost, obstacle};
use crate::words;

/// By how much a limit or a constraint may be exceeded, relative to the numbers involved: rounding.
const ROUNDING: f64 = 1e-14;

impl Judge<'_> {
    pub(super) fn found(&mut self, found: &Recourse) {
        let action = &found.action;
        let is_sorted = action.features.windows(2).all(|pair| pair[0] < pair[1]);
        self.demand(is_sorted, "features in order", || format!("{action:?}"));
        let cost = cost(self.case, action);
        let is_its_cost = (cost - found.cost).abs() <= 1e-12 * cost;
        self.demand(is_its_cost, "the cost is that of the action", || format!("{cost} and {}", found.cost));
        let is_bounded = found.cost_bound >= 0.0 && found.cost_bound <= found.cost;
        self.demand(is_bounded, "the bound is a bound", || format!("{found:?}"));
        let unperturbed = vec![0.0; self.individual.len()];
        let reached = counterfactual(self.problem, self.individual, action, &unperturbed);
        if let Some(reached) = self.value("the counterfactual exists", reached) {
            let are_same = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-12 * a.abs().max(1.0);
            let is_reached = reached.iter().zip(&found.counterfactual).all(are_same);
            self.demand(is_reached, "the counterfactual is that of the action", || {
                format!("{reached:?} {found:?}")
            });
        }
        self.can_be_taken("the action found is feasible", action);
        self.holds("the action found", action, found.margin);
        self.words(found);
    }

    pub(super) fn can_be_taken(&mut self, property: &'static str, action: &Action) {
        if let Some(obstacle) = obstacle(self.case, self.problem, self.individual, action, -ROUNDING) {
            self.note(property, format!("{action:?}: {obstacle}"));
        }
        match infeasibility(self.problem, self.individual, action) {
            Ok(None) => {}
            Ok(Some(why)) => self.note(property, format!("by `infeasible`, {action:?}: {why}")),
            Err(error) => self.note(property, error.to_string()),
        }
    }

    /// Neither sampling nor attacks nor the prover break an action that is left with a margin.
    pub(super) fn holds(&mut self, what: &str, action: &Action, margin: f64) {
        self.demand(margin >= 0.0, "the margin is not negative", || format!("{what}: {margin}"));
        let (sampled, perturbation) = self.sampled(action);
        self.demand(sampled >= 0.0 && sampled >= margin - 1e-9, "no sample breaks what holds", || {
            format!("{what}, {action:?}: {margin} is stated, {sampled} is left with {perturbation:?}")
        });
        let verdict = certify(self.problem, self.individual, action, Budget::default());
        match self.value("certify answers", verdict).map(|certificate| certificate.verdict) {
            Some(Verdict::Holds { .. }) | None => {}
            Some(Verdict::Breaks { perturbation, margin, .. }) => {
                self.note(
                    "certify never breaks what holds",
                    format!("{what}, {action:?}: {margin} {perturbation:?}"),
                );
            }
            Some(undecided) => {
                self.note(
                    "certify proves what holds",
                    format!("{what}, {action:?}: {margin} and {undecided:?}"),
                );
            }
        }
        if let Some(found) = self.attacked(action) {
            self.note("no attack breaks what holds", format!("{what}, {action:?}: {found:?}"));
        }
    }

    /// The words tell an action that is feasible and holds, and the share that is proven.
    fn words(&mut self, found: &Recourse) {
        let outcome = Outcome::Found(found.clone());
        let (Ok(text), Ok(sentence)) = (
            describe(self.problem, self.individual, &outcome),
            describe_action(self.problem, self.individual, &found.action),
        ) else {
            return;
        };
        self.demand(text.starts_with(&sentence), "words start with the action", || {
            format!("{sentence} / {text}")
        });
        match words::proven_share(&text) {
            // Without a bound nothing is said of cheaper actions.
            None if found.cost_bound <= 0.0
                && text.ends_with("whether a cheaper allowed action would do is not known.") => {}
            Some(share) => {
                let is_true = found.cost * (1.0 - share / 100.0) <= found.cost_bound * (1.0 + 2e-5);
                self.demand(is_true, "the share in words is proven", || format!("{text} {found:?}"));
            }
            None => self.note("the share in words is there", text.clone()),
        }
        let told = match words::action(self.case, self.individual, &sentence) {
            Ok(told) => told,
            Err(why) => return self.note("words can be read back", format!("{sentence}: {why}")),
        };
        self.can_be_taken("what words tell is feasible", &told);
        let (sampled, perturbation) = self.sampled(&told);
        self.demand(sampled >= 0.0, "what words tell holds", || {
            format!("{sentence} {told:?} for {:?}: {sampled} with {perturbation:?}", found.action)
        });
        let verdict = certify(self.problem, self.individual, &told, Budget::default());
        if let Ok(Verdict::Breaks { perturbation, margin, .. }) =
            verdict.map(|certificate| certificate.verdict)
        {
            self.note(
                "what words tell holds",
                format!("{sentence} {told:?}: certify, {margin} with {perturbation:?}"),
            );
        }
    }
}
