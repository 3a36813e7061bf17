"""What is wrong is said with its place and its remedy, as an exception of its kind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import surefoot as sf

LINEAR = sf.Classifier.linear([1.0, 1.0])
A = sf.Feature("a", "any")
B = sf.Feature("b")


@pytest.mark.parametrize(
    ("kind", "message", "people"),
    [
        (sf.PeopleError, "no column `savings`; there are `income`", {"income": [1.0]}),
        (
            sf.PeopleError,
            "person 2, feature `income`: the value is NaN",
            {"income": [1, np.nan], "savings": [1, 2]},
        ),
        (sf.PeopleError, "column `income`: could not convert", {"income": ["much"], "savings": [1]}),
        (sf.PeopleError, "column `savings` has 1 rows", {"income": [1.0, 2.0], "savings": [1.0]}),
        (sf.PeopleError, "there are 3 columns; the problem has 2 features", np.ones((4, 3))),
        (sf.PeopleError, "there are no people", np.ones((0, 2))),
        (sf.PeopleError, "person 2 has no value for `savings`", [{"income": 1, "savings": 1}, {"income": 1}]),
        (sf.PeopleError, "no column `savings`", pa.table({"income": [1.0]})),
        (
            sf.PeopleError,
            "person 2, feature `savings`: no value",
            pa.table({"income": [1.0, 2], "savings": [1, None]}),
        ),
        (sf.PeopleError, "column `savings` is of type Utf8", pa.table({"income": [1.0], "savings": ["x"]})),
        (sf.PeopleError, "named columns is needed", 7),
    ],
)
def test_people_that_do_not_fit(linear: sf.Problem, kind: type[sf.Error], message: str, people: Any) -> None:
    with pytest.raises(kind, match=message):
        sf.recourse(linear, people)


def test_problems_that_cannot_be() -> None:
    mistakes: list[tuple[type[sf.Error], str, Callable[[], object]]] = [
        (sf.FeatureError, "`a` is given twice", lambda: sf.Problem([A, A], LINEAR, epsilon=0.1)),
        (sf.FeatureError, "there are no features", lambda: sf.Problem([], LINEAR, epsilon=0.1)),
        (sf.ClassifierError, "takes 2 inputs, but there is 1 feature; give one coefficient", lambda: sf.Problem([A], LINEAR, epsilon=0.1)),
        (sf.ClassifierError, "threshold is 2", lambda: sf.Problem([A], sf.Classifier.linear([1], threshold=2), epsilon=0)),
        (sf.ClassifierError, "layer 0: a weight of 1 dimensions", lambda: sf.Classifier.network([([1.0], [1.0])])),
        (sf.SettingError, "epsilon is -1", lambda: sf.Problem([A, B], LINEAR, epsilon=-1)),
        (sf.SettingError, "`l3` is no norm", lambda: sf.Problem([A, B], LINEAR, epsilon=0, norm="l3")),  # type: ignore[arg-type]
        (sf.SettingError, "`up` is no change", lambda: sf.Problem([sf.Feature("a", "up"), B], LINEAR, epsilon=0)),  # type: ignore[arg-type]
        (sf.CausalModelError, "cycle: `a` -> `b` -> `a`", lambda: sf.CausalModel([A, B], {"a": "b + u", "b": "a + u"})),
        (sf.CausalModelError, "formula of `a`, column 3", lambda: sf.CausalModel([A, B], {"a": "b ! u"})),
        (sf.FeatureError, "no column; there are `a`", lambda: sf.features({"a": [1, 2]}, change={"b": "any"})),
        (sf.FeatureError, "category with 0 categories", lambda: sf.Feature("a", kind="category")),
    ]  # fmt: skip
    for kind, message, make in mistakes:
        with pytest.raises(kind, match=message):
            make()
    assert issubclass(sf.PeopleError, sf.Error)
    assert issubclass(sf.Error, Exception)


def test_nothing_actionable_is_an_error_of_features(features: list[sf.Feature]) -> None:
    fixed = [sf.Feature("income"), sf.Feature("savings")]
    problem = sf.Problem(fixed, LINEAR, epsilon=0.1)
    with pytest.raises(sf.FeatureError, match="every feature is fixed"):
        sf.recourse(problem, {"income": -1.0, "savings": -1.0})


def test_a_problem_file_tells_every_mistake(tmp_path: Path) -> None:
    path = tmp_path / "problem.toml"
    path.write_text('epsilon = -1\n[[feature]]\nname = "a"\nstd = 0\n')
    with pytest.raises(sf.FileError) as caught:
        sf.Problem.read(path)
    assert "epsilon" in str(caught.value)
    assert "standard deviation" in str(caught.value)
    with pytest.raises(sf.FileError, match="cannot be read"):
        sf.Problem.read(tmp_path / "nothing.toml")


def test_settings_out_of_range(linear: sf.Problem, network: sf.Problem) -> None:
    ana = {"income": 1.0, "savings": 1.0}
    for problem in (linear, network):
        for gap in (0, -1, 1, 1.5, float("nan")):
            with pytest.raises(sf.SettingError, match="gap"):
                sf.recourse(problem, ana, gap=gap)
        with pytest.raises(sf.SettingError, match="evaluations"):
            sf.recourse(problem, ana, max_evaluations=0)
        with pytest.raises(sf.SettingError, match="evaluations"):
            sf.certify(problem, ana, {"income": [1.0]}, max_evaluations=0)
    with pytest.raises(sf.PeopleError, match="no column `person`"):
        sf.recourse(linear, pd.DataFrame({"income": [1.0], "savings": [1.0]}), id="person")


def test_outcomes_that_say_nothing(features: list[sf.Feature]) -> None:
    people = {"income": [1.0, 2.0], "savings": [1.0, 2.0]}
    with pytest.raises(sf.TrainingError, match="say with `favourable`"):
        sf.Classifier.train(features, people, ["yes", "no"])
    with pytest.raises(sf.TrainingError, match="no outcome is 'Yes'"):
        sf.Classifier.train(features, people, ["yes", "no"], favourable="Yes")
    with pytest.raises(sf.TrainingError, match="every label is the same"):
        sf.Classifier.train(features, people, [1, 1])
    with pytest.raises(sf.SettingError, match="patience needs rows"):
        sf.Classifier.train(features, people, [1, 0], validation_fraction=None, patience=3)
    with pytest.raises(sf.TrainingError, match="2 rows"):
        sf.Classifier.train(features, people, [1, 0, 1])
    with pytest.raises(sf.SettingError, match="holding out 0.2 of 2 rows leaves nobody"):
        sf.Classifier.train(features, people, [1, 0])


def test_no_two_people_have_the_same_id() -> None:
    problem = sf.Problem([A, B], LINEAR, epsilon=0.1)
    people = {"id": ["ana", "ben", "ana"], "a": [-1.0, -2.0, -3.0], "b": [0.0, 0.0, 0.0]}
    tables: list[object] = [people, pd.DataFrame(people), pa.table(people)]
    for table in tables:
        with pytest.raises(sf.PeopleError, match="persons 1 and 3 are both called `ana`"):
            sf.recourse(problem, table)


def test_a_long_text_is_not_copied_for_every_row() -> None:
    problem = sf.Problem([A, B], LINEAR, epsilon=0.1)
    ids = pa.DictionaryArray.from_arrays(pa.array([0] * 1000, pa.int32()), pa.array(["x" * 5000]))
    zeros = [0.0] * 1000
    with pytest.raises(sf.PeopleError, match="column `id` has a text of 5000 bytes; at most 4096"):
        sf.recourse(problem, pa.table({"id": ids, "a": zeros, "b": zeros}))


def test_messages_do_not_act_on_the_terminal() -> None:
    feature = sf.Feature("a\x1b[31m", "increase")
    with pytest.raises(sf.FeatureError) as refused:
        sf.Problem([feature, feature], LINEAR, epsilon=0.1)
    assert "\x1b" not in str(refused.value)
    assert "a\\u{1b}[31m" in str(refused.value)
