//! The languages of letters, and how numbers and amounts are written in each.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use crate::error::LetterError;
use crate::feature::Shown;
use crate::magnitude::{WITH_EXPONENT, readable};
use crate::{Error, Feature, Kind};

/// A language in which letters are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub enum Language {
    /// English, with numbers such as 1,200.50.
    #[default]
    #[serde(rename = "en")]
    English,
    /// German, with numbers such as 1.200,50.
    #[serde(rename = "de")]
    German,
}

impl Language {
    /// Every language.
    pub const ALL: [Self; 2] = [Self::English, Self::German];

    /// Its code: `en` or `de`.
    pub fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::German => "de",
        }
    }

    /// One of two texts: the first in English, the second in German.
    pub(super) fn of<T>(self, english: T, german: T) -> T {
        match self {
            Self::English => english,
            Self::German => german,
        }
    }

    /// A number that is written already, with the marks of the language. `is_grouped`: whether thousands are
    /// separated.
    pub(super) fn localised(self, number: &str, is_grouped: bool) -> String {
        let (sign, digits) = number.strip_prefix('-').map_or(("", number), |digits| ("\u{2212}", digits));
        let (whole, fraction) = digits.split_once('.').map_or((digits, ""), |parts| parts);
        let (mark, point) = self.of((',', '.'), ('.', ','));
        let mut text = sign.to_owned();
        let is_plain = whole.bytes().all(|byte| byte.is_ascii_digit());
        for (place, digit) in whole.chars().enumerate() {
            if is_grouped && is_plain && place > 0 && (whole.len() - place).is_multiple_of(3) {
                text.push(mark);
            }
            text.push(digit);
        }
        if !fraction.is_empty() {
            text.push(point);
            text.push_str(fraction);
        }
        text
    }

    /// A share as a percentage: "12.5%", "12,5 %".
    pub(super) fn percent(self, share: f64) -> String {
        // Without the rounding of the product.
        let number = self.localised(&readable((1e9 * share).round() / 1e7), true);
        self.of(format!("{number}%"), format!("{number}\u{a0}%"))
    }

    /// A list: "a, b or c".
    pub(super) fn list(self, parts: &[String], english: &str, german: &str) -> String {
        match parts {
            [] => String::new(),
            [only] => only.clone(),
            [first @ .., last] => format!("{} {} {last}", first.join(", "), self.of(english, german)),
        }
    }

    /// A value of a feature as people read it: with its unit, or in words. `None`: as many decimals as it takes.
    pub(super) fn amount(self, feature: &Feature, value: f64, decimals: Option<usize>) -> String {
        let value = feature.snap_to_integer(value);
        if let Some(special) = feature.special_value(value) {
            return special.words();
        }
        if let Some(level) = feature.level(value) {
            return level.to_owned();
        }
        if feature.kind == Kind::Binary && (value == 0.0 || value == 1.0) {
            return if value == 1.0 { self.of("yes", "ja") } else { self.of("no", "nein") }.into();
        }
        self.with_unit(feature, &plain(value, decimals.unwrap_or_else(|| decimals_of(feature, value))))
    }

    /// A difference of values of a feature: "EUR 1,200", "2 levels", "5 percentage points".
    pub(super) fn difference(self, feature: &Feature, by: f64, decimals: usize) -> String {
        let number = plain(feature.snap_to_integer(by), decimals);
        let counted = |one: &str, several: &str| {
            let word = if number == "1" { one } else { several };
            format!("{} {word}", self.localised(&number, true))
        };
        match &feature.words.unit {
            _ if has_levels(feature) => {
                let (one, several) = self.of(("level", "levels"), ("Stufe", "Stufen"));
                counted(one, several)
            }
            Some(unit) if unit.is_percent() => {
                let (one, several) =
                    self.of(("percentage point", "percentage points"), ("Prozentpunkt", "Prozentpunkte"));
                counted(one, several)
            }
            _ => self.with_unit(feature, &number),
        }
    }

    fn with_unit(self, feature: &Feature, number: &str) -> String {
        match &feature.words.unit {
            Some(unit) => unit.around(&self.localised(number, true), number == "1"),
            None => self.localised(number, false),
        }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl FromStr for Language {
    type Err = Error;

    fn from_str(code: &str) -> Result<Self, Error> {
        let found = Self::ALL.into_iter().find(|language| language.code() == code);
        found.ok_or_else(|| Error::Letter(LetterError::Language { language: code.into() }))
    }
}

/// Whether values of a feature are levels of an order, so that their differences are counted.
fn has_levels(feature: &Feature) -> bool {
    match feature.shown {
        Shown::Ordered(_) => true,
        Shown::Number => feature.kind == Kind::Integer && !feature.words.described.is_empty(),
        Shown::OneOf { .. } => false,
    }
}

/// A number with at most `decimals` decimals, without trailing zeros; very large ones with an exponent.
pub(super) fn plain(value: f64, decimals: usize) -> String {
    if value.abs() >= WITH_EXPONENT {
        return readable(value);
    }
    let text = format!("{value:.decimals$}");
    let text = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    };
    if text == "-0" { "0".into() } else { text }
}

/// The fewest decimals that show a value of a feature exactly; if more than two beyond those that matter would be
/// needed, those that matter: they tell values apart that differ by a tenth of a standard deviation.
pub(super) fn decimals_of(feature: &Feature, value: f64) -> usize {
    if feature.kind != Kind::Real {
        // Only what follows from others is not whole.
        return if value.fract() == 0.0 { 0 } else { 1 };
    }
    let enough = (1.0 - feature.std.log10().floor()).clamp(0.0, 15.0) as usize;
    let is_exact = |&decimals: &usize| {
        let shown = plain(value, decimals).parse::<f64>();
        shown.is_ok_and(|shown| (shown - value).abs() <= 1e-9 * value.abs().max(feature.std))
    };
    (0..=enough + 2).find(is_exact).unwrap_or(enough)
}
