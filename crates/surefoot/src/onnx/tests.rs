//! Models in the layouts of skl2onnx and PyTorch, made by hand, and models that are refused.

mod file_tests;

use proptest::prelude::*;
use prost::Message;

use super::message::*;
use super::*;
use crate::Classifier;

fn tensor(name: &str, dimensions: &[i64], numbers: &[f32]) -> TensorMessage {
    TensorMessage {
        name: name.into(),
        dimensions: dimensions.to_vec(),
        data_type: data_type::FLOAT,
        floats: numbers.to_vec(),
        ..Default::default()
    }
}

fn node(operator: &str, inputs: &[&str], outputs: &[&str]) -> Node {
    let words = |words: &[&str]| words.iter().map(|&word| word.into()).collect();
    Node { operator: operator.into(), inputs: words(inputs), outputs: words(outputs), ..Default::default() }
}

fn classical(operator: &str, inputs: &[&str], outputs: &[&str]) -> Node {
    Node { domain: "ai.onnx.ml".into(), ..node(operator, inputs, outputs) }
}

impl Node {
    fn floats(mut self, name: &str, floats: &[f32]) -> Self {
        self.attributes.push(Attribute { name: name.into(), floats: floats.to_vec(), ..Default::default() });
        self
    }

    fn wholes(mut self, name: &str, wholes: &[i64]) -> Self {
        self.attributes.push(Attribute { name: name.into(), wholes: wholes.to_vec(), ..Default::default() });
        self
    }

    fn whole(mut self, name: &str, whole: i64) -> Self {
        self.attributes.push(Attribute { name: name.into(), whole, ..Default::default() });
        self
    }

    fn float(mut self, name: &str, float: f32) -> Self {
        self.attributes.push(Attribute { name: name.into(), float, ..Default::default() });
        self
    }

    fn text(mut self, name: &str, text: &str) -> Self {
        self.attributes.push(Attribute { name: name.into(), text: text.into(), ..Default::default() });
        self
    }
}

fn value(name: &str, data_type: i32, width: Option<i64>) -> ValueInfo {
    let dimensions = vec![Dimension { size: None }, Dimension { size: width }];
    let tensor = Some(TensorKind { data_type, shape: Some(Shape { dimensions }) });
    ValueInfo { name: name.into(), kind: Some(Kind { tensor }) }
}

/// A model of the input `x` with two columns.
fn model(nodes: Vec<Node>, initializers: Vec<TensorMessage>, outputs: &[(&str, i32)]) -> Model {
    let inputs = vec![value("x", data_type::FLOAT, Some(2))];
    let outputs = outputs.iter().map(|&(name, kind)| value(name, kind, None)).collect();
    Model { graph: Some(Graph { nodes, initializers, inputs, outputs }) }
}

fn read(model: &Model) -> Result<Network, OnnxProblem> {
    network(&model.encode_to_vec(), None)
}

const POINTS: [[f64; 2]; 4] = [[0.0, 0.0], [1.5, -0.5], [-2.0, 3.0], [10.0, 0.25]];

fn assert_gives(network: &Network, logit: impl Fn([f64; 2]) -> f64) {
    for x in POINTS {
        let (found, expected) = (network.value(&x), logit(x));
        assert!(
            (found - expected).abs() < 1e-12 * expected.abs().max(1.0),
            "at {x:?}: {found}, not {expected}"
        );
    }
}

/// The regression `z = 0.75 x + 2 y - 0.5` behind the scaler `(x - 3) * 2, (y + 1) * 0.5`.
fn regression(post_transform: &str) -> Model {
    let scaler =
        classical("Scaler", &["x"], &["scaled"]).floats("offset", &[3.0, -1.0]).floats("scale", &[2.0, 0.5]);
    let linear = classical("LinearClassifier", &["scaled"], &["label", "raw"])
        .floats("coefficients", &[-0.75, -2.0, 0.75, 2.0])
        .floats("intercepts", &[0.5, -0.5])
        .wholes("classlabels_ints", &[0, 1])
        .text("post_transform", post_transform);
    let normalizer = classical("Normalizer", &["raw"], &["probabilities"]).text("norm", "L1");
    let cast = node("Cast", &["label"], &["output_label"]).whole("to", 7);
    let mut zipped = value("output_probability", 0, None);
    zipped.kind = Some(Kind { tensor: None });
    let zip = classical("ZipMap", &["probabilities"], &["output_probability"]);
    let nodes = vec![scaler, linear, normalizer, cast, zip];
    let mut model = model(nodes, vec![], &[("output_label", data_type::INT64)]);
    model.graph.as_mut().unwrap().outputs.push(zipped);
    model
}

#[test]
fn a_logistic_regression_in_attributes() {
    let logit = |[x, y]: [f64; 2]| 0.75 * (x - 3.0) * 2.0 + 2.0 * (y + 1.0) * 0.5 - 0.5;
    assert_gives(&read(&regression("LOGISTIC")).unwrap(), logit);
    // A softmax of two opposite scores doubles the slope.
    assert_gives(&read(&regression("SOFTMAX")).unwrap(), |x| 2.0 * logit(x));
    let mut single = regression("LOGISTIC");
    let linear = &mut single.graph.as_mut().unwrap().nodes[1];
    linear.attributes[0].floats = vec![0.75, 2.0];
    linear.attributes[1].floats = vec![-0.5];
    assert_gives(&read(&single).unwrap(), logit);
    // The decision alone is enough.
    single.graph.as_mut().unwrap().outputs.truncate(1);
    assert_gives(&read(&single).unwrap(), logit);
    let classifier = Classifier::network(read(&single).unwrap(), 0.5).unwrap();
    assert!(classifier.coefficients().is_ok(), "it is linear");
}

#[test]
fn a_logistic_regression_in_tensors() {
    // As in files with doubles: probabilities by sigmoid, then divided by their sum.
    let double = |name: &str, dimensions: &[i64], numbers: &[f64]| TensorMessage {
        data_type: data_type::DOUBLE,
        doubles: numbers.to_vec(),
        ..tensor(name, dimensions, &[])
    };
    let axis = TensorMessage { data_type: data_type::INT64, wholes: vec![1], ..tensor("axis", &[1], &[]) };
    let initializers = vec![
        double("mean", &[2], &[3.0, -1.0]),
        double("std", &[2], &[0.5, 2.0]),
        double("coef", &[2, 2], &[-0.3, 0.3, -0.7, 0.7]),
        double("intercept", &[1, 2], &[0.1, -0.1]),
        axis,
    ];
    let nodes = vec![
        node("Sub", &["x", "mean"], &["centred"]),
        node("Div", &["centred", "std"], &["scaled"]),
        node("MatMul", &["scaled", "coef"], &["multiplied"]),
        node("Add", &["multiplied", "intercept"], &["raw"]),
        node("ArgMax", &["raw"], &["label"]).whole("axis", 1),
        node("Sigmoid", &["raw"], &["sigmoid"]),
        node("Abs", &["sigmoid"], &["abs"]),
        node("ReduceSum", &["abs", "axis"], &["norm"]).whole("keepdims", 1),
        node("Div", &["sigmoid", "norm"], &["probabilities"]),
    ];
    let outputs = [("label", data_type::INT64), ("probabilities", data_type::DOUBLE)];
    let network = read(&model(nodes, initializers, &outputs)).unwrap();
    assert_gives(&network, |[x, y]| 0.3 * (x - 3.0) / 0.5 + 0.7 * (y + 1.0) / 2.0 - 0.1);
}

/// An MLPClassifier with one hidden layer of three units.
fn perceptron(activation: &str) -> Model {
    let nodes = vec![
        node("Cast", &["x"], &["cast"]).whole("to", 1),
        node("MatMul", &["cast", "w1"], &["m1"]),
        node("Add", &["m1", "b1"], &["a1"]),
        node(activation, &["a1"], &["h1"]),
        node("MatMul", &["h1", "w2"], &["m2"]),
        node("Add", &["m2", "b2"], &["a2"]),
        node("Sigmoid", &["a2"], &["p"]),
        node("Sub", &["one", "p"], &["q"]),
        node("Concat", &["q", "p"], &["probabilities"]).whole("axis", 1),
        node("ArgMax", &["probabilities"], &["best"]).whole("axis", 1),
        classical("ArrayFeatureExtractor", &["classes", "best"], &["class"]),
        node("Reshape", &["class", "shape"], &["label"]),
    ];
    let initializers = vec![
        tensor("w1", &[2, 3], &[0.5, -1.0, 2.0, 0.25, 1.5, -0.75]),
        tensor("b1", &[1, 3], &[0.125, -0.5, 1.0]),
        tensor("w2", &[3, 1], &[1.0, -2.0, 0.5]),
        tensor("b2", &[1, 1], &[0.25]),
        tensor("one", &[], &[1.0]),
        // Texts, which are ignored.
        TensorMessage { data_type: 8, ..tensor("classes", &[2], &[]) },
        TensorMessage { data_type: data_type::INT64, wholes: vec![-1], ..tensor("shape", &[1], &[]) },
    ];
    model(nodes, initializers, &[("label", data_type::INT64), ("probabilities", data_type::FLOAT)])
}

fn perceptron_by_hand(s: fn(f64) -> f64) -> impl Fn([f64; 2]) -> f64 {
    move |[x, y]| {
        let hidden = [0.5 * x + 0.25 * y + 0.125, -x + 1.5 * y - 0.5, 2.0 * x - 0.75 * y + 1.0].map(s);
        hidden[0] - 2.0 * hidden[1] + 0.5 * hidden[2] + 0.25
    }
}

#[test]
fn a_perceptron_of_scikit_learn() {
    for (operator, s) in [
        ("Relu", (|z: f64| z.max(0.0)) as fn(f64) -> f64),
        ("Tanh", f64::tanh),
        ("Sigmoid", crate::network::sigmoid),
    ] {
        let network = read(&perceptron(operator)).unwrap();
        assert_eq!((network.layers().len(), network.inputs()), (2, 2));
        assert_gives(&network, perceptron_by_hand(s));
    }
}

/// The same network as PyTorch writes it, up to its logit.
fn sequential(weights: impl Fn(TensorMessage) -> TensorMessage) -> (Vec<Node>, Vec<TensorMessage>) {
    let nodes = vec![
        node("Flatten", &["x"], &["flat"]).whole("axis", 1),
        node("Gemm", &["flat", "0.weight", "0.bias"], &["g0"])
            .float("alpha", 0.5)
            .float("beta", 2.0)
            .whole("transB", 1),
        node("Tanh", &["g0"], &["h0"]),
        node("Dropout", &["h0"], &["d0"]),
        node("Gemm", &["d0", "2.weight", "2.bias"], &["logit"]).float("alpha", 1.0).float("beta", 1.0),
    ];
    let initializers = vec![
        weights(tensor("0.weight", &[3, 2], &[1.0, 0.5, -2.0, 3.0, 4.0, -1.5])),
        weights(tensor("0.bias", &[3], &[0.0625, -0.25, 0.5])),
        weights(tensor("2.weight", &[3, 1], &[1.0, -2.0, 0.5])),
        weights(tensor("2.bias", &[1], &[0.25])),
    ];
    (nodes, initializers)
}

#[test]
fn a_sequential_network_of_pytorch_however_it_ends() {
    let ends = [
        ("logit", vec![]),
        ("p", vec![node("Sigmoid", &["logit"], &["p"])]),
        ("flat_p", vec![node("Sigmoid", &["logit"], &["p"]), node("Squeeze", &["p", "axis"], &["flat_p"])]),
        (
            "q",
            vec![
                node("Neg", &["logit"], &["n"]),
                node("Sigmoid", &["n"], &["p"]),
                node("Sub", &["one", "p"], &["q"]),
            ],
        ),
        ("pair", vec![node("Mul", &["logit", "zero_one"], &["pair"])]),
        ("soft", vec![node("Mul", &["logit", "zero_one"], &["pair"]), node("Softmax", &["pair"], &["soft"])]),
    ];
    for (output, more) in ends {
        let (mut nodes, mut initializers) = sequential(|tensor| tensor);
        nodes.extend(more);
        initializers.push(tensor("one", &[1], &[1.0]));
        if output == "pair" || output == "soft" {
            // Two logits of one layer: half of the logit with either sign, plus 1 on the first.
            nodes[5] = node("Gemm", &["logit", "halves", "shift"], &["pair"]);
            initializers.push(tensor("halves", &[1, 2], &[-0.5, 0.5]));
            initializers.push(tensor("shift", &[2], &[1.0, 0.0]));
        }
        let network = read(&model(nodes, initializers, &[(output, data_type::FLOAT)])).unwrap();
        let logit = perceptron_by_hand(f64::tanh);
        assert_eq!(network.layers().len(), 2, "{output}");
        let shift = if output == "pair" || output == "soft" { 1.0 } else { 0.0 };
        assert_gives(&network, |x| logit(x) - shift);
    }
}

#[test]
fn numbers_wherever_they_stand() {
    let as_raw = |tensor: TensorMessage| TensorMessage {
        raw: tensor.floats.iter().flat_map(|number| number.to_le_bytes()).collect(),
        floats: vec![],
        ..tensor
    };
    let as_double = |tensor: TensorMessage| TensorMessage {
        data_type: data_type::DOUBLE,
        doubles: tensor.floats.iter().map(|&number| number.into()).collect(),
        floats: vec![],
        ..tensor
    };
    let as_raw_double = |tensor: TensorMessage| TensorMessage {
        data_type: data_type::DOUBLE,
        raw: tensor.floats.iter().flat_map(|&number| f64::from(number).to_le_bytes()).collect(),
        floats: vec![],
        ..tensor
    };
    let plain = |tensor: TensorMessage| tensor;
    let ways: [&dyn Fn(TensorMessage) -> TensorMessage; 4] = [&plain, &as_raw, &as_double, &as_raw_double];
    for way in ways {
        let (nodes, initializers) = sequential(way);
        let network = read(&model(nodes, initializers, &[("logit", data_type::FLOAT)])).unwrap();
        assert_gives(&network, perceptron_by_hand(f64::tanh));
    }
    // A reshape to the number of columns is accepted; to another number or to absurdly many it is refused.
    let viewed = |shape: &[i64]| {
        let (mut nodes, mut initializers) = sequential(plain);
        nodes[0] = node("Reshape", &["x", "shape"], &["flat"]);
        initializers.push(TensorMessage {
            data_type: data_type::INT64,
            wholes: shape.to_vec(),
            ..tensor("shape", &[shape.len() as i64], &[])
        });
        read(&model(nodes, initializers, &[("logit", data_type::FLOAT)]))
    };
    for shape in [[-1, 2], [0, -1], [-1, 0]] {
        assert_gives(&viewed(&shape).unwrap(), perceptron_by_hand(f64::tanh));
    }
    for shape in [&[-1, 1][..], &[2, -1], &[-1], &[-1, 1, 2], &[-1, 1 << 40]] {
        assert!(viewed(shape).is_err(), "{shape:?}");
    }
    // Weights by `Constant` nodes, and as in old files, whose weights are among the inputs.
    let (mut nodes, mut initializers) = sequential(plain);
    let bias = initializers.pop().unwrap();
    let constant = Attribute { name: "value".into(), tensor: Some(bias), ..Default::default() };
    let mut constant = Node { attributes: vec![constant], ..node("Constant", &[], &["2.bias"]) };
    constant.name = "a bias".into();
    nodes.insert(0, constant);
    nodes[2] = node("MatMul", &["flat", "turned"], &["g"]);
    nodes.insert(2, node("Transpose", &["0.weight"], &["turned"]).wholes("perm", &[1, 0]));
    nodes.insert(4, node("Mul", &["g", "half"], &["halved"]));
    nodes.insert(5, node("Add", &["halved", "bias"], &["g0"]));
    initializers.extend([tensor("half", &[], &[0.5]), tensor("bias", &[3], &[0.125, -0.5, 1.0])]);
    let mut old = model(nodes, initializers, &[("logit", data_type::FLOAT)]);
    let graph = old.graph.as_mut().unwrap();
    graph.inputs.push(value("0.weight", data_type::FLOAT, Some(2)));
    assert_gives(&read(&old).unwrap(), perceptron_by_hand(f64::tanh));
}

#[test]
fn what_is_not_understood_is_refused_by_name() {
    let refused = |change: &dyn Fn(&mut Graph), words: &[&str]| {
        let mut model = perceptron("Tanh");
        change(model.graph.as_mut().unwrap());
        let message = read(&model).unwrap_err().to_string();
        assert!(words.iter().all(|word| message.contains(word)), "{message} lacks one of {words:?}");
    };
    let rename =
        |graph: &mut Graph, number: usize, operator: &str| graph.nodes[number].operator = operator.into();
    refused(&|graph| rename(graph, 3, "Gelu"), &["`Gelu`", "`h1`", "not understood"]);
    refused(
        &|graph| {
            rename(graph, 3, "Gelu");
            graph.nodes[3].name = "layer/1".into();
        },
        &["node `layer/1`"],
    );
    refused(&|graph| graph.nodes[1].domain = "com.example".into(), &["`com.example.MatMul`"]);
    refused(&|graph| rename(graph, 6, "Relu"), &["`Relu` follows layers with `Tanh`"]);
    refused(
        &|graph| {
            rename(graph, 6, "Relu");
            graph.outputs = vec![value("p", 1, None)];
        },
        &["`p`", "neither a logit nor"],
    );
    refused(&|graph| rename(graph, 3, "Softmax"), &["3 columns"]);
    refused(&|graph| graph.nodes[0].attributes[0].whole = 7, &["`Cast`", "loses digits"]);
    refused(&|graph| graph.nodes[1].inputs.truncate(1), &["`MatMul`", "1 inputs where 2"]);
    refused(&|graph| graph.nodes[1].inputs[1] = "w9".into(), &["takes `w9`"]);
    refused(&|graph| graph.nodes[5].inputs[1] = "p".into(), &["takes `p`"]);
    refused(&|graph| graph.nodes[5].inputs[1] = "a1".into(), &["`Add`", "neither is a constant"]);
    refused(&|graph| graph.nodes[4].inputs = vec!["w2".into(), "w1".into()], &["`MatMul`", "constants"]);
    refused(&|graph| graph.nodes[8].attributes[0].whole = 0, &["`Concat`", "`axis` = 0"]);
    refused(&|graph| graph.nodes[5].inputs[0] = "best".into(), &["takes `best`"]);
    refused(&|graph| graph.initializers[0].dimensions = vec![3, 2], &["`Add`", "[1, 3]"]);
    refused(&|graph| graph.initializers[0].dimensions = vec![2, 2], &["tensor `w1`", "6 numbers"]);
    refused(&|graph| graph.initializers[0].dimensions = vec![-2, -3], &["tensor `w1`"]);
    refused(&|graph| graph.initializers[0].dimensions = vec![1 << 40, 1 << 40], &["tensor `w1`"]);
    refused(&|graph| graph.initializers[0].dimensions = vec![6], &["`MatMul`", "[6]"]);
    refused(&|graph| graph.initializers[0].data_type = 10, &["tensor `w1`", "type 10"]);
    refused(&|graph| graph.initializers[0].floats[3] = f32::NAN, &["NaN"]);
    refused(&|graph| graph.initializers[2] = tensor("w2", &[3, 3], &[1.0; 9]), &["6 columns"]);
    refused(&|graph| graph.inputs.push(value("y", 1, None)), &["2 inputs", "`x` and `y`"]);
    refused(&|graph| graph.inputs[0] = value("x", 1, Some(3)), &["3 columns", "takes 2"]);
    refused(&|graph| graph.outputs.clear(), &["no output"]);
    refused(&|graph| graph.outputs = vec![value("z", 1, None)], &["`z`", "neither"]);
    refused(&|graph| graph.outputs = vec![value("h1", 1, None)], &["`h1`", "3 columns"]);
    refused(&|graph| graph.outputs = vec![value("x", 1, None)], &["`x`", "neither"]);

    refused(
        &|graph| graph.initializers[0] = tensor("w1", &[1 << 40, 0], &[]),
        &["`MatMul`", "1099511627776"],
    );

    let plain = |transform: &str| read(&regression(transform)).unwrap_err().to_string();
    assert!(plain("NONE").contains("raw scores"));
    assert!(plain("PROBIT").contains("`post_transform` = PROBIT"));
    let mut three = regression("LOGISTIC");
    three.graph.as_mut().unwrap().nodes[1].attributes[2].wholes.push(2);
    assert!(read(&three).unwrap_err().to_string().contains("3 columns"));
    // Two probabilities that need not sum to one.
    let mut apart = regression("LOGISTIC");
    apart.graph.as_mut().unwrap().nodes[1].attributes[1].floats[0] = 0.6;
    assert!(read(&apart).unwrap_err().to_string().contains("`Normalizer`"));
    let mixed = {
        let (mut nodes, mut initializers) = sequential(|tensor| tensor);
        nodes.extend([node("Relu", &["logit"], &["h1"]), node("MatMul", &["h1", "w"], &["end"])]);
        initializers.push(tensor("w", &[1, 1], &[2.0]));
        read(&model(nodes, initializers, &[("end", data_type::FLOAT)])).unwrap_err().to_string()
    };
    assert!(mixed.contains("`Relu` follows layers with `Tanh`"), "{mixed}");
    let (mut nodes, initializers) = sequential(|tensor| tensor);
    nodes[1] = nodes[1].clone().whole("transA", 1);
    let turned = read(&model(nodes, initializers, &[("logit", data_type::FLOAT)])).unwrap_err().to_string();
    assert!(turned.contains("`transA` = 1"), "{turned}");
}
