//! How much of what a core can do the network kernel does, both measured in this run:
//!
//! ```text
//! cargo bench -p surefoot --bench roofline
//! ```
//!
//! The peak of a core, for each level that the engine is compiled for, is that of multiplications and
//! additions in registers that do not depend on each other. The kernel is a 7-100-100-1 network in
//! doubles, on one thread, through the interface that everybody uses; its multiplications and additions
//! are counted and its activations are not. With relu in place of tanh, which costs next to nothing, the
//! difference is what tanh takes.

#![expect(unsafe_code, reason = "a function compiled for a CPU feature may only be called where it exists")]
#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::hint::black_box;
use std::process::Command;
use std::time::Instant;

use ndarray::Array2;
use surefoot::{Activation, Layer, Network};

const SIZES: [usize; 4] = [7, 100, 100, 1];

/// Of the forward pass for one row; of the pass back as many, without the last layer.
const FORWARD: usize = 2 * (7 * 100 + 100 * 100 + 100);
const BACKWARD: usize = 2 * (7 * 100 + 100 * 100);

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    if words.first().is_some_and(|word| word == "level") {
        return measure();
    }
    println!(
        "| level | rows | peak, GFLOP/s | forward | of peak | forward and gradient | of peak | with relu: forward | forward and gradient | tanh, of the time forward | ns each |"
    );
    println!("| :-- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |");
    for level in ["portable", "avx2", "avx512"] {
        if peak(level).is_some() {
            // The engine chooses once for a process.
            let mut command = Command::new(std::env::current_exe().unwrap());
            let done = command.arg("level").env("SUREFOOT_SIMD", level).output().unwrap();
            assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
            print!("{}", String::from_utf8_lossy(&done.stdout));
        }
    }
}

/// The rows of the table for the level of this process.
fn measure() {
    let level = std::env::var("SUREFOOT_SIMD").unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build().unwrap();
    let (tanh, relu) = (network(Activation::Tanh), network(Activation::Relu));
    for count in [16, 64, 1024] {
        let rows = Array2::from_shape_fn((count, SIZES[0]), |(i, j)| ((i * 7 + j) as f64 * 0.37).sin());
        let works: [(usize, &(dyn Fn() + Sync)); 4] = [
            (FORWARD, &|| hold(tanh.values(rows.view()))),
            (FORWARD + BACKWARD, &|| hold(tanh.gradients(rows.view()))),
            (FORWARD, &|| hold(relu.values(rows.view()))),
            (FORWARD + BACKWARD, &|| hold(relu.gradients(rows.view()))),
        ];
        // In turns, so that all of them meet the same moments of a busy machine; the best one counts.
        let (mut highest, mut rates) = (0.0f64, [0.0f64; 4]);
        for _ in 0..40 {
            highest = highest.max(peak(&level).unwrap());
            for (rate, (operations, work)) in rates.iter_mut().zip(&works) {
                let turns = 4096 / count;
                let seconds = pool.install(|| timed(|| (0..turns).for_each(|_| work())));
                *rate = rate.max((turns * count * operations) as f64 / seconds / 1e9);
            }
        }
        let share = |rate: f64| format!("{:.0}%", 100.0 * rate / highest);
        let [forward, both, relu_forward, relu_both] = rates;
        // Of one row, in nanoseconds; relu takes a little, too, which is left out.
        let [with, without] = [forward, relu_forward].map(|rate| FORWARD as f64 / rate);
        let hidden: usize = SIZES[1..3].iter().sum();
        println!(
            "| {level} | {count} | {highest:.1} | {forward:.1} | {} | {both:.1} | {} | {} | {} | {:.0}% | {:.2} |",
            share(forward),
            share(both),
            share(relu_forward),
            share(relu_both),
            100.0 * (1.0 - without / with),
            (with - without) / hidden as f64,
        );
    }
}

fn network(activation: Activation) -> Network {
    let layer = |pair: &[usize]| Layer {
        weight: Array2::from_shape_fn((pair[1], pair[0]), |(i, j)| ((13 * i + 7 * j) as f64).sin() * 0.2),
        bias: (0..pair[1]).map(|i| (i as f64).cos()).collect(),
    };
    Network::new(SIZES.windows(2).map(layer).collect(), activation).unwrap()
}

fn timed(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

/// Keeps the compiler from leaving out what nobody looks at.
fn hold<T>(value: T) {
    black_box(value);
}

/// Steps of the loops below, and the registers that each of them works on.
const STEPS: usize = 20_000;
const REGISTERS: usize = 12;

/// GFLOP/s of one core at a level, in doubles; nothing where it does not have that level.
#[cfg(target_arch = "x86_64")]
fn peak(level: &str) -> Option<f64> {
    let fused = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
    let wide = fused && is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq");
    let (lanes, seconds) = match level {
        "portable" => (2, timed(|| hold(x86::portable()))),
        // SAFETY: the features have been looked for.
        "avx2" if fused => (4, timed(|| hold(unsafe { x86::avx2() }))),
        "avx512" if wide => (8, timed(|| hold(unsafe { x86::avx512() }))),
        _ => return None,
    };
    Some((STEPS * REGISTERS * lanes * 2) as f64 / seconds / 1e9)
}

/// What the compiler makes of plain loops, where the intrinsics above do not exist.
#[cfg(not(target_arch = "x86_64"))]
fn peak(level: &str) -> Option<f64> {
    let mut registers = [[1.0f64; 2]; REGISTERS];
    let seconds = timed(|| {
        for _ in 0..STEPS {
            for register in &mut registers {
                register.iter_mut().for_each(|x| *x = x.mul_add(0.999, 1e-3));
            }
        }
        black_box(registers);
    });
    (level == "portable").then_some((STEPS * REGISTERS * 2 * 2) as f64 / seconds / 1e9)
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;
    use std::hint::black_box;

    use super::{REGISTERS, STEPS};

    /// Half of the registers multiply and half add, once for each of the latter twice.
    pub fn portable() -> [__m128d; REGISTERS] {
        // SAFETY: every processor of this architecture has SSE2.
        unsafe {
            let (factor, term) = (_mm_set1_pd(black_box(0.999)), _mm_set1_pd(black_box(1e-3)));
            let mut products = [_mm_set1_pd(1.0); REGISTERS / 2];
            let mut sums = [_mm_set1_pd(1.0); REGISTERS / 2];
            for _ in 0..2 * STEPS {
                for r in 0..REGISTERS / 2 {
                    products[r] = _mm_mul_pd(products[r], factor);
                    sums[r] = _mm_add_pd(sums[r], term);
                }
            }
            std::array::from_fn(|r| if r % 2 == 0 { products[r / 2] } else { sums[r / 2] })
        }
    }

    #[target_feature(enable = "avx2,fma")]
    pub fn avx2() -> [__m256d; REGISTERS] {
        let (factor, term) = (_mm256_set1_pd(black_box(0.999)), _mm256_set1_pd(black_box(1e-3)));
        let mut sums = [_mm256_set1_pd(1.0); REGISTERS];
        for _ in 0..STEPS {
            for r in 0..REGISTERS {
                sums[r] = _mm256_fmadd_pd(sums[r], factor, term);
            }
        }
        sums
    }

    #[target_feature(enable = "avx512f,avx512dq,fma")]
    pub fn avx512() -> [__m512d; REGISTERS] {
        let (factor, term) = (_mm512_set1_pd(black_box(0.999)), _mm512_set1_pd(black_box(1e-3)));
        let mut sums = [_mm512_set1_pd(1.0); REGISTERS];
        for _ in 0..STEPS {
            for r in 0..REGISTERS {
                sums[r] = _mm512_fmadd_pd(sums[r], factor, term);
            }
        }
        sums
    }
}
