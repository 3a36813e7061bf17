"""Problems: everything but the people."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Union

import numpy as np
from numpy.typing import NDArray

from . import _engine, _tables
from ._causal import CausalModel
from ._committee import Committee
from ._features import Feature
from ._models import Classifier
from ._uncertainty import Uncertainty, _sections
from .errors import FeatureError, FileError

__all__ = ["Problem"]

#: A problem file read elsewhere lies so deep that `../..` in it stays within.
DEPTH = 8


class Problem:
    """Which features there are, who decides, what causes what, and how much to guard against.

    >>> import surefoot as sf
    >>> features = [
    ...     sf.Feature("income", "increase", mean=3000, std=1500),
    ...     sf.Feature("savings", "increase", mean=8000, std=4000),
    ... ]
    >>> problem = sf.Problem(
    ...     features,
    ...     sf.Classifier.linear([0.8, 0.6], -0.5),
    ...     sf.CausalModel(features, {"savings": "2 * income + u"}),
    ...     epsilon=0.1,
    ... )
    >>> sf.recourse(problem, {"income": 2400, "savings": 6000})[0].action["income"]  # doctest: +ELLIPSIS
    1510.3...

    :param epsilon: how far circumstances may shift, in standard deviations; 0: not at all.
    :param norm: how the size of a shift is measured.
    :param cost: how the effort of an action is measured.
    :param form: ``"relative"``, "raise income by 500", or ``"absolute"``, "reach an income of 3500".
    :param limits_on: what the limits of features are about: ``"outcome"``, how people end up who act,
        including what follows from the action, or ``"action"``, the features acted upon alone.
    :param safety: the margin, in units of the score, kept beyond what the uncertainty demands.
    :param constraints: what people must meet who act, such as ``"income >= 3 * rent"``: linear in the
        features, in their own units.
    :param forbid: transitions that no action may make, ``(feature, from, to)`` of whole numbers,
        levels or categories; each one of them or a list, None for all:
        ``("contract", "none", "permanent")``.
    :param most_changes: how many features an action may change at most; a category counts once.
    :param one_of: lists of names of features, of each of which an action may change at most one:
        ``[["income", "job"]]``.
    :param uncertainty: what else is known of the uncertainty: see :class:`Uncertainty`. Answers hold for
        all of it together.
    :param alternatives: further causal models that may be right, by their names: answers hold for each.
    """

    def __init__(
        self,
        features: Sequence[Feature],
        classifier: Union[Classifier, Committee],
        causal_model: CausalModel | None = None,
        *,
        epsilon: float,
        norm: Literal["l1", "l2", "linf"] = "l2",
        cost: Literal["l1", "l2"] = "l1",
        form: Literal["relative", "absolute"] = "relative",
        limits_on: Literal["outcome", "action"] = "outcome",
        safety: float | None = None,
        constraints: Sequence[str] = (),
        forbid: Sequence[tuple[str, object, object]] = (),
        most_changes: int | None = None,
        one_of: Sequence[Sequence[str]] = (),
        uncertainty: Sequence[Uncertainty] = (),
        alternatives: Mapping[str, CausalModel] | None = None,
    ) -> None:
        self.features = tuple(features)
        model = None if causal_model is None else causal_model._native
        categories, values = _forbidden(self.features, forbid)
        if isinstance(classifier, Committee):
            members, agree = list(classifier.members.items()), classifier.agree
        else:
            members, agree = [("", classifier)], None
        others = [(name, other._native) for name, other in (alternatives or {}).items()]
        self._native = _engine.Problem(
            self.features,
            members,
            agree,
            model,
            others,
            epsilon,
            norm,
            cost,
            form,
            limits_on,
            safety,
            list(constraints),
            categories,
            values,
            most_changes,
            [list(names) for names in one_of],
            _sections(uncertainty),
        )
        settings = {
            "epsilon": epsilon,
            "norm": norm,
            "cost": cost,
            "form": form,
            "limits_on": limits_on,
            "safety": safety,
            "constraints": tuple(constraints),
            "forbid": tuple(forbid),
            "most_changes": most_changes,
            "one_of": tuple(tuple(names) for names in one_of),
            "uncertainty": tuple(uncertainty),
            "alternatives": None if alternatives is None else dict(alternatives),
        }
        self._restore: tuple[Any, ...] = (_built, (self.features, classifier, causal_model, settings))

    @classmethod
    def read(cls, path: Union[str, os.PathLike[str]]) -> Problem:
        """Reads a problem file, TOML or JSON, as the command ``surefoot`` does.

        If anything is wrong with it the :class:`FileError` lists every mistake with its line.
        """
        path = Path(path)
        native = _engine.Problem.read(path)
        # Kept, so that a copy elsewhere (in another process, on another machine) is the same.
        names = [path.name, *(os.fspath(name) for name in native.files)]
        files = {name: (path.parent / name).read_bytes() for name in names}
        return cls._of(native, files, path.name)

    @classmethod
    def _of(cls, native: _engine.Problem, files: dict[str, bytes], name: str) -> Problem:
        problem = cls.__new__(cls)
        problem.features = tuple(Feature(**feature) for feature in native.features)
        problem._native = native
        problem._restore = (_unpacked, (files, name))
        return problem

    def __reduce__(self) -> tuple[Any, ...]:
        return self._restore

    @property
    def epsilon(self) -> float:
        """How far circumstances may shift, in standard deviations."""
        return self._native.epsilon

    @property
    def is_causal(self) -> bool:
        """Whether it has a causal model."""
        return self._native.is_causal

    def score(self, people: Any) -> NDArray[np.float64]:
        """Logit minus the logit of the threshold: favourable where it is not negative."""
        return self._native.score(_tables.prepare(people, self.features).source)

    def __repr__(self) -> str:
        actionable = [feature.name for feature in self.features if feature.change != "fixed"]
        return (
            f"Problem({len(self.features)} features, of which {', '.join(actionable) or 'none'} may change; "
            f"{'causal' if self.is_causal else 'independent'}; epsilon {self.epsilon:.4g})"
        )


def _forbidden(
    features: Sequence[Feature], forbid: Sequence[tuple[str, object, object]]
) -> tuple[list[tuple[str, list[str], list[str]]], list[tuple[str, list[float], list[float]]]]:
    """Transitions between categories, and between whole numbers, as the engine knows both."""
    known = {feature.name: feature for feature in features}
    categories, values = [], []
    for name, *ends in forbid:
        if name not in known:
            raise FeatureError(f"forbid: `{name}` is no feature; there are {_tables.quoted(list(known))}")
        feature = known[name]
        labels: list[list[object]] = []
        for end in ends:
            several = list(end) if isinstance(end, (list, tuple, set)) else [end]
            labels.append([] if end is None else several)
        if feature.kind not in ("category", "ordinal"):
            start, target = ([float(str(value)) for value in end] for end in labels)
            values.append((name, start, target))
            continue
        for label in (_tables.label(value) for end in labels for value in end):
            if label not in feature._labels:
                raise FeatureError(
                    f"forbid: `{label}` is no category of `{name}`; there are {_tables.quoted(feature._labels)}"
                )
        if feature.kind == "ordinal":
            start, target = ([float(feature._labels.index(_tables.label(v))) for v in end] for end in labels)
            values.append((name, start, target))
        else:
            left, entered = ([f"{name}={_tables.label(value)}" for value in end] for end in labels)
            categories.append((name, left, entered))
    return categories, values


def _built(
    features: Sequence[Feature],
    classifier: Union[Classifier, Committee],
    causal_model: CausalModel | None,
    settings: dict[str, Any],
) -> Problem:
    return Problem(features, classifier, causal_model, **settings)


def _unpacked(files: dict[str, bytes], name: str) -> Problem:
    with tempfile.TemporaryDirectory() as folder:
        inside = Path(folder, *map(str, range(DEPTH)))
        for relative, content in files.items():
            path = Path(os.path.normpath(inside / relative))
            if Path(folder) not in path.parents:
                raise FileError(
                    f"{name}: names {relative}; make the path relative, so that it can be sent along"
                )
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return Problem._of(_engine.Problem.read(inside / name), files, name)
