//! The interface: headers, errors, what is known of a problem, who may ask.

use std::fs;

use serde_json::{Value, json};

use super::client::{Response, Service, examples, post_bytes};
use super::command::folder_with;

fn linear(more: &[&str]) -> Service {
    Service::start(&examples().join("linear"), "problem.toml", more)
}

fn ana() -> Value {
    json!({"id": "ana", "values": {"education": 11, "income": 2400, "savings": 6000}})
}

#[test]
fn every_response_protects_whoever_shows_it() {
    let service = linear(&[]);
    for path in ["/", "/docs", "/docs/viewer.js", "/openapi.json", "/v1/problem", "/healthz", "/nothing"] {
        let response = service.get(path);
        let policy = response.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{policy}");
        assert!(!policy.contains("unsafe") && !policy.contains("http"), "{policy}");
        assert_eq!(response.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(response.header("referrer-policy"), Some("no-referrer"));
        assert!(response.header("x-request-id").is_some() && response.header("cache-control").is_some());
    }
    // What the pages consist of comes from here.
    for path in ["/", "/docs", "/docs/viewer.js", "/docs/viewer.css"] {
        let text = service.get(path).text();
        let external = text.match_indices("://").any(|(at, _)| !text[..at].ends_with("\"http"));
        assert!(!external, "{path} names another address");
    }
    assert_eq!(service.get("/v1/problem").header("cache-control"), Some("no-store"));
    let tag = service.get("/docs").header("etag").unwrap().to_owned();
    assert_eq!(service.get_with("/docs", &format!("If-None-Match: {tag}\r\n")).status, 304);
}

#[test]
fn requests_have_numbers() {
    let service = linear(&[]);
    let number =
        |headers: &str| service.get_with("/healthz", headers).header("x-request-id").unwrap().to_owned();
    assert_eq!(number("X-Request-Id: a-b_7\r\n"), "a-b_7");
    assert_ne!(number(""), number(""));
    for hostile in ["a b", "<script>", &"a".repeat(65), "é"] {
        assert_ne!(number(&format!("X-Request-Id: {hostile}\r\n")), hostile);
    }
}

#[test]
fn a_token_is_asked_for() {
    let folder = folder_with(&[("token", "0123456789abcdef-right\n")]);
    let token = folder.path().join("token");
    let service = linear(&["--token-file", token.to_str().unwrap()]);
    let asked = |headers: &str| service.get_with("/v1/problem", headers).status;
    assert_eq!(asked("Authorization: Bearer 0123456789abcdef-right\r\n"), 200);
    for wrong in [
        "",
        "Bearer 0123456789abcdef-wrong",
        "Bearer ",
        "Basic 0123456789abcdef-right",
        "0123456789abcdef-right",
    ] {
        let response = service.get_with("/v1/problem", &format!("Authorization: {wrong}\r\n"));
        assert_eq!((response.status, response.fault().0.as_str()), (401, "token"), "{wrong}");
        assert_eq!(response.header("www-authenticate"), Some("Bearer"));
    }
    assert_eq!(service.post("/v1/recourse", &json!({"people": [ana()]}).to_string()).status, 401);
    assert_eq!(service.get("/metrics").status, 401);
    for open in ["/", "/docs", "/openapi.json", "/healthz", "/readyz"] {
        assert_eq!(service.get(open).status, 200, "{open}");
    }
}

/// Mistakes are told in the words of the command line, with the place in the request.
#[test]
fn mistakes_are_problem_details() {
    let service = linear(&[]);
    let ask = |body: &Value| service.post("/v1/recourse", &body.to_string()).fault();
    let with = |more: Value| {
        let mut body = json!({"people": [ana()]});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let cases = [
        (json!({"people": []}), "invalid", "`people`"),
        (json!({"people": [ana(), {"values": {"education": 1, "income": 2}}]}), "invalid", "person 2"),
        (
            json!({"people": [{"values": {"education": 1, "income": 2, "savings": "much"}}]}),
            "invalid",
            "person 1: `savings` is \"much\"; give a number",
        ),
        (
            json!({"people": [{"values": {"education": 1, "income": 2, "savings": 3, "house": 4}}]}),
            "invalid",
            "house",
        ),
        (
            json!({"people": [{"values": {"education": 99, "income": 2, "savings": 3}}]}),
            "invalid",
            "education",
        ),
        (with(json!({"gap": 2})), "invalid", "`gap` 2: must be more than 0 and less than 1"),
        (with(json!({"evaluations": 0})), "invalid", "`evaluations` 0: must be at least 1"),
        (with(json!({"seconds": -1})), "invalid", "`seconds` -1"),
        (with(json!({"epsilon": -1})), "invalid", "epsilon"),
        (with(json!({"method": "newton"})), "invalid", "there is no method `newton`"),
        (
            with(json!({"method": "local", "proofs": true})),
            "invalid",
            "`proofs`: the method `local` proves nothing",
        ),
        (with(json!({"options": 101})), "invalid", "`options` 101"),
        (with(json!({"language": "fr"})), "invalid", "fr"),
        (with(json!({"locked": ["house"]})), "invalid", "`locked`: there is no column `house`"),
        (with(json!({"locked": ["education", "income", "savings"]})), "invalid", "every feature is fixed"),
        (with(json!({"limits": {"income": [5, 1]}})), "invalid", "contain no number"),
        (with(json!({"problem": "house"})), "unknown-problem", "there are `linear`"),
        (with(json!({"wishes": 1})), "json", "wishes"),
        (json!({"people": "all"}), "json", "line 1"),
    ];
    for (body, kind, words) in cases {
        let (found, detail) = ask(&body);
        assert!(found == kind && detail.contains(words), "{body}: {found}: {detail}");
        assert!(!detail.contains("--"), "{detail}");
    }
    let post = |path: &str, body: Value| service.post(path, &body.to_string()).fault().1;
    let values = ana()["values"].clone();
    let certify =
        |action: Value| post("/v1/certify", json!({"people": [{"values": values, "action": action}]}));
    assert!(certify(json!({})).contains("acts upon nothing"));
    assert!(certify(json!({"house": 1})).contains("there is no column `house`"));
    assert!(certify(json!({"income": "much"})).contains("give the change, a number"));
    assert!(post("/v1/certify", json!({"people": [{"values": values}]})).contains("has no `action`"));
    assert!(post("/v1/letter", json!({"people": [ana()], "format": "json"})).contains("`html` or `text`"));
    assert!(post("/v1/trade-off", json!({"person": ana(), "epsilons": [-1]})).contains("`epsilons` -1"));
    assert!(post("/v1/verify", json!({"proofs": [{"id": "ana", "proof": {}}]})).contains("proof 1"));
    let two = json!({"people": [ana(), ana()]});
    assert!(post("/v1/recourse/stream", two).contains("exactly one"));
}

#[test]
fn paths_methods_and_media_types_are_checked() {
    let service = linear(&[]);
    assert_eq!(service.get("/v1/recours").fault().0, "not-found");
    let wrong = service.get("/v1/recourse");
    assert_eq!(
        (wrong.status, wrong.fault().0.as_str(), wrong.header("allow")),
        (405, "method", Some("POST"))
    );
    let text = String::from_utf8(post_bytes("/v1/recourse", "{}")).unwrap();
    let other = service.send(text.replace("application/json", "text/plain").as_bytes());
    assert_eq!((other.status, other.fault().0.as_str()), (415, "media-type"));
    let typed = text.replace("application/json", "application/json; charset=utf-8");
    assert_eq!(service.send(typed.as_bytes()).fault().0, "json");
    assert_eq!(service.get("/v1/problem?name=linear").status, 200);
    assert_eq!(service.get("/v1/problem?names=linear").status, 422);
    // What is no HTTP at all ends the connection.
    assert!([400, 431].contains(&service.send(b"hello\r\n\r\n").status));
    let long = format!("GET /{} HTTP/1.1\r\nHost: here\r\n\r\n", "a".repeat(100_000));
    assert!([400, 414, 431].contains(&service.send(long.as_bytes()).status));
    assert_eq!(service.get("/healthz").text(), "ok\n");
}

/// Nothing that is known of people is logged, also where every request is.
#[test]
fn logs_say_nothing_of_people() {
    let service = linear(&["--log"]);
    service.ask("/v1/recourse", &json!({"people": [ana()]}));
    service.post(
        "/v1/recourse",
        &json!({"people": [{"id": "ana", "values": {"income": "2400ana"}}]}).to_string(),
    );
    service.get("/ana?income=2400");
    service.get_with("/healthz", "X-Request-Id: last\r\n");
    let last = service.wait_for("request last");
    assert!(last.contains("GET /healthz 200"), "{last}");
    let again = linear(&["--log"]);
    again.post(
        "/v1/recourse",
        &json!({"people": [{"id": "ana", "values": {"income": "2400ana"}}]}).to_string(),
    );
    again.get("/ana?income=2400");
    again.get("/healthz");
    std::thread::sleep(std::time::Duration::from_millis(200));
    let lines = again.logged();
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(lines[0].contains("POST /v1/recourse 422") && lines[1].contains("GET other 404"), "{lines:?}");
    assert!(lines.iter().all(|line| !line.contains("ana") && !line.contains("2400")), "{lines:?}");
}

#[test]
fn a_problem_is_described() {
    let service = Service::start(&examples(), ".", &[]);
    let of = |name: &str| service.get(&format!("/v1/problem?name={name}")).json();
    let listed = service.get("/v1/problems").json();
    let names: Vec<&str> =
        listed["problems"].as_array().unwrap().iter().map(|p| p["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"linear") && names.contains(&"trees") && names.is_sorted(), "{names:?}");
    let linear = of("linear");
    assert_eq!(
        (&linear["epsilon"], &linear["norm"], &linear["cost"]),
        (&json!(0.1), &json!("l2"), &json!("l1"))
    );
    assert_eq!(
        linear["graph"]["edges"],
        json!([{"from": "education", "to": "income"}, {"from": "education", "to": "savings"}, {"from": "income", "to": "savings"}])
    );
    let education = &linear["columns"][0];
    assert_eq!((&education["limits"], &education["change"]), (&json!([0.0, 25.0]), &json!("increase")));
    assert_eq!(linear["columns"][1]["limits"], json!([null, null]));
    assert_eq!(linear["example"], json!({"education": 12.0, "income": 3000.0, "savings": 8000.0}));
    let categories = of("categories");
    let job = &categories["columns"][2];
    assert_eq!(
        (&job["kind"], &job["ordered"], &job["mean"]),
        (&json!("category"), &json!(false), &Value::Null)
    );
    assert_eq!(job["categories"][1], json!({"name": "cook", "label": "cook", "change": "any"}));
    assert_eq!(categories["columns"][1]["ordered"], true);
    assert_eq!(categories["forbidden"], json!(["job from cook to nurse", "education from none to degree"]));
    // Whatever is served answers the example of its form.
    for problem in
        listed["problems"].as_array().unwrap().iter().filter(|problem| problem["digest"].is_string())
    {
        let name = problem["name"].as_str().unwrap();
        let person = json!({"values": of(name)["example"]});
        let question = json!({"problem": name, "people": [person], "evaluations": 2000});
        let answer = service.ask("/v1/recourse", &question);
        assert_eq!(answer["problem"], name);
    }
}

/// Words in German, and those of an organisation.
#[test]
fn steps_are_told_in_words() {
    let service = linear(&["--reasons", "reasons.toml"]);
    let ask = |language: &str| {
        let question = json!({"people": [ana()], "language": language});
        service.ask("/v1/recourse", &question)["answers"][0]["options"][0].clone()
    };
    let (english, german) = (ask("en"), ask("de"));
    assert_eq!(english["action"], german["action"]);
    let step = english["steps"][0]["text"].as_str().unwrap();
    assert!(step.contains("raise by") && step.contains("from"), "{step}");
    assert!(german["steps"][0]["text"].as_str().unwrap().contains("erhöhen"), "{german}");
    // Four digits of the change, and no more than it takes.
    let change = english["steps"][0]["change"].as_f64().unwrap();
    assert!(step.contains(&format!("{:.0}", change).replace(',', "")) || change < 1000.0, "{step}: {change}");
    let reasons = fs::read_to_string(examples().join("linear/reasons.toml")).unwrap();
    assert!(reasons.contains("de ="));
}

#[test]
fn requests_follow_each_other_on_one_connection() {
    use std::io::Write;
    let service = linear(&[]);
    let mut stream = service.connect();
    let question = json!({"people": [ana()]}).to_string();
    let kept = String::from_utf8(post_bytes("/v1/recourse", &question))
        .unwrap()
        .replace("Connection: close\r\n", "");
    let last = String::from_utf8(post_bytes("/v1/recourse", &question)).unwrap();
    stream.write_all(format!("{kept}{kept}{last}").as_bytes()).unwrap();
    let all = Response::read(&mut stream);
    let text = String::from_utf8(all.body).unwrap();
    assert_eq!(text.matches("HTTP/1.1 200 OK").count(), 2);
}
