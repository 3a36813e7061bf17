//! Tables: what is written is read back, and everything that can be wrong is told with file,
//! row and column.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::types::Int8Type;
use arrow_array::{
    ArrayRef, BooleanArray, Decimal128Array, DictionaryArray, Float32Array, Int64Array, LargeStringArray,
    RecordBatch, StringViewArray, UInt8Array,
};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use surefoot_cli::table::{BATCH_ROWS, Batch, Column, Place, Table, TableError, Values, Writer};
use tempfile::TempDir;

const FORMATS: [&str; 3] = ["csv", "parquet", "arrow"];

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn save(folder: &TempDir, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    path
}

fn read(path: &Path, numbers: &[&str], texts: &[&str]) -> Result<Batch, TableError> {
    Table::open(path)?.select(numbers, texts)?.read_all()
}

/// The message of the error, without the folder.
fn refused(path: &Path, numbers: &[&str], texts: &[&str]) -> String {
    let message = read(path, numbers, texts).unwrap_err().to_string();
    let folder = path.parent().unwrap().display().to_string();
    assert!(message.contains(&folder), "{message} does not name the file");
    message.replace(&format!("{folder}/"), "")
}

fn write(path: &Path, rows: usize) {
    let columns = [("id", Column::Text), ("income", Column::Number), ("certified", Column::Truth)];
    let mut writer = Writer::create(path, &columns).unwrap();
    for start in (0..rows).step_by(1000) {
        let part = start..rows.min(start + 1000);
        let ids = part.clone().map(|i| Some(format!("person, \"{i}\""))).collect();
        let incomes = part.clone().map(|i| Some(i as f64 / 3.0)).collect();
        let truths = part.map(|i| Some(i % 2 == 0)).collect();
        writer.write(&[Values::Texts(ids), Values::Numbers(incomes), Values::Truths(truths)]).unwrap();
        assert!(!path.exists(), "half a file is never seen");
    }
    writer.finish().unwrap();
}

#[test]
fn what_is_written_is_read_back_in_batches() {
    let folder = folder();
    let rows = 2 * BATCH_ROWS + 10;
    for format in FORMATS {
        let path = folder.path().join(format!("people.{format}"));
        write(&path, rows);
        let table = Table::open(&path).unwrap();
        assert_eq!(table.columns(), ["id", "income", "certified"]);
        let mut seen = 0;
        for batch in table.select(&["certified", "income"], &["id"]).unwrap() {
            let batch = batch.unwrap();
            assert!(batch.len() <= BATCH_ROWS && batch.start == seen && batch.faults.is_empty());
            for (row, numbers) in batch.numbers.rows().into_iter().enumerate() {
                let i = seen + row;
                // To the bit, in all three.
                assert_eq!(numbers.to_vec(), [f64::from(u8::from(i % 2 == 0)), i as f64 / 3.0]);
                assert_eq!(batch.texts[0][row], format!("person, \"{i}\""));
            }
            seen += batch.len();
        }
        assert_eq!(seen, rows, "{format}");
        assert_eq!(read(&path, &["income"], &[]).unwrap().numbers.dim(), (rows, 1));
    }
    // Nothing else is left in the folder.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
}

#[test]
fn nothing_is_an_empty_cell_and_truth_is_a_word() {
    let folder = folder();
    for format in FORMATS {
        let path = folder.path().join(format!("answers.{format}"));
        let columns = [("cost", Column::Number), ("reason", Column::Text), ("certified", Column::Truth)];
        let mut writer = Writer::create(&path, &columns).unwrap();
        let costs = Values::Numbers(vec![Some(0.1 + 0.2), None]);
        let reasons = Values::Texts(vec![None, Some("too far; \"never\"\nat all".into())]);
        writer.write(&[costs, reasons, Values::Truths(vec![Some(true), None])]).unwrap();
        writer.finish().unwrap();
        let batch = read(&path, &[], &["cost", "reason"]).unwrap();
        assert_eq!(batch.texts[0], ["0.30000000000000004", ""], "{format}");
        assert_eq!(batch.texts[1], ["", "too far; \"never\"\nat all"]);
        let missing = refused(&path, &["certified"], &[]);
        assert!(missing.contains("column `certified`: no value is given"), "{missing}");
    }
    let text = std::fs::read_to_string(folder.path().join("answers.csv")).unwrap();
    assert_eq!(
        text,
        "cost,reason,certified\n0.30000000000000004,,true\n,\"too far; \"\"never\"\"\nat all\",\n"
    );
}

#[test]
fn csv_as_people_write_it() {
    let folder = folder();
    let text =
        "\u{feff}id, income ,\"name\",ok\r\n 7 , 1e3,\"Ana, B.\",True\r\n\r\n8,-.5,\"x\ny\",FALSE\n9,2,z,1";
    let batch = read(&save(&folder, "a.CSV", text), &["income", "ok"], &["id", "name"]).unwrap();
    assert_eq!(batch.numbers, ndarray::array![[1000.0, 1.0], [-0.5, 0.0], [2.0, 1.0]]);
    assert_eq!(batch.texts, [vec!["7", "8", "9"], vec!["Ana, B.", "x\ny", "z"]]);
    assert_eq!(batch.places, [Place::Line(2), Place::Line(4), Place::Line(6)]);
}

#[test]
fn faults_of_csv_files_name_line_and_column() {
    let folder = folder();
    let of = |text: &str| refused(&save(&folder, "a.csv", text), &["age", "income"], &["id"]);
    assert_eq!(
        of("id,age,income\n1,30,5\n2,,7\n"),
        "a.csv, line 3, column `age`: no value is given; give one, or leave the row out"
    );
    assert_eq!(
        of("id,age,income\n1,30,lots\n"),
        "a.csv, line 2, column `income`: `lots` is not a number; write a number, or leave the row out"
    );
    for nan in ["nan", "NaN", "-NaN"] {
        assert_eq!(
            of(&format!("id,age,income\n1,{nan},1\n")),
            format!(
                "a.csv, line 2, column `age`: the cell holds `{nan}`, which is not a number; write a number, or leave \
                 the row out"
            )
        );
    }
    assert!(of("id,age,income\n1,inf,1\n").contains("line 2, column `age`: the value is inf"));
    assert!(of("id,age,income\n1,1e999,1\n").contains("the value is inf"));
    assert_eq!(of("id,age,Income\n"), "a.csv: has no column `income`; did you mean `Income`?");
    assert_eq!(of("id,x,y\n"), "a.csv: has no column `age`; there are `id`, `x`, `y`");
    assert!(of("id;age;income\n1;2;3\n").contains("separate columns by commas"));
    assert_eq!(of("id,age,age\n"), "a.csv: two columns are called `age`; rename or remove one");
    assert_eq!(of("id,age,income\n"), "a.csv: has no rows; this command needs at least one");
    assert_eq!(of(""), "a.csv: is empty; the first line must name the columns");
    assert_eq!(of("\n\n"), "a.csv: is empty; the first line must name the columns");
    assert_eq!(
        of("id,age,income\n1,30,5\n2,30\n"),
        "a.csv, line 3: has 2 cells; the first line names 3 columns"
    );
    let latin = save(&folder, "b.csv", b"id,age\nM\xfcller,3\n");
    assert_eq!(refused(&latin, &["age"], &["id"]), "b.csv, line 2: is not UTF-8; save the file as UTF-8");
    assert!(read(&latin, &["age"], &[]).is_ok(), "what is not asked for does not matter");
}

#[test]
fn every_fault_of_a_batch_is_kept() {
    let folder = folder();
    let path = save(&folder, "a.csv", "age\n1\nx\n\n\"\"\n-inf\n4\n");
    let mut reader = Table::open(&path).unwrap().select(&["age"], &[]).unwrap();
    let batch = reader.next_batch().unwrap().unwrap();
    assert_eq!((batch.len(), batch.faults.len()), (5, 3));
    let places: Vec<Place> = batch.faults.iter().map(|fault| fault.place).collect();
    assert_eq!(places, [Place::Line(3), Place::Line(5), Place::Line(6)]);
    assert!(batch.numbers[[1, 0]].is_nan() && batch.numbers[[4, 0]] == 4.0);
    assert!(reader.next_batch().unwrap().is_none() && reader.next_batch().unwrap().is_none());
}

#[test]
fn truncated_and_foreign_files() {
    let folder = folder();
    for format in ["parquet", "arrow"] {
        let whole = folder.path().join(format!("whole.{format}"));
        write(&whole, 5000);
        let bytes = std::fs::read(&whole).unwrap();
        for length in [1, 7, bytes.len() / 2, bytes.len() - 1] {
            let path = save(&folder, &format!("cut.{format}"), &bytes[..length]);
            let message = refused(&path, &["income"], &[]);
            assert!(message.starts_with(&format!("cut.{format}: is not a complete ")), "{length}: {message}");
        }
        let empty = save(&folder, &format!("empty.{format}"), "");
        assert!(refused(&empty, &["income"], &[]).contains("is empty"));
        assert!(refused(&whole, &["id"], &[]).contains("column `id`: holds text instead of numbers"));
    }
    assert!(refused(&folder.path().join("none.csv"), &["a"], &[]).starts_with("none.csv: cannot be read: "));
    let other = refused(&save(&folder, "people.xlsx", "x"), &["a"], &[]);
    assert!(other.contains("name it .csv, .parquet or .arrow"), "{other}");
}

/// Columns of every type that holds numbers or text.
fn every_type() -> RecordBatch {
    let columns: [(&str, ArrayRef); 8] = [
        ("whole", Arc::new(Int64Array::from(vec![Some(1), None, Some(9_007_199_254_740_993)]))),
        ("small", Arc::new(UInt8Array::from(vec![1, 2, 255]))),
        ("float", Arc::new(Float32Array::from(vec![0.5, 1.5, f32::INFINITY]))),
        ("truth", Arc::new(BooleanArray::from(vec![true, false, true]))),
        (
            "money",
            Arc::new(Decimal128Array::from(vec![150, 225, -1]).with_precision_and_scale(9, 2).unwrap()),
        ),
        ("long", Arc::new(LargeStringArray::from(vec!["a", "b", "c"]))),
        ("view", Arc::new(StringViewArray::from(vec![Some("d"), None, Some("f")]))),
        (
            "category",
            Arc::new(vec![Some("red"), None, Some("red")].into_iter().collect::<DictionaryArray<Int8Type>>()),
        ),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.map(|(name, array)| (name, array, true))).unwrap()
}

#[test]
fn files_of_other_programs() {
    let folder = folder();
    let batch = every_type();
    let file = |name: &str| std::fs::File::create(folder.path().join(name)).unwrap();
    let mut stream = StreamWriter::try_new(file("stream.arrow"), &batch.schema()).unwrap();
    stream.write(&batch).unwrap();
    stream.finish().unwrap();
    for (name, compression) in [("a.feather", CompressionType::LZ4_FRAME), ("b.arrow", CompressionType::ZSTD)]
    {
        let options = IpcWriteOptions::default().try_with_compression(Some(compression)).unwrap();
        let mut writer = FileWriter::try_new_with_options(file(name), &batch.schema(), options).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
    }
    let mut writer = parquet::arrow::ArrowWriter::try_new(file("c.parquet"), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    for name in ["stream.arrow", "a.feather", "b.arrow", "c.parquet"] {
        let path = folder.path().join(name);
        let read = read(&path, &["money", "truth", "small"], &["category", "view", "long", "whole"]).unwrap();
        assert_eq!(
            read.numbers,
            ndarray::array![[1.5, 1.0, 1.0], [2.25, 0.0, 2.0], [-0.01, 1.0, 255.0]],
            "{name}"
        );
        let texts = [
            vec!["red", "", "red"],
            vec!["d", "", "f"],
            vec!["a", "b", "c"],
            vec!["1", "", "9007199254740993"],
        ];
        assert_eq!(read.texts, texts);
        assert!(refused(&path, &["whole"], &[]).contains("row 2, column `whole`: no value is given"));
        assert!(refused(&path, &["float"], &[]).contains("row 3, column `float`: the value is inf"));
        assert!(refused(&path, &["category"], &[]).contains("column `category`: holds text"));
    }
}

#[test]
fn an_output_that_cannot_be_or_is_broken_off() {
    let folder = folder();
    let columns = [("a", Column::Number)];
    for format in FORMATS {
        let nowhere = folder.path().join(format!("no/such/folder.{format}"));
        let error = Writer::create(&nowhere, &columns).err().unwrap();
        assert!(matches!(&error, TableError::Write { path, .. } if *path == nowhere), "{error}");
        let path = folder.path().join(format!("out.{format}"));
        let mut writer = Writer::create(&path, &columns).unwrap();
        writer.write(&[Values::Numbers(vec![Some(1.0)])]).unwrap();
        assert!(
            writer.write(&[]).is_err()
                && writer.write(&[Values::Texts(vec![]), Values::Texts(vec![])]).is_err()
        );
        drop(writer);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{format}");
    }
    std::fs::create_dir(folder.path().join("d.csv")).unwrap();
    let error = Writer::create(folder.path().join("d.csv"), &columns).err().unwrap();
    assert!(error.to_string().contains("it is a folder"), "{error}");
}

/// Bytes that were changed on the way are read as something else or refused.
#[test]
fn damaged_files_never_panic() {
    let folder = folder();
    for format in FORMATS {
        let whole = folder.path().join(format!("whole.{format}"));
        write(&whole, 300);
        let bytes = std::fs::read(&whole).unwrap();
        let mut state = 1u64;
        for _ in 0..150 {
            let mut damaged = bytes.clone();
            for _ in 0..3 {
                // A linear congruential generator: the same damage every time.
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let place = (state >> 33) as usize % damaged.len();
                damaged[place] = (state >> 20) as u8;
            }
            let path = save(&folder, &format!("damaged.{format}"), &damaged);
            if let Err(error) = read(&path, &["income"], &["id"]) {
                assert!(error.to_string().contains("damaged"), "{error}");
            }
        }
    }
}
