//! Settings of the search, which all commands that answer have in common.

use anyhow::{Result, anyhow, bail};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use surefoot::Budget;
use surefoot::recourse::{MethodName, Settings};

/// How much effort each person's answer may take.
#[derive(Args, Clone, Copy)]
pub struct Effort {
    /// The method: `exact` for linear problems, `trees` for tree ensembles and `complete` for all, each with
    /// proof; `local`, a fast search, and `descent`, the paper's Algorithm 1, prove nothing, and their actions
    /// have the status `unproved`; `auto` is the first of the proving ones that applies.
    #[arg(long, value_name = "METHOD", default_value_t = MethodName::AUTO, value_parser = methods())]
    method: MethodName,
    /// The accepted gap between the cost of an action and the proven lower bound, as a share of the
    /// cost. It is exceeded where no action within it can be proven. Linear problems without
    /// constraints are solved exactly, without a gap. `local` proves no bound; its actions may cost more by
    /// this share if they then change fewer features. Only the default is accepted with `descent`.
    #[arg(long, default_value_t = Settings::default().gap)]
    gap: f64,
    /// Bounds and evaluations that the search for each person may cost; hard cases may cost up to five
    /// times as many. Linear problems without constraints need none. Refused with `descent`, which it does
    /// not limit. Default: 60000, or no limit with --seconds.
    #[arg(long)]
    evaluations: Option<usize>,
    /// Seconds that the answer of each person may take: the best proven action and the best bound that were
    /// found by then. Such answers depend on the machine; those under --evaluations alone do not. Refused
    /// with `descent`.
    #[arg(long)]
    seconds: Option<f64>,
}

impl Effort {
    /// The options of somebody who may leave them out.
    pub fn given(
        method: Option<MethodName>,
        gap: Option<f64>,
        evaluations: Option<usize>,
        seconds: Option<f64>,
    ) -> Self {
        let gap = gap.unwrap_or_else(|| Settings::default().gap);
        Self { method: method.unwrap_or(MethodName::AUTO), gap, evaluations, seconds }
    }

    /// The options by their names.
    pub fn named(self) -> Vec<(&'static str, String)> {
        let Self { method, gap, evaluations, seconds } = self;
        let Budget { evaluations } = Budget::given(evaluations, seconds);
        vec![
            ("--method", method.to_string()),
            ("--gap", gap.to_string()),
            ("--evaluations", evaluations.to_string()),
            ("--seconds", seconds.map_or_else(|| "(none)".into(), |seconds| seconds.to_string())),
        ]
    }

    /// The settings, once they have been checked.
    pub fn settings(self) -> Result<Settings> {
        let Self { method, gap, evaluations, seconds } = self;
        let budget = Budget::given(evaluations, seconds);
        check_evaluations(budget.evaluations)?;
        if let Some(seconds) = seconds
            && !(seconds.is_finite() && seconds > 0.0)
        {
            bail!("--seconds {seconds}: must be more than 0, such as 1 or 0.5");
        }
        let limits = [
            ("--seconds", seconds.map(|seconds| seconds.to_string())),
            ("--evaluations", evaluations.map(|evaluations| evaluations.to_string())),
            ("--gap", (gap != Settings::default().gap).then(|| gap.to_string())),
        ];
        if let Some((option, Some(value))) = limits.into_iter().find(|(_, value)| value.is_some())
            && !method.is_limited()
        {
            let limited = MethodName::limited();
            bail!(
                "{option} {value}: it has no effect with the method `{method}`; leave out {option}, or choose another \
                 --method ({limited})"
            );
        }
        if !(gap > 0.0 && gap < 1.0) {
            bail!("--gap {gap}: must be more than 0 and less than 1, such as 0.01");
        }
        let settings = Settings { method, gap, budget, seconds };
        settings.check()?;
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
