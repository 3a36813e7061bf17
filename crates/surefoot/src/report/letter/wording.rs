//! An organisation's own words: reasons with codes, and the words for features in another language.

use std::path::Path;

use super::language::Language;
use crate::error::{Fault, FileError, FileProblem, LetterError, Mistake, Mistakes};
use crate::feature::{Column, Shown, Words, nearest};
use crate::file::read_to_string;
use crate::problem::{Fields, Node, Value, read_words};
use crate::{Error, Features, Result};

/// What an organisation says about the features of its problem, one entry for each column of people's tables.
///
/// ```toml
/// [[reason]]
/// feature = "amount"
/// code = "A03"
/// typical = 2500
/// en = { text = "The amount you asked for is high for your circumstances" }
/// de = { text = "Der beantragte Betrag ist hoch", label = "Kreditbetrag", unit = "{} Euro" }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wording {
    entries: Vec<Entry>,
}

/// What is said about one column.
#[derive(Clone, Debug, PartialEq)]
struct Entry {
    column: String,
    code: Option<String>,
    /// The value that others are compared with.
    typical: Option<f64>,
    /// In the order of [`Language::ALL`].
    spoken: Vec<Spoken>,
}

/// What is said about a column in one language.
#[derive(Clone, Debug, Default, PartialEq)]
struct Spoken {
    text: Option<String>,
    words: Words,
}

const FIELDS: [&str; 5] = ["feature", "code", "typical", "en", "de"];
const SPOKEN_FIELDS: [&str; 4] = ["text", "label", "unit", "describe"];

impl Wording {
    /// Reads a table of reasons, in TOML.
    ///
    /// # Errors
    /// If the file cannot be read, and with every mistake in it, each with its line.
    pub fn read(path: &Path, features: &Features) -> Result<Self> {
        let text = read_to_string(path).map_err(|error| {
            let problem = FileProblem::Read(error.into());
            Error::File(FileError::File { path: path.into(), problem })
        })?;
        Self::parse(&text, features)
            .map_err(|mistakes| Error::File(FileError::ProblemFile(Mistakes { path: path.into(), mistakes })))
    }

    /// Reads a table of reasons from its text.
    ///
    /// # Errors
    /// Every mistake in it; there is at least one.
    pub fn parse(text: &str, features: &Features) -> Result<Self, Vec<Mistake>> {
        let node = Node::from_toml(text).map_err(|mistake| vec![*mistake])?;
        let mut mistakes = Vec::new();
        let mut top = Fields::new(&node, None, &["reason"]);
        let nodes: &[Node] = match top.find("reason").map(|node| &node.value) {
            Some(Value::List(nodes)) => nodes,
            Some(other) => {
                let expected = "a list of tables, each headed [[reason]]";
                let found = other.kind().to_owned();
                top.report_at("reason", Fault::Type { field: "reason".into(), expected, found });
                &[]
            }
            None => {
                top.require(
                    "reason",
                    "give one table, headed [[reason]], for each feature with a code or words",
                );
                &[]
            }
        };
        mistakes.extend(top.finish());
        let mut entries: Vec<Entry> = Vec::with_capacity(nodes.len());
        for (position, node) in nodes.iter().enumerate() {
            let name = format!("reason {}", position + 1);
            let mut fields = Fields::new(node, Some(name), &FIELDS);
            let entry = read_entry(&mut fields, features, &entries, &mut mistakes);
            mistakes.extend(fields.finish());
            entries.extend(entry);
        }
        if mistakes.is_empty() { Ok(Self { entries }) } else { Err(mistakes) }
    }

    /// The code of a column, if there is one.
    pub(in crate::report) fn code(&self, column: &str) -> Option<&str> {
        self.entry(column)?.code.as_deref()
    }

    /// The typical value of a column in own units, if it is stated.
    pub(in crate::report) fn typical(&self, column: &str) -> Option<f64> {
        self.entry(column)?.typical
    }

    /// The reason of a column in a language.
    pub(super) fn text(&self, column: &str, language: Language) -> Option<&str> {
        self.spoken(column, language)?.text.as_deref()
    }

    /// The features with the words of a language, where there are any.
    pub(super) fn spoken_features(&self, features: &Features, language: Language) -> Result<Features> {
        let mut spoken: Vec<crate::Feature> = features.iter().cloned().collect();
        for column in features.columns() {
            let Some(words) = self.spoken(column.name(), language).map(|spoken| &spoken.words) else {
                continue;
            };
            for i in column.positions() {
                let own = &mut spoken[i].words;
                own.label = words.label.clone().or(own.label.take());
                own.unit = words.unit.clone().or(own.unit.take());
                if !words.described.is_empty() {
                    own.described = words.described.clone();
                }
            }
        }
        Features::new(spoken)
    }

    fn entry(&self, column: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.column == column)
    }

    fn spoken(&self, column: &str, language: Language) -> Option<&Spoken> {
        let place = Language::ALL.iter().position(|known| *known == language)?;
        self.entry(column)?.spoken.get(place)
    }
}

/// One entry; `None` if its feature is not known.
fn read_entry(
    fields: &mut Fields<'_>,
    features: &Features,
    before: &[Entry],
    mistakes: &mut Vec<Mistake>,
) -> Option<Entry> {
    fields.require("feature", "name a column of people's tables");
    let name = fields.text("feature")?;
    fields.rename(format!("reason of `{name}`"));
    let (code, typical) = (fields.text("code"), fields.number("typical"));
    let Some(column) = features.columns().iter().find(|column| column.name() == name) else {
        let known: Vec<&str> = features.columns().iter().map(Column::name).collect();
        let nearest = nearest(&name, &known);
        let known = known.into_iter().map(str::to_owned).collect();
        fields.report_at("feature", Error::Letter(LetterError::Feature { feature: name, nearest, known }));
        return None;
    };
    if before.iter().any(|entry| entry.column == name) {
        fields.report_at("feature", Error::Letter(LetterError::Repeated { feature: name.clone() }));
    }
    let feature = features.feature(column.positions().start);
    let is_amount = matches!(feature.shown, Shown::Number | Shown::Ordered(_)) && feature.group.is_none();
    if typical.is_some() && !is_amount {
        fields.report_at("typical", Error::Letter(LetterError::Typical { feature: name.clone() }));
    }
    let mut spoken = Vec::with_capacity(Language::ALL.len());
    for language in Language::ALL {
        let Some(node) = fields.find(language.code()) else {
            spoken.push(Spoken::default());
            continue;
        };
        let entry = format!("reason of `{name}`, {language}");
        let mut inner = Fields::new(node, Some(entry), &SPOKEN_FIELDS);
        let text = inner.text("text");
        let words = read_words(&mut inner, &name);
        let mut changed = feature.clone();
        changed.words = words.clone();
        if let Some(problem) = changed.words_problem(column) {
            let field = problem.field();
            let feature = name.clone();
            inner.report_at(field, Error::Feature(crate::error::FeatureError::Words { feature, problem }));
        }
        mistakes.extend(inner.finish());
        spoken.push(Spoken { text, words });
    }
    Some(Entry { column: name, code, typical, spoken })
}
