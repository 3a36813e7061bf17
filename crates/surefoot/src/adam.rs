//! The step of Adam (Kingma and Ba, 2015), which searches and training share.

/// The decay of the average of gradients.
const FIRST: f64 = 0.9;

/// The decay of the average of squared gradients.
const SECOND: f64 = 0.999;

/// Keeps a step finite where gradients vanish.
const TINY: f64 = 1e-8;

/// The bias corrections of one step, for averages that started at 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Adam {
    first: f64,
    second: f64,
}

impl Adam {
    /// The corrections of a step, counted from 1.
    pub fn at(step: usize) -> Self {
        let step = i32::try_from(step).unwrap_or(i32::MAX);
        let correction = |rate: f64| (1.0 - rate.powi(step)).recip();
        Self { first: correction(FIRST), second: correction(SECOND) }
    }

    /// Updates the averages and returns the direction to subtract.
    #[inline(always)]
    pub fn direction(self, gradient: f64, first: &mut f64, second: &mut f64) -> f64 {
        *first = FIRST * *first + (1.0 - FIRST) * gradient;
        *second = SECOND * *second + (1.0 - SECOND) * gradient * gradient;
        self.first * *first / ((self.second * *second).sqrt() + TINY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_direction_is_a_sign_and_a_constant_gradient_keeps_it() {
        for gradient in [-3.0, 1e-3, 700.0] {
            let (mut first, mut second) = (0.0, 0.0);
            for step in 1..50 {
                let direction = Adam::at(step).direction(gradient, &mut first, &mut second);
                assert!((direction - gradient.signum()).abs() < 1e-4);
            }
        }
    }

    #[test]
    fn a_second_step_by_hand() {
        let (mut first, mut second) = (0.0, 0.0);
        Adam::at(1).direction(1.0, &mut first, &mut second);
        let direction = Adam::at(2).direction(3.0, &mut first, &mut second);
        let (m, v): (f64, f64) = ((0.9 * 0.1 + 0.1 * 3.0) / 0.19, (0.999 * 0.001 + 0.001 * 9.0) / 0.001999);
        assert!((direction - m / v.sqrt()).abs() < 1e-6);
    }
}
