//! Proven ranges of numbers, order statistics, and intervals by resampling.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::Serialize;

/// How often people are drawn anew for an interval by resampling.
pub const REPLICATES: usize = 1000;

/// The share of the intervals by resampling that miss the truth, half of them on each side.
const MISSED: f64 = 0.05;

/// Fewer people than this say so little that no interval is stated for them.
pub const FEW: usize = 10;

/// A number that is known to lie between two others, both included. An end that is not finite is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Range {
    /// The least value that it may have.
    pub lower: f64,
    /// The greatest value that it may have; infinite, in JSON `null`, if there is no such limit.
    pub upper: f64,
}

impl Range {
    /// A range by its ends.
    pub fn new(lower: f64, upper: f64) -> Self {
        Self { lower, upper }
    }

    /// All differences of a number in this range and one in the other.
    pub fn minus(self, other: Self) -> Self {
        Self { lower: self.lower - other.upper, upper: self.upper - other.lower }
    }

    /// Whether both ends are numbers.
    pub fn is_finite(self) -> bool {
        self.lower.is_finite() && self.upper.is_finite()
    }

    /// Whether every number of the range is above zero.
    pub fn is_positive(self) -> bool {
        self.lower > 0.0
    }

    /// Whether every number of the range is below zero.
    pub fn is_negative(self) -> bool {
        self.upper < 0.0
    }
}

/// The smallest value such that at least this share of the values is no larger. The values are in ascending order.
pub fn order_statistic(sorted: &[f64], share: f64) -> Option<f64> {
    // Rounding errors of the product must not skip a value: 0.9 of 10 values are 9.
    let rank = (share * sorted.len() as f64 - 1e-9).ceil().max(1.0) as usize;
    sorted.get(rank - 1).copied()
}

/// The order statistic of numbers that are known up to ranges. It is monotone in each of them, so that the statistics of
/// all lower and of all upper ends enclose it.
pub fn enclosed_statistic(ranges: &[Range], share: f64) -> Option<Range> {
    let sorted = |end: fn(&Range) -> f64| {
        let mut ends: Vec<f64> = ranges.iter().map(end).collect();
        ends.sort_by(f64::total_cmp);
        order_statistic(&ends, share)
    };
    Some(Range::new(sorted(|range| range.lower)?, sorted(|range| range.upper)?))
}

/// The mean of numbers that are known up to ranges; `None` of no numbers.
pub fn enclosed_mean(ranges: impl ExactSizeIterator<Item = Range>) -> Option<Range> {
    let count = ranges.len() as f64;
    let mut sum = Range::new(0.0, 0.0);
    ranges.for_each(|range| {
        sum.lower += range.lower;
        sum.upper += range.upper;
    });
    (count > 0.0).then(|| Range::new(sum.lower / count, sum.upper / count))
}

/// A statistic of each of the resampled groups: [`REPLICATES`] ranges.
pub type Replicates = Vec<Option<Range>>;

/// Draws as many people as there are, with replacement, [`REPLICATES`] times, and calculates statistics of each draw.
///
/// `stream` numbers the group: groups with different streams are drawn independently of each other. The result depends
/// on the seed and on the stream only.
pub fn resample<P: Sync, T: Send>(
    people: &[P],
    seed: u64,
    stream: usize,
    statistics: impl Fn(&mut dyn Iterator<Item = &P>) -> T + Sync,
) -> Vec<T> {
    let count = people.len();
    let draw = |replicate: usize| {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(((stream as u64) << 32) | replicate as u64);
        statistics(&mut (0..count).map(|_| &people[random.random_range(0..count)]))
    };
    (0..REPLICATES).into_par_iter().map(draw).collect()
}

/// The percentile interval: all but the lowest and the highest 2.5% of the replicates.
///
/// Where a statistic is known up to a range in each replicate, the percentile of the true statistics is no less than that
/// of the lower ends and no more than that of the upper ends. So the interval accounts for the draw of people and for what is
/// not proven about each of them. `None` if a tenth of the replicates has no statistic.
pub fn percentile_interval(replicates: impl Iterator<Item = Option<Range>>) -> Option<Range> {
    let known: Vec<Range> = replicates.flatten().collect();
    if known.len() * 10 < REPLICATES * 9 {
        return None;
    }
    let sorted = |end: fn(&Range) -> f64| {
        let mut ends: Vec<f64> = known.iter().map(end).collect();
        ends.sort_by(f64::total_cmp);
        ends
    };
    let (lower, upper) = (sorted(|range| range.lower), sorted(|range| range.upper));
    let below = (MISSED / 2.0 * known.len() as f64).floor() as usize;
    Some(Range::new(lower[below], upper[known.len() - 1 - below]))
}

/// The 97.5% quantile of the standard normal distribution.
const NORMAL: f64 = 1.959_963_984_540_054;

/// Wilson's 95% score interval of a share of `of` people, of whom at least `least` and at most `most` count (E. B. Wilson,
/// *Probable inference*, 1927). Unlike an interval by resampling it is not a point where nobody or everybody counts.
pub fn wilson(least: usize, most: usize, of: usize) -> Option<Range> {
    let end = |count: usize, sign: f64| {
        let (n, p, z2) = (of as f64, count as f64 / of as f64, NORMAL * NORMAL);
        let centre = p + z2 / (2.0 * n);
        let reach = NORMAL * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt();
        ((centre + sign * reach) / (1.0 + z2 / n)).clamp(0.0, 1.0)
    };
    (of > 0).then(|| Range::new(end(least, -1.0), end(most, 1.0)))
}

/// Newcombe's 95% interval of the difference of two shares, from Wilson's intervals of both (R. G. Newcombe, *Interval
/// estimation for the difference between independent proportions*, 1998, method 10). Each is given as the least and the
/// greatest number of people who count, and the number of all.
pub fn newcombe(first: (usize, usize, usize), second: (usize, usize, usize)) -> Option<Range> {
    let share = |count: usize, of: usize| count as f64 / of as f64;
    let low = |a: (usize, usize, usize), b: (usize, usize, usize)| {
        let (p, q) = (share(a.0, a.2), share(b.1, b.2));
        let (below, above) = (p - wilson(a.0, a.0, a.2)?.lower, wilson(b.1, b.1, b.2)?.upper - q);
        Some(p - q - below.hypot(above))
    };
    Some(Range::new(low(first, second)?, -low(second, first)?))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;

    #[test]
    fn order_statistics_by_hand() {
        let ten: Vec<f64> = (1..=10).map(f64::from).collect();
        for (share, expected) in [(0.0, 1.0), (0.1, 1.0), (0.11, 2.0), (0.5, 5.0), (0.9, 9.0), (1.0, 10.0)] {
            assert_eq!(order_statistic(&ten, share), Some(expected), "{share}");
        }
        assert_eq!(order_statistic(&[], 0.5), None);
        let ranges = [Range::new(3.0, f64::INFINITY), Range::new(1.0, 2.0), Range::new(0.0, 4.0)];
        assert_eq!(enclosed_statistic(&ranges, 0.5), Some(Range::new(1.0, 4.0)));
        assert_eq!(enclosed_mean(ranges[1..].iter().copied()), Some(Range::new(0.5, 3.0)));
    }

    #[test]
    fn intervals_depend_on_seed_and_stream_and_not_on_threads() {
        let people: Vec<f64> = (0..100).map(f64::from).collect();
        let means = |seed, stream| {
            resample(&people, seed, stream, |drawn| {
                let (count, sum) = drawn.fold((0, 0.0), |(count, sum), value| (count + 1, sum + value));
                assert_eq!(count, 100);
                Some(Range::new(sum / 100.0, sum / 100.0))
            })
        };
        let on = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(on(1).install(|| means(1, 0)), on(3).install(|| means(1, 0)));
        assert_ne!(means(1, 0), means(1, 1));
        assert_ne!(means(1, 0), means(2, 0));
        // The standard error of the mean is 2.89, the normal interval 49.5 +- 5.66.
        let interval = percentile_interval(means(1, 0).into_iter()).unwrap();
        assert!(
            (43.0..44.7).contains(&interval.lower) && (54.3..56.0).contains(&interval.upper),
            "{interval:?}"
        );
    }

    #[test]
    fn a_statistic_that_is_often_undefined_has_no_interval() {
        let known = std::iter::repeat_n(Some(Range::new(1.0, 2.0)), 899);
        assert_eq!(percentile_interval(known.clone().chain(std::iter::repeat_n(None, 101))), None);
        let interval = percentile_interval(known.chain([Some(Range::new(1.0, 2.0))]));
        assert_eq!(interval, Some(Range::new(1.0, 2.0)));
    }

    #[test]
    fn score_intervals_are_the_published_ones() {
        // Newcombe 1998, table II: 56/70 - 48/80 is 0.0524 to 0.3339, and 10/10 - 0/20 is 0.6791 to 1.
        let difference = |a: (usize, usize), b: (usize, usize)| {
            newcombe((a.0, a.0, a.1), (b.0, b.0, b.1)).map(|range| [range.lower, range.upper]).unwrap()
        };
        for (found, expected) in [
            (difference((56, 70), (48, 80)), [0.0524, 0.3339]),
            (difference((10, 10), (0, 20)), [0.6791, 1.0]),
            (difference((0, 10), (0, 20)), [-0.1611, 0.2775]),
        ] {
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 5e-5), "{found:?} {expected:?}");
        }
        // Undecided people widen both ends.
        let range = wilson(3, 5, 10).unwrap();
        assert_eq!(range, Range::new(wilson(3, 3, 10).unwrap().lower, wilson(5, 5, 10).unwrap().upper));
        assert_eq!(wilson(0, 0, 0), None);
    }
}
