//! Which share of errors an uncertainty covers.
//!
//! Errors are assumed to be independent and normal, with mean zero and a standard deviation that is the same
//! share of that of each feature. Where the problem states a covariance, the errors have this covariance times
//! the square of the share. The uncertainty covers an error if it is one of the shifts that actions must
//! withstand. Exact features have no error.
//!
//! The probability is a product: of the distribution of the norm over the ball of the problem, over each
//! group with a ball of its own, and over each interval. For l2 these are distribution functions of
//! chi-square, for linf products of error functions, for l1 they are found numerically.

mod distribution;
mod functions;
#[cfg(test)]
mod tests;

use distribution::{Distribution, between};

use crate::error::SettingError;
use crate::magnitude::is_scale;
use crate::margin::shift_intervals;
use crate::uncertainty::Shift;
use crate::{Error, Norm, Problem, Result};

/// The distribution of errors over the balls of a problem, and the probability of its intervals.
#[derive(Clone, Debug)]
pub struct Coverage {
    /// Each ball with its radius in the problem.
    balls: Vec<(Distribution, f64)>,
    /// The probability that errors stay within all intervals.
    intervals: f64,
}

/// Steps of a bisection after which neighbouring numbers are reached.
const HALVINGS: usize = 200;

impl Coverage {
    /// The errors have standard deviations of `share` times those of the features. The individual matters for
    /// intervals that depend on their values.
    ///
    /// # Errors
    /// If the share is not positive, if the norm of the problem is not l1, l2 or linf, or if a value of the
    /// individual is not in the interval that the problem states for it.
    pub fn new(problem: &Problem, share: f64, individual: Option<&[f64]>) -> Result<Self> {
        if !is_scale(share) {
            return Err(Error::Setting(SettingError::Setting { setting: "error", value: share }));
        }
        let n = problem.features().len();
        let weights = problem.norm().weights().map_or(vec![1.0; n], <[f64]>::to_vec);
        let sources = problem.sources().cloned().unwrap_or_default();
        let is_grouped = |i: &usize| sources.groups.iter().any(|group| group.features.contains(i));
        let in_ball: Vec<usize> =
            (0..n).filter(|i| sources.shift(*i) == Shift::Ball && !is_grouped(i)).collect();
        // A shift is a coordinate divided by the weight of its feature, or a mixture of such coordinates, whose
        // errors are those of the covariance if the coordinates' are independent.
        let mixed = |i: usize| {
            let row = sources.factor.chunks(n).nth(i);
            row.is_some_and(|row| (0..n).any(|j| row[j] != f64::from(i == j)))
        };
        let deviations = |members: &[usize]| -> Vec<f64> {
            members.iter().map(|&i| if mixed(i) { share } else { share * weights[i] }).collect()
        };
        let ball = |norm: &Norm, members: &[usize], radius: f64| -> Result<(Distribution, f64)> {
            let power = norm.set().power().filter(|_| norm.set().is_listed());
            let power = power.ok_or(Error::Setting(SettingError::OwnSet { set: norm.name() }))?;
            Ok((Distribution::new(power, &deviations(members)), radius))
        };
        let mut balls = Vec::new();
        if !in_ball.is_empty() {
            balls.push(ball(problem.norm(), &in_ball, problem.epsilon())?);
        }
        for group in &sources.groups {
            balls.push(ball(&Norm::unweighted(group.norm), &group.features, group.epsilon)?);
        }
        let reach = shift_intervals(problem, individual)?;
        let interval = |(i, ends): (usize, Option<(f64, f64)>)| match (sources.shift(i), ends) {
            (Shift::Ball | Shift::Exact, _) | (_, None) => 1.0,
            (_, Some((lower, upper))) => between(lower, upper, share),
        };
        let intervals = reach.into_iter().enumerate().map(interval).product();
        Ok(Self { balls, intervals })
    }

    /// The probability that an error is covered.
    pub fn probability(&self) -> f64 {
        self.scaled(1.0)
    }

    /// The same where all radii are multiplied by a factor. Intervals stay as they are.
    fn scaled(&self, factor: f64) -> f64 {
        let balls = self.balls.iter().map(|(distribution, radius)| distribution.at_most(factor * radius));
        self.intervals * balls.product::<f64>()
    }

    /// The least factor of all radii with which at least this share of errors is covered. Where all radii are
    /// zero, as in a problem that does not say yet how much to guard against, the radii are taken to be one.
    /// `None` if no radius suffices, because intervals alone cover less.
    pub fn factor(&self, probability: f64) -> Option<f64> {
        let mut this = self.clone();
        if this.balls.iter().all(|(_, radius)| *radius == 0.0) {
            this.balls.iter_mut().for_each(|(_, radius)| *radius = 1.0);
        }
        let (mut low, mut high) = (0.0, 1e-3);
        while this.scaled(high) < probability {
            (low, high) = (high, 2.0 * high);
            if high > 1e9 {
                return None;
            }
        }
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            if this.scaled(middle) < probability { low = middle } else { high = middle }
        }
        Some(high)
    }
}

/// The least radius that covers a share of observed errors, and of errors that come from where they come from:
/// with n of them, the one in place `(n + 1) probability` in the order of their sizes, rounded up. A further
/// error, drawn like the others, then has at most this size with at least this probability.
///
/// `None` if there are too few errors for this probability.
pub fn radius_of_errors(sizes: &[f64], probability: f64) -> Option<f64> {
    let mut sorted = sizes.to_vec();
    sorted.sort_by(f64::total_cmp);
    // Less a rounding error, so that 95% of 19 + 1 is 19.
    let place = ((sizes.len() + 1) as f64 * probability - 1e-9).ceil().max(1.0);
    sorted.get(place as usize - 1).copied()
}
