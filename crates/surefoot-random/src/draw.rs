//! Draws problem files with people.

mod effort;
mod equations;
mod features;
mod model;
mod people;
mod rules;
mod special;

use std::fmt::Write as _;
use std::path::Path;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefoot::{ActionKind, Cost, Feature, Kind, LimitsOn, Network, NormKind, People, Problem};

use crate::small::one;
use equations::Equation;
use model::Model;
pub(crate) use rules::{Forbid, Rule};

/// Tells the random numbers of steps and limits from those of everything else.
const EFFORT: u64 = 0x5745;
/// The same for special values.
const SPECIAL: u64 = 0x5350;

/// A random problem with people, as files.
#[derive(Clone, Debug)]
pub struct Case {
    /// The seed and the number from which it was drawn.
    pub drawn_from: (u64, u64),
    pub(crate) features: Vec<Feature>,
    pub(crate) kind: NormKind,
    pub(crate) norm_weights: Vec<f64>,
    pub(crate) epsilon: f64,
    pub(crate) cost: Cost,
    pub(crate) form: ActionKind,
    pub(crate) limits_on: LimitsOn,
    pub(crate) rules: Vec<Rule>,
    pub(crate) forbidden: Vec<Forbid>,
    /// The largest number of things that an action may change.
    pub(crate) most_changes: Option<usize>,
    /// Lists of features, of which an action may change at most one each. A group is named by its first column.
    pub(crate) one_of: Vec<Vec<usize>>,
    equations: Vec<Equation>,
    model: Model,
    /// People in their own units.
    pub(crate) people: Vec<Vec<f64>>,
}

/// A number whose logarithm is uniform between those of `low` and `high`.
pub(crate) fn log_uniform(random: &mut ChaCha8Rng, low: f64, high: f64) -> f64 {
    random.random_range(low.ln()..high.ln()).exp()
}

/// A number rounded to a number of significant digits.
pub(crate) fn digits(value: f64, digits: usize) -> f64 {
    format!("{value:.*e}", digits - 1).parse().unwrap()
}

impl Case {
    /// The case with this number of those with this seed; numbers may be drawn in any order.
    pub fn draw(seed: u64, number: u64) -> Self {
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(number);
        let features = features::draw(random);
        let width = features.len();
        let norm_weights = match random.random_bool(0.5) {
            true => vec![1.0; width],
            false => (0..width).map(|_| digits(log_uniform(random, 0.2, 5.0), 3)).collect(),
        };
        let epsilon = match random.random_range(0..10) {
            0 | 1 => 0.0,
            2 => one(random, &[1e-9, 1e-6, 1e-3]),
            _ => digits(log_uniform(random, 0.02, 1.0), 3),
        };
        let mut case = Self {
            most_changes: None,
            one_of: Vec::new(),
            drawn_from: (seed, number),
            kind: one(random, &[NormKind::L1, NormKind::L2, NormKind::Linf]),
            norm_weights,
            epsilon,
            cost: one(random, &[Cost::L1, Cost::L2]),
            form: one(random, &[ActionKind::Relative, ActionKind::Relative, ActionKind::Absolute]),
            limits_on: one(random, &[LimitsOn::Outcome, LimitsOn::Outcome, LimitsOn::Action]),
            rules: Vec::new(),
            forbidden: rules::forbidden(random, &features),
            equations: equations::draw(random, &features),
            model: model::draw(random, width),
            people: Vec::new(),
            features,
        };
        people::draw(random, &mut case);
        let random = &mut ChaCha8Rng::seed_from_u64(seed ^ EFFORT);
        random.set_stream(number);
        effort::limit(random, &mut case.features);
        (case.most_changes, case.one_of) = effort::together(random, &case.features);
        let random = &mut ChaCha8Rng::seed_from_u64(seed ^ SPECIAL);
        random.set_stream(number);
        special::give(random, &mut case);
        case
    }

    /// Writes `problem.toml` with its networks, and `people.csv`, into a folder.
    pub fn write(&self, folder: &Path) {
        self.write_problem(folder);
        let mut table = String::from("id");
        for feature in &self.features {
            write!(table, ",{}", feature.name).unwrap();
        }
        for (number, person) in self.people.iter().enumerate() {
            write!(table, "\np{number}").unwrap();
            person.iter().for_each(|value| write!(table, ",{value:?}").unwrap());
        }
        std::fs::write(folder.join("people.csv"), table + "\n").unwrap();
    }

    /// Writes the case and reads it as the engine does.
    pub fn read(&self, folder: &Path) -> (Problem, People) {
        self.write(folder);
        let problem = self.problem(folder);
        let people = People::from_own_units(problem.features(), &self.people);
        let people =
            people.unwrap_or_else(|error| panic!("{:?}: {error}\n{:?}", self.drawn_from, self.people));
        (problem, people)
    }

    fn problem(&self, folder: &Path) -> Problem {
        let path = folder.join("problem.toml");
        Problem::read(&path).unwrap_or_else(|error| {
            panic!("{:?}: {error}\n{}", self.drawn_from, std::fs::read_to_string(&path).unwrap())
        })
    }

    fn write_problem(&self, folder: &Path) {
        let mut text = String::new();
        let kind = self.kind;
        let cost = if self.cost == Cost::L1 { "l1" } else { "l2" };
        let form = if self.form == ActionKind::Relative { "relative" } else { "absolute" };
        writeln!(
            text,
            "epsilon = {:?}\nnorm = \"{kind}\"\ncost = \"{cost}\"\nform = \"{form}\"",
            self.epsilon
        )
        .unwrap();
        let limits_on = if self.limits_on == LimitsOn::Outcome { "outcome" } else { "action" };
        writeln!(text, "limits_on = \"{limits_on}\"").unwrap();
        if let Some(most) = self.most_changes {
            writeln!(text, "most_changes = {most}").unwrap();
        }
        for (feature, weight) in self.features.iter().zip(&self.norm_weights) {
            features::write(&mut text, feature, *weight);
        }
        let mut networks: Vec<(String, &Network)> = Vec::new();
        for equation in &self.equations {
            equation.write(&mut text, &self.features, &mut networks);
        }
        self.rules.iter().for_each(|rule| rule.write(&mut text, &self.features));
        self.forbidden.iter().for_each(|rule| rule.write(&mut text, &self.features));
        for list in &self.one_of {
            let name = |&i: &usize| self.features[i].group.as_ref().unwrap_or(&self.features[i].name);
            let names: Vec<&String> = list.iter().map(name).collect();
            writeln!(text, "\n[[one_of]]\nfeatures = {names:?}").unwrap();
        }
        self.model.write(&mut text, &self.features, &mut networks);
        for (file, network) in networks {
            Network::write(folder.join(file), &[("", network)]).unwrap();
        }
        std::fs::write(folder.join("problem.toml"), text).unwrap();
    }

    /// The same with another size of the uncertainty.
    pub(crate) fn with_epsilon(&self, epsilon: f64) -> Self {
        Self { epsilon, ..self.clone() }
    }

    /// Whether an action within limits and directions may lead where nobody is to end up.
    pub(crate) fn has_requirements(&self) -> bool {
        !self.rules.is_empty() || self.limits_on == LimitsOn::Outcome && !self.equations.is_empty()
    }

    /// Positions of the columns of each one-hot group.
    pub(crate) fn groups(&self) -> Vec<Vec<usize>> {
        let mut groups: Vec<(String, Vec<usize>)> = Vec::new();
        for (i, feature) in self.features.iter().enumerate() {
            let Some(name) = &feature.group else { continue };
            match groups.iter_mut().find(|(other, _)| other == name) {
                Some((_, columns)) => columns.push(i),
                None => groups.push((name.clone(), vec![i])),
            }
        }
        groups.into_iter().map(|(_, columns)| columns).collect()
    }

    /// A short description of what kind of problem it is.
    pub fn summary(&self) -> String {
        let wholes = self.features.iter().filter(|f| f.kind != Kind::Real).count();
        format!(
            "{} features ({wholes} whole), {} equations, {} constraints, {} forbidden, {}, {:?} epsilon {}",
            self.features.len(),
            self.equations.len(),
            self.rules.len(),
            self.forbidden.len(),
            self.model.name(),
            self.kind,
            self.epsilon
        )
    }
}
