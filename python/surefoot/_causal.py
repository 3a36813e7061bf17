"""Causal models: how features follow from each other."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Union

import numpy as np
from numpy.typing import NDArray

from . import _engine, _progress, _tables
from ._features import Feature
from ._models import Equation
from ._uncertainty import Uncertainty
from .errors import CausalModelError, FitWarning, SettingError

#: Causes by feature, or pairs of cause and effect, or a networkx graph.
Graph = Union[Mapping[str, Iterable[str]], Iterable[tuple[str, str]], Any]

__all__ = ["CausalModel", "FittedEquation", "Graph", "fit"]


@dataclass(frozen=True)
class FittedEquation:
    """How well an equation was fitted."""

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

    def parents(self, feature: str) -> list[str]:
        """The direct causes of a feature."""
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


def _causes(graph: Graph) -> dict[str, list[str]]:
    """Causes by feature, the order in which effects are named."""
    if isinstance(graph, Mapping):
        return {effect: list(causes) for effect, causes in graph.items()}
    edges = getattr(graph, "edges", graph)
    if isinstance(edges, str):
        raise CausalModelError(
            "the graph is text; give causes by feature, such as {'income': ['age', 'sex']}"
        )
    causes: dict[str, list[str]] = {}
    for cause, effect in edges() if callable(edges) else edges:
        causes.setdefault(effect, []).append(cause)
    return causes


def fit(
    features: Sequence[Feature],
    people: Any,
    graph: Graph,
    *,
    shape: Literal["linear", "network"] = "linear",
    hidden: Sequence[int] = (100,),
    epochs: int = 30,
    batch: int = 100,
    step: float = 0.005,
    held_out: float = 0.2,
    seed: int = 0,
    errors: float | None = None,
    band: float | None = None,
    progress: bool = False,
) -> CausalModel:
    """Fits a causal model to a table, given who causes whom.

    What casts doubt on an equation is warned of (:class:`FitWarning`) and in ``fitted``.

    >>> import numpy as np, surefoot as sf
    >>> income = np.linspace(-2, 2, 50)
    >>> people = {"income": income, "savings": 0.5 * income + np.sin(37 * income) / 9}
    >>> model = sf.fit(sf.features(people), people, {"savings": ["income"]})
    >>> model.fitted[0].r_squared > 0.9
    True

    :param graph: causes by feature, ``{"savings": ["income"]}``, or pairs of cause and effect, or a
        networkx graph.
    :param shape: linear equations by least squares, or dense networks with ``hidden`` layers of
        tanh by ``epochs`` passes of Adam.
    :param held_out: the share of the rows kept apart to judge the equations by.
    :param errors: a probability: ``fitted`` has the largest error of each coefficient of a linear equation with it,
        ``within``, and the :class:`Uncertainty <surefoot.Uncertainty>` that guards against them.
    :param band: a probability: ``fitted`` has the half-width of the band around each equation in which the value of a
        further person is with it, judged by all that is left unexplained of the rows kept apart.
    """
    if errors is not None and shape != "linear":
        raise SettingError(
            "errors are those of the coefficients of linear equations; for networks give a band"
        )
    causes = list(_causes(graph).items())
    settings = {
        "shape": shape, "hidden": list(hidden), "epochs": epochs, "batch": batch, "step": step,
        "held_out": held_out, "seed": seed, "errors": errors, "band": band,
    }  # fmt: skip
    source = _tables.prepare(people, features).source
    steps = len(causes) * epochs if shape == "network" else None
    with _progress.bar(progress and steps is not None, steps, "epoch") as update:
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
            warnings.warn(warning, FitWarning, stacklevel=2)
    return CausalModel(features, equations, fitted=told)
