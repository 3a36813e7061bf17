//! `surefoot reproduce`: the paper's experiments, done again.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use surefoot_paper::DataSet;
use surefoot_paper::data::Files;
use surefoot_paper::experiment::{self, Conclusion, Event, Settings, Task, report};
use surefoot_paper::training::{Method, Model};

use crate::CommandOutput;

/// What `surefoot reproduce` can be asked.
#[derive(Args)]
pub struct Options {
    /// The folder with the data sets' files; if not given, the one that the variable
    /// SUREFOOT_DATA names, shared/data beside the checkout, or where `surefoot data fetch` puts
    /// them.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// The folder for results, figures and report. Results that are already there are not made
    /// again.
    #[arg(long, value_name = "DIR", default_value = "reproduction")]
    out: PathBuf,
    /// How many splits into training and test, each with classifiers of its own; 1 for a quick
    /// look.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    seeds: u32,
    /// Only these data sets (compas, adult, loan, german, bail), models (linear, network) and ways
    /// of training (erm, allr, ross, af, allr-mu1-0, allr-mu2-0).
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = part)]
    only: Vec<Part>,
}

/// A part of the experiments.
#[derive(Clone, Copy)]
enum Part {
    Data(DataSet),
    Model(Model),
    Method(Method),
}

fn part(name: &str) -> Result<Part, String> {
    let data = DataSet::ALL.map(|data| (data.to_string(), Part::Data(data)));
    let models = Model::ALL.map(|model| (model.to_string(), Part::Model(model)));
    let methods = Method::ALL.map(|method| (method.name().to_owned(), Part::Method(method)));
    let known: Vec<(String, Part)> = data.into_iter().chain(models).chain(methods).collect();
    let found = known.iter().find(|(word, _)| word == name.trim()).map(|(_, part)| *part);
    let words = || known.iter().map(|(word, _)| word.as_str()).collect::<Vec<_>>().join(", ");
    found.ok_or_else(|| format!("there are {}", words()))
}

/// Those that are named, or all if none is.
fn named<T: Copy + PartialEq>(all: &[T], only: &[Part], of: fn(&Part) -> Option<T>) -> Vec<T> {
    let wanted: Vec<T> = only.iter().filter_map(of).collect();
    all.iter().copied().filter(|part| wanted.is_empty() || wanted.contains(part)).collect()
}

fn settings(options: &Options) -> Settings {
    let only = &options.only;
    Settings {
        data: named(&DataSet::ALL, only, |part| if let Part::Data(data) = part { Some(*data) } else { None }),
        models: named(
            &Model::ALL,
            only,
            |part| if let Part::Model(model) = part { Some(*model) } else { None },
        ),
        methods: named(&Method::ALL, only, |part| if let Part::Method(m) = part { Some(*m) } else { None }),
        seeds: options.seeds,
        ..Settings::default()
    }
}

/// Does what is left to be done, and writes figures and report.
pub fn run(options: &Options) -> Result<CommandOutput> {
    let begin = Instant::now();
    let files = options.data.as_ref().map_or_else(Files::locate, Files::in_folder);
    let settings = settings(options);
    let progress = Progress::new();
    let results = experiment::run(&settings, &files, &options.out, &|event| progress.tell(event))?;
    progress.bar.set_message("drawing figures");
    let written = report::write(&settings, &results, &options.out)?;
    progress.bar.finish_and_clear();

    let mut text = String::new();
    for conclusion in &written.conclusions {
        let Conclusion { claim, holds, evidence, .. } = conclusion;
        let verdict = match holds {
            Some(true) => "Holds",
            Some(false) => "Does not hold",
            None => "Not examined",
        };
        writeln!(text, "{verdict}: {claim}")?;
        if holds.is_some() {
            writeln!(text, "  {evidence}")?;
        }
    }
    let kept = progress.kept();
    writeln!(
        text,
        "Classifiers: {}. Retraining trials: {}. From an earlier run: {kept}. This run took {}; everything together \
         took {}.",
        results.measured.len(),
        results.retrained.len(),
        duration(begin.elapsed().as_secs_f64()),
        duration(results.seconds)
    )?;
    writeln!(text, "Report: {}", written.page.display())?;
    writeln!(text, "Figures: {}", written.figures.display())?;
    let holds = written.conclusions.iter().all(|conclusion| conclusion.holds != Some(false));
    Ok(CommandOutput { text, holds })
}

/// A time as people say it.
fn duration(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 100.0 => format!("{seconds:.0} s"),
        seconds if seconds < 6000.0 => format!("{:.0} min", seconds / 60.0),
        seconds => format!("{:.1} h", seconds / 3600.0),
    }
}

/// A bar with the time left; on a terminal only.
struct Progress {
    bar: ProgressBar,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    running: Vec<Task>,
    done: usize,
    kept: usize,
    tasks: usize,
    begin: Option<Instant>,
    effort: f64,
    spent: f64,
}

impl State {
    /// The part of the work that is done.
    fn share(&self) -> f64 {
        if self.effort > 0.0 { (self.spent / self.effort).min(1.0) } else { 1.0 }
    }

    /// What is going on, and the time left if what is left goes as fast as what is done.
    fn message(&self) -> String {
        let share = self.share();
        let left = match self.begin {
            Some(begin) if share >= KNOWN => {
                let left = begin.elapsed().as_secs_f64() * (1.0 - share) / share;
                format!("about {} left, ", duration(left))
            }
            _ => String::new(),
        };
        let running: Vec<String> = self.running.iter().map(Task::name).collect();
        format!("{left}{} of {} done: {}", self.done, self.tasks, running.join(", "))
    }
}

/// Steps of the bar.
const STEPS: f64 = 1000.0;

/// From which part of the work on the time left is told.
const KNOWN: f64 = 0.02;

impl Progress {
    fn new() -> Self {
        let bar = ProgressBar::new_spinner().with_message("reading the data sets");
        bar.enable_steady_tick(Duration::from_millis(200));
        Self { bar, state: Mutex::default() }
    }

    fn kept(&self) -> usize {
        self.state.lock().map_or(0, |state| state.kept)
    }

    fn tell(&self, event: Event) {
        let Ok(mut state) = self.state.lock() else { return };
        match event {
            Event::Planned { tasks, done, effort } => {
                (state.tasks, state.done, state.kept) = (tasks, done, done);
                (state.begin, state.effort) = (Some(Instant::now()), effort);
                let style = ProgressStyle::with_template("{bar:30} {percent}% {msg}");
                self.bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
                self.bar.set_length(STEPS as u64);
            }
            Event::Begun(task) => state.running.push(task),
            Event::Advanced { effort } => state.spent += effort,
            Event::Finished(task) => {
                state.running.retain(|running| *running != task);
                state.done += 1;
            }
        }
        self.bar.set_position((STEPS * state.share()) as u64);
        self.bar.set_message(state.message());
    }
}

#[cfg(test)]
mod tests {
    use surefoot_paper::experiment::Unit;

    use super::*;

    fn asked(only: &[&str]) -> Settings {
        let only = only.iter().map(|name| part(name).unwrap()).collect();
        settings(&Options { data: None, out: "out".into(), seeds: 2, only })
    }

    #[test]
    fn parts_are_data_sets_and_models() {
        assert_eq!(asked(&[]), Settings { seeds: 2, ..Settings::default() });
        let loan = asked(&["loan"]);
        assert_eq!((loan.data, loan.models), (vec![DataSet::Loan], Model::ALL.to_vec()));
        let some = asked(&["german", " linear", "compas"]);
        assert_eq!((some.data, some.models), (vec![DataSet::Compas, DataSet::German], vec![Model::Linear]));
        assert_eq!(asked(&["allr", "erm"]).methods, [Method::Erm, Method::Allr]);
        let error = part("campos").err().unwrap();
        let known =
            "compas, adult, loan, german, bail, linear, network, erm, allr, ross, af, allr-mu1-0, allr-mu2-0";
        assert_eq!(error, format!("there are {known}"));
    }

    #[test]
    fn the_time_left_is_told_once_it_is_known() {
        let unit = Unit { data: DataSet::Loan, model: Model::Network, method: Method::Allr, seed: 3 };
        let mut state = State { running: vec![Task::Unit(unit)], tasks: 4, effort: 10.0, ..State::default() };
        assert_eq!(state.message(), "0 of 4 done: loan_network_allr_s3");
        state.begin = Instant::now().checked_sub(Duration::from_secs(30));
        assert!(!state.message().contains("left"));
        state.spent = 2.5;
        assert_eq!(state.message(), "about 90 s left, 0 of 4 done: loan_network_allr_s3");
    }

    #[test]
    fn times_are_told_in_fitting_units() {
        assert_eq!([59.7, 754.0, 9000.0].map(duration), ["60 s", "13 min", "2.5 h"]);
    }
}
