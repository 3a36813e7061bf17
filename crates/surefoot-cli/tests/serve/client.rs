//! A running service, and a client that sends bytes as it is told.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

/// A service in a process of its own; dropped, it is killed.
pub struct Service {
    pub child: Child,
    pub address: SocketAddr,
    lines: Mutex<Receiver<String>>,
}

/// How long a test waits for something that should take milliseconds.
pub const PATIENCE: Duration = Duration::from_secs(60);

impl Service {
    /// Serves a problem, on a port that the system chooses.
    pub fn start(folder: &Path, problem: &str, more: &[&str]) -> Self {
        Self::start_at(folder, problem, "127.0.0.1:0", more)
    }

    /// Serves a problem at an address.
    pub fn start_at(folder: &Path, problem: &str, address: &str, more: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_surefoot"));
        command.args(["serve", problem, "--listen", address]).args(more).current_dir(folder);
        let mut child = command.stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = channel();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        thread::spawn(move || stderr.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let mut service = Self { child, address: ([127, 0, 0, 1], 0).into(), lines: Mutex::new(lines) };
        let line = service.wait_for("listening on");
        service.address = line.rsplit_once("http://").unwrap().1.parse().unwrap();
        service
    }

    /// The next line of the log that contains a text.
    pub fn wait_for(&self, text: &str) -> String {
        let end = Instant::now() + PATIENCE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match self.lines.lock().unwrap().recv_timeout(left) {
                Ok(line) if line.contains(text) => return line,
                Ok(_) => {}
                Err(error) => panic!("no line with `{text}`: {error}"),
            }
        }
    }

    /// Every line that was logged so far.
    pub fn logged(&self) -> Vec<String> {
        self.lines.lock().unwrap().try_iter().collect()
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// The response to bytes.
    pub fn send(&self, bytes: &[u8]) -> Response {
        let mut stream = self.connect();
        // The service may answer and close before it has read everything.
        let _ = stream.write_all(bytes);
        Response::read(&mut stream)
    }

    pub fn get(&self, path: &str) -> Response {
        self.get_with(path, "")
    }

    /// With further lines of headers, each with its end.
    pub fn get_with(&self, path: &str, headers: &str) -> Response {
        self.send(
            format!("GET {path} HTTP/1.1\r\nHost: here\r\nConnection: close\r\n{headers}\r\n").as_bytes(),
        )
    }

    pub fn post(&self, path: &str, body: &str) -> Response {
        self.send(&post_bytes(path, body))
    }

    /// The JSON of a request that is answered.
    pub fn ask(&self, path: &str, body: &Value) -> Value {
        let response = self.post(path, &body.to_string());
        assert_eq!(response.status, 200, "{path}: {}", response.text());
        response.json()
    }

    /// The value of a measurement without labels.
    pub fn measured(&self, name: &str) -> f64 {
        let text = self.get("/metrics").text();
        let line =
            text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ').map(str::to_owned));
        line.unwrap_or_else(|| panic!("{name} is not in {text}")).parse().unwrap()
    }

    /// Waits until a measurement has a value.
    pub fn wait_until(&self, name: &str, is_so: impl Fn(f64) -> bool) {
        let end = Instant::now() + PATIENCE;
        loop {
            let value = self.measured(name);
            if is_so(value) {
                return;
            }
            assert!(Instant::now() < end, "{name} is still {value}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Sends a signal.
    pub fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).unwrap();
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A request with a JSON body.
pub fn post_bytes(path: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nHost: here\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// A response.
pub struct Response {
    pub status: u16,
    headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Response {
    /// Reads a response until the connection is closed.
    pub fn read(stream: &mut TcpStream) -> Self {
        let mut bytes = Vec::new();
        // A connection that is reset after the response has been read until then.
        let _ = stream.read_to_end(&mut bytes);
        let end = bytes.windows(4).position(|part| part == b"\r\n\r\n");
        let end = end.unwrap_or_else(|| panic!("no response: {:?}", String::from_utf8_lossy(&bytes)));
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let mut lines = head.lines();
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let header = |line: &str| {
            let (name, value) = line.split_once(": ").unwrap();
            (name.to_lowercase(), value.to_owned())
        };
        let mut response =
            Self { status, headers: lines.map(header).collect(), body: bytes[end + 4..].to_vec() };
        if response.header("transfer-encoding") == Some("chunked") {
            response.body = dechunked(&response.body);
        }
        response
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    /// The end of the type of an error, and its detail.
    pub fn fault(&self) -> (String, String) {
        assert_eq!(self.header("content-type"), Some("application/problem+json"));
        let details = self.json();
        assert_eq!(details["status"], self.status);
        assert_eq!(details["request_id"].as_str(), self.header("x-request-id"));
        let kind = details["type"].as_str().unwrap().strip_prefix("urn:surefoot:error:").unwrap();
        (kind.to_owned(), details["detail"].as_str().unwrap().to_owned())
    }
}

fn dechunked(mut bytes: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = bytes.windows(2).position(|part| part == b"\r\n") {
        let length = usize::from_str_radix(std::str::from_utf8(&bytes[..end]).unwrap(), 16).unwrap();
        if length == 0 || bytes.len() < end + 2 + length {
            break;
        }
        body.extend(&bytes[end + 2..end + 2 + length]);
        bytes = &bytes[end + 4 + length..];
    }
    body
}

/// The examples of the project.
pub fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").canonicalize().unwrap()
}

/// The people of a table of an example as a request has them.
pub fn people_of(table: &Path) -> Vec<Value> {
    let mut reader = csv::Reader::from_path(table).unwrap();
    let headings = reader.headers().unwrap().clone();
    let person = |row: csv::StringRecord| {
        let cells = headings.iter().zip(row.iter()).filter(|(name, _)| *name != "id");
        let value = |(name, cell): (&str, &str)| {
            let value = cell.parse::<f64>().map_or_else(|_| Value::from(cell), Value::from);
            (name.to_owned(), value)
        };
        let id = headings.iter().position(|name| name == "id").map(|place| row[place].to_owned());
        serde_json::json!({"id": id, "values": Value::Object(cells.map(value).collect())})
    };
    reader.records().map(|row| person(row.unwrap())).collect()
}
