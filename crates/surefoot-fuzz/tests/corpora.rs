//! Every target over its corpus and over seeded mutations of it: a short, deterministic fuzzing that
//! needs no tools.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

use surefoot_fuzz::{MAX_INPUT, Reading, TARGETS, Target, mutate, valid_proofs};

/// The largest file of a corpus.
const MAX_FILE: usize = 8 << 10;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name)
}

fn corpus(target: &Target) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder(target.name)).unwrap().map(|entry| entry.unwrap().path()).collect();
    // Folders have no order of their own.
    files.sort();
    files.into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

/// Runs the corpus of a target and as many mutations as are named here, or that many times as many as
/// the variable `SUREFOOT_FUZZ_TIMES` says.
fn run(name: &str, mutations: u64) {
    let times = std::env::var("SUREFOOT_FUZZ_TIMES").map_or(1, |times| times.parse::<u64>().unwrap());
    let mutations = mutations * times;
    let target = Target::named(name).unwrap();
    let corpus = corpus(&target);
    assert!(corpus.iter().all(|(_, bytes)| bytes.len() <= MAX_FILE));
    let accepted = corpus.iter().filter(|(path, bytes)| {
        println!("{}", path.display());
        target.run(bytes) == Reading::Accepted
    });
    // A corpus that is refused, after a change of a format, would test nothing but the first line of a
    // reader.
    assert!(accepted.count() >= 3, "{name}: the corpus is of an old format; see CONTRIBUTING.md");
    let mut accepted = 0;
    for seed in 0..mutations {
        let (path, bytes) = &corpus[seed as usize % corpus.len()];
        let changed = mutate(target.syntax, bytes, seed);
        println!("{} with the seed {seed}", path.display());
        accepted += u64::from(target.run(&changed[..changed.len().min(MAX_INPUT)]) == Reading::Accepted);
    }
    println!("{name}: {accepted} of {mutations} mutations accepted");
    assert!(accepted > 0 && accepted < mutations);
}

#[test]
fn every_target_has_a_test() {
    let source = include_str!("corpora.rs");
    for target in TARGETS {
        assert!(source.contains(&format!("run(\"{}\"", target.name)), "{}", target.name);
    }
}

#[test]
fn formula() {
    run("formula", 4000);
}

#[test]
fn constraint() {
    run("constraint", 10_000);
}

#[test]
fn problem_toml() {
    run("problem_toml", 2000);
}

#[test]
fn problem_json() {
    run("problem_json", 2000);
}

#[test]
fn csv() {
    run("csv", 4000);
}

#[test]
fn arrow() {
    run("arrow", 1000);
}

#[test]
fn parquet() {
    run("parquet", 1000);
}

#[test]
fn safetensors() {
    run("safetensors", 10_000);
}

#[test]
fn onnx() {
    run("onnx", 20_000);
}

#[test]
fn trees() {
    run("trees", 10_000);
}

#[test]
fn trees_json() {
    run("trees_json", 5000);
}

#[test]
fn proof() {
    run("proof", 3000);
}

#[test]
fn request() {
    run("request", 2000);
}

#[test]
#[ignore = "writes into the corpus; run it after a change of the proof format"]
fn write_valid_proofs() {
    fs::create_dir_all(folder("proof")).unwrap();
    for (name, text) in valid_proofs() {
        println!("{name}: {} bytes", text.len());
        fs::write(folder("proof").join(format!("{name}.json")), text).unwrap();
    }
}
