//! Several options hold, differ, and are sorted.

use surefoot::outcome::Recourse;
use surefoot::recourse::Solver;
use surefoot::{Outcome, describe_options};

use super::{Judge, effort};
use crate::words::has_no_number;

impl Judge<'_> {
    pub(super) fn options(&mut self, first: &Recourse) {
        let settings = effort(self.settings.evaluations);
        let several =
            Solver::new(self.problem, settings).and_then(|solver| solver.options(self.individual, 3));
        let Some(several) = self.value("options are given", several) else { return };
        if let Ok(text) = describe_options(self.problem, self.individual, &several) {
            self.demand(!has_no_number(&text), "words have numbers", || text.clone());
        }
        let all: Vec<&Recourse> = several.iter().filter_map(Outcome::recourse).collect();
        self.demand(all.len() == several.len(), "every option is an action", || format!("{several:?}"));
        let Some(cheapest) = all.first() else { return };
        let is_first =
            cheapest.cost <= first.cost * (1.0 + 1e-9) && cheapest.cost >= first.cost_bound * (1.0 - 1e-9);
        self.demand(is_first, "the first option is the cheapest", || format!("{first:?} and {several:?}"));
        let is_sorted = all.windows(2).all(|pair| pair[0].cost <= pair[1].cost);
        self.demand(is_sorted, "options are sorted", || format!("{several:?}"));
        for (number, option) in all.iter().enumerate() {
            let is_bounded =
                option.cost_bound <= option.cost && option.cost >= first.cost_bound * (1.0 - 1e-9);
            self.demand(is_bounded, "options are bounded", || format!("{several:?}"));
            let changed = |option: &Recourse| {
                let pairs = option.action.features.iter().zip(&option.action.change);
                pairs.filter(|(_, change)| **change != 0.0).map(|(&i, _)| i).collect::<Vec<_>>()
            };
            let is_new = all[..number].iter().all(|other| changed(other) != changed(option));
            self.demand(is_new, "options differ", || format!("{several:?}"));
            self.can_be_taken("options are feasible", &option.action);
            if number > 0 {
                self.holds("an option", &option.action, option.margin);
            }
        }
    }
}
