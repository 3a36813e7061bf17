//! The constraints and forbidden transitions of a problem file, and what may be changed together.

use super::ChangeLimits;
use super::fields::Fields;
use super::sections::tables;
use crate::error::{Fault, Mistake};
use crate::error::{FeatureError, RuleError};
use crate::feature::Column;
use crate::{Constraint, Error, Features, Forbidden, Result};

/// The valid constraints.
pub(super) fn read_constraints(
    top: &mut Fields<'_>,
    features: Option<&Features>,
    mistakes: &mut Vec<Mistake>,
) -> Vec<Constraint> {
    let nodes = tables(top, "constraint", "a list of tables, each headed [[constraint]]");
    let mut constraints = Vec::with_capacity(nodes.len());
    for (position, node) in nodes.iter().enumerate() {
        let mut fields = Fields::new(node, Some(format!("constraint {}", position + 1)), &["rule"]);
        fields.require("rule", "write for example \"savings >= debt\"");
        if let (Some(rule), Some(features)) = (fields.text("rule"), features) {
            match Constraint::parse(features, &rule) {
                Ok(constraint) => constraints.push(constraint),
                Err(error) => fields.report_at("rule", error),
            }
        }
        mistakes.extend(fields.finish());
    }
    constraints
}

/// The valid forbidden transitions.
pub(super) fn read_forbidden(
    top: &mut Fields<'_>,
    features: Option<&Features>,
    mistakes: &mut Vec<Mistake>,
) -> Vec<Forbidden> {
    let nodes = tables(top, "forbid", "a list of tables, each headed [[forbid]]");
    let mut forbidden = Vec::with_capacity(nodes.len());
    for (position, node) in nodes.iter().enumerate() {
        let entry = Some(format!("forbidden transition {}", position + 1));
        let mut fields = Fields::new(node, entry, &["group", "feature", "from", "to"]);
        match read_transition(&mut fields, features) {
            Some(Ok(transition)) => forbidden.push(transition),
            Some(Err(error)) => {
                let field = match &error {
                    Error::Feature(FeatureError::UnknownGroup { .. }) => "group",
                    Error::Feature(FeatureError::UnknownFeature { .. })
                    | Error::Rule(RuleError::ForbiddenReal { .. }) => "feature",
                    _ => "from",
                };
                fields.report_at(field, error);
            }
            None => {}
        }
        mistakes.extend(fields.finish());
    }
    forbidden
}

/// What may be changed together: `most_changes` at the top, and the lists of `[[one_of]]`.
pub(super) fn read_change_limits(
    top: &mut Fields<'_>,
    features: Option<&Features>,
    mistakes: &mut Vec<Mistake>,
) -> ChangeLimits {
    let mut limits = ChangeLimits::none();
    if let Some(most) = top.count("most_changes") {
        match limits.clone().with_most_changes(most) {
            Ok(limited) => limits = limited,
            Err(error) => top.report_at("most_changes", error),
        }
    }
    for (position, node) in
        tables(top, "one_of", "a list of tables, each headed [[one_of]]").iter().enumerate()
    {
        let entry = Some(format!("list {} of which one may change", position + 1));
        let mut fields = Fields::new(node, entry, &["features"]);
        fields.require("features", "name the features and groups of which at most one may be changed");
        if let (Some(names), Some(features)) = (fields.texts("features"), features) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            match limits.clone().with_one_of(features, &names) {
                Ok(limited) => limits = limited,
                Err(error) => fields.report_at("features", error),
            }
        }
        mistakes.extend(fields.finish());
    }
    limits
}

/// A transition, or the error in it; `None` if the mistake has been reported already.
fn read_transition(fields: &mut Fields<'_>, features: Option<&Features>) -> Option<Result<Forbidden>> {
    match (fields.has("group"), fields.has("feature")) {
        (true, true) => {
            let both = vec!["group".into(), "feature".into()];
            fields.report_at("feature", Fault::Together { fields: both });
            None
        }
        (false, false) => {
            let (field, remedy) = ("group", "name the group of categories, or a `feature` of whole numbers");
            fields.report_here(Fault::MissingField { field, remedy });
            None
        }
        (true, false) => {
            let group = fields.text("group");
            let (from, to) = (fields.one_or_more_texts("from"), fields.one_or_more_texts("to"));
            let (from, to) = (from?, to?);
            let from: Vec<&str> = from.iter().map(String::as_str).collect();
            let to: Vec<&str> = to.iter().map(String::as_str).collect();
            Some(Forbidden::categories(features?, &group?, &from, &to))
        }
        (false, true) => {
            let feature = fields.text("feature");
            let is_named = |column: &&Column| Some(column.name()) == feature.as_deref();
            let column = features.and_then(|features| features.columns().iter().find(is_named));
            if let Some(column) = column.filter(|column| column.categories().is_some()) {
                let (from, to) = (fields.one_or_more_texts("from"), fields.one_or_more_texts("to"));
                return Some(between_categories(features?, column, &from?, &to?));
            }
            let (from, to) = (fields.one_or_more_numbers("from"), fields.one_or_more_numbers("to"));
            Some(Forbidden::values(features?, &feature?, &from?, &to?))
        }
    }
}

/// Transitions between the categories of a column.
fn between_categories(
    features: &Features,
    column: &Column,
    from: &[String],
    to: &[String],
) -> Result<Forbidden> {
    let position = |text: &String| {
        let mut row = vec![0.0; features.len()];
        let placed = column.place(text, &mut row);
        let known = placed.map(|()| row[column.positions().start]);
        known.map_err(|problem| {
            Error::Feature(FeatureError::Categories { feature: column.name().into(), problem })
        })
    };
    let positions = |texts: &[String]| texts.iter().map(position).collect::<Result<Vec<f64>>>();
    let (starts, ends) = (positions(from)?, positions(to)?);
    if column.is_ordered() {
        return Forbidden::values(features, column.name(), &starts, &ends);
    }
    let from: Vec<&str> = from.iter().map(String::as_str).collect();
    let to: Vec<&str> = to.iter().map(String::as_str).collect();
    Forbidden::categories(features, column.name(), &from, &to)
}
