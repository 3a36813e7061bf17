"""Labels, units, descriptions, special values, and ordered categories of which the model takes a column each."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import surefoot as sf


def problem() -> sf.Problem:
    features = [
        sf.Feature("income", "increase", mean=3000, std=1500, label="net income", unit="EUR {}"),
        sf.Feature("bureau", "increase", limits=(0, 9), special={-9: "no bureau record"}),
    ]
    return sf.Problem(features, sf.Classifier.linear([1.0, 0.1], 0.9), epsilon=0.1)


def test_answers_use_the_words() -> None:
    # The logit is -0.4 - 0.9 + 0.9; income has to rise by 0.4, and 0.1 against shifts of income alone.
    (answer,) = sf.recourse(problem(), {"income": 2400, "bureau": -9})
    assert answer.text == (
        "Raise net income by EUR 750.1 (from EUR 2,400 to EUR 3,150.1). This still works if circumstances "
        "shift a little: net income by up to EUR 150. That is proven, as is that no cheaper allowed action would do. "
        "Taken as it is and not to be changed, because the value is special: bureau (no bureau record)."
    )
    assert set(answer.action) == {"income"}
    with pytest.raises(sf.PeopleError):
        sf.recourse(problem(), {"income": 2400, "bureau": -8})


def test_features_say_what_they_are_and_can_be_sent(tmp_path: Path) -> None:
    stated = problem().features
    assert repr(stated[0]).endswith("label='net income', unit='EUR {}')")
    assert pickle.loads(pickle.dumps(stated)) == stated
    assert len({*stated}) == 2
    text = """
epsilon = 0
classifier = { coefficients = [1, 1, 1], intercept = 0 }
[[feature]]
name = "months"
unit = ["month", "months"]
special = [-1]
[[feature]]
name = "status"
label = "account"
categories = ["A11", "A12"]
describe = { A11 = "overdrawn" }
"""
    path = tmp_path / "problem.toml"
    path.write_text(text)
    months, status = sf.Problem.read(path).features
    assert months == sf.Feature("months", unit=("{} month", "{} months"), special=[-1])
    assert status == sf.Feature(
        "status", categories=["A11", "A12"], label="account", describe={"A11": "overdrawn"}
    )
    path.write_text(text.replace("special = [-1]", 'special = { "-1" = "none" }'))
    assert sf.Problem.read(path).features[0].special == {-1.0: "none"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"unit": "{} of {}"},
        {"label": " "},
        {"describe": {"1": "one"}},
        {"special": [np.nan]},
        {"kind": "binary", "special": [-9]},
        {"kind": "binary", "unit": "EUR {}"},
    ],
)
def test_what_cannot_be_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(sf.FeatureError):
        sf.Problem([sf.Feature("x", **wrong)], sf.Classifier.linear([1.0], 0.0), epsilon=0)  # type: ignore[arg-type]


def test_special_values_are_kept_out_of_statistics() -> None:
    people = {"bureau": [50.0, -9.0, 70.0, 60.0, -9.0], "income": [1.5, 2.0, 3.0, 4.0, 5.0]}
    bureau, _ = sf.features(people, special={"bureau": [-9]}, unit={"income": "EUR {}"})
    assert (bureau.mean, bureau.std, bureau.limits, bureau.special) == (60.0, 10.0, (50.0, 70.0), (-9.0,))
    with pytest.raises(sf.FeatureError):
        sf.features(people, special={"bureu": [-9]})


def test_one_hot_categories_go_up_only() -> None:
    random = np.random.default_rng(4)
    levels = ["none", "basic", "degree"]
    people = pd.DataFrame({"education": random.choice(levels, 300), "income": random.normal(3, 1, 300)})
    # The lowest category is the best one, so that an action would go down if it were allowed.
    good = people["income"] - people["education"].map({"none": 0, "basic": 1, "degree": 2}) > 2
    columns = make_column_transformer((OneHotEncoder(), ["education"]), remainder="passthrough")
    pipeline = make_pipeline(columns, LogisticRegression()).fit(people, good)
    for change in ("any", "increase", "decrease"):
        features = [
            sf.Feature("education", change, categories=levels, ordered=change != "any"),
            sf.Feature("income", "increase", mean=3, std=1, weight=5),
        ]
        classifier = sf.Classifier.from_sklearn(pipeline, features)
        answers = sf.recourse(sf.Problem(features, classifier, epsilon=0.05), people[:60])
        moves = []
        for answer in answers:
            if "education" in answer.action and answer.counterfactual:
                before = levels.index(answer.person["education"])
                moves.append(levels.index(answer.counterfactual["education"]) - before)
        if change == "increase":
            assert all(move >= 0 for move in moves)
        else:
            assert any(move < 0 for move in moves) and all(move <= 0 for move in moves)
    with pytest.raises(sf.FeatureError):
        sf.Feature("education", "increase", kind="ordinal", categories=levels, ordered=True)
