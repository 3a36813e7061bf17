//! Answers in plain words and people's own units.

use crate::action::feasible_change;
use crate::{Feature, Form, Kind, Outcome, Problem};

/// Significant digits of changes and values.
const DIGITS: u32 = 4;

/// Tells one individual the answer.
///
/// Changes are rounded to four digits away from zero (or to the limit), so that doing what
/// the words say is never less than what was proven.
///
/// ```
/// use surefoot::{Change, Classifier, Feature, Features, Norm, People, Problem, describe, recourse};
///
/// let features = Features::new(vec![
///     Feature::new("income").scaling(3000.0, 1500.0).change(Change::Increase),
/// ])?;
/// let problem = Problem::new(features.clone(), Classifier::linear(vec![1.0], 0.0, 0.5)?)?
///     .with_uncertainty(Norm::L2, 0.1)?;
/// let person = People::from_own_units(&features, &[[2400.0]])?;
/// let answer = &recourse(&problem, &person)?[0];
/// assert_eq!(
///     describe(&problem, person.individual(0), answer),
///     "Raise income by 750.1 (from 2400 to 3150). This still works if circumstances shift a \
///      little: income by up to 150."
/// );
/// # Ok::<(), surefoot::Error>(())
/// ```
pub fn describe(problem: &Problem, individual: &[f64], outcome: &Outcome) -> String {
    match outcome {
        Outcome::AlreadyFavourable => "Nothing needs to change: the decision is favourable.".into(),
        Outcome::Found(recourse) => {
            let steps: Vec<String> = recourse
                .action
                .features
                .iter()
                .zip(&recourse.action.change)
                .map(|(&i, &change)| step(problem, i, individual[i], change))
                .collect();
            let mut sentence = join(&steps, "and");
            if let Some(first) = sentence.get_mut(..1) {
                first.make_ascii_uppercase();
            }
            format!("{sentence}. {}", reach(problem))
        }
        Outcome::Impossible(shortfall) => {
            let guarded = if problem.epsilon() > 0.0 {
                " that would still work if circumstances shift a little"
            } else {
                ""
            };
            format!("There is no feasible action{guarded}: {shortfall}.")
        }
        Outcome::Undecided(undecided) => format!("This could not be decided: {undecided}."),
    }
}

/// Tells a perturbation in own units, the largest shift first: "savings 0.32 lower and age
/// 0.2 higher". Shifts of less than a hundredth of the largest are left out.
pub fn describe_shift(problem: &Problem, perturbation: &[f64]) -> String {
    let features = problem.features();
    let largest = perturbation.iter().fold(0.0, |a: f64, d| a.max(d.abs()));
    let mut order: Vec<usize> = (0..perturbation.len().min(features.len())).collect();
    order.retain(|&i| perturbation[i] != 0.0 && perturbation[i].abs() >= 0.01 * largest);
    order.sort_by(|&a, &b| perturbation[b].abs().total_cmp(&perturbation[a].abs()));
    let shift = |&i: &usize| {
        let feature = features.feature(i);
        let direction = if perturbation[i] > 0.0 { "higher" } else { "lower" };
        format!("{} {} {direction}", feature.name, number(feature.std * perturbation[i].abs(), 3))
    };
    let shifts: Vec<String> = order.iter().map(shift).collect();
    if shifts.is_empty() { "nothing shifts".into() } else { join(&shifts, "and") }
}

/// What becomes of one feature.
fn step(problem: &Problem, i: usize, value: f64, change: f64) -> String {
    let feature = problem.features().feature(i);
    let from = feature.own_units(value);
    if change == 0.0 {
        return format!("hold {} at {}", feature.name, number(from, DIGITS));
    }
    let (down, up) = feasible_change(problem.features(), i, value);
    let by = round_away(change * feature.std).clamp(down * feature.std, up * feature.std);
    let verb = if change > 0.0 { "raise" } else { "lower" };
    match problem.form() {
        Form::Relative => {
            let (by, from, to) = (number(by.abs(), 6), number(from, DIGITS), number(from + by, DIGITS));
            format!("{verb} {} by {by} (from {from} to {to})", feature.name)
        }
        Form::Absolute => {
            let to = round_away(from + by);
            let to = if (to > from) == (change > 0.0) && feature.allows(to) { to } else { from + by };
            format!("{verb} {} to {} (from {})", feature.name, number(to, 6), number(from, DIGITS))
        }
    }
}

/// What the answer withstands: how far each feature alone may shift.
fn reach(problem: &Problem) -> String {
    if problem.epsilon() == 0.0 {
        return "This works if nothing else changes.".into();
    }
    let alone = |(i, feature): (usize, &Feature)| {
        let mut unit = vec![0.0; problem.features().len()];
        unit[i] = 1.0;
        let room = problem.epsilon() * feature.std / problem.norm().value(&unit);
        format!("{} by up to {}", feature.name, number(round_down(room), 3))
    };
    // Guarded against as well, but a tenth of a membership says nothing to anybody.
    let told = problem.features().iter().enumerate().filter(|(_, feature)| feature.kind != Kind::Binary);
    let shifts: Vec<String> = told.map(alone).collect();
    let several = if shifts.len() > 1 { ", or several together by accordingly less" } else { "" };
    format!("This still works if circumstances shift a little: {}{several}.", join(&shifts, "or"))
}

fn join(parts: &[String], word: &str) -> String {
    match parts {
        [] => "do nothing".into(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} {word} {last}", first.join(", ")),
    }
}

/// The power of ten of the last of so many significant digits.
fn last_digit(value: f64, digits: u32) -> f64 {
    10f64.powf(value.abs().log10().floor() + 1.0 - f64::from(digits))
}

/// To four significant digits, not towards zero.
fn round_away(value: f64) -> f64 {
    if value == 0.0 {
        return 0.0;
    }
    let unit = last_digit(value, DIGITS);
    ((value.abs() / unit).ceil() * unit).copysign(value)
}

/// To three significant digits, not away from zero.
fn round_down(value: f64) -> f64 {
    if value == 0.0 {
        return 0.0;
    }
    // A hair more, so that 0.1 * 1500 is 150 and not 149.
    let unit = last_digit(value * (1.0 + 1e-12), 3);
    (value * (1.0 + 1e-12) / unit).floor() * unit
}

/// With so many significant digits, whole numbers in full, without trailing zeros.
fn number(value: f64, digits: u32) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let magnitude = value.abs().log10().floor();
    if !(-5.0..15.0).contains(&magnitude) {
        return format!("{value:.*e}", digits as usize - 1);
    }
    let decimals = (f64::from(digits) - 1.0 - magnitude).max(0.0) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
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
            (1e-9, "1.00000e-9"),
            (2e20, "2.00000e20"),
            (12.3456789, "12.3457"),
        ] {
            assert_eq!(number(value, 6), text);
        }
    }

    #[test]
    fn rounding_keeps_promises() {
        assert_eq!(round_away(1.23401), 1.235);
        assert_eq!(round_away(-1.23401), -1.235);
        assert_eq!(round_away(751.0), 751.0);
        assert_eq!(round_down(0.1 * 1500.0), 150.0);
        assert_eq!(round_down(0.12399), 0.123);
    }
}
