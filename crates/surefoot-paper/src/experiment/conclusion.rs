//! The paper's five conclusions, tested with our numbers.

use super::figures::label;
use super::statistic::{Cell, median};
use super::{COMPARED, EPSILONS, Results};
use crate::data::DataSet;
use crate::training::{Method, Model};

/// The smallest uncertainty that the paper calls significant; smaller perturbations are small.
const SIGNIFICANT: f64 = 0.1;

/// Smaller perturbations of linear recourse are within the slack of the published optima.
const TINY: f64 = 1e-4;

/// The smallest difference of shares that is considered relevant.
const NOTABLE: f64 = 0.05;

/// A conclusion of the paper and its test.
#[derive(Clone, Debug, PartialEq)]
pub struct Conclusion {
    /// The conclusion.
    pub claim: &'static str,
    /// The criterion of the test.
    pub criterion: &'static str,
    /// The figure that shows it.
    pub figure: &'static str,
    /// Whether it holds; `None` if the run does not contain the necessary results.
    pub holds: Option<bool>,
    /// Our numbers.
    pub evidence: String,
}

/// All five conclusions.
pub fn all(results: &Results) -> Vec<Conclusion> {
    vec![
        fragile(results),
        exactly_robust(results),
        loses_robustness(results),
        regularised(results),
        both_terms(results),
    ]
}

fn fragile(results: &Results) -> Conclusion {
    let (mut holds, mut words) = (Some(true), Vec::new());
    for data in results.data() {
        let of = |model| median(&results.breaks(data, model, 0.0));
        match (of(Model::Linear), of(Model::Network)) {
            (Some(linear), Some(network)) => {
                holds =
                    holds.map(|holds| holds && linear < TINY && linear < network && network < SIGNIFICANT);
                words.push(format!("{} {linear:.1e} and {network:.1e}", label(data)));
            }
            _ => holds = None,
        }
    }
    Conclusion {
        claim: "Standard recourse is fragile, most of all for linear classifiers.",
        criterion: "On every data set the median of the smallest perturbation that breaks standard recourse is \
                    below 0.0001 for linear classifiers, and larger but below 0.1 for networks.",
        figure: "fragility",
        holds: holds.filter(|_| !words.is_empty()),
        evidence: format!("Medians for linear classifiers and networks: {}.", words.join("; ")),
    }
}

fn exactly_robust(results: &Results) -> Conclusion {
    let (mut actions, mut broken, mut excess) = (0, 0, 0.0f64);
    for data in results.data() {
        for &epsilon in EPSILONS.iter().filter(|&&epsilon| epsilon > 0.0) {
            for size in results.breaks(data, Model::Linear, epsilon) {
                actions += 1;
                broken += usize::from(size < epsilon);
                excess = excess.max(size - epsilon);
            }
        }
    }
    Conclusion {
        claim: "For linear classifiers robust recourse is exactly as robust as asked for: no perturbation within \
                the uncertainty breaks it, and one hardly larger does.",
        criterion: "No action is broken within the uncertainty it was made for, and every one is broken by a \
                    perturbation larger by less than 0.0001.",
        figure: "robustness",
        holds: (actions > 0).then_some(broken == 0 && excess < TINY),
        evidence: format!(
            "{broken} of {actions} actions broken within their uncertainty; the smallest perturbation that \
             breaks one is at most {excess:.1e} larger."
        ),
    }
}

fn loses_robustness(results: &Results) -> Conclusion {
    let (mut words, mut lost, mut examined, mut kept) = (Vec::new(), 0, 0, true);
    let (mut certified, mut mistakes) = (0, 0);
    for data in results.data() {
        let cell: Cell = (data, Model::Network, Method::Erm);
        let (Some(small), Some(large)) = (results.broken(cell, 0.001), results.broken(cell, 0.5)) else {
            continue;
        };
        examined += 1;
        kept &= small.mean < NOTABLE;
        lost += usize::from(large.mean > small.mean + NOTABLE);
        words.push(format!("{} {} and {}", label(data), percent(small.mean), percent(large.mean)));
        for epsilon in [0.1, 0.5] {
            if let Some(comparison) = results.comparison(cell, epsilon) {
                certified += comparison.certified;
                mistakes += comparison.mistakes + comparison.contradicted;
            }
        }
    }
    let holds = kept && 2 * lost > examined && mistakes == 0 && certified > 0;
    Conclusion {
        claim: "For networks the paper's method is robust against little uncertainty and loses robustness \
                against much; certified actions do not.",
        criterion: "On every data set fewer than 5% of the actions for 0.001 are broken, on most clearly more \
                    of those for 0.5; and of the certified actions for 0.1 and 0.5 none is.",
        figure: "robustness",
        holds: (examined > 0).then_some(holds),
        evidence: format!(
            "Actions broken at 0.001 and at 0.5: {}. Of {certified} certified actions {mistakes} broken.",
            words.join("; ")
        ),
    }
}

/// Shares with robust recourse of ERM and of another way of training, where both are known.
fn shares(results: &Results, model: Model, method: Method) -> Vec<(DataSet, f64, f64)> {
    let share = |data, method| results.robust((data, model, method), COMPARED).map(|share| share.mean);
    let both = |data| Some((data, share(data, Method::Erm)?, share(data, method)?));
    results.data().into_iter().filter_map(both).collect()
}

fn percent(value: f64) -> String {
    format!("{:.0}%", 100.0 * value)
}

fn regularised(results: &Results) -> Conclusion {
    let mut holds = true;
    let mut words = Vec::new();
    for model in Model::ALL {
        let mut raised = 0;
        let shares = shares(results, model, Method::Allr);
        for (data, before, after) in &shares {
            holds &= *after >= before - 0.01;
            raised += usize::from(*after > before + NOTABLE);
            words.push(format!("{} {model} {} to {}", label(*data), percent(*before), percent(*after)));
        }
        // The share cannot rise where everybody has robust recourse.
        let room = shares.iter().filter(|(_, before, _)| *before < 1.0 - NOTABLE).count();
        holds &= 2 * raised > room || room == 0;
    }
    Conclusion {
        claim: "ALLR raises the share of people with robust recourse.",
        criterion: "On no data set is the share (at 0.1, after the attack) lower than with ERM by more than one \
                    point, and on most of those where ERM leaves room it is higher by more than five.",
        figure: "comparison-network",
        holds: (!words.is_empty()).then_some(holds),
        evidence: format!("From ERM to ALLR: {}.", words.join("; ")),
    }
}

fn both_terms(results: &Results) -> Conclusion {
    let share = |data, method| results.robust((data, Model::Network, method), COMPARED).map(|s| s.mean);
    let all: Vec<[f64; 3]> = results
        .data()
        .into_iter()
        .filter_map(|data| {
            let [linearity, reliance] = Method::ABLATIONS;
            Some([share(data, Method::Allr)?, share(data, linearity)?, share(data, reliance)?])
        })
        .collect();
    let mean = |k: usize| all.iter().map(|row| row[k]).sum::<f64>() / all.len().max(1) as f64;
    let lowered = |k: usize| all.iter().any(|row| row[k] < row[0] - NOTABLE);
    let holds = mean(0) > mean(1) && mean(0) > mean(2) && lowered(1) && lowered(2);
    Conclusion {
        claim: "Both terms of ALLR matter.",
        criterion: "Without either term the share with robust recourse is lower on average over the data sets, \
                    and by more than five points on one of them at least.",
        figure: "ablation",
        holds: (!all.is_empty()).then_some(holds),
        evidence: format!(
            "Mean share with both terms {}, with mu_1 = 0 {}, with mu_2 = 0 {}.",
            percent(mean(0)),
            percent(mean(1)),
            percent(mean(2))
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Answers, Measured, Proofs, Proven, Unit};
    use super::*;

    /// Two people of a unit with an action for each, for every size of uncertainty; `sizes` of
    /// what breaks them, beyond the uncertainty.
    fn unit(model: Model, method: Method, beyond: [f64; 2], broken: bool) -> (Unit, Measured) {
        let unit = Unit { data: DataSet::Loan, model, method, seed: 0 };
        let answers = |&epsilon: &f64| Answers {
            epsilon,
            cost: vec![Some(1.0); 2],
            smallest_break: beyond.map(|size| Some(epsilon + size)).to_vec(),
        };
        let proven = Proven::Certified { cost: 1.0, bound: 1.0, broken };
        let measured = Measured {
            accuracy: 0.8,
            mcc: 0.6,
            turned_down: 2,
            rows: vec![0, 1],
            answers: EPSILONS.iter().map(answers).collect(),
            proofs: vec![Proofs { epsilon: COMPARED, people: vec![proven; 2] }],
        };
        (unit, measured)
    }

    fn verdicts(measured: Vec<(Unit, Measured)>) -> Vec<Option<bool>> {
        let results = Results { measured, retrained: Vec::new(), origins: Vec::new(), seconds: 0.0 };
        all(&results).into_iter().map(|conclusion| conclusion.holds).collect()
    }

    #[test]
    fn nothing_is_concluded_from_nothing() {
        assert_eq!(verdicts(Vec::new()), [None; 5]);
    }

    #[test]
    fn conclusions_hold_or_do_not() {
        let linear = |method, beyond| unit(Model::Linear, method, beyond, false);
        let network = |method, beyond| unit(Model::Network, method, beyond, false);
        let good = [1e-6, 2e-6];
        let [linearity, reliance] = Method::ABLATIONS;
        // Nothing of the network's breaks within the uncertainty, so nothing is lost at 0.5.
        let all = vec![
            linear(Method::Erm, good),
            linear(Method::Allr, good),
            network(Method::Erm, [0.01, 0.02]),
            network(Method::Allr, [0.01, 0.02]),
            network(linearity, [-0.0001, 0.02]),
            network(reliance, [-0.0001, 0.02]),
        ];
        assert_eq!(verdicts(all), [Some(true), Some(true), Some(false), Some(true), Some(true)]);
        // A linear action that breaks too early, and one that is dearer than it need be.
        assert_eq!(verdicts(vec![linear(Method::Erm, [-1e-5, 1e-6])])[1], Some(false));
        assert_eq!(verdicts(vec![linear(Method::Erm, [1e-6, 1e-2])])[1], Some(false));
        // ALLR that lowers the share.
        let lower = vec![linear(Method::Erm, good), linear(Method::Allr, [-1e-5, 1e-6])];
        assert_eq!(verdicts(lower)[3], Some(false));
        // Terms that make no difference.
        let equal = [Method::Allr, linearity, reliance].map(|method| network(method, good));
        assert_eq!(verdicts(equal.to_vec())[4], Some(false));
    }

    /// At 0.5 half of the actions break: that is the paper's conclusion, unless a certified one
    /// breaks too.
    #[test]
    fn a_broken_certificate_refutes_the_third_conclusion() {
        for broken in [false, true] {
            let (at, mut measured) = unit(Model::Network, Method::Erm, [0.01, 0.02], broken);
            measured.answers[4].smallest_break[0] = Some(0.1);
            assert_eq!(verdicts(vec![(at, measured)])[2], Some(!broken));
        }
    }
}
