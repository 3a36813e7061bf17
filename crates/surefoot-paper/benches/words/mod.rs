//! The words after `cargo bench --bench <name> --`, in any order.

#![allow(dead_code, reason = "not every benchmark reads all kinds of words")]

/// The training methods of the published cases.
const TRAININGS: [&str; 6] = ["ERM", "AF", "ALLR", "ALLR0", "ALLR1", "ROSS"];

/// The words of the command line, without options of cargo.
pub struct Words(Vec<String>);

impl Words {
    pub fn given() -> Self {
        Self(std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect())
    }

    /// The sizes of uncertainty: all words that are numbers, or 0.1 if there are none.
    pub fn epsilons(&self) -> Vec<f64> {
        let epsilons: Vec<f64> = self.0.iter().filter_map(|word| word.parse().ok()).collect();
        if epsilons.is_empty() { vec![0.1] } else { epsilons }
    }

    /// The training method; `ERM` if none is named.
    pub fn training(&self) -> &str {
        self.0.iter().find(|word| TRAININGS.contains(&word.as_str())).map_or("ERM", |word| word)
    }

    /// The words among some names.
    pub fn among(&self, is_name: impl Fn(&str) -> bool) -> Vec<&String> {
        self.0.iter().filter(|word| is_name(word)).collect()
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|word| word == name)
    }

    /// The text after a key such as `people=`.
    pub fn value(&self, key: &str) -> Option<String> {
        self.0.iter().find_map(|word| word.strip_prefix(key).map(str::to_owned))
    }

    /// The number after a key such as `people=`.
    pub fn number(&self, key: &str) -> Option<usize> {
        self.value(key).and_then(|number| number.parse().ok())
    }
}
