//! Bodies of requests to the service.

use std::path::Path;
use std::sync::LazyLock;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use serde_json::{Value, json};
use surefoot::Cancel;
use surefoot_cli::serve::Offline;

use crate::Reading;

/// Two problems: one that is linear, and one with texts, whole numbers and rules.
static SERVED: LazyLock<[Offline; 2]> = LazyLock::new(|| {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    ["linear", "categories"].map(|name| {
        let path = examples.join(name).join("problem.toml");
        Offline::open(&path).expect("the examples are valid")
    })
});

/// A search that takes longer is broken off, as the service does.
const PATIENCE: Duration = Duration::from_secs(2);

/// `{"path": "/v1/recourse", "body": {...}}`, asked of two problems.
pub fn request(bytes: &[u8]) -> Reading {
    let Ok(Value::Object(request)) = serde_json::from_slice(bytes) else { return Reading::Refused };
    let (Some(path), Some(body)) = (request.get("path").and_then(Value::as_str), request.get("body")) else {
        return Reading::Refused;
    };
    let body = match body {
        // A text stands for bytes that are no JSON.
        Value::String(text) => text.clone(),
        body => body.to_string(),
    };
    let cancel = Cancel::default();
    let (done, waits) = channel::<()>();
    let readings = std::thread::scope(|scope| {
        let watched = cancel.clone();
        scope.spawn(move || {
            if waits.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                watched.cancel();
            }
        });
        let readings = SERVED.each_ref().map(|served| cancel.watch(|| ask(served, path, &body, &cancel)));
        drop(done);
        readings
    });
    match readings.contains(&Reading::Accepted) {
        true => Reading::Accepted,
        false => Reading::Refused,
    }
}

fn ask(served: &Offline, path: &str, body: &str, cancel: &Cancel) -> Reading {
    let answer = match served.answer(path, body.as_bytes()) {
        Ok(answer) => answer,
        Err((status, details)) => {
            assert!((400..500).contains(&status) || cancel.is_cancelled(), "{status}: {details}");
            let details: Value = serde_json::from_str(&details).expect("details are JSON");
            assert!(details["detail"].as_str().is_some_and(|detail| !detail.is_empty()), "{details}");
            return Reading::Refused;
        }
    };
    let said: Value = serde_json::from_slice(&answer).expect("answers are JSON");
    if cancel.is_cancelled() {
        return Reading::Accepted;
    }
    if path == "/v1/recourse" {
        if let Ok(Some(at_once)) = served.answer_at_once(body.as_bytes()) {
            assert_eq!(at_once, answer, "a closed form answers as all others do");
        }
        let asked: Value = serde_json::from_str(body).expect("it was answered");
        assert_found(served, &asked, &said);
    }
    Reading::Accepted
}

/// Numbers beyond which own units are too coarse to ask again.
const LARGE: f64 = 1e6;

/// Whatever was found holds, by the same service, with the same wishes.
fn assert_found(served: &Offline, asked: &Value, said: &Value) {
    for (person, answer) in
        asked["people"].as_array().into_iter().flatten().zip(said["answers"].as_array().into_iter().flatten())
    {
        if answer["status"] != "found" {
            continue;
        }
        let option = &answer["options"][0];
        assert!(option["cost"].as_f64() >= option["cost_bound"].as_f64(), "{answer}");
        let numbers = [&option["action"], &option["counterfactual"]].into_iter().filter_map(Value::as_object);
        let is_large = |value: &Value| value.as_f64().is_some_and(|number| number.abs() > LARGE);
        // Own units round what is that large by more than the margin.
        if numbers.flat_map(serde_json::Map::values).any(is_large) || said["epsilon"].as_f64() > Some(LARGE) {
            continue;
        }
        let mut question = json!({"people": [{"values": person["values"], "action": option["action"]}]});
        for field in ["problem", "epsilon", "locked", "limits"] {
            if let Some(value) = asked.get(field) {
                question[field] = value.clone();
            }
        }
        let verdict = served.answer("/v1/certify", question.to_string().as_bytes()).expect("it was found");
        let verdict: Value = serde_json::from_slice(&verdict).expect("verdicts are JSON");
        // Own units round the last bit of an action that is proven up to the boundary.
        assert_ne!(verdict["verdicts"][0]["verdict"], "undecided", "{question}: {verdict}");
        let margin = verdict["verdicts"][0]["margin_at_most"].as_f64().unwrap_or_default();
        assert!(margin > -1e-6, "{question}: {verdict}");
        assert_eq!(verdict["verdicts"][0]["feasible"], true, "{question}: {verdict}");
    }
}
