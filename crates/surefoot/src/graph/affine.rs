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

mod bounded;
mod quadratic;

pub(crate) use bounded::Bounded;
pub(crate) use quadratic::QuadraticSum;

use super::operator::{LayerState, Operator};
use super::unit::Relaxation;
use super::{AffineForm, Graph, Interval, Region};
use crate::network::Lanes;

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
pub(crate) struct Row {
    /// Of inputs, then of error symbols.
    pub terms: Vec<f64>,
    pub constant: f64,
    /// The sum of the sizes of its terms.
    pub size: f64,
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

/// What is known of an operation over the region.
#[derive(Clone, Debug)]
pub(crate) struct State {
    /// The ranges of its arguments; of a network only the layers are kept.
    pub arguments: Vec<Interval>,
    /// The hidden layers of a network.
    pub layers: Vec<LayerState>,
    /// The forms of the arguments and the line of a unit; those of a network are in its layers.
    pub forms: Vec<Row>,
    pub line: Relaxation,
    pub result: Row,
    /// All values of the operation where it is defined; of a network nothing is stated.
    pub values: Interval,
    /// The error of the result as an affine form.
    pub radius: f64,
    /// The largest size of the terms of a unit of a network.
    pub largest: f64,
    /// The share of its error that each input causes.
    pub error_share: Vec<f64>,
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

/// An operation of a graph that is being bounded over a region.
pub(crate) struct Place<'a> {
    pub number: usize,
    pub arguments: &'a [AffineForm],
    pub region: &'a Region,
    /// Whether a bound must show that the operation is defined on the whole region.
    pub must_be_defined: bool,
}

impl Place<'_> {
    pub fn inputs(&self) -> usize {
        self.region.inputs()
    }

    /// The number of inputs and of error symbols of the operations before.
    pub fn columns(&self) -> usize {
        self.region.inputs() + self.number
    }
}

/// Affine bounds of graphs; keeps its memory from one to the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct Affine {
    pub(crate) states: Vec<State>,
    pub(crate) input: Vec<Lanes>,
    pub(crate) row: Row,
    pub(crate) rows: Vec<Row>,
    /// Whether the last bound states nothing because the result of the action may be undefined, or
    /// because it is of a perturbation that concerns nobody.
    states_nothing: bool,
    /// Bounds computed so far.
    pub count: usize,
    /// Bounds refined so far.
    pub refined: usize,
}

impl Affine {
    /// Bounds a graph over a region.
    pub fn bound<'a, 'p>(&'a mut self, graph: &'a Graph<'p>, region: &'a Region) -> Bounded<'a, 'p> {
        self.count += 1;
        let inputs = graph.inputs;
        self.states.resize_with(graph.operations.len(), State::default);
        self.states_nothing = graph.is_of_nobody;
        let mut concerns_nobody = false;
        for (k, operation) in graph.operations.iter().enumerate() {
            let mut state = std::mem::take(&mut self.states[k]);
            state.arguments.clear();
            state.layers.truncate(operation.operator.hidden_layers());
            state.values = Interval::EVERYTHING;
            let must_be_defined = graph.requires_defined(k);
            let place = Place { number: k, arguments: &operation.arguments, region, must_be_defined };
            concerns_nobody |= operation.operator.enclose(self, &place, &mut state);
            if must_be_defined && !operation.operator.is_total() {
                // A value that is not known to be finite may be none.
                self.states_nothing |= !state.values.is_finite();
            }
            // Its own error is a symbol from now on.
            state.result.terms.resize(inputs + k, 0.0);
            state.result.terms.push(1.0);
            self.states[k] = state;
        }
        let plane = self.output(graph, region, concerns_nobody);
        Bounded::new(plane, self, graph, region)
    }

    /// The plane of a graph without operations, which is a plane itself; `None` for others. It is not
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

    /// Encloses an operation by a constant with an error, from its range over the ranges of its
    /// arguments. True if it is defined nowhere.
    pub(crate) fn enclose_by_range<O: Operator + ?Sized>(
        &mut self,
        operator: &O,
        place: &Place<'_>,
        state: &mut State,
    ) -> bool {
        let mut row = std::mem::take(&mut self.row);
        for form in place.arguments {
            self.substitute(form, place.columns(), place.region, &mut row);
            state.arguments.push(self.range(&row, form, place.region));
        }
        self.row = row;
        state.values = operator.range(&state.arguments);
        let (middle, radius) = middle(state.values);
        state.become_constant(place, middle, radius);
        state.error_share.fill(radius);
        state.values.lower > state.values.upper
    }

    /// A form in inputs and results as one in inputs and error symbols.
    pub(crate) fn substitute(&self, form: &AffineForm, columns: usize, region: &Region, row: &mut Row) {
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
    pub(crate) fn range(&self, row: &Row, form: &AffineForm, region: &Region) -> Interval {
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
}

/// More than the relative error of a sum of so many products.
pub(crate) fn rounding(terms: usize) -> f64 {
    4.0 * f64::EPSILON * (terms + 16) as f64
}

pub(crate) fn middle(range: Interval) -> (f64, f64) {
    let middle = 0.5 * (range.lower + range.upper);
    if !middle.is_finite() {
        return (0.0, f64::INFINITY);
    }
    let radius = (range.upper - middle).max(middle - range.lower);
    (middle, radius * (1.0 + 4.0 * f64::EPSILON))
}

impl State {
    /// Keeps the form of an argument.
    pub fn keep(&mut self, number: usize, row: &Row) {
        self.forms.resize_with(self.forms.len().max(number + 1), Row::default);
        self.forms[number].clone_from(row);
    }

    /// `slope row + offset`, with a radius that covers the rounding of both.
    pub fn become_line(&mut self, row: &Row, line: Relaxation) {
        let Relaxation { slope, offset, radius } = line;
        self.result.terms.clear();
        self.result.terms.extend(row.terms.iter().map(|t| slope * t));
        self.result.constant = slope * row.constant + offset;
        let error = slope.abs() * rounding(row.terms.len()) * row.size;
        self.radius = radius + error;
        self.result.size = slope.abs() * row.size + offset.abs();
    }

    /// A constant with an error, of which no input has a share.
    pub fn become_constant(&mut self, place: &Place<'_>, middle: f64, radius: f64) {
        let row = Row { terms: vec![0.0; place.columns()], constant: 0.0, size: 0.0 };
        self.become_line(&row, Relaxation { slope: 0.0, offset: middle, radius });
        self.error_share.clear();
        self.error_share.resize(place.inputs(), 0.0);
    }
}
