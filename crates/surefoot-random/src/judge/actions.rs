//! What is said of actions that come from elsewhere.

use ndarray::ArrayView2;
use surefoot::margin::margin;
use surefoot::{Action, Break, Budget, Outcome, People, Verdict, certify, infeasibility, refute};

use super::Judge;
use crate::candidates;
use crate::definition::{ball, size};

/// The share of random perturbations that break an action from which on an attack must find one.
const MANY: f64 = 0.1;

impl Judge<'_> {
    /// The break within the uncertainty that attacks find, if they do.
    pub(super) fn attacked(&mut self, action: &Action) -> Option<Break> {
        let row = ArrayView2::from_shape((1, self.individual.len()), self.individual).unwrap();
        let person = People::from_standardised(self.problem.features(), row);
        let person = self.value("the person is one", person)?;
        let budget = Budget { evaluations: self.settings.evaluations };
        let breaks = refute(self.problem, &person, std::slice::from_ref(action), budget);
        let found = self.value("attack answers", breaks)?.pop()??;
        let (length, epsilon) = (size(self.case, &found.perturbation), self.case.epsilon);
        let evaluated = margin(self.problem, self.individual, action, &found.perturbation);
        let is_true = found.margin < 0.0
            && evaluated == Ok(found.margin)
            && (length - found.size).abs() <= 1e-12 * length;
        self.demand(is_true, "a break is one", || format!("{action:?} {found:?} {evaluated:?} {length}"));
        Some(found).filter(|found| found.size <= epsilon)
    }

    /// What prover and attacks say of random actions, and of some that nearly hold.
    pub(super) fn verdicts(&mut self, outcome: &Outcome) {
        let Self { case, problem, individual, random, .. } = self;
        let mut actions = candidates::draw(random, case, problem, individual, f64::INFINITY, None, 4);
        if let Outcome::Found(found) = outcome {
            for share in [0.9, 0.999, 1.01] {
                let change = found.action.change.iter().map(|change| share * change).collect();
                actions.push(Action { features: found.action.features.clone(), change });
            }
            actions.extend(self.at_the_boundary(&found.action));
        }
        for action in actions {
            self.verdict(&action);
        }
    }

    /// The share of an action that, without any perturbation, only just reaches the decision boundary.
    fn at_the_boundary(&self, action: &Action) -> Option<Action> {
        let unperturbed = vec![0.0; self.individual.len()];
        let scaled = |share: f64| {
            let change = action.change.iter().map(|change| share * change).collect();
            Action { features: action.features.clone(), change }
        };
        let is_enough = |share: f64| {
            let margin = margin(self.problem, self.individual, &scaled(share), &unperturbed);
            matches!(margin, Ok(margin) if margin >= 0.0)
        };
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            *if is_enough(middle) { &mut high } else { &mut low } = middle;
        }
        is_enough(high).then(|| scaled(high))
    }

    fn verdict(&mut self, action: &Action) {
        let budget = Budget { evaluations: self.settings.evaluations };
        let answered = certify(self.problem, self.individual, action, budget);
        let Some(certificate) = self.value("certify answers", answered) else { return };
        let (verdict, case) = (certificate.verdict, self.case);
        let broken = self.attacked(action);
        let (sampled, perturbation) = self.sampled(action);
        let detail =
            || format!("{action:?}: {verdict:?}, attack {broken:?}, sampled {sampled} with {perturbation:?}");
        match &verdict {
            Verdict::Holds { margin } => {
                self.demand(broken.is_none(), "no attack breaks what certify proves", detail);
                self.demand(*margin >= 0.0, "certify proves a margin", detail);
                let is_left = sampled >= 0.0 && sampled >= margin - 1e-9;
                self.demand(is_left, "no sample breaks what certify proves", detail);
            }
            Verdict::Breaks { perturbation, margin: least, .. } => {
                let evaluated = margin(self.problem, self.individual, action, perturbation);
                let is_true = *least < 0.0
                    && evaluated == Ok(*least)
                    && size(case, perturbation) <= case.epsilon * (1.0 + 1e-15);
                self.demand(is_true, "what certify breaks is broken", detail);
                self.demand(broken.is_some(), "attack breaks what certify breaks", detail);
            }
            Verdict::Undecided { lower, upper } => {
                self.demand(sampled >= lower - 1e-9, "the margin is within certify's bounds", detail);
                self.demand(!upper.is_nan() && lower <= upper, "certify's bounds are in order", detail);
            }
        }
        let mut broken_samples = 0;
        let tried = ball(&mut self.random, case, case.epsilon, 200);
        for perturbation in &tried {
            let margin = margin(self.problem, self.individual, action, perturbation);
            broken_samples += usize::from(matches!(margin, Ok(margin) if margin < 0.0));
        }
        let is_obvious = broken_samples as f64 >= MANY * tried.len() as f64;
        self.demand(!is_obvious || broken.is_some(), "attack finds breaks that fill the ball", || {
            format!("{broken_samples} of {} samples break {action:?}", tried.len())
        });
        // Candidates are feasible with room to spare; others may or may not be.
        let obstacle = crate::definition::obstacle(case, self.problem, self.individual, action, 1e-7);
        if let (None, Ok(Some(why))) = (&obstacle, infeasibility(self.problem, self.individual, action)) {
            self.note("what is feasible is called so", format!("{action:?}: {why}"));
        }
        let obstacle = crate::definition::obstacle(case, self.problem, self.individual, action, -1e-6);
        if let (Some(why), Ok(None)) = (obstacle, infeasibility(self.problem, self.individual, action)) {
            self.note("what is infeasible is called so", format!("{action:?}: {why}"));
        }
    }
}
