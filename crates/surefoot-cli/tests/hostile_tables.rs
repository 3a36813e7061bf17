//! Files that ask for more memory than they are worth: each is refused before anything of that size is
//! allocated, and says which limit it meets.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Float64Array, Int32Array, NullArray, RecordBatch, RecordBatchOptions,
    StringArray,
};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::properties::WriterProperties;
use surefoot_cli::table::{Batch, Limits, Table, TableError};

/// So little that every test can reach it.
const SMALL: Limits = Limits { memory: 1 << 20, cell: 100 };

fn read(
    name: &str,
    bytes: &[u8],
    numbers: &[&str],
    texts: &[&str],
    limits: Limits,
) -> Result<Batch, TableError> {
    Table::from_bytes(name, bytes.to_vec(), limits)?.select(numbers, texts)?.read_all()
}

fn refused(name: &str, bytes: &[u8], numbers: &[&str], texts: &[&str], limits: Limits) -> String {
    read(name, bytes, numbers, texts, limits).map(|batch| batch.len()).unwrap_err().to_string()
}

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter(columns).unwrap()
}

fn ipc(batch: &RecordBatch, compression: Option<CompressionType>, is_stream: bool) -> Vec<u8> {
    let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
    let mut bytes = Vec::new();
    if is_stream {
        let mut writer = StreamWriter::try_new_with_options(&mut bytes, &batch.schema(), options).unwrap();
        writer.write(batch).unwrap();
        writer.finish().unwrap();
    } else {
        let mut writer = FileWriter::try_new_with_options(&mut bytes, &batch.schema(), options).unwrap();
        writer.write(batch).unwrap();
        writer.finish().unwrap();
    }
    bytes
}

fn parquet(batch: &RecordBatch, properties: WriterProperties) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    bytes
}

fn zstd() -> WriterProperties {
    WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build()
}

/// Where some bytes begin.
fn find(bytes: &[u8], pattern: &[u8]) -> usize {
    bytes.windows(pattern.len()).position(|window| window == pattern).unwrap()
}

#[test]
fn the_length_that_a_compressed_column_states_is_not_believed() {
    let batch = batch(vec![("income", Arc::new(Float64Array::from(vec![2400.0; 64])))]);
    let magics: [(_, &[u8]); 2] = [
        (CompressionType::LZ4_FRAME, &[0x04, 0x22, 0x4d, 0x18]),
        (CompressionType::ZSTD, &[0x28, 0xb5, 0x2f, 0xfd]),
    ];
    for (compression, magic) in magics {
        for is_stream in [false, true] {
            let bytes = ipc(&batch, Some(compression), is_stream);
            assert_eq!(read("a.arrow", &bytes, &["income"], &[], SMALL).unwrap().len(), 64);
            // Each column begins with its length when it is decompressed: 64 doubles.
            let at = find(&bytes, &[&512i64.to_le_bytes()[..], magic].concat());
            for (stated, words) in [
                (
                    1i64 << 60,
                    "a batch of 64 rows would take 1073741824.0 GB of memory; at most 1 MB are allowed",
                ),
                (1 << 21, "at most 1 MB are allowed"),
                (i64::MAX, "at most 1 MB are allowed"),
                (-5, "negative size"),
                (1 << 18, "is not a complete Arrow file"),
                (8, "is not a complete Arrow file"),
            ] {
                let mut changed = bytes.clone();
                changed[at..at + 8].copy_from_slice(&stated.to_le_bytes());
                let message = refused("a.arrow", &changed, &["income"], &[], SMALL);
                assert!(message.contains(words), "{stated}: {message}");
            }
        }
    }
}

#[test]
fn a_column_that_grows_beyond_what_it_states_is_refused() {
    // Four million doubles, which LZ4 compresses to a hundredth, and the length that is stated for them.
    let batch = batch(vec![("income", Arc::new(Float64Array::from(vec![0.0; 1 << 22])))]);
    let mut bytes = ipc(&batch, Some(CompressionType::LZ4_FRAME), false);
    let length = (8i64 << 22).to_le_bytes();
    let at = find(&bytes, &[&length[..], &[0x04, 0x22, 0x4d, 0x18]].concat());
    bytes[at..at + 8].copy_from_slice(&64i64.to_le_bytes());
    let limits = Limits { memory: 128 << 20, ..SMALL };
    let message = refused("a.arrow", &bytes, &["income"], &[], limits);
    assert!(message.contains("a compressed column has another size than it states"), "{message}");
}

#[test]
fn rows_that_take_no_bytes_are_counted() {
    let schema = Arc::new(Schema::new(vec![Field::new("income", DataType::Null, true)]));
    let rows = 1usize << 40;
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    let nothing: Vec<ArrayRef> = vec![Arc::new(NullArray::new(rows))];
    let batch = RecordBatch::try_new_with_options(schema, nothing, &options).unwrap();
    for is_stream in [false, true] {
        let bytes = ipc(&batch, None, is_stream);
        assert!(bytes.len() < 1000);
        let message = refused("a.arrow", &bytes, &["income"], &[], Limits::default());
        assert!(message.contains("a batch of 1099511627776 rows would take 16384.0 GB"), "{message}");
        assert!(message.contains("set SUREFOOT_TABLE_MB to as many megabytes as it may take"), "{message}");
    }
}

#[test]
fn a_batch_must_fit_into_memory_as_a_whole() {
    let rows = 100_000;
    let batch = batch(vec![
        ("age", Arc::new(Float64Array::from(vec![40.0; rows])) as ArrayRef),
        ("income", Arc::new(Float64Array::from(vec![2400.0; rows]))),
    ]);
    for compression in [None, Some(CompressionType::ZSTD), Some(CompressionType::LZ4_FRAME)] {
        let bytes = ipc(&batch, compression, false);
        let message = refused("a.arrow", &bytes, &["age", "income"], &[], SMALL);
        assert!(message.contains("a batch of 100000 rows would take"), "{message}");
        let enough = Limits { memory: 8 << 20, ..SMALL };
        assert_eq!(read("a.arrow", &bytes, &["age", "income"], &[], enough).unwrap().len(), rows);
    }
}

/// Many rows with one long text, which is in the file once.
fn one_long_text(length: usize) -> RecordBatch {
    let keys = Int32Array::from(vec![0; 8192]);
    let ids = DictionaryArray::<Int32Type>::new(keys, Arc::new(StringArray::from(vec!["A".repeat(length)])));
    batch(vec![
        ("id", Arc::new(ids) as ArrayRef),
        ("income", Arc::new(Float64Array::from(vec![2400.0; 8192]))),
    ])
}

#[test]
fn a_long_text_is_not_copied_for_every_row() {
    let batch = one_long_text(400_000);
    let files = [
        ("a.arrow", ipc(&batch, Some(CompressionType::ZSTD), false)),
        ("a.arrows", ipc(&batch, Some(CompressionType::ZSTD), true)),
        ("a.parquet", parquet(&batch, zstd())),
        ("b.parquet", without_arrow_schema(&batch)),
    ];
    for (name, bytes) in &files {
        assert!(bytes.len() < 10_000, "{name} has {}", bytes.len());
        let message = refused(name, bytes, &["income"], &["id"], Limits::default());
        let words = "row 1, column `id`: the text has 400000 bytes; at most 4096 are allowed";
        assert!(message.contains(words), "{name}: {message}");
        assert!(message.contains("set SUREFOOT_CELL_BYTES to as many bytes"), "{message}");
        // What is not read as text does not matter.
        assert_eq!(read(name, bytes, &["income"], &[], Limits::default()).unwrap().len(), 8192);
    }
    let csv = format!("id,income\n{},1\n", "A".repeat(101));
    let message = refused("a.csv", csv.as_bytes(), &["income"], &["id"], SMALL);
    assert!(message.contains("a.csv, line 2, column `id`: the text has 101 bytes; at most 100"), "{message}");
    // Texts within the limit are read as they are, from dictionaries too.
    let short = one_long_text(100);
    for (name, bytes) in [
        ("a.arrow", ipc(&short, Some(CompressionType::LZ4_FRAME), false)),
        ("a.parquet", parquet(&short, zstd())),
        ("b.parquet", without_arrow_schema(&short)),
    ] {
        let read = read(name, &bytes, &["income"], &["id"], SMALL).unwrap();
        assert!(
            read.texts[0].len() == 8192 && read.texts[0].iter().all(|id| *id == "A".repeat(100)),
            "{name}"
        );
    }
}

/// As other programs write it, that do not note which types Arrow had.
fn without_arrow_schema(batch: &RecordBatch) -> Vec<u8> {
    let mut bytes = Vec::new();
    let options = parquet::arrow::arrow_writer::ArrowWriterOptions::new()
        .with_properties(zstd())
        .with_skip_arrow_metadata(true);
    let mut writer = ArrowWriter::try_new_with_options(&mut bytes, batch.schema(), options).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    bytes
}

#[test]
fn pages_of_parquet_files_must_fit_into_memory_side_by_side() {
    let rows = 100_000;
    let column = || Arc::new(Float64Array::from(vec![1.0; rows])) as ArrayRef;
    let batch = batch(vec![("a", column()), ("b", column()), ("c", column())]);
    let properties = zstd()
        .into_builder()
        .set_dictionary_enabled(false)
        .set_data_page_row_count_limit(rows)
        .set_data_page_size_limit(1 << 24)
        .build();
    let bytes = parquet(&batch, properties);
    assert!(bytes.len() < 10_000);
    // Each has a page of 800 kB.
    assert_eq!(read("a.parquet", &bytes, &["a"], &[], SMALL).unwrap().len(), rows);
    let message = refused("a.parquet", &bytes, &["a", "b", "c"], &[], SMALL);
    assert!(
        message.contains("row group 1 of its columns would take 2 MB of memory; at most 1 MB"),
        "{message}"
    );
}

#[test]
fn encodings_that_state_their_own_number_of_values_are_refused_where_they_are_read() {
    let ids: Vec<String> = (0..100).map(|i| format!("person {i}")).collect();
    let batch = batch(vec![
        ("id", Arc::new(StringArray::from(ids)) as ArrayRef),
        ("income", Arc::new(Float64Array::from(vec![1.0; 100]))),
    ]);
    for encoding in [Encoding::DELTA_BYTE_ARRAY, Encoding::DELTA_LENGTH_BYTE_ARRAY] {
        let properties = WriterProperties::builder()
            .set_dictionary_enabled(false)
            .set_column_encoding("id".into(), encoding)
            .build();
        let bytes = parquet(&batch, properties);
        let message = refused("a.parquet", &bytes, &["income"], &["id"], Limits::default());
        assert!(message.contains("column `id`: it is encoded as DELTA_BYTE_ARRAY or"), "{message}");
        assert!(message.contains("write it with plain or dictionary encoding"), "{message}");
        assert_eq!(read("a.parquet", &bytes, &["income"], &[], Limits::default()).unwrap().len(), 100);
    }
}

/// Every length that a file states, made as large as it can be, byte by byte.
#[test]
fn no_byte_of_a_file_makes_it_allocate_more_than_is_allowed() {
    let batch = batch(vec![
        ("id", one_long_text(10).column(0).slice(0, 20)),
        ("income", Arc::new(Float64Array::from(vec![1.0; 20]))),
    ]);
    let files = [
        ("a.arrow", ipc(&batch, Some(CompressionType::LZ4_FRAME), false)),
        ("a.arrows", ipc(&batch, Some(CompressionType::ZSTD), true)),
        ("a.parquet", parquet(&batch, zstd())),
    ];
    for (name, bytes) in files {
        for place in 0..bytes.len() {
            for value in [0xff, 0x7f] {
                let mut changed = bytes.clone();
                changed[place] = value;
                // An allocation that fails would end the test.
                if let Err(error) = read(name, &changed, &["income"], &["id"], SMALL) {
                    assert!(error.to_string().starts_with(name), "{error}");
                }
            }
        }
    }
}
