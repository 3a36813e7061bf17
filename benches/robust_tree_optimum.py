"""The cheapest robust actions for tree ensembles, beside the optimum of a mixed-integer program with adversarial cuts.

    make bench-tree-optimum        # prints one line for each cell of the published table that is recomputed

Without a causal model, an action holds if the sum over trees is high enough on the whole ball around its result. The
program knows a list of scenarios: rules by which an adversary answers every result `c`, moving each feature towards
a point `m` by at most `r`, with `r` in the ball. A test `z <= t` of the answer `z` is a test of `c`:

    c <= t + r    where m <= t,        c <= t - r    elsewhere

So the optimum over the actions that withstand the scenarios is that of a program like the one in `tree_optimum`, and
a lower bound. If its action does not withstand the ball, the cell that breaks it gives another scenario. The
adversary, the cells and the program are independent of the engine.

Cells are those whose published optimum was proven for all of twenty people; the first of these are recomputed here,
as long as the program takes no more than `SECONDS` for each.
"""

from __future__ import annotations

import csv
import math
import sys
import time
import warnings
from dataclasses import dataclass
from typing import Any

import highspy
import numpy as np
import regions
from tree_optimum import Tree

import surefoot as sf

#: The people of each cell, and the most seconds that the program may take for one.
PEOPLE = 2
SECONDS = 20.0
#: The gap that the engine is asked for.
GAP = 1e-5
#: How far a result is from the ends of its cell, and by how much the sum must be beyond its limit.
INSIDE = 1e-9
TIE = 1e-7
#: By how much a cost may exceed the optimum: by a share, for the gap and for rounding of changes for display; and for
#: each feature that is changed, the distance that the engine keeps from thresholds, for each unit of the radius.
SHARE = 2e-4
DISTANCE = 2e-4


@dataclass
class Sum:
    """Trees whose leaves are added to a number; the sum must be at least `least`."""

    trees: list[Tree]
    start: float
    least: float


@dataclass
class Scenario:
    """The adversary moves each feature towards a point by at most a radius."""

    point: np.ndarray
    radii: np.ndarray


def of_sklearn(model: Any, favourable: Any) -> Sum:
    """The trees of a fitted scikit-learn tree, forest or gradient boosting. Inputs are not rounded to single precision
    here, which moves thresholds by less than `DISTANCE`."""
    sign = 1.0 if favourable == model.classes_[1] else -1.0
    trees, start = [], 0.0
    if hasattr(model, "learning_rate"):
        start = float(np.ravel(model._raw_predict_init(np.zeros((1, model.n_features_in_))))[0])
        grown = [
            (stage.tree_, model.learning_rate * stage.tree_.value[:, 0, 0])
            for stage in model.estimators_[:, 0]
        ]
    else:
        each = [estimator.tree_ for estimator in getattr(model, "estimators_", [model])]
        grown = [(tree, tree.value[:, 0, 1] - tree.value[:, 0, 0]) for tree in each]
    for tree, value in grown:
        lists = (tree.feature, tree.threshold, tree.children_left, tree.children_right, sign * value)
        trees.append(Tree(*(list(numbers) for numbers in lists)))
    # A tie is for the first class; only the average of a forest has any.
    return Sum(trees, sign * start, sign * TIE)


def leaves(tree: Tree) -> list[tuple[float, dict[int, tuple[float, float]]]]:
    """The value of each leaf, and the ends of its box in the features that it bounds: `low < z <= high`."""
    found, open_nodes = [], [(0, {})]
    while open_nodes:
        node, box = open_nodes.pop()
        if tree.left[node] < 0:
            found.append((tree.value[node], box))
            continue
        feature, at = tree.feature[node], tree.threshold[node]
        low, high = box.get(feature, (-math.inf, math.inf))
        if low < at:
            open_nodes.append((tree.left[node], {**box, feature: (low, min(high, at))}))
        if high > at:
            open_nodes.append((tree.right[node], {**box, feature: (max(low, at), high)}))
    return found


def distance(centre: np.ndarray, low: np.ndarray, high: np.ndarray, norm: str) -> float:
    """The distance from a point to a box."""
    ways = np.maximum(np.maximum(low - centre, centre - high), 0.0)
    return float(np.linalg.norm(ways)) if norm == "l2" else float(ways.max())


class Adversary:
    """Searches balls for sums that are too low, depth first over the leaves of one tree after the other."""

    def __init__(self, total: Sum, width: int) -> None:
        self.total, self.width = total, width
        self.boxes = []
        for tree in total.trees:
            made = []
            for value, ends in leaves(tree):
                low, high = np.full(width, -math.inf), np.full(width, math.inf)
                for feature, (lower, upper) in ends.items():
                    low[feature], high[feature] = lower, upper
                made.append((value, low, high))
            self.boxes.append(made)

    def breaks(self, centre: np.ndarray, norm: str, radius: float) -> tuple[np.ndarray, np.ndarray] | None:
        """The ends of a cell that the ball reaches and in which the sum is too low."""
        reached = []
        for made in self.boxes:
            near = [leaf for leaf in made if distance(centre, leaf[1], leaf[2], norm) <= radius]
            reached.append(sorted(near, key=lambda leaf: leaf[0]))
        reached.sort(key=lambda near: near[0][0] - near[-1][0])
        rest = np.cumsum([near[0][0] for near in reached][::-1])[::-1].tolist() + [0.0]
        everything = (np.full(self.width, -math.inf), np.full(self.width, math.inf))
        open_parts = [(0, self.total.start, *everything)]
        while open_parts:
            number, value, low, high = open_parts.pop()
            if value + rest[number] >= self.total.least:
                continue
            if number == len(reached):
                return low, high
            for leaf, lower, upper in reversed(reached[number]):
                part = np.maximum(low, lower), np.minimum(high, upper)
                if (part[0] < part[1]).all() and distance(centre, *part, norm) <= radius:
                    open_parts.append((number + 1, value + leaf, *part))
        return None

    def greatest(self, low: np.ndarray, high: np.ndarray) -> float:
        """An upper bound of the sum in a box."""

        def reaches(lower: np.ndarray, upper: np.ndarray) -> bool:
            return bool((np.maximum(low, lower) < np.minimum(high, upper)).all())

        best = (max(value for value, lower, upper in made if reaches(lower, upper)) for made in self.boxes)
        return self.total.start + sum(best)

    def scenario(
        self, centre: np.ndarray, cell: tuple[np.ndarray, np.ndarray], norm: str, radius: float
    ) -> Scenario:
        """The scenario that leads from a centre into a cell, after the cell was enlarged as far as all of it is bad."""
        low, high = cell[0].copy(), cell[1].copy()
        finite = [(high[i] - centre[i], high, i, math.inf) for i in range(self.width)]
        finite += [(centre[i] - low[i], low, i, -math.inf) for i in range(self.width)]
        for _, ends, i, end in sorted(finite, key=lambda side: side[0]):
            before, ends[i] = ends[i], end
            if ends[i] != before and self.greatest(low, high) >= self.total.least:
                ends[i] = before
        point = np.clip(centre, np.where(np.isfinite(low), low + 1e-6 * radius, low), high)
        both = np.isfinite(low) & np.isfinite(high)
        point[both] = 0.5 * (low[both] + high[both])
        nearest = np.clip(centre, low, high)
        needed = np.abs(nearest - centre)
        if norm == "linf":
            return Scenario(point, np.full(self.width, radius))
        # The rest of the radius is distributed over the bounded sides, those nearest to their threshold first.
        sides = np.isfinite(low) | np.isfinite(high)
        room = np.minimum(
            np.where(np.isfinite(high), high - centre, math.inf),
            np.where(np.isfinite(low), centre - low, math.inf),
        )
        below, above = 0.0, radius + float(np.abs(room[sides]).max(initial=0.0)) + radius
        for _ in range(60):
            middle = 0.5 * (below + above)
            radii = np.where(sides, np.maximum(needed, middle - room), needed)
            below, above = (middle, above) if np.linalg.norm(radii) <= radius else (below, middle)
        radii = np.where(sides, np.maximum(needed, below - room), needed)
        return Scenario(point, radii * min(1.0, radius / max(float(np.linalg.norm(radii)), 1e-300)))


def master(
    total: Sum, person: np.ndarray, scenarios: list[Scenario], seconds: float
) -> tuple[float, np.ndarray] | None:
    """The least cost of a result that withstands the scenarios, and such a result; none if time is over. The cost is
    infinite if there is none."""
    program = highspy.Highs()
    for name, value in (("output_flag", False), ("threads", 1), ("mip_rel_gap", 0.0), ("mip_abs_gap", 1e-10)):
        program.setOptionValue(name, value)
    program.setOptionValue("mip_feasibility_tolerance", 1e-9)
    program.setOptionValue("time_limit", seconds)
    cuts: list[set[float]] = [set() for _ in person]

    def cut(scenario: Scenario, feature: int, at: float) -> float:
        radius = float(scenario.radii[feature])
        return at + radius if scenario.point[feature] <= at else at - radius

    for scenario in scenarios:
        for tree in total.trees:
            for feature, at, left in zip(tree.feature, tree.threshold, tree.left):
                if left >= 0:
                    cuts[feature].add(cut(scenario, feature, at))
    below: list[dict[float, Any]] = []
    cells: list[tuple[Any, Any, float, int]] = []
    effort: Any = 0
    for i, value in enumerate(person):
        ends = [-math.inf, *sorted(cuts[i]), math.inf]
        chain = [
            program.addVariable(0, 0),
            *(program.addBinary() for _ in ends[1:-1]),
            program.addVariable(1, 1),
        ]
        below.append(dict(zip(ends[1:-1], chain[1:])))
        for start, end, first, second in zip(ends, ends[1:], chain, chain[1:]):
            program.addConstr(second - first >= 0)
            nearest = min(max(float(value), start), end)
            if nearest != value:
                effort = effort + abs(nearest - float(value)) * (second - first)
            inside = nearest
            if nearest != value or nearest == start:
                # Cells contain their upper end and not their lower one.
                inside = min(nearest + INSIDE, 0.5 * (start + end)) if nearest == start else nearest
            cells.append((first, second, inside, i))
    for scenario in scenarios:
        sum_of_leaves: Any = 0
        for tree in total.trees:
            chosen: Any = 0
            for value, ends_of_leaf in paths(tree):
                leaf = program.addVariable(0, 1)
                for feature, at, is_left in ends_of_leaf:
                    test = below[feature][cut(scenario, feature, at)]
                    program.addConstr(leaf - test <= 0 if is_left else leaf + test <= 1)
                chosen = chosen + leaf
                sum_of_leaves = sum_of_leaves + value * leaf
            program.addConstr(chosen == 1)
        program.addConstr(sum_of_leaves >= total.least - total.start)
    program.minimize(effort + 0 * program.addVariable(0, 0))
    status = program.getModelStatus()
    if status == highspy.HighsModelStatus.kInfeasible:
        return math.inf, person
    if status != highspy.HighsModelStatus.kOptimal:
        return None
    result, values = person.astype(float).copy(), program.getSolution().col_value
    for first, second, inside, i in cells:
        if values[second.index] - values[first.index] > 0.5:
            result[i] = inside
    return float(program.getInfo().objective_function_value), result


def paths(tree: Tree) -> list[tuple[float, list[tuple[int, float, bool]]]]:
    """The value of each leaf, and the tests on the way there."""
    found, open_nodes = [], [(0, [])]
    while open_nodes:
        node, path = open_nodes.pop()
        if tree.left[node] < 0:
            found.append((tree.value[node], path))
            continue
        test = (tree.feature[node], tree.threshold[node])
        open_nodes.append((tree.left[node], [*path, (*test, True)]))
        open_nodes.append((tree.right[node], [*path, (*test, False)]))
    return found


def optimum(
    total: Sum, person: np.ndarray, norm: str, radius: float, seconds: float = SECONDS
) -> tuple[float, bool]:
    """A lower bound of the least cost of an action that holds, and whether it is the optimum."""
    adversary, scenarios, bound, end = Adversary(total, len(person)), [], 0.0, time.perf_counter() + seconds
    result = person.astype(float)
    # Results lie at ends of cells, where rounding decides whether a ball of the same size reaches the next one.
    while (cell := adversary.breaks(result, norm, radius * (1 - 2e-9))) is not None:
        scenarios.append(adversary.scenario(result, cell, norm, radius * (1 - 1e-9)))
        left = end - time.perf_counter()
        solved = master(total, person, scenarios, left) if left > 0 else None
        if solved is None:
            return bound, False
        bound, result = solved
        if bound == math.inf:
            break
    return bound, True


@dataclass
class Compared:
    """The answer for one person beside the optimum; only a lower bound of it if time was over."""

    status: str
    cost: float
    bound: float
    changed: int
    optimum: float
    is_optimum: bool
    radius: float

    def mistake(self) -> str | None:
        """What is wrong with the answer, if anything is."""
        if self.status == "impossible":
            return None if self.optimum == math.inf or not self.is_optimum else "there is an action"
        if self.status != "found":
            return f"the answer is {self.status}"
        if self.cost < self.optimum * (1 - 1e-6):
            return "the cost is below the optimum"
        if not self.is_optimum:
            return None
        if self.bound > self.optimum * (1 + 1e-6):
            return "the bound is above the optimum"
        room = self.changed * DISTANCE * self.radius + max(self.cost - self.bound, 0.0)
        return "the cost is too high" if self.cost > self.optimum * (1 + SHARE) + room else None


def compared(model: Any, person: np.ndarray, norm: str, radius: float, seconds: float = SECONDS) -> Compared:
    """The answer for one person towards the other class, beside the optimum."""
    own = model.predict(person[None, :])[0]
    wanted = next(known for known in model.classes_ if known != own)
    features = [sf.Feature(f"x{i}", "any") for i in range(len(person))]
    classifier = sf.Classifier.from_sklearn(model, features, favourable=wanted)
    problem = sf.Problem(features, classifier, epsilon=radius, norm=norm)
    answers = sf.recourse(problem, np.vstack([person, person]), gap=GAP)
    status = answers.column("status")[0]
    cost, bound = (float(answers.column(name)[0]) for name in ("cost", "cost_bound"))
    changed = sum(change != 0 for change in answers[0].action.values()) if status == "found" else 0
    least, is_optimum = optimum(of_sklearn(model, wanted), person, norm, radius, seconds)
    return Compared(status, cost, bound, changed, least, is_optimum, radius)


def main() -> None:
    warnings.filterwarnings("ignore")
    only = sys.argv[1:]
    with (regions.folder() / "published.csv").open() as lines:
        rows = [
            row for row in csv.DictReader(lines) if row["unsolved_of_20"] == "0" and float(row["rho"]) > 0
        ]
    mistakes = 0
    print(
        "| data | norm | radius | model | optima | greatest cost / optimum - 1 | greatest 1 - bound / optimum |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for row in sorted(
        rows,
        key=lambda row: (row["dataset"], row["classifier"], int(row["size"]) if row["size"].isdigit() else 0),
    ):
        name, kind, size = row["dataset"], row["classifier"], row["size"]
        if kind not in ("cart", "rf", "gbm") or only and not {name, kind} & set(only):
            continue
        values, target = regions.table(name)
        model = regions.trained(kind, size, values, target)
        every = [compared(model, person, row["norm"], float(row["rho"])) for person in values[:PEOPLE]]
        wrong = [(one, mistake) for one in every if (mistake := one.mistake())]
        known = [one for one in every if one.is_optimum and one.status == "found"]
        above = max((one.cost / one.optimum - 1 for one in known), default=math.nan)
        under = max((1 - one.bound / one.optimum for one in known), default=math.nan)
        print(
            f"| {name} | {row['norm']} | {row['rho']} | {kind} {size} | {len(known)} of {len(every)} "
            f"| {above:.1e} | {under:.1e} |",
            flush=True,
        )
        for one, mistake in wrong:
            print(f"{mistake}: {one}", flush=True)
        mistakes += len(wrong)
    sys.exit(f"{mistakes} answers are wrong" if mistakes else 0)


if __name__ == "__main__":
    main()
