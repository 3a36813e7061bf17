//! The least value of a quadratic lower bound over a region.

use nalgebra::{DMatrix, Dyn, SymmetricEigen};

use super::region::Region;
use crate::graph::Interval;

/// `value + gradient.(y - at) + (y - at)^T matrix (y - at) / 2`: a lower bound of a function whose
/// Hessian is at least `matrix`.
#[derive(Clone, Debug)]
pub(crate) struct Quadratic<'a> {
    pub at: &'a [f64],
    pub value: f64,
    pub gradient: &'a [f64],
    /// Row by row, symmetric.
    pub matrix: &'a [f64],
}

/// The number of projected steps where the least value has no closed form.
const STEPS: usize = 30;

impl Quadratic<'_> {
    /// A lower bound of the least value over a region; minus infinity where there is none.
    ///
    /// With R the largest length of a point of the region and any `m >= 0`, `Q(y) = q(y) + m (|y|^2 -
    /// R^2) / 2` is at most `q(y)` over the region. If m makes Q convex, Q is at least its tangent at any
    /// y, and the least value of a tangent over the region is known. At the m and y that solve the
    /// trust-region problem the bound is exact (Moré and Sorensen, 1983). Only the convexity of Q depends
    /// on computed eigenvalues; m is chosen larger than they require by more than their error.
    pub fn lower(&self, region: &Region) -> f64 {
        let n = self.at.len();
        if n == 0 || self.matrix.iter().chain(self.gradient).any(|x| !x.is_finite()) {
            return f64::NEG_INFINITY;
        }
        let eigen = SymmetricEigen::new(DMatrix::from_row_slice(n, n, self.matrix));
        let size = eigen.eigenvalues.amax();
        let least = eigen.eigenvalues.min();
        let longest_squared = region.longest_squared();
        let convex = (-least).max(0.0) + 1e-9 * size + f64::MIN_POSITIVE;
        // `origin` is the gradient of q at the origin; `b` is the same in the basis of eigenvectors.
        let moved = |i: usize| self.gradient[i] - self.row(i).zip(self.at).map(|(m, p)| m * p).sum::<f64>();
        let origin: Vec<f64> = (0..n).map(moved).collect();
        let along =
            |k: usize| -> f64 { eigen.eigenvectors.column(k).iter().zip(&origin).map(|(v, o)| v * o).sum() };
        let b: Vec<f64> = (0..n).map(along).collect();
        let length = |m: f64| -> f64 { (0..n).map(|k| (b[k] / (eigen.eigenvalues[k] + m)).powi(2)).sum() };
        let mut multiplier = convex;
        if length(convex) > longest_squared {
            let (mut low, mut high) =
                (convex, convex + b.iter().map(|b| b * b).sum::<f64>().sqrt() / longest_squared.sqrt());
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                if length(middle) > longest_squared { low = middle } else { high = middle }
            }
            multiplier = high;
        }
        let turned = |i: usize| -> f64 {
            (0..n).map(|k| -b[k] / (eigen.eigenvalues[k] + multiplier) * eigen.eigenvectors[(i, k)]).sum()
        };
        let mut y: Vec<f64> = (0..n).map(turned).collect();
        let mut best = self.tangent(&y, multiplier, longest_squared, region).max(self.tangent(
            self.at,
            multiplier,
            longest_squared,
            region,
        ));
        if region.is_round() {
            return best;
        }
        // For other regions the multiplier only makes Q convex, and y is found by a search.
        multiplier = convex;
        y.copy_from_slice(self.at);
        let step = 1.0 / (eigen.eigenvalues.max() + multiplier).max(f64::MIN_POSITIVE);
        for _ in 0..STEPS {
            let gradient = self.slope(&y, multiplier);
            y.iter_mut().zip(&gradient).for_each(|(y, g)| *y -= step * g);
            region.project(&mut y);
            best = best.max(self.tangent(&y, multiplier, longest_squared, region));
        }
        best
    }

    /// A lower bound over a box or a part of a ball, and an approximate minimiser; `at` must be the
    /// origin. Stops as soon as the bound reaches `enough`.
    ///
    /// Concave parts are replaced by convex functions below them. With R the largest length of a point of
    /// the region and `m >= 0`, `m (|y|^2 - R^2) / 2` is not positive on the region and may be added. So
    /// may `e ((v.y)^2 - (a + b) v.y + a b) / 2` with `e >= 0` for a direction v with `a <= v.y <= b`.
    /// The first term is zero if the minimiser lies on the sphere, so the bound is exact where m is the
    /// multiplier of that minimiser. With a smaller m, the second term is added for the directions that
    /// are still concave. The resulting convex function is at least its tangent at any y.
    pub fn lower_in_part(&self, region: &Region, enough: f64) -> (f64, Vec<f64>) {
        let n = self.at.len();
        if n == 0 || self.matrix.iter().chain(self.gradient).any(|x| !x.is_finite()) {
            return (f64::NEG_INFINITY, self.at.to_vec());
        }
        let eigen = SymmetricEigen::new(DMatrix::from_row_slice(n, n, self.matrix));
        let longest_squared = region.longest_squared();
        let convex = (-eigen.eigenvalues.min()).max(0.0);
        let mut y = region.lowest(self.gradient);
        let steep = self.gradient.iter().map(|g| g * g).sum::<f64>().sqrt() / longest_squared.sqrt();
        let mut best = f64::NEG_INFINITY;
        // A smaller multiplier gives a tighter bound but a less curved function, which takes more steps
        // to minimise. So the first, largest multiplier only supplies the starting point of the next
        // search.
        let shares =
            [(convex.max(if region.is_round() { steep } else { 0.0 }), 8), (convex, 40), (0.5 * convex, 20)];
        for (multiplier, steps) in shares {
            best = best.max(self.lower_with(&eigen, multiplier, steps, &mut y, region, enough));
            if best >= enough {
                break;
            }
        }
        (best, y)
    }

    /// See [`Quadratic::lower_in_part`]. The search starts at `y` and leaves its last point there.
    fn lower_with(
        &self,
        eigen: &SymmetricEigen<f64, Dyn>,
        multiplier: f64,
        steps: usize,
        y: &mut [f64],
        region: &Region,
        enough: f64,
    ) -> f64 {
        let n = self.at.len();
        let longest_squared = region.longest_squared();
        let mut matrix = self.matrix.to_vec();
        let mut gradient = self.gradient.to_vec();
        let mut value = self.value;
        // The added `1e-9` share exceeds the error of the eigenvalues.
        let curved = multiplier + 1e-9 * eigen.eigenvalues.amax() + f64::MIN_POSITIVE;
        for k in 0..n {
            let e = -(eigen.eigenvalues[k] + multiplier);
            if e <= 0.0 {
                continue;
            }
            let direction: Vec<f64> = eigen.eigenvectors.column(k).iter().copied().collect();
            let Interval { lower, upper } = region.range(&direction);
            for i in 0..n {
                gradient[i] -= 0.5 * e * (lower + upper) * direction[i];
                for j in 0..n {
                    matrix[i * n + j] += e * direction[i] * direction[j];
                }
            }
            value += 0.5 * e * lower * upper;
            value -= 1e-14 * e * (longest_squared + (lower.abs() + upper.abs()).powi(2));
        }
        let convex = Quadratic { at: self.at, value, gradient: &gradient, matrix: &matrix };
        let steepest = eigen.eigenvalues.max().max(0.0) + curved;
        let mut best = f64::NEG_INFINITY;
        // Nesterov's accelerated gradient method.
        let mut ahead = y.to_vec();
        let mut momentum = 1.0f64;
        for number in 1..=steps {
            let slope = convex.slope(&ahead, curved);
            let mut next: Vec<f64> = ahead.iter().zip(&slope).map(|(y, g)| y - g / steepest).collect();
            region.project(&mut next);
            let faster = 0.5 * (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt());
            let share = (momentum - 1.0) / faster;
            for i in 0..n {
                ahead[i] = next[i] + share * (next[i] - y[i]);
            }
            momentum = faster;
            y.copy_from_slice(&next);
            if number.is_multiple_of(8) || number == steps {
                best = best.max(convex.tangent(y, curved, longest_squared, region));
                if best >= enough {
                    break;
                }
            }
        }
        best
    }

    /// An approximate minimiser over an l2 ball around the origin. Searches use it; no proof relies on
    /// it.
    pub fn minimiser(&self, radius: f64) -> Vec<f64> {
        let n = self.at.len();
        let eigen = SymmetricEigen::new(DMatrix::from_row_slice(n, n, self.matrix));
        let moved = |i: usize| self.gradient[i] - self.row(i).zip(self.at).map(|(m, p)| m * p).sum::<f64>();
        let origin: Vec<f64> = (0..n).map(moved).collect();
        let along =
            |k: usize| -> f64 { eigen.eigenvectors.column(k).iter().zip(&origin).map(|(v, o)| v * o).sum() };
        let b: Vec<f64> = (0..n).map(along).collect();
        let length = |m: f64| -> f64 { (0..n).map(|k| (b[k] / (eigen.eigenvalues[k] + m)).powi(2)).sum() };
        let least =
            (-eigen.eigenvalues.min()).max(0.0) + 1e-12 * eigen.eigenvalues.amax() + f64::MIN_POSITIVE;
        let mut multiplier = least;
        if length(least) > radius * radius {
            // Newton's method on 1 / length, which is nearly linear in the multiplier, from the side
            // where the point is too long.
            let (mut low, mut high) = (least, least + b.iter().map(|b| b * b).sum::<f64>().sqrt() / radius);
            multiplier = high;
            for _ in 0..50 {
                let square = length(multiplier);
                let long = square.sqrt();
                if (long - radius).abs() <= 1e-12 * radius {
                    break;
                }
                if long > radius {
                    low = multiplier
                } else {
                    high = multiplier
                }
                let slope: f64 =
                    (0..n).map(|k| b[k] * b[k] / (eigen.eigenvalues[k] + multiplier).powi(3)).sum::<f64>()
                        / square;
                let next = multiplier + (long - radius) / (radius * slope);
                multiplier = if next > low && next < high { next } else { 0.5 * (low + high) };
            }
        }
        let turned = |i: usize| -> f64 {
            (0..n).map(|k| -b[k] / (eigen.eigenvalues[k] + multiplier) * eigen.eigenvectors[(i, k)]).sum()
        };
        (0..n).map(turned).collect()
    }

    fn row(&self, i: usize) -> impl Iterator<Item = &f64> {
        let n = self.at.len();
        self.matrix[i * n..(i + 1) * n].iter()
    }

    /// The gradient of Q.
    pub fn slope(&self, y: &[f64], multiplier: f64) -> Vec<f64> {
        let quadratic =
            |i: usize| -> f64 { self.row(i).zip(y.iter().zip(self.at)).map(|(m, (y, p))| m * (y - p)).sum() };
        (0..y.len()).map(|i| self.gradient[i] + quadratic(i) + multiplier * y[i]).collect()
    }

    /// A lower bound of the least value over the region of the tangent of Q at y, rounding included.
    fn tangent(&self, y: &[f64], multiplier: f64, longest_squared: f64, region: &Region) -> f64 {
        let slope = self.slope(y, multiplier);
        let (mut first, mut second, mut square, mut along, mut size) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for i in 0..y.len() {
            let away = y[i] - self.at[i];
            let quadratic: f64 = self.row(i).zip(y.iter().zip(self.at)).map(|(m, (y, p))| m * (y - p)).sum();
            first += self.gradient[i] * away;
            second += 0.5 * away * quadratic;
            square += y[i] * y[i];
            along += slope[i] * y[i];
            size += (self.gradient[i] * away).abs()
                + self
                    .row(i)
                    .zip(y.iter().zip(self.at))
                    .map(|(m, (y, p))| (m * (y - p) * away).abs())
                    .sum::<f64>()
                + (slope[i].abs() + multiplier * y[i].abs()) * (y[i].abs() + region.size(i));
        }
        let penalty = 0.5 * multiplier * (square - longest_squared);
        size += self.value.abs() + 0.5 * multiplier * (square + longest_squared);
        let bound = self.value + first + second + penalty - along + region.least(&slope);
        let rounding = 4.0 * f64::EPSILON * (y.len() + 16) as f64 * size;
        if bound.is_nan() { f64::NEG_INFINITY } else { bound - rounding }
    }
}
