//! Numbers in sentences.

use surefoot::magnitude::readable;

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

/// "has" of one, "have" of several.
pub fn have(count: usize) -> &'static str {
    if count == 1 { "has" } else { "have" }
}

/// "1 person", "2 people".
pub fn people(count: usize) -> String {
    if count == 1 { "1 person".into() } else { format!("{count} people") }
}

/// A number with four significant digits, or as many more as it takes for what is printed to compare with `limit`
/// as the number does: 0.100000002 is never printed as 0.1 beside a limit of 0.1.
pub fn beside(value: f64, limit: f64) -> String {
    let rounded = |digits: usize| format!("{value:.digits$e}").parse::<f64>().ok();
    let is_faithful = |rounded: &f64| rounded.total_cmp(&limit) == value.total_cmp(&limit);
    readable((3..17).filter_map(rounded).find(is_faithful).unwrap_or(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_stay_on_their_side_of_the_limit() {
        for (value, limit, text) in [
            (0.100000002, 0.1, "0.100000002"),
            (0.09999999996, 0.1, "0.09999999996"),
            (0.1, 0.1, "0.1"),
            (0.123456, 0.1, "0.1235"),
            (0.1, 0.1 + 0.2 - 0.2, "0.1"),
            (0.30000000000000004, 0.3, "0.30000000000000004"),
            (1234567.0, 0.1, "1235000"),
            (1.5e-9, 0.1, "1.5e-9"),
            (3e90, 1e90, "3e90"),
        ] {
            assert_eq!(beside(value, limit), text);
        }
    }
}
