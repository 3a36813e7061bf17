//! The figure of the retraining experiment: what becomes of the people asked about, guard by guard.

use super::super::retraining::statistic::{Setting, Worth};
use super::super::{Change, Guard, Results};
use super::{Figure, label};
use crate::figure::COLOURS;
use crate::figure::bars::Stacks;
use crate::figure::canvas::{Canvas, Mark, Place};
use crate::figure::panel::Panel;
use crate::training::Model;

/// The colours of what becomes of people.
const ROBUST: &str = COLOURS[2];
const REPORTED: &str = COLOURS[5];
const BROKEN: &str = COLOURS[1];
const NOTHING: &str = "#c8c8c8";

/// The label of a guard.
pub(in super::super) fn guard_label(guard: Guard) -> &'static str {
    match guard {
        Guard::Nothing => "standard",
        Guard::Person => "person",
        Guard::Model => "model",
        Guard::PersonAndModel => "both",
        Guard::Everything => "all three",
        Guard::Weights => "weights",
    }
}

/// The figures for linear models and for networks, as far as there are results.
pub(super) fn figures(results: &Results) -> Vec<Figure> {
    let [linear, network] = Model::ALL.map(|model| drawing(results, model));
    let figure = |name, title, drawing| Figure { name, title, caption: CAPTION, drawing };
    let linear = linear.map(|drawing| figure("retraining-linear", "Trained again: linear models", drawing));
    let network = network.map(|drawing| figure("retraining-network", "Trained again: networks", drawing));
    linear.into_iter().chain(network).collect()
}

const CAPTION: &str = "A model turns people down and they get an action. Then the model is trained again, and the causal \
    model fitted again, on as many other people, or on those of the next period: does the action still hold? \
    Bars: all people asked about, with each of ten later versions. From left to right: standard recourse; guarded \
    against shifts of the person (ε = 0.1), as in the paper; against another model (it and ten bootstraps of its rows \
    must all agree); against both; against both and errors of the causal model's coefficients (two standard errors); \
    and, for linear models, against every model in a box of weights that contains the bootstraps.";

/// The panels: other people for each data set, and the next period after those of the data set that has one.
fn settings(results: &Results, model: Model) -> Vec<(String, Setting)> {
    let people = results.settings(model, Change::People).into_iter();
    let periods = results.settings(model, Change::Period);
    people
        .flat_map(|setting| {
            let name = label(setting.data);
            let period = periods.iter().filter(move |period| period.data == setting.data);
            let period = period.map(move |&period| (format!("{name}, next period"), period));
            std::iter::once((format!("{name}, other people"), setting)).chain(period)
        })
        .collect()
}

fn drawing(results: &Results, model: Model) -> Option<Canvas> {
    let settings = settings(results, model);
    if settings.is_empty() {
        return None;
    }
    let height = 240.0 * settings.len().div_ceil(2) as f64 + 76.0;
    let mut drawing = Canvas::new(900.0, height);
    for (number, (title, setting)) in settings.into_iter().enumerate() {
        let (left, top) = (66.0 + 430.0 * (number % 2) as f64, 116.0 + 240.0 * (number / 2) as f64);
        let panel = Panel { left, top, width: 385.0, height: 160.0, x: (0.0, 1.0), y: (0.0, 1.0) };
        let beside = if number % 2 == 0 { "share of people" } else { "" };
        let worths: Vec<(Guard, Worth)> = Guard::ALL
            .into_iter()
            .filter_map(|guard| Some((guard, results.worth(setting, guard)?)))
            .collect();
        draw(&mut drawing, panel, &title, beside, &worths);
    }
    let square = |(colour, name): (&'static str, &str)| (Mark::Square(colour), name.to_owned());
    let holds = [
        (ROBUST, "still holds, for every shift within 0.1 too"),
        (REPORTED, "still holds for the person as reported"),
    ];
    let fails = [(BROKEN, "no longer holds"), (NOTHING, "got no action")];
    drawing.legend(&holds.map(square), 22.0);
    drawing.legend(&fails.map(square), 42.0);
    let cost = "× 1.20: the median person pays 1.20 times the cost of standard recourse";
    drawing.text((450.0, 62.0), cost, 11, Place::Centre, false);
    Some(drawing)
}

fn draw(drawing: &mut Canvas, panel: Panel, title: &str, beside: &str, worths: &[(Guard, Worth)]) {
    let stack = |worth: &Worth| {
        let (robust, reported) = (worth.kept.robust.mean, worth.kept.reported.mean);
        let found = worth.found.mean;
        vec![
            (ROBUST, robust),
            (REPORTED, reported - robust),
            (BROKEN, found - reported),
            (NOTHING, 1.0 - found),
        ]
    };
    let groups =
        worths.iter().map(|(guard, worth)| (guard_label(*guard).into(), vec![stack(worth)])).collect();
    let middle = panel.left + 0.5 * panel.width;
    drawing.text((middle, panel.top - 24.0), title, 12, Place::Centre, true);
    Stacks { title: String::new(), beside: beside.into(), groups }.draw(drawing, panel);
    for (number, (_, worth)) in worths.iter().enumerate() {
        let along = (number as f64 + 0.5) / worths.len() as f64;
        let cost = worth.cost.map_or_else(String::new, |cost| format!("× {:.2}", cost[1]));
        drawing.text((panel.left + along * panel.width, panel.top - 5.0), &cost, 11, Place::Centre, false);
    }
}
