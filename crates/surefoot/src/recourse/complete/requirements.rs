//! Requirements of outcomes in the search: constraints, and limits on features that change as a
//! consequence of an action.

use super::boxes::{Cuboid, cost_of};
use super::solve::{Set, Solver};
use crate::action::feasible_change;
use crate::certify::LEAST_MARGIN;
use crate::graph::{Graph, Order, Plane};
use crate::margin::outcome;
use crate::program::{Program, Row, Solution};
use crate::proof::{RuledOut, Scenario};

/// The amount by which candidates exceed each requirement, in units of about one standard deviation.
const INSIDE: f64 = 1e-7;
/// The largest number of linear models of the margin.
const MODELS: usize = 4;
/// The number of bisection steps in the search for the largest margin that a cost allows.
const HALVINGS: usize = 14;

impl Solver<'_, '_> {
    /// Whether the outcome of an action meets every requirement, by the definition.
    pub(super) fn meets(&self, set: usize, change: &[f64]) -> bool {
        let problem = self.settings.problem;
        if problem.requirements().is_empty() {
            return true;
        }
        let reached = outcome(problem, &self.individual, &self.action(set, change));
        reached.is_ok_and(|reached| problem.is_met(&self.individual, &reached))
    }

    /// Affine upper bounds over a box of the requirements that some action of it may violate. `None` if
    /// no action meets one of them: then the box is ruled out.
    pub(super) fn open_requirements(&mut self, cuboid: &Cuboid) -> Option<Vec<Requirement>> {
        let region = self.region_of(cuboid.set, &cuboid.lower, &cuboid.upper, f64::INFINITY);
        let mut open = Vec::new();
        for number in 0..self.sets[cuboid.set].requirements.len() {
            let graph = &self.sets[cuboid.set].requirements[number];
            let plane = self.prover.affine.plane(graph, &region);
            let plane = plane.unwrap_or_else(|| self.prover.affine.bound(graph, &region).plane);
            // Below the margin of rounding, so not even actions within rounding of the limit qualify.
            if plane.upper(&region) < -LEAST_MARGIN {
                self.ruled_out.push(RuledOut {
                    features: self.sets[cuboid.set].features.clone(),
                    undecided: self.sets[cuboid.set].undecided(),
                    lower: cuboid.lower.clone(),
                    upper: cuboid.upper.clone(),
                    cost: f64::INFINITY,
                    margins: Vec::new(),
                    cone: None,
                    requirements: vec![(number, 1.0)],
                });
                return None;
            }
            let is_met = plane.lower(&region) > LEAST_MARGIN;
            if !is_met {
                open.push(Requirement { number, plane });
            }
        }
        Some(open)
    }

    /// For problems with requirements: the action near an incumbent that has the largest margin for a
    /// given share of additional cost, by linear models of margin and requirements. Where attacks find less
    /// margin than the models say, as beyond a kink, a model at that action is added. `None` where there is
    /// no such action.
    pub(super) fn outwards_within(
        &mut self,
        set: usize,
        incumbent: &[f64],
        push: f64,
        sides: &[(f64, f64)],
    ) -> Option<Vec<f64>> {
        if self.sets[set].requirements.is_empty() {
            return None;
        }
        let (worst, _) = self.attack(set, incumbent, None);
        let graphs = self.sets[set].requirements.clone();
        let rules: Vec<Row> = graphs.iter().map(|graph| self.linearised(graph, incumbent)).collect();
        let mut margins = vec![self.linearised_margin(set, &worst, incumbent)];
        let mut best: Option<(f64, Vec<f64>)> = None;
        for _ in 0..MODELS {
            let Some((point, gained)) = self.most_margin(set, incumbent, push, sides, &rules, &margins)
            else {
                break;
            };
            let (scenario, found) = self.attack(set, &point, Some(&worst));
            margins.push(self.linearised_margin(set, &scenario, &point));
            if self.meets(set, &point) && best.as_ref().is_none_or(|(most, _)| found > *most) {
                best = Some((found, point));
            }
            if found >= 0.5 * gained {
                break;
            }
        }
        best.map(|(_, point)| point)
    }

    /// The margin in a scenario as a row of a linear program, by its gradient at a change.
    fn linearised_margin(&mut self, set: usize, scenario: &Scenario, at: &[f64]) -> Row {
        let graph = self.sets[set].in_scenario(scenario);
        self.linearised(&graph, at)
    }

    fn linearised(&mut self, graph: &Graph<'_>, at: &[f64]) -> Row {
        let model = self.prover.jets.evaluate(graph, at, Order::Gradient);
        let along: f64 = model.gradient.iter().zip(at).map(|(g, t)| g * t).sum();
        Row { coefficients: model.gradient, need: along - model.value + INSIDE, doubt: vec![0.0; at.len()] }
    }

    /// The action near an incumbent for which the least of the linearised margins is largest, at a given share
    /// of additional cost; and that margin.
    fn most_margin(
        &self,
        set: usize,
        incumbent: &[f64],
        push: f64,
        sides: &[(f64, f64)],
        rules: &[Row],
        margins: &[Row],
    ) -> Option<(Vec<f64>, f64)> {
        let Set { weights, integrality, .. } = &self.sets[set];
        let limit = cost_of(self.cost(), weights, incumbent) * (1.0 + push) + 1e-4;
        let reach = |k: usize| (2.0 * push * limit + 1e-3) / weights[k];
        // Integer values stay as they are.
        let near = |k: usize, sign: f64| match integrality.is_integer(k) {
            true => incumbent[k],
            false => (incumbent[k] + sign * reach(k)).clamp(sides[k].0, sides[k].1),
        };
        let lower: Vec<f64> = (0..incumbent.len()).map(|k| near(k, -1.0)).collect();
        let upper: Vec<f64> = (0..incumbent.len()).map(|k| near(k, 1.0)).collect();
        let with = |gained: f64| {
            let mut rows = margins.to_vec();
            rows.iter_mut().for_each(|row| row.need += gained);
            rows.extend_from_slice(rules);
            let program = Program { rows: &rows, weights, cost: self.cost(), lower: &lower, upper: &upper };
            match program.solve() {
                Solution::Optimal { point, .. } => {
                    (cost_of(self.cost(), weights, &point) <= limit).then_some(point)
                }
                _ => None,
            }
        };
        let mut best = with(0.0)?;
        let (mut low, mut high) = (0.0, 1.0);
        while let Some(point) = with(high).filter(|_| high < 1e6) {
            (best, low, high) = (point, high, 4.0 * high);
        }
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            match with(middle) {
                Some(point) => (best, low) = (point, middle),
                None => high = middle,
            }
        }
        (low > 0.0).then_some((best, low))
    }

    /// Adapts a moved change to what is allowed: integer values where required, and only those parts of
    /// the move that keep the requirements met.
    pub(super) fn allowed(&self, set: usize, incumbent: &[f64], moved: Vec<f64>) -> Vec<f64> {
        let integrality = &self.sets[set].integrality;
        let problem = self.settings.problem;
        let feasible = |&i: &usize| feasible_change(problem.features(), i, self.individual[i]);
        let sides = integrality.tightened(self.sets[set].features.iter().map(feasible).unzip());
        let moved = sides.map_or(moved.clone(), |(lower, upper)| integrality.near(&lower, &upper, &moved));
        if self.meets(set, &moved) {
            return moved;
        }
        let mut allowed = incumbent.to_vec();
        for k in 0..moved.len() {
            let before = std::mem::replace(&mut allowed[k], moved[k]);
            if !self.meets(set, &allowed) {
                allowed[k] = before;
            }
        }
        allowed
    }
}

/// The number of a requirement, and an affine upper bound of its value.
pub(super) struct Requirement {
    pub number: usize,
    pub plane: Plane,
}
