//! A sample of random problems: whatever one part of Surefoot says about one, no other contradicts.
//! `cargo bench -p surefoot-cli --bench consistency` draws 2,000.

use std::path::Path;

use surefoot_random::{Case, Settings, Tally, command, contradictions};

const COUNT: u64 = 60;
const SEED: u64 = 1;

#[test]
fn whatever_one_part_says_no_other_contradicts() {
    let mut tally = Tally::default();
    let mut all = Vec::new();
    // Constraints that force changes which lower the score: their rounding must not break the action.
    for (seed, number) in [(7, 1236), (7, 1275)] {
        let folder = tempfile::tempdir().expect("a folder");
        let found = contradictions(&Case::draw(seed, number), folder.path(), Settings::default(), &mut tally);
        all.extend(
            found.into_iter().map(|contradiction| format!("seed {seed}, case {number}: {contradiction}")),
        );
    }
    for number in 0..COUNT {
        let folder = tempfile::tempdir().expect("a folder");
        let case = Case::draw(SEED, number);
        let mut found = contradictions(&case, folder.path(), Settings::default(), &mut tally);
        if number % 6 == 0 {
            let binary = Path::new(env!("CARGO_BIN_EXE_surefoot"));
            found.extend(command::contradictions(binary, &case, folder.path(), Settings::default()));
        }
        all.extend(found.into_iter().map(|contradiction| format!("case {number}: {contradiction}")));
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
    // What never comes up proves nothing.
    assert!(tally.found > 20 && tally.impossible > 5 && tally.favourable > 1, "{tally:?}");
}
