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
    :meth:`from_trees` or :func:`surefoot.train`.
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
    def linear(
        cls,
        coefficients: ArrayLike,
        intercept: float = 0.0,
        *,
        threshold: float = 0.5,
        inputs: Inputs = "standardised",
    ) -> Classifier:
        """``logit = coefficients . features + intercept``, for example a logistic regression.

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

        :param favourable: the class that is favourable; the last of ``classes_`` if not given.
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

        :param scaler: a fitted ``StandardScaler`` through which its inputs go.
        :param inputs: the units of its inputs, if there is no scaler.
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
        """
        content = model if isinstance(model, bytes) else Path(model).read_bytes()
        _engine.tree_counts(content)
        return cls((), threshold=threshold, inputs=inputs, trees=content)

    @classmethod
    def from_xgboost(cls, model: Any, *, favourable: object = None, threshold: float = 0.5) -> Classifier:
        """A fitted ``XGBClassifier`` or ``Booster`` of XGBoost.

        :param favourable: the class that is favourable; the last of ``classes_`` if not given.
        """
        from ._trees import of_xgboost

        return cls.from_trees(of_xgboost(model, favourable), threshold=threshold)

    @classmethod
    def from_lightgbm(cls, model: Any, *, favourable: object = None, threshold: float = 0.5) -> Classifier:
        """A fitted ``LGBMClassifier`` or ``Booster`` of LightGBM.

        :param favourable: the class that is favourable; the last of ``classes_`` if not given.
        """
        from ._trees import of_lightgbm

        return cls.from_trees(of_lightgbm(model, favourable), threshold=threshold)

    @classmethod
    def from_catboost(cls, model: Any, *, favourable: object = None, threshold: float = 0.5) -> Classifier:
        """A fitted ``CatBoostClassifier`` or ``CatBoost`` model over numbers.

        :param favourable: the class that is favourable; the last of ``classes_`` if not given.
        """
        from ._trees import of_catboost

        return cls.from_trees(of_catboost(model, favourable), threshold=threshold)

    def with_uncertain_weights(
        self, *, within: float | None = None, share: float | None = None
    ) -> Classifier:
        """The same classifier where each weight and bias may differ from the stated one, as after retraining.

        Answers then hold for every such classifier. For linear models and dense networks.

        :param within: by at most this, in the units of the weights of standardised features; or
        :param share: by at most this share of its size.

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
        """Writes its trees, for ``trees = "..."`` of a problem file and :meth:`from_trees`."""
        if self.trees is None:
            raise ClassifierError("this classifier has no trees; name its coefficients or its network")
        Path(path).write_bytes(self.trees)

    def tree_scores(self, rows: ArrayLike) -> Array:
        """The scores of its trees for rows of the model's own columns, in which NaN is a missing value.

        Without the steps of a pipeline in front of it; :meth:`surefoot.Problem.score` has those.
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
    """How a feature follows from its causes and noise: a formula, a linear function or a network."""

    formula: str | None = None
    inverse: str | None = None
    parents: Sequence[str] = ()
    layers: Layers = ()
    activation: Activation = "tanh"
    inputs: Inputs = "standardised"

    @classmethod
    def of(cls, formula: str, inverse: str | None = None) -> Equation:
        """A formula over causes by name and the noise ``u``, in people's own units.

        >>> Equation.of("-4 + 1.5 * max(income, 0) + u")
        Equation('-4 + 1.5 * max(income, 0) + u')

        :param inverse: solves it for ``u``, where that is not simply added.
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

        >>> import numpy as np
        >>> Equation.network(["age"], [(np.ones((3, 1)), np.zeros(3)), (np.ones((1, 3)), [0.0])])
        Equation(network in age)
        """
        return cls(parents=tuple(parents), layers=_layers(layers, CausalModelError), activation=activation)

    def __repr__(self) -> str:
        if self.formula is not None:
            return f"Equation({self.formula!r})"
        return f"Equation({'linear' if len(self.layers) == 1 else 'network'} in {', '.join(self.parents)})"
