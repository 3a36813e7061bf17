"""A case as every method is given it, and how methods tell what they found.

Each method is a program of its own, run in an environment of its own:

    python methods/NAME.py CASE.json FOUND.json SECONDS

It answers the people of the case one after the other, or all at once, stops when the seconds are over,
and writes what it found for those it came to.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

import numpy as np

Array = np.ndarray


@dataclass
class Case:
    """A classifier, people whom it turns down, and what they may change, in standardised units."""

    #: Name, change (fixed, any, increase, decrease), and limits (lower, upper), which may be none.
    features: list[dict[str, Any]]
    #: Weight (one row for each output) and bias of each layer, tanh between them; favourable is a logit
    #: that is not negative: the threshold is in the last bias.
    layers: list[tuple[Array, Array]]
    known: Array
    known_favourable: Array
    people: Array
    #: The least and the greatest value that each feature of each person may take.
    lowest: Array
    highest: Array
    #: Positions of what may be changed.
    actionable: list[int]

    @classmethod
    def read(cls, path: str) -> Case:
        stored = json.loads(Path(path).read_text())
        layers = [(np.array(layer["weight"]), np.array(layer["bias"])) for layer in stored["layers"]]
        threshold = stored["threshold"]
        layers[-1] = (layers[-1][0], layers[-1][1] - np.log(threshold / (1 - threshold)))
        people = np.array(stored["people"])
        lowest, highest = people.copy(), people.copy()
        features = stored["features"]
        for i, feature in enumerate(features):
            if feature["change"] in ("any", "decrease"):
                lowest[:, i] = (
                    -np.inf if feature["lower"] is None else np.minimum(feature["lower"], people[:, i])
                )
            if feature["change"] in ("any", "increase"):
                highest[:, i] = (
                    np.inf if feature["upper"] is None else np.maximum(feature["upper"], people[:, i])
                )
        return cls(
            features=features,
            layers=layers,
            known=np.array(stored["known"]),
            known_favourable=np.array(stored["known_favourable"]),
            people=people,
            lowest=lowest,
            highest=highest,
            actionable=[i for i, feature in enumerate(features) if feature["change"] != "fixed"],
        )

    @property
    def names(self) -> list[str]:
        return [feature["name"] for feature in self.features]

    def logit(self, rows: Array) -> Array:
        """The logit of every row."""
        for number, (weight, bias) in enumerate(self.layers):
            rows = (np.tanh(rows) if number else rows) @ weight.T + bias
        return rows[:, 0]

    def probability(self, rows: Array) -> Array:
        """Favourable from one half on."""
        return 1 / (1 + np.exp(-self.logit(rows)))

    def room(self) -> tuple[Array, Array]:
        """What each person may reach, with ends: where there is no limit, one range of the known people
        further than they or the person are. No cheapest action goes that far."""
        spread = self.known.max(axis=0) - self.known.min(axis=0)
        least = np.minimum(self.known.min(axis=0), self.people) - spread
        most = np.maximum(self.known.max(axis=0), self.people) + spread
        return np.maximum(self.lowest, least), np.minimum(self.highest, most)


@dataclass
class Found:
    """What a method found."""

    method: str
    #: The uncertainty that it was told to guard against.
    epsilon: float
    #: For so many people, of the clock, on all cores.
    seconds: float
    #: What becomes of each of the first people; nothing where it found nothing.
    counterfactuals: list[Optional[list[float]]]
    #: Settings, and whatever else is to be known.
    note: str


class TooLong(BaseException):
    """One person took as long as all of them may."""


def one_by_one(
    case: Case, seconds: float, answer: Callable[[int], Optional[Array]]
) -> tuple[float, list[Optional[list[float]]]]:
    """Answers person after person until the time is over; the first, who pays for what is made once,
    is asked twice and counted once. Whoever takes all of the time alone is not answered."""

    def stop(*_: object) -> None:
        raise TooLong

    def answered(person: int) -> Optional[Array]:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            return answer(person)
        except TooLong:
            return None
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    signal.signal(signal.SIGALRM, stop)
    answered(0)
    found: list[Optional[list[float]]] = []
    start = time.perf_counter()
    for person in range(len(case.people)):
        reached = answered(person)
        found.append(None if reached is None or not np.isfinite(reached).all() else list(map(float, reached)))
        if time.perf_counter() - start > seconds:
            break
    return time.perf_counter() - start, found


def together(seconds: float, answer: Callable[[], Any], turns: int = 9) -> tuple[float, Any]:
    """Answers everybody at once as often as fits into the time; the median of the seconds counts. The
    first turn, which pays for what is made once, counts only if there is no time for another."""
    begin = time.perf_counter()
    taken = []
    while True:
        start = time.perf_counter()
        found = answer()
        taken.append(time.perf_counter() - start)
        if len(taken) > turns or time.perf_counter() - begin + taken[-1] > seconds:
            return float(np.median(taken[1:] or taken)), found


def run(method: Callable[[Case, float], list[Found]]) -> None:
    """What a method's program does."""
    source, target, seconds = sys.argv[1:]
    found = method(Case.read(source), float(seconds))
    Path(target).write_text(json.dumps([vars(one) for one in found]))
