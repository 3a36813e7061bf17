//! The tables of an audit's page.

use super::{Cell, Head, Row, Table, chart, heads, prose, shown, text};
use crate::report::audit::chart::{Axis, interval, stacked};
use crate::report::audit::statistics::Range;
use crate::report::audit::words::{number, percent, percents, points, range};
use crate::report::audit::{Changed, Difference, GroupReport, GroupingReport, Reached, Share};

fn row(group: &GroupReport, cells: Vec<Cell>) -> Row {
    Row { head: group.name.clone(), is_small: group.is_small, cells }
}

/// The tables about some groups.
pub(super) fn tables(groups: &[&GroupReport]) -> Vec<Table> {
    let mut tables = vec![
        answers(groups),
        shares(groups, "Who is turned down", "Share of people who are turned down", |group| {
            group.turned_down
        }),
        shares(
            groups,
            "Who of them has recourse",
            "Share of those turned down for whom an action is proven to work",
            |group| group.with_recourse,
        ),
        costs(groups),
        asked(groups),
    ];
    tables.extend(fragility(groups));
    tables.extend(advised(groups));
    tables
}

fn answers(groups: &[&GroupReport]) -> Table {
    let rows = groups.iter().map(|group| {
        let counts = group.counts;
        let of = |count: usize| count as f64 / counts.turned_down.max(1) as f64;
        let because = counts.impossible - counts.impossible_without_uncertainty;
        let parts = [
            ("found", of(counts.found)),
            ("undecided", of(counts.undecided)),
            ("because", of(because)),
            ("never", of(counts.impossible_without_uncertainty)),
        ];
        let numbers = [counts.found, counts.undecided, because, counts.impossible_without_uncertainty];
        let mut cells = vec![chart(stacked(&parts))];
        cells.extend([counts.people, counts.turned_down].map(|count| text(count.to_string())));
        cells.extend(numbers.map(|count| text(count.to_string())));
        row(group, cells)
    });
    Table {
        title: "What people were answered".into(),
        caption: "Numbers of people; the bar is about those who are turned down".into(),
        key: vec![
            ["found", "with recourse"],
            ["undecided", "undecided"],
            ["because", "none, because of the uncertainty"],
            ["never", "none, even without uncertainty"],
        ],
        heads: heads(&[
            "Group",
            "Those turned down",
            "People",
            "Turned down",
            "With recourse",
            "Undecided",
            "None, because of the uncertainty",
            "None, even without",
        ]),
        rows: rows.collect(),
    }
}

/// The key of charts with intervals.
fn key() -> Vec<[&'static str; 2]> {
    vec![["proven", "the people of the table (proven)"], ["interval", "95% interval for people like them"]]
}

fn shares(groups: &[&GroupReport], title: &str, caption: &str, of: fn(&GroupReport) -> Share) -> Table {
    let axis = Axis { left: 0.0, right: 1.0 };
    let rows = groups.iter().map(|group| {
        let Share { exact, interval: drawn } = of(group);
        let cells = vec![
            text(shown(exact, percents)),
            text(shown(drawn, percents)),
            chart(interval(axis, exact, drawn)),
        ];
        row(group, cells)
    });
    Table {
        title: title.into(),
        caption: caption.into(),
        key: key(),
        heads: heads(&["Group", "Share", "95% interval", "0% to 100%"]),
        rows: rows.collect(),
    }
}

fn costs(groups: &[&GroupReport]) -> Table {
    let costs = || groups.iter().filter_map(|group| group.cost.as_ref());
    let axis = Axis::from_zero(costs().flat_map(|cost| cost.interval.into_iter().chain([cost.mean])));
    let rows = groups.iter().map(|group| {
        let cost = group.cost.as_ref();
        let quantile = |share: f64| {
            let found = cost.and_then(|cost| cost.quantiles.iter().find(|quantile| quantile.share == share));
            text(shown(found, |quantile| range(quantile.cost)))
        };
        let (mean, drawn) = (cost.map(|cost| cost.mean), cost.and_then(|cost| cost.interval));
        let cells = vec![
            text(shown(cost, |cost| cost.people.to_string())),
            text(shown(mean, range)),
            text(shown(drawn, range)),
            chart(interval(axis, mean, drawn)),
            quantile(0.1),
            quantile(0.5),
            quantile(0.9),
            text(shown(group.median_of_turned_down, range)),
        ];
        row(group, cells)
    });
    Table {
        title: "What recourse costs".into(),
        caption: "Cost of the cheapest action of those who have one; the last column is about all who are turned down, where \
                  people without an action count as if no cost were enough"
            .into(),
        key: key(),
        heads: heads(&[
            "Group",
            "People",
            "Mean",
            "95% interval",
            &format!("{} to {}", number(axis.left), number(axis.right)),
            "10% need at most",
            "Median",
            "90% need at most",
            "Median of all turned down",
        ]),
        rows: rows.collect(),
    }
}

fn asked(groups: &[&GroupReport]) -> Table {
    let columns = groups.first().map_or(0, |group| group.asked.len());
    let rows = (0..columns).map(|k| {
        let cells = groups.iter().map(|group| {
            let asked = &group.asked[k];
            if asked.people == 0 {
                return prose("nobody");
            }
            let mut parts = Vec::new();
            let some = |word: &str, changed: &Changed| {
                let count = changed.people;
                let count = if count == asked.people { String::new() } else { format!("{count}: ") };
                format!("{count}{word} by {} on average", changed.words)
            };
            parts.extend(asked.raised.as_ref().map(|raised| some("raise", raised)));
            parts.extend(asked.lowered.as_ref().map(|lowered| some("lower", lowered)));
            let to = |reached: &Reached| format!("{}: to {}", reached.people, reached.label);
            parts.extend(asked.reached.iter().map(to));
            prose(format!("{} ({})", percent(asked.share), parts.join("; ")))
        });
        Row { head: groups[0].asked[k].label.clone(), is_small: false, cells: cells.collect() }
    });
    let names = groups.iter().map(|group| Head { text: group.name.clone(), is_text: true });
    Table {
        title: "What is asked of whom".into(),
        caption: "Share of those with recourse whose cheapest action changes a feature, and by how much"
            .into(),
        key: Vec::new(),
        heads: [Head { text: "Feature".into(), is_text: false }].into_iter().chain(names).collect(),
        rows: rows.collect(),
    }
}

fn fragility(groups: &[&GroupReport]) -> Option<Table> {
    groups.iter().any(|group| group.fragility.is_some()).then(|| {
        let rows = groups.iter().map(|group| {
            let (fragility, price) = (group.fragility, group.price);
            row(
                group,
                vec![
                    text(shown(fragility, |fragility| fragility.actions.to_string())),
                    text(shown(fragility.and_then(|fragility| fragility.share), percents)),
                    text(shown(fragility.and_then(|fragility| fragility.median_break), number)),
                    text(shown(price, |price| range(price.without_uncertainty))),
                    text(shown(price, |price| range(price.with_uncertainty))),
                    text(shown(price, |price| range(price.ratio))),
                ],
            )
        });
        Table {
            title: "What it costs to be safe".into(),
            caption: "The cheapest actions if nothing were guarded against, how many of them break within the uncertainty, and \
                      the mean costs of people who have an action either way"
                .into(),
            key: Vec::new(),
            heads: heads(&[
                "Group",
                "Unguarded actions",
                "Of them break",
                "Half break at most at a shift of",
                "Mean cost unguarded",
                "Mean cost guarded",
                "Times as much",
            ]),
            rows: rows.collect(),
        }
    })
}

fn advised(groups: &[&GroupReport]) -> Option<Table> {
    groups.iter().any(|group| group.advice.is_some()).then(|| {
        let rows = groups.iter().map(|group| {
            let Some(advice) = group.advice else { return row(group, Vec::new()) };
            let numbers = [
                advice.actions,
                advice.holding,
                advice.breaking,
                advice.undecided,
                advice.feasible,
                advice.holding_and_feasible,
            ];
            let mut cells: Vec<Cell> = numbers.map(|count| text(count.to_string())).into();
            cells.push(text(shown(advice.median_break, number)));
            cells.push(text(shown(advice.cost_ratio, range)));
            cells.push(text(advice.turned_down_without_advice.to_string()));
            row(group, cells)
        });
        Table {
            title: "What others advised".into(),
            caption: "Numbers of actions; the cost of those that hold and can be taken is that of the cheapest actions for the \
                      same people times the number stated"
                .into(),
            key: Vec::new(),
            heads: heads(&[
                "Group",
                "Actions",
                "Hold",
                "Break",
                "Undecided",
                "Can be taken",
                "Hold and can be taken",
                "Half break at most at a shift of",
                "Times the cheapest cost",
                "Turned down without advice",
            ]),
            rows: rows.collect(),
        }
    })
}

/// The differences of pairs of groups.
pub(super) fn pairs(grouping: &GroupingReport) -> Option<Table> {
    let all = || grouping.pairs.iter().flat_map(|pair| [pair.turned_down, pair.with_recourse]);
    let axis = Axis::from_zero(all().filter_map(|difference| difference.interval));
    let rows = grouping.pairs.iter().map(|pair| {
        let [first, second] = [&grouping.groups[pair.first], &grouping.groups[pair.second]];
        let [down, recourse] = [pair.turned_down, pair.with_recourse];
        let mut cells: Vec<Cell> = points_of(down).into();
        cells.push(chart(interval(axis, down.exact, down.interval)));
        cells.extend(points_of(recourse));
        cells.push(chart(interval(axis, recourse.exact, recourse.interval)));
        cells.push(text(shown(pair.mean_cost.exact, range)));
        cells.push(text(shown(pair.mean_cost.interval, range)));
        let is_small = first.is_small || second.is_small;
        Row { head: format!("{} minus {}", first.name, second.name), is_small, cells }
    });
    let scale = format!(
        "{} to {}",
        points(Range::new(axis.left, axis.left)),
        points(Range::new(axis.right, axis.right))
    );
    (!grouping.pairs.is_empty()).then(|| Table {
        title: "Differences between groups".into(),
        caption: "Shares in percentage points. An interval that does not contain zero shows a difference"
            .into(),
        key: key(),
        heads: heads(&[
            "Groups",
            "Turned down",
            "95% interval",
            &scale,
            "With recourse",
            "95% interval",
            &scale,
            "Mean cost",
            "95% interval",
        ]),
        rows: rows.collect(),
    })
}

fn points_of(difference: Difference) -> [Cell; 2] {
    [text(shown(difference.exact, points)), text(shown(difference.interval, points))]
}

/// What people and their twins pay.
pub(super) fn twins(grouping: &GroupingReport) -> Option<Table> {
    let intervals = grouping.twins.iter().filter_map(|twins| twins.difference);
    let axis = Axis::from_zero(intervals.flat_map(|found| found.interval.into_iter().chain([found.mean])));
    let rows = grouping.twins.iter().map(|twins| {
        let [from, to] = [&grouping.groups[twins.from], &grouping.groups[twins.to]];
        let found = twins.difference;
        let (mean, drawn) = (found.map(|found| found.mean), found.and_then(|found| found.interval));
        let cells = vec![
            text(twins.both_found.to_string()),
            text(shown(mean, range)),
            text(shown(drawn, range)),
            chart(interval(axis, mean, drawn)),
            text(shown(found, |found| found.dearer.to_string())),
            text(shown(found, |found| found.cheaper.to_string())),
        ];
        Row {
            head: format!("{} as {}", from.name, to.name),
            is_small: found.is_some() && drawn.is_none(),
            cells,
        }
    });
    let how = match grouping.twins.first()?.is_causal {
        true => "The attribute is changed, and what follows from it by the causal model",
        false => "The attribute alone is changed",
    };
    Some(Table {
        title: "The same person in another group: cost".into(),
        caption: format!(
            "{how}. Of people who have recourse either way: cost as they are minus cost in the other group"
        ),
        key: key(),
        heads: heads(&[
            "People",
            "Recourse either way",
            "Mean difference of cost",
            "95% interval",
            &format!("{} to {}", number(axis.left), number(axis.right)),
            "Pay more (proven)",
            "Pay less (proven)",
        ]),
        rows: rows.collect(),
    })
}

/// What people and their twins are answered.
pub(super) fn decisions(grouping: &GroupingReport) -> Option<Table> {
    let rows = grouping.twins.iter().map(|twins| {
        let [from, to] = [&grouping.groups[twins.from], &grouping.groups[twins.to]];
        let counts = [
            twins.turned_down,
            twins.twin_favourable,
            twins.both_found,
            twins.twin_impossible,
            twins.only_twin_found,
            twins.both_impossible,
            twins.undecided,
            twins.without_twin,
            twins.favourable,
            twins.twin_turned_down,
        ];
        let cells = counts.map(|count| text(count.to_string())).into();
        Row { head: format!("{} as {}", from.name, to.name), is_small: from.is_small, cells }
    });
    (!grouping.twins.is_empty()).then(|| Table {
        title: "The same person in another group: answers".into(),
        caption: "Numbers of people who are turned down as they are and, in the last two columns, of people who are accepted. \
                  \u{201c}No such person\u{201d}: what follows from the attribute is beyond a limit, or not whole where it has to be"
            .into(),
        key: Vec::new(),
        heads: heads(&[
            "People",
            "Turned down",
            "Accepted in the other group",
            "Recourse either way",
            "Recourse only as they are",
            "Recourse only in the other group",
            "None either way",
            "Undecided",
            "No such person",
            "Accepted",
            "Turned down in the other group",
        ]),
        rows: rows.collect(),
    })
}
