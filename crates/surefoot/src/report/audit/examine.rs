//! What an audit finds out about each person, by the solver, proofs and attacks.

use std::ops::Range;

use rayon::prelude::*;

use super::{Attribute, Grouping};
use crate::error::AuditError;
use crate::feature::Column;
use crate::problem::OwnProblem;
use crate::recourse::{Settings, Solver};
use crate::{
    Action, Break, Budget, Cost, Features, Intervention, Kind, Outcome, People, Problem, Result, Sources,
    Verdict, certify, essential, infeasibility, smallest_break,
};

/// What is known of the cheapest action of somebody.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answered {
    /// The kind of the answer.
    pub status: Status,
    /// No action that holds costs less; infinite if none holds.
    pub bound: f64,
    /// The cost of an action that is proven to hold; infinite if none is known.
    pub cost: f64,
}

/// The kind of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The decision is favourable.
    Favourable,
    /// An action is proven to hold.
    Found,
    /// It is proven that none holds.
    Impossible,
    /// Neither is proven.
    Undecided,
}

impl Answered {
    fn of(outcome: &Outcome) -> Self {
        let (status, bound, cost) = match outcome {
            Outcome::AlreadyFavourable => (Status::Favourable, 0.0, 0.0),
            Outcome::Found(found) => (Status::Found, found.cost_bound, found.cost),
            Outcome::Impossible(_) => (Status::Impossible, f64::INFINITY, f64::INFINITY),
            Outcome::Undecided(undecided) => (Status::Undecided, undecided.cost_bound, f64::INFINITY),
            // Methods that prove nothing are refused.
            Outcome::Unproved(_) => (Status::Undecided, 0.0, f64::INFINITY),
        };
        Self { status, bound, cost }
    }
}

/// A person in another group of an attribute, by the causal model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Twin {
    /// The twin's answer.
    Answered(Answered),
    /// There is no such person: a value that follows from the attribute is not one that its feature may have.
    NotAPerson,
}

/// What one action that was advised is worth.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedAdvice {
    /// Whether it holds.
    pub verdict: AdviceVerdict,
    /// The smallest perturbation found that breaks it.
    pub broken_by: Option<Break>,
    /// Why the problem does not allow it.
    pub infeasible: Option<String>,
    /// What it costs.
    pub cost: f64,
}

/// Whether an action holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdviceVerdict {
    /// It is proven to hold.
    Holds,
    /// A perturbation breaks it.
    Breaks,
    /// Neither is proven.
    Undecided,
}

/// Everything that an audit knows of one person.
#[derive(Clone, Debug, PartialEq)]
pub struct Examined {
    /// Whether a value of the person is missing.
    pub is_incomplete: bool,
    /// The answer of the problem.
    pub answer: Answered,
    /// For each column of [`asked_columns`], how the action changes it, if it does.
    pub changes: Vec<Option<Change>>,
    /// The answer without uncertainty, if somebody is turned down and anything is uncertain.
    pub nominal: Option<Answered>,
    /// The cheapest action without uncertainty, and what becomes of it.
    pub fragile: Option<Fragile>,
    /// For each grouping with an attribute, the twin in each other group, in order; only those who are turned down and
    /// those whose twin is.
    pub twins: Vec<Vec<Twin>>,
    /// The actions that others advised.
    pub advice: Vec<JudgedAdvice>,
}

/// What becomes of the cheapest action without uncertainty.
#[derive(Clone, Debug, PartialEq)]
pub struct Fragile {
    /// The action.
    pub action: Action,
    /// Whether it holds within the uncertainty.
    pub verdict: AdviceVerdict,
    /// The size of the smallest perturbation found that breaks it; infinite if none was found.
    pub size: f64,
}

/// How an action changes a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Change {
    /// By this much, in own units.
    By(f64),
    /// To this category, by its position among those of the column.
    To(usize),
}

/// A column of people's tables that actions may change, or a one-hot group of columns of numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct AskedColumn {
    /// Its name.
    pub name: String,
    /// What people read instead of the name.
    pub label: String,
    /// Its features.
    pub features: Vec<usize>,
    /// The names of its categories, if it has any, and what people read instead.
    pub categories: Option<Vec<(String, String)>>,
}

/// The columns that actions may change. A one-hot group of columns of numbers counts as one.
pub fn asked_columns(features: &Features) -> Vec<AskedColumn> {
    let is_asked = |column: &Column| column.positions().any(|i| features.feature(i).is_actionable());
    let mut asked: Vec<AskedColumn> = Vec::new();
    for column in features.columns().iter().filter(|column| is_asked(column)) {
        let first = features.feature(column.positions().start);
        let group = first.group.as_ref().filter(|_| column.categories().is_none());
        if let Some(group) = group {
            if asked.iter().any(|known| known.name == *group && known.categories.is_some()) {
                continue;
            }
            let members = features.groups().into_iter().find(|known| known.name == *group);
            let members = members.map(|group| group.columns).unwrap_or_default();
            let category = |i: &usize| {
                let feature = features.feature(*i);
                (feature.name.clone(), feature.spoken_name().to_owned())
            };
            asked.push(AskedColumn {
                name: group.clone(),
                label: group.clone(),
                categories: Some(members.iter().map(category).collect()),
                features: members,
            });
            continue;
        }
        let category = |text: &String| (text.clone(), first.reading(text).to_owned());
        asked.push(AskedColumn {
            name: column.name().to_owned(),
            label: first.words.label.clone().unwrap_or_else(|| column.name().to_owned()),
            features: column.positions().collect(),
            categories: column.categories().map(|known| known.iter().map(category).collect()),
        });
    }
    asked
}

/// Examines the people of an audit.
#[derive(Debug)]
pub struct Examiner<'p> {
    problem: &'p Problem,
    people: &'p People,
    groupings: &'p [Grouping],
    solver: Solver<'p>,
    budget: Budget,
    /// The solver of the problem without uncertainty, if anything is uncertain.
    nominal: Option<Solver<'p>>,
    columns: Vec<AskedColumn>,
}

/// The same problem without a perturbation: nothing is uncertain but the weights of the classifier and which of several
/// classifiers or causal models are right, which concern who is turned down. `None` if that is the problem itself.
pub fn without_uncertainty(problem: &Problem) -> Result<Option<Problem>> {
    if problem.uncertainty().is_none() {
        return Ok(None);
    }
    problem.clone().with_sources(Sources::default())?.with_epsilon(0.0).map(Some)
}

impl<'p> Examiner<'p> {
    /// Prepares the methods. `nominal` is the problem [`without_uncertainty`].
    ///
    /// # Errors
    /// If the method proves nothing or cannot answer the problem.
    pub fn new(
        problem: &'p Problem,
        nominal: Option<&'p Problem>,
        people: &'p People,
        groupings: &'p [Grouping],
        settings: Settings,
    ) -> Result<Self> {
        if !settings.method.proves() {
            return Err(AuditError::Method { method: settings.method.as_str() }.into());
        }
        Ok(Self {
            problem,
            people,
            groupings,
            solver: Solver::new(problem, settings)?,
            budget: match settings.seconds {
                // Seconds limit answers and not certificates, which would then have no limit.
                Some(_) => {
                    Budget { evaluations: settings.budget.evaluations.min(Budget::default().evaluations) }
                }
                None => settings.budget,
            },
            nominal: nominal.map(|nominal| Solver::new(nominal, settings)).transpose()?,
            columns: asked_columns(problem.features()),
        })
    }

    /// The number of people that [`Examiner::examine`] should be given at a time.
    pub fn batch_size(&self) -> usize {
        if self.solver.is_closed_form() { 8192 } else { 256 }
    }

    /// Examines the people at some positions, in order, on all cores. `advice` has the actions that others advised each
    /// of them; none if there is no advice to judge. `progress` is called with the number of people who were answered since
    /// the last call.
    ///
    /// # Errors
    /// As [`Solver::solve`] and [`certify()`].
    pub fn examine(
        &self,
        positions: Range<usize>,
        advice: &[Vec<Action>],
        progress: &(dyn Fn(usize) + Sync),
    ) -> Result<Vec<Examined>> {
        let individuals: Vec<&[f64]> = positions.clone().map(|i| self.people.individual(i)).collect();
        let outcomes = self.solver.solve_all(&individuals, progress)?;
        let columns = self.columns.len();
        let mut examined: Vec<Examined> = outcomes
            .par_iter()
            .zip(&individuals)
            .map(|(outcome, individual)| Examined {
                is_incomplete: individual.iter().any(|value| value.is_nan()),
                answer: Answered::of(outcome),
                changes: outcome
                    .recourse()
                    .map_or(vec![None; columns], |found| self.changes(individual, &found.action)),
                nominal: None,
                fragile: None,
                twins: Vec::new(),
                advice: Vec::new(),
            })
            .collect();
        self.examine_nominal(&positions, &outcomes, &mut examined)?;
        for grouping in self.groupings {
            if let Ok(attribute) = grouping.attribute() {
                self.examine_twins(&positions, (grouping, attribute), &mut examined)?;
            }
        }
        if !advice.is_empty() {
            self.judge_advice(&positions, advice, &mut examined)?;
        }
        Ok(examined)
    }

    /// The answers without uncertainty, and what becomes of these actions.
    fn examine_nominal(
        &self,
        positions: &Range<usize>,
        outcomes: &[Outcome],
        examined: &mut [Examined],
    ) -> Result<()> {
        let Some(solver) = &self.nominal else { return Ok(()) };
        let asking: Vec<usize> =
            (0..examined.len()).filter(|&k| examined[k].answer.status != Status::Favourable).collect();
        let individual = |k: usize| self.people.individual(positions.start + k);
        let individuals: Vec<&[f64]> = asking.iter().map(|&k| individual(k)).collect();
        let answers = solver.solve_all(&individuals, &|_| {})?;
        let (mut acting, mut actions) = (Vec::new(), Vec::new());
        for (&k, outcome) in asking.iter().zip(&answers) {
            let mut nominal = Answered::of(outcome);
            let answer = &mut examined[k].answer;
            // An action that holds within the uncertainty holds without it.
            match (nominal.status, answer.status) {
                (Status::Impossible, Status::Undecided) => *answer = nominal,
                (Status::Undecided, Status::Found) => {
                    nominal = Answered { bound: nominal.bound.min(answer.cost), ..*answer };
                }
                _ => {}
            }
            examined[k].nominal = Some(nominal);
            let found = outcome.recourse().map(|found| found.action.clone());
            let robust = || outcomes[k].recourse().map(|found| found.action.clone());
            if let Some(action) = found.or_else(|| robust().filter(|_| nominal.status == Status::Found)) {
                acting.push(k);
                actions.push(action);
            }
        }
        let judged =
            self.judge(&acting.iter().map(|&k| positions.start + k).collect::<Vec<_>>(), &actions)?;
        for ((k, action), (verdict, broken)) in acting.into_iter().zip(actions).zip(judged) {
            let size = broken.map_or(f64::INFINITY, |broken| broken.size);
            examined[k].fragile = Some(Fragile { action, verdict, size });
        }
        Ok(())
    }

    /// Whether actions hold, and the smallest perturbation found that breaks each.
    fn judge(&self, positions: &[usize], actions: &[Action]) -> Result<Vec<(AdviceVerdict, Option<Break>)>> {
        if positions.is_empty() {
            return Ok(Vec::new());
        }
        let people = self.people.select(positions)?;
        let breaks = smallest_break(self.problem, &people, actions)?;
        let judge = |(k, found): (usize, Option<Break>)| {
            if found.as_ref().is_some_and(|found| found.is_within) {
                return Ok((AdviceVerdict::Breaks, found));
            }
            let certificate = certify(self.problem, people.individual(k), &actions[k], self.budget)?;
            Ok(match certificate.verdict {
                Verdict::Holds { .. } => (AdviceVerdict::Holds, found),
                Verdict::Undecided { .. } => (AdviceVerdict::Undecided, found),
                Verdict::Breaks { .. } => {
                    let found = crate::attack::search_further(
                        self.problem,
                        people.individual(k),
                        &actions[k],
                        found,
                        self.budget,
                    )?;
                    (AdviceVerdict::Breaks, found)
                }
            })
        };
        breaks.into_par_iter().enumerate().map(judge).collect()
    }

    /// The twins in the other groups of an attribute.
    fn examine_twins(
        &self,
        positions: &Range<usize>,
        (grouping, attribute): (&Grouping, &Attribute),
        examined: &mut [Examined],
    ) -> Result<()> {
        let mut whose: Vec<(usize, Option<usize>)> = Vec::new();
        let mut twins: Vec<Vec<f64>> = Vec::new();
        for k in 0..examined.len() {
            let person = positions.start + k;
            let own = grouping.membership()[person];
            for group in (0..grouping.groups().len()).filter(|&group| group != own) {
                let twin = self.twin(self.people.individual(person), attribute, group);
                whose.push((k, twin.as_ref().map(|_| twins.len())));
                twins.extend(twin);
            }
            examined[k].twins.push(Vec::new());
        }
        // Of those whose decision is favourable only the decision about the twin is needed.
        let answers: Vec<Option<Answered>> = {
            let is_asking: Vec<bool> = {
                let mut asking = vec![false; twins.len()];
                for &(k, twin) in &whose {
                    if let Some(twin) = twin {
                        asking[twin] = examined[k].answer.status != Status::Favourable;
                    }
                }
                asking
            };
            let asked: Vec<usize> = (0..twins.len()).filter(|&twin| is_asking[twin]).collect();
            let individuals: Vec<&[f64]> = asked.iter().map(|&twin| twins[twin].as_slice()).collect();
            let outcomes = self.solver.solve_all(&individuals, &|_| {})?;
            let mut answers: Vec<Option<Answered>> = twins.iter().map(|twin| self.decision(twin)).collect();
            asked
                .iter()
                .zip(&outcomes)
                .for_each(|(&twin, outcome)| answers[twin] = Some(Answered::of(outcome)));
            answers
        };
        for (k, twin) in whose {
            let twin = twin.and_then(|twin| answers[twin]).map_or(Twin::NotAPerson, Twin::Answered);
            if let Some(twins) = examined[k].twins.last_mut() {
                twins.push(twin);
            }
        }
        Ok(())
    }

    /// The decision about a twin, without a search for an action.
    fn decision(&self, twin: &[f64]) -> Option<Answered> {
        let is_favourable = self.problem.score(twin) >= 0.0;
        let status = if is_favourable { Status::Favourable } else { Status::Undecided };
        Some(Answered { status, bound: 0.0, cost: if is_favourable { 0.0 } else { f64::INFINITY } })
    }

    /// The same person in another group of an attribute, by abduction, intervention and prediction in the first causal
    /// model; without one, everything else stays as it is. `None` if there is no such person.
    fn twin(&self, individual: &[f64], attribute: &Attribute, group: usize) -> Option<Vec<f64>> {
        let (reported, own) = (individual, self.problem.for_person(individual).ok()?);
        let (problem, individual) = OwnProblem::or(own.as_ref(), self.problem, individual);
        let values = &attribute.values[group];
        // Nothing is known of the twin of somebody whose attribute is not.
        if attribute.features.iter().any(|&i| reported[i].is_nan())
            || values.iter().any(|value| value.is_nan())
        {
            return None;
        }
        // Nothing follows from a special value of the attribute, which is no amount.
        let is_special = |(&i, &value): (&usize, &f64)| {
            let feature = self.problem.features().feature(i);
            [individual[i], value]
                .iter()
                .any(|&value| feature.special_value(feature.own_units(value)).is_some())
        };
        if attribute.features.iter().zip(values).any(is_special) {
            return None;
        }
        let set = Intervention::Set { features: &attribute.features, value: values };
        let twin = match problem.scm() {
            Some(scm) => scm.counterfactual(individual, set).ok()?,
            None => {
                let mut twin = individual.to_vec();
                attribute.features.iter().zip(values).for_each(|(&i, &value)| twin[i] = value);
                twin
            }
        };
        let is_producible = problem.causal_models().into_iter().all(|scm| scm.abduct(&twin).is_ok());
        if !(is_producible && is_person(problem.features(), individual, &twin)) {
            return None;
        }
        // What is not known of somebody is not known of the twin, unless it would be another value.
        let mut known = twin;
        for (i, _) in self.problem.features().missing_values(reported) {
            if known[i] != individual[i] {
                return None;
            }
            known[i] = f64::NAN;
        }
        Some(known)
    }

    /// What others advised.
    fn judge_advice(
        &self,
        positions: &Range<usize>,
        advice: &[Vec<Action>],
        examined: &mut [Examined],
    ) -> Result<()> {
        let stated = positions.clone().flat_map(|i| advice[i].iter().map(move |action| (i, action.clone())));
        let (whose, actions): (Vec<usize>, Vec<Action>) = stated.unzip();
        let judged = self.judge(&whose, &actions)?;
        let cost: Cost = self.problem.cost();
        for ((i, action), (verdict, broken_by)) in whose.into_iter().zip(&actions).zip(judged) {
            let infeasible = infeasibility(self.problem, self.people.individual(i), action)?;
            let cost = cost.of(self.problem.features(), action);
            let infeasible = infeasible.map(|why| why.to_string());
            examined[i - positions.start].advice.push(JudgedAdvice { verdict, broken_by, infeasible, cost });
        }
        Ok(())
    }

    /// How an action changes each column.
    fn changes(&self, individual: &[f64], action: &Action) -> Vec<Option<Change>> {
        let action = essential(self.problem, action);
        let features = self.problem.features();
        let change = |column: &AskedColumn| {
            let by = |i: usize| {
                let place = action.features.iter().position(|&acted| acted == i)?;
                Some(action.change[place]).filter(|change| *change != 0.0)
            };
            if let (Some(_), false) = (&column.categories, column.features.len() == 1) {
                column.features.iter().find_map(|&i| by(i))?;
                let reached =
                    |i: usize| features.feature(i).own_units(individual[i] + by(i).unwrap_or(0.0)).round();
                return column.features.iter().position(|&i| reached(i) == 1.0).map(Change::To);
            }
            let i = column.features[0];
            let (by, feature) = (by(i)?, features.feature(i));
            match &column.categories {
                Some(known) => {
                    let reached = feature.own_units(individual[i] + by).round().max(0.0) as usize;
                    Some(Change::To(reached.min(known.len() - 1)))
                }
                None => Some(Change::By(feature.snap_to_integer(by * feature.std))),
            }
        };
        self.columns.iter().map(change).collect()
    }
}

/// Whether a twin is somebody whom the problem knows: every value that differs from the person's is within the limits of
/// its feature, and whole where an action needs it or where it is a category.
fn is_person(features: &Features, individual: &[f64], twin: &[f64]) -> bool {
    let is_value = |(i, feature): (usize, &crate::Feature)| {
        if twin[i] == individual[i] {
            return true;
        }
        let own = feature.own_units(twin[i]);
        let near = own.round();
        let is_whole = (own - near).abs() <= 1e-9 * own.abs().max(1.0);
        let fits = match feature.kind {
            Kind::Real => true,
            Kind::Integer => is_whole || !feature.is_actionable(),
            Kind::Binary => is_whole && (near == 0.0 || near == 1.0),
        };
        let slack = 1e-9 * own.abs().max(1.0);
        fits && own >= feature.lower - slack && own <= feature.upper + slack
    };
    features.iter().enumerate().all(is_value)
}
