//! Settings of the search, which all commands that answer have in common.

use anyhow::{Result, anyhow};
use clap::Args;
use surefoot::Budget;
use surefoot::recourse::{Settings, require_budget, require_gap};

/// How much effort each person's answer may take.
#[derive(Args, Clone, Copy)]
pub struct Effort {
    /// How much dearer, as a share, an action should be at most than the proven bound; more where
    /// nothing so cheap can be proved. Linear problems without constraints are solved exactly, without
    /// a gap.
    #[arg(long, default_value_t = Settings::default().gap)]
    gap: f64,
    /// Bounds and evaluations that the search for each person may cost; hard cases may cost up to four
    /// times as many. Linear problems without constraints need none.
    #[arg(long, default_value_t = Budget::default().evaluations)]
    evaluations: usize,
}

impl Effort {
    /// The settings, once they have been checked.
    pub fn settings(self) -> Result<Settings> {
        let Self { gap, evaluations } = self;
        require_gap(gap)
            .map_err(|_| anyhow!("--gap {gap}: must be more than 0 and less than 1, such as 0.01"))?;
        check_evaluations(evaluations)?;
        Ok(Settings { gap, budget: Budget { evaluations } })
    }
}

/// Refuses a budget of nothing.
pub fn check_evaluations(evaluations: usize) -> Result<()> {
    let refused = |_| anyhow!("--evaluations {evaluations}: must be at least 1");
    require_budget(Budget { evaluations }).map_err(refused)
}
