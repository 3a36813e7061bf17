//! Enclosures inside a network: layer by layer, in lanes.

use super::{Adjoint, Slope, Sum, Term, Work, around, least, times, weights};
use crate::bound::affine::LayerState;
use crate::bound::jet::{Gram, LayerPoint, dot};
use crate::graph::{Interval, Unit};
use crate::network::{LANES, Lanes, Network, vectorised};

/// Everything of one layer that is enclosed.
pub(super) struct Layer {
    slope: Vec<Lanes>,
    slope_radius: Vec<Lanes>,
    slope_most: Vec<Lanes>,
    curvature_low: Vec<Lanes>,
    curvature_high: Vec<Lanes>,
    curvature: Vec<Lanes>,
    curvature_radius: Vec<Lanes>,
    curvature_most: Vec<Lanes>,
    /// The largest size of the third derivative.
    jerk: Vec<Lanes>,
    /// How far what goes in can be from its value at the centre, in proportion to the region.
    reach: Vec<Lanes>,
    /// How far the linear part of it can be.
    support: Vec<Lanes>,
    length: Vec<Lanes>,
    rho: Vec<Lanes>,
    rho_linear: Vec<Lanes>,
    /// Bounds the Hessian of what goes in, beyond that of the units before.
    hessian: Vec<Lanes>,
}

impl Work<'_> {
    /// Gradients of everything that goes into a unit, and of the result.
    pub(super) fn network(
        &self,
        network: &Network,
        k: usize,
        arguments: &[Slope],
    ) -> Option<(Slope, Vec<Layer>)> {
        let n = self.inputs;
        let packed = n * (n + 1) / 2;
        let wide = network.wide();
        let (hidden, last) = wide.split_at(wide.len() - 1);
        let unit = Unit::from(network.activation());
        let curved = arguments.iter().any(|a| !a.hessian.is_empty());
        // Into the first layer.
        let stride = arguments.len().div_ceil(LANES);
        let on = |f: &dyn Fn(&Slope) -> f64| -> Vec<Lanes> {
            let mut lanes = vec![Lanes::ZERO; stride];
            arguments.iter().enumerate().for_each(|(j, a)| lanes[j / LANES].0[j % LANES] = f(a));
            lanes
        };
        let mut rho_below = on(&|a| a.radius);
        let mut hessian_below: Vec<Lanes> = Vec::new();
        let mut hessian_radius_below = on(&|a| a.hessian_radius);
        if curved {
            for i in 0..n {
                for j in 0..=i {
                    hessian_below.extend(on(&|a| a.hessian.get(i * n + j).copied().unwrap_or(0.0)));
                }
            }
        }
        let mut inner = Vec::with_capacity(hidden.len());
        for (number, layer) in hidden.iter().enumerate() {
            let blocks = layer.forward.blocks();
            let point = &self.jets.points[k].layers[number];
            let zeros = || vec![Lanes::ZERO; blocks];
            let mut this = Layer::enclose(unit, &self.bounds.states[k].layers[number], point)?;
            let mut rho = zeros();
            layer.forward.multiply_sizes(&rho_below, &mut rho);
            // The Hessian of what goes in, for the mean value theorem.
            let known = !hessian_below.is_empty() || number == 0;
            let mut hessian = vec![Lanes::ZERO; if hessian_below.is_empty() { 0 } else { packed * blocks }];
            let mut hessian_radius = zeros();
            layer.forward.multiply_sizes(&hessian_radius_below, &mut hessian_radius);
            if !hessian.is_empty() {
                layer.forward.multiply(&hessian_below, &mut hessian);
            }
            let mut hessian_length = zeros();
            let mut place = 0;
            for i in 0..n {
                for j in 0..=i {
                    if hessian.is_empty() {
                        break;
                    }
                    let share = if i == j { 1.0 } else { 2.0 };
                    for b in 0..blocks {
                        for l in 0..LANES {
                            let h = hessian[place * blocks + b].0[l];
                            hessian_length[b].0[l] += share * h * h;
                        }
                    }
                    place += 1;
                }
            }
            for b in 0..blocks {
                for l in 0..LANES {
                    hessian_length[b].0[l] = hessian_length[b].0[l].sqrt();
                    let mut square = 0.0;
                    for i in 0..n {
                        square += point.columns[i * blocks + b].0[l].powi(2);
                    }
                    this.length[b].0[l] = square.sqrt();
                    let mean = self.distance * (hessian_length[b].0[l] + hessian_radius[b].0[l]);
                    this.rho[b].0[l] = if known && mean < rho[b].0[l] { mean } else { rho[b].0[l] };
                    this.rho_linear[b].0[l] = if known { mean } else { f64::INFINITY };
                    this.hessian[b].0[l] = hessian_length[b].0[l] + hessian_radius[b].0[l];
                }
            }
            if self.around {
                let (mut low, mut high) = (zeros(), zeros());
                self.region.ranges(&point.columns[..n * blocks], &mut low, &mut high);
                for b in 0..blocks {
                    for l in 0..LANES {
                        let at: f64 =
                            (0..n).map(|i| point.columns[i * blocks + b].0[l] * self.centre[i]).sum();
                        let support = (high[b].0[l] - at).max(at - low[b].0[l]) * (1.0 + 1e-12);
                        this.support[b].0[l] = support;
                        this.reach[b].0[l] = support + 0.5 * times(this.rho_linear[b].0[l], self.distance);
                    }
                }
            }
            // Out of this layer.
            rho_below = zeros();
            hessian_radius_below = zeros();
            let keep = number + 1 < hidden.len() || k + 1 < self.bounds.states.len();
            hessian_below = vec![Lanes::ZERO; if keep { packed * blocks } else { 0 }];
            for b in 0..blocks {
                let (s, sr, sm) = (this.slope[b].0, this.slope_radius[b].0, this.slope_most[b].0);
                let (c, cr, cm) = (this.curvature[b].0, this.curvature_radius[b].0, this.curvature_most[b].0);
                let (long, rho) = (this.length[b].0, this.rho[b].0);
                for l in 0..LANES {
                    rho_below[b].0[l] = sr[l] * long[l] + sm[l] * rho[l];
                    let radius = cr[l] * long[l] * long[l]
                        + cm[l] * rho[l] * (2.0 * long[l] + rho[l])
                        + sr[l] * hessian_length[b].0[l]
                        + sm[l] * hessian_radius[b].0[l];
                    hessian_radius_below[b].0[l] = if radius.is_nan() { f64::INFINITY } else { radius };
                }
                if !keep {
                    continue;
                }
                let mut place = 0;
                for i in 0..n {
                    for j in 0..=i {
                        let (x, y) = (&point.columns[i * blocks + b].0, &point.columns[j * blocks + b].0);
                        let below = hessian.get(place * blocks + b).map_or([0.0; LANES], |h| h.0);
                        let out = &mut hessian_below[place * blocks + b].0;
                        for l in 0..LANES {
                            let curvature = if c[l].is_finite() { c[l] } else { 0.0 };
                            out[l] = curvature * x[l] * y[l] + s[l] * below[l];
                        }
                        place += 1;
                    }
                }
            }
            inner.push(this);
        }
        // The result.
        let mut one = [Lanes::ZERO];
        one[0].0[0] = 1.0;
        let top = inner.last()?;
        let blocks = top.slope.len();
        let mut weight = vec![Lanes::ZERO; blocks];
        last[0].backward.multiply(&one, &mut weight);
        let sizes: Vec<Lanes> = weight.iter().map(|w| w.map(f64::abs)).collect();
        let mut result = Slope { centre: self.jets.points[k].jet.gradient.clone(), ..Slope::default() };
        result.radius = dot(&sizes, &rho_below);
        if !hessian_below.is_empty() {
            result.hessian.resize(n * n, 0.0);
            let mut place = 0;
            for i in 0..n {
                for j in 0..=i {
                    let h = dot(&weight, &hessian_below[place * blocks..(place + 1) * blocks]);
                    (result.hessian[i * n + j], result.hessian[j * n + i]) = (h, h);
                    place += 1;
                }
            }
            result.hessian_radius = dot(&sizes, &hessian_radius_below);
            if result.hessian_radius.is_nan() {
                result.hessian_radius = f64::INFINITY;
            }
            result.refine(self.distance);
        }
        Some((result, inner))
    }

    /// Adjoints from the result of a network to its arguments, and the sums over its units.
    pub(super) fn network_backwards(
        &self,
        network: &Network,
        k: usize,
        layers: &[Layer],
        adjoint: &Adjoint,
        arguments: usize,
        sums: &mut [Sum],
    ) -> Option<Vec<Adjoint>> {
        let n = self.inputs;
        let wide = network.wide();
        let top = layers.last()?.slope.len();
        let mut one = [Lanes::ZERO];
        one[0].0[0] = 1.0;
        let mut centre = vec![Lanes::ZERO; top];
        wide[wide.len() - 1].backward.multiply(&one, &mut centre);
        let mut radius: Vec<Lanes> = centre.iter().map(|w| w.map(|w| w.abs() * adjoint.radius)).collect();
        let mut linear: Vec<Lanes> = centre.iter().map(|w| w.map(|w| w.abs() * adjoint.linear)).collect();
        let mut spread_back = vec![Lanes::ZERO; top];
        let mut lost = false;
        let mut gradient: Vec<Lanes> = Vec::with_capacity(n * top);
        for i in 0..n {
            let g = adjoint.gradient.get(i).copied().unwrap_or(0.0);
            gradient.extend(centre.iter().map(|w| w.map(|w| w * g)));
        }
        let mut gradient_radius: Vec<Lanes> =
            centre.iter().map(|w| w.map(|w| w.abs() * adjoint.gradient_radius)).collect();
        centre.iter_mut().for_each(|w| *w = w.map(|w| w * adjoint.centre));
        for (number, layer) in layers.iter().enumerate().rev() {
            let blocks = layer.slope.len();
            let columns = &self.jets.points[k].layers[number].columns;
            // For each sum the shares; in the second one the change of v is carried back.
            let mut weight = vec![Lanes::ZERO; sums.len() * blocks];
            let mut carried = vec![Lanes::ZERO; blocks];
            let carries = self.around && number > 0;
            for b in 0..blocks {
                for l in 0..LANES {
                    let (a, r) = (centre[b].0[l], radius[b].0[l]);
                    let range = Interval { lower: a - r, upper: a + r };
                    let second_derivatives =
                        Interval { lower: layer.curvature_low[b].0[l], upper: layer.curvature_high[b].0[l] };
                    let curvature = layer.curvature[b].0[l];
                    let term = Term {
                        least: least(range, second_derivatives),
                        at: a * if curvature.is_finite() { curvature } else { 0.0 },
                        change: times(a.abs(), times(layer.jerk[b].0[l], layer.reach[b].0[l]))
                            + times(layer.curvature_most[b].0[l], linear[b].0[l]),
                        most: times(range.size(), layer.curvature_most[b].0[l]),
                        long: layer.length[b].0[l],
                        rho: layer.rho[b].0[l],
                        rho_linear: layer.rho_linear[b].0[l],
                    };
                    let mut chosen = [term.weights(n, self.around)?; 2];
                    let back = spread_back[b].0[l];
                    if carries {
                        let other = term.weights_around(0.0);
                        let error_directions = 2.0 / 3.0 * times(term.most, layer.support[b].0[l]);
                        if other.0.is_finite() && other.1.is_finite() && error_directions.is_finite() {
                            chosen[1] = other;
                            carried[b].0[l] = error_directions;
                        }
                    }
                    if back > 0.0 {
                        // What units above carry back to this one.
                        let (share, identity) =
                            weights(-back * layer.curvature_most[b].0[l], term.long, term.rho);
                        let passed = times(back, times(layer.slope_most[b].0[l], layer.hessian[b].0[l]));
                        let bounded = share.is_finite() && identity.is_finite() && passed.is_finite();
                        lost |= !bounded;
                        if bounded {
                            chosen[1].0 += share;
                            chosen[1].1 += identity - passed;
                        }
                    }
                    for (k, sum) in sums.iter_mut().enumerate() {
                        let (share, identity) = chosen[k];
                        weight[k * blocks + b].0[l] = share;
                        sum.identity += identity;
                        sum.size += share.abs() * term.long * term.long + identity.abs();
                    }
                }
            }
            for (k, sum) in sums.iter_mut().enumerate() {
                let weight = &weight[k * blocks..(k + 1) * blocks];
                vectorised(Gram { columns, weight, hessian: &mut sum.matrix, inputs: n });
            }
            spread_back = vec![Lanes::ZERO; wide[number].backward.blocks()];
            if carries {
                wide[number].backward.multiply_sizes(&carried, &mut spread_back);
            }
            // Down to what is below: a' = W^T (a s'), and its gradient W^T (grad a s' + a s'' v).
            let mut down = vec![Lanes::ZERO; blocks];
            let (mut down_radius, mut slope_radius) = (down.clone(), down.clone());
            let mut slope = vec![Lanes::ZERO; n * blocks];
            for b in 0..blocks {
                for l in 0..LANES {
                    let (a, r) = (centre[b].0[l], radius[b].0[l]);
                    let (s, sr, sm) =
                        (layer.slope[b].0[l], layer.slope_radius[b].0[l], layer.slope_most[b].0[l]);
                    let (c, cr, cm) = (
                        layer.curvature[b].0[l],
                        layer.curvature_radius[b].0[l],
                        layer.curvature_most[b].0[l],
                    );
                    let (long, rho) = (layer.length[b].0[l], layer.rho[b].0[l]);
                    let c = if c.is_finite() { c } else { 0.0 };
                    down[b].0[l] = a * s;
                    down_radius[b].0[l] = a.abs() * sr + r * sm;
                    let mut square = 0.0;
                    for i in 0..n {
                        let g = gradient[i * blocks + b].0[l];
                        square += g * g;
                        slope[i * blocks + b].0[l] = g * s + a * c * columns[i * blocks + b].0[l];
                    }
                    slope_radius[b].0[l] = square.sqrt() * sr
                        + gradient_radius[b].0[l] * sm
                        + times(times(a.abs(), cr) + times(r, cm), long)
                        + times(a.abs() + r, times(cm, rho));
                }
            }
            let below = &wide[number].backward;
            let out = below.blocks();
            centre = vec![Lanes::ZERO; out];
            (radius, gradient_radius, linear) = (centre.clone(), centre.clone(), centre.clone());
            gradient = vec![Lanes::ZERO; n * out];
            below.multiply(&down, &mut centre);
            below.multiply_sizes(&down_radius, &mut radius);
            below.multiply(&slope, &mut gradient);
            below.multiply_sizes(&slope_radius, &mut gradient_radius);
            for b in 0..out {
                for l in 0..LANES {
                    let square: f64 = (0..n).map(|i| gradient[i * out + b].0[l].powi(2)).sum();
                    let mean = self.distance * (square.sqrt() + gradient_radius[b].0[l]);
                    linear[b].0[l] = mean;
                    if mean < radius[b].0[l] {
                        radius[b].0[l] = mean;
                    }
                }
            }
        }
        if lost {
            sums[1].identity = f64::NEG_INFINITY;
        }
        let out = centre.len();
        let of = |j: usize| {
            let at = |lanes: &[Lanes]| lanes[j / LANES].0[j % LANES];
            Adjoint {
                centre: at(&centre),
                radius: at(&radius),
                linear: at(&linear),
                gradient: (0..n).map(|i| at(&gradient[i * out..(i + 1) * out])).collect(),
                gradient_radius: at(&gradient_radius),
            }
        };
        Some((0..arguments).map(of).collect())
    }
}

impl Layer {
    /// Slopes and second derivatives of a layer; nothing where a kink is too near the point.
    fn enclose(unit: Unit, state: &LayerState, point: &LayerPoint) -> Option<Layer> {
        let blocks = point.z.len();
        let zeros = || vec![Lanes::ZERO; blocks];
        let mut layer = Layer {
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
        Some(layer)
    }
}
