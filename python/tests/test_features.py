"""Features from tables, as `surefoot init` takes them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import surefoot as sf


@pytest.fixture
def frame() -> pd.DataFrame:
    random = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "age": random.integers(18, 80, size=300),
            "income": random.normal(3000, 700, size=300),
            "trades": random.poisson(2.0, size=300).astype(float),
            "member": random.integers(0, 2, size=300),
            "large": 1e9 + random.normal(0, 1e-3, size=300),
        }
    )


def test_the_same_as_init(command: str, tmp_path: Path, frame: pd.DataFrame) -> None:
    # Missing values are passed over by both.
    frame.loc[[3, 7], "income"] = np.nan
    frame.assign(paid=frame["age"] % 2).to_csv(tmp_path / "people.csv", index=False)
    asked = [command, "init", str(tmp_path / "people.csv"), "--target", "paid"]
    asked += ["--output", str(tmp_path / "problem.toml")]
    subprocess.run(asked, check=True, capture_output=True)
    with open(tmp_path / "problem.toml", "a") as file:
        file.write(f"[classifier]\ncoefficients = {[1.0] * 5}\nintercept = 0\n")
    expected = sf.Problem.read(tmp_path / "problem.toml").features
    read: Any = pd.read_csv(tmp_path / "people.csv")[list(frame)]
    for table in (read, pl.from_pandas(read), pa.Table.from_pandas(read), dict(read)):
        made = sf.features(table)
        assert [(f.name, f.mean, f.std, f.limits) for f in made] == [
            (f.name, f.mean, f.std, f.limits) for f in expected
        ]
    assert expected[0].limits == (frame["age"].min(), frame["age"].max())
    assert expected[3].limits is None


def test_limits_may_be_given_or_left_out(frame: pd.DataFrame) -> None:
    given = sf.features(frame, limits={"income": (0, None), "age": None})
    assert [feature.limits for feature in given[:3]] == [None, (0.0, np.inf), (0.0, frame["trades"].max())]
    assert all(feature.limits is None for feature in sf.features(frame, observed_limits=False))
    # Nothing else depends on it.
    for limited, free in zip(sf.features(frame), sf.features(frame, observed_limits=False)):
        assert (limited.mean, limited.std, limited.kind) == (free.mean, free.std, free.kind)


def test_no_action_leads_where_nobody_is(frame: pd.DataFrame) -> None:
    change: dict[str, Any] = {"trades": "decrease", "income": "increase"}
    classifier = sf.Classifier.linear([0.5, 0.3, -1.0, 0.0, 0.0], -2.2)
    limited = sf.Problem(sf.features(frame, change=change), classifier, epsilon=0.05)
    answers = sf.recourse(limited, frame)
    found = answers.counterfactuals()
    assert len(found) > 0
    assert answers.counts["impossible"] > 0
    assert (found["trades"] >= frame["trades"].min() - 1e-9).all()
    assert (found["income"] <= frame["income"].max() * (1 + 1e-9)).all()
    free = sf.Problem(sf.features(frame, change=change, observed_limits=False), classifier, epsilon=0.05)
    beyond = sf.recourse(free, frame).counterfactuals()
    assert (beyond["trades"] < -0.5).any()


def test_columns_that_cannot_be_features_are_refused() -> None:
    for values, why in (
        ([np.nan, np.nan], "no values"),
        ([1.0, np.inf], "has infinite values"),
        ([1e308, -1e308], "values too large to be standardised"),
    ):
        with pytest.raises(sf.FeatureError, match=f"column `a`: {why}; leave it out"):
            sf.features({"a": values})
    # What is always the same is its own range.
    assert sf.features({"a": [3.0, 3.0]}) == [sf.Feature("a", mean=3.0, limits=(3.0, 3.0))]


def public(name: str) -> Path:
    """A public file of the paper, where the project looks for it."""
    if os.environ.get("SUREFOOT_DATA"):
        folders = [Path(os.environ["SUREFOOT_DATA"])]
    else:
        folders = [folder / "shared/data" for folder in Path(__file__).parents]
    found = [folder / name for folder in folders if (folder / name).is_file()]
    if not found:
        assert not os.environ.get("CI"), f"{name} is missing; fetch it with `surefoot data fetch`"
        pytest.skip(f"{name} is missing")
    return found[0]


def german() -> tuple[pd.DataFrame, str, dict[str, Any]]:
    table = pd.read_csv(public("SouthGermanCredit.asc"), sep=" ")
    return table, "kredit", {"laufzeit": "decrease", "hoehe": "decrease"}


def adult() -> tuple[pd.DataFrame, str, dict[str, Any]]:
    table = pd.read_csv(public("adult.csv"), header=None, skipinitialspace=True)
    numbers = table[[0, 4, 10, 11, 12]].set_axis(["age", "education", "gain", "loss", "hours"], axis=1)
    frame = numbers.assign(rich=(table[14] == ">50K").astype(int))
    return frame, "rich", {"education": "increase", "hours": "any", "gain": "increase"}


@pytest.mark.parametrize("read", [german, adult])
def test_real_tables(command: str, tmp_path: Path, read: Callable[[], Any]) -> None:
    frame, target, change = read()
    frame.to_csv(tmp_path / "people.csv", index=False)
    asked = [command, "init", str(tmp_path / "people.csv"), "--target", target]
    asked += ["--output", str(tmp_path / "problem.toml")]
    subprocess.run(asked, check=True, capture_output=True)
    people = frame.drop(columns=target)
    with open(tmp_path / "problem.toml", "a") as file:
        file.write(f"[classifier]\ncoefficients = {[1.0] * people.shape[1]}\nintercept = 0\n")
    features = sf.features(people, change=change)
    for ours, theirs in zip(features, sf.Problem.read(tmp_path / "problem.toml").features):
        assert (ours.name, ours.mean, ours.std) == (theirs.name, theirs.mean, theirs.std)
        assert ours.limits == theirs.limits
    # Nobody who acts ends where nobody is.
    classifier = sf.Classifier.train(features, people, frame[target], hidden=[])
    problem = sf.Problem(features, classifier, epsilon=0.05)
    refused = people[problem.score(people) < 0].head(200)
    found = sf.recourse(problem, refused).counterfactuals()
    assert len(found) > 20
    assert (found >= people.min() - 1e-6).all(axis=None)
    assert (found <= people.max() + 1e-6).all(axis=None)
