//! Proofs by the phases of units as a part of [`Prover`].

use super::bound::Ball;
use super::{Phases, layers_of};
use crate::certify::branch::{ProofAttempt, Prover, ROOM};
use crate::graph::Graph;
use crate::margin::Composer;
use crate::proof::{BoundKind, Piece};
use crate::uncertainty::project_inside;

/// A search for a worse perturbation starts from the lowest part whenever this many parts have been divided.
const PARTS_PER_SEARCH: usize = 8;

impl Prover {
    /// Whether the margin is a relu network whose phases may be divided.
    pub(in crate::certify) fn has_phases(composer: &Composer<'_>, graph: &Graph<'_>) -> bool {
        let search = Self::search(composer);
        layers_of(graph, Ball { set: search.set, radius: search.radius }).is_some()
    }

    /// Tries to prove by the phases of units the margin that the boxes of `result` did not prove.
    pub(in crate::certify) fn prove_by_phases(
        &mut self,
        composer: &Composer<'_>,
        graph: &Graph<'_>,
        required: f64,
        result: &mut ProofAttempt,
    ) {
        let search = Self::search(composer);
        let ball = Ball { set: search.set, radius: search.radius * (1.0 + ROOM) };
        let Some(layers) = layers_of(graph, ball) else { return };
        let before = self.other_evaluations;
        let mut phases = Phases::new(&layers, ball, required);
        result.doublings.clear();
        let mut divided = 0usize;
        loop {
            self.other_evaluations = before + phases.evaluations();
            let parts = phases.len();
            if parts >= 1 << result.doublings.len() {
                result.doublings.push(phases.lower());
            }
            result.lower = result.lower.max(phases.lower().min(required));
            let Some(lowest) = phases.lowest() else { break };
            if divided.is_multiple_of(PARTS_PER_SEARCH) {
                let mut start = lowest.to_vec();
                project_inside(&**search.set, &mut start, search.radius);
                let found = search.descend(graph, &start, required, &mut self.jets);
                if found.value < result.upper {
                    result.upper = found.value;
                    result.perturbation = self.coordinates.admissible(composer, &found.at);
                }
            }
            let left = self.left() as f64 * self.patience;
            let is_hopeless = self.patience < f64::INFINITY
                && parts >= 256
                && parts.is_power_of_two()
                && result.upper - result.gap_after(left as usize) < required;
            if result.upper < required || self.is_spent() || is_hopeless || !phases.step() {
                return;
            }
            divided += 1;
        }
        result.nodes += phases.len();
        result.lower = required;
        result.coordinates = self.coordinates.clone();
        let reach = ball.set.half_widths(graph.inputs);
        result.pieces = vec![Piece {
            lower: reach.iter().map(|width| -width * ball.radius).collect(),
            upper: reach.iter().map(|width| width * ball.radius).collect(),
            margin: required,
            reason: BoundKind::Phases,
            cells: Vec::new(),
            phases: phases.into_nodes(),
        }];
    }
}
