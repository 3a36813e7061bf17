//! A coarse grid over all actions of an individual, to exclude hopeless ones before the descent.

use super::Run;
use crate::Result;
use crate::classifier::Precision;
use crate::network::{LANES, Lanes};

/// The number of cells along each axis of the grid of [`Run::is_promising`], for one, two and three
/// features.
const GRID: [usize; 3] = [64, 16, 8];
/// The widest cell, in standardised units, over which the margin is extrapolated by its slope.
const WIDEST: f64 = 0.75;
/// The number of parts along each axis into which an open cell is divided, and the largest number of open
/// cells that are divided.
const FINER: usize = 4;
const MOST_OPEN: usize = 64;

impl Run<'_> {
    /// Whether some action might work, judged by a grid over all actions. At the middle of each cell the
    /// margins are extrapolated by their slopes over the cell. Cells in which they might reach the
    /// boundary are divided by four along each axis and checked again.
    ///
    /// Always true for more than three features, or where the limits are so wide that slopes say little
    /// about a cell.
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

    /// The corners of those cells of a grid, with `points` cells along each axis, in which the margins
    /// might reach the boundary. `None` if they do at the middle of some cell.
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
                // Six times the change over half a cell: the margin is curved, and the worst known
                // perturbation may jump from one cell to the next. A margin that is NaN leaves the cell
                // open.
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
