//! Everything that can be wrong with what a command is given: a message that names file and row or
//! line, exit code 2, and nothing half-written.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod command;

use std::path::Path;
use std::process::Command;

use command::{done, refused, text};
use tempfile::TempDir;

const FEATURES: &str = r#"epsilon = 0.1

[[feature]]
name = "income"
mean = 3000.0
std = 1500.0
limits = [0, 20000]
change = "increase"

[[feature]]
name = "savings"
mean = 8000.0
std = 4000.0
change = "increase"

"#;
const CLASSIFIER: &str = "[classifier]\ncoefficients = [0.8, 0.6]\nintercept = -0.5\n";
const PEOPLE: &str = "id,income,savings\nana,2400,6000\nben,2000,1000\ncarl,9000,20000\n";

/// A folder with a problem and people that are in order.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("problem.toml", &format!("{FEATURES}{CLASSIFIER}"));
    write("people.csv", PEOPLE);
    done(folder.path(), &["recourse", "problem.toml", "people.csv", "-o", "answers.csv"]);
    folder
}

fn contents(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Runs a command that must refuse its input in words that have all of these, and leave the folder
/// as it is.
fn assert_refused(folder: &Path, arguments: &[&str], words: &[&str]) {
    let before = contents(folder);
    let said = refused(folder, arguments);
    assert!(words.iter().all(|word| said.contains(word)), "{arguments:?} says {said}instead of {words:?}");
    assert_eq!(contents(folder), before, "{arguments:?}");
}

/// The same for a table of people, by every command that reads one.
fn assert_people_refused(folder: &Path, people: &str, words: &[&str]) {
    for output in ["out.csv", "out.parquet", "out.arrow"] {
        assert_refused(folder, &["recourse", "problem.toml", people, "-o", output], words);
        assert_refused(folder, &["certify", "problem.toml", people, "answers.csv", "-o", output], words);
        assert_refused(folder, &["attack", "problem.toml", people, "answers.csv", "-o", output], words);
    }
    let said = refused(folder, &["validate", "problem.toml", people]);
    assert!(said.contains(people), "{said}");
}

#[test]
fn tables_of_people() {
    let folder = folder();
    let at = folder.path();
    // Behind a first row that is in order, so that output has begun when the fault is met.
    let first: String = (0..9000).map(|i| format!("p{i},2400,6000\n")).collect();
    for (row, words) in [
        ("late,,6000", &["late.csv, line 9002, column `income`: no value is given"][..]),
        (
            "late,nan,6000",
            &["late.csv, line 9002, column `income`: the cell holds `nan`, which is not a number"],
        ),
        ("late,NA,6000", &["late.csv, line 9002", "no value is given"]),
        (
            "late,2400,much",
            &["late.csv, line 9002, column `savings`: `much` is not a number; write a number"],
        ),
        ("late,2400,inf", &["late.csv, line 9002", "`savings`", "inf"]),
        ("late,-1,6000", &["late.csv, line 9002", "`income`", "-1 is outside [0, 20000]"]),
        ("late,2400", &["late.csv, line 9002: has 2 cells"]),
    ] {
        std::fs::write(at.join("late.csv"), format!("id,income,savings\n{first}{row}\n")).unwrap();
        assert_people_refused(at, "late.csv", words);
    }
    std::fs::write(at.join("other.csv"), "id,incomes,savings\nana,1,2\n").unwrap();
    assert_people_refused(at, "other.csv", &["other.csv: has no column `income`; did you mean `incomes`?"]);
    std::fs::write(at.join("empty.csv"), "").unwrap();
    assert_people_refused(at, "empty.csv", &["empty.csv: is empty"]);
    assert_people_refused(at, "people.txt", &["people.txt", "name it .csv, .parquet or .arrow"]);
    assert_people_refused(at, "nobody.csv", &["nobody.csv: cannot be read"]);
}

#[test]
fn people_whom_the_causal_model_cannot_produce() {
    let folder = folder();
    let at = folder.path();
    let equation = "[[equation]]\nfeature = \"savings\"\nformula = \"exp(income / 1000 + u)\"\n";
    std::fs::write(at.join("problem.toml"), format!("{FEATURES}{equation}{CLASSIFIER}")).unwrap();
    std::fs::write(at.join("people.csv"), format!("{PEOPLE}dora,2000,-5\nemil,2000,-7\n")).unwrap();
    std::fs::write(at.join("answers.csv"), "id,action:income\nana,10\ndora,10\n").unwrap();
    assert_people_refused(at, "people.csv", &["people.csv, line 5", "`savings`", "-5"]);
}

#[test]
fn truncated_files() {
    let folder = folder();
    let at = folder.path();
    for kind in ["parquet", "arrow"] {
        let name = format!("whole.{kind}");
        done(at, &["recourse", "problem.toml", "people.csv", "-o", &name]);
        let bytes = std::fs::read(at.join(&name)).unwrap();
        let cut = format!("cut.{kind}");
        for length in [10, bytes.len() / 2, bytes.len() - 1] {
            std::fs::write(at.join(&cut), &bytes[..length]).unwrap();
            assert_people_refused(at, &cut, &[&format!("{cut}: is not a complete ")]);
            for command in ["certify", "attack"] {
                let arguments = [command, "problem.toml", "people.csv", &cut, "-o", "out.csv"];
                assert_refused(at, &arguments, &[&format!("{cut}: is not a complete ")]);
            }
        }
    }
}

#[test]
fn problem_files() {
    let folder = folder();
    let at = folder.path();
    let equation = |feature: &str, formula: &str| {
        format!("[[equation]]\nfeature = \"{feature}\"\nformula = \"{formula}\"\n")
    };
    let cycle = equation("income", "0.1 * savings + u") + &equation("savings", "2 * income + u");
    let model = |bytes: &[u8]| std::fs::write(at.join("model.onnx"), bytes).unwrap();
    model(&unsupported());
    let onnx = "[classifier]\nonnx = \"model.onnx\"\n";
    for (text, words) in [
        (cycle + CLASSIFIER, &["line 16", "cycle", "`income` -> `savings`"][..]),
        (
            equation("savings", "2 * income + u ^ 2") + CLASSIFIER,
            &["line 16", "`savings`", "cannot be solved"],
        ),
        (equation("savings", "2 * incme + u") + CLASSIFIER, &["line 16", "`incme` is no feature"]),
        (onnx.into(), &["line 16", "model.onnx", "node `act`", "`Gelu` is not understood"]),
        ("[classifier]\nonnx = \"none.onnx\"\n".into(), &["line 16", "none.onnx: cannot be read"]),
        (format!("{onnx}activation = \"tanh\"\n"), &["line 18", "`onnx` and `activation`"]),
        (format!("{onnx}network = \"a.safetensors\"\n"), &["line 16", "`onnx` and `network`"]),
    ] {
        std::fs::write(at.join("bad.toml"), format!("{FEATURES}{text}")).unwrap();
        let words: Vec<&str> = words.iter().copied().chain(["bad.toml"]).collect();
        assert_refused(at, &["validate", "bad.toml"], &words);
        assert_refused(at, &["recourse", "bad.toml", "people.csv", "-o", "out.csv"], &words);
        assert_refused(at, &["attack", "bad.toml", "people.csv", "answers.csv", "-o", "out.csv"], &words);
        assert_refused(at, &["certify", "bad.toml", "people.csv", "answers.csv", "-o", "out.csv"], &words);
    }
    model(&unsupported()[..20]);
    std::fs::write(at.join("bad.toml"), format!("{FEATURES}{onnx}")).unwrap();
    assert_refused(at, &["validate", "bad.toml"], &["line 16", "model.onnx: is no whole ONNX file"]);
}

/// An ONNX model with one node, written byte by byte: fields are a number, a kind and a length.
fn unsupported() -> Vec<u8> {
    let field = |number: u8, bytes: &[u8]| [&[number << 3 | 2, bytes.len() as u8], bytes].concat();
    let name = |name: &str| field(1, name.as_bytes());
    let node = [name("x"), field(2, b"y"), field(3, b"act"), field(4, b"Gelu")].concat();
    let graph = [field(1, &node), field(11, &name("x")), field(12, &name("y"))].concat();
    field(7, &graph)
}

#[test]
fn tables_of_actions() {
    let folder = folder();
    let at = folder.path();
    for (name, text, words) in [
        (
            "nobody.csv",
            "id,action:income\nzoe,10\n",
            &["nobody.csv: has actions for 1 person who is not in people.csv: `zoe`; add", "--id"][..],
        ),
        (
            "twice.csv",
            "id,action:income\nana,10\nana,20\n",
            &["twice.csv, line 3, column `id`: `ana` is in line 2 already"],
        ),
        (
            "text.csv",
            "id,action:income\nana,ten\n",
            &["text.csv, line 2, column `action:income`", "`ten` is not a number; write a number"],
        ),
        ("none.csv", "id,income\nana,10\n", &["none.csv: has no column of actions", "`action:income`"]),
    ] {
        std::fs::write(at.join(name), text).unwrap();
        for command in ["certify", "attack"] {
            assert_refused(at, &[command, "problem.toml", "people.csv", name, "-o", "out.csv"], words);
        }
    }
    for command in ["certify", "attack"] {
        let over = [command, "problem.toml", "people.csv", "answers.csv", "-o", "answers.csv"];
        assert_refused(at, &over, &["answers.csv", "another name"]);
    }
}

#[test]
fn places_that_cannot_be_written_to() {
    let folder = folder();
    let at = folder.path();
    std::fs::create_dir(at.join("folder.csv")).unwrap();
    std::fs::create_dir(at.join("closed")).unwrap();
    let mut permissions = std::fs::metadata(at.join("closed")).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(at.join("closed"), permissions).unwrap();
    // To the administrator every folder is open but those of the system itself.
    let is_open = std::fs::write(at.join("closed/test"), "").is_ok();
    let closed = if is_open { "/sys/out.csv" } else { "closed/out.csv" };
    for output in ["missing/out.csv", "folder.csv", "people.csv/out.csv", closed] {
        let words = [output, "cannot be written"];
        assert_refused(at, &["recourse", "problem.toml", "people.csv", "-o", output], &words);
        assert_refused(at, &["certify", "problem.toml", "people.csv", "answers.csv", "-o", output], &words);
        assert_refused(at, &["attack", "problem.toml", "people.csv", "answers.csv", "-o", output], &words);
    }
    for output in ["missing/new.toml", closed] {
        assert_refused(at, &["init", "people.csv", "--target", "income", "-o", output], &[output]);
    }
}

/// A file may grow up to a limit, as on a disk that fills up, and no further.
#[test]
fn a_disk_that_fills_up() {
    let folder = folder();
    let at = folder.path();
    let many: String = (0..20_000).map(|i| format!("p{i},{},6000\n", 2000 + i % 700)).collect();
    std::fs::write(at.join("many.csv"), format!("id,income,savings\n{many}")).unwrap();
    done(at, &["recourse", "problem.toml", "many.csv", "-o", "promised.csv"]);
    for output in ["out.csv", "out.parquet", "out.arrow"] {
        for arguments in [
            &["recourse", "problem.toml", "many.csv", "-o", output][..],
            &["recourse", "problem.toml", "people.csv", "-o", "out.csv", "--proofs", "proofs.jsonl"],
            &["attack", "problem.toml", "many.csv", "promised.csv", "-o", output],
        ] {
            let before = contents(at);
            // Writing beyond the limit is an error, also where it would be a signal.
            for trap in ["trap '' XFSZ; ", ""] {
                let limited = format!("{trap}ulimit -f 1; exec \"$0\" \"$@\"");
                let run = Command::new("sh")
                    .args(["-c", &limited, env!("CARGO_BIN_EXE_surefoot")])
                    .args(arguments)
                    .current_dir(at)
                    .output()
                    .unwrap();
                let said = text(&run.stderr);
                assert_eq!(run.status.code(), Some(2), "{arguments:?}: {said}");
                assert!(
                    said.contains("cannot be written") && said.contains("too large"),
                    "{arguments:?}: {said}"
                );
                assert_eq!(contents(at), before, "{arguments:?}");
            }
        }
    }
}

/// Nothing that is written replaces what is read, and no other action is judged than the one given.
#[test]
fn outputs_and_actions() {
    let folder = folder();
    let at = folder.path();
    let people = |more: [&'static str; 2]| {
        [&["recourse", "problem.toml", "people.csv", "-o", "out.csv"][..], &more[..]].concat()
    };
    assert_refused(at, &people(["--proofs", "people.csv"]), &["--proofs people.csv", "another name"]);
    assert_refused(at, &people(["--proofs", "problem.toml"]), &["--proofs problem.toml", "another name"]);
    assert_refused(at, &people(["--proofs", "out.csv"]), &["--proofs out.csv", "another name"]);
    assert_eq!(std::fs::read_to_string(at.join("people.csv")).unwrap(), PEOPLE);
    let person = r#"{"income": 2400, "savings": 6000}"#;
    let plot = ["trade-off", "problem.toml", "--person", person, "--plot", "problem.toml"];
    assert_refused(at, &plot, &["--plot problem.toml", ".svg or .png"]);
    std::fs::write(at.join("table.csv"), "income,savings,good\n1,2,0\n3,4,1\n").unwrap();
    let wide = ["train", "table.csv", "--target", "good", "--hidden", "1000000000"];
    assert_refused(at, &wide, &["--hidden 1000000000", "at most 10000"]);
    // Settings that make no sense are refused also where they would make no difference.
    for gap in ["0", "-1", "1", "1.5", "nan", "inf"] {
        let gap = format!("--gap={gap}");
        let arguments = ["recourse", "problem.toml", "people.csv", "-o", "out.csv", &gap];
        assert_refused(at, &arguments, &["--gap", "less than 1"]);
    }
    assert_refused(at, &people(["--evaluations", "0"]), &["--evaluations 0", "at least 1"]);
    std::fs::write(at.join("told.csv"), "id,action:income\nana,1600\n").unwrap();
    let certify = ["certify", "problem.toml", "people.csv", "told.csv", "--evaluations", "0"];
    assert_refused(at, &certify, &["--evaluations 0", "at least 1"]);
    for (column, command) in [("action:age", "certify"), ("action:fooo", "attack")] {
        std::fs::write(at.join("told.csv"), format!("id,action:income,{column}\nana,1600,30\n")).unwrap();
        assert_refused(at, &[command, "problem.toml", "people.csv", "told.csv"], &["told.csv", column]);
    }
}
