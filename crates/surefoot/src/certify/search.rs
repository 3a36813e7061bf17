//! Search for the worst perturbation. Over a round set, each step goes to the minimiser of the quadratic
//! model of the margin; over other sets, steps are projected gradient steps.

use crate::graph::{Graph, Jet, Jets, Order, Quadratic};
use crate::uncertainty::{SharedSet, Uncertainty, project_inside};

/// The point where a search has stopped.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub at: Vec<f64>,
    pub value: f64,
    pub gradient: Vec<f64>,
}

/// The largest number of steps over round sets, and over other sets.
const STEPS: (usize, usize) = (12, 60);

/// A search over the scaled set of perturbations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Search<'p> {
    pub set: &'p SharedSet,
    pub radius: f64,
    /// The largest number of steps.
    pub steps: usize,
    /// The search stops after a step that lowers the value by less than this.
    pub gain: f64,
}

impl<'p> Search<'p> {
    /// A search over all perturbations of the uncertainty set.
    pub fn new(uncertainty: &'p Uncertainty) -> Self {
        let (set, radius) = (uncertainty.set(), uncertainty.radius());
        let steps = if set.is_round() { STEPS.0 } else { STEPS.1 };
        Self { set, radius, steps, gain: 1e-9 }
    }

    /// The point of the set that is farthest along an axis in the direction of `sign`.
    pub fn end(&self, axis: usize, inputs: usize, sign: f64) -> Vec<f64> {
        let mut y = vec![0.0; inputs];
        y[axis] = 1.0;
        y[axis] = self.radius / self.set.gauge(&y) * sign;
        y
    }

    /// Goes from a start to where the linearised margin is lowest over the set, as long as the margin falls.
    /// Where the margin is nearly linear over the set, a few gradients find its minimum.
    pub fn follow_gradients(&self, graph: &Graph<'_>, start: &[f64], jets: &mut Jets) -> Found {
        let mut at = start.to_vec();
        let mut jet = jets.evaluate(graph, &at, Order::Gradient);
        for _ in 0..self.steps {
            if !jet.value.is_finite() || self.radius == 0.0 {
                break;
            }
            let downhill: Vec<f64> = jet.gradient.iter().map(|g| -g).collect();
            let y: Vec<f64> = self.set.maximiser(&downhill).iter().map(|y| y * self.radius).collect();
            let tried = jets.evaluate(graph, &y, Order::Gradient);
            let gained = jet.value - tried.value;
            if gained <= 0.0 || gained.is_nan() {
                break;
            }
            (at, jet) = (y, tried);
            if gained < self.gain {
                break;
            }
        }
        Found { at, value: jet.value, gradient: jet.gradient }
    }

    /// Descends from a start. Stops at once where the value is below `enough`.
    pub fn descend(&self, graph: &Graph<'_>, start: &[f64], enough: f64, jets: &mut Jets) -> Found {
        let order = if self.set.is_round() { Order::Hessian } else { Order::Gradient };
        let mut at = start.to_vec();
        let mut jet = jets.evaluate(graph, &at, order);
        if jet.value.is_nan() {
            at.fill(0.0);
            jet = jets.evaluate(graph, &at, order);
        }
        let mut length = self.radius;
        for _ in 0..self.steps {
            if jet.value < enough || !jet.value.is_finite() || self.radius == 0.0 {
                break;
            }
            let wanted = self.step(&at, &jet, length);
            let mut share = 1.0;
            let mut next = None;
            for _ in 0..6 {
                let y: Vec<f64> = at.iter().zip(&wanted).map(|(a, w)| a + share * (w - a)).collect();
                let tried = jets.evaluate(graph, &y, order);
                if tried.value < jet.value {
                    next = Some((y, tried));
                    break;
                }
                share *= 0.3;
                if !self.set.is_round() {
                    break;
                }
            }
            match next {
                Some((y, tried)) => {
                    let gained = jet.value - tried.value;
                    (at, jet) = (y, tried);
                    length *= 2.0;
                    if gained < self.gain {
                        break;
                    }
                }
                None if self.set.is_round() => break,
                None => {
                    length *= 0.3;
                    if length < 1e-9 * self.radius {
                        break;
                    }
                }
            }
        }
        let Jet { value, gradient, .. } = jet;
        Found { at, value, gradient }
    }

    fn step(&self, at: &[f64], jet: &Jet, length: f64) -> Vec<f64> {
        if self.set.is_round() {
            let zeros;
            let matrix = if jet.hessian.is_empty() {
                zeros = vec![0.0; at.len() * at.len()];
                &zeros
            } else {
                &jet.hessian
            };
            let model = Quadratic { at, value: jet.value, gradient: &jet.gradient, matrix };
            let y = model.minimiser(self.radius);
            if y.iter().all(|y| y.is_finite()) {
                return y;
            }
        }
        let downhill: Vec<f64> = jet.gradient.iter().map(|g| -g).collect();
        let way = self.set.maximiser(&downhill);
        let mut y: Vec<f64> = at.iter().zip(way).map(|(a, w)| a + length * w).collect();
        project_inside(&**self.set, &mut y, self.radius);
        y
    }
}
