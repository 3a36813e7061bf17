//! CSV files.

use std::io::{self, Read};
use std::path::Path;

use ndarray::Array2;

use super::input::Input;
use super::{Batch, CellFault, Place, Result, Selection, TableError, batch_rows, parse_number};

/// A file whose first line has been read.
pub struct Csv {
    reader: csv::Reader<PlainLines<Input>>,
    header: csv::StringRecord,
}

impl Csv {
    pub fn open(path: &Path, input: Input) -> Result<Self> {
        // This reader reports rows of another length itself, with their line.
        let mut reader = csv::ReaderBuilder::new()
            .flexible(true)
            .buffer_capacity(1 << 17)
            .from_reader(PlainLines::new(input));
        let header = reader.byte_headers().map_err(|error| fault(path, &error))?.clone();
        match ending(&reader, &header) {
            Ending::Row(place) => {
                let header = csv::StringRecord::from_byte_record(header);
                let header = header.map_err(|_| TableError::Encoding { path: path.into(), place })?;
                Ok(Self { reader, header })
            }
            Ending::OpenQuote(place) => Err(TableError::OpenQuote { path: path.into(), place }),
            Ending::File => Err(TableError::Empty { path: path.into() }),
        }
    }

    pub fn columns(&self) -> Vec<String> {
        self.header.iter().map(|name| name.trim().to_owned()).collect()
    }

    pub fn next_batch(
        &mut self,
        selection: &Selection,
        start: usize,
        max_cell: usize,
    ) -> Result<Option<Batch>> {
        let mut batch = Batch::empty(selection, start);
        let rows = batch_rows(selection.numbers.len() + selection.texts.len());
        let mut numbers: Vec<f64> = Vec::new();
        let mut record = csv::ByteRecord::new();
        while batch.places.len() < rows {
            if !self.reader.read_byte_record(&mut record).map_err(|error| fault(&selection.path, &error))? {
                break;
            }
            let place = match ending(&self.reader, &record) {
                Ending::Row(place) => place,
                Ending::OpenQuote(place) => {
                    return Err(TableError::OpenQuote { path: selection.path.clone(), place });
                }
                Ending::File => break,
            };
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
                let text = text(column)?.trim();
                selection.check_cell(column, place, text.len(), max_cell)?;
                texts.push(text.into());
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

fn fault(path: &Path, error: &csv::Error) -> TableError {
    match error.kind() {
        csv::ErrorKind::Io(error) => TableError::read(path, error),
        other => TableError::Malformed { path: path.into(), kind: "CSV", reason: format!("{other:?}") },
    }
}

/// What a record turns out to be.
enum Ending {
    /// A row that begins here.
    Row(Place),
    /// Everything from a quote on, here, that nothing closes.
    OpenQuote(Place),
    /// The mark at the end of the file.
    File,
}

/// Tells rows from the mark at the end, which is swallowed by a quote that is still open.
fn ending(reader: &csv::Reader<PlainLines<Input>>, record: &csv::ByteRecord) -> Ending {
    let lines = |bytes: &[u8]| bytes.iter().filter(|&&byte| byte == b'\n').count() as u64;
    let (inside, position) = (lines(record.as_slice()), reader.position());
    let input = reader.get_ref();
    if !input.is_over || position.byte() < input.given {
        // The reader stands at the line after the row, which may itself have several.
        return Ending::Row(Place::Line(position.line() - 1 - inside));
    }
    match record.len() {
        1 if record[0].is_empty() => Ending::File,
        // The quote is the first thing in the last cell.
        cells => {
            let last = cells.checked_sub(1).map_or(0, |last| lines(&record[last]));
            Ending::OpenQuote(Place::Line(position.line() - last))
        }
    }
}

/// What is added at the end of the file: a row of one empty cell, or the rest of a quoted cell.
const END_MARK: &[u8] = b"\"\"\n";

/// A file in which every line, the last one too, ends in a line feed and nothing else, so that lines can
/// be counted; and after the last line a mark.
///
/// A carriage return alone is kept, as a quoted cell may have one, but for files that have no line feed
/// at all, whose lines it ends.
struct PlainLines<R> {
    inner: R,
    /// A carriage return was read, and what follows it was not.
    holds_return: bool,
    last: u8,
    /// Whether carriage returns end lines; none before the first bytes.
    returns_end_lines: Option<bool>,
    /// Bytes that were given.
    given: u64,
    is_over: bool,
}

impl<R> PlainLines<R> {
    fn new(inner: R) -> Self {
        let (holds_return, returns_end_lines, given, is_over) = (false, None, 0, false);
        Self { inner, holds_return, last: b'\n', returns_end_lines, given, is_over }
    }
}

impl<R: Read> PlainLines<R> {
    /// The next bytes of the file; none at its end.
    fn read_lines(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let held = usize::from(std::mem::take(&mut self.holds_return));
            buffer[0] = if held == 1 { b'\r' } else { b'\n' };
            let read = self.inner.read(&mut buffer[held..])?;
            let mut length = held + read;
            if read == 0 && held == 0 {
                return Ok(0);
            }
            let new = &buffer[..length];
            let returns_end_lines =
                *self.returns_end_lines.get_or_insert_with(|| new.contains(&b'\r') && !new.contains(&b'\n'));
            if read == 0 {
                // The file ends in a carriage return, which ends a line.
                buffer[0] = b'\n';
                return Ok(1);
            }
            if buffer[length - 1] == b'\r' {
                self.holds_return = true;
                length -= 1;
            }
            if buffer[..length].contains(&b'\r') {
                let mut kept = 0;
                for i in 0..length {
                    // A return at the very end is held back, so that something follows.
                    if buffer[i] == b'\r' && buffer[i + 1] == b'\n' {
                        continue;
                    }
                    buffer[kept] = if buffer[i] == b'\r' && returns_end_lines { b'\n' } else { buffer[i] };
                    kept += 1;
                }
                length = kept;
            }
            if length > 0 {
                return Ok(length);
            }
        }
    }
}

impl<R: Read> Read for PlainLines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.len() <= END_MARK.len() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        if self.is_over {
            return Ok(0);
        }
        let mut length = self.read_lines(buffer)?;
        if length == 0 {
            self.is_over = true;
            let end = [if self.last == b'\n' { &b""[..] } else { b"\n" }, END_MARK].concat();
            buffer[..end.len()].copy_from_slice(&end);
            length = end.len();
        }
        self.last = buffer[length - 1];
        self.given += length as u64;
        Ok(length)
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

    /// Reads to the end through a buffer that is never too small.
    fn all(mut lines: PlainLines<impl Read>) -> Vec<u8> {
        let (mut all, mut buffer) = (Vec::new(), [0; 64]);
        loop {
            match lines.read(&mut buffer).unwrap() {
                0 => return all,
                length => all.extend_from_slice(&buffer[..length]),
            }
        }
    }

    #[test]
    fn lines_end_in_a_line_feed_however_they_arrive() {
        for (text, plain) in [
            ("a\r\nb\r\n", "a\nb\n"),
            ("a\nb", "a\nb\n"),
            ("a\r\n\r\nb\r", "a\n\nb\n"),
            ("a\n\rb\n", "a\n\rb\n"),
            ("\n\r\r\n", "\n\r\n"),
            ("", ""),
        ] {
            for step in 1..6 {
                let read = all(PlainLines::new(Slow(text.as_bytes(), step)));
                assert_eq!(String::from_utf8(read).unwrap(), format!("{plain}\"\"\n"), "{text:?} by {step}");
            }
        }
        let read = all(PlainLines::new("a\rb\r\rc".as_bytes()));
        assert_eq!(read, b"a\nb\n\nc\n\"\"\n", "carriage returns alone end lines");
    }
}
