"""Causal models of other packages, as equations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._features import Feature
from ._graph import _without_unobserved
from ._models import Activation, Equation
from .errors import CausalModelError

#: The activations of ``MLPRegressor`` that equations have.
ACTIVATIONS: dict[str, Activation] = {"tanh": "tanh", "relu": "relu", "logistic": "sigmoid"}


def of_dowhy(features: Sequence[Feature], model: Any) -> dict[str, Equation]:
    """The equations of a graphical causal model of ``dowhy.gcm`` that is fitted."""
    graph = getattr(model, "graph", None)
    if graph is None or not hasattr(model, "causal_mechanism"):
        raise CausalModelError(
            f"{type(model).__name__} is no model of dowhy.gcm, such as InvertibleStructuralCausalModel; of other models "
            "give the graph to CausalModel.fit"
        )
    graph = _without_unobserved(graph)
    equations = {}
    for node in graph.nodes:
        # As dowhy.gcm orders the inputs of its models.
        parents = sorted(graph.predecessors(node))
        if parents:
            known = _known(features, [node, *parents])
            equations[str(node)] = _of_mechanism(str(node), known[1:], model.causal_mechanism(node))
    return equations


def _known(features: Sequence[Feature], names: Sequence[Any]) -> list[str]:
    numeric = {feature.name: feature.kind != "category" for feature in features}
    for name in map(str, names):
        if name not in numeric:
            raise CausalModelError(
                f"`{name}` is in the causal model and no feature; add it, or take it out of the model"
            )
        if not numeric[name]:
            raise CausalModelError(
                f"`{name}` has categories, for which mechanisms have columns of their own; fit the equations to the graph "
                "with CausalModel.fit"
            )
    return [str(name) for name in names]


def _of_mechanism(node: str, parents: list[str], mechanism: Any) -> Equation:
    def refused(what: str) -> CausalModelError:
        return CausalModelError(
            f"the mechanism of `{node}` is {what}, which cannot be represented; AdditiveNoiseModel over a linear "
            "regression or an MLPRegressor can, and CausalModel.fit fits others to the graph"
        )

    if type(mechanism).__name__ != "AdditiveNoiseModel":
        raise refused(type(mechanism).__name__)
    model = mechanism.prediction_model
    estimator = getattr(model, "sklearn_model", None)
    if estimator is None:
        raise refused(f"an AdditiveNoiseModel over {type(model).__name__}")
    if getattr(model, "_encoders", None):
        raise refused("a model over categories")
    name = type(estimator).__name__
    if name == "MLPRegressor":
        activation = ACTIVATIONS.get(estimator.activation)
        if activation is None or estimator.out_activation_ != "identity":
            raise refused(f"an MLPRegressor with the activation {estimator.activation}")
        layers = tuple(
            (np.ascontiguousarray(weight.T, dtype=np.float64), np.asarray(bias, dtype=np.float64))
            for weight, bias in zip(estimator.coefs_, estimator.intercepts_)
        )
        return Equation(parents=tuple(parents), layers=layers, activation=activation, inputs="raw")
    coefficients = getattr(estimator, "coef_", None)
    if coefficients is None or not hasattr(estimator, "intercept_"):
        raise refused(f"an AdditiveNoiseModel over {name}")
    flat, intercept = np.ravel(coefficients), float(np.ravel(estimator.intercept_)[0])
    # Models with a link have coefficients, too, and are not linear.
    rows = np.random.default_rng(0).normal(size=(8, len(parents)))
    if len(flat) != len(parents) or not np.allclose(
        np.ravel(estimator.predict(rows)), rows @ flat + intercept
    ):
        raise refused(f"an AdditiveNoiseModel over {name}")
    return Equation.linear(parents, flat, intercept, inputs="raw")


def of_pgmpy(features: Sequence[Feature], network: Any) -> dict[str, Equation]:
    """The equations of a linear Gaussian Bayesian network of pgmpy."""
    tables = getattr(network, "cpds", None)
    if tables is None:
        raise CausalModelError(f"{type(network).__name__} is no LinearGaussianBayesianNetwork of pgmpy")
    equations = {}
    for table in tables:
        if type(table).__name__ != "LinearGaussianCPD":
            raise CausalModelError(
                f"the distribution of `{table.variable}` is {type(table).__name__}, which has no noise to recover; "
                "LinearGaussianCPD can be represented"
            )
        if len(table.evidence):
            beta = np.ravel(np.asarray(table.beta, dtype=np.float64))
            name, *parents = _known(features, [table.variable, *table.evidence])
            equations[name] = Equation.linear(parents, beta[1:], float(beta[0]), inputs="raw")
    return equations
