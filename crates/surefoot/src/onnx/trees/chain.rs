//! What stands in front of the trees of an ONNX file and behind them.

use std::collections::HashMap;

use super::super::ModelFile;
use super::super::graph::{is_score, misuse, place};
use super::super::message::{Graph, Node, data_type};
use super::super::operators::{attribute, floats, unknown, whole};
use super::super::tensor::Tensor;
use super::{Result, is_single};
use crate::error::{OnnxProblem, UnsupportedUse};
use crate::trees::{Source, Step};

/// The way from the input of a model to its trees.
pub struct Chain {
    /// Whether trees take values in single precision.
    pub is_single: bool,
    /// The number of columns, if it is known.
    pub width: Option<usize>,
    /// What happens to every column, or to each of them.
    steps: Vec<Vec<Step>>,
}

impl Chain {
    /// The way to a node, and a check of the way from it to the output.
    pub fn new(graph: &Graph, file: Option<ModelFile<'_>>, trees: &Node) -> Result<Self> {
        let constants: HashMap<&str, _> = graph.initializers.iter().map(|t| (t.name.as_str(), t)).collect();
        let inputs: Vec<_> =
            graph.inputs.iter().filter(|input| !constants.contains_key(input.name.as_str())).collect();
        let &[input] = &inputs[..] else {
            return Err(OnnxProblem::Inputs(inputs.iter().map(|input| input.name.clone()).collect()));
        };
        let producers: HashMap<&str, (usize, &Node)> = graph
            .nodes
            .iter()
            .enumerate()
            .flat_map(|(number, node)| node.outputs.iter().map(move |name| (name.as_str(), (number, node))))
            .collect();
        let tensor = input.kind.as_ref().and_then(|kind| kind.tensor.as_ref());
        let dimensions = tensor.and_then(|tensor| tensor.shape.as_ref()).map(|shape| &shape.dimensions[..]);
        let width = match dimensions {
            Some([.., last]) => {
                last.size.and_then(|size| usize::try_from(size).ok()).filter(|&size| size > 0)
            }
            _ => None,
        };
        let mut single = tensor.is_none_or(|tensor| is_single(tensor.data_type));
        let mut steps: Vec<Vec<Step>> = Vec::new();
        for (number, node) in before(&producers, trees, &input.name)?.into_iter().rev() {
            single = add(&mut steps, node, &place(number, node), single)?;
        }
        check_ending(graph, file, &constants, &producers, trees)?;
        Ok(Self { is_single: single, width: width.filter(|&width| width <= 1 << 18), steps })
    }

    /// The columns, of which there are this many.
    pub fn sources(&self, width: usize) -> Vec<Source> {
        let steps = |column: usize| match self.steps.len() {
            1 => self.steps[0].clone(),
            _ => self.steps.get(column).cloned().unwrap_or_default(),
        };
        (0..width).map(|column| Source::Unstated { name: None, labels: None, steps: steps(column) }).collect()
    }
}

/// The nodes between the input and the trees, the last first.
fn before<'a>(
    producers: &HashMap<&str, (usize, &'a Node)>,
    trees: &Node,
    input: &str,
) -> Result<Vec<(usize, &'a Node)>> {
    let mut nodes = Vec::new();
    let mut name = trees.inputs.first().map_or("", String::as_str);
    while name != input {
        let found = producers.get(name).copied();
        let (number, node) = found
            .filter(|_| nodes.len() <= producers.len())
            .ok_or_else(|| OnnxProblem::Unknown { node: trees.operator.clone(), value: name.into() })?;
        nodes.push((number, node));
        name = node.inputs.first().map_or("", String::as_str);
    }
    Ok(nodes)
}

/// Adds the steps of a node; returns whether its result is in single precision.
fn add(steps: &mut Vec<Vec<Step>>, node: &Node, place: &str, single: bool) -> Result<bool> {
    let is_plain = matches!(node.domain.as_str(), "" | "ai.onnx");
    match node.operator.as_str() {
        "Identity" | "Dropout" if is_plain => Ok(single),
        "Cast" if is_plain => match whole(node, "to", 0) {
            to if to == i64::from(data_type::FLOAT) => Ok(true),
            to if to == i64::from(data_type::DOUBLE) && !single => Ok(false),
            to => Err(misuse(node, place, UnsupportedUse::LosesDigits(to))),
        },
        "Scaler" if node.domain == "ai.onnx.ml" => {
            let (offset, scale) = (floats(node, "offset"), floats(node, "scale"));
            let is_scaling = scale.iter().all(|&scale| scale > 0.0 && scale.is_finite());
            let width = offset.len().max(scale.len());
            let fits = |list: &[f64]| list.len() == 1 || list.len() == width;
            let fits = fits(&offset) && fits(&scale) && [0, 1, width].contains(&steps.len());
            if !is_scaling || !fits || width == 0 {
                let dimensions = vec![offset.len(), scale.len()];
                return Err(misuse(node, place, UnsupportedUse::Shape { dimensions, width: None }));
            }
            let earlier = std::mem::take(steps);
            for column in 0..width {
                let mut path =
                    earlier.get(if earlier.len() == 1 { 0 } else { column }).cloned().unwrap_or_default();
                let of = |list: &[f64]| list[if list.len() == 1 { 0 } else { column }];
                path.extend([
                    Step::Single,
                    Step::Subtract(of(&offset)),
                    Step::Single,
                    Step::Multiply(of(&scale)),
                ]);
                steps.push(path);
            }
            // The operator gives single precision, whatever it takes.
            steps.iter_mut().for_each(|path| path.push(Step::Single));
            Ok(true)
        }
        _ => Err(unknown(node, place)),
    }
}

/// Refuses a model whose output is not the decision of the trees.
fn check_ending(
    graph: &Graph,
    file: Option<ModelFile<'_>>,
    constants: &HashMap<&str, &super::super::message::TensorMessage>,
    producers: &HashMap<&str, (usize, &Node)>,
    trees: &Node,
) -> Result<()> {
    let output = graph.outputs.iter().find(|output| is_score(output)).or(graph.outputs.first());
    let output = output.ok_or(OnnxProblem::NoOutput)?.name.as_str();
    let mut name = output;
    for _ in 0..=graph.nodes.len() {
        if trees.outputs.iter().any(|output| output == name) {
            return Ok(());
        }
        let Some(&(number, node)) = producers.get(name) else { break };
        let place = place(number, node);
        let is_plain = matches!(node.domain.as_str(), "" | "ai.onnx");
        let keeps = match node.operator.as_str() {
            "Identity" | "Cast" | "Reshape" | "Flatten" | "Squeeze" | "Unsqueeze" => is_plain,
            "ZipMap" => node.domain == "ai.onnx.ml",
            // The value of a regressor is a logit already.
            "Sigmoid" => is_plain && trees.operator != "TreeEnsembleClassifier" && !has_transform(trees),
            "Mul" if is_plain => {
                let factor = node.inputs.get(1).and_then(|name| constants.get(name.as_str()));
                let factor = factor.map(|tensor| Tensor::read(tensor, file)).transpose()?;
                factor.is_some_and(|tensor| tensor.numbers == [1.0])
            }
            _ => false,
        };
        if !keeps {
            return Err(unknown(node, &place));
        }
        name = node.inputs.first().map_or("", String::as_str);
    }
    Err(OnnxProblem::Ending { output: output.into() })
}

/// Whether a regressor gives a probability itself.
fn has_transform(trees: &Node) -> bool {
    let text = attribute(trees, "post_transform").map_or(&b""[..], |attribute| &attribute.text);
    whole(trees, "post_transform", 0) != 0 || !matches!(text, b"" | b"NONE")
}
