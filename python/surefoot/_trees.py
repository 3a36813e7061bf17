"""Fitted tree ensembles, as the files that the engine reads.

Models of XGBoost, LightGBM and CatBoost are taken as these programs write them. Those of scikit-learn are
written in Surefoot's own format, with the numbers that scikit-learn computes with.
"""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ._tables import label, quoted
from .errors import ClassifierError

#: A model, the columns that arrive at it, or a calibration behind it, as JSON.
Json = dict[str, Any]


def document(
    model: Any, columns: Sequence[Json] | None = None, opposite: bool = False, calibration: Json | None = None
) -> bytes:
    """A file in Surefoot's own format."""
    parts = {"format": "surefoot trees", "version": 1, "model": model, "opposite": opposite}
    if columns is not None:
        parts["columns"] = list(columns)
    if calibration is not None:
        parts["calibration"] = calibration
    return json.dumps(parts).encode()


def require_fitted(model: Any) -> None:
    """Refuses a model that was not fitted, as far as it tells so."""
    tells = getattr(model, "is_fitted", getattr(model, "__sklearn_is_fitted__", None))
    if callable(tells) and not tells():
        raise ClassifierError(f"{type(model).__name__} is not fitted; fit it before")


def require_two(kind: str, classes: int) -> None:
    """Refuses a model that does not tell two classes apart."""
    if classes == 1:
        raise ClassifierError(f"{kind} has seen one class alone; fit it on people of both")
    if classes != 2:
        raise ClassifierError(f"{kind} has {classes} classes; there must be two")


def of_xgboost(model: Any, favourable: object = None) -> bytes:
    """A model of XGBoost."""
    require_fitted(model)
    is_opposite, content = _is_opposite(model, favourable), xgboost_file(model)
    return document(json.loads(content), opposite=True) if is_opposite else content


def of_lightgbm(model: Any, favourable: object = None) -> bytes:
    """A model of LightGBM."""
    require_fitted(model)
    is_opposite, text = _is_opposite(model, favourable), lightgbm_file(model)
    return document(text, opposite=True) if is_opposite else text.encode()


def of_catboost(model: Any, favourable: object = None) -> bytes:
    """A model of CatBoost."""
    require_fitted(model)
    is_opposite, content = _is_opposite(model, favourable), catboost_file(model)
    return document(json.loads(content), opposite=True) if is_opposite else content


def xgboost_file(model: Any) -> bytes:
    """The JSON of a model of XGBoost: the trees that its ``predict`` uses."""
    missing = getattr(model, "missing", math.nan)
    if missing is not None and not math.isnan(missing):
        raise ClassifierError(f"XGBoost takes {missing} for a missing value; use NaN")
    booster = model.get_booster() if hasattr(model, "get_booster") else model
    best = getattr(model, "best_iteration", None) if _stops_early(model) else None
    if best is not None:
        booster = booster[: best + 1]
    if hasattr(model, "get_booster"):
        # As in a file that scikit-learn's interface writes: its classifier decides, and not the booster.
        booster = booster.copy()
        booster.set_attr(scikit_learn="{}")
    return bytes(booster.save_raw("json"))


def _stops_early(model: Any) -> bool:
    return hasattr(model, "get_booster") and getattr(model, "early_stopping_rounds", None) is not None


def lightgbm_file(model: Any) -> str:
    """The text of a model of LightGBM."""
    return str(getattr(model, "booster_", model).model_to_string())


def catboost_file(model: Any) -> bytes:
    """The JSON of a model of CatBoost."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.json")
        model.save_model(str(path), format="json")
        return path.read_bytes()


def _is_opposite(model: Any, favourable: object) -> bool:
    classes = getattr(model, "classes_", None)
    if classes is not None:
        require_two(type(model).__name__, len(classes))
    if favourable is None:
        return False
    labels = [label(known) for known in ([0, 1] if classes is None else classes)]
    if label(favourable) not in labels:
        raise ClassifierError(f"{favourable!r} is no class; there are {quoted(labels)}")
    return labels.index(label(favourable)) == 0


def is_trees(model: Any) -> bool:
    """Whether a fitted classifier is an ensemble of trees that may be understood."""
    return type(model).__name__ in _MODELS


def model_of(model: Any) -> Any:
    """A fitted classifier as the engine reads it."""
    return _MODELS[type(model).__name__](model)


def calibration_of(calibrator: Any, model: Any) -> Json:
    """A fitted calibrator of scikit-learn behind a classifier."""
    of = "sum" if hasattr(model, "decision_function") else "probability"
    kind = type(calibrator).__name__
    if kind == "_SigmoidCalibration":
        return {"kind": "sigmoid", "slope": float(calibrator.a_), "offset": float(calibrator.b_), "of": of}
    if kind == "IsotonicRegression" and calibrator.increasing_:
        scores, probabilities = calibrator.X_thresholds_, calibrator.y_thresholds_
        return {
            "kind": "isotonic",
            "scores": _floats(scores),
            "probabilities": _floats(probabilities),
            "of": of,
        }
    raise ClassifierError(f"the calibration {kind} is not understood; understood are sigmoid and isotonic")


def _floats(numbers: Any) -> list[float]:
    return [float(number) for number in np.ravel(numbers)]


def _ends(numbers: Any) -> list[Any]:
    """Numbers of which some may be infinite, for which JSON has no number."""
    return [number if math.isfinite(number) else str(number) for number in _floats(numbers)]


def _model(
    inputs: int,
    trees: list[Json],
    *,
    link: Json,
    compares: str,
    strict: bool,
    single_inputs: bool = True,
    start: float = 0.0,
    divisor: float = 1.0,
    factor: float = 1.0,
    compares_sums: bool = False,
) -> Json:
    total = {"single": False, "start": start, "divisor": divisor, "factor": factor, "shift": 0.0}
    return {
        "inputs": int(inputs),
        "single_inputs": single_inputs,
        "sum": total,
        "link": link,
        "rule": {"compares": compares, "strict": strict},
        "compares_sums": compares_sums,
        "trees": trees,
    }


_LOGISTIC = {"kind": "logistic", "slope": 1.0, "single": False}


def _tree(tree: Any, value: Any, against: Any = None, columns: Any = None) -> Json:
    """The nodes of a tree of scikit-learn, with the value of each as a leaf; its columns are some of all."""
    missing = getattr(tree, "missing_go_to_left", np.zeros(tree.node_count))
    tested = tree.feature
    if columns is not None:
        # Leaves have a negative number for a feature.
        tested = np.where(tested < 0, tested, columns[np.maximum(tested, 0)])
    nodes = {
        "feature": [int(feature) for feature in tested],
        "threshold": _ends(tree.threshold),
        "left": [int(child) for child in tree.children_left],
        "right": [int(child) for child in tree.children_right],
        "missing_left": [bool(left) for left in missing],
        "value": _floats(value),
    }
    return nodes if against is None else {**nodes, "against": _floats(against)}


def _shares(tree: Any) -> Any:
    """The share of both classes in each node."""
    shares = tree.value[:, 0, :]
    total = shares.sum(axis=1, keepdims=True)
    # Before version 1.3, scikit-learn kept counts.
    return shares if np.allclose(total, 1.0) else shares / np.where(total == 0.0, 1.0, total)


def _forest(model: Any) -> Json:
    """The average of the shares; the class with the larger one is predicted, on a tie the first."""
    trees = []
    for estimator in getattr(model, "estimators_", [model]):
        if estimator.tree_.value.shape[1] != 1:
            raise ClassifierError(f"{type(model).__name__} has several outputs; there must be one")
        shares = _shares(estimator.tree_)
        trees.append(_tree(estimator.tree_, shares[:, 1], shares[:, 0]))
    return _average(model, trees)


def _bagging(model: Any) -> Json:
    """The same for trees that were fitted on some of the columns each, and may have seen one class alone."""
    trees = []
    for estimator, columns in zip(model.estimators_, model.estimators_features_):
        if type(estimator).__name__ not in _SINGLE_TREES:
            raise ClassifierError(
                f"BaggingClassifier over {type(estimator).__name__} is not understood; use trees"
            )
        shares = np.zeros((estimator.tree_.node_count, 2))
        shares[:, np.asarray(estimator.classes_, dtype=int)] = _shares(estimator.tree_)
        trees.append(_tree(estimator.tree_, shares[:, 1], shares[:, 0], np.asarray(columns)))
    return _average(model, trees)


def _average(model: Any, trees: list[Json]) -> Json:
    return _model(
        model.n_features_in_,
        trees,
        link={"kind": "identity"},
        compares="probability",
        strict=True,
        divisor=float(len(trees)),
        compares_sums=True,
    )


def _gradient_boosting(model: Any) -> Json:
    start = 0.0
    if not (isinstance(model.init_, str) and model.init_ == "zero"):
        if type(model.init_).__name__ != "DummyClassifier" or model.init_.strategy != "prior":
            raise ClassifierError(
                f"GradientBoostingClassifier starts from {type(model.init_).__name__}, which is not understood; "
                "let it start from the prior or from zero"
            )
        # A constant; it is computed by scikit-learn itself, which clips it.
        start = float(np.ravel(model._raw_predict_init(np.zeros((1, model.n_features_in_))))[0])
    rate = float(model.learning_rate)
    trees = [_tree(stage.tree_, rate * stage.tree_.value[:, 0, 0]) for stage in model.estimators_[:, 0]]
    slope = 2.0 if model.loss == "exponential" else 1.0
    link = {**_LOGISTIC, "slope": slope}
    return _model(model.n_features_in_, trees, link=link, compares="sum", strict=False, start=start)


def _histogram_boosting(model: Any) -> Json:
    trees = [_histogram_tree(stage[0], model) for stage in model._predictors]
    start = float(np.ravel(model._baseline_prediction)[0])
    return _model(
        model._bin_mapper.n_bins_non_missing_.shape[0],
        trees,
        link=_LOGISTIC,
        compares="sum",
        strict=True,
        single_inputs=False,
        start=start,
    )


def _histogram_tree(predictor: Any, model: Any) -> Json:
    nodes = predictor.nodes
    left = np.where(nodes["is_leaf"], -1, nodes["left"].astype(np.int64))
    right = np.where(nodes["is_leaf"], -1, nodes["right"].astype(np.int64))
    missing = nodes["missing_go_to_left"].astype(bool)
    within: dict[str, list[list[float]]] = {}
    for at in np.flatnonzero(nodes["is_categorical"].astype(bool) & ~nodes["is_leaf"].astype(bool)):
        bits = predictor.raw_left_cat_bitsets[nodes["bitset_idx"][at]]
        chosen = {code for code in range(256) if bits[code // 32] >> (code % 32) & 1}
        if missing[at]:
            # Unknown categories are missing and go left: only the other known ones go right.
            known = model._bin_mapper.bin_thresholds_[nodes["feature_idx"][at]]
            chosen = {int(code) for code in known} - chosen
            left[at], right[at] = right[at], left[at]
            missing[at] = False
        # Codes are cut off to whole numbers, unless an encoder has replaced all others by NaN.
        is_encoded = getattr(model, "_preprocessor", None) is not None
        within[str(at)] = [
            [_below(code), float(code) if is_encoded else _below(code + 1)] for code in sorted(chosen)
        ]
    return {
        "feature": [int(feature) for feature in nodes["feature_idx"]],
        "threshold": _ends(np.where(nodes["is_leaf"] == 1, 0.0, nodes["num_threshold"])),
        "left": [int(child) for child in left],
        "right": [int(child) for child in right],
        "missing_left": [bool(side) for side in missing],
        "value": _floats(nodes["value"]),
        "within": within,
    }


def _below(number: int) -> float:
    """The largest number below another one."""
    return float(np.nextafter(float(number), -math.inf))


def _ada_boost(model: Any) -> Json:
    """Each tree adds its weight, or subtracts it."""
    trees = []
    for estimator, weight in zip(model.estimators_, model.estimator_weights_):
        if type(estimator).__name__ not in _SINGLE_TREES:
            raise ClassifierError(
                f"AdaBoostClassifier over {type(estimator).__name__} is not understood; use trees"
            )
        if len(estimator.classes_) != 2:
            raise ClassifierError("AdaBoostClassifier has a tree that has seen one class alone")
        predicted = np.argmax(estimator.tree_.value[:, 0, :], axis=1)
        trees.append(_tree(estimator.tree_, np.where(predicted == 1, weight, -weight)))
    return _model(
        model.n_features_in_,
        trees,
        link=_LOGISTIC,
        compares="sum",
        strict=True,
        divisor=float(model.estimator_weights_.sum()),
        factor=2.0,
    )


_SINGLE_TREES = ("DecisionTreeClassifier", "ExtraTreeClassifier")
_MODELS: dict[str, Callable[[Any], Any]] = {
    "DecisionTreeClassifier": _forest,
    "ExtraTreeClassifier": _forest,
    "RandomForestClassifier": _forest,
    "ExtraTreesClassifier": _forest,
    "BaggingClassifier": _bagging,
    "GradientBoostingClassifier": _gradient_boosting,
    "HistGradientBoostingClassifier": _histogram_boosting,
    "AdaBoostClassifier": _ada_boost,
    "XGBClassifier": lambda model: json.loads(xgboost_file(model)),
    "XGBRFClassifier": lambda model: json.loads(xgboost_file(model)),
    "LGBMClassifier": lightgbm_file,
    "CatBoostClassifier": lambda model: json.loads(catboost_file(model)),
}
