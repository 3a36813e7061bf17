# `make test` runs every check on a machine that has cargo and Python (3.9 or later) and nothing else.

.PHONY: test fmt lint unit docs site demo wheel python fuzz test-ecosystem bench bench-wheel bench-compare bench-kernel bench-scaling bench-counts bench-check bench-consistency bench-regions bench-random-networks bench-many-features bench-tree-credit bench-tree-optimum bench-weights bench-tree-decisions bench-serve

PYTHON ?= python3

test: fmt lint unit demo python docs

fmt:
	cargo fmt --all -- --check

# Licences, sources and duplicates of dependencies by deny.toml, without advisories: their database
# cannot be had without a connection to GitHub.
TOOLS = target/tools
CARGO_DENY = 0.20.2
lint: $(TOOLS)/cargo-deny-$(CARGO_DENY)
	cargo clippy --workspace --all-targets --locked -- -D warnings
	$(TOOLS)/bin/cargo-deny --locked check bans licenses sources
	$(PYTHON) .ci/module_order.py
	$(PYTHON) .ci/one_place.py

# Little optimised: it runs for seconds, and compiling it otherwise takes minutes.
$(TOOLS)/cargo-deny-$(CARGO_DENY):
	CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
	cargo install --quiet --locked --no-default-features cargo-deny --version $(CARGO_DENY) --root $(TOOLS)
	touch $@

# Unit, property, integration, example and documentation tests; the code of docs/rust.md is one
# of the latter.
unit:
	cargo test --workspace --locked

docs: site
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked

# All pages as a site in target/site/html; a link or an anchor that leads nowhere is an error.
SITE_TOOLS = target/site-tools
site: $(SITE_TOOLS)/installed wheel
	$(SITE_TOOLS)/bin/pip install --quiet --no-deps --force-reinstall target/wheels/*.whl
	NO_MKDOCS_2_WARNING=1 $(SITE_TOOLS)/bin/python .ci/site.py --build

$(SITE_TOOLS)/installed: docs/requirements.txt
	$(PYTHON) -m venv $(SITE_TOOLS)
	$(SITE_TOOLS)/bin/pip install --quiet --requirement docs/requirements.txt
	touch $@

# The command that the README names, as the tests have built it.
demo: unit
	target/debug/surefoot demo

# The Python package: its wheel, built with the profile of the tests (`pip install .` takes
# that of releases), installed into an environment of its own and tested there.
VENV = target/python
python: unit wheel
	$(VENV)/bin/ruff format --check python examples/python benches docs/figures
	$(VENV)/bin/ruff check python examples/python benches docs/figures
	$(VENV)/bin/pip install --quiet --no-deps --force-reinstall target/wheels/*.whl
	$(VENV)/bin/mypy python/surefoot python/tests python/benches examples/python docs/figures
	$(VENV)/bin/pytest

wheel: $(VENV)/installed
	rm -rf target/wheels
	$(VENV)/bin/maturin build --profile dev --locked --out target/wheels

$(VENV)/installed: python/tests/requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --requirement python/tests/requirements.txt
	touch $@

# Coverage-guided fuzzing of every reader by libFuzzer, which needs a C++ compiler: each target for a
# minute, or FUZZ_SECONDS. What is found is in target/fuzz/found; what was interesting in
# target/fuzz/corpus. `make test` runs the same targets over the committed corpora.
FUZZ_SECONDS ?= 60
FUZZ_TARGETS ?= $(notdir $(wildcard crates/surefoot-fuzz/corpus/*))
FUZZ = target/fuzz
HOST = $(shell rustc --version --verbose | sed -n 's/^host: //p')
# The instrumentation that libFuzzer reads; these are options of stable Rust.
COVERAGE = -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
	-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
	-Cllvm-args=-sanitizer-coverage-trace-compares
fuzz:
	RUSTFLAGS="$(COVERAGE)" cargo build --locked --profile fuzz --package surefoot-fuzz --features fuzzer \
		--target $(HOST) --target-dir $(FUZZ)
	mkdir -p $(FUZZ)/found
	set -e; for target in $(FUZZ_TARGETS); do \
		echo "fuzzing $$target for $(FUZZ_SECONDS) s"; \
		mkdir -p $(FUZZ)/corpus/$$target; \
		SUREFOOT_FUZZ=$$target $(FUZZ)/$(HOST)/fuzz/surefoot-fuzz -max_total_time=$(FUZZ_SECONDS) \
			-max_len=16384 -timeout=20 -rss_limit_mb=1024 -print_final_stats=1 \
			-artifact_prefix=$(FUZZ)/found/$$target- \
			$(FUZZ)/corpus/$$target crates/surefoot-fuzz/corpus/$$target; \
	done

# Together with scikit-learn, XGBoost, LightGBM, CatBoost, PyTorch, onnxruntime, DiCE, Veritas, HiGHS, Spark, Dask, Ray, DoWhy, pgmpy and causal-learn from PyPI, in a folder of their own
# under target/; the first time this downloads some gigabytes. Spark needs Java 17 or later.
# Pages are looked at in Chromium, with axe-core from npm: where they are missing, apt-get installs Chromium and Node. The page of
# the service is built again (npm, in page/) and compared with the committed one.
ECOSYSTEM = target/ecosystem
test-ecosystem: $(ECOSYSTEM)/installed $(ECOSYSTEM)/node/installed wheel
	cargo test --workspace --no-run --locked
	$(ECOSYSTEM)/bin/pip install --quiet --no-deps --force-reinstall target/wheels/*.whl
	$(ECOSYSTEM)/bin/python -m pytest -q -W ignore tests/ecosystem

$(ECOSYSTEM)/installed: tests/ecosystem/requirements.txt
	$(PYTHON) -m venv $(ECOSYSTEM)
	$(ECOSYSTEM)/bin/pip install --quiet --requirement tests/ecosystem/requirements.txt
	touch $@

$(ECOSYSTEM)/node/installed: tests/ecosystem/package.json
	command -v chromium >/dev/null && command -v npm >/dev/null || \
		(apt-get update && apt-get install --yes chromium nodejs npm)
	mkdir -p $(ECOSYSTEM)/node
	cp tests/ecosystem/package.json $(ECOSYSTEM)/node
	cd $(ECOSYSTEM)/node && npm install --silent --no-audit --no-fund
	touch $@

# Measurements, into docs/performance.md: about half an hour on an idle machine with two cores. Each part can
# be run alone.
bench: bench-kernel bench-scaling bench-compare bench-counts

# Surefoot beside DiCE, ReLax, alibi and PyTorch, each in an environment of its own under target/bench; and `certify`
# beside auto_LiRPA, which needs Python 3.10 at most and the published networks.
bench-compare: bench-wheel
	$(PYTHON) benches/compare/compare.py
	$(PYTHON) benches/compare/verifiers.py

# The network kernel against the peak of a core.
bench-kernel:
	cargo bench --locked --package surefoot --bench roofline | $(PYTHON) benches/page.py kernel

# Time and memory for more people, features and threads.
bench-scaling: bench-wheel
	cargo build --profile dist --locked --package surefoot-cli
	$(PYTHON) benches/compare/compare.py --environment
	target/bench/surefoot/bin/python benches/scaling.py

# Instructions; both need valgrind. The check fails where there are more than 5% more than were kept.
bench-counts:
	$(PYTHON) benches/counts.py page

bench-check:
	$(PYTHON) benches/counts.py check

# Questions per second of `surefoot serve`, and what it does when it is asked too much. SUREFOOT_SECONDS=600 looks
# at its memory for ten minutes.
bench-serve:
	cargo bench --locked --package surefoot-cli --bench serve | $(PYTHON) benches/page.py service

# 2,000 random problems: whatever one part says about one, no other contradicts. A sample is among the tests.
bench-consistency:
	cargo bench --locked --package surefoot-cli --bench consistency

# Linear models and relu networks beside a published table, which is looked for beside the checkout.
bench-regions: bench-wheel
	$(VENV)/bin/pip install --quiet --no-deps --force-reinstall target/bench/wheels/*.whl
	$(VENV)/bin/python benches/regions.py

# Random networks of 30 and 60 features beside an independent search.
bench-random-networks: bench-wheel
	$(VENV)/bin/pip install --quiet --no-deps --force-reinstall target/bench/wheels/*.whl
	$(VENV)/bin/python benches/random_networks.py

# Networks of which 8 to 20 features may change, without and with a causal model.
bench-many-features: bench-wheel
	$(VENV)/bin/pip install --quiet --no-deps --force-reinstall target/bench/wheels/*.whl
	$(VENV)/bin/python benches/many_features.py

# XGBoost models of four data sets, with proofs and their checks; random ensembles beside the optimum of a
# mixed-integer program, and models of a published table beside that of one with adversarial cuts; and decisions on
# four data sets beside those of the programs. Samples of the latter are among the tests of `make test-ecosystem`.
bench-tree-credit: bench-wheel $(ECOSYSTEM)/installed
	cargo build --profile dist --locked --package surefoot-cli
	$(ECOSYSTEM)/bin/pip install --quiet --no-deps --force-reinstall target/bench/wheels/*.whl
	$(ECOSYSTEM)/bin/python benches/tree_credit.py

bench-tree-optimum: bench-wheel $(ECOSYSTEM)/installed
	$(ECOSYSTEM)/bin/pip install --quiet --no-deps --force-reinstall target/bench/wheels/*.whl
	$(ECOSYSTEM)/bin/python benches/tree_optimum.py
	$(ECOSYSTEM)/bin/python benches/robust_tree_optimum.py

bench-tree-decisions: bench-wheel $(ECOSYSTEM)/installed
	$(ECOSYSTEM)/bin/pip install --quiet --no-deps --force-reinstall target/bench/wheels/*.whl
	$(ECOSYSTEM)/bin/python benches/tree_decisions.py

# Actions for every network whose weights differ a little from the trained ones, beside a published table.
bench-weights:
	cargo bench --package surefoot --bench weights

bench-wheel: $(VENV)/installed
	rm -rf target/bench/wheels
	$(VENV)/bin/maturin build --profile dist --locked --out target/bench/wheels
