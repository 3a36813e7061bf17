//! Perturbation and action for a block of individuals at a time, forwards and in reverse.
//!
//! The composition `CF(CF(x, D), theta)` is evaluated in two passes over the graph. With `u`
//! the noise of x, the first gives the perturbed individual,
//!
//! ```text
//! x'_i = f_i(parents of x', u_i) + D_i,
//! ```
//!
//! and the second the individual after the action: features acted upon are set, and each feature downstream
//! of them is `y_i = f_i(parents of y, u'_i)` with `u'` the noise of x'. Where the noise is additive that
//! is `f_i(parents of y, u_i) + D_i`. Everything else is as in x'.
//!
//! The passes store derivatives in the parents, so that the reverse passes consist of a few products.

use super::{Scm, SlopeError};
use crate::network::{LANES, Lanes, Workspace};

/// The features downstream of an intervention, in causal order.
#[derive(Clone, Debug)]
pub(crate) struct Downstream(pub(super) Vec<usize>);

impl Downstream {
    pub fn contains(&self, feature: usize) -> bool {
        self.0.contains(&feature)
    }
}

/// The values and derivatives of the two passes.
#[derive(Clone, Debug)]
pub(crate) struct Tape {
    /// The perturbed individual.
    pub perturbed: Vec<Lanes>,
    /// The individual after the action.
    pub acted: Vec<Lanes>,
    first: Vec<Vec<Lanes>>,
    second: Vec<Vec<Lanes>>,
    /// For equations whose noise is not additive: derivatives of the noise of the perturbed individual in
    /// the parents and in the value, and of the value after the action in the noise.
    inverse: Vec<(Vec<Lanes>, Lanes, Lanes)>,
    /// 0 where a feature of the perturbed individual was clipped, otherwise 1.
    unclipped: Vec<Lanes>,
    /// 0 where the perturbed individual exists, otherwise NaN.
    pub nobody: Lanes,
    workspaces: Vec<Option<Workspace>>,
    parents: Vec<Lanes>,
}

/// What errors of coefficients add to the value of feature `i`; adds them to its partial derivatives.
fn tilt(
    i: usize,
    positions: &[usize],
    x: &[Lanes],
    parents: &[Lanes],
    slopes: &[SlopeError<Lanes>],
    partials: &mut [Lanes],
) -> Option<Lanes> {
    let own = slopes.iter().filter(|slope| slope.feature == i);
    own.fold(None, |sum, slope| {
        partials[slope.parent] = partials[slope.parent] + slope.error;
        let added = slope.error * (parents[slope.parent] - x[positions[slope.parent]]);
        Some(sum.map_or(added, |sum: Lanes| sum + added))
    })
}

impl Scm {
    /// The features downstream of some features.
    pub(crate) fn downstream(&self, intervention: &[usize]) -> Downstream {
        let mut moved = vec![false; self.nodes.len()];
        intervention.iter().for_each(|&i| moved[i] = true);
        let mut downstream = Vec::new();
        for &i in &self.order {
            if !intervention.contains(&i) && self.nodes[i].parents.iter().any(|&p| moved[p]) {
                moved[i] = true;
                downstream.push(i);
            }
        }
        Downstream(downstream)
    }

    pub(crate) fn tape(&self) -> Tape {
        let zeros = |n: usize| vec![Lanes::ZERO; n];
        let partials: Vec<Vec<Lanes>> = self.nodes.iter().map(|node| zeros(node.parents.len())).collect();
        Tape {
            perturbed: zeros(self.nodes.len()),
            acted: zeros(self.nodes.len()),
            inverse: partials.iter().map(|p| (p.clone(), Lanes::ZERO, Lanes::ZERO)).collect(),
            unclipped: vec![Lanes::splat(1.0); self.nodes.len()],
            nobody: Lanes::ZERO,
            first: partials.clone(),
            second: partials,
            workspaces: self.nodes.iter().map(|node| node.mechanism.workspace()).collect(),
            parents: Vec::new(),
        }
    }

    /// The first pass: `tape.perturbed` from individuals, their noise and a perturbation.
    pub(crate) fn perturb(
        &self,
        x: &[Lanes],
        noise: &[Lanes],
        perturbation: &[Lanes],
        slopes: &[SlopeError<Lanes>],
        tape: &mut Tape,
    ) {
        for &i in &self.order {
            let node = &self.nodes[i];
            tape.parents.clear();
            tape.parents.extend(node.parents.iter().map(|&p| tape.perturbed[p]));
            let value = if node.parents.is_empty() {
                x[i]
            } else {
                let partials = Some(&mut tape.first[i][..]);
                node.mechanism.evaluate(&tape.parents, noise[i], &mut tape.workspaces[i], partials)
            };
            let tilt = tilt(i, &node.parents, x, &tape.parents, slopes, &mut tape.first[i]);
            tape.perturbed[i] = value + tilt.map_or(perturbation[i], |tilt| tilt + perturbation[i]);
            if node.mechanism.is_clipped() {
                self.clip(i, tape);
            }
        }
    }

    /// Clips a feature of the perturbed individuals.
    fn clip(&self, i: usize, tape: &mut Tape) {
        let shifted = tape.perturbed[i];
        tape.perturbed[i] = Lanes::from_fn(|l| {
            let parents: Vec<f64> = tape.parents.iter().map(|p| p.0[l]).collect();
            self.nodes[i].mechanism.clip(&parents, shifted.0[l])
        });
        let is_same = |l: usize| tape.perturbed[i].0[l] == shifted.0[l];
        tape.unclipped[i] = Lanes::from_fn(|l| if is_same(l) { 1.0 } else { 0.0 });
    }

    /// The second pass, for the features downstream of those already set in `tape.acted`.
    pub(crate) fn follow(
        &self,
        downstream: &Downstream,
        x: &[Lanes],
        noise: &[Lanes],
        perturbation: &[Lanes],
        slopes: &[SlopeError<Lanes>],
        tape: &mut Tape,
    ) {
        tape.nobody = tape.perturbed.iter().fold(Lanes::ZERO, |sum, &value| sum + value * Lanes::ZERO);
        for &i in &downstream.0 {
            let node = &self.nodes[i];
            let additive = node.mechanism.is_additive();
            let noise = if additive { noise[i] } else { self.noise_of_perturbed(i, tape) };
            tape.nobody = tape.nobody + noise * Lanes::ZERO;
            tape.parents.clear();
            tape.parents.extend(node.parents.iter().map(|&p| tape.acted[p]));
            let partials = Some(&mut tape.second[i][..]);
            let value = node.mechanism.evaluate(&tape.parents, noise, &mut tape.workspaces[i], partials);
            let tilt = tilt(i, &node.parents, x, &tape.parents, slopes, &mut tape.second[i]);
            let value = tilt.map_or(value, |tilt| value + tilt);
            tape.acted[i] = if additive { value + perturbation[i] } else { value };
            if !additive {
                tape.inverse[i].2 = self.slope(i, &tape.parents, noise);
            }
        }
    }

    /// The noise of the perturbed individuals for an equation whose noise is not additive; NaN where there
    /// is none.
    fn noise_of_perturbed(&self, i: usize, tape: &mut Tape) -> Lanes {
        let node = &self.nodes[i];
        tape.parents.clear();
        tape.parents.extend(node.parents.iter().map(|&p| tape.perturbed[p]));
        let value = tape.perturbed[i];
        let noise = Lanes::from_fn(|l| {
            let parents: Vec<f64> = tape.parents.iter().map(|p| p.0[l]).collect();
            node.mechanism.noise(&parents, value.0[l]).unwrap_or(f64::NAN)
        });
        let (in_parents, in_value, _) = &mut tape.inverse[i];
        for l in 0..LANES {
            let parents: Vec<f64> = tape.parents.iter().map(|p| p.0[l]).collect();
            let slopes = node.mechanism.noise_slopes(&parents, noise.0[l]);
            in_parents.iter_mut().zip(&slopes).for_each(|(place, slope)| place.0[l] = *slope);
            slopes.last().into_iter().for_each(|slope| in_value.0[l] = *slope);
        }
        noise
    }

    fn slope(&self, i: usize, parents: &[Lanes], noise: Lanes) -> Lanes {
        Lanes::from_fn(|l| {
            let parents: Vec<f64> = parents.iter().map(|p| p.0[l]).collect();
            self.nodes[i].mechanism.slope(&parents, noise.0[l])
        })
    }

    /// The reverse of the second pass: propagates the adjoints of `tape.acted` to those of `tape.perturbed`
    /// and of the perturbation. Overwrites the adjoints of features downstream.
    pub(crate) fn backward_action(
        &self,
        downstream: &Downstream,
        tape: &Tape,
        acted: &mut [Lanes],
        perturbed: &mut [Lanes],
        perturbation: &mut [Lanes],
    ) {
        for &i in downstream.0.iter().rev() {
            let node = &self.nodes[i];
            let adjoint = std::mem::replace(&mut acted[i], Lanes::ZERO);
            for (&p, &partial) in node.parents.iter().zip(&tape.second[i]) {
                acted[p] = acted[p] + adjoint * partial;
            }
            if node.mechanism.is_additive() {
                perturbation[i] = perturbation[i] + adjoint;
                continue;
            }
            // u' solves f(parents of x', u') = x'_i.
            let (in_parents, in_value, slope) = &tape.inverse[i];
            let through = adjoint * *slope;
            perturbed[i] = perturbed[i] + through * *in_value;
            for (&p, &in_parent) in node.parents.iter().zip(in_parents) {
                perturbed[p] = perturbed[p] + through * in_parent;
            }
        }
    }

    /// The reverse of the first pass: propagates the adjoints of `tape.perturbed` to those of the
    /// perturbation. Overwrites them.
    pub(crate) fn backward_perturbation(
        &self,
        tape: &Tape,
        perturbed: &mut [Lanes],
        perturbation: &mut [Lanes],
    ) {
        for &i in self.order.iter().rev() {
            let adjoint = std::mem::replace(&mut perturbed[i], Lanes::ZERO) * tape.unclipped[i];
            perturbation[i] = perturbation[i] + adjoint;
            for (&p, &partial) in self.nodes[i].parents.iter().zip(&tape.first[i]) {
                perturbed[p] = perturbed[p] + adjoint * partial;
            }
        }
    }
}
