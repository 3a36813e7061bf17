//! Follows the input through the nodes of a model to the output with the decision.

use std::collections::{HashMap, HashSet};

use super::ModelFile;
use super::affine::Affine;
use super::message::{Graph, Node, TensorMessage, ValueInfo, data_type};
use super::tensor::Tensor;
use crate::error::{OnnxProblem, UnsupportedUse};
use crate::{Activation, Layer, Network};

type Result<T> = std::result::Result<T, OnnxProblem>;

/// The maximum total size of all matrices of a model, so that a small file cannot cause huge allocations.
pub(super) const MOST_NUMBERS: usize = 1 << 26;

/// The value of a name.
#[derive(Clone, Debug)]
pub enum Value {
    Constant(Tensor),
    /// A value that depends on the input.
    Columns(Affine),
    /// The predicted class, which is decided by these columns.
    Decision(Affine),
}

/// A layer with its activation.
struct Hidden {
    layer: Layer,
    below: Option<usize>,
    activation: Activation,
    /// The name of its node, for messages.
    operator: String,
    node: String,
}

pub struct Reader<'a> {
    file: Option<ModelFile<'a>>,
    initializers: HashMap<&'a str, &'a TensorMessage>,
    values: HashMap<&'a str, Value>,
    hidden: Vec<Hidden>,
    /// The total size of all values so far.
    numbers: usize,
}

/// The network that is equivalent to a model.
pub fn read(graph: &Graph, file: Option<ModelFile<'_>>) -> Result<Network> {
    let initializers: HashMap<&str, &TensorMessage> =
        graph.initializers.iter().map(|tensor| (tensor.name.as_str(), tensor)).collect();
    let inputs = graph.inputs.iter().filter(|input| !initializers.contains_key(input.name.as_str()));
    let inputs: Vec<&ValueInfo> = inputs.collect();
    let &[input] = &inputs[..] else {
        return Err(OnnxProblem::Inputs(inputs.iter().map(|input| input.name.clone()).collect()));
    };
    // The outputs of scikit-learn's classifiers are the class and then its probability.
    let output = graph.outputs.iter().find(|output| is_score(output)).or(graph.outputs.first());
    let output = output.ok_or(OnnxProblem::NoOutput)?.name.as_str();
    let values = HashMap::from([(input.name.as_str(), Value::Columns(Affine::input()))]);
    let mut reader = Reader { file, initializers, values, hidden: Vec::new(), numbers: 0 };
    for (number, node) in needed(graph, output) {
        let place = place(number, node);
        let results = reader.evaluate(node, &place)?;
        for (name, value) in node.outputs.iter().zip(results) {
            reader.count(&value, &place)?;
            reader.values.insert(name, value);
        }
    }
    let network = reader.network(output)?;
    check_width(input, network.inputs())?;
    Ok(network)
}

/// The name of a node in messages.
pub(super) fn place(number: usize, node: &Node) -> String {
    match (node.name.as_str(), node.outputs.first()) {
        ("", None) => format!("node {}", number + 1),
        ("", Some(output)) => format!("the node of `{output}`"),
        (name, _) => format!("node `{name}`"),
    }
}

/// Whether an output has numbers, or scikit-learn's maps from class to probability; not a class.
pub(super) fn is_score(output: &ValueInfo) -> bool {
    let tensor = output.kind.as_ref().and_then(|kind| kind.tensor.as_ref());
    tensor.is_none_or(|tensor| [0, data_type::FLOAT, data_type::DOUBLE].contains(&tensor.data_type))
}

/// The nodes on which an output depends, in order.
fn needed<'a>(graph: &'a Graph, output: &'a str) -> Vec<(usize, &'a Node)> {
    let mut names = HashSet::from([output]);
    let mut nodes = Vec::new();
    for (number, node) in graph.nodes.iter().enumerate().rev() {
        if node.outputs.iter().any(|output| names.contains(output.as_str())) {
            names.extend(node.inputs.iter().map(String::as_str));
            nodes.push((number, node));
        }
    }
    nodes.reverse();
    nodes
}

/// Checks that the input is a table with as many columns as the first layer has inputs.
fn check_width(input: &ValueInfo, taken: usize) -> Result<()> {
    let tensor = input.kind.as_ref().and_then(|kind| kind.tensor.as_ref());
    let Some(shape) = tensor.and_then(|tensor| tensor.shape.as_ref()) else { return Ok(()) };
    let dimensions: Vec<Option<i64>> = shape.dimensions.iter().map(|dimension| dimension.size).collect();
    match dimensions[..] {
        // A single row is a table of one row.
        [.., Some(declared)] if dimensions.len() <= 2 => {
            let fits = usize::try_from(declared).is_ok_and(|declared| declared == taken);
            // Some programs write 0 for any size.
            if fits || declared <= 0 { Ok(()) } else { Err(OnnxProblem::InputWidth { declared, taken }) }
        }
        [_, None] | [None] | [] => Ok(()),
        _ => Err(OnnxProblem::InputShape(dimensions)),
    }
}

impl<'a> Reader<'a> {
    /// The value of an input of a node, by its position.
    pub fn operand(&self, node: &Node, place: &str, position: usize) -> Result<Value> {
        let name = node.inputs.get(position).map_or("", String::as_str);
        if let Some(value) = self.values.get(name) {
            return Ok(value.clone());
        }
        match self.initializers.get(name) {
            Some(tensor) => Tensor::read(tensor, self.file).map(Value::Constant),
            None if name.is_empty() => {
                let (found, expected) = (node.inputs.len(), position + 1);
                Err(misuse(node, place, UnsupportedUse::Inputs { found, expected }))
            }
            None => Err(OnnxProblem::Unknown { node: place.into(), value: name.into() }),
        }
    }

    /// An input that must depend on the model's input.
    pub fn columns(&self, node: &Node, place: &str, position: usize) -> Result<Affine> {
        match self.operand(node, place, position)? {
            Value::Columns(columns) => Ok(columns),
            Value::Constant(_) => Err(misuse(node, place, UnsupportedUse::OnlyConstants)),
            Value::Decision(_) => Err(misuse(node, place, UnsupportedUse::Decision)),
        }
    }

    /// An input that must be a constant.
    pub fn constant(&self, node: &Node, place: &str, position: usize) -> Result<Tensor> {
        match self.operand(node, place, position)? {
            Value::Constant(tensor) => Ok(tensor),
            Value::Columns(_) => Err(misuse(node, place, UnsupportedUse::NoConstant)),
            Value::Decision(_) => Err(misuse(node, place, UnsupportedUse::Decision)),
        }
    }

    /// The tensor of an attribute.
    pub fn tensor(&self, message: &TensorMessage) -> Result<Tensor> {
        Tensor::read(message, self.file)
    }

    /// Refuses a size beyond the limit before memory is allocated.
    pub fn afford(&self, place: &str, numbers: Option<usize>) -> Result<()> {
        let total = numbers.and_then(|numbers| numbers.checked_add(self.numbers));
        if total.is_some_and(|total| total <= MOST_NUMBERS) {
            return Ok(());
        }
        Err(OnnxProblem::TooLarge { node: place.into(), most: MOST_NUMBERS })
    }

    fn count(&mut self, value: &Value, place: &str) -> Result<()> {
        let size = match value {
            Value::Constant(tensor) => tensor.numbers.len(),
            Value::Columns(columns) | Value::Decision(columns) => columns.size(),
        };
        self.afford(place, Some(size))?;
        self.numbers += size;
        Ok(())
    }

    /// Applies an activation to some columns; returns the output of the new layer.
    pub fn activate(
        &mut self,
        node: &Node,
        place: &str,
        columns: Affine,
        activation: Activation,
    ) -> Result<Affine> {
        let misfit = || misuse(node, place, UnsupportedUse::NoWidth);
        // Two opposite logits become the probabilities `1 - p` and `p`.
        if activation == Activation::Sigmoid && columns.is_opposite() {
            let probability = columns.only(1).ok_or_else(misfit)?;
            let layer = self.activate(node, place, probability, activation)?;
            return layer.below.map(Affine::pair).ok_or_else(misfit);
        }
        let width = columns.width().ok_or_else(misfit)?;
        self.afford(place, columns.size_with(width))?;
        let below = columns.below;
        let (weight, bias) = columns.dense().ok_or_else(misfit)?;
        self.numbers += weight.len();
        let (operator, node) = (node.operator.clone(), place.into());
        self.hidden.push(Hidden { layer: Layer { weight, bias }, below, activation, operator, node });
        Ok(Affine::layer(self.hidden.len() - 1, width))
    }

    /// Whether some columns are computed from nothing but probabilities.
    pub fn is_probability(&self, columns: &Affine) -> bool {
        columns.below.is_some_and(|layer| self.hidden[layer].activation == Activation::Sigmoid)
            && columns.is_positive_over_probabilities()
    }

    /// The network whose logit or probability is an output.
    fn network(mut self, output: &str) -> Result<Network> {
        let columns = match self.values.remove(output) {
            Some(Value::Columns(columns) | Value::Decision(columns)) => columns,
            _ => return Err(OnnxProblem::Ending { output: output.into() }),
        };
        let ending = || OnnxProblem::Ending { output: output.into() };
        let width = columns.width().ok_or_else(ending)?;
        if width == 0 || width > 2 {
            return Err(OnnxProblem::Classes { output: output.into(), width });
        }
        let (last, mut below) = if let Some((layer, sign)) = self.probability(&columns, width) {
            let Hidden { layer: Layer { weight, bias }, below, .. } = &self.hidden[layer];
            (Layer { weight: weight * sign, bias: bias * sign }, *below)
        } else if columns.is_untouched() {
            return Err(ending());
        } else {
            let logit = if width == 1 { Some(columns) } else { columns.difference() };
            let logit = logit.ok_or_else(ending)?;
            let below = logit.below;
            let (weight, bias) = logit.dense().ok_or_else(ending)?;
            (Layer { weight, bias }, below)
        };
        let mut layers = vec![last];
        let mut above: Option<&Hidden> = None;
        while let Some(hidden) = below.map(|layer| &self.hidden[layer]) {
            if let Some(above) = above.filter(|above| above.activation != hidden.activation) {
                return Err(OnnxProblem::MixedActivations {
                    operator: above.operator.clone(),
                    node: above.node.clone(),
                    before: hidden.operator.clone(),
                });
            }
            layers.push(hidden.layer.clone());
            (above, below) = (Some(hidden), hidden.below);
        }
        layers.reverse();
        // A network without hidden layers has no activation.
        let activation = above.map_or(Activation::Tanh, |hidden| hidden.activation);
        Network::new(layers, activation).map_err(|error| OnnxProblem::Network(error.to_string()))
    }

    /// The layer of which the last column is the sigmoid or one minus it, and which of the two.
    fn probability(&self, columns: &Affine, width: usize) -> Option<(usize, f64)> {
        let layer = columns.below?;
        let hidden = &self.hidden[layer];
        if hidden.activation != Activation::Sigmoid || hidden.layer.bias.len() != 1 {
            return None;
        }
        let line = |column: usize| columns.column(column).map(|(weights, bias)| (weights[0], bias));
        let last = line(width - 1)?;
        if width == 2 && line(0)? != (-last.0, 1.0 - last.1) {
            return None;
        }
        match last {
            (1.0, 0.0) => Some((layer, 1.0)),
            (-1.0, 1.0) => Some((layer, -1.0)),
            _ => None,
        }
    }
}

/// The error of an unsupported use of an operator.
pub fn misuse(node: &Node, place: &str, reason: UnsupportedUse) -> OnnxProblem {
    OnnxProblem::Use { operator: node.operator.clone(), node: place.into(), reason }
}
