//! Lower bounds of a tanh network over a Euclidean ball by parabolas below its units.
//!
//! A proof consists of cells. On a cell, parabolas with given coefficients are lowered until they are below
//! the units; their sum is a quadratic below the margin ([`quadratic_form`]). With multipliers `>= 0` of the
//! ball, of an ellipsoid and of slabs, terms are added that are not positive on the cell. If the sum
//! is convex, it is `low + (y - c)^T Q (y - c)`. So the margin is at least `low` on the cell, and where it is
//! below the stated margin s, `(y - c)^T Q (y - c) <= s - low`: an ellipsoid, over which the next bound is
//! computed. If the bounds do not rule out everything, a plane cuts the cell, and both parts follow.
//!
//! Any coefficients are valid, so the checker needs nothing but the coefficients and the planes.

use nalgebra::{DMatrix, DVector};

use super::ellipsoid::{Part, Slab};
use super::prove::Work;
use super::tanh_network::{Units, quadratic_form};
use crate::proof::{Cell, Parabolas};

/// The number of bounds that a bound by parabolas counts as.
const WORK: usize = 20;

/// `constant + linear . y + y^T matrix y`, computed from terms whose magnitudes sum to `size`.
pub(super) struct Form {
    pub constant: f64,
    pub linear: DVector<f64>,
    pub matrix: DMatrix<f64>,
    pub size: f64,
}

/// Proves that the margin is at least `wanted` on the ball. Returns the bound that was reached where that
/// fails.
pub(super) fn at_least(
    units: &Units,
    radius: f64,
    cells: &[Cell],
    wanted: f64,
    work: &mut Work,
) -> Result<(), f64> {
    let whole = Part { inputs: units.inputs, radius, ellipsoid: None, slabs: Vec::new() };
    // The parts that follow; `None` for a part that need not be bounded, since a part above it is closed.
    let mut open = vec![Some(whole)];
    let mut cells = cells.iter();
    while let Some(part) = open.pop() {
        let mut reached = f64::NEG_INFINITY;
        let cell = cells.next().ok_or(reached)?;
        let Some(mut part) = part else {
            open.extend(cell.cut.iter().flat_map(|_| [None, None]));
            continue;
        };
        let mut is_closed = false;
        for parabolas in &cell.bounds {
            if work.left < WORK {
                return Err(reached);
            }
            (work.left, work.done) = (work.left - WORK, work.done + WORK);
            match bound(units, &part, parabolas) {
                Bounded::Empty => is_closed = true,
                Bounded::Nothing => {}
                Bounded::Below { low, centre, matrix } => {
                    reached = reached.max(low);
                    is_closed = low >= wanted;
                    if !is_closed {
                        part.ellipsoid = Some((centre, matrix / (wanted - low) * (1.0 - 1e-12)));
                    }
                }
            }
            if is_closed {
                break;
            }
        }
        match &cell.cut {
            Some(_) if is_closed => open.extend([None, None]),
            Some(cut) => {
                let direction = DVector::from_column_slice(&cut.direction);
                open.extend(halves(part, direction, cut.at).map(Some));
            }
            None if is_closed || is_empty(units, &part) => {}
            None => return Err(reached),
        }
    }
    Ok(())
}

/// Whether a part is shown to be empty: by its ellipsoids, or since a unit has no range.
fn is_empty(units: &Units, part: &Part) -> bool {
    part.outer().is_none_or(|outer| units.ranges(part, &outer).is_none())
}

/// The parts above and below a plane. A part that has a slab of the same direction gets a narrower one.
fn halves(part: Part, direction: DVector<f64>, at: f64) -> [Part; 2] {
    let (mut lower, mut upper) = match part.outer() {
        Some(outer) => part.range(&outer, &direction),
        None => (at, at),
    };
    let same = part.slabs.iter().position(|slab| slab.direction == direction);
    if let Some(slab) = same.map(|k| &part.slabs[k]) {
        (lower, upper) = (lower.max(slab.lower), upper.min(slab.upper));
    }
    let half = |lower: f64, upper: f64| {
        let mut half = part.clone();
        let slab = Slab { direction: direction.clone(), lower, upper };
        match same {
            Some(k) => half.slabs[k] = slab,
            None => half.slabs.push(slab),
        }
        half
    };
    [half(at, upper.max(at)), half(lower.min(at), at)]
}

/// What parabolas prove about a part.
enum Bounded {
    /// The part is empty.
    Empty,
    /// Nothing.
    Nothing,
    /// `margin >= low + (y - centre)^T matrix (y - centre)` on the part.
    Below { low: f64, centre: DVector<f64>, matrix: DMatrix<f64> },
}

fn bound(units: &Units, part: &Part, parabolas: &Parabolas) -> Bounded {
    let multipliers = parabolas.slabs.iter().chain([&parabolas.ellipsoid, &parabolas.ball]);
    if !multipliers.copied().all(|m| m >= 0.0 && m.is_finite()) || parabolas.slabs.len() > part.slabs.len() {
        return Bounded::Nothing;
    }
    let Some(outer) = part.outer() else { return Bounded::Empty };
    let Some(ranges) = units.ranges(part, &outer) else { return Bounded::Empty };
    let Some(form) = quadratic_form(units, part, &ranges, parabolas) else { return Bounded::Nothing };
    let Form { mut constant, mut linear, mut matrix, mut size } = form;
    let (n, radius) = (part.inputs, part.radius);
    for (slab, m) in part.slabs.iter().zip(&parabolas.slabs) {
        // m (d . y - lower) (d . y - upper)
        matrix += *m * &slab.direction * slab.direction.transpose();
        linear -= m * (slab.lower + slab.upper) * &slab.direction;
        constant += m * slab.lower * slab.upper;
        let reach = slab.direction.norm() * radius + slab.lower.abs() + slab.upper.abs();
        size += m * reach * reach;
    }
    if let Some((centre, own)) = &part.ellipsoid {
        // m ((y - centre)^T own (y - centre) - 1)
        let m = parabolas.ellipsoid;
        let turned = own * centre;
        matrix += m * own;
        linear -= 2.0 * m * &turned;
        constant += m * (centre.dot(&turned) - 1.0);
        size += m * (1.0 + own.norm() * (centre.norm() + radius).powi(2));
    }
    matrix += DMatrix::identity(n, n) * parabolas.ball;
    constant -= parabolas.ball * radius * radius;
    let matrix = 0.5 * (&matrix + matrix.transpose());
    // Positive definite with room for the rounding of the decomposition.
    let room = DMatrix::identity(n, n) * (1e-12 * matrix.norm());
    let Some(decomposed) = (&matrix - room).cholesky() else { return Bounded::Nothing };
    let centre = decomposed.solve(&(-0.5 * &linear));
    let gradient = 2.0 * &matrix * &centre + &linear;
    let away = radius + centre.norm();
    let low = constant + linear.dot(&centre) + centre.dot(&(&matrix * &centre)) - gradient.norm() * away;
    size += constant.abs() + linear.norm() * away + matrix.norm() * away * away;
    let low = low - units.error - 8.0 * f64::EPSILON * (units.count() + n + 64) as f64 * size;
    if low.is_finite() { Bounded::Below { low, centre, matrix } } else { Bounded::Nothing }
}
