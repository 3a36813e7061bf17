//! The causal graph of a first problem file, in a file that `surefoot fit` takes.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use surefoot::file::{Audience, write_atomically};
use surefoot::{Equation, Features, Scm};

use crate::fit::graph::Graph;
use crate::outputs::Outputs;

/// A graph that has not been written yet.
pub struct GraphFile {
    graph: Graph,
    /// Where it goes.
    pub path: PathBuf,
}

impl GraphFile {
    /// Reads a graph as `surefoot fit --graph` does and holds it against the features: every name is one, there is no
    /// cycle, and no category follows from what an action may change.
    pub fn new(text: &str, features: &Features, table: &Path, problem: &Path) -> Result<Self> {
        let graph = crate::fit::graph::read(text)?;
        crate::fit::check_names(&graph, features, problem, table, &[])?;
        let blank = |(feature, causes): &(String, Vec<String>)| {
            let causes: Vec<&str> = causes.iter().map(String::as_str).collect();
            (feature.clone(), Equation::linear(&causes, vec![0.0; causes.len()], 0.0))
        };
        let equations: Vec<(String, Equation)> = graph.iter().map(blank).collect();
        let named = equations.iter().map(|(feature, equation)| (feature.as_str(), equation.clone()));
        Scm::new(features, named.collect())
            .context("--graph")?
            .require_whole_categories()
            .context("--graph")?;
        let path = problem.with_extension("graph");
        if path.exists() {
            bail!("{} already exists; give another name with --output, or remove it", path.display());
        }
        Outputs::default().keep("the table of people", table).check("the graph", &path)?;
        Ok(Self { graph, path })
    }

    /// A line for each feature that has causes.
    fn text(&self) -> String {
        let quoted = |name: &String| {
            let quote = ['`', '"', '\''].into_iter().find(|quote| !name.contains(*quote)).unwrap_or('`');
            match name.chars().all(|c| c.is_alphanumeric() || c == '_') {
                true => name.clone(),
                false => format!("{quote}{name}{quote}"),
            }
        };
        let line = |(feature, causes): &(String, Vec<String>)| {
            let causes: Vec<String> = causes.iter().map(quoted).collect();
            format!("{} -> {}\n", causes.join(", "), quoted(feature))
        };
        let lines: String = self.graph.iter().map(line).collect();
        format!("# Who causes whom: for `surefoot fit --graph`.\n{lines}")
    }

    /// Writes the file.
    pub fn save(&self) -> Result<()> {
        write_atomically(&self.path, self.text().as_bytes(), Audience::Umask)
            .with_context(|| format!("{} cannot be written", self.path.display()))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;
    use crate::fit::graph::parse;
    use surefoot::Feature;

    #[test]
    fn what_is_written_reads_as_the_same_graph() {
        let names = ["age", "hours per week", "a, b", "it's", "income"];
        let features = Features::new(names.map(Feature::new).to_vec()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let problem = folder.path().join("problem.toml");
        let text = "age, `hours per week` -> income; `a, b`, \"it's\" -> age";
        let graph = GraphFile::new(text, &features, Path::new("people.csv"), &problem).unwrap();
        assert_eq!(parse(&graph.text()).unwrap(), parse(text).unwrap());
        graph.save().unwrap();
        assert!(GraphFile::new(text, &features, Path::new("people.csv"), &problem).is_err());
        for wrong in ["age -> age", "age -> income, income -> age", "agee -> income", "nothing", "age -> "] {
            let other = folder.path().join("other.toml");
            assert!(GraphFile::new(wrong, &features, Path::new("people.csv"), &other).is_err(), "{wrong}");
        }
    }
}
