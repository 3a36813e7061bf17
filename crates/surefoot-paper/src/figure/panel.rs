//! A pair of axes on a sheet.

use super::canvas::{Canvas, INK, PALE, Place, Point, Stroke};
use super::tick;

/// A rectangle of the sheet with axes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Panel {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
    /// The range of the horizontal axis.
    pub x: (f64, f64),
    /// The range of the vertical axis; of a logarithmic one, in powers of ten.
    pub y: (f64, f64),
}

impl Panel {
    /// The position on the sheet of a point in the units of the axes.
    pub fn at(&self, (x, y): Point) -> Point {
        let along = (x - self.x.0) / (self.x.1 - self.x.0);
        let up = (y - self.y.0) / (self.y.1 - self.y.0);
        (self.left + along * self.width, self.top + (1.0 - up) * self.height)
    }

    /// Draws the two axes.
    pub fn axes(&self, canvas: &mut Canvas) {
        let (bottom, right) = (self.top + self.height, self.left + self.width);
        canvas.line((self.left, self.top), (self.left, bottom), INK, 1.0, Stroke::Solid);
        canvas.line((self.left, bottom), (right, bottom), INK, 1.0, Stroke::Solid);
    }

    /// Draws the ticks of the vertical axis, with grid lines.
    pub fn numbers(&self, canvas: &mut Canvas, logarithmic: bool) {
        let ticks = if logarithmic { powers(self.y) } else { ticks(self.y, 5) };
        for (value, text) in ticks {
            let (_, y) = self.at((self.x.0, value));
            canvas.line((self.left, y), (self.left + self.width, y), PALE, 0.6, Stroke::Solid);
            canvas.text((self.left - 6.0, y + 4.0), &text, 11, Place::Left, false);
        }
    }

    /// Draws the ticks of the horizontal axis.
    pub fn numbers_below(&self, canvas: &mut Canvas) {
        for (value, text) in ticks(self.x, 6) {
            let (x, y) = self.at((value, self.y.0));
            canvas.line((x, y), (x, y + 4.0), INK, 1.0, Stroke::Solid);
            canvas.text((x, y + 17.0), &text, 11, Place::Centre, false);
        }
    }

    /// Draws the title and the labels of the axes; empty ones are left out.
    pub fn words(&self, canvas: &mut Canvas, title: &str, below: &str, beside: &str) {
        let middle = self.left + 0.5 * self.width;
        canvas.text((middle, self.top - 10.0), title, 12, Place::Centre, true);
        if !below.is_empty() {
            let at = (middle, self.top + self.height + 36.0);
            canvas.text(at, below, 12, Place::Centre, false);
        }
        if !beside.is_empty() {
            let at = (self.left - 48.0, self.top + 0.5 * self.height);
            canvas.text(at, beside, 12, Place::Upright, false);
        }
    }
}

/// Round numbers within a range, for ticks.
fn ticks((low, high): (f64, f64), about: usize) -> Vec<(f64, String)> {
    let rough = (high - low) / about as f64;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|k| k * power).find(|step| *step >= rough);
    let step = step.unwrap_or(rough);
    let (first, last) = ((low / step - 1e-9).ceil() as i64, (high / step + 1e-9).floor() as i64);
    (first..=last).map(|k| (k as f64 * step, tick(k as f64 * step))).collect()
}

/// Powers of ten within a range, for ticks; every other one if there are many.
fn powers((low, high): (f64, f64)) -> Vec<(f64, String)> {
    let (first, last) = (low.ceil() as i32, high.floor() as i32);
    let every = 1 + (last - first).max(0) as usize / 8;
    (first..=last).step_by(every).map(|power| (f64::from(power), format!("10{}", raised(power)))).collect()
}

fn raised(power: i32) -> String {
    let digit = |c: char| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        _ => char::from_u32(0x2070 + c.to_digit(10).unwrap_or(0)).unwrap_or(c),
    };
    power.to_string().chars().map(digit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_numbers_within_the_range() {
        let words = |ticks: Vec<(f64, String)>| ticks.into_iter().map(|(_, text)| text).collect::<Vec<_>>();
        assert_eq!(words(ticks((0.0, 1.0), 5)), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
        assert_eq!(words(ticks((-2.9, 3.2), 6)), ["-2", "0", "2"]);
        assert_eq!(words(powers((-6.3, -3.9))), ["10⁻⁶", "10⁻⁵", "10⁻⁴"]);
        assert_eq!(words(powers((-12.0, 0.0))), ["10⁻¹²", "10⁻¹⁰", "10⁻⁸", "10⁻⁶", "10⁻⁴", "10⁻²", "10⁰"]);
    }

    #[test]
    fn axes_map_their_corners() {
        let panel =
            Panel { left: 10.0, top: 20.0, width: 100.0, height: 50.0, x: (-1.0, 1.0), y: (0.0, 2.0) };
        assert_eq!(panel.at((-1.0, 0.0)), (10.0, 70.0));
        assert_eq!(panel.at((1.0, 2.0)), (110.0, 20.0));
    }
}
