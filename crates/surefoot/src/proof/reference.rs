//! Reference numbers: short digests by which a letter is traced to its proof.

use std::fmt;
use std::str::FromStr;

use super::saved::SavedProof;
use crate::digest::Digest;
use crate::error::LetterError;
use crate::{Error, Result};

/// The digits of base 32, by Crockford: without I, L, O and U, which are read as others or as words.
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/// The number of digits, which are 80 bits: among a million letters, two share a reference with a probability of
/// 4e-13.
const DIGITS: usize = 16;
/// The digits in a group.
const GROUP: usize = 4;

/// The reference number of an answer: a digest of who it is for and of the saved proof, which states the person's
/// features, the uncertainty and the answer, and contains the digests of the problem and its model.
///
/// ```
/// use surefoot::proof::Reference;
///
/// // Case, separators and digits that look alike do not matter.
/// let reference: Reference = "7k3m-0q1x-9abc-defg".parse()?;
/// assert_eq!(reference, "7K3MOQIX 9ABCDEFG".parse()?);
/// assert_eq!(reference.to_string(), "7K3M-0Q1X-9ABC-DEFG");
/// # Ok::<(), surefoot::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reference(String);

impl Reference {
    /// The reference of the proof for the person with an identifier.
    pub fn of(id: &str, proof: &SavedProof) -> Self {
        let mut digest = Digest::new();
        digest.text(id);
        digest.text(&proof.to_json());
        let hash = digest.hash();
        // Five bits for each digit, from the front.
        let bits = hash.bytes().flat_map(|digit| {
            let value = char::from(digit).to_digit(16).unwrap_or_default();
            (0..4).rev().map(move |bit| value >> bit & 1)
        });
        let bits: Vec<u32> = bits.take(5 * DIGITS).collect();
        let digit = |bits: &[u32]| bits.iter().fold(0, |value, bit| 2 * value + *bit as usize);
        Self(bits.chunks(5).map(|bits| char::from(ALPHABET[digit(bits)])).collect())
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, digit) in self.0.chars().enumerate() {
            if place > 0 && place % GROUP == 0 {
                f.write_str("-")?;
            }
            write!(f, "{digit}")?;
        }
        Ok(())
    }
}

impl FromStr for Reference {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let digit = |character: char| match character.to_ascii_uppercase() {
            'O' => '0',
            'I' | 'L' => '1',
            other => other,
        };
        let is_separator = |character: &char| *character == '-' || character.is_whitespace();
        let digits: String = text.chars().filter(|character| !is_separator(character)).map(digit).collect();
        let is_known = digits.chars().all(|digit| digit.is_ascii() && ALPHABET.contains(&(digit as u8)));
        match is_known && digits.len() == DIGITS {
            true => Ok(Self(digits)),
            false => Err(Error::Letter(LetterError::Reference { reference: text.into() })),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recourse::{Settings, Solver};
    use crate::{Change, Classifier, Feature, Features, Norm, Problem};

    fn proof(epsilon: f64, income: f64) -> SavedProof {
        let features = Features::new(vec![Feature::new("income").change(Change::Increase)]).unwrap();
        let problem = Problem::new(features, Classifier::linear(vec![1.0], 0.0, 0.5).unwrap()).unwrap();
        let problem = problem.with_uncertainty(Norm::L2, epsilon).unwrap();
        let solver = Solver::new(&problem, Settings::default()).unwrap();
        solver.prove(&[income]).unwrap().saved(&problem, &[income])
    }

    #[test]
    fn it_depends_on_the_person_and_on_everything_in_the_proof() {
        let first = Reference::of("ana", &proof(0.1, -1.0));
        assert_eq!(first, Reference::of("ana", &proof(0.1, -1.0)));
        assert_ne!(first, Reference::of("ben", &proof(0.1, -1.0)));
        assert_ne!(first, Reference::of("ana", &proof(0.2, -1.0)));
        assert_ne!(first, Reference::of("ana", &proof(0.1, -1.1)));
        let again = SavedProof::from_json(&proof(0.1, -1.0).to_json()).unwrap();
        assert_eq!(first, Reference::of("ana", &again));
    }

    #[test]
    fn it_is_read_as_people_write_it_and_nothing_else_is() {
        let reference = Reference::of("ana", &proof(0.1, -1.0));
        let text = reference.to_string();
        assert_eq!(text.len(), DIGITS + 3);
        for written in [text.clone(), text.to_lowercase(), text.replace('-', ""), text.replace('-', " ")] {
            assert_eq!(written.parse::<Reference>().unwrap(), reference, "{written}");
        }
        for wrong in [
            "",
            "1234",
            "7K3M-0Q1X-9ABC-DEF",
            "7K3M-0Q1X-9ABC-DEFGH",
            "7K3M-0Q1X-9ABC-DEFU",
            "7K3M-0Q1X-9ABC-DEÄ",
        ] {
            let said = wrong.parse::<Reference>().unwrap_err().to_string();
            assert!(said.contains("four groups of four"), "{said}");
        }
    }
}
