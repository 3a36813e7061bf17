//! The coverage-guided fuzzer for one target, which the variable `SUREFOOT_FUZZ` names.

#![no_main]
#![allow(clippy::expect_used, clippy::panic, reason = "a target fails by panicking")]

use std::sync::LazyLock;

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use surefoot_fuzz::{Target, mutate};

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("SUREFOOT_FUZZ").expect("SUREFOOT_FUZZ names the target");
    Target::named(&name).unwrap_or_else(|| panic!("there is no target `{name}`"))
});

fuzz_target!(|bytes: &[u8]| {
    TARGET.run(bytes);
});

// Every other input is changed by libFuzzer's own mutations, which know nothing of the syntax.
fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    if seed.is_multiple_of(2) {
        return fuzzer_mutate(data, size, max_size);
    }
    let changed = mutate(TARGET.syntax, &data[..size], u64::from(seed));
    let size = changed.len().min(max_size);
    data[..size].copy_from_slice(&changed[..size]);
    size
});
