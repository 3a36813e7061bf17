//! The least value of a function of one number.

/// The number of intervals at the start.
const INTERVALS: usize = 12;
/// An interval is not halved any more if that can raise the bound by no more than this.
const GAP: f64 = 1e-7;
/// The largest number of halvings.
const DEPTH: u32 = 16;

/// A lower bound of a function over `low <= x <= high` whose second derivative is at most `bend` in absolute
/// value: on an interval of length h, the function is at most `bend h^2 / 8` below its chord.
pub(super) fn least(f: impl Fn(f64) -> f64, low: f64, high: f64, bend: f64) -> f64 {
    let step = (high - low) / INTERVALS as f64;
    let at = |k: usize| if k == INTERVALS { high } else { low + step * k as f64 };
    let values: [f64; INTERVALS + 1] = std::array::from_fn(|k| f(at(k)));
    let mut smallest = values.iter().copied().fold(f64::INFINITY, f64::min);
    if !values.iter().all(|v| v.is_finite()) {
        return f64::NEG_INFINITY;
    }
    let mut bound = smallest;
    let mut open: Vec<(f64, f64, f64, f64, u32)> =
        (0..INTERVALS).map(|k| (at(k), at(k + 1), values[k], values[k + 1], 0)).collect();
    while let Some((l, u, a, b, depth)) = open.pop() {
        let (width, slope) = (u - l, (b - a).abs());
        // The least value of the chord less the parabola `bend (x - l) (u - x) / 2`.
        let drop = 0.5 * bend * width * width;
        let lower = match slope < drop {
            true => 0.5 * (a + b) - 0.25 * (drop + slope * slope / drop),
            false => a.min(b),
        };
        if lower >= smallest - GAP || depth == DEPTH {
            bound = bound.min(lower);
            continue;
        }
        let middle = 0.5 * (l + u);
        let value = f(middle);
        smallest = smallest.min(value);
        bound = bound.min(value);
        open.push((l, middle, a, value, depth + 1));
        open.push((middle, u, value, b, depth + 1));
    }
    bound
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_sampled_is_below_and_the_bound_is_tight() {
        for k in 0..200 {
            let phase = f64::from(k) * 0.37;
            let f = |x: f64| (x + phase).sin() - 0.1 * (k % 7) as f64 * x;
            let (low, high) = (-phase.cos() - 2.0, 3.0 * phase.sin() + 1.5);
            let bound = least(f, low, high, 1.0);
            let sampled = (0..=5000)
                .map(|i| f(low + (high - low) * f64::from(i) / 5000.0))
                .fold(f64::INFINITY, f64::min);
            assert!(bound <= sampled + 1e-12 && bound > sampled - 1e-5, "{k}: {bound} {sampled}");
        }
    }
}
