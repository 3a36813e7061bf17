//! The part of the ball that a cell consists of: what lies in the ball, in an ellipsoid and between planes.

use nalgebra::{DMatrix, DVector};

use crate::network::{LANES, Lanes, Vectorised, vectorised};

/// `(y - centre)^T matrix (y - centre) <= 1`.
#[derive(Clone, Debug)]
pub(super) struct Ellipsoid {
    pub centre: DVector<f64>,
    pub matrix: DMatrix<f64>,
}

/// `lower <= direction . y <= upper`.
#[derive(Clone, Debug)]
pub(super) struct Slab {
    pub direction: Vec<f64>,
    pub lower: f64,
    pub upper: f64,
}

/// The intersection of the ball, an ellipsoid and slabs.
#[derive(Clone, Debug)]
pub(super) struct Domain {
    pub inputs: usize,
    pub radius: f64,
    pub ellipsoid: Option<Ellipsoid>,
    pub slabs: Vec<Slab>,
}

/// An ellipsoid `{centre + factor x: |x| <= stretch}` that contains the ball's part of a domain, with the
/// slabs in the coordinates x.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub centre: DVector<f64>,
    pub factor: DMatrix<f64>,
    pub stretch: f64,
    /// Unit direction, lower and upper end.
    slabs: Vec<(Vec<f64>, f64, f64)>,
}

/// The shares of the ball in the ellipsoids whose support functions are tried.
const SHARES: [f64; 4] = [1.0, 0.5, 0.2, 0.0];
/// The number of passes over the multipliers of the slabs.
const SWEEPS: usize = 2;
/// Relative room for the rounding of support functions.
const ROOM: f64 = 1e-11;

impl Domain {
    pub fn ball(inputs: usize, radius: f64) -> Self {
        Self { inputs, radius, ellipsoid: None, slabs: Vec::new() }
    }

    /// Ellipsoids that contain the domain. Empty if the domain is empty.
    pub fn frames(&self) -> Vec<Frame> {
        let shares = if self.ellipsoid.is_some() { &SHARES[..] } else { &SHARES[..1] };
        let mut frames = Vec::new();
        for &share in shares {
            match self.frame(share) {
                Some(frame) if frame.stretch < 0.0 => return Vec::new(),
                frame => frames.extend(frame),
            }
        }
        frames
    }

    /// The ellipsoid `share |y|^2 / R^2 + (1 - share) (y - c)^T B (y - c) <= 1`; `None` if it cannot be
    /// computed. Its stretch is negative if it is empty.
    fn frame(&self, share: f64) -> Option<Frame> {
        let n = self.inputs;
        let square = self.radius * self.radius;
        let mut matrix = DMatrix::from_diagonal_element(n, n, share / square);
        let (mut linear, mut constant) = (DVector::zeros(n), 0.0);
        if let Some(Ellipsoid { centre, matrix: own }) = self.ellipsoid.as_ref().filter(|_| share < 1.0) {
            matrix += own * (1.0 - share);
            linear = own * centre * (1.0 - share);
            constant = linear.dot(centre);
        }
        let inverse = matrix.clone().cholesky()?;
        let centre = inverse.solve(&linear);
        // The completed square, with the residual of the linear system.
        let residual = (&matrix * &centre - &linear).norm();
        let square = centre.dot(&(&matrix * &centre));
        let sizes = constant.abs() + square.abs();
        let level = 1.0 - constant + square + 2.0 * residual * self.radius + 1e-12 * sizes;
        let factor = inverse.l().transpose().try_inverse()?;
        let error = (factor.transpose() * &matrix * &factor - DMatrix::identity(n, n)).norm() + 1e-12;
        if !(error < 1e-3 && level.is_finite()) {
            return None;
        }
        let stretch = if level < 0.0 { -1.0 } else { (level / (1.0 - error)).sqrt() * (1.0 + ROOM) };
        let slab = |slab: &Slab| {
            let direction = DVector::from_column_slice(&slab.direction);
            let along = direction.dot(&centre);
            let turned = factor.transpose() * direction;
            let length = turned.norm();
            let (lower, upper) = ((slab.lower - along) / length, (slab.upper - along) / length);
            (turned.iter().map(|t| t / length).collect::<Vec<f64>>(), lower - ROOM, upper + ROOM)
        };
        let slabs: Vec<(Vec<f64>, f64, f64)> =
            self.slabs.iter().rev().map(slab).filter(|(_, l, u)| (l + u).is_finite()).collect();
        // A slab beside the ellipsoid leaves nothing.
        let far = stretch * (1.0 + ROOM);
        let is_empty = slabs.iter().any(|(_, lower, upper)| *lower > far || *upper < -far);
        let stretch = if is_empty { -1.0 } else { stretch };
        Some(Frame { centre, factor, stretch, slabs })
    }

    /// Lower and upper bounds of `row . y` for many rows: one row per lane, one block of columns per
    /// coordinate.
    pub fn ranges(&self, frames: &[Frame], columns: &[Lanes]) -> (Vec<Lanes>, Vec<Lanes>) {
        let blocks = columns.len() / self.inputs;
        let mut lower = vec![Lanes::splat(f64::NEG_INFINITY); blocks];
        let mut upper = vec![Lanes::splat(f64::INFINITY); blocks];
        for frame in frames {
            vectorised(Supports { frame, columns, lower: &mut lower, upper: &mut upper });
        }
        (lower, upper)
    }

    /// Lower and upper bound of `row . y`.
    pub fn range(&self, frames: &[Frame], row: &[f64]) -> (f64, f64) {
        let columns: Vec<Lanes> = row.iter().map(|&a| Lanes::splat(a)).collect();
        let (lower, upper) = self.ranges(frames, &columns);
        (lower[0].0[0], upper[0].0[0])
    }
}

/// Bounds of rows over a frame. For any multipliers v of the slabs,
///
/// ```text
/// g . y <= g . centre + stretch |h - sum_i v_i t_i| + sum_i max(v_i lower_i, v_i upper_i),   h = factor^T g,
/// ```
///
/// and one multiplier after the other is set to its best value, which has a closed form.
struct Supports<'a> {
    frame: &'a Frame,
    columns: &'a [Lanes],
    lower: &'a mut [Lanes],
    upper: &'a mut [Lanes],
}

impl Vectorised for Supports<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Supports { frame, columns, lower, upper } = self;
        let blocks = lower.len();
        let n = frame.centre.len();
        let mut turned = vec![[0.0; LANES]; n];
        let mut rest = vec![[0.0; LANES]; n];
        let mut multipliers = vec![[0.0; LANES]; frame.slabs.len()];
        for b in 0..blocks {
            let mut middle = [0.0; LANES];
            turned.fill([0.0; LANES]);
            for i in 0..n {
                let row = &columns[i * blocks + b].0;
                let at = frame.centre[i];
                for l in 0..LANES {
                    middle[l] += row[l] * at;
                }
                for j in 0..n {
                    let f = frame.factor[(i, j)];
                    if f != 0.0 {
                        for l in 0..LANES {
                            turned[j][l] += row[l] * f;
                        }
                    }
                }
            }
            for sign in [1.0, -1.0] {
                for i in 0..n {
                    for l in 0..LANES {
                        rest[i][l] = sign * turned[i][l];
                    }
                }
                let most = support(frame, &mut rest, &mut multipliers);
                for l in 0..LANES {
                    let bound = sign * middle[l] + most[l] + ROOM * middle[l].abs();
                    if sign > 0.0 {
                        upper[b].0[l] = upper[b].0[l].min(bound);
                    } else {
                        lower[b].0[l] = lower[b].0[l].max(-bound);
                    }
                }
            }
        }
    }
}

/// Upper bounds of `rest . x` for the x of a frame. Uses `rest` and `multipliers` as scratch memory.
#[inline(always)]
fn support(frame: &Frame, rest: &mut [[f64; LANES]], multipliers: &mut [[f64; LANES]]) -> [f64; LANES] {
    let n = rest.len();
    let radius = frame.stretch;
    multipliers.fill([0.0; LANES]);
    if !frame.slabs.is_empty() {
        for _ in 0..SWEEPS {
            for (k, (direction, lower, upper)) in frame.slabs.iter().enumerate() {
                let (mut along, mut square) = ([0.0; LANES], [0.0; LANES]);
                for i in 0..n {
                    for l in 0..LANES {
                        along[l] += rest[i][l] * direction[i];
                        square[l] += rest[i][l] * rest[i][l];
                    }
                }
                let slope = |end: f64| end / (radius * radius - end * end).max(1e-30).sqrt();
                let (high, low) = (slope(*upper), slope(*lower));
                let mut step = [0.0; LANES];
                for l in 0..LANES {
                    let across = (square[l] - along[l] * along[l]).max(0.0).sqrt();
                    let a = along[l] + multipliers[k][l];
                    let (h, d) = (a - across * high, a - across * low);
                    let up = if *upper < radius && h > 0.0 { h } else { 0.0 };
                    let best = if *lower > -radius && d < 0.0 { d } else { up };
                    step[l] = best - multipliers[k][l];
                    multipliers[k][l] = best;
                }
                for i in 0..n {
                    for l in 0..LANES {
                        rest[i][l] -= step[l] * direction[i];
                    }
                }
            }
        }
    }
    let mut result = [0.0; LANES];
    for r in rest.iter() {
        for l in 0..LANES {
            result[l] += r[l] * r[l];
        }
    }
    for l in 0..LANES {
        result[l] = radius * result[l].sqrt() * (1.0 + ROOM);
    }
    for ((_, lower, upper), multiplier) in frame.slabs.iter().zip(multipliers.iter()) {
        for l in 0..LANES {
            let v = multiplier[l];
            // The rounding of `rest` is proportional to the multipliers.
            result[l] += (v * lower).max(v * upper) + ROOM * v.abs() * (radius + lower.abs() + upper.abs());
        }
    }
    result
}
