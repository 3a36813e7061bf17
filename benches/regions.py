"""Robust actions for linear models, relu networks and tree ensembles, beside a published table.

    make bench-regions        # prints the table; more than an hour on an idle machine

Names of data sets and of kinds of models (linear, mlp, cart, rf, gbm) as arguments restrict it.

The data sets and the published seconds are read from the folder `regions` beside the checkout, or from
`SUREFOOT_REGIONS`; see docs/performance.md. Models are trained here by scikit-learn with the published
settings: all features may change in both directions, without limits, at l1 cost, for the first twenty people,
each towards the other class. One thread, the default budget, a gap of 1%. The published method is a commercial
solver with up to 1,000 seconds a person.
"""

from __future__ import annotations

import csv
import os
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

os.environ["RAYON_NUM_THREADS"] = "1"
import surefoot as sf  # noqa: E402

PEOPLE = 20
FILES = {
    "banknote": ("data_banknote_authentication.csv", 0),
    "diabetes": ("diabetes.csv", 1),
    "ionosphere": ("ionosphere.csv", 0),
}


def folder() -> Path:
    given = os.environ.get("SUREFOOT_REGIONS")
    return Path(given) if given else Path(__file__).resolve().parents[2] / "shared" / "regions"


def table(name: str) -> tuple[np.ndarray, np.ndarray]:
    """The features, each scaled to [0, 1], and the class."""
    file, skipped = FILES[name]
    with (folder() / file).open() as lines:
        rows = [row for row in csv.reader(lines) if row][skipped:]
    values = np.array([[float(cell) for cell in row[:-1]] for row in rows])
    low, high = values.min(axis=0), values.max(axis=0)
    target = np.array([int(row[-1] == "g") if name == "ionosphere" else int(float(row[-1])) for row in rows])
    return (values - low) / np.where(high > low, high - low, 1.0), target


def trained(kind: str, size: str, values: np.ndarray, target: np.ndarray) -> Any:
    from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier
    from sklearn.tree import DecisionTreeClassifier

    if kind == "linear":
        return LogisticRegression(random_state=0).fit(values, target)
    if kind == "cart":
        return DecisionTreeClassifier(max_depth=int(size), random_state=0).fit(values, target)
    if kind == "rf":
        return RandomForestClassifier(int(size), max_depth=3, random_state=0).fit(values, target)
    if kind == "gbm":
        boosting = GradientBoostingClassifier(
            n_estimators=int(size), learning_rate=1.0, max_depth=2, random_state=0
        )
        return boosting.fit(values, target)
    hidden = tuple(int(width) for width in size.split("-"))
    model = MLPClassifier(hidden_layer_sizes=hidden, activation="relu", random_state=0, max_iter=10_000)
    return model.fit(values, target)


def measured(model: Any, values: np.ndarray, norm: str, radius: float) -> dict[str, float]:
    """Answers for the first people: how many are decided, their gaps, costs and seconds."""
    features = [sf.Feature(f"x{i}", "any") for i in range(values.shape[1])]
    classes = model.predict(values[:PEOPLE])
    decided, gaps, costs, seconds = 0, [], [], []
    for row, own in zip(values[:PEOPLE], classes, strict=True):
        wanted = next(c for c in model.classes_ if c != own)
        classifier = sf.Classifier.from_sklearn(model, features, favourable=wanted)
        problem = sf.Problem(features, classifier, epsilon=radius, norm=norm)
        start = time.perf_counter()
        answers = sf.recourse(problem, row[None, :])
        seconds.append(time.perf_counter() - start)
        status = answers.column("status")[0]
        decided += status in ("found", "impossible")
        if status == "found":
            cost, bound = answers.column("cost")[0], answers.column("cost_bound")[0]
            gaps.append(1 - bound / cost)
            costs.append(cost)
    return {
        "decided": decided,
        "gap": float(np.mean(gaps)) if gaps else float("nan"),
        "cost": float(np.mean(costs)) if costs else float("nan"),
        "seconds": float(np.mean(seconds)),
        "longest": max(seconds),
    }


def main() -> None:
    warnings.filterwarnings("ignore")
    only = sys.argv[1:]
    with (folder() / "published.csv").open() as lines:
        published = list(csv.DictReader(lines))
    names = [name for name in only if name in FILES]
    kinds = [kind for kind in only if kind not in FILES]
    print(
        "| data | norm | radius | model | decided | mean gap | mean cost | mean s | longest s | published s | unsolved |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    models: dict[tuple[str, str, str], Any] = {}
    for row in sorted(published, key=lambda row: (row["dataset"], row["classifier"], row["size"])):
        name, kind, size = row["dataset"], row["classifier"], row["size"]
        if names and name not in names or kinds and kind not in kinds:
            continue
        values, target = table(name)
        if (name, kind, size) not in models:
            models[name, kind, size] = trained(kind, size, values, target)
        ours = measured(models[name, kind, size], values, row["norm"], float(row["rho"]))
        print(
            f"| {name} | {row['norm']} | {row['rho']} | {kind} {size} "
            f"| {ours['decided']} of {PEOPLE} | {ours['gap']:.2%} | {ours['cost']:.4f} | {ours['seconds']:.3f} "
            f"| {ours['longest']:.2f} | {row['seconds_when_solved']} | {row['unsolved_of_20']} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
