//! Individual recourse fairness: the same person in another group.

use serde::Serialize;

use super::Grouping;
use super::examine::{Answered, Examined, Status, Twin};
use super::statistics::{FEW, Range, enclosed_mean, percentile_interval, resample};

/// People of one group and their twins in another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TwinReport {
    /// The position of the people's group.
    pub from: usize,
    /// The position of the twins' group.
    pub to: usize,
    /// Whether they differ in what follows from the attribute by the causal model; otherwise in the attribute alone.
    pub is_causal: bool,
    /// The people of the group who are turned down.
    pub turned_down: usize,
    /// Those of them whose twin is not.
    pub twin_favourable: usize,
    /// Those of them who have recourse, as their twin has.
    pub both_found: usize,
    /// Those of them who have recourse, and whose twin has none.
    pub twin_impossible: usize,
    /// Those of them who have no recourse, and whose twin has.
    pub only_twin_found: usize,
    /// Those of them who have no recourse, as their twin has none.
    pub both_impossible: usize,
    /// Those of them of whom, or of whose twin, neither is proven.
    pub undecided: usize,
    /// Those of them for whom the causal model has no twin whom the problem knows.
    pub without_twin: usize,
    /// The people of the group whose decision is favourable.
    pub favourable: usize,
    /// Those of them whose twin is turned down.
    pub twin_turned_down: usize,
    /// Those of them for whom the causal model has no twin whom the problem knows.
    pub favourable_without_twin: usize,
    /// The cost of a person's action minus that of the twin's, for those who both have recourse.
    pub difference: Option<TwinDifference>,
}

/// How much more people pay than their twins.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TwinDifference {
    /// The mean, as far as it is proven.
    pub mean: Range,
    /// The 95% interval of the mean for people like them, which accounts for what is not proven as well; `null` for fewer
    /// than ten.
    pub interval: Option<Range>,
    /// Those of whom it is proven that they pay more than their twin.
    pub dearer: usize,
    /// Those of whom it is proven that they pay less than their twin.
    pub cheaper: usize,
}

impl TwinReport {
    /// Compares the people of group `from` with their twins in group `to`. `attribute` is the position of the grouping among
    /// those that have an attribute.
    pub(super) fn new(
        (grouping, attribute): (&Grouping, usize),
        (from, to): (usize, usize),
        examined: &[Examined],
        is_causal: bool,
        (seed, stream): (u64, usize),
    ) -> Self {
        // Twins are listed by group, without the person's own.
        let place = if to > from { to - 1 } else { to };
        let mut report = Self::nobody(from, to, is_causal);
        let mut differences: Vec<Range> = Vec::new();
        for (person, _) in examined.iter().zip(grouping.membership()).filter(|(_, group)| **group == from) {
            let twin = person.twins[attribute][place];
            if let Some(difference) = report.add(person.answer, twin) {
                differences.push(difference);
            }
        }
        let drawn = || {
            resample(&differences, seed, stream, |drawn| {
                let (mut count, mut sum) = (0.0, Range::new(0.0, 0.0));
                drawn.for_each(|difference| {
                    count += 1.0;
                    sum.lower += difference.lower;
                    sum.upper += difference.upper;
                });
                Some(Range::new(sum.lower / count, sum.upper / count))
            })
        };
        let is_enough = differences.len() >= FEW;
        report.difference = enclosed_mean(differences.iter().copied()).map(|mean| TwinDifference {
            mean,
            interval: is_enough.then(drawn).and_then(|drawn| percentile_interval(drawn.into_iter())),
            dearer: differences.iter().filter(|difference| difference.is_positive()).count(),
            cheaper: differences.iter().filter(|difference| difference.is_negative()).count(),
        });
        report
    }

    fn nobody(from: usize, to: usize, is_causal: bool) -> Self {
        Self {
            from,
            to,
            is_causal,
            turned_down: 0,
            twin_favourable: 0,
            both_found: 0,
            twin_impossible: 0,
            only_twin_found: 0,
            both_impossible: 0,
            undecided: 0,
            without_twin: 0,
            favourable: 0,
            twin_turned_down: 0,
            favourable_without_twin: 0,
            difference: None,
        }
    }

    /// Counts a person. Returns how much more the person pays than the twin if both have recourse.
    fn add(&mut self, person: Answered, twin: Twin) -> Option<Range> {
        if person.status == Status::Favourable {
            self.favourable += 1;
            match twin {
                Twin::NotAPerson => self.favourable_without_twin += 1,
                Twin::Answered(twin) if twin.status != Status::Favourable => self.twin_turned_down += 1,
                Twin::Answered(_) => {}
            }
            return None;
        }
        self.turned_down += 1;
        let Twin::Answered(twin) = twin else {
            self.without_twin += 1;
            return None;
        };
        let counter = match (person.status, twin.status) {
            (_, Status::Favourable) => &mut self.twin_favourable,
            (Status::Found, Status::Found) => &mut self.both_found,
            (Status::Found, Status::Impossible) => &mut self.twin_impossible,
            (Status::Impossible, Status::Found) => &mut self.only_twin_found,
            (Status::Impossible, Status::Impossible) => &mut self.both_impossible,
            _ => &mut self.undecided,
        };
        *counter += 1;
        let range = |answer: Answered| Range::new(answer.bound, answer.cost);
        let both = person.status == Status::Found && twin.status == Status::Found;
        both.then(|| range(person).minus(range(twin)))
    }
}
