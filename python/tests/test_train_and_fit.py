"""Training classifiers and fitting causal models."""

from __future__ import annotations

import subprocess
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import surefoot as sf


def applicants(count: int = 600) -> tuple[pd.DataFrame, np.ndarray[Any, np.dtype[np.bool_]]]:
    random = np.random.default_rng(4)
    age = random.normal(45, 12, size=count)
    income = 20 * age + random.normal(2000, 700, size=count)
    frame = pd.DataFrame(
        {"age": age, "income": income, "savings": 2 * income + random.normal(0, 900, size=count)}
    )
    return frame, random.random(count) < 1 / (1 + np.exp(-(income - 2900) / 300))


def test_the_same_classifier_as_the_command_line(command: str, tmp_path: Path) -> None:
    frame, outcomes = applicants()
    frame.assign(granted=outcomes.astype(int)).to_csv(tmp_path / "people.csv", index=False)
    problem = tmp_path / "problem.toml"
    cases: list[tuple[list[str], dict[str, Any]]] = [
        ([], {}),
        (
            ["--hidden", "none", "--epochs", "5", "--test", "0"],
            {"hidden": [], "epochs": 5, "test_fraction": 0},
        ),
        (["--validation", "0", "--epochs", "5"], {"validation_fraction": None, "epochs": 5}),
    ]
    for settings, ours in cases:
        problem.unlink(missing_ok=True)
        told = subprocess.run(
            [command, "train", str(tmp_path / "people.csv"), "--target", "granted", "--problem", str(problem)]
            + ["--seed", "3", *settings],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        # Everything is fixed in a first problem file; somebody must be able to do something.
        read = sf.Problem.read(problem)
        classifier = sf.Classifier.train(read.features, frame, outcomes, random_state=3, **ours)
        again = sf.Problem(read.features, classifier, epsilon=0.1)
        np.testing.assert_array_equal(again.score(frame), read.score(frame))
        assert classifier.accuracy is not None
        training, held_out = classifier.accuracy
        assert f"Accuracy {training:.3f} in training and {held_out:.3f} on the rows held out" in told
        assert f"accuracy {training:.3f} in training and {held_out:.3f} held out)" in repr(classifier)
        assert classifier.losses[0][0] > classifier.losses[-1][0]
    assert len(classifier.losses) == 5


def test_what_is_learnt_by_heart_is_warned_of() -> None:
    frame, _ = applicants()
    coin = np.random.default_rng(1).random(len(frame)) < 0.5
    features = sf.features(frame, change={"income": "increase"})
    large: dict[str, Any] = {"hidden": [100, 100], "epochs": 100, "validation_fraction": None}
    with pytest.warns(sf.TrainingWarning, match="in training and of .* differ by more than chance"):
        classifier = sf.Classifier.train(features, frame, coin, **large)
    assert classifier.accuracy is not None
    training, held_out = classifier.accuracy
    assert held_out is not None
    assert training > held_out + 0.1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Small and stopped early, it learns nothing by heart; and without rows held out nothing is known.
        sf.Classifier.train(features, frame, coin)
        everything = sf.Classifier.train(
            features, frame, coin, **{**large, "test_fraction": None, "epochs": 2}
        )
    assert everything.accuracy is not None
    assert everything.accuracy[1] is None


def test_allr_leaves_room_to_act() -> None:
    frame, outcomes = applicants()
    features = sf.features(frame, change={"income": "increase", "savings": "increase"})
    for objective in ("erm", "af", "allr", "ross"):
        classifier = sf.Classifier.train(
            features, pl.from_pandas(frame), outcomes, objective=objective, hidden=[8], epochs=10
        )
        problem = sf.Problem(features, classifier, epsilon=0.1)
        agreement = ((problem.score(frame) >= 0) == outcomes).mean()
        assert agreement > 0.7, objective
    words = np.where(outcomes, "granted", "refused")
    again = sf.Classifier.train(
        features, frame, words, favourable="granted", objective="ross", hidden=[8], epochs=10
    )
    np.testing.assert_array_equal(sf.Problem(features, again, epsilon=0).score(frame), problem.score(frame))


def test_early_stopping_and_thresholds() -> None:
    frame, outcomes = applicants()
    features = sf.features(frame, change={"income": "increase"})
    stopped = sf.Classifier.train(
        features, frame, outcomes, hidden=[8], epochs=200, validation_fraction=0.2, patience=2
    )
    assert len(stopped.losses) < 200
    assert stopped.losses[0][1] is not None
    assert sf.Classifier.train(features, frame, outcomes, hidden=[], epochs=2, threshold=0.7).threshold == 0.7
    low = sf.Classifier.train(features, frame, outcomes, hidden=[], epochs=2, threshold=("fpr", 0.01))
    high = sf.Classifier.train(features, frame, outcomes, hidden=[], epochs=2, threshold=("fpr", 0.5))
    assert low.threshold > high.threshold


@pytest.mark.parametrize("shape", ["linear", "network"])
def test_equations_are_recovered(shape: Any) -> None:
    frame, _ = applicants()
    features = sf.features(frame, change={"income": "increase"})
    graph = {"income": ["age"], "savings": ["income"]}
    model = sf.CausalModel.fit(features, frame, graph, shape=shape, hidden=[10], epochs=60)
    assert [equation.feature for equation in model.fitted] == ["income", "savings"]
    assert model.fitted[1].r_squared > 0.6
    assert model.fitted[1].deviation == pytest.approx(900, rel=0.3)
    person = {"age": 45.0, "income": 2900.0, "savings": 5800.0}
    after = model.counterfactual(person, shift={"income": 100.0})
    assert after["savings"][0] - 5800 == pytest.approx(200, rel=0.25)
    assert after["age"][0] == pytest.approx(45)
    level = model.counterfactual(person, set={"income": 3000.0})
    assert level["savings"][0] == pytest.approx(after["savings"][0])


def test_graphs_are_written_in_several_ways() -> None:
    frame, _ = applicants()
    features = sf.features(frame)

    class Graph:
        edges = [("age", "income"), ("income", "savings")]

    expected = repr(sf.CausalModel.fit(features, frame, {"income": ["age"], "savings": ["income"]}))
    assert expected == "CausalModel(age -> income; income -> savings)"
    texts = ["age -> income; income -> savings", "digraph { age -> income -> savings }"]
    for graph in (Graph.edges, Graph(), iter(Graph.edges), *texts):
        assert repr(sf.CausalModel.fit(features, frame, graph)) == expected
    with pytest.raises(sf.CausalModelError, match="there is no arrow"):
        sf.CausalModel.fit(features, frame, "age income")
    with pytest.raises(sf.FeatureError, match="`wealth` is no feature"):
        sf.CausalModel.fit(features, frame, {"wealth": ["age"]})


def test_doubt_is_told() -> None:
    random = np.random.default_rng(0)
    cause = random.normal(size=500)
    frame = pd.DataFrame({"cause": cause, "effect": cause + cause * random.normal(size=500)})
    with pytest.warns(sf.FitWarning, match="noise is not simply added"):
        model = sf.CausalModel.fit(sf.features(frame), frame, {"effect": ["cause"]})
    assert len(model.fitted[0].warnings) == 1
