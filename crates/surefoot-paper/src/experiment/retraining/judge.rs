//! Whether actions hold with a later version.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use surefoot::margin::{margin, no_perturbation};
use surefoot::{Action, Budget, Features, Norm, Problem, Verdict, certify};

use super::super::COMPARED;
use super::Change;
use super::guard::problem;
use super::version::Version;

/// How the later versions of one choice of rows judge actions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// The choice of rows.
    pub change: Change,
    /// The verdicts on each person's action; `None` where there is none.
    pub verdicts: Vec<Option<Verdicts>>,
}

/// The verdicts of all later versions on an action.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdicts {
    /// With the later model and the deployed causal model.
    pub model: Held,
    /// With the deployed model and the later causal model.
    pub causal_model: Held,
    /// With the later model and the later causal model.
    pub both: Held,
}

/// The number of later versions with which an action holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// For the person as reported.
    pub reported: usize,
    /// For every perturbation of the person that the paper guards against; this is proven.
    pub robust: usize,
}

impl std::ops::Add for Held {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { reported: self.reported + other.reported, robust: self.robust + other.robust }
    }
}

/// The judge of actions that were asked of a deployed version.
pub(super) struct Judge<'a> {
    pub features: &'a Features,
    pub deployed: &'a Version,
    pub budget: Budget,
}

impl Judge<'_> {
    /// Judges the actions of people, in standardised units, by later versions.
    pub fn judge(
        &self,
        change: Change,
        later: &[Version],
        people: &[Vec<f64>],
        actions: &[Option<&Action>],
    ) -> surefoot::Result<Judged> {
        let mut total = vec![Verdicts::default(); people.len()];
        for version in later {
            let model = self.held(version, self.deployed, people, actions)?;
            let causal_model = self.held(self.deployed, version, people, actions)?;
            let both = self.held(version, version, people, actions)?;
            for (k, total) in total.iter_mut().enumerate() {
                total.model = total.model + model[k];
                total.causal_model = total.causal_model + causal_model[k];
                total.both = total.both + both[k];
            }
        }
        let verdicts = actions.iter().zip(total).map(|(action, total)| action.map(|_| total)).collect();
        Ok(Judged { change, verdicts })
    }

    /// Whether actions hold with the model of one version and the causal model of another.
    fn held(
        &self,
        model: &Version,
        causal: &Version,
        people: &[Vec<f64>],
        actions: &[Option<&Action>],
    ) -> surefoot::Result<Vec<Held>> {
        let problem = problem(self.features, &model.classifier, causal.scm(self.features)?)?;
        let shifted = problem.clone().with_uncertainty(Norm::L2, COMPARED)?;
        let held = |(person, action): (&Vec<f64>, &Option<&Action>)| {
            let Some(action) = action else { return Ok(Held::default()) };
            Ok(Held {
                reported: usize::from(holds_as_reported(&problem, person, action)?),
                robust: usize::from(self.holds_for_all(&shifted, person, action)?),
            })
        };
        people.par_iter().zip(actions).map(held).collect()
    }

    fn holds_for_all(
        &self,
        problem: &Problem,
        individual: &[f64],
        action: &Action,
    ) -> surefoot::Result<bool> {
        let certificate = certify(problem, individual, action, self.budget)?;
        Ok(matches!(certificate.verdict, Verdict::Holds { .. }))
    }
}

fn holds_as_reported(problem: &Problem, individual: &[f64], action: &Action) -> surefoot::Result<bool> {
    let nothing = no_perturbation(problem, individual)?;
    Ok(margin(problem, individual, action, &nothing)? >= 0.0)
}
