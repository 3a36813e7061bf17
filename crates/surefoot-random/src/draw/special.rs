//! Draws special values. They come from a stream of random numbers of their own, so that everything else is drawn as it
//! was without them.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use surefoot::feature::Special;
use surefoot::{Change, Kind};

use super::{Case, digits, log_uniform, one};

/// The weight in the norm that makes a special value exact, by the definition.
const EXACT: f64 = 1e30;

/// Gives the first person of some cases a special value of a feature that no constraint names and that causes nothing.
pub(super) fn give(random: &mut ChaCha8Rng, case: &mut Case) {
    if !random.random_bool(0.2) {
        return;
    }
    let is_free = |i: &usize| {
        let feature = &case.features[*i];
        let is_amount = feature.kind != Kind::Binary && feature.group.is_none();
        let is_named = case.rules.iter().any(|rule| rule.terms.iter().any(|(named, _)| named == i));
        let is_cause = case.equations.iter().any(|equation| equation.is_cause(*i));
        is_amount && !is_named && !is_cause
    };
    let free: Vec<usize> = (0..case.features.len()).filter(is_free).collect();
    if free.is_empty() {
        return;
    }
    let i = one(random, &free);
    let feature = &mut case.features[i];
    let far = feature.mean + feature.std * one(random, &[-9.0, 9.0, 6.0]);
    let value = if feature.kind == Kind::Integer { far.round() } else { digits(far, 4) };
    let meaning = random.random_bool(0.5).then(|| "no record".to_owned());
    feature.special = vec![Special { value, meaning }];
    case.people[0][i] = value;
    let first: Vec<f64> = case.features.iter().zip(&case.people[0]).map(|(f, &v)| f.standardise(v)).collect();
    case.model.aim(&first, -log_uniform(random, 0.02, 2.0));
}

impl Case {
    /// The case of somebody with special values: by the definition these features are fixed and exact. `None` if the
    /// person has none.
    pub(crate) fn of_person(&self, individual: &[f64]) -> Option<Self> {
        let is_special = |i: &usize| {
            let feature = &self.features[*i];
            feature.special_value(feature.own_units(individual[*i])).is_some()
        };
        let special: Vec<usize> = (0..self.features.len()).filter(is_special).collect();
        let mut case = self.clone();
        for &i in &special {
            case.features[i].change = Change::Fixed;
            case.norm_weights[i] = EXACT;
        }
        (!special.is_empty()).then_some(case)
    }
}
