//! `surefoot init`: a first problem file from a table.

mod cells;
mod graph;
mod groups;
mod hints;
mod wishes;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::table::{Table, TableError};
use anyhow::{Result, anyhow, bail};
use clap::Args;
use surefoot::feature::Shown;
use surefoot::magnitude::readable;
use surefoot::problem::Edit;
use surefoot::{Feature, Features, Kind, ProblemFile};

use crate::outputs::editable;
use cells::Cells;
use graph::GraphFile;
use groups::Groups;
pub use wishes::Wishes;

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
    /// What an action may do to features: `income=increase,debt=decrease`, or any, or fixed; all others are fixed.
    /// Groups and columns of text are named as features are.
    #[arg(long, value_name = "NAME=HOW,...")]
    pub change: Vec<String>,
    /// The order of the texts of a column, the lowest first: "education=none<basic<degree".
    #[arg(long, value_name = "NAME=TEXT<TEXT<...")]
    pub order: Vec<String>,
    /// A number that is no amount, and what it means: "bureau=-9: no bureau record".
    #[arg(long, value_name = "NAME=NUMBER: MEANING")]
    pub special: Vec<String>,
    /// The causal graph: "education -> income; income -> savings", or a file with such lines, in DOT or in GML. It is written
    /// beside the problem file, for `surefoot fit --graph`.
    #[arg(long)]
    pub graph: Option<String>,
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
    let Options { table, target, output, change, order, special, graph } = options;
    let wishes = Wishes::parse(change, order, special)?;
    if output.exists() {
        bail!("{} already exists; give another name with --output, or remove it", output.display());
    }
    let Draft { edit, mut said } = draft(table, target, output, &wishes)?;
    let graph = graph.as_ref().map(|graph| {
        let file = ProblemFile::parse(&edit.text(), output)?;
        GraphFile::new(graph, file.features()?, table, output)
    });
    let graph = graph.transpose()?;
    edit.save().map_err(|error| anyhow!("{error}; give another place with --output"))?;
    if let Some(graph) = graph {
        graph.save()?;
        said += &format!(
            "The graph is in {}: `surefoot fit {} --graph {} --problem {}` writes its equations.\n",
            graph.path.display(),
            table.display(),
            graph.path.display(),
            output.display()
        );
    }
    Ok(said)
}

/// The problem file of a table, as it would be written.
pub fn draft(path: &Path, target: &str, output: &Path, wishes: &Wishes) -> Result<Draft> {
    editable(output)?;
    let table = Table::open(path)?;
    let columns = table.columns().to_vec();
    let cells = |name: &String| Cells::new(wishes.special_numbers(name));
    let mut seen: Vec<Cells> = columns.iter().map(cells).collect();
    let mut rows = 0;
    // A wrong target is told as any column that is not there.
    let known: Vec<String> = columns.iter().cloned().chain([target.to_owned()]).collect();
    let mut groups = Groups::of(&columns, target);
    for batch in table.select(&[], &known)? {
        let batch = batch?;
        rows += batch.places.len();
        groups.add(&batch.texts);
        for (seen, cells) in seen.iter_mut().zip(&batch.texts) {
            cells.iter().for_each(|cell| seen.add(cell));
        }
    }
    if rows == 0 {
        return Err(TableError::NoRows { path: path.into() }.into());
    }
    let (mut features, mut columns_kept) = (Vec::new(), 0);
    let (mut left_out, mut incomplete, mut guesses) = (Vec::new(), Vec::new(), Vec::new());
    for (name, seen) in columns.iter().zip(&seen).filter(|(name, _)| *name != target) {
        match seen.features(name) {
            Ok(column) => {
                columns_kept += 1;
                let (column, guess) = wishes.shape(name, seen, column)?;
                let missing = seen.numbers.missing();
                if missing > 0 {
                    incomplete.push(format!("`{name}` (in {}; {})", count(missing, "row"), remedy(&column)));
                }
                features.extend(column);
                guesses.extend(guess);
            }
            Err(reason) => left_out.push((name.clone(), reason)),
        }
    }
    let listed: Vec<String> = left_out.iter().map(|(name, reason)| format!("`{name}` ({reason})")).collect();
    if features.is_empty() {
        bail!("{}: no column can be a feature: {}", path.display(), listed.join(", "));
    }
    let mut notes = notes(&listed, &incomplete);
    notes.extend(groups.adopt(&columns, &mut features));
    notes.extend(guesses);
    let notes: Vec<String> = notes.into_iter().map(|note| note.replace('\n', " ")).collect();
    wishes.apply_changes(&mut features, &left_out)?;
    let features = Features::new(features)?;
    let mut edit = Edit::parse(&head(path, target, rows, output, &notes), output)?;
    edit.add_features(&features.iter().cloned().collect::<Vec<_>>());
    edit.append(FOOT)?;
    let mut said = format!(
        "Written to {output}: {}, from {rows} people. {} `surefoot validate {output}`.\n",
        count(columns_kept, "feature"),
        match features.actionable().is_empty() {
            true => "All are fixed: state in that file which ones an action may change, then run",
            false => "Look at that file, then run",
        },
        output = output.display(),
    );
    notes.iter().for_each(|note| said += &format!("{note}\n"));
    Ok(Draft { edit, said })
}

/// What to state of a column with missing values, without which the rows are refused.
fn remedy(column: &[Feature]) -> String {
    let [feature] = column else {
        return "write a text for what is not known into these cells, as one more category".into();
    };
    if let Shown::Ordered(levels) = &feature.shown {
        return format!("state of it missing = {{ value = {:?} }}", levels[levels.len() / 2]);
    }
    let (lower, upper) = (readable(feature.lower), readable(feature.upper));
    let value = match feature.kind {
        Kind::Binary => "0".to_owned(),
        Kind::Real | Kind::Integer => "\"mean\"".to_owned(),
    };
    format!("state of it missing = {{ value = {value}, between = [{lower}, {upper}] }}")
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
