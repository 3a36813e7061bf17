//! Branch and bound over cells of the ball.
//!
//! Cells are boxes in rotated coordinates. The first axis points to the worst perturbation found; the
//! others are the principal directions of the affine bound's error orthogonal to it. The cell with the
//! lowest bound is split next, where the split is predicted to raise the bounds of its parts most. Where
//! an affine bound is not sufficient, a quadratic one is tried. The cell that contains the worst
//! perturbation also gets the curvature bound.
//!
//! Where too many cells are predicted, [parabolas](super::parabolas) take over for tanh networks over a Euclidean
//! ball, and [phases](super::phases) for relu networks.
//!
//! The gap between the lowest bound and the worst margin found shrinks by about the same factor whenever
//! the number of cells doubles. If the predicted gap at the end of the budget is too large, the proof is
//! abandoned early.

mod attempt;
mod axes;
mod cell;

use std::collections::BinaryHeap;
use std::time::Instant;

use super::parabolas::Layers;
use super::{Found, Search};
use crate::Problem;
use crate::cancel;
use crate::graph::{Affine, Curvature, Graph, Jets, Order, Quadratic, Region};
use crate::margin::{Composer, Coordinates};
use crate::proof::BoundKind;
pub(crate) use attempt::ProofAttempt;
use axes::principal;
pub(crate) use cell::Cell;

/// The proven ball is larger by this share, to cover the rounding of coordinates.
pub(super) const ROOM: f64 = 1e-12;
/// The number of evaluations that a curvature bound counts as.
const CURVATURE_EVALUATIONS: usize = 5;

/// A quadratic bound is used only if its error is at most this share of the affine bound's error.
const MAX_QUADRATIC_ERROR_RATIO: f64 = 0.85;

/// Boxes are tried first, since they are faster where few are needed. After this many, parabolas take over if
/// boxes are predicted not to suffice within the evaluations that parabolas usually take.
const FEW_BOXES: usize = 32;
const PARABOLA_EVALUATIONS: usize = 3000;
/// This many evaluations without derivatives, or refinements of bounds, count as one evaluation.
const QUICK_PER_EVALUATION: usize = 4;

/// Proves lower bounds of margins, and counts the evaluations.
#[derive(Clone, Debug)]
pub(crate) struct Prover {
    pub affine: Affine,
    pub jets: Jets,
    pub(super) coordinates: Coordinates,
    pub(super) limit: usize,
    /// The start of the work, and when it must end.
    started: Instant,
    until: Option<Instant>,
    /// A proof is abandoned if its predicted work exceeds the rest of the budget by more than this
    /// factor.
    pub(super) patience: f64,
    curvatures: usize,
    /// The evaluations of proofs by parabolas and by phases.
    pub(super) other_evaluations: usize,
    may_use_parabolas: bool,
}

impl Prover {
    pub fn new(problem: &Problem, limit: usize) -> Self {
        Self {
            affine: Affine::default(),
            jets: Jets::default(),
            coordinates: Coordinates::of(problem),
            limit,
            started: Instant::now(),
            until: None,
            patience: f64::INFINITY,
            curvatures: 0,
            other_evaluations: 0,
            may_use_parabolas: true,
        }
    }

    /// The number of evaluations so far.
    pub fn evaluations(&self) -> usize {
        let quick = self.affine.refined + self.jets.values;
        self.affine.count
            + self.jets.count
            + CURVATURE_EVALUATIONS * self.curvatures
            + self.other_evaluations
            + quick / QUICK_PER_EVALUATION
    }

    /// Counts evaluations that were done elsewhere.
    pub fn count(&mut self, evaluations: usize) {
        self.jets.count += evaluations;
    }

    pub fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    /// Sets when the work must end, whatever the limit.
    pub fn set_end(&mut self, until: Option<Instant>) {
        self.until = until;
    }

    /// The number of evaluations that are left: up to the limit and, at the rate so far, up to the end.
    pub fn left(&self) -> usize {
        if cancel::is_cancelled() {
            return 0;
        }
        let left = self.limit.saturating_sub(self.evaluations());
        let Some(until) = self.until else { return left };
        let now = Instant::now();
        let rate = self.evaluations() as f64 / (now - self.started).as_secs_f64().max(1e-6);
        left.min((rate * until.saturating_duration_since(now).as_secs_f64()) as usize)
    }

    /// Sets the factor by which a proof's predicted work may exceed the rest of the budget before the
    /// proof is abandoned. With infinity it never is.
    pub fn set_patience(&mut self, patience: f64) {
        self.patience = patience;
    }

    /// Sets whether parabolas may take over where boxes are slow. If not, the proof is abandoned there.
    pub fn allow_parabolas(&mut self, may_use_parabolas: bool) {
        self.may_use_parabolas = may_use_parabolas;
    }

    pub fn is_spent(&self) -> bool {
        self.evaluations() >= self.limit
            || self.until.is_some_and(|until| Instant::now() >= until)
            || cancel::is_cancelled()
    }

    /// The search for the worst perturbation.
    pub fn search<'p>(composer: &Composer<'p>) -> Search<'p> {
        Search::new(composer.problem().uncertainty())
    }

    /// Tries to prove that the margin of a change is at least `required` on the whole ball. `starts` are
    /// perturbations from which the search for a break begins; for `thorough` see [`Prover::worst`].
    pub fn prove(
        &mut self,
        composer: &Composer<'_>,
        change: &[f64],
        required: f64,
        starts: &[Vec<f64>],
        thorough: bool,
    ) -> ProofAttempt {
        let graph = composer.in_perturbation(change, &self.coordinates);
        let search = Self::search(composer);
        let worst = self.worst(&graph, search, starts, thorough);
        let mut result = ProofAttempt {
            perturbation: self.coordinates.admissible(composer, &worst.at),
            upper: worst.value,
            lower: f64::NEG_INFINITY,
            coordinates: self.coordinates.clone(),
            pieces: Vec::new(),
            nodes: 1,
            doublings: Vec::new(),
            is_for_parabolas: false,
            parabolas: None,
        };
        if worst.value < required {
            return result;
        }
        let ball = Region::uncertain(composer.problem().uncertainty(), graph.inputs, ROOM);
        let bounded = self.affine.bound(&graph, &ball);
        let mut cell = Cell::new(&bounded, ball.clone());
        if cell.lower.is_nan() {
            cell.lower = f64::NEG_INFINITY;
        }
        if cell.lower < required {
            let origin = vec![0.0; graph.inputs];
            let curvature = bounded.curvature(&origin, &mut self.jets, false);
            self.tighten_by_curvature(&graph, &mut cell, curvature, &worst);
            if cell.lower < required {
                self.tighten_around_worst(&graph, &mut cell, &worst);
            }
        }
        if cell.lower >= required {
            result.lower = cell.lower;
            result.pieces.push(cell.piece());
            return result;
        }
        let radius = composer.problem().uncertainty().radius() * (1.0 + ROOM);
        let layers = if ball.is_round() { Layers::of(&graph, radius) } else { None };
        let has_phases = Self::has_phases(composer, &graph);
        let may_stop = layers.is_some() || has_phases;
        let is_slow = self.branch(composer, change, required, worst, cell, may_stop, &mut result);
        if is_slow && has_phases {
            self.prove_by_phases(composer, &graph, required, &mut result);
            return result;
        }
        result.is_for_parabolas = is_slow;
        if let Some(layers) = layers.filter(|_| result.is_for_parabolas && self.may_use_parabolas) {
            self.prove_by_parabolas(composer, &graph, &layers, required, &mut result);
        }
        result
    }

    /// The worst perturbation found by searches from the origin and from `starts`. If `thorough`, further
    /// searches start opposite to the first result and at the ends of up to eight axes.
    pub fn worst(
        &mut self,
        graph: &Graph<'_>,
        search: Search<'_>,
        starts: &[Vec<f64>],
        thorough: bool,
    ) -> Found {
        let origin = vec![0.0; graph.inputs];
        let mut best = search.descend(graph, &origin, f64::NEG_INFINITY, &mut self.jets);
        let mut more: Vec<Vec<f64>> = starts.iter().map(|d| self.coordinates.of_perturbation(d)).collect();
        if thorough {
            more.push(best.at.iter().map(|y| -y).collect());
            for i in 0..graph.inputs.min(8) {
                more.push(search.end(i, graph.inputs, if best.at[i] > 0.0 { -1.0 } else { 1.0 }));
            }
        }
        for start in more {
            let found = search.descend(graph, &start, f64::NEG_INFINITY, &mut self.jets);
            if found.value < best.value {
                best = found;
            }
        }
        best
    }

    /// Tightens the bound of a cell by a curvature bound around the worst perturbation.
    fn tighten_around_worst(&mut self, graph: &Graph<'_>, cell: &mut Cell, worst: &Found) {
        let curvature = self.affine.bound(graph, &cell.region).curvature(&worst.at, &mut self.jets, true);
        self.tighten_by_curvature(graph, cell, curvature, worst);
    }

    /// Tightens the bound of a cell by a curvature bound, if there is one: the quadratic lower bound of
    /// the margin that touches it at the worst perturbation.
    fn tighten_by_curvature(
        &mut self,
        graph: &Graph<'_>,
        cell: &mut Cell,
        curvature: Option<Curvature>,
        worst: &Found,
    ) {
        self.curvatures += 1;
        let Some(curvature) = curvature else { return };
        self.jets.evaluate(graph, &worst.at, Order::Value);
        if self.jets.on_a_kink(graph) {
            return;
        }
        // The margin at the point, with its rounding: an affine bound over the single point.
        let point = Region::cuboid(worst.at.clone(), worst.at.clone());
        let value = self.affine.bound(graph, &point).lower();
        let error =
            2.0 * graph.inputs as f64 * curvature.gradient_error * cell.region.longest_squared().sqrt();
        for matrix in &curvature.matrices {
            let quadratic = Quadratic { at: &worst.at, value, gradient: &worst.gradient, matrix };
            let bound = quadratic.lower(&cell.region) - error;
            // A bound that overflows proves nothing.
            if bound > cell.lower && bound.is_finite() {
                (cell.lower, cell.reason) = (bound, BoundKind::Curvature);
            }
        }
    }

    /// The coordinates in which boxes are split: for a Euclidean ball, those along the worst perturbation and
    /// the directions that cause most of the error of the affine bound.
    fn split_coordinates(&mut self, composer: &Composer<'_>, change: &[f64], worst: &Found) -> Coordinates {
        let uncertainty = composer.problem().uncertainty();
        if !uncertainty.set().is_round() {
            return self.coordinates.clone();
        }
        let graph = composer.in_perturbation(change, &self.coordinates);
        let ball = Region::uncertain(uncertainty, worst.at.len(), 0.0);
        let error_directions = self.affine.bound(&graph, &ball).error_directions();
        self.coordinates.turned(principal(worst, &error_directions))
    }

    /// Branch and bound over boxes. Returns whether it has stopped because too many boxes are predicted to be
    /// needed, which it does only if `may_stop`.
    #[expect(clippy::too_many_arguments, reason = "one caller")]
    fn branch(
        &mut self,
        composer: &Composer<'_>,
        change: &[f64],
        required: f64,
        worst: Found,
        root: Cell,
        may_stop: bool,
        result: &mut ProofAttempt,
    ) -> bool {
        let uncertainty = composer.problem().uncertainty();
        let n = worst.at.len();
        let coordinates = self.split_coordinates(composer, change, &worst);
        let graph = composer.in_perturbation(change, &coordinates);
        result.coordinates = coordinates.clone();
        let mut worst =
            Found { at: coordinates.of_perturbation(&self.coordinates.perturbation(&worst.at)), ..worst };
        let search = Self::search(composer);
        worst = search.descend(&graph, &worst.at, f64::NEG_INFINITY, &mut self.jets);
        let ball = Region::uncertain(uncertainty, n, ROOM);
        let bounded = self.affine.bound(&graph, &ball);
        let Cell { error_share, slope, .. } = Cell::new(&bounded, ball.clone());
        let mut heap = BinaryHeap::new();
        heap.push(Cell { region: ball, error_share, slope, ..root });
        let mut closed = f64::INFINITY;
        let mut number = 0;
        while let Some(cell) = heap.pop() {
            result.lower = cell.lower.min(closed);
            if result.nodes.is_power_of_two() {
                result.doublings.push(result.lower);
            }
            result.nodes += 1;
            if self.is_spent() {
                return false;
            }
            if may_stop && self.is_slow(result, required) {
                return true;
            }
            if self.is_hopeless(result, required) {
                return false;
            }
            // Every 16 cells, a search for a worse perturbation starts from the current cell.
            if result.nodes.is_multiple_of(16) {
                let mut start: Vec<f64> =
                    (0..n).map(|i| 0.5 * (cell.region.lower[i] + cell.region.upper[i])).collect();
                cell.region.project(&mut start);
                let found = search.descend(&graph, &start, required, &mut self.jets);
                if found.value < worst.value {
                    worst = found;
                    result.upper = worst.value;
                    result.perturbation = coordinates.admissible(composer, &worst.at);
                }
            }
            if worst.value < required {
                return false;
            }
            // A cell that cannot be split stays open, so the proof ends here.
            let Some(halves) = self.halves(&graph, &cell, required) else { return false };
            for mut half in halves {
                if half.lower < required && half.region.contains(&worst.at) {
                    let nearest = half.region.nearest();
                    if nearest.iter().map(|y| y * y).sum::<f64>().sqrt() > 0.3 * uncertainty.radius() {
                        self.tighten_around_worst(&graph, &mut half, &worst);
                    }
                }
                number += 1;
                half.number = number;
                if half.lower >= required {
                    closed = closed.min(half.lower);
                    result.pieces.push(half.piece());
                } else {
                    heap.push(half);
                }
            }
        }
        result.lower = closed;
        false
    }

    /// Whether boxes are predicted to take longer than parabolas usually do.
    fn is_slow(&self, result: &ProofAttempt, required: f64) -> bool {
        let last = result.nodes - 1;
        last >= FEW_BOXES
            && last.is_power_of_two()
            && result.upper - result.gap_after(PARABOLA_EVALUATIONS) < required
    }

    /// Whether the rest of the budget is predicted not to suffice, by extrapolating the last doublings of
    /// the number of cells.
    fn is_hopeless(&self, result: &ProofAttempt, required: f64) -> bool {
        let last = result.nodes - 1;
        if last < 256 || !last.is_power_of_two() || self.patience == f64::INFINITY {
            return false;
        }
        let left = self.left() as f64 * self.patience;
        result.upper - result.gap_after(left as usize) < required
    }

    /// Bounds a cell by an affine bound, refined where it is lowest, or by a quadratic one.
    fn bound(&mut self, graph: &Graph<'_>, region: Region, required: f64) -> Cell {
        let mut bounded = self.affine.bound(graph, &region);
        let mut cell = Cell::new(&bounded, region.clone());
        let error = bounded.plane.error;
        if cell.lower < required || cell.lower.is_nan() {
            self.jets.evaluate(graph, &region.lowest(&cell.slope), Order::Value);
            if let Some(better) = bounded.refine(&self.jets) {
                let bound = better.lower(&region);
                if bound > cell.lower || cell.lower.is_nan() {
                    (cell.slope, cell.lower) = (better.linear, bound);
                }
            }
        }
        if (cell.lower < required || cell.lower.is_nan())
            && let Some(quadratic) = bounded.quadratic()
            && quadratic.error() < MAX_QUADRATIC_ERROR_RATIO * error
        {
            let (bound, slope) = quadratic.lower(required);
            if bound.is_finite() && (bound > cell.lower || cell.lower.is_nan()) {
                let error_share = quadratic.error_share();
                cell = Cell { lower: bound, reason: BoundKind::Quadratic, error_share, slope, ..cell };
            }
        }
        cell
    }

    /// The halves of a cell, split where their bounds are predicted to be best. `None` if it cannot be
    /// split.
    fn halves(&mut self, graph: &Graph<'_>, cell: &Cell, required: f64) -> Option<Vec<Cell>> {
        let (axis, at) = cell.region.best_cut(&cell.slope, &cell.error_share, required - cell.lower)?;
        let mut halves = Vec::with_capacity(2);
        // A half that does not meet the ball needs no bound.
        for region in cell.region.split(axis, at).into_iter().flatten() {
            let mut half = self.bound(graph, region, required);
            // A bound of the cell is a bound of its half.
            if half.lower <= cell.lower || half.lower.is_nan() {
                (half.lower, half.reason) = (cell.lower, cell.reason);
            }
            halves.push(half);
        }
        Some(halves)
    }
}
