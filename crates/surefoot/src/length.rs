//! Lengths of vectors: the l1, l2 and linf norms without weights.

/// The sum of absolute values.
pub(crate) fn sum_of_sizes(values: impl Iterator<Item = f64>) -> f64 {
    values.map(f64::abs).sum()
}

/// The largest absolute value; NaN if one of the values is NaN.
pub(crate) fn largest_size(values: impl Iterator<Item = f64>) -> f64 {
    let greater = |a: f64, v: f64| if a.is_nan() || v.abs() <= a { a } else { v.abs() };
    values.fold(0.0, greater)
}

/// The Euclidean length. Vectors whose squares overflow or underflow are scaled by their largest entry.
pub(crate) fn euclidean(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let sum: f64 = values.clone().map(|v| v * v).sum();
    if sum.is_finite() && sum > 1e-200 {
        return sum.sqrt();
    }
    let scale = largest_size(values.clone());
    if scale == 0.0 || !scale.is_finite() {
        return scale;
    }
    scale * values.map(|v| (v / scale).powi(2)).sum::<f64>().sqrt()
}
