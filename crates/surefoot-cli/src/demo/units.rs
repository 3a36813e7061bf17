//! The units in which the demo speaks: euros, months and years instead of the numbers of the published model.

use anyhow::Result;
use surefoot::feature::Unit;
use surefoot::{Feature, Features};

/// Name, label, unit and the affine map from published numbers: `value = offset + factor * published`. The maps are
/// chosen so that the numbers are believable; whatever is standardised is the same.
const UNITS: [(&str, &str, [&str; 2], f64, f64); 6] = [
    ("age", "age", ["{} year", "{} years"], 42.0, 0.8),
    ("education", "education", ["{} year", "{} years"], 12.0, 16.0),
    ("loan_amount", "amount of the loan", ["EUR {}", "EUR {}"], 26_000.0, 800.0),
    ("loan_duration", "duration of the loan", ["{} month", "{} months"], 60.0, 2.0),
    ("income", "monthly income", ["EUR {}", "EUR {}"], 3000.0, 300.0),
    ("savings", "savings", ["EUR {}", "EUR {}"], 20_000.0, 800.0),
];

/// The same features in units that people know, with labels. Standardised values stay as they are.
pub fn in_known_units(features: &Features) -> Result<Features> {
    let known = |feature: &Feature| -> Result<Feature> {
        let mut feature = feature.clone();
        let Some((_, label, unit, offset, factor)) =
            UNITS.into_iter().find(|(name, ..)| *name == feature.name)
        else {
            return Ok(feature.describe([("0", "female"), ("1", "male")]));
        };
        let [lower, upper] = [feature.lower, feature.upper].map(|limit| offset + factor * limit);
        feature = feature.limits(lower, upper).label(label).unit(Unit::of_forms(&unit)?);
        let (mean, std) = (offset + factor * feature.mean, factor * feature.std);
        Ok(feature.scaling(mean, std))
    };
    Ok(Features::new(features.iter().map(known).collect::<Result<_>>()?)?)
}

/// A person in words: "gender female, age 33 years". Amounts are rounded to whole units.
pub fn profile(features: &Features, individual: &[f64]) -> String {
    let own = features.own_units(individual);
    let words = features.iter().zip(own).map(|(feature, value)| {
        // Without the sign of a negative zero.
        format!("{} {}", feature.spoken_name(), feature.amount(value.round() + 0.0))
    });
    words.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use surefoot_paper::loan;

    use super::*;

    #[test]
    fn standardised_numbers_stay_and_people_are_believable() {
        let published = loan::features(0.45).unwrap();
        let known = in_known_units(&published).unwrap();
        let sample = loan::sample(1000, 1).unwrap();
        for (i, (published, known)) in published.iter().zip(known.iter()).enumerate() {
            for (a, b) in [(published.lower, known.lower), (published.upper, known.upper)] {
                let (a, b) = (published.standardise(a), known.standardise(b));
                assert!(a == b || (a - b).abs() < 1e-9, "{}: {a} {b}", published.name);
            }
            let column = sample.rows.column(i);
            let own = |pick: fn(f64, f64) -> f64, start: f64| {
                known.own_units(column.iter().copied().fold(start, pick))
            };
            let (least, most) = (own(f64::min, f64::INFINITY), own(f64::max, f64::NEG_INFINITY));
            let (low, high) = match known.name.as_str() {
                "gender" => (0.0, 1.0),
                "age" => (18.0, 110.0),
                "education" => (4.0, 20.0),
                "loan_amount" => (1000.0, 40_000.0),
                "loan_duration" => (1.0, 130.0),
                "income" => (100.0, 9000.0),
                _ => (0.0, 60_000.0),
            };
            assert!(least >= low && most <= high, "{}: from {least} to {most}", known.name);
        }
    }
}
