"""Letters: what people are told about a decision, and what is proven of it."""

from __future__ import annotations

import csv
import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Union, overload

from . import _engine, _progress, _tables
from ._problem import Problem
from ._settings import SEARCH, renamed, threads
from ._verbs import _count
from .errors import FileError, MissingPackageError, SettingError

if TYPE_CHECKING:
    import pandas

__all__ = ["Letter", "Letters", "letters"]

Format = Literal["text", "html", "document", "json", "table"]


@dataclass(frozen=True)
class Letter:
    """A letter to one person.

    Examples
    --------
    >>> import surefoot as sf
    >>> feature = sf.Feature("income", "increase", mean=3000, std=1500, limits=(0, 6000))
    >>> problem = sf.Problem([feature], sf.Classifier.linear([1.0]), epsilon=0.1)
    >>> letter = sf.letters(problem, {"income": 2400})[0]
    >>> letter.status, len(letter.reference)
    ('found', 19)
    """

    id: str
    #: As in the table of answers.
    status: str
    #: The number by which the proof is found; ``None`` if nothing is proven.
    reference: str | None
    #: The letter as text.
    text: str
    #: The letter as a page of HTML.
    html: str = field(repr=False)
    _native: _engine.Letter = field(repr=False, compare=False)

    @property
    def data(self) -> dict[str, Any]:
        """The parts of the letter: reasons, steps, consequences and so on."""
        data: dict[str, Any] = json.loads(self._native.json)
        return data

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return self._native.page


class Letters(Sequence[Letter]):
    """Letters in the order of the people.

    Examples
    --------
    >>> import surefoot as sf
    >>> feature = sf.Feature("income", "increase", mean=3000, std=1500, limits=(0, 6000))
    >>> problem = sf.Problem([feature], sf.Classifier.linear([1.0]), epsilon=0.1)
    >>> letters = sf.letters(problem, {"income": [2400, 3600]})
    >>> [letter.status for letter in letters]
    ['found', 'favourable']
    """

    def __init__(self, native: Sequence[_engine.Letter]) -> None:
        self._native = tuple(native)

    def __len__(self) -> int:
        return len(self._native)

    @overload
    def __getitem__(self, index: int) -> Letter: ...

    @overload
    def __getitem__(self, index: slice) -> list[Letter]: ...

    def __getitem__(self, index: int | slice) -> Letter | list[Letter]:
        if isinstance(index, slice):
            return [_letter(native) for native in self._native[index]]
        return _letter(self._native[index])

    def __iter__(self) -> Iterator[Letter]:
        return (_letter(native) for native in self._native)

    def __repr__(self) -> str:
        return f"<{len(self)} letters>"

    @property
    def proofs(self) -> list[str]:
        """The proofs that the letters refer to: the lines of a file of proofs, for :func:`verify`."""
        return [line for native in self._native for line in native.proofs.splitlines()]

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each letter: ``id``, ``status``, ``reference`` and ``letter``, the text.

        Returns
        -------
        pandas.DataFrame
            A row for each.
        """
        try:
            import pandas
        except ImportError:
            raise MissingPackageError("to_pandas needs pandas; pip install pandas") from None
        rows = [(native.id, native.status, native.reference, native.text) for native in self._native]
        frame: pandas.DataFrame = pandas.DataFrame(rows, columns=["id", "status", "reference", "letter"])
        return frame

    def write(self, folder: str | os.PathLike[str], format: Format = "text") -> None:
        """Write the letters, a table of them and their proofs into a folder, as ``surefoot letters`` does.

        The folder must be empty or not exist yet, and is there once it is complete.

        Parameters
        ----------
        folder : path
            The folder.
        format : str, default "text"
            ``"text"``, ``"html"``, ``"document"``, ``"json"`` or ``"table"``.
        """
        if format not in ("text", "html", "document", "json", "table"):
            known = "`text`, `html`, `document`, `json` and `table`"
            raise SettingError(f"there is no format `{format}` of letters; the formats are {known}")
        target = Path(folder)
        try:
            if target.exists() and any(target.iterdir()):
                raise FileError(
                    f"{target}: the folder is not empty, and no letter is overwritten; name another"
                )
            with tempfile.TemporaryDirectory(prefix=".surefoot-letters-", dir=target.parent) as temporary:
                # Complete or not there: only the finished folder gets the name.
                made = Path(temporary) / "letters"
                made.mkdir(mode=0o700)
                self._fill(made, format)
                if target.exists():
                    target.rmdir()
                made.rename(target)
        except OSError as error:
            raise FileError(f"{target}: cannot be written: {error.strerror}") from None

    def _fill(self, folder: Path, format: Format) -> None:
        last = "letter" if format == "table" else "file"
        rows = []
        for native in self._native:
            if format == "table":
                cell = native.text
            elif format in ("text", "html"):
                cell = f"{native.file_name}.{'txt' if format == 'text' else 'html'}"
                _write(folder / cell, native.text if format == "text" else native.html)
            else:
                cell = "letters.html" if format == "document" else "letters.jsonl"
            rows.append((native.id, native.status, native.reference or "", cell))
        if format == "json":
            _write(folder / "letters.jsonl", "".join(native.json + "\n" for native in self._native))
        if format == "document":
            start, end = "", ""
            if self._native:
                data = self[0].data
                start, end = _engine.document_frame(data["language"], data["words"]["title"])
            _write(folder / "letters.html", start + "".join(native.page for native in self._native) + end)
        proofs = "".join(native.proofs for native in self._native)
        if proofs:
            _write(folder / "proofs.jsonl", proofs)
        with open(folder / "letters.csv", "x", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["id", "status", "reference", last])
            writer.writerows(rows)


def _letter(native: _engine.Letter) -> Letter:
    return Letter(native.id, native.status, native.reference, native.text, native.html, native)


def _write(path: Path, text: str) -> None:
    # Never over a file that is there.
    with open(path, "x", encoding="utf-8", newline="") as file:
        file.write(text)


@renamed(**SEARCH)
def letters(
    problem: Problem,
    people: Any,
    *,
    id: str | None = None,
    language: Literal["en", "de"] = "en",
    options: int = 1,
    reasons: Union[str, os.PathLike[str], None] = None,
    text_template: Union[str, os.PathLike[str], None] = None,
    html_template: Union[str, os.PathLike[str], None] = None,
    method: str = "auto",
    gap: float = 0.01,
    max_evaluations: int | None = None,
    max_seconds: float | None = None,
    progress: bool = False,
    n_jobs: int | None = None,
) -> Letters:
    """A letter to everybody: what was decided and why, what they can do, and what is proven.

    Parameters
    ----------
    problem : Problem
        The problem.
    people : table
        As in :func:`recourse`.
    id : str, optional
        The column that identifies people; ``"id"`` if there is one, otherwise the number of the row.
    language : {"en", "de"}, default "en"
        ``"en"`` or ``"de"``.
    options : int, default 1
        Up to so many things to do for each person that change different things, the cheapest first.
    reasons : path, None, optional
        A file with an organisation's own codes and words; see docs/letters.md.
    text_template : path, None, optional
        A file with a template instead of the built-in one for :attr:`Letter.text`.
    html_template : path, None, optional
        The same for :attr:`Letter.html`.
    method : str, default "auto"
        As in :func:`recourse`, like ``gap``, ``max_evaluations`` and ``max_seconds``. Methods that prove
        nothing give letters without a reference, which say so.
    gap : float, default 0.01
        As in :func:`recourse`.
    max_evaluations : int, optional
        As in :func:`recourse`.
    max_seconds : float, optional
        As in :func:`recourse`.
    progress : bool, default False
        Show a bar; needs tqdm.
    n_jobs : int, optional
        How many threads to use; all of them for None and -1.

    Returns
    -------
    Letters
        A letter for each person.

    Examples
    --------
    >>> import surefoot as sf
    >>> feature = sf.Feature("income", "increase", mean=3000, std=1500, label="monthly income", unit="EUR {}")
    >>> problem = sf.Problem([feature], sf.Classifier.linear([1.0]), epsilon=0.1)
    >>> [letter] = sf.letters(problem, {"income": 2417})
    >>> letter.data["steps"][0]["text"]
    'Monthly income: raise by EUR 734, from EUR 2,417 to EUR 3,151.'
    >>> len(letter.reference)
    19
    """
    given = _tables.prepare(people, problem.features, id)
    with _progress.bar(progress, _count(given.source), "letters") as update, threads(n_jobs):
        native = _engine.letters(
            problem._native,
            given.source,
            given.ids,
            given.id,
            language,
            options,
            reasons,
            text_template,
            html_template,
            method,
            gap,
            max_evaluations,
            max_seconds,
            update,
        )
    return Letters(native)
