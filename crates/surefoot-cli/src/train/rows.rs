//! The rows to train on.

use std::path::Path;

use crate::table::{CellProblem, Table, parse_number};
use anyhow::{Context, Result, bail};
use ndarray::{Array2, Axis};
use surefoot::train::split;
use surefoot::{Features, Scm};

use crate::validate::people::{Checked, check_batch};

/// How many of the values of a column are listed.
const LISTED: usize = 5;

/// Standardised rows and whether each has the favourable outcome.
pub struct Rows {
    pub rows: Array2<f64>,
    pub labels: Vec<bool>,
}

impl Rows {
    /// Reads the columns of the features and of the target, and holds people against the
    /// features and, if there is one, the causal model.
    pub fn read(
        path: &Path,
        features: &Features,
        scm: Option<&Scm>,
        target: &str,
        favourable: Option<&str>,
    ) -> Result<(Self, Checked)> {
        let batch = Table::open(path)?.select_people(features, &[target.to_owned()])?.read_all()?;
        let outcomes = &batch.texts[0];
        let mut labels = Vec::with_capacity(outcomes.len());
        for (outcome, place) in outcomes.iter().zip(&batch.places) {
            labels.push(
                label(outcome, favourable)
                    .with_context(|| format!("{}, {place}, column `{target}`", path.display()))?,
            );
        }
        if let Some(value) = favourable.filter(|_| !labels.contains(&true)) {
            bail!("{}: {}", path.display(), not_found(value, target, outcomes));
        }
        if !(labels.contains(&true) && labels.contains(&false)) {
            bail!(
                "{}, column `{target}`: every row has `{}`; training needs both outcomes",
                path.display(),
                outcomes[0]
            );
        }
        let checked = check_batch(path, &batch, features, scm);
        let mut rows = standardised(batch.numbers, features, &checked)?;
        // Decisions are made with the values that stand in for missing ones.
        features.impute_all(&mut rows);
        Ok((Self { rows, labels }, checked))
    }

    /// Rows to train on and rows to test on, at random, both outcomes among each; none to test
    /// on if none are asked for.
    pub fn split(&self, test: f64, seed: u64) -> Result<(Rows, Option<Rows>)> {
        let count = self.labels.len();
        if test == 0.0 {
            return Ok((Rows { rows: self.rows.clone(), labels: self.labels.clone() }, None));
        }
        let Ok((train, test_rows)) = split(&self.labels, test, seed) else {
            bail!(
                "--test {test:?} of {count} rows leaves nobody to train or to test on; choose a share between \
                 0 and 1 (0: train on all)"
            );
        };
        let (train, test_rows) = (self.select(&train), self.select(&test_rows));
        if !(train.labels.contains(&true) && train.labels.contains(&false)) {
            bail!(
                "--test {test:?} of {count} rows leaves only one of the two outcomes to train on; hold out fewer rows"
            );
        }
        Ok((train, Some(test_rows)))
    }

    /// Some of the rows, each as often as it is chosen.
    pub fn select(&self, chosen: &[usize]) -> Rows {
        let labels = chosen.iter().map(|&i| self.labels[i]).collect();
        Rows { rows: self.rows.select(Axis(0), chosen), labels }
    }
}

/// From people's own units; refused where a value is too far out for that. Missing values are NaN.
pub fn standardised(mut rows: Array2<f64>, features: &Features, checked: &Checked) -> Result<Array2<f64>> {
    for (j, mut column) in rows.axis_iter_mut(Axis(1)).enumerate() {
        column.mapv_inplace(|value| features.standardise(j, value));
    }
    let is_wrong = |((_, j), value): ((usize, usize), &f64)| {
        !(value.is_finite() || value.is_nan() && features.feature(j).missing.is_some())
    };
    if rows.indexed_iter().any(is_wrong) {
        bail!("{checked}");
    }
    Ok(rows)
}

fn label(outcome: &str, favourable: Option<&str>) -> Result<bool> {
    const MISSING: &str = "no outcome is given; give one, or leave the row out";
    let number = parse_number(outcome);
    if let Some(value) = favourable {
        let same_number = number.is_ok() && parse_number(value) == number;
        if outcome.trim().is_empty() {
            bail!(MISSING);
        }
        return Ok(outcome.trim() == value.trim() || same_number);
    }
    match number {
        Ok(value) if value == 0.0 || value == 1.0 => Ok(value == 1.0),
        Err(CellProblem::Missing) => bail!(MISSING),
        _ => bail!(
            "the outcome is `{outcome}`, neither 0 nor 1; name the favourable outcome with --favourable"
        ),
    }
}

/// What the column has where nobody has the favourable value.
fn not_found(value: &str, target: &str, outcomes: &[String]) -> String {
    let mut found: Vec<&String> = Vec::new();
    for outcome in outcomes {
        if found.len() <= LISTED && !found.contains(&outcome) {
            found.push(outcome);
        }
    }
    let alike = outcomes.iter().find(|outcome| outcome.to_lowercase() == value.trim().to_lowercase());
    if let Some(alike) = alike {
        return format!(
            "no row has `{value}` in the column `{target}`, but there is `{alike}`; write it with the same capital letters"
        );
    }
    let listed: Vec<String> = found.iter().take(LISTED).map(|outcome| format!("`{outcome}`")).collect();
    let more = if found.len() > LISTED { ", ..." } else { "" };
    format!(
        "no row has `{value}` in the column `{target}`; --favourable must be one of its values: {}{more}",
        listed.join(", ")
    )
}
