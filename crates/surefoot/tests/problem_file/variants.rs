//! Lists of classifiers, and other causal models in files of their own.

use std::path::Path;

use surefoot::problem::ProblemFile;
use surefoot::{Outcome, Problem, describe, describe_break};

use super::mistakes;

const COMMITTEE: &str = r#"
epsilon = 0.1
agree = 2

[[feature]]
name = "income"
mean = 3000.0
std = 1500.0
change = "increase"

[[feature]]
name = "savings"
mean = 8000.0
std = 4000.0
change = "any"

[[classifier]]
name = "2021"
coefficients = [1.0, 0.5]
intercept = -1.0

[[classifier]]
coefficients = [0.5, 1.0]
intercept = -1.0
threshold = 0.6

[[classifier]]
name = "2023"
coefficients = [0.001, 0.0]
intercept = -1.0
inputs = "raw"
"#;

fn read(text: &str) -> Problem {
    ProblemFile::parse(text, Path::new("problem.toml")).unwrap().problem().unwrap()
}

#[test]
fn a_list_of_classifiers_is_a_committee() {
    let problem = read(COMMITTEE);
    let committee = problem.committee().unwrap();
    let names: Vec<&str> = committee.members().iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!((names, committee.at_least()), (vec!["2021", "2", "2023"], 2));
    assert_eq!(committee.members()[1].1.threshold(), 0.6);
    assert_eq!(problem.variants().len(), 3);
    assert_eq!(problem.score(&[0.0, 0.0]), -1.0);
    let file = ProblemFile::parse(COMMITTEE, Path::new("problem.toml")).unwrap();
    assert_eq!(file.classifier_entries().len(), 3);
    // Without `agree` all members must agree.
    let all = read(&COMMITTEE.replace("agree = 2\n", ""));
    assert_eq!((all.committee().unwrap().at_least(), all.variants().len()), (3, 3));
    assert_eq!(all.variant_in_words(1).unwrap(), "according to model `2`");
    assert_eq!(problem.variant_in_words(1).unwrap(), "according to the models `2021` and `2023`");
    let outcome = surefoot::Complete::new(&all).unwrap().solve(&[-1.0, 0.0]).unwrap();
    let Outcome::Found(_) = &outcome else { panic!("{outcome:?}") };
    let words = describe(&all, &[-1.0, 0.0], &outcome).unwrap();
    assert!(words.contains(" It also works whichever of the 3 models decides. "), "{words}");
    let words = describe(&problem, &[-1.0, 0.0], &outcome).unwrap();
    assert!(words.contains(" It also works where 2 of the 3 models have to agree. "), "{words}");
    let words = describe_break(&all, 2, &[-0.1, 0.0]).unwrap();
    assert_eq!(words, "income 150 lower, according to model `2023`");
}

#[test]
fn mistakes_in_committees_are_told() {
    for (from, to, told) in [
        ("agree = 2", "agree = 4", "`agree` is 4, and the committee has 3 members"),
        ("agree = 2", "agree = 0", "`agree` is 0"),
        ("agree = 2", "agree = 1.5", "a whole number"),
        ("\"2023\"", "\"2021\"", "two classifiers have the name `2021`"),
        ("threshold = 0.6", "threshold = 1.6", "classifier 2"),
        ("[0.5, 1.0]", "[0.5]", "classifier 2"),
    ] {
        assert!(COMMITTEE.contains(from), "{from}");
        let found = mistakes(&COMMITTEE.replacen(from, to, 1));
        assert!(found.len() == 1 && found[0].contains(told), "{from}: {found:?}");
    }
    let (start, _) = COMMITTEE.split_once("[[classifier]]").unwrap();
    let single = format!("{start}[classifier]\ncoefficients = [1.0, 0.5]\nintercept = -1.0\n");
    assert!(mistakes(&single)[0].contains("`agree` is 2, and the committee has 1 member"));
    assert!(read(&single.replace("agree = 2\n", "")).committee().is_none());
    let named = single.replace("[classifier]\n", "[classifier]\nname = \"2021\"\n");
    assert!(mistakes(&named.replace("agree = 2\n", ""))[0].contains("`name`"));
}

const ALTERNATIVE: &str = r#"
[[uncertainty]]
of = "causal model"
equations = "other.toml"
"#;

#[test]
fn another_causal_model_is_read_from_its_own_file() {
    let folder = std::env::temp_dir().join(format!("surefoot-variants-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("problem.toml");
    let other = "[[equation]]\nfeature = \"savings\"\nparents = [\"income\"]\ncoefficients = [0.5]\nintercept = 0.0\n";
    std::fs::write(folder.join("other.toml"), other).unwrap();
    let text = format!("{COMMITTEE}{ALTERNATIVE}");
    for parse in [ProblemFile::parse, ProblemFile::parse_confined] {
        let file = parse(&text, &path).unwrap();
        let problem = file.problem().unwrap();
        assert_eq!(problem.variants().len(), 6);
        assert!(problem.scm().is_none() && problem.variants()[3].scm().is_some());
        assert_eq!(problem.alternative_causal_models()[0].0, "other.toml");
        assert_eq!(file.named_files(), [Path::new("other.toml")]);
        let words = problem.variant_in_words(4).unwrap();
        assert_eq!(words, "according to the models `2021` and `2023`, with the causal model `other.toml`");
    }
    let told = |text: &str| match ProblemFile::parse(text, &path).and_then(|file| file.problem()) {
        Err(error) => error.to_string(),
        Ok(problem) => panic!("{problem:?}"),
    };
    assert!(told(&text.replace("other.toml", "missing.toml")).contains("missing.toml"));
    std::fs::write(folder.join("other.toml"), other.replace("income", "wealth")).unwrap();
    assert!(told(&text).contains("`wealth` is no feature"));
    std::fs::write(folder.join("other.toml"), "epsilon = 0.1\n").unwrap();
    assert!(told(&text).contains("`equation` is missing"));
    let outside = text.replace("other.toml", "../other.toml");
    assert!(ProblemFile::parse_confined(&outside, &path).and_then(|file| file.problem()).is_err());
    std::fs::remove_dir_all(&folder).unwrap();
}
