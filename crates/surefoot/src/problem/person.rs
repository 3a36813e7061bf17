//! The problem of one person, where something about them is special or missing.

use std::sync::Arc;

use super::{Joint, Problem};
use crate::error::{PeopleError, RuleError};
use crate::feature::Missing;
use crate::uncertainty::{Shift, Sources};
use crate::{Change, Error, Norm, Result, Scm};

/// The weight of a special value in the norm, at least. No shift of so little survives the addition to a
/// value other than zero in double precision, and squares of weights stay finite.
const EXACT: f64 = 1e30;

/// What is special or missing about somebody: features, and bits of values.
type Key = Vec<(usize, u64)>;

/// The problem of a person about whom something is special or missing, and the person in it.
#[derive(Clone, Debug)]
pub struct OwnProblem {
    /// The problem that every answer about the person is about.
    pub problem: Problem,
    /// The person, in standardised units, with the values that stand in for missing ones.
    pub individual: Vec<f64>,
}

impl OwnProblem {
    /// What an answer is about: the own problem of a person, if there is one, otherwise that of everybody.
    pub(crate) fn or<'a>(
        own: Option<&'a Self>,
        problem: &'a Problem,
        individual: &'a [f64],
    ) -> (&'a Problem, &'a [f64]) {
        own.map_or((problem, individual), |own| (&own.problem, &own.individual))
    }
}

impl Problem {
    /// The problem of a person with special or missing values; `None` if there are none, so that the problem is this
    /// one.
    ///
    /// A special value is exact and stays as it is: no action changes its feature, no shift moves it, and it
    /// follows from nothing.
    ///
    /// In place of a missing value, which is NaN, stands the stated one, and the feature may have any value of the
    /// stated interval instead: no action changes it, and answers hold for the whole interval. What follows from the
    /// feature has the value that was reported, whatever the missing one is.
    ///
    /// Every answer about such a person is about this problem.
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
    /// assert_eq!(own.problem.features().actionable(), [1]);
    /// assert!(problem.for_person(&[-8.0, 1.0])?.is_none());
    /// # Ok::<(), surefoot::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a feature follows from a special or missing value by an equation that is not linear, or a constraint is
    /// about one: neither says anything about such a value. If the uncertainty of the feature is stated by itself. If
    /// an equation clips values and another value is missing.
    pub fn for_person(&self, individual: &[f64]) -> Result<Option<OwnProblem>> {
        let special: Vec<usize> =
            self.features.special_values(individual).into_iter().map(|(i, _)| i).collect();
        let missing = self.features.missing_values(individual);
        if special.is_empty() && missing.is_empty() {
            return Ok(None);
        }
        self.require_silent(&special)?;
        self.require_known(&missing)?;
        let individual = self.features.imputed(individual).into_owned();
        let is_kept = |i: &usize| special.contains(i) || missing.iter().any(|(known, _)| known == i);
        let actionable = self.features.actionable();
        // Somebody whom no action can help still has a feature of which the change is zero.
        let held = actionable.iter().all(is_kept).then(|| actionable.first()).flatten();
        let features = self.features.altered(|i, feature| {
            feature.special.clear();
            if let Some((_, Missing { value, lower, upper })) = missing.iter().find(|(known, _)| *known == i)
            {
                // What an action leads to by an equation is within the limits for every value.
                feature.lower += value - lower;
                feature.upper -= upper - value;
            }
            let value = feature.own_units(individual[i]);
            if Some(&i) == held {
                (feature.lower, feature.upper) = (value, value);
            } else if is_kept(&i) {
                feature.change = Change::Fixed;
                // A special value may be outside of the limits, which are about amounts.
                (feature.lower, feature.upper) = (feature.lower.min(value), feature.upper.max(value));
            }
        });
        // Only now, as this was asked for above.
        let features = features.altered(|_, feature| feature.missing = None);
        let mut own = Self { features: features.clone(), ..self.clone() };
        let mut weights = self.ball.weights(features.len());
        special.iter().for_each(|&i| weights[i] = weights[i].max(EXACT));
        let ball = self.ball.norm();
        own.ball = crate::Uncertainty::new(Norm::weighted(ball.set().clone(), weights)?, self.ball.radius())?;
        let cut = |scm: &Scm| scm.with_features(features.clone()).with_roots(&special);
        own.scm = self.scm.as_ref().map(cut).transpose()?;
        own.variations.try_each_causal_model(|scm| cut(scm).map(|own| *scm = own))?;
        let mut sources = own.joint.take().map_or_else(Sources::default, |joint| joint.sources.clone());
        // What is not carried out is not carried out wrongly.
        let executed = sources.execution.iter_mut().filter(|error| is_kept(&error.feature));
        executed.for_each(|error| (error.share, error.within) = (0.0, 0.0));
        if !missing.is_empty() {
            sources.shifts.resize(features.len(), Shift::Ball);
        }
        for &(i, Missing { lower, upper, .. }) in &missing {
            let [lower, upper] = [lower, upper].map(|value| features.standardise(i, value));
            // The value that stands in for the missing one is among them, whatever rounding does.
            sources.shifts[i] = Shift::Between(lower.min(individual[i]), upper.max(individual[i]));
            sources.alone.push(i);
        }
        if !sources.is_none() {
            let joint = Joint::new(&features, own.scm.as_ref(), &own.ball, &sources)?;
            own.joint = Some(Arc::new(joint));
        }
        own.prepare_joint()?;
        Ok(Some(OwnProblem { problem: own.with_requirements()?, individual }))
    }

    /// Rejects missing values about which more is stated than between which values they are.
    fn require_known(&self, missing: &[(usize, Missing)]) -> Result<()> {
        let name = |i: usize| self.features.feature(i).name.clone();
        for &(i, _) in missing {
            if let Some(sources) = self.sources() {
                let n = self.features.len();
                let unit = |row: usize, column: usize| f64::from(u8::from(row == column));
                let is_mixed = !sources.factor.is_empty()
                    && (0..n).any(|j| {
                        sources.factor[i * n + j] != unit(i, j) || sources.factor[j * n + i] != unit(j, i)
                    });
                let is_grouped = sources.groups.iter().any(|group| group.features.contains(&i));
                let has_slope = sources.coefficients.iter().any(|error| error.parent == i);
                if is_mixed || is_grouped || has_slope || sources.shift(i) != Shift::Ball {
                    return Err(Error::People(PeopleError::MissingUncertain { feature: name(i) }));
                }
            }
            if let Some(rule) = self.constraints.iter().find(|rule| rule.concerns(i)) {
                let rule = rule.text().to_owned();
                return Err(Error::Rule(RuleError::MissingValue { feature: name(i), rule }));
            }
        }
        Ok(())
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

    /// Whether an individual has a problem of their own.
    pub(crate) fn is_own(&self, individual: &[f64]) -> bool {
        individual.iter().any(|value| value.is_nan()) || !self.features.special_values(individual).is_empty()
    }

    /// The answers for individuals, in order: those with the same special and missing values are answered together,
    /// by the problem that they have in common. `answer` is given a problem, the positions of individuals, and these
    /// individuals with the values that stand in for missing ones.
    pub(crate) fn each_by_own<T>(
        &self,
        individuals: &[&[f64]],
        answer: impl Fn(&Self, &[usize], &[&[f64]]) -> Result<Vec<T>>,
    ) -> Result<Vec<T>> {
        let mut groups: Vec<(Key, Vec<usize>)> = vec![(Vec::new(), Vec::new())];
        for (place, individual) in individuals.iter().enumerate() {
            let special = self.features.special_values(individual);
            let special = special.into_iter().map(|(i, special)| (i, special.value.to_bits()));
            let missing = self.features.missing_values(individual).into_iter();
            let key: Key = special.chain(missing.map(|(i, _)| (i, f64::NAN.to_bits()))).collect();
            match groups.iter_mut().find(|(known, _)| *known == key) {
                Some((_, places)) => places.push(place),
                None => groups.push((key, vec![place])),
            }
        }
        let mut answers: Vec<Option<T>> = individuals.iter().map(|_| None).collect();
        for (_, places) in groups.into_iter().filter(|(_, places)| !places.is_empty()) {
            let own = self.for_person(individuals[places[0]])?;
            let imputed: Vec<_> =
                places.iter().map(|&place| self.features.imputed(individuals[place])).collect();
            let imputed: Vec<&[f64]> = imputed.iter().map(|individual| &**individual).collect();
            let found = answer(own.as_ref().map_or(self, |own| &own.problem), &places, &imputed)?;
            places.into_iter().zip(found).for_each(|(place, found)| answers[place] = Some(found));
        }
        Ok(answers.into_iter().flatten().collect())
    }

    /// Rejects an individual who has a problem of their own: whatever answers this problem would be wrong about
    /// them.
    pub(crate) fn require_usual(&self, individual: &[f64]) -> Result<()> {
        if let Some((i, _)) = self.features.missing_values(individual).first() {
            let feature = self.features.feature(*i).name.clone();
            return Err(Error::People(PeopleError::Missing { feature }));
        }
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
