//! Affine bounds of a network: unit by unit, in lanes.

use super::{Affine, LayerState, Region, Row, State, dot, dot_sizes, rounding};
use crate::graph::{AffineForm, Interval, Unit, relax_tanh};
use crate::network::{LANES, Lanes, Network, Real, Vectorised, vectorised};

impl Affine {
    pub(super) fn network(
        &mut self,
        network: &Network,
        forms: &[AffineForm],
        inputs: usize,
        k: usize,
        region: &Region,
        state: &mut State,
    ) {
        let columns = inputs + k;
        let layers = network.wide();
        let (hidden, last) = layers.split_at(layers.len() - 1);
        // One column for each input and symbol, one for the constant, one for the sizes.
        let mut rows = std::mem::take(&mut self.rows);
        rows.resize_with(forms.len(), Row::default);
        for (form, row) in forms.iter().zip(&mut rows) {
            self.substitute(form, columns, region, row);
        }
        let stride = forms.len().div_ceil(LANES);
        self.input.clear();
        self.input.resize((columns + 2) * stride, Lanes::ZERO);
        for (j, row) in rows.iter().enumerate() {
            let mut set = |c: usize, value: f64| self.input[c * stride + j / LANES].0[j % LANES] = value;
            row.terms.iter().enumerate().for_each(|(c, &t)| set(c, t));
            set(columns, row.constant);
            set(columns + 1, row.size);
        }
        self.rows = rows;
        state.layers.resize_with(hidden.len(), LayerState::default);
        let unit = Unit::from(network.activation());
        let mut largest = 0.0f64;
        state.largest = 0.0;
        for (number, layer) in hidden.iter().enumerate() {
            let (before, rest) = state.layers.split_at_mut(number);
            let this = &mut rest[0];
            let blocks = layer.forward.blocks();
            this.resize(blocks, columns);
            match before.last() {
                None => {
                    layer.forward.multiply(&self.input[..(columns + 1) * stride], &mut this.columns);
                    layer.forward.multiply_sizes(&self.input[(columns + 1) * stride..], &mut this.sizes);
                    this.error.fill(Lanes::ZERO);
                }
                Some(before) => {
                    layer.forward.multiply(&before.columns, &mut this.columns);
                    layer.forward.multiply_sizes(&before.error, &mut this.error);
                    this.sizes.fill(Lanes::splat(layer.largest_row * largest));
                }
            }
            let terms = rounding(columns + layer.forward.inputs());
            // The ranges of the units.
            region.ranges(&this.columns[..inputs * blocks], &mut this.lower, &mut this.upper);
            let symbols = &self.states[..k];
            largest = vectorised(Relax { layer: this, bias: &layer.bias, unit, inputs, symbols, terms });
            state.largest = state.largest.max(largest);
        }
        // The result, and its error: each unit's with its exact coefficient.
        let weights = &last[0].backward;
        let result = &mut state.result;
        result.terms.clear();
        result.terms.resize(columns, 0.0);
        let mut one = [Lanes::ZERO];
        one[0].0[0] = 1.0;
        let mut radius = 0.0;
        match state.layers.last_mut() {
            None => unreachable!("a network of one layer is linear and no operation"),
            Some(top) => {
                weights.multiply(&one, &mut top.adjoint);
                let blocks = top.adjoint.len();
                for (c, term) in result.terms.iter_mut().enumerate() {
                    *term = dot(&top.adjoint, &top.columns[c * blocks..(c + 1) * blocks]);
                }
                result.constant = dot(&top.adjoint, &top.columns[columns * blocks..]) + last[0].bias[0].0[0];
            }
        }
        result.size = last[0].largest_row * largest + last[0].bias[0].0[0].abs();
        for number in (0..state.layers.len()).rev() {
            if number + 1 < state.layers.len() {
                let (below, above) = state.layers.split_at_mut(number + 1);
                let (this, next) = (&mut below[number], &above[0]);
                self.input.clear();
                self.input.extend(next.adjoint.iter().zip(&next.slope).map(|(&a, &s)| a * s));
                hidden[number + 1].backward.multiply(&self.input, &mut this.adjoint);
            }
            let this = &state.layers[number];
            radius += this.adjoint.iter().zip(&this.radius).map(|(a, r)| dot_sizes(a, r)).sum::<f64>();
        }
        state.radius = radius * (1.0 + 1e-12) + rounding(columns + 16) * result.size;
        state.blame_units(inputs);
    }
}

impl State {
    fn blame_units(&mut self, inputs: usize) {
        self.error_share.clear();
        self.error_share.resize(inputs, 0.0);
        let mut error_share = std::mem::take(&mut self.error_share);
        for layer in &self.layers {
            layer.error_share(&layer.radius, 1.0, &mut error_share);
        }
        self.error_share = error_share;
    }
}

impl LayerState {
    /// Adds, for each input, its share of the errors of the units.
    pub(super) fn error_share(&self, errors: &[Lanes], factor: f64, error_share: &mut [f64]) {
        let blocks = self.lower.len();
        for b in 0..blocks {
            let mut share = [0.0; LANES];
            for l in 0..LANES {
                let width = (self.upper[b].0[l] - self.lower[b].0[l]).max(1e-12);
                // The columns have been multiplied with the slope.
                let slope = self.slope[b].0[l].max(1e-12);
                share[l] = factor * self.adjoint[b].0[l].abs() * errors[b].0[l] / (width * slope);
            }
            for (i, error_share) in error_share.iter_mut().enumerate() {
                let column = &self.columns[i * blocks + b].0;
                *error_share += (0..LANES).map(|l| share[l] * column[l].abs()).sum::<f64>();
            }
        }
    }

    fn resize(&mut self, blocks: usize, columns: usize) {
        self.columns.resize((columns + 1) * blocks, Lanes::ZERO);
        for lanes in [
            &mut self.lower,
            &mut self.upper,
            &mut self.sizes,
            &mut self.error,
            &mut self.slope,
            &mut self.offset,
            &mut self.radius,
            &mut self.adjoint,
            &mut self.round,
            &mut self.origin,
            &mut self.deviation,
            &mut self.quadratic,
        ] {
            lanes.resize(blocks, Lanes::ZERO);
        }
    }
}

/// Adds constants and errors to the ranges of a layer, relaxes its units, and leaves in
/// `columns` the forms of what comes out and in `error` their errors. Gives the largest size of
/// the terms of a unit's result.
struct Relax<'a> {
    layer: &'a mut LayerState,
    bias: &'a [Lanes],
    unit: Unit,
    inputs: usize,
    symbols: &'a [State],
    terms: f64,
}

impl Vectorised for Relax<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<const FUSED: bool>(self) -> f64 {
        let Relax { layer, bias, unit, inputs, symbols, terms } = self;
        let blocks = bias.len();
        let columns = inputs + symbols.len();
        let mut largest = 0.0f64;
        for b in 0..blocks {
            let mut error = layer.error[b].0;
            for (j, symbol) in symbols.iter().enumerate() {
                let column = &layer.columns[(inputs + j) * blocks + b].0;
                for l in 0..LANES {
                    error[l] += if column[l] == 0.0 { 0.0 } else { column[l].abs() * symbol.radius };
                }
            }
            let (mut lower, mut upper) = (layer.lower[b].0, layer.upper[b].0);
            let (mut a, mut z, mut round) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
            let mut c = [0.0; LANES];
            for l in 0..LANES {
                z[l] = layer.columns[columns * blocks + b].0[l] + bias[b].0[l];
                round[l] = terms * (layer.sizes[b].0[l] + bias[b].0[l].abs());
                lower[l] = z[l] + lower[l] - error[l] - round[l];
                upper[l] = z[l] + upper[l] + error[l] + round[l];
                lower[l] = if lower[l].is_nan() { f64::NEG_INFINITY } else { lower[l] };
                upper[l] = if upper[l].is_nan() { f64::INFINITY } else { upper[l] };
            }
            if unit == Unit::Tanh {
                for l in 0..LANES {
                    a[l] = f64::activated::<FUSED>(crate::Activation::Tanh, lower[l]);
                    c[l] = f64::activated::<FUSED>(crate::Activation::Tanh, upper[l]);
                }
            }
            for l in 0..LANES {
                let range = Interval { lower: lower[l], upper: upper[l] };
                let finite = lower[l].is_finite() && upper[l].is_finite();
                let line = match unit {
                    Unit::Tanh if finite => relax_tanh(lower[l], upper[l], a[l], c[l]),
                    unit => unit.relax(range),
                };
                layer.slope[b].0[l] = line.slope;
                layer.offset[b].0[l] = line.offset;
                let slope = line.slope.abs();
                layer.radius[b].0[l] = line.radius + slope * round[l] + terms * line.offset.abs();
                // What is left for the next layer to add up: errors of this unit, and those that
                // it passes on from units below.
                let passed = if slope == 0.0 { 0.0 } else { slope * layer.error[b].0[l] };
                layer.error[b].0[l] = layer.radius[b].0[l] + passed;
                let size = slope * (layer.sizes[b].0[l] + bias[b].0[l].abs()) + line.offset.abs();
                largest = largest.max(if slope == 0.0 { line.offset.abs() } else { size });
                layer.columns[columns * blocks + b].0[l] = line.slope * z[l] + line.offset;
            }
            layer.lower[b].0 = lower;
            layer.upper[b].0 = upper;
            layer.round[b].0 = round;
            layer.origin[b].0 = z;
            for l in 0..LANES {
                layer.deviation[b].0[l] = error[l] + round[l];
            }
            let slope = layer.slope[b].0;
            for j in 0..columns {
                let column = &mut layer.columns[j * blocks + b].0;
                for l in 0..LANES {
                    column[l] *= slope[l];
                }
            }
        }
        largest
    }
}
