//! An ONNX model written byte by byte, so that tests need no other program.

#![allow(dead_code, reason = "not every file of tests needs everything")]

/// A field of a message: its number, its kind and its length, then its bytes.
pub fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    [&[number << 3 | 2, bytes.len() as u8], bytes].concat()
}

fn whole(number: u8, value: u8) -> Vec<u8> {
    vec![number << 3, value]
}

/// A logistic regression on `weights`, whose numbers are, as floats, in the file `location` beside it.
pub fn with_external_weights(columns: u8, location: &str) -> Vec<u8> {
    let entry = [field(1, b"location"), field(2, location.as_bytes())].concat();
    let weight =
        [whole(1, columns), whole(1, 1), whole(2, 1), field(8, b"w"), field(13, &entry), whole(14, 1)]
            .concat();
    let names = [field(1, b"x"), field(1, b"w"), field(2, b"y")].concat();
    let node = [names, field(3, b"layer"), field(4, b"MatMul")].concat();
    let (input, output) = (field(1, b"x"), field(1, b"y"));
    let graph = [field(1, &node), field(5, &weight), field(11, &input), field(12, &output)].concat();
    field(7, &graph)
}

/// The file beside it.
pub fn weights(weights: &[f32]) -> Vec<u8> {
    weights.iter().flat_map(|weight| weight.to_le_bytes()).collect()
}
