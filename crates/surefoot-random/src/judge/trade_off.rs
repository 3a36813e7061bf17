//! More uncertainty never makes it easier, and what stands in the way stands there.

use surefoot::recourse::{Explainer, Reach, Relaxed, TradeOff, trade_off};
use surefoot::{Outcome, describe_explanation, infeasibility};

use super::{Judge, answer, effort};
use crate::definition::obstacle;
use crate::words::has_no_number;

impl Judge<'_> {
    pub(super) fn trade_off(&mut self, outcome: &Outcome) {
        let epsilon = self.case.epsilon;
        let epsilons = match epsilon > 0.0 {
            true => vec![0.0, 0.5 * epsilon, epsilon, 2.0 * epsilon],
            false => vec![0.0, 1e-3, 0.1],
        };
        let effort = effort(self.settings.evaluations);
        let answered = trade_off(self.problem, self.individual, Some(&epsilons), effort, |_| {});
        let Some(curve) = self.value("trade-off answers", answered) else { return };
        let TradeOff { epsilons, answers, reach, .. } = &curve;
        let same = epsilons.iter().position(|&other| other == epsilon).unwrap();
        self.agree("recourse and trade-off", outcome, &answers[same]);
        for (larger, more) in answers.iter().enumerate() {
            for less in &answers[..larger] {
                self.not_cheaper("trade-off is monotone", less, more);
                let is_known = !matches!((more, less), (Outcome::Found(_), Outcome::Undecided(_)))
                    && !matches!((less, more), (Outcome::Impossible(_), Outcome::Undecided(_)));
                self.demand(is_known, "what is known of one size is known of others", || {
                    format!("{curve:?}")
                });
            }
            if let Outcome::Found(found) = more {
                let problem = self.problem.clone().with_epsilon(epsilons[larger]);
                let problem = problem.unwrap();
                let case = self.case.with_epsilon(epsilons[larger]);
                let mut judge = Judge::new(&case, &problem, self.individual, self.settings);
                judge.can_be_taken("actions of a trade-off are feasible", &found.action);
                let (sampled, perturbation) = judge.sampled(&found.action);
                judge.demand(sampled >= 0.0, "actions of a trade-off hold", || {
                    format!("{found:?} at {}: {sampled} with {perturbation:?}", case.epsilon)
                });
                self.contradictions.extend(judge.contradictions);
            }
        }
        self.reach(*reach, |epsilon| {
            let place = epsilons.iter().position(|&other| other == epsilon);
            place.map(|place| answers[place].clone())
        });
    }

    /// The largest size for which there is an action is in order, and answers at both ends agree.
    fn reach(&mut self, reach: Reach, known: impl Fn(f64) -> Option<Outcome>) {
        let Reach { possible, impossible } = reach;
        let in_order = possible.zip(impossible).is_none_or(|(possible, impossible)| possible < impossible);
        self.demand(in_order, "reach is in order", || format!("{reach:?}"));
        for (epsilon, is_possible) in [(possible, true), (impossible, false)] {
            let Some(epsilon) = epsilon else { continue };
            let solved = || {
                answer(
                    &self.problem.clone().with_epsilon(epsilon)?,
                    self.individual,
                    self.settings.evaluations,
                )
            };
            let solved = known(epsilon).map_or_else(solved, Ok);
            let Some(outcome) = self.value("recourse answers", solved) else { continue };
            let is_refuted = match &outcome {
                Outcome::Found(_) => !is_possible,
                Outcome::Impossible(_) => is_possible,
                _ => false,
            };
            self.demand(!is_refuted, "reach and recourse", || format!("{reach:?}, at {epsilon} {outcome:?}"));
        }
    }

    /// What is said to stand in the way of somebody without an action.
    pub(super) fn explained(&mut self, outcome: &Outcome) {
        let relaxed = Relaxed::all(self.problem);
        let explanation = Explainer::new(self.problem, &relaxed, effort(self.settings.evaluations))
            .and_then(|explainer| explainer.explain(self.individual, outcome));
        let Some(Some(explanation)) = self.value("an explanation is given", explanation) else { return };
        let text = describe_explanation(self.problem, &explanation);
        self.demand(!has_no_number(&text), "words have numbers", || text.clone());
        self.reach(explanation.reach, |_| None);
        for (relaxation, found) in &explanation.enough {
            let (sampled, _) = self.sampled(&found.action);
            self.demand(sampled >= 0.0, "what would be enough holds", || {
                format!("{relaxation:?} {found:?}: {sampled}")
            });
            let is_allowed =
                obstacle(self.case, self.problem, self.individual, &found.action, 1e-9).is_none();
            self.demand(!is_allowed, "what would be enough is not allowed", || {
                format!("{relaxation:?} {found:?}")
            });
            let is_called_so = infeasibility(self.problem, self.individual, &found.action) == Ok(None);
            self.demand(!is_called_so, "what would be enough is called infeasible", || {
                format!("{relaxation:?} {found:?}")
            });
        }
    }
}
