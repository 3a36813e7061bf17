//! Restrictions of outcomes beyond limits: linear constraints and forbidden transitions.
//!
//! Both apply to the unperturbed individual. A [`Constraint`] restricts the counterfactual, including all
//! consequences of the action. A [`Forbidden`] transition restricts what the action itself does to one
//! feature or one group.

use crate::error::{FeatureError, PeopleError, RuleError};
use crate::error::{FormulaProblem, RuleProblem};
use crate::expression::Expression;
use crate::magnitude::is_moderate;
use crate::{Change, Error, Feature, Features, Kind, Result};

/// A linear inequality between features, in people's own units.
///
/// ```
/// use surefoot::{Constraint, Feature, Features};
///
/// let features = Features::new(vec![Feature::new("income").scaling(3000.0, 1500.0), Feature::new("rent")])?;
/// let affordable = Constraint::parse(&features, "income >= 3 * rent + 100")?;
/// assert!(affordable.value(&[0.0, 966.0]) >= 0.0 && affordable.value(&[0.0, 967.0]) < 0.0);
///
/// let error = Constraint::parse(&features, "income >= rent ^ 2").unwrap_err().to_string();
/// assert!(error.ends_with("  income >= rent ^ 2\n            ^"), "{error}");
/// # Ok::<(), surefoot::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Constraint {
    text: String,
    /// The terms in people's own units.
    terms: Vec<Term>,
    constant: f64,
    /// The sum of the absolute values of the coefficients in standardised units, by which values are
    /// divided.
    scale: f64,
    /// The coefficients in standardised units, scaled so that their absolute values sum to one.
    coefficients: Vec<f64>,
    /// The constant in standardised units, scaled and rounded up.
    offset: f64,
    /// The feature whose limit this constraint is, if it is one.
    limit: Option<usize>,
}

/// A coefficient times a feature.
#[derive(Clone, Debug, PartialEq)]
struct Term {
    index: usize,
    feature: Feature,
    coefficient: f64,
}

/// An upper bound of the relative error of converting a value to standardised units and back, and of
/// adding a few such values.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

impl Constraint {
    /// Whether the value of a feature matters.
    pub(crate) fn concerns(&self, feature: usize) -> bool {
        self.coefficients[feature] != 0.0
    }

    /// Parses a rule such as `2 * income - loan >= 100`: two formulas with `>=` or `<=` between them,
    /// linear in the features.
    pub fn parse(features: &Features, rule: &str) -> Result<Self> {
        let fault =
            |column: usize, problem| Error::Rule(RuleError::Rule { rule: rule.into(), column, problem });
        let characters: Vec<char> = rule.chars().collect();
        let mut quoted = false;
        let mut comparisons = Vec::new();
        for (position, c) in characters.iter().enumerate() {
            quoted ^= *c == '`';
            if !quoted && "<>=≤≥≠".contains(*c) {
                comparisons.push(position);
            }
        }
        let (at, sign) = match comparisons[..] {
            [] => return Err(fault(characters.len() + 1, RuleProblem::NoComparison)),
            [at, next] if next == at + 1 && characters[next] == '=' && characters[at] != '=' => {
                (at, if characters[at] == '>' { 1.0 } else { -1.0 })
            }
            [first, .., last] if last > first + 1 => return Err(fault(last + 1, RuleProblem::Comparison)),
            [first, ..] => return Err(fault(first + 1, RuleProblem::Comparison)),
        };
        let mut coefficients = vec![0.0; features.len()];
        let mut constant = 0.0;
        let mut is_named = false;
        let sides = [(0, &characters[..at], sign), (at + 2, &characters[at + 2..], -sign)];
        for (start, side, sign) in sides {
            let text: String = side.iter().collect();
            let expression = Expression::parse(&text)
                .map_err(|(column, problem)| fault(start + column, RuleProblem::Formula(problem)))?;
            for (slot, input) in expression.inputs().iter().enumerate() {
                let column = start + input.column;
                let Ok(i) = features.index(&input.name) else {
                    let (name, known) = (input.name.clone(), features.names());
                    return Err(fault(column, RuleProblem::Formula(FormulaProblem::Name { name, known })));
                };
                let coefficient = expression.coefficient(slot);
                let coefficient =
                    coefficient.ok_or_else(|| fault(column, RuleProblem::NotLinear(input.name.clone())))?;
                coefficients[i] += sign * coefficient;
                is_named = true;
            }
            constant += sign * expression.evaluate(&|_| 0.0);
        }
        if !is_named {
            return Err(fault(1, RuleProblem::NoFeature));
        }
        Ok(Self { text: rule.trim().into(), ..Self::new(features, &coefficients, constant)? })
    }

    /// `coefficients . features + constant >= 0`, in people's own units.
    pub fn new(features: &Features, coefficients: &[f64], constant: f64) -> Result<Self> {
        if coefficients.len() != features.len() {
            return Err(Error::People(PeopleError::VectorLength {
                expected: features.len(),
                found: coefficients.len(),
            }));
        }
        if let Some(&value) = coefficients.iter().chain([&constant]).find(|value| !is_moderate(**value)) {
            return Err(Error::Rule(RuleError::ConstraintNumber { value }));
        }
        let terms: Vec<Term> = (0..features.len())
            .filter(|&index| coefficients[index] != 0.0)
            .map(|index| Term {
                index,
                feature: features.feature(index).clone(),
                coefficient: coefficients[index],
            })
            .collect();
        let scale: f64 = terms.iter().map(|term| (term.feature.std * term.coefficient).abs()).sum();
        let scale = if scale > 0.0 { scale } else { 1.0 };
        let means = terms.iter().map(|term| term.feature.mean * term.coefficient);
        let size = means.clone().map(f64::abs).sum::<f64>() + constant.abs();
        let offset = (means.sum::<f64>() + constant) / scale + 4.0 * ROUNDING * (size / scale);
        let scaled: Vec<f64> = features.iter().zip(coefficients).map(|(f, c)| f.std * c / scale).collect();
        if let Some(value) = scaled.iter().chain([&offset]).copied().find(|value| !value.is_finite()) {
            return Err(Error::Rule(RuleError::ConstraintNumber { value }));
        }
        let sum: Vec<String> =
            terms.iter().map(|term| format!("{} * `{}`", term.coefficient, term.feature.name)).collect();
        let text = format!("{} + {constant} >= 0", sum.join(" + "));
        Ok(Self { text, terms, constant, scale, coefficients: scaled, offset, limit: None })
    }

    /// The finite limits of a feature as constraints on its outcome.
    pub(crate) fn limits(features: &Features, index: usize) -> Result<Vec<Self>> {
        let feature = features.feature(index);
        let mut limits = Vec::new();
        for (limit, sign, comparison) in [(feature.lower, 1.0, ">="), (feature.upper, -1.0, "<=")] {
            if !limit.is_finite() {
                continue;
            }
            let mut coefficients = vec![0.0; features.len()];
            coefficients[index] = sign;
            let text = format!("`{}` {comparison} {limit}", feature.name);
            limits.push(Self {
                text,
                limit: Some(index),
                ..Self::new(features, &coefficients, -sign * limit)?
            });
        }
        Ok(limits)
    }

    /// The rule as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The feature whose limit this constraint is, if it is one.
    pub(crate) fn limited_feature(&self) -> Option<usize> {
        self.limit
    }

    /// The surplus of an individual, in standardised units: negative if the constraint is not met. It is
    /// evaluated in people's own units, then scaled so that a difference of one is about one standard
    /// deviation.
    pub fn value(&self, individual: &[f64]) -> f64 {
        let own = |term: &Term| term.feature.snap_to_integer(term.feature.own_units(individual[term.index]));
        let sum: f64 = self.terms.iter().map(|term| term.coefficient * own(term)).sum();
        (sum + self.constant) / self.scale
    }

    /// Whether `reached` meets it exactly. If none of its features differs from `individual`, it suffices
    /// to meet it up to the rounding of units, since the action does not affect it.
    pub(crate) fn is_met(&self, individual: &[f64], reached: &[f64]) -> bool {
        let is_changed = self.terms.iter().any(|term| individual[term.index] != reached[term.index]);
        self.value(reached) >= if is_changed { 0.0 } else { -self.rounding(reached) }
    }

    /// An upper bound of the error of [`Constraint::value`] that the conversion of units causes.
    pub(crate) fn rounding(&self, individual: &[f64]) -> f64 {
        let size = |term: &Term| {
            let Feature { mean, std, .. } = term.feature;
            term.coefficient.abs() * (mean.abs() + (std * individual[term.index]).abs())
        };
        ROUNDING * (self.terms.iter().map(size).sum::<f64>() + self.constant.abs()) / self.scale
    }

    /// The number of features that it was built on.
    pub(crate) fn width(&self) -> usize {
        self.coefficients.len()
    }

    /// An affine function `constant + coefficients . x` of the individual in standardised units. It is an
    /// upper bound of [`Constraint::value`], up to the rounding of its terms: where it is negative by
    /// more than that, the constraint is not met.
    pub(crate) fn upper_terms(&self) -> (f64, &[f64]) {
        (self.offset, &self.coefficients)
    }

    /// The value of [`Constraint::upper_terms`] for an individual.
    pub(crate) fn upper_value(&self, individual: &[f64]) -> f64 {
        self.offset + self.coefficients.iter().zip(individual).map(|(c, x)| c * x).sum::<f64>()
    }
}

/// Transitions that no action may make in one step. Staying is not a transition.
#[derive(Clone, Debug, PartialEq)]
pub enum Forbidden {
    /// From one category of a group to another.
    Categories {
        /// Positions of the columns that must not be left; empty for all.
        from: Vec<usize>,
        /// Positions of the columns that must not be entered from there; empty for all.
        to: Vec<usize>,
    },
    /// From one value of an integer or binary feature to another.
    Values {
        /// Its position.
        feature: usize,
        /// The values, in own units, that must not be left; empty for all.
        from: Vec<f64>,
        /// The values that must not be reached from there; empty for all.
        to: Vec<f64>,
    },
}

impl Forbidden {
    /// From any of the columns `from` of a group to any of `to`, by name or by the text of the category.
    /// An empty list means all.
    pub fn categories(features: &Features, group: &str, from: &[&str], to: &[&str]) -> Result<Self> {
        let groups = features.groups();
        let Some(found) = groups.iter().find(|found| found.name == group) else {
            let known = groups.into_iter().map(|group| group.name).collect();
            return Err(Error::Feature(FeatureError::UnknownGroup { group: group.into(), known }));
        };
        let name = |&i: &usize| features.feature(i).name.clone();
        let position = |&column: &&str| {
            let is_meant = |i: &usize| name(i) == column || features.feature(*i).plain_name() == column;
            let position = found.columns.iter().copied().find(is_meant);
            position.ok_or_else(|| {
                Error::Feature(FeatureError::NotInGroup {
                    group: group.into(),
                    column: column.into(),
                    known: found.columns.iter().map(name).collect(),
                })
            })
        };
        let columns = |names: &[&str]| names.iter().map(position).collect::<Result<Vec<usize>>>();
        if from.is_empty() && to.is_empty() {
            return Err(Error::Rule(RuleError::ForbiddenEverything));
        }
        Ok(Self::Categories { from: columns(from)?, to: columns(to)? })
    }

    /// The transitions that go down (if the change is `Increase`) or up (`Decrease`) in a group whose categories have
    /// an order, that of its columns, the lowest first; none for other changes.
    ///
    /// ```
    /// use surefoot::{Change, Feature, Features, Forbidden};
    ///
    /// let education = Feature::new("education").change(Change::Any).one_of(["none", "basic", "degree"]);
    /// let features = Features::new(education)?;
    /// let forbidden = Forbidden::against_order(&features, "education", Change::Increase)?;
    /// let expected = [
    ///     Forbidden::categories(&features, "education", &["basic"], &["none"])?,
    ///     Forbidden::categories(&features, "education", &["degree"], &["none", "basic"])?,
    /// ];
    /// assert_eq!(forbidden, expected);
    /// # Ok::<(), surefoot::Error>(())
    /// ```
    pub fn against_order(features: &Features, group: &str, change: Change) -> Result<Vec<Self>> {
        let groups = features.groups();
        let Some(found) = groups.iter().find(|found| found.name == group) else {
            let known = groups.into_iter().map(|group| group.name).collect();
            return Err(Error::Feature(FeatureError::UnknownGroup { group: group.into(), known }));
        };
        let against = |k: usize| {
            let to = match change {
                Change::Increase => &found.columns[..k],
                Change::Decrease => &found.columns[k + 1..],
                Change::Fixed | Change::Any => &[],
            };
            Self::Categories { from: vec![found.columns[k]], to: to.to_vec() }
        };
        let rules = (0..found.columns.len()).map(against);
        Ok(rules.filter(|rule| matches!(rule, Self::Categories { to, .. } if !to.is_empty())).collect())
    }

    /// From any of the values `from` of a feature, in own units, to any of `to`. An empty list means all.
    pub fn values(features: &Features, feature: &str, from: &[f64], to: &[f64]) -> Result<Self> {
        let index = features.index(feature)?;
        if features.feature(index).kind == Kind::Real {
            return Err(Error::Rule(RuleError::ForbiddenReal { feature: feature.into() }));
        }
        if from.is_empty() && to.is_empty() {
            return Err(Error::Rule(RuleError::ForbiddenEverything));
        }
        let is_integer = |value: &&f64| value.is_finite() && value.fract() == 0.0;
        if let Some(&value) = from.iter().chain(to).find(|value| !is_integer(value)) {
            return Err(Error::Rule(RuleError::ForbiddenValue { feature: feature.into(), value }));
        }
        Ok(Self::Values { feature: index, from: from.to_vec(), to: to.to_vec() })
    }

    /// Whether it forbids the move from one column of a group to another.
    pub(crate) fn forbids_move(&self, leaving: usize, entering: usize) -> bool {
        let names = |list: &[usize], i: usize| list.is_empty() || list.contains(&i);
        match self {
            Forbidden::Categories { from, to } => names(from, leaving) && names(to, entering),
            Forbidden::Values { .. } => false,
        }
    }

    /// Whether it forbids the change of a feature from one value to another.
    pub(crate) fn forbids_step(&self, index: usize, leaving: f64, reaching: f64) -> bool {
        let names = |list: &[f64], value: f64| list.is_empty() || list.contains(&value);
        match self {
            Forbidden::Values { feature, from, to } => {
                *feature == index && names(from, leaving) && names(to, reaching) && leaving != reaching
            }
            Forbidden::Categories { .. } => false,
        }
    }

    /// Whether it forbids every change of a feature from a value.
    pub(crate) fn forbids_leaving(&self, index: usize, leaving: f64) -> bool {
        matches!(self, Forbidden::Values { to, .. } if to.is_empty())
            && self.forbids_step(index, leaving, leaving + 1.0)
    }

    /// The listed values to which it forbids a change of a feature from a value.
    pub(crate) fn forbidden_values(&self, index: usize, leaving: f64) -> Vec<f64> {
        match self {
            Forbidden::Values { to, .. } => {
                to.iter().copied().filter(|&to| self.forbids_step(index, leaving, to)).collect()
            }
            Forbidden::Categories { .. } => Vec::new(),
        }
    }

    /// The highest position that it names, to check it against the number of features.
    pub(crate) fn highest_position(&self) -> usize {
        match self {
            Forbidden::Categories { from, to } => from.iter().chain(to).copied().max().unwrap_or(0),
            Forbidden::Values { feature, .. } => *feature,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Feature;

    fn features() -> Features {
        Features::new(vec![
            Feature::new("income").scaling(3000.0, 1500.0),
            Feature::new("late-fees").scaling(10.0, 4.0),
            Feature::new("clerk").group("job"),
            Feature::new("cook").group("job"),
            Feature::new("children").kind(Kind::Integer),
        ])
        .unwrap()
    }

    fn problem_of(rule: &str) -> (usize, RuleProblem) {
        match Constraint::parse(&features(), rule) {
            Err(Error::Rule(RuleError::Rule { column, problem, .. })) => (column, problem),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn rules_are_linear_in_own_units() {
        let features = features();
        for (rule, individual, met) in [
            ("income >= 3000", [0.0; 5], true),
            ("income >= 3000.01", [0.0; 5], false),
            ("2 * (income - `late-fees`) / 4 - 5 <= 1490", [0.0; 5], true),
            ("2 * (income - `late-fees`) / 4 - 5 <= 1489", [0.0; 5], false),
            ("3 * `late-fees` <= income - 2970", [0.0; 5], true),
            ("3 * `late-fees` <= income - 2970", [0.0, 0.01, 0.0, 0.0, 0.0], false),
        ] {
            let constraint = Constraint::parse(&features, rule).unwrap();
            assert_eq!(constraint.value(&individual) >= 0.0, met, "{rule}");
            assert_eq!(constraint.text(), rule);
        }
        let same = Constraint::new(&features, &[2.0, 0.0, 0.0, 0.0, -1.0], -6000.0).unwrap();
        assert!(same.value(&[0.0; 5]) >= 0.0 && same.value(&[0.0, 0.0, 0.0, 0.0, 0.1]) < 0.0);
    }

    #[test]
    fn rules_that_cannot_be_are_pointed_at() {
        assert_eq!(problem_of("income + 3"), (11, RuleProblem::NoComparison));
        assert_eq!(problem_of("income > 3"), (8, RuleProblem::Comparison));
        assert_eq!(problem_of("income = 3"), (8, RuleProblem::Comparison));
        assert_eq!(problem_of("1 <= income <= 3"), (14, RuleProblem::Comparison));
        assert_eq!(problem_of("3 >= income * children"), (6, RuleProblem::NotLinear("income".into())));
        assert_eq!(problem_of("3 >= abs(children)"), (10, RuleProblem::NotLinear("children".into())));
        assert_eq!(problem_of("3 >= 2"), (1, RuleProblem::NoFeature));
        assert!(matches!(
            problem_of("income >= rent"),
            (11, RuleProblem::Formula(FormulaProblem::Name { .. }))
        ));
        assert!(matches!(problem_of("income >= "), (11, RuleProblem::Formula(_))));
        assert!(matches!(
            Constraint::new(&features(), &[f64::NAN; 5], 0.0),
            Err(Error::Rule(RuleError::ConstraintNumber { .. }))
        ));
    }

    #[test]
    fn transitions_by_name_and_by_value() {
        let features = features();
        let up = Forbidden::categories(&features, "job", &["clerk"], &["cook"]).unwrap();
        assert!(up.forbids_move(2, 3) && !up.forbids_move(3, 2));
        let away = Forbidden::categories(&features, "job", &["cook"], &[]).unwrap();
        assert!(!away.forbids_move(2, 3) && away.forbids_move(3, 2));
        let fewer = Forbidden::values(&features, "children", &[], &[0.0]).unwrap();
        assert!(fewer.forbids_step(4, 2.0, 0.0) && !fewer.forbids_step(4, 0.0, 0.0));
        for (refused, part) in [
            (Forbidden::categories(&features, "jobs", &["clerk"], &[]), "`job`"),
            (Forbidden::categories(&features, "job", &["king"], &[]), "`clerk` and `cook`"),
            (Forbidden::categories(&features, "job", &[], &[]), "neither"),
            (Forbidden::values(&features, "income", &[1.0], &[]), "constraint"),
            (Forbidden::values(&features, "children", &[1.5], &[]), "1.5"),
            (Forbidden::values(&features, "kids", &[1.0], &[]), "`children`"),
        ] {
            let error = refused.unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
