//! What an action asks for, step by step, and what follows from it.

use serde::Serialize;

use super::guarded::digits;
use super::language::plain;
use super::spoken::{Spoken, capitalised};
use crate::{Action, ActionKind, Feature, Kind, essential};

/// A change of an action, or a thing that it holds where it is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    /// The column of people's tables.
    pub feature: String,
    /// What people read instead.
    pub label: String,
    /// What to do, as a sentence.
    pub text: String,
    /// The value before, in words.
    pub before: String,
    /// The value afterwards, in words.
    pub after: String,
    /// The change in own units; `None` for a category.
    pub change: Option<f64>,
}

/// A value that follows from an action.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Consequence {
    /// The column of people's tables.
    pub feature: String,
    /// What people read instead.
    pub label: String,
    /// What will happen, as a sentence.
    pub text: String,
    /// The value before, in words.
    pub before: String,
    /// The value afterwards, in words.
    pub after: String,
    /// The value afterwards in own units; `None` if the value before is not known.
    pub value: Option<f64>,
}

/// The steps of an action, in the order of the features.
pub(super) fn steps(spoken: &Spoken<'_>, individual: &[f64], action: &Action) -> Vec<Step> {
    let action = essential(spoken.problem, action);
    let change = |i: usize| {
        let place = action.features.iter().position(|&acted| acted == i);
        place.map(|place| action.change[place])
    };
    let mut steps = Vec::new();
    for thing in &spoken.things {
        let step = match thing.positions[..] {
            [only] => change(only).map(|change| single(spoken, individual, only, change)),
            _ => {
                let mut after = individual.to_vec();
                let acted = thing.positions.iter().filter_map(|&i| Some((i, change(i)?)));
                let acted: Vec<(usize, f64)> = acted.collect();
                acted.iter().for_each(|&(i, change)| after[i] += change);
                let (from, to) = (spoken.value(thing, individual), spoken.value(thing, &after));
                let text = match acted.iter().any(|(_, change)| *change != 0.0) {
                    true => Some(moved(spoken, &from, &to)),
                    false if acted.is_empty() => None,
                    false if spoken.problem.action_kind() == ActionKind::Absolute => {
                        Some(kept(spoken, &spoken.quoted(&from)))
                    }
                    // A held category is where nothing else moves it.
                    false => None,
                };
                text.map(|text| (text, from, to, None))
            }
        };
        if let Some((text, before, after, change)) = step {
            let label = spoken.name(thing.first());
            let text = format!("{}: {text}", capitalised(&label));
            steps.push(Step { feature: spoken.column(thing).into(), label, text, before, after, change });
        }
    }
    steps
}

/// The step of a single feature: the sentence, the values before and after, and the change in own units.
fn single(
    spoken: &Spoken<'_>,
    individual: &[f64],
    i: usize,
    change: f64,
) -> (String, String, String, Option<f64>) {
    let (language, feature) = (spoken.language, spoken.feature(i));
    let from = feature.snap_to_integer(feature.own_units(individual[i]));
    let by = feature.snap_to_step(feature.std * change);
    let is_relative = spoken.problem.action_kind() == ActionKind::Relative;
    // What is asked for is written exactly: the change, or the level if actions are absolute.
    let decimals = match is_relative {
        true => decimals_of_value(feature, from).max(exact_decimals(by)),
        false => exact_decimals(from + by),
    };
    let before = language.amount(feature, from, Some(decimals_of_value(feature, from)));
    let after = language.amount(feature, from + by, Some(decimals));
    let is_worded = feature.kind == Kind::Binary || feature.level(from).is_some();
    if change == 0.0 {
        let before = if is_worded { spoken.quoted(&before) } else { before };
        let text = if is_relative { held(spoken, &before) } else { kept(spoken, &before) };
        return (text, before.clone(), before, Some(0.0));
    }
    let text = match (is_worded, is_relative) {
        (true, _) => moved(spoken, &before, &after),
        (false, true) => {
            let amount = language.difference(feature, by.abs(), exact_decimals(by));
            let (verb, verb_german) = if by > 0.0 { ("raise", "erhöhen") } else { ("lower", "senken") };
            language.of(
                format!("{verb} by {amount}, from {before} to {after}."),
                format!("um {amount} {verb_german} (bisher {before}, danach {after})."),
            )
        }
        (false, false) => {
            let (verb, verb_german) = if by > 0.0 { ("raise", "erhöhen") } else { ("lower", "senken") };
            language.of(
                format!("{verb} to {after} (now {before})."),
                format!("auf {after} {verb_german} (bisher {before})."),
            )
        }
    };
    (text, before, after, Some(by))
}

fn moved(spoken: &Spoken<'_>, from: &str, to: &str) -> String {
    let (from, to) = (spoken.quoted(from), spoken.quoted(to));
    spoken.language.of(format!("change from {from} to {to}."), format!("von {from} zu {to} wechseln."))
}

fn held(spoken: &Spoken<'_>, at: &str) -> String {
    spoken.language.of(
        format!("leave as it is ({at}), even where the other changes would move it."),
        format!("so lassen, wie es ist ({at}), auch wo die anderen Änderungen es mit sich brächten."),
    )
}

fn kept(spoken: &Spoken<'_>, at: &str) -> String {
    spoken.language.of(format!("keep at {at}."), format!("unverändert halten ({at})."))
}

/// What follows from an action without being acted upon; `reached` is the individual after it.
pub(super) fn consequences(
    spoken: &Spoken<'_>,
    individual: &[f64],
    action: &Action,
    reached: &[f64],
) -> Vec<Consequence> {
    let language = spoken.language;
    let is_acted_upon = |i: usize| action.features.contains(&i);
    let mut consequences = Vec::new();
    for thing in spoken.things.iter().filter(|thing| thing.positions.len() == 1) {
        let i = thing.first();
        let feature = spoken.feature(i);
        let change = feature.std * (reached[i] - individual[i]);
        // Less than a millionth of a standard deviation is rounding.
        if is_acted_upon(i) || change.abs() <= 1e-6 * feature.std {
            continue;
        }
        let value = feature.own_units(reached[i]);
        let label = spoken.name(i);
        let (verb, verb_german) = if change > 0.0 { ("rises", "steigt") } else { ("falls", "sinkt") };
        let name = capitalised(&label);
        if spoken.missing(thing).is_some() {
            // It changes by as much whatever the value is.
            let by = language.difference(feature, change.abs(), digits(change));
            let unknown = language.of("not known", "nicht bekannt").to_owned();
            consequences.push(Consequence {
                feature: spoken.column(thing).into(),
                label,
                text: language.of(
                    format!("{name}: {verb} by about {by}, whatever it is now."),
                    format!("{name}: {verb_german} um etwa {by}, wie hoch es jetzt auch ist."),
                ),
                before: unknown.clone(),
                after: unknown,
                value: None,
            });
            continue;
        }
        let before = spoken.value(thing, individual);
        // As many decimals as show two digits of the change.
        let after = language.amount(feature, value, Some(digits(change)));
        let text = language.of(
            format!("{name}: {verb} from {before} to about {after}."),
            format!("{name}: {verb_german} auf etwa {after} (bisher {before})."),
        );
        consequences.push(Consequence {
            feature: spoken.column(thing).into(),
            label,
            text,
            before,
            after,
            value: Some(value),
        });
    }
    consequences
}

/// The decimals that show the value of a person.
fn decimals_of_value(feature: &Feature, value: f64) -> usize {
    super::language::decimals_of(feature, value)
}

/// The fewest decimals that show a number to one part in a billion.
fn exact_decimals(value: f64) -> usize {
    let is_exact = |&decimals: &usize| {
        let shown = plain(value, decimals).parse::<f64>();
        shown.is_ok_and(|shown| (shown - value).abs() <= 1e-9 * value.abs())
    };
    (0..=15).find(is_exact).unwrap_or(15)
}
