//! The part of the demo with a network classifier: Algorithm 1 and an attack.

use std::time::Duration;

use anyhow::{Context, Result};
use indicatif::ProgressBar;
use ndarray::{Array1, Array2};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefoot::attack::{ProjectedGradient, worst_found};
use surefoot::recourse::{Attempt, karimi};
use surefoot::{
    Action, Activation, Classifier, Descent, Feature, Features, Layer, Network, Norm, People, Problem, train,
};
use surefoot_paper::loan;

use super::{Group, Options};

/// Hidden units.
const UNITS: usize = 16;
/// People whom Algorithm 1 answers at most: enough to see what happens, in a moment.
const PEOPLE: usize = 200;

/// How the network does.
pub struct Summary {
    pub accuracy: f64,
    pub turned_down: usize,
}

/// Trains a network and answers some of those it turns down, with and without uncertainty.
pub fn answer(sample: &loan::Sample, everybody: &People, options: &Options) -> Result<(Summary, Vec<Group>)> {
    let bar = ProgressBar::new_spinner().with_message("Algorithm 1 on a network");
    bar.enable_steady_tick(Duration::from_millis(100));
    let features = everybody.features();
    let classifier = Classifier::network(fit(sample, options.seed)?, 0.5)?;
    let problem = Problem::new(features.clone(), classifier)?.with_causal_model(loan::scm(features)?)?;
    let robust = problem.clone().with_uncertainty(Norm::L2, options.epsilon)?;

    let favourable = |x: &[f64]| problem.classifier().score(x) >= 0.0;
    let right = everybody.iter().zip(&sample.repaid).filter(|(x, repaid)| favourable(x) == **repaid).count();
    let turned_down: Vec<usize> =
        (0..everybody.len()).filter(|&i| !favourable(everybody.individual(i))).collect();
    let summary = Summary { accuracy: right as f64 / everybody.len() as f64, turned_down: turned_down.len() };
    let Ok(people) = everybody.select(&turned_down[..PEOPLE.min(turned_down.len())]) else {
        return Ok((summary, Vec::new()));
    };

    let attempts = [karimi(&problem, &people)?, Descent::default().solve(&robust, &people)?];
    let both = |i: &usize| attempts.iter().all(|attempts| attempts[*i].candidate().is_some());
    let compared: Vec<usize> = (0..people.len()).filter(both).collect();
    let group = |(name, attempts): (&'static str, &Vec<Attempt>)| -> Result<Group> {
        let found: Vec<usize> = (0..people.len()).filter(|&i| attempts[i].candidate().is_some()).collect();
        let candidates = || attempts.iter().filter_map(|attempt| attempt.candidate());
        let actions: Vec<Action> = candidates().map(|candidate| candidate.action.clone()).collect();
        let holding = match people.select(&found) {
            Ok(people) => {
                let attack = ProjectedGradient { samples: 200, restarts: 4, ..ProjectedGradient::default() };
                let worst = worst_found(&robust, &people, &actions, &attack)?;
                worst.iter().filter(|worst| worst.margin >= 0.0).count()
            }
            Err(_) => 0,
        };
        let cost: f64 = compared.iter().filter_map(|&i| attempts[i].candidate()).map(|c| c.cost).sum();
        let mean_cost = cost / compared.len() as f64;
        Ok(Group { name, asked: people.len(), found: found.len(), impossible: None, holding, mean_cost })
    };
    let groups = ["network: standard", "network: robust"]
        .into_iter()
        .zip(&attempts)
        .map(group)
        .collect::<Result<_>>()?;
    bar.finish_and_clear();
    Ok((summary, groups))
}

/// A network with one hidden layer: its first layer is random, its second is a logistic
/// regression on what the first makes of the applicants.
fn fit(sample: &loan::Sample, seed: u64) -> Result<Network> {
    let width = sample.rows.ncols();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(2);
    let mut draw = || random.random_range(-0.8..0.8);
    let weight = Array2::from_shape_simple_fn((UNITS, width), &mut draw);
    let hidden = Layer { weight, bias: Array1::from_shape_simple_fn(UNITS, draw) };
    let mut outputs = sample.rows.dot(&hidden.weight.t()) + &hidden.bias;
    outputs.mapv_inplace(f64::tanh);
    let units = Features::new((0..UNITS).map(|k| Feature::new(format!("unit {k}"))).collect())?;
    let regression = train::logistic_regression(&units, outputs.view(), &sample.repaid, 0.5)
        .context("fitting the network to so few people; give more with --people")?;
    let (weights, bias) = regression.coefficients()?;
    let weight = Array2::from_shape_fn((1, UNITS), |(_, k)| weights[k]);
    let output = Layer { weight, bias: Array1::from_elem(1, bias) };
    Ok(Network::new(vec![hidden, output], Activation::Tanh)?)
}
