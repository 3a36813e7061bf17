//! The words of a `[[feature]]` of a problem file: `label`, `unit` and `describe`.

use super::fields::Fields;
use crate::error::FeatureError;
use crate::feature::{Unit, Words, columns};
use crate::{Error, Feature};

/// The words as stated. A unit that cannot be is reported.
pub(crate) fn read_words(fields: &mut Fields<'_>, feature: &str) -> Words {
    let label = fields.text("label");
    let forms = fields.has("unit").then(|| fields.one_or_more_texts("unit")).flatten();
    let unit = forms.and_then(|forms| match Unit::of_forms(&forms) {
        Ok(unit) => Some(unit),
        Err(problem) => {
            let feature = feature.to_owned();
            fields.report_at("unit", Error::Feature(FeatureError::Words { feature, problem }));
            None
        }
    });
    Words { label, unit, described: fields.named_texts("describe").unwrap_or_default() }
}

/// Reports what is wrong with the words of the features of an entry.
pub(super) fn report_words(fields: &mut Fields<'_>, entry: &[Feature]) {
    for column in columns(entry) {
        if let Some(problem) = entry[column.positions().start].words_problem(&column) {
            let field = problem.field();
            let feature = column.name().to_owned();
            fields.report_at(field, Error::Feature(FeatureError::Words { feature, problem }));
        }
    }
}
