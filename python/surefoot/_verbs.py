"""What can be asked: recourse, attack, certify."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from . import _engine, _progress, _tables
from ._answers import Answers, Table
from ._features import Feature
from ._picture import Picture
from ._problem import Problem
from ._settings import SEARCH, renamed, threads
from .errors import MissingPackageError, PeopleError

if TYPE_CHECKING:
    import pyarrow

__all__ = ["Actions", "TradeOff", "attack", "certify", "recourse", "recourse_batches", "trade_off"]


@renamed(**SEARCH)
def recourse(
    problem: Problem,
    people: Any,
    *,
    id: str | None = None,
    method: str = "auto",
    gap: float = 0.01,
    max_evaluations: int | None = None,
    max_seconds: float | None = None,
    options: int = 1,
    explain: bool = False,
    proofs: bool = False,
    progress: bool = False,
    n_jobs: int | None = None,
) -> Answers:
    """What everybody can do, at the least effort, that still works if circumstances shift.

    Linear problems are solved exactly, others by search with proof.

    Parameters
    ----------
    problem : Problem
        The problem.
    people : table
        A DataFrame (pandas or polars), an Arrow table, a dict of columns, a list of dicts, one person as a
        dict, or an array with a row for each person; in their own units.
    id : str, optional
        The column that identifies people; ``"id"`` if there is one, otherwise the number of the row.
    method : str, default "auto"
        ``"exact"`` for linear problems, ``"trees"`` for tree ensembles and ``"complete"`` for all, each with
        proof; ``"local"``, a fast search, and ``"descent"``, the paper's Algorithm 1, prove nothing, and
        their actions have the status ``"unproved"``; ``"auto"`` is the first of the proving ones that
        applies.
    gap : float, default 0.01
        By how much, as a share, an action may cost more than the proven bound; linear problems without
        constraints are solved exactly. The method ``"local"`` proves no bound; its actions may cost more by
        this share if they then change fewer features. Only the default is accepted with the method
        ``"descent"``.
    max_evaluations : int, optional
        Bounds and evaluations that the search for each person may cost, hard cases up to five times as many;
        60,000, about a second, if not given. Linear problems without constraints need none.
    max_seconds : float, optional
        Seconds that the answer of each person may take: the best proven action and the best bound that were
        found by then. Such answers depend on the machine; those under ``max_evaluations`` alone do not.
        Without ``max_evaluations``, time is then the only limit. Both are refused with the method
        ``"descent"``, which they do not limit.
    options : int, default 1
        Up to so many actions for each person that change different things, the cheapest first: several rows,
        with a column ``option``.
    explain : bool, default False
        Say also what stands in the way of those who provably have no action: for how much less uncertainty
        there is one, and which limits, fixed features or rules would have to give way. One person alone, and
        everybody if the problem is linear without constraints, is told so anyway; otherwise it may cost up to
        seven times ``max_evaluations`` for each of them.
    proofs : bool, default False
        Keep the proofs of the answers, for ``answers.proofs`` and :func:`verify`.
    progress : bool, default False
        Show a bar; needs tqdm.
    n_jobs : int, optional
        How many threads to use; all of them for None and -1.

    Returns
    -------
    Answers
        An answer for each person.

    Examples
    --------
    >>> import surefoot as sf
        >>> feature = sf.Feature("income", "increase", mean=3000, std=1500)
        >>> problem = sf.Problem([feature], sf.Classifier.linear([1.0]), epsilon=0.1)
        >>> answers = sf.recourse(problem, {"income": [2417, 3600]})
        >>> answers
        <2 answers: 1 favourable, 1 found>
        >>> print(answers[0])
        Raise income by 733.1 (from 2417 to 3150.1). This still works if circumstances shift a little: income by up to 150. That is proven, as is that no cheaper allowed action would do.
    """
    given = _tables.prepare(people, problem.features, id)
    with _progress.bar(progress, _count(given.source), "people") as update, threads(n_jobs):
        native = _engine.recourse(
            problem._native,
            given.source,
            given.ids,
            given.id,
            method,
            gap,
            max_evaluations,
            max_seconds,
            options,
            explain,
            proofs,
            update,
        )
    index = given.index
    if index is not None and options > 1:
        index = index.take([native.person_of(row) for row in range(len(native))])
    return Answers(native, problem, index)


class TradeOff(Table):
    """What certainty costs one person: a row for each size of the uncertainty.

    Columns are ``epsilon``, ``status``, ``cost``, ``cost_bound`` and ``text``, the answer in words.

    Examples
    --------
    >>> import surefoot as sf
    >>> feature = sf.Feature("income", "increase", mean=3000, std=1500, limits=(0, 6000))
    >>> problem = sf.Problem([feature], sf.Classifier.linear([1.0]), epsilon=0.1)
    >>> sf.trade_off(problem, {"income": 2400}, [0, 0.5]).column("status")
    ['found', 'found']
    """

    def __init__(
        self,
        native: _engine.Table,
        features: Sequence[Feature],
        possible: float | None,
        impossible: float | None,
    ) -> None:
        super().__init__(native, features)
        #: The largest epsilon for which an action is proven to hold; ``None``: for none is one proven to.
        self.possible = possible
        #: The smallest epsilon for which it is proven that no action holds; ``None``: for none is that.
        self.impossible = impossible

    def _further(self) -> dict[str, Any]:
        return {"possible": self.possible, "impossible": self.impossible}

    def plot(self) -> Picture:
        """Draw the cost for each size of the uncertainty, and where no action is left.

        Returns
        -------
        Picture
            The picture.

        Examples
        --------
        >>> import surefoot as sf
        >>> feature = sf.Feature("income", "increase", mean=3000, std=1500, limits=(0, 6000))
        >>> problem = sf.Problem([feature], sf.Classifier.linear([1.0]), epsilon=0.1)
        >>> sf.trade_off(problem, {"income": 2400}, [0, 0.5, 3]).plot()
        <picture: What certainty costs>
        """
        from ._plots import plot_trade_off

        numbers = [
            np.asarray(self.column(name), dtype=np.float64) for name in ("epsilon", "cost", "cost_bound")
        ]
        return plot_trade_off(numbers[0], numbers[1], numbers[2], self.possible, self.impossible)


@renamed(**SEARCH)
def trade_off(
    problem: Problem,
    person: Any,
    epsilons: Iterable[float] | None = None,
    *,
    method: str = "auto",
    gap: float = 0.01,
    max_evaluations: int | None = None,
    max_seconds: float | None = None,
    progress: bool = False,
    n_jobs: int | None = None,
) -> TradeOff:
    """The cheapest action of one person as a function of the uncertainty to guard against.

    What holds for more uncertainty holds for less, so that answers for different sizes complete each
    other: costs and bounds rise with epsilon. The epsilon of the problem does not matter.

    Parameters
    ----------
    problem : Problem
        The problem.
    person : table of one person
        The person, as in :func:`recourse`.
    epsilons : iterable of float, optional
        The sizes; otherwise twelve up to where no action holds.
    method : str, default "auto"
        As in :func:`recourse`, but one that proves its answers.
    gap : float, default 0.01
        As in :func:`recourse`.
    max_evaluations : int, optional
        As in :func:`recourse`; the whole curve may cost up to seven times as many.
    max_seconds : float, optional
        As in :func:`recourse`, for each search.
    progress : bool, default False
        Show the number of searches; needs tqdm.
    n_jobs : int, optional
        How many threads to use; all of them for None and -1.

    Returns
    -------
    TradeOff
        A row for each size.

    Examples
    --------
    >>> import surefoot as sf
    >>> feature = sf.Feature("income", "increase", mean=3000, std=1500, limits=(0, 6000))
    >>> problem = sf.Problem([feature], sf.Classifier.linear([1.0]), epsilon=0.1)
    >>> curve = sf.trade_off(problem, {"income": 2400}, [0, 0.5, 3])
    >>> curve.column("status")
    ['found', 'found', 'impossible']
    >>> 1.98 < curve.possible <= 2 <= curve.impossible < 2.02
    True
    """
    given = _tables.prepare(person, problem.features)
    sizes = None if epsilons is None else [float(epsilon) for epsilon in epsilons]
    with _progress.bar(progress, None, "searches") as update, threads(n_jobs):
        native, possible, impossible = _engine.trade_off(
            problem._native, given.source, sizes, method, gap, max_evaluations, max_seconds, update
        )
    return TradeOff(native, problem.features, possible, impossible)


def recourse_batches(
    problem: Problem, batches: Iterable[Any], **settings: Any
) -> Iterator[pyarrow.RecordBatch]:
    """Answers batch by batch, for tables that do not fit into memory and for clusters.

    Takes Arrow record batches (or any table) and gives one record batch for each that has rows;
    settings are those of :func:`recourse`. Without a column that identifies people they are
    numbered anew in each batch.

    Parameters
    ----------
    problem : Problem
        The problem.
    batches : iterable of record batches
        People, batch by batch.
    **settings : object
        As in :func:`recourse`.

    Returns
    -------
    Iterator[pyarrow.RecordBatch]
        A batch of answers for each batch of people.

    Examples
    --------
    >>> import surefoot as sf
    >>> feature = sf.Feature("income", "increase", mean=3000, std=1500)
    >>> problem = sf.Problem([feature], sf.Classifier.linear([1.0]), epsilon=0.1)
    >>> batches = [{"income": [2400.0, 2600.0]}, {"income": [1900.0]}]
    >>> [batch.num_rows for batch in sf.recourse_batches(problem, batches)]
    [2, 1]
    """
    try:
        import pyarrow
    except ImportError:
        raise MissingPackageError("recourse_batches needs pyarrow; pip install pyarrow") from None
    for batch in batches:
        if getattr(batch, "num_rows", 1) > 0:
            reader = pyarrow.RecordBatchReader.from_stream(recourse(problem, batch, **settings))
            yield from reader


class Actions:
    """An action, or none, for each of some people, wherever it comes from.

    Examples
    --------
    >>> import surefoot as sf
    >>> feature = sf.Feature("income", "increase", mean=3000, std=1500)
    >>> problem = sf.Problem([feature], sf.Classifier.linear([1.0]), epsilon=0.1)
    >>> before, after = {"income": [2400.0, 2600.0]}, {"income": [3200.0, 2600.0]}
    >>> sf.Actions.from_counterfactuals(problem, before, after)
    <1 actions of 2 people>
    """

    def __init__(self, native: _engine.Actions) -> None:
        self._native = native

    @classmethod
    def from_changes(cls, problem: Problem, changes: Any) -> Actions:
        """From changes in own units: a column for each feature acted upon, NaN where it is not.

        Columns may be named ``action:income``, as in a table of answers, or ``income``.

        Parameters
        ----------
        problem : Problem
            The problem.
        changes : table
            A column for each feature that is acted upon.

        Returns
        -------
        Actions
            The actions.
        """
        names = _tables.column_names(changes)
        chosen = {f"action:{feature.name}": feature.name for feature in problem.features}
        if not any(name in chosen for name in names):
            chosen = {feature.name: feature.name for feature in problem.features}
        columns = [
            (chosen[name], _tables.numbers(_tables.column(changes, name), name))
            for name in names
            if name in chosen
        ]
        if not columns:
            known = _tables.quoted([f"action:{feature.name}" for feature in problem.features])
            raise PeopleError(f"there is no column of actions; there should be some of {known}")
        return cls(_engine.Actions.from_changes(problem._native, columns))

    @classmethod
    def from_counterfactuals(cls, problem: Problem, people: Any, counterfactuals: Any) -> Actions:
        """From people before and after, row by row: every feature that differs was acted upon.

        For counterfactual explanations of other tools, which do not tell acts from consequences.

        Parameters
        ----------
        problem : Problem
            The problem.
        people : table
            People: a DataFrame (pandas or polars), an Arrow table, a dict of columns, a list of dicts, one
            person as a dict, or an array with a row for each; in their own units.
        counterfactuals : table
            The same people afterwards, row by row.

        Returns
        -------
        Actions
            The actions.
        """
        before = _tables.prepare(people, problem.features).source
        after = _tables.prepare(counterfactuals, problem.features).source
        return cls(_engine.Actions.from_counterfactuals(problem._native, before, after))

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored_actions, (self._native.parts(),)

    def __len__(self) -> int:
        return len(self._native)

    def __repr__(self) -> str:
        return f"<{self._native.acting()} actions of {len(self)} people>"


def _restored_actions(parts: Any) -> Actions:
    return Actions(_engine.Actions.from_parts(parts))


def _actions(problem: Problem, actions: Any) -> _engine.Actions:
    if isinstance(actions, Answers):
        native: _engine.Actions = actions._native.actions()
        return native
    if isinstance(actions, Actions):
        return actions._native
    return Actions.from_changes(problem, actions)._native


@renamed(evaluations="max_evaluations")
def attack(
    problem: Problem,
    people: Any,
    actions: Answers | Actions | Any,
    *,
    method: Literal[
        "smallest", "fast_gradient", "projected_gradient", "deepfool", "carlini_wagner"
    ] = "smallest",
    id: str | None = None,
    max_evaluations: int | None = None,
    progress: bool = False,
    n_jobs: int | None = None,
) -> Table:
    """Tries to break everybody's action: the smallest shift found that undoes it.

    A row for each person: ``broken`` (within the uncertainty guarded against), ``smallest_break``,
    the size of the smallest shift found, with ``margin`` and ``shift:<feature>``, and ``breaks_with``,
    the same in words; and ``feasible``, whether the action can be taken, with the ``reason`` why not.
    What :func:`certify` with as many ``max_evaluations`` disproves, the method ``"smallest"`` reports as
    broken; of linear problems it finds the smallest shift there is. That nothing is found proves
    nothing; :func:`certify` does.

    Parameters
    ----------
    problem : Problem
        The problem.
    people : table
        People: a DataFrame (pandas or polars), an Arrow table, a dict of columns, a list of dicts, one person
        as a dict, or an array with a row for each; in their own units.
    actions : Answers or Actions or table
        Answers of :func:`recourse`, :class:`Actions`, or a table of changes.
    method : str, default "auto"
        As in :func:`recourse`.
    id : str, optional
        The column that identifies people; ``"id"`` if there is one, otherwise the number of the row.
    max_evaluations : int, optional
        Bounds and evaluations that the search of :func:`certify` may cost for each action that the attacks of
        ``"smallest"`` do not break.
    progress : bool, default False
        Show a bar; needs tqdm.
    n_jobs : int, optional
        How many threads to use; all of them for None and -1.

    Returns
    -------
    Table
        A row for each person.

    Examples
    --------
    >>> import surefoot as sf
    >>> feature = sf.Feature("income", "increase", mean=3000, std=1500)
    >>> problem = sf.Problem([feature], sf.Classifier.linear([1.0]), epsilon=0.1)
    >>> people = {"income": [2400.0, 2400.0]}
    >>> sf.attack(problem, people, {"income": [700.0, 800.0]}).column("broken")
    array([ True, False])
    """
    given = _tables.prepare(people, problem.features, id)
    native = _actions(problem, actions)
    with _progress.bar(progress, native.acting(), "actions") as update, threads(n_jobs):
        table = _engine.attack(
            problem._native, given.source, native, given.ids, given.id, method, max_evaluations, update
        )
    return Table(table, problem.features, given.index)


@renamed(evaluations="max_evaluations")
def certify(
    problem: Problem,
    people: Any,
    actions: Answers | Actions | Any,
    *,
    id: str | None = None,
    max_evaluations: int | None = None,
    progress: bool = False,
    n_jobs: int | None = None,
) -> Table:
    """Proves of everybody's action that it holds for every shift guarded against, or that it does not.

    A row for each person: ``verdict`` (``"holds"``, ``"breaks"`` or ``"undecided"``), ``margin`` (at
    least, proven), ``margin_at_most`` and ``breaks_with``, a shift that breaks it; and ``feasible``,
    whether the action can be taken (limits, directions, whole numbers, constraints), whatever the
    verdict, with the ``reason`` why not.

    Parameters
    ----------
    problem : Problem
        The problem.
    people : table
        People: a DataFrame (pandas or polars), an Arrow table, a dict of columns, a list of dicts, one person
        as a dict, or an array with a row for each; in their own units.
    actions : Answers or Actions or table
        Answers of :func:`recourse`, :class:`Actions`, or a table of changes.
    id : str, optional
        The column that identifies people; ``"id"`` if there is one, otherwise the number of the row.
    max_evaluations : int, optional
        Bounds and evaluations that each action may cost.
    progress : bool, default False
        Show a bar; needs tqdm.
    n_jobs : int, optional
        How many threads to use; all of them for None and -1.

    Returns
    -------
    Table
        A row for each person.

    Examples
    --------
    >>> import surefoot as sf
    >>> feature = sf.Feature("income", "increase", mean=3000, std=1500)
    >>> problem = sf.Problem([feature], sf.Classifier.linear([1.0]), epsilon=0.1)
    >>> people = {"income": [2400.0, 2400.0]}
    >>> sf.certify(problem, people, {"income": [700.0, 800.0]}).column("verdict")
    ['breaks', 'holds']
    """
    given = _tables.prepare(people, problem.features, id)
    native = _actions(problem, actions)
    with _progress.bar(progress, native.acting(), "actions") as update, threads(n_jobs):
        table = _engine.certify(
            problem._native, given.source, native, given.ids, given.id, max_evaluations, update
        )
    return Table(table, problem.features, given.index)


def _count(source: Any) -> int | None:
    """How many people there are, if that is known before they are read."""
    if isinstance(source, list):
        return len(source[0])
    return len(source) if hasattr(source, "__len__") else None
