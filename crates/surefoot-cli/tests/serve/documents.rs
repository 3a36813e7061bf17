//! What is written about the interface is so.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::client::{Service, examples};

fn page(name: &str) -> String {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    std::fs::read_to_string(docs.join(name)).unwrap()
}

/// The blocks of code of a page in a language.
fn blocks<'p>(page: &'p str, language: &str) -> Vec<&'p str> {
    let start = format!("```{language}\n");
    page.split(&start).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

/// Asserts that two values have the same fields, whatever their values; of lists the first entries.
fn assert_same_fields(written: &Value, real: &Value, at: &str) {
    match (written, real) {
        (Value::Object(written), Value::Object(real)) => {
            for (name, value) in written {
                assert!(real.contains_key(name), "{at}: there is no `{name}` in {real:?}");
                // What people, actions and shifts consist of depends on the problem.
                let is_of_columns =
                    ["action", "counterfactual", "shift", "example", "proof"].contains(&name.as_str());
                if !is_of_columns {
                    assert_same_fields(value, &real[name], &format!("{at}.{name}"));
                }
            }
        }
        (Value::Array(written), Value::Array(real)) => {
            if let (Some(written), Some(real)) = (written.first(), real.first()) {
                assert_same_fields(written, real, &format!("{at}[0]"));
            }
        }
        _ => {}
    }
}

/// Every example of a request is answered, with the fields of the example of its response.
#[test]
fn the_examples_of_the_interface_are_answered() {
    let service = Service::start(&examples().join("linear"), "problem.toml", &[]);
    let page = page("http.md");
    let mut checked = 0;
    let mut proof = Value::Null;
    for section in page.split("\n## ").skip(1) {
        let Some(path) = section.strip_prefix("`POST ").and_then(|rest| rest.split('`').next()) else {
            continue;
        };
        let examples = blocks(section, "json");
        let Some(request) = examples.first() else { continue };
        let mut request: Value = serde_json::from_str(request).unwrap();
        if path == "/v1/verify" {
            request["proofs"][0] = proof.clone();
        }
        let response = service.ask(path, &request);
        let written: Value = serde_json::from_str(examples[1]).unwrap();
        assert_same_fields(&written, &response, path);
        if path == "/v1/recourse" {
            proof = response["answers"][0]["proof"].clone();
            let option = &response["answers"][0]["options"][0];
            for word in [option["text"].to_string(), option["steps"][0]["text"].to_string()] {
                assert!(section.contains(&word), "{word} is not on the page");
            }
        }
        checked += 1;
    }
    assert_eq!(checked, 6);
}

/// The commands of the page about the command are run as they are written.
#[test]
fn the_examples_with_curl_work() {
    if Command::new("curl").arg("--version").output().is_err() {
        assert!(std::env::var_os("CI").is_none(), "curl is missing");
        return;
    }
    let service = Service::start(&examples().join("linear"), "problem.toml", &[]);
    let page = page("commands/serve.md");
    let scripts: Vec<&str> =
        blocks(&page, "bash").into_iter().filter(|block| block.contains("curl ")).collect();
    assert!(scripts.len() >= 2);
    for script in scripts {
        let script = script.replace("127.0.0.1:8080", &service.address.to_string());
        let ended = Command::new("sh").args(["-e", "-c", &script]).output().unwrap();
        let said = String::from_utf8(ended.stdout).unwrap();
        assert!(ended.status.success(), "{script}\n{said}");
        assert!(
            said.contains("\"problem\":\"linear\"") || said.contains("event: answer"),
            "{script}\n{said}"
        );
    }
}

#[test]
fn the_document_describes_every_path() {
    let service = Service::start(&examples().join("linear"), "problem.toml", &[]);
    let document = service.get("/openapi.json").json();
    assert!(document["openapi"].as_str().unwrap().starts_with("3."));
    let paths: Vec<&String> = document["paths"].as_object().unwrap().keys().collect();
    let page = page("http.md");
    assert_eq!(paths.len(), 9);
    for path in paths {
        assert!(page.contains(&format!("{path}`")), "{path} is not on the page");
    }
    // Every reference leads somewhere.
    let text = document.to_string();
    for reference in text.split("\"#/components/schemas/").skip(1) {
        let name = reference.split('"').next().unwrap();
        assert!(document["components"]["schemas"].get(name).is_some(), "{name}");
    }
}
