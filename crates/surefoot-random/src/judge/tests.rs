//! What a judge must notice: false statements about cases whose answers are known.

use surefoot::outcome::Recourse;
use surefoot::{Action, Outcome};

use super::{Judge, Settings};
use crate::Case;

/// How often, of the cases with an action, a false statement about it is noticed as one of these
/// properties.
fn noticed(properties: &[&str], lie: impl Fn(&mut Judge<'_>, &Recourse)) -> (usize, usize) {
    let settings = Settings { evaluations: 1000, samples: 100, candidates: 150 };
    let (mut lies, mut noticed) = (0, 0);
    for number in 0..30 {
        let folder = tempfile::tempdir().unwrap();
        let case = Case::draw(3, number);
        let (problem, people) = case.read(folder.path());
        let individual = people.individual(0);
        // What is told of somebody with special values is about another problem.
        if case.of_person(individual).is_some() {
            continue;
        }
        let mut judge = Judge::new(&case, &problem, individual, settings);
        let Ok(Outcome::Found(found)) = judge.answer(settings.evaluations) else { continue };
        // Something that nothing can be cheaper than is told correctly by any bound.
        if found.cost < 1e-6 {
            continue;
        }
        lie(&mut judge, &found);
        lies += 1;
        noticed += usize::from(judge.contradictions.iter().any(|noted| properties.contains(&noted.property)));
    }
    assert!(lies > 5, "{lies}");
    (noticed, lies)
}

#[test]
fn a_margin_that_is_not_left_is_noticed() {
    let (noticed, lies) = noticed(&["no sample breaks what holds"], |judge, found| {
        let (sampled, _) = judge.sampled(&found.action);
        judge.found(&Recourse { margin: sampled + 1e-3, ..found.clone() });
    });
    assert_eq!(noticed, lies);
}

#[test]
fn an_action_that_changes_nothing_is_noticed() {
    let (noticed, lies) = noticed(&["no sample breaks what holds"], |judge, found| {
        let change = vec![0.0; found.action.change.len()];
        judge.holds("nothing", &Action { features: found.action.features.clone(), change }, 0.0);
    });
    assert_eq!(noticed, lies);
}

#[test]
fn a_bound_above_the_cheapest_cost_is_noticed() {
    let (noticed, lies) = noticed(&["nothing cheaper holds"], |judge, found| {
        judge.cheaper(1.2 * found.cost, &found.action);
    });
    assert!(noticed * 10 >= lies * 8, "{noticed} of {lies}");
}

#[test]
fn a_false_impossibility_is_noticed_without_a_hint() {
    let (noticed, lies) = noticed(&["nothing cheaper holds"], |judge, _| {
        judge.cheaper(f64::INFINITY, &Action { features: Vec::new(), change: Vec::new() });
    });
    assert!(noticed * 10 >= lies * 7, "{noticed} of {lies}");
}
