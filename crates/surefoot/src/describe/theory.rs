//! The statements of the theory, in plain words.
//!
//! Numbers are rounded to four digits so that the statements stay true: "at most" upwards, "at least"
//! downwards.

use super::{describe, describe_shift, number};
use crate::error::quoted;
use crate::magnitude::readable;
use crate::theory::{
    AboutPerson, AboutProblem, Breaking, CostStability, ExtraCost, Guarantee, NoStatement, RobustRecourse,
    Summary, Unmet, median,
};
use crate::{Outcome, Problem, Result};

/// The number of digits of costs, factors and sizes.
const DIGITS: u32 = 4;

/// The statements of the theory about a problem, as text: one paragraph for each, with its reason and its
/// assumptions, or with every condition that is not met.
pub fn describe_theory(problem: &Problem, about: &AboutProblem) -> String {
    let needs = |unmet: &[Unmet]| -> String {
        unmet.iter().map(|unmet| format!("  It {}.\n", describe_unmet(problem, unmet))).collect()
    };
    let linear = match problem.scm() {
        Some(_) => "a linear classifier and linear equations",
        None => "a linear classifier",
    };
    let mut text = String::new();
    if problem.uncertainty().is_none() {
        text += "The uncertainty is 0, so that robust recourse is recourse without uncertainty.\n";
    }
    text += &existence(problem, &about.existence);
    text += &match &about.extra_cost[..] {
        [] => format!(
            "Extra cost: robust recourse costs at most 1 + beta times as much as the action without uncertainty, \
             for everybody for whom that action remains feasible with all changes scaled by that factor \
             (Proposition 6).\n  \
             It rests on {linear}, and on a cost that grows in proportion to the action.\n"
        ),
        unmet => format!("Extra cost: no statement (Proposition 6).\n{}", needs(unmet)),
    };
    text += &match &about.cost_stability[..] {
        [] => format!(
            "Stability of the cost: how much the cost of recourse without uncertainty differs between a person \
             and similar ones is known exactly (Appendix D).\n  It rests on {linear}, relative and real-valued actions \
             without further requirements, and takes similar people to have the same feasible changes.\n"
        ),
        unmet => format!("Stability of the cost: no statement (Appendix D).\n{}", needs(unmet)),
    };
    text += &match &about.fragility[..] {
        [] => "Fragility: every minimum-cost action breaks under perturbations of any size, however small \
               (Theorem 1).\n  It rests on relative actions, additive noise, equations that are defined everywhere, a cost that grows with every \
               change, and that every smaller change is feasible.\n"
            .into(),
        unmet => {
            format!("Fragility: no statement about all minimum-cost actions (Theorem 1).\n{}", needs(unmet))
        }
    };
    text
}

/// Whether robust recourse exists for everybody, and why.
fn existence(problem: &Problem, guarantee: &Guarantee) -> String {
    let rests = match problem.scm() {
        Some(_) => "a linear classifier, linear equations and relative actions",
        None => "a linear classifier and relative actions",
    };
    match guarantee {
        Guarantee::Unbounded(features) => format!(
            "Existence: everybody whom the classifier turns down has robust recourse (Proposition 3).\n  {} may \
             change without limit in {} direction that raises the score.\n  It rests on {rests}, without \
             constraints and without limits on features that follow from actions.\n",
            names(problem, features),
            if features.len() == 1 { "the" } else { "a" },
        ),
        Guarantee::RobustlyClassified(margin) => format!(
            "Existence: everybody whom the classifier turns down has robust recourse (Proposition 2).\n  Every \
             feature may change both ways, and somebody within the limits is classified favourably in the \
             worst case{}.\n  It rests on {rests}, real-valued features, and no constraints.\n",
            match margin.is_finite() {
                true => format!(", with a margin of at least {}", downwards(*margin)),
                false => String::new(),
            },
        ),
        Guarantee::Impossible(margin) => format!(
            "Existence: nobody whom the classifier turns down has robust recourse (Proposition 1).\n  Nobody \
             within the limits is classified favourably in the worst case: the best outcome stays at least \
             {} below the decision boundary.\n  It rests on {rests}.\n",
            downwards(-margin),
        ),
        Guarantee::Unknown { all, proposition_2, proposition_3 } => {
            let lines = |prefix: &str, unmet: &[Unmet]| -> String {
                let line = |unmet: &Unmet| format!("  {prefix} {}.\n", describe_unmet(problem, unmet));
                unmet.iter().map(line).collect()
            };
            format!(
                "Existence: not known; robust recourse is neither guaranteed nor excluded (Propositions 1 to \
                 3).\n{}{}{}",
                lines("The check", all),
                lines("Proposition 2", proposition_2),
                lines("Proposition 3", proposition_3),
            )
        }
    }
}

/// A condition that is not met, as text: "needs linear equations, and that of `savings` is not linear".
pub fn describe_unmet(problem: &Problem, unmet: &Unmet) -> String {
    let names = |positions: &[usize]| names(problem, positions);
    let are = |positions: &[usize]| if positions.len() == 1 { "is" } else { "are" };
    match unmet {
        Unmet::LinearClassifier => "needs a linear classifier, and that of this problem is not linear".into(),
        Unmet::LinearEquations(features) => match &features[..] {
            [_] => format!("needs linear equations, and that of {} is not linear", names(features)),
            _ => format!("needs linear equations, and those of {} are not linear", names(features)),
        },
        Unmet::AdditiveNoise(features) => {
            format!("needs noise that is added, and that of {} is not", names(features))
        }
        Unmet::DefinedEverywhere(features) => {
            let that = if features.len() == 1 { "that" } else { "those" };
            format!("needs equations that are defined everywhere, and {that} of {} may not be", names(features))
        }
        Unmet::RelativeActions => {
            "needs relative actions (\"raise by\"), and those of this problem are absolute (\"reach\")".into()
        }
        Unmet::RealActions(features) => format!(
            "needs real-valued actions, and {} {} not real-valued",
            names(features),
            are(features)
        ),
        Unmet::NoLargestChanges(features) => {
            format!("needs changes of any size, and those of {} are limited", names(features))
        }
        Unmet::NoConstraints(constraints) => {
            let rules = constraints.iter().filter_map(|&k| problem.constraints().get(k));
            let rules: Vec<String> = rules.map(|rule| rule.text().to_owned()).collect();
            format!("needs a problem without constraints, and there {} {}", are(constraints), quoted(&rules))
        }
        Unmet::UnlimitedFollowers(features) => format!(
            "needs features that follow from actions to have no limits, and {} {} limits",
            names(features),
            if features.len() == 1 { "has" } else { "have" }
        ),
        Unmet::EverythingActionable(features) => format!(
            "needs every feature to be real-valued and free to change both ways, and {} {} not",
            names(features),
            are(features)
        ),
        Unmet::UnboundedFeature => "needs a real-valued feature that may change without limit in the direction \
                                    that raises the score, and there is none"
            .into(),
        Unmet::RobustlyClassified => "needs somebody within the limits who is classified favourably in the worst \
                                      case, and the best there is lies within rounding of the decision boundary"
            .into(),
    }
}

/// The statements of the theory about a person, as text. `standard` is the problem without uncertainty,
/// from [`theory::standard`](crate::theory::standard).
///
/// # Errors
/// As [`describe`].
pub fn describe_theory_of_person(
    problem: &Problem,
    standard: &Problem,
    individual: &[f64],
    about: &AboutProblem,
    person: &AboutPerson,
) -> Result<Vec<String>> {
    let mut sentences = vec![match &person.outcome {
        Outcome::Found(found) => format!(
            "Without uncertainty: {} It costs {}.",
            describe(standard, individual, &person.outcome)?,
            number(found.cost, DIGITS)
        ),
        Outcome::AlreadyFavourable => {
            "The decision is favourable as things stand, so that no action is needed.".into()
        }
        Outcome::Unproved(_) => describe(standard, individual, &person.outcome)?,
        Outcome::Impossible(_) => "There is no action even without uncertainty, and so no robust one.".into(),
        Outcome::Undecided(undecided) => {
            format!("Whether there is an action without uncertainty could not be decided: {undecided}.")
        }
    }];
    sentences.extend(extra_cost(problem, person));
    sentences.extend(stability(problem, person));
    sentences.extend(conclusion(problem, about, person));
    sentences.extend(fragility(problem, about, person)?);
    Ok(sentences)
}

/// The upper bound of the cost of robust recourse for a person.
fn extra_cost(problem: &Problem, person: &AboutPerson) -> Option<String> {
    if let (Some(found), true) = (person.outcome.recourse(), problem.uncertainty().is_none()) {
        let cost = number(found.cost, DIGITS);
        return Some(format!(
            "The uncertainty is 0, so that this action is the robust one and costs {cost}."
        ));
    }
    match &person.extra_cost {
        Ok(bound) => Some(format!(
            "Robust recourse costs at most {} times as much, {}: scaled in proportion, the action is feasible and \
             withstands every perturbation of size {} (Proposition 6).",
            upwards(1.0 + bound.beta),
            upwards(person.robust_cost_at_most(problem)?),
            readable(problem.uncertainty().radius())
        )),
        Err(NoStatement::Infeasible(bound)) => {
            Some(format!("Proposition 6 gives no bound: {}.", hindered(bound)))
        }
        Err(NoStatement::Rounding) => Some("Proposition 6 gives no bound: rounding hides it.".into()),
        Err(NoStatement::Unmet | NoStatement::NoAction | NoStatement::NotBroken) => None,
    }
}

/// The reason why the scaled action gives no bound.
fn hindered(bound: &ExtraCost) -> String {
    let why = match &bound.obstacle {
        Some(why) => why.to_string(),
        None => "it is beyond a limit by rounding".into(),
    };
    format!(
        "the action with all changes scaled by {} is not feasible ({why})",
        number(1.0 + bound.beta, DIGITS)
    )
}

/// The stability of the cost around a person.
fn stability(problem: &Problem, person: &AboutPerson) -> Option<String> {
    let stability = person.cost_stability.as_ref().ok().filter(|_| !problem.uncertainty().is_none())?;
    let CostStability { least, greatest, .. } = *stability;
    let similar = format!(
        "Of similar people (perturbations of size {} at most) with the same feasible changes",
        readable(problem.uncertainty().radius())
    );
    let is_favourable = person.outcome == Outcome::AlreadyFavourable;
    Some(match greatest {
        f64::INFINITY if is_favourable => {
            format!("{similar}, some have no action even without uncertainty (Appendix D).")
        }
        f64::INFINITY => format!(
            "{similar}, some have no action even without uncertainty, so that no action is robust (Appendix D)."
        ),
        0.0 => format!("{similar}, nobody needs an action (Appendix D)."),
        _ => {
            let from = if least == 0.0 { "nothing".into() } else { downwards(least) };
            format!(
                "{similar}, the cheapest actions cost between {from} and {}, a difference of at most {} from this \
                 person's (Appendix D).",
                upwards(greatest),
                upwards(stability.delta())
            )
        }
    })
}

/// Whether a person has robust recourse, where no other sentence says so.
fn conclusion(problem: &Problem, about: &AboutProblem, person: &AboutPerson) -> Option<String> {
    let is_open = matches!(person.outcome, Outcome::Found(_) | Outcome::Undecided(_));
    if !is_open || person.robust_cost_at_most(problem).is_some() {
        return None;
    }
    match (person.robust, &about.existence) {
        (RobustRecourse::DoesNotExist, Guarantee::Impossible(_)) => {
            Some("No action is robust (Proposition 1).".into())
        }
        (RobustRecourse::Exists, Guarantee::Unbounded(_)) => {
            Some("A robust action exists (Proposition 3).".into())
        }
        (RobustRecourse::Exists, Guarantee::RobustlyClassified(_)) => {
            Some("A robust action exists (Proposition 2).".into())
        }
        (RobustRecourse::Exists, _) => Some("A robust action exists (Proposition 4).".into()),
        (RobustRecourse::Unknown, _) => {
            Some("Whether a robust action exists does not follow from these statements.".into())
        }
        _ => None,
    }
}

/// The perturbation that breaks the standard action of a person.
fn fragility(problem: &Problem, about: &AboutProblem, person: &AboutPerson) -> Result<Option<String>> {
    let theorem = if about.fragility.is_empty() { "Theorem 1" } else { "the construction of Theorem 1" };
    Ok(match &person.breaking {
        Ok(Breaking { perturbation, size, .. }) => {
            let uncertainty = problem.uncertainty();
            let beyond = match !uncertainty.is_none() && !uncertainty.includes(*size) {
                true => format!(", which is more than the uncertainty of {}", readable(uncertainty.radius())),
                false => String::new(),
            };
            Some(format!(
                "The action without uncertainty fails under a perturbation of size {}{beyond}: {} ({theorem}).",
                upwards(*size),
                describe_shift(problem, perturbation)?
            ))
        }
        Err(NoStatement::NotBroken) => {
            Some("No perturbation that was tried breaks the action without uncertainty.".into())
        }
        Err(_) => None,
    })
}

/// The reasons why statements about a person are missing: one clause for each. `None` if all are made, or
/// if no action is needed.
pub fn describe_missing(problem: &Problem, about: &AboutProblem, person: &AboutPerson) -> Option<String> {
    let conditions = |unmet: &[Unmet]| {
        let texts: Vec<String> = unmet.iter().map(|unmet| describe_unmet(problem, unmet)).collect();
        texts.join("; it ")
    };
    let no_action = match &person.outcome {
        Outcome::AlreadyFavourable => return None,
        Outcome::Impossible(_) => return Some("there is no action even without uncertainty".into()),
        Outcome::Undecided(undecided) => {
            format!("whether there is an action without uncertainty could not be decided: {undecided}")
        }
        Outcome::Found(_) | Outcome::Unproved(_) => String::new(),
    };
    let clause = |statement: &str, why: &NoStatement, unmet: &[Unmet]| match why {
        NoStatement::Unmet => Some(format!("{statement}: it {}", conditions(unmet))),
        NoStatement::NoAction => None,
        NoStatement::Infeasible(bound) => Some(format!("{statement}: {}", hindered(bound))),
        NoStatement::Rounding => Some(format!("{statement}: rounding hides it")),
        NoStatement::NotBroken => {
            Some(format!("{statement}: no perturbation that was tried breaks the action"))
        }
    };
    let clauses = [
        (!no_action.is_empty()).then_some(no_action),
        person
            .extra_cost
            .as_ref()
            .err()
            .filter(|_| person.robust_cost_at_most(problem).is_none())
            .and_then(|why| clause("extra cost", why, &about.extra_cost)),
        person
            .cost_stability
            .as_ref()
            .err()
            .and_then(|why| clause("stability of the cost", why, &about.cost_stability)),
        person.breaking.as_ref().err().and_then(|why| clause("fragility", why, &about.fragility)),
    ];
    let clauses: Vec<String> = clauses.into_iter().flatten().collect();
    (!clauses.is_empty()).then(|| clauses.join(". "))
}

/// The counts and medians of statements about many people, as text.
pub fn describe_theory_summary(summary: &Summary) -> String {
    let Summary { favourable, found, impossible, undecided, exists, does_not_exist, unknown, .. } = summary;
    let mut text = format!(
        "People: {}. Treated favourably already: {favourable}. Without uncertainty {found} of the others have an \
         action, {impossible} provably none; {undecided} could not be decided.\nRobust recourse exists for {exists}, \
         does not exist for {does_not_exist}, and is not known for {unknown}.\n",
        summary.people()
    );
    if let Some(median) = median(&summary.factors) {
        let (median, known) = (upwards(median), summary.factors.len());
        text += &format!(
            "Robust recourse costs at most {median} times as much, in the median of the {known} for whom there is a \
             bound.\n"
        );
    }
    let known = summary.differences.len();
    text += &match median(&summary.differences) {
        None => String::new(),
        Some(f64::INFINITY) => format!(
            "For at least half of the {known} for whom similar people are compared, some of those have no action.\n"
        ),
        Some(median) => format!(
            "The cost differs by at most {} from that of similar people, in the median of the {known} who are \
             compared.\n",
            upwards(median)
        ),
    };
    if let Some(median) = median(&summary.sizes) {
        let (median, broken) = (upwards(median), summary.sizes.len());
        text += &format!(
            "The actions without uncertainty of {broken} of {found} fail under a perturbation that was found, of size \
             {median} in the median.\n"
        );
    }
    text
}

/// The names of features.
fn names(problem: &Problem, positions: &[usize]) -> String {
    let name = |&i: &usize| problem.features().feature(i).plain_name().to_owned();
    let names: Vec<String> = positions.iter().map(name).collect();
    quoted(&names)
}

/// A positive number rounded up to four digits.
fn upwards(value: f64) -> String {
    number(directed(value, 1.0), DIGITS)
}

/// A positive number rounded down to four digits.
fn downwards(value: f64) -> String {
    number(directed(value, -1.0), DIGITS)
}

/// A number rounded to four digits; if that is not exact, in the given direction.
fn directed(value: f64, direction: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let digits = DIGITS as usize - 1;
    let Ok(nearest) = format!("{value:.digits$e}").parse::<f64>() else { return value };
    if (nearest - value) * direction >= -1e-12 * value.abs() {
        return nearest;
    }
    let unit = 10f64.powf(value.abs().log10().floor() - digits as f64);
    format!("{:.digits$e}", nearest + direction * unit).parse().unwrap_or(value)
}

#[cfg(test)]
#[path = "theory_tests.rs"]
mod tests;
