//! Adult: people of the United States census of 1994, and whether they earn more than 50,000
//! dollars a year.

use surefoot::{Change, Feature, Kind};

use super::table::People;
use super::text::Text;
use super::{Entry, Files, PublicFile, Result, Table};

pub(super) const ENTRY: Entry = Entry {
    name: "adult",
    title: "Adult income",
    about: "32,560 people of the United States census of 1994: sex, age, whether born in the United \
            States, whether married, years of education (which may only increase) and hours of work a \
            week (which may change). Favourable: an income above 50,000 dollars.",
    origin: "UCI Machine Learning Repository, adult.data of https://archive.ics.uci.edu/dataset/2/adult \
             (here adult.csv; the two are the same, byte for byte)",
    terms: "CC BY 4.0; cite B. Becker and R. Kohavi, Adult (1996), https://doi.org/10.24432/C5XW20",
    files: &[PublicFile {
        name: "adult.csv",
        published_as: Some("adult.data"),
        address: "https://archive.ics.uci.edu/ml/machine-learning-databases/adult/adult.data",
        member: None,
        size: 3_974_305,
        sha256: "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    }],
    graph: &[
        ("marital-status-Married", &["isMale", "age", "native-country-United-States"]),
        ("education-num", &["isMale", "age", "native-country-United-States", "marital-status-Married"]),
        ("hours-per-week", &["isMale", "age", "native-country-United-States", "marital-status-Married"]),
    ],
    read,
};

/// The names of the columns, which the file lacks.
const COLUMNS: [&str; 15] = [
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
];

fn read(files: &Files) -> Result<Table> {
    let path = files.path(&ENTRY, &ENTRY.files[0])?;
    let text = Text::open_without_names(&path, b',', &COLUMNS)?;
    let [age, education, marital, sex, hours, country, income] = text.positions([
        "age",
        "education-num",
        "marital-status",
        "sex",
        "hours-per-week",
        "native-country",
        "income",
    ])?;
    let mut people = People::default();
    let mut first = true;
    text.each(|line| {
        let values = [
            f64::from(line.either(sex, ["Male", "Female"], "Male or Female")?),
            line.number(age)?,
            f64::from(line.text(country) == "United-States"),
            f64::from(line.text(marital).starts_with("Married")),
            line.number(education)?,
            line.number(hours)?,
        ];
        let favourable = line.either(income, [">50K", "<=50K"], ">50K or <=50K")?;
        // The published table lacks the first person: that line was taken for column names.
        if !std::mem::take(&mut first) {
            people.push(values, favourable);
        }
        Ok(())
    })?;
    people.table(
        &path,
        vec![
            Feature::new("isMale").kind(Kind::Binary),
            Feature::new("age"),
            Feature::new("native-country-United-States").kind(Kind::Binary),
            Feature::new("marital-status-Married").kind(Kind::Binary),
            // The range of the levels.
            Feature::new("education-num").limits(1.0, 16.0).change(Change::Increase),
            Feature::new("hours-per-week").limits(0.0, 100.0).change(Change::Any),
        ],
    )
}
