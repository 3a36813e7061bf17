//! The published answers: classifiers, causal models, individuals, and the recourse that was found for each
//! of them.
//!
//! The files are not part of this project. They are looked for in the folder that the
//! variable `SUREFOOT_REFERENCE` names, otherwise in `shared/reference` beside the checkout.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use ndarray::Array2;
use safetensors::tensor::{Dtype, SafeTensors};
use surefoot::{
    Activation, Change, Classifier, Equation, Feature, Features, LimitsOn, Network, People, Problem, Scm,
};
use thiserror::Error;

use crate::loan;

/// The slack on the threshold, in units of the logit, with which the published linear optima
/// were found: their costs are those of [`Problem::with_safety`] with this much.
pub const SLACK: f64 = 1e-6;

/// Errors of reading the published files.
#[derive(Debug, Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "fields are named by the message of their variant")]
pub enum ReferenceError {
    /// A file is missing or cannot be read.
    #[error("{path}: {source}")]
    Read { path: PathBuf, source: std::io::Error },
    /// A file is not in the safetensors format.
    #[error("{path}: {source}")]
    Tensors { path: PathBuf, source: safetensors::SafeTensorError },
    /// A file lacks a required entry.
    #[error("{path}: `{what}` is missing or malformed")]
    Content { path: PathBuf, what: String },
    /// The engine refuses the content.
    #[error("{path}: {source}")]
    Refused { path: PathBuf, source: Box<surefoot::Error> },
}

type Result<T> = std::result::Result<T, ReferenceError>;

impl Case {
    /// The problem that the published answers solve: classifier, features and causal model.
    pub fn problem(&self, reference: &Reference) -> Result<Problem> {
        let refused = |source: surefoot::Error| ReferenceError::Refused {
            path: self.name.clone().into(),
            source: source.into(),
        };
        let problem = Problem::new(self.features.clone(), self.classifier.clone())
            .and_then(|problem| problem.with_limits_on(LimitsOn::Action))
            .map_err(refused)?;
        let kind =
            if self.classifier.coefficients().is_ok() { Equations::Linear } else { Equations::Network };
        match reference.scm(&self.dataset, &self.features, kind)? {
            Some(scm) => problem.with_causal_model(scm).map_err(refused),
            None => Ok(problem),
        }
    }
}

/// The folder with the published files.
#[derive(Clone, Debug)]
pub struct Reference {
    folder: PathBuf,
}

/// The kind of the published causal models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Equations {
    /// `scms/<data set>_linear`.
    Linear,
    /// `scms/<data set>_mlp`.
    Network,
}

/// A published classifier with the people whom it turned down.
#[derive(Clone, Debug)]
pub struct Case {
    /// The file's name without its ending, for example `adult_linear_ERM_s0`.
    pub name: String,
    /// The data set, for example `adult`.
    pub dataset: String,
    /// How the classifier was trained, for example `ERM`.
    pub training: String,
    /// The features of the data set.
    pub features: Features,
    /// The classifier.
    pub classifier: Classifier,
    /// The people whom it turned down.
    pub people: People,
    /// Their rows in the data set.
    pub rows: Vec<usize>,
    /// The answers for each size of the uncertainty.
    pub answers: Vec<Answers>,
    /// Its accuracy and Matthews correlation on the test split.
    pub quality: (f64, f64),
}

/// The published answers for one size of the uncertainty.
#[derive(Clone, Debug)]
pub struct Answers {
    /// The size.
    pub epsilon: f64,
    /// The cost of each person's action; `None` if none was found.
    pub cost: Vec<Option<f64>>,
    /// The size of the smallest known breaking perturbation, for each person with an action, in their
    /// order; `None` if no attack was run.
    pub smallest_break: Option<Vec<f64>>,
}

impl Answers {
    /// Whether each person was found an action that no perturbation within `epsilon` was found to break.
    pub fn unbroken(&self) -> Vec<bool> {
        // Breaks are listed only for people with an action, in their order.
        let mut breaks = self.smallest_break.iter().flatten();
        let is_unbroken =
            |cost: &Option<f64>| cost.is_some() && breaks.next().is_none_or(|size| *size >= self.epsilon);
        self.cost.iter().map(is_unbroken).collect()
    }
}

impl Reference {
    /// The published files, if they can be found.
    pub fn locate() -> Option<Self> {
        if let Some(folder) = std::env::var_os("SUREFOOT_REFERENCE") {
            return Some(Self { folder: folder.into() });
        }
        let here = std::env::current_dir().ok()?;
        let beside = here.ancestors().map(|folder| folder.join("shared/reference"));
        beside.into_iter().find(|folder| folder.is_dir()).map(|folder| Self { folder })
    }

    /// The published files, for tests that are ignored where they are missing.
    ///
    /// # Panics
    /// If they are missing.
    pub fn required() -> Self {
        let found = Self::locate().filter(|reference| reference.folder.is_dir());
        #[expect(clippy::expect_used, reason = "for tests, which fail by panicking")]
        found.expect(
            "the published files are in shared/reference beside the checkout or in the folder that \
             SUREFOOT_REFERENCE names",
        )
    }

    /// The names of all cases of a model, `linear` or `mlp`, in order.
    pub fn names(&self, model: &str) -> Result<Vec<String>> {
        let path = self.folder.join("cases");
        let read = |source| ReferenceError::Read { path: path.clone(), source };
        let mut names = Vec::new();
        for entry in std::fs::read_dir(&path).map_err(read)? {
            let file = entry.map_err(read)?.file_name();
            let Some(name) = file.to_str().and_then(|file| file.strip_suffix(".safetensors")) else {
                continue;
            };
            if name.split('_').nth(1) == Some(model) {
                names.push(name.to_owned());
            }
        }
        names.sort();
        Ok(names)
    }

    /// One case.
    pub fn case(&self, name: &str) -> Result<Case> {
        let file = File::open(self.folder.join(format!("cases/{name}.safetensors")))?;
        let dataset = file.text("dataset")?.to_owned();
        let features = self.features(&dataset)?;
        let threshold = file.json::<f64>("threshold")?;
        // A network of one layer is a linear classifier.
        let network = Network::read(&file.path, "", Activation::Tanh);
        let classifier = network.and_then(|network| Classifier::network(network, threshold));
        let individuals = file.matrix("individuals")?;
        let people = People::from_standardised(&features, individuals.view());
        let answers = file.json::<Vec<serde_json::Number>>("epsilons")?.into_iter().map(|epsilon| {
            let found = file.vector(&format!("eps{epsilon}.found"))?;
            let cost = file.vector(&format!("eps{epsilon}.cost"))?;
            let cost = found.iter().zip(cost).map(|(&found, cost)| (found != 0.0).then_some(cost)).collect();
            let smallest_break = file.vector(&format!("eps{epsilon}.attack_norm")).ok();
            Ok(Answers { epsilon: epsilon.as_f64().unwrap_or(f64::NAN), cost, smallest_break })
        });
        let answers = answers.collect::<Result<_>>()?;
        Ok(Case {
            name: name.to_owned(),
            training: file.text("training")?.to_owned(),
            dataset,
            features,
            classifier: file.accept(classifier)?,
            people: file.accept(people)?,
            rows: file.vector("rows")?.iter().map(|&row| row as usize).collect(),
            answers,
            quality: (file.json("test_accuracy")?, file.json("test_mcc")?),
        })
    }

    /// The features of a data set.
    pub fn features(&self, dataset: &str) -> Result<Features> {
        let file = File::open(self.folder.join(format!("processed/{dataset}.safetensors")))?;
        let names = file.json::<Vec<String>>("features")?;
        let actionable = file.json::<Vec<usize>>("actionable")?;
        let increasing = file.json::<Vec<usize>>("increasing")?;
        let decreasing = file.json::<Vec<usize>>("decreasing")?;
        let limits = file.matrix("limits")?;
        if limits.dim() != (names.len(), 2) {
            return Err(file.lacks("limits"));
        }
        let feature = |(i, name): (usize, String)| {
            let change = match i {
                i if !actionable.contains(&i) => Change::Fixed,
                i if increasing.contains(&i) => Change::Increase,
                i if decreasing.contains(&i) => Change::Decrease,
                _ => Change::Any,
            };
            // 1e10 stands for no limit.
            let limit = |value: f64| if value.abs() >= 1e10 { value * f64::INFINITY } else { value };
            // The equations of Loan are in own units; everything else is standardised throughout.
            let (mean, std) = if dataset == "loan" { loan::scaling(&name) } else { (0.0, 1.0) };
            let own = |value: f64| mean + std * limit(value);
            let feature = Feature::new(name).scaling(mean, std).change(change);
            feature.limits(own(limits[[i, 0]]), own(limits[[i, 1]]))
        };
        file.accept(Features::new(names.into_iter().enumerate().map(feature).collect()))
    }

    /// The processed rows of a data set, standardised, and whether each had the favourable outcome.
    ///
    /// Most of the published tables are stored by columns although their shape says otherwise; the order is
    /// chosen that reproduces the people of a published case.
    pub fn rows(&self, dataset: &str) -> Result<(Array2<f64>, Vec<bool>)> {
        let file = File::open(self.folder.join(format!("processed/{dataset}.safetensors")))?;
        let labels: Vec<bool> = file.vector("y")?.iter().map(|&y| y > 0.5).collect();
        let by_rows = file.matrix("x")?;
        let (rows, columns) = by_rows.dim();
        let numbers = by_rows.iter().copied().collect();
        let by_columns = Array2::from_shape_vec((columns, rows), numbers).map_err(|_| file.lacks("x"))?;
        let by_columns = by_columns.reversed_axes().as_standard_layout().into_owned();
        let case = File::open(self.folder.join(format!("cases/{dataset}_linear_ERM_s0.safetensors")))?;
        let (individuals, positions) = (case.matrix("individuals")?, case.vector("rows")?);
        let agrees = |table: &Array2<f64>| {
            let mut pairs = positions.iter().zip(individuals.rows());
            pairs.all(|(&position, individual)| {
                let row = position as usize;
                row < table.nrows() && table.row(row) == individual
            })
        };
        let table = [by_rows, by_columns].into_iter().find(agrees).ok_or_else(|| file.lacks("x"))?;
        if labels.len() != table.nrows() {
            return Err(file.lacks("y"));
        }
        Ok((table, labels))
    }

    /// The rows that a seed trains on and those it tests on.
    pub fn split(&self, dataset: &str, seed: u32) -> Result<(Vec<usize>, Vec<usize>)> {
        let file = File::open(self.folder.join(format!("processed/{dataset}.safetensors")))?;
        let rows = |part: &str| -> Result<Vec<usize>> {
            Ok(file.vector(&format!("split{seed}.{part}"))?.iter().map(|&row| row as usize).collect())
        };
        Ok((rows("train")?, rows("test")?))
    }

    /// The causal model that the published answers for linear or for network classifiers use,
    /// if they use one: fitted, or the analytic one of Loan.
    pub fn scm(&self, dataset: &str, features: &Features, kind: Equations) -> Result<Option<Scm>> {
        if dataset == "loan" && kind == Equations::Network {
            let refused = |source: surefoot::Error| ReferenceError::Refused {
                path: self.folder.clone(),
                source: source.into(),
            };
            return loan::scm(features).map(Some).map_err(refused);
        }
        let kind = match kind {
            Equations::Linear => "linear",
            Equations::Network => "mlp",
        };
        let path = self.folder.join(format!("scms/{dataset}_{kind}.safetensors"));
        if !path.exists() {
            return Ok(None);
        }
        let file = File::open(path)?;
        let names = file.json::<Vec<String>>("features")?;
        let parents = file.json::<HashMap<usize, Vec<usize>>>("parents")?;
        let name = |i: &usize| names.get(*i).map(String::as_str).ok_or_else(|| file.lacks("parents"));
        let mut equations = Vec::new();
        for (node, parents) in &parents {
            let parents = parents.iter().map(name).collect::<Result<Vec<_>>>()?;
            let network =
                file.accept(Network::read(&file.path, &format!("node{node}."), Activation::Tanh))?;
            equations.push((name(node)?, Equation::network(&parents, network)));
        }
        file.accept(Scm::new(features, equations)).map(Some)
    }
}

/// A safetensors file and its metadata.
struct File {
    path: PathBuf,
    bytes: Vec<u8>,
    metadata: HashMap<String, String>,
}

impl File {
    fn open(path: PathBuf) -> Result<Self> {
        let bytes =
            std::fs::read(&path).map_err(|source| ReferenceError::Read { path: path.clone(), source })?;
        let (_, header) = SafeTensors::read_metadata(&bytes)
            .map_err(|source| ReferenceError::Tensors { path: path.clone(), source })?;
        let metadata = header.metadata().clone().unwrap_or_default();
        Ok(Self { path, bytes, metadata })
    }

    fn lacks(&self, what: &str) -> ReferenceError {
        ReferenceError::Content { path: self.path.clone(), what: what.into() }
    }

    fn accept<T>(&self, result: surefoot::Result<T>) -> Result<T> {
        result.map_err(|source| ReferenceError::Refused { path: self.path.clone(), source: source.into() })
    }

    fn text(&self, key: &str) -> Result<&str> {
        self.metadata.get(key).map(String::as_str).ok_or_else(|| self.lacks(key))
    }

    fn json<T: serde::de::DeserializeOwned>(&self, key: &str) -> Result<T> {
        serde_json::from_str(self.text(key)?).map_err(|_| self.lacks(key))
    }

    fn tensor(&self, name: &str) -> Result<(Vec<usize>, Vec<f64>)> {
        let error = |source| ReferenceError::Tensors { path: self.path.clone(), source };
        let tensors = SafeTensors::deserialize(&self.bytes).map_err(error)?;
        let tensor = tensors.tensor(name).map_err(error)?;
        let data = tensor.data();
        let values = match tensor.dtype() {
            Dtype::F64 => numbers(data, f64::from_le_bytes),
            Dtype::F32 => numbers(data, |bytes| f64::from(f32::from_le_bytes(bytes))),
            Dtype::I32 => numbers(data, |bytes| f64::from(i32::from_le_bytes(bytes))),
            Dtype::U8 => data.iter().map(|&byte| f64::from(byte)).collect(),
            _ => return Err(self.lacks(name)),
        };
        Ok((tensor.shape().to_vec(), values))
    }

    fn vector(&self, name: &str) -> Result<Vec<f64>> {
        self.tensor(name).map(|(_, values)| values)
    }

    fn matrix(&self, name: &str) -> Result<Array2<f64>> {
        match self.tensor(name)? {
            (shape, values) if shape.len() == 2 => {
                Array2::from_shape_vec((shape[0], shape[1]), values).map_err(|_| self.lacks(name))
            }
            _ => Err(self.lacks(name)),
        }
    }
}

fn numbers<const N: usize>(data: &[u8], convert: impl Fn([u8; N]) -> f64) -> Vec<f64> {
    data.as_chunks().0.iter().map(|&bytes| convert(bytes)).collect()
}

impl AsRef<Path> for Reference {
    fn as_ref(&self) -> &Path {
        &self.folder
    }
}
