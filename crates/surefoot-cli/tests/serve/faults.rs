//! What may go wrong between a client and the service: no wrong or partial answer, nothing hangs, nothing leaks.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::json;

use super::client::{Response, Service, examples, post_bytes};
use super::saturation::{endless, endless_question};

fn linear(more: &[&str]) -> Service {
    Service::start(&examples().join("linear"), "problem.toml", more)
}

const ANA: &str =
    r#"{"people": [{"id": "ana", "values": {"education": 11, "income": 2400, "savings": 6000}}]}"#;

fn assert_answers(service: &Service) {
    let answer = service.post("/v1/recourse", ANA);
    assert_eq!((answer.status, &answer.json()["answers"][0]["status"]), (200, &json!("found")));
}

#[test]
fn a_killed_service_starts_again_at_its_address() {
    let mut service = linear(&[]);
    let open = service.connect();
    assert_answers(&service);
    let expected = service.post("/v1/recourse", ANA).json();
    service.signal(Signal::KILL);
    service.child.wait().unwrap();
    let address = service.address.to_string();
    let again = Service::start_at(&examples().join("linear"), "problem.toml", &address, &[]);
    assert_eq!(again.post("/v1/recourse", ANA).json(), expected);
    drop(open);
}

#[test]
fn a_body_that_is_broken_off_gets_no_answer() {
    let service = linear(&["--request-seconds", "30"]);
    let whole = post_bytes("/v1/recourse", ANA);
    for length in [1, whole.len() / 2, whole.len() - 1] {
        let mut stream = service.connect();
        stream.write_all(&whole[..length]).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let said = String::from_utf8_lossy(&bytes).into_owned();
        assert!(!said.contains("HTTP/1.1 200") && !said.contains("ana"), "{said}");
    }
    // A stated length that is shorter than the body cuts the JSON.
    let cut = String::from_utf8(whole).unwrap().replace(&format!("Length: {}", ANA.len()), "Length: 20");
    assert_eq!(service.send(cut.as_bytes()).fault().0, "json");
    assert_answers(&service);
}

#[test]
fn an_enormous_body_is_refused_before_it_is_read() {
    let service = linear(&["--body", "1"]);
    let head =
        "POST /v1/recourse HTTP/1.1\r\nHost: here\r\nConnection: close\r\nContent-Type: application/json\r\n";
    // As it says of itself.
    let stated = format!("{head}Content-Length: 1000000000000\r\n\r\n{ANA}");
    let refused = service.send(stated.as_bytes());
    assert_eq!((refused.status, refused.fault().0.as_str()), (413, "too-large"));
    // Without a length, as long as somebody reads.
    let mut stream = service.connect();
    stream.write_all(format!("{head}Transfer-Encoding: chunked\r\n\r\n").as_bytes()).unwrap();
    let chunk = [b"10000\r\n".to_vec(), vec![b' '; 0x10000], b"\r\n".to_vec()].concat();
    let mut sent = 0;
    while sent < 64 << 20 && stream.write_all(&chunk).is_ok() {
        sent += 0x10000;
    }
    assert!(sent < 32 << 20, "{sent} bytes were taken");
    // More people than a request may have.
    let person = json!({"values": {"education": 11, "income": 2400, "savings": 6000}});
    let crowd = json!({"people": vec![person; 1001]}).to_string();
    let refused = service.post("/v1/recourse", &crowd);
    assert_eq!((refused.status, refused.fault().0.as_str()), (413, "too-large"));
    assert!(refused.fault().1.contains("1001"), "{}", refused.fault().1);
    assert_answers(&service);
}

/// Deeply nested JSON and numbers beyond all measure are refused, not run out of the stack with.
#[test]
fn hostile_json_is_refused() {
    let service = linear(&[]);
    let deep = format!("{{\"people\": {}", "[".repeat(100_000));
    let values = format!("{{\"people\": [{{\"values\": {}}}]}}", "[".repeat(100_000));
    let number = r#"{"people": [{"values": {"education": 1e999, "income": 2400, "savings": 6000}}]}"#;
    let nul = "{\"people\": [{\"id\": \"\u{0}\", \"values\": {\"education\": \"\\u0000\"}}]}";
    let twice = r#"{"people": [{"values": {"income": 1, "income": 2}}]}"#;
    for body in ["", "null", "[]", "{}", "\u{feff}{}", &deep, &values, number, nul, twice] {
        let refused = service.post("/v1/recourse", body);
        assert!([400, 422].contains(&refused.status), "{}: {}", refused.status, refused.text());
        refused.fault();
    }
    assert_answers(&service);
}

#[test]
fn slow_clients_are_given_up() {
    let service = linear(&["--request-seconds", "1"]);
    let whole = post_bytes("/v1/recourse", ANA);
    let body_at = whole.windows(4).position(|part| part == b"\r\n\r\n").unwrap() + 4;
    // One byte at a time: of the headers, and of the body.
    for (length, status) in [(10, None), (body_at + 5, Some(408))] {
        let mut stream = service.connect();
        stream.write_all(&whole[..length]).unwrap();
        let start = Instant::now();
        let mut next = length;
        while start.elapsed() < Duration::from_secs(20) && stream.write_all(&whole[next..next + 1]).is_ok() {
            next += 1;
            std::thread::sleep(Duration::from_millis(300));
            if next + 1 >= whole.len() || is_closed(&stream) {
                break;
            }
        }
        assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
        if let Some(status) = status {
            assert_eq!(Response::read(&mut stream).status, status);
        }
    }
    // Silent from the start, and after an answer.
    let mut silent = service.connect();
    let mut kept = service.connect();
    let keep = String::from_utf8(whole).unwrap().replace("Connection: close\r\n", "");
    kept.write_all(keep.as_bytes()).unwrap();
    for stream in [&mut silent, &mut kept] {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
    }
    service.wait_until("surefoot_connections", |open| open <= 1.0);
    assert_answers(&service);
}

/// Whether the other side has something to say or has closed.
fn is_closed(stream: &TcpStream) -> bool {
    stream.set_nonblocking(true).unwrap();
    let is_closed = stream.peek(&mut [0]).is_ok();
    stream.set_nonblocking(false).unwrap();
    is_closed
}

/// Somebody who asks and does not read the answers is given up, too.
#[test]
fn a_client_that_reads_nothing_is_given_up() {
    let service = linear(&["--request-seconds", "1"]);
    let stream = service.connect();
    let request = "GET /openapi.json HTTP/1.1\r\nHost: here\r\n\r\n".repeat(5_000);
    stream.set_write_timeout(Some(Duration::from_millis(200))).unwrap();
    let _ = (&stream).write_all(request.as_bytes());
    service.wait_until("surefoot_connections", |open| open <= 1.0);
    assert_answers(&service);
}

#[test]
fn ten_thousand_idle_connections_do_no_harm() {
    let wanted = 10_000;
    let most = allow_descriptors(wanted + 200);
    let count = wanted.min(most.saturating_sub(200));
    assert!(count >= 500, "the system allows {most} descriptors");
    let service = linear(&["--request-seconds", "600"]);
    let before = memory(&service);
    let idle: Vec<TcpStream> = (0..count).map(|_| service.connect()).collect();
    service.wait_until("surefoot_connections", |open| open >= count as f64);
    let start = Instant::now();
    for _ in 0..100 {
        assert_answers(&service);
    }
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    let each = memory(&service).saturating_sub(before) / count;
    assert!(each < 30_000, "{each} bytes for each of {count} connections");
    drop(idle);
    service.wait_until("surefoot_connections", |open| open <= 1.0);
}

/// Raises the number of descriptors of this process, as far as the system allows; that number.
fn allow_descriptors(wanted: usize) -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let most = limit.maximum.unwrap_or(u64::MAX).min(wanted as u64);
    if limit.current.is_some_and(|current| current < most) {
        setrlimit(Resource::Nofile, Rlimit { current: Some(most), ..limit }).unwrap();
    }
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX) as usize
}

/// The bytes that the service has in memory.
pub fn memory(service: &Service) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{}/status", service.child.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
}

#[test]
fn connections_beyond_the_limit_are_refused_at_once() {
    let service = linear(&["--connections", "3"]);
    let mut kept: Vec<TcpStream> = (0..3).map(|_| service.connect()).collect();
    let refused = Response::read(&mut service.connect());
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("5")));
    kept.pop();
    let end = Instant::now() + super::client::PATIENCE;
    while service.get("/healthz").status != 200 {
        assert!(Instant::now() < end);
    }
}

#[test]
fn a_client_that_leaves_ends_its_search() {
    let folder = endless();
    let service = Service::start(folder.path(), "problem.toml", &["--threads", "1"]);
    let question = endless_question();
    for path in ["/v1/recourse", "/v1/recourse/stream"] {
        let before = service.measured("surefoot_searches_cancelled_total");
        let mut leaving = service.connect();
        leaving.write_all(&post_bytes(path, &question)).unwrap();
        service.wait_until("surefoot_questions_running", |running| running == 1.0);
        // One that waits leaves, too.
        let mut waiting = service.connect();
        waiting.write_all(&post_bytes(path, &question)).unwrap();
        service.wait_until("surefoot_questions_waiting", |waiting| waiting == 1.0);
        drop(waiting);
        service.wait_until("surefoot_questions_waiting", |waiting| waiting == 0.0);
        drop(leaving);
        service.wait_until("surefoot_questions_running", |running| running == 0.0);
        service.wait_until("surefoot_searches_cancelled_total", |count| count == before + 1.0);
    }
}

#[test]
fn a_stop_finishes_what_runs_and_takes_nothing_new() {
    let folder = endless();
    let mut service = Service::start(folder.path(), "problem.toml", &["--threads", "1"]);
    let question = json!({"people": super::saturation::people(1), "seconds": 2}).to_string();
    let mut running = service.connect();
    running.write_all(&post_bytes("/v1/recourse", &question)).unwrap();
    service.wait_until("surefoot_questions_running", |running| running == 1.0);
    service.signal(Signal::TERM);
    service.wait_for("stopping");
    let answer = Response::read(&mut running);
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert!(answer.json()["answers"][0]["text"].is_string());
    let ended = service.child.wait().unwrap();
    assert!(ended.success(), "{ended}");
    assert!(TcpStream::connect(service.address).is_err());
}

#[test]
fn a_second_signal_ends_the_service_at_once() {
    let folder = endless();
    let mut service = Service::start(folder.path(), "problem.toml", &[]);
    let mut running = service.connect();
    running.write_all(&post_bytes("/v1/recourse", &endless_question())).unwrap();
    service.wait_until("surefoot_questions_running", |running| running == 1.0);
    let start = Instant::now();
    service.signal(Signal::INT);
    service.wait_for("stopping");
    service.signal(Signal::INT);
    assert!(!service.child.wait().unwrap().success());
    assert!(start.elapsed() < Duration::from_secs(20));
}
