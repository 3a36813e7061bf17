//! All options of `surefoot init`, and the raw table of German credit.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod command;

use std::fmt::Write;
use std::fs;

use command::{done, folder_with, refused};
use surefoot::{Change, Kind, ProblemFile};
use surefoot_paper::DataSet;
use surefoot_paper::data::Files;

/// Two groups, texts with and without an order, units, and a special value.
const PEOPLE: &str = "\
id,income_eur,age (years),duration_in_month,job_clerk,job_cook,education,city,bureau,approved
1,2000,31,12,1,0,none,Rome,50,0
2,3000,45,24,0,1,degree,Oslo,-9,1
3,2500,28,6,0,1,basic,Rome,70,1
4,4000,52,48,1,0,basic,Oslo,60,0
5,3500,39,36,0,1,degree,Bonn,-9,1
";

fn file(folder: &tempfile::TempDir, name: &str) -> ProblemFile {
    ProblemFile::read(folder.path().join(name)).unwrap()
}

#[test]
fn the_command_line_says_all_that_a_problem_needs() {
    let folder = folder_with(&[("people.csv", PEOPLE)]);
    let said = done(
        folder.path(),
        &[
            "init",
            "people.csv",
            "--target",
            "approved",
            "--change",
            "income_eur=increase,duration_in_month=any,job=any",
            "--change",
            "education=increase,bureau=increase",
            "--special",
            "bureau=-9: no bureau record",
            "--graph",
            "`age (years)`->income_eur, income_eur->duration_in_month",
        ],
    );
    for words in [
        "Every row has a 1 in exactly one of `job_clerk`, `job_cook`: they are the group \"job\".",
        "`education` was taken to have the order \"none\", \"basic\", \"degree\": look at it.",
        "The graph is in problem.graph",
    ] {
        assert!(said.contains(words), "{words} not in\n{said}");
    }
    let read = file(&folder, "problem.toml");
    let features = read.features().unwrap();
    let of = |name: &str| features.feature(features.index(name).unwrap());
    let income = of("income_eur");
    assert_eq!((income.change, income.amount(1200.0).as_str()), (Change::Increase, "EUR 1,200"));
    assert_eq!((income.mean, income.lower, income.upper), (3000.0, 2000.0, 4000.0));
    assert_eq!((of("age (years)").spoken_name(), of("age (years)").change), ("age", Change::Fixed));
    assert_eq!(of("duration_in_month").difference(1.0), "1 month");
    assert_eq!((of("job_clerk").spoken_group(), of("job_cook").change), (Some("job"), Change::Any));
    // Positions 0, 2, 1, 1, 2: mean 1.2, squared differences 1.44 + 2 * 0.64 + 2 * 0.04 = 2.8 over 4.
    let education = of("education");
    assert_eq!((education.kind, education.change, education.upper), (Kind::Integer, Change::Increase, 2.0));
    assert!((education.mean - 1.2).abs() < 1e-12 && (education.std - 0.7f64.sqrt()).abs() < 1e-12);
    assert_eq!(of("city=Bonn").change, Change::Fixed);
    // 50, 70 and 60 without -9.
    let bureau = of("bureau");
    assert_eq!((bureau.mean, bureau.std, bureau.lower, bureau.upper), (60.0, 10.0, 50.0, 70.0));
    assert_eq!(bureau.special_value(-9.0).unwrap().words(), "no bureau record");
    let said = done(folder.path(), &["validate", "problem.toml", "people.csv"]);
    assert!(said.contains("People: 5 in people.csv"), "{said}");
    assert!(said.contains("income_eur in sentences: income, in \"EUR {}\""), "{said}");
    let said = done(
        folder.path(),
        &["fit", "people.csv", "--graph", "problem.graph", "--problem", "problem.toml", "--held-out", "0"],
    );
    assert!(said.contains("duration_in_month"), "{said}");
    assert_eq!(file(&folder, "problem.toml").equation_entries().len(), 2);
}

#[test]
fn wishes_that_cannot_be_met_are_told_and_nothing_is_written() {
    let folder = folder_with(&[("people.csv", PEOPLE)]);
    for (options, message) in [
        (
            &["--change", "incme_eur=increase"][..],
            "--change: there is no feature `incme_eur`; did you mean `income_eur`?",
        ),
        (&["--change", "id=any"], "--change: `id` is left out (an identifier, by its name)"),
        (&["--change", "income_eur=up"], "`income_eur=up` does not say how"),
        (&["--change", "city=increase"], "give one with --order \"city=Bonn<Oslo<Rome\""),
        (&["--change", "job=increase"], "`job` is a group of categories"),
        (&["--order", "city=Bonn<Oslo"], "--order: `city` also has `Rome`"),
        (&["--order", "city=Bonn<Oslo<Rome<Rome"], "names `Rome` twice"),
        (&["--order", "income_eur=1<2"], "`income_eur` is a column of numbers"),
        (&["--order", "ctiy=a<b"], "there is no feature `ctiy`; did you mean `city`?"),
        (&["--special", "city=-9"], "`city` is a column of text"),
        (&["--special", "bureau=none"], "write a column and a number"),
        (&["--graph", "age -> income_eur"], "--graph: `age` is not a feature of problem.toml"),
        (&["--graph", "income_eur -> bureau; bureau -> income_eur"], "cycle"),
        (&["--graph", "nothing"], "neither a graph such as"),
        (&["--change", "income_eur=any", "--graph", "income_eur -> job_clerk"], "--graph: "),
    ] {
        let said =
            refused(folder.path(), &[&["init", "people.csv", "--target", "approved"], options].concat());
        assert!(said.contains(message), "{options:?}: {said}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "{options:?}");
    }
    // An order may be stated; `init` reports the orders that it guesses.
    let said = done(
        folder.path(),
        &[
            "init",
            "people.csv",
            "--target",
            "approved",
            "--order",
            "city=Rome<Oslo<Bonn",
            "--change",
            "city=decrease",
        ],
    );
    assert!(said.contains("`education` may have an order"), "{said}");
    let read = file(&folder, "problem.toml");
    let city = read.features().unwrap().index("city").unwrap();
    assert_eq!(read.features().unwrap().feature(city).level(0.0), Some("Rome"));
}

/// The table as it is published, whose categories are codes, and as its original has them, as texts such as A11.
#[test]
#[cfg_attr(without_data, ignore = "files of the data sets are missing")]
fn german_credit_by_options_alone() {
    let files = Files::required();
    let entry = DataSet::German.entry();
    let content = fs::read_to_string(files.path(entry, &entry.files[0]).unwrap()).unwrap();
    let mut lines = content.lines();
    let header: Vec<&str> = lines.next().unwrap().split_whitespace().collect();
    let (mut codes, mut texts) = (header.join(",") + "\n", header.join(",") + "\n");
    let amounts = ["laufzeit", "hoehe", "alter", "kredit"];
    for line in lines {
        let cells: Vec<&str> = line.split_whitespace().collect();
        writeln!(codes, "{}", cells.join(",")).unwrap();
        let text = header.iter().zip(&cells).enumerate().map(|(i, (name, cell))| {
            if amounts.contains(name) { (*cell).to_owned() } else { format!("A{}{cell}", i + 1) }
        });
        writeln!(texts, "{}", text.collect::<Vec<_>>().join(",")).unwrap();
    }
    let folder = folder_with(&[("codes.csv", &codes), ("texts.csv", &texts)]);
    let common = ["--target", "kredit", "--graph", "alter -> hoehe, hoehe -> laufzeit"];
    let changes = "laufzeit=decrease,hoehe=decrease,sparkont=increase,laufkont=increase,verw=any";
    done(
        folder.path(),
        &[&["init", "codes.csv", "-o", "codes.toml", "--change", changes][..], &common].concat(),
    );
    done(
        folder.path(),
        &[
            &["init", "texts.csv", "-o", "texts.toml", "--change", changes][..],
            &["--order", "sparkont=A61<A62<A63<A64<A65", "--order", "laufkont=A11<A12<A13<A14"],
            &common,
        ]
        .concat(),
    );
    for (problem, table, columns) in [("codes.toml", "codes.csv", 20), ("texts.toml", "texts.csv", 20)] {
        let said = done(folder.path(), &["validate", problem, table]);
        assert!(said.contains("People: 1000"), "{said}");
        let read = file(&folder, problem);
        let features = read.features().unwrap();
        assert_eq!(features.columns().len(), columns);
        let graph = problem.replace(".toml", ".graph");
        done(folder.path(), &["fit", table, "--problem", problem, "--graph", &graph]);
        done(folder.path(), &["validate", problem, table]);
    }
    let texts = file(&folder, "texts.toml");
    let features = texts.features().unwrap();
    let savings = features.feature(features.index("sparkont").unwrap());
    assert_eq!((savings.change, savings.level(4.0)), (Change::Increase, Some("A65")));
    assert!(features.iter().filter(|feature| feature.group.as_deref() == Some("verw")).count() > 5);
}
