//! The nodes of an ensemble in one list, with tests of one threshold each.

use std::sync::OnceLock;

use crate::Classifier;

/// The number that marks a leaf.
const LEAF: u32 = u32::MAX;

/// A list of trees whose leaves are added to a constant. The sum is the score: favourable iff it is not
/// negative, up to [`Forest::rounding`].
#[derive(Clone, Debug)]
pub(crate) struct Forest {
    pub inputs: usize,
    pub roots: Vec<u32>,
    pub nodes: Vec<Node>,
    /// What leaves are added to.
    pub start: f64,
    /// A bound on the difference between the sum in exact arithmetic and the score of the classifier.
    pub rounding: f64,
    /// Filled when it is asked for the first time.
    lists: OnceLock<Lists>,
    /// The classifier, whose own arithmetic decides where a sum is within rounding errors of zero.
    pub classifier: Option<Classifier>,
    /// Whether the classifier's score never falls if a leaf is replaced by a greater one.
    pub is_monotone: bool,
}

/// The thresholds of a forest.
#[derive(Clone, Debug)]
struct Lists {
    /// The thresholds of each input, in ascending order.
    thresholds: Vec<Vec<f64>>,
    /// For each threshold of each input: the trees that test it, in ascending order.
    testers: Vec<Vec<Vec<u32>>>,
}

/// A test `x[feature] <= number`, or a leaf with the value `number`. Nodes may have several parents.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    feature: u32,
    pub left: u32,
    pub right: u32,
    /// The threshold, or the value of the leaf.
    pub number: f64,
}

impl Node {
    pub fn leaf(value: f64) -> Self {
        Self { feature: LEAF, left: 0, right: 0, number: value }
    }

    pub fn test(feature: u32, threshold: f64, left: u32, right: u32) -> Self {
        Self { feature, left, right, number: threshold }
    }

    /// The input that is tested; `None` for a leaf.
    #[inline]
    pub fn feature(&self) -> Option<usize> {
        (self.feature != LEAF).then_some(self.feature as usize)
    }
}

/// A box of individuals: `lower < x <= upper` in each input.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cell {
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
}

impl Forest {
    pub fn new(inputs: usize, roots: Vec<u32>, nodes: Vec<Node>, start: f64, rounding: f64) -> Self {
        Self {
            inputs,
            roots,
            nodes,
            start,
            rounding,
            lists: OnceLock::new(),
            classifier: None,
            is_monotone: true,
        }
    }

    /// The forest whose score is lower by a number. Its scores are those of exact arithmetic.
    pub fn stricter(&self, by: f64) -> Self {
        Self { start: self.start - by, classifier: None, ..self.clone() }
    }

    fn lists(&self) -> &Lists {
        self.lists.get_or_init(|| {
            let mut thresholds = vec![Vec::new(); self.inputs];
            for node in &self.nodes {
                if let Some(feature) = node.feature() {
                    thresholds[feature].push(node.number);
                }
            }
            for list in &mut thresholds {
                list.sort_by(f64::total_cmp);
                list.dedup();
            }
            let testers = thresholds.iter().map(|list| vec![Vec::new(); list.len()]).collect();
            let mut lists = Lists { thresholds, testers };
            for tree in 0..self.roots.len() {
                let mut open = vec![self.roots[tree]];
                while let Some(at) = open.pop() {
                    let node = self.nodes[at as usize];
                    let Some(feature) = node.feature() else { continue };
                    let place = lists.thresholds[feature].partition_point(|&t| t < node.number);
                    let list = &mut lists.testers[feature][place];
                    if list.last() != Some(&(tree as u32)) {
                        list.push(tree as u32);
                    }
                    open.extend([node.left, node.right]);
                }
            }
            lists
        })
    }

    /// The thresholds of an input, in ascending order.
    pub fn thresholds(&self, feature: usize) -> &[f64] {
        &self.lists().thresholds[feature]
    }

    /// The trees that test an input at a threshold.
    pub fn testers(&self, feature: usize, threshold: f64) -> &[u32] {
        let Lists { thresholds, testers } = self.lists();
        let place = thresholds[feature].partition_point(|&t| t < threshold);
        testers[feature].get(place).map_or(&[], Vec::as_slice)
    }

    /// The score at a point with a given sum, by the classifier's own arithmetic if its sign is in doubt.
    pub fn score(&self, point: &[f64], sum: f64) -> f64 {
        match &self.classifier {
            Some(classifier) if sum.abs() <= 2.0 * self.rounding => classifier.score(point),
            _ => sum,
        }
    }

    /// The value of the leaf of a point below a node.
    pub fn value(&self, root: u32, x: &[f64]) -> f64 {
        let mut node = self.nodes[root as usize];
        while let Some(feature) = node.feature() {
            node = self.nodes[if x[feature] <= node.number { node.left } else { node.right } as usize];
        }
        node.number
    }

    /// The largest cell around a point in which every tree keeps its leaf.
    pub fn cell(&self, x: &[f64]) -> Cell {
        let mut cell =
            Cell { lower: vec![f64::NEG_INFINITY; self.inputs], upper: vec![f64::INFINITY; self.inputs] };
        for &root in &self.roots {
            let mut node = self.nodes[root as usize];
            while let Some(feature) = node.feature() {
                let is_left = x[feature] <= node.number;
                if is_left {
                    cell.upper[feature] = cell.upper[feature].min(node.number);
                } else {
                    cell.lower[feature] = cell.lower[feature].max(node.number);
                }
                node = self.nodes[if is_left { node.left } else { node.right } as usize];
            }
        }
        cell
    }

    /// The greatest value of the leaves below a node that a cell reaches. Counts the visited nodes.
    pub fn greatest(&self, root: u32, cell: &Cell, visited: &mut usize) -> f64 {
        *visited += 1;
        let node = self.nodes[root as usize];
        let Some(feature) = node.feature() else { return node.number };
        let goes_left = cell.lower[feature] < node.number;
        let goes_right = cell.upper[feature] > node.number;
        match (goes_left, goes_right) {
            (true, true) => {
                let left = self.greatest(node.left, cell, visited);
                left.max(self.greatest(node.right, cell, visited))
            }
            (true, false) => self.greatest(node.left, cell, visited),
            (false, _) => self.greatest(node.right, cell, visited),
        }
    }
}
