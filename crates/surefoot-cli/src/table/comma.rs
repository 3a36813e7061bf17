//! CSV files.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use ndarray::Array2;

use super::{BATCH_ROWS, Batch, CellFault, Place, Result, Selection, TableError, parse_number};

/// A file whose first line has been read.
pub struct Csv {
    reader: csv::Reader<PlainLines<File>>,
    header: csv::StringRecord,
}

impl Csv {
    pub fn open(path: &Path, file: File) -> Result<Self> {
        // Rows of another length are told by us, with their line.
        let mut reader = csv::ReaderBuilder::new()
            .flexible(true)
            .buffer_capacity(1 << 17)
            .from_reader(PlainLines::new(file));
        let header = reader.headers().map_err(|error| fault(path, Place::Line(1), &error))?.clone();
        if header.is_empty() {
            return Err(TableError::Empty { path: path.into() });
        }
        Ok(Self { reader, header })
    }

    pub fn columns(&self) -> Vec<String> {
        self.header.iter().map(|name| name.trim().to_owned()).collect()
    }

    pub fn next_batch(&mut self, selection: &Selection, start: usize) -> Result<Option<Batch>> {
        let mut batch = Batch::empty(selection, start);
        let mut numbers: Vec<f64> = Vec::with_capacity(BATCH_ROWS * selection.numbers.len());
        let mut record = csv::ByteRecord::new();
        while batch.places.len() < BATCH_ROWS {
            let place = Place::Line(self.reader.position().line());
            let is_row =
                self.reader.read_byte_record(&mut record).map_err(|e| fault(&selection.path, place, &e))?;
            if !is_row {
                break;
            }
            // The reader stands at the line after the row, which may itself have several.
            let inside = record.as_slice().iter().filter(|&&byte| byte == b'\n').count() as u64;
            let place = Place::Line(self.reader.position().line() - 1 - inside);
            if record.len() != self.header.len() {
                let (expected, found) = (self.header.len(), record.len());
                return Err(TableError::RowLength { path: selection.path.clone(), place, expected, found });
            }
            let text = |column: usize| {
                let cell = std::str::from_utf8(&record[column]);
                cell.map_err(|_| TableError::Encoding { path: selection.path.clone(), place })
            };
            for &column in &selection.numbers {
                numbers.push(match parse_number(text(column)?) {
                    Ok(number) => number,
                    Err(problem) => {
                        let column = selection.columns[column].clone();
                        batch.faults.push(CellFault { place, column, problem });
                        f64::NAN
                    }
                });
            }
            for (texts, &column) in batch.texts.iter_mut().zip(&selection.texts) {
                texts.push(text(column)?.trim().into());
            }
            batch.places.push(place);
        }
        if batch.places.is_empty() {
            return Ok(None);
        }
        let shape = (batch.places.len(), selection.numbers.len());
        batch.numbers =
            Array2::from_shape_vec(shape, numbers).unwrap_or_else(|_| unreachable!("rows are whole"));
        Ok(Some(batch))
    }
}

fn fault(path: &Path, place: Place, error: &csv::Error) -> TableError {
    match error.kind() {
        csv::ErrorKind::Utf8 { .. } => TableError::Encoding { path: path.into(), place },
        csv::ErrorKind::Io(error) => TableError::read(path, error),
        other => TableError::Malformed { path: path.into(), kind: "CSV", reason: format!("{other:?}") },
    }
}

/// A file in which every line, the last one too, ends in a line feed and nothing else, so that
/// lines can be counted.
struct PlainLines<R> {
    inner: R,
    /// A carriage return was read, and what follows it was not.
    holds_return: bool,
    last: u8,
}

impl<R> PlainLines<R> {
    fn new(inner: R) -> Self {
        Self { inner, holds_return: false, last: b'\n' }
    }
}

impl<R: Read> Read for PlainLines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.len() < 2 {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        loop {
            let held = usize::from(std::mem::take(&mut self.holds_return));
            buffer[0] = if held == 1 { b'\r' } else { b'\n' };
            let read = self.inner.read(&mut buffer[held..])?;
            if read == 0 {
                let is_open = held == 1 || self.last != b'\n';
                self.last = b'\n';
                buffer[0] = b'\n';
                return Ok(usize::from(is_open));
            }
            let mut length = held + read;
            if buffer[length - 1] == b'\r' {
                self.holds_return = true;
                length -= 1;
            }
            if buffer[..length].contains(&b'\r') {
                let mut kept = 0;
                for i in 0..length {
                    // A return at the very end is held back, so that something follows.
                    if buffer[i] != b'\r' || buffer[i + 1] != b'\n' {
                        buffer[kept] = buffer[i];
                        kept += 1;
                    }
                }
                length = kept;
            }
            if length > 0 {
                self.last = buffer[length - 1];
                return Ok(length);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives a few bytes at a time.
    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = self.1.min(buffer.len());
            self.0.by_ref().take(length as u64).read(buffer)
        }
    }

    #[test]
    fn lines_end_in_a_line_feed_however_they_arrive() {
        for (text, plain) in [
            ("a\r\nb\r\n", "a\nb\n"),
            ("a\nb", "a\nb\n"),
            ("a\r\n\r\nb\r", "a\n\nb\n"),
            ("a\rb\n", "a\rb\n"),
            ("\r\r\n", "\r\n"),
            ("", ""),
        ] {
            for step in 1..6 {
                let mut read = Vec::new();
                PlainLines::new(Slow(text.as_bytes(), step)).read_to_end(&mut read).unwrap();
                assert_eq!(String::from_utf8(read).unwrap(), plain, "{text:?} by {step}");
            }
        }
    }
}
