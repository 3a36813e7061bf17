//! The computation graph of a margin: causal model, action and classifier as one function.
//!
//! A graph computes a number from its inputs `y` by a list of operations. Each operation is a function of
//! affine forms in the inputs and in the results of earlier operations:
//!
//! ```text
//! h_k = f_k(forms),    form = constant + sum_i a_i y_i + sum_{j < k} b_j h_j
//! ```
//!
//! A dense network is one operation. Sums, differences and products with constants are folded into the
//! affine forms, and operations on constants are evaluated when the graph is built. So the operations are
//! exactly the nonlinear parts of the function. Values, derivatives and bounds are computed from the same
//! graph, so search and proof work on the same function.

mod affine;
mod curvature;
mod interval;
mod jet;
mod operator;
mod quadratic;
mod region;
mod unit;

pub(crate) use affine::{Affine, Bounded, Interpolated, Plane};
pub(crate) use curvature::Curvature;
pub use interval::Interval;
pub(crate) use interval::Intervals;
pub(crate) use jet::{Gram, Jet, Jets, Order, dot};
pub(crate) use operator::{Elements, EuclideanNorm, Operator, Sizes};
pub(crate) use quadratic::Quadratic;
pub(crate) use region::{Follower, Followers, Rays, Region};
pub(crate) use unit::{Unit, tanh_line_bound};

use crate::Network;
use crate::expression::{self, Arithmetic, Function};
use operator::{Product, Slack};

/// `constant + terms . (inputs, results of operations)`. Missing trailing terms are zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AffineForm {
    pub constant: f64,
    pub terms: Vec<f64>,
}

impl AffineForm {
    pub fn constant(constant: f64) -> Self {
        Self { constant, terms: Vec::new() }
    }

    /// The value of a form that depends on nothing; `None` for others.
    pub fn as_constant(&self) -> Option<f64> {
        self.terms.iter().all(|&t| t == 0.0).then_some(self.constant)
    }

    pub fn plus(mut self, share: f64, other: &AffineForm) -> Self {
        self.constant += share * other.constant;
        if self.terms.len() < other.terms.len() {
            self.terms.resize(other.terms.len(), 0.0);
        }
        self.terms.iter_mut().zip(&other.terms).for_each(|(t, o)| *t += share * o);
        self
    }

    pub fn scaled(mut self, factor: f64) -> Self {
        self.constant *= factor;
        self.terms.iter_mut().for_each(|t| *t *= factor);
        self
    }

    pub fn shifted(mut self, by: f64) -> Self {
        self.constant += by;
        self
    }
}

/// One operation: an operator with its arguments.
#[derive(Clone, Debug)]
pub(crate) struct Operation<'p> {
    pub operator: &'p dyn Operator,
    pub arguments: Vec<AffineForm>,
}

/// A real function of some inputs, as a list of operations and an affine output.
///
/// A margin is defined in two steps: first the perturbed individual, then the result of the action. Where
/// the first step has no finite value, the perturbation applies to nobody and is ignored ("concerns
/// nobody"). Where only the second step has none, the action fails. Bounds need to hold only for inputs
/// that apply to somebody. Therefore, in the first step, the range of an argument is intersected with the
/// domain of its function.
#[derive(Clone, Debug)]
pub(crate) struct Graph<'p> {
    pub inputs: usize,
    pub operations: Vec<Operation<'p>>,
    pub output: AffineForm,
    /// The number of operations that compute the perturbed individual. They come first.
    pub perturbed: usize,
    /// Whether a bound must show that the result of the action is defined. Bounds that prove that an
    /// action holds must show it. Bounds that rule actions out need not, since an undefined result rules
    /// an action out as well.
    pub must_be_defined: bool,
    /// Whether this is the margin under a fixed perturbation for which the perturbed individual is
    /// undefined. Such a margin proves nothing about any action.
    pub is_vacuous: bool,
}

impl Graph<'_> {
    /// Whether a bound must show that an operation is defined on the whole region.
    pub fn requires_defined(&self, operation: usize) -> bool {
        self.must_be_defined && operation >= self.perturbed
    }
}

/// Builds a graph operation by operation.
#[derive(Clone, Debug)]
pub struct Builder<'p> {
    inputs: usize,
    operations: Vec<Operation<'p>>,
    perturbed: usize,
}

impl<'p> Builder<'p> {
    pub fn new(inputs: usize) -> Self {
        Self { inputs, operations: Vec::new(), perturbed: 0 }
    }

    /// The number of operations so far.
    pub fn len(&self) -> usize {
        self.operations.len()
    }

    /// Declares that all operations so far compute the perturbed individual.
    pub fn end_perturbed(&mut self) {
        self.perturbed = self.operations.len();
    }

    /// The graph of a form. Drops the operations that affect neither the form nor the existence of the
    /// perturbed individual.
    pub(crate) fn finish(self, output: AffineForm) -> Graph<'p> {
        let (inputs, mut operations) = (self.inputs, self.operations);
        let mut needed = vec![false; operations.len()];
        let mark = |form: &AffineForm, needed: &mut Vec<bool>| {
            let terms = form.terms.iter().skip(inputs).enumerate();
            terms.filter(|(_, t)| **t != 0.0).for_each(|(k, _)| needed[k] = true);
        };
        mark(&output, &mut needed);
        // The existence of the perturbed individual may depend on operations that the output does not
        // use.
        let is_partial = |k: &usize| operations[*k].operator.has_limited_domain();
        (0..self.perturbed).filter(is_partial).for_each(|k| needed[k] = true);
        for k in (0..operations.len()).rev() {
            if needed[k] {
                operations[k].arguments.iter().for_each(|form| mark(form, &mut needed));
            }
        }
        let keep = |form: &mut AffineForm| {
            let mut place = inputs;
            for k in 0..form.terms.len().saturating_sub(inputs) {
                if needed[k] {
                    form.terms[place] = form.terms[inputs + k];
                    place += 1;
                }
            }
            form.terms.truncate(place.max(inputs));
        };
        let mut output = output;
        keep(&mut output);
        operations.iter_mut().flat_map(|operation| &mut operation.arguments).for_each(keep);
        let mut number = 0;
        operations.retain(|_| {
            number += 1;
            needed[number - 1]
        });
        let perturbed = needed[..self.perturbed].iter().filter(|needed| **needed).count();
        Graph { inputs, operations, output, perturbed, must_be_defined: false, is_vacuous: false }
    }

    /// An input.
    pub fn input(&self, i: usize) -> AffineForm {
        let mut terms = vec![0.0; i + 1];
        terms[i] = 1.0;
        AffineForm { constant: 0.0, terms }
    }

    /// The result of an operator. An operation on constants is evaluated at once.
    pub(crate) fn operate(&mut self, operator: &'p dyn Operator, arguments: Vec<AffineForm>) -> AffineForm {
        let constants: Option<Vec<f64>> = arguments.iter().map(AffineForm::as_constant).collect();
        match constants {
            Some(x) => AffineForm::constant(operator.value(&x)),
            None => self.push(operator, arguments),
        }
    }

    fn push(&mut self, operator: &'p dyn Operator, arguments: Vec<AffineForm>) -> AffineForm {
        self.operations.push(Operation { operator, arguments });
        self.input(self.inputs + self.operations.len() - 1)
    }

    pub(crate) fn unit(&mut self, unit: Unit, argument: AffineForm) -> AffineForm {
        match argument.as_constant() {
            Some(z) => AffineForm::constant(unit.value(z)),
            None => self.push(unit.operator(), vec![argument]),
        }
    }

    pub fn product(&mut self, a: AffineForm, b: AffineForm) -> AffineForm {
        match (a.as_constant(), b.as_constant()) {
            (Some(k), _) => b.scaled(k),
            (_, Some(k)) => a.scaled(k),
            _ if a == b => self.unit(Unit::Square, a),
            _ => self.push(&Product, vec![a, b]),
        }
    }

    pub fn network(&mut self, network: &'p Network, arguments: &[AffineForm]) -> AffineForm {
        if let [only] = network.layers() {
            let terms = only.weight.row(0).into_iter().zip(arguments);
            return terms.fold(AffineForm::constant(only.bias[0]), |sum, (&w, x)| sum.plus(w, x));
        }
        self.operate(network, arguments.to_vec())
    }

    /// An unknown number `s` with `|s| <= relative * max(|to|, 1)`.
    pub fn slack(&mut self, relative: f64, to: &AffineForm) -> AffineForm {
        self.push(&Slack, vec![to.clone(), AffineForm::constant(relative)])
    }

    /// A number without any bound.
    fn unknown(&mut self) -> AffineForm {
        self.slack(f64::INFINITY, &AffineForm::constant(0.0))
    }

    fn power(&mut self, base: AffineForm, exponent: AffineForm) -> AffineForm {
        let Some(p) = exponent.as_constant() else {
            // A negative base allows only integer exponents. The enclosure by logarithms does not cover
            // them.
            return match base.as_constant() {
                Some(b) if b > 0.0 => self.unit(Unit::Exp, exponent.scaled(b.ln())),
                _ => self.unknown(),
            };
        };
        if let Some(b) = base.as_constant() {
            return AffineForm::constant(b.powf(p));
        }
        if p == 0.5 {
            return self.unit(Unit::Sqrt, base);
        }
        if p.fract() != 0.0 || p.abs() > 64.0 {
            if p.fract() == 0.0 {
                return self.unknown();
            }
            let log = self.unit(Unit::Log, base);
            return self.unit(Unit::Exp, log.scaled(p));
        }
        // Exponentiation by squaring.
        let (mut result, mut square, mut left) = (AffineForm::constant(1.0), base, p.abs() as u32);
        while left > 0 {
            if left % 2 == 1 {
                result = self.product(result, square.clone());
            }
            left /= 2;
            if left > 0 {
                square = self.unit(Unit::Square, square);
            }
        }
        if p < 0.0 { self.unit(Unit::Reciprocal, result) } else { result }
    }
}

impl Arithmetic for Builder<'_> {
    type Number = AffineForm;

    fn number(&mut self, value: f64) -> AffineForm {
        AffineForm::constant(value)
    }

    fn negate(&mut self, x: AffineForm) -> AffineForm {
        x.scaled(-1.0)
    }

    fn apply(&mut self, function: Function, x: AffineForm) -> AffineForm {
        match function {
            Function::Exp => self.unit(Unit::Exp, x),
            Function::Log => self.unit(Unit::Log, x),
            Function::Sqrt => self.unit(Unit::Sqrt, x),
            Function::Tanh => self.unit(Unit::Tanh, x),
            Function::Sigmoid => self.unit(Unit::Sigmoid, x),
            // |x| = 2 max(x, 0) - x
            Function::Abs => self.unit(Unit::Relu, x.clone()).scaled(2.0).plus(-1.0, &x),
        }
    }

    fn combine(&mut self, operator: expression::Operator, a: AffineForm, b: AffineForm) -> AffineForm {
        use expression::Operator;
        match operator {
            Operator::Add => a.plus(1.0, &b),
            Operator::Subtract => a.plus(-1.0, &b),
            Operator::Multiply => self.product(a, b),
            Operator::Divide => {
                let inverse = self.unit(Unit::Reciprocal, b);
                self.product(a, inverse)
            }
            Operator::Power => self.power(a, b),
            // max(a, b) = b + max(a - b, 0)
            Operator::Max => self.unit(Unit::Relu, a.plus(-1.0, &b)).plus(1.0, &b),
            Operator::Min => self.unit(Unit::Relu, a.clone().plus(-1.0, &b)).scaled(-1.0).plus(1.0, &a),
        }
    }
}
