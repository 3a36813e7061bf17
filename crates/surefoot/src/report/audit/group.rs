//! What an audit says about one group of people.

use serde::Serialize;

use super::advice::AdviceReport;
use super::examine::{AdviceVerdict, AskedColumn, Change, Examined, Status};
use super::statistics::{
    FEW, Range, Replicates, enclosed_mean, enclosed_statistic, order_statistic, percentile_interval,
    resample, wilson,
};
use super::words::number;
use crate::Features;

/// The shares at which costs are stated.
const SHARES: [f64; 5] = [0.1, 0.25, 0.5, 0.75, 0.9];

/// What an audit says about one group of people.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupReport {
    /// The name of the group.
    pub name: String,
    /// Whether it has fewer than ten people, so that its numbers say little.
    pub is_small: bool,
    /// How many people got which answer.
    pub counts: Counts,
    /// The share of people who are turned down.
    pub turned_down: Share,
    /// The share of those turned down for whom an action holds.
    pub with_recourse: Share,
    /// What the cheapest actions cost; `None` if nobody has one.
    pub cost: Option<CostReport>,
    /// The median cost of all who are turned down, where nobody without an action has a cost: the upper end is `null` if
    /// half of them may have none.
    pub median_of_turned_down: Option<Range>,
    /// What the actions change.
    pub asked: Vec<Asked>,
    /// The cheapest actions without uncertainty; `None` if nothing is uncertain.
    pub fragility: Option<Fragility>,
    /// What it costs to be safe; `None` if nothing is uncertain.
    pub price: Option<Price>,
    /// What the actions that others advised are worth, if there are any.
    pub advice: Option<AdviceReport>,
}

/// How many people got which answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Everybody.
    pub people: usize,
    /// Those whose decision is favourable.
    pub favourable: usize,
    /// Those who are turned down.
    pub turned_down: usize,
    /// Those of them for whom an action is proven to hold.
    pub found: usize,
    /// Those for whom it is proven that no action holds.
    pub impossible: usize,
    /// Those of them for whom none would, even if nothing were uncertain.
    pub impossible_without_uncertainty: usize,
    /// Those of them for whom one would if nothing were uncertain.
    pub impossible_because_of_uncertainty: usize,
    /// Those for whom neither is proven.
    pub undecided: usize,
    /// Those of everybody of whom a value is missing.
    pub incomplete: usize,
}

/// A share of a group.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Share {
    /// What is proven of these people; `null` of nobody.
    pub exact: Option<Range>,
    /// The 95% interval for people like them; `null` for fewer than ten.
    pub interval: Option<Range>,
}

/// What the cheapest actions of those who have one cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CostReport {
    /// The number of people.
    pub people: usize,
    /// The mean, as far as it is proven.
    pub mean: Range,
    /// The 95% interval of the mean for people like them; `null` for fewer than ten.
    pub interval: Option<Range>,
    /// Costs that are exceeded by certain shares of people.
    pub quantiles: Vec<Quantile>,
}

/// The smallest cost that this share of people does not exceed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Quantile {
    /// The share.
    pub share: f64,
    /// The cost, as far as it is proven.
    pub cost: Range,
}

/// What actions ask of one feature.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Asked {
    /// The column of people's tables.
    pub column: String,
    /// What people read instead.
    pub label: String,
    /// The number of people whose action changes it.
    pub people: usize,
    /// Their share of those who have an action.
    pub share: f64,
    /// Those who raise it.
    pub raised: Option<Changed>,
    /// Those who lower it.
    pub lowered: Option<Changed>,
    /// The categories that are to be reached.
    pub reached: Vec<Reached>,
}

/// A change of some people.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Changed {
    /// Their number.
    pub people: usize,
    /// Their mean change in own units.
    pub mean: f64,
    /// The size of that change in words, with its unit.
    pub words: String,
}

/// A category that some people are to reach.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reached {
    /// The category.
    pub category: String,
    /// What people read instead.
    pub label: String,
    /// The number of people.
    pub people: usize,
}

/// What becomes of the cheapest actions without uncertainty.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Fragility {
    /// The number of such actions.
    pub actions: usize,
    /// Those that break within the uncertainty.
    pub breaking: usize,
    /// Those that are proven to hold.
    pub holding: usize,
    /// Those of which neither is proven.
    pub undecided: usize,
    /// The share that breaks.
    pub share: Option<Range>,
    /// Half of them break with a perturbation of at most this size; `null` if half of them are not known to break.
    pub median_break: Option<f64>,
}

/// What it costs to be safe.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Price {
    /// Those who have an action with and without uncertainty.
    pub people: usize,
    /// Their mean cost with the uncertainty.
    pub with_uncertainty: Range,
    /// Their mean cost without it.
    pub without_uncertainty: Range,
    /// The first divided by the second; never less than one. The upper end is `null` if nothing limits it.
    pub ratio: Range,
}

/// Statistics of resampled groups, from which differences are calculated.
pub struct GroupReplicates {
    pub turned_down: Replicates,
    pub with_recourse: Replicates,
    pub cost: Replicates,
}

/// What resampling needs of a person.
#[derive(Clone, Copy)]
struct Point {
    status: Status,
    cost: Range,
}

/// The cost of somebody's cheapest action.
fn cost_range(examined: &Examined) -> Range {
    Range::new(examined.answer.bound, examined.answer.cost)
}

/// A share that is known up to people who could not be decided.
pub(super) fn share(least: usize, most: usize, of: usize) -> Option<Range> {
    (of > 0).then(|| Range::new(least as f64 / of as f64, most as f64 / of as f64))
}

/// The smallest range that contains two others.
pub(super) fn hull(a: Option<Range>, b: Option<Range>) -> Option<Range> {
    Some(Range::new(a?.lower.min(b?.lower), a?.upper.max(b?.upper)))
}

impl Counts {
    /// Those of them who have or may have an action.
    fn of(people: &[&Examined]) -> Self {
        let mut counts = Self { people: people.len(), ..Self::default() };
        for person in people {
            counts.incomplete += usize::from(person.is_incomplete);
            match person.answer.status {
                Status::Favourable => counts.favourable += 1,
                Status::Found => counts.found += 1,
                Status::Undecided => counts.undecided += 1,
                Status::Impossible => {
                    counts.impossible += 1;
                    match person.nominal.map(|nominal| nominal.status) {
                        None | Some(Status::Impossible) => counts.impossible_without_uncertainty += 1,
                        Some(Status::Found | Status::Favourable) => {
                            counts.impossible_because_of_uncertainty += 1;
                        }
                        Some(Status::Undecided) => {}
                    }
                }
            }
        }
        counts.turned_down = counts.people - counts.favourable;
        counts
    }

    /// Those who are impossible and of whom it is not proven whether the uncertainty is the reason.
    pub fn impossible_for_an_unknown_reason(&self) -> usize {
        self.impossible - self.impossible_without_uncertainty - self.impossible_because_of_uncertainty
    }
}

impl GroupReport {
    /// The report about some people, and the statistics of resampled groups. `stream` numbers the group.
    pub(super) fn new(
        name: String,
        people: &[&Examined],
        (features, columns): (&Features, &[AskedColumn]),
        (seed, stream): (u64, usize),
    ) -> (Self, GroupReplicates) {
        let counts = Counts::of(people);
        let replicates = replicates(people, (seed, stream));
        let found: Vec<&Examined> =
            people.iter().copied().filter(|person| person.answer.status == Status::Found).collect();
        let costs: Vec<Range> = found.iter().map(|person| cost_range(person)).collect();
        let turned_down: Vec<Range> = people
            .iter()
            .filter(|person| person.answer.status != Status::Favourable)
            .map(|person| cost_range(person))
            .collect();
        let Counts { found: sure, undecided, turned_down: down, people: everybody, .. } = counts;
        let interval = |is_enough: bool, replicates: &Replicates, least, most, of| {
            let drawn = percentile_interval(replicates.iter().copied());
            hull(drawn, wilson(least, most, of)).filter(|_| is_enough)
        };
        let report = Self {
            name,
            is_small: everybody < FEW,
            counts,
            turned_down: Share {
                exact: share(down, down, everybody),
                interval: interval(everybody >= FEW, &replicates.turned_down, down, down, everybody),
            },
            with_recourse: Share {
                exact: share(sure, sure + undecided, down),
                interval: interval(down >= FEW, &replicates.with_recourse, sure, sure + undecided, down),
            },
            cost: cost_report(&costs, &replicates),
            median_of_turned_down: enclosed_statistic(&turned_down, 0.5),
            asked: columns
                .iter()
                .enumerate()
                .map(|(k, column)| asked((features, column), k, &found))
                .collect(),
            fragility: fragility(people),
            price: price(people),
            advice: None,
        };
        (report, replicates)
    }
}

fn replicates(people: &[&Examined], (seed, stream): (u64, usize)) -> GroupReplicates {
    let points: Vec<Point> = people
        .iter()
        .map(|person| Point { status: person.answer.status, cost: cost_range(person) })
        .collect();
    let drawn = resample(&points, seed, stream, |drawn| {
        let (mut favourable, mut found, mut undecided, mut total) = (0, 0, 0, 0);
        let mut sum = Range::new(0.0, 0.0);
        for point in drawn {
            total += 1;
            match point.status {
                Status::Favourable => favourable += 1,
                Status::Found => {
                    found += 1;
                    sum.lower += point.cost.lower;
                    sum.upper += point.cost.upper;
                }
                Status::Undecided => undecided += 1,
                Status::Impossible => {}
            }
        }
        let down = total - favourable;
        let mean = |sum: f64| sum / f64::from(found);
        let part = |count: i32, of: i32| f64::from(count) / f64::from(of);
        [
            (total > 0).then(|| Range::new(part(down, total), part(down, total))),
            (down > 0).then(|| Range::new(part(found, down), part(found + undecided, down))),
            (found > 0).then(|| Range::new(mean(sum.lower), mean(sum.upper))),
        ]
    });
    let of = |k: usize| drawn.iter().map(|statistics| statistics[k]).collect();
    GroupReplicates { turned_down: of(0), with_recourse: of(1), cost: of(2) }
}

fn cost_report(costs: &[Range], replicates: &GroupReplicates) -> Option<CostReport> {
    let interval = percentile_interval(replicates.cost.iter().copied());
    Some(CostReport {
        people: costs.len(),
        mean: enclosed_mean(costs.iter().copied())?,
        interval: interval.filter(|_| costs.len() >= FEW),
        quantiles: SHARES
            .iter()
            .filter_map(|&share| Some(Quantile { share, cost: enclosed_statistic(costs, share)? }))
            .collect(),
    })
}

/// What actions ask of column number `k`.
fn asked((features, column): (&Features, &AskedColumn), k: usize, found: &[&Examined]) -> Asked {
    let changes: Vec<Change> = found.iter().filter_map(|person| person.changes[k]).collect();
    let some = |changes: Vec<f64>| {
        let people = changes.len();
        let mean = changes.iter().sum::<f64>() / people as f64;
        let feature = features.feature(column.features[0]);
        let words = || feature.difference_with_unit(&number(mean.abs()));
        (people > 0).then(|| Changed { people, mean, words: words() })
    };
    let by = |is_raised: bool| {
        let amounts = changes.iter().filter_map(|change| match change {
            Change::By(amount) if (*amount > 0.0) == is_raised => Some(*amount),
            _ => None,
        });
        some(amounts.collect())
    };
    let known = column.categories.as_deref().unwrap_or_default();
    let reached = known.iter().enumerate().map(|(position, (category, label))| Reached {
        category: category.clone(),
        label: label.clone(),
        people: changes.iter().filter(|change| **change == Change::To(position)).count(),
    });
    Asked {
        column: column.name.clone(),
        label: column.label.clone(),
        people: changes.len(),
        share: changes.len() as f64 / found.len().max(1) as f64,
        raised: by(true),
        lowered: by(false),
        reached: reached.filter(|reached| reached.people > 0).collect(),
    }
}

/// A number of perturbations with which half of all actions break at most, in any order.
pub(super) fn median_break(mut sizes: Vec<f64>) -> Option<f64> {
    sizes.sort_by(f64::total_cmp);
    order_statistic(&sizes, 0.5).filter(|size| size.is_finite())
}

fn fragility(people: &[&Examined]) -> Option<Fragility> {
    let is_asked = people.iter().any(|person| person.nominal.is_some());
    let fragile: Vec<_> = people.iter().filter_map(|person| person.fragile.as_ref()).collect();
    let count = |verdict| fragile.iter().filter(|fragile| fragile.verdict == verdict).count();
    let [breaking, holding, undecided] =
        [AdviceVerdict::Breaks, AdviceVerdict::Holds, AdviceVerdict::Undecided].map(count);
    is_asked.then(|| Fragility {
        actions: fragile.len(),
        breaking,
        holding,
        undecided,
        share: share(breaking, breaking + undecided, fragile.len()),
        median_break: median_break(fragile.iter().map(|fragile| fragile.size).collect()),
    })
}

fn price(people: &[&Examined]) -> Option<Price> {
    let both = people.iter().filter_map(|person| {
        let nominal = person.nominal.filter(|nominal| nominal.status == Status::Found)?;
        let safe = cost_range(person);
        (person.answer.status == Status::Found).then_some((safe, Range::new(nominal.bound, nominal.cost)))
    });
    let (safe, plain): (Vec<Range>, Vec<Range>) = both.unzip();
    let with_uncertainty = enclosed_mean(safe.iter().copied())?;
    let without_uncertainty = enclosed_mean(plain.iter().copied())?;
    Some(Price {
        people: safe.len(),
        with_uncertainty,
        without_uncertainty,
        // Whatever holds within the uncertainty holds without it, and is no cheaper.
        ratio: ratio(with_uncertainty, without_uncertainty, 1.0),
    })
}

/// All quotients of a number in one range and one in another, where they are known to be no less than `least`.
pub(super) fn ratio(of: Range, by: Range, least: f64) -> Range {
    let upper = if by.lower > 0.0 { of.upper / by.lower } else { f64::INFINITY };
    let lower = if by.upper > 0.0 { of.lower / by.upper } else { least };
    Range::new(lower.max(least), upper.max(least))
}
