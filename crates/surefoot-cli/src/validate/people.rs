//! A table of people, held against a problem.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::{Path, PathBuf};

use super::limits;
use crate::ids::{Ids, Repeated};
use crate::table::{Batch, CellProblem, Place, Table, TableError};
use crate::words::are;
use surefoot::action::feasible_change;
use surefoot::error::CategoryProblem;
use surefoot::error::{CausalModelError, PeopleError};
use surefoot::feature::Shown;
use surefoot::magnitude::readable;
use surefoot::problem::six_digits;
use surefoot::{Error, Feature, Features, Intervention, People, Scm, escape_line};

/// How many examples of each kind of mistake are shown.
const EXAMPLES: usize = 3;

/// What was found in a table.
pub struct Checked {
    path: PathBuf,
    people: usize,
    /// How many have a missing value.
    incomplete: usize,
    /// None without a classifier.
    turned_down: Option<usize>,
    mistakes: Vec<Mistake>,
    /// What is allowed but hardly meant.
    warnings: Vec<Mistake>,
    /// Where each kind of mistake is in the list.
    positions: HashMap<String, usize>,
}

/// All mistakes of one kind.
struct Mistake {
    what: String,
    count: usize,
    examples: Vec<String>,
}

/// The score of a person by whoever decides.
pub type Score<'a> = &'a dyn Fn(&[f64]) -> f64;

/// Reads the whole table, batch by batch.
pub fn check(
    path: &Path,
    features: &Features,
    scm: Option<&Scm>,
    score: Option<Score<'_>>,
) -> Result<Checked, TableError> {
    let table = Table::open(path)?;
    let mut checked = Checked::new(path, score.map(|_| 0));
    let names: Vec<&str> = features.columns().iter().map(|column| column.name()).collect();
    let columns: HashSet<&str> = table.columns().iter().map(String::as_str).collect();
    let absent: Vec<&str> = names.into_iter().filter(|name| !columns.contains(name)).collect();
    if let [_, _, ..] = absent[..] {
        // A single missing column is reported by `select`, with the nearest name.
        for name in absent {
            checked.add(format!("there is no column `{name}`"), None);
        }
        return Ok(checked);
    }
    // By which column people are known unless another is named.
    let id = table.columns().iter().find(|name| *name == "id").cloned();
    let mut ids = id.as_ref().map(|column| Ids::new(path, column));
    let mut reader = table.select_people(features, id.as_slice())?;
    while let Some(batch) = reader.next_batch()? {
        if let Some(ids) = &mut ids {
            for (id, &place) in batch.texts[0].iter().zip(&batch.places) {
                ids.add(id);
                if id.trim().is_empty() {
                    let what = "column `id`: nobody is named; give every row its own";
                    checked.add(what.into(), Some(place.to_string()));
                }
            }
        }
        checked.batch(&batch, features, scm, score);
    }
    if let Some(ids) = &ids {
        checked.ids(ids)?;
    }
    Ok(checked)
}

/// Holds rows that have been read against the features and, if there is one, the causal model.
pub fn check_batch(path: &Path, batch: &Batch, features: &Features, scm: Option<&Scm>) -> Checked {
    let mut checked = Checked::new(path, None);
    checked.batch(batch, features, scm, None);
    checked
}

impl Checked {
    fn new(path: &Path, turned_down: Option<usize>) -> Self {
        let (mistakes, warnings, positions) = (Vec::new(), Vec::new(), HashMap::new());
        Self { path: path.into(), people: 0, incomplete: 0, turned_down, mistakes, warnings, positions }
    }

    pub fn is_clean(&self) -> bool {
        self.mistakes.is_empty()
    }

    fn add(&mut self, what: String, example: Option<String>) {
        let position = self.positions.get(&what).copied().unwrap_or_else(|| {
            self.positions.insert(what.clone(), self.mistakes.len());
            self.mistakes.push(Mistake { what, count: 0, examples: Vec::new() });
            self.mistakes.len() - 1
        });
        let mistake = &mut self.mistakes[position];
        mistake.count += 1;
        if mistake.examples.len() < EXAMPLES {
            mistake.examples.extend(example);
        }
    }

    /// Adds the rows whose id an earlier row has.
    fn ids(&mut self, ids: &Ids) -> Result<(), TableError> {
        ids.for_each_repeated(|Repeated { id, place, first }| {
            let example = format!("{place}: `{}`, which is in {first} already", escape_line(&id));
            self.add("column `id`: the same in several rows; give every row its own".into(), Some(example));
            true
        })
    }

    fn batch(&mut self, batch: &Batch, features: &Features, scm: Option<&Scm>, score: Option<Score<'_>>) {
        self.people += batch.len();
        for fault in &batch.faults {
            let listed;
            let (what, example): (&str, String) = match &fault.problem {
                CellProblem::Missing => ("no value is given", fault.place.to_string()),
                CellProblem::Text(text) | CellProblem::NotANumber(text) => {
                    ("not a number", format!("{}: `{}`", fault.place, escape_line(text)))
                }
                CellProblem::NotFinite(value) => ("not a finite number", format!("{}: {value}", fault.place)),
                CellProblem::Category(problem) => match problem.as_ref() {
                    CategoryProblem::Unknown { value, nearest, known } => {
                        listed = format!("not a category; the categories are {}", names(known));
                        let meant = nearest.as_ref().map_or(String::new(), |n| format!(", perhaps `{n}`"));
                        (&listed, format!("{}: `{}`{meant}", fault.place, escape_line(value)))
                    }
                    _ => ("no value is given", fault.place.to_string()),
                },
            };
            self.add(format!("column `{}`: {what}", escape_line(&fault.column)), Some(example));
        }
        for (row, &place) in batch.numbers.rows().into_iter().zip(&batch.places) {
            let own = row.to_vec();
            match People::from_own_units(features, &[&own]) {
                Ok(people) => self.person(features, people.individual(0), place, scm, score),
                Err(Error::People(PeopleError::GroupSum { group, ones, .. })) => {
                    let what = format!("group `{group}`: exactly one of its columns must be 1");
                    self.add(what, Some(format!("{place}: {ones} are")));
                }
                Err(_) => {
                    features.iter().zip(&own).for_each(|(feature, &value)| self.value(feature, value, place))
                }
            }
        }
    }

    /// One value; those that are no numbers have been told.
    fn value(&mut self, feature: &Feature, value: f64, place: Place) {
        let what = if value.is_nan() || feature.special_value(value).is_some() {
            return;
        } else if !feature.allows(value) {
            format!(
                "outside [{}, {}]; correct the values or widen the limits",
                readable(feature.lower),
                readable(feature.upper)
            )
        } else {
            let alone = Feature { group: None, shown: Shown::Number, ..feature.clone() };
            let Ok(alone) = Features::new(vec![alone]) else { return };
            match People::from_own_units(&alone, &[[value]]) {
                Ok(_) => return,
                Err(Error::People(PeopleError::WrongKind { kind, .. })) => {
                    format!("not {kind}; correct the values or the kind")
                }
                Err(_) => "too far from the mean to be standardised".into(),
            }
        };
        self.add(format!("column `{}`: {what}", feature.name), Some(format!("{place}: {}", readable(value))));
    }

    /// A person whose values are in order.
    fn person(
        &mut self,
        features: &Features,
        reported: &[f64],
        place: Place,
        scm: Option<&Scm>,
        score: Option<Score<'_>>,
    ) {
        let x = &*features.imputed(reported);
        let is_incomplete = reported.iter().any(|value| value.is_nan());
        self.incomplete += usize::from(is_incomplete);
        // Special values follow from nothing, and what stands in for a missing one need not follow.
        let scm = scm.filter(|scm| scm.features().special_values(x).is_empty() && !is_incomplete);
        if let Some(Err(error)) = scm.map(|scm| scm.abduct(x)) {
            let what = match &error {
                Error::People(PeopleError::Unreachable { feature, .. })
                | Error::CausalModel(CausalModelError::WrongInverse { feature, .. })
                | Error::People(PeopleError::BeyondClip { feature, .. }) => {
                    format!("column `{feature}`: values that its equation cannot give, whatever the noise")
                }
                Error::CausalModel(CausalModelError::EquationNotFinite { feature, .. }) => {
                    format!("column `{feature}`: its equation gives no finite number for its causes")
                }
                other => other.to_string(),
            };
            self.add(what, Some(place.to_string()));
        } else if let Some(scm) = scm {
            self.warn_of_followers(x, place, scm);
        }
        if let (Some(turned_down), Some(score)) = (&mut self.turned_down, score) {
            *turned_down += usize::from(score(x) < 0.0);
        }
    }

    /// Warns where a change of one feature that is allowed takes another, which follows from it,
    /// outside its limits: as far as limits allow, or by one standard deviation.
    fn warn_of_followers(&mut self, x: &[f64], place: Place, scm: &Scm) {
        let features = scm.features();
        let mut seen: Vec<usize> = Vec::new();
        for cause in features.actionable() {
            let (down, up) = feasible_change(features, cause, x[cause]);
            for change in [down, up].map(|end| if end.is_finite() { end } else { end.signum() }) {
                let shift = Intervention::Shift { features: &[cause], change: &[change] };
                let Ok(reached) = scm.counterfactual(x, shift) else { continue };
                for (i, feature) in features.iter().enumerate() {
                    let value = feature.own_units(reached[i]);
                    if i == cause || reached[i] == x[i] || feature.allows(value) || seen.contains(&i) {
                        continue;
                    }
                    seen.push(i);
                    let what = format!(
                        "`{}` would leave its limits ({}) if `{}` changes, by its equation",
                        feature.name,
                        limits(feature),
                        features.feature(cause).name
                    );
                    let to = features.feature(cause).own_units(x[cause] + change);
                    let name = &features.feature(cause).name;
                    let example =
                        format!("{place}: {} where `{name}` is {}", six_digits(value), six_digits(to));
                    count(&mut self.warnings, what, Some(example));
                }
            }
        }
    }
}

fn names(known: &[String]) -> String {
    known.iter().map(|name| format!("`{}`", escape_line(name))).collect::<Vec<_>>().join(", ")
}

/// Counts a warning, and keeps the first examples of its kind.
fn count(mistakes: &mut Vec<Mistake>, what: String, example: Option<String>) {
    let known = mistakes.iter().position(|mistake| mistake.what == what);
    let position = known.unwrap_or_else(|| {
        mistakes.push(Mistake { what, count: 0, examples: Vec::new() });
        mistakes.len() - 1
    });
    mistakes[position].count += 1;
    if mistakes[position].examples.len() < EXAMPLES {
        mistakes[position].examples.extend(example);
    }
}

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        if self.is_clean() {
            write!(f, "People: {} in {path}", self.people)?;
            if let (1.., Some(count)) = (self.people, self.turned_down) {
                write!(f, ", of whom {count} {} turned down", are(count))?;
            }
            match self.incomplete {
                0 => {}
                1 => write!(f, "; 1 has a missing value, which is imputed")?,
                count => write!(f, "; {count} have missing values, which are imputed")?,
            }
            for warning in &self.warnings {
                write!(f, "\nWarning: {warning}")?;
            }
            if !self.warnings.is_empty() {
                write!(
                    f,
                    "\nActions that lead there are not proposed, unless `limits_on` is \"action\". Widen the limits, \
                     or write an equation that keeps to them, for example `max(0, ... + u)`."
                )?;
            }
            return Ok(());
        }
        match self.mistakes.len() {
            1 => write!(f, "{path}: one kind of mistake")?,
            count => write!(f, "{path}: {count} kinds of mistakes")?,
        }
        for mistake in &self.mistakes {
            write!(f, "\n  {mistake}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mistake { what, count, examples } = self;
        f.write_str(what)?;
        if !examples.is_empty() {
            let more = if *count > examples.len() { ", ..." } else { "" };
            let times = if *count == 1 { String::new() } else { format!("{count} rows: ") };
            write!(f, " ({times}{}{more})", examples.join(", "))?;
        }
        Ok(())
    }
}
