"""What the actions of every method are worth: judged alike, by the engine, in the environment of the package.

    python judge.py CASE.json JUDGED.json FOUND.json...

An action counts as valid if it stays within what the person may change and the classifier, in doubles, is
then favourable. Those that are valid are certified and attacked for an uncertainty of 0.1.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent / "methods"))
from case import Array, Case
from ours import problem

import surefoot as sf

EPSILON = 0.1
#: So many actions of each method are certified and attacked.
TRIED = 200
#: What floats may leave of limits, and of what is to stay.
ROUNDING = 1e-5
#: What counts as equal: shares of people, and costs.
FEWER, DEARER = 0.005, 0.01


def valid(case: Case, found: dict[str, Any]) -> tuple[Array, Array]:
    """Of the people that a method came to, what becomes of them and whether that is valid."""
    width = len(case.names)
    rows = np.array([row or [np.nan] * width for row in found["counterfactuals"]]).reshape(-1, width)
    asked = slice(0, len(rows))
    lowest, highest = case.lowest[asked], case.highest[asked]
    feasible = ((rows >= lowest - ROUNDING) & (rows <= highest + ROUNDING)).all(axis=1)
    rows = np.clip(rows, lowest, highest)
    return rows, feasible & (case.logit(rows) >= 0)


def survivors(case: Case, rows: Array, chosen: Array) -> dict[str, float]:
    """Which share of these actions is proven to hold, and which withstands attacks."""
    if not len(chosen):
        return {"tried": 0}
    asked = problem(case, EPSILON)
    before = np.ascontiguousarray(case.people[chosen])
    actions = sf.Actions.from_counterfactuals(asked, before, np.ascontiguousarray(rows[chosen]))
    verdicts = np.array(sf.certify(asked, before, actions).column("verdict"))
    broken = np.array(sf.attack(asked, before, actions).column("broken"), dtype=bool)
    return {
        "tried": len(chosen),
        "proven": float((verdicts == "holds").mean()),
        "undecided": float((verdicts == "undecided").mean()),
        "withstands": float((~broken).mean()),
    }


def is_matched(ours: tuple[Array, Array], theirs: tuple[Array, Array]) -> bool:
    """Whether ours has valid actions for as many of the same people, at no higher cost where both have."""
    (costs, good), (their_costs, their_good) = ours, theirs
    asked = slice(0, len(their_good))
    if good[asked].mean() < their_good.mean() - FEWER:
        return False
    both = good[asked] & their_good
    return not both.any() or costs[asked][both].mean() <= (1 + DEARER) * their_costs[both].mean()


def main() -> None:
    source, target, *files = sys.argv[1:]
    case = Case.read(source)
    judged = [found for file in files for found in json.loads(Path(file).read_text())]
    actions: list[tuple[Array, Array]] = []
    for found in judged:
        rows, good = valid(case, found)
        count = len(rows)
        costs = np.abs(rows - case.people[:count]).sum(axis=1)
        actions.append((costs, good))
        found["people"] = count
        found["valid"] = float(good.mean()) if count else None
        found["cost"] = float(costs[good].mean()) if good.any() else None
        found.update(survivors(case, rows, np.flatnonzero(good)[:TRIED]))
        del found["counterfactuals"]
    for found, (costs, good) in zip(judged, actions):
        alike = [i for i, ours in enumerate(judged) if is_ours(ours) and ours["epsilon"] == found["epsilon"]]
        # The first is the one that is proven to be the cheapest; people whom one of both has no answer for
        # would spoil the mean.
        best_costs, best_good = (column[: len(good)] for column in actions[alike[0]])
        both = good & best_good
        found["dearer"] = float(costs[both].mean() / best_costs[both].mean()) if both.any() else None
        matched = [judged[i] for i in alike if len(good) and is_matched(actions[i], (costs, good))]
        found["matched_by"] = [ours["method"] for ours in matched]
    Path(target).write_text(json.dumps(judged, indent=1))


def is_ours(found: dict[str, Any]) -> bool:
    return str(found["method"]).startswith("Surefoot")


if __name__ == "__main__":
    main()
