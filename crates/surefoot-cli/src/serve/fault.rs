//! What may go wrong with a request, as problem details (RFC 9457).

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

/// Why a request gets no answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// The body is not JSON, or a field is unknown or of the wrong type.
    Json(String),
    /// The token is missing or another one.
    Token,
    /// There is nothing of this name.
    NotFound,
    /// No problem of this name is served, or it has to be named.
    UnknownProblem(String),
    /// The path knows other methods only.
    Method,
    /// The request did not arrive in time.
    Slow,
    /// The body or the number of people is too large.
    TooLarge(String),
    /// The body is not JSON by its media type.
    MediaType,
    /// A person, an action or a setting makes no sense.
    Invalid(String),
    /// The answer takes longer than the service allows, in seconds.
    TimeLimit(f64),
    /// Too many questions wait; seconds after which to ask again.
    Busy(u64),
    /// A fault of the service.
    Internal,
    /// The service is being stopped.
    Stopping,
}

/// Problem details of an error.
#[derive(Serialize, ToSchema)]
pub struct ProblemDetails {
    /// What kind of error it is: a URN.
    #[serde(rename = "type")]
    kind: String,
    /// The kind in words.
    title: &'static str,
    /// The status of the response.
    status: u16,
    /// What is wrong, where, and what to do.
    detail: String,
    /// The `X-Request-Id` of the response.
    request_id: String,
}

impl Fault {
    /// The status, the end of the type, and the title.
    fn kind(&self) -> (StatusCode, &'static str, &'static str) {
        match self {
            Self::Json(_) => (StatusCode::BAD_REQUEST, "json", "The body is not such a question"),
            Self::Token => (StatusCode::UNAUTHORIZED, "token", "The service asks for a token"),
            Self::NotFound => (StatusCode::NOT_FOUND, "not-found", "There is nothing of this name"),
            Self::UnknownProblem(_) => {
                (StatusCode::NOT_FOUND, "unknown-problem", "No problem of this name is served")
            }
            Self::Method => (StatusCode::METHOD_NOT_ALLOWED, "method", "The path does not know this method"),
            Self::Slow => (StatusCode::REQUEST_TIMEOUT, "slow", "The request did not arrive in time"),
            Self::TooLarge(_) => (StatusCode::PAYLOAD_TOO_LARGE, "too-large", "The request is too large"),
            Self::MediaType => {
                (StatusCode::UNSUPPORTED_MEDIA_TYPE, "media-type", "The body is of another type")
            }
            Self::Invalid(_) => {
                (StatusCode::UNPROCESSABLE_ENTITY, "invalid", "What was asked for cannot be answered")
            }
            Self::TimeLimit(_) => {
                (StatusCode::UNPROCESSABLE_ENTITY, "time-limit", "The answer takes too long")
            }
            Self::Busy(_) => (StatusCode::TOO_MANY_REQUESTS, "busy", "Too many questions wait"),
            Self::Internal => {
                (StatusCode::INTERNAL_SERVER_ERROR, "internal", "There is a fault in the service")
            }
            Self::Stopping => (StatusCode::SERVICE_UNAVAILABLE, "stopping", "The service is being stopped"),
        }
    }

    /// The status of the response.
    pub fn status(&self) -> StatusCode {
        self.kind().0
    }

    /// What is wrong, where, and what to do.
    fn detail(&self) -> String {
        match self {
            Self::Json(detail)
            | Self::Invalid(detail)
            | Self::UnknownProblem(detail)
            | Self::TooLarge(detail) => detail.clone(),
            Self::Token => "give the token of the service: `Authorization: Bearer TOKEN`".into(),
            Self::NotFound => "`/openapi.json` lists what there is".into(),
            Self::Method => "`/openapi.json` lists what each path knows".into(),
            Self::Slow => "send the whole request at once".into(),
            Self::MediaType => "send JSON, with `Content-Type: application/json`".into(),
            Self::TimeLimit(seconds) => format!(
                "the service answers within {seconds} seconds; give `seconds` below that for the best answer by then, \
                 fewer `evaluations`, or fewer people"
            ),
            Self::Busy(seconds) => format!("ask again in {seconds} s"),
            Self::Internal => "the log of the service names the request and the fault".into(),
            Self::Stopping => "ask again when it has been started again".into(),
        }
    }

    /// The details of this error in the response to a request.
    pub fn details(&self, request_id: &str) -> ProblemDetails {
        let (status, kind, title) = self.kind();
        ProblemDetails {
            kind: format!("urn:surefoot:error:{kind}"),
            title,
            status: status.as_u16(),
            detail: self.detail(),
            request_id: request_id.into(),
        }
    }

    /// The response to a request.
    pub fn response(&self, request_id: &str) -> Response {
        let body = serde_json::to_vec(&self.details(request_id)).unwrap_or_default();
        let json = (header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        let mut response = (self.status(), [json], Body::from(body)).into_response();
        if let Self::Busy(seconds) = self {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(*seconds));
        }
        if *self == Self::Token {
            let challenge = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
        }
        response
    }
}

/// The options of the command line that are fields of requests.
const FIELDS: [&str; 9] =
    ["method", "gap", "evaluations", "seconds", "options", "explain", "proofs", "epsilons", "language"];

/// The message of an error, in which options of the command line are fields of the request.
impl From<anyhow::Error> for Fault {
    fn from(error: anyhow::Error) -> Self {
        let mut message = format!("{error:#}");
        for field in FIELDS {
            message = message.replace(&format!("--{field}"), &format!("`{field}`"));
        }
        Self::Invalid(message)
    }
}

impl From<surefoot::Error> for Fault {
    fn from(error: surefoot::Error) -> Self {
        anyhow::Error::from(error).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_fields_instead_of_options() {
        let error = anyhow::anyhow!("--gap 2: must be less than 1; or choose another --method");
        let fault = Fault::from(error);
        assert_eq!(fault, Fault::Invalid("`gap` 2: must be less than 1; or choose another `method`".into()));
        let details = fault.details("7");
        assert_eq!((details.status, details.kind.as_str()), (422, "urn:surefoot:error:invalid"));
    }
}
