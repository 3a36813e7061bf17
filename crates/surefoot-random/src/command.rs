//! The same questions to the command `surefoot`: files, tables, words and exit codes.

use std::collections::HashMap;
use std::path::Path;
use std::process::{Command, Output};

use surefoot::{Outcome, People, Problem, describe, essential};

use crate::judge::answer;
use crate::words::has_no_number;
use crate::{Case, Contradiction, Settings};

/// Every contradiction between what the command says about a case, whose files are written into
/// `folder`, and what the engine says.
pub fn contradictions(command: &Path, case: &Case, folder: &Path, settings: Settings) -> Vec<Contradiction> {
    let (problem, people) = case.read(folder);
    let evaluations = settings.evaluations.to_string();
    let mut runs = Runs { command, folder, evaluations, contradictions: Vec::new() };
    runs.expect(0, "check", &["validate", "problem.toml", "people.csv"]);
    runs.answers(case, &problem, &people, settings);
    runs.proofs(case, &problem, &people, settings);
    runs.person(case, &problem, &people, settings);
    runs.contradictions
}

type Row = HashMap<String, String>;

struct Runs<'a> {
    command: &'a Path,
    folder: &'a Path,
    evaluations: String,
    contradictions: Vec<Contradiction>,
}

impl Runs<'_> {
    fn note(&mut self, property: &'static str, detail: impl Into<String>) {
        self.contradictions.push(Contradiction { property, detail: detail.into() });
    }

    fn run(&self, threads: usize, arguments: &[&str]) -> Output {
        let mut command = Command::new(self.command);
        command.current_dir(self.folder).args(arguments).env("RAYON_NUM_THREADS", threads.to_string());
        command.output().unwrap()
    }

    /// What a command prints that ends with this exit code; anything else is noted.
    fn expect(&mut self, code: i32, property: &'static str, arguments: &[&str]) -> String {
        let output = self.run(2, arguments);
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        if output.status.code() != Some(code) {
            let detail =
                format!("{}: {:?}, not {code}: {}{}", arguments.join(" "), output.status, text[0], text[1]);
            self.note(property, detail);
        }
        if has_no_number(&text[0]) {
            self.note("the command prints numbers", format!("{}: {}", arguments.join(" "), text[0]));
        }
        text[0].clone()
    }

    fn table(&mut self, name: &str) -> Vec<Row> {
        let Ok(mut reader) = csv::Reader::from_path(self.folder.join(name)) else {
            self.note("tables can be read", name);
            return Vec::new();
        };
        let headers = reader.headers().unwrap().clone();
        let row = |record: csv::Result<csv::StringRecord>| {
            let record = record.unwrap();
            headers.iter().map(str::to_owned).zip(record.iter().map(str::to_owned)).collect()
        };
        reader.records().map(row).collect()
    }

    /// The table of answers is that of the engine, and what it promises is proven and withstands.
    fn answers(&mut self, case: &Case, problem: &Problem, people: &People, settings: Settings) {
        let evaluations = self.evaluations.clone();
        let mut arguments = vec![
            "recourse",
            "problem.toml",
            "people.csv",
            "-o",
            "answers.csv",
            "--evaluations",
            &evaluations,
        ];
        self.expect(0, "recourse", &arguments);
        let rows = self.table("answers.csv");
        let outcomes: Vec<_> = people.iter().map(|x| answer(problem, x, settings.evaluations)).collect();
        self.compare(case, problem, &rows, outcomes);
        arguments[4] = "single.csv";
        self.run(1, &arguments);
        let bytes = |name: &str| std::fs::read(self.folder.join(name)).ok();
        if bytes("answers.csv") != bytes("single.csv") {
            self.note("the same table on one thread", "");
        }
        let promised = rows.iter().filter(|row| row["status"] == "found").count();
        self.expect(
            0,
            "certify proves the table",
            &["certify", "problem.toml", "people.csv", "answers.csv", "-o", "verdicts.csv"],
        );
        let verdicts = self.table("verdicts.csv");
        let are_proven = verdicts.iter().all(|row| row["verdict"] == "holds" && row["feasible"] == "true");
        if verdicts.len() != promised || !are_proven {
            self.note("certify proves the table", format!("{verdicts:?}"));
        }
        self.expect(
            0,
            "the table withstands the attack",
            &["attack", "problem.toml", "people.csv", "answers.csv", "-o", "attacks.csv"],
        );
        let attacks = self.table("attacks.csv");
        if attacks.len() != promised || attacks.iter().any(|row| row["broken"] != "false") {
            self.note("the table withstands the attack", format!("{attacks:?}"));
        }
    }

    fn compare(
        &mut self,
        case: &Case,
        problem: &Problem,
        rows: &[Row],
        outcomes: Vec<surefoot::Result<Outcome>>,
    ) {
        if rows.len() != outcomes.len() {
            return self.note("a row for everybody", format!("{rows:?}"));
        }
        for (row, outcome) in rows.iter().zip(outcomes) {
            let Ok(outcome) = outcome else { continue };
            let cell = |name: &str| row[name].parse::<f64>().ok();
            let expected = match &outcome {
                Outcome::Found(found) => [Some(found.cost), Some(found.cost_bound), Some(found.margin)],
                Outcome::Undecided(undecided) => [None, Some(undecided.cost_bound), None],
                _ => [None; 3],
            };
            if row["status"] != outcome.status() || ["cost", "cost_bound", "margin"].map(cell) != expected {
                self.note("the table is that of the engine", format!("{row:?} and {outcome:?}"));
            }
            if row.values().any(|cell| has_no_number(cell)) {
                self.note("tables have numbers", format!("{row:?}"));
            }
            let Some(found) = outcome.recourse() else { continue };
            let action = essential(problem, &found.action);
            for (i, feature) in case.features.iter().enumerate() {
                let reached = cell(&format!("counterfactual:{}", feature.name));
                let expected = feature.own_units(found.counterfactual[i]);
                let slack = 1e-9 * (expected.abs() + feature.std);
                if !reached.is_some_and(|reached| (reached - expected).abs() <= slack) {
                    self.note("counterfactuals in own units", format!("{row:?} and {outcome:?}"));
                }
                let place = action.features.iter().position(|&named| named == i);
                let change = place.map(|place| feature.std * action.change[place]);
                let told =
                    row.get(&format!("action:{}", feature.name)).and_then(|cell| cell.parse::<f64>().ok());
                let is_told = match (change, told) {
                    (Some(change), Some(told)) => (change - told).abs() <= 1e-9 * change.abs(),
                    (change, told) => change.is_none() && told.is_none(),
                };
                if !is_told {
                    self.note("actions in own units", format!("{row:?} and {outcome:?}"));
                }
            }
        }
    }

    /// Written proofs are verified, and their answers are those of the engine.
    fn proofs(&mut self, case: &Case, problem: &Problem, people: &People, settings: Settings) {
        let evaluations = self.evaluations.clone();
        self.expect(
            0,
            "recourse with proofs",
            &[
                "recourse",
                "problem.toml",
                "people.csv",
                "-o",
                "proven.csv",
                "--proofs",
                "proofs.jsonl",
                "--evaluations",
                &evaluations,
            ],
        );
        let rows = self.table("proven.csv");
        // Proofs do not change answers.
        let outcomes = people.iter().map(|x| answer(problem, x, settings.evaluations));
        self.compare(case, problem, &rows, outcomes.collect());
        self.expect(0, "written proofs are verified", &["verify", "problem.toml", "proofs.jsonl"]);
    }

    /// The words for one person are those of the engine.
    fn person(&mut self, case: &Case, problem: &Problem, people: &People, settings: Settings) {
        let values = case.features.iter().zip(&case.people[0]).map(|(f, &v)| (f.name.clone(), v.into()));
        let person = serde_json::Value::Object(values.collect()).to_string();
        let evaluations = self.evaluations.clone();
        let arguments = ["recourse", "problem.toml", "--person", &person, "--evaluations", &evaluations];
        let text = self.expect(0, "recourse for one person", &arguments);
        let Ok(outcome) = answer(problem, people.individual(0), settings.evaluations) else { return };
        let mut expected = describe(problem, people.individual(0), &outcome).unwrap();
        // The command also explains what stands in the way.
        if let Outcome::Impossible(_) = outcome {
            expected = "There is no feasible action".into();
        }
        if !text.starts_with(&expected) {
            self.note("words are those of the engine", format!("{text} and {expected}"));
        }
        let epsilon = format!("{:?}", case.epsilon);
        let arguments = [
            "trade-off",
            "problem.toml",
            "--person",
            &person,
            "--epsilons",
            &epsilon,
            "--evaluations",
            &evaluations,
        ];
        let text = self.expect(0, "trade-off", &arguments);
        let contradicts = match outcome {
            Outcome::Found(_) => text.contains("none holds") || text.contains("There is no action"),
            Outcome::Impossible(_) => text.contains("There is one"),
            Outcome::Undecided(_) | Outcome::Unproved(_) => false,
            Outcome::AlreadyFavourable => !text.starts_with("Nothing needs to change"),
        };
        if contradicts {
            self.note("trade-off and recourse in words", format!("{text} and {outcome:?}"));
        }
    }
}
