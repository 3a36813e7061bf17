//! Files that commands read and write: who may read them, what they never replace, and what is no
//! file at all.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod command;
#[path = "command/onnx.rs"]
mod onnx;

use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use command::{done, refused, text};
use ndarray::{Array1, Array2};
use surefoot::{Activation, Layer, Network};
use tempfile::TempDir;

const FEATURES: &str = "epsilon = 0.01\n\
    [[feature]]\nname = \"income\"\nchange = \"increase\"\n\
    [[feature]]\nname = \"savings\"\nchange = \"increase\"\n";
const EQUATION: &str =
    "[[equation]]\nfeature = \"savings\"\nparents = [\"income\"]\nnetwork = \"equations.safetensors\"\n";
const PEOPLE: &str = "income,savings,paid\n-1,-1,0\n-0.5,-0.8,0\n1,1,1\n0.5,0.9,1\n-0.9,0.1,0\n0.8,0.2,1\n";
const PERSON: &str = r#"{"income": -1, "savings": -1}"#;

fn write_network(path: &Path, inputs: usize) {
    let layer = |rows: usize, columns: usize| Layer {
        weight: Array2::from_elem((rows, columns), 0.5),
        bias: Array1::zeros(rows),
    };
    let network = Network::new(vec![layer(2, inputs), layer(1, 2)], Activation::Tanh).unwrap();
    Network::write(path, &[("", &network)]).unwrap();
}

/// Problems with a network, with an ONNX model whose weights are in a third file, and linear.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let problem = |name: &str, rest: &str| fs::write(at.join(name), format!("{FEATURES}{rest}")).unwrap();
    problem("linear.toml", "[classifier]\ncoefficients = [1, 1]\nintercept = 0\n");
    problem("network.toml", &format!("{EQUATION}[classifier]\nnetwork = \"classifier.safetensors\"\n"));
    problem("onnx.toml", "[classifier]\nonnx = \"model.onnx\"\n");
    write_network(&at.join("classifier.safetensors"), 2);
    write_network(&at.join("equations.safetensors"), 1);
    fs::write(at.join("model.onnx"), onnx::with_external_weights(2, "model.data")).unwrap();
    fs::write(at.join("model.data"), onnx::weights(&[1.0, 2.0])).unwrap();
    fs::write(at.join("people.csv"), PEOPLE).unwrap();
    fs::write(at.join("graph.txt"), "income -> savings\n").unwrap();
    done(at, &["recourse", "linear.toml", "people.csv", "-o", "answers.csv"]);
    folder
}

/// Every file with its content.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let mut all: Vec<(String, Vec<u8>)> = entries
        .filter(|entry| entry.path().is_file())
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
        .collect();
    all.sort();
    all
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o777
}

/// Every way to write a file, `OUT` standing for its name, with what the command reads.
const WRITING: &[(&[&str], &[&str])] = &[
    (&["recourse", "P", "people.csv", "-o", "OUT"], &["P", "people.csv", "MODELS"]),
    (
        &["recourse", "P", "people.csv", "-o", "o.csv", "--proofs", "OUT"],
        &["P", "people.csv", "MODELS", "o.csv"],
    ),
    (
        &["certify", "P", "people.csv", "answers.csv", "-o", "OUT"],
        &["P", "people.csv", "answers.csv", "MODELS"],
    ),
    (
        &["attack", "P", "people.csv", "answers.csv", "-o", "OUT"],
        &["P", "people.csv", "answers.csv", "MODELS"],
    ),
    (&["trade-off", "P", "--person", PERSON, "--plot", "OUT"], &["P", "MODELS"]),
    (&["validate", "P", "people.csv", "--svg", "OUT"], &["P", "people.csv", "MODELS"]),
    (
        &[
            "train",
            "people.csv",
            "--target",
            "paid",
            "--problem",
            "P",
            "--hidden",
            "2",
            "--epochs",
            "1",
            "--log",
            "OUT",
        ],
        &["P", "people.csv", "MODELS"],
    ),
    (
        &[
            "train",
            "people.csv",
            "--target",
            "paid",
            "--problem",
            "P",
            "--search",
            "--epochs",
            "1",
            "--plot",
            "OUT",
        ],
        &["P", "people.csv", "MODELS"],
    ),
    (
        &[
            "train",
            "people.csv",
            "--target",
            "paid",
            "--problem",
            "P",
            "--hidden",
            "2",
            "--epochs",
            "1",
            "--output",
            "OUT",
        ],
        &["P", "people.csv", "equations.safetensors", "model.onnx", "model.data"],
    ),
    (
        &[
            "fit",
            "people.csv",
            "--graph",
            "graph.txt",
            "--problem",
            "P",
            "--shape",
            "network",
            "--output",
            "OUT",
        ],
        &["P", "people.csv", "graph.txt", "classifier.safetensors", "model.onnx", "model.data"],
    ),
    (&["init", "people.csv", "--target", "paid", "-o", "OUT"], &["people.csv"]),
];

#[test]
fn no_output_replaces_what_is_read_or_another_output() {
    let folder = folder();
    let at = folder.path();
    let models = [
        ("linear.toml", &[][..]),
        ("network.toml", &["classifier.safetensors", "equations.safetensors"]),
        ("onnx.toml", &["model.onnx", "model.data"]),
    ];
    let mut tried = 0;
    for (problem, models) in models {
        for (arguments, inputs) in WRITING {
            let inputs = inputs.iter().flat_map(|&input| match input {
                "P" => vec![problem],
                "MODELS" => models.to_vec(),
                input => vec![input],
            });
            // Only files of this problem, and what every command reads.
            let is_model = |name: &str| name.starts_with("model.") || name.ends_with("safetensors");
            for input in inputs.filter(|input| !is_model(input) || models.contains(input)) {
                tried += assert_not_replaced(at, problem, arguments, input);
            }
        }
    }
    assert!(tried > 100, "{tried}");
}

/// Names the input in several ways; how often it was refused.
fn assert_not_replaced(at: &Path, problem: &str, arguments: &[&str], input: &str) -> usize {
    // The ending must be one that the command takes.
    let ending = match arguments {
        [.., "--plot" | "--svg", _] => "svg",
        [.., "-o" | "--log", _] if arguments[0] != "init" => "csv",
        _ => "any",
    };
    let (soft, hard) = (format!("soft.{ending}"), format!("hard.{ending}"));
    symlink(input, at.join(&soft)).unwrap();
    let is_there = at.join(input).exists();
    if is_there {
        fs::hard_link(at.join(input), at.join(&hard)).unwrap();
    }
    let before = contents(at);
    let mut tried = 0;
    for output in [input, &format!("./{input}"), &soft, &hard] {
        if output == hard && !is_there {
            continue;
        }
        let arguments: Vec<&str> = arguments
            .iter()
            .map(|&argument| match argument {
                "P" => problem,
                "OUT" => output,
                argument => argument,
            })
            .collect();
        let said = refused(at, &arguments);
        assert!(said.contains(output), "{arguments:?}: {said}");
        let words = ["give another name", "what kind of", "already exists"];
        assert!(words.iter().any(|words| said.contains(words)), "{arguments:?}: {said}");
        if output == soft || output == hard {
            let words = ["which it would replace", "already exists"];
            assert!(words.iter().any(|words| said.contains(words)), "{arguments:?}: {said}");
        }
        assert_eq!(contents(at), before, "{arguments:?}");
        tried += 1;
    }
    for name in [soft, hard] {
        let _ = fs::remove_file(at.join(name));
    }
    tried
}

/// Training again replaces the network that it wrote the last time; nothing else may.
#[test]
fn a_classifier_can_be_trained_again() {
    let folder = folder();
    let at = folder.path();
    for _ in 0..2 {
        let train = ["train", "people.csv", "--target", "paid", "--problem", "network.toml", "--epochs", "1"];
        let more = ["--hidden", "2", "--test", "0", "--output", "classifier.safetensors"];
        done(at, &[&train[..], &more[..]].concat());
        let fit = ["fit", "people.csv", "--graph", "graph.txt", "--problem", "network.toml", "--epochs", "1"];
        let more = ["--shape", "network", "--held-out", "0", "--output", "equations.safetensors"];
        done(at, &[&fit[..], &more[..]].concat());
    }
}

#[test]
fn who_may_read_what_is_written() {
    let folder = folder();
    let at = folder.path();
    let run = |umask: &str, arguments: &[&str]| {
        let script = format!("umask {umask}; exec \"$0\" \"$@\"");
        let run = Command::new("sh")
            .args(["-c", &script, env!("CARGO_BIN_EXE_surefoot")])
            .args(arguments)
            .current_dir(at)
            .output()
            .unwrap();
        assert!(run.status.code().unwrap() < 2, "{}", text(&run.stderr));
    };
    let commands: &[(&[&str], &[&str])] = &[
        (
            &["recourse", "linear.toml", "people.csv", "-o", "a.csv", "--proofs", "p.jsonl"],
            &["a.csv", "p.jsonl"],
        ),
        (&["recourse", "linear.toml", "people.csv", "-o", "a.parquet"], &["a.parquet"]),
        (&["recourse", "linear.toml", "people.csv", "-o", "a.arrow"], &["a.arrow"]),
        (&["certify", "linear.toml", "people.csv", "answers.csv", "-o", "c.csv"], &["c.csv"]),
        (&["attack", "linear.toml", "people.csv", "answers.csv", "-o", "b.csv"], &["b.csv"]),
    ];
    let public: &[(&[&str], &[&str])] = &[
        (&["validate", "linear.toml", "--svg", "g.svg"], &["g.svg"]),
        (&["trade-off", "linear.toml", "--person", PERSON, "--plot", "t.png"], &["t.png"]),
        (
            &[
                "train",
                "people.csv",
                "--target",
                "paid",
                "--problem",
                "new.toml",
                "--hidden",
                "2",
                "--epochs",
                "1",
            ],
            &["new.toml", "new.classifier.safetensors"],
        ),
    ];
    for (umask, open) in [("000", 0o666), ("002", 0o664), ("022", 0o644), ("077", 0o600), ("027", 0o640)] {
        for (expected, commands) in [(0o600, commands), (open, public)] {
            for (arguments, outputs) in commands {
                run(umask, arguments);
                for output in *outputs {
                    assert_eq!(mode(&at.join(output)), expected, "{output}, umask {umask}");
                    fs::remove_file(at.join(output)).unwrap();
                }
            }
        }
    }
    // A file that is replaced keeps its permissions, whatever the umask.
    for (umask, before) in [("022", 0o600), ("077", 0o644), ("000", 0o640), ("022", 0o660)] {
        for (arguments, outputs) in commands.iter().chain(public.iter().take(2)) {
            for output in *outputs {
                fs::write(at.join(output), "before").unwrap();
                fs::set_permissions(at.join(output), fs::Permissions::from_mode(before)).unwrap();
            }
            run(umask, arguments);
            for output in *outputs {
                assert_eq!(mode(&at.join(output)), before, "{output}, umask {umask}");
            }
        }
        fs::set_permissions(at.join("linear.toml"), fs::Permissions::from_mode(before)).unwrap();
        run(umask, &["fit", "people.csv", "--graph", "graph.txt", "--problem", "linear.toml"]);
        assert_eq!(mode(&at.join("linear.toml")), before);
    }
}

/// Opening a pipe would wait for ever, and a device may have no end.
#[test]
fn only_files_are_read() {
    let folder = folder();
    let at = folder.path();
    let fifo = |name: &str| assert!(Command::new("mkfifo").arg(at.join(name)).status().unwrap().success());
    ["fifo.csv", "fifo.parquet", "fifo.toml", "fifo.onnx"].into_iter().for_each(fifo);
    symlink("/dev/zero", at.join("zero.csv")).unwrap();
    fs::create_dir(at.join("folder.csv")).unwrap();
    for (name, kind) in [
        ("fifo.csv", "a pipe"),
        ("fifo.parquet", "a pipe"),
        ("zero.csv", "a device"),
        ("folder.csv", "a folder"),
        ("/dev/zero", "a device"),
    ] {
        let words = format!("{name}: cannot be read: it is {kind}; give a regular file");
        for arguments in [
            &["recourse", "linear.toml", name, "-o", "out.csv"][..],
            &["validate", "linear.toml", name],
            &["certify", "linear.toml", name, "answers.csv"],
            &["certify", "linear.toml", "people.csv", name],
            &["attack", "linear.toml", "people.csv", name],
            &["init", name, "--target", "paid"],
            &["train", name, "--target", "paid", "--problem", "linear.toml"],
            &["fit", name, "--graph", "graph.txt", "--problem", "linear.toml"],
        ] {
            let said = refused(at, arguments);
            assert!(said.contains(&words), "{arguments:?}: {said}");
        }
    }
    for name in ["fifo.toml", "folder.csv", "/dev/zero"] {
        for arguments in [
            &["validate", name][..],
            &["recourse", name, "people.csv", "-o", "out.csv"],
            &["verify", "linear.toml", name],
            &["fit", "people.csv", "--graph", name, "--problem", "linear.toml"],
        ] {
            let said = refused(at, arguments);
            assert!(said.contains(name) && said.contains("; give a regular file"), "{arguments:?}: {said}");
        }
    }
    for field in ["network", "onnx"] {
        for name in ["fifo.onnx", "/dev/zero"] {
            fs::write(at.join("bad.toml"), format!("{FEATURES}[classifier]\n{field} = \"{name}\"\n"))
                .unwrap();
            let said = refused(at, &["validate", "bad.toml"]);
            assert!(said.contains(name) && said.contains("; give a regular file"), "{said}");
        }
    }
}

/// Standard input is a pipe; the message says so rather than that its name has no ending.
#[test]
fn tables_do_not_come_from_pipes() {
    let folder = folder();
    for script in [
        "cat people.csv | \"$0\" recourse linear.toml /dev/stdin -o out.csv",
        "\"$0\" recourse linear.toml <(cat people.csv) -o out.csv",
        "\"$0\" verify linear.toml <(cat answers.csv)",
        "\"$0\" check <(cat linear.toml)",
    ] {
        let run = Command::new("bash")
            .args(["-c", script, env!("CARGO_BIN_EXE_surefoot")])
            .current_dir(folder.path())
            .output()
            .unwrap();
        let said = text(&run.stderr);
        assert_eq!(run.status.code(), Some(2), "{script}: {said}");
        assert!(said.contains("it is a pipe; give a regular file"), "{script}: {said}");
    }
}

/// The weights of an ONNX model may be in a file beside it, and nowhere else.
#[test]
fn weights_beside_an_onnx_model() {
    let folder = folder();
    let at = folder.path();
    let recourse = ["recourse", "onnx.toml", "people.csv", "-o", "out.csv"];
    done(at, &recourse);
    let data = at.join("model.data");
    fs::create_dir(at.join("elsewhere")).unwrap();
    fs::rename(&data, at.join("elsewhere/secret")).unwrap();
    symlink("elsewhere/secret", &data).unwrap();
    let said = refused(at, &recourse);
    assert!(said.contains("`model.data`, which is a link that leads to another folder"), "{said}");
    fs::remove_file(&data).unwrap();
    assert!(Command::new("mkfifo").arg(&data).status().unwrap().success());
    let said = refused(at, &recourse);
    assert!(said.contains("`model.data`, which is no regular file"), "{said}");
    fs::remove_file(&data).unwrap();
    // Where model and weights are links into one folder, as some caches of models have them.
    fs::rename(at.join("model.onnx"), at.join("elsewhere/0123")).unwrap();
    symlink("elsewhere/0123", at.join("model.onnx")).unwrap();
    symlink("elsewhere/secret", &data).unwrap();
    done(at, &recourse);
    // A link within the folder.
    let said =
        refused(at, &["recourse", "onnx.toml", "people.csv", "-o", "out.csv", "--proofs", "model.data"]);
    assert!(said.contains("--proofs model.data: is a file of the classifier"), "{said}");
}

/// A line without end takes no more memory than the longest that is read.
#[test]
fn proofs_without_end() {
    let folder = folder();
    let at = folder.path();
    done(at, &["recourse", "linear.toml", "people.csv", "-o", "out.csv", "--proofs", "proofs.jsonl"]);
    done(at, &["verify", "linear.toml", "proofs.jsonl"]);
    let mut file = fs::File::options().append(true).open(at.join("proofs.jsonl")).unwrap();
    let lines = fs::read_to_string(at.join("proofs.jsonl")).unwrap().lines().count();
    file.write_all(b"{\"id\":\"").unwrap();
    // It takes no room on disk.
    file.set_len(1 << 40).unwrap();
    let limited = "ulimit -v 2000000; exec \"$0\" \"$@\"";
    let run = Command::new("sh")
        .args([
            "-c",
            limited,
            env!("CARGO_BIN_EXE_surefoot"),
            "certify",
            "linear.toml",
            "--check",
            "proofs.jsonl",
        ])
        .current_dir(at)
        .output()
        .unwrap();
    let said = text(&run.stderr);
    assert_eq!(run.status.code(), Some(2), "{said}");
    assert!(said.contains(&format!("proofs.jsonl, line {}: has more than", lines + 1)), "{said}");
}
