//! How good a classifier is, in words.

use comfy_table::{CellAlignment, Table, presets::UTF8_FULL_CONDENSED};
use surefoot::Metrics;
use surefoot::train::Quality;

/// A measure to three digits; a dash where it is undefined.
pub fn shown(value: Option<f64>) -> String {
    value.map_or("-".into(), |value| format!("{value:.3}"))
}

/// The Matthews correlation, and whatever else compares outcomes; undefined if there is but one.
pub fn if_both(metrics: &Metrics, value: f64) -> Option<f64> {
    let counts = metrics.confusion;
    let favourable = counts.true_positives + counts.false_negatives;
    let unfavourable = counts.true_negatives + counts.false_positives;
    (favourable > 0 && unfavourable > 0).then_some(value)
}

/// Measures in training and on rows held out side by side, and a warning where they do not agree.
pub fn told(quality: &Quality, threshold: f64, is_tested: bool, is_stopped_early: bool) -> String {
    let measured: Vec<&Metrics> = std::iter::once(&quality.training).chain(&quality.held_out).collect();
    let mut table = Table::new();
    let header = ["", "training", "held out"].into_iter().take(1 + measured.len());
    table.load_style(UTF8_FULL_CONDENSED).set_header(header);
    let mut add = |name: &str, of: fn(&Metrics) -> Option<f64>| {
        let values = measured.iter().map(|metrics| shown(of(metrics)));
        table.add_row([name.to_owned()].into_iter().chain(values));
    };
    add("accuracy", |metrics| Some(metrics.accuracy));
    add("Matthews correlation", |metrics| if_both(metrics, metrics.mcc));
    add("F1", |metrics| {
        let counts = metrics.confusion;
        let any = counts.true_positives + counts.false_positives + counts.false_negatives > 0;
        any.then_some(metrics.f1)
    });
    add("area under the curve", |metrics| if_both(metrics, metrics.auc));
    add("Brier score", |metrics| Some(metrics.brier));
    add("calibration error", |metrics| Some(metrics.calibration_error));
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let last = measured[measured.len() - 1].confusion;
    let turned_down = last.true_negatives + last.false_negatives;
    let whom = if quality.held_out.is_some() { "held out" } else { "trained on" };
    format!(
        "{table}\n{}Favourable from a probability of {threshold:.4} on; {turned_down} of those {whom} are turned down.\n",
        verdict(quality, is_tested, is_stopped_early)
    )
}

/// The accuracies, and whether they agree.
fn verdict(quality: &Quality, is_tested: bool, is_stopped_early: bool) -> String {
    let training = quality.training.accuracy;
    let Some(held_out) = &quality.held_out else {
        return format!(
            "Accuracy {training:.3} in training. Warning: no rows were held out, so the accuracy for other people is \
             not known; give --test or --validation.\n"
        );
    };
    let held_out = held_out.accuracy;
    let which = if is_tested { "to test on" } else { "for early stopping, on which it is a little too high" };
    let accuracies =
        format!("Accuracy {training:.3} in training and {held_out:.3} on the rows held out {which}.");
    if !quality.differs_beyond_chance() {
        return format!("{accuracies}\n");
    }
    let meaning = match (training > held_out, is_stopped_early) {
        (true, false) => {
            "expect the accuracy on the rows held out for other people. Let it stop early \
             (--validation 0.2), take fewer or smaller layers (--hidden), or give more rows"
        }
        (true, true) => {
            "expect the accuracy on the rows held out for other people. Take fewer or smaller \
             layers (--hidden), or give more rows"
        }
        (false, _) => {
            "the accuracy is higher on the rows held out, so these and the training rows may be of different kinds"
        }
    };
    format!("{accuracies}\nWarning: these differ by more than chance would explain: {meaning}.\n")
}
