//! An independent checker of saved proofs.
//!
//! A [`Proof`](crate::proof::Proof) can be saved as text and checked again. The checker is simple, does
//! not search, and shares as little code as possible with the search that found the proof. It shares the
//! definition of the margin, and the graph that composes it, which is compared with the definition at
//! sample points before it is used. Bounds, covers and interval arithmetic are its own. For tree ensembles
//! it shares the ensemble over standardised features, and the bound on the rounding of its sums.
//!
//! For an action that is stated to hold, it verifies:
//!
//! 1. the action is feasible (integer values where required, no forbidden transition, and an outcome that
//!    meets the requirements: constraints and limits), it costs what is stated, and the individual is
//!    rejected now;
//! 2. the pieces of the certificate cover the ball of perturbations;
//! 3. on every piece the margin is at least the stated one: by an affine bound, else by planes that touch
//!    the margin at a point, else by a quadratic bound, else by a curvature bound, else on both halves of the
//!    piece; or by the parabolas that a piece states. If the pieces are those of a tree ensemble, the
//!    checker divides the whole ball at thresholds instead.
//!
//! For a lower bound on the cost of any action that holds, or the statement that there is none, it
//! verifies for every intervention set:
//!
//! 4. all feasible actions that cost less are covered by boxes and cones;
//! 5. each of these has perturbations, no larger than the uncertainty and with existing perturbed
//!    individuals, and an upper bound of a sum of the margins under them and of requirement values, with
//!    nonnegative coefficients, is negative on the whole box or cone where the margins are defined.
//!
//! Instead of 4 and 5, the proof for a tree ensemble states how the box of all feasible actions is divided
//! (`dividing`). Each box that is not divided further either contains only actions that cost too much or
//! violate a requirement, or it has a reason: a scenario of perturbations no larger than the uncertainty,
//! under which an upper bound of the score is negative, or a cell in which the score is negative and which
//! perturbations reach from every cheaper action of the box.
//!
//! Where the problem limits what may be changed together, the action keeps these limits, and 4 and 5 are verified for each
//! of some cases, in which some features are fixed. Every set of changes that is allowed must be contained in a case.
//!
//! A proof that fails is either *wrong*, with a reason that anybody can check (an action that survives, a
//! perturbation that breaks, a part that is not covered), or it *could not be verified*: the checker's
//! bounds were not as tight as those of the search within its budget. Every proof contains a fingerprint
//! of its problem, so a failed proof that was made for another problem is reported as such.

#![expect(clippy::neg_cmp_op_on_partial_ord, reason = "what is not a number must fail every test")]

mod affine;
mod ball;
mod quadratic;
mod cases;
mod cost_bound;
mod cones;
mod cover;
mod curvature;
mod ellipsoid;
mod followers;
mod groups;
mod norm;
#[cfg(test)]
mod parabola_tests;
mod parabolas;
#[cfg(test)]
mod phase_tests;
mod phases;
mod robustness;
mod substitution;
mod prove;
mod rays;
mod sets;
mod tape;
mod trees;
#[cfg(test)]
mod tests;
mod unit;
mod tanh_network;
mod effort;
mod integer;
mod weights;
mod zone;

use thiserror::Error;

use crate::proof::{Case, Cover, Fingerprint, SavedProof};
use crate::{Error, Outcome, Problem, Recourse, Result};
use prove::Work;

/// The largest amount, in units of the score, by which the checker's bound may be below the stated
/// margin. It allows for rounding, which search and checker bound differently. The checker's bound must
/// not be negative in any case.
pub const TOLERANCE: f64 = 1e-9;

/// The default limit on the number of affine, quadratic and curvature bounds of a check, and by how much each
/// piece of the ball and each part of the actions raises it.
pub const BOUNDS: usize = 20_000;
/// See [`BOUNDS`].
pub const BOUNDS_FOR_EACH: usize = 10;

/// The result of a check.
#[derive(Clone, Debug, PartialEq)]
pub enum Verification {
    /// Every claim of the proof was verified.
    Verified(Verified),
    /// A claim is wrong, or the proof does not prove it.
    Wrong(Fault),
    /// A claim could not be verified within the budget; it may be right.
    Unverified(Fault),
    /// A claim fails for this problem, and the proof was made for another.
    OtherProblem {
        /// The part that differs, in words: "classifier is".
        what: &'static str,
    },
}

/// The verified statements.
#[derive(Clone, Debug, PartialEq)]
pub struct Verified {
    /// The checker's lower bound of the action's margin: at most [`TOLERANCE`] below the stated one.
    /// `None` if no action was found.
    pub margin: Option<f64>,
    /// The verified lower bound of the cost of any action that holds; infinite if none holds.
    pub cost_bound: f64,
    /// The number of pieces of the ball on which the margin was bounded.
    pub pieces: usize,
    /// The number of intervention sets for which all cheaper actions are covered.
    pub sets: usize,
    /// The number of boxes of actions that were verified to be ruled out.
    pub boxes: usize,
    /// The number of cones of actions that were verified to be ruled out.
    pub cones: usize,
    /// The number of bounds computed.
    pub bounds: usize,
}

/// What is wrong with a proof, or could not be verified.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "fields are named by the message of their variant")]
pub enum Fault {
    /// The individual's score contradicts the kind of the answer.
    #[error("the score of the individual is {score}, which does not go with the answer")]
    Score { score: f64 },
    /// An action that is not allowed.
    #[error("feature `{feature}`: the change of {change} is not allowed; [{lower}, {upper}] is")]
    Infeasible { feature: String, change: f64, lower: f64, upper: f64 },
    /// An action that changes an integer feature by a fraction, or makes a forbidden transition.
    #[error("feature `{feature}`: the change of {change} in its own units is not whole, or is forbidden")]
    NotInteger { feature: String, change: f64 },
    /// An action that leads to no category, or to a forbidden one.
    #[error("group `{group}`: the action does not lead from one category to another that is allowed")]
    NotACategory { group: String },
    /// An action that changes things that must not be changed together.
    #[error("the action changes {features:?}, which must not be changed together")]
    Together { features: Vec<String> },
    /// An allowed set of changes that is in no case of the proof.
    #[error("actions that change {features:?} are allowed, and no case of the proof contains them")]
    CasesIncomplete { features: Vec<String> },
    /// An action whose outcome does not meet a requirement: a constraint, or a limit.
    #[error("requirement {number}, `{rule}`, is not met: {value} is negative")]
    Constraint { number: usize, rule: String, value: f64 },
    /// A stated cost that is not that of the action.
    #[error("the action costs {cost}, and not {stated}")]
    Cost { cost: f64, stated: f64 },
    /// A bound on the cost that is above the cost of the action, or NaN.
    #[error("the bound on the cost is {bound}, and the action costs {cost}")]
    CostBound { bound: f64, cost: f64 },
    /// A stated counterfactual that is not that of the action.
    #[error("the counterfactual is not what becomes of the individual: {found} is stated for {expected}")]
    Counterfactual { expected: f64, found: f64 },
    /// A stated margin that is negative or NaN.
    #[error("the margin stated is {stated}; an action holds if it is not negative")]
    Margin { stated: f64 },
    /// An action without a certificate for every variant of the problem.
    #[error("there are no pieces that show that the action holds")]
    NoCover,
    /// A basis of coordinates that is not orthogonal.
    #[error("the coordinates of the pieces are off by {error}: their basis is not orthogonal")]
    Basis { error: f64 },
    /// A part of the ball that no piece contains.
    #[error("the pieces do not cover the ball: around {at:?} there is none")]
    BallNotCovered { at: Vec<f64> },
    /// A perturbation under which the margin is below the stated one.
    #[error("under {perturbation:?} the margin is {margin}, and {stated} is stated")]
    Broken { perturbation: Vec<f64>, margin: f64, stated: f64 },
    /// A piece whose stated margin is below the margin stated for all.
    #[error("piece {piece} is stated to have a margin of {margin}, and {stated} is stated for all")]
    PieceBelow { piece: usize, margin: f64, stated: f64 },
    /// Actions that no box or cone rules out.
    #[error(
        "actions on {features:?} between {lower:?} and {upper:?} cost less than the bound, and nothing rules them out"
    )]
    ActionsNotCovered { features: Vec<String>, lower: Vec<f64>, upper: Vec<f64> },
    /// A variant number that the problem does not have.
    #[error("what is ruled out, {part}: there is no variant {variant} of the problem")]
    NoSuchVariant { part: usize, variant: usize },
    /// A perturbation that is larger than the uncertainty.
    #[error("what is ruled out, {part}: the perturbation has a size of {size}, more than {epsilon}")]
    Perturbation { part: usize, size: f64, epsilon: f64 },
    /// A perturbation whose perturbed individual the causal model cannot produce.
    #[error("what is ruled out, {part}: the perturbation concerns nobody")]
    Nobody { part: usize },
    /// An action that the stated perturbation does not break.
    #[error("what is ruled out, {part}: the change {change:?} survives with a margin of {margin}")]
    Survives { part: usize, change: Vec<f64>, margin: f64 },

    /// An action that may meet the requirements that are stated to rule it out.
    #[error(
        "what is ruled out, {part}: for the change {change:?} the sum of requirements and margin is {value}, which is not negative"
    )]
    Meets { part: usize, change: Vec<f64>, value: f64 },
    /// A coefficient of a requirement or of the margin that is negative or not finite.
    #[error("what is ruled out, {part}: a share is {share}; it must be finite and not negative")]
    Share { part: usize, share: f64 },
    /// Features that need not be changed although it is unknown how they then follow.
    #[error(
        "what is ruled out, {part}: undecided features must be among its features and follow by equations that are linear and certain"
    )]
    Undecided { part: usize },
    /// A requirement number that the problem does not have.
    #[error("what is ruled out, {part}: there is no requirement {requirement}")]
    NoSuchRequirement { part: usize, requirement: usize },

    /// The checker's lower bound on a piece is not high enough.
    #[error("piece {piece}: the margin was found to be at least {bound}, and {stated} is stated")]
    Piece { piece: usize, bound: f64, stated: f64 },
    /// The checker's upper bound on a ruled-out part is not negative.
    #[error("what is ruled out, {part}: the margin was found to be at most {bound}, which is not negative")]
    RuledOut { part: usize, bound: f64 },
    /// A cover with too many parts to check.
    #[error("it takes too long to tell whether {parts} parts cover all they must")]
    CoverTooLarge { parts: usize },
    /// More intervention sets than are checked.
    #[error("a bound on the cost is verified for up to {most} intervention sets, and there are more")]
    TooManySets { most: usize },
    /// Weights that the uncertainty of the classifier does not allow.
    #[error("actions are ruled out by a weight of {weight}, which is further than {radius} from {trained}")]
    Weights { weight: f64, trained: f64, radius: f64 },
    /// A composed graph that differs from the definition of the margin.
    #[error("the margin is {expected} by its definition, and {found} as composed for the check")]
    Composition { expected: f64, found: f64 },
}

/// The reason why a check stops.
enum Stop {
    Wrong(Fault),
    Unverified(Fault),
    OtherProblem(&'static str),
    Error(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::Error(error)
    }
}

impl Verified {
    fn add(&mut self, ruled_out: &cost_bound::RuledOutCount) {
        self.sets += ruled_out.sets;
        self.boxes += ruled_out.boxes;
        self.cones += ruled_out.cones;
    }
}

impl Verification {
    /// Whether every claim was verified.
    pub fn is_verified(&self) -> bool {
        matches!(self, Verification::Verified(_))
    }
}

/// Checks a saved proof against its problem, with a budget of [`BOUNDS`] and [`BOUNDS_FOR_EACH`] of its parts.
///
/// # Errors
/// If the causal model cannot produce the individual, if the action of the proof does not fit the features,
/// or if the lengths in a proof that was not read from a file do not match. A wrong proof is not an error but
/// a result.
pub fn verify(problem: &Problem, saved: &SavedProof) -> Result<Verification> {
    let pieces = saved.cover.iter().chain(&saved.further).map(|cover| cover.pieces.len()).sum::<usize>();
    let divisions = saved.dividing.iter().flat_map(|dividing| &dividing.sets).map(|(_, steps)| steps.len());
    let of_case = |case: &Case| {
        let divisions = case.dividing.iter().flat_map(|dividing| &dividing.sets);
        case.ruled_out.len() + divisions.map(|(_, steps)| steps.len()).sum::<usize>()
    };
    let of_cases = saved.cases.iter().map(of_case).sum::<usize>();
    let parts = pieces + saved.ruled_out.len() + divisions.sum::<usize>() + of_cases;
    verify_within(problem, saved, BOUNDS + BOUNDS_FOR_EACH * parts)
}

/// As [`verify()`], with a budget of `bounds`.
///
/// # Errors
/// As [`verify()`].
pub fn verify_within(problem: &Problem, saved: &SavedProof, bounds: usize) -> Result<Verification> {
    let stop = match claims(problem, saved, Work { left: bounds, done: 0 }) {
        Ok(verified) => return Ok(Verification::Verified(verified)),
        Err(stop) => stop,
    };
    // A verified claim is true whatever problem the proof was made for; a failed one may be about another
    // problem.
    let made_for = saved.problem.as_ref();
    if let Some(what) = made_for.and_then(|made_for| made_for.difference(&Fingerprint::of(problem))) {
        return Ok(Verification::OtherProblem { what });
    }
    match stop {
        Stop::Wrong(fault) => Ok(Verification::Wrong(fault)),
        Stop::Unverified(fault) => Ok(Verification::Unverified(fault)),
        Stop::OtherProblem(what) => Ok(Verification::OtherProblem { what }),
        Stop::Error(error) => Err(error),
    }
}

/// What is stated of an action besides that it holds: it may be taken, costs what is stated, and leads to the stated
/// counterfactual.
fn verify_action(problem: &Problem, individual: &[f64], found: &Recourse) -> Result<(), Stop> {
    let wrong = |fault: Fault| Err(Stop::Wrong(fault));
    found.action.check(problem.features())?;
    robustness::verify_feasible(problem, individual, &found.action)?;
    cases::verify_together(problem, &found.action)?;
    let cost = problem.cost().of(problem.features(), &found.action);
    if !(cost.is_finite() && (cost - found.cost).abs() <= 1e-12 * cost) {
        return wrong(Fault::Cost { cost, stated: found.cost });
    }
    if !(found.cost_bound <= found.cost) {
        return wrong(Fault::CostBound { bound: found.cost_bound, cost });
    }
    if !(found.margin >= 0.0 && found.margin.is_finite()) {
        return wrong(Fault::Margin { stated: found.margin });
    }
    let reached = crate::margin::outcome(problem, individual, &found.action)?;
    for (number, rule) in problem.requirements().iter().enumerate() {
        if !rule.is_met(individual, &reached) {
            let (rule, value) = (rule.text().to_owned(), rule.value(&reached));
            return wrong(Fault::Constraint { number, rule, value });
        }
    }
    for (&expected, &found) in reached.iter().zip(&found.counterfactual) {
        if !((expected - found).abs() <= 1e-9 * expected.abs().max(1.0)) {
            return wrong(Fault::Counterfactual { expected, found });
        }
    }
    Ok(())
}

fn claims(problem: &Problem, saved: &SavedProof, mut work: Work) -> Result<Verified, Stop> {
    let wrong = |fault: Fault| Err(Stop::Wrong(fault));
    saved.check_lengths()?;
    if saved.individual.len() != problem.features().len() {
        return Err(Stop::OtherProblem("number of features is"));
    }
    // Special and missing values of the person are no matter of the proof: they follow from the problem.
    let own = problem.for_person(&saved.individual)?;
    let imputed = own.as_ref().map(|own| saved.of(&own.individual));
    let (problem, saved) =
        own.as_ref().zip(imputed.as_ref()).map_or((problem, saved), |(own, s)| (&own.problem, s));
    for (what, same) in [
        ("size of uncertainty is", saved.epsilon == problem.uncertainty().radius()),
        ("norm is", saved.norm == problem.uncertainty().norm().into()),
        ("kind of cost is", saved.cost == problem.cost()),
        ("form of actions is", saved.form == problem.action_kind()),
    ] {
        if !same {
            return Err(Stop::OtherProblem(what));
        }
    }
    let score = problem.score(&saved.individual);
    if !score.is_finite() || (score >= 0.0) != (saved.outcome == Outcome::AlreadyFavourable) {
        return wrong(Fault::Score { score });
    }
    let mut verified =
        Verified { margin: None, cost_bound: 0.0, pieces: 0, sets: 0, boxes: 0, cones: 0, bounds: 0 };
    match &saved.outcome {
        Outcome::AlreadyFavourable | Outcome::Unproved(_) => return Ok(verified),
        Outcome::Found(found) => {
            verify_action(problem, &saved.individual, found)?;
            let covers: Vec<&Cover> = saved.cover.iter().chain(&saved.further).collect();
            let variants = problem.variants();
            if saved.cover.is_none() || covers.len() < variants.len() {
                return wrong(Fault::NoCover);
            }
            // Every variant has a cover of its own, in the order of the variants.
            let mut margin = f64::INFINITY;
            for (variant, cover) in variants.iter().zip(covers) {
                let held = robustness::holds(variant, saved, found, cover, &mut work)?;
                margin = margin.min(held.margin);
                verified.pieces += held.pieces;
            }
            verified.margin = Some(margin);
            verified.cost_bound = found.cost_bound;
        }
        Outcome::Impossible(_) => verified.cost_bound = f64::INFINITY,
        Outcome::Undecided(undecided) => verified.cost_bound = undecided.cost_bound,
    }
    let with_weights = weights::for_ruling_out(problem, &saved.individual)?;
    let ruling_out = with_weights.as_ref().unwrap_or(problem);
    if saved.cases.is_empty() || !(verified.cost_bound > 0.0) {
        // What is proven whatever is changed together is proven.
        verified.add(&cost_bound::nothing_cheaper(ruling_out, saved, verified.cost_bound, &mut work)?);
    } else {
        cases::verify_complete(problem, &saved.cases)?;
        for case in &saved.cases {
            let part = saved.of_case(case);
            let problem = ruling_out.without(&case.fixed);
            // Whoever changes nothing is rejected.
            if !problem.features().actionable().is_empty() {
                verified.add(&cost_bound::nothing_cheaper(&problem, &part, verified.cost_bound, &mut work)?);
            }
        }
    }
    verified.bounds = work.done;
    Ok(verified)
}
