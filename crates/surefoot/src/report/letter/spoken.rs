//! The features of a problem as a letter names them, and their values.

use super::language::Language;
use super::wording::Wording;
use crate::feature::Missing;
use crate::report::reasons::Thing;
use crate::{Feature, Features, Kind, Problem, Result};

/// The words of a problem in one language.
pub(super) struct Spoken<'p> {
    pub language: Language,
    pub problem: &'p Problem,
    pub wording: Wording,
    pub things: Vec<Thing>,
    /// What is not known of the person.
    pub missing: Vec<(usize, Missing)>,
    features: Features,
}

impl<'p> Spoken<'p> {
    /// The words of a problem file, replaced by those of an organisation where there are any.
    pub fn new(
        problem: &'p Problem,
        features: &Features,
        language: Language,
        wording: Wording,
    ) -> Result<Self> {
        let features = wording.spoken_features(features, language)?;
        let things = Thing::all(&features);
        Ok(Self { language, problem, wording, things, missing: Vec::new(), features })
    }

    /// A feature with its words.
    pub fn feature(&self, i: usize) -> &Feature {
        self.features.feature(i)
    }

    /// The name of the thing that a feature belongs to.
    pub fn name(&self, i: usize) -> String {
        let feature = self.feature(i);
        match feature.spoken_group() {
            Some(group) => group.to_owned(),
            None => feature.spoken_name().to_owned(),
        }
    }

    /// The name of a thing at the start of a line.
    pub fn heading(&self, thing: &Thing) -> String {
        capitalised(&self.name(thing.first()))
    }

    /// The names of the things that these features belong to, each once.
    pub fn names(&self, features: impl Iterator<Item = usize>) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for name in features.map(|i| self.name(i)) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// The column of people's tables that a thing belongs to: the first, for a group of columns of numbers.
    pub fn column(&self, thing: &Thing) -> &str {
        let columns = self.features.columns();
        let own = columns.iter().find(|column| column.positions().contains(&thing.first()));
        own.map_or("", |column| column.name())
    }

    /// The value of a thing, in words; `vector` has standardised values of all features.
    pub fn value(&self, thing: &Thing, vector: &[f64]) -> String {
        self.value_with(thing, vector, None)
    }

    /// As [`Spoken::value`] with so many decimals.
    pub fn value_with(&self, thing: &Thing, vector: &[f64], decimals: Option<usize>) -> String {
        let own = |i: usize| self.feature(i).own_units(vector[i]);
        if let [only] = thing.positions[..] {
            return self.language.amount(self.feature(only), own(only), decimals);
        }
        let present = thing.positions.iter().find(|&&i| own(i).round() == 1.0);
        match present {
            Some(&i) => self.feature(i).spoken_name().to_owned(),
            None => self.language.of("none", "keine").to_owned(),
        }
    }

    /// What is assumed of a thing of which the value is not known.
    pub fn missing(&self, thing: &Thing) -> Option<Missing> {
        let first = thing.first();
        self.missing.iter().find(|(i, _)| *i == first).map(|(_, missing)| *missing)
    }

    /// What the person reported of a thing: its value, or that it is not known.
    pub fn reported(&self, thing: &Thing, individual: &[f64]) -> String {
        let value = self.quoted_value(thing, individual);
        match self.missing(thing) {
            None => value,
            Some(_) => self
                .language
                .of(format!("not known, taken as {value}"), format!("nicht bekannt, angenommen: {value}")),
        }
    }

    /// Whether the value of a thing is special: no amount, and not to be changed.
    pub fn is_special(&self, thing: &Thing, vector: &[f64]) -> bool {
        let feature = self.feature(thing.first());
        feature.special_value(feature.own_units(vector[thing.first()])).is_some()
    }

    /// Whether the values of a thing are words and no amounts.
    pub fn is_worded(&self, thing: &Thing, vector: &[f64]) -> bool {
        let feature = self.feature(thing.first());
        thing.positions.len() > 1
            || feature.kind == Kind::Binary
            || self.is_special(thing, vector)
            || feature.level(feature.snap_to_integer(feature.own_units(vector[thing.first()]))).is_some()
    }

    /// A text between the quotation marks of the language.
    pub fn quoted(&self, text: &str) -> String {
        self.language.of(format!("\u{201c}{text}\u{201d}"), format!("\u{201e}{text}\u{201c}"))
    }

    /// The value of a thing, between quotation marks if it is in words.
    pub fn quoted_value(&self, thing: &Thing, vector: &[f64]) -> String {
        let value = self.value(thing, vector);
        if self.is_worded(thing, vector) { self.quoted(&value) } else { value }
    }
}

/// A text with a capital first letter.
pub(super) fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    match characters.next() {
        Some(first) => first.to_uppercase().chain(characters).collect(),
        None => String::new(),
    }
}
