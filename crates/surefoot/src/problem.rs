//! Problems: features, classifier, causal model, uncertainty, and restrictions of actions.

mod categories;
mod changes;
mod classifier;
mod committee;
mod edit;
mod entry;
mod fields;
mod file;
mod joint;
mod missing;
mod person;
mod rules;
mod sections;
mod special;
mod summary;
mod syntax;
mod uncertainty;
mod units;
mod variants;
mod wishes;
mod words;

use std::path::Path;
use std::sync::Arc;

pub use crate::error::{Fault, Mistake, Mistakes};
pub use changes::ChangeLimits;
pub(crate) use changes::first_of_unit;
pub use classifier::{ClassifierEntry, ClassifierForm, LinearModel, OnnxFile, StatedModel, TreesFile};
pub use edit::Edit;
pub use entry::{EquationEntry, EquationForm, Inputs, NetworkFile};
pub(crate) use fields::Fields;
pub use file::ProblemFile;
pub(crate) use joint::Joint;
pub use person::OwnProblem;
pub use summary::six_digits;
pub(crate) use syntax::{Node, Value};
use variants::Variations;
pub(crate) use words::read_words;

use crate::error::{CausalModelError, ModelError, SettingError};
use crate::magnitude::is_moderate;
use crate::{
    ActionKind, Classifier, Constraint, Cost, Error, Feature, Features, Forbidden, Kind, Norm, Result, Scm,
    Sources, Uncertainty, WeightEllipsoid, WeightUncertainty,
};

/// The default margin, in units of the score, that answers keep from the decision boundary in addition to
/// what the uncertainty requires. It covers rounding differences of another implementation with a different
/// order of summation. Answers of the method `trees`, which sums the leaves as the original program does,
/// keep a margin only if a larger safety is set.
pub const DEFAULT_SAFETY: f64 = 2e-9;

/// Everything that defines the recourse question, except the people.
///
/// By default there is no causal model and no uncertainty, and actions are relative with l1 cost.
///
/// ```
/// use surefoot::{Change, Classifier, Feature, Features, Norm, Problem};
///
/// let features = Features::new(vec![Feature::new("income").change(Change::Increase)])?;
/// let classifier = Classifier::linear(vec![1.0], -2.0, 0.5)?;
/// let problem = Problem::new(features, classifier)?.with_uncertainty(Norm::L2, 0.1)?;
/// assert_eq!(problem.epsilon(), 0.1);
/// # Ok::<(), surefoot::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Problem {
    features: Features,
    classifier: Classifier,
    scm: Option<Scm>,
    /// The shifts of a person.
    ball: Uncertainty,
    /// What is uncertain beside them, if anything is.
    joint: Option<Arc<Joint>>,
    /// The joint perturbations: the ball if nothing else is uncertain.
    uncertainty: Uncertainty,
    cost: Cost,
    form: ActionKind,
    safety: f64,
    constraints: Vec<Constraint>,
    limits_on: LimitsOn,
    /// The constraints, followed by the limits on features that are downstream of actions.
    requirements: Vec<Constraint>,
    forbidden: Vec<Forbidden>,
    /// Which features an action may change together.
    change_limits: ChangeLimits,
    /// The committee and the further causal models, if there are any.
    variations: Variations,
}

/// What the limits of features apply to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum LimitsOn {
    /// The outcome without a perturbation: every feature that an action changes, directly or as a
    /// consequence, stays within its limits.
    #[default]
    Outcome,
    /// The action itself: features that change only as a consequence may leave their limits. As in the
    /// paper.
    Action,
}

impl Problem {
    /// A problem over these features; the classifier must take all of them as inputs.
    pub fn new(features: Features, classifier: Classifier) -> Result<Self> {
        if classifier.inputs() != features.len() {
            return Err(Error::Model(ModelError::ClassifierInputs {
                features: features.names(),
                inputs: classifier.inputs(),
            }));
        }
        Ok(Self {
            features,
            classifier,
            scm: None,
            ball: Uncertainty::NONE,
            joint: None,
            uncertainty: Uncertainty::NONE,
            cost: Cost::default(),
            form: ActionKind::default(),
            safety: DEFAULT_SAFETY,
            constraints: Vec::new(),
            limits_on: LimitsOn::default(),
            requirements: Vec::new(),
            forbidden: Vec::new(),
            change_limits: ChangeLimits::none(),
            variations: Variations::default(),
        })
    }

    /// Reads a problem file, TOML or (named `.json`) JSON. If anything is wrong with it the
    /// error lists every mistake; see [`ProblemFile`].
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        ProblemFile::read(path)?.problem()
    }

    /// Sets the causal model. It must be built on the same features, and its equations must not let an
    /// action change a binary feature or a category.
    pub fn with_causal_model(mut self, scm: Scm) -> Result<Self> {
        if *scm.features() != self.features {
            return Err(Error::CausalModel(CausalModelError::OtherFeatures));
        }
        scm.require_whole_categories()?;
        self.scm = Some(scm);
        self.with_joint()?.with_requirements()
    }

    /// Requires actions to hold for every perturbation with `norm <= epsilon`, in standardised units.
    pub fn with_uncertainty(mut self, norm: Norm, epsilon: f64) -> Result<Self> {
        let uncertainty = Uncertainty::new(norm, epsilon)?;
        if let Some(weights) = uncertainty.norm().weights().filter(|w| w.len() != self.features.len()) {
            return Err(Error::Setting(SettingError::NormWeights {
                features: self.features.len(),
                weights: weights.len(),
            }));
        }
        self.ball = uncertainty;
        self.with_joint()
    }

    /// Sets the radius of the uncertainty, and keeps its norm.
    pub fn with_epsilon(mut self, epsilon: f64) -> Result<Self> {
        self.ball = self.ball.with_radius(epsilon)?;
        self.with_joint()
    }

    /// Sets what is uncertain beside the shift of a person within the ball: see [`Sources`]. Set the causal
    /// model before.
    ///
    /// # Errors
    /// If something is stated twice, about features or equations that cannot be uncertain in this way, or
    /// about a causal model that clips values.
    pub fn with_sources(mut self, sources: Sources) -> Result<Self> {
        sources.check(&self.features)?;
        self.joint = None;
        if !sources.is_none() {
            let joint = Joint::new(&self.features, self.scm.as_ref(), &self.ball, &sources)?;
            self.joint = Some(Arc::new(joint));
        }
        self.with_joint()
    }

    /// Prepares the set of joint perturbations again.
    fn with_joint(mut self) -> Result<Self> {
        self.prepare_joint()?;
        self.with_variants()
    }

    fn prepare_joint(&mut self) -> Result<()> {
        self.uncertainty = match self.joint.take() {
            None => self.ball.clone(),
            Some(joint) => {
                let joint = Joint::new(&self.features, self.scm.as_ref(), &self.ball, &joint.sources)?;
                let uncertainty = joint.uncertainty(&self.ball)?;
                self.joint = Some(Arc::new(joint));
                uncertainty
            }
        };
        Ok(())
    }

    /// Requires actions to hold for every classifier whose weights differ from those of the classifier by no more than
    /// stated; see [`Classifier::with_uncertain_weights`]. Of a committee, this holds for every member.
    ///
    /// # Errors
    /// As [`Classifier::with_uncertain_weights`]; if there are several variants and the worst case of one of them is
    /// not exact; if not all members of a committee must agree.
    pub fn with_uncertain_weights(self, uncertainty: WeightUncertainty) -> Result<Self> {
        self.map_classifiers(|classifier| classifier.clone().with_uncertain_weights(uncertainty))
    }

    /// Requires actions to hold for every classifier whose weights lie in an ellipsoid; see
    /// [`Classifier::with_weight_ellipsoid`].
    ///
    /// # Errors
    /// As [`Classifier::with_weight_ellipsoid`]; if a committee decides.
    pub fn with_weight_ellipsoid(self, ellipsoid: WeightEllipsoid) -> Result<Self> {
        if self.committee().is_some() {
            return Err(Error::Model(ModelError::WeightsOfCommittee));
        }
        self.map_classifiers(|classifier| classifier.clone().with_weight_ellipsoid(ellipsoid.clone()))
    }

    /// What is uncertain of the weights of whatever decides, in words. `None` where that is nothing, and where it is not
    /// the same for all members of a committee.
    pub fn uncertain_weights_in_words(&self) -> Option<String> {
        let words = self.classifier.uncertain_weights_in_words();
        let is_same = |decider: &Classifier| decider.uncertain_weights_in_words() == words;
        words.as_ref().filter(|_| self.deciders().all(is_same)).cloned()
    }

    /// Sets the measure of cost.
    pub fn with_cost(mut self, cost: Cost) -> Self {
        self.cost = cost;
        self.variations.for_each(|variant| variant.cost = cost);
        self
    }

    /// Sets whether actions are relative or absolute.
    pub fn with_action_kind(mut self, form: ActionKind) -> Self {
        self.form = form;
        self.variations.for_each(|variant| variant.form = form);
        self
    }

    /// Sets the margin, in units of the score, that answers keep in addition to what the uncertainty
    /// requires; the default is [`DEFAULT_SAFETY`]. For the method `trees` no more than the default is the
    /// same as none.
    pub fn with_safety(mut self, safety: f64) -> Result<Self> {
        if !(is_moderate(safety) && safety >= 0.0) {
            return Err(Error::Setting(SettingError::Safety { safety }));
        }
        self.safety = safety;
        self.with_variants()
    }

    /// Sets the constraints that the outcome of an action, without a perturbation, must meet.
    pub fn with_constraints(mut self, constraints: Vec<Constraint>) -> Result<Self> {
        if constraints.iter().any(|constraint| constraint.width() != self.features.len()) {
            return Err(Error::CausalModel(CausalModelError::OtherFeatures));
        }
        self.constraints = constraints;
        self.with_requirements()
    }

    /// Sets whether limits apply to outcomes or to actions only.
    pub fn with_limits_on(mut self, limits_on: LimitsOn) -> Result<Self> {
        self.limits_on = limits_on;
        self.with_requirements()
    }

    /// Recomputes the requirements on outcomes.
    fn with_requirements(mut self) -> Result<Self> {
        self.requirements = self.constraints.clone();
        if let (Some(scm), LimitsOn::Outcome) = (&self.scm, self.limits_on) {
            let followers = scm.followers(&self.features.actionable());
            for i in followers {
                self.requirements.extend(Constraint::limits(&self.features, i)?);
            }
        }
        self.with_variants()
    }

    /// Sets the transitions that no action may make.
    pub fn with_forbidden(mut self, forbidden: Vec<Forbidden>) -> Result<Self> {
        if forbidden.iter().any(|forbidden| forbidden.highest_position() >= self.features.len()) {
            return Err(Error::CausalModel(CausalModelError::OtherFeatures));
        }
        self.forbidden = forbidden;
        self.with_variants()
    }

    /// The same problem with some of the features fixed.
    pub(crate) fn without(&self, fixed: &[usize]) -> Self {
        let mut problem = Self { features: self.features.without(fixed), ..self.clone() };
        let Self { features, variations, .. } = &mut problem;
        variations.for_each(|variant| variant.features = features.clone());
        problem
    }

    /// The same problem over features that differ in limits, directions and weights only.
    pub(crate) fn with_features(&self, features: Features) -> Result<Self> {
        let problem = Self { features: features.clone(), ..self.clone() };
        match &self.scm {
            Some(scm) => problem.with_causal_model(scm.with_features(features))?.with_own_features(),
            None => problem.with_own_features(),
        }
    }

    /// The first feature that actions change by whole numbers or by multiples of a step, if there is one.
    pub(crate) fn whole_feature(&self) -> Option<&Feature> {
        self.features.iter().find(|feature| feature.is_actionable() && feature.spacing().is_some())
    }

    /// Whether an outcome, in standardised units, meets every requirement.
    pub(crate) fn is_met(&self, individual: &[f64], reached: &[f64]) -> bool {
        self.requirements.iter().all(|requirement| requirement.is_met(individual, reached))
    }

    /// Rejects problems that a method for real-valued changes in a box cannot answer.
    pub(crate) fn require_continuous(&self) -> Result<()> {
        let what = match (self.whole_feature(), self.requirements.first()) {
            (Some(feature), _) if feature.kind == Kind::Real => {
                format!("`{}` changes by multiples of a step", feature.name)
            }
            (Some(feature), _) => format!("`{}` is {}", feature.name, feature.kind),
            (None, Some(limit)) if limit.limited_feature().is_some() => {
                format!("limits hold for what follows from actions, {}", limit.text())
            }
            (None, Some(constraint)) => format!("there is a constraint, `{}`", constraint.text()),
            (None, None) if self.has_change_limits() => {
                "some features must not be changed together".to_owned()
            }
            (None, None) => return Ok(()),
        };
        Err(Error::Setting(SettingError::NotContinuous { what }))
    }

    /// The same problem with a stricter classifier: scores are lower by about this much.
    pub(crate) fn stricter(&self, by: f64) -> Result<Self> {
        self.map_classifiers(|classifier| classifier.stricter(by))
    }

    /// Where the score is only a lower bound of the worst case over weights: the same problem for one individual with
    /// weights that the uncertainty allows and that are bad for the individual. Actions that break with them are ruled
    /// out.
    pub(crate) fn for_ruling_out(&self, individual: &[f64]) -> Result<Option<Self>> {
        if self.classifier.is_exact() || individual.len() != self.features.len() {
            return Ok(None);
        }
        Ok(Some(Self { classifier: self.classifier.worst_weights(individual)?, ..self.clone() }))
    }

    /// The features.
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// The classifier; the first one that must agree if a [committee](Problem::committee) decides.
    pub fn classifier(&self) -> &Classifier {
        &self.classifier
    }

    /// The causal model, if there is one; the first of several.
    pub fn scm(&self) -> Option<&Scm> {
        self.scm.as_ref()
    }

    /// The uncertainty: the perturbations for which actions must hold. Where more than a shift within the
    /// ball is uncertain, these are joint perturbations, which have [`Problem::perturbation_width`]
    /// coordinates, in a product of sets.
    pub fn uncertainty(&self) -> &Uncertainty {
        &self.uncertainty
    }

    /// What is uncertain beside a shift within the ball, if anything is.
    pub fn sources(&self) -> Option<&Sources> {
        self.joint.as_ref().map(|joint| &joint.sources)
    }

    /// How joint perturbations act, if more than a shift within the ball is uncertain.
    pub(crate) fn joint(&self) -> Option<&Joint> {
        self.joint.as_deref()
    }

    /// The number of coordinates of a perturbation: that of the features unless more is uncertain.
    pub fn perturbation_width(&self) -> usize {
        self.joint.as_ref().map_or(self.features.len(), |joint| joint.width())
    }

    /// Rejects problems with more uncertainty than a shift within the ball. `refusal` builds the error from the
    /// words for what is uncertain.
    pub(crate) fn require_ball_only(&self, refusal: impl FnOnce(&'static str) -> SettingError) -> Result<()> {
        match self.joint() {
            None => Ok(()),
            Some(joint) => Err(Error::Setting(refusal(joint.sources.words()))),
        }
    }

    /// The norm of the ball.
    pub fn norm(&self) -> &Norm {
        self.ball.norm()
    }

    /// The radius of the ball.
    pub fn epsilon(&self) -> f64 {
        self.ball.radius()
    }

    /// The ball: the shifts of a person.
    pub fn ball(&self) -> &Uncertainty {
        &self.ball
    }

    /// The measure of cost.
    pub fn cost(&self) -> Cost {
        self.cost
    }

    /// Whether actions are relative or absolute.
    pub fn action_kind(&self) -> ActionKind {
        self.form
    }

    /// The margin that answers keep in addition to what the uncertainty requires.
    pub fn safety(&self) -> f64 {
        self.safety
    }

    /// The constraints on the outcome of an action.
    pub fn constraints(&self) -> &[Constraint] {
        &self.constraints
    }

    /// Whether limits apply to outcomes or to actions only.
    pub fn limits_on(&self) -> LimitsOn {
        self.limits_on
    }

    /// All requirements on the outcome of an action without a perturbation: the constraints and, with
    /// [`LimitsOn::Outcome`], the limits of features that may be downstream of actions.
    pub fn requirements(&self) -> &[Constraint] {
        &self.requirements
    }

    /// The transitions that no action may make.
    pub fn forbidden(&self) -> &[Forbidden] {
        &self.forbidden
    }
}
