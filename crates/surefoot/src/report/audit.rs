//! Audits: which groups of people have recourse, and at which cost.
//!
//! An audit has three steps. [`GroupingRequest`] and [`Grouping`] sort people into groups. [`Examiner`] finds out everything
//! that is needed of each person: the cheapest action with and without uncertainty, what breaks the latter, the twin in
//! other groups, and what others advised. [`Audit`] calculates the numbers of groups and their differences, and states
//! them as JSON ([`Audit::to_json`]), in words ([`Audit::findings()`]) and as a page ([`Audit::page`]).
//!
//! Every number is either proven of the people of the table, as a range where only bounds are proven, or an interval for people
//! like them, by resampling.
//!
//! ```
//! use std::collections::BTreeMap;
//! use surefoot::recourse::Settings;
//! use surefoot::report::audit::{Audit, Examiner, Grouping, GroupingRequest};
//! use surefoot::{Change, Classifier, Feature, Features, People, Problem};
//!
//! let features = Features::new(vec![Feature::new("income").change(Change::Increase), Feature::new("sex")])?;
//! let problem = Problem::new(features.clone(), Classifier::linear(vec![1.0, 0.5], -1.0, 0.5)?)?;
//! let people = People::from_own_units(&features, &[[0.0, 0.0], [0.0, 1.0]])?;
//! let request = GroupingRequest::parse("sex", &features, &[])?;
//! let groupings = vec![Grouping::new(&request, &people, &BTreeMap::new())?];
//! let examiner = Examiner::new(&problem, None, &people, &groupings, Settings::default())?;
//! let examined = examiner.examine(0..2, &[], &|_| {})?;
//! let audit = Audit::new(&problem, &groupings, &examined, &[], 1)?;
//! let twins = audit.groupings[0].twins[0].difference.unwrap();
//! // Whoever has sex 0 has to raise income by 0.5 more.
//! assert!((twins.mean.lower - 0.5).abs() < 1e-8 && (twins.mean.upper - 0.5).abs() < 1e-8, "{:?}", twins.mean);
//! # Ok::<(), surefoot::Error>(())
//! ```

mod statistics;
mod grouping;
mod examine;
mod advice;
mod group;
mod compare;
mod twins;
mod words;
mod chart;
mod page;

use serde::Serialize;

pub use advice::{AdviceReport, AdviceRow};
pub use compare::{Difference, Pair};
pub use examine::{
    AdviceVerdict, Answered, AskedColumn, Change, Examined, Examiner, Fragile, JudgedAdvice, Status, Twin,
    asked_columns, without_uncertainty,
};
pub use group::{
    Asked, Changed, CostReport, Counts, Fragility, GroupReport, Price, Quantile, Reached, Share,
};
pub use grouping::{Attribute, Grouping, GroupingRequest, MOST_GROUPS};
pub use statistics::{FEW, REPLICATES, Range};
pub use twins::{TwinDifference, TwinReport};

use crate::{Cost, Problem, Result};
use advice::advice_rows;
use group::GroupReplicates;

/// The version of the JSON.
const VERSION: u32 = 1;

/// An audit of some people.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Audit {
    /// The version of this format.
    pub version: u32,
    /// What the audit is about.
    pub setting: Setting,
    /// The findings in words, those about everybody first.
    pub findings: Vec<String>,
    /// What the numbers cannot show.
    pub limits: Vec<String>,
    /// Everybody.
    pub everybody: GroupReport,
    /// Each grouping that was asked for.
    pub groupings: Vec<GroupingReport>,
    /// Each action that others advised; `null` if there was none to judge.
    pub advice: Option<Vec<AdviceRow>>,
}

/// What an audit is about.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Setting {
    /// The size of shifts that actions withstand, in standard deviations.
    pub epsilon: f64,
    /// The norm in which shifts are measured.
    pub norm: String,
    /// The measure of cost.
    pub cost: String,
    /// Whether anything is uncertain.
    pub is_uncertain: bool,
    /// Whether more is uncertain than a shift.
    pub has_further_uncertainty: bool,
    /// Whether the problem has a causal model.
    pub is_causal: bool,
    /// The seed of the intervals by resampling.
    pub seed: u64,
    /// The number of times that people are drawn anew.
    pub replicates: usize,
    /// The confidence level of the intervals.
    pub confidence: f64,
}

/// A grouping of people.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupingReport {
    /// The request.
    pub name: String,
    /// The columns, as people read them.
    pub label: String,
    /// The findings about it in words.
    pub findings: Vec<String>,
    /// Its groups.
    pub groups: Vec<GroupReport>,
    /// Each pair of groups.
    pub pairs: Vec<Pair>,
    /// People and their twins, for each ordered pair of groups; none if they are not compared.
    pub twins: Vec<TwinReport>,
    /// Why people and their twins are not compared, if so.
    pub without_twins: Option<String>,
}

impl Audit {
    /// The audit of people who were examined, in the order of the groupings. `ids` names people where there is advice to judge,
    /// and is empty otherwise.
    ///
    /// # Errors
    /// If a perturbation does not fit the problem.
    pub fn new(
        problem: &Problem,
        groupings: &[Grouping],
        examined: &[Examined],
        ids: &[String],
        seed: u64,
    ) -> Result<Self> {
        let features = problem.features();
        let columns = asked_columns(features);
        let mut stream = 0;
        let mut next = || {
            stream += 1;
            (seed, stream)
        };
        let has_advice = !ids.is_empty();
        let report = |name: &str, people: &[&Examined], drawn: (u64, usize)| {
            let (mut report, replicates) =
                GroupReport::new(name.to_owned(), people, (features, &columns), drawn);
            report.advice = has_advice.then(|| AdviceReport::new(people));
            (report, replicates)
        };
        let all: Vec<&Examined> = examined.iter().collect();
        let (everybody, _) = report("everybody", &all, next());
        let mut reports = Vec::with_capacity(groupings.len());
        let mut attributes = 0;
        for grouping in groupings {
            let (mut groups, mut replicates): (Vec<GroupReport>, Vec<GroupReplicates>) = Default::default();
            for (number, name) in grouping.groups().iter().enumerate() {
                let members = examined.iter().zip(grouping.membership());
                let members: Vec<&Examined> =
                    members.filter(|(_, group)| **group == number).map(|(person, _)| person).collect();
                let (report, drawn) = report(name, &members, next());
                groups.push(report);
                replicates.push(drawn);
            }
            let pairs = pairs(groups.len()).map(|[first, second]| {
                let reports = [&groups[first], &groups[second]];
                Pair::new([first, second], reports, [&replicates[first], &replicates[second]])
            });
            let pairs = pairs.collect();
            let mut twins = Vec::new();
            if grouping.attribute().is_ok() {
                let is_causal = problem.scm().is_some();
                for from in 0..groups.len() {
                    for to in (0..groups.len()).filter(|&to| to != from) {
                        let whose = (grouping, attributes);
                        twins.push(TwinReport::new(whose, (from, to), examined, is_causal, next()));
                    }
                }
                attributes += 1;
            }
            let mut report = GroupingReport {
                name: grouping.name().to_owned(),
                label: grouping.label().to_owned(),
                findings: Vec::new(),
                groups,
                pairs,
                twins,
                without_twins: grouping.attribute().err().map(str::to_owned),
            };
            report.findings = words::of_grouping(&report);
            reports.push(report);
        }
        let setting = Setting::new(problem, seed);
        let advice = has_advice.then(|| advice_rows(problem, examined, ids)).transpose()?;
        let findings = words::of_everybody(&setting, &everybody);
        let limits = words::limits(&setting, &everybody, &reports);
        Ok(Self { version: VERSION, setting, findings, limits, everybody, groupings: reports, advice })
    }

    /// Every finding in words, about everybody and about each grouping.
    pub fn findings(&self) -> Vec<String> {
        let of_groupings = self.groupings.iter().flat_map(|grouping| &grouping.findings);
        self.findings.iter().chain(of_groupings).cloned().collect()
    }

    /// The audit as JSON. Unknown numbers, such as an upper end that nothing limits, are `null`.
    pub fn to_json(&self) -> String {
        // Texts and numbers can always be written.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// The audit as a page of HTML that needs nothing else. `title` names what was audited.
    pub fn page(&self, title: &str) -> String {
        page::page(self, title)
    }
}

impl Setting {
    fn new(problem: &Problem, seed: u64) -> Self {
        Self {
            epsilon: problem.epsilon(),
            norm: problem.norm().name().to_owned(),
            cost: match problem.cost() {
                Cost::L1 => "l1",
                Cost::L2 => "l2",
            }
            .into(),
            is_uncertain: !problem.uncertainty().is_none(),
            has_further_uncertainty: problem.sources().is_some(),
            is_causal: problem.scm().is_some(),
            seed,
            replicates: REPLICATES,
            confidence: 0.95,
        }
    }
}

/// Each pair of different positions below `count`, the smaller first.
fn pairs(count: usize) -> impl Iterator<Item = [usize; 2]> {
    (0..count).flat_map(move |first| (first + 1..count).map(move |second| [first, second]))
}
