//! SHA-256 in hexadecimal digits.

use std::io;
use std::path::Path;

use sha2::{Digest, Sha256};

/// That of bytes.
pub fn of_bytes(bytes: &[u8]) -> String {
    digits(Sha256::digest(bytes).as_slice())
}

/// That of a file.
pub fn of_file(path: &Path) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut file = surefoot::file::open(path)?;
    let mut buffer = vec![0; 1 << 16];
    loop {
        match io::Read::read(&mut file, &mut buffer)? {
            0 => return Ok(digits(hash.finalize().as_slice())),
            count => hash.update(&buffer[..count]),
        }
    }
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        // FIPS 180-2, appendix B.1
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(of_bytes(b"abc"), abc);
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "abc").unwrap();
        assert_eq!(of_file(file.path()).unwrap(), abc);
    }
}
