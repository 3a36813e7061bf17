//! Parquet files, of which everything that the Parquet reader would allocate is checked first.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::Compression;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{ChunkReader, Length};

use super::contents::{self, PageHeader};
use super::input::Input;
use super::limits::Limits;
use super::{Result, Selection, batch_rows, error};

/// The end of every file: the length of its description, and `PAR1`.
const TAIL: u64 = 8;

/// Bytes of memory for each distinct value of a dictionary, beyond those of its page.
const DISTINCT_BYTES: u64 = 24;

/// Encodings by which a page states how many values it has, whatever its size, so that the memory they
/// take cannot be known before they are decoded: `DELTA_LENGTH_BYTE_ARRAY` and `DELTA_BYTE_ARRAY`.
const UNBOUNDED_ENCODINGS: [i32; 2] = [6, 7];

/// How many times its size what LZ4 has compressed can be at most.
const LZ4_RATIO: u64 = 255;

/// A file whose description has been checked and read.
pub struct Parquet {
    input: Input,
    metadata: ArrowReaderMetadata,
}

impl Parquet {
    pub fn open(path: &Path, mut input: Input, limits: &Limits) -> Result<Self> {
        let malformed = |error: &dyn std::error::Error| error::malformed(path, "Parquet", error);
        let description = description(&mut input).map_err(|error| malformed(&error))?;
        error::within(path, "the description of its columns", description, limits.description())?;
        let mut bytes = vec![0; description as usize];
        let start = SeekFrom::End(-((TAIL + description) as i64));
        let read = input.seek(start).and_then(|_| input.read_exact(&mut bytes));
        read.and_then(|()| contents::check(&bytes)).map_err(|error| malformed(&error))?;
        let metadata = ArrowReaderMetadata::load(&input, ArrowReaderOptions::new());
        Ok(Self { metadata: metadata.map_err(|error| malformed(&error))?, input })
    }

    pub fn schema(&self) -> &Schema {
        self.metadata.schema()
    }

    /// Starts to read the columns at these positions, in ascending order, if their pages are within the limits.
    pub fn read(
        self,
        selection: &Selection,
        wanted: &[usize],
        limits: &Limits,
    ) -> Result<ParquetRecordBatchReader> {
        let path = &selection.path;
        self.check_pages(selection, wanted, limits)?;
        let malformed = |error: &dyn std::error::Error| error::malformed(path, "Parquet", error);
        let options = ArrowReaderOptions::new().with_schema(Arc::new(self.with_views(wanted)));
        let metadata = ArrowReaderMetadata::try_new(self.metadata.metadata().clone(), options);
        let metadata = metadata.map_err(|error| malformed(&error))?;
        let mask = ProjectionMask::roots(metadata.parquet_schema(), wanted.iter().copied());
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(self.input, metadata)
            .with_projection(mask)
            .with_batch_size(batch_rows(wanted.len()))
            .build();
        reader.map_err(|error| malformed(&error))
    }

    /// The schema with texts that are read as references to their dictionary, so that a long text in
    /// many rows is in memory once.
    fn with_views(&self, wanted: &[usize]) -> Schema {
        let schema = self.schema();
        let view = |(position, field): (usize, &Arc<Field>)| match wanted.binary_search(&position).is_ok() {
            true if is_text(field.data_type()) => {
                Arc::new(field.as_ref().clone().with_data_type(DataType::Utf8View))
            }
            _ => field.clone(),
        };
        let fields: Vec<Arc<Field>> = schema.fields().iter().enumerate().map(view).collect();
        Schema::new_with_metadata(fields, schema.metadata().clone())
    }

    /// Refuses row groups whose columns, read side by side, would take too much memory.
    fn check_pages(&self, selection: &Selection, wanted: &[usize], limits: &Limits) -> Result<()> {
        let path = &selection.path;
        let schema = self.metadata.parquet_schema();
        for (number, group) in self.metadata.metadata().row_groups().iter().enumerate() {
            let mut needed = 0u64;
            for (leaf, chunk) in group.columns().iter().enumerate() {
                let column = schema.get_column_root_idx(leaf);
                if wanted.binary_search(&column).is_err() {
                    continue;
                }
                let memory = self.chunk_memory(chunk, limits).map_err(|error| {
                    let name = &selection.columns[column];
                    error::malformed(path, "Parquet", &format_args!("column `{name}`: {error}"))
                })?;
                needed = needed.saturating_add(memory);
            }
            let what = format!("row group {} of its columns", number + 1);
            error::within(path, &what, needed, limits.memory)?;
        }
        Ok(())
    }

    /// The memory that it takes to read a column of a row group: its dictionary and its largest page.
    fn chunk_memory(&self, chunk: &ColumnChunkMetaData, limits: &Limits) -> io::Result<u64> {
        let invalid = |reason: &str| io::Error::new(io::ErrorKind::InvalidData, reason);
        let (start, length) = chunk.byte_range();
        if start.checked_add(length).is_none_or(|end| end > Length::len(&self.input)) {
            return Err(invalid("its values lie outside the file"));
        }
        // What this deprecated form of LZ4 says of its size is not held against what it gives.
        if chunk.compression() == Compression::LZ4 && length.saturating_mul(LZ4_RATIO) > limits.memory {
            return Err(invalid("it is compressed by LZ4 as Hadoop does; use ZSTD, SNAPPY or LZ4_RAW"));
        }
        let (mut offset, mut remaining) = (start, length);
        let (mut dictionary, mut largest) = (0, 0);
        while remaining > 0 {
            let open = || self.input.get_read(offset).map_err(io::Error::other);
            let page: PageHeader = contents::page_header(open, remaining)?;
            let size = page.stored.max(page.decompressed);
            match page.distinct {
                Some(distinct) if distinct > page.decompressed => {
                    return Err(invalid("its dictionary has more values than bytes"));
                }
                Some(distinct) => dictionary = dictionary.max(size + DISTINCT_BYTES * distinct),
                None if UNBOUNDED_ENCODINGS.contains(&page.encoding) => {
                    return Err(invalid(
                        "it is encoded as DELTA_BYTE_ARRAY or DELTA_LENGTH_BYTE_ARRAY, whose memory is not \
                         bounded; write it with plain or dictionary encoding",
                    ));
                }
                None => largest = largest.max(size + page.stored),
            }
            let whole = page.length + page.stored;
            remaining = remaining.checked_sub(whole).ok_or_else(|| invalid("a page is cut off"))?;
            offset += whole;
        }
        Ok(dictionary + largest)
    }
}

/// Bytes of the description at the end of the file.
fn description(input: &mut Input) -> io::Result<u64> {
    let too_short = || io::Error::new(io::ErrorKind::UnexpectedEof, "it breaks off");
    let length = input.seek(SeekFrom::End(0))?;
    if length < TAIL {
        return Err(too_short());
    }
    let mut tail = [0; TAIL as usize];
    input.seek(SeekFrom::End(-(TAIL as i64)))?;
    input.read_exact(&mut tail)?;
    let [a, b, c, d, magic @ ..] = tail;
    if magic != *b"PAR1" {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it does not end as one"));
    }
    let description = u64::from(u32::from_le_bytes([a, b, c, d]));
    if description > length - TAIL { Err(too_short()) } else { Ok(description) }
}

fn is_text(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => is_text(values),
        kind => matches!(kind, DataType::Utf8 | DataType::LargeUtf8),
    }
}
