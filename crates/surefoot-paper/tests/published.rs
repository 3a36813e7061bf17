//! Every published answer for a linear classifier, computed again.
//!
//! Needs the published files; see [`surefoot_paper::reference`] for where they are looked
//! for. Any further cases in that folder are checked as well.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefoot::attack::{ProjectedGradient, worst_found};
use surefoot::margin::gradients;
use surefoot::{Action, Descent, Norm, Outcome, People, Problem, recourse, smallest_break};
use surefoot_paper::Reference;
use surefoot_paper::reference::SLACK;

#[test]
#[cfg_attr(without_reference, ignore = "the published answers are missing")]
fn linear_cases_agree_in_who_is_found_and_at_what_cost() {
    let reference = Reference::required();
    let names = reference.names("linear").unwrap();
    assert!(!names.is_empty(), "no linear case in {}", reference.as_ref().display());
    let mut answers = 0;
    // Per data set: answers, found, worst relative difference in cost.
    let mut table: BTreeMap<String, (usize, usize, f64)> = BTreeMap::new();
    for name in names {
        let case = reference.case(&name).unwrap();
        let problem = case.problem(&reference).unwrap();
        for published in &case.answers {
            let problem = problem.clone().with_safety(SLACK).unwrap();
            let problem = problem.with_uncertainty(Norm::L2, published.epsilon).unwrap();
            let outcomes = recourse(&problem, &case.people).unwrap();
            assert_eq!(outcomes.len(), published.cost.len());
            let row = table.entry(case.dataset.clone()).or_default();
            for (person, (outcome, published_cost)) in outcomes.iter().zip(&published.cost).enumerate() {
                let place = format!("{name}, epsilon {}, person {person}", published.epsilon);
                answers += 1;
                row.0 += 1;
                match (outcome, published_cost) {
                    (Outcome::Found(found), Some(cost)) => {
                        let difference = (found.cost - cost).abs() / cost;
                        assert!(difference <= 2e-4, "{place}: cost {} not {cost}", found.cost);
                        assert!(found.cost_bound <= found.cost && found.margin >= 0.0, "{place}");
                        row.1 += 1;
                        row.2 = row.2.max(difference);
                    }
                    (Outcome::Impossible(shortfall), None) => assert!(shortfall.missing > 0.0, "{place}"),
                    (outcome, cost) => panic!("{place}: {outcome:?}, published {cost:?}"),
                }
            }
        }
    }
    println!("data set   answers   found   worst difference in cost");
    for (dataset, (answers, found, worst)) in &table {
        println!("{dataset:<9} {answers:>8} {found:>7}   {worst:.1e}");
    }
    println!("{answers} published answers agree");
}

/// The first people of a network case, with Algorithm 1's answers to them.
fn attempted(
    reference: &Reference,
    name: &str,
    epsilon: f64,
    count: usize,
) -> (Problem, People, Vec<Option<Action>>) {
    let case = reference.case(name).unwrap();
    let problem = case.problem(reference).unwrap().with_uncertainty(Norm::L2, epsilon).unwrap();
    let first: Vec<usize> = (0..count.min(case.people.len())).collect();
    let people = case.people.select(&first).unwrap();
    let attempts = Descent::default().solve(&problem, &people).unwrap();
    let actions = attempts.iter().map(|a| a.candidate().map(|c| c.action.clone())).collect();
    (problem, people, actions)
}

/// One network of each data set, trained by plain empirical risk, whichever seeds are there.
fn networks(reference: &Reference) -> BTreeMap<String, String> {
    let names = reference.names("mlp").unwrap();
    let plain = names.into_iter().filter(|name| name.contains("_ERM_"));
    plain.map(|name| (name.split('_').next().unwrap().to_owned(), name)).collect()
}

/// Algorithm 1 finds whom the published implementation found, at its cost, and actions that
/// break where the published ones do.
#[test]
#[cfg_attr(without_reference, ignore = "the published answers are missing")]
fn network_cases_agree_with_algorithm_1() {
    let reference = Reference::required();
    for name in networks(&reference).values() {
        let case = reference.case(name).unwrap();
        for answers in case.answers.iter().filter(|answers| answers.epsilon == 0.1 || answers.epsilon == 0.0)
        {
            let (problem, people, actions) = attempted(&reference, name, answers.epsilon, 60);
            let published = &answers.cost[..people.len()];
            let both = || actions.iter().zip(published).filter_map(|(a, p)| Some((a.as_ref()?, p.as_ref()?)));
            let place = format!("{name}, epsilon {}", answers.epsilon);
            let (ours, theirs) = (actions.iter().flatten().count(), published.iter().flatten().count());
            assert!(ours + 2 >= theirs, "{place}: {ours} found, {theirs} published");
            let ours: f64 = both().map(|(action, _)| problem.cost().of(problem.features(), action)).sum();
            let theirs: f64 = both().map(|(_, cost)| cost).sum();
            assert!(ours <= 1.03 * theirs, "{place}: {ours} {theirs}");

            let found: Vec<usize> = (0..people.len()).filter(|&i| actions[i].is_some()).collect();
            let acted: Vec<Action> = actions.into_iter().flatten().collect();
            let breaks = smallest_break(&problem, &people.select(&found).unwrap(), &acted).unwrap();
            let median = |mut sizes: Vec<f64>| {
                sizes.sort_by(f64::total_cmp);
                sizes[sizes.len() / 2]
            };
            let ours = median(breaks.iter().map(|b| b.as_ref().unwrap().size).collect());
            let count = published.iter().flatten().count();
            let theirs = median(answers.smallest_break.as_ref().unwrap()[..count].to_vec());
            // Our attacks find somewhat smaller breaks for the same actions.
            assert!(ours / theirs > 0.8 && ours / theirs < 1.25, "{place}: {ours} {theirs}");
        }
    }
}

/// 10,000 random perturbations never do more harm than what projected gradient finds: on a
/// network of every data set and way of training, half of them of the full size.
#[test]
#[cfg_attr(without_reference, ignore = "the published answers are missing")]
fn no_random_perturbation_beats_projected_gradient() {
    const CLOUD: usize = 10_000;
    let reference = Reference::required();
    let mut networks = BTreeMap::new();
    for name in reference.names("mlp").unwrap() {
        let kind = name.rsplit_once('_').unwrap().0.to_owned();
        networks.entry(kind).or_insert(name);
    }
    let sizes = &mut ChaCha8Rng::seed_from_u64(78);
    for name in networks.values() {
        let epsilon = if sizes.random_bool(0.5) { 0.1 } else { 0.5 };
        let (problem, people, actions) = attempted(&reference, name, epsilon, 24);
        let found: Vec<usize> = (0..people.len()).filter(|&i| actions[i].is_some()).take(3).collect();
        let actions: Vec<Action> = found.iter().filter_map(|&i| actions[i].clone()).collect();
        let Ok(people) = people.select(&found) else { continue };
        let worst = worst_found(&problem, &people, &actions, &ProjectedGradient::default()).unwrap();
        let random = &mut ChaCha8Rng::seed_from_u64(77);
        for (i, action) in actions.iter().enumerate() {
            let many = people.select(&vec![i; CLOUD]).unwrap();
            // Sums of uniform numbers are as good as normal ones for a direction.
            let normal =
                |random: &mut ChaCha8Rng| (0..8).map(|_| random.random_range(-1.0..1.0)).sum::<f64>();
            let mut cloud = ndarray::Array2::from_shape_simple_fn((CLOUD, people.width()), || normal(random));
            for (k, mut row) in cloud.rows_mut().into_iter().enumerate() {
                let length = row.iter().map(|d| d * d).sum::<f64>().sqrt();
                let share = if k % 2 == 0 { 1.0 } else { random.random_range(0.0f64..1.0).sqrt() };
                row *= share * epsilon / length;
            }
            let change =
                ndarray::Array2::from_shape_fn((CLOUD, action.change.len()), |(_, k)| action.change[k]);
            let margins =
                gradients(&problem, &many, &action.features, change.view(), cloud.view()).unwrap().margin;
            let lowest = margins.iter().copied().fold(f64::INFINITY, f64::min);
            assert!(lowest >= worst[i].margin - 1e-6, "{name} {epsilon}: {lowest} {}", worst[i].margin);
        }
    }
}
