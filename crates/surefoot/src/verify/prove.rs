//! Proves that the result of a tape is at least a number over a zone.

use super::affine::Affine;
use super::tape::Tape;
use super::zone::Zone;
use super::{Fault, Stop};
use super::{curvature, quadratic};

/// The largest number of planes that touch the result at a point. Each takes far less time than the ranges
/// of all units.
const TANGENTS: usize = 24;
/// After this many planes, no more are computed if the bound rises too slowly.
const FEW_TANGENTS: usize = 4;
/// As many planes more are expected to raise the bound by as much as the last one.
const FURTHER_TANGENTS: usize = 8;
/// The shares with which the next plane may count in an average.
const SHARES: [f64; 6] = [1.0, 0.5, 0.25, 0.1, 0.04, 0.015];

/// A side is not split if splits have already reduced it to less than this share of what they left of the
/// others.
const SHORT: f64 = 0.24;

/// The remaining number of bounds, and the number computed so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work {
    pub left: usize,
    pub done: usize,
}

impl Work {
    /// Counts a bound of another kind. `false` if the limit is reached.
    pub fn take(&mut self) -> bool {
        let is_allowed = self.left > 0;
        self.left = self.left.saturating_sub(1);
        self.done += 1;
        is_allowed
    }

    pub fn bound(&mut self, tape: &Tape<'_>, zone: &Zone) -> Affine {
        self.left = self.left.saturating_sub(1);
        self.done += 1;
        Affine::new(tape, zone)
    }
}

/// A claim to be proved.
pub(super) struct Claim<'a> {
    /// The result must be at least this.
    pub wanted: f64,
    /// A point where the result may be lowest.
    pub lowest: Option<&'a [f64]>,
    /// Evaluates a point of the zone by the definition; returns a fault if the point refutes the claim.
    pub refuted: &'a dyn Fn(&[f64]) -> Option<Fault>,
    /// The fault to report if the claim can be neither proved nor refuted, given the best bound.
    pub unverified: &'a dyn Fn(f64) -> Fault,
}

/// Proves a claim by the affine bound, else by planes that touch the result, else by a quadratic bound, else
/// by the curvature bound, else by proving both halves.
///
/// The zone is split across the side that causes most of the error; in a certificate, first of all across
/// the first one, along which the worst perturbation lies.
/// Returns the lowest of the bounds that made up the proof.
pub(super) fn at_least(tape: &Tape<'_>, zone: Zone, claim: &Claim<'_>, work: &mut Work) -> Result<f64, Stop> {
    let first = work.bound(tape, &zone);
    let whole = zone.clone();
    let mut open = vec![(zone, first)];
    let mut lowest = f64::INFINITY;
    while let Some((zone, affine)) = open.pop() {
        let mut bound = proven(&affine);
        if bound >= claim.wanted {
            lowest = lowest.min(bound);
            continue;
        }
        let low = affine.plane().map_or_else(|| zone.nearest(), |plane| zone.low_point(&plane.linear));
        if let Some(fault) = (claim.refuted)(&low) {
            return Err(Stop::Wrong(fault));
        }
        bound = bound.max(by_tangents(tape, &zone, &affine, low.clone(), claim.wanted));
        if bound >= claim.wanted {
            lowest = lowest.min(bound);
            continue;
        }
        let is_finite = zone.lower.iter().chain(&zone.upper).all(|end| end.is_finite());
        let may_bend = is_finite && zone.shares.is_none() && zone.followers.is_empty() && !affine.is_unknown;
        if may_bend {
            work.done += 1;
            work.left = work.left.saturating_sub(1);
            if let Some(quadratic) = quadratic::least(tape, &zone, &affine, claim.wanted) {
                bound = bound.max(finite(quadratic));
            }
        }
        // A search uses curvature only around the worst perturbation.
        let at = claim.lowest.map_or(Some(&low[..]), |at| zone.contains(at).then_some(at));
        if let Some(at) = at.filter(|_| may_bend && bound < claim.wanted) {
            work.done += 1;
            work.left = work.left.saturating_sub(1);
            if let Some(curved) = curvature::least(tape, &zone, &affine, at, claim.wanted) {
                bound = bound.max(finite(curved));
            }
        }
        if bound >= claim.wanted {
            lowest = lowest.min(bound);
            continue;
        }
        if work.left == 0 || zone.shares.is_some() {
            return Err(Stop::Unverified((claim.unverified)(bound)));
        }
        if let Some(input) = feature_to_decide(&zone, &affine) {
            open.extend(zone.decided(input).map(|part| {
                let bound = work.bound(tape, &part);
                (part, bound)
            }));
            continue;
        }
        let halves = halves(tape, &whole, &zone, &affine, claim.lowest.is_some(), work);
        // A half that equals the whole zone cannot be split further.
        if halves.iter().any(|(half, _)| *half == zone) {
            return Err(Stop::Unverified((claim.unverified)(bound)));
        }
        open.extend(halves);
    }
    Ok(lowest)
}

/// The input for which it is to be decided whether it follows its causes: where that moves the plane by more than any
/// side of the zone does.
fn feature_to_decide(zone: &Zone, affine: &Affine) -> Option<usize> {
    let linear = &affine.plane()?.linear;
    let along = |(k, a): (usize, &f64)| (a * zone.width(k)).abs();
    let most = linear.iter().enumerate().map(along).fold(0.0, f64::max);
    let moves = zone.followers.open().map(|input| (linear[input].abs() * zone.response(input), input));
    let (largest, input) = moves.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (largest >= most).then_some(input)
}

/// The best lower bound by planes that touch the result at points, and by averages of them. The next point is
/// where the average is lowest, and the next plane counts with the share that gives the best bound.
fn by_tangents(tape: &Tape<'_>, zone: &Zone, affine: &Affine, mut at: Vec<f64>, wanted: f64) -> f64 {
    let mut best = f64::NEG_INFINITY;
    if affine.is_unknown {
        return best;
    }
    let mut average = affine.tangent_plane(tape, &at);
    best = best.max(finite(average.least(zone)));
    for number in 1..TANGENTS {
        if best >= wanted {
            break;
        }
        at = zone.low_point(&average.linear);
        let plane = affine.tangent_plane(tape, &at);
        let mixed = SHARES.map(|share| average.mixed(&plane, share));
        let bounds = mixed.each_ref().map(|plane| finite(plane.least(zone)));
        let highest = (0..SHARES.len()).fold(0, |a, b| if bounds[b] > bounds[a] { b } else { a });
        // With such steps, which become smaller, further planes would not suffice.
        let left = FURTHER_TANGENTS.min(TANGENTS - number) as f64;
        if number > FEW_TANGENTS && best + left * (bounds[highest] - best).max(0.0) < wanted {
            break;
        }
        best = best.max(bounds[highest]);
        let mut mixed = mixed.into_iter();
        average = mixed.nth(highest).unwrap_or(plane);
    }
    best
}

/// The lower bound that an affine bound proves: infinity if the perturbed individual exists nowhere on
/// the zone.
fn proven(affine: &Affine) -> f64 {
    if affine.concerns_nobody { f64::INFINITY } else { finite(affine.result().lower) }
}

/// A lower bound; one that overflows proves nothing.
fn finite(bound: f64) -> f64 {
    if bound == f64::INFINITY { f64::NEG_INFINITY } else { bound }
}

fn halves(
    tape: &Tape<'_>,
    whole: &Zone,
    zone: &Zone,
    affine: &Affine,
    starts_along_worst: bool,
    work: &mut Work,
) -> Vec<(Zone, Affine)> {
    let error_share = affine.error_share(tape, zone);
    // A thin slice may repeatedly cause most of the error, so sides that are already short are not split.
    let share = |i: usize| match whole.width(i) {
        _ if whole.is_long(i) && zone.width(i) > 0.0 => {
            (zone.upper[i] / zone.lower[i]).ln() / (whole.upper[i] / whole.lower[i]).ln()
        }
        width if width.is_finite() && width > 0.0 => zone.width(i) / width,
        _ if zone.width(i) > 0.0 => 1.0,
        _ => 0.0,
    };
    // Sides that hardly influence the result are not split.
    let worst = error_share.iter().copied().fold(0.0, f64::max);
    let matters = |i: &usize| share(*i) > 0.0 && error_share[*i] >= 1e-6 * worst;
    let most = (0..tape.inputs).filter(matters).map(share).fold(0.0, f64::max);
    let axes = (0..tape.inputs).filter(matters).filter(|&i| share(i) >= SHORT * most);
    // If the shares of the error are equal, as for infinite sides: the longest side.
    let longest = |a: usize, b: usize| zone.width(a).total_cmp(&zone.width(b)).then(b.cmp(&a));
    let most_error =
        |&a: &usize, &b: &usize| error_share[a].total_cmp(&error_share[b]).then_with(|| longest(a, b));
    let first = axes.clone().next().filter(|&axis| axis == 0 && starts_along_worst);
    let axis = first.or_else(|| axes.max_by(most_error));
    let Some(axis) = axis else { return vec![(zone.clone(), affine.clone())] };
    let halves = zone.halves(axis).into_iter().flatten();
    halves.map(|half| (work.bound(tape, &half), half)).map(|(affine, half)| (half, affine)).collect()
}

/// Whether the tape agrees with the definition at some points of a zone, which are the same in every run.
/// The definition gives the value and a bound of its own rounding error. Points where the perturbed individual
/// does not exist or the result is undefined are skipped.
pub(super) fn agrees(
    tape: &Tape<'_>,
    zone: &Zone,
    points: usize,
    definition: impl Fn(&[f64]) -> Option<(f64, f64)>,
) -> Result<(), Stop> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = || {
        // Marsaglia's xorshift random number generator.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    for _ in 0..points {
        let direction: Vec<f64> = (0..tape.inputs).map(|_| 2.0 * random() - 1.0).collect();
        let (corner, start) = (zone.low_point(&direction), zone.nearest());
        let share = random();
        let at: Vec<f64> = match zone.shares {
            Some(_) => corner,
            None => start.iter().zip(&corner).map(|(s, c)| s + share * (c - s)).collect(),
        };
        let Some((expected, error)) = definition(&at).filter(|(expected, _)| expected.is_finite()) else {
            continue;
        };
        let slack = 1e-9 * expected.abs().max(1.0) + error;
        if (tape.value(&at) - expected).abs() <= slack {
            continue;
        }
        // With unknown but bounded numbers on the tape, the definition must lie within the range.
        let range = Affine::new(tape, &Zone::point(&at)).result();
        if !(range.lower - slack <= expected && range.upper + slack >= expected) {
            return Err(Stop::Unverified(Fault::Composition { expected, found: tape.value(&at) }));
        }
    }
    Ok(())
}
