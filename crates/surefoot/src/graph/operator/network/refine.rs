//! Planes below a network that are tighter where the affine bound is lowest.

use super::affine::{LayerState, dot_sizes};
use crate::graph::affine::{Affine, Plane, rounding};
use crate::graph::unit::offsets_tanh;
use crate::graph::{Interval, Jets, Region, Unit};
use crate::network::{LANES, Lanes, Network, Real, Vectorised, vectorised};

/// A plane below a graph that ends in a network with coefficient `share`. It is tighter than the affine
/// bound around the point where `jets` evaluated the graph last. The backward pass bounds each unit on
/// one side only, by the line with the slope of its chord or of its tangent at the point, whichever is
/// better there (CROWN, with slopes chosen for the point where the bound is lowest). `plane` is the rest
/// of the output.
pub(super) fn refine(
    network: &Network,
    affine: &mut Affine,
    region: &Region,
    jets: &Jets,
    share: f64,
    plane: Plane,
) -> Plane {
    let inputs = region.inputs();
    let Some(number) = affine.states.len().checked_sub(1) else {
        unreachable!("the network is an operation of the graph")
    };
    affine.refined += 1;
    let unit = Unit::from(network.activation());
    let layers = network.wide();
    let (hidden, last) = layers.split_at(layers.len() - 1);
    let mut one = [Lanes::ZERO];
    one[0].0[0] = share;
    let bias = share * last[0].bias[0].0[0];
    let terms = plane.linear;
    let mut size = plane.constant.abs() + bias.abs();
    let mut plane = Plane { linear: vec![0.0; inputs], constant: plane.constant + bias, ..plane };
    let state = std::mem::take(&mut affine.states[number]);
    let mut adjoint = std::mem::take(&mut affine.input);
    adjoint.clear();
    adjoint.resize(last[0].backward.blocks(), Lanes::ZERO);
    last[0].backward.multiply(&one, &mut adjoint);
    for (k, layer) in state.layers.iter().enumerate().rev() {
        let at = &jets.points[number].layers[k].z;
        let work = OneSided { layer, at, bias: &hidden[k].bias, unit, adjoint: &mut adjoint };
        let (constant, sizes, round) = vectorised(work);
        plane.constant += constant;
        plane.error += round;
        size += sizes;
        // `adjoint` has the coefficients of the units' arguments; the next ones are those of the outputs
        // of the layer below.
        let below = &hidden[k].backward;
        let length: f64 = adjoint.iter().map(|a| dot_sizes(a, &Lanes::splat(1.0))).sum();
        size += length * hidden[k].largest_row * state.largest.max(1.0);
        let mut next = vec![Lanes::ZERO; below.blocks()];
        below.multiply(&adjoint, &mut next);
        adjoint = next;
    }
    let mut symbols = vec![0.0; number];
    for (j, row) in affine.rows.iter().take(network.inputs()).enumerate() {
        let a = adjoint[j / LANES].0[j % LANES];
        plane.linear.iter_mut().zip(&row.terms).for_each(|(l, t)| *l += a * t);
        symbols.iter_mut().zip(&row.terms[inputs..]).for_each(|(s, t)| *s += a * t);
        plane.constant += a * row.constant;
        size += a.abs() * row.size;
    }
    plane.linear.iter_mut().zip(&terms).for_each(|(l, t)| *l += t);
    affine.touch(&mut symbols, &mut plane, &mut size, jets);
    size += (0..inputs).map(|i| plane.linear[i].abs() * region.size(i)).sum::<f64>();
    let symbols = symbols.iter().zip(&affine.states).filter(|(s, _)| **s != 0.0);
    plane.error += symbols.map(|(s, state)| s.abs() * state.radius).sum::<f64>();
    plane.error =
        plane.error * (1.0 + 1e-12) + rounding(inputs + number + 2 * adjoint.len() * LANES + 256) * size;
    affine.input = adjoint;
    affine.states[number] = state;
    plane
}

/// Replaces the coefficients of a layer's outputs by those of its arguments, with a line below the unit
/// where the coefficient is positive and a line above it where the coefficient is negative. Returns what
/// this adds to the constant, the size of that, and the rounding errors.
struct OneSided<'a> {
    layer: &'a LayerState,
    at: &'a [Lanes],
    bias: &'a [Lanes],
    unit: Unit,
    adjoint: &'a mut [Lanes],
}

impl Vectorised for OneSided<'_> {
    type Output = (f64, f64, f64);

    #[inline(always)]
    fn run<const FUSED: bool>(self) -> (f64, f64, f64) {
        let OneSided { layer, at, bias, unit, adjoint } = self;
        let (mut constant, mut size, mut round) = (0.0, 0.0, 0.0);
        for b in 0..bias.len() {
            let (lower, upper) = (layer.lower[b].0, layer.upper[b].0);
            let (mut first, mut last) = ([0.0; LANES], [0.0; LANES]);
            let (mut z, mut h) = ([0.0; LANES], [0.0; LANES]);
            for l in 0..LANES {
                z[l] = at[b].0[l].max(lower[l]).min(upper[l]);
            }
            if unit == Unit::Tanh {
                for l in 0..LANES {
                    first[l] = f64::activated::<FUSED>(crate::Activation::Tanh, lower[l]);
                    last[l] = f64::activated::<FUSED>(crate::Activation::Tanh, upper[l]);
                    h[l] = f64::activated::<FUSED>(crate::Activation::Tanh, z[l]);
                }
            }
            for l in 0..LANES {
                let a = adjoint[b].0[l];
                let chord = layer.slope[b].0[l];
                let (offset, radius) = (layer.offset[b].0[l], layer.radius[b].0[l]);
                let sign = if a >= 0.0 { 1.0 } else { -1.0 };
                let (mut slope, mut line) = (chord, offset - sign * radius);
                let range = Interval { lower: lower[l], upper: upper[l] };
                if range.upper - range.lower < f64::INFINITY && a != 0.0 {
                    let tangent = match unit {
                        Unit::Tanh => 1.0 - h[l] * h[l],
                        unit => unit.derivatives(z[l]).0,
                    };
                    let (low, high) = match unit {
                        Unit::Tanh if tangent > 0.0 && range.upper > range.lower => {
                            offsets_tanh(lower[l], upper[l], first[l], last[l], tangent)
                        }
                        Unit::Tanh => (f64::NEG_INFINITY, f64::INFINITY),
                        unit => unit.offsets(range, tangent),
                    };
                    let other = if a >= 0.0 { low } else { high };
                    if sign * (tangent * z[l] + other) > sign * (slope * z[l] + line) {
                        (slope, line) = (tangent, other);
                    }
                }
                let q = a * slope;
                adjoint[b].0[l] = q;
                constant += a * line + q * bias[b].0[l];
                size += (a * line).abs() + (q * bias[b].0[l]).abs();
                round += q.abs() * layer.round[b].0[l];
            }
        }
        (constant, size, round)
    }
}
