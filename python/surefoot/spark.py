"""Recourse on Spark: the same answers as on one machine, spread over all of them.

>>> from surefoot.spark import recourse               # doctest: +SKIP
>>> answers = recourse(applicants, problem, id="id")  # doctest: +SKIP
>>> answers.write.parquet("answers")                  # doctest: +SKIP

The workers need ``surefoot``, ``pyarrow`` and ``numpy``. Elsewhere, the function to be given to the
cluster is :func:`surefoot.recourse` itself; see ``docs/python.md`` for Ray Data and Dask.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ._problem import Problem
from ._verbs import recourse_batches
from .errors import MissingPackageError, PeopleError

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

__all__ = ["recourse", "schema"]


def recourse(people: DataFrame, problem: Problem, *, id: str = "id", **settings: Any) -> DataFrame:
    """What everybody in a Spark DataFrame can do: a row for each, in no order, by ``id``.

    The problem is sent to each worker once (as a broadcast); people are answered where they are, in
    Arrow batches. Settings are those of :func:`surefoot.recourse`.

    Parameters
    ----------
    people : table
        People: a DataFrame (pandas or polars), an Arrow table, a dict of columns, a list of dicts, one person
        as a dict, or an array with a row for each; in their own units.
    problem : Problem
        The problem.
    id : str, optional
        The column that identifies people; ``"id"`` if there is one, otherwise the number of the row.
    **settings : object
        As in :func:`recourse`.

    Returns
    -------
    DataFrame
        A row for each person.
    """
    if id not in people.columns:
        raise PeopleError(f"there is no column `{id}` that identifies people; say with `id` which does")
    columns = [feature.name for feature in problem.features]
    missing = [name for name in columns if name not in people.columns]
    if missing:
        raise PeopleError(f"there is no column `{missing[0]}`; there are {', '.join(people.columns)}")
    shared = people.sparkSession.sparkContext.broadcast(problem)

    def answer(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        return recourse_batches(shared.value, batches, id=id, **settings)

    chosen = people.select(id, *(f"`{name}`" for name in columns if name != id))
    return chosen.mapInArrow(answer, schema(problem, settings.get("options", 1)))


def schema(problem: Problem, options: int = 1) -> StructType:
    """The columns of a table of answers.

    Parameters
    ----------
    problem : Problem
        The problem.
    options : int, default 1
        How many things to do.

    Returns
    -------
    StructType
        The names and types of the columns.
    """
    try:
        from pyspark.sql import types
    except ImportError:
        raise MissingPackageError("this needs pyspark; pip install pyspark") from None
    kinds = {"number": types.DoubleType(), "text": types.StringType()}
    columns = problem._native.answer_columns(options > 1)
    return types.StructType([types.StructField(name, kinds[kind]) for name, kind in columns])
