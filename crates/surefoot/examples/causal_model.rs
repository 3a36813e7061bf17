//! A causal model with every kind of equation, and what would have been.
//!
//! Run with `cargo run -p surefoot --example causal_model`.

use ndarray::array;
use surefoot::{Activation, Equation, Feature, Features, Intervention, Layer, Network, Noise, Result, Scm};

/// Public so that the tests can run it.
pub fn main() -> Result<()> {
    let features = Features::new(vec![
        Feature::new("age").scaling(40.0, 12.0),
        Feature::new("education").scaling(12.0, 3.0),
        Feature::new("hours-per-week").scaling(40.0, 10.0),
        Feature::new("income").scaling(3000.0, 1500.0),
    ])?;
    let hidden = Layer { weight: array![[0.8, 0.2], [-0.5, 0.4]], bias: array![0.1, 0.0] };
    let output = Layer { weight: array![[0.6, -0.3]], bias: array![0.05] };
    let network = Network::new(vec![hidden, output], Activation::Tanh)?;
    let scm = Scm::new(
        &features,
        vec![
            // Standardised units: networks and linear equations.
            ("education", Equation::linear(&["age"], vec![-0.1], 0.0)),
            ("hours-per-week", Equation::network(&["age", "education"], network)),
            // Own units: formulas. Noise that is not added is found by root search.
            ("income", Equation::formula("exp(5 + 0.1 * education + 0.02 * `hours-per-week` + 0.3 * u)")),
        ],
    )?;

    let normal = Noise::Normal { mean: 0.0, std: 1.0 };
    let noise = [
        ("age", Noise::Gamma { shape: 10.0, scale: 4.0 }),
        ("education", normal),
        ("hours-per-week", normal),
        ("income", normal),
    ];
    let person = scm.sample(&noise, 1, 7)?.row(0).to_vec();
    println!("somebody:                {:.1?}", features.own_units(&person));

    // Two more years of education; income follows, hours follow.
    let change = [2.0 / features.feature(1).std];
    let educated = scm.counterfactual(&person, Intervention::Shift { features: &[1], change: &change })?;
    println!("two more years of school: {:.1?}", features.own_units(&educated));

    // A perturbation of the same size does the same here: nothing above education moves.
    let perturbation = [0.0, change[0], 0.0, 0.0];
    let perturbed = scm.counterfactual(&person, Intervention::Additive(&perturbation))?;
    for (a, b) in educated.iter().zip(&perturbed) {
        assert!((a - b).abs() < 1e-9);
    }
    Ok(())
}
