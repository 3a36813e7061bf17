//! More questions than the service can answer.

use std::fs;
use std::io::Write;
use std::time::{Duration, Instant};

use rand::SeedableRng;
use serde_json::{Value, json};
use surefoot::Activation;

use super::client::{Response, Service, post_bytes};

/// A folder with a problem whose search takes minutes.
pub fn endless() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(1);
    let network = surefoot_random::network(&mut random, &[6, 30, 30, 1], Activation::Tanh, 1.5);
    surefoot::Network::write(folder.path().join("network.safetensors"), &[("", &network)]).unwrap();
    let features: String = (0..6)
        .map(|i| format!("[[feature]]\nname = \"x{i}\"\nlimits = [-9, 9]\nchange = \"any\"\n"))
        .collect();
    let classifier =
        "[classifier]\nnetwork = \"network.safetensors\"\nactivation = \"tanh\"\nthreshold = 0.999\n";
    let text = format!("epsilon = 0.5\n{features}{classifier}");
    fs::write(folder.path().join("problem.toml"), text).unwrap();
    folder
}

/// People of that problem.
pub fn people(count: usize) -> Vec<Value> {
    let values = json!({"x0": -1, "x1": -1, "x2": -1, "x3": -1, "x4": -1, "x5": -1});
    vec![json!({"values": values}); count]
}

/// A question that is not answered within the patience of a test.
pub fn endless_question() -> String {
    json!({"people": people(1), "evaluations": 1_000_000_000_000u64, "gap": 1e-9}).to_string()
}

#[test]
fn a_full_queue_refuses_and_health_is_told_at_once() {
    let folder = endless();
    let service = Service::start(folder.path(), "problem.toml", &["--threads", "2", "--queue", "4"]);
    assert_eq!(service.get("/readyz").status, 200);
    let mut asked = Vec::new();
    for number in 1..=6 {
        let mut stream = service.connect();
        stream.write_all(&post_bytes("/v1/recourse", &endless_question())).unwrap();
        asked.push(stream);
        let known = |name| service.measured(name);
        let end = Instant::now() + super::client::PATIENCE;
        while known("surefoot_questions_running") + known("surefoot_questions_waiting") < f64::from(number) {
            assert!(Instant::now() < end);
        }
    }
    for path in ["/v1/recourse", "/v1/recourse/stream"] {
        let refused = service.post(path, &endless_question());
        assert_eq!((refused.status, refused.fault().0.as_str()), (429, "busy"), "{}", refused.text());
        let seconds: u64 = refused.header("retry-after").unwrap().parse().unwrap();
        assert!((1..=60).contains(&seconds));
    }
    assert_eq!(service.get("/readyz").status, 503);
    let slowest = (0..50).map(|_| {
        let start = Instant::now();
        assert_eq!(service.get("/healthz").status, 200);
        start.elapsed()
    });
    assert!(slowest.max().unwrap() < Duration::from_secs(1));
    drop(asked);
    service.wait_until("surefoot_questions_running", |running| running == 0.0);
    assert_eq!(service.get("/readyz").status, 200);
}

#[test]
fn an_answer_that_takes_too_long_is_broken_off() {
    let folder = endless();
    let more = ["--threads", "1", "--answer-seconds", "1"];
    let service = Service::start(folder.path(), "problem.toml", &more);
    let refused = service.post("/v1/recourse", &endless_question());
    assert_eq!((refused.status, refused.fault().0.as_str()), (422, "time-limit"));
    assert!(refused.fault().1.contains("`seconds`"), "{}", refused.fault().1);
    service.wait_until("surefoot_questions_running", |running| running == 0.0);
    let stream = service.post("/v1/recourse/stream", &endless_question());
    let text = stream.text();
    let last = text.trim_end().rsplit("\n\n").next().unwrap();
    let details: Value = serde_json::from_str(last.strip_prefix("event: error\ndata: ").unwrap()).unwrap();
    assert_eq!(details["type"], "urn:surefoot:error:time-limit");
    assert_eq!(details["request_id"].as_str(), stream.header("x-request-id"));
    // As many people are broken off together.
    service.wait_until("surefoot_questions_running", |running| running == 0.0);
    let mut crowd: Value = serde_json::from_str(&endless_question()).unwrap();
    crowd["people"] = people(20).into();
    assert_eq!(service.post("/v1/recourse", &crowd.to_string()).fault().0, "time-limit");
    service.wait_until("surefoot_questions_running", |running| running == 0.0);
    // The best answer within a time is one.
    let seconds = json!({"people": people(1), "seconds": 0.2, "gap": 1e-9});
    let answer = service.ask("/v1/recourse", &seconds);
    assert!(["found", "undecided"].contains(&answer["answers"][0]["status"].as_str().unwrap()));
}

/// One that waits until its time is over was not too difficult: the service was busy.
#[test]
fn whoever_waits_in_vain_is_told_to_ask_again() {
    let folder = endless();
    let service = Service::start(folder.path(), "problem.toml", &["--threads", "1", "--answer-seconds", "2"]);
    let mut first = service.connect();
    first.write_all(&post_bytes("/v1/recourse", &endless_question())).unwrap();
    service.wait_until("surefoot_questions_running", |running| running == 1.0);
    let mut second = service.connect();
    let question = json!({"people": people(1), "seconds": 30, "gap": 1e-9}).to_string();
    second.write_all(&post_bytes("/v1/recourse", &question)).unwrap();
    assert_eq!(Response::read(&mut first).fault().0, "time-limit");
    let second = Response::read(&mut second);
    // It may just have been begun.
    assert!(["busy", "time-limit"].contains(&second.fault().0.as_str()), "{}", second.text());
    service.wait_until("surefoot_questions_running", |running| running == 0.0);
}
