"""Committees and alternative causal models."""

from __future__ import annotations

import pickle

import pytest

import surefoot as sf

FEATURES = [
    sf.Feature("income", "increase", mean=3000, std=1500),
    sf.Feature("savings", "any", mean=8000, std=4000),
]
PERSON = {"income": 3000, "savings": 8000}


def linear(threshold: float) -> sf.Classifier:
    return sf.Classifier.linear([1.0, 0.0], -threshold)


def cost(problem: sf.Problem) -> float:
    answer = sf.recourse(problem, PERSON)[0]
    assert answer.cost is not None
    return answer.cost


@pytest.mark.parametrize(("agree", "expected"), [(None, 3.0), (3, 3.0), (2, 2.0), (1, 1.0)])
def test_the_cost_is_that_of_the_members_that_must_agree(agree: int | None, expected: float) -> None:
    members = {"a": linear(1.0), "b": linear(2.0), "c": linear(3.0)}
    problem = sf.Problem(FEATURES, sf.Committee(members, agree=agree), epsilon=0.0)
    assert cost(problem) == pytest.approx(expected, rel=0.01)
    assert problem.score(PERSON)[0] == pytest.approx(-expected)
    copy = pickle.loads(pickle.dumps(problem))
    assert cost(copy) == cost(problem)


def test_members_are_numbered_and_refused_if_they_make_no_sense() -> None:
    committee = sf.Committee([linear(1.0), linear(2.0)])
    assert list(committee.members) == ["1", "2"]
    assert repr(committee) == "Committee(1, 2; 2 of 2 must agree)"
    with pytest.raises(sf.ClassifierError, match="needs at least one member"):
        sf.Committee([])
    with pytest.raises(sf.ClassifierError, match="`agree` is 3"):
        sf.Problem(FEATURES, sf.Committee([linear(1.0), linear(2.0)], agree=3), epsilon=0.0)


def test_an_alternative_causal_model_must_hold_as_well() -> None:
    classifier = sf.Classifier.linear([1.0, 1.0], -1.0)
    features = [FEATURES[0], sf.Feature("savings", mean=8000, std=4000)]
    first = sf.CausalModel(features, {"savings": sf.Equation.linear(["income"], [1.0])})
    other = sf.CausalModel(features, {"savings": sf.Equation.linear(["income"], [0.25])})
    alone = sf.Problem(features, classifier, first, epsilon=0.0)
    both = sf.Problem(features, classifier, first, epsilon=0.0, alternatives={"flat": other})
    assert cost(alone) == pytest.approx(0.5, rel=0.01)
    assert cost(both) == pytest.approx(0.8, rel=0.01)
