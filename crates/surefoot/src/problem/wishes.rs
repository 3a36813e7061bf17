//! A problem as one person wants it: with features that they cannot change, and limits of their own.

use super::Problem;
use crate::{Change, Result};

impl Problem {
    /// The same problem in which some features are fixed, and in which others have closer limits: lower and upper, in
    /// own units, beside those that they have. It is the problem that a file with these directions and limits states.
    ///
    /// ```
    /// use surefoot::{Change, Classifier, Feature, Features, People, Problem, recourse};
    ///
    /// let features = Features::new(vec![
    ///     Feature::new("income").change(Change::Any),
    ///     Feature::new("savings").change(Change::Any),
    /// ])?;
    /// let problem = Problem::new(features, Classifier::linear(vec![2.0, 1.0], -1.0, 0.5)?)?;
    /// let own = problem.with_wishes(&[0], &[(1, 0.0, 5.0)])?;
    /// let people = People::from_own_units(own.features(), &[[0.0, 0.0]])?;
    /// assert_eq!(recourse(&own, &people)?[0].recourse().unwrap().action.features, [1]);
    /// # Ok::<(), surefoot::Error>(())
    /// ```
    ///
    /// # Errors
    /// If limits contain no number.
    ///
    /// # Panics
    /// If there is no feature at a position.
    pub fn with_wishes(&self, locked: &[usize], limits: &[(usize, f64, f64)]) -> Result<Self> {
        let features = self.features.altered(|i, feature| {
            if locked.contains(&i) {
                feature.change = Change::Fixed;
            }
            for &(_, lower, upper) in limits.iter().filter(|(at, ..)| *at == i) {
                (feature.lower, feature.upper) = (feature.lower.max(lower), feature.upper.min(upper));
            }
        });
        match features.iter().find_map(|feature| feature.mistakes().into_iter().next()) {
            Some(mistake) => Err(mistake),
            None => self.with_features(features),
        }
    }
}
