"""Proven recourse where 8, 12 and 20 of twenty features may change, without and with a causal model.

    make bench-many-features        # prints the table

Numbers of actionable features as arguments restrict it.

South German Credit, its twenty columns standardised; a network of scikit-learn with two hidden layers of 50 tanh;
the first ten people whom it turns down. The features with the largest mean slope may change, each in the
direction that helps, by up to three standard deviations. Epsilon is 0.1 in the Euclidean norm, the cost is the l1
norm, the gap 1%, the budget the default one. The causal model has linear equations, fitted by least squares, for
eight of the actionable features: each follows from the two features before it, in the order of the columns, that
it is correlated with most. One thread; times are those of the processor.

The table is looked for like those of the other benchmarks (`credit_data.py`).
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.neural_network import MLPClassifier

os.environ["RAYON_NUM_THREADS"] = "1"
import surefoot as sf  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parent))
from credit_data import file  # noqa: E402

PEOPLE = 10
EPSILON = 0.1
REACH = 3.0
#: Features with an equation.
EQUATIONS = 8
#: Whether there is a causal model, and how many features may change.
CASES = [(False, 8), (False, 12), (False, 20), (True, 12), (True, 20)]


def slopes(model: MLPClassifier, rows: np.ndarray) -> np.ndarray:
    """The mean gradient of the logit."""
    (first, second, last), (bias, following, _) = model.coefs_, model.intercepts_
    inner = np.tanh(rows @ first + bias)
    outer = np.tanh(inner @ second + following)
    back = (last[:, 0] * (1 - outer**2)) @ second.T * (1 - inner**2)
    return (back @ first.T).mean(axis=0)


def equations(rows: np.ndarray, actionable: np.ndarray) -> dict[str, sf.Equation]:
    """Linear equations for the last of the actionable features that have two columns before them."""
    chosen = sorted(i for i in actionable if i >= 2)[-EQUATIONS:]
    found = {}
    for i in chosen:
        related = np.abs([np.corrcoef(rows[:, i], rows[:, j])[0, 1] for j in range(i)])
        parents = sorted(np.argsort(-related)[:2])
        weights, *_ = np.linalg.lstsq(rows[:, parents], rows[:, i], rcond=None)
        found[f"x{i}"] = sf.Equation.linear([f"x{j}" for j in parents], weights)
    return found


def problem(
    rows: np.ndarray, model: MLPClassifier, person: np.ndarray, count: int, has_causes: bool
) -> sf.Problem:
    slope = slopes(model, rows)
    actionable = np.argsort(-np.abs(slope))[:count]
    features = []
    for i in range(rows.shape[1]):
        change = "fixed" if i not in actionable else "increase" if slope[i] > 0 else "decrease"
        limits = (person[i] - REACH, person[i] + REACH) if i in actionable else (-np.inf, np.inf)
        features.append(sf.Feature(f"x{i}", change, mean=0, std=1, limits=limits))
    layers = [(weight.T, bias) for weight, bias in zip(model.coefs_, model.intercepts_, strict=True)]
    classifier = sf.Classifier.network(layers)
    causes = sf.CausalModel(features, equations(rows, actionable)) if has_causes else None
    return sf.Problem(features, classifier, causes, epsilon=EPSILON)


def main() -> None:
    warnings.filterwarnings("ignore")
    table = np.loadtxt(file("SouthGermanCredit.asc"), skiprows=1)
    rows, good = table[:, :-1], table[:, -1].astype(int)
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    model = MLPClassifier((50, 50), activation="tanh", alpha=1e-3, max_iter=60, random_state=0).fit(
        rows, good
    )
    people = rows[model.predict_proba(rows)[:, 1] < 0.5][:PEOPLE]
    head = [
        "causal model", "actionable", "with an action", "within 1%", "mean cost", "mean gap", "largest gap",
        "mean ms", "longest ms",
    ]  # fmt: skip
    print("| " + " | ".join(head) + " |")
    print("|" + " --- |" * len(head))
    wanted = [int(word) for word in sys.argv[1:]]
    for has_causes, count in CASES:
        if wanted and count not in wanted:
            continue
        costs, gaps, times = [], [], []
        for person in people:
            asked = problem(rows, model, person, count, has_causes)
            start = time.process_time()
            answers = sf.recourse(asked, person[None, :])
            times.append(1000 * (time.process_time() - start))
            if answers.column("status")[0] == "found":
                cost = answers.column("cost")[0]
                costs.append(cost)
                gaps.append(1 - answers.column("cost_bound")[0] / cost)
        closed = sum(gap <= 0.0101 for gap in gaps)
        row = [
            "yes" if has_causes else "no", count, f"{len(costs)} of {len(people)}", closed,
            f"{np.mean(costs):.4f}" if costs else "-", f"{np.mean(gaps):.2%}" if gaps else "-",
            f"{max(gaps):.1%}" if gaps else "-", f"{np.mean(times):.0f}", f"{max(times):.0f}",
        ]  # fmt: skip
        print("| " + " | ".join(map(str, row)) + " |", flush=True)


if __name__ == "__main__":
    main()
