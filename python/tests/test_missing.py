"""Missing values: an error, unless the feature says what they mean."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import surefoot as sf

INCOME = {"value": 2400, "between": (1500, 4500)}


def problem(**income: object) -> sf.Problem:
    features = [
        sf.Feature("income", "increase", mean=3000, std=1500, limits=(0, 9000), **income),  # type: ignore[arg-type]
        sf.Feature("account", kind="ordinal", categories=["none", "some"], missing={"value": "none"}),
        sf.Feature("savings", "increase", mean=8000, std=4000),
    ]
    return sf.Problem(features, sf.Classifier.linear([1.0, 0.2, 1.0], -0.5), epsilon=0.1)


def test_an_answer_holds_for_every_value() -> None:
    people = {"income": [np.nan, 2400.0], "account": ["none", "some"], "savings": [8000.0, 8000.0]}
    with pytest.raises(sf.PeopleError):
        sf.recourse(problem(), people)
    answers = sf.recourse(problem(missing=INCOME), people)
    unknown, known = answers
    assert set(unknown.action) == {"savings"}
    assert unknown.cost is not None and known.cost is not None and unknown.cost > known.cost
    assert (
        "Income is not known and taken as 2400; this works for every value between 1500 and 4500."
        in unknown.text
    )


def test_every_kind_of_table_may_leave_a_value_out() -> None:
    asked = problem(missing=INCOME)
    frame = pd.DataFrame({"income": [None, 2400.0], "account": [None, "some"], "savings": [8000.0, 8000.0]})
    tables = [
        frame,
        frame.convert_dtypes(),
        pa.Table.from_pandas(frame),
        {"income": [None, 2400.0], "account": [None, "some"], "savings": [8000.0, 8000.0]},
        [
            {"income": None, "account": None, "savings": 8000.0},
            {"income": 2400.0, "account": "some", "savings": 8000.0},
        ],
    ]
    costs = [[answer.cost for answer in sf.recourse(asked, table)] for table in tables]
    assert all(cost == costs[0] for cost in costs)


def test_features_say_what_stands_in(tmp_path: Path) -> None:
    income, account, _ = problem(missing=INCOME).features
    assert income.missing == INCOME
    assert repr(income).endswith("missing={'value': 2400, 'between': (1500, 4500)})")
    assert pickle.loads(pickle.dumps(income)) == income
    assert account.missing == {"value": "none"}
    text = 'epsilon = 0\nclassifier = { coefficients = [1], intercept = 0 }\n[[feature]]\nname = "x"\n'
    path = tmp_path / "problem.toml"
    path.write_text(text + 'change = "any"\nmissing = { value = "mean", between = [-1, 2] }\n')
    assert sf.Problem.read(path).features[0].missing == {"value": 0.0, "between": (-1.0, 2.0)}


@pytest.mark.parametrize(
    "missing",
    [
        {"between": (1500, 4500)},
        {"value": 2400},
        {"value": "median", "between": (1500, 4500)},
        {"value": 2400, "between": (3000, 4500)},
        {"value": 2400, "between": (-1, 4500)},
        {"value": 2400, "within": 3},
    ],
)
def test_what_cannot_stand_in_is_refused(missing: dict[str, object]) -> None:
    with pytest.raises(sf.FeatureError, match="income"):
        problem(missing=missing)
