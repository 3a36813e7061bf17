//! Features as Python declares them: columns of people's tables, some of them categories.

use std::collections::BTreeMap;

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use surefoot::error::FeatureError;
use surefoot::feature::{Column, Missing, Special, Unit, Words};
use surefoot::{Change, Error, Feature, Features, Kind, Norm, Observed, Unsuitable};

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
    step: Option<f64>,
    most_change: Option<f64>,
    most_change_share: Option<f64>,
    weight: f64,
    norm_weight: f64,
    #[pyo3(attribute("_labels"))]
    labels: Vec<String>,
    label: Option<String>,
    #[pyo3(attribute("_unit"))]
    unit: Option<Vec<String>>,
    #[pyo3(attribute("_described"))]
    described: Vec<(String, String)>,
    #[pyo3(attribute("_special"))]
    special: Vec<(f64, Option<String>)>,
    #[pyo3(attribute("_missing"))]
    missing: Option<(f64, f64, f64)>,
    ordered: bool,
}

/// The features of the engine, and the weights that Python gives them in the norm.
#[derive(Clone, Debug)]
pub struct Layout {
    /// What the engine works with; it knows the columns of people's tables.
    pub features: Features,
    norm_weights: Vec<f64>,
    /// The directions of ordered categories of which the model takes a column each.
    pub directions: Vec<(String, Change)>,
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
        let (mut features, mut norm_weights, mut directions) = (Vec::new(), Vec::new(), Vec::new());
        for feature in declared {
            let change = choice("change", &feature.change, &CHANGES)?;
            let (lower, upper) = feature.limits.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
            let words =
                |problem| Error::Feature(FeatureError::Words { feature: feature.name.clone(), problem });
            let unit = feature.unit.as_deref().map(Unit::of_forms).transpose().map_err(words)?;
            let words = Words { label: feature.label, unit, described: feature.described };
            let plain = Feature::new(feature.name.clone())
                .scaling(feature.mean, feature.std)
                .limits(lower, upper)
                .change(change)
                .weight(feature.weight)
                .most_change(feature.most_change.unwrap_or(f64::INFINITY))
                .most_change_share(feature.most_change_share.unwrap_or(f64::INFINITY));
            let special = feature.special.into_iter().map(|(value, meaning)| Special { value, meaning });
            let missing = feature.missing.map(|(value, lower, upper)| Missing { value, lower, upper });
            let plain = Feature { words, special: special.collect(), missing, step: feature.step, ..plain };
            match feature.kind.as_str() {
                "category" if feature.ordered && matches!(change, Change::Increase | Change::Decrease) => {
                    if feature.labels.len() > 1 {
                        directions.push((feature.name, change));
                    }
                    features.extend(plain.change(Change::Any).one_of(feature.labels));
                }
                "category" if matches!(change, Change::Increase | Change::Decrease) => {
                    return Err(Fault::CategoryDirection { feature: feature.name }.into());
                }
                "category" => features.extend(plain.one_of(feature.labels)),
                "ordinal" => {
                    let levels = plain.ordered(feature.labels);
                    let (least, greatest) = (levels.lower, levels.upper);
                    features.push(levels.limits(lower.max(least), upper.min(greatest)));
                }
                kind => features.push(plain.kind(choice("kind", kind, &KINDS)?)),
            }
            norm_weights.resize(features.len(), feature.norm_weight);
        }
        Ok(Self { features: Features::new(features)?, norm_weights, directions })
    }

    /// The features of a problem file, which has weights of its own.
    pub fn plain(features: &Features) -> Self {
        Self { features: features.clone(), norm_weights: Vec::new(), directions: Vec::new() }
    }

    /// The norm with the features' weights.
    pub fn norm(&self, norm: Norm) -> Result<Norm> {
        match self.norm_weights.iter().all(|&weight| weight == 1.0) {
            true => Ok(norm),
            false => Ok(norm.with_weights(self.norm_weights.clone())?),
        }
    }

    /// The names of the columns of people's tables.
    pub fn names(&self) -> Vec<String> {
        self.features.columns().iter().map(|column| column.name().to_owned()).collect()
    }

    /// Features as `surefoot.Feature` takes them: what a problem file says.
    pub fn stated(&self, norm: &Norm) -> Vec<Stated> {
        let name = |known: &str| known.to_owned();
        let of = |column: &Column| {
            let first = column.positions().start;
            let feature = self.features.feature(first);
            let kind = KINDS.iter().find(|(_, kind)| *kind == feature.kind);
            let kind = match column.categories() {
                Some(_) if column.is_ordered() => "ordinal",
                Some(_) => "category",
                None => kind.map_or("real", |(name, _)| name),
            };
            let change = CHANGES.iter().find(|(_, change)| *change == feature.change);
            let limits = (feature.lower, feature.upper);
            // Every ordered category is limited to its texts.
            let is_limited = match column.categories() {
                Some(categories) => column.is_ordered() && limits != (0.0, categories.len() as f64 - 1.0),
                None => feature.lower.is_finite() || feature.upper.is_finite(),
            };
            Stated {
                name: name(column.name()),
                kind: name(kind),
                mean: feature.mean,
                std: feature.std,
                limits: Some(limits).filter(|_| is_limited),
                change: name(change.map_or("fixed", |(name, _)| name)),
                step: feature.step,
                most_change: Some(feature.most_change).filter(|most| most.is_finite()),
                most_change_share: Some(feature.most_change_share).filter(|share| share.is_finite()),
                weight: feature.weight,
                norm_weight: norm.weights().map_or(1.0, |weights| weights[first]),
                categories: column.categories().map(<[String]>::to_vec).unwrap_or_default(),
                label: feature.words.label.clone(),
                unit: feature.words.unit.as_ref().map(Unit::forms),
                special: StatedSpecial::of(&feature.special),
                missing: feature.missing.map(|missing| StatedMissing::of(missing, column)),
                describe: Some(&feature.words.described)
                    .filter(|described| !described.is_empty())
                    .map(|described| described.iter().cloned().collect()),
            }
        };
        self.features.columns().iter().map(of).collect()
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
    step: Option<f64>,
    most_change: Option<f64>,
    most_change_share: Option<f64>,
    weight: f64,
    norm_weight: f64,
    categories: Vec<String>,
    label: Option<String>,
    unit: Option<Vec<String>>,
    describe: Option<BTreeMap<String, String>>,
    special: StatedSpecial,
    missing: Option<StatedMissing>,
}

/// What stands in for a missing value, and between which values it is: numbers, or names in an order.
#[derive(IntoPyObject)]
struct StatedMissing {
    value: StatedValue,
    between: (StatedValue, StatedValue),
}

#[derive(IntoPyObject)]
enum StatedValue {
    Number(f64),
    Name(String),
}

impl StatedMissing {
    fn of(missing: Missing, column: &Column) -> Self {
        let categories = column.categories().filter(|_| column.is_ordered());
        let stated = |value: f64| match categories.and_then(|names| names.get(value as usize)) {
            Some(name) => StatedValue::Name(name.clone()),
            None => StatedValue::Number(value),
        };
        Self { value: stated(missing.value), between: (stated(missing.lower), stated(missing.upper)) }
    }
}

/// Special values with their meanings, or without.
#[derive(IntoPyObject)]
enum StatedSpecial {
    Meanings(Vec<(f64, String)>),
    Numbers(Vec<f64>),
}

impl StatedSpecial {
    fn of(special: &[Special]) -> Self {
        let meaning = |special: &Special| Some((special.value, special.meaning.clone()?));
        match special.iter().map(meaning).collect::<Option<Vec<_>>>() {
            Some(meanings) if !meanings.is_empty() => Self::Meanings(meanings),
            _ => Self::Numbers(special.iter().map(|special| special.value).collect()),
        }
    }
}
