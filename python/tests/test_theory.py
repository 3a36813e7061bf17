"""What the paper guarantees, for problems and for people."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import surefoot as sf


@pytest.fixture
def alone() -> sf.Problem:
    """Favourable from an income of 3000 on."""
    feature = sf.Feature("income", "increase", mean=3000, std=1500)
    return sf.Problem([feature], sf.Classifier.linear([1.0]), epsilon=0.1)


def test_statements_by_hand(alone: sf.Problem) -> None:
    stated = sf.theory(alone, pd.DataFrame({"income": [2400.0, 3600.0]}, index=[7, 8]))
    assert stated.existence == "guaranteed"
    assert not any(stated.unmet.values())
    assert stated.people is not None
    table = stated.people.to_pandas()
    assert list(table.index) == [7, 8]
    assert list(table["status"]) == ["found", "favourable"]
    assert list(table["robust"]) == ["exists", "unneeded"]
    first = table.iloc[0]
    # 0.4 standard deviations are lacking, and 0.1 more for robustness.
    for name, expected in {
        "cost": 0.4,
        "factor_at_most": 1.25,
        "robust_cost_at_most": 0.5,
        "similar_cost_least": 0.3,
        "similar_cost_greatest": 0.5,
        "breaking_size": 1e-6,
        "shift:income": -0.0015,
    }.items():
        assert first[name] == pytest.approx(expected, abs=1e-7), name
    assert first["breaking_margin"] < 0
    assert first["breaks_with"] == "income 0.0015 lower"
    assert "Robust recourse costs at most 1.25 times as much" in first["text"]
    assert str(stated) == stated.text
    assert "People: 2. Treated favourably already: 1." in stated.text


def test_without_people(alone: sf.Problem) -> None:
    stated = sf.theory(alone)
    assert stated.people is None
    assert str(stated).startswith("Existence: everybody whom the classifier turns down has robust recourse")
    assert set(stated.unmet) == {"existence", "extra_cost", "cost_stability", "fragility"}


def test_limits_stand_in_the_way() -> None:
    feature = sf.Feature("income", "increase", mean=3000, std=1500, limits=(0, 3100))
    problem = sf.Problem([feature], sf.Classifier.linear([1.0]), epsilon=0.1)
    stated = sf.theory(problem, {"income": 2400})
    assert stated.existence == "impossible"
    assert stated.people is not None
    assert stated.people.column("robust") == ["none"]
    [reason] = stated.people.column("reason")
    assert "above its limit of 3100" in str(reason)
    assert np.isnan(np.asarray(stated.people.column("similar_cost_greatest"), dtype=float)).all()


def test_conditions_that_are_not_met_are_named(network: sf.Problem, people: dict[str, Any]) -> None:
    stated = sf.theory(network, people)
    assert stated.existence == "unknown"
    needs = "needs a linear classifier, and that of this problem is not linear"
    assert stated.unmet["existence"] == [needs]
    assert stated.unmet["extra_cost"] == [needs]
    assert stated.unmet["fragility"] == []
    assert stated.people is not None
    assert len(stated.people) == 40
    for status, reason in zip(stated.people.column("status"), stated.people.column("reason")):
        assert (reason is not None and needs in str(reason)) == (status in ("found", "undecided"))


def test_the_perturbation_breaks_the_action(linear: sf.Problem, people: dict[str, Any]) -> None:
    stated = sf.theory(linear, people)
    assert stated.people is not None
    table = stated.people.to_pandas()
    robust = sf.recourse(linear, people).to_pandas()
    found = table["status"] == "found"
    assert found.sum() > 5
    assert (table.loc[found, "breaking_margin"] < 0).all()
    assert (robust.loc[found, "cost"] <= table.loc[found, "robust_cost_at_most"] + 1e-6).all()


def test_settings_are_those_of_recourse(alone: sf.Problem) -> None:
    refused: list[dict[str, Any]] = [{"gap": 0.0}, {"max_evaluations": 0}]
    for settings in refused:
        for people in (None, {"income": 2400}):
            with pytest.raises(sf.SettingError):
                sf.theory(alone, people, **settings)
    with pytest.raises(sf.PeopleError):
        sf.theory(alone, {"wealth": [1.0]})
