//! Arrow files and streams, message by message.
//!
//! The decoder of Arrow allocates what a message says, and a failed allocation ends the program. So
//! every length that a message states is held against the file and the limits before it is decoded.

use std::collections::HashMap;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use std::vec;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::{Buffer, MutableBuffer};
use arrow_ipc::convert::fb_to_schema;
use arrow_ipc::reader::{read_dictionary, read_footer_length, read_record_batch};
use arrow_ipc::{CompressionType, Endianness, root_as_footer, root_as_message};
use arrow_schema::SchemaRef;
use lz4_flex::frame::FrameDecoder;

use super::input::Input;
use super::limits::Limits;
use super::{Result, TableError, error};

/// What a file, as opposed to a stream, begins with.
const MAGIC: &[u8] = b"ARROW1";

/// The end of every file: the length of its description, and the magic.
const TAIL: u64 = 10;

/// Bytes of memory for each row, even where a batch has none for it: columns in which everything is
/// missing take no bytes.
const ROW_BYTES: u64 = 16;

/// How many times its size what LZ4 has compressed can be at most.
const LZ4_RATIO: u64 = 255;

/// Columns of the file times columns that are read, up to which the decoder skips what is not read. It
/// looks each up in a list; beyond this, decoding everything takes less time.
const PROJECTED_CELLS: usize = 1 << 22;

/// Reads record batches.
pub struct Ipc {
    input: Input,
    length: u64,
    limits: Limits,
    schema: SchemaRef,
    messages: Messages,
    dictionaries: HashMap<i64, ArrayRef>,
    /// The memory that each dictionary takes.
    dictionary_bytes: HashMap<i64, u64>,
}

/// Where the messages are.
enum Messages {
    /// In a file: as its description lists them.
    Listed(vec::IntoIter<Span>),
    /// In a stream: one after the other, the next one here.
    From(u64),
}

/// Where a message of a file is.
#[derive(Clone, Copy)]
struct Span {
    start: u64,
    /// Bytes before the body.
    head: u64,
    body: u64,
}

/// A message whose body has not been read.
struct Message {
    metadata: Vec<u8>,
    body_start: u64,
    /// None: the metadata says it.
    body: Option<u64>,
}

fn invalid(reason: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason.into())
}

fn malformed(path: &Path, error: &dyn std::fmt::Display) -> TableError {
    error::malformed(path, "Arrow", error)
}

impl Ipc {
    /// A file with its description at the end, or a stream without one.
    pub fn open(path: &Path, mut input: Input, limits: Limits) -> Result<Self> {
        let mut magic = Vec::new();
        let length = input
            .seek(SeekFrom::End(0))
            .and_then(|length| input.seek(SeekFrom::Start(0)).map(|_| length))
            .and_then(|length| {
                input.by_ref().take(MAGIC.len() as u64).read_to_end(&mut magic).map(|_| length)
            })
            .map_err(|error| TableError::read(path, &error))?;
        let mut ipc = Self {
            input,
            length,
            limits,
            schema: Arc::new(arrow_schema::Schema::empty()),
            messages: Messages::From(0),
            dictionaries: HashMap::new(),
            dictionary_bytes: HashMap::new(),
        };
        if magic == MAGIC {
            ipc.open_file(path)?
        } else {
            ipc.open_stream(path)?
        }
        Ok(ipc)
    }

    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn open_file(&mut self, path: &Path) -> Result<()> {
        let fault = |error: &dyn std::fmt::Display| malformed(path, error);
        let tail_start = self.length.checked_sub(TAIL).ok_or_else(|| fault(&"it breaks off"))?;
        let mut tail = [0; TAIL as usize];
        self.fill(tail_start, &mut tail).map_err(|error| fault(&error))?;
        let footer = read_footer_length(tail).map_err(|error| fault(&error))? as u64;
        error::within(path, "the description of its columns", footer, self.limits.description())?;
        let start = tail_start.checked_sub(footer).ok_or_else(|| fault(&"it breaks off"))?;
        let bytes = self.bytes(start, footer).map_err(|error| fault(&error))?;
        let footer = root_as_footer(&bytes).map_err(|error| fault(&error))?;
        let schema = footer.schema().ok_or_else(|| fault(&"it has no columns"))?;
        check_order(schema.endianness()).map_err(|error| fault(&error))?;
        let blocks =
            footer.dictionaries().into_iter().flatten().chain(footer.recordBatches().into_iter().flatten());
        let mut spans = Vec::new();
        for block in blocks {
            let size = |number: i64| u64::try_from(number).map_err(|_| fault(&"a batch has a negative size"));
            let (start, body) = (size(block.offset())?, size(block.bodyLength())?);
            spans.push(Span { start, head: size(block.metaDataLength().into())?, body });
        }
        self.schema = Arc::new(fb_to_schema(schema));
        self.messages = Messages::Listed(spans.into_iter());
        Ok(())
    }

    fn open_stream(&mut self, path: &Path) -> Result<()> {
        let fault = |error: &dyn std::fmt::Display| malformed(path, error);
        let message = self.next_message(path)?.ok_or_else(|| fault(&"it has no columns"))?;
        let parsed = root_as_message(&message.metadata).map_err(|error| fault(&error))?;
        let schema = parsed.header_as_schema().ok_or_else(|| fault(&"it does not begin with its columns"))?;
        check_order(schema.endianness()).map_err(|error| fault(&error))?;
        self.schema = Arc::new(fb_to_schema(schema));
        let body =
            u64::try_from(parsed.bodyLength()).map_err(|_| fault(&"its columns have a negative size"))?;
        self.messages = Messages::From(message.body_start.saturating_add(body));
        Ok(())
    }

    /// The next batch, with at least the columns at these positions; whether it has those alone.
    pub fn next_batch(&mut self, path: &Path, wanted: &[usize]) -> Result<Option<(RecordBatch, bool)>> {
        let fault = |error: &dyn std::fmt::Display| malformed(path, error);
        while let Some(message) = self.next_message(path)? {
            let parsed = root_as_message(&message.metadata).map_err(|error| fault(&error))?;
            let body = match message.body {
                Some(body) => body,
                None => {
                    let size = u64::try_from(parsed.bodyLength());
                    let body = size.map_err(|_| fault(&"a batch has a negative size"))?;
                    self.messages = Messages::From(message.body_start.saturating_add(body));
                    body
                }
            };
            let version = parsed.version();
            if let Some(batch) = parsed.header_as_record_batch() {
                let (body, _) = self.body(path, &batch, message.body_start, body, 0)?;
                let is_projected = self.schema.fields().len().saturating_mul(wanted.len()) <= PROJECTED_CELLS;
                let projection = is_projected.then_some(wanted);
                let schema = self.schema.clone();
                let read = read_record_batch(&body, batch, schema, &self.dictionaries, projection, &version);
                return Ok(Some((read.map_err(|error| fault(&error))?, is_projected)));
            } else if let Some(dictionary) = parsed.header_as_dictionary_batch() {
                let batch = dictionary.data().ok_or_else(|| fault(&"a dictionary has no values"))?;
                let id = dictionary.id();
                let before = self.dictionary_bytes.get(&id).copied().unwrap_or(0);
                // Values that are added are copied together with those that are there.
                let copied = if dictionary.isDelta() { before } else { 0 };
                let (body, needed) = self.body(path, &batch, message.body_start, body, copied)?;
                read_dictionary(&body, dictionary, &self.schema, &mut self.dictionaries, &version)
                    .map_err(|error| fault(&error))?;
                self.dictionary_bytes.insert(id, needed + copied);
            } else {
                return Err(fault(&"it has a message of an unknown kind"));
            }
        }
        Ok(None)
    }

    /// The next message without its body; none at the end.
    fn next_message(&mut self, path: &Path) -> Result<Option<Message>> {
        let (start, span) = match &mut self.messages {
            Messages::Listed(spans) => match spans.next() {
                Some(span) => (span.start, Some(span)),
                None => return Ok(None),
            },
            Messages::From(start) => (*start, None),
        };
        let found = self.head(start).map_err(|error| malformed(path, &error))?;
        let (metadata_start, stated) = match found {
            Some(found) => found,
            None if span.is_none() => return Ok(None),
            None => return Err(malformed(path, &"a batch is not where it should be")),
        };
        let body_start = match &span {
            Some(span) => span.start.saturating_add(span.head),
            None => metadata_start.saturating_add(stated),
        };
        let size = body_start.checked_sub(metadata_start);
        let size = size.ok_or_else(|| malformed(path, &"a batch has no description"))?;
        error::within(path, "the description of a batch", size, self.limits.description())?;
        let metadata = self.bytes(metadata_start, size).map_err(|error| malformed(path, &error))?;
        Ok(Some(Message { metadata, body_start, body: span.map(|span| span.body) }))
    }

    /// Where the metadata of a message begins, and the length that stands before it; none at the end of
    /// a stream.
    fn head(&mut self, start: u64) -> io::Result<Option<(u64, u64)>> {
        // A stream may end without saying so.
        if start >= self.length {
            return Ok(None);
        }
        let mut word = [0; 4];
        self.fill(start, &mut word)?;
        let mut metadata_start = start + 4;
        if word == [0xff; 4] {
            self.fill(metadata_start, &mut word)?;
            metadata_start += 4;
        }
        match i32::from_le_bytes(word) {
            0 => Ok(None),
            length => match u64::try_from(length) {
                Ok(length) => Ok(Some((metadata_start, length))),
                Err(_) => Err(invalid("a batch has a negative size")),
            },
        }
    }

    /// The body of a message, once what its batch states is within the limits; and the memory that the
    /// batch takes.
    fn body(
        &mut self,
        path: &Path,
        batch: &arrow_ipc::RecordBatch<'_>,
        start: u64,
        length: u64,
        copied: u64,
    ) -> Result<(Buffer, u64)> {
        let fault = |error: &dyn std::fmt::Display| malformed(path, error);
        let lengths = batch.nodes().into_iter().flatten().map(|node| node.length()).chain([batch.length()]);
        let rows: std::result::Result<Vec<u64>, _> = lengths.map(u64::try_from).collect();
        let rows = rows.map_err(|_| fault(&"a batch has a negative number of rows"))?;
        let rows = rows.into_iter().max().unwrap_or(0);
        let held = self.dictionary_bytes.values().fold(copied, |sum, &bytes| sum.saturating_add(bytes));
        let mut needed = length.saturating_add(rows.saturating_mul(ROW_BYTES));
        let what = format!("a batch of {rows} rows");
        error::within(path, &what, needed.saturating_add(held), self.limits.memory)?;
        let outside = start.checked_add(length).is_none_or(|end| end > self.length);
        if outside {
            return Err(fault(&"a batch breaks off"));
        }
        let mut body = MutableBuffer::from_len_zeroed(length as usize);
        self.fill(start, &mut body).map_err(|error| fault(&error))?;
        let decompressed = decompressed(batch, &body).map_err(|error| fault(&error))?;
        needed = needed.saturating_add(decompressed);
        error::within(path, &what, needed.saturating_add(held), self.limits.memory)?;
        check_lz4(batch, &body, &self.limits).map_err(|error| fault(&error))?;
        Ok((body.into(), needed))
    }

    fn fill(&mut self, start: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.input.seek(SeekFrom::Start(start))?;
        self.input.read_exact(bytes)
    }

    /// A slice of the input; an error if the input is too short.
    fn bytes(&mut self, start: u64, length: u64) -> io::Result<Vec<u8>> {
        if start.checked_add(length).is_none_or(|end| end > self.length) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut bytes = vec![0; length as usize];
        self.fill(start, &mut bytes)?;
        Ok(bytes)
    }
}

fn check_order(order: Endianness) -> io::Result<()> {
    match order.equals_to_target_endianness() {
        true => Ok(()),
        false => Err(invalid("its numbers have their bytes in another order than this machine's")),
    }
}

/// The parts of a body that are compressed, each with the length that it states for itself.
fn compressed<'b>(batch: &arrow_ipc::RecordBatch<'_>, body: &'b [u8]) -> io::Result<Vec<(u64, &'b [u8])>> {
    let mut parts = Vec::new();
    for buffer in batch.buffers().into_iter().flatten() {
        let start = usize::try_from(buffer.offset()).ok();
        let end = usize::try_from(buffer.length())
            .ok()
            .zip(start)
            .and_then(|(length, start)| start.checked_add(length));
        let part = start.zip(end).and_then(|(start, end)| body.get(start..end));
        let part = part.ok_or_else(|| invalid("a column lies outside its batch"))?;
        if batch.compression().is_none() || part.is_empty() {
            continue;
        }
        let Some((stated, rest)) = part.split_first_chunk::<8>() else {
            return Err(invalid("a compressed column is too short"));
        };
        match i64::from_le_bytes(*stated) {
            // Not compressed after all.
            -1 => {}
            stated => match u64::try_from(stated) {
                Ok(stated) => parts.push((stated, rest)),
                Err(_) => return Err(invalid("a compressed column has a negative size")),
            },
        }
    }
    Ok(parts)
}

/// Bytes that the columns of a batch state for themselves when they are decompressed.
fn decompressed(batch: &arrow_ipc::RecordBatch<'_>, body: &[u8]) -> io::Result<u64> {
    let parts = compressed(batch, body)?;
    Ok(parts.into_iter().fold(0, |sum: u64, (stated, _)| sum.saturating_add(stated)))
}

/// Refuses columns that LZ4 decompresses to more than they state. Zstandard stops there by itself.
fn check_lz4(batch: &arrow_ipc::RecordBatch<'_>, body: &[u8], limits: &Limits) -> io::Result<()> {
    let is_lz4 =
        batch.compression().is_some_and(|compression| compression.codec() == CompressionType::LZ4_FRAME);
    if !is_lz4 {
        return Ok(());
    }
    for (stated, part) in compressed(batch, body)? {
        // Only what could grow beyond a quarter of the limit is worth the time.
        if (part.len() as u64).saturating_mul(LZ4_RATIO) <= limits.memory / 4 {
            continue;
        }
        let found = io::copy(&mut FrameDecoder::new(part).take(stated + 1), &mut io::sink())?;
        if found != stated {
            return Err(invalid("a compressed column has another size than it states"));
        }
    }
    Ok(())
}
