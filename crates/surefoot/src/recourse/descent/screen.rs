//! A look at all actions of an individual before descending: might one of them work?

use super::Run;
use crate::Result;
use crate::classifier::Precision;
use crate::network::{LANES, Lanes};

/// Cells along each axis of the grid of a [screen](Run::is_promising), for one feature, two
/// and three.
const GRID: [usize; 3] = [64, 16, 8];
/// The widest cell, in standardised units, over which slopes are trusted.
const WIDEST: f64 = 0.75;
/// How often a cell that is open is divided along each axis, and how many are at most.
const FINER: usize = 4;
const MOST_OPEN: usize = 64;

impl Run<'_> {
    /// Whether some action might work, from a grid over all of them. At each point the margins
    /// are extrapolated by their slopes over the cell around it; cells in which they might then
    /// reach the boundary are looked at once more, four times as closely.
    ///
    /// Always so where there are more than three features or so much room that cells would be
    /// wide, since slopes then say little.
    pub(super) fn is_promising(&mut self, person: usize) -> Result<bool> {
        let count = self.change.len();
        (0..LANES).try_for_each(|lane| self.start(lane, person))?;
        let bounds: Vec<(f64, f64)> = self.limits.iter().map(|(low, high)| (low.0[0], high.0[0])).collect();
        let Some(&points) = count.checked_sub(1).and_then(|k| GRID.get(k)) else { return Ok(true) };
        let cell: Vec<f64> = bounds.iter().map(|(low, high)| (high - low) / points as f64).collect();
        if cell.iter().any(|&width| width > WIDEST) {
            return Ok(true);
        }
        let corner: Vec<f64> = bounds.iter().map(|(low, _)| *low).collect();
        let Some(open) = self.open_cells(&corner, &cell, points) else { return Ok(true) };
        let fine: Vec<f64> = cell.iter().map(|h| h / FINER as f64).collect();
        let resolved =
            |cell: Vec<f64>| self.open_cells(&cell, &fine, FINER).is_some_and(|open| open.is_empty());
        Ok(open.len() > MOST_OPEN || !open.into_iter().all(resolved))
    }

    /// Of a grid of so many cells along each axis, the corners of those in which the margins
    /// might reach the boundary; nothing if they do so for certain.
    fn open_cells(&mut self, corner: &[f64], cell: &[f64], points: usize) -> Option<Vec<Vec<f64>>> {
        let count = self.change.len();
        let total = points.pow(count as u32);
        let corner_of =
            |number: usize, k: usize| corner[k] + cell[k] * (number / points.pow(k as u32) % points) as f64;
        let mut open = Vec::new();
        for first in (0..total).step_by(LANES) {
            for k in 0..count {
                self.change[k] = Lanes::from_fn(|l| corner_of((first + l).min(total - 1), k) + 0.5 * cell[k]);
            }
            let (plain, perturbed) = self.evaluate(Precision::Single);
            for lane in 0..LANES.min(total - first) {
                let margin = plain.0[lane].min(perturbed.0[lane]);
                if margin >= 0.0 {
                    return None;
                }
                // Six times what half a cell amounts to: the margin is curved, and the worst
                // perturbation known may jump from one cell to the next. Where it cannot be
                // computed nothing is known.
                let slopes = self.quick.gradient.iter().zip(cell);
                let reach: f64 = slopes.map(|(slope, h)| 3.0 * (slope.0[lane] * h).abs()).sum();
                let hopeless = margin + reach < 0.0;
                if !hopeless {
                    open.push((0..count).map(|k| corner_of(first + lane, k)).collect());
                }
            }
        }
        Some(open)
    }
}
