//! `surefoot demo`: the whole story on built-in data.

mod network;
mod trees;
mod units;

use std::fmt;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use comfy_table::{CellAlignment, Table, presets::UTF8_FULL_CONDENSED};
use indicatif::{ParallelProgressIterator, ProgressBar, ProgressStyle};
use rayon::prelude::*;
use surefoot::recourse::{Relaxed, Settings, WorstCase};
use surefoot::report::letter::{Format, LetterSettings, LetterWriter, Template};
use surefoot::{
    Equation, Exact, Features, LimitsOn, Norm, Outcome, People, Problem, Scm, describe, describe_shift, train,
};
use surefoot_paper::loan;

/// What the demo can be asked.
#[derive(Args)]
pub struct Options {
    /// How many loan applicants to draw.
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(20..=10_000_000))]
    people: u32,
    /// How far circumstances may shift, in standard deviations (l2 norm).
    #[arg(long, default_value_t = 0.1, allow_negative_numbers = true)]
    epsilon: f64,
    /// The seed of the draw; the same seed gives the same output.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Columns of text.
const WIDTH: usize = 80;

/// The most people whom a network or trees answer: enough to see what happens, in a moment.
const PEOPLE: usize = 200;

/// What was found.
pub struct Report {
    people: usize,
    epsilon: f64,
    linear: Summary,
    network: Summary,
    trees: Summary,
    groups: Vec<Group>,
    /// One applicant's story: what they are, what the standard action asks, which shift
    /// breaks that, and what the robust action asks.
    story: Vec<String>,
    /// The letter to that applicant.
    letter: Option<String>,
}

/// How a classifier does.
struct Summary {
    accuracy: f64,
    turned_down: usize,
}

impl Summary {
    /// How the classifier of a problem does, and whom it turns down.
    fn of(problem: &Problem, everybody: &People, repaid: &[bool]) -> (Self, Vec<usize>) {
        let favourable: Vec<bool> = everybody.iter().map(|x| problem.classifier().score(x) >= 0.0).collect();
        let right = favourable.iter().zip(repaid).filter(|(favourable, repaid)| favourable == repaid);
        let accuracy = right.count() as f64 / everybody.len() as f64;
        let turned_down: Vec<usize> = (0..everybody.len()).filter(|&i| !favourable[i]).collect();
        (Self { accuracy, turned_down: turned_down.len() }, turned_down)
    }
}

/// The answers of one method to all who were turned down.
struct Group {
    name: &'static str,
    asked: usize,
    found: usize,
    /// How many answers are proven: that an action holds, that none does, neither. Nothing where a
    /// method proves nothing.
    proven: Option<Proven>,
    /// Of the actions found, those that hold in the worst case.
    holding: usize,
    /// Over the people for whom both methods found an action.
    mean_cost: f64,
}

/// Counts of what was proven.
struct Proven {
    certified: usize,
    impossible: usize,
    undecided: usize,
}

impl Proven {
    fn count(outcomes: &[Outcome]) -> Self {
        let count = |of: fn(&Outcome) -> bool| outcomes.iter().filter(|outcome| of(outcome)).count();
        Self {
            certified: count(|outcome| matches!(outcome, Outcome::Found(_))),
            impossible: count(|outcome| matches!(outcome, Outcome::Impossible(_))),
            undecided: count(|outcome| matches!(outcome, Outcome::Undecided(_))),
        }
    }
}

/// Draws applicants, fits a classifier and a causal model, and answers those turned down.
pub fn run(options: &Options) -> Result<Report> {
    let bar = ProgressBar::new_spinner().with_message("drawing applicants and fitting the models");
    bar.enable_steady_tick(Duration::from_millis(100));
    let sample = loan::sample(options.people as usize, options.seed)?;
    let published = limited_features(&sample)?;
    let features = units::in_known_units(&published)?;
    let rows = sample.rows.view();
    let classifier = train::logistic_regression(&features, rows, &sample.repaid, 0.5)
        .context("the classifier could not be fitted to so few people; give more with --people")?;
    let fit = |(feature, causes): (&'static str, &[&str])| -> Result<(&'static str, Equation)> {
        Ok((feature, train::linear_equation(&features, rows, feature, causes)?))
    };
    let equations = loan::CAUSES.into_iter().map(fit).collect::<Result<Vec<_>>>()?;
    // Linear equations are in standardised units, which are the same.
    let causes = Scm::new(&published, equations.clone())?;
    let scm = Scm::new(&features, equations)?;
    let standard = Problem::new(features.clone(), classifier)?
        .with_limits_on(LimitsOn::Action)?
        .with_causal_model(scm)?;
    let robust = standard.clone().with_uncertainty(Norm::L2, options.epsilon).context("--epsilon")?;
    bar.finish_and_clear();

    let everybody = People::from_standardised(&features, rows)?;
    let (linear, turned_down) = Summary::of(&standard, &everybody, &sample.repaid);
    let people = everybody.select(&turned_down).context("nobody is turned down; try another --seed")?;

    let (before, after) = (Exact::new(&standard)?, Exact::new(&robust)?);
    let without = answer(&before, &people, "standard recourse")?;
    let with = answer(&after, &people, "robust recourse")?;
    let worst = worst_cases(&after, &people, [&without, &with])?;
    let both = |i: &usize| without[*i].recourse().is_some() && with[*i].recourse().is_some();
    let compared: Vec<usize> = (0..people.len()).filter(both).collect();
    let (mut story, mut letter) = (Vec::new(), None);
    if let Some(i) = typical(&compared, &with) {
        let x = people.individual(i);
        story.push(format!("One of them: {}.", units::profile(&features, x)));
        story.push(format!("Standard recourse: {}", describe(&standard, x, &without[i])?));
        if let Some(WorstCase { perturbation, .. }) = worst[0][i].as_ref().filter(|worst| worst.margin < 0.0)
        {
            story.push(format!("It breaks with {}.", describe_shift(&robust, perturbation)?));
        }
        story.push(format!("Robust recourse: {}", describe(&robust, x, &with[i])?));
        letter = Some(letter_to(&robust, &format!("applicant {}", turned_down[i] + 1), x)?);
    }
    let mut groups = vec![
        Group::new("linear: standard", &without, &worst[0], &compared),
        Group::new("linear: robust", &with, &worst[1], &compared),
    ];
    // Their equations and thresholds are in published units.
    let everybody = People::from_standardised(&published, rows)?;
    let (network, more) = network::answer(&sample, &everybody, options)?;
    groups.extend(more);
    let (trees, more) = trees::answer(&sample, &everybody, causes, options)?;
    groups.extend(more);
    Ok(Report {
        people: everybody.len(),
        epsilon: options.epsilon,
        linear,
        network,
        trees,
        groups,
        story,
        letter,
    })
}

/// The Loan features; nobody is asked for more than anybody in the sample has.
fn limited_features(sample: &loan::Sample) -> Result<Features> {
    let features = loan::features(sample.most_education)?;
    let limited = features.iter().enumerate().map(|(i, feature)| {
        if !feature.is_actionable() {
            return feature.clone();
        }
        let highest = sample.rows.column(i).iter().copied().fold(f64::NEG_INFINITY, f64::max);
        feature.clone().limits(feature.lower, feature.own_units(highest))
    });
    Ok(Features::new(limited.collect())?)
}

fn answer(exact: &Exact<'_>, people: &People, what: &'static str) -> Result<Vec<Outcome>> {
    let individuals: Vec<&[f64]> = people.iter().collect();
    let outcomes = individuals.into_par_iter().progress_with(bar(people.len(), what)).map(|x| exact.solve(x));
    Ok(outcomes.collect::<surefoot::Result<_>>()?)
}

/// The worst case of each action found, under the uncertainty of `exact`.
fn worst_cases(
    exact: &Exact<'_>,
    people: &People,
    outcomes: [&[Outcome]; 2],
) -> Result<[Vec<Option<WorstCase>>; 2]> {
    let of = |outcomes: &[Outcome]| {
        let pairs: Vec<_> = people.iter().zip(outcomes).collect();
        let worst = |(x, outcome): (&[f64], &Outcome)| {
            outcome.recourse().map(|found| exact.worst_case(x, &found.action)).transpose()
        };
        let tried =
            pairs.into_par_iter().progress_with(bar(people.len(), "trying to break the actions")).map(worst);
        tried.collect::<surefoot::Result<_>>()
    };
    Ok([of(outcomes[0])?, of(outcomes[1])?])
}

/// The letter to somebody.
fn letter_to(problem: &Problem, id: &str, individual: &[f64]) -> Result<String> {
    let relaxed = Relaxed::all(problem);
    let writer = LetterWriter::new(problem, &relaxed, Settings::default(), LetterSettings::default())?;
    let written = writer.write(id, individual)?;
    Ok(Template::built_in(Format::Text)?.page(&written.letter)?)
}

/// A line in the width of the demo, its continuation indented as the line is.
fn wrapped(line: &str) -> String {
    let indent = " ".repeat(line.len() - line.trim_start().len() + 2);
    let options = textwrap::Options::new(WIDTH);
    match line.starts_with(' ') {
        true => textwrap::fill(line, options.subsequent_indent(&indent)),
        false => textwrap::fill(line, options),
    }
}

/// On standard error, and only if that is a terminal.
fn bar(length: usize, what: &'static str) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg:<28} [{bar:30}] {pos}/{len} {eta}");
    let bar = ProgressBar::new(length as u64).with_message(what);
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        .with_finish(indicatif::ProgressFinish::AndClear)
}

/// Among the answers with the most steps, the one of median cost: an answer worth reading
/// that is neither the easiest nor the hardest.
fn typical(compared: &[usize], outcomes: &[Outcome]) -> Option<usize> {
    let found = |i: usize| outcomes[i].recourse();
    let steps = |i: usize| found(i).map_or(0, |found| found.action.features.len());
    let most = compared.iter().map(|&i| steps(i)).max()?;
    let mut candidates: Vec<usize> = compared.iter().copied().filter(|&i| steps(i) == most).collect();
    let cost = |i: usize| found(i).map_or(0.0, |found| found.cost);
    candidates.sort_by(|&a, &b| cost(a).total_cmp(&cost(b)));
    candidates.get(candidates.len() / 2).copied()
}

impl Group {
    fn new(
        name: &'static str,
        outcomes: &[Outcome],
        worst: &[Option<WorstCase>],
        compared: &[usize],
    ) -> Self {
        let cost: f64 = compared.iter().filter_map(|&i| outcomes[i].recourse()).map(|found| found.cost).sum();
        Self {
            name,
            asked: outcomes.len(),
            found: outcomes.iter().filter_map(Outcome::recourse).count(),
            proven: Some(Proven::count(outcomes)),
            holding: worst.iter().flatten().filter(|worst| worst.margin >= 0.0).count(),
            mean_cost: cost / compared.len() as f64,
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { people, epsilon, linear, network, trees, .. } = self;
        let opening = format!(
            "{people} loan applicants; a logistic regression fitted to them (accuracy {:.2}) turns down {}, a small \
             network (accuracy {:.2}) {}, boosted trees of XGBoost (accuracy {:.2}) {}. What can these people do, and \
             does it still work if their circumstances shift by up to {epsilon} standard deviations?",
            linear.accuracy,
            linear.turned_down,
            network.accuracy,
            network.turned_down,
            trees.accuracy,
            trees.turned_down,
        );
        writeln!(f, "{}\n", textwrap::fill(&opening, WIDTH))?;

        let mut table = Table::new();
        table.load_style(UTF8_FULL_CONDENSED).set_header([
            "recourse",
            "got an action",
            "certified",
            "impossible",
            "undecided",
            "mean cost",
            "withstand the attack",
        ]);
        for group in &self.groups {
            let cost = if group.mean_cost.is_nan() { "-".into() } else { format!("{:.3}", group.mean_cost) };
            let proven = |of: fn(&Proven) -> usize| {
                group.proven.as_ref().map_or("-".into(), |proven| of(proven).to_string())
            };
            table.add_row([
                group.name.to_owned(),
                format!("{} of {}", group.found, group.asked),
                proven(|proven| proven.certified),
                proven(|proven| proven.impossible),
                proven(|proven| proven.undecided),
                cost,
                format!("{} of {}", group.holding, group.found),
            ]);
        }
        table.column_iter_mut().skip(1).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
        writeln!(f, "{table}")?;
        let notes = "For the regression answers are exact, causes are linear equations fitted to the \
                     applicants, and every action was tried against the exact worst shift. For the network \
                     causes are the true ones; the standard and the robust actions come from Algorithm 1, \
                     which proves nothing, the certified ones from a search with proof, and each action was \
                     tried against the worst shift that projected gradient finds. For the trees causes are as for the \
                     regression, and worst shifts are exact. Certified: proven to hold for \
                     every shift (standard: without any). Impossible: proven that no feasible action does. \
                     Nobody is asked for more than the highest value among the applicants. Cost is the sum of \
                     all changes in standard deviations, its mean over those who got every answer.";
        writeln!(f, "{}", textwrap::fill(notes, WIDTH))?;

        for paragraph in &self.story {
            writeln!(f, "\n{}", textwrap::fill(paragraph, WIDTH))?;
        }
        if let Some(letter) = &self.letter {
            let rule = "-".repeat(WIDTH);
            let wrapped: Vec<String> = letter.lines().map(wrapped).collect();
            writeln!(f, "\nThe letter to this applicant:\n{rule}\n{}\n{rule}", wrapped.join("\n"))?;
        }
        Ok(())
    }
}
