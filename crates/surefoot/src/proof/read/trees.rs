//! Reads how the actions for a classifier of trees are divided.

use super::At;
use crate::Result;
use crate::proof::{Dividing, Division, TreeReason};

impl<'v> At<'v> {
    /// The divisions; `None` if the file has none.
    pub(super) fn dividing(&self, width: usize) -> Result<Option<Dividing>> {
        if self.object()?.get("dividing").is_none_or(serde_json::Value::is_null) {
            return Ok(None);
        }
        let dividing = self.field("dividing")?;
        let reason = |at: &At<'v>| match at.object()?.contains_key("pivot") {
            true => Ok(TreeReason::Scenario {
                pivot: at.field("pivot")?.finite_numbers(Some(width))?,
                radii: at.field("radii")?.finite_numbers(Some(width))?,
            }),
            false => Ok(TreeReason::Cell {
                lower: at.field("lower")?.numbers(width)?,
                upper: at.field("upper")?.numbers(width)?,
            }),
        };
        let reasons = dividing.field("reasons")?.listed(None, reason)?;
        let count = reasons.len();
        let set = |at: &At<'v>| {
            let features = at.field("features")?.features(width)?;
            let divisions = at.field("divisions")?.listed(None, |at| at.division(features.len(), count))?;
            Ok((features, divisions))
        };
        let variant = match dividing.object()?.contains_key("variant") {
            true => dividing.field("variant")?.variant()?,
            false => 0,
        };
        Ok(Some(Dividing { variant, sets: dividing.field("sets")?.listed(None, set)?, reasons }))
    }

    fn division(&self, changes: usize, reasons: usize) -> Result<Division> {
        let below = |at: &At<'v>, count: usize| {
            let number = at.value.as_u64().and_then(|number| usize::try_from(number).ok());
            number.filter(|&number| number < count)
        };
        if self.value.is_null() {
            return Ok(Division::Closed(None));
        }
        if !self.value.is_array() {
            let reason = below(self, reasons).ok_or_else(|| self.expected("the number of a reason"))?;
            return Ok(Division::Closed(Some(reason)));
        }
        match &self.items()?[..] {
            [change, at] => Ok(Division::At {
                change: below(change, changes).ok_or_else(|| change.expected("the number of a change"))?,
                at: at.finite()?,
            }),
            _ => Err(self.expected("a change and a number")),
        }
    }
}
