"""What the Python package costs beyond the engine, on 100,000 linear and 1,000 network people.

    cargo build --profile dist -p surefoot-cli --example timed
    pip install .
    python python/benches/overhead.py

Both answer the same people of the same problem file, in turns. What is compared is the time of all
processors, which depends less than that of the clock on what else the machine does; the best turn of
each counts.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import surefoot as sf

ROOT = Path(__file__).parents[2]
ENGINE = ROOT / "target/dist/examples/timed"


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


def engine(path: Path, file: Path, rounds: int) -> float:
    """Seconds of all processors that the engine takes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([ENGINE, path, file, str(rounds)], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def package(
    problem: sf.Problem, rows: np.ndarray[tuple[int, int], np.dtype[np.float64]], rounds: int
) -> float:
    """Seconds of all processors that the package takes."""
    start = time.process_time()
    for _ in range(rounds):
        sf.recourse(problem, rows)
    return time.process_time() - start


def compare(name: str, example: str, count: int, turns: int, rounds: int) -> None:
    path = ROOT / "examples" / example / "problem.toml"
    problem = sf.Problem.read(path)
    rows = people(problem, count)
    theirs, ours = [], []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "people.f64")
        rows.astype("<f8").tofile(file)
        for _ in range(turns):
            # Without what it takes to begin.
            theirs.append((engine(path, file, rounds) - engine(path, file, 0)) / rounds)
            ours.append(package(problem, rows, rounds) / rounds)
    best, package_best = min(theirs), min(ours)
    print(
        f"{name}: engine {best * 1e3:.1f} ms, package {package_best * 1e3:.1f} ms, overhead "
        f"{package_best / best - 1:+.1%}"
    )


def main() -> None:
    if not ENGINE.exists():
        sys.exit(f"{ENGINE} is not there; cargo build --profile dist -p surefoot-cli --example timed")
    compare("100,000 linear people", "linear", 100_000, turns=5, rounds=20)
    compare("1,000 network people", "network", 1_000, turns=3, rounds=1)


if __name__ == "__main__":
    main()
