//! The inner loops: matrix times a block of vectors, and activations.
//!
//! A block is sixteen vectors side by side, one on each SIMD lane, so that every operation is the same for
//! all of them. Weights are packed in panels of four outputs: for each input one small row of weights,
//! which is added to four times sixteen sums in registers.
//!
//! The loops are written once in plain Rust and compiled three times, for AVX-512, for AVX2 with fused
//! multiply-add, and for the baseline of the target. The program selects one when it starts: the best that
//! the processor supports and the variable `SUREFOOT_SIMD` (`portable`, `avx2` or `avx512`) allows, so that
//! each can be measured.

#![expect(unsafe_code, reason = "a function compiled for a CPU feature may only be called where it exists")]

use std::hint::black_box;
use std::sync::OnceLock;

use super::Activation;
use super::lanes::{LANES, Lanes};
use super::real::Real;

/// The number of outputs in a panel.
const PANEL: usize = 4;

/// An instruction set of the CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Level {
    /// The instruction sets that this CPU supports, the best last.
    pub fn available() -> Vec<Level> {
        #[allow(unused_mut, reason = "on other processors there is nothing to add")]
        let mut levels = vec![Level::Portable];
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                levels.push(Level::Avx2);
                if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq") {
                    levels.push(Level::Avx512);
                }
            }
        }
        levels
    }

    /// The best available instruction set, at most the requested one.
    fn chosen(asked: Option<&str>) -> Level {
        let levels = Self::available();
        let best = levels.last().copied().unwrap_or(Level::Portable);
        levels.into_iter().find(|level| asked == Some(level.name())).unwrap_or(best)
    }

    fn name(self) -> &'static str {
        match self {
            Level::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => "avx512",
        }
    }

    fn best() -> Level {
        static BEST: OnceLock<Level> = OnceLock::new();
        *BEST.get_or_init(|| Self::chosen(std::env::var("SUREFOOT_SIMD").ok().as_deref()))
    }
}

/// Loops that are compiled for every [`Level`] and run at the best one.
///
/// Implementations of [`Vectorised::run`] must be `#[inline(always)]`, and so must everything that they
/// call in their loops; otherwise they are compiled for the baseline of the target.
pub(crate) trait Vectorised {
    /// The type of the result.
    type Output;

    /// The loops; `FUSED` where multiplication and addition are one instruction.
    fn run<const FUSED: bool>(self) -> Self::Output;

    /// The loops for 32 registers of eight doubles, fused. The result must be the same to the last bit.
    #[inline(always)]
    fn run_on_many_registers(self) -> Self::Output
    where
        Self: Sized,
    {
        self.run::<true>()
    }
}

/// Runs the loops that are compiled for this processor.
pub(crate) fn vectorised<V: Vectorised>(work: V) -> V::Output {
    vectorised_at(Level::best(), work)
}

pub(super) fn vectorised_at<V: Vectorised>(level: Level, work: V) -> V::Output {
    match level {
        Level::Portable => work.run::<false>(),
        // SAFETY: these levels exist only where the CPU has the features.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { run_avx2(work) },
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { run_avx512(work) },
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn run_avx2<V: Vectorised>(work: V) -> V::Output {
    work.run::<true>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,fma")]
fn run_avx512<V: Vectorised>(work: V) -> V::Output {
    work.run_on_many_registers()
}

/// A matrix with a constant term, packed for [`Packed::apply`].
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Packed<T> {
    panels: Vec<[T; PANEL]>,
    constant: Vec<[T; PANEL]>,
    outputs: usize,
    inputs: usize,
}

impl<T: Real> Packed<T> {
    /// A matrix of zeros.
    pub fn zeros(outputs: usize, inputs: usize) -> Self {
        let count = outputs.div_ceil(PANEL);
        let zeros = |n: usize| vec![[T::ZERO; PANEL]; n];
        Self { panels: zeros(count * inputs), constant: zeros(count), outputs, inputs }
    }

    pub fn new(
        (outputs, inputs): (usize, usize),
        weight: impl Fn(usize, usize) -> f64,
        constant: impl Fn(usize) -> f64,
    ) -> Self {
        let mut packed = Self::zeros(outputs, inputs);
        packed.fill(|i, j| T::from_double(weight(i, j)), |i| T::from_double(constant(i)));
        packed
    }

    /// Replaces the numbers by others of the same shape.
    pub fn fill(&mut self, weight: impl Fn(usize, usize) -> T, constant: impl Fn(usize) -> T) {
        for (panel, numbers) in self.constant.iter_mut().enumerate() {
            let first = panel * PANEL;
            let rows = PANEL.min(self.outputs - first);
            for (r, number) in numbers[..rows].iter_mut().enumerate() {
                *number = constant(first + r);
            }
            let panels = &mut self.panels[panel * self.inputs..(panel + 1) * self.inputs];
            for (j, numbers) in panels.iter_mut().enumerate() {
                for (r, number) in numbers[..rows].iter_mut().enumerate() {
                    *number = weight(first + r, j);
                }
            }
        }
    }

    pub fn inputs(&self) -> usize {
        self.inputs
    }

    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// `output = matrix * input + constant`, for every lane.
    pub fn apply(&self, input: &[Lanes<T>], output: &mut [Lanes<T>]) {
        self.apply_at(Level::best(), T::ONE, input, output);
    }

    /// `output = matrix * input`, without the constant.
    pub fn apply_linear(&self, input: &[Lanes<T>], output: &mut [Lanes<T>]) {
        self.apply_at(Level::best(), T::ZERO, input, output);
    }

    /// `output = matrix * input + share * constant`.
    fn apply_at(&self, level: Level, share: T, input: &[Lanes<T>], output: &mut [Lanes<T>]) {
        assert!(input.len() == self.inputs && output.len() == self.outputs, "a block of another shape");
        match level {
            Level::Portable => self.tiles::<4, 4, false>(share, input, output),
            // SAFETY: these levels exist only where the CPU has the features.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => unsafe { self.tiles_avx2(share, input, output) },
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => unsafe { self.tiles_avx512(share, input, output) },
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn tiles_avx2(&self, share: T, input: &[Lanes<T>], output: &mut [Lanes<T>]) {
        // Eight of the sixteen registers hold sums; with fewer, additions would wait for each other.
        if size_of::<T>() == size_of::<f32>() {
            self.tiles::<4, 16, true>(share, input, output);
        } else {
            self.tiles::<2, 16, true>(share, input, output);
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512dq,fma")]
    fn tiles_avx512(&self, share: T, input: &[Lanes<T>], output: &mut [Lanes<T>]) {
        self.tiles::<4, 16, true>(share, input, output);
    }

    /// Tiles of `ROWS` outputs and `WIDTH` lanes, whose sums stay in registers. (With iterators
    /// in place of numbered loops they do not, and it takes ten times as long.)
    #[inline(always)]
    fn tiles<const ROWS: usize, const WIDTH: usize, const FUSED: bool>(
        &self,
        share: T,
        input: &[Lanes<T>],
        output: &mut [Lanes<T>],
    ) {
        for (panel, output) in output.chunks_mut(PANEL).enumerate() {
            let weights = &self.panels[panel * self.inputs..(panel + 1) * self.inputs];
            for row in (0..PANEL).step_by(ROWS) {
                for lane in (0..LANES).step_by(WIDTH) {
                    let mut sums = [[T::ZERO; WIDTH]; ROWS];
                    for r in 0..ROWS {
                        sums[r] = [T::fused::<FUSED>(share, self.constant[panel][row + r], T::ZERO); WIDTH];
                    }
                    for (weights, input) in weights.iter().zip(input) {
                        let input: &[T; WIDTH] = match input.0[lane..lane + WIDTH].try_into() {
                            Ok(input) => input,
                            Err(_) => unreachable!("a tile is as wide as it says"),
                        };
                        for r in 0..ROWS {
                            let weight = weights[row + r];
                            for l in 0..WIDTH {
                                sums[r][l] = T::fused::<FUSED>(weight, input[l], sums[r][l]);
                            }
                        }
                    }
                    for r in 0..ROWS {
                        if let Some(output) = output.get_mut(row + r) {
                            output.0[lane..lane + WIDTH].copy_from_slice(&sums[r]);
                        }
                    }
                }
            }
        }
    }
}

/// Applies an activation to every number.
pub(super) fn activate<T: Real>(activation: Activation, values: &mut [Lanes<T>]) {
    activate_at(Level::best(), activation, values);
}

pub(super) fn activate_at<T: Real>(level: Level, activation: Activation, values: &mut [Lanes<T>]) {
    match level {
        Level::Portable => activate_all::<T, false>(activation, values),
        // SAFETY: these levels exist only where the CPU has the features.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { activate_avx2(activation, values) },
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { activate_avx512(activation, values) },
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn activate_avx2<T: Real>(activation: Activation, values: &mut [Lanes<T>]) {
    activate_all::<T, true>(activation, values);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,fma")]
fn activate_avx512<T: Real>(activation: Activation, values: &mut [Lanes<T>]) {
    activate_all::<T, true>(activation, values);
}

/// One loop for each activation, so that each is vectorised.
#[inline(always)]
fn activate_all<T: Real, const FUSED: bool>(activation: Activation, values: &mut [Lanes<T>]) {
    match activation {
        Activation::Tanh => each(values, |x| T::activated::<FUSED>(Activation::Tanh, x)),
        Activation::Relu => each(values, |x| T::activated::<FUSED>(Activation::Relu, x)),
        Activation::Sigmoid => each(values, |x| T::activated::<FUSED>(Activation::Sigmoid, x)),
    }
}

// The black boxes here and below keep the compiler from vectorising over blocks, by gathering
// one lane of each, where lanes lie side by side.
#[inline(always)]
fn each<T: Real>(values: &mut [Lanes<T>], f: impl Fn(T) -> T) {
    for value in values {
        let value = black_box(value);
        for x in &mut value.0 {
            *x = f(*x);
        }
    }
}

/// Multiplies every number with the slope of the activation, given the activation's value.
pub(super) fn multiply_slopes<T: Real>(
    activation: Activation,
    values: &mut [Lanes<T>],
    outputs: &[Lanes<T>],
) {
    multiply_slopes_at(Level::best(), activation, values, outputs);
}

fn multiply_slopes_at<T: Real>(
    level: Level,
    activation: Activation,
    values: &mut [Lanes<T>],
    outputs: &[Lanes<T>],
) {
    match level {
        Level::Portable => multiply_all(activation, values, outputs),
        // SAFETY: these levels exist only where the CPU has the features.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { multiply_avx2(activation, values, outputs) },
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { multiply_avx512(activation, values, outputs) },
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn multiply_avx2<T: Real>(activation: Activation, values: &mut [Lanes<T>], outputs: &[Lanes<T>]) {
    multiply_all(activation, values, outputs);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,fma")]
fn multiply_avx512<T: Real>(activation: Activation, values: &mut [Lanes<T>], outputs: &[Lanes<T>]) {
    multiply_all(activation, values, outputs);
}

#[inline(always)]
fn multiply_all<T: Real>(activation: Activation, values: &mut [Lanes<T>], outputs: &[Lanes<T>]) {
    match activation {
        Activation::Tanh => multiply(values, outputs, |h| T::slope(Activation::Tanh, h)),
        Activation::Relu => multiply(values, outputs, |h| T::slope(Activation::Relu, h)),
        Activation::Sigmoid => multiply(values, outputs, |h| T::slope(Activation::Sigmoid, h)),
    }
}

#[inline(always)]
fn multiply<T: Real>(values: &mut [Lanes<T>], outputs: &[Lanes<T>], slope: impl Fn(T) -> T) {
    for (value, output) in values.iter_mut().zip(outputs) {
        let value = black_box(value);
        for (x, &h) in value.0.iter_mut().zip(&output.0) {
            *x *= slope(h);
        }
    }
}

#[cfg(test)]
mod tests;
