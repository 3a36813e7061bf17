//! Arrays in numpy's files, as far as the published ones need it: version 1, by rows.

use std::path::Path;

use super::{DataError, Result};

/// The numbers of an array of `f4` or `i8` and its shape.
pub(super) fn read(path: &Path, kind: &'static str) -> Result<(Vec<usize>, Vec<f64>)> {
    let bytes = std::fs::read(path).map_err(|source| DataError::read(path, source))?;
    parse(&bytes, kind).map_err(|reason| DataError::Numpy { path: path.into(), expected: kind, reason })
}

fn parse(bytes: &[u8], kind: &str) -> std::result::Result<(Vec<usize>, Vec<f64>), String> {
    let rest = bytes.strip_prefix(b"\x93NUMPY\x01\x00").ok_or("it does not begin like one of version 1")?;
    let (length, rest) = rest.split_first_chunk::<2>().ok_or("it breaks off")?;
    let (header, data) =
        rest.split_at_checked(usize::from(u16::from_le_bytes(*length))).ok_or("it breaks off")?;
    let header = std::str::from_utf8(header).map_err(|_| "its header is no text")?;
    // {'descr': '<f4', 'fortran_order': False, 'shape': (1000, 7), }
    let field = |name: &str| header.split_once(&format!("'{name}': ")).map(|(_, value)| value);
    if !field("descr").is_some_and(|value| value.starts_with(&format!("'<{kind}'"))) {
        return Err(format!("it holds something else: {}", header.trim()));
    }
    if !field("fortran_order").is_some_and(|value| value.starts_with("False")) {
        return Err("it is stored by columns".into());
    }
    let shape = field("shape").and_then(|value| value.strip_prefix('(')?.split_once(')'));
    let (shape, _) = shape.ok_or("its shape is not given")?;
    let shape = shape.split(',').map(str::trim).filter(|size| !size.is_empty());
    let shape: Vec<usize> =
        shape.map(str::parse).collect::<std::result::Result<_, _>>().map_err(|_| "its shape is malformed")?;
    let (numbers, remainder) = match kind {
        "f4" => {
            let (numbers, remainder) = data.as_chunks();
            (numbers.iter().map(|&bytes| f64::from(f32::from_le_bytes(bytes))).collect(), remainder)
        }
        _ => {
            let (numbers, remainder) = data.as_chunks();
            (numbers.iter().map(|&bytes| i64::from_le_bytes(bytes) as f64).collect::<Vec<f64>>(), remainder)
        }
    };
    let expected = shape.iter().try_fold(1usize, |product, &size| product.checked_mul(size));
    if expected != Some(numbers.len()) || !remainder.is_empty() {
        return Err(format!("it holds {} bytes of numbers, which do not fit {shape:?}", data.len()));
    }
    Ok((shape, numbers))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    }

    #[test]
    fn numbers_come_back() {
        let data: Vec<u8> = [1.5f32, -2.0].iter().flat_map(|x| x.to_le_bytes()).collect();
        let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }\n";
        assert_eq!(parse(&file(header, &data), "f4").unwrap(), (vec![1, 2], vec![1.5, -2.0]));
        let header = "{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }\n";
        assert_eq!(parse(&file(header, &7i64.to_le_bytes()), "i8").unwrap(), (vec![1], vec![7.0]));
    }

    #[test]
    fn anything_else_is_refused() {
        let good = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }";
        let whole = file(good, &[0; 4]);
        for length in 0..whole.len() {
            assert!(parse(&whole[..length], "f4").is_err(), "{length}");
        }
        for (wrong, reason) in [
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", "something else"),
            ("{'descr': '<f4', 'fortran_order': True, 'shape': (1,), }", "by columns"),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", "do not fit"),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (x,), }", "malformed"),
            ("{'descr': '<f4', 'fortran_order': False, }", "not given"),
        ] {
            let error = parse(&file(wrong, &[0; 4]), "f4").unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }
}
