//! Steps, largest changes and limits on what is changed together: every multiple of the steps of every allowed set is
//! tried, and every proof is checked.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use surefoot::action::intervention_sets;
use surefoot::proof::Case;
use surefoot::recourse::{Settings, Solver};
use surefoot::verify::Verification;
use surefoot::{
    Action, Budget, Change, ChangeLimits, Classifier, Ensemble, Equation, Exact, Feature, Features, Kind,
    Outcome, People, Problem, SavedProof, Scm, Verdict, certify, essential, infeasibility, verify,
};
use surefoot_random::{ACTIVATIONS, network, one, uniform, with_settings};

/// The kinds of classifiers, each with a way of its own to prove.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Model {
    Linear,
    Network,
    Trees,
}

/// A feature with limits, and with a step, a largest change or both.
fn feature(random: &mut ChaCha8Rng, i: usize) -> Feature {
    let changes = [Change::Any, Change::Any, Change::Increase, Change::Decrease];
    let (mean, std) = one(random, &[(0.0, 1.0), (3.7, 1.5), (2400.0, 800.0), (0.35, 0.11)]);
    let feature = Feature::new(format!("x{i}")).change(one(random, &changes)).scaling(mean, std);
    let feature = feature.weight(one(random, &[1.0, 0.5, 2.3]));
    let mut feature = match random.random_range(0..4) {
        0 => {
            let (mean, std) = (4.3, 2.1);
            let feature = feature.kind(Kind::Integer).scaling(mean, std).limits(-2.0, 11.0);
            if random.random_bool(0.5) { feature.step(one(random, &[2.0, 3.0])) } else { feature }
        }
        1 => feature.limits(mean - 2.0 * std, mean + 2.3 * std),
        _ => {
            let step = one(random, &[0.4, 0.5, 0.7]) * std;
            let step: f64 = format!("{step:.2e}").parse().unwrap();
            feature.limits(mean - 2.0 * std, mean + 2.3 * std).step(step)
        }
    };
    if random.random_bool(0.4) {
        let most = one(random, &[0.7, 1.0, 1.6]) * feature.std;
        feature.most_change = if feature.kind == Kind::Integer { most.ceil() } else { most };
    }
    if random.random_bool(0.3) {
        feature = feature.most_change_share(one(random, &[0.2, 0.5, 1.0]));
    }
    feature
}

fn trees(random: &mut ChaCha8Rng, inputs: usize) -> Ensemble {
    let mut tree = || {
        let nodes: Vec<(usize, f64)> = (0..3)
            .map(|_| (random.random_range(0..inputs), f64::from(random.random_range(-10..=10)) / 10.0))
            .collect();
        let feature: Vec<usize> = nodes.iter().map(|node| node.0).chain([0; 4]).collect();
        let threshold: Vec<f64> = nodes.iter().map(|node| node.1).chain([0.0; 4]).collect();
        json!({"feature": feature, "threshold": threshold,
               "left": [1, 3, 5, -1, -1, -1, -1], "right": [2, 4, 6, -1, -1, -1, -1],
               "missing_left": vec![true; 7], "value": uniform(random, 7, -1.0..1.0), "within": {}})
    };
    let trees: Vec<Value> = (0..5).map(|_| tree()).collect();
    let document = json!({
        "format": "surefoot trees", "version": 1,
        "model": {
            "inputs": inputs, "single_inputs": false,
            "sum": {"single": false, "start": -0.4, "divisor": 1.0, "factor": 1.0, "shift": 0.0},
            "link": {"kind": "margin"}, "rule": {"compares": "sum", "strict": false},
            "trees": trees,
        },
    });
    Ensemble::from_bytes(document.to_string().as_bytes()).unwrap()
}

/// What is drawn beside steps and largest changes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Together {
    Anything,
    Limited,
}

/// Limits on what is changed together: a number, a list or both.
fn limits(random: &mut ChaCha8Rng, features: &Features) -> ChangeLimits {
    let groups = features.groups();
    let of_group = |i: usize| groups.iter().find(|group| group.columns.contains(&i));
    let mut names: Vec<String> = Vec::new();
    for i in 0..features.len() {
        let name = of_group(i).map_or_else(|| features.feature(i).name.clone(), |group| group.name.clone());
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let mut limits = ChangeLimits::none();
    let kind = random.random_range(0..3);
    if kind != 1 {
        limits = limits.with_most_changes(random.random_range(1..names.len())).unwrap();
    }
    if kind != 0 {
        let skipped = random.random_range(0..names.len());
        let few = names.iter().enumerate().filter(|(k, _)| names.len() == 2 || *k != skipped);
        let few: Vec<&str> = few.map(|(_, name)| name.as_str()).collect();
        limits = limits.with_one_of(features, &few).unwrap();
    }
    limits
}

/// Whether the features of a set may be named together.
fn is_allowed(problem: &Problem, set: &[usize]) -> bool {
    let group = |i: usize| problem.features().feature(i).group.clone();
    let mut things: Vec<usize> = Vec::new();
    for &i in set {
        if !things.iter().any(|&other| group(i).is_some() && group(other) == group(i)) {
            things.push(i);
        }
    }
    let limits = problem.change_limits();
    let is_in = |list: &[usize], thing: usize| {
        list.iter().any(|&i| i == thing || group(i).is_some() && group(i) == group(thing))
    };
    limits.most_changes().is_none_or(|most| things.len() <= most)
        && limits.one_of().iter().all(|list| things.iter().filter(|&&thing| is_in(list, thing)).count() <= 1)
}

/// Two to four features, or two and a group, with any model, with or without causes.
fn problem(random: &mut ChaCha8Rng, model: Model, together: Together) -> Problem {
    let mut inputs = random.random_range(2..=if model == Model::Linear { 4 } else { 3 });
    let mut features: Vec<Feature> = (0..inputs).map(|i| feature(random, i)).collect();
    if together == Together::Limited && inputs == 2 && random.random_bool(0.5) {
        let column = |name: &str, weight: f64| {
            Feature::new(name).scaling(0.4, 0.49).group("job").change(Change::Any).weight(weight)
        };
        features.splice(0..0, [column("clerk", 0.3), column("cook", 0.4), column("king", 0.5)]);
        inputs = 5;
    }
    let features = Features::new(features).unwrap();
    let classifier = match model {
        Model::Linear => {
            Classifier::linear(uniform(random, inputs, -0.3..1.0), random.random_range(-1.2..0.0), 0.5)
                .unwrap()
        }
        Model::Network => {
            let activation = one(random, &ACTIVATIONS);
            Classifier::network(network(random, &[inputs, 6, 1], activation, 0.9), 0.55).unwrap()
        }
        Model::Trees => Classifier::trees(trees(random, inputs).over(&features, true).unwrap(), 0.5).unwrap(),
    };
    let problem = Problem::new(features.clone(), classifier).unwrap();
    let problem = with_settings(random, problem, &[0.1, 0.0]);
    let problem = match together {
        Together::Anything => problem,
        Together::Limited => problem.with_change_limits(limits(random, &features)).unwrap(),
    };
    let last = features.names()[inputs - 1].clone();
    match random.random_range(0..3) {
        0 => problem,
        // An integer feature that follows takes any value, and the limits hold for it as well.
        _ => {
            let causes = ["x0"];
            let equation = Equation::linear(&causes, uniform(random, 1, -0.8..0.8), 0.1);
            let scm = Scm::new(&features, vec![(&last, equation)]).unwrap();
            problem.with_causal_model(scm).unwrap()
        }
    }
}

/// Somebody within the limits.
fn person(random: &mut ChaCha8Rng, features: &Features) -> Vec<f64> {
    let chosen = random.random_range(0..3);
    let mut column = 0;
    let value = |feature: &Feature| {
        if feature.group.is_some() {
            column += 1;
            return if column == chosen + 1 { 1.0 } else { 0.0 };
        }
        let share = random.random_range(0.2..0.8);
        let value = feature.lower + share * (feature.upper - feature.lower);
        if feature.kind == Kind::Integer { value.round() } else { value }
    };
    features.iter().map(value).collect()
}

/// The changes, in own units, that a feature may make: all of them, or some of those of a real feature without a
/// step.
fn changes(feature: &Feature, own: f64) -> Vec<f64> {
    let step = match (feature.step, feature.kind) {
        (Some(step), _) => step,
        (None, Kind::Real) => feature.std * 0.31,
        (None, _) => 1.0,
    };
    let most = feature.most_change.min(feature.most_change_share * own.abs());
    let is_allowed = |&by: &f64| {
        let direction = match feature.change {
            Change::Fixed => by == 0.0,
            Change::Any => true,
            Change::Increase => by >= 0.0,
            Change::Decrease => by <= 0.0,
        };
        let slack = 1e-12 * (feature.mean.abs() + own.abs() + by.abs());
        let is_within = own + by >= feature.lower - slack && own + by <= feature.upper + slack;
        direction && by.abs() <= most + slack && (is_within || by == 0.0)
    };
    (-40..=40).map(|k| f64::from(k) * step).filter(is_allowed).collect()
}

/// Every feasible action on every set of things that may be named together.
fn all_actions(problem: &Problem, own: &[f64]) -> Vec<Action> {
    let features = problem.features();
    let mut actions = Vec::new();
    for set in intervention_sets(features, true).unwrap().iter().filter(|set| is_allowed(problem, set)) {
        let mut partial = vec![Vec::new()];
        let mut rest = set.clone();
        while let Some(&i) = rest.first() {
            let feature = features.feature(i);
            let size = rest
                .iter()
                .filter(|&&j| j == i || feature.group.is_some() && features.feature(j).group == feature.group)
                .count();
            let unit: Vec<usize> = rest.drain(..size).collect();
            let moves: Vec<Vec<f64>> = match size {
                1 => changes(feature, own[i]).into_iter().map(|by| vec![by]).collect(),
                _ => unit
                    .iter()
                    .map(|&to| unit.iter().map(|&j| f64::from(u8::from(j == to)) - own[j]).collect())
                    .collect(),
            };
            let longer = |some: &Vec<f64>| {
                let with = |by: &Vec<f64>| {
                    let by: Vec<f64> =
                        by.iter().zip(&unit).map(|(by, &j)| by / features.feature(j).std).collect();
                    [&some[..], &by].concat()
                };
                moves.iter().map(with).collect::<Vec<_>>()
            };
            partial = partial.iter().flat_map(longer).collect();
        }
        actions.extend(partial.into_iter().map(|change| Action { features: set.clone(), change }));
    }
    actions
}

/// Whether every allowed set of features is free in one of the cases.
fn is_covered(problem: &Problem, cases: &[Case]) -> bool {
    let sets = intervention_sets(problem.features(), true).unwrap();
    let mut sets = sets.iter().filter(|set| is_allowed(problem, set));
    sets.all(|set| cases.iter().any(|case| set.iter().all(|i| !case.fixed.contains(i))))
}

/// The same problem without steps, largest changes and limits.
fn twin(problem: &Problem) -> Problem {
    let plain = |feature: &Feature| Feature {
        kind: Kind::Real,
        step: None,
        most_change: f64::INFINITY,
        most_change_share: f64::INFINITY,
        lower: f64::NEG_INFINITY,
        upper: f64::INFINITY,
        change: Change::Any,
        group: None,
        ..feature.clone()
    };
    let features = Features::new(problem.features().iter().map(plain).collect()).unwrap();
    let twin = Problem::new(features.clone(), problem.classifier().clone()).unwrap();
    let twin = twin.with_uncertainty(problem.norm().clone(), problem.epsilon()).unwrap();
    let twin = twin.with_action_kind(problem.action_kind()).with_cost(problem.cost());
    let Some(scm) = problem.scm() else { return twin };
    let last = features.len() - 1;
    let coefficient = scm.coefficients().unwrap()[[last, features.index("x0").unwrap()]];
    let name = &features.names()[last];
    let equation = Equation::linear(&["x0"], vec![coefficient], 0.1);
    twin.with_causal_model(Scm::new(&features, vec![(name, equation)]).unwrap()).unwrap()
}

/// Whether an action holds with room: by the closed form of a problem without steps or by a certificate.
fn holds(twin: &Problem, exact: Option<&Exact<'_>>, x: &[f64], action: &Action) -> bool {
    match exact {
        Some(exact) => exact.worst_case(x, action).unwrap().margin > 1e-8,
        None => {
            let verdict = certify(twin, x, action, Budget { evaluations: 400 }).unwrap().verdict;
            matches!(verdict, Verdict::Holds { margin } if margin > 1e-8)
        }
    }
}

/// Whether somebody ends up within the limits of what follows from an action, as the definition has it.
fn is_met(problem: &Problem, x: &[f64], action: &Action) -> bool {
    let reached = surefoot::margin::counterfactual(problem, x, action, &vec![0.0; x.len()]).unwrap();
    problem.features().iter().enumerate().all(|(i, feature)| {
        let value = feature.own_units(reached[i]);
        let slack = 1e-9 * (1.0 + value.abs());
        action.features.contains(&i)
            || reached[i] == x[i]
            || value >= feature.lower + slack && value <= feature.upper - slack
    })
}

/// Whether an action found changes every feature by a multiple of its step, by no more than its largest change.
fn respects(problem: &Problem, own: &[f64], action: &Action) -> bool {
    action.features.iter().zip(&action.change).all(|(&i, change)| {
        let feature = problem.features().feature(i);
        let by = change * feature.std;
        if feature.step.is_none() && feature.kind == Kind::Real {
            let most = feature.most_change.min(feature.most_change_share * own[i].abs());
            let to = own[i] + by;
            let slack = 1e-12 * (feature.mean.abs() + own[i].abs() + by.abs());
            return by.abs() <= most + slack && to >= feature.lower - slack && to <= feature.upper + slack;
        }
        if feature.group.is_some() {
            return [-1.0, 0.0, 1.0].iter().any(|step| (step - by).abs() < 1e-12);
        }
        changes(feature, own[i]).iter().any(|other| (other - by).abs() <= 1e-11 * by.abs())
    })
}

fn brute_force(model: Model, together: Together, rounds: u64) {
    let (mut found, mut impossible, mut undecided, mut tried, mut optima) = (0, 0, 0, 0, 0);
    let (mut divided, mut narrowed) = (0, 0);
    for round in 0..rounds {
        let random = &mut ChaCha8Rng::seed_from_u64(round);
        let problem = problem(random, model, together);
        let twin = twin(&problem);
        let exact = (model == Model::Linear).then(|| Exact::new(&twin).unwrap());
        let own = person(random, problem.features());
        let people = People::from_own_units(problem.features(), &[&own]).unwrap();
        let x = people.individual(0);
        let solver = Solver::new(&problem, Settings::default()).unwrap();
        let proof = solver.prove(x).unwrap();
        let outcome = solver.solve(x).unwrap();
        assert_eq!(outcome.status(), proof.outcome.status(), "{round}");
        let saved = SavedProof::from_json(&proof.to_json(&problem, x)).unwrap();
        let checked = verify(&problem, &saved).unwrap();
        assert!(checked.is_verified(), "{round}: {checked:?} {:?}", proof.outcome);
        divided += u64::from(!saved.cases.is_empty());
        // No case can be left out, unless the others contain its actions.
        for k in 0..saved.cases.len() {
            let mut less = saved.clone();
            let case = less.cases.remove(k);
            let verdict = verify(&problem, &less).unwrap();
            let is_contained = !less.cases.is_empty() && verdict.is_verified();
            narrowed += u64::from(!is_contained);
            assert!(
                is_contained || matches!(verdict, Verification::Wrong(_) | Verification::Unverified(_)),
                "{round}: {case:?} {verdict:?}"
            );
            if is_contained {
                assert!(is_covered(&problem, &less.cases), "{round}: {less:?}");
            }
        }
        match &outcome {
            Outcome::AlreadyFavourable => continue,
            Outcome::Found(answer) => {
                found += 1;
                assert!(respects(&problem, &own, &answer.action), "{round}: {answer:?}");
                assert!(
                    is_allowed(&problem, &essential(&problem, &answer.action).features),
                    "{round}: {answer:?}"
                );
                assert_eq!(infeasibility(&problem, x, &answer.action).unwrap(), None, "{round}");
                let verdict = certify(&problem, x, &answer.action, Budget::default()).unwrap().verdict;
                assert!(matches!(verdict, Verdict::Holds { .. }), "{round}: {verdict:?}");
            }
            Outcome::Impossible(_) => impossible += 1,
            Outcome::Undecided(_) => undecided += 1,
            Outcome::Unproved(candidate) => panic!("{round}: {candidate:?}"),
        }
        let mut best = f64::INFINITY;
        let bound = outcome.cost_bound().max(proof.outcome.cost_bound());
        let mut actions = all_actions(&problem, &own);
        let cost = |action: &Action| problem.cost().of(problem.features(), action);
        actions.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
        // Nothing cheaper than the bound holds, and nothing more expensive than the first that does is needed.
        for action in actions.iter().filter(|action| is_met(&problem, x, action)) {
            tried += 1;
            if holds(&twin, exact.as_ref(), x, action) {
                best = cost(action);
                break;
            }
            if model != Model::Linear && cost(action) > 1.02 * bound {
                break;
            }
        }
        assert!(bound <= best * (1.0 + 1e-9), "{round}: {best} {outcome:?}");
        if let Some(answer) = outcome.recourse().filter(|_| best.is_finite()) {
            optima += 1;
            assert!(answer.cost <= best / 0.985, "{round}: {best} {answer:?}");
        }
    }
    let counts = (found, impossible, undecided, tried, optima, divided, narrowed);
    assert_eq!(divided > rounds / 12 && narrowed > rounds / 8, together == Together::Limited, "{counts:?}");
    assert!(found > rounds / 8 && impossible > rounds / 10, "{counts:?}");
    assert!(undecided <= rounds / 20 && optima > rounds / 10 && tried > 10 * rounds, "{counts:?}");
}

#[test]
fn multiples_of_steps_of_linear_problems_agree_with_an_enumeration() {
    brute_force(Model::Linear, Together::Anything, 300);
}

#[test]
fn multiples_of_steps_of_networks_agree_with_an_enumeration() {
    brute_force(Model::Network, Together::Anything, 200);
}

#[test]
fn multiples_of_steps_of_trees_agree_with_an_enumeration() {
    brute_force(Model::Trees, Together::Anything, 120);
}

#[test]
fn what_linear_problems_change_together_agrees_with_an_enumeration() {
    brute_force(Model::Linear, Together::Limited, 400);
}

#[test]
fn what_networks_change_together_agrees_with_an_enumeration() {
    brute_force(Model::Network, Together::Limited, 200);
}

#[test]
fn what_trees_change_together_agrees_with_an_enumeration() {
    brute_force(Model::Trees, Together::Limited, 200);
}
