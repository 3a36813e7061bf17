//! Draws features: kinds, scales, limits, directions and weights.

use std::fmt::Write as _;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use surefoot::{Change, Feature, Kind};

use super::{digits, log_uniform, one};

const NAMES: [&str; 6] = ["alpha", "beta", "gamma", "delta", "eta", "kappa"];

/// One to six columns, at least one of which may change.
pub(super) fn draw(random: &mut ChaCha8Rng) -> Vec<Feature> {
    let width = random.random_range(1..=NAMES.len());
    let mut features: Vec<Feature> = Vec::new();
    while features.len() < width {
        let room = width - features.len();
        if room >= 2 && random.random_bool(0.15) {
            let group = format!("group{}", features.len());
            for _ in 0..random.random_range(2..=room.min(3)) {
                let mean = digits(random.random_range(0.1..0.6), 2);
                let column = Feature::new(NAMES[features.len()]).scaling(mean, digits(mean.sqrt(), 2));
                features.push(with_effort(random, column).group(&group));
            }
            continue;
        }
        let feature = Feature::new(NAMES[features.len()]);
        features.push(match random.random_range(0..10) {
            0 | 1 => integer(random, feature),
            2 => with_effort(random, feature.kind(Kind::Binary).scaling(0.3, 0.45)),
            _ => real(random, feature),
        });
    }
    if features.iter().all(|feature| !feature.is_actionable()) {
        let chosen = random.random_range(0..features.len());
        features[chosen].change = Change::Any;
    }
    features
}

fn with_effort(random: &mut ChaCha8Rng, mut feature: Feature) -> Feature {
    use Change::{Any, Decrease, Fixed, Increase};
    feature.change = one(random, &[Any, Any, Any, Increase, Decrease, Fixed]);
    if random.random_bool(0.4) {
        feature.weight = digits(log_uniform(random, 0.01, 100.0), 3);
    }
    feature
}

fn real(random: &mut ChaCha8Rng, feature: Feature) -> Feature {
    let (mean, std) = match random.random_range(0..4) {
        0 | 1 => (0.0, 1.0),
        2 => {
            let std = digits(log_uniform(random, 1e-3, 1e5), 3);
            (digits(std * random.random_range(-3.0..3.0), 4), std)
        }
        _ => {
            let std = digits(log_uniform(random, 1e-3, 1e5), 3);
            (digits(std * random.random_range(-300.0..300.0), 4), std)
        }
    };
    let mut feature = with_effort(random, feature.scaling(mean, std));
    if random.random_bool(0.6) {
        feature.lower = digits(mean - std * random.random_range(0.3..4.0), 5);
    }
    if random.random_bool(0.6) {
        feature.upper = digits(mean + std * random.random_range(0.3..4.0), 5);
    }
    feature
}

fn integer(random: &mut ChaCha8Rng, feature: Feature) -> Feature {
    let std = digits(log_uniform(random, 0.4, 8.0), 2);
    let mean = digits(random.random_range(-20.0..60.0), 3);
    let mut feature = with_effort(random, feature.kind(Kind::Integer).scaling(mean, std));
    if random.random_bool(0.7) {
        feature.lower = (mean - std * random.random_range(0.5..3.0)).floor();
    }
    if random.random_bool(0.7) {
        feature.upper = (mean + std * random.random_range(0.5..3.0)).ceil();
    }
    feature
}

pub(super) fn write(text: &mut String, feature: &Feature, norm_weight: f64) {
    writeln!(
        text,
        "\n[[feature]]\nname = \"{}\"\nmean = {:?}\nstd = {:?}",
        feature.name, feature.mean, feature.std
    )
    .unwrap();
    match &feature.group {
        Some(group) => writeln!(text, "group = \"{group}\"").unwrap(),
        None => writeln!(text, "kind = \"{}\"", format!("{:?}", feature.kind).to_lowercase()).unwrap(),
    }
    if feature.lower.is_finite() || feature.upper.is_finite() {
        writeln!(text, "limits = [{:?}, {:?}]", feature.lower, feature.upper).unwrap();
    }
    writeln!(text, "change = \"{}\"", format!("{:?}", feature.change).to_lowercase()).unwrap();
    if let Some(step) = feature.step {
        writeln!(text, "step = {step:?}").unwrap();
    }
    if feature.most_change.is_finite() {
        writeln!(text, "most_change = {:?}", feature.most_change).unwrap();
    }
    if feature.most_change_share.is_finite() {
        writeln!(text, "most_change_share = {:?}", feature.most_change_share).unwrap();
    }
    for special in &feature.special {
        match &special.meaning {
            Some(meaning) => writeln!(text, "special = {{ \"{:?}\" = {meaning:?} }}", special.value).unwrap(),
            None => writeln!(text, "special = [{:?}]", special.value).unwrap(),
        }
    }
    writeln!(text, "weight = {:?}", feature.weight).unwrap();
    if norm_weight != 1.0 {
        writeln!(text, "norm_weight = {norm_weight:?}").unwrap();
    }
}
