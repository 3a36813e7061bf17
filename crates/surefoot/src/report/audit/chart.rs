//! Charts of one line, drawn into the rows of tables: the numbers stand beside them.

use std::fmt::Write as _;

use super::statistics::Range;

/// The beginning of every chart: as wide as its cell, and not read aloud, since its numbers are in the same row.
const BEGIN: &str =
    r#"<svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true" focusable="false">"#;

/// Shares of a whole, one after the other; each with the class of its colour.
pub fn stacked(parts: &[(&str, f64)]) -> String {
    let mut svg = String::from(BEGIN);
    let mut at = 0.0;
    for (class, share) in parts.iter().filter(|(_, share)| *share > 0.0) {
        let width = 100.0 * share;
        // Writing to a string never fails.
        let _ = write!(svg, r#"<rect class="{class}" x="{at:.3}" y="0" width="{width:.3}" height="10"/>"#);
        at += width;
    }
    svg + "</svg>"
}

/// The ends of an axis.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    /// The value at the left.
    pub left: f64,
    /// The value at the right.
    pub right: f64,
}

impl Axis {
    /// The axis from zero that shows all of these.
    pub fn from_zero(ranges: impl Iterator<Item = Range>) -> Self {
        let ends = ranges.flat_map(|range| [range.lower, range.upper]).filter(|end| end.is_finite());
        let (left, right) =
            ends.fold((0.0, 0.0), |(left, right): (f64, f64), end| (left.min(end), right.max(end)));
        if left == right { Self { left: 0.0, right: 1.0 } } else { Self { left, right } }
    }

    fn place(self, value: f64) -> f64 {
        (100.0 * (value - self.left) / (self.right - self.left)).clamp(0.0, 100.0)
    }
}

/// An interval as a line, what is proven as a bar on it, and zero as a line across.
pub fn interval(axis: Axis, exact: Option<Range>, interval: Option<Range>) -> String {
    let mut svg = String::from(BEGIN);
    let mut rect = |class: &str, from: f64, to: f64, top: f64, least: f64| {
        let width = (to - from).max(least);
        let x = (from.min(100.0 - width) - (width - (to - from)) / 2.0).clamp(0.0, 100.0 - width);
        let height = 10.0 - 2.0 * top;
        let _ = write!(
            svg,
            r#"<rect class="{class}" x="{x:.3}" y="{top}" width="{width:.3}" height="{height}"/>"#
        );
    };
    rect("track", 0.0, 100.0, 4.7, 0.0);
    let zero = axis.place(0.0);
    rect("zero", zero, zero, 0.0, 0.4);
    if let Some(range) = interval.filter(|range| range.is_finite()) {
        rect("interval", axis.place(range.lower), axis.place(range.upper), 3.2, 0.4);
    }
    if let Some(range) = exact.filter(|range| range.lower.is_finite()) {
        rect("proven", axis.place(range.lower), axis.place(range.upper), 0.8, 1.2);
    }
    svg + "</svg>"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_stand_beside_each_other() {
        let svg = stacked(&[("found", 0.25), ("undecided", 0.0), ("impossible", 0.75)]);
        assert!(svg.contains(r#"class="found" x="0.000" y="0" width="25.000""#), "{svg}");
        assert!(svg.contains(r#"class="impossible" x="25.000" y="0" width="75.000""#), "{svg}");
        assert!(!svg.contains("undecided"), "{svg}");
    }

    #[test]
    fn intervals_are_where_they_belong_and_within_the_picture() {
        let axis = Axis::from_zero([Range::new(-1.0, 3.0), Range::new(0.0, f64::INFINITY)].into_iter());
        assert_eq!((axis.left, axis.right), (-1.0, 3.0));
        let svg = interval(axis, Some(Range::new(3.0, 3.0)), Some(Range::new(1.0, 2.0)));
        assert!(svg.contains(r#"class="interval" x="50.000" y="3.2" width="25.000""#), "{svg}");
        assert!(svg.contains(r#"class="proven" x="98.800" y="0.8" width="1.200""#), "{svg}");
        assert!(svg.contains(r#"class="zero" x="24.800""#), "{svg}");
        let nobody = Axis::from_zero(std::iter::empty());
        assert_eq!((nobody.left, nobody.right), (0.0, 1.0));
    }
}
