//! Mistakes in training data and in training.

use thiserror::Error;

/// What can be wrong with training data and training.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "fields are named by the message of their variant")]
pub enum TrainingError {
    /// Labels that do not match the rows.
    #[error("there are {rows} rows and {labels} labels; give one label for each row")]
    Labels { rows: usize, labels: usize },
    /// Training data in which everybody is alike.
    #[error("every label is the same; training needs both outcomes")]
    OneClass,
    /// A fit that does not settle.
    #[error(
        "the classifier could not be fitted: the likelihood has no clear maximum; standardise the columns, or drop outliers"
    )]
    NotConverged,
    /// Training that ran away.
    #[error(
        "training went out of bounds in epoch {epoch}; take a smaller step or smaller weights, or standardise the columns"
    )]
    Diverged { epoch: usize },
    /// Outcomes that the columns separate.
    #[error(
        "the columns tell the two outcomes apart without error, so that the weights of a logistic regression have no optimum and no standard errors; leave out a column that says what the outcome is"
    )]
    Separated,
    /// Too few rows for a band.
    #[error(
        "the equation of `{feature}` was measured on {rows} rows, which are too few for a band with a probability of {probability}; give a smaller one, or more rows"
    )]
    FewResiduals { feature: String, rows: usize, probability: f64 },
    /// Too few rows without special values.
    #[error(
        "the equation of `{feature}`: only {rows} rows have no special value among it and its causes, which are too few; give more rows, or leave it out of the graph"
    )]
    FewUsual { feature: String, rows: usize },
    /// A number that is no probability.
    #[error("person {person}: {value} is no probability; give a number between 0 and 1")]
    Probability { person: usize, value: f64 },
    /// A column that says nothing.
    #[error("column `{feature}` has the same value in every row; drop it, or leave it out of the graph")]
    ConstantColumn { feature: String },
    /// Columns that determine each other.
    #[error("`{feature}` follows from the other columns (or is constant); drop it")]
    Collinear { feature: String },
}
