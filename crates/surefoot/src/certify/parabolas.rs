//! Proofs by parabolas, for tanh networks over a Euclidean ball.
//!
//! Every unit of a network is bounded from below by a parabola. Their sum is one quadratic function of the
//! perturbation ([`dual`]), which is minimised exactly over the ball. The parabolas are tuned by ascent on
//! the bound ([`ascent`]). A quadratic lower bound proves more than its least value: where the margin is
//! below the required one, the quadratic is too, so these perturbations lie in an ellipsoid. On that
//! ellipsoid the ranges of the units are narrower, and the next bound is higher. After a few rounds,
//! a plane across the best of its six longest axes divides the ellipsoid, and both parts are bounded in the
//! same way.
//!
//! The proof consists of the parabolas, which the checker bounds again, and of the cuts.

mod ascent;
mod domain;
mod dual;
mod layers;
mod least;
mod moments;
mod prover;
mod ranges;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use nalgebra::{DMatrix, DVector, SymmetricEigen};

use crate::network::{LANES, Lanes};
use crate::proof::{Cell, Cut, Parabolas};
use ascent::{Ascent, Schedule, with_multiplier};
use domain::{Domain, Ellipsoid, Slab};
pub(in crate::certify) use dual::few_digits;
use dual::{Dual, Form};
pub(crate) use layers::Layers;
use ranges::Ranges;

/// Bounds must exceed the required margin by this much. The checker computes its own bounds, whose rounding
/// and whose least values of parabolas differ by less.
const SLACK: f64 = 1e-5;
/// The smoothings whose multipliers are tried for an ellipsoid.
const SMOOTHINGS: [f64; 4] = [0.003, 0.01, 0.03, 0.1];
/// The number of axes of the ellipsoid across which a cut is considered.
const AXES: usize = 6;
/// A cut whose direction has a larger cosine with that of an earlier one is made along the earlier one.
const PARALLEL: f64 = 0.8;
/// The number of rounds of ascent and contraction at the first cell and at later ones.
const ROUNDS: (usize, usize) = (6, 3);
/// The number of steps of an ascent at the first cell and at later ones.
const STEPS: (usize, usize) = (200, 120);
/// The number of evaluations that one step of ascent counts as, and that a round counts as besides. Measured
/// for networks with two hidden layers of a hundred units.
const EVALUATIONS: (usize, usize) = (5, 100);

/// The centre and the matrix of the ellipsoid across whose axes a cell is cut.
type Axes = (DVector<f64>, DMatrix<f64>);

/// A cell that is not closed yet.
struct Open {
    lower: f64,
    number: usize,
    domain: Domain,
    dual: Dual,
    axes: Axes,
}

impl PartialEq for Open {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Open {}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Open {
    /// Orders the heap: the cell with the lowest bound is the greatest; among equals, the first created.
    fn cmp(&self, other: &Self) -> Ordering {
        other.lower.total_cmp(&self.lower).then(other.number.cmp(&self.number))
    }
}

/// A node of the tree of cells.
#[derive(Default)]
struct Node {
    bounds: Vec<Parabolas>,
    cut: Option<(Cut, [usize; 2])>,
}

/// A proof in progress.
pub(crate) struct Partition<'a> {
    layers: &'a Layers<'a>,
    radius: f64,
    /// The required margin with [`SLACK`].
    target: f64,
    nodes: Vec<Node>,
    open: BinaryHeap<Open>,
    /// The number of evaluations so far.
    pub evaluations: usize,
}

/// The result of the rounds of one cell.
struct Rounds {
    lower: f64,
    /// `None` if the cell is closed.
    left: Option<(Domain, Dual, Axes)>,
    bounds: Vec<Parabolas>,
}

impl<'a> Partition<'a> {
    /// Bounds the whole ball.
    pub fn new(layers: &'a Layers<'a>, radius: f64, required: f64) -> Self {
        let target = required + SLACK;
        let mut partition =
            Self { layers, radius, target, nodes: Vec::new(), open: BinaryHeap::new(), evaluations: 0 };
        let ball = Domain::ball(layers.inputs, radius);
        partition.add(ball, None, f64::NEG_INFINITY, None);
        partition
    }

    /// The lowest bound of the cells that are not closed; infinite if there are none.
    pub fn lower(&self) -> f64 {
        self.open.peek().map_or(f64::INFINITY, |open| open.lower)
    }

    /// The number of cells.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The centre of the lowest cell's ellipsoid, near which the margin may be lowest. `None` if all cells are
    /// closed, so that the margin is proven.
    pub fn lowest(&self) -> Option<Vec<f64>> {
        self.open.peek().map(|open| open.axes.0.as_slice().to_vec())
    }

    /// Cuts the cell with the lowest bound in two.
    pub fn step(&mut self) {
        let Some(open) = self.open.pop() else { return };
        let frames = open.domain.frames();
        let eigen = SymmetricEigen::new(open.axes.1.clone());
        let mut order: Vec<usize> = (0..eigen.eigenvalues.len()).collect();
        order.sort_by(|&a, &b| eigen.eigenvalues[a].total_cmp(&eigen.eigenvalues[b]));
        let mut best: Option<(f64, Vec<f64>, (f64, f64))> = None;
        for &k in order.iter().take(AXES) {
            let direction: Vec<f64> = eigen.eigenvectors.column(k).iter().map(|&x| few_digits(x)).collect();
            let (low, high) = open.domain.range(&frames, &direction);
            let worth = (high - low).powi(2) / eigen.eigenvalues[k].max(f64::MIN_POSITIVE);
            if best.as_ref().is_none_or(|(most, ..)| worth > *most) {
                best = Some((worth, direction, (low, high)));
            }
        }
        let Some((_, mut direction, (mut low, mut high))) = best else { return };
        let length = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
        let cosine = |slab: &Slab| {
            let dot: f64 = slab.direction.iter().zip(&direction).map(|(a, b)| a * b).sum();
            dot.abs() / (length(&slab.direction) * length(&direction))
        };
        let nearest = (0..open.domain.slabs.len())
            .map(|k| (cosine(&open.domain.slabs[k]), k))
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .filter(|(cosine, _)| *cosine > PARALLEL);
        if let Some((_, k)) = nearest {
            let slab = &open.domain.slabs[k];
            direction.clone_from(&slab.direction);
            (low, high) = open.domain.range(&frames, &direction);
            (low, high) = (low.max(slab.lower), high.min(slab.upper));
        }
        let place = nearest.map_or(open.domain.slabs.len(), |(_, k)| k);
        let middle = 0.5 * (low + high);
        let at = Some(few_digits(middle)).filter(|at| *at > low && *at < high).unwrap_or(middle);
        let mut children = [0; 2];
        for (child, (lower, upper)) in children.iter_mut().zip([(low, at), (at, high)]) {
            let mut domain = open.domain.clone();
            let mut dual = open.dual.clone();
            let slab = Slab { direction: direction.clone(), lower, upper };
            let half = 0.5 * (upper - lower);
            let multiplier = (0.5 * (self.target - open.lower) / (half * half)).ln();
            if place < domain.slabs.len() {
                (domain.slabs[place], dual.slabs[place]) = (slab, multiplier);
            } else {
                domain.slabs.push(slab);
                dual.slabs.push(multiplier);
            }
            *child = self.nodes.len();
            self.add(domain, Some(dual), open.lower, Some(open.axes.clone()));
        }
        self.nodes[open.number].cut = Some((Cut { direction, at }, children));
    }

    /// Bounds a new cell. `lower` is a bound that holds already, and `axes` the ellipsoid that belongs to it.
    fn add(&mut self, domain: Domain, dual: Option<Dual>, lower: f64, axes: Option<Axes>) {
        let rounds = self.rounds(domain, dual, lower, axes);
        let number = self.nodes.len();
        self.nodes.push(Node { bounds: rounds.bounds, cut: None });
        if let Some((domain, dual, axes)) = rounds.left {
            self.open.push(Open { lower: rounds.lower, number, domain, dual, axes });
        }
    }

    /// Rounds of ascent and contraction.
    fn rounds(
        &mut self,
        mut domain: Domain,
        mut dual: Option<Dual>,
        mut lower: f64,
        axes: Option<Axes>,
    ) -> Rounds {
        let n = self.layers.inputs;
        let first = dual.is_none();
        let mut axes = axes.unwrap_or_else(|| {
            (DVector::zeros(n), DMatrix::from_diagonal_element(n, n, 1.0 / (self.radius * self.radius)))
        });
        let mut bounds = Vec::new();
        let closed = |bounds| Rounds { lower: f64::INFINITY, left: None, bounds };
        for round in 0..if first { ROUNDS.0 } else { ROUNDS.1 } {
            self.evaluations += EVALUATIONS.1;
            let Some(ranges) = Ranges::over(self.layers, &domain) else { return closed(bounds) };
            let start = dual.take().unwrap_or_else(|| Dual::start(self.layers, &ranges, &domain));
            let long = first && round == 0;
            let fine = if first { 1.0 } else { ((self.target - lower) / 0.4).clamp(0.15, 1.0) };
            let schedule = Schedule {
                steps: if long { STEPS.0 } else { STEPS.1 },
                rate: if first { 0.06 } else { 0.036 * fine },
                smoothing: (if long { 0.02 } else { 0.001 * fine }, 0.0003 * fine),
                enough: self.target + 1e-3,
            };
            let (better, _, steps) = Ascent::new(self.layers, &ranges, &domain).run(start, schedule);
            self.evaluations += EVALUATIONS.0 * steps;
            let (new, ellipsoid, parabolas) = self.finish(&ranges, &domain, &better);
            let worse = new < lower || new.is_nan();
            let slow = lower.is_finite() && self.target - new > 0.85 * (self.target - lower);
            dual = Some(better);
            if new >= self.target {
                bounds.push(parabolas);
                return closed(bounds);
            }
            if worse {
                break;
            }
            bounds.push(parabolas);
            lower = new;
            axes = (ellipsoid.centre.clone(), ellipsoid.matrix.clone());
            domain.ellipsoid = Some(ellipsoid);
            if let Some(dual) = &mut dual {
                dual.ellipsoid = (0.1 * (self.target - lower)).ln();
            }
            if slow {
                break;
            }
        }
        let dual = dual.unwrap_or_default();
        Rounds { lower, left: Some((domain, dual, axes)), bounds }
    }

    /// The bound of dual variables, the ellipsoid that contains all perturbations of a smaller margin than the
    /// target, and the numbers that prove both.
    fn finish(&self, ranges: &Ranges, domain: &Domain, dual: &Dual) -> (f64, Ellipsoid, Parabolas) {
        let n = self.layers.inputs;
        let (dual, mut parabolas) = saved(self.layers, ranges, domain, dual);
        let (mut form, mut size) = dual::quadratic(self.layers, ranges, domain, &dual);
        form.add_multipliers(domain, &parabolas.slabs, parabolas.ellipsoid);
        size += multiplier_sizes(domain, &parabolas);
        let eigen = SymmetricEigen::new(form.matrix.clone());
        let multiplier =
            |smoothing: f64| with_multiplier(&form, eigen.clone(), self.radius, smoothing, n).multiplier;
        let exact = multiplier(0.0);
        let best = lowest(self.layers, &form, exact, self.radius, size);
        if let Some((low, ellipsoid)) = best.as_ref().filter(|(low, _)| *low >= self.target) {
            parabolas.ball = exact;
            return (*low, ellipsoid.clone(), parabolas);
        }
        let mut smallest: Option<(f64, Ellipsoid, f64)> = None;
        for smoothing in SMOOTHINGS {
            let multiplier = multiplier(smoothing);
            let Some((low, mut ellipsoid)) = lowest(self.layers, &form, multiplier, self.radius, size) else {
                continue;
            };
            ellipsoid.matrix /= self.target - low;
            let Some(extent) = extent(self.layers, &ellipsoid) else { continue };
            if smallest.as_ref().is_none_or(|(least, ..)| extent < *least) {
                smallest = Some((extent, ellipsoid, multiplier));
            }
        }
        match (best, smallest) {
            (Some((low, _)), Some((_, ellipsoid, multiplier))) => {
                parabolas.ball = multiplier;
                (low, ellipsoid, parabolas)
            }
            _ => {
                let identity = DMatrix::from_diagonal_element(n, n, 1.0 / (self.radius * self.radius));
                (f64::NEG_INFINITY, Ellipsoid { centre: DVector::zeros(n), matrix: identity }, parabolas)
            }
        }
    }

    /// The cells, each before its two parts.
    pub fn cells(self) -> Vec<Cell> {
        let mut nodes: Vec<Option<Node>> = self.nodes.into_iter().map(Some).collect();
        let mut cells = Vec::with_capacity(nodes.len());
        let mut next = vec![0];
        while let Some(number) = next.pop() {
            let Some(Node { bounds, cut }) = nodes[number].take() else { continue };
            let cut = cut.map(|(cut, [below, above])| {
                next.extend([above, below]);
                cut
            });
            cells.push(Cell { bounds, cut });
        }
        cells
    }
}

/// The sum of the widths of the first layer's arguments over an ellipsoid.
fn extent(layers: &Layers<'_>, ellipsoid: &Ellipsoid) -> Option<f64> {
    let inverse = ellipsoid.matrix.clone().cholesky()?.inverse();
    let n = layers.inputs;
    let blocks = layers.origin.len();
    let mut sum = 0.0;
    for b in 0..blocks {
        for l in 0..LANES {
            let row = DVector::from_fn(n, |i, _| layers.columns[i * blocks + b].0[l]);
            sum += row.dot(&(&inverse * &row)).max(0.0).sqrt();
        }
    }
    sum.is_finite().then_some(sum)
}

/// A lower bound of a form over the ball with a multiplier of the ball, and the ellipsoid
/// `low + (y - centre)^T matrix (y - centre) <= form(y)`. `None` if the multiplier is too small. `size` is
/// the sum of the magnitudes of the terms that the form was computed from.
fn lowest(
    layers: &Layers<'_>,
    form: &Form,
    multiplier: f64,
    radius: f64,
    size: f64,
) -> Option<(f64, Ellipsoid)> {
    let n = form.linear.len();
    let mut matrix = &form.matrix + DMatrix::from_diagonal_element(n, n, multiplier);
    matrix = 0.5 * (&matrix + matrix.transpose());
    let room = 1e-11 * matrix.norm();
    // It is positive definite with room for the rounding of the decomposition.
    (&matrix - DMatrix::from_diagonal_element(n, n, room)).cholesky()?;
    let centre = matrix.clone().cholesky()?.solve(&(-0.5 * &form.linear));
    let turned = &matrix * &centre;
    let residual = (2.0 * &turned + &form.linear).norm();
    let low = form.constant + form.linear.dot(&centre) + centre.dot(&turned) - multiplier * radius * radius;
    let sizes = size
        + form.constant.abs()
        + form.linear.norm() * (radius + centre.norm())
        + matrix.norm() * (radius + centre.norm()).powi(2);
    let units = (layers.weight.len() + layers.origin.len()) * LANES;
    let rounding = 8.0 * f64::EPSILON * (units + n + 64) as f64 * sizes + layers.rounding;
    let low = low - residual * (radius + centre.norm()) - rounding;
    low.is_finite().then_some((low, Ellipsoid { centre, matrix }))
}

/// The magnitudes of the terms of multipliers.
fn multiplier_sizes(domain: &Domain, parabolas: &Parabolas) -> f64 {
    let slabs = domain.slabs.iter().zip(&parabolas.slabs).map(|(slab, multiplier)| {
        let reach = domain.radius * slab.direction.iter().map(|d| d * d).sum::<f64>().sqrt();
        multiplier * (reach + slab.lower.abs() + slab.upper.abs()).powi(2)
    });
    let ellipsoid = domain.ellipsoid.as_ref().map_or(0.0, |own| {
        parabolas.ellipsoid * (1.0 + own.matrix.norm() * (domain.radius + own.centre.norm()).powi(2))
    });
    slabs.sum::<f64>() + ellipsoid
}

/// The dual variables with few digits, for the bound and for the proof.
fn saved(layers: &Layers<'_>, ranges: &Ranges, domain: &Domain, dual: &Dual) -> (Dual, Parabolas) {
    let mut dual = dual.effective(layers, ranges);
    let units = |lanes: &[Lanes], k: usize| lanes[k / LANES].0[k % LANES];
    let (outer, inner) = match layers.second {
        Some(second) => (second.backward.inputs(), second.forward.inputs()),
        None => (layers.units, 0),
    };
    let parabolas = Parabolas {
        outer: (0..outer).map(|k| [units(&dual.alpha, k), units(&dual.beta, k)]).collect(),
        inner: (0..inner)
            .map(|k| {
                let lines = ranges
                    .inner
                    .as_ref()
                    .map_or([0.0; 2], |inner| [units(&inner.slope, k), units(&inner.offset, k)]);
                let [square, line, split, shift, twist] =
                    [&dual.square, &dual.line, &dual.split, &dual.shift, &dual.twist].map(|x| units(x, k));
                [square, line, split, shift, twist, lines[0], lines[1]]
            })
            .collect(),
        slabs: dual.slabs.iter().map(|m| few_digits(m.exp())).collect(),
        ellipsoid: if domain.ellipsoid.is_some() { few_digits(dual.ellipsoid.exp()) } else { 0.0 },
        ball: 0.0,
    };
    dual.split.iter_mut().for_each(|s| *s = s.map(f64::ln));
    (dual, parabolas)
}
