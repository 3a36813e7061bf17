//! Errors of coefficients: what makes a model another one of the same graph.

/// An error of the coefficient of a parent in an equation with additive noise. The equation becomes
/// `f(parents) + error * parent + u`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SlopeError<T> {
    /// The feature of the equation.
    pub feature: usize,
    /// The position of the parent among the parents of the feature.
    pub parent: usize,
    /// The error, in standardised units.
    pub error: T,
}
