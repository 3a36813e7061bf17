//! Loan: seven features of loan applicants and how they cause each other, an analytic model.
//!
//! Nothing has to be downloaded: people are drawn from the model, and whether they repay
//! follows from their features by chance.

use ndarray::Array2;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefoot::{Change, Equation, Feature, Features, Kind, Noise, Result, Scm};

/// Name, mean and standard deviation, in own units, as published.
const SCALING: [(&str, f64, f64); 7] = [
    ("gender", 0.0, 1.0),
    ("age", -0.046973433, 11.074237),
    ("education", -0.059363052, 0.13772593),
    ("loan_amount", 0.013938685, 2.787965),
    ("loan_duration", -0.00097113004, 4.545642),
    ("income", 0.48712617, 2.5124693),
    ("savings", -2.0761824, 5.564847),
];

/// The direct causes of each feature that has any.
pub const CAUSES: [(&str, &[&str]); 5] = [
    ("education", &["gender", "age"]),
    ("loan_amount", &["gender", "age"]),
    ("loan_duration", &["gender", "age", "loan_amount"]),
    ("income", &["gender", "age", "education"]),
    ("savings", &["income"]),
];

/// The mean and the standard deviation of a feature; 0 and 1 for an unknown name.
pub(crate) fn scaling(feature: &str) -> (f64, f64) {
    SCALING.into_iter().find(|(name, ..)| *name == feature).map_or((0.0, 1.0), |(_, mean, std)| (mean, std))
}

/// The features. Education, income and savings may be raised; education only up to
/// `most_education`, the paper's choice being the largest value in the sample.
pub fn features(most_education: f64) -> Result<Features> {
    let feature = |(name, mean, std): (&str, f64, f64)| {
        let feature = Feature::new(name).scaling(mean, std);
        match name {
            "gender" => feature.kind(Kind::Binary),
            "education" => feature.limits(f64::NEG_INFINITY, most_education).change(Change::Increase),
            "income" | "savings" => feature.change(Change::Increase),
            _ => feature,
        }
    };
    Features::new(SCALING.into_iter().map(feature).collect())
}

/// The structural equations.
pub fn scm(features: &Features) -> Result<Scm> {
    let education = Equation::formula_with_inverse(
        "-0.5 + sigmoid(-1 + 0.5 * gender + sigmoid(0.1 * age) + u)",
        "log((0.5 + education) / (0.5 - education)) + 1 - 0.5 * gender - sigmoid(0.1 * age)",
    );
    Scm::new(
        features,
        vec![
            ("age", Equation::formula("-35 + u")),
            ("education", education),
            ("loan_amount", Equation::formula("1 - 0.01 * (age - 5)^2 + gender + u")),
            ("loan_duration", Equation::formula("-1 + 0.1 * age + 2 * gender + loan_amount + u")),
            ("income", Equation::formula("-4 + 0.1 * (age + 35) + 2 * gender + gender * education + u")),
            ("savings", Equation::formula("-4 + 1.5 * max(income, 0) + u")),
        ],
    )
}

/// The distribution of each feature's noise.
pub fn noise() -> [(&'static str, Noise); 7] {
    let normal = |variance: f64| Noise::Normal { mean: 0.0, std: variance.sqrt() };
    [
        ("gender", Noise::Bernoulli { probability: 0.5 }),
        ("age", Noise::Gamma { shape: 10.0, scale: 3.5 }),
        ("education", normal(0.25)),
        ("loan_amount", normal(4.0)),
        ("loan_duration", normal(9.0)),
        ("income", normal(4.0)),
        ("savings", normal(25.0)),
    ]
}

/// The probability that somebody with these features, in own units, repays.
pub fn repayment(individual: &[f64; 7]) -> f64 {
    let [_, _, _, amount, duration, income, savings] = individual;
    let logit = 0.3 * (-amount - duration + income + savings + income * savings);
    1.0 / (1.0 + (-logit).exp())
}

/// Applicants and whether they repaid.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Rows in standardised units.
    pub rows: Array2<f64>,
    /// Whether each repaid.
    pub repaid: Vec<bool>,
    /// The highest education among them, in own units.
    pub most_education: f64,
}

/// Draws applicants; the same seed gives the same ones.
pub fn sample(people: usize, seed: u64) -> Result<Sample> {
    let features = features(f64::INFINITY)?;
    let rows = scm(&features)?.sample(&noise(), people, seed)?;
    // Labels come from a separate random stream, so that they do not depend on how people are drawn.
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(1);
    let mut repaid = Vec::with_capacity(people);
    let mut most_education = f64::NEG_INFINITY;
    for row in rows.rows() {
        let own: [f64; 7] = std::array::from_fn(|i| features.feature(i).own_units(row[i]));
        repaid.push(random.random_bool(repayment(&own)));
        most_education = most_education.max(own[2]);
    }
    Ok(Sample { rows, repaid, most_education })
}
