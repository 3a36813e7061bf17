//! The columns of people: numbers, and texts that are categories of the problem.

use ndarray::Array2;
use surefoot::Features;
use surefoot::feature::Column;

use super::{Batch, CellFault, CellProblem, Place, Reader, Result, Table, is_nothing};

impl Table {
    /// Reads the columns of people, and others as text, in the order given here. The numbers of a batch are
    /// the values of all features in own units, in their order: categories are read as text and placed there.
    pub fn select_people(self, features: &Features, texts: &[String]) -> Result<Reader> {
        let is_text = |column: &&Column| column.categories().is_some();
        let names = |columns: Vec<&Column>| -> Vec<String> {
            columns.into_iter().map(|column| column.name().to_owned()).collect()
        };
        let (categories, numbers): (Vec<&Column>, Vec<&Column>) =
            features.columns().iter().partition(is_text);
        let texts = [names(categories), texts.to_vec()].concat();
        let mut reader = self.select(&names(numbers), &texts)?;
        reader.people = Some(features.clone());
        Ok(reader)
    }
}

/// How many columns hold categories.
pub(super) fn category_columns(features: &Features) -> usize {
    features.columns().iter().filter(|column| column.categories().is_some()).count()
}

/// The batch without the faults of values that may be missing.
pub(super) fn without_allowed_gaps(mut batch: Batch, features: &Features) -> Batch {
    let may_be_missing = |name: &str| {
        let column = features.columns().iter().find(|column| column.name() == name);
        column.is_some_and(|column| is_optional(features, column))
    };
    batch.faults.retain(|fault| {
        let is_gap = match &fault.problem {
            CellProblem::Missing => true,
            CellProblem::NotANumber(text) => text.eq_ignore_ascii_case("nan"),
            _ => false,
        };
        !(is_gap && may_be_missing(&fault.column))
    });
    batch
}

/// Whether a column's value may be missing.
fn is_optional(features: &Features, column: &Column) -> bool {
    features.feature(column.positions().start).missing.is_some()
}

/// Puts the categories of a batch among its numbers, which are then the values of all features.
pub(super) fn place_categories(batch: Batch, features: &Features) -> Batch {
    let count = category_columns(features);
    if count == 0 {
        return batch;
    }
    let Batch { start, numbers: read, mut texts, places, mut faults } = batch;
    let others = texts.split_off(count);
    let mut numbers = Array2::from_elem((places.len(), features.len()), f64::NAN);
    let (mut next_number, mut next_text) = (0, texts.iter());
    let mut row = vec![f64::NAN; features.len()];
    for column in features.columns() {
        let positions = column.positions();
        if column.categories().is_none() {
            numbers.column_mut(positions.start).assign(&read.column(next_number));
            next_number += 1;
            continue;
        }
        for (person, text) in next_text.next().into_iter().flatten().enumerate() {
            if is_optional(features, column) && is_nothing(text) {
                continue;
            }
            match column.place(text, &mut row) {
                Ok(()) => positions.clone().for_each(|i| numbers[[person, i]] = row[i]),
                Err(problem) => {
                    let (place, problem) = (places[person], CellProblem::Category(Box::new(problem)));
                    faults.push(CellFault { place, column: column.name().into(), problem });
                }
            }
        }
    }
    // In the order of rows.
    faults.sort_by_key(|fault| match fault.place {
        Place::Line(number) | Place::Row(number) => number,
    });
    Batch { start, numbers, texts: others, places, faults }
}
