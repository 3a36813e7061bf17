//! Integer values: the changes of a set of features that an individual may make.
//!
//! The change of an integer or binary feature is an integer number of its own units, `k / std` in
//! standardised ones. That of a feature with a step is an integer number of steps, `k / (std / step)`. Columns of a one-hot group change together: from the individual's own category to
//! another, or not at all. Forbidden transitions are excluded from both.

use crate::Cost;
use crate::{Kind, Problem};

/// The integer-valued changes of an intervention set.
#[derive(Clone, Debug)]
pub(crate) struct Integrality {
    /// The steps of each feature of the set; `None` for features without a spacing and for columns of groups.
    steps: Vec<Option<Steps>>,
    groups: Vec<Moves>,
}

/// The steps of one feature.
#[derive(Clone, Debug)]
struct Steps {
    /// The number of steps in one standard deviation.
    steps_per_std: f64,
    /// Numbers of steps that are forbidden.
    holes: Vec<f64>,
    /// Whether every change is forbidden.
    stays: bool,
}

/// The moves of one group.
#[derive(Clone, Debug)]
pub(crate) struct Moves {
    /// Its columns, by their position in the set.
    pub columns: Vec<usize>,
    /// The changes of the columns for each move; staying comes first.
    pub moves: Vec<Vec<f64>>,
}

/// A box: its lower and its upper corner.
pub(crate) type Sides = (Vec<f64>, Vec<f64>);

impl Integrality {
    pub fn new(problem: &Problem, individual: &[f64], set: &[usize]) -> Self {
        let features = problem.features();
        let own = |i: usize| features.feature(i).own_units(individual[i]).round();
        let steps = |&i: &usize| {
            let feature = features.feature(i);
            let spacing = feature.spacing().filter(|_| feature.group.is_none())?;
            let steps_per_std = feature.std / spacing;
            if feature.kind == Kind::Real {
                return Some(Steps { steps_per_std, holes: Vec::new(), stays: false });
            }
            let forbidden = problem.forbidden();
            let holes = forbidden.iter().flat_map(|forbidden| forbidden.forbidden_values(i, own(i)));
            let stays = forbidden.iter().any(|forbidden| forbidden.forbids_leaving(i, own(i)));
            // A fraction of a step is never made.
            let holes = holes.map(|to| (to - own(i)) / spacing).filter(|steps| steps.fract() == 0.0);
            Some(Steps { steps_per_std, holes: holes.collect(), stays })
        };
        let has_group = set.iter().any(|&i| features.feature(i).group.is_some());
        let groups = if has_group { features.groups() } else { Vec::new() };
        let groups = groups.into_iter().filter_map(|group| {
            let columns: Vec<usize> = (0..set.len()).filter(|&k| group.columns.contains(&set[k])).collect();
            let mut moves = vec![vec![0.0; columns.len()]];
            let leaving = columns.iter().position(|&k| own(set[k]) == 1.0);
            for (place, &k) in columns.iter().enumerate() {
                let Some(leaving) = leaving.filter(|leaving| *leaving != place) else { continue };
                let (from, to) = (set[columns[leaving]], set[k]);
                let is_forbidden = problem.forbidden().iter().any(|forbidden| {
                    forbidden.forbids_move(from, to)
                        || forbidden.forbids_step(from, 1.0, 0.0)
                        || forbidden.forbids_step(to, 0.0, 1.0)
                });
                let can = |i: usize| features.feature(i).feasible_steps(individual[i]);
                if is_forbidden || can(from).0 > -1.0 || can(to).1 < 1.0 {
                    continue;
                }
                let mut change = vec![0.0; columns.len()];
                change[leaving] = -1.0 / features.feature(from).std;
                change[place] = 1.0 / features.feature(to).std;
                moves.push(change);
            }
            (!columns.is_empty()).then_some(Moves { columns, moves })
        });
        Self { steps: set.iter().map(steps).collect(), groups: groups.collect() }
    }

    /// Whether a feature of the set changes by steps.
    pub fn is_integer(&self, k: usize) -> bool {
        self.steps[k].is_some() || self.is_category(k)
    }

    /// Whether a feature of the set is a column of a group.
    pub fn is_category(&self, k: usize) -> bool {
        self.groups.iter().any(|group| group.columns.contains(&k))
    }

    /// The smallest change of a feature of the set: zero for a real one; infinite for a category, which
    /// cannot change alone.
    pub fn step(&self, k: usize) -> f64 {
        match &self.steps[k] {
            Some(steps) => 1.0 / steps.steps_per_std,
            None if self.is_category(k) => f64::INFINITY,
            None => 0.0,
        }
    }

    /// The largest change of an integer feature up to which floating point represents every number of
    /// steps, and every half step, exactly; `None` for other features.
    pub fn exact_limit(&self, k: usize) -> Option<f64> {
        self.steps[k].as_ref().map(|steps| 2f64.powi(50) / steps.steps_per_std)
    }

    pub fn groups(&self) -> &[Moves] {
        &self.groups
    }

    /// The smallest box with the same integer-valued actions; `None` if there are none.
    pub fn tightened(&self, (mut lower, mut upper): Sides) -> Option<Sides> {
        for (k, steps) in self.steps.iter().enumerate() {
            let Some(steps) = steps else { continue };
            let (first, last) = steps.within(lower[k], upper[k]);
            // At the end of the numbers of a computer, steps overflow; no change is infinite.
            if first > last || (first == last && first.is_infinite()) {
                return None;
            }
            (lower[k], upper[k]) = (first / steps.steps_per_std, last / steps.steps_per_std);
        }
        for group in &self.groups {
            let mut left = group.within(&lower, &upper).peekable();
            left.peek()?;
            let (mut least, mut most) =
                (vec![f64::INFINITY; group.columns.len()], vec![f64::NEG_INFINITY; group.columns.len()]);
            for change in left {
                for (place, &c) in change.iter().enumerate() {
                    (least[place], most[place]) = (least[place].min(c), most[place].max(c));
                }
            }
            for (place, &k) in group.columns.iter().enumerate() {
                (lower[k], upper[k]) = (least[place], most[place]);
            }
        }
        Some((lower, upper))
    }

    /// The cheapest integer-valued action of a tightened box.
    pub fn cheapest(&self, lower: &[f64], upper: &[f64], cost: Cost, weights: &[f64]) -> Vec<f64> {
        let mut change: Vec<f64> = lower.iter().zip(upper).map(|(&l, &u)| 0.0f64.clamp(l, u)).collect();
        for group in &self.groups {
            let price = |change: &&Vec<f64>| -> f64 {
                let weighted = group.columns.iter().zip(*change).map(|(&k, c)| weights[k] * c.abs());
                weighted.map(|c| if cost == Cost::L1 { c } else { c * c }).sum()
            };
            let cheapest = group.within(lower, upper).min_by(|a, b| price(a).total_cmp(&price(b)));
            cheapest.into_iter().for_each(|cheapest| group.put(cheapest, &mut change));
        }
        change
    }

    /// An integer-valued action of a tightened box, near a given change. A group keeps the given move if
    /// it is one; otherwise it gets another move, and stays only if there is no other.
    pub fn near(&self, lower: &[f64], upper: &[f64], change: &[f64]) -> Vec<f64> {
        let mut near = change.to_vec();
        for (k, steps) in self.steps.iter().enumerate() {
            let Some(steps) = steps else { continue };
            near[k] = steps.nearest(lower[k], upper[k], change[k]) / steps.steps_per_std;
        }
        for group in &self.groups {
            let own: Vec<f64> = group.columns.iter().map(|&k| change[k]).collect();
            let same = group.within(lower, upper).find(|change| **change == own);
            let any = || group.within(lower, upper).last();
            same.or_else(any).into_iter().for_each(|change| group.put(change, &mut near));
        }
        near
    }

    /// The ends of the two halves of an integer side, split near a value; `None` if the side is a single
    /// point or real.
    pub fn halves(&self, lower: &[f64], upper: &[f64], k: usize, at: f64) -> Option<(f64, f64)> {
        if lower[k] == upper[k] || !self.is_integer(k) {
            return None;
        }
        let Some(steps) = &self.steps[k] else { return Some((lower[k], upper[k])) };
        let (first, last) = steps.within(lower[k], upper[k]);
        let middle = (at * steps.steps_per_std).floor().max(first).min(last - 1.0);
        Some((middle / steps.steps_per_std, (middle + 1.0) / steps.steps_per_std))
    }
}

impl Steps {
    /// The first and the last number of steps between two changes that is not forbidden.
    fn within(&self, lower: f64, upper: f64) -> (f64, f64) {
        let (mut first, mut last) =
            ((lower * self.steps_per_std).round(), (upper * self.steps_per_std).round());
        if first / self.steps_per_std < lower {
            first += 1.0;
        }
        if last / self.steps_per_std > upper {
            last -= 1.0;
        }
        if self.stays {
            (first, last) = (first.max(0.0), last.min(0.0));
        }
        while first <= last && self.holes.contains(&first) {
            first += 1.0;
        }
        while first <= last && self.holes.contains(&last) {
            last -= 1.0;
        }
        (first, last)
    }

    /// The number of steps between two changes that is not forbidden and nearest to that of `change`; of two
    /// equally near, the smaller change.
    fn nearest(&self, lower: f64, upper: f64, change: f64) -> f64 {
        let (first, last) = self.within(lower, upper);
        let wanted = change * self.steps_per_std;
        let start = wanted.round().max(first).min(last);
        // The first and the last number are not forbidden, so the loops end.
        let (mut below, mut above) = (start, start);
        while below > first && self.holes.contains(&below) {
            below -= 1.0;
        }
        while above < last && self.holes.contains(&above) {
            above += 1.0;
        }
        let distances = ((below - wanted).abs(), (above - wanted).abs());
        let is_below = distances.0 < distances.1 || (distances.0 == distances.1 && below.abs() < above.abs());
        if is_below { below } else { above }
    }
}

impl Moves {
    /// The moves that lie in a box.
    fn within<'a>(&'a self, lower: &'a [f64], upper: &'a [f64]) -> impl Iterator<Item = &'a Vec<f64>> {
        self.moves.iter().filter(move |change| {
            self.columns.iter().zip(*change).all(|(&k, c)| *c >= lower[k] && *c <= upper[k])
        })
    }

    /// Writes a move into an action.
    pub fn put(&self, change: &[f64], action: &mut [f64]) {
        self.columns.iter().zip(change).for_each(|(&k, &c)| action[k] = c);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Change, Classifier, Feature, Features};

    /// The number of steps to the least number of a computer overflows.
    #[test]
    fn no_change_is_infinite() {
        let debt = Feature::new("debt").scaling(0.0, 2100.0).step(300.0).change(Change::Any);
        let features = Features::new(vec![debt]).unwrap();
        let problem = Problem::new(features, Classifier::linear(vec![1.0], 0.0, 0.5).unwrap()).unwrap();
        let integrality = Integrality::new(&problem, &[0.0], &[0]);
        assert_eq!(integrality.tightened((vec![f64::NEG_INFINITY], vec![f64::MIN])), None);
        let (lower, upper) = integrality.tightened((vec![f64::NEG_INFINITY], vec![-1.0])).unwrap();
        assert_eq!((lower[0], upper[0]), (f64::NEG_INFINITY, -1.0));
    }

    #[test]
    fn the_nearest_step_is_that_of_an_enumeration() {
        let all: Vec<f64> = (-3..=3).map(f64::from).collect();
        for forbidden in 0..1 << all.len() {
            let holes: Vec<f64> =
                (0..all.len()).filter(|k| forbidden >> k & 1 == 1).map(|k| all[k]).collect();
            let steps = Steps { steps_per_std: 2.0, holes: holes.clone(), stays: false };
            let mut allowed: Vec<f64> = all.iter().copied().filter(|step| !holes.contains(step)).collect();
            // Of equally near numbers the first is the smaller change.
            allowed.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
            for quarter in -16..=16 {
                let wanted = f64::from(quarter) / 4.0;
                let distance = |step: &&f64| (**step - wanted).abs();
                let Some(&nearest) = allowed.iter().min_by(|a, b| distance(a).total_cmp(&distance(b))) else {
                    continue;
                };
                let found = steps.nearest(-1.5, 1.5, wanted / 2.0);
                let is_same = (found - wanted).abs() == (nearest - wanted).abs() && allowed.contains(&found);
                assert!(is_same, "{found} instead of {nearest} for {wanted} without {holes:?}");
                // Rounding decides between two neighbours that are both allowed.
                if holes.contains(&wanted.round()) {
                    assert_eq!(found.abs(), nearest.abs(), "{wanted} without {holes:?}");
                }
            }
        }
    }

    #[test]
    fn a_forbidden_step_is_left_downwards_if_that_is_nearer() {
        let steps = Steps { steps_per_std: 1.0, holes: vec![3.0, 4.0], stays: false };
        assert_eq!(steps.nearest(0.0, 9.0, 2.8), 2.0);
        assert_eq!(steps.nearest(0.0, 9.0, 3.4), 2.0);
        assert_eq!(steps.nearest(0.0, 9.0, 3.6), 5.0);
        assert_eq!(steps.nearest(3.0, 9.0, 3.2), 5.0);
        let downwards = Steps { steps_per_std: 1.0, holes: vec![-3.0], stays: false };
        assert_eq!(downwards.nearest(-9.0, 0.0, -3.0), -2.0);
        assert_eq!(downwards.nearest(-9.0, -3.0, -3.0), -4.0);
    }
}
