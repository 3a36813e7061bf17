//! File names of letters.

use std::collections::HashSet;

use sha2::{Digest, Sha256};

/// The most characters of an identifier that a name keeps.
const LONGEST: usize = 80;

/// The names of the files of letters: readable, the same on every run, and never one twice, also where a file system
/// does not tell capital letters apart.
#[derive(Default)]
pub struct FileNames {
    taken: HashSet<String>,
}

impl FileNames {
    /// The name of the file for a person, without its ending. It has letters, digits, `-`, `_` and `.` only, and does
    /// not start with a dot, so that it cannot lead out of its folder.
    pub fn name(&mut self, id: &str) -> String {
        let safe = |character: char| match character {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' | '.' => character,
            _ => '_',
        };
        let mut name: String = id.chars().take(LONGEST).map(safe).collect();
        if name.starts_with('.') {
            name.replace_range(..1, "_");
        }
        let is_free = |name: &str| !self.taken.contains(&name.to_lowercase());
        if name != id || is_reserved(&name) || !is_free(&name) {
            let digest = Sha256::digest(id.as_bytes());
            let digits: String = digest[..8].iter().map(|byte| format!("{byte:02x}")).collect();
            name = format!("{name}-{digits}");
        }
        self.taken.insert(name.to_lowercase());
        name
    }
}

/// Whether a name is empty, one of the files beside the letters, or a device on Windows.
fn is_reserved(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().to_lowercase();
    let is_numbered = |device: &str| {
        stem.strip_prefix(device)
            .is_some_and(|rest| rest.len() == 1 && rest.bytes().all(|b| b.is_ascii_digit()))
    };
    matches!(stem.as_str(), "" | "con" | "prn" | "aux" | "nul" | "letters" | "proofs")
        || is_numbered("com")
        || is_numbered("lpt")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_in_their_folder_and_are_never_the_same() {
        let mut names = FileNames::default();
        for (id, starts) in [
            ("ana", "ana"),
            ("2024-07.b_1", "2024-07.b_1"),
            ("../../x", "_._.._x-"),
            ("/etc/passwd", "_etc_passwd-"),
            ("..", "_.-"),
            (".hidden", "_hidden-"),
            ("", "-"),
            ("a b", "a_b-"),
            ("a_b", "a_b"),
            ("Größe", "Gr__e-"),
            ("CON", "CON-"),
            ("com1.txt", "com1.txt-"),
            ("proofs", "proofs-"),
            ("Ana", "Ana-"),
            ("x\0y\n", "x_y_-"),
        ] {
            let name = names.name(id);
            let is_safe = name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
            assert!(name.starts_with(starts) && is_safe && !name.starts_with('.'), "{id}: {name}");
            // As it is, or with a digest.
            assert!(name == id || name.len() == starts.len() + 16, "{id}: {name}");
        }
        assert!(names.name(&"x".repeat(4000)).len() < 100);
        assert_ne!(names.name("a/b"), names.name("a?b"));
        assert_eq!(FileNames::default().name("a/b"), FileNames::default().name("a/b"));
    }
}
