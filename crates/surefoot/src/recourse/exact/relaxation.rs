//! A relaxation of the choice of an intervention set: a lower bound of the cost while it is undecided for
//! some features whether an action names them.
//!
//! A unit of change of feature `i` adds `g_i(S)` to the score, or to the value of a requirement, if the
//! action is on the set `S`. The gain is known up to an interval `[l_i, u_i]` while parts of `S` are
//! undecided ([`enclosed_response`](super::arrows::Arrows::enclosed_response)). The relaxation lets every
//! feature that may be named rise with gain `u_i` and fall with gain `-l_i`: a linear program with two variables
//! per feature, whose multipliers prove the bound. With several rows, the multipliers combine the score and the
//! requirements into one linear function, whose response is enclosed again. That bound is tighter, since one set
//! must serve all rows.
//!
//! If one set gives every gain that the solution uses, then the bound is the cost of the cheapest action on
//! that set, and nothing remains to be decided.

use super::Exact;
use super::arrows::{Enclosure, Membership};
use super::constrained::parts;
use super::rows::{Person, meets};
use crate::action::feasible_change;
use crate::integer::{Integrality, Sides};
use crate::program::{Program, Row, Solution};
use crate::{ActionKind, Constraint};

/// The largest violation of a row by an action, relative to the row's terms, with which the row counts as
/// met.
const ROW_TOLERANCE: f64 = 1e-9;

/// The search for the cheapest intervention set for one individual.
pub(super) struct Relaxation<'a, 'p> {
    pub exact: &'a Exact<'p>,
    /// Every actionable feature.
    pub features: Vec<usize>,
    integrality: Integrality,
    /// The amount by which the score must rise for certain, if it does not depend on the set.
    need: Option<f64>,
    score: f64,
    /// An upper bound of the rounding error of the need.
    slack: f64,
    /// The requirements, each with the least amount by which its value must rise.
    requirements: Vec<(&'p Constraint, f64)>,
}

/// What is decided about actions: which features they name, and a box of their changes.
#[derive(Clone, Debug)]
pub(super) struct Decided {
    /// For every feature of the problem.
    pub members: Vec<Membership>,
    /// The box of the changes of the actionable features.
    pub sides: Sides,
}

/// The result of a relaxation.
pub(super) struct Relaxed {
    /// A lower bound of the cost of every action that agrees with what is decided; infinite if there is
    /// none.
    pub bound: f64,
    /// The set that suits the solution best.
    pub set: Vec<usize>,
    pub next: Next,
}

/// How to continue after a relaxation.
pub(super) enum Next {
    /// No action agrees with what is decided, up to rounding.
    Nothing,
    /// An action on the set attains the bound, up to rounding.
    Attained,
    /// Decide whether actions name this unit of [`Exact::optional`].
    Decide(usize),
    /// Split the box.
    Split(Vec<Sides>),
}

/// A change of one feature in one direction.
pub(super) struct Move {
    /// The position among the actionable features.
    pub position: usize,
    pub sign: f64,
}

/// The variables of the linear program, with their ranges and weights.
pub(super) struct Moves {
    pub moves: Vec<Move>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    weights: Vec<f64>,
}

impl<'a, 'p> Relaxation<'a, 'p> {
    /// The relaxation of the problem of an individual.
    pub fn new(exact: &'a Exact<'p>, person: &Person<'_>) -> Self {
        let features = exact.problem.features().actionable();
        let most_error = exact.rounding(exact.problem.uncertainty().support(&exact.score_sizes));
        let slack = most_error + person.rounding;
        let needs = person.needs.iter().map(|(need, error)| need - error);
        let requirements = exact.problem.requirements().iter().zip(needs).collect();
        let need = match exact.problem.action_kind() {
            ActionKind::Relative => Some(exact.worst_decrease_of_observation() - person.score - slack),
            ActionKind::Absolute => None,
        };
        let integrality = Integrality::new(exact.problem, person.individual, &features);
        Self { exact, features, integrality, need, score: person.score, slack, requirements }
    }

    /// The relaxation of raising the score by `need`, whatever the uncertainty and the requirements.
    pub fn of_raising(exact: &'a Exact<'p>, individual: &[f64], need: f64) -> Self {
        let features = exact.problem.features().actionable();
        let integrality = Integrality::new(exact.problem, individual, &features);
        let need = Some(need);
        Self { exact, features, integrality, need, score: 0.0, slack: 0.0, requirements: Vec::new() }
    }

    /// What is decided at the start. `None` if there is no integer-valued change.
    pub fn start(&self, individual: &[f64]) -> Option<Decided> {
        let exact = self.exact;
        let mut members = vec![Membership::Out; individual.len()];
        exact.always.iter().for_each(|&i| members[i] = Membership::In);
        exact.optional.iter().flatten().for_each(|&i| members[i] = Membership::Open);
        let features = exact.problem.features();
        let sides = self.features.iter().map(|&i| feasible_change(features, i, individual[i])).unzip();
        Some(Decided { members, sides: self.integrality.tightened(sides)? })
    }

    /// Solves the relaxation.
    pub fn solve(&self, decided: &Decided) -> Relaxed {
        let exact = self.exact;
        let moves = self.moves(decided);
        let response = exact.arrows.enclosed_response(exact.weights, &decided.members);
        let need =
            self.need.unwrap_or_else(|| self.least_decrease(decided, &response) - self.score - self.slack);
        let mut rows = vec![moves.row(self, &response, &exact.score_sizes, need)];
        let mut functions: Vec<(&[f64], f64)> = vec![(exact.weights, need)];
        let mut used = vec![false; self.requirements.len()];
        loop {
            let program = moves.program(exact, &rows);
            let (multipliers, point) = match program.solve() {
                Solution::Optimal { point, multipliers } => (multipliers, point),
                Solution::Infeasible { multipliers } => {
                    let bound = program.infeasible_bound(multipliers);
                    return Relaxed { bound, set: Vec::new(), next: Next::Nothing };
                }
                Solution::Unknown => (vec![0.0; rows.len()], moves.lower.clone()),
            };
            let mut bound = program.cost_bound(&multipliers);
            let function = combined(&functions, &multipliers);
            let response = exact.arrows.enclosed_response(&function, &decided.members);
            if multipliers.iter().filter(|m| **m > 0.0).count() > 1 {
                let need: f64 = functions.iter().zip(&multipliers).map(|((_, need), m)| m * need).sum();
                let size: f64 =
                    functions.iter().zip(&multipliers).map(|((_, need), m)| (m * need).abs()).sum();
                let sizes = exact
                    .arrows
                    .sizes(&function_sizes(&functions, &multipliers), &vec![false; function.len()]);
                let row = [moves.row(self, &response, &sizes, need - exact.rounding(size))];
                bound = bound.max(moves.program(exact, &row).cost_bound(&[1.0]));
            }
            let change = moves.change(&point, self.features.len());
            let set = self.suitable_set(decided, &change, &response);
            let reached = self.reached(&set, &change);
            let violated: Vec<usize> =
                (0..used.len()).filter(|&j| !used[j] && !self.is_met(j, &reached)).collect();
            let mut is_cut_off = false;
            for j in violated {
                let (rule, need) = self.requirements[j];
                let coefficients = rule.upper_terms().1;
                let response = exact.arrows.enclosed_response(coefficients, &decided.members);
                let row = moves.row(self, &response, &exact.requirement_sizes[j], need);
                if !meets(&row.coefficients, &point, need, ROW_TOLERANCE) {
                    (used[j], is_cut_off) = (true, true);
                    rows.push(row);
                    functions.push((coefficients, need));
                }
            }
            if !is_cut_off {
                let next = self.next(decided, &moves, &point, &change, &set, &reached, &response);
                return Relaxed { bound, set, next };
            }
        }
    }

    /// An upper bound of the rise of the score by an action on any set, and a lower bound of the largest
    /// decrease by a perturbation.
    pub fn largest_rise(&self, individual: &[f64]) -> (f64, f64) {
        let exact = self.exact;
        let Some(decided) = self.start(individual) else { return (f64::NEG_INFINITY, 0.0) };
        let response = exact.arrows.enclosed_response(exact.weights, &decided.members);
        let rise = |(&i, (&low, &high)): (&usize, (&f64, &f64))| {
            let error = exact.rounding(exact.score_sizes[i]);
            let product = |gain: f64, change: f64| if change == 0.0 { 0.0 } else { gain * change };
            product(response.upper[i] + error, high).max(product(response.lower[i] - error, low)).max(0.0)
        };
        let rises = self.features.iter().zip(decided.sides.0.iter().zip(&decided.sides.1)).map(rise);
        let decrease = match exact.problem.action_kind() {
            ActionKind::Relative => exact.worst_decrease_of_observation(),
            ActionKind::Absolute => self.least_decrease(&decided, &response),
        };
        (rises.sum::<f64>(), decrease - self.slack)
    }

    /// The variables: every actionable feature that may be named, in each direction that its side allows.
    fn moves(&self, decided: &Decided) -> Moves {
        let mut moves =
            Moves { moves: Vec::new(), lower: Vec::new(), upper: Vec::new(), weights: Vec::new() };
        for (position, &i) in self.features.iter().enumerate() {
            let (low, high) = (decided.sides.0[position], decided.sides.1[position]);
            for (sign, from, to) in [(1.0, low, high), (-1.0, -high, -low)] {
                if to > 0.0 && decided.members[i] != Membership::Out {
                    moves.moves.push(Move { position, sign });
                    moves.lower.push(from.max(0.0));
                    moves.upper.push(to);
                    moves.weights.push(self.exact.problem.features().feature(i).weight);
                }
            }
        }
        moves
    }

    /// For absolute actions, a lower bound of the largest decrease of the score by a perturbation, for
    /// every set that agrees with what is decided: the decrease by one perturbation.
    fn least_decrease(&self, decided: &Decided, response: &Enclosure) -> f64 {
        let uncertainty = self.exact.problem.uncertainty();
        let range = |i: usize| match decided.members[i] {
            Membership::In => (0.0, 0.0),
            Membership::Out => (response.lower[i], response.upper[i]),
            Membership::Open => (response.lower[i].min(0.0), response.upper[i].max(0.0)),
        };
        let nearest_to_zero = |i: usize| 0.0_f64.clamp(range(i).0, range(i).1);
        let nearest: Vec<f64> = (0..decided.members.len()).map(nearest_to_zero).collect();
        let mut perturbation = uncertainty.maximiser(&nearest);
        uncertainty.shrink(&mut perturbation);
        let least = |(i, d): (usize, &f64)| (range(i).0 * d).min(range(i).1 * d);
        perturbation.iter().enumerate().map(least).sum::<f64>().max(0.0)
    }

    /// A set that agrees with what is decided and suits a change best. It names the features that are
    /// changed. Others follow their causes where that helps the combined function, which responds as
    /// enclosed, and are held where it does not.
    fn suitable_set(&self, decided: &Decided, change: &[f64], response: &Enclosure) -> Vec<usize> {
        let own = self.by_feature(change);
        let mut is_named = vec![false; own.len()];
        self.exact.arrows.consequences(|i, following| {
            let follows = match decided.members[i] {
                Membership::In => false,
                Membership::Out => true,
                Membership::Open => {
                    own[i] == 0.0
                        && (following > 0.0 && response.upper[i] > 0.0
                            || following < 0.0 && response.lower[i] < 0.0)
                }
            };
            is_named[i] = !follows;
            if follows { following } else { own[i] }
        });
        // Columns of a group are named together.
        for unit in self.exact.optional.iter().filter(|unit| unit.len() > 1) {
            let named = unit.iter().any(|&i| is_named[i]);
            unit.iter().for_each(|&i| is_named[i] = named);
        }
        self.features.iter().copied().filter(|&i| is_named[i]).collect()
    }

    /// The change of every feature by an action on a set.
    fn reached(&self, set: &[usize], change: &[f64]) -> Vec<f64> {
        let (own, is_named) = (self.by_feature(change), self.exact.flags(set));
        self.exact.arrows.consequences(|i, following| if is_named[i] { own[i] } else { following })
    }

    /// The change of every feature of the problem from that of the actionable ones.
    fn by_feature(&self, change: &[f64]) -> Vec<f64> {
        let mut own = vec![0.0; self.exact.weights.len()];
        self.features.iter().zip(change).for_each(|(&i, &c)| own[i] = c);
        own
    }

    fn is_met(&self, j: usize, reached: &[f64]) -> bool {
        let (rule, need) = self.requirements[j];
        meets(rule.upper_terms().1, reached, need, ROW_TOLERANCE)
    }

    /// How to continue.
    #[expect(clippy::too_many_arguments, reason = "the parts of a solution")]
    fn next(
        &self,
        decided: &Decided,
        moves: &Moves,
        point: &[f64],
        change: &[f64],
        set: &[usize],
        reached: &[f64],
        response: &Enclosure,
    ) -> Next {
        let (lower, upper) = &decided.sides;
        let near = self.integrality.near(lower, upper, change);
        let is_integer = change.iter().zip(&near).all(|(c, n)| (c - n).abs() <= 1e-9 * (1.0 + n.abs()));
        let need = self.need.unwrap_or_else(|| {
            let uncertainty = self.exact.problem.uncertainty();
            uncertainty.support(&self.exact.response(set)) - self.score - self.slack
        });
        let is_met = meets(self.exact.weights, reached, need, ROW_TOLERANCE)
            && (0..self.requirements.len()).all(|j| self.is_met(j, reached));
        if is_integer && is_met {
            return Next::Attained;
        }
        if let Some(unit) = self.conflict(decided, moves, point, response) {
            return Next::Decide(unit);
        }
        if !is_integer {
            let parts = parts(&self.integrality, (lower, upper), change, &near, false);
            if !parts.is_empty() {
                return Next::Split(
                    parts.into_iter().filter_map(|part| self.integrality.tightened(part)).collect(),
                );
            }
        }
        // The unit with the largest influence.
        let influence = |unit: &Vec<usize>| -> f64 {
            unit.iter().map(|&i| response.lower[i].abs().max(response.upper[i].abs())).sum()
        };
        let optional = self.exact.optional.iter().enumerate();
        let open = optional.filter(|(_, unit)| decided.members[unit[0]] == Membership::Open);
        let largest = open.reduce(|a, b| if influence(b.1) > influence(a.1) { b } else { a });
        largest.map_or(Next::Attained, |(unit, _)| Next::Decide(unit))
    }
}

impl Moves {
    /// The row of a linear function with an enclosed response that must rise by `need`.
    fn row(&self, relaxation: &Relaxation<'_, '_>, response: &Enclosure, sizes: &[f64], need: f64) -> Row {
        let feature = |one: &Move| relaxation.features[one.position];
        let gain = |one: &Move| match one.sign > 0.0 {
            true => response.upper[feature(one)],
            false => -response.lower[feature(one)],
        };
        let doubt = |one: &Move| relaxation.exact.rounding(sizes[feature(one)]);
        Row {
            coefficients: self.moves.iter().map(gain).collect(),
            need,
            doubt: self.moves.iter().map(doubt).collect(),
        }
    }

    fn program<'b>(&'b self, exact: &Exact<'_>, rows: &'b [Row]) -> Program<'b> {
        let cost = exact.problem.cost();
        Program { rows, weights: &self.weights, cost, lower: &self.lower, upper: &self.upper }
    }

    /// The changes of `count` actionable features.
    fn change(&self, point: &[f64], count: usize) -> Vec<f64> {
        let mut change = vec![0.0; count];
        self.moves.iter().zip(point).for_each(|(one, by)| change[one.position] += one.sign * by);
        change
    }
}

/// `sum_j m_j f_j` for linear functions.
fn combined(functions: &[(&[f64], f64)], multipliers: &[f64]) -> Vec<f64> {
    sum(functions, multipliers, |coefficient| coefficient)
}

/// The sizes of the terms of [`combined`].
fn function_sizes(functions: &[(&[f64], f64)], multipliers: &[f64]) -> Vec<f64> {
    sum(functions, multipliers, f64::abs)
}

fn sum(functions: &[(&[f64], f64)], multipliers: &[f64], term: impl Fn(f64) -> f64) -> Vec<f64> {
    let mut sum = vec![0.0; functions[0].0.len()];
    for ((function, _), m) in functions.iter().zip(multipliers) {
        sum.iter_mut().zip(*function).for_each(|(sum, &coefficient)| *sum += m * term(coefficient));
    }
    sum
}
