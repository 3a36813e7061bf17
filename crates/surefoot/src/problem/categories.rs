//! The categories of a `[[feature]]` of a problem file.

use super::fields::Fields;
use super::sections::refuse;
use crate::error::Fault;
use crate::error::FeatureError;
use crate::feature::listed;
use crate::{Change, Error, Feature};

/// The features of an entry: one, or one for each category of an unordered one or of one of which the model takes a
/// column for each category. Invalid categories are reported, and the feature is returned without them. With the
/// direction in which the categories of a group may change, if they have an order.
pub(super) fn read_categories(
    fields: &mut Fields<'_>,
    feature: Feature,
    directions: &mut Vec<(String, Change)>,
) -> Vec<Feature> {
    let (is_ordered, is_one_hot) = (fields.boolean("ordered"), fields.boolean("one_hot") == Some(true));
    if is_one_hot && is_ordered != Some(true) {
        let (field, remedy) =
            ("ordered", "categories without an order have a column each; leave out `one_hot`");
        fields.report_at("one_hot", Fault::MissingField { field, remedy });
        return vec![feature];
    }
    if !fields.has("categories") {
        if fields.has("ordered") {
            let (field, remedy) = ("categories", "list them, the lowest first, or leave out `ordered`");
            fields.report_at("ordered", Fault::MissingField { field, remedy });
        }
        return vec![feature];
    }
    let Some(categories) = fields.texts("categories") else { return vec![feature] };
    refuse(fields, "categories", &["kind", "group"]);
    let fault = |problem| Error::Feature(FeatureError::Categories { feature: feature.name.clone(), problem });
    if let Some(problem) = listed(&categories) {
        fields.report_at("categories", fault(problem));
        return vec![feature];
    }
    if is_ordered == Some(true) && !is_one_hot {
        return vec![read_levels(fields, feature, categories)];
    }
    refuse(fields, if is_one_hot { "one_hot" } else { "categories" }, &["limits"]);
    if is_one_hot && matches!(feature.change, Change::Increase | Change::Decrease) && categories.len() > 1 {
        directions.push((feature.name.clone(), feature.change));
        return feature.change(Change::Any).one_of(categories);
    }
    if matches!(feature.change, Change::Increase | Change::Decrease) {
        fields.report_at("change", fault(crate::error::CategoryProblem::Direction));
        return vec![feature];
    }
    feature.one_of(categories)
}

/// An ordered category. Its limits are positions in the list; without limits the whole list is allowed.
fn read_levels(fields: &mut Fields<'_>, feature: Feature, categories: Vec<String>) -> Feature {
    let (lower, upper) = (feature.lower, feature.upper);
    let levels = feature.ordered(categories);
    let (first, last) = (levels.lower, levels.upper);
    let or = |limit: f64, end: f64| if limit.is_infinite() { end } else { limit };
    let levels = levels.limits(or(lower, first), or(upper, last));
    if let Some(problem) = levels.category_problem() {
        fields.report_at(
            "limits",
            Error::Feature(FeatureError::Categories { feature: levels.name.clone(), problem }),
        );
    }
    levels
}
