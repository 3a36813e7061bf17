//! More budget never gives a worse answer, but for the gap that was asked for.

use surefoot::Outcome;
use surefoot::outcome::{Undecided, UndecidedReason};

use super::{Judge, effort, prove};

impl Judge<'_> {
    pub(super) fn more_budget(&mut self, outcome: Option<&Outcome>) {
        let Some(less) = outcome else { return };
        let proved = prove(self.problem, self.individual, 4 * self.settings.evaluations);
        let Some(more) = self.value("recourse answers", proved).map(|proof| proof.outcome) else { return };
        self.agree("answers of two budgets", less, &more);
        let gap = effort(self.settings.evaluations).gap;
        let is_worse = match (less, &more) {
            (Outcome::Found(less), Outcome::Found(more)) => {
                let is_settled = more.cost_bound >= (1.0 - gap) * more.cost;
                more.cost > less.cost * (1.0 + 1e-9) && !is_settled
            }
            (Outcome::Undecided(_), _) => false,
            _ => less.status() != more.status(),
        };
        self.demand(!is_worse, "more budget is no worse", || format!("{less:?} and then {more:?}"));
        if let Outcome::Undecided(Undecided { reason: UndecidedReason::Resolution, .. }) = less {
            let is_open = matches!(more, Outcome::Undecided(_));
            self.demand(is_open, "more budget does not help, as is said", || {
                format!("{less:?} and then {more:?}")
            });
        }
        let is_lower = more.cost_bound() < less.cost_bound() * (1.0 - 1e-9);
        self.demand(!is_lower, "more budget bounds no worse", || format!("{less:?} and then {more:?}"));
    }
}
