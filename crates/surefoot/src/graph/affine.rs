//! Affine bounds: two parallel planes that enclose a graph over a region.
//!
//! Every operation is enclosed by a line with an error, and every result of an
//! operation by an affine form in the inputs and in one error symbol for each operation so far,
//!
//! ```text
//! h_k = constant + a . y + b . e,    |e_j| <= radius_j,
//! ```
//!
//! so that errors which cancel do cancel (affine arithmetic; the lines are those of
//! CROWN, Zhang et al., 2018, with parallel lines). Inside a network each unit of a hidden layer
//! has its own error; for the result of the network they are carried back with their exact
//! coefficients and added up.
//!
//! **Rounding.** Each form carries the sum of the absolute values of all terms that were added to it. The
//! computed form differs from the exact one by at most this sum times the number of operations in a chain
//! times half a unit in the last place. This bound is added to the radius.

mod bounded;
mod quadratic;

pub(crate) use bounded::Bounded;
pub(crate) use quadratic::QuadraticSum;

use super::operator::{Chord, LayerState, Operator};
use super::unit::LineBound;
use super::{AffineForm, Graph, Interval, Region};
use crate::network::Lanes;

/// `constant + linear . y` up to an error.
#[derive(Clone, Debug)]
pub(crate) struct Plane {
    pub linear: Vec<f64>,
    pub constant: f64,
    pub error: f64,
    /// An enclosure by interval arithmetic, which may be finite on one side where the error is infinite.
    /// [`Interval::NOTHING`] where the perturbed individual is undefined on the whole region.
    pub range: Interval,
}

impl Plane {
    /// A lower bound of the least value over a region. NaN proves nothing; a bound that overflows is
    /// minus infinity.
    pub fn lower(&self, region: &Region) -> f64 {
        let bound = self.constant + region.least(&self.linear) - self.error;
        let bound = if bound == f64::INFINITY { f64::NEG_INFINITY } else { bound };
        bound.max(self.range.lower)
    }

    /// An upper bound of the greatest value over a region. NaN proves nothing; a bound that overflows is
    /// infinity.
    pub fn upper(&self, region: &Region) -> f64 {
        let bound = self.constant + region.range(&self.linear).upper + self.error;
        let bound = if bound == f64::NEG_INFINITY { f64::INFINITY } else { bound };
        bound.min(self.range.upper)
    }
}

/// An upper bound: a plane where changes are positive, with other slopes where they are negative.
///
/// ```text
/// constant + error + sum_i (linear_i if y_i > 0 else negative_i) y_i
/// ```
#[derive(Clone, Debug)]
pub(crate) struct Interpolated {
    pub plane: Plane,
    pub negative: Vec<f64>,
}

/// An affine form in the inputs and in the error symbols of the operations.
#[derive(Debug, Default)]
pub(crate) struct Row {
    /// The coefficients of the inputs, then those of the error symbols.
    pub terms: Vec<f64>,
    pub constant: f64,
    /// The sum of the absolute values of its terms, for the bound on rounding errors.
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

/// The enclosure of one operation over the region.
#[derive(Clone, Debug)]
pub(crate) struct State {
    /// The ranges of the arguments. Networks keep ranges in `layers` only.
    pub arguments: Vec<Interval>,
    /// The hidden layers of a network.
    pub layers: Vec<LayerState>,
    /// The forms of the arguments, and the line that encloses a unit. Networks keep theirs in `layers`.
    pub forms: Vec<Row>,
    pub line: LineBound,
    /// The lines around the absolute values of a weighted sum of them; empty for other operations.
    pub chords: Vec<Chord>,
    pub result: Row,
    /// Encloses all values of the operation where it is defined. Networks leave it unbounded.
    pub values: Interval,
    /// The error bound of `result` as an affine form.
    pub radius: f64,
    /// The largest `size` of a unit of a network.
    pub largest: f64,
    /// The part of the error that each input causes.
    pub error_share: Vec<f64>,
}

impl Default for State {
    fn default() -> Self {
        Self {
            arguments: Vec::new(),
            layers: Vec::new(),
            forms: Vec::new(),
            line: LineBound::default(),
            chords: Vec::new(),
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

    /// The number of inputs plus the number of error symbols of earlier operations.
    pub fn columns(&self) -> usize {
        self.region.inputs() + self.number
    }
}

/// Computes affine bounds of graphs, and reuses its memory from one graph to the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct Affine {
    pub(crate) states: Vec<State>,
    pub(crate) input: Vec<Lanes>,
    pub(crate) row: Row,
    pub(crate) rows: Vec<Row>,
    /// Whether the last bound proves nothing: because the result of the action may be undefined, or
    /// because the fixed perturbation applies to nobody.
    states_nothing: bool,
    /// The number of bounds computed so far.
    pub count: usize,
    /// The number of bounds refined so far.
    pub refined: usize,
}

impl Affine {
    /// Bounds a graph over a region.
    pub fn bound<'a, 'p>(&'a mut self, graph: &'a Graph<'p>, region: &'a Region) -> Bounded<'a, 'p> {
        self.count += 1;
        let inputs = graph.inputs;
        self.states.resize_with(graph.operations.len(), State::default);
        self.states_nothing = graph.is_vacuous;
        let mut concerns_nobody = false;
        for (k, operation) in graph.operations.iter().enumerate() {
            let mut state = std::mem::take(&mut self.states[k]);
            state.arguments.clear();
            state.chords.clear();
            state.layers.truncate(operation.operator.hidden_layers());
            state.values = Interval::EVERYTHING;
            let must_be_defined = graph.requires_defined(k);
            let place = Place { number: k, arguments: &operation.arguments, region, must_be_defined };
            concerns_nobody |= operation.operator.enclose(self, &place, &mut state);
            if must_be_defined && !operation.operator.is_total() {
                // A value that is not proven finite may be undefined.
                self.states_nothing |= !state.values.is_finite();
            }
            // From now on, the error of this operation is an error symbol.
            state.result.terms.resize(inputs + k, 0.0);
            state.result.terms.push(1.0);
            self.states[k] = state;
        }
        let plane = self.output(graph, region, concerns_nobody);
        Bounded::new(plane, self, graph, region)
    }

    /// The plane of a graph without operations; `None` for other graphs. It does not count as a bound,
    /// since it takes almost no time.
    pub fn plane(&mut self, graph: &Graph<'_>, region: &Region) -> Option<Plane> {
        self.states_nothing = graph.is_vacuous;
        graph.operations.is_empty().then(|| self.output(graph, region, false))
    }

    /// The plane of the output, after all operations have been bounded. `concerns_nobody`: an operation
    /// of the perturbed individual is undefined on the whole region.
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
        if concerns_nobody && !graph.is_vacuous {
            plane.range = Interval::NOTHING;
        } else if self.states_nothing {
            plane.error = f64::INFINITY;
        } else if !error.is_finite() {
            plane.range = self.interval(&graph.output, region);
        }
        plane
    }

    /// Encloses an operation by a constant with an error: the middle and half width of its range over the
    /// ranges of its arguments. Returns true if the operation is defined nowhere.
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

    /// Rewrites a form in inputs and results as a row in inputs and error symbols.
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

    /// The largest absolute value of the error symbols' part of a row.
    fn error(&self, row: &Row, inputs: usize) -> f64 {
        let symbols = row.terms[inputs..].iter().zip(&self.states);
        symbols.filter(|(t, _)| **t != 0.0).map(|(t, state)| t.abs() * state.radius).sum()
    }

    /// The range of a form, which is passed both as a row and as a form.
    pub(crate) fn range(&self, row: &Row, form: &AffineForm, region: &Region) -> Interval {
        let range = self.range_of_row(row, region);
        if range.is_finite() {
            return range;
        }
        let interval = self.interval(form, region);
        let both = range.within(interval.lower, interval.upper);
        // Where the perturbed individual is undefined, the two enclosures may be disjoint.
        if both.lower <= both.upper { both } else { range }
    }

    /// The range of a row.
    pub(crate) fn range_of_row(&self, row: &Row, region: &Region) -> Interval {
        let inputs = region.inputs();
        let range = region.range(&row.terms[..inputs]);
        let error = self.error(row, inputs) + rounding(row.terms.len()) * row.size;
        Interval { lower: row.constant + range.lower - error, upper: row.constant + range.upper + error }
            .or_everything()
    }

    /// The range of a form by interval arithmetic. It is wider than [`Affine::range`], but finite on
    /// every side on which the ranges of its operations are finite.
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

/// An upper bound of the relative rounding error of a sum of `terms` products.
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
    /// Stores the form of an argument.
    pub fn keep(&mut self, number: usize, row: &Row) {
        self.forms.resize_with(self.forms.len().max(number + 1), Row::default);
        self.forms[number].clone_from(row);
    }

    /// Sets the result to `slope row + offset`, with a radius that covers the rounding of both.
    pub fn become_line(&mut self, row: &Row, line: LineBound) {
        let LineBound { slope, offset, radius } = line;
        self.result.terms.clear();
        self.result.terms.extend(row.terms.iter().map(|t| slope * t));
        self.result.constant = slope * row.constant + offset;
        let error = slope.abs() * rounding(row.terms.len()) * row.size;
        self.radius = radius + error;
        self.result.size = slope.abs() * row.size + offset.abs();
    }

    /// Sets the result to a constant with an error that no input causes.
    pub fn become_constant(&mut self, place: &Place<'_>, middle: f64, radius: f64) {
        let row = Row { terms: vec![0.0; place.columns()], constant: 0.0, size: 0.0 };
        self.become_line(&row, LineBound { slope: 0.0, offset: middle, radius });
        self.error_share.clear();
        self.error_share.resize(place.inputs(), 0.0);
    }
}
