"""What the Python package costs beyond the engine, on 100,000 linear and 1,000 network people.

    cargo build --release -p surefoot --example timed
    pip install .
    python python/benches/overhead.py

Both answer the same people of the same problem file, in turns, so that whatever else the machine
does hits both alike; the best round of each counts.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import surefoot as sf

ROOT = Path(__file__).parents[2]
ENGINE = ROOT / "target/release/examples/timed"


def people(problem: sf.Problem, count: int) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """People around the means, within the limits, whom the causal model can produce."""
    random = np.random.default_rng(0)
    columns = []
    for feature in problem.features:
        column = feature.mean + feature.std * random.normal(size=count)
        if feature.kind == "binary":
            column = (random.random(count) < 0.5).astype(float)
        elif feature.limits is not None:
            lower, upper = feature.limits
            inside = 0.05 * feature.std
            column = np.clip(column, float(lower or 0.0) + inside, float(upper or 0.0) - inside)
        columns.append(column)
    return np.ascontiguousarray(np.stack(columns, axis=1))


def compare(name: str, example: str, count: int, turns: int, rounds: int) -> None:
    path = ROOT / "examples" / example / "problem.toml"
    problem = sf.Problem.read(path)
    rows = people(problem, count)
    engine, package, tables = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "people.f64")
        rows.astype("<f8").tofile(file)
        for _ in range(turns):
            told = subprocess.run(
                [ENGINE, path, file, str(rounds)], check=True, capture_output=True, text=True
            )
            engine += [float(line.split()[0]) for line in told.stdout.splitlines()]
            for _ in range(rounds):
                start = time.perf_counter()
                answers = sf.recourse(problem, rows)
                package.append(time.perf_counter() - start)
                start = time.perf_counter()
                answers._native_table()
                tables.append(time.perf_counter() - start)
                # Not while the next are answered.
                del answers
    best, ours, table = min(engine), min(package), min(tables)
    print(
        f"{name}: engine {best * 1e3:.2f} ms, package {ours * 1e3:.2f} ms, overhead {ours / best - 1:+.1%}; "
        f"then the table {table * 1e3:.2f} ms"
    )


def main() -> None:
    if not ENGINE.exists():
        sys.exit(f"{ENGINE} is not there; cargo build --release -p surefoot --example timed")
    compare("100,000 linear people", "linear", 100_000, turns=12, rounds=5)
    compare("1,000 network people", "network", 1_000, turns=3, rounds=1)


if __name__ == "__main__":
    main()
