"""Committees: several classifiers, of which all or at least some must be favourable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Union

from ._models import Classifier
from .errors import ClassifierError

__all__ = ["Committee"]


class Committee:
    """Several classifiers of any kinds: favourable where at least `agree` of them are.

    Parameters
    ----------
    members : mapping of str to Classifier, sequence of Classifier
        The classifiers, by their names or numbered from 1.
    agree : int, optional
        How many of them must be favourable at least; all if not given.

    Examples
    --------
    >>> import surefoot as sf
    >>> features = [sf.Feature("income", "increase", mean=3000, std=1500)]
    >>> versions = {"2022": sf.Classifier.linear([1.0], -0.5), "2023": sf.Classifier.linear([1.0], -1.0)}
    >>> problem = sf.Problem(features, sf.Committee(versions), epsilon=0.0)
    >>> round(float(sf.recourse(problem, {"income": 3000})[0].action["income"]))
    1501
    """

    def __init__(
        self, members: Union[Mapping[str, Classifier], Sequence[Classifier]], *, agree: int | None = None
    ) -> None:
        if isinstance(members, Mapping):
            named = dict(members)
        else:
            named = {str(number): member for number, member in enumerate(members, 1)}
        if not named:
            raise ClassifierError("a committee needs at least one member")
        self.members = named
        self.agree = len(named) if agree is None else agree

    def __repr__(self) -> str:
        return f"Committee({', '.join(self.members)}; {self.agree} of {len(self.members)} must agree)"
