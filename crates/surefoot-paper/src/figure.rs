//! Figures, as SVG or PNG: the one place that knows the plotting library.

use std::io::Write;
use std::path::Path;

use kuva::plot::{LinePlot, ScatterPlot};
use kuva::render::layout::{Layout, TickFormat};
use kuva::render::plots::Plot;

/// Colours that stay apart in print and for the colour-blind (Okabe and Ito).
const COLOURS: [&str; 6] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"];

/// Points per unit of length of a PNG.
const SCALE: f32 = 2.0;

/// Lines through points.
#[derive(Clone, Debug, Default)]
pub struct LineChart {
    /// Above the chart.
    pub title: String,
    /// Below the horizontal axis.
    pub x_label: String,
    /// Beside the vertical axis.
    pub y_label: String,
    /// Whether the horizontal axis is logarithmic.
    pub log_x: bool,
    /// The range of the vertical axis; otherwise it fits the points.
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
            .with_tick_format(TickFormat::Auto);
        if self.log_x {
            layout = layout.with_log_x();
        }
        if let Some((low, high)) = self.y_range {
            layout = layout.with_y_axis_min(low).with_y_axis_max(high);
        }
        (plots, layout)
    }

    /// The chart as SVG.
    pub fn svg(&self) -> String {
        let (plots, layout) = self.parts();
        kuva::render_to_svg(plots, layout)
    }

    /// Writes the chart as PNG if the name ends in `.png`, otherwise as SVG; aside first, so
    /// that half a file is never left.
    pub fn write(&self, path: &Path) -> std::io::Result<()> {
        let png = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("png"));
        let bytes = if png {
            let (plots, layout) = self.parts();
            kuva::render_to_png(plots, layout, SCALE).map_err(std::io::Error::other)?
        } else {
            self.svg().into_bytes()
        };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let mut file = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
        file.write_all(&bytes)?;
        file.persist(path)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        if let Ok(out) = std::env::var("SUREFOOT_TEST_FIGURE") {
            chart.write(Path::new(&out)).unwrap();
        }
    }
}
