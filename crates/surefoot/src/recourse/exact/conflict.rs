//! The feature at which a relaxation contradicts itself most.

use super::arrows::{Arrows, Enclosure, Membership};
use super::relaxation::{Decided, Move, Moves, Relaxation};

impl Relaxation<'_, '_> {
    /// The open unit whose membership the solution uses both ways to the greatest benefit; `None` if there
    /// is none.
    ///
    /// The changes of the solution flow along the arrows as the bounds of the gains assume. Where an open
    /// feature receives a flow, the bounds let it follow for the parts that benefit and hold for the others.
    /// Deciding it either way loses one of the two; the smaller loss is the least rise of the bound.
    pub(super) fn conflict(
        &self,
        decided: &Decided,
        moves: &Moves,
        point: &[f64],
        response: &Enclosure,
    ) -> Option<usize> {
        let width = decided.members.len();
        let (mut own_rise, mut own_fall) = (vec![0.0; width], vec![0.0; width]);
        for (Move { position, sign }, by) in moves.moves.iter().zip(point) {
            let own = if *sign > 0.0 { &mut own_rise } else { &mut own_fall };
            own[self.features[*position]] += by;
        }
        let (rise, fall) = flows(&self.exact.arrows, decided, response, (&own_rise, &own_fall));
        let losses = |&i: &usize| {
            let (low, high) = (response.lower[i], response.upper[i]);
            let if_held = rise[i] * high.max(0.0) + fall[i] * (-low).max(0.0);
            let if_following = rise[i] * (-high).max(0.0)
                + fall[i] * low.max(0.0)
                + own_rise[i] * high.max(0.0)
                + own_fall[i] * (-low).max(0.0);
            (if_held, if_following)
        };
        let mut best: Option<(f64, usize)> = None;
        for (number, unit) in self.exact.optional.iter().enumerate() {
            if decided.members[unit[0]] != Membership::Open {
                continue;
            }
            let (held, following) = unit
                .iter()
                .map(losses)
                .fold((0.0, 0.0), |(a, b), (held, following)| (a + held, b + following));
            let loss = held.min(following);
            if loss > 0.0 && best.is_none_or(|(most, _)| loss > most) {
                best = Some((loss, number));
            }
        }
        best.map(|(_, number)| number)
    }
}

/// The rising and the falling flow into every feature, given the features' own rises and falls.
fn flows(
    arrows: &Arrows,
    decided: &Decided,
    response: &Enclosure,
    (own_rise, own_fall): (&[f64], &[f64]),
) -> (Vec<f64>, Vec<f64>) {
    let width = decided.members.len();
    let (mut rise, mut fall) = (vec![0.0; width], vec![0.0; width]);
    arrows.for_each_forwards(|cause, effect, coefficient| {
        let (up, down) = match decided.members[cause] {
            Membership::In => (own_rise[cause], own_fall[cause]),
            Membership::Out => (rise[cause], fall[cause]),
            Membership::Open => {
                let passes = |flow: f64, is_used: bool| if is_used { flow } else { 0.0 };
                (
                    own_rise[cause] + passes(rise[cause], response.upper[cause] > 0.0),
                    own_fall[cause] + passes(fall[cause], response.lower[cause] < 0.0),
                )
            }
        };
        let (up, down) = if coefficient > 0.0 { (up, down) } else { (down, up) };
        rise[effect] += coefficient.abs() * up;
        fall[effect] += coefficient.abs() * down;
    });
    (rise, fall)
}
