//! Figures, as SVG or PNG: the one place that knows the plotting library.

pub(crate) mod canvas;
pub(crate) mod panel;
pub(crate) mod violin;
pub(crate) mod bars;
pub mod illustration;

use std::path::Path;
use std::sync::Arc;

use kuva::plot::{LinePlot, ScatterPlot};
use kuva::render::layout::{Layout, TickFormat};
use kuva::render::plots::Plot;

pub use canvas::Canvas;

use surefoot::file::{Audience, write_atomically};

/// The palette of Okabe and Ito, whose colours are distinguishable in print and for colour-blind readers.
pub(crate) const COLOURS: [&str; 6] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"];

/// Points per unit of length of a PNG.
const SCALE: f32 = 2.0;

/// The factor by which a logarithmic axis extends beyond its points.
const MARGIN_LOG: f64 = 1.3;

/// The share of its length by which a linear axis extends beyond its points.
const MARGIN: f64 = 0.02;

/// The minimum and the maximum.
fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |range, value| match range {
        None => Some((value, value)),
        Some((low, high)) => Some((value.min(low), value.max(high))),
    })
}

fn padded((low, high): (f64, f64)) -> (f64, f64) {
    let margin = if high > low { MARGIN * (high - low) } else { 0.5 };
    (low - margin, high + margin)
}

/// The label of a number on an axis, such as `0.02` or `3`; powers of ten only where they are shorter.
fn tick(value: f64) -> String {
    if value.abs() < 1e-12 {
        return "0".into();
    }
    if !(1e-4..1e6).contains(&value.abs()) {
        return format!("{value:.0e}");
    }
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').into()
}

/// A line chart.
#[derive(Clone, Debug, Default)]
pub struct LineChart {
    /// The title.
    pub title: String,
    /// The label of the horizontal axis.
    pub x_label: String,
    /// The label of the vertical axis.
    pub y_label: String,
    /// Whether the horizontal axis is logarithmic.
    pub log_x: bool,
    /// The range of the vertical axis; `None` fits it to the points.
    pub y_range: Option<(f64, f64)>,
    /// The lines, with their names in the legend and their points in order.
    pub lines: Vec<(String, Vec<(f64, f64)>)>,
}

impl LineChart {
    fn parts(&self) -> (Vec<Plot>, Layout) {
        let mut plots: Vec<Plot> = Vec::new();
        for (number, (name, points)) in self.lines.iter().enumerate() {
            let colour = COLOURS[number % COLOURS.len()];
            let line = LinePlot::new().with_data(points.clone()).with_color(colour);
            plots.push(line.with_stroke_width(2.0).with_legend(name.clone()).into());
            plots.push(ScatterPlot::new().with_data(points.clone()).with_color(colour).with_size(4.0).into());
        }
        let mut layout = Layout::auto_from_plots(&plots)
            .with_width(560.0)
            .with_height(340.0)
            .with_title(self.title.clone())
            .with_x_label(self.x_label.clone())
            .with_y_label(self.y_label.clone())
            .with_tick_format(TickFormat::Custom(Arc::new(tick)));
        // Points at the ends of an axis stay clear of its frame.
        let points = || self.lines.iter().flat_map(|(_, points)| points);
        if let Some((low, high)) = range(points().map(|point| point.0)) {
            let (low, high) = match self.log_x {
                true => (low / MARGIN_LOG, high * MARGIN_LOG),
                false => padded((low, high)),
            };
            layout = layout.with_x_axis_min(low).with_x_axis_max(high);
        }
        if self.log_x {
            layout = layout.with_log_x();
        }
        if let Some(range) = self.y_range.or_else(|| range(points().map(|point| point.1))) {
            let (low, high) = padded(range);
            layout = layout.with_y_axis_min(low).with_y_axis_max(high);
        }
        (plots, layout)
    }

    /// The chart as SVG.
    pub fn svg(&self) -> String {
        let (plots, layout) = self.parts();
        kuva::render_to_svg(plots, layout)
    }

    /// Writes the chart as PNG if the name ends in `.png`, otherwise as SVG,
    /// atomically.
    pub fn write(&self, path: &Path) -> std::io::Result<()> {
        let png = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("png"));
        let bytes = if png {
            let (plots, layout) = self.parts();
            kuva::render_to_png(plots, layout, SCALE).map_err(std::io::Error::other)?
        } else {
            self.svg().into_bytes()
        };
        write_atomically(path, &bytes, Audience::Umask)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_of_one_style() {
        let values = [0.0, 0.01, 0.02, 0.1 + 0.2, 1.0, 1500.0, -2.5, 2e-7];
        assert_eq!(values.map(tick), ["0", "0.01", "0.02", "0.3", "1", "1500", "-2.5", "2e-7"]);
    }

    #[test]
    fn a_chart_has_its_words_and_is_written_whole() {
        let chart = LineChart {
            title: "Trade-off".into(),
            x_label: "weight".into(),
            y_label: "share".into(),
            log_x: true,
            y_range: Some((0.0, 1.0)),
            lines: vec![
                ("accuracy".into(), vec![(0.01, 0.8), (0.1, 0.78), (3.0, 0.7)]),
                ("robust".into(), vec![(0.01, 0.3), (0.1, 0.6), (3.0, 1.0)]),
            ],
        };
        let svg = chart.svg();
        for word in ["Trade-off", "weight", "share", "accuracy", "robust"] {
            assert!(svg.contains(word), "{word}");
        }
        let folder = tempfile::tempdir().unwrap();
        for (name, start) in [("a.svg", &b"<svg"[..]), ("a.png", &b"\x89PNG"[..])] {
            let path = folder.path().join(name);
            chart.write(&path).unwrap();
            let bytes = std::fs::read(&path).unwrap();
            assert!(bytes.windows(start.len()).any(|window| window == start), "{name}");
        }
        assert!(chart.write(&folder.path().join("missing/a.svg")).is_err());
        // The file has the permissions of any other file.
        let mode = |name: &str| std::fs::metadata(folder.path().join(name)).unwrap().permissions();
        std::fs::write(folder.path().join("other"), "").unwrap();
        assert_eq!(mode("a.svg"), mode("other"));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
        if let Ok(out) = std::env::var("SUREFOOT_TEST_FIGURE") {
            chart.write(Path::new(&out)).unwrap();
        }
    }
}
