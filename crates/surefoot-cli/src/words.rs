//! Numbers of things in sentences.

/// "1 action", "2 actions".
pub fn number_of(count: usize, thing: &str) -> String {
    match count {
        1 => format!("1 {thing}"),
        _ => format!("{count} {thing}s"),
    }
}

/// "is" of one, "are" of several.
pub fn are(count: usize) -> &'static str {
    if count == 1 { "is" } else { "are" }
}
