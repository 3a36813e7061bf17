# `make test` runs every check on a machine that has cargo and nothing else.

.PHONY: test fmt lint unit docs demo bench test-ecosystem

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

# Together with scikit-learn, PyTorch and onnxruntime from PyPI, in a folder of their own under target/;
# the first time this downloads some gigabytes.
ECOSYSTEM = target/ecosystem
test-ecosystem: $(ECOSYSTEM)/installed
	cargo build -p surefoot-cli --bins --examples --locked
	$(ECOSYSTEM)/bin/python -m pytest -q -W ignore tests/ecosystem

$(ECOSYSTEM)/installed: tests/ecosystem/requirements.txt
	python3 -m venv $(ECOSYSTEM)
	$(ECOSYSTEM)/bin/pip install --quiet --requirement tests/ecosystem/requirements.txt
	touch $@

bench:
	cargo bench --workspace --locked
