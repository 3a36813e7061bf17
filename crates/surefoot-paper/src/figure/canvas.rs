//! A sheet to draw on, in points from its upper left corner; as SVG or PNG.

use std::io;
use std::path::Path;

use kuva::PngBackend;
use kuva::backend::svg::SvgBackend;
use kuva::render::color::Color;
use kuva::render::render::{PathData, Primitive, Scene, TextAnchor};

use super::SCALE;
use surefoot::file::{Audience, write_atomically};

/// The colour of text and axes.
pub(crate) const INK: &str = "#222222";

/// The colour of secondary elements.
pub(crate) const PALE: &str = "#dddddd";

/// The font family, with fallbacks.
const FONT: &str = "DejaVu Sans, Verdana, Arial, sans-serif";

/// The alignment of a text relative to its point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Place {
    Right,
    Centre,
    Left,
    /// Centred, rotated to read upwards.
    Upright,
}

/// A line's pattern.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Stroke {
    Solid,
    Dashed,
}

impl Stroke {
    fn pattern(self) -> Option<String> {
        (self == Stroke::Dashed).then(|| "5,4".into())
    }
}

/// A point of the sheet.
pub(crate) type Point = (f64, f64);

/// A drawing.
#[derive(Debug)]
pub struct Canvas {
    scene: Scene,
}

impl Canvas {
    pub(crate) fn new(width: f64, height: f64) -> Self {
        let mut scene = Scene::new(width, height);
        scene.font_family = Some(FONT.into());
        scene.text_color = Some(INK.into());
        Self { scene }
    }

    pub(crate) fn line(&mut self, from: Point, to: Point, colour: &str, width: f64, stroke: Stroke) {
        self.scene.elements.push(Primitive::Line {
            x1: from.0,
            y1: from.1,
            x2: to.0,
            y2: to.1,
            stroke: colour.into(),
            stroke_width: width,
            stroke_dasharray: stroke.pattern(),
        });
    }

    /// A line with a head at its end.
    pub(crate) fn arrow(&mut self, from: Point, to: Point, colour: &str) {
        self.line(from, to, colour, 2.0, Stroke::Solid);
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let length = dx.hypot(dy).max(1e-9);
        let (ux, uy) = (dx / length, dy / length);
        let side = |s: f64| (to.0 - 9.0 * ux + s * 4.0 * uy, to.1 - 9.0 * uy - s * 4.0 * ux);
        self.polygon(&[to, side(1.0), side(-1.0)], colour, 1.0, None);
    }

    /// A filled outline.
    pub(crate) fn polygon(&mut self, points: &[Point], fill: &str, opacity: f64, outline: Option<&str>) {
        let mut path = String::new();
        for (number, (x, y)) in points.iter().enumerate() {
            path.push_str(&format!("{}{x:.2} {y:.2} ", if number == 0 { "M" } else { "L" }));
        }
        path.push('Z');
        let data = |fill: Option<Color>, stroke: Color, opacity: Option<f64>| {
            let stroke_width = 1.0;
            PathData { d: path.clone(), fill, stroke, stroke_width, opacity, stroke_dasharray: None }
        };
        // The fill and the outline are two paths, because opacity applies to a whole path.
        self.scene.elements.push(Primitive::Path(Box::new(data(
            Some(fill.into()),
            Color::None,
            Some(opacity),
        ))));
        if let Some(outline) = outline {
            let outline = data(Some(Color::None), outline.into(), None);
            self.scene.elements.push(Primitive::Path(Box::new(outline)));
        }
    }

    pub(crate) fn rectangle(&mut self, corner: Point, size: Point, fill: &str, opacity: f64) {
        self.scene.elements.push(Primitive::Rect {
            x: corner.0,
            y: corner.1,
            width: size.0,
            height: size.1,
            fill: fill.into(),
            stroke: None,
            stroke_width: None,
            opacity: Some(opacity),
        });
    }

    pub(crate) fn dot(&mut self, at: Point, radius: f64, colour: &str) {
        self.scene.elements.push(Primitive::Circle {
            cx: at.0,
            cy: at.1,
            r: radius,
            fill: colour.into(),
            fill_opacity: None,
            stroke: None,
            stroke_width: None,
        });
    }

    pub(crate) fn text(&mut self, at: Point, text: &str, size: u32, place: Place, bold: bool) {
        let anchor = match place {
            Place::Right => TextAnchor::Start,
            Place::Centre | Place::Upright => TextAnchor::Middle,
            Place::Left => TextAnchor::End,
        };
        self.scene.elements.push(Primitive::Text {
            x: at.0,
            y: at.1,
            content: text.into(),
            size,
            anchor,
            rotate: (place == Place::Upright).then_some(-90.0),
            bold,
            color: Some(INK.into()),
        });
    }

    /// Draws a legend: marks with their names, in a row that is centred on the sheet.
    pub(crate) fn legend(&mut self, entries: &[(Mark, String)], baseline: f64) {
        // Widths of a mark with its space, and of the letters.
        let width = |text: &str| 36.0 + text.chars().map(letter).sum::<f64>();
        let total: f64 = entries.iter().map(|(_, text)| width(text)).sum();
        let mut x = 0.5 * (self.scene.width - total);
        for (mark, text) in entries {
            let middle = baseline - 4.0;
            match mark {
                Mark::Square(colour) => self.rectangle((x, middle - 5.0), (10.0, 10.0), colour, 1.0),
                Mark::Dashes => self.line((x - 6.0, middle), (x + 12.0, middle), INK, 1.2, Stroke::Dashed),
                Mark::Diamond => self.diamond((x + 5.0, middle)),
            }
            self.text((x + 16.0, baseline), text, 11, Place::Right, false);
            x += width(text);
        }
    }

    /// Draws the mark of a published number.
    pub(crate) fn diamond(&mut self, (x, y): Point) {
        let r = 4.0;
        self.polygon(&[(x - r, y), (x, y - r), (x + r, y), (x, y + r)], "#ffffff", 1.0, Some(INK));
    }

    /// The drawing as SVG.
    pub fn svg(&self) -> String {
        // A page can scale the drawing down.
        let (width, height) = (self.scene.width, self.scene.height);
        let svg = SvgBackend.render_scene(&self.scene);
        if svg.contains("viewBox") {
            return svg;
        }
        svg.replacen("<svg ", &format!("<svg viewBox=\"0 0 {width} {height}\" "), 1)
    }

    /// Writes the drawing as `name.svg` and `name.png`, each atomically.
    pub fn write(&self, folder: &Path, name: &str) -> io::Result<()> {
        let svg = folder.join(format!("{name}.svg"));
        write_atomically(&svg, self.svg().as_bytes(), Audience::Umask)?;
        let png = PngBackend::new().with_scale(SCALE).render_scene(&self.scene).map_err(io::Error::other)?;
        write_atomically(&folder.join(format!("{name}.png")), &png, Audience::Umask)
    }
}

/// The approximate width of a letter of a legend.
fn letter(letter: char) -> f64 {
    match letter {
        'i' | 'j' | 'l' | ' ' | '.' | ',' | ':' | '(' | ')' => 3.5,
        'f' | 'r' | 't' => 4.5,
        'm' | 'w' | 'M' | 'W' | '=' => 10.0,
        capital if capital.is_uppercase() => 7.5,
        _ => 6.7,
    }
}

/// The mark before a name in a legend.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Mark {
    Square(&'static str),
    Dashes,
    Diamond,
}
