//! Whether cones cover all actions far away.
//!
//! A cone is the set of all combinations of its rays with nonnegative coefficients whose sum lies between
//! two numbers. Split between two rays a and b, it is the union of the two cones in which one or the
//! other is replaced by `(a + b) / 2`: `s a + t b = 2 min(s, t) (a + b) / 2 + rest`, with the same sum of
//! coefficients. Split at a distance, it is the union of the nearer and the farther part. So cones cover
//! a cone if one of them has its rays and covers its range of distances, or if they cover both parts of a
//! split.

use crate::proof::{Cone, RuledOut};

/// The largest number of cones processed before the check gives up.
const MOST: usize = 100_000;

/// A coefficient counts as zero if it is negative by no more than this, relative to the width of a cone.
const NEARLY: f64 = 1e-6;

/// The cones that belong to one box and cover its far part.
#[derive(Clone, Debug)]
pub(super) struct Far {
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
    /// The sides along which the rays go, with their sign.
    long: Vec<(usize, f64)>,
    from: f64,
    to: f64,
    /// The positions of the cones in the list of ruled-out parts.
    pub parts: Vec<usize>,
}

impl Far {
    /// Groups the cones of one intervention set by their box. Keeps only groups that cover the whole far
    /// part of their box.
    pub fn complete(ruled_out: &[RuledOut], numbers: &[usize]) -> Vec<Far> {
        let mut groups: Vec<Far> = Vec::new();
        for &k in numbers {
            let part = &ruled_out[k];
            let Some(cone) = &part.cone else { continue };
            match groups.iter_mut().find(|far| far.lower == part.lower && far.upper == part.upper) {
                Some(far) => {
                    far.from = far.from.min(cone.from);
                    far.to = far.to.max(cone.to);
                    far.parts.push(k);
                }
                None => groups.push(Far {
                    lower: part.lower.clone(),
                    upper: part.upper.clone(),
                    long: long_sides(&cone.rays),
                    from: cone.from,
                    to: cone.to,
                    parts: vec![k],
                }),
            }
        }
        groups.retain(|far| far.is_complete(ruled_out));
        groups
    }

    fn is_complete(&self, ruled_out: &[RuledOut]) -> bool {
        let width = self.lower.len();
        let ray = |&(side, sign): &(usize, f64)| -> Vec<f64> {
            (0..width).map(|k| if k == side { sign } else { 0.0 }).collect()
        };
        let whole = Cone { rays: self.long.iter().map(ray).collect(), from: self.from, to: self.to };
        let parts: Vec<&Cone> = self.parts.iter().filter_map(|&k| ruled_out[k].cone.as_ref()).collect();
        let mut open = vec![(whole, parts)];
        let mut looked = 0;
        while let Some((cone, mut near)) = open.pop() {
            looked += 1;
            if looked > MOST {
                return false;
            }
            if near.iter().any(|part| cone.is_part_of(part)) {
                continue;
            }
            near.retain(|part| cone.shares(part).is_some());
            let Some(halves) = cone.cut(&near) else { return false };
            open.extend(halves.map(|half| (half, near.clone())));
        }
        true
    }

    /// Whether a box is contained in the part that these cones cover: inside the box along short sides,
    /// with the right sign along long ones, and at least as far away as the cones begin.
    pub fn contains(&self, lower: &[f64], upper: &[f64]) -> bool {
        let (mut nearest, mut farthest) = (0.0, 0.0);
        for k in 0..lower.len() {
            match self.long.iter().find(|(side, _)| *side == k) {
                Some(&(_, sign)) => {
                    let (near, far) = if sign > 0.0 { (lower[k], upper[k]) } else { (-upper[k], -lower[k]) };
                    if near < 0.0 {
                        return false;
                    }
                    nearest += near;
                    farthest += far;
                }
                None if lower[k] < self.lower[k] || upper[k] > self.upper[k] => return false,
                None => {}
            }
        }
        nearest >= self.from && farthest <= self.to
    }

    /// Boxes whose faces separate parts for which [`Far::contains`] differs: the box itself and, for each
    /// long side, its far part.
    pub fn faces(&self) -> Vec<(Vec<f64>, Vec<f64>)> {
        let mut faces = vec![(self.lower.clone(), self.upper.clone())];
        for &(k, sign) in &self.long {
            let (mut lower, mut upper) = (self.lower.clone(), self.upper.clone());
            if sign > 0.0 {
                lower[k] = lower[k].max(self.from);
            } else {
                upper[k] = upper[k].min(-self.from);
            }
            faces.push((lower, upper));
        }
        faces
    }
}

/// The sides along which the rays go, and the sign of each.
pub(super) fn long_sides(rays: &[Vec<f64>]) -> Vec<(usize, f64)> {
    let width = rays.first().map_or(0, Vec::len);
    let along = |k: usize| rays.iter().map(|ray| ray[k]).find(|x| *x != 0.0).map(|x| (k, x.signum()));
    (0..width).filter_map(along).collect()
}

impl Cone {
    /// Whether a ruled-out part contains this cone.
    fn is_part_of(&self, part: &Cone) -> bool {
        let same = self.rays.len() == part.rays.len() && self.rays.iter().all(|ray| part.rays.contains(ray));
        same && part.from <= self.from && part.to >= self.to
    }

    /// The rays of a part as combinations of this cone's rays, if the part lies within this cone and
    /// overlaps it; and the width of the part in these coefficients.
    fn shares(&self, part: &Cone) -> Option<(Vec<Vec<f64>>, f64)> {
        if !(part.from < self.to && part.to > self.from) {
            return None;
        }
        let shares: Vec<Vec<f64>> =
            part.rays.iter().map(|ray| combination(&self.rays, ray)).collect::<Option<_>>()?;
        let width = |k: usize| {
            let own = shares.iter().map(|ray| ray[k]);
            own.clone().fold(f64::NEG_INFINITY, f64::max) - own.fold(f64::INFINITY, f64::min)
        };
        let width = (0..self.rays.len()).map(width).fold(0.0, f64::max);
        let is_within = shares.iter().flatten().all(|share| *share >= -NEARLY * width);
        is_within.then_some((shares, width))
    }

    /// A split that does not cut through any of the parts.
    fn cut(&self, near: &[&Cone]) -> Option<[Cone; 2]> {
        let Cone { rays, from, to } = self;
        let ends = near.iter().flat_map(|part| [part.from, part.to]);
        for at in ends.filter(|at| at > from && at < to) {
            let through = |part: &&Cone| part.from < at && part.to > at;
            if !near.iter().any(through) {
                let part = |from: f64, to: f64| Cone { rays: rays.clone(), from, to };
                return Some([part(*from, at), part(at, *to)]);
            }
        }
        let shares: Vec<(Vec<Vec<f64>>, f64)> = near.iter().filter_map(|part| self.shares(part)).collect();
        for i in 0..rays.len() {
            for j in 0..i {
                // On one side of the split, no ray has more of i than of j.
                let side = |(part, width): &(Vec<Vec<f64>>, f64)| {
                    let less = |a: usize, b: usize| part.iter().all(|ray| ray[a] <= ray[b] + NEARLY * width);
                    less(i, j) || less(j, i)
                };
                if !shares.is_empty() && shares.iter().all(side) {
                    return Some(self.between(i, j));
                }
            }
        }
        None
    }

    fn between(&self, i: usize, j: usize) -> [Cone; 2] {
        halved(&self.rays, i, j).map(|rays| Cone { rays, from: self.from, to: self.to })
    }
}

/// The rays of both halves of a cone that is cut between two rays.
pub(super) fn halved(rays: &[Vec<f64>], i: usize, j: usize) -> [Vec<Vec<f64>>; 2] {
    let middle: Vec<f64> = rays[i].iter().zip(&rays[j]).map(|(a, b)| 0.5 * (a + b)).collect();
    let (mut first, mut second) = (rays.to_vec(), rays.to_vec());
    (first[i], second[j]) = (middle.clone(), middle);
    [first, second]
}

/// The coefficients of a vector as a combination of rays, by elimination; `None` if there are none. They
/// only choose splits, so their rounding does no harm.
///
/// All rays have the same l1 norm, so the coefficients sum to one, and the equation to solve is
/// `vector - last = sum of coefficients times (ray - last)`. These are differences of numbers that are
/// close together, which are exact even for narrow cones.
fn combination(rays: &[Vec<f64>], vector: &[f64]) -> Option<Vec<f64>> {
    let (last, others) = rays.split_last()?;
    let n = others.len();
    let mut rows: Vec<Vec<f64>> = (0..vector.len())
        .map(|k| others.iter().map(|ray| ray[k] - last[k]).chain([vector[k] - last[k]]).collect())
        .collect();
    let size = rows.iter().flat_map(|row| &row[..n]).fold(0.0, |most: f64, x| most.max(x.abs()));
    for column in 0..n {
        let own = |row: &Vec<f64>| row[column].abs();
        let pivot = (column..rows.len()).reduce(|a, b| if own(&rows[b]) > own(&rows[a]) { b } else { a })?;
        rows.swap(column, pivot);
        if own(&rows[column]) < 1e-9 * size {
            return None;
        }
        let pivot = rows[column].clone();
        for (_, row) in rows.iter_mut().enumerate().filter(|(k, _)| *k != column) {
            let factor = row[column] / pivot[column];
            row.iter_mut().zip(&pivot).for_each(|(x, p)| *x -= factor * p);
        }
    }
    if rows[n..].iter().any(|row| row[n].abs() > 1e-9 * size) {
        return None;
    }
    let mut shares: Vec<f64> = (0..n).map(|k| rows[k][n] / rows[k][k]).collect();
    shares.push(1.0 - shares.iter().sum::<f64>());
    Some(shares)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(rays: [[f64; 2]; 2], (from, to): (f64, f64)) -> RuledOut {
        RuledOut {
            features: vec![0, 1],
            undecided: Vec::new(),
            lower: vec![0.0, f64::NEG_INFINITY],
            upper: vec![f64::INFINITY, 0.0],
            cost: f64::INFINITY,
            margins: Vec::new(),
            cone: Some(Cone { rays: rays.map(|ray| ray.to_vec()).to_vec(), from, to }),
            requirements: Vec::new(),
        }
    }

    #[test]
    fn halves_cover_and_a_missing_one_does_not() {
        let everything = f64::INFINITY;
        let mut parts = vec![
            part([[0.5, -0.5], [0.0, -1.0]], (32.0, everything)),
            part([[0.75, -0.25], [0.5, -0.5]], (32.0, 128.0)),
            part([[0.75, -0.25], [0.5, -0.5]], (128.0, everything)),
            part([[1.0, 0.0], [0.75, -0.25]], (32.0, everything)),
        ];
        let all: Vec<usize> = (0..parts.len()).collect();
        let far = Far::complete(&parts, &all);
        assert_eq!(far.len(), 1);
        assert!(far[0].contains(&[32.0, f64::NEG_INFINITY], &[everything, 0.0]));
        assert!(far[0].contains(&[20.0, -20.0], &[everything, -12.0]));
        assert!(!far[0].contains(&[20.0, -20.0], &[everything, -11.0]));
        assert!(!far[0].contains(&[32.0, -1.0], &[everything, 1.0]));
        for missing in 0..4 {
            let some: Vec<usize> = all.iter().copied().filter(|&k| k != missing).collect();
            assert!(Far::complete(&parts, &some).is_empty(), "{missing}");
        }
        parts[1].cone.as_mut().unwrap().to = 127.0;
        assert!(Far::complete(&parts, &all).is_empty());
    }
}
