//! Everything that can be wrong with the input, with its place and its remedy.

use std::path::PathBuf;

use thiserror::Error;

pub use crate::constraint::RuleProblem;
pub use crate::expression::{FormulaProblem, Obstacle};
pub use crate::feature::CategoryProblem;
use crate::file::ReadProblem;
use crate::magnitude::readable;
pub use crate::onnx::{OnnxProblem, UnsupportedUse};
use crate::problem::Mistakes;
use crate::{Kind, Noise};

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What is wrong with a question. That no recourse exists is an answer and not an error.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "fields are named by the message of their variant")]
pub enum Error {
    /// A problem over nothing.
    #[error("there are no features; give at least one")]
    NoFeatures,
    /// A blank name.
    #[error("a feature has no name; give every feature one")]
    FeatureWithoutName,
    /// Two features of one name.
    #[error("feature `{feature}` is given twice; rename or remove one")]
    DuplicateFeature { feature: String },
    /// A mean that is no number.
    #[error(
        "feature `{feature}`: the mean is {mean:?}; it must be a number no larger than 1e100 (for larger ones choose another unit)"
    )]
    FeatureMean { feature: String, mean: f64 },
    /// A scale that cannot be divided by.
    #[error(
        "feature `{feature}`: the standard deviation is {std:?}; it must be positive, between 1e-100 and 1e100 (drop a constant feature, or use 1; for numbers beyond choose another unit)"
    )]
    FeatureStd { feature: String, std: f64 },
    /// A cost weight that is not positive.
    #[error(
        "feature `{feature}`: the cost weight is {weight:?}; it must be positive, between 1e-100 and 1e100"
    )]
    FeatureWeight { feature: String, weight: f64 },
    /// Limits the wrong way round, or not numbers.
    #[error(
        "feature `{feature}`: the limits [{lower:?}, {upper:?}] contain no number, or end beyond 1e100; give the lower one first (infinite: none)"
    )]
    FeatureLimits { feature: String, lower: f64, upper: f64 },
    /// A column of a group that is not 0 or 1.
    #[error(
        "feature `{feature}`: a column of the group `{group}` is 0 or 1, not {kind}; make its kind \"binary\", or leave out the group"
    )]
    GroupKind { feature: String, group: String, kind: Kind },
    /// Categories that cannot be.
    #[error("feature `{feature}`: {problem}")]
    Categories { feature: String, problem: CategoryProblem },
    /// A group of one.
    #[error(
        "group `{group}` has one column only; give one for each of its categories, or leave out the group"
    )]
    GroupSize { group: String },
    /// Nobody's category, or two of them.
    #[error(
        "person {person}, group `{group}`: {ones} of its columns are 1; exactly one must be (add the column of a category that was left out)"
    )]
    GroupSum { person: usize, group: String, ones: usize },
    /// A category that something else would change by half.
    #[error(
        "feature `{feature}` is a category, and an action on `{cause}` would change it by fractions; leave out its equation, fix `{cause}`, or make its kind \"real\""
    )]
    CategoryFollows { feature: String, cause: String },
    /// A constraint that cannot be read or is not linear.
    #[error("constraint, column {column}: {problem}\n{}", pointed(rule, *column))]
    Rule { rule: String, column: usize, problem: RuleProblem },
    /// A constraint with a number that is none.
    #[error("a constraint has {value:?} among its numbers; all must be finite and no larger than 1e100")]
    ConstraintNumber { value: f64 },
    /// Transitions of something that has none.
    #[error(
        "feature `{feature}` is real: transitions are forbidden between whole numbers and between categories; write a constraint instead"
    )]
    ForbiddenReal { feature: String },
    /// A value that a feature cannot have.
    #[error("forbidden transition of `{feature}`: {value} is none of its values; give whole numbers")]
    ForbiddenValue { feature: String, value: f64 },
    /// A category that is none of the group's.
    #[error("group `{group}` has no column `{column}`; there are {}", quoted(known))]
    NotInGroup { group: String, column: String, known: Vec<String> },
    /// A group that is not there.
    #[error("there is no group `{group}`; there are {}", quoted(known))]
    UnknownGroup { group: String, known: Vec<String> },
    /// A transition from everywhere to everywhere.
    #[error(
        "a forbidden transition names neither where from nor where to; make it `change = \"fixed\"` instead"
    )]
    ForbiddenEverything,
    /// A method that does not know whole values or constraints.
    #[error("this method does not know all of the problem: {what}; choose the method `auto`, which does")]
    NotContinuous { what: String },
    /// A name that is not among the features.
    #[error("`{feature}` is no feature; there are {}", quoted(known))]
    UnknownFeature { feature: String, known: Vec<String> },
    /// A position beyond the features.
    #[error("there is no feature number {index}; there are {features}, counted from 0")]
    NoSuchFeature { index: usize, features: usize },

    /// Nobody to answer.
    #[error("there are no people; give at least one")]
    NoPeople,
    /// A row that is too short or too long.
    #[error("person {person} has {found} values; there are {expected} features")]
    RowLength { person: usize, expected: usize, found: usize },
    /// A feature that a record leaves out.
    #[error("person {person} has no value for feature `{feature}`; give one")]
    MissingValue { person: usize, feature: String },
    /// A feature that a record gives twice.
    #[error("person {person} has two values for feature `{feature}`; remove one")]
    RepeatedValue { person: usize, feature: String },
    /// NaN or infinity.
    #[error(
        "person {person}, feature `{feature}`: the value is {value:?}; give a finite number, no larger than 1e100 and no more than 1e100 standard deviations from the mean, or leave this person out"
    )]
    NotFinite { person: usize, feature: String, value: f64 },
    /// A person whom the limits exclude.
    #[error(
        "person {person}, feature `{feature}`: {} is outside [{}, {}]; correct the value or widen the limits",
        readable(*value), readable(*lower), readable(*upper)
    )]
    OutsideLimits { person: usize, feature: String, value: f64, lower: f64, upper: f64 },
    /// A fraction where whole numbers belong.
    #[error(
        "person {person}, feature `{feature}`: {} is not {kind}; correct the value or the feature's kind",
        readable(*value)
    )]
    WrongKind { person: usize, feature: String, value: f64, kind: Kind },
    /// A vector of the wrong length.
    #[error("a vector has {found} entries where {expected} are needed")]
    VectorLength { expected: usize, found: usize },
    /// A vector with NaN or infinity in it.
    #[error("feature `{feature}`: the value is {value}; it must be finite")]
    VectorNotFinite { feature: String, value: f64 },

    /// A second equation for a feature.
    #[error("feature `{feature}` has two equations; remove one")]
    DuplicateEquation { feature: String },
    /// A parent that is not among the features.
    #[error("equation of `{feature}`: the parent `{parent}` is no feature; there are {}", quoted(known))]
    UnknownParent { feature: String, parent: String, known: Vec<String> },
    /// A parent named twice.
    #[error("equation of `{feature}`: the parent `{parent}` is given twice; remove one")]
    DuplicateParent { feature: String, parent: String },
    /// Features that cause themselves.
    #[error("the causal graph has a cycle: {}; remove one of these arrows", arrows(features))]
    Cycle { features: Vec<String> },
    /// Coefficients or a network that do not fit the parents.
    #[error(
        "equation of `{feature}`: it takes {}, but {} named; {}",
        count_of(*inputs, "input"), parents_named(parents.len()), inputs_for_parents(parents)
    )]
    EquationInputs { feature: String, parents: Vec<String>, inputs: usize },
    /// A coefficient that is not finite.
    #[error(
        "equation of `{feature}`: {value:?} among its numbers; all must be finite and no larger than 1e100"
    )]
    EquationNumber { feature: String, value: f64 },
    /// A formula that cannot be read.
    #[error("formula of `{feature}`, column {column}: {problem}\n{}", pointed(formula, *column))]
    Formula { feature: String, formula: String, column: usize, problem: FormulaProblem },
    /// An equation whose noise cannot be recovered.
    #[error(
        "formula of `{feature}` cannot be solved for its noise: {reason}; change it or give its inverse\n  {formula}"
    )]
    NotInvertible { feature: String, formula: String, reason: Obstacle },
    /// An inverse that does not undo its formula.
    #[error(
        "inverse of `{feature}`: for the value {value} it gives u = {noise}, but the formula then gives {back}; correct one of the two"
    )]
    WrongInverse { feature: String, value: f64, noise: f64, back: f64 },
    /// A value that an equation cannot take.
    #[error(
        "feature `{feature}`: no noise was found for which its equation gives {value}; correct the value or the equation, or give the inverse"
    )]
    Unreachable { feature: String, value: f64 },
    /// A value that an equation clips.
    #[error(
        "feature `{feature}`: its equation clips values at {limit}, and there is {value}; correct the value or the equation"
    )]
    BeyondClip { feature: String, value: f64, limit: f64 },
    /// An intervention with two values for a feature.
    #[error("the intervention names feature `{feature}` twice; remove one")]
    RepeatedIntervention { feature: String },
    /// A perturbation that says nothing about an action.
    #[error("the perturbation leads to somebody whom the causal model cannot produce: {why}")]
    Nobody { why: Box<Error> },
    /// An action that fails because its result is not defined.
    #[error("the action leads to where the causal model is undefined: {why}")]
    ActionUndefined { why: Box<Error> },
    /// An equation that gives NaN or infinity.
    #[error(
        "feature `{feature}`: its equation gives {value} here; check the values of its parents, and the equation for logarithms, roots and divisions"
    )]
    EquationNotFinite { feature: String, value: f64 },
    /// A distribution with impossible parameters.
    #[error("noise of `{feature}`: {noise:?} is no distribution; check its parameters")]
    NoiseParameters { feature: String, noise: Noise },
    /// A feature whose noise is unknown.
    #[error("noise of `{feature}` is not given; sampling needs one for every feature")]
    MissingNoise { feature: String },
    /// More people than memory can hold.
    #[error("{people} people do not fit into memory; ask for fewer")]
    TooManyPeople { people: usize },
    /// A feature whose noise is given twice.
    #[error("noise of `{feature}` is given twice; remove one")]
    DuplicateNoise { feature: String },

    /// A network of nothing.
    #[error("a network has no layers; give at least one")]
    NetworkWithoutLayers,
    /// A network with several outputs.
    #[error("a network has {outputs} outputs; it must have one, the logit or the value")]
    NetworkOutputs { outputs: usize },
    /// Layers that do not fit together.
    #[error(
        "layer {layer} of a network: a weight of {outputs} x {inputs} with {biases} biases, where {expected} inputs come in; check the shapes"
    )]
    NetworkShape { layer: usize, outputs: usize, inputs: usize, biases: usize, expected: usize },
    /// NaN or infinity among weights.
    #[error(
        "layer {layer} of a network: {value:?} among its numbers; all must be finite and no larger than 1e100"
    )]
    NetworkNotFinite { layer: usize, value: f64 },
    /// A model file that cannot be used.
    #[error("{path}: {problem}", path = path.display())]
    File { path: PathBuf, problem: FileProblem },
    /// An ONNX model that cannot be used.
    #[error("the ONNX model {0}")]
    Onnx(OnnxProblem),
    /// A problem file with mistakes.
    #[error("{0}")]
    ProblemFile(Mistakes),
    /// A problem file that can be read but not edited.
    #[error("{path}: only TOML files are edited in place; write the problem as TOML", path = path.display())]
    NotEditable { path: PathBuf },
    /// A classifier that looks at another number of features.
    #[error(
        "the classifier takes {}, but there {}; give one coefficient, or one input of the network, for each feature, in this order: {}",
        count_of(*inputs, "input"), features_there(features.len()), quoted(features)
    )]
    ClassifierInputs { features: Vec<String>, inputs: usize },
    /// A weight that is not finite.
    #[error(
        "the classifier has {value:?} among its numbers; all must be finite and, with standardised inputs, no larger than 1e100"
    )]
    ClassifierNumber { value: f64 },
    /// A probability that decides nothing.
    #[error("the threshold is {threshold}; it must lie strictly between 0 and 1")]
    Threshold { threshold: f64 },
    /// A method for linear classifiers given another.
    #[error("this method needs a linear classifier; choose the method `auto` or `complete` for others")]
    ClassifierNotLinear,
    /// A method for linear causal models given another.
    #[error("this method needs linear equations, and that of `{feature}` is not; fit a linear one")]
    EquationNotLinear { feature: String },
    /// A statement about additive noise where it is not additive.
    #[error("this needs noise that is simply added, and that of `{feature}` is not")]
    EquationNotAdditive { feature: String },
    /// A statement about relative actions where they are absolute.
    #[error("this holds for relative actions (\"raise by\"), and the problem has absolute ones (\"reach\")")]
    AbsoluteActions,
    /// A causal model of other features.
    #[error(
        "the causal model or the people were built on other features than the problem; build all on the same"
    )]
    OtherFeatures,

    /// A norm weight that is not positive.
    #[error("weight {position} of the norm is {weight:?}; it must be positive, between 1e-100 and 1e100")]
    NormWeight { position: usize, weight: f64 },
    /// A norm for another number of features.
    #[error("the norm has {weights} weights; there are {features} features")]
    NormWeights { features: usize, weights: usize },
    /// An impossible amount of uncertainty.
    #[error("epsilon is {epsilon:?}; it must be at most 1e100 and not negative")]
    Epsilon { epsilon: f64 },
    /// An impossible margin.
    #[error("the safety margin is {safety:?}; it must be at most 1e100 and not negative")]
    Safety { safety: f64 },
    /// A score that overflows.
    #[error(
        "the classifier gives somebody the score {score}, which is no finite number; check the magnitudes of its weights and of the equations"
    )]
    ScoreNotFinite { score: f64 },
    /// Every feature is fixed.
    #[error(
        "every feature is fixed; say of at least one what may change it: \"increase\", \"decrease\" or \"any\""
    )]
    NothingActionable,
    /// Too many subsets to try.
    #[error(
        "{count} features are actionable; with a causal model every set of them is tried, which is done for up to {most}: fix some, or do without the causal model"
    )]
    TooManyActionable { count: usize, most: usize },

    /// A saved proof that cannot be read.
    #[error("the saved proof, at {place}: {problem}")]
    SavedProof { place: String, problem: SavedProblem },

    /// A name that is not that of a method.
    #[error("there is no method `{name}`; the methods are {known}")]
    UnknownMethod { name: String, known: String },
    /// A method that proves nothing.
    #[error("the method `{method}` proves nothing; choose `auto`, `exact` or `complete`")]
    NoProof { method: &'static str },
    /// A setting of a method that makes no sense.
    #[error("the setting `{setting}` is {value:?}, which is out of its range")]
    Setting { setting: &'static str, value: f64 },
    /// A method for independent features where they are not.
    #[error(
        "this method takes features to be independent, and the problem has a causal model; use that of Karimi et al."
    )]
    HasCausalModel,
    /// A method for causal models where there is none.
    #[error("this method needs a causal model, and the problem has none; use that of Wachter et al.")]
    NoCausalModel,

    /// Labels that do not match the rows.
    #[error("there are {rows} rows and {labels} labels; give one label for each row")]
    Labels { rows: usize, labels: usize },
    /// Training data in which everybody is alike.
    #[error("every label is the same; training needs both outcomes")]
    OneClass,
    /// A fit that does not settle.
    #[error(
        "the classifier could not be fitted: the likelihood has no clear maximum; standardise the columns, or drop outliers"
    )]
    NotConverged,
    /// Training that ran away.
    #[error(
        "training went out of bounds in epoch {epoch}; take a smaller step or smaller weights, or standardise the columns"
    )]
    Diverged { epoch: usize },
    /// A validation split that leaves nobody on one side.
    #[error(
        "holding out {share:?} of {samples} rows leaves nobody on one side; choose a share between 0 and 1, or give more rows"
    )]
    ValidationShare { share: f64, samples: usize },
    /// A number that is no probability.
    #[error("person {person}: {value} is no probability; give a number between 0 and 1")]
    Probability { person: usize, value: f64 },
    /// A share that is none.
    #[error("the false-positive rate is {rate}; it must lie between 0 and 1")]
    Rate { rate: f64 },
    /// A column that says nothing.
    #[error("column `{feature}` has the same value in every row; drop it, or leave it out of the graph")]
    ConstantColumn { feature: String },
    /// An equation to fit from nothing.
    #[error("no causes are named for `{feature}`; name at least one, or leave it out of the graph")]
    NoCauses { feature: String },
    /// Columns that determine each other.
    #[error("`{feature}` follows from the other columns (or is constant); drop it")]
    Collinear { feature: String },
    /// A cause that adds nothing.
    #[error(
        "equation of `{feature}`: its cause `{cause}` {}; leave it out of the graph",
        if *is_constant { "has the same value in every row" } else { "follows from the causes named before it" }
    )]
    CollinearCause { feature: String, cause: String, is_constant: bool },
}

impl Error {
    /// What stands in the way of the perturbed individual, as a statement about the perturbation.
    pub(crate) fn nobody(why: Error) -> Self {
        Error::Nobody { why: Box::new(why) }
    }

    /// What stands in the way of an action's result, as a statement about the action.
    pub(crate) fn action_undefined(why: Error) -> Self {
        Error::ActionUndefined { why: Box::new(why) }
    }

    /// Whether a problem is in order, but beyond [`Exact`](crate::Exact):
    /// [`Complete`](crate::Complete) answers it.
    pub fn is_beyond_exact(&self) -> bool {
        matches!(self, Error::ClassifierNotLinear | Error::EquationNotLinear { .. })
    }
}

/// What is wrong with a saved proof.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum SavedProblem {
    /// It is no JSON.
    #[error("this is no JSON: {0}")]
    Syntax(String),
    /// Something is not there.
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// Something else is expected.
    #[error("{0} is expected here")]
    Expected(&'static str),
    /// An uncertainty set without parameters that is none of the engine's own.
    #[error("{} is expected here", choices(.0))]
    NoSuchSet(Vec<&'static str>),
    /// Written in another way than this program reads.
    #[error("version {found} is not known; this program reads version {known}")]
    Version {
        /// The version of the file.
        found: u64,
        /// The version that is read.
        known: u64,
    },
    /// A list of another length than those beside it.
    #[error("there are {found} numbers where {expected} are needed")]
    Length {
        /// How many there must be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
}

/// What is wrong with a model file.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum FileProblem {
    /// It cannot be read.
    #[error("cannot be read: {0}")]
    Read(ReadProblem),
    /// It cannot be written.
    #[error("cannot be written: {}", no_folder(*.0))]
    Write(std::io::ErrorKind),
    /// It is no safetensors file.
    #[error("is no whole safetensors file: {0}")]
    Format(String),
    /// A tensor is not there.
    #[error("has no tensor `{0}`; name layers `layer0.weight`, `layer0.bias`, `layer1.weight`, ...")]
    Missing(String),
    /// The activation is another than was asked for.
    #[error("was written for the activation {0}")]
    Activation(String),
    /// What it holds is no network.
    #[error("{0}")]
    Network(String),
    /// A tensor is no matrix.
    #[error("`{0}` has the wrong number of dimensions; weights have two, biases one")]
    Shape(String),
    /// It is no ONNX model that is understood.
    #[error("{0}")]
    Onnx(OnnxProblem),
    /// A tensor is of whole numbers or the like.
    #[error("holds numbers of type {0}; save weights as F64 or F32")]
    Numbers(String),
}

/// What is not found when a file is written is its folder.
fn no_folder(kind: std::io::ErrorKind) -> String {
    match kind {
        std::io::ErrorKind::NotFound => "its folder does not exist".into(),
        other => other.to_string(),
    }
}

/// The formula around a column, with a caret under it.
fn pointed(formula: &str, column: usize) -> String {
    const REACH: usize = 60;
    let start = column.saturating_sub(REACH + 1);
    let visible = |c: char| if c.is_whitespace() { ' ' } else { c };
    let excerpt: String = formula.chars().skip(start).take(2 * REACH).map(visible).collect();
    format!("  {excerpt}\n  {}^", " ".repeat(column - 1 - start))
}

/// Names for a message: `` `a`, `b` and `c` ``.
pub(crate) fn quoted(names: &[String]) -> String {
    match names {
        [] => "none".into(),
        [only] => format!("`{only}`"),
        [first @ .., last] => {
            let first: Vec<String> = first.iter().map(|name| format!("`{name}`")).collect();
            format!("{} and `{last}`", first.join(", "))
        }
    }
}

/// "1 input", "2 inputs".
fn count_of(count: usize, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}

/// "1 parent is", "2 parents are".
fn parents_named(count: usize) -> String {
    format!("{} {}", count_of(count, "parent"), if count == 1 { "is" } else { "are" })
}

/// What to do where an equation does not fit its parents.
fn inputs_for_parents(parents: &[String]) -> String {
    match parents {
        [] => "name its parents in the order of its inputs".into(),
        _ => format!(
            "give one coefficient, or one input of the network, for each parent, in this order: {}",
            quoted(parents)
        ),
    }
}

/// "is 1 feature", "are 2 features".
fn features_there(count: usize) -> String {
    format!("{} {}", if count == 1 { "is" } else { "are" }, count_of(count, "feature"))
}

/// "`a`, `b` or `c`".
fn choices(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

fn arrows(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" -> ")
}
