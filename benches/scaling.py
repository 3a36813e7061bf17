"""How time and memory grow with people, features, actionable features and threads.

    make bench-scaling        # the tables and figures of docs/performance.md

Runs in the environment of the comparison (target/bench/surefoot). Every measurement is a process of its
own; people and classifiers are drawn, with a seed. Growth is the slope of a straight line through the
logarithms: 1 is proportional. For each measurement the quickest of its turns counts.
"""

from __future__ import annotations

import contextlib
import json
import os
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
COMMAND = page.ROOT / "target/dist/surefoot"
PEOPLE = [1_000, 10_000, 100_000, 1_000_000]
#: With proof, for each number of threads.
NETWORK_PEOPLE = {1: [100, 300, 1_000], 2: [100, 1_000, 10_000]}
FEATURES = [4, 8, 16, 32, 64]
ACTIONABLE = [1, 2, 3, 4, 5, 6, 7, 8]
#: What takes longer is left out, with all that is larger, and said so.
SECONDS = 300.0


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
        weights = random.normal(size=features) / np.sqrt(features) + 0.5 * (
            np.arange(features) >= features - actionable
        )
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


def megabytes(process: object, field: str) -> float:
    """What the kernel knows of a process: `VmRSS`, its memory, or `VmHWM`, the most that was so far."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(field))


def measure(kind: str, people: int, features: int, actionable: int, chain: bool) -> dict[str, float]:
    """In this process: seconds, and megabytes beyond what was there before."""
    import surefoot as sf

    problem, rows = drawn(kind, people, features, actionable, chain)
    before = megabytes("self", "VmRSS")
    # The most so far is that of drawing people; it is forgotten.
    Path("/proc/self/clear_refs").write_text("5")
    taken: list[float] = []
    begin = time.perf_counter()
    while not taken or (len(taken) < 5 and time.perf_counter() - begin < 2.0):
        start = time.perf_counter()
        answers = sf.recourse(problem, rows)
        taken.append(time.perf_counter() - start)
        if len(taken) == 1:
            most = megabytes("self", "VmHWM") - before
    found = sum(status == "found" for status in answers.column("status"))
    return {"seconds": min(taken), "megabytes": most, "found": found / people}


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
        running = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)
        most = 0.0
        while running.poll() is None:
            # It only ever grows, so little is missed between two looks; once it is over there is none.
            with contextlib.suppress(OSError, StopIteration):
                most = megabytes(running.pid, "VmHWM")
            time.sleep(0.002)
        if running.returncode:
            sys.exit(f"{command} ended with {running.returncode}")
        return most


def apart(task: str, threads: int, *arguments: object) -> Any:
    """A measurement in a process of its own; nothing if it takes too long."""
    command = [sys.executable, __file__, task, json.dumps(arguments)]
    environment = {**os.environ, "RAYON_NUM_THREADS": str(threads)}
    try:
        done = subprocess.run(
            command, env=environment, check=True, stdout=subprocess.PIPE, text=True, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        return None
    return json.loads(done.stdout)


def growth(what: str, sizes: list[int], seconds: list[float]) -> str:
    """The slope of a straight line through the logarithms; of actionable features, which multiply the
    work, the factor for each further one."""
    if what == "actionable":
        return f"{np.exp(np.polyfit(sizes, np.log(seconds), 1)[0]):.2f} times for each further one"
    return f"{np.polyfit(np.log(sizes), np.log(seconds), 1)[0]:.2f}"


class Report:
    """Tables and curves, as they come."""

    def __init__(self) -> None:
        self.parts = [page.machine()]
        self.growths: list[list[object]] = []

    def series(self, title: str, what: str, kind: str, sizes: dict[int, list[int]], asked: Any) -> Any:
        """Measures along one axis, for each number of threads some sizes; asked gives the arguments of one."""
        curves: dict[int, dict[int, dict[str, float]]] = {}
        missing = []
        for threads, wanted in sizes.items():
            curve = curves[threads] = {}
            for size in wanted:
                found = apart("measure", threads, kind, *asked(size))
                if found is None:
                    missing.append(f"{size:,} {what} on {threads} threads take more than {SECONDS:.0f} s.")
                    break
                curve[size] = found
                print(f"{title}, {threads} threads, {size:,} {what}: {found['seconds']:.4g} s", flush=True)
        head = [what, *[f"seconds, {threads} thread{'s' * (threads > 1)}" for threads in curves]]
        rows = []
        for size in sorted({size for curve in curves.values() for size in curve}):
            at = [curve.get(size) for curve in curves.values()]
            seconds = [f"{found['seconds']:.4g}" if found else "-" for found in at]
            found = next(found for found in at if found)
            rows.append([f"{size:,}", *seconds, f"{found['megabytes']:.1f}", f"{found['found']:.0%}"])
        self.parts += [f"**{title}**", page.table([*head, "MB in memory", "with an action"], rows), *missing]
        for threads, curve in curves.items():
            if len(curve) > 2:
                seconds = [found["seconds"] for found in curve.values()]
                self.growths.append([title, what, threads, growth(what, list(curve), seconds)])
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
                sizes, seconds = list(curve), [found["seconds"] for found in curve.values()]
                label = f"{title}, {count} thread{'s' * (count > 1)}"
                axes.loglog(sizes, seconds, marker=next(marks), markersize=3.5, linewidth=1, label=label)
    ticks = sorted(
        {size for by_threads in curves.values() for curve in by_threads.values() for size in curve}
    )
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.minorticks_off()
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
    on = lambda sizes, *threads: dict.fromkeys(threads, sizes)  # noqa: E731
    linear = report.series(
        "Linear, 8 features, 3 actionable", "people", "linear", on(PEOPLE, 1, 2), lambda n: (n, 8, 3, False)
    )
    rows = [[f"{people:,}", f"{apart('streamed', 2, people):.0f}"] for people in PEOPLE]
    report.parts.append("**The command, from Parquet to Parquet, the same sizes**")
    report.parts.append(page.table(["people", "MB at most"], rows))
    network = report.series(
        "Network with proof, 8 features, 2 actionable", "people", "network", NETWORK_PEOPLE,
        lambda n: (n, 8, 2, False),
    )  # fmt: skip
    draw("people", "people", {"linear": linear, "network": network})
    linear = report.series(
        "Linear, 100,000 people, 3 actionable", "features", "linear", on(FEATURES, 1, 2),
        lambda n: (100_000, n, 3, False),
    )  # fmt: skip
    chain = report.series(
        "Linear with a chain of causes, 10,000 people, 3 actionable", "features", "linear", on(FEATURES, 1),
        lambda n: (10_000, n, 3, True),
    )  # fmt: skip
    network = report.series(
        "Network with proof, 100 people, 2 actionable", "features", "network", on(FEATURES, 2),
        lambda n: (100, n, 2, False),
    )  # fmt: skip
    draw("features", "features", {"linear": linear, "linear, chain of causes": chain, "network": network})
    linear = report.series(
        "Linear, 100,000 people, 8 features", "actionable", "linear", on(ACTIONABLE, 1),
        lambda n: (100_000, 8, n, False),
    )  # fmt: skip
    chain = report.series(
        "Linear with a chain of causes, 10,000 people, 8 features", "actionable", "linear", on(ACTIONABLE, 1),
        lambda n: (10_000, 8, n, True),
    )  # fmt: skip
    network = report.series(
        "Network with proof, 20 people, 8 features", "actionable", "network", on(ACTIONABLE, 2),
        lambda n: (20, 8, n, False),
    )  # fmt: skip
    draw(
        "actionable",
        "actionable features",
        {"linear": linear, "linear, chain of causes": chain, "network": network},
    )
    growths = page.table(["measurement", "along", "threads", "slope of the logarithms"], report.growths)
    page.replace("scaling", "\n\n".join([*report.parts, "**Growth**", growths]))


if __name__ == "__main__":
    main()
