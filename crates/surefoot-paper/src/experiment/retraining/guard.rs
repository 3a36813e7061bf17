//! What an action is guarded against, as a problem.

use serde::{Deserialize, Serialize};
use surefoot::uncertainty::Coefficient;
use surefoot::{Classifier, Committee, Features, LimitsOn, Norm, Problem, Scm, Sources, WeightUncertainty};

use super::super::COMPARED;
use super::version::Version;

/// The errors of coefficients that are guarded against, in standard errors. Those of a normal distribution are
/// smaller with a probability of 95%.
const STANDARD_ERRORS: f64 = 2.0;

/// What an action is guarded against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Guard {
    /// Nothing: standard recourse.
    Nothing,
    /// Shifts of the person, as in the paper.
    Person,
    /// Another model: all of a committee of bootstraps must be favourable.
    Model,
    /// Shifts of the person and another model.
    PersonAndModel,
    /// These two, and errors of the coefficients of the causal model.
    Everything,
    /// Another model: any in a box of weights that contains every bootstrap. For linear models only.
    Weights,
}

/// What the guards guard against.
pub(super) struct Guards {
    deployed: Problem,
    committee: Committee,
    /// The classifier with uncertain weights, if it is linear.
    weights: Option<Classifier>,
    coefficients: Vec<Coefficient>,
}

impl Guard {
    /// All of them.
    pub const ALL: [Guard; 6] = [
        Guard::Nothing,
        Guard::Person,
        Guard::Model,
        Guard::PersonAndModel,
        Guard::Everything,
        Guard::Weights,
    ];
}

impl Guards {
    /// Guards against what bootstraps of the deployed rows say about models and causal models.
    pub fn new(features: &Features, deployed: &Version, bootstraps: &[Version]) -> surefoot::Result<Self> {
        let members = std::iter::once(deployed).chain(bootstraps);
        let members = members.map(|version| version.classifier.clone()).enumerate();
        let members: Vec<(String, Classifier)> =
            members.map(|(number, member)| (number.to_string(), member)).collect();
        let agree = members.len();
        Ok(Self {
            deployed: problem(features, &deployed.classifier, deployed.scm(features)?)?,
            committee: Committee::new(members, agree)?,
            weights: uncertain_weights(deployed, bootstraps)?,
            coefficients: errors(features, deployed, bootstraps)?,
        })
    }

    /// The guards that there are: boxes of weights are for linear models, and without a causal model there are no
    /// coefficients.
    pub fn available(&self) -> impl Iterator<Item = Guard> {
        Guard::ALL.into_iter().filter(|guard| match guard {
            Guard::Weights => self.weights.is_some(),
            Guard::Everything => !self.coefficients.is_empty(),
            _ => true,
        })
    }

    /// The problem whose solutions withstand what a guard guards against.
    pub fn problem(&self, guard: Guard) -> surefoot::Result<Problem> {
        let mut problem = self.deployed.clone();
        if matches!(guard, Guard::Person | Guard::PersonAndModel | Guard::Everything) {
            problem = problem.with_uncertainty(Norm::L2, COMPARED)?;
        }
        if let (Guard::Weights, Some(weights)) = (guard, &self.weights) {
            problem = self::problem(problem.features(), weights, problem.scm().cloned())?;
        }
        if matches!(guard, Guard::Model | Guard::PersonAndModel | Guard::Everything) {
            problem = problem.with_committee(self.committee.clone())?;
        }
        if guard == Guard::Everything {
            let coefficients = self.coefficients.clone();
            problem = problem.with_sources(Sources { coefficients, ..Sources::default() })?;
        }
        Ok(problem)
    }
}

/// The problem of one classifier and one causal model, without uncertainty.
pub(super) fn problem(
    features: &Features,
    classifier: &Classifier,
    scm: Option<Scm>,
) -> surefoot::Result<Problem> {
    let problem = Problem::new(features.clone(), classifier.clone())?.with_limits_on(LimitsOn::Action)?;
    match scm {
        Some(scm) => problem.with_causal_model(scm),
        None => Ok(problem),
    }
}

/// The deployed classifier, if it is linear, with weights in the smallest box around its own that contains those of every
/// bootstrap. The threshold is a part of the intercept.
fn uncertain_weights(deployed: &Version, bootstraps: &[Version]) -> surefoot::Result<Option<Classifier>> {
    let Ok((weights, intercept)) = deployed.classifier.coefficients() else { return Ok(None) };
    let mut radius = 0.0f64;
    for bootstrap in bootstraps {
        let (others, other) = bootstrap.classifier.coefficients()?;
        let differences = weights.iter().zip(others).map(|(weight, other)| (weight - other).abs());
        radius = differences.fold(radius.max((intercept - other).abs()), f64::max);
    }
    let classifier = Classifier::linear(weights.to_vec(), intercept, 0.5)?;
    classifier.with_uncertain_weights(WeightUncertainty::Within(radius)).map(Some)
}

/// The errors of coefficients: twice the standard deviation over the bootstraps.
fn errors(
    features: &Features,
    deployed: &Version,
    bootstraps: &[Version],
) -> surefoot::Result<Vec<Coefficient>> {
    let refitted: Vec<Vec<f64>> = bootstraps.iter().map(Version::coefficients).collect();
    let deviation = |place: usize| {
        let values: Vec<f64> = refitted.iter().map(|coefficients| coefficients[place]).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        (squares / (values.len() - 1) as f64).sqrt()
    };
    let equations = deployed.equations.iter().flat_map(|fitted| &fitted.equations);
    let edges =
        equations.flat_map(|equation| equation.parents.iter().map(|parent| (&equation.feature, parent)));
    let error = |(place, (feature, parent)): (usize, (&String, &String))| {
        let within = STANDARD_ERRORS * deviation(place);
        Ok(Coefficient { feature: features.index(feature)?, parent: features.index(parent)?, within })
    };
    edges.enumerate().map(error).collect()
}
