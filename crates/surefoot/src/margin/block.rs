//! The margin of a block of individuals who act on the same features: value, gradient in the
//! action, gradient in the perturbation.

use super::joint::{Block, Parts, Reach, parts};
use crate::classifier::{Blocks, Precision};
use crate::network::{LANES, Lanes};
use crate::problem::Joint;
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
    /// How coordinates become shifts, if more than a shift is uncertain.
    reach: Option<Reach<Lanes>>,
}

/// The intermediate values of an evaluation, and the gradients after they have been computed.
#[derive(Debug)]
pub(crate) struct Evaluation {
    tape: Option<Tape>,
    classifier: Box<dyn Blocks>,
    acted: Vec<Lanes>,
    adjoint: Vec<Lanes>,
    perturbed: Vec<Lanes>,
    /// The point of the last evaluation, if more than a shift is uncertain.
    joint: Option<JointPoint>,
    /// The gradient in each change of the action.
    pub in_action: Vec<Lanes>,
    /// The gradient in the perturbation of each feature.
    pub in_perturbation: Vec<Lanes>,
}

/// A joint perturbation with its parts, and what the gradients in it depend on.
#[derive(Clone, Debug)]
struct JointPoint {
    parts: Parts<Lanes>,
    x: Vec<Lanes>,
    scale: Vec<Lanes>,
    /// The planned change.
    change: Vec<Lanes>,
    perturbation: Vec<Lanes>,
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
        let reach = self.problem.joint().map(|_| Reach { centre: zeros.clone(), scale: zeros.clone() });
        Individuals { x: zeros.clone(), noise: zeros, reach }
    }

    /// Puts an individual on a lane. An error if the causal model cannot produce the individual.
    pub fn place(&self, individuals: &mut Individuals, lane: usize, individual: &[f64]) -> Result<()> {
        self.problem.require_usual(individual)?;
        if let Some(scm) = self.problem.scm() {
            let noise = scm.abduct(individual)?;
            individuals.noise.iter_mut().zip(noise).for_each(|(place, u)| place.0[lane] = u);
        }
        if let (Some(joint), Some(reach)) = (self.problem.joint(), &mut individuals.reach) {
            let own = Reach::of(self.problem, joint, individual)?;
            reach.centre.iter_mut().zip(own.centre).for_each(|(place, c)| place.0[lane] = c);
            reach.scale.iter_mut().zip(own.scale).for_each(|(place, s)| place.0[lane] = s);
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
            joint: None,
            in_action: zeros(self.features.len()),
            in_perturbation: zeros(self.problem.perturbation_width()),
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
        self.resolve(individuals, change, perturbation, evaluation);
        let Evaluation { tape, joint, .. } = evaluation;
        if let (Some(scm), Some(tape)) = (self.problem.scm(), tape) {
            let (shift, slopes) = match joint {
                Some(JointPoint { parts, .. }) => (&parts.shift[..], &parts.slopes[..]),
                None => (perturbation, &[][..]),
            };
            scm.perturb(&individuals.x, &individuals.noise, shift, slopes, tape);
        }
        self.value_of_parts(individuals, change, perturbation, evaluation)
    }

    /// As [`Margin::value`], if only the change differs from the last evaluation.
    pub fn value_of_action(
        &self,
        individuals: &Individuals,
        change: &[Lanes],
        perturbation: &[Lanes],
        evaluation: &mut Evaluation,
    ) -> Lanes {
        self.resolve(individuals, change, perturbation, evaluation);
        self.value_of_parts(individuals, change, perturbation, evaluation)
    }

    /// Resolves a joint perturbation into its parts.
    fn resolve(
        &self,
        individuals: &Individuals,
        change: &[Lanes],
        perturbation: &[Lanes],
        evaluation: &mut Evaluation,
    ) {
        if let (Some(joint), Some(reach)) = (self.problem.joint(), &individuals.reach) {
            evaluation.joint = Some(JointPoint {
                parts: parts(&mut Block, joint, reach, perturbation, &self.features, change),
                x: individuals.x.clone(),
                scale: reach.scale.clone(),
                change: change.to_vec(),
                perturbation: perturbation.to_vec(),
            });
        }
    }

    fn value_of_parts(
        &self,
        individuals: &Individuals,
        change: &[Lanes],
        perturbation: &[Lanes],
        evaluation: &mut Evaluation,
    ) -> Lanes {
        let Individuals { x, noise, .. } = individuals;
        let Evaluation { acted, tape, joint, .. } = evaluation;
        let (shift, change, slopes) = match joint {
            Some(JointPoint { parts, .. }) => (&parts.shift[..], &parts.change[..], &parts.slopes[..]),
            None => (perturbation, change, &[][..]),
        };
        let mut nobody = Lanes::ZERO;
        match (self.problem.scm(), tape) {
            (Some(scm), Some(tape)) => {
                tape.acted.copy_from_slice(&tape.perturbed);
                self.act(x, change, &mut tape.acted);
                if let Some(downstream) = &self.downstream {
                    scm.follow(downstream, x, noise, shift, slopes, tape);
                }
                acted.copy_from_slice(&tape.acted);
                nobody = tape.nobody;
            }
            _ => {
                for ((acted, &x), &d) in acted.iter_mut().zip(x).zip(shift) {
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
        match (self.problem.joint(), evaluation.joint.take()) {
            (Some(joint), Some(point)) => {
                self.joint_gradients(joint, &point, evaluation);
                evaluation.joint = Some(point);
            }
            _ => {
                let mut shift = std::mem::take(&mut evaluation.in_perturbation);
                self.shift_gradients(evaluation, &mut shift, None);
                evaluation.in_perturbation = shift;
            }
        }
    }

    /// The gradients in the change as it is carried out and in the shift of each feature; with `after`, those
    /// in the shifts after the action apart.
    fn shift_gradients(&self, evaluation: &mut Evaluation, shift: &mut [Lanes], after: Option<&mut [Lanes]>) {
        let Evaluation { tape, classifier, adjoint, perturbed, in_action, .. } = evaluation;
        classifier.gradient(adjoint);
        shift.fill(Lanes::ZERO);
        perturbed.fill(Lanes::ZERO);
        if let (Some(scm), Some(tape), Some(downstream)) = (self.problem.scm(), &*tape, &self.downstream) {
            let second = after.unwrap_or(shift);
            scm.backward_action(downstream, tape, adjoint, perturbed, second);
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
            (Some(scm), Some(tape)) => scm.backward_perturbation(tape, perturbed, shift),
            _ => shift.copy_from_slice(perturbed),
        }
    }

    /// The gradients in a joint perturbation and in the planned change.
    fn joint_gradients(&self, joint: &Joint, point: &JointPoint, evaluation: &mut Evaluation) {
        let n = joint.features;
        let mut before = vec![Lanes::ZERO; n];
        let mut after = vec![Lanes::ZERO; n];
        self.shift_gradients(evaluation, &mut before, Some(&mut after));
        let Evaluation { tape, in_action, in_perturbation: gradient, .. } = evaluation;
        gradient.fill(Lanes::ZERO);
        let factor = &joint.sources.factor;
        let mut in_shift: Vec<Lanes> = before.iter().zip(&after).map(|(&b, &a)| b + a).collect();
        for &(effect, cause, coefficient) in &joint.kept {
            let back = (before[effect] + after[effect]) * Lanes::splat(-coefficient);
            in_shift[cause] = in_shift[cause] + back;
        }
        for i in 0..n {
            let through = point.scale[i] * in_shift[i];
            if factor.is_empty() {
                gradient[i] = through;
                continue;
            }
            for j in 0..n {
                gradient[j] = gradient[j] + through * Lanes::splat(factor[i * n + j]);
            }
        }
        for (k, execution) in joint.sources.execution.iter().enumerate() {
            let Some(place) = self.features.iter().position(|&i| i == execution.feature) else { continue };
            let (change, error) = (point.change[place], point.perturbation[n + k]);
            let within = change.map(|change| execution.within.min(change.abs()));
            let grows =
                change.map(|change| if change.abs() < execution.within { change.signum() } else { 0.0 });
            let share = Lanes::splat(execution.share);
            gradient[n + k] = in_action[place] * (change * share + within);
            in_action[place] = in_action[place] * (Lanes::splat(1.0) + (share + grows) * error);
        }
        let first = joint.first_band();
        for (k, band) in joint.sources.bands.iter().enumerate() {
            let width = Lanes::splat(2.0 * band.width);
            gradient[first + k] = (before[band.feature] + after[band.feature]) * width;
        }
        if let (Some(scm), Some(tape)) = (self.problem.scm(), &*tape) {
            let first = joint.first_slope();
            for (k, &(feature, place, within)) in joint.slopes.iter().enumerate() {
                let parent = scm.parents(feature)[place];
                let x = point.x[parent];
                let moved = before[feature] * (tape.perturbed[parent] - x)
                    + after[feature] * (tape.acted[parent] - x);
                gradient[first + k] = moved * Lanes::splat(within);
            }
        }
    }
}

/// Blocks of [`LANES`] positions of a list; the last block is padded with the last position.
pub(crate) fn blocks(length: usize) -> impl Iterator<Item = [usize; LANES]> {
    let block = move |number: usize| std::array::from_fn(|l| (number * LANES + l).min(length - 1));
    (0..length.div_ceil(LANES)).map(block)
}
