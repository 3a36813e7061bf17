//! A kind of model of one's own: a rule list, from a logit and a range alone.
//!
//! Run with `cargo run -p surefoot --example rule_list`.

use surefoot::recourse::{Settings, Solver};
use surefoot::{
    Budget, Change, Classifier, Feature, Features, Interval, Model, Norm, Problem, Result, Verdict, certify,
    verify,
};

/// Favourable if income is above one number and debt below another, in standardised units.
#[derive(Debug)]
struct RuleList {
    income: f64,
    debt: f64,
}

impl Model for RuleList {
    fn inputs(&self) -> usize {
        2
    }

    fn logit(&self, x: &[f64]) -> f64 {
        if x[0] > self.income && x[1] < self.debt { 1.0 } else { -1.0 }
    }

    /// The rule holds for everybody in a box, for nobody, or for some.
    fn range(&self, x: &[Interval]) -> Interval {
        let everybody = x[0].lower > self.income && x[1].upper < self.debt;
        let nobody = x[0].upper <= self.income || x[1].lower >= self.debt;
        Interval { lower: if everybody { 1.0 } else { -1.0 }, upper: if nobody { -1.0 } else { 1.0 } }
    }
}

/// Public so that the tests can run it.
#[expect(clippy::expect_used, reason = "an example that fails is a failed test")]
pub fn main() -> Result<()> {
    let features = Features::new(vec![
        Feature::new("income").change(Change::Increase).limits(-4.0, 4.0),
        Feature::new("debt").change(Change::Decrease).limits(-4.0, 4.0),
    ])?;
    let classifier = Classifier::with_model(RuleList { income: 0.5, debt: -0.2 }, 0.5)?;
    let problem = Problem::new(features, classifier)?.with_uncertainty(Norm::LINF, 0.1)?;

    let individual = [-1.0, 1.0];
    let solver = Solver::new(&problem, Settings::default())?;
    let proof = solver.prove(&individual)?;
    let found = proof.outcome.recourse().expect("the rule can be met");
    println!("change {:?} at a cost of {:.3}", found.action.change, found.cost);

    // By hand: income must rise by 1.5 and debt fall by 1.2, each by 0.1 more to be safe.
    let least = 1.6 + 1.3;
    assert!(found.cost > least && found.cost < 1.02 * least, "{}", found.cost);
    assert!(found.cost_bound <= least && found.cost_bound > 0.97 * least, "{}", found.cost_bound);

    // The action is certified and the proof verified by the same parts as for any other model.
    let certificate = certify(&problem, &individual, &found.action, Budget::default())?;
    assert!(matches!(certificate.verdict, Verdict::Holds { .. }));
    assert!(verify(&problem, &proof.saved(&problem, &individual))?.is_verified());
    Ok(())
}
