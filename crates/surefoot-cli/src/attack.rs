//! `surefoot attack`: tries to break promised actions.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use surefoot::{
    Action, Break, Budget, Features, People, Problem, ProblemFile, describe_shift, escape_line,
    infeasibility, refute,
};
use surefoot_cli::table::{Column, Values, Writer};

use crate::CommandOutput;
use crate::answers::{Answers, EXAMPLES, Hindered};
use crate::effort::check_evaluations;
use crate::formulas;
use crate::outputs::Outputs;
use crate::people::{Group, Source};
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
    let mut report = Report::default();
    let bar = ProgressBar::no_length();
    bar.set_style(ProgressStyle::with_template("{spinner} {pos} actions, {per_sec}")?);
    while let Some(group) = source.next()? {
        let promised = report.promises(&group, &mut answers)?;
        if promised.positions.is_empty() {
            continue;
        }
        let people = group.people.select(&promised.positions)?;
        let breaks = refute(&problem, &people, &promised.actions, budget)
            .map_err(|error| group.locate(&problem, error))?;
        let reasons =
            report.infeasible(&problem, &people, &promised).map_err(|error| group.locate(&problem, error))?;
        bar.inc(breaks.len() as u64);
        report.count(&problem, &promised.ids, &breaks)?;
        if let Some(writer) = &mut writer {
            writer.write(&values(&problem, promised.ids, &breaks, reasons)?)?;
        }
    }
    bar.finish_and_clear();
    answers.finish(&options.people)?;
    if let (Some(writer), Some(path)) = (writer, &options.output) {
        formulas::finish(writer, path)?;
    }
    report.output(&problem, options.output.as_deref())
}

/// The actions that are promised to a group of people, with the position of each person in it.
#[derive(Default)]
struct Promised {
    ids: Vec<String>,
    positions: Vec<usize>,
    actions: Vec<Action>,
}

/// The summary of all actions.
struct Report {
    attacked: usize,
    broken: usize,
    /// People without an action.
    without: usize,
    /// The size of the smallest shift that breaks an action.
    least: f64,
    examples: String,
    hindered: Hindered,
}

impl Default for Report {
    fn default() -> Self {
        let (examples, hindered) = Default::default();
        Self { attacked: 0, broken: 0, without: 0, least: f64::INFINITY, examples, hindered }
    }
}

impl Report {
    /// Takes the actions of a group of people from the table of actions.
    fn promises(&mut self, group: &Group, answers: &mut Answers) -> Result<Promised> {
        let mut all = Promised::default();
        for (position, id) in group.ids.iter().enumerate() {
            let promised = answers.take(id)?;
            self.without += usize::from(promised.is_empty());
            for action in promised {
                all.ids.push(id.clone());
                all.positions.push(position);
                all.actions.push(action);
            }
        }
        Ok(all)
    }

    /// Why each action is infeasible, if it is.
    fn infeasible(
        &mut self,
        problem: &Problem,
        people: &People,
        promised: &Promised,
    ) -> surefoot::Result<Vec<Option<String>>> {
        let each = promised.ids.iter().zip(people.iter()).zip(&promised.actions);
        each.map(|((id, individual), action)| {
            let why = infeasibility(problem, individual, action)?;
            Ok(self.hindered.note(id, why.as_ref()))
        })
        .collect()
    }

    fn count(&mut self, problem: &Problem, ids: &[String], breaks: &[Option<Break>]) -> Result<()> {
        self.attacked += breaks.len();
        for (id, found) in ids.iter().zip(breaks) {
            let Some(found) = found else { continue };
            self.least = self.least.min(found.size);
            if is_broken(problem, found) {
                self.broken += 1;
                if self.broken <= EXAMPLES {
                    let shift = describe_shift(problem, &found.perturbation)?;
                    let id = escape_line(id);
                    writeln!(self.examples, "The action of {id} {}.", broken_by(&shift, found.size))?;
                }
            }
        }
        Ok(())
    }

    fn output(self, problem: &Problem, path: Option<&Path>) -> Result<CommandOutput> {
        let Self { attacked, broken, without, least, examples, hindered } = self;
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
        if let Some(path) = path {
            writeln!(text, "Written to {}.", path.display())?;
        }
        Ok(CommandOutput { text, holds: broken == 0 && hindered.count == 0 })
    }
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
    found.size <= problem.epsilon()
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
