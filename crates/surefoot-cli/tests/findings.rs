//! Cases in which an earlier version said something false, or could be made to misbehave: each run as it was
//! found. They are looked for in `shared/findings` beside the checkout, or where `SUREFOOT_FINDINGS` says.
//!
//! Every command here has less than 1 GB of memory.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod command;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// A copy of the folder of a finding.
fn finding(name: &str) -> TempDir {
    let copy = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(command::finding(name)).unwrap() {
        let path = entry.unwrap().path();
        fs::write(copy.path().join(path.file_name().unwrap()), fs::read(path).unwrap()).unwrap();
    }
    copy
}

/// The command, with less than 1 GB of memory and half a minute of time.
fn run(folder: &TempDir, arguments: &str) -> Output {
    let line = format!("ulimit -v 1000000; exec timeout 30 {} {arguments}", env!("CARGO_BIN_EXE_surefoot"));
    Command::new("sh").args(["-c", &line]).current_dir(folder.path()).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// What a command says that ends with a code: 0 for success, 1 for a result that is bad news, 2 for input that is
/// refused.
fn said(folder: &TempDir, code: i32, arguments: &str) -> String {
    let output = run(folder, arguments);
    let said = text(&output.stdout) + &text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments}: {said}");
    said
}

/// The column of a table that was written.
fn column(folder: &TempDir, table: &str, name: &str) -> Vec<String> {
    let mut reader = csv::Reader::from_path(folder.path().join(table)).unwrap();
    let at = reader.headers().unwrap().iter().position(|header| header == name).unwrap();
    reader.records().map(|record| record.unwrap()[at].to_owned()).collect()
}

fn numbers(folder: &TempDir, table: &str, name: &str) -> Vec<f64> {
    column(folder, table, name).iter().map(|cell| cell.parse().unwrap()).collect()
}

fn assert_contains(said: &str, parts: &[&str]) {
    for part in parts {
        assert!(said.contains(part), "no `{part}` in: {said}");
    }
}

#[test]
#[cfg_attr(without_findings, ignore = "the findings are missing")]
fn tradeoff_false_impossible() {
    let folder = finding("tradeoff_false_impossible");
    assert_contains(&said(&folder, 0, "certify p.toml x.csv act.csv"), &["1 is proven"]);
    let person = r#"'{"x0": 0, "x1": 0, "x2": 0, "x3": 0, "x4": 0, "x5": 0, "x6": 0, "x7": 0}'"#;
    let output = run(&folder, &format!("trade-off p.toml --person {person} --evaluations 500"));
    let said = text(&output.stdout) + &text(&output.stderr);
    assert!(!said.contains("no action"), "{said}");
}

#[test]
#[cfg_attr(without_findings, ignore = "the findings are missing")]
fn tradeoff_slow() {
    let folder = finding("tradeoff_slow");
    let start = Instant::now();
    run(&folder, "trade-off problem.toml --person \"$(cat per.json)\" --epsilons 0.2 --evaluations 2000");
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[test]
#[cfg_attr(without_findings, ignore = "the findings are missing")]
fn attack_boundary() {
    let folder = finding("attack_boundary");
    assert_contains(&said(&folder, 1, "attack problem.toml people.csv actions.csv"), &["9 are broken"]);
}

#[test]
#[cfg_attr(without_findings, ignore = "the findings are missing")]
fn attack_misses() {
    for case in ["1249", "7063", "7066"] {
        let folder = finding(&format!("attack_misses/{case}"));
        assert_contains(&said(&folder, 1, "attack problem.toml people.csv actions.csv"), &["1 is broken"]);
    }
}

#[test]
#[cfg_attr(without_findings, ignore = "the findings are missing")]
fn sqrt_undefined() {
    let folder = finding("sqrt_undefined");
    for (problem, people) in [("problem.toml", "people.csv"), ("realistic.toml", "realistic.csv")] {
        said(&folder, 0, &format!("recourse {problem} {people} -o a.csv --proofs p.jsonl"));
        assert_contains(&said(&folder, 0, &format!("verify {problem} p.jsonl")), &["verified"]);
        said(&folder, 0, &format!("certify {problem} {people} a.csv"));
    }
}

#[test]
#[cfg_attr(without_findings, ignore = "the findings are missing")]
fn linear_constraint_undecided() {
    let folder = finding("linear_constraint_undecided");
    said(&folder, 0, "recourse problem.toml people.csv -o a.csv");
    assert!(column(&folder, "a.csv", "status").iter().all(|status| status == "found"));
    for (cost, bound) in numbers(&folder, "a.csv", "cost").iter().zip(numbers(&folder, "a.csv", "cost_bound"))
    {
        assert!(bound <= *cost && bound >= cost * (1.0 - 1e-6), "{bound} {cost}");
    }
}

#[test]
#[cfg_attr(without_findings, ignore = "the findings are missing")]
fn log_undecided() {
    let folder = finding("log_undecided");
    let mut least = f64::INFINITY;
    for evaluations in ["", "--evaluations 240000"] {
        let said = said(&folder, 0, &format!("recourse problem.toml people.csv -o a.csv {evaluations}"));
        assert!(!said.contains("inf"), "{said}");
        assert_eq!(column(&folder, "a.csv", "status"), ["found"]);
        let cost = numbers(&folder, "a.csv", "cost")[0];
        assert!(cost <= 1.01 * least && cost < 1.5, "{cost} {least}");
        least = cost;
    }
}

#[test]
#[cfg_attr(without_findings, ignore = "the findings are missing")]
fn constraint_tolerance() {
    let folder = finding("constraint_tolerance");
    for (problem, person, least) in
        [("minimal.toml", "999999.99,0", 1e6), ("timestamp.toml", "1699999997,0", 1.7e9)]
    {
        fs::write(folder.path().join("one.csv"), format!("c,z\n{person}\n")).unwrap();
        said(&folder, 0, &format!("recourse {problem} one.csv -o a.csv"));
        let reached = numbers(&folder, "a.csv", "counterfactual:c")[0];
        assert!(reached >= least, "{reached}");
    }
    said(&folder, 0, "recourse problem.toml people.csv -o a.csv");
    let reached = column(&folder, "a.csv", "counterfactual:c");
    assert!(reached.iter().any(|cell| !cell.is_empty()));
    for cell in reached.iter().filter(|cell| !cell.is_empty()) {
        assert!(81.2749 * cell.parse::<f64>().unwrap() >= -2633280.0, "{cell}");
    }
}

#[test]
#[cfg_attr(without_findings, ignore = "the findings are missing")]
fn false_impossible_overflow() {
    let folder = finding("false_impossible_overflow");
    let said = said(&folder, 2, "recourse p.toml x.csv -o o.csv --proofs pr.jsonl");
    assert_contains(&said, &["1e100"]);
    assert!(!folder.path().join("o.csv").exists() && !folder.path().join("pr.jsonl").exists());
}

#[test]
#[cfg_attr(without_findings, ignore = "the findings are missing")]
fn infinite_action() {
    let folder = finding("infinite_action");
    assert_contains(&said(&folder, 2, "recourse p.toml x.csv -o o.csv"), &["1e100"]);
    assert!(!folder.path().join("o.csv").exists());
}

#[test]
#[cfg_attr(without_findings, ignore = "the findings are missing")]
fn pid_collision() {
    let folder = finding("pid_collision");
    fs::write(folder.path().join("victim.txt"), "precious\n").unwrap();
    let line = format!(
        "ln -sf victim.txt out.csv.$$.partial; exec {} recourse problem.toml people.csv -o out.csv",
        env!("CARGO_BIN_EXE_surefoot")
    );
    let output = Command::new("sh").args(["-c", &line]).current_dir(folder.path()).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(fs::read_to_string(folder.path().join("victim.txt")).unwrap(), "precious\n");
    assert_eq!(column(&folder, "out.csv", "id").len(), 3);
}

#[test]
#[cfg_attr(without_findings, ignore = "the findings are missing")]
fn permissions_widened() {
    let folder = finding("permissions_widened");
    let answers = folder.path().join("o.csv");
    fs::write(&answers, "").unwrap();
    fs::set_permissions(&answers, fs::Permissions::from_mode(0o600)).unwrap();
    said(&folder, 0, "recourse problem.toml people.csv -o o.csv");
    assert_eq!(fs::metadata(&answers).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
#[cfg_attr(without_findings, ignore = "the findings are missing")]
fn model_overwritten() {
    let folder = finding("model_overwritten");
    let model = folder.path().join("classifier.safetensors");
    let before = fs::read(&model).unwrap();
    let said = said(&folder, 2, "recourse problem.toml people.csv -o o.csv --proofs classifier.safetensors");
    assert_contains(&said, &["classifier.safetensors"]);
    assert_eq!(fs::read(&model).unwrap(), before);
}

#[test]
#[cfg_attr(without_findings, ignore = "the findings are missing")]
fn arrow_ipc_alloc_abort() {
    let folder = finding("arrow_ipc_alloc_abort");
    assert_contains(&said(&folder, 2, "recourse problem.toml people.arrow -o o.csv"), &["people.arrow"]);
}

#[test]
#[cfg_attr(without_findings, ignore = "the findings are missing")]
fn parquet_bomb() {
    let folder = finding("parquet_bomb");
    for bomb in ["bomb.parquet", "bomb.arrow"] {
        let said = said(&folder, 2, &format!("recourse problem.toml {bomb} -o o.parquet"));
        assert_contains(&said, &[bomb, "SUREFOOT_"]);
    }
}

#[test]
#[cfg_attr(without_findings, ignore = "the findings are missing")]
fn escape_injection() {
    let folder = finding("escape_injection");
    for table in ["esc.csv", "esc2.csv"] {
        let output = run(&folder, &format!("recourse problem.toml {table} -o o.csv"));
        let said = text(&output.stdout) + &text(&output.stderr);
        assert!(!said.chars().any(|c| c.is_control() && c != '\n'), "{said:?}");
    }
}

#[test]
#[cfg_attr(without_findings, ignore = "the findings are missing")]
fn special_files() {
    let folder = finding("special_files");
    let made = Command::new("mkfifo").arg(folder.path().join("ext.data")).status().unwrap();
    assert!(made.success());
    assert_contains(&said(&folder, 2, "validate p.toml"), &["ext.data"]);
    let zero =
        "epsilon = 0.1\n[[feature]]\nname = \"a\"\nchange = \"any\"\n[classifier]\nnetwork = \"/dev/zero\"\n";
    fs::write(folder.path().join("zero.toml"), zero).unwrap();
    assert_contains(&said(&folder, 2, "validate zero.toml"), &["/dev/zero"]);
    fs::write(folder.path().join("q.toml"), zero.replace("network = \"/dev/zero\"", LINEAR)).unwrap();
    assert_contains(&said(&folder, 2, "verify q.toml /dev/zero"), &["/dev/zero"]);
}

const LINEAR: &str = "coefficients = [1.0]\nintercept = 0.0";

#[test]
#[cfg_attr(without_findings, ignore = "the findings are missing")]
fn slow_inputs() {
    let folder = finding("slow_inputs");
    let made = Command::new("python3").arg("make.py").current_dir(folder.path()).status().unwrap();
    assert!(made.success());
    for arguments in ["validate p.toml many.csv", "validate chain.toml --svg g.svg"] {
        let start = Instant::now();
        run(&folder, arguments);
        assert!(start.elapsed() < Duration::from_secs(1), "{arguments}: {:?}", start.elapsed());
    }
    assert!(folder.path().join("g.svg").exists());
}

#[test]
#[cfg_attr(without_findings, ignore = "the findings are missing")]
fn svg_not_well_formed() {
    let folder = finding("svg_not_well_formed");
    said(&folder, 0, "validate p.toml --svg g.svg");
    assert!(is_xml(&folder.path().join("g.svg")));
}

/// Whether Python's parser reads a file.
fn is_xml(path: &Path) -> bool {
    let parse = "import sys, xml.dom.minidom as m; m.parse(sys.argv[1])";
    Command::new("python3").args(["-c", parse]).arg(path).status().unwrap().success()
}

#[test]
#[cfg_attr(without_findings, ignore = "the findings are missing")]
fn wrong_line_unclosed_quote() {
    let folder = finding("wrong_line_unclosed_quote");
    assert_contains(&said(&folder, 2, "recourse p.toml q.csv -o o.csv"), &["line 3"]);
}
