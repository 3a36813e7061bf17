//! Ensembles as readers state them, and their conversion into the one form that is evaluated.

use super::columns::Source;
use super::{Arithmetic, Ensemble, Link, Member, Node, OwnRule, fold};
use crate::error::TreesProblem;
use crate::magnitude::is_moderate;

type Result<T> = std::result::Result<T, TreesProblem>;

/// The most nodes of an ensemble, so that a file cannot cause huge allocations: 8,000 trees of depth 10.
pub const MOST_NODES: usize = 1 << 24;

/// The most inputs of an ensemble, for the same reason.
const MOST_INPUTS: usize = 1 << 18;

/// A number of inputs, unless it is beyond the limit.
pub fn affordable(inputs: usize) -> Result<usize> {
    if inputs <= MOST_INPUTS {
        Ok(inputs)
    } else {
        Err(TreesProblem::TooManyInputs { inputs, most: MOST_INPUTS })
    }
}

/// An ensemble as a file states it.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    /// What each input is.
    pub sources: Vec<Source>,
    /// Whether inputs are rounded to single precision before they are tested.
    pub single_inputs: bool,
    /// The nodes of each tree; the first is at the top.
    pub trees: Vec<Vec<DraftNode>>,
    /// How leaves are added.
    pub arithmetic: Arithmetic,
    pub link: Link,
    pub rule: OwnRule,
    /// Whether the larger of two sums decides.
    pub compares_sums: bool,
}

/// A node as a file states it; children are positions in the list of the tree's nodes.
#[derive(Clone, Debug, PartialEq)]
pub enum DraftNode {
    /// What it adds to the sum, and to that of the other class.
    Leaf {
        value: f64,
        against: f64,
    },
    Split {
        feature: usize,
        test: DraftTest,
        left: usize,
        right: usize,
        missing_left: bool,
    },
}

/// A test of an input, after its rounding to single precision where there is one.
#[derive(Clone, Debug, PartialEq)]
pub enum DraftTest {
    /// `x <= threshold`. (`x < t` is `x <= t.next_down()`, because no double lies between.)
    AtMost(f64),
    /// `lower < x <= upper` for one of these intervals.
    Within(Vec<(f64, f64)>),
}

impl DraftTest {
    /// `x < threshold`.
    pub fn below(threshold: f64) -> Self {
        Self::AtMost(threshold.next_down())
    }

    /// `x` with its fractional part cut off is one of some whole numbers.
    ///
    /// Between -1 and 0 that is 0, except where negative numbers have been sorted out before.
    pub fn category(codes: impl IntoIterator<Item = u32>, negative_is_zero: bool) -> Self {
        let interval = |code: u32| {
            let lower = if code == 0 && negative_is_zero { -1.0 } else { f64::from(code).next_down() };
            (lower, (f64::from(code) + 1.0).next_down())
        };
        Self::Within(codes.into_iter().map(interval).collect())
    }
}

impl Draft {
    /// The ensemble.
    ///
    /// # Errors
    /// If a list of nodes is no tree, or if a number is not finite.
    pub fn build(self) -> Result<Ensemble> {
        let total: usize = self.trees.iter().map(Vec::len).sum();
        if total > MOST_NODES {
            return Err(TreesProblem::TooLarge { most: MOST_NODES });
        }
        if self.trees.is_empty() {
            return Err(TreesProblem::NoTrees);
        }
        let mut ensemble = Ensemble {
            inputs: self.sources.len(),
            sources: self.sources,
            roots: Vec::with_capacity(self.trees.len()),
            nodes: Vec::with_capacity(total),
            members: Vec::new(),
            values: Vec::with_capacity(total / 2 + 1),
            against: Vec::new(),
            arithmetic: self.arithmetic,
            link: self.link,
            rule: self.rule,
        };
        let Arithmetic { start, divisor, factor, shift, .. } = self.arithmetic;
        let constants = [start, divisor, factor, shift];
        if let Some(&value) = constants.iter().find(|value| !is_moderate(**value)) {
            return Err(TreesProblem::Number { tree: 0, node: 0, value });
        }
        if divisor <= 0.0 || factor <= 0.0 {
            let value = divisor.min(factor);
            return Err(TreesProblem::Unsupported(
                format!("a sum that is scaled by {value}"),
                "scale sums by positive numbers",
            ));
        }
        for (number, tree) in self.trees.iter().enumerate() {
            ensemble.add(number, tree, self.single_inputs, self.compares_sums)?;
        }
        Ok(ensemble)
    }
}

impl Ensemble {
    /// Adds a tree: its nodes in the order in which they are met, the left before the right.
    fn add(&mut self, tree: usize, drafts: &[DraftNode], single: bool, compares_sums: bool) -> Result<()> {
        let mut seen = vec![false; drafts.len()];
        // A node of the draft, and the place that refers to it: a node and whether it is the left child.
        let mut open: Vec<(usize, Option<(usize, bool)>)> = vec![(0, None)];
        self.roots.push(position(self.nodes.len()));
        while let Some((node, parent)) = open.pop() {
            let fault = |reason| TreesProblem::Structure { tree, node, reason };
            let draft = drafts.get(node).ok_or_else(|| fault("there is no such node"))?;
            if std::mem::replace(&mut seen[node], true) {
                return Err(fault("it has two parents"));
            }
            let at = self.nodes.len();
            if let Some((parent, is_left)) = parent {
                self.nodes[parent].set_child(is_left, position(at));
            }
            let place = (tree, node);
            let made = match draft {
                DraftNode::Leaf { value, against } => {
                    self.leaf_node(place, *value, compares_sums.then_some(*against))?
                }
                DraftNode::Split { feature, test, left, right, missing_left } => {
                    open.push((*right, Some((at, false))));
                    open.push((*left, Some((at, true))));
                    self.split(place, *feature, test, single, *missing_left)?
                }
            };
            self.nodes.push(made);
        }
        Ok(())
    }

    fn leaf_node(&mut self, (tree, node): (usize, usize), value: f64, against: Option<f64>) -> Result<Node> {
        if let Some(value) = [Some(value), against].into_iter().flatten().find(|value| !is_moderate(*value)) {
            return Err(TreesProblem::Number { tree, node, value });
        }
        self.values.push(value);
        self.against.extend(against);
        Ok(Node::Leaf(position(self.values.len() - 1)))
    }

    fn split(
        &mut self,
        (tree, node): (usize, usize),
        feature: usize,
        test: &DraftTest,
        single: bool,
        missing_left: bool,
    ) -> Result<Node> {
        if feature >= self.inputs {
            return Err(TreesProblem::Column { tree, node, column: feature, inputs: self.inputs });
        }
        let folded = |threshold: f64| match (threshold.is_nan(), single) {
            (true, _) => Err(TreesProblem::Number { tree, node, value: threshold }),
            (false, true) => Ok(fold::single(threshold)),
            (false, false) => Ok(threshold),
        };
        let feature = position(feature);
        let (left, right) = (0, 0);
        match test {
            DraftTest::AtMost(threshold) => {
                Ok(Node::AtMost { feature, threshold: folded(*threshold)?, left, right, missing_left })
            }
            DraftTest::Within(intervals) => {
                let first = position(self.members.len());
                for &(lower, upper) in intervals {
                    self.members.push(Member { feature, lower: folded(lower)?, upper: folded(upper)? });
                    if self.members.len() > MOST_NODES {
                        return Err(TreesProblem::TooLarge { most: MOST_NODES });
                    }
                }
                Ok(Node::AnyOf { first, count: position(intervals.len()), left, right, missing_left })
            }
        }
    }
}

impl Node {
    pub(super) fn set_child(&mut self, is_left: bool, child: u32) {
        match self {
            Self::Leaf(_) => {}
            Self::AtMost { left, right, .. } | Self::AnyOf { left, right, .. } => {
                *(if is_left { left } else { right }) = child;
            }
        }
    }
}

/// A position; [`MOST_NODES`] of them fit.
pub(super) fn position(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
