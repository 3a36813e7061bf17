"""Classifiers whose weights may change, as by retraining."""

from typing import Any

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


def test_an_ellipsoid_of_weights_by_hand() -> None:
    covariance = [[0.04, 0.01, 0], [0.01, 0.09, -0.02], [0, -0.02, 0.01]]
    linear = sf.Classifier.linear([2.0, -1.0], 0.25)
    guarded = sf.Uncertainty.weights(covariance=covariance, radius=2)
    problem = sf.Problem(FEATURES, linear, epsilon=0, uncertainty=[guarded])
    score = problem.score({"a": [1.0], "b": [-3.0]})[0]
    assert score == pytest.approx(5.25 - 2 * np.sqrt(0.92), abs=1e-12)


def test_errors_of_trained_weights_are_guarded_against() -> None:
    random = np.random.default_rng(0)
    people = {"a": random.normal(0, 1, 400), "b": random.normal(0, 1, 400)}
    outcomes = people["a"] - 0.5 * people["b"] + random.logistic(0, 1, 400) > 0
    features = sf.features(people, change={"a": "increase"})
    classifier = sf.Classifier.train(
        features, people, outcomes, hidden=(), errors=True, test_fraction=None, threshold=0.5
    )
    # The Fisher information, written out.
    rows = np.column_stack([(people[f.name] - f.mean) / f.std for f in features] + [np.ones(400)])
    weights = np.append(classifier.layers[0][0][0], classifier.layers[0][1])
    share = 1 / (1 + np.exp(-rows @ weights))
    information = rows.T @ (rows * (share * (1 - share))[:, None])
    assert classifier.covariance == pytest.approx(np.linalg.inv(information), rel=1e-5)
    assert classifier.loss == pytest.approx(-np.log(np.where(outcomes, share, 1 - share)).sum(), rel=1e-9)
    sizes: list[dict[str, Any]] = [
        {"probability": 0.95},
        {"radius": 1},
        {"loss": 0.01, "least_loss": classifier.loss},
    ]
    for size in sizes:
        guarded = sf.Uncertainty.weights(covariance=classifier.covariance, **size)
        problem = sf.Problem(features, classifier, epsilon=0.1, uncertainty=[guarded])
        answer = sf.recourse(problem, {"a": -1.0, "b": 0.5})[0]
        assert answer.status == "found" and "even if the model" in str(answer)
    with pytest.raises(sf.SettingError, match="hidden"):
        sf.Classifier.train(features, people, outcomes, errors=True)


def test_errors_of_fitted_equations_are_guarded_against() -> None:
    random = np.random.default_rng(1)
    income = random.normal(0, 1, 200)
    people = {"income": income, "savings": 0.5 * income + random.normal(0, 0.3, 200)}
    features = sf.features(people, change={"income": "increase"})
    model = sf.CausalModel.fit(features, people, {"savings": ["income"]}, errors=0.95, band=0.5)
    fitted = model.fitted[0]
    assert len(fitted.within) == 1 and fitted.band is not None and fitted.band > 0
    assert fitted.uncertainty is not None
    classifier = sf.Classifier.linear([0.5, 1.0], -0.5)
    problem = sf.Problem(features, classifier, model, epsilon=0.01, uncertainty=[fitted.uncertainty])
    assert "savings" in str(sf.recourse(problem, {"income": -1.0, "savings": -0.5})[0])
    assert sf.CausalModel.fit(features, people, {"savings": ["income"]}).fitted[0].uncertainty is None
    with pytest.raises(sf.SettingError, match="band"):
        sf.CausalModel.fit(features, people, {"savings": ["income"]}, shape="network", errors=0.95)
