"""Tables of every kind, as the engine takes them: where they are, without copies if they allow it."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import PeopleError

if TYPE_CHECKING:
    from ._features import Feature


@dataclass(frozen=True)
class Prepared:
    """People for the engine."""

    #: An array with a row for each person, a list of columns, or something that speaks Arrow.
    source: Any
    #: What identifies people, where the source does not say.
    ids: list[str] | None
    #: The column of the source that identifies people.
    id: str | None
    #: The index of a pandas DataFrame.
    index: Any


def label(value: object) -> str:
    """A category, or what identifies somebody, as text; whole numbers without decimals."""
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def quoted(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def is_pandas(table: Any) -> bool:
    return hasattr(table, "iloc") and hasattr(table, "columns")


def speaks_arrow(table: Any) -> bool:
    return hasattr(table, "__arrow_c_stream__") or hasattr(table, "__arrow_c_array__")


def column_names(table: Any) -> list[str]:
    """The columns of a table; none if it has no names."""
    if isinstance(table, Mapping):
        return [str(name) for name in table]
    for attribute in ("column_names", "columns"):
        names = getattr(table, attribute, None)
        if names is not None and not callable(names):
            return [str(name) for name in names]
    names = getattr(getattr(table, "schema", None), "names", None)
    if names is not None:
        return [str(name) for name in names]
    raise PeopleError(
        "a table with named columns is needed: a DataFrame, an Arrow table or a dict of columns"
    )


def column(table: Any, name: str) -> Any:
    """One column, as something that numpy understands."""
    names = column_names(table)
    if names.count(name) != 1:
        twice = "is there twice; rename one" if name in names else f"is not there; there are {quoted(names)}"
        raise PeopleError(f"column `{name}` {twice}")
    if is_pandas(table):
        # Columns may be named by numbers.
        values = table.iloc[:, names.index(name)]
    else:
        values = table.column(name) if hasattr(table, "column") else table[name]
    return values if hasattr(values, "to_numpy") else np.asarray(values)


def _type(values: Any) -> str:
    """The kind of numpy's type of a column, whose missing values say nothing of it."""
    dtype = getattr(values, "dtype", None)
    if isinstance(dtype, np.dtype):
        return dtype.kind
    return np.asarray([value for value in to_list(values) if value is not None]).dtype.kind


def is_numeric(values: Any) -> bool:
    return _type(values) in "biuf"


def is_whole(values: Any) -> bool:
    """Whether a column is of whole numbers by its type, and not just by chance."""
    return _type(values) in "iu"


def to_list(values: Any) -> list[Any]:
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(values, method):
            return list(getattr(values, method)())
    return list(values)


def is_missing(value: Any) -> bool:
    # pandas' NA does not even say whether it equals itself.
    return value is None or (not isinstance(value, str) and str(value) in ("nan", "<NA>", "NaT"))


def distinct(values: Any) -> list[object]:
    """Different values, in their order."""
    found = dict.fromkeys(value for value in to_list(values) if not is_missing(value))
    try:
        return sorted(found)
    except TypeError:
        return sorted(found, key=str)


def numbers(values: Any, name: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """As doubles; those that are doubles already are not copied."""
    if not isinstance(getattr(values, "dtype", None), np.dtype) and hasattr(values, "isna"):
        # What pandas calls nullable.
        values = values.to_numpy(dtype=np.float64, na_value=np.nan)
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise PeopleError(
            f"column `{name}`: {error}; numbers are needed, or name its categories in the feature"
        ) from None


def texts(values: Any, name: str, *, may_be_missing: bool = False) -> list[str | None]:
    each = to_list(values)
    for number, value in enumerate(each, 1):
        if is_missing(value) and not may_be_missing:
            raise PeopleError(
                f"person {number}, feature `{name}`: no value is given; give one, or leave them out"
            )
    return [None if is_missing(value) else label(value) for value in each]


def prepare(people: Any, features: Sequence[Feature], id: str | None = None) -> Prepared:
    """People for the engine: a table, an array with a row for each, or one person as a dict."""
    if isinstance(people, np.ndarray):
        if id is not None:
            raise PeopleError(f"id `{id}`: an array has no named columns; give a DataFrame or a dict")
        return Prepared(np.atleast_2d(np.asarray(people, dtype=np.float64)), None, None, None)
    if hasattr(people, "to_frame") and hasattr(people, "items"):
        # A row of a DataFrame.
        people = dict(people.items())
    if isinstance(people, Mapping) and all(np.ndim(value) == 0 for value in people.values()):
        people = {name: [value] for name, value in people.items()}
    elif isinstance(people, Sequence) and not isinstance(people, str):
        people = list(people)
        if not all(isinstance(person, Mapping) for person in people):
            return prepare(np.asarray(people, dtype=np.float64), features, id)
        people = records(people, [feature.name for feature in features])
    names = column_names(people)
    if id is None and "id" in names and "id" not in (feature.name for feature in features):
        id = "id"
    if id is not None and id not in names:
        raise PeopleError(f"there is no column `{id}`; there are {quoted(names)}")
    if speaks_arrow(people) and not is_pandas(people):
        return Prepared(people, None, id, None)
    source: list[Any] = []
    for feature in features:
        if feature.name not in names:
            raise PeopleError(f"there is no column `{feature.name}`; there are {quoted(names)}")
        values = column(people, feature.name)
        is_named = feature.kind in ("category", "ordinal")
        if is_named:
            source.append(texts(values, feature.name, may_be_missing=feature.missing is not None))
        else:
            source.append(numbers(values, feature.name))
    ids = None if id is None else [label(value) for value in to_list(column(people, id))]
    return Prepared(source, ids, None, people.index if is_pandas(people) else None)


def named(people: Any, columns: Sequence[str]) -> Any:
    """People as a table with named columns: an array gets them, one person becomes a row."""
    if isinstance(people, np.ndarray):
        rows = np.atleast_2d(people)
        return {name: rows[:, i] for i, name in enumerate(columns)}
    if isinstance(people, Mapping) and all(np.ndim(value) == 0 for value in people.values()):
        return {name: [value] for name, value in people.items()}
    if isinstance(people, Sequence) and not isinstance(people, str):
        return records(list(people), columns)
    return people


def write_csv(table: Any, path: Path) -> None:
    """Writes a table; numbers are written so that they are read as the same."""
    names = column_names(table)
    columns = [to_list(column(table, name)) for name in names]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        for row in zip(*columns):
            writer.writerow(["" if is_missing(value) else label(value) for value in row])


def records(people: Sequence[Mapping[str, Any]], needed: Sequence[str]) -> dict[str, list[Any]]:
    """Columns from people each by name."""
    names = list(people[0]) if people else list(needed)
    for number, person in enumerate(people, 1):
        for name in names:
            if name not in person:
                raise PeopleError(f"person {number} has no value for `{name}`; give one")
    return {name: [person[name] for person in people] for name in names}
