"""What can be asked: recourse, attack, certify, train."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Union

import numpy as np
from numpy.typing import ArrayLike

from . import _engine, _progress, _tables
from ._answers import Answers, Table
from ._features import Feature
from ._models import Activation, Classifier
from ._problem import Problem
from .errors import MissingPackageError, PeopleError, SettingError, TrainingError, TrainingWarning

if TYPE_CHECKING:
    import pyarrow

__all__ = ["Actions", "TradeOff", "attack", "certify", "recourse", "recourse_batches", "trade_off", "train"]


def recourse(
    problem: Problem,
    people: Any,
    *,
    id: str | None = None,
    method: str = "auto",
    gap: float = 0.01,
    evaluations: int | None = None,
    seconds: float | None = None,
    options: int = 1,
    explain: bool = False,
    progress: bool = False,
) -> Answers:
    """What everybody can do, at the least effort, that still works if circumstances shift.

    Linear problems are solved exactly, others by search with proof.

    >>> import surefoot as sf
    >>> feature = sf.Feature("income", "increase", mean=3000, std=1500)
    >>> problem = sf.Problem([feature], sf.Classifier.linear([1.0]), epsilon=0.1)
    >>> answers = sf.recourse(problem, {"income": [2417, 3600]})
    >>> answers
    <2 answers: 1 favourable, 1 found>
    >>> print(answers[0])
    Raise income by 733.1 (from 2417 to 3150.1). This still works if circumstances shift a little: \
income by up to 150. That is proven, as is that no cheaper allowed action would do.

    :param people: a DataFrame (pandas or polars), an Arrow table, a dict of columns, a list of
        dicts, one person as a dict, or an array with a row for each person; in their own units.
    :param id: the column that identifies people; ``"id"`` if there is one, otherwise the number
        of the row.
    :param method: ``"exact"`` for linear problems, ``"trees"`` for tree ensembles and ``"complete"`` for all, each
        with proof;
        ``"local"``, a fast search, and ``"descent"``, the paper's Algorithm 1, prove nothing, and their
        actions have the status ``"unproved"``; ``"auto"`` is the first of the proving ones that applies.
    :param gap: by how much, as a share, an action may cost more than the proven bound; linear
        problems without constraints are solved exactly. The method ``"local"`` proves no bound; its actions
        may cost more by this share if they then change fewer features. Only the default is accepted with the
        method ``"descent"``.
    :param evaluations: bounds and evaluations that the search for each person may cost, hard cases up
        to five times as many; 60,000, about a second, if not given. Linear problems without
        constraints need none.
    :param seconds: seconds that the answer of each person may take: the best proven action and the best
        bound that were found by then. Such answers depend on the machine; those under ``evaluations``
        alone do not. Without ``evaluations``, time is then the only limit. Both are refused with the method
        ``"descent"``, which they do not limit.
    :param options: up to so many actions for each person that change different things, the cheapest
        first: several rows, with a column ``option``.
    :param explain: say also what stands in the way of those who provably have no action: for how much
        less uncertainty there is one, and which limits, fixed features or rules would have to give
        way. One person alone, and everybody if the problem is linear without constraints, is told so
        anyway; otherwise it may cost up to seven times ``evaluations`` for each of them.
    :param progress: show a bar; needs tqdm.
    """
    given = _tables.prepare(people, problem.features, id)
    with _progress.bar(progress, _count(given.source), "people") as update:
        native = _engine.recourse(
            problem._native,
            given.source,
            given.ids,
            given.id,
            method,
            gap,
            evaluations,
            seconds,
            options,
            explain,
            update,
        )
    index = given.index
    if index is not None and options > 1:
        index = index.take([native.person_of(row) for row in range(len(native))])
    return Answers(native, problem.features, index)


class TradeOff(Table):
    """What certainty costs one person: a row for each size of the uncertainty.

    Columns are ``epsilon``, ``status``, ``cost``, ``cost_bound`` and ``text``, the answer in words.
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


def trade_off(
    problem: Problem,
    person: Any,
    epsilons: Iterable[float] | None = None,
    *,
    method: str = "auto",
    gap: float = 0.01,
    evaluations: int | None = None,
    seconds: float | None = None,
    progress: bool = False,
) -> TradeOff:
    """The cheapest action of one person as a function of the uncertainty to guard against.

    What holds for more uncertainty holds for less, so that answers for different sizes complete each
    other: costs and bounds rise with epsilon. The epsilon of the problem does not matter.

    >>> import surefoot as sf
    >>> feature = sf.Feature("income", "increase", mean=3000, std=1500, limits=(0, 6000))
    >>> problem = sf.Problem([feature], sf.Classifier.linear([1.0]), epsilon=0.1)
    >>> curve = sf.trade_off(problem, {"income": 2400}, [0, 0.5, 3])
    >>> curve.column("status")
    ['found', 'found', 'impossible']
    >>> 1.98 < curve.possible <= 2 <= curve.impossible < 2.02
    True

    :param epsilons: the sizes; otherwise twelve up to where no action holds.
    :param method: as in :func:`recourse`, but one that proves its answers.
    :param gap: as in :func:`recourse`.
    :param evaluations: as in :func:`recourse`; the whole curve may cost up to seven times as many.
    :param seconds: as in :func:`recourse`, for each search.
    :param progress: show the number of searches; needs tqdm.
    """
    given = _tables.prepare(person, problem.features)
    sizes = None if epsilons is None else [float(epsilon) for epsilon in epsilons]
    with _progress.bar(progress, None, "searches") as update:
        native, possible, impossible = _engine.trade_off(
            problem._native, given.source, sizes, method, gap, evaluations, seconds, update
        )
    return TradeOff(native, problem.features, possible, impossible)


def recourse_batches(
    problem: Problem, batches: Iterable[Any], **settings: Any
) -> Iterator[pyarrow.RecordBatch]:
    """Answers batch by batch, for tables that do not fit into memory and for clusters.

    Takes Arrow record batches (or any table) and gives one record batch for each that has rows;
    settings are those of :func:`recourse`. Without a column that identifies people they are
    numbered anew in each batch.

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
        """
        before = _tables.prepare(people, problem.features).source
        after = _tables.prepare(counterfactuals, problem.features).source
        return cls(_engine.Actions.from_counterfactuals(problem._native, before, after))

    def __len__(self) -> int:
        return len(self._native)

    def __repr__(self) -> str:
        return f"<{self._native.acting()} actions of {len(self)} people>"


def _actions(problem: Problem, actions: Any) -> _engine.Actions:
    if isinstance(actions, Answers):
        return actions._native.actions()
    if isinstance(actions, Actions):
        return actions._native
    return Actions.from_changes(problem, actions)._native


def attack(
    problem: Problem,
    people: Any,
    actions: Answers | Actions | Any,
    *,
    method: Literal[
        "smallest", "fast_gradient", "projected_gradient", "deepfool", "carlini_wagner"
    ] = "smallest",
    id: str | None = None,
    evaluations: int | None = None,
    progress: bool = False,
) -> Table:
    """Tries to break everybody's action: the smallest shift found that undoes it.

    A row for each person: ``broken`` (within the uncertainty guarded against), ``smallest_break``,
    the size of the smallest shift found, with ``margin`` and ``shift:<feature>``, and ``breaks_with``,
    the same in words; and ``feasible``, whether the action can be taken, with the ``reason`` why not.
    What :func:`certify` with as many ``evaluations`` disproves, the method ``"smallest"`` reports as
    broken; of linear problems it finds the smallest shift there is. That nothing is found proves
    nothing; :func:`certify` does.

    >>> import surefoot as sf
    >>> feature = sf.Feature("income", "increase", mean=3000, std=1500)
    >>> problem = sf.Problem([feature], sf.Classifier.linear([1.0]), epsilon=0.1)
    >>> people = {"income": [2400.0, 2400.0]}
    >>> sf.attack(problem, people, {"income": [700.0, 800.0]}).column("broken")
    array([ True, False])

    :param actions: answers of :func:`recourse`, :class:`Actions`, or a table of changes.
    :param evaluations: bounds and evaluations that the search of :func:`certify` may cost for each
        action that the attacks of ``"smallest"`` do not break.
    """
    given = _tables.prepare(people, problem.features, id)
    native = _actions(problem, actions)
    with _progress.bar(progress, native.acting(), "actions") as update:
        table = _engine.attack(
            problem._native, given.source, native, given.ids, given.id, method, evaluations, update
        )
    return Table(table, problem.features, given.index)


def certify(
    problem: Problem,
    people: Any,
    actions: Answers | Actions | Any,
    *,
    id: str | None = None,
    evaluations: int | None = None,
    progress: bool = False,
) -> Table:
    """Proves of everybody's action that it holds for every shift guarded against, or that it does not.

    A row for each person: ``verdict`` (``"holds"``, ``"breaks"`` or ``"undecided"``), ``margin`` (at
    least, proven), ``margin_at_most`` and ``breaks_with``, a shift that breaks it; and ``feasible``,
    whether the action can be taken (limits, directions, whole numbers, constraints), whatever the
    verdict, with the ``reason`` why not.

    >>> import surefoot as sf
    >>> feature = sf.Feature("income", "increase", mean=3000, std=1500)
    >>> problem = sf.Problem([feature], sf.Classifier.linear([1.0]), epsilon=0.1)
    >>> people = {"income": [2400.0, 2400.0]}
    >>> sf.certify(problem, people, {"income": [700.0, 800.0]}).column("verdict")
    ['breaks', 'holds']

    :param actions: answers of :func:`recourse`, :class:`Actions`, or a table of changes.
    :param evaluations: bounds and evaluations that each action may cost.
    """
    given = _tables.prepare(people, problem.features, id)
    native = _actions(problem, actions)
    with _progress.bar(progress, native.acting(), "actions") as update:
        table = _engine.certify(
            problem._native, given.source, native, given.ids, given.id, evaluations, update
        )
    return Table(table, problem.features, given.index)


def train(
    features: Sequence[Feature],
    people: Any,
    outcomes: ArrayLike,
    *,
    favourable: object = None,
    objective: Literal["erm", "af", "allr", "ross"] = "erm",
    mu_1: float = 3.0,
    mu_2: float = 0.1,
    radius: float = 0.1,
    ross_weight: float = 0.8,
    ross_reach: float = 0.75,
    hidden: Sequence[int] = (16,),
    activation: Activation = "tanh",
    epochs: int = 200,
    batch: int = 100,
    step: float = 0.01,
    balanced: bool = False,
    validation: float | None = 0.2,
    patience: int | None = None,
    test: float | None = 0.2,
    threshold: Union[float, Literal["mcc", "accuracy"], tuple[Literal["fpr"], float]] = "mcc",
    seed: int = 0,
    errors: bool = False,
    progress: bool = False,
) -> Classifier:
    """Trains the classifier that decides, so that those it turns down can do something about it.

    Unless told otherwise this is a small network. A fifth of the rows is held out to test on, and a fifth
    of the rest to decide when to stop; ``accuracy`` of the classifier says how often it is right in
    training and on rows held out. Where these differ by more than chance, as they do where training rows
    are learnt by heart, a :class:`TrainingWarning <surefoot.TrainingWarning>` says so. By more than chance means
    by more than 2.576 standard errors, ``sqrt(p (1 - p) (1/n + 1/m))`` with the accuracy ``p`` on all
    ``n + m`` rows, which happens in one of a hundred cases if it is as good for everybody. The same seed
    gives the same classifier on any number of threads, and the same as ``surefoot train`` gives.

    >>> import numpy as np, surefoot as sf
    >>> random = np.random.default_rng(0)
    >>> people = {"age": random.normal(40, 9, 500), "income": random.normal(3000, 800, 500)}
    >>> features = sf.features(people, change={"income": "increase"})
    >>> paid_back = people["income"] + random.normal(0, 500, 500) > 2800
    >>> classifier = sf.train(features, people, paid_back, objective="allr")
    >>> classifier
    Classifier(network 2-16-1 tanh, threshold ..., accuracy 0.8... in training and 0.8... held out)
    >>> training, held_out = classifier.accuracy

    :param outcomes: of each person: truths, 0 and 1, or whatever ``favourable`` is one of.
    :param objective: ``"erm"`` (being right), ``"af"`` (by what people can change alone), ``"allr"``
        (locally linear, with weight ``mu_1`` within ``radius``, and not relying on what people cannot
        change, with weight ``mu_2``) or ``"ross"`` (an action of length ``ross_reach`` suffices).
    :param hidden: widths of the hidden layers; none for a logistic regression.
    :param epochs: passes over the rows, at most.
    :param validation: the share of the rows, after those to test on, that decides when to stop; None or 0
        to train on them too, for all ``epochs``.
    :param patience: stop once the loss on these rows has not improved for so many epochs, and keep the
        best; 20 if not given.
    :param test: the share of the rows that is held out to test on; None or 0 for none, for example
        because you hold out your own. The accuracy on rows held out is then that on those of
        ``validation``, which flatters it a little.
    :param threshold: a probability, the best by Matthews correlation or accuracy, or
        ``("fpr", 0.05)`` for a false-positive rate.
    :param errors: fit a logistic regression (``hidden=()``) by maximum likelihood to all training rows, without
        epochs and early stopping. ``covariance`` of the classifier is then that of its weights and ``loss`` the loss,
        for :meth:`Uncertainty.weights <surefoot.Uncertainty.weights>`.
    """
    if errors and (hidden or objective != "erm" or balanced):
        raise SettingError(
            "errors are those of a logistic regression by maximum likelihood; give hidden=() and neither an objective "
            "nor balanced"
        )
    if patience is not None and not validation:
        raise SettingError(
            "patience needs rows held out for early stopping; give validation, for example 0.2"
        )
    word: str
    if isinstance(threshold, str):
        word, at = threshold, 0.5
    elif isinstance(threshold, tuple):
        word, at = threshold
    else:
        word, at = "fixed", float(threshold)
    settings: Mapping[str, object] = {
        "objective": objective, "linearity": mu_1, "reliance": mu_2, "radius": radius,
        "ross_weight": ross_weight, "ross_reach": ross_reach, "hidden": list(hidden), "activation": activation,
        "epochs": epochs, "batch": batch, "step": step, "balanced": balanced,
        "validation": validation or 0.0, "patience": 20 if patience is None else patience,
        "test": test or 0.0, "threshold": word, "threshold_at": at, "seed": seed,
        "errors": errors,
    }  # fmt: skip
    source = _tables.prepare(people, features).source
    labels = _labels(outcomes, favourable)
    with _progress.bar(progress, epochs, "epoch") as update:
        trained = _engine.train(features, source, labels, settings, update)
    training, held_out = trained["accuracy"]
    if trained["differs"] and held_out is not None:
        if training > held_out:
            meaning = "expect the latter for other people. "
            meaning += (
                "Take fewer or smaller layers (hidden)" if validation else "Let it stop early (validation)"
            )
            meaning += ", or give more rows"
        else:
            meaning = "the rows held out may not be like those it was trained on"
        warnings.warn(
            f"an accuracy of {training:.3f} in training and of {held_out:.3f} on rows held out differ by more "
            f"than chance would explain: {meaning}",
            TrainingWarning,
            stacklevel=2,
        )
    return Classifier(
        tuple(trained["layers"]),
        activation,
        trained["threshold"],
        losses=tuple(trained["losses"]),
        accuracy=trained["accuracy"],
        covariance=None if trained["covariance"] is None else np.asarray(trained["covariance"]),
        loss=trained["loss"],
    )


def _labels(outcomes: Any, favourable: object) -> np.ndarray[Any, np.dtype[np.bool_]]:
    values = np.asarray(_tables.to_list(outcomes))
    if favourable is not None:
        labels = np.asarray(values == favourable)
        if not labels.any():
            known = ", ".join(str(value) for value in list(dict.fromkeys(values.tolist()))[:5])
            raise TrainingError(f"no outcome is {favourable!r}; favourable must be one of {known}")
        return labels
    if values.dtype != np.bool_ and not (values.dtype.kind in "iuf" and np.isin(values, (0, 1)).all()):
        raise TrainingError(
            "outcomes are neither truths nor 0 and 1; say with `favourable` which is favourable"
        )
    return values.astype(np.bool_)


def _count(source: Any) -> int | None:
    """How many people there are, if that is known before they are read."""
    if isinstance(source, list):
        return len(source[0])
    return len(source) if hasattr(source, "__len__") else None
