//! Parts of a Euclidean ball: the intersection with an ellipsoid and with slabs.

use nalgebra::{DMatrix, DVector};

/// `lower <= direction . y <= upper`.
#[derive(Clone, Debug)]
pub(super) struct Slab {
    pub direction: DVector<f64>,
    pub lower: f64,
    pub upper: f64,
}

/// All y of the ball with `(y - centre)^T matrix (y - centre) <= 1`, if there is an ellipsoid, that lie in
/// all slabs.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub inputs: usize,
    pub radius: f64,
    pub ellipsoid: Option<(DVector<f64>, DMatrix<f64>)>,
    pub slabs: Vec<Slab>,
}

/// An outer ellipsoid `{centre + map x: |x| <= reach}` of a part.
pub(super) struct Outer {
    pub centre: DVector<f64>,
    pub map: DMatrix<f64>,
    pub reach: f64,
    /// The slabs in the coordinates x.
    slabs: Vec<Slab>,
}

/// The shares of the ball in the outer ellipsoids.
const SHARES: [f64; 4] = [0.0, 0.2, 0.5, 1.0];
/// The number of passes over the slabs' multipliers.
const PASSES: usize = 3;
/// Relative room for rounding.
const ROOM: f64 = 1e-12;

impl Part {
    /// Outer ellipsoids. `None` if one of them shows that the part is empty.
    pub fn outer(&self) -> Option<Vec<Outer>> {
        let shares = if self.ellipsoid.is_some() { &SHARES[..] } else { &SHARES[3..] };
        let mut all = Vec::new();
        for &share in shares {
            match self.mixed(share) {
                Some(outer) if outer.reach.is_nan() => return None,
                outer => all.extend(outer),
            }
        }
        Some(all)
    }

    /// The ellipsoid `share |y|^2 / R^2 + (1 - share) (y - c)^T B (y - c) <= 1`. Its reach is NaN if it is
    /// empty; `None` if the linear algebra fails.
    ///
    /// With the form written as `y^T Q y - 2 v . y + k <= 1` and any m, r = v - Q m, it lies in
    /// `(y - m)^T Q (y - m) <= 1 - k + m^T Q m + 2 |r| R`. If F satisfies `|F^T Q F - 1| <= d`, then
    /// `y = m + F x` with `|x|^2 (1 - d)` at most the right side.
    fn mixed(&self, share: f64) -> Option<Outer> {
        let n = self.inputs;
        let mut q = DMatrix::identity(n, n) * (share / (self.radius * self.radius));
        let mut v = DVector::zeros(n);
        let mut k = 0.0;
        if let (Some((centre, matrix)), true) = (&self.ellipsoid, share < 1.0) {
            q += matrix * (1.0 - share);
            v = matrix * centre * (1.0 - share);
            k = v.dot(centre);
        }
        let decomposed = q.clone().cholesky()?;
        let centre = decomposed.solve(&v);
        let product = &q * &centre;
        let residual = (&v - &product).norm() + ROOM * 1e-2 * (q.norm() * centre.norm() + v.norm());
        let square = centre.dot(&product);
        let right = 1.0 - k + square + 2.0 * residual * self.radius + ROOM * (k.abs() + square.abs() + 1.0);
        let map = decomposed.l().transpose().try_inverse()?;
        let error = (map.transpose() * &q * &map - DMatrix::identity(n, n)).norm();
        let error = error + ROOM * map.norm().powi(2) * q.norm() * 1e-2;
        if !(error < 0.01 && right.is_finite()) {
            return None;
        }
        let mut reach = if right < 0.0 { f64::NAN } else { (right / (1.0 - error)).sqrt() * (1.0 + ROOM) };
        let mut slabs = Vec::with_capacity(self.slabs.len());
        for slab in &self.slabs {
            let along = slab.direction.dot(&centre);
            let room = ROOM * slab.direction.norm() * (centre.norm() + self.radius);
            let (lower, upper) = (slab.lower - along - room, slab.upper - along + room);
            let direction = map.tr_mul(&slab.direction);
            // A slab beside the ellipsoid leaves nothing.
            let far = direction.norm() * reach * (1.0 + ROOM);
            if lower > far || upper < -far {
                reach = f64::NAN;
            }
            slabs.push(Slab { direction, lower, upper });
        }
        Some(Outer { centre, map, reach, slabs })
    }

    /// A lower and an upper bound of `row . y`.
    pub fn range(&self, outer: &[Outer], row: &DVector<f64>) -> (f64, f64) {
        let most = |row: &DVector<f64>| {
            let bounds = outer.iter().map(|outer| outer.most(row));
            bounds.fold(self.radius * row.norm() * (1.0 + ROOM), f64::min)
        };
        (-most(&-row), most(row))
    }
}

impl Outer {
    /// An upper bound of `row . y`: for any multipliers v of the slabs, with `h = map^T row`,
    /// `row . centre + reach |h - sum_i v_i t_i| + sum_i max(v_i lower_i, v_i upper_i)`. The multipliers are
    /// improved one after the other. Where the rest of h without slab i is `a t + w` with a unit vector t
    /// and w orthogonal to it, the best `v_i` for an end e is `a - |w| e / sqrt(reach^2 - e^2)`.
    fn most(&self, row: &DVector<f64>) -> f64 {
        let middle = row.dot(&self.centre);
        let mut rest = self.map.tr_mul(row);
        let whole = rest.norm();
        let mut multipliers = vec![0.0; self.slabs.len()];
        for _ in 0..if self.slabs.is_empty() { 0 } else { PASSES } {
            for (slab, multiplier) in self.slabs.iter().zip(&mut multipliers).rev() {
                let length = slab.direction.norm();
                if !(length > 0.0) {
                    continue;
                }
                rest += *multiplier * &slab.direction;
                let along = rest.dot(&slab.direction) / length;
                let across = (rest.norm_squared() - along * along).max(0.0).sqrt();
                let best = |end: f64| {
                    let end = end / length;
                    let room = self.reach * self.reach - end * end;
                    if room > 0.0 { (along - across * end / room.sqrt()) / length } else { 0.0 }
                };
                let (up, down) = (best(slab.upper), best(slab.lower));
                *multiplier = if up > 0.0 { up } else { down.min(0.0) };
                rest -= *multiplier * &slab.direction;
            }
        }
        let (mut sum, mut size) = (self.reach * rest.norm(), self.reach * whole);
        for (slab, v) in self.slabs.iter().zip(&multipliers) {
            sum += (v * slab.lower).max(v * slab.upper);
            size += v.abs() * (slab.lower.abs() + slab.upper.abs() + self.reach * slab.direction.norm());
        }
        let bound = middle + sum + ROOM * (size + row.norm() * self.centre.norm());
        if bound.is_nan() { f64::INFINITY } else { bound }
    }
}
