"""What the paper guarantees for a problem and its people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, cast

from . import _engine, _progress, _tables
from ._answers import Table
from ._problem import Problem
from ._settings import renamed, threads
from ._verbs import _count

__all__ = ["Theory", "theory"]

Existence = Literal["guaranteed", "impossible", "unknown"]


@dataclass(frozen=True)
class Theory:
    """The statements of the theory about a problem and, if they were given, about people.

    ``str(theory)`` gives the statements about the problem in words, and a summary for people.

    Examples
    --------
    >>> import surefoot as sf
    >>> feature = sf.Feature("income", "increase", mean=3000, std=1500, limits=(0, 6000))
    >>> problem = sf.Problem([feature], sf.Classifier.linear([1.0]), epsilon=0.1)
    >>> sf.theory(problem).unmet["fragility"]
    []
    """

    #: Whether everybody whom the classifier turns down has robust recourse: ``"guaranteed"``,
    #: ``"impossible"`` (nobody has) or ``"unknown"``.
    existence: Existence
    #: For each statement (``"existence"``, ``"extra_cost"``, ``"cost_stability"``, ``"fragility"``) the
    #: conditions that the problem does not meet; empty if all are met.
    unmet: dict[str, list[str]]
    #: The statements about the problem in words, and a summary for people.
    text: str
    #: A row for each person; ``None`` without people. ``status`` and ``cost`` are those of recourse without
    #: uncertainty. ``robust`` says whether robust recourse exists (``"exists"``, ``"none"``, ``"unknown"`` or
    #: ``"unneeded"``); ``robust_cost_at_most`` and ``factor_at_most`` bound its cost. ``scaled_is_feasible``
    #: says whether the action scaled by that factor is feasible. ``similar_cost_least`` and
    #: ``similar_cost_greatest`` are the costs of similar people (the latter NaN: one of them has no action).
    #: ``breaking_size``, ``breaking_margin``, ``shift:<feature>`` and ``breaks_with`` are a perturbation that
    #: breaks the action. ``text`` says all of it in words, and ``reason`` why a statement is missing.
    people: Table | None

    def __str__(self) -> str:
        return self.text


@renamed(evaluations="max_evaluations")
def theory(
    problem: Problem,
    people: Any = None,
    *,
    id: str | None = None,
    gap: float = 0.01,
    max_evaluations: int | None = None,
    progress: bool = False,
    n_jobs: int | None = None,
) -> Theory:
    """What the paper guarantees: whether robust recourse exists, what it costs at most, how stable its cost
    is, and the perturbation that breaks a minimum-cost action.

    Statements whose conditions a problem does not meet are left out, and the conditions are named.

    Parameters
    ----------
    problem : Problem
        The problem.
    people : table
        As in :func:`recourse`; without people the statements are about the problem alone.
    id : str, optional
        As in :func:`recourse`.
    gap : float, default 0.01
        How much dearer, as a share, an action without uncertainty should be at most than the proven bound;
        linear problems without constraints are solved exactly.
    max_evaluations : int, optional
        As in :func:`recourse`, for the search without uncertainty.
    progress : bool, default False
        Show a bar; needs tqdm.
    n_jobs : int, optional
        How many threads to use; all of them for None and -1.

    Returns
    -------
    Theory
        The statements.

    Examples
    --------
    >>> import surefoot as sf
    >>> feature = sf.Feature("income", "increase", mean=3000, std=1500)
    >>> problem = sf.Problem([feature], sf.Classifier.linear([1.0]), epsilon=0.1)
    >>> stated = sf.theory(problem, {"income": [2400, 3600]})
    >>> stated.existence
    'guaranteed'
    >>> stated.people.column("robust")
    ['exists', 'unneeded']
    >>> stated.people.column("breaks_with")
    ['income 0.0015 lower', None]
    >>> print(sf.theory(problem))
    Existence: everybody whom the classifier turns down has robust recourse (Proposition 3).
      `income` may change without limit in the direction that raises the score...
    """
    if people is None:
        stated = _engine.theory(problem._native, None, None, None, gap, max_evaluations, None)
        index = None
    else:
        given = _tables.prepare(people, problem.features, id)
        index = given.index
        with _progress.bar(progress, _count(given.source), "people") as update, threads(n_jobs):
            stated = _engine.theory(
                problem._native, given.source, given.ids, given.id, gap, max_evaluations, update
            )
    existence, unmet, text, native = stated
    table = None if native is None else Table(native, problem.features, index)
    return Theory(cast(Existence, existence), dict(unmet), text, table)
