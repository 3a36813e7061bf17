//! No action that is cheaper than a proven bound holds.

use surefoot::margin::margin;
use surefoot::{Action, Budget, Verdict, certify};

use super::Judge;
use crate::candidates;
use crate::definition::worst;

/// The margin from which on an action that survives sampling is worth a closer look.
const CLEAR: f64 = 1e-6;

impl Judge<'_> {
    /// Tries to find an action that costs less than `bound` and holds.
    pub(super) fn cheaper(&mut self, bound: f64, near: &Action) {
        let most = bound * (1.0 - 1e-9);
        if most == 0.0 {
            return;
        }
        let Self { case, problem, individual, settings, random, .. } = self;
        let near = Some(near).filter(|near| !near.features.is_empty());
        let actions = candidates::draw(random, case, problem, individual, most, near, settings.candidates);
        let mut known: Vec<Vec<f64>> = vec![vec![0.0; individual.len()]];
        let mut survivors = Vec::new();
        for action in actions {
            let breaks = |d: &Vec<f64>| matches!(margin(problem, individual, &action, d), Ok(margin) if margin < CLEAR);
            if let Some(place) = known.iter().position(breaks) {
                known.swap(0, place);
                continue;
            }
            let (least, perturbation) = worst(random, case, problem, individual, &action, 20);
            if least < CLEAR {
                known.insert(0, perturbation);
            } else if least.is_finite() {
                survivors.push(action);
            }
        }
        survivors.truncate(3);
        for action in survivors {
            self.survivor(bound, &action);
        }
    }

    /// An action that survives some sampling, and should not.
    fn survivor(&mut self, bound: f64, action: &Action) {
        let verdict = certify(self.problem, self.individual, action, Budget::default());
        match verdict.map(|certificate| certificate.verdict) {
            Ok(Verdict::Breaks { .. }) | Err(_) => {}
            Ok(Verdict::Holds { margin }) => {
                self.note(
                    "nothing cheaper holds",
                    format!("{action:?} with {margin}, below the bound of {bound}"),
                );
            }
            Ok(Verdict::Undecided { .. }) => {
                let Self { case, problem, individual, random, .. } = self;
                let (least, _) = worst(random, case, problem, individual, action, 20_000);
                self.demand(least < CLEAR, "nothing cheaper survives", || {
                    format!("{action:?} with {least} by sampling, below the bound of {bound}")
                });
            }
        }
    }
}
