//! `surefoot fit`: what is fitted, written and kept.

use super::*;

#[test]
fn equations_are_fitted_and_written() {
    let folder = folder();
    let at = folder.path();
    done(at, &train(&["--hidden", "none"]));
    let graph = "age, male -> income; income -> savings";
    let said = done(at, &["fit", "people.csv", "--graph", graph]);
    assert!(said.contains("age, male") && said.contains('%'), "{said}");
    let coefficients = problem(at).scm().unwrap().coefficients().unwrap();
    // 2 * 500 / 1500
    assert!((coefficients[[3, 2]] - 2.0 / 3.0).abs() < 0.05, "{coefficients}");

    std::fs::write(at.join("graph.txt"), "# ours\nage, male -> income\nincome -> savings\n").unwrap();
    let network = ["--shape", "network", "--epochs", "20", "--output", "scm.safetensors"];
    let said = done(at, &[&["fit", "people.csv", "--graph", "graph.txt"][..], &network].concat());
    assert!(said.contains("scm.safetensors"), "{said}");
    assert!(problem(at).scm().unwrap().coefficients().is_err());
}

/// A kind of column, and its value in a row.
type Column = (&'static str, fn(usize) -> f64);

/// Whatever the table, what `fit` writes is understood; or it refuses, and the file stays as it was.
#[test]
fn what_is_fitted_to_degenerate_tables_is_understood_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let feature = |name: &str, more: &str| format!("[[feature]]\nname = \"{name}\"\n{more}\n");
    let any = "change = \"any\"";
    let problem = "epsilon = 0.1\n".to_owned()
        + &feature("a", any)
        + &feature("b", &format!("kind = \"binary\"\n{any}"))
        + &feature("c", any)
        + "[classifier]\ncoefficients = [1, 1, 1]\nintercept = -1\n";
    let columns: [Column; 7] = [
        ("ordinary", |row| [0.3, -1.2, 2.5, 0.7, -0.4, 1.9][row % 6] + row as f64),
        ("constant", |_| 3.0),
        ("doubled", |row| 2.0 * ([0.3, -1.2, 2.5, 0.7, -0.4, 1.9][row % 6] + row as f64)),
        ("huge", |row| [1e300, -1e300, 1e308][row % 3]),
        ("tiny", |row| 1e-300 * row as f64),
        ("far away", |row| 1e15 + row as f64),
        ("binary", |row| (row % 2) as f64),
    ];
    let (mut fitted, mut refused) = (0, 0);
    for rows in [1, 2, 5, 30] {
        for (k, (first, a)) in columns.iter().enumerate() {
            let (second, c) = &columns[(k + rows) % columns.len()];
            let line = |row: usize| format!("{:e},{},{:e}\n", a(row), row / 2 % 2, c(row));
            let table: String = (0..rows).map(line).collect();
            std::fs::write(at.join("people.csv"), format!("a,b,c\n{table}")).unwrap();
            for graph in ["a -> c", "a -> b", "b -> c; a, b -> c", "c -> a"] {
                let name = format!("{first}, {second}, {rows} rows, {graph}");
                std::fs::write(at.join("problem.toml"), &problem).unwrap();
                let run = surefoot(at, &["fit", "people.csv", "--graph", graph, "--held-out", "0"]);
                match run.status.code() {
                    Some(0) => {
                        done(at, &["validate", "problem.toml"]);
                        fitted += 1;
                    }
                    Some(2) => {
                        let left = std::fs::read_to_string(at.join("problem.toml")).unwrap();
                        assert_eq!(left, problem, "{name}");
                        refused += 1;
                    }
                    other => panic!("{name}: {other:?} {}", text(&run.stderr)),
                }
                if graph == "a -> b" && rows == 30 && *first == "ordinary" {
                    let said = text(&run.stderr);
                    assert!(said.contains("`b` is a category") && said.contains("leave out"), "{said}");
                }
            }
        }
    }
    assert!(fitted >= 10 && refused >= 10, "{fitted} {refused}");
}

const FORMULA: &str = r#"
# By hand.
[[equation]]
feature = "savings"
formula = "2 * income + u" # as agreed
"#;

#[test]
fn equations_that_the_graph_does_not_name_are_kept() {
    let folder = folder();
    let at = folder.path();
    std::fs::write(at.join("problem.toml"), format!("{PROBLEM}{FORMULA}")).unwrap();
    let said = done(at, &["fit", "people.csv", "--graph", "age, male -> income"]);
    assert!(
        said.contains("The equations of `savings` are kept, since the graph gives them no causes."),
        "{said}"
    );
    let text = std::fs::read_to_string(at.join("problem.toml")).unwrap();
    assert!(text.contains(FORMULA.trim()), "{text}");
    let features = |at: &Path| -> Vec<String> {
        let file = ProblemFile::read(at.join("problem.toml")).unwrap();
        file.scm().unwrap().unwrap();
        file.equation_entries().iter().map(|entry| entry.feature.clone()).collect()
    };
    assert_eq!(features(at), ["savings", "income"]);
    // A graph that makes a cycle with the equations that are kept is refused before a file is written.
    let said = refused(at, &["fit", "people.csv", "--graph", "savings -> income"]);
    assert!(
        said.contains("cycle") && said.contains("problem.toml keeps the equations of `savings`"),
        "{said}"
    );
    assert_eq!(std::fs::read_to_string(at.join("problem.toml")).unwrap(), text);

    // Networks of equations that are kept stay in the file that they share.
    let network = |graph: &'static str| {
        ["fit", "people.csv", "--shape", "network", "--epochs", "2", "--hidden", "3", "--graph", graph]
    };
    done(at, &network("income -> savings"));
    done(at, &network("age -> income"));
    assert_eq!(features(at), ["savings", "income"]);
    assert!(at.join("problem.equations.safetensors").exists());
}
