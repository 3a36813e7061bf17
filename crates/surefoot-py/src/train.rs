//! Training classifiers and fitting causal models.

use std::ops::ControlFlow;

use ndarray::{Array2, Axis};
use numpy::{IntoPyArray, PyReadonlyArray1};
use pyo3::prelude::*;
use surefoot::Error;
use surefoot::error::{PeopleError, TrainingError};
use surefoot::train::{
    Allr, ClassWeights, Epoch, Fitted, Fitting, Function, LogisticEstimate, Objective, Quality, Ross, Shape,
    Threshold, Training, Validation, split,
};

use crate::error::{Result, choice};
use crate::layout::{Declared, Layout};
use crate::model::{ACTIVATIONS, NewLayers, new_layers};
use crate::people::Source;
use crate::work::{Ended, run};

/// What `surefoot.train` settles.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct TrainingSettings {
    objective: String,
    linearity: f64,
    reliance: f64,
    radius: f64,
    ross_weight: f64,
    ross_reach: f64,
    hidden: Vec<usize>,
    activation: String,
    epochs: usize,
    batch: usize,
    step: f64,
    balanced: bool,
    /// 0 for none.
    validation: f64,
    patience: usize,
    /// 0 for none.
    test: f64,
    threshold: String,
    threshold_at: f64,
    seed: u64,
    /// Whether to estimate the weights with their covariance.
    errors: bool,
}

/// What `surefoot.fit` settles.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct FittingSettings {
    shape: String,
    hidden: Vec<usize>,
    epochs: usize,
    batch: usize,
    step: f64,
    held_out: f64,
    seed: u64,
    /// The probabilities of errors of coefficients, and of a band.
    errors: Option<f64>,
    band: Option<f64>,
}

impl TrainingSettings {
    fn training(&self) -> Result<Training> {
        let allr = Allr {
            linearity: self.linearity,
            reliance: self.reliance,
            radius: self.radius,
            ..Allr::default()
        };
        let ross = Ross { weight: self.ross_weight, reach: self.ross_reach };
        let objectives = [
            ("erm", Objective::EmpiricalRisk),
            ("af", Objective::ActionableOnly),
            ("allr", Objective::Allr(allr)),
            ("ross", Objective::Ross(ross)),
        ];
        Ok(Training {
            objective: choice("objective", &self.objective, &objectives)?,
            hidden: self.hidden.clone(),
            activation: choice("activation", &self.activation, &ACTIVATIONS)?,
            epochs: self.epochs,
            batch: self.batch,
            step: self.step,
            classes: if self.balanced { ClassWeights::Balanced } else { ClassWeights::Equal },
            validation: (self.validation != 0.0)
                .then_some(Validation { share: self.validation, patience: Some(self.patience) }),
            seed: self.seed,
        })
    }

    fn threshold(&self) -> Result<Threshold> {
        let thresholds = [
            ("fixed", Threshold::Fixed(self.threshold_at)),
            ("mcc", Threshold::BestMcc),
            ("accuracy", Threshold::BestAccuracy),
            ("fpr", Threshold::FalsePositiveRate(self.threshold_at)),
        ];
        choice("threshold", &self.threshold, &thresholds)
    }
}

/// Standardised rows of a table.
fn rows(given: &Bound<'_, PyAny>, layout: &Layout) -> Result<Array2<f64>> {
    let features = &layout.features;
    let mut values = Source::new(given, layout).values()?;
    values
        .iter_mut()
        .enumerate()
        .for_each(|(k, value)| *value = features.standardise(k % features.len(), *value));
    let shape = (values.len() / features.len(), features.len());
    Ok(Array2::from_shape_vec(shape, values).map_err(|_| Error::People(PeopleError::NoPeople))?)
}

/// A trained classifier for Python.
#[derive(IntoPyObject)]
pub struct TrainedClassifier<'py> {
    layers: NewLayers<'py>,
    threshold: f64,
    /// Epoch by epoch: the loss, and that on the rows held out to stop by.
    losses: Vec<(f64, Option<f64>)>,
    kept: usize,
    /// In training, and on rows held out if there are any.
    accuracy: (f64, Option<f64>),
    /// Whether the two differ by more than chance.
    differs: bool,
    /// The covariance of the weights, intercept last, and the loss, if they were estimated.
    covariance: Option<Vec<Vec<f64>>>,
    loss: Option<f64>,
}

/// Trains a classifier on rows with their outcomes.
#[pyfunction]
#[pyo3(signature = (features, people, labels, settings, progress))]
pub fn train<'py>(
    py: Python<'py>,
    features: Vec<Declared>,
    people: &Bound<'py, PyAny>,
    labels: PyReadonlyArray1<'py, bool>,
    settings: TrainingSettings,
    progress: Option<&Bound<'py, PyAny>>,
) -> Result<TrainedClassifier<'py>> {
    let layout = Layout::new(features)?;
    let mut rows = rows(people, &layout)?;
    layout.features.impute_all(&mut rows);
    let labels = labels.as_array().to_vec();
    if labels.len() != rows.nrows() {
        return Err(
            Error::Training(TrainingError::Labels { rows: rows.nrows(), labels: labels.len() }).into()
        );
    }
    if labels.iter().all(|&label| label == labels[0]) {
        return Err(Error::Training(TrainingError::OneClass).into());
    }
    let (training, threshold) = (settings.training()?, settings.threshold()?);
    let TrainingSettings { test, seed, errors, .. } = settings;
    let (trained, threshold, quality, estimate) = run(py, progress, move |watch| -> Result<_, Ended> {
        let everybody = || ((0..labels.len()).collect(), Vec::new());
        let (kept, tested) = if test == 0.0 { everybody() } else { split(&labels, test, seed)? };
        let chosen = |chosen: &[usize]| -> (Array2<f64>, Vec<bool>) {
            (rows.select(Axis(0), chosen), chosen.iter().map(|&row| labels[row]).collect())
        };
        let ((fitted, outcomes), (tested, expected)) = (chosen(&kept), chosen(&tested));
        let mut stopped = Ok(());
        let estimate = match errors {
            true => Some(LogisticEstimate::new(&layout.features, fitted.view(), &outcomes)?),
            false => None,
        };
        let trained = match &estimate {
            Some(estimate) => estimate.trained()?,
            None => training.run_with(&layout.features, fitted.view(), &outcomes, &mut |_: &Epoch| {
                stopped = watch.step(1);
                if stopped.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })?,
        };
        stopped?;
        let threshold = trained.classifier(threshold, fitted.view(), &outcomes)?.threshold();
        let tested = (!expected.is_empty()).then_some((tested.view(), &expected[..]));
        let quality = Quality::measure(&trained, threshold, (fitted.view(), &outcomes), tested)?;
        Ok((trained, threshold, quality, estimate))
    })?;
    Ok(TrainedClassifier {
        layers: new_layers(py, &trained.network),
        threshold,
        losses: trained.log.iter().map(|epoch| (epoch.loss, epoch.validation)).collect(),
        kept: trained.kept,
        accuracy: (quality.training.accuracy, quality.held_out.as_ref().map(|held_out| held_out.accuracy)),
        differs: quality.differs_beyond_chance(),
        loss: estimate.as_ref().map(|estimate| estimate.loss),
        covariance: estimate.map(|estimate| estimate.covariance),
    })
}

/// A fitted equation for Python.
#[derive(IntoPyObject)]
pub struct EquationFitted<'py> {
    feature: String,
    parents: Vec<String>,
    layers: NewLayers<'py>,
    r_squared: f64,
    deviation: f64,
    /// The largest error of each coefficient, and the half-width of the band, in standardised units.
    within: Vec<f64>,
    band: Option<f64>,
    warnings: Vec<String>,
}

/// Fits equations to rows, given who causes whom.
#[pyfunction]
#[pyo3(signature = (features, people, graph, settings, progress))]
pub fn fit<'py>(
    py: Python<'py>,
    features: Vec<Declared>,
    people: &Bound<'py, PyAny>,
    graph: Vec<(String, Vec<String>)>,
    settings: FittingSettings,
    progress: Option<&Bound<'py, PyAny>>,
) -> Result<Vec<EquationFitted<'py>>> {
    let layout = Layout::new(features)?;
    let rows = rows(people, &layout)?;
    let FittingSettings { hidden, epochs, batch, step, held_out, seed, errors, band, .. } = settings;
    let shape = match choice("shape", &settings.shape, &[("linear", false), ("network", true)])? {
        false => Shape::Linear,
        true => Shape::Network { hidden, activation: surefoot::Activation::Tanh, epochs, batch, step },
    };
    let fitting = Fitting { shape, held_out, seed };
    let fitted = run(py, progress, move |watch| -> Result<Fitted, Ended> {
        let parents: Vec<Vec<&str>> =
            graph.iter().map(|(_, parents)| parents.iter().map(String::as_str).collect()).collect();
        let graph: Vec<(&str, &[&str])> =
            graph.iter().zip(&parents).map(|((feature, _), parents)| (&feature[..], &parents[..])).collect();
        let mut stopped = Ok(());
        let fitted = fitting.run_with(&layout.features, rows.view(), &graph, &mut |_, _| {
            stopped = watch.step(1);
            if stopped.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        stopped?;
        Ok(fitted)
    })?;
    let equation = |equation: surefoot::train::FittedEquation| -> Result<EquationFitted<'py>> {
        Ok(EquationFitted {
            within: errors.map_or(Ok(Vec::new()), |probability| equation.errors(probability))?,
            band: band.map(|probability| equation.band(probability)).transpose()?,
            layers: match &equation.function {
                Function::Linear { coefficients, intercept } => {
                    let weight = Array2::from_shape_fn((1, coefficients.len()), |(_, j)| coefficients[j]);
                    vec![(weight.into_pyarray(py), vec![*intercept].into_pyarray(py))]
                }
                Function::Network(network) => new_layers(py, network),
            },
            warnings: equation.warnings.iter().map(|warning| format!("{warning}.")).collect(),
            feature: equation.feature,
            parents: equation.parents,
            r_squared: equation.r_squared,
            deviation: equation.deviation,
        })
    };
    fitted.equations.into_iter().map(equation).collect()
}
