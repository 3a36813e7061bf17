//! The part of the demo with a network classifier: Algorithm 1 and an attack.

use std::time::Duration;

use anyhow::Result;
use indicatif::ProgressBar;
use surefoot::attack::{ProjectedGradient, worst_found};
use surefoot::recourse::{Attempt, karimi};
use surefoot::train::{Threshold, Training};
use surefoot::{Action, Descent, Norm, People, Problem};
use surefoot_paper::loan;

use super::{Group, Options};

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
    let training = Training { hidden: vec![20], epochs: 20, seed: options.seed, ..Training::default() };
    let trained = training.run(features, sample.rows.view(), &sample.repaid)?;
    let classifier = trained.classifier(Threshold::BestMcc, sample.rows.view(), &sample.repaid)?;
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
