//! Proofs as data: what they claim, what they rest on, and how they are saved.
//!
//! A [`Certificate`] shows that an action holds: its [`Piece`]s cover the ball of perturbations, each with a lower
//! bound of the margin. A list of [`RuledOut`] regions shows that every cheaper action is broken. [`SavedProof`]
//! has both and is written as JSON; [`verify`](crate::verify()) verifies it.

mod fingerprint;
mod read;
mod saved;

pub use fingerprint::Fingerprint;
pub use saved::{Cover, SavedNorm, SavedProof, VERSION};

use crate::{Action, Outcome};

/// What is known of an action.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Proven: the action holds for every perturbation.
    Holds {
        /// The margin that is left at least.
        margin: f64,
    },
    /// It does not hold.
    Breaks {
        /// A perturbation that breaks it, no larger than the uncertainty guarded against.
        perturbation: Vec<f64>,
        /// The margin that is then left: negative, and minus infinity where the result of the
        /// action is undefined.
        margin: f64,
    },
    /// Neither was shown: the least margin is between two numbers.
    Undecided {
        /// It is at least this; minus infinity where nothing is known.
        lower: f64,
        /// It is at most this.
        upper: f64,
    },
}

/// What a piece of a proof rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoundKind {
    /// An affine bound.
    Affine,
    /// The curvature bound, around the point of the certificate.
    Curvature,
    /// A quadratic lower bound of the margin.
    Quadratic,
}

/// A part of the ball with the bound that holds over it, in the coordinates of the certificate.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// The least value of each coordinate.
    pub lower: Vec<f64>,
    /// The greatest value of each coordinate.
    pub upper: Vec<f64>,
    /// The margin is at least this.
    pub margin: f64,
    /// Why.
    pub reason: BoundKind,
}

/// A verdict with what it takes to check it: pieces that cover the ball.
///
/// Coordinates are `y = basis^T (w . D)` with the weights w of the norm.
#[derive(Clone, Debug, PartialEq)]
pub struct Certificate {
    /// The action in question.
    pub action: Action,
    /// The verdict.
    pub verdict: Verdict,
    /// The orthogonal matrix of the coordinates, row by row; empty: the identity.
    pub basis: Vec<f64>,
    /// The worst perturbation found, in these coordinates.
    pub worst: Vec<f64>,
    /// Where the margin is bounded, and why; empty unless the action holds.
    pub pieces: Vec<Piece>,
    /// Bounds and evaluations that it took.
    pub evaluations: usize,
}

/// A box of actions, or what is far away in a cone of them, that one perturbation rules out.
#[derive(Clone, Debug, PartialEq)]
pub struct RuledOut {
    /// The features acted upon.
    pub features: Vec<usize>,
    /// The least change of each.
    pub lower: Vec<f64>,
    /// The greatest change of each.
    pub upper: Vec<f64>,
    /// Only actions of the box that cost at most this are ruled out; infinite: all.
    pub cost: f64,
    /// The perturbation that breaks them.
    pub perturbation: Vec<f64>,
    /// Only what is far away in a cone of the box, in place of its infinite sides.
    pub cone: Option<Cone>,
    /// Requirements of the problem, by number, each with a share that is not negative. The sum of their
    /// values, each times its share, and of the margin, times [`RuledOut::share`], is negative
    /// everywhere: so no action meets these requirements and survives the perturbation.
    pub requirements: Vec<(usize, f64)>,
    /// The share of the margin; zero where no action meets the requirements at all.
    pub share: f64,
}

/// All sums of some changes, with shares that are at least zero and add up to a number between two
/// ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Cone {
    /// The changes.
    pub rays: Vec<Vec<f64>>,
    /// The least sum of the shares.
    pub from: f64,
    /// The greatest sum of the shares; may be infinite.
    pub to: f64,
}

/// An answer with what it takes to check it.
#[derive(Clone, Debug, PartialEq)]
pub struct Proof {
    /// The answer.
    pub outcome: Outcome,
    /// That the action found holds.
    pub certificate: Option<Certificate>,
    /// Why nothing else is cheaper, or at all there.
    pub ruled_out: Vec<RuledOut>,
    /// Bounds and evaluations that it took.
    pub evaluations: usize,
    /// How many of them went into proofs that actions hold.
    pub proving: usize,
    /// Room in the worst case, in units of the logit, that a proof seemed to need.
    pub(crate) room: f64,
}

impl Proof {
    /// A proof that took no search.
    pub(crate) fn of(outcome: Outcome, certificate: Option<Certificate>, ruled_out: Vec<RuledOut>) -> Self {
        Self { outcome, certificate, ruled_out, evaluations: 0, proving: 0, room: 0.0 }
    }
}
