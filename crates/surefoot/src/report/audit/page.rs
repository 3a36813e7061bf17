//! The page of an audit: HTML with everything in it, by a template.

mod tables;

use minijinja::{AutoEscape, Environment};
use serde::Serialize;

use super::statistics::FEW;
use super::words::{number, range};
use super::{Audit, GroupReport, GroupingReport};
use crate::magnitude::readable;

const TEMPLATE: &str = include_str!("page.html");

/// Advised actions that the page lists; all are in the JSON.
const MOST_ADVICE: usize = 50;

/// The words that the page explains.
const WORDS: [[&str; 2]; 7] = [
    ["Turned down", "The decision is not favourable as things stand."],
    [
        "Recourse",
        "An action that the problem allows and that is proven to make the decision favourable, also if circumstances shift as \
         far as the problem says.",
    ],
    [
        "No recourse",
        "It is proven that no such action exists: even if nothing were uncertain, or only because an action must withstand \
         the uncertainty.",
    ],
    ["Undecided", "Neither was proven within the budget of the search."],
    [
        "Cost",
        "The effort of the cheapest such action, in standard deviations of the features, as the problem weighs them. Where \
         it is a range, the lower end is proven to be necessary and the upper end to be enough.",
    ],
    [
        "95% interval",
        "Where the number would lie for other people like those of the table, drawn at random: such intervals contain the \
         truth about 95 times in 100. They allow for what is not proven as well.",
    ],
    [
        "The same person in another group",
        "A person with the attribute changed and everything that the causal model says follows from it: the person's noise \
         is inferred, the attribute is set, and the rest is predicted.",
    ],
];

#[derive(Serialize)]
struct Page<'a> {
    title: &'a str,
    subtitle: String,
    sections: Vec<Section>,
    words: [[&'static str; 2]; 7],
    few: usize,
}

#[derive(Serialize, Default)]
struct Section {
    id: String,
    title: String,
    paragraphs: Vec<String>,
    findings: Vec<String>,
    is_lead: bool,
    tables: Vec<Table>,
}

#[derive(Serialize)]
struct Table {
    title: String,
    caption: String,
    key: Vec<[&'static str; 2]>,
    heads: Vec<Head>,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Head {
    text: String,
    is_text: bool,
}

#[derive(Serialize)]
struct Row {
    head: String,
    is_small: bool,
    cells: Vec<Cell>,
}

#[derive(Serialize)]
struct Cell {
    text: String,
    chart: String,
    is_text: bool,
}

fn text(text: impl Into<String>) -> Cell {
    Cell { text: text.into(), chart: String::new(), is_text: false }
}

fn prose(text: impl Into<String>) -> Cell {
    Cell { is_text: true, ..self::text(text) }
}

fn chart(svg: String) -> Cell {
    Cell { text: String::new(), chart: svg, is_text: false }
}

fn heads(texts: &[&str]) -> Vec<Head> {
    texts.iter().map(|text| Head { text: (*text).to_owned(), is_text: false }).collect()
}

/// A number that may be unknown.
fn shown<T>(value: Option<T>, words: impl Fn(T) -> String) -> String {
    value.map_or_else(|| "–".into(), words)
}

/// The page of an audit.
pub fn page(audit: &Audit, title: &str) -> String {
    let setting = &audit.setting;
    let guard = match (setting.is_uncertain, setting.has_further_uncertainty) {
        (false, _) => "Nothing is uncertain in the problem.".to_owned(),
        (true, false) => format!(
            "Actions must withstand shifts of up to {} standard deviations ({}).",
            readable(setting.epsilon),
            setting.norm
        ),
        (true, true) => "Actions must withstand everything that the problem says is uncertain.".to_owned(),
    };
    let causal = if setting.is_causal { "what they cause follows" } else { "there is no causal model" };
    let subtitle = format!(
        "{} people. {guard} Cost is {}; {causal}. Intervals by {} draws with seed {}.",
        audit.everybody.counts.people, setting.cost, setting.replicates, setting.seed
    );
    let mut sections = vec![Section {
        id: "findings".into(),
        title: "Findings".into(),
        findings: audit.findings.clone(),
        is_lead: true,
        ..Section::default()
    }];
    if audit.groupings.is_empty() {
        let tables = tables::tables(&[&audit.everybody]);
        sections.push(Section {
            id: "everybody".into(),
            title: "Everybody".into(),
            tables,
            ..Section::default()
        });
    }
    for (number, grouping) in audit.groupings.iter().enumerate() {
        sections.push(section(number, grouping, &audit.everybody));
    }
    sections.extend(audit.advice.as_ref().map(|_| advice(audit)));
    sections.push(Section {
        id: "limits".into(),
        title: "What the numbers cannot show".into(),
        findings: audit.limits.clone(),
        ..Section::default()
    });
    let page = Page { title, subtitle, sections, words: WORDS, few: FEW };
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.render_str(TEMPLATE, &page).unwrap_or_else(|error| format!("{error:#}"))
}

/// A grouping, with everybody as the last row of each table.
fn section(number: usize, grouping: &GroupingReport, everybody: &GroupReport) -> Section {
    let mut groups: Vec<&GroupReport> = grouping.groups.iter().collect();
    groups.push(everybody);
    let mut tables = tables::tables(&groups);
    tables.extend(tables::pairs(grouping));
    tables.extend(tables::twins(grouping));
    tables.extend(tables::decisions(grouping));
    Section {
        id: format!("groups-{}", number + 1),
        title: format!("By {}", grouping.label),
        findings: grouping.findings.clone(),
        tables,
        ..Section::default()
    }
}

/// The first advised actions that break, are undecided or cannot be taken.
fn advice(audit: &Audit) -> Section {
    let all = audit.advice.as_deref().unwrap_or_default();
    let bad: Vec<_> = all.iter().filter(|row| row.verdict != "holds" || !row.feasible).collect();
    let mut paragraphs = Vec::new();
    if bad.len() > MOST_ADVICE {
        paragraphs.push(format!("The first {MOST_ADVICE} of {}; all are in the JSON file.", bad.len()));
    }
    if bad.is_empty() {
        paragraphs.push("Every action is proven to hold and can be taken.".into());
    }
    let rows = bad.iter().take(MOST_ADVICE).map(|row| Row {
        head: row.id.clone(),
        is_small: false,
        cells: vec![
            prose(row.verdict.clone()),
            prose(match (&row.breaks_with, row.smallest_break) {
                (Some(words), _) => words.clone(),
                (None, Some(0.0)) => "without any shift".into(),
                _ => "–".into(),
            }),
            text(shown(row.smallest_break, number)),
            prose(row.reason.clone().unwrap_or_else(|| "yes".into())),
            text(number(row.cost)),
            text(shown(row.cheapest, range)),
        ],
    });
    let table = Table {
        title: "Actions that break, cannot be taken or are undecided".into(),
        caption: "Each action with the smallest shift found that breaks it".into(),
        key: Vec::new(),
        heads: ["Person", "Verdict", "Breaks with", "Size", "Can be taken", "Cost", "Cheapest cost"]
            .into_iter()
            .enumerate()
            .map(|(k, head)| Head { text: head.into(), is_text: matches!(k, 1 | 2 | 4) })
            .collect(),
        rows: rows.collect(),
    };
    let tables = if bad.is_empty() { Vec::new() } else { vec![table] };
    Section {
        id: "advice".into(),
        title: "Advice of others".into(),
        paragraphs,
        tables,
        ..Section::default()
    }
}
