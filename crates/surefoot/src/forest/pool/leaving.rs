//! The price of leaving a cell.

use super::Bad;
use crate::forest::{Cell, Scene};

impl Bad {
    /// A lower bound of the price, beyond the cheapest action of a box, at which the ball no longer reaches the
    /// enlarged cell; infinite if that is so nowhere in the box. If it is not above `above`, any lower bound that is not
    /// either. Features must not be linked, and prices are
    /// sums: each coordinate's term is convex in its change, so its chord and a fractional knapsack bound the
    /// price.
    pub fn leaving(
        &self,
        scene: &Scene<'_>,
        cheapest: &[f64],
        ranges: &Cell,
        usable: f64,
        above: f64,
    ) -> f64 {
        let ball = scene.ball.with_radius(usable);
        let (mut have, limit) = (0.0, ball.limit());
        // The price for what is gained, the price, and what is gained.
        let mut ways: Vec<(f64, f64, f64)> = Vec::with_capacity(2 * self.bounded.len());
        let mut least = f64::INFINITY;
        for &(i, lower, upper) in &self.bounded {
            let i = i as usize;
            let own = (lower - cheapest[i]).max(cheapest[i] - upper).max(0.0);
            let is_still = !scene.live[i] || usable == 0.0;
            // Lower ends are exclusive.
            if is_still && (own > 0.0 || cheapest[i] <= lower) {
                return 0.0;
            }
            let w = scene.weights[i];
            let now = ball.term(own * w);
            have += now;
            if have > limit {
                return 0.0;
            }
            let Some(&(k, _)) = scene.effects[i].first() else { continue };
            let reach = if scene.live[i] { usable / w } else { 0.0 };
            for (end, edge, sign) in [(ranges.upper[i], upper, 1.0), (ranges.lower[i], lower, -1.0)] {
                let beyond = sign * (end - edge);
                let is_at_end = is_still && sign < 0.0 && beyond == 0.0;
                if !(beyond > 0.0 || is_at_end) {
                    continue;
                }
                let far = edge + sign * beyond.min(reach);
                let price = scene.prices[k] * (sign * (far - cheapest[i])).max(0.0);
                // Alone it leads out of reach; by any way for a feature that no perturbation moves.
                if beyond > reach || is_at_end {
                    least = least.min(price);
                    if least <= above {
                        return 0.0;
                    }
                }
                let gained = ball.term(beyond.min(reach) * w) - now;
                if gained > 0.0 {
                    ways.push((price / gained, price, gained));
                }
            }
        }
        if ball.power == f64::INFINITY {
            return least;
        }
        let mut needed = limit - have;
        if needed <= 0.0 {
            return 0.0;
        }
        let mut price = 0.0;
        // Few ways are needed, so the list is not sorted.
        while let Some(next) = (0..ways.len()).min_by(|&a, &b| ways[a].0.total_cmp(&ways[b].0)) {
            let (_, way, gained) = ways.swap_remove(next);
            if gained >= needed {
                return least.min(price + way * needed / gained);
            }
            price += way;
            needed -= gained;
        }
        least
    }
}
