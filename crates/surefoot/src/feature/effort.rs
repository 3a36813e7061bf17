//! Steps and largest changes: by how much an action may change a feature.

use super::{Change, Feature, Kind, Shown};
use crate::Error;
use crate::error::{EffortProblem, FeatureError};
use crate::magnitude::is_scale;

impl Feature {
    /// Sets the smallest change, in own units, of which every change is a multiple.
    pub fn step(mut self, step: f64) -> Self {
        self.step = Some(step);
        self
    }

    /// Sets the largest change, in own units.
    pub fn most_change(mut self, most: f64) -> Self {
        self.most_change = most;
        self
    }

    /// Sets the largest change as a share of a person's own value.
    pub fn most_change_share(mut self, share: f64) -> Self {
        self.most_change_share = share;
        self
    }

    /// The distance between neighbouring changes, in own units: the step if one is set, otherwise 1 for integer and
    /// binary features. `None` if a change may be any number.
    pub(crate) fn spacing(&self) -> Option<f64> {
        self.step.or((self.kind != Kind::Real).then_some(1.0))
    }

    /// The number of steps in one standard deviation. `None` if a change may be any number.
    pub(crate) fn steps_per_std(&self) -> Option<f64> {
        self.spacing().map(|spacing| self.std / spacing)
    }

    /// The value from which an action starts, in own units, given in standardised units.
    pub(crate) fn start(&self, value: f64) -> f64 {
        let own = self.own_units(value);
        if self.kind == Kind::Real { own } else { own.round() }
    }

    /// The largest change, in own units, of somebody with this value in own units; infinite for no limit.
    pub(crate) fn largest_change(&self, from: f64) -> f64 {
        let share = if self.most_change_share.is_finite() {
            self.most_change_share * from.abs()
        } else {
            f64::INFINITY
        };
        self.most_change.min(share)
    }

    /// The lowest and highest number of steps by which an action may change a value;
    /// see [`feasible_change`](crate::action::feasible_change).
    pub(crate) fn feasible_steps(&self, value: f64) -> (f64, f64) {
        let spacing = self.spacing().unwrap_or(1.0);
        let from = self.start(value);
        let (mut down, mut up) = match self.kind {
            Kind::Real => {
                // A limit that is reached but for the rounding of units counts as reached.
                let room = |limit: f64| self.rounding_of(from, limit);
                (
                    ((self.lower - room(self.lower) - from) / spacing).ceil(),
                    ((self.upper + room(self.upper) - from) / spacing).floor(),
                )
            }
            Kind::Integer | Kind::Binary => {
                let room = |limit: f64| if limit.is_finite() { 1e-9 * limit.abs().max(1.0) } else { 0.0 };
                let (mut lower, mut upper) =
                    ((self.lower - room(self.lower)).ceil(), (self.upper + room(self.upper)).floor());
                if self.kind == Kind::Binary {
                    (lower, upper) = (lower.max(0.0), upper.min(1.0));
                }
                (((lower - from) / spacing).ceil(), ((upper - from) / spacing).floor())
            }
        };
        let most = self.largest_change(from);
        if most.is_finite() {
            let steps = ((most + self.rounding_of(from, most)) / spacing).floor();
            (down, up) = (down.max(-steps), up.min(steps));
        }
        (down, up) = (down.min(0.0), up.max(0.0));
        match self.change {
            Change::Fixed => (0.0, 0.0),
            Change::Any => (down, up),
            Change::Increase => (0.0, up),
            Change::Decrease => (down, 0.0),
        }
    }

    /// A bound of the rounding error, in own units, of the difference between a value and a limit.
    fn rounding_of(&self, from: f64, limit: f64) -> f64 {
        if limit.is_finite() {
            16.0 * f64::EPSILON * (self.mean.abs() + from.abs() + limit.abs())
        } else {
            0.0
        }
    }

    /// A change in own units without the rounding error of units: a number very close to a multiple of the
    /// [spacing](Feature::spacing) becomes that multiple.
    pub(crate) fn snap_to_step(&self, change: f64) -> f64 {
        let Some(spacing) = self.spacing() else { return change };
        let steps = (change / spacing).round();
        if (change / spacing - steps).abs() > 1e-9 * steps.abs().max(1.0) {
            return change;
        }
        if spacing.fract() == 0.0 {
            return steps * spacing + 0.0;
        }
        // Of a product such as 3 * 0.1, twelve digits are those of the decimal number that is meant.
        let product = steps * spacing;
        format!("{product:.11e}").parse().map_or(product, |decimal: f64| decimal + 0.0)
    }

    /// Whether the change of a value in own units is no larger than the largest change, up to rounding.
    pub(crate) fn allows_change(&self, from: f64, change: f64) -> bool {
        let most = self.largest_change(from);
        change.abs() <= most + self.rounding_of(from, most)
    }

    /// Everything that is wrong with its step and with its largest change.
    pub(super) fn effort_mistakes(&self) -> Vec<Error> {
        let feature = || self.name.clone();
        let mut mistakes = Vec::new();
        let levels = matches!(self.shown, Shown::Ordered(_));
        if let Some(step) = self.step {
            let problem = match () {
                () if self.kind == Kind::Binary || levels => Some(EffortProblem::StepOfCategory),
                () if !is_scale(step) => Some(EffortProblem::StepSize { step }),
                () if self.kind == Kind::Integer && step.fract() != 0.0 => {
                    Some(EffortProblem::StepOfInteger { step })
                }
                () => None,
            };
            mistakes.extend(problem.map(|problem| FeatureError::FeatureStep { feature: feature(), problem }));
        }
        if self.most_change != f64::INFINITY {
            let problem = match () {
                () if self.kind == Kind::Binary => Some(EffortProblem::MostOfCategory),
                () if !is_scale(self.most_change) => Some(EffortProblem::Most { most: self.most_change }),
                () => None,
            };
            mistakes.extend(
                problem.map(|problem| FeatureError::FeatureMostChange { feature: feature(), problem }),
            );
        }
        if self.most_change_share != f64::INFINITY {
            let problem = match () {
                () if self.kind == Kind::Binary || levels => Some(EffortProblem::ShareOfCategory),
                () if !is_scale(self.most_change_share) => {
                    Some(EffortProblem::Most { most: self.most_change_share })
                }
                () => None,
            };
            mistakes.extend(
                problem.map(|problem| FeatureError::FeatureMostShare { feature: feature(), problem }),
            );
        }
        mistakes.into_iter().map(Error::Feature).collect()
    }
}
