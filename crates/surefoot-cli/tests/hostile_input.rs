//! Data that acts on whatever shows it, that is there twice, or that is large: what the command makes of
//! it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod command;

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use command::{done, refused, surefoot, text};
use surefoot_cli::table::{Column, Values, Writer};
use tempfile::TempDir;

const PROBLEM: &str = r#"epsilon = 0.1

[[feature]]
name = "income"
mean = 3000.0
std = 1500.0
change = "increase"

[[feature]]
name = "savings"
mean = 8000.0
std = 4000.0

[classifier]
coefficients = [0.8, 0.6]
intercept = -0.5
"#;

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, contents) in [("problem.toml", PROBLEM)].iter().chain(files) {
        std::fs::write(folder.path().join(name), contents).unwrap();
    }
    folder
}

/// Whether everything in a text can be shown: no control characters but line feeds, and nothing that
/// turns the direction of writing.
fn is_harmless(text: &str) -> bool {
    text.chars().all(|c| c == '\n' || !(c.is_control() || ('\u{2028}'..='\u{202e}').contains(&c)))
}

#[test]
fn control_sequences_of_cells_and_names_do_not_reach_the_terminal() {
    let folder = folder(&[
        ("cell.csv", "id,income,savings\nana,\u{1b}[31mRED\u{1b}[0m\u{7},6000\n"),
        ("header.csv", "id,in\u{1b}]0;pwned\u{7}come,savings\nana,2400,6000\n"),
        ("twice.csv", "id,x\u{9b}2J,x\u{9b}2J\n1,2,3\n"),
        ("id.csv", "id,income,savings\na\u{1b}[2Jb\u{202e},2400,6000\n"),
        ("id_action.csv", "id,action:income\na\u{1b}[2Jb\u{202e},1\n"),
        ("other.csv", "id,action:income\n\u{1b}c\nThat of ben holds,1\n"),
        ("line.csv", "id,income,savings\nana,\"1\nsurefoot: all is well\",1\n"),
        ("named.toml", &PROBLEM.replace("\"income\"", "\"in\\u001b[31mcome\\u202e\"")),
    ]);
    let said = |arguments: &[&str]| {
        let output = surefoot(folder.path(), arguments);
        let said = text(&output.stdout) + &text(&output.stderr);
        assert!(is_harmless(&said), "{arguments:?} says {said:?}");
        said
    };
    let recourse = |people: &str| said(&["recourse", "problem.toml", people, "-o", "o.csv"]);
    assert!(recourse("cell.csv").contains("`\\u{1b}[31mRED\\u{1b}[0m\\u{7}` is not a number"));
    assert!(recourse("header.csv").contains("`in\\u{1b}]0;pwned\\u{7}come`"));
    assert!(recourse("twice.csv").contains("two columns are called `x\\u{9b}2J`"));
    // A cell cannot begin a line of its own either.
    assert!(recourse("line.csv").contains("`1\\nsurefoot: all is well` is not a number"));
    assert!(said(&["validate", "problem.toml", "cell.csv"]).contains("line 2: `\\u{1b}[31mRED"));
    let attacked = said(&["attack", "problem.toml", "id.csv", "id_action.csv"]);
    assert!(attacked.contains("The action of a\\u{1b}[2Jb\\u{202e} fails"), "{attacked}");
    let certified = said(&["certify", "problem.toml", "id.csv", "id_action.csv"]);
    assert!(certified.contains("The action of a\\u{1b}[2Jb\\u{202e} breaks"), "{certified}");
    said(&["certify", "problem.toml", "id.csv", "other.csv"]);
    assert!(said(&["validate", "named.toml"]).contains("in\\u{1b}[31mcome\\u{202e}"));
    let person = "{\"in\\u001b[31mcome\\u202e\": 2400, \"savings\": 6000}";
    assert!(said(&["recourse", "named.toml", "--person", person]).contains("in\\u{1b}[31mcome\\u{202e}"));
    said(&["recourse", "no\u{1b}[31mfile.toml", "cell.csv", "-o", "o.csv"]);
    // Files of data keep what is in the data.
    recourse("id.csv");
    let answers = std::fs::read_to_string(folder.path().join("o.csv")).unwrap();
    assert!(answers.contains("\na\u{1b}[2Jb\u{202e},"), "{answers:?}");
}

/// Whether XML 1.0 may hold a character.
fn is_xml(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

#[test]
fn drawings_are_well_formed_whatever_features_are_called() {
    let problem = "epsilon = 0.1\n[[feature]]\nname = \"\\u0000\\u0008\\uFFFFx\"\nchange = \"any\"\n\
        [[feature]]\nname = \"y<&>]]>\\\"'\"\n[classifier]\ncoefficients = [1, 1]\nintercept = -3\n";
    let folder = folder(&[("p.toml", problem)]);
    done(folder.path(), &["validate", "p.toml", "--svg", "g.svg"]);
    let svg = std::fs::read_to_string(folder.path().join("g.svg")).unwrap();
    assert!(svg.chars().all(is_xml), "{svg:?}");
    assert!(svg.contains(">\\u{0}\\u{8}\\u{ffff}x</text>"), "{svg}");
    assert!(svg.contains(">y&lt;&amp;&gt;]]&gt;\"'</text>"), "{svg}");
}

#[test]
fn faults_of_csv_files_name_the_line_on_which_they_are() {
    let of = |people: &str| {
        let folder = folder(&[("q.csv", people)]);
        refused(folder.path(), &["recourse", "problem.toml", "q.csv", "-o", "o.csv"])
    };
    let open = |line: usize| format!("q.csv, line {line}: a quote (\") opens a cell and is never closed");
    // (text, what must be said)
    for (people, words) in [
        ("income,savings\n0,0\n\"a", open(3)),
        ("income,savings\n0,0\n\"a\n", open(3)),
        ("income,savings\n0,0\n\"a\n\n\n0,0\n", open(3)),
        ("income,savings\n0,0\n\n\n1,\"a\n2,3\n", open(5)),
        ("id,income,savings\n\"a\nb\",1,1\nc,\"\"\"2,1\n", open(4)),
        ("id,income,savings\n1,1,1\n\"x\n\ny\",\"1\n", open(5)),
        ("\u{feff}income,savings\r\n0,0\r\n\"a\r\n", open(3)),
        ("income,savings\r0,0\r\"a", open(3)),
        ("\n\n\"income,savings\n0,0\n", open(3)),
        ("id,income,savings\n\"a\nb\",1,1\nc,1\n", "q.csv, line 4: has 2 cells".into()),
        ("id,income,savings\r\n\"a\r\nb\",1,x\r\n", "q.csv, line 2, column `savings`".into()),
        ("id,income,savings\r\n\r\n\"a\r\nb\",1,1\r\nc,x,1\r\n", "q.csv, line 5, column `income`".into()),
        ("\u{feff}id,income,savings\n1,1,1\n2,x,1\n", "q.csv, line 3, column `income`".into()),
        ("income,savings\r1,1\r2,x\r", "q.csv, line 3, column `savings`".into()),
    ] {
        let said = of(people);
        assert!(said.contains(&words), "{people:?} says {said}instead of {words}");
    }
    // A cell that ends in a line feed, and a last row of one empty cell, are as good as any other.
    let one = PROBLEM.replace("[[feature]]\nname = \"savings\"\nmean = 8000.0\nstd = 4000.0\n", "");
    let one = one.replace("[0.8, 0.6]", "[0.8]");
    let folder = folder(&[
        ("a.csv", "income,savings,note\n1,1,\"x\n\"\n"),
        ("b.csv", "income\n\"1\n\"\n\"\"\n"),
        ("one.toml", &one),
    ]);
    done(folder.path(), &["recourse", "problem.toml", "a.csv", "-o", "o.csv"]);
    let said = refused(folder.path(), &["recourse", "one.toml", "b.csv", "-o", "o.csv"]);
    assert!(said.contains("b.csv, line 4, column `income`: no value is given"), "{said}");
}

/// People and actions in a file of some kind.
fn write(path: &Path, ids: &[&str], column: &str) {
    let columns = [("id", Column::Text), (column, Column::Number), ("savings", Column::Number)];
    let mut writer = Writer::create(path, &columns).unwrap();
    let numbers = || Values::Numbers(vec![Some(2400.0); ids.len()]);
    let names = ids.iter().map(|&id| Some(id.to_owned())).collect();
    writer.write(&[Values::Texts(names), numbers(), numbers()]).unwrap();
    writer.finish().unwrap();
}

#[test]
fn an_id_that_is_there_twice_is_refused_with_both_rows() {
    let folder = folder(&[]);
    for format in ["csv", "parquet", "arrow"] {
        let path = |name: &str| folder.path().join(format!("{name}.{format}"));
        write(&path("people"), &["ana", "ben", "carl"], "income");
        write(&path("twice"), &["ana", "ben", "carl", "ben"], "income");
        write(&path("actions"), &["ana", "ben", "carl"], "action:income");
        write(&path("again"), &["ana", "ben", "carl", "ana"], "action:income");
        let (people, twice) = (format!("people.{format}"), format!("twice.{format}"));
        let (actions, again) = (format!("actions.{format}"), format!("again.{format}"));
        let places = |second: usize, first: usize| match format {
            "csv" => format!("line {}, column `id`: `ID` is in line {} already", second + 1, first + 1),
            _ => format!("row {second}, column `id`: `ID` is in row {first} already"),
        };
        let of_people = format!("twice.{format}, {}", places(4, 2).replace("ID", "ben"));
        let of_actions = format!("again.{format}, {}", places(4, 1).replace("ID", "ana"));
        for (arguments, words) in [
            (vec!["recourse", "problem.toml", &twice, "-o", "o.csv"], &of_people),
            (vec!["certify", "problem.toml", &twice, &actions], &of_people),
            (vec!["attack", "problem.toml", &twice, &actions], &of_people),
            (vec!["certify", "problem.toml", &people, &again], &of_actions),
            (vec!["attack", "problem.toml", &people, &again], &of_actions),
        ] {
            let said = refused(folder.path(), &arguments);
            assert!(said.contains(words.as_str()), "{arguments:?} says {said}instead of {words}");
        }
        assert!(!folder.path().join("o.csv").exists());
        let output = surefoot(folder.path(), &["validate", "problem.toml", &twice]);
        let said = text(&output.stdout) + &text(&output.stderr);
        let (second, first) = if format == "csv" { ("line 5", "line 3") } else { ("row 4", "row 2") };
        assert!(said.contains(&format!("{second}: `ben`, which is in {first} already")), "{said}");
        assert!(!output.status.success());
    }
}

/// The table is read twice, however many ids are repeated. To read it for each of them takes minutes.
#[test]
fn many_repeated_ids_are_counted_in_two_readings() {
    let folder = folder(&[]);
    let half: Vec<String> = (0..50_000).map(|i| format!("p{i}")).collect();
    let mut ids: Vec<&str> = half.iter().chain(&half).map(String::as_str).collect();
    ids.push("once");
    write(&folder.path().join("people.parquet"), &ids, "income");
    let said = refused(folder.path(), &["validate", "problem.toml", "people.parquet"]);
    let words = "column `id`: the same in several rows; give every row its own (50000 rows: row 50001: `p0`, which is in \
                 row 1 already, row 50002: `p1`, which is in row 2 already, row 50003: `p2`, which is in row 3 already, ...)";
    assert!(said.contains(words), "{said}");
}

#[test]
fn options_of_one_person_are_no_duplicates_unless_they_are_apart() {
    let folder = folder(&[
        ("people.csv", "id,income,savings\nana,2400,6000\nben,2400,6000\n"),
        ("options.csv", "id,option,action:income\nana,1,4000\nana,2,5000\nben,1,4000\n"),
        ("apart.csv", "id,option,action:income\nana,1,4000\nben,1,4000\nana,2,5000\n"),
    ]);
    done(folder.path(), &["certify", "problem.toml", "people.csv", "options.csv"]);
    let said = refused(folder.path(), &["certify", "problem.toml", "people.csv", "apart.csv"]);
    assert!(said.contains("apart.csv, line 4, column `id`: `ana` is in line 2 already"), "{said}");
}

#[test]
fn texts_that_a_spreadsheet_would_calculate_are_kept_and_warned_of_once() {
    let folder = folder(&[
        ("formulas.csv", "id,income,savings\n-5,2400,6000\n=1+1,2400,6000\n@x,2400,6000\n"),
        ("numbers.csv", "id,income,savings\n-5,2400,6000\n+7,2400,6000\n"),
    ]);
    let recourse = |people: &str, output: &str| {
        let output = surefoot(folder.path(), &["recourse", "problem.toml", people, "-o", output]);
        assert!(output.status.success());
        text(&output.stderr)
    };
    let said = recourse("formulas.csv", "o.csv");
    assert_eq!(
        said,
        "surefoot: o.csv: a spreadsheet would read some cells as formulas, the first `=1+1`; open it with all \
         columns as text\n"
    );
    let answers = std::fs::read_to_string(folder.path().join("o.csv")).unwrap();
    assert!(answers.contains("\n=1+1,") && answers.contains("\n@x,"), "{answers}");
    assert_eq!(recourse("formulas.csv", "o.parquet"), "");
    assert_eq!(recourse("numbers.csv", "o.csv"), "");
}

#[test]
fn limits_are_set_by_the_environment() {
    let folder = folder(&[("people.csv", "id,income,savings\nanastasia,2400,6000\n")]);
    let run = |variable: &str, value: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_surefoot"))
            .current_dir(folder.path())
            .args(["recourse", "problem.toml", "people.csv", "-o", "o.csv"])
            .env(variable, value)
            .output()
            .unwrap();
        (output.status.code(), text(&output.stderr))
    };
    assert_eq!(run("SUREFOOT_CELL_BYTES", "9"), (Some(0), String::new()));
    let (code, said) = run("SUREFOOT_CELL_BYTES", "8");
    assert_eq!(code, Some(2));
    assert!(said.contains("line 2, column `id`: the text has 9 bytes; at most 8 are allowed"), "{said}");
    for (variable, value) in [("SUREFOOT_TABLE_MB", "lots"), ("SUREFOOT_CELL_BYTES", "0")] {
        let (code, said) = run(variable, value);
        assert_eq!(code, Some(2));
        assert!(said.contains(&format!("{variable} is `{value}`; set it to a whole number")), "{said}");
    }
}

/// A table with a batch of 60 million rows in a few kilobytes, and other files of which a few bytes become
/// gigabytes, take less than a gigabyte of address space.
#[test]
#[cfg(target_os = "linux")]
fn small_files_take_little_memory() {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Float64Array, RecordBatch};
    use arrow_ipc::CompressionType;
    use arrow_ipc::writer::{FileWriter, IpcWriteOptions};

    let folder = folder(&[]);
    let column = || Arc::new(Float64Array::from(vec![2400.0; 20_000_000])) as ArrayRef;
    let batch = RecordBatch::try_from_iter([("income", column()), ("savings", column())]).unwrap();
    let options = IpcWriteOptions::default().try_with_compression(Some(CompressionType::ZSTD)).unwrap();
    let file = std::fs::File::create(folder.path().join("rows.arrow")).unwrap();
    let mut writer = FileWriter::try_new_with_options(file, &batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    let output = Command::new("sh")
        .current_dir(folder.path())
        .args(["-c", "ulimit -v 1000000 && exec \"$0\" recourse problem.toml rows.arrow -o o.csv"])
        .arg(env!("CARGO_BIN_EXE_surefoot"))
        // Each thread reserves address space of its own.
        .envs([("RAYON_NUM_THREADS", "1"), ("MALLOC_ARENA_MAX", "1")])
        .output()
        .unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("a batch of 20000000 rows would take"), "{said}");
}

#[test]
fn many_columns_and_many_equations_take_no_time() {
    let count = 100_000;
    let names: Vec<String> = (0..count).map(|i| format!("c{i}")).collect();
    let many = format!("{}\n{}\n", names.join(","), vec!["1"; count].join(","));
    let features = 3000;
    let mut chain = "epsilon = 0.1\n".to_owned();
    for i in 0..features {
        chain += &format!("[[feature]]\nname = \"x{i}\"\n");
    }
    for i in 1..features {
        let cause = i - 1;
        chain += &format!(
            "[[equation]]\nfeature = \"x{i}\"\nparents = [\"x{cause}\"]\ncoefficients = [0.5]\nintercept = 0.0\n"
        );
    }
    let folder = folder(&[("many.csv", &many), ("chain.toml", &chain)]);
    // Seconds would do on an idle machine; what took time with the square or the cube took minutes.
    let limit = Duration::from_secs(60);
    let start = Instant::now();
    let said = refused(folder.path(), &["validate", "problem.toml", "many.csv"]);
    assert!(said.contains("there is no column `income`") && said.len() < 10_000, "{said}");
    let said = done(folder.path(), &["validate", "chain.toml", "--svg", "g.svg"]);
    assert!(said.contains("x2999 = 0.5 * x2998 + u") && said.contains("Causal graph: too wide for text"));
    let svg = std::fs::read_to_string(folder.path().join("g.svg")).unwrap();
    assert_eq!(svg.matches("marker-end").count(), features - 1);
    assert!(start.elapsed() < limit, "took {:?}", start.elapsed());
}
