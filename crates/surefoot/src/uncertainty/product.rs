//! Products of balls over groups of coordinates.
//!
//! The coordinates are divided into groups. Each group has a ball of its own, and what happens in one group
//! limits no other: `y` belongs to the set if `||y_g||_g <= r_g` for every group g. With radius zero a group
//! is exact. A group of one coordinate is an interval, whatever its norm.

use super::set::{Part, UncertaintySet, project_inside};
use super::{ROOM, SharedSet};
use crate::error::SettingError;
use crate::length::euclidean;
use crate::magnitude::is_scale;
use crate::network::{LANES, Lanes, Vectorised, vectorised};
use crate::{Error, Result};

/// A group of coordinates with its ball: `||y_g|| <= radius`.
#[derive(Clone, Debug, PartialEq)]
pub struct Factor {
    /// The ball of radius one: one of the listed sets.
    pub set: SharedSet,
    /// The radius of the ball; with zero, the coordinates are exact.
    pub radius: f64,
    /// The coordinates of the group.
    pub coordinates: Vec<usize>,
}

impl Factor {
    /// A ball of this norm and radius over some coordinates.
    pub fn new(set: impl Into<SharedSet>, radius: f64, coordinates: Vec<usize>) -> Self {
        Self { set: set.into(), radius, coordinates }
    }

    /// Whether the ball is a box: of the linf norm, of one coordinate, or a single point.
    pub fn is_box(&self) -> bool {
        self.set.is_box() || self.coordinates.len() == 1 || self.radius == 0.0
    }

    /// The values of the group's coordinates.
    fn of<T: Copy>(&self, values: &[T]) -> Vec<T> {
        self.coordinates.iter().map(|&i| values[i]).collect()
    }

    /// Replaces the values of the group's coordinates.
    fn put(&self, values: &mut [f64], own: &[f64]) {
        self.coordinates.iter().zip(own).for_each(|(&i, &y)| values[i] = y);
    }

    /// The columns of the group's coordinates, `blocks` for each; borrowed where they are consecutive.
    fn columns<'c>(&self, columns: &'c [Lanes], blocks: usize, copy: &'c mut Vec<Lanes>) -> &'c [Lanes] {
        let first = self.coordinates[0];
        if self.coordinates.iter().enumerate().all(|(k, &i)| i == first + k) {
            return &columns[first * blocks..(first + self.coordinates.len()) * blocks];
        }
        copy.clear();
        for &i in &self.coordinates {
            copy.extend_from_slice(&columns[i * blocks..(i + 1) * blocks]);
        }
        copy
    }
}

/// The product of balls over groups of coordinates, which contain every coordinate once.
#[derive(Clone, Debug, PartialEq)]
pub struct Product {
    factors: Vec<Factor>,
    /// The coordinates whose groups are boxes, with the largest absolute value of each.
    sides: Vec<(usize, f64)>,
    /// The places of the other groups.
    balls: Vec<usize>,
}

impl Product {
    /// The product of these factors. Every coordinate from zero to the largest one must be in exactly one
    /// of them, and a radius must be zero or a moderate number.
    pub fn new(factors: Vec<Factor>) -> Result<Self> {
        let width = factors.iter().map(|factor| factor.coordinates.len()).sum();
        let mut is_taken = vec![false; width];
        for (position, factor) in factors.iter().enumerate() {
            if !(factor.radius == 0.0 || is_scale(factor.radius)) {
                return Err(Error::Setting(SettingError::Epsilon { epsilon: factor.radius }));
            }
            if !factor.set.is_listed() || factor.set.power().is_none() {
                return Err(Error::Setting(SettingError::FactorSet { position, set: factor.set.name() }));
            }
            let mut wrong = factor.coordinates.is_empty().then_some(None);
            for &i in &factor.coordinates {
                if i >= width || is_taken[i] {
                    wrong = Some(Some(i));
                    break;
                }
                is_taken[i] = true;
            }
            if let Some(coordinate) = wrong {
                return Err(Error::Setting(SettingError::Factor { position, coordinate }));
            }
        }
        let boxes = factors.iter().filter(|factor| factor.is_box());
        let sides = boxes.flat_map(|factor| factor.coordinates.iter().map(|&i| (i, factor.radius)));
        let sides = sides.collect();
        let balls = (0..factors.len()).filter(|&place| !factors[place].is_box()).collect();
        Ok(Self { factors, sides, balls })
    }

    /// The factors, in the order in which they were given.
    pub fn factors(&self) -> &[Factor] {
        &self.factors
    }

    fn balls(&self) -> impl Iterator<Item = (&Factor, &SharedSet)> {
        let ball = |&place: &usize| (&self.factors[place], &self.factors[place].set);
        self.balls.iter().map(ball)
    }
}

impl UncertaintySet for Product {
    fn name(&self) -> &'static str {
        "product"
    }

    /// For each factor: the exponent of its norm, zero for linf, its radius, the number of its coordinates and these.
    fn parameters(&self) -> Vec<f64> {
        let numbers = |factor: &Factor| {
            // JSON has no infinity as a number.
            let exponent = factor.set.power().filter(|power| power.is_finite()).unwrap_or(0.0);
            let coordinates = factor.coordinates.iter().map(|&i| i as f64);
            let head = [exponent, factor.radius, factor.coordinates.len() as f64];
            head.into_iter().chain(coordinates).collect::<Vec<f64>>()
        };
        self.factors.iter().flat_map(numbers).collect()
    }

    fn words(&self) -> &'static str {
        match self.is_box() {
            true => "each alone or all together",
            false => "or several together, those of one group by accordingly less",
        }
    }

    fn factors(&self) -> Option<&[Factor]> {
        Some(&self.factors)
    }

    fn gauge(&self, y: &[f64]) -> f64 {
        let share = |size: f64, radius: f64| if size == 0.0 { 0.0 } else { size / radius };
        let sides = self.sides.iter().map(|&(i, radius)| share(y[i].abs(), radius));
        let balls = self.balls().map(|(factor, set)| share(set.gauge(&factor.of(y)), factor.radius));
        // `f64::max` would lose what is not a number.
        let greater = |a: f64, b: f64| if a.is_nan() || b <= a { a } else { b };
        sides.chain(balls).fold(0.0, greater)
    }

    fn support(&self, row: &[f64]) -> f64 {
        let sides: f64 = self.sides.iter().map(|&(i, radius)| radius * row[i].abs()).sum();
        let balls = self.balls().map(|(factor, set)| factor.radius * set.support(&factor.of(row)));
        sides + balls.sum::<f64>()
    }

    fn project(&self, y: &mut [f64], radius: f64) {
        for &(i, side) in &self.sides {
            y[i] = y[i].clamp(-radius * side, radius * side);
        }
        for (factor, set) in self.balls() {
            let mut own = factor.of(y);
            project_inside(&**set, &mut own, radius * factor.radius);
            factor.put(y, &own);
        }
    }

    fn project_weighted(&self, v: &mut [f64], weights: &[f64], radius: f64) {
        for &(i, side) in &self.sides {
            let bound = radius * side / weights[i];
            v[i] = v[i].clamp(-bound, bound);
        }
        for (factor, set) in self.balls() {
            let (mut own, weights) = (factor.of(v), factor.of(weights));
            let scaled: Vec<f64> = own.iter().zip(&weights).map(|(v, w)| v * w).collect();
            if set.gauge(&scaled) > radius * factor.radius {
                set.project_weighted(&mut own, &weights, radius * factor.radius);
                factor.put(v, &own);
            }
        }
    }

    fn maximiser(&self, row: &[f64]) -> Vec<f64> {
        let mut y = vec![0.0; row.len()];
        for &(i, side) in self.sides.iter().filter(|(i, _)| row[*i] != 0.0) {
            y[i] = side.copysign(row[i]);
        }
        for (factor, set) in self.balls() {
            let best = set.maximiser(&factor.of(row));
            factor.put(&mut y, &best.iter().map(|y| factor.radius * y).collect::<Vec<f64>>());
        }
        y
    }

    /// Groups that are small beside the largest one keep their direction and size; the others end on their
    /// own border. So borders of several groups are met together.
    fn scaling(&self, y: &[f64], size: f64) -> Vec<f64> {
        let mut scales = vec![0.0; y.len()];
        let mut gauges = vec![0.0; self.factors.len()];
        for (factor, gauge) in self.factors.iter().zip(&mut gauges).filter(|(f, _)| f.radius > 0.0) {
            *gauge = factor.set.gauge(&factor.of(y)) / factor.radius;
        }
        let largest = gauges.iter().copied().fold(0.0, f64::max);
        for (factor, gauge) in self.factors.iter().zip(gauges).filter(|(_, gauge)| *gauge > 0.0) {
            let scale = size / gauge.max(CORNERS * largest);
            factor.coordinates.iter().for_each(|&i| scales[i] = scale);
        }
        scales
    }

    fn half_widths(&self, inputs: usize) -> Vec<f64> {
        let mut widths = vec![0.0; inputs];
        for factor in &self.factors {
            factor.coordinates.iter().for_each(|&i| widths[i] = factor.radius);
        }
        widths
    }

    fn circumradius(&self, _inputs: usize) -> f64 {
        let sides = self.sides.iter().map(|(_, side)| *side);
        let balls = self.balls().map(|(f, set)| f.radius * set.circumradius(f.coordinates.len()));
        euclidean(sides.chain(balls).collect::<Vec<f64>>().into_iter()) * (1.0 + ROOM)
    }

    fn is_box(&self) -> bool {
        self.balls.is_empty()
    }

    fn ranges(&self, radius: f64, columns: &[Lanes], lower: &mut [Lanes], upper: &mut [Lanes]) {
        let blocks = lower.len();
        let ends: Vec<(usize, f64, f64)> =
            self.sides.iter().map(|&(i, side)| (i, -radius * side, radius * side)).collect();
        vectorised(BoxRanges { ends: &ends, columns, lower, upper });
        let (mut low, mut high) = (vec![Lanes::ZERO; blocks], vec![Lanes::ZERO; blocks]);
        let mut copy = Vec::new();
        for (factor, set) in self.balls() {
            let own = factor.columns(columns, blocks, &mut copy);
            set.ranges(radius * factor.radius, own, &mut low, &mut high);
            add(lower, &low);
            add(upper, &high);
        }
    }

    /// The sum of the bounds of the groups: a part of a product is the product of the groups' parts.
    fn tighten_ranges(&self, part: Part<'_>, columns: &[Lanes], lower: &mut [Lanes], upper: &mut [Lanes]) {
        let blocks = lower.len();
        let ends = |i: usize| (i, part.lower[i], part.upper[i]);
        let sides: Vec<(usize, f64, f64)> = self.sides.iter().map(|&(i, _)| ends(i)).collect();
        let zero = || vec![Lanes::ZERO; blocks];
        let (mut least, mut most, mut low, mut high) = (zero(), zero(), zero(), zero());
        vectorised(BoxRanges { ends: &sides, columns, lower: &mut least, upper: &mut most });
        let mut copy = Vec::new();
        for (factor, set) in self.balls() {
            let sides: Vec<(usize, f64, f64)> = factor.coordinates.iter().map(|&i| ends(i)).collect();
            vectorised(BoxRanges { ends: &sides, columns, lower: &mut low, upper: &mut high });
            let (first, last) = (factor.of(part.lower), factor.of(part.upper));
            let own = Part { radius: part.radius * factor.radius, lower: &first, upper: &last };
            set.tighten_ranges(own, factor.columns(columns, blocks, &mut copy), &mut low, &mut high);
            add(&mut least, &low);
            add(&mut most, &high);
        }
        for b in 0..blocks {
            lower[b] = lower[b].zip(least[b], f64::max);
            upper[b] = upper[b].zip(most[b], f64::min);
        }
    }

    fn tighten_box(&self, radius: f64, lower: &mut [f64], upper: &mut [f64]) -> bool {
        for &(i, side) in &self.sides {
            let reach = radius * side * (1.0 + ROOM);
            (lower[i], upper[i]) = (lower[i].max(-reach), upper[i].min(reach));
            if lower[i] > upper[i] {
                return false;
            }
        }
        self.balls().all(|(factor, set)| {
            let (mut first, mut last) = (factor.of(lower), factor.of(upper));
            let meets = set.tighten_box(radius * factor.radius, &mut first, &mut last);
            factor.put(lower, &first);
            factor.put(upper, &last);
            meets
        })
    }

    fn project_into(&self, part: Part<'_>, y: &mut [f64]) {
        self.sides.iter().for_each(|&(i, _)| y[i] = y[i].clamp(part.lower[i], part.upper[i]));
        for (factor, set) in self.balls() {
            let (first, last) = (factor.of(part.lower), factor.of(part.upper));
            let mut own = factor.of(y);
            let part = Part { radius: part.radius * factor.radius, lower: &first, upper: &last };
            set.project_into(part, &mut own);
            factor.put(y, &own);
        }
    }

    fn lowest(&self, part: Part<'_>, row: &[f64]) -> Vec<f64> {
        let mut y = vec![0.0; row.len()];
        for &(i, _) in &self.sides {
            y[i] = if row[i] > 0.0 { part.lower[i] } else { part.upper[i] };
        }
        for (factor, set) in self.balls() {
            let (first, last) = (factor.of(part.lower), factor.of(part.upper));
            let part = Part { radius: part.radius * factor.radius, lower: &first, upper: &last };
            factor.put(&mut y, &set.lowest(part, &factor.of(row)));
        }
        y
    }
}

/// A random point has every group on its border whose size is at least this share of the largest one.
const CORNERS: f64 = 0.5;

fn add(sums: &mut [Lanes], terms: &[Lanes]) {
    sums.iter_mut().zip(terms).for_each(|(sum, &term)| *sum = *sum + term);
}

/// Bounds of rows over intervals of some of the inputs: `(input, from, to)`.
struct BoxRanges<'a> {
    ends: &'a [(usize, f64, f64)],
    columns: &'a [Lanes],
    lower: &'a mut [Lanes],
    upper: &'a mut [Lanes],
}

impl Vectorised for BoxRanges<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let BoxRanges { ends, columns, lower, upper } = self;
        let blocks = lower.len();
        for b in 0..blocks {
            let (mut low, mut high) = ([0.0; LANES], [0.0; LANES]);
            for &(i, from, to) in ends {
                let row = &columns[i * blocks + b].0;
                for l in 0..LANES {
                    let (x, y) = (row[l] * from, row[l] * to);
                    low[l] += if x < y { x } else { y };
                    high[l] += if x < y { y } else { x };
                }
            }
            (lower[b].0, upper[b].0) = (low, high);
        }
    }
}
