//! `surefoot attack`: tries to break promised actions.

use std::fmt::Write as _;
use std::path::PathBuf;

use crate::table::Writer;
use anyhow::Result;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use surefoot::magnitude::readable;
use surefoot::report::{AttackTable, Attacked};
use surefoot::{Action, Budget, Problem, ProblemFile, describe_break, escape_line, infeasibility, refute};

use crate::CommandOutput;
use crate::answers::{Answers, EXAMPLES, Hindered, WithoutAction};
use crate::effort::check_evaluations;
use crate::formulas;
use crate::outputs::Outputs;
use crate::people::{Group, Source};
use crate::words::{are, beside, number_of};

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
    /// Where to write the breaks that were found: CSV, Parquet or Arrow.
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
    let attack_table = AttackTable::new(&problem);
    let create = |path: &PathBuf| Writer::create_report(path, &attack_table.headings());
    let mut writer = options.output.as_ref().map(create).transpose()?;
    let epsilon = problem.uncertainty().radius();
    let budget = Budget { evaluations: options.evaluations };
    let (mut attacked, mut broken, mut least) = (0, 0, f64::INFINITY);
    let mut without = WithoutAction::default();
    let mut examples = String::new();
    let mut hindered = Hindered::default();
    let bar = ProgressBar::no_length();
    bar.set_style(ProgressStyle::with_template("{spinner} {pos} actions, {per_sec}")?);
    while let Some(group) = source.next()? {
        let Promised { ids, positions, actions } = promised(&problem, &group, &mut answers, &mut without)?;
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
            hindered.note(id, why.as_ref());
            reasons.push(why);
        }
        bar.inc(breaks.len() as u64);
        attacked += breaks.len();
        for (id, found) in ids.iter().zip(&breaks) {
            let Some(found) = found else { continue };
            least = least.min(found.size);
            if attack_table.is_broken(found) {
                broken += 1;
                if broken <= EXAMPLES {
                    let shift = describe_break(&problem, found.variant, &found.perturbation)?;
                    let id = escape_line(id);
                    writeln!(examples, "The action of {id} {}.", broken_by(&shift, found.size, epsilon))?;
                }
            }
        }
        if let Some(writer) = &mut writer {
            let mut rows = Vec::with_capacity(ids.len());
            for ((id, found), why) in ids.iter().zip(&breaks).zip(&reasons) {
                rows.push(Attacked { id, action: Some((found.as_ref(), why.as_ref())) });
            }
            writer.write_report(attack_table.values(&rows)?)?;
        }
    }
    bar.finish_and_clear();
    answers.finish(&options.people)?;
    if let (Some(writer), Some(path)) = (writer, &options.output) {
        formulas::finish(writer, path)?;
    }
    let mut text = summary(&problem, attacked, broken, least, &without)?;
    text += &examples;
    write!(text, "{hindered}")?;
    if let Some(path) = &options.output {
        writeln!(text, "Written to {}.", path.display())?;
    }
    Ok(CommandOutput { text, holds: broken == 0 && hindered.count == 0 })
}

/// How many actions are broken, by what is within the uncertainty, and the smallest break of all.
fn summary(
    problem: &Problem,
    attacked: usize,
    broken: usize,
    least: f64,
    without: &WithoutAction,
) -> Result<String> {
    let epsilon = problem.uncertainty().radius();
    let (within, most) = match problem.sources() {
        None => (format!("a shift of up to {}", readable(epsilon)), String::new()),
        Some(_) => (
            "what the problem says is uncertain".into(),
            format!(", where {} is as far as everything uncertain may go", readable(epsilon)),
        ),
    };
    let actions = number_of(attacked, "action");
    let mut text = format!("{actions}: {broken} {} broken by {within}.", are(broken));
    if attacked > broken {
        let rest = attacked - broken;
        write!(
            text,
            " For {rest} no such shift was found, which is no proof; `surefoot certify` searches for one."
        )?;
    }
    writeln!(text, "{without}")?;
    if least.is_finite() {
        writeln!(
            text,
            "The smallest shift found that breaks an action has size {}{most}.",
            beside(least, epsilon)
        )?;
    }
    Ok(text)
}

/// The actions that some people were promised.
#[derive(Default)]
struct Promised<'a> {
    ids: Vec<&'a str>,
    /// The positions of these people in their group.
    positions: Vec<usize>,
    actions: Vec<Action>,
}

/// The actions of the people of a group; `without` counts those who have none.
fn promised<'a>(
    problem: &Problem,
    group: &'a Group,
    answers: &mut Answers<'_>,
    without: &mut WithoutAction,
) -> Result<Promised<'a>> {
    let mut promised = Promised::default();
    for (position, (id, individual)) in group.ids.iter().zip(group.people.iter()).enumerate() {
        let actions = answers.take(id, individual)?;
        if actions.is_empty() {
            without.add(problem, individual);
        }
        for action in actions {
            promised.ids.push(id);
            promised.positions.push(position);
            promised.actions.push(action);
        }
    }
    Ok(promised)
}

/// What breaks an action, in words. An action may fail without any shift.
fn broken_by(shift: &str, size: f64, epsilon: f64) -> String {
    match size {
        0.0 => "fails without any shift".into(),
        _ => format!("breaks with {shift} (size {})", beside(size, epsilon)),
    }
}
