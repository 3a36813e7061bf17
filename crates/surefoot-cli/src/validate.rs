//! `surefoot validate`: what is understood of a problem file and of a table of people, or every
//! mistake in them.

mod graph;
pub mod people;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;
use comfy_table::{CellAlignment, Table, presets::UTF8_FULL_CONDENSED};
use surefoot::feature::{Column, Shown, Words};
use surefoot::file::{Audience, write_atomically};
use surefoot::magnitude::readable;
use surefoot::problem::{ClassifierEntry, EquationEntry, six_digits};
use surefoot::{
    ActionKind, Change, Cost, Feature, Features, Forbidden, ProblemFile, describe_further_uncertainty,
    escape_line, escape_text,
};

use crate::outputs::Outputs;
use graph::Graph;

/// What `surefoot validate` can be asked.
#[derive(Args)]
pub struct Options {
    /// The problem file.
    problem: PathBuf,
    /// A table of people to check against it: CSV, Parquet or Arrow.
    people: Option<PathBuf>,
    /// Also draw the causal graph into this SVG file.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

/// Says what is understood; an error that lists every mistake if there are any.
pub fn run(options: &Options) -> Result<String> {
    let file = ProblemFile::read(&options.problem)?;
    if let Some(path) = &options.svg {
        let people = options.people.iter();
        people
            .fold(Outputs::default(), |outputs, people| outputs.keep("the table of people", people))
            .keep_problem(&file)
            .check("--svg", path)?;
    }
    let found = file.mistakes();
    let mut complaints = Vec::new();
    if !found.is_empty() {
        let mistakes = surefoot::problem::Mistakes { path: options.problem.clone(), mistakes: found };
        complaints.push(mistakes.to_string());
    }
    let mut report = None;
    if let (Some(path), Ok(features)) = (&options.people, file.features()) {
        let committee = file.committee().ok().flatten().map(|committee| |x: &[f64]| committee.score(x));
        let classifier = file.classifier().ok().flatten().map(|one| |x: &[f64]| one.score(x));
        let score = committee.as_ref().map(|score| score as people::Score<'_>);
        let score = score.or(classifier.as_ref().map(|score| score as people::Score<'_>));
        let checked = people::check(path, features, file.scm().ok().flatten(), score);
        match checked {
            Ok(checked) if checked.is_clean() => report = Some(checked.to_string()),
            Ok(checked) => complaints.push(checked.to_string()),
            Err(error) => complaints.push(error.to_string()),
        }
    }
    let mut text = String::new();
    // What is understood of a broken file would only hide what is wrong with it.
    if file.mistakes().is_empty() {
        let features = file.features()?;
        let graph = Graph::new(features, file.scm()?);
        text = understood(&file, features, &graph)?;
        if let Some(path) = &options.svg {
            write_atomically(path, graph.svg().as_bytes(), Audience::Umask)
                .with_context(|| format!("{} cannot be written", path.display()))?;
        }
    }
    text.extend(report.map(|report| format!("\n{report}\n")));
    if complaints.is_empty() {
        return Ok(text);
    }
    std::io::stdout().write_all(escape_text(&text).as_bytes())?;
    bail!("{}", complaints.join("\n"))
}

fn understood(file: &ProblemFile, features: &Features, graph: &Graph) -> Result<String> {
    let mut text =
        feature_table(file, features).to_string() + "\n" + &categories(features) + &words(features);
    let entries = file.equation_entries();
    if entries.is_empty() {
        text += "\nEquations: none; features are treated as independent.\n";
    } else {
        text += "\nEquations, causes first:\n";
        let by_feature: HashMap<&str, &EquationEntry> =
            entries.iter().map(|entry| (entry.feature.as_str(), entry)).collect();
        for i in graph.order() {
            let name = &features.feature(i).name;
            match by_feature.get(name.as_str()) {
                Some(entry) => writeln!(text, "  {name} = {}", entry.summary(file.folder()))?,
                None => writeln!(text, "  {name} has no causes")?,
            }
        }
        if graph.is_readable_as_text() {
            text += "\nCausal graph (each arrow leads from a cause, the dot, to an effect):\n";
            for line in graph.text().lines() {
                writeln!(text, "  {line}")?;
            }
        } else {
            text += "\nCausal graph: too wide for text; --svg draws it.\n";
        }
    }
    writeln!(text, "\nClassifier: {}", classifier(file, features))?;
    let (epsilon, norm) = (file.uncertainty().radius(), file.uncertainty().norm());
    let kind = norm.name();
    let (cost, form, safety) = file.settings();
    let weighted = if norm.weights().is_some() { "weighted " } else { "" };
    writeln!(
        text,
        "Uncertainty: shifts of up to {} standard deviations, {weighted}{kind} norm; safety {safety:e}",
        readable(epsilon)
    )?;
    if let Some(further) = file.problem().ok().as_ref().and_then(describe_further_uncertainty) {
        writeln!(text, "An answer has to hold for more. {further}")?;
    }
    let form = match form {
        ActionKind::Relative => "relative (\"raise by\")",
        ActionKind::Absolute => "absolute (\"reach\")",
    };
    writeln!(text, "Actions: {form}, {} cost", if cost == Cost::L1 { "l1" } else { "l2" })?;
    let (constraints, forbidden) = file.rules();
    for constraint in constraints {
        writeln!(text, "Constraint: {}, for everybody who acts", constraint.text())?;
    }
    for transition in forbidden {
        writeln!(text, "Forbidden: {}", forbids(transition, features))?;
    }
    let limits = file.change_limits();
    if let Some(most) = limits.most_changes() {
        writeln!(text, "At most {most} changed together")?;
    }
    for list in limits.one_of() {
        let name = |&i: &usize| {
            let feature = features.feature(i);
            escape_line(feature.group.as_ref().unwrap_or(&feature.name)).into_owned()
        };
        let names: Vec<String> = list.iter().map(name).collect();
        writeln!(text, "At most one changed of: {}", names.join(", "))?;
    }
    for doubt in features.doubts() {
        writeln!(text, "Warning: {}", escape_line(&doubt))?;
    }
    let mut missing = Vec::new();
    if features.actionable().is_empty() {
        missing.push("every feature is fixed: let an action change at least one (change = \"increase\")");
    }
    if file.classifier_entries().is_empty() {
        missing.push("there is no classifier: give one, or train one with `surefoot train`");
    }
    for (number, words) in missing.iter().enumerate() {
        writeln!(text, "{}{words}", if number == 0 { "\nStill to do: " } else { "             " })?;
    }
    Ok(text)
}

/// `job from clerk to cook or king`.
pub fn forbids(transition: &Forbidden, features: &Features) -> String {
    let list = |items: Vec<String>| if items.is_empty() { "any".into() } else { items.join(" or ") };
    let (of, from, to) = match transition {
        Forbidden::Categories { from, to } => {
            let name = |&i: &usize| features.feature(i).spoken_name().to_owned();
            let named = from.iter().chain(to).next();
            let group = named.and_then(|&i| features.feature(i).group.clone()).unwrap_or_default();
            (group, list(from.iter().map(name).collect()), list(to.iter().map(name).collect()))
        }
        Forbidden::Values { feature, from, to } => {
            let words = |&value: &f64| {
                features.feature(*feature).level(value).map_or_else(|| six_digits(value), str::to_owned)
            };
            let told = |values: &[f64]| list(values.iter().map(words).collect());
            (features.feature(*feature).name.clone(), told(from), told(to))
        }
    };
    format!("{of} from {from} to {to}")
}

/// The limits of a feature in words.
fn limits(feature: &Feature) -> String {
    if let (Some(lowest), Some(highest)) = (feature.level(feature.lower), feature.level(feature.upper)) {
        return format!("{} to {}", escape_line(lowest), escape_line(highest));
    }
    match (feature.lower.is_finite(), feature.upper.is_finite()) {
        (false, false) => "none".into(),
        (true, false) => format!("from {}", six_digits(feature.lower)),
        (false, true) => format!("up to {}", six_digits(feature.upper)),
        (true, true) => format!("{} to {}", six_digits(feature.lower), six_digits(feature.upper)),
    }
}

/// What an action may do to a feature, in words.
fn change(feature: &Feature) -> String {
    let direction = match feature.change {
        Change::Fixed => return "fixed".into(),
        Change::Any => "any",
        Change::Increase => "increase",
        Change::Decrease => "decrease",
    };
    let mut words = direction.to_owned();
    if let Some(step) = feature.step {
        words += &format!(", in steps of {}", six_digits(step));
    }
    if feature.most_change.is_finite() {
        words += &format!(", by at most {}", six_digits(feature.most_change));
    }
    if feature.most_change_share.is_finite() {
        words += &format!(", by at most {}%", six_digits(100.0 * feature.most_change_share));
    }
    words
}

fn kind(feature: &Feature) -> String {
    match &feature.shown {
        Shown::Ordered(_) => "ordered".into(),
        Shown::Number | Shown::OneOf { .. } => feature.kind.to_string(),
    }
}

/// The categories of columns of text, a line for each column.
fn categories(features: &Features) -> String {
    let line = |column: &Column| {
        let categories: Vec<_> = column.categories()?.iter().map(|category| escape_line(category)).collect();
        let name = escape_line(column.name());
        Some(match column.is_ordered() {
            true => format!("Categories of {name}, the lowest first: {}\n", categories.join(", ")),
            false => format!("Categories of {name}: {}\n", categories.join(", ")),
        })
    };
    features.columns().iter().filter_map(line).collect()
}

/// What people read of features with a label, a unit or descriptions, a line for each column.
fn words(features: &Features) -> String {
    let line = |column: &Column| {
        let feature = features.feature(column.positions().start);
        let Words { label, unit, described } = &feature.words;
        let mut parts: Vec<String> = Vec::new();
        parts.extend(label.clone());
        parts.extend(unit.as_ref().map(|unit| format!("in \"{}\"", unit.forms().join("\", \""))));
        parts.extend(described.iter().map(|(value, words)| format!("{value} is \"{words}\"")));
        let (name, words) = (escape_line(column.name()), parts.join(", "));
        (!parts.is_empty()).then(|| format!("{name} in sentences: {}\n", escape_line(&words)))
    };
    features.columns().iter().filter_map(line).collect()
}

fn feature_table(file: &ProblemFile, features: &Features) -> Table {
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED);
    table.set_header(["feature", "kind", "mean", "std", "limits", "change", "cost weight", "shift up to"]);
    for (i, feature) in features.iter().enumerate() {
        let weight = if feature.is_actionable() { six_digits(feature.weight) } else { String::new() };
        // Alone, in people's own units.
        let shift = file.uncertainty().alone(i, features.len(), feature.std);
        let shown_kind = feature
            .group
            .as_ref()
            .map_or_else(|| kind(feature), |group| format!("of {}", escape_line(group)));
        table.add_row([
            escape_line(&feature.name).into_owned(),
            shown_kind,
            six_digits(feature.mean),
            six_digits(feature.std),
            limits(feature),
            change(feature),
            weight,
            six_digits(shift),
        ]);
    }
    for column in [2, 3, 6, 7] {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

fn classifier(file: &ProblemFile, features: &Features) -> String {
    let summary = |entry: &ClassifierEntry| {
        let logit = entry.summary(features, file.folder());
        format!("logit = {logit}; favourable from probability {} on", entry.threshold)
    };
    let Ok(Some(committee)) = file.committee() else {
        return file.classifier_entries().first().map_or("none yet".into(), |(_, entry)| summary(entry));
    };
    let (members, at_least) = (committee.members().len(), committee.at_least());
    let mut text = match at_least == members {
        true => format!("{members} models, all of which must agree"),
        false => format!("{members} models, of which at least {at_least} must agree"),
    };
    for (name, entry) in file.classifier_entries() {
        text += &format!("\n  {name}: {}", summary(entry));
    }
    text
}
