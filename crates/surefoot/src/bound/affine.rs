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

mod parabola;
mod network;
mod refine;

use super::jet::Gram;
use super::region::Region;
use crate::graph::{AffineForm, Graph, Interval, Operation, Relaxation};
use crate::network::{LANES, Lanes, vectorised};

/// `constant + linear . y` up to an error.
#[derive(Clone, Debug)]
pub(crate) struct Plane {
    pub linear: Vec<f64>,
    pub constant: f64,
    pub error: f64,
    /// An enclosure by intervals, which may be finite on one side where the error is infinite.
    /// [`Interval::NOTHING`] where no input of the region concerns anybody.
    pub range: Interval,
}

impl Plane {
    /// The least value over a region, bounded from below. Not a number proves nothing, and a bound
    /// that overflows is minus infinity.
    pub fn lower(&self, region: &Region) -> f64 {
        let bound = self.constant + region.least(&self.linear) - self.error;
        let bound = if bound == f64::INFINITY { f64::NEG_INFINITY } else { bound };
        bound.max(self.range.lower)
    }

    /// The greatest value over a region, bounded from above. Not a number proves nothing, and a
    /// bound that overflows is infinity.
    pub fn upper(&self, region: &Region) -> f64 {
        let bound = self.constant + region.range(&self.linear).upper + self.error;
        let bound = if bound == f64::NEG_INFINITY { f64::INFINITY } else { bound };
        bound.min(self.range.upper)
    }
}

/// A form of which the errors are known.
#[derive(Debug, Default)]
struct Row {
    /// Of inputs, then of error symbols.
    terms: Vec<f64>,
    constant: f64,
    /// The sum of the sizes of its terms.
    size: f64,
}

impl Clone for Row {
    fn clone(&self) -> Self {
        Self { terms: self.terms.clone(), ..*self }
    }

    fn clone_from(&mut self, other: &Self) {
        self.terms.clone_from(&other.terms);
        (self.constant, self.size) = (other.constant, other.size);
    }
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
    /// What goes in at the origin, and how far it may be from its form in the inputs.
    origin: Vec<Lanes>,
    deviation: Vec<Lanes>,
    /// The error of the quadratic relaxation.
    quadratic: Vec<Lanes>,
}

/// What is known of an operation over the region.
#[derive(Clone, Debug)]
pub(super) struct State {
    /// Its arguments; of a network only the layers are kept.
    pub arguments: Vec<Interval>,
    pub layers: Vec<LayerState>,
    /// The forms of the arguments and the line of a unit; those of a network are in its layers.
    forms: Vec<Row>,
    line: Relaxation,
    result: Row,
    /// All values of the operation where it is defined; of a network nothing is stated.
    values: Interval,
    radius: f64,
    /// The largest size of the terms of a unit of a network.
    largest: f64,
    /// The share of its error that each input causes.
    error_share: Vec<f64>,
}

impl Default for State {
    fn default() -> Self {
        Self {
            arguments: Vec::new(),
            layers: Vec::new(),
            forms: Vec::new(),
            line: Relaxation::default(),
            result: Row::default(),
            values: Interval::EVERYTHING,
            radius: 0.0,
            largest: 0.0,
            error_share: Vec::new(),
        }
    }
}

/// Affine bounds of graphs; keeps its memory from one to the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct Affine {
    pub(super) states: Vec<State>,
    input: Vec<Lanes>,
    row: Row,
    rows: Vec<Row>,
    /// Whether the last bound states nothing because the result of the action may be undefined, or
    /// because it is of a perturbation that concerns nobody.
    pub(super) states_nothing: bool,
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
        self.states_nothing = graph.is_of_nobody;
        let mut concerns_nobody = false;
        for (k, operation) in graph.operations.iter().enumerate() {
            let mut state = std::mem::take(&mut self.states[k]);
            state.arguments.clear();
            state.values = Interval::EVERYTHING;
            if !matches!(operation, Operation::Network(..)) {
                state.layers.clear();
            }
            concerns_nobody |= self.enclose(graph, k, region, &mut state);
            if graph.requires_defined(k) && !matches!(operation, Operation::Network(..)) {
                // A value that is not known to be finite may be none.
                self.states_nothing |= !state.values.is_finite();
            }
            // Its own error is a symbol from now on.
            state.result.terms.resize(inputs + k, 0.0);
            state.result.terms.push(1.0);
            self.states[k] = state;
        }
        self.output(graph, region, concerns_nobody)
    }

    /// The same for a graph without operations, which is a plane itself; nothing for others. It is not
    /// counted, since it takes next to no time.
    pub fn plane(&mut self, graph: &Graph<'_>, region: &Region) -> Option<Plane> {
        self.states_nothing = graph.is_of_nobody;
        graph.operations.is_empty().then(|| self.output(graph, region, false))
    }

    /// The plane of the output, once operations have been bounded, and whether one of them is defined
    /// nowhere is known.
    fn output(&mut self, graph: &Graph<'_>, region: &Region, concerns_nobody: bool) -> Plane {
        let inputs = graph.inputs;
        let mut row = std::mem::take(&mut self.row);
        self.substitute(&graph.output, inputs + graph.operations.len(), region, &mut row);
        let error = self.error(&row, inputs) + rounding(row.terms.len()) * row.size;
        let mut plane = Plane {
            linear: row.terms[..inputs].to_vec(),
            constant: row.constant,
            error,
            range: Interval::EVERYTHING,
        };
        self.row = row;
        if concerns_nobody && !graph.is_of_nobody {
            plane.range = Interval::NOTHING;
        } else if self.states_nothing {
            plane.error = f64::INFINITY;
        } else if !error.is_finite() {
            plane.range = self.interval(&graph.output, region);
        }
        plane
    }

    /// Encloses an operation, given those before it. Whether it is defined nowhere, so that nobody is
    /// concerned.
    fn enclose(&mut self, graph: &Graph<'_>, k: usize, region: &Region, state: &mut State) -> bool {
        let inputs = graph.inputs;
        let mut concerns_nobody = false;
        match &graph.operations[k] {
            Operation::Unit(unit, form) => {
                let mut row = std::mem::take(&mut self.row);
                self.substitute(form, inputs + k, region, &mut row);
                let range = self.range(&row, form, region);
                state.arguments.push(range);
                let must_be_defined = graph.requires_defined(k);
                concerns_nobody = unit.is_undefined_on(range) && !must_be_defined;
                if unit.is_defined_on(range) || !must_be_defined {
                    state.values = unit.range(range);
                }
                let line = unit.relax(range);
                state.become_line(&row, line);
                state.error_share(inputs, &row.terms, line.radius, range);
                state.line = line;
                state.keep(0, &row);
                self.row = row;
            }
            Operation::Product(left, right) => self.product(left, right, inputs + k, region, state),
            Operation::Network(network, forms) => {
                self.network(network, forms, inputs, k, region, state);
            }
            Operation::Implicit(function, forms) => {
                let mut row = std::mem::take(&mut self.row);
                for form in forms {
                    self.substitute(form, inputs + k, region, &mut row);
                    state.arguments.push(self.range(&row, form, region));
                }
                let range = function.solutions(&state.arguments);
                concerns_nobody = range.lower > range.upper;
                state.values = range;
                let (middle, radius) = middle(range);
                row.terms.fill(0.0);
                (row.constant, row.size) = (0.0, 0.0);
                state.become_line(&row, Relaxation { slope: 0.0, offset: middle, radius });
                state.error_share.clear();
                state.error_share.resize(inputs, radius);
                self.row = row;
            }
            Operation::Slack(relative, form) => {
                let mut row = std::mem::take(&mut self.row);
                self.substitute(form, inputs + k, region, &mut row);
                let radius = relative * self.range(&row, form, region).size().max(1.0);
                state.values = Interval { lower: -radius, upper: radius };
                row.terms.fill(0.0);
                (row.constant, row.size) = (0.0, 0.0);
                state.become_line(&row, Relaxation { slope: 0.0, offset: 0.0, radius });
                state.error_share.clear();
                state.error_share.resize(inputs, 0.0);
                self.row = row;
            }
        }
        concerns_nobody
    }

    /// The share of the error of the last bound that each input causes, per unit of its
    /// range: where to cut.
    pub fn error_share(&self, inputs: usize) -> Vec<f64> {
        let mut error_share = vec![0.0; inputs];
        for (k, state) in self.states.iter().enumerate() {
            let share = self.row.terms.get(inputs + k).map_or(0.0, |t| t.abs());
            if share > 0.0 {
                error_share.iter_mut().zip(&state.error_share).for_each(|(sum, b)| *sum += share * b);
            }
        }
        error_share
    }

    /// The directions in which the error of the last bound lies: `sum_n e_n v_n v_n^T` over all
    /// units, with `e_n` the error of the unit over the square of its range and `v_n` the slope of
    /// what goes into it; row by row.
    pub fn error_directions(&self, inputs: usize) -> Vec<f64> {
        let mut error_directions = vec![0.0; inputs * inputs];
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
                vectorised(Gram { columns, weight: &weight, hessian: &mut error_directions, inputs });
            }
        }
        error_directions
    }

    /// A form in inputs and results as one in inputs and error symbols.
    fn substitute(&self, form: &AffineForm, columns: usize, region: &Region, row: &mut Row) {
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

    /// The range of a form, which is given as a row as well.
    fn range(&self, row: &Row, form: &AffineForm, region: &Region) -> Interval {
        let inputs = region.inputs();
        let range = region.range(&row.terms[..inputs]);
        let error = self.error(row, inputs) + rounding(row.terms.len()) * row.size;
        let range =
            Interval { lower: row.constant + range.lower - error, upper: row.constant + range.upper + error }
                .or_everything();
        if range.is_finite() {
            return range;
        }
        let interval = self.interval(form, region);
        let both = range.within(interval.lower, interval.upper);
        // Where nobody is concerned, the two need not have anything in common.
        if both.lower <= both.upper { both } else { range }
    }

    /// The range of a form as intervals have it: wider than need be, but finite on the side on which
    /// its operations are.
    fn interval(&self, form: &AffineForm, region: &Region) -> Interval {
        let inputs = region.inputs();
        let mut sum = Interval::point(form.constant);
        for (i, &term) in form.terms.iter().enumerate().filter(|(_, t)| **t != 0.0) {
            let of = if i < inputs { region.side(i) } else { self.states[i - inputs].values };
            let term = of.product(Interval::point(term));
            sum = Interval { lower: sum.lower + term.lower, upper: sum.upper + term.upper }
                .widened(rounding(1));
        }
        sum.or_everything()
    }

    /// `x y = x0 y + y0 x - x0 y0 + (x - x0)(y - y0)`, the last at most the product of the
    /// radii (McCormick, 1976, with parallel planes).
    fn product(
        &mut self,
        left: &AffineForm,
        right: &AffineForm,
        columns: usize,
        region: &Region,
        state: &mut State,
    ) {
        let (mut a, mut b) = (std::mem::take(&mut self.row), Row::default());
        self.substitute(left, columns, region, &mut a);
        self.substitute(right, columns, region, &mut b);
        let (x, y) = (self.range(&a, left, region), self.range(&b, right, region));
        state.arguments.extend([x, y]);
        state.values = x.product(y).widened(1e-14);
        state.keep(0, &a);
        state.keep(1, &b);
        let ((x0, rx), (y0, ry)) = (middle(x), middle(y));
        let radius = if rx == 0.0 || ry == 0.0 { 0.0 } else { rx * ry };
        let inputs = region.inputs();
        state.error_share.clear();
        let share = |row: &Row, radius: f64, i: usize| {
            if radius > 0.0 { row.terms[i].abs() / radius } else { 0.0 }
        };
        let fault = |i: usize| 0.5 * radius * (share(&a, rx, i) + share(&b, ry, i));
        state.error_share.extend((0..inputs).map(fault));
        if radius.is_finite() {
            a.terms.iter_mut().zip(&b.terms).for_each(|(a, b)| *a = y0 * *a + x0 * b);
            a.constant = y0 * a.constant + x0 * b.constant - x0 * y0;
            a.size = y0.abs() * a.size + x0.abs() * b.size + (x0 * y0).abs();
            state.become_line(&a, Relaxation { slope: 1.0, offset: 0.0, radius });
        } else {
            let (middle, radius) = middle(state.values);
            a.terms.fill(0.0);
            (a.constant, a.size) = (0.0, 0.0);
            state.become_line(&a, Relaxation { slope: 0.0, offset: middle, radius });
        }
        self.row = a;
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
    /// Keeps the form of an argument.
    fn keep(&mut self, number: usize, row: &Row) {
        self.forms.resize_with(self.forms.len().max(number + 1), Row::default);
        self.forms[number].clone_from(row);
    }

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

    fn error_share(&mut self, inputs: usize, terms: &[f64], radius: f64, range: Interval) {
        let width = range.upper - range.lower;
        let share = if width > 0.0 { radius / width } else { 0.0 };
        self.error_share.clear();
        self.error_share.extend(terms[..inputs].iter().map(|t| share * t.abs()));
    }
}
