//! Escapes text from data for display.
//!
//! Names and cells may contain anything, such as control sequences of a terminal. Every text that is
//! displayed passes through one of these functions; data files keep it unchanged.

use std::borrow::Cow;

/// Escapes all invisible characters that affect the display of a line, as `\n`, `\t` or `\u{1b}`. These are
/// control characters, separators of lines and paragraphs, marks that change the direction of writing, and
/// code points that are not characters.
///
/// ```
/// assert_eq!(surefoot::escape_line("\u{1b}[31mred"), "\\u{1b}[31mred");
/// assert_eq!(surefoot::escape_line("Größe (cm)"), "Größe (cm)");
/// ```
pub fn escape_line(text: &str) -> Cow<'_, str> {
    escape(text, acts)
}

/// As [`escape_line`] for several lines: line feeds are kept.
pub fn escape_text(text: &str) -> Cow<'_, str> {
    escape(text, |character| character != '\n' && acts(character))
}

fn escape(text: &str, acts: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&acts) {
        return text.into();
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match (acts(character), character) {
            (false, _) => escaped.push(character),
            (true, '\n' | '\r' | '\t') => escaped.extend(character.escape_default()),
            (true, _) => escaped.extend(character.escape_unicode()),
        }
    }
    escaped.into()
}

fn acts(character: char) -> bool {
    let code = u32::from(character);
    character.is_control()
        || matches!(character, '\u{2028}' | '\u{2029}')
        || matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        // The last two code points of every plane, and 32 more, are not characters.
        || code & 0xfffe == 0xfffe
        || matches!(character, '\u{fdd0}'..='\u{fdef}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_is_escaped_and_nothing_else() {
        for (text, line) in [
            ("plain, `quoted` and 日本 é", "plain, `quoted` and 日本 é"),
            ("\u{1b}]0;title\u{7}", "\\u{1b}]0;title\\u{7}"),
            ("a\tb\r\nc", "a\\tb\\r\\nc"),
            ("\u{0}\u{7f}\u{9b}2J", "\\u{0}\\u{7f}\\u{9b}2J"),
            ("\u{202e}gpj.exe\u{2066}", "\\u{202e}gpj.exe\\u{2066}"),
            ("one\u{2028}two\u{ffff}\u{10fffe}", "one\\u{2028}two\\u{ffff}\\u{10fffe}"),
        ] {
            assert_eq!(escape_line(text), line);
            // Escaped text stays as it is.
            assert_eq!(escape_line(line), line);
        }
        assert_eq!(escape_text("a\nb\u{8}\n"), "a\nb\\u{8}\n");
    }
}
