//! Requirements of outcomes in the search: constraints, and limits on features that change as a
//! consequence of an action.

use super::boxes::{Cuboid, cost_of, highest};
use super::solve::{Set, Solver};
use crate::action::feasible_change;
use crate::certify::LEAST_MARGIN;
use crate::graph::Interval;
use crate::graph::{Order, Plane, Region};
use crate::margin::counterfactual;
use crate::program::{Program, Row, Solution};
use crate::proof::RuledOut;

/// A box is queued again instead of split if its newly proven cost exceeds its known cost by at least
/// this share.
const WORTHWHILE: f64 = 0.003;
/// The share by which a cost is rounded down, so that the sum that rules out cheaper actions is clearly
/// negative.
const ROUNDED_DOWN: f64 = 1e-4;
/// The amount by which candidates exceed each requirement, in units of about one standard deviation.
const INSIDE: f64 = 1e-7;
/// The number of bisection steps in the search for the largest margin that a cost allows.
const HALVINGS: usize = 14;

impl Solver<'_, '_> {
    /// Whether the outcome of an action meets every requirement, by the definition.
    pub(super) fn meets(&self, set: usize, change: &[f64]) -> bool {
        let problem = self.settings.problem;
        if problem.requirements().is_empty() {
            return true;
        }
        let unperturbed = vec![0.0; self.individual.len()];
        let reached = counterfactual(problem, &self.individual, &self.action(set, change), &unperturbed);
        reached.is_ok_and(|reached| problem.is_met(&self.individual, &reached))
    }

    /// Affine upper bounds over a box of the requirements that some action of it may violate. `None` if
    /// no action meets one of them: then the box is ruled out.
    pub(super) fn open_requirements(&mut self, cuboid: &Cuboid) -> Option<Vec<Requirement>> {
        let region = Region::cuboid(cuboid.lower.clone(), cuboid.upper.clone());
        let mut open = Vec::new();
        for number in 0..self.sets[cuboid.set].requirements.len() {
            let graph = &self.sets[cuboid.set].requirements[number];
            let plane = self.prover.affine.plane(graph, &region);
            let plane = plane.unwrap_or_else(|| self.prover.affine.bound(graph, &region).plane);
            // Below the margin of rounding, so not even actions within rounding of the limit qualify.
            if plane.upper(&region) < -LEAST_MARGIN {
                self.ruled_out.push(RuledOut {
                    features: self.sets[cuboid.set].composer.features().to_vec(),
                    lower: cuboid.lower.clone(),
                    upper: cuboid.upper.clone(),
                    cost: f64::INFINITY,
                    perturbation: vec![0.0; self.individual.len()],
                    cone: None,
                    requirements: vec![(number, 1.0)],
                    share: 0.0,
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

    /// Bounds the cost of a box by a linear program. Its rows are the affine upper bounds of the open
    /// requirements and of the margin under the perturbation of the pool that is worst at the middle.
    /// Returns true if the box needs no further work: it is ruled out, or queued again at a higher cost.
    /// The solution of the program is tried as an incumbent.
    pub(super) fn bound_by_program(
        &mut self,
        cuboid: &Cuboid,
        middle: &[f64],
        requirements: Vec<Requirement>,
    ) -> bool {
        if requirements.is_empty() {
            return false;
        }
        let set = cuboid.set;
        let worst = self.margins(set, middle).first().map(|&(_, k)| k);
        let (limit, cost) = (self.limit(), self.cost());
        let Set { integrality, weights, graphs, .. } = &self.sets[set];
        let weights = weights.clone();
        let Some((lower, upper)) = integrality.tightened(cuboid.shrunk(cost, &weights, limit)) else {
            return false;
        };
        let region = Region::cuboid(lower.clone(), upper.clone());
        let margin =
            worst.map(|k| (self.prover.affine.bound(&graphs[k], &region).plane, self.pool[k].clone()));
        let sum = Sum { requirements, margin };
        let rows = sum.rows();
        let program = Program { rows: &rows, weights: &weights, cost, lower: &lower, upper: &upper };
        let (Solution::Optimal { multipliers, .. } | Solution::Infeasible { multipliers }) = program.solve()
        else {
            return false;
        };
        let proven = program.cost_bound(&multipliers).min(limit);
        for multipliers in sum.candidates(multipliers, &region) {
            if proven < limit && proven * (1.0 - ROUNDED_DOWN) > (1.0 + WORTHWHILE) * cuboid.cost {
                if self.rule_out_by_sum(cuboid, &sum, &multipliers, proven * (1.0 - ROUNDED_DOWN)) {
                    return true;
                }
            } else if self.rule_out_by_sum(cuboid, &sum, &multipliers, limit) {
                return true;
            }
        }
        self.try_solution(set, rows, &weights, &lower, &upper);
        false
    }

    /// Rules out the actions of a box that cost at most `cost_limit`, if the weighted sum of the planes
    /// is negative for all of them.
    fn rule_out_by_sum(&mut self, cuboid: &Cuboid, sum: &Sum, multipliers: &[f64], cost_limit: f64) -> bool {
        let Set { integrality, weights, composer, .. } = &self.sets[cuboid.set];
        let cost = self.cost();
        let queue_again = (cuboid.set, cuboid.lower.clone(), cuboid.upper.clone());
        let Some((lower, upper)) = integrality.tightened(cuboid.shrunk(cost, weights, cost_limit)) else {
            // All its integer-valued actions cost more.
            let (set, lower, upper) = queue_again;
            self.push(set, lower, upper, cost_limit);
            return true;
        };
        let region = Region::cuboid(lower.clone(), upper.clone());
        let largest = multipliers.iter().fold(0.0f64, |most, m| most.max(*m));
        let shares: Vec<f64> = multipliers.iter().map(|m| m / largest).collect();
        let asked = -LEAST_MARGIN * shares.iter().sum::<f64>();
        let most = highest(&sum.plane(&shares, &region), &region, cost, weights, cost_limit);
        if most >= asked || most.is_nan() || asked.is_nan() {
            return false;
        }
        let count = sum.requirements.len();
        let numbered = sum.requirements.iter().zip(&shares).map(|(requirement, &s)| (requirement.number, s));
        let perturbation = sum.margin.as_ref().map(|(_, perturbation)| perturbation.clone());
        self.ruled_out.push(RuledOut {
            features: composer.features().to_vec(),
            lower,
            upper,
            cost: cost_limit,
            perturbation: perturbation.unwrap_or_else(|| vec![0.0; self.individual.len()]),
            cone: None,
            requirements: numbered.filter(|(_, share)| *share > 0.0).collect(),
            share: shares.get(count).copied().unwrap_or(0.0),
        });
        if cost_limit < f64::INFINITY {
            // More expensive actions of the box are still open.
            let (set, lower, upper) = queue_again;
            self.push(set, lower, upper, cost_limit);
        }
        true
    }

    /// Tries, as an incumbent, the cheapest action that meets the rows of a program by at least
    /// [`INSIDE`].
    fn try_solution(
        &mut self,
        set: usize,
        mut rows: Vec<Row>,
        weights: &[f64],
        lower: &[f64],
        upper: &[f64],
    ) {
        rows.iter_mut().for_each(|row| row.need += INSIDE);
        let program = Program { rows: &rows, weights, cost: self.cost(), lower, upper };
        let Solution::Optimal { point, .. } = program.solve() else { return };
        let change = self.sets[set].integrality.near(lower, upper, &point);
        let cost = cost_of(self.cost(), weights, &change);
        let is_cheaper = self.incumbent.as_ref().is_none_or(|found| cost < found.cost);
        if is_cheaper && self.survives(set, &change) {
            self.offer(set, change);
        }
    }

    /// For problems with requirements: the action near an incumbent that has the largest margin for a
    /// given share of additional cost, by linear models of margin and requirements. `None` where there is
    /// none.
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
        let weights = self.sets[set].weights.clone();
        let limit = cost_of(self.cost(), &weights, incumbent) * (1.0 + push) + 1e-4;
        let jets = &mut self.prover.jets;
        let Set { composer, requirements, .. } = &self.sets[set];
        let graphs = requirements.iter().map(|graph| jets.evaluate(graph, incumbent, Order::Gradient));
        let mut models: Vec<_> = graphs.collect();
        models.push(jets.evaluate(&composer.in_change(&worst), incumbent, Order::Gradient));
        let mut rows: Vec<Row> = Vec::with_capacity(models.len());
        for model in models {
            let at: f64 = model.gradient.iter().zip(incumbent).map(|(g, t)| g * t).sum();
            let doubt = vec![0.0; incumbent.len()];
            rows.push(Row { coefficients: model.gradient, need: at - model.value + INSIDE, doubt });
        }
        let reach = |k: usize| (2.0 * push * limit + 1e-3) / weights[k];
        // Integer values stay as they are.
        let near = |k: usize, sign: f64| match self.sets[set].integrality.is_integer(k) {
            true => incumbent[k],
            false => (incumbent[k] + sign * reach(k)).clamp(sides[k].0, sides[k].1),
        };
        let lower: Vec<f64> = (0..incumbent.len()).map(|k| near(k, -1.0)).collect();
        let upper: Vec<f64> = (0..incumbent.len()).map(|k| near(k, 1.0)).collect();
        let base = rows.last()?.need;
        let mut with = |gained: f64| {
            rows.last_mut()?.need = base + gained;
            let program =
                Program { rows: &rows, weights: &weights, cost: self.cost(), lower: &lower, upper: &upper };
            match program.solve() {
                Solution::Optimal { point, .. } => {
                    (cost_of(self.cost(), &weights, &point) <= limit).then_some(point)
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
        (low > 0.0 && self.meets(set, &best)).then_some(best)
    }

    /// Adapts a moved change to what is allowed: integer values where required, and only those parts of
    /// the move that keep the requirements met.
    pub(super) fn allowed(&self, set: usize, incumbent: &[f64], moved: Vec<f64>) -> Vec<f64> {
        let integrality = &self.sets[set].integrality;
        let problem = self.settings.problem;
        let feasible = |&i: &usize| feasible_change(problem.features(), i, self.individual[i]);
        let sides = integrality.tightened(self.settings.sets[set].iter().map(feasible).unzip());
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

/// The planes of a weighted sum: open requirements and, after them, the margin under a perturbation.
struct Sum {
    requirements: Vec<Requirement>,
    margin: Option<(Plane, Vec<f64>)>,
}

impl Sum {
    fn planes(&self) -> impl Iterator<Item = &Plane> {
        let margin = self.margin.iter().map(|(plane, _)| plane);
        self.requirements.iter().map(|requirement| &requirement.plane).chain(margin)
    }

    /// The rows of the linear program: no upper bound may be negative.
    fn rows(&self) -> Vec<Row> {
        let row = |plane: &Plane| {
            let doubt = vec![0.0; plane.linear.len()];
            Row { coefficients: plane.linear.clone(), need: -(plane.constant + plane.error), doubt }
        };
        self.planes().map(row).collect()
    }

    /// Multipliers to try: the given ones and, for each unbounded side, the same with that multiplier of
    /// the margin for which the sum does not depend on the side.
    fn candidates(&self, multipliers: Vec<f64>, region: &Region) -> Vec<Vec<f64>> {
        let mut candidates = Vec::new();
        if let Some((margin, _)) = &self.margin {
            for k in 0..region.inputs() {
                let side = region.side(k);
                if side.lower.is_finite() && side.upper.is_finite() || margin.linear[k] == 0.0 {
                    continue;
                }
                let others = self.requirements.iter().zip(&multipliers);
                let slope: f64 = others.map(|(other, m)| m * other.plane.linear[k]).sum();
                let share = -slope / margin.linear[k];
                if share > 0.0 && share.is_finite() {
                    let mut candidate = multipliers.clone();
                    candidate[self.requirements.len()] = share;
                    candidates.push(candidate);
                }
            }
        }
        candidates.insert(0, multipliers);
        candidates
    }

    /// The weighted sum of the planes, including its rounding error.
    fn plane(&self, shares: &[f64], region: &Region) -> Plane {
        let width = region.inputs();
        let mut sum =
            Plane { linear: vec![0.0; width], constant: 0.0, error: 0.0, range: Interval::EVERYTHING };
        let mut size = 0.0;
        for (plane, &share) in self.planes().zip(shares).filter(|(_, share)| **share > 0.0) {
            sum.constant += share * plane.constant;
            sum.error += share * plane.error;
            size += share * plane.constant.abs();
            for i in 0..width {
                sum.linear[i] += share * plane.linear[i];
                size += share * plane.linear[i].abs() * region.size(i);
            }
        }
        sum.error += 1e-13 * size;
        sum
    }
}
