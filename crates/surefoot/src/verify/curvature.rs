//! The curvature bound: a lower bound of a function from bounds of its second derivatives.
//!
//! With `v_k` the gradient of the argument of node k and `adjoint_k` the derivative of the result
//! in node k, the Hessian of the result is
//!
//! ```text
//! sum over functions of adjoint_k f''(z_k) v_k v_k^T
//!   + sum over products of adjoint_k (v_x v_y^T + v_y v_x^T)
//!   + sum over norms of adjoint_k / |z| (sum over arguments of v_j v_j^T - v_k v_k^T),
//! ```
//!
//! and a product's term is `adjoint_k / 2` times `(v_x + v_y)(v_x + v_y)^T - (v_x - v_y)(v_x - v_y)^T`.
//! Over a zone the gradients are enclosed forwards from the inputs and the adjoints backwards from the
//! result, both as ranges. If v differs by at most rho (in length) from the middle of its range and the
//! factor is at least kappa, then in the order of symmetric matrices the term is at least
//!
//! ```text
//! kappa <  0:  kappa [(1 + s) v v^T + rho (rho + |v|) I],   s = rho / |v|,
//! kappa >= 0:  kappa [(1 - s) v v^T - rho (|v| - rho) I]    if s < 1, else 0:
//! ```
//!
//! for `(v + e)(v + e)^T` is at most `(1 + s) v v^T + (1 + 1 / s) e e^T` and at least
//! `(1 - s) v v^T - (1 / s - 1) e e^T`, and `e e^T <= rho^2 I`.
//!
//! With M the sum of these terms, the function at a point y of the zone is at least
//! `q(y) = f(p) + g . d + d^T M d / 2`, `d = y - p`, for any p of the zone with the gradient g there (the
//! zone is convex). And for any `m >= 0` and `m_i >= 0`, q over the zone is at least the minimum over
//! *all* y of the quadratic
//!
//! ```text
//! q(y) + m (|y|^2 - R^2) / 2 + sum_i m_i (y_i - l_i) (y_i - u_i) / 2,
//! ```
//!
//! because the added terms are never positive in the zone. If its matrix H is at least mu > 0 (shown by a
//! Cholesky factorisation of `H - 2 mu I`; mu is much larger than its rounding error), the value at any d
//! with gradient r exceeds the minimum by at most `|r|^2 / (2 mu)`.

use super::affine::Affine;
use super::ball::Ball;
use super::norm;
use super::tape::{Node, Tape};
use super::unit::{Range, second_derivatives, slopes};
use super::zone::Zone;

/// A quadratic lower bound of a function, without the multipliers.
pub(super) struct Quadratic<'z> {
    zone: &'z Zone,
    at: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
    matrix: Vec<f64>,
    /// An upper bound of the squared length of a point of the zone.
    longest: f64,
}

/// A lower bound of the result over a zone with known affine bounds, expanded at a point of the zone.
/// Stops as soon as the bound reaches `wanted`.
pub(super) fn least(tape: &Tape<'_>, zone: &Zone, affine: &Affine, at: &[f64], wanted: f64) -> Option<f64> {
    let matrix = hessian(tape, &affine.ranges)?;
    let point = Affine::new(tape, &Zone::point(at));
    let gradient = adjoints(tape, &point.ranges)?;
    let mut value = point.result().lower;
    // Subtracts the effect of the gradient's error in the worst direction.
    for i in 0..tape.inputs {
        let far = (zone.upper[i] - at[i]).max(at[i] - zone.lower[i]);
        value -= (gradient[i].upper - gradient[i].lower) * far;
    }
    let gradient = gradient[..tape.inputs].iter().map(|range| range.middle()).collect();
    let quadratic = Quadratic::new(zone, at.to_vec(), value, gradient, matrix);
    let bound = quadratic.over_zone(wanted);
    bound.is_finite().then_some(bound)
}

/// The derivative of the result in each node.
fn adjoints(tape: &Tape<'_>, ranges: &[Range]) -> Option<Vec<Range>> {
    let count = tape.nodes.len();
    let mut adjoints = vec![Range::point(0.0); count];
    let (mut sizes, mut terms) = (vec![0.0; count], vec![2.0; count]);
    adjoints[count - 1] = Range::point(1.0);
    for k in (0..count).rev() {
        adjoints[k] = adjoints[k].widened(terms[k] * f64::EPSILON * sizes[k]);
        let own = adjoints[k];
        let mut add = |j: usize, term: Range| {
            adjoints[j] = Range::new(adjoints[j].lower + term.lower, adjoints[j].upper + term.upper);
            sizes[j] += term.size();
            terms[j] += 1.0;
        };
        match &tape.nodes[k] {
            Node::Input => {}
            Node::Sum(_, factors) => {
                factors.iter().for_each(|&(j, factor)| add(j, own.scaled(factor)));
            }
            Node::Apply(unit, j) => add(*j, own.times(slopes(*unit, ranges[*j]))),
            Node::Product(i, j) => {
                add(*i, own.times(ranges[*j]));
                add(*j, own.times(ranges[*i]));
            }
            Node::Norm(arguments) => {
                let of: Vec<Range> = arguments.iter().map(|&j| ranges[j]).collect();
                let units = norm::units(&of, ranges[k])?;
                arguments.iter().zip(units).for_each(|(&j, unit)| add(j, own.times(unit)));
            }
            Node::Slack(..) | Node::Opaque(..) => return None,
        }
    }
    adjoints.iter().all(|range| range.size().is_finite()).then_some(adjoints)
}

/// The gradient of each node in the inputs, node by node.
fn gradients(tape: &Tape<'_>, ranges: &[Range]) -> Option<Vec<Range>> {
    let n = tape.inputs;
    let mut gradients: Vec<Range> = Vec::with_capacity(n * tape.nodes.len());
    for (k, node) in tape.nodes.iter().enumerate() {
        let units = match node {
            Node::Norm(arguments) => {
                let of: Vec<Range> = arguments.iter().map(|&j| ranges[j]).collect();
                norm::units(&of, ranges[k])
            }
            _ => None,
        };
        for i in 0..n {
            let of = |j: usize| gradients[j * n + i];
            let next = match node {
                Node::Input => Range::point(if i == k { 1.0 } else { 0.0 }),
                Node::Sum(_, terms) => {
                    let (mut sum, mut size) = (Range::point(0.0), 0.0);
                    for &(j, factor) in terms {
                        let (a, b) = (factor * of(j).lower, factor * of(j).upper);
                        sum = Range::new(sum.lower + a.min(b), sum.upper + a.max(b));
                        size += a.abs().max(b.abs());
                    }
                    sum.widened((terms.len() + 2) as f64 * f64::EPSILON * size)
                }
                Node::Apply(unit, j) => slopes(*unit, ranges[*j]).times(of(*j)),
                Node::Product(x, y) => {
                    let (left, right) = (ranges[*x].times(of(*y)), ranges[*y].times(of(*x)));
                    let sum = Range::new(left.lower + right.lower, left.upper + right.upper);
                    sum.widened(2.0 * f64::EPSILON * (left.size() + right.size()))
                }
                Node::Norm(arguments) => {
                    let (mut sum, mut size) = (Range::point(0.0), 0.0);
                    for (&j, unit) in arguments.iter().zip(units.as_ref()?) {
                        let term = unit.times(of(j));
                        sum = Range::new(sum.lower + term.lower, sum.upper + term.upper);
                        size += term.size();
                    }
                    sum.widened((arguments.len() + 2) as f64 * f64::EPSILON * size)
                }
                Node::Slack(..) | Node::Opaque(..) => return None,
            };
            gradients.push(next);
        }
    }
    gradients.iter().all(|range| range.size().is_finite()).then_some(gradients)
}

/// A matrix, row by row, below the Hessian on the whole zone.
fn hessian(tape: &Tape<'_>, ranges: &[Range]) -> Option<Vec<f64>> {
    let n = tape.inputs;
    let gradients = gradients(tape, ranges)?;
    let adjoints = adjoints(tape, ranges)?;
    let mut matrix = vec![0.0; n * n];
    let mut size = 0.0;
    let mut add = |kappa: f64, v: &[f64], rho: f64| {
        let length = v.iter().map(|x| x * x).sum::<f64>().sqrt();
        size += kappa.abs() * (length + rho) * (length + rho);
        let s = if length > 0.0 { rho / length } else { f64::INFINITY };
        let (outer, inner) = if kappa < 0.0 {
            match length > 0.0 {
                true => (kappa * (1.0 + s), kappa * rho * (rho + length)),
                false => (0.0, kappa * rho * rho),
            }
        } else if s < 1.0 {
            (kappa * (1.0 - s), -kappa * rho * (length - rho))
        } else {
            return;
        };
        for i in 0..n {
            matrix[i * n + i] += inner;
            for j in 0..n {
                matrix[i * n + j] += outer * v[i] * v[j];
            }
        }
    };
    let enclosed = |part: &dyn Fn(usize) -> Range| -> (Vec<f64>, f64) {
        let middle: Vec<f64> = (0..n).map(|i| part(i).middle()).collect();
        let half = |i: usize| 0.5 * (part(i).upper - part(i).lower) + f64::EPSILON * part(i).size();
        let rho = (0..n).map(|i| half(i).powi(2)).sum::<f64>().sqrt() * (1.0 + 1e-13);
        (middle, rho)
    };
    for (k, node) in tape.nodes.iter().enumerate() {
        match node {
            Node::Apply(unit, j) => {
                let factor = adjoints[k].times(second_derivatives(*unit, ranges[*j])?);
                if factor.size() > 0.0 {
                    let (v, rho) = enclosed(&|i| gradients[j * n + i]);
                    add(factor.lower, &v, rho);
                }
            }
            Node::Product(x, y) => {
                let (x, y) = (*x * n, *y * n);
                let half = Range::new(0.5 * adjoints[k].lower, 0.5 * adjoints[k].upper);
                let (v, rho) = enclosed(&|i| {
                    let (a, b) = (gradients[x + i], gradients[y + i]);
                    Range::new(a.lower + b.lower, a.upper + b.upper)
                });
                add(half.lower, &v, rho);
                let (v, rho) = enclosed(&|i| {
                    let (a, b) = (gradients[x + i], gradients[y + i]);
                    Range::new(a.lower - b.upper, a.upper - b.lower)
                });
                add(-half.upper, &v, rho);
            }
            Node::Norm(arguments) => {
                let factor = adjoints[k].times(norm::inverse(ranges[k])?);
                for j in arguments {
                    let (v, rho) = enclosed(&|i| gradients[j * n + i]);
                    add(factor.lower, &v, rho);
                }
                let (w, rho) = enclosed(&|i| gradients[k * n + i]);
                add(-factor.upper, &w, rho);
            }
            _ => {}
        }
    }
    // Each entry is a sum of as many terms as there are nodes; `size` is the sum of their magnitudes.
    let rounding = (tape.nodes.len() + 16) as f64 * n as f64 * f64::EPSILON * size;
    (0..n).for_each(|i| matrix[i * n + i] -= rounding);
    matrix.iter().all(|x| x.is_finite()).then_some(matrix)
}

impl<'z> Quadratic<'z> {
    /// `value + gradient.d + d^T matrix d / 2` with `d = y - at`.
    pub fn new(zone: &'z Zone, at: Vec<f64>, value: f64, gradient: Vec<f64>, matrix: Vec<f64>) -> Self {
        let sides = (0..at.len()).map(|i| zone.lower[i].powi(2).max(zone.upper[i].powi(2))).sum::<f64>();
        let longest = match zone.ball.as_ref().and_then(Ball::longest) {
            Some(length) => sides.min(length * length),
            None => sides,
        };
        Self { zone, at, value, gradient, matrix, longest: longest * (1.0 + 1e-14) }
    }

    /// The best bound found by a search over the multipliers.
    pub fn over_zone(&self, wanted: f64) -> f64 {
        let n = self.at.len();
        let none = vec![0.0; n];
        let length = self.gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
        let scale = (0..n).map(|i| self.matrix[i * n + i].abs()).fold(length / self.longest.sqrt(), f64::max);
        if !(scale > 0.0 && scale.is_finite()) {
            return self.dual(1e-9, &none);
        }
        // The multipliers of the box sides at which a minimum would be held.
        let held: Vec<f64> = (0..n)
            .map(|i| {
                let (l, u) = (self.zone.lower[i], self.zone.upper[i]);
                let near = 1e-6 * (u - l);
                let out = self.at[i] - l <= near && self.gradient[i] > 0.0
                    || u - self.at[i] <= near && self.gradient[i] < 0.0;
                if out && u > l { 2.0 * self.gradient[i].abs() / (u - l) } else { 0.0 }
            })
            .collect();
        let is_round = self.zone.ball.as_ref().is_some_and(Ball::is_round);
        let kkt = length / self.longest.sqrt();
        let mut best = f64::NEG_INFINITY;
        let ways: [&[f64]; 2] = if is_round { [&none, &held] } else { [&held, &none] };
        for more in ways {
            let bound = self.best_multiplier(more, kkt, scale, wanted);
            best = best.max(bound);
            if best >= wanted {
                break;
            }
        }
        best
    }

    /// Maximises the bound, which is concave in m, by golden-section search in log m.
    fn best_multiplier(&self, more: &[f64], kkt: f64, scale: f64, wanted: f64) -> f64 {
        const SECTION: f64 = 0.618_033_988_749_894_9;
        let at = |logarithm: f64| self.dual(logarithm.exp(), more);
        // At a minimum held by faces alone, the multiplier of the ball is zero, or a tiny positive number
        // if the result does not depend on some inputs.
        let mut best = self.dual(0.0, more).max(self.dual(1e-9 * scale, more));
        if kkt > 0.0 {
            best = best.max(self.dual(kkt, more));
        }
        let (mut low, mut high) = ((1e-6 * scale).ln(), (1e4 * scale).ln());
        let (mut a, mut b) = (high - SECTION * (high - low), low + SECTION * (high - low));
        let (mut at_a, mut at_b) = (at(a), at(b));
        for _ in 0..40 {
            best = best.max(at_a).max(at_b);
            if best >= wanted {
                break;
            }
            // A multiplier that is too small gives no bound.
            if at_a < at_b || at_a == f64::NEG_INFINITY {
                low = a;
                (a, at_a) = (b, at_b);
                b = low + SECTION * (high - low);
                at_b = at(b);
            } else {
                high = b;
                (b, at_b) = (a, at_a);
                a = high - SECTION * (high - low);
                at_a = at(a);
            }
        }
        best
    }

    /// The bound for given multipliers; minus infinity if they do not make the quadratic convex.
    fn dual(&self, m: f64, more: &[f64]) -> f64 {
        let n = self.at.len();
        let (lower, upper) = (&self.zone.lower, &self.zone.upper);
        let mut convex = self.matrix.clone();
        let mut slope = self.gradient.clone();
        for i in 0..n {
            convex[i * n + i] += m + more[i];
            slope[i] += m * self.at[i] + more[i] * (self.at[i] - 0.5 * (lower[i] + upper[i]));
        }
        let most = (0..n).map(|i| convex[i * n + i].abs()).fold(0.0, f64::max);
        let mu = 1e-10 * most;
        let mut lowered = convex.clone();
        (0..n).for_each(|i| lowered[i * n + i] -= 2.0 * mu);
        if cholesky(&lowered, n).is_none() {
            return f64::NEG_INFINITY;
        }
        let Some(factor) = cholesky(&convex, n) else { return f64::NEG_INFINITY };
        let step = solve(&factor, n, &slope);
        // The value at that point, term by term, and the norm of the remaining gradient.
        let (mut value, mut size, mut left) = (self.value, self.value.abs(), 0.0);
        let mut put = |term: f64| {
            value += term;
            size += term.abs();
        };
        let mut length = 0.0;
        for i in 0..n {
            let d = -step[i];
            let y = self.at[i] + d;
            let row: f64 = (0..n).map(|j| -self.matrix[i * n + j] * step[j]).sum();
            let whole: f64 = (0..n).map(|j| -convex[i * n + j] * step[j]).sum();
            put(self.gradient[i] * d);
            put(0.5 * d * row);
            put(0.5 * more[i] * (y - lower[i]) * (y - upper[i]));
            length += y * y;
            left += (whole + slope[i]).abs().powi(2);
        }
        put(0.5 * m * length);
        put(-0.5 * m * self.longest);
        let magnitudes: f64 = (0..n * n).map(|k| (self.matrix[k] * step[k / n] * step[k % n]).abs()).sum();
        // The rounding error of the gradient.
        let doubt = 1e-14 * (n as f64) * (most * step.iter().map(|d| d.abs()).sum::<f64>() + norm(&slope));
        let left = left.sqrt() + doubt;
        let bound = value - left * left / (2.0 * mu) - 1e-14 * (size + magnitudes);
        if bound.is_nan() { f64::NEG_INFINITY } else { bound }
    }
}

fn norm(v: &[f64]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// The lower Cholesky factor of a symmetric matrix; `None` unless it is positive definite.
fn cholesky(matrix: &[f64], n: usize) -> Option<Vec<f64>> {
    let mut factor = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let inner: f64 = (0..j).map(|k| factor[i * n + k] * factor[j * n + k]).sum();
            let rest = matrix[i * n + j] - inner;
            if i == j {
                if !(rest > 0.0) {
                    return None;
                }
                factor[i * n + i] = rest.sqrt();
            } else {
                factor[i * n + j] = rest / factor[j * n + j];
            }
        }
    }
    Some(factor)
}

fn solve(factor: &[f64], n: usize, right: &[f64]) -> Vec<f64> {
    let mut x = right.to_vec();
    for i in 0..n {
        let inner: f64 = (0..i).map(|k| factor[i * n + k] * x[k]).sum();
        x[i] = (x[i] - inner) / factor[i * n + i];
    }
    for i in (0..n).rev() {
        let inner: f64 = (i + 1..n).map(|k| factor[k * n + i] * x[k]).sum();
        x[i] = (x[i] - inner) / factor[i * n + i];
    }
    x
}
