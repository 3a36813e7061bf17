//! Forests of classifiers, and scenes of problems.

use super::flat::{Forest, Node};
use super::scene::{Ball, Scene};
use crate::trees::{Ensemble, Node as Test};
use crate::{ActionKind, Classifier, Problem};

impl Forest {
    /// The forest of a classifier; `None` if it is not a tree ensemble.
    pub fn of(classifier: &Classifier) -> Option<Self> {
        let ensemble = classifier.ensemble()?;
        let arithmetic = ensemble.arithmetic();
        let factor = arithmetic.factor / arithmetic.divisor;
        let leaf = |leaf: u32| Node::leaf(ensemble.leaf_value(leaf) * factor);
        let mut nodes = Vec::with_capacity(ensemble.nodes().len());
        // The first nodes keep their numbers; tests of several members continue behind them.
        let mut more = Vec::new();
        let count = ensemble.nodes().len() as u32;
        for node in ensemble.nodes() {
            nodes.push(match *node {
                Test::Leaf(number) => leaf(number),
                Test::AtMost { feature, threshold, left, right, .. } => {
                    Node::test(feature, threshold, left, right)
                }
                Test::AnyOf { first, count: members, left, right, .. } => {
                    any_of(ensemble, (first, members), [left, right], count, &mut more)
                }
            });
        }
        nodes.extend(more);
        let start = match ensemble.is_compared() {
            false => arithmetic.start * factor + arithmetic.shift,
            true => 0.0,
        };
        let roots = ensemble.roots().to_vec();
        let mut forest =
            Self::new(ensemble.inputs(), roots, nodes, start - classifier.offset(), ensemble.rounding());
        // Sums of leaves that were multiplied and shifted once more.
        forest.rounding *= 2.0;
        forest.classifier = Some(classifier.clone());
        forest.is_monotone = !ensemble.is_compared() && factor > 0.0;
        Some(forest)
    }
}

/// A chain of tests: `lower < x <= upper` for one member after the other. Returns its first test.
fn any_of(
    ensemble: &Ensemble,
    (first, members): (u32, u32),
    [left, right]: [u32; 2],
    count: u32,
    more: &mut Vec<Node>,
) -> Node {
    let mut next = right;
    for member in ensemble.members(first, members).iter().rev() {
        let above = count + more.len() as u32;
        more.push(Node::test(member.feature, member.upper, left, next));
        more.push(Node::test(member.feature, member.lower, next, above));
        next = above + 1;
    }
    match members {
        0 => Node::test(0, f64::INFINITY, right, right),
        _ => more[(next - count) as usize],
    }
}

impl<'f> Scene<'f> {
    /// An individual who acts on a set of features. `None` where the causal model is not linear, where the set
    /// of perturbations is not the ball of a p-norm, or where more than a shift within the ball is uncertain.
    pub fn new(problem: &Problem, forest: &'f Forest, individual: &[f64], set: &[usize]) -> Option<Self> {
        let n = individual.len();
        let uncertainty = problem.uncertainty();
        if problem.joint().is_some() {
            return None;
        }
        let power = uncertainty.set().power()?;
        let coefficients = problem.scm().map(|scm| scm.coefficients()).transpose().ok()?;
        // A level that the action sets is not perturbed, nor is a special value.
        let is_set = |i: &usize| problem.action_kind() == ActionKind::Absolute && set.contains(i);
        let live: Vec<bool> = (0..n).map(|i| !is_set(&i) && !problem.is_exact(i)).collect();
        let order: Vec<usize> =
            problem.scm().map_or_else(|| (0..n).collect(), |scm| scm.causal_order().to_vec());
        let parents = |i: usize| -> Vec<(usize, f64)> {
            let row = coefficients.iter().flat_map(|matrix| matrix.row(i).to_vec()).enumerate();
            row.filter(|(_, coefficient)| *coefficient != 0.0).collect()
        };
        let causes = |i: usize| match live[i] {
            true => parents(i).into_iter().filter(|(j, _)| live[*j]).collect(),
            false => Vec::new(),
        };
        let mut effects: Vec<Vec<(usize, f64)>> = vec![Vec::new(); n];
        for &i in &order {
            if let Some(k) = set.iter().position(|&member| member == i) {
                effects[i] = vec![(k, 1.0)];
                continue;
            }
            let mut total = vec![0.0; set.len()];
            for (j, coefficient) in parents(i) {
                effects[j].iter().for_each(|&(k, effect)| total[k] += coefficient * effect);
            }
            effects[i] = total.into_iter().enumerate().filter(|(_, effect)| *effect != 0.0).collect();
        }
        let scene = Self {
            forest,
            x: individual.to_vec(),
            set: set.to_vec(),
            effects,
            causes: (0..n).map(causes).collect(),
            live,
            order,
            weights: uncertainty.weights(n),
            ball: Ball { power, radius: uncertainty.radius() },
            prices: set.iter().map(|&i| problem.features().feature(i).weight).collect(),
            is_squared: problem.cost() == crate::Cost::L2,
            linked: Vec::new(),
            spreads: Vec::new(),
            exact: Vec::new(),
        };
        Some(scene.complete())
    }
}
