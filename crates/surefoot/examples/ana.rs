//! One person, by hand: standard and robust recourse, and what breaks the former.
//!
//! Run with `cargo run -p surefoot --example ana`.

use surefoot::theory::{extra_cost, fragility};
use surefoot::{
    Change, Classifier, Equation, Exact, Feature, Features, Norm, People, Problem, Result, Scm, describe,
    describe_shift, recourse,
};

/// Public so that the tests can run it.
pub fn main() -> Result<()> {
    let features = Features::new(vec![
        Feature::new("income").scaling(3000.0, 1500.0).change(Change::Increase),
        Feature::new("savings").scaling(8000.0, 4000.0).change(Change::Increase),
    ])?;
    let scm = Scm::new(&features, vec![("savings", Equation::formula("2 * income + u"))])?;
    let classifier = Classifier::linear(vec![0.8, 0.6], -0.5, 0.5)?;
    let standard = Problem::new(features.clone(), classifier)?.with_causal_model(scm)?;
    let robust = standard.clone().with_uncertainty(Norm::L2, 0.1)?;

    let people = People::from_records(&features, &[&[("savings", 6000.0), ("income", 2400.0)]])?;
    let ana = people.individual(0);

    let cheap = &recourse(&standard, &people)?[0];
    println!("standard: {}", describe(&standard, ana, cheap)?);
    if let Some(cheap) = cheap.recourse() {
        if let Some(shown) = fragility(&standard, ana, &cheap.action, 0.01)? {
            assert!(shown.margin < 0.0);
            println!("breaks with: {}", describe_shift(&standard, &shown.perturbation)?);
        }
        if let Some(bound) = extra_cost(&Exact::new(&robust)?, ana, &cheap.action)? {
            println!("robustness costs at most {:.1}% more", 100.0 * bound.beta);
        }
    }
    println!("robust: {}", describe(&robust, ana, &recourse(&robust, &people)?[0])?);
    Ok(())
}
