//! The uncertainty about the person that an answer covers, in words.

use super::{even_if, join, number, round_down};
use crate::magnitude::readable;
use crate::uncertainty::{Shift, Sources};
use crate::{Feature, Kind, Norm, Problem};

/// The uncertainty that the answer covers: the largest shift of each feature alone.
pub(super) fn reach(problem: &Problem) -> String {
    match problem.sources() {
        Some(sources) if sources.concern_person() => of_sources(problem, sources),
        // Where nothing but actions and equations is uncertain, no feature shifts.
        Some(_) if problem.epsilon() == 0.0 => "This works if circumstances stay as they are.".into(),
        None if problem.epsilon() == 0.0 => match problem.uncertain_weights_in_words() {
            Some(words) => format!("This works even if {words}."),
            None => "This works if nothing else changes.".into(),
        },
        _ => of_ball(problem),
    }
}

/// How far circumstances shift: a little, if the ball moves no feature by more than a standard deviation.
pub(super) fn how_far(problem: &Problem) -> &'static str {
    let width = problem.features().len();
    let is_little = (0..width).all(|i| problem.ball().alone(i, width, 1.0) <= 1.0);
    if is_little { "a little" } else { "by as much as is guarded against" }
}

/// The sentence where the person's shifts are those of one ball.
fn of_ball(problem: &Problem) -> String {
    let all: Vec<usize> = (0..problem.features().len()).collect();
    match together(problem, &[], problem.norm(), problem.epsilon(), &all) {
        Some(shifts) => {
            format!("This still works if circumstances shift a little: {shifts}{}.", even_if(problem))
        }
        None => format!("This still works if circumstances shift a little{}.", even_if(problem)),
    }
}

/// Shifts of features that are bounded together. `None` if there are none to speak of: shifts of binary
/// features are covered as well, but a tenth of a membership means nothing to a reader.
fn together(
    problem: &Problem,
    factor: &[f64],
    norm: &Norm,
    radius: f64,
    members: &[usize],
) -> Option<String> {
    let features = problem.features();
    let weights = problem.norm().weights();
    let alone = |&i: &usize| {
        let feature = features.feature(i);
        let weight = weights.map_or(1.0, |weights| weights[i]);
        let most = match factor.is_empty() {
            true => {
                let mut shift = vec![0.0; features.len()];
                shift[i] = weight;
                radius * feature.std / norm.set().gauge(&shift)
            }
            // Features that are correlated shift together.
            false => {
                let row: Vec<f64> = members.iter().map(|&j| factor[i * features.len() + j]).collect();
                radius * feature.std * norm.set().support(&row) / weight
            }
        };
        let most = number(round_down(most), 3);
        format!("{} by up to {}", feature.full_name(), feature.difference_with_unit(&most))
    };
    let described =
        members.iter().filter(|&&i| features.feature(i).kind != Kind::Binary && !problem.is_exact(i));
    let shifts: Vec<String> = described.map(alone).collect();
    match (shifts.len(), factor.is_empty()) {
        (0, _) => None,
        (1, _) => shifts.into_iter().next(),
        (_, true) => Some(format!("{}, {}", join(&shifts, "or"), norm.set().words())),
        (_, false) => Some(format!("{}, as far as they usually go together", join(&shifts, "and"))),
    }
}

/// The sentences where shifts of single features or of groups are stated.
fn of_sources(problem: &Problem, sources: &Sources) -> String {
    let features = problem.features();
    let n = features.len();
    let is_grouped = |i: &usize| sources.groups.iter().any(|group| group.features.contains(i));
    let mut parts = Vec::new();
    let mut exact: Vec<String> = Vec::new();
    let in_ball: Vec<usize> = (0..n).filter(|i| sources.shift(*i) == Shift::Ball && !is_grouped(i)).collect();
    let is_mixed = |members: &[usize]| {
        let unit = |i: usize, j: usize| f64::from(i == j);
        !sources.factor.is_empty()
            && members.iter().any(|&i| (0..n).any(|j| sources.factor[i * n + j] != unit(i, j)))
    };
    let mut add = |norm: &Norm, radius: f64, members: &[usize]| {
        let factor = if is_mixed(members) { &sources.factor[..] } else { &[] };
        if radius > 0.0 {
            parts.extend(together(problem, factor, norm, radius, members));
        } else {
            exact.extend(members.iter().map(|&i| features.feature(i).full_name().into_owned()));
        }
    };
    add(problem.norm(), problem.epsilon(), &in_ball);
    for group in &sources.groups {
        add(&Norm::unweighted(group.norm), group.epsilon, &group.features);
    }
    // What is not known is a sentence of its own.
    for i in (0..n).filter(|i| !sources.alone.contains(i)) {
        match interval(features.feature(i), sources.shift(i)) {
            Interval::None => {}
            Interval::Exact => exact.push(features.feature(i).full_name().into_owned()),
            Interval::Words(words) => parts.push(words),
        }
    }
    let weights = even_if(problem);
    let mut text = match &parts[..] {
        [] => format!("This works if nothing else changes{weights}."),
        [only] => format!("This still works if circumstances shift a little: {only}{weights}."),
        several => {
            let shifts = several.join("; ");
            format!("This still works if circumstances shift a little: {shifts}, all of it at once{weights}.")
        }
    };
    if !parts.is_empty() && !exact.is_empty() {
        text += &format!(" Taken as exact: {}.", join(&exact, "and"));
    }
    text
}

/// What is said of the interval of a feature.
enum Interval {
    /// It has none.
    None,
    /// It is a single value.
    Exact,
    Words(String),
}

fn interval(feature: &Feature, shift: Shift) -> Interval {
    let name = feature.full_name();
    match shift {
        Shift::Ball => Interval::None,
        Shift::Exact => Interval::Exact,
        Shift::Share(size) | Shift::Within(size) if size == 0.0 => Interval::Exact,
        Shift::Share(share) => {
            // 0.07 * 100 is slightly more than 7.
            let percent = (100.0 * share * 1e9).round() / 1e9;
            Interval::Words(format!("{name} by up to {}%", readable(percent)))
        }
        Shift::Within(within) => {
            let most = number(round_down(feature.std * within), 3);
            Interval::Words(format!("{name} by up to {}", feature.difference_with_unit(&most)))
        }
        Shift::Between(lower, upper) => {
            let own = |value: f64| feature.with_unit(&number(feature.own_units(value), 6));
            Interval::Words(format!("{name} to anything between {} and {}", own(lower), own(upper)))
        }
    }
}
