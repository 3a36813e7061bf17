//! What an audit finds, in sentences.

use super::compare::Pair;
use super::statistics::{FEW, Range};
use super::{Difference, GroupReport, GroupingReport, Setting, TwinReport};
use crate::magnitude::readable;

/// Pairs of groups that are named for each question; further ones are counted.
const MOST_NAMED: usize = 3;

/// "1 person", "2 people".
pub fn people(count: usize) -> String {
    if count == 1 { "1 person".into() } else { format!("{count} people") }
}

/// One of two words: for one, and for another number.
fn one(count: usize, singular: &'static str, plural: &'static str) -> &'static str {
    if count == 1 { singular } else { plural }
}

/// Three significant digits, rounded by `round`.
fn digits(value: f64, round: fn(f64) -> f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return readable(value + 0.0);
    }
    let decimals = 2 - value.abs().log10().floor() as i32;
    if decimals.abs() > 300 {
        return readable(value);
    }
    let unit = 10f64.powi(decimals.abs());
    let scaled = if decimals >= 0 { value * unit } else { value / unit };
    // What is a number of three digits but for rounding errors is not rounded to the next one.
    let near = scaled.round();
    let whole = if (scaled - near).abs() < 1e-7 * near.abs() { near } else { round(scaled) };
    let rounded = if decimals >= 0 { whole / unit } else { whole * unit };
    readable(format!("{rounded:.*}", decimals.max(0) as usize).parse().unwrap_or(rounded) + 0.0)
}

/// A number with three significant digits.
pub fn number(value: f64) -> String {
    digits(value, f64::round)
}

/// A range with three significant digits that contains it: "1.23 to 1.25", "1.23", "at least 1.23".
pub fn range(range: Range) -> String {
    let Range { lower, upper } = range;
    if !upper.is_finite() {
        return if lower.is_finite() {
            format!("at least {}", digits(lower, f64::floor))
        } else {
            "none".into()
        };
    }
    // Closed forms differ from their bounds by rounding errors only.
    if upper - lower <= 1e-6 * upper.abs().max(lower.abs()) {
        return number(upper);
    }
    let (low, high) = (digits(lower, f64::floor), digits(upper, f64::ceil));
    if low == high { low } else { format!("{low} to {high}") }
}

/// A share in percent with one decimal. Only none and all are 0% and 100%.
pub fn percent(share: f64) -> String {
    let rounded = (share * 1000.0).round();
    let rounded = if share > 0.0 && share < 1.0 { rounded.clamp(1.0, 999.0) } else { rounded };
    format!("{}%", readable(rounded / 10.0))
}

/// A range of shares in percent.
pub fn percents(range: Range) -> String {
    let (low, high) = (percent(range.lower), percent(range.upper));
    if low == high { low } else { format!("{low} to {high}") }
}

/// A range of differences of shares, in percentage points.
pub fn points(range: Range) -> String {
    let point = |value: f64| readable((value * 1000.0).round() / 10.0 + 0.0);
    let (low, high) = (point(range.lower), point(range.upper));
    if low == high { low } else { format!("{low} to {high}") }
}

/// What an action withstands.
fn uncertainty(setting: &Setting) -> String {
    match setting.has_further_uncertainty {
        true => "everything that the problem says is uncertain".into(),
        false => {
            format!("shifts of up to {} standard deviations ({})", readable(setting.epsilon), setting.norm)
        }
    }
}

/// The findings about everybody.
pub fn of_everybody(setting: &Setting, everybody: &GroupReport) -> Vec<String> {
    let counts = everybody.counts;
    let mut findings = Vec::new();
    let share = |count: usize, of: usize| percent(count as f64 / of.max(1) as f64);
    findings.push(format!(
        "{} {} asked about. {} {} turned down ({}).",
        people(counts.people),
        one(counts.people, "was", "were"),
        people(counts.turned_down),
        one(counts.turned_down, "is", "are"),
        share(counts.turned_down, counts.people),
    ));
    if counts.incomplete > 0 {
        findings.push(format!(
            "Of {} a value is missing. The decision takes it as the problem says; actions are proven for every value that it may \
             have, also where nothing else is uncertain.",
            people(counts.incomplete)
        ));
    }
    if counts.turned_down == 0 {
        return findings;
    }
    let withstands = if setting.is_uncertain {
        format!(" and to withstand {}", uncertainty(setting))
    } else {
        String::new()
    };
    findings.push(format!(
        "Of those who are turned down, {} {} an action that is proven to work{withstands} ({}).",
        counts.found,
        one(counts.found, "has", "have"),
        share(counts.found, counts.turned_down),
    ));
    if counts.impossible > 0 {
        let mut text = format!("For {} it is proven that no action works", people(counts.impossible));
        if setting.is_uncertain {
            text += &format!(
                ": for {} even if nothing were uncertain, for {} only because an action must withstand the uncertainty",
                counts.impossible_without_uncertainty, counts.impossible_because_of_uncertainty,
            );
            if counts.impossible_for_an_unknown_reason() > 0 {
                text +=
                    &format!(", and for {} it is not known which", counts.impossible_for_an_unknown_reason());
            }
        }
        findings.push(text + ".");
    }
    if counts.undecided > 0 {
        findings.push(format!(
            "{} could not be decided. Shares are stated as ranges: from none of them to all of them.",
            people(counts.undecided)
        ));
    }
    if let Some(cost) = &everybody.cost {
        let median = cost.quantiles.iter().find(|quantile| quantile.share == 0.5).map(|median| median.cost);
        let median = median.map_or(String::new(), |median| format!(", and {} at the median", range(median)));
        findings.push(format!(
            "The cheapest action costs {} on average{median}. Cost is effort in standard deviations of the features.",
            range(cost.mean)
        ));
    }
    findings.extend(of_fragility(setting, everybody));
    findings.extend(of_advice(everybody));
    findings
}

/// What becomes of the cheapest actions without uncertainty.
fn of_fragility(setting: &Setting, everybody: &GroupReport) -> Vec<String> {
    let mut findings = Vec::new();
    if let Some(fragility) = everybody.fragility.filter(|fragility| fragility.actions > 0) {
        let mut text = format!(
            "If nothing were guarded against, {} of {} cheapest actions would break within {}",
            fragility.breaking,
            fragility.actions,
            uncertainty(setting)
        );
        if fragility.undecided > 0 {
            text += &format!(", and {} could not be decided", fragility.undecided);
        }
        if let Some(size) = fragility.median_break {
            let practically = if size < 1e-6 { "practically any shift, " } else { "a shift of " };
            text += &format!("; half of them break with {practically}{} or less", digits(size, f64::ceil));
        }
        findings.push(text + ".");
    }
    if let Some(price) = everybody.price {
        findings.push(format!(
            "Actions that withstand the uncertainty cost {} times as much on average as the cheapest ones that do not \
             ({} instead of {}).",
            range(price.ratio),
            range(price.with_uncertainty),
            range(price.without_uncertainty),
        ));
    }
    findings
}

/// What others advised.
fn of_advice(everybody: &GroupReport) -> Vec<String> {
    let Some(advice) = everybody.advice else { return Vec::new() };
    let mut findings = vec![format!(
        "Of {} advised {}, {} {} proven to hold, {} {}, and {} could not be decided. The problem allows {} of them; {} \
         hold and can be taken.",
        advice.actions,
        one(advice.actions, "action", "actions"),
        advice.holding,
        one(advice.holding, "is", "are"),
        advice.breaking,
        one(advice.breaking, "breaks", "break"),
        advice.undecided,
        advice.feasible,
        advice.holding_and_feasible,
    )];
    if let Some(ratio) = advice.cost_ratio {
        findings.push(format!(
            "Those that hold and can be taken cost {} times as much on average as the cheapest actions for the same people.",
            range(ratio)
        ));
    }
    if advice.turned_down_without_advice > 0 {
        findings.push(format!(
            "{} who {} turned down {} advised nothing.",
            people(advice.turned_down_without_advice),
            one(advice.turned_down_without_advice, "is", "are"),
            one(advice.turned_down_without_advice, "was", "were"),
        ));
    }
    findings
}

/// A question about a pair of groups.
struct Question {
    difference: fn(&Pair) -> Difference,
    /// The sentence about the two groups, the one with more first.
    sentence: fn(&GroupReport, &GroupReport, Range) -> String,
    /// What is asked, for a list.
    name: &'static str,
}

const QUESTIONS: [Question; 3] = [
    Question {
        difference: |pair| pair.turned_down,
        sentence: |more, less, interval| {
            format!(
                "More people are turned down among “{}” than among “{}”: {} and {} (difference: {} percentage points, 95% \
                 interval).",
                more.name,
                less.name,
                more.turned_down.exact.map_or("none".into(), percents),
                less.turned_down.exact.map_or("none".into(), percents),
                points(interval)
            )
        },
        name: "the share of people who are turned down",
    },
    Question {
        difference: |pair| pair.with_recourse,
        sentence: |more, less, interval| {
            format!(
                "Of those who are turned down, more have recourse among “{}” than among “{}”: {} and {} (difference: {} \
                 percentage points, 95% interval).",
                more.name,
                less.name,
                more.with_recourse.exact.map_or("none".into(), percents),
                less.with_recourse.exact.map_or("none".into(), percents),
                points(interval)
            )
        },
        name: "the share of those turned down who have recourse",
    },
    Question {
        difference: |pair| pair.mean_cost,
        sentence: |more, less, interval| {
            let mean =
                |report: &GroupReport| report.cost.as_ref().map_or("none".into(), |cost| range(cost.mean));
            format!(
                "Recourse costs more among “{}” than among “{}”: {} and {} on average (difference: {}, 95% interval).",
                more.name,
                less.name,
                mean(more),
                mean(less),
                range(interval)
            )
        },
        name: "the mean cost of recourse",
    },
];

/// The findings about a grouping.
pub fn of_grouping(report: &GroupingReport) -> Vec<String> {
    let GroupingReport { groups, pairs, .. } = report;
    let mut findings = Vec::new();
    let (mut without, mut unknown) = (Vec::new(), Vec::new());
    for Question { difference, sentence, name } in &QUESTIONS {
        let asked: Vec<(&Pair, Range)> =
            pairs.iter().filter_map(|pair| Some((pair, difference(pair).interval?))).collect();
        let mut shown: Vec<(&Pair, Range)> =
            asked.iter().copied().filter(|(pair, _)| difference(pair).is_shown()).collect();
        // Those that are farthest from zero first.
        let distance = |interval: Range| interval.lower.max(-interval.upper);
        shown.sort_by(|a, b| distance(b.1).total_cmp(&distance(a.1)));
        for (pair, interval) in shown.iter().take(MOST_NAMED) {
            let (first, second) = (&groups[pair.first], &groups[pair.second]);
            findings.push(match interval.is_positive() {
                true => sentence(first, second, *interval),
                false => sentence(second, first, Range::new(0.0, 0.0).minus(*interval)),
            });
        }
        if shown.len() > MOST_NAMED {
            findings.push(format!(
                "{} further pairs of groups differ in {name}; the table of pairs has them.",
                shown.len() - MOST_NAMED
            ));
        }
        match (asked.is_empty(), shown.is_empty()) {
            (true, _) => unknown.push(*name),
            (false, true) => without.push(*name),
            (false, false) => {}
        }
    }
    if groups.len() < 2 {
        return vec!["Everybody is in the same group, so that there is nothing to compare.".into()];
    }
    if !without.is_empty() {
        findings.push(format!(
            "No difference between groups was shown in {}, which does not prove that there is none.",
            without.join(", or in ")
        ));
    }
    if !unknown.is_empty() {
        findings.push(format!("There are too few people to compare {}.", unknown.join(", or ")));
    }
    let mut twins: Vec<&TwinReport> = report.twins.iter().filter(|twins| twins.turned_down > 0).collect();
    // Those first for whom the group matters most; groups with few people say little.
    let matters = |twins: &TwinReport| {
        let differing = twins.difference.map_or(0, |difference| difference.dearer + difference.cheaper);
        twins.twin_favourable + twins.twin_impossible + twins.only_twin_found + differing
    };
    twins.sort_by_key(|twins| (twins.turned_down < FEW, std::cmp::Reverse(matters(twins))));
    // Both directions of two groups belong together.
    let named = if twins.len() <= MOST_NAMED + 1 { twins.len() } else { MOST_NAMED };
    findings.extend(twins.iter().take(named).map(|twins| of_twins(groups, twins)));
    if let Some(rest) = twins.get(named..).filter(|rest| !rest.is_empty()) {
        let few = rest.iter().filter(|twins| twins.turned_down < FEW).count();
        let few = match few {
            0 => String::new(),
            _ => format!(" ({few} of them from a group with fewer than {FEW} people who are turned down)"),
        };
        findings.push(format!(
            "The same people in {} further pairs of groups{few} are in the tables of the same person in another group.",
            rest.len()
        ));
    }
    if let Some(why) = &report.without_twins {
        findings.push(format!("The same person in another group was not asked about: {why}."));
    }
    findings
}

/// People and their twins.
fn of_twins(groups: &[GroupReport], twins: &TwinReport) -> String {
    let TwinReport { turned_down, twin_favourable, both_found, .. } = *twins;
    let (from, to) = (&groups[twins.from].name, &groups[twins.to].name);
    let how = if twins.is_causal { "by the causal model" } else { "and everything else the same" };
    let mut text = format!(
        "Of {} among “{from}” who {} turned down, {twin_favourable} would be accepted as “{to}”, {how}.",
        people(turned_down),
        one(turned_down, "is", "are"),
    );
    if let Some(difference) = twins.difference {
        let Range { lower, upper } = difference.mean;
        let (more, mean) = match () {
            () if upper < 0.0 => ("less", Range::new(-upper, -lower)),
            () if lower > 0.0 => ("more", difference.mean),
            () if lower == 0.0 && upper == 0.0 => ("neither more nor less", difference.mean),
            () => ("more", difference.mean),
        };
        let amount = if mean == Range::new(0.0, 0.0) { String::new() } else { format!("{} ", range(mean)) };
        text += &format!(
            " {both_found} would have recourse either way; it costs them {amount}{more} on average as they are: more for {} and \
             less for {} of them (proven).",
            difference.dearer, difference.cheaper,
        );
        if let Some(interval) = difference.interval {
            text += &format!(" 95% interval of what it costs them more: {}.", range(interval));
        }
    }
    let counts = [
        (twins.twin_impossible, "have recourse only as they are"),
        (twins.only_twin_found, "would have recourse only in the other group"),
        (twins.undecided, "could not be decided"),
        (
            twins.without_twin,
            "would not be people whom the problem allows: what follows is beyond a limit, not whole where it has to be, or not known",
        ),
    ];
    for (count, what) in counts.iter().filter(|(count, _)| *count > 0) {
        text += &format!(" {count} {what}.");
    }
    text
}

/// What the numbers cannot show.
pub fn limits(setting: &Setting, everybody: &GroupReport, groupings: &[GroupingReport]) -> Vec<String> {
    let mut limits = vec![
        "The numbers are about the people of the table. Who is not in it, for example because they never applied, was not \
         asked about."
            .to_owned(),
        format!(
            "Groups of fewer than {FEW} people are marked, and no intervals are stated for fewer than {FEW} people: such \
             numbers may be chance."
        ),
        "Intervals are for people like those of the table: they say how far numbers may be off because other people could have \
         been in it, and not how the table came about."
            .to_owned(),
        "Mean costs are about those who have an action. A group whose hardest cases have none looks cheaper than it is: read \
         costs beside the shares with recourse, or the median cost of all who are turned down."
            .to_owned(),
        "Cost is effort as the problem weighs it. Whether the same effort is equally hard for everybody, the numbers do not \
         say; nor whether a decision is right."
            .to_owned(),
    ];
    if everybody.counts.undecided > 0 {
        limits.push(format!(
            "{} could not be decided within the budget. They are in no mean of costs. More evaluations may decide them.",
            people(everybody.counts.undecided)
        ));
    }
    let comparisons: usize = groupings
        .iter()
        .flat_map(|grouping| &grouping.pairs)
        .map(|pair| {
            QUESTIONS.iter().filter(|question| (question.difference)(pair).interval.is_some()).count()
        })
        .sum();
    if comparisons > 1 {
        limits.push(format!(
            "{comparisons} differences between groups were looked at. Of intervals at 95%, about one in twenty misses the \
             truth, so that some of these differences may be chance."
        ));
    }
    if groupings.iter().any(|grouping| !grouping.twins.is_empty()) {
        limits.push(match setting.is_causal {
            true => "The same person in another group is what the causal model makes of them. Its equations were stated or \
                     fitted, and data alone cannot show that they are right."
                .into(),
            false => "The problem has no causal model: the same person in another group differs in the attribute alone. What the \
                      attribute brings about is not seen."
                .into(),
        });
    }
    limits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_outwards_and_never_to_a_false_one() {
        for (low, high, text) in [
            (1.2345, 1.2345, "1.23"),
            (1.2345, 1.2399, "1.23 to 1.24"),
            (-0.5, 0.25, "-0.5 to 0.25"),
            (0.1 + 0.2, 0.4, "0.3 to 0.4"),
            (1234.5, 1300.0, "1230 to 1300"),
            (2.0, f64::INFINITY, "at least 2"),
            (0.0, 0.0, "0"),
            (0.00012345, 0.0002, "0.000123 to 0.0002"),
            (-1e-300, 0.0, "-1e-300 to 0"),
        ] {
            assert_eq!(range(Range::new(low, high)), text);
        }
        for (share, text) in [(0.0, "0%"), (1.0, "100%"), (0.9999, "99.9%"), (1e-9, "0.1%"), (0.125, "12.5%")]
        {
            assert_eq!(percent(share), text);
        }
        assert_eq!(points(Range::new(-0.012, 0.125)), "-1.2 to 12.5");
    }
}
