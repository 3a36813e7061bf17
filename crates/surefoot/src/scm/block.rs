//! Perturbation and action for a block of individuals at a time, forwards and in reverse.
//!
//! The composition `CF(CF(x, D), theta)` is evaluated in two passes over the graph. With `u`
//! the noise of x, the first gives the perturbed individual,
//!
//! ```text
//! x'_i = f_i(parents of x', u_i) + D_i,
//! ```
//!
//! and the second the one who has acted: features acted upon are set, and each feature
//! downstream of them is `y_i = f_i(parents of y, u'_i)` with `u'` the noise of x'. Where the
//! noise is additive that is `f_i(parents of y, u_i) + D_i`. Everything else is as in x'.
//!
//! Derivatives in the parents are kept on the way, so that the way back is a few products.

use super::Scm;
use crate::network::{Lanes, Workspace};

/// The features downstream of an intervention, in causal order.
#[derive(Clone, Debug)]
pub(crate) struct Downstream(pub(super) Vec<usize>);

impl Downstream {
    pub fn contains(&self, feature: usize) -> bool {
        self.0.contains(&feature)
    }
}

/// What the two passes leave behind.
#[derive(Clone, Debug)]
pub(crate) struct Tape {
    /// The perturbed individual.
    pub perturbed: Vec<Lanes>,
    /// The individual who has acted.
    pub acted: Vec<Lanes>,
    first: Vec<Vec<Lanes>>,
    second: Vec<Vec<Lanes>>,
    /// For equations whose noise is not additive: derivatives at the perturbed individual in
    /// the parents and in the noise, and at the acted one in the noise.
    inverse: Vec<(Vec<Lanes>, Lanes, Lanes)>,
    workspaces: Vec<Option<Workspace>>,
    parents: Vec<Lanes>,
}

impl Scm {
    /// The features downstream of these.
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
            first: partials.clone(),
            second: partials,
            workspaces: self.nodes.iter().map(|node| node.mechanism.workspace()).collect(),
            parents: Vec::new(),
        }
    }

    /// The first pass: `tape.perturbed` from individuals, their noise and a perturbation.
    pub(crate) fn perturb(&self, x: &[Lanes], noise: &[Lanes], perturbation: &[Lanes], tape: &mut Tape) {
        for &i in &self.order {
            let node = &self.nodes[i];
            let value = if node.parents.is_empty() {
                x[i]
            } else {
                tape.parents.clear();
                tape.parents.extend(node.parents.iter().map(|&p| tape.perturbed[p]));
                let partials = Some(&mut tape.first[i][..]);
                node.mechanism.evaluate(&tape.parents, noise[i], &mut tape.workspaces[i], partials)
            };
            tape.perturbed[i] = value + perturbation[i];
        }
    }

    /// The second pass, for the features downstream of those already set in `tape.acted`.
    pub(crate) fn follow(
        &self,
        downstream: &Downstream,
        noise: &[Lanes],
        perturbation: &[Lanes],
        tape: &mut Tape,
    ) {
        for &i in &downstream.0 {
            let node = &self.nodes[i];
            let additive = node.mechanism.is_additive();
            let noise = if additive { noise[i] } else { self.noise_of_perturbed(i, tape) };
            tape.parents.clear();
            tape.parents.extend(node.parents.iter().map(|&p| tape.acted[p]));
            let partials = Some(&mut tape.second[i][..]);
            let value = node.mechanism.evaluate(&tape.parents, noise, &mut tape.workspaces[i], partials);
            tape.acted[i] = if additive { value + perturbation[i] } else { value };
            if !additive {
                tape.inverse[i].2 = self.slope(i, &tape.parents, noise);
            }
        }
    }

    /// The noise of the perturbed individuals for an equation whose noise is not additive; not
    /// a number where there is none.
    fn noise_of_perturbed(&self, i: usize, tape: &mut Tape) -> Lanes {
        let node = &self.nodes[i];
        tape.parents.clear();
        tape.parents.extend(node.parents.iter().map(|&p| tape.perturbed[p]));
        let value = tape.perturbed[i];
        let noise = Lanes::from_fn(|l| {
            let parents: Vec<f64> = tape.parents.iter().map(|p| p.0[l]).collect();
            node.mechanism.noise(&parents, value.0[l]).unwrap_or(f64::NAN)
        });
        let (partials, slope, _) = &mut tape.inverse[i];
        node.mechanism.evaluate(&tape.parents, noise, &mut tape.workspaces[i], Some(partials));
        *slope = self.slope(i, &tape.parents, noise);
        noise
    }

    fn slope(&self, i: usize, parents: &[Lanes], noise: Lanes) -> Lanes {
        Lanes::from_fn(|l| {
            let parents: Vec<f64> = parents.iter().map(|p| p.0[l]).collect();
            self.nodes[i].mechanism.slope(&parents, noise.0[l])
        })
    }

    /// Back through the second pass: takes the adjoints of `tape.acted` and adds to those of
    /// `tape.perturbed` and of the perturbation. Adjoints of features downstream are used up.
    pub(crate) fn unfollow(
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
            let (partials, slope_before, slope_after) = &tape.inverse[i];
            let through = adjoint * *slope_after / *slope_before;
            perturbed[i] = perturbed[i] + through;
            for (&p, &partial) in node.parents.iter().zip(partials) {
                perturbed[p] = perturbed[p] - through * partial;
            }
        }
    }

    /// Back through the first pass: adds the adjoints of `tape.perturbed` to those of the
    /// perturbation and uses them up.
    pub(crate) fn unperturb(&self, tape: &Tape, perturbed: &mut [Lanes], perturbation: &mut [Lanes]) {
        for &i in self.order.iter().rev() {
            let adjoint = std::mem::replace(&mut perturbed[i], Lanes::ZERO);
            perturbation[i] = perturbation[i] + adjoint;
            for (&p, &partial) in self.nodes[i].parents.iter().zip(&tape.first[i]) {
                perturbed[p] = perturbed[p] + adjoint * partial;
            }
        }
    }
}
