"""How time and memory grow with people, features, actionable features and threads.

    make bench-scaling        # the tables and figures of docs/performance.md

Runs in the environment of the comparison (target/bench/surefoot). Every measurement is a process of its
own; people and classifiers are drawn, with a seed. Growth is the slope of a straight line through the
logarithms: 1 is proportional. For each measurement the quickest of its turns counts.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
import page  # noqa: E402

FIGURES = page.ROOT / "docs/performance"
COMMAND = page.ROOT / "target/release/surefoot"
PEOPLE = [1_000, 10_000, 100_000, 1_000_000]
NETWORK_PEOPLE = [100, 300, 1_000, 3_000, 10_000]
FEATURES = [4, 8, 16, 32, 64]
ACTIONABLE = [1, 2, 3, 4, 5, 6, 7, 8]
#: Of a network's measurement; what would take longer is left out and said so.
SECONDS = 60.0


def names(count: int) -> list[str]:
    return [f"x{i}" for i in range(count)]


def drawn(kind: str, people: int, features: int, actionable: int, chain: bool) -> tuple[Any, np.ndarray]:
    """A problem of so many features, the last of them actionable, and people who are turned down."""
    import surefoot as sf

    random = np.random.default_rng(0)
    declared = [
        sf.Feature(name, "any" if i >= features - actionable else "fixed", limits=(-6, 6))
        for i, name in enumerate(names(features))
    ]
    if kind == "linear":
        weights = random.normal(size=features) / np.sqrt(features) + 0.5 * (np.arange(features) >= features - actionable)
        classifier = sf.Classifier.linear(weights, -1.0)
        score = lambda rows: rows @ weights - 1.0  # noqa: E731
    else:
        sizes = [features, 100, 100, 1]
        layers = [
            (random.normal(size=(after, before)) / np.sqrt(before), 0.1 * random.normal(size=after))
            for before, after in zip(sizes, sizes[1:])
        ]
        classifier = sf.Classifier.network(layers)

        def score(rows: np.ndarray) -> np.ndarray:
            for number, (weight, bias) in enumerate(layers):
                rows = (np.tanh(rows) if number else rows) @ weight.T + bias
            return rows[:, 0]

    model = None
    if chain:
        equations = {f"x{i}": f"0.3 * x{i - 1} + u" for i in range(1, features)}
        model = sf.CausalModel(declared, equations)
    chosen = np.empty((0, features))
    while len(chosen) < people:
        rows = np.clip(random.normal(size=(max(1000, 2 * people), features)), -5, 5)
        chosen = np.concatenate([chosen, rows[score(rows) < 0]])
    return sf.Problem(declared, classifier, model, epsilon=0.1), np.ascontiguousarray(chosen[:people])


def peak() -> float:
    """Megabytes, at most so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(kind: str, people: int, features: int, actionable: int, chain: bool) -> dict[str, float]:
    """In this process: seconds, and megabytes beyond what was there before."""
    import surefoot as sf

    problem, rows = drawn(kind, people, features, actionable, chain)
    before = peak()
    taken: list[float] = []
    begin = time.perf_counter()
    while not taken or (len(taken) < 5 and time.perf_counter() - begin < 2.0):
        start = time.perf_counter()
        answers = sf.recourse(problem, rows)
        taken.append(time.perf_counter() - start)
        if len(taken) == 1:
            megabytes = peak() - before
    found = sum(status == "found" for status in answers.column("status"))
    return {"seconds": min(taken), "megabytes": megabytes, "found": found / people}


def streamed(people: int) -> float:
    """Megabytes of the command, from Parquet to Parquet."""
    import pyarrow
    import pyarrow.parquet

    _, rows = drawn("linear", people, 8, 3, False)
    with tempfile.TemporaryDirectory() as folder:
        table = pyarrow.table({name: rows[:, i] for i, name in enumerate(names(8))})
        pyarrow.parquet.write_table(table, f"{folder}/people.parquet", row_group_size=65_536)
        lines = ["epsilon = 0.1"]
        for i, name in enumerate(names(8)):
            lines += ["[[feature]]", f'name = "{name}"', "limits = [-6, 6]"]
            lines += ['change = "any"'] if i >= 5 else []
        lines += ["[classifier]", f"coefficients = {[0.1] * 5 + [0.8] * 3}", "intercept = -1.0"]
        Path(folder, "problem.toml").write_text("\n".join(lines))
        command = [COMMAND, "recourse", "problem.toml", "people.parquet", "--output", "answers.parquet"]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def apart(task: str, threads: int, *arguments: object) -> Any:
    """A measurement in a process of its own; nothing if it takes too long."""
    command = [sys.executable, __file__, task, json.dumps(arguments)]
    environment = {**os.environ, "RAYON_NUM_THREADS": str(threads)}
    try:
        done = subprocess.run(
            command, env=environment, check=True, stdout=subprocess.PIPE, text=True, timeout=3 * SECONDS
        )
    except subprocess.TimeoutExpired:
        return None
    return json.loads(done.stdout)


def slope(sizes: list[float], values: list[float]) -> float:
    """Of a straight line through the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


class Report:
    """Tables and curves, as they come."""

    def __init__(self) -> None:
        self.parts = [page.machine()]
        self.growths: list[list[str]] = []

    def series(self, what: str, kind: str, sizes: list[int], asked: Any, threads: list[int], title: str) -> Any:
        """Measures along one axis for some numbers of threads; asked gives the arguments of a size."""
        curves: dict[int, list[tuple[int, dict[str, float]]]] = {count: [] for count in threads}
        for count in threads:
            for size in sizes:
                found = apart("measure", count, kind, *asked(size))
                if found is None:
                    self.parts.append(f"{title}: {size:,} {what} on {count} threads took more than {3 * SECONDS:.0f} s.")
                    break
                curves[count].append((size, found))
                print(f"{title}, {count} threads, {size:,} {what}: {found['seconds']:.4g} s", flush=True)
                if found["seconds"] > SECONDS:
                    break
        head = [what] + [f"seconds, {count} thread{'s' * (count > 1)}" for count in threads]
        head += ["MB in memory", "with an action"]
        rows = []
        for i, (size, found) in enumerate(curves[threads[0]]):
            seconds = [
                f"{curve[i][1]['seconds']:.4g}" if i < len(curve) else "-" for curve in curves.values()
            ]
            rows.append([f"{size:,}", *seconds, f"{found['megabytes']:.1f}", f"{found['found']:.0%}"])
        self.parts += [f"**{title}**", page.table(head, rows)]
        for count, curve in curves.items():
            if len(curve) > 2:
                sizes_, seconds = [size for size, _ in curve], [found["seconds"] for _, found in curve]
                self.growths.append([title, what, str(count), f"{slope(sizes_, seconds):.2f}"])
        return curves


def draw(name: str, what: str, curves: dict[str, Any]) -> None:
    """A figure of seconds, both axes logarithmic, as SVG and PNG."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "surefoot", "font.size": 8, "svg.fonttype": "none"})
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(4.5, 3.2), layout="constrained")
    marks = iter("osD^v<>ph*")
    for title, by_threads in curves.items():
        for count, curve in by_threads.items():
            if curve:
                sizes, seconds = zip(*[(size, found["seconds"]) for size, found in curve])
                label = f"{title}, {count} thread{'s' * (count > 1)}"
                axes.loglog(sizes, seconds, marker=next(marks), markersize=3.5, linewidth=1, label=label)
    axes.set_xlabel(what)
    axes.set_ylabel("seconds")
    axes.grid(True, which="major", linewidth=0.3)
    axes.legend(frameon=False)
    FIGURES.mkdir(parents=True, exist_ok=True)
    figure.savefig(FIGURES / f"{name}.svg", metadata={"Date": None})
    figure.savefig(FIGURES / f"{name}.png", dpi=300)
    pyplot.close(figure)


def main() -> None:
    if len(sys.argv) == 3:
        task, arguments = sys.argv[1], json.loads(sys.argv[2])
        print(json.dumps({"measure": measure, "streamed": streamed}[task](*arguments)))
        return
    report = Report()
    both = [1, 2]
    linear = report.series(
        "people", "linear", PEOPLE, lambda n: (n, 8, 3, False), both, "Linear, 8 features, 3 actionable"
    )
    rows = [[f"{people:,}", f"{apart('streamed', 2, people):.0f}"] for people in PEOPLE]
    report.parts += ["**The command, from Parquet to Parquet, the same people**", page.table(["people", "MB at most"], rows)]
    network = report.series(
        "people", "network", NETWORK_PEOPLE, lambda n: (n, 8, 3, False), both,
        "Network with proof, 8 features, 3 actionable",
    )  # fmt: skip
    draw("people", "people", {"linear": linear, "network": network})
    linear = report.series(
        "features", "linear", FEATURES, lambda n: (100_000, n, 3, False), both, "Linear, 100,000 people, 3 actionable"
    )
    chain = report.series(
        "features", "linear", FEATURES, lambda n: (10_000, n, 3, True), [1],
        "Linear with a chain of causes, 10,000 people, 3 actionable",
    )  # fmt: skip
    network = report.series(
        "features", "network", FEATURES, lambda n: (100, n, 2, False), [2], "Network with proof, 100 people, 2 actionable"
    )
    draw("features", "features", {"linear": linear, "linear, chain of causes": chain, "network": network})
    linear = report.series(
        "actionable", "linear", ACTIONABLE, lambda n: (100_000, 8, n, False), [1], "Linear, 100,000 people, 8 features"
    )
    chain = report.series(
        "actionable", "linear", ACTIONABLE, lambda n: (10_000, 8, n, True), [1],
        "Linear with a chain of causes, 10,000 people, 8 features",
    )  # fmt: skip
    network = report.series(
        "actionable", "network", ACTIONABLE[:4], lambda n: (100, 8, n, False), [2],
        "Network with proof, 100 people, 8 features",
    )  # fmt: skip
    draw("actionable", "actionable features", {"linear": linear, "linear, chain of causes": chain, "network": network})
    growths = page.table(["measurement", "along", "threads", "slope in log-log"], report.growths)
    page.replace("scaling", "\n\n".join([*report.parts, "**Growth**", growths]))


if __name__ == "__main__":
    main()
