//! `surefoot recourse`, `certify` and `trade-off`, run as people run them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod command;

use std::path::{Path, PathBuf};

use command::{done, refused, surefoot, text};
use surefoot::{Action, Problem, margin};
use surefoot_cli::table::Table;

fn example(name: &str, file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name).join(file)
}

fn words(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

/// Answers an example into a folder; what it says.
fn answer(folder: &Path, name: &str, output: &str) -> String {
    let (problem, people) = (words(&example(name, "problem.toml")), words(&example(name, "people.csv")));
    done(folder, &["recourse", &problem, &people, "--output", output])
}

#[test]
fn answers_stand_in_own_units_and_hold() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for name in ["independent", "linear", "network", "whole"] {
        let said = answer(at, name, "answers.csv");
        assert!(said.contains("treated favourably already") && said.contains("Written to"), "{said}");
        let problem = Problem::read(example(name, "problem.toml")).unwrap();
        let features = problem.features();
        let names = features.names();
        let people = Table::open(example(name, "people.csv")).unwrap().select(&names, &[]).unwrap();
        let people = people.read_all().unwrap().numbers;
        let actions: Vec<String> =
            features.actionable().iter().map(|&i| format!("action:{}", names[i])).collect();
        let after: Vec<String> = names.iter().map(|name| format!("counterfactual:{name}")).collect();
        let wanted: Vec<String> = actions.iter().chain(&after).chain([&"status".into()]).cloned().collect();
        let answers = Table::open(at.join("answers.csv")).unwrap().select(&[], &wanted).unwrap();
        let answers = answers.read_all().unwrap();
        let mut found = 0;
        for (row, own) in people.rows().into_iter().enumerate() {
            if answers.texts[wanted.len() - 1][row] != "found" {
                continue;
            }
            found += 1;
            let individual: Vec<f64> =
                own.iter().enumerate().map(|(i, &v)| features.standardise(i, v)).collect();
            let mut action = Action { features: Vec::new(), change: Vec::new() };
            for (cells, &i) in answers.texts.iter().zip(&features.actionable()) {
                if let Ok(change) = cells[row].parse::<f64>() {
                    action.features.push(i);
                    action.change.push(change / features.feature(i).std);
                }
            }
            let zero = vec![0.0; names.len()];
            let becomes = margin::counterfactual(&problem, &individual, &action, &zero).unwrap();
            for (i, value) in features.own_units(&becomes).into_iter().enumerate() {
                let told: f64 = answers.texts[actions.len() + i][row].parse().unwrap();
                assert!((told - value).abs() < 1e-9 * value.abs().max(1.0), "{name} {told} {value}");
            }
        }
        assert!(found >= 2);
        // What was found is certified, also through another kind of file.
        answer(at, name, "answers.parquet");
        let (problem, people) = (words(&example(name, "problem.toml")), words(&example(name, "people.csv")));
        for answers in ["answers.csv", "answers.parquet"] {
            let said = done(at, &["certify", &problem, &people, answers, "--output", "verdicts.csv"]);
            assert!(
                said.contains(&format!("{found} {} proven to hold", if found == 1 { "is" } else { "are" })),
                "{name}: {said}"
            );
        }
    }
}

/// `intervention` and the cells of an action name what is changed or held, and nothing else; read again,
/// they are the same action.
#[test]
fn answers_list_what_is_acted_upon_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let features = ["income", "savings", "rent"]
        .map(|name| format!("[[feature]]\nname = \"{name}\"\nmean = 10\nstd = 2\nchange = \"any\"\n"));
    let classifier = "[classifier]\ncoefficients = [1.0, 0.9, 0.0]\nintercept = -1\n";
    std::fs::write(at.join("people.csv"), "id,income,savings,rent\nana,10,10,10\nben,18,10,10\n").unwrap();
    // Savings suffer from income: they are held. Where nothing follows from anything they need not be,
    // unless actions are levels, which undo a shift.
    let suffers = "[[equation]]\nfeature = \"savings\"\nformula = \"19 - 0.9 * income + u\"\n";
    for (settings, equation, intervention, held) in [
        ("epsilon = 0.1", suffers, "income;savings", [Some(0.0), None]),
        ("epsilon = 0.1", "", "income", [None, None]),
        ("epsilon = 0.0\nform = \"absolute\"", "", "income", [None, None]),
        ("epsilon = 0.1\nform = \"absolute\"", "", "income;savings;rent", [Some(0.0), Some(0.0)]),
    ] {
        let problem = format!("{settings}\n{}{equation}{classifier}", features.concat());
        std::fs::write(at.join("problem.toml"), &problem).unwrap();
        done(at, &["recourse", "problem.toml", "people.csv", "-o", "answers.csv"]);
        let text = std::fs::read_to_string(at.join("answers.csv")).unwrap();
        assert!(!text.contains("certified"), "{text}");
        let wanted = ["status", "intervention", "action:income", "action:savings", "action:rent"];
        let cells = Table::open(at.join("answers.csv")).unwrap().select(&[], &wanted).unwrap();
        let cells = cells.read_all().unwrap().texts;
        let row = |row: usize| cells.iter().map(|column| column[row].as_str()).collect::<Vec<_>>();
        assert_eq!(row(0)[..2], ["found", intervention], "{problem}");
        assert!(row(0)[2].parse::<f64>().unwrap() > 0.0, "{problem}");
        let number = |cell: &str| cell.parse::<f64>().ok();
        assert_eq!([number(row(0)[3]), number(row(0)[4])], held, "{problem}{text}");
        assert_eq!(row(1), ["favourable", "", "", "", ""], "{problem}");
        let said = done(at, &["certify", "problem.toml", "people.csv", "answers.csv", "-o", "verdicts.csv"]);
        assert!(said.contains("1 is proven to hold"), "{said}");
        let words =
            done(at, &["recourse", "problem.toml", "--person", r#"{"income":10,"savings":10,"rent":10}"#]);
        assert_eq!(words.contains("hold savings"), held[0].is_some(), "{words}");
        assert_eq!(words.contains("hold rent"), held[1].is_some(), "{words}");
    }
}

#[test]
fn actions_that_do_not_hold_are_found_out() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let (problem, people) =
        (words(&example("network", "problem.toml")), words(&example("network", "people.csv")));
    // As much as would do without any uncertainty, and far too little.
    std::fs::write(at.join("promised.csv"), "id,action:income\nana,0.70\nben,0.01\n").unwrap();
    let output = surefoot(at, &["certify", &problem, &people, "promised.csv", "--output", "verdicts.csv"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    assert!(said.contains("2 do not") && said.contains("The action of ana breaks with"), "{said}");
    let verdicts = std::fs::read_to_string(at.join("verdicts.csv")).unwrap();
    assert!(verdicts.contains("ana,breaks") && verdicts.contains("lower"), "{verdicts}");
}

/// That an action cannot be taken is told beside whether it would hold.
#[test]
fn actions_that_cannot_be_taken_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let features = "[[feature]]\nname = \"age\"\nmean = 40\nstd = 10\n\
                    [[feature]]\nname = \"income\"\nlimits = [0, 9]\nchange = \"increase\"\n\
                    [[feature]]\nname = \"children\"\nkind = \"integer\"\nchange = \"any\"\n";
    let rules = "[classifier]\ncoefficients = [0.1, 1.0, -1.0]\nintercept = -4\n\
                 [[constraint]]\nrule = \"income >= children\"\n";
    std::fs::write(at.join("problem.toml"), format!("epsilon = 0.1\n{features}{rules}")).unwrap();
    let people: String = ["a", "b", "c", "d", "e", "f"].map(|id| format!("{id},40,2,2\n")).concat();
    std::fs::write(at.join("people.csv"), format!("id,age,income,children\n{people}")).unwrap();
    let actions = "a,,5,\nb,,9,\nc,30,,\nd,,6,-0.5\ne,,,-1\nf,,-1,\n";
    std::fs::write(at.join("advice.csv"), format!("id,action:age,action:income,action:children\n{actions}"))
        .unwrap();
    let expected = [
        ("a", "true", ""),
        ("b", "false", "`income` would become 11, above its limit of 9"),
        ("c", "false", "`age` may not be changed"),
        ("d", "false", "`children` would change by -0.5, and changes by whole numbers only"),
        ("e", "true", ""),
        ("f", "false", "`income` may only rise; the constraint `income >= children` is not met"),
    ];
    for command in ["certify", "attack"] {
        let run = surefoot(at, &[command, "problem.toml", "people.csv", "advice.csv", "-o", "out.csv"]);
        let said = text(&run.stdout);
        assert_eq!(run.status.code(), Some(1), "{said}{}", text(&run.stderr));
        assert!(said.contains("4 actions cannot be taken"), "{said}");
        assert!(said.contains("The action of b cannot be taken: `income` would become 11"), "{said}");
        let wanted = ["id", "feasible", "reason"].map(str::to_owned);
        let told = Table::open(at.join("out.csv")).unwrap().select(&[], &wanted).unwrap();
        let told = told.read_all().unwrap().texts;
        for (row, (id, feasible, reason)) in expected.iter().enumerate() {
            assert_eq!([&told[0][row], &told[1][row], &told[2][row]], [id, feasible, reason], "{command}");
        }
    }
    // Only what cannot be taken is wrong with these.
    std::fs::write(at.join("advice.csv"), "id,action:income\na,5\nb,9\n").unwrap();
    let run = surefoot(at, &["certify", "problem.toml", "people.csv", "advice.csv"]);
    assert!(text(&run.stdout).contains("2 actions: 2 are proven to hold"), "{}", text(&run.stdout));
    assert_eq!(run.status.code(), Some(1));
}

#[test]
fn one_person_is_answered_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let problem = words(&example("linear", "problem.toml"));
    let person = r#"{"education": 11, "income": 2400, "savings": 6000}"#;
    let said = done(folder.path(), &["recourse", &problem, "--person", person]);
    assert!(said.starts_with("Raise income by") && said.contains("That is proven"), "{said}");
    let said = done(folder.path(), &["trade-off", &problem, "--person", person, "--plot", "curve.svg"]);
    assert!(said.contains("epsilon") && said.contains("standard deviations (proven)"), "{said}");
    assert!(std::fs::read_to_string(folder.path().join("curve.svg")).unwrap().contains("certified"));
    let said = done(folder.path(), &["trade-off", &problem, "--person", person, "--epsilons", "0,0.1"]);
    assert!(said.contains("0.0000") && said.contains("0.1000"), "{said}");
}

#[test]
fn bad_input_is_refused_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let (problem, people) =
        (words(&example("linear", "problem.toml")), words(&example("linear", "people.csv")));
    let said = |arguments: &[&str], words: &[&str]| {
        let said = refused(at, arguments);
        assert!(words.iter().all(|word| said.contains(word)), "{arguments:?}: {said}");
    };
    said(&["recourse", &problem], &["PEOPLE", "--output"]);
    said(&["recourse", &problem, "nobody.csv", "-o", "a.csv"], &["nobody.csv"]);
    std::fs::write(at.join("high.csv"), "education,income,savings\n11,2400,6000\n99,2400,6000\n").unwrap();
    said(&["recourse", &problem, "high.csv", "-o", "a.csv"], &["high.csv", "line 3", "`education`", "99"]);
    said(&["recourse", &problem, "high.csv", "-o", "high.csv"], &["high.csv", "another name"]);
    said(&["recourse", &problem, &people, "-o", "missing/a.csv"], &["missing/a.csv"]);
    said(&["recourse", &problem, "--person", "{"], &["--person", "education"]);
    said(&["recourse", &problem, "--person", r#"{"education": 11}"#], &["--person", "`income`"]);
    said(&["recourse", &problem, "--person", r#"{"education": "much"}"#], &["`education`", "number"]);
    std::fs::write(at.join("a.csv"), "id,action:income\nnobody,10\n").unwrap();
    said(&["certify", &problem, &people, "a.csv"], &["`nobody`"]);
    std::fs::write(at.join("a.csv"), "id,action:income\nana,ten\n").unwrap();
    said(&["certify", &problem, &people, "a.csv"], &["line 2", "action:income"]);
    std::fs::write(at.join("a.csv"), "id,income\nana,10\n").unwrap();
    said(&["certify", &problem, &people, "a.csv"], &["`action:income`"]);
    assert!(!at.join("a.csv.partial").exists());
}

#[test]
fn proofs_are_saved_and_checked_again() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for name in ["linear", "network"] {
        let (problem, people) = (words(&example(name, "problem.toml")), words(&example(name, "people.csv")));
        let options = ["--output", "answers.csv", "--proofs", "proofs.jsonl"];
        done(at, &[&["recourse", &problem, &people][..], &options].concat());
        let said = done(at, &["verify", &problem, "proofs.jsonl"]);
        assert!(said.contains("all verified: 2 actions hold and cost") && !said.contains("wrong"), "{said}");

        // A cheaper action than was proven is found out.
        let text = std::fs::read_to_string(at.join("proofs.jsonl")).unwrap();
        let mut lines: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let outcome = &mut lines[0]["proof"]["outcome"];
        for change in outcome["action"]["change"].as_array_mut().unwrap() {
            *change = (0.5 * change.as_f64().unwrap()).into();
        }
        outcome["cost"] = (0.5 * outcome["cost"].as_f64().unwrap()).into();
        outcome["cost_bound"] = (0.5 * outcome["cost_bound"].as_f64().unwrap()).into();
        let tampered: Vec<String> = lines.iter().map(ToString::to_string).collect();
        std::fs::write(at.join("tampered.jsonl"), tampered.join("\n")).unwrap();
        let output = surefoot(at, &["verify", &problem, "tampered.jsonl"]);
        assert_eq!(output.status.code(), Some(1), "{}", self::text(&output.stderr));
        let said = self::text(&output.stdout);
        assert!(said.contains("1 is wrong") && said.contains("The proof of ana is wrong"), "{said}");

        // Without a stated bound nothing is said of the cost.
        let mut lines: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        lines[0]["proof"]["outcome"]["cost_bound"] = 0.into();
        let loose: Vec<String> = lines.iter().map(ToString::to_string).collect();
        std::fs::write(at.join("loose.jsonl"), loose.join("\n")).unwrap();
        let said = done(at, &["verify", &problem, "loose.jsonl"]);
        assert!(said.contains("1 action holds and costs at most"), "{said}");
        assert!(said.contains("1 action holds, with nothing stated about the cost"), "{said}");

        // Proofs of another problem are told as such.
        let altered = std::fs::read_to_string(example(name, "problem.toml")).unwrap();
        let altered = altered.replace("threshold = 0.5", "threshold = 0.9");
        let altered = altered.replace("threshold = 0.4", "threshold = 0.9");
        for file in ["classifier.safetensors", "models.safetensors"] {
            // Only the network has them.
            let _ = std::fs::copy(example(name, file), at.join(file));
        }
        std::fs::write(at.join("altered.toml"), altered).unwrap();
        let output = surefoot(at, &["verify", "altered.toml", "proofs.jsonl"]);
        assert_eq!(output.status.code(), Some(1), "{}", self::text(&output.stderr));
        let said = self::text(&output.stdout);
        assert!(!said.contains("wrong") && said.contains("for another problem"), "{said}");
        assert!(said.contains("is for another problem: the classifier is not the same"), "{said}");

        std::fs::write(at.join("empty.jsonl"), "").unwrap();
        let said = refused(at, &["verify", &problem, "empty.jsonl"]);
        assert!(
            said.contains(
                "empty.jsonl: holds no proof; give the file that `surefoot recourse --proofs` wrote"
            ),
            "{said}"
        );

        std::fs::write(at.join("cut.jsonl"), &text[..text.len() / 2]).unwrap();
        let said = refused(at, &["verify", &problem, "cut.jsonl"]);
        assert!(said.contains("cut.jsonl, line"), "{said}");
    }
}

#[test]
fn attacks_find_what_breaks_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for name in ["independent", "linear", "network"] {
        let (problem, people) = (words(&example(name, "problem.toml")), words(&example(name, "people.csv")));
        answer(at, name, "answers.csv");
        for output in ["breaks.csv", "breaks.parquet", "breaks.arrow"] {
            let said = done(at, &["attack", &problem, &people, "answers.csv", "--output", output]);
            assert!(
                said.contains("0 are broken") && said.contains("no such shift was found, which is no proof"),
                "{said}"
            );
        }
        // What is reported breaks, is no smaller than what was guarded against, and is in own units.
        let stated = Problem::read(example(name, "problem.toml")).unwrap();
        let features = stated.features();
        let shifts: Vec<String> = features.iter().map(|f| format!("shift:{}", f.name)).collect();
        let wanted: Vec<String> =
            shifts.iter().cloned().chain(["smallest_break".into(), "margin".into()]).collect();
        let found =
            Table::open(at.join("breaks.csv")).unwrap().select(&wanted, &["broken".into(), "id".into()]);
        let found = found.unwrap().read_all().unwrap();
        assert!(found.texts[0].iter().all(|word| word == "false"));
        for row in found.numbers.rows() {
            let width = features.len();
            let shift: Vec<f64> = (0..width).map(|i| row[i] / features.feature(i).std).collect();
            assert!((stated.norm().value(&shift) - row[width]).abs() < 1e-9);
            assert!(row[width] > stated.epsilon() && row[width + 1] < 0.0);
        }
    }
    let (problem, people) =
        (words(&example("network", "problem.toml")), words(&example("network", "people.csv")));
    // In another order than the people, who come out in theirs.
    std::fs::write(at.join("promised.csv"), "id,action:income\nben,0.01\nana,0.70\n").unwrap();
    let output = surefoot(at, &["attack", &problem, &people, "promised.csv", "--output", "breaks.csv"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    assert!(
        said.contains("2 actions: 2 are broken") && said.contains("The action of ana breaks with"),
        "{said}"
    );
    let breaks = std::fs::read_to_string(at.join("breaks.csv")).unwrap();
    let lines: Vec<&str> = breaks.lines().collect();
    assert!(lines[1].starts_with("ana,true,0.0") && lines[2].starts_with("ben,true,0,"), "{breaks}");
}

#[test]
fn several_actions_of_one_person() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let feature = |name: &str| format!("[[feature]]\nname = \"{name}\"\nchange = \"increase\"\n");
    let features = feature("income") + &feature("savings");
    let classifier = "[classifier]\ncoefficients = [0.8, 0.6]\nintercept = -1\n";
    std::fs::write(at.join("problem.toml"), format!("epsilon = 0.1\n{features}{classifier}")).unwrap();
    let people: String = (0..6000).map(|i| format!("p{i},0,0\n")).collect();
    std::fs::write(at.join("people.csv"), format!("id,income,savings\n{people}")).unwrap();
    // More than are read at a time: the options of one person stand in two batches. The second of
    // theirs is too little, and so is the first of somebody else.
    assert_eq!(surefoot_cli::table::BATCH_ROWS, 2 * 4096);
    let options = |i: usize| match i {
        0 => "p0,1,2,\n".to_owned(),
        4096 => "p4096,1,2,\np4096,2,,1\n".to_owned(),
        5000 => "p5000,1,1,\np5000,2,,3\n".to_owned(),
        _ => format!("p{i},1,2,\np{i},2,,3\n"),
    };
    let options: String = (0..6000).map(options).collect();
    std::fs::write(at.join("options.csv"), format!("id,option,action:income,action:savings\n{options}"))
        .unwrap();
    for command in ["certify", "attack"] {
        let run = surefoot(at, &[command, "problem.toml", "people.csv", "options.csv"]);
        let said = text(&run.stdout);
        assert_eq!(run.status.code(), Some(1), "{said}{}", text(&run.stderr));
        assert!(said.contains("11999 actions") && !said.contains("no action"), "{said}");
        assert_eq!(said.matches("The action of ").count(), 2, "{said}");
        let fails = |id: &str| said.contains(&format!("The action of {id} "));
        assert!(fails("p4096") && fails("p5000"), "{said}");
    }
}
