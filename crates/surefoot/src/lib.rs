//! Robust causal recourse, with proof.
//!
//! For an individual x whom a classifier has rejected, find the cheapest action that still works if
//! circumstances shift a little:
//!
//! ```text
//! minimise cost(theta)   over feasible theta on some set I of actionable features
//! such that              margin(theta, D) >= 0  for every ||D|| <= epsilon,
//!
//! margin(theta, D) = score(CF(CF(x, D), theta))
//! ```
//!
//! `CF(x, D)` is the counterfactual of x under a perturbation of its features that propagates through a
//! structural causal model; `CF(x', theta)` is the counterfactual of x' under the action. The answer is
//! an [`Outcome`]: an action with proof, or a proof that there is none.
//!
//! ```
//! use surefoot::{
//!     Change, Classifier, Equation, Feature, Features, Norm, People, Problem, Scm, recourse,
//! };
//!
//! // Income causes savings; both may be raised.
//! let features = Features::new(vec![
//!     Feature::new("income").scaling(3000.0, 1500.0).change(Change::Increase),
//!     Feature::new("savings").scaling(8000.0, 4000.0).change(Change::Increase),
//! ])?;
//! let scm = Scm::new(&features, vec![("savings", Equation::formula("2 * income + u"))])?;
//! let classifier = Classifier::linear(vec![0.8, 0.6], -0.5, 0.5)?;
//! let problem = Problem::new(features.clone(), classifier)?
//!     .with_causal_model(scm)?
//!     .with_uncertainty(Norm::L2, 0.1)?;
//!
//! let people = People::from_own_units(&features, &[[2400.0, 6000.0]])?;
//! let answer = &recourse(&problem, &people)?[0];
//! let found = answer.recourse().expect("this person has recourse");
//! assert_eq!(found.action.features, [0]); // raise income alone: savings follow
//! assert!(found.margin >= 0.0);
//! # Ok::<(), surefoot::Error>(())
//! ```
//!
//! [`recourse()`] solves linear problems exactly ([`Exact`]), those with tree ensembles by a search between
//! thresholds (the method `trees`), and all others by search with bounds ([`Complete`]); each proves its
//! answers. Any action can be certified ([`certify()`]) or [attacked](attack). The methods `local` and
//! `descent` (the paper's Algorithm 1, [`Descent`]) prove nothing.
//!
//! Modules are listed in the order in which they build on each other.

pub mod file;
pub mod magnitude;
pub mod error;
mod cancel;
mod length;
mod cost;
mod digest;
mod adam;
mod chi_square;
pub mod feature;
mod observed;
pub mod people;
pub mod network;
pub mod uncertainty;
mod expression;
mod graph;
pub mod trees;
mod onnx;
pub mod scm;
pub mod classifier;
pub mod action;
pub mod constraint;
pub mod problem;
mod integer;
mod program;
mod forest;
pub mod margin;
pub mod coverage;
mod essential;
pub mod feasible;
pub mod outcome;
pub mod proof;
pub mod bound;
pub mod certify;
pub mod recourse;
pub mod verify;
pub mod attack;
pub mod theory;
pub mod metrics;
pub mod train;
mod escape;
mod describe;
pub mod report;
// The random problems of unit tests and integration tests have one source.
#[cfg(test)]
extern crate self as surefoot;
#[cfg(test)]
#[path = "../../surefoot-random/src/small.rs"]
pub(crate) mod small;

pub use action::{Action, ActionKind};
pub use attack::{Attack, Break, refute, smallest_break};
pub use cancel::Cancel;
pub use certify::{Budget, certify};
pub use classifier::{Classifier, Committee, Model, WeightEllipsoid, WeightUncertainty};
pub use constraint::{Constraint, Forbidden};
pub use cost::Cost;
pub use coverage::Coverage;
pub use describe::{
    describe, describe_action, describe_break, describe_explanation, describe_further_uncertainty,
    describe_missing, describe_missing_values, describe_notes, describe_options, describe_shift,
    describe_special_values, describe_theory, describe_theory_of_person, describe_theory_summary,
    describe_unmet,
};
pub use error::{Error, Result};
pub use escape::{escape_line, escape_text};
pub use essential::essential;
pub use feasible::{Infeasible, InfeasibleReason, infeasibility};
pub use feature::{Change, Feature, Features, Kind};
pub use graph::Interval;
pub use metrics::Metrics;
pub use network::{Activation, Layer, Network};
pub use observed::{Observed, Unsuitable};
pub use outcome::{Outcome, Recourse};
pub use people::People;
pub use problem::{ChangeLimits, LimitsOn, Problem, ProblemFile};
pub use proof::{Certificate, SavedProof, Verdict};
pub use recourse::{Complete, Descent, Exact, recourse, recourse_options};
pub use scm::{Equation, Intervention, Noise, Scm};
pub use trees::Ensemble;
pub use uncertainty::{Norm, NormKind, Sources, Uncertainty, UncertaintySet};
pub use verify::{Verification, verify};

/// The code of the page about the Rust library, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/rust.md")]
struct RustPage;
