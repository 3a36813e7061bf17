//! The part of the demo with a network classifier: Algorithm 1 and an attack.

use std::time::Duration;

use anyhow::Result;
use indicatif::{ParallelProgressIterator, ProgressBar};
use rayon::prelude::*;
use surefoot::attack::{ProjectedGradient, worst_found};
use surefoot::recourse::{Attempt, karimi};
use surefoot::train::{Threshold, Training};
use surefoot::{Action, Complete, Descent, LimitsOn, Norm, Outcome, People, Problem};
use surefoot_paper::loan;

use super::{Group, Options, PEOPLE, Proven, Summary};

/// An action and its cost, if there is one.
type Found = Option<(Action, f64)>;

/// Trains a network and answers some of those it turns down, with and without uncertainty.
pub fn answer(sample: &loan::Sample, everybody: &People, options: &Options) -> Result<(Summary, Vec<Group>)> {
    let bar = ProgressBar::new_spinner().with_message("Algorithm 1 on a network");
    bar.enable_steady_tick(Duration::from_millis(100));
    let features = everybody.features();
    let (hidden, validation) = (vec![20], None);
    let training = Training { hidden, epochs: 20, validation, seed: options.seed, ..Training::default() };
    let trained = training.run(features, sample.rows.view(), &sample.repaid)?;
    let classifier = trained.classifier(Threshold::BestMcc, sample.rows.view(), &sample.repaid)?;
    let problem = Problem::new(features.clone(), classifier)?
        .with_limits_on(LimitsOn::Action)?
        .with_causal_model(loan::scm(features)?)?;
    let robust = problem.clone().with_uncertainty(Norm::L2, options.epsilon)?;

    let (summary, turned_down) = Summary::of(&problem, everybody, &sample.repaid);
    let Ok(people) = everybody.select(&turned_down[..PEOPLE.min(turned_down.len())]) else {
        return Ok((summary, Vec::new()));
    };

    let attempts = [karimi(&problem, &people)?, Descent::default().solve(&robust, &people)?];
    bar.finish_and_clear();
    let complete = Complete::new(&robust)?;
    let individuals: Vec<&[f64]> = people.iter().collect();
    let outcomes = individuals
        .into_par_iter()
        .progress_with(super::bar(people.len(), "recourse with proof"))
        .map(|individual| complete.solve(individual))
        .collect::<surefoot::Result<Vec<Outcome>>>()?;

    // Of each method the actions and their costs.
    let tried = |attempts: &'_ [Attempt]| -> Vec<Found> {
        attempts.iter().map(|attempt| attempt.candidate().map(|c| (c.action.clone(), c.cost))).collect()
    };
    let proved: Vec<Found> =
        outcomes.iter().map(|outcome| outcome.recourse().map(|r| (r.action.clone(), r.cost))).collect();
    let answers = [
        ("network: standard", tried(&attempts[0]), None),
        ("network: robust", tried(&attempts[1]), None),
        ("network: certified", proved, Some(Proven::count(&outcomes))),
    ];
    let all = |i: &usize| answers.iter().all(|(_, found, _)| found[*i].is_some());
    let compared: Vec<usize> = (0..people.len()).filter(all).collect();
    let group = |(name, answers, proven): (&'static str, Vec<Found>, Option<Proven>)| {
        let found: Vec<usize> = (0..people.len()).filter(|&i| answers[i].is_some()).collect();
        let actions: Vec<Action> = answers.iter().flatten().map(|(action, _)| action.clone()).collect();
        let holding = match people.select(&found) {
            Ok(people) => {
                let attack = ProjectedGradient { samples: 200, restarts: 4, ..ProjectedGradient::default() };
                let worst = worst_found(&robust, &people, &actions, &attack)?;
                worst.iter().filter(|worst| worst.margin >= 0.0).count()
            }
            Err(_) => 0,
        };
        let cost: f64 = compared.iter().filter_map(|&i| answers[i].as_ref()).map(|(_, cost)| cost).sum();
        let mean_cost = cost / compared.len() as f64;
        Ok(Group { name, asked: people.len(), found: found.len(), proven, holding, mean_cost })
    };
    let groups = answers.into_iter().map(group).collect::<Result<_>>()?;
    Ok((summary, groups))
}
