"""Uncertainty objects: the sections of problem files, in Python."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

import surefoot as sf

FEATURES = [
    sf.Feature("income", "increase", mean=3000, std=1500),
    sf.Feature("savings", "increase", mean=8000, std=4000),
    sf.Feature("age", mean=40, std=10),
]
PERSON = {"income": 2400, "savings": 6000, "age": 35}


def problem(*uncertainty: sf.Uncertainty, epsilon: float = 0.1) -> sf.Problem:
    classifier = sf.Classifier.linear([0.8, 0.6, -0.3], -0.5)
    return sf.Problem(FEATURES, classifier, epsilon=epsilon, uncertainty=uncertainty)


def cost(*uncertainty: sf.Uncertainty) -> float:
    answer = sf.recourse(problem(*uncertainty), PERSON)[0]
    assert answer.status == "found" and answer.cost is not None
    return float(answer.cost)


def least(worst: float) -> float:
    """The score of the person is 0.8 * -0.4 + 0.6 * -0.5 + 0.3 * 0.5 - 0.5."""
    return (0.97 + worst) / 0.8


@pytest.mark.parametrize(
    "stated, worst",
    [
        ([], 0.1 * (0.64 + 0.36 + 0.09) ** 0.5),
        ([sf.Uncertainty.exact("age")], 0.1),
        ([sf.Uncertainty.exact("age"), sf.Uncertainty.interval("income", share=0.05)], 0.8 * 0.08 + 0.06),
        ([sf.Uncertainty.interval(["income", "savings"], within=300)], 0.8 * 0.2 + 0.6 * 0.075 + 0.03),
        ([sf.Uncertainty.interval("age", between=(35, 50))], 0.3 * 1.5 + 0.1),
        ([sf.Uncertainty.ball(["income", "age"], 0.3, "linf")], 0.3 * 1.1 + 0.06),
        (
            [sf.Uncertainty.covariance(["income", "savings"], [[1, 0.5], [0.5, 1]])],
            0.1 * (0.64 + 0.48 + 0.36 + 0.09) ** 0.5,
        ),
    ],
)
def test_costs_have_their_closed_form(stated: list[sf.Uncertainty], worst: float) -> None:
    expected = least(worst)
    assert expected * (1 - 1e-9) <= cost(*stated) <= expected * 1.0101


def test_actions_allow_for_their_execution() -> None:
    assert cost(sf.Uncertainty.execution(share=0.1)) > 1.1 * cost()


def test_weights_may_change() -> None:
    assert cost(sf.Uncertainty.weights(share=0.01)) > 1.001 * cost()


def test_they_are_the_sections_of_problem_files(tmp_path: Path) -> None:
    path = tmp_path / "problem.json"
    path.write_text(
        '{"epsilon": 0.1, "norm": "l2", "feature": ['
        '{"name": "income", "mean": 3000, "std": 1500, "change": "increase"},'
        '{"name": "savings", "mean": 8000, "std": 4000, "change": "increase"},'
        '{"name": "age", "mean": 40, "std": 10}],'
        '"classifier": {"coefficients": [0.8, 0.6, -0.3], "intercept": -0.5},'
        '"uncertainty": [{"of": "person", "features": "age", "exact": true}]}'
    )
    read = sf.recourse(sf.Problem.read(path), PERSON)[0]
    built = sf.recourse(problem(sf.Uncertainty.exact("age")), PERSON)[0]
    assert read.cost == built.cost and read.text == built.text
    assert "Taken as exact: age." in built.text


def test_problems_are_copied_with_their_uncertainty() -> None:
    first = problem(sf.Uncertainty.interval("income", share=0.05))
    again = pickle.loads(pickle.dumps(first))
    answers = [sf.recourse(one, PERSON)[0].text for one in (first, again)]
    assert answers[0] == answers[1] and "income by up to 5%" in answers[0]
    stated = sf.Uncertainty.exact("age")
    assert repr(stated) == "Uncertainty(of='person', features=['age'], exact=True)"
    assert stated == sf.Uncertainty.exact(["age"])


@pytest.mark.parametrize(
    "stated, told",
    [
        ([sf.Uncertainty.interval("income")], "share"),
        ([sf.Uncertainty.interval("wealth", share=0.1)], "wealth"),
        ([sf.Uncertainty.interval("income", share=-0.1)], "-0.1"),
        ([sf.Uncertainty.exact("income"), sf.Uncertainty.ball("income", 0.1)], "twice"),
        ([sf.Uncertainty.covariance(["income", "age"], [[1, 2], [2, 1]])], "eigenvalue"),
        ([sf.Uncertainty.execution(["age"], share=0.1)], "age"),
    ],
)
def test_mistakes_are_told(stated: list[sf.Uncertainty], told: str) -> None:
    with pytest.raises(sf.Error, match=told):
        problem(*stated)


def test_numbers_must_be_finite() -> None:
    with pytest.raises(sf.SettingError):
        sf.Uncertainty.interval("income", share=float("nan"))
