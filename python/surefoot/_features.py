"""Features: the columns of people's tables, and what an action may do to them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Optional

from . import _engine, _tables
from .errors import FeatureError

Change = Literal["fixed", "any", "increase", "decrease"]
Kind = Literal["real", "integer", "binary", "category", "ordinal"]
Limits = tuple[Optional[float], Optional[float]]

__all__ = ["Change", "Feature", "Kind", "features"]


@dataclass(frozen=True)
class Feature:
    """One column of people's tables.

    Uncertainty and cost are measured in standard deviations: ``mean`` and ``std`` say, in the
    feature's own units, what counts as zero and as one.

    Parameters
    ----------
    name : str
        The name.
    change : {"fixed", "any", "increase", "decrease"}, default "fixed"
        What an action may do: ``"fixed"``, ``"any"``, ``"increase"``, ``"decrease"``; categories are fixed or
        change to any.
    mean : float, default 0.0
        The value that counts as zero.
    std : float, default 1.0
        The difference that counts as one.
    limits : pair of float, optional
        The lowest and the highest value, in own units; None for none.
    weight : float, default 1.0
        What changing it by one standard deviation costs.
    norm_weight : float, default 1.0
        What a shift by one standard deviation counts in the norm.
    kind : str, default "real"
        ``"real"``, ``"integer"`` or ``"binary"``; ``"category"`` (one of several names) or ``"ordinal"``
        (names in an order) with their ``categories``.
    categories : sequence of object, default ()
        The names of the categories, of a ``"category"`` or an ``"ordinal"``.
    step : float, optional
        The smallest change, in own units: every action changes it by a multiple of this.
    most_change : float, optional
        The largest change, in own units.
    most_change_share : float, optional
        The largest change as a share of a person's own value.
    label : str, optional
        What people read instead of the name.
    unit : str or sequence of str, optional
        The unit of its amounts in sentences, with ``{}`` where the number stands: ``"EUR {}"``; a pair for
        the number 1 and for all others: ``("month", "months")``.
    describe : mapping, optional
        What categories or whole numbers read like: ``{"A11": "overdrawn account"}``.
    special : sequence of float or mapping of float to str, default ()
        Numbers that are no amounts, such as ``[-9]`` or ``{-9: "no bureau record"}``: nothing changes them,
        no shift moves them, and they may be outside of the limits.
    ordered : bool, default False
        Whether the ``categories`` of a ``"category"`` have an order, the lowest first, so that they may
        change to ``"increase"`` or ``"decrease"`` only. The model takes a column for each of them, as
        ``OneHotEncoder`` makes them; for a model that takes their positions there is ``kind="ordinal"``.
    missing : mapping, optional
        What a missing value (None, NaN, NA) means, such as ``{"value": 2400, "between": (1000, 4000)}``: the
        decision takes it as ``value``, answers hold for every value ``between`` the two, and no action changes
        it. ``"mean"`` stands for the mean. Without it a missing value is an error.

    Examples
    --------
    >>> Feature("income", "increase", mean=3000, std=1500, limits=(0, None))
    Feature('income', 'increase', mean=3000, std=1500, limits=(0.0, inf))
    >>> Feature("job", categories=["clerk", "farmer"])
    Feature('job', kind='category', categories=('clerk', 'farmer'))
    """

    name: str
    change: Change = "fixed"
    mean: float = 0.0
    std: float = 1.0
    limits: Limits | None = None
    weight: float = 1.0
    norm_weight: float = 1.0
    kind: Kind = "real"
    categories: Sequence[object] = ()
    step: float | None = None
    most_change: float | None = None
    most_change_share: float | None = None
    label: str | None = None
    unit: str | Sequence[str] | None = None
    describe: Mapping[Any, str] | None = dataclasses.field(default=None, hash=False)
    special: Sequence[float] | Mapping[float, str] = dataclasses.field(default=(), hash=False)
    ordered: bool = False
    missing: Mapping[str, Any] | None = dataclasses.field(default=None, hash=False)

    def __post_init__(self) -> None:
        if self.limits is not None:
            lower, upper = self.limits
            limits = (
                -math.inf if lower is None else float(lower),
                math.inf if upper is None else float(upper),
            )
            object.__setattr__(self, "limits", limits)
        object.__setattr__(self, "categories", tuple(self.categories))
        if self.unit is not None and not isinstance(self.unit, str):
            object.__setattr__(self, "unit", tuple(self.unit))
        if self.describe is not None:
            object.__setattr__(self, "describe", dict(self.describe) or None)
        special = self.special
        if special and (isinstance(special, Mapping) or isinstance(special[0], tuple)):
            kept: object = {float(value): words for value, words in dict(special).items()}
        else:
            kept = tuple(float(value) for value in special)
        object.__setattr__(self, "special", kept)
        if self.missing is not None:
            object.__setattr__(self, "missing", dict(self.missing))
        if self.categories and self.kind == "real":
            object.__setattr__(self, "kind", "category")
        named = self.kind in ("category", "ordinal")
        if named != bool(self.categories):
            remedy = "give its categories" if named else "leave them out, or make it a category"
            raise FeatureError(
                f"feature `{self.name}` is {self.kind} with {len(self.categories)} categories; {remedy}"
            )
        if self.ordered and self.kind != "category":
            raise FeatureError(
                f'feature `{self.name}` is {self.kind}; ordered is about kind="category", leave it out'
            )
        if len(set(self._labels)) < len(self.categories):
            raise FeatureError(f"feature `{self.name}`: a category is given twice; remove one")

    @property
    def _labels(self) -> list[str]:
        """Categories as the engine knows them."""
        return [_tables.label(category) for category in self.categories]

    @property
    def _unit(self) -> list[str] | None:
        """The forms of the unit as the engine knows them."""
        if self.unit is None:
            return None
        return [self.unit] if isinstance(self.unit, str) else list(self.unit)

    @property
    def _described(self) -> list[tuple[str, str]]:
        """Values and their words as the engine knows them."""
        return [(_tables.label(value), words) for value, words in (self.describe or {}).items()]

    @property
    def _special(self) -> list[tuple[float, str | None]]:
        """Special values and their meanings as the engine knows them."""
        if isinstance(self.special, Mapping):
            return list(self.special.items())
        return [(value, None) for value in self.special]

    @property
    def _missing(self) -> tuple[float, float, float] | None:
        """What stands in for a missing value, and between which it is, as the engine knows them."""
        if self.missing is None:
            return None
        if set(self.missing) - {"value", "between"} or "value" not in self.missing:
            raise FeatureError(
                f"feature `{self.name}`: missing is {dict(self.missing)}; give a value and between which it is, "
                'such as {"value": 2400, "between": (1000, 4000)}'
            )
        value, between = self.missing["value"], self.missing.get("between")
        if self.kind == "ordinal" and between is None:
            between = (self.categories[0], self.categories[-1])
        if not isinstance(between, Sequence) or isinstance(between, str) or len(between) != 2:
            raise FeatureError(
                f"feature `{self.name}`: between which values a missing one is must be a pair, not {between!r}"
            )
        if isinstance(value, str) and value == "mean" and self.kind != "ordinal":
            value = self.mean if self.kind == "real" else round(self.mean)
        return (self._number(value), self._number(between[0]), self._number(between[1]))

    def _number(self, value: Any) -> float:
        """A value as the engine knows it: of names in an order, the position."""
        if self.kind == "ordinal":
            if _tables.label(value) not in self._labels:
                raise FeatureError(f"feature `{self.name}`: {value!r} is none of its categories")
            return float(self._labels.index(_tables.label(value)))
        try:
            return float(value)
        except (TypeError, ValueError):
            raise FeatureError(
                f'feature `{self.name}`: {value!r} is to stand in for a missing value; give a number or "mean"'
            ) from None

    @property
    def _width(self) -> int:
        """How many features of the engine it becomes."""
        return len(self.categories) if self.kind == "category" else 1

    def __repr__(self) -> str:
        parts = [repr(self.name)]
        if self.change != "fixed":
            parts.append(repr(self.change))
        usual: dict[str, object] = {
            "mean": 0.0,
            "std": 1.0,
            "limits": None,
            "weight": 1.0,
            "norm_weight": 1.0,
        }
        usual |= {
            "kind": "real",
            "categories": (),
            "label": None,
            "unit": None,
            "describe": None,
            "special": (),
            "ordered": False,
            "missing": None,
        }
        usual |= {"step": None, "most_change": None, "most_change_share": None}
        for field, value in usual.items():
            if getattr(self, field) != value:
                parts.append(f"{field}={getattr(self, field)!r}")
        return f"Feature({', '.join(parts)})"


def features(
    people: Any,
    *,
    change: Mapping[str, Change] | None = None,
    kind: Mapping[str, Kind] | None = None,
    limits: Mapping[str, Limits | None] | None = None,
    weight: Mapping[str, float] | None = None,
    norm_weight: Mapping[str, float] | None = None,
    step: Mapping[str, float] | None = None,
    most_change: Mapping[str, float] | None = None,
    most_change_share: Mapping[str, float] | None = None,
    categories: Mapping[str, Sequence[object]] | None = None,
    label: Mapping[str, str] | None = None,
    unit: Mapping[str, str | Sequence[str]] | None = None,
    describe: Mapping[str, Mapping[Any, str]] | None = None,
    special: Mapping[str, Sequence[float] | Mapping[float, str]] | None = None,
    ordered: Mapping[str, bool] | None = None,
    missing: Mapping[str, Mapping[str, Any]] | None = None,
    columns: Iterable[str] | None = None,
    observed_limits: bool = True,
) -> list[Feature]:
    """Features from a table: means, standard deviations and limits, and the categories of columns of text.

    Whatever is not in ``change`` is fixed. Columns of whole numbers change by whole numbers, unless
    ``kind`` says ``"real"``; columns of 0 and 1 are binary. The limits of every other column of numbers
    are the lowest and the highest value in the table, as ``surefoot init`` takes them: no action leads to
    what nobody in the table has, and people beyond them are refused. Missing values are passed over.

    Parameters
    ----------
    people : table
        A DataFrame, an Arrow table, or a dict of columns.
    change : mapping of str to Change, optional
        What an action may do to columns, such as ``{"income": "increase"}``; all others are fixed.
    kind : mapping of str to Kind, optional
        For columns that are not what they look like, such as ``{"job": "category"}`` where jobs have numbers.
    limits : mapping of str to pair of float, optional
        Of columns that may go further than in the table, or less far.
    weight : mapping of str to float, optional
        What changing columns by one standard deviation costs.
    norm_weight : mapping of str to float, optional
        What shifts of columns by one standard deviation count in the norm.
    step : mapping of str to float, optional
        The smallest changes of columns, in own units.
    most_change : mapping of str to float, optional
        The largest changes of columns, in own units.
    most_change_share : mapping of str to float, optional
        The largest changes of columns as shares of a person's own value.
    categories : mapping of str to sequence of object, optional
        Of columns that have more than are in the table, or an order of their own.
    label : mapping of str to str, optional
        What people read instead of the names of columns.
    unit : mapping of str to str or sequence of str, optional
        The units of columns, such as ``{"income": "EUR {}"}``.
    describe : mapping of str to mapping, optional
        What the values of columns read like.
    special : mapping of str to sequence of float or mapping of float to str, optional
        The numbers of columns that are no amounts; they are kept out of means, standard deviations and
        limits.
    ordered : mapping of str to bool, optional
        Columns of categories with an order, of each of which the model takes a column.
    missing : mapping of str to mapping, optional
        What missing values of columns mean; see :class:`Feature`.
    columns : iterable of str, optional
        Which columns are features, in this order; all of them if not given.
    observed_limits : bool, default True
        Whether columns that are not in ``limits`` are limited to the range of the table; otherwise they have
        no limits.

    Returns
    -------
    list[Feature]
        The features.

    Examples
    --------
    >>> people = {"age": [25.0, 35.0, 45.0], "income": [1000.0, 3000.0, 5000.0], "job": ["a", "b", "a"]}
    >>> for feature in features(people, change={"income": "increase"}):
    ...     print(feature)
    Feature('age', mean=35.0, std=10.0, limits=(25.0, 45.0))
    Feature('income', 'increase', mean=3000.0, std=2000.0, limits=(1000.0, 5000.0))
    Feature('job', kind='category', categories=('a', 'b'))

    Limits that are given count instead of those of the table; None for none.

    >>> features(people, limits={"income": (0, None), "age": None})[:2]
    [Feature('age', mean=35.0, std=10.0), Feature('income', mean=3000.0, std=2000.0, limits=(0.0, inf))]
    >>> features(people, observed_limits=False)[0]
    Feature('age', mean=35.0, std=10.0)
    """
    names = _tables.column_names(people)
    chosen = names if columns is None else list(columns)
    given: dict[str, Mapping[str, Any]] = {}
    for field, values in {
        "change": change,
        "kind": kind,
        "limits": limits,
        "weight": weight,
        "norm_weight": norm_weight,
        "step": step,
        "most_change": most_change,
        "most_change_share": most_change_share,
        "categories": categories,
        "label": label,
        "unit": unit,
        "describe": describe,
        "special": special,
        "ordered": ordered,
        "missing": missing,
    }.items():
        given[field] = values or {}
        for name in given[field]:
            if name not in chosen:
                raise FeatureError(f"{field}: `{name}` is no column; there are {_tables.quoted(chosen)}")
    made = []
    for name in chosen:
        settings: dict[str, Any] = {field: values[name] for field, values in given.items() if name in values}
        values = _tables.column(people, name)
        is_named = settings.get("kind") in ("category", "ordinal")
        if is_named or not _tables.is_numeric(values):
            settings.setdefault("kind", "category")
            settings.setdefault("categories", _tables.distinct(values))
            made.append(Feature(name, **settings))
            continue
        numbers = _tables.numbers(values, name)
        for value in settings.get("special", ()):
            numbers = numbers[numbers != float(value)]
        observed = _engine.observe(name, numbers)
        if observed["is_binary"]:
            settings.setdefault("kind", "binary")
        elif _tables.is_whole(values):
            settings.setdefault("kind", "integer" if "change" in settings else "real")
        if settings.get("kind") != "binary":
            settings |= {"mean": observed["mean"], "std": observed["std"]}
            if observed_limits:
                settings.setdefault("limits", observed["limits"])
        made.append(Feature(name, **settings))
    return made
