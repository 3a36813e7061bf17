//! Bounds of a relu network over a limit on the cost, from its values at the ends of rays.
//!
//! Every action within the limit is an average of the cheapest action `b` and of the ends of the rays
//! ([`Rays`]). So a convex function is at most the same average of its values there,
//!
//! ```text
//! g(t) <= g(b) + sum_i x_i (g(b +- reach_i e_i) - g(b)),    x_i = |t_i - b_i| / reach_i,
//! ```
//!
//! which is linear in the changes up and down. This is far better than chords over the ranges of units: many
//! changes together move a unit much further than any single one.
//!
//! Every unit has a convex function above it and a concave one below it. A sum takes them by the signs of its
//! weights. relu is convex and increasing, so relu of the function above the argument is above the unit, as is a
//! chord of it; a line `a z` with `0 <= a <= 1` of the function below the argument is below the unit. Only the
//! values at base and ends are computed. They bound the ranges of the units too.

use crate::Activation;
use crate::graph::affine::{Affine, Interpolated, Plane, State, rounding};
use crate::graph::jet::{Jets, Point};
use crate::graph::operator::LayerState;
use crate::graph::{Interval, Rays, Region};
use crate::network::{LANES, Layer, Network};

/// A chord replaces an interpolated unit where it is closer to the unit by this share of the unit's largest value.
/// Both are the same at the ends of rays, where rounding must not decide.
const CLEARLY: f64 = 0.01;

/// Values at the base and at the ends of the rays: of a convex function above a number and of a concave one
/// below it.
struct Pair {
    above: Vec<f64>,
    below: Vec<f64>,
}

/// A bound above `share` times a network plus `rest`; see
/// [`Bounded::interpolate`](crate::graph::Bounded::interpolate).
pub(super) fn interpolate(
    network: &Network,
    affine: &mut Affine,
    region: &Region,
    jets: &Jets,
    (share, rest): (f64, Plane),
    at: &[f64],
) -> Option<Interpolated> {
    let rays = region.rays()?;
    // The arguments must be affine in the changes.
    let [State { layers, .. }] = &affine.states[..] else { return None };
    if network.activation() != Activation::Relu {
        return None;
    }
    affine.refined += 1;
    let ends = Ends::new(&rays, at);
    let mut pairs: Vec<Pair> = Vec::new();
    for (number, layer) in layers.iter().enumerate() {
        let count = network.layers()[number].bias.len();
        let arguments: Vec<Pair> = match number {
            0 => (0..count).map(|j| ends.argument(layer, j)).collect(),
            _ => sums(&network.layers()[number], &pairs),
        };
        let z = &jets.points[0].layers[number].z;
        let place = |values: &[crate::network::Lanes], j: usize| values[j / LANES].0[j % LANES];
        pairs = arguments
            .into_iter()
            .enumerate()
            .map(|(j, argument)| {
                let range = Interval { lower: place(&layer.lower, j), upper: place(&layer.upper, j) };
                ends.relu(argument, range, place(z, j))
            })
            .collect();
    }
    let output = sums(network.layers().last()?, &pairs).pop()?;
    let values = if share > 0.0 { &output.above } else { &output.below };
    ends.interpolated(values, share, rest)
}

/// The arguments of the units of a layer, from the units of the layer below, with their rounding errors.
fn sums(layer: &Layer, units: &[Pair]) -> Vec<Pair> {
    let width = units.first().map_or(0, |pair| pair.above.len());
    let room = rounding(units.len() + 8);
    let sum = |(row, &bias): (ndarray::ArrayView1<'_, f64>, &f64)| {
        let mut pair = Pair { above: vec![bias; width], below: vec![bias; width] };
        let mut sizes = vec![bias.abs(); width];
        for (&weight, unit) in row.iter().zip(units) {
            let (upper, lower) =
                if weight > 0.0 { (&unit.above, &unit.below) } else { (&unit.below, &unit.above) };
            for v in 0..width {
                pair.above[v] += weight * upper[v];
                pair.below[v] += weight * lower[v];
                sizes[v] += weight.abs() * upper[v].abs().max(lower[v].abs());
            }
        }
        for v in 0..width {
            pair.above[v] += room * sizes[v];
            pair.below[v] -= room * sizes[v];
        }
        pair
    };
    layer.weight.rows().into_iter().zip(&layer.bias).map(sum).collect()
}

/// The base, the rays that start there, and a point where bounds are to be close.
struct Ends<'a> {
    rays: &'a Rays,
    /// The input of each ray and its signed length.
    ends: Vec<(usize, f64)>,
    /// The share of each ray in the average that is the point.
    shares: Vec<f64>,
}

impl<'a> Ends<'a> {
    fn new(rays: &'a Rays, at: &[f64]) -> Self {
        let mut ends = Vec::new();
        for i in 0..rays.base.len() {
            ends.extend(rays.up[i].then_some((i, rays.reach[i])));
            ends.extend(rays.down[i].then_some((i, -rays.reach[i])));
        }
        let share = |&(i, length): &(usize, f64)| ((at[i] - rays.base[i]) / length).max(0.0);
        let shares = ends.iter().map(share).collect();
        Self { rays, ends, shares }
    }

    /// The value at the point of the function that is interpolated between these values.
    fn average(&self, values: &[f64]) -> f64 {
        let moved = self.shares.iter().zip(&values[1..]);
        moved.fold(values[0], |sum, (share, value)| sum + share * (value - values[0]))
    }

    /// The argument of a unit of the first layer.
    fn argument(&self, layer: &LayerState, j: usize) -> Pair {
        let (block, lane, blocks) = (j / LANES, j % LANES, layer.lower.len());
        // The columns already contain the slope of the unit's line, which is zero where the unit is zero.
        let slope = layer.slope[block].0[lane];
        if slope <= 0.0 {
            let zeros = vec![0.0; self.ends.len() + 1];
            return Pair { above: zeros.clone(), below: zeros };
        }
        let slope_of = |i: usize| layer.columns[i * blocks + block].0[lane] / slope;
        let (mut base, mut size) = (layer.origin[block].0[lane], layer.origin[block].0[lane].abs());
        for (i, b) in self.rays.base.iter().enumerate() {
            base += slope_of(i) * b;
            size += slope_of(i).abs() * (b.abs() + self.rays.reach[i]);
        }
        let values: Vec<f64> = std::iter::once(base)
            .chain(self.ends.iter().map(|&(i, length)| base + slope_of(i) * length))
            .collect();
        let error = layer.round[block].0[lane] + rounding(self.rays.base.len() + 16) * size;
        Pair {
            above: values.iter().map(|z| z + error).collect(),
            below: values.iter().map(|z| z - error).collect(),
        }
    }

    /// A unit, given its argument, a range of the argument, and the argument at the point. On a kink the unit
    /// counts as zero, so that rounding does not decide.
    fn relu(&self, Pair { mut above, mut below }: Pair, range: Interval, z: f64) -> Pair {
        let lower = below.iter().copied().fold(f64::INFINITY, f64::min).max(range.lower);
        let upper = above.iter().copied().fold(f64::NEG_INFINITY, f64::max).min(range.upper);
        if lower >= 0.0 {
            return Pair { above, below };
        }
        if upper <= 0.0 {
            above.fill(0.0);
            below.fill(0.0);
            return Pair { above, below };
        }
        if z <= Point::NEAR_KINK {
            below.fill(0.0);
        }
        let chord = upper / (upper - lower);
        let on_chord: Vec<f64> = above.iter().map(|z| chord * (z - lower)).collect();
        above.iter_mut().for_each(|z| *z = z.max(0.0));
        let is_closer = self.average(&on_chord) < self.average(&above) - CLEARLY * upper;
        let rounded = |value: &f64| value + rounding(4) * (value.abs() - lower);
        Pair { above: if is_closer { on_chord.iter().map(rounded).collect() } else { above }, below }
    }

    /// `share` times the function between these values, plus `rest`.
    fn interpolated(&self, values: &[f64], share: f64, rest: Plane) -> Option<Interpolated> {
        let Rays { base, reach, up, down } = self.rays;
        let (mut linear, mut negative) = (vec![0.0; base.len()], vec![0.0; base.len()]);
        let mut constant = share * values[0];
        let mut size = values.iter().fold(0.0f64, |most, value| most.max((share * value).abs()));
        for (&(i, length), value) in self.ends.iter().zip(&values[1..]) {
            let slope = share * (value - values[0]) / length;
            if length > 0.0 { linear[i] = slope } else { negative[i] = slope }
        }
        for i in 0..base.len() {
            match (up[i], down[i]) {
                (true, false) => negative[i] = linear[i],
                (false, true) => linear[i] = negative[i],
                _ => {}
            }
            // A base between both directions is zero.
            constant -= linear[i] * base[i];
            let rest = rest.linear.get(i).copied().unwrap_or(0.0);
            linear[i] += rest;
            negative[i] += rest;
            size += (linear[i].abs().max(negative[i].abs()) + rest.abs()) * (base[i].abs() + reach[i]);
        }
        let size = size + constant.abs() + rest.constant.abs();
        let error = rest.error + rounding(2 * base.len() + 32) * size;
        let plane = Plane { linear, constant: constant + rest.constant, error, range: rest.range };
        (plane.constant + plane.error).is_finite().then_some(Interpolated { plane, negative })
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use crate::graph::affine::Affine;
    use crate::graph::jet::{Jets, Order};
    use crate::graph::{Builder, Region};
    use crate::small::network;
    use crate::{Activation, Cost};

    /// No sample of the region exceeds the bound. With one hidden layer the bound is exact at the point where it
    /// touches, if that is the base or the end of a ray.
    #[test]
    fn bounds_are_above_every_action() {
        let random = &mut ChaCha8Rng::seed_from_u64(8);
        let mut better = 0;
        for round in 0..400 {
            let width = random.random_range(1..6);
            let widths: &[usize] = if round % 2 == 0 { &[width, 9, 1] } else { &[width, 7, 5, 1] };
            let network = network(random, widths, Activation::Relu, 1.5);
            let mut graph = Builder::new(width);
            let arguments: Vec<_> =
                (0..width).map(|i| graph.input(i).shifted(random.random_range(-1.0..1.0))).collect();
            let sign = if random.random_bool(0.5) { 1.0 } else { -0.7 };
            let output = graph.network(&network, &arguments).scaled(sign).plus(0.3, &graph.input(0));
            let graph = graph.finish(output);
            let weights: Vec<f64> = (0..width).map(|_| random.random_range(0.5..2.0)).collect();
            let lower: Vec<f64> = (0..width).map(|_| random.random_range(-1.5..0.5)).collect();
            let upper: Vec<f64> = lower.iter().map(|l| l + random.random_range(0.0..2.0)).collect();
            let cost = |y: &[f64]| Cost::L1.of_weighted(y.iter().zip(&weights).map(|(y, w)| w * y));
            let base = Region::cuboid(lower.clone(), upper.clone()).nearest();
            let limit = cost(&base) + random.random_range(0.01..1.5);
            let region = Region::cuboid(lower.clone(), upper.clone()).within_cost(Cost::L1, &weights, limit);
            let sample = |random: &mut ChaCha8Rng| -> Vec<f64> {
                let y: Vec<f64> = (0..width).map(|i| random.random_range(lower[i]..=upper[i])).collect();
                let share = random.random_range(0.0..=1.0);
                let at = |share: f64| -> Vec<f64> {
                    y.iter().zip(&base).map(|(y, b)| b + share * (y - b)).collect()
                };
                let most = (limit - cost(&base)) / (cost(&y) - cost(&base)).max(1e-300);
                at(if share > 0.5 { most.min(1.0) } else { share * most.min(1.0) })
            };
            let point = if random.random_bool(0.3) { base.clone() } else { sample(random) };
            let (mut jets, mut affine) = (Jets::default(), Affine::default());
            let touched = jets.evaluate(&graph, &point, Order::Value).value;
            let chords = affine.bound(&graph, &region).upper();
            let bound = affine.bound(&graph, &region).interpolate(&jets, &point).unwrap();
            let value = |y: &[f64]| {
                let slope = |i: usize| if y[i] < 0.0 { bound.negative[i] } else { bound.plane.linear[i] };
                let sum: f64 = (0..width).map(|i| slope(i) * y[i]).sum();
                bound.plane.constant + bound.plane.error + sum
            };
            assert!(bound.plane.error < 1e-9, "{round}: {}", bound.plane.error);
            if point == base && widths.len() == 3 {
                assert!((value(&point) - touched).abs() < 1e-9, "{round}: {} {touched}", value(&point));
            }
            let mut most = f64::NEG_INFINITY;
            for _ in 0..200 {
                let y = sample(random);
                let exact = jets.evaluate(&graph, &y, Order::Value).value;
                assert!(exact <= value(&y) + 1e-12, "{round}: {exact} {}", value(&y));
                most = most.max(value(&y));
            }
            better += usize::from(most < chords - 1e-6);
        }
        assert!(better > 300, "{better}");
    }
}
