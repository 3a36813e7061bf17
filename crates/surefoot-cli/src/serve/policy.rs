//! Headers by which browsers protect the page, and digests.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use sha2::{Digest, Sha256};
use surefoot::report::letter::{Format, Language};

/// The digest of bytes.
pub fn digest(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// The tag of an asset, which changes with its content.
pub fn tag(bytes: &[u8]) -> HeaderValue {
    let hex: String = digest(bytes)[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    HeaderValue::from_str(&format!("\"{hex}\"")).unwrap_or(HeaderValue::from_static("\"\""))
}

/// The content policy: nothing from elsewhere, no script and no style in the page itself but the style of letters.
pub fn content_policy() -> HeaderValue {
    let style = base64(&digest(style_of_letters().as_bytes()));
    let text = format!(
        "default-src 'none'; script-src 'self'; style-src 'self' 'sha256-{style}'; img-src 'self' data:; font-src 'self'; \
         connect-src 'self'; frame-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("default-src 'none'"))
}

/// The style that HTML letters contain, without its tags.
fn style_of_letters() -> String {
    let start = Format::Html.start(Language::default(), "");
    let style = start.split_once("<style>").and_then(|(_, rest)| rest.split_once("</style>"));
    style.map_or(String::new(), |(style, _)| style.to_owned())
}

/// Adds what every response has.
pub fn add_headers(headers: &mut HeaderMap, policy: &HeaderValue) {
    let fixed = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("permissions-policy"), "camera=(), geolocation=(), microphone=()"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert(header::CONTENT_SECURITY_POLICY, policy.clone());
    // Answers are about people.
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Base 64 with padding.
fn base64(bytes: &[u8]) -> String {
    let mut text = String::new();
    for part in bytes.chunks(3) {
        let number =
            (0..3).fold(0usize, |number, k| number << 8 | part.get(k).map_or(0, |&b| usize::from(b)));
        for k in 0..4 {
            let digit = char::from(DIGITS[number >> (18 - 6 * k) & 63]);
            text.push(if k <= part.len() { digit } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_64_is_as_its_specification_shows() {
        let cases = ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"];
        for (length, expected) in cases.into_iter().enumerate() {
            assert_eq!(base64(&b"foobar"[..length]), expected);
        }
    }

    #[test]
    fn the_style_of_letters_is_allowed_by_its_hash() {
        assert!(style_of_letters().contains("font"));
        assert!(content_policy().to_str().unwrap().contains("style-src 'self' 'sha256-"));
    }
}
