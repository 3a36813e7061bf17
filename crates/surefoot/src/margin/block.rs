//! The margin of a block of individuals who act on the same features: value, gradient in the
//! action, gradient in the perturbation.

use crate::classifier::{Blocks, Precision};
use crate::network::{LANES, Lanes};
use crate::scm::{Downstream, Tape};
use crate::{ActionKind, Problem, Result};

/// Classifier, causal model and the features of an action, composed once.
#[derive(Clone, Debug)]
pub(crate) struct Margin<'p> {
    problem: &'p Problem,
    features: Vec<usize>,
    downstream: Option<Downstream>,
}

/// A block of individuals and their noise.
#[derive(Clone, Debug)]
pub(crate) struct Individuals {
    x: Vec<Lanes>,
    noise: Vec<Lanes>,
}

/// The intermediate values of an evaluation, and the gradients after they have been computed.
#[derive(Debug)]
pub(crate) struct Evaluation {
    tape: Option<Tape>,
    classifier: Box<dyn Blocks>,
    acted: Vec<Lanes>,
    adjoint: Vec<Lanes>,
    perturbed: Vec<Lanes>,
    /// The gradient in each change of the action.
    pub in_action: Vec<Lanes>,
    /// The gradient in the perturbation of each feature.
    pub in_perturbation: Vec<Lanes>,
}

impl<'p> Margin<'p> {
    /// The margin for actions on these features.
    pub fn new(problem: &'p Problem, features: &[usize]) -> Self {
        let downstream = problem.scm().map(|scm| scm.downstream(features));
        Self { problem, features: features.to_vec(), downstream }
    }

    pub fn problem(&self) -> &'p Problem {
        self.problem
    }

    pub fn features(&self) -> &[usize] {
        &self.features
    }

    /// A block in which every individual is at the origin, to be filled.
    pub fn individuals(&self) -> Individuals {
        let zeros = vec![Lanes::ZERO; self.problem.features().len()];
        Individuals { x: zeros.clone(), noise: zeros }
    }

    /// Puts an individual on a lane. An error if the causal model cannot produce the individual.
    pub fn place(&self, individuals: &mut Individuals, lane: usize, individual: &[f64]) -> Result<()> {
        if let Some(scm) = self.problem.scm() {
            let noise = scm.abduct(individual)?;
            individuals.noise.iter_mut().zip(noise).for_each(|(place, u)| place.0[lane] = u);
        }
        individuals.x.iter_mut().zip(individual).for_each(|(place, &x)| place.0[lane] = x);
        Ok(())
    }

    pub fn evaluation(&self) -> Evaluation {
        self.evaluation_in(Precision::Double)
    }

    pub fn evaluation_in(&self, precision: Precision) -> Evaluation {
        let zeros = |n: usize| vec![Lanes::ZERO; n];
        let width = self.problem.features().len();
        Evaluation {
            tape: self.problem.scm().map(|scm| scm.tape()),
            classifier: self.problem.classifier().blocks(precision),
            acted: zeros(width),
            adjoint: zeros(width),
            perturbed: zeros(width),
            in_action: zeros(self.features.len()),
            in_perturbation: zeros(width),
        }
    }

    /// `margin(theta, D)` for every lane. NaN where the causal model cannot produce the perturbed
    /// individual, minus infinity where the result of the action is undefined. A shift beyond a clip is
    /// reduced to the clip.
    pub fn value(
        &self,
        individuals: &Individuals,
        change: &[Lanes],
        perturbation: &[Lanes],
        evaluation: &mut Evaluation,
    ) -> Lanes {
        if let (Some(scm), Some(tape)) = (self.problem.scm(), &mut evaluation.tape) {
            scm.perturb(&individuals.x, &individuals.noise, perturbation, tape);
        }
        self.value_of_action(individuals, change, perturbation, evaluation)
    }

    /// As [`Margin::value`], if only the change differs from the last evaluation.
    pub fn value_of_action(
        &self,
        individuals: &Individuals,
        change: &[Lanes],
        perturbation: &[Lanes],
        evaluation: &mut Evaluation,
    ) -> Lanes {
        let Individuals { x, noise } = individuals;
        let acted = &mut evaluation.acted;
        let mut nobody = Lanes::ZERO;
        match (self.problem.scm(), &mut evaluation.tape) {
            (Some(scm), Some(tape)) => {
                tape.acted.copy_from_slice(&tape.perturbed);
                self.act(x, change, &mut tape.acted);
                if let Some(downstream) = &self.downstream {
                    scm.follow(downstream, noise, perturbation, tape);
                }
                acted.copy_from_slice(&tape.acted);
                nobody = tape.nobody;
            }
            _ => {
                for ((acted, &x), &d) in acted.iter_mut().zip(x).zip(perturbation) {
                    *acted = x + d;
                }
                self.act(x, change, acted);
            }
        }
        let score = self.problem.classifier().score_lanes(acted, evaluation.classifier.as_mut());
        if self.problem.scm().is_none() {
            return score;
        }
        let undefined = acted.iter().fold(Lanes::ZERO, |sum, &value| sum + value * Lanes::ZERO);
        Lanes::from_fn(|l| match (nobody.0[l].is_nan(), undefined.0[l].is_nan()) {
            (true, _) => f64::NAN,
            (false, true) => f64::NEG_INFINITY,
            (false, false) => score.0[l],
        })
    }

    fn act(&self, x: &[Lanes], change: &[Lanes], acted: &mut [Lanes]) {
        for (&i, &change) in self.features.iter().zip(change) {
            acted[i] = change
                + match self.problem.action_kind() {
                    ActionKind::Relative => acted[i],
                    ActionKind::Absolute => x[i],
                };
        }
    }

    /// The gradients at the point of the last evaluation with this workspace.
    pub fn gradients(&self, evaluation: &mut Evaluation) {
        let Evaluation { tape, classifier, adjoint, perturbed, in_action, in_perturbation, .. } = evaluation;
        classifier.gradient(adjoint);
        in_perturbation.fill(Lanes::ZERO);
        perturbed.fill(Lanes::ZERO);
        if let (Some(scm), Some(tape), Some(downstream)) = (self.problem.scm(), &*tape, &self.downstream) {
            scm.backward_action(downstream, tape, adjoint, perturbed, in_perturbation);
        }
        for (&i, in_action) in self.features.iter().zip(in_action) {
            *in_action = adjoint[i];
            if self.problem.action_kind() == ActionKind::Absolute {
                adjoint[i] = Lanes::ZERO;
            }
        }
        for (perturbed, &adjoint) in perturbed.iter_mut().zip(&*adjoint) {
            *perturbed = *perturbed + adjoint;
        }
        match (self.problem.scm(), &*tape) {
            (Some(scm), Some(tape)) => scm.backward_perturbation(tape, perturbed, in_perturbation),
            _ => in_perturbation.copy_from_slice(perturbed),
        }
    }
}

/// Blocks of [`LANES`] positions of a list; the last block is padded with the last position.
pub(crate) fn blocks(length: usize) -> impl Iterator<Item = [usize; LANES]> {
    let block = move |number: usize| std::array::from_fn(|l| (number * LANES + l).min(length - 1));
    (0..length.div_ceil(LANES)).map(block)
}
