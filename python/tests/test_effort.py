"""Steps, largest changes, and what is changed together."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import surefoot as sf

PERSON = {"income": 2410.0, "debt": 900.0, "months": 24.0, "job": "cook"}


def features(**income: Any) -> list[sf.Feature]:
    return [
        sf.Feature("income", "increase", mean=2900, std=900, **income),
        sf.Feature("debt", "decrease", mean=1000, std=300, limits=(0, None), step=50, most_change=400),
        sf.Feature("months", "increase", mean=30, std=12, kind="integer", step=6),
        sf.Feature("job", "any", categories=["cook", "nurse"]),
    ]


def problem(**settings: Any) -> sf.Problem:
    classifier = sf.Classifier.linear([1.0, -0.8, 0.6, 0.0, 0.7], -1.2)
    return sf.Problem(features(step=100, most_change_share=0.5), classifier, epsilon=0.1, **settings)


def test_changes_are_multiples_of_steps() -> None:
    answer = sf.recourse(problem(), PERSON)[0]
    assert answer.status == "found"
    for name, step, most in [("income", 100, 1205), ("debt", 50, 400), ("months", 6, 60)]:
        change = float(answer.action.get(name, 0.0))
        assert change % step == 0
        assert abs(change) <= most


def test_few_things_change() -> None:
    free = sf.recourse(problem(), PERSON)[0]
    limits: list[dict[str, Any]] = [
        {"most_changes": 1},
        {"one_of": [["income", "debt", "months"]]},
        {"most_changes": 2, "one_of": [["income", "job"]]},
    ]
    for settings in limits:
        limited = problem(**settings)
        for same in (limited, pickle.loads(pickle.dumps(limited))):
            answer = sf.recourse(same, PERSON)[0]
            if answer.status != "found":
                assert answer.status == "impossible"
                continue
            changed = set(answer.action)
            assert len(changed) <= settings.get("most_changes", 4)
            assert all(len(changed & set(names)) <= 1 for names in settings.get("one_of", []))
            assert answer.cost is not None
            assert free.cost is not None
            assert answer.cost >= free.cost * (1 - 1e-9)


def test_features_state_steps() -> None:
    feature = features(step=100)[0]
    assert repr(feature).endswith("step=100)")
    table = {"income": [1000.0, 2000.5, 3000.0], "age": [30.5, 40.5, 50.0]}
    made = sf.features(table, change={"income": "increase"}, step={"income": 50}, most_change={"income": 500})
    assert (made[0].step, made[0].most_change, made[1].step) == (50, 500, None)


def test_mistakes() -> None:
    classifier = sf.Classifier.linear([1.0], 0.0)
    mistakes: list[tuple[str, dict[str, Any]]] = [
        ("the step is -1", {"step": -1}),
        ("must be a whole number", {"step": 2.5, "kind": "integer"}),
        ("have no step", {"step": 1, "kind": "binary"}),
        ("the largest change is 0", {"most_change": 0}),
    ]
    for message, settings in mistakes:
        with pytest.raises(sf.FeatureError, match=message):
            sf.Problem([sf.Feature("income", "increase", **settings)], classifier, epsilon=0)
    with pytest.raises(sf.SettingError, match="at most 0 changes"):
        problem(most_changes=0)
    with pytest.raises(sf.SettingError, match="at least two different"):
        problem(one_of=[["income"]])
    with pytest.raises(sf.FeatureError, match="`wealth` is no feature"):
        problem(one_of=[["income", "wealth"]])
