//! The order in which equations are evaluated.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Node;
use crate::error::CausalModelError;
use crate::{Error, Features, Result};

/// Parents before children, the lower position first among equals; or the cycle.
pub(super) fn causal_order(features: &Features, nodes: &[Node]) -> Result<Vec<usize>> {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    // The number of parents of each feature that have not been placed.
    let mut missing: Vec<usize> = nodes.iter().map(|node| node.parents.len()).collect();
    for (i, node) in nodes.iter().enumerate() {
        node.parents.iter().for_each(|&parent| children[parent].push(i));
    }
    let mut ready: BinaryHeap<Reverse<usize>> =
        (0..nodes.len()).filter(|&i| missing[i] == 0).map(Reverse).collect();
    let mut order = Vec::with_capacity(nodes.len());
    let mut placed = vec![false; nodes.len()];
    while let Some(Reverse(i)) = ready.pop() {
        placed[i] = true;
        order.push(i);
        for &child in &children[i] {
            missing[child] -= 1;
            if missing[child] == 0 {
                ready.push(Reverse(child));
            }
        }
    }
    if order.len() < nodes.len() {
        return Err(Error::CausalModel(CausalModelError::Cycle {
            features: cycle(features, nodes, &placed),
        }));
    }
    Ok(order)
}

/// Among the features that could not be placed, one cycle, its first feature repeated.
fn cycle(features: &Features, nodes: &[Node], placed: &[bool]) -> Vec<String> {
    // Every feature left has a parent that is left: walking from child to parent must
    // come back to a feature already seen.
    let mut walk: Vec<usize> = Vec::new();
    let mut steps: Vec<Option<usize>> = vec![None; nodes.len()];
    let mut next = placed.iter().position(|placed| !placed);
    while let Some(i) = next {
        if let Some(start) = steps[i].replace(walk.len()) {
            walk.drain(..start);
            walk.push(i);
            break;
        }
        walk.push(i);
        next = nodes[i].parents.iter().copied().find(|&p| !placed[p]);
    }
    // The walk went from effect to cause; the cycle is reported from cause to effect.
    walk.iter().rev().map(|&i| features.feature(i).name.clone()).collect()
}
