"""Answers, and other tables with a row for each person."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Union, overload

import numpy as np
from numpy.typing import NDArray

from . import _engine
from ._features import Feature
from .errors import MissingPackageError

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

__all__ = ["Answer", "Answers", "Table"]

Column = Union[NDArray[np.float64], NDArray[np.bool_], "list[Union[str, None]]"]


class Table:
    """A row for each person, in the order in which they were given."""

    def __init__(self, native: _engine.Table, features: Sequence[Feature], index: Any = None) -> None:
        self._table = native
        self._features = tuple(features)
        self._index = index

    def _native_table(self) -> _engine.Table:
        return self._table

    def __len__(self) -> int:
        return len(self._native_table())

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
        return list(self._native_table().columns())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The Arrow PyCapsule interface: whoever speaks Arrow takes it without a copy."""
        return self._native_table().__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> pyarrow.Table:
        """As a pyarrow Table, without copying."""
        try:
            import pyarrow
        except ImportError:
            raise MissingPackageError("to_arrow needs pyarrow; pip install pyarrow") from None
        return pyarrow.table(self)

    def to_polars(self) -> polars.DataFrame:
        """As a polars DataFrame, without copying where polars allows it."""
        try:
            import polars
        except ImportError:
            raise MissingPackageError("to_polars needs polars; pip install polars") from None
        return polars.DataFrame(self)

    def to_pandas(self) -> pandas.DataFrame:
        """As a pandas DataFrame, with the index of the people if they came in one."""
        try:
            import pandas
        except ImportError:
            raise MissingPackageError("to_pandas needs pandas; pip install pandas") from None
        columns = self._named(self._native_table().columns())
        frame: pandas.DataFrame = pandas.DataFrame(columns, index=self._index)
        return frame

    def _named(self, columns: dict[str, Any]) -> dict[str, Any]:
        """Categories as people's tables have them, and not as text."""
        for feature in self._features:
            if all(isinstance(category, str) for category in feature.categories):
                continue
            known = dict(zip(feature._labels, feature.categories))
            for name in (f"action:{feature.name}", f"counterfactual:{feature.name}"):
                if name in columns:
                    columns[name] = [known.get(label) for label in columns[name]]
        return columns

    def column(self, name: str) -> Column:
        """One column: an array of numbers (NaN where there is none) or of truths, or a list of texts."""
        columns = self._named(self._native_table().columns())
        if name not in columns:
            raise KeyError(f"there is no column `{name}`; there are {', '.join(columns)}")
        column: Column = columns[name]
        return column

    def __repr__(self) -> str:
        return f"<{len(self)} rows: {', '.join(self.column_names)}>"


@dataclass(frozen=True)
class Answer:
    """What one person can do."""

    id: str
    #: ``"found"`` (an action that is proven to hold), ``"unproved"`` (an action of which nothing is
    #: proven), ``"impossible"`` (proven: there is none), ``"undecided"`` (neither is proven) or
    #: ``"favourable"`` (already).
    status: str
    #: The answer in words.
    text: str
    #: The person, by column.
    person: dict[str, Any]
    #: The changes to make, in own units, by feature; of categories the one to reach. Features that are
    #: not acted upon are left out. One with a change of 0, or with the category that the person has, is
    #: held where it is although its causes, or circumstances, would move it.
    action: dict[str, Any]
    #: What becomes of the person; empty without an action.
    counterfactual: dict[str, Any]
    #: The effort, in standard deviations.
    cost: float | None
    #: Proven: nothing that holds costs less.
    cost_bound: float | None
    #: Proven: the margin that is left at worst.
    margin: float | None

    def __repr__(self) -> str:
        return f"{self.id}: {self.text}"

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        rows = []
        for name, value in self.person.items():
            change = self.action.get(name)
            then = self.counterfactual.get(name)
            told = f"{change:+.6g}" if isinstance(change, float) else _shown(change)
            cells = [name, _shown(value), told, _shown(then)]
            style = ' style="font-weight: bold"' if change else ""
            rows.append(f"<tr{style}>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>")
        head = "".join(f"<th>{title}</th>" for title in ("", "now", "change", "then"))
        return (
            f"<p><strong>{html.escape(self.id)}: {html.escape(self.status)}</strong></p>"
            f"<p>{html.escape(self.text)}</p>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
        )


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


class Answers(Table):
    """Everybody's answers: a table, of which each row can be told in words.

    ``len(answers)``, ``answers[0]``, ``for answer in answers``; ``answers.to_pandas()``.
    """

    def __init__(self, native: _engine.Answers, features: Sequence[Feature], index: Any = None) -> None:
        self._native = native
        self._features = tuple(features)
        self._index = index

    def _native_table(self) -> _engine.Table:
        # Made by the engine when it is first asked for.
        return self._native.table()

    def __len__(self) -> int:
        return len(self._native)

    @property
    def counts(self) -> dict[str, int]:
        """How many got which answer."""
        return self._native.counts()

    @overload
    def __getitem__(self, index: int) -> Answer: ...

    @overload
    def __getitem__(self, index: slice) -> list[Answer]: ...

    def __getitem__(self, index: int | slice) -> Answer | list[Answer]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(f"there are {len(self)} answers, no number {index}")
        index %= len(self)
        row = self._named({name: [value] for name, value in self._native_table().row(index).items()})
        person = self._named({f"counterfactual:{k}": [v] for k, v in self._native.person(index).items()})
        plain: dict[str, Any] = {name: value for name, [value] in row.items()}
        return Answer(
            plain["id"],
            plain["status"],
            self._native.text(index),
            {name.partition(":")[2]: value for name, [value] in person.items()},
            _part(plain, "action:"),
            _part(plain, "counterfactual:"),
            plain["cost"],
            plain["cost_bound"],
            plain["margin"],
        )

    def __iter__(self) -> Iterator[Answer]:
        return (self[i] for i in range(len(self)))

    def counterfactuals(self) -> pandas.DataFrame:
        """Those who have an action as they are afterwards, in the columns of the people's table."""
        frame: pandas.DataFrame = self.to_pandas()
        columns = {f"counterfactual:{feature.name}": feature.name for feature in self._features}
        found: pandas.DataFrame = frame.loc[frame["status"].isin(["found", "unproved"]), list(columns)]
        renamed: pandas.DataFrame = found.rename(columns=columns)
        return renamed

    def __repr__(self) -> str:
        counts = ", ".join(f"{count} {word}" for word, count in self.counts.items() if count)
        return f"<{len(self)} answers: {counts}>"


def _part(row: dict[str, Any], prefix: str) -> dict[str, Any]:
    return {k[len(prefix) :]: v for k, v in row.items() if k.startswith(prefix) and v is not None}
