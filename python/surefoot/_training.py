"""Training of classifiers."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Union

import numpy as np
from numpy.typing import ArrayLike

from . import _engine, _progress, _tables
from ._features import Feature
from ._models import Activation, Classifier
from ._settings import former_name, threads
from .errors import SettingError, TrainingError, TrainingWarning

__all__ = ["train_former"]


def train(
    features: Sequence[Feature],
    people: Any,
    outcomes: ArrayLike,
    *,
    favourable: object,
    objective: Literal["erm", "af", "allr", "ross"],
    mu_1: float,
    mu_2: float,
    radius: float,
    ross_weight: float,
    ross_reach: float,
    hidden: Sequence[int],
    activation: Activation,
    epochs: int,
    batch_size: int,
    learning_rate: float,
    balanced: bool,
    validation_fraction: float | None,
    patience: int | None,
    test_fraction: float | None,
    threshold: Union[float, Literal["mcc", "accuracy"], tuple[Literal["fpr"], float]],
    random_state: int,
    errors: bool,
    progress: bool,
    n_jobs: int | None,
) -> Classifier:
    """What :meth:`Classifier.train` says."""
    if errors and (hidden or objective != "erm" or balanced):
        raise SettingError(
            "errors are those of a logistic regression by maximum likelihood; give hidden=() and neither an objective "
            "nor balanced"
        )
    if patience is not None and not validation_fraction:
        raise SettingError(
            "patience needs rows held out for early stopping; give validation_fraction, for example 0.2"
        )
    word: str
    if isinstance(threshold, str):
        word, at = threshold, 0.5
    elif isinstance(threshold, tuple):
        word, at = threshold
    else:
        word, at = "fixed", float(threshold)
    settings: Mapping[str, object] = {
        "objective": objective, "linearity": mu_1, "reliance": mu_2, "radius": radius,
        "ross_weight": ross_weight, "ross_reach": ross_reach, "hidden": list(hidden), "activation": activation,
        "epochs": epochs, "batch": batch_size, "step": learning_rate, "balanced": balanced,
        "validation": validation_fraction or 0.0, "patience": 20 if patience is None else patience,
        "test": test_fraction or 0.0, "threshold": word, "threshold_at": at, "seed": random_state,
        "errors": errors,
    }  # fmt: skip
    source = _tables.prepare(people, features).source
    labels = _labels(outcomes, favourable)
    with _progress.bar(progress, epochs, "epoch") as update, threads(n_jobs):
        trained = _engine.train(features, source, labels, settings, update)
    training, held_out = trained["accuracy"]
    if trained["differs"] and held_out is not None:
        if training > held_out:
            meaning = "expect the latter for other people. "
            meaning += (
                "Take fewer or smaller layers (hidden)"
                if validation_fraction
                else "Let it stop early (validation_fraction)"
            )
            meaning += ", or give more rows"
        else:
            meaning = "the rows held out may not be like those it was trained on"
        warnings.warn(
            f"an accuracy of {training:.3f} in training and of {held_out:.3f} on rows held out differ by more "
            f"than chance would explain: {meaning}",
            TrainingWarning,
            stacklevel=4,
        )
    return Classifier(
        tuple(trained["layers"]),
        activation,
        trained["threshold"],
        losses=tuple(trained["losses"]),
        accuracy=trained["accuracy"],
        covariance=None if trained["covariance"] is None else np.asarray(trained["covariance"]),
        loss=trained["loss"],
    )


def _labels(outcomes: Any, favourable: object) -> np.ndarray[Any, np.dtype[np.bool_]]:
    values = np.asarray(_tables.to_list(outcomes))
    if favourable is not None:
        labels = np.asarray(values == favourable)
        if not labels.any():
            known = ", ".join(str(value) for value in list(dict.fromkeys(values.tolist()))[:5])
            raise TrainingError(f"no outcome is {favourable!r}; favourable must be one of {known}")
        return labels
    if values.dtype != np.bool_ and not (values.dtype.kind in "iuf" and np.isin(values, (0, 1)).all()):
        raise TrainingError(
            "outcomes are neither truths nor 0 and 1; say with `favourable` which is favourable"
        )
    return values.astype(np.bool_)


def train_former(
    features: Sequence[Feature], people: Any, outcomes: ArrayLike, **settings: Any
) -> Classifier:
    """Train a classifier: the former name of :meth:`Classifier.train`, accepted for one more release.

    Parameters
    ----------
    features : sequence of Feature
        As there.
    people : table
        As there.
    outcomes : array_like
        As there.
    **settings : object
        As there.

    Returns
    -------
    Classifier
        The classifier.

    Examples
    --------
    >>> import warnings, surefoot as sf
    >>> people = {"income": [float(income) for income in range(40)]}
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     sf.train(sf.features(people), people, [i > 19 for i in range(40)], hidden=(), epochs=5).is_linear
    True
    """
    former_name("train", "Classifier.train")
    return Classifier.train(features, people, outcomes, **settings)
