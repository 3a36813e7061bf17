//! Networks in safetensors files: `<prefix>layer<j>.weight` and `<prefix>layer<j>.bias`.

use std::path::Path;

use ndarray::{Array1, Array2};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use super::{Activation, Layer, Network};
use crate::error::FileProblem;
use crate::{Error, Result};

impl Network {
    /// Reads a network; weights may be doubles or floats. The prefix, for example `node3.`, is
    /// for files that hold several networks.
    pub fn read(path: impl AsRef<Path>, prefix: &str, activation: Activation) -> Result<Self> {
        let path = path.as_ref();
        let fault = |problem| Error::File { path: path.into(), problem };
        let bytes = std::fs::read(path).map_err(|error| fault(FileProblem::Read(error.kind())))?;
        Self::from_safetensors(&bytes, prefix, activation).map_err(|error| match error {
            ReadError::File(problem) => fault(problem),
            ReadError::Network(error) => error,
        })
    }

    /// Writes the network as doubles. The file is there whole or not at all.
    pub fn write(&self, path: impl AsRef<Path>, prefix: &str) -> Result<()> {
        let path = path.as_ref();
        let fault = |problem| Error::File { path: path.into(), problem };
        let tensors: Vec<(String, Vec<usize>, Vec<u8>)> = self
            .layers()
            .iter()
            .enumerate()
            .flat_map(|(number, layer)| {
                let (outputs, inputs) = layer.weight.dim();
                let bytes =
                    |values: &mut dyn Iterator<Item = &f64>| values.flat_map(|v| v.to_le_bytes()).collect();
                [
                    (
                        format!("{prefix}layer{number}.weight"),
                        vec![outputs, inputs],
                        bytes(&mut layer.weight.iter()),
                    ),
                    (format!("{prefix}layer{number}.bias"), vec![outputs], bytes(&mut layer.bias.iter())),
                ]
            })
            .collect();
        let malformed = |error: safetensors::SafeTensorError| fault(FileProblem::Format(error.to_string()));
        let views = tensors.iter().map(|(name, shape, bytes)| {
            TensorView::new(Dtype::F64, shape.clone(), bytes)
                .map(|view| (name.as_str(), view))
                .map_err(malformed)
        });
        let views = views.collect::<Result<Vec<_>>>()?;
        let bytes = safetensors::serialize(views, None).map_err(malformed)?;
        // Aside first, then renamed: a full disk leaves no half of a model behind.
        let aside = path.with_extension("partial");
        let written = std::fs::write(&aside, bytes).and_then(|()| std::fs::rename(&aside, path));
        written.map_err(|error| {
            // If it cannot be removed either there is nothing more to be done.
            let _ = std::fs::remove_file(&aside);
            fault(FileProblem::Write(error.kind()))
        })
    }

    fn from_safetensors(bytes: &[u8], prefix: &str, activation: Activation) -> Result<Self, ReadError> {
        let tensors =
            SafeTensors::deserialize(bytes).map_err(|error| FileProblem::Format(error.to_string()))?;
        let mut layers = Vec::new();
        while let Ok(weight) = tensors.tensor(&format!("{prefix}layer{}.weight", layers.len())) {
            let name = format!("{prefix}layer{}.bias", layers.len());
            let bias = tensors.tensor(&name).map_err(|_| FileProblem::Missing(name.clone()))?;
            let shape = || FileProblem::Shape(format!("{prefix}layer{}", layers.len()));
            let &[outputs, inputs] = weight.shape() else { return Err(shape().into()) };
            let weight = Array2::from_shape_vec((outputs, inputs), numbers(&weight)?).map_err(|_| shape())?;
            layers.push(Layer { weight, bias: Array1::from(numbers(&bias)?) });
        }
        if layers.is_empty() {
            return Err(FileProblem::Missing(format!("{prefix}layer0.weight")).into());
        }
        Network::new(layers, activation).map_err(ReadError::Network)
    }
}

/// Something about the file, or about the network in it.
enum ReadError {
    File(FileProblem),
    Network(Error),
}

impl From<FileProblem> for ReadError {
    fn from(problem: FileProblem) -> Self {
        ReadError::File(problem)
    }
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
        network().write(&path, "node3.").unwrap();
        assert_eq!(Network::read(&path, "node3.", Activation::Tanh).unwrap(), network());
        // Nothing else is left in the folder.
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        let other = Network::read(&path, "", Activation::Tanh).unwrap_err();
        assert!(
            matches!(&other, Error::File { problem: FileProblem::Missing(name), .. } if name == "layer0.weight")
        );
    }

    #[test]
    fn files_that_are_no_networks_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.safetensors");
        let read = || Network::read(&path, "", Activation::Tanh).unwrap_err();
        assert!(matches!(read(), Error::File { problem: FileProblem::Read(_), .. }));
        network().write(&path, "").unwrap();
        let whole = std::fs::read(&path).unwrap();
        for length in [0, 5, 20, whole.len() - 1] {
            std::fs::write(&path, &whole[..length]).unwrap();
            assert!(matches!(read(), Error::File { problem: FileProblem::Format(_), .. }), "{length}");
        }
        let nowhere = network().write(folder.path().join("no/such/folder"), "").unwrap_err();
        assert!(matches!(nowhere, Error::File { problem: FileProblem::Write(_), .. }));
    }
}
