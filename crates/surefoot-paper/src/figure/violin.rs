//! Violin plots: the distribution of positive numbers on a logarithmic axis.

use super::canvas::{Canvas, INK, Place, Stroke};
use super::panel::Panel;

/// Points of an outline.
const OUTLINE: usize = 60;

/// The minimum bandwidth, as a share of the axis: a sample of equal numbers becomes a thin lens.
const NARROWEST: f64 = 0.006;

/// Violins in groups along the horizontal axis.
#[derive(Clone, Debug, Default)]
pub(crate) struct Violins {
    /// The title of the panel.
    pub title: String,
    /// The label of the horizontal axis.
    pub below: String,
    /// The label of the vertical axis.
    pub beside: String,
    /// The groups, from the left.
    pub groups: Vec<Group>,
}

/// A group of violins.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// Its name.
    pub name: String,
    /// The numbers of each violin, with its colour.
    pub violins: Vec<(&'static str, Vec<f64>)>,
    /// The position of a dashed line across it.
    pub line: Option<f64>,
}

impl Violins {
    /// The range of all numbers, in powers of ten.
    pub fn range(&self) -> Option<(f64, f64)> {
        let all = self.groups.iter().flat_map(|Group { violins, line, .. }| {
            violins.iter().flat_map(|(_, values)| values.iter().copied()).chain(*line)
        });
        super::range(all.filter(|value| *value > 0.0).map(f64::log10))
            .map(|(low, high)| (low - 0.25, high + 0.25))
    }

    /// Draws the violins on a panel and sets its horizontal range to the groups.
    pub fn draw(&self, canvas: &mut Canvas, mut panel: Panel) {
        panel.x = (0.0, self.groups.len() as f64);
        panel.numbers(canvas, true);
        for (number, Group { name, violins, line }) in self.groups.iter().enumerate() {
            let start = number as f64;
            if let Some(level) = line {
                let y = level.log10();
                let ends = (panel.at((start + 0.04, y)), panel.at((start + 0.96, y)));
                canvas.line(ends.0, ends.1, INK, 1.2, Stroke::Dashed);
            }
            let slot = 0.9 / violins.len() as f64;
            for (k, (colour, values)) in violins.iter().enumerate() {
                violin(canvas, &panel, start + 0.05 + slot * (k as f64 + 0.5), 0.46 * slot, colour, values);
            }
            let at = panel.at((start + 0.5, panel.y.0));
            canvas.text((at.0, at.1 + 17.0), name, 11, Place::Centre, false);
        }
        panel.axes(canvas);
        panel.words(canvas, &self.title, &self.below, &self.beside);
    }
}

/// One violin around a place of the horizontal axis: the density of the logarithms, by Gaussian kernels
/// with Silverman's bandwidth, truncated to the range of the numbers; a line marks the median.
fn violin(canvas: &mut Canvas, panel: &Panel, middle: f64, half: f64, colour: &str, values: &[f64]) {
    let mut logs: Vec<f64> = values.iter().filter(|v| **v > 0.0).map(|v| v.log10()).collect();
    logs.sort_by(f64::total_cmp);
    let (Some(&low), Some(&high)) = (logs.first(), logs.last()) else { return };
    let count = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / count;
    let deviation = (logs.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / count).sqrt();
    let narrowest = NARROWEST * (panel.y.1 - panel.y.0);
    let bandwidth = (1.06 * deviation * count.powf(-0.2)).max(narrowest);
    // The density is truncated to the range of the numbers, unless they are nearly equal.
    let extra = (narrowest - 0.5 * (high - low)).max(0.0);
    let (low, high) = (low - extra, high + extra);
    let density = |y: f64| logs.iter().map(|v| (-0.5 * ((y - v) / bandwidth).powi(2)).exp()).sum::<f64>();
    let levels: Vec<f64> =
        (0..OUTLINE).map(|k| low + (high - low) * k as f64 / (OUTLINE - 1) as f64).collect();
    let densities: Vec<f64> = levels.iter().map(|&y| density(y)).collect();
    let most = densities.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let side = |s: f64| -> Vec<(f64, f64)> {
        let each = levels.iter().zip(&densities);
        each.map(|(&y, d)| panel.at((middle + s * half * d / most, y))).collect()
    };
    let mut outline = side(-1.0);
    outline.extend(side(1.0).into_iter().rev());
    canvas.polygon(&outline, colour, 0.75, Some(colour));
    let median = logs[logs.len() / 2];
    let (a, b) = (panel.at((middle - 0.6 * half, median)), panel.at((middle + 0.6 * half, median)));
    canvas.line(a, b, INK, 1.4, Stroke::Solid);
}
