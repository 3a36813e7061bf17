//! What the actions that others advised are worth.

use serde::Serialize;

use super::examine::{AdviceVerdict, Examined, Status};
use super::group::{median_break, ratio};
use super::statistics::{Range, enclosed_mean};
use crate::{Problem, Result, describe_break};

/// What actions that others advised are worth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AdviceReport {
    /// The number of actions.
    pub actions: usize,
    /// Those that are proven to hold.
    pub holding: usize,
    /// Those that break within the uncertainty.
    pub breaking: usize,
    /// Those of which neither is proven.
    pub undecided: usize,
    /// Those that the problem allows.
    pub feasible: usize,
    /// Those that hold and are allowed.
    pub holding_and_feasible: usize,
    /// People who are turned down and were advised nothing.
    pub turned_down_without_advice: usize,
    /// Half of the actions break with a perturbation of at most this size; `null` if half of them are not known to break.
    pub median_break: Option<f64>,
    /// The mean cost of the actions that hold and are allowed, if there are any.
    pub mean_cost: Option<f64>,
    /// That mean divided by the mean cost of the cheapest actions of the same people, as far as it is proven.
    pub cost_ratio: Option<Range>,
}

/// One action that others advised.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AdviceRow {
    /// Who was advised.
    pub id: String,
    /// `holds`, `breaks` or `undecided`.
    pub verdict: String,
    /// The smallest size found of a perturbation that breaks it.
    pub smallest_break: Option<f64>,
    /// That perturbation in words.
    pub breaks_with: Option<String>,
    /// Whether the problem allows it.
    pub feasible: bool,
    /// Why not.
    pub reason: Option<String>,
    /// What it costs.
    pub cost: f64,
    /// What the cheapest action that holds costs, as far as it is proven; `null` if it is not known to exist.
    pub cheapest: Option<Range>,
}

impl AdviceReport {
    /// The report about what some people were advised.
    pub(super) fn new(people: &[&Examined]) -> Self {
        let advice = || people.iter().flat_map(|person| person.advice.iter().map(move |one| (*person, one)));
        let count = |verdict| advice().filter(|(_, one)| one.verdict == verdict).count();
        let good =
            || advice().filter(|(_, one)| one.verdict == AdviceVerdict::Holds && one.infeasible.is_none());
        let sizes = advice().map(|(_, one)| one.broken_by.as_ref().map_or(f64::INFINITY, |found| found.size));
        let mean = |costs: &[f64]| costs.iter().sum::<f64>() / costs.len() as f64;
        let costs: Vec<f64> = good().map(|(_, one)| one.cost).collect();
        // Of people with advice that holds a cheapest action may be undecided: the advice is then an upper bound.
        let cheapest = good().map(|(person, one)| {
            Range::new(person.answer.bound.min(one.cost), person.answer.cost.min(one.cost))
        });
        let cheapest: Vec<Range> = cheapest.collect();
        let cost_ratio = enclosed_mean(cheapest.into_iter())
            .map(|cheapest| ratio(Range::new(mean(&costs), mean(&costs)), cheapest, 1.0));
        let without = people
            .iter()
            .filter(|person| person.answer.status != Status::Favourable && person.advice.is_empty());
        Self {
            actions: advice().count(),
            holding: count(AdviceVerdict::Holds),
            breaking: count(AdviceVerdict::Breaks),
            undecided: count(AdviceVerdict::Undecided),
            feasible: advice().filter(|(_, one)| one.infeasible.is_none()).count(),
            holding_and_feasible: good().count(),
            turned_down_without_advice: without.count(),
            median_break: median_break(sizes.collect()),
            mean_cost: (!costs.is_empty()).then(|| mean(&costs)),
            cost_ratio,
        }
    }
}

/// Each action that was advised. `ids` names everybody.
pub(super) fn advice_rows(
    problem: &Problem,
    examined: &[Examined],
    ids: &[String],
) -> Result<Vec<AdviceRow>> {
    let mut rows = Vec::new();
    for (person, id) in examined.iter().zip(ids) {
        for judged in &person.advice {
            let is_breaking = judged.verdict == AdviceVerdict::Breaks;
            let found = judged.broken_by.as_ref().filter(|found| is_breaking && found.size > 0.0);
            let words = |found: &crate::Break| describe_break(problem, found.variant, &found.perturbation);
            rows.push(AdviceRow {
                id: id.clone(),
                verdict: match judged.verdict {
                    AdviceVerdict::Holds => "holds",
                    AdviceVerdict::Breaks => "breaks",
                    AdviceVerdict::Undecided => "undecided",
                }
                .into(),
                smallest_break: judged.broken_by.as_ref().map(|found| found.size),
                breaks_with: found.map(words).transpose()?,
                feasible: judged.infeasible.is_none(),
                reason: judged.infeasible.clone(),
                cost: judged.cost,
                cheapest: matches!(person.answer.status, Status::Found | Status::Favourable)
                    .then(|| Range::new(person.answer.bound, person.answer.cost)),
            });
        }
    }
    Ok(rows)
}
