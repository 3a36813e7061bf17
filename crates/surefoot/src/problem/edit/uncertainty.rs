//! Writes `[[uncertainty]]` sections into problem files.

use toml_edit::{Array, Item, Table, Value, value};

use super::{Edit, Entries, list, number, update};
use crate::classifier::Reach;

impl Edit {
    /// Sets the covariance of the shifts of some features, in standardised units: the `[[uncertainty]]` section
    /// that has one and no `epsilon` of its own, or a new one.
    pub fn set_covariance(&mut self, features: &[String], matrix: &[Vec<f64>]) {
        // Six decimals: a correlation is known less precisely.
        let rows = rows(matrix, |c| (c * 1e6).round() / 1e6);
        let fields: Entries =
            vec![("of", value("person")), ("features", list(features)), ("covariance", rows)];
        let is_old = |table: &Table| {
            is_of(table, "person") && table.contains_key("covariance") && !table.contains_key("epsilon")
        };
        self.set_uncertainty(is_old, fields);
    }

    /// Sets the ellipsoid of the weights of the classifier, for standardised features: the `[[uncertainty]]` section of
    /// the classifier, or a new one.
    pub fn set_weight_ellipsoid(&mut self, covariance: &[Vec<f64>], reach: Reach) {
        let mut fields: Entries = vec![("of", value("classifier"))];
        match reach {
            Reach::Radius(radius) => fields.push(("radius", value(radius))),
            Reach::Probability(probability) => fields.push(("probability", value(probability))),
            Reach::Loss { share, least } => {
                fields.extend([("loss", value(share)), ("least_loss", value(ten_digits(least)))]);
            }
        }
        fields.push(("covariance", rows(covariance, ten_digits)));
        self.set_uncertainty(|table| is_of(table, "classifier"), fields);
    }

    /// Sets what is uncertain of the equation of a feature, in standardised units: the largest error of each
    /// coefficient, unless there are none, and the half-width of a band. It replaces the `[[uncertainty]]` section of
    /// this equation, or is a new one.
    pub fn set_equation_errors(&mut self, feature: &str, within: &[f64], band: Option<f64>) {
        let mut fields: Entries = vec![("of", value("equation")), ("feature", value(feature))];
        if !within.is_empty() {
            fields.push(("within", list(within.iter().map(|w| number(ten_digits(*w))))));
        }
        fields.extend(band.map(|band| ("band", value(number(ten_digits(band))))));
        let is_old = |table: &Table| {
            is_of(table, "equation") && table.get("feature").and_then(Item::as_str) == Some(feature)
        };
        self.set_uncertainty(is_old, fields);
    }

    /// Replaces the first section that is meant, or appends one.
    fn set_uncertainty(&mut self, is_old: impl Fn(&Table) -> bool, fields: Entries) {
        let old = self.document.get_mut("uncertainty").map(std::mem::take).unwrap_or_default();
        let is_inline = old.is_value();
        let mut tables: Vec<Table> = old.into_array_of_tables().unwrap_or_default().into_iter().collect();
        let is_first = tables.is_empty() || is_inline;
        match tables.iter_mut().find(|table| is_old(table)) {
            Some(table) => update(table, fields),
            None => {
                let mut table = Table::new();
                update(&mut table, fields);
                tables.push(table);
            }
        }
        if is_first && let Some(first) = tables.first_mut() {
            self.document.remove("uncertainty");
            self.place_last(first);
        }
        self.put("uncertainty", tables);
    }
}

fn is_of(table: &Table, of: &str) -> bool {
    table.get("of").and_then(Item::as_str) == Some(of)
}

/// A number that is an estimate, and known less precisely.
fn ten_digits(value: f64) -> f64 {
    format!("{value:.9e}").parse().unwrap_or(value)
}

/// A matrix, each row on a line of its own.
fn rows(matrix: &[Vec<f64>], rounded: impl Fn(f64) -> f64) -> Item {
    let row = |row: &Vec<f64>| {
        let mut row: Array = row.iter().map(|c| number(rounded(*c))).collect();
        row.decor_mut().set_prefix("\n  ");
        Value::Array(row)
    };
    let mut rows = Array::new();
    matrix.iter().for_each(|entries| rows.push_formatted(row(entries)));
    rows.set_trailing("\n");
    value(rows)
}
