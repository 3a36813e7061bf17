"""Saved proofs, checked by independent code."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from . import _engine, _progress
from ._answers import Answers, Table
from ._problem import Problem
from ._settings import threads
from .errors import FileError

if TYPE_CHECKING:
    from ._letters import Letters

__all__ = ["Verification", "verify"]

#: The longest line of a file of proofs, as of the command.
LONGEST = 1 << 26
#: Proofs that are read before they are checked.
BATCH = 256


class Verification(Table):
    """What the independent checker found: a row for each proof.

    Columns are ``id``, ``status`` (of the answer), ``verification`` (``"verified"``, ``"wrong"``, ``"unverified"`` if a
    claim could not be verified, or ``"other problem"``), the ``reason`` why a proof is not verified, the verified
    ``margin`` and ``cost_bound``, the ``reference`` that letters state, and ``text``, what the proof says.

    Examples
    --------
    >>> import surefoot as sf
    >>> feature = sf.Feature("income", "increase", mean=3000, std=1500)
    >>> problem = sf.Problem([feature], sf.Classifier.linear([1.0]), epsilon=0.1)
    >>> sf.verify(problem, sf.recourse(problem, {"income": [2400, 3600]}))
    <2 proofs: 2 verified>
    """

    @property
    def holds(self) -> bool:
        """Whether there is a proof, and all are verified."""
        return bool(self.counts) and set(self.counts) == {"verified"}

    @property
    def counts(self) -> dict[str, int]:
        """How many proofs have which verification."""
        found: list[str] = list(self._native_table().columns()["verification"])  # type: ignore[arg-type]
        return {word: found.count(word) for word in dict.fromkeys(sorted(found))}

    def __repr__(self) -> str:
        return f"<{len(self)} proofs: {', '.join(f'{count} {word}' for word, count in self.counts.items())}>"


def verify(
    problem: Problem,
    proofs: Union[Answers, Letters, Iterable[str], str, os.PathLike[str]],
    *,
    reference: str | None = None,
    progress: bool = False,
    n_jobs: int | None = None,
) -> Verification:
    """Check proofs with code that shares nothing with the search.

    Parameters
    ----------
    problem : Problem
        The problem that the proofs are about.
    proofs : Answers, Letters, path or iterable of str
        Answers or letters with their proofs, a file of proofs as ``surefoot recourse --proofs`` writes it, or its
        lines.
    reference : str, optional
        Check only the proof with this reference, as a letter states it.
    progress : bool, default False
        Show a bar; needs tqdm.
    n_jobs : int, optional
        How many threads to use; all of them for None and -1.

    Returns
    -------
    Verification
        A row for each proof.

    Raises
    ------
    FileError
        If a line is no proof, or if there is no proof with the reference.

    Examples
    --------
    >>> import surefoot as sf
    >>> feature = sf.Feature("income", "increase", mean=3000, std=1500)
    >>> problem = sf.Problem([feature], sf.Classifier.linear([1.0]), epsilon=0.1)
    >>> answers = sf.recourse(problem, {"income": [2400]}, proofs=True)
    >>> checked = sf.verify(problem, answers.proofs)
    >>> checked.holds
    True
    >>> stricter = sf.Problem([feature], sf.Classifier.linear([1.0]), epsilon=0.2)
    >>> sf.verify(stricter, answers).column("verification")
    ['other problem']
    """
    tables: list[_engine.Table] = []
    count = 0
    with _progress.bar(progress, None, "proofs") as update, threads(n_jobs):
        for first, lines in _batches(_lines(proofs)):
            count += len(lines)
            table = _engine.verify(problem._native, lines, reference, first, update)
            tables.append(table)
            if reference is not None and len(table):
                break
    if reference is not None:
        found = [table for table in tables if len(table)]
        if not found:
            raise FileError(
                f"there is no proof with the reference {reference}; give the proofs that belong to the letter"
            )
        return Verification(found[0], problem.features)
    if not count:
        raise FileError(
            "there is no proof; give what `answers.proofs`, or `surefoot recourse --proofs`, wrote"
        )
    if len(tables) == 1:
        return Verification(tables[0], problem.features)
    parts = [table.to_columns() for table in tables]
    whole = [
        (name, kind, [value for part in parts for value in part[place][2]])
        for place, (name, kind, _) in enumerate(parts[0])
    ]
    return Verification(_engine.Table.from_columns(whole), problem.features)


def _lines(proofs: Any) -> Iterator[str]:
    """The lines of proofs, without their ends."""
    if isinstance(proofs, (str, os.PathLike)):
        path = Path(proofs)
        if not path.is_file():
            raise FileError(f"{path}: is no file; give a file of proofs, or the list of its lines")
        with path.open("rb") as file:
            number = 0
            while line := file.readline(LONGEST + 1):
                number += 1
                if len(line) > LONGEST:
                    raise FileError(
                        f"{path}, line {number}: has more than {LONGEST} bytes, and no proof is that long"
                    )
                try:
                    yield line.decode().rstrip("\n")
                except UnicodeDecodeError:
                    raise FileError(f"{path}, line {number}: is not text; give a file of proofs") from None
        return
    yield from (line.rstrip("\n") for line in getattr(proofs, "proofs", proofs))


def _batches(lines: Iterator[str]) -> Iterator[tuple[int, list[str]]]:
    """Batches of lines, each with the number of its first line."""
    first, batch = 1, []
    for line in lines:
        batch.append(line)
        if len(batch) == BATCH:
            yield first, batch
            first, batch = first + len(batch), []
    if batch:
        yield first, batch
