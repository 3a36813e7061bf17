//! Undecided features in the checker: those that an action may change or leave to follow their causes.
//!
//! Where it is open whether actions change a feature u, the inputs of a graph are not the changes t but
//!
//! ```text
//! y_u = t_u + lambda_u sum_k b_uk y_k     with any lambda_u from 0 (held) to 1 (following its causes).
//! ```
//!
//! The effects `b_uk` are taken from the definition: what becomes of u when k alone changes by one and all other
//! features are held. That this is the whole effect requires linear equations between actionable features and u.
//!
//! The check decides features where that helps: an action that changes u holds it (lambda 0), and one that does not lets it
//! follow its causes (`t_u = 0` and lambda 1) or holds it where it is.
//!
//! A linear function `a.y` is bounded from below by what each unit of each change contributes at most to `-a.y`: its
//! own coefficient, and what those followers contribute that gain from following it.

use super::ball::{Ball, Shape};
use super::{Fault, Stop};
use crate::margin::outcome;
use crate::{Action, ActionKind, Problem, Scm};

/// The rounding error of effects, relative to them and to the largest value of the individual.
const ROOM: f64 = 1e-12;
/// Relative room for the rounding of sums of contributions.
const ROUNDING: f64 = 1e-13;
/// The number of steps in the search for the best multiplier of a round ball.
const STEPS: usize = 24;

/// The features of a set that may follow others or do, causes before effects.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Followers(Vec<Follower>);

#[derive(Clone, Debug, PartialEq)]
struct Follower {
    input: usize,
    /// What others have on it.
    effects: Vec<Effect>,
    /// Whether it is decided that it follows its causes.
    follows: bool,
}

/// The change per unit of another input, with an error.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Effect {
    cause: usize,
    size: f64,
    error: f64,
}

/// What a unit of one change contributes at most, and the magnitude of the terms that were added up.
#[derive(Clone, Copy, Debug, Default)]
struct Gain {
    up: f64,
    down: f64,
    magnitude: f64,
}

impl Followers {
    /// The undecided ones of some features. An error unless they follow by linear equations that are certain.
    pub fn new(
        problem: &Problem,
        individual: &[f64],
        features: &[usize],
        undecided: &[usize],
        part: usize,
    ) -> Result<Self, Stop> {
        if undecided.is_empty() {
            return Ok(Self::default());
        }
        let wrong = || Stop::Wrong(Fault::Undecided { part });
        let [scm] = problem.causal_models()[..] else { return Err(wrong()) };
        let is_certain = problem.joint().is_none_or(|joint| joint.has_certain_effects());
        if problem.action_kind() != ActionKind::Relative || !is_certain {
            return Err(wrong());
        }
        let is_linear = follows_linearly(problem, scm);
        let largest = individual.iter().fold(1.0f64, |most, x| most.max(x.abs()));
        let mut followers = Vec::new();
        for &feature in scm.causal_order().iter().filter(|feature| undecided.contains(feature)) {
            let input = features.iter().position(|&i| i == feature).ok_or_else(wrong)?;
            if !is_linear[feature] {
                return Err(wrong());
            }
            let others: Vec<usize> = features.iter().copied().filter(|&i| i != feature).collect();
            let value_after = |changed: Option<usize>| {
                let change = others.iter().map(|&i| f64::from(changed == Some(i))).collect();
                let action = Action { features: others.clone(), change };
                outcome(problem, individual, &action).map(|reached| reached[feature])
            };
            let unchanged = value_after(None)?;
            let mut effects = Vec::new();
            for (cause, &i) in features.iter().enumerate().filter(|(cause, _)| *cause != input) {
                let size = value_after(Some(i))? - unchanged;
                // Exactly zero where nothing leads from one to the other.
                if size != 0.0 {
                    let error = ROOM * (size.abs() + largest);
                    effects.push(Effect { cause, size, error });
                }
            }
            followers.push(Follower { input, effects, follows: false });
        }
        match followers.len() == undecided.len() {
            true => Ok(Self(followers)),
            false => Err(wrong()),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Without those that every action of a box changes, and so holds.
    pub fn within(&self, (lower, upper): (&[f64], &[f64])) -> Self {
        let may_stay = |f: &&Follower| lower[f.input] <= 0.0 && upper[f.input] >= 0.0;
        Self(self.0.iter().filter(may_stay).cloned().collect())
    }

    /// The inputs for which it is open whether they follow.
    pub fn open(&self) -> impl Iterator<Item = usize> {
        self.0.iter().filter(|follower| !follower.follows).map(|follower| follower.input)
    }

    /// The effects of all inputs on one that may follow them.
    pub fn effects_on(&self, input: usize, inputs: usize) -> Vec<f64> {
        let mut row = vec![0.0; inputs];
        let effects = self.0.iter().filter(|follower| follower.input == input).flat_map(|f| &f.effects);
        effects.for_each(|effect| row[effect.cause] = effect.size);
        row
    }

    /// The same if it is decided whether an input follows its causes.
    pub fn with(&self, input: usize, follows: bool) -> Self {
        let mut decided = self.clone();
        match follows {
            true => decided.0.iter_mut().filter(|f| f.input == input).for_each(|f| f.follows = true),
            false => decided.0.retain(|f| f.input != input),
        }
        decided
    }

    /// What each unit of each change contributes at most to a row, whose coefficients are known up to `doubt`.
    fn gains(&self, row: &[f64], doubt: &[f64]) -> Vec<Gain> {
        let own = |(&a, &d): (&f64, &f64)| Gain { up: a + d, down: d - a, magnitude: a.abs() + d };
        let mut gains: Vec<Gain> = row.iter().zip(doubt).map(own).collect();
        for Follower { input, effects, follows } in self.0.iter().rev() {
            let Gain { mut up, mut down, magnitude } = gains[*input];
            if !follows {
                (up, down) = (up.max(0.0), down.max(0.0));
            }
            for &Effect { cause, size, error } in effects {
                let (same, other) = if size > 0.0 { (up, down) } else { (down, up) };
                // Within its error, the effect may be larger, smaller or of the other sign.
                let doubt = error * up.abs().max(down.abs());
                gains[cause].up += size.abs() * same + doubt;
                gains[cause].down += size.abs() * other + doubt;
                gains[cause].magnitude += (size.abs() + error) * magnitude;
            }
        }
        gains
    }

    /// A lower bound of `linear . y` over the changes of a box, in a ball if there is one.
    pub fn least(
        &self,
        (lower, upper): (&[f64], &[f64]),
        ball: Option<&Ball>,
        linear: &[f64],
        doubt: &[f64],
    ) -> f64 {
        let opposite: Vec<f64> = linear.iter().map(|a| -a).collect();
        let gains = self.gains(&opposite, doubt);
        let sides = Sides { lower, upper, gains: &gains };
        let of_box = sides.most(|_, _| 0.0, 0.0);
        let within = match ball {
            Some(ball) if ball.shape == Shape::L1 => sides.most_in_sum(ball),
            Some(ball) if ball.shape == Shape::L2 => sides.most_in_length(ball),
            _ => f64::INFINITY,
        };
        let most = of_box.min(within);
        if most.is_nan() { f64::NEG_INFINITY } else { -most }
    }
}

/// For each feature, whether it follows from actions by linear equations alone, or not at all.
fn follows_linearly(problem: &Problem, scm: &Scm) -> Vec<bool> {
    let actionable = problem.features().actionable();
    let nonlinear = scm.nonlinear();
    let mut is_linear = vec![true; problem.features().len()];
    for &i in scm.causal_order() {
        let follows = actionable.iter().any(|&cause| cause != i && scm.is_downstream(i, cause));
        is_linear[i] =
            !follows || !nonlinear.contains(&i) && scm.parents(i).iter().all(|&parent| is_linear[parent]);
    }
    is_linear
}

/// A box of changes with what a unit of each contributes.
struct Sides<'a> {
    lower: &'a [f64],
    upper: &'a [f64],
    gains: &'a [Gain],
}

impl Sides<'_> {
    /// An upper bound of the sum of contributions less the prices of the changes, plus what is given. Prices are
    /// linear on either side of zero.
    fn most(&self, price: impl Fn(usize, f64) -> f64, given: f64) -> f64 {
        let (mut sum, mut size) = (given, given.abs());
        for (k, gain) in self.gains.iter().enumerate() {
            let (l, u) = (self.lower[k], self.upper[k]);
            let mut best = f64::NEG_INFINITY;
            let mut far = 0.0f64;
            for t in [l, u, 0.0f64.max(l).min(u)] {
                let along = if t > 0.0 { gain.up } else { gain.down };
                let term = if along == 0.0 || t == 0.0 { 0.0 } else { along * t.abs() };
                let paid = price(k, t);
                best = best.max(term - paid);
                if t.is_finite() {
                    far = far.max(gain.magnitude * t.abs() + paid);
                }
            }
            sum += best;
            size += far;
        }
        sum + ROUNDING * size
    }

    /// By multipliers m of an l1 ball: at best one at which a contribution is worth its price.
    fn most_in_sum(&self, ball: &Ball) -> f64 {
        let ratios = self.gains.iter().zip(&ball.weights).flat_map(|(gain, w)| [gain.up / w, gain.down / w]);
        let bound = |m: f64| self.most(|k, t| m * ball.weights[k] * t.abs(), m * ball.radius);
        ratios.filter(|m| *m >= 0.0).map(bound).fold(f64::INFINITY, f64::min)
    }

    /// By multipliers m of a round ball, with the price `m (w t)^2 / 2`.
    fn most_in_length(&self, ball: &Ball) -> f64 {
        let bound = |m: f64| {
            let given = 0.5 * m * ball.radius * ball.radius;
            let (mut sum, mut size, mut used) = (given, given, 0.0);
            for (k, gain) in self.gains.iter().enumerate() {
                let w = ball.weights[k];
                let along = |gain: f64, from: f64, to: f64| {
                    let t = (gain / (m * w * w)).max(from).min(to);
                    let square = (w * t) * (w * t);
                    (gain * t - 0.5 * m * square, t, square)
                };
                let (l, u) = (self.lower[k], self.upper[k]);
                let mut best = (f64::NEG_INFINITY, 0.0, 0.0);
                if u >= 0.0 {
                    best = along(gain.up, l.max(0.0), u);
                }
                if l <= 0.0 {
                    let down = along(gain.down, (-u).max(0.0), -l);
                    best = if down.0 > best.0 { down } else { best };
                }
                sum += best.0;
                size += gain.magnitude * best.1 + 0.5 * m * best.2;
                used += best.2;
            }
            (sum + ROUNDING * size, used)
        };
        let squares =
            self.gains.iter().zip(&ball.weights).map(|(gain, w)| (gain.up.max(gain.down) / w).powi(2));
        let (mut low, mut high) = (0.0, squares.sum::<f64>().sqrt() / ball.radius);
        let mut best = f64::INFINITY;
        let mut m: f64 = high;
        for _ in 0..STEPS {
            if !(m > 0.0 && m.is_finite()) {
                break;
            }
            let (most, used) = bound(m);
            best = best.min(most);
            if used > ball.radius * ball.radius {
                low = m;
                high = if low >= high { 4.0 * low } else { high };
            } else {
                high = m;
            }
            m = 0.5 * (low + high);
        }
        best
    }
}
