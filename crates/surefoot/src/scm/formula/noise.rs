//! The noise of an equation as an operator of its parents and its value, by root search.

use super::root::last;
use super::{Formula, Inversion, flipped};
use crate::graph::{Interval, Operator};
use crate::scm::equation::Mechanism;

/// The arguments are the parents, then the value.
impl Operator for Formula {
    fn value(&self, arguments: &[f64]) -> f64 {
        match arguments.split_last() {
            Some((&value, parents)) => self.noise(parents, value).unwrap_or(f64::NAN),
            None => f64::NAN,
        }
    }

    fn gradient(&self, arguments: &[f64]) -> Vec<f64> {
        let Some((_, parents)) = arguments.split_last() else { return Vec::new() };
        self.noise_slopes(parents, Operator::value(self, arguments))
    }

    /// The formula rises (or falls) with the noise whatever the parents. So if at some noise
    /// even its largest value over all parents is below every value asked for, the noise that
    /// is searched for is larger; and likewise for an upper bound.
    fn range(&self, arguments: &[Interval]) -> Interval {
        let Some((value, parents)) = arguments.split_last() else { return Interval::EVERYTHING };
        let sign = match self.inversion {
            Inversion::Search { increasing: false } => -1.0,
            _ => 1.0,
        };
        let own = |v: f64| self.feature.own_units(v);
        // The search itself stops within a rounding error of the root.
        let value = Interval { lower: own(value.lower), upper: own(value.upper) }.widened(1e-12);
        let at = |noise: f64| {
            let range = self.own_range(parents, Interval::point(noise));
            if sign > 0.0 { (range, value) } else { (flipped(range), flipped(value)) }
        };
        let below = |noise: f64| matches!(at(noise), (range, value) if range.upper < value.lower);
        let above = |noise: f64| matches!(at(noise), (range, value) if range.lower > value.upper);
        Interval { lower: last(below, f64::NEG_INFINITY), upper: last(above, f64::INFINITY) }
    }
}
