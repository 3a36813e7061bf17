//! The reasons why there is no action, in plain words.

use super::number;
use crate::action::rounded;
use crate::feature::Shown;
use crate::magnitude::readable;
use crate::recourse::{Explanation, Reach, Relaxation};
use crate::{Change, Forbidden, Kind, Problem, Recourse};

/// The number of digits of the sizes of shifts.
const DIGITS: u32 = 4;
/// Two sizes that differ by less than this share count as the same.
const CLOSE: f64 = 0.05;

/// The reasons why there is no action, as text: how much less uncertainty would allow one, and which
/// limits, fixed features or rules would have to be lifted. Every sentence is proven; numbers are rounded
/// so that they stay true. Empty if nothing is known.
pub fn describe_explanation(problem: &Problem, explanation: &Explanation) -> String {
    let mut sentences = Vec::new();
    if !problem.ball().is_none() {
        sentences.extend(less_uncertainty(problem.epsilon(), explanation.reach));
    }
    let phrase = |(relaxation, found): &(Relaxation, Recourse)| phrase(problem, relaxation, found);
    let phrases: Vec<String> = explanation.enough.iter().filter_map(phrase).collect();
    if !phrases.is_empty() {
        sentences.push(format!("There would be one {}.", alternatives(&phrases)));
    } else if explanation.is_exhaustive && explanation.enough.is_empty() {
        sentences.push(
            "To lift a single limit, direction or rule, or to let one more thing change, would not be enough."
                .into(),
        );
    }
    match sentences.len() {
        0 => String::new(),
        1 => format!("{} This is proven.", sentences[0]),
        _ => format!("{} All of this is proven.", sentences.join(" ")),
    }
}

/// The sentence about the smaller uncertainty for which there is an action.
fn less_uncertainty(asked: f64, reach: Reach) -> Option<String> {
    let from = reach.impossible.map(round_up).filter(|from| *from < asked);
    let none = from.map_or(String::new(), |from| format!(", and none for {} or more", number(from, DIGITS)));
    match (reach.possible, reach.impossible) {
        (Some(possible), _) => {
            let possible = round_down(possible);
            let up_to = match possible > 0.0 {
                true => format!("for shifts of up to {} standard deviations", number(possible, DIGITS)),
                false => "that works if nothing shifts at all".into(),
            };
            let end = from.unwrap_or(asked);
            let open = match possible < (1.0 - CLOSE) * end {
                true => " In between nothing is known.",
                false => "",
            };
            Some(format!("There is one {up_to} ({} was asked for){none}.{open}", readable(asked)))
        }
        (None, Some(0.0)) => Some("There is none even if nothing shifts.".into()),
        (None, _) => None,
    }
}

/// Joins alternative conditions. They may contain commas, so two of them are separated by a comma and
/// more by semicolons: "if a, or if b", "if a; if b; or if c".
fn alternatives(conditions: &[String]) -> String {
    match conditions {
        [] => String::new(),
        [only] => only.clone(),
        [first, second] => format!("{first}, or {second}"),
        [first @ .., last] => format!("{}; or {last}", first.join("; ")),
    }
}

/// The condition under which there would be an action; `None` if the action found does not use the lifted
/// restriction.
fn phrase(problem: &Problem, relaxation: &Relaxation, found: &Recourse) -> Option<String> {
    let features = problem.features();
    match relaxation {
        Relaxation::Limits(i) => {
            let feature = features.feature(*i);
            let value = feature.snap_to_integer(feature.own_units(found.counterfactual[*i]));
            let (verb, side, limit) = match value {
                value if value > feature.upper => ("rise", "above", feature.upper),
                value if value < feature.lower => ("fall", "below", feature.lower),
                _ => return None,
            };
            if let Shown::Ordered(levels) = &feature.shown {
                // There is no level beyond the last one.
                let level = levels.get(value as usize).filter(|_| value >= 0.0)?;
                let limit = feature.level(limit)?;
                return Some(format!(
                    "if {} could {verb} to {}, {side} its limit of {limit}",
                    feature.full_name(),
                    feature.reading(level)
                ));
            }
            let value = match feature.kind {
                Kind::Real => {
                    let (value, decimals) = rounded(value, value - limit, |_| true);
                    decimals.map_or(readable(value), |decimals| super::fixed(value, decimals))
                }
                _ => number(value, 15),
            };
            let (name, value) = (feature.full_name(), feature.with_unit(&value));
            let limit = feature.amount(limit);
            Some(format!("if {name} could {verb} to {value}, {side} its limit of {limit}"))
        }
        Relaxation::Change(unit) => {
            let feature = features.feature(*unit.first()?);
            let name = feature.full_name();
            Some(match (feature.spoken_group(), feature.change) {
                (Some(group), _) => format!("if any change of {group} were allowed"),
                (None, Change::Increase) => format!("if {name} could also fall"),
                (None, Change::Decrease) => format!("if {name} could also rise"),
                (None, Change::Fixed | Change::Any) => format!("if {name} could be changed"),
            })
        }
        Relaxation::Constraint(k) => {
            Some(format!("without the constraint `{}`", problem.constraints().get(*k)?.text()))
        }
        Relaxation::Transition(k) => {
            let feature = match problem.forbidden().get(*k)? {
                Forbidden::Values { feature, .. } => features.feature(*feature),
                Forbidden::Categories { from, to } => features.feature(*from.iter().chain(to).next()?),
            };
            let name = feature.spoken_group().map_or_else(|| feature.full_name(), Into::into);
            Some(format!("if the transition of {name} that is forbidden were allowed"))
        }
    }
}

/// Rounds down to four digits.
fn round_down(value: f64) -> f64 {
    let unit = unit(value);
    if unit > 0.0 { (value / unit).floor() * unit } else { 0.0 }
}

/// Rounds up to four digits.
fn round_up(value: f64) -> f64 {
    let unit = unit(value);
    if unit > 0.0 { (value / unit).ceil() * unit } else { 0.0 }
}

/// The unit of the last of four digits of a number.
fn unit(value: f64) -> f64 {
    if value > 0.0 { 10f64.powf(value.log10().floor() - f64::from(DIGITS - 1)) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_stay_true_when_they_are_rounded() {
        for value in [0.123456, 1.0, 0.99999, 3e-7, 12345.6, 0.1 + 0.2] {
            let (down, up) = (round_down(value), round_up(value));
            assert!(down <= value * (1.0 + 1e-15) && up >= value * (1.0 - 1e-15), "{down} {value} {up}");
            assert!(up - down <= 1.001e-3 * value, "{down} {value} {up}");
        }
        assert_eq!((round_down(0.0), round_up(0.0)), (0.0, 0.0));
    }

    #[test]
    fn alternatives_are_separated_also_where_they_have_commas() {
        let conditions =
            ["if a could rise, above its limit", "if b could fall", "without the constraint `c`"];
        let conditions = conditions.map(String::from);
        assert_eq!(alternatives(&conditions[..1]), "if a could rise, above its limit");
        assert_eq!(alternatives(&conditions[..2]), "if a could rise, above its limit, or if b could fall");
        assert_eq!(
            alternatives(&conditions),
            "if a could rise, above its limit; if b could fall; or without the constraint `c`"
        );
    }

    #[test]
    fn what_is_known_of_less_uncertainty_is_told() {
        let told = |possible, impossible| less_uncertainty(0.5, Reach { possible, impossible });
        for (possible, impossible, text) in [
            (
                Some(0.25),
                Some(0.251),
                "There is one for shifts of up to 0.25 standard deviations (0.5 was asked for), and none for 0.251 or more.",
            ),
            (
                Some(0.25),
                Some(0.5),
                "There is one for shifts of up to 0.25 standard deviations (0.5 was asked for). In between nothing is known.",
            ),
            (
                Some(0.0),
                Some(0.1),
                "There is one that works if nothing shifts at all (0.5 was asked for), and none for 0.1 or more. In between nothing is known.",
            ),
            (None, Some(0.0), "There is none even if nothing shifts."),
        ] {
            assert_eq!(told(possible, impossible).unwrap(), text);
        }
        assert_eq!(told(None, Some(0.3)), None);
    }
}
