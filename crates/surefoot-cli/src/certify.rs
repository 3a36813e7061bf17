//! `surefoot certify`: whether actions hold, wherever they came from.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;
use surefoot::magnitude::readable;
use surefoot::{
    Action, Budget, Certificate, Infeasible, Problem, ProblemFile, Verdict, certify, describe_shift,
    escape_line, infeasibility,
};
use surefoot_cli::table::{Column, Values, Writer};

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
    let mut writer = options.output.as_ref().map(|path| Writer::create(path, &COLUMNS)).transpose()?;
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
        let mut rows = Rows::default();
        for (promise, (certificate, infeasible)) in promises.iter().zip(&certified) {
            report.add(&problem, promise.id, &certificate.verdict, infeasible.as_ref(), &mut rows)?;
        }
        if let Some(writer) = &mut writer {
            writer.write(&rows.values())?;
        }
    }
    bar.finish_and_clear();
    promised.finish(people)?;
    let mut text = report.text(problem.epsilon());
    if let (Some(writer), Some(path)) = (writer, &options.output) {
        formulas::finish(writer, path)?;
        text += &format!("Written to {}.\n", path.display());
    }
    Ok(CommandOutput { text, holds: report.holds() })
}

/// The columns of a table of verdicts.
const COLUMNS: [(&str, Column); 7] = [
    ("id", Column::Text),
    ("verdict", Column::Text),
    ("margin", Column::Number),
    ("margin_at_most", Column::Number),
    ("breaks_with", Column::Text),
    ("feasible", Column::Truth),
    ("reason", Column::Text),
];

/// Rows of a table of verdicts.
#[derive(Default)]
struct Rows {
    ids: Vec<Option<String>>,
    verdicts: Vec<Option<String>>,
    lower: Vec<Option<f64>>,
    upper: Vec<Option<f64>>,
    shifts: Vec<Option<String>>,
    reasons: Vec<Option<String>>,
}

impl Rows {
    fn values(self) -> [Values; 7] {
        let feasible = self.reasons.iter().map(|reason| Some(reason.is_none())).collect();
        [
            Values::Texts(self.ids),
            Values::Texts(self.verdicts),
            Values::Numbers(self.lower),
            Values::Numbers(self.upper),
            Values::Texts(self.shifts),
            Values::Truths(feasible),
            Values::Texts(self.reasons),
        ]
    }
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
            let actions = answers.take(id)?;
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
        rows: &mut Rows,
    ) -> Result<()> {
        let (word, lower, upper, shift) = match verdict {
            Verdict::Holds { margin } => {
                self.holding += 1;
                ("holds", Some(*margin), None, None)
            }
            Verdict::Breaks { perturbation, margin } => {
                self.breaking += 1;
                let shift = describe_shift(problem, perturbation)?;
                if self.breaking <= EXAMPLES {
                    let fails = match perturbation.iter().all(|part| *part == 0.0) {
                        true => "fails without any shift".into(),
                        false => format!("breaks with {shift}"),
                    };
                    self.examples += &format!("The action of {} {fails}.\n", escape_line(id));
                }
                ("breaks", None, Some(*margin), Some(shift))
            }
            Verdict::Undecided { lower, upper } => {
                self.undecided += 1;
                ("undecided", Some(*lower), Some(*upper), None)
            }
        };
        rows.ids.push(Some(id.to_owned()));
        rows.verdicts.push(Some(word.into()));
        rows.lower.push(lower.filter(|margin| margin.is_finite()));
        rows.upper.push(upper.filter(|margin| margin.is_finite()));
        rows.shifts.push(shift);
        rows.reasons.push(self.infeasible.note(id, infeasible));
        Ok(())
    }

    fn holds(&self) -> bool {
        self.breaking == 0 && self.undecided == 0 && self.infeasible.count == 0
    }

    fn text(&self, epsilon: f64) -> String {
        let Report { holding, breaking, undecided, without, infeasible, examples } = self;
        let all = number_of(holding + breaking + undecided, "action");
        let do_not = if *breaking == 1 { "does not" } else { "do not" };
        format!(
            "{all}: {holding} {} proven to hold for every shift of up to {}, {breaking} {do_not}, {undecided} \
             could not be decided.{without}\n{examples}{infeasible}",
            are(*holding),
            readable(epsilon)
        )
    }
}
