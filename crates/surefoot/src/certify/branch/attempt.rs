//! What an attempt to prove a margin found, and what more work is predicted to find.

use crate::margin::Coordinates;
use crate::proof::Piece;

/// The approximate number of evaluations to split a cell and to bound its halves.
const EVALUATIONS_OF_A_CELL: f64 = 5.0;
/// After this many evaluations the gap of a proof by parabolas is about half of that of its first cell.
/// Measured for networks with two hidden layers of a hundred units.
const EVALUATIONS_OF_A_HALVING: f64 = 800.0;

/// The result of an attempt to prove a lower bound of the margin.
#[derive(Clone, Debug)]
pub(crate) struct ProofAttempt {
    /// The worst perturbation found.
    pub perturbation: Vec<f64>,
    /// The margin there, as the graph computes it.
    pub upper: f64,
    /// The proven lower bound of the margin; minus infinity where nothing was proven.
    pub lower: f64,
    pub coordinates: Coordinates,
    pub pieces: Vec<Piece>,
    /// The number of cells processed.
    pub nodes: usize,
    /// The proven bound when 1, 2, 4, ... cells had been processed.
    pub doublings: Vec<f64>,
    /// Whether boxes were given up because parabolas are predicted to need less work.
    pub is_for_parabolas: bool,
    /// The number of evaluations of a proof by parabolas after its first cell, if it came so far.
    pub parabolas: Option<usize>,
}

impl ProofAttempt {
    /// Predicts the gap between the worst margin found and the proven bound after `evaluations` more
    /// evaluations: the gap of boxes shrinks by about the same factor with every doubling of the cells, that
    /// of parabolas in inverse proportion to the work. Zero if the worst margin found was too low for any
    /// bound to be tried.
    pub fn gap_after(&self, evaluations: usize) -> f64 {
        let gap = |lower: f64| self.upper - lower;
        if self.lower == f64::NEG_INFINITY && self.doublings.is_empty() {
            return 0.0;
        }
        if let Some(parabolas) = self.parabolas {
            let before = EVALUATIONS_OF_A_HALVING + parabolas as f64;
            return gap(self.lower) * before / (before + evaluations as f64);
        }
        let [.., before, _, last] = self.doublings[..] else { return gap(self.lower) };
        let share = (gap(last) / gap(before)).powf(0.75).clamp(0.5, 0.98);
        let more = evaluations as f64 / EVALUATIONS_OF_A_CELL / (1usize << (self.doublings.len() - 1)) as f64;
        gap(last) * share.powf((1.0 + more).log2())
    }
}
