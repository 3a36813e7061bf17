//! Which files a problem file may name: any, or only those in its own folder. Whatever it names must
//! be a regular file.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

use ndarray::array;
use surefoot::{Activation, Layer, Network, ProblemFile};

/// A network that a problem of one feature may name.
fn write_network(path: &Path) {
    let layer = |weight: f64| Layer { weight: array![[weight]], bias: array![0.1] };
    let network = Network::new(vec![layer(1.0), layer(2.0)], Activation::Tanh).unwrap();
    Network::write(path, &[("", &network)]).unwrap();
}

fn text(network: &str) -> String {
    format!("epsilon = 0.1\n[[feature]]\nname = \"a\"\n[classifier]\nnetwork = {network:?}\n")
}

/// What is wrong with a problem that names this, if anything: read as it is, and confined.
fn mistakes(folder: &Path, network: &str) -> [Option<String>; 2] {
    let path = folder.join("problem.toml");
    fs::write(&path, text(network)).unwrap();
    [ProblemFile::read(&path), ProblemFile::read_confined(&path)]
        .map(|file| file.unwrap().problem().err().map(|error| error.to_string()))
}

#[test]
fn a_confined_problem_names_only_files_in_its_own_folder() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("problem");
    fs::create_dir_all(folder.join("models")).unwrap();
    fs::create_dir(root.path().join("elsewhere")).unwrap();
    // Its name begins with that of the folder.
    fs::create_dir(root.path().join("problem2")).unwrap();
    for path in ["problem/models/own", "elsewhere/other", "problem2/other"] {
        write_network(&root.path().join(path));
    }
    symlink("models/own", folder.join("link-inside")).unwrap();
    symlink(folder.join("models/own"), folder.join("absolute-link-inside")).unwrap();
    symlink("../elsewhere/other", folder.join("link-outside")).unwrap();
    symlink("../problem2/other", folder.join("link-to-neighbour")).unwrap();
    symlink("link-outside", folder.join("link-to-link")).unwrap();
    symlink("../elsewhere", folder.join("linked-folder")).unwrap();
    for inside in ["models/own", "./models/own", "link-inside", "absolute-link-inside"] {
        assert_eq!(mistakes(&folder, inside), [None, None], "{inside}");
    }
    let absolute = folder.join("models/own");
    for outside in [
        "../elsewhere/other",
        "models/../models/own",
        absolute.to_str().unwrap(),
        "link-outside",
        "link-to-neighbour",
        "link-to-link",
        "linked-folder/other",
        "../problem/models/own",
    ] {
        let [any, confined] = mistakes(&folder, outside);
        assert_eq!(any, None, "{outside}");
        let said = confined.unwrap();
        assert!(said.contains("line 5") || said.contains("line 4"), "{said}");
        assert!(said.contains("outside the folder of the problem file"), "{outside}: {said}");
    }
    // Whether a file outside exists is not disclosed.
    let [_, missing] = mistakes(&folder, "../elsewhere/none");
    assert!(missing.unwrap().contains("outside the folder of the problem file"));
}

#[test]
fn a_confined_problem_in_the_current_folder() {
    // The path has no folder at all.
    let file = ProblemFile::parse_confined(&text("Cargo.toml"), Path::new("problem.toml")).unwrap();
    let said = file.problem().unwrap_err().to_string();
    assert!(said.contains("is no whole safetensors file"), "{said}");
    let file = ProblemFile::parse_confined(&text("../../Cargo.toml"), Path::new("problem.toml")).unwrap();
    let said = file.problem().unwrap_err().to_string();
    assert!(said.contains("outside the folder"), "{said}");
}

#[test]
fn only_regular_files_are_read() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path();
    assert!(Command::new("mkfifo").arg(folder.join("fifo")).status().unwrap().success());
    let _socket = UnixListener::bind(folder.join("socket")).unwrap();
    fs::create_dir(folder.join("folder")).unwrap();
    symlink("/dev/zero", folder.join("zero")).unwrap();
    symlink("fifo", folder.join("link")).unwrap();
    for (name, kind) in [
        ("fifo", "a pipe"),
        ("link", "a pipe"),
        ("socket", "a socket"),
        ("folder", "a folder"),
        ("zero", "a device"),
        ("/dev/zero", "a device"),
    ] {
        let said = mistakes(folder, name)[0].clone().unwrap();
        assert!(said.contains(&format!("cannot be read: it is {kind}; give a regular file")), "{said}");
        let said = ProblemFile::read(folder.join(name)).unwrap_err().to_string();
        assert!(said.contains(kind), "{said}");
        let said = Network::read_onnx(folder.join(name)).unwrap_err().to_string();
        assert!(said.contains(kind), "{said}");
    }
}

#[test]
fn files_without_end_are_not_read_to_the_end() {
    let root = tempfile::tempdir().unwrap();
    // It takes no room on disk.
    let path = root.path().join("large");
    fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
    let said = mistakes(root.path(), "large")[0].clone().unwrap();
    assert!(said.contains("it has more than 1073741824 bytes"), "{said}");
}
