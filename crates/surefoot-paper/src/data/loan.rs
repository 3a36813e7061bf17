//! Loan as a data set: the authors' sample, or one drawn from the model.

use ndarray::Array2;

use super::{DataError, Entry, Files, Origin, PublicFile, Result, Table, npy};
use crate::loan;

pub(super) const ENTRY: Entry = Entry {
    name: "loan",
    title: "Loan, synthetic",
    about: "1,000 loan applicants drawn from an analytic causal model: gender, age, education, amount and \
            duration of the loan, income and savings; education, income and savings may only increase. \
            Favourable: repaid. No file is needed; with those of the authors their own sample is used.",
    origin: "the model is part of Surefoot; the authors' sample is data/loan_X.npy and data/loan_Y.npy of \
             https://github.com/RicardoDominguez/AdversariallyRobustRecourse",
    terms: "the authors' repository states no licence",
    files: &[
        PublicFile {
            name: "loan_X.npy",
            published_as: None,
            address: "https://raw.githubusercontent.com/RicardoDominguez/AdversariallyRobustRecourse/\
                      489e7d21561b9f326d33dfcb47db18831945df23/data/loan_X.npy",
            member: None,
            size: 28_128,
            sha256: "f71af5a4b63907ab6dfc7f542acf02b014a7a4dbd2766e6e2587a7510fb609b7",
        },
        PublicFile {
            name: "loan_Y.npy",
            published_as: None,
            address: "https://raw.githubusercontent.com/RicardoDominguez/AdversariallyRobustRecourse/\
                      489e7d21561b9f326d33dfcb47db18831945df23/data/loan_Y.npy",
            member: None,
            size: 8_128,
            sha256: "569c7660599c65fd412f9d907719ad8cf9473eabe062a4ea5cd56767b9b4186d",
        },
    ],
    graph: &loan::CAUSES,
    read,
};

/// The number of people who are drawn without the authors' sample, which has as many.
const PEOPLE: usize = 1000;

fn read(files: &Files) -> Result<Table> {
    let [rows, labels] = [0, 1].map(|i| files.path(&ENTRY, &ENTRY.files[i]));
    let Ok(path) = rows else { return drawn(0) };
    let label_path = labels?;
    let (shape, values) = npy::read(&path, "f4")?;
    let expected = loan::CAUSES.len() + 2;
    let wrong = |path: &std::path::Path, expected, reason: String| DataError::Numpy {
        path: path.into(),
        expected,
        reason,
    };
    let rows = match shape[..] {
        [people, features] if features == expected => Array2::from_shape_vec((people, features), values).ok(),
        _ => None,
    };
    let rows = rows.ok_or_else(|| wrong(&path, "seven features", format!("its shape is {shape:?}")))?;
    if !rows.iter().all(|value| value.is_finite()) {
        return Err(wrong(&path, "finite numbers", "it holds others".into()));
    }
    let (shape, labels) = npy::read(&label_path, "i8")?;
    if shape != [rows.nrows()] || labels.iter().any(|&label| label != 0.0 && label != 1.0) {
        let reason = format!("its shape is {shape:?}, or it holds something else than 0 and 1");
        return Err(wrong(&label_path, "as many labels", reason));
    }
    // The highest education in own units; the file has standardised ones.
    let (mean, std) = loan::scaling("education");
    let most = rows.column(2).iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let features = loan::features(mean + std * most).map_err(|source| DataError::refused(&path, source))?;
    let favourable = labels.iter().map(|&label| label == 1.0).collect();
    Ok(Table { features, rows, favourable, periods: None, origin: Origin::File(path) })
}

fn drawn(seed: u64) -> Result<Table> {
    let refused = |source| DataError::refused("the Loan model".as_ref(), source);
    let sample = loan::sample(PEOPLE, seed).map_err(refused)?;
    let features = loan::features(sample.most_education).map_err(refused)?;
    let origin = Origin::Drawn { seed };
    Ok(Table { features, rows: sample.rows, favourable: sample.repaid, periods: None, origin })
}
