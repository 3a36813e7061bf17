//! `surefoot serve`: answers over HTTP.
//!
//! Questions are checked on the threads of connections, which also answer what a closed form answers. Searches are on
//! threads of their own (`searches`), which are nicer, so that connections are served while all of them are busy.

mod about;
mod answer;
mod catalogue;
mod dispatch;
mod fault;
mod judge;
mod metrics;
mod openapi;
mod page;
mod policy;
mod question;
mod routes;
mod searches;
mod server;
mod stream;
mod tell;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, bail};
use clap::Args;
use rayon::prelude::*;
use surefoot::Cancel;

use catalogue::Catalogue;
pub use dispatch::Offline;
use fault::Fault;
use metrics::Metrics;
use routes::{Limits, Service};
use searches::{Searches, yield_to_connections};

/// What `surefoot serve` can be asked.
#[derive(Args)]
pub struct Options {
    /// A problem file, or a folder of them: `NAME.toml`, `NAME.json` and `NAME/problem.toml`. Changed files are read
    /// again; invalid ones are reported, and the problem that was read before is served on.
    problem: PathBuf,
    /// Where to listen. Other addresses than those of this machine let everybody in who reaches it.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
    /// A file with a token that every question must have: `Authorization: Bearer TOKEN`. Also the environment
    /// variable SUREFOOT_TOKEN.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Your own codes and words for reasons, as of `surefoot letters`; for one problem only.
    #[arg(long, value_name = "FILE")]
    reasons: Option<PathBuf>,
    /// Threads for searches; as many as there are cores unless given.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Questions that may wait for a thread. Further ones are refused with 429.
    #[arg(long, value_name = "COUNT", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    queue: u32,
    /// Seconds that an answer may take, waiting included.
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0)]
    answer_seconds: f64,
    /// Seconds within which the headers of a request, and then its body, must arrive; idle connections are closed
    /// after as many.
    #[arg(long, value_name = "SECONDS", default_value_t = 15.0)]
    request_seconds: f64,
    /// Seconds that questions which are being answered get to end when the service is stopped.
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0)]
    stop_seconds: f64,
    /// The largest body of a request, in megabytes.
    #[arg(long, value_name = "MEGABYTES", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=1024))]
    body: u16,
    /// The largest number of people in a request.
    #[arg(long, value_name = "COUNT", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    people: u32,
    /// The largest number of open connections. Further ones are refused with 503.
    #[arg(long, value_name = "COUNT", default_value_t = 15_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    connections: u32,
    /// Log every request: its method, path, status, time and number, nothing else.
    #[arg(long)]
    log: bool,
}

/// How often files are looked at.
const LOOK: Duration = Duration::from_millis(500);

/// Serves until a signal stops it.
pub fn run(options: &Options) -> Result<String> {
    for (name, seconds) in [
        ("--answer-seconds", options.answer_seconds),
        ("--request-seconds", options.request_seconds),
        ("--stop-seconds", options.stop_seconds),
    ] {
        if !(seconds > 0.0 && seconds <= 86_400.0) {
            bail!("{name} {seconds}: must be more than 0, and a day at most");
        }
    }
    let token = token(options)?;
    let catalogue = Catalogue::open(&options.problem, options.reasons.as_deref())?;
    // A pool that is there already is as good; its threads are less nice.
    let _ = rayon::ThreadPoolBuilder::new().start_handler(|_| yield_to_connections()).build_global();
    let threads = options.threads.map_or_else(rayon::current_num_threads, usize::from);
    let searches = Searches::start(threads, options.queue as usize)?;
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let service = Arc::new(Service {
        catalogue,
        searches,
        metrics: Metrics::default(),
        limits: Limits {
            body: usize::from(options.body) << 20,
            people: options.people as usize,
            answer_seconds: options.answer_seconds,
            request_seconds: options.request_seconds,
        },
        token,
        policy: policy::content_policy(),
        logs_requests: options.log,
        start: now.as_nanos() as u64,
    });
    if !options.listen.ip().is_loopback() && service.token.is_none() {
        crate::warn("everybody who reaches this address is answered: there is no token");
    }
    for (name, entry) in service.catalogue.entries().iter() {
        report(name, entry.mistake.as_deref());
    }
    watch(service.clone())?;
    server::run(&service, options)
}

/// The token, from its file or the environment.
fn token(options: &Options) -> Result<Option<String>> {
    let token = match &options.token_file {
        Some(path) => {
            let text = surefoot::file::read_to_string(path);
            Some(text.with_context(|| format!("--token-file: {} cannot be read", path.display()))?)
        }
        None => std::env::var("SUREFOOT_TOKEN").ok(),
    };
    let token = token.map(|token| token.trim().to_owned());
    match &token {
        Some(token) if token.is_empty() => bail!("the token is empty; give one of at least 16 characters"),
        Some(token) if token.len() < 16 => {
            bail!("the token is too short; give one of at least 16 characters")
        }
        Some(token) if !token.bytes().all(|byte| byte.is_ascii_graphic()) => {
            bail!("the token has characters that no header may have; use letters and digits")
        }
        _ => Ok(token),
    }
}

/// Says what was read, or what is wrong with it.
fn report(name: &str, mistake: Option<&str>) {
    match mistake {
        Some(mistake) => crate::warn(&format!("problem {name}: {mistake}")),
        None => crate::warn(&format!("problem {name}: read")),
    }
}

/// Looks at the files from time to time.
fn watch(service: Arc<Service>) -> Result<()> {
    let look = move || {
        let mut last = String::new();
        loop {
            thread::sleep(LOOK);
            match service.catalogue.reload() {
                Ok(changes) => {
                    last.clear();
                    for change in changes {
                        report(&change.name, change.mistake.as_deref());
                        service.metrics.reloads.fetch_add(1, Ordering::Relaxed);
                    }
                }
                Err(error) => {
                    let error = format!("{error:#}");
                    if error != last {
                        crate::warn(&error);
                    }
                    last = error;
                }
            }
        }
    };
    thread::Builder::new().name("files".into()).spawn(look)?;
    Ok(())
}

/// What is done for each of several people (or proofs): on this thread for one, otherwise on all cores.
fn each<P: Sync, T: Send>(
    all: &[P],
    answer: impl Fn(usize, &P) -> Result<T, Fault> + Sync,
) -> Result<Vec<T>, Fault> {
    match all {
        [only] => Ok(vec![answer(0, only)?]),
        _ => {
            let cancel = Cancel::current();
            let answer = |(number, one)| match &cancel {
                Some(cancel) if cancel.is_cancelled() => Err(Fault::Stopping),
                Some(cancel) => cancel.watch(|| answer(number, one)),
                None => answer(number, one),
            };
            // The first of several faults, whatever the number of threads.
            let done: Vec<Result<T, Fault>> = all.par_iter().enumerate().map(answer).collect();
            done.into_iter().collect()
        }
    }
}
