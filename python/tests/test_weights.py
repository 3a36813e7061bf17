"""Classifiers whose weights may change, as by retraining."""

import numpy as np
import pytest

import surefoot as sf

FEATURES = [sf.Feature("a", "any"), sf.Feature("b", "any")]


def network() -> sf.Classifier:
    layers = [
        (np.array([[1.0, 0.5], [-0.5, 1.0]]), np.array([0.1, -0.2])),
        (np.array([[1.0, 0.7]]), np.array([-1.0])),
    ]
    return sf.Classifier.network(layers, "relu")


def test_scores_are_the_worst_ones() -> None:
    linear = sf.Classifier.linear([2.0, -1.0], 0.25)
    people = {"a": [1.0], "b": [-3.0]}
    within = sf.Problem(FEATURES, linear.with_uncertain_weights(within=0.1), epsilon=0)
    assert within.score(people)[0] == pytest.approx(5.25 - 0.1 * (1 + 3 + 1))
    share = sf.Problem(FEATURES, linear.with_uncertain_weights(share=0.1), epsilon=0)
    assert share.score(people)[0] == pytest.approx(5.25 - 0.1 * (2 + 3 + 0.25))


def test_recourse_holds_for_other_weights() -> None:
    problem = sf.Problem(FEATURES, network().with_uncertain_weights(within=0.02), epsilon=0, cost="l2")
    person = {"a": -1.0, "b": 0.0}
    answer = sf.recourse(problem, person)[0]
    assert answer.status == "found"
    assert "even if each of the model's weights changes by up to 0.02" in str(answer)
    plain = sf.recourse(sf.Problem(FEATURES, network(), epsilon=0, cost="l2"), person)[0]
    assert answer.cost is not None and plain.cost is not None and answer.cost > plain.cost


def test_one_statement_is_needed() -> None:
    with pytest.raises(sf.ClassifierError):
        network().with_uncertain_weights()
    with pytest.raises(sf.ClassifierError):
        network().with_uncertain_weights(within=0.1, share=0.1)
    once = network().with_uncertain_weights(share=0.1)
    with pytest.raises(sf.ClassifierError):
        once.with_uncertain_weights(share=0.1)
    with pytest.raises(sf.ClassifierError):
        sf.Problem(FEATURES, network().with_uncertain_weights(share=1.0), epsilon=0)
