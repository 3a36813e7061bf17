//! Verifies a lower bound on the cost: for every intervention set, all feasible actions that cost less
//! are covered by boxes and cones. In each, a scenario breaks every action, or a weighted sum of
//! requirements and of margins in several scenarios is negative for every action.

use super::affine::Affine;
use super::ball::Ball;
use super::cones::{Far, halved, long_sides};
use super::cover::{Left, Sides, uncovered};
use super::effort::allowed_changes;
use super::followers::Followers;
use super::integer::Cells;
use super::prove::{Claim, Work, agrees, at_least};
use super::rays::Rays;
use super::sets::{Family, Open};
use super::tape::Tape;
use super::zone::Zone;
use super::{Fault, Stop, trees};
use crate::graph::Graph;
use crate::margin::{Composer, Scenario, margin, outcome};
use crate::proof::{Cone, RuledOut, SavedProof, WeightedMargin};
use crate::{Action, Constraint, Problem};

/// The parts that were verified.
#[derive(Default)]
pub(super) struct RuledOutCount {
    pub sets: usize,
    pub boxes: usize,
    pub cones: usize,
}

/// Verifies that no feasible action with a cost below the bound holds.
pub(super) fn nothing_cheaper(
    problem: &Problem,
    saved: &SavedProof,
    bound: f64,
    work: &mut Work,
) -> Result<RuledOutCount, Stop> {
    for (part, ruled_out) in saved.ruled_out.iter().enumerate() {
        let uncertainty = problem.uncertainty();
        for WeightedMargin { scenario: Scenario { variant, perturbation }, .. } in &ruled_out.margins {
            if *variant >= problem.variants().len() {
                return Err(Stop::Wrong(Fault::NoSuchVariant { part, variant: *variant }));
            }
            let size = uncertainty.size(perturbation);
            if !uncertainty.includes(size) {
                let epsilon = uncertainty.radius();
                return Err(Stop::Wrong(Fault::Perturbation { part, size, epsilon }));
            }
        }
    }
    if let Some(dividing) = &saved.dividing {
        let variant = dividing.variant;
        let Some(of) = problem.variants().get(variant) else {
            return Err(Stop::Wrong(Fault::NoSuchVariant { part: 0, variant }));
        };
        return trees::nothing_cheaper(of, saved, dividing, bound, work);
    }
    let mut count = RuledOutCount::default();
    if !(bound > 0.0) {
        return Ok(count);
    }
    let mut open = Open::all(problem, saved)?;
    count.sets = open.count();
    let mut is_verified = vec![false; saved.ruled_out.len()];
    let mut known: Vec<Actions<'_>> = Vec::new();
    while let Some(family) = open.next(problem, saved)? {
        let (parts, left) = parts(problem, saved, &family, bound)?;
        left.into_iter().for_each(|rest| open.divide(rest, saved));
        for number in parts {
            if std::mem::replace(&mut is_verified[number], true) {
                continue;
            }
            let part = &saved.ruled_out[number];
            match part.cone {
                None => count.boxes += 1,
                Some(_) => count.cones += 1,
            }
            let place = match known.iter().position(|actions| actions.are_those_of(part)) {
                Some(place) => place,
                None => {
                    known.push(Actions::new(problem, saved, number)?);
                    known.len() - 1
                }
            };
            RuledOutPart { problem, saved, actions: &known[place], number }.verify(work)?;
        }
    }
    Ok(count)
}

/// The actions on some features of which some are undecided.
struct Actions<'p> {
    features: Vec<usize>,
    undecided: Vec<usize>,
    /// The composer of each variant of the problem.
    composers: Vec<Composer<'p>>,
    followers: Followers,
}

impl<'p> Actions<'p> {
    /// Those that a part is about.
    fn new(problem: &'p Problem, saved: &SavedProof, number: usize) -> Result<Self, Stop> {
        let RuledOut { features, undecided, .. } = &saved.ruled_out[number];
        let variants = problem.variants().iter();
        let composers = variants.map(|variant| Composer::new(variant, &saved.individual, features));
        Ok(Self {
            features: features.clone(),
            undecided: undecided.clone(),
            composers: composers.collect::<crate::Result<Vec<_>>>()?,
            followers: Followers::new(problem, &saved.individual, features, undecided, number)?,
        })
    }

    fn are_those_of(&self, part: &RuledOut) -> bool {
        self.features == part.features && self.undecided == part.undecided
    }
}

/// The boxes and cones that cover feasible actions of a family with a cost below the bound, and what they leave: nothing
/// unless features are open.
fn parts(
    problem: &Problem,
    saved: &SavedProof,
    family: &Family,
    bound: f64,
) -> Result<(Vec<usize>, Vec<Family>), Stop> {
    // A part whose own cost limit is below the bound cannot be used.
    let numbers = family.parts.iter().copied().filter(|&k| {
        let part = &saved.ruled_out[k];
        part.cost >= bound && family.may_be_covered_by(part)
    });
    let numbers: Vec<usize> = numbers.collect();
    let features = &family.features[..];
    let is_of_one_set = |k: &usize| family.open.is_empty() && saved.ruled_out[*k].features == family.features;
    let cones: Vec<usize> = numbers.iter().copied().filter(is_of_one_set).collect();
    let far = Far::complete(&saved.ruled_out, &cones);
    let distant: Vec<usize> =
        numbers.iter().copied().filter(|&k| saved.ruled_out[k].cone.is_some()).collect();
    let near: Vec<usize> = numbers.into_iter().filter(|&k| saved.ruled_out[k].cone.is_none()).collect();
    let cells = Cells::new(problem, &saved.individual, features);
    let cells_of = |&k: &usize| cells.cells(&sides_on(features, &saved.ruled_out[k])?);
    // A box without integer values rules out nothing.
    let near: Vec<usize> = near.into_iter().filter(|k| cells_of(k).is_some()).collect();
    let boxes: Vec<Sides> = near.iter().filter_map(cells_of).collect();
    let whole = match &family.sides {
        Some(sides) => sides.clone(),
        None => match cells.cells(&allowed_changes(problem, &saved.individual, features)) {
            Some(whole) => whole,
            None => return Ok((Vec::new(), Vec::new())),
        },
    };
    // Outside all boxes, parts far away are split at the faces of the boxes that the cones belong to.
    // Where two of these boxes share an integer value, neither contains the cells of both.
    let faces: Vec<Sides> = far.iter().flat_map(Far::faces).filter_map(|sides| cells.cells(&sides)).collect();
    let mut far_used = vec![false; far.len()];
    let matters = |part: &Sides| {
        let (Some((lower, upper)), Some(cheapest)) = (cells.values(part), cells.cheapest(part)) else {
            return false;
        };
        // The computed cost may be below the true cost by rounding. If the bound is infinite, no action
        // is too expensive, not even one whose cost overflows.
        if bound.is_finite() && problem.cost().of(problem.features(), &cheapest) * (1.0 + 1e-14) >= bound {
            return false;
        }
        match far.iter().position(|far| far.contains(&lower, &upper)) {
            Some(k) => {
                far_used[k] = true;
                false
            }
            None => true,
        }
    };
    let counts = |k: usize| family.is_covered_by(&saved.ruled_out[near[k]]);
    let is_left = |boxes: &[usize]| {
        let parts: Vec<usize> = boxes.iter().map(|&k| near[k]).collect();
        family.unit_decided_by_all(&parts, saved).is_some()
    };
    let Some((used, left)) = uncovered(&boxes, &faces, whole, matters, counts, is_left) else {
        return Err(Stop::Unverified(Fault::CoverTooLarge { parts: boxes.len() }));
    };
    if let (true, Some(Left { part, .. })) = (family.open.is_empty(), left.first()) {
        let (lower, upper) = cells.values(part).unwrap_or_else(|| part.clone());
        let features = features.iter().map(|&i| problem.features().feature(i).name.clone()).collect();
        return Err(Stop::Wrong(Fault::ActionsNotCovered { features, lower, upper }));
    }
    let rest = left.into_iter().map(|left| Family {
        sides: Some(left.part),
        // Cones belong to single sets.
        parts: left.near.iter().map(|&k| near[k]).chain(distant.iter().copied()).collect(),
        ..family.clone()
    });
    let rest = rest.collect();
    let near = near.iter().zip(used).filter(|(_, used)| *used).map(|(&k, _)| k);
    let far = far.iter().zip(far_used).filter(|(_, used)| *used).flat_map(|(far, _)| far.parts.clone());
    Ok((near.chain(far).collect(), rest))
}

/// The box of a part on some features, where its others do not change; `None` if they must. Features that it does not have
/// are not limited by it.
fn sides_on(features: &[usize], part: &RuledOut) -> Option<Sides> {
    let place = |i: usize| part.features.iter().position(|&k| k == i);
    let may_stay = |k: usize| part.lower[k] <= 0.0 && part.upper[k] >= 0.0;
    let mut others = (0..part.features.len()).filter(|&k| !features.contains(&part.features[k]));
    let side =
        |&i: &usize| place(i).map_or((f64::NEG_INFINITY, f64::INFINITY), |k| (part.lower[k], part.upper[k]));
    others.all(may_stay).then(|| features.iter().map(side).unzip())
}

/// A value with a bound of its rounding error, as a function of the change; `None` where it is not defined.
type Value<'a> = dyn Fn(&[f64]) -> Option<(f64, f64)> + 'a;

/// One ruled-out box or cone.
struct RuledOutPart<'a, 'p> {
    problem: &'p Problem,
    saved: &'a SavedProof,
    actions: &'a Actions<'p>,
    number: usize,
}

impl<'p> RuledOutPart<'_, 'p> {
    fn part(&self) -> &RuledOut {
        &self.saved.ruled_out[self.number]
    }

    /// The only scenario of the part, if the part is a single margin and no requirement.
    fn only_scenario(&self) -> Option<&Scenario> {
        match (&self.part().margins[..], &self.part().requirements[..]) {
            ([margin], []) if margin.share > 0.0 => Some(&margin.scenario),
            _ => None,
        }
    }

    fn composer(&self, scenario: &Scenario) -> &Composer<'p> {
        &self.actions.composers[scenario.variant]
    }

    fn margin(&self, change: Vec<f64>, scenario: &Scenario) -> Option<f64> {
        let action = Action { features: self.part().features.clone(), change };
        let variant = self.composer(scenario).problem();
        margin(variant, &self.saved.individual, &action, &scenario.perturbation).ok()
    }

    /// The margin with a bound of its rounding error: what nearly the same perturbation changes, which may
    /// be much near the edge of the causal model's domain.
    fn margin_and_error(&self, change: &[f64], scenario: &Scenario) -> Option<(f64, f64)> {
        let margin = self.margin(change.to_vec(), scenario)?;
        let perturbation = scenario.perturbation.iter().map(|d| d * (1.0 - 1e-14)).collect();
        let nearby = Scenario { perturbation, ..*scenario };
        let error = self.margin(change.to_vec(), &nearby).map_or(0.0, |other| (other - margin).abs());
        Some((margin, error))
    }

    /// The weighted sum of the requirements, unperturbed, and of the margins, with a bound of its rounding
    /// error.
    fn sum<'m>(
        &self,
        requirements: &[(&Constraint, f64)],
        margins: impl Iterator<Item = &'m WeightedMargin>,
        change: &[f64],
    ) -> Option<(f64, f64)> {
        let action = Action { features: self.part().features.clone(), change: change.to_vec() };
        let reached = outcome(self.problem, &self.saved.individual, &action).ok()?;
        let (mut sum, mut error) = (0.0, 0.0);
        for (rule, share) in requirements {
            let term = share * rule.upper_value(&reached);
            (sum, error) = (sum + term, error + 1e-9 * term.abs());
        }
        for WeightedMargin { scenario, share, .. } in margins {
            let (margin, own) = self.margin_and_error(change, scenario)?;
            (sum, error) = (sum + share * margin, error + share * (own + 1e-9 * margin.abs()));
        }
        Some((sum, error))
    }

    /// The margins with a positive coefficient.
    fn margins(&self) -> impl Iterator<Item = &WeightedMargin> {
        self.part().margins.iter().filter(|margin| margin.share > 0.0)
    }

    /// The requirements that the part names, with their coefficients. All coefficients are checked.
    fn requirements(&self) -> Result<Vec<(&Constraint, f64)>, Stop> {
        let part = self.part();
        let margins = part.margins.iter().map(|margin| margin.share);
        let shares = part.requirements.iter().map(|(_, share)| *share).chain(margins);
        // With nonnegative coefficients, every term is at least zero for an action that meets the
        // requirements and survives.
        for share in shares {
            if !(share >= 0.0 && share.is_finite()) {
                return Err(Stop::Wrong(Fault::Share { part: self.number, share }));
            }
        }
        let named = part.requirements.iter().map(|&(requirement, share)| {
            let rule = self.problem.requirements().get(requirement);
            let missing = Fault::NoSuchRequirement { part: self.number, requirement };
            rule.map(|rule| (rule, share)).ok_or(Stop::Wrong(missing))
        });
        named.collect()
    }

    fn survives(&self, change: Vec<f64>, scenario: &Scenario) -> Option<Fault> {
        let margin = self.margin(change.clone(), scenario)?;
        (margin >= 0.0).then_some(Fault::Survives { part: self.number, change, margin })
    }

    /// Verifies that a scenario breaks every action, or that no action survives all scenarios and meets the requirements: minus the margin, or minus the weighted sum of requirements and margins,
    /// has a positive lower bound.
    fn verify(&self, work: &mut Work) -> Result<(), Stop> {
        let part = self.part();
        let requirements = self.requirements()?;
        let concerns_nobody =
            |scenario: &Scenario| !self.composer(scenario).concerns_somebody(&scenario.perturbation);
        if self.margins().any(|margin| concerns_nobody(&margin.scenario)) {
            return Err(Stop::Wrong(Fault::Nobody { part: self.number }));
        }
        let only = self.only_scenario();
        if let Some(cone) = &part.cone {
            let none = Fault::Share { part: self.number, share: 0.0 };
            return self.verify_cone(cone, only.ok_or(Stop::Wrong(none))?, work);
        }
        let mut graph = match only {
            Some(scenario) => self.composer(scenario).in_change(&scenario.perturbation),
            None => {
                let margins = self.margins().map(|margin| (&margin.scenario, margin.share));
                Composer::in_sum(&self.actions.composers, &requirements, margins)
            }
        };
        graph.output = graph.output.scaled(-1.0);
        let tape = Tape::new(&graph);
        let value = |change: &[f64]| match only {
            Some(scenario) => self.margin_and_error(change, scenario),
            None => self.sum(&requirements, self.margins(), change),
        };
        let refuted = |change: &[f64]| {
            if let Some(scenario) = only {
                return self.survives(change.to_vec(), scenario);
            }
            let (value, _) = value(change)?;
            (value >= 0.0).then(|| Fault::Meets { part: self.number, change: change.to_vec(), value })
        };
        // The part rules out only actions up to its cost limit: a ball of the cost.
        let is_limited = part.cost.is_finite();
        let radius = part.cost * (1.0 + 1e-12);
        let ball = is_limited.then(|| Ball::of_cost(self.problem, &part.features, radius));
        let Some(zone) = Zone::new(part.lower.clone(), part.upper.clone(), ball) else { return Ok(()) };
        let zone = zone.with_followers(&self.actions.followers);
        agrees(&tape, &zone, 3, |change| value(change).map(|(value, error)| (-value, error)))?;
        if self.is_ruled_out_by_rays(&requirements, &zone, work)? {
            return Ok(());
        }
        let claim = Claim {
            wanted: f64::MIN_POSITIVE,
            lowest: None,
            refuted: &refuted,
            unverified: &|bound| Fault::RuledOut { part: self.number, bound: -bound },
        };
        at_least(&tape, zone, &claim, work)?;
        Ok(())
    }

    /// Whether concave functions below minus each margin, interpolated along the rays of the cost limit, prove
    /// the part. They are close to the margins near the actions that the margins name. For a margin that names none
    /// an affine function is taken; if none names one, nothing is tried.
    ///
    /// The search may have bounded a larger part, from which a named action comes. So the actions of the part that are
    /// nearest to the named ones are tried first, then the named ones, and at last the cheapest action of the part.
    fn is_ruled_out_by_rays(
        &self,
        requirements: &[(&Constraint, f64)],
        zone: &Zone,
        work: &mut Work,
    ) -> Result<bool, Stop> {
        let Some(rays) = Rays::new(zone) else { return Ok(false) };
        let margins = self.margins().count();
        let is_named = self.margins().any(|margin| margin.touches.is_some());
        if !is_named || margins >= work.left {
            return Ok(false);
        }
        let mut functions = Vec::new();
        let mut add = |mut graph: Graph<'p>, share: f64, at: Option<&[f64]>, value: &Value<'_>| {
            graph.output = graph.output.scaled(-1.0);
            let bounds = {
                let tape = Tape::new(&graph);
                agrees(&tape, zone, 1, |change| value(change).map(|(value, error)| (-value, error)))?;
                work.bound(&tape, zone)
            };
            functions.push((share, graph, bounds, at.map(<[f64]>::to_vec)));
            Ok::<(), Stop>(())
        };
        for WeightedMargin { scenario, share, touches } in self.margins() {
            let value = |change: &[f64]| self.margin_and_error(change, scenario);
            add(
                self.composer(scenario).in_change(&scenario.perturbation),
                *share,
                touches.as_deref(),
                &value,
            )?;
        }
        if !requirements.is_empty() {
            let value = |change: &[f64]| self.sum(requirements, std::iter::empty(), change);
            let graph = Composer::in_sum(&self.actions.composers, requirements, std::iter::empty());
            add(graph, 1.0, None, &value)?;
        }
        let is_proven = |place: &dyn Fn(&[f64]) -> Vec<f64>| {
            let values = |(share, graph, bounds, at): &(f64, Graph<'_>, Affine, Option<Vec<f64>>)| {
                let at = at.as_deref().map(place);
                Some((*share, rays.concave(&Tape::new(graph), bounds, at.as_deref())?))
            };
            // A function without a bound proves nothing.
            let values: Option<Vec<_>> = functions.iter().map(values).collect();
            values.is_some_and(|values| rays.least(&values) > 0.0)
        };
        Ok(is_proven(&|at| rays.nearest(at))
            || is_proven(&|at| at.to_vec())
            || is_proven(&|_| zone.nearest()))
    }

    fn verify_cone(&self, cone: &Cone, scenario: &Scenario, work: &mut Work) -> Result<(), Stop> {
        let part = self.part();
        let long: Vec<usize> = long_sides(&cone.rays).into_iter().map(|(k, _)| k).collect();
        let rest: Vec<usize> = (0..part.features.len()).filter(|k| !long.contains(k)).collect();
        let side = |ends: &[f64]| -> Vec<f64> { rest.iter().map(|&k| ends[k]).collect() };
        let (lower, upper) = (side(&part.lower), side(&part.upper));
        let mut open = vec![(cone.rays.clone(), cone.from, cone.to)];
        while let Some((rays, from, to)) = open.pop() {
            let count = rays.len();
            let mut graph = self.composer(scenario).in_rays(&scenario.perturbation, &rays, &rest);
            graph.output = graph.output.scaled(-1.0);
            let tape = Tape::new(&graph);
            let zone = Zone::cone(count, from, to, &lower, &upper);
            let change = |inputs: &[f64]| -> Vec<f64> {
                let along = |k: usize| (0..count).map(|r| inputs[r] * rays[r][k]).sum::<f64>();
                let place = |k: usize| rest.iter().position(|&r| r == k);
                (0..part.features.len())
                    .map(|k| place(k).map_or_else(|| along(k), |p| inputs[count + p]))
                    .collect()
            };
            agrees(&tape, &zone, 3, |inputs| {
                let (margin, error) = self.margin_and_error(&change(inputs), scenario)?;
                Some((-margin, error))
            })?;
            let claim = Claim {
                wanted: f64::MIN_POSITIVE,
                lowest: None,
                refuted: &|inputs| self.survives(change(inputs), scenario),
                unverified: &|bound| Fault::RuledOut { part: self.number, bound: -bound },
            };
            match at_least(&tape, zone, &claim, work) {
                Ok(_) => {}
                Err(Stop::Unverified(_)) if work.left > 0 => open.extend(cut(&rays, from, to)),
                Err(stop) => return Err(stop),
            }
        }
        Ok(())
    }
}

/// Both halves of a cone: split between the two rays that are farthest apart or, if the cone is narrow,
/// at a distance.
fn cut(rays: &[Vec<f64>], from: f64, to: f64) -> [(Vec<Vec<f64>>, f64, f64); 2] {
    let apart =
        |i: usize, j: usize| -> f64 { rays[i].iter().zip(&rays[j]).map(|(a, b)| (a - b).abs()).sum() };
    let pairs = (0..rays.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
    let farthest = pairs.reduce(|a, b| if apart(b.0, b.1) > apart(a.0, a.1) { b } else { a });
    match farthest.filter(|&(i, j)| apart(i, j) * from > 1.0 || to <= 2.0 * from) {
        Some((i, j)) => halved(rays, i, j).map(|rays| (rays, from, to)),
        None => {
            let at = if to > 4.0 * from { 2.0 * from.max(1.0) } else { 0.5 * (from + to) };
            [(rays.to_vec(), from, at), (rays.to_vec(), at, to)]
        }
    }
}
