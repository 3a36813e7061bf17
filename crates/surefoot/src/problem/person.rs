//! The problem of one person, where something about them is special.

use std::sync::Arc;

use super::{Joint, Problem};
use crate::error::{PeopleError, RuleError};
use crate::uncertainty::Shift;
use crate::{Change, Error, Norm, Result, Scm};

/// The weight of a special value in the norm, at least. No shift of so little survives the addition to a
/// value other than zero in double precision, and squares of weights stay finite.
const EXACT: f64 = 1e30;

/// The special values of somebody: features, and bits of values.
type Key = Vec<(usize, u64)>;

impl Problem {
    /// The problem of a person with special values; `None` if there are none, so that the problem is this one.
    ///
    /// A special value is exact and stays as it is: no action changes its feature, no shift moves it, and it
    /// follows from nothing. Every answer about such a person is about this problem.
    ///
    /// ```
    /// use surefoot::{Change, Classifier, Feature, Features, Problem, recourse, People};
    ///
    /// let features = Features::new(vec![
    ///     Feature::new("bureau").change(Change::Any).special(-9.0, Some("no bureau record")),
    ///     Feature::new("income").change(Change::Any),
    /// ])?;
    /// let problem = Problem::new(features.clone(), Classifier::linear(vec![1.0, 1.0], 0.0, 0.5)?)?;
    /// let own = problem.for_person(&[-9.0, 1.0])?.unwrap();
    /// assert_eq!(own.features().actionable(), [1]);
    /// assert!(problem.for_person(&[-8.0, 1.0])?.is_none());
    /// # Ok::<(), surefoot::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a feature follows from a special value by an equation that is not linear, or a constraint is about one:
    /// neither says anything about such a value.
    pub fn for_person(&self, individual: &[f64]) -> Result<Option<Self>> {
        let special: Vec<usize> =
            self.features.special_values(individual).into_iter().map(|(i, _)| i).collect();
        if special.is_empty() {
            return Ok(None);
        }
        self.require_silent(&special)?;
        let actionable = self.features.actionable();
        // Somebody whom no action can help still has a feature of which the change is zero.
        let held = actionable.iter().all(|i| special.contains(i)).then(|| actionable.first()).flatten();
        let features = self.features.altered(|i, feature| {
            feature.special.clear();
            if Some(&i) == held {
                let value = feature.own_units(individual[i]);
                (feature.lower, feature.upper) = (value, value);
            } else if special.contains(&i) {
                feature.change = Change::Fixed;
            }
        });
        let mut own = Self { features: features.clone(), ..self.clone() };
        let mut weights = self.ball.weights(features.len());
        special.iter().for_each(|&i| weights[i] = weights[i].max(EXACT));
        let ball = self.ball.norm();
        own.ball = crate::Uncertainty::new(Norm::weighted(ball.set().clone(), weights)?, self.ball.radius())?;
        let cut = |scm: &Scm| scm.with_features(features.clone()).with_roots(&special);
        own.scm = self.scm.as_ref().map(cut).transpose()?;
        own.variations.try_each_causal_model(|scm| cut(scm).map(|own| *scm = own))?;
        if let Some(joint) = own.joint.take() {
            let mut sources = joint.sources.clone();
            // What is not carried out is not carried out wrongly.
            let executed = sources.execution.iter_mut().filter(|error| special.contains(&error.feature));
            executed.for_each(|error| (error.share, error.within) = (0.0, 0.0));
            let joint = Joint::new(&features, own.scm.as_ref(), &own.ball, &sources)?;
            own.joint = Some(Arc::new(joint));
        }
        own.prepare_joint()?;
        own.with_requirements().map(Some)
    }

    /// Rejects special values about which an equation or a constraint would have to say something.
    fn require_silent(&self, special: &[usize]) -> Result<()> {
        let name = |i: usize| self.features.feature(i).name.clone();
        for scm in self.causal_models() {
            for effect in scm.nonlinear() {
                if let Some(&i) = scm.parents(effect).iter().find(|parent| special.contains(parent))
                    && !special.contains(&effect)
                {
                    let (feature, effect) = (name(i), name(effect));
                    return Err(Error::People(PeopleError::SpecialCause { feature, effect }));
                }
            }
        }
        if let Some(sources) = self.sources() {
            let is_stated = |i: &usize| {
                !matches!(sources.shift(*i), Shift::Ball | Shift::Exact)
                    || sources.bands.iter().any(|band| band.feature == *i)
                    || sources.coefficients.iter().any(|error| error.feature == *i)
            };
            if let Some(i) = special.iter().copied().find(is_stated) {
                return Err(Error::People(PeopleError::SpecialUncertain { feature: name(i) }));
            }
        }
        for rule in &self.constraints {
            if let Some(&i) = special.iter().find(|&&i| rule.concerns(i)) {
                let rule = rule.text().to_owned();
                return Err(Error::Rule(RuleError::SpecialValue { feature: name(i), rule }));
            }
        }
        Ok(())
    }

    /// The answers for individuals, in order: those with the same special values are answered together, by the
    /// problem that they have in common. `answer` is given a problem and the positions of individuals.
    pub(crate) fn each_by_own<T>(
        &self,
        individuals: &[&[f64]],
        answer: impl Fn(&Self, &[usize]) -> Result<Vec<T>>,
    ) -> Result<Vec<T>> {
        let mut groups: Vec<(Key, Vec<usize>)> = vec![(Vec::new(), Vec::new())];
        for (place, individual) in individuals.iter().enumerate() {
            let special = self.features.special_values(individual);
            let key: Key = special.into_iter().map(|(i, special)| (i, special.value.to_bits())).collect();
            match groups.iter_mut().find(|(known, _)| *known == key) {
                Some((_, places)) => places.push(place),
                None => groups.push((key, vec![place])),
            }
        }
        let mut answers: Vec<Option<T>> = individuals.iter().map(|_| None).collect();
        for (_, places) in groups.into_iter().filter(|(_, places)| !places.is_empty()) {
            let own = self.for_person(individuals[places[0]])?;
            let found = answer(own.as_ref().unwrap_or(self), &places)?;
            places.into_iter().zip(found).for_each(|(place, found)| answers[place] = Some(found));
        }
        Ok(answers.into_iter().flatten().collect())
    }

    /// Rejects an individual who has a problem of their own: whatever answers this problem would be wrong about
    /// them.
    pub(crate) fn require_usual(&self, individual: &[f64]) -> Result<()> {
        match self.features.special_values(individual).first() {
            None => Ok(()),
            Some((i, special)) => Err(Error::People(PeopleError::Special {
                feature: self.features.feature(*i).name.clone(),
                value: special.value,
            })),
        }
    }

    /// Whether a special value of the person whose problem it is makes a feature exact.
    pub(crate) fn is_exact(&self, feature: usize) -> bool {
        self.ball.norm().weights().is_some_and(|weights| weights[feature] >= EXACT)
    }
}
