//! Bail: people released from the prisons of North Carolina, and whether they came back.

use surefoot::{Change, Feature, Kind};

use super::table::People;
use super::text::Text;
use super::{Entry, Files, PublicFile, Result, Table};

pub(super) const ENTRY: Entry = Entry {
    name: "bail",
    title: "Bail, North Carolina",
    about: "8,923 people released from the prisons of North Carolina in 1978 and 1980, with 16 features: \
            years of schooling (SCHOOL, which may only increase), rules broken in prison (RULE, which may \
            only decrease), age, time served and others. Favourable: no return to prison. No causal model \
            is known. The published models were trained on another version (7,915 people).",
    origin: "ICPSR study 8987, P. Schmidt and A. D. Witte, Predicting Recidivism in North Carolina, 1978 \
             and 1980; as the table that the paper's authors publish, \
             data/bail.csv of https://github.com/RicardoDominguez/AdversariallyRobustRecourse",
    terms: "the terms of use of ICPSR; the authors' repository states no licence",
    files: &[PublicFile {
        name: "bail.csv",
        published_as: None,
        address: "https://raw.githubusercontent.com/RicardoDominguez/AdversariallyRobustRecourse/\
                  489e7d21561b9f326d33dfcb47db18831945df23/data/bail.csv",
        member: None,
        size: 651_814,
        sha256: "7a9adad854bb78d200201e8ce51f6b083d74b6bd3affadfdcc4b3427fd7c1d67",
    }],
    graph: &[],
    read,
};

/// The number of leading columns that are 0 or 1.
const BINARY: usize = 10;

const COLUMNS: [&str; 16] = [
    "WHITE", "ALCHY", "JUNKY", "SUPER", "MARRIED", "FELON", "WORKREL", "PROPTY", "PERSON", "MALE", "PRIORS",
    "SCHOOL", "RULE", "AGE", "TSERVD", "FOLLOW",
];

fn read(files: &Files) -> Result<Table> {
    let path = files.path(&ENTRY, &ENTRY.files[0])?;
    let text = Text::open(&path, b',')?;
    let columns = text.positions(COLUMNS)?;
    let [priors, school, file, returned] = text.positions(["PRIORS", "SCHOOL", "FILE", "RECID"])?;
    let mut people = People::default();
    text.each(|line| {
        let mut values = [0.0; COLUMNS.len()];
        for (i, (value, column)) in values.iter_mut().zip(columns).enumerate() {
            *value = match i {
                ..BINARY => f64::from(line.either(column, ["1", "0"], "0 or 1")?),
                _ => line.number(column)?,
            };
        }
        let favourable = line.either(returned, ["0", "1"], "0 or 1")?;
        // Rows of the third file lack ALCHY and JUNKY; -9 and 0 stand for unknown values.
        let complete =
            line.number(file)? != 3.0 && line.number(priors)? != -9.0 && line.number(school)? != 0.0;
        if complete {
            people.push(values, favourable);
        }
        Ok(())
    })?;
    let feature = |(i, name): (usize, &str)| match name {
        _ if i < BINARY => Feature::new(name).kind(Kind::Binary),
        // The minimum and the maximum of schooling.
        "SCHOOL" => Feature::new(name).limits(1.0, 19.0).change(Change::Increase),
        "RULE" => Feature::new(name).limits(0.0, f64::INFINITY).change(Change::Decrease),
        _ => Feature::new(name),
    };
    people.table(&path, COLUMNS.into_iter().enumerate().map(feature).collect())
}
