//! Integer values and steps in the checker. The change of an integer feature is a whole number of own units, that of
//! a feature with a step a whole number of steps. Every such action is the middle of a cell that extends half a
//! step to either side. So boxes of actions cover these actions if and only if they cover the cells.

use super::cover::Sides;
use super::effort::allowed_change;
use super::{Fault, Stop};
use crate::{Action, Feature, Kind, Problem};

/// The integer-valued actions of an individual on some features.
pub(super) struct Cells<'a> {
    problem: &'a Problem,
    individual: &'a [f64],
    features: &'a [usize],
    groups: Vec<Group>,
}

/// The columns of a group among the features, and the change of each column, in own units, for each move.
struct Group {
    places: Vec<usize>,
    moves: Vec<Vec<f64>>,
}

impl<'a> Cells<'a> {
    pub fn new(problem: &'a Problem, individual: &'a [f64], features: &'a [usize]) -> Self {
        let mut cells = Self { problem, individual, features, groups: Vec::new() };
        for group in problem.features().groups() {
            let places: Vec<usize> =
                (0..features.len()).filter(|&k| group.columns.contains(&features[k])).collect();
            // All moves from one column to another, and staying.
            let mut moves = vec![vec![0.0; places.len()]];
            for leaving in 0..places.len() {
                for entering in 0..places.len() {
                    let mut steps = vec![0.0; places.len()];
                    (steps[leaving], steps[entering]) = (-1.0, 1.0);
                    if leaving != entering {
                        moves.push(steps);
                    }
                }
            }
            let columns: Vec<usize> = places.iter().map(|&k| features[k]).collect();
            moves.retain(|steps| allowed_move(problem, individual, &columns, steps));
            cells.groups.push(Group { places, moves });
        }
        cells.groups.retain(|group| !group.places.is_empty());
        cells
    }

    /// The number of steps in a standard deviation; `None` for features that change by any amount.
    fn unit(&self, k: usize) -> Option<f64> {
        steps_of(self.problem.features().feature(self.features[k]))
    }

    /// The first and the last number of steps between two changes, and the number of steps in a standard deviation.
    fn within(&self, k: usize, (lower, upper): &Sides) -> Option<(f64, f64, f64)> {
        let unit = self.unit(k)?;
        let (mut first, mut last) = ((lower[k] * unit).round(), (upper[k] * unit).round());
        // Decided by comparison with the changes themselves, to be independent of the product's rounding.
        if first / unit < lower[k] {
            first += 1.0;
        }
        if last / unit > upper[k] {
            last -= 1.0;
        }
        Some((first, last, unit))
    }

    /// The cells of all integer values in a box; `None` if there are none.
    pub fn cells(&self, sides: &Sides) -> Option<Sides> {
        self.ends(sides, 0.5)
    }

    /// The smallest box around the integer values of a part; `None` if there are none.
    pub fn values(&self, part: &Sides) -> Option<Sides> {
        self.ends(part, 0.0)
    }

    fn ends(&self, sides: &Sides, beyond: f64) -> Option<Sides> {
        let mut ends = sides.clone();
        for k in 0..self.features.len() {
            let Some((first, last, unit)) = self.within(k, sides) else { continue };
            if !(first <= last) {
                return None;
            }
            (ends.0[k], ends.1[k]) = ((first - beyond) / unit, (last + beyond) / unit);
        }
        Some(ends)
    }

    /// The smallest box around the integer-valued actions of a part, with groups moved as a whole; `None` if
    /// there are none.
    pub fn hull(&self, part: &Sides) -> Option<Sides> {
        let mut hull = self.values(part)?;
        for Group { places, moves } in &self.groups {
            let changes = moves.iter().map(|steps| {
                let change = |(steps, &k): (&f64, &usize)| self.unit(k).map_or(0.0, |unit| steps / unit);
                steps.iter().zip(places).map(change).collect::<Vec<f64>>()
            });
            let is_inside = |change: &Vec<f64>| {
                change.iter().zip(places).all(|(c, &k)| *c >= part.0[k] && *c <= part.1[k])
            };
            let inside: Vec<Vec<f64>> = changes.filter(is_inside).collect();
            if inside.is_empty() {
                return None;
            }
            for (place, &k) in places.iter().enumerate() {
                let column = inside.iter().map(|change| change[place]);
                hull.0[k] = column.clone().fold(f64::INFINITY, f64::min);
                hull.1[k] = column.fold(f64::NEG_INFINITY, f64::max);
            }
        }
        Some(hull)
    }

    /// The cheapest integer-valued action of a part; `None` if there is none.
    pub fn cheapest(&self, part: &Sides) -> Option<Action> {
        let (lower, upper) = self.values(part)?;
        let mut change: Vec<f64> = lower.iter().zip(&upper).map(|(&l, &u)| 0.0f64.max(l).min(u)).collect();
        for k in 0..self.features.len() {
            let i = self.features[k];
            let Some((first, last, unit)) = self.within(k, part) else { continue };
            if self.problem.features().feature(i).group.is_some() {
                continue;
            }
            // The value nearest to zero, unless it is forbidden.
            let mut steps = 0.0f64.max(first).min(last);
            while !allowed_steps(self.problem, self.individual, i, steps) {
                let stays = self.problem.forbidden().iter().any(|rule| {
                    let own = self.problem.features().feature(i).own_units(self.individual[i]).round();
                    rule.forbids_leaving(i, own)
                });
                let next = if first > 0.0 { steps + 1.0 } else { steps - 1.0 };
                if stays || next < first || next > last {
                    return None;
                }
                steps = next;
            }
            change[k] = steps / unit;
        }
        let features = self.features.to_vec();
        for Group { places, moves } in &self.groups {
            let changes = moves.iter().map(|steps| {
                let change = |(steps, &k): (&f64, &usize)| self.unit(k).map_or(0.0, |unit| steps / unit);
                steps.iter().zip(places).map(change).collect::<Vec<f64>>()
            });
            let inside = changes
                .filter(|change| change.iter().zip(places).all(|(c, &k)| *c >= part.0[k] && *c <= part.1[k]));
            let columns: Vec<usize> = places.iter().map(|&k| features[k]).collect();
            let price = |change: &Vec<f64>| {
                let alone = Action { features: columns.clone(), change: change.clone() };
                self.problem.cost().of(self.problem.features(), &alone)
            };
            let cheapest = inside.min_by(|a, b| price(a).total_cmp(&price(b)))?;
            places.iter().zip(cheapest).for_each(|(&k, c)| change[k] = c);
        }
        Some(Action { features, change })
    }
}

/// The number of steps in a standard deviation: of an integer or binary feature one for each of its own units, of one
/// with a step as many as fit; `None` where a change may be any number.
fn steps_of(feature: &Feature) -> Option<f64> {
    match (feature.step, feature.kind) {
        (Some(step), _) => Some(feature.std / step),
        (None, Kind::Real) => None,
        (None, Kind::Integer | Kind::Binary) => Some(feature.std),
    }
}

/// Whether transitions allow a feature to change by a number of steps.
fn allowed_steps(problem: &Problem, individual: &[f64], i: usize, steps: f64) -> bool {
    let feature = problem.features().feature(i);
    let own = feature.own_units(individual[i]).round();
    // Transitions are between whole numbers, of features whose values are whole.
    let to = own + steps * feature.step.unwrap_or(1.0);
    !problem.forbidden().iter().any(|rule| rule.forbids_step(i, own, to))
}

/// Whether columns of a group may change by `steps` own units: not at all, or from the individual's own
/// column to another one that is allowed.
fn allowed_move(problem: &Problem, individual: &[f64], columns: &[usize], steps: &[f64]) -> bool {
    let own = |i: usize| problem.features().feature(i).own_units(individual[i]).round();
    let left: Vec<usize> = (0..columns.len()).filter(|&k| steps[k] == -1.0).map(|k| columns[k]).collect();
    let entered: Vec<usize> = (0..columns.len()).filter(|&k| steps[k] == 1.0).map(|k| columns[k]).collect();
    match (&left[..], &entered[..]) {
        ([], []) => steps.iter().all(|steps| *steps == 0.0),
        (&[from], &[to]) => {
            let others = steps.iter().filter(|steps| **steps != 0.0).count() == 2;
            let can = |i: usize, steps: f64| {
                let (lowest, highest) = allowed_change(problem, individual, i);
                let change = steps / problem.features().feature(i).std;
                change >= lowest && change <= highest && allowed_steps(problem, individual, i, steps)
            };
            let is_forbidden = problem.forbidden().iter().any(|rule| rule.forbids_move(from, to));
            others && own(from) == 1.0 && own(to) == 0.0 && can(from, -1.0) && can(to, 1.0) && !is_forbidden
        }
        _ => false,
    }
}

/// Verifies that an action changes features by whole numbers of steps where required, and makes no forbidden
/// transition.
pub(super) fn verify_integers(problem: &Problem, individual: &[f64], action: &Action) -> Result<(), Stop> {
    let features = problem.features();
    let steps = |i: usize| {
        let place = action.features.iter().position(|&named| named == i);
        place.map_or(0.0, |k| action.change[k] * features.feature(i).std)
    };
    for &i in &action.features {
        let feature = features.feature(i);
        let Some(unit) = steps_of(feature) else { continue };
        let place = action.features.iter().position(|&named| named == i);
        let change = place.map_or(0.0, |k| action.change[k] * unit);
        let whole = change.round();
        let is_integer = (change - whole).abs() <= 1e-9 * whole.abs().max(1.0);
        if !is_integer || feature.group.is_none() && !allowed_steps(problem, individual, i, whole) {
            let change = change * feature.step.unwrap_or(1.0);
            return Err(Stop::Wrong(Fault::NotInteger { feature: feature.name.clone(), change }));
        }
    }
    for group in features.groups() {
        let changes: Vec<f64> = group.columns.iter().map(|&i| steps(i).round()).collect();
        if !allowed_move(problem, individual, &group.columns, &changes) {
            return Err(Stop::Wrong(Fault::NotACategory { group: group.name }));
        }
    }
    Ok(())
}
