//! What the cells of a column say of a feature.

use std::collections::BTreeMap;

use surefoot::{Feature, Observed};

use crate::table::{CellProblem, parse_number};

/// A column of text with more different values than this is no feature: it names people, or tells of them.
const MOST_CATEGORIES: usize = 50;

/// The cells of one column.
#[derive(Clone, Debug, Default)]
pub struct Cells {
    pub numbers: Observed,
    /// Numbers that are no amounts.
    pub special: Vec<f64>,
    pub has_text: bool,
    /// How many are given.
    count: usize,
    /// The different ones, up to one more than may be categories, and how often each is there.
    pub different: BTreeMap<String, usize>,
}

impl Cells {
    /// No cells yet.
    pub fn new(special: Vec<f64>) -> Self {
        Self { special, ..Self::default() }
    }

    pub fn add(&mut self, cell: &str) {
        let value = parse_number(cell);
        if !matches!(value, Err(CellProblem::Missing)) {
            self.count += 1;
            if let Some(count) = self.different.get_mut(cell) {
                *count += 1;
            } else if self.different.len() <= MOST_CATEGORIES {
                self.different.insert(cell.to_owned(), 1);
            }
        }
        match value {
            // What is no amount says nothing of the mean, nor is it missing.
            Ok(value) if self.special.contains(&value) => {}
            Ok(value) => self.numbers.add(value),
            Err(CellProblem::Missing | CellProblem::NotANumber(_)) => self.numbers.add(f64::NAN),
            Err(CellProblem::NotFinite(_)) => self.numbers.add(f64::INFINITY),
            Err(CellProblem::Text(_) | CellProblem::Category(_)) => self.has_text = true,
        }
    }

    /// The feature, of categories one for each, or why the column is none.
    pub fn features(&self, name: &str) -> Result<Vec<Feature>, String> {
        let lowercase = name.to_lowercase();
        if name.trim().is_empty() {
            return Err("a column without a name".into());
        }
        if lowercase == "id" || lowercase.ends_with("_id") {
            return Err("an identifier, by its name".into());
        }
        if !self.has_text {
            return self
                .numbers
                .feature(name)
                .map(|feature| vec![feature])
                .map_err(|reason| reason.to_string());
        }
        match self.different.len() {
            1 => Err("always the same".into()),
            count if count > MOST_CATEGORIES => {
                Err(format!("text with more than {MOST_CATEGORIES} different values"))
            }
            count if count == self.count => Err("text that is different in every row".into()),
            _ => Ok(Feature::new(name).one_of(self.different.keys().cloned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use surefoot::Kind;

    use super::*;

    fn cells(cells: &[&str]) -> Cells {
        let mut seen = Cells::default();
        cells.iter().for_each(|cell| seen.add(cell));
        seen
    }

    #[test]
    fn a_column_is_known_by_its_cells() {
        let only = |name: &str, given: &[&str]| cells(given).features(name).unwrap().remove(0);
        let age = only("age", &["20", "30", "", "40"]);
        assert_eq!(age, Feature::new("age").kind(Kind::Integer).scaling(30.0, 10.0).limits(20.0, 40.0));
        let income = only("income", &["1.5", "2.5"]);
        assert_eq!((income.kind, income.mean, income.std), (Kind::Real, 2.0, 0.5f64.sqrt()));
        let member = only("member", &["true", "0", "1"]);
        assert_eq!(member, Feature::new("member").kind(Kind::Binary));
        for (given, reason) in [
            (["1", "inf"], "has infinite values"),
            (["1e308", "-1e308"], "values too large to be standardised"),
            (["1e-200", "5e-200"], "values too close together to be standardised"),
            (["1", "x"], "text that is different in every row"),
            (["x", "x"], "always the same"),
            (["3", "3"], "always the same"),
            (["", "NA"], "no values"),
        ] {
            assert_eq!(cells(&given).features("x"), Err(reason.to_owned()));
        }
        assert_eq!(cells(&["1", "2"]).features("Person_ID"), Err("an identifier, by its name".into()));
        // A column with few different texts has categories, in alphabetical order; an empty cell is not one.
        let job = cells(&["cook", "clerk", "", "NA", "cook"]).features("job").unwrap();
        assert_eq!(job, Feature::new("job").one_of(["clerk", "cook"]));
        let many: Vec<String> = (0..120).map(|i| format!("name {}", i % 60)).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let refused = cells(&many).features("who").unwrap_err();
        assert_eq!(refused, "text with more than 50 different values");
    }
}
