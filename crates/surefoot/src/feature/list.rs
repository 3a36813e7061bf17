//! The features of a problem, in their order.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use super::category::{self, Column, columns};
use super::{Change, Feature};
use crate::error::FeatureError;
use crate::{Error, Result};

/// The columns of a one-hot group: every person has a 1 in exactly one of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// The positions of its columns; never fewer than two.
    pub columns: Vec<usize>,
}

/// The features of a problem. Their order is that of every vector in the engine.
#[derive(Clone)]
pub struct Features(Vec<Feature>, Arc<HashMap<String, usize>>, Arc<[Column]>);

impl fmt::Debug for Features {
    /// The features in order. The map of names is left out: it follows from them and has no order.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Features").field(&self.0).finish()
    }
}

impl PartialEq for Features {
    /// Compares the features only, since the map of names follows from them.
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl Features {
    /// Checks each feature and that names are unique.
    pub fn new(features: Vec<Feature>) -> Result<Self> {
        if features.is_empty() {
            return Err(Error::Feature(FeatureError::NoFeatures));
        }
        let mut positions = HashMap::with_capacity(features.len());
        for (i, feature) in features.iter().enumerate() {
            if let Some(mistake) = feature.mistakes().into_iter().next() {
                return Err(mistake);
            }
            if positions.insert(feature.name.clone(), i).is_some() {
                return Err(Error::Feature(FeatureError::DuplicateFeature { feature: feature.name.clone() }));
            }
        }
        let columns = columns(&features);
        if let Some(feature) = category::ambiguous(&features, &columns) {
            return Err(Error::Feature(FeatureError::DuplicateFeature { feature }));
        }
        for column in &columns {
            let feature = &features[column.positions().start];
            if let Some(problem) = feature.words_problem(column) {
                let feature = column.name().to_owned();
                return Err(Error::Feature(FeatureError::Words { feature, problem }));
            }
        }
        let features = Self(features, Arc::new(positions), columns.into());
        match features.groups().into_iter().find(|group| group.columns.len() < 2) {
            Some(Group { name, .. }) => Err(Error::Feature(FeatureError::GroupSize { group: name })),
            None => Ok(features),
        }
    }

    /// The number of features; never zero.
    #[expect(clippy::len_without_is_empty, reason = "there is always a feature")]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The features in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Feature> {
        self.0.iter()
    }

    /// The feature at a position.
    ///
    /// # Panics
    /// If there is no feature at this position.
    pub fn feature(&self, index: usize) -> &Feature {
        &self.0[index]
    }

    /// The position of a feature.
    pub fn index(&self, name: &str) -> Result<usize> {
        let position = self.1.get(name).copied();
        position.ok_or_else(|| {
            Error::Feature(FeatureError::UnknownFeature { feature: name.into(), known: self.names() })
        })
    }

    /// All names in order.
    pub fn names(&self) -> Vec<String> {
        self.0.iter().map(|feature| feature.name.clone()).collect()
    }

    /// The columns of people's tables: one for each feature, and one for all features of an unordered
    /// category.
    pub fn columns(&self) -> &[Column] {
        &self.2
    }

    /// Positions of the features that an action may change.
    pub fn actionable(&self) -> Vec<usize> {
        (0..self.len()).filter(|&i| self.0[i].is_actionable()).collect()
    }

    /// The one-hot groups, in the order of their first columns.
    pub fn groups(&self) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        let mut positions: HashMap<&str, usize> = HashMap::new();
        for (i, feature) in self.0.iter().enumerate() {
            let Some(name) = &feature.group else { continue };
            let position = *positions.entry(name).or_insert_with(|| {
                groups.push(Group { name: name.clone(), columns: Vec::new() });
                groups.len() - 1
            });
            groups[position].columns.push(i);
        }
        groups
    }

    /// The units of intervention: single features, and the actionable columns of each group together.
    pub fn actionable_units(&self) -> Vec<Vec<usize>> {
        let mut units: Vec<Vec<usize>> = Vec::new();
        for i in self.actionable() {
            let group = &self.0[i].group;
            let same = |unit: &&mut Vec<usize>| group.is_some() && self.0[unit[0]].group == *group;
            match units.iter_mut().find(same) {
                Some(unit) => unit.push(i),
                None => units.push(vec![i]),
            }
        }
        units
    }

    /// The same features, of which some are fixed.
    pub(crate) fn without(&self, fixed: &[usize]) -> Self {
        let mut features = self.clone();
        fixed.iter().for_each(|&i| features.0[i].change = Change::Fixed);
        features
    }

    /// The same features, each modified by a function, which may change limits, directions, weights, special and
    /// missing values only.
    pub(crate) fn altered(&self, mut alter: impl FnMut(usize, &mut Feature)) -> Self {
        let mut features = self.clone();
        features.0.iter_mut().enumerate().for_each(|(i, feature)| alter(i, feature));
        features
    }

    /// A value of the feature at `index` from own to standardised units.
    pub fn standardise(&self, index: usize, value: f64) -> f64 {
        self.0[index].standardise(value)
    }

    /// Converts a vector from standardised to own units.
    pub fn own_units(&self, standardised: &[f64]) -> Vec<f64> {
        self.0.iter().zip(standardised).map(|(feature, &v)| feature.own_units(v)).collect()
    }
}
