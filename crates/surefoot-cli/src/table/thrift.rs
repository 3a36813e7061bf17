//! A strict reader of Thrift's compact protocol, in which Parquet files describe themselves.
//!
//! The Parquet reader allocates what a description says, and takes the type of a known field for
//! granted. This reader holds nothing in memory and accepts only descriptions that both read alike:
//! known fields have their type, fields come in the order of their numbers, numbers fit their type,
//! and lists and texts are no longer than what follows.

use std::io::{self, Read};

/// The type of a list, as the protocol numbers types.
pub const LIST: u8 = 9;
/// The type of a structure.
pub const STRUCT: u8 = 12;

/// What a value must be.
#[derive(Debug)]
pub enum Shape {
    Truth,
    I8,
    I16,
    I32,
    I64,
    Double,
    Binary,
    List(&'static Shape),
    /// A structure, with its fields by number. Fields of other numbers may be anything.
    Struct(&'static [(i16, Shape)]),
    /// A structure without fields.
    Empty,
}

impl Shape {
    fn is(&self, kind: u8) -> bool {
        match self {
            Shape::Truth => matches!(kind, 1 | 2),
            Shape::I8 => kind == 3,
            Shape::I16 => kind == 4,
            Shape::I32 => kind == 5,
            Shape::I64 => kind == 6,
            Shape::Double => kind == 7,
            Shape::Binary => kind == 8,
            Shape::List(_) => kind == LIST,
            Shape::Struct(_) | Shape::Empty => kind == STRUCT,
        }
    }
}

/// Structures within structures; Parquet's own has six.
const MAX_DEPTH: usize = 32;

/// Elements of a list. A table with more columns would need more memory for their names than for
/// what is in them.
const MAX_ELEMENTS: u64 = 1 << 20;

/// Reads values from the next `remaining` bytes of an input.
pub struct Thrift<R> {
    input: R,
    remaining: u64,
}

/// The error for a description that is not in order.
pub fn malformed(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

impl<R: Read> Thrift<R> {
    pub fn new(input: R, remaining: u64) -> Self {
        Self { input, remaining }
    }

    /// How many bytes are left.
    pub fn remaining(&self) -> u64 {
        self.remaining
    }

    fn byte(&mut self) -> io::Result<u8> {
        self.remaining = self.remaining.checked_sub(1).ok_or(io::ErrorKind::UnexpectedEof)?;
        let mut byte = [0];
        self.input.read_exact(&mut byte)?;
        Ok(byte[0])
    }

    fn varint(&mut self) -> io::Result<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(malformed("a number is too long"))
    }

    fn signed(&mut self) -> io::Result<i64> {
        let value = self.varint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// A whole number of 32 bits.
    pub fn i32(&mut self) -> io::Result<i32> {
        i32::try_from(self.signed()?).map_err(|_| malformed("a number is too large"))
    }

    /// The number and the type of the next field of a structure; none at its end. `last` is the number
    /// of the field before.
    pub fn field(&mut self, last: &mut i16) -> io::Result<Option<(i16, u8)>> {
        let byte = self.byte()?;
        if byte == 0 {
            return Ok(None);
        }
        let number = match byte >> 4 {
            0 => i16::try_from(self.signed()?).ok(),
            step => last.checked_add(i16::from(step)),
        };
        match number {
            Some(number) if number > *last => {
                *last = number;
                Ok(Some((number, byte & 0xf)))
            }
            _ => Err(malformed("fields are not in order")),
        }
    }

    /// The type of the elements of a list, and how many there are.
    pub fn list(&mut self) -> io::Result<(u8, u64)> {
        let byte = self.byte()?;
        let length = match byte >> 4 {
            15 => self.varint()?,
            length => length.into(),
        };
        if length > self.remaining.min(MAX_ELEMENTS) {
            return Err(malformed("a list is too long"));
        }
        Ok((byte & 0xf, length))
    }

    /// Passes over a value of this shape; an error if it has another.
    pub fn check(&mut self, shape: &Shape) -> io::Result<()> {
        match shape {
            Shape::Truth => Ok(()),
            Shape::I8 => self.skip(3),
            Shape::I16 | Shape::I32 => self.i32().map(|_| ()),
            Shape::I64 => self.skip(6),
            Shape::Double => self.skip(7),
            Shape::Binary => self.skip(8),
            Shape::List(element) => {
                let (kind, length) = self.list()?;
                if length > 0 && !element.is(kind) {
                    return Err(malformed("a list has elements of another type"));
                }
                (0..length).try_for_each(|_| self.check(element))
            }
            Shape::Struct(fields) => {
                let mut last = 0;
                while let Some((number, kind)) = self.field(&mut last)? {
                    match fields.iter().find(|(known, _)| *known == number) {
                        Some((_, shape)) if shape.is(kind) => self.check(shape)?,
                        Some(_) => return Err(malformed("a field has another type")),
                        None => self.skip(kind)?,
                    }
                }
                Ok(())
            }
            Shape::Empty => match self.byte()? {
                0 => Ok(()),
                _ => Err(malformed("a structure has unknown fields")),
            },
        }
    }

    /// Passes over a value of a field.
    pub fn skip(&mut self, kind: u8) -> io::Result<()> {
        self.skip_nested(kind, 0)
    }

    fn skip_nested(&mut self, kind: u8, depth: usize) -> io::Result<()> {
        if depth > MAX_DEPTH {
            return Err(malformed("it is nested too deeply"));
        }
        match kind {
            // True and false, which the type itself says.
            1 | 2 => Ok(()),
            3 => self.pass(1),
            4..=6 => self.varint().map(|_| ()),
            7 => self.pass(8),
            8 => {
                let length = self.varint()?;
                self.pass(length)
            }
            LIST | 10 => {
                let (kind, length) = self.list()?;
                (0..length).try_for_each(|_| match kind {
                    1 | 2 => self.pass(1),
                    kind => self.skip_nested(kind, depth + 1),
                })
            }
            STRUCT => {
                let mut last = 0;
                while let Some((_, kind)) = self.field(&mut last)? {
                    self.skip_nested(kind, depth + 1)?;
                }
                Ok(())
            }
            _ => Err(malformed("a value has no known type")),
        }
    }

    fn pass(&mut self, length: u64) -> io::Result<()> {
        self.remaining = self.remaining.checked_sub(length).ok_or(io::ErrorKind::UnexpectedEof)?;
        let passed = io::copy(&mut self.input.by_ref().take(length), &mut io::sink())?;
        if passed == length { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skip(bytes: &[u8]) -> io::Result<u64> {
        let mut thrift = Thrift::new(bytes, bytes.len() as u64);
        thrift.skip(STRUCT)?;
        Ok(thrift.remaining())
    }

    #[test]
    fn structures_are_passed_over_whole() {
        // 1: i32 -1, 2: "ab", 4: true, 20: list of two i64, then the end and one byte more.
        let bytes = [0x15, 1, 0x18, 2, b'a', b'b', 0x21, 0x09, 40, 0x26, 0x80, 1, 3, 0, 7];
        assert_eq!(skip(&bytes).unwrap(), 1);
        for length in 0..bytes.len() - 1 {
            assert!(skip(&bytes[..length]).is_err(), "{length}");
        }
    }

    #[test]
    fn what_can_be_read_in_two_ways_or_is_too_large_is_refused() {
        let long_text = [0x18, 0xff, 0xff, 0xff, 0x7f, 0];
        let long_list = [0x19, 0xf5, 0xff, 0xff, 0x7f, 0];
        let twice = [0x25, 2, 0x05, 4, 2, 0];
        let endless = [0x15, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0];
        let unknown = [0x1d, 0];
        for bytes in [&long_text[..], &long_list, &twice, &endless, &unknown] {
            assert!(skip(bytes).is_err(), "{bytes:?}");
        }
        let deep = [vec![0x1c; 1000], vec![0; 1001]].concat();
        assert!(skip(&deep).unwrap_err().to_string().contains("nested too deeply"));
        let shape = Shape::Struct(&[(1, Shape::I32), (2, Shape::List(&Shape::Binary))]);
        let check = |bytes: &[u8]| Thrift::new(bytes, bytes.len() as u64).check(&shape).is_ok();
        assert!(check(&[0x15, 2, 0x19, 0x18, 1, b'a', 0]) && check(&[0x35, 2, 0]) && check(&[0]));
        assert!(!check(&[0x18, 1, b'a', 0]) && !check(&[0x29, 0x15, 2, 0]));
        let large = [0x80, 0x80, 0x80, 0x80, 0x20];
        assert!(Thrift::new(&large[..], 5).i32().is_err());
    }
}
