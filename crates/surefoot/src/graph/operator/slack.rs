//! An unknown number with a known bound, as an operator.

use super::{Elements, Operator};
use crate::graph::Interval;
use crate::graph::affine::{Affine, Place, State};

/// Any number of absolute value at most `second * max(|first|, 1)`, for the two arguments. It stands for
/// rounding errors and for unknown values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slack;

impl Operator for Slack {
    fn value(&self, _arguments: &[f64]) -> f64 {
        0.0
    }

    fn range(&self, arguments: &[Interval]) -> Interval {
        let radius = arguments[1].size() * arguments[0].size().max(1.0);
        Interval { lower: -radius, upper: radius }
    }

    /// Splitting the region does not reduce the bound, so no input gets a share of its error.
    fn enclose(&self, affine: &mut Affine, place: &Place<'_>, state: &mut State) -> bool {
        let [form, relative] = place.arguments else { unreachable!("slack has two arguments") };
        let mut row = std::mem::take(&mut affine.row);
        affine.substitute(form, place.columns(), place.region, &mut row);
        let radius = relative.constant * affine.range(&row, form, place.region).size().max(1.0);
        affine.row = row;
        state.values = Interval { lower: -radius, upper: radius };
        state.become_constant(place, 0.0, radius);
        false
    }

    fn elements(&self) -> Elements<'_> {
        Elements::Slack
    }
}
