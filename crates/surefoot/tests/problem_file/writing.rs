//! Writing into problem files.

use super::*;

const NOTED: &str = r#"# Our problem.
epsilon = 0.1 # as agreed

# Income counts most.
[[feature]]
name = "income" # per month
mean = 3000.0
std = 1500.0

[[feature]]
name = "savings"

# What follows from income.
[[equation]]
feature = "savings"
# The old way.
formula = "2 * income + u" # rough

# The end.
"#;

#[test]
fn editing_keeps_comments_and_order() {
    let mut edit = Edit::parse(NOTED, Path::new("problem.toml")).unwrap();
    assert_eq!(edit.text(), NOTED);
    let form = ClassifierForm::Linear(LinearModel { coefficients: vec![0.8, 0.6], intercept: -0.5 });
    let classifier = ClassifierEntry { form, threshold: 0.43, inputs: Inputs::Raw };
    edit.set_classifier(&classifier);
    let added = "\n# The end.\n\n[classifier]\ncoefficients = [0.8, 0.6]\nintercept = -0.5\nthreshold = 0.43\ninputs = \"raw\"\n";
    assert_eq!(edit.text(), NOTED.replace("\n# The end.\n", added));

    let file = NetworkFile {
        path: "scm.safetensors".into(),
        prefix: "savings.".into(),
        activation: Some(Activation::Tanh),
    };
    let form =
        EquationForm::Network { parents: vec!["income".into()], network: file, inputs: Inputs::Standardised };
    let network = EquationEntry { feature: "savings".into(), form };
    let form =
        EquationForm::Formula { formula: "3 + exp(u)".into(), inverse: Some("log(income - 3)".into()) };
    let formula = EquationEntry { feature: "income".into(), form };
    edit.set_equations(&[formula.clone(), network.clone()]);
    let text = edit.text();
    for kept in [
        "# Our problem.",
        "# as agreed",
        "# Income counts most.",
        "# per month",
        "# What follows from income.",
    ] {
        assert!(text.contains(kept), "{kept} not in\n{text}");
    }
    assert!(!text.contains("2 * income + u"));
    let read = parse(&text);
    assert_eq!(read.equation_entries(), [network, formula]);
    assert_eq!(read.classifier_entry(), Some(&classifier));

    // Once more: nothing moves, and what was set before is replaced.
    let form = ClassifierForm::Network(NetworkFile {
        path: "m.safetensors".into(),
        prefix: String::new(),
        activation: None,
    });
    let other = ClassifierEntry { form, threshold: 0.5, inputs: Inputs::Standardised };
    edit.set_classifier(&other);
    edit.set_equations(&[]);
    let read = parse(&edit.text());
    assert_eq!(read.classifier_entry(), Some(&other));
    assert!(read.equation_entries().is_empty() && read.scm().unwrap().is_none());
    assert_eq!(read.features().unwrap(), parse(NOTED).features().unwrap());
}

#[test]
fn features_equations_and_classifier_into_an_empty_file() {
    let mut edit = Edit::parse("epsilon = 0.1\n", Path::new("problem.toml")).unwrap();
    let whole = parse(WHOLE);
    let features: Vec<Feature> = whole.features().unwrap().iter().cloned().collect();
    edit.add_features(&features[..2]);
    edit.add_features(&features[2..]);
    edit.set_classifier(whole.classifier_entry().unwrap());
    edit.set_equations(whole.equation_entries());
    let read = parse(&edit.text());
    assert_eq!(read.features().unwrap(), whole.features().unwrap(), "{}", edit.text());
    assert_eq!(read.equation_entries(), whole.equation_entries());
    assert_eq!(read.classifier_entry(), whole.classifier_entry());
    assert!(read.problem().is_ok());
    // Inline tables are as good.
    let inline = "epsilon = 0.1\nclassifier = {coefficients = [1], intercept = 0}\nequation = [{feature = \"x\", formula = \"u\"}]\n[[feature]]\nname = \"x\"\n";
    let mut edit = Edit::parse(inline, Path::new("problem.toml")).unwrap();
    assert!(parse(inline).problem().is_ok());
    let form = ClassifierForm::Linear(LinearModel { coefficients: vec![2.0], intercept: 1.0 });
    edit.set_classifier(&ClassifierEntry { form, threshold: 0.5, inputs: Inputs::Standardised });
    let form = EquationForm::Formula { formula: "2 * u".into(), inverse: None };
    edit.set_equations(&[EquationEntry { feature: "x".into(), form }]);
    assert!(parse(&edit.text()).problem().is_ok(), "{}", edit.text());
}

#[test]
fn equations_of_other_features_stay() {
    let form = |formula: &str| EquationForm::Formula { formula: formula.into(), inverse: None };
    let set = |feature: &str, formula: &str| EquationEntry { feature: feature.into(), form: form(formula) };
    let mut edit = Edit::parse(NOTED, Path::new("problem.toml")).unwrap();
    edit.update_equations(&[set("income", "u")]);
    let text = edit.text();
    assert!(text.contains("# The old way.\nformula = \"2 * income + u\" # rough"), "{text}");
    assert_eq!(parse(&text).equation_entries(), [set("savings", "2 * income + u"), set("income", "u")]);
    edit.update_equations(&[set("savings", "3 * income + u")]);
    let changed = text.replace("2 * income", "3 * income");
    assert_eq!(edit.text(), changed);
    // Those on one line, too.
    let inline = "epsilon = 0.1\nequation = [{feature = \"x\", formula = \"u\"}, {feature = \"y\", formula = \"x + u\"}]\n[[feature]]\nname = \"x\"\n[[feature]]\nname = \"y\"\n";
    let mut edit = Edit::parse(inline, Path::new("problem.toml")).unwrap();
    edit.update_equations(&[set("y", "2 * x + u")]);
    let read = parse(&edit.text());
    assert_eq!(read.equation_entries(), [set("x", "u"), set("y", "2 * x + u")], "{}", edit.text());
    assert!(read.scm().unwrap().is_some());
}

#[test]
fn tiny_and_huge_numbers_are_short_and_exact() {
    let mut edit = Edit::parse(NOTED, Path::new("problem.toml")).unwrap();
    let numbers = vec![-6.883_382_752_675_971e-16, 1.5e300];
    let form = ClassifierForm::Linear(LinearModel { coefficients: numbers, intercept: 0.25 });
    let entry = ClassifierEntry { form, threshold: 0.5, inputs: Inputs::Standardised };
    edit.set_classifier(&entry);
    let text = edit.text();
    assert!(text.contains("[-6.883382752675971e-16, 1.5e300]\nintercept = 0.25"), "{text}");
    assert_eq!(parse(&text).classifier_entry(), Some(&entry));
}

#[test]
fn saving_leaves_one_whole_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("problem.toml");
    std::fs::write(&path, WHOLE).unwrap();
    let mut edit = Edit::open(&path).unwrap();
    edit.set_equations(&[]);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), WHOLE);
    edit.save().unwrap();
    assert!(Problem::read(&path).unwrap().scm().is_none());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    assert!(matches!(Edit::open(folder.path().join("none.toml")), Err(Error::File(FileError::File { .. }))));
    assert!(matches!(
        Edit::open(folder.path().join("a.json")),
        Err(Error::File(FileError::NotEditable { .. }))
    ));
    let lost = Edit::parse(WHOLE, &folder.path().join("no/such/problem.toml")).unwrap();
    assert!(matches!(lost.save(), Err(Error::File(FileError::File { .. }))));
}

#[test]
fn lines_that_end_as_on_windows() {
    let text = WHOLE.replace('\n', "\r\n");
    assert!(parse(&text).problem().is_ok());
    assert_eq!(mistakes(&text.replace("epsilon = 0.1", "epsilon = -1")).len(), 1);
    let mut edit = Edit::parse(&text, Path::new("problem.toml")).unwrap();
    edit.set_equations(&[]);
    assert!(parse(&edit.text()).problem().unwrap().scm().is_none());
}

proptest! {
    /// Whatever is written, it is read or refused in words; what can be read can be edited.
    #[test]
    fn damaged_files_never_panic(start in 0..WHOLE.len(), length in 0..60usize, by in "[a-z0-9\\[\\]=\"., \\n-]{0,12}") {
        let mut text = WHOLE.to_owned();
        text.replace_range(start..WHOLE.len().min(start + length), &by);
        for name in ["problem.toml", "problem.json"] {
            if let Err(error) = ProblemFile::parse(&text, Path::new(name)).and_then(|file| file.problem()) {
                prop_assert!(matches!(&error, Error::File(FileError::ProblemFile(all)) if !all.mistakes.is_empty()));
                prop_assert!(!error.to_string().is_empty());
            }
        }
        if let Ok(mut edit) = Edit::parse(&text, Path::new("problem.toml")) {
            let whole = parse(WHOLE);
            edit.set_classifier(whole.classifier_entry().unwrap());
            edit.set_equations(whole.equation_entries());
            let read = ProblemFile::parse(&edit.text(), Path::new("problem.toml")).unwrap();
            prop_assert_eq!(read.classifier_entry(), whole.classifier_entry());
            prop_assert_eq!(read.equation_entries().len(), 2);
        }
    }
}
