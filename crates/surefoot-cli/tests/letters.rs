//! Letters, written and checked as an organisation and its customers would.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod command;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use command::{INCOME_AND_AGE, done, folder_with, refused, surefoot, text};

fn problem(settings: &str) -> String {
    format!("{settings}\n{INCOME_AND_AGE}")
}

const PEOPLE: &str = "id,income,age\nana,2417,40\nben,5000,40\n../../x,1000,30\n";

/// The names of the files in a folder.
fn files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The value after a word at the start of a line.
fn after<'t>(text: &'t str, word: &str) -> Vec<&'t str> {
    text.lines().filter_map(|line| line.trim_start().strip_prefix(word)).collect()
}

#[test]
fn every_letter_is_verified_by_its_reference() {
    let folder = folder_with(&[("problem.toml", &problem("epsilon = 0.1")), ("people.csv", PEOPLE)]);
    let at = folder.path();
    let said = done(at, &["letters", "problem.toml", "people.csv", "-o", "letters"]);
    assert!(said.contains("3 people: 1 is treated favourably already; 2 have an action"), "{said}");
    let names = files(&at.join("letters"));
    assert_eq!(names.len(), 5, "{names:?}");
    assert!(names.contains(&"ana.txt".into()) && names.contains(&"proofs.jsonl".into()), "{names:?}");
    // No id leads out of the folder.
    assert_eq!(files(at), ["letters", "people.csv", "problem.toml"]);
    let strange = names.iter().find(|name| name.starts_with("_._.._x-")).unwrap();
    for (name, words) in [
        ("ana.txt", "The proof of ana ("),
        ("ben.txt", "favourable as things stand"),
        (strange.as_str(), "The proof of ../../x ("),
    ] {
        let letter = fs::read_to_string(at.join("letters").join(name)).unwrap();
        let reference = after(&letter, "Reference: ")[0];
        // As somebody might type it.
        let typed = reference.to_lowercase().replace('-', " ");
        let verified = done(at, &["verify", "problem.toml", "letters/proofs.jsonl", "--reference", &typed]);
        assert!(verified.contains(words) && verified.contains("is verified. It says: "), "{verified}");
        for step in after(&letter, "- income: raise by ").iter().chain(&after(&letter, "- Income: raise by "))
        {
            let by = step.split(',').next().unwrap();
            assert!(verified.contains(&format!("Raise income by {by} ")), "{step} {verified}");
        }
    }
    let table = fs::read_to_string(at.join("letters/letters.csv")).unwrap();
    assert!(table.starts_with("id,status,reference,file\nana,found,"), "{table}");
    assert!(done(at, &["verify", "problem.toml", "letters/proofs.jsonl"]).contains("3 proofs, all verified"));
}

#[test]
fn a_changed_proof_has_another_reference() {
    let folder = folder_with(&[("problem.toml", &problem("epsilon = 0.1")), ("people.csv", PEOPLE)]);
    let at = folder.path();
    done(at, &["letters", "problem.toml", "people.csv", "-o", "letters"]);
    let letter = fs::read_to_string(at.join("letters/ana.txt")).unwrap();
    let reference = after(&letter, "Reference: ")[0];
    let check =
        || surefoot(at, &["verify", "problem.toml", "letters/proofs.jsonl", "--reference", reference]);
    assert_eq!(check().status.code(), Some(0));
    let path = at.join("letters/proofs.jsonl");
    let proofs = fs::read_to_string(&path).unwrap();
    // Somebody else's name, and another number in the proof.
    for (from, to) in [("\"id\":\"ana\"", "\"id\":\"eva\""), ("\"epsilon\":0.1", "\"epsilon\":0.05")] {
        assert!(proofs.contains(from));
        fs::write(&path, proofs.replacen(from, to, 1)).unwrap();
        let output = check();
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains("has no proof with the reference"), "{}", text(&output.stderr));
    }
    fs::write(&path, &proofs).unwrap();
    // The proof is found, and is about another problem.
    fs::write(at.join("problem.toml"), problem("epsilon = 0.1").replace("[1, 0.5]", "[0.9, 0.5]")).unwrap();
    let output = check();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("classifier"), "{}", text(&output.stdout));
    let said = refused(at, &["verify", "problem.toml", "letters/proofs.jsonl", "--reference", "12"]);
    assert!(said.contains("--reference") && said.contains("four groups of four"), "{said}");
}

#[test]
fn every_format_and_language() {
    let folder = folder_with(&[("problem.toml", &problem("epsilon = 0.1")), ("people.csv", PEOPLE)]);
    let at = folder.path();
    let write = |format: &str, more: &[&str]| {
        let mut arguments = vec!["letters", "problem.toml", "people.csv", "-o", format, "--format", format];
        arguments.extend(more);
        done(at, &arguments);
        at.join(format)
    };
    let html = fs::read_to_string(write("html", &["--language", "de"]).join("ana.html")).unwrap();
    assert!(html.starts_with("<!DOCTYPE html>\n<html lang=\"de\">") && html.ends_with("</html>\n"));
    assert!(html.contains("Ihr Antrag wurde abgelehnt.") && html.contains("<details>"), "{html}");
    let document = write("document", &["--options", "2"]);
    assert_eq!(files(&document), ["letters.csv", "letters.html", "proofs.jsonl"]);
    let pages = fs::read_to_string(document.join("letters.html")).unwrap();
    assert_eq!((pages.matches("<article").count(), pages.matches("<!DOCTYPE").count()), (3, 1));
    assert!(pages.contains("break-before: page") && pages.contains("<details open>"));
    // The file needs nothing from elsewhere.
    assert!(!pages.contains("http") && !pages.contains("src="));
    let json = fs::read_to_string(write("json", &[]).join("letters.jsonl")).unwrap();
    let letters: Vec<serde_json::Value> =
        json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(letters.len(), 3);
    // 583 to the boundary, and 1500 * 0.1 * |(1, 0.5)| = 167.7 for the uncertainty.
    assert_eq!(letters[0]["steps"][0]["change"], 751.0);
    assert_eq!(letters[0]["reasons"][0]["remedy"], "changed");
    let table = fs::read_to_string(write("table", &[]).join("letters.csv")).unwrap();
    assert!(table.starts_with("id,status,reference,letter\n") && table.contains("About your application"));
}

#[test]
fn nothing_is_overwritten_and_no_half_is_left() {
    let bad = format!("{PEOPLE}eve,many,40\n");
    let folder = folder_with(&[
        ("problem.toml", &problem("epsilon = 0.1")),
        ("people.csv", PEOPLE),
        ("bad.csv", &bad),
        ("file", "x"),
        ("own.txt", "a\n{{ letter.nothing }}\n"),
        ("reasons.toml", "[[reason]]\nfeature = \"incme\"\n"),
    ]);
    let at = folder.path();
    fs::create_dir(at.join("full")).unwrap();
    fs::write(at.join("full/ana.txt"), "mine").unwrap();
    fs::create_dir(at.join("empty")).unwrap();
    let before = files(at);
    let run = |people: &str, output: &str, more: &[&str]| {
        let mut arguments = vec!["letters", "problem.toml", people, "-o", output];
        arguments.extend(more);
        refused(at, &arguments)
    };
    for (people, output, more, words) in [
        ("people.csv", "full", &[][..], "is not empty"),
        ("people.csv", "file", &[], "is a file"),
        ("people.csv", "none/letters", &[], "does not exist"),
        ("bad.csv", "letters", &[], "many"),
        ("people.csv", "letters", &["--template", "own.txt"], "own.txt, line 2: "),
        ("people.csv", "letters", &["--reasons", "reasons.toml"], "line 2, "),
        ("people.csv", "letters", &["--options", "2", "--method", "local"], "--options 2"),
        ("people.csv", "letters", &["--language", "fr"], "fr"),
        ("people.csv", "letters", &["--format", "json", "--template", "own.txt"], "--template"),
    ] {
        let said = run(people, output, more);
        assert!(said.contains(words), "{said}");
        assert_eq!(files(at), before);
    }
    assert_eq!(fs::read_to_string(at.join("full/ana.txt")).unwrap(), "mine");
    // An empty folder is filled.
    done(at, &["letters", "problem.toml", "people.csv", "-o", "empty"]);
    assert_eq!(files(&at.join("empty")).len(), 5);
    let again = run("people.csv", "empty", &[]);
    assert!(again.contains("is not empty"), "{again}");
}

/// Letters are personal: others may not read them.
#[cfg(unix)]
#[test]
fn letters_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder_with(&[("problem.toml", &problem("epsilon = 0.1")), ("people.csv", PEOPLE)]);
    done(folder.path(), &["letters", "problem.toml", "people.csv", "-o", "letters"]);
    let at = folder.path().join("letters");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&at), 0o700);
    files(&at).iter().for_each(|name| assert_eq!(mode(&at.join(name)), 0o600, "{name}"));
}

/// A run that is ended by a signal leaves neither the folder nor a part of it.
#[cfg(unix)]
#[test]
fn an_interrupted_run_leaves_nothing() {
    let people: String = (0..20_000).map(|i| format!("{i},{},40\n", 1000 + i % 1500)).collect();
    let people = format!("id,income,age\n{people}");
    let folder = folder_with(&[("problem.toml", &problem("epsilon = 0.1")), ("people.csv", &people)]);
    let at = folder.path();
    let mut child = Command::new(env!("CARGO_BIN_EXE_surefoot"))
        .current_dir(at)
        .args(["letters", "problem.toml", "people.csv", "-o", "letters"])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let temporary = || files(at).into_iter().find(|name| name.starts_with(".surefoot-letters-"));
    let has_letters = || temporary().is_some_and(|name| files(&at.join(name)).len() > 100);
    while !has_letters() {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it was interrupted");
        std::thread::sleep(Duration::from_millis(1));
    }
    let killed = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    assert!(!child.wait().unwrap().success());
    assert_eq!(files(at), ["people.csv", "problem.toml"]);
}

/// The same letters, whatever the number of threads.
#[test]
fn letters_do_not_depend_on_threads() {
    let folder = folder_with(&[("problem.toml", &problem("epsilon = 0.1")), ("people.csv", PEOPLE)]);
    let at = folder.path();
    let of = |threads: &str| {
        let name = format!("with-{threads}");
        let status = Command::new(env!("CARGO_BIN_EXE_surefoot"))
            .current_dir(at)
            .env("RAYON_NUM_THREADS", threads)
            .args(["letters", "problem.toml", "people.csv", "-o", &name, "--options", "3"])
            .stdout(Stdio::null())
            .status();
        assert!(status.unwrap().success());
        let folder = at.join(name);
        files(&folder).iter().map(|name| fs::read(folder.join(name)).unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(of("1"), of("4"));
}

/// South German Credit, from its public file.
fn german() -> PathBuf {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|up| up.join("shared/data"));
    let named = std::env::var_os("SUREFOOT_DATA").map(PathBuf::from);
    let found = named.into_iter().chain(beside).map(|folder| folder.join("SouthGermanCredit.asc"));
    found.into_iter().find(|path| path.is_file()).unwrap()
}

/// Ten people who are turned down, of those whom a network was trained on, in both languages; every letter is verified.
#[test]
#[cfg_attr(without_data, ignore = "the public data is not there")]
fn letters_on_south_german_credit() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/letters");
    let read = |name: &str| fs::read_to_string(example.join(name)).unwrap();
    let (problem, reasons) = (read("problem.toml"), read("reasons.toml"));
    let table = fs::read_to_string(german()).unwrap();
    let csv: String = table
        .lines()
        .enumerate()
        .map(|(row, line)| {
            let id = if row == 0 { "id".to_owned() } else { format!("SG-{row:04}") };
            format!("{id},{}\n", line.split(' ').collect::<Vec<_>>().join(","))
        })
        .collect();
    let folder =
        folder_with(&[("problem.toml", &problem), ("reasons.toml", &reasons), ("everybody.csv", &csv)]);
    let at = folder.path();
    surefoot(at, &["train", "everybody.csv", "--target", "kredit", "--hidden", "8", "--epochs", "30"]);
    // The first of the file have repaid; the last ones have not.
    let lines: Vec<&str> = csv.lines().collect();
    let ten = [&lines[..1], &lines[lines.len() - 10..]].concat().join("\n") + "\n";
    fs::write(at.join("ten.csv"), ten).unwrap();
    for (language, words) in [("en", "About your application"), ("de", "Zu Ihrem Antrag")] {
        let arguments = [
            "letters",
            "problem.toml",
            "ten.csv",
            "-o",
            language,
            "--language",
            language,
            "--reasons",
            "reasons.toml",
        ];
        done(at, &arguments);
        let letters = files(&at.join(language));
        assert_eq!(letters.len(), 12, "{letters:?}");
        let mut steps = 0;
        for name in letters.iter().filter(|name| name.ends_with(".txt")) {
            let letter = fs::read_to_string(at.join(language).join(name)).unwrap();
            assert!(letter.starts_with(words), "{letter}");
            // No name of a column and no code of a category is left.
            for raw in ["laufkont", "hoehe", "sparkont", "buerge", "A11"] {
                assert!(!letter.contains(raw), "{letter}");
            }
            steps += letter.matches("DM").count();
            let reference =
                after(&letter, if language == "en" { "Reference: " } else { "Aktenzeichen: " })[0];
            let proofs = format!("{language}/proofs.jsonl");
            let said = done(at, &["verify", "problem.toml", &proofs, "--reference", reference]);
            assert!(said.contains("is verified"), "{said}");
        }
        assert!(steps > 0);
    }
}

/// Adult, from its public file, as a table of a few columns with an id; at most so many rows.
fn adult(rows: usize) -> Vec<String> {
    let path = german().with_file_name("adult.csv");
    let text = fs::read_to_string(path).unwrap();
    let row = |(number, line): (usize, &str)| {
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        (cells.len() == 15).then(|| {
            let of = |places: &[usize]| places.iter().map(|&i| cells[i]).collect::<Vec<_>>().join(",");
            // Age, level of education, marital status, occupation, sex, working hours and income.
            format!("AD-{number:05},{}", of(&[0, 4, 5, 6, 9, 12, 14]))
        })
    };
    text.lines().enumerate().filter_map(row).take(rows).collect()
}

const ADULT: &str = r#"
epsilon = 0.1
most_changes = 2

[[feature]]
name = "age"
unit = ["year", "years"]
kind = "integer"
mean = 38
std = 14

[[feature]]
name = "education"
label = "level of education"
kind = "integer"
mean = 10
std = 2.6
limits = [1, 16]
change = "increase"
most_change = 5

[[feature]]
name = "marital"
label = "marital status"
categories = ["Divorced", "Married-AF-spouse", "Married-civ-spouse", "Married-spouse-absent", "Never-married", "Separated", "Widowed"]

[[feature]]
name = "occupation"
categories = ["?", "Adm-clerical", "Armed-Forces", "Craft-repair", "Exec-managerial", "Farming-fishing", "Handlers-cleaners", "Machine-op-inspct", "Other-service", "Priv-house-serv", "Prof-specialty", "Protective-serv", "Sales", "Tech-support", "Transport-moving"]
describe = { "?" = "not stated" }
change = "any"

[[feature]]
name = "sex"
categories = ["Female", "Male"]

[[feature]]
name = "hours"
label = "working hours per week"
unit = ["hour", "hours"]
kind = "integer"
mean = 40
std = 12
limits = [0, 99]
change = "any"
step = 5
missing = { value = "mean", between = [30, 50] }
"#;

/// Ten people of Adult who earn no more than 50,000, of two of whom the working hours are not known; every letter is
/// verified by its reference.
#[test]
#[cfg_attr(without_data, ignore = "the public data is not there")]
fn letters_on_adult() {
    let rows = adult(3000);
    let header = "id,age,education,marital,occupation,sex,hours,income";
    let table = |rows: &[String]| format!("{header}\n{}\n", rows.join("\n"));
    let folder = folder_with(&[("problem.toml", ADULT), ("everybody.csv", &table(&rows))]);
    let at = folder.path();
    let train = ["train", "everybody.csv", "--target", "income", "--favourable", ">50K"];
    let trained = surefoot(at, &[&train[..], &["--hidden", "6", "--epochs", "40"]].concat());
    assert!(trained.status.success(), "{}", text(&trained.stderr));
    let poor = rows.iter().filter(|row| row.ends_with("<=50K") && row.contains("Married-civ")).take(10);
    let without_hours = |(number, row): (usize, &String)| {
        let mut cells: Vec<&str> = row.split(',').collect();
        if number < 2 {
            cells[6] = "";
        }
        cells.join(",")
    };
    let ten: Vec<String> = poor.enumerate().map(without_hours).collect();
    assert_eq!(ten.len(), 10);
    fs::write(at.join("ten.csv"), table(&ten)).unwrap();
    let said = done(at, &["letters", "problem.toml", "ten.csv", "-o", "letters", "--options", "2"]);
    assert!(said.contains("10 people"), "{said}");
    let (mut steps, mut unknown) = (0, 0);
    for name in files(&at.join("letters")).iter().filter(|name| name.ends_with(".txt")) {
        let letter = fs::read_to_string(at.join("letters").join(name)).unwrap();
        steps += letter.matches(": raise by").count() + letter.matches(": change from").count();
        let of_hours =
            "Working hours per week: we do not know this about you. The decision takes it as 40 hours.";
        if letter.contains(of_hours) {
            unknown += 1;
            assert!(!letter.contains("- Working hours per week:"), "{letter}");
        }
        let numbers = after(&letter, "Reference: ");
        for reference in numbers {
            let check = ["verify", "problem.toml", "letters/proofs.jsonl", "--reference", reference];
            assert!(done(at, &check).contains("is verified"), "{letter}");
        }
    }
    assert_eq!(unknown, 2);
    assert!(steps > 0);
    // The answers of the same people, which `certify` holds against the same table.
    done(at, &["recourse", "problem.toml", "ten.csv", "-o", "answers.csv", "--proofs", "proofs.jsonl"]);
    let answers = fs::read_to_string(at.join("answers.csv")).unwrap();
    assert!(answers.matches("is not known and taken as 40 hours").count() >= 2, "{answers}");
    assert!(done(at, &["verify", "problem.toml", "proofs.jsonl"]).contains("10 proofs, all verified"));
    assert!(done(at, &["certify", "problem.toml", "ten.csv", "answers.csv"]).contains("proven to hold"));
}
