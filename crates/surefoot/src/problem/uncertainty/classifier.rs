//! `of = "classifier"`: a classifier whose weights are known up to a radius or a share.

use std::sync::Arc;

use super::super::Problem;
use super::super::fields::Fields;
use super::{Context, StatedUncertainty};
use crate::error::Fault;
use crate::{Result, WeightUncertainty};

pub(super) const FIELDS: [&str; 2] = ["within", "share"];

#[derive(Debug)]
struct Weights(WeightUncertainty);

pub(super) fn read(fields: &mut Fields<'_>, _context: &Context<'_>) -> Option<Arc<dyn StatedUncertainty>> {
    let (within, share) = (fields.number("within"), fields.number("share"));
    let uncertainty = match (within, share) {
        (Some(within), None) => WeightUncertainty::Within(within),
        (None, Some(share)) => WeightUncertainty::Share(share),
        _ => {
            if fields.is_clean() {
                let remedy = "say by how much each weight may change, such as 0.005, or by which `share` of its size; not both";
                fields.report_here(Fault::MissingField { field: "within", remedy });
            }
            return None;
        }
    };
    Some(Arc::new(Weights(uncertainty)))
}

impl StatedUncertainty for Weights {
    fn apply(&self, problem: Problem) -> Result<Problem> {
        problem.with_uncertain_weights(self.0)
    }
}
