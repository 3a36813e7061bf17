//! Better answers as they are found, as server-sent events.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use http_body_util::StreamBody;
use hyper::body::Frame;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::{Interval, interval};

use super::answer::{Event, RecourseQuestion};
use super::fault::Fault;
use super::routes::Service;

/// A comment is sent after so many seconds without an event, so that proxies keep the connection.
const COMMENT_SECONDS: u64 = 10;

/// Events of one question. Dropped, it cancels the search.
struct Events {
    events: UnboundedReceiver<Event>,
    comments: Interval,
    is_over: bool,
    /// The task that waits for the answer; it holds the search.
    waiting: tokio::task::JoinHandle<()>,
}

impl Drop for Events {
    fn drop(&mut self) {
        self.waiting.abort();
    }
}

impl Events {
    fn frame(text: String) -> Result<Frame<Bytes>, Infallible> {
        Ok(Frame::data(Bytes::from(text)))
    }
}

impl futures_core::Stream for Events {
    type Item = Result<Frame<Bytes>, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        match self.events.poll_recv(context) {
            Poll::Ready(Some((name, data))) => {
                self.is_over = name == "answer" || name == "error";
                self.comments.reset();
                Poll::Ready(Some(Self::frame(format!("event: {name}\ndata: {data}\n\n"))))
            }
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Pending => self.comments.poll_tick(context).map(|_| Some(Self::frame(":\n\n".into()))),
        }
    }
}

/// The events of a question about one person.
///
/// # Errors
/// If the question is refused before it is begun.
pub fn response(
    service: &Arc<Service>,
    mut question: RecourseQuestion,
    id: String,
) -> Result<Response, Fault> {
    let (sender, events) = unbounded_channel();
    let improvements = sender.clone();
    // Whoever left does not hear it.
    let observer = question.observer(move |event| drop(improvements.send(event)));
    let ticket = service.searches.submit(move || {
        let answer = question.answer(Some(observer))?;
        serde_json::to_string(&answer).map_err(|_| Fault::Internal)
    })?;
    let seconds = service.limits.answer_seconds;
    let waiting = tokio::spawn(async move {
        let event = match ticket.result(seconds).await.and_then(|answer| answer) {
            Ok(answer) => ("answer", answer),
            Err(fault) => ("error", serde_json::to_string(&fault.details(&id)).unwrap_or_default()),
        };
        drop(sender.send(event));
    });
    let mut comments = interval(Duration::from_secs(COMMENT_SECONDS));
    comments.reset();
    let body = Body::new(StreamBody::new(Events { events, comments, is_over: false, waiting }));
    let kind = (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    // Proxies that buffer would hold events back.
    let unbuffered = (header::HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    Ok(([kind, unbuffered], body).into_response())
}
