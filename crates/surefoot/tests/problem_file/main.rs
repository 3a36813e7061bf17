//! Problem files: what they mean, every mistake at once, and writing into them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod variants;
mod weights;
mod writing;

use std::path::Path;

use ndarray::array;
use proptest::prelude::*;
use surefoot::error::FileError;
use surefoot::problem::{
    ClassifierEntry, ClassifierForm, Edit, EquationEntry, EquationForm, Inputs, LinearModel, NetworkFile,
    ProblemFile,
};
use surefoot::{
    ActionKind, Activation, Change, Cost, Error, Feature, Forbidden, Kind, Layer, Network, Problem,
};

const WHOLE: &str = r#"
epsilon = 0.1
norm = "l1"
cost = "l2"
form = "absolute"
safety = 1e-6

[[feature]]
name = "age"
kind = "integer"
mean = 40
std = 10
limits = [17, 90]

[[feature]]
name = "income"
mean = 3000.0
std = 1500.0
limits = [0, inf]
change = "increase"
weight = 2.0
norm_weight = 3.0

[[feature]]
name = "savings"
mean = 8000.0
std = 4000.0
change = "any"

[[equation]]
feature = "income"
parents = ["age"]
coefficients = [0.5]
intercept = 0.25

[[equation]]
feature = "savings"
formula = "2 * income + u"

[classifier]
coefficients = [0.1, 0.8, 0.6]
intercept = -0.5
threshold = 0.6
"#;

fn parse(text: &str) -> ProblemFile {
    ProblemFile::parse(text, Path::new("problem.toml")).unwrap()
}

/// Every mistake as it is told.
fn mistakes(text: &str) -> Vec<String> {
    match ProblemFile::parse(text, Path::new("problem.toml")).and_then(|file| file.problem()) {
        Err(Error::File(FileError::ProblemFile(all))) => {
            all.mistakes.iter().map(ToString::to_string).collect()
        }
        other => panic!("{other:?}"),
    }
}

const GROUPS: &str = r#"
epsilon = 0.1

[[feature]]
name = "children"
kind = "integer"
change = "increase"

[[feature]]
name = "job_clerk"
group = "job"
change = "any"

[[feature]]
name = "job_cook"
group = "job"
std = 0.5

[[feature]]
name = "late-fees"

[[constraint]]
rule = "`late-fees` <= 10 * children"

[[forbid]]
group = "job"
from = "job_clerk"
to = ["job_cook"]

[[forbid]]
feature = "children"
to = [3, 4]

[classifier]
coefficients = [0.1, 0.8, 0.6, 0.0]
intercept = -0.5
"#;

#[test]
fn groups_constraints_and_transitions_arrive() {
    let problem = parse(GROUPS).problem().unwrap();
    let features = problem.features();
    assert_eq!(features.groups()[0].columns, [1, 2]);
    assert_eq!(*features.feature(2), Feature::new("job_cook").group("job").scaling(0.0, 0.5));
    assert_eq!(problem.constraints()[0].text(), "`late-fees` <= 10 * children");
    let values = Forbidden::Values { feature: 0, from: vec![], to: vec![3.0, 4.0] };
    assert_eq!(problem.forbidden(), [Forbidden::Categories { from: vec![1], to: vec![2] }, values]);
}

#[test]
fn mistakes_in_groups_constraints_and_transitions_are_told() {
    let with = |from: &str, to: &str| {
        assert!(GROUPS.contains(from), "{from}");
        mistakes(&GROUPS.replacen(from, to, 1))
    };
    for (from, to, told) in [
        ("group = \"job\"\nstd", "kind = \"binary\"\nstd", "group `job` has one column only"),
        ("group = \"job\"\nstd", "group = \"job\"\nkind = \"integer\"\nstd", "is 0 or 1, not integer"),
        ("<= 10 * children", "<= 10 * children ^ 2", "must be linear"),
        ("<= 10 * children", "< children", "compare once"),
        ("<= 10 * children", "<= kids", "`kids` is no feature"),
        ("rule =", "rules =", "`rule`"),
        ("from = \"job_clerk\"", "from = \"clerk\"", "group `job` has no column `clerk`"),
        ("group = \"job\"\nfrom", "group = \"jobs\"\nfrom", "there is no group `jobs`"),
        ("group = \"job\"\nfrom", "from", "`group` is missing"),
        ("group = \"job\"\nfrom", "group = \"job\"\nfeature = \"children\"\nfrom", "cannot stand together"),
        ("to = [3, 4]", "to = [3.5]", "3.5 is none of its values"),
        ("to = [3, 4]", "", "neither where from nor where to"),
        ("feature = \"children\"", "feature = \"late-fees\"", "`late-fees` is real"),
        ("to = [3, 4]", "to = \"three\"", "a number or a list of numbers"),
    ] {
        let all = with(from, to);
        assert!(
            all.iter().any(|mistake| mistake.contains(told) && mistake.starts_with("line ")),
            "{told}: {all:?}"
        );
        // One thing may be missed twice.
        assert!(all.len() <= 2, "{all:?}");
    }
    // An equation by which an action would lead to half a category.
    let half =
        GROUPS.to_owned() + "\n[[equation]]\nfeature = \"job_cook\"\nformula = \"0.1 * children + u\"\n";
    assert!(mistakes(&half)[0].contains("`job_cook` is a category"), "{:?}", mistakes(&half));
}

#[test]
fn every_field_arrives() {
    let problem = parse(WHOLE).problem().unwrap();
    assert_eq!((problem.epsilon(), problem.norm().name()), (0.1, "l1"));
    assert_eq!(problem.norm().weights().unwrap(), [1.0, 3.0, 1.0]);
    assert_eq!(
        (problem.cost(), problem.action_kind(), problem.safety()),
        (Cost::L2, ActionKind::Absolute, 1e-6)
    );
    let income = Feature::new("income").scaling(3000.0, 1500.0).limits(0.0, f64::INFINITY);
    assert_eq!(problem.features().feature(1), &income.change(Change::Increase).weight(2.0));
    let age = Feature::new("age").kind(Kind::Integer).scaling(40.0, 10.0).limits(17.0, 90.0);
    assert_eq!(problem.features().feature(0), &age);
    assert_eq!(problem.classifier().threshold(), 0.6);
    let scm = problem.scm().unwrap();
    // One standard deviation of age is half a one of income; of income, 3000 of savings.
    let matrix = scm.coefficients().unwrap();
    assert_eq!((matrix[[1, 0]], matrix[[2, 1]]), (0.5, 0.75));
    // A root's noise is its value in own units.
    assert_eq!(scm.predict(&[40.0, 0.0, 0.0]).unwrap()[1], 0.25);
}

#[test]
fn what_is_left_out_has_the_documented_default() {
    let text = "epsilon = 0\n[[feature]]\nname = \"x\"\n[classifier]\ncoefficients = [1]\nintercept = 0";
    let problem = parse(text).problem().unwrap();
    assert_eq!(problem.features().feature(0), &Feature::new("x"));
    assert_eq!((problem.norm().name(), problem.norm().weights()), ("l2", None));
    assert_eq!((problem.cost(), problem.action_kind()), (Cost::L1, ActionKind::Relative));
    assert_eq!(problem.safety(), surefoot::problem::DEFAULT_SAFETY);
    assert_eq!(problem.classifier().threshold(), 0.5);
    assert!(problem.scm().is_none());
}

#[test]
fn json_says_the_same() {
    let json = r#"{
        "epsilon": 0.1, "norm": "l1", "cost": "l2", "form": "absolute", "safety": 1e-6,
        "feature": [
            {"name": "age", "kind": "integer", "mean": 40, "std": 10, "limits": [17, 90]},
            {"name": "income", "mean": 3000, "std": 1500, "limits": [0, null], "change": "increase",
             "weight": 2, "norm_weight": 3},
            {"name": "savings", "mean": 8000, "std": 4000, "change": "any"}
        ],
        "equation": [
            {"feature": "income", "parents": ["age"], "coefficients": [0.5], "intercept": 0.25},
            {"feature": "savings", "formula": "2 * income + u"}
        ],
        "classifier": {"coefficients": [0.1, 0.8, 0.6], "intercept": -0.5, "threshold": 0.6}
    }"#;
    let file = ProblemFile::parse(json, Path::new("problem.json")).unwrap();
    let (problem, other) = (file.problem().unwrap(), parse(WHOLE).problem().unwrap());
    assert_eq!(problem.features(), other.features());
    assert_eq!(problem.classifier(), other.classifier());
    assert_eq!(problem.norm(), other.norm());
    assert_eq!(file.equation_entries(), parse(WHOLE).equation_entries());
    let twice = ProblemFile::parse(r#"{"epsilon": 1, "epsilon": 2}"#, Path::new("a.json")).unwrap();
    assert!(twice.mistakes()[0].to_string().contains("`epsilon` is given twice"));
}

#[test]
fn every_mistake_is_told_at_once_with_line_and_remedy() {
    let text = r#"epsilon = -1
nrom = "l2"
cost = "l3"

[[feature]]
name = "age"
chnage = "any"
std = 0.0

[[feature]]
name = "income"
mean = "many"
limits = [5]
kind = "binary"
change = "increse"

[[feature]]
mean = 1.0

[[equation]]
feature = "income"
formula = "2 * wealth + u"

[[equation]]
feature = "age"
parents = ["incme"]
coefficients = [1.0, "x"]
intercept = 0.0

[[equation]]
feature = "salary"
formula = "u"

[classifier]
network = "no-such-file.safetensors"
threshold = 1.5
intercept = 0.0
"#;
    let found = mistakes(text);
    let expected = [
        "line 1: epsilon is -1",
        "line 2: unknown field `nrom`; did you mean `norm`?",
        "line 3: `cost` is \"l3\"; there are `l1` and `l2`",
        "line 7, feature `age`: unknown field `chnage`; did you mean `change`?",
        "line 8, feature `age`: the standard deviation is 0",
        "line 12, feature `income`: `mean` is a text; it must be a number",
        "line 13, feature `income`: `limits` is a list of another length; it must be [lower, upper]",
        "line 15, feature `income`: `change` is \"increse\"; did you mean `increase`?",
        "line 17, feature 3: `name` is missing; give every feature one",
        "line 20, equation of `income`: formula of `income`, column 5: `wealth` is no feature",
        "line 27, equation of `age`: `coefficients` is a list with a text in it",
        "line 30, equation of `salary`: `salary` is no feature",
        "line 34, classifier: no-such-file.safetensors: cannot be read: there is no such file",
        "line 36, classifier: the threshold is 1.5",
        "line 37, classifier: `network` and `intercept` cannot stand together",
    ];
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.starts_with(expected), "{found}\ninstead of\n{expected}");
    }
}

#[test]
fn every_cycle_and_every_double_is_told() {
    let feature = |name: &str| format!("[[feature]]\nname = \"{name}\"\n");
    let equation = |name: &str, cause: &str| {
        format!(
            "[[equation]]\nfeature = \"{name}\"\nparents = [\"{cause}\"]\ncoefficients = [1]\nintercept = 0\n"
        )
    };
    let features: String = ["a", "b", "c", "d", "a"].map(feature).concat();
    let equations = [("a", "b"), ("b", "a"), ("c", "d"), ("d", "c"), ("d", "a")];
    let equations: String = equations.map(|(name, cause)| equation(name, cause)).concat();
    let found = mistakes(&format!("epsilon = 0.1\n{features}{equations}"));
    let told = |words: &str| found.iter().filter(|mistake| mistake.contains(words)).count();
    assert_eq!(found.len(), 5, "{found:#?}");
    assert_eq!((told("has a cycle"), told("has two equations"), told("given twice")), (2, 1, 1));
    assert_eq!(told("`classifier` is missing"), 1);
}

#[test]
fn syntax_errors_and_things_of_the_wrong_shape() {
    let error = ProblemFile::parse("epsilon = 0.1\n[[feature]\n", Path::new("a.toml")).unwrap_err();
    assert!(error.to_string().starts_with("a.toml: one mistake\n  line 2: "), "{error}");
    let found = mistakes("epsilon = 0.1\n[feature]\nname = \"x\"\n");
    assert!(found[0].contains("`feature` is a table; it must be a list of tables, each headed [[feature]]"));
    let found = mistakes("feature = [1]\nclassifier = 3\n");
    assert!(found.iter().any(|m| m.contains("`feature 1` is a number; it must be a table")), "{found:?}");
    assert!(found.iter().any(|m| m.contains("`classifier` is a number; it must be a table")), "{found:?}");
    assert!(found.iter().any(|m| m.contains("`epsilon` is missing")), "{found:?}");
    let found = mistakes("");
    assert!(found.iter().any(|m| m.contains("there are no features")), "{found:?}");
    assert!(matches!(Problem::read("no/such/problem.toml"), Err(Error::File(FileError::File { .. }))));
    let found = mistakes(&WHOLE.replace("coefficients = [0.5]", "formula = \"u\"\ncoefficients = [0.5]"));
    assert!(found[0].contains("`formula` and `coefficients` cannot stand together"), "{found:?}");
    let found = mistakes(&WHOLE.replace("coefficients = [0.1, 0.8, 0.6]", "coefficients = [0.1, 0.8]"));
    assert!(found[0].contains("the classifier takes 2 inputs, but there are 3 features"), "{found:?}");
}

#[test]
fn a_draft_gives_what_it_has() {
    let text = WHOLE.replace("coefficients = [0.1, 0.8, 0.6]\nintercept = -0.5", "network = \"later\"");
    let draft = parse(&text);
    // The classifier's network is yet to be trained; nothing else needs it.
    assert_eq!(draft.features().unwrap().len(), 3);
    assert!(draft.scm().unwrap().is_some() && draft.classifier().is_err() && draft.problem().is_err());
    let text = WHOLE.replace("2 * income + u", "2 * incme + u");
    let draft = parse(&text);
    assert!(draft.features().is_ok() && draft.scm().is_err() && draft.classifier().is_ok());
}

fn network(inputs: usize) -> Network {
    let weight = ndarray::Array2::from_shape_fn((2, inputs), |(i, j)| 0.0003 * (1 + i + 2 * j) as f64);
    let hidden = Layer { weight, bias: array![0.1, -0.2] };
    Network::new(vec![hidden, Layer { weight: array![[1.5, -0.5]], bias: array![0.3] }], Activation::Relu)
        .unwrap()
}

#[test]
fn networks_beside_the_file_in_either_units() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("problem.toml");
    Network::write(folder.path().join("models.safetensors"), &[("savings.", &network(2))]).unwrap();
    Network::write(folder.path().join("model.safetensors"), &[("", &network(3))]).unwrap();
    let (start, _) = WHOLE.split_once("[[equation]]").unwrap();
    let rest = "[[equation]]\nfeature = \"savings\"\nparents = [\"income\", \"age\"]\nnetwork = \"models.safetensors\"\nprefix = \"savings.\"\ninputs = \"raw\"\n
        [classifier]\nnetwork = \"model.safetensors\"\nactivation = \"relu\"\ninputs = \"raw\"\nthreshold = 0.5\n";
    std::fs::write(&path, format!("{start}{rest}")).unwrap();
    let problem = Problem::read(&path).unwrap();
    // The equation's activation is taken from its file.
    let noiseless = problem.scm().unwrap().predict(&[50.0, 2250.0, 0.0]).unwrap();
    assert!((problem.features().own_units(&noiseless)[2] - network(2).value(&[2250.0, 50.0])).abs() < 1e-9);
    let x = [1.0, -0.5, 0.25];
    let own = network(3).value(&problem.features().own_units(&x));
    assert!((problem.classifier().score(&x) - own).abs() < 1e-12);
    let text = format!("{start}{rest}").replace("\"relu\"", "\"tanh\"");
    let other = ProblemFile::parse(&text, &path).unwrap().problem().unwrap_err().to_string();
    assert!(other.contains("was written for the activation relu"), "{other}");
}
