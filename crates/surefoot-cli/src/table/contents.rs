//! What the description of a Parquet file may hold, by `parquet.thrift` of the format.

use std::io::{self, Read};

use super::thrift::Shape::{self, Binary, Double, Empty, I8, I16, I32, I64, List, Struct, Truth};
use super::thrift::{LIST, STRUCT, Thrift, malformed};

/// Groups within groups that a table may have. The Parquet reader needs a frame of the stack for each.
const MAX_NESTING: usize = 64;

const TIME_UNIT: Shape = Struct(&[(1, Empty), (2, Empty), (3, Empty)]);
const TIME: Shape = Struct(&[(1, Truth), (2, TIME_UNIT)]);

const LOGICAL_TYPE: Shape = Struct(&[
    (1, Empty),
    (2, Empty),
    (3, Empty),
    (4, Empty),
    (5, Struct(&[(1, I32), (2, I32)])),
    (6, Empty),
    (7, TIME),
    (8, TIME),
    (10, Struct(&[(1, I8), (2, Truth)])),
    (11, Empty),
    (12, Empty),
    (13, Empty),
    (14, Empty),
    (15, Empty),
    (16, Struct(&[(1, I8)])),
    (17, Struct(&[(1, Binary)])),
    (18, Struct(&[(1, Binary), (2, I32)])),
]);

const SCHEMA_ELEMENT: Shape = Struct(&[
    (1, I32),
    (2, I32),
    (3, I32),
    (4, Binary),
    (5, I32),
    (6, I32),
    (7, I32),
    (8, I32),
    (9, I32),
    (10, LOGICAL_TYPE),
]);

const STATISTICS: Shape = Struct(&[
    (1, Binary),
    (2, Binary),
    (3, I64),
    (4, I64),
    (5, Binary),
    (6, Binary),
    (7, Truth),
    (8, Truth),
    (9, I64),
]);

const BOUNDING_BOX: Shape = Struct(&[
    (1, Double),
    (2, Double),
    (3, Double),
    (4, Double),
    (5, Double),
    (6, Double),
    (7, Double),
    (8, Double),
]);

const COLUMN_META_DATA: Shape = Struct(&[
    (1, I32),
    (2, List(&I32)),
    (3, List(&Binary)),
    (4, I32),
    (5, I64),
    (6, I64),
    (7, I64),
    (8, List(&KEY_VALUE)),
    (9, I64),
    (10, I64),
    (11, I64),
    (12, STATISTICS),
    (13, List(&Struct(&[(1, I32), (2, I32), (3, I32)]))),
    (14, I64),
    (15, I32),
    (16, Struct(&[(1, I64), (2, List(&I64)), (3, List(&I64))])),
    (17, Struct(&[(1, BOUNDING_BOX), (2, List(&I32))])),
]);

const KEY_VALUE: Shape = Struct(&[(1, Binary), (2, Binary)]);

const COLUMN_CHUNK: Shape = Struct(&[
    (1, Binary),
    (2, I64),
    (3, COLUMN_META_DATA),
    (4, I64),
    (5, I32),
    (6, I64),
    (7, I32),
    (8, Struct(&[])),
    (9, Binary),
]);

const ROW_GROUP: Shape = Struct(&[
    (1, List(&COLUMN_CHUNK)),
    (2, I64),
    (3, I64),
    (4, List(&Struct(&[(1, I32), (2, Truth), (3, Truth)]))),
    (5, I64),
    (6, I64),
    (7, I16),
]);

const FILE_META_DATA: Shape = Struct(&[
    (1, I32),
    (2, List(&SCHEMA_ELEMENT)),
    (3, I64),
    (4, List(&ROW_GROUP)),
    (5, List(&KEY_VALUE)),
    (6, Binary),
    (7, List(&Struct(&[(1, Empty), (2, Empty)]))),
    (8, Struct(&[])),
    (9, Binary),
]);

/// Refuses the description of a table for which the Parquet reader would allocate more than is there,
/// or nest too deeply.
pub fn check(description: &[u8]) -> io::Result<()> {
    let length = description.len() as u64;
    Thrift::new(description, length).check(&FILE_META_DATA)?;
    let mut thrift = Thrift::new(description, length);
    let mut last = 0;
    while let Some((number, kind)) = thrift.field(&mut last)? {
        match (number, kind) {
            (2, LIST) => check_nesting(&mut thrift)?,
            (4, LIST) => {
                let (_, groups) = thrift.list()?;
                if groups > i16::MAX as u64 {
                    return Err(malformed("it has too many row groups"));
                }
                (0..groups).try_for_each(|_| thrift.skip(STRUCT))?;
            }
            (_, kind) => thrift.skip(kind)?,
        }
    }
    Ok(())
}

/// The schema: a tree of groups and columns, each before its children.
fn check_nesting(thrift: &mut Thrift<&[u8]>) -> io::Result<()> {
    let (_, elements) = thrift.list()?;
    // Of each group that is not complete, how many children are missing.
    let mut open: Vec<u64> = Vec::new();
    for _ in 0..elements {
        let (mut last, mut children) = (0, 0);
        while let Some((number, kind)) = thrift.field(&mut last)? {
            match number {
                5 => children = thrift.i32()?,
                _ => thrift.skip(kind)?,
            }
        }
        let children = u64::try_from(children).map_err(|_| malformed("a group has no number of columns"))?;
        if children > elements {
            return Err(malformed("a group has more columns than there are"));
        }
        if let Some(missing) = open.last_mut() {
            *missing -= 1;
        }
        open.push(children);
        while open.last() == Some(&0) {
            open.pop();
        }
        if open.len() > MAX_NESTING {
            return Err(malformed("its columns are nested too deeply"));
        }
    }
    Ok(())
}

/// What the header of a page says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageHeader {
    /// Bytes of the header itself.
    pub length: u64,
    /// Bytes of the page as it is stored.
    pub stored: u64,
    /// Bytes of the page when it is decompressed.
    pub decompressed: u64,
    /// Distinct values, if the page is a dictionary.
    pub distinct: Option<u64>,
    /// How values are encoded, as the format numbers it.
    pub encoding: i32,
}

const PAGE_HEADER: Shape = Struct(&[
    (1, I32),
    (2, I32),
    (3, I32),
    (4, I32),
    (5, Struct(&[(1, I32), (2, I32), (3, I32), (4, I32), (5, STATISTICS)])),
    (6, Struct(&[])),
    (7, Struct(&[(1, I32), (2, I32), (3, Truth)])),
    (8, Struct(&[(1, I32), (2, I32), (3, I32), (4, I32), (5, I32), (6, I32), (7, Truth), (8, STATISTICS)])),
]);

/// Reads the header of a page, for which `remaining` bytes are left. `open` starts at the header.
pub fn page_header<R: Read>(open: impl Fn() -> io::Result<R>, remaining: u64) -> io::Result<PageHeader> {
    let mut thrift = Thrift::new(open()?, remaining);
    thrift.check(&PAGE_HEADER)?;
    let mut header = PageHeader { length: remaining - thrift.remaining(), ..PageHeader::default() };
    let mut thrift = Thrift::new(open()?, header.length);
    let size = |number: i32| u64::try_from(number).map_err(|_| malformed("a page has a negative size"));
    let mut last = 0;
    while let Some((number, kind)) = thrift.field(&mut last)? {
        match number {
            2 => header.decompressed = size(thrift.i32()?)?,
            3 => header.stored = size(thrift.i32()?)?,
            5 | 7 | 8 => {
                let encoding = if number == 8 { 4 } else { 2 };
                let mut last = 0;
                while let Some((field, kind)) = thrift.field(&mut last)? {
                    match field {
                        1 if number == 7 => header.distinct = Some(size(thrift.i32()?)?),
                        _ if field == encoding => header.encoding = thrift.i32()?,
                        _ => thrift.skip(kind)?,
                    }
                }
            }
            _ => thrift.skip(kind)?,
        }
    }
    Ok(header)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A schema of groups, each the only column of the one before, with a column in the innermost.
    fn nested(depth: usize) -> Vec<u8> {
        let elements = depth as u8 + 1;
        let mut bytes = vec![0x29, 0xfc, elements];
        for _ in 0..depth {
            // The name `g` and one child.
            bytes.extend([0x48, 1, b'g', 0x15, 2, 0]);
        }
        bytes.extend([0x15, 2, 0x38, 1, b'x', 0, 0]);
        bytes
    }

    #[test]
    fn groups_nest_only_so_far() {
        assert!(check(&nested(3)).is_ok() && check(&nested(MAX_NESTING)).is_ok());
        let message = check(&nested(MAX_NESTING + 1)).unwrap_err().to_string();
        assert_eq!(message, "its columns are nested too deeply");
        // A group of a hundred columns where there are two elements.
        let many = [0x29, 0x2c, 0x48, 1, b'g', 0x15, 0xc8, 1, 0, 0x48, 1, b'x', 0, 0];
        assert_eq!(check(&many).unwrap_err().to_string(), "a group has more columns than there are");
        // A million row groups in a few bytes.
        assert!(check(&[0x49, 0xfc, 0xc0, 0x84, 0x3d, 0]).unwrap_err().to_string().contains("too long"));
    }

    #[test]
    fn headers_of_pages_say_how_large_they_are() {
        // Type 2 (a dictionary), 300 bytes from 20, with 7 values in plain encoding.
        let bytes = [0x15, 4, 0x15, 0xd8, 4, 0x15, 40, 0x4c, 0x15, 14, 0x15, 0, 0, 0, 9, 9];
        let header = page_header(|| Ok(&bytes[..]), bytes.len() as u64).unwrap();
        let expected =
            PageHeader { length: 14, stored: 20, decompressed: 300, distinct: Some(7), encoding: 0 };
        assert_eq!(header, expected);
        // The size as a text, which the Parquet reader takes for a number.
        assert!(page_header(|| Ok(&[0x15, 4, 0x18, 1, 9, 0][..]), 6).is_err());
    }
}
