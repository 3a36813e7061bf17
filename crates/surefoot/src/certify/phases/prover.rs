//! Proofs by the phases of units as a part of [`Prover`].

use super::bound::Ball;
use super::{Phases, layers_of};
use crate::certify::LEAST_MARGIN;
use crate::certify::branch::{ProofAttempt, Prover, ROOM};
use crate::certify::search::Found;
use crate::graph::Graph;
use crate::margin::Composer;
use crate::proof::{BoundKind, Piece};
use crate::uncertainty::project_inside;

/// A search for a worse perturbation starts from the lowest part whenever this many parts have been divided.
const PARTS_PER_SEARCH: usize = 8;
/// An attack divides the ball this many times. Each division and its search count as a few evaluations.
const DIVISIONS_OF_ATTACK: usize = 32;

impl Prover {
    /// Whether the margin is a relu network whose phases may be divided.
    pub(crate) fn has_phases(composer: &Composer<'_>, graph: &Graph<'_>) -> bool {
        let search = Self::search(composer);
        layers_of(graph, Ball { set: search.set, radius: search.radius }).is_some()
    }

    /// Searches for a worse perturbation where bounds of a relu network are lowest, while the ball is divided a few
    /// times. From there gradients lead to minima that they do not lead to from the ends of axes.
    pub(crate) fn worst_by_phases(
        &mut self,
        composer: &Composer<'_>,
        graph: &Graph<'_>,
        mut worst: Found,
    ) -> Found {
        let search = Self::search(composer);
        let ball = Ball { set: search.set, radius: search.radius };
        let Some(layers) = layers_of(graph, ball) else { return worst };
        let before = self.other_evaluations;
        let mut phases = Phases::new(&layers, ball, LEAST_MARGIN);
        let mut has_more = true;
        for _ in 0..DIVISIONS_OF_ATTACK {
            self.other_evaluations = before + phases.evaluations();
            let Some(lowest) = phases.lowest() else { break };
            let mut start = lowest.to_vec();
            project_inside(&**search.set, &mut start, search.radius);
            let found = search.descend(graph, &start, f64::NEG_INFINITY, &mut self.jets);
            if found.value < worst.value {
                worst = found;
            }
            if worst.value < 0.0 || !has_more {
                break;
            }
            // Where the least margin of a part is known, the search starts there once more.
            has_more = phases.step();
        }
        worst
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
        let (mut divided, mut has_more) = (0usize, true);
        loop {
            self.other_evaluations = before + phases.evaluations();
            let parts = phases.len();
            if parts >= 1 << result.doublings.len() {
                result.doublings.push(phases.lower());
            }
            result.lower = result.lower.max(phases.lower().min(required));
            let Some(lowest) = phases.lowest() else { break };
            // Where the least margin of a part is known, so is where it is.
            if divided.is_multiple_of(PARTS_PER_SEARCH) || !has_more {
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
            if result.upper < required || self.is_spent() || is_hopeless || !has_more {
                return;
            }
            has_more = phases.step();
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
