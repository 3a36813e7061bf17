//! Models and weights in files.

use super::*;
use crate::problem::{ClassifierForm, OnnxFile, ProblemFile};

#[test]
fn weights_in_a_file_beside_the_model() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.onnx");
    let write = |location: &str, offset: &str, length: &str| {
        let (nodes, mut initializers) = sequential(|tensor| tensor);
        let bytes: Vec<u8> = initializers[0].floats.iter().flat_map(|number| number.to_le_bytes()).collect();
        std::fs::write(folder.path().join("model.onnx.data"), [&[7; 16][..], &bytes].concat()).unwrap();
        let entry = |key: &str, value: &str| Entry { key: key.into(), value: value.into() };
        initializers[0].floats.clear();
        initializers[0].location = 1;
        initializers[0].external =
            vec![entry("location", location), entry("offset", offset), entry("length", length)];
        let bytes = model(nodes, initializers, &[("logit", data_type::FLOAT)]).encode_to_vec();
        std::fs::write(&path, &bytes).unwrap();
        (Network::read_onnx(&path), bytes)
    };
    let (network, bytes) = write("model.onnx.data", "16", "24");
    assert_gives(&network.unwrap(), perceptron_by_hand(f64::tanh));
    // Bytes alone have no folder in which the file could be.
    let message = Network::from_onnx(&bytes).unwrap_err().to_string();
    assert!(message.contains("`0.weight`") && message.contains("external_data=False"), "{message}");
    for (location, offset, length, word) in [
        ("../model.onnx.data", "16", "24", "not beside"),
        ("/etc/passwd", "0", "24", "not beside"),
        ("..", "0", "24", "not beside"),
        ("", "0", "24", "not beside"),
        ("other", "16", "24", "cannot be read"),
        ("model.onnx.data", "17", "24", "too short"),
        ("model.onnx.data", "18446744073709551615", "24", "too short"),
        ("model.onnx.data", "x", "24", "no number"),
        ("model.onnx.data", "16", "23", "numbers"),
    ] {
        let message = write(location, offset, length).0.unwrap_err().to_string();
        assert!(message.contains("model.onnx: ") && message.contains("`0.weight`"), "{message}");
        assert!(message.contains(word), "{location}: {message}");
    }
}

#[test]
fn weights_through_links() {
    use std::os::unix::fs::symlink;
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    for name in ["problem/models", "elsewhere", "problem/kept"] {
        std::fs::create_dir_all(at(name)).unwrap();
    }
    let (nodes, mut initializers) = sequential(|tensor| tensor);
    let weights: Vec<u8> = initializers[0].floats.drain(..).flat_map(|number| number.to_le_bytes()).collect();
    initializers[0].location = 1;
    initializers[0].external = vec![Entry { key: "location".into(), value: "data".into() }];
    let bytes = model(nodes, initializers, &[("logit", data_type::FLOAT)]).encode_to_vec();
    std::fs::write(at("problem/models/model.onnx"), &bytes).unwrap();
    std::fs::write(at("elsewhere/data"), &weights).unwrap();
    std::fs::write(at("problem/kept/data"), &weights).unwrap();
    let data = at("problem/models/data");
    let folders = [ModelFolder::new(at("problem")), ModelFolder::confined(at("problem"))];
    let named = Path::new("models/model.onnx");
    let read = || folders.each_ref().map(|folder| Network::read_onnx_in(folder, named));
    std::fs::write(&data, &weights).unwrap();
    assert!(read().iter().all(Result::is_ok));
    assert_eq!(external_files(&folders[0], named), [Path::new("models/data")]);
    // Another folder is refused even if it is within that of the problem.
    for target in ["../../elsewhere/data", "../kept/data"] {
        std::fs::remove_file(&data).unwrap();
        symlink(target, &data).unwrap();
        for read in read() {
            let message = read.unwrap_err().to_string();
            assert!(message.contains("`data`, which is a link that leads to another folder"), "{message}");
        }
    }
    // If the model is a link, its folder is that of the target.
    std::fs::remove_file(at("problem/models/model.onnx")).unwrap();
    std::fs::write(at("problem/kept/0123"), &bytes).unwrap();
    symlink("../kept/0123", at("problem/models/model.onnx")).unwrap();
    assert!(read().iter().all(Result::is_ok));
    std::fs::rename(at("problem/kept"), at("kept")).unwrap();
    for name in ["model.onnx", "data"] {
        let target = std::fs::read_link(at("problem/models").join(name)).unwrap();
        std::fs::remove_file(at("problem/models").join(name)).unwrap();
        symlink(Path::new("..").join(target), at("problem/models").join(name)).unwrap();
    }
    let [any, confined] = read();
    assert!(any.is_ok());
    let message = confined.unwrap_err().to_string();
    assert!(message.contains("outside the folder of the problem file"), "{message}");
}

#[test]
fn a_classifier_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.onnx");
    std::fs::write(&path, perceptron("Relu").encode_to_vec()).unwrap();
    let classifier = Classifier::from_onnx(&path, 0.5).unwrap();
    let logit = perceptron_by_hand(|z| z.max(0.0));
    assert!((classifier.score(&[1.0, 2.0]) - logit([1.0, 2.0])).abs() < 1e-12);
    std::fs::write(&path, "no model at all, but a text").unwrap();
    let message = Classifier::from_onnx(&path, 0.5).unwrap_err().to_string();
    assert!(message.contains("is no whole ONNX file"), "{message}");
    let message = Classifier::from_onnx(folder.path().join("none.onnx"), 0.5).unwrap_err().to_string();
    assert!(message.contains("none.onnx: cannot be read"), "{message}");
}

#[test]
fn a_model_beside_a_problem_file_in_either_units() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("model.onnx"), perceptron("Tanh").encode_to_vec()).unwrap();
    let classifier = |more: &str| {
        let feature =
            |name: &str, mean: f64| format!("[[feature]]\nname = \"{name}\"\nmean = {mean}\nstd = 4\n");
        let features = feature("a", 3.0) + &feature("b", -1.0);
        let text = format!("epsilon = 0\n{features}[classifier]\nonnx = \"model.onnx\"\n{more}");
        let file = ProblemFile::parse(&text, &folder.path().join("problem.toml")).unwrap();
        let form = file.classifier_entry().unwrap().form.clone();
        assert_eq!(form, ClassifierForm::Onnx(OnnxFile { path: "model.onnx".into() }));
        file.classifier().unwrap().unwrap().clone()
    };
    let logit = perceptron_by_hand(f64::tanh);
    let (standardised, raw) = (classifier(""), classifier("inputs = \"raw\"\nthreshold = 0.75\n"));
    for x in POINTS {
        assert!((standardised.score(&x) - logit(x)).abs() < 1e-12);
        let own = [3.0 + 4.0 * x[0], -1.0 + 4.0 * x[1]];
        assert!((raw.score(&x) - (logit(own) - 3f64.ln())).abs() < 1e-12);
    }
}

proptest! {
    /// A damaged file is an error or another model, never a panic or a huge allocation.
    #[test]
    fn damaged_files_never_panic(
        which in 0usize..3,
        cut in any::<prop::sample::Index>(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        truncate in any::<bool>(),
    ) {
        let whole = match which {
            0 => regression("LOGISTIC"),
            1 => perceptron("Tanh"),
            _ => {
                let (nodes, initializers) = sequential(|tensor| tensor);
                model(nodes, initializers, &[("logit", data_type::FLOAT)])
            }
        };
        let mut bytes = whole.encode_to_vec();
        for (place, byte) in flips {
            let place = place.index(bytes.len());
            bytes[place] ^= byte;
        }
        if truncate {
            bytes.truncate(cut.index(bytes.len()));
        }
        let _ = network(&bytes, None);
    }
}

#[test]
fn a_small_file_cannot_make_large_matrices() {
    let wide = 100_000;
    let nodes = vec![node("MatMul", &["x", "down"], &["one"]), node("MatMul", &["one", "up"], &["many"])];
    let initializers = vec![
        tensor("down", &[wide, 1], &vec![1.0; wide as usize]),
        tensor("up", &[1, wide], &vec![1.0; wide as usize]),
    ];
    let mut large = model(nodes, initializers, &[("many", data_type::FLOAT)]);
    large.graph.as_mut().unwrap().inputs[0] = value("x", data_type::FLOAT, None);
    assert!(matches!(read(&large), Err(OnnxProblem::TooLarge { .. })));
    // Many layers in few bytes.
    let mut nodes = vec![node("Add", &["x", "row"], &["v0"])];
    nodes.extend((0..200).map(|i| node("Relu", &[&format!("v{i}")], &[&format!("v{}", i + 1)])));
    let initializers = vec![tensor("row", &[1000], &[0.0; 1000])];
    let mut deep = model(nodes, initializers, &[("v200", data_type::FLOAT)]);
    deep.graph.as_mut().unwrap().inputs[0] = value("x", data_type::FLOAT, None);
    assert!(matches!(read(&deep), Err(OnnxProblem::TooLarge { .. })));
}
