//! Smoothed least values on grids, for the ascent. No proof relies on them.

use crate::network::{LANES, Lanes, Vectorised};

/// The points of a grid over the range of each unit, and the values of the unit there.
#[derive(Clone, Debug, Default)]
pub(super) struct Grid {
    pub points: Vec<Lanes>,
    pub values: Vec<Lanes>,
}

impl Grid {
    /// `count` points between the ends of each range; `value` gets block, lane and point.
    pub fn new(
        count: usize,
        lower: &[Lanes],
        upper: &[Lanes],
        value: impl Fn(usize, usize, f64) -> f64,
    ) -> Self {
        let mut grid = Self::default();
        for g in 0..count {
            let share = g as f64 / (count - 1) as f64;
            for b in 0..lower.len() {
                let point = Lanes::from_fn(|l| lower[b].0[l] + share * (upper[b].0[l] - lower[b].0[l]));
                grid.points.push(point);
                grid.values.push(Lanes::from_fn(|l| value(b, l, point.0[l])));
            }
        }
        grid
    }
}

/// The share of a point in the smoothed minimum, which falls to zero eight times `smoothing` above it.
#[inline(always)]
fn share(above: f64, scale: f64) -> f64 {
    let x = (1.0 - above * scale).max(0.0);
    let x = x * x;
    let x = x * x;
    x * x
}

/// For `value - alpha z^2 - beta z`: the sum of the least values, and the means of z and z^2 near each.
pub(super) struct OuterMoments<'a> {
    pub grid: &'a Grid,
    pub alpha: &'a [Lanes],
    pub beta: &'a [Lanes],
    pub smoothing: f64,
    pub first: &'a mut [Lanes],
    pub second: &'a mut [Lanes],
}

impl Vectorised for OuterMoments<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<const FUSED: bool>(self) -> f64 {
        let OuterMoments { grid, alpha, beta, smoothing, first, second } = self;
        let blocks = alpha.len();
        let count = grid.points.len() / blocks.max(1);
        let scale = 0.125 / smoothing;
        let mut total = [0.0; LANES];
        let mut values = vec![[0.0; LANES]; count];
        for b in 0..blocks {
            let mut least = [f64::INFINITY; LANES];
            for g in 0..count {
                let (z, f) = (&grid.points[g * blocks + b].0, &grid.values[g * blocks + b].0);
                for l in 0..LANES {
                    let v = f[l] - (alpha[b].0[l] * z[l] + beta[b].0[l]) * z[l];
                    values[g][l] = v;
                    least[l] = if v < least[l] { v } else { least[l] };
                }
            }
            let (mut sum, mut one, mut two) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
            for g in 0..count {
                let z = &grid.points[g * blocks + b].0;
                for l in 0..LANES {
                    let s = share(values[g][l] - least[l], scale);
                    sum[l] += s;
                    one[l] += s * z[l];
                    two[l] += s * z[l] * z[l];
                }
            }
            for l in 0..LANES {
                total[l] += least[l];
                first[b].0[l] = one[l] / sum[l];
                second[b].0[l] = two[l] / sum[l];
            }
        }
        total.iter().sum()
    }
}

/// The number of moments of [`InnerMoments`]: the means of u, u^2, rho, u rho and rho^2.
pub(super) const MOMENTS: usize = 5;

/// For `(pull + twist u - price rho) rho - (square u + line) u`: the sum of the least values, and the
/// moments near each.
pub(super) struct InnerMoments<'a> {
    pub grid: &'a Grid,
    pub pull: &'a [Lanes],
    pub twist: &'a [Lanes],
    pub price: &'a [Lanes],
    pub square: &'a [Lanes],
    pub line: &'a [Lanes],
    pub smoothing: f64,
    pub moments: &'a mut [Vec<Lanes>; MOMENTS],
}

impl Vectorised for InnerMoments<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<const FUSED: bool>(self) -> f64 {
        let InnerMoments { grid, pull, twist, price, square, line, smoothing, moments } = self;
        let blocks = pull.len();
        let count = grid.points.len() / blocks.max(1);
        let scale = 0.125 / smoothing;
        let mut total = [0.0; LANES];
        let mut values = vec![[0.0; LANES]; count];
        for b in 0..blocks {
            let mut least = [f64::INFINITY; LANES];
            for g in 0..count {
                let (u, rho) = (&grid.points[g * blocks + b].0, &grid.values[g * blocks + b].0);
                for l in 0..LANES {
                    let v = (pull[b].0[l] + twist[b].0[l] * u[l] - price[b].0[l] * rho[l]) * rho[l]
                        - (square[b].0[l] * u[l] + line[b].0[l]) * u[l];
                    values[g][l] = v;
                    least[l] = if v < least[l] { v } else { least[l] };
                }
            }
            let mut sums = [[0.0; LANES]; MOMENTS + 1];
            for g in 0..count {
                let (u, rho) = (&grid.points[g * blocks + b].0, &grid.values[g * blocks + b].0);
                for l in 0..LANES {
                    let s = share(values[g][l] - least[l], scale);
                    sums[0][l] += s * u[l];
                    sums[1][l] += s * u[l] * u[l];
                    sums[2][l] += s * rho[l];
                    sums[3][l] += s * u[l] * rho[l];
                    sums[4][l] += s * rho[l] * rho[l];
                    sums[5][l] += s;
                }
            }
            for l in 0..LANES {
                total[l] += least[l];
                for m in 0..MOMENTS {
                    moments[m][b].0[l] = sums[m][l] / sums[MOMENTS][l];
                }
            }
        }
        total.iter().sum()
    }
}

/// `output_i = sum_j matrix_ij columns_j`, for a symmetric matrix.
pub(super) struct Mix<'a> {
    pub matrix: &'a [f64],
    pub columns: &'a [Lanes],
    pub output: &'a mut [Lanes],
    pub inputs: usize,
}

impl Vectorised for Mix<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Mix { matrix, columns, output, inputs } = self;
        let blocks = columns.len() / inputs;
        for b in 0..blocks {
            for i in 0..inputs {
                let mut sum = [0.0; LANES];
                for j in 0..inputs {
                    let (x, column) = (matrix[i * inputs + j], &columns[j * blocks + b].0);
                    for l in 0..LANES {
                        sum[l] += x * column[l];
                    }
                }
                output[i * blocks + b].0 = sum;
            }
        }
    }
}
