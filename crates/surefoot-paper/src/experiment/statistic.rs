//! Statistics of all results: means over seeds.

use std::collections::HashMap;

use super::{Measured, Proven, Retrained, Trial, Unit};
use crate::data::{DataSet, Origin};
use crate::training::{Method, Model};

/// The results of all tasks.
#[derive(Clone, Debug)]
pub struct Results {
    /// The units with their results, in order.
    pub measured: Vec<(Unit, Measured)>,
    /// The trials with their results, in order.
    pub retrained: Vec<(Trial, Retrained)>,
    /// The origins of the data sets.
    pub origins: Vec<(DataSet, Origin)>,
    /// The total time of all tasks, as if computed one after the other, in this and earlier runs.
    pub seconds: f64,
}

/// A quantity over seeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Statistic {
    /// Its mean.
    pub mean: f64,
    /// Its standard deviation from seed to seed; 0 if there is one seed only.
    pub deviation: f64,
    /// The number of seeds.
    pub seeds: usize,
}

/// The classifiers that a quantity describes.
pub(crate) type Cell = (DataSet, Model, Method);

impl Statistic {
    /// The summary of some numbers; `None` if there are none.
    pub fn of(values: &[f64]) -> Option<Self> {
        let seeds = values.len();
        if seeds == 0 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / seeds as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let deviation = if seeds > 1 { (squares / (seeds - 1) as f64).sqrt() } else { 0.0 };
        Some(Self { mean, deviation, seeds })
    }
}

/// Counts that compare answers and proofs for the same people.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Comparison {
    /// The number of people.
    pub people: usize,
    /// The paper's method found an action that no attack breaks.
    pub holds: usize,
    /// It found one that an attack breaks.
    pub broken: usize,
    /// An action is certified.
    pub certified: usize,
    /// It is proven that there is none.
    pub impossible: usize,
    /// Neither.
    pub undecided: usize,
    /// Certified actions that an attack breaks nevertheless: errors of the engine.
    pub mistakes: usize,
    /// People with a certified action for whom the paper's method found none that holds.
    pub gained: usize,
    /// People for whom it found an action that no attack breaks although it is proven that none exists:
    /// errors of the engine.
    pub contradicted: usize,
    /// People with both an action that no attack breaks and a certified one.
    pub both: usize,
    /// Their mean cost by the paper's method.
    pub cost: f64,
    /// Their mean certified cost.
    pub certified_cost: f64,
    /// The mean cost of all certified actions.
    pub mean_certified: f64,
    /// The mean gap between that and the proven bound, as a share.
    pub gap: f64,
}

impl Results {
    /// The results of the classifiers of a cell, one for each seed.
    pub(crate) fn of(&self, cell: Cell) -> impl Iterator<Item = (u32, &Measured)> {
        let wanted = move |unit: &Unit| (unit.data, unit.model, unit.method) == cell;
        self.measured.iter().filter(move |(unit, _)| wanted(unit)).map(|(unit, m)| (unit.seed, m))
    }

    /// The data sets with results, in the paper's order.
    pub fn data(&self) -> Vec<DataSet> {
        let has = |data: &DataSet| self.measured.iter().any(|(unit, _)| unit.data == *data);
        DataSet::ALL.into_iter().filter(has).collect()
    }

    fn over_seeds(&self, cell: Cell, quantity: impl Fn(&Measured) -> Option<f64>) -> Option<Statistic> {
        let values: Vec<f64> = self.of(cell).filter_map(|(_, measured)| quantity(measured)).collect();
        Statistic::of(&values)
    }

    /// Accuracy on the test split.
    pub(crate) fn accuracy(&self, cell: Cell) -> Option<Statistic> {
        self.over_seeds(cell, |measured| Some(measured.accuracy))
    }

    /// Matthews correlation on the test split.
    pub(crate) fn mcc(&self, cell: Cell) -> Option<Statistic> {
        self.over_seeds(cell, |measured| Some(measured.mcc))
    }

    /// The share of people with an action.
    pub(crate) fn found(&self, cell: Cell, epsilon: f64) -> Option<Statistic> {
        self.over_seeds(cell, |measured| {
            let cost = &measured.answers(epsilon)?.cost;
            Some(cost.iter().flatten().count() as f64 / cost.len() as f64)
        })
    }

    /// The share of people with an action that no attack breaks.
    pub(crate) fn robust(&self, cell: Cell, epsilon: f64) -> Option<Statistic> {
        self.over_seeds(cell, |measured| {
            let answers = measured.answers(epsilon)?;
            let people = answers.cost.len();
            Some((0..people).filter(|&person| answers.holds(person)).count() as f64 / people as f64)
        })
    }

    /// The share of actions that an attack breaks within the uncertainty.
    pub(crate) fn broken(&self, cell: Cell, epsilon: f64) -> Option<Statistic> {
        self.over_seeds(cell, |measured| {
            let answers = measured.answers(epsilon)?;
            let found = answers.cost.iter().flatten().count();
            let broken = (0..answers.cost.len()).filter(|&person| answers.is_broken(person)).count();
            (found > 0).then(|| broken as f64 / found as f64)
        })
    }

    /// The mean cost of actions.
    pub(crate) fn cost(&self, cell: Cell, epsilon: f64) -> Option<Statistic> {
        self.over_seeds(cell, |measured| mean(measured.answers(epsilon)?.cost.iter().flatten().copied()))
    }

    /// The mean cost of actions of those people who have one both with this classifier and with
    /// that of the usual way of training.
    pub(crate) fn shared_cost(&self, cell: Cell, epsilon: f64) -> Option<Statistic> {
        let (data, model, _) = cell;
        let values: Vec<f64> = self
            .of(cell)
            .filter_map(|(seed, measured)| {
                let (_, usual) = self.of((data, model, Method::Erm)).find(|(other, _)| *other == seed)?;
                let found: HashMap<usize, bool> = usual
                    .rows
                    .iter()
                    .copied()
                    .zip(usual.answers(epsilon)?.cost.iter().map(Option::is_some))
                    .collect();
                let costs = measured.rows.iter().zip(&measured.answers(epsilon)?.cost);
                let shared = costs.filter(|(row, _)| found.get(row).copied().unwrap_or(false));
                mean(shared.filter_map(|(_, cost)| *cost))
            })
            .collect();
        Statistic::of(&values)
    }

    /// The sizes of the smallest perturbations that were found to break actions, under empirical risk
    /// minimisation; actions that nothing breaks are left out.
    pub fn breaks(&self, data: DataSet, model: Model, epsilon: f64) -> Vec<f64> {
        let all = self.of((data, model, Method::Erm)).filter_map(|(_, measured)| measured.answers(epsilon));
        all.flat_map(|answers| answers.smallest_break.iter().flatten().copied()).collect()
    }

    /// Answers and proofs for the same people, over all seeds; nothing if there are no proofs.
    pub(crate) fn comparison(&self, cell: Cell, epsilon: f64) -> Option<Comparison> {
        let mut total = Comparison::default();
        let (mut gap, mut certified_cost) = (0.0, 0.0);
        for (_, measured) in self.of(cell) {
            let (Some(answers), Some(proofs)) = (measured.answers(epsilon), measured.proofs(epsilon)) else {
                continue;
            };
            for (person, proven) in proofs.people.iter().enumerate() {
                total.people += 1;
                let holds = answers.holds(person);
                total.holds += usize::from(holds);
                total.broken += usize::from(answers.is_broken(person));
                match *proven {
                    Proven::Certified { cost, bound, broken } => {
                        total.certified += 1;
                        total.mistakes += usize::from(broken);
                        total.gained += usize::from(!holds);
                        certified_cost += cost;
                        gap += if cost > 0.0 { (cost - bound) / cost } else { 0.0 };
                        if let (true, Some(before)) = (holds, answers.cost[person]) {
                            total.both += 1;
                            total.cost += before;
                            total.certified_cost += cost;
                        }
                    }
                    Proven::Impossible => {
                        total.impossible += 1;
                        total.contradicted += usize::from(holds);
                    }
                    Proven::Undecided => total.undecided += 1,
                }
            }
        }
        total.cost /= total.both.max(1) as f64;
        total.certified_cost /= total.both.max(1) as f64;
        total.mean_certified = certified_cost / total.certified.max(1) as f64;
        total.gap = gap / total.certified.max(1) as f64;
        (total.people > 0).then_some(total)
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.fold((0, 0.0), |(count, sum), value| (count + 1, sum + value));
    (count > 0).then(|| sum / f64::from(count))
}

/// The median of some numbers.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        count if count % 2 == 1 => Some(sorted[middle]),
        _ => Some(0.5 * (sorted[middle - 1] + sorted[middle])),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Answers, Proofs};
    use super::*;

    const CELL: Cell = (DataSet::Loan, Model::Network, Method::Erm);

    fn unit(method: Method, seed: u32) -> Unit {
        Unit { data: DataSet::Loan, model: Model::Network, method, seed }
    }

    fn measured(
        rows: &[usize],
        cost: &[Option<f64>],
        breaks: &[Option<f64>],
        people: Vec<Proven>,
    ) -> Measured {
        let answers = vec![Answers { epsilon: 0.1, cost: cost.to_vec(), smallest_break: breaks.to_vec() }];
        let proofs = vec![Proofs { epsilon: 0.1, people }];
        Measured { accuracy: 0.8, mcc: 0.5, turned_down: 9, rows: rows.to_vec(), answers, proofs }
    }

    #[test]
    fn shares_costs_and_proofs_are_counted() {
        let certified = |cost: f64| Proven::Certified { cost, bound: 0.9 * cost, broken: false };
        let first = measured(
            &[4, 7, 9, 11],
            &[Some(1.0), Some(2.0), None, Some(3.0)],
            &[Some(0.2), Some(0.05), None, None],
            vec![certified(0.8), certified(2.5), Proven::Impossible],
        );
        let second = measured(&[4], &[None], &[None], vec![Proven::Undecided]);
        let other = measured(&[7, 9, 11], &[Some(4.0), Some(9.0), Some(6.0)], &[None; 3], Vec::new());
        let measured = vec![
            (unit(Method::Erm, 0), first),
            (unit(Method::Erm, 1), second),
            (unit(Method::Allr, 0), other),
        ];
        let results = Results { measured, retrained: Vec::new(), origins: Vec::new(), seconds: 0.0 };

        let found = results.found(CELL, 0.1).unwrap();
        assert_eq!((found.mean, found.seeds), (0.375, 2));
        assert!((found.deviation - 0.75 / 2f64.sqrt()).abs() < 1e-12);
        // Of four people two have an action that holds; of three actions one is broken.
        assert_eq!(results.robust(CELL, 0.1).unwrap().mean, 0.25);
        assert_eq!(results.broken(CELL, 0.1), Statistic::of(&[1.0 / 3.0]));
        assert_eq!(results.cost(CELL, 0.1), Statistic::of(&[2.0]));
        // Rows 7 and 11 have an action with both classifiers, row 9 does not.
        assert_eq!(
            results.shared_cost((DataSet::Loan, Model::Network, Method::Allr), 0.1),
            Statistic::of(&[5.0])
        );
        assert_eq!(results.breaks(DataSet::Loan, Model::Network, 0.1), [0.2, 0.05]);

        let comparison = results.comparison(CELL, 0.1).unwrap();
        let Comparison { people, holds, broken, certified, impossible, undecided, .. } = comparison;
        assert_eq!((people, holds, broken, certified, impossible, undecided), (4, 1, 1, 2, 1, 1));
        assert_eq!((comparison.gained, comparison.both, comparison.contradicted), (1, 1, 0));
        assert_eq!((comparison.cost, comparison.certified_cost, comparison.mean_certified), (1.0, 0.8, 1.65));
        assert!((comparison.gap - 0.1).abs() < 1e-12);
        assert_eq!(results.data(), [DataSet::Loan]);
        assert_eq!(results.found(CELL, 0.5), None);
    }

    #[test]
    fn medians_are_in_the_middle() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(&[]), None);
    }
}
