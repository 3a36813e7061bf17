//! The linf unit ball.

use super::UncertaintySet;
use crate::length::{largest_size, sum_of_sizes};

/// `max_i |y_i| <= 1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linf;

impl UncertaintySet for Linf {
    fn name(&self) -> &'static str {
        "linf"
    }

    fn words(&self) -> &'static str {
        "each alone or all together"
    }

    fn gauge(&self, y: &[f64]) -> f64 {
        largest_size(y.iter().copied())
    }

    fn support(&self, row: &[f64]) -> f64 {
        sum_of_sizes(row.iter().copied())
    }

    fn project(&self, y: &mut [f64], radius: f64) {
        y.iter_mut().for_each(|y| *y = y.clamp(-radius, radius));
    }

    fn project_weighted(&self, v: &mut [f64], weights: &[f64], radius: f64) {
        for (v, w) in v.iter_mut().zip(weights) {
            let bound = radius / w;
            *v = v.clamp(-bound, bound);
        }
    }

    fn maximiser(&self, row: &[f64]) -> Vec<f64> {
        row.iter().map(|&r| if r == 0.0 { 0.0 } else { 1.0f64.copysign(r) }).collect()
    }

    fn power(&self) -> Option<f64> {
        Some(f64::INFINITY)
    }

    fn half_widths(&self, inputs: usize) -> Vec<f64> {
        vec![1.0; inputs]
    }

    fn is_box(&self) -> bool {
        true
    }
}
