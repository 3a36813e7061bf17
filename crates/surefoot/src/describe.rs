//! Answers in plain words and in people's own units.

mod explanation;
mod further;
mod reach;
mod theory;
mod variants;

pub use explanation::describe_explanation;
pub use theory::{
    describe_missing, describe_theory, describe_theory_of_person, describe_theory_summary, describe_unmet,
};

use further::{further, impossible, joint_perturbation};
use reach::reach;
pub use variants::describe_break;

use crate::action::rounded;
use crate::error::PeopleError;
use crate::feature::{Group, Missing, Special};
use crate::magnitude::{WITH_EXPONENT, readable};
use crate::margin::outcome;
use crate::problem::OwnProblem;
use crate::{Action, ActionKind, Error, Kind, Outcome, Problem, Recourse, Result, essential};

/// The answer for one individual as text. The reasons why there is no action take further work: see
/// [`describe_explanation`].
///
/// Numbers are rounded in the direction of the change, never beyond a limit, so that following the words
/// is never less than the action found.
///
/// ```
/// use surefoot::{Change, Classifier, Feature, Features, Norm, People, Problem, describe, recourse};
///
/// let features = Features::new(vec![
///     Feature::new("income").scaling(3000.0, 1500.0).change(Change::Increase),
/// ])?;
/// let problem = Problem::new(features.clone(), Classifier::linear(vec![1.0], 0.0, 0.5)?)?
///     .with_uncertainty(Norm::L2, 0.1)?;
/// let person = People::from_own_units(&features, &[[2417.0]])?;
/// let answer = &recourse(&problem, &person)?[0];
/// assert_eq!(
///     describe(&problem, person.individual(0), answer)?,
///     "Raise income by 733.1 (from 2417 to 3150.1). This still works if circumstances shift a \
///      little: income by up to 150. That is proven, as is that no cheaper allowed action would do."
/// );
/// # Ok::<(), surefoot::Error>(())
/// ```
///
/// # Errors
/// If individual or action do not fit the problem.
pub fn describe(problem: &Problem, individual: &[f64], outcome: &Outcome) -> Result<String> {
    let own = problem.for_person(individual)?;
    let (of_person, imputed) = OwnProblem::or(own.as_ref(), problem, individual);
    let text = of_outcome(of_person, imputed, outcome)?;
    Ok(with_notes(problem, individual, text, outcome))
}

/// What is special about a person and therefore cannot be changed, as a sentence; `None` if nothing is.
///
/// "Taken as it is and not to be changed, because the value is special: bureau score (no bureau record)."
pub fn describe_special_values(problem: &Problem, individual: &[f64]) -> Option<String> {
    let special = problem.features().special_values(individual);
    let words = |(i, special): &(usize, &Special)| {
        format!("{} ({})", problem.features().feature(*i).spoken_name(), special.words())
    };
    let words: Vec<String> = special.iter().map(words).collect();
    let what = match words.len() {
        0 => return None,
        1 => "it is and not to be changed, because the value is special",
        _ => "they are and not to be changed, because the values are special",
    };
    Some(format!("Taken as {what}: {}.", join(&words, "and")))
}

/// What is not known of a person, what it is taken for, and what that means for the answer, as sentences; `None` if
/// everything is known.
///
/// "Income is not known and taken as 2400; this works for every value between 1000 and 4000. No change of it was considered."
pub fn describe_missing_values(problem: &Problem, individual: &[f64], outcome: &Outcome) -> Option<String> {
    let words = |(i, Missing { value, lower, upper }): (usize, Missing)| {
        let feature = problem.features().feature(i);
        let amount = |own: f64| feature.amount(own);
        let name = feature.spoken_name();
        let meaning = match outcome {
            Outcome::Found(_) => {
                format!("; this works for every value between {} and {}", amount(lower), amount(upper))
            }
            Outcome::Impossible(_) => {
                format!(
                    "; what works must do so for every value between {} and {}",
                    amount(lower),
                    amount(upper)
                )
            }
            Outcome::AlreadyFavourable => "; the decision for other values was not asked".to_owned(),
            Outcome::Unproved(_) | Outcome::Undecided(_) => String::new(),
        };
        let mut sentence = format!("{name} is not known and taken as {}{meaning}.", amount(value));
        if let Some(first) = sentence.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        if feature.is_actionable() && !matches!(outcome, Outcome::AlreadyFavourable) {
            sentence += " No change of it was considered.";
        }
        sentence
    };
    let missing = problem.features().missing_values(individual);
    let sentences: Vec<String> = missing.into_iter().map(words).collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// What is special about a person and what is not known of them, as sentences: [`describe_special_values`] and
/// [`describe_missing_values`]. `None` for everybody else.
pub fn describe_notes(problem: &Problem, individual: &[f64], outcome: &Outcome) -> Option<String> {
    let notes =
        [describe_special_values(problem, individual), describe_missing_values(problem, individual, outcome)];
    let notes: Vec<String> = notes.into_iter().flatten().collect();
    (!notes.is_empty()).then(|| notes.join(" "))
}

/// A text with what is special about the person, and what is not known.
fn with_notes(problem: &Problem, individual: &[f64], text: String, outcome: &Outcome) -> String {
    match describe_notes(problem, individual, outcome) {
        Some(notes) => format!("{text} {notes}"),
        None => text,
    }
}

/// The answer in the problem of the individual.
fn of_outcome(problem: &Problem, individual: &[f64], outcome: &Outcome) -> Result<String> {
    Ok(match outcome {
        Outcome::AlreadyFavourable if !problem.uncertainty().is_none() => {
            format!(
                "Nothing needs to change: the decision is favourable as things stand{}. Whether it would \
                 still be if they shift was not asked.",
                even_if(problem)
            )
        }
        Outcome::AlreadyFavourable => {
            format!("Nothing needs to change: the decision is favourable{}.", even_if(problem))
        }
        Outcome::Found(recourse) => {
            let action = describe_action(problem, individual, &recourse.action)?;
            let sentences = [Some(action), Some(reach(problem)), further(problem), Some(proven(recourse))];
            sentences.into_iter().flatten().collect::<Vec<_>>().join(" ")
        }
        Outcome::Unproved(candidate) => {
            let action = describe_action(problem, individual, &candidate.action)?;
            format!("{action} It withstood the shifts that were tried. That it works is not proven.")
        }
        Outcome::Impossible(_) => impossible(problem),
        Outcome::Undecided(undecided) => format!("This could not be decided: {undecided}."),
    })
}

/// What an answer guards against beside shifts of the person: errors of execution and of equations, weights, other
/// models. "It also works if each change is missed by up to 10%." `None` if there is nothing else.
pub fn describe_further_uncertainty(problem: &Problem) -> Option<String> {
    further(problem)
}

/// Several answers for one individual, as from [`Solver::options`](crate::recourse::Solver::options): a
/// numbered list, and the statements that hold for all of them.
///
/// # Errors
/// As [`describe`].
pub fn describe_options(problem: &Problem, individual: &[f64], outcomes: &[Outcome]) -> Result<String> {
    if let [only] = outcomes {
        return describe(problem, individual, only);
    }
    let (everybody, reported) = (problem, individual);
    let own = problem.for_person(individual)?;
    let (problem, individual) = OwnProblem::or(own.as_ref(), problem, individual);
    let mut text = String::from("Each of these alone is enough, the cheapest first:\n");
    for (number, recourse) in outcomes.iter().filter_map(Outcome::recourse).enumerate() {
        let action = describe_action(problem, individual, &recourse.action)?;
        text += &format!("{}. {action} Effort {:.3}.\n", number + 1, recourse.cost);
    }
    let reach = reach(problem);
    let reach = reach.strip_prefix("This").map_or(reach.clone(), |rest| format!("Each{rest}"));
    let text = format!("{text}{reach} That is proven.");
    Ok(match outcomes.first() {
        Some(first) => with_notes(everybody, reported, text, first),
        None => text,
    })
}

/// An action as text, from whatever source: "Raise income by 733.1 (from 2417 to 3150.1)."
///
/// # Errors
/// If individual or action do not fit the problem.
pub fn describe_action(problem: &Problem, individual: &[f64], action: &Action) -> Result<String> {
    action.check(problem.features())?;
    if individual.len() != problem.features().len() {
        return Err(Error::People(PeopleError::VectorLength {
            expected: problem.features().len(),
            found: individual.len(),
        }));
    }
    let own = problem.for_person(individual)?;
    let (problem, individual) = OwnProblem::or(own.as_ref(), problem, individual);
    let mut steps = Vec::new();
    let action = essential(problem, action);
    // The action as described so far: rounded, and still within the constraints.
    let mut described = action.clone();
    for (place, &i) in action.features.iter().enumerate() {
        if problem.features().feature(i).group.is_none() {
            steps.push(step(problem, individual, &mut described, place));
        }
    }
    steps.extend(
        problem.features().groups().iter().filter_map(|group| moved(problem, individual, &action, group)),
    );
    let mut sentence = join(&steps, "and");
    if let Some(first) = sentence.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    Ok(format!("{sentence}."))
}

/// An action with the changes that [`describe_action`] writes: rounded away from zero, and still within the
/// constraints.
pub(crate) fn described_action(problem: &Problem, individual: &[f64], action: &Action) -> Action {
    let mut described = essential(problem, action);
    for place in 0..described.features.len() {
        if problem.features().feature(described.features[place]).group.is_none() {
            step(problem, individual, &mut described, place);
        }
    }
    described
}

/// The change of a group's category: "change job from clerk to cook".
fn moved(problem: &Problem, individual: &[f64], action: &Action, group: &Group) -> Option<String> {
    let change = |i: &usize| {
        let place = action.features.iter().position(|named| named == i);
        place.map(|place| action.change[place])
    };
    let name = |i: &usize| problem.features().feature(*i).spoken_name();
    let own = |i: &&usize| problem.features().feature(**i).own_units(individual[**i]).round() == 1.0;
    let from = group.columns.iter().find(own).map_or("none", name);
    let spoken = problem.features().feature(*group.columns.first()?).spoken_group()?;
    match group.columns.iter().find(|i| change(i).is_some_and(|change| change > 0.0)) {
        Some(to) => Some(format!("change {spoken} from {from} to {}", name(to))),
        None if problem.action_kind() == ActionKind::Absolute
            && group.columns.iter().any(|i| change(i).is_some()) =>
        {
            Some(format!("keep {spoken} at {from}"))
        }
        None => None,
    }
}

/// A perturbation as text, in own units, the largest shift first: "savings 0.32 lower and age 0.2
/// higher". Shifts of less than a hundredth of the largest are left out.
///
/// # Errors
/// If the perturbation does not have [`Problem::perturbation_width`] entries.
pub fn describe_shift(problem: &Problem, perturbation: &[f64]) -> Result<String> {
    let features = problem.features();
    if perturbation.len() != problem.perturbation_width() {
        return Err(Error::People(PeopleError::VectorLength {
            expected: problem.perturbation_width(),
            found: perturbation.len(),
        }));
    }
    if let Some(joint) = problem.joint() {
        return Ok(joint_perturbation(problem, joint, perturbation));
    }
    let largest = perturbation.iter().fold(0.0, |a: f64, d| a.max(d.abs()));
    let mut order: Vec<usize> = (0..perturbation.len()).collect();
    order.retain(|&i| perturbation[i] != 0.0 && perturbation[i].abs() >= 0.01 * largest);
    order.sort_by(|&a, &b| perturbation[b].abs().total_cmp(&perturbation[a].abs()));
    let shift = |&i: &usize| {
        let feature = features.feature(i);
        let direction = if perturbation[i] > 0.0 { "higher" } else { "lower" };
        let size = number(feature.std * perturbation[i].abs(), 3);
        format!("{} {} {direction}", feature.full_name(), feature.difference_with_unit(&size))
    };
    let shifts: Vec<String> = order.iter().map(shift).collect();
    Ok(if shifts.is_empty() { "nothing".into() } else { join(&shifts, "and") })
}

/// The sentence about one feature of an action. Rounds the change to the number in the sentence.
fn step(problem: &Problem, individual: &[f64], action: &mut Action, place: usize) -> String {
    let (i, change) = (action.features[place], action.change[place]);
    let feature = problem.features().feature(i);
    let from = feature.own_units(individual[i]);
    if change == 0.0 {
        let name = feature.spoken_name();
        return match problem.action_kind() {
            ActionKind::Relative => format!("hold {name} where it is"),
            ActionKind::Absolute => format!("hold {name} at {}", feature.amount(from)),
        };
    }
    let verb = if change > 0.0 { "raise" } else { "lower" };
    let name = feature.spoken_name();
    let by = feature.snap_to_step(feature.std * change);
    if feature.kind != Kind::Real {
        // For integers, only the error of the conversion of units is rounded away.
        let (from, by) = (from.round(), by.round());
        let to = from + by;
        if let (true, Some(from), Some(to)) = (feature.has_levels(), feature.level(from), feature.level(to)) {
            return format!("{verb} {name} from {from} to {to}");
        }
        let (from, to, by) = (feature.amount(from), feature.amount(to), feature.difference(by.abs()));
        return match (feature.kind, problem.action_kind()) {
            (Kind::Binary, _) => format!("change {name} from {from} to {to}"),
            (_, ActionKind::Relative) => format!("{verb} {name} by {by} (from {from} to {to})"),
            (_, ActionKind::Absolute) => format!("{verb} {name} to {to} (from {from})"),
        };
    }
    if feature.spacing().is_some() {
        // A multiple of the step is exact; the values are as precise as it is.
        let (by_text, magnitude) = (readable(by.abs()), by.abs().log10().floor());
        let decimals = by_text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let decimals = decimals.max((3.0 - magnitude).clamp(0.0, 15.0) as usize);
        let value = |value: f64| feature.with_unit(&fixed(value, decimals));
        return match problem.action_kind() {
            ActionKind::Relative => {
                let by_text = feature.difference_with_unit(&by_text);
                format!("{verb} {name} by {by_text} (from {} to {})", value(from), value(from + by))
            }
            // The level is the instruction, so that it is not rounded.
            ActionKind::Absolute => {
                let to = feature.with_unit(&number(from + by, 12));
                format!("{verb} {name} to {to} (from {})", value(from))
            }
        };
    }
    let allowed = |by: f64| {
        feature.allows_strictly(from + by)
            && feature.allows_change(from, by)
            && meets(problem, individual, action, place, by / feature.std)
    };
    let (by, to, decimals) = match problem.action_kind() {
        ActionKind::Relative => {
            let (by, decimals) = rounded(by, by, allowed);
            (by, from + by, decimals)
        }
        ActionKind::Absolute => {
            let (to, decimals) = rounded(from + by, by, |to| allowed(to - from));
            (to - from, to, decimals)
        }
    };
    action.change[place] = by / feature.std;
    let written = |value: f64| decimals.map_or(readable(value), |decimals| fixed(value, decimals));
    let tell = |value: f64| feature.with_unit(&written(value));
    match problem.action_kind() {
        ActionKind::Relative => {
            let by = feature.difference_with_unit(&written(by.abs()));
            format!("{verb} {name} by {by} (from {} to {})", tell(from), tell(to))
        }
        ActionKind::Absolute => format!("{verb} {name} to {} (from {})", tell(to), tell(from)),
    }
}

/// Whether an action with another change of one feature meets every requirement and scores at least as high.
///
/// A requirement may force a change that lowers the score. Rounding such a change away from zero would
/// invalidate the proof: in a linear problem the worst-case margin falls with the score.
fn meets(problem: &Problem, individual: &[f64], action: &Action, place: usize, change: f64) -> bool {
    if problem.requirements().is_empty() {
        return true;
    }
    let reached = |variant: &Problem, action: &Action| outcome(variant, individual, action);
    let mut other = action.clone();
    other.change[place] = change;
    let scores_as_high = |variant: &Problem| {
        let (Ok(before), Ok(after)) = (reached(variant, action), reached(variant, &other)) else {
            return false;
        };
        variant.classifier().score(&after) >= variant.classifier().score(&before)
    };
    let is_met = reached(problem, &other).is_ok_and(|after| problem.is_met(individual, &after));
    is_met && problem.variants().iter().all(scores_as_high)
}

/// A number with `decimals` decimals, without trailing zeros. Large numbers are written with an exponent.
fn fixed(value: f64, decimals: usize) -> String {
    if value.abs() >= WITH_EXPONENT {
        return readable(value);
    }
    trimmed(format!("{value:.decimals$}"))
}

fn trimmed(text: String) -> String {
    let text =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text };
    if text == "-0" { "0".into() } else { text }
}

/// What a statement covers of the weights of the classifier, as the end of a sentence.
fn even_if(problem: &Problem) -> String {
    problem.uncertain_weights_in_words().map_or(String::new(), |words| format!(", even if {words}"))
}

/// The sentence about what is proven of the cost.
fn proven(recourse: &Recourse) -> String {
    if recourse.cost_bound <= 0.0 {
        return "That is proven; whether a cheaper allowed action would do is not known.".into();
    }
    // In tenths of a percent, rounded up; less than a thousandth of a percent counts as rounding.
    let tenths = (1000.0 * (1.0 - recourse.cost_bound / recourse.cost) - 0.01).ceil();
    let cheaper = if tenths > 0.0 {
        format!("no allowed action more than {}% cheaper would do", tenths / 10.0)
    } else {
        "no cheaper allowed action would do".into()
    };
    format!("That is proven, as is that {cheaper}.")
}

/// "a", "a or b", "a, b or c".
fn join(parts: &[String], word: &str) -> String {
    match parts {
        [] => "do nothing".into(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} {word} {last}", first.join(", ")),
    }
}

/// Rounds to three significant digits, towards zero.
fn round_down(value: f64) -> f64 {
    if value == 0.0 {
        return 0.0;
    }
    // Slightly enlarged, so that 0.1 * 1500 is 150 and not 149.
    let value = value * (1.0 + 1e-12);
    let unit = 10f64.powf(value.abs().log10().floor() - 2.0);
    (value / unit).floor() * unit
}

/// A number with `digits` significant digits, without trailing zeros; integers are written in full.
fn number(value: f64, digits: u32) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let magnitude = value.abs().log10().floor();
    if !(-5.0..15.0).contains(&magnitude) {
        let rounded = format!("{value:.*e}", digits as usize - 1);
        return rounded.parse::<f64>().map_or(rounded, |value| format!("{value:e}"));
    }
    let decimals = (f64::from(digits) - 1.0 - magnitude).max(0.0) as usize;
    fixed(value, decimals)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        for (value, text) in [
            (0.0, "0"),
            (3151.0, "3151"),
            (-2.5, "-2.5"),
            (0.1 + 0.2, "0.3"),
            (1234567.8, "1234568"),
            (0.000123, "0.000123"),
            (1e-9, "1e-9"),
            (2e20, "2e20"),
            (12.3456789, "12.3457"),
        ] {
            assert_eq!(number(value, 6), text);
        }
    }

    #[test]
    fn rounding_keeps_promises() {
        let all = |_: f64| true;
        assert_eq!(rounded(1.23401, 1.23401, all), (1.235, Some(3)));
        assert_eq!(rounded(-1.23401, -1.23401, all), (-1.235, Some(3)));
        assert_eq!(rounded(133.1234, -0.64, all), (133.1234, Some(4)));
        assert_eq!(rounded(133.12345, -0.64, all), (133.1234, Some(4)));
        assert_eq!(rounded(-133.12345, 0.64, all), (-133.1234, Some(4)));
        assert_eq!(rounded(751.0, 751.0, all), (751.0, Some(1)));
        // A limit just beyond the value requires more digits; a limit equal to the value requires all.
        assert_eq!(rounded(0.1234564, 0.1234564, |v| v <= 0.12345642), (0.1234564, Some(7)));
        assert_eq!(rounded(1.0 / 3.0, 1.0 / 3.0, |v| v <= 1.0 / 3.0).0, 1.0 / 3.0);
        assert_eq!(round_down(0.1 * 1500.0), 150.0);
        assert_eq!(round_down(0.12399), 0.123);
    }
}
