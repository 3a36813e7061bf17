"""Surefoot's Python package: exact for linear classifiers, by search with proof and by local search for networks.

The search with proof can be stopped early, by a number of evaluations; what it has found by then is proven
to hold, only not to be the cheapest. The local search proves nothing.
"""

from __future__ import annotations

import os
from collections import Counter
from functools import partial
from typing import Any

import numpy as np
from case import Case, Found, run, together

import surefoot as sf


def problem(case: Case, epsilon: float) -> sf.Problem:
    """The question of a case, in standardised units."""
    features = [
        sf.Feature(
            feature["name"], feature["change"], mean=0, std=1, limits=(feature["lower"], feature["upper"])
        )
        for feature in case.features
    ]
    if len(case.layers) == 1:
        weight, bias = case.layers[0]
        classifier = sf.Classifier.linear(weight[0], float(bias[0]))
    else:
        classifier = sf.Classifier.network(case.layers)
    return sf.Problem(features, classifier, epsilon=epsilon)


#: For networks, names and settings; the first is what the package does of its own accord.
NETWORKS: list[tuple[str, dict[str, Any]]] = [
    ("Surefoot, proved", {}),
    ("Surefoot, proved, 1,000 evaluations", {"evaluations": 1_000}),
    ("Surefoot, proved, 100 evaluations", {"evaluations": 100}),
    ("Surefoot, local", {"method": "local"}),
]


def method(case: Case, seconds: float) -> list[Found]:
    results = []
    rows = np.ascontiguousarray(case.people)
    is_linear = len(case.layers) == 1
    for epsilon in (0.0, 0.1):
        asked = problem(case, epsilon)
        for name, settings in [("Surefoot, exact", {})] if is_linear else NETWORKS:
            taken, answers = together(seconds, partial(sf.recourse, asked, rows, **settings))
            statuses = answers.column("status")
            columns = [answers.column(f"counterfactual:{name}") for name in case.names]
            reached = np.stack(columns, axis=1).astype(float).tolist()
            has_action = ("found", "unproved")
            found = [row if status in has_action else None for row, status in zip(reached, statuses)]
            told = ", ".join(f"{count} {status}" for status, count in sorted(Counter(statuses).items()))
            results.append(Found(name, epsilon, taken, found, f"{told}; {os.cpu_count()} threads"))
    return results


if __name__ == "__main__":
    run(method)
