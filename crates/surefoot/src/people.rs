//! The individuals who seek recourse. They are checked when they are created.

use ndarray::ArrayView2;

use crate::error::PeopleError;
use crate::magnitude::is_moderate;
use crate::{Error, Features, Kind, Result};

/// One or more individuals, every value finite, of moderate size and within the limits of its feature, or missing (NaN)
/// where the feature says [what that means](crate::Feature::missing).
///
/// Rows are kept in standardised units. People are numbered from 1 in messages.
///
/// ```
/// use surefoot::{Error, Feature, Features, People};
///
/// let features = Features::new(vec![Feature::new("age").scaling(40.0, 10.0).limits(17.0, 90.0)])?;
/// let people = People::from_own_units(&features, &[[35.0], [62.0]])?;
/// assert_eq!(people.individual(1), &[2.2]);
///
/// let error = People::from_own_units(&features, &[[130.0]]).unwrap_err();
/// assert!(error.to_string().starts_with("person 1, feature `age`: 130 is outside [17, 90]"));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct People {
    features: Features,
    values: Vec<f64>,
}

impl People {
    /// From rows in people's own units, in the order of the features.
    pub fn from_own_units<R: AsRef<[f64]>>(features: &Features, rows: &[R]) -> Result<Self> {
        Self::collect(features, rows.iter().map(|row| row.as_ref().to_vec()))
    }

    /// From named values in people's own units, in any order.
    pub fn from_records(features: &Features, records: &[&[(&str, f64)]]) -> Result<Self> {
        let mut rows = Vec::with_capacity(records.len());
        for (number, record) in records.iter().enumerate() {
            let mut row = vec![None; features.len()];
            for (name, value) in *record {
                if row[features.index(name)?].replace(*value).is_some() {
                    return Err(Error::People(PeopleError::RepeatedValue {
                        person: number + 1,
                        feature: (*name).into(),
                    }));
                }
            }
            let complete = row.iter().zip(features.iter()).map(|(value, feature)| {
                let missing = feature.missing.map(|_| f64::NAN);
                value.or(missing).ok_or_else(|| {
                    Error::People(PeopleError::MissingValue {
                        person: number + 1,
                        feature: feature.name.clone(),
                    })
                })
            });
            rows.push(complete.collect::<Result<Vec<f64>>>()?);
        }
        Self::from_own_units(features, &rows)
    }

    /// From rows that are already standardised.
    pub fn from_standardised(features: &Features, rows: ArrayView2<'_, f64>) -> Result<Self> {
        // The values are kept exactly: a conversion to own units and back would round them.
        let own = rows.rows().into_iter().map(|row| {
            let known = row.iter().zip(features.iter()).map(|(&v, feature)| feature.own_units(v));
            known.chain(row.iter().skip(features.len()).copied()).collect()
        });
        let checked = Self::collect(features, own)?;
        Ok(Self { values: rows.iter().copied().collect(), ..checked })
    }

    fn collect(features: &Features, rows: impl Iterator<Item = Vec<f64>>) -> Result<Self> {
        let mut values = Vec::with_capacity(rows.size_hint().0 * features.len());
        for (number, row) in rows.enumerate() {
            check(features, number + 1, &row)?;
            // A missing value is the same number wherever it comes from.
            let value =
                |(i, &v): (usize, &f64)| if v.is_nan() { f64::NAN } else { features.standardise(i, v) };
            values.extend(row.iter().enumerate().map(value));
        }
        if values.is_empty() {
            return Err(Error::People(PeopleError::NoPeople));
        }
        Ok(Self { features: features.clone(), values })
    }

    /// The number of individuals; never zero.
    #[expect(clippy::len_without_is_empty, reason = "there is always a person")]
    pub fn len(&self) -> usize {
        self.values.len() / self.width()
    }

    /// The number of features of each.
    pub fn width(&self) -> usize {
        self.features.len()
    }

    /// The features they were checked against.
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// One individual, in standardised units.
    ///
    /// # Panics
    /// If there is no individual at this position.
    pub fn individual(&self, index: usize) -> &[f64] {
        &self.values[index * self.width()..(index + 1) * self.width()]
    }

    /// All individuals in order, in standardised units.
    pub fn iter(&self) -> std::slice::ChunksExact<'_, f64> {
        self.values.chunks_exact(self.width())
    }

    /// All rows as a matrix, in standardised units.
    pub fn values(&self) -> ArrayView2<'_, f64> {
        // The shape always fits: all rows are complete.
        ArrayView2::from_shape((self.len(), self.width()), &self.values)
            .unwrap_or_else(|_| unreachable!("rows are whole"))
    }

    /// These people with other values, for a problem over features that differ in limits, directions, weights, special
    /// and missing values only.
    pub(crate) fn with_features(self, features: &Features, individuals: &[&[f64]]) -> Self {
        Self { features: features.clone(), values: individuals.concat() }
    }

    /// The people at these positions. [`PeopleError::NoPeople`] if there are none.
    ///
    /// # Panics
    /// If there is no individual at a position.
    pub fn select(&self, positions: &[usize]) -> Result<Self> {
        if positions.is_empty() {
            return Err(Error::People(PeopleError::NoPeople));
        }
        let values = positions.iter().flat_map(|&i| self.individual(i)).copied().collect();
        Ok(Self { features: self.features.clone(), values })
    }
}

/// Checks one row in own units.
fn check(features: &Features, person: usize, row: &[f64]) -> Result<()> {
    if row.len() != features.len() {
        return Err(Error::People(PeopleError::RowLength {
            person,
            expected: features.len(),
            found: row.len(),
        }));
    }
    for (&value, feature) in row.iter().zip(features.iter()) {
        let name = || feature.name.clone();
        if value.is_nan() && feature.missing.is_some() {
            continue;
        }
        // A moderate value may be huge after it is standardised.
        if !(is_moderate(value) && is_moderate(feature.standardise(value))) {
            return Err(Error::People(PeopleError::NotFinite { person, feature: name(), value }));
        }
        if feature.special_value(value).is_some() {
            continue;
        }
        if !feature.allows(value) {
            let (lower, upper) = (feature.lower, feature.upper);
            return Err(Error::People(PeopleError::OutsideLimits {
                person,
                feature: name(),
                value,
                lower,
                upper,
            }));
        }
        let whole = (value - value.round()).abs() <= 1e-9 * value.abs().max(1.0);
        let fits = match feature.kind {
            Kind::Real => true,
            Kind::Integer => whole,
            Kind::Binary => whole && (value.round() == 0.0 || value.round() == 1.0),
        };
        if !fits {
            return Err(Error::People(PeopleError::WrongKind {
                person,
                feature: name(),
                value,
                kind: feature.kind.to_string(),
            }));
        }
    }
    // Exactly one column of each group must be 1. Their kind ensures that all are 0 or 1.
    for group in features.groups() {
        let ones = group.columns.iter().filter(|&&i| row[i].round() == 1.0).count();
        if ones != 1 {
            return Err(Error::People(PeopleError::GroupSum { person, group: group.name, ones }));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;
    use crate::Feature;
    use crate::error::FeatureError;

    fn features() -> Features {
        Features::new(vec![
            Feature::new("member").kind(Kind::Binary),
            Feature::new("income").scaling(3.0, 2.0).limits(0.0, 10.0),
        ])
        .unwrap()
    }

    #[test]
    fn records_find_their_features_in_any_order() {
        let people = People::from_records(&features(), &[&[("income", 5.0), ("member", 1.0)]]).unwrap();
        assert_eq!(people.individual(0), &[1.0, 1.0]);
    }

    #[test]
    fn standardised_rows_are_kept_to_the_bit() {
        let rows = array![[0.0, 0.1], [1.0, -0.7]];
        let people = People::from_standardised(&features(), rows.view()).unwrap();
        assert_eq!(people.values(), rows);
        assert_eq!(people.select(&[1]).unwrap().values(), array![[1.0, -0.7]]);
    }

    #[test]
    fn bad_people_are_refused_with_number_and_feature() {
        let of = |row: &[f64]| People::from_own_units(&features(), &[&[0.0, 1.0], row]).unwrap_err();
        assert!(
            matches!(of(&[0.0, f64::NAN]), Error::People(PeopleError::NotFinite { person: 2, feature, .. }) if feature == "income")
        );
        assert!(matches!(of(&[0.0, f64::INFINITY]), Error::People(PeopleError::NotFinite { .. })));
        assert!(matches!(of(&[0.0, -1.0]), Error::People(PeopleError::OutsideLimits { person: 2, .. })));
        assert!(matches!(of(&[0.5, 1.0]), Error::People(PeopleError::WrongKind { person: 2, .. })));
        assert!(matches!(of(&[2.0, 1.0]), Error::People(PeopleError::WrongKind { .. })));
        assert!(matches!(
            of(&[0.0]),
            Error::People(PeopleError::RowLength { person: 2, expected: 2, found: 1 })
        ));
        let tiny = Features::new(vec![Feature::new("x").scaling(0.0, 1e-100)]).unwrap();
        for value in [1e300, 2.0] {
            assert!(matches!(
                People::from_own_units(&tiny, &[[value]]),
                Err(Error::People(PeopleError::NotFinite { .. }))
            ));
        }
        let nobody: [[f64; 2]; 0] = [];
        assert!(matches!(
            People::from_own_units(&features(), &nobody),
            Err(Error::People(PeopleError::NoPeople))
        ));
        let short = array![[0.0]];
        assert!(matches!(
            People::from_standardised(&features(), short.view()),
            Err(Error::People(PeopleError::RowLength { .. }))
        ));
        let long = array![[0.0, 0.0, f64::NAN]];
        assert!(matches!(
            People::from_standardised(&features(), long.view()),
            Err(Error::People(PeopleError::RowLength { .. }))
        ));
    }

    #[test]
    fn everybody_is_in_one_category_of_a_group() {
        let columns = ["clerk", "cook"].map(|name| Feature::new(name).group("job"));
        let features = Features::new(columns.to_vec()).unwrap();
        assert!(People::from_own_units(&features, &[[1.0, 0.0], [0.0, 1.0]]).is_ok());
        for (row, ones) in [([0.0, 0.0], 0), ([1.0, 1.0], 2)] {
            let error = People::from_own_units(&features, &[[1.0, 0.0], row]).unwrap_err();
            assert_eq!(error, Error::People(PeopleError::GroupSum { person: 2, group: "job".into(), ones }));
        }
    }

    #[test]
    fn bad_records_are_refused() {
        let of = |record: &[(&str, f64)]| People::from_records(&features(), &[record]).unwrap_err();
        assert!(
            matches!(of(&[("member", 1.0)]), Error::People(PeopleError::MissingValue { feature, .. }) if feature == "income")
        );
        assert!(matches!(
            of(&[("member", 1.0), ("incme", 1.0)]),
            Error::Feature(FeatureError::UnknownFeature { .. })
        ));
        assert!(matches!(
            of(&[("member", 1.0), ("member", 0.0)]),
            Error::People(PeopleError::RepeatedValue { .. })
        ));
    }
}
