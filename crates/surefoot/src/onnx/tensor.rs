//! The numbers of a tensor. Sizes are checked against the available data before memory is allocated.

use std::io::{Read, Seek, SeekFrom};
use std::path::{Component, Path};

use ndarray::Array2;

use super::ModelFile;
use super::graph::MOST_NUMBERS;
use super::message::{TensorMessage, data_type};
use crate::error::OnnxProblem;
use crate::file::ReadProblem;

/// Constants with their dimensions.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    pub dimensions: Vec<usize>,
    pub numbers: Vec<f64>,
}

impl Tensor {
    /// A list of numbers.
    pub fn list(numbers: Vec<f64>) -> Self {
        Self { dimensions: vec![numbers.len()], numbers }
    }

    /// Reads a tensor; `file` is the path of the model, for numbers in a file beside it.
    pub fn read(message: &TensorMessage, file: Option<ModelFile<'_>>) -> Result<Self, OnnxProblem> {
        let numbers = if message.location != 0 || !message.external.is_empty() {
            let bytes = external(message, file)?;
            from_bytes(message, &bytes)?
        } else if message.raw.is_empty() {
            from_lists(message)?
        } else {
            from_bytes(message, &message.raw)?
        };
        let wrong = || OnnxProblem::Size {
            tensor: message.name.clone(),
            dimensions: message.dimensions.clone(),
            found: numbers.len(),
        };
        let dimensions: Option<Vec<usize>> =
            message.dimensions.iter().map(|&size| usize::try_from(size).ok()).collect();
        let dimensions = dimensions.ok_or_else(wrong)?;
        let count = dimensions.iter().try_fold(1usize, |count, &size| count.checked_mul(size));
        if count != Some(numbers.len()) {
            return Err(wrong());
        }
        Ok(Self { dimensions, numbers })
    }

    /// The matrix, if the tensor has two dimensions.
    ///
    /// # Errors
    /// The dimensions, if there are not two of them or if the tensor is empty.
    pub fn matrix(self) -> Result<Array2<f64>, Vec<usize>> {
        match self.dimensions[..] {
            [rows, columns] if !self.numbers.is_empty() => {
                Array2::from_shape_vec((rows, columns), self.numbers).map_err(|_| self.dimensions)
            }
            _ => Err(self.dimensions),
        }
    }

    /// One number, or one for each column of `width`; `None` for another shape.
    pub fn row(&self, width: Option<usize>) -> Option<&[f64]> {
        let is_row = self.dimensions.iter().rev().skip(1).all(|&size| size == 1);
        let fits = self.numbers.len() == 1 || width.is_none_or(|width| width == self.numbers.len());
        (is_row && fits && !self.numbers.is_empty()).then_some(&self.numbers)
    }
}

fn from_lists(message: &TensorMessage) -> Result<Vec<f64>, OnnxProblem> {
    Ok(match message.data_type {
        data_type::FLOAT => message.floats.iter().map(|&number| number.into()).collect(),
        data_type::DOUBLE => message.doubles.clone(),
        data_type::INT32 | data_type::UINT8 => {
            message.short_wholes.iter().map(|&number| number.into()).collect()
        }
        data_type::INT64 => message.wholes.iter().map(|&number| number as f64).collect(),
        kind => return Err(OnnxProblem::Numbers { tensor: message.name.clone(), kind }),
    })
}

fn from_bytes(message: &TensorMessage, bytes: &[u8]) -> Result<Vec<f64>, OnnxProblem> {
    macro_rules! numbers {
        ($kind:ty) => {{
            let (chunks, rest) = bytes.as_chunks();
            if !rest.is_empty() {
                return Err(OnnxProblem::Size {
                    tensor: message.name.clone(),
                    dimensions: message.dimensions.clone(),
                    found: chunks.len(),
                });
            }
            chunks.iter().map(|&bytes| <$kind>::from_le_bytes(bytes) as f64).collect()
        }};
    }
    Ok(match message.data_type {
        data_type::FLOAT => numbers!(f32),
        data_type::DOUBLE => numbers!(f64),
        data_type::UINT8 => numbers!(u8),
        data_type::INT32 => numbers!(i32),
        data_type::INT64 => numbers!(i64),
        kind => return Err(OnnxProblem::Numbers { tensor: message.name.clone(), kind }),
    })
}

fn entry<'a>(message: &'a TensorMessage, key: &str) -> Option<&'a str> {
    message.external.iter().find(|entry| entry.key == key).map(|entry| entry.value.as_str())
}

/// The name of the file beside the model with the numbers of a tensor. A path to another folder is refused,
/// because a model must not decide which files are read.
pub fn beside(message: &TensorMessage) -> Option<&str> {
    let location = entry(message, "location")?;
    let mut parts = Path::new(location).components();
    matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None)).then_some(location)
}

/// The bytes of a tensor in a file beside the model, the layout of large models by PyTorch.
fn external(message: &TensorMessage, file: Option<ModelFile<'_>>) -> Result<Vec<u8>, OnnxProblem> {
    let location = entry(message, "location").unwrap_or_default();
    let fault = |reason: &'static str| OnnxProblem::External {
        tensor: message.name.clone(),
        location: location.into(),
        reason,
    };
    let Some(model) = file else { return Err(fault("is not known where there is only the model")) };
    let Some(name) = beside(message) else { return Err(fault("is not beside the model")) };
    let number = |key: &str| match entry(message, key) {
        None => Ok(None),
        Some(text) => {
            text.parse::<u64>().map(Some).map_err(|_| fault("is addressed by something that is no number"))
        }
    };
    let offset = number("offset")?.unwrap_or(0);
    let opened = model.folder.open_beside(model.named, name);
    let mut file = opened.map_err(|error| match ReadProblem::from(error) {
        ReadProblem::Special(_) => fault("is no regular file"),
        ReadProblem::Outside => fault("is a link that leads to another folder than that of the model"),
        _ => fault("cannot be read"),
    })?;
    let size = file.metadata().map_err(|_| fault("cannot be read"))?.len();
    let length = number("length")?.unwrap_or(size.saturating_sub(offset));
    if offset.checked_add(length).is_none_or(|end| end > size) {
        return Err(fault("is too short"));
    }
    // The limit on the numbers of a model, as doubles.
    if length > 8 * MOST_NUMBERS as u64 {
        return Err(fault("is too large"));
    }
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(offset))
        .and_then(|_| file.take(length).read_to_end(&mut bytes))
        .map_err(|_| fault("cannot be read"))?;
    Ok(bytes)
}
