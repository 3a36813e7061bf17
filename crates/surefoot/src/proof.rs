//! Proofs as data: their claims, the data that supports them, and how they are saved.
//!
//! A [`Certificate`] shows that an action holds: its [`Piece`]s cover the ball of perturbations, each
//! with a lower bound of the margin. A list of [`RuledOut`] regions shows that every cheaper action is
//! broken. [`SavedProof`] contains both and is written as JSON; [`verify`](crate::verify()) verifies it.

mod fingerprint;
mod read;
mod reference;
mod saved;

pub use fingerprint::Fingerprint;
pub use reference::Reference;
pub use saved::{SavedNorm, SavedProof, VERSION};

pub use crate::margin::Scenario;
use crate::{Action, Outcome};

/// The verdict on an action.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Proven: the action holds for every perturbation.
    Holds {
        /// A lower bound of the margin.
        margin: f64,
    },
    /// It does not hold.
    Breaks {
        /// The variant of the problem in which it breaks, by number.
        variant: usize,
        /// A perturbation that breaks it, no larger than the uncertainty.
        perturbation: Vec<f64>,
        /// The margin under it: negative, or minus infinity where the result of the action is undefined.
        margin: f64,
    },
    /// Neither was proven: the least margin lies between two numbers.
    Undecided {
        /// A lower bound; minus infinity where nothing is known.
        lower: f64,
        /// An upper bound.
        upper: f64,
    },
}

/// The kind of bound that supports a piece of a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoundKind {
    /// An affine bound.
    Affine,
    /// The curvature bound, around the point of the certificate.
    Curvature,
    /// A quadratic lower bound of the margin.
    Quadratic,
    /// Parabolas below all units of a network, on the cells of the piece.
    Parabolas,
    /// The phases of relu units, by which the piece is divided.
    Phases,
    /// The cells of a tree ensemble.
    Trees,
}

/// A part of the ball with a lower bound of the margin over it, in the coordinates of the certificate.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// The least value of each coordinate.
    pub lower: Vec<f64>,
    /// The greatest value of each coordinate.
    pub upper: Vec<f64>,
    /// A lower bound of the margin over the piece.
    pub margin: f64,
    /// The kind of bound.
    pub reason: BoundKind,
    /// The cells of a piece that is proven by parabolas, each before its two parts; otherwise empty.
    pub cells: Vec<Cell>,
    /// The nodes of a piece that is divided by the phases of units, each before its two parts; otherwise empty.
    pub phases: Vec<PhaseNode>,
}

/// A part of the ball in which the arguments of some relu units have known signs.
#[derive(Clone, Debug, PartialEq)]
pub enum PhaseNode {
    /// It is divided by the sign of another argument. The part in which it is not negative comes first, then the part
    /// in which it is not positive.
    Split {
        /// The hidden layer of the unit.
        layer: usize,
        /// The unit.
        unit: usize,
    },
    /// It is closed by a bound. Empty numbers say that nothing is there.
    Closed(PhaseBound),
}

/// Lines below relu units, and multipliers. Any slopes from 0 to 1 and any nonnegative multipliers give a lower bound.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PhaseBound {
    /// For each hidden layer, the slope of the line below each unit whose sign is open.
    pub slopes: Vec<Vec<f64>>,
    /// The multiplier of each condition on a sign, the first division first.
    pub multipliers: Vec<f64>,
}

/// A part of a piece: the intersection of the ball, of an ellipsoid and of the cuts above it.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Quadratic lower bounds of the margin. Each holds where the margin is below the required one on the part
    /// of the cell that the earlier bounds leave, and leaves an ellipsoid.
    pub bounds: Vec<Parabolas>,
    /// The plane that divides the rest of the cell; `None` if the bounds prove the whole cell.
    pub cut: Option<Cut>,
}

/// The plane `direction . y = at`. The part below comes first.
#[derive(Clone, Debug, PartialEq)]
pub struct Cut {
    /// The normal of the plane, of any length.
    pub direction: Vec<f64>,
    /// Its place.
    pub at: f64,
}

/// Parabolas below the units of a network, and multipliers. Any numbers give a lower bound.
#[derive(Clone, Debug, PartialEq)]
pub struct Parabolas {
    /// For each unit of the last hidden layer: the coefficients of the square and of the linear term.
    pub outer: Vec<[f64; 2]>,
    /// For each unit of the first of two hidden layers: square, linear term, split, shift and twist, then slope
    /// and offset of the line that replaces the unit.
    pub inner: Vec<[f64; 7]>,
    /// The multiplier of each slab between two cuts.
    pub slabs: Vec<f64>,
    /// The multiplier of the ellipsoid.
    pub ellipsoid: f64,
    /// The multiplier of the ball.
    pub ball: f64,
}

/// A verdict with the data that is needed to check it: pieces that cover the ball.
///
/// Coordinates are `y = basis^T (w . D)` with the weights w of the norm.
#[derive(Clone, Debug, PartialEq)]
pub struct Certificate {
    /// The action.
    pub action: Action,
    /// The verdict.
    pub verdict: Verdict,
    /// The orthogonal matrix of the coordinates, row by row; empty for the identity.
    pub basis: Vec<f64>,
    /// The worst perturbation found, in these coordinates.
    pub worst: Vec<f64>,
    /// The pieces with their bounds; empty unless the action holds.
    pub pieces: Vec<Piece>,
    /// Basis, worst perturbation and pieces of every further variant of the problem; empty unless the action
    /// holds.
    pub further: Vec<Cover>,
    /// The number of evaluations.
    pub evaluations: usize,
}

/// Pieces that cover the ball of perturbations, with a lower bound of the margin on each, in the coordinates of
/// the [`Certificate`].
#[derive(Clone, Debug, PartialEq)]
pub struct Cover {
    /// The orthogonal matrix of the coordinates, row by row; empty for the identity.
    pub basis: Vec<f64>,
    /// The worst perturbation found, in these coordinates.
    pub worst: Vec<f64>,
    /// The pieces.
    pub pieces: Vec<Piece>,
}

impl Certificate {
    /// The certificate of an action from those for each variant of the problem, up to one that it breaks in. Of
    /// these there is at least one.
    pub(crate) fn of_variants(mut certificates: Vec<Certificate>) -> Self {
        let further = certificates.split_off(1);
        let mut whole = certificates.swap_remove(0);
        for (number, other) in further.into_iter().enumerate() {
            whole.evaluations += other.evaluations;
            whole.verdict = whole.verdict.and(other.verdict, number + 1);
            whole.further.push(Cover { basis: other.basis, worst: other.worst, pieces: other.pieces });
        }
        if !matches!(whole.verdict, Verdict::Holds { .. }) {
            (whole.pieces, whole.further) = (Vec::new(), Vec::new());
        }
        whole
    }
}

impl Verdict {
    /// The verdict on an action that must hold for what both are about. `number` is the variant of the other.
    fn and(self, other: Verdict, number: usize) -> Verdict {
        // What is known of the least margin from below and from above.
        let ends = |verdict: &Verdict| match verdict {
            Verdict::Holds { margin } => (*margin, f64::INFINITY),
            Verdict::Undecided { lower, upper } => (*lower, *upper),
            Verdict::Breaks { margin, .. } => (f64::NEG_INFINITY, *margin),
        };
        let ((lower, upper), (other_lower, other_upper)) = (ends(&self), ends(&other));
        match (self, other) {
            (breaks @ Verdict::Breaks { .. }, _) => breaks,
            (_, Verdict::Breaks { perturbation, margin, .. }) => {
                Verdict::Breaks { variant: number, perturbation, margin }
            }
            (Verdict::Holds { margin }, Verdict::Holds { margin: other }) => {
                Verdict::Holds { margin: margin.min(other) }
            }
            _ => Verdict::Undecided { lower: lower.min(other_lower), upper: upper.min(other_upper) },
        }
    }
}

/// A box of actions, or the far part of a cone of them, in which no action holds.
///
/// With nonnegative coefficients, the weighted sum of the margins in some scenarios and of the
/// values of some requirements is negative everywhere. So no action meets these requirements and survives
/// these scenarios. A single scenario breaks every action.
#[derive(Clone, Debug, PartialEq)]
pub struct RuledOut {
    /// The features that the actions change.
    pub features: Vec<usize>,
    /// Those of them that actions need not change: actions on sets without them are ruled out as well, as if they
    /// changed these features by zero. Whatever these features do, from being held to following their causes, no
    /// action holds.
    pub undecided: Vec<usize>,
    /// The least change of each feature.
    pub lower: Vec<f64>,
    /// The greatest change of each.
    pub upper: Vec<f64>,
    /// Only actions of the box with at most this cost are ruled out; infinite if all are.
    pub cost: f64,
    /// Scenarios, each with the coefficient of the margin in it. Empty if no action meets the requirements
    /// at all.
    pub margins: Vec<WeightedMargin>,
    /// If given, only the actions of this cone are ruled out; the cone replaces the long sides of the
    /// box.
    pub cone: Option<Cone>,
    /// Requirements of the problem, by number, each with its coefficient.
    pub requirements: Vec<(usize, f64)>,
}

/// A scenario with a coefficient for the margin in it.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightedMargin {
    /// The scenario.
    pub scenario: Scenario,
    /// The coefficient.
    pub share: f64,
    /// An action at which the bound of the margin touches, if the bound is interpolated along the rays of the
    /// cost limit. Any action gives a bound.
    pub touches: Option<Vec<f64>>,
}

impl WeightedMargin {
    /// The only margin of a sum.
    pub fn only(scenario: Scenario) -> Vec<Self> {
        vec![Self { scenario, share: 1.0, touches: None }]
    }
}

/// All combinations of some rays with nonnegative coefficients whose sum is between two numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Cone {
    /// The rays, each a change of the features.
    pub rays: Vec<Vec<f64>>,
    /// The least sum of the coefficients.
    pub from: f64,
    /// The greatest sum of the coefficients; may be infinite.
    pub to: f64,
}

/// How the actions for a classifier of trees are divided into boxes, in each of which no action is cheaper than
/// the bound and holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Dividing {
    /// The variant of the problem whose trees these are. What does not hold for one variant does not hold.
    pub variant: usize,
    /// Reasons, to which boxes refer by number.
    pub reasons: Vec<TreeReason>,
    /// Each intervention set, and its divisions: every box before its two parts.
    pub sets: Vec<(Vec<usize>, Vec<Division>)>,
}

/// One box of actions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Division {
    /// It is divided: actions whose change, by its position in the set, is at most a number come first.
    At {
        /// The position of the change.
        change: usize,
        /// The greatest change of the first part.
        at: f64,
    },
    /// It is closed by a reason or, without one, because every action costs too much or violates a
    /// requirement.
    Closed(Option<usize>),
}

/// Why actions for a classifier of trees do not hold.
#[derive(Clone, Debug, PartialEq)]
pub enum TreeReason {
    /// The perturbation that moves each feature towards a pivot, by at most a radius, breaks them.
    Scenario {
        /// The pivot.
        pivot: Vec<f64>,
        /// The radius of each feature.
        radii: Vec<f64>,
    },
    /// A perturbation leads to a cell `lower < z <= upper` in which the score is negative.
    Cell {
        /// The exclusive lower end of each feature.
        lower: Vec<f64>,
        /// The upper end of each feature.
        upper: Vec<f64>,
    },
}

/// A part of the actions of a problem that limits what may be changed together: those that leave some features as
/// they are. In it, nothing that is cheaper than the bound holds, whatever is changed together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Case {
    /// The features that no action of the part changes, in ascending order.
    pub fixed: Vec<usize>,
    /// The parts that show that no cheaper action, or no action at all, holds.
    pub ruled_out: Vec<RuledOut>,
    /// The same for tree ensembles.
    pub dividing: Option<Dividing>,
}

/// An answer with the data that is needed to check it.
#[derive(Clone, Debug, PartialEq)]
pub struct Proof {
    /// The answer.
    pub outcome: Outcome,
    /// The certificate that the action found holds.
    pub certificate: Option<Certificate>,
    /// The parts that show that no cheaper action, or no action at all, holds.
    pub ruled_out: Vec<RuledOut>,
    /// The same for tree ensembles.
    pub dividing: Option<Dividing>,
    /// Where the problem limits what may be changed together: cases that together contain every action that is
    /// allowed, unless no action cheaper than the bound holds whatever is changed together.
    pub cases: Vec<Case>,
    /// The number of evaluations.
    pub evaluations: usize,
    /// How many of the evaluations were used to prove that actions hold.
    pub proving: usize,
    /// The number of evaluations when the search ended, if the proofs that followed do not depend on the
    /// budget.
    pub(crate) searched: Option<usize>,
    /// The estimated worst-case margin, in units of the score, that a proof needs.
    pub(crate) needed_margin: f64,
}

impl Proof {
    /// A proof that needed no search.
    pub(crate) fn of(outcome: Outcome, certificate: Option<Certificate>, ruled_out: Vec<RuledOut>) -> Self {
        Self {
            outcome,
            certificate,
            ruled_out,
            dividing: None,
            cases: Vec::new(),
            evaluations: 0,
            proving: 0,
            searched: None,
            needed_margin: 0.0,
        }
    }
}
