"""Audits: which groups of people have recourse, and at which cost."""

from __future__ import annotations

import html
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _engine, _progress, _tables
from ._answers import Answers
from ._problem import Problem
from ._settings import SEARCH, renamed, threads
from ._verbs import Actions, _actions, _count
from .errors import FileError, MissingPackageError

if TYPE_CHECKING:
    import pandas

__all__ = ["Audit", "audit"]


class Audit:
    """What an audit found: in words, as tables, as JSON and as a page.

    In a notebook it shows its page.

    Examples
    --------
    >>> import surefoot as sf
    >>> feature = sf.Feature("income", "increase", mean=3000, std=1500, limits=(0, 6000))
    >>> problem = sf.Problem([feature], sf.Classifier.linear([1.0]), epsilon=0.1)
    >>> audit = sf.audit(problem, {"income": [2400, 3600], "town": ["a", "b"]}, by="town")
    >>> audit.to_pandas("groups")["name"].tolist()
    ['everybody', 'town: a', 'town: b']
    """

    def __init__(self, native: _engine.Audit, title: str) -> None:
        self._native = native
        self._title = title
        #: Everything, as the file ``audit.json`` has it.
        self.json: dict[str, Any] = json.loads(native.json())

    @property
    def summary(self) -> str:
        """The findings in words, a line for each."""
        return "\n".join(self._native.findings())

    @property
    def html(self) -> str:
        """The page, with everything in it."""
        return self._native.page(self._title)

    @property
    def tables(self) -> dict[str, dict[str, list[Any]]]:
        """Columns by name, for each table: ``groups``, ``pairs``, ``asked``, ``twins`` and ``advice``.

        Ranges have two columns, ``..._lower`` and ``..._upper``; ``None`` stands for a number that is unknown or that
        nothing limits.
        """
        groups = [("everybody", self.json["everybody"])]
        pairs: list[dict[str, Any]] = []
        twins: list[dict[str, Any]] = []
        for grouping in self.json["groupings"]:
            name, members = grouping["name"], grouping["groups"]
            groups += [(name, group) for group in members]
            for table, rows, ends in (
                (pairs, grouping["pairs"], ("first", "second")),
                (twins, grouping["twins"], ("from", "to")),
            ):
                for row in rows:
                    named = {end: members[row[end]]["name"] for end in ends}
                    table.append(_flat({"grouping": name, **row, **named}))
        rows, asked = [], []
        for name, group in groups:
            plain = {key: value for key, value in group.items() if key != "asked"}
            cost = dict(plain.pop("cost") or {})
            for quantile in cost.pop("quantiles", []):
                cost[f"quantile_{quantile['share']:g}"] = quantile["cost"]
            rows.append(_flat({"grouping": name, **plain, "cost": cost}))
            for column in group["asked"]:
                asked.append(_flat({"grouping": name, "group": group["name"], **column}))
        advice = [_flat(row) for row in self.json["advice"] or []]
        tables = {"groups": rows, "pairs": pairs, "asked": asked, "twins": twins, "advice": advice}
        return {name: _columns(table) for name, table in tables.items()}

    def to_pandas(self, table: str = "groups") -> pandas.DataFrame:
        """One of the tables as a pandas DataFrame.

        Parameters
        ----------
        table : str, default "groups"
            The name of the table.

        Returns
        -------
        pandas.DataFrame
            A row for each.
        """
        try:
            import pandas
        except ImportError:
            raise MissingPackageError("to_pandas needs pandas; pip install pandas") from None
        tables = self.tables
        if table not in tables:
            raise KeyError(f"there is no table `{table}`; there are {', '.join(tables)}")
        frame: pandas.DataFrame = pandas.DataFrame(tables[table])
        return frame

    def write(self, folder: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Writes ``audit.html`` and ``audit.json`` into a folder, which is made if it does not exist.

        Parameters
        ----------
        folder : path
            The folder.
        overwrite : bool, default False
            Replace the files of an earlier audit.
        """
        place = Path(folder)
        files = {place / "audit.html": self.html, place / "audit.json": self._native.json()}
        there = [path for path in files if path.exists()]
        if there and not overwrite:
            raise FileError(
                f"{place}: has {there[0].name} already; name another folder, or give overwrite=True"
            )
        try:
            place.mkdir(exist_ok=True)
            written = []
            for path, text in files.items():
                with tempfile.NamedTemporaryFile(
                    "w", encoding="utf-8", dir=place, prefix=".surefoot-", suffix=path.suffix, delete=False
                ) as file:
                    written.append((file.name, path))
                    file.write(text)
            for name, path in written:
                os.replace(name, path)
        except OSError as error:
            raise FileError(f"{place}: cannot be written: {error}") from None

    def __repr__(self) -> str:
        counts = self.json["everybody"]["counts"]
        return f"<audit of {counts['people']} people, {counts['turned_down']} of them turned down>"

    def __str__(self) -> str:
        return self.summary

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{html.escape(self.html)}" title="Audit of {html.escape(self._title)}" '
            'style="width: 100%; height: 42rem; border: 1px solid" sandbox></iframe>'
        )


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row without rows in it: names of parts are joined by ``_``."""
    flat: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, Mapping):
            flat.update({f"{name}_{part}": inner for part, inner in _flat(value).items()})
        elif name == "reached":
            flat[name] = {entry["category"]: entry["people"] for entry in value}
        else:
            flat[name] = value
    return flat


def _columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    names = dict.fromkeys(name for row in rows for name in row)
    # A part that is unknown as a whole has no columns of its own.
    parts = {name for name in names if any(other.startswith(f"{name}_") for other in names)}
    empty = {name for name in parts if all(row.get(name) is None for row in rows)}
    return {name: [row.get(name) for row in rows] for name in names if name not in empty}


@renamed(seed="random_state", **SEARCH)
def audit(
    problem: Problem,
    people: Any,
    by: str | Sequence[str] = (),
    *,
    actions: Answers | Actions | Any = None,
    id: str | None = None,
    method: str = "auto",
    gap: float = 0.01,
    max_evaluations: int | None = None,
    max_seconds: float | None = None,
    random_state: int = 1,
    title: str = "people",
    progress: bool = False,
    n_jobs: int | None = None,
) -> Audit:
    """State which groups of people have recourse and at which cost.

    For everybody, each group and each pair of groups: who is turned down, who has recourse, what it costs and asks, how
    fragile unguarded actions are and what it costs to be safe; and, for groups by a feature, what would be different for the
    same person in another group, by the causal model. Ranges are proven; intervals are for people like these.

    Parameters
    ----------
    problem : Problem
        The problem.
    people : table
        People: a DataFrame (pandas or polars), an Arrow table, a dict of columns, a list of dicts, one person
        as a dict, or an array with a row for each; in their own units.
    by : str or sequence of str, default ()
        A column (``"sex"``), a column of numbers with cut points (``"age: 30, 50"``) or several columns at
        once (``"sex, age: 30, 50"``); or a list of these. Columns need not be features.
    actions : Answers or Actions or table, optional
        Actions that others advised, to be judged as well: as in :func:`certify`.
    id : str, optional
        As in :func:`recourse`.
    method : str, default "auto"
        As in :func:`recourse`, but one that proves its answers.
    gap : float, default 0.01
        As in :func:`recourse`.
    max_evaluations : int, optional
        As in :func:`recourse`, for each of the searches about a person: with and without uncertainty, and for
        each other group of a feature.
    max_seconds : float, optional
        As in :func:`recourse`.
    random_state : int, default 1
        The seed of the intervals that are drawn.
    title : str, default "people"
        What the page calls the people.
    progress : bool, default False
        Show a bar; needs tqdm.
    n_jobs : int, optional
        How many threads to use; all of them for None and -1.

    Returns
    -------
    Audit
        The audit.

    Examples
    --------
    >>> import surefoot as sf
    >>> features = [sf.Feature("income", "increase"), sf.Feature("sex", kind="binary")]
    >>> problem = sf.Problem(features, sf.Classifier.linear([1.0, 0.5], -1.0), epsilon=0.1)
    >>> audit = sf.audit(problem, {"income": [0.0, 0.1, -0.2, 0.4], "sex": [0, 0, 1, 1]}, "sex")
    >>> audit
    <audit of 4 people, 4 of them turned down>
    >>> audit.tables["groups"]["name"]
    ['everybody', 'sex: 0', 'sex: 1']
    >>> [round(cost, 3) for cost in audit.tables["twins"]["difference_mean_upper"]]
    [0.5, -0.5]
    """
    requests = [by] if isinstance(by, str) else list(by)
    given = _tables.prepare(people, problem.features, id)
    known, further = [], {}
    if not isinstance(people, np.ndarray) and requests:
        table = _named(people)
        known = _tables.column_names(table)
        needed = _engine.audit_columns(problem._native, requests, known)
        further = {name: _cells(_tables.column(table, name)) for name in needed}
    native_actions = None if actions is None else _actions(problem, actions)
    with _progress.bar(progress, _count(given.source), "people") as update, threads(n_jobs):
        native = _engine.audit(
            problem._native,
            given.source,
            requests,
            known,
            further,
            native_actions,
            given.ids,
            given.id,
            method,
            gap,
            max_evaluations,
            max_seconds,
            random_state,
            update,
        )
    return Audit(native, title)


def _named(people: Any) -> Any:
    """A table with named columns."""
    if hasattr(people, "to_frame") and hasattr(people, "items"):
        people = dict(people.items())
    if isinstance(people, Mapping) and all(np.ndim(value) == 0 for value in people.values()):
        return {name: [value] for name, value in people.items()}
    if isinstance(people, Sequence) and not isinstance(people, str):
        return _tables.records(people, [])
    return people


def _cells(values: Any) -> list[str]:
    """The cells of a column as text; empty where nothing is stated."""
    each = _tables.to_list(values)
    return ["" if _tables.is_missing(value) else _tables.label(value) for value in each]
