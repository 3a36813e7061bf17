"""Answers, and other tables with a row for each person."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union, overload

import numpy as np
from numpy.typing import NDArray

from . import _engine
from ._features import Feature
from ._html import answer_html, answers_html
from ._picture import Picture
from ._write import save
from .errors import MissingPackageError, SettingError

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from ._problem import Problem

__all__ = ["Answer", "Answers", "Table"]

Column = Union[NDArray[np.float64], NDArray[np.bool_], "list[Union[str, None]]"]


class Table:
    """A row for each person, in the order in which they were given.

    Examples
    --------
    >>> import surefoot as sf
    >>> feature = sf.Feature("income", "increase", mean=3000, std=1500, limits=(0, 6000))
    >>> problem = sf.Problem([feature], sf.Classifier.linear([1.0]), epsilon=0.1)
    >>> table = sf.certify(problem, {"income": [2400]}, {"income": [800]})
    >>> len(table), table.column("verdict")
    (1, ['holds'])
    """

    def __init__(self, native: _engine.Table, features: Sequence[Feature], index: Any = None) -> None:
        self._table = native
        self._features = tuple(features)
        self._index = index

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored_table, (
            type(self),
            self._table.to_columns(),
            self._features,
            self._index,
            self._further(),
        )

    def _further(self) -> dict[str, Any]:
        """Attributes beside the rows, which a copy in another process has too."""
        return {}

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
        """As a pyarrow Table, without copying.

        Returns
        -------
        pyarrow.Table
            The same rows.
        """
        try:
            import pyarrow
        except ImportError:
            raise MissingPackageError("to_arrow needs pyarrow; pip install pyarrow") from None
        return pyarrow.table(self)

    def to_polars(self) -> polars.DataFrame:
        """As a polars DataFrame, without copying where polars allows it.

        Returns
        -------
        polars.DataFrame
            The same rows.
        """
        try:
            import polars
        except ImportError:
            raise MissingPackageError("to_polars needs polars; pip install polars") from None
        return polars.DataFrame(self)

    def to_pandas(self) -> pandas.DataFrame:
        """As a pandas DataFrame, with the index of the people if they came in one.

        Returns
        -------
        pandas.DataFrame
            A row for each.
        """
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
        """One column: an array of numbers (NaN where there is none) or of truths, or a list of texts.

        Parameters
        ----------
        name : str
            The name.

        Returns
        -------
        Column
            The values of the column.
        """
        columns = self._named(self._native_table().columns())
        if name not in columns:
            raise KeyError(f"there is no column `{name}`; there are {', '.join(columns)}")
        column: Column = columns[name]
        return column

    def __repr__(self) -> str:
        return f"<{len(self)} rows: {', '.join(self.column_names)}>"


def _restored_table(
    kind: type[Table], columns: Any, features: Sequence[Feature], index: Any, further: dict[str, Any]
) -> Table:
    table = kind.__new__(kind)
    Table.__init__(table, _engine.Table.from_columns(columns), features, index)
    table.__dict__.update(further)
    return table


@dataclass(frozen=True)
class Answer:
    """What one person can do.

    ``answer["income"]`` is the change of a feature, ``len(answer)`` how many are changed, and iteration goes over
    their names.

    Examples
    --------
    >>> import surefoot as sf
    >>> feature = sf.Feature("income", "increase", mean=3000, std=1500)
    >>> problem = sf.Problem([feature], sf.Classifier.linear([1.0]), epsilon=0.1)
    >>> answer = sf.recourse(problem, {"income": 2417})[0]
    >>> list(answer), round(answer["income"], 1)
    (['income'], 733.0)
    """

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
    _features: tuple[Feature, ...] = field(default=(), repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.action)

    def __bool__(self) -> bool:
        # Somebody who changes nothing has an answer, too.
        return True

    def __iter__(self) -> Iterator[str]:
        return iter(self.action)

    def __getitem__(self, feature: str) -> Any:
        if feature not in self.action:
            raise KeyError(
                f"`{feature}` is not acted upon; acted upon are {', '.join(self.action) or 'none'}"
            )
        return self.action[feature]

    def plot(self) -> Picture:
        """Draw what changes: a row for each feature, with its value now and then.

        Returns
        -------
        Picture
            The picture.

        Examples
        --------
        >>> import surefoot as sf
        >>> feature = sf.Feature("income", "increase", mean=3000, std=1500)
        >>> problem = sf.Problem([feature], sf.Classifier.linear([1.0]), epsilon=0.1)
        >>> sf.recourse(problem, {"income": 2417})[0].plot()
        <picture: 1: found>
        """
        from ._plots import plot_answer

        return plot_answer(self, self._features)

    def __repr__(self) -> str:
        return f"{self.id}: {self.text}"

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return answer_html(self)


class Answers(Table):
    """Everybody's answers: a table, of which each row can be told in words.

    ``answers[0]`` is the first answer and ``answers["p7"]`` that of the person with this id (the first of several
    options); ``len(answers)`` and iteration go over all; ``answers.to_pandas()`` is the table.

    Examples
    --------
    >>> import surefoot as sf
    >>> feature = sf.Feature("income", "increase", mean=3000, std=1500)
    >>> problem = sf.Problem([feature], sf.Classifier.linear([1.0]), epsilon=0.1)
    >>> answers = sf.recourse(problem, {"id": ["ana", "ben"], "income": [2417, 3600]})
    >>> answers["ben"].status
    'favourable'
    >>> answers.counts["found"]
    1
    """

    def __init__(self, native: _engine.Answers, problem: Problem, index: Any = None) -> None:
        self._native: Any = native
        self._problem = problem
        self._features = tuple(problem.features)
        self._index = index

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored_answers, (Stored.of(self._native), self._problem, self._index)

    def _native_table(self) -> _engine.Table:
        # Made by the engine when it is first asked for.
        table: _engine.Table = self._native.table()
        return table

    def __len__(self) -> int:
        return len(self._native)

    @property
    def counts(self) -> dict[str, int]:
        """How many got which answer."""
        counts: dict[str, int] = self._native.counts()
        return counts

    @property
    def proofs(self) -> list[str]:
        """The proof of each person's first answer: the lines of a file of proofs, for :func:`verify`.

        Linear problems without constraints have them anyway; where answers are searched for, :func:`recourse` is to be
        asked for them (``proofs=True``).

        Examples
        --------
        >>> import surefoot as sf
        >>> feature = sf.Feature("income", "increase", mean=3000, std=1500)
        >>> problem = sf.Problem([feature], sf.Classifier.linear([1.0]), epsilon=0.1)
        >>> answers = sf.recourse(problem, {"income": [2417, 3600]}, proofs=True)
        >>> len(answers.proofs)
        2
        """
        proofs: list[str] = self._native.proofs()
        return proofs

    def write_proofs(self, path: Union[str, os.PathLike[str]]) -> None:
        """Write a file of proofs, as ``surefoot recourse --proofs`` does.

        Parameters
        ----------
        path : path
            The file; ``surefoot verify`` and :func:`verify` read it.

        Examples
        --------
        >>> import surefoot as sf
        >>> feature = sf.Feature("income", "increase", mean=3000, std=1500)
        >>> problem = sf.Problem([feature], sf.Classifier.linear([1.0]), epsilon=0.1)
        >>> sf.recourse(problem, {"income": [2417]}).write_proofs("proofs.jsonl")
        >>> sf.verify(problem, "proofs.jsonl").holds
        True
        """
        lines = "".join(f"{line}\n" for line in self.proofs)
        save(path, {Path(path).name: lines.encode()}, overwrite=True)

    def plot_costs(self, by: Any = None) -> Picture:
        """Draw what actions cost those who are turned down, a row for each group.

        Parameters
        ----------
        by : str or sequence, optional
            A feature, of which numbers of more than six values are divided into four parts of equal size; or the group
            of each answer, such as a column of the people's table. One group if not given.

        Returns
        -------
        Picture
            The picture.

        Examples
        --------
        >>> import surefoot as sf
        >>> feature = sf.Feature("income", "increase", mean=3000, std=1500)
        >>> problem = sf.Problem([feature], sf.Classifier.linear([1.0]), epsilon=0.1)
        >>> sf.recourse(problem, {"income": [2417, 2000]}).plot_costs(by=["north", "south"])
        <picture: Effort of those who are turned down>
        """
        from ._plots import plot_costs

        return plot_costs(self, by)

    @overload
    def __getitem__(self, index: int | str) -> Answer: ...

    @overload
    def __getitem__(self, index: slice) -> list[Answer]: ...

    def __getitem__(self, index: int | str | slice) -> Answer | list[Answer]:
        if isinstance(index, str):
            ids: list[Any] = list(self._native_table().columns()["id"])
            if index not in ids:
                raise KeyError(f"there is nobody with the id `{index}`; ids are in answers.column('id')")
            index = ids.index(index)
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
            self._features,
        )

    def __iter__(self) -> Iterator[Answer]:
        return (self[i] for i in range(len(self)))

    def counterfactuals(self) -> pandas.DataFrame:
        """Those who have an action as they are afterwards, in the columns of the people's table.

        Returns
        -------
        pandas.DataFrame
            A row for each.
        """
        frame: pandas.DataFrame = self.to_pandas()
        columns = {f"counterfactual:{feature.name}": feature.name for feature in self._features}
        found: pandas.DataFrame = frame.loc[frame["status"].isin(["found", "unproved"]), list(columns)]
        renamed: pandas.DataFrame = found.rename(columns=columns)
        return renamed

    def __repr__(self) -> str:
        counts = ", ".join(f"{count} {word}" for word, count in self.counts.items() if count)
        return f"<{len(self)} answers: {counts}>"

    def _repr_html_(self) -> str:
        return answers_html(self)


@dataclass(frozen=True)
class Stored:
    """Answers as they are sent to another process: what the engine says of each."""

    columns: list[tuple[str, str, list[Any]]]
    found: dict[str, int]
    parts: list[Any]
    persons: list[int]
    texts: list[str]
    people: list[dict[str, Any]]
    lines: list[str] | None

    @classmethod
    def of(cls, native: Any) -> Stored:
        if isinstance(native, Stored):
            return native
        count = len(native)
        try:
            lines = native.proofs()
        except SettingError:
            # They were not kept.
            lines = None
        return cls(
            native.table().to_columns(),
            native.counts(),
            native.actions().parts(),
            [native.person_of(row) for row in range(count)],
            [native.text(row) for row in range(count)],
            [native.person(row) for row in range(count)],
            lines,
        )

    def __len__(self) -> int:
        return len(self.persons)

    def table(self) -> _engine.Table:
        return _engine.Table.from_columns(self.columns)

    def counts(self) -> dict[str, int]:
        return dict(self.found)

    def actions(self) -> _engine.Actions:
        return _engine.Actions.from_parts(self.parts)

    def person_of(self, index: int) -> int:
        return self.persons[index]

    def text(self, index: int) -> str:
        return self.texts[index]

    def person(self, index: int) -> dict[str, Any]:
        return dict(self.people[index])

    def proofs(self) -> list[str]:
        if self.lines is None:
            raise SettingError("proofs were not kept; ask for them with recourse(..., proofs=True)")
        return list(self.lines)


def _restored_answers(stored: Any, problem: Problem, index: Any) -> Answers:
    return Answers(stored, problem, index)


def _part(row: dict[str, Any], prefix: str) -> dict[str, Any]:
    return {k[len(prefix) :]: v for k, v in row.items() if k.startswith(prefix) and v is not None}
