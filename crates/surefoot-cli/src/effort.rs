//! Settings of the search, which all commands that answer have in common.

use anyhow::{Result, anyhow};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use surefoot::Budget;
use surefoot::recourse::{MethodName, Settings};

/// How much effort each person's answer may take.
#[derive(Args, Clone, Copy)]
pub struct Effort {
    /// The method: `exact` for linear problems and `complete` for all, each with proof; `descent`, the
    /// paper's Algorithm 1, proves nothing, and its actions have the status `unproved`; `auto` is `exact`
    /// where it applies, otherwise `complete`.
    #[arg(long, value_name = "METHOD", default_value_t = MethodName::AUTO, value_parser = methods())]
    method: MethodName,
    /// The accepted gap between the cost of an action and the proven lower bound, as a share of the
    /// cost. It is exceeded where no action within it can be proven. Linear problems without
    /// constraints are solved exactly, without a gap.
    #[arg(long, default_value_t = Settings::default().gap)]
    gap: f64,
    /// Bounds and evaluations that the search for each person may cost; hard cases may cost up to four
    /// times as many. Linear problems without constraints need none.
    #[arg(long, default_value_t = Budget::default().evaluations)]
    evaluations: usize,
}

impl Effort {
    /// The options by their names.
    pub fn named(self) -> Vec<(&'static str, String)> {
        let Self { method, gap, evaluations } = self;
        let (gap, evaluations) = (gap.to_string(), evaluations.to_string());
        vec![("--method", method.to_string()), ("--gap", gap), ("--evaluations", evaluations)]
    }

    /// The settings, once they have been checked.
    pub fn settings(self) -> Result<Settings> {
        let Self { method, gap, evaluations } = self;
        check_evaluations(evaluations)?;
        let settings = Settings { method, gap, budget: Budget { evaluations } };
        settings
            .check()
            .map_err(|_| anyhow!("--gap {gap}: must be more than 0 and less than 1, such as 0.01"))?;
        Ok(settings)
    }
}

/// Refuses a budget of nothing.
pub fn check_evaluations(evaluations: usize) -> Result<()> {
    let refused = |_| anyhow!("--evaluations {evaluations}: must be at least 1");
    Budget { evaluations }.check().map_err(refused)
}

/// Reads the name of a method.
fn methods() -> impl TypedValueParser<Value = MethodName> {
    PossibleValuesParser::new(MethodName::all().map(MethodName::as_str))
        .try_map(|name| name.parse::<MethodName>())
}
