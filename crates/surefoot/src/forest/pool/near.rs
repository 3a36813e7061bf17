//! Whether a ball reaches an enlarged cell.

use super::{Bad, Side};
use crate::forest::{Cell, Scene};

impl Bad {
    /// Whether the ball around a centre reaches the enlarged cell.
    pub fn is_near(&self, scene: &Scene<'_>, centre: &[f64], usable: f64) -> bool {
        let ball = scene.ball.with_radius(usable);
        match scene.is_linked() {
            true => self.approach(scene, centre, ball.limit()).is_some() || self.pushes(scene, centre),
            false => {
                let mut sum = 0.0;
                for &(i, lower, upper) in &self.bounded {
                    let (i, c) = (i as usize, centre[i as usize]);
                    let beyond = (lower - c).max(c - upper);
                    if beyond > 0.0 || c <= lower {
                        if !scene.live[i] {
                            return false;
                        }
                        sum += ball.term(beyond * scene.weights[i]);
                        if sum > ball.limit() {
                            return false;
                        }
                    }
                }
                true
            }
        }
    }

    /// The same as [`Bad::is_near`]. It looks first at the side by which the ball did not reach the cell when it was asked
    /// before, since most cells are apart from most centres by the same side.
    pub fn is_near_again(&mut self, scene: &Scene<'_>, centre: &[f64], usable: f64) -> bool {
        if scene.is_linked() {
            return self.is_near(scene, centre, usable);
        }
        let ball = scene.ball.with_radius(usable);
        let limit = ball.limit();
        let term = |&(i, lower, upper): &Side| {
            let (i, c) = (i as usize, centre[i as usize]);
            let beyond = (lower - c).max(c - upper);
            match beyond > 0.0 || c <= lower {
                true if !scene.live[i] => f64::INFINITY,
                true => ball.term(beyond * scene.weights[i]),
                false => 0.0,
            }
        };
        if term(&self.apart) > limit {
            return false;
        }
        let mut sum = 0.0;
        for side in &self.bounded {
            sum += term(side);
            if sum > limit {
                self.apart = *side;
                return false;
            }
        }
        true
    }

    /// Whether the ball around some centre of a box may reach the enlarged cell.
    pub fn may_be_near(&self, scene: &Scene<'_>, ranges: &Cell, usable: f64) -> bool {
        if scene.is_linked() {
            return true;
        }
        let ball = scene.ball.with_radius(usable);
        let limit = ball.limit();
        let mut sum = 0.0;
        for &(i, lower, upper) in &self.bounded {
            let i = i as usize;
            let beyond = (lower - ranges.upper[i]).max(ranges.lower[i] - upper);
            if beyond > 0.0 {
                sum += if scene.live[i] { ball.term(beyond * scene.weights[i]) } else { f64::INFINITY };
                if sum > limit {
                    return false;
                }
            }
        }
        true
    }
}
