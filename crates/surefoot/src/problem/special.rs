//! The special values of a `[[feature]]` of a problem file.

use super::fields::Fields;
use super::syntax::Value;
use crate::error::FeatureError;
use crate::feature::Special;
use crate::{Error, Feature};

/// `special = [-9]`, or `special = { "-9" = "no bureau record" }`. Values that are no numbers are reported.
pub(super) fn read_special(fields: &mut Fields<'_>, feature: &str) -> Vec<Special> {
    let Some(node) = fields.find("special") else { return Vec::new() };
    let Value::Table(_) = node.value else {
        let values = fields.numbers("special").unwrap_or_default();
        return values.into_iter().map(|value| Special { value, meaning: None }).collect();
    };
    let mut special = Vec::new();
    for (text, meaning) in fields.named_texts("special").unwrap_or_default() {
        match text.trim().parse::<f64>() {
            Ok(value) => special.push(Special { value, meaning: Some(meaning) }),
            Err(_) => {
                let feature = feature.to_owned();
                fields.report_at(
                    "special",
                    Error::Feature(FeatureError::SpecialNumber { feature, value: text }),
                );
            }
        }
    }
    special
}

/// Reports what is wrong with the special values of a feature, which may have categories.
pub(super) fn report_special(fields: &mut Fields<'_>, feature: &Feature) {
    if fields.has("categories") && !feature.special.is_empty() {
        let feature = feature.name.clone();
        fields.report_at("special", Error::Feature(FeatureError::SpecialKind { feature }));
        return;
    }
    feature.special_mistakes().into_iter().for_each(|mistake| fields.report_at("special", mistake));
}
