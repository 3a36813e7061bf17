//! The networks of the robust causal recourse paper for the German credit data: two hidden layers of 100 tanh. People may
//! change what they may change in the paper, or everything; the cost is Euclidean.

use std::path::{Path, PathBuf};

use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView};
use surefoot::{
    Activation, Budget, Change, Classifier, Complete, Cost, Feature, Features, LimitsOn, Network, Outcome,
    Problem, SavedProof, WeightUncertainty,
};

use super::{Settings, processor_seconds};

const SEEDS: usize = 3;
const DELTAS: [f64; 3] = [0.0, 0.001, 0.005];

/// Prints a row for each network, radius and choice of features.
pub fn rows(settings: &Settings) {
    println!(
        "| seed | features | delta | people | found | impossible | undecided | times the cost at 0 | seconds |"
    );
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/reference");
    let folder = std::env::var_os("SUREFOOT_REFERENCE").map_or(PathBuf::from(beside), PathBuf::from);
    let (processed, _) = read(&folder.join("processed/german.safetensors"), "limits");
    for seed in 0..SEEDS {
        let path = folder.join(format!("cases/german_mlp_ERM_s{seed}.safetensors"));
        let (individuals, threshold) = read(&path, "individuals");
        let network = Network::read(&path, "", Activation::Tanh).expect("a network");
        let threshold = threshold.expect("a threshold");
        for all in [false, true] {
            let feature = |j: usize| {
                let change = if all || [1, 4].contains(&j) { Change::Any } else { Change::Fixed };
                let limits = &processed[2 * j..2 * j + 2];
                let is_unlimited = |limit: f64| limit.abs() >= 1e9;
                let [lower, upper] =
                    [limits[0], limits[1]].map(|l| if is_unlimited(l) { f64::INFINITY } else { l });
                let lower = if lower == f64::INFINITY { -lower } else { lower };
                Feature::new(format!("x{j}")).change(change).limits(lower, upper)
            };
            let features = Features::new((0..network.inputs()).map(feature).collect()).expect("features");
            let mut certain: Vec<Option<f64>> = Vec::new();
            for delta in DELTAS {
                let classifier = Classifier::network(network.clone(), threshold).expect("a classifier");
                let classifier = match delta > 0.0 {
                    true => classifier.with_uncertain_weights(WeightUncertainty::Within(delta)),
                    false => Ok(classifier),
                };
                let problem = classifier.and_then(|classifier| Problem::new(features.clone(), classifier));
                let problem = problem.and_then(|problem| problem.with_limits_on(LimitsOn::Action));
                let problem = problem.expect("a problem").with_cost(Cost::L2);
                let costs = answers(&problem, &individuals, settings, &certain, (seed, all, delta));
                if delta == 0.0 {
                    certain = costs;
                }
            }
        }
    }
}

/// Prints the row of one problem, and returns the cost of everybody's action.
fn answers(
    problem: &Problem,
    individuals: &[f64],
    settings: &Settings,
    certain: &[Option<f64>],
    (seed, all, delta): (usize, bool, f64),
) -> Vec<Option<f64>> {
    let budget = Budget { evaluations: settings.evaluations };
    let complete = Complete::new(problem).and_then(|c| c.with_budget(budget)).expect("a solver");
    let mut costs = Vec::new();
    let (mut impossible, mut seconds, mut verified) = (0, 0.0, 0);
    for x in individuals.chunks(problem.features().len()).take(settings.people) {
        let start = processor_seconds();
        let proof = complete.prove(x).expect("an answer");
        seconds += processor_seconds() - start;
        impossible += usize::from(matches!(proof.outcome, Outcome::Impossible(_)));
        costs.push(proof.outcome.recourse().map(|found| found.cost));
        if settings.verify {
            let saved = SavedProof::from_json(&proof.to_json(problem, x)).expect("a proof");
            verified += usize::from(surefoot::verify(problem, &saved).expect("a check").is_verified());
        }
    }
    let certain = if certain.is_empty() { &costs[..] } else { certain };
    let both = costs.iter().zip(certain).filter_map(|(cost, least)| cost.zip(*least));
    let (cost, least) = both.fold((0.0, 0.0), |sum, (cost, least)| (sum.0 + cost, sum.1 + least));
    let (people, found) = (costs.len(), costs.iter().flatten().count());
    let features = if all { "all" } else { "two" };
    let checked = if settings.verify { format!(" {verified} verified |") } else { String::new() };
    println!(
        "| {seed} | {features} | {delta} | {people} | {found} | {impossible} | {} | {:.3} | {seconds:.2} |{checked}",
        people - found - impossible,
        cost / least,
    );
    costs
}

/// The numbers of a tensor, and the threshold that the file states.
fn read(path: &Path, name: &str) -> (Vec<f64>, Option<f64>) {
    let bytes = std::fs::read(path).expect("the folder of the published networks");
    let tensors = SafeTensors::deserialize(&bytes).expect("a file of tensors");
    let (_, header) = SafeTensors::read_metadata(&bytes).expect("a header");
    let stated = header.metadata().as_ref().and_then(|stated| stated.get("threshold")).cloned();
    (numbers(&tensors.tensor(name).expect("a tensor")), stated.and_then(|text| text.parse().ok()))
}

fn numbers(tensor: &TensorView<'_>) -> Vec<f64> {
    match tensor.dtype() {
        Dtype::F32 => {
            let of = |bytes: &[u8]| f32::from_le_bytes(bytes.try_into().expect("four bytes"));
            tensor.data().chunks_exact(4).map(|bytes| f64::from(of(bytes))).collect()
        }
        _ => {
            let of = |bytes: &[u8]| f64::from_le_bytes(bytes.try_into().expect("eight bytes"));
            tensor.data().chunks_exact(8).map(of).collect()
        }
    }
}
