//! Tree ensembles: decision trees, forests and boosted trees, evaluated exactly as the programs do that made
//! them.
//!
//! # Tests
//! Each program tests inputs in its own way: XGBoost rounds them to single precision and asks `x < t`,
//! LightGBM asks `x <= t` in double precision, CatBoost `x > t` in single precision. Whatever is in front of
//! a test is folded into its threshold once, when the model is read (`fold`). Afterwards there are two kinds of
//! tests ([`Node`]): `x <= threshold` in double precision, and membership in a union of intervals
//! `lower < x <= upper`, for categories.
//!
//! # Sums
//! [`Ensemble::sum`] adds the leaves in the order and the precision of the original program, so that its sign
//! against [`Ensemble::least_favourable`] is that program's decision, including its rounding errors. The sum of
//! the same leaves in exact arithmetic differs by at most [`Ensemble::rounding`].

mod catboost;
mod columns;
mod document;
mod draft;
mod fold;
mod lightgbm;
mod link;
mod own;
mod read;
mod ubj;
mod xgboost;
#[cfg(test)]
mod tests;

pub(crate) use columns::{Source, Step};
pub(crate) use draft::{Draft, DraftNode, DraftTest};
pub use link::{Calibration, Compared, Link, OwnRule};
pub(crate) use read::parse;

use crate::digest::Digest;
use crate::error::{ModelError, TreesProblem};
use crate::graph::Interval;
use crate::{Error, Result};

/// A list of decision trees whose leaves are added up.
///
/// Nodes, members and leaves of all trees are numbered together.
#[derive(Clone, Debug, PartialEq)]
pub struct Ensemble {
    inputs: usize,
    /// What each input is, as far as the file says so.
    sources: Vec<Source>,
    roots: Vec<u32>,
    nodes: Vec<Node>,
    members: Vec<Member>,
    values: Vec<f64>,
    /// The values of the other class, if the larger of two sums decides; otherwise empty.
    against: Vec<f64>,
    arithmetic: Arithmetic,
    link: Link,
    rule: OwnRule,
}

/// A node of a tree. Children come after their parent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Node {
    /// A leaf, by its number; see [`Ensemble::leaf_value`].
    Leaf(u32),
    /// Left if `x[feature] <= threshold`.
    AtMost {
        /// The input that is tested.
        feature: u32,
        /// The largest number that goes left; may be infinite.
        threshold: f64,
        /// The node on the left.
        left: u32,
        /// The node on the right.
        right: u32,
        /// Whether a missing value, NaN, goes left.
        missing_left: bool,
    },
    /// Left if one of some intervals contains its input; see [`Ensemble::members`].
    AnyOf {
        /// The number of the first member.
        first: u32,
        /// The number of members.
        count: u32,
        /// The node on the left.
        left: u32,
        /// The node on the right.
        right: u32,
        /// Whether a missing value, NaN, goes left.
        missing_left: bool,
    },
}

/// An interval of one input: `lower < x[feature] <= upper`. A test of [`Node::AnyOf`] asks whether any of
/// several intervals contains its input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Member {
    /// The input.
    pub feature: u32,
    /// The exclusive lower end; may be infinite.
    pub lower: f64,
    /// The inclusive upper end; may be infinite.
    pub upper: f64,
}

impl Member {
    fn holds(&self, x: &[f64]) -> bool {
        let value = x[self.feature as usize];
        self.lower < value && value <= self.upper
    }
}

/// How leaves are added: `((start + sum of leaves) / divisor) * factor + shift`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arithmetic {
    /// Whether additions are rounded to single precision.
    pub single: bool,
    /// What leaves are added to.
    pub start: f64,
    /// What the sum is divided by.
    pub divisor: f64,
    /// What the quotient is multiplied by.
    pub factor: f64,
    /// What is added at the end.
    pub shift: f64,
}

impl Arithmetic {
    /// A plain sum.
    pub const SUM: Self = Self { single: false, start: 0.0, divisor: 1.0, factor: 1.0, shift: 0.0 };

    fn sum(&self, leaves: impl Iterator<Item = f64>) -> f64 {
        if self.single {
            let sum = leaves.fold(self.start as f32, |sum, leaf| sum + leaf as f32);
            let scaled = sum / self.divisor as f32 * self.factor as f32 + self.shift as f32;
            return f64::from(scaled);
        }
        self.finish(leaves.fold(self.start, |sum, leaf| sum + leaf))
    }

    fn finish(&self, sum: f64) -> f64 {
        sum / self.divisor * self.factor + self.shift
    }

    /// The largest relative error of one operation.
    fn unit(&self) -> f64 {
        if self.single { f64::from(f32::EPSILON) / 2.0 } else { f64::EPSILON / 2.0 }
    }
}

impl Ensemble {
    /// The number of inputs.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// The number of trees.
    pub fn trees(&self) -> usize {
        self.roots.len()
    }

    /// The node at the top of each tree.
    pub fn roots(&self) -> &[u32] {
        &self.roots
    }

    /// All nodes.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The number of leaves.
    pub fn leaves(&self) -> usize {
        self.values.len()
    }

    /// The members of a [`Node::AnyOf`].
    pub fn members(&self, first: u32, count: u32) -> &[Member] {
        &self.members[first as usize..(first + count) as usize]
    }

    /// What a leaf adds to the sum, before it is divided and shifted ([`Ensemble::arithmetic`]). Where the
    /// larger of two sums decides, the difference of what it adds to them.
    pub fn leaf_value(&self, leaf: u32) -> f64 {
        let leaf = leaf as usize;
        self.values[leaf] - self.against.get(leaf).copied().unwrap_or(0.0)
    }

    /// Whether the larger of two sums decides, so that [`Ensemble::sum`] is their difference.
    pub fn is_compared(&self) -> bool {
        !self.against.is_empty()
    }

    /// How leaves are added.
    pub fn arithmetic(&self) -> Arithmetic {
        self.arithmetic
    }

    /// How the sum becomes a probability.
    pub fn link(&self) -> &Link {
        &self.link
    }

    /// The rule of the original program at a probability of one half.
    pub fn own_rule(&self) -> OwnRule {
        self.rule
    }

    /// The leaf that an individual reaches below a node.
    ///
    /// # Panics
    /// If `x` is shorter than [`Ensemble::inputs`].
    pub fn leaf(&self, root: u32, x: &[f64]) -> u32 {
        let mut at = root as usize;
        loop {
            at = match self.nodes[at] {
                Node::Leaf(leaf) => return leaf,
                Node::AtMost { feature, threshold, left, right, missing_left } => {
                    let value = x[feature as usize];
                    let goes_left = value <= threshold || missing_left && value.is_nan();
                    if goes_left { left } else { right }
                }
                Node::AnyOf { first, count, left, right, missing_left } => {
                    let members = self.members(first, count);
                    let goes_left = if members.iter().any(|member| x[member.feature as usize].is_nan()) {
                        missing_left
                    } else {
                        members.iter().any(|member| member.holds(x))
                    };
                    if goes_left { left } else { right }
                }
            } as usize;
        }
    }

    /// The sum of the leaves of an individual, as the original program computes it. Where the larger of two
    /// sums decides, their difference. NaN is a missing value.
    ///
    /// # Panics
    /// If `x` is shorter than [`Ensemble::inputs`].
    pub fn sum(&self, x: &[f64]) -> f64 {
        let leaf_of = |&root: &u32| self.leaf(root, x) as usize;
        let sum = self.arithmetic.sum(self.roots.iter().map(|root| self.values[leaf_of(root)]));
        if self.against.is_empty() {
            return sum;
        }
        sum - self.arithmetic.sum(self.roots.iter().map(|root| self.against[leaf_of(root)]))
    }

    /// The sums of a table of individuals, row by row.
    ///
    /// # Panics
    /// If there are fewer numbers than rows times inputs.
    pub fn sums(&self, rows: &[f64], sums: &mut [f64]) {
        for (row, sum) in rows.chunks_exact(self.inputs.max(1)).zip(sums) {
            *sum = self.sum(row);
        }
    }

    /// Encloses the sums of all individuals of a box, none of whose values is missing, including rounding
    /// errors. Sides of the box may be infinite.
    ///
    /// # Panics
    /// If `x` is shorter than [`Ensemble::inputs`].
    pub fn range(&self, x: &[Interval]) -> Interval {
        let mut total = Interval::point(if self.against.is_empty() { self.arithmetic.start } else { 0.0 });
        let mut open = Vec::new();
        for &root in &self.roots {
            let mut reached = Interval::NOTHING;
            open.push(root);
            while let Some(at) = open.pop() {
                self.visit(at, x, &mut reached, &mut open);
            }
            total = Interval { lower: total.lower + reached.lower, upper: total.upper + reached.upper };
        }
        let rounding = self.rounding();
        let finish = |sum: f64| match self.against.is_empty() {
            true => self.arithmetic.finish(sum),
            false => sum / self.arithmetic.divisor * self.arithmetic.factor,
        };
        Interval { lower: finish(total.lower) - rounding, upper: finish(total.upper) + rounding }
    }

    /// Adds the value of a leaf to a range, or the reachable children of a node to a list.
    fn visit(&self, at: u32, x: &[Interval], reached: &mut Interval, open: &mut Vec<u32>) {
        match self.nodes[at as usize] {
            Node::Leaf(leaf) => {
                let value = self.leaf_value(leaf);
                *reached = Interval { lower: reached.lower.min(value), upper: reached.upper.max(value) };
            }
            Node::AtMost { feature, threshold, left, right, .. } => {
                let side = x[feature as usize];
                open.extend((side.lower <= threshold).then_some(left));
                open.extend((side.upper > threshold).then_some(right));
            }
            Node::AnyOf { first, count, left, right, .. } => {
                let members = self.members(first, count);
                let side = |member: &Member| x[member.feature as usize];
                let may = |m: &Member| side(m).upper > m.lower && side(m).lower <= m.upper;
                let must = |m: &Member| side(m).lower > m.lower && side(m).upper <= m.upper;
                open.extend(members.iter().any(may).then_some(left));
                open.extend((!members.iter().any(must)).then_some(right));
            }
        }
    }

    /// A bound on the difference of [`Ensemble::sum`] from the sum of the same leaves
    /// ([`Ensemble::leaf_value`]) in exact arithmetic, divided and shifted alike, for every individual.
    /// Twice that of any single sum, which covers a second computation in double precision.
    pub fn rounding(&self) -> f64 {
        let of = |values: &[f64]| {
            let mut partial = Interval::point(self.arithmetic.start);
            let mut sizes = 0.0;
            let mut rest = values;
            for leaves in self.leaves_by_tree() {
                let (of_tree, after) = rest.split_at(leaves);
                rest = after;
                let least = of_tree.iter().copied().fold(f64::INFINITY, f64::min);
                let greatest = of_tree.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                partial = Interval { lower: partial.lower + least, upper: partial.upper + greatest };
                sizes += partial.size();
            }
            let Arithmetic { divisor, factor, shift, .. } = self.arithmetic;
            (sizes + 4.0 * partial.size()) * (factor / divisor).abs() + 2.0 * shift.abs()
        };
        let against = if self.against.is_empty() { 0.0 } else { of(&self.against) };
        // The partial sums that are computed exceed the exact ones by far less than this.
        2.0 * 1.01 * self.arithmetic.unit() * (of(&self.values) + against)
    }

    /// The number of leaves of each tree; leaves are numbered tree by tree.
    fn leaves_by_tree(&self) -> impl Iterator<Item = usize> + '_ {
        let ends = self.roots.iter().skip(1).map(|&root| root as usize).chain([self.nodes.len()]);
        self.roots.iter().zip(ends).map(|(&root, end)| {
            self.nodes[root as usize..end].iter().filter(|node| matches!(node, Node::Leaf(_))).count()
        })
    }

    /// The ensemble whose [`Ensemble::sum`] decides at a threshold on the probability, and the least sum that
    /// is favourable.
    ///
    /// At a threshold of one half, ties are decided by the program's own rule; otherwise a probability that
    /// equals the threshold is favourable.
    ///
    /// # Errors
    /// If the model gives no probabilities and the threshold is not one half.
    pub fn least_favourable(mut self, threshold: f64) -> Result<(Self, f64)> {
        if threshold != 0.5 {
            self.against.clear();
        }
        let least = match self.against.is_empty() {
            true => link::least_favourable(&self.link, self.rule, threshold),
            false => link::least_favourable(&Link::Margin, self.rule, 0.5),
        };
        let least = least.ok_or(Error::Model(ModelError::Trees(TreesProblem::NoProbability)))?;
        // Beyond all sums, where nobody or everybody is accepted.
        let all = self.range(&vec![Interval::EVERYTHING; self.inputs]);
        Ok((self, least.clamp(all.lower - 1.0, all.upper + 1.0)))
    }

    /// The ensemble of the probability of the other class.
    #[must_use]
    pub fn opposite(mut self) -> Self {
        if self.against.is_empty() {
            self.values.iter_mut().for_each(|value| *value = -*value);
            self.arithmetic.start = -self.arithmetic.start;
            self.arithmetic.shift = -self.arithmetic.shift;
            self.link = Link::Opposite { of: Box::new(self.link) };
        } else {
            std::mem::swap(&mut self.values, &mut self.against);
        }
        self.rule.strict = !self.rule.strict;
        self
    }

    /// Adds everything that determines sums to a digest.
    pub(crate) fn digest(&self, digest: &mut Digest) {
        digest.text("trees");
        digest.count(self.inputs);
        let Arithmetic { single, start, divisor, factor, shift } = self.arithmetic;
        digest.count(usize::from(single));
        [start, divisor, factor, shift].iter().for_each(|&number| digest.number(number));
        digest.numbers(self.values.iter());
        digest.numbers(self.against.iter());
        digest.count(self.nodes.len());
        for node in &self.nodes {
            match *node {
                Node::Leaf(leaf) => digest.count(leaf as usize),
                Node::AtMost { feature, threshold, left, right, missing_left } => {
                    let counts = [feature, left, right, u32::from(missing_left)];
                    counts.iter().for_each(|&count| digest.count(count as usize));
                    digest.number(threshold);
                }
                Node::AnyOf { first, count, left, right, missing_left } => {
                    let counts = [first, count, left, right, u32::from(missing_left)];
                    counts.iter().for_each(|&count| digest.count(count as usize));
                }
            }
        }
        for member in &self.members {
            digest.count(member.feature as usize);
            digest.number(member.lower);
            digest.number(member.upper);
        }
    }
}
