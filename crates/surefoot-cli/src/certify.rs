//! `surefoot certify`: whether actions hold, wherever they came from.

use std::path::PathBuf;

use crate::table::Writer;
use anyhow::{Result, bail};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;
use surefoot::magnitude::readable;
use surefoot::report::{Judged, VerdictTable};
use surefoot::{
    Action, Budget, Certificate, Infeasible, Problem, ProblemFile, Verdict, certify, describe_break,
    escape_line, infeasibility,
};

use crate::CommandOutput;
use crate::answers::{Answers, EXAMPLES, Hindered, WithoutAction};
use crate::effort::check_evaluations;
use crate::formulas;
use crate::outputs::Outputs;
use crate::people::{Group, Source};
use crate::verify::verify_file;
use crate::words::{are, number_of};

/// What `surefoot certify` can be asked.
#[derive(Args)]
pub struct Options {
    /// The problem file.
    problem: PathBuf,
    /// A table of people: CSV, Parquet or Arrow.
    #[arg(required_unless_present = "check")]
    people: Option<PathBuf>,
    /// A table of actions: a column `id` and, for each feature acted upon, a column
    /// `action:<feature>` with its change in own units (empty: not acted upon), as `surefoot
    /// recourse` writes it.
    #[arg(required_unless_present = "check")]
    answers: Option<PathBuf>,
    /// The earlier name of `surefoot verify`, accepted for one release.
    #[arg(long, value_name = "PROOFS", hide = true, conflicts_with_all = ["people", "answers", "output", "id"])]
    check: Option<PathBuf>,
    /// Where to write the verdicts: CSV, Parquet or Arrow.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The column that identifies people in both tables; `id` if there is one, otherwise the number
    /// of the row.
    #[arg(long, value_name = "COLUMN")]
    id: Option<String>,
    /// Bounds and evaluations that each action may cost.
    #[arg(long, default_value_t = Budget::default().evaluations)]
    evaluations: usize,
}

/// Says of how many actions it is proven that they hold, and of how many that they do not.
pub fn run(options: &Options) -> Result<CommandOutput> {
    check_evaluations(options.evaluations)?;
    let file = ProblemFile::read(&options.problem)?;
    let problem = file.problem()?;
    if let Some(path) = &options.check {
        return verify_file(&problem, path);
    }
    let (Some(people), Some(answers)) = (&options.people, &options.answers) else {
        bail!("give a table of people and one of actions");
    };
    if let Some(output) = &options.output {
        let outputs =
            Outputs::default().keep("the table of people", people).keep("the table of actions", answers);
        outputs.keep_problem(&file).check("--output", output)?;
    }
    let mut promised = Answers::open(answers, problem.features(), options.id.as_deref())?;
    let mut source = Source::open(people, problem.features(), options.id.as_deref())?;
    let verdict_table = VerdictTable::new(&problem);
    let create = |path: &PathBuf| Writer::create_report(path, &verdict_table.headings());
    let mut writer = options.output.as_ref().map(create).transpose()?;
    let mut report = Report::default();
    let bar = ProgressBar::no_length();
    bar.set_style(ProgressStyle::with_template("{spinner} {pos} actions, {per_sec}")?);
    let budget = Budget { evaluations: options.evaluations };
    while let Some(group) = source.next()? {
        let promises = report.promises(&problem, &group, &mut promised)?;
        let certified = promises
            .par_iter()
            .map(|promise| {
                let certificate = certify(&problem, promise.individual, &promise.action, budget)?;
                let infeasible = infeasibility(&problem, promise.individual, &promise.action)?;
                bar.inc(1);
                Ok((certificate, infeasible))
            })
            .collect::<surefoot::Result<Vec<(Certificate, Option<Infeasible>)>>>()
            .map_err(|error| group.locate(&problem, error))?;
        let mut rows = Vec::with_capacity(promises.len());
        for (promise, (certificate, infeasible)) in promises.iter().zip(&certified) {
            let (verdict, infeasible) = (&certificate.verdict, infeasible.as_ref());
            report.add(&problem, promise.id, verdict, infeasible)?;
            rows.push(Judged { id: promise.id, action: Some((verdict, infeasible)) });
        }
        if let Some(writer) = &mut writer {
            writer.write_report(verdict_table.values(&rows)?)?;
        }
    }
    bar.finish_and_clear();
    promised.finish(people)?;
    let mut text = report.text(&problem);
    if let (Some(writer), Some(path)) = (writer, &options.output) {
        formulas::finish(writer, path)?;
        text += &format!("Written to {}.\n", path.display());
    }
    Ok(CommandOutput { text, holds: report.holds() })
}

/// An action that somebody was promised to work.
struct Promise<'a> {
    id: &'a str,
    individual: &'a [f64],
    action: Action,
}

/// How often each verdict was reached.
#[derive(Default)]
struct Report {
    holding: usize,
    breaking: usize,
    undecided: usize,
    /// People without an action.
    without: WithoutAction,
    infeasible: Hindered,
    /// A sentence on each of the first actions that break.
    examples: String,
}

impl Report {
    /// The actions that the people of a group were promised.
    fn promises<'a>(
        &mut self,
        problem: &Problem,
        group: &'a Group,
        answers: &mut Answers<'_>,
    ) -> Result<Vec<Promise<'a>>> {
        let mut promises = Vec::new();
        for (id, individual) in group.ids.iter().zip(group.people.iter()) {
            let actions = answers.take(id, individual)?;
            if actions.is_empty() {
                self.without.add(problem, individual);
            }
            promises.extend(actions.into_iter().map(|action| Promise { id, individual, action }));
        }
        Ok(promises)
    }

    fn add(
        &mut self,
        problem: &Problem,
        id: &str,
        verdict: &Verdict,
        infeasible: Option<&Infeasible>,
    ) -> Result<()> {
        match verdict {
            Verdict::Holds { .. } => self.holding += 1,
            Verdict::Undecided { .. } => self.undecided += 1,
            Verdict::Breaks { variant, perturbation, .. } => {
                self.breaking += 1;
                if self.breaking <= EXAMPLES {
                    let fails = match perturbation.iter().all(|part| *part == 0.0) {
                        true => "fails without any shift".into(),
                        false => format!("breaks with {}", describe_break(problem, *variant, perturbation)?),
                    };
                    self.examples += &format!("The action of {} {fails}.\n", escape_line(id));
                }
            }
        }
        self.infeasible.note(id, infeasible);
        Ok(())
    }

    fn holds(&self) -> bool {
        self.breaking == 0 && self.undecided == 0 && self.infeasible.count == 0
    }

    fn text(&self, problem: &Problem) -> String {
        let Report { holding, breaking, undecided, without, infeasible, examples } = self;
        let all = number_of(holding + breaking + undecided, "action");
        let do_not = if *breaking == 1 { "does not" } else { "do not" };
        let against = match problem.sources() {
            None => format!("for every shift of up to {}", readable(problem.epsilon())),
            Some(_) => "against everything that the problem says is uncertain".into(),
        };
        format!(
            "{all}: {holding} {} proven to hold {against}, {breaking} {do_not}, {undecided} could not be \
             decided.{without}\n{examples}{infeasible}",
            are(*holding),
        )
    }
}
