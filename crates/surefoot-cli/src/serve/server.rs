//! Connections: how many there may be, how slow they may be, and how they end.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context as TaskContext, Poll, ready};
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant, Sleep, sleep, timeout};

use super::Options;
use super::routes::{Service, router};

/// The largest headers of a request.
const HEADER_BYTES: usize = 1 << 15;
/// Descriptors beside those of connections: files, threads, and some to spare.
const OTHER_DESCRIPTORS: u64 = 64;
/// What somebody reads for whom there is no connection.
const REFUSAL: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

/// Serves until a signal stops the service.
pub fn run(service: &Arc<Service>, options: &Options) -> Result<String> {
    let most = allowed_connections(options.connections);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .thread_name("connections")
        .enable_io()
        .enable_time()
        .build()
        .context("no threads for connections")?;
    let stop = stop_on_signals()?;
    runtime.block_on(async {
        let listener = TcpListener::bind(options.listen).await;
        let listener = listener.map_err(|error| anyhow!("--listen {}: {error}", options.listen))?;
        let address = listener.local_addr().context("the address is not known")?;
        crate::warn(&format!("listening on http://{address}"));
        serve(service, listener, most, stop, options.stop_seconds).await;
        Ok("Stopped.\n".into())
    })
}

/// As many connections as were asked for and as the system allows.
fn allowed_connections(wanted: u32) -> usize {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let needed = u64::from(wanted) + OTHER_DESCRIPTORS;
        let limit = getrlimit(Resource::Nofile);
        let raised = limit.maximum.map_or(needed, |most| most.min(needed));
        if limit.current.is_some_and(|current| current < raised) {
            let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(raised), ..limit });
        }
        let allowed = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        let most = allowed.saturating_sub(OTHER_DESCRIPTORS).max(1);
        if most < u64::from(wanted) {
            crate::warn(&format!("the system allows {most} connections, fewer than --connections {wanted}"));
        }
        usize::try_from(most.min(u64::from(wanted))).unwrap_or(1)
    }
    #[cfg(not(unix))]
    {
        wanted as usize
    }
}

/// Becomes true at the first signal that asks the service to stop. A second one ends it at once.
fn stop_on_signals() -> Result<watch::Receiver<bool>> {
    let (told, stop) = watch::channel(false);
    let mut signals =
        signal_hook::iterator::Signals::new([signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT])
            .context("signals cannot be handled")?;
    let wait = move || {
        for (number, signal) in signals.forever().enumerate() {
            if number > 0 {
                let _ = signal_hook::low_level::emulate_default_handler(signal);
            }
            crate::warn("stopping: what is being answered is finished; another signal ends it at once");
            let _ = told.send(true);
        }
    };
    std::thread::Builder::new().name("stop".into()).spawn(wait).context("no thread for signals")?;
    Ok(stop)
}

async fn serve(
    service: &Arc<Service>,
    listener: TcpListener,
    most: usize,
    mut stop: watch::Receiver<bool>,
    stop_seconds: f64,
) {
    let router = router(service.clone());
    let places = Arc::new(Semaphore::new(most));
    let stopped = stop.clone();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.wait_for(|stops| *stops) => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            // Too many descriptors, or whoever asked has left.
            Err(_) => {
                sleep(Duration::from_millis(10)).await;
                continue;
            }
        };
        let Ok(place) = places.clone().try_acquire_owned() else {
            service.metrics.refused_connections.fetch_add(1, Ordering::Relaxed);
            tokio::spawn(refuse(stream));
            continue;
        };
        let (service, router, stopped) = (service.clone(), router.clone(), stopped.clone());
        tokio::spawn(async move {
            service.metrics.connections.fetch_add(1, Ordering::Relaxed);
            connection(&service, router, stream, stopped).await;
            service.metrics.connections.fetch_sub(1, Ordering::Relaxed);
            drop(place);
        });
    }
    drop(listener);
    // Connections end when they have answered; those that do not in time are closed.
    let ended = places.acquire_many(u32::try_from(most).unwrap_or(u32::MAX));
    let _ = timeout(Duration::from_secs_f64(stop_seconds), ended).await;
    service.searches.close();
}

/// Serves one connection to its end.
async fn connection(
    service: &Service,
    router: axum::Router,
    stream: TcpStream,
    mut stopped: watch::Receiver<bool>,
) {
    // Without it answers wait for the acknowledgement of what was sent before.
    let _ = stream.set_nodelay(true);
    let patience = Duration::from_secs_f64(service.limits.request_seconds);
    let stream = TokioIo::new(Patient::new(stream, patience));
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(patience).max_buf_size(HEADER_BYTES);
    let connection = builder.serve_connection(stream, TowerToHyperService::new(router));
    tokio::pin!(connection);
    // Errors of a connection are those of the client.
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = stopped.wait_for(|stops| *stops) => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}

/// Says that there is no connection left.
async fn refuse(mut stream: TcpStream) {
    let _ = timeout(Duration::from_secs(1), stream.write_all(REFUSAL)).await;
}

/// A stream that fails if the other side reads nothing for too long.
struct Patient {
    stream: TcpStream,
    patience: Duration,
    /// When a write that waits fails.
    end: Option<Pin<Box<Sleep>>>,
}

impl Patient {
    fn new(stream: TcpStream, patience: Duration) -> Self {
        Self { stream, patience, end: None }
    }

    /// The result of a write, or a failure if it has waited for too long.
    fn patiently<T>(
        &mut self,
        written: Poll<io::Result<T>>,
        context: &mut TaskContext<'_>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.end = None;
            return written;
        }
        let until = Instant::now() + self.patience;
        let end = self.end.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(until)));
        ready!(end.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Patient {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut TaskContext<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Patient {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut TaskContext<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.patiently(written, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut TaskContext<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.patiently(written, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut TaskContext<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.patiently(flushed, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut TaskContext<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
