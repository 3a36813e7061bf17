//! Problems whose files change while they are served.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use super::client::{Service, examples};
use super::command::{INCOME_AND_AGE, folder_with, refused};

fn with_epsilon(epsilon: f64) -> String {
    format!("epsilon = {epsilon}\n{INCOME_AND_AGE}")
}

/// Replaces a file as an editor does that cares.
fn replace(path: &Path, text: &str) {
    let beside = path.with_extension("new");
    fs::write(&beside, text).unwrap();
    fs::rename(&beside, path).unwrap();
}

fn epsilon(service: &Service, name: &str) -> Value {
    service.get(&format!("/v1/problem?name={name}")).json()["epsilon"].clone()
}

#[test]
fn an_invalid_file_is_reported_and_the_old_problem_kept() {
    let folder = folder_with(&[("problem.toml", &with_epsilon(0.1)), ("loan.toml", &with_epsilon(0.2))]);
    let at = folder.path();
    fs::create_dir(at.join("house")).unwrap();
    fs::write(at.join("house/problem.toml"), with_epsilon(0.3)).unwrap();
    fs::write(at.join("broken.toml"), "epsilon = -1\n").unwrap();
    fs::remove_file(at.join("problem.toml")).unwrap();
    let service = Service::start(at, ".", &[]);
    let listed = service.get("/v1/problems").json();
    let names: Vec<&str> = listed["problems"]
        .as_array()
        .unwrap()
        .iter()
        .map(|listed| listed["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["broken", "house", "loan"]);
    assert!(listed["problems"][0]["mistake"].as_str().unwrap().contains("epsilon"));
    assert_eq!(service.get("/v1/problem?name=broken").fault().0, "unknown-problem");
    assert_eq!(service.get("/v1/problem").fault().0, "unknown-problem");
    assert_eq!((epsilon(&service, "loan"), epsilon(&service, "house")), (json!(0.2), json!(0.3)));
    let digest = service.get("/v1/problem?name=loan").json()["digest"].clone();

    replace(&at.join("loan.toml"), "epsilon = [\n");
    assert!(service.wait_for("problem loan:").contains("loan.toml"));
    assert_eq!(epsilon(&service, "loan"), 0.2);
    assert_eq!(service.get("/v1/problem?name=loan").json()["digest"], digest);
    let listed = service.get("/v1/problems").json();
    assert!(listed["problems"][2]["mistake"].as_str().unwrap().contains("line 1"), "{listed}");
    assert_eq!(service.measured("surefoot_problems_mistaken"), 2.0);

    replace(&at.join("loan.toml"), &with_epsilon(0.25));
    service.wait_for("problem loan: read");
    assert_eq!(epsilon(&service, "loan"), 0.25);
    assert_ne!(service.get("/v1/problem?name=loan").json()["digest"], digest);
    // Files come and go.
    replace(&at.join("broken.toml"), &with_epsilon(0.4));
    service.wait_for("problem broken: read");
    fs::remove_dir_all(at.join("house")).unwrap();
    service.wait_for("problem house");
    assert_eq!(service.get("/v1/problem?name=house").status, 404);
    assert_eq!(service.measured("surefoot_problems"), 2.0);
}

/// Whoever asks while files are replaced again and again gets an answer to one of the problems, whole.
#[test]
fn answers_in_the_middle_of_a_change_are_whole() {
    let folder = folder_with(&[("problem.toml", &with_epsilon(0.1))]);
    let service = Service::start(folder.path(), "problem.toml", &[]);
    let path = folder.path().join("problem.toml");
    let question = json!({"people": [{"id": "ana", "values": {"income": 2400, "age": 40}}]});
    let answer = |epsilon: f64| {
        let mut question = question.clone();
        question["epsilon"] = epsilon.into();
        service.ask("/v1/recourse", &question)["answers"].clone()
    };
    let expected = [(0.1, answer(0.1)), (0.2, answer(0.2))];
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for epsilon in [0.2, 0.1, 0.2] {
                replace(&path, &with_epsilon(epsilon));
                service.wait_for("read");
                replace(&path, "epsilon = \"much\"\n");
                service.wait_for("epsilon");
            }
            is_over.store(true, Ordering::Relaxed);
        });
        let mut seen = [0, 0];
        while !is_over.load(Ordering::Relaxed) {
            let said = service.ask("/v1/recourse", &question);
            let place = expected.iter().position(|(epsilon, _)| said["epsilon"] == *epsilon).unwrap();
            assert_eq!(said["answers"], expected[place].1);
            seen[place] += 1;
        }
        assert!(seen.iter().all(|count| *count > 0), "{seen:?}");
    });
}

/// A model belongs to its problem.
#[test]
fn a_changed_model_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(examples().join("network")).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
    }
    let service = Service::start(folder.path(), "problem.toml", &[]);
    let digest = |service: &Service| service.get("/v1/problem").json()["digest"].clone();
    let before = digest(&service);
    let path = folder.path().join("classifier.safetensors");
    let bytes = fs::read(&path).unwrap();
    // Half of a model is none.
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    service.wait_for("classifier.safetensors");
    assert_eq!(digest(&service), before);
    let mut other = bytes.clone();
    *other.last_mut().unwrap() ^= 1;
    fs::write(&path, &other).unwrap();
    service.wait_for("read");
    assert_ne!(digest(&service), before);
    fs::write(&path, &bytes).unwrap();
    service.wait_for("read");
    assert_eq!(digest(&service), before);
}

#[test]
fn nothing_is_served_without_a_valid_problem() {
    let folder = folder_with(&[("problem.toml", "epsilon = -1\n")]);
    let at = folder.path();
    assert!(refused(at, &["serve", "problem.toml"]).contains("epsilon"));
    assert!(refused(at, &["serve", "."]).contains("no problem that can be served"));
    assert!(refused(at, &["serve", "none.toml"]).contains("none.toml"));
    fs::write(at.join("problem.toml"), with_epsilon(0.1)).unwrap();
    fs::write(at.join("token"), "short").unwrap();
    assert!(refused(at, &["serve", "problem.toml", "--token-file", "token"]).contains("too short"));
    assert!(refused(at, &["serve", "problem.toml", "--answer-seconds", "0"]).contains("--answer-seconds 0"));
    assert!(refused(at, &["serve", ".", "--reasons", "reasons.toml"]).contains("--reasons"));
    // Models outside of the folder are not read.
    let outside = with_epsilon(0.1).split("[classifier]").next().unwrap().to_owned()
        + "[classifier]\nnetwork = \"/etc/hostname\"\n";
    fs::write(at.join("problem.toml"), outside).unwrap();
    assert!(refused(at, &["serve", "problem.toml"]).contains("outside the folder"));
}
