//! A processed data set.

use std::path::{Path, PathBuf};

use ndarray::{Array2, Axis};
use surefoot::{Feature, Features, Kind};

use super::{DataError, Result};

/// A processed data set: people, their features and their outcomes.
#[derive(Clone, Debug)]
pub struct Table {
    /// The features with means and standard deviations in own units, limits, and permitted changes.
    pub features: Features,
    /// One row for each person, in standardised units.
    pub rows: Array2<f64>,
    /// Whether each person had the favourable outcome.
    pub favourable: Vec<bool>,
    /// The period of each person's case; `None` if the file has no dates.
    pub periods: Option<Vec<Period>>,
    /// The origin of the table.
    pub origin: Origin,
}

/// The period of a person's case: models are trained on one and trained again on the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Period {
    /// The first.
    First,
    /// The one after it.
    Next,
    /// Neither.
    Other,
}

/// The origin of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A public file.
    File(PathBuf),
    /// A model, with this seed.
    Drawn {
        /// The seed of the draw.
        seed: u64,
    },
}

/// Rows of a file in own units.
#[derive(Default)]
pub(super) struct People {
    pub values: Vec<f64>,
    pub favourable: Vec<bool>,
}

impl People {
    /// Adds a person.
    pub fn push(&mut self, values: impl IntoIterator<Item = f64>, favourable: bool) {
        self.values.extend(values);
        self.favourable.push(favourable);
    }

    /// The table of these people. Real features are standardised, the others left as they are.
    pub fn table(self, path: &Path, mut features: Vec<Feature>) -> Result<Table> {
        let people = self.favourable.len();
        if people < 2 {
            return Err(DataError::TooFewPeople { path: path.into(), found: people });
        }
        let refused = |source| DataError::refused(path, source);
        let mut rows = Array2::from_shape_vec((people, features.len()), self.values)
            .map_err(|error| DataError::read(path, std::io::Error::other(error)))?;
        for (feature, mut column) in features.iter_mut().zip(rows.axis_iter_mut(Axis(1))) {
            if feature.kind == Kind::Real {
                feature.mean = sum(column.iter().copied()) / people as f64;
                let squares = sum(column.iter().map(|value| (value - feature.mean).powi(2)));
                feature.std = (squares / (people - 1) as f64).sqrt();
                column.mapv_inplace(|value| feature.standardise(value));
            }
        }
        // A constant column has no standard deviation; the error names it.
        let features = Features::new(features).map_err(refused)?;
        let origin = Origin::File(path.into());
        Ok(Table { features, rows, favourable: self.favourable, periods: None, origin })
    }
}

/// A sum with compensation of rounding errors (Neumaier); plain sums of the squares of thousands of people
/// have errors of up to 1e-12.
fn sum(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0f64, 0.0);
    for value in values {
        let next = sum + value;
        lost += if sum.abs() >= value.abs() { (sum - next) + value } else { (value - next) + sum };
        sum = next;
    }
    sum + lost
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn real_features_are_standardised_with_n_minus_one() {
        let mut people = People::default();
        for (age, member) in [(20.0, 1.0), (30.0, 0.0), (70.0, 1.0)] {
            people.push([age, member], age > 50.0);
        }
        let features = vec![Feature::new("age"), Feature::new("member").kind(Kind::Binary)];
        let table = people.table(Path::new("people.csv"), features).unwrap();
        // mean 40, squares 400 + 100 + 900, over 2
        let std = 700f64.sqrt();
        let (age, member) = (table.features.feature(0), table.features.feature(1));
        assert_eq!((age.mean, age.std, member.mean, member.std), (40.0, std, 0.0, 1.0));
        assert_eq!(table.rows.row(2).to_vec(), [30.0 / std, 1.0]);
        assert_eq!(table.favourable, [false, false, true]);
    }

    #[test]
    fn sums_lose_nothing_to_rounding() {
        assert_eq!(sum([1.0, 1e100, 1.0, -1e100].into_iter()), 2.0);
    }

    #[test]
    fn too_few_people_and_columns_without_spread_are_refused() {
        let path = Path::new("people.csv");
        let mut people = People::default();
        people.push([1.0], true);
        let error = people.table(path, vec![Feature::new("age")]).unwrap_err();
        assert!(error.to_string().starts_with("people.csv: has 1 usable people"), "{error}");
        let mut people = People::default();
        people.push([1.0], true);
        people.push([1.0], false);
        let error = people.table(path, vec![Feature::new("age")]).unwrap_err();
        assert!(error.to_string().contains("`age`"), "{error}");
    }
}
