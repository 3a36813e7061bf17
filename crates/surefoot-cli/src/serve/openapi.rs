//! The OpenAPI document, and the files of its viewer.

use std::sync::LazyLock;

use utoipa::OpenApi;

use super::page::Asset;
use super::routes;

/// The interface as OpenAPI describes it.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Surefoot",
        description = "What people can do who are turned down, at the least effort, that still works if their circumstances shift a little: with proof. People, actions and limits are in people's own units."
    ),
    paths(
        routes::problems,
        routes::problem,
        routes::recourse,
        routes::recourse_stream,
        routes::certify,
        routes::attack,
        routes::trade_off,
        routes::letter,
        routes::verify,
    )
)]
struct Interface;

/// The document as JSON.
pub fn document() -> &'static str {
    static DOCUMENT: LazyLock<String> = LazyLock::new(|| {
        // It is built from texts and always can be written.
        Interface::openapi().to_pretty_json().unwrap_or_default()
    });
    &DOCUMENT
}

/// The viewer: a page that shows the document, without anything from elsewhere.
pub const VIEWER: &[Asset] = &[
    Asset {
        path: "/docs",
        media_type: "text/html; charset=utf-8",
        bytes: include_bytes!("viewer/index.html"),
    },
    Asset {
        path: "/docs/viewer.js",
        media_type: "text/javascript; charset=utf-8",
        bytes: include_bytes!("viewer/viewer.js"),
    },
    Asset {
        path: "/docs/viewer.css",
        media_type: "text/css; charset=utf-8",
        bytes: include_bytes!("viewer/viewer.css"),
    },
];
