//! Attacks: perturbations that break an action, through the causal model.
//!
//! [`FastGradient`] and [`ProjectedGradient`] search within the uncertainty set; [`DeepFool`] and
//! [`CarliniWagner`] search for the smallest perturbation of any size. [`smallest_break`] combines them
//! and is exact for linear problems; [`refute`] adds the search of
//! [`certify`](crate::certify::certify()). Every reported perturbation has been evaluated by the
//! definition of the margin, [`margin`](crate::margin::margin()), and breaks the action. An attack
//! without a result proves nothing.

mod carlini_wagner;
mod confirm;
mod deepfool;
mod gradient;
mod linear;
mod refute;
mod smallest;
mod trees;

use rayon::prelude::*;

pub use carlini_wagner::CarliniWagner;
pub use deepfool::DeepFool;
pub use gradient::{FastGradient, ProjectedGradient};
pub use refute::{refute, search_further};
pub use smallest::smallest_break;

use confirm::confirm;

use crate::error::{CausalModelError, PeopleError, SettingError};
use crate::margin::{
    Evaluation, Individuals, Margin, attained_margin, in_common_coordinates, no_perturbation,
};
use crate::network::{LANES, Lanes};
use crate::recourse::WorstCase;
use crate::{Action, Error, Norm, People, Problem, Result, Uncertainty};

/// A perturbation that breaks an action.
#[derive(Clone, Debug, PartialEq)]
pub struct Break {
    /// The variant of the problem in which it breaks the action, by number.
    pub variant: usize,
    /// The perturbation, in standardised units: see [`Problem::perturbation_width`].
    pub perturbation: Vec<f64>,
    /// The shift of each feature by the perturbation, in standardised units.
    pub shift: Vec<f64>,
    /// Its size in the norm of the problem. For a person with a missing value, about whom more is uncertain than a shift
    /// within the ball, the share of everything uncertain, times the radius of the problem unless that is zero.
    pub size: f64,
    /// Whether the answer guards against it: it is no larger than the uncertainty.
    pub is_within: bool,
    /// The individual after perturbation and action; `None` where that is undefined.
    pub counterfactual: Option<Vec<f64>>,
    /// The margin under the perturbation: negative, or minus infinity where the result of the action is
    /// undefined.
    pub margin: f64,
}

/// A search for perturbations that break actions.
pub trait Attack: Sync {
    /// For each lane of the target, the perturbation that is most likely to break the action.
    #[doc(hidden)]
    fn perturb(&self, target: &mut Target<'_, '_>) -> Vec<Lanes>;

    /// The largest size of a reported perturbation; infinite for attacks that search for the smallest
    /// one.
    #[doc(hidden)]
    fn limit(&self, _: &Problem) -> f64 {
        f64::INFINITY
    }

    /// Rejects invalid settings.
    #[doc(hidden)]
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// Its name, if it finds nothing where there is no gradient.
    #[doc(hidden)]
    fn name_with_gradient(&self) -> Option<&'static str> {
        None
    }

    /// Attacks everybody's action in every variant of the problem, on all cores. Returns the smallest break of
    /// each.
    ///
    /// # Errors
    /// [`SettingError::NoGradientForAttack`] if the attack follows gradients and the classifier is a tree ensemble;
    /// otherwise if settings are invalid, or if people and actions do not fit the problem.
    fn attack(&self, problem: &Problem, people: &People, actions: &[Action]) -> Result<Vec<Option<Break>>>
    where
        Self: Sized,
    {
        self.check()?;
        if let Some(attack) =
            self.name_with_gradient().filter(|_| problem.deciders().any(|one| one.ensemble().is_some()))
        {
            return Err(Error::Setting(SettingError::NoGradientForAttack { attack }));
        }
        by_own(
            problem,
            people,
            actions,
            |problem, people, actions| {
                smallest_of_variants(problem, |problem| {
                    let perturbations =
                        for_everybody(problem, people, actions, |target| self.perturb(target))?;
                    let limit = self.limit(problem);
                    let each = perturbations.par_iter().enumerate();
                    Ok(each
                        .map(|(i, d)| confirm(problem, people.individual(i), &actions[i], d, limit))
                        .collect())
                })
            },
            in_common_terms,
        )
    }
}

/// Sixteen individuals with their actions, and the workspace to evaluate them.
#[doc(hidden)]
pub struct Target<'m, 'p> {
    margin: &'m Margin<'p>,
    individuals: Individuals,
    change: Vec<Lanes>,
    evaluation: Evaluation,
}

impl Target<'_, '_> {
    fn problem(&self) -> &Problem {
        self.margin.problem()
    }

    fn uncertainty(&self) -> &Uncertainty {
        self.problem().uncertainty()
    }

    fn width(&self) -> usize {
        self.problem().perturbation_width()
    }

    fn zero(&self) -> Vec<Lanes> {
        vec![Lanes::ZERO; self.width()]
    }

    /// The margins under a perturbation.
    fn value(&mut self, perturbation: &[Lanes]) -> Lanes {
        self.margin.value(&self.individuals, &self.change, perturbation, &mut self.evaluation)
    }

    /// The margins under a perturbation, and their gradients in it.
    fn gradient(&mut self, perturbation: &[Lanes], gradient: &mut [Lanes]) -> Lanes {
        let value = self.value(perturbation);
        self.margin.gradients(&mut self.evaluation);
        gradient.copy_from_slice(&self.evaluation.in_perturbation);
        value
    }
}

/// Results for everybody, each in the problem of their own (see [`Problem::for_person`]) and then stated in the terms of
/// everybody's.
fn by_own<T>(
    problem: &Problem,
    people: &People,
    actions: &[Action],
    attack: impl Fn(&Problem, &People, &[Action]) -> Result<Vec<T>>,
    state: impl Fn(&mut T, &Problem, &Problem),
) -> Result<Vec<T>> {
    let is_usual = |individual: &[f64]| !problem.is_own(individual);
    if people.features() != problem.features() || actions.len() != people.len() || people.iter().all(is_usual)
    {
        return attack(problem, people, actions);
    }
    let individuals: Vec<&[f64]> = people.iter().collect();
    problem.each_by_own(&individuals, |own, places, imputed| {
        let people = people.select(places)?.with_features(own.features(), imputed);
        let actions: Vec<Action> = places.iter().map(|&place| actions[place].clone()).collect();
        let mut found = attack(own, &people, &actions)?;
        found.iter_mut().for_each(|found| state(found, own, problem));
        Ok(found)
    })
}

/// States a break of a person with a problem of their own in the terms of everybody's, so that sizes can be compared.
fn in_common_terms(found: &mut Option<Break>, own: &Problem, everybody: &Problem) {
    let (Some(found), true) = (found, own.joint().is_some()) else { return };
    found.perturbation = in_common_coordinates(own, everybody, &found.perturbation, &found.shift);
    let radius = everybody.uncertainty().radius();
    if radius > 0.0 {
        found.size *= radius / own.uncertainty().radius();
    }
}

/// Everybody's smallest break among those that an attack on each variant of a problem finds; of equally small
/// ones that of the first variant.
fn smallest_of_variants(
    problem: &Problem,
    attack: impl Fn(&Problem) -> Result<Vec<Option<Break>>>,
) -> Result<Vec<Option<Break>>> {
    let mut smallest: Vec<Option<Break>> = Vec::new();
    for (number, variant) in problem.variants().iter().enumerate() {
        let found = attack(variant)?;
        smallest.resize(found.len(), None);
        for (best, found) in smallest.iter_mut().zip(found) {
            let found = found.map(|found| Break { variant: number, ..found });
            let size = |found: &Option<Break>| found.as_ref().map_or(f64::INFINITY, |found| found.size);
            if best.is_none() || size(&found) < size(best) {
                *best = found;
            }
        }
    }
    Ok(smallest)
}

/// Rejects a count of zero.
fn at_least_one(setting: &'static str, value: usize) -> Result<()> {
    if value > 0 { Ok(()) } else { Err(Error::Setting(SettingError::Setting { setting, value: 0.0 })) }
}

/// Rejects a length that is not positive.
fn positive(setting: &'static str, value: f64) -> Result<()> {
    if value.is_finite() && value > 0.0 {
        Ok(())
    } else {
        Err(Error::Setting(SettingError::Setting { setting, value }))
    }
}

/// One lane of a block.
fn lane(block: &[Lanes], lane: usize) -> Vec<f64> {
    block.iter().map(|lanes| lanes.0[lane]).collect()
}

fn set_lane(block: &mut [Lanes], lane: usize, values: &[f64]) {
    block.iter_mut().zip(values).for_each(|(lanes, &value)| lanes.0[lane] = value);
}

/// The unit vector of the norm along which a linear function with this gradient decreases most.
fn downwards(norm: &Norm, gradient: &[Lanes], lane: usize) -> Vec<f64> {
    let downhill: Vec<f64> = gradient.iter().map(|g| -g.0[lane]).collect();
    norm.maximiser(&downhill, 1.0)
}

/// Runs an attack on blocks of people whose actions are on the same features, and returns everybody's
/// perturbation.
fn for_everybody(
    problem: &Problem,
    people: &People,
    actions: &[Action],
    perturb: impl Fn(&mut Target<'_, '_>) -> Vec<Lanes> + Sync,
) -> Result<Vec<Vec<f64>>> {
    if people.features() != problem.features() {
        return Err(Error::CausalModel(CausalModelError::OtherFeatures));
    }
    if actions.len() != people.len() {
        return Err(Error::People(PeopleError::VectorLength {
            expected: people.len(),
            found: actions.len(),
        }));
    }
    actions.iter().try_for_each(|action| action.check(problem.features()))?;
    let mut order: Vec<usize> = (0..people.len()).collect();
    order.sort_by(|&a, &b| actions[a].features.cmp(&actions[b].features).then(a.cmp(&b)));
    let groups: Vec<&[usize]> = order.chunk_by(|&a, &b| actions[a].features == actions[b].features).collect();
    let blocks: Vec<&[usize]> = groups.iter().flat_map(|group| group.chunks(LANES)).collect();
    let run = |block: &&[usize]| -> Result<Vec<(usize, Vec<f64>)>> {
        let members: [usize; LANES] = std::array::from_fn(|l| block[l.min(block.len() - 1)]);
        let features = &actions[members[0]].features;
        let margin = Margin::new(problem, features);
        let mut individuals = margin.individuals();
        for (l, &person) in members.iter().enumerate() {
            margin.place(&mut individuals, l, people.individual(person))?;
        }
        let change = (0..features.len()).map(|k| Lanes::from_fn(|l| actions[members[l]].change[k])).collect();
        let evaluation = margin.evaluation();
        let mut target = Target { margin: &margin, individuals, change, evaluation };
        let perturbation = perturb(&mut target);
        Ok(block.iter().enumerate().map(|(l, &person)| (person, lane(&perturbation, l))).collect())
    };
    let done = blocks.par_iter().map(run).collect::<Result<Vec<_>>>()?;
    let mut perturbations = vec![Vec::new(); people.len()];
    done.into_iter().flatten().for_each(|(person, perturbation)| perturbations[person] = perturbation);
    Ok(perturbations)
}

/// The perturbation, reduced to what clips allow.
fn within_clips(problem: &Problem, individual: &[f64], perturbation: Vec<f64>) -> Vec<f64> {
    match problem.scm() {
        // Clips and further uncertainty are not combined.
        Some(scm) if problem.joint().is_none() => scm.within_clips(individual, perturbation),
        _ => perturbation,
    }
}

/// The worst perturbation of the uncertainty set that projected gradient descent finds for everybody's
/// action, whether it breaks the action or not. If the problem has several variants, that with the least margin
/// in one of them.
pub fn worst_found(
    problem: &Problem,
    people: &People,
    actions: &[Action],
    attack: &ProjectedGradient,
) -> Result<Vec<WorstCase>> {
    attack.check()?;
    by_own(
        problem,
        people,
        actions,
        |problem, people, actions| worst_of_variants(problem, people, actions, attack),
        |_, _, _| {},
    )
}

fn worst_of_variants(
    problem: &Problem,
    people: &People,
    actions: &[Action],
    attack: &ProjectedGradient,
) -> Result<Vec<WorstCase>> {
    let mut worst: Vec<WorstCase> = Vec::new();
    for variant in problem.variants() {
        let found = worst_of_variant(variant, people, actions, attack)?;
        match worst.is_empty() {
            true => worst = found,
            false => worst
                .iter_mut()
                .zip(found)
                .filter(|(worst, other)| other.margin < worst.margin)
                .for_each(|(worst, other)| *worst = other),
        }
    }
    Ok(worst)
}

fn worst_of_variant(
    problem: &Problem,
    people: &People,
    actions: &[Action],
    attack: &ProjectedGradient,
) -> Result<Vec<WorstCase>> {
    let perturbations = for_everybody(problem, people, actions, |target| attack.perturb(target))?;
    let each = perturbations.into_par_iter().enumerate();
    each.map(|(i, perturbation)| {
        let (individual, action) = (people.individual(i), &actions[i]);
        let perturbation = within_clips(problem, individual, perturbation);
        match attained_margin(problem, individual, action, &perturbation) {
            // The individual is somebody.
            Err(Error::CausalModel(CausalModelError::Nobody { .. })) => {
                let perturbation = no_perturbation(problem, individual)?;
                let margin = attained_margin(problem, individual, action, &perturbation)?;
                Ok(WorstCase { margin, perturbation })
            }
            margin => Ok(WorstCase { margin: margin?, perturbation }),
        }
    })
    .collect()
}
