"""Problems are written into files that say the same."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv
import pytest

import surefoot as sf

Table = dict[str, Any]


def assert_same(problem: sf.Problem, path: Path, people: Any, **settings: Any) -> sf.Problem:
    """Answers are the same, and proofs, which name their problem, stay valid."""
    problem.write(path)
    read = sf.Problem.read(path)
    answers = sf.recourse(problem, people, proofs=True, **settings)
    again = sf.recourse(read, people, proofs=True, **settings)
    assert again.to_arrow().equals(answers.to_arrow())
    assert again.proofs == answers.proofs
    assert read.graph == problem.graph
    return read


@pytest.mark.parametrize("ending", ["toml", "json"])
def test_plain_problems(
    linear: sf.Problem, network: sf.Problem, people: Table, tmp_path: Path, ending: str
) -> None:
    some = {name: values[:4] for name, values in people.items()}
    for number, problem in enumerate((linear, network)):
        assert_same(problem, tmp_path / f"{number}.{ending}", some)
        # Its parts are those of the file, too.
        read = sf.Problem.read(tmp_path / f"{number}.{ending}")
        rebuilt = sf.Problem(read.features, read.classifier, read.causal_model, epsilon=read.epsilon)
        assert (
            sf.recourse(rebuilt, some, proofs=True).proofs == sf.recourse(problem, some, proofs=True).proofs
        )


@pytest.mark.parametrize("ending", ["toml", "json"])
def test_everything_that_a_problem_may_say(tmp_path: Path, ending: str) -> None:
    features = [
        sf.Feature("income", "increase", mean=3000, std=1500, limits=(0, None), step=100, label='net "income"', unit="EUR {}"),
        sf.Feature("months", "any", kind="integer", mean=12, std=6, limits=(1, 60), unit=("month", "months"), most_change=12),
        sf.Feature("home", kind="binary", describe={1: "owned", 0: "rented"}),
        sf.Feature("job", "any", categories=["clerk", "cook", "nurse=x"], weight=2.0, describe={"cook": "chef"}),
        sf.Feature("school", "increase", kind="ordinal", categories=["none", "basic", "degree"]),
        sf.Feature("rank", "increase", categories=["low", "mid", "top"], ordered=True),
        sf.Feature("score", mean=50, std=20, special={-9: "no record"}, norm_weight=2.0),
        sf.Feature("ä b\t\x7f", special=[-1], most_change_share=0.2),
    ]  # fmt: skip
    weights = [1.0, 0.2, 0.3, 0.1, 0.2, 0.3, 0.5, 0.1, 0.2, 0.3, 0.4, 0.1]
    problem = sf.Problem(
        features,
        sf.Classifier.linear(weights, -2.0, threshold=0.4),
        sf.CausalModel(features, {"months": sf.Equation.linear(["income"], [0.001], 3.0, inputs="raw")}),
        epsilon=0.05, norm="linf", cost="l2", form="absolute", limits_on="action", safety=1e-6,
        constraints=["income >= 2 * months"], forbid=[("job", "clerk", ["cook"]), ("months", 12, None)],
        most_changes=3, one_of=[["income", "job"]],
    )  # fmt: skip
    people = {
        "income": [2400.0, 2900.0], "months": [12, 20], "home": [0, 1], "job": ["clerk", "cook"],
        "school": ["none", "basic"], "rank": ["low", "mid"], "score": [40.0, -9.0], "ä b\t\x7f": [0.0, 1.0],
    }  # fmt: skip
    read = assert_same(problem, tmp_path / f"problem.{ending}", people, max_evaluations=3000)
    assert [feature.label for feature in read.features] == [feature.label for feature in features]
    assert (
        read["months"].unit == ("{} month", "{} months")
        and len(read) == 8
        and list(read) == list(read.features)
    )


def test_committees_alternatives_and_uncertainty(
    features: list[sf.Feature], people: Table, tmp_path: Path
) -> None:
    random = np.random.default_rng(5)
    layers = [
        (random.normal(size=(3, 2)), random.normal(size=3)),
        (np.abs(random.normal(size=(1, 3))), np.array([0.1])),
    ]
    committee = sf.Committee(
        {"linear": sf.Classifier.linear([0.8, 0.6], -0.5), "network": sf.Classifier.network(layers, "relu")},
        agree=1,
    )
    shape = [(np.ones((2, 1)), np.zeros(2)), (np.ones((1, 2)), np.array([0.0]))]
    problem = sf.Problem(
        features,
        committee,
        sf.CausalModel(features, {"savings": sf.Equation.network(["income"], shape)}),
        epsilon=0.05,
        alternatives={"none": sf.CausalModel(features, {}), "formula": sf.CausalModel(features, {"savings": "2 * income + u"})},
        uncertainty=[sf.Uncertainty.execution(share=0.05)],
    )  # fmt: skip
    some = {name: values[:2] for name, values in people.items()}
    assert_same(problem, tmp_path / "problem.toml", some, max_evaluations=2000)
    read = sf.Problem.read(tmp_path / "problem.toml")
    assert isinstance(read.classifier, sf.Committee) and list(read.classifier.members) == [
        "linear",
        "network",
    ]
    uncertain = sf.Classifier.linear([0.8, 0.6], -0.5).with_uncertain_weights(share=0.01)
    assert_same(sf.Problem(features, uncertain, epsilon=0.05), tmp_path / "weights.toml", some)


@pytest.mark.parametrize("example", ["independent", "linear", "network", "whole", "trees", "categories"])
def test_the_parts_of_problem_files(examples: Path, tmp_path: Path, example: str) -> None:
    shutil.copytree(examples / example, tmp_path / "copy")
    read = sf.Problem.read(tmp_path / "copy/problem.toml")
    shutil.rmtree(tmp_path / "copy")
    # Everything that it names was kept.
    people = pyarrow.csv.read_csv(examples / example / "people.csv")
    assert_same(read, tmp_path / "written/problem.toml", people.slice(0, 2), max_evaluations=3000)
    model = read.causal_model
    assert (model is None) == (example in ("independent", "trees")) or model is not None
    if model is not None:
        assert model.graph == read.graph
        for name in model:
            assert isinstance(model[name], sf.Equation)
    # A problem of its features and classifier scores alike.
    alike = sf.Problem(read.features, read.classifier, epsilon=0.0)
    np.testing.assert_array_equal(alike.score(people), read.score(people))


def test_nothing_is_overwritten_and_nothing_is_left_half(
    linear: sf.Problem, network: sf.Problem, tmp_path: Path
) -> None:
    path = tmp_path / "problem.toml"
    linear.write(path)
    with pytest.raises(sf.FileError, match="exists already"):
        network.write(path)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["problem.toml"]
    network.write(path, overwrite=True)
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        "problem.classifier.safetensors",
        "problem.toml",
    ]
    with pytest.raises(sf.FileError, match="same ending"):
        sf.Problem.read(path).write(tmp_path / "problem.json")
    (tmp_path / "file").write_text("")
    with pytest.raises(sf.FileError, match="cannot be written"):
        linear.write(tmp_path / "file/problem.toml")


def test_no_field_of_features_is_forgotten() -> None:
    # A field that is not written would be lost without a word.
    known = {
        "name", "change", "mean", "std", "limits", "weight", "norm_weight", "kind", "categories", "step", "most_change",
        "most_change_share", "label", "unit", "describe", "special", "ordered", "missing",
    }  # fmt: skip
    assert set(sf.Feature.__dataclass_fields__) == known
