"""The cheapest robust actions for tree ensembles beside the optimum of a program with adversarial cuts: a sample of
`make bench-tree-optimum`, with random models."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

sys.path.insert(0, str(Path(__file__).parents[2] / "benches"))
from robust_tree_optimum import Adversary, compared, of_sklearn  # noqa: E402


@pytest.mark.parametrize("norm", ["l2", "linf"])
def test_costs_are_those_of_the_optimum(norm: str) -> None:
    optima = 0
    for seed in range(4):
        random = np.random.default_rng(seed)
        rows = random.random((300, int(random.integers(2, 5))))
        labels = rows[:, 0] + random.normal(size=300) * 0.3 > 0.5
        model = [
            DecisionTreeClassifier(max_depth=4, random_state=seed),
            RandomForestClassifier(4, max_depth=3, random_state=seed),
            GradientBoostingClassifier(n_estimators=5, max_depth=2, learning_rate=1.0, random_state=seed),
        ][seed % 3].fit(rows, labels.astype(int))
        for person in rows[:2]:
            one = compared(model, person, norm, 0.03, seconds=10.0)
            assert one.mistake() is None, (one.mistake(), one)
            optima += one.is_optimum and one.status == "found"
    assert optima >= 4, optima


def test_the_adversary_finds_what_samples_find() -> None:
    random = np.random.default_rng(0)
    rows = random.random((300, 2))
    model = GradientBoostingClassifier(n_estimators=8, max_depth=2, learning_rate=1.0, random_state=0)
    model.fit(rows, (rows.sum(axis=1) + 0.3 * random.normal(size=300) > 1).astype(int))
    adversary = Adversary(of_sklearn(model, 1), 2)
    broken = 0
    for centre in random.random((60, 2)):
        shifts = random.uniform(-0.05, 0.05, (4000, 2))
        is_broken = bool((model.predict(centre + shifts) == 0).any())
        found = adversary.breaks(centre, "linf", 0.05)
        assert found is not None or not is_broken
        broken += is_broken
        if found is not None:
            low, high = found
            # Beyond what scikit-learn rounds to single precision.
            inside = np.clip(centre, low + 1e-6, high - 1e-6)
            assert np.abs(inside - centre).max() <= 0.05 + 2e-6 and model.predict(inside[None, :])[0] == 0
    assert 5 < broken < 55
