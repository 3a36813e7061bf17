//! The margin as a list of scalar operations.
//!
//! The composed [`Graph`] of an individual's margin is expanded: every unit of every network is a node of
//! its own. So a reader who knows the few kinds of nodes can follow a verification.

use super::unit::value;
use crate::graph::{AffineForm, Elements, Graph, Operator, Unit};
use crate::network::Network;

/// One number, computed from earlier ones.
#[derive(Clone, Debug)]
pub(super) enum Node<'p> {
    /// An input; these come first.
    Input,
    /// `constant + sum of factors times nodes`.
    Sum(f64, Vec<(usize, f64)>),
    /// A function of one node.
    Apply(Unit, usize),
    /// The product of two nodes.
    Product(usize, usize),
    /// The Euclidean norm of some nodes.
    Norm(Vec<usize>),
    /// An unknown number of absolute value at most `share * max(|node|, 1)`.
    Slack(f64, usize),
    /// An operator with known values and ranges only.
    Opaque(&'p dyn Operator, Vec<usize>),
}

/// Nodes in topological order; the last one is the result.
#[derive(Clone, Debug)]
pub(super) struct Tape<'p> {
    pub inputs: usize,
    pub nodes: Vec<Node<'p>>,
    /// Whether a node is the argument of a node other than a sum, or the result.
    pub bounded: Vec<bool>,
    /// Whether a bound of the result must prove that a node has a finite value. The argument of other
    /// nodes may be intersected with the domain of their function, see [`Graph`].
    pub must_be_defined: Vec<bool>,
    /// The nodes by level: no path from an input to a node of a level passes through more functions and
    /// products than the number of the level.
    pub levels: Vec<Vec<usize>>,
    /// An upper bound of the rounding error of a coefficient computed by substitution, as a share of the
    /// sum of magnitudes of its terms; see [`Tape::share`].
    pub rounding: f64,
}

impl<'p> Tape<'p> {
    pub fn new(graph: &Graph<'p>) -> Self {
        let mut tape = Self {
            inputs: graph.inputs,
            nodes: Vec::new(),
            bounded: Vec::new(),
            must_be_defined: Vec::new(),
            levels: Vec::new(),
            rounding: 0.0,
        };
        tape.nodes.resize(graph.inputs, Node::Input);
        // The positions of the inputs and of the operations' results on the tape.
        let mut places: Vec<usize> = (0..graph.inputs).collect();
        for (k, operation) in graph.operations.iter().enumerate() {
            let elements = operation.operator.elements();
            let place = if let (Elements::Slack, [form, relative]) = (&elements, &operation.arguments[..]) {
                let to = tape.form(&places, form);
                tape.push(Node::Slack(relative.constant, to))
            } else {
                let forms = operation.arguments.iter();
                let arguments: Vec<usize> = forms.map(|form| tape.form(&places, form)).collect();
                match (elements, &arguments[..]) {
                    (Elements::Unit(unit), &[argument]) => tape.push(Node::Apply(unit, argument)),
                    (Elements::Product, &[left, right]) => tape.push(Node::Product(left, right)),
                    (Elements::Network(network), _) => tape.network(network, arguments),
                    (Elements::Sizes(weights), _) => tape.sizes(weights, &arguments),
                    (Elements::Norm, _) => tape.push(Node::Norm(arguments)),
                    _ => tape.push(Node::Opaque(operation.operator, arguments)),
                }
            };
            places.push(place);
            tape.must_be_defined.resize(tape.nodes.len(), false);
            let may_be_undefined = !operation.operator.is_total();
            tape.must_be_defined[place] = graph.requires_defined(k) && may_be_undefined;
        }
        let output = &graph.output;
        tape.sum(&places, output);
        tape.must_be_defined.resize(tape.nodes.len(), false);
        tape.bounded = tape.arguments();
        tape.levels = tape.by_level();
        tape.rounding = tape.share();
        tape
    }

    fn push(&mut self, node: Node<'p>) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    fn sum(&mut self, places: &[usize], form: &AffineForm) -> usize {
        let terms = form.terms.iter().enumerate().filter(|(_, factor)| **factor != 0.0);
        let terms = terms.map(|(k, &factor)| (places[k], factor)).collect();
        self.push(Node::Sum(form.constant, terms))
    }

    /// The node of a form, which may exist already.
    fn form(&mut self, places: &[usize], form: &AffineForm) -> usize {
        let mut terms = form.terms.iter().enumerate().filter(|(_, factor)| **factor != 0.0);
        match (terms.next(), terms.next()) {
            (Some((k, &1.0)), None) if form.constant == 0.0 => places[k],
            _ => self.sum(places, form),
        }
    }

    fn network(&mut self, network: &Network, mut values: Vec<usize>) -> usize {
        let unit = Unit::from(network.activation());
        let last = network.layers().len() - 1;
        for (number, layer) in network.layers().iter().enumerate() {
            let mut next = Vec::with_capacity(layer.bias.len());
            for (row, &bias) in layer.weight.rows().into_iter().zip(&layer.bias) {
                let terms = values.iter().zip(row).map(|(&place, &weight)| (place, weight)).collect();
                let sum = self.push(Node::Sum(bias, terms));
                next.push(if number < last { self.push(Node::Apply(unit, sum)) } else { sum });
            }
            values = next;
        }
        values[0]
    }

    /// A weighted sum of absolute values: `|y| = 2 max(y, 0) - y`.
    fn sizes(&mut self, weights: &[f64], arguments: &[usize]) -> usize {
        let mut terms = Vec::with_capacity(2 * arguments.len());
        for (&weight, &argument) in weights.iter().zip(arguments) {
            terms.push((self.push(Node::Apply(Unit::Relu, argument)), 2.0 * weight));
            terms.push((argument, -weight));
        }
        self.push(Node::Sum(0.0, terms))
    }

    fn arguments(&self) -> Vec<bool> {
        let mut bounded = vec![false; self.nodes.len()];
        for node in &self.nodes {
            match node {
                Node::Input | Node::Sum(..) => {}
                Node::Apply(_, k) | Node::Slack(_, k) => bounded[*k] = true,
                Node::Product(j, k) => (bounded[*j], bounded[*k]) = (true, true),
                Node::Norm(arguments) | Node::Opaque(_, arguments) => {
                    arguments.iter().for_each(|&k| bounded[k] = true);
                }
            }
        }
        if let Some(last) = bounded.last_mut() {
            *last = true;
        }
        bounded
    }

    fn by_level(&self) -> Vec<Vec<usize>> {
        let mut level = vec![0; self.nodes.len()];
        let mut levels: Vec<Vec<usize>> = Vec::new();
        for (k, node) in self.nodes.iter().enumerate() {
            let mut own = 0;
            node.each_term(|j| own = own.max(level[j]));
            own += usize::from(!matches!(node, Node::Input | Node::Sum(..)));
            level[k] = own;
            levels.resize(levels.len().max(own + 1), Vec::new());
            levels[own].push(k);
        }
        levels
    }

    /// An upper bound of the relative rounding error of substitution.
    ///
    /// Nodes are substituted one after the other, from the result back to the inputs, and the coefficient
    /// of a node is a sum of as many products as the node has uses. A sum of n products has an error of
    /// at most `(n + 1) u` times the sum of their magnitudes, with u half the machine epsilon, and each
    /// factor has an error of its own. So along any path from the result to an input, the relative error
    /// is at most u times the sum, over the nodes of the path, of the number of uses plus a small
    /// constant. The constant covers the products with a slope and with an end of a range. The result is
    /// doubled for safety.
    fn share(&self) -> f64 {
        let mut uses = vec![0.0; self.nodes.len()];
        for node in &self.nodes {
            node.each_term(|k| uses[k] += 1.0);
        }
        let mut along = vec![0.0f64; self.nodes.len()];
        let mut most = 0.0f64;
        for k in (0..self.nodes.len()).rev() {
            along[k] += uses[k] + 4.0;
            most = most.max(along[k]);
            let own = along[k];
            self.nodes[k].each_term(|j| along[j] = along[j].max(own));
        }
        most * f64::EPSILON
    }

    /// The value at a point, with zero for unknown numbers.
    pub fn value(&self, at: &[f64]) -> f64 {
        self.values(at).last().copied().unwrap_or(f64::NAN)
    }

    /// The value of every node at a point, with zero for unknown numbers.
    pub fn values(&self, at: &[f64]) -> Vec<f64> {
        let mut values: Vec<f64> = Vec::with_capacity(self.nodes.len());
        for (k, node) in self.nodes.iter().enumerate() {
            let value = match node {
                Node::Input => at[k],
                Node::Sum(constant, terms) => {
                    constant + terms.iter().map(|&(j, factor)| factor * values[j]).sum::<f64>()
                }
                Node::Apply(unit, j) => value(*unit, values[*j]),
                Node::Product(i, j) => values[*i] * values[*j],
                Node::Norm(arguments) => arguments.iter().map(|&j| values[j] * values[j]).sum::<f64>().sqrt(),
                Node::Slack(..) => 0.0,
                Node::Opaque(function, arguments) => {
                    let arguments: Vec<f64> = arguments.iter().map(|&j| values[j]).collect();
                    function.value(&arguments)
                }
            };
            values.push(value);
        }
        values
    }
}

impl Node<'_> {
    /// Calls a function for every node that it uses.
    fn each_term(&self, mut use_of: impl FnMut(usize)) {
        match self {
            Node::Input => {}
            Node::Sum(_, terms) => terms.iter().for_each(|&(k, _)| use_of(k)),
            Node::Apply(_, k) | Node::Slack(_, k) => use_of(*k),
            Node::Product(j, k) => [*j, *k].into_iter().for_each(use_of),
            Node::Norm(arguments) | Node::Opaque(_, arguments) => arguments.iter().for_each(|&k| use_of(k)),
        }
    }
}
