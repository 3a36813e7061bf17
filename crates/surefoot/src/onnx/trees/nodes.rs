//! The nodes of trees in ONNX files.

use std::collections::HashMap;

use super::super::operators::attribute;
use super::{Reader, Result, Trees};
use crate::trees::{DraftNode, DraftTest};

/// The ways in which a node tests its input, as version 5 numbers them.
const MODES: [&str; 7] =
    ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "BRANCH_MEMBER"];

/// A test with its two ways.
struct Branch<'a> {
    mode: &'a str,
    feature: usize,
    value: f64,
    /// The values of a `BRANCH_MEMBER`.
    members: Vec<f64>,
    when_true: usize,
    when_false: usize,
    /// Whether a missing value goes the way of what is true.
    missing_is_true: bool,
}

impl Branch<'_> {
    /// The node; `None` for an unknown mode.
    fn draft(self) -> Option<DraftNode> {
        let Self { mode, feature, value, members, when_true, when_false, missing_is_true } = self;
        let equals = |value: f64| (value.next_down(), value);
        let (test, is_direct) = match mode {
            "BRANCH_LEQ" => (DraftTest::AtMost(value), true),
            "BRANCH_LT" => (DraftTest::below(value), true),
            "BRANCH_GTE" => (DraftTest::below(value), false),
            "BRANCH_GT" => (DraftTest::AtMost(value), false),
            "BRANCH_EQ" => (DraftTest::Within(vec![equals(value)]), true),
            "BRANCH_NEQ" => (DraftTest::Within(vec![equals(value)]), false),
            "BRANCH_MEMBER" => (DraftTest::Within(members.into_iter().map(equals).collect()), true),
            _ => return None,
        };
        // Every comparison with a missing value is false, but that it differs is true.
        let is_true = missing_is_true || mode == "BRANCH_NEQ";
        Some(match is_direct {
            true => {
                DraftNode::Split { feature, test, left: when_true, right: when_false, missing_left: is_true }
            }
            false => {
                DraftNode::Split { feature, test, left: when_false, right: when_true, missing_left: !is_true }
            }
        })
    }
}

fn position(number: i64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

impl Reader<'_> {
    /// The trees of the older operators: nodes with the numbers of their trees, and weights of leaves in lists whose
    /// names begin with `prefix`.
    pub(super) fn trees(&self, prefix: &str, weights: &[Option<f64>]) -> Result<Trees> {
        let (of_trees, numbers) = (self.wholes("nodes_treeids"), self.wholes("nodes_nodeids"));
        let count = of_trees.len();
        let numbers = if numbers.len() == count { numbers } else { return Err(self.expected("equal lists")) };
        let modes = attribute(self.node, "nodes_modes").map_or(&[][..], |attribute| &attribute.texts);
        if modes.len() != count {
            return Err(self.expected("`nodes_modes` with a text for each node"));
        }
        let features = self.wholes_of("nodes_featureids", count)?;
        let values = self.numbers_of("nodes_values", count)?;
        let when_true = self.wholes_of("nodes_truenodeids", count)?;
        let when_false = self.wholes_of("nodes_falsenodeids", count)?;
        let missing = self.wholes("nodes_missing_value_tracks_true");
        // Trees in the order of their first nodes, and the place of each node in its tree.
        let mut trees: Vec<Vec<usize>> = Vec::new();
        let mut tree_of: HashMap<i64, usize> = HashMap::new();
        let mut places: HashMap<(i64, i64), usize> = HashMap::with_capacity(count);
        for at in 0..count {
            let tree = *tree_of.entry(of_trees[at]).or_insert_with(|| {
                trees.push(Vec::new());
                trees.len() - 1
            });
            places.insert((of_trees[at], numbers[at]), trees[tree].len());
            trees[tree].push(at);
        }
        let leaves = self.leaves(prefix, weights)?;
        let node = |at: usize| {
            let key = (of_trees[at], numbers[at]);
            if modes[at] == b"LEAF" {
                return Ok(DraftNode::Leaf { value: leaves.get(&key).copied().unwrap_or(0.0), against: 0.0 });
            }
            let child = |number: i64| places.get(&(of_trees[at], number)).copied().unwrap_or(usize::MAX);
            let mode = String::from_utf8_lossy(&modes[at]);
            let branch = Branch {
                mode: &mode,
                feature: position(features[at]),
                value: values[at],
                members: Vec::new(),
                when_true: child(when_true[at]),
                when_false: child(when_false[at]),
                missing_is_true: missing.get(at) == Some(&1),
            };
            // The member lists of version 5 are not there.
            let known = branch.mode != "BRANCH_MEMBER";
            let draft = if known { branch.draft() } else { None };
            draft.ok_or_else(|| self.unsupported("nodes_modes", mode.clone()))
        };
        trees.iter().map(|tree| tree.iter().map(|&at| node(at)).collect()).collect()
    }

    /// The weight of each leaf, by tree and node.
    fn leaves(&self, prefix: &str, weights: &[Option<f64>]) -> Result<HashMap<(i64, i64), f64>> {
        let trees = self.wholes_of(&format!("{prefix}_treeids"), weights.len())?;
        let nodes = self.wholes_of(&format!("{prefix}_nodeids"), weights.len())?;
        let mut leaves = HashMap::with_capacity(weights.len());
        for ((&tree, &node), weight) in trees.iter().zip(nodes).zip(weights) {
            if let Some(weight) = weight
                && leaves.insert((tree, node), *weight).is_some()
            {
                return Err(self.expected("one weight for each leaf"));
            }
        }
        Ok(leaves)
    }

    /// The trees of version 5, whose nodes refer to nodes or leaves.
    pub(super) fn linked_trees(&self) -> Result<Trees> {
        let features = self.wholes("nodes_featureids");
        let count = features.len();
        let modes = self.numbers_of("nodes_modes", count)?;
        let splits = self.numbers_of("nodes_splits", count)?;
        let lists = ["nodes_truenodeids", "nodes_falsenodeids", "nodes_trueleafs", "nodes_falseleafs"];
        let [when_true, when_false, true_leaf, false_leaf] = lists.map(|name| self.wholes_of(name, count));
        let ways = [(when_true?, true_leaf?), (when_false?, false_leaf?)];
        let missing = self.wholes("nodes_missing_value_tracks_true");
        let weights = self.numbers("leaf_weights")?;
        let mut members = self.members(&modes)?;
        let mut is_used = vec![false; count];
        let mut trees = Vec::new();
        for &root in self.wholes("tree_roots") {
            let mut tree = Vec::new();
            // A node, or a leaf, whose place in the tree is that in this list.
            let mut open = vec![(position(root), false)];
            while let Some(&(at, is_leaf)) = open.get(tree.len()) {
                if is_leaf {
                    let value = weights.get(at).ok_or_else(|| self.expected("leaves that there are"))?;
                    tree.push(DraftNode::Leaf { value: *value, against: 0.0 });
                    continue;
                }
                // Otherwise a short file could state huge trees.
                if is_used.get(at).is_none_or(|&used| used) {
                    return Err(self.expected("nodes that there are, each in one place,"));
                }
                is_used[at] = true;
                let next = open.len();
                open.extend(ways.map(|(nodes, leaves)| (position(nodes[at]), leaves[at] != 0)));
                let mode = MODES.get(modes[at] as usize).copied().unwrap_or_default();
                let branch = Branch {
                    mode,
                    feature: position(features[at]),
                    value: splits[at],
                    members: std::mem::take(&mut members[at]),
                    when_true: next,
                    when_false: next + 1,
                    missing_is_true: missing.get(at) == Some(&1),
                };
                let unknown = || self.unsupported("nodes_modes", modes[at].to_string());
                tree.push(branch.draft().ok_or_else(unknown)?);
            }
            trees.push(tree);
        }
        Ok(trees)
    }

    /// The values of each `BRANCH_MEMBER`: lists that end with NaN, one after the other.
    fn members(&self, modes: &[f64]) -> Result<Vec<Vec<f64>>> {
        let values = self.numbers("membership_values")?;
        let mut lists = values.split(|value| value.is_nan());
        let is_member = |mode: &f64| MODES.get(*mode as usize) == Some(&"BRANCH_MEMBER");
        let list = |mode: &f64| if is_member(mode) { lists.next().map(<[f64]>::to_vec) } else { None };
        Ok(modes.iter().map(list).map(Option::unwrap_or_default).collect())
    }
}
