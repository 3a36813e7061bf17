//! Affine bounds: a graph lies between two parallel planes over a region.
//!
//! Every operation is enclosed by a line with an error (its relaxation), and every result of an
//! operation by an affine form in the inputs and in one error symbol for each operation so far,
//!
//! ```text
//! h_k = constant + a . y + b . e,    |e_j| <= radius_j,
//! ```
//!
//! so that errors which cancel do cancel (affine arithmetic; the relaxations are those of
//! CROWN, Zhang et al., 2018, with parallel lines). Inside a network each unit of a hidden layer
//! has its own error; for the result of the network they are carried back with their exact
//! coefficients and added up.
//!
//! **Rounding.** Beside each form goes the sum of the sizes of all terms that make it up. The
//! form as computed differs from the exact one by at most that sum times the number of
//! operations in a chain times half a unit in the last place, which is added to its radius.

use super::jet::Gram;
use super::jet::Jets;
use super::region::Region;
use crate::graph::{Form, Graph, Interval, Operation, Relaxation, Unit, offsets_tanh, relax_tanh};
use crate::network::{LANES, Lanes, Network, Real, Vectorised, vectorised};

/// `constant + linear . y` up to an error.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plane {
    pub linear: Vec<f64>,
    pub constant: f64,
    pub error: f64,
}

impl Plane {
    /// The least value over a region, bounded from below. Not a number proves nothing.
    pub fn lower(&self, region: &Region) -> f64 {
        self.constant + region.range(&self.linear).lower - self.error
    }

    /// The greatest value over a region, bounded from above.
    pub fn upper(&self, region: &Region) -> f64 {
        self.constant + region.range(&self.linear).upper + self.error
    }
}

/// A form of which the errors are known.
#[derive(Clone, Debug, Default)]
struct Row {
    /// Of inputs, then of error symbols.
    terms: Vec<f64>,
    constant: f64,
    /// The sum of the sizes of its terms.
    size: f64,
}

/// What is known of a hidden layer over the region.
#[derive(Clone, Debug, Default)]
pub(super) struct LayerState {
    /// What goes into each unit, at least and at most.
    pub lower: Vec<Lanes>,
    pub upper: Vec<Lanes>,
    columns: Vec<Lanes>,
    sizes: Vec<Lanes>,
    error: Vec<Lanes>,
    slope: Vec<Lanes>,
    offset: Vec<Lanes>,
    radius: Vec<Lanes>,
    adjoint: Vec<Lanes>,
    /// Rounding errors of what goes in.
    round: Vec<Lanes>,
}

/// What is known of an operation over the region.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    /// Its arguments; of a network only the layers are kept.
    pub arguments: Vec<Interval>,
    pub layers: Vec<LayerState>,
    result: Row,
    radius: f64,
    /// The largest size of the terms of a unit of a network.
    largest: f64,
    /// How much of its error each input is to blame for.
    blame: Vec<f64>,
}

/// Affine bounds of graphs; keeps its memory from one to the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct Affine {
    pub(super) states: Vec<State>,
    input: Vec<Lanes>,
    row: Row,
    rows: Vec<Row>,
    /// Bounds computed so far.
    pub count: usize,
    /// Bounds refined so far.
    pub refined: usize,
}

impl Affine {
    /// The plane that a graph keeps to over a region.
    pub fn bound(&mut self, graph: &Graph<'_>, region: &Region) -> Plane {
        self.count += 1;
        let inputs = graph.inputs;
        self.states.resize_with(graph.operations.len(), State::default);
        for (k, operation) in graph.operations.iter().enumerate() {
            let mut state = std::mem::take(&mut self.states[k]);
            state.arguments.clear();
            if !matches!(operation, Operation::Network(..)) {
                state.layers.clear();
            }
            match operation {
                Operation::Unit(unit, form) => {
                    let mut row = std::mem::take(&mut self.row);
                    self.substitute(form, inputs + k, region, &mut row);
                    let range = self.range(&row, region);
                    state.arguments.push(range);
                    let line = unit.relax(range);
                    state.become_line(&row, line);
                    state.blame(inputs, &row.terms, line.radius, range);
                    self.row = row;
                }
                Operation::Product(left, right) => self.product(left, right, inputs + k, region, &mut state),
                Operation::Network(network, forms) => {
                    self.network(network, forms, inputs, k, region, &mut state);
                }
                Operation::Implicit(function, forms) => {
                    let mut row = std::mem::take(&mut self.row);
                    for form in forms {
                        self.substitute(form, inputs + k, region, &mut row);
                        state.arguments.push(self.range(&row, region));
                    }
                    let range = function.solutions(&state.arguments);
                    let (middle, radius) = middle(range);
                    row.terms.fill(0.0);
                    (row.constant, row.size) = (0.0, 0.0);
                    state.become_line(&row, Relaxation { slope: 0.0, offset: middle, radius });
                    state.blame.clear();
                    state.blame.resize(inputs, radius);
                    self.row = row;
                }
                Operation::Slack(relative, form) => {
                    let mut row = std::mem::take(&mut self.row);
                    self.substitute(form, inputs + k, region, &mut row);
                    let radius = relative * self.range(&row, region).size().max(1.0);
                    row.terms.fill(0.0);
                    (row.constant, row.size) = (0.0, 0.0);
                    state.become_line(&row, Relaxation { slope: 0.0, offset: 0.0, radius });
                    state.blame.clear();
                    state.blame.resize(inputs, 0.0);
                    self.row = row;
                }
            }
            // Its own error is a symbol from now on.
            state.result.terms.resize(inputs + k, 0.0);
            state.result.terms.push(1.0);
            self.states[k] = state;
        }
        let mut row = std::mem::take(&mut self.row);
        self.substitute(&graph.output, inputs + graph.operations.len(), region, &mut row);
        let error = self.error(&row, inputs) + rounding(row.terms.len()) * row.size;
        let plane = Plane { linear: row.terms[..inputs].to_vec(), constant: row.constant, error };
        self.row = row;
        plane
    }

    /// How much of the error of the last bound each input is to blame for, per unit of its
    /// range: where to cut.
    pub fn blame(&self, inputs: usize) -> Vec<f64> {
        let mut blame = vec![0.0; inputs];
        for (k, state) in self.states.iter().enumerate() {
            let share = self.row.terms.get(inputs + k).map_or(0.0, |t| t.abs());
            if share > 0.0 {
                blame.iter_mut().zip(&state.blame).for_each(|(sum, b)| *sum += share * b);
            }
        }
        blame
    }

    /// A plane below a graph that ends in a network, better than that of the last bound (which
    /// must have been of the same graph and region) around the point where `jets` have evaluated
    /// it last: back through the network each unit is bounded on the side that matters alone, by
    /// the line of those with the slope of its chord and of its tangent at the point that is
    /// better there (CROWN, with slopes chosen for the place where the bound is lowest).
    pub fn refine(&mut self, graph: &Graph<'_>, region: &Region, jets: &Jets) -> Option<Plane> {
        let inputs = graph.inputs;
        let k = graph.operations.len().checked_sub(1)?;
        let Operation::Network(network, forms) = &graph.operations[k] else { return None };
        let (terms, own) = graph.output.terms.split_at(inputs.min(graph.output.terms.len()));
        let (&share, others) = own.split_last()?;
        if own.len() != k + 1 || others.iter().any(|&t| t != 0.0) {
            return None;
        }
        self.refined += 1;
        let unit = Unit::from(network.activation());
        let layers = network.wide();
        let (hidden, last) = layers.split_at(layers.len() - 1);
        let mut one = [Lanes::ZERO];
        one[0].0[0] = share;
        let bias = share * last[0].bias[0].0[0];
        let mut plane =
            Plane { linear: vec![0.0; inputs], constant: graph.output.constant + bias, error: 0.0 };
        let mut size = graph.output.constant.abs() + bias.abs();
        let mut state = std::mem::take(&mut self.states[k]);
        let mut adjoint = std::mem::take(&mut self.input);
        adjoint.clear();
        adjoint.resize(last[0].backward.blocks(), Lanes::ZERO);
        last[0].backward.multiply(&one, &mut adjoint);
        for number in (0..hidden.len()).rev() {
            let (layer, point) = (&mut state.layers[number], &jets.points[k].layers[number]);
            let work =
                OneSided { layer, at: &point.z, bias: &hidden[number].bias, unit, adjoint: &mut adjoint };
            let (constant, sizes, round) = vectorised(work);
            plane.constant += constant;
            plane.error += round;
            size += sizes;
            // What goes in has these coefficients now; what comes out of the layer below, those.
            let below = &hidden[number].backward;
            let length: f64 = adjoint.iter().map(|a| dot_sizes(a, &Lanes::splat(1.0))).sum();
            size += length * hidden[number].largest_row * state.largest.max(1.0);
            let mut next = vec![Lanes::ZERO; below.blocks()];
            below.multiply(&adjoint, &mut next);
            adjoint = next;
        }
        let mut symbols = vec![0.0; k];
        for (j, row) in self.rows.iter().take(forms.len()).enumerate() {
            let a = adjoint[j / LANES].0[j % LANES];
            plane.linear.iter_mut().zip(&row.terms).for_each(|(l, t)| *l += a * t);
            symbols.iter_mut().zip(&row.terms[inputs..]).for_each(|(s, t)| *s += a * t);
            plane.constant += a * row.constant;
            size += a.abs() * row.size;
        }
        plane.linear.iter_mut().zip(terms).for_each(|(l, t)| *l += t);
        size += (0..inputs).map(|i| plane.linear[i].abs() * region.size(i)).sum::<f64>();
        let symbols = symbols.iter().zip(&self.states).filter(|(s, _)| **s != 0.0);
        plane.error += symbols.map(|(s, state)| s.abs() * state.radius).sum::<f64>();
        plane.error =
            plane.error * (1.0 + 1e-12) + rounding(inputs + k + 2 * adjoint.len() * LANES + 256) * size;
        self.input = adjoint;
        self.states[k] = state;
        Some(plane)
    }

    /// The directions in which the error of the last bound lies: `sum_n e_n v_n v_n^T` over all
    /// units, with `e_n` the error of the unit over the square of its range and `v_n` the slope of
    /// what goes into it; row by row.
    pub fn strain(&self, inputs: usize) -> Vec<f64> {
        let mut strain = vec![0.0; inputs * inputs];
        for (k, state) in self.states.iter().enumerate() {
            let share = self.row.terms.get(inputs + k).map_or(0.0, |t| t.abs());
            for layer in &state.layers {
                let blocks = layer.lower.len();
                let mut weight = vec![Lanes::ZERO; blocks];
                for b in 0..blocks {
                    for l in 0..LANES {
                        let width = (layer.upper[b].0[l] - layer.lower[b].0[l]).max(1e-12);
                        // The columns have been multiplied with the slope.
                        let scale = (width * layer.slope[b].0[l].max(1e-12)).powi(2);
                        let e = share * layer.adjoint[b].0[l].abs() * layer.radius[b].0[l] / scale;
                        weight[b].0[l] = if e.is_finite() { e } else { 0.0 };
                    }
                }
                let columns = &layer.columns[..inputs * blocks];
                vectorised(Gram { columns, weight: &weight, hessian: &mut strain, inputs });
            }
        }
        strain
    }

    /// A form in inputs and results as one in inputs and error symbols.
    fn substitute(&self, form: &Form, columns: usize, region: &Region, row: &mut Row) {
        let inputs = region.inputs();
        row.terms.clear();
        row.terms.resize(columns, 0.0);
        row.constant = form.constant;
        row.size = form.constant.abs();
        for (i, &term) in form.terms.iter().enumerate().filter(|(_, t)| **t != 0.0) {
            if i < inputs {
                row.terms[i] += term;
                row.size += term.abs() * region.size(i);
                continue;
            }
            let Row { terms, constant, size } = &self.states[i - inputs].result;
            row.terms.iter_mut().zip(terms).for_each(|(sum, t)| *sum += term * t);
            row.constant += term * constant;
            row.size += term.abs() * size;
        }
    }

    /// The error symbols of a row at their worst.
    fn error(&self, row: &Row, inputs: usize) -> f64 {
        let symbols = row.terms[inputs..].iter().zip(&self.states);
        symbols.filter(|(t, _)| **t != 0.0).map(|(t, state)| t.abs() * state.radius).sum()
    }

    fn range(&self, row: &Row, region: &Region) -> Interval {
        let inputs = region.inputs();
        let range = region.range(&row.terms[..inputs]);
        let error = self.error(row, inputs) + rounding(row.terms.len()) * row.size;
        Interval { lower: row.constant + range.lower - error, upper: row.constant + range.upper + error }
            .or_everything()
    }

    /// `x y = x0 y + y0 x - x0 y0 + (x - x0)(y - y0)`, the last at most the product of the
    /// radii (McCormick, 1976, with parallel planes).
    fn product(&mut self, left: &Form, right: &Form, columns: usize, region: &Region, state: &mut State) {
        let (mut a, mut b) = (std::mem::take(&mut self.row), Row::default());
        self.substitute(left, columns, region, &mut a);
        self.substitute(right, columns, region, &mut b);
        let (x, y) = (self.range(&a, region), self.range(&b, region));
        state.arguments.extend([x, y]);
        let ((x0, rx), (y0, ry)) = (middle(x), middle(y));
        let radius = if rx == 0.0 || ry == 0.0 { 0.0 } else { rx * ry };
        let inputs = region.inputs();
        state.blame.clear();
        let share = |row: &Row, radius: f64, i: usize| {
            if radius > 0.0 { row.terms[i].abs() / radius } else { 0.0 }
        };
        let fault = |i: usize| 0.5 * radius * (share(&a, rx, i) + share(&b, ry, i));
        state.blame.extend((0..inputs).map(fault));
        if radius.is_finite() {
            a.terms.iter_mut().zip(&b.terms).for_each(|(a, b)| *a = y0 * *a + x0 * b);
            a.constant = y0 * a.constant + x0 * b.constant - x0 * y0;
            a.size = y0.abs() * a.size + x0.abs() * b.size + (x0 * y0).abs();
            state.become_line(&a, Relaxation { slope: 1.0, offset: 0.0, radius });
        } else {
            let (middle, radius) = middle(x.product(y).widened(1e-14));
            a.terms.fill(0.0);
            (a.constant, a.size) = (0.0, 0.0);
            state.become_line(&a, Relaxation { slope: 0.0, offset: middle, radius });
        }
        self.row = a;
    }

    fn network(
        &mut self,
        network: &Network,
        forms: &[Form],
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

/// More than the relative error of a sum of so many products.
fn rounding(terms: usize) -> f64 {
    4.0 * f64::EPSILON * (terms + 16) as f64
}

fn middle(range: Interval) -> (f64, f64) {
    let middle = 0.5 * (range.lower + range.upper);
    if !middle.is_finite() {
        return (0.0, f64::INFINITY);
    }
    let radius = (range.upper - middle).max(middle - range.lower);
    (middle, radius * (1.0 + 4.0 * f64::EPSILON))
}

fn dot(a: &[Lanes], b: &[Lanes]) -> f64 {
    let mut sums = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for l in 0..LANES {
            sums[l] += a.0[l] * b.0[l];
        }
    }
    sums.iter().sum()
}

fn dot_sizes(a: &Lanes, b: &Lanes) -> f64 {
    // Nothing times infinity is nothing.
    (0..LANES).filter(|&l| a.0[l] != 0.0).map(|l| a.0[l].abs() * b.0[l]).sum()
}

impl State {
    /// `slope row + offset`, with a radius that covers the rounding of both.
    fn become_line(&mut self, row: &Row, line: Relaxation) {
        let Relaxation { slope, offset, radius } = line;
        self.result.terms.clear();
        self.result.terms.extend(row.terms.iter().map(|t| slope * t));
        self.result.constant = slope * row.constant + offset;
        let error = slope.abs() * rounding(row.terms.len()) * row.size;
        self.radius = radius + error;
        self.result.size = slope.abs() * row.size + offset.abs();
    }

    fn blame(&mut self, inputs: usize, terms: &[f64], radius: f64, range: Interval) {
        let width = range.upper - range.lower;
        let share = if width > 0.0 { radius / width } else { 0.0 };
        self.blame.clear();
        self.blame.extend(terms[..inputs].iter().map(|t| share * t.abs()));
    }

    fn blame_units(&mut self, inputs: usize) {
        self.blame.clear();
        self.blame.resize(inputs, 0.0);
        for layer in &self.layers {
            let blocks = layer.lower.len();
            for b in 0..blocks {
                let mut share = [0.0; LANES];
                for l in 0..LANES {
                    let width = (layer.upper[b].0[l] - layer.lower[b].0[l]).max(1e-12);
                    // The columns have been multiplied with the slope.
                    let slope = layer.slope[b].0[l].max(1e-12);
                    share[l] = layer.adjoint[b].0[l].abs() * layer.radius[b].0[l] / (width * slope);
                }
                for (i, blame) in self.blame.iter_mut().enumerate() {
                    let column = &layer.columns[i * blocks + b].0;
                    *blame += (0..LANES).map(|l| share[l] * column[l].abs()).sum::<f64>();
                }
            }
        }
    }
}

impl LayerState {
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

/// Replaces the coefficients of what comes out of a layer by those of what goes in, with a line
/// below it where the coefficient is positive and one above it where it is negative. Gives what
/// that adds to the constant, the size of it, and rounding errors.
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
