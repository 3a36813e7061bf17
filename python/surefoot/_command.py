"""The command line, from Python."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Union

from . import _tables
from ._problem import Problem
from .errors import Error, SettingError

__all__ = ["Report", "coverage", "demo", "fetch_data", "init", "list_data", "reproduce", "run", "validate"]

File = Union[str, os.PathLike[str]]


@dataclass(frozen=True)
class Report:
    """What a command says.

    ``str(report)`` is its text.

    Attributes
    ----------
    text : str
        What it writes to standard output.
    holds : bool
        Whether what it was asked about holds: an action, a proof. True for commands that are asked nothing.
    warnings : str
        What it writes to standard error: warnings, and what it does.

    Examples
    --------
    >>> import surefoot as sf
    >>> report = sf.run("data", "list")
    >>> report.holds
    True
    """

    text: str
    holds: bool
    warnings: str = ""

    def __str__(self) -> str:
        return self.text

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(self.text)


def run(command: str, *arguments: object, **options: object) -> Report:
    """Run a command of the command line with files, as a shell does.

    What a function of this package does with tables in memory, the command does with files; here is all of it, for
    example runs that go on where they were broken off (``resume=True``). It runs in a process of its own, which Ctrl-C
    ends.

    Parameters
    ----------
    command : str
        The name of the command, such as ``"recourse"`` or ``"fit"``.
    *arguments : object
        What stands on the command line without a name: files.
    **options : object
        The options by their names, with ``_`` for ``-``: ``epsilons=0.1`` is ``--epsilons=0.1``. ``True`` is an option
        without a value, ``None`` and ``False`` leave it out, and a list gives it several times.

    Returns
    -------
    Report
        The text of the command, and whether what it was asked about holds.

    Raises
    ------
    Error
        If the input is bad; the message is that of the command.

    Examples
    --------
    >>> import surefoot as sf
    >>> print(sf.run("demo", people=20).text.splitlines()[0][:6])
    20 loa
    """
    if not sys.executable:
        raise Error("this interpreter has no command of its own; run the command `surefoot` in a shell")
    words = [str(argument) for argument in (*command.split(), *arguments)]
    for name, value in options.items():
        option = f"--{name.replace('_', '-')}"
        several = value if isinstance(value, (list, tuple, set)) else [value]
        for each in several:
            if each is True:
                words.append(option)
            elif each is not None and each is not False:
                words.append(f"{option}={each}")
    done = subprocess.run(
        [sys.executable, "-m", "surefoot", *words], capture_output=True, text=True, encoding="utf-8"
    )
    if done.returncode not in (0, 1):
        message = done.stderr.strip()
        raise Error(message[len("surefoot: ") :] if message.startswith("surefoot: ") else message)
    return Report(done.stdout, done.returncode == 0, done.stderr)


def init(
    table: File,
    target: str,
    output: File = "problem.toml",
    *,
    change: Mapping[str, str] | None = None,
    order: Mapping[str, Sequence[str]] | None = None,
    special: Mapping[str, Mapping[float, str]] | None = None,
    graph: str | None = None,
) -> Report:
    """Write a first problem file from a table, as ``surefoot init`` does.

    To go on in Python with a table in memory there is :func:`features`.

    Parameters
    ----------
    table : path
        A table of people: CSV, Parquet or Arrow.
    target : str
        The column that says what was decided; it is no feature.
    output : path, default "problem.toml"
        Where to write the problem file. It must not exist yet.
    change : mapping, optional
        What an action may do to features: ``{"income": "increase"}``. All others are fixed.
    order : mapping, optional
        The order of the texts of columns, the lowest first: ``{"education": ["none", "basic", "degree"]}``.
    special : mapping, optional
        Numbers that are no amounts, and what they mean: ``{"bureau": {-9: "no bureau record"}}``.
    graph : str, optional
        The causal graph, ``"education -> income"``, or a file with it.

    Returns
    -------
    Report
        What was written, and what to do next.

    Examples
    --------
    >>> import surefoot as sf
    >>> with open("people.csv", "w") as file:
    ...     print("income,repaid", "2400,0", "3600,1", sep="\\n", file=file)
    >>> report = sf.init("people.csv", "repaid", change={"income": "increase"})
    >>> sf.run("validate", "problem.toml", "people.csv").holds
    True
    """
    return run(
        "init",
        table,
        target=target,
        output=os.fspath(output),
        change=[f"{name}={how}" for name, how in (change or {}).items()],
        order=[f"{name}={'<'.join(texts)}" for name, texts in (order or {}).items()],
        special=[
            f"{name}={value:g}: {words}"
            for name, each in (special or {}).items()
            for value, words in each.items()
        ],
        graph=graph,
    )


def validate(problem: Problem | File, people: Any = None) -> Report:
    """Say how a problem and a table of people are understood, or list every mistake in them.

    Parameters
    ----------
    problem : Problem or path
        A problem, or a problem file.
    people : table or path, optional
        People to check against it: a file, or a table as in :func:`recourse`.

    Returns
    -------
    Report
        The features, equations and settings as they are understood.

    Raises
    ------
    Error
        If there are mistakes; the message lists all of them.

    Examples
    --------
    >>> import surefoot as sf
    >>> feature = sf.Feature("income", "increase", mean=3000, std=1500)
    >>> problem = sf.Problem([feature], sf.Classifier.linear([1.0]), epsilon=0.1)
    >>> "Equations: none" in sf.validate(problem, {"income": [2400, 3600]}).text
    True
    """
    with tempfile.TemporaryDirectory() as folder:
        files = _problem_file(problem, folder)
        return run("validate", *files, *_people_file(people, problem, folder))


def coverage(
    problem: Problem | File,
    people: Any = None,
    *,
    error: float | None = None,
    errors: Any = None,
    probability: float | None = None,
) -> Report:
    """State which share of errors the uncertainty of a problem covers, or how large it must be to cover a share.

    As ``surefoot epsilon`` does.

    Parameters
    ----------
    problem : Problem or path
        A problem, or a problem file.
    people : table or path, optional
        People, where intervals depend on their values: a file, or a table as in :func:`recourse`.
    error : float, optional
        The standard deviation of the errors as a share of that of each feature, such as 0.1; the errors are taken to
        be normal and independent.
    errors : table or path, optional
        Observed errors instead, in own units: a file, or a dict of columns.
    probability : float, optional
        The share of errors to cover, such as 0.95. Without it the share that the problem covers is stated.

    Returns
    -------
    Report
        The statement with its assumptions.

    Examples
    --------
    >>> import surefoot as sf
    >>> feature = sf.Feature("income", "increase", mean=3000, std=1500)
    >>> problem = sf.Problem([feature], sf.Classifier.linear([1.0]), epsilon=0.1)
    >>> "95.44% of such errors" in sf.coverage(problem, error=0.05).text
    True
    """
    with tempfile.TemporaryDirectory() as folder:
        observed = None if errors is None else _table_file(errors, None, Path(folder, "errors.csv"))
        return run(
            "epsilon",
            *_problem_file(problem, folder),
            *_people_file(people, problem, folder),
            error=error,
            errors=observed,
            probability=probability,
        )


def reproduce(
    out: File = "reproduction", *, data: File | None = None, seeds: int = 5, only: Iterable[str] = ()
) -> Report:
    """Repeat the paper's experiments, and write figures and a report that compares the numbers.

    As ``surefoot reproduce`` does; everything takes hours, ``only=["compas", "linear"], seeds=1`` less.

    Parameters
    ----------
    out : path, default "reproduction"
        The folder for results, figures and report. Results that are there already are not made again.
    data : path, optional
        The folder with the files of the data sets; otherwise where :func:`fetch_data` puts them.
    seeds : int, default 5
        How many splits into training and test, each with classifiers of its own.
    only : iterable of str, optional
        Only these data sets (compas, adult, loan, german, bail), models (linear, network) and ways of training (erm,
        allr, ross, af, allr-mu1-0, allr-mu2-0).

    Returns
    -------
    Report
        Each conclusion of the paper, and whether it holds; ``holds`` says whether all that were examined do.

    Examples
    --------
    >>> import surefoot as sf
    >>> report = sf.reproduce(seeds=1, only=["compas"])   # doctest: +SKIP
    """
    return run("reproduce", data=data, out=os.fspath(out), seeds=seeds, only=",".join(only) or None)


def list_data(data: File | None = None) -> Report:
    """List the paper's data sets: contents, source and terms of the files, and whether each is there.

    Parameters
    ----------
    data : path, optional
        The folder with the files; otherwise where :func:`fetch_data` puts them.

    Returns
    -------
    Report
        The list.

    Examples
    --------
    >>> import surefoot as sf
    >>> "adult" in sf.list_data().text
    True
    """
    return run("data list", data=data)


def fetch_data(*names: str, data: File | None = None, url: str | None = None) -> Report:
    """Download files of the paper's data sets, and check that they are the published ones.

    Parameters
    ----------
    *names : str
        The data sets: compas, adult, loan, german, bail.
    data : path, optional
        The folder to put the files into; otherwise the folder for data of your programs.
    url : str, optional
        Where to download the file instead, for example from a mirror.

    Returns
    -------
    Report
        What was downloaded.

    Examples
    --------
    >>> import surefoot as sf
    >>> report = sf.fetch_data("adult")   # doctest: +SKIP
    """
    if not names:
        raise SettingError("name a data set: compas, adult, loan, german or bail")
    return run("data fetch", *names, data=data, url=url)


def demo(people: int = 1000, *, epsilon: float = 0.1, random_state: int = 1) -> Report:
    """Show everything on built-in data: loan applicants, classifiers, actions, and attacks on them.

    Parameters
    ----------
    people : int, default 1000
        How many loan applicants to draw.
    epsilon : float, default 0.1
        How far circumstances may shift, in standard deviations.
    random_state : int, default 1
        The seed of the draw.

    Returns
    -------
    Report
        The story.

    Examples
    --------
    >>> import surefoot as sf
    >>> report = sf.demo(20)
    """
    return run("demo", people=people, epsilon=epsilon, seed=random_state)


def _problem_file(problem: Problem | File, folder: str) -> list[File]:
    if isinstance(problem, Problem):
        path = Path(folder, "problem.toml")
        problem.write(path)
        return [path]
    return [problem]


def _people_file(people: Any, problem: Problem | File, folder: str) -> list[File]:
    if people is None:
        return []
    named = [feature.name for feature in problem.features] if isinstance(problem, Problem) else None
    return [_table_file(people, named, Path(folder, "people.csv"))]


def _table_file(table: Any, columns: Sequence[str] | None, path: Path) -> File:
    """A table in a file; one that is a file already stays where it is."""
    if isinstance(table, (str, os.PathLike)):
        return table
    if columns is not None:
        table = _tables.named(table, columns)
    _tables.write_csv(table, path)
    return path
