//! What the command line says of features: changes, orders and special values.

use anyhow::{Result, bail};
use surefoot::{Change, Feature, Observed};

use super::cells::Cells;
use super::hints;
use crate::table::nearest;

/// What is to be written of features beside what the table says.
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    change: Vec<(String, Change)>,
    order: Vec<(String, Vec<String>)>,
    special: Vec<(String, f64, Option<String>)>,
}

const CHANGES: [(&str, Change); 4] = [
    ("increase", Change::Increase),
    ("decrease", Change::Decrease),
    ("any", Change::Any),
    ("fixed", Change::Fixed),
];

impl Wishes {
    /// From the options `--change`, `--order` and `--special`.
    pub fn parse(change: &[String], order: &[String], special: &[String]) -> Result<Self> {
        let mut wishes = Self::default();
        for text in change {
            wishes.change.extend(changes(text)?);
        }
        for text in order {
            let Some((name, list)) = text.split_once('=') else {
                bail!("--order {text}: write for example \"education=none<basic<degree\", the lowest first");
            };
            let list: Vec<String> = list.split('<').map(|text| text.trim().to_owned()).collect();
            if list.len() < 2 || list.iter().any(String::is_empty) {
                bail!("--order {text}: write the texts with `<` between them, the lowest first");
            }
            wishes.order.push((name.trim().to_owned(), list));
        }
        for text in special {
            let stated = text.rsplit_once('=').and_then(|(name, value)| {
                let (number, meaning) = value.split_once(':').map_or((value, None), |(n, m)| (n, Some(m)));
                let meaning = meaning.map(|words| words.trim().to_owned()).filter(|words| !words.is_empty());
                let number = number.trim().parse::<f64>().ok().filter(|number| number.is_finite())?;
                Some((name.trim().to_owned(), number, meaning))
            });
            let Some(stated) = stated else {
                bail!(
                    "--special {text}: write a column and a number, such as \"bureau=-9: no bureau record\""
                );
            };
            wishes.special.push(stated);
        }
        let mut names: Vec<&String> = wishes.change.iter().map(|(name, _)| name).collect();
        names.sort();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            bail!("--change: `{}` is given twice; keep one", pair[0]);
        }
        Ok(wishes)
    }

    /// The numbers of a column that are no amounts.
    pub fn special_numbers(&self, column: &str) -> Vec<f64> {
        self.special.iter().filter(|(name, ..)| name == column).map(|(_, value, _)| *value).collect()
    }

    /// The features of a column as they are wished for. An error if the column cannot have an order.
    pub fn shape(
        &self,
        name: &str,
        cells: &Cells,
        mut features: Vec<Feature>,
    ) -> Result<(Vec<Feature>, Option<String>)> {
        for (_, value, meaning) in self.special.iter().filter(|(column, ..)| column == name) {
            if cells.has_text {
                bail!("--special: `{name}` is a column of text; only numbers are special");
            }
            features = features.into_iter().map(|f| f.special(*value, meaning.as_deref())).collect();
        }
        if !cells.has_text {
            if self.order.iter().any(|(column, _)| column == name) {
                bail!("--order: `{name}` is a column of numbers, which have an order; leave it out");
            }
            return Ok((features.into_iter().map(hints::with_unit).collect(), None));
        }
        let direction = self.change.iter().find(|(column, _)| column == name).map(|(_, change)| *change);
        let is_directed = matches!(direction, Some(Change::Increase | Change::Decrease));
        let stated = self.order.iter().find(|(column, _)| column == name).map(|(_, list)| list.clone());
        let guessed = hints::order(cells.different.keys());
        let list = |order: &[String]| {
            let texts: Vec<String> = order.iter().map(|text| format!("{text:?}")).collect();
            texts.join(", ")
        };
        if let Some(order) = stated {
            if let Some(text) = cells.different.keys().find(|text| !order.contains(text)) {
                bail!("--order: `{name}` also has `{text}`; say where it belongs");
            }
            return Ok((vec![ordered(name, order, cells)?], None));
        }
        match (guessed, is_directed) {
            (Some(order), true) => {
                let note = format!("`{name}` was taken to have the order {}: look at it.", list(&order));
                Ok((vec![ordered(name, order, cells)?], Some(note)))
            }
            (Some(order), false) => {
                let note = format!(
                    "`{name}` may have an order: then write categories = [{}] and ordered = true.",
                    list(&order)
                );
                Ok((features, Some(note)))
            }
            (None, true) => bail!(
                "--change: `{name}` holds text without an order that is known; give one with --order \
                 \"{name}={}\", the lowest first, or change it to \"any\"",
                cells.different.keys().map(String::as_str).collect::<Vec<_>>().join("<")
            ),
            (None, false) => Ok((features, None)),
        }
    }

    /// Sets what actions may do to features: to columns, to columns of text and to groups by their names.
    pub fn apply_changes(&self, features: &mut [Feature], left_out: &[(String, String)]) -> Result<()> {
        for (name, change) in &self.change {
            let column = features.iter().any(|feature| column_of(feature) == name);
            let is_meant = |feature: &&mut Feature| match column {
                true => column_of(feature) == name,
                false => feature.group.as_ref() == Some(name),
            };
            let chosen: Vec<&mut Feature> = features.iter_mut().filter(is_meant).collect();
            if chosen.is_empty() {
                return Err(self.unknown("--change", name, features, left_out));
            }
            let is_directed = matches!(change, Change::Increase | Change::Decrease);
            if is_directed && !column {
                bail!(
                    "--change: `{name}` is a group of categories, which are neither more nor less; change it to \
                     \"any\", or give its columns, such as {}={}",
                    chosen[0].name,
                    word(*change)
                );
            }
            chosen.into_iter().for_each(|feature| feature.change = *change);
        }
        for name in self.order.iter().map(|(name, _)| name).chain(self.special.iter().map(|(name, ..)| name))
        {
            if !features.iter().any(|feature| column_of(feature) == name) {
                return Err(self.unknown("--order and --special", name, features, left_out));
            }
        }
        Ok(())
    }

    fn unknown(
        &self,
        option: &str,
        name: &str,
        features: &[Feature],
        left_out: &[(String, String)],
    ) -> anyhow::Error {
        if let Some((_, why)) = left_out.iter().find(|(column, _)| column == name) {
            return anyhow::anyhow!(
                "{option}: `{name}` is left out ({why}), so that no action can change it"
            );
        }
        let mut known: Vec<String> = features.iter().map(|feature| column_of(feature).to_owned()).collect();
        known.extend(features.iter().filter_map(|feature| feature.group.clone()));
        known.dedup();
        match nearest(name, &known) {
            Some(nearest) => {
                anyhow::anyhow!("{option}: there is no feature `{name}`; did you mean `{nearest}`?")
            }
            None => {
                let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
                anyhow::anyhow!("{option}: there is no feature `{name}`; there are {}", known.join(", "))
            }
        }
    }
}

/// The column of people's tables that a feature is from.
fn column_of(feature: &Feature) -> &str {
    match &feature.shown {
        surefoot::feature::Shown::OneOf { column, .. } => column,
        _ => &feature.name,
    }
}

fn word(change: Change) -> &'static str {
    CHANGES.iter().find(|(_, known)| *known == change).map_or("any", |(word, _)| word)
}

/// An ordered category: its positions have the mean and the standard deviation of the column.
fn ordered(name: &str, order: Vec<String>, cells: &Cells) -> Result<Feature> {
    let mut seen = std::collections::BTreeSet::new();
    if let Some(text) = order.iter().find(|text| !seen.insert(text.as_str())) {
        bail!("--order: `{name}` names `{text}` twice");
    }
    let times = |text: &String| cells.different.get(text).copied().unwrap_or(0);
    let positions = order.iter().enumerate().flat_map(|(i, text)| std::iter::repeat_n(i as f64, times(text)));
    let observed: Observed = positions.collect();
    // A column of which not every row is different has several texts, so that their positions have a spread.
    let (mean, std) = observed.feature(name).map_or((0.0, 1.0), |feature| (feature.mean, feature.std));
    Ok(Feature::new(name).scaling(mean, std).ordered(order))
}

/// `income=increase,debt=decrease`. A name may have commas and equals signs: it ends with the last `=` before a word.
fn changes(text: &str) -> Result<Vec<(String, Change)>> {
    let mut changes = Vec::new();
    let mut name = String::new();
    for piece in text.split(',') {
        name += piece;
        let stated = name.rsplit_once('=').and_then(|(name, word)| {
            let known = CHANGES.iter().find(|(known, _)| *known == word.trim());
            known.map(|(_, change)| (name.trim().to_owned(), *change))
        });
        match stated {
            Some(stated) if !stated.0.is_empty() => {
                changes.push(stated);
                name.clear();
            }
            _ => name.push(','),
        }
    }
    if !name.is_empty() || changes.is_empty() {
        let rest = name.trim_end_matches(',');
        bail!(
            "--change {text}: `{rest}` does not say how; write for example income=increase,debt=decrease (or any, or \
             fixed)"
        );
    }
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_read_also_of_names_with_commas() {
        let read = |text: &str| changes(text).map_err(|error| error.to_string());
        let named = |pairs: &[(&str, Change)]| Ok(pairs.iter().map(|(n, c)| (n.to_string(), *c)).collect());
        assert_eq!(
            read("income=increase, debt=decrease"),
            named(&[("income", Change::Increase), ("debt", Change::Decrease)])
        );
        assert_eq!(read("a,b=c=any,x=fixed"), named(&[("a,b=c", Change::Any), ("x", Change::Fixed)]));
        for wrong in ["", "income", "income=up", "=any", "income=increase,", "income=increase,debt"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn wishes_that_cannot_be_read_are_refused() {
        let parse = |change: &[&str], order: &[&str], special: &[&str]| {
            let [change, order, special] =
                [change, order, special].map(|texts| texts.iter().map(|t| t.to_string()).collect::<Vec<_>>());
            Wishes::parse(&change, &order, &special).map(drop).map_err(|error| error.to_string())
        };
        assert!(parse(&["a=any"], &["b=x<y"], &["c=-9: none", "c=-8"]).is_ok());
        for (change, order, special) in [
            (&["a=any", "a=fixed"][..], &[][..], &[][..]),
            (&[], &["b"], &[]),
            (&[], &["b=x"], &[]),
            (&[], &["b=x<"], &[]),
            (&[], &[], &["c"]),
            (&[], &[], &["c=none"]),
            (&[], &[], &["c=nan"]),
        ] {
            assert!(parse(change, order, special).is_err(), "{change:?} {order:?} {special:?}");
        }
    }
}
