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


def main() -> None:
    source, target, *files = sys.argv[1:]
    case = Case.read(source)
    judged = [found for file in files for found in json.loads(Path(file).read_text())]
    ours: dict[float, tuple[Array, Array]] = {}
    for found in judged:
        rows, good = valid(case, found)
        count = len(rows)
        costs = np.abs(rows - case.people[:count]).sum(axis=1)
        if found["method"] in ("Surefoot, exact", "Surefoot, proved"):
            ours[found["epsilon"]] = (costs, good)
        found["people"] = count
        found["valid"] = float(good.mean()) if count else None
        found["cost"] = float(costs[good].mean()) if good.any() else None
        # Those who are turned down by us too, or by the method, would spoil the mean.
        reference = ours.get(found["epsilon"])
        if reference is not None and count:
            both = good & reference[1][:count]
            found["dearer"] = (
                float(costs[both].mean() / reference[0][:count][both].mean()) if both.any() else None
            )
        found.update(survivors(case, rows, np.flatnonzero(good)[:TRIED]))
        del found["counterfactuals"]
    Path(target).write_text(json.dumps(judged, indent=1))


if __name__ == "__main__":
    main()
