//! Products of balls over groups of inputs: the checker's own formulas.
//!
//! What a group contributes to a bound does not depend on the others, so bounds are sums over groups. A group
//! of one input, of the linf norm or with radius zero only limits the sides of the box.

use super::ball::{Ball, Shape};
use super::zone::rounding;
use crate::uncertainty::Factor;

/// A group of inputs with its ball.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Group {
    inputs: Vec<usize>,
    ball: Ball,
}

impl Group {
    /// The groups of a product whose balls are not boxes, with radii multiplied by `radius`.
    pub fn of_factors(factors: &[Factor], radius: f64) -> Vec<Self> {
        let group = |factor: &Factor| {
            let shape = Shape::of_name(factor.set.name())?;
            let count = factor.coordinates.len();
            let ball = Ball { shape, weights: vec![1.0; count], radius: radius * factor.radius };
            (count > 1 && factor.radius > 0.0).then(|| Self { inputs: factor.coordinates.clone(), ball })
        };
        factors.iter().filter_map(group).collect()
    }

    fn of(&self, values: &[f64]) -> Vec<f64> {
        self.inputs.iter().map(|&i| values[i]).collect()
    }

    fn put(&self, values: &mut [f64], own: &[f64]) {
        self.inputs.iter().zip(own).for_each(|(&i, &y)| values[i] = y);
    }

    pub fn contains(&self, y: &[f64]) -> bool {
        self.ball.contains(&self.of(y))
    }

    /// Shrinks the group's sides to their part in its ball; `false` if they are disjoint.
    pub fn tighten(&self, lower: &mut [f64], upper: &mut [f64]) -> bool {
        let (mut first, mut last) = (self.of(lower), self.of(upper));
        let meets = self.ball.tighten(&mut first, &mut last);
        self.put(lower, &first);
        self.put(upper, &last);
        meets
    }

    /// Replaces the group's coordinates by those of a low point near its ball.
    pub fn lower_point(&self, at: &mut [f64], lower: &[f64], upper: &[f64], linear: &[f64]) {
        let own = self.ball.low_point(&self.of(lower), &self.of(upper), &self.of(linear));
        self.put(at, &own);
    }
}

/// A lower bound of `linear . y` over the part of a box that is in the balls of all groups: for each group the
/// better one of the bounds over its sides and over its ball, for every other input the bound over its side.
pub(super) fn least(groups: &[Group], lower: &[f64], upper: &[f64], linear: &[f64]) -> f64 {
    let end = |i: usize| match linear[i] {
        0.0 => 0.0,
        a => a * if a > 0.0 { lower[i] } else { upper[i] },
    };
    let over_sides = |inputs: &[usize]| -> f64 {
        let terms = inputs.iter().map(|&i| end(i));
        let (sum, size) = terms.fold((0.0, 0.0), |(sum, size), term| (sum + term, size + term.abs()));
        sum - rounding(inputs.len()) * size
    };
    let is_grouped = |i: &usize| groups.iter().any(|group| group.inputs.contains(i));
    let others: Vec<usize> = (0..linear.len()).filter(|i| !is_grouped(i)).collect();
    let mut bounds = vec![over_sides(&others)];
    for group in groups {
        let (first, last) = (group.of(lower), group.of(upper));
        let of_ball = group.ball.least(&first, &last, &group.of(linear));
        bounds.push(of_ball.max(over_sides(&group.inputs)));
    }
    let size: f64 = bounds.iter().map(|bound| bound.abs()).sum();
    bounds.iter().sum::<f64>() - rounding(bounds.len()) * size
}
