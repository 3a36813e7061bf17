//! Substitution of the nodes of a tape, from some nodes back to the inputs, for several nodes at a time.

use std::collections::BTreeMap;

use super::affine::{Affine, Plane};
use super::norm::Touching;
use super::tape::{Node, Tape};
use super::unit::Line;
use crate::network::Vectorised;

/// Substitutes lines for functions: `lines` gives the line of a node with a coefficient, and a number that
/// is multiplied with the rounding error of the coefficient. No target may depend on another; all of them
/// get the line of the first one's coefficient.
pub(super) struct Substitution<'a, 'p, const W: usize, L> {
    pub affine: &'a Affine,
    pub tape: &'a Tape<'p>,
    pub targets: [usize; W],
    pub lines: L,
    pub norms: Norms<'a>,
}

/// The planes that are substituted for norms, by their nodes.
#[derive(Clone, Copy)]
pub(super) struct Norms<'a> {
    /// Parallel planes around the norm.
    pub parallel: &'a BTreeMap<usize, Touching>,
    /// Single planes that touch the norm at a point, for norms with a positive coefficient. The others then get the
    /// upper one of the parallel planes.
    pub touching: Option<&'a BTreeMap<usize, Touching>>,
}

impl<'a> Norms<'a> {
    /// The plane of a node with a coefficient, and a number that is multiplied with the rounding error of the
    /// coefficient. Its slopes are those of the plane that comes with it.
    fn plane(self, k: usize, coefficient: f64) -> Option<(&'a Touching, Line, f64)> {
        let parallel = self.parallel.get(&k)?;
        let Some(touching) = self.touching else { return Some((parallel, parallel.parallel(), 0.0)) };
        match touching.get(&k).filter(|_| coefficient > 0.0) {
            Some(plane) => Some((plane, plane.one_sided(true), plane.gap)),
            None => Some((parallel, parallel.one_sided(false), parallel.gap)),
        }
    }
}

/// The planes of the targets and, for each node, its contribution to their errors and its coefficients in
/// them.
pub(super) struct Substituted<const W: usize> {
    pub planes: [Plane; W],
    pub errors: Vec<[f64; W]>,
    pub coefficients: Vec<[f64; W]>,
}

/// What is collected on the way to the inputs.
struct Totals<const W: usize> {
    coefficients: Vec<[f64; W]>,
    /// For each node, at least the magnitude of each of its coefficients: the sum of the absolute values of
    /// all terms that were added to it.
    sizes: Vec<f64>,
    /// For each node, the targets that depend on it, one bit each.
    used: Vec<u32>,
    errors: Vec<[f64; W]>,
    constant: Summed<W>,
    error: Summed<W>,
    /// The effect of the coefficients' errors on constants and errors.
    wrong: f64,
}

impl<const W: usize, L: Fn(usize, f64) -> (Line, f64)> Vectorised for Substitution<'_, '_, W, L> {
    type Output = Substituted<W>;

    #[inline(always)]
    fn run<const FUSED: bool>(self) -> Substituted<W> {
        let Self { affine, tape, targets, lines, norms } = self;
        let last = targets.iter().copied().max().unwrap_or(0);
        let zeros = || vec![[0.0; W]; last + 1];
        let mut totals = Totals {
            coefficients: zeros(),
            sizes: vec![0.0; last + 1],
            used: vec![0; last + 1],
            errors: zeros(),
            constant: Summed::new(),
            error: Summed::new(),
            wrong: 0.0,
        };
        for (lane, &target) in targets.iter().enumerate() {
            totals.coefficients[target][lane] = 1.0;
            totals.sizes[target] = 1.0;
            totals.used[target] |= 1 << lane;
        }
        for k in (tape.inputs..=last).rev() {
            if totals.used[k] == 0 {
                continue;
            }
            match &tape.nodes[k] {
                Node::Input => {}
                Node::Sum(own, terms) => totals.sum(k, *own, terms),
                Node::Apply(_, j) => {
                    let (line, apart) = lines(k, totals.coefficients[k][0]);
                    totals.enclosed(k, line.offset, line.radius, 1.0);
                    totals.wrong += totals.sizes[k] * apart;
                    totals.pass(k, *j, line.slope);
                }
                Node::Product(i, j) => {
                    let (x, y) = (affine.ranges[*i], affine.ranges[*j]);
                    let (x0, y0) = (x.middle(), y.middle());
                    let (rx, ry) = (0.5 * (x.upper - x.lower), 0.5 * (y.upper - y.lower));
                    if (rx + ry).is_finite() {
                        // The computed middle is rounded too.
                        totals.enclosed(k, -x0 * y0, rx * ry * (1.0 + 1e-14), 2.0);
                        totals.wrong += totals.sizes[k] * (x.size() * ry + y.size() * rx);
                        totals.pass(k, *i, y0);
                        totals.pass(k, *j, x0);
                    } else {
                        totals.enclosed(k, 0.0, f64::INFINITY, 1.0);
                    }
                }
                Node::Norm(arguments)
                    if let Some((plane, line, apart)) = norms.plane(k, totals.coefficients[k][0]) =>
                {
                    totals.enclosed(k, line.offset, line.radius, 1.0);
                    totals.wrong += totals.sizes[k] * apart;
                    for (&j, &slope) in arguments.iter().zip(&plane.slopes) {
                        totals.pass(k, j, slope);
                    }
                }
                Node::Norm(_) | Node::Slack(..) | Node::Opaque(..) => {
                    let range = affine.ranges[k];
                    let radius = 0.5 * (range.upper - range.lower);
                    match radius.is_finite() {
                        true => totals.enclosed(k, range.middle(), radius, 2.0),
                        false => totals.enclosed(k, 0.0, f64::INFINITY, 1.0),
                    }
                }
            }
        }
        totals.finish(tape)
    }
}

impl<const W: usize> Totals<W> {
    /// Replaces a sum by its terms.
    #[inline(always)]
    fn sum(&mut self, k: usize, own: f64, terms: &[(usize, f64)]) {
        let (c, size, used) = (self.coefficients[k], self.sizes[k], self.used[k]);
        self.constant.add(c.map(|c| c * own));
        self.wrong += size * own.abs();
        for &(j, factor) in terms {
            self.coefficients[j] = plus(self.coefficients[j], c, factor);
            self.sizes[j] += size * factor.abs();
            self.used[j] |= used;
        }
    }

    /// Replaces a node by `offset +- radius`. The rounding error of the coefficient counts `factor` times.
    #[inline(always)]
    fn enclosed(&mut self, k: usize, offset: f64, radius: f64, factor: f64) {
        let c = self.coefficients[k];
        let mut own = [0.0; W];
        for lane in 0..W {
            let error = c[lane].abs() * radius;
            // Zero times infinity is unknown, so the error is infinite, unless the node is not used.
            let unknown = if self.used[k] & (1 << lane) == 0 { 0.0 } else { f64::INFINITY };
            own[lane] = if error.is_nan() { unknown } else { error };
        }
        self.constant.add(c.map(|c| c * offset));
        self.error.add(own);
        // An infinite error covers the rounding of every target that uses the node, and must not spread to others.
        if radius.is_finite() {
            self.wrong += self.sizes[k] * factor * (offset.abs() + radius);
        }
        self.errors[k] = own;
    }

    /// Adds `factor` times the coefficient of `k` to that of `j`.
    #[inline(always)]
    fn pass(&mut self, k: usize, j: usize, factor: f64) {
        self.coefficients[j] = plus(self.coefficients[j], self.coefficients[k], factor);
        self.sizes[j] += self.sizes[k] * factor.abs();
        self.used[j] |= self.used[k];
    }

    fn finish(self, tape: &Tape<'_>) -> Substituted<W> {
        let Totals { coefficients, sizes, errors, constant, error, wrong, .. } = self;
        let inputs = tape.inputs.min(coefficients.len());
        let mut doubt: Vec<f64> = sizes[..inputs].iter().map(|size| tape.rounding * size).collect();
        doubt.resize(tape.inputs, 0.0);
        let planes = std::array::from_fn(|lane| {
            let mut linear: Vec<f64> = coefficients[..inputs].iter().map(|of| of[lane]).collect();
            linear.resize(tape.inputs, 0.0);
            let sizes = constant.size[lane] + error.size[lane];
            let rounding = 8.0 * f64::EPSILON * sizes + tape.rounding * wrong;
            let error = error.value(lane) + rounding;
            Plane { linear, doubt: doubt.clone(), constant: constant.value(lane), error }
        });
        Substituted { planes, errors, coefficients }
    }
}

/// `sum + factor * terms`.
#[inline(always)]
fn plus<const W: usize>(mut sum: [f64; W], terms: [f64; W], factor: f64) -> [f64; W] {
    for lane in 0..W {
        sum[lane] += factor * terms[lane];
    }
    sum
}

/// Compensated sums (Neumaier), and the sums of magnitudes.
struct Summed<const W: usize> {
    sum: [f64; W],
    lost: [f64; W],
    size: [f64; W],
}

impl<const W: usize> Summed<W> {
    fn new() -> Self {
        Self { sum: [0.0; W], lost: [0.0; W], size: [0.0; W] }
    }

    #[inline(always)]
    fn add(&mut self, terms: [f64; W]) {
        for lane in 0..W {
            let (sum, term) = (self.sum[lane], terms[lane]);
            let next = sum + term;
            let lost = if sum.abs() >= term.abs() { sum - next + term } else { term - next + sum };
            self.lost[lane] += if next.is_finite() { lost } else { 0.0 };
            self.sum[lane] = next;
            self.size[lane] += term.abs();
        }
    }

    fn value(&self, lane: usize) -> f64 {
        self.sum[lane] + self.lost[lane]
    }
}
