//! Public files become the published tables, and errors say what is wrong with them and where.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use surefoot::People;
use surefoot_paper::data::{DataError, DataSet, Files, Origin, Period};
use surefoot_paper::reference::Equations;
use surefoot_paper::training::split;
use surefoot_paper::{Reference, loan};

/// The largest difference between two equally long lists of numbers.
fn difference<'a>(a: impl IntoIterator<Item = &'a f64>, b: impl IntoIterator<Item = &'a f64>) -> f64 {
    a.into_iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
#[cfg_attr(any(without_reference, without_data), ignore = "published answers or data sets are missing")]
fn tables_are_the_published_ones() {
    let (files, reference) = (Files::required(), Reference::required());
    for data in DataSet::ALL {
        let table = data.read(&files).unwrap();
        let (rows, labels) = reference.rows(data.name()).unwrap();
        assert_eq!(table.rows.dim(), rows.dim(), "{data}");
        let worst = difference(&table.rows, &rows);
        println!("{data}: {:?}, largest difference {worst:.1e}", rows.dim());
        assert!(worst <= 1e-12, "{data}: {worst}");
        assert_eq!(table.favourable, labels, "{data}");
        assert!(matches!(table.origin, Origin::File(_)), "{data}");
        // All of them are people of whom the engine can be asked.
        People::from_standardised(&table.features, table.rows.view()).unwrap();
    }
}

#[test]
#[cfg_attr(any(without_reference, without_data), ignore = "published answers or data sets are missing")]
fn features_are_the_published_ones() {
    let (files, reference) = (Files::required(), Reference::required());
    for data in DataSet::ALL {
        let ours = data.read(&files).unwrap().features;
        let published = reference.features(data.name()).unwrap();
        assert_eq!(ours.names(), published.names(), "{data}");
        for (ours, published) in ours.iter().zip(published.iter()) {
            let name = &ours.name;
            assert_eq!(ours.change, published.change, "{data} {name}");
            let (lower, upper) = ours.standardised_limits();
            let (least, most) = published.standardised_limits();
            for (ours, published) in [(lower, least), (upper, most)] {
                // Published limits of millions of standard deviations are none.
                let none = ours.is_infinite() && published.abs() > 1e6;
                assert!(none || (ours - published).abs() <= 1e-12, "{data} {name}: {ours} {published}");
            }
        }
    }
}

#[test]
#[cfg_attr(without_reference, ignore = "the published answers are missing")]
fn splits_are_the_published_ones() {
    let reference = Reference::required();
    for data in DataSet::ALL {
        let people = reference.rows(data.name()).unwrap().0.nrows();
        for seed in 0..3 {
            assert_eq!(split(people, seed), reference.split(data.name(), seed).unwrap(), "{data} {seed}");
        }
    }
}

#[test]
#[cfg_attr(without_reference, ignore = "the published answers are missing")]
fn graphs_are_those_of_the_published_causal_models() {
    let reference = Reference::required();
    for data in DataSet::ALL {
        let features = reference.features(data.name()).unwrap();
        let scm = reference.scm(data.name(), &features, Equations::Network).unwrap();
        assert_eq!(scm.is_none(), data.graph().is_empty(), "{data}");
        let Some(scm) = scm else { continue };
        for (i, feature) in features.iter().enumerate() {
            let causes = data.graph().iter().find(|(name, _)| *name == feature.name);
            let mut causes: Vec<usize> = causes
                .map_or(&[][..], |(_, causes)| causes)
                .iter()
                .map(|name| features.index(name).unwrap())
                .collect();
            let mut published = scm.parents(i).to_vec();
            causes.sort_unstable();
            published.sort_unstable();
            assert_eq!(causes, published, "{data} {}", feature.name);
        }
    }
}

/// Means and standard deviations are in people's own units.
#[test]
#[cfg_attr(without_data, ignore = "files of the data sets are missing")]
fn own_units_are_those_of_the_file() {
    let files = Files::required();
    for (data, row, own) in [
        // born 1947-04-18, jailed 2013-08-13: 24,224 days
        (DataSet::Compas, 0, &[24_224.0 / 365.0, 1.0, 0.0, 0.0][..]),
        // the second line of the file
        (DataSet::Adult, 0, &[1.0, 50.0, 1.0, 1.0, 13.0, 13.0]),
        (
            DataSet::German,
            1,
            &[
                1.0, 9.0, 4.0, 0.0, 2799.0, 1.0, 3.0, 2.0, 3.0, 1.0, 2.0, 1.0, 36.0, 3.0, 1.0, 2.0, 3.0, 1.0,
                1.0, 2.0,
            ],
        ),
        // the second lacks PRIORS
        (
            DataSet::Bail,
            1,
            &[1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 7.0, 1.0, 244.0, 12.0, 53.0],
        ),
    ] {
        let table = data.read(&files).unwrap();
        let told = table.features.own_units(&table.rows.row(row).to_vec());
        assert!(difference(&told, own) < 1e-10, "{data}: {told:?}");
    }
}

#[test]
fn loan_is_drawn_where_there_is_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let table = DataSet::Loan.read(&Files::in_folder(folder.path())).unwrap();
    assert_eq!(table.origin, Origin::Drawn { seed: 0 });
    assert_eq!(table.rows, loan::sample(1000, 0).unwrap().rows);
    let education = table.features.feature(2);
    let most = table.rows.column(2).iter().copied().fold(f64::MIN, f64::max);
    assert!((education.standardised_limits().1 - most).abs() < 1e-12);
}

#[test]
fn a_missing_file_says_how_to_get_it() {
    let folder = tempfile::tempdir().unwrap();
    for data in [DataSet::Compas, DataSet::Adult, DataSet::German, DataSet::Bail] {
        let error = data.read(&Files::in_folder(folder.path())).unwrap_err();
        assert!(matches!(error, DataError::Missing { .. }));
        let (message, file) = (error.to_string(), data.entry().files[0]);
        let place = folder.path().display().to_string();
        let fetch = format!("`surefoot data fetch {data}`");
        for part in [file.name, file.address, file.sha256, &place, &fetch, "--data", "SUREFOOT_DATA"] {
            assert!(message.contains(part), "{part}: {message}");
        }
    }
}

const ADULT: &str = "\
39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, 2174, 0, 40, United-States, <=50K
50, Private, 83311, Bachelors, 13, Married-civ-spouse, Exec-managerial, Husband, White, Male, 0, 0, 13, United-States, <=50K
38, Private, 215646, HS-grad, 9, Divorced, Sales, Wife, White, Female, 0, 0, 40, Cuba, >50K
";
const COMPAS: &str = "\
sex,dob,race,priors_count,days_b_screening_arrest,c_jail_in,c_charge_degree,is_recid,score_text,two_year_recid
Male,1947-04-18,Other,0,-1,2013-08-13 06:03:42,F,0,Low,0
Female,1982-01-22,Caucasian,3,30,2013-01-26 03:45:27,M,1,High,1
Male,1982-01-22,Caucasian,3,31,2013-01-26 03:45:27,M,1,High,1
Male,1982-01-22,Caucasian,3,,,M,1,High,1
Male,1982-01-22,Caucasian,3,0,2013-01-26 03:45:27,O,1,High,1
Male,1982-01-22,Caucasian,3,0,2013-01-26 03:45:27,F,-1,High,1
Male,1982-01-22,Caucasian,3,0,2013-01-26 03:45:27,F,0,NA,1
";
const BAIL: &str = "\
WHITE,ALCHY,JUNKY,SUPER,MARRIED,FELON,WORKREL,PROPTY,PERSON,MALE,PRIORS,SCHOOL,RULE,AGE,TSERVD,FOLLOW,RECID,TIME,FILE
0,1,0,1,0,0,1,0,0,1,0,12,0,264,9,54,0,0,2
1,1,0,0,0,0,0,1,0,1,-9,9,1,207,3,52,1,6,1
1,0,1,1,0,0,0,0,0,1,2,7,1,244,12,53,1,15,1
1,0,1,1,0,0,0,0,0,1,2,7,1,244,12,53,1,15,3
1,0,1,1,0,0,0,0,0,1,2,0,1,244,12,53,1,15,1
";
const GERMAN: &str = "\
laufkont laufzeit moral verw hoehe sparkont beszeit rate famges buerge wohnzeit verm alter weitkred wohn bishkred beruf pers telef gastarb kredit\r
1 18 4 2 1049 1 2 4 2 1 4 2 21 3 1 1 3 2 1 2 1\r
1 9 4 0 2799 1 3 2 3 1 2 1 36 3 1 2 3 1 1 2 0\r
";

fn read(data: DataSet, content: impl AsRef<[u8]>) -> Result<surefoot_paper::data::Table, DataError> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(data.entry().files[0].name), content).unwrap();
    data.read(&Files::in_folder(folder.path()))
}

#[test]
fn incomplete_people_are_left_out() {
    for (data, content, favourable) in [
        (DataSet::Compas, COMPAS, [true, false]),
        (DataSet::Adult, ADULT, [false, true]),
        (DataSet::Bail, BAIL, [true, false]),
        (DataSet::German, GERMAN, [true, false]),
    ] {
        assert_eq!(read(data, content).unwrap().favourable, favourable, "{data}");
    }
}

#[test]
fn a_file_is_found_by_the_name_its_publisher_gives_it() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("adult.data"), ADULT).unwrap();
    assert_eq!(DataSet::Adult.read(&Files::in_folder(folder.path())).unwrap().favourable, [false, true]);
}

#[test]
fn a_malformed_line_is_named() {
    for (data, content, from, to, expected) in [
        (DataSet::Compas, COMPAS, "Female", "F", "line 3, column `sex`: `F` is not Male or Female"),
        (
            DataSet::Compas,
            COMPAS,
            "1982-01-22",
            "1982-02-30",
            "line 3, column `dob`: `1982-02-30` is not a date",
        ),
        (
            DataSet::Compas,
            COMPAS,
            "High,1\nMale",
            "High,x\nMale",
            "line 3, column `two_year_recid`: `x` is not 0 or 1",
        ),
        (DataSet::Compas, COMPAS, "priors_count", "priors", "line 1: has no column `priors_count`"),
        (DataSet::Compas, COMPAS, ",0,Low", ",Low", "line 2: has 9 cells rather than 10"),
        (DataSet::Adult, ADULT, ">50K", ">50K.", "line 3, column `income`: `>50K.` is not >50K or <=50K"),
        (DataSet::Adult, ADULT, "50, Private", "?, Private", "line 2, column `age`: `?` is not a number"),
        (DataSet::Adult, ADULT, "39, State-gov", "39", "line 1: has 14 cells rather than 15"),
        (DataSet::German, GERMAN, "1049", "inf", "line 2, column `hoehe`: `inf` is not a number"),
        (DataSet::German, GERMAN, " kredit", " credit", "line 1: has no column `kredit`"),
        (DataSet::Bail, BAIL, "\n0,1,0", "\n0,2,0", "line 2, column `ALCHY`: `2` is not 0 or 1"),
        (DataSet::Bail, BAIL, "264,9", "264,", "line 2, column `TSERVD`: `` is not a number"),
        (DataSet::Bail, BAIL, ",2\n1,1", ",2,2\n1,1", "line 2: has 20 cells rather than 19"),
    ] {
        assert!(content.contains(from), "{from}");
        let message = read(data, content.replacen(from, to, 1)).unwrap_err().to_string();
        let place = format!("{}, {expected}", data.entry().files[0].name);
        assert!(message.contains(&place), "{message}\n{place}");
        assert!(message.contains("surefoot data list"), "{message}");
    }
    let mut bytes = GERMAN.as_bytes().to_vec();
    let last = bytes.len() - 3;
    bytes[last] = 0xff;
    let message = read(DataSet::German, bytes).unwrap_err().to_string();
    assert!(message.contains("line 3: is not UTF-8"), "{message}");
}

#[test]
fn files_that_hold_nobody_are_refused() {
    for data in [DataSet::Compas, DataSet::Adult, DataSet::German, DataSet::Bail] {
        assert!(read(data, "").is_err(), "{data}");
    }
    let message = read(DataSet::Adult, ADULT.lines().next().unwrap()).unwrap_err().to_string();
    assert!(message.contains("has 0 usable people"), "{message}");
}

#[test]
fn malformed_samples_of_loan_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, kind: &str, shape: &str, data: &[u8]| {
        let header = format!("{{'descr': '<{kind}', 'fortran_order': False, 'shape': ({shape}), }}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend([header.as_bytes(), data].concat());
        std::fs::write(folder.path().join(name), bytes).unwrap();
    };
    let read = || DataSet::Loan.read(&Files::in_folder(folder.path())).map(|table| table.favourable);
    let said = || read().unwrap_err().to_string();
    write("loan_X.npy", "f4", "2, 7", &[0; 56]);
    assert!(said().contains("loan_Y.npy: is not in"), "{}", said());
    write("loan_Y.npy", "i8", "2,", &[[1, 0, 0, 0, 0, 0, 0, 0], [0; 8]].concat());
    assert_eq!(read().unwrap(), [true, false]);
    write("loan_Y.npy", "i8", "2,", &[2; 16]);
    assert!(said().contains("loan_Y.npy"), "{}", said());
    write("loan_X.npy", "f4", "2, 6", &[0; 48]);
    assert!(said().contains("[2, 6]"), "{}", said());
    write("loan_X.npy", "f4", "2, 7", &[0xff; 56]);
    assert!(said().contains("finite"), "{}", said());
}

/// The build script decides by these names whether tests are ignored.
#[test]
fn the_build_script_looks_for_the_files_of_all_data_sets() {
    let entries = DataSet::ALL.into_iter().flat_map(|data| data.entry().files);
    let mut names: Vec<&str> =
        entries.flat_map(|file| [Some(file.name), file.published_as]).flatten().collect();
    let mut known: Vec<&str> = env!("SUREFOOT_PUBLIC_FILES").split(' ').collect();
    names.sort();
    known.sort();
    assert_eq!(known, names);
}

/// People without a new offence are missing from the third period of COMPAS, which is therefore not used to train
/// a model again.
#[test]
#[cfg_attr(without_data, ignore = "files of the data sets are missing")]
fn compas_has_two_periods_with_both_outcomes() {
    let table = DataSet::Compas.read(&Files::required()).unwrap();
    let periods = table.periods.unwrap();
    let share = |period: Period| {
        let cases = periods.iter().zip(&table.favourable).filter(|(other, _)| **other == period);
        let outcomes: Vec<bool> = cases.map(|(_, &favourable)| favourable).collect();
        (outcomes.len(), outcomes.iter().filter(|&&favourable| favourable).count())
    };
    assert_eq!(share(Period::First), (4359, 2764));
    assert_eq!(share(Period::Next), (949, 599));
    assert_eq!(share(Period::Other), (864, 0));
}
