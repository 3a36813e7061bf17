//! `surefoot theory`: what the paper guarantees for a problem and its people.

use std::fmt::Write as _;
use std::path::PathBuf;

use crate::table::{Column, Values, Writer};
use anyhow::Result;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;
use surefoot::theory::{AboutPerson, AboutProblem, NoStatement, Summary, Theory, standard};
use surefoot::{
    Problem, ProblemFile, describe_missing, describe_shift, describe_theory, describe_theory_of_person,
    describe_theory_summary, escape_line,
};

use crate::answers::EXAMPLES;
use crate::effort::Effort;
use crate::formulas;
use crate::outputs::Outputs;
use crate::people::{self, Source};

/// What `surefoot theory` can be asked.
#[derive(Args)]
pub struct Options {
    /// The problem file.
    problem: PathBuf,
    /// A table of people: CSV, Parquet or Arrow.
    people: Option<PathBuf>,
    /// One person instead, as JSON in own units: '{"age": 31, "income": 2400}'.
    #[arg(long, value_name = "JSON", conflicts_with_all = ["people", "output", "id"])]
    person: Option<String>,
    /// Write the statements about everybody into this table: CSV, Parquet or Arrow.
    #[arg(short, long, value_name = "FILE", requires = "people")]
    output: Option<PathBuf>,
    /// The column that identifies people; `id` if there is one, otherwise the number of the row.
    #[arg(long, value_name = "COLUMN", requires = "people")]
    id: Option<String>,
    #[command(flatten)]
    effort: Effort,
}

/// The statements about one person, with their words.
struct Told {
    person: AboutPerson,
    sentences: Vec<String>,
}

/// Makes the statements about the problem and, if there are any, about people.
pub fn run(options: &Options) -> Result<String> {
    let settings = options.effort.settings()?;
    let file = ProblemFile::read(&options.problem)?;
    let problem = file.problem()?;
    if options.people.is_none() && options.person.is_none() {
        return Ok(describe_theory(&problem, &AboutProblem::new(&problem)?));
    }
    let standard = standard(&problem)?;
    let theory = Theory::new(&problem, &standard, settings)?;
    let mut text = describe_theory(&problem, theory.about());
    if let Some(json) = &options.person {
        let person = people::from_json(json, problem.features())?;
        let told = tell(&theory, &problem, &standard, person.individual(0))?;
        writeln!(text, "\nThis person:\n  {}", told.sentences.join("\n  "))?;
    }
    if let Some(table) = &options.people {
        let outputs = Outputs::default().keep("the table of people", table).keep_problem(&file);
        if let Some(output) = &options.output {
            outputs.check("--output", output)?;
        }
        let source = Source::open(table, problem.features(), options.id.as_deref())?;
        write!(text, "\n{}", everybody(options, &theory, &problem, &standard, source)?)?;
    }
    Ok(text)
}

/// The statements about everybody in a table: written to a table, or the first few in words.
fn everybody(
    options: &Options,
    theory: &Theory<'_>,
    problem: &Problem,
    standard: &Problem,
    mut source: Source<'_>,
) -> Result<String> {
    let output = options.output.as_deref();
    let mut writer = output.map(|output| Writer::create(output, &columns(problem))).transpose()?;
    let (mut summary, mut examples, mut shown) = (Summary::default(), String::new(), 0);
    let bar = ProgressBar::no_length();
    bar.set_style(ProgressStyle::with_template("{spinner} {pos} people, {per_sec}")?);
    while let Some(group) = source.next()? {
        let individuals: Vec<&[f64]> = group.people.iter().collect();
        let told = individuals
            .into_par_iter()
            .map(|individual| {
                let told = tell(theory, problem, standard, individual);
                bar.inc(1);
                told
            })
            .collect::<surefoot::Result<Vec<Told>>>()
            .map_err(|error| group.locate(problem, error))?;
        for (id, told) in group.ids.iter().zip(&told) {
            summary.add(problem, &told.person);
            if writer.is_none() && shown < EXAMPLES {
                shown += 1;
                write!(examples, "\n{}:\n  {}\n", escape_line(id), told.sentences.join("\n  "))?;
            }
        }
        if let Some(writer) = &mut writer {
            writer.write(&values(problem, theory.about(), &group.ids, &told)?)?;
        }
    }
    bar.finish_and_clear();
    let mut text = describe_theory_summary(&summary);
    if let (Some(writer), Some(output)) = (writer, output) {
        formulas::finish(writer, output)?;
        writeln!(text, "Written to {}.", output.display())?;
    }
    text += &examples;
    if output.is_none() && summary.people() > shown {
        writeln!(text, "\n{} more; --output writes all of them into a table.", summary.people() - shown)?;
    }
    Ok(text)
}

fn tell(
    theory: &Theory<'_>,
    problem: &Problem,
    standard: &Problem,
    individual: &[f64],
) -> surefoot::Result<Told> {
    let person = theory.about_person(individual)?;
    let sentences = describe_theory_of_person(problem, standard, individual, theory.about(), &person)?;
    Ok(Told { person, sentences })
}

/// The columns of a table of statements.
fn columns(problem: &Problem) -> Vec<(String, Column)> {
    let number = |name: &str| (name.to_owned(), Column::Number);
    let text = |name: &str| (name.to_owned(), Column::Text);
    let mut columns = vec![text("id"), text("status"), number("cost"), text("robust")];
    columns.extend(["robust_cost_at_most", "factor_at_most"].map(number));
    columns.push(("scaled_is_feasible".into(), Column::Truth));
    columns.extend(
        ["similar_cost_least", "similar_cost_greatest", "breaking_size", "breaking_margin"].map(number),
    );
    columns.extend(problem.features().iter().map(|feature| number(&format!("shift:{}", feature.name))));
    columns.extend(["breaks_with", "text", "reason"].map(text));
    columns
}

fn values(problem: &Problem, about: &AboutProblem, ids: &[String], told: &[Told]) -> Result<Vec<Values>> {
    let people = || told.iter().map(|told| &told.person);
    let numbers =
        |of: &dyn Fn(&AboutPerson) -> Option<f64>| Values::Numbers(people().map(of).collect::<Vec<_>>());
    let texts =
        |of: &dyn Fn(&AboutPerson) -> Option<String>| Values::Texts(people().map(of).collect::<Vec<_>>());
    let scaled = |person: &AboutPerson| match &person.extra_cost {
        Ok(_) => Some(true),
        Err(NoStatement::Infeasible(_)) => Some(false),
        Err(_) => None,
    };
    let breaking = |person: &AboutPerson| person.breaking.clone().ok();
    let mut values = vec![
        Values::Texts(ids.iter().cloned().map(Some).collect()),
        texts(&|person| Some(person.outcome.status().into())),
        numbers(&|person| Some(person.outcome.recourse()?.cost)),
        texts(&|person| Some(person.robust.name().into())),
        numbers(&|person| person.robust_cost_at_most(problem)),
        numbers(&|person| person.factor_at_most(problem)),
        Values::Truths(people().map(scaled).collect()),
        numbers(&|person| person.cost_stability.as_ref().ok().map(|stability| stability.least)),
        // Empty where a similar person has no action.
        numbers(&|person| {
            let greatest = person.cost_stability.as_ref().ok()?.greatest;
            Some(greatest).filter(|greatest| greatest.is_finite())
        }),
        numbers(&|person| Some(breaking(person)?.size)),
        numbers(&|person| Some(breaking(person)?.margin).filter(|margin| margin.is_finite())),
    ];
    for (i, feature) in problem.features().iter().enumerate() {
        values.push(numbers(&|person| Some(feature.std * breaking(person)?.perturbation[i])));
    }
    let shift = |person: &AboutPerson| {
        breaking(person).map(|breaking| describe_shift(problem, &breaking.perturbation)).transpose()
    };
    values.push(Values::Texts(people().map(shift).collect::<surefoot::Result<_>>()?));
    values.push(Values::Texts(told.iter().map(|told| Some(told.sentences.join(" "))).collect()));
    values.push(texts(&|person| describe_missing(problem, about, person)));
    Ok(values)
}
