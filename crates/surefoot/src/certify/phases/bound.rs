//! Lower bounds of a relu network for given phases of some of its units.
//!
//! On a range `l <= z <= u` with `l < 0 < u`, the value of a unit is between two lines:
//!
//! ```text
//! slope z  <=  relu(z)  <=  (z - l) u / (u - l),    0 <= slope <= 1
//! ```
//!
//! A unit that is active or inactive is z or 0. Where the phase is a condition `s z >= 0`, a multiplier `m >= 0`
//! adds `-m s z`, which is not positive. Substituting layer by layer, from the last one, leaves an affine function
//! of the perturbation below the margin, and its least value over the ball is minus the support function of its
//! gradient. Every choice of slopes and multipliers is valid. Good ones are found by ascent: at the minimiser
//! of the affine function, the derivative of the bound by a slope is the weight of the unit times z, and by
//! a multiplier `-s z`, where z is computed with the lines in place of the units.

use super::layers::{Layer, Layers};
use crate::certify::parabolas::few_digits;
use crate::proof::PhaseBound;
use crate::uncertainty::SharedSet;

/// The ball over which margins are bounded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ball<'a> {
    pub set: &'a SharedSet,
    pub radius: f64,
}

/// The range of the argument of every unit, for each hidden layer.
pub(super) type Ranges = Vec<Vec<(f64, f64)>>;

/// A condition on the argument of a unit: that it is not negative, or that it is not positive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Condition {
    pub layer: usize,
    pub unit: usize,
    pub is_active: bool,
}

impl Condition {
    fn sign(&self) -> f64 {
        if self.is_active { 1.0 } else { -1.0 }
    }
}

/// The line that takes the place of a unit: `slope * z + offset`. A unit whose line is below it and whose slope is
/// free is `is_free`.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    slope: f64,
    offset: f64,
    is_free: bool,
}

/// An affine lower bound of the margin, and how it depends on slopes and multipliers.
pub(super) struct Bound {
    pub lower: f64,
    /// A point of the ball at which the affine function is lowest.
    pub at: Vec<f64>,
    lines: Vec<Vec<Line>>,
    /// The weight of the value of each unit.
    weights: Vec<Vec<f64>>,
}

/// The exact ranges of the arguments of the first layer over the ball.
fn first_ranges(layers: &Layers, ball: Ball<'_>) -> Vec<(f64, f64)> {
    let layer = &layers.hidden[0];
    (0..layer.units)
        .map(|j| {
            let far = ball.radius * ball.set.support(layer.row(j));
            let room = layers.rounding * (layer.sizes[j] + far);
            (layer.bias[j] - far - room, layer.bias[j] + far + room)
        })
        .collect()
}

/// The slope of the line below a unit in bounds of ranges: of 0 and 1 the one with the smaller error.
fn steady_slope((lower, upper): (f64, f64)) -> f64 {
    if upper > -lower { 1.0 } else { 0.0 }
}

/// The ranges of all arguments over the ball.
pub(super) fn ranges(layers: &Layers, ball: Ball<'_>) -> Ranges {
    let mut all = vec![first_ranges(layers, ball)];
    for number in 1..layers.hidden.len() {
        let own = later_ranges(layers, ball, number, &all);
        all.push(own);
    }
    all
}

/// The ranges of all arguments over the part of the ball in which a further condition holds. `None` if that part
/// is empty.
pub(super) fn narrower(
    layers: &Layers,
    ball: Ball<'_>,
    known: &Ranges,
    condition: Condition,
) -> Option<Ranges> {
    let mut all = known.clone();
    let range = &mut all[condition.layer][condition.unit];
    let room = layers.rounding * layers.hidden[condition.layer].sizes[condition.unit];
    *range = match condition.is_active {
        true if range.1 < -room => return None,
        true => (range.0.max(0.0), range.1.max(0.0)),
        false if range.0 > room => return None,
        false => (range.0.min(0.0), range.1.min(0.0)),
    };
    for number in condition.layer + 1..layers.hidden.len() {
        let new = later_ranges(layers, ball, number, &all);
        for (range, new) in all[number].iter_mut().zip(new) {
            let (lower, upper) = (range.0.max(new.0), range.1.min(new.1));
            // Ends that cross by more than rounding show that nothing is left.
            if lower <= upper {
                *range = (lower, upper);
            }
        }
    }
    Some(all)
}

/// The phases that follow from the ranges and are no conditions so far. A range must be apart from zero by more than
/// rounding.
pub(super) fn decided(layers: &Layers, ranges: &Ranges, conditions: &[Condition]) -> Vec<Condition> {
    let mut decided = Vec::new();
    for (layer, own) in ranges.iter().enumerate() {
        for (unit, &(lower, upper)) in own.iter().enumerate() {
            let room = 4.0 * layers.rounding * layers.hidden[layer].sizes[unit];
            let is_condition = conditions.iter().any(|c| (c.layer, c.unit) == (layer, unit));
            if !is_condition && (lower > room || upper < -room) {
                decided.push(Condition { layer, unit, is_active: lower > room });
            }
        }
    }
    decided
}

/// The ranges of the arguments of a later layer, given those of the layers before.
fn later_ranges(layers: &Layers, ball: Ball<'_>, number: usize, ranges: &Ranges) -> Vec<(f64, f64)> {
    let least = |unit: usize, sign: f64| least_argument(layers, ball, number, unit, sign, ranges);
    let layer = &layers.hidden[number];
    let range = |(unit, &size): (usize, &f64)| (least(unit, 1.0).max(-size), (-least(unit, -1.0)).min(size));
    layer.sizes.iter().enumerate().map(range).collect()
}

/// A lower bound of `sign z` for the argument z of a unit of a later layer.
fn least_argument(
    layers: &Layers,
    ball: Ball<'_>,
    number: usize,
    unit: usize,
    sign: f64,
    ranges: &Ranges,
) -> f64 {
    let layer = &layers.hidden[number];
    let mut weights: Vec<f64> = layer.row(unit).iter().map(|w| sign * w).collect();
    let mut constant = sign * layer.bias[unit];
    let mut size = constant.abs();
    let mut below = Vec::new();
    for (number, layer) in layers.hidden[..number].iter().enumerate().rev() {
        for (j, v) in weights.iter_mut().enumerate() {
            let line = line(ranges[number][j], *v, || steady_slope(ranges[number][j]));
            constant += *v * line.offset;
            size += v.abs() * layer.sizes[j];
            *v *= line.slope;
        }
        constant += dot(&weights, &layer.bias);
        layer.backward(&weights, &mut below);
        std::mem::swap(&mut weights, &mut below);
    }
    let support = ball.radius * ball.set.support(&weights);
    constant - support - layers.rounding * (size + support)
}

/// The line that takes the place of a unit with a range and a weight.
fn line((lower, upper): (f64, f64), weight: f64, slope: impl FnOnce() -> f64) -> Line {
    if lower >= 0.0 {
        return Line { slope: 1.0, ..Line::default() };
    }
    if upper <= 0.0 {
        return Line::default();
    }
    if weight >= 0.0 {
        return Line { slope: slope(), offset: 0.0, is_free: true };
    }
    let slope = upper / (upper - lower);
    Line { slope, offset: -slope * lower, is_free: false }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The slopes at the start: those of [`steady_slope`]; and no multipliers.
pub(super) fn start(ranges: &Ranges) -> PhaseBound {
    let slopes =
        ranges.iter().map(|layer| layer.iter().map(|&range| steady_slope(range)).collect()).collect();
    PhaseBound { slopes, multipliers: Vec::new() }
}

/// The bound of given slopes and multipliers, one for each condition.
pub(super) fn bound(
    layers: &Layers,
    ball: Ball<'_>,
    ranges: &Ranges,
    conditions: &[Condition],
    by: &PhaseBound,
) -> Bound {
    let count = layers.hidden.len();
    let (mut lines, mut all) = (vec![Vec::new(); count], vec![Vec::new(); count]);
    let mut weights = layers.weight.clone();
    let mut constant = layers.constant;
    let mut size = constant.abs();
    let mut below = Vec::new();
    for (number, layer) in layers.hidden.iter().enumerate().rev() {
        let own: Vec<Line> =
            (0..layer.units).map(|j| line(ranges[number][j], weights[j], || by.slopes[number][j])).collect();
        all[number].clone_from(&weights);
        for (j, (v, line)) in weights.iter_mut().zip(&own).enumerate() {
            constant += *v * line.offset;
            size += v.abs() * layer.sizes[j];
            *v *= line.slope;
        }
        for (condition, m) in conditions.iter().zip(&by.multipliers) {
            if condition.layer == number {
                weights[condition.unit] -= m * condition.sign();
                size += m * layer.sizes[condition.unit];
            }
        }
        constant += dot(&weights, &layer.bias);
        lines[number] = own;
        layer.backward(&weights, &mut below);
        std::mem::swap(&mut weights, &mut below);
    }
    weights.iter_mut().zip(&layers.linear).for_each(|(a, own)| *a += own);
    let support = ball.radius * ball.set.support(&weights);
    let lower = constant - support - layers.rounding * (size + support) - layers.own_error(ball.radius);
    // An overflow proves nothing.
    let lower = if lower.is_nan() { f64::NEG_INFINITY } else { lower };
    let at = ball.set.maximiser(&weights).iter().map(|y| -ball.radius * y).collect();
    Bound { lower, at, lines, weights: all }
}

/// The arguments of all units at a point, computed with lines in place of the units.
pub(super) struct Arguments {
    relaxed: Vec<Vec<f64>>,
}

impl Bound {
    /// The arguments at the minimiser, with lines in place of the units.
    pub fn arguments(&self, layers: &Layers) -> Arguments {
        let mut relaxed = Vec::with_capacity(layers.hidden.len());
        let mut values = self.at.clone();
        for (layer, lines) in layers.hidden.iter().zip(&self.lines) {
            let mut z = Vec::new();
            layer.forward(&values, &mut z);
            values.clear();
            values.extend(z.iter().zip(lines).map(|(z, line)| line.slope * z + line.offset));
            relaxed.push(z);
        }
        Arguments { relaxed }
    }

    /// The largest derivative of the bound with respect to a slope of a layer is of this order.
    fn scale(&self, layer: usize) -> f64 {
        let weights = &self.weights[layer];
        (weights.iter().map(|w| w * w).sum::<f64>() / weights.len() as f64).sqrt()
    }

    /// For each unit whose phase is open: by how much its line differs from the unit at the minimiser and, as a
    /// smaller part, by how much it differs at most, times its weight.
    pub fn errors(&self, arguments: &Arguments, ranges: &Ranges) -> Vec<(usize, usize, f64)> {
        let mut errors = Vec::new();
        for (number, lines) in self.lines.iter().enumerate() {
            for (j, line) in lines.iter().enumerate() {
                let (lower, upper) = ranges[number][j];
                if lower >= 0.0 || upper <= 0.0 {
                    continue;
                }
                let (z, weight) = (arguments.relaxed[number][j], self.weights[number][j].abs());
                let here = (z.max(0.0) - line.slope * z - line.offset).abs();
                let most = match line.is_free {
                    true => (-line.slope * lower).max((1.0 - line.slope) * upper),
                    false => line.offset,
                };
                errors.push((number, j, weight * (here + 0.2 * most)));
            }
        }
        errors
    }
}

/// Ascent on the bound by slopes and multipliers, with the steps of Adam.
pub(super) struct Ascent<'a> {
    pub layers: &'a Layers,
    pub ball: Ball<'a>,
    pub ranges: &'a Ranges,
    pub conditions: &'a [Condition],
}

/// The decay of the averages of gradients and of their squares.
const DECAY: (f64, f64) = (0.7, 0.9);
/// The length of the first step of slopes, and of multipliers as a share of the weights of units.
const RATE: (f64, f64) = (0.25, 0.3);
/// The factor of the length from one step to the next. In an ascent of more than `SHRINKING_STEPS` steps the length
/// shrinks by as much in total as in one of `SHRINKING_STEPS`.
const SHRINKING: f64 = 0.93;
const SHRINKING_STEPS: f64 = 60.0;

impl Ascent<'_> {
    /// The best bound of some steps from a start, and what gives it. Stops when `enough` is reached. The number of
    /// steps is the last result.
    pub fn run(&self, mut by: PhaseBound, steps: usize, enough: f64) -> (Bound, PhaseBound, usize) {
        by.multipliers.resize(self.conditions.len(), 0.0);
        let mut current = bound(self.layers, self.ball, self.ranges, self.conditions, &by);
        let scales: Vec<f64> = (0..self.layers.hidden.len()).map(|k| current.scale(k)).collect();
        let mut first: Vec<f64> = Vec::new();
        let mut second: Vec<f64> = Vec::new();
        let shrinking = SHRINKING.powf(SHRINKING_STEPS / SHRINKING_STEPS.max(steps as f64));
        let (mut rate, mut done) = (1.0, 0);
        let mut best: Option<(Bound, PhaseBound)> = None;
        while done < steps && current.lower < enough {
            let gradient = self.gradient(&current);
            first.resize(gradient.len(), 0.0);
            second.resize(gradient.len(), 0.0);
            done += 1;
            let mut k = 0;
            let mut step = |gradient: &[f64]| -> f64 {
                let g = gradient[k];
                first[k] = DECAY.0 * first[k] + (1.0 - DECAY.0) * g;
                second[k] = DECAY.1 * second[k] + (1.0 - DECAY.1) * g * g;
                let mean = first[k] / (1.0 - DECAY.0.powi(done as i32));
                let square = second[k] / (1.0 - DECAY.1.powi(done as i32));
                k += 1;
                if square > 0.0 { rate * mean / square.sqrt() } else { 0.0 }
            };
            let mut next = by.clone();
            for slope in next.slopes.iter_mut().flatten() {
                *slope = (*slope + RATE.0 * step(&gradient)).clamp(0.0, 1.0);
            }
            for (m, condition) in next.multipliers.iter_mut().zip(self.conditions) {
                *m = (*m + RATE.1 * scales[condition.layer] * step(&gradient)).max(0.0);
            }
            rate *= shrinking;
            let new = bound(self.layers, self.ball, self.ranges, self.conditions, &next);
            let (old, before) = (std::mem::replace(&mut current, new), std::mem::replace(&mut by, next));
            if best.as_ref().is_none_or(|(best, _)| old.lower > best.lower) {
                best = Some((old, before));
            }
        }
        match best {
            Some((best, of_best)) if best.lower > current.lower => (best, of_best, done),
            _ => (current, by, done),
        }
    }

    /// The derivatives of the bound by all slopes, then by all multipliers.
    fn gradient(&self, bound: &Bound) -> Vec<f64> {
        let arguments = bound.arguments(self.layers);
        let mut gradient = Vec::new();
        for (number, lines) in bound.lines.iter().enumerate() {
            let units = lines.iter().zip(&bound.weights[number]).zip(&arguments.relaxed[number]);
            gradient.extend(units.map(|((line, v), z)| if line.is_free { v * z } else { 0.0 }));
        }
        let of_condition = |c: &Condition| -c.sign() * arguments.relaxed[c.layer][c.unit];
        gradient.extend(self.conditions.iter().map(of_condition));
        gradient
    }
}

/// Numbers with few digits, for the proof. Slopes that do not matter are 0.
pub(super) fn saved(by: &PhaseBound, ranges: &Ranges) -> PhaseBound {
    let slope = |(&slope, &(lower, upper)): (&f64, &(f64, f64))| match lower < 0.0 && upper > 0.0 {
        true => (slope * 1000.0).round() / 1000.0,
        false => 0.0,
    };
    PhaseBound {
        slopes: by
            .slopes
            .iter()
            .zip(ranges)
            .map(|(own, layer)| own.iter().zip(layer).map(slope).collect())
            .collect(),
        multipliers: by.multipliers.iter().map(|&m| few_digits(m)).collect(),
    }
}

impl Layer {
    /// The number of multiplications of a pass.
    pub(super) fn work(&self) -> usize {
        self.units * self.inputs
    }
}
