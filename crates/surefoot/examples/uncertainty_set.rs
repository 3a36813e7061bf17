//! An uncertainty set of one's own: at most two features are off by as much as they can be.
//!
//! Run with `cargo run -p surefoot --example uncertainty_set`.

use ndarray::array;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use surefoot::margin::margin;
use surefoot::recourse::{Settings, Solver};
use surefoot::{
    Activation, Budget, Change, Classifier, Equation, Feature, Features, Layer, Network, Norm, People,
    Problem, Result, SavedProof, Scm, UncertaintySet, Verdict, certify, describe, smallest_break, verify,
};

/// `|y_i| <= 1` for every feature, and `sum_i |y_i| <= most` for all of them (Bertsimas and Sim, 2004).
/// With `most = 2`, everything that two features off by one each, or more features by less, may add up to.
#[derive(Debug)]
struct BudgetSet {
    most: f64,
}

impl UncertaintySet for BudgetSet {
    fn name(&self) -> &'static str {
        "budget"
    }

    fn parameters(&self) -> Vec<f64> {
        vec![self.most]
    }

    fn words(&self) -> &'static str {
        "alone or two of them together, or more by accordingly less"
    }

    fn gauge(&self, y: &[f64]) -> f64 {
        let largest = y.iter().fold(0.0, |a: f64, y| a.max(y.abs()));
        let sum: f64 = y.iter().map(|y| y.abs()).sum();
        largest.max(sum / self.most)
    }

    /// The largest coefficients, as many as the budget pays for.
    fn support(&self, row: &[f64]) -> f64 {
        let mut sizes: Vec<f64> = row.iter().map(|r| r.abs()).collect();
        sizes.sort_by(|a, b| b.total_cmp(a));
        sizes.iter().enumerate().map(|(k, size)| size * (self.most - k as f64).clamp(0.0, 1.0)).sum()
    }

    /// Coordinates move towards zero by the same threshold and then into `[-radius, radius]`; the
    /// threshold is zero or makes their sum that of the budget.
    fn project(&self, y: &mut [f64], radius: f64) {
        let moved = |y: f64, threshold: f64| (y.abs() - threshold).clamp(0.0, radius);
        let excess = |t: f64| y.iter().map(|&y| moved(y, t)).sum::<f64>() > self.most * radius;
        let (mut low, mut high) = (0.0, y.iter().fold(0.0, |a: f64, y| a.max(y.abs())));
        for _ in 0..if excess(0.0) { 100 } else { 0 } {
            let middle = 0.5 * (low + high);
            if excess(middle) { low = middle } else { high = middle }
        }
        let threshold = if excess(0.0) { high } else { 0.0 };
        y.iter_mut().for_each(|y| *y = moved(*y, threshold).copysign(*y));
    }
}

fn features() -> Result<Features> {
    Features::new(vec![
        Feature::new("income").scaling(3000.0, 1500.0).change(Change::Increase),
        Feature::new("savings").scaling(8000.0, 4000.0).change(Change::Increase).limits(0.0, 60000.0),
        Feature::new("debt").scaling(5000.0, 2500.0).change(Change::Decrease).limits(0.0, 30000.0),
    ])
}

fn network() -> Result<Network> {
    let hidden = Layer {
        weight: array![[0.9, 0.5, -0.6], [0.4, -0.3, -0.9], [-0.2, 0.8, 0.1], [0.7, 0.2, -0.3]],
        bias: array![-0.2, 0.3, 0.1, -0.5],
    };
    let output = Layer { weight: array![[0.9, 0.7, 0.6, 0.8]], bias: array![-0.4] };
    Network::new(vec![hidden, output], Activation::Tanh)
}

/// Finds recourse, certifies it, verifies its proof, attacks it, and samples perturbations.
fn answer(name: &str, problem: &Problem, people: &People) -> Result<()> {
    let individual = people.individual(0);
    let proof = Solver::new(problem, Settings::default())?.prove(individual)?;
    println!("{name}: {}", describe(problem, individual, &proof.outcome)?);
    assert!(proof.outcome.recourse().is_some(), "this person has recourse");
    let Some(found) = proof.outcome.recourse() else { return Ok(()) };

    // A proof that is written and read again is verified, and belongs to this set alone.
    let saved = SavedProof::from_json(&proof.to_json(problem, individual))?;
    assert!(verify(problem, &saved)?.is_verified(), "{:?}", verify(problem, &saved)?);
    let other = problem.clone().with_uncertainty(Norm::unweighted(BudgetSet { most: 2.5 }), 0.2)?;
    assert!(!verify(&other, &saved)?.is_verified());

    let certificate = certify(problem, individual, &found.action, Budget::default())?;
    assert!(matches!(certificate.verdict, Verdict::Holds { .. }), "{:?}", certificate.verdict);
    println!("{name}: certified with {} pieces of the set", certificate.pieces.len());

    let broken = smallest_break(problem, people, std::slice::from_ref(&found.action))?;
    let size = broken[0].as_ref().map_or(f64::INFINITY, |found| found.size);
    println!("{name}: the smallest perturbation found to break it has size {size:.4}");
    assert!(!problem.uncertainty().includes(size));

    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut least = f64::INFINITY;
    for number in 0..20_000 {
        let perturbation = problem.uncertainty().sample(&mut random, individual.len(), number % 4 > 0);
        assert!(problem.uncertainty().contains(&perturbation));
        least = least.min(margin(problem, individual, &found.action, &perturbation)?);
    }
    println!("{name}: of 20,000 perturbations the worst leaves {least:.4}, proven are {:.4}", found.margin);
    assert!(least >= found.margin);
    Ok(())
}

/// Public so that the tests can run it.
pub fn main() -> Result<()> {
    let features = features()?;
    let budget = || Norm::unweighted(BudgetSet { most: 2.0 });
    let people = People::from_own_units(&features, &[[2100.0, 6000.0, 6000.0]])?;

    let linear = Classifier::linear(vec![0.8, 0.6, -0.7], -0.5, 0.5)?;
    let scm = Scm::new(&features, vec![("savings", Equation::formula("2 * income + u"))])?;
    let problem =
        Problem::new(features.clone(), linear)?.with_causal_model(scm)?.with_uncertainty(budget(), 0.2)?;
    answer("linear", &problem, &people)?;

    let problem = Problem::new(features, Classifier::network(network()?, 0.5)?)?;
    answer("network", &problem.with_uncertainty(budget(), 0.2)?, &people)
}
