//! Columns that are the categories of one thing.

use surefoot::Feature;

use crate::people::SEPARATORS;
use crate::table::parse_number;

/// Columns that by their names may be the categories of one thing.
pub struct Groups(Vec<(String, Vec<usize>)>);

impl Groups {
    /// Those that share everything up to the last `_`, `=`, `:`, `-`, `.` or space.
    pub fn of(columns: &[String], target: &str) -> Self {
        let mut groups: Vec<(String, Vec<usize>)> = Vec::new();
        for (i, name) in columns.iter().enumerate().filter(|(_, name)| *name != target) {
            let Some(end) = name.rfind(SEPARATORS) else { continue };
            match groups.iter_mut().find(|(prefix, _)| *prefix == name[..end]) {
                Some((_, members)) => members.push(i),
                None => groups.push((name[..end].to_owned(), vec![i])),
            }
        }
        groups.retain(|(prefix, members)| members.len() > 1 && !prefix.trim().is_empty());
        Self(groups)
    }

    /// Drops those of which not exactly one is 1 in every row.
    pub fn add(&mut self, texts: &[Vec<String>]) {
        let rows = texts.first().map_or(0, Vec::len);
        let one_hot = |members: &[usize], row: usize| {
            let mut values = members.iter().map(|&i| parse_number(&texts[i][row]).unwrap_or(f64::NAN));
            values.clone().all(|value| value == 0.0 || value == 1.0)
                && values.by_ref().filter(|value| *value == 1.0).count() == 1
        };
        self.0.retain(|(_, members)| (0..rows).all(|row| one_hot(members, row)));
    }

    /// Makes the columns of those that are left groups, if all of them are features and no other column has the name of
    /// the group. Every row has a 1 in exactly one of them. What was done, a line for each.
    pub fn adopt(&self, columns: &[String], features: &mut [Feature]) -> Vec<String> {
        let mut notes = Vec::new();
        for (prefix, members) in &self.0 {
            let position = |i: &usize| features.iter().position(|feature| feature.name == columns[*i]);
            let Some(places) = members.iter().map(position).collect::<Option<Vec<usize>>>() else { continue };
            if columns.contains(prefix) {
                continue;
            }
            for place in places {
                features[place] = features[place].clone().group(prefix.clone());
            }
            let names: Vec<String> = members.iter().map(|&i| format!("`{}`", columns[i])).collect();
            notes.push(format!(
                "Every row has a 1 in exactly one of {}: they are the group {prefix:?}.",
                names.join(", ")
            ));
        }
        notes
    }
}
