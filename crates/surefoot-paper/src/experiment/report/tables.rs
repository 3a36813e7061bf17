//! The report's tables: published, ours, and the difference.

use serde::Serialize;

use super::super::figures::{label, method_label};
use super::super::statistic::{Cell, Comparison, Statistic, median};
use super::super::{COMPARED, EPSILONS, Results, published};
use super::retraining;
use crate::data::DataSet;
use crate::training::{Method, Model};

/// A table of the page.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Table {
    /// The title.
    pub title: String,
    /// The names of the columns, the first of which identify a row.
    pub head: Vec<String>,
    /// The number of columns that identify a row.
    pub names: usize,
    /// The rows.
    pub rows: Vec<Vec<Entry>>,
}

/// A cell of a table.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Entry {
    pub text: String,
    /// `off` where a difference is larger than chance explains.
    pub class: &'static str,
}

/// The number of comparisons, and how many of the differences are within training noise.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Agreement {
    pub within: usize,
    pub compared: usize,
}

impl From<String> for Entry {
    fn from(text: String) -> Self {
        Self { text, class: "" }
    }
}

impl From<&str> for Entry {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

/// The text of a missing number.
pub(super) const NONE: &str = "–";

/// The tables that go with a figure.
pub(super) fn of(figure: &str, results: &Results, agreement: &mut Agreement) -> Vec<Table> {
    let [linearity, reliance] = Method::ABLATIONS;
    match figure {
        "fragility" => vec![fragility(results, agreement)],
        "robustness" => Model::ALL.map(|model| robustness(results, model, agreement)).to_vec(),
        "comparison-linear" => comparison(results, Model::Linear, &Method::COMPARED, agreement),
        "comparison-network" => comparison(results, Model::Network, &Method::COMPARED, agreement),
        // The table of the comparison has the other two.
        "ablation" => comparison(results, Model::Network, &[linearity, reliance], agreement),
        "proofs" => vec![proofs(results, Model::Network), proofs(results, Model::Linear)],
        "retraining-linear" => retraining::tables(results, Model::Linear),
        "retraining-network" => retraining::tables(results, Model::Network),
        _ => Vec::new(),
    }
    .into_iter()
    .filter(|table| !table.rows.is_empty())
    .collect()
}

/// The cells of a comparison: published, ours, and the difference with its tolerance.
fn triple(
    published: Option<f64>,
    ours: Option<Statistic>,
    tolerance: Option<f64>,
    digits: usize,
    agreement: &mut Agreement,
) -> [Entry; 3] {
    let number = |value: f64| format!("{value:.digits$}");
    let told = |value: Option<f64>| value.map_or_else(|| NONE.into(), number);
    let mut difference = Entry::from(NONE);
    if let (Some(published), Some(ours)) = (published, ours) {
        let by = ours.mean - published;
        difference = format!("{by:+.digits$}").into();
        if let Some(tolerance) = tolerance {
            difference.text += &format!(" (±{tolerance:.digits$})");
            // The published number is rounded.
            let within = by.abs() <= tolerance + 0.5 * 0.1f64.powi(digits as i32);
            agreement.compared += 1;
            agreement.within += usize::from(within);
            difference.class = if within { "within" } else { "off" };
        }
    }
    [told(published).into(), told(ours.map(|ours| ours.mean)).into(), difference]
}

fn fragility(results: &Results, agreement: &mut Agreement) -> Table {
    let mut rows = Vec::new();
    for model in Model::ALL {
        for data in results.data() {
            let breaks = results.breaks(data, model, 0.0);
            let Some(ours) = median(&breaks) else { continue };
            let seeds = results.of((data, model, Method::Erm)).count();
            let published = published::fragility(data, model);
            let times = ours / published;
            let most = 10f64.powf(published::tolerance(published::FRAGILITY_SPREAD, seeds, 0.0));
            let mut ratio = Entry::from(format!("{times:.2}"));
            if data != DataSet::Bail {
                ratio.text += &format!(" (up to {most:.1} either way)");
                let within = times <= most && times >= 1.0 / most;
                agreement.compared += 1;
                agreement.within += usize::from(within);
                ratio.class = if within { "within" } else { "off" };
            }
            rows.push(vec![
                label(data).into(),
                model.to_string().into(),
                format!("{published:.1e}").into(),
                format!("{ours:.1e}").into(),
                ratio,
                breaks.len().to_string().into(),
            ]);
        }
    }
    let head = ["data set", "classifier", "published", "ours", "ours / published", "actions"];
    Table {
        title: "Median of the smallest perturbation that breaks standard recourse".into(),
        head: head.map(String::from).to_vec(),
        names: 2,
        rows,
    }
}

fn robustness(results: &Results, model: Model, agreement: &mut Agreement) -> Table {
    let mut rows = Vec::new();
    for data in results.data() {
        let cell: Cell = (data, model, Method::Erm);
        for &epsilon in EPSILONS.iter().filter(|&&epsilon| epsilon > 0.0) {
            let Some(found) = results.found(cell, epsilon) else { continue };
            let known = published::robustness(data, model, epsilon);
            let spread = published::recourse_spread(data, model);
            let allowed = |k: usize, scale: f64| {
                spread.map(|spread| published::tolerance(scale * spread[k], found.seeds, 0.01))
            };
            let cost = results.cost(cell, epsilon);
            let mut row: Vec<Entry> = vec![label(data).into(), epsilon.to_string().into()];
            row.extend(triple(known.map(|k| k.found), Some(found), allowed(0, 1.0), 2, agreement));
            let broken = results.broken(cell, epsilon);
            row.extend(triple(known.map(|k| k.broken), broken, allowed(1, 1.0), 2, agreement));
            let scale = known.map_or(1.0, |known| known.cost);
            row.extend(triple(known.map(|k| k.cost), cost, allowed(2, scale), 2, agreement));
            rows.push(row);
        }
    }
    let mut head = vec!["data set".to_owned(), "ε".to_owned()];
    for quantity in ["found", "broken", "cost"] {
        head.extend([format!("{quantity}: published"), "ours".into(), "difference".into()]);
    }
    let title =
        format!("Robust recourse, ERM, {model}: share with an action, share of actions broken, mean cost");
    Table { title, head, names: 2, rows }
}

fn comparison(results: &Results, model: Model, methods: &[Method], agreement: &mut Agreement) -> Vec<Table> {
    let mut rows = Vec::new();
    for data in results.data() {
        for &method in methods {
            let cell: Cell = (data, model, method);
            let Some(accuracy) = results.accuracy(cell) else { continue };
            let known = published::quality(data, model, method);
            let spread = published::spread(data, model);
            let allowed = |k: usize, digits: f64| {
                spread.map(|spread| published::tolerance(spread[k], accuracy.seeds, digits))
            };
            let mut row: Vec<Entry> = vec![label(data).into(), method_label(method).into()];
            row.extend(triple(known.map(|k| k.accuracy), Some(accuracy), allowed(0, 0.01), 3, agreement));
            row.extend(triple(known.map(|k| k.mcc), results.mcc(cell), allowed(1, 0.01), 3, agreement));
            let robust = results.robust(cell, COMPARED);
            row.extend(triple(known.map(|k| k.robust), robust, allowed(2, 0.01), 2, agreement));
            let cost = known.and_then(|known| known.recourse).map(|recourse| recourse.cost);
            row.extend(triple(cost, results.shared_cost(cell, COMPARED), None, 2, agreement));
            rows.push(row);
        }
    }
    let mut head = vec!["data set".to_owned(), "training".to_owned()];
    for quantity in ["accuracy", "MCC", "robust share", "cost"] {
        head.extend([format!("{quantity}: published"), "ours".into(), "difference".into()]);
    }
    let title = format!(
        "{}: quality, share with robust recourse at {COMPARED}, its mean cost",
        capital(&model.to_string())
    );
    vec![Table { title, head, names: 2, rows }]
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn proofs(results: &Results, model: Model) -> Table {
    let mut rows = Vec::new();
    for data in results.data() {
        for method in Method::COMPARED.into_iter().chain(Method::ABLATIONS) {
            for &epsilon in &EPSILONS {
                let Some(counted) = results.comparison((data, model, method), epsilon) else { continue };
                let Comparison { people, holds, broken, certified, impossible, undecided, gained, .. } =
                    counted;
                let share = |count: usize| format!("{:.0}%", 100.0 * count as f64 / people as f64).into();
                let cost =
                    |value: f64, count: usize| if count > 0 { format!("{value:.2}") } else { NONE.into() };
                rows.push(vec![
                    label(data).into(),
                    method_label(method).into(),
                    epsilon.to_string().into(),
                    people.to_string().into(),
                    share(holds),
                    share(broken),
                    share(certified),
                    share(impossible),
                    share(undecided),
                    share(gained),
                    cost(counted.cost, counted.both).into(),
                    cost(counted.certified_cost, counted.both).into(),
                    cost(counted.mean_certified, certified).into(),
                    if certified > 0 { format!("{:.1}%", 100.0 * counted.gap) } else { NONE.into() }.into(),
                    (counted.mistakes + counted.contradicted).to_string().into(),
                ]);
            }
        }
    }
    let head = [
        "data set",
        "training",
        "ε",
        "people",
        "paper's method: holds",
        "broken",
        "certified",
        "impossible",
        "undecided",
        "certified where the paper's method has none that holds",
        "cost where both: paper's method",
        "certified",
        "certified cost of all",
        "gap to the proven bound",
        "proofs refuted",
    ];
    Table {
        title: format!("{}: the paper's method and proofs, for the same people", capital(&model.to_string())),
        head: head.map(String::from).to_vec(),
        names: 3,
        rows,
    }
}
