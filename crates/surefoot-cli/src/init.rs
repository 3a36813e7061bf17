//! `surefoot init`: a first problem file from a table.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::table::{CellProblem, Table, TableError, parse_number};
use anyhow::{Result, anyhow, bail};
use clap::Args;
use surefoot::problem::Edit;
use surefoot::{Feature, Observed};

use crate::outputs::editable;
use crate::people::SEPARATORS;

/// What `surefoot init` can be asked.
#[derive(Args)]
pub struct Options {
    /// A table of people: CSV, Parquet or Arrow.
    pub table: PathBuf,
    /// The column that says what was decided, or what came of it; it is no feature.
    #[arg(long)]
    pub target: String,
    /// Where to write the problem file.
    #[arg(short, long, default_value = "problem.toml")]
    pub output: PathBuf,
}

/// A column of text with more different values than this is no feature: it names people, or tells of them.
const MOST_CATEGORIES: usize = 50;

/// The cells of one column.
#[derive(Clone, Debug, Default)]
struct Cells {
    numbers: Observed,
    has_text: bool,
    /// How many are given.
    count: usize,
    /// The different ones, up to one more than may be categories.
    different: BTreeSet<String>,
}

impl Cells {
    fn add(&mut self, cell: &str) {
        let value = parse_number(cell);
        if !matches!(value, Err(CellProblem::Missing)) {
            self.count += 1;
            if self.different.len() <= MOST_CATEGORIES && !self.different.contains(cell) {
                self.different.insert(cell.to_owned());
            }
        }
        match value {
            Ok(value) => self.numbers.add(value),
            Err(CellProblem::Missing | CellProblem::NotANumber(_)) => self.numbers.add(f64::NAN),
            Err(CellProblem::NotFinite(_)) => self.numbers.add(f64::INFINITY),
            Err(CellProblem::Text(_) | CellProblem::Category(_)) => self.has_text = true,
        }
    }

    /// The feature, of categories one for each, or why the column is none.
    fn features(&self, name: &str) -> Result<Vec<Feature>, String> {
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
            _ => Ok(Feature::new(name).one_of(self.different.iter().cloned())),
        }
    }
}

/// Columns that by their names may be the categories of one thing.
struct Categories(Vec<(String, Vec<usize>)>);

impl Categories {
    /// Those that share everything up to the last `_`, `=`, `:`, `-`, `.` or space.
    fn of(columns: &[String], target: &str) -> Self {
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
    fn add(&mut self, texts: &[Vec<String>]) {
        let rows = texts.first().map_or(0, Vec::len);
        let one_hot = |members: &[usize], row: usize| {
            let mut values = members.iter().map(|&i| parse_number(&texts[i][row]).unwrap_or(f64::NAN));
            values.clone().all(|value| value == 0.0 || value == 1.0)
                && values.by_ref().filter(|value| *value == 1.0).count() == 1
        };
        self.0.retain(|(_, members)| (0..rows).all(|row| one_hot(members, row)));
    }

    /// What to do about those that are left.
    fn notes(&self, columns: &[String], features: &[Feature]) -> Vec<String> {
        let is_feature = |i: &usize| features.iter().any(|feature| feature.name == columns[*i]);
        let groups = self.0.iter().filter(|(_, members)| members.iter().all(is_feature));
        let note = |(prefix, members): &(String, Vec<usize>)| {
            let names: Vec<String> = members.iter().map(|&i| format!("`{}`", columns[i])).collect();
            let names = names.join(", ");
            format!(
                "Every row has a 1 in exactly one of {names}: if these are categories, give each group = {prefix:?}."
            )
            .replace('\n', " ")
        };
        groups.map(note).collect()
    }
}

/// A problem file that has not been written yet.
pub struct Draft {
    /// To be saved.
    pub edit: Edit,
    /// What to say of it once it is.
    pub said: String,
}

/// Writes the file and says what to do next.
pub fn run(options: &Options) -> Result<String> {
    let Options { table, target, output } = options;
    if output.exists() {
        bail!("{} already exists; give another name with --output, or remove it", output.display());
    }
    let Draft { edit, said } = draft(table, target, output)?;
    edit.save().map_err(|error| anyhow!("{error}; give another place with --output"))?;
    Ok(said)
}

/// The problem file of a table, as it would be written.
pub fn draft(path: &Path, target: &str, output: &Path) -> Result<Draft> {
    editable(output)?;
    let table = Table::open(path)?;
    let columns = table.columns().to_vec();
    let mut seen = vec![Cells::default(); columns.len()];
    let mut rows = 0;
    // A wrong target is told as any column that is not there.
    let known: Vec<String> = columns.iter().cloned().chain([target.to_owned()]).collect();
    let mut categories = Categories::of(&columns, target);
    for batch in table.select(&[], &known)? {
        let batch = batch?;
        rows += batch.places.len();
        categories.add(&batch.texts);
        for (seen, cells) in seen.iter_mut().zip(&batch.texts) {
            cells.iter().for_each(|cell| seen.add(cell));
        }
    }
    if rows == 0 {
        return Err(TableError::NoRows { path: path.into() }.into());
    }
    let (mut features, mut columns_kept) = (Vec::new(), 0);
    let (mut left_out, mut incomplete) = (Vec::new(), Vec::new());
    for (name, seen) in columns.iter().zip(&seen).filter(|(name, _)| *name != target) {
        match seen.features(name) {
            Ok(column) => {
                let missing = seen.numbers.missing();
                if missing > 0 {
                    incomplete.push(format!("`{name}` (in {})", count(missing, "row")));
                }
                columns_kept += 1;
                features.extend(column);
            }
            Err(reason) => left_out.push(format!("`{name}` ({reason})")),
        }
    }
    if features.is_empty() {
        bail!("{}: no column can be a feature: {}", path.display(), left_out.join(", "));
    }
    let mut notes = notes(&left_out, &incomplete);
    notes.extend(categories.notes(&columns, &features));
    let mut edit = Edit::parse(&head(path, target, rows, output, &notes), output)?;
    edit.add_features(&features);
    edit.append(FOOT)?;
    let mut said = format!(
        "Written to {output}: {}, from {rows} people. All are fixed: state in that file which ones an action may \
         change, then run `surefoot validate {output}`.\n",
        count(columns_kept, "feature"),
        output = output.display(),
    );
    notes.iter().for_each(|note| said += &format!("{note}\n"));
    Ok(Draft { edit, said })
}

fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// What is said of columns, one line each.
fn notes(left_out: &[String], incomplete: &[String]) -> Vec<String> {
    let lists = [("Left out", left_out), ("Missing values", incomplete)];
    let lists = lists.into_iter().filter(|(_, list)| !list.is_empty());
    lists.map(|(what, list)| format!("{what}: {}.", list.join(", ")).replace('\n', " ")).collect()
}

fn head(path: &Path, target: &str, rows: usize, output: &Path, notes: &[String]) -> String {
    let name =
        |path: &Path| path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().replace('\n', " ");
    let mut text =
        format!("# A first problem file, from the {rows} rows of {}. What to do with it:\n", name(path));
    text += "\
#
# 1. Say of each feature what an action may do to it: change = \"increase\", \"decrease\" or
#    \"any\". Integer and binary features change by whole numbers. The columns of one category
#    (exactly one is 1 in every row) need a group, so that an action changes the category. Where
#    categories have an order, list the lowest first and set ordered = true.
# 2. Look at the limits, the range seen in the table: widen them where people may go further.
# 3. Give the classifier: see the end of this file.
# 4. Say how features cause each other, if they do, with an [[equation]] for each that
#    follows from others; without any they are treated as independent.
#
";
    // Writing to a String does not fail.
    let _ = writeln!(text, "# Then: surefoot validate {} {}\n#", name(output), name(path));
    let _ = writeln!(text, "# The outcome, which is not a feature: `{}`.", target.replace('\n', " "));
    notes.iter().for_each(|note| text += &format!("# {note}\n"));
    text += "
# How far circumstances may shift, in standard deviations, and how that is measured.
epsilon = 0.1
norm = \"l2\"
";
    text
}

const FOOT: &str = "
# The classifier. `surefoot train` writes it here; or give your own, linear:
#
# [classifier]
# coefficients = [0.0]      # one for each feature, in their order; for categories without an order one each
# intercept = 0.0
# threshold = 0.5           # favourable from this probability on
# inputs = \"raw\"            # people's own units; leave out for standardised ones
#
# or a network, whose file has the tensors layer0.weight, layer0.bias, layer1.weight, ...:
#
# [classifier]
# network = \"model.safetensors\"
# activation = \"tanh\"       # or \"relu\", \"sigmoid\"
# threshold = 0.5
#
# or a model of scikit-learn or PyTorch, as ONNX:
#
# [classifier]
# onnx = \"model.onnx\"
# threshold = 0.5
# inputs = \"raw\"            # if it takes people's own units, perhaps by a scaler of its own
";

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
