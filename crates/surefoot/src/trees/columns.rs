//! From the features of a problem to the inputs of a model.
//!
//! A model may take its columns under their names or in their order, behind scalers and encoders, and
//! categories as codes or as one column for each. All of that is folded into the tests of the trees, so that
//! what remains are tests of standardised features.

use super::draft::position;
use super::{Ensemble, Member, Node, fold};
use crate::error::{ModelError, TreesProblem};
use crate::feature::Column;
use crate::{Error, Feature, Features, Kind, Result};

/// The share of a category, between 0 and 1, above which somebody is counted as belonging to it.
const HALF: f64 = 0.5;

/// The distance between a threshold of an integer and whole numbers, relative to their size in standardised units.
const INTEGER_ROOM: f64 = 1e-13;

/// What an input of a model is.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// A column of the model's table, after some steps: its name and the names of its categories, if they are
    /// known.
    Unstated { name: Option<String>, labels: Option<Vec<String>>, steps: Vec<Step> },
    /// The number in a column after some steps.
    Number { column: String, steps: Vec<Step> },
    /// A number for each category of a column.
    Category { column: String, values: Vec<(String, f64)> },
    /// The same number for everybody.
    Constant(f64),
}

/// A step between a feature and an input of a model, computed in double precision. None of them decreases.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// Adds a number.
    Add(f64),
    /// Subtracts a number.
    Subtract(f64),
    /// Multiplies by a positive number.
    Multiply(f64),
    /// Divides by a positive number.
    Divide(f64),
    /// Replaces numbers outside of an interval by its ends.
    Clip(f64, f64),
    /// Rounds to single precision.
    Single,
}

impl Step {
    fn apply(self, x: f64) -> f64 {
        match self {
            Self::Add(number) => x + number,
            Self::Subtract(number) => x - number,
            Self::Multiply(number) => x * number,
            Self::Divide(number) => x / number,
            Self::Clip(lower, upper) => x.max(lower).min(upper),
            Self::Single => f64::from(x as f32),
        }
    }
}

/// An input of a model in terms of the features of a problem.
enum Input {
    Number {
        feature: usize,
        steps: Vec<Step>,
    },
    /// The value for each of the features of a category, of which one is 1 and the others are 0.
    OneOf(Vec<(usize, f64)>),
    Constant(f64),
}

/// A test of features, with children that may be swapped.
struct Test {
    node: Node,
    swapped: bool,
}

impl Ensemble {
    /// The names of its inputs, where the file states them.
    pub fn input_names(&self) -> Vec<Option<&str>> {
        self.sources.iter().map(Source::name).collect()
    }

    /// The same ensemble over the features of a problem, in standardised units.
    ///
    /// Columns are found by their names if all of them are columns of people's tables, and by their order if none is. `is_standardised` says that the model itself takes standardised values.
    ///
    /// # Errors
    /// If its columns are not those of the features.
    pub fn over(&self, features: &Features, is_standardised: bool) -> Result<Self> {
        let inputs = self.resolve(features).map_err(|problem| Error::Model(ModelError::Trees(problem)))?;
        let scaled = |feature: usize, value: f64| {
            if is_standardised { value } else { standardised(features, feature, value) }
        };
        let mut made = Self {
            inputs: features.len(),
            sources: Vec::new(),
            roots: Vec::with_capacity(self.roots.len()),
            nodes: Vec::with_capacity(self.nodes.len()),
            members: Vec::new(),
            values: Vec::with_capacity(self.values.len()),
            against: Vec::with_capacity(self.against.len()),
            arithmetic: self.arithmetic,
            link: self.link.clone(),
            rule: self.rule,
        };
        for &root in &self.roots {
            made.roots.push(position(made.nodes.len()));
            made.copy(self, root, &inputs, &scaled);
        }
        Ok(made)
    }

    /// Copies a tree with other tests. Tests that are decided for all people are left out.
    fn copy(&mut self, from: &Self, root: u32, inputs: &[Input], scaled: &dyn Fn(usize, f64) -> f64) {
        let mut open: Vec<(u32, Option<(usize, bool)>)> = vec![(root, None)];
        while let Some((mut at, parent)) = open.pop() {
            let made = loop {
                match from.nodes[at as usize] {
                    Node::Leaf(leaf) => break self.copy_leaf(from, leaf as usize),
                    node @ (Node::AtMost { left, right, .. } | Node::AnyOf { left, right, .. }) => {
                        match self.test(from, node, inputs, scaled) {
                            Ok(Test { node, swapped }) => {
                                let here = self.nodes.len();
                                let (left, right) = if swapped { (right, left) } else { (left, right) };
                                open.push((right, Some((here, false))));
                                open.push((left, Some((here, true))));
                                break node;
                            }
                            Err(goes_left) => at = if goes_left { left } else { right },
                        }
                    }
                }
            };
            let here = position(self.nodes.len());
            if let Some((parent, is_left)) = parent {
                self.nodes[parent].set_child(is_left, here);
            }
            self.nodes.push(made);
        }
    }

    fn copy_leaf(&mut self, from: &Self, leaf: usize) -> Node {
        self.values.push(from.values[leaf]);
        self.against.extend(from.against.get(leaf));
        Node::Leaf(position(self.values.len() - 1))
    }

    /// A test in terms of features; an error with its outcome if it is the same for all people.
    fn test(
        &mut self,
        from: &Self,
        node: Node,
        inputs: &[Input],
        scaled: &dyn Fn(usize, f64) -> f64,
    ) -> std::result::Result<Test, bool> {
        let intervals: Vec<(f64, f64)> = match node {
            Node::Leaf(_) => return Err(true),
            Node::AtMost { threshold, .. } => vec![(f64::NEG_INFINITY, threshold)],
            Node::AnyOf { first, count, .. } => {
                from.members(first, count).iter().map(|member| (member.lower, member.upper)).collect()
            }
        };
        let input = match node {
            Node::AnyOf { count: 0, .. } | Node::Leaf(_) => return Err(false),
            Node::AnyOf { first, .. } => from.members[first as usize].feature,
            Node::AtMost { feature, .. } => feature,
        };
        let missing_left =
            matches!(node, Node::AtMost { missing_left: true, .. } | Node::AnyOf { missing_left: true, .. });
        let within = |value: f64| intervals.iter().any(|&(lower, upper)| lower < value && value <= upper);
        match &inputs[input as usize] {
            Input::Constant(value) => Err(within(*value)),
            Input::Number { feature, steps } => {
                let end = |end: f64| scaled(*feature, before(steps, end));
                let members = intervals.iter().map(|&(lower, upper)| (*feature, end(lower), end(upper)));
                self.any_of(&members.collect::<Vec<_>>(), missing_left)
            }
            Input::OneOf(values) => {
                let half = |feature: usize| (feature, scaled(feature, HALF), f64::INFINITY);
                let (inside, outside): (Vec<_>, Vec<_>) =
                    values.iter().partition(|(_, value)| within(*value));
                if inside.is_empty() || outside.is_empty() {
                    return Err(outside.is_empty());
                }
                let swapped = outside.len() < inside.len();
                let fewer = if swapped { outside } else { inside };
                let members: Vec<_> = fewer.into_iter().map(|(feature, _)| half(feature)).collect();
                let test = self.any_of(&members, missing_left != swapped)?;
                Ok(Test { swapped: test.swapped != swapped, ..test })
            }
        }
    }

    /// The test whether one of some intervals contains its feature.
    fn any_of(
        &mut self,
        members: &[(usize, f64, f64)],
        missing_left: bool,
    ) -> std::result::Result<Test, bool> {
        let (left, right) = (0, 0);
        match *members {
            [(_, f64::NEG_INFINITY, f64::INFINITY)] => Err(true),
            [(_, lower, upper)] if lower >= upper => Err(false),
            [(feature, f64::NEG_INFINITY, threshold)] => {
                let feature = position(feature);
                Ok(Test {
                    node: Node::AtMost { feature, threshold, left, right, missing_left },
                    swapped: false,
                })
            }
            [(feature, threshold, f64::INFINITY)] => {
                let (feature, missing_left) = (position(feature), !missing_left);
                Ok(Test {
                    node: Node::AtMost { feature, threshold, left, right, missing_left },
                    swapped: true,
                })
            }
            _ => {
                let first = position(self.members.len());
                self.members.extend(members.iter().map(|&(feature, lower, upper)| Member {
                    feature: position(feature),
                    lower,
                    upper,
                }));
                let count = position(members.len());
                Ok(Test { node: Node::AnyOf { first, count, left, right, missing_left }, swapped: false })
            }
        }
    }

    /// Each input in terms of the features.
    fn resolve(&self, features: &Features) -> std::result::Result<Vec<Input>, TreesProblem> {
        let columns = features.columns();
        let find = |name: &str| columns.iter().find(|column| column.name() == name);
        let known = |name: &str| find(name).is_some() || features.index(name).is_ok();
        let is_named = self.sources.iter().all(|source| source.name().is_none_or(known))
            && self.sources.iter().all(|source| !matches!(source, Source::Unstated { name: None, .. }));
        let mismatch = || TreesProblem::Columns {
            columns: self.sources.iter().map(|source| source.name().unwrap_or("?").to_owned()).collect(),
            features: columns.iter().map(|column| column.name().to_owned()).collect(),
        };
        let is_stated = |source: &Source| !matches!(source, Source::Unstated { .. });
        let count = self.sources.len();
        // Some names that are features and some that are not: a name is misspelt, and the order is not meant.
        let names = || self.sources.iter().filter_map(Source::name);
        let is_half_named = names().any(known) && !names().all(known);
        if is_half_named {
            return Err(mismatch());
        }
        if !is_named
            && (self.sources.iter().any(is_stated) || ![columns.len(), features.len()].contains(&count))
        {
            return Err(mismatch());
        }
        let mut inputs = Vec::with_capacity(count);
        for (place, source) in self.sources.iter().enumerate() {
            inputs.push(match source {
                Source::Constant(value) => Input::Constant(*value),
                Source::Number { column, steps } => number(features, find(column), column, steps)?,
                Source::Category { column, values } => category(find(column), column, values)?,
                Source::Unstated { name, labels, steps } => {
                    let column = match name {
                        Some(name) if is_named => find(name),
                        _ if count == columns.len() => columns.get(place),
                        _ => None,
                    };
                    match (column, name) {
                        (Some(column), _) => of_column(column, labels.as_deref(), steps)?,
                        (None, Some(name)) if is_named => {
                            let feature = features.index(name).unwrap_or(place);
                            Input::Number { feature, steps: steps.clone() }
                        }
                        _ => Input::Number { feature: place, steps: steps.clone() },
                    }
                }
            });
        }
        Ok(inputs)
    }
}

impl Source {
    fn name(&self) -> Option<&str> {
        match self {
            Self::Unstated { name, .. } => name.as_deref(),
            Self::Number { column, .. } | Self::Category { column, .. } => Some(column),
            Self::Constant(_) => None,
        }
    }
}

/// A threshold in standardised units.
///
/// Neighbouring doubles may be the same number there, so that the threshold cannot be between them. Then the
/// lower one decides, which is the threshold itself, unless the next whole number, such as a code or zero, is
/// among them. An action on an integer leads to a whole number only up to rounding errors, so the threshold of
/// an integer keeps a distance from whole numbers.
fn standardised(features: &Features, feature: usize, threshold: f64) -> f64 {
    let value = features.standardise(feature, threshold);
    if !threshold.is_finite() {
        return value;
    }
    if features.feature(feature).kind == Kind::Integer {
        let Feature { mean, std, .. } = features.feature(feature);
        let room = INTEGER_ROOM * (1.0 + value.abs() + (mean / std).abs());
        let below = features.standardise(feature, threshold.floor()) + room;
        let above = features.standardise(feature, threshold.floor() + 1.0) - room;
        return value.min(above).max(below);
    }
    let above = threshold.ceil();
    let is_code = above != threshold && features.standardise(feature, above) == value;
    if is_code { value.next_down() } else { value }
}

/// The largest number that some steps take to at most `threshold`.
fn before(steps: &[Step], threshold: f64) -> f64 {
    if steps.is_empty() || threshold.is_infinite() {
        return threshold;
    }
    fold::largest(|x| steps.iter().fold(x, |x, step| step.apply(x)) <= threshold)
}

fn number(
    features: &Features,
    column: Option<&Column>,
    name: &str,
    steps: &[Step],
) -> std::result::Result<Input, TreesProblem> {
    let feature = match column {
        Some(column) if column.positions().len() == 1 => column.positions().start,
        Some(_) => return Err(fault(name, "it is a category, but the model takes it as a number")),
        None => features.index(name).map_err(|_| fault(name, "there is no such feature"))?,
    };
    Ok(Input::Number { feature, steps: steps.to_vec() })
}

fn category(
    column: Option<&Column>,
    name: &str,
    values: &[(String, f64)],
) -> std::result::Result<Input, TreesProblem> {
    let column = column.filter(|column| column.categories().is_some() && !column.is_ordered());
    let column = column.ok_or_else(|| fault(name, "it is no unordered category, but the model takes one"))?;
    let categories = column.categories().unwrap_or_default();
    let value = |label: &String| {
        let known = values.iter().find(|(known, _)| known == label);
        known
            .map(|(_, value)| *value)
            .ok_or_else(|| fault(name, &format!("the model does not know `{label}`")))
    };
    let values = categories.iter().map(value).collect::<std::result::Result<Vec<f64>, _>>()?;
    Ok(Input::OneOf(column.positions().zip(values).collect()))
}

/// A column of a model's table that is a column of people's tables. Categories are codes: positions among
/// the model's own names of them, or else among those of the feature.
fn of_column(
    column: &Column,
    labels: Option<&[String]>,
    steps: &[Step],
) -> std::result::Result<Input, TreesProblem> {
    let first = column.positions().start;
    let Some(categories) = column.categories() else {
        let is_code = |(code, label): (usize, &String)| *label == code.to_string();
        if labels.is_some_and(|labels| !labels.iter().enumerate().all(is_code)) {
            return Err(fault(
                column.name(),
                "the model takes categories; declare the feature with `categories`",
            ));
        }
        return Ok(Input::Number { feature: first, steps: steps.to_vec() });
    };
    if column.is_ordered() {
        if labels.is_some_and(|labels| labels != categories) {
            let reason = "the model has its categories in another order; declare them as the model does";
            return Err(fault(column.name(), reason));
        }
        return Ok(Input::Number { feature: first, steps: steps.to_vec() });
    }
    let code = |(place, label): (usize, &String)| match labels {
        None => Ok(place as f64),
        Some(labels) => {
            let code = labels.iter().position(|known| known == label);
            let unknown = || fault(column.name(), &format!("the model does not know `{label}`"));
            code.map(|code| code as f64).ok_or_else(unknown)
        }
    };
    let codes = categories.iter().enumerate().map(code).collect::<std::result::Result<Vec<f64>, _>>()?;
    let values = codes.into_iter().map(|code| steps.iter().fold(code, |x, step| step.apply(x)));
    Ok(Input::OneOf(column.positions().zip(values).collect()))
}

fn fault(column: &str, reason: &str) -> TreesProblem {
    TreesProblem::Category { column: column.into(), reason: reason.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(kind: Kind, mean: f64, std: f64) -> Features {
        Features::new(vec![Feature::new("count").kind(kind).scaling(mean, std)]).unwrap()
    }

    #[test]
    fn zero_is_decided_as_by_the_model() {
        // `x < 0` in single precision is at most the number below zero there.
        let below = f64::from(-f32::from_bits(1)) / 2.0;
        for kind in [Kind::Real, Kind::Integer] {
            let features = one(kind, -0.25, 4.0);
            let threshold = standardised(&features, 0, below);
            assert!(features.standardise(0, 0.0) > threshold);
            assert!(features.standardise(0, -1.0) <= threshold);
        }
    }

    #[test]
    fn actions_on_integers_reach_whole_numbers() {
        for seed in 0..2_000 {
            let (mean, std) = (0.3 + 0.001 * f64::from(seed), 5.0 + 0.000_7 * f64::from(seed));
            let features = one(Kind::Integer, mean, std);
            for (from, to) in [(5.0, 0.0), (-7.0, 0.0), (1.0, 0.0), (40.0, 3.0)] {
                let reached = features.standardise(0, from) + (to - from) / std;
                assert!(reached <= standardised(&features, 0, to + 1e-35), "{mean} {std}");
                assert!(reached <= standardised(&features, 0, to), "{mean} {std}");
                assert!(reached > standardised(&features, 0, to.next_down()), "{mean} {std}");
            }
        }
    }
}
