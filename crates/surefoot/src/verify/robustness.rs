//! Verifies that an action holds for every perturbation, by pieces that cover the ball.

use nalgebra::DVector;

use super::ball::Ball;
use super::cover::{Covered, Sides, covered};
use super::parabolas;
use super::phases::Relus;
use super::prove::{Claim, Work, agrees, at_least};
use super::tanh_network::Units;
use super::tape::Tape;
use super::zone::Zone;
use super::{Fault, Stop, TOLERANCE};
use crate::graph::Graph;
use crate::margin::margin;
use crate::margin::{Composer, Coordinates};
use crate::proof::{BoundKind, Cell, Cover, PhaseNode, Piece, SavedProof};
use crate::{Action, Problem, Recourse};

/// The covered ball is larger than that of the problem by this share, which allows for the rounding of
/// weights and for a basis that is orthogonal only up to rounding.
const ROOM: f64 = 5e-13;

/// The verified properties of an action that holds.
pub(super) struct Held {
    pub margin: f64,
    pub pieces: usize,
}

/// Verifies that the margin of the action found is at least the stated one, for one variant of the problem.
pub(super) fn holds(
    problem: &Problem,
    saved: &SavedProof,
    found: &Recourse,
    cover: &Cover,
    work: &mut Work,
) -> Result<Held, Stop> {
    let coordinates = coordinates(problem, cover)?;
    let composer = Composer::new(problem, &saved.individual, &found.action.features)?;
    let graph = composer.in_perturbation(&found.action.change, &coordinates);
    let tape = Tape::new(&graph);
    let width = problem.perturbation_width();
    let (ball, reach) = Ball::of_uncertainty(problem.uncertainty(), width, ROOM);
    let whole: Sides = (reach.iter().map(|end| -end).collect(), reach);
    let zone = |(lower, upper): &Sides| Zone::new(lower.clone(), upper.clone(), ball.clone());
    let definition = |y: &[f64]| {
        let perturbation = admissible(problem, &coordinates, y);
        let margin = margin(problem, &saved.individual, &found.action, &perturbation).ok()?;
        Some((perturbation, margin))
    };
    let is_of_trees = !cover.pieces.is_empty() && cover.pieces.iter().all(|p| p.reason == BoundKind::Trees);
    if let Some(zone) = zone(&whole).filter(|_| !is_of_trees) {
        agrees(&tape, &zone, 16, |y| definition(y).map(|(_, margin)| (margin, 0.0)))?;
    }
    let refuted = |y: &[f64]| {
        let (perturbation, margin) = definition(y)?;
        let stated = found.margin;
        (margin < stated - TOLERANCE || margin < 0.0).then_some(Fault::Broken {
            perturbation,
            margin,
            stated,
        })
    };
    if let Some(fault) = refuted(&cover.worst) {
        return Err(Stop::Wrong(fault));
    }
    let pieces: Vec<Sides> =
        cover.pieces.iter().map(|piece| (piece.lower.clone(), piece.upper.clone())).collect();
    let used = match covered(&pieces, &[], whole.clone(), |part| zone(part).is_some()) {
        Covered::By(used) => used,
        Covered::Not((lower, upper)) => {
            let middle: Vec<f64> = lower.iter().zip(&upper).map(|(l, u)| 0.5 * (l + u)).collect();
            return Err(Stop::Wrong(Fault::BallNotCovered { at: middle }));
        }
        Covered::Unknown => return Err(Stop::Unverified(Fault::CoverTooLarge { parts: pieces.len() })),
    };
    let below =
        |(number, piece): (usize, &Piece)| (used[number] && piece.margin < found.margin).then_some(number);
    if let Some(piece) = cover.pieces.iter().enumerate().find_map(below) {
        let (margin, stated) = (cover.pieces[piece].margin, found.margin);
        return Err(Stop::Wrong(Fault::PieceBelow { piece, margin, stated }));
    }
    if is_of_trees && let Some(held) = super::trees::holds(problem, saved, found, work) {
        return held;
    }
    let mut held = Held { margin: f64::INFINITY, pieces: 0 };
    for (number, piece) in cover.pieces.iter().enumerate().filter(|(number, _)| used[*number]) {
        let wanted = (found.margin - TOLERANCE).max(0.0);
        let unverified = |bound: f64| Fault::Piece { piece: number, bound, stated: found.margin };
        if !piece.cells.is_empty() {
            let radius = ball.as_ref().and_then(Ball::longest);
            let proven = by_parabolas(&graph, &tape, radius, &piece.cells, wanted, work);
            proven.map_err(|bound| Stop::Unverified(unverified(bound)))?;
            held.margin = held.margin.min(wanted);
            held.pieces += piece.cells.len();
            continue;
        }
        if !piece.phases.is_empty() {
            let proven = match zone(&whole) {
                Some(zone) => by_phases(&graph, &tape, &zone, &piece.phases, wanted, work),
                None => Err(f64::NEG_INFINITY),
            };
            proven.map_err(|bound| Stop::Unverified(unverified(bound)))?;
            held.margin = held.margin.min(wanted);
            held.pieces += piece.phases.len();
            continue;
        }
        let lower = piece.lower.iter().zip(&whole.0).map(|(&end, &limit)| end.max(limit)).collect();
        let upper = piece.upper.iter().zip(&whole.1).map(|(&end, &limit)| end.min(limit)).collect();
        let sides = (lower, upper);
        let Some(zone) = zone(&sides) else { continue };
        let claim = Claim { wanted, lowest: Some(&cover.worst), refuted: &refuted, unverified: &unverified };
        held.margin = held.margin.min(at_least(&tape, zone, &claim, work)?);
        held.pieces += 1;
    }
    Ok(held)
}

/// Proves by parabolas that the margin is at least `wanted` on the whole ball of a radius. The units that are
/// bounded must agree with the tape. Returns the bound that was reached where that fails.
fn by_parabolas(
    graph: &Graph<'_>,
    tape: &Tape<'_>,
    radius: Option<f64>,
    cells: &[Cell],
    wanted: f64,
    work: &mut Work,
) -> Result<(), f64> {
    let units = radius.and_then(|radius| Units::of(graph, radius));
    let (Some(units), Some(radius)) = (units, radius) else { return Err(f64::NEG_INFINITY) };
    for i in 0..graph.inputs {
        let y: Vec<f64> = (0..graph.inputs).map(|j| if i == j { radius } else { 0.0 }).collect();
        let (expected, found) = (tape.value(&y), units.value(&DVector::from_column_slice(&y)));
        if !((expected - found).abs() <= 1e-9 * expected.abs().max(1.0)) {
            return Err(f64::NEG_INFINITY);
        }
    }
    parabolas::at_least(&units, radius, cells, wanted, work)
}

/// Proves by the phases of relu units that the margin is at least `wanted` on a zone. The network that is bounded must
/// agree with the tape. Returns the bound that was reached where that fails.
fn by_phases(
    graph: &Graph<'_>,
    tape: &Tape<'_>,
    zone: &Zone,
    nodes: &[PhaseNode],
    wanted: f64,
    work: &mut Work,
) -> Result<(), f64> {
    let relus = Relus::of(graph, zone).ok_or(f64::NEG_INFINITY)?;
    for i in 0..graph.inputs {
        let mut y = zone.nearest();
        y[i] = zone.upper[i];
        let (expected, found) = (tape.value(&y), relus.value(&y));
        if !((expected - found).abs() <= 1e-9 * expected.abs().max(1.0)) {
            return Err(f64::NEG_INFINITY);
        }
    }
    relus.at_least(zone, nodes, wanted, work)
}

/// The coordinates of the pieces. For every perturbation D of the ball there is a y with
/// `D = basis y / w`. Its length is at most `epsilon / sqrt(1 - d)` if no entry of `basis^T basis - 1`
/// exceeds `d / n` in absolute value, which [`ROOM`] covers.
fn coordinates(problem: &Problem, cover: &Cover) -> Result<Coordinates, Stop> {
    let coordinates = Coordinates::of(problem);
    if cover.basis.is_empty() {
        return Ok(coordinates);
    }
    let n = problem.perturbation_width();
    let (ball, _) = Ball::of_uncertainty(problem.uncertainty(), n, ROOM);
    let mut error = if ball.as_ref().is_some_and(Ball::is_round) { 0.0f64 } else { f64::INFINITY };
    for i in 0..n {
        for j in 0..n {
            let product: f64 = (0..n).map(|k| cover.basis[k * n + i] * cover.basis[k * n + j]).sum();
            let expected = if i == j { 1.0 } else { 0.0 };
            error = error.max(n as f64 * (product - expected).abs());
        }
    }
    if !(error <= 0.8 * ROOM) {
        return Err(Stop::Wrong(Fault::Basis { error }));
    }
    Ok(coordinates.turned(cover.basis.clone()))
}

/// The perturbation with given coordinates, scaled down if it is larger than the uncertainty.
fn admissible(problem: &Problem, coordinates: &Coordinates, y: &[f64]) -> Vec<f64> {
    let mut perturbation = coordinates.perturbation(y);
    let uncertainty = problem.uncertainty();
    let size = uncertainty.size(&perturbation);
    if size > uncertainty.radius() {
        let shrink = uncertainty.radius() / size * (1.0 - 2.0 * f64::EPSILON);
        perturbation.iter_mut().for_each(|d| *d *= shrink);
    }
    perturbation
}

/// Verifies that an action is feasible: on actionable features, within limits and directions.
pub(super) fn verify_feasible(problem: &Problem, individual: &[f64], action: &Action) -> Result<(), Stop> {
    for (&i, &change) in action.features.iter().zip(&action.change) {
        let feature = problem.features().feature(i);
        let (lower, upper) = super::effort::allowed_change(problem, individual, i);
        if !(feature.is_actionable() && change >= lower && change <= upper) {
            let feature = feature.name.clone();
            return Err(Stop::Wrong(Fault::Infeasible { feature, change, lower, upper }));
        }
    }
    super::integer::verify_integers(problem, individual, action)
}
