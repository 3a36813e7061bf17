"""Fitted scikit-learn pipelines, read without running them.

Everything before the classifier that is understood is affine in the features of the engine: numbers
as they are, and one 0 or 1 for each category. So each column on its way through the pipeline is a
row of weights and an offset, and what arrives at the classifier is folded into its first layer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._features import Feature
from ._models import Activation, Array, Classifier
from ._tables import label, quoted
from .errors import ClassifierError


@dataclass(frozen=True)
class Column:
    """A column within a pipeline, over the features of the engine."""

    #: How it follows from them; none while it is still a column of names.
    weights: Array | None
    offset: float = 0.0
    #: The feature that it is, as long as nothing was done to it.
    feature: Feature | None = None
    #: Where that begins among those of the engine, and how many of these there are.
    first: int = 0
    width: int = 0

    def scaled(self, by: float, shift: float = 0.0) -> Column:
        """``by * column + shift``."""
        if self.weights is None:
            name = "" if self.feature is None else f" `{self.feature.name}`"
            raise ClassifierError(f"a column of categories{name} is used as numbers; encode it before")
        return Column(by * self.weights, by * self.offset + shift)


def read(model: Any, features: Sequence[Feature], favourable: object, threshold: float) -> Classifier:
    """The classifier over the features, in people's own units."""
    model = getattr(model, "best_estimator_", model)
    columns = _raw(features)
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        columns = _chosen(columns, [str(name) for name in names])
    elif getattr(model, "n_features_in_", len(columns)) != len(columns):
        raise ClassifierError(
            f"the model takes {model.n_features_in_} columns; there are {len(columns)} features"
        )
    while hasattr(model, "steps"):
        for _, step in model.steps[:-1]:
            columns = _through(step, columns)
        model = getattr(model.steps[-1][1], "best_estimator_", model.steps[-1][1])
    layers, activation = _classifier(model, threshold)
    if _is_first_class(model, favourable):
        layers[-1] = (-layers[-1][0], -layers[-1][1])
    numbers = [column.scaled(1.0) for column in columns]
    matrix = np.stack([column.weights for column in numbers if column.weights is not None])
    offset = np.array([column.offset for column in numbers])
    weight, bias = layers[0]
    if weight.shape[1] != len(matrix):
        raise ClassifierError(
            f"the classifier takes {weight.shape[1]} columns, but {len(matrix)} arrive at it"
        )
    layers[0] = (weight @ matrix, bias + weight @ offset)
    return Classifier.network(layers, activation, threshold=threshold, inputs="raw")


def _raw(features: Sequence[Feature]) -> list[Column]:
    width = sum(feature._width for feature in features)
    columns, first = [], 0
    for feature in features:
        is_named = feature.kind in ("category", "ordinal")
        columns.append(Column(None if is_named else _unit(width, first), 0.0, feature, first, width))
        first += feature._width
    return columns


def _unit(width: int, at: int) -> Array:
    weights = np.zeros(width)
    weights[at] = 1.0
    return weights


def _chosen(columns: list[Column], names: Sequence[str]) -> list[Column]:
    known = {column.feature.name: column for column in columns if column.feature is not None}
    missing = [name for name in names if name not in known]
    if missing:
        raise ClassifierError(
            f"the model takes {quoted(missing)}, of which there is no feature; there are {quoted(list(known))}"
        )
    return [known[name] for name in names]


def _through(step: Any, columns: list[Column]) -> list[Column]:
    """What a fitted transformer makes of columns."""
    if step is None or isinstance(step, str):
        return columns if step in (None, "passthrough") else []
    kind = type(step).__name__
    if hasattr(step, "steps"):
        for _, inner in step.steps:
            columns = _through(inner, columns)
        return columns
    if hasattr(step, "transformers_"):
        return _column_transformer(step, columns)
    if kind == "OneHotEncoder":
        return _one_hot(step, columns)
    if kind == "OrdinalEncoder":
        return [_ordinal(column, known) for column, known in zip(columns, step.categories_)]
    if kind in _AFFINE:
        by, shift = _AFFINE[kind](step, len(columns))
        return [column.scaled(float(b), float(s)) for column, b, s in zip(columns, by, shift)]
    if hasattr(step, "get_support"):
        return [column for column, kept in zip(columns, step.get_support()) if kept]
    is_identity = kind == "SimpleImputer" and not step.add_indicator
    if is_identity or (kind == "FunctionTransformer" and step.func is None):
        return columns
    if kind == "PCA":
        return _pca(step, columns)
    known = [
        *_AFFINE,
        "OneHotEncoder",
        "OrdinalEncoder",
        "SimpleImputer",
        "PCA",
        "ColumnTransformer",
        "Pipeline",
    ]
    raise ClassifierError(
        f"the step {kind} is not understood; understood are {', '.join(known)} and selections"
    )


def _column_transformer(step: Any, columns: list[Column]) -> list[Column]:
    names = [str(name) for name in getattr(step, "feature_names_in_", [])]
    made: list[Column] = []
    for _, transformer, chosen in step.transformers_:
        if isinstance(chosen, (str, int)):
            chosen = [chosen]
        if isinstance(chosen, slice):
            chosen = range(len(columns))[chosen]
        if len(chosen) and isinstance(chosen[0], (bool, np.bool_)):
            chosen = np.flatnonzero(chosen)
        positions = [names.index(name) if isinstance(name, str) else int(name) for name in chosen]
        made += _through(transformer, [columns[position] for position in positions])
    return made


def _one_hot(step: Any, columns: list[Column]) -> list[Column]:
    if any(found is not None for found in getattr(step, "infrequent_categories_", []) or []):
        raise ClassifierError(
            "OneHotEncoder puts rare categories together, which is not understood; let it have all"
        )
    dropped = getattr(step, "drop_idx_", None)
    made: list[Column] = []
    for number, (column, known) in enumerate(zip(columns, step.categories_)):
        labels = _labels(column, known, "OneHotEncoder", step.handle_unknown == "error")
        left_out = None if dropped is None else dropped[number]
        for k, category in enumerate(map(label, known)):
            # A category that nobody has is never 1.
            is_known = category in labels
            weights = (
                _unit(column.width, column.first + labels.index(category))
                if is_known
                else np.zeros(column.width)
            )
            made += [Column(weights)] if k != left_out else []
    return made


def _ordinal(column: Column, known: Sequence[object]) -> Column:
    labels, order = _labels(column, known, "OrdinalEncoder", True), [label(category) for category in known]
    if column.feature is not None and column.feature.kind == "ordinal":
        if labels != order:
            raise ClassifierError(
                f"OrdinalEncoder has the categories of `{column.feature.name}` in another order; declare them as {order}"
            )
        return Column(_unit(column.width, column.first))
    weights = np.zeros(column.width)
    for k, category in enumerate(labels):
        weights[column.first + k] = float(order.index(category))
    return Column(weights)


def _labels(column: Column, known: Sequence[object], encoder: str, is_strict: bool) -> list[str]:
    """The categories of a column that is still one of names."""
    feature = column.feature
    if feature is None or column.weights is not None:
        name = "a column" if feature is None else f"`{feature.name}`"
        raise ClassifierError(
            f'{encoder} encodes {name}, which is of numbers; declare it with kind="category"'
        )
    if encoder == "OneHotEncoder" and feature.kind == "ordinal":
        raise ClassifierError(
            f"OneHotEncoder encodes `{feature.name}`, which is ordinal; declare it as a category"
        )
    labels = feature._labels
    unknown = [name for name in labels if name not in {label(category) for category in known}]
    if unknown and is_strict:
        raise ClassifierError(
            f"{encoder} does not know {quoted(unknown)} of `{feature.name}`; leave these out of it"
        )
    return labels


def _pca(step: Any, columns: list[Column]) -> list[Column]:
    numbers = [column.scaled(1.0) for column in columns]
    matrix = np.stack([column.weights for column in numbers if column.weights is not None])
    offset = np.array([column.offset for column in numbers]) - step.mean_
    scale = np.sqrt(step.explained_variance_) if step.whiten else np.ones(len(step.components_))
    components = step.components_ / scale[:, None]
    return [Column(row @ matrix, float(row @ offset)) for row in components]


def _standard(step: Any, count: int) -> tuple[Array, Array]:
    by = np.ones(count) if step.scale_ is None else 1.0 / np.asarray(step.scale_)
    mean = getattr(step, "mean_", None) if step.with_mean else None
    return by, np.zeros(count) if mean is None else -np.asarray(mean) * by


def _robust(step: Any, count: int) -> tuple[Array, Array]:
    by = np.ones(count) if step.scale_ is None else 1.0 / np.asarray(step.scale_)
    return by, np.zeros(count) if step.center_ is None else -np.asarray(step.center_) * by


def _min_max(step: Any, count: int) -> tuple[Array, Array]:
    if step.clip:
        raise ClassifierError(
            "MinMaxScaler cuts values off (clip=True), which is not understood; scale without"
        )
    return np.asarray(step.scale_), np.asarray(step.min_)


def _max_abs(step: Any, count: int) -> tuple[Array, Array]:
    return 1.0 / np.asarray(step.scale_), np.zeros(count)


_AFFINE = {
    "StandardScaler": _standard,
    "RobustScaler": _robust,
    "MinMaxScaler": _min_max,
    "MaxAbsScaler": _max_abs,
}
_ACTIVATIONS: dict[str, Activation] = {"tanh": "tanh", "relu": "relu", "logistic": "sigmoid"}


def _classifier(model: Any, threshold: float) -> tuple[list[tuple[Array, Array]], Activation]:
    """The layers of a fitted classifier, of which the last gives the logit of its second class."""
    kind = type(model).__name__
    classes = getattr(model, "classes_", None)
    if classes is None:
        raise ClassifierError(f"{kind} is not fitted, or no classifier")
    if len(classes) != 2:
        raise ClassifierError(f"{kind} has {len(classes)} classes; there must be two")
    if hasattr(model, "coefs_"):
        layers = [
            (np.asarray(w, dtype=np.float64).T, np.asarray(b, dtype=np.float64))
            for w, b in zip(model.coefs_, model.intercepts_)
        ]
        if model.activation in _ACTIVATIONS:
            return layers, _ACTIVATIONS[model.activation]
        if model.activation != "identity":
            raise ClassifierError(
                f"{kind} has the activation {model.activation}; understood are {', '.join(_ACTIVATIONS)}"
            )
        weight, bias = layers[0]
        for after, shift in layers[1:]:
            weight, bias = after @ weight, after @ bias + shift
        return [(weight, bias)], "tanh"
    if hasattr(model, "coef_") and hasattr(model, "intercept_"):
        if threshold != 0.5 and not hasattr(model, "predict_proba"):
            raise ClassifierError(f"{kind} gives no probabilities; leave out the threshold")
        return [
            (
                np.atleast_2d(model.coef_).astype(np.float64),
                np.atleast_1d(model.intercept_).astype(np.float64),
            )
        ], "tanh"
    raise ClassifierError(f"{kind} is not understood; understood are linear classifiers and MLPClassifier")


def _is_first_class(model: Any, favourable: object) -> bool:
    if favourable is None:
        return False
    labels = [label(known) for known in model.classes_]
    if label(favourable) not in labels:
        raise ClassifierError(f"{favourable!r} is no class; there are {quoted(labels)}")
    return labels.index(label(favourable)) == 0
