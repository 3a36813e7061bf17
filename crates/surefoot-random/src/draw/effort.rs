//! Draws steps, largest changes, and what may be changed together. They come from a stream of random numbers of their own,
//! so that everything else is drawn as it was without them.

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use surefoot::{Feature, Kind};

use super::{digits, one};

/// Gives steps and largest changes to some features.
pub(super) fn limit(random: &mut ChaCha8Rng, features: &mut [Feature]) {
    for feature in features.iter_mut().filter(|feature| feature.kind != Kind::Binary) {
        if random.random_bool(0.2) {
            feature.step = Some(match feature.kind {
                Kind::Integer => one(random, &[2.0, 3.0, 5.0]),
                _ => digits(feature.std * random.random_range(0.1..1.0), 2),
            });
        }
        if random.random_bool(0.15) {
            feature.most_change = digits(feature.std * random.random_range(0.5..3.0), 3);
        }
        if random.random_bool(0.1) {
            feature.most_change_share = digits(random.random_range(0.1..1.5), 2);
        }
    }
}

/// A largest number of changes and a list of which one may change, for some problems. Groups are named by their first
/// column.
pub(super) fn together(random: &mut ChaCha8Rng, features: &[Feature]) -> (Option<usize>, Vec<Vec<usize>>) {
    let is_first = |&i: &usize| {
        features[i].group.is_none() || features[..i].iter().all(|other| other.group != features[i].group)
    };
    let mut things: Vec<usize> = (0..features.len()).filter(is_first).collect();
    let most = random.random_bool(0.2).then(|| random.random_range(1..=things.len()));
    if things.len() < 2 || random.random_bool(0.85) {
        return (most, Vec::new());
    }
    things.shuffle(random);
    things.truncate(random.random_range(2..=things.len().min(3)));
    (most, vec![things])
}
