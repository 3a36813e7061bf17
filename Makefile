# `make test` runs every check on a machine that has cargo and nothing else.

.PHONY: test fmt lint unit docs demo bench

test: fmt lint unit docs demo

fmt:
	cargo fmt --all -- --check

lint:
	cargo clippy --workspace --all-targets --locked -- -D warnings

# Unit, property, integration, example and documentation tests; the README's code is one
# of the latter.
unit:
	cargo test --workspace --locked

docs:
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked

# The command that the README names, as the tests have built it.
demo: unit
	target/debug/surefoot demo

bench:
	cargo bench --workspace --locked
