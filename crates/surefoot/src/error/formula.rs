//! Mistakes in formulas.

use thiserror::Error;

/// The problem of an invalid formula; its column is stored separately.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum FormulaProblem {
    /// An invalid character.
    #[error("unexpected `{0}`{hint}", hint = character_hint(*.0))]
    Character(char),
    /// An unexpected token.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// The expected token.
        expected: &'static str,
        /// The token that was found.
        found: String,
    },
    /// A number that is malformed or too large for a double.
    #[error("`{0}` is not a finite number")]
    Number(String),
    /// A part without names that is infinite or undefined, such as `1 / 0`.
    #[error("this is no finite number, whatever the features are")]
    Constant,
    /// A back-quoted name without its end.
    #[error("the name is not closed; add a back quote after it")]
    OpenQuote,
    /// An unknown function.
    #[error("unknown function `{0}`; there are exp, log, sqrt, tanh, sigmoid, abs, min and max")]
    Function(String),
    /// Too few or too many arguments.
    #[error("`{function}` takes {takes}, not {given}")]
    Arguments {
        /// Its name.
        function: &'static str,
        /// The required number, in words.
        takes: &'static str,
        /// The given number.
        given: usize,
    },
    /// An unknown feature.
    #[error("`{name}` is no feature; there are {}", crate::error::quoted(known))]
    Name {
        /// The name as written.
        name: String,
        /// The names of the features.
        known: Vec<String>,
    },
    /// A name in an inverse that is neither the feature nor one of its parents.
    #[error(
        "`{name}` is neither the feature nor one of its parents; there are {}",
        crate::error::quoted(known)
    )]
    InverseName {
        /// The name as written.
        name: String,
        /// The permitted names.
        known: Vec<String>,
    },
    /// The noise occurs in an inverse, which must compute it.
    #[error("an inverse computes `u` and cannot use it; use the feature's own name and its parents")]
    NoiseInInverse,
    /// The name of the noise is also that of a feature.
    #[error("`u` is the noise, and a feature has the same name; rename the feature")]
    NoiseOrFeature,
    /// Parentheses or operators are nested too deeply.
    #[error("nested too deeply; split the formula over several features")]
    TooDeep,
}

fn character_hint(c: char) -> &'static str {
    match c {
        '=' => "; write only the right-hand side",
        '*' => "; write a power as x ^ 2",
        '²' | '³' => "; write a power as x ^ 2",
        '−' | '–' => "; write a minus as -",
        '"' | '\'' => "; put names that are not words between back quotes, `like-this`",
        _ => "",
    }
}

/// Why a formula is not known to be strictly monotone in its noise.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum Obstacle {
    /// The noise does not occur, or its terms cancel.
    #[error("the noise `u` has no influence; add a term such as `+ u`")]
    Absent,
    /// Terms have opposite directions.
    #[error("at column {column} the noise `u` raises one side and lowers the other")]
    Opposed {
        /// Column of the operator.
        column: usize,
    },
    /// A factor may be zero or change sign.
    #[error("at column {column} the noise `u` meets something whose sign is not known to stay the same")]
    Sign {
        /// Column of the operator or function.
        column: usize,
    },
    /// The noise has no influence on an interval.
    #[error(
        "at column {column} the noise `u` has no influence beyond the other bound; a clip such as `max(0, x + u)` must be the outermost part of the formula"
    )]
    Flat {
        /// Column of the function.
        column: usize,
    },
}
