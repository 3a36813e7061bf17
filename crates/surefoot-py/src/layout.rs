//! Features as Python declares them: columns of people's tables, some of them categories.
//!
//! A column with categories becomes a group of binary features of the engine, one for each
//! (`job=clerk`), one with levels becomes a whole number. The layout knows the way and the way back.

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use surefoot::{Action, Change, Feature, Features, Kind, Norm, Observed, Unsuitable};

use crate::error::{Fault, Result, choice};

/// A `surefoot.Feature`.
#[derive(FromPyObject)]
pub struct Declared {
    name: String,
    kind: String,
    mean: f64,
    std: f64,
    limits: Option<(f64, f64)>,
    change: String,
    weight: f64,
    norm_weight: f64,
    #[pyo3(attribute("_labels"))]
    labels: Vec<String>,
}

/// What becomes of a column.
#[derive(Clone, Debug)]
pub enum Column {
    /// The feature at this position.
    Number(usize),
    /// The feature at this position, which counts these.
    Levels(usize, Vec<String>),
    /// One feature for each of these, from this position on.
    Categories(usize, Vec<String>),
}

/// The columns of people's tables, and the features that the engine makes of them.
#[derive(Clone, Debug)]
pub struct Layout {
    /// What the engine works with.
    pub features: Features,
    /// What people know.
    pub columns: Vec<(String, Column)>,
    norm_weights: Vec<f64>,
}

const KINDS: [(&str, Kind); 3] = [("real", Kind::Real), ("integer", Kind::Integer), ("binary", Kind::Binary)];
const CHANGES: [(&str, Change); 4] = [
    ("fixed", Change::Fixed),
    ("any", Change::Any),
    ("increase", Change::Increase),
    ("decrease", Change::Decrease),
];

impl Layout {
    /// From declarations.
    pub fn new(declared: Vec<Declared>) -> Result<Self> {
        let (mut features, mut columns, mut norm_weights) = (Vec::new(), Vec::new(), Vec::new());
        for feature in declared {
            let change = choice("change", &feature.change, &CHANGES)?;
            let plain = |name: String| {
                let (lower, upper) = feature.limits.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
                Feature::new(name)
                    .scaling(feature.mean, feature.std)
                    .limits(lower, upper)
                    .change(change)
                    .weight(feature.weight)
            };
            let first = features.len();
            let column = match feature.kind.as_str() {
                "category" if matches!(change, Change::Increase | Change::Decrease) => {
                    return Err(Fault::CategoryDirection { feature: feature.name }.into());
                }
                "category" => {
                    let of = |label: &String| {
                        let column = plain(format!("{}={label}", feature.name)).kind(Kind::Binary);
                        // Nobody moves within a group of one.
                        if feature.labels.len() > 1 { column.group(&feature.name) } else { column }
                    };
                    features.extend(feature.labels.iter().map(of));
                    Column::Categories(first, feature.labels)
                }
                "ordinal" => {
                    let last = feature.labels.len().saturating_sub(1) as f64;
                    features.push(plain(feature.name.clone()).kind(Kind::Integer).limits(0.0, last));
                    Column::Levels(first, feature.labels)
                }
                kind => {
                    features.push(plain(feature.name.clone()).kind(choice("kind", kind, &KINDS)?));
                    Column::Number(first)
                }
            };
            norm_weights.resize(features.len(), feature.norm_weight);
            columns.push((feature.name, column));
        }
        Ok(Self { features: Features::new(features)?, columns, norm_weights })
    }

    /// One column for each feature.
    pub fn plain(features: &Features) -> Self {
        let columns = features.names().into_iter().enumerate().map(|(i, name)| (name, Column::Number(i)));
        Self { features: features.clone(), columns: columns.collect(), norm_weights: Vec::new() }
    }

    /// The norm with the features' weights.
    pub fn norm(&self, norm: Norm) -> Result<Norm> {
        match self.norm_weights.iter().all(|&weight| weight == 1.0) {
            true => Ok(norm),
            false => Ok(norm.with_weights(self.norm_weights.clone())?),
        }
    }

    /// The names of the columns.
    pub fn names(&self) -> Vec<String> {
        self.columns.iter().map(|(name, _)| name.clone()).collect()
    }

    /// The features of the engine that a column became.
    pub fn positions(column: &Column) -> std::ops::Range<usize> {
        match column {
            Column::Number(at) | Column::Levels(at, _) => *at..at + 1,
            Column::Categories(first, labels) => *first..first + labels.len(),
        }
    }

    /// The columns that an action intervenes upon.
    pub fn intervention(&self, action: &Action) -> String {
        let acted =
            |(_, column): &&(String, Column)| Self::positions(column).any(|i| action.features.contains(&i));
        let names = self.columns.iter().filter(acted).map(|(name, _)| name.as_str());
        names.collect::<Vec<_>>().join(";")
    }

    /// Words of the engine, in which categories go by the names of their features.
    pub fn in_words(&self, text: String) -> String {
        let named = self.columns.iter().filter(|(_, column)| matches!(column, Column::Categories(..)));
        named.fold(text, |text, (name, _)| text.replace(&format!("{name}="), ""))
    }

    /// Features as `surefoot.Feature` takes them: what a problem file says.
    pub fn stated(&self, norm: &Norm) -> Vec<Stated> {
        let name = |known: &str| known.to_owned();
        let of = |(i, feature): (usize, &Feature)| {
            let kind = KINDS.iter().find(|(_, kind)| *kind == feature.kind);
            let change = CHANGES.iter().find(|(_, change)| *change == feature.change);
            let limits = (feature.lower, feature.upper);
            Stated {
                name: feature.name.clone(),
                kind: name(kind.map_or("real", |(name, _)| name)),
                mean: feature.mean,
                std: feature.std,
                limits: Some(limits).filter(|_| feature.lower.is_finite() || feature.upper.is_finite()),
                change: name(change.map_or("fixed", |(name, _)| name)),
                weight: feature.weight,
                norm_weight: norm.weights().map_or(1.0, |weights| weights[i]),
            }
        };
        self.features.iter().enumerate().map(of).collect()
    }
}

impl Column {
    /// The category, or level, that values in own units stand for.
    pub fn label(&self, value: impl Fn(usize) -> f64) -> String {
        match self {
            Column::Number(at) => value(*at).to_string(),
            Column::Levels(at, labels) => labels[(value(*at).round() as usize).min(labels.len() - 1)].clone(),
            Column::Categories(first, labels) => {
                let likeliest =
                    (0..labels.len()).max_by(|&a, &b| value(first + a).total_cmp(&value(first + b)));
                labels[likeliest.unwrap_or(0)].clone()
            }
        }
    }
}

/// What the numbers of a column say of a feature.
#[derive(IntoPyObject)]
pub struct ObservedColumn {
    is_binary: bool,
    mean: f64,
    std: f64,
    limits: (f64, f64),
}

/// Mean, standard deviation and range of a column, as `surefoot init` takes them from a table; a column
/// whose values are all the same has a standard deviation of 1.
#[pyfunction]
pub fn observe(name: &str, values: PyReadonlyArray1<'_, f64>) -> Result<ObservedColumn> {
    let observed: Observed = values.as_array().iter().copied().collect();
    let range = observed.range().unwrap_or_default();
    match observed.feature(name) {
        Ok(Feature { kind: Kind::Binary, .. }) => {
            Ok(ObservedColumn { is_binary: true, mean: 0.0, std: 1.0, limits: range })
        }
        Ok(Feature { mean, std, .. }) => Ok(ObservedColumn { is_binary: false, mean, std, limits: range }),
        // It cannot be standardised, nor need it be.
        Err(Unsuitable::Constant) => {
            let is_binary = range.0 == 0.0 || range.0 == 1.0;
            Ok(ObservedColumn { is_binary, mean: range.0, std: 1.0, limits: range })
        }
        Err(why) => Err(Fault::Unsuitable { column: name.into(), why }.into()),
    }
}

/// A feature for Python, by its keywords.
#[derive(IntoPyObject)]
pub struct Stated {
    name: String,
    kind: String,
    mean: f64,
    std: f64,
    limits: Option<(f64, f64)>,
    change: String,
    weight: f64,
    norm_weight: f64,
}
