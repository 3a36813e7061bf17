//! Undecided features: those for which it is open whether the action changes them.
//!
//! With a causal model, an action on a feature holds it, so that it no longer follows its causes. So which
//! features an action changes matters, and there are exponentially many intervention sets. Instead of bounding them
//! one by one, the search bounds many together: features F of which some are undecided. An action on any set
//! between the decided features and F is a change t of F that is zero outside of the set. It has the same cost, and
//! where equations are linear, it moves every feature of F by
//!
//! ```text
//! y_i = t_i                    if i is decided or changed,
//! y_i = sum_k b_ik y_k         otherwise,
//! ```
//!
//! in every scenario. So a bound over all `y_i = t_i + lambda_i sum_k b_ik y_k` with lambdas from 0 to 1 covers all
//! of these sets; see [`Followers`]. Boxes are split by sides, and by deciding a feature: it is changed (or held where
//! it is), or it is no part of the set.

use super::boxes::Cuboid;
use super::programs::{Bounded, Cut, Open, Source};
use super::solve::{Set, Solver};
use crate::action::always_and_optional_units;
use crate::graph::{Follower, Followers, Plane, Region};
use crate::{ActionKind, Features, Problem, Scm};

/// With no more covering sets than this, the search bounds each on its own.
const FEW_SETS: usize = 4;
/// A feature is decided where what the bound gains from leaving it open is at least this share of the bound's
/// error over the box.
const WORTH_DECIDING: f64 = 0.2;
/// Relative room for rounding.
const ROUNDING: f64 = 1e-12;

/// The features that a search may leave undecided, where deciding all of them would make too many intervention sets.
///
/// Actions must be relative, and the effects of actionable features on an undecided one linear and certain. Columns of
/// categories are decided.
pub(super) fn undecided_features(problem: &Problem) -> Vec<usize> {
    let certain = problem.joint().is_none_or(|joint| joint.has_certain_effects());
    let [scm] = problem.causal_models()[..] else { return Vec::new() };
    if problem.action_kind() != ActionKind::Relative || !certain {
        return Vec::new();
    }
    let features = problem.features();
    let (_, optional) = always_and_optional_units(features, &[scm], problem.action_kind());
    if optional.len() <= FEW_SETS.ilog2() as usize {
        return Vec::new();
    }
    let is_linear = follows_linearly(features, scm);
    optional.into_iter().filter(|unit| unit.len() == 1 && is_linear[unit[0]]).flatten().collect()
}

/// For each feature, whether it does not follow from actions or only by linear equations.
fn follows_linearly(features: &Features, scm: &Scm) -> Vec<bool> {
    let moved = scm.followers(&features.actionable());
    let nonlinear = scm.nonlinear();
    let mut is_linear = vec![true; features.len()];
    for &i in scm.causal_order() {
        let follows = moved.binary_search(&i).is_ok();
        let has_linear_causes = scm.parents(i).iter().all(|&parent| is_linear[parent]);
        is_linear[i] = !follows || (has_linear_causes && nonlinear.binary_search(&i).is_err());
    }
    is_linear
}

/// The undecided features of a set and how they follow the others, by their positions in it. Those that follow nothing
/// in it are held without loss.
pub(super) fn followers(problem: &Problem, set: &[usize], undecided: &[usize]) -> Followers {
    let Some(scm) = problem.scm() else { return Followers::default() };
    let mut followers = Vec::new();
    for &feature in scm.causal_order().iter().filter(|feature| undecided.contains(feature)) {
        let Some(input) = set.iter().position(|&i| i == feature) else { continue };
        let effects = scm.linear_effects(feature, set).unwrap_or_default();
        let causes: Vec<(usize, f64)> =
            effects.into_iter().enumerate().filter(|(_, effect)| *effect != 0.0).collect();
        if !causes.is_empty() {
            followers.push(Follower { input, causes });
        }
    }
    Followers::new(followers)
}

impl Set<'_> {
    /// The undecided features.
    pub fn undecided(&self) -> Vec<usize> {
        let mut undecided: Vec<usize> = self.followers.iter().map(|f| self.features[f.input]).collect();
        undecided.sort_unstable();
        undecided
    }

    /// The cut that follows from an affine upper bound of a margin or a requirement.
    pub fn cut(&self, source: Source, plane: Plane, (lower, upper): (&[f64], &[f64])) -> Cut {
        if self.followers.is_empty() {
            return Cut { source, plane, negative: None };
        }
        let (up, down) = self.followers.gains(&plane.linear);
        let finite = |end: f64| if end.is_finite() { end.abs() } else { 0.0 };
        let size = |k: usize| up[k].abs().max(down[k].abs()) * finite(lower[k]).max(finite(upper[k]));
        let error = plane.error + ROUNDING * (0..up.len()).map(size).sum::<f64>();
        let negative = Some(down.into_iter().map(|gain| -gain).collect());
        Cut { source, plane: Plane { linear: up, error, ..plane }, negative }
    }
}

impl Solver<'_, '_> {
    /// The changes of a box that cost at most `limit` or, if features are undecided, all that may follow from them.
    pub(super) fn region_of(&self, set: usize, lower: &[f64], upper: &[f64], limit: f64) -> Region {
        let Set { weights, followers, .. } = &self.sets[set];
        let sides = (lower.to_vec(), upper.to_vec());
        match followers.is_empty() {
            true => Region::cuboid(sides.0, sides.1).within_cost(self.cost(), weights, limit),
            false => Region::following(sides, (self.cost(), weights, limit), followers.clone()),
        }
    }

    /// The same box with those features decided that every action of it changes.
    pub(super) fn with_changed_decided(&mut self, cuboid: Cuboid) -> Cuboid {
        let Set { features, followers, .. } = &self.sets[cuboid.set];
        let may_stay = |k: usize| cuboid.lower[k] <= 0.0 && cuboid.upper[k] >= 0.0;
        if followers.iter().all(|follower| may_stay(follower.input)) {
            return cuboid;
        }
        let open = followers.iter().filter(|follower| may_stay(follower.input));
        let open: Vec<usize> = open.map(|follower| features[follower.input]).collect();
        let features = features.clone();
        match self.set_of(&features, &open) {
            Some(set) => Cuboid { set, ..cuboid },
            None => cuboid,
        }
    }

    /// Queues both parts of a box: actions that change or hold a feature, given by its position in the set, and those
    /// on sets without it.
    pub(super) fn decide(&mut self, cuboid: Cuboid, place: usize) {
        let Set { features, .. } = &self.sets[cuboid.set];
        let features = features.clone();
        let mut open = self.sets[cuboid.set].undecided();
        open.retain(|&i| i != features[place]);
        let mut others = features.clone();
        others.remove(place);
        let may_stay = cuboid.lower[place] <= 0.0 && cuboid.upper[place] >= 0.0;
        let with = self.set_of(&features, &open);
        let without = if may_stay && !others.is_empty() { Some(self.set_of(&others, &open)) } else { None };
        let (Some(with), None | Some(Some(_))) = (with, without) else {
            self.min_unsplittable_cost = self.min_unsplittable_cost.min(cuboid.cost);
            return;
        };
        if let Some(Some(without)) = without {
            let (mut lower, mut upper) = (cuboid.lower.clone(), cuboid.upper.clone());
            lower.remove(place);
            upper.remove(place);
            self.push(Cuboid { set: without, lower, upper, ..cuboid.clone() });
        }
        self.push(Cuboid { set: with, ..cuboid });
    }

    /// The undecided feature, by its position in the set, from which the linear program of a box gains most, if that
    /// is much compared to the error of its cuts.
    pub(super) fn feature_to_decide(
        &self,
        open: &Open,
        bounded: &Bounded,
        error_share: &[f64],
    ) -> Option<usize> {
        let gains = self.gains_of_undecided(open, bounded);
        let best = gains.into_iter().reduce(|a, b| if b.open > a.open { b } else { a })?;
        let cuboid = open.cuboid();
        let error: f64 = error_share.iter().enumerate().map(|(k, e)| e * cuboid.length(k)).sum();
        (best.open > 0.0 && best.open >= WORTH_DECIDING * error).then_some(best.place)
    }

    /// The action that the solution of a linear program suggests: on the set without those undecided features that
    /// it does not change and that had better follow their causes.
    pub(super) fn suggested(&mut self, open: &Open, bounded: &Bounded, point: &[f64]) -> (usize, Vec<f64>) {
        let gains = self.gains_of_undecided(open, bounded);
        let had_better_follow =
            |k: usize| point[k] == 0.0 && gains.iter().any(|gain| gain.place == k && gain.by_following > 0.0);
        let kept: Vec<usize> = (0..point.len()).filter(|&k| !had_better_follow(k)).collect();
        if kept.is_empty() {
            return (open.set, point.to_vec());
        }
        let features: Vec<usize> = kept.iter().map(|&k| self.sets[open.set].features[k]).collect();
        match self.set_of(&features, &[]) {
            Some(set) => (set, kept.iter().map(|&k| point[k]).collect()),
            None => (open.set, point.to_vec()),
        }
    }

    /// What the linear program of a box gains from each undecided feature, at its solution.
    fn gains_of_undecided(&self, open: &Open, bounded: &Bounded) -> Vec<Gain> {
        let followers = &self.sets[open.set].followers;
        let (mut rises, mut falls): (Vec<f64>, Vec<f64>) =
            bounded.point.iter().map(|t| (t.max(0.0), (-t).max(0.0))).unzip();
        let mut gains = Vec::new();
        for Follower { input, causes } in followers.iter() {
            let (mut rise, mut fall) = (0.0, 0.0);
            for &(cause, effect) in causes {
                let (same, other) = (rises[cause] * effect.abs(), falls[cause] * effect.abs());
                let (up, down) = if effect > 0.0 { (same, other) } else { (other, same) };
                (rise, fall) = (rise + up, fall + down);
            }
            (rises[*input], falls[*input]) = (rises[*input] + rise, falls[*input] + fall);
            let (mut relaxed, mut by_following) = (0.0, 0.0);
            for (cut, m) in open.cuts.iter().zip(&bounded.multipliers).filter(|(_, m)| **m > 0.0) {
                let up = cut.plane.linear[*input];
                let down = cut.negative.as_ref().map_or(-up, |negative| -negative[*input]);
                relaxed += m * (rise * up.max(0.0) + fall * down.max(0.0));
                by_following += m * (rise * up + fall * down);
            }
            let decided = if bounded.point[*input] == 0.0 { by_following.max(0.0) } else { 0.0 };
            gains.push(Gain { place: *input, open: relaxed - decided, by_following });
        }
        gains
    }
}

/// What a weighted sum of cuts gains from an undecided feature.
struct Gain {
    /// The position of the feature in the set.
    place: usize,
    /// What is lost when it is decided as is best.
    open: f64,
    /// What it contributes by following its causes.
    by_following: f64,
}
