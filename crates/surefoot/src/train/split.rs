//! Splitting rows so that both outcomes are on both sides.

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::error::SettingError;
use crate::{Error, Result};

/// A random stratified split into rows to keep and rows to hold out. Each outcome has the same proportion
/// on both sides, up to rounding; an outcome of several rows is on both sides, and one of a single row is
/// kept.
///
/// ```
/// let labels = [true, false, false, false, false, true, false, false];
/// let (kept, held_out) = surefoot::train::split(&labels, 0.25, 0)?;
/// assert_eq!((kept.len(), held_out.len()), (6, 2));
/// assert!(kept.iter().any(|&row| labels[row]) && held_out.iter().any(|&row| labels[row]));
/// # Ok::<(), surefoot::Error>(())
/// ```
pub fn split(labels: &[bool], share: f64, seed: u64) -> Result<(Vec<usize>, Vec<usize>)> {
    let mut order: Vec<usize> = (0..labels.len()).collect();
    order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    divide(&order, share, |row| labels[row])
}

/// A bootstrap sample: as many rows as there are, drawn with replacement. Samples with different numbers are
/// independent; a sample in which an outcome is missing that the rows have is drawn again.
pub fn bootstrap(labels: &[bool], seed: u64, number: u64) -> Vec<usize> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(number);
    loop {
        let sample: Vec<usize> = labels.iter().map(|_| random.random_range(0..labels.len())).collect();
        let is_there =
            |label: bool| !labels.contains(&label) || sample.iter().any(|&row| labels[row] == label);
        if is_there(true) && is_there(false) {
            return sample;
        }
    }
}

/// The stratified split of rows in a given order.
pub(super) fn divide(
    order: &[usize],
    share: f64,
    label: impl Fn(usize) -> bool,
) -> Result<(Vec<usize>, Vec<usize>)> {
    let count = held_out(order.len(), share)?;
    let favourable = order.iter().filter(|&&row| label(row)).count();
    let mut left = [0; 2];
    left[1] = favourable_among(count, favourable, order.len() - favourable);
    left[0] = count - left[1];
    let (mut kept, mut out) = (Vec::with_capacity(order.len() - count), Vec::with_capacity(count));
    for &row in order {
        let left = &mut left[usize::from(label(row))];
        if *left > 0 {
            *left -= 1;
            out.push(row);
        } else {
            kept.push(row);
        }
    }
    Ok((kept, out))
}

/// The number of rows of a share; an error if one side would be empty.
pub(super) fn held_out(rows: usize, share: f64) -> Result<usize> {
    let count = (rows as f64 * share).round() as usize;
    if count == 0 || count >= rows {
        return Err(Error::Setting(SettingError::ValidationShare { share, samples: rows }));
    }
    Ok(count)
}

/// The number of rows held out that are favourable.
fn favourable_among(count: usize, favourable: usize, unfavourable: usize) -> usize {
    let ideal = (count as f64 * favourable as f64 / (favourable + unfavourable) as f64).round() as usize;
    // Not all rows of an outcome are held out, unless there is only one outcome or there are too few rows.
    let spare = |own: usize, other: usize| if other == 0 { own } else { own.saturating_sub(1) };
    let least = count.saturating_sub(spare(unfavourable, favourable));
    let most = spare(favourable, unfavourable).min(count).max(least);
    // At least one row of each outcome that has several is held out, if enough rows are held out.
    let (at_least, at_most) =
        (least.max(usize::from(favourable > 1)), most.min(count - usize::from(unfavourable > 1).min(count)));
    if at_least <= at_most { ideal.clamp(at_least, at_most) } else { ideal.clamp(least, most) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_outcomes_are_on_both_sides_whenever_they_can_be() {
        for rows in 2..25usize {
            for favourable in 0..=rows {
                let labels: Vec<bool> = (0..rows).map(|row| row < favourable).collect();
                for count in 1..rows {
                    let share = count as f64 / rows as f64;
                    let (kept, out) = split(&labels, share, (rows + count) as u64).unwrap();
                    assert_eq!((kept.len(), out.len()), (rows - count, count));
                    let mut all: Vec<usize> = kept.iter().chain(&out).copied().collect();
                    all.sort_unstable();
                    assert!(all.into_iter().eq(0..rows));
                    let of = |side: &[usize], label: bool| {
                        side.iter().filter(|&&row| labels[row] == label).count()
                    };
                    for (label, total) in [(true, favourable), (false, rows - favourable)] {
                        let others = rows - total;
                        if total > 0 && others > 0 && count + 2 <= rows {
                            assert!(of(&kept, label) > 0, "{rows} {favourable} {count}");
                        }
                        if total > 1 && others > 1 && count > 1 && count + 2 <= rows {
                            assert!(of(&out, label) > 0, "{rows} {favourable} {count}");
                        }
                        // The deviation from the proportion is at most one row, or what the conditions
                        // above require.
                        let expected = count as f64 * total as f64 / rows as f64;
                        assert!((of(&out, label) as f64 - expected).abs() <= 1.0 + 1e-9);
                    }
                }
            }
        }
        for share in [0.0, 0.01, 0.99, 1.0, -1.0, f64::NAN] {
            assert!(matches!(
                split(&[true, false, true], share, 0),
                Err(Error::Setting(SettingError::ValidationShare { .. }))
            ));
        }
    }
}
