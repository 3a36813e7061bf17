//! `of = "equation"`: equations that are known up to a band, or up to errors of their coefficients.

use std::sync::Arc;

use super::super::Problem;
use super::super::entry::Inputs;
use super::super::fields::Fields;
use super::super::sections::INPUTS;
use super::{Context, StatedUncertainty, positions, with_more};
use crate::error::{Fault, SettingError};
use crate::uncertainty::{Band, Coefficient};
use crate::{Error, Result};

pub(super) const FIELDS: [&str; 5] = ["feature", "band", "parents", "within", "inputs"];

#[derive(Debug)]
struct Equation {
    feature: usize,
    band: Option<f64>,
    /// Parents with the largest errors of their coefficients; `None` for the parents in the order of the
    /// equation.
    parents: Option<Vec<usize>>,
    within: Vec<f64>,
    /// The units of these errors.
    inputs: Inputs,
}

pub(super) fn read(fields: &mut Fields<'_>, context: &Context<'_>) -> Option<Arc<dyn StatedUncertainty>> {
    fields.require("feature", "say whose equation is uncertain");
    let feature = fields.text("feature").and_then(|name| match context.features.index(&name) {
        Ok(position) => Some(position),
        Err(error) => {
            fields.report_at("feature", error);
            None
        }
    });
    let band = fields.number("band");
    let within = fields.one_or_more_numbers("within").unwrap_or_default();
    let inputs = fields.choice("inputs", &INPUTS).unwrap_or_default();
    let parents = match fields.has("parents") {
        true => Some(positions(fields, "parents", context.features)?),
        false => None,
    };
    if band.is_none() && within.is_empty() && fields.is_clean() {
        let remedy = "say how far the equation may be wrong, in standard deviations, or `within`, the errors of its coefficients";
        fields.report_here(Fault::MissingField { field: "band", remedy });
    }
    if let Some(parents) = &parents
        && parents.len() != within.len()
    {
        let (expected, found) = (parents.len(), within.len());
        fields.report_at("within", Error::Setting(SettingError::UncertaintyLength { expected, found }));
    }
    Some(Arc::new(Equation { feature: feature?, band, parents, within, inputs }))
}

impl StatedUncertainty for Equation {
    fn apply(&self, problem: Problem) -> Result<Problem> {
        let feature = self.feature;
        let stated = || problem.scm().map(|scm| scm.parents(feature).to_vec()).unwrap_or_default();
        let parents = self.parents.clone().unwrap_or_else(stated);
        let within = match &self.within[..] {
            // One number for all coefficients.
            [only] => vec![*only; parents.len()],
            all if all.is_empty() || all.len() == parents.len() => all.to_vec(),
            all => {
                let (expected, found) = (parents.len(), all.len());
                return Err(Error::Setting(SettingError::UncertaintyLength { expected, found }));
            }
        };
        let std = |i: usize| match self.inputs {
            Inputs::Standardised => 1.0,
            Inputs::Raw => problem.features().feature(i).std,
        };
        let within: Vec<f64> =
            parents.iter().zip(within).map(|(&parent, within)| within * std(parent) / std(feature)).collect();
        with_more(problem, |sources| {
            sources.bands.extend(self.band.map(|width| Band { feature, width }));
            let errors = parents.iter().zip(within);
            sources.coefficients.extend(errors.map(|(&parent, within)| Coefficient {
                feature,
                parent,
                within,
            }));
        })
    }
}
