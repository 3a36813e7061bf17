//! The answer for one person: an action that is proven to hold, a proof that there is none, or neither.

use std::fmt;

use crate::{Action, Problem};

/// The answer for one individual.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The classifier is favourable already.
    AlreadyFavourable,
    /// An action that is proven to hold.
    Found(Recourse),
    /// An action of a method that proves nothing.
    Unproved(Candidate),
    /// Proven: no feasible action holds.
    Impossible(Shortfall),
    /// Neither an action nor its impossibility could be proven.
    Undecided(Undecided),
}

/// An action that is proven to hold for every perturbation of the uncertainty set.
#[derive(Clone, Debug, PartialEq)]
pub struct Recourse {
    /// The action.
    pub action: Action,
    /// The counterfactual of the unperturbed individual, in standardised units.
    pub counterfactual: Vec<f64>,
    /// The cost of the action.
    pub cost: f64,
    /// A proven lower bound of the cost of any action that holds.
    pub cost_bound: f64,
    /// The worst-case margin; never negative.
    pub margin: f64,
}

/// An action, whether proven to hold or not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Advice<'a> {
    /// The action.
    pub action: &'a Action,
    /// The counterfactual of the unperturbed individual, in standardised units.
    pub counterfactual: &'a [f64],
    /// The cost of the action.
    pub cost: f64,
}

/// An action that withstood the perturbations that were tried. It is not proven to hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The action.
    pub action: Action,
    /// The counterfactual of the unperturbed individual, in standardised units.
    pub counterfactual: Vec<f64>,
    /// The cost of the action.
    pub cost: f64,
}

/// The shortfall of the best action that was examined, for auditors. The explanation for people is
/// [`Explanation`](crate::recourse::Explanation).
#[derive(Clone, Debug, PartialEq)]
pub struct Shortfall {
    /// The feasible action with the best worst case; for nonlinear problems, among those that were
    /// examined.
    pub best: Action,
    /// The distance, in units of the score, of the worst case found for that action below the boundary.
    /// Infinite if no examined action meets every constraint.
    pub missing: f64,
}

impl fmt::Display for Shortfall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.missing.is_finite() {
            true => write!(
                f,
                "in the worst case the best action that was examined stays {:.3e} below the decision boundary",
                self.missing
            ),
            false => f.write_str("no action that was examined meets every constraint"),
        }
    }
}

/// The result if neither an action nor its impossibility is proven.
#[derive(Clone, Debug, PartialEq)]
pub struct Undecided {
    /// The feasible action with the best worst case of those that were examined.
    pub best: Action,
    /// The lowest margin of that action that was found.
    pub margin: f64,
    /// The margin that counts as proven: the required safety plus rounding.
    pub required: f64,
    /// A proven lower bound of the cost of any action that holds.
    pub cost_bound: f64,
    /// Why the search stopped.
    pub reason: UndecidedReason,
}

/// Why a search stopped without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UndecidedReason {
    /// The margin of the best action is within rounding errors of the decision boundary, or below the
    /// required safety.
    Rounding,
    /// Numbers overflow or underflow.
    Overflow,
    /// The remaining actions change something by more than a billion standard deviations, where rounding
    /// errors are too large to decide.
    Distance,
    /// The budget was spent before all actions were examined.
    Budget,
    /// Every action was examined. Those that are neither proven nor ruled out are in regions that are too
    /// small to be split further.
    Resolution,
    /// The method found no action and proves nothing.
    Method,
    /// An action withstood every perturbation that was tried, but the attempts to prove that it holds
    /// failed.
    Proof,
    /// The network has several hidden layers and its weights are uncertain, so that the worst case over weights is
    /// only bounded: no action was found that holds by the bound, and none is ruled out by weights.
    Weights,
}

impl UndecidedReason {
    /// Every reason.
    pub(crate) const ALL: [Self; 8] = [
        Self::Rounding,
        Self::Overflow,
        Self::Distance,
        Self::Budget,
        Self::Resolution,
        Self::Method,
        Self::Proof,
        Self::Weights,
    ];

    /// The name in files.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Rounding => "rounding",
            Self::Overflow => "overflow",
            Self::Distance => "distance",
            Self::Budget => "budget",
            Self::Resolution => "resolution",
            Self::Method => "method",
            Self::Proof => "proof",
            Self::Weights => "weights",
        }
    }

    /// The reason, and what may help, as text.
    fn texts(self) -> (&'static str, &'static str) {
        match self {
            Self::Rounding => (
                "what the best feasible action achieves in its worst case is within rounding of the decision \
                 boundary, or less than the safety asked for",
                "a smaller epsilon, if it is not zero, or a smaller safety may decide it",
            ),
            Self::Overflow => (
                "numbers so large or so small meet here that they overflow or vanish",
                "choose units, weights and coefficients of more similar magnitudes",
            ),
            Self::Distance => (
                "all that is left are actions that change something by more than a billion standard deviations, \
                 and rounding errors are too large to judge those",
                "limits of the features that an action may change will decide it",
            ),
            Self::Budget => (
                "the budget was spent before every action was examined",
                "a larger budget of evaluations may decide it",
            ),
            Self::Resolution => (
                "every action was examined, and those that are left differ by less than the search \
                 distinguishes",
                "a larger budget will not decide it, a slightly different epsilon may",
            ),
            Self::Method => (
                "the method found no action, which proves nothing",
                "the methods `exact`, `trees` and `complete` tell whether there is one",
            ),
            Self::Weights => (
                "for a network with several hidden layers the worst case over its weights is only bounded: no action \
                 holds by the bound, and that none holds could not be proved either",
                "a smaller uncertainty of the weights, or a network with one hidden layer, may decide it",
            ),
            Self::Proof => (
                "an action was found that withstands every shift that was tried, but that it withstands all of \
                 them could not be proved",
                "a larger budget of evaluations, a smaller epsilon or a smaller safety may decide it",
            ),
        }
    }
}

impl Recourse {
    /// Whether all its numbers are finite, in own units too.
    pub(crate) fn is_finite(&self, problem: &Problem) -> bool {
        let features = problem.features();
        let changes = self.action.features.iter().zip(&self.action.change);
        let mut numbers = changes
            .map(|(&i, change)| features.feature(i).std * change)
            .chain(features.own_units(&self.counterfactual))
            .chain([self.cost, self.cost_bound, self.margin]);
        numbers.all(f64::is_finite)
    }

    /// `Found` if all numbers are finite; otherwise `Undecided`.
    pub(crate) fn or_overflow(self, problem: &Problem, required: f64) -> Outcome {
        if self.is_finite(problem) {
            return Outcome::Found(self);
        }
        let Recourse { action, cost_bound, margin, .. } = self;
        let cost_bound = if cost_bound.is_finite() { cost_bound } else { 0.0 };
        Outcome::Undecided(Undecided {
            best: action,
            margin,
            required,
            cost_bound,
            reason: UndecidedReason::Overflow,
        })
    }
}

impl Undecided {
    /// The result if the best action is within rounding errors of the boundary. The reason is overflow if
    /// its margin or its changes are not finite.
    pub(crate) fn within_rounding(best: Action, margin: f64, required: f64, cost_bound: f64) -> Self {
        // An infinite bound would mean that no action holds, which has not been proven; zero is always
        // valid.
        let cost_bound = if cost_bound.is_finite() { cost_bound } else { 0.0 };
        if best.change.iter().chain([&margin, &required]).all(|number| number.is_finite()) {
            return Self { best, margin, required, cost_bound, reason: UndecidedReason::Rounding };
        }
        let best = Action { features: Vec::new(), change: Vec::new() };
        Self { best, margin, required, cost_bound, reason: UndecidedReason::Overflow }
    }
}

impl fmt::Display for Undecided {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (cause, remedy) = self.reason.texts();
        f.write_str(cause)?;
        // If no action could be evaluated, there is no margin to report.
        if self.margin.is_finite() && self.reason != UndecidedReason::Overflow {
            // Adding zero removes the sign of a negative zero.
            write!(f, "; the best action so far has a margin of {:.3e}", self.margin + 0.0)?;
            match self.reason {
                UndecidedReason::Rounding => write!(f, ", and {:.3e} is required", self.required)?,
                _ => write!(f, " in the worst case that was found")?,
            }
        }
        if self.cost_bound > 0.0 && self.cost_bound.is_finite() {
            write!(f, "; no action that holds costs less than {:.3}", self.cost_bound)?;
        }
        write!(f, "; {remedy}")
    }
}

impl Outcome {
    /// The proven lower bound of the cost of any action that holds; infinite if none holds.
    pub fn cost_bound(&self) -> f64 {
        match self {
            Outcome::AlreadyFavourable | Outcome::Unproved(_) => 0.0,
            Outcome::Found(found) => found.cost_bound,
            Outcome::Impossible(_) => f64::INFINITY,
            Outcome::Undecided(undecided) => undecided.cost_bound,
        }
    }

    /// The same outcome with another bound on the cost, if it has one.
    pub(crate) fn with_cost_bound(mut self, bound: f64) -> Self {
        match &mut self {
            Outcome::Found(found) => found.cost_bound = bound.min(found.cost),
            Outcome::Undecided(undecided) => undecided.cost_bound = bound,
            Outcome::AlreadyFavourable | Outcome::Unproved(_) | Outcome::Impossible(_) => {}
        }
        self
    }

    /// Whether it is decided, and the cost of an action found exceeds its bound by no more than the share
    /// `gap`.
    pub(crate) fn is_settled(&self, gap: f64) -> bool {
        match self {
            Outcome::Undecided(_) | Outcome::Unproved(_) => false,
            Outcome::Found(found) => found.cost_bound >= (1.0 - gap) * found.cost,
            Outcome::AlreadyFavourable | Outcome::Impossible(_) => true,
        }
    }

    /// Whether another search may give an action or a cheaper one: not where every action was examined.
    pub(crate) fn is_open_to_search(&self) -> bool {
        match self {
            Outcome::Undecided(undecided) => {
                matches!(undecided.reason, UndecidedReason::Budget | UndecidedReason::Proof)
            }
            Outcome::Found(_) => true,
            Outcome::AlreadyFavourable | Outcome::Impossible(_) | Outcome::Unproved(_) => false,
        }
    }

    /// The action found, proven or not.
    pub fn advice(&self) -> Option<Advice<'_>> {
        match self {
            Outcome::Found(Recourse { action, counterfactual, cost, .. })
            | Outcome::Unproved(Candidate { action, counterfactual, cost }) => {
                Some(Advice { action, counterfactual, cost: *cost })
            }
            _ => None,
        }
    }

    /// The action that is proven to hold, if any.
    pub fn recourse(&self) -> Option<&Recourse> {
        match self {
            Outcome::Found(recourse) => Some(recourse),
            _ => None,
        }
    }

    /// The status as one word, as in tables.
    pub fn status(&self) -> &'static str {
        match self {
            Outcome::AlreadyFavourable => "favourable",
            Outcome::Found(_) => "found",
            Outcome::Unproved(_) => "unproved",
            Outcome::Impossible(_) => "impossible",
            Outcome::Undecided(_) => "undecided",
        }
    }
}
