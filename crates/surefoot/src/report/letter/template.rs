//! Templates, which turn letters into text or HTML.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use minijinja::{AutoEscape, Environment, UndefinedBehavior, context};

use super::Letter;
use super::language::Language;
use crate::error::LetterError;
use crate::file::read_to_string;
use crate::{Error, Result};

/// The form in which letters are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Plain text, a file for each person.
    #[default]
    Text,
    /// HTML, a page for each person.
    Html,
    /// One HTML document with a page for each person, to be printed.
    Document,
    /// JSON, a line for each person.
    Json,
}

impl Format {
    /// Every format with its name.
    pub const ALL: [(&'static str, Self); 4] =
        [("text", Self::Text), ("html", Self::Html), ("document", Self::Document), ("json", Self::Json)];

    /// Whether letters are HTML, in which everything from data is escaped.
    fn is_html(self) -> bool {
        matches!(self, Self::Html | Self::Document)
    }

    /// What comes before the letters of a document.
    pub fn start(self, language: Language, title: &str) -> String {
        if !self.is_html() {
            return String::new();
        }
        let title = escaped(title);
        format!(
            "<!DOCTYPE html>\n<html lang=\"{language}\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
             content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n"
        )
    }

    /// What comes after the letters of a document.
    pub fn end(self) -> &'static str {
        if self.is_html() { "</body>\n</html>\n" } else { "" }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::ALL.iter().find(|(_, format)| format == self).map_or("", |(name, _)| name);
        f.write_str(name)
    }
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let found = Self::ALL.iter().find(|(known, _)| *known == name);
        found.map(|(_, format)| *format).ok_or_else(|| {
            let known = Self::ALL.map(|(name, _)| format!("`{name}`")).join(", ");
            Error::Letter(LetterError::Format { format: name.into(), known })
        })
    }
}

const TEXT: &str = include_str!("templates/letter.txt");
const BODY: &str = include_str!("templates/letter.html");
const STYLE: &str = include_str!("templates/style.css");
/// The names of the templates in messages, unless they are from a file.
const NAMES: [&str; 2] = ["the template of texts", "the template of pages"];

/// The layout of letters in one format.
#[derive(Debug)]
pub struct Template {
    format: Format,
    environment: Environment<'static>,
    name: String,
}

impl Template {
    /// The built-in layout.
    ///
    /// # Errors
    /// None for a built-in layout that is in order.
    pub fn built_in(format: Format) -> Result<Self> {
        match format.is_html() {
            true => Self::parse(format, NAMES[1], BODY),
            false => Self::parse(format, NAMES[0], TEXT),
        }
    }

    /// A layout from a file, a template of minijinja: the text of a letter, or what is between `<body>` and `</body>`.
    ///
    /// # Errors
    /// If the file cannot be read, or, with its line, the first mistake of the template: it is tried on letters of
    /// every kind.
    pub fn read(format: Format, path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let text = read_to_string(path).map_err(|error| {
            let problem = format!("cannot be read: {error}");
            Error::Letter(LetterError::Template { name: name.clone(), line: None, problem })
        })?;
        Self::parse(format, &name, &text)
    }

    /// A layout from its text; `name` is its name in messages.
    ///
    /// # Errors
    /// As [`Template::read`].
    pub fn parse(format: Format, name: &str, text: &str) -> Result<Self> {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_trim_blocks(true);
        environment.set_lstrip_blocks(true);
        environment.set_keep_trailing_newline(true);
        let is_html = format.is_html();
        let escape = move |_: &str| if is_html { AutoEscape::Html } else { AutoEscape::None };
        environment.set_auto_escape_callback(escape);
        environment
            .add_template_owned(name.to_owned(), text.to_owned())
            .map_err(|error| fault(name, &error))?;
        let template = Self { format, environment, name: name.to_owned() };
        for letter in super::specimen::specimens() {
            template.letter(&letter)?;
        }
        Ok(template)
    }

    /// The format.
    pub fn format(&self) -> Format {
        self.format
    }

    /// A letter by itself: a text, a whole page, or a line of JSON.
    ///
    /// # Errors
    /// If the template asks for something that the letter does not have.
    pub fn page(&self, letter: &Letter) -> Result<String> {
        match self.format {
            Format::Text => self.letter(letter),
            Format::Json => Ok(letter.to_json() + "\n"),
            Format::Html | Format::Document => {
                let start = self.format.start(letter.language, letter.words.title);
                Ok(format!("{start}{}{}", self.letter(letter)?, self.format.end()))
            }
        }
    }

    /// A letter within a document: without what comes before the first and after the last.
    ///
    /// # Errors
    /// As [`Template::page`].
    pub fn letter(&self, letter: &Letter) -> Result<String> {
        if self.format == Format::Json {
            return self.page(letter);
        }
        // Whether details are shown at once, as on paper.
        let open = self.format == Format::Document;
        let rendered = self
            .environment
            .get_template(&self.name)
            .and_then(|template| template.render(context! { letter, words => letter.words, open }))
            .map_err(|error| fault(&self.name, &error))?;
        Ok(crate::escape_text(&rendered).into_owned())
    }
}

/// A text as HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A mistake of a template, with its line.
fn fault(name: &str, error: &minijinja::Error) -> Error {
    let problem = match error.detail() {
        Some(detail) => format!("{}: {detail}", error.kind()),
        None => error.kind().to_string(),
    };
    Error::Letter(LetterError::Template { name: name.to_owned(), line: error.line(), problem })
}
