//! Folds roundings and scalings of a value into the threshold that it is compared with.
//!
//! A program that rounds `x` to single precision before it tests `x <= t` accepts a set of doubles. The
//! rounding is monotone, so the set is `{x : x <= t'}` for one double `t'`, which is found by bisection over
//! all doubles. The same holds for every other monotone function in front of a test, such as a scaler.

/// The largest double, infinities included, for which a condition holds that holds up to some number and not
/// beyond it. Negative infinity if it holds for no number.
pub fn largest(holds: impl Fn(f64) -> bool) -> f64 {
    let (mut yes, mut no) = (order(f64::NEG_INFINITY), order(f64::INFINITY));
    if holds(f64::INFINITY) {
        return f64::INFINITY;
    }
    while no - yes > 1 {
        let middle = yes + (no - yes) / 2;
        if holds(from_order(middle)) {
            yes = middle;
        } else {
            no = middle;
        }
    }
    from_order(yes)
}

/// The least double for which a condition holds that holds from some number on and not before it; infinity if
/// it holds for no finite number.
pub fn least(holds: impl Fn(f64) -> bool) -> f64 {
    -largest(|x| holds(-x))
}

/// The threshold `t'` with `x <= t'` exactly if `x`, rounded to single precision, is at most `threshold`.
pub fn single(threshold: f64) -> f64 {
    largest(|x| f64::from(x as f32) <= threshold)
}

/// The position of a double among all doubles in ascending order.
fn order(x: f64) -> i128 {
    let bits = i128::from(x.to_bits() & !(1 << 63));
    if x.is_sign_negative() { -bits - 1 } else { bits }
}

fn from_order(position: i128) -> f64 {
    let bits = |magnitude: i128| f64::from_bits(u64::try_from(magnitude).unwrap_or_default());
    if position < 0 { -bits(-position - 1) } else { bits(position) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_that_of_numbers() {
        let ascending = [f64::NEG_INFINITY, -2.0, -5e-324, -0.0, 0.0, 5e-324, 1.0, f64::INFINITY];
        for pair in ascending.windows(2) {
            assert!(order(pair[0]) < order(pair[1]));
        }
        for x in ascending {
            assert_eq!(from_order(order(x)).to_bits(), x.to_bits());
            assert_eq!(
                from_order(order(x) + 1).to_bits(),
                if x == f64::NEG_INFINITY { f64::MIN } else { next(x) }.to_bits()
            );
            if x == 1.0 {
                break;
            }
        }
    }

    fn next(x: f64) -> f64 {
        if x.to_bits() == (-0.0f64).to_bits() {
            0.0
        } else if x == -5e-324 {
            -0.0
        } else {
            x.next_up()
        }
    }

    /// Doubles around the threshold, around its neighbours in single precision, and around their midpoints.
    #[test]
    fn rounding_to_single_precision_is_folded_exactly() {
        for start in [0.1f32, -0.1, 1.0, 0.0, 3.5e-45, -1e-40, 16_777_216.0, 1e38, f32::MAX, f32::MIN] {
            for threshold in [f64::from(start), f64::from(start).next_down(), f64::from(start) * (1.0 + 1e-9)]
            {
                let folded = single(threshold);
                let mut near = vec![folded, threshold];
                for single in [start.next_down().next_down(), start.next_down(), start, start.next_up()] {
                    near.extend([f64::from(single), 0.5 * (f64::from(single) + f64::from(start))]);
                }
                for x in near.iter().flat_map(|&x| [x.next_down(), x, x.next_up()]) {
                    assert_eq!(f64::from(x as f32) <= threshold, x <= folded, "{x:e} against {threshold:e}");
                }
            }
        }
    }

    #[test]
    fn a_scaler_is_folded_exactly() {
        for (mean, scale, threshold) in [(38.6, 13.4, 0.1f32), (1e6, 3e-3, -2.5), (-7.0, 1e9, 1e-8)] {
            let scaled = |x: f64| f64::from(((x - mean) / scale) as f32);
            let folded = largest(|x| scaled(x) <= f64::from(threshold));
            assert!(
                scaled(folded) <= f64::from(threshold) && scaled(folded.next_up()) > f64::from(threshold)
            );
        }
    }

    #[test]
    fn conditions_that_never_change_have_infinite_ends() {
        assert_eq!(largest(|_| true), f64::INFINITY);
        assert_eq!(largest(|_| false), f64::NEG_INFINITY);
        assert_eq!(least(|x| x >= 0.25), 0.25);
        assert_eq!(least(|x| x > 0.0), 5e-324);
    }
}
