//! The files of the page, which are embedded in the binary.

/// A file that is served under a path.
pub struct Asset {
    /// The path, such as `/` or `/assets/page.js`.
    pub path: &'static str,
    /// The media type.
    pub media_type: &'static str,
    /// The content.
    pub bytes: &'static [u8],
}

/// Every file of the page.
pub const ASSETS: &[Asset] =
    &[Asset { path: "/", media_type: "text/html; charset=utf-8", bytes: include_bytes!("page.html") }];
