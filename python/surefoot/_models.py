"""Classifiers, and equations of causal models."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _engine
from ._settings import renamed
from .errors import CausalModelError, ClassifierError

if TYPE_CHECKING:
    from ._features import Feature

Activation = Literal["tanh", "relu", "sigmoid"]
Inputs = Literal["standardised", "raw"]
Array = NDArray[np.float64]
#: Weight (one row for each output) and bias of each layer.
Layers = Sequence[tuple[Array, Array]]

__all__ = ["Activation", "Classifier", "Equation", "Inputs", "Layers"]


def _layers(layers: Sequence[tuple[ArrayLike, ArrayLike]], wrong: type[Exception]) -> Layers:
    made = []
    for number, (weight, bias) in enumerate(layers):
        arrays = np.array(weight, dtype=np.float64, order="C"), np.array(bias, dtype=np.float64)
        if (arrays[0].ndim, arrays[1].ndim) != (2, 1):
            raise wrong(
                f"layer {number}: a weight of {arrays[0].ndim} dimensions and a bias of {arrays[1].ndim}; "
                "there must be two and one"
            )
        made.append(arrays)
    return tuple(made)


@dataclass(frozen=True, eq=False)
class Classifier:
    """A model that decides on people: favourable where ``sigmoid(logit) >= threshold``.

    Made by :meth:`linear`, :meth:`network`, :meth:`from_sklearn`, :meth:`from_torch`,
    :meth:`from_onnx`, :meth:`from_xgboost`, :meth:`from_lightgbm`, :meth:`from_catboost`,
    :meth:`from_trees` or :meth:`train`.

    Examples
    --------
    >>> import surefoot as sf
    >>> sf.Classifier.linear([0.8, 0.6], -0.5).is_linear
    True
    """

    #: Weight (one row for each output) and bias of each layer; the last has one output, the logit.
    #: None if it consists of trees.
    layers: Layers
    activation: Activation = "tanh"
    threshold: float = 0.5
    #: The units of its inputs: ``"standardised"`` as the features say, or ``"raw"``, people's own.
    inputs: Inputs = "standardised"
    #: The loss of each epoch, and that on the rows held out to stop by, if it was trained here.
    losses: Sequence[tuple[float, float | None]] = ()
    #: The share of right decisions in training, and on rows held out, if it was trained here.
    accuracy: tuple[float, float | None] | None = None
    #: The file of a tree ensemble, if it is one; see :meth:`save_trees`.
    trees: bytes | None = None
    #: How far its weights may be from these; see :meth:`with_uncertain_weights`.
    uncertain_weights: tuple[str, float] | None = None
    #: The covariance of its weights, intercept last, and the loss summed over all rows, if it was trained with
    #: ``errors=True``; see :meth:`surefoot.Uncertainty.weights`.
    covariance: Array | None = None
    loss: float | None = None

    @classmethod
    @renamed(
        batch="batch_size",
        step="learning_rate",
        validation="validation_fraction",
        test="test_fraction",
        seed="random_state",
    )
    def train(
        cls,
        features: Sequence[Feature],
        people: Any,
        outcomes: ArrayLike,
        *,
        favourable: object = None,
        objective: Literal["erm", "af", "allr", "ross"] = "erm",
        mu_1: float = 3.0,
        mu_2: float = 0.1,
        radius: float = 0.1,
        ross_weight: float = 0.8,
        ross_reach: float = 0.75,
        hidden: Sequence[int] = (16,),
        activation: Activation = "tanh",
        epochs: int = 200,
        batch_size: int = 100,
        learning_rate: float = 0.01,
        balanced: bool = False,
        validation_fraction: float | None = 0.2,
        patience: int | None = None,
        test_fraction: float | None = 0.2,
        threshold: Union[float, Literal["mcc", "accuracy"], tuple[Literal["fpr"], float]] = "mcc",
        random_state: int = 0,
        errors: bool = False,
        progress: bool = False,
        n_jobs: int | None = None,
    ) -> Classifier:
        """Train the classifier that decides, so that those it turns down can do something about it.

        Unless told otherwise this is a small network. A fifth of the rows is held out to test on, and a fifth
        of the rest to decide when to stop; ``accuracy`` of the classifier says how often it is right in
        training and on rows held out. Where these differ by more than chance, as they do where training rows
        are learnt by heart, a :class:`TrainingWarning <surefoot.TrainingWarning>` says so. By more than chance means
        by more than 2.576 standard errors, ``sqrt(p (1 - p) (1/n + 1/m))`` with the accuracy ``p`` on all
        ``n + m`` rows, which happens in one of a hundred cases if it is as good for everybody. The same seed
        gives the same classifier on any number of threads, and the same as ``surefoot train`` gives.

        Parameters
        ----------
        features : sequence of Feature
            The features.
        people : table
            People: a DataFrame (pandas or polars), an Arrow table, a dict of columns, a list of dicts, one
            person as a dict, or an array with a row for each; in their own units.
        outcomes : array_like
            Of each person: truths, 0 and 1, or whatever ``favourable`` is one of.
        favourable : object, optional
            The outcome that is favourable, where outcomes are neither truths nor 0 and 1.
        objective : {"erm", "af", "allr", "ross"}, default "erm"
            ``"erm"`` (being right), ``"af"`` (by what people can change alone), ``"allr"`` (locally linear,
            with weight ``mu_1`` within ``radius``, and not relying on what people cannot change, with weight
            ``mu_2``) or ``"ross"`` (an action of length ``ross_reach`` suffices).
        mu_1 : float, default 3.0
            ALLR: the weight of the departure from local linearity.
        mu_2 : float, default 0.1
            ALLR: the weight of the penalty for features that people cannot change.
        radius : float, default 0.1
            ALLR: the radius within which to be linear, in standard deviations.
        ross_weight : float, default 0.8
            Ross: the weight of the penalty.
        ross_reach : float, default 0.75
            Ross: the length of the action that should suffice, in standard deviations.
        hidden : sequence of int, default (16,)
            Widths of the hidden layers; none for a logistic regression.
        activation : {"tanh", "relu", "sigmoid"}, default "tanh"
            The function between layers.
        epochs : int, default 200
            Passes over the rows, at most.
        batch_size : int, default 100
            Rows in a mini-batch.
        learning_rate : float, default 0.01
            The step of Adam.
        balanced : bool, default False
            Let both outcomes count the same in total, however rare one is.
        validation_fraction : float, default 0.2
            The share of the rows, after those to test on, that decides when to stop; None or 0 to train on
            them too, for all ``epochs``.
        patience : int, optional
            Stop once the loss on these rows has not improved for so many epochs, and keep the best; 20 if not
            given.
        test_fraction : float, default 0.2
            The share of the rows that is held out to test on; None or 0 for none, for example because you
            hold out your own. The accuracy on rows held out is then that on those of ``validation_fraction``,
            which flatters it a little.
        threshold : float, {"mcc", "accuracy"}, tuple[{"fpr"}, float, default "mcc"
            A probability, the best by Matthews correlation or accuracy, or ``("fpr", 0.05)`` for a
            false-positive rate.
        random_state : int, default 0
            Decides splits, initial weights and order; the same seed gives the same classifier.
        errors : bool, default False
            Fit a logistic regression (``hidden=()``) by maximum likelihood to all training rows, without
            epochs and early stopping. ``covariance`` of the classifier is then that of its weights and
            ``loss`` the loss, for :meth:`Uncertainty.weights <surefoot.Uncertainty.weights>`.
        progress : bool, default False
            Show a bar; needs tqdm.
        n_jobs : int, optional
            How many threads to use; all of them for None and -1.

        Returns
        -------
        Classifier
            The classifier.

        Examples
        --------
        >>> import numpy as np, surefoot as sf
        >>> random = np.random.default_rng(0)
        >>> people = {"age": random.normal(40, 9, 500), "income": random.normal(3000, 800, 500)}
        >>> features = sf.features(people, change={"income": "increase"})
        >>> paid_back = people["income"] + random.normal(0, 500, 500) > 2800
        >>> classifier = sf.Classifier.train(features, people, paid_back, objective="allr")
        >>> classifier
        Classifier(network 2-16-1 tanh, threshold ..., accuracy 0.8... in training and 0.8... held out)
        >>> training, held_out = classifier.accuracy
        """
        from ._training import train

        return train(
            features, people, outcomes, favourable=favourable, objective=objective, mu_1=mu_1, mu_2=mu_2, radius=radius, ross_weight=ross_weight, ross_reach=ross_reach, hidden=hidden, activation=activation, epochs=epochs, batch_size=batch_size, learning_rate=learning_rate, balanced=balanced, validation_fraction=validation_fraction, patience=patience, test_fraction=test_fraction, threshold=threshold, random_state=random_state, errors=errors, progress=progress, n_jobs=n_jobs,
        )  # fmt: skip

    @classmethod
    def linear(
        cls,
        coefficients: ArrayLike,
        intercept: float = 0.0,
        *,
        threshold: float = 0.5,
        inputs: Inputs = "standardised",
    ) -> Classifier:
        """``logit = coefficients . features + intercept``, for example a logistic regression.

        Parameters
        ----------
        coefficients : array_like
            The coefficients, in the order of the inputs.
        intercept : float, default 0.0
            The value where all inputs are zero.
        threshold : float, default 0.5
            The least probability that is favourable.
        inputs : {"standardised", "raw"}, default "standardised"
            The units of the inputs: as the features say, or people's own.

        Returns
        -------
        Classifier
            The classifier.

        Examples
        --------
        >>> Classifier.linear([0.8, 0.6], -0.5)
        Classifier(linear in 2 features, threshold 0.5)
        """
        weight = np.atleast_2d(np.asarray(coefficients, dtype=np.float64))
        return cls(_layers([(weight, [intercept])], ClassifierError), threshold=threshold, inputs=inputs)

    @classmethod
    def network(
        cls,
        layers: Sequence[tuple[ArrayLike, ArrayLike]],
        activation: Activation = "tanh",
        *,
        threshold: float = 0.5,
        inputs: Inputs = "standardised",
    ) -> Classifier:
        """A dense network from weights (one row for each output) and biases.

        Parameters
        ----------
        layers : sequence of pairs of array_like
            Weight (one row for each output) and bias of each layer.
        activation : {"tanh", "relu", "sigmoid"}, default "tanh"
            The function between layers.
        threshold : float, default 0.5
            The least probability that is favourable.
        inputs : {"standardised", "raw"}, default "standardised"
            The units of the inputs: as the features say, or people's own.

        Returns
        -------
        Classifier
            The classifier.

        Examples
        --------
        >>> import numpy as np
        >>> Classifier.network([(np.ones((3, 2)), np.zeros(3)), (np.ones((1, 3)), [0.0])], "relu")
        Classifier(network 2-3-1 relu, threshold 0.5)
        """
        return cls(_layers(layers, ClassifierError), activation, threshold, inputs)

    @classmethod
    def from_sklearn(
        cls, model: Any, features: Sequence[Feature], *, favourable: object = None, threshold: float = 0.5
    ) -> Classifier:
        """A fitted scikit-learn classifier, or a whole pipeline that ends in one.

        Understood are linear classifiers and ``MLPClassifier``, behind scalers, encoders, column
        transformers and whatever else is linear; and trees, forests, gradient boosting, bagging and AdaBoost
        over trees, XGBoost, LightGBM and CatBoost, behind scalers, encoders and column transformers,
        and calibrated by one ``CalibratedClassifierCV`` without folds. The features are the columns that the pipeline is
        given, in people's own units; so are answers.

        Parameters
        ----------
        model : object
            The model.
        features : sequence of Feature
            The features.
        favourable : object, optional
            The class that is favourable; the last of ``classes_`` if not given.
        threshold : float, default 0.5
            The least probability that is favourable.

        Returns
        -------
        Classifier
            The classifier.

        Examples
        --------
        >>> import surefoot as sf
        >>> from sklearn.linear_model import LogisticRegression
        >>> from sklearn.pipeline import make_pipeline
        >>> from sklearn.preprocessing import StandardScaler
        >>> people = {"income": [1000.0, 2000.0, 3000.0, 4000.0]}
        >>> rows = [[income] for income in people["income"]]
        >>> pipeline = make_pipeline(StandardScaler(), LogisticRegression()).fit(rows, [0, 0, 1, 1])
        >>> features = sf.features(people, change={"income": "increase"})
        >>> sf.Classifier.from_sklearn(pipeline, features)
        Classifier(linear in 1 feature, threshold 0.5)
        """
        from ._sklearn import read

        return read(model, features, favourable, threshold)

    @classmethod
    def from_torch(
        cls,
        model: Any,
        *,
        scaler: Any = None,
        inputs: Inputs = "standardised",
        threshold: float = 0.5,
    ) -> Classifier:
        """A PyTorch network: linear layers with tanh, relu or sigmoid between them.

        It may end in one logit, a sigmoid, or two logits of which the second is favourable. What is
        read is held against what the network itself says.

        Parameters
        ----------
        model : object
            The model.
        scaler : table, optional
            A fitted ``StandardScaler`` through which its inputs go.
        inputs : Inputs, default "standardised"
            The units of its inputs, if there is no scaler.
        threshold : float, default 0.5
            The least probability that is favourable.

        Returns
        -------
        Classifier
            The classifier.
        """
        from ._torch import read

        return read(model, scaler, inputs, threshold)

    @classmethod
    def from_onnx(
        cls,
        model: Union[bytes, str, os.PathLike[str]],
        *,
        inputs: Inputs = "standardised",
        threshold: float = 0.5,
    ) -> Classifier:
        """A logistic regression, a dense network or a tree ensemble in an ONNX file, or its bytes.

        Scalers within it are understood; ``inputs="raw"`` says that it takes people's own units. The
        second of its classes is favourable.

        Parameters
        ----------
        model : object
            The model.
        inputs : {"standardised", "raw"}, default "standardised"
            The units of the inputs: as the features say, or people's own.
        threshold : float, default 0.5
            The least probability that is favourable.

        Returns
        -------
        Classifier
            The classifier.
        """
        network = _engine.read_onnx(model)
        if network is None:
            return cls.from_trees(model, threshold=threshold, inputs=inputs)
        return cls.network(*network, threshold=threshold, inputs=inputs)

    @classmethod
    def from_trees(
        cls, model: Union[bytes, str, os.PathLike[str]], *, inputs: Inputs = "raw", threshold: float = 0.5
    ) -> Classifier:
        """A tree ensemble in a file of XGBoost (JSON, UBJ), LightGBM (text), CatBoost (JSON) or ONNX, or of
        :meth:`save_trees`; or the bytes of such a file.

        Its columns are found among the features by their names, if all of them are features, and by
        their order, if none is. The second of its classes is favourable. At a threshold of 0.5 ties are
        decided as the model itself does.

        Parameters
        ----------
        model : object
            The model.
        inputs : {"standardised", "raw"}, default "standardised"
            The units of the inputs: as the features say, or people's own.
        threshold : float, default 0.5
            The least probability that is favourable.

        Returns
        -------
        Classifier
            The classifier.
        """
        content = model if isinstance(model, bytes) else Path(model).read_bytes()
        _engine.tree_counts(content)
        return cls((), threshold=threshold, inputs=inputs, trees=content)

    @classmethod
    def from_xgboost(cls, model: Any, *, favourable: object = None, threshold: float = 0.5) -> Classifier:
        """A fitted ``XGBClassifier`` or ``Booster`` of XGBoost.

        Parameters
        ----------
        model : object
            The model.
        favourable : object, optional
            The class that is favourable; the last of ``classes_`` if not given.
        threshold : float, default 0.5
            The least probability that is favourable.

        Returns
        -------
        Classifier
            The classifier.
        """
        from ._trees import of_xgboost

        return cls.from_trees(of_xgboost(model, favourable), threshold=threshold)

    @classmethod
    def from_lightgbm(cls, model: Any, *, favourable: object = None, threshold: float = 0.5) -> Classifier:
        """A fitted ``LGBMClassifier`` or ``Booster`` of LightGBM.

        Parameters
        ----------
        model : object
            The model.
        favourable : object, optional
            The class that is favourable; the last of ``classes_`` if not given.
        threshold : float, default 0.5
            The least probability that is favourable.

        Returns
        -------
        Classifier
            The classifier.
        """
        from ._trees import of_lightgbm

        return cls.from_trees(of_lightgbm(model, favourable), threshold=threshold)

    @classmethod
    def from_catboost(cls, model: Any, *, favourable: object = None, threshold: float = 0.5) -> Classifier:
        """A fitted ``CatBoostClassifier`` or ``CatBoost`` model over numbers.

        Parameters
        ----------
        model : object
            The model.
        favourable : object, optional
            The class that is favourable; the last of ``classes_`` if not given.
        threshold : float, default 0.5
            The least probability that is favourable.

        Returns
        -------
        Classifier
            The classifier.
        """
        from ._trees import of_catboost

        return cls.from_trees(of_catboost(model, favourable), threshold=threshold)

    def with_uncertain_weights(
        self, *, within: float | None = None, share: float | None = None
    ) -> Classifier:
        """The same classifier where each weight and bias may differ from the stated one, as after retraining.

        Answers then hold for every such classifier. For linear models and dense networks.

        Parameters
        ----------
        within : float, optional
            By at most this, in the units of the weights of standardised features; or.
        share : float, optional
            By at most this share of its size.

        Returns
        -------
        Classifier
            The classifier.

        Examples
        --------
        >>> Classifier.linear([0.8, 0.6], -0.5).with_uncertain_weights(share=0.01)
        Classifier(linear in 2 features, threshold 0.5, weights +-1%)
        """
        if self.uncertain_weights is not None:
            raise ClassifierError("the weights of the classifier are uncertain already; state that once")
        stated = [
            (name, value) for name, value in (("within", within), ("share", share)) if value is not None
        ]
        if len(stated) != 1:
            raise ClassifierError("give either `within` or `share`")
        return replace(self, uncertain_weights=(stated[0][0], float(stated[0][1])))

    def save_trees(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes its trees, for ``trees = "..."`` of a problem file and :meth:`from_trees`.

        Parameters
        ----------
        path : path
            The file.
        """
        if self.trees is None:
            raise ClassifierError("this classifier has no trees; name its coefficients or its network")
        Path(path).write_bytes(self.trees)

    def tree_scores(self, rows: ArrayLike) -> Array:
        """The scores of its trees for rows of the model's own columns, in which NaN is a missing value.

        Without the steps of a pipeline in front of it; :meth:`surefoot.Problem.score` has those.

        Parameters
        ----------
        rows : array_like
            A row for each person, of the model's own columns.

        Returns
        -------
        Array
            A score for each row.
        """
        if self.trees is None:
            raise ClassifierError("this classifier has no trees")
        table = np.ascontiguousarray(rows, dtype=np.float64)
        return _engine.tree_scores(self.trees, self.threshold, table)[0]

    @property
    def is_linear(self) -> bool:
        """Whether answers are found by formula."""
        return len(self.layers) == 1 and self.uncertain_weights is None

    def __repr__(self) -> str:
        if self.trees is not None:
            inputs, trees, leaves = _engine.tree_counts(self.trees)
            kind = f"{trees} tree{'' if trees == 1 else 's'} of {inputs} columns, {leaves} leaves"
            return f"Classifier({kind}, threshold {self.threshold:.4g})"
        widths = [self.layers[0][0].shape[1], *(weight.shape[0] for weight, _ in self.layers)]
        network = "-".join(str(width) for width in widths)
        features = f"{widths[0]} feature{'' if widths[0] == 1 else 's'}"
        kind = f"linear in {features}" if len(self.layers) == 1 else f"network {network} {self.activation}"
        return f"Classifier({kind}, threshold {self.threshold:.4g}{self._weights}{self._accuracies})"

    @property
    def _weights(self) -> str:
        if self.uncertain_weights is None:
            return ""
        kind, most = self.uncertain_weights
        return f", weights +-{most:.4g}" if kind == "within" else f", weights +-{100 * most:.4g}%"

    @property
    def _accuracies(self) -> str:
        if self.accuracy is None:
            return ""
        training, held_out = self.accuracy
        others = "" if held_out is None else f" and {held_out:.3f} held out"
        return f", accuracy {training:.3f} in training{others}"


@dataclass(frozen=True, eq=False)
class Equation:
    """How a feature follows from its causes and noise: a formula, a linear function or a network.

    Examples
    --------
    >>> import surefoot as sf
    >>> sf.Equation.of("2 * income + u")
    Equation('2 * income + u')
    """

    formula: str | None = None
    inverse: str | None = None
    parents: Sequence[str] = ()
    layers: Layers = ()
    activation: Activation = "tanh"
    inputs: Inputs = "standardised"

    @classmethod
    def of(cls, formula: str, inverse: str | None = None) -> Equation:
        """A formula over causes by name and the noise ``u``, in people's own units.

        Parameters
        ----------
        formula : str
            The formula.
        inverse : str, optional
            Solves it for ``u``, where that is not simply added.

        Returns
        -------
        Equation
            The equation.

        Examples
        --------
        >>> Equation.of("-4 + 1.5 * max(income, 0) + u")
        Equation('-4 + 1.5 * max(income, 0) + u')
        """
        return cls(formula, inverse)

    @classmethod
    def linear(
        cls,
        parents: Sequence[str],
        coefficients: ArrayLike,
        intercept: float = 0.0,
        *,
        inputs: Inputs = "standardised",
    ) -> Equation:
        """``coefficients . parents + intercept + u``, in standardised units or in people's own.

        Parameters
        ----------
        parents : sequence of str
            The causes.
        coefficients : array_like
            The coefficients, in the order of the inputs.
        intercept : float, default 0.0
            The value where all inputs are zero.
        inputs : {"standardised", "raw"}, default "standardised"
            The units of the inputs: as the features say, or people's own.

        Returns
        -------
        Equation
            The equation.

        Examples
        --------
        >>> Equation.linear(["education"], [200], 600, inputs="raw")
        Equation(linear in education)
        """
        weight = np.atleast_2d(np.asarray(coefficients, dtype=np.float64))
        layers = _layers([(weight, [intercept])], CausalModelError)
        return cls(parents=tuple(parents), layers=layers, inputs=inputs)

    @classmethod
    def network(
        cls,
        parents: Sequence[str],
        layers: Sequence[tuple[ArrayLike, ArrayLike]],
        activation: Activation = "tanh",
    ) -> Equation:
        """``network(parents) + u``, in standardised units.

        Parameters
        ----------
        parents : sequence of str
            The causes.
        layers : sequence of pairs of array_like
            Weight (one row for each output) and bias of each layer.
        activation : {"tanh", "relu", "sigmoid"}, default "tanh"
            The function between layers.

        Returns
        -------
        Equation
            The equation.

        Examples
        --------
        >>> import numpy as np
        >>> Equation.network(["age"], [(np.ones((3, 1)), np.zeros(3)), (np.ones((1, 3)), [0.0])])
        Equation(network in age)
        """
        return cls(parents=tuple(parents), layers=_layers(layers, CausalModelError), activation=activation)

    def __repr__(self) -> str:
        if self.formula is not None:
            return f"Equation({self.formula!r})"
        return f"Equation({'linear' if len(self.layers) == 1 else 'network'} in {', '.join(self.parents)})"
