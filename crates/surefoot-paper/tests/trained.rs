//! Classifiers trained by the paper's recipes against the published ones.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use ndarray::Axis;
use surefoot::Metrics;
use surefoot::train::Threshold;
use surefoot_paper::Reference;
use surefoot_paper::training::{DataSet, Method, Model, recipe, split};

/// Accuracy and Matthews correlation of one seed, on its test split, within what another random
/// start changes. (The benchmark `training` does all seeds of everything.)
#[test]
#[cfg_attr(without_reference, ignore = "the published answers are missing")]
fn quality_is_that_of_the_published_classifiers() {
    let reference = Reference::required();
    for (data, model, method) in [
        (DataSet::Compas, Model::Linear, Method::Erm),
        (DataSet::Compas, Model::Linear, Method::Allr),
        (DataSet::Compas, Model::Linear, Method::Af),
        (DataSet::Adult, Model::Linear, Method::Erm),
        (DataSet::Adult, Model::Linear, Method::Allr),
        (DataSet::Adult, Model::Linear, Method::Ross),
        (DataSet::Compas, Model::Network, Method::Erm),
        (DataSet::Compas, Model::Network, Method::Allr),
        (DataSet::Compas, Model::Network, Method::Af),
        (DataSet::Loan, Model::Network, Method::Erm),
        (DataSet::Loan, Model::Network, Method::AllrWithoutReliance),
    ] {
        let features = reference.features(data.name()).unwrap();
        let (rows, labels) = reference.rows(data.name()).unwrap();
        let (train, test) = split(rows.nrows(), 0);
        let pick = |chosen: &[usize]| {
            (rows.select(Axis(0), chosen), chosen.iter().map(|&i| labels[i]).collect::<Vec<bool>>())
        };
        let ((train, train_labels), (test, test_labels)) = (pick(&train), pick(&test));
        let trained = recipe(data, model, method, 0).run(&features, train.view(), &train_labels).unwrap();
        let classifier = trained.classifier(Threshold::BestMcc, train.view(), &train_labels).unwrap();
        let probabilities = trained.probabilities(test.view());
        let metrics = Metrics::measure(&probabilities, &test_labels, classifier.threshold()).unwrap();
        let file = match (model, method) {
            (Model::Linear, method) => format!("{data}_linear_{}_s0", method.to_string().to_uppercase()),
            (Model::Network, Method::AllrWithoutReliance) => format!("{data}_mlp_ALLR0_s0"),
            (Model::Network, method) => format!("{data}_mlp_{}_s0", method.to_string().to_uppercase()),
        };
        let (accuracy, mcc) = reference.case(&file).unwrap().quality;
        println!("{file}: {:.3} {accuracy:.3}, {:.3} {mcc:.3}", metrics.accuracy, metrics.mcc);
        // The test split of Loan has 200 people.
        let (in_accuracy, in_mcc) = if data == DataSet::Loan { (0.04, 0.08) } else { (0.015, 0.03) };
        assert!((metrics.accuracy - accuracy).abs() < in_accuracy, "{file}");
        assert!((metrics.mcc - mcc).abs() < in_mcc, "{file}");
    }
}
