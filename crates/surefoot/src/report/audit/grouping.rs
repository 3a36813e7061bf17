//! Groups of people, by the values of one or several columns.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::error::AuditError;
use crate::feature::{Column, Special, nearest};
use crate::magnitude::readable;
use crate::{Feature, Features, Kind, People, Result};

/// The largest number of groups of one grouping: 190 pairs.
pub const MOST_GROUPS: usize = 20;

/// The largest number of values of an attribute that is changed for twins. Everybody is answered once for each other
/// value.
const MOST_TWIN_VALUES: usize = 8;

/// The group of people whose cell is empty.
const NOT_STATED: &str = "(not stated)";

/// A grouping as it is asked for: `sex`, `age: 30, 50` or `sex, age: 30, 50`.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupingRequest {
    /// The text of the request.
    text: String,
    parts: Vec<Part>,
}

/// A column of a request with its cut points, if it has any.
#[derive(Clone, Debug, PartialEq)]
struct Part {
    column: String,
    cuts: Vec<f64>,
}

impl GroupingRequest {
    /// Reads a request. `known` has the names of all columns of the table; those of features and of one-hot groups are
    /// known anyway.
    ///
    /// # Errors
    /// If a column is unknown or named twice, or if cut points do not ascend.
    pub fn parse(text: &str, features: &Features, known: &[String]) -> Result<Self> {
        let text = text.trim();
        let named = |name: &str| {
            known.iter().any(|column| column == name) || FeatureColumn::find(features, name).is_some()
        };
        let mut parts: Vec<Part> = Vec::new();
        let pieces = if named(text) { vec![text] } else { text.split(',').map(str::trim).collect() };
        for piece in pieces.into_iter().filter(|piece| !piece.is_empty()) {
            let cut = piece.parse::<f64>().ok().filter(|_| !named(piece));
            match (cut, parts.last_mut(), piece.rsplit_once(':')) {
                (Some(cut), Some(part), _) if !part.cuts.is_empty() => part.cuts.push(cut),
                (_, _, Some((column, cut))) if !named(piece) => {
                    let column = column.trim().to_owned();
                    let Ok(cut) = cut.trim().parse::<f64>() else {
                        return Err(AuditError::CutPoints { grouping: text.into(), column }.into());
                    };
                    parts.push(Part { column, cuts: vec![cut] });
                }
                _ => parts.push(Part { column: piece.to_owned(), cuts: Vec::new() }),
            }
        }
        let request = Self { text: text.to_owned(), parts };
        request.check(features, known, named)?;
        Ok(request)
    }

    fn check(&self, features: &Features, known: &[String], named: impl Fn(&str) -> bool) -> Result<()> {
        let grouping = self.text.clone();
        if self.parts.is_empty() {
            return Err(AuditError::NoColumn { grouping }.into());
        }
        for (position, Part { column, cuts }) in self.parts.iter().enumerate() {
            let column = column.clone();
            if !named(&column) {
                let mut all: Vec<String> = known.to_vec();
                let further = features.columns().iter().map(|column| column.name().to_owned());
                all.extend(further.filter(|name| !known.contains(name)));
                let names: Vec<&str> = all.iter().map(String::as_str).collect();
                let nearest = nearest(&column, &names);
                return Err(AuditError::UnknownColumn { grouping, column, nearest, known: all }.into());
            }
            if self.parts[..position].iter().any(|part| part.column == column) {
                return Err(AuditError::ColumnTwice { grouping, column }.into());
            }
            let ascends = cuts.windows(2).all(|pair| pair[0] < pair[1]);
            if !ascends || !cuts.iter().all(|cut| cut.is_finite()) {
                return Err(AuditError::CutPoints { grouping, column }.into());
            }
        }
        Ok(())
    }

    /// The columns that are not of features, so that their cells have to be read.
    pub fn further_columns(&self, features: &Features) -> Vec<String> {
        let columns = self.parts.iter().map(|part| &part.column);
        columns.filter(|name| FeatureColumn::find(features, name).is_none()).cloned().collect()
    }
}

/// The name of a column in sentences.
fn spoken(features: &Features, name: &str) -> String {
    match FeatureColumn::find(features, name) {
        Some(FeatureColumn::Column(column)) => {
            let feature = features.feature(column.positions().start);
            let label = feature.words.label.clone();
            label.unwrap_or_else(|| name.to_owned())
        }
        Some(FeatureColumn::Group(_)) | None => name.to_owned(),
    }
}

/// Where the features have the values of a column.
enum FeatureColumn<'f> {
    /// A column of people's tables.
    Column(&'f Column),
    /// A one-hot group of columns of numbers.
    Group(Vec<usize>),
}

impl<'f> FeatureColumn<'f> {
    fn find(features: &'f Features, name: &str) -> Option<Self> {
        let column = features.columns().iter().find(|column| column.name() == name).map(Self::Column);
        let group = || features.groups().into_iter().find(|group| group.name == name);
        column.or_else(|| group().map(|group| Self::Group(group.columns)))
    }
}

/// Everybody's group.
#[derive(Clone, Debug)]
pub struct Grouping {
    name: String,
    label: String,
    groups: Vec<String>,
    membership: Vec<usize>,
    attribute: std::result::Result<Attribute, String>,
}

/// The features whose values say which group somebody is in.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// The features.
    pub features: Vec<usize>,
    /// Their values in each group, in standardised units.
    pub values: Vec<Vec<f64>>,
}

/// Everybody's group by one column.
struct Split {
    labels: Vec<String>,
    membership: Vec<usize>,
    attribute: std::result::Result<Attribute, String>,
}

impl Grouping {
    /// The groups of some people. `further` has the cells of the columns that are not of features, by name.
    ///
    /// # Errors
    /// If a cell with cut points is no number, or if there are more than [`MOST_GROUPS`] groups.
    pub fn new(
        request: &GroupingRequest,
        people: &People,
        further: &BTreeMap<String, Vec<String>>,
    ) -> Result<Self> {
        let mut splits = Vec::with_capacity(request.parts.len());
        let names: Vec<String> =
            request.parts.iter().map(|part| spoken(people.features(), &part.column)).collect();
        for (part, name) in request.parts.iter().zip(&names) {
            let mut split = split(request, part, people, further)?;
            split.labels.iter_mut().for_each(|label| *label = format!("{name}: {label}"));
            splits.push(split);
        }
        let whole = match splits.len() {
            1 => splits.swap_remove(0),
            _ => crossing(&splits, people.len()),
        };
        let (groups, grouping) = (whole.labels.len(), request.text.clone());
        if groups > MOST_GROUPS {
            return Err(AuditError::TooManyGroups { grouping, groups, most: MOST_GROUPS }.into());
        }
        Ok(Self {
            name: grouping,
            label: names.join(" and "),
            groups: whole.labels,
            membership: whole.membership,
            attribute: whole.attribute,
        })
    }

    /// The request, as text.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The columns, as people read them.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The names of the groups; each has at least one person.
    pub fn groups(&self) -> &[String] {
        &self.groups
    }

    /// The group of each person.
    pub fn membership(&self) -> &[usize] {
        &self.membership
    }

    /// The features that say which group somebody is in; otherwise why twins in other groups are not compared.
    pub fn attribute(&self) -> std::result::Result<&Attribute, &str> {
        self.attribute.as_ref().map_err(String::as_str)
    }
}

/// Splits people by one column.
fn split(
    request: &GroupingRequest,
    part: &Part,
    people: &People,
    further: &BTreeMap<String, Vec<String>>,
) -> Result<Split> {
    let features = people.features();
    let (grouping, column) = (request.text.clone(), part.column.clone());
    match FeatureColumn::find(features, &part.column) {
        Some(FeatureColumn::Column(found)) if found.categories().is_none() => {
            let at = found.positions().start;
            let feature = features.feature(at);
            let values = people.iter().map(|person| {
                let value = person[at];
                (!value.is_nan()).then(|| stated(feature, value))
            });
            match part.cuts.is_empty() {
                false => Ok(by_cuts(values, &part.cuts, &feature.special, |cut| feature.amount(cut))),
                true => {
                    let values: Vec<Option<f64>> = values.collect();
                    let amount = |value: f64| {
                        let special = feature.special_value(value);
                        special.map_or_else(|| feature.amount(value), Special::words)
                    };
                    let split = by_number(&values, amount);
                    let attribute = vec![at];
                    Ok(with_attribute(split, attribute, people))
                }
            }
        }
        Some(_) if !part.cuts.is_empty() => Err(AuditError::CutCategories { grouping, column }.into()),
        Some(FeatureColumn::Column(found)) => {
            let known = found.categories().unwrap_or_default();
            let own = |person: &[f64], i: usize| features.feature(i).own_units(person[i]);
            let category = |person: &[f64]| {
                let text = found.text(|i| own(person, i));
                // Only of ordered categories, which are one number, may it be missing.
                known.iter().position(|category| Some(category.as_str()) == text).unwrap_or(known.len())
            };
            let first = features.feature(found.positions().start);
            let mut names: Vec<String> = known.iter().map(|text| first.reading(text).to_owned()).collect();
            names.push(NOT_STATED.into());
            let split = by_position(people.iter().map(category), &names);
            Ok(with_attribute(split, found.positions().collect(), people))
        }
        Some(FeatureColumn::Group(columns)) => {
            let names: Vec<String> = columns.iter().map(|&i| features.feature(i).name.clone()).collect();
            let category = |person: &[f64]| {
                columns
                    .iter()
                    .position(|&i| features.feature(i).own_units(person[i]).round() == 1.0)
                    .unwrap_or(0)
            };
            let split = by_position(people.iter().map(category), &names);
            Ok(with_attribute(split, columns, people))
        }
        None => {
            let cells = further.get(&part.column).map_or(&[][..], Vec::as_slice);
            if cells.len() != people.len() {
                let (values, people) = (cells.len(), people.len());
                return Err(AuditError::ColumnLength { grouping, column, values, people }.into());
            }
            if part.cuts.is_empty() {
                return Ok(by_text(cells));
            }
            let number = |(person, cell): (usize, &String)| match cell.trim() {
                text if is_missing(text) => Ok(None),
                text => {
                    text.parse::<f64>().ok().filter(|value| value.is_finite()).map(Some).ok_or_else(|| {
                        let (grouping, column) = (grouping.clone(), column.clone());
                        AuditError::NotANumber { grouping, column, person: person + 1, value: text.into() }
                    })
                }
            };
            let numbers = cells.iter().enumerate().map(number).collect::<std::result::Result<Vec<_>, _>>()?;
            Ok(by_cuts(numbers.into_iter(), &part.cuts, &[], readable))
        }
    }
}

/// A value in own units, to twelve digits: the conversion to standardised units and back rounds it.
fn stated(feature: &Feature, value: f64) -> f64 {
    let own = feature.own_units(value);
    if let Some(special) = feature.special_value(own) {
        return special.value;
    }
    match feature.kind {
        Kind::Real => format!("{own:.11e}").parse().unwrap_or(own),
        Kind::Integer | Kind::Binary => feature.snap_to_integer(own),
    }
}

/// People by where their value is among the cut points: under the first, from each to under the next, the last and over. Special values are no amounts
/// and have groups of their own.
fn by_cuts(
    values: impl Iterator<Item = Option<f64>>,
    cuts: &[f64],
    special: &[Special],
    amount: impl Fn(f64) -> String,
) -> Split {
    let last = cuts.len();
    let mut labels = vec![format!("under {}", amount(cuts[0]))];
    labels.extend(cuts.windows(2).map(|pair| format!("{} to under {}", amount(pair[0]), amount(pair[1]))));
    labels.push(format!("{} and over", amount(cuts[last - 1])));
    labels.push(NOT_STATED.into());
    labels.extend(special.iter().map(Special::words));
    let group = |value: Option<f64>| {
        let Some(value) = value else { return last + 1 };
        match special.iter().position(|special| special.value == value) {
            Some(place) => last + 2 + place,
            None => cuts.iter().filter(|&&cut| value >= cut).count(),
        }
    };
    let why = "the groups are ranges of a number, so that no single value stands for another group";
    only_present(Split { labels, membership: values.map(group).collect(), attribute: Err(why.into()) })
}

/// People by each value of a number.
fn by_number(values: &[Option<f64>], amount: impl Fn(f64) -> String) -> Split {
    let mut known: Vec<f64> = values.iter().copied().flatten().collect();
    known.sort_by(f64::total_cmp);
    known.dedup();
    let place = |value: &Option<f64>| {
        value.map_or(known.len(), |value| known.partition_point(|other| *other < value))
    };
    let membership = values.iter().map(place).collect();
    let labels = known.iter().copied().map(amount).chain([NOT_STATED.to_owned()]).collect();
    only_present(Split { labels, membership, attribute: Err(String::new()) })
}

/// People by a category, in the order of the problem.
fn by_position(positions: impl Iterator<Item = usize>, names: &[String]) -> Split {
    only_present(Split {
        labels: names.to_vec(),
        membership: positions.collect(),
        attribute: Err(String::new()),
    })
}

/// Whether a cell states nothing.
fn is_missing(cell: &str) -> bool {
    matches!(cell, "" | "NA" | "N/A" | "null" | "NULL" | "None")
}

/// What a cell states; empty if nothing.
fn stated_text(cell: &str) -> &str {
    Some(cell.trim()).filter(|text| !is_missing(text)).unwrap_or_default()
}

/// People by the text of a cell: numbers in their order, then texts in theirs.
fn by_text(cells: &[String]) -> Split {
    let mut names: Vec<&str> = cells.iter().map(|cell| stated_text(cell)).collect();
    names.sort_by(|a, b| match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(x), Ok(y)) => x.total_cmp(&y).then(a.cmp(b)),
        (Ok(_), Err(_)) => std::cmp::Ordering::Less,
        (Err(_), Ok(_)) => std::cmp::Ordering::Greater,
        (Err(_), Err(_)) => a.is_empty().cmp(&b.is_empty()).then(a.cmp(b)),
    });
    names.dedup();
    let positions: BTreeMap<&str, usize> =
        names.iter().enumerate().map(|(place, name)| (*name, place)).collect();
    let membership = cells.iter().map(|cell| positions[stated_text(cell)]).collect();
    let label = |name: &&str| if name.is_empty() { NOT_STATED.to_owned() } else { (*name).to_owned() };
    let labels = names.iter().map(label).collect();
    Split { labels, membership, attribute: Err("the column is no feature of the problem".into()) }
}

/// The same split without groups that have nobody.
fn only_present(split: Split) -> Split {
    let Split { labels, membership, attribute } = split;
    let mut present = vec![false; labels.len()];
    membership.iter().for_each(|&group| present[group] = true);
    let number: Vec<usize> =
        (0..labels.len()).map(|i| present[..i].iter().filter(|is| **is).count()).collect();
    let kept = labels.into_iter().zip(&present).filter(|(_, is)| **is).map(|(label, _)| label).collect();
    Split { labels: kept, membership: membership.into_iter().map(|group| number[group]).collect(), attribute }
}

/// A split by features, which twins in other groups take the values of.
fn with_attribute(split: Split, features: Vec<usize>, people: &People) -> Split {
    let groups = split.labels.len();
    let attribute = match groups {
        0..2 => Err("everybody is in the same group".into()),
        2..=MOST_TWIN_VALUES => {
            let mut values = vec![Vec::new(); groups];
            for (person, &group) in people.iter().zip(&split.membership) {
                if values[group].is_empty() {
                    values[group] = features.iter().map(|&i| person[i]).collect();
                }
            }
            Ok(Attribute { features, values })
        }
        _ => Err(format!("the attribute has more than {MOST_TWIN_VALUES} values")),
    };
    Split { attribute, ..split }
}

/// People by several columns at once.
fn crossing(splits: &[Split], people: usize) -> Split {
    let mut numbers: BTreeMap<Vec<usize>, usize> = BTreeMap::new();
    let key = |person: usize| -> Vec<usize> { splits.iter().map(|split| split.membership[person]).collect() };
    for person in 0..people {
        if let Entry::Vacant(entry) = numbers.entry(key(person)) {
            entry.insert(0);
        }
    }
    numbers.values_mut().enumerate().for_each(|(number, group)| *group = number);
    let label = |key: &Vec<usize>| {
        let parts: Vec<&str> = key.iter().zip(splits).map(|(&i, split)| split.labels[i].as_str()).collect();
        parts.join(", ")
    };
    Split {
        labels: numbers.keys().map(label).collect(),
        membership: (0..people).map(|person| numbers[&key(person)]).collect(),
        attribute: Err("the groups are crossings of several columns".into()),
    }
}
