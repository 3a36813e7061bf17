//! The axes along which cells are split.

use nalgebra::{DMatrix, SymmetricEigen};

use crate::certify::Found;

/// An orthogonal matrix, row by row, whose columns are coordinate axes. The first axis points to the worst
/// perturbation; the others are the principal directions of the error orthogonal to it.
pub(super) fn principal(worst: &Found, error_directions: &[f64]) -> Vec<f64> {
    let n = worst.at.len();
    let length = worst.at.iter().map(|y| y * y).sum::<f64>().sqrt();
    let first: Vec<f64> = if length > 0.0 {
        worst.at.iter().map(|y| y / length).collect()
    } else {
        (0..n).map(|i| if i == 0 { 1.0 } else { 0.0 }).collect()
    };
    let across = DMatrix::from_fn(n, n, |i, j| if i == j { 1.0 } else { 0.0 } - first[i] * first[j]);
    let matrix = &across * DMatrix::from_row_slice(n, n, error_directions) * &across;
    let eigen = SymmetricEigen::new(matrix);
    let mut order: Vec<usize> = (0..n).collect();
    let bend = |k: usize| eigen.eigenvalues[k].abs();
    order.sort_by(|&a, &b| bend(b).total_cmp(&bend(a)));
    // Gram-Schmidt orthogonalisation, applied twice for accuracy.
    let mut axes: Vec<Vec<f64>> = vec![first];
    for candidate in order
        .into_iter()
        .map(|k| eigen.eigenvectors.column(k).iter().copied().collect())
        .chain(unit_vectors(n))
    {
        if axes.len() == n {
            break;
        }
        let mut v: Vec<f64> = candidate;
        for _ in 0..2 {
            for axis in &axes {
                let along: f64 = axis.iter().zip(&v).map(|(a, b)| a * b).sum();
                v.iter_mut().zip(axis).for_each(|(v, a)| *v -= along * a);
            }
        }
        let length = v.iter().map(|x| x * x).sum::<f64>().sqrt();
        if length > 1e-3 {
            v.iter_mut().for_each(|x| *x /= length);
            for axis in &axes {
                let along: f64 = axis.iter().zip(&v).map(|(a, b)| a * b).sum();
                v.iter_mut().zip(axis).for_each(|(v, a)| *v -= along * a);
            }
            axes.push(v);
        }
    }
    (0..n).flat_map(|i| axes.iter().map(move |axis| axis[i])).collect()
}

fn unit_vectors(n: usize) -> impl Iterator<Item = Vec<f64>> {
    (0..n).map(move |k| (0..n).map(|i| if i == k { 1.0 } else { 0.0 }).collect())
}
