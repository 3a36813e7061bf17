"""Problems: everything but the people."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Union

import numpy as np
from numpy.typing import NDArray

from . import _engine, _tables
from ._causal import CausalModel
from ._committee import Committee
from ._features import Feature
from ._html import problem_html
from ._models import Classifier
from ._uncertainty import Uncertainty, _sections
from ._write import (
    classifier_fields,
    equation_fields,
    equation_of,
    feature_fields,
    rule_fields,
    save,
    to_json,
    to_toml,
)
from .errors import FeatureError, FileError

__all__ = ["Problem"]

#: A problem file read elsewhere lies so deep that `../..` in it stays within.
DEPTH = 8


class Problem:
    """Which features there are, who decides, what causes what, and how much to guard against.

    Parameters
    ----------
    features : sequence of Feature
        The features.
    classifier : Classifier or Committee
        Who decides.
    causal_model : CausalModel, optional
        How features follow from each other; independent unless given.
    epsilon : float
        How far circumstances may shift, in standard deviations; 0: not at all.
    norm : {"l1", "l2", "linf"}, default "l2"
        How the size of a shift is measured.
    cost : {"l1", "l2"}, default "l1"
        How the effort of an action is measured.
    form : {"relative", "absolute"}, default "relative"
        ``"relative"``, "raise income by 500", or ``"absolute"``, "reach an income of 3500".
    limits_on : {"outcome", "action"}, default "outcome"
        What the limits of features are about: ``"outcome"``, how people end up who act, including what
        follows from the action, or ``"action"``, the features acted upon alone.
    safety : float, optional
        The margin, in units of the score, kept beyond what the uncertainty demands.
    constraints : sequence of str, default ()
        What people must meet who act, such as ``"income >= 3 * rent"``: linear in the features, in their own
        units.
    forbid : sequence of tuple[str, object, object, default ()
        Transitions that no action may make, ``(feature, from, to)`` of whole numbers, levels or categories;
        each one of them or a list, None for all: ``("contract", "none", "permanent")``.
    most_changes : int, optional
        How many features an action may change at most; a category counts once.
    one_of : sequence of sequence of str, default ()
        Lists of names of features, of each of which an action may change at most one: ``[["income",
        "job"]]``.
    uncertainty : sequence of Uncertainty, default ()
        What else is known of the uncertainty: see :class:`Uncertainty`. Answers hold for all of it together.
    alternatives : mapping of str to CausalModel, optional
        Further causal models that may be right, by their names: answers hold for each.

    Examples
    --------
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
        self._classifier: Union[Classifier, Committee, None] = classifier
        self._causal_model = causal_model
        self._settings: dict[str, Any] | None = settings
        self._files: dict[str, bytes] | None = None

    @classmethod
    def read(cls, path: Union[str, os.PathLike[str]]) -> Problem:
        """Reads a problem file, TOML or JSON, as the command ``surefoot`` does.

        If anything is wrong with it the :class:`FileError` lists every mistake with its line.

        Parameters
        ----------
        path : path
            The file.

        Returns
        -------
        Problem
            The problem.
        """
        path = Path(path)
        native = _engine.Problem.read(path)
        # Kept, so that a copy elsewhere (in another process, on another machine) is the same.
        names = [path.name, *(os.fspath(name) for name in native.files)]
        # The problem file comes first.
        files = {name: (path.parent / name).read_bytes() for name in names}
        return cls._of(native, files, path.name)

    @classmethod
    def _of(cls, native: _engine.Problem, files: dict[str, bytes], name: str) -> Problem:
        problem = cls.__new__(cls)
        problem.features = tuple(Feature(**feature) for feature in native.features)
        problem._native = native
        problem._restore = (_unpacked, (files, name))
        problem._classifier = problem._causal_model = problem._settings = None
        problem._files = files
        return problem

    def __reduce__(self) -> tuple[Any, ...]:
        return self._restore

    def write(self, path: Union[str, os.PathLike[str]], *, overwrite: bool = False) -> None:
        """Write a problem file, with the files of its models beside it.

        It says the same as this problem: answers are the same to the last bit, and proofs stay valid.

        Parameters
        ----------
        path : path
            The file: TOML, or JSON if its name ends in ``.json``. A problem that was read from a file keeps its
            language, comments and all.
        overwrite : bool, default False
            Replace files that exist.

        Examples
        --------
        >>> import surefoot as sf
        >>> feature = sf.Feature("income", "increase", mean=3000, std=1500)
        >>> problem = sf.Problem([feature], sf.Classifier.linear([1.0]), epsilon=0.1)
        >>> problem.write("written.toml")
        >>> sf.Problem.read("written.toml").epsilon
        0.1
        """
        path = Path(path)
        as_json = path.suffix.lower() == ".json"
        if self._files is not None:
            own, *others = self._files
            if as_json != own.lower().endswith(".json"):
                raise FileError(f"{path}: the problem was read from {own}; give the name the same ending")
            files = {path.name: self._files[own], **{name: self._files[name] for name in others}}
            for name in others:
                place = Path(os.path.normpath(name))
                if place.is_absolute() or ".." in place.parts:
                    raise FileError(
                        f"{path}: the problem names {name}, which is not in its folder; move it there first"
                    )
        else:
            fields, beside = self._fields(path.stem)
            files = {path.name: (to_json if as_json else to_toml)(fields).encode(), **beside}
        save(path, files, overwrite)

    def _fields(self, stem: str) -> tuple[dict[str, Any], dict[str, bytes]]:
        """The fields of a problem file, and the files that it names."""
        settings = self._settings or {}
        fields: dict[str, Any] = {
            name: settings[name] for name in ("epsilon", "norm", "cost", "form", "limits_on")
        }
        for name in ("safety", "most_changes"):
            if settings[name] is not None:
                fields[name] = settings[name]
        files: dict[str, bytes] = {}
        classifier = self._classifier
        sections: list[dict[str, Any]] = []
        if isinstance(classifier, Committee):
            fields["agree"] = classifier.agree
            members = []
            for number, (name, member) in enumerate(classifier.members.items(), 1):
                of_member, beside = classifier_fields(member, f"{stem}.classifier.{number}")
                members.append({"name": name, **of_member})
                files |= beside
            stated: Any = members
            uncertain = {member.uncertain_weights for member in classifier.members.values()}
        elif classifier is not None:
            stated, beside = classifier_fields(classifier, f"{stem}.classifier")
            files |= beside
            uncertain = {classifier.uncertain_weights}
        if len(uncertain) > 1:
            raise FileError(
                "a problem file has one statement about the weights of all members of a committee"
            )
        for weights in uncertain:
            if weights is None:
                continue
            sections.append({"of": "classifier", weights[0]: weights[1]})
        fields["feature"] = [feature_fields(feature) for feature in self.features]
        if self._causal_model is not None:
            equations, beside = equation_fields(self._causal_model, f"{stem}.equations.safetensors")
            files |= beside
            if equations["equation"]:
                fields |= equations
        if settings["constraints"]:
            fields["constraint"] = [{"rule": rule} for rule in settings["constraints"]]
        if settings["forbid"]:
            fields["forbid"] = rule_fields(settings["forbid"], self.features)
        if settings["one_of"]:
            fields["one_of"] = [{"features": list(names)} for names in settings["one_of"]]
        for number, (name, model) in enumerate((settings["alternatives"] or {}).items(), 1):
            file = f"{stem}.alternative.{number}.toml"
            equations, beside = equation_fields(model, f"{stem}.alternative.{number}.safetensors")
            if not equations["equation"]:
                # A file has an equation at least; this one says that the feature has no causes.
                numeric = [feature.name for feature in self.features if feature.kind != "category"]
                if not numeric:
                    raise FileError(
                        f"the alternative `{name}` has no equations, which a problem file cannot say"
                    )
                equations = {"equation": [{"feature": numeric[0], "formula": "u"}]}
            files |= {file: f"# {json.dumps(name)}\n{to_toml(equations)}".encode(), **beside}
            sections.append({"of": "causal model", "equations": file})
        sections += [json.loads(one._section) for one in settings["uncertainty"]]
        if sections:
            fields["uncertainty"] = sections
        fields["classifier"] = stated
        return fields, files

    def _read_parts(self) -> None:
        """Reads classifier and causal model from the files of a problem that was read."""
        if self._files is None or self._classifier is not None:
            return
        with tempfile.TemporaryDirectory() as folder:
            path = _unpack(self._files, next(iter(self._files)), folder)
            classifiers, agree, equations = _engine.problem_parts(path)
            made: dict[str, Classifier] = {}
            for number, stated in enumerate(classifiers, 1):
                settings = {"threshold": stated["threshold"], "inputs": stated["inputs"]}
                if stated["layers"] is not None:
                    made_of = Classifier(tuple(stated["layers"]), stated["activation"], **settings)
                elif stated["is_onnx"]:
                    made_of = Classifier.from_onnx(path.parent / str(stated["file"]), **settings)
                else:
                    made_of = Classifier.from_trees(path.parent / str(stated["file"]), **settings)
                made[stated["name"] or str(number)] = made_of
        if equations:
            self._causal_model = CausalModel(
                self.features, {stated["feature"]: equation_of(stated) for stated in equations}
            )
        single = next(iter(made.values()))
        self._classifier = single if agree is None else Committee(made, agree=agree)

    @property
    def classifier(self) -> Union[Classifier, Committee]:
        """The classifier that decides, or the committee of several.

        Examples
        --------
        >>> import surefoot as sf
        >>> feature = sf.Feature("income", "increase", mean=3000, std=1500)
        >>> sf.Problem([feature], sf.Classifier.linear([1.0]), epsilon=0.1).classifier
        Classifier(linear in 1 feature, threshold 0.5)
        """
        self._read_parts()
        assert self._classifier is not None
        return self._classifier

    @property
    def causal_model(self) -> CausalModel | None:
        """The causal model; None if features are independent.

        Examples
        --------
        >>> import surefoot as sf
        >>> features = [sf.Feature("income", "increase"), sf.Feature("savings")]
        >>> model = sf.CausalModel(features, {"savings": "0.5 * income + u"})
        >>> sf.Problem(features, sf.Classifier.linear([1.0, 1.0]), model, epsilon=0.1).causal_model
        CausalModel(income -> savings)
        """
        self._read_parts()
        return self._causal_model

    @property
    def graph(self) -> dict[str, list[str]]:
        """The causes of each feature that has any, as :meth:`CausalModel.fit` takes them.

        Examples
        --------
        >>> import surefoot as sf
        >>> features = [sf.Feature("income", "increase"), sf.Feature("savings")]
        >>> model = sf.CausalModel(features, {"savings": "0.5 * income + u"})
        >>> sf.Problem(features, sf.Classifier.linear([1.0, 1.0]), model, epsilon=0.1).graph
        {'savings': ['income']}
        """
        return dict(self._native.graph())

    def __len__(self) -> int:
        return len(self.features)

    def __iter__(self) -> Iterator[Feature]:
        return iter(self.features)

    def __getitem__(self, name: str) -> Feature:
        for feature in self.features:
            if feature.name == name:
                return feature
        known = _tables.quoted([feature.name for feature in self.features])
        raise KeyError(f"there is no feature `{name}`; there are {known}")

    @property
    def epsilon(self) -> float:
        """How far circumstances may shift, in standard deviations."""
        return self._native.epsilon

    @property
    def is_causal(self) -> bool:
        """Whether it has a causal model."""
        return self._native.is_causal

    def score(self, people: Any) -> NDArray[np.float64]:
        """Logit minus the logit of the threshold: favourable where it is not negative.

        Parameters
        ----------
        people : table
            People: a DataFrame (pandas or polars), an Arrow table, a dict of columns, a list of dicts, one
            person as a dict, or an array with a row for each; in their own units.

        Returns
        -------
        NDArray[np.float64]
            A score for each person; favourable where it is not negative.
        """
        return self._native.score(_tables.prepare(people, self.features).source)

    def __repr__(self) -> str:
        actionable = [feature.name for feature in self.features if feature.change != "fixed"]
        return (
            f"Problem({len(self.features)} features, of which {', '.join(actionable) or 'none'} may change; "
            f"{'causal' if self.is_causal else 'independent'}; epsilon {self.epsilon:.4g})"
        )

    def _repr_html_(self) -> str:
        return problem_html(self)


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
        return Problem._of(_engine.Problem.read(_unpack(files, name, folder)), files, name)


def _unpack(files: Mapping[str, bytes], name: str, folder: str) -> Path:
    """Writes a problem file with the files that it names into a folder; where it is."""
    inside = Path(folder, *map(str, range(DEPTH)))
    for relative, content in files.items():
        path = Path(os.path.normpath(inside / relative))
        if Path(folder) not in path.parents:
            raise FileError(f"{name}: names {relative}; make the path relative, so that it can be sent along")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return inside / name
