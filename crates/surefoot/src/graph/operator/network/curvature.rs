//! Curvature bounds of a network: layer by layer, in lanes.

use crate::graph::affine::State;
use crate::graph::curvature::{
    Adjoint, Gradients, Slope, Sum, Sums, Surroundings, Term, around, times, weights,
};
use crate::graph::jet::{Gram, dot};
use crate::graph::{Interval, Unit};
use crate::network::{LANES, Lanes, Network, WideLayer, vectorised};

use super::affine::LayerState;
use super::jet::LayerPoint;

/// Enclosures of the derivatives of the units of one layer. Slopes and second derivatives have a centre,
/// a radius and a largest absolute value (`most`).
pub(crate) struct UnitBounds {
    slope: Vec<Lanes>,
    slope_radius: Vec<Lanes>,
    slope_most: Vec<Lanes>,
    curvature_low: Vec<Lanes>,
    curvature_high: Vec<Lanes>,
    curvature: Vec<Lanes>,
    curvature_radius: Vec<Lanes>,
    curvature_most: Vec<Lanes>,
    /// The largest absolute value of the third derivative.
    jerk: Vec<Lanes>,
    /// The largest distance of the argument from its value at the centre, in proportion to the region.
    reach: Vec<Lanes>,
    /// The largest distance of the argument's linear part from its value at the centre.
    support: Vec<Lanes>,
    /// The length of the argument's gradient at the centre; the largest distance of the gradient from
    /// there; and a bound of it that shrinks in proportion to the region.
    length: Vec<Lanes>,
    rho: Vec<Lanes>,
    rho_linear: Vec<Lanes>,
    /// A bound of the argument's Hessian, beyond the part that the earlier units cause.
    hessian: Vec<Lanes>,
}

/// Enclosures of the gradients and Hessians of the inputs or of the outputs of a layer.
struct Values {
    /// The radii of the gradients.
    rho: Vec<Lanes>,
    /// The lower triangles of the Hessians at the centre, entry by entry; empty where zero or unknown.
    hessian: Vec<Lanes>,
    hessian_radius: Vec<Lanes>,
}

/// Encloses the gradients of the arguments of all units, and of the result.
pub(super) fn gradients(network: &Network, s: &Surroundings<'_>, number: usize) -> Option<Gradients> {
    let arguments = s.argument_slopes(number);
    let wide = network.wide();
    let (hidden, last) = wide.split_at(wide.len() - 1);
    let unit = Unit::from(network.activation());
    let mut below = Values::of_arguments(&arguments, s.inputs());
    let mut layers = Vec::with_capacity(hidden.len());
    for (k, layer) in hidden.iter().enumerate() {
        let point = &s.jets.points[number].layers[k];
        let state: &State = &s.bounds.states[number];
        let mut units = UnitBounds::enclose(unit, &state.layers[k], point);
        let known = !below.hessian.is_empty() || k == 0;
        let into = Values::into_layer(&below, layer, s.inputs());
        let lengths = units.set_gradients(&into, point, s, known);
        let keep = k + 1 < hidden.len() || !s.is_last(number);
        below = units.out_of_layer(&into, &lengths, point, s.inputs(), keep);
        layers.push(units);
    }
    let slope = result_slope(&below, &last[0], s, number)?;
    let rows: f64 = wide.iter().map(|layer| layer.largest_row).product();
    let largest = s.argument_sizes(number).into_iter().fold(0.0, f64::max);
    Some(Gradients { slope, layers, size: rows * largest })
}

impl Values {
    fn of_arguments(arguments: &[Slope], n: usize) -> Self {
        let stride = arguments.len().div_ceil(LANES);
        let on = |f: &dyn Fn(&Slope) -> f64| -> Vec<Lanes> {
            let mut lanes = vec![Lanes::ZERO; stride];
            arguments.iter().enumerate().for_each(|(j, a)| lanes[j / LANES].0[j % LANES] = f(a));
            lanes
        };
        let mut hessian: Vec<Lanes> = Vec::new();
        if arguments.iter().any(|a| !a.hessian.is_empty()) {
            for i in 0..n {
                for j in 0..=i {
                    hessian.extend(on(&|a| a.hessian.get(i * n + j).copied().unwrap_or(0.0)));
                }
            }
        }
        Self { rho: on(&|a| a.radius), hessian, hessian_radius: on(&|a| a.hessian_radius) }
    }

    /// The arguments of the units of a layer, from the outputs of the layer below.
    fn into_layer(below: &Values, layer: &WideLayer, n: usize) -> Self {
        let blocks = layer.forward.blocks();
        let zeros = || vec![Lanes::ZERO; blocks];
        let (mut rho, mut hessian_radius) = (zeros(), zeros());
        layer.forward.multiply_sizes(&below.rho, &mut rho);
        layer.forward.multiply_sizes(&below.hessian_radius, &mut hessian_radius);
        let mut hessian = Vec::new();
        if !below.hessian.is_empty() {
            hessian.resize(n * (n + 1) / 2 * blocks, Lanes::ZERO);
            layer.forward.multiply(&below.hessian, &mut hessian);
        }
        Self { rho, hessian, hessian_radius }
    }

    /// The Frobenius norms of the Hessians at the centre.
    fn hessian_lengths(&self, n: usize) -> Vec<Lanes> {
        let blocks = self.rho.len();
        let mut lengths = vec![Lanes::ZERO; blocks];
        if !self.hessian.is_empty() {
            let pairs = (0..n).flat_map(|i| (0..=i).map(move |j| (i, j)));
            for (place, (i, j)) in pairs.enumerate() {
                let share = if i == j { 1.0 } else { 2.0 };
                for b in 0..blocks {
                    for l in 0..LANES {
                        let h = self.hessian[place * blocks + b].0[l];
                        lengths[b].0[l] += share * h * h;
                    }
                }
            }
        }
        lengths.iter_mut().for_each(|length| *length = length.map(f64::sqrt));
        lengths
    }
}

impl UnitBounds {
    /// Slopes and second derivatives of the units of a layer.
    fn enclose(unit: Unit, state: &LayerState, point: &LayerPoint) -> Self {
        let blocks = point.z.len();
        let zeros = || vec![Lanes::ZERO; blocks];
        let mut layer = UnitBounds {
            slope: zeros(),
            slope_radius: zeros(),
            slope_most: zeros(),
            curvature_low: zeros(),
            curvature_high: zeros(),
            curvature: zeros(),
            curvature_radius: zeros(),
            curvature_most: zeros(),
            jerk: zeros(),
            reach: zeros(),
            support: zeros(),
            length: zeros(),
            rho: zeros(),
            rho_linear: zeros(),
            hessian: zeros(),
        };
        for b in 0..blocks {
            for l in 0..LANES {
                let range = Interval { lower: state.lower[b].0[l], upper: state.upper[b].0[l] };
                let (slopes, second_derivatives) = (unit.slopes(range), unit.second_derivatives(range));
                let (s, sr) = around(slopes, point.slope[b].0[l]);
                let (c, cr) = around(second_derivatives, point.curvature[b].0[l]);
                layer.slope[b].0[l] = s;
                layer.slope_radius[b].0[l] = sr;
                layer.slope_most[b].0[l] = slopes.size();
                layer.curvature_low[b].0[l] = second_derivatives.lower;
                layer.curvature_high[b].0[l] = second_derivatives.upper;
                layer.curvature[b].0[l] = c;
                layer.curvature_radius[b].0[l] = cr;
                layer.curvature_most[b].0[l] = second_derivatives.size();
                layer.jerk[b].0[l] = unit.jerk(range);
            }
        }
        layer
    }

    /// Sets the enclosures of the arguments' gradients. `known` tells whether their Hessians are known.
    /// Returns the lengths of the Hessians.
    fn set_gradients(
        &mut self,
        into: &Values,
        point: &LayerPoint,
        s: &Surroundings<'_>,
        known: bool,
    ) -> Vec<Lanes> {
        let (n, blocks) = (s.inputs(), self.slope.len());
        let lengths = into.hessian_lengths(n);
        for b in 0..blocks {
            for l in 0..LANES {
                let mut square = 0.0;
                for i in 0..n {
                    square += point.columns[i * blocks + b].0[l].powi(2);
                }
                self.length[b].0[l] = square.sqrt();
                let mean = s.distance * (lengths[b].0[l] + into.hessian_radius[b].0[l]);
                self.rho[b].0[l] = if known && mean < into.rho[b].0[l] { mean } else { into.rho[b].0[l] };
                self.rho_linear[b].0[l] = if known { mean } else { f64::INFINITY };
                self.hessian[b].0[l] = lengths[b].0[l] + into.hessian_radius[b].0[l];
            }
        }
        if s.around {
            let (mut low, mut high) = (vec![Lanes::ZERO; blocks], vec![Lanes::ZERO; blocks]);
            s.region.ranges(&point.columns[..n * blocks], &mut low, &mut high);
            for b in 0..blocks {
                for l in 0..LANES {
                    let at: f64 = (0..n).map(|i| point.columns[i * blocks + b].0[l] * s.centre[i]).sum();
                    let support = (high[b].0[l] - at).max(at - low[b].0[l]) * (1.0 + 1e-12);
                    self.support[b].0[l] = support;
                    self.reach[b].0[l] = support + 0.5 * times(self.rho_linear[b].0[l], s.distance);
                }
            }
        }
        lengths
    }

    /// The outputs of the units. Their Hessians are computed only if they are needed.
    fn out_of_layer(
        &self,
        into: &Values,
        hessian_lengths: &[Lanes],
        point: &LayerPoint,
        n: usize,
        keep: bool,
    ) -> Values {
        let blocks = self.slope.len();
        let zeros = || vec![Lanes::ZERO; blocks];
        let packed = n * (n + 1) / 2;
        let hessian = vec![Lanes::ZERO; if keep { packed * blocks } else { 0 }];
        let mut out = Values { rho: zeros(), hessian, hessian_radius: zeros() };
        for b in 0..blocks {
            let (s, sr, sm) = (self.slope[b].0, self.slope_radius[b].0, self.slope_most[b].0);
            let (c, cr, cm) = (self.curvature[b].0, self.curvature_radius[b].0, self.curvature_most[b].0);
            let (long, rho) = (self.length[b].0, self.rho[b].0);
            for l in 0..LANES {
                out.rho[b].0[l] = sr[l] * long[l] + sm[l] * rho[l];
                let radius = cr[l] * long[l] * long[l]
                    + cm[l] * rho[l] * (2.0 * long[l] + rho[l])
                    + sr[l] * hessian_lengths[b].0[l]
                    + sm[l] * into.hessian_radius[b].0[l];
                out.hessian_radius[b].0[l] = if radius.is_nan() { f64::INFINITY } else { radius };
            }
            if !keep {
                continue;
            }
            let pairs = (0..n).flat_map(|i| (0..=i).map(move |j| (i, j)));
            for (place, (i, j)) in pairs.enumerate() {
                let (x, y) = (&point.columns[i * blocks + b].0, &point.columns[j * blocks + b].0);
                let below = into.hessian.get(place * blocks + b).map_or([0.0; LANES], |h| h.0);
                let entry = &mut out.hessian[place * blocks + b].0;
                for l in 0..LANES {
                    let curvature = if c[l].is_finite() { c[l] } else { 0.0 };
                    entry[l] = curvature * x[l] * y[l] + s[l] * below[l];
                }
            }
        }
        out
    }
}

/// The gradient of the result, from the outputs of the last hidden layer.
fn result_slope(top: &Values, last: &WideLayer, s: &Surroundings<'_>, number: usize) -> Option<Slope> {
    let n = s.inputs();
    let mut one = [Lanes::ZERO];
    one[0].0[0] = 1.0;
    let blocks = top.rho.len();
    let mut weight = vec![Lanes::ZERO; blocks];
    last.backward.multiply(&one, &mut weight);
    let sizes: Vec<Lanes> = weight.iter().map(|w| w.map(f64::abs)).collect();
    let mut result = Slope { centre: s.jets.points[number].jet.gradient.clone(), ..Slope::default() };
    result.radius = dot(&sizes, &top.rho);
    if !top.hessian.is_empty() {
        result.hessian.resize(n * n, 0.0);
        let pairs = (0..n).flat_map(|i| (0..=i).map(move |j| (i, j)));
        for (place, (i, j)) in pairs.enumerate() {
            let h = dot(&weight, &top.hessian[place * blocks..(place + 1) * blocks]);
            (result.hessian[i * n + j], result.hessian[j * n + i]) = (h, h);
        }
        result.hessian_radius = dot(&sizes, &top.hessian_radius);
        if result.hessian_radius.is_nan() {
            result.hessian_radius = f64::INFINITY;
        }
        result.refine(s.distance);
    }
    Some(result)
}

/// Adjoints of the outputs of a layer's units, in the representation of [`Adjoint`].
struct LayerAdjoint {
    centre: Vec<Lanes>,
    radius: Vec<Lanes>,
    linear: Vec<Lanes>,
    gradient: Vec<Lanes>,
    gradient_radius: Vec<Lanes>,
    /// Changes of the gradients of units above that are attributed to these units.
    carried_back: Vec<Lanes>,
}

/// Propagates adjoints from the result of a network to its arguments, and adds the terms of its units to
/// `sums`.
pub(super) fn adjoints(
    network: &Network,
    s: &Surroundings<'_>,
    number: usize,
    adjoint: &Adjoint,
    sums: &mut Sums,
) -> Option<Vec<Adjoint>> {
    let wide = network.wide();
    let layers = s.layers(number);
    let top = layers.last()?.slope.len();
    let mut above = LayerAdjoint::of_result(adjoint, &wide[wide.len() - 1], top, s.inputs());
    let mut lost = false;
    for (k, layer) in layers.iter().enumerate().rev() {
        let point = &s.jets.points[number].layers[k];
        let carries = s.around && k > 0;
        let carried = above.add_terms(layer, point, s, carries, sums, &mut lost)?;
        above = above.below(layer, point, &wide[k], s);
        if carries {
            wide[k].backward.multiply_sizes(&carried, &mut above.carried_back);
        }
    }
    if lost {
        sums.sums[1].identity = f64::NEG_INFINITY;
    }
    Some((0..network.inputs()).map(|j| above.of_argument(j, s.inputs())).collect())
}

impl LayerAdjoint {
    fn of_result(adjoint: &Adjoint, last: &WideLayer, blocks: usize, n: usize) -> Self {
        let mut one = [Lanes::ZERO];
        one[0].0[0] = 1.0;
        let mut centre = vec![Lanes::ZERO; blocks];
        last.backward.multiply(&one, &mut centre);
        let sized = |by: f64| -> Vec<Lanes> { centre.iter().map(|w| w.map(|w| w.abs() * by)).collect() };
        let (radius, linear) = (sized(adjoint.radius), sized(adjoint.linear));
        let gradient_radius = sized(adjoint.gradient_radius);
        let mut gradient: Vec<Lanes> = Vec::with_capacity(n * blocks);
        for i in 0..n {
            let g = adjoint.gradient.get(i).copied().unwrap_or(0.0);
            gradient.extend(centre.iter().map(|w| w.map(|w| w * g)));
        }
        centre.iter_mut().for_each(|w| *w = w.map(|w| w * adjoint.centre));
        let carried_back = vec![Lanes::ZERO; blocks];
        Self { centre, radius, linear, gradient, gradient_radius, carried_back }
    }

    /// Adds the terms of the units of a layer to each sum. In the second sum, the change of their
    /// gradients is attributed to the layer below. Returns the attributed amounts.
    fn add_terms(
        &self,
        layer: &UnitBounds,
        point: &LayerPoint,
        s: &Surroundings<'_>,
        carries: bool,
        sums: &mut Sums,
        lost: &mut bool,
    ) -> Option<Vec<Lanes>> {
        let (n, blocks) = (s.inputs(), layer.slope.len());
        let mut weight = vec![Lanes::ZERO; sums.sums.len() * blocks];
        let mut carried = vec![Lanes::ZERO; blocks];
        for b in 0..blocks {
            for l in 0..LANES {
                let term = self.term(layer, b, l);
                let mut chosen = [term.weights(n, s.around)?; 2];
                if carries {
                    let other = term.weights_around(0.0);
                    let change = 2.0 / 3.0 * times(term.most, layer.support[b].0[l]);
                    if other.0.is_finite() && other.1.is_finite() && change.is_finite() {
                        chosen[1] = other;
                        carried[b].0[l] = change;
                    }
                }
                let back = self.carried_back[b].0[l];
                if back > 0.0 {
                    let (share, identity) =
                        weights(-back * layer.curvature_most[b].0[l], term.long, term.rho);
                    let passed = times(back, times(layer.slope_most[b].0[l], layer.hessian[b].0[l]));
                    let bounded = share.is_finite() && identity.is_finite() && passed.is_finite();
                    *lost |= !bounded;
                    if bounded {
                        chosen[1].0 += share;
                        chosen[1].1 += identity - passed;
                    }
                }
                for (k, sum) in sums.sums.iter_mut().enumerate() {
                    let (share, identity) = chosen[k];
                    weight[k * blocks + b].0[l] = share;
                    sum.identity += identity;
                    sum.size += share.abs() * term.long * term.long + identity.abs();
                }
            }
        }
        for (k, sum) in sums.sums.iter_mut().enumerate() {
            let Sum { matrix, .. } = sum;
            let weight = &weight[k * blocks..(k + 1) * blocks];
            vectorised(Gram { columns: &point.columns, weight, hessian: matrix, inputs: n });
        }
        Some(carried)
    }

    /// The enclosure of `a s'' v v^T` for one unit.
    fn term(&self, layer: &UnitBounds, b: usize, l: usize) -> Term {
        let (a, r) = (self.centre[b].0[l], self.radius[b].0[l]);
        let range = Interval { lower: a - r, upper: a + r };
        let second_derivatives =
            Interval { lower: layer.curvature_low[b].0[l], upper: layer.curvature_high[b].0[l] };
        let curvature = layer.curvature[b].0[l];
        Term {
            least: range.product(second_derivatives).lower,
            at: a * if curvature.is_finite() { curvature } else { 0.0 },
            change: times(a.abs(), times(layer.jerk[b].0[l], layer.reach[b].0[l]))
                + times(layer.curvature_most[b].0[l], self.linear[b].0[l]),
            most: times(range.size(), layer.curvature_most[b].0[l]),
            long: layer.length[b].0[l],
            rho: layer.rho[b].0[l],
            rho_linear: layer.rho_linear[b].0[l],
        }
    }

    /// The adjoints one layer down: `a' = W^T (a s')`, with the gradient `W^T (grad a s' + a s'' v)`.
    fn below(&self, layer: &UnitBounds, point: &LayerPoint, wide: &WideLayer, s: &Surroundings<'_>) -> Self {
        let (n, blocks) = (s.inputs(), layer.slope.len());
        let mut down = vec![Lanes::ZERO; blocks];
        let (mut down_radius, mut slope_radius) = (down.clone(), down.clone());
        let mut slope = vec![Lanes::ZERO; n * blocks];
        for b in 0..blocks {
            for l in 0..LANES {
                let (a, r) = (self.centre[b].0[l], self.radius[b].0[l]);
                let (t, tr, tm) = (layer.slope[b].0[l], layer.slope_radius[b].0[l], layer.slope_most[b].0[l]);
                let (cr, cm) = (layer.curvature_radius[b].0[l], layer.curvature_most[b].0[l]);
                let (long, rho) = (layer.length[b].0[l], layer.rho[b].0[l]);
                let c = layer.curvature[b].0[l];
                let c = if c.is_finite() { c } else { 0.0 };
                down[b].0[l] = a * t;
                down_radius[b].0[l] = a.abs() * tr + r * tm;
                let mut square = 0.0;
                for i in 0..n {
                    let g = self.gradient[i * blocks + b].0[l];
                    square += g * g;
                    slope[i * blocks + b].0[l] = g * t + a * c * point.columns[i * blocks + b].0[l];
                }
                slope_radius[b].0[l] = square.sqrt() * tr
                    + self.gradient_radius[b].0[l] * tm
                    + times(times(a.abs(), cr) + times(r, cm), long)
                    + times(a.abs() + r, times(cm, rho));
            }
        }
        let out = wide.backward.blocks();
        let zeros = || vec![Lanes::ZERO; out];
        let mut next = LayerAdjoint {
            centre: zeros(),
            radius: zeros(),
            linear: zeros(),
            gradient: vec![Lanes::ZERO; n * out],
            gradient_radius: zeros(),
            carried_back: zeros(),
        };
        wide.backward.multiply(&down, &mut next.centre);
        wide.backward.multiply_sizes(&down_radius, &mut next.radius);
        wide.backward.multiply(&slope, &mut next.gradient);
        wide.backward.multiply_sizes(&slope_radius, &mut next.gradient_radius);
        for b in 0..out {
            for l in 0..LANES {
                let square: f64 = (0..n).map(|i| next.gradient[i * out + b].0[l].powi(2)).sum();
                let mean = s.distance * (square.sqrt() + next.gradient_radius[b].0[l]);
                next.linear[b].0[l] = mean;
                if mean < next.radius[b].0[l] {
                    next.radius[b].0[l] = mean;
                }
            }
        }
        next
    }

    /// The adjoint of an argument of the network.
    fn of_argument(&self, j: usize, n: usize) -> Adjoint {
        let out = self.centre.len();
        let at = |lanes: &[Lanes]| lanes[j / LANES].0[j % LANES];
        Adjoint {
            centre: at(&self.centre),
            radius: at(&self.radius),
            linear: at(&self.linear),
            gradient: (0..n).map(|i| at(&self.gradient[i * out..(i + 1) * out])).collect(),
            gradient_radius: at(&self.gradient_radius),
        }
    }
}
