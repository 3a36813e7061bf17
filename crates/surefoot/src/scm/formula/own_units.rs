//! The formula of an equation in the units of its features: values, derivatives, ranges and graphs.

use super::{Formula, Slot};
use crate::Feature;
use crate::expression::{Clip, Expression};
use crate::graph::{AffineForm, Builder, Interval, Intervals};

impl Formula {
    pub(super) fn parent(&self, j: usize, parents: &[f64]) -> f64 {
        self.parents[j].own_units(parents[j])
    }

    /// The value of a slot, given the noise or the value (whichever the formula uses), all
    /// in own units.
    pub(super) fn input(&self, slot: Slot, parents: &[f64], other: f64) -> f64 {
        match slot {
            Slot::Parent(j) => self.parent(j, parents),
            Slot::Noise | Slot::Value => other,
        }
    }

    pub(super) fn own_value(&self, parents: &[f64], noise: f64) -> f64 {
        self.expression.evaluate(&|slot| self.input(self.slots[slot], parents, noise))
    }

    /// The value inside the clips.
    pub(super) fn own_inside(&self, parents: &[f64], noise: f64) -> f64 {
        self.inside.evaluate(&|slot| self.input(self.slots[slot], parents, noise))
    }

    pub(super) fn own_clipped(&self, parents: &[f64], own: f64) -> f64 {
        let limit = |clip: &Clip| clip.limit.evaluate(&|slot| self.input(self.slots[slot], parents, own));
        self.clips.iter().rev().fold(own, |value, clip| clip.apply(value, limit(clip)))
    }

    pub(super) fn derivative(&self, of: Slot, parents: &[f64], noise: f64) -> f64 {
        self.derivative_of(&self.expression, &self.slots, of, parents, noise)
    }

    /// The derivative of one of the formulas, given the noise or the value, whichever it uses.
    pub(super) fn derivative_of(
        &self,
        expression: &Expression,
        slots: &[Slot],
        of: Slot,
        parents: &[f64],
        other: f64,
    ) -> f64 {
        let slot = slots.iter().position(|&slot| slot == of);
        slot.map_or(0.0, |slot| expression.derivative(slot, &|slot| self.input(slots[slot], parents, other)))
    }

    /// One of the formulas as a part of a graph, in own units.
    pub(super) fn compose_own<'a>(
        &'a self,
        graph: &mut Builder<'a>,
        expression: &Expression,
        slots: &[Slot],
        parents: &[AffineForm],
        other: &AffineForm,
    ) -> AffineForm {
        let own = |j: usize| parents[j].clone().scaled(self.parents[j].std).shifted(self.parents[j].mean);
        expression.fold(graph, &|slot| match slots[slot] {
            Slot::Parent(j) => own(j),
            Slot::Noise | Slot::Value => other.clone(),
        })
    }

    /// The range of values inside the clips.
    pub(super) fn own_range(&self, parents: &[Interval], noise: Interval) -> Interval {
        self.inside.fold(&mut Intervals, &|slot| match self.slots[slot] {
            Slot::Parent(j) => {
                let (Feature { mean, std, .. }, p) = (&self.parents[j], parents[j]);
                Interval { lower: mean + std * p.lower, upper: mean + std * p.upper }
                    .widened(8.0 * f64::EPSILON)
            }
            Slot::Noise | Slot::Value => noise,
        })
    }
}
