//! Mutations of inputs that know their syntax: numbers stay numbers, and JSON stays JSON.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Number, Value};

use crate::Syntax;

/// Numbers at which something may go wrong, as text.
const NUMBERS: [&str; 18] = [
    "0",
    "-0.0",
    "1",
    "-1",
    "2",
    "0.5",
    "1e-9",
    "-1e-9",
    "3e-324",
    "1e16",
    "1e150",
    "-1e300",
    "1.7e308",
    "1e309",
    "inf",
    "nan",
    "99999999999999999999",
    "-3",
];

/// Words of formulas and problem files.
const WORDS: [&str; 40] = [
    "u",
    "x",
    "y",
    "z",
    "exp(",
    "log(",
    "sqrt(",
    "tanh(",
    "sigmoid(",
    "abs(",
    "min(",
    "max(",
    ")",
    "^",
    "/",
    "`",
    ">=",
    "<=",
    "\n",
    ",",
    "\"",
    "[[feature]]\nname = \"w\"\n",
    "[[equation]]\n",
    "[[constraint]]\n",
    "kind = \"integer\"\n",
    "kind = \"binary\"\n",
    "change = \"any\"\n",
    "limits = [0, inf]\n",
    "std = ",
    "norm = \"l1\"\n",
    "norm = \"linf\"\n",
    "cost = \"l2\"\n",
    "form = \"absolute\"\n",
    "group = \"g\"\n",
    "limits_on = \"action\"\n",
    "weight = ",
    "epsilon = ",
    "true",
    "NaN",
    "=",
];

/// Bytes of sizes and offsets at which something may go wrong.
const SIZES: [u64; 10] =
    [0, 1, 7, 255, 1 << 16, i32::MAX as u64, u32::MAX as u64, 1 << 33, i64::MAX as u64, u64::MAX];

/// A changed input, the same for the same seed.
pub fn mutate(syntax: Syntax, bytes: &[u8], seed: u64) -> Vec<u8> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut changed = bytes.to_vec();
    for _ in 0..random.random_range(1..=3) {
        changed = match syntax {
            Syntax::Binary => mutate_bytes(changed, &mut random),
            Syntax::Text => mutate_text(&changed, &mut random),
            Syntax::Json => mutate_json(&changed, &mut random),
        };
    }
    changed
}

fn pick<'a, T: ?Sized>(from: &[&'a T], random: &mut impl Rng) -> &'a T {
    from[random.random_range(0..from.len())]
}

fn mutate_bytes(mut bytes: Vec<u8>, random: &mut impl Rng) -> Vec<u8> {
    if bytes.is_empty() {
        return vec![random.random()];
    }
    let at = random.random_range(0..bytes.len());
    let end = (at + random.random_range(1..=16)).min(bytes.len());
    match random.random_range(0..8) {
        0 => bytes[at] ^= 1 << random.random_range(0..8),
        1 => bytes[at] = random.random(),
        2 => bytes[at] = bytes[at].wrapping_add(if random.random() { 1 } else { 255 }),
        3 => drop(bytes.drain(at..end)),
        4 => {
            let copied = bytes[at..end].to_vec();
            let to = random.random_range(0..=bytes.len());
            bytes.splice(to..to, copied);
        }
        5 => bytes.truncate(at),
        _ => {
            let size = SIZES[random.random_range(0..SIZES.len())].to_le_bytes();
            let width = [1, 2, 4, 8][random.random_range(0..4)];
            let end = (at + width).min(bytes.len());
            bytes[at..end].copy_from_slice(&size[..end - at]);
        }
    }
    bytes
}

/// Numbers, words and everything else, one character each.
fn tokens(text: &str) -> Vec<&str> {
    let kind = |c: char| match c {
        '0'..='9' | '.' => 0,
        c if c.is_alphanumeric() || c == '_' => 1,
        _ => 2,
    };
    let mut tokens = Vec::new();
    let mut start = 0;
    let mut before = None;
    for (at, c) in text.char_indices() {
        let now = kind(c);
        if at > start && (now == 2 || before != Some(now)) {
            tokens.push(&text[start..at]);
            start = at;
        }
        before = Some(now);
    }
    if start < text.len() {
        tokens.push(&text[start..]);
    }
    tokens
}

fn mutate_text(bytes: &[u8], random: &mut impl Rng) -> Vec<u8> {
    let Ok(text) = std::str::from_utf8(bytes) else { return mutate_bytes(bytes.to_vec(), random) };
    let mut tokens = tokens(text);
    if tokens.is_empty() {
        return pick(&WORDS, random).into();
    }
    let at = random.random_range(0..tokens.len());
    let end = (at + random.random_range(1..=12)).min(tokens.len());
    let is_number = |token: &&str| token.starts_with(|c: char| c.is_ascii_digit());
    let numbers: Vec<usize> = (0..tokens.len()).filter(|&i| is_number(&tokens[i])).collect();
    match random.random_range(0..8) {
        0..=2 if !numbers.is_empty() => {
            tokens[numbers[random.random_range(0..numbers.len())]] = pick(&NUMBERS, random);
        }
        3 => tokens[at] = pick(&WORDS, random),
        4 => drop(tokens.drain(at..end)),
        5 => {
            let copied = tokens[at..end].to_vec();
            let to = random.random_range(0..=tokens.len());
            tokens.splice(to..to, copied);
        }
        6 => return mutate_bytes(bytes.to_vec(), random),
        _ => tokens.insert(at, pick(&WORDS, random)),
    }
    tokens.concat().into_bytes()
}

fn mutate_json(bytes: &[u8], random: &mut impl Rng) -> Vec<u8> {
    let Ok(mut tree) = serde_json::from_slice::<Value>(bytes) else { return mutate_text(bytes, random) };
    if random.random_range(0..8) == 0 {
        return mutate_text(bytes, random);
    }
    let count = count(&tree);
    // Another part of the same document, to be put in the place of this one.
    let other = nth(&mut tree, &mut random.random_range(0..count)).map(|node| node.clone());
    if let Some(node) = nth(&mut tree, &mut random.random_range(0..count)) {
        mutate_node(node, other.unwrap_or(Value::Null), random);
    }
    tree.to_string().into_bytes()
}

fn count(node: &Value) -> usize {
    1 + match node {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(fields) => fields.values().map(count).sum::<usize>(),
        _ => 0,
    }
}

/// The node of this number, each before its children.
fn nth<'v>(node: &'v mut Value, number: &mut usize) -> Option<&'v mut Value> {
    if *number == 0 {
        return Some(node);
    }
    *number -= 1;
    match node {
        Value::Array(items) => items.iter_mut().find_map(|item| nth(item, number)),
        Value::Object(fields) => fields.values_mut().find_map(|field| nth(field, number)),
        _ => None,
    }
}

fn mutate_node(node: &mut Value, other: Value, random: &mut impl Rng) {
    match node {
        Value::Number(number) if random.random_range(0..4) != 0 => {
            let value = number.as_f64().unwrap_or(0.0);
            let share = [1e-12, 1e-9, 1e-6, 1e-3, 0.1, 0.5][random.random_range(0..6)];
            let changed = match random.random_range(0..6) {
                0 => value * (1.0 + share),
                1 => value * (1.0 - share),
                2 => -value,
                3 => value + share,
                4 => value - share,
                _ => pick(&NUMBERS, random).parse().unwrap_or(0.0),
            };
            *node = match (number.is_u64(), Number::from_f64(changed)) {
                (true, _) => random.random_range(0..4u64).into(),
                (false, Some(number)) => Value::Number(number),
                (false, None) => "inf".into(),
            };
        }
        Value::Array(items) if !items.is_empty() && random.random_range(0..4) != 0 => {
            let at = random.random_range(0..items.len());
            match random.random_range(0..4) {
                0 => drop(items.remove(at)),
                1 => items.push(items[at].clone()),
                2 => items.truncate(at),
                _ => {
                    let to = random.random_range(0..items.len());
                    items.swap(at, to);
                }
            }
        }
        Value::Object(fields) if !fields.is_empty() && random.random_range(0..8) == 0 => {
            let at = random.random_range(0..fields.len());
            if let Some(name) = fields.keys().nth(at).cloned() {
                fields.remove(&name);
            }
        }
        _ => *node = other,
    }
}
