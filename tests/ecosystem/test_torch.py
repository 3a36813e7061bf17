"""PyTorch networks in the Python package: the same decisions, or a refusal that names the module."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.preprocessing import StandardScaler
from torch import nn

import surefoot as sf

ROOT = Path(__file__).parents[2]
FEATURES = [sf.Feature(name, "any", mean=10.0 * k, std=2.0) for k, name in enumerate("abc")]


class Wrapped(nn.Module):
    """As people write them: layers within, and the last dimension dropped."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 6), nn.ReLU(), nn.Dropout(0.5), nn.Linear(6, 5), nn.ReLU())
        self.head = nn.Linear(5, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.body(x)).squeeze(-1)


class Secretive(nn.Module):
    """Does something that its modules do not tell."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.between, self.last = nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(self.between(self.first(x) ** 2))


def logits(model: nn.Module, rows: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    model.eval()
    with torch.no_grad():
        out = model(torch.as_tensor(rows, dtype=torch.float32)).double().numpy().reshape(len(rows), -1)
    last = list(model.modules())[-1]
    if isinstance(last, nn.Sigmoid):
        return np.log(out[:, 0] / (1 - out[:, 0]))
    if out.shape[1] == 2:
        out = np.log(out) if isinstance(last, nn.Softmax) else out
        return out[:, 1] - out[:, 0]
    return out[:, 0]


def normalised() -> nn.Module:
    norm = nn.BatchNorm1d(5)
    model = nn.Sequential(nn.Linear(3, 5), norm, nn.Tanh(), nn.Linear(5, 1))
    model.train()
    model(torch.randn(64, 3) * 2 + 1)
    return model


MODELS = {
    "linear": lambda: nn.Linear(3, 1),
    "tanh": lambda: nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 1)),
    "sigmoid at the end": lambda: nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 1), nn.Sigmoid()),
    "sigmoid between": lambda: nn.Sequential(nn.Linear(3, 5, bias=False), nn.Sigmoid(), nn.Linear(5, 1)),
    "two logits": lambda: nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 2)),
    "softmax": lambda: nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2), nn.Softmax(dim=1)),
    "normalised": normalised,
    "wrapped": Wrapped,
}


@pytest.mark.parametrize("kind", MODELS)
def test_scores_are_those_of_the_network(kind: str) -> None:
    torch.manual_seed(1)
    model = MODELS[kind]()
    rows = np.random.default_rng(2).normal(size=(200, 3))
    own = rows * 2.0 + [0.0, 10.0, 20.0]
    problem = sf.Problem(FEATURES, sf.Classifier.from_torch(model), epsilon=0.1)
    np.testing.assert_allclose(problem.score(own), logits(model, rows), atol=1e-5)
    raw = sf.Problem(FEATURES, sf.Classifier.from_torch(model, inputs="raw"), epsilon=0.1)
    np.testing.assert_allclose(raw.score(own), logits(model, own), atol=1e-4)
    scaler = StandardScaler().fit(own)
    scaled = sf.Problem(FEATURES, sf.Classifier.from_torch(model, scaler=scaler), epsilon=0.1)
    np.testing.assert_allclose(scaled.score(own), logits(model, scaler.transform(own)), atol=1e-5)


@pytest.mark.parametrize(
    ("message", "model"),
    [
        ("module GELU is not understood", nn.Sequential(nn.Linear(3, 4), nn.GELU(), nn.Linear(4, 1))),
        (
            "activations differ",
            nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 1)),
        ),
        ("2 linear layers with 0 activations", nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 1))),
        ("has 3 outputs", nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 3))),
        ("Secretive does something else", Secretive()),
    ],
)
def test_what_is_not_understood_is_refused(message: str, model: nn.Module) -> None:
    with pytest.raises(sf.ClassifierError, match=message):
        sf.Classifier.from_torch(model)


def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "examples/python/causal_torch.py"), run_name="__main__")
    said = capsys.readouterr().out
    assert "<60 answers" in said
    assert "That is proven" in said
