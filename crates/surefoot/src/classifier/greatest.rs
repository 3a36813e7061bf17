//! The most favourable of several classifiers.

use super::Classifier;
use super::model::{Blocks, Model, Precision};
use crate::digest::Digest;
use crate::graph::{AffineForm, Builder, Interval, Unit};
use crate::network::Lanes;

/// The rounding error of a score, as a share of logit and offset.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// A model whose logit is the greatest score of some classifiers: it is at least zero iff one of them is
/// favourable.
#[derive(Clone, Debug)]
pub(super) struct Greatest(pub Vec<Classifier>);

/// The position of the greatest score; that of the first one that is NaN, if there is any.
fn greatest(scores: impl Iterator<Item = f64>) -> (usize, f64) {
    let is_above = |a: f64, b: f64| !b.is_nan() && (a > b || a.is_nan());
    let most = |best: (usize, f64), next: (usize, f64)| if is_above(next.1, best.1) { next } else { best };
    scores.enumerate().fold((0, f64::NEG_INFINITY), most)
}

impl Model for Greatest {
    fn inputs(&self) -> usize {
        self.0[0].inputs()
    }

    fn logit(&self, x: &[f64]) -> f64 {
        greatest(self.0.iter().map(|member| member.score(x))).1
    }

    fn range(&self, x: &[Interval]) -> Interval {
        let ranges = self.0.iter().map(|member| {
            let Interval { lower, upper } = member.model.0.range(x).or_everything();
            let offset = member.offset;
            let moved = Interval { lower: lower - offset, upper: upper - offset }.widened(ROUNDING);
            let room = ROUNDING * offset.abs();
            Interval { lower: moved.lower - room, upper: moved.upper + room }
        });
        ranges.fold(Interval { lower: f64::NEG_INFINITY, upper: f64::NEG_INFINITY }, |all, range| Interval {
            lower: all.lower.max(range.lower),
            upper: all.upper.max(range.upper),
        })
    }

    fn gradient(&self, x: &[f64]) -> Vec<f64> {
        let (decider, _) = greatest(self.0.iter().map(|member| member.score(x)));
        self.0[decider].gradient(x)
    }

    fn blocks(&self, precision: Precision) -> Option<Box<dyn Blocks>> {
        let members = self.0.iter().map(|member| (member.blocks(precision), member.offset)).collect();
        Some(Box::new(GreatestBlocks { members, deciders: Vec::new(), gradient: Vec::new() }))
    }

    /// `max(a, b) = a + relu(b - a)`, member by member.
    fn compose<'a>(&'a self, graph: &mut Builder<'a>, x: &[AffineForm]) -> Option<AffineForm> {
        let mut scores = self.0.iter().map(|member| member.compose(graph, x)).collect::<Vec<_>>().into_iter();
        let first = scores.next()?;
        Some(scores.fold(first, |most, next| {
            let above = graph.unit(Unit::Relu, next.plus(-1.0, &most));
            most.plus(1.0, &above)
        }))
    }

    fn add_to_digest(&self, digest: &mut Digest) {
        digest.text("greatest");
        digest.count(self.0.len());
        self.0.iter().for_each(|member| member.digest(digest));
    }
}

#[derive(Debug)]
struct GreatestBlocks {
    members: Vec<(Box<dyn Blocks>, f64)>,
    /// The member with the greatest score of each lane, at the last evaluation.
    deciders: Vec<usize>,
    gradient: Vec<Lanes>,
}

impl Blocks for GreatestBlocks {
    fn logits(&mut self, x: &[Lanes]) -> Lanes {
        let scores: Vec<Lanes> =
            self.members.iter_mut().map(|(member, offset)| member.logits(x).map(|z| z - *offset)).collect();
        let of_lane = |lane: usize| greatest(scores.iter().map(|score| score.0[lane]));
        let most = Lanes::from_fn(|lane| of_lane(lane).1);
        self.deciders = (0..most.0.len()).map(|lane| of_lane(lane).0).collect();
        most
    }

    fn gradient(&mut self, gradient: &mut [Lanes]) {
        self.gradient.resize(gradient.len(), Lanes::ZERO);
        for (number, (member, _)) in self.members.iter_mut().enumerate() {
            member.gradient(&mut self.gradient);
            for (lane, _) in self.deciders.iter().enumerate().filter(|(_, decider)| **decider == number) {
                let own = self.gradient.iter();
                gradient.iter_mut().zip(own).for_each(|(all, own)| all.0[lane] = own.0[lane]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::LANES;

    /// Scores x - 1 and -x - 2 (a threshold of one half), so the greatest is at least zero outside [-2, 1].
    fn two() -> Greatest {
        let one = Classifier::linear(vec![1.0], -1.0, 0.5).unwrap();
        Greatest(vec![one, Classifier::linear(vec![-1.0], -2.0, 0.5).unwrap()])
    }

    #[test]
    fn the_greatest_score_decides() {
        let model = two();
        for (x, logit, slope) in [(3.0, 2.0, 1.0), (-4.0, 2.0, -1.0), (0.0, -1.0, 1.0), (-0.5, -1.5, 1.0)] {
            assert_eq!((model.logit(&[x]), &model.gradient(&[x])[..]), (logit, &[slope][..]));
            let mut graph = Builder::new(1);
            let composed = model.compose(&mut graph, &[AffineForm::constant(x)]).unwrap();
            assert_eq!(composed.as_constant(), Some(logit));
        }
        let range = model.range(&[Interval { lower: -1.0, upper: 2.0 }]);
        assert!(range.lower <= -1.0 && range.lower >= -2.001 && (range.upper - 1.0).abs() < 1e-12);
    }

    #[test]
    fn blocks_agree_with_single_individuals() {
        let model = two();
        let mut blocks = model.blocks(Precision::Double).unwrap();
        let x = Lanes::from_fn(|lane| lane as f64 - 8.0);
        let logits = blocks.logits(&[x]);
        let mut gradient = [Lanes::ZERO];
        blocks.gradient(&mut gradient);
        for lane in 0..LANES {
            assert_eq!(logits.0[lane], model.logit(&[x.0[lane]]));
            assert_eq!(gradient[0].0[lane], model.gradient(&[x.0[lane]])[0]);
        }
    }
}
