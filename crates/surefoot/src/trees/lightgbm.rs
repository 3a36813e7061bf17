//! Models of LightGBM, in its text format.
//!
//! Inputs are in double precision and go left if `x <= t`. Leaves are added in double precision, in the order
//! of the trees.

use std::collections::HashMap;

use super::columns::Source;
use super::draft::{affordable, position};
use super::{Arithmetic, Compared, Draft, DraftNode, DraftTest, Link, OwnRule};
use crate::error::TreesProblem;

type Result<T> = std::result::Result<T, TreesProblem>;

/// Numbers up to this magnitude count as zero.
const ZERO: f64 = 1e-35f32 as f64;

/// Bits of the type of a decision.
const IS_CATEGORY: u8 = 1;
const DEFAULT_LEFT: u8 = 2;

/// Whether a text looks like a model of LightGBM.
pub fn recognises(text: &str) -> bool {
    text.starts_with("tree\n") || text.starts_with("tree\r\n")
}

/// The ensemble of a text.
pub fn read(text: &str) -> Result<Draft> {
    let mut sections = text.split("\nTree=");
    let head = Section::new("the file", sections.next().unwrap_or_default());
    let trees = sections.enumerate().map(|(number, body)| {
        // The first line is the rest of the heading; what follows the last tree is no part of it.
        let body = body.split("end of trees").next().unwrap_or_default();
        Section::new(&format!("tree {number}"), body)
    });
    if head.whole("num_class")?.unwrap_or(1) != 1 || head.whole("num_tree_per_iteration")?.unwrap_or(1) != 1 {
        return Err(unsupported("a model of LightGBM with several classes".into(), "use two classes"));
    }
    let trees = trees.map(|section| read_tree(&section)).collect::<Result<Vec<_>>>()?;
    check_whole(text, &head, trees.len())?;
    let (link, rule) = objective(head.find("objective").unwrap_or_default())?;
    // Random forests average.
    let divisor = if head.fields.contains_key("average_output") { trees.len() as f64 } else { 1.0 };
    let most = head.whole("max_feature_idx")?.ok_or_else(|| head.missing("max_feature_idx"))?;
    Ok(Draft {
        sources: sources(text, &head, most)?,
        single_inputs: false,
        trees,
        arithmetic: Arithmetic { divisor, ..Arithmetic::SUM },
        link,
        rule,
        compares_sums: false,
    })
}

/// Refuses a file that was cut off, or from which trees were taken.
fn check_whole(text: &str, head: &Section<'_>, trees: usize) -> Result<()> {
    if !text.contains("\nend of trees") {
        return Err(TreesProblem::Missing { place: "the file".into(), field: "end of trees".into() });
    }
    match head.find("tree_sizes").map(|sizes| sizes.split_ascii_whitespace().count()) {
        Some(count) if count != trees => {
            Err(head.expected("tree_sizes", &format!("{trees} numbers, one for each tree")))
        }
        _ => Ok(()),
    }
}

/// Lines of the form `name=value`.
struct Section<'a> {
    place: String,
    fields: HashMap<&'a str, &'a str>,
}

impl<'a> Section<'a> {
    fn new(place: &str, text: &'a str) -> Self {
        let field =
            |line: &'a str| line.trim_end_matches('\r').split_once('=').unwrap_or((line.trim_end(), ""));
        Self { place: place.into(), fields: text.lines().map(field).collect() }
    }

    fn find(&self, name: &str) -> Option<&'a str> {
        self.fields.get(name).copied()
    }

    fn missing(&self, name: &str) -> TreesProblem {
        TreesProblem::Missing { place: self.place.clone(), field: name.into() }
    }

    fn expected(&self, name: &str, expected: &str) -> TreesProblem {
        TreesProblem::Expected { place: format!("{}, `{name}`", self.place), expected: expected.into() }
    }

    fn whole(&self, name: &str) -> Result<Option<usize>> {
        let parse = |text: &str| text.trim().parse().map_err(|_| self.expected(name, "a whole number"));
        self.find(name).map(parse).transpose()
    }

    /// A list of numbers, separated by spaces.
    fn list<T: std::str::FromStr>(&self, name: &str) -> Result<Vec<T>> {
        let text = self.find(name).ok_or_else(|| self.missing(name))?;
        let parse = |text: &str| text.parse().map_err(|_| self.expected(name, "numbers"));
        text.split_ascii_whitespace().map(parse).collect()
    }

    /// A list of a certain length.
    fn list_of<T: std::str::FromStr>(&self, name: &str, length: usize) -> Result<Vec<T>> {
        let list = self.list(name)?;
        let expected = || self.expected(name, &format!("{length} numbers"));
        if list.len() == length { Ok(list) } else { Err(expected()) }
    }
}

/// The link of an objective such as `binary sigmoid:1`.
fn objective(text: &str) -> Result<(Link, OwnRule)> {
    let mut words = text.split_ascii_whitespace();
    let name = words.next().unwrap_or_default();
    let slope = words.find_map(|word| word.strip_prefix("sigmoid:")).map_or(Ok(1.0), str::parse::<f64>);
    let refused = || {
        let what = format!("LightGBM's objective `{text}`");
        unsupported(what, "use `binary` or `cross_entropy`")
    };
    let slope = slope.ok().filter(|slope| slope.is_finite() && *slope > 0.0).ok_or_else(refused)?;
    let rule = OwnRule { compares: Compared::Probability, strict: true };
    match name {
        "binary" | "cross_entropy" => Ok((Link::Logistic { slope, single: false }, rule)),
        _ => Err(refused()),
    }
}

fn sources(text: &str, head: &Section<'_>, most: usize) -> Result<Vec<Source>> {
    let inputs = affordable(most.saturating_add(1))?;
    let names: Vec<&str> = head.find("feature_names").unwrap_or_default().split(' ').collect();
    let infos: Vec<&str> = head.find("feature_infos").unwrap_or_default().split(' ').collect();
    // The categories of the columns of pandas, in the order of those columns that are categories.
    let pandas = text.rsplit_once("\npandas_categorical:").map(|(_, list)| list.trim());
    let pandas: Vec<Vec<serde_json::Value>> =
        pandas.and_then(|list| serde_json::from_str(list).ok()).unwrap_or_default();
    let mut pandas = pandas.into_iter();
    let source = |input: usize| {
        let name = names.get(input).filter(|name| !name.is_empty()).map(|&name| name.to_owned());
        // Ranges of numbers are in brackets; categories are a list with colons.
        let is_category = infos.get(input).is_some_and(|info| !info.starts_with('[') && info.contains(':'));
        let labels = if is_category { pandas.next() } else { None };
        let label = |value: serde_json::Value| value.as_str().map_or(value.to_string(), str::to_owned);
        let labels = labels.map(|labels| labels.into_iter().map(label).collect());
        Source::Unstated { name, labels, steps: Vec::new() }
    };
    Ok((0..inputs).map(source).collect())
}

fn read_tree(section: &Section<'_>) -> Result<Vec<DraftNode>> {
    let leaves = section.whole("num_leaves")?.ok_or_else(|| section.missing("num_leaves"))?;
    if section.find("is_linear").is_some_and(|text| text.trim() == "1") {
        return Err(unsupported(
            "a tree of LightGBM with linear leaves".into(),
            "train with linear_tree=false",
        ));
    }
    let values: Vec<f64> = section.list_of("leaf_value", leaves)?;
    let leaf = |value: f64| DraftNode::Leaf { value, against: 0.0 };
    if leaves <= 1 {
        return Ok(values.into_iter().map(leaf).collect());
    }
    let inner = leaves - 1;
    let columns: Vec<usize> = section.list_of("split_feature", inner)?;
    let thresholds: Vec<f64> = section.list_of("threshold", inner)?;
    let types: Vec<u8> = section.list_of("decision_type", inner)?;
    let (left, right) = (section.list_of("left_child", inner)?, section.list_of("right_child", inner)?);
    let has_categories = types.iter().any(|kind| kind & IS_CATEGORY != 0);
    let bits = if has_categories { Bits::read(section)? } else { Bits::default() };
    // Negative children are leaves, after the inner nodes.
    let child = |child: i64| {
        let place = if child < 0 { (!child).checked_add(inner as i64) } else { Some(child) };
        place.and_then(|place| usize::try_from(place).ok()).unwrap_or(usize::MAX)
    };
    let mut nodes = Vec::with_capacity(inner + leaves);
    for node in 0..inner {
        let (left, right) = (child(left[node]), child(right[node]));
        let (test, missing_left) = if types[node] & IS_CATEGORY != 0 {
            let set =
                bits.set(thresholds[node]).ok_or_else(|| section.expected("threshold", "a known set"))?;
            // A missing value is none of the categories.
            (DraftTest::category(set, true), false)
        } else {
            test(thresholds[node], types[node])
        };
        nodes.push(DraftNode::Split { feature: columns[node], test, left, right, missing_left });
    }
    nodes.extend(values.into_iter().map(leaf));
    Ok(nodes)
}

/// A test of a number, and whether a missing value goes left.
fn test(threshold: f64, kind: u8) -> (DraftTest, bool) {
    // Numbers near zero are zero for LightGBM.
    let threshold = match threshold {
        t if (-ZERO..0.0).contains(&t) => (-ZERO).next_down(),
        t if (0.0..ZERO).contains(&t) => ZERO,
        t => t,
    };
    let (default_left, zero_left) = (kind & DEFAULT_LEFT != 0, 0.0 <= threshold);
    match (kind >> 2) & 3 {
        // A missing value is zero, and zero goes the default way.
        1 if default_left != zero_left => {
            let band = ((-ZERO).next_down(), ZERO);
            let intervals = match zero_left {
                true => vec![(f64::NEG_INFINITY, band.0), (band.1, threshold)],
                false => vec![(f64::NEG_INFINITY, threshold), band],
            };
            (DraftTest::Within(intervals), default_left)
        }
        1 => (DraftTest::AtMost(threshold), default_left),
        2 => (DraftTest::AtMost(threshold), default_left),
        // A missing value is zero.
        _ => (DraftTest::AtMost(threshold), zero_left),
    }
}

/// Sets of categories, as bits of numbers of 32 bits.
#[derive(Default)]
struct Bits {
    boundaries: Vec<usize>,
    words: Vec<u32>,
}

impl Bits {
    fn read(section: &Section<'_>) -> Result<Self> {
        Ok(Self { boundaries: section.list("cat_boundaries")?, words: section.list("cat_threshold")? })
    }

    /// The codes of a set, by its number; `None` if there is no such set.
    fn set(&self, number: f64) -> Option<Vec<u32>> {
        let number = number as usize;
        let (start, end) = (*self.boundaries.get(number)?, *self.boundaries.get(number.checked_add(1)?)?);
        let words = self.words.get(start..end)?;
        let codes = |(place, &word): (usize, &u32)| {
            let first = position(place).saturating_mul(32);
            (0..32u32).filter(move |bit| word >> bit & 1 == 1).map(move |bit| first.saturating_add(bit))
        };
        Some(words.iter().enumerate().flat_map(codes).collect())
    }
}

fn unsupported(what: String, remedy: &'static str) -> TreesProblem {
    TreesProblem::Unsupported(what, remedy)
}
