//! What is uncertain beside the person, in words.

use super::reach::how_far;
use super::{join, number};
use crate::magnitude::readable;
use crate::problem::Joint;
use crate::uncertainty::{Band, Coefficient, Execution, Shift, Sources};
use crate::{Feature, Kind, Problem};

/// The sentence about what else is uncertain: execution, equations, weights, models; `None` if nothing is.
pub(super) fn further(problem: &Problem) -> Option<String> {
    let conditions = conditions(problem);
    match &conditions[..] {
        [] => None,
        [only] => Some(format!("It also works {only}.")),
        _ => {
            Some(format!("It also works {}, even if all of that happens together.", join(&conditions, "and")))
        }
    }
}

/// The sentence that no action works.
pub(super) fn impossible(problem: &Problem) -> String {
    let shifts = problem.epsilon() > 0.0 || problem.sources().is_some_and(Sources::concern_reports);
    let shifts = shifts.then(|| format!("if circumstances shift {}", how_far(problem)));
    let conditions: Vec<String> = shifts.into_iter().chain(conditions(problem)).collect();
    match conditions.is_empty() {
        true => "There is no feasible action that leads to a favourable decision.".into(),
        false => {
            format!("There is no feasible action that would still work {}.", join(&conditions, "and"))
        }
    }
}

/// What may happen beside a shift of the person, each as the end of "it works".
fn conditions(problem: &Problem) -> Vec<String> {
    let feature = |i: usize| problem.features().feature(i);
    let mut conditions = Vec::new();
    if let Some(sources) = problem.sources() {
        conditions.extend(execution(problem, &sources.execution));
        conditions.extend(sources.bands.iter().map(|&Band { feature: i, width }| {
            let feature = feature(i);
            let most = feature.difference_with_unit(&number(width * feature.std, 3));
            format!("if the equation of {} is wrong by up to {most}", feature.full_name())
        }));
        conditions.extend(sources.coefficients.iter().filter(|error| error.within > 0.0).map(|error| {
            let &Coefficient { feature: effect, parent, within } = error;
            let (effect, cause) = (feature(effect), feature(parent));
            let slope = effect.difference_with_unit(&readable(within * effect.std / cause.std));
            format!(
                "if a change of {} by {} changes {} by up to {slope} more or less than assumed",
                cause.full_name(),
                cause.difference(1.0),
                effect.full_name()
            )
        }));
    }
    conditions.extend(problem.uncertain_weights_in_words().map(|words| format!("if {words}")));
    if let Some(committee) = problem.committee() {
        let (members, agree) = (committee.members().len(), committee.at_least());
        conditions.push(match agree == members {
            true => format!("whichever of the {members} models decides"),
            false => format!("where {agree} of the {members} models have to agree"),
        });
    }
    let causal_models = problem.alternative_causal_models().len();
    if causal_models > 0 {
        conditions.push(format!("whichever of the {} causal models is right", causal_models + 1));
    }
    conditions
}

/// The conditions on the execution of actions. Features with the same share and no further error are one.
fn execution(problem: &Problem, errors: &[Execution]) -> Vec<String> {
    let percent = |share: f64| format!("{}%", readable(100.0 * share));
    let amounts = problem.features().actionable();
    let amounts = amounts.iter().filter(|&&i| problem.features().feature(i).kind != Kind::Binary).count();
    let all_alike = errors.windows(2).all(|pair| pair[0].share == pair[1].share)
        && errors.iter().all(|error| error.within == 0.0)
        && errors.len() == amounts;
    if let (true, Some(first)) = (all_alike, errors.first()) {
        return vec![format!("if each change is missed by up to {}", percent(first.share))];
    }
    let condition = |error: &Execution| {
        let feature = problem.features().feature(error.feature);
        let name = feature.full_name();
        let within = feature.difference_with_unit(&number(error.within * feature.std, 3));
        let amount = match (error.share > 0.0, error.within > 0.0) {
            (true, true) => format!("{} and {within} more", percent(error.share)),
            (true, false) => percent(error.share),
            (false, _) => within,
        };
        format!("if the change of {name} is missed by up to {amount}")
    };
    errors.iter().map(condition).collect()
}

/// A joint perturbation in words: shifts of features, then what goes wrong with the action, then with
/// equations. Parts of less than a hundredth of the largest are left out.
pub(super) fn joint_perturbation(problem: &Problem, joint: &Joint, perturbation: &[f64]) -> String {
    let feature = |i: usize| problem.features().feature(i);
    let sources = &joint.sources;
    let direction = |value: f64, up: &'static str, down: &'static str| if value > 0.0 { up } else { down };
    // Coordinates are relative to the largest possible one, so that their sizes can be compared.
    let mut parts: Vec<(f64, String)> = Vec::new();
    let mixed = joint.mixed(perturbation);
    let widths = problem.uncertainty().set().half_widths(perturbation.len());
    for (i, &coordinate) in mixed.iter().enumerate() {
        let Feature { std, mean, .. } = feature(i);
        let name = feature(i).full_name();
        let weight = if widths[i] > 0.0 { coordinate.abs() / widths[i] } else { 0.0 };
        let words = match sources.shift(i) {
            Shift::Exact => continue,
            Shift::Share(share) => {
                let percent = number(100.0 * share * coordinate.abs(), 3);
                format!("{name} {percent}% {}", direction(coordinate, "higher", "lower"))
            }
            Shift::Between(lower, upper) => {
                let at = 0.5 * (lower + upper) + 0.5 * (upper - lower) * coordinate;
                format!("{name} at {}", feature(i).with_unit(&number(mean + std * at, 4)))
            }
            Shift::Ball | Shift::Within(_) => {
                let scale = match sources.shift(i) {
                    Shift::Within(within) => within,
                    _ => 1.0 / joint.weights[i],
                };
                let size = feature(i).difference_with_unit(&number(std * scale * coordinate.abs(), 3));
                format!("{name} {size} {}", direction(coordinate, "higher", "lower"))
            }
        };
        parts.push((weight, words));
    }
    for (k, execution) in sources.execution.iter().enumerate() {
        let error = perturbation[joint.features + k];
        let Feature { std, .. } = feature(execution.feature);
        let name = feature(execution.feature).full_name();
        let way = direction(error, "too much", "too little");
        let size = |value: f64| feature(execution.feature).difference_with_unit(&number(value, 3));
        let amount = match (execution.share > 0.0, execution.within > 0.0) {
            (true, true) => {
                let within = size(execution.within * std * error.abs());
                format!("{}% and {within}", number(100.0 * execution.share * error.abs(), 3))
            }
            (true, false) => format!("{}%", number(100.0 * execution.share * error.abs(), 3)),
            (false, _) => size(execution.within * std * error.abs()),
        };
        parts.push((error.abs(), format!("a change of {name} that is {amount} {way}")));
    }
    for (k, band) in sources.bands.iter().enumerate() {
        let drift = perturbation[joint.first_band() + k];
        let feature = feature(band.feature);
        let name = feature.full_name();
        let size = feature.difference_with_unit(&number(2.0 * band.width * feature.std * drift.abs(), 3));
        let way = direction(drift, "more", "less");
        parts.push((drift.abs(), format!("{name} {size} {way} than its equation says")));
    }
    for (k, coefficient) in sources.coefficients.iter().enumerate() {
        let error = perturbation[joint.first_slope() + k];
        let (effect, cause) = (feature(coefficient.feature), feature(coefficient.parent));
        let slope = number(coefficient.within * effect.std / cause.std * error.abs(), 3);
        let slope = effect.difference_with_unit(&slope);
        let way = direction(error, "more", "less");
        let (effect, cause) = (effect.full_name(), cause.full_name());
        let words = format!("{effect} changing by {slope} {way} with {cause} than assumed");
        parts.push((error.abs(), words));
    }
    let largest = parts.iter().map(|(weight, _)| *weight).fold(0.0, f64::max);
    parts.retain(|(weight, _)| *weight > 0.0 && *weight >= 0.01 * largest);
    let words: Vec<String> = parts.into_iter().map(|(_, words)| words).collect();
    if words.is_empty() { "nothing".into() } else { join(&words, "and") }
}
