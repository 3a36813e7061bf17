//! `of = "person"`: how far the values of single features, or of groups of them, may be from the reported ones.

use std::sync::Arc;

use super::super::Problem;
use super::super::fields::Fields;
use super::{Context, StatedUncertainty, positions};
use crate::error::{Fault, SettingError};
use crate::uncertainty::{Group, Shift, Sources, named_norms};
use crate::{Error, Features, Kind, Norm, NormKind, Result};

pub(super) const FIELDS: [&str; 8] =
    ["features", "norm", "epsilon", "exact", "share", "within", "between", "covariance"];

/// What one section states about some features.
#[derive(Debug)]
struct Person {
    features: Vec<usize>,
    form: Form,
}

#[derive(Debug)]
enum Form {
    /// Each feature by itself, in standardised units.
    Each(Vec<Shift>),
    /// A ball of their own, and the matrix that makes it an ellipsoid.
    Ball { epsilon: f64, norm: Option<NormKind>, factor: Option<Vec<f64>> },
    /// The part of the problem's ball in these features becomes an ellipsoid.
    Ellipsoid(Vec<f64>),
}

/// The fields of which a section has one.
const ONE_OF: [&str; 4] = ["exact", "share", "within", "between"];

pub(super) fn read(fields: &mut Fields<'_>, context: &Context<'_>) -> Option<Arc<dyn StatedUncertainty>> {
    let there: Vec<&str> = ONE_OF.into_iter().filter(|field| fields.has(field)).collect();
    let of_ball: Vec<&str> =
        ["epsilon", "norm", "covariance"].into_iter().filter(|field| fields.has(field)).collect();
    let together = match (&there[..], &of_ball[..]) {
        ([_], []) => None,
        ([], [_, ..]) => None,
        ([], []) => {
            let remedy = "say how far the values may be from the reported ones: `exact`, `share`, `within` or \
                          `between` for each feature by itself, or `epsilon` for all of them together";
            fields.report_here(Fault::MissingField { field: "share", remedy });
            return None;
        }
        _ => Some(there.iter().chain(&of_ball).map(|&field| field.to_owned()).collect()),
    };
    if let Some(together) = together {
        fields.report_here(Fault::Together { fields: together });
        return None;
    }
    let features = context.features;
    let chosen = match fields.has("features") {
        true => positions(fields, "features", features)?,
        // A covariance is that of all features unless some are named.
        false if fields.has("covariance") => (0..features.len()).collect(),
        false => {
            fields.require("features", "name those that the section is about");
            return None;
        }
    };
    let form = match there.first() {
        Some(_) => Form::Each(each(fields, features, &chosen)?),
        None => ball(fields, &chosen)?,
    };
    Some(Arc::new(Person { features: chosen, form }))
}

/// What a section states of each feature by itself.
fn each(fields: &mut Fields<'_>, features: &Features, chosen: &[usize]) -> Option<Vec<Shift>> {
    let standardised = |i: usize, value: f64| {
        let feature = features.feature(i);
        (value - feature.mean) / feature.std
    };
    if fields.has("exact") {
        if !fields.boolean("exact")? {
            fields.report_at(
                "exact",
                Fault::Choice {
                    field: "exact",
                    found: "false".into(),
                    nearest: None,
                    known: vec!["true".into()],
                },
            );
            return None;
        }
        return Some(vec![Shift::Exact; chosen.len()]);
    }
    if fields.has("between") {
        const EXPECTED: &str = "[least, greatest] in the feature's units";
        let ends = fields.numbers("between")?;
        let [least, greatest] = ends[..] else {
            let found = "a list of another length".into();
            fields.report_at("between", Fault::Type { field: "between".into(), expected: EXPECTED, found });
            return None;
        };
        let shift = |&i: &usize| Shift::Between(standardised(i, least), standardised(i, greatest));
        return Some(chosen.iter().map(shift).collect());
    }
    if fields.has("within") {
        let within = fields.number("within")?;
        return Some(chosen.iter().map(|&i| Shift::Within(within / features.feature(i).std)).collect());
    }
    // A share of 0 or 1, or of the number of a category, means nothing.
    let share = fields.number("share")?;
    let amount = |i: &&usize| features.feature(**i).kind == Kind::Binary;
    if let Some(&i) = chosen.iter().find(amount) {
        let feature = features.feature(i).name.clone();
        fields.report_at("share", Error::Setting(SettingError::ShareOfBinary { feature }));
        return None;
    }
    Some(vec![Shift::Share(share); chosen.len()])
}

/// What a section states of features together.
fn ball(fields: &mut Fields<'_>, chosen: &[usize]) -> Option<Form> {
    let kinds: Vec<(&'static str, NormKind)> =
        named_norms().into_iter().filter_map(|(name, norm)| Some((name, norm.kind()?))).collect();
    let norm = fields.choice("norm", &kinds);
    let factor = match fields.has("covariance") {
        true => Some(covariance(fields, chosen)?),
        false => None,
    };
    if fields.has("epsilon") {
        return Some(Form::Ball { epsilon: fields.number("epsilon")?, norm, factor });
    }
    if fields.has("norm") {
        fields.require("epsilon", "say how large the shifts of these features together may be");
        return None;
    }
    factor.map(Form::Ellipsoid)
}

/// The factor of a covariance matrix.
fn covariance(fields: &mut Fields<'_>, chosen: &[usize]) -> Option<Vec<f64>> {
    let rows = fields.rows_of_numbers("covariance")?;
    let count = chosen.len();
    if rows.len() != count || rows.iter().any(|row| row.len() != count) {
        let found = rows.iter().map(Vec::len).sum();
        let error = SettingError::UncertaintyLength { expected: count * count, found };
        fields.report_at("covariance", Error::Setting(error));
        return None;
    }
    let factor = crate::uncertainty::factor_of(&rows);
    if factor.is_none() {
        fields.report_at("covariance", Error::Setting(SettingError::NoCovariance));
    }
    factor
}

impl StatedUncertainty for Person {
    fn apply(&self, problem: Problem) -> Result<Problem> {
        let count = problem.features().len();
        let mut sources = problem.sources().cloned().unwrap_or_default();
        let is_repeated = |(place, i): (usize, &usize)| self.features[..place].contains(i);
        let repeated = self.features.iter().enumerate().find(|&entry| is_repeated(entry)).map(|(_, &i)| i);
        let stated = self.features.iter().copied().find(|&i| is_stated(&sources, i, count));
        if let Some(i) = repeated.or(stated) {
            let feature = problem.features().feature(i).name.clone();
            return Err(Error::Setting(SettingError::UncertainTwice { feature }));
        }
        let mix = |sources: &mut Sources, factor: &[f64]| {
            if sources.factor.is_empty() {
                sources.factor = (0..count * count).map(|k| f64::from(k % (count + 1) == 0)).collect();
            }
            for (k, &i) in self.features.iter().enumerate() {
                for (l, &j) in self.features.iter().enumerate() {
                    sources.factor[i * count + j] = factor[k * self.features.len() + l];
                }
            }
        };
        let require_round = |norm: &Norm| match norm.set().is_round() {
            true => Ok(()),
            false => Err(Error::Setting(SettingError::EllipsoidNorm { norm: norm.name() })),
        };
        match &self.form {
            Form::Each(shifts) => {
                sources.shifts.resize(count, Shift::Ball);
                for (&i, &shift) in self.features.iter().zip(shifts) {
                    sources.shifts[i] = shift;
                }
            }
            Form::Ball { epsilon, norm, factor } => {
                let of_problem = || match problem.norm().kind() {
                    Some(kind) => Ok(kind),
                    None => Err(Error::Setting(SettingError::OwnSet { set: problem.norm().name() })),
                };
                let norm = norm.map_or_else(of_problem, Ok)?;
                sources.groups.push(Group { features: self.features.clone(), norm, epsilon: *epsilon });
                if let Some(factor) = factor {
                    require_round(&Norm::unweighted(norm))?;
                    mix(&mut sources, factor);
                }
            }
            Form::Ellipsoid(factor) => {
                require_round(problem.norm())?;
                mix(&mut sources, factor);
            }
        }
        problem.with_sources(sources)
    }
}

/// Whether an earlier section is about this feature.
fn is_stated(sources: &Sources, feature: usize, count: usize) -> bool {
    // Whoever is correlated has another row of the factor, or another column.
    let is_mixed = !sources.factor.is_empty()
        && (0..count).any(|j| {
            let unit = f64::from(j == feature);
            sources.factor[feature * count + j] != unit || sources.factor[j * count + feature] != unit
        });
    is_mixed
        || sources.shift(feature) != Shift::Ball
        || sources.groups.iter().any(|group| group.features.contains(&feature))
}
