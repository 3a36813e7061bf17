//! Starts of the local search for networks with one hidden layer of relu whose weights are uncertain.
//!
//! A relu with a positive weight is the larger of zero and its argument, so that the margin is the greatest of
//!
//! ```text
//! g_A(t) = rest(t) + sum over k in A of weight_k z_k(t)       for subsets A of the units with a positive weight
//! ```
//!
//! and each `g_A` is concave where the arguments are affine in the action, or concave for units with a positive weight
//! and convex for the others, as those of the worst case over a box of weights are. The cheapest action with a margin of
//! at least zero is then the cheapest one over all A, and that of one A is found by cutting planes. This is for the
//! margin without a perturbation; the local search goes on from there.

use super::boxes::cost_of;
use super::solve::Solver;
use crate::graph::{Graph, Jets, Order};
use crate::network::{LANES, Network};
use crate::program::{Program, Row, Solution};
use crate::{Activation, Cost};

/// Networks with more units of a positive weight have too many subsets.
const MOST_UNITS: usize = 10;
/// Cutting planes for each subset.
const CUTS: usize = 40;
/// Actions are this close to the least cost of a subset.
const TOLERANCE: f64 = 1e-6;
/// No change is larger than this, in standard deviations.
const REACH: f64 = 32.0;

/// The margin as a sum over units.
struct Pieces<'g, 'p> {
    graph: &'g Graph<'p>,
    network: &'p Network,
    /// The coefficient of the network in the margin.
    share: f64,
    /// The units with a positive weight.
    positive: Vec<usize>,
}

/// A subset with a lower bound of the cost of its actions.
struct Subset {
    number: usize,
    bound: f64,
    rows: Vec<Row>,
    point: Vec<f64>,
}

impl Solver<'_, '_> {
    /// The cheapest action whose margin without a perturbation is not negative, as far as cutting planes find it.
    /// `None` for other classifiers, and if no action has such a margin.
    pub(super) fn by_patterns(&mut self, set: usize, sides: &[(f64, f64)]) -> Option<Vec<f64>> {
        // Other classifiers have a search of their own.
        self.settings.problem.classifier().weight_uncertainty()?;
        // With several variants, the margin of one alone says little.
        let [composer] = &self.sets[set].composers[..] else { return None };
        let graph = composer.in_change(&composer.no_perturbation());
        let pieces = Pieces::of(&graph)?;
        let (lower, upper): (Vec<f64>, Vec<f64>) =
            sides.iter().map(|&(l, u)| (l.max(-REACH), u.min(REACH))).unzip();
        let changes = Changes { lower, upper, weights: &self.sets[set].weights, cost: self.cost() };
        let jets = &mut self.prover.jets;
        let start: Vec<f64> = sides.iter().map(|&(l, u)| 0.0f64.clamp(l, u)).collect();
        let mut subsets = Vec::new();
        for (number, row) in pieces.rows(jets, &start)?.into_iter().enumerate() {
            let rows = vec![row];
            if let Some((bound, point)) = changes.cheapest(&rows) {
                subsets.push(Subset { number, bound, rows, point });
            }
        }
        subsets.sort_by(|a, b| a.bound.total_cmp(&b.bound));
        let mut best: Option<(f64, Vec<f64>)> = None;
        for Subset { number, mut bound, mut rows, mut point } in subsets {
            let limit = best.as_ref().map_or(f64::INFINITY, |(cost, _)| cost * (1.0 - TOLERANCE));
            for _ in 0..CUTS {
                if bound >= limit || self.prover.is_spent() {
                    break;
                }
                let (value, row) = pieces.row(&mut self.prover.jets, &point, number)?;
                if value >= 0.0 {
                    best = Some((bound, point));
                    break;
                }
                rows.push(row);
                let Some(next) = changes.cheapest(&rows) else { break };
                (bound, point) = next;
            }
        }
        best.map(|(_, point)| point)
    }
}

/// The changes that a subset's program chooses from.
struct Changes<'a> {
    lower: Vec<f64>,
    upper: Vec<f64>,
    weights: &'a [f64],
    cost: Cost,
}

impl Changes<'_> {
    /// The cheapest point of the box that meets all rows, and its cost.
    fn cheapest(&self, rows: &[Row]) -> Option<(f64, Vec<f64>)> {
        let Self { lower, upper, weights, cost } = self;
        let program = Program { rows, weights, cost: *cost, lower, upper };
        match program.solve() {
            Solution::Optimal { point, .. } => Some((cost_of(*cost, weights, &point), point)),
            Solution::Infeasible { .. } | Solution::Unknown => None,
        }
    }
}

impl<'g, 'p> Pieces<'g, 'p> {
    /// `None` unless the graph ends in a relu network with one hidden layer, few of whose units have a positive weight.
    fn of(graph: &'g Graph<'p>) -> Option<Self> {
        let network = graph.operations.last()?.operator.elements().network()?;
        let [_, last] = network.layers() else { return None };
        let share = *graph.output.terms.get(graph.inputs + graph.operations.len() - 1)?;
        let is_positive = |&k: &usize| share * last.weight[[0, k]] > 0.0;
        let positive: Vec<usize> = (0..last.weight.ncols()).filter(is_positive).collect();
        let is_suitable = network.activation() == Activation::Relu && positive.len() <= MOST_UNITS;
        is_suitable.then_some(Self { graph, network, share, positive })
    }

    /// The value and the slope of the margin, and for each unit with a positive weight what it contributes to both, and
    /// what its argument would.
    fn evaluate(&self, jets: &mut Jets, at: &[f64]) -> Option<(Part, Vec<[Part; 2]>)> {
        let jet = jets.evaluate(self.graph, at, Order::Gradient);
        let whole = Part { value: jet.value, slope: jet.gradient };
        let point = jets.points.last()?;
        let [first, last] = self.network.layers() else { return None };
        let units = self.positive.iter().map(|&k| {
            let weight = self.share * last.weight[[0, k]];
            let z = point.layers[0].z[k / LANES].0[k % LANES];
            let mut slope = vec![0.0; at.len()];
            for (w, argument) in first.weight.row(k).iter().zip(&point.arguments) {
                slope.iter_mut().zip(&argument.gradient).for_each(|(s, g)| *s += weight * w * g);
            }
            let argument = Part { value: weight * z, slope };
            let output =
                if z > 0.0 { argument.clone() } else { Part { value: 0.0, slope: vec![0.0; at.len()] } };
            [output, argument]
        });
        whole.value.is_finite().then(|| (whole, units.collect()))
    }

    /// The cut of `g_A` at a point, and its value there; A by its number.
    fn row(&self, jets: &mut Jets, at: &[f64], subset: usize) -> Option<(f64, Row)> {
        let (whole, units) = self.evaluate(jets, at)?;
        Some(Self::cut(&whole, &units, at, subset))
    }

    /// The cuts of all subsets at a point.
    fn rows(&self, jets: &mut Jets, at: &[f64]) -> Option<Vec<Row>> {
        let (whole, units) = self.evaluate(jets, at)?;
        Some((0..1usize << units.len()).map(|subset| Self::cut(&whole, &units, at, subset).1).collect())
    }

    fn cut(whole: &Part, units: &[[Part; 2]], at: &[f64], subset: usize) -> (f64, Row) {
        let Part { mut value, mut slope } = whole.clone();
        for (place, [output, argument]) in units.iter().enumerate() {
            value -= output.value;
            slope.iter_mut().zip(&output.slope).for_each(|(s, o)| *s -= o);
            if subset >> place & 1 == 1 {
                value += argument.value;
                slope.iter_mut().zip(&argument.slope).for_each(|(s, a)| *s += a);
            }
        }
        let along: f64 = slope.iter().zip(at).map(|(s, t)| s * t).sum();
        let doubt = vec![0.0; slope.len()];
        // A little inside, so that cutting planes end.
        (value, Row { coefficients: slope, need: along - value + TOLERANCE, doubt })
    }
}

/// A value with its slope.
#[derive(Clone)]
struct Part {
    value: f64,
    slope: Vec<f64>,
}
