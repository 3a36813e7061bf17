//! Mistakes in categories.

use thiserror::Error;

use super::quoted;

/// What is wrong with categories, or with a text that should be one of them.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "fields are named by the message of their variant")]
pub enum CategoryProblem {
    /// An empty list.
    #[error("there are no categories; list them, or leave out the field")]
    None,
    /// The same text twice.
    #[error("the category `{category}` is given twice; remove one")]
    Repeated { category: String },
    /// A direction where there is no order.
    #[error(
        "categories without an order are neither more nor less; let it change to \"any\", make it \"fixed\", or give the categories an order (ordered = true)"
    )]
    Direction,
    /// Values that are not positions in the list.
    #[error(
        "the values of an ordered category are the whole numbers 0 to {last}, the positions of its texts; give limits within these, and no other kind"
    )]
    Codes { last: usize },
    /// A text that is none of the categories.
    #[error("`{value}` is no category; {}there are {}", guess(nearest.as_deref()), quoted(known))]
    Unknown { value: String, nearest: Option<String>, known: Vec<String> },
    /// No text.
    #[error("no value is given; there are {}", quoted(known))]
    Missing { known: Vec<String> },
}

fn guess(nearest: Option<&str>) -> String {
    nearest.map_or(String::new(), |nearest| format!("did you mean `{nearest}`? "))
}
