//! Reads actions back from the words in which people are told them.

use surefoot::{Action, Kind};

use crate::Case;

/// The action that a sentence such as "Raise income by 5 (from 1 to 6) and hold age where it is."
/// tells; what cannot be understood or contradicts itself is an error.
pub(crate) fn action(case: &Case, individual: &[f64], sentence: &str) -> Result<Action, String> {
    let mut sentence = sentence.trim().strip_suffix('.').ok_or("no full stop")?.to_owned();
    if let Some(first) = sentence.get_mut(..1) {
        first.make_ascii_lowercase();
    }
    let mut pairs: Vec<(usize, f64)> = Vec::new();
    for step in sentence.split(", ").flat_map(|part| part.split(" and ")) {
        if step != "do nothing" {
            pairs.extend(read_step(case, individual, step).map_err(|why| format!("`{step}`: {why}"))?);
        }
    }
    pairs.sort_by_key(|&(i, _)| i);
    if pairs.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        return Err("a feature is named twice".into());
    }
    let (features, change) = pairs.into_iter().unzip();
    Ok(Action { features, change })
}

fn number(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| format!("`{text}` is no number"))?;
    if value.is_finite() { Ok(value) } else { Err(format!("`{text}` is not finite")) }
}

fn read_step(case: &Case, individual: &[f64], step: &str) -> Result<Vec<(usize, f64)>, String> {
    let words: Vec<&str> = step.split([' ', '(', ')']).filter(|word| !word.is_empty()).collect();
    let position = |name: &str| {
        case.features.iter().position(|f| f.name == name).ok_or_else(|| format!("`{name}` is no feature"))
    };
    let own = |i: usize| case.features[i].own_units(individual[i]);
    // Told values are rounded to digits of the change.
    let agree = |what: &str, told: f64, expected: f64, change: f64| {
        let rounding = 1e-3 * change.abs() + 1e-9 * expected.abs();
        let matches = (told - expected).abs() <= rounding;
        if matches { Ok(()) } else { Err(format!("{what} is {expected}, and {told} is told")) }
    };
    match words[..] {
        [verb @ ("raise" | "lower"), name, "by", by, "from", from, "to", to] => {
            let i = position(name)?;
            let by = number(by)? * if verb == "raise" { 1.0 } else { -1.0 };
            agree("the value before", number(from)?, own(i), by)?;
            agree("the value after", number(to)?, own(i) + by, by)?;
            Ok(vec![(i, by / case.features[i].std)])
        }
        [verb @ ("raise" | "lower"), name, "to", to, "from", from] => {
            let i = position(name)?;
            let by = number(to)? - own(i);
            agree("the value before", number(from)?, own(i), by)?;
            if (by > 0.0) != (verb == "raise") {
                return Err(format!("a change by {by} is no way to {verb}"));
            }
            let by = match (case.features[i].step, case.features[i].kind) {
                (Some(step), _) => (by / step).round() * step,
                (None, Kind::Real) => by,
                (None, _) => by.round(),
            };
            Ok(vec![(i, by / case.features[i].std)])
        }
        ["hold", name, "where", "it", "is"] => Ok(vec![(position(name)?, 0.0)]),
        ["hold", name, "at", at] => {
            agree("the value", number(at)?, own(position(name)?), 0.0)?;
            Ok(vec![(position(name)?, 0.0)])
        }
        ["change", name, "from", from, "to", to] if position(name).is_ok() => {
            let i = position(name)?;
            agree("the value before", number(from)?, own(i).round(), 0.0)?;
            Ok(vec![(i, (number(to)? - own(i).round()) / case.features[i].std)])
        }
        ["change", group, "from", from, "to", to] => {
            let changes = |&i: &usize| match &case.features[i].name {
                name if *name == from => -1.0,
                name if *name == to => 1.0,
                _ => 0.0,
            };
            let columns = columns(case, group)?;
            if columns.iter().filter(|i| changes(i) != 0.0).count() != 2
                || own(position(from)?).round() != 1.0
            {
                return Err("these are not the category they have and another of its group".into());
            }
            Ok(columns.iter().map(|i| (*i, changes(i) / case.features[*i].std)).collect())
        }
        ["keep", group, "at", at] => {
            if own(position(at)?).round() != 1.0 {
                return Err("that is not the category they have".into());
            }
            Ok(columns(case, group)?.into_iter().map(|i| (i, 0.0)).collect())
        }
        _ => Err("this is not understood".into()),
    }
}

/// The columns of a group that may change.
fn columns(case: &Case, group: &str) -> Result<Vec<usize>, String> {
    let columns = (0..case.features.len()).filter(|&i| case.features[i].group.as_deref() == Some(group));
    let columns: Vec<usize> = columns.filter(|&i| case.features[i].is_actionable()).collect();
    if columns.is_empty() { Err(format!("`{group}` is no group")) } else { Ok(columns) }
}

/// Whether a text has a number in it that is none.
pub(crate) fn has_no_number(text: &str) -> bool {
    let words = text.split(|c: char| !c.is_alphanumeric());
    words.into_iter().any(|word| ["inf", "nan", "NaN", "infinity"].contains(&word))
}

/// The share in percent after "no allowed action more than", by which none is cheaper; zero for "no
/// cheaper".
pub(crate) fn proven_share(text: &str) -> Option<f64> {
    if text.contains("as is that no cheaper allowed action would do") {
        return Some(0.0);
    }
    let (_, rest) = text.split_once("as is that no allowed action more than ")?;
    rest.split_once("% cheaper would do")?.0.parse().ok()
}
