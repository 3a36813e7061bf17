//! COMPAS: people arrested in Broward County, Florida, and whether they were arrested again.

use surefoot::{Change, Feature, Kind};

use super::table::People;
use super::text::Text;
use super::{Entry, Files, Period, PublicFile, Result, Table};

pub(super) const ENTRY: Entry = Entry {
    name: "compas",
    title: "COMPAS recidivism scores",
    about: "6,172 people arrested in Broward County, Florida, in 2013 and 2014: age, sex, race and \
            number of prior offences (which may only decrease). Favourable: no new offence within two \
            years.",
    origin: "ProPublica, compas-scores-two-years.csv of https://github.com/propublica/compas-analysis",
    terms: "ProPublica's data terms, https://projects.propublica.org/datastore/terms/: cite ProPublica; \
            the raw data may not be republished",
    files: &[PublicFile {
        name: "compas-scores-two-years.csv",
        published_as: None,
        address: "https://raw.githubusercontent.com/propublica/compas-analysis/\
                  bafff5da3f2e45eca6c2d5055faad269defd135a/compas-scores-two-years.csv",
        member: None,
        size: 2_546_489,
        sha256: "c451db85908b2f7fef1d83203bedf6b71ecda0d5af468d82ae62178f91d0cc7d",
    }],
    graph: &[("isCaucasian", &["age", "isMale"]), ("priors_count", &["age", "isMale", "isCaucasian"])],
    read,
};

fn read(files: &Files) -> Result<Table> {
    let path = files.path(&ENTRY, &ENTRY.files[0])?;
    let text = Text::open(&path, b',')?;
    let [sex, birth, race, priors, days, jail, degree, recidivist, score, again] = text.positions([
        "sex",
        "dob",
        "race",
        "priors_count",
        "days_b_screening_arrest",
        "c_jail_in",
        "c_charge_degree",
        "is_recid",
        "score_text",
        "two_year_recid",
    ])?;
    let mut people = People::default();
    let mut periods = Vec::new();
    text.each(|line| {
        // ProPublica's filter: screened within thirty days of the arrest, so that the score is
        // about this offence; known whether there was another; no ordinary traffic offence; scored.
        if line.text(days).is_empty()
            || line.number(days)?.abs() > 30.0
            || line.number(recidivist)? == -1.0
            || line.text(degree) == "O"
            || matches!(line.text(score), "" | "NA" | "N/A")
        {
            return Ok(());
        }
        let day =
            |column| day(line.text(column)).ok_or_else(|| line.unlike(column, "a date such as 2013-08-14"));
        let age = (day(jail)? - day(birth)?) as f64 / 365.0;
        periods.push(period(line.text(jail)));
        let male = line.either(sex, ["Male", "Female"], "Male or Female")?;
        let caucasian = line.text(race) == "Caucasian";
        let favourable = line.either(again, ["0", "1"], "0 or 1")?;
        people.push([age, f64::from(male), f64::from(caucasian), line.number(priors)?], favourable);
        Ok(())
    })?;
    let features = vec![
        Feature::new("age"),
        Feature::new("isMale").kind(Kind::Binary),
        Feature::new("isCaucasian").kind(Kind::Binary),
        Feature::new("priors_count").limits(0.0, f64::INFINITY).change(Change::Decrease),
    ];
    let table = people.table(&path, features)?;
    Ok(Table { periods: Some(periods), ..table })
}

/// The period of an arrest: 2013, or January to March 2014. Of the people arrested from April 2014 on, the
/// file has those with a new offence only.
fn period(date: &str) -> Period {
    match date.get(..7) {
        Some(month) if month.starts_with("2013-") => Period::First,
        Some("2014-01" | "2014-02" | "2014-03") => Period::Next,
        _ => Period::Other,
    }
}

/// The number of a day, from text that begins with a date such as 2013-08-14; a time of day may
/// follow. Days are counted in the Gregorian calendar, from the first of March of the year 0.
fn day(text: &str) -> Option<i64> {
    let date = text.split(' ').next()?;
    let mut parts = date.splitn(3, '-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=9999).contains(&year) || !(1..=length).contains(&day) {
        return None;
    }
    // Years that begin in March end with the leap day, so that months before it never move.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    Some(365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1)
}

#[cfg(test)]
mod tests {
    use super::{Period, day, period};

    #[test]
    fn the_next_period_ends_before_people_without_a_new_offence_are_missing() {
        let dates = ["2013-08-13 06:03:42", "2014-01-01", "2014-03-31 23:00:00", "2014-04-01", "2015-01-02"];
        let periods = [Period::First, Period::Next, Period::Next, Period::Other, Period::Other];
        assert_eq!(dates.map(period), periods);
    }

    #[test]
    fn days_are_counted_across_leap_years() {
        let between = |a: &str, b: &str| day(b).unwrap() - day(a).unwrap();
        assert_eq!(between("2013-01-01", "2013-12-31 23:59:59"), 364);
        assert_eq!(between("2012-02-28", "2012-03-01"), 2);
        assert_eq!(between("1900-02-28", "1900-03-01"), 1);
        assert_eq!(between("2000-02-28", "2000-03-01"), 2);
        assert_eq!(between("1947-04-18", "2013-08-13 06:03:42"), 24_224);
        for wrong in ["", "2013", "2013-13-01", "2013-02-29", "2013-04-31", "2013-00-10", "14.8.2013"] {
            assert_eq!(day(wrong), None, "{wrong}");
        }
    }
}
