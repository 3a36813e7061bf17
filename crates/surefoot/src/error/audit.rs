//! Mistakes in what an audit is asked.

use thiserror::Error;

/// What can be wrong with the groups of an audit, and with the method that answers it.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "fields are named by the message of their variant")]
pub enum AuditError {
    /// A grouping by a column that the table does not have.
    #[error("groups `{grouping}`: there is no column `{column}`{}; there are {}",
        nearest.as_ref().map_or(String::new(), |name| format!(" (did you mean `{name}`?)")), known.join(", "))]
    UnknownColumn { grouping: String, column: String, nearest: Option<String>, known: Vec<String> },
    /// A grouping of nothing.
    #[error("groups `{grouping}`: names no column; write it like `sex`, `age: 30, 50` or `sex, age: 30, 50`")]
    NoColumn { grouping: String },
    /// A grouping that names a column twice.
    #[error("groups `{grouping}`: names `{column}` twice; remove one")]
    ColumnTwice { grouping: String, column: String },
    /// The same grouping twice.
    #[error("groups `{grouping}` are asked for twice; remove one")]
    GroupingTwice { grouping: String },
    /// Cut points that do not ascend.
    #[error(
        "groups `{grouping}`: the cut points of `{column}` must be numbers in ascending order, each once"
    )]
    CutPoints { grouping: String, column: String },
    /// Cut points of something that is no number.
    #[error("groups `{grouping}`: `{column}` is no number and has no cut points; leave them out")]
    CutCategories { grouping: String, column: String },
    /// A cell that is no number in a column with cut points.
    #[error("groups `{grouping}`, person {person}: `{value}` in the column `{column}` is no number")]
    NotANumber { grouping: String, column: String, person: usize, value: String },
    /// More groups than anybody can read.
    #[error(
        "groups `{grouping}`: there are {groups} groups, and at most {most} can be compared; name cut points, such as \
         \"age: 30, 50\", or a column with fewer values"
    )]
    TooManyGroups { grouping: String, groups: usize, most: usize },
    /// A column with another number of values than there are people.
    #[error("groups `{grouping}`: the column `{column}` has {values} values for {people} people")]
    ColumnLength { grouping: String, column: String, values: usize, people: usize },
    /// A method that proves nothing.
    #[error(
        "the method `{method}` proves nothing, and an audit states only what is proven; choose `auto`, or leave the method out"
    )]
    Method { method: &'static str },
}
