//! Bars in groups, beside each other or on top of each other.

use super::canvas::{Canvas, INK, Place, Stroke};
use super::panel::Panel;

/// A bar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bar {
    /// Its colour.
    pub colour: &'static str,
    /// Its height; `None` if it is unknown.
    pub value: Option<f64>,
    /// Half the length of the error bar at its end.
    pub deviation: f64,
    /// The published number, drawn as a mark.
    pub published: Option<f64>,
}

/// Bars in groups along the horizontal axis.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bars {
    /// The title of the panel.
    pub title: String,
    /// The label of the vertical axis.
    pub beside: String,
    /// The groups: the name of each, and its bars.
    pub groups: Vec<(String, Vec<Bar>)>,
}

impl Bars {
    /// Draws the bars on a panel and sets its horizontal range to the groups.
    pub fn draw(&self, canvas: &mut Canvas, mut panel: Panel) {
        panel.x = (0.0, self.groups.len() as f64);
        panel.numbers(canvas, false);
        for (number, (name, bars)) in self.groups.iter().enumerate() {
            let slot = 0.84 / bars.len() as f64;
            for (k, bar) in bars.iter().enumerate() {
                let left = number as f64 + 0.08 + slot * k as f64;
                let (middle, right) = (left + 0.46 * slot, left + 0.92 * slot);
                if let Some(value) = bar.value {
                    let (corner, foot) = (panel.at((left, value)), panel.at((right, panel.y.0)));
                    canvas.rectangle(corner, (foot.0 - corner.0, foot.1 - corner.1), bar.colour, 0.9);
                    if bar.deviation > 0.0 {
                        let top = (value + bar.deviation).min(panel.y.1);
                        let ends = [panel.at((middle, value - bar.deviation)), panel.at((middle, top))];
                        canvas.line(ends[0], ends[1], INK, 1.2, Stroke::Solid);
                    }
                }
                if let Some(published) = bar.published {
                    canvas.diamond(panel.at((middle, published)));
                }
            }
            label(canvas, &panel, number, name);
        }
        panel.axes(canvas);
        panel.words(canvas, &self.title, "", &self.beside);
    }
}

/// Stacked bars, the parts of which add up to one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stacks {
    /// The title of the panel.
    pub title: String,
    /// The label of the vertical axis.
    pub beside: String,
    /// The groups: the name of each, and its bars.
    pub groups: Vec<(String, Vec<Stack>)>,
}

/// The parts of a bar from the bottom to the top: colour and share.
pub(crate) type Stack = Vec<(&'static str, f64)>;

impl Stacks {
    /// Draws the bars on a panel and sets its ranges to the groups and to shares.
    pub fn draw(&self, canvas: &mut Canvas, mut panel: Panel) {
        panel.x = (0.0, self.groups.len() as f64);
        panel.y = (0.0, 1.0);
        panel.numbers(canvas, false);
        for (number, (name, stacks)) in self.groups.iter().enumerate() {
            let slot = 0.84 / stacks.len() as f64;
            for (k, parts) in stacks.iter().enumerate() {
                let left = number as f64 + 0.08 + slot * k as f64;
                let mut below = 0.0;
                for (colour, share) in parts {
                    let (corner, foot) =
                        (panel.at((left, below + share)), panel.at((left + 0.92 * slot, below)));
                    canvas.rectangle(corner, (foot.0 - corner.0, foot.1 - corner.1), colour, 0.9);
                    below += share;
                }
            }
            label(canvas, &panel, number, name);
        }
        panel.axes(canvas);
        panel.words(canvas, &self.title, "", &self.beside);
    }
}

fn label(canvas: &mut Canvas, panel: &Panel, number: usize, name: &str) {
    let at = panel.at((number as f64 + 0.5, panel.y.0));
    canvas.text((at.0, at.1 + 17.0), name, 11, Place::Centre, false);
}
