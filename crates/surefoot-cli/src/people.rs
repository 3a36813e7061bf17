//! People from tables, batch by batch, and from one line of JSON.

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::table::{Place, Reader, Table};
use anyhow::{Context, Error, Result, anyhow, bail};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use sha2::{Digest, Sha256};
use surefoot::error::PeopleError;
use surefoot::feature::{self, Column};
use surefoot::{Features, People, Problem, escape_line};

use crate::ids::Ids;

/// What stands between the names of a group and of a category in that of a column.
pub const SEPARATORS: [char; 6] = ['_', '=', ':', '-', '.', ' '];

/// Some people of a table, with what identifies them.
pub struct Group {
    pub ids: Vec<String>,
    pub people: People,
    /// The cells of the further columns that were asked for, column by column.
    pub further: Vec<Vec<String>>,
    path: PathBuf,
    places: Vec<Place>,
}

impl Group {
    /// An error of one of them, with the place of the first whom a causal model cannot produce.
    pub fn locate(&self, problem: &Problem, error: surefoot::Error) -> anyhow::Error {
        let faults = self.people.iter().map(|individual| fault(problem, individual));
        match faults.zip(&self.places).find_map(|(fault, place)| Some((fault?, place))) {
            Some((fault, place)) => Error::new(fault).context(format!("{}, {place}", self.path.display())),
            None => error.into(),
        }
    }

    /// Refuses the first whom a causal model cannot produce.
    pub fn check(&self, problem: &Problem) -> Result<()> {
        let fault = self.people.iter().find_map(|person| fault(problem, person));
        fault.map_or(Ok(()), |fault| Err(self.locate(problem, fault)))
    }

    /// The file and the place of one of them, for messages.
    pub fn place(&self, position: usize) -> String {
        format!("{}, {}", self.path.display(), self.places[position])
    }

    /// A digest of the ids and the values of some of them.
    pub fn digest(&self, range: Range<usize>) -> String {
        let mut digest = Sha256::new();
        for position in range {
            let id = &self.ids[position];
            digest.update((id.len() as u64).to_le_bytes());
            digest.update(id);
            self.people.individual(position).iter().for_each(|value| digest.update(value.to_le_bytes()));
        }
        digest.finalize()[..16].iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Why a causal model of a problem cannot produce an individual; `None` if all can.
pub fn fault(problem: &Problem, individual: &[f64]) -> Option<surefoot::Error> {
    let own = match problem.for_person(individual) {
        Ok(own) => own,
        Err(error) => return Some(error),
    };
    let (problem, individual) =
        own.as_ref().map_or((problem, individual), |own| (&own.problem, &own.individual));
    problem.variants().iter().filter_map(|variant| variant.scm()).find_map(|scm| scm.abduct(individual).err())
}

/// The number of rows of a table, without a look at its values.
pub fn count_rows(path: &Path) -> Result<usize> {
    let batches = Table::open(path)?.select::<&str>(&[], &[])?;
    batches.map(|batch| Ok(batch?.len())).sum()
}

/// Reads people batch by batch.
pub struct Source<'a> {
    path: &'a Path,
    features: &'a Features,
    reader: Reader,
    /// None where people are known by their row.
    ids: Option<Ids>,
}

impl<'a> Source<'a> {
    /// Opens a table. People are known by the column `id` (or another that is named), or by their
    /// row where there is none.
    pub fn open(path: &'a Path, features: &'a Features, id: Option<&str>) -> Result<Self> {
        Self::open_with(path, features, id, &[])
    }

    /// Opens a table of which further columns are read as text.
    pub fn open_with(
        path: &'a Path,
        features: &'a Features,
        id: Option<&str>,
        further: &[String],
    ) -> Result<Self> {
        let table = Table::open(path)?;
        let id = id.map(str::to_owned).or_else(|| table.columns().iter().find(|name| *name == "id").cloned());
        let columns: Vec<String> = id.iter().chain(further).cloned().collect();
        let ids = id.map(|column| Ids::new(path, column));
        Ok(Self { path, features, reader: table.select_people(features, &columns)?, ids })
    }

    /// The next people; none at the end.
    pub fn next(&mut self) -> Result<Option<Group>> {
        let Some(batch) = Iterator::next(&mut self.reader) else { return Ok(None) };
        let batch = batch?;
        let rows: Vec<Vec<f64>> = batch.numbers.rows().into_iter().map(|row| row.to_vec()).collect();
        let people = match People::from_own_units(self.features, &rows) {
            Ok(people) => people,
            Err(error) => {
                // Whose fault it is: the first who cannot stand alone.
                let at = rows.iter().position(|row| People::from_own_units(self.features, &[row]).is_err());
                let Some(at) = at else { return Err(error.into()) };
                let alone = People::from_own_units(self.features, &[&rows[at]]);
                let place = format!("{}, {}", self.path.display(), batch.places[at]);
                return Err(alone.err().unwrap_or(error)).context(place);
            }
        };
        let mut texts = batch.texts;
        let ids = match &mut self.ids {
            Some(seen) => {
                let ids = texts.remove(0);
                ids.iter().zip(&batch.places).try_for_each(|(id, &place)| seen.note(id, place))?;
                ids
            }
            None => (0..rows.len()).map(|i| (batch.start + i + 1).to_string()).collect(),
        };
        Ok(Some(Group { ids, people, further: texts, path: self.path.into(), places: batch.places }))
    }
}

/// The fields of a JSON object in their order, also those of the same name.
pub struct Fields(pub Vec<(String, serde_json::Value)>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with a value for each column")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(Fields(fields))
    }
}

/// One person from JSON such as `{"age": 31, "income": 2400}`, in own units.
pub fn from_json(text: &str, features: &Features) -> Result<People> {
    from_json_at(text, features, "--person")
}

/// As [`from_json`]; messages begin with the place where the person stands.
pub fn from_json_at(text: &str, features: &Features, at: &str) -> Result<People> {
    let Fields(fields) = serde_json::from_str(text).map_err(|error| {
        anyhow!("{at}: this is not a person in JSON: {error}; write it like '{}'", example(features))
    })?;
    let mut names = HashSet::with_capacity(fields.len());
    if let Some((name, _)) = fields.iter().find(|(name, _)| !names.insert(name)) {
        bail!("{at}: `{}` is given twice; remove one", escape_line(name));
    }
    let mut record: Vec<(&str, f64)> = Vec::with_capacity(fields.len());
    let groups = features.groups();
    for column in features.columns().iter().filter(|column| column.categories().is_some()) {
        let given = fields.iter().find(|(name, _)| name == column.name());
        let given = given.filter(|(_, value)| !value.is_null());
        let Some((_, value)) = given else {
            let first = features.feature(column.positions().start);
            if first.missing.is_some() {
                continue;
            }
            let feature = column.name().to_owned();
            return Err(Error::new(surefoot::Error::People(PeopleError::MissingValue {
                person: 1,
                feature,
            }))
            .context(at.to_owned()));
        };
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let mut row = vec![0.0; features.len()];
        let placed = column.place(&text, &mut row);
        placed.with_context(|| format!("{at}: `{}`", column.name()))?;
        record.extend(column.positions().map(|i| (features.feature(i).name.as_str(), row[i])));
    }
    let is_text =
        |name: &str| features.columns().iter().any(|c| c.name() == name && c.categories().is_some());
    let may_be_missing = |name: &str| features.iter().any(|f| f.name == name && f.missing.is_some());
    for (name, value) in fields.iter().filter(|(name, _)| !is_text(name)) {
        if value.is_null() && may_be_missing(name) {
            continue;
        }
        if let (Some(group), Some(category)) = (groups.iter().find(|g| g.name == *name), value.as_str()) {
            record.extend(columns(features, group, category, at)?);
            continue;
        }
        let number = value.as_f64().or_else(|| value.as_bool().map(|truth| f64::from(u8::from(truth))));
        let Some(number) = number else { bail!("{at}: `{}` is {value}; give a number", escape_line(name)) };
        record.push((name, number));
    }
    People::from_records(features, &[&record]).with_context(|| at.to_owned())
}

/// The columns of a group for somebody of a category, which is named by its column, or without what
/// the column shares with the group: `clerk` for `job_clerk`.
fn columns<'f>(
    features: &'f Features,
    group: &feature::Group,
    category: &str,
    at: &str,
) -> Result<Vec<(&'f str, f64)>> {
    let name = |i: usize| features.feature(i).name.as_str();
    let is_meant = |i: usize| {
        let short = name(i).strip_prefix(&group.name).map(|rest| rest.trim_start_matches(SEPARATORS));
        name(i) == category || short == Some(category)
    };
    if !group.columns.iter().any(|&i| is_meant(i)) {
        let known: Vec<String> = group.columns.iter().map(|&i| format!("`{}`", name(i))).collect();
        bail!("{at}: `{}` is \"{category}\"; give one of {}", group.name, known.join(", "));
    }
    Ok(group.columns.iter().map(|&i| (name(i), if is_meant(i) { 1.0 } else { 0.0 })).collect())
}

fn example(features: &Features) -> String {
    let field = |column: &Column| match column.categories().and_then(<[String]>::first) {
        Some(category) => format!("\"{}\": \"{category}\"", column.name()),
        None => {
            format!("\"{}\": {}", column.name(), features.feature(column.positions().start).mean.round())
        }
    };
    let fields: Vec<String> = features.columns().iter().map(field).collect();
    format!("{{{}}}", fields.join(", "))
}

#[cfg(test)]
mod tests {
    use crate::table::{Column, Values, Writer};

    use super::*;

    #[test]
    fn rows_are_counted_in_every_kind_of_file() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["people.csv", "people.parquet", "people.arrow"] {
            let path = folder.path().join(name);
            let mut writer =
                Writer::create(&path, &[("id", Column::Text), ("income", Column::Number)]).unwrap();
            for rows in [1, 8191, 9000] {
                let ids = vec![Some("of two\nlines".to_owned()); rows];
                writer.write(&[Values::Texts(ids), Values::Numbers(vec![Some(1.5); rows])]).unwrap();
            }
            writer.finish().unwrap();
            assert_eq!(count_rows(&path).unwrap(), 17_192, "{name}");
        }
    }
}
