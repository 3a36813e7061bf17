//! Digests: hashes of the numbers and texts of a problem, the same on every machine.

use sha2::{Digest as _, Sha256};

/// The number of hexadecimal digits of a hash that are kept.
const DIGITS: usize = 32;

/// A digest to which texts and numbers are added.
pub struct Digest(Sha256);

impl Digest {
    /// The empty digest.
    pub fn new() -> Self {
        Self(Sha256::new())
    }

    /// Adds a text with its length, so that two texts differ from their concatenation.
    pub fn text(&mut self, text: &str) {
        self.count(text.len());
        self.0.update(text.as_bytes());
    }

    /// Adds a number; negative zero counts as zero.
    pub fn number(&mut self, value: f64) {
        self.0.update((value + 0.0).to_bits().to_le_bytes());
    }

    /// Adds numbers, preceded by their count.
    pub fn numbers<'a>(&mut self, values: impl ExactSizeIterator<Item = &'a f64>) {
        self.count(values.len());
        values.for_each(|&value| self.number(value));
    }

    /// Adds a count.
    pub fn count(&mut self, count: usize) {
        self.0.update((count as u64).to_le_bytes());
    }

    /// The hash of everything added.
    pub fn hash(self) -> String {
        let digits = self.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        digits[..DIGITS].to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compared with another program: `printf '\x02\0\0\0\0\0\0\0ab' | sha256sum`.
    #[test]
    fn the_same_everywhere() {
        let mut digest = Digest::new();
        digest.text("ab");
        assert_eq!(digest.hash(), "5dff2b3fa79721a8181b9beb1db6bcce");
        let of = |value: f64| {
            let mut digest = Digest::new();
            digest.number(value);
            digest.hash()
        };
        assert_eq!(of(0.0), of(-0.0));
        assert_ne!(of(0.1 + 0.2), of(0.3));
    }
}
