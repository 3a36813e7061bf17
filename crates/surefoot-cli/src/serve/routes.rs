//! The paths of the service: who may ask, what is read, and what is answered.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{MatchedPath, Query, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;

use super::answer::RecourseResponse;
use super::catalogue::Catalogue;
use super::dispatch::{answer_to, recourse_question, written};
use super::fault::{Fault, ProblemDetails};
use super::metrics::{Gauges, Metrics};
use super::question::{
    AttackRequest, CertifyRequest, LetterRequest, RecourseRequest, TradeOffRequest, VerifyRequest,
};
use super::searches::Searches;
use super::{about, judge, openapi, page, policy, stream, tell};

/// What requests may cost.
#[derive(Clone, Copy)]
pub struct Limits {
    /// The largest body, in bytes.
    pub body: usize,
    /// The largest number of people in a request.
    pub people: usize,
    /// Seconds that an answer may take.
    pub answer_seconds: f64,
    /// Seconds within which headers, and then the body, must arrive.
    pub request_seconds: f64,
}

/// A running service.
pub struct Service {
    /// The problems.
    pub catalogue: Catalogue,
    /// The threads of searches.
    pub searches: Searches,
    /// Counts.
    pub metrics: Metrics,
    /// What requests may cost.
    pub limits: Limits,
    /// What requests must know, if anything.
    pub token: Option<String>,
    /// The content policy.
    pub policy: HeaderValue,
    /// Whether each request is logged.
    pub logs_requests: bool,
    /// The part of request ids that differs from start to start.
    pub start: u64,
}

/// The number of a request, in its extensions.
#[derive(Clone)]
pub struct RequestId(pub String);

/// Bodies up to this size are read, and answered if a closed form does, by the thread of the connection.
const SMALL_BODY: usize = 1 << 14;
/// The number of people that closed forms answer on the thread of the connection: a few dozen microseconds each.
const FEW_PEOPLE: usize = 16;

/// Every path.
pub fn router(service: Arc<Service>) -> Router {
    let mut router = Router::new()
        .route("/v1/problems", with_method(get(problems)))
        .route("/v1/problem", with_method(get(problem)))
        .route("/v1/recourse", with_method(post(recourse)))
        .route("/v1/recourse/stream", with_method(post(recourse_stream)))
        .route("/v1/certify", with_method(post(certify)))
        .route("/v1/attack", with_method(post(attack)))
        .route("/v1/trade-off", with_method(post(trade_off)))
        .route("/v1/letter", with_method(post(letter)))
        .route("/v1/verify", with_method(post(verify)))
        .route("/healthz", with_method(get(async || "ok\n")))
        .route("/readyz", with_method(get(ready)))
        .route("/metrics", with_method(get(metrics)))
        .route("/openapi.json", with_method(get(async || json_text(openapi::document()))));
    for asset in page::ASSETS.iter().chain(openapi::VIEWER) {
        let tag = policy::tag(asset.bytes);
        let handler = async move |headers: HeaderMap| asset_response(asset, &tag, &headers);
        router = router.route(asset.path, with_method(get(handler)));
    }
    router
        .fallback(async || Failed(Fault::NotFound))
        .layer(from_fn_with_state(service.clone(), around))
        .with_state(service)
}

/// A path that answers other methods with problem details.
fn with_method(route: MethodRouter<Arc<Service>>) -> MethodRouter<Arc<Service>> {
    route.fallback(async || Failed(Fault::Method))
}

/// A fault, to become the response in [`around`], which knows the number of the request.
pub struct Failed(Fault);

impl IntoResponse for Failed {
    fn into_response(self) -> Response {
        let mut response = self.0.status().into_response();
        response.extensions_mut().insert(Arc::new(self.0));
        response
    }
}

impl From<Fault> for Failed {
    fn from(fault: Fault) -> Self {
        Self(fault)
    }
}

/// What is done around every request: its number, the token, headers, counts and the log.
async fn around(State(service): State<Arc<Service>>, mut request: Request, next: Next) -> Response {
    let start = Instant::now();
    let id = request_id(&service, request.headers());
    let path = match request.extensions().get::<MatchedPath>() {
        Some(path) => path.as_str().to_owned(),
        None => "other".into(),
    };
    let method = request.method().clone();
    request.extensions_mut().insert(RequestId(id.clone()));
    let asks_for_token = path.starts_with("/v1/") || path == "/metrics";
    let mut response = match asks_for_token && !knows_token(&service, request.headers()) {
        true => Failed(Fault::Token).into_response(),
        false => next.run(request).await,
    };
    if let Some(fault) = response.extensions_mut().remove::<Arc<Fault>>() {
        let allow = response.headers_mut().remove(header::ALLOW);
        response = fault.response(&id);
        if let Some(allow) = allow {
            response.headers_mut().insert(header::ALLOW, allow);
        }
        if *fault == Fault::Slow {
            // The rest of the request is not read.
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
    }
    policy::add_headers(response.headers_mut(), &service.policy);
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    let status = response.status();
    service.metrics.count(&path, status.as_u16(), start.elapsed());
    let is_fault = status == StatusCode::INTERNAL_SERVER_ERROR;
    if service.logs_requests || is_fault {
        let method = if method_is_known(&method) { method.as_str() } else { "other" };
        let took = start.elapsed().as_secs_f64() * 1e3;
        crate::warn(&format!("{method} {path} {} {took:.1} ms, request {id}", status.as_u16()));
    }
    response
}

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

fn method_is_known(method: &Method) -> bool {
    [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::DELETE, Method::OPTIONS].contains(method)
}

/// The number that the client gave the request, or a new one.
fn request_id(service: &Service, headers: &HeaderMap) -> String {
    static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    let given = headers.get(REQUEST_ID).and_then(|id| id.to_str().ok());
    let is_fine = |id: &&str| {
        (1..=64).contains(&id.len())
            && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    };
    match given.filter(is_fine) {
        Some(id) => id.to_owned(),
        None => format!("{:08x}{:08x}", service.start as u32, NEXT.fetch_add(1, Ordering::Relaxed) as u32),
    }
}

/// Whether a request knows the token, if there is one. How long that takes tells nothing of the token.
fn knows_token(service: &Service, headers: &HeaderMap) -> bool {
    let Some(token) = &service.token else { return true };
    let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let scheme_and_token = given.and_then(|given| given.split_once(' '));
    let Some((_, given)) = scheme_and_token.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
    else {
        return false;
    };
    policy::digest(given.trim().as_bytes()).ct_eq(&policy::digest(token.as_bytes())).into()
}

/// A response of JSON.
fn json(body: &impl Serialize) -> Result<Response, Failed> {
    Ok(json_text(written(body)?))
}

fn json_text(body: impl Into<Body>) -> Response {
    ([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], body.into()).into_response()
}

fn asset_response(asset: &'static page::Asset, tag: &HeaderValue, headers: &HeaderMap) -> Response {
    let cache = (header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    let tagged = (header::ETAG, tag.clone());
    if headers.get(header::IF_NONE_MATCH) == Some(tag) {
        return (StatusCode::NOT_MODIFIED, [cache, tagged]).into_response();
    }
    let kind = (header::CONTENT_TYPE, HeaderValue::from_static(asset.media_type));
    ([cache, tagged, kind], asset.bytes).into_response()
}
/// The problems that are served.
#[utoipa::path(
    get,
    path = "/v1/problems",
    operation_id = "problems",
    responses(
        (status = 200, description = "The problems that are served", body = about::ProblemsResponse),
        (status = "4XX", description = "An error of the request", body = ProblemDetails, content_type = "application/problem+json"),
        (status = "5XX", description = "A fault of the service", body = ProblemDetails, content_type = "application/problem+json"),
    )
)]
pub async fn problems(State(service): State<Arc<Service>>) -> Result<Response, Failed> {
    json(&about::problems(&service.catalogue))
}

/// Which problem is asked about.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Named {
    name: Option<String>,
}
/// One problem: its columns with their words, its limits and its graph.
#[utoipa::path(
    get,
    path = "/v1/problem",
    operation_id = "problem",
    params(("name" = Option<String>, Query, description = "The name of the problem; may be left out if there is only one")),
    responses(
        (status = 200, description = "One problem: its columns with their words, its limits and its graph", body = about::ProblemResponse),
        (status = "4XX", description = "An error of the request", body = ProblemDetails, content_type = "application/problem+json"),
        (status = "5XX", description = "A fault of the service", body = ProblemDetails, content_type = "application/problem+json"),
    )
)]
pub async fn problem(
    State(service): State<Arc<Service>>,
    query: Result<Query<Named>, axum::extract::rejection::QueryRejection>,
) -> Result<Response, Failed> {
    let Query(Named { name }) =
        query.map_err(|_| Fault::Invalid("the query is unknown; give `name`, or nothing".into()))?;
    let served = service.catalogue.find(name.as_deref())?;
    json(&about::problem(&served, service.limits.people))
}

async fn ready(State(service): State<Arc<Service>>) -> Response {
    match service.searches.is_full() {
        true => (StatusCode::SERVICE_UNAVAILABLE, "the queue is full\n").into_response(),
        false => "ready\n".into_response(),
    }
}

async fn metrics(State(service): State<Arc<Service>>) -> Response {
    let entries = service.catalogue.entries();
    let gauges = Gauges {
        waiting: service.searches.waiting(),
        running: service.searches.running(),
        cancelled: service.searches.cancelled(),
        problems: entries.values().filter(|entry| entry.served.is_some()).count(),
        mistaken: entries.values().filter(|entry| entry.mistake.is_some()).count(),
    };
    let kind = HeaderValue::from_static("text/plain; version=0.0.4");
    ([(header::CONTENT_TYPE, kind)], service.metrics.text(&gauges)).into_response()
}

/// The body of a request, if it is JSON, not too large, and arrives in time.
async fn body_of(service: &Service, request: Request) -> Result<Bytes, Failed> {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        return Err(Fault::MediaType.into());
    }
    let too_large =
        || Fault::TooLarge(format!("the body has more than {} bytes; ask in parts", service.limits.body));
    let stated = request.headers().get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    if stated
        .and_then(|length| length.parse().ok())
        .is_some_and(|length: u64| length > service.limits.body as u64)
    {
        return Err(too_large().into());
    }
    let body = Limited::new(request.into_body(), service.limits.body).collect();
    let seconds = Duration::from_secs_f64(service.limits.request_seconds);
    match tokio::time::timeout(seconds, body).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large().into()),
        // Whoever breaks off a request does not read this.
        Ok(Err(_)) => Err(Fault::Json("the body is not complete".into()).into()),
        Err(_) => Err(Fault::Slow.into()),
    }
}

/// Answers a question on a thread of searches.
async fn answered(
    service: Arc<Service>,
    answer: impl FnOnce(&Service) -> Result<Vec<u8>, Fault> + Send + 'static,
) -> Result<Response, Failed> {
    let seconds = service.limits.answer_seconds;
    let searches = service.searches.clone();
    let ticket = searches.submit(move || answer(&service))?;
    Ok(json_text(ticket.result(seconds).await??))
}

/// Answers the question in a body on a thread of searches.
async fn answered_on(
    path: &'static str,
    service: Arc<Service>,
    request: Request,
) -> Result<Response, Failed> {
    let body = body_of(&service, request).await?;
    answered(service, move |service| answer_to(path, &body, &service.catalogue, service.limits.people)).await
}

/// What people can do.
#[utoipa::path(
    post,
    path = "/v1/recourse",
    operation_id = "recourse",
    request_body = RecourseRequest,
    responses(
        (status = 200, description = "What people can do", body = RecourseResponse),
        (status = "4XX", description = "An error of the request", body = ProblemDetails, content_type = "application/problem+json"),
        (status = "5XX", description = "A fault of the service", body = ProblemDetails, content_type = "application/problem+json"),
    )
)]
pub async fn recourse(State(service): State<Arc<Service>>, request: Request) -> Result<Response, Failed> {
    let body = body_of(&service, request).await?;
    let most = service.limits.people;
    if body.len() > SMALL_BODY {
        let answer = move |service: &Service| answer_to("/v1/recourse", &body, &service.catalogue, most);
        return answered(service, answer).await;
    }
    let mut question = recourse_question(&body, &service.catalogue, most)?;
    match question.answer_at_once(FEW_PEOPLE)? {
        Some(response) => json(&response),
        None => answered(service, move |_| written(&question.answer(None)?)).await,
    }
}

/// The same for one person, with better answers as they are found.
#[utoipa::path(
    post,
    path = "/v1/recourse/stream",
    operation_id = "recourse_stream",
    request_body = RecourseRequest,
    responses(
        (status = 200, description = "The same for one person, with better answers as they are found", body = String, content_type = "text/event-stream"),
        (status = "4XX", description = "An error of the request", body = ProblemDetails, content_type = "application/problem+json"),
        (status = "5XX", description = "A fault of the service", body = ProblemDetails, content_type = "application/problem+json"),
    )
)]
pub async fn recourse_stream(
    State(service): State<Arc<Service>>,
    request: Request,
) -> Result<Response, Failed> {
    let id = request.extensions().get::<RequestId>().map_or(String::new(), |id| id.0.clone());
    let body = body_of(&service, request).await?;
    if body.len() > SMALL_BODY {
        let text = format!("the body has more than {SMALL_BODY} bytes; one person needs less");
        return Err(Fault::TooLarge(text).into());
    }
    let question = recourse_question(&body, &service.catalogue, service.limits.people)?;
    question.require_one()?;
    Ok(stream::response(&service, question, id)?)
}
/// Whether actions hold, with proof.
#[utoipa::path(
    post,
    path = "/v1/certify",
    operation_id = "certify",
    request_body = CertifyRequest,
    responses(
        (status = 200, description = "Whether actions hold, with proof", body = judge::CertifyResponse),
        (status = "4XX", description = "An error of the request", body = ProblemDetails, content_type = "application/problem+json"),
        (status = "5XX", description = "A fault of the service", body = ProblemDetails, content_type = "application/problem+json"),
    )
)]
pub async fn certify(State(service): State<Arc<Service>>, request: Request) -> Result<Response, Failed> {
    answered_on("/v1/certify", service, request).await
}
/// The smallest shifts that break actions.
#[utoipa::path(
    post,
    path = "/v1/attack",
    operation_id = "attack",
    request_body = AttackRequest,
    responses(
        (status = 200, description = "The smallest shifts that break actions", body = judge::AttackResponse),
        (status = "4XX", description = "An error of the request", body = ProblemDetails, content_type = "application/problem+json"),
        (status = "5XX", description = "A fault of the service", body = ProblemDetails, content_type = "application/problem+json"),
    )
)]
pub async fn attack(State(service): State<Arc<Service>>, request: Request) -> Result<Response, Failed> {
    answered_on("/v1/attack", service, request).await
}
/// The cheapest action for each size of the uncertainty.
#[utoipa::path(
    post,
    path = "/v1/trade-off",
    operation_id = "trade_off",
    request_body = TradeOffRequest,
    responses(
        (status = 200, description = "The cheapest action for each size of the uncertainty", body = tell::TradeOffResponse),
        (status = "4XX", description = "An error of the request", body = ProblemDetails, content_type = "application/problem+json"),
        (status = "5XX", description = "A fault of the service", body = ProblemDetails, content_type = "application/problem+json"),
    )
)]
pub async fn trade_off(State(service): State<Arc<Service>>, request: Request) -> Result<Response, Failed> {
    answered_on("/v1/trade-off", service, request).await
}
/// Letters in words.
#[utoipa::path(
    post,
    path = "/v1/letter",
    operation_id = "letter",
    request_body = LetterRequest,
    responses(
        (status = 200, description = "Letters in words", body = tell::LetterResponse),
        (status = "4XX", description = "An error of the request", body = ProblemDetails, content_type = "application/problem+json"),
        (status = "5XX", description = "A fault of the service", body = ProblemDetails, content_type = "application/problem+json"),
    )
)]
pub async fn letter(State(service): State<Arc<Service>>, request: Request) -> Result<Response, Failed> {
    answered_on("/v1/letter", service, request).await
}
/// Whether saved proofs are right.
#[utoipa::path(
    post,
    path = "/v1/verify",
    operation_id = "verify",
    request_body = VerifyRequest,
    responses(
        (status = 200, description = "Whether saved proofs are right", body = judge::VerifyResponse),
        (status = "4XX", description = "An error of the request", body = ProblemDetails, content_type = "application/problem+json"),
        (status = "5XX", description = "A fault of the service", body = ProblemDetails, content_type = "application/problem+json"),
    )
)]
pub async fn verify(State(service): State<Arc<Service>>, request: Request) -> Result<Response, Failed> {
    answered_on("/v1/verify", service, request).await
}
