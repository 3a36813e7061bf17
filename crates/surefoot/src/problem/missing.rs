//! What stands in for a missing value, in a `[[feature]]` of a problem file.

use super::fields::Fields;
use super::syntax::{Node, Value};
use crate::error::{Fault, FeatureError};
use crate::feature::{Missing, Shown};
use crate::{Error, Feature, Kind};

/// `missing = { value = 2400, between = [1000, 4000] }`. The value may be `"mean"`; of ordered categories value and
/// interval are texts, and without an interval it is all of them. Mistakes are reported at the line of the field.
pub(super) fn read_missing(fields: &mut Fields<'_>, features: &mut [Feature]) {
    let Some(node) = fields.find("missing") else { return };
    let [feature] = features else {
        if let Some(name) = features.first().map(|feature| feature.name.clone()) {
            fields.report_at("missing", Error::Feature(FeatureError::MissingKind { feature: name }));
        }
        return;
    };
    let Value::Table(_) = node.value else {
        let (expected, found) =
            ("a table such as { value = 2400, between = [1000, 4000] }", node.value.kind().to_owned());
        fields.report_at("missing", Fault::Type { field: "missing".into(), expected, found });
        return;
    };
    let entry = format!("feature `{}`, missing", feature.name);
    let mut inner = Fields::new(node, Some(entry), &["value", "between"]);
    let read = read_rule(&mut inner, feature);
    let mistakes = inner.finish();
    let is_clean = mistakes.is_empty();
    fields.add(mistakes);
    if let (true, Some(missing)) = (is_clean, read) {
        feature.missing = Some(missing);
        if let Some(mistake) = feature.missing_mistake() {
            fields.report_at("missing", mistake);
            feature.missing = None;
        }
    }
}

fn read_rule(inner: &mut Fields<'_>, feature: &Feature) -> Option<Missing> {
    inner.require("value", "give the value that stands in for a missing one, or \"mean\"");
    let categories = match &feature.shown {
        Shown::Ordered(texts) => Some(texts),
        _ => {
            inner.require("between", "give the lowest and the highest value that it may really have");
            None
        }
    };
    let number = |inner: &mut Fields<'_>, node: &Node, name: &str| match (&node.value, categories) {
        (Value::Number(number), None) => Some(*number),
        (Value::Text(text), None) if text == "mean" && name == "value" => Some(match feature.kind {
            Kind::Real => feature.mean,
            Kind::Integer | Kind::Binary => feature.mean.round(),
        }),
        (Value::Text(text), Some(texts)) if texts.contains(text) => {
            texts.iter().position(|known| known == text).map(|place| place as f64)
        }
        (Value::Text(text), _) => {
            let (feature, value) = (feature.name.clone(), text.clone());
            inner.report_at(name, Error::Feature(FeatureError::MissingWord { feature, value }));
            None
        }
        (other, _) => {
            let expected = if categories.is_some() { "a category" } else { "a number" };
            inner.report_at(
                name,
                Fault::Type { field: name.into(), expected, found: other.kind().to_owned() },
            );
            None
        }
    };
    let value = inner.find("value").and_then(|node| number(inner, node, "value"));
    let between = match (inner.find("between").map(|node| (&node.value, node)), categories) {
        (None, Some(_)) => Some((feature.lower, feature.upper)),
        (None, None) => None,
        (Some((Value::List(ends), _)), _) if ends.len() == 2 => {
            let ends: Vec<Option<f64>> = ends.iter().map(|node| number(inner, node, "between")).collect();
            ends[0].zip(ends[1])
        }
        (Some((other, _)), _) => {
            let found = match other {
                Value::List(_) => "a list of another length".to_owned(),
                other => other.kind().to_owned(),
            };
            let expected = "[lowest, highest]";
            inner.report_at("between", Fault::Type { field: "between".into(), expected, found });
            None
        }
    };
    let (lower, upper) = between?;
    Some(Missing { value: value?, lower, upper })
}
