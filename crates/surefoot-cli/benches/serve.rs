//! How many questions per second `surefoot serve` answers, and what it does when it is asked for more than it can
//! answer. Service and clients share the machine.
//!
//! Asked for are 10,000 answers per second of a linear problem, 99% of them within 20 ms; and with every thread
//! searching, 99% of the answers of `/healthz` within 50 ms, refusals instead of a growing queue, and memory that does
//! not grow. `SUREFOOT_SECONDS` says how long each part takes; 20 unless set.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a benchmark fails by panicking")]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rand::SeedableRng;
use surefoot::{Activation, Network};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::sleep;

/// Connections on which linear questions are asked, each after the answer to the last.
const CONNECTIONS: usize = 16;
/// Connections on which hard questions are asked.
const CROWD: usize = 100;

struct Service(Child, String);

impl Service {
    fn start(problem: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_surefoot"));
        command.arg("serve").arg(problem).args(["--listen", "127.0.0.1:0"]);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let line = lines.find_map(|line| line.ok().filter(|line| line.contains("listening"))).unwrap();
        Self(child, line.rsplit_once("http://").unwrap().1.to_owned())
    }

    /// Megabytes in memory, and seconds of processors.
    fn used(&self) -> (f64, f64) {
        let process = PathBuf::from(format!("/proc/{}", self.0.id()));
        let status = std::fs::read_to_string(process.join("status")).unwrap();
        let memory = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        let memory: f64 = memory.trim().trim_end_matches(" kB").parse().unwrap();
        let stat = std::fs::read_to_string(process.join("stat")).unwrap();
        let fields: Vec<&str> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
        let ticks: f64 = fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap();
        (memory / 1024.0, ticks / 100.0)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A connection that is kept.
struct Client {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Client {
    async fn connect(address: &str) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, buffer: Vec::with_capacity(1 << 14) }
    }

    /// Asks, and reads the whole response; its status.
    async fn ask(&mut self, request: &[u8]) -> u16 {
        self.stream.write_all(request).await.unwrap();
        self.buffer.clear();
        let mut needed = None;
        while needed.is_none_or(|needed| self.buffer.len() < needed) {
            assert!(self.stream.read_buf(&mut self.buffer).await.unwrap() > 0, "the connection was closed");
            if needed.is_none()
                && let Some(end) = self.buffer.windows(4).position(|part| part == b"\r\n\r\n")
            {
                let head = String::from_utf8_lossy(&self.buffer[..end]).to_lowercase();
                let length = head.split("content-length: ").nth(1).unwrap().split("\r\n").next().unwrap();
                needed = Some(end + 4 + length.parse::<usize>().unwrap());
            }
        }
        std::str::from_utf8(&self.buffer[9..12]).unwrap().parse().unwrap()
    }
}

fn post(path: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    let head = format!("POST {path} HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\n");
    format!("{head}Content-Length: {length}\r\n\r\n{body}").into_bytes()
}

/// The time below which this share of some times is, in milliseconds.
fn quantile(times: &mut [Duration], share: f64) -> f64 {
    times.sort_unstable();
    let place = ((times.len() as f64 * share) as usize).min(times.len() - 1);
    times[place].as_secs_f64() * 1e3
}

/// Answers of a linear problem, one person a question.
async fn linear(seconds: f64) {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/linear/problem.toml");
    let service = Service::start(&example);
    let one = |k: usize| {
        let values = format!(
            r#"{{"education": {}, "income": {}, "savings": {}}}"#,
            8 + k % 5,
            1200 + 37 * k,
            3000 + 53 * k
        );
        post("/v1/recourse", &format!(r#"{{"people": [{{"id": "p{k}", "values": {values}}}]}}"#))
    };
    let questions: Vec<Vec<u8>> = (0..20).map(one).collect();
    let start = Instant::now();
    let until = start + Duration::from_secs_f64(seconds);
    let (_, before) = service.used();
    let asking = (0..CONNECTIONS).map(|number| {
        let (address, questions) = (service.1.clone(), questions.clone());
        tokio::spawn(async move {
            let mut client = Client::connect(&address).await;
            let mut times = Vec::new();
            for question in questions.iter().cycle().skip(number) {
                let asked = Instant::now();
                if asked >= until {
                    break;
                }
                assert_eq!(client.ask(question).await, 200);
                times.push(asked.elapsed());
            }
            times
        })
    });
    let mut times = Vec::new();
    for client in asking.collect::<Vec<_>>() {
        times.extend(client.await.unwrap());
    }
    let elapsed = start.elapsed().as_secs_f64();
    let (memory, after) = service.used();
    println!("| linear problem, one person a question, {CONNECTIONS} connections | |");
    println!("| :-- | --: |");
    println!("| answers per second | {:.0} |", times.len() as f64 / elapsed);
    println!("| half of the answers within | {:.2} ms |", quantile(&mut times, 0.5));
    println!("| 99% within | {:.2} ms |", quantile(&mut times, 0.99));
    println!("| 99.9% within | {:.2} ms |", quantile(&mut times, 0.999));
    println!(
        "| processor time of the service for each answer | {:.0} µs |",
        (after - before) * 1e6 / times.len() as f64
    );
    println!("| memory of the service | {memory:.0} MB |\n");
}

/// A folder with a network whose answers take a second or so.
fn network() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(1);
    let network = surefoot_random::network(&mut random, &[6, 30, 30, 1], Activation::Tanh, 1.0);
    Network::write(folder.path().join("network.safetensors"), &[("", &network)]).unwrap();
    let features: String = (0..6)
        .map(|i| format!("[[feature]]\nname = \"x{i}\"\nlimits = [-3, 3]\nchange = \"any\"\n"))
        .collect();
    let classifier =
        "[classifier]\nnetwork = \"network.safetensors\"\nactivation = \"tanh\"\nthreshold = 0.9\n";
    std::fs::write(folder.path().join("problem.toml"), format!("epsilon = 0.1\n{features}{classifier}"))
        .unwrap();
    folder
}

/// More questions about a network than can be answered.
async fn saturated(seconds: f64) {
    let folder = network();
    let service = Service::start(&folder.path().join("problem.toml"));
    let start = Instant::now();
    let until = start + Duration::from_secs_f64(seconds);
    let asking = (0..CROWD).map(|number| {
        let address = service.1.clone();
        tokio::spawn(async move {
            let mut client = Client::connect(&address).await;
            let (mut answered, mut refused, mut late) = (0, 0, 0);
            for round in 0.. {
                if Instant::now() >= until {
                    break;
                }
                let value = |k: usize| ((number * 7 + round * 3 + k) % 11) as f64 / 11.0 - 1.0;
                let values: Vec<String> = (0..6).map(|k| format!(r#""x{k}": {:.3}"#, value(k))).collect();
                let person = format!(r#"{{"people": [{{"values": {{{}}}}}]}}"#, values.join(", "));
                match client.ask(&post("/v1/recourse", &person)).await {
                    200 => answered += 1,
                    // On a machine that is busy with other things a search may take longer than the service allows.
                    422 => late += 1,
                    429 => {
                        refused += 1;
                        // Less patient than it was told to be.
                        sleep(Duration::from_millis(50)).await;
                    }
                    other => panic!("status {other}"),
                }
            }
            (answered, refused, late)
        })
    });
    let asking: Vec<_> = asking.collect();
    let health = b"GET /healthz HTTP/1.1\r\nHost: here\r\n\r\n";
    let mut client = Client::connect(&service.1).await;
    let (mut times, mut memory): (Vec<Duration>, Vec<f64>) = (Vec::new(), Vec::new());
    while Instant::now() < until {
        let asked = Instant::now();
        assert_eq!(client.ask(health).await, 200);
        times.push(asked.elapsed());
        sleep(Duration::from_millis(5)).await;
        if start.elapsed().as_secs_f64() >= memory.len() as f64 * seconds / 10.0 {
            memory.push(service.used().0);
        }
    }
    let (mut answered, mut refused, mut late) = (0, 0, 0);
    for client in asking {
        let (more_answered, more_refused, more_late) = client.await.unwrap();
        answered += more_answered;
        refused += more_refused;
        late += more_late;
    }
    let memory: Vec<String> = memory.iter().map(|memory| format!("{memory:.0}")).collect();
    println!("| network, {CROWD} clients, every thread searching, {seconds:.0} s | |");
    println!("| :-- | --: |");
    println!("| answers per second | {:.1} |", f64::from(answered) / seconds);
    println!("| refused with 429 per second | {:.1} |", f64::from(refused) / seconds);
    println!("| broken off because they took too long | {late} |");
    println!("| `/healthz`: half within | {:.2} ms |", quantile(&mut times, 0.5));
    println!("| `/healthz`: 99% within | {:.2} ms |", quantile(&mut times, 0.99));
    println!("| `/healthz`: all within | {:.2} ms |", quantile(&mut times, 1.0));
    println!("| memory after each tenth of the time | {} MB |", memory.join(", "));
}

fn main() {
    let seconds = std::env::var("SUREFOOT_SECONDS").ok().map_or(20.0, |text| text.parse().unwrap());
    // One thread for all clients, so that they take little of the machine.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        linear(f64::min(seconds, 20.0)).await;
        saturated(seconds).await;
    });
}
