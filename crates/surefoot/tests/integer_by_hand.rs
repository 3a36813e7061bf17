//! Integer values, categories, constraints and several options: answers by hand.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefoot::error::{CausalModelError, SettingError};
use surefoot::verify::{Fault, Verification, verify};
use surefoot::{
    Change, Classifier, Complete, Constraint, Cost, Equation, Error, Exact, Feature, Features, Forbidden,
    Kind, Norm, Outcome, People, Problem, Recourse, Scm, recourse,
};
use surefoot_random::one;

/// Score = hours + degree - 3.5, both whole, from (0, 0).
fn small(hours: Feature, degree: Feature) -> Problem {
    let features = Features::new(vec![hours, degree]).unwrap();
    Problem::new(features, Classifier::linear(vec![1.0, 1.0], -3.5, 0.5).unwrap()).unwrap()
}

fn hours() -> Feature {
    Feature::new("hours").kind(Kind::Integer).change(Change::Increase)
}

fn degree() -> Feature {
    Feature::new("degree").kind(Kind::Integer).change(Change::Increase).weight(1.5)
}

/// The changes and the cost of the answer for somebody at zero.
fn solved(problem: &Problem) -> Option<(Vec<f64>, f64)> {
    let people = People::from_own_units(problem.features(), &[vec![0.0; problem.features().len()]]).unwrap();
    let outcomes = recourse(problem, &people).unwrap();
    let answer = outcomes[0].recourse()?;
    assert!(answer.cost_bound > 0.98 * answer.cost);
    let reached = problem.features().own_units(&answer.counterfactual);
    Some((reached, answer.cost))
}

#[test]
fn whole_answers_by_hand() {
    // 3.5 would do; 4 is the next.
    assert_eq!(solved(&small(hours(), degree())), Some((vec![4.0, 0.0], 4.0)));
    // Three at most, and a half must come from elsewhere.
    let limited = || hours().limits(0.0, 3.9);
    assert_eq!(solved(&small(limited(), degree())), Some((vec![3.0, 1.0], 4.5)));
    assert_eq!(solved(&small(limited(), degree().kind(Kind::Real).weight(4.0))).unwrap().0[0], 3.0);
    assert_eq!(solved(&small(limited(), degree().limits(0.0, 0.9))), None);

    let problem = small(hours(), degree());
    let with = |rule: &str| {
        let rule = Constraint::parse(problem.features(), rule).unwrap();
        solved(&problem.clone().with_constraints(vec![rule]).unwrap())
    };
    assert_eq!(with("hours <= degree"), Some((vec![2.0, 2.0], 5.0)));
    assert_eq!(with("hours <= 2 * degree"), Some((vec![2.0, 2.0], 5.0)));
    assert_eq!(with("hours + degree >= 5.5"), Some((vec![6.0, 0.0], 6.0)));
    assert_eq!(with("hours + degree <= 3.9"), None);
    let forbid = |from: &[f64], to: &[f64]| {
        let forbidden = Forbidden::values(problem.features(), "hours", from, to).unwrap();
        solved(&problem.clone().with_forbidden(vec![forbidden]).unwrap())
    };
    assert_eq!(forbid(&[0.0], &[4.0]), Some((vec![3.0, 1.0], 4.5)));
    assert_eq!(forbid(&[1.0], &[4.0]), Some((vec![4.0, 0.0], 4.0)));
    assert_eq!(forbid(&[0.0], &[]), Some((vec![0.0, 4.0], 6.0)));
}

#[test]
fn whole_values_without_limits_are_proven_and_checked() {
    for (rules, limit, cost) in [
        (&[][..], f64::INFINITY, Some(6.0 / 0.3)),
        (&["hours <= 2 * degree"][..], f64::INFINITY, Some((4.0 + 1.5 * 2.0) / 0.3)),
        (&["hours <= 0", "degree <= 5"][..], f64::INFINITY, None),
        // Every action meets the one or survives the other; none does both.
        (&["hours + degree <= 3"][..], 2000.0, None),
        (&["hours + degree <= 3"][..], f64::INFINITY, None),
    ] {
        let any = |feature: Feature| feature.change(Change::Any).scaling(0.2, 0.3).limits(-limit, limit);
        let features = Features::new(vec![any(hours()), any(degree())]).unwrap();
        let classifier = Classifier::linear_in_own_units(&features, &[1.0, 1.0], -5.5, 0.5).unwrap();
        let rules = rules.iter().map(|rule| Constraint::parse(&features, rule).unwrap()).collect();
        let problem = Problem::new(features, classifier).unwrap().with_constraints(rules).unwrap();
        let people = People::from_own_units(problem.features(), &[[0.0, 0.0]]).unwrap();
        let proof = Complete::new(&problem).unwrap().prove(people.individual(0)).unwrap();
        match (&proof.outcome, cost) {
            (Outcome::Found(answer), Some(cost)) => assert!((answer.cost - cost).abs() < 1e-9, "{answer:?}"),
            (Outcome::Impossible(_), None) => {}
            other => panic!("{other:?}"),
        }
        let checked = verify(&problem, &proof.saved(&problem, people.individual(0))).unwrap();
        assert!(checked.is_verified(), "{checked:?}");
    }
}

#[test]
fn what_nothing_may_meet_is_told_so() {
    let problem = small(hours(), degree());
    let rule = Constraint::parse(problem.features(), "hours <= -1").unwrap();
    let problem = problem.with_constraints(vec![rule]).unwrap();
    let people = People::from_own_units(problem.features(), &[[0.0, 0.0]]).unwrap();
    let outcome = &recourse(&problem, &people).unwrap()[0];
    let words = surefoot::describe(&problem, people.individual(0), outcome).unwrap();
    assert_eq!(words, "There is no feasible action that leads to a favourable decision.");
}

/// Score of a job: clerk 0, cook 1, king 3; almost two are needed.
fn jobs() -> Problem {
    let job = |name: &str| Feature::new(name).group("job").change(Change::Any);
    let features = vec![job("clerk"), job("cook"), job("king"), degree().weight(3.0).limits(0.0, 1.0)];
    let classifier = Classifier::linear(vec![0.0, 1.0, 3.0, 1.0], -1.9, 0.5).unwrap();
    Problem::new(Features::new(features).unwrap(), classifier).unwrap()
}

#[test]
fn categories_by_hand() {
    let answer = |problem: &Problem| {
        let people = People::from_own_units(problem.features(), &[[1.0, 0.0, 0.0, 0.0]]).unwrap();
        let outcome = recourse(problem, &people).unwrap().remove(0);
        let words = surefoot::describe(problem, people.individual(0), &outcome).unwrap();
        (outcome.recourse().map(|answer| (answer.counterfactual.clone(), answer.cost)), words)
    };
    let problem = jobs();
    let (found, words) = answer(&problem);
    assert_eq!(found, Some((vec![0.0, 0.0, 1.0, 0.0], 2.0)));
    assert!(words.starts_with("Change job from clerk to king. This works"), "{words}");
    let forbidden = Forbidden::categories(problem.features(), "job", &["clerk"], &["king"]).unwrap();
    let (found, words) = answer(&problem.clone().with_forbidden(vec![forbidden]).unwrap());
    assert_eq!(found, Some((vec![0.0, 1.0, 0.0, 1.0], 5.0)));
    assert!(
        words.starts_with("Raise degree by 1 (from 0 to 1) and change job from clerk to cook."),
        "{words}"
    );
    let forbidden = Forbidden::categories(problem.features(), "job", &["clerk"], &[]).unwrap();
    assert_eq!(answer(&problem.clone().with_forbidden(vec![forbidden]).unwrap()).0, None);
}

#[test]
fn methods_for_real_features_say_so() {
    let problem = small(hours(), degree());
    let exact = Exact::new(&problem).unwrap();
    assert!(matches!(
        surefoot::theory::existence(&exact),
        Err(Error::Setting(SettingError::NotContinuous { .. }))
    ));
    let people = People::from_own_units(problem.features(), &[[0.0, 0.0]]).unwrap();
    let error = surefoot::Descent::default().solve(&problem, &people).unwrap_err().to_string();
    assert!(error.contains("`hours` is integer") && error.contains("method `auto`"), "{error}");
    let real = small(hours().kind(Kind::Real), degree().kind(Kind::Real));
    let rule = Constraint::parse(real.features(), "hours >= degree").unwrap();
    let problem = real.with_constraints(vec![rule]).unwrap();
    let error = surefoot::theory::existence(&Exact::new(&problem).unwrap()).unwrap_err().to_string();
    assert!(error.contains("`hours >= degree`"), "{error}");
}

#[test]
fn no_action_changes_a_category_by_half() {
    let member = Feature::new("member").kind(Kind::Binary);
    let features = Features::new(vec![hours(), member]).unwrap();
    let scm = Scm::new(&features, vec![("member", Equation::linear(&["hours"], vec![0.1], 0.0))]).unwrap();
    let problem = Problem::new(features, Classifier::linear(vec![1.0, 1.0], -3.0, 0.5).unwrap()).unwrap();
    let error = problem.with_causal_model(scm).unwrap_err();
    assert!(
        matches!(&error, Error::CausalModel(CausalModelError::CategoryFollows { feature, cause }) if feature == "member" && cause == "hours")
    );
}

fn wrong(problem: &Problem, saved: &surefoot::SavedProof) -> Fault {
    match verify(problem, saved).unwrap() {
        Verification::Wrong(fault) => fault,
        other => panic!("{other:?}"),
    }
}

#[test]
fn boxes_must_hold_every_whole_value_and_nothing_between() {
    let features =
        Features::new(vec![hours().scaling(0.3, 0.7).limits(0.0, 3.0), degree().change(Change::Fixed)]);
    let classifier = Classifier::linear(vec![1.0, 1.0], -9.0, 0.5).unwrap();
    let problem = Problem::new(features.unwrap(), classifier).unwrap();
    let people = People::from_own_units(problem.features(), &[[0.0, 0.0]]).unwrap();
    let proof = Complete::new(&problem).unwrap().prove(people.individual(0)).unwrap();
    assert!(matches!(proof.outcome, Outcome::Impossible(_)));
    let mut saved = proof.saved(&problem, people.individual(0));
    let part = saved.ruled_out[0].clone();
    assert_eq!((&part.lower[..], &part.upper[..]), (&[0.0][..], &[3.0 / 0.7][..]));
    // Two boxes with nothing between them but fractions are enough ...
    let (mut below, mut above) = (part.clone(), part.clone());
    (below.upper[0], above.lower[0]) = (1.2 / 0.7, 1.9 / 0.7);
    saved.ruled_out = vec![below.clone(), above.clone()];
    assert!(verify(&problem, &saved).unwrap().is_verified());
    // ... and with a whole number between them are not.
    above.lower[0] = 2.1 / 0.7;
    saved.ruled_out = vec![below.clone(), above.clone()];
    assert!(
        matches!(wrong(&problem, &saved), Fault::ActionsNotCovered { lower, upper, .. } if lower == upper)
    );
    (above.lower[0], above.upper[0]) = (2.0 / 0.7, 2.9 / 0.7);
    saved.ruled_out = vec![below, above];
    assert!(matches!(wrong(&problem, &saved), Fault::ActionsNotCovered { .. }));
}

/// The cheapest cost for every set of features that may change, by the exact method.
fn costs(features: &[Feature], build: &dyn Fn(Vec<Feature>) -> Problem, x: &[f64]) -> Vec<(u32, f64)> {
    let masks = 1..1u32 << features.len();
    let cost = |mask: u32| {
        let fixed = |(i, feature): (usize, &Feature)| match mask >> i & 1 {
            0 => feature.clone().change(Change::Fixed),
            _ => feature.clone(),
        };
        let problem = build(features.iter().enumerate().map(fixed).collect());
        let outcome = Exact::new(&problem).unwrap().solve(x).unwrap();
        outcome.recourse().map_or(f64::INFINITY, |answer| answer.cost)
    };
    masks.map(|mask| (mask, cost(mask))).collect()
}

/// The features that an option changes, without dispensable changes: those of less than a twentieth of the
/// effort without which the cheapest action costs at most a twentieth more.
fn core(features: &[Feature], option: &Recourse, costs: &[(u32, f64)]) -> u32 {
    let changes = option.action.features.iter().zip(&option.action.change);
    let mut efforts: Vec<(f64, u32)> =
        changes.map(|(&i, change)| (features[i].weight * change.abs(), 1 << i)).collect();
    efforts.retain(|(effort, _)| *effort > 0.0);
    efforts.sort_by(|a, b| a.0.total_cmp(&b.0));
    let all: f64 = efforts.iter().map(|(effort, _)| effort).sum();
    let mut core = efforts.iter().fold(0, |core, (_, bit)| core | bit);
    for (_, dispensable) in efforts.iter().filter(|(effort, _)| *effort < 0.05 * all) {
        let rest = core & !dispensable;
        if costs.iter().any(|(mask, cost)| *mask == rest && *cost <= 1.05 * option.cost) {
            core = rest;
        }
    }
    core
}

#[test]
fn options_change_different_things_the_cheapest_first() {
    let random = &mut ChaCha8Rng::seed_from_u64(8);
    let mut several = 0;
    for round in 0..60 {
        let weights: Vec<f64> = (0..4).map(|_| random.random_range(0.2..1.0)).collect();
        let gains: Vec<f64> = (0..4).map(|_| random.random_range(-1.0..1.0)).collect();
        let reaches: [f64; 4] = std::array::from_fn(|_| one(random, &[0.8, 2.0, f64::INFINITY]));
        let is_causal = random.random_bool(0.5);
        let feature = |i: usize| {
            let reach = reaches[i];
            Feature::new(format!("x{i}")).weight(weights[i]).change(Change::Any).limits(-reach, reach)
        };
        let features: Vec<Feature> = (0..4).map(feature).collect();
        let build = |features: Vec<Feature>| {
            let features = Features::new(features).unwrap();
            let problem =
                Problem::new(features.clone(), Classifier::linear(gains.clone(), -1.5, 0.5).unwrap())
                    .unwrap();
            let problem = problem.with_uncertainty(Norm::L2, 0.1).unwrap();
            if !is_causal {
                return problem;
            }
            let equations = vec![
                ("x1", Equation::linear(&["x0"], vec![0.8], 0.0)),
                ("x3", Equation::linear(&["x1", "x2"], vec![-0.5, 0.7], 0.0)),
            ];
            problem.with_causal_model(Scm::new(&features, equations).unwrap()).unwrap()
        };
        let problem = build(features.clone());
        let people = People::from_own_units(problem.features(), &[[0.0; 4]]).unwrap();
        let options = surefoot::recourse_options(&problem, &people, 4).unwrap().remove(0);
        let costs = costs(&features, &build, &[0.0; 4]);
        let mut before: Vec<u32> = Vec::new();
        for option in &options {
            let Some(option) = option.recourse() else { break };
            // Nothing that is not more of the same is cheaper.
            let allowed = |(mask, _): &&(u32, f64)| before.iter().all(|before| mask & before != *before);
            let least = costs.iter().filter(allowed).map(|(_, cost)| *cost).fold(f64::INFINITY, f64::min);
            assert!((option.cost - least).abs() <= 1e-9 * least, "{round}: {} {least}", option.cost);
            let is_tight =
                option.cost_bound <= option.cost && option.cost_bound >= option.cost * (1.0 - 1e-6);
            assert!(is_tight, "{round}: {option:?}");
            let changes = option.action.features.iter().zip(&option.action.change);
            let mask = changes.filter(|(_, c)| **c != 0.0).fold(0, |mask, (&i, _)| mask | 1 << i);
            assert!(before.iter().all(|before| mask & before != *before), "{round}");
            before.push(core(&features, option, &costs));
        }
        let left = costs
            .iter()
            .filter(|(mask, cost)| cost.is_finite() && before.iter().all(|before| mask & before != *before));
        let left: Vec<_> = left.collect();
        assert!(before.len() == 4 || left.is_empty(), "{round}: {before:?} {left:?} {options:?}");
        several += usize::from(before.len() > 2);
    }
    assert!(several > 15, "{several}");
}

/// Preparing for many columns took time to the fourth power, whatever the graph.
#[test]
fn hundreds_of_categories_are_quick() {
    let random = &mut ChaCha8Rng::seed_from_u64(3);
    let count = 600;
    let gains: Vec<f64> = (0..count).map(|_| random.random_range(-0.5..0.5)).collect();
    let mut features = vec![Feature::new("income").change(Change::Increase).limits(-3.0, 3.0)];
    let town = |k: usize| Feature::new(format!("town{k}")).group("town").weight(0.3).change(Change::Any);
    features.extend((0..count).map(town));
    let mut weights = vec![0.5];
    weights.extend(&gains);
    let classifier = Classifier::linear(weights, -1.5, 0.5).unwrap();
    let problem = Problem::new(Features::new(features).unwrap(), classifier).unwrap();
    let mut own = vec![0.0; count + 1];
    own[4] = 1.0;
    let people = People::from_own_units(problem.features(), &[own]).unwrap();
    let started = std::time::Instant::now();
    let outcome = recourse(&problem, &people).unwrap().remove(0);
    let seconds = started.elapsed().as_secs_f64();
    // To stay, or to move and raise income by what is missing then.
    let raise = |gained: f64| (1.5 - gains[3] - gained) / 0.5;
    let moved = (0..count).filter(|&k| k != 3).map(|k| (raise(gains[k] - gains[3]), 0.6));
    let all = moved.chain([(raise(0.0), 0.0)]).filter(|(raise, _)| *raise <= 3.0);
    let least = all.map(|(raise, moving)| raise.max(0.0) + moving).fold(f64::INFINITY, f64::min);
    let cost = outcome.recourse().map_or(f64::INFINITY, |found| found.cost);
    assert!((cost - least).abs() < 1e-6, "{cost} {least}");
    assert!(seconds < 5.0, "{seconds}");
}

/// With l2 cost the cheapest action changes everything a little.
#[test]
fn an_option_without_a_dispensable_change_is_no_other_option() {
    let problem = |gains: &[f64]| {
        let feature = |i: usize| Feature::new(format!("x{i}")).change(Change::Any);
        let features = Features::new((0..gains.len()).map(feature).collect()).unwrap();
        let classifier = Classifier::linear(gains.to_vec(), -1.0, 0.5).unwrap();
        Problem::new(features, classifier).unwrap().with_cost(Cost::L2)
    };
    let options = |gains: &[f64]| -> Vec<(f64, Vec<usize>, Vec<f64>)> {
        let problem = problem(gains);
        let people = People::from_own_units(problem.features(), &[vec![0.0; gains.len()]]).unwrap();
        let found = surefoot::recourse_options(&problem, &people, 4).unwrap().remove(0);
        let option = |outcome: &Outcome| {
            let Recourse { action, cost, .. } = outcome.recourse().unwrap();
            let (changed, change) =
                action.features.iter().zip(&action.change).filter(|(_, c)| **c != 0.0).unzip();
            (*cost, changed, change)
        };
        found.iter().map(option).collect()
    };
    let sets: Vec<Vec<usize>> = options(&[1.0, 0.01, 0.4]).into_iter().map(|(_, set, _)| set).collect();
    // Not [0, 2]: that is the first without a dispensable change. What matters of the others is [0] and [2].
    assert_eq!(sets, [vec![0, 1, 2], vec![0, 1], vec![1, 2], vec![1]]);

    let random = &mut ChaCha8Rng::seed_from_u64(9);
    let mut pairs = 0;
    for round in 0..60 {
        let gains: Vec<f64> = (0..4).map(|_| random.random_range(-1.0f64..1.0).powi(3)).collect();
        let options = options(&gains);
        for (k, (dearer, smaller, _)) in options.iter().enumerate() {
            for (cost, larger, change) in &options[..k] {
                let effort: f64 = change.iter().map(|c| c.abs()).sum();
                let gone = larger.iter().zip(change).filter(|(i, _)| !smaller.contains(i));
                let are_dispensable = gone.into_iter().all(|(_, c)| c.abs() < 0.05 * effort);
                let is_same = smaller.iter().all(|i| larger.contains(i)) && *dearer <= 1.05 * cost;
                assert!(!(are_dispensable && is_same), "{round}: {gains:?} {options:?}");
                pairs += 1;
            }
        }
    }
    assert!(pairs > 100, "{pairs}");
}

#[test]
fn options_of_whole_values_are_proven_and_told() {
    let problem = jobs();
    let people = People::from_own_units(problem.features(), &[[0.0, 1.0, 0.0, 0.0]]).unwrap();
    let options = surefoot::recourse_options(&problem, &people, 5).unwrap().remove(0);
    let told = surefoot::describe_options(&problem, people.individual(0), &options).unwrap();
    assert_eq!(
        told,
        "Each of these alone is enough, the cheapest first:\n1. Change job from cook to king. Effort 2.000.\n\
         2. Raise degree by 1 (from 0 to 1). Effort 3.000.\nEach works if nothing else changes. That is proven."
    );
    assert!(surefoot::recourse_options(&problem, &people, 0).is_err());
}

#[test]
fn words_are_rounded_within_the_constraints() {
    let features =
        Features::new(vec![Feature::new("income").scaling(3000.0, 1500.0).change(Change::Any)]).unwrap();
    let rule = Constraint::parse(&features, "income <= 3333.333333").unwrap();
    let classifier = Classifier::linear(vec![1.0], -0.222_222_1, 0.5).unwrap();
    let problem = Problem::new(features, classifier).unwrap().with_constraints(vec![rule]).unwrap();
    let people = People::from_own_units(problem.features(), &[[2000.0]]).unwrap();
    let outcome = &recourse(&problem, &people).unwrap()[0];
    let words = surefoot::describe(&problem, people.individual(0), outcome).unwrap();
    let told: f64 =
        words.split(" to ").nth(1).and_then(|rest| rest.split(')').next()).unwrap().parse().unwrap();
    assert!(told > 3333.3 && told <= 3_333.333_333, "{words}");
}
