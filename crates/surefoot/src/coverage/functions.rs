//! Distribution functions of sums of independent normal errors.

use std::f64::consts::{FRAC_2_SQRT_PI, PI, SQRT_2};

use crate::chi_square::chi_square;

/// The probability that a standard normal number lies between `-r` and `r`: `erf(r / sqrt 2)`.
pub(super) fn normal(r: f64) -> f64 {
    chi_square(1, r * r)
}

/// Dawson's integral `exp(-x^2) * integral from 0 to x of exp(t^2) dt`.
///
/// Near zero by the sampling formula of Rybicki (1989), `sum over odd n of exp(-(x - n h)^2) / n / sqrt(pi)`,
/// whose error at `h = 1/4` is below 1e-16; far out by its asymptotic series.
pub(super) fn dawson(x: f64) -> f64 {
    const STEP: f64 = 0.25;
    if x.abs() >= 10.0 {
        let (mut term, mut sum) = (1.0, 1.0);
        for n in 0..12 {
            term *= (2 * n + 1) as f64 / (2.0 * x * x);
            sum += term;
        }
        return sum / (2.0 * x);
    }
    // Terms farther than 6.5 from x are below 1e-18.
    let middle = (x / STEP / 2.0).round() as i64;
    let term = |k: i64| {
        let n = (2 * (middle + k) + 1) as f64;
        (-(x - n * STEP).powi(2)).exp() / n
    };
    (-14..=14).map(term).sum::<f64>() / PI.sqrt()
}

/// The characteristic function `E exp(i t |z|)` of the absolute value of a standard normal number: its real and
/// its imaginary part.
fn half_normal(t: f64) -> (f64, f64) {
    ((-0.5 * t * t).exp(), FRAC_2_SQRT_PI * dawson(t / SQRT_2))
}

/// The distribution of `sum_i s_i |z_i|` for independent standard normal `z_i`, by its characteristic function
/// (Gil-Pelaez, 1951) at equidistant points.
///
/// With a step of `2 pi / L` the error of the sum of infinitely many terms is at most the probability that the
/// sum of errors exceeds `L`, which is below 1e-17.
#[derive(Clone, Debug)]
pub(super) struct SumOfSizes {
    /// Sums of errors are practically never larger.
    largest: f64,
    /// The characteristic function at `(j + 1/2) 2 pi / largest`, for j from 0.
    values: Vec<(f64, f64)>,
}

/// The largest error that ending the sum over the characteristic function may cause, and the largest number of
/// terms. The terms suffice for this error unless there are only two errors of very different sizes.
const TAIL: f64 = 1e-11;
const POINTS: usize = 200_000;

impl SumOfSizes {
    pub fn new(deviations: &[f64]) -> Self {
        let sum: f64 = deviations.iter().sum();
        let length = deviations.iter().map(|s| s * s).sum::<f64>().sqrt();
        // The mean is sqrt(2 / pi) sum, and P(sum of errors > mean + t length) <= exp(-t^2 / 2).
        let largest = (2.0 / PI).sqrt() * sum + 9.0 * length;
        let step = 2.0 * PI / largest;
        let mut values = Vec::new();
        for j in 0..POINTS {
            let t = (j as f64 + 0.5) * step;
            let (mut real, mut imaginary) = (1.0, 0.0);
            for s in deviations {
                let (a, b) = half_normal(s * t);
                (real, imaginary) = (real * a - imaginary * b, real * b + imaginary * a);
            }
            values.push((real, imaginary));
            // Each factor falls like 1 / t from here on, so the rest of the terms sums to less than this.
            let rest = real.hypot(imaginary) / deviations.len() as f64;
            if deviations.iter().all(|s| s * t > 2.0) && rest < TAIL {
                break;
            }
        }
        Self { largest, values }
    }

    /// The probability that the sum is at most `r`.
    pub fn at_most(&self, r: f64) -> f64 {
        if r <= 0.0 {
            return 0.0;
        }
        if r >= self.largest {
            return 1.0;
        }
        let step = 2.0 * PI / self.largest;
        let term = |(j, (real, imaginary)): (usize, &(f64, f64))| {
            let (sin, cos) = ((j as f64 + 0.5) * step * r).sin_cos();
            (imaginary * cos - real * sin) / (PI * (j as f64 + 0.5))
        };
        let sum: f64 = self.values.iter().enumerate().map(term).sum();
        (0.5 - sum).clamp(0.0, 1.0)
    }
}

/// The distribution of `sum_i s_i^2 z_i^2` for independent standard normal `z_i`, as a mixture of chi-square
/// distributions (Ruben, 1962). What the mixture's ended series leaves out counts as improbable, so
/// probabilities are never too large.
#[derive(Clone, Debug)]
pub(super) struct SumOfSquares {
    count: usize,
    /// The smallest square of a deviation.
    least: f64,
    /// The shares of the distributions with `count`, `count + 2`, ... degrees of freedom.
    shares: Vec<f64>,
}

/// The largest number of distributions in the mixture: enough for deviations that differ by a factor of 10.
const MIXTURE: usize = 3000;

impl SumOfSquares {
    pub fn new(deviations: &[f64]) -> Self {
        let squares: Vec<f64> = deviations.iter().map(|s| s * s).collect();
        let least = squares.iter().copied().fold(f64::INFINITY, f64::min);
        let mut shares = vec![squares.iter().map(|square| (least / square).sqrt()).product::<f64>()];
        let ratios: Vec<f64> = squares.iter().map(|square| 1.0 - least / square).collect();
        let mut powers = ratios.clone();
        let mut moments = Vec::new();
        let mut left = 1.0 - shares[0];
        while left > 1e-14 && shares.len() < MIXTURE {
            moments.push(powers.iter().sum::<f64>());
            powers.iter_mut().zip(&ratios).for_each(|(power, ratio)| *power *= ratio);
            let sum: f64 = shares.iter().rev().zip(&moments).map(|(share, moment)| share * moment).sum();
            let share = sum / (2 * shares.len()) as f64;
            left -= share;
            shares.push(share);
        }
        Self { count: deviations.len(), least, shares }
    }

    /// The probability that the sum is at most `r`.
    pub fn at_most(&self, r: f64) -> f64 {
        let distribution = |j: usize| chi_square(self.count + 2 * j, r / self.least);
        let terms = self.shares.iter().enumerate().map(|(j, share)| share * distribution(j));
        terms.sum::<f64>().min(1.0)
    }
}
