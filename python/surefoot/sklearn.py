"""An estimator of scikit-learn that says what people can do about its decisions.

>>> from surefoot.sklearn import RecourseExplainer
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ._answers import Answers
from ._causal import CausalModel
from ._features import features as features_of
from ._graph import Graph
from ._models import Classifier
from ._problem import Problem
from ._tables import is_pandas
from ._verbs import recourse
from .errors import MissingPackageError, PeopleError

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
    from sklearn.linear_model import LogisticRegression
    from sklearn.utils.metaestimators import available_if
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_array, check_is_fitted, validate_data
except ImportError:
    raise MissingPackageError(
        "RecourseExplainer needs scikit-learn 1.6 or later; pip install scikit-learn"
    ) from None

__all__ = ["RecourseExplainer"]


def _estimator_has(name: str) -> Any:
    def check(self: Any) -> bool:
        getattr(getattr(self, "estimator_", self.estimator or LogisticRegression()), name)
        return True

    return check


class RecourseExplainer(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier of two classes that also says what those whom it turns down can do.

    It trains a classifier of scikit-learn, or takes one that is trained, and decides as it does. ``explain`` gives the
    cheapest action of each person that still works if circumstances shift, with proof.

    Parameters
    ----------
    estimator : estimator, optional
        A classifier that :meth:`Classifier.from_sklearn` understands, or a pipeline that ends in one; a
        ``LogisticRegression`` unless given.
    change : mapping, optional
        What an action may do to columns, such as ``{"income": "increase"}``; all others are fixed. Every column may
        change unless given.
    graph : mapping, pairs, graph, str or path, optional
        Who causes whom, as in :meth:`CausalModel.fit`: equations are then fitted to the rows. Columns are independent
        unless given.
    epsilon : float, default 0.1
        How far circumstances may shift, in standard deviations.
    norm : {"l1", "l2", "linf"}, default "l2"
        How the size of a shift is measured.
    cost : {"l1", "l2"}, default "l1"
        How the effort of an action is measured.
    favourable : object, optional
        The class that is favourable; the last of ``classes_`` unless given.
    columns : mapping, optional
        Further settings of :func:`features`, such as ``{"kind": {"job": "category"}}``.
    prefit : bool, default False
        Whether ``estimator`` is trained already, and stays as it is.
    method : str, default "auto"
        As in :func:`recourse`.
    max_evaluations : int, optional
        As in :func:`recourse`.
    n_jobs : int, optional
        As in :func:`recourse`.

    Attributes
    ----------
    estimator_ : estimator
        The trained classifier.
    problem_ : Problem
        The problem that is answered.
    classes_ : ndarray
        The two classes.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.linear_model import LogisticRegression
    >>> from surefoot.sklearn import RecourseExplainer
    >>> people = pd.DataFrame({"age": [30.0, 40, 50, 35], "income": [1000.0, 2000, 3000, 4000]})
    >>> explainer = RecourseExplainer(LogisticRegression(), change={"income": "increase"})
    >>> explainer.fit(people, [0, 0, 1, 1]).explain(people.head(1))
    <1 answers: 1 found>
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        change: Mapping[str, Any] | None = None,
        graph: Graph | None = None,
        epsilon: float = 0.1,
        norm: Any = "l2",
        cost: Any = "l1",
        favourable: object = None,
        columns: Mapping[str, Any] | None = None,
        prefit: bool = False,
        method: str = "auto",
        max_evaluations: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.change = change
        self.graph = graph
        self.epsilon = epsilon
        self.norm = norm
        self.cost = cost
        self.favourable = favourable
        self.columns = columns
        self.prefit = prefit
        self.method = method
        self.max_evaluations = max_evaluations
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = False
        return tags

    def fit(self, X: Any, y: Any = None) -> RecourseExplainer:
        """Train the classifier, and learn scales, limits and equations from the rows.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            People, as a DataFrame or an array.
        y : array_like of shape (n_samples,), optional
            The outcome of each; not needed with ``prefit``.

        Returns
        -------
        RecourseExplainer
            Itself.
        """
        X, y = self._checked(X, y)
        if self.prefit:
            check_is_fitted(self.estimator)
            self.estimator_ = self.estimator
        else:
            self.estimator_ = clone(self.estimator if self.estimator is not None else LogisticRegression())
            self.estimator_.fit(X, y)
        self.classes_ = self.estimator_.classes_
        if len(self.classes_) != 2:
            raise ValueError(
                f"Only binary classification is supported; the outcomes have {len(self.classes_)} class"
                f"{'' if len(self.classes_) == 1 else 'es'}"
            )
        table = self._table(X)
        names = list(table)
        change: Any = dict.fromkeys(names, "any") if self.change is None else self.change
        settings = {"observed_limits": False, **(self.columns or {})}
        made = features_of(table, change=change, **settings)
        # Numbers of estimators are amounts, also where they happen to be 0 and 1.
        model = Classifier.from_sklearn(self.estimator_, made, favourable=self.favourable)
        causal_model = None if self.graph is None else CausalModel.fit(made, table, self.graph)
        self.problem_ = Problem(
            made, model, causal_model, epsilon=self.epsilon, norm=self.norm, cost=self.cost
        )
        return self

    def _checked(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Rows and outcomes, as estimators are given them."""
        if is_pandas(X):
            validate_data(self, X, skip_check_array=True)
            if len(X) == 0:
                raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
        elif self.prefit and y is None:
            X = validate_data(self, X, dtype=np.float64)
        else:
            X, y = validate_data(self, X, y, dtype=np.float64)
        if y is not None:
            check_classification_targets(y)
        elif not self.prefit:
            raise ValueError("requires y to be passed, but the target y is None")
        return X, y

    def _table(self, X: Any) -> dict[str, Any]:
        """The columns of rows by their names."""
        if is_pandas(X):
            return {str(name): X[name] for name in X.columns}
        rows = check_array(X, dtype=np.float64)
        if rows.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {rows.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} features "
                "as input"
            )
        return {name: rows[:, i] for i, name in enumerate(self._names())}

    def _names(self) -> Sequence[str]:
        named = getattr(self, "feature_names_in_", None)
        return (
            [str(name) for name in named]
            if named is not None
            else [f"x{i}" for i in range(self.n_features_in_)]
        )

    def _given(self, X: Any) -> Any:
        check_is_fitted(self, "problem_")
        if is_pandas(X):
            validate_data(self, X, skip_check_array=True, reset=False)
            return X
        return validate_data(self, X, reset=False, dtype=np.float64)

    def predict(self, X: Any) -> Any:
        """Decide as the classifier does.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            People.

        Returns
        -------
        ndarray of shape (n_samples,)
            The class of each.
        """
        return self.estimator_.predict(self._given(X)) if self._is_ready() else None

    def _is_ready(self) -> bool:
        check_is_fitted(self, "problem_")
        return True

    @available_if(_estimator_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """State probabilities as the classifier does.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            People.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            The probability of each class.
        """
        return self.estimator_.predict_proba(self._given(X)) if self._is_ready() else None

    @available_if(_estimator_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:
        """State scores as the classifier does.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            People.

        Returns
        -------
        ndarray of shape (n_samples,)
            A score for each; the second class where it is positive.
        """
        return self.estimator_.decision_function(self._given(X)) if self._is_ready() else None

    def explain(self, X: Any, **settings: Any) -> Answers:
        """Say what everybody can do, at the least effort, that still works if circumstances shift.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            People.
        **settings : object
            Further settings of :func:`recourse`, such as ``options=3`` or ``proofs=True``.

        Returns
        -------
        Answers
            An answer for each.
        """
        given = self._given(X)
        if len(given) == 0:
            raise PeopleError("there are no people")
        people = given if is_pandas(given) else self._table(given)
        chosen = {
            "method": self.method,
            "max_evaluations": self.max_evaluations,
            "n_jobs": self.n_jobs,
            **settings,
        }
        return recourse(self.problem_, people, **chosen)
