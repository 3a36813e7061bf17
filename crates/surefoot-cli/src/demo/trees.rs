//! The part of the demo with boosted trees: recourse with proof, and exact worst cases.

use anyhow::Result;
use indicatif::ParallelProgressIterator;
use rayon::prelude::*;
use surefoot::recourse::{Settings, Solver};
use surefoot::{
    Budget, Classifier, Ensemble, LimitsOn, Norm, Outcome, People, Problem, Scm, Verdict, certify,
};
use surefoot_paper::loan;

use super::{Group, Options, PEOPLE, Proven, Summary};

/// 30 trees of depth 3 that XGBoost was trained to on 5,000 applicants in own units, drawn with seed 2.
const MODEL: &[u8] = include_bytes!("trees.json");

/// The budget for each of them, so that nobody waits for the few whose bound takes long.
const EVALUATIONS: usize = 2_000;

/// Answers some of those whom the trees turn down, with and without uncertainty. Causes are linear.
pub fn answer(
    sample: &loan::Sample,
    everybody: &People,
    causes: Scm,
    options: &Options,
) -> Result<(Summary, Vec<Group>)> {
    let features = everybody.features();
    let classifier = Classifier::trees(Ensemble::from_bytes(MODEL)?.over(features, false)?, 0.5)?;
    let standard = Problem::new(features.clone(), classifier)?
        .with_limits_on(LimitsOn::Action)?
        .with_causal_model(causes)?;
    let robust = standard.clone().with_uncertainty(Norm::L2, options.epsilon)?;
    let (summary, turned_down) = Summary::of(&standard, everybody, &sample.repaid);
    let Ok(people) = everybody.select(&turned_down[..PEOPLE.min(turned_down.len())]) else {
        return Ok((summary, Vec::new()));
    };

    let individuals: Vec<&[f64]> = people.iter().collect();
    let answers = |problem: &Problem, what: &'static str| -> Result<Vec<Outcome>> {
        let settings = Settings { budget: Budget { evaluations: EVALUATIONS }, ..Settings::default() };
        let solver = Solver::new(problem, settings)?;
        let outcomes = individuals.par_iter().progress_with(super::bar(people.len(), what));
        Ok(outcomes.map(|x| solver.solve(x)).collect::<surefoot::Result<_>>()?)
    };
    let outcomes =
        [answers(&standard, "trees: standard recourse")?, answers(&robust, "trees: robust recourse")?];
    let compared: Vec<usize> = (0..people.len())
        .filter(|&i| outcomes.iter().all(|outcomes| outcomes[i].recourse().is_some()))
        .collect();
    let group = |(name, outcomes): (&'static str, &Vec<Outcome>)| {
        let holds = |(x, outcome): (&&[f64], &Outcome)| match outcome.recourse() {
            Some(found) => {
                let certificate = certify(&robust, x, &found.action, Budget::default())?;
                Ok(usize::from(matches!(certificate.verdict, Verdict::Holds { .. })))
            }
            None => Ok(0),
        };
        let holding = individuals.par_iter().zip(outcomes).map(holds).sum::<surefoot::Result<usize>>()?;
        let found = outcomes.iter().filter_map(Outcome::recourse).count();
        let cost: f64 = compared.iter().filter_map(|&i| outcomes[i].recourse()).map(|found| found.cost).sum();
        let mean_cost = cost / compared.len() as f64;
        let proven = Some(Proven::count(outcomes));
        Ok(Group { name, asked: people.len(), found, proven, holding, mean_cost })
    };
    let named = ["trees: standard", "trees: certified"].into_iter().zip(&outcomes);
    Ok((summary, named.map(group).collect::<Result<_>>()?))
}
