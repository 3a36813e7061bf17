//! Whether actions hold with a later version.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use surefoot::margin::{margin, no_perturbation};
use surefoot::{Action, Budget, Features, Norm, Problem, Verdict, certify};

use super::super::COMPARED;
use super::Change;
use super::guard::problem;
use super::version::Version;

/// How many actions hold with the later versions of one choice of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judged {
    /// The choice of rows.
    pub change: Change,
    /// The number of pairs of an action and a later version.
    pub pairs: usize,
    /// With the later model and the deployed causal model.
    pub model: Held,
    /// With the deployed model and the later causal model; `None` without a causal model.
    pub causal_model: Option<Held>,
    /// With the later model and the later causal model.
    pub both: Held,
}

/// In how many pairs the action holds.
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

/// A person, in standardised units, with an action.
pub(super) type Acting<'a> = (&'a [f64], &'a Action);

/// The judge of actions for people of a deployed version.
pub(super) struct Judge<'a> {
    pub features: &'a Features,
    pub deployed: &'a Version,
    pub budget: Budget,
}

impl Judge<'_> {
    /// Judges actions by later versions.
    pub fn judge(&self, change: Change, later: &[Version], actions: &[Acting<'_>]) -> surefoot::Result<Judged> {
        let mut judged = Judged {
            change,
            pairs: later.len() * actions.len(),
            model: Held::default(),
            causal_model: self.deployed.equations.is_some().then(Held::default),
            both: Held::default(),
        };
        for version in later {
            judged.both = judged.both + self.held(version, version, actions)?;
            match &mut judged.causal_model {
                Some(held) => {
                    *held = *held + self.held(self.deployed, version, actions)?;
                    judged.model = judged.model + self.held(version, self.deployed, actions)?;
                }
                // Without a causal model the two are the same.
                None => judged.model = judged.both,
            }
        }
        Ok(judged)
    }

    /// How many actions hold with the model of one version and the causal model of another.
    fn held(&self, model: &Version, causal: &Version, actions: &[Acting<'_>]) -> surefoot::Result<Held> {
        let problem = problem(self.features, &model.classifier, causal.scm(self.features)?)?;
        let shifted = problem.clone().with_uncertainty(Norm::L2, COMPARED)?;
        let held = actions.par_iter().map(|&(individual, action)| {
            Ok(Held {
                reported: usize::from(holds_as_reported(&problem, individual, action)?),
                robust: usize::from(self.holds_for_all(&shifted, individual, action)?),
            })
        });
        held.try_reduce(Held::default, |one, other| Ok(one + other))
    }

    fn holds_for_all(&self, problem: &Problem, individual: &[f64], action: &Action) -> surefoot::Result<bool> {
        let certificate = certify(problem, individual, action, self.budget)?;
        Ok(matches!(certificate.verdict, Verdict::Holds { .. }))
    }
}

fn holds_as_reported(problem: &Problem, individual: &[f64], action: &Action) -> surefoot::Result<bool> {
    let nothing = no_perturbation(problem, individual)?;
    Ok(margin(problem, individual, action, &nothing)? >= 0.0)
}
