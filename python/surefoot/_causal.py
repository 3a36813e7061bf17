"""Causal models: how features follow from each other."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from . import _engine, _progress, _tables
from ._features import Feature
from ._graph import Graph, causes_of, to_networkx
from ._html import causal_model_html
from ._models import Equation
from ._picture import Picture
from ._settings import former_name, renamed, threads
from ._uncertainty import Uncertainty
from .errors import CausalModelError, FitWarning, SettingError

__all__ = ["CausalModel", "FittedEquation", "fit"]


@dataclass(frozen=True)
class FittedEquation:
    """How well an equation was fitted.

    Examples
    --------
    >>> import surefoot as sf
    >>> people = {"income": [1.0, 2.0, 4.0, 3.0], "savings": [2.0, 4.0, 8.0, 6.0]}
    >>> model = sf.CausalModel.fit(sf.features(people), people, {"savings": ["income"]}, held_out=0)
    >>> model.fitted[0].parents, round(model.fitted[0].r_squared, 3)
    (('income',), 1.0)
    """

    feature: str
    parents: tuple[str, ...]
    #: The share of the variance that the causes explain, on rows held out.
    r_squared: float
    #: The standard deviation of what they leave unexplained, in the feature's own units.
    deviation: float
    #: What casts doubt on it.
    warnings: tuple[str, ...]
    #: The largest error of each coefficient, in standardised units, and the half-width of a band, in standard
    #: deviations, as far as :func:`fit` was asked for them.
    within: tuple[float, ...] = ()
    band: float | None = None

    @property
    def uncertainty(self) -> Uncertainty | None:
        """What guards against errors of the equation; None if :func:`fit` was not asked for them."""
        if not self.within and self.band is None:
            return None
        return Uncertainty.equation(self.feature, within=self.within or None, band=self.band)


class CausalModel:
    """A structural causal model: an equation for each feature that has causes.

    Equations are formulas in people's own units with the noise ``u``, or :class:`Equation`.

    Parameters
    ----------
    features : sequence of Feature
        The features.
    equations : mapping
        The equation of each feature that has causes: a formula or an :class:`Equation`.
    fitted : sequence of FittedEquation, optional
        How well each equation was fitted.

    Examples
    --------
    >>> import surefoot as sf
    >>> features = [sf.Feature("income"), sf.Feature("savings")]
    >>> model = sf.CausalModel(features, {"savings": "0.5 * income + u"})
    >>> model.counterfactual({"income": 10, "savings": 30}, shift={"income": 2})
    {'income': array([12.]), 'savings': array([31.])}
    """

    def __init__(
        self,
        features: Sequence[Feature],
        equations: Mapping[str, str | Equation],
        *,
        fitted: Sequence[FittedEquation] = (),
    ) -> None:
        self.features = tuple(features)
        self.equations = {
            name: Equation.of(equation) if isinstance(equation, str) else equation
            for name, equation in equations.items()
        }
        #: How well each equation was fitted, if it was.
        self.fitted = tuple(fitted)
        self._native = _engine.CausalModel(self.features, list(self.equations.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.features, self.equations, self.fitted)

    @classmethod
    @renamed(batch="batch_size", step="learning_rate", seed="random_state")
    def fit(
        cls,
        features: Sequence[Feature],
        people: Any,
        graph: Graph,
        *,
        shape: Literal["linear", "network"] = "linear",
        hidden: Sequence[int] = (100,),
        epochs: int = 30,
        batch_size: int = 100,
        learning_rate: float = 0.005,
        held_out: float = 0.2,
        random_state: int = 0,
        errors: float | None = None,
        band: float | None = None,
        progress: bool = False,
        n_jobs: int | None = None,
    ) -> CausalModel:
        """Fit a causal model to a table, given who causes whom.

        What casts doubt on an equation is warned of (:class:`FitWarning`) and in ``fitted``.

        Parameters
        ----------
        features : sequence of Feature
            The features.
        people : table
            People as in :func:`recourse`.
        graph : mapping, pairs, graph, str or path
            Causes by feature, ``{"savings": ["income"]}``; pairs of cause and effect; a graph of networkx, pgmpy,
            DoWhy or causal-learn; or DOT, GML or ``"income -> savings"``, as text or in a file.
        shape : {"linear", "network"}, default "linear"
            Linear equations by least squares, or dense networks of tanh by Adam.
        hidden : sequence of int, default (100,)
            Networks: widths of the hidden layers.
        epochs : int, default 30
            Networks: passes over the rows.
        batch_size : int, default 100
            Networks: rows in a mini-batch.
        learning_rate : float, default 0.005
            Networks: the step of Adam.
        held_out : float, default 0.2
            The share of the rows kept apart to judge the equations by.
        random_state : int, default 0
            Decides which rows those are, and initial weights.
        errors : float, optional
            A probability: ``fitted`` has the largest error of each coefficient of a linear equation with it,
            ``within``, and the :class:`Uncertainty` that guards against them.
        band : float, optional
            A probability: ``fitted`` has the half-width of the band around each equation in which the value of a
            further person is with it, judged by all that is left unexplained of the rows kept apart.
        progress : bool, default False
            Show a bar; needs tqdm.
        n_jobs : int, optional
            How many threads to use; all of them for None and -1.

        Returns
        -------
        CausalModel
            The model; its ``fitted`` says how well each equation fits.

        Examples
        --------
        >>> import numpy as np, surefoot as sf
        >>> income = np.linspace(-2, 2, 50)
        >>> people = {"income": income, "savings": 0.5 * income + np.sin(37 * income) / 9}
        >>> model = sf.CausalModel.fit(sf.features(people), people, {"savings": ["income"]})
        >>> model.fitted[0].r_squared > 0.9
        True
        """
        if errors is not None and shape != "linear":
            raise SettingError(
                "errors are those of the coefficients of linear equations; for networks give a band"
            )
        causes = list(causes_of(graph).items())
        settings = {
            "shape": shape, "hidden": list(hidden), "epochs": epochs, "batch": batch_size, "step": learning_rate,
            "held_out": held_out, "seed": random_state, "errors": errors, "band": band,
        }  # fmt: skip
        source = _tables.prepare(people, features).source
        steps = len(causes) * epochs if shape == "network" else None
        with _progress.bar(progress and steps is not None, steps, "epoch") as update, threads(n_jobs):
            fitted = _engine.fit(features, source, causes, settings, update)
        scale = {feature.name: feature.std for feature in features}
        equations = {
            each["feature"]: Equation(parents=tuple(each["parents"]), layers=tuple(each["layers"]))
            for each in fitted
        }
        told = []
        for each in fitted:
            name = each["feature"]
            deviation = each["deviation"] * scale.get(name, 1.0)
            told.append(
                FittedEquation(
                    name,
                    tuple(each["parents"]),
                    each["r_squared"],
                    deviation,
                    tuple(each["warnings"]),
                    tuple(each["within"]),
                    each["band"],
                )
            )
            for warning in each["warnings"]:
                warnings.warn(warning, FitWarning, stacklevel=3)
        return cls(features, equations, fitted=told)

    @classmethod
    def from_dowhy(cls, features: Sequence[Feature], model: Any) -> CausalModel:
        """Take a fitted graphical causal model of ``dowhy.gcm``.

        Mechanisms that are an ``AdditiveNoiseModel`` over a linear regression or an ``MLPRegressor`` become
        equations; any other is refused by name. Of a ``dowhy.CausalModel``, which has a graph and no mechanisms, give the
        graph to :meth:`fit`.

        Parameters
        ----------
        features : sequence of Feature
            The features.
        model : StructuralCausalModel
            A model of ``dowhy.gcm``, fitted to people in their own units.

        Returns
        -------
        CausalModel
            The model.
        """
        from ._foreign import of_dowhy

        return cls(features, of_dowhy(features, model))

    @classmethod
    def from_pgmpy(cls, features: Sequence[Feature], network: Any) -> CausalModel:
        """Take a linear Gaussian Bayesian network of pgmpy.

        Parameters
        ----------
        features : sequence of Feature
            The features.
        network : LinearGaussianBayesianNetwork
            A network with its distributions, in people's own units.

        Returns
        -------
        CausalModel
            The model.
        """
        from ._foreign import of_pgmpy

        return cls(features, of_pgmpy(features, network))

    @property
    def graph(self) -> dict[str, list[str]]:
        """The causes of each feature that has any.

        Examples
        --------
        >>> import surefoot as sf
        >>> features = [sf.Feature("income"), sf.Feature("savings")]
        >>> sf.CausalModel(features, {"savings": "0.5 * income + u"}).graph
        {'savings': ['income']}
        """
        return {name: self.parents(name) for name in self.equations}

    def to_networkx(self) -> Any:
        """The causal graph as a ``DiGraph`` of networkx, over all features.

        Returns
        -------
        networkx.DiGraph
            The graph.

        Examples
        --------
        >>> import surefoot as sf
        >>> features = [sf.Feature("income"), sf.Feature("savings")]
        >>> model = sf.CausalModel(features, {"savings": "0.5 * income + u"})
        >>> list(model.to_networkx().edges)   # doctest: +SKIP
        [('income', 'savings')]
        """
        return to_networkx(self.graph, _engine_names(self.features))

    def plot(self) -> Picture:
        """Draw the causal graph, causes to the left of their effects.

        Returns
        -------
        Picture
            The picture.

        Examples
        --------
        >>> import surefoot as sf
        >>> features = [sf.Feature("income"), sf.Feature("savings")]
        >>> sf.CausalModel(features, {"savings": "0.5 * income + u"}).plot()
        <picture: Causal graph>
        """
        from ._plots import plot_graph

        return plot_graph(self.graph, self.features)

    def __len__(self) -> int:
        return len(self.equations)

    def __iter__(self) -> Iterator[str]:
        return iter(self.equations)

    def __getitem__(self, feature: str) -> Equation:
        if feature not in self.equations:
            known = _tables.quoted(list(self.equations))
            raise KeyError(f"there is no equation of `{feature}`; there are {known}")
        return self.equations[feature]

    def _repr_html_(self) -> str:
        return causal_model_html(self)

    def parents(self, feature: str) -> list[str]:
        """The direct causes of a feature.

        Parameters
        ----------
        feature : str
            The name of the feature.

        Returns
        -------
        list[str]
            The names.
        """
        return self._native.parents(feature)

    def counterfactual(
        self,
        people: Any,
        *,
        shift: Mapping[str, float] | None = None,
        set: Mapping[str, float] | None = None,
    ) -> dict[str, NDArray[np.float64]]:
        """What becomes of people if features are shifted by, or set to, something; in own units.

        Their own equations are cut; what follows from them follows.

        Parameters
        ----------
        people : table
            People: a DataFrame (pandas or polars), an Arrow table, a dict of columns, a list of dicts, one
            person as a dict, or an array with a row for each; in their own units.
        shift : mapping, optional
            By how much features change.
        set : mapping, optional
            To what features are set.

        Returns
        -------
        dict[str, NDArray[np.float64]]
            Columns by name, in own units.
        """
        if (shift is None) == (set is None):
            raise CausalModelError("give either `shift` or `set`")
        changes = list((shift if set is None else set).items())  # type: ignore[union-attr]
        source = _tables.prepare(people, self.features).source
        result = self._native.counterfactual(source, changes, set is None)
        return {name: result[:, i] for i, name in enumerate(_engine_names(self.features))}

    def __repr__(self) -> str:
        arrows = [f"{', '.join(self.parents(name))} -> {name}" for name in self.equations]
        return f"CausalModel({'; '.join(arrows)})"


def _restored(
    features: Sequence[Feature], equations: Mapping[str, Equation], fitted: Sequence[FittedEquation]
) -> CausalModel:
    return CausalModel(features, equations, fitted=fitted)


def _engine_names(features: Sequence[Feature]) -> list[str]:
    names: list[str] = []
    for feature in features:
        is_split = feature.kind == "category"
        names += [f"{feature.name}={label}" for label in feature._labels] if is_split else [feature.name]
    return names


def fit(features: Sequence[Feature], people: Any, graph: Graph, **settings: Any) -> CausalModel:
    """Fit a causal model: the former name of :meth:`CausalModel.fit`, accepted for one more release.

    Parameters
    ----------
    features : sequence of Feature
        As there.
    people : table
        As there.
    graph : mapping, pairs, graph, str or path
        As there.
    **settings : object
        As there.

    Returns
    -------
    CausalModel
        The model.

    Examples
    --------
    >>> import warnings, surefoot as sf
    >>> people = {"income": [1.0, 2.0, 4.0, 3.0], "savings": [2.0, 3.0, 6.0, 5.0]}
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     sf.fit(sf.features(people), people, {"savings": ["income"]}, held_out=0)
    CausalModel(income -> savings)
    """
    former_name("fit", "CausalModel.fit")
    return CausalModel.fit(features, people, graph, **settings)
