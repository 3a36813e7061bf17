//! The numbers of the retraining experiment, over seeds.

use super::super::{Results, Statistic};
use super::{Change, Guard, Guarded, Held, LATER, Retrained, Trial, Verdicts};
use crate::data::DataSet;
use crate::training::Model;

/// The trials that a number describes, and the rows of their later versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    pub data: DataSet,
    pub model: Model,
    pub change: Change,
}

/// What actions of a guard are worth, each number over seeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Worth {
    /// The number of people asked about, over all seeds.
    pub people: usize,
    /// The share of people with an action.
    pub found: Statistic,
    /// The share of people for whom nothing was proven.
    pub undecided: Statistic,
    /// The cost of an action by that of standard recourse for the same person: quartiles and median over the people of
    /// all seeds. (Costs of some people are thousands of standard deviations, so that means say little.)
    pub cost: Option<[f64; 3]>,
    /// The shares of all pairs of a person and a later version in which there is an action and it holds with the
    /// later model and the later causal model.
    pub kept: Shares,
    /// The shares of pairs of an action and a later version in which the action holds.
    pub model: Option<Shares>,
    pub causal_model: Option<Shares>,
    pub both: Option<Shares>,
    /// The last of these, for those people only who have an action with every guard. Boxes of weights, which leave
    /// few people with an action, are not compared.
    pub alike: Option<Shares>,
}

/// The shares in which actions hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shares {
    /// For the person as reported.
    pub reported: Statistic,
    /// For every perturbation that the paper guards against.
    pub robust: Statistic,
}

impl Results {
    /// The trials of a setting.
    fn trials(&self, setting: Setting) -> impl Iterator<Item = &Retrained> {
        let Setting { data, model, change } = setting;
        let wanted = move |trial: &Trial| {
            (trial.data, trial.model) == (data, model) && trial.changes().contains(&change)
        };
        self.retrained.iter().filter(move |(trial, _)| wanted(trial)).map(|(_, retrained)| retrained)
    }

    /// The settings with results for a model, in the paper's order of data sets.
    pub(crate) fn settings(&self, model: Model, change: Change) -> Vec<Setting> {
        let settings = DataSet::ALL.map(|data| Setting { data, model, change });
        settings.into_iter().filter(|&setting| self.trials(setting).any(|r| !r.rows.is_empty())).collect()
    }

    /// What the actions of a guard are worth; `None` if there are none of this guard.
    pub(crate) fn worth(&self, setting: Setting, guard: Guard) -> Option<Worth> {
        let trials: Vec<(&Retrained, &Guarded)> =
            self.trials(setting).filter_map(|retrained| Some((retrained, retrained.of(guard)?))).collect();
        let over = |quantity: &dyn Fn(&Retrained, &Guarded) -> Option<f64>| {
            let values: Vec<f64> = trials.iter().filter_map(|&(r, guarded)| quantity(r, guarded)).collect();
            Statistic::of(&values)
        };
        let of_people = |count: usize, people: usize| (people > 0).then(|| count as f64 / people as f64);
        let held = |of: fn(&Verdicts) -> Held, whose: fn(&Retrained, usize) -> bool| {
            let share = |which: fn(Held) -> usize| {
                over(&|retrained, guarded| {
                    let verdicts = &guarded.on(setting.change)?.verdicts;
                    let among = (0..verdicts.len()).filter(|&person| whose(retrained, person));
                    let counts: Vec<usize> =
                        among.filter_map(|person| Some(which(of(verdicts[person].as_ref()?)))).collect();
                    of_people(counts.iter().sum(), LATER * counts.len())
                })
            };
            Some(Shares { reported: share(|held| held.reported)?, robust: share(|held| held.robust)? })
        };
        let kept = |which: fn(Held) -> usize| {
            over(&|_, guarded| {
                let verdicts = &guarded.on(setting.change)?.verdicts;
                let count = verdicts.iter().flatten().map(|verdicts| which(verdicts.both)).sum();
                of_people(count, LATER * verdicts.len())
            })
        };
        Some(Worth {
            kept: Shares { reported: kept(|held| held.reported)?, robust: kept(|held| held.robust)? },
            people: trials.iter().map(|(retrained, _)| retrained.rows.len()).sum(),
            found: over(&|_, guarded| {
                of_people(guarded.costs.iter().flatten().count(), guarded.costs.len())
            })?,
            undecided: over(&|_, guarded| of_people(guarded.undecided, guarded.costs.len()))?,
            cost: quartiles(
                trials.iter().flat_map(|(retrained, guarded)| relative_costs(retrained, guarded)).collect(),
            ),
            model: held(|verdicts| verdicts.model, |_, _| true),
            causal_model: held(|verdicts| verdicts.causal_model, |_, _| true)
                .filter(|_| !setting.data.graph().is_empty()),
            both: held(|verdicts| verdicts.both, |_, _| true),
            alike: held(|verdicts| verdicts.both, Retrained::has_every_action)
                .filter(|_| guard != Guard::Weights),
        })
    }

    /// The share of pairs of a person and a later version in which the person needs no action.
    pub(crate) fn favourable(&self, setting: Setting) -> Option<Statistic> {
        let share = |retrained: &Retrained| {
            let (_, counts) = retrained.favourable.iter().find(|(change, _)| *change == setting.change)?;
            (!counts.is_empty()).then(|| counts.iter().sum::<usize>() as f64 / (LATER * counts.len()) as f64)
        };
        Statistic::of(&self.trials(setting).filter_map(share).collect::<Vec<f64>>())
    }
}

impl Retrained {
    /// Whether a person has an action with every guard that is compared.
    fn has_every_action(&self, person: usize) -> bool {
        let mut compared = self.guarded.iter().filter(|guarded| guarded.guard != Guard::Weights);
        compared.all(|guarded| guarded.costs[person].is_some())
    }
}

/// The cost of each action by that of standard recourse for the same person.
fn relative_costs(retrained: &Retrained, guarded: &Guarded) -> Vec<f64> {
    let standard = retrained.of(Guard::Nothing).map(|standard| &standard.costs);
    let pairs = standard.into_iter().flatten().zip(&guarded.costs);
    pairs.filter_map(|(standard, guarded)| Some((*guarded)? / (*standard)?)).collect()
}

/// The lower quartile, the median and the upper quartile, by linear interpolation; `None` without values.
fn quartiles(mut values: Vec<f64>) -> Option<[f64; 3]> {
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    Some([0.25, 0.5, 0.75].map(|share| {
        let place = share * last as f64;
        let (below, above) = (values[place.floor() as usize], values[place.ceil() as usize]);
        below + (place - place.floor()) * (above - below)
    }))
}
