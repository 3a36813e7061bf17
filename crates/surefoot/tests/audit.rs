//! Audits: every number is calculated again from the answers of `recourse`, by brute force; known gaps between groups
//! are within the intervals.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::collections::BTreeMap;

use ndarray::{Array2, ArrayView2};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;
use surefoot::recourse::{Settings, Solver};
use surefoot::report::audit::{
    Audit, Examiner, GroupReport, Grouping, GroupingRequest, Range, TwinReport, without_uncertainty,
};
use surefoot::{
    Action, Activation, Budget, Change, Classifier, Cost, Equation, Feature, Features, Intervention, Kind,
    Norm, Outcome, People, Problem, Scm, Verdict, certify, essential, smallest_break,
};
use surefoot_random::{network, uniform};

/// An audit by a column that is no feature and by features.
fn audit(
    problem: &Problem,
    people: &People,
    by: &[&str],
    further: &BTreeMap<String, Vec<String>>,
    advice: &[Vec<Action>],
    settings: Settings,
) -> Audit {
    let known: Vec<String> = further.keys().cloned().collect();
    let groupings: Vec<Grouping> = by
        .iter()
        .map(|text| {
            let request = GroupingRequest::parse(text, problem.features(), &known).unwrap();
            Grouping::new(&request, people, further).unwrap()
        })
        .collect();
    let nominal = without_uncertainty(problem).unwrap();
    let examiner = Examiner::new(problem, nominal.as_ref(), people, &groupings, settings).unwrap();
    let (first, second) = (people.len() / 3, people.len());
    let mut examined = examiner.examine(0..first, advice, &|_| {}).unwrap();
    examined.extend(examiner.examine(first..second, advice, &|_| {}).unwrap());
    let ids: Vec<String> = match advice.is_empty() {
        true => Vec::new(),
        false => (0..people.len()).map(|i| format!("p{i}")).collect(),
    };
    Audit::new(problem, &groupings, &examined, &ids, 7).unwrap()
}

/// Income and debt, which may change; sex, which causes income; and age.
fn features() -> Features {
    Features::new(vec![
        Feature::new("sex").kind(Kind::Binary).scaling(0.4, 0.5),
        Feature::new("age").scaling(40.0, 10.0),
        Feature::new("income").scaling(3000.0, 1500.0).limits(-9000.0, 5300.0).change(Change::Increase),
        Feature::new("debt").scaling(10.0, 4.0).limits(-40.0, 17.0).change(Change::Any).weight(1.7),
        Feature::new("cars").kind(Kind::Integer).scaling(2.0, 1.0).limits(0.0, 4.0).change(Change::Increase),
    ])
    .unwrap()
}

fn scm(features: &Features) -> Scm {
    Scm::new(
        features,
        vec![
            ("income", Equation::formula("900 * sex + 20 * age + u")),
            ("debt", Equation::formula("0.001 * income + u")),
        ],
    )
    .unwrap()
}

/// Random people of these features.
fn people(random: &mut ChaCha8Rng, features: &Features, count: usize) -> People {
    let rows: Vec<Vec<f64>> = (0..count)
        .map(|_| {
            let z = uniform(random, 3, -1.5..1.5);
            let sex = f64::from(random.random_range(0..2));
            let cars = f64::from(random.random_range(0..4));
            vec![sex, (40.0 + 10.0 * z[0]).round(), 3000.0 + 1500.0 * z[1], 10.0 + 4.0 * z[2], cars]
        })
        .collect();
    People::from_own_units(features, &rows).unwrap()
}

/// What the answers of two problems say about some people.
struct Recalculated<'a> {
    problem: &'a Problem,
    people: Vec<&'a [f64]>,
    robust: Vec<Outcome>,
    nominal: Vec<Outcome>,
}

impl<'a> Recalculated<'a> {
    fn new(problem: &'a Problem, people: Vec<&'a [f64]>, settings: Settings) -> Self {
        let plain = problem.clone().with_epsilon(0.0).unwrap();
        let answers = |problem: &Problem| -> Vec<Outcome> {
            let solver = Solver::new(problem, settings).unwrap();
            people.iter().map(|person| solver.solve(person).unwrap()).collect()
        };
        Self { problem, robust: answers(problem), nominal: answers(&plain), people }
    }

    /// The same of some of the people.
    fn of(&self, is: &dyn Fn(usize) -> bool) -> Self {
        let some = |outcomes: &[Outcome]| -> Vec<Outcome> {
            outcomes.iter().enumerate().filter(|(i, _)| is(*i)).map(|(_, outcome)| outcome.clone()).collect()
        };
        let people = self.people.iter().enumerate().filter(|(i, _)| is(*i)).map(|(_, person)| *person);
        let (robust, nominal) = (some(&self.robust), some(&self.nominal));
        Self { problem: self.problem, people: people.collect(), robust, nominal }
    }

    fn count(&self, is: impl Fn(&str, &str) -> bool) -> usize {
        let pairs = self.robust.iter().zip(&self.nominal);
        pairs.filter(|(robust, nominal)| is(robust.status(), nominal.status())).count()
    }

    /// Holds every number of a report against these answers.
    fn assert_report(&self, report: &GroupReport) {
        let counts = report.counts;
        assert_eq!(counts.people, self.people.len());
        assert_eq!(counts.favourable, self.count(|robust, _| robust == "favourable"));
        assert_eq!(counts.turned_down, self.count(|robust, _| robust != "favourable"));
        assert_eq!(counts.found, self.count(|robust, _| robust == "found"));
        let never = self.count(|_, nominal| nominal == "impossible");
        assert_eq!(counts.impossible_without_uncertainty, never);
        let because = self.count(|robust, nominal| robust == "impossible" && nominal == "found");
        assert_eq!(counts.impossible_because_of_uncertainty, because);
        // Whoever has no action without uncertainty has none with it.
        let impossible = self.count(|robust, nominal| robust == "impossible" || nominal == "impossible");
        assert_eq!(counts.impossible, impossible);
        let undecided = self.count(|robust, nominal| robust == "undecided" && nominal != "impossible");
        assert_eq!(counts.undecided, undecided);
        let share = |part: usize, of: usize| part as f64 / of as f64;
        let exact = report.with_recourse.exact;
        match counts.turned_down {
            0 => assert_eq!(exact, None),
            down => {
                assert_eq!(exact.unwrap().lower, share(counts.found, down));
                assert_eq!(exact.unwrap().upper, share(counts.found + undecided, down));
            }
        }
        let found: Vec<_> = self.robust.iter().filter_map(Outcome::recourse).collect();
        self.assert_costs(
            report,
            &found.iter().map(|found| (found.cost_bound, found.cost)).collect::<Vec<_>>(),
        );
        self.assert_asked(report);
        self.assert_fragility(report);
    }

    fn assert_costs(&self, report: &GroupReport, costs: &[(f64, f64)]) {
        let Some(cost) = &report.cost else { return assert!(costs.is_empty()) };
        let mean = |of: fn(&(f64, f64)) -> f64| costs.iter().map(of).sum::<f64>() / costs.len() as f64;
        assert!((cost.mean.lower - mean(|cost| cost.0)).abs() < 1e-12);
        assert!((cost.mean.upper - mean(|cost| cost.1)).abs() < 1e-12);
        for quantile in &cost.quantiles {
            // The smallest value that enough people do not exceed, by trying all of them.
            let least = |of: fn(&(f64, f64)) -> f64| {
                let enough = |value: f64| {
                    let below = costs.iter().filter(|cost| of(cost) <= value).count() as f64;
                    below >= quantile.share * costs.len() as f64 - 1e-9
                };
                costs.iter().map(of).filter(|&value| enough(value)).fold(f64::INFINITY, f64::min)
            };
            assert_eq!(quantile.cost, Range::new(least(|cost| cost.0), least(|cost| cost.1)));
        }
    }

    fn assert_asked(&self, report: &GroupReport) {
        let features = self.problem.features();
        for (asked, name) in report.asked.iter().zip(["income", "debt", "cars"]) {
            assert_eq!(asked.column, name);
            let i = features.index(name).unwrap();
            let change = |outcome: &Outcome| {
                let action = essential(self.problem, &outcome.recourse()?.action);
                let place = action.features.iter().position(|&acted| acted == i)?;
                Some(features.feature(i).std * action.change[place]).filter(|change| *change != 0.0)
            };
            let changes: Vec<f64> = self.robust.iter().filter_map(change).collect();
            assert_eq!(asked.people, changes.len());
            let total: f64 = [&asked.raised, &asked.lowered]
                .into_iter()
                .flatten()
                .map(|changed| changed.mean * changed.people as f64)
                .sum();
            assert!((total - changes.iter().sum::<f64>()).abs() < 1e-6 * (1.0 + total.abs()));
            let raised = changes.iter().filter(|change| **change > 0.0).count();
            assert_eq!(asked.raised.as_ref().map_or(0, |raised| raised.people), raised);
        }
    }

    fn assert_fragility(&self, report: &GroupReport) {
        let turned_down = self.robust.iter().any(|outcome| outcome.status() != "favourable");
        assert_eq!(report.fragility.is_some(), turned_down);
        let Some(fragility) = report.fragility else { return };
        let (mut verdicts, mut sizes) = ([0, 0, 0], Vec::new());
        for ((person, nominal), robust) in self.people.iter().zip(&self.nominal).zip(&self.robust) {
            if robust.status() == "favourable" {
                continue;
            }
            let action = match (nominal.recourse(), nominal.status(), robust.recourse()) {
                (Some(found), ..) | (None, "undecided", Some(found)) => &found.action,
                _ => continue,
            };
            let verdict = certify(self.problem, person, action, Budget::default()).unwrap().verdict;
            let place = match verdict {
                Verdict::Breaks { .. } => 0,
                Verdict::Holds { .. } => 1,
                Verdict::Undecided { .. } => 2,
            };
            verdicts[place] += 1;
            let one = People::from_standardised(
                self.problem.features(),
                ArrayView2::from_shape((1, person.len()), person).unwrap(),
            );
            let found = smallest_break(self.problem, &one.unwrap(), std::slice::from_ref(action)).unwrap();
            sizes.push(found[0].as_ref().map_or(f64::INFINITY, |found| found.size));
        }
        assert_eq!([fragility.breaking, fragility.holding, fragility.undecided], verdicts);
        // Attacks on many people at once may end elsewhere than attacks on one, but not for linear problems.
        if self.problem.classifier().coefficients().is_ok() && !sizes.is_empty() {
            sizes.sort_by(f64::total_cmp);
            let median = sizes[sizes.len().div_ceil(2) - 1];
            assert_eq!(fragility.median_break, Some(median).filter(|size| size.is_finite()));
        }
        let both = self
            .robust
            .iter()
            .zip(&self.nominal)
            .filter_map(|(robust, nominal)| Some((robust.recourse()?, nominal.recourse()?)));
        let both: Vec<_> = both.collect();
        // A person who is undecided without uncertainty and not with it counts by the action with it.
        if let (Some(price), true) = (report.price, self.count(|_, nominal| nominal == "undecided") == 0) {
            assert_eq!(price.people, both.len());
            let sum = |of: &dyn Fn(usize) -> f64| (0..both.len()).map(of).sum::<f64>();
            let lower = sum(&|k| both[k].0.cost_bound) / sum(&|k| both[k].1.cost);
            let upper = sum(&|k| both[k].0.cost) / sum(&|k| both[k].1.cost_bound);
            assert!((price.ratio.lower - lower.max(1.0)).abs() < 1e-9);
            assert!((price.ratio.upper - upper.max(1.0)).abs() < 1e-9 || price.ratio.upper.is_infinite());
        }
    }
}

/// Holds the report of twins against answers of people whose sex is changed by the causal model.
fn assert_twins(problem: &Problem, from: &[&[f64]], to: f64, report: &TwinReport, settings: Settings) {
    let solver = Solver::new(problem, settings).unwrap();
    let (mut counts, mut differences) = ([0; 6], Vec::new());
    for person in from {
        let value = [problem.features().standardise(0, to)];
        let set = Intervention::Set { features: &[0], value: &value };
        let twin = match problem.scm() {
            Some(scm) => scm.counterfactual(person, set).unwrap(),
            None => [&value[..], &person[1..]].concat(),
        };
        let own = problem.features().own_units(&twin);
        let is_known = (-9000.0..=5300.0).contains(&own[2]) && (-40.0..=17.0).contains(&own[3]);
        let answer = solver.solve(person).unwrap();
        if answer.status() == "favourable" {
            continue;
        }
        counts[0] += 1;
        if !is_known {
            counts[5] += 1;
            continue;
        }
        let twin = solver.solve(&twin).unwrap();
        match (answer.status(), twin.status()) {
            (_, "favourable") => counts[1] += 1,
            ("found", "found") => {
                counts[2] += 1;
                let (a, b) = (answer.recourse().unwrap(), twin.recourse().unwrap());
                differences.push((a.cost_bound - b.cost, a.cost - b.cost_bound));
            }
            ("found", "impossible") => counts[3] += 1,
            ("impossible", "found") => counts[4] += 1,
            _ => {}
        }
    }
    let TwinReport { turned_down, twin_favourable, both_found, twin_impossible, only_twin_found, .. } =
        *report;
    let found =
        [turned_down, twin_favourable, both_found, twin_impossible, only_twin_found, report.without_twin];
    assert_eq!(found, counts);
    match report.difference {
        None => assert!(differences.is_empty()),
        Some(difference) => {
            let mean = |of: fn(&(f64, f64)) -> f64| {
                differences.iter().map(of).sum::<f64>() / differences.len() as f64
            };
            assert!((difference.mean.lower - mean(|range| range.0)).abs() < 1e-9);
            assert!((difference.mean.upper - mean(|range| range.1)).abs() < 1e-9);
            assert_eq!(difference.dearer, differences.iter().filter(|range| range.0 > 0.0).count());
            assert_eq!(difference.cheaper, differences.iter().filter(|range| range.1 < 0.0).count());
        }
    }
}

/// A random problem over [`features`]: linear or a network, with or without a causal model.
fn random_problem(random: &mut ChaCha8Rng, is_network: bool) -> Problem {
    let features = features();
    let classifier = if is_network {
        Classifier::network(network(random, &[5, 6, 1], Activation::Tanh, 0.9), 0.5).unwrap()
    } else {
        let weights = [uniform(random, 2, -0.6..0.6), uniform(random, 3, 0.1..1.0)].concat();
        Classifier::linear(weights, -random.random_range(0.5..4.0), 0.5).unwrap()
    };
    let mut problem = Problem::new(features.clone(), classifier).unwrap();
    if random.random_bool(0.7) {
        problem = problem.with_causal_model(scm(&features)).unwrap();
    }
    if random.random_bool(0.3) {
        problem = problem.with_cost(Cost::L2);
    }
    problem.with_uncertainty(Norm::L2, random.random_range(0.05..0.4)).unwrap()
}

fn assert_numbers(seed: u64, is_network: bool, count: usize, settings: Settings) -> [usize; 3] {
    let random = &mut ChaCha8Rng::seed_from_u64(seed);
    let problem = random_problem(random, is_network);
    let people = people(random, problem.features(), count);
    let towns: Vec<String> = (0..count).map(|_| format!("town {}", random.random_range(0..3))).collect();
    let further = BTreeMap::from([("town".to_owned(), towns.clone())]);
    let by = ["sex", "town", "age: 35, 45", "sex, age: 40"];
    let audit = audit(&problem, &people, &by, &further, &[], settings);
    let of = |is: &dyn Fn(usize) -> bool| -> Vec<&[f64]> {
        (0..count).filter(|&i| is(i)).map(|i| people.individual(i)).collect()
    };
    let all = Recalculated::new(&problem, of(&|_| true), settings);
    let check = |report: &GroupReport, is: &dyn Fn(usize) -> bool| all.of(is).assert_report(report);
    let own = |i: usize, k: usize| problem.features().own_units(people.individual(i))[k].round();
    check(&audit.everybody, &|_| true);
    let group = |grouping: usize, name: &str| {
        audit.groupings[grouping]
            .groups
            .iter()
            .find(|group| group.name == name)
            .unwrap_or_else(|| panic!("{name}"))
    };
    for (sex, name) in [(0.0, "sex: 0"), (1.0, "sex: 1")] {
        check(group(0, name), &|i| own(i, 0) == sex);
    }
    for town in 0..3 {
        check(group(1, &format!("town: town {town}")), &|i| towns[i] == format!("town {town}"));
    }
    check(group(2, "age: under 35"), &|i| own(i, 1) < 35.0);
    check(group(2, "age: 35 to under 45"), &|i| (35.0..45.0).contains(&own(i, 1)));
    check(group(2, "age: 45 and over"), &|i| own(i, 1) >= 45.0);
    check(group(3, "sex: 1, age: 40 and over"), &|i| own(i, 0) == 1.0 && own(i, 1) >= 40.0);
    for twins in &audit.groupings[0].twins {
        let from = of(&|i| own(i, 0) == twins.from as f64);
        assert_twins(&problem, &from, twins.to as f64, twins, settings);
    }
    assert!(audit.groupings[1..].iter().all(|grouping| grouping.twins.is_empty()));
    for pair in
        audit.groupings.iter().flat_map(|grouping| grouping.pairs.iter().map(move |pair| (grouping, pair)))
    {
        let (grouping, pair) = pair;
        let [a, b] = [&grouping.groups[pair.first], &grouping.groups[pair.second]];
        let difference = |of: &dyn Fn(&GroupReport) -> Option<Range>| {
            let (a, b) = (of(a)?, of(b)?);
            Some(Range::new(a.lower - b.upper, a.upper - b.lower))
        };
        assert_eq!(pair.turned_down.exact, difference(&|group| group.turned_down.exact));
        assert_eq!(pair.with_recourse.exact, difference(&|group| group.with_recourse.exact));
        assert_eq!(pair.mean_cost.exact, difference(&|group| group.cost.as_ref().map(|cost| cost.mean)));
        for difference in [pair.turned_down, pair.with_recourse, pair.mean_cost] {
            if let (Some(exact), Some(interval)) = (difference.exact, difference.interval) {
                assert!(
                    interval.lower <= exact.lower && exact.upper <= interval.upper,
                    "{exact:?} {interval:?}"
                );
            }
        }
    }
    let counts = audit.everybody.counts;
    [counts.found, counts.impossible, counts.undecided]
}

#[test]
fn every_number_is_that_of_the_answers() {
    let linear = (0..8).map(|seed| assert_numbers(seed, false, 60, Settings::default()));
    let [found, impossible, _] = linear.fold([0; 3], |sum, more| [sum[0] + more[0], sum[1] + more[1], 0]);
    assert!(found > 100 && impossible > 10, "{found} {impossible}");
}

#[test]
fn every_number_is_that_of_the_answers_about_networks() {
    // With so small a budget some people cannot be decided.
    let settings = Settings { budget: Budget { evaluations: 60 }, ..Settings::default() };
    let [found, _, undecided] = (20..23)
        .map(|seed| assert_numbers(seed, true, 20, settings))
        .fold([0; 3], |sum, more| [sum[0] + more[0], sum[1] + more[1], sum[2] + more[2]]);
    assert!(found > 5 && undecided > 0, "{found} {undecided}");
}

/// A score of `income + gap * sex - 1`, so that whoever has sex 0 has to raise income by `gap` more.
fn gap(gap: f64, effect: f64) -> Problem {
    let features = Features::new(vec![
        Feature::new("sex").kind(Kind::Binary),
        Feature::new("income").change(Change::Increase).limits(f64::NEG_INFINITY, 1.1),
    ])
    .unwrap();
    let formula = Equation::formula(format!("{effect} * sex + u"));
    let scm = Scm::new(&features, vec![("income", formula)]).unwrap();
    let classifier = Classifier::linear(vec![gap, 1.0], -1.0, 0.5).unwrap();
    Problem::new(features, classifier).unwrap().with_causal_model(scm).unwrap()
}

fn of_gap(problem: &Problem, rows: &[[f64; 2]]) -> Audit {
    let people = People::from_own_units(problem.features(), rows).unwrap();
    audit(problem, &people, &["sex"], &BTreeMap::new(), &[], Settings::default())
}

#[test]
fn a_known_gap_is_found_exactly() {
    // The action sets income, so that a shift of sex counts by 0.5, and one of income by 1, after the action. Limits
    // leave sex 1 with recourse and sex 0 without.
    let problem = gap(0.5, 0.25).with_uncertainty(Norm::LINF, 0.25).unwrap();
    let rows: Vec<[f64; 2]> = (0..40).map(|i| [f64::from(i % 2), -f64::from(i) / 40.0]).collect();
    let audit = of_gap(&problem, &rows);
    let [zero, one] = [&audit.groupings[0].groups[0], &audit.groupings[0].groups[1]];
    assert_eq!((zero.counts.turned_down, one.counts.turned_down), (20, 20));
    // An income of 1 would be enough for sex 0, but for the uncertainty.
    assert_eq!((zero.counts.found, zero.counts.impossible_because_of_uncertainty), (0, 20));
    assert_eq!((one.counts.found, one.counts.impossible), (20, 0));
    // The shift of income spreads from sex: 0.25 + 0.25 * (0.5 + 0.25).
    let needed = |row: &[f64; 2]| 1.0 - 0.5 + 0.25 + 0.25 * 0.75 - row[1];
    let costs: Vec<f64> = rows.iter().filter(|row| row[0] == 1.0).map(needed).collect();
    let mean = costs.iter().sum::<f64>() / 20.0;
    let cost = one.cost.as_ref().unwrap();
    assert!(
        (cost.mean.lower - mean).abs() < 1e-6 && (cost.mean.upper - mean).abs() < 1e-6,
        "{cost:?} {mean}"
    );
    let price = one.price.unwrap();
    let plain = mean - 0.25 - 0.25 * 0.75;
    assert!(
        (price.ratio.lower - mean / plain).abs() < 1e-6 && (price.ratio.upper - mean / plain).abs() < 1e-6
    );
    let fragility = one.fragility.unwrap();
    assert_eq!((fragility.breaking, fragility.actions), (20, 20));
    assert!(fragility.median_break.unwrap() < 1e-8);
    // Every twin of sex 1 has no recourse, and the other way round.
    let [to_one, to_zero] = [&audit.groupings[0].twins[0], &audit.groupings[0].twins[1]];
    assert_eq!((to_one.only_twin_found, to_zero.twin_impossible), (20, 20));

    // Without uncertainty and limits, the twin differs by the direct gap and by the effect on income.
    let audit = of_gap(&gap(0.5, 0.25), &rows);
    let [to_one, to_zero] = [&audit.groupings[0].twins[0], &audit.groupings[0].twins[1]];
    assert_eq!((to_one.both_found, to_zero.both_found), (20, 20));
    let [up, down] = [to_one.difference.unwrap(), to_zero.difference.unwrap()];
    assert!((up.mean.lower - 0.75).abs() < 1e-8 && (up.mean.upper - 0.75).abs() < 1e-8, "{up:?}");
    assert!((down.mean.lower + 0.75).abs() < 1e-8 && (up.dearer, down.cheaper) == (20, 20));
    assert!(audit.everybody.fragility.is_none() && audit.everybody.price.is_none());
    assert!(audit.findings().iter().any(|finding| finding.contains("it costs them 0.75 more on average")));
}

/// The distribution function of the standard normal distribution, by Simpson's rule.
fn normal_below(z: f64) -> f64 {
    let density = |x: f64| (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt();
    let steps = 2000;
    let width = (z + 10.0) / f64::from(steps);
    let weight = |k: i32| if k == 0 || k == steps { 1.0 } else { f64::from(2 + 2 * (k % 2)) };
    (0..=steps).map(|k| weight(k) * density(-10.0 + width * f64::from(k))).sum::<f64>() * width / 3.0
}

#[test]
fn intervals_contain_the_truth_about_95_times_in_100() {
    // Incomes are normal: a mean of 0 for sex 0 and of 0.3 for sex 1. Turned down is whoever has less than 1, or 0.5.
    let problem = gap(0.5, 0.0);
    let features = problem.features().clone();
    let problem = problem.with_uncertainty(Norm::L2, 0.0).unwrap();
    let density = |z: f64| (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt();
    let truth = |mean: f64, needed: f64| {
        let z = needed - mean;
        let below = normal_below(z);
        // The mean distance of those below the boundary.
        (below, z + density(z) / below)
    };
    let ((down_0, cost_0), (down_1, cost_1)) = (truth(0.0, 1.0), truth(0.3, 0.5));
    let truths = [down_0 - down_1, cost_0 - cost_1];
    let (mut covered, mut shown) = ([0, 0], 0);
    for seed in 0..100 {
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        let mut rows = Array2::zeros((200, 2));
        for (i, mut row) in rows.rows_mut().into_iter().enumerate() {
            let sex = (i % 2) as f64;
            let z: f64 = random.sample(StandardNormal);
            row[0] = sex;
            // From 1 on nobody is turned down, so that the distribution may end there.
            row[1] = (z + 0.3 * sex).min(1.1);
        }
        let people = People::from_standardised(&features, rows.view()).unwrap();
        let audit = audit(&problem, &people, &["sex"], &BTreeMap::new(), &[], Settings::default());
        let pair = &audit.groupings[0].pairs[0];
        for (k, difference) in [pair.turned_down, pair.mean_cost].into_iter().enumerate() {
            let Range { lower, upper } = difference.interval.unwrap();
            covered[k] += usize::from(lower <= truths[k] && truths[k] <= upper);
        }
        shown += usize::from(pair.mean_cost.is_shown());
    }
    assert!(covered.iter().all(|&count| count >= 88), "{covered:?}");
    // An interval that contains everything would not be one.
    assert!(shown >= 80, "{shown}");
}

#[test]
fn the_same_on_any_number_of_threads() {
    let random = &mut ChaCha8Rng::seed_from_u64(3);
    let problem = random_problem(random, false);
    let people = people(random, problem.features(), 300);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let by = ["sex", "age: 40"];
            audit(&problem, &people, &by, &BTreeMap::new(), &[], Settings::default())
        })
    };
    let (one, three) = (on(1), on(3));
    assert_eq!(one.to_json(), three.to_json());
    assert_eq!(one.page("people.csv"), three.page("people.csv"));
}

#[test]
fn advice_of_others_is_judged() {
    let problem = gap(0.5, 0.0).with_uncertainty(Norm::L2, 0.1).unwrap();
    let features = problem.features();
    let people =
        People::from_own_units(features, &[[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [1.0, 0.9], [1.0, -1.0]]);
    let people = people.unwrap();
    let raise = |by: f64| vec![Action { features: vec![1], change: vec![by] }];
    // The boundary is at 0.5, and the dual norm of the weights 1.118: one that holds, one that breaks, one beyond the
    // limit of 1.1, and nothing for somebody who is accepted and for somebody who is not.
    let advice = [raise(0.7), raise(0.55), raise(1.5), Vec::new(), Vec::new()];
    let audit = audit(&problem, &people, &["sex"], &BTreeMap::new(), &advice, Settings::default());
    let report = audit.everybody.advice.unwrap();
    assert_eq!((report.actions, report.holding, report.breaking, report.undecided), (3, 2, 1, 0));
    assert_eq!((report.feasible, report.holding_and_feasible, report.turned_down_without_advice), (2, 1, 1));
    let cheapest = 0.5 + 0.1 * 1.25f64.sqrt();
    assert!((report.cost_ratio.unwrap().upper - 0.7 / cheapest).abs() < 1e-6);
    let rows = audit.advice.as_ref().unwrap();
    assert_eq!(rows.iter().map(|row| row.verdict.as_str()).collect::<Vec<_>>(), ["holds", "breaks", "holds"]);
    assert!((rows[1].smallest_break.unwrap() - 0.05 / 1.25f64.sqrt()).abs() < 1e-6);
    assert!(rows[1].breaks_with.as_ref().unwrap().contains("income"));
    assert!(rows[2].reason.as_ref().unwrap().contains("income"));
    assert!(audit.page("advice").contains("Advice of others"));
}

#[test]
fn the_page_needs_nothing_else_and_shows_text_as_text() {
    let random = &mut ChaCha8Rng::seed_from_u64(4);
    let problem = random_problem(random, false);
    let people = people(random, problem.features(), 30);
    let names: Vec<String> =
        (0..30).map(|i| if i % 3 == 0 { "<b>&\"x'".to_owned() } else { "NA".to_owned() }).collect();
    let further = BTreeMap::from([("<script>".to_owned(), names)]);
    let by = ["<script>", "sex"];
    let page = audit(&problem, &people, &by, &further, &[], Settings::default()).page("<img>");
    for part in ["<script", "<b>", "<img", "http:", "https:", "url(", "@import", " src=", "{{", "{%"] {
        assert!(!page.contains(part), "{part}");
    }
    assert!(page.contains("&lt;b&gt;") && page.contains("(not stated)"));
    // Headings in order, every table with a caption, every row and column with a scope.
    let count = |part: &str| page.matches(part).count();
    assert_eq!(count("<h1"), 1);
    assert_eq!(count("<table>"), count("<caption>"));
    assert_eq!(count("<th"), count("scope=\"") + count("<thead>"));
}

#[test]
fn groups_are_read_and_refused() {
    let random = &mut ChaCha8Rng::seed_from_u64(5);
    let features = features();
    let people = people(random, &features, 30);
    let known = ["town".to_owned(), "a, b".to_owned(), "x: 1".to_owned()];
    let cells = |text: &str| vec![text.to_owned(); 30];
    let mut numbers: Vec<String> = (0..30).map(|i| i.to_string()).collect();
    numbers[4] = "four".into();
    let further = BTreeMap::from([
        ("town".to_owned(), numbers),
        ("a, b".to_owned(), cells("u")),
        ("x: 1".to_owned(), cells("v")),
    ]);
    let request = |text: &str| GroupingRequest::parse(text, &features, &known);
    let of = |text: &str| request(text).and_then(|request| Grouping::new(&request, &people, &further));
    // Names with commas and colons are names first.
    assert_eq!(of("a, b").unwrap().groups(), ["a, b: u"]);
    assert_eq!(of("x: 1").unwrap().groups(), ["x: 1: v"]);
    for (text, words) in [
        ("incme", "did you mean `income`?"),
        ("", "names no column"),
        (" , ", "names no column"),
        ("sex, sex", "names `sex` twice"),
        ("age: 50, 30", "ascending order"),
        ("age: 30, 30", "ascending order"),
        ("age: thirty", "ascending order"),
        ("age: nan", "ascending order"),
        ("town", "there are 30 groups"),
        ("income", "there are 30 groups"),
        ("town: 3", "person 5: `four` in the column `town` is no number"),
        ("sex, 30", "there is no column `30`"),
    ] {
        let said = of(text).unwrap_err().to_string();
        assert!(said.contains(words), "{text}: {said}");
    }
}
