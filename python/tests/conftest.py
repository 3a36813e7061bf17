"""What several tests share."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import surefoot as sf

ROOT = Path(__file__).parents[2]


@pytest.fixture
def examples() -> Path:
    """The problem files of the project."""
    return ROOT / "examples"


@pytest.fixture
def command() -> str:
    """The command `surefoot`, as the project's other tests have built it."""
    path = Path(os.environ.get("SUREFOOT_COMMAND", ROOT / "target/debug/surefoot"))
    if not path.exists():
        if os.environ.get("CI"):
            pytest.fail(f"{path} is not there; build it with cargo build -p surefoot-cli")
        pytest.skip(f"{path} is not there")
    return str(path)


@pytest.fixture
def features() -> list[sf.Feature]:
    return [
        sf.Feature("income", "increase", mean=3000, std=1500),
        sf.Feature("savings", "increase", mean=8000, std=4000),
    ]


@pytest.fixture
def linear(features: list[sf.Feature]) -> sf.Problem:
    """Ana's: who earns more saves more."""
    causal_model = sf.CausalModel(features, {"savings": "2 * income + u"})
    return sf.Problem(features, sf.Classifier.linear([0.8, 0.6], -0.5), causal_model, epsilon=0.1)


@pytest.fixture
def network(features: list[sf.Feature]) -> sf.Problem:
    """The same with a network that decides."""
    random = np.random.default_rng(5)
    first = random.normal(size=(8, 2)), random.normal(size=8)
    last = np.abs(random.normal(size=(1, 8))) * np.sign(first[0].sum(axis=1)), [-0.5]
    classifier = sf.Classifier.network([first, last])
    causal_model = sf.CausalModel(features, {"savings": "2 * income + u"})
    return sf.Problem(features, classifier, causal_model, epsilon=0.1)


@pytest.fixture
def people() -> dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]]:
    random = np.random.default_rng(3)
    income = random.normal(3000, 1500, size=40)
    return {"income": income, "savings": 2 * income + random.normal(2000, 2000, size=40)}
