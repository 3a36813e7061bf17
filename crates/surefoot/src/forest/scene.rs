//! One individual who acts on one set of features.

use std::cmp::Ordering;

use super::flat::{Cell, Forest};

/// How far beyond a threshold a perturbation leads, relative to `1 + |x|`.
const BEYOND: f64 = 2e-7;

/// The set of perturbations: the ball of a p-norm, after the weights of the norm are multiplied.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ball {
    /// The exponent p: 1, 2 or infinity.
    pub power: f64,
    pub radius: f64,
}

impl Ball {
    /// What a coordinate adds to the size of a perturbation. A perturbation is in the ball iff the sum of its
    /// terms is at most [`Ball::limit`].
    #[inline]
    pub fn term(&self, size: f64) -> f64 {
        match self.power {
            1.0 => size,
            2.0 => size * size,
            _ if size <= self.radius => 0.0,
            _ => f64::INFINITY,
        }
    }

    pub fn limit(&self) -> f64 {
        match self.power {
            1.0 => self.radius,
            2.0 => self.radius * self.radius,
            _ => 0.0,
        }
    }

    /// The largest size of one coordinate that adds at most this.
    pub fn size(&self, term: f64) -> f64 {
        match self.power {
            1.0 => term,
            2.0 => term.max(0.0).sqrt(),
            _ => self.radius,
        }
    }

    /// The same ball with another radius.
    pub fn with_radius(self, radius: f64) -> Self {
        Self { radius: radius.max(0.0), ..self }
    }

    /// The norm of a row in the dual space: the greatest value of `row . y` over the ball of radius 1.
    pub fn dual(&self, row: impl Iterator<Item = f64>) -> f64 {
        match self.power {
            1.0 => row.fold(0.0, |most, r| most.max(r.abs())),
            2.0 => row.map(|r| r * r).sum::<f64>().sqrt(),
            _ => row.map(f64::abs).sum(),
        }
    }
}

/// An individual who acts on a set of features, in front of a forest.
///
/// Causal models are linear. A perturbation D and changes a lead to the inputs
///
/// ```text
/// z = x + effects a + d,    d_i = sum over causes j of c_ij d_j + D_i  for live features, else 0.
/// ```
#[derive(Clone, Debug)]
pub(crate) struct Scene<'f> {
    pub forest: &'f Forest,
    /// The individual.
    pub x: Vec<f64>,
    /// The features of the set.
    pub set: Vec<usize>,
    /// For each feature: the changes that move it, by their position in the set, with their total effects.
    pub effects: Vec<Vec<(usize, f64)>>,
    /// For each feature: the features whose deviations it follows, with their coefficients.
    pub causes: Vec<Vec<(usize, f64)>>,
    /// Whether a perturbation of the feature reaches the forest.
    pub live: Vec<bool>,
    /// The features in causal order.
    pub order: Vec<usize>,
    /// The weight of each feature in the norm of perturbations.
    pub weights: Vec<f64>,
    pub ball: Ball,
    /// The weight of each feature of the set in the cost.
    pub prices: Vec<f64>,
    /// Whether the cost is the Euclidean length rather than the sum.
    pub is_squared: bool,
    /// For each feature: whether it follows others or others follow it.
    pub linked: Vec<bool>,
    /// For each feature: the greatest deviation over the ball of radius 1.
    pub spreads: Vec<f64>,
    /// For each feature: whether its value follows from the action without rounding errors that the
    /// definition of the margin does not have.
    pub exact: Vec<bool>,
}

impl<'f> Scene<'f> {
    /// Fills in what follows from the other fields.
    pub fn complete(mut self) -> Self {
        let n = self.x.len();
        self.linked = vec![false; n];
        for i in 0..n {
            for &(j, _) in &self.causes[i] {
                (self.linked[i], self.linked[j]) = (true, true);
            }
        }
        // Rows of the total effects of perturbations.
        let mut rows: Vec<Vec<f64>> = vec![Vec::new(); n];
        for &i in &self.order {
            let mut row = vec![0.0; n];
            if self.live[i] {
                row[i] = 1.0;
                for &(j, c) in &self.causes[i] {
                    row.iter_mut().zip(&rows[j]).for_each(|(r, e)| *r += c * e);
                }
            }
            rows[i] = row;
        }
        let spread = |row: &Vec<f64>| self.ball.dual(row.iter().zip(&self.weights).map(|(r, w)| r / w));
        self.spreads = rows.iter().map(spread).collect();
        let is_plain = |i: usize| match self.effects[i].as_slice() {
            [] => true,
            [(k, effect)] => self.set[*k] == i && *effect == 1.0,
            _ => false,
        };
        let is_still = |i: usize| self.ball.radius == 0.0 || !self.live[i];
        self.exact = (0..n).map(|i| is_still(i) && is_plain(i)).collect();
        self
    }

    /// The same scene with a ball of another radius.
    pub fn with_radius(&self, radius: f64) -> Self {
        Self { ball: self.ball.with_radius(radius), ..self.clone() }.complete()
    }

    /// Whether every input follows its own change alone.
    pub fn is_plain(&self) -> bool {
        let is_own = |(i, effects): (usize, &Vec<(usize, f64)>)| match effects.as_slice() {
            [] => true,
            [(k, effect)] => self.set[*k] == i && *effect == 1.0,
            _ => false,
        };
        !self.is_linked() && self.effects.iter().enumerate().all(is_own)
    }

    pub fn is_linked(&self) -> bool {
        self.linked.iter().any(|&linked| linked)
    }

    /// Whether a threshold lies where an input may be that a change moves, if inputs without perturbations are in a box.
    pub fn leads_over(&self, k: usize, reach: &Cell) -> bool {
        (0..self.x.len()).filter(|&i| self.effects[i].iter().any(|&(mover, _)| mover == k)).any(|i| {
            let most = self.spreads[i] * self.ball.radius + BEYOND * (1.0 + self.x[i].abs());
            let thresholds = self.forest.thresholds(i);
            let first = thresholds.partition_point(|&t| t < reach.lower[i] - most);
            thresholds.get(first).is_some_and(|&t| t <= reach.upper[i] + most)
        })
    }

    /// The individual after an action, without a perturbation.
    pub fn centre(&self, change: &[f64]) -> Vec<f64> {
        let of = |(x, effects): (&f64, &Vec<(usize, f64)>)| {
            effects.iter().fold(*x, |sum, &(k, effect)| sum + effect * change[k])
        };
        self.x.iter().zip(&self.effects).map(of).collect()
    }

    /// The point to which a perturbation leads from a centre.
    pub fn perturbed(&self, centre: &[f64], perturbation: &[f64]) -> Vec<f64> {
        let mut deviations = vec![0.0; centre.len()];
        for &i in self.order.iter().filter(|&&i| self.live[i]) {
            let from: f64 = self.causes[i].iter().map(|&(j, c)| c * deviations[j]).sum();
            deviations[i] = from + perturbation[i];
        }
        centre.iter().zip(deviations).map(|(c, d)| c + d).collect()
    }

    /// The perturbation that leads from the centre to a point, and its size; `None` if there is none.
    pub fn perturbation(&self, centre: &[f64], point: &[f64]) -> Option<(Vec<f64>, f64)> {
        let mut perturbation = vec![0.0; centre.len()];
        let mut sum = 0.0;
        for i in 0..centre.len() {
            let deviation = point[i] - centre[i];
            if !self.live[i] {
                if deviation != 0.0 {
                    return None;
                }
                continue;
            }
            let from_causes: f64 = self.causes[i].iter().map(|&(j, c)| c * (point[j] - centre[j])).sum();
            perturbation[i] = deviation - from_causes;
            sum += self.ball.term((perturbation[i] * self.weights[i]).abs());
        }
        Some((perturbation, sum))
    }

    /// The perturbation that leads from the centre a little further than to a point, where the score is the same,
    /// so that rounding errors do not lead back over a threshold; `None` if it is not in the ball.
    pub fn beyond(&self, centre: &[f64], point: &[f64]) -> Option<Vec<f64>> {
        let cell = self.forest.cell(point);
        let further = |i: usize| {
            let mut room = BEYOND * (1.0 + point[i].abs());
            if self.ball.power == f64::INFINITY && !self.linked[i] {
                room = room.min((self.ball.radius / self.weights[i] - (point[i] - centre[i]).abs()).max(0.0));
            }
            match point[i].total_cmp(&centre[i]) {
                Ordering::Less => point[i] - room.min(0.5 * (point[i] - cell.lower[i])),
                Ordering::Equal => point[i],
                Ordering::Greater => point[i] + room.min(0.5 * (cell.upper[i] - point[i])),
            }
        };
        let point: Vec<f64> = (0..point.len()).map(further).collect();
        let (perturbation, size) = self.perturbation(centre, &point)?;
        (size <= self.ball.limit()).then_some(perturbation)
    }

    /// What one change adds to the cost, before the root of squares.
    #[inline]
    pub fn price(&self, k: usize, change: f64) -> f64 {
        let weighted = self.prices[k] * change.abs();
        if self.is_squared { weighted * weighted } else { weighted }
    }

    /// The sum of prices of a change.
    pub fn spent(&self, change: &[f64]) -> f64 {
        change.iter().enumerate().map(|(k, &change)| self.price(k, change)).sum()
    }

    /// The cost of a sum of prices.
    pub fn cost(&self, spent: f64) -> f64 {
        if self.is_squared { spent.max(0.0).sqrt() } else { spent }
    }

    /// The sum of prices of a cost.
    pub fn budget(&self, cost: f64) -> f64 {
        if self.is_squared { cost * cost } else { cost }
    }

    /// Room for the rounding of a point in one input.
    pub fn slack(&self, i: usize, value: f64) -> f64 {
        match self.exact[i] {
            true => 0.0,
            false => 1e-13 * (1.0 + self.x[i].abs() + value.abs()),
        }
    }
}
