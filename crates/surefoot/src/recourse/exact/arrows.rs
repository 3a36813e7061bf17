//! The arrows of a linear causal model, and how linear functions of the features respond along them.

use crate::{Problem, Result};

/// An arrow of the graph: a unit of the cause adds `coefficient` to the effect.
#[derive(Clone, Copy, Debug)]
struct Arrow {
    cause: usize,
    effect: usize,
    coefficient: f64,
}

/// The arrows of a linear causal model; none if there is no model.
#[derive(Clone, Debug)]
pub(super) struct Arrows {
    /// Effects before their causes: an arrow comes after all arrows that leave its effect.
    arrows: Vec<Arrow>,
    width: usize,
}

/// Whether an action names a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Membership {
    /// It is named, so that it does not follow its causes.
    In,
    /// It is not named.
    Out,
    /// Not decided.
    Open,
}

impl Arrows {
    /// The arrows of a problem's causal model. Rejects equations that are not linear.
    pub fn new(problem: &Problem) -> Result<Self> {
        let width = problem.features().len();
        let Some(scm) = problem.scm() else { return Ok(Self { arrows: Vec::new(), width }) };
        let coefficients = scm.coefficients()?;
        let order = scm.causal_order().iter().rev();
        let arrows = order.flat_map(|&effect| {
            let coefficients = &coefficients;
            let arrow =
                move |&cause: &usize| Arrow { cause, effect, coefficient: coefficients[[effect, cause]] };
            scm.parents(effect).iter().map(arrow)
        });
        Ok(Self { arrows: arrows.collect(), width })
    }

    /// What a unit of each feature adds to a linear function, directly and through features that are not
    /// cut.
    pub fn response(&self, function: &[f64], is_cut: &[bool]) -> Vec<f64> {
        let mut response = function.to_vec();
        for arrow in self.arrows.iter().filter(|arrow| !is_cut[arrow.effect]) {
            response[arrow.cause] += arrow.coefficient * response[arrow.effect];
        }
        response
    }

    /// For each feature, the sum of the absolute values of all terms through which it affects a linear
    /// function. Rounding errors are relative to it.
    pub fn sizes(&self, function: &[f64], is_cut: &[bool]) -> Vec<f64> {
        let mut sizes: Vec<f64> = function.iter().map(|w| w.abs()).collect();
        for arrow in self.arrows.iter().filter(|arrow| !is_cut[arrow.effect]) {
            sizes[arrow.cause] += arrow.coefficient.abs() * sizes[arrow.effect];
        }
        sizes
    }

    /// Encloses [`Arrows::response`] for every decision about the open features.
    pub fn enclosed_response(&self, function: &[f64], members: &[Membership]) -> Enclosure {
        let (mut lower, mut upper) = (function.to_vec(), function.to_vec());
        for &Arrow { cause, effect, coefficient } in &self.arrows {
            let (mut low, mut high) = (lower[effect], upper[effect]);
            match members[effect] {
                Membership::In => continue,
                Membership::Out => {}
                Membership::Open => (low, high) = (low.min(0.0), high.max(0.0)),
            }
            let (a, b) = (coefficient * low, coefficient * high);
            lower[cause] += a.min(b);
            upper[cause] += a.max(b);
        }
        Enclosure { lower, upper }
    }

    /// The consequences of the changes of some features. `decide` is called for each feature, causes
    /// first, with the change by which it would follow, and returns its actual change.
    pub fn consequences(&self, mut decide: impl FnMut(usize, f64) -> f64) -> Vec<f64> {
        let mut change = vec![0.0; self.width];
        let mut is_decided = vec![false; self.width];
        // Arrows into the same effect are adjacent.
        for arrow in self.arrows.iter().rev() {
            if !is_decided[arrow.cause] {
                change[arrow.cause] = decide(arrow.cause, change[arrow.cause]);
                is_decided[arrow.cause] = true;
            }
            change[arrow.effect] += arrow.coefficient * change[arrow.cause];
        }
        for i in (0..self.width).filter(|&i| !is_decided[i]) {
            change[i] = decide(i, change[i]);
        }
        change
    }

    /// Calls a function with the cause, the effect and the coefficient of each arrow, causes first.
    pub fn for_each_forwards(&self, mut call: impl FnMut(usize, usize, f64)) {
        self.arrows.iter().rev().for_each(|arrow| call(arrow.cause, arrow.effect, arrow.coefficient));
    }
}

/// Lower and upper bounds of numbers, one of each for every feature.
#[derive(Clone, Debug)]
pub(super) struct Enclosure {
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
}
