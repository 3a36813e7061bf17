//! Tables: CSV, Arrow and Parquet.

use surefoot_cli::table::{Limits, Reader, Result, Table};

use crate::{MAX_MEMORY, Reading};

/// A CSV file.
pub fn csv(bytes: &[u8]) -> Reading {
    table("people.csv", bytes)
}

/// An Arrow file, or a stream.
pub fn arrow(bytes: &[u8]) -> Reading {
    table("people.arrow", bytes)
}

/// A Parquet file.
pub fn parquet(bytes: &[u8]) -> Reading {
    table("people.parquet", bytes)
}

fn table(name: &str, bytes: &[u8]) -> Reading {
    let limits = Limits { memory: MAX_MEMORY as u64 / 4, cell: 256 };
    let open = || Table::from_bytes(name, bytes.to_vec(), limits);
    let columns = match open() {
        Ok(table) => table.columns().to_vec(),
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return Reading::Refused;
        }
    };
    let none: &[String] = &[];
    let mut reading = Reading::Refused;
    // All columns at once, as numbers and as texts, then each by itself: one of a type that cannot be
    // read must not hide the others.
    let mut selections = vec![(columns.as_slice(), none), (none, columns.as_slice())];
    for column in columns.iter().take(4) {
        let column = std::slice::from_ref(column);
        selections.extend([(column, none), (none, column)]);
    }
    for (numbers, texts) in selections {
        let table = open().expect("it was opened before");
        match table
            .select(numbers, texts)
            .and_then(|reader| rows(reader, numbers.len(), texts.len(), &limits))
        {
            Ok(()) => reading = Reading::Accepted,
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    reading
}

/// Reads everything. Numbers are finite but for those that are reported.
fn rows(mut reader: Reader, numbers: usize, texts: usize, limits: &Limits) -> Result<()> {
    let mut rows = 0;
    while let Some(batch) = reader.next_batch()? {
        assert_eq!(batch.start, rows);
        assert!(batch.len() > 0 && batch.numbers.dim() == (batch.len(), numbers));
        assert!(batch.texts.len() == texts && batch.places.len() == batch.len());
        assert!(batch.texts.iter().all(|column| column.len() == batch.len()));
        assert!(batch.texts.iter().flatten().all(|text| text.len() <= limits.cell));
        let missing = batch.numbers.iter().filter(|number| !number.is_finite()).count();
        assert_eq!(missing, batch.faults.len());
        assert!(batch.faults.iter().all(|fault| !fault.to_string().is_empty()));
        rows += batch.len();
    }
    assert!(reader.next_batch()?.is_none());
    Ok(())
}
