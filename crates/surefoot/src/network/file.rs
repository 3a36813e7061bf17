//! Networks in safetensors files: `<prefix>layer<j>.weight` and `<prefix>layer<j>.bias`.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::Path;

use ndarray::{Array1, Array2};
use safetensors::SafeTensorError;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use super::{Activation, Layer, Network};
use crate::error::FileError;
use crate::error::FileProblem;
use crate::file::{self, Audience, write_atomically};
use crate::{Error, Result};

impl Network {
    /// Reads a network; weights may be doubles or floats. The prefix, for example `node3.`, is for files
    /// that hold several networks. If the file names the activation of the network, it must be this one.
    pub fn read(path: impl AsRef<Path>, prefix: &str, activation: Activation) -> Result<Self> {
        let path = path.as_ref();
        Self::read_opened(path, file::open(path), prefix, activation)
    }

    /// Reads a network from a file that the caller has opened, or reports why it could not.
    pub(crate) fn read_opened(
        path: &Path,
        opened: io::Result<File>,
        prefix: &str,
        activation: Activation,
    ) -> Result<Self> {
        let fault = |problem| Error::File(FileError::File { path: path.into(), problem });
        let bytes = opened.and_then(file::read_whole);
        let bytes = bytes.map_err(|error| fault(FileProblem::Read(error.into())))?;
        from_safetensors(&bytes, prefix, activation).map_err(fault)
    }

    /// Reads a network from the bytes of a file.
    ///
    /// # Errors
    /// If they are not a safetensors file or lack a tensor of the network.
    pub fn from_safetensors(bytes: &[u8], prefix: &str, activation: Activation) -> Result<Self, FileProblem> {
        from_safetensors(bytes, prefix, activation)
    }

    /// Writes networks as doubles, each under its prefix (`""` for a single one), atomically.
    pub fn write(path: impl AsRef<Path>, networks: &[(&str, &Network)]) -> Result<()> {
        let path = path.as_ref();
        let fault = |problem| Error::File(FileError::File { path: path.into(), problem });
        let bytes =
            to_safetensors(networks).map_err(|error| fault(FileProblem::Format(error.to_string())))?;
        let written = write_atomically(path, &bytes, Audience::Umask);
        written.map_err(|error| fault(FileProblem::Write(error.kind())))
    }
}

fn name(activation: Activation) -> &'static str {
    match activation {
        Activation::Tanh => "tanh",
        Activation::Relu => "relu",
        Activation::Sigmoid => "sigmoid",
    }
}

fn to_safetensors(networks: &[(&str, &Network)]) -> Result<Vec<u8>, SafeTensorError> {
    let mut tensors: Vec<(String, Vec<usize>, Vec<u8>)> = Vec::new();
    let mut metadata = HashMap::new();
    for (prefix, network) in networks {
        metadata.insert(format!("{prefix}activation"), name(network.activation).to_owned());
        for (number, layer) in network.layers().iter().enumerate() {
            let (outputs, inputs) = layer.weight.dim();
            let bytes =
                |values: &mut dyn Iterator<Item = &f64>| values.flat_map(|v| v.to_le_bytes()).collect();
            let tensor = |kind: &str| format!("{prefix}layer{number}.{kind}");
            tensors.push((tensor("weight"), vec![outputs, inputs], bytes(&mut layer.weight.iter())));
            tensors.push((tensor("bias"), vec![outputs], bytes(&mut layer.bias.iter())));
        }
    }
    let views = tensors.iter().map(|(name, shape, bytes)| {
        TensorView::new(Dtype::F64, shape.clone(), bytes).map(|view| (name.as_str(), view))
    });
    safetensors::serialize(views.collect::<Result<Vec<_>, _>>()?, Some(metadata))
}

fn from_safetensors(bytes: &[u8], prefix: &str, activation: Activation) -> Result<Network, FileProblem> {
    let malformed = |error: SafeTensorError| FileProblem::Format(error.to_string());
    let (_, header) = SafeTensors::read_metadata(bytes).map_err(malformed)?;
    let tensors = SafeTensors::deserialize(bytes).map_err(malformed)?;
    let written =
        header.metadata().as_ref().and_then(|metadata| metadata.get(&format!("{prefix}activation")));
    if let Some(other) = written.filter(|other| *other != name(activation)) {
        return Err(FileProblem::Activation(other.clone()));
    }
    // All tensors of layers are counted, so that a gap is not mistaken for the end.
    let start = format!("{prefix}layer");
    let number = |name: &&str| name.strip_prefix(&start)?.split('.').next()?.parse::<usize>().ok();
    let names = tensors.names();
    let count = names.iter().filter_map(number).max().map_or(1, |last| last.saturating_add(1));
    let tensor = |name: String, dimensions: usize| {
        let tensor = tensors.tensor(&name).map_err(|_| FileProblem::Missing(name.clone()))?;
        if tensor.shape().len() != dimensions {
            return Err(FileProblem::Shape(name));
        }
        Ok(tensor)
    };
    let layer = |number: usize| {
        let weight = tensor(format!("{start}{number}.weight"), 2)?;
        let bias = tensor(format!("{start}{number}.bias"), 1)?;
        let shape = (weight.shape()[0], weight.shape()[1]);
        let weight = Array2::from_shape_vec(shape, numbers(&weight)?)
            .map_err(|_| FileProblem::Shape(format!("{start}{number}.weight")))?;
        Ok(Layer { weight, bias: Array1::from(numbers(&bias)?) })
    };
    let layers = (0..count).map(layer).collect::<Result<Vec<_>, FileProblem>>()?;
    Network::new(layers, activation).map_err(|error| FileProblem::Network(error.to_string()))
}

fn numbers(tensor: &TensorView<'_>) -> Result<Vec<f64>, FileProblem> {
    let data = tensor.data();
    match tensor.dtype() {
        Dtype::F64 => Ok(data.as_chunks().0.iter().map(|&bytes| f64::from_le_bytes(bytes)).collect()),
        Dtype::F32 => Ok(data.as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes).into()).collect()),
        other => Err(FileProblem::Numbers(format!("{other:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    fn network() -> Network {
        let first = Layer { weight: array![[1.0, -2.0], [0.5, 0.25]], bias: array![0.1, -0.3] };
        let second = Layer { weight: array![[2.0, -1.0]], bias: array![0.7] };
        Network::new(vec![first, second], Activation::Tanh).unwrap()
    }

    #[test]
    fn what_is_written_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.safetensors");
        let layer = Layer { weight: array![[3.0]], bias: array![1.0] };
        let other = Network::new(vec![layer], Activation::Relu).unwrap();
        Network::write(&path, &[("node3.", &network()), ("node4.", &other)]).unwrap();
        assert_eq!(Network::read(&path, "node3.", Activation::Tanh).unwrap(), network());
        assert_eq!(Network::read(&path, "node4.", Activation::Relu).unwrap(), other);
        // Nothing else is left in the folder.
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        let problem = |prefix: &str, activation| match Network::read(&path, prefix, activation) {
            Err(Error::File(FileError::File { problem, .. })) => problem,
            other => panic!("{other:?}"),
        };
        assert_eq!(problem("", Activation::Tanh), FileProblem::Missing("layer0.weight".into()));
        assert_eq!(problem("node3.", Activation::Relu), FileProblem::Activation("tanh".into()));
    }

    #[test]
    fn files_that_are_no_networks_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.safetensors");
        let read = || match Network::read(&path, "", Activation::Tanh) {
            Err(Error::File(FileError::File { problem, .. })) => problem,
            other => panic!("{other:?}"),
        };
        assert!(matches!(read(), FileProblem::Read(_)));
        Network::write(&path, &[("", &network())]).unwrap();
        let whole = std::fs::read(&path).unwrap();
        for length in [0, 5, 20, whole.len() - 1] {
            std::fs::write(&path, &whole[..length]).unwrap();
            assert!(matches!(read(), FileProblem::Format(_)), "{length}");
        }
        let nowhere = Network::write(folder.path().join("no/such/folder"), &[("", &network())]).unwrap_err();
        assert!(matches!(nowhere, Error::File(FileError::File { problem: FileProblem::Write(_), .. })));

        // One tensor at a time is renamed, reshaped or of another type.
        let save = |tensors: &[(&'static str, Dtype, &[usize], usize)]| {
            let bytes = vec![0u8; 1000];
            let view = |&(name, dtype, shape, length): &(&'static str, Dtype, &[usize], usize)| {
                (name, TensorView::new(dtype, shape.to_vec(), &bytes[..length]).unwrap())
            };
            let views: Vec<_> = tensors.iter().map(view).collect();
            std::fs::write(&path, safetensors::serialize(views, None).unwrap()).unwrap();
        };
        let weight = ("layer0.weight", Dtype::F32, &[1, 2][..], 8);
        save(&[weight, ("layer0.bias", Dtype::F32, &[1], 4)]);
        assert!(Network::read(&path, "", Activation::Tanh).is_ok());
        save(&[weight, ("layer0.bias", Dtype::I32, &[1], 4)]);
        assert!(matches!(read(), FileProblem::Numbers(_)));
        save(&[weight, ("layer0.bias", Dtype::F32, &[1, 1], 4)]);
        assert!(matches!(read(), FileProblem::Shape(_)));
        save(&[weight, ("layer0.bias", Dtype::F32, &[1], 4), ("layer2.bias", Dtype::F32, &[1], 4)]);
        assert_eq!(read(), FileProblem::Missing("layer1.weight".into()));
        save(&[weight, ("layer0.bias", Dtype::F32, &[2], 8)]);
        assert!(matches!(read(), FileProblem::Network(_)));
    }
}
