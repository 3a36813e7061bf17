//! `surefoot attack`: tries to break promised actions.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use surefoot::{
    Break, Budget, Features, Problem, ProblemFile, describe_shift, escape_line, infeasibility, refute,
};
use surefoot_cli::table::{Column, Values, Writer};

use crate::CommandOutput;
use crate::answers::{Answers, EXAMPLES, Hindered};
use crate::effort::check_evaluations;
use crate::formulas;
use crate::outputs::Outputs;
use crate::people::Source;
use crate::words::{are, number_of};

/// What `surefoot attack` can be asked.
#[derive(Args)]
pub struct Options {
    /// The problem file.
    problem: PathBuf,
    /// A table of people: CSV, Parquet or Arrow.
    people: PathBuf,
    /// A table of actions: a column `id` and, for each feature acted upon, a column
    /// `action:<feature>` with its change in own units (empty: not acted upon), as `surefoot
    /// recourse` writes it.
    answers: PathBuf,
    /// Where to write what was found: CSV, Parquet or Arrow.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The column that identifies people in both tables; `id` if there is one, otherwise the number
    /// of the row.
    #[arg(long, value_name = "COLUMN")]
    id: Option<String>,
    /// Bounds and evaluations that the search of `surefoot certify` may cost for each action that
    /// the attacks do not break.
    #[arg(long, default_value_t = Budget::default().evaluations)]
    evaluations: usize,
}

/// Says how many actions break within the uncertainty that the problem guards against.
pub fn run(options: &Options) -> Result<CommandOutput> {
    check_evaluations(options.evaluations)?;
    let file = ProblemFile::read(&options.problem)?;
    let problem = file.problem()?;
    if let Some(output) = &options.output {
        let outputs = Outputs::default()
            .keep("the table of people", &options.people)
            .keep("the table of actions", &options.answers);
        outputs.keep_problem(&file).check("--output", output)?;
    }
    let mut answers = Answers::open(&options.answers, problem.features(), options.id.as_deref())?;
    let mut source = Source::open(&options.people, problem.features(), options.id.as_deref())?;
    let create = |path: &PathBuf| Writer::create(path, &columns(problem.features()));
    let mut writer = options.output.as_ref().map(create).transpose()?;
    let budget = Budget { evaluations: options.evaluations };
    let (mut attacked, mut broken, mut without, mut least) = (0, 0, 0, f64::INFINITY);
    let mut examples = String::new();
    let mut hindered = Hindered::default();
    let bar = ProgressBar::no_length();
    bar.set_style(ProgressStyle::with_template("{spinner} {pos} actions, {per_sec}")?);
    while let Some(group) = source.next()? {
        let (mut ids, mut positions, mut actions) = (Vec::new(), Vec::new(), Vec::new());
        for (position, id) in group.ids.iter().enumerate() {
            let promised = answers.take(id)?;
            without += usize::from(promised.is_empty());
            for action in promised {
                ids.push(id.clone());
                positions.push(position);
                actions.push(action);
            }
        }
        if positions.is_empty() {
            continue;
        }
        let people = group.people.select(&positions)?;
        let breaks =
            refute(&problem, &people, &actions, budget).map_err(|error| group.locate(&problem, error))?;
        let mut reasons = Vec::with_capacity(actions.len());
        for ((id, individual), action) in ids.iter().zip(people.iter()).zip(&actions) {
            let why =
                infeasibility(&problem, individual, action).map_err(|error| group.locate(&problem, error))?;
            reasons.push(hindered.note(id, why.as_ref()));
        }
        bar.inc(breaks.len() as u64);
        attacked += breaks.len();
        for (id, found) in ids.iter().zip(&breaks) {
            let Some(found) = found else { continue };
            least = least.min(found.size);
            if is_broken(&problem, found) {
                broken += 1;
                if broken <= EXAMPLES {
                    let shift = describe_shift(&problem, &found.perturbation)?;
                    let id = escape_line(id);
                    writeln!(examples, "The action of {id} {}.", broken_by(&shift, found.size))?;
                }
            }
        }
        if let Some(writer) = &mut writer {
            writer.write(&values(&problem, ids, &breaks, reasons)?)?;
        }
    }
    bar.finish_and_clear();
    answers.finish(&options.people)?;
    if let (Some(writer), Some(path)) = (writer, &options.output) {
        formulas::finish(writer, path)?;
    }
    let epsilon = problem.epsilon();
    let mut text = format!(
        "{}: {broken} {} broken by shifts of up to {epsilon}; for {} no such shift was found, which proves nothing \
         (`surefoot certify` does). {} no action.\n",
        number_of(attacked, "action"),
        are(broken),
        attacked - broken,
        if without == 1 { "1 person has".into() } else { format!("{without} people have") }
    );
    if least.is_finite() {
        writeln!(text, "The smallest shift found to break one of them has the size {least:.3e}.")?;
    }
    text += &examples;
    write!(text, "{hindered}")?;
    if let Some(path) = &options.output {
        writeln!(text, "Written to {}.", path.display())?;
    }
    Ok(CommandOutput { text, holds: broken == 0 && hindered.count == 0 })
}

/// What breaks an action, in words. An action may fail without any shift.
fn broken_by(shift: &str, size: f64) -> String {
    match size {
        0.0 => "fails without any shift".into(),
        _ => format!("breaks with {shift} (size {size:.3e})"),
    }
}

/// Whether a break is within the uncertainty that the problem guards against.
fn is_broken(problem: &Problem, found: &Break) -> bool {
    problem.uncertainty().includes(found.size)
}

fn columns(features: &Features) -> Vec<(String, Column)> {
    let mut columns = vec![("id".to_owned(), Column::Text), ("broken".to_owned(), Column::Truth)];
    columns.extend(["smallest_break", "margin"].map(|name| (name.to_owned(), Column::Number)));
    columns.extend(features.iter().map(|feature| (format!("shift:{}", feature.name), Column::Number)));
    columns.push(("breaks_with".into(), Column::Text));
    columns.push(("feasible".into(), Column::Truth));
    columns.push(("reason".into(), Column::Text));
    columns
}

fn values(
    problem: &Problem,
    ids: Vec<String>,
    breaks: &[Option<Break>],
    reasons: Vec<Option<String>>,
) -> Result<Vec<Values>> {
    let numbers = |of: &dyn Fn(&Break) -> f64| {
        Values::Numbers(breaks.iter().map(|found| found.as_ref().map(of)).collect())
    };
    let broken = |found: &Option<Break>| Some(found.as_ref().is_some_and(|found| is_broken(problem, found)));
    let mut values = vec![
        Values::Texts(ids.into_iter().map(Some).collect()),
        Values::Truths(breaks.iter().map(broken).collect()),
        numbers(&|found| found.size),
        numbers(&|found| found.margin),
    ];
    for (i, feature) in problem.features().iter().enumerate() {
        values.push(numbers(&|found| found.perturbation[i] * feature.std));
    }
    let words = breaks
        .iter()
        .map(|found| found.as_ref().map(|found| describe_shift(problem, &found.perturbation)).transpose());
    values.push(Values::Texts(words.collect::<surefoot::Result<_>>()?));
    values.push(Values::Truths(reasons.iter().map(|why| Some(why.is_none())).collect()));
    values.push(Values::Texts(reasons));
    Ok(values)
}
