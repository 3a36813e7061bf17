//! What is refused, and that nothing is overwritten then.

use super::*;

#[test]
fn bad_input_is_refused_with_its_place() {
    let folder = folder();
    let at = folder.path();
    let said = |arguments: &[&str], words: &[&str]| {
        let said = refused(at, arguments);
        assert!(words.iter().all(|word| said.contains(word)), "{arguments:?}: {said}");
    };
    said(&["train", "people.csv", "--target", "repaid"], &["line 2", "`repaid`", "--favourable"]);
    said(&["train", "people.csv", "--target", "outcome"], &["`outcome`"]);
    said(&["train", "people.csv", "--target", "repaid", "--favourable", "maybe"], &["`maybe`", "`repaid`"]);
    said(&["train", "people.csv", "--target", "income"], &["problem.toml: `income` is both"]);
    said(&["train", "nobody.csv", "--target", "repaid"], &["nobody.csv"]);
    let target = ["train", "people.csv", "--target", "repaid", "--favourable", "yes"];
    said(&[&target[..], &["--epochs", "0"]].concat(), &["epochs"]);
    said(&train(&["--hidden", "ten"]), &["--hidden ten"]);
    said(&train(&["--test", "1"]), &["--test 1"]);
    said(&train(&["--step", "0"]), &["step"]);
    said(
        &train(&["--output", "missing/model.safetensors"]),
        &["missing/model.safetensors", "folder does not"],
    );
    let fit = |graph: &'static str| ["fit", "people.csv", "--graph", graph];
    said(&fit("income -> savings; savings -> income"), &["cycle", "`income`"]);
    said(&fit("wealth -> savings"), &["`wealth`"]);
    said(&fit("graph.dot"), &["graph.dot"]);
    std::fs::write(at.join("holes.csv"), people().replacen(",1,", ",,", 1)).unwrap();
    said(&["fit", "holes.csv", "--graph", "male -> income"], &["holes.csv", "`male`", "line"]);
    // Nothing was written.
    assert_eq!(std::fs::read_to_string(at.join("problem.toml")).unwrap(), PROBLEM);
}

/// Every file of a folder, with what is in it.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    let mut files: Vec<_> = entries
        .map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
fn problems_in_one_folder_have_networks_of_their_own() {
    let folder = folder();
    let at = folder.path();
    std::fs::copy(at.join("problem.toml"), at.join("other.toml")).unwrap();
    done(at, &train(&["--hidden", "4"]));
    let before = std::fs::read(at.join("problem.classifier.safetensors")).unwrap();
    done(at, &train(&["--hidden", "5", "--problem", "other.toml"]));
    assert_eq!(std::fs::read(at.join("problem.classifier.safetensors")).unwrap(), before);
    assert!(at.join("other.classifier.safetensors").exists());
    // One that is elsewhere is named as seen from the problem file.
    std::fs::create_dir_all(at.join("a/models")).unwrap();
    std::fs::create_dir(at.join("a/problems")).unwrap();
    std::fs::copy(at.join("problem.toml"), at.join("a/problems/p.toml")).unwrap();
    let output = ["--hidden", "3", "--problem", "a/problems/p.toml", "--output", "a/models/m.safetensors"];
    done(at, &train(&output));
    let text = std::fs::read_to_string(at.join("a/problems/p.toml")).unwrap();
    assert!(text.contains("network = \"../models/m.safetensors\""), "{text}");
    ProblemFile::read(at.join("a/problems/p.toml")).unwrap().problem().unwrap();
}

#[test]
fn outputs_never_replace_what_is_read() {
    let folder = folder();
    let at = folder.path();
    std::fs::write(at.join("graph.csv"), "age -> income\n").unwrap();
    done(at, &["fit", "people.csv", "--graph", "graph.csv", "--shape", "network", "--epochs", "1"]);
    let before = contents(at);
    let fit = ["fit", "people.csv", "--graph", "graph.csv", "--shape", "network", "--epochs", "1"];
    for (arguments, words) in [
        (train(&["--output", "people.csv"]), "--output people.csv: is the table of people"),
        (train(&["--output", "./problem.toml"]), "--output ./problem.toml: is the problem file"),
        (train(&["--log", "people.csv"]), "--log people.csv: is the table of people"),
        (train(&["--log", "log.csv", "--output", "log.csv"]), "is what --output writes"),
        (train(&["--output", "problem.equations.safetensors"]), "is the network of the equation of `income`"),
        (train(&["--log", "log.txt"]), "name it .csv, .parquet or .arrow"),
        (train(&["--search", "--plot", "problem.toml"]), "name it .svg or .png"),
        (
            train(&["--search", "--plot", "none/a.svg"]),
            "--plot none/a.svg: cannot be written, since its folder does not exist",
        ),
        ([&fit[..], &["--output", "graph.csv"]].concat(), "--output graph.csv: is the graph"),
        ([&fit[..], &["--output", "people.csv"]].concat(), "is the table of people"),
        (vec!["validate", "problem.toml", "--svg", "problem.toml"], "is the problem file"),
    ] {
        let said = refused(at, &arguments);
        assert!(said.contains(words), "{arguments:?}: {said}");
        assert!(contents(at) == before, "{arguments:?}");
    }
}

#[test]
fn training_that_fails_leaves_no_problem_file() {
    let folder = folder();
    let at = folder.path();
    std::fs::remove_file(at.join("problem.toml")).unwrap();
    let before = contents(at);
    let said = refused(at, &train(&["--objective", "allr"]));
    assert!(said.contains("surefoot init") && said.contains("change = \"increase\""), "{said}");
    refused(at, &train(&["--step", "0"]));
    refused(at, &["train", "people.csv", "--target", "repaid"]);
    assert!(contents(at) == before);
    let said = done(at, &train(&["--hidden", "none"]));
    assert!(said.contains("Left out: `id` (an identifier, by its name)."), "{said}");
}

#[test]
fn people_outside_the_limits_are_told_with_their_lines() {
    let folder = folder();
    let at = folder.path();
    let limited = PROBLEM.replace("std = 9", "std = 9\nlimits = [30, 90]");
    std::fs::write(at.join("problem.toml"), limited).unwrap();
    let words = "people.csv: one kind of mistake\n  column `age`: outside [30, 90]";
    let said = done(at, &train(&["--hidden", "none"]));
    assert!(said.contains(&format!("Warning: {words}")) && said.contains("rows: line "), "{said}");
    let said = done(at, &["fit", "people.csv", "--graph", "age -> income"]);
    assert!(said.contains(&format!("Warning: {words}")), "{said}");
    let said = refused(at, &train(&["--hidden", "none", "--search"]));
    assert!(said.contains(words), "{said}");
}

#[test]
fn json_is_not_written_into() {
    let folder = folder();
    let at = folder.path();
    for name in ["old.json", "new.json"] {
        if name == "old.json" {
            std::fs::write(at.join(name), "{\"epsilon\": 0.1, \"feature\": [{\"name\": \"income\"}]}")
                .unwrap();
        }
        for arguments in [
            train(&["--problem", name]),
            vec!["fit", "people.csv", "--graph", "age -> income", "--problem", name],
        ] {
            let said = refused(at, &arguments);
            assert!(said.contains(name) && said.contains("as TOML"), "{said}");
        }
    }
    assert!(!at.join("new.json").exists());
}

#[test]
fn options_without_effect_and_out_of_range_are_told_by_their_names() {
    let folder = folder();
    let at = folder.path();
    let said = |arguments: Vec<&str>, words: &[&str]| {
        let said = refused(at, &arguments);
        assert!(words.iter().all(|word| said.contains(word)), "{arguments:?}: {said}");
    };
    for (more, words) in [
        (&["--mu-1", "3"][..], &["--mu-1 has no effect", "--objective allr"][..]),
        (&["--ross-reach", "1"], &["--ross-reach has no effect"]),
        (&["--grid", "1,2"], &["--search"]),
        (&["--people", "10"], &["--search"]),
        (&["--search", "--people", "0"], &["--people 0"]),
        (&["--hidden", "none", "--output", "x.safetensors"], &["--output has no effect"]),
        (&["--search", "--plot", "x.gif"], &["--plot x.gif", ".svg or .png"]),
        (&["--objective", "allr", "--mu-1", "-1"], &["--mu-1 is -1; it must be a finite number, at least 0"]),
        (&["--search", "--grid", "-0.5"], &["--grid is -0.5"]),
        (&["--objective", "ross", "--ross-weight", "-1"], &["--ross-weight is -1"]),
        (&["--step", "1e300"], &["--step is 1e300; it must be above 0 and at most 1e9"]),
        (&["--validation", "1"], &["--validation: holding out"]),
        (&["--validation", "0", "--patience", "3"], &["--patience has no effect with --validation 0"]),
        (&["--threshold", "1.5"], &["--threshold: the threshold is 1.5"]),
        (&["--objective", "allr", "--hidden", "4", "--mu-2", "1e300"], &["diverged", "--mu-2"]),
    ] {
        said(train(more), words);
    }
    let fit = |more: &[&'static str]| [&["fit", "people.csv", "--graph"][..], more].concat();
    said(fit(&["age -> income", "--hidden", "5"]), &["--hidden has no effect", "--shape network"]);
    said(fit(&["age -> incom"]), &["`incom` is not a feature of problem.toml; did you mean `income`?"]);
    said(fit(&["age -> id"]), &["`id` is a column of people.csv but not a feature"]);
    said(fit(&["age <-> income"]), &["graph, line 1: there is no arrow"]);
    let doubled = people().lines().map(|line| format!("{line},7\n")).collect::<String>();
    std::fs::write(at.join("doubled.csv"), doubled.replacen(",7", ",country", 1)).unwrap();
    let country = format!("{PROBLEM}\n[[feature]]\nname = \"country\"\n");
    std::fs::write(at.join("country.toml"), country).unwrap();
    let graph = ["fit", "doubled.csv", "--problem", "country.toml", "--graph", "age, country -> income"];
    said(graph.to_vec(), &["equation of `income`: its cause `country` has the same value in every row"]);
    let target = |value: &'static str| ["train", "people.csv", "--target", "repaid", "--favourable", value];
    said(target("Yes").to_vec(), &["no row has `Yes`", "there is `yes`"]);
    said(target("maybe").to_vec(), &["`no`", "`yes`"]);
    std::fs::write(at.join("gap.csv"), people().replace(",yes\n", ",1\n").replace(",no\n", ",\n")).unwrap();
    said(vec!["train", "gap.csv", "--target", "repaid"], &["line", "no outcome is given"]);
    let fixed = PROBLEM.replace("change = \"increase\"\n", "");
    std::fs::write(at.join("fixed.toml"), fixed).unwrap();
    said(
        train(&["--problem", "fixed.toml", "--objective", "af"]),
        &["fixed.toml: every", "change = \"increase\""],
    );
}
