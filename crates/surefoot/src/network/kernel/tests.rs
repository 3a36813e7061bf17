//! Kernels of every level beside the standard library.

use super::*;
use crate::network::sigmoid;

fn block(values: impl Fn(usize) -> f64) -> Lanes {
    Lanes::from_fn(values)
}

#[test]
fn the_level_is_the_best_unless_another_is_asked_for() {
    for level in Level::available() {
        assert_eq!(Level::chosen(Some(level.name())), level);
    }
    for other in [None, Some("none"), Some("")] {
        assert_eq!(Some(Level::chosen(other)), Level::available().pop());
    }
}

#[test]
fn activations_agree_with_the_standard_library_at_every_level() {
    for level in Level::available() {
        for start in -4000..4000 {
            let x = block(|l| start as f64 * 0.01 + l as f64 * 0.0006);
            for (activation, exact) in [
                (Activation::Tanh, f64::tanh as fn(f64) -> f64),
                (Activation::Sigmoid, sigmoid),
                (Activation::Relu, |x: f64| x.max(0.0)),
            ] {
                let mut y = x;
                activate_at(level, activation, std::slice::from_mut(&mut y));
                for l in 0..LANES {
                    let exact = exact(x.0[l]);
                    assert!(
                        (y.0[l] - exact).abs() <= 8e-16 * exact.abs(),
                        "{level:?} {activation:?} {}",
                        x.0[l]
                    );
                }
            }
        }
    }
}

#[test]
fn slopes_agree_at_every_level() {
    let (x, h) = (block(|l| l as f64 - 7.5), block(|l| (l as f64 - 4.0) / 13.0));
    for level in Level::available() {
        for (activation, slope) in [
            (Activation::Tanh, (|h: f64| 1.0 - h * h) as fn(f64) -> f64),
            (Activation::Sigmoid, |h: f64| h * (1.0 - h)),
            (Activation::Relu, |h: f64| f64::from(u8::from(h > 0.0))),
        ] {
            let mut values = [x; 3];
            multiply_slopes_at(level, activation, &mut values, &[h; 3]);
            for value in values {
                for l in 0..LANES {
                    let exact = x.0[l] * slope(h.0[l]);
                    assert!((value.0[l] - exact).abs() <= 1e-15 * x.0[l].abs(), "{level:?} {activation:?}");
                }
            }
        }
    }
}

#[test]
fn floats_agree_with_doubles_to_their_own_precision() {
    for level in Level::available() {
        for start in -400..400 {
            let x = block(|l| start as f64 * 0.1 + l as f64 * 0.006);
            for activation in [Activation::Tanh, Activation::Sigmoid, Activation::Relu] {
                let (mut single, mut double) = (x.single(), x.single().double());
                activate_at(level, activation, std::slice::from_mut(&mut single));
                activate_at(level, activation, std::slice::from_mut(&mut double));
                for (a, b) in single.double().0.into_iter().zip(double.0) {
                    assert!((a - b).abs() <= 1e-6 * b.abs(), "{level:?} {activation:?} {a} {b}");
                }
            }
        }
    }
}

#[test]
fn activations_at_the_extremes() {
    let x =
        [0.0, -0.0, 1e-300, -1e-20, 1e300, -1e300, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 710.0, -710.0];
    for level in Level::available() {
        let of = |activation| {
            let mut y = block(|l| x.get(l).copied().unwrap_or(0.0));
            activate_at(level, activation, std::slice::from_mut(&mut y));
            y.0
        };
        let tanh = of(Activation::Tanh);
        assert_eq!(tanh[..8], [0.0, -0.0, 1e-300, -1e-20, 1.0, -1.0, 1.0, -1.0]);
        let s = of(Activation::Sigmoid);
        assert_eq!((s[4], s[6], s[9]), (1.0, 1.0, 1.0));
        assert!(s[5] < 1e-300 && s[7] < 1e-300 && s[10] < 1e-300);
        for activation in [Activation::Tanh, Activation::Sigmoid, Activation::Relu] {
            assert!(of(activation)[8].is_nan(), "{level:?} {activation:?}");
        }
    }
}

#[test]
fn products_agree_at_every_level_and_for_every_shape() {
    for (outputs, inputs) in [(1, 1), (3, 2), (4, 7), (5, 16), (100, 13), (17, 100)] {
        let weight = |i: usize, j: usize| ((i * 31 + j * 17) as f64).sin();
        let packed = Packed::new((outputs, inputs), weight, |i| i as f64 * 0.1);
        let input: Vec<Lanes> = (0..inputs).map(|j| block(|l| ((j * LANES + l) as f64).cos())).collect();
        let single = Packed::new((outputs, inputs), weight, |i| i as f64 * 0.1);
        let floats: Vec<Lanes<f32>> = input.iter().map(|x| x.single()).collect();
        for level in Level::available() {
            let mut output = vec![Lanes::splat(f64::NAN); outputs];
            let mut in_floats = vec![Lanes([f32::NAN; LANES]); outputs];
            packed.apply_at(level, 1.0, &input, &mut output);
            single.apply_at(level, 1.0, &floats, &mut in_floats);
            for (i, (output, in_floats)) in output.iter().zip(&in_floats).enumerate() {
                for l in 0..LANES {
                    let exact: f64 =
                        (0..inputs).map(|j| weight(i, j) * input[j].0[l]).sum::<f64>() + i as f64 * 0.1;
                    assert!((output.0[l] - exact).abs() < 1e-13, "{level:?} {outputs} x {inputs}");
                    let float = f64::from(in_floats.0[l]);
                    assert!((float - exact).abs() < 1e-4, "{level:?} {outputs} x {inputs}");
                }
            }
        }
    }
}
