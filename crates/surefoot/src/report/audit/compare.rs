//! Differences between two groups.

use serde::Serialize;

use super::group::{Counts, GroupReplicates, GroupReport, hull};
use super::statistics::{FEW, Range, Replicates, newcombe, percentile_interval};

/// The first group minus the second.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pair {
    /// The position of the first group.
    pub first: usize,
    /// The position of the second group.
    pub second: usize,
    /// The difference of the shares of people who are turned down.
    pub turned_down: Difference,
    /// The difference of the shares of those turned down who have recourse.
    pub with_recourse: Difference,
    /// The difference of the mean costs of those who have recourse.
    pub mean_cost: Difference,
}

/// A difference between two groups.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// What is proven of these people; `null` where one group has nobody to compare.
    pub exact: Option<Range>,
    /// The 95% interval for people like them, which accounts for what is not proven as well; `null` where one group has
    /// fewer than ten people to compare.
    pub interval: Option<Range>,
}

impl Difference {
    /// Whether the interval excludes zero.
    pub fn is_shown(&self) -> bool {
        self.interval.is_some_and(|interval| interval.is_positive() || interval.is_negative())
    }
}

impl Pair {
    /// Compares two groups by their reports and the statistics of resampled groups.
    pub(super) fn new(
        [first, second]: [usize; 2],
        reports: [&GroupReport; 2],
        replicates: [&GroupReplicates; 2],
    ) -> Self {
        let counts = reports.map(|report| report.counts);
        let shares = |exact: [Option<Range>; 2], drawn: [&Replicates; 2], of: fn(Counts) -> Shared| {
            let [a, b] = counts.map(of);
            let is_enough = a.2 >= FEW && b.2 >= FEW;
            let interval = hull(interval(drawn), newcombe(a, b)).filter(|_| is_enough);
            Difference { exact: difference(exact), interval }
        };
        let costs = reports.map(|report| report.cost.as_ref());
        let is_enough = costs.iter().all(|cost| cost.is_some_and(|cost| cost.people >= FEW));
        Self {
            first,
            second,
            turned_down: shares(
                reports.map(|report| report.turned_down.exact),
                replicates.map(|drawn| &drawn.turned_down),
                |counts| (counts.turned_down, counts.turned_down, counts.people),
            ),
            with_recourse: shares(
                reports.map(|report| report.with_recourse.exact),
                replicates.map(|drawn| &drawn.with_recourse),
                |counts| (counts.found, counts.found + counts.undecided, counts.turned_down),
            ),
            mean_cost: Difference {
                exact: difference(costs.map(|cost| cost.map(|cost| cost.mean))),
                interval: interval(replicates.map(|drawn| &drawn.cost)).filter(|_| is_enough),
            },
        }
    }
}

/// The least and the greatest number of people who count, and the number of all.
type Shared = (usize, usize, usize);

fn difference([first, second]: [Option<Range>; 2]) -> Option<Range> {
    Some(first?.minus(second?))
}

/// The percentile interval of the difference: the two groups are drawn independently.
fn interval([first, second]: [&Replicates; 2]) -> Option<Range> {
    percentile_interval(first.iter().zip(second).map(|(first, second)| difference([*first, *second])))
}
