//! `surefoot audit`: which groups of people have recourse, and at which cost.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use ndarray::ArrayView2;
use surefoot::file::{AtomicFile, Audience};
use surefoot::recourse::Settings;
use surefoot::report::audit::{Audit, Examined, Examiner, Grouping, GroupingRequest, without_uncertainty};
use surefoot::{Action, People, Problem, ProblemFile, escape_line};

use crate::answers::Answers;
use crate::effort::Effort;
use crate::outputs::Outputs;
use crate::people::Source;
use crate::table::Table;

/// The names of the files in the folder.
const PAGE: &str = "audit.html";
const JSON: &str = "audit.json";

/// What `surefoot audit` can be asked.
#[derive(Args)]
pub struct Options {
    /// The problem file.
    problem: PathBuf,
    /// A table of people: CSV, Parquet or Arrow.
    people: PathBuf,
    /// The folder to write `audit.html` and `audit.json` into; it is made if it does not exist.
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,
    /// How to group people: a column of the table (`sex`), a column of numbers with cut points (`age: 30, 50`), or several
    /// columns at once (`sex, age: 30, 50`). Can be given several times.
    #[arg(long, value_name = "COLUMNS")]
    by: Vec<String>,
    /// A table of actions that others advised, to be judged as well: a column `id` and, for each feature acted upon, a
    /// column `action:<feature>` with its change in own units, as `surefoot certify` reads it.
    #[arg(long, value_name = "FILE")]
    actions: Option<PathBuf>,
    /// The column that identifies people; `id` if there is one, otherwise the number of the row.
    #[arg(long, value_name = "COLUMN")]
    id: Option<String>,
    /// The seed of the draws from which intervals are calculated.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Replace the files of an earlier audit in the folder.
    #[arg(long)]
    overwrite: bool,
    #[command(flatten)]
    effort: Effort,
}

/// Audits a table of people, and says what was found.
pub fn run(options: &Options) -> Result<String> {
    let settings = options.effort.settings()?;
    let file = ProblemFile::read(&options.problem)?;
    let problem = file.problem()?;
    let outputs = check_outputs(options, &file)?;
    let requests = requests(options, &problem)?;
    let people = Audited::read(options, &problem, &requests)?;
    let groupings: Vec<Grouping> = requests
        .iter()
        .map(|request| Grouping::new(request, &people.people, &people.further))
        .collect::<surefoot::Result<_>>()
        .context("--by")?;
    let examined = examine(&problem, &people, &groupings, settings)?;
    let ids: &[String] = if options.actions.is_some() { &people.ids } else { &[] };
    let audit = Audit::new(&problem, &groupings, &examined, ids, options.seed)?;
    let title = options.people.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    outputs.write(&audit.page(&title), &audit.to_json())?;
    let mut text =
        audit.findings().iter().map(|finding| format!("{}\n", wrapped(finding))).collect::<String>();
    text += &format!("Written to {} and {JSON} beside it.\n", outputs.page.display());
    Ok(text)
}

/// A finding as an entry of a list.
fn wrapped(finding: &str) -> String {
    let options = textwrap::Options::new(100).initial_indent("- ").subsequent_indent("  ");
    textwrap::fill(&escape_line(finding), options)
}

/// The groupings that are asked for.
fn requests(options: &Options, problem: &Problem) -> Result<Vec<GroupingRequest>> {
    let table = Table::open(&options.people)?;
    let mut requests: Vec<GroupingRequest> = Vec::new();
    for text in &options.by {
        let request = GroupingRequest::parse(text, problem.features(), table.columns()).context("--by")?;
        if requests.contains(&request) {
            bail!("--by {}: is given twice; remove one", escape_line(text));
        }
        requests.push(request);
    }
    Ok(requests)
}

/// The people of an audit, with what is needed to group them and what others advised them.
struct Audited {
    ids: Vec<String>,
    people: People,
    /// Cells of columns that are not of features.
    further: BTreeMap<String, Vec<String>>,
    /// Nothing where there is no advice to judge.
    advice: Vec<Vec<Action>>,
}

impl Audited {
    /// Reads and checks the whole table, and the actions of others.
    fn read(options: &Options, problem: &Problem, requests: &[GroupingRequest]) -> Result<Self> {
        let features = problem.features();
        let mut names: Vec<String> =
            requests.iter().flat_map(|request| request.further_columns(features)).collect();
        names.sort();
        names.dedup();
        let id = options.id.as_deref();
        let open = |path: &PathBuf| Answers::open(path, features, id);
        let mut answers = options.actions.as_ref().map(open).transpose()?;
        let mut source = Source::open_with(&options.people, features, id, &names)?;
        let (mut ids, mut values, mut advice) = (Vec::new(), Vec::new(), Vec::new());
        let mut cells = vec![Vec::new(); names.len()];
        while let Some(group) = source.next()? {
            group.check(problem)?;
            if let Some(answers) = &mut answers {
                for (id, individual) in group.ids.iter().zip(group.people.iter()) {
                    advice.push(answers.take(id, individual)?);
                }
            }
            values.extend(group.people.iter().flatten().copied());
            cells.iter_mut().zip(group.further).for_each(|(all, more)| all.extend(more));
            ids.extend(group.ids);
        }
        if let Some(answers) = answers {
            answers.finish(&options.people)?;
        }
        if ids.is_empty() {
            bail!("{}: has no people", options.people.display());
        }
        let rows = ArrayView2::from_shape((ids.len(), features.len()), &values)?;
        let people = People::from_standardised(features, rows)?;
        Ok(Self { ids, people, further: names.into_iter().zip(cells).collect(), advice })
    }
}

/// Examines everybody, with progress.
fn examine(
    problem: &Problem,
    people: &Audited,
    groupings: &[Grouping],
    settings: Settings,
) -> Result<Vec<Examined>> {
    let nominal = without_uncertainty(problem)?;
    let examiner = Examiner::new(problem, nominal.as_ref(), &people.people, groupings, settings)?;
    let count = people.ids.len();
    let bar = ProgressBar::new(count as u64);
    bar.set_style(ProgressStyle::with_template(
        "{spinner} {pos} of {len} people, {elapsed} so far, {eta} to go",
    )?);
    bar.enable_steady_tick(std::time::Duration::from_millis(250));
    let mut examined = Vec::with_capacity(count);
    while examined.len() < count {
        let next = examined.len()..count.min(examined.len() + examiner.batch_size());
        examined.extend(examiner.examine(next, &people.advice, &|people| bar.inc(people as u64))?);
    }
    bar.finish_and_clear();
    Ok(examined)
}

/// The files that are written.
struct Written {
    page: PathBuf,
    json: PathBuf,
}

/// Refuses a folder that cannot be written, or that has an audit already, before any time is spent.
fn check_outputs(options: &Options, file: &ProblemFile) -> Result<Written> {
    let folder = &options.output;
    let shown = folder.display();
    if folder.exists() && !folder.is_dir() {
        bail!("--output {shown}: is a file; name a folder");
    }
    let written = Written { page: folder.join(PAGE), json: folder.join(JSON) };
    let is_there = |path: &&PathBuf| path.exists();
    if let Some(path) =
        [&written.page, &written.json].into_iter().find(is_there).filter(|_| !options.overwrite)
    {
        bail!("--output {shown}: has {} already; name another folder, or add --overwrite", name(path));
    }
    let mut outputs = Outputs::default().keep("the table of people", &options.people).keep_problem(file);
    if let Some(actions) = &options.actions {
        outputs = outputs.keep("the table of actions", actions);
    }
    match folder.is_dir() {
        true => drop(outputs.check("--output", &written.page)?.check("--output", &written.json)?),
        // A folder is made when there is something to write, in one that exists.
        false => drop(outputs.check("--output", folder)?),
    }
    Ok(written)
}

fn name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

impl Written {
    /// Writes both files, of which neither is replaced before both are complete.
    fn write(&self, page: &str, json: &str) -> Result<()> {
        use std::io::Write as _;
        if let Some(folder) = self.page.parent().filter(|folder| !folder.is_dir()) {
            fs::create_dir(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
        }
        let mut files = Vec::new();
        for (path, content) in [(&self.page, page), (&self.json, json)] {
            let cannot = || format!("{} cannot be written", path.display());
            let file = AtomicFile::create(path, Audience::Owner).with_context(cannot)?;
            file.writer().and_then(|mut writer| writer.write_all(content.as_bytes())).with_context(cannot)?;
            files.push((file, path));
        }
        for (file, path) in files {
            file.commit().with_context(|| format!("{} cannot be written", path.display()))?;
        }
        Ok(())
    }
}
