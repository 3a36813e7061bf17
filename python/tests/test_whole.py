"""Whole numbers, categories, constraints, forbidden transitions, several options."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

import surefoot as sf

SCHOOLS = ["none", "some", "much"]


def applicants(count: int = 500) -> tuple[pd.DataFrame, Any]:
    random = np.random.default_rng(11)
    frame = pd.DataFrame(
        {
            "hours": random.integers(0, 50, size=count),
            "contract": random.choice(["none", "temporary", "permanent"], size=count),
            "school": random.choice(SCHOOLS, size=count),
            "member": random.integers(0, 2, size=count),
            "age": random.normal(45, 12, size=count),
            "district": random.choice([1, 2, 7], size=count),
        }
    )
    logit = (frame["hours"] - 30) / 8 + 2.0 * (frame["contract"] == "permanent") + frame["member"] - 1.5
    return frame, (random.random(count) < 1 / (1 + np.exp(-logit))).astype(int)


def fitted(last: Any) -> tuple[pd.DataFrame, Any, list[sf.Feature]]:
    frame, outcomes = applicants()
    columns = ColumnTransformer(
        [
            ("numbers", StandardScaler(), ["hours", "age"]),
            ("names", OneHotEncoder(), ["contract", "district"]),
            ("order", OrdinalEncoder(categories=[SCHOOLS]), ["school"]),
        ],
        remainder="passthrough",
    )
    features = sf.features(
        frame,
        change={
            "hours": "increase",
            "contract": "any",
            "school": "increase",
            "member": "any",
            "district": "any",
        },
        kind={"school": "ordinal", "district": "category"},
        categories={"school": SCHOOLS},
        limits={"hours": (0, 50)},
    )
    return frame, make_pipeline(columns, last).fit(frame, outcomes), features


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("last", [LogisticRegression(), MLPClassifier((5,), max_iter=80, random_state=0)])
def test_actions_come_back_in_whole_values_and_categories(last: Any) -> None:
    frame, pipeline, features = fitted(last)
    assert [feature.kind for feature in features] == [
        "integer",
        "category",
        "ordinal",
        "binary",
        "real",
        "category",
    ]
    problem = sf.Problem(features, sf.Classifier.from_sklearn(pipeline, features), epsilon=0.05)
    refused = frame[pipeline.predict(frame) == 0].head(12)
    answers = sf.recourse(problem, refused)
    assert answers.counts["found"] > 8
    table = answers.to_pandas()
    after = answers.counterfactuals()
    assert (pipeline.predict(after) == 1).all()
    assert (after["hours"] == after["hours"].round()).all()
    assert set(after["contract"]) <= {"none", "temporary", "permanent"}
    assert set(after["district"]) <= {1, 2, 7}
    assert set(after["member"]) <= {0.0, 1.0}
    moved = after["contract"] != refused.loc[after.index, "contract"]
    told = table.loc[after.index, "action:contract"]
    assert (told[moved] == after["contract"][moved]).all()
    assert told[~moved].isna().all()
    for answer in answers:
        if "contract" in answer.action:
            assert "change contract from" in answer.text
            assert "contract=" not in answer.text
            assert str(answer.action["contract"]) in answer._repr_html_()


def test_constraints_and_forbidden_transitions() -> None:
    features = [
        sf.Feature("income", "increase", mean=2900, std=900),
        sf.Feature("rent", "decrease", mean=1000, std=300, limits=(300, None)),
        sf.Feature("contract", "any", categories=["none", "temporary", "permanent"]),
        sf.Feature("school", "any", kind="ordinal", categories=SCHOOLS),
    ]
    classifier = sf.Classifier.linear([0.3, -0.3, -1.0, 0.0, 2.0, 0.4], -0.8)
    person = {"income": 2400, "rent": 1100, "contract": "none", "school": "none"}
    free = sf.recourse(sf.Problem(features, classifier, epsilon=0.1), person)[0]
    assert free.action == {"contract": "permanent"}
    settings: dict[str, Any] = {
        "epsilon": 0.1,
        "constraints": ["income >= 3 * rent"],
        "forbid": [("contract", "none", "permanent"), ("school", ["none"], ["much"])],
    }
    problem = sf.Problem(features, classifier, **settings)
    for same in (problem, pickle.loads(pickle.dumps(problem))):
        answer = sf.recourse(same, person)[0]
        after = answer.counterfactual
        assert after["income"] >= 3 * after["rent"] - 1e-6
        assert after["contract"] != "permanent"
        assert after["school"] != "much"
        assert answer.cost is not None
        assert free.cost is not None
        assert answer.cost > free.cost
    mistakes: list[tuple[type[sf.Error], str, dict[str, Any]]] = [
        (sf.SettingError, "must be linear", {"constraints": ["income >= rent ^ 2"]}),
        (
            sf.FeatureError,
            "`part-time` is no category of `contract`",
            {"forbid": [("contract", "part-time", None)]},
        ),
        (sf.FeatureError, "`wealth` is no feature", {"forbid": [("wealth", 1, 2)]}),
        (sf.SettingError, "`income` is real", {"forbid": [("income", 1, 2)]}),
    ]
    for kind, message, wrong in mistakes:
        with pytest.raises(kind, match=message):
            sf.Problem(features, classifier, **{**settings, **wrong})


def test_several_options(linear: sf.Problem, people: dict[str, Any]) -> None:
    first = sf.recourse(linear, people)
    answers = sf.recourse(linear, pd.DataFrame(people), options=2)
    table = answers.to_pandas()
    assert len(answers) > len(first) == 40
    assert list(table.columns[:3]) == ["id", "option", "status"]
    for index, rows in table[table["status"] == "found"].groupby(level=0):
        assert rows["option"].tolist() == list(range(1, len(rows) + 1))
        assert rows["cost"].is_monotonic_increasing
        assert rows["cost"].iloc[0] == first[int(str(index))].cost
    one = table.drop_duplicates("id").drop(columns="option").reset_index(drop=True)
    pd.testing.assert_frame_equal(one, first.to_pandas())
    assert repr(answers._native.actions().acting()) == repr(first._native.actions().acting())
    assert sf.recourse(linear, pa.table(people), options=2).to_arrow().equals(answers.to_arrow())
    with pytest.raises(sf.SettingError, match="options"):
        sf.recourse(linear, people, options=0)
    for setting in [{"options": 2}, {"explain": True}]:
        with pytest.raises(sf.SettingError, match="has no effect with the method `descent`.*choose another"):
            sf.recourse(linear, people, method="descent", **setting)  # type: ignore[arg-type]
    limits: list[dict[str, float]] = [{"max_seconds": 1.0}, {"max_evaluations": 60_000}, {"gap": 0.05}]
    for limit in limits:
        words = f"`{next(iter(limit))}` has no effect with the method `descent`.*auto, exact, trees, complete, local"
        with pytest.raises(sf.SettingError, match=words):
            sf.recourse(linear, people, method="descent", **limit)  # type: ignore[arg-type]
        person = {name: values[0] for name, values in people.items() if name != "id"}
        with pytest.raises(sf.SettingError, match=words):
            sf.trade_off(linear, person, method="descent", **limit)  # type: ignore[arg-type]
