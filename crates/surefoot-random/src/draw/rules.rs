//! Draws constraints and forbidden transitions.

use std::fmt::Write as _;

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use surefoot::{Feature, Kind};

use super::{digits, one};

/// `terms >= least`, in people's own units.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub(crate) terms: Vec<(usize, f64)>,
    pub(crate) least: f64,
}

/// Transitions that no action may make; empty lists stand for everything.
#[derive(Clone, Debug)]
pub(crate) enum Forbid {
    Categories { from: Vec<usize>, to: Vec<usize> },
    Values { feature: usize, from: Vec<f64>, to: Vec<f64> },
}

/// Up to two constraints: most are met by the person as they are, some are not, and some are tight.
pub(super) fn constraints(random: &mut ChaCha8Rng, features: &[Feature], person: &[f64]) -> Vec<Rule> {
    let count = one(random, &[0, 0, 0, 1, 2]);
    let mut rules = Vec::new();
    for _ in 0..count {
        let mut order: Vec<usize> = (0..features.len()).collect();
        order.shuffle(random);
        order.truncate(random.random_range(1..=features.len().min(3)));
        let mut coefficient = |&i: &usize| {
            let standardised = random.random_range(0.2..2.0) * one(random, &[-1.0, 1.0]);
            (i, digits(standardised / features[i].std, 3))
        };
        let terms: Vec<(usize, f64)> = order.iter().map(&mut coefficient).collect();
        let now: f64 = terms.iter().map(|&(i, c)| c * person[i]).sum();
        let room = one(random, &[0.0, 0.3, 1.0, 2.0, -0.3]);
        rules.push(Rule { terms, least: now - room });
    }
    rules
}

pub(super) fn forbidden(random: &mut ChaCha8Rng, features: &[Feature]) -> Vec<Forbid> {
    let mut rules = Vec::new();
    let mut groups: Vec<(&String, Vec<usize>)> = Vec::new();
    for (i, feature) in features.iter().enumerate() {
        if let Some(group) = &feature.group {
            match groups.iter_mut().find(|(name, _)| *name == group) {
                Some((_, columns)) => columns.push(i),
                None => groups.push((group, vec![i])),
            }
        }
        if feature.kind == Kind::Integer && random.random_bool(0.3) {
            let near = feature.mean.round() + f64::from(random.random_range(-3..=3));
            let to = vec![near, near + 1.0];
            let from = if random.random_bool(0.5) { Vec::new() } else { vec![near - 1.0, near - 2.0] };
            rules.push(Forbid::Values { feature: i, from, to });
        }
    }
    for (_, columns) in groups {
        if random.random_bool(0.4) {
            let from = if random.random_bool(0.5) { Vec::new() } else { vec![one(random, &columns)] };
            rules.push(Forbid::Categories { from, to: vec![one(random, &columns)] });
        }
    }
    rules
}

impl Rule {
    pub(super) fn write(&self, text: &mut String, features: &[Feature]) {
        let terms = self.terms.iter().map(|&(i, c)| format!("({c:?}) * {}", features[i].name));
        let terms: Vec<String> = terms.collect();
        writeln!(text, "\n[[constraint]]\nrule = \"{} >= ({:?})\"", terms.join(" + "), self.least).unwrap();
    }
}

impl Forbid {
    pub(super) fn write(&self, text: &mut String, features: &[Feature]) {
        let name = |&i: &usize| features[i].name.as_str();
        match self {
            Forbid::Categories { from, to } => {
                let group = features[to[0]].group.as_ref().unwrap();
                writeln!(text, "\n[[forbid]]\ngroup = \"{group}\"").unwrap();
                if !from.is_empty() {
                    writeln!(text, "from = {:?}", from.iter().map(name).collect::<Vec<_>>()).unwrap();
                }
                writeln!(text, "to = {:?}", to.iter().map(name).collect::<Vec<_>>()).unwrap();
            }
            Forbid::Values { feature, from, to } => {
                writeln!(text, "\n[[forbid]]\nfeature = \"{}\"", name(feature)).unwrap();
                if !from.is_empty() {
                    writeln!(text, "from = {from:?}").unwrap();
                }
                writeln!(text, "to = {to:?}").unwrap();
            }
        }
    }
}
