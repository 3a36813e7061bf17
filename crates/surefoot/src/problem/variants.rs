//! The variants of a problem: every classifier that must agree, with every causal model that may be right.

use super::{LimitsOn, Problem};
use crate::classifier::MOST_VARIANTS;
use crate::error::{CausalModelError, ModelError, SettingError};
use crate::{Classifier, Committee, Error, Result, Scm};

/// The parts of a problem that may vary, beside its first classifier and its first causal model.
#[derive(Clone, Debug, Default)]
pub(super) struct Variations {
    /// The committee, if several classifiers decide, and its further deciders.
    committee: Option<(Committee, Vec<Classifier>)>,
    /// Further causal models with their names.
    causal_models: Vec<(String, Scm)>,
    /// The variants, if there is more than one.
    variants: Vec<Problem>,
}

impl Variations {
    /// Changes every variant.
    pub fn for_each(&mut self, change: impl Fn(&mut Problem)) {
        self.variants.iter_mut().for_each(change);
    }

    /// Changes every further causal model; the variants have to be built anew.
    pub fn try_each_causal_model(&mut self, mut change: impl FnMut(&mut Scm) -> Result<()>) -> Result<()> {
        self.causal_models.iter_mut().try_for_each(|(_, scm)| change(scm))
    }
}

impl Problem {
    /// Lets a committee decide instead of one classifier.
    ///
    /// # Errors
    /// If the members take another number of features, or if there are too many variants.
    pub fn with_committee(mut self, committee: Committee) -> Result<Self> {
        let mut deciders = committee.deciders()?;
        let first = deciders.remove(0);
        if first.inputs() != self.features.len() {
            return Err(Error::Model(ModelError::ClassifierInputs {
                features: self.features.names(),
                inputs: first.inputs(),
            }));
        }
        self.classifier = first;
        self.variations.committee = Some((committee, deciders));
        self.with_variants()
    }

    /// Requires actions to hold for further causal models as well, each with a name for sentences. They must be
    /// built on the same features. Outcomes that are stated, and those that must meet limits and constraints,
    /// are those of the first causal model.
    ///
    /// # Errors
    /// If a model has other features or if an action changes a category by way of it, or if there are too many
    /// variants.
    pub fn with_alternative_causal_models(mut self, causal_models: Vec<(String, Scm)>) -> Result<Self> {
        for (_, scm) in &causal_models {
            if *scm.features() != self.features {
                return Err(Error::CausalModel(CausalModelError::OtherFeatures));
            }
            scm.require_whole_categories()?;
        }
        self.variations.causal_models = causal_models;
        self.with_variants()
    }

    /// The variants of the problem, each with one classifier and one causal model. An action holds iff it
    /// holds for every variant. The first one has the first classifier and the first causal model.
    pub fn variants(&self) -> &[Problem] {
        match &self.variations.variants[..] {
            [] => std::slice::from_ref(self),
            variants => variants,
        }
    }

    /// The committee that decides, if there is one.
    pub fn committee(&self) -> Option<&Committee> {
        self.variations.committee.as_ref().map(|(committee, _)| committee)
    }

    /// Further causal models with their names.
    pub fn alternative_causal_models(&self) -> &[(String, Scm)] {
        &self.variations.causal_models
    }

    /// Every causal model: the first one and the further ones.
    pub(crate) fn causal_models(&self) -> Vec<&Scm> {
        self.scm.iter().chain(self.variations.causal_models.iter().map(|(_, scm)| scm)).collect()
    }

    /// The least score that a variant gives to an individual: favourable iff not negative.
    pub fn score(&self, individual: &[f64]) -> f64 {
        let individual = &*self.features.imputed(individual);
        let scores = self.deciders().map(|classifier| classifier.score(individual));
        // The least; NaN if one of them is.
        scores.fold(f64::INFINITY, |a, b| if b.is_nan() || b < a { b } else { a })
    }

    /// As [`Problem::score`] with the trained weights, where weights are uncertain.
    pub(crate) fn trained_score(&self, individual: &[f64]) -> f64 {
        let individual = &*self.features.imputed(individual);
        let scores = self.deciders().map(|classifier| classifier.trained().score(individual));
        scores.fold(f64::INFINITY, |a, b| if b.is_nan() || b < a { b } else { a })
    }

    /// The score; an error if it is not finite.
    pub(crate) fn finite_score(&self, individual: &[f64]) -> Result<f64> {
        self.require_usual(individual)?;
        let score = self.score(individual);
        if score.is_finite() { Ok(score) } else { Err(Error::Model(ModelError::ScoreNotFinite { score })) }
    }

    /// Which classifier and which causal model a variant has, in words, as far as there are several:
    /// "according to model `2022`", "according to the models `a` and `b`", "with the causal model `other.toml`".
    /// `None` if the problem has neither a committee nor further causal models.
    pub fn variant_in_words(&self, variant: usize) -> Option<String> {
        let deciders = self.deciders().count();
        let mut words = Vec::new();
        if let Some(committee) = self.committee() {
            let subset = &committee.subsets()[variant % deciders];
            let names: Vec<String> =
                subset.iter().map(|&member| committee.members()[member].0.clone()).collect();
            words.push(match &names[..] {
                [only] => format!("according to model `{only}`"),
                _ => format!("according to the models {}", crate::error::quoted(&names)),
            });
        }
        if !self.variations.causal_models.is_empty() {
            words.push(match (variant / deciders).checked_sub(1) {
                None if self.scm.is_none() => "with independent features".into(),
                None => "with the first causal model".into(),
                Some(other) => format!("with the causal model `{}`", self.variations.causal_models[other].0),
            });
        }
        (!words.is_empty()).then(|| words.join(", "))
    }

    /// Rejects a problem with several variants.
    ///
    /// # Errors
    /// [`SettingError::SeveralVariants`] with what it is that answers one variant only.
    pub(crate) fn require_one_variant(&self, what: &'static str) -> Result<()> {
        match self.variants().len() {
            1 => Ok(()),
            variants => Err(Error::Setting(SettingError::SeveralVariants { what, variants })),
        }
    }

    /// The classifiers that must all be favourable.
    pub(crate) fn deciders(&self) -> impl Iterator<Item = &Classifier> {
        let further = self.variations.committee.iter().flat_map(|(_, deciders)| deciders);
        std::iter::once(&self.classifier).chain(further)
    }

    /// The same problem whose classifiers are all replaced.
    pub(super) fn map_classifiers(&self, map: impl Fn(&Classifier) -> Result<Classifier>) -> Result<Self> {
        let mut problem = Self { classifier: map(&self.classifier)?, ..self.clone() };
        if let Some((_, deciders)) = &mut problem.variations.committee {
            *deciders = deciders.iter().map(map).collect::<Result<_>>()?;
        }
        problem.with_variants()
    }

    /// The same problem with further causal models over its own features, after these have changed.
    pub(super) fn with_own_features(mut self) -> Result<Self> {
        for (_, scm) in &mut self.variations.causal_models {
            *scm = scm.with_features(self.features.clone());
        }
        self.with_variants()
    }

    /// Builds the variants anew. Whatever sets a part of the problem ends with it.
    pub(super) fn with_variants(mut self) -> Result<Self> {
        let classifiers: Vec<Classifier> = self.deciders().cloned().collect();
        let count = classifiers.len() * (1 + self.variations.causal_models.len());
        if count > MOST_VARIANTS {
            return Err(Error::Setting(SettingError::TooManyVariants {
                variants: count,
                most: MOST_VARIANTS,
            }));
        }
        self.variations.variants = Vec::new();
        if count == 1 {
            return Ok(self);
        }
        if !classifiers.iter().all(Classifier::is_exact) {
            return Err(Error::Setting(SettingError::UncertainVariants { variants: count }));
        }
        let single = Self { variations: Variations::default(), ..self.clone() };
        let with = |problem: &Self, classifier: &Classifier| Self {
            classifier: classifier.clone(),
            ..problem.clone()
        };
        let mut variants: Vec<Problem> = Vec::with_capacity(count);
        variants.extend(classifiers.iter().map(|classifier| with(&single, classifier)));
        for (_, scm) in &self.variations.causal_models {
            // What outcomes must meet is a matter of the first causal model.
            let mut other = Self {
                scm: Some(scm.clone()),
                constraints: Vec::new(),
                limits_on: LimitsOn::Action,
                requirements: Vec::new(),
                ..single.clone()
            };
            other.prepare_joint()?;
            variants.extend(classifiers.iter().map(|classifier| with(&other, classifier)));
        }
        self.variations.variants = variants;
        Ok(self)
    }
}
