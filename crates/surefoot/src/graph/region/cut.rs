//! The choice of where to split a region.

use super::Region;

/// Candidate positions of a split, as shares of the side's length.
const CUTS: [f64; 3] = [0.5, 0.3, 0.7];

impl Region {
    /// The axis and the value at which to split. Minimises the sum, over both halves, of the squared
    /// predicted shortfall of the bound.
    ///
    /// `lacking` is the shortfall of the bound over this region: the required value minus the bound. Over
    /// a half, the bound is predicted to rise by the increase of the least value of `slope . y`, plus
    /// `error_share` times the decrease of each side's length. Splitting by `error_share` alone takes up
    /// to a hundred times as many cells, because removing a part where the bound is high anyway helps as
    /// much as reducing the error.
    pub fn best_cut(&self, slope: &[f64], error_share: &[f64], lacking: f64) -> Option<(usize, f64)> {
        let length = |region: &Region, i: usize| region.upper[i] - region.lower[i];
        if !(lacking.is_finite() && slope.iter().chain(error_share).all(|x| x.is_finite())) {
            let longer = |a: usize, b: usize| if length(self, b) > length(self, a) { b } else { a };
            let axis = (0..self.inputs()).reduce(longer)?;
            return Some((axis, 0.5 * (self.lower[axis] + self.upper[axis])));
        }
        // The multiplier of the ball is kept fixed, so that the least value is a sum over the axes.
        let multiplier = match &self.ball {
            Some(ball) if self.whole && self.is_round() => {
                slope.iter().map(|a| a * a).sum::<f64>().sqrt() / ball.radius
            }
            _ => self.multiplied(slope).map_or(0.0, |(multiplier, _)| multiplier),
        };
        let least = |region: &Region, i: usize| {
            let (a, l, u) = (slope[i], region.lower[i], region.upper[i]);
            let lowest = if a > 0.0 { l } else { u };
            let y = if multiplier > 0.0 { (-a / multiplier).clamp(l, u) } else { lowest };
            y * (a + 0.5 * multiplier * y)
        };
        let mut best: Option<(f64, usize, f64)> = None;
        for axis in 0..self.inputs() {
            for share in CUTS {
                let at = self.lower[axis] + share * length(self, axis);
                let mut lacks = 0.0;
                for half in self.split(axis, at).into_iter().flatten() {
                    let rise = |i: usize| {
                        least(&half, i) - least(self, i)
                            + error_share[i] * (length(self, i) - length(&half, i))
                    };
                    let rise: f64 = (0..self.inputs()).map(rise).sum();
                    lacks += (lacking - rise).max(0.0).powi(2);
                }
                if best.is_none_or(|(least, ..)| lacks < least) {
                    best = Some((lacks, axis, at));
                }
            }
        }
        best.map(|(_, axis, at)| (axis, at))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

    use super::*;
    use crate::Norm;
    use crate::uncertainty::Uncertainty;

    #[test]
    fn cuts_are_where_the_bound_rises_or_its_error_lies() {
        let ball = Region::uncertain(&Uncertainty::new(Norm::L2, 1.0).unwrap(), 3, 0.0);
        // Steep along one axis: a split there raises the bound of one half at once.
        assert_eq!(ball.best_cut(&[0.0, 9.0, 0.0], &[0.1; 3], 4.0).unwrap().0, 1);
        // Without a slope only the error can be reduced.
        assert_eq!(ball.best_cut(&[0.0; 3], &[0.1, 0.1, 3.0], 4.0).unwrap().0, 2);
        let (axis, at) = ball.best_cut(&[0.0, 9.0, 0.0], &[0.1, 0.1, 3.0], 1e3).unwrap();
        assert!(axis > 0 && at.abs() < 0.5, "{axis} {at}");
    }

    #[test]
    fn without_a_bound_the_longest_side_is_halved() {
        let cuboid = Region::cuboid(vec![0.0, -1.0, 2.0], vec![1.0, 3.0, 4.0]);
        for (slope, lacking) in [([0.0; 3], f64::INFINITY), ([f64::NAN; 3], 1.0)] {
            assert_eq!(cuboid.best_cut(&slope, &[1.0; 3], lacking), Some((1, 1.0)));
        }
    }
}
