//! Proofs by parabolas as a part of [`Prover`].

use super::{Layers, Partition};
use crate::certify::branch::{ProofAttempt, Prover, ROOM};
use crate::graph::Graph;
use crate::margin::Composer;
use crate::proof::{BoundKind, Piece};
use crate::uncertainty::project_inside;

impl Prover {
    /// Tries to prove by parabolas the margin that the boxes of `result` did not prove.
    pub(in crate::certify) fn prove_by_parabolas(
        &mut self,
        composer: &Composer<'_>,
        graph: &Graph<'_>,
        layers: &Layers<'_>,
        required: f64,
        result: &mut ProofAttempt,
    ) {
        let search = Self::search(composer);
        let radius = search.radius * (1.0 + ROOM);
        let before = self.other_evaluations;
        let mut partition = Partition::new(layers, radius, required);
        result.doublings.clear();
        let first = partition.evaluations;
        loop {
            self.other_evaluations = before + partition.evaluations;
            result.parabolas = Some(partition.evaluations - first);
            if partition.len() >= 1 << result.doublings.len() {
                result.doublings.push(partition.lower());
            }
            result.lower = result.lower.max(partition.lower().min(required));
            let Some(mut start) = partition.lowest() else { break };
            project_inside(&**search.set, &mut start, search.radius);
            let found = search.descend(graph, &start, required, &mut self.jets);
            if found.value < result.upper {
                result.upper = found.value;
                result.perturbation = self.coordinates.admissible(composer, &found.at);
            }
            let left = self.left() as f64 * self.patience;
            let is_hopeless =
                self.patience < f64::INFINITY && result.upper - result.gap_after(left as usize) < required;
            if result.upper < required || self.is_spent() || is_hopeless {
                return;
            }
            partition.step();
        }
        result.nodes += partition.len();
        result.lower = required;
        result.coordinates = self.coordinates.clone();
        result.pieces = vec![Piece {
            lower: vec![-radius; graph.inputs],
            upper: vec![radius; graph.inputs],
            margin: required,
            reason: BoundKind::Parabolas,
            cells: partition.cells(),
            phases: Vec::new(),
        }];
    }
}
