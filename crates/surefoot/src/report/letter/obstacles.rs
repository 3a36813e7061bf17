//! What stands in the way of somebody for whom nothing can be done.

use super::language::{decimals_of, plain};
use super::spoken::Spoken;
use crate::feature::Shown;
use crate::recourse::{Explanation, Relaxation};
use crate::{Change, Forbidden, Kind, Recourse};

/// The most things that are named.
const MOST: usize = 4;

/// What stands in the way, in sentences, that which takes the least effort to get around first; each is the answer to a
/// changed question.
pub(super) fn obstacles(spoken: &Spoken<'_>, explanation: &Explanation) -> Vec<String> {
    let language = spoken.language;
    let obstacles = explanation.enough.iter();
    let mut sentences: Vec<String> =
        obstacles.filter_map(|(relaxation, found)| obstacle(spoken, relaxation, found)).collect();
    let further = sentences.len().saturating_sub(MOST);
    sentences.truncate(MOST);
    if further > 0 {
        sentences.push(match further {
            1 => language
                .of(
                    "There is one more limit or rule without which there would be a way, by more effort.",
                    "Es gibt eine weitere Grenze oder Regel, ohne die es einen Weg gäbe, mit mehr Aufwand.",
                )
                .to_owned(),
            _ => language.of(
                format!("There are {further} more limits or rules without each of which there would be a way, by more effort."),
                format!("Es gibt {further} weitere Grenzen oder Regeln, ohne die es jeweils einen Weg gäbe, mit mehr Aufwand."),
            ),
        });
    }
    if sentences.is_empty() && explanation.enough.is_empty() && explanation.is_exhaustive {
        sentences.push(
            language
                .of(
                    "No single limit or rule stands in the way: lifting one of them alone would not be enough.",
                    "Keine einzelne Grenze oder Regel steht im Weg: Eine davon allein aufzuheben würde nicht genügen.",
                )
                .into(),
        );
    }
    sentences.extend(less_uncertainty(spoken, explanation));
    sentences
}

/// What would be possible if less had to be guarded against.
fn less_uncertainty(spoken: &Spoken<'_>, explanation: &Explanation) -> Option<String> {
    let (language, problem) = (spoken.language, spoken.problem);
    if problem.ball().is_none() {
        return None;
    }
    let reach = explanation.reach;
    match (reach.possible, reach.impossible) {
        (Some(possible), _) => {
            let percent = (100.0 * possible / problem.epsilon()).floor();
            Some(match percent > 0.0 {
                true => {
                    let percent = language.percent(percent / 100.0);
                    language.of(
                        format!("There would be a way if your circumstances could differ from what you told us only {percent} as much as we have to allow for."),
                        format!("Es gäbe einen Weg, wenn Ihre Verhältnisse nur {percent} so weit von Ihren Angaben abweichen könnten, wie wir es berücksichtigen müssen."),
                    )
                }
                false => language.of(
                    "There would be a way if we did not have to allow for differences from what you told us.".into(),
                    "Es gäbe einen Weg, wenn wir keine Abweichungen von Ihren Angaben berücksichtigen müssten.".into(),
                ),
            })
        }
        (None, Some(0.0)) if problem.sources().is_none() => Some(
            language
                .of(
                    "There is no way even if nothing differs from what you told us.",
                    "Es gibt selbst dann keinen Weg, wenn nichts von Ihren Angaben abweicht.",
                )
                .into(),
        ),
        (None, _) => None,
    }
}

/// One restriction without which there would be a way; `None` if the action found does not need it lifted.
fn obstacle(spoken: &Spoken<'_>, relaxation: &Relaxation, found: &Recourse) -> Option<String> {
    let (language, problem) = (spoken.language, spoken.problem);
    match relaxation {
        Relaxation::Limits(i) => limit(spoken, *i, found),
        Relaxation::Change(unit) => direction(spoken, unit),
        Relaxation::MostChange(_) | Relaxation::Step(_) | Relaxation::MostChanges | Relaxation::OneOf(_) => {
            effort(spoken, relaxation)
        }
        Relaxation::Constraint(k) => {
            let rule = problem.constraints().get(*k)?.text();
            Some(language.of(
                format!("There would be a way without the rule {rule}."),
                format!("Es gäbe einen Weg ohne die Regel {rule}."),
            ))
        }
        Relaxation::Transition(k) => {
            let i = match problem.forbidden().get(*k)? {
                Forbidden::Values { feature, .. } => *feature,
                Forbidden::Categories { from, to } => *from.iter().chain(to).next()?,
            };
            let name = spoken.name(i);
            Some(language.of(
                format!("There would be a way if the change of {name} that is ruled out were allowed."),
                format!("Es gäbe einen Weg, wenn die ausgeschlossene Änderung von {name} erlaubt wäre."),
            ))
        }
    }
}

/// A limit of a feature.
fn limit(spoken: &Spoken<'_>, i: usize, found: &Recourse) -> Option<String> {
    let language = spoken.language;
    let feature = spoken.feature(i);
    let name = spoken.name(i);
    let value = feature.snap_to_integer(feature.own_units(found.counterfactual[i]));
    let (is_above, limit) = match value {
        value if value > feature.upper => (true, feature.upper),
        value if value < feature.lower => (false, feature.lower),
        _ => return None,
    };
    // There is no level beyond the last one.
    if matches!(feature.shown, Shown::Ordered(_)) && feature.level(value) == feature.level(limit) {
        return None;
    }
    let (value, limit) = (beyond(spoken, i, value, is_above), language.amount(feature, limit, None));
    Some(match is_above {
        true => language.of(
            format!("There would be a way if {name} could rise to {value}, above its limit of {limit}."),
            format!(
                "Es gäbe einen Weg, wenn {name} auf {value} steigen könnte, über die Grenze hinaus ({limit})."
            ),
        ),
        false => language.of(
            format!("There would be a way if {name} could fall to {value}, below its limit of {limit}."),
            format!("Es gäbe einen Weg, wenn {name} auf {value} sinken könnte, unter die Grenze ({limit})."),
        ),
    })
}

/// That a feature may not be changed, or in one direction only.
fn direction(spoken: &Spoken<'_>, unit: &[usize]) -> Option<String> {
    let language = spoken.language;
    let first = *unit.first()?;
    let feature = spoken.feature(first);
    let name = spoken.name(first);
    Some(match (&feature.group, feature.change) {
        (None, Change::Increase) => language.of(
            format!("There would be a way if {name} could also fall."),
            format!("Es gäbe einen Weg, wenn {name} auch sinken könnte."),
        ),
        (None, Change::Decrease) => language.of(
            format!("There would be a way if {name} could also rise."),
            format!("Es gäbe einen Weg, wenn {name} auch steigen könnte."),
        ),
        (None, Change::Fixed | Change::Any) => language.of(
            format!("There would be a way if {name} could be changed."),
            format!("Es gäbe einen Weg, wenn {name} geändert werden könnte."),
        ),
        (Some(_), _) => language.of(
            format!("There would be a way if {name} could be changed freely."),
            format!("Es gäbe einen Weg, wenn {name} beliebig geändert werden könnte."),
        ),
    })
}

/// A limit to effort; `None` for any other restriction.
fn effort(spoken: &Spoken<'_>, relaxation: &Relaxation) -> Option<String> {
    let (language, problem) = (spoken.language, spoken.problem);
    match relaxation {
        Relaxation::MostChange(i) => {
            let name = spoken.name(*i);
            Some(language.of(
                format!("There would be a way if {name} could change by more than is allowed."),
                format!("Es gäbe einen Weg, wenn sich {name} um mehr ändern dürfte, als erlaubt ist."),
            ))
        }
        Relaxation::Step(i) => {
            let feature = spoken.feature(*i);
            let name = spoken.name(*i);
            let step = feature.step?;
            let step = language.difference(feature, step, decimals_of(feature, step));
            Some(language.of(
                format!("There would be a way if {name} could change by other amounts than multiples of {step}."),
                format!("Es gäbe einen Weg, wenn sich {name} um andere Beträge als Vielfache von {step} ändern dürfte."),
            ))
        }
        Relaxation::MostChanges => {
            let most = problem.change_limits().most_changes()?;
            Some(language.of(
                match most {
                    1 => "There would be a way if more than one thing could be changed.".to_owned(),
                    _ => {
                        format!("There would be a way if more than {most} things could be changed together.")
                    }
                },
                match most {
                    1 => "Es gäbe einen Weg, wenn mehr als eine Angabe geändert werden dürfte.".to_owned(),
                    _ => format!(
                        "Es gäbe einen Weg, wenn mehr als {most} Angaben zusammen geändert werden dürften."
                    ),
                },
            ))
        }
        Relaxation::OneOf(k) => {
            let list = problem.change_limits().one_of().get(*k)?;
            let names = spoken.names(list.iter().copied());
            Some(language.of(
                format!(
                    "There would be a way if several of these could be changed together: {}.",
                    language.list(&names, "and", "und")
                ),
                format!(
                    "Es gäbe einen Weg, wenn mehrere davon zusammen geändert werden dürften: {}.",
                    language.list(&names, "and", "und")
                ),
            ))
        }
        _ => None,
    }
}

/// A value beyond a limit, rounded away from the limit: there is an action that reaches no further.
fn beyond(spoken: &Spoken<'_>, i: usize, value: f64, is_above: bool) -> String {
    let feature = spoken.feature(i);
    if feature.kind != Kind::Real {
        return spoken.language.amount(feature, value, None);
    }
    let decimals = decimals_of(feature, value);
    let unit = 10f64.powi(-(decimals as i32));
    let shown = plain(value, decimals).parse::<f64>().unwrap_or(value);
    let is_short = if is_above { shown < value } else { shown > value };
    let shown = if is_short { shown + unit.copysign(if is_above { 1.0 } else { -1.0 }) } else { shown };
    spoken.language.amount(feature, shown, Some(decimals))
}
