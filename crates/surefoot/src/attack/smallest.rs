//! The smallest perturbation that breaks an action, by all attacks together.

use super::linear::Linear;
use super::trees;
use super::{
    Attack, Break, CarliniWagner, DeepFool, FastGradient, ProjectedGradient, Target, by_own, downwards,
    in_common_terms, lane, set_lane, smallest_of_variants,
};
use crate::network::{LANES, Lanes};
use crate::{Action, People, Problem, Result};

/// The number of steps by which the best perturbation is moved along the boundary.
const POLISHING: usize = 10;
/// The number of bisection steps between an unbroken and a broken action.
const HALVINGS: usize = 50;

/// The smallest perturbation found that breaks each action. The best result of [`DeepFool`],
/// [`CarliniWagner`], [`FastGradient`] and [`ProjectedGradient`] is moved along the boundary, towards the
/// nearest point of its linearisation, and shrunk by bisection. Then [`ProjectedGradient`] with fewer
/// samples searches for a perturbation that is smaller by a tenth, then by a fiftieth, as long as it
/// finds one. `None` if no attack breaks the action. Exact, in closed form, if classifier and causal
/// model are linear. For tree ensembles, balls of several radii are searched exactly instead.
///
/// If the problem has several variants, each is attacked, and the smallest break counts.
pub fn smallest_break(problem: &Problem, people: &People, actions: &[Action]) -> Result<Vec<Option<Break>>> {
    by_own(
        problem,
        people,
        actions,
        |problem, people, actions| {
            smallest_of_variants(problem, |variant| smallest_of_one(variant, people, actions))
        },
        in_common_terms,
    )
}

/// The smallest breaks in a problem with one variant.
fn smallest_of_one(problem: &Problem, people: &People, actions: &[Action]) -> Result<Vec<Option<Break>>> {
    if Linear::knows(problem) {
        return Linear.attack(problem, people, actions);
    }
    match trees::smallest(problem, people, actions) {
        Some(breaks) => breaks,
        None => Smallest.attack(problem, people, actions),
    }
}

struct Smallest;

/// The search within the uncertainty set. A thousand of its samples are inside the ball, so a part with a
/// hundredth of the volume is missed once in twenty thousand times.
const WITHIN: ProjectedGradient = ProjectedGradient { steps: 30, samples: 2_000, restarts: 8, seed: 1 };
/// The search for a smaller perturbation.
const SHRINKING: ProjectedGradient = ProjectedGradient { steps: 30, samples: 128, restarts: 3, seed: 1 };
/// The largest number of such searches.
const ROUNDS: usize = 12;
/// The radius of the search, in standardised units, if no break is known.
const FARTHEST: f64 = 10.0;

impl Attack for Smallest {
    fn perturb(&self, target: &mut Target<'_, '_>) -> Vec<Lanes> {
        let candidates = [
            DeepFool::default().perturb(target),
            CarliniWagner::default().perturb(target),
            FastGradient.perturb(target),
            WITHIN.perturb(target),
            SHRINKING.perturb(target),
        ];
        let mut best = refine(target, candidates);
        let mut share = 0.9;
        for _ in 0..ROUNDS {
            let margin = target.value(&best);
            let size = |l: usize| target.uncertainty().size(&lane(&best, l));
            let known: [f64; LANES] =
                std::array::from_fn(|l| if margin.0[l] < 0.0 { size(l) } else { FARTHEST });
            let found = SHRINKING.search(target, known.map(|size| share * size));
            let broken = target.value(&found);
            if !(0..LANES).any(|l| broken.0[l] < 0.0 && known[l] > 0.0) {
                if share > 0.95 {
                    break;
                }
                share = 0.98;
                continue;
            }
            best = refine(target, [best, found]);
        }
        best
    }
}

/// The smallest of some candidates, each of which is shrunk; the smallest is then moved along the boundary.
pub(super) fn refine(
    target: &mut Target<'_, '_>,
    candidates: impl IntoIterator<Item = Vec<Lanes>>,
) -> Vec<Lanes> {
    let mut best = target.zero();
    let mut size = [f64::INFINITY; LANES];
    // An action that does not work unperturbed is broken by the zero perturbation.
    let plain = target.value(&best);
    (0..LANES).filter(|&l| plain.0[l] < 0.0).for_each(|l| size[l] = 0.0);
    for candidate in candidates {
        improve(target, candidate, &mut best, &mut size);
    }
    let mut gradient = target.zero();
    for _ in 0..POLISHING {
        let margin = target.gradient(&best, &mut gradient);
        let mut next = best.clone();
        for l in (0..LANES).filter(|&l| size[l].is_finite()) {
            // The nearest point of { D : margin + gradient.(D - best) = 0 }.
            let norm = target.uncertainty().norm();
            let (at, slope) = (lane(&best, l), lane(&gradient, l));
            let along: f64 = at.iter().zip(&slope).map(|(x, g)| x * g).sum();
            let way = (margin.0[l] - along) / norm.dual(&slope);
            let point: Vec<f64> = downwards(norm, &gradient, l).iter().map(|d| way * d).collect();
            if point.iter().all(|x| x.is_finite()) {
                set_lane(&mut next, l, &point);
            }
        }
        // Slightly enlarged, so that it is beyond the boundary.
        next.iter_mut().for_each(|lanes| *lanes = lanes.map(|x| 1.05 * x));
        improve(target, next, &mut best, &mut size);
    }
    best
}

/// Shrinks a candidate by bisection, and keeps it if it breaks the action and is smaller.
fn improve(target: &mut Target<'_, '_>, candidate: Vec<Lanes>, best: &mut [Lanes], size: &mut [f64; LANES]) {
    let scaled = |share: &[f64; LANES]| -> Vec<Lanes> {
        candidate.iter().map(|lanes| Lanes::from_fn(|l| share[l] * lanes.0[l])).collect()
    };
    let (mut low, mut high) = ([0.0; LANES], [1.0; LANES]);
    let broken = target.value(&candidate);
    for _ in 0..HALVINGS {
        let middle: [f64; LANES] = std::array::from_fn(|l| 0.5 * (low[l] + high[l]));
        let margin = target.value(&scaled(&middle));
        for l in 0..LANES {
            if margin.0[l] < 0.0 { high[l] = middle[l] } else { low[l] = middle[l] }
        }
    }
    let shrunk = scaled(&high);
    for l in (0..LANES).filter(|&l| broken.0[l] < 0.0) {
        let point = lane(&shrunk, l);
        let length = target.uncertainty().size(&point);
        if length < size[l] {
            size[l] = length;
            set_lane(best, l, &point);
        }
    }
}
