//! Integer values, one-hot groups, constraints and forbidden transitions: every whole-valued action
//! is tried, and every proof is checked.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefoot::action::intervention_sets;
use surefoot::margin::counterfactual;
use surefoot::verify::{Fault, Verification, verify};
use surefoot::{
    Action, Budget, Change, Classifier, Complete, Constraint, Cost, Equation, Exact, Feature, Features,
    Forbidden, Kind, Norm, Outcome, People, Problem, Scm, Verdict, certify,
};
use surefoot_random::{ACTIVATIONS, network, one, uniform, with_settings};

const AGE: usize = 0;
const CHILDREN: usize = 1;
const JOBS: [usize; 3] = [2, 3, 4];
const INCOME: usize = 5;
const DEBT: usize = 6;

/// Settings that are checked by hand in every test, drawn independently of each other.
struct Setting {
    age: Change,
    income: Change,
    king: Change,
    /// The rules, which `meets` evaluates once more.
    rules: &'static [Rule],
    /// Which transitions are forbidden: see `is_forbidden`.
    forbidden: usize,
    causes: usize,
}

fn draw(random: &mut ChaCha8Rng) -> Setting {
    use Change::{Any, Fixed, Increase};
    Setting {
        age: one(random, &[Any, Increase, Fixed]),
        income: one(random, &[Fixed, Increase]),
        king: one(random, &[Fixed, Increase, Increase, Increase]),
        rules: one(random, &RULES),
        forbidden: random.random_range(0..3),
        causes: random.random_range(0..4),
    }
}

fn features(setting: &Setting) -> Features {
    let job = |name: &str, mean: f64| Feature::new(name).scaling(mean, 0.47).group("job").change(Change::Any);
    Features::new(vec![
        Feature::new("age").kind(Kind::Integer).scaling(41.3, 7.9).limits(18.0, 60.0).change(setting.age),
        Feature::new("children")
            .kind(Kind::Integer)
            .scaling(1.2, 1.4)
            .limits(0.0, 4.0)
            .weight(0.5)
            .change(Change::Any),
        job("clerk", 0.4).weight(0.3),
        job("cook", 0.3).weight(0.4),
        job("king", 0.1).change(setting.king),
        Feature::new("income").scaling(3000.0, 1500.0).limits(0.0, 9000.0).change(setting.income),
        Feature::new("debt").scaling(1000.0, 800.0),
    ])
    .unwrap()
}

/// Linear or with networks, with or without causes, constraints and forbidden transitions.
fn problem(random: &mut ChaCha8Rng, setting: &Setting, is_linear: bool) -> Problem {
    let features = features(setting);
    let classifier = if is_linear {
        Classifier::linear(uniform(random, 7, -0.3..1.0), random.random_range(-1.5..0.0), 0.5).unwrap()
    } else {
        let activation = one(random, &ACTIVATIONS);
        Classifier::network(network(random, &[7, 8, 1], activation, 0.6), 0.6).unwrap()
    };
    let problem = Problem::new(features.clone(), classifier).unwrap();
    let problem = with_settings(random, problem, &[0.05, 0.2, 0.0]);
    let problem = match setting.causes {
        0 => problem,
        1 | 2 => {
            let equations = vec![
                ("income", Equation::formula("25 * age + 900 * king - 100 * children + u")),
                ("debt", Equation::formula("0.2 * income + 80 * children + u")),
            ];
            problem.with_causal_model(Scm::new(&features, equations).unwrap()).unwrap()
        }
        _ => {
            let debt = if is_linear { "0.3 * income + u" } else { "0.0001 * income ^ 2 + 50 * children + u" };
            let equations =
                vec![("children", Equation::formula("0.02 * age + u")), ("debt", Equation::formula(debt))];
            problem.with_causal_model(Scm::new(&features, equations).unwrap()).unwrap()
        }
    };
    let rules = setting.rules.iter().map(|(rule, _)| Constraint::parse(&features, rule).unwrap());
    let forbidden = match setting.forbidden {
        0 => vec![],
        1 => vec![
            Forbidden::categories(&features, "job", &["clerk"], &["king"]).unwrap(),
            Forbidden::values(&features, "children", &[0.0, 1.0], &[2.0, 3.0]).unwrap(),
        ],
        _ => vec![
            Forbidden::categories(&features, "job", &["cook"], &[]).unwrap(),
            Forbidden::values(&features, "children", &[2.0], &[]).unwrap(),
        ],
    };
    problem.with_constraints(rules.collect()).unwrap().with_forbidden(forbidden).unwrap()
}

type Rule = (&'static str, fn(&[f64]) -> f64);

/// Rules, and the same by hand in own units.
const RULES: [&[Rule]; 4] = [
    &[],
    &[("age >= 12 * children + 10", |x| x[AGE] - 12.0 * x[CHILDREN] - 10.0)],
    &[
        ("income >= debt + 1000", |x| x[INCOME] - x[DEBT] - 1000.0),
        ("children + king <= 3", |x| 3.0 - x[CHILDREN] - x[JOBS[2]]),
    ],
    &[("2 * (income - 1000) / 100 <= 30 + age", |x| 30.0 + x[AGE] - 0.02 * (x[INCOME] - 1000.0))],
];

/// As forbidden in `problem`, written out once more.
fn is_forbidden(setting: &Setting, from: &[f64], to: &[f64]) -> bool {
    let left = JOBS.iter().find(|&&i| from[i] == 1.0 && to[i] == 0.0);
    let entered = JOBS.iter().find(|&&i| from[i] == 0.0 && to[i] == 1.0);
    match setting.forbidden {
        0 => false,
        1 => {
            left == Some(&JOBS[0]) && entered == Some(&JOBS[2])
                || from[CHILDREN] < 1.5
                    && (1.5..3.5).contains(&to[CHILDREN])
                    && from[CHILDREN] != to[CHILDREN]
        }
        _ => left == Some(&JOBS[1]) || from[CHILDREN] == 2.0 && to[CHILDREN] != 2.0,
    }
}

fn person(random: &mut ChaCha8Rng) -> Vec<f64> {
    let mut own = vec![0.0; 7];
    own[AGE] = f64::from(random.random_range(25..50));
    own[CHILDREN] = f64::from(random.random_range(0..4));
    own[JOBS[random.random_range(0..3)]] = 1.0;
    own[INCOME] = random.random_range(1000.0..4000.0);
    own[DEBT] = random.random_range(0.0..2000.0);
    own
}

/// Every feasible whole-valued action of every set; real features on a grid.
fn all_actions(problem: &Problem, setting: &Setting, own: &[f64]) -> Vec<Action> {
    let features = problem.features();
    let mut actions = Vec::new();
    for set in intervention_sets(features, problem.scm().is_some()).unwrap() {
        let mut targets = vec![own.to_vec()];
        for unit in features.actionable_units().into_iter().filter(|unit| set.contains(&unit[0])) {
            let before = std::mem::take(&mut targets);
            for target in before {
                let i = unit[0];
                let feature = features.feature(i);
                let may = |i: usize, to: f64| match features.feature(i).change {
                    Change::Fixed => to == own[i],
                    Change::Any => true,
                    Change::Increase => to >= own[i],
                    Change::Decrease => to <= own[i],
                };
                let with = |values: &[(usize, f64)]| {
                    let mut target = target.clone();
                    values.iter().for_each(|&(i, value)| target[i] = value);
                    target
                };
                if unit.len() > 1 {
                    for entered in JOBS {
                        let category: Vec<(usize, f64)> =
                            JOBS.iter().map(|&i| (i, f64::from(u8::from(i == entered)))).collect();
                        if category.iter().all(|&(i, to)| may(i, to)) {
                            targets.push(with(&category));
                        }
                    }
                } else if feature.kind == Kind::Integer {
                    let values = (feature.lower as i32..=feature.upper as i32).map(f64::from);
                    targets.extend(values.filter(|&to| may(i, to)).map(|to| with(&[(i, to)])));
                } else {
                    let values = (0..15).map(|k| own[i] + f64::from(k * k) * 25.0);
                    targets.extend(values.filter(|&to| to <= feature.upper).map(|to| with(&[(i, to)])));
                }
            }
        }
        for target in targets.iter().filter(|target| !is_forbidden(setting, own, target)) {
            let change = |&i: &usize| features.standardise(i, target[i]) - features.standardise(i, own[i]);
            actions.push(Action { features: set.clone(), change: set.iter().map(change).collect() });
        }
    }
    actions
}

/// Whether every constraint is met, by hand.
fn meets(problem: &Problem, setting: &Setting, x: &[f64], action: &Action, room: f64) -> bool {
    let reached = problem.features().own_units(&counterfactual(problem, x, action, &[0.0; 7]).unwrap());
    setting.rules.iter().all(|(_, value)| value(&reached) >= -room)
}

/// Whether an action holds: for linear problems by the exact worst case of a problem in which
/// everything is real, otherwise by a certificate.
fn holds(problem: &Problem, twin: Option<&Exact<'_>>, x: &[f64], action: &Action) -> bool {
    match twin {
        Some(exact) => exact.worst_case(x, action).unwrap().margin > 1e-8,
        None => {
            let budget = Budget { evaluations: 300 };
            matches!(certify(problem, x, action, budget).unwrap().verdict, Verdict::Holds { margin } if margin > 1e-8)
        }
    }
}

/// The same linear problem without whole values.
fn twin(problem: &Problem) -> Problem {
    let real = |feature: &Feature| Feature { kind: Kind::Real, group: None, ..feature.clone() };
    let features = Features::new(problem.features().iter().map(real).collect()).unwrap();
    let (weights, constant) = problem.classifier().coefficients().unwrap();
    let classifier = Classifier::linear(weights.to_vec(), constant, 0.5).unwrap();
    let twin = Problem::new(features.clone(), classifier).unwrap();
    let twin = twin.with_uncertainty(problem.norm().clone(), problem.epsilon()).unwrap();
    let twin = twin.with_action_kind(problem.action_kind()).with_cost(problem.cost());
    let Some(scm) = problem.scm() else { return twin };
    let matrix = scm.coefficients().unwrap();
    let names = features.names();
    let equation = |i: usize| {
        let parents: Vec<usize> = scm.parents(i).to_vec();
        let named: Vec<&str> = parents.iter().map(|&j| names[j].as_str()).collect();
        (!parents.is_empty()).then(|| {
            let coefficients = parents.iter().map(|&j| matrix[[i, j]]).collect();
            (names[i].as_str(), Equation::linear(&named, coefficients, 0.0))
        })
    };
    let scm = Scm::new(&features, (0..names.len()).filter_map(equation).collect()).unwrap();
    twin.with_causal_model(scm).unwrap()
}

fn brute_force(is_linear: bool, rounds: usize, seed: u64) {
    let random = &mut ChaCha8Rng::seed_from_u64(seed);
    let (mut found, mut impossible, mut undecided, mut tried) = (0, 0, 0, 0);
    for round in 0..rounds {
        let setting = draw(random);
        let problem = problem(random, &setting, is_linear);
        let twin = is_linear.then(|| twin(&problem));
        let twin = twin.as_ref().map(|twin| Exact::new(twin).unwrap());
        let own = person(random);
        let people = People::from_own_units(problem.features(), &[&own]).unwrap();
        let x = people.individual(0);
        let complete = Complete::new(&problem).unwrap();
        let proof = complete.prove(x).unwrap();
        // The exact method has a say of its own, and both agree.
        let exact = if is_linear { Exact::new(&problem).ok() } else { None };
        let exact = exact.map(|exact| exact.solve(x).unwrap());
        if let Some(outcome) = &exact {
            match (outcome, &proof.outcome) {
                (Outcome::Found(one), Outcome::Found(other)) => {
                    assert!(one.cost >= other.cost_bound * (1.0 - 1e-9), "{round}: {one:?} {other:?}");
                    assert!(one.cost <= other.cost * (1.0 + 1e-9), "{round}: {one:?} {other:?}");
                    let least =
                        if problem.constraints().is_empty() { one.cost - 1e-6 } else { 0.98 * one.cost };
                    assert!(one.cost_bound >= least, "{round}: {one:?}");
                }
                (Outcome::Impossible(_), Outcome::Impossible(_)) => {}
                (Outcome::AlreadyFavourable, Outcome::AlreadyFavourable) => {}
                other => panic!("{round}: {other:?}"),
            }
        }
        let bound = match exact.as_ref().unwrap_or(&proof.outcome) {
            Outcome::AlreadyFavourable => continue,
            Outcome::Unproved(candidate) => panic!("{round}: {candidate:?}"),
            Outcome::Found(answer) => {
                found += 1;
                let action = &answer.action;
                // Of networks, what is within the gap cannot always be proved.
                let within = if is_linear { 0.98 } else { 0.9 };
                assert!(answer.cost_bound >= within * answer.cost, "{round}: {answer:?}");
                let verdict = certify(&problem, x, action, Budget::default()).unwrap().verdict;
                assert!(matches!(verdict, Verdict::Holds { .. }), "{round}: {verdict:?}");
                assert!(meets(&problem, &setting, x, action, 1e-4), "{round}");
                let mut target = own.clone();
                for (&i, change) in action.features.iter().zip(&action.change) {
                    let feature = problem.features().feature(i);
                    target[i] = feature.snap_to_integer(own[i] + change * feature.std);
                    assert!(feature.kind == Kind::Real || target[i].fract() == 0.0, "{round}: {}", target[i]);
                    assert!(feature.allows(target[i]), "{round}: {}", target[i]);
                }
                assert_eq!(JOBS.iter().map(|&i| target[i]).sum::<f64>(), 1.0);
                assert!(!is_forbidden(&setting, &own, &target), "{round}: {target:?}");
                answer.cost_bound
            }
            Outcome::Impossible(_) => {
                impossible += 1;
                f64::INFINITY
            }
            Outcome::Undecided(open) => {
                undecided += 1;
                open.cost_bound
            }
        };
        for action in all_actions(&problem, &setting, &own) {
            let cost = problem.cost().of(problem.features(), &action);
            if cost < bound * (1.0 - 1e-9) && meets(&problem, &setting, x, &action, 0.0) {
                tried += 1;
                assert!(
                    !holds(&problem, twin.as_ref(), x, &action),
                    "{round}: {action:?} {:?}",
                    proof.outcome
                );
            }
        }
        let checked = verify(&problem, &proof.saved(&problem, x)).unwrap();
        assert!(checked.is_verified(), "{round}: {checked:?} {:?}", proof.outcome);
    }
    let counts = (found, impossible, undecided, tried);
    assert!(found > rounds / 6 && impossible > rounds / 20, "{counts:?}");
    assert!(undecided <= rounds / 20 && tried > 20 * rounds, "{counts:?}");
}

#[test]
fn no_cheaper_whole_action_of_a_linear_problem_holds() {
    brute_force(true, 120, 1);
}

#[test]
fn no_cheaper_whole_action_of_a_network_holds() {
    brute_force(false, 48, 2);
}

/// Of all whole-valued actions that hold, the exact method finds the cheapest.
#[test]
fn the_exact_method_finds_the_cheapest_whole_action() {
    let random = &mut ChaCha8Rng::seed_from_u64(6);
    let (mut found, mut impossible) = (0, 0);
    for round in 0..200 {
        // Nothing real is actionable in these.
        let setting = Setting { income: Change::Fixed, ..draw(random) };
        let problem = problem(random, &setting, true).with_constraints(vec![]).unwrap();
        let twin = twin(&problem);
        let twin = Exact::new(&twin).unwrap();
        let own = person(random);
        let people = People::from_own_units(problem.features(), &[&own]).unwrap();
        let x = people.individual(0);
        let holding = all_actions(&problem, &setting, &own)
            .into_iter()
            .filter(|action| holds(&problem, Some(&twin), x, action));
        let least = holding
            .map(|action| problem.cost().of(problem.features(), &action))
            .fold(f64::INFINITY, f64::min);
        match Exact::new(&problem).unwrap().solve(x).unwrap() {
            Outcome::AlreadyFavourable => {}
            Outcome::Found(answer) => {
                found += 1;
                assert!((answer.cost - least).abs() <= 1e-9 * least, "{round}: {} {least}", answer.cost);
                assert!(answer.cost_bound <= answer.cost && answer.cost_bound >= answer.cost * (1.0 - 1e-9));
                assert!(twin.worst_case(x, &answer.action).unwrap().margin >= 0.0, "{round}");
            }
            Outcome::Impossible(shortfall) => {
                impossible += 1;
                assert_eq!(least, f64::INFINITY, "{round}");
                let worst = twin.worst_case(x, &shortfall.best).unwrap().margin;
                assert!((worst + shortfall.missing).abs() <= 1e-9, "{round}: {worst} {}", shortfall.missing);
            }
            Outcome::Unproved(candidate) => panic!("{round}: {candidate:?}"),
            Outcome::Undecided(open) => panic!("{round}: {open:?}"),
        }
    }
    assert!(found > 80 && impossible > 10, "{found} {impossible}");
}

fn wrong(problem: &Problem, saved: &surefoot::SavedProof) -> Fault {
    match verify(problem, saved).unwrap() {
        Verification::Wrong(fault) => fault,
        other => panic!("{other:?}"),
    }
}

#[test]
fn proofs_that_were_tampered_with_are_refused() {
    let random = &mut ChaCha8Rng::seed_from_u64(5);
    let (mut halves, mut constrained, mut shares) = (0, 0, 0);
    for round in 0..60 {
        let setting = draw(random);
        let problem = problem(random, &setting, true);
        let people = People::from_own_units(problem.features(), &[person(random)]).unwrap();
        let x = people.individual(0);
        let proof = Complete::new(&problem).unwrap().prove(x).unwrap();
        let saved = proof.saved(&problem, x);
        let read = surefoot::SavedProof::from_json(&saved.to_json()).unwrap();
        assert_eq!(read, saved, "{round}");
        if let Outcome::Found(found) = &proof.outcome {
            // Half a year, half a child, half a job.
            for (k, &i) in found.action.features.iter().enumerate() {
                if problem.features().feature(i).kind == Kind::Real {
                    continue;
                }
                let mut half = saved.clone();
                if let Outcome::Found(found) = &mut half.outcome {
                    found.action.change[k] *= 0.5;
                    found.cost = problem.cost().of(problem.features(), &found.action);
                    found.cost_bound = 0.0;
                    let units = found.action.change[k] * problem.features().feature(i).std;
                    if (units - units.round()).abs() < 0.1 {
                        continue;
                    }
                }
                halves += 1;
                assert!(matches!(wrong(&problem, &half), Fault::NotInteger { .. }), "{round}");
            }
        }
        // A requirement that is not there, or a share that proves nothing.
        if let Some(part) = saved.ruled_out.iter().position(|part| !part.requirements.is_empty()) {
            let mut other = saved.clone();
            other.ruled_out[part].requirements = vec![(99, 1.0)];
            constrained += usize::from(matches!(
                verify(&problem, &other).unwrap(),
                Verification::Wrong(Fault::NoSuchRequirement { requirement: 99, .. })
            ));
            other.ruled_out[part].requirements = saved.ruled_out[part].requirements.clone();
            other.ruled_out[part].requirements[0].1 = -1.0;
            shares += usize::from(matches!(
                verify(&problem, &other).unwrap(),
                Verification::Wrong(Fault::Share { share: -1.0, .. })
            ));
            let free = problem.clone().with_constraints(vec![]).unwrap();
            let checked = verify(&free, &saved).unwrap();
            constrained +=
                usize::from(matches!(checked, Verification::Wrong(Fault::NoSuchRequirement { .. })));
        }
    }
    assert!(halves > 20 && constrained > 5 && shares > 3, "{halves} {constrained} {shares}");
}

/// Three children are as many as `children + king <= 3` allows: the cheapest action keeps all of them.
#[test]
fn integers_may_stay_at_the_limit_of_a_constraint() {
    let setting = Setting {
        age: Change::Any,
        income: Change::Increase,
        king: Change::Increase,
        rules: RULES[2],
        forbidden: 2,
        causes: 0,
    };
    let weights = vec![
        0.23664136423564736,
        0.05540295097755993,
        0.24162216865362912,
        0.15627668952877077,
        0.8407174200567868,
        0.03349037697496038,
        0.012083593630508982,
    ];
    let features = features(&setting);
    let classifier = Classifier::linear(weights, -0.2593411927673017, 0.5).unwrap();
    let rules = setting.rules.iter().map(|(rule, _)| Constraint::parse(&features, rule).unwrap());
    let problem = Problem::new(features.clone(), classifier)
        .unwrap()
        .with_uncertainty(Norm::L2, 0.05)
        .unwrap()
        .with_cost(Cost::L2)
        .with_constraints(rules.collect())
        .unwrap()
        .with_forbidden(vec![
            Forbidden::categories(&features, "job", &["cook"], &[]).unwrap(),
            Forbidden::values(&features, "children", &[2.0], &[]).unwrap(),
        ])
        .unwrap();
    let own = [33.0, 3.0, 0.0, 1.0, 0.0, 1217.3591023658128, 1770.8436073900068];
    let people = People::from_own_units(&features, &[own]).unwrap();
    let outcome = Exact::new(&problem).unwrap().solve(people.individual(0)).unwrap();
    let found = outcome.recourse().unwrap();
    assert!(found.cost <= 2.8545 && found.cost_bound >= 0.999 * found.cost, "{found:?}");
}
