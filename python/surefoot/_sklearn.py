"""Fitted scikit-learn pipelines, read without running them.

Everything before the classifier that is understood is affine in the features of the engine: numbers
as they are, and one 0 or 1 for each category. So each column on its way through the pipeline is a
row of weights and an offset, and what arrives at the classifier is folded into its first layer.

In front of trees rounding decides, so the steps of each column are kept as well, in the order in which
scikit-learn computes them; the engine folds them into the thresholds.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._features import Feature
from ._models import Activation, Array, Classifier
from ._tables import label, quoted
from ._trees import Json, calibration_of, document, is_trees, model_of, require_fitted, require_two
from .errors import ClassifierError

#: A step of a scaler, with its number.
Step = tuple[str, float]


_STEPS: dict[str, Callable[[float, float], float]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
}


def _after(value: float, steps: Sequence[Step]) -> float:
    """A value after some steps."""
    for name, number in steps:
        value = _STEPS[name](value, number)
    return value


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
    #: The name of the feature that alone determines it, if there is one.
    origin: str | None = None
    #: What was done to it, such as ``("subtract", 3.0)``.
    steps: tuple[Step, ...] = ()
    #: Its value for each category of that feature.
    values: dict[str, float] | None = None

    def scaled(self, by: float, shift: float = 0.0, steps: Sequence[Step] = ()) -> Column:
        """``by * column + shift``, computed in some steps."""
        if self.weights is None:
            name = "" if self.feature is None else f" `{self.feature.name}`"
            raise ClassifierError(f"a column of categories{name} is used as numbers; encode it before")
        values = self.values
        if values is not None:
            values = {category: _after(value, steps) for category, value in values.items()}
        return Column(
            by * self.weights,
            by * self.offset + shift,
            origin=self.origin,
            steps=self.steps + tuple(steps),
            values=values,
        )

    def source(self, kind: str) -> Json:
        """What it is, as a column of a file of trees."""
        if self.origin is None:
            raise ClassifierError(
                f"a column of several features arrives at {kind}, which is not understood; leave out PCA"
            )
        if self.weights is None:
            raise ClassifierError(
                f"the column of categories `{self.origin}` arrives at {kind}; encode it before"
            )
        if self.values is not None:
            return {"column": self.origin, "values": self.values}
        return {"column": self.origin, "steps": [{name: value} for name, value in self.steps]}


def read(model: Any, features: Sequence[Feature], favourable: object, threshold: float) -> Classifier:
    """The classifier over the features, in people's own units."""
    model = getattr(model, "best_estimator_", model)
    require_fitted(model)
    columns = _raw(features)
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        columns = _chosen(columns, [str(name) for name in names])
    elif getattr(model, "n_features_in_", len(columns)) != len(columns):
        raise ClassifierError(
            f"the model takes {model.n_features_in_} columns; there are {len(columns)} features"
        )
    calibrator = None
    while hasattr(model, "steps") or hasattr(model, "calibrated_classifiers_"):
        if hasattr(model, "calibrated_classifiers_"):
            model, calibrator = _calibrated(model)
            continue
        for _, step in model.steps[:-1]:
            columns = _through(step, columns)
        model = getattr(model.steps[-1][1], "best_estimator_", model.steps[-1][1])
    if is_trees(model):
        return _trees(model, columns, calibrator, favourable, threshold)
    if calibrator is not None:
        raise ClassifierError(
            f"a calibration of {type(model).__name__} is not understood; it is in front of trees"
        )
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


def _calibrated(model: Any) -> tuple[Any, Any]:
    """The classifier and the calibrator of a ``CalibratedClassifierCV`` that has one of each."""
    fitted = model.calibrated_classifiers_
    if len(fitted) != 1 or len(fitted[0].calibrators) != 1:
        raise ClassifierError(
            f"CalibratedClassifierCV averages {len(fitted)} classifiers, which is not understood; "
            "fit it with ensemble=False"
        )
    inner = fitted[0].estimator
    inner = inner.estimator if type(inner).__name__ == "FrozenEstimator" else inner
    return getattr(inner, "best_estimator_", inner), fitted[0].calibrators[0]


def _trees(
    model: Any, columns: list[Column], calibrator: Any, favourable: object, threshold: float
) -> Classifier:
    """A classifier of trees behind some columns."""
    kind = type(model).__name__
    _require_two_classes(model)
    opposite = _is_first_class(model, favourable)
    calibration = None if calibrator is None else calibration_of(calibrator, model)
    if getattr(model, "_preprocessor", None) is not None:
        # That of HistGradientBoostingClassifier, which encodes categories.
        columns = _through(model._preprocessor, columns)
    if getattr(model, "n_features_in_", len(columns)) != len(columns):
        raise ClassifierError(f"{kind} takes {model.n_features_in_} columns, but {len(columns)} arrive at it")
    sources: list[Json] | None = None
    # Without steps the engine finds columns and categories by the names in the model itself.
    if not (kind in _WITH_NAMES and all(column.feature is not None for column in columns)):
        sources = [column.source(kind) for column in columns]
    content = document(model_of(model), sources, opposite, calibration)
    return Classifier.from_trees(content, threshold=threshold)


#: Classifiers whose files have the names of columns and categories.
_WITH_NAMES = ("XGBClassifier", "XGBRFClassifier", "LGBMClassifier")


def _raw(features: Sequence[Feature]) -> list[Column]:
    width = sum(feature._width for feature in features)
    columns, first = [], 0
    for feature in features:
        is_named = feature.kind in ("category", "ordinal")
        weights = None if is_named else _unit(width, first)
        columns.append(Column(weights, 0.0, feature, first, width, feature.name))
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
        by, shift, steps = _AFFINE[kind](step, len(columns))
        return [
            column.scaled(float(b), float(s), [(name, float(numbers[k])) for name, numbers in steps])
            for k, (column, b, s) in enumerate(zip(columns, by, shift))
        ]
    if hasattr(step, "get_support"):
        return [column for column, kept in zip(columns, step.get_support()) if kept]
    is_identity = kind == "SimpleImputer" and not step.add_indicator
    if is_identity or (kind == "FunctionTransformer" and _keeps(step.func)):
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


def _keeps(function: Any) -> bool:
    """Whether a function only checks its table, as that of HistGradientBoostingClassifier does."""
    checked = getattr(function, "func", None)
    return function is None or getattr(checked, "__name__", "") == "check_array"


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
            values = {known: float(known == category) for known in labels}
            made += [Column(weights, origin=column.origin, values=values)] if k != left_out else []
    return made


def _ordinal(column: Column, known: Sequence[object]) -> Column:
    # The codes of numbers 0, 1, 2 and so on are these numbers; the last may be NaN, for missing values.
    numbers = [value for value in known if value == value]
    if column.weights is not None and numbers == list(range(len(numbers))):
        return column
    labels, order = _labels(column, known, "OrdinalEncoder", True), [label(category) for category in known]
    if column.feature is not None and column.feature.kind == "ordinal":
        if labels != order:
            raise ClassifierError(
                f"OrdinalEncoder has the categories of `{column.feature.name}` in another order; declare them as {order}"
            )
        return Column(_unit(column.width, column.first), origin=column.origin)
    weights = np.zeros(column.width)
    for k, category in enumerate(labels):
        weights[column.first + k] = float(order.index(category))
    values = {category: float(order.index(category)) for category in labels}
    return Column(weights, origin=column.origin, values=values)


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
            f"OneHotEncoder encodes `{feature.name}`, which is ordinal; declare it as a category, with ordered=True"
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


#: Factors, constants, and the steps in which they are computed.
Scaling = tuple[Array, Array, list[tuple[str, Array]]]


def _centred(center: Any, scale: Any, count: int) -> Scaling:
    """``(column - center) / scale``; either may be missing."""
    steps: list[tuple[str, Array]] = []
    by, shift = np.ones(count), np.zeros(count)
    if center is not None:
        steps.append(("subtract", np.asarray(center)))
    if scale is not None:
        by = 1.0 / np.asarray(scale)
        steps.append(("divide", np.asarray(scale)))
    if center is not None:
        shift = -np.asarray(center) * by
    return by, shift, steps


def _standard(step: Any, count: int) -> Scaling:
    return _centred(getattr(step, "mean_", None) if step.with_mean else None, step.scale_, count)


def _robust(step: Any, count: int) -> Scaling:
    return _centred(step.center_, step.scale_, count)


def _min_max(step: Any, count: int) -> Scaling:
    if step.clip:
        raise ClassifierError(
            "MinMaxScaler cuts values off (clip=True), which is not understood; scale without"
        )
    by, shift = np.asarray(step.scale_), np.asarray(step.min_)
    return by, shift, [("multiply", by), ("add", shift)]


def _max_abs(step: Any, count: int) -> Scaling:
    return _centred(None, step.scale_, count)


_AFFINE = {
    "StandardScaler": _standard,
    "RobustScaler": _robust,
    "MinMaxScaler": _min_max,
    "MaxAbsScaler": _max_abs,
}
_ACTIVATIONS: dict[str, Activation] = {"tanh": "tanh", "relu": "relu", "logistic": "sigmoid"}


def _require_two_classes(model: Any) -> None:
    kind = type(model).__name__
    classes = getattr(model, "classes_", None)
    if classes is None:
        raise ClassifierError(f"{kind} is not fitted, or no classifier")
    require_two(kind, len(classes))


def _classifier(model: Any, threshold: float) -> tuple[list[tuple[Array, Array]], Activation]:
    """The layers of a fitted classifier, of which the last gives the logit of its second class."""
    kind = type(model).__name__
    _require_two_classes(model)
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
    raise ClassifierError(
        f"{kind} is not understood; understood are linear classifiers, MLPClassifier and trees"
    )


def _is_first_class(model: Any, favourable: object) -> bool:
    if favourable is None:
        return False
    labels = [label(known) for known in model.classes_]
    if label(favourable) not in labels:
        raise ClassifierError(f"{favourable!r} is no class; there are {quoted(labels)}")
    return labels.index(label(favourable)) == 0
