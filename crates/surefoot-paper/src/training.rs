//! The paper's training: data sets, models, methods, settings and splits, and the quality of the published
//! classifiers.

use std::fmt;

use rand_mt::Mt;
use surefoot::Activation;
use surefoot::train::{Allr, ClassWeights, Objective, Ross, Training};

pub use crate::data::DataSet;

/// A model of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// Logistic regression.
    Linear,
    /// Two hidden layers of 100 tanh.
    Network,
}

/// A training method of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Empirical risk.
    Erm,
    /// ALLR.
    Allr,
    /// Ross et al.
    Ross,
    /// Actionable features only.
    Af,
    /// ALLR with `mu_1 = 0`.
    AllrWithoutLinearity,
    /// ALLR with `mu_2 = 0`.
    AllrWithoutReliance,
}

/// The published quality of a classifier, averaged over five seeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Published {
    /// Accuracy on the test split.
    pub accuracy: f64,
    /// Matthews correlation on the test split.
    pub mcc: f64,
    /// The share of people turned down with an action against uncertainty of 0.1 that the
    /// attack did not break.
    pub robust: f64,
}

impl Model {
    /// Both models.
    pub const ALL: [Model; 2] = [Model::Linear, Model::Network];
}

impl Method {
    /// The four methods that the paper compares.
    pub const COMPARED: [Method; 4] = [Method::Erm, Method::Allr, Method::Ross, Method::Af];

    /// All methods.
    pub const ALL: [Method; 6] = [
        Method::Erm,
        Method::Allr,
        Method::Ross,
        Method::Af,
        Method::AllrWithoutLinearity,
        Method::AllrWithoutReliance,
    ];

    /// The ablations: ALLR with only one of its two terms.
    pub const ABLATIONS: [Method; 2] = [Method::AllrWithoutLinearity, Method::AllrWithoutReliance];

    /// The name that commands and files use.
    pub fn name(self) -> &'static str {
        match self {
            Method::Erm => "erm",
            Method::Allr => "allr",
            Method::Ross => "ross",
            Method::Af => "af",
            Method::AllrWithoutLinearity => "allr-mu1-0",
            Method::AllrWithoutReliance => "allr-mu2-0",
        }
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Model::Linear => "linear",
            Model::Network => "network",
        })
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Method::Erm => "ERM",
            Method::Allr => "ALLR",
            Method::Ross => "Ross",
            Method::Af => "AF",
            Method::AllrWithoutLinearity => "ALLR, mu_1 = 0",
            Method::AllrWithoutReliance => "ALLR, mu_2 = 0",
        })
    }
}

/// The settings with which the paper trains a classifier.
pub fn recipe(data: DataSet, model: Model, method: Method, seed: u64) -> Training {
    let index = data as usize;
    let linear = model == Model::Linear;
    let epochs = match (method, linear) {
        (Method::Erm | Method::Af, true) => [100, 30, 20, 500, 200],
        (Method::Erm | Method::Af, false) => [10, 30, 100, 20, 50],
        (Method::Ross, true) => [20, 20, 30, 20, 40],
        (Method::Ross, false) => [10, 80, 20, 20, 100],
        (_, true) => [10, 20, 20, 40, 20],
        (_, false) => [20, 80, 30, 20, 500],
    }[index];
    let reliance = if linear { 0.1 } else { [0.1, 0.5, 0.01, 0.5, 0.01][index] };
    let allr = Allr { reliance, ..Allr::default() };
    let objective = match method {
        Method::Erm => Objective::EmpiricalRisk,
        Method::Af => Objective::ActionableOnly,
        Method::Ross => Objective::Ross(Ross::default()),
        Method::Allr => Objective::Allr(allr),
        Method::AllrWithoutLinearity => Objective::Allr(Allr { linearity: 0.0, ..allr }),
        Method::AllrWithoutReliance => Objective::Allr(Allr { reliance: 0.0, ..allr }),
    };
    let hidden = if linear { Vec::new() } else { vec![100, 100] };
    // Every setting is named, so that the paper's do not change with the defaults.
    Training {
        objective,
        hidden,
        activation: Activation::Tanh,
        epochs,
        batch: 100,
        step: 0.01,
        classes: ClassWeights::Equal,
        validation: None,
        seed,
    }
}

/// The published quality of a classifier; `None` for the ablations.
#[expect(clippy::approx_constant, reason = "a correlation of 0.318 has nothing to do with circles")]
pub fn published(data: DataSet, model: Model, method: Method) -> Option<Published> {
    let column = Method::COMPARED.iter().position(|&compared| compared == method)?;
    let (accuracy, mcc, robust) = match (data, model) {
        (DataSet::Compas, Model::Linear) => {
            [(0.663, 0.318, 0.65), (0.663, 0.316, 0.97), (0.662, 0.316, 0.74), (0.639, 0.263, 1.0)]
        }
        (DataSet::Adult, Model::Linear) => {
            [(0.782, 0.515, 1.0), (0.804, 0.430, 1.0), (0.818, 0.452, 1.0), (0.765, 0.347, 1.0)]
        }
        (DataSet::Loan, Model::Linear) => {
            [(0.725, 0.454, 1.0), (0.726, 0.455, 1.0), (0.715, 0.436, 1.0), (0.688, 0.380, 1.0)]
        }
        (DataSet::German, Model::Linear) => {
            [(0.746, 0.389, 0.50), (0.704, 0.342, 0.77), (0.727, 0.352, 0.94), (0.644, 0.149, 1.0)]
        }
        (DataSet::Bail, Model::Linear) => {
            [(0.647, 0.291, 0.23), (0.636, 0.260, 0.74), (0.643, 0.261, 1.0), (0.626, 0.163, 1.0)]
        }
        (DataSet::Compas, Model::Network) => {
            [(0.666, 0.327, 0.72), (0.660, 0.315, 0.99), (0.628, 0.281, 0.29), (0.639, 0.263, 0.93)]
        }
        (DataSet::Adult, Model::Network) => {
            [(0.793, 0.528, 0.42), (0.795, 0.428, 1.0), (0.729, 0.446, 0.34), (0.752, 0.352, 0.90)]
        }
        (DataSet::Loan, Model::Network) => {
            [(0.786, 0.573, 0.57), (0.833, 0.666, 0.90), (0.824, 0.647, 0.75), (0.749, 0.496, 0.39)]
        }
        (DataSet::German, Model::Network) => {
            [(0.734, 0.348, 0.52), (0.703, 0.334, 1.0), (0.748, 0.370, 1.0), (0.652, 0.191, 0.97)]
        }
        (DataSet::Bail, Model::Network) => {
            [(0.895, 0.774, 0.08), (0.861, 0.699, 0.37), (0.891, 0.766, 0.11), (0.624, 0.163, 0.49)]
        }
    }[column];
    Some(Published { accuracy, mcc, robust })
}

/// The rows that a seed trains on and those it tests on: the first four fifths and the rest of
/// the permutation that numpy's `RandomState(seed).permutation(rows)` gives.
pub fn split(rows: usize, seed: u32) -> (Vec<usize>, Vec<usize>) {
    let mut random = Mt::new(seed);
    let mut order: Vec<usize> = (0..rows).collect();
    for last in (1..rows).rev() {
        // Uniform on 0..=last by rejection: as many random bits as `last` has, drawn again while the number
        // is larger.
        let mask = (last + 1).next_power_of_two() - 1;
        let other = loop {
            let candidate = random.next_u32() as usize & mask;
            if candidate <= last {
                break candidate;
            }
        };
        order.swap(last, other);
    }
    let test = order.split_off(rows * 4 / 5);
    (order, test)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_split_is_that_of_numpy() {
        // numpy.random.RandomState(0).permutation(10), and so on
        let whole = |rows, seed| {
            let (mut train, test) = split(rows, seed);
            train.extend(test);
            train
        };
        assert_eq!(whole(10, 0), [2, 8, 4, 9, 1, 6, 7, 3, 0, 5]);
        assert_eq!(whole(6, 7), [3, 5, 0, 2, 1, 4]);
        assert_eq!(split(1000, 0).0[..5], [993, 859, 298, 553, 672]);
        assert_eq!(split(1000, 1).0[..5], [507, 818, 452, 368, 242]);
        assert_eq!(split(1000, 0).1.len(), 200);
    }
}
