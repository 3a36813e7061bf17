//! A data set prepared for its units of work: rows, splits, causal models.

use std::ops::ControlFlow;
use std::sync::OnceLock;

use ndarray::{Array2, Axis};
use sha2::{Digest, Sha256};
use surefoot::train::{Epoch, Fitting, Threshold};
use surefoot::{Classifier, LimitsOn, Metrics, People, Problem, Scm};

use super::{ExperimentError, Result, Settings, Unit};
use crate::data::{DataSet, Files, Table};
use crate::loan;
use crate::training::{Model, recipe, split};

/// A data set.
pub(super) struct Prepared {
    pub data: DataSet,
    pub table: Table,
    /// The digest of the table.
    pub digest: String,
    /// The causal models for linear classifiers and for networks, once they are fitted.
    scms: [OnceLock<Option<Scm>>; 2],
}

/// A trained classifier with its quality and the people whom it turns down.
pub(super) struct Trained {
    pub accuracy: f64,
    pub mcc: f64,
    /// The number of people in the test split whom it turns down.
    pub turned_down: usize,
    /// The rows of the table for which recourse is computed.
    pub rows: Vec<usize>,
    /// The problem without uncertainty; `None` if nobody is turned down.
    pub asked: Option<(Problem, People)>,
}

impl Prepared {
    pub fn read(data: DataSet, files: &Files) -> Result<Self> {
        let table = data.read(files)?;
        let mut digest = Sha256::new();
        table.rows.iter().for_each(|value| digest.update(value.to_le_bytes()));
        table.favourable.iter().for_each(|&favourable| digest.update([u8::from(favourable)]));
        digest.update(format!("{:?} {:?}", table.features, table.periods));
        Ok(Self {
            data,
            table,
            digest: digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect(),
            scms: [OnceLock::new(), OnceLock::new()],
        })
    }

    /// Fits the causal model that goes with a model, if there is one: linear equations for linear
    /// classifiers, networks for networks, on the training rows of the first split; for Loan the true
    /// model, with networks only.
    pub fn fit(&self, model: Model) -> Result<()> {
        let place = &self.scms[model as usize];
        if place.get().is_some() {
            return Ok(());
        }
        let epochs = if self.data == DataSet::Compas { 50 } else { 10 };
        let refused = |source| ExperimentError::refused(format!("{}, causal model", self.data))(source);
        let scm = match (self.data, model) {
            (DataSet::Loan, Model::Network) => Some(loan::scm(&self.table.features).map_err(refused)?),
            (DataSet::Loan, Model::Linear) => None,
            (data, _) if data.graph().is_empty() => None,
            (data, model) => {
                let fitting =
                    if model == Model::Linear { Fitting::linear() } else { Fitting::network(epochs) };
                let fitting = Fitting { held_out: 0.0, ..fitting };
                let rows = self.table.rows.select(Axis(0), &split(self.table.rows.nrows(), 0).0);
                let fitted = fitting.run(&self.table.features, rows.view(), data.graph()).map_err(refused)?;
                Some(fitted.scm(&self.table.features).map_err(refused)?)
            }
        };
        // Another thread may have set it first, to the same value.
        place.get_or_init(|| scm);
        Ok(())
    }

    /// Trains the classifier of a unit, on its split, as the paper does.
    ///
    /// `advance` is called after each epoch with its share of the work.
    pub fn train(&self, unit: &Unit, settings: &Settings, advance: &dyn Fn(f64)) -> Result<Trained> {
        let refused = |source| ExperimentError::refused(unit.name())(source);
        self.fit(unit.model)?;
        let (train, test) = split(self.table.rows.nrows(), unit.seed);
        let pick = |chosen: &[usize]| {
            let labels: Vec<bool> = chosen.iter().map(|&row| self.table.favourable[row]).collect();
            (self.table.rows.select(Axis(0), chosen), labels)
        };
        let ((train_rows, train_labels), (test_rows, test_labels)) = (pick(&train), pick(&test));
        let mut training = recipe(unit.data, unit.model, unit.method, u64::from(unit.seed));
        training.epochs = training.epochs.min(settings.epochs);
        let share = 1.0 / training.epochs as f64;
        let watch = &mut |_: &Epoch| {
            advance(share);
            ControlFlow::Continue(())
        };
        let trained = training.run_with(&self.table.features, train_rows.view(), &train_labels, watch);
        let trained = trained.map_err(refused)?;
        let classifier = trained.classifier(Threshold::BestMcc, train_rows.view(), &train_labels);
        let classifier = classifier.map_err(refused)?;
        let probabilities = trained.probabilities(test_rows.view());
        let metrics = Metrics::measure(&probabilities, &test_labels, classifier.threshold());
        let metrics = metrics.map_err(refused)?;
        let refusals: Vec<usize> =
            (0..test.len()).filter(|&i| classifier.score(&test_rows.row(i).to_vec()) < 0.0).collect();
        let chosen = &refusals[..refusals.len().min(settings.people)];
        Ok(Trained {
            accuracy: metrics.accuracy,
            mcc: metrics.mcc,
            turned_down: refusals.len(),
            rows: chosen.iter().map(|&i| test[i]).collect(),
            asked: self.ask(unit, classifier, test_rows.select(Axis(0), chosen)).map_err(refused)?,
        })
    }

    fn ask(
        &self,
        unit: &Unit,
        classifier: Classifier,
        rows: Array2<f64>,
    ) -> surefoot::Result<Option<(Problem, People)>> {
        if rows.nrows() == 0 {
            return Ok(None);
        }
        let people = People::from_standardised(&self.table.features, rows.view())?;
        let problem =
            Problem::new(self.table.features.clone(), classifier)?.with_limits_on(LimitsOn::Action)?;
        let problem = match self.scms[unit.model as usize].get().and_then(Option::as_ref) {
            Some(scm) => problem.with_causal_model(scm.clone())?,
            None => problem,
        };
        Ok(Some((problem, people)))
    }
}
