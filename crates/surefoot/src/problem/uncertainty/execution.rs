//! `of = "execution"`: actions that are carried out with an error.

use std::sync::Arc;

use super::super::Problem;
use super::super::fields::Fields;
use super::{Context, StatedUncertainty, positions, with_more};
use crate::error::Fault;
use crate::uncertainty::Execution;
use crate::{Kind, Result};

pub(super) const FIELDS: [&str; 3] = ["features", "share", "within"];

#[derive(Debug)]
struct Errors(Vec<Execution>);

pub(super) fn read(fields: &mut Fields<'_>, context: &Context<'_>) -> Option<Arc<dyn StatedUncertainty>> {
    let features = context.features;
    let share = fields.number("share");
    let within = fields.number("within");
    if share.is_none() && within.is_none() && fields.is_clean() {
        let remedy =
            "say how much of a change may be missing, such as 0.1, or `within` in the feature's units";
        fields.report_here(Fault::MissingField { field: "share", remedy });
    }
    let chosen = match fields.has("features") {
        true => positions(fields, "features", features)?,
        // All that are changed by amounts.
        false => {
            let is_amount = |i: &usize| features.feature(*i).kind != Kind::Binary;
            features.actionable().into_iter().filter(is_amount).collect()
        }
    };
    let error = |feature: usize| Execution {
        feature,
        share: share.unwrap_or(0.0),
        within: within.unwrap_or(0.0) / features.feature(feature).std,
    };
    Some(Arc::new(Errors(chosen.into_iter().map(error).collect())))
}

impl StatedUncertainty for Errors {
    fn apply(&self, problem: Problem) -> Result<Problem> {
        with_more(problem, |sources| sources.execution.extend(&self.0))
    }
}
