//! What names of columns and texts of categories hint at: units and orders.

use surefoot::Feature;
use surefoot::feature::Unit;

/// Words for money, and what stands before an amount.
const CURRENCIES: [(&str, &str); 14] = [
    ("eur", "EUR"),
    ("euro", "EUR"),
    ("euros", "EUR"),
    ("€", "€"),
    ("usd", "USD"),
    ("dollar", "USD"),
    ("dollars", "USD"),
    ("$", "$"),
    ("gbp", "GBP"),
    ("£", "£"),
    ("chf", "CHF"),
    ("dm", "DM"),
    ("jpy", "JPY"),
    ("inr", "INR"),
];

/// Words for one and for several of a unit.
const UNITS: [(&str, &str); 6] = [
    ("day", "days"),
    ("week", "weeks"),
    ("month", "months"),
    ("year", "years"),
    ("hour", "hours"),
    ("minute", "minutes"),
];

/// Abbreviations that stay as they are.
const SYMBOLS: [&str; 7] = ["km", "kg", "cm", "m2", "kwh", "mm", "kb"];

/// The feature with the label and the unit that its name hints at: `income_eur` is "income" in "EUR {}",
/// `age (years)` "age" in years, `duration_in_month` "duration" in months.
pub fn with_unit(feature: Feature) -> Feature {
    let Some((label, unit)) = label_and_unit(&feature.name) else { return feature };
    feature.label(label).unit(unit)
}

fn label_and_unit(name: &str) -> Option<(String, Unit)> {
    let text = name.trim();
    let (rest, word, is_stated) = match text.strip_suffix([')', ']']) {
        Some(inside) => {
            let start = inside.rfind(['(', '['])?;
            (&inside[..start], &inside[start + 1..], true)
        }
        None => {
            let start = text.rfind(['_', ' ', '.', '-'])?;
            (&text[..start], &text[start + 1..], false)
        }
    };
    let separators = ['_', ' ', '.', '-'];
    let rest = rest.trim_end_matches(separators);
    // "duration in month": the unit is stated; "hours per week" is another unit.
    let (rest, is_stated) = match rest.rsplit_once(separators) {
        Some((before, last)) if last.eq_ignore_ascii_case("in") => (before, true),
        Some((_, last)) if last.eq_ignore_ascii_case("per") => return None,
        _ if rest.eq_ignore_ascii_case("in") || rest.eq_ignore_ascii_case("per") => return None,
        _ => (rest, is_stated),
    };
    let label = rest.trim_matches(separators).replace('_', " ").trim().to_owned();
    let unit = unit(&word.trim().to_lowercase(), is_stated)?;
    (!label.is_empty()).then_some((label, unit))
}

/// The unit of a word. `is_stated`: whether the word can be nothing else, so that `birth_year` is no number of years.
fn unit(word: &str, is_stated: bool) -> Option<Unit> {
    if let Some((_, money)) = CURRENCIES.iter().find(|(known, _)| *known == word) {
        let is_symbol = money.chars().all(|c| !c.is_ascii_alphabetic());
        return Unit::new(&if is_symbol { format!("{money}{{}}") } else { format!("{money} {{}}") }).ok();
    }
    if let Some((one, several)) =
        UNITS.iter().find(|(one, several)| *several == word || is_stated && *one == word)
    {
        return Unit::with_singular(one, several).ok();
    }
    if ["percent", "pct", "%"].contains(&word) {
        return Unit::new("{}%").ok();
    }
    SYMBOLS.contains(&word).then(|| Unit::new(word).ok()).flatten()
}

/// Scales, from the lowest step on; each step in several words.
const SCALES: [&[&[&str]]; 11] = [
    &[
        &["none", "no", "nothing"],
        &["very low", "tiny"],
        &["low", "little"],
        &["medium", "moderate", "middle", "mid", "average", "normal"],
        &["high", "much"],
        &["very high"],
    ],
    &[
        &["none", "no", "nothing", "unskilled"],
        &["basic", "primary", "elementary", "compulsory"],
        &["secondary", "high school", "highschool", "intermediate"],
        &["bachelor", "bachelors", "college", "degree", "undergraduate"],
        &["master", "masters", "graduate", "postgraduate"],
        &["doctorate", "doctoral", "phd"],
    ],
    &[
        &["very poor", "very bad"],
        &["poor", "bad"],
        &["fair", "okay", "ok"],
        &["good"],
        &["very good"],
        &["excellent", "outstanding"],
    ],
    &[&["very small"], &["small"], &["medium"], &["large", "big"], &["very large", "extra large"]],
    &[&["xs"], &["s"], &["m"], &["l"], &["xl"], &["xxl"]],
    &[
        &["never"],
        &["rarely", "seldom"],
        &["sometimes", "occasionally"],
        &["often", "frequently"],
        &["always"],
    ],
    &[&["unskilled"], &["semi skilled", "semiskilled"], &["skilled"], &["highly skilled"]],
    &[&["trainee", "intern"], &["junior"], &["mid", "intermediate"], &["senior"], &["lead", "principal"]],
    &[&["strongly disagree"], &["disagree"], &["neutral"], &["agree"], &["strongly agree"]],
    &[&["bronze"], &["silver"], &["gold"], &["platinum"]],
    &[&["none"], &["temporary", "fixed term"], &["permanent", "unlimited"]],
];

/// The order that texts seem to have, the lowest first: steps of a known scale, or texts that begin with numbers.
pub fn order<'a>(texts: impl Iterator<Item = &'a String> + Clone) -> Option<Vec<String>> {
    if texts.clone().count() < 2 {
        return None;
    }
    let of_scale = |scale: &&[&[&str]]| {
        let step = |text: &&String| {
            let words = words(text);
            scale.iter().position(|step| step.contains(&words.as_str())).map(|step| step as f64)
        };
        in_order(texts.clone(), |text| step(&text).map(|step| (step, 0)))
    };
    SCALES.iter().find_map(of_scale).or_else(|| in_order(texts.clone(), |text| leading_number(text)))
}

/// The texts by their keys, if every text has one and no two have the same.
fn in_order<'a>(
    texts: impl Iterator<Item = &'a String>,
    key: impl Fn(&'a String) -> Option<(f64, i8)>,
) -> Option<Vec<String>> {
    let mut keyed: Vec<((f64, i8), &String)> =
        texts.map(|text| Some((key(text)?, text))).collect::<Option<_>>()?;
    keyed.sort_by(|((a, x), _), ((b, y), _)| a.total_cmp(b).then(x.cmp(y)));
    let is_repeated = keyed.windows(2).any(|pair| pair[0].0 == pair[1].0);
    (!is_repeated).then(|| keyed.into_iter().map(|(_, text)| text.clone()).collect())
}

/// A text in lower case, with single spaces for everything that is no letter or digit.
fn words(text: &str) -> String {
    let spaced: String =
        text.chars().map(|c| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { ' ' }).collect();
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The number with which a text begins, and whether it is below (`<18`), at or above it (`>=65`).
fn leading_number(text: &str) -> Option<(f64, i8)> {
    let text = text.trim();
    let rest = text.trim_start_matches(['<', '>', '=', '≤', '≥', ' ']);
    let place = match text.chars().next()? {
        '<' | '≤' => -1,
        '>' | '≥' => 1,
        _ => 0,
    };
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    let number = rest[..end].trim_end_matches('.');
    number.parse::<f64>().ok().filter(|number| number.is_finite()).map(|number| (number, place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_hint_at_units() {
        for (name, label, amount) in [
            ("income_eur", "income", "EUR 1,200"),
            ("age (years)", "age", "1,200 years"),
            ("duration_in_month", "duration", "1,200 months"),
            ("loan amount [USD]", "loan amount", "USD 1,200"),
            ("rate.pct", "rate", "1,200%"),
            ("price_$", "price", "$1,200"),
            ("time_at_work_years", "time at work", "1,200 years"),
            ("distance (km)", "distance", "1,200 km"),
        ] {
            let feature = with_unit(Feature::new(name));
            assert_eq!((feature.spoken_name(), feature.amount(1200.0).as_str()), (label, amount), "{name}");
        }
        for name in
            ["hours-per-week", "birth_year", "year", "in_years", "eur", "income", "(years)", "a_in_eurs"]
        {
            assert_eq!(with_unit(Feature::new(name)), Feature::new(name), "{name}");
        }
    }

    #[test]
    fn texts_hint_at_orders() {
        let of = |texts: &[&str]| order(texts.iter().map(|text| text.to_string()).collect::<Vec<_>>().iter());
        for texts in [
            &["low", "medium", "HIGH"][..],
            &["none", "basic", "degree"],
            &["poor", "good", "Very-good"],
            &["1: none", "2: some", "10: much"],
            &["<18", "18-25", "26-65", ">=66"],
            &["no", "little", "moderate"],
            &["2.5 to 3", "3 to 4"],
        ] {
            let mut shuffled = texts.to_vec();
            shuffled.sort();
            assert_eq!(of(&shuffled).unwrap(), texts, "{texts:?}");
        }
        for texts in [
            &["clerk", "cook"][..],
            &["low", "purple"],
            &["A11", "A12"],
            &["low"],
            &["1: a", "1: b"],
            &["low", "little"],
        ] {
            assert_eq!(of(texts), None, "{texts:?}");
        }
    }
}
