//! South German Credit: borrowers of a German bank, 1973 to 1975, and whether they paid back.

use surefoot::{Change, Feature, Kind};

use super::table::People;
use super::text::Text;
use super::{Entry, Files, PublicFile, Result, Table};

pub(super) const ENTRY: Entry = Entry {
    name: "german",
    title: "South German Credit",
    about: "1,000 borrowers of a German bank, 1973 to 1975, with 20 features: duration of the credit in \
            months (laufzeit) and amount (hoehe), which may change, age (alter), and codes. \
            Favourable: paid back (kredit 1). No causal model is known.",
    origin: "UCI Machine Learning Repository, SouthGermanCredit.asc in the archive of \
             https://archive.ics.uci.edu/dataset/573/south+german+credit+update",
    terms: "CC BY 4.0; cite U. Grömping, South German Credit Data: Correcting a Widely Used Data Set \
            (2019), https://doi.org/10.24432/C5QG88",
    files: &[PublicFile {
        name: "SouthGermanCredit.asc",
        published_as: None,
        address: "https://archive.ics.uci.edu/static/public/573/south+german+credit+update.zip",
        member: Some("SouthGermanCredit.asc"),
        size: 47_940,
        sha256: "5f363343f356ca38a0236baab849e472846399b2176ccc5bd686483dd8a7562f",
    }],
    graph: &[],
    read,
};

const COLUMNS: [&str; 20] = [
    "laufkont", "laufzeit", "moral", "verw", "hoehe", "sparkont", "beszeit", "rate", "famges", "buerge",
    "wohnzeit", "verm", "alter", "weitkred", "wohn", "bishkred", "beruf", "pers", "telef", "gastarb",
];

fn read(files: &Files) -> Result<Table> {
    let path = files.path(&ENTRY, &ENTRY.files[0])?;
    let text = Text::open(&path, b' ')?;
    let columns = text.positions(COLUMNS)?;
    let [kredit] = text.positions(["kredit"])?;
    let mut people = People::default();
    text.each(|line| {
        let mut values = [0.0; COLUMNS.len()];
        for (value, column) in values.iter_mut().zip(columns) {
            *value = line.number(column)?;
        }
        people.push(values, line.either(kredit, ["1", "0"], "0 or 1")?);
        Ok(())
    })?;
    let feature = |name: &str| match name {
        "laufzeit" | "hoehe" => Feature::new(name).limits(0.0, f64::INFINITY).change(Change::Any),
        "alter" => Feature::new(name),
        _ => Feature::new(name).kind(Kind::Integer),
    };
    people.table(&path, COLUMNS.into_iter().map(feature).collect())
}
