//! Affine bounds of a network: unit by unit, in lanes.

use crate::graph::affine::{Affine, Place, Row, State, rounding};
use crate::graph::jet::dot;
use crate::graph::unit::tanh_line_bound;
use crate::graph::{AffineForm, Interval, Unit};
use crate::network::{LANES, Lanes, Network, Real, Vectorised, vectorised};

/// The enclosure of a hidden layer over the region.
#[derive(Clone, Debug, Default)]
pub(crate) struct LayerState {
    /// Bounds of each unit's argument.
    pub lower: Vec<Lanes>,
    pub upper: Vec<Lanes>,
    /// The forms of the units' outputs: one column for each input and error symbol, then the constant.
    pub columns: Vec<Lanes>,
    /// The sizes of the terms of each unit's argument.
    pub sizes: Vec<Lanes>,
    /// The error of each unit's output that this and earlier layers cause.
    pub error: Vec<Lanes>,
    /// The line around each unit: the output is `slope z + offset` up to `radius`, for the argument z.
    pub slope: Vec<Lanes>,
    pub offset: Vec<Lanes>,
    pub radius: Vec<Lanes>,
    /// The coefficient of each unit's output in the result.
    pub adjoint: Vec<Lanes>,
    /// The rounding error of each unit's argument.
    pub round: Vec<Lanes>,
    /// The argument's form at the origin, and the largest distance of the argument from its form in the
    /// inputs.
    pub origin: Vec<Lanes>,
    pub deviation: Vec<Lanes>,
    /// The error of the quadratic bound.
    pub quadratic: Vec<Lanes>,
}

/// Encloses a network by an affine form. The forward pass computes the form and the error of every unit,
/// the backward pass the coefficient of every unit's error in the result.
pub(super) fn enclose(network: &Network, affine: &mut Affine, place: &Place<'_>, state: &mut State) {
    let (inputs, columns) = (place.inputs(), place.columns());
    place_arguments(affine, place);
    let layers = network.wide();
    let (hidden, last) = layers.split_at(layers.len() - 1);
    let stride = place.arguments.len().div_ceil(LANES);
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
                let (forms, sizes) = affine.input.split_at((columns + 1) * stride);
                layer.forward.multiply(forms, &mut this.columns);
                layer.forward.multiply_sizes(sizes, &mut this.sizes);
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
        place.region.ranges(&this.columns[..inputs * blocks], &mut this.lower, &mut this.upper);
        let symbols = &affine.states[..place.number];
        largest = vectorised(EncloseUnits { layer: this, bias: &layer.bias, unit, inputs, symbols, terms });
        state.largest = state.largest.max(largest);
    }
    // The result, and its error: the error of each unit counts with its exact coefficient.
    let result = &mut state.result;
    result.terms.clear();
    result.terms.resize(columns, 0.0);
    let mut one = [Lanes::ZERO];
    one[0].0[0] = 1.0;
    let Some(top) = state.layers.last_mut() else {
        unreachable!("a network of one layer is linear and no operation")
    };
    last[0].backward.multiply(&one, &mut top.adjoint);
    let blocks = top.adjoint.len();
    for (c, term) in result.terms.iter_mut().enumerate() {
        *term = dot(&top.adjoint, &top.columns[c * blocks..(c + 1) * blocks]);
    }
    result.constant = dot(&top.adjoint, &top.columns[columns * blocks..]) + last[0].bias[0].0[0];
    result.size = last[0].largest_row * largest + last[0].bias[0].0[0].abs();
    let radius = carry_errors_back(network, affine, state);
    state.radius = radius * (1.0 + 1e-12) + rounding(columns + 16) * state.result.size;
    state.error_share.clear();
    state.error_share.resize(inputs, 0.0);
    for layer in &state.layers {
        layer.error_share(&layer.radius, 1.0, &mut state.error_share);
    }
}

/// Substitutes the arguments of a network and transposes them into lanes: one column for each input and
/// error symbol, one for the constant, one for the sizes.
fn place_arguments(affine: &mut Affine, place: &Place<'_>) {
    let (forms, columns): (&[AffineForm], usize) = (place.arguments, place.columns());
    let mut rows = std::mem::take(&mut affine.rows);
    rows.resize_with(forms.len(), Row::default);
    for (form, row) in forms.iter().zip(&mut rows) {
        affine.substitute(form, columns, place.region, row);
    }
    let stride = forms.len().div_ceil(LANES);
    affine.input.clear();
    affine.input.resize((columns + 2) * stride, Lanes::ZERO);
    for (j, row) in rows.iter().enumerate() {
        let mut set = |c: usize, value: f64| affine.input[c * stride + j / LANES].0[j % LANES] = value;
        row.terms.iter().enumerate().for_each(|(c, &t)| set(c, t));
        set(columns, row.constant);
        set(columns + 1, row.size);
    }
    affine.rows = rows;
}

/// Computes the adjoints of all units from those of the last hidden layer. Returns the error of the
/// result.
fn carry_errors_back(network: &Network, affine: &mut Affine, state: &mut State) -> f64 {
    let mut radius = 0.0;
    for number in (0..state.layers.len()).rev() {
        if number + 1 < state.layers.len() {
            let (below, above) = state.layers.split_at_mut(number + 1);
            let (this, next) = (&mut below[number], &above[0]);
            affine.input.clear();
            affine.input.extend(next.adjoint.iter().zip(&next.slope).map(|(&a, &s)| a * s));
            network.wide()[number + 1].backward.multiply(&affine.input, &mut this.adjoint);
        }
        let this = &state.layers[number];
        radius += this.adjoint.iter().zip(&this.radius).map(|(a, r)| dot_sizes(a, r)).sum::<f64>();
    }
    radius
}

/// The sum of the products of absolute values, in which zero times infinity is zero.
pub(super) fn dot_sizes(a: &Lanes, b: &Lanes) -> f64 {
    (0..LANES).filter(|&l| a.0[l] != 0.0).map(|l| a.0[l].abs() * b.0[l]).sum()
}

impl LayerState {
    /// Adds to each input the part of the units' errors that it causes.
    pub fn error_share(&self, errors: &[Lanes], factor: f64, error_share: &mut [f64]) {
        let blocks = self.lower.len();
        for b in 0..blocks {
            let mut share = [0.0; LANES];
            for l in 0..LANES {
                let width = (self.upper[b].0[l] - self.lower[b].0[l]).max(1e-12);
                // The columns already contain the factor `slope`.
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

/// Adds constants and errors to the ranges of a layer and encloses its units by lines. Writes the forms of the
/// units' outputs to `columns` and their errors to `error`. Returns the largest size of the terms of a
/// unit's result.
struct EncloseUnits<'a> {
    layer: &'a mut LayerState,
    bias: &'a [Lanes],
    unit: Unit,
    inputs: usize,
    symbols: &'a [State],
    terms: f64,
}

impl Vectorised for EncloseUnits<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<const FUSED: bool>(self) -> f64 {
        let EncloseUnits { layer, bias, unit, inputs, symbols, terms } = self;
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
                    Unit::Tanh if finite => tanh_line_bound(lower[l], upper[l], a[l], c[l]),
                    unit => unit.line_bound(range),
                };
                layer.slope[b].0[l] = line.slope;
                layer.offset[b].0[l] = line.offset;
                let slope = line.slope.abs();
                layer.radius[b].0[l] = line.radius + slope * round[l] + terms * line.offset.abs();
                // The error that the next layer adds up: that of this unit plus those that it passes on
                // from the layers below.
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
