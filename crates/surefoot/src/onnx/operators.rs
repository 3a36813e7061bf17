//! The outputs of each operator for its inputs.

use super::affine::Affine;
use super::graph::{Reader, Value, misuse};
use super::message::{Attribute, Node, data_type};
use super::tensor::Tensor;
use crate::Activation;
use crate::error::{OnnxProblem, UnsupportedUse};

type Result<T> = std::result::Result<T, OnnxProblem>;

pub(super) fn attribute<'n>(node: &'n Node, name: &str) -> Option<&'n Attribute> {
    node.attributes.iter().find(|attribute| attribute.name == name)
}

pub(super) fn whole(node: &Node, name: &str, default: i64) -> i64 {
    attribute(node, name).map_or(default, |attribute| attribute.whole)
}

pub(super) fn floats(node: &Node, name: &str) -> Vec<f64> {
    let floats = attribute(node, name).map(|attribute| &attribute.floats);
    floats.into_iter().flatten().map(|&number| number.into()).collect()
}

impl Reader<'_> {
    /// The outputs of a node.
    pub fn evaluate(&mut self, node: &Node, place: &str) -> Result<Vec<Value>> {
        let is_plain = matches!(node.domain.as_str(), "" | "ai.onnx");
        let is_classical = node.domain == "ai.onnx.ml";
        let one = |value: Value| Ok(vec![value]);
        match node.operator.as_str() {
            "Constant" if is_plain => one(Value::Constant(self.written(node, place)?)),
            "Identity" | "Dropout" if is_plain => one(self.operand(node, place, 0)?),
            "Cast" if is_plain => one(self.cast(node, place)?),
            "Transpose" if is_plain => one(Value::Constant(self.transpose(node, place)?)),
            "Flatten" | "Reshape" | "Squeeze" | "Unsqueeze" if is_plain => one(self.reshape(node, place)?),
            "MatMul" | "Gemm" if is_plain => one(Value::Columns(self.product(node, place)?)),
            "Add" | "Sub" | "Mul" | "Div" if is_plain => one(Value::Columns(self.arithmetic(node, place)?)),
            "Neg" if is_plain => {
                let columns = self.columns(node, place, 0)?.times(&[-1.0]);
                one(Value::Columns(columns.ok_or_else(|| misuse(node, place, UnsupportedUse::NoWidth))?))
            }
            "Relu" if is_plain => self.layer(node, place, Activation::Relu),
            "Tanh" if is_plain => self.layer(node, place, Activation::Tanh),
            "Sigmoid" if is_plain => self.layer(node, place, Activation::Sigmoid),
            "Softmax" if is_plain => {
                self.along_columns(node, place, "axis", -1)?;
                let columns = self.columns(node, place, 0)?;
                one(Value::Columns(self.softmax(node, place, columns)?))
            }
            "Concat" if is_plain => one(Value::Columns(self.concat(node, place)?)),
            "Abs" if is_plain => one(Value::Columns(self.probabilities(node, place)?)),
            "ReduceSum" if is_plain => one(Value::Constant(self.sum(node, place)?)),
            "ArgMax" if is_plain => {
                self.along_columns(node, place, "axis", 0)?;
                let columns = self.columns(node, place, 0)?;
                if columns.width() != Some(2) {
                    return Err(misuse(node, place, UnsupportedUse::NotTwoClasses));
                }
                one(Value::Decision(columns))
            }
            "ArrayFeatureExtractor" if is_classical => match self.operand(node, place, 1)? {
                Value::Decision(columns) => one(Value::Decision(columns)),
                _ => Err(unknown(node, place)),
            },
            "ZipMap" if is_classical => one(self.operand(node, place, 0)?),
            "Scaler" if is_classical => one(Value::Columns(self.scaler(node, place)?)),
            "Normalizer" if is_classical => one(Value::Columns(self.normalizer(node, place)?)),
            "LinearClassifier" if is_classical => self.linear_classifier(node, place),
            _ => Err(unknown(node, place)),
        }
    }

    fn layer(&mut self, node: &Node, place: &str, activation: Activation) -> Result<Vec<Value>> {
        let columns = self.columns(node, place, 0)?;
        Ok(vec![Value::Columns(self.activate(node, place, columns, activation)?)])
    }

    /// The probabilities of two classes: `(1 - p, p)` with the sigmoid p of the difference.
    fn softmax(&mut self, node: &Node, place: &str, columns: Affine) -> Result<Affine> {
        let width = columns.width().ok_or_else(|| misuse(node, place, UnsupportedUse::NoWidth))?;
        let two =
            || OnnxProblem::Classes { output: node.outputs.first().cloned().unwrap_or_default(), width };
        let difference = columns.difference().ok_or_else(two)?;
        let layer = self.activate(node, place, difference, Activation::Sigmoid)?;
        layer.below.map(Affine::pair).ok_or_else(two)
    }

    /// The numbers of a `Constant`.
    fn written(&self, node: &Node, place: &str) -> Result<Tensor> {
        let [attribute] = &node.attributes[..] else { return Err(unknown(node, place)) };
        Ok(match (attribute.name.as_str(), &attribute.tensor) {
            ("value", Some(message)) => self.tensor(message)?,
            ("value_float", _) => Tensor { dimensions: vec![], numbers: vec![attribute.float.into()] },
            ("value_int", _) => Tensor { dimensions: vec![], numbers: vec![attribute.whole as f64] },
            ("value_floats", _) => Tensor::list(floats(node, "value_floats")),
            ("value_ints", _) => Tensor::list(attribute.wholes.iter().map(|&number| number as f64).collect()),
            _ => return Err(unknown(node, place)),
        })
    }

    fn cast(&self, node: &Node, place: &str) -> Result<Value> {
        let value = self.operand(node, place, 0)?;
        let to = whole(node, "to", 0);
        let keeps = [data_type::FLOAT, data_type::DOUBLE].map(i64::from).contains(&to);
        match value {
            Value::Decision(columns) => Ok(Value::Decision(columns)),
            value if keeps => Ok(value),
            _ => Err(misuse(node, place, UnsupportedUse::LosesDigits(to))),
        }
    }

    /// The transpose of a weight.
    fn transpose(&self, node: &Node, place: &str) -> Result<Tensor> {
        let order = attribute(node, "perm").map_or(&[1, 0][..], |attribute| &attribute.wholes);
        if order != [1, 0] {
            return Err(misuse(
                node,
                place,
                UnsupportedUse::Attribute { attribute: "perm", value: format!("{order:?}") },
            ));
        }
        let matrix = self.constant(node, place, 0)?.matrix();
        let matrix = matrix
            .map_err(|dimensions| misuse(node, place, UnsupportedUse::Shape { dimensions, width: None }))?;
        let dimensions = vec![matrix.ncols(), matrix.nrows()];
        Ok(Tensor { dimensions, numbers: matrix.t().iter().copied().collect() })
    }

    /// Checks that a reshape leaves rows and columns unchanged.
    fn reshape(&self, node: &Node, place: &str) -> Result<Value> {
        let value = self.operand(node, place, 0)?;
        let Value::Columns(columns) = &value else { return Ok(value) };
        let refused = |attribute: &'static str, value: String| {
            Err(misuse(node, place, UnsupportedUse::Attribute { attribute, value }))
        };
        match node.operator.as_str() {
            "Flatten" => {
                let axis = whole(node, "axis", 1);
                if axis != 1 && axis != -1 {
                    return refused("axis", axis.to_string());
                }
            }
            "Reshape" => {
                let shape = self.constant(node, place, 1)?.numbers;
                if let ([_, last], None) = (&shape[..], columns.width())
                    && *last >= 1.0
                {
                    // A width that is not known yet becomes that of the shape, within the limit on sizes.
                    let width = *last as usize;
                    self.afford(place, width.checked_mul(2))?;
                    let columns = columns.clone().with_width(width);
                    return Ok(Value::Columns(
                        columns.ok_or_else(|| misuse(node, place, UnsupportedUse::NoWidth))?,
                    ));
                }
                let stays = match shape[..] {
                    [first, -1.0] => first == 0.0,
                    [_, 0.0] => true,
                    [_, last] => columns.width().is_some_and(|width| width as f64 == last),
                    [_] => columns.width() == Some(1),
                    _ => false,
                };
                if !stays {
                    return refused("shape", format!("{shape:?}"));
                }
            }
            // A single column may have its own dimension or none.
            _ => {
                if columns.width() != Some(1) {
                    return refused("axes", "those of more than one column".into());
                }
            }
        }
        Ok(value)
    }

    /// `MatMul` and `Gemm`: `alpha * value * weight + beta * bias`.
    fn product(&self, node: &Node, place: &str) -> Result<Affine> {
        let columns = self.columns(node, place, 0)?;
        let is_general = node.operator == "Gemm";
        if is_general && whole(node, "transA", 0) != 0 {
            return Err(misuse(
                node,
                place,
                UnsupportedUse::Attribute { attribute: "transA", value: "1".into() },
            ));
        }
        let weight = self.constant(node, place, 1)?.matrix();
        let misfit = |dimensions: Vec<usize>, columns: &Affine| {
            misuse(node, place, UnsupportedUse::Shape { dimensions, width: columns.width() })
        };
        let mut weight = weight.map_err(|dimensions| misfit(dimensions, &columns))?;
        let factor = |name: &str| attribute(node, name).map_or(1.0, |attribute| f64::from(attribute.float));
        if is_general {
            if whole(node, "transB", 0) != 0 {
                weight = weight.reversed_axes();
            }
            weight *= factor("alpha");
        }
        let dimensions = vec![weight.nrows(), weight.ncols()];
        self.afford(place, columns.size_with(weight.ncols()))?;
        let result = columns.clone().through(&weight).ok_or_else(|| misfit(dimensions, &columns))?;
        if !is_general || node.inputs.get(2).is_none_or(String::is_empty) {
            return Ok(result);
        }
        let bias = self.constant(node, place, 2)?;
        let row = bias.row(result.width()).ok_or_else(|| misfit(bias.dimensions.clone(), &result))?;
        let row: Vec<f64> = row.iter().map(|number| factor("beta") * number).collect();
        let width = result.width();
        let fault =
            || misuse(node, place, UnsupportedUse::Shape { dimensions: bias.dimensions.clone(), width });
        result.plus(&row).ok_or_else(fault)
    }

    /// `Add`, `Sub`, `Mul` and `Div` of a value and a constant.
    fn arithmetic(&self, node: &Node, place: &str) -> Result<Affine> {
        let (first, second) = (self.operand(node, place, 0)?, self.operand(node, place, 1)?);
        let (columns, tensor, is_swapped) = match (first, second) {
            (Value::Columns(columns), Value::Constant(tensor)) => (columns, tensor, false),
            (Value::Constant(tensor), Value::Columns(columns)) => (columns, tensor, true),
            (Value::Constant(_), Value::Constant(_)) => {
                return Err(misuse(node, place, UnsupportedUse::OnlyConstants));
            }
            (Value::Decision(_), _) | (_, Value::Decision(_)) => {
                return Err(misuse(node, place, UnsupportedUse::Decision));
            }
            (Value::Columns(_), Value::Columns(_)) => {
                return Err(misuse(node, place, UnsupportedUse::NoConstant));
            }
        };
        let width = columns.width();
        let misfit =
            || misuse(node, place, UnsupportedUse::Shape { dimensions: tensor.dimensions.clone(), width });
        let row = tensor.row(width).ok_or_else(misfit)?;
        let of = |f: fn(f64) -> f64| -> Vec<f64> { row.iter().map(|&number| f(number)).collect() };
        let result = match (node.operator.as_str(), is_swapped) {
            ("Add", _) => columns.plus(row),
            ("Sub", false) => columns.plus(&of(|number| -number)),
            ("Sub", true) => columns.times(&[-1.0]).and_then(|negative| negative.plus(row)),
            ("Mul", _) => columns.times(row),
            ("Div", false) => columns.times(&of(|number| 1.0 / number)),
            _ => return Err(misuse(node, place, UnsupportedUse::NoConstant)),
        };
        result.ok_or_else(misfit)
    }

    fn concat(&self, node: &Node, place: &str) -> Result<Affine> {
        self.along_columns(node, place, "axis", 1)?;
        let parts = (0..node.inputs.len()).map(|position| self.columns(node, place, position));
        let parts = parts.collect::<Result<Vec<Affine>>>()?;
        let width = parts.iter().map(Affine::width).sum::<Option<usize>>();
        let first = parts.first().and_then(|first| first.size_with(width?));
        self.afford(place, first)?;
        Affine::beside(parts).ok_or_else(|| misuse(node, place, UnsupportedUse::NoConstant))
    }

    /// The absolute values of probabilities, which are the probabilities.
    fn probabilities(&self, node: &Node, place: &str) -> Result<Affine> {
        let columns = self.columns(node, place, 0)?;
        if !self.is_probability(&columns) {
            return Err(misuse(node, place, UnsupportedUse::NotProbabilities));
        }
        Ok(columns)
    }

    /// The sum of the probabilities of two classes, which is 1.
    fn sum(&self, node: &Node, place: &str) -> Result<Tensor> {
        let columns = self.columns(node, place, 0)?;
        let sum =
            columns.constant_sum().ok_or_else(|| misuse(node, place, UnsupportedUse::NotProbabilities))?;
        let axes = match attribute(node, "axes") {
            Some(attribute) => attribute.wholes.iter().map(|&axis| axis as f64).collect(),
            None => self.constant(node, place, 1)?.numbers,
        };
        if !matches!(axes[..], [1.0] | [-1.0]) {
            let value = format!("{axes:?}");
            return Err(misuse(node, place, UnsupportedUse::Attribute { attribute: "axes", value }));
        }
        Ok(Tensor { dimensions: vec![1, 1], numbers: vec![sum] })
    }

    /// `(value - offset) * scale`.
    fn scaler(&self, node: &Node, place: &str) -> Result<Affine> {
        let columns = self.columns(node, place, 0)?;
        let (offset, scale) = (floats(node, "offset"), floats(node, "scale"));
        let down: Vec<f64> = offset.iter().map(|number| -number).collect();
        let width = columns.width();
        let misfit = || {
            let dimensions = vec![offset.len(), scale.len()];
            misuse(node, place, UnsupportedUse::Shape { dimensions, width })
        };
        if offset.is_empty() || scale.is_empty() {
            return Err(misfit());
        }
        columns.plus(&down).and_then(|shifted| shifted.times(&scale)).ok_or_else(misfit)
    }

    /// Probabilities of two classes divided by their sum.
    fn normalizer(&self, node: &Node, place: &str) -> Result<Affine> {
        let norm = attribute(node, "norm").map_or(&b"MAX"[..], |attribute| &attribute.text);
        if norm != b"L1" {
            let value = String::from_utf8_lossy(norm).into_owned();
            return Err(misuse(node, place, UnsupportedUse::Attribute { attribute: "norm", value }));
        }
        let columns = self.probabilities(node, place)?;
        let sum = columns.constant_sum().filter(|&sum| sum > 0.0);
        let scaled = sum.and_then(|sum| columns.times(&[1.0 / sum]));
        scaled.ok_or_else(|| misuse(node, place, UnsupportedUse::NotProbabilities))
    }

    /// The decision and the probabilities of a logistic regression.
    fn linear_classifier(&mut self, node: &Node, place: &str) -> Result<Vec<Value>> {
        let columns = self.columns(node, place, 0)?;
        let (coefficients, intercepts) = (floats(node, "coefficients"), floats(node, "intercepts"));
        let labels = attribute(node, "classlabels_ints").map_or(0, |attribute| attribute.wholes.len())
            + attribute(node, "classlabels_strings").map_or(0, |attribute| attribute.texts.len());
        // There is a row of coefficients for each class, or for two classes only one for the second.
        let classes = intercepts.len();
        let output = || node.outputs.get(1).cloned().unwrap_or_default();
        if labels != 2 || !(1..=2).contains(&classes) {
            return Err(OnnxProblem::Classes { output: output(), width: labels.max(classes) });
        }
        let width = coefficients.len() / classes;
        let misfit = |columns: &Affine| {
            let dimensions = vec![classes, width];
            misuse(node, place, UnsupportedUse::Shape { dimensions, width: columns.width() })
        };
        self.afford(place, columns.size_with(classes))?;
        let weight = ndarray::Array2::from_shape_vec((classes, width), coefficients);
        let weight = weight.map_err(|_| misfit(&columns))?.reversed_axes();
        let scores = columns.clone().through(&weight).and_then(|scores| scores.plus(&intercepts));
        let scores = scores.ok_or_else(|| misfit(&columns))?;
        let transform = attribute(node, "post_transform").map_or(&b"NONE"[..], |attribute| &attribute.text);
        let probabilities = match (transform, classes) {
            (b"LOGISTIC", 1) => {
                let layer = self.activate(node, place, scores, Activation::Sigmoid)?;
                layer.below.map(Affine::pair).ok_or_else(|| misfit(&columns))?
            }
            (b"LOGISTIC", _) => self.activate(node, place, scores, Activation::Sigmoid)?,
            (b"SOFTMAX", 2) => self.softmax(node, place, scores)?,
            (b"NONE", _) => return Err(misuse(node, place, UnsupportedUse::RawScores)),
            (other, _) => {
                let value = String::from_utf8_lossy(other).into_owned();
                return Err(misuse(
                    node,
                    place,
                    UnsupportedUse::Attribute { attribute: "post_transform", value },
                ));
            }
        };
        Ok(vec![Value::Decision(probabilities.clone()), Value::Columns(probabilities)])
    }

    /// Refuses an operator along another axis than the columns.
    fn along_columns(&self, node: &Node, place: &str, name: &'static str, default: i64) -> Result<()> {
        match whole(node, name, default) {
            1 | -1 => Ok(()),
            other => Err(misuse(
                node,
                place,
                UnsupportedUse::Attribute { attribute: name, value: other.to_string() },
            )),
        }
    }
}

pub(super) fn unknown(node: &Node, place: &str) -> OnnxProblem {
    let operator = match node.domain.as_str() {
        "" | "ai.onnx" => node.operator.clone(),
        domain => format!("{domain}.{}", node.operator),
    };
    OnnxProblem::Operator { operator, node: place.into() }
}
