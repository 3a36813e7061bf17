//! The bytes of a table: a file, or memory.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom};

use bytes::Bytes;
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::reader::{ChunkReader, Length};

/// Bytes that can be read from any position.
#[derive(Debug)]
pub enum Input {
    File(File),
    Bytes(Cursor<Bytes>),
}

impl Input {
    pub fn bytes(bytes: Vec<u8>) -> Self {
        Self::Bytes(Cursor::new(bytes.into()))
    }

    /// A second handle, at `start`. Handles of a file share their position.
    fn at(&self, start: u64) -> io::Result<Self> {
        let mut other = match self {
            Self::File(file) => Self::File(file.try_clone()?),
            Self::Bytes(bytes) => Self::Bytes(bytes.clone()),
        };
        other.seek(SeekFrom::Start(start))?;
        Ok(other)
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.read(buffer),
            Self::Bytes(bytes) => bytes.read(buffer),
        }
    }
}

impl Seek for Input {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        match self {
            Self::File(file) => file.seek(position),
            Self::Bytes(bytes) => bytes.seek(position),
        }
    }
}

impl Length for Input {
    fn len(&self) -> u64 {
        match self {
            Self::File(file) => Length::len(file),
            Self::Bytes(bytes) => bytes.get_ref().len() as u64,
        }
    }
}

impl ChunkReader for Input {
    type T = BufReader<Input>;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        Ok(BufReader::new(self.at(start)?))
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        let is_inside = start.checked_add(length as u64).is_some_and(|end| end <= Length::len(self));
        if !is_inside {
            return Err(ParquetError::EOF(format!("there are no {length} bytes at {start}")));
        }
        let mut bytes = vec![0; length];
        self.at(start)?.read_exact(&mut bytes)?;
        Ok(bytes.into())
    }
}
