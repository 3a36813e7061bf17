//! Answers are those of the command line, to the last bit.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::client::{Service, examples, people_of};
use super::command::{done, surefoot, text};

/// The rows of a table by the names of their columns.
fn rows(path: &Path) -> Vec<Vec<(String, String)>> {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let headings = reader.headers().unwrap().clone();
    let row = |row: csv::StringRecord| {
        headings.iter().map(str::to_owned).zip(row.iter().map(str::to_owned)).collect()
    };
    reader.records().map(|record| row(record.unwrap())).collect()
}

fn cell<'r>(row: &'r [(String, String)], column: &str) -> &'r str {
    &row.iter().find(|(name, _)| name == column).unwrap_or_else(|| panic!("no column {column}")).1
}

/// Whether a value of a response is that of a cell: numbers to the last bit.
fn assert_same(value: &Value, cell: &str, what: &str) {
    match value {
        Value::Null => assert_eq!(cell, "", "{what}"),
        Value::Number(number) => {
            let (number, cell) = (number.as_f64().unwrap(), cell.parse::<f64>().unwrap());
            assert_eq!(number.to_bits(), cell.to_bits(), "{what}: {number} and {cell}");
        }
        Value::String(text) => assert_eq!(text, cell, "{what}"),
        Value::Bool(truth) => assert_eq!(truth.to_string(), cell, "{what}"),
        other => panic!("{what}: {other}"),
    }
}

/// Compares the options of an answer with the rows of the same person.
fn assert_same_answer(answer: &Value, rows: &[&Vec<(String, String)>]) {
    let id = answer["id"].as_str().unwrap();
    let options = answer["options"].as_array().unwrap();
    assert_eq!(answer["status"], cell(rows[0], "status"), "{id}");
    assert_same(&answer["reason"], cell(rows[0], "reason"), id);
    let has_action = !cell(rows[0], "cost").is_empty();
    assert_eq!(options.len(), if has_action { rows.len() } else { 0 }, "{id}");
    if !has_action {
        return;
    }
    for (option, row) in options.iter().zip(rows) {
        for column in ["cost", "cost_bound", "margin"] {
            assert_same(&option[column], cell(row, column), &format!("{id}, {column}"));
        }
        let names: Vec<&str> =
            option["intervention"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        assert_eq!(names.join(";"), cell(row, "intervention"));
        for (prefix, field) in [("action:", "action"), ("counterfactual:", "counterfactual")] {
            for (column, shown) in row.iter().filter(|(name, _)| name.starts_with(prefix)) {
                let value = &option[field][&column[prefix.len()..]];
                assert_same(value, shown, &format!("{id}, {column}"));
            }
        }
    }
}

/// Asks the command line and the service about the people of an example with the same settings.
fn compare(example: &str, arguments: &[&str], request: &Value) {
    let folder = examples().join(example);
    let outputs = tempfile::tempdir().unwrap();
    let (answers, proofs) = (outputs.path().join("answers.csv"), outputs.path().join("proofs.jsonl"));
    let without = ["recourse", "problem.toml", "people.csv", "-o", answers.to_str().unwrap()];
    let without = [&without[..], arguments].concat();
    let with_proofs = [&without[..], &["--proofs", proofs.to_str().unwrap()]].concat();
    let service = Service::start(&folder, "problem.toml", &[]);
    let mut request = request.clone();
    request["people"] = people_of(&folder.join("people.csv")).into();
    // Without proofs a closed form may be answered at once.
    for wants_proofs in [false, true] {
        done(&folder, if wants_proofs { &with_proofs } else { &without });
        request["proofs"] = wants_proofs.into();
        let said = service.ask("/v1/recourse", &request);
        let rows = rows(&answers);
        let all = said["answers"].as_array().unwrap();
        assert!(!all.is_empty());
        for answer in all {
            let of_person: Vec<_> = rows.iter().filter(|row| answer["id"] == cell(row, "id")).collect();
            assert_same_answer(answer, &of_person);
        }
        let alone: Vec<Value> = all.iter().map(|answer| answer["proof"].clone()).collect();
        match wants_proofs {
            false => assert!(alone.iter().all(Value::is_null)),
            true => {
                let lines = fs::read_to_string(&proofs).unwrap();
                let saved: Vec<Value> =
                    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
                assert_eq!(alone, saved);
                let verified = service.ask("/v1/verify", &json!({"proofs": saved}));
                assert_eq!(verified["all_verified"], true, "{verified}");
                assert_eq!(
                    format!("{}\n", verified["text"].as_str().unwrap()),
                    done(&folder, &["verify", "problem.toml", proofs.to_str().unwrap()])
                );
            }
        }
    }
}

#[test]
fn linear_answers_are_those_of_the_command_line() {
    compare("linear", &[], &json!({}));
    compare("linear", &["--options", "3"], &json!({"options": 3}));
    compare("independent", &[], &json!({}));
    compare("weights", &[], &json!({}));
}

#[test]
fn answers_with_categories_and_whole_numbers_are_those_of_the_command_line() {
    compare("categories", &["--options", "2"], &json!({"options": 2}));
    compare("whole", &["--explain"], &json!({"explain": true}));
}

#[test]
fn answers_of_searches_are_those_of_the_command_line() {
    let settings = ["--gap", "0.05", "--evaluations", "20000"];
    compare("network", &settings, &json!({"gap": 0.05, "evaluations": 20_000}));
    compare("trees", &[], &json!({}));
    compare("uncertain", &[], &json!({}));
}

/// One person is told what `--person` tells, also where there is no action.
#[test]
fn one_person_is_told_the_same() {
    let folder = super::command::folder_with(&[(
        "problem.toml",
        &format!("epsilon = 1.5\n{}", super::command::INCOME_AND_AGE),
    )]);
    let service = Service::start(folder.path(), "problem.toml", &[]);
    for (income, status) in [(2400, "found"), (9000, "favourable")] {
        let person = json!({"income": income, "age": 40});
        let words = done(folder.path(), &["recourse", "problem.toml", "--person", &person.to_string()]);
        let said = service.ask("/v1/recourse", &json!({"people": [{"values": person}]}));
        let answer = &said["answers"][0];
        assert_eq!(answer["status"], status);
        assert_eq!(format!("{}\n", answer["text"].as_str().unwrap()), words);
    }
    // Limits that leave no action are those of a problem file with them.
    let limited = super::command::INCOME_AND_AGE
        .replace("change = \"increase\"", "limits = [0, 4500]\nchange = \"increase\"");
    fs::write(folder.path().join("limited.toml"), format!("epsilon = 1.5\n{limited}")).unwrap();
    let person = json!({"income": 2400, "age": 40});
    let words = done(folder.path(), &["recourse", "limited.toml", "--person", &person.to_string()]);
    let question = json!({"people": [{"values": person}], "limits": {"income": [0, 4500]}});
    let said = service.ask("/v1/recourse", &question);
    assert_eq!(said["answers"][0]["status"], "impossible");
    assert_eq!(format!("{}\n", said["answers"][0]["text"].as_str().unwrap()), words);
}

/// Locks, limits and epsilon make the problem that a file with them states; proofs of it are for that file.
#[test]
fn wishes_are_those_of_a_problem_file() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let example = examples().join("linear");
    let original = fs::read_to_string(example.join("problem.toml")).unwrap();
    let locked = original
        .replacen(
            "change = \"increase\"\n\n[[feature]]\nname = \"savings\"",
            "change = \"fixed\"\n\n[[feature]]\nname = \"savings\"",
            1,
        )
        .replacen("limits = [0, 25]", "limits = [0, 20]", 1)
        .replacen("epsilon = 0.1", "epsilon = 0.25", 1);
    assert_eq!(original.lines().zip(locked.lines()).filter(|(a, b)| a != b).count(), 3);
    fs::write(at.join("problem.toml"), locked).unwrap();
    fs::copy(example.join("people.csv"), at.join("people.csv")).unwrap();
    done(at, &["recourse", "problem.toml", "people.csv", "-o", "answers.csv", "--proofs", "proofs.jsonl"]);
    let service = Service::start(&example, "problem.toml", &[]);
    let wishes = json!({"epsilon": 0.25, "locked": ["income"], "limits": {"education": [null, 20]}});
    let mut question = wishes.clone();
    question["people"] = people_of(&at.join("people.csv")).into();
    question["proofs"] = true.into();
    let said = service.ask("/v1/recourse", &question);
    assert_eq!(said["epsilon"], 0.25);
    let rows = rows(&at.join("answers.csv"));
    for (answer, row) in said["answers"].as_array().unwrap().iter().zip(&rows) {
        assert_same_answer(answer, &[row]);
        assert!(answer["options"][0]["action"].get("income").is_none(), "{answer}");
    }
    let lines = fs::read_to_string(at.join("proofs.jsonl")).unwrap();
    let saved: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told: Vec<Value> = said["answers"].as_array().unwrap().iter().map(|a| a["proof"].clone()).collect();
    assert_eq!(told, saved);
    let mut right = wishes;
    right["proofs"] = saved.clone().into();
    assert_eq!(service.ask("/v1/verify", &right)["all_verified"], true);
}

/// The people who have an action in a table of answers, with that action.
fn people_with_actions(people: &Path, answers: &Path) -> Vec<Value> {
    let mut people = people_of(people);
    let answers = rows(answers);
    people.retain_mut(|person| {
        let row = answers.iter().find(|row| person["id"] == cell(row, "id")).unwrap();
        let mut action = serde_json::Map::new();
        for (name, shown) in
            row.iter().filter(|(name, shown)| name.starts_with("action:") && !shown.is_empty())
        {
            let value = shown.parse::<f64>().map_or_else(|_| Value::from(shown.as_str()), Value::from);
            action.insert(name["action:".len()..].to_owned(), value);
        }
        let has_action = !action.is_empty();
        person["action"] = Value::Object(action);
        has_action
    });
    people
}

#[test]
fn verdicts_and_attacks_are_those_of_the_command_line() {
    for example in ["linear", "network", "categories"] {
        let folder = examples().join(example);
        let outputs = tempfile::tempdir().unwrap();
        let at = |name: &str| outputs.path().join(name).to_str().unwrap().to_owned();
        // Actions that are guarded against nothing, so that they break.
        let problem = fs::read_to_string(folder.join("problem.toml")).unwrap();
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            fs::copy(&path, outputs.path().join(path.file_name().unwrap())).unwrap();
        }
        let unguarded = problem.replacen("epsilon = 0.1", "epsilon = 0", 1);
        fs::write(outputs.path().join("unguarded.toml"), unguarded).unwrap();
        let answer = ["recourse", "unguarded.toml", "people.csv", "-o", "answers.csv"];
        done(outputs.path(), &answer);
        let judge = |command: &str| {
            let output = at(&format!("{command}.csv"));
            let arguments = [command, "problem.toml", "people.csv", "answers.csv", "-o", &output];
            let ended = surefoot(outputs.path(), &arguments);
            assert!(ended.status.code().unwrap() < 2, "{}", text(&ended.stderr));
            rows(Path::new(&output))
        };
        let people = people_with_actions(&folder.join("people.csv"), Path::new(&at("answers.csv")));
        assert!(!people.is_empty(), "{example}");
        let service = Service::start(&folder, "problem.toml", &[]);
        let verdicts = service.ask("/v1/certify", &json!({"people": people}));
        let certified = judge("certify");
        for verdict in verdicts["verdicts"].as_array().unwrap() {
            let row = certified.iter().find(|row| verdict["id"] == cell(row, "id")).unwrap();
            for column in ["verdict", "margin", "margin_at_most", "breaks_with", "feasible", "reason"] {
                assert_same(&verdict[column], cell(row, column), &format!("{example}, {column}"));
            }
            // Between categories there is nothing, so that a change of one leaves more than it has to.
            assert!(verdict["verdict"] == "breaks" || example == "categories", "{example}: {verdict}");
        }
        let attacks = service.ask("/v1/attack", &json!({"people": people, "cheapest": true}));
        let attacked = judge("attack");
        for body in attacks["attacks"].as_array().unwrap() {
            let row = attacked.iter().find(|row| body["id"] == cell(row, "id")).unwrap();
            assert_eq!(body["status"], Value::Null);
            for column in ["broken", "smallest_break", "margin", "breaks_with", "feasible", "reason"] {
                assert_same(&body["attack"][column], cell(row, column), &format!("{example}, {column}"));
            }
            for (column, shown) in row.iter().filter(|(name, _)| name.starts_with("shift:")) {
                assert_same(&body["attack"]["shift"][&column["shift:".len()..]], shown, column);
            }
            // What was attacked is the cheapest action itself.
            assert_eq!(body["cheapest"]["broken"], body["attack"]["broken"], "{example}");
            let certified = certified.iter().find(|row| body["id"] == cell(row, "id")).unwrap();
            let counterexample = &body["attack"]["counterexample"];
            assert_eq!(
                counterexample.is_object(),
                cell(certified, "verdict") == "breaks",
                "{example}: {body}"
            );
            if counterexample.is_object() {
                let size = counterexample["size"].as_f64().unwrap();
                let smallest = body["attack"]["smallest_break"].as_f64().unwrap();
                assert!(size <= 0.1 * (1.0 + 1e-9) && size >= smallest * (1.0 - 1e-6), "{example}: {body}");
                assert!(
                    counterexample["margin"].as_f64().is_none_or(|margin| margin < 0.0),
                    "{example}: {body}"
                );
            }
        }
        // The robust answer of the same people withstands what breaks the cheapest.
        let robust = json!({"people": people_of(&folder.join("people.csv")), "cheapest": true});
        for body in service.ask("/v1/attack", &robust)["attacks"].as_array().unwrap() {
            if body["status"] == "found" {
                assert_eq!(body["attack"]["broken"], false, "{example}: {body}");
                assert!(body["cheapest"]["broken"] == true || example == "categories", "{example}: {body}");
                assert!(body["attack"]["cost"].as_f64() >= body["cheapest"]["cost"].as_f64());
            }
        }
    }
}

#[test]
fn curves_and_letters_are_those_of_the_command_line() {
    let folder = examples().join("linear");
    let service = Service::start(&folder, "problem.toml", &[]);
    let person = people_of(&folder.join("people.csv"))[0].clone();
    let words = done(
        &folder,
        &["trade-off", "problem.toml", "--person", &person["values"].to_string(), "--epsilons", "0,0.1,0.5"],
    );
    let curve = service.ask("/v1/trade-off", &json!({"person": person, "epsilons": [0, 0.1, 0.5]}));
    assert!(words.trim_end().ends_with(curve["text"].as_str().unwrap()), "{words}\n{curve}");
    for point in curve["points"].as_array().unwrap() {
        let cost = point["cost"].as_f64().unwrap();
        assert!(words.contains(&format!("{cost:.3}")), "{words}");
        assert_eq!(point["option"]["cost"], point["cost"]);
    }
    for (language, format, ending) in [("en", "html", "html"), ("de", "text", "txt")] {
        let outputs = tempfile::tempdir().unwrap();
        let letters = outputs.path().join("letters");
        let at = letters.to_str().unwrap();
        done(
            &folder,
            &[
                "letters",
                "problem.toml",
                "people.csv",
                "-o",
                at,
                "--format",
                format,
                "--language",
                language,
                "--options",
                "2",
            ],
        );
        let question = json!({
            "people": people_of(&folder.join("people.csv")), "format": format, "language": language, "options": 2
        });
        let said = service.ask("/v1/letter", &question);
        let lines = fs::read_to_string(letters.join("proofs.jsonl")).unwrap();
        let saved: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let mut proofs = Vec::new();
        for letter in said["letters"].as_array().unwrap() {
            let path = letters.join(format!("{}.{ending}", letter["id"].as_str().unwrap()));
            assert_eq!(letter["content"].as_str().unwrap(), fs::read_to_string(&path).unwrap());
            assert_eq!(letter["letter"]["reference"], letter["reference"]);
            proofs.extend(letter["proofs"].as_array().unwrap().clone());
        }
        assert_eq!(proofs, saved);
    }
}

/// The last event of a stream is the answer; better ones come before it.
#[test]
fn a_stream_ends_with_the_answer() {
    let folder = examples().join("network");
    let service = Service::start(&folder, "problem.toml", &[]);
    let person = people_of(&folder.join("people.csv"))[0].clone();
    let question = json!({"people": [person], "proofs": true});
    let response = service.post("/v1/recourse/stream", &question.to_string());
    assert_eq!((response.status, response.header("content-type")), (200, Some("text/event-stream")));
    let text = response.text();
    let mut events: Vec<(String, Value)> = Vec::new();
    for event in text.split("\n\n").filter(|event| event.starts_with("event: ")) {
        let (name, data) = event.strip_prefix("event: ").unwrap().split_once("\ndata: ").unwrap();
        events.push((name.to_owned(), serde_json::from_str(data).unwrap()));
    }
    let (last, answer) = events.pop().unwrap();
    assert_eq!(last, "answer");
    assert_eq!(answer, service.ask("/v1/recourse", &question));
    let of = |name: &str| {
        events.iter().filter(|(known, _)| known == name).map(|(_, data)| data).collect::<Vec<_>>()
    };
    let found = &answer["answers"][0];
    let number = |value: &Value| value.as_f64().unwrap();
    let bounds: Vec<f64> = of("bound").iter().map(|data| number(&data["cost_bound"])).collect();
    assert!(!bounds.is_empty() && bounds.is_sorted());
    assert!(*bounds.last().unwrap() <= number(&found["options"][0]["cost"]));
    let incumbents: Vec<f64> = of("incumbent").iter().map(|data| number(&data["cost"])).collect();
    assert!(!incumbents.is_empty() && incumbents.is_sorted_by(|a, b| a > b));
    let proofs = of("proof");
    assert!(!proofs.is_empty() && proofs.iter().all(|data| data["proven"] == true));
    // The cheapest proven action is the answer, or dearer.
    assert!(number(&proofs.last().unwrap()["cost"]) >= number(&found["options"][0]["cost"]));
}
