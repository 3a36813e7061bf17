//! The files of the page, which are embedded in the binary. They are built from the folder `page` of the repository.

/// A file that is served under a path.
pub struct Asset {
    /// The path, such as `/` or `/page.js`.
    pub path: &'static str,
    /// The media type.
    pub media_type: &'static str,
    /// The content.
    pub bytes: &'static [u8],
}

/// Every file of the page.
pub const ASSETS: &[Asset] = &[
    Asset { path: "/", media_type: "text/html; charset=utf-8", bytes: include_bytes!("page/index.html") },
    Asset {
        path: "/page.js",
        media_type: "text/javascript; charset=utf-8",
        bytes: include_bytes!("page/page.js"),
    },
    Asset {
        path: "/page.css",
        media_type: "text/css; charset=utf-8",
        bytes: include_bytes!("page/page.css"),
    },
    Asset { path: "/icon.svg", media_type: "image/svg+xml", bytes: include_bytes!("page/icon.svg") },
];
