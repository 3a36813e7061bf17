//! The paper's figures, drawn from our results.

mod retraining;

use super::statistic::Cell;
use super::{COMPARED, EPSILONS, ExperimentError, Result, Results, Statistic, published};
use crate::data::DataSet;
use crate::figure::bars::{Bar, Bars, Stacks};
use crate::figure::canvas::{Canvas, Mark};
use crate::figure::panel::Panel;
use crate::figure::violin::{Group, Violins};
use crate::figure::{COLOURS, illustration};
use crate::training::{Method, Model};
pub(super) use retraining::guard_label;

/// A figure with its title and description.
#[derive(Debug)]
pub struct Figure {
    /// The name of its files.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// Its description.
    pub caption: &'static str,
    /// The drawing.
    pub drawing: Canvas,
}

/// The label of a data set.
pub(super) fn label(data: DataSet) -> &'static str {
    match data {
        DataSet::Compas => "COMPAS",
        DataSet::Adult => "Adult",
        DataSet::Loan => "Loan",
        DataSet::German => "German",
        DataSet::Bail => "Bail",
    }
}

/// The label of a training method.
pub(super) fn method_label(method: Method) -> String {
    match method {
        Method::Ross => "Ross et al.".into(),
        Method::AllrWithoutLinearity => "ALLR, μ₁ = 0".into(),
        Method::AllrWithoutReliance => "ALLR, μ₂ = 0".into(),
        method => method.to_string(),
    }
}

/// All figures for which there are results.
pub(super) fn all(results: &Results) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    figures.extend(fragility(results));
    figures.extend(robustness(results));
    let compared = |model| comparison(results, model, &Method::COMPARED);
    figures.extend(compared(Model::Linear).map(|drawing| Figure {
        name: "comparison-linear",
        title: "Ways of training, linear classifiers",
        caption: COMPARISON,
        drawing,
    }));
    figures.extend(compared(Model::Network).map(|drawing| Figure {
        name: "comparison-network",
        title: "Ways of training, networks",
        caption: COMPARISON,
        drawing,
    }));
    let [linearity, reliance] = Method::ABLATIONS;
    let ablation = comparison(results, Model::Network, &[Method::Erm, Method::Allr, linearity, reliance]);
    let ablated = results.measured.iter().any(|(unit, _)| Method::ABLATIONS.contains(&unit.method));
    figures.extend(ablation.filter(|_| ablated).map(|drawing| Figure {
        name: "ablation",
        title: "ALLR with one of its terms only, networks",
        caption: COMPARISON,
        drawing,
    }));
    figures.extend(proofs(results));
    figures.extend(retraining::figures(results));
    figures.extend(illustrations()?);
    Ok(figures)
}

const COMPARISON: &str = "Bars: ours, with one standard deviation from seed to seed where there are several. \
    Diamonds: published (shares without uncertainty and costs over three seeds, the rest over five). Costs are \
    means over those people who have recourse with ERM too, as a part of the highest on the data set. Shares at \
    0.1 count actions that the attacks do not break.";

/// The factor by which an axis extends above the highest bar.
const HEADROOM: f64 = 1.05;

fn fragility(results: &Results) -> Option<Figure> {
    let group = |data: DataSet| {
        let violins = Model::ALL.map(|model| (COLOURS[model as usize], results.breaks(data, model, 0.0)));
        Group { name: label(data).into(), violins: violins.to_vec(), line: None }
    };
    let violins = Violins {
        beside: "smallest perturbation that breaks it".into(),
        groups: results.data().into_iter().map(group).collect(),
        ..Violins::default()
    };
    let y = violins.range()?;
    let mut drawing = Canvas::new(720.0, 360.0);
    violins
        .draw(&mut drawing, Panel { left: 80.0, top: 50.0, width: 620.0, height: 270.0, x: (0.0, 1.0), y });
    let names = ["linear classifiers (LR)", "networks (NN)"].into_iter().zip(COLOURS);
    let names: Vec<(Mark, String)> =
        names.map(|(name, colour)| (Mark::Square(colour), name.into())).collect();
    drawing.legend(&names, 22.0);
    Some(Figure {
        name: "fragility",
        title: "Fragility of standard recourse",
        caption: "The size of the smallest perturbation found to break each person's cheapest action, ERM \
                  classifiers, all seeds. The line in a violin is the median.",
        drawing,
    })
}

fn robustness(results: &Results) -> Option<Figure> {
    let violins = Model::ALL.map(|model| {
        let group = |&epsilon: &f64| {
            let violins = DataSet::ALL
                .into_iter()
                .filter(|data| results.data().contains(data))
                .map(|data| (COLOURS[data as usize], results.breaks(data, model, epsilon)));
            Group { name: format!("ε = {epsilon}"), violins: violins.collect(), line: Some(epsilon) }
        };
        let title = if model == Model::Linear { "linear classifiers (LR)" } else { "networks (NN)" };
        let beside = if model == Model::Linear { "smallest perturbation that breaks it" } else { "" };
        let groups = EPSILONS.iter().filter(|&&epsilon| epsilon > 0.0).map(group).collect();
        Violins { title: title.into(), below: String::new(), beside: beside.into(), groups }
    });
    let has = |violins: &&Violins| {
        let mut all = violins.groups.iter().flat_map(|group| &group.violins);
        all.any(|(_, values)| !values.is_empty())
    };
    let shown: Vec<&Violins> = violins.iter().filter(has).collect();
    // Both have the same axis, so that they can be compared.
    let (low, high) = shown
        .iter()
        .filter_map(|violins| violins.range())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), range| (low.min(range.0), high.max(range.1)));
    if shown.is_empty() {
        return None;
    }
    let mut drawing = Canvas::new(900.0, 400.0);
    for (number, violins) in shown.iter().enumerate() {
        let left = 80.0 + 420.0 * number as f64;
        let panel = Panel { left, top: 66.0, width: 370.0, height: 290.0, x: (0.0, 1.0), y: (low, high) };
        violins.draw(&mut drawing, panel);
    }
    let data = results.data().into_iter();
    let mut names: Vec<(Mark, String)> =
        data.map(|data| (Mark::Square(COLOURS[data as usize]), label(data).into())).collect();
    names.push((Mark::Dashes, "the uncertainty ε guarded against".into()));
    drawing.legend(&names, 22.0);
    Some(Figure {
        name: "robustness",
        title: "Robustness of robust recourse",
        caption: "The size of the smallest perturbation found to break actions that were made robust against ε, ERM \
                  classifiers, all seeds. What reaches below its dashed line is fragile.",
        drawing,
    })
}

/// One panel of a comparison: for each data set the bars of the methods.
struct Quantity<'a> {
    title: String,
    ours: &'a dyn Fn(Cell) -> Option<Statistic>,
    published: &'a dyn Fn(Cell) -> Option<f64>,
    /// Whether numbers are divided by the largest on their data set.
    relative: bool,
}

impl Quantity<'_> {
    fn bars(&self, data: &[DataSet], model: Model, methods: &[Method]) -> Bars {
        let group = |&data: &DataSet| {
            let cell = |method: Method| -> Cell { (data, model, method) };
            let most = |value: &dyn Fn(Cell) -> Option<f64>| {
                let largest = methods.iter().filter_map(|&m| value(cell(m))).fold(0.0f64, f64::max);
                if self.relative && largest > 0.0 { largest } else { 1.0 }
            };
            let ours = most(&|cell| (self.ours)(cell).map(|statistic| statistic.mean));
            let published = most(&|cell| (self.published)(cell));
            let bar = |(number, &method): (usize, &Method)| {
                let statistic = (self.ours)(cell(method));
                Bar {
                    colour: COLOURS[number % COLOURS.len()],
                    value: statistic.map(|statistic| statistic.mean / ours),
                    deviation: statistic.map_or(0.0, |statistic| statistic.deviation / ours),
                    published: (self.published)(cell(method)).map(|value| value / published),
                }
            };
            (label(data).into(), methods.iter().enumerate().map(bar).collect())
        };
        Bars { title: self.title.clone(), beside: String::new(), groups: data.iter().map(group).collect() }
    }
}

fn comparison(results: &Results, model: Model, methods: &[Method]) -> Option<Canvas> {
    let there = |data: &DataSet| methods.iter().any(|&m| results.of((*data, model, m)).next().is_some());
    let data: Vec<DataSet> = results.data().into_iter().filter(there).collect();
    if data.is_empty() {
        return None;
    }
    let known = |(data, model, method): Cell| published::quality(data, model, method);
    let quantities = [
        Quantity {
            title: "share with recourse, ε = 0".into(),
            ours: &|cell| results.found(cell, 0.0),
            published: &|cell| known(cell)?.recourse.map(|recourse| recourse.standard),
            relative: false,
        },
        Quantity {
            title: format!("share with robust recourse, ε = {COMPARED}"),
            ours: &|cell| results.robust(cell, COMPARED),
            published: &|cell| known(cell).map(|quality| quality.robust),
            relative: false,
        },
        Quantity {
            title: "relative cost of recourse, ε = 0".into(),
            ours: &|cell| results.shared_cost(cell, 0.0),
            published: &|cell| known(cell)?.recourse.map(|recourse| recourse.standard_cost),
            relative: true,
        },
        Quantity {
            title: format!("relative cost of robust recourse, ε = {COMPARED}"),
            ours: &|cell| results.shared_cost(cell, COMPARED),
            published: &|cell| known(cell)?.recourse.map(|recourse| recourse.cost),
            relative: true,
        },
        Quantity {
            title: "accuracy".into(),
            ours: &|cell| results.accuracy(cell),
            published: &|cell| known(cell).map(|quality| quality.accuracy),
            relative: false,
        },
        Quantity {
            title: "Matthews correlation (MCC)".into(),
            ours: &|cell| results.mcc(cell),
            published: &|cell| known(cell).map(|quality| quality.mcc),
            relative: false,
        },
    ];
    let mut drawing = Canvas::new(900.0, 760.0);
    for (number, quantity) in quantities.iter().enumerate() {
        let (left, top) = (60.0 + 430.0 * (number % 2) as f64, 70.0 + 235.0 * (number / 2) as f64);
        let panel = Panel { left, top, width: 390.0, height: 170.0, x: (0.0, 1.0), y: (0.0, HEADROOM) };
        quantity.bars(&data, model, methods).draw(&mut drawing, panel);
    }
    let each = methods.iter().enumerate();
    let mut names: Vec<(Mark, String)> =
        each.map(|(k, &method)| (Mark::Square(COLOURS[k % COLOURS.len()]), method_label(method))).collect();
    names.push((Mark::Diamond, "published".into()));
    drawing.legend(&names, 24.0);
    Some(drawing)
}

/// The colours of outcomes: good, bad, undecided.
const HOLDS: &str = COLOURS[2];
const BROKEN: &str = COLOURS[1];
const NOTHING: &str = "#c8c8c8";
const CERTIFIED: &str = COLOURS[0];
const IMPOSSIBLE: &str = "#555555";
const UNDECIDED: &str = COLOURS[4];

fn proofs(results: &Results) -> Option<Figure> {
    let panel = |epsilon: f64| {
        let group = |data: DataSet| {
            let counted = results.comparison((data, Model::Network, Method::Erm), epsilon)?;
            let share = |count: usize| count as f64 / counted.people as f64;
            let missing = counted.people - counted.holds - counted.broken;
            let tried = vec![
                (HOLDS, share(counted.holds)),
                (BROKEN, share(counted.broken)),
                (NOTHING, share(missing)),
            ];
            let proven = vec![
                (CERTIFIED, share(counted.certified)),
                (UNDECIDED, share(counted.undecided)),
                (IMPOSSIBLE, share(counted.impossible)),
            ];
            Some((label(data).to_owned(), vec![tried, proven]))
        };
        let groups: Vec<_> = results.data().into_iter().filter_map(group).collect();
        Stacks { title: format!("ε = {epsilon}"), beside: String::new(), groups }
    };
    let stacks = [COMPARED, 0.5].map(panel);
    if stacks.iter().all(|stacks| stacks.groups.is_empty()) {
        return None;
    }
    let mut drawing = Canvas::new(900.0, 390.0);
    for (number, mut stacks) in stacks.into_iter().enumerate() {
        let left = 66.0 + 430.0 * number as f64;
        if number == 0 {
            stacks.beside = "share of people".into();
        }
        let panel = Panel { left, top: 84.0, width: 385.0, height: 260.0, x: (0.0, 1.0), y: (0.0, 1.0) };
        stacks.draw(&mut drawing, panel);
    }
    let square = |(colour, name): (&'static str, &str)| (Mark::Square(colour), name.to_owned());
    let tried = [(HOLDS, "Algorithm 1 (left): holds"), (BROKEN, "broken"), (NOTHING, "found none")];
    let proven =
        [(CERTIFIED, "with proof (right): certified"), (UNDECIDED, "undecided"), (IMPOSSIBLE, "impossible")];
    drawing.legend(&tried.map(square), 20.0);
    drawing.legend(&proven.map(square), 40.0);
    Some(Figure {
        name: "proofs",
        title: "What is proven for the same people",
        caption: "ERM networks. Left bars: what the paper's Algorithm 1 finds and whether the attacks break it. Right \
                  bars: for the same people, an action certified to hold for every perturbation, a proof that there \
                  is none, or neither within the budget.",
        drawing,
    })
}

fn illustrations() -> Result<[Figure; 5]> {
    let refused = |source| ExperimentError::refused("illustrations")(source);
    Ok([
        Figure {
            name: "robust-recourse",
            title: "Robust recourse",
            caption: "The cheapest action brings the individual to the boundary and leaves others of the uncertainty \
                      set behind; the robust one brings all of them over it. Savings follow income.",
            drawing: illustration::robust_recourse().map_err(refused)?,
        },
        Figure {
            name: "neighbourhood-linear",
            title: "Neighbourhoods, linear model",
            caption: "Who is similar to x: independent changes of income and savings, and changes that act through \
                      savings = income + u.",
            drawing: illustration::linear_neighbourhood().map_err(refused)?,
        },
        Figure {
            name: "neighbourhood-quadratic",
            title: "Neighbourhoods, quadratic model",
            caption: "The same for three individuals of X₂ = X₁² + U₂: counterfactual neighbourhoods follow the shape \
                      of the data.",
            drawing: illustration::quadratic_neighbourhoods().map_err(refused)?,
        },
        Figure {
            name: "robust-boundary",
            title: "The robust decision boundary",
            caption: "Standard recourse for the boundary that is moved by ε times the dual norm of the weights is robust \
                      recourse for the true one.",
            drawing: illustration::robust_boundary().map_err(refused)?,
        },
        Figure {
            name: "sine",
            title: "Recourse for everybody, robust recourse for nobody",
            caption: "A classifier that is favourable in stripes of width 2γ < 2ε, where sin(πX₂ / 2γ) is not negative. \
                      (The factor that the paper's text gives makes stripes wider than the uncertainty.)",
            drawing: illustration::sine(),
        },
    ])
}
