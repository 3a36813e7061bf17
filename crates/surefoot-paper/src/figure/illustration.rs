//! The paper's illustrations, each computed by the engine from a small model of two features.

use std::f64::consts::{PI, TAU};

use surefoot::{
    Action, Change, Classifier, Cost, Equation, Exact, Feature, Features, Intervention, Norm, Problem,
    Result, Scm,
};

use super::COLOURS;
use super::canvas::{Canvas, INK, Mark, Place, Point, Stroke};
use super::panel::Panel;

/// Points of an outline.
const OUTLINE: usize = 120;

/// The favourable side.
const FAVOURABLE: &str = "#009E73";

const OBSERVATIONAL: &str = COLOURS[1];
const COUNTERFACTUAL: &str = COLOURS[0];

fn features(names: [&str; 2]) -> Result<Features> {
    Features::new(names.map(|name| Feature::new(name).change(Change::Any)).to_vec())
}

/// Perturbations of one size in all directions.
fn perturbations(epsilon: f64) -> impl Iterator<Item = [f64; 2]> {
    (0..OUTLINE).map(move |k| {
        let angle = TAU * k as f64 / OUTLINE as f64;
        [epsilon * angle.cos(), epsilon * angle.sin()]
    })
}

fn point(values: &[f64]) -> Point {
    (values[0], values[1])
}

/// The neighbourhoods of an individual: observational (independent features) and counterfactual (through a
/// causal model).
fn neighbourhoods(scm: &Scm, x: [f64; 2], epsilon: f64) -> Result<[Vec<Point>; 2]> {
    let around = perturbations(epsilon).map(|d| (x[0] + d[0], x[1] + d[1])).collect();
    let caused = perturbations(epsilon)
        .map(|d| scm.counterfactual(&x, Intervention::Additive(&d)).map(|other| point(&other)))
        .collect::<Result<_>>()?;
    Ok([around, caused])
}

fn region(canvas: &mut Canvas, panel: &Panel, outline: &[Point], colour: &str) {
    let outline: Vec<Point> = outline.iter().map(|&at| panel.at(at)).collect();
    canvas.polygon(&outline, colour, 0.3, Some(colour));
}

fn framed(canvas: &mut Canvas, panel: &Panel, words: [&str; 3]) {
    panel.numbers(canvas, false);
    panel.numbers_below(canvas);
    panel.axes(canvas);
    panel.words(canvas, words[0], words[1], words[2]);
}

/// A canvas with one panel whose axes have the same scale.
fn single(x: (f64, f64), y: (f64, f64)) -> (Canvas, Panel) {
    let (width, height) = (400.0, 400.0 * (y.1 - y.0) / (x.1 - x.0));
    (Canvas::new(width + 90.0, height + 110.0), Panel { left: 66.0, top: 56.0, width, height, x, y })
}

const NEIGHBOURHOODS: [(Mark, &str); 2] =
    [(Mark::Square(OBSERVATIONAL), "observational"), (Mark::Square(COUNTERFACTUAL), "counterfactual")];

fn legend(canvas: &mut Canvas, entries: &[(Mark, &str)]) {
    let entries: Vec<(Mark, String)> = entries.iter().map(|(mark, text)| (*mark, (*text).into())).collect();
    canvas.legend(&entries, 20.0);
}

/// Observational and counterfactual neighbourhood of the linear model in which savings follow
/// income.
pub fn linear_neighbourhood() -> Result<Canvas> {
    let features = features(["income", "savings"])?;
    let scm = Scm::new(&features, vec![("savings", Equation::formula("income + u"))])?;
    let x = [0.0, 0.0];
    let [around, caused] = neighbourhoods(&scm, x, 1.0)?;
    let (mut canvas, panel) = single((-2.0, 2.0), (-2.0, 2.0));
    framed(&mut canvas, &panel, ["", "income", "savings"]);
    region(&mut canvas, &panel, &around, OBSERVATIONAL);
    region(&mut canvas, &panel, &caused, COUNTERFACTUAL);
    individual(&mut canvas, &panel, point(&x), "x");
    legend(&mut canvas, &NEIGHBOURHOODS);
    Ok(canvas)
}

fn individual(canvas: &mut Canvas, panel: &Panel, at: Point, name: &str) {
    let at = panel.at(at);
    canvas.dot(at, 3.5, INK);
    canvas.text((at.0 - 7.0, at.1 + 14.0), name, 13, Place::Left, true);
}

/// The same for the quadratic model: the shape follows the data.
pub fn quadratic_neighbourhoods() -> Result<Canvas> {
    let features = features(["x1", "x2"])?;
    let scm = Scm::new(&features, vec![("x2", Equation::formula("x1^2 + u"))])?;
    let (mut canvas, panel) = single((-3.0, 3.0), (-1.2, 4.8));
    framed(&mut canvas, &panel, ["", "X₁", "X₂"]);
    let curve: Vec<Point> = (0..=80).map(|k| -2.1 + 4.2 * f64::from(k) / 80.0).map(|x| (x, x * x)).collect();
    for pair in curve.windows(2) {
        canvas.line(panel.at(pair[0]), panel.at(pair[1]), "#888888", 1.0, Stroke::Dashed);
    }
    for x in [-1.6, 0.0, 1.6] {
        let x = [x, x * x];
        let [around, caused] = neighbourhoods(&scm, x, 0.5)?;
        region(&mut canvas, &panel, &around, OBSERVATIONAL);
        region(&mut canvas, &panel, &caused, COUNTERFACTUAL);
        individual(&mut canvas, &panel, point(&x), "x");
    }
    legend(&mut canvas, &NEIGHBOURHOODS);
    Ok(canvas)
}

/// Shades where `weights . x + intercept >= 0` and draws its boundary.
fn half_plane(canvas: &mut Canvas, panel: &Panel, weights: [f64; 2], intercept: f64, stroke: Stroke) {
    let score = |(x, y): Point| weights[0] * x + weights[1] * y + intercept;
    let (x, y) = (panel.x, panel.y);
    let corners = [(x.0, y.0), (x.1, y.0), (x.1, y.1), (x.0, y.1)];
    let (mut kept, mut boundary) = (Vec::new(), Vec::new());
    for k in 0..corners.len() {
        let (a, b) = (corners[k], corners[(k + 1) % corners.len()]);
        let (sa, sb) = (score(a), score(b));
        if sa >= 0.0 {
            kept.push(panel.at(a));
        }
        if (sa >= 0.0) != (sb >= 0.0) {
            let t = sa / (sa - sb);
            let crossing = panel.at((a.0 + t * (b.0 - a.0), a.1 + t * (b.1 - a.1)));
            kept.push(crossing);
            boundary.push(crossing);
        }
    }
    if stroke == Stroke::Solid {
        canvas.polygon(&kept, FAVOURABLE, 0.12, None);
    }
    if let [a, b] = boundary[..] {
        canvas.line(a, b, INK, 1.6, stroke);
    }
}

/// The cheapest action for a size of uncertainty, with its cost.
fn cheapest(problem: &Problem, x: [f64; 2], epsilon: f64) -> Result<Action> {
    let problem = problem.clone().with_uncertainty(Norm::L2, epsilon)?;
    let outcome = Exact::new(&problem)?.solve(&x)?;
    let none = Action { features: Vec::new(), change: Vec::new() };
    Ok(outcome.recourse().map_or(none, |recourse| recourse.action.clone()))
}

/// The counterfactuals of everybody in a neighbourhood under an action, and that of the individual.
fn after(scm: &Scm, x: [f64; 2], epsilon: f64, action: &Action) -> Result<(Vec<Point>, Point)> {
    let act = |x: &[f64]| {
        let shift = Intervention::Shift { features: &action.features, change: &action.change };
        scm.counterfactual(x, shift).map(|other| point(&other))
    };
    let outline = perturbations(epsilon)
        .map(|d| scm.counterfactual(&x, Intervention::Additive(&d)).and_then(|other| act(&other)))
        .collect::<Result<_>>()?;
    Ok((outline, act(&x)?))
}

/// The cheapest action moves the individual over the boundary, the robust one everybody in the
/// neighbourhood.
pub fn robust_recourse() -> Result<Canvas> {
    let features = features(["income", "savings"])?;
    let scm = Scm::new(&features, vec![("savings", Equation::formula("0.5 * income + u"))])?;
    let (weights, intercept, x, epsilon) = ([1.0, 0.8], -1.2, [-1.3, -0.9], 0.5);
    let classifier = Classifier::linear(weights.to_vec(), intercept, 0.5)?;
    let problem = Problem::new(features, classifier)?.with_causal_model(scm.clone())?;
    let mut canvas = Canvas::new(860.0, 400.0);
    for (number, (title, guarded)) in
        [("standard recourse", 0.0), ("robust recourse", epsilon)].iter().enumerate()
    {
        let left = 66.0 + 410.0 * number as f64;
        let panel = Panel { left, top: 56.0, width: 350.0, height: 280.0, x: (-2.5, 2.5), y: (-2.0, 2.0) };
        half_plane(&mut canvas, &panel, weights, intercept, Stroke::Solid);
        framed(&mut canvas, &panel, [title, "income", if number == 0 { "savings" } else { "" }]);
        let [_, before] = neighbourhoods(&scm, x, epsilon)?;
        let (outline, reached) = after(&scm, x, epsilon, &cheapest(&problem, x, *guarded)?)?;
        region(&mut canvas, &panel, &before, COUNTERFACTUAL);
        region(&mut canvas, &panel, &outline, COUNTERFACTUAL);
        canvas.arrow(panel.at(point(&x)), panel.at(reached), INK);
        individual(&mut canvas, &panel, point(&x), "x");
    }
    let marks = [
        (Mark::Square(COUNTERFACTUAL), "the uncertainty set, before and after the action"),
        (Mark::Square("#c3e8da"), "favourable"),
    ];
    legend(&mut canvas, &marks);
    Ok(canvas)
}

/// Standard recourse for the robust decision boundary is robust recourse for the true one.
pub fn robust_boundary() -> Result<Canvas> {
    let (weights, intercept, x, epsilon) = ([0.8, 0.6], -0.5, [-1.4, -0.9], 0.6);
    let classifier = Classifier::linear(weights.to_vec(), intercept, 0.5)?;
    let problem = Problem::new(features(["x1", "x2"])?, classifier)?.with_cost(Cost::L2);
    let (mut canvas, panel) = single((-2.5, 2.5), (-2.0, 2.0));
    half_plane(&mut canvas, &panel, weights, intercept, Stroke::Solid);
    let raised = intercept - epsilon * weights[0].hypot(weights[1]);
    half_plane(&mut canvas, &panel, weights, raised, Stroke::Dashed);
    framed(&mut canvas, &panel, ["", "X₁", "X₂"]);
    let reach = |action: &Action| {
        let mut reached = x;
        action.features.iter().zip(&action.change).for_each(|(&i, change)| reached[i] += change);
        reached
    };
    let standard = reach(&cheapest(&problem, x, 0.0)?);
    let robust = reach(&cheapest(&problem, x, epsilon)?);
    for (reached, colour) in [(standard, COLOURS[1]), (robust, COLOURS[0])] {
        let outline: Vec<Point> =
            perturbations(epsilon).map(|d| (reached[0] + d[0], reached[1] + d[1])).collect();
        region(&mut canvas, &panel, &outline, colour);
    }
    canvas.arrow(panel.at(point(&x)), panel.at(point(&robust)), COLOURS[0]);
    canvas.arrow(panel.at(point(&x)), panel.at(point(&standard)), COLOURS[1]);
    individual(&mut canvas, &panel, point(&x), "x");
    let marks = [
        (Mark::Square(COLOURS[1]), "standard"),
        (Mark::Square(COLOURS[0]), "robust"),
        (Mark::Dashes, "robust decision boundary"),
    ];
    legend(&mut canvas, &marks);
    Ok(canvas)
}

/// The classifier that is favourable where `sin(pi x2 / (2 gamma)) >= 0`, in stripes narrower than
/// the uncertainty: everybody has recourse, nobody robust recourse.
pub fn sine() -> Canvas {
    let (gamma, epsilon) = (0.25, 0.4);
    let (mut canvas, panel) = single((-2.0, 2.0), (-1.5, 1.5));
    let favourable = |y: f64| (PI * y / (2.0 * gamma)).sin() >= 0.0;
    // Each stripe extends from one zero of the sine to the next.
    let first = (panel.y.0 / (2.0 * gamma)).floor() as i32;
    let last = (panel.y.1 / (2.0 * gamma)).ceil() as i32;
    for stripe in first..last {
        let (low, high) = (2.0 * gamma * f64::from(stripe), 2.0 * gamma * f64::from(stripe + 1));
        let (low, high) = (low.max(panel.y.0), high.min(panel.y.1));
        if low < high && favourable(0.5 * (low + high)) {
            let (corner, foot) = (panel.at((panel.x.0, high)), panel.at((panel.x.1, low)));
            canvas.rectangle(corner, (foot.0 - corner.0, foot.1 - corner.1), FAVOURABLE, 0.2);
        }
    }
    framed(&mut canvas, &panel, ["", "X₁", "X₂"]);
    let (x, reached) = ((-0.6, -0.25), (0.6, 0.25));
    for (centre, colour) in [(x, OBSERVATIONAL), (reached, COUNTERFACTUAL)] {
        let outline: Vec<Point> =
            perturbations(epsilon).map(|d| (centre.0 + d[0], centre.1 + d[1])).collect();
        region(&mut canvas, &panel, &outline, colour);
    }
    canvas.arrow(panel.at(x), panel.at(reached), INK);
    individual(&mut canvas, &panel, x, "x");
    let marks = [
        (Mark::Square("#cdebe2"), "favourable"),
        (Mark::Square(OBSERVATIONAL), "before the action"),
        (Mark::Square(COUNTERFACTUAL), "after it"),
    ];
    legend(&mut canvas, &marks);
    canvas
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_linear_neighbourhood_leans_and_the_quadratic_bends() {
        let features = features(["income", "savings"]).unwrap();
        let scm = Scm::new(&features, vec![("savings", Equation::formula("income + u"))]).unwrap();
        let [around, caused] = neighbourhoods(&scm, [0.0, 0.0], 1.0).unwrap();
        for ((x, y), (caused_x, caused_y)) in around.into_iter().zip(caused) {
            assert!((caused_x - x).abs() < 1e-12 && (caused_y - (x + y)).abs() < 1e-12);
        }
    }

    /// Everybody of the neighbourhood who acts is on the favourable side, and somebody only just.
    #[test]
    fn the_robust_action_moves_everybody_over_the_boundary() {
        let features = features(["a", "b"]).unwrap();
        let scm = Scm::new(&features, vec![("b", Equation::formula("0.5 * a + u"))]).unwrap();
        let classifier = Classifier::linear(vec![1.0, 0.8], -1.2, 0.5).unwrap();
        let problem = Problem::new(features, classifier).unwrap().with_causal_model(scm.clone()).unwrap();
        let x = [-1.3, -0.9];
        let worst = |guarded: f64| {
            let action = cheapest(&problem, x, guarded).unwrap();
            let (outline, _) = after(&scm, x, 0.5, &action).unwrap();
            outline.iter().map(|(a, b)| a + 0.8 * b - 1.2).fold(f64::INFINITY, f64::min)
        };
        assert!(worst(0.0) < -0.3);
        assert!((0.0..0.01).contains(&worst(0.5)));
    }

    #[test]
    fn every_illustration_is_drawn() {
        let folder = tempfile::tempdir().unwrap();
        let drawn = [
            ("a", linear_neighbourhood().unwrap()),
            ("b", quadratic_neighbourhoods().unwrap()),
            ("c", robust_recourse().unwrap()),
            ("d", robust_boundary().unwrap()),
            ("e", sine()),
        ];
        for (name, canvas) in drawn {
            canvas.write(folder.path(), name).unwrap();
            assert!(canvas.svg().contains("viewBox"), "{name}");
            assert!(std::fs::read(folder.path().join(format!("{name}.png"))).unwrap().len() > 1000, "{name}");
        }
    }
}
