//! The rows to train on.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use ndarray::{Array2, Axis};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use surefoot::Features;
use surefoot_cli::table::{Table, parse_number};

/// Standardised rows and whether each has the favourable outcome.
pub struct Rows {
    pub rows: Array2<f64>,
    pub labels: Vec<bool>,
}

impl Rows {
    /// Reads the columns of the features and of the target.
    pub fn read(path: &Path, features: &Features, target: &str, favourable: Option<&str>) -> Result<Self> {
        let names = features.names();
        if names.iter().any(|name| name == target) {
            bail!("`{target}` is both a feature and the target; remove it from the features");
        }
        let batch = Table::open(path)?.select(&names, &[target.to_owned()])?.read_all()?;
        let outcomes = &batch.texts[0];
        let mut labels = Vec::with_capacity(outcomes.len());
        for (outcome, place) in outcomes.iter().zip(&batch.places) {
            labels.push(
                label(outcome, favourable)
                    .with_context(|| format!("{}, {place}, column `{target}`", path.display()))?,
            );
        }
        if let Some(value) = favourable.filter(|_| !labels.contains(&true)) {
            bail!(
                "{}: no row has `{value}` in the column `{target}`; --favourable must be one of its values",
                path.display()
            );
        }
        let mut rows = batch.numbers;
        for (j, mut column) in rows.axis_iter_mut(Axis(1)).enumerate() {
            column.mapv_inplace(|value| features.standardise(j, value));
        }
        Ok(Self { rows, labels })
    }

    /// Rows to train on and rows to test on, at random.
    pub fn split(&self, test: f64, seed: u64) -> Result<(Rows, Rows)> {
        let mut order: Vec<usize> = (0..self.labels.len()).collect();
        order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
        let count = (order.len() as f64 * test).round() as usize;
        if !(0.0..1.0).contains(&test) || count == 0 || count >= order.len() {
            bail!("--test {test} of {} rows leaves nobody to train or to test on", order.len());
        }
        let train = order.split_off(count);
        Ok((self.select(&train), self.select(&order)))
    }

    fn select(&self, chosen: &[usize]) -> Rows {
        let labels = chosen.iter().map(|&i| self.labels[i]).collect();
        Rows { rows: self.rows.select(Axis(0), chosen), labels }
    }
}

fn label(outcome: &str, favourable: Option<&str>) -> Result<bool> {
    let number = parse_number(outcome).ok();
    if let Some(value) = favourable {
        let same_number = number.is_some() && parse_number(value).ok() == number;
        if outcome.trim().is_empty() {
            bail!("no outcome is given; give one, or leave the row out");
        }
        return Ok(outcome.trim() == value.trim() || same_number);
    }
    match number {
        Some(value) if value == 0.0 || value == 1.0 => Ok(value == 1.0),
        _ => bail!("the outcome is `{outcome}`, neither 0 nor 1; say with --favourable which is favourable"),
    }
}

/// A path as seen from a folder, if it is inside it; otherwise the whole.
pub fn relative(path: &Path, folder: &Path) -> Result<PathBuf> {
    let whole = |path: &Path| -> Result<PathBuf> {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        std::fs::canonicalize(path).with_context(|| format!("{} cannot be found", path.display()))
    };
    let (path, folder) = (whole(path)?, whole(folder)?);
    Ok(path.strip_prefix(&folder).map_or(path.clone(), Path::to_path_buf))
}
