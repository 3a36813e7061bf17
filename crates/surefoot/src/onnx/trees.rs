//! Tree ensembles in ONNX files: `TreeEnsembleClassifier`, `TreeEnsembleRegressor` and `TreeEnsemble`, as
//! skl2onnx, onnxmltools and CatBoost write them, with the semantics of onnxruntime.
//!
//! One such node is read, behind scalers and in front of whatever keeps its decision. Inputs, thresholds and sums
//! are in single precision, unless the input is in double precision.

mod chain;
mod nodes;

use super::ModelFile;
use super::graph::{misuse, place};
use super::message::{Graph, Node, data_type};
use super::operators::{attribute, floats, whole};
use super::tensor::Tensor;
use crate::Ensemble;
use crate::error::{OnnxProblem, TreesProblem, UnsupportedUse};
use crate::trees::{Arithmetic, Compared, Draft, DraftNode, Link, OwnRule};
use chain::Chain;

type Result<T> = std::result::Result<T, OnnxProblem>;

const OPERATORS: [&str; 3] = ["TreeEnsembleClassifier", "TreeEnsembleRegressor", "TreeEnsemble"];

/// The ensemble of a model; `None` if it has no trees.
pub fn read(graph: &Graph, file: Option<ModelFile<'_>>) -> Result<Option<Ensemble>> {
    let is_trees = |node: &Node| node.domain == "ai.onnx.ml" && OPERATORS.contains(&node.operator.as_str());
    let mut found = graph.nodes.iter().enumerate().filter(|(_, node)| is_trees(node));
    let Some((number, node)) = found.next() else { return Ok(None) };
    if let Some((number, node)) = found.next() {
        return Err(OnnxProblem::Operator {
            operator: format!("a second {}", node.operator),
            node: place(number, node),
        });
    }
    let place = place(number, node);
    let chain = Chain::new(graph, file, node)?;
    let reader = Reader { node, place: &place, file, is_single: chain.is_single };
    let (trees, form) = match node.operator.as_str() {
        "TreeEnsembleClassifier" => reader.classifier()?,
        "TreeEnsembleRegressor" => reader.regressor()?,
        _ => reader.ensemble()?,
    };
    let Form { link, rule, divisor, shift } = form;
    let draft = Draft {
        sources: chain.sources(reader.width(&trees, chain.width)),
        single_inputs: chain.is_single,
        trees,
        arithmetic: Arithmetic { single: chain.is_single, divisor, shift, ..Arithmetic::SUM },
        link,
        rule,
        compares_sums: false,
    };
    draft.build().map(Some).map_err(|problem| OnnxProblem::Ensemble { node: place, problem })
}

/// How the sum of a node's leaves decides.
struct Form {
    link: Link,
    rule: OwnRule,
    divisor: f64,
    shift: f64,
}

type Trees = Vec<Vec<DraftNode>>;

/// A node with trees.
struct Reader<'a> {
    node: &'a Node,
    place: &'a str,
    file: Option<ModelFile<'a>>,
    is_single: bool,
}

impl Reader<'_> {
    /// The number of inputs: that of the model, or as many as the trees test.
    fn width(&self, trees: &Trees, declared: Option<usize>) -> usize {
        let column = |node: &DraftNode| match node {
            DraftNode::Split { feature, .. } => feature.saturating_add(1),
            DraftNode::Leaf { .. } => 0,
        };
        let tested = trees.iter().flatten().map(column).max().unwrap_or(0);
        // A test of a column beyond the limit is refused when the ensemble is built.
        declared.unwrap_or_else(|| tested.min(1 << 18))
    }

    fn unsupported(&self, attribute: &'static str, value: impl Into<String>) -> OnnxProblem {
        misuse(self.node, self.place, UnsupportedUse::Attribute { attribute, value: value.into() })
    }

    fn expected(&self, expected: &str) -> OnnxProblem {
        let problem = TreesProblem::Expected { place: self.node.operator.clone(), expected: expected.into() };
        OnnxProblem::Ensemble { node: self.place.into(), problem }
    }

    fn text(&self, name: &str, default: &'static str) -> String {
        let text = attribute(self.node, name).map_or(default.as_bytes(), |attribute| &attribute.text);
        String::from_utf8_lossy(text).into_owned()
    }

    /// Whole numbers of an attribute.
    fn wholes(&self, name: &str) -> &[i64] {
        attribute(self.node, name).map_or(&[], |attribute| &attribute.wholes)
    }

    /// Whole numbers of which there must be this many.
    fn wholes_of(&self, name: &str, length: usize) -> Result<&[i64]> {
        let wholes = self.wholes(name);
        let expected = || self.expected(&format!("`{name}` with {length} numbers"));
        if wholes.len() == length { Ok(wholes) } else { Err(expected()) }
    }

    /// Numbers of an attribute, or of the tensor that may be there in place of it.
    fn numbers(&self, name: &str) -> Result<Vec<f64>> {
        let tensor = attribute(self.node, &format!("{name}_as_tensor")).or(attribute(self.node, name));
        match tensor.and_then(|attribute| attribute.tensor.as_ref()) {
            Some(message) => Ok(Tensor::read(message, self.file)?.numbers),
            None => Ok(floats(self.node, name)),
        }
    }

    fn numbers_of(&self, name: &str, length: usize) -> Result<Vec<f64>> {
        let numbers = self.numbers(name)?;
        let expected = || self.expected(&format!("`{name}` with {length} numbers"));
        if numbers.len() == length { Ok(numbers) } else { Err(expected()) }
    }

    /// Trees and form of a classifier between two classes.
    ///
    /// With weights for one class, onnxruntime takes sums for probabilities if no weight is negative, and
    /// otherwise for logits.
    fn classifier(&self) -> Result<(Trees, Form)> {
        let labels = self.wholes("classlabels_int64s").len()
            + attribute(self.node, "classlabels_strings").map_or(0, |attribute| attribute.texts.len());
        if labels != 2 {
            let output = self.node.outputs.first().cloned().unwrap_or_default();
            return Err(OnnxProblem::Classes { output, width: labels });
        }
        let classes = self.wholes("class_ids");
        let weights = self.numbers_of("class_weights", classes.len())?;
        let has_both = classes.contains(&0) && classes.contains(&1);
        if classes.iter().any(|class| !(0..2).contains(class)) {
            return Err(self.expected("`class_ids` of 0 and 1"));
        }
        let base = self.numbers("base_values")?;
        let shift = match base[..] {
            [] => 0.0,
            [base] if classes.iter().all(|&class| class == 0) => base,
            _ if base.iter().all(|&base| base == 0.0) => 0.0,
            _ => return Err(self.unsupported("base_values", format!("{base:?} for two classes"))),
        };
        let transform = self.text("post_transform", "NONE");
        let logistic = Link::Logistic { slope: 1.0, single: self.is_single };
        let is_positive = weights.iter().all(|&weight| weight >= 0.0);
        let rule = |compares| OwnRule { compares, strict: true };
        let (link, rule) = match (transform.as_str(), has_both) {
            ("NONE" | "LOGISTIC", false) if is_positive => (Link::Identity, rule(Compared::Probability)),
            ("NONE", true) => (Link::Identity, rule(Compared::Probability)),
            ("LOGISTIC", _) => (logistic, rule(Compared::Sum)),
            ("NONE", false) => (Link::Margin, rule(Compared::Sum)),
            _ => return Err(self.unsupported("post_transform", transform)),
        };
        let counted = if has_both { 1 } else { classes.first().copied().unwrap_or(0) };
        let entries =
            classes.iter().zip(&weights).map(|(&class, &weight)| (class == counted).then_some(weight));
        let trees = self.trees("class", &entries.collect::<Vec<_>>())?;
        Ok((trees, Form { link, rule, divisor: 1.0, shift }))
    }

    /// Trees and form of a regressor, whose value is the logit.
    fn regressor(&self) -> Result<(Trees, Form)> {
        let targets = self.wholes("target_ids");
        if whole(self.node, "n_targets", 1) != 1 || targets.iter().any(|&target| target != 0) {
            return Err(self.unsupported("n_targets", "more than one"));
        }
        let weights = self.numbers_of("target_weights", targets.len())?;
        let shift = match self.numbers("base_values")?[..] {
            [] => 0.0,
            [base] => base,
            _ => return Err(self.unsupported("base_values", "more than one")),
        };
        let transform = self.text("post_transform", "NONE");
        if !matches!(transform.as_str(), "NONE" | "LOGISTIC") {
            return Err(self.unsupported("post_transform", transform));
        }
        let trees = self.trees("target", &weights.into_iter().map(Some).collect::<Vec<_>>())?;
        let divisor = match self.text("aggregate_function", "SUM").as_str() {
            "SUM" => 1.0,
            "AVERAGE" => trees.len() as f64,
            other => return Err(self.unsupported("aggregate_function", other)),
        };
        Ok((trees, self.logit(divisor, shift)))
    }

    /// Trees and form of the operator of version 5, whose value is the logit.
    fn ensemble(&self) -> Result<(Trees, Form)> {
        if whole(self.node, "n_targets", 1) != 1 {
            return Err(self.unsupported("n_targets", "more than one"));
        }
        // None or logistic.
        let transform = whole(self.node, "post_transform", 0);
        if transform != 0 && transform != 2 {
            return Err(self.unsupported("post_transform", transform.to_string()));
        }
        let trees = self.linked_trees()?;
        let divisor = match whole(self.node, "aggregate_function", 1) {
            0 => trees.len() as f64,
            1 => 1.0,
            other => return Err(self.unsupported("aggregate_function", other.to_string())),
        };
        Ok((trees, self.logit(divisor, 0.0)))
    }

    fn logit(&self, divisor: f64, shift: f64) -> Form {
        let link = Link::Logistic { slope: 1.0, single: self.is_single };
        Form { link, rule: OwnRule { compares: Compared::Sum, strict: false }, divisor, shift }
    }
}

/// Whether an element type is single precision.
fn is_single(kind: i32) -> bool {
    kind != data_type::DOUBLE
}
