"""The cheapest actions for random tree ensembles, beside the optimum of a mixed-integer program.

    make bench-tree-optimum        # prints the differences; a minute

Without uncertainty and without a causal model the cheapest action is the optimum of a small program, which is
written down here and solved by HiGHS. Ensembles are XGBoost's, trained on random labels; features are real or
whole, some fixed or of one direction, with limits and weights. An action of ours may cost more than the optimum
by the gap that was asked for, by rounding of its numbers for display (a fifth of the gap), and by the distance
that it keeps from thresholds: `1e-7 (1 + |change|)` standard deviations for each feature that is changed.
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
from dataclasses import dataclass
from typing import Any

import highspy
import numpy as np
import xgboost

os.environ["RAYON_NUM_THREADS"] = "1"
import surefoot as sf  # noqa: E402

ENSEMBLES = 200
PEOPLE = 3
GAP = 0.001
#: By how much a cost may exceed the optimum: by a share, and for each feature that is changed.
SHARE = (1 + 0.2 * GAP) / (1 - GAP) - 1
DISTANCE = 1e-7
#: Sums of leaves are rounded to single precision by XGBoost, and known to a tolerance by HiGHS.
TIE = 1e-5


@dataclass
class Tree:
    """The nodes of a tree: those with a left child lead there if `x[feature] < threshold`, up to one number."""

    feature: list[int]
    threshold: list[float]
    left: list[int]
    right: list[int]
    value: list[float]


@dataclass
class Drawn:
    """A random problem and people whom its classifier turns down."""

    features: list[sf.Feature]
    trees: list[Tree]
    #: The sum without any tree.
    start: float
    problem: sf.Problem
    people: np.ndarray


@dataclass
class Compared:
    """The answer for one person beside the optimum."""

    status: str
    cost: float
    bound: float
    #: The optimum, infinite if there is no action: of those with a sum of at least `TIE`, and at least `-TIE`.
    strict: float
    lenient: float
    changed: int
    seconds: tuple[float, float]

    def mistake(self) -> str | None:
        """What is wrong with the answer, if anything is."""
        rounding = 1e-9 * (1 + self.lenient)
        if self.status == "impossible":
            return None if self.strict == math.inf else "there is an action"
        if self.bound > self.strict + rounding:
            return "the bound is above the optimum"
        if self.status != "found":
            return f"the answer is {self.status}"
        if self.cost < self.lenient - rounding:
            return "the cost is below the optimum"
        distance = self.changed * DISTANCE + DISTANCE * self.cost
        return "the cost is too high" if self.cost > self.strict * (1 + SHARE) + distance + rounding else None


def trees_of(model: xgboost.XGBClassifier, row: np.ndarray) -> tuple[list[Tree], float]:
    """The trees as the file of the model has them, and the rest of the sum, by the difference for one row."""
    # Numbers are those of single precision that are nearest to the decimals.
    learner = json.loads(
        bytes(model.get_booster().save_raw("json")), parse_float=lambda text: float(np.float32(text))
    )
    stored = learner["learner"]["gradient_booster"]["model"]["trees"]
    trees, total = [], 0.0
    for tree in stored:
        left, right, tests = tree["left_children"], tree["right_children"], tree["split_conditions"]
        # Inputs are rounded to single precision, so that half of those between two numbers belong to either.
        thresholds = [
            float((np.nextafter(np.float32(t), np.float32(-np.inf)) + np.float64(t)) / 2) for t in tests
        ]
        trees.append(Tree(tree["split_indices"], thresholds, left, right, tree["base_weights"]))
        node = 0
        while left[node] >= 0:
            is_left = np.float32(row[tree["split_indices"][node]]) < tests[node]
            node = left[node] if is_left else right[node]
        total += tree["base_weights"][node]
    return trees, float(model.predict(row[None, :], output_margin=True)[0]) - total


def drawn(seed: int, people: int = PEOPLE) -> Drawn:
    """An ensemble of up to 20 trees over up to six features."""
    random = np.random.default_rng(seed)
    width = int(random.integers(3, 7))
    scale = 10.0 ** random.integers(-1, 4, width)
    rows = random.normal(size=(400, width)) * scale + 2 * scale
    whole = random.random(width) < 0.25
    rows[:, whole] = np.round(random.normal(size=(400, int(whole.sum()))) * 6)
    model = xgboost.XGBClassifier(
        n_estimators=int(random.integers(3, 21)),
        max_depth=int(random.integers(2, 5)),
        learning_rate=0.4,
        random_state=seed,
        n_jobs=1,
    )
    model.fit(rows, random.random(400) < 0.35)
    features = []
    for i in range(width):
        low, high = (float(np.quantile(rows[:, i], share)) for share in (0.0, 1.0))
        features.append(
            sf.Feature(
                f"x{i}",
                ("any", "any", "increase", "decrease", "fixed")[random.integers(5)],
                kind="integer" if whole[i] else "real",
                mean=float(rows[:, i].mean()),
                std=float(rows[:, i].std()),
                limits=(low, high) if random.random() < 0.5 else None,
                weight=float(np.round(random.uniform(0.5, 2), 2)),
            )
        )
    trees, start = trees_of(model, rows[0])
    problem = sf.Problem(features, sf.Classifier.from_xgboost(model), epsilon=0)
    return Drawn(features, trees, start, problem, rows[model.predict(rows) == 0][:people])


def prices(feature: sf.Feature, value: float, thresholds: list[float]) -> list[float]:
    """What it costs to bring a feature into each cell between thresholds; infinite if that is not possible.
    For real features this is the infimum."""
    lower, upper = feature.limits if feature.limits is not None else (None, None)
    least = -math.inf if lower is None else lower
    most = math.inf if upper is None else upper
    if feature.change in ("fixed", "increase"):
        least = value
    if feature.change in ("fixed", "decrease"):
        most = value
    costs = []
    for start, end in zip([-math.inf, *thresholds], [*thresholds, math.inf]):
        if feature.kind == "integer":
            inside = [max(least, math.ceil(start) if start > -math.inf else start), most]
            if end < math.inf:
                inside[1] = min(most, math.ceil(end) - 1)
            is_possible = inside[0] <= inside[1]
        else:
            inside = [max(least, start), min(most, end)]
            # A cell contains its lower end and not its upper one.
            is_possible = inside[0] <= inside[1] and least < end
        nearest = min(max(value, inside[0]), inside[1])
        costs.append(feature.weight * abs(nearest - value) / feature.std if is_possible else math.inf)
    return costs


def optimum(made: Drawn, person: np.ndarray, least_sum: float) -> float:
    """The least cost of an action after which the sum is at least a number: one binary variable for each
    threshold, which says whether the feature is below it, and one for each leaf."""
    program = highspy.Highs()
    program.setOptionValue("output_flag", False)
    program.setOptionValue("threads", 1)
    program.setOptionValue("mip_rel_gap", 0.0)
    program.setOptionValue("mip_abs_gap", 1e-12)
    program.setOptionValue("mip_feasibility_tolerance", 1e-9)
    below: list[dict[float, Any]] = []
    effort: Any = 0
    for i, feature in enumerate(made.features):
        thresholds = sorted({t for tree in made.trees for t in own_thresholds(tree, i)})
        # With one variable more on either side, a cell is the difference of two neighbours.
        is_below: list[Any] = [program.addVariable(0, 0)]
        is_below += [program.addBinary() for _ in thresholds]
        is_below.append(program.addVariable(1, 1))
        below.append(dict(zip(thresholds, is_below[1:])))
        for price, first, second in zip(
            prices(feature, float(person[i]), thresholds), is_below, is_below[1:]
        ):
            program.addConstr(second - first >= 0)
            if math.isinf(price):
                program.addConstr(second - first <= 0)
            elif price > 0:
                effort = effort + price * (second - first)
    total: Any = 0
    for tree in made.trees:
        chosen: Any = 0
        open_nodes: list[tuple[int, list[tuple[Any, bool]]]] = [(0, [])]
        while open_nodes:
            node, path = open_nodes.pop()
            if tree.left[node] >= 0:
                test = below[tree.feature[node]][tree.threshold[node]]
                open_nodes.append((tree.left[node], [*path, (test, True)]))
                open_nodes.append((tree.right[node], [*path, (test, False)]))
                continue
            leaf = program.addBinary()
            for test, is_left in path:
                program.addConstr(leaf - test <= 0 if is_left else leaf + test <= 1)
            chosen = chosen + leaf
            total = total + tree.value[node] * leaf
        program.addConstr(chosen == 1)
    program.addConstr(total >= least_sum - made.start)
    # A whole expression, even if nothing costs anything.
    program.minimize(effort + 0 * program.addVariable(0, 0))
    if program.getModelStatus() == highspy.HighsModelStatus.kInfeasible:
        return math.inf
    assert program.getModelStatus() == highspy.HighsModelStatus.kOptimal, program.getModelStatus()
    return float(program.getInfo().objective_function_value)


def own_thresholds(tree: Tree, feature: int) -> list[float]:
    tests = zip(tree.feature, tree.threshold, tree.left)
    return [threshold for own, threshold, left in tests if own == feature and left >= 0]


def compared(seed: int, people: int = PEOPLE) -> list[Compared]:
    """Answers for the people of one ensemble, beside the optima."""
    made = drawn(seed, people)
    found = []
    for person in made.people:
        start = time.perf_counter()
        strict, lenient = (optimum(made, person, least) for least in (TIE, -TIE))
        middle = time.perf_counter()
        # For a single person, `recourse` would also explain why there is no action, which takes time of its own.
        answers = sf.recourse(made.problem, np.vstack([person, person]), gap=GAP)
        seconds = (middle - start, (time.perf_counter() - middle) / 2)
        status = answers.column("status")[0]
        cost, bound = (answers.column(name)[0] for name in ("cost", "cost_bound"))
        changed = 0
        if status == "found":
            changed = sum(change != 0 for change in answers[0].action.values())
        is_bounded = status != "impossible"
        found.append(
            Compared(
                status,
                float(cost) if status == "found" else math.inf,
                float(bound) if is_bounded else math.inf,
                strict,
                lenient,
                changed,
                seconds,
            )
        )
    return found


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else ENSEMBLES
    every = [one for seed in range(count) for one in compared(seed)]
    found = [one for one in every if one.status == "found"]
    ties = [one for one in every if one.strict != one.lenient and one.strict > one.lenient * (1 + 1e-9)]
    excess = np.array([one.cost / one.strict - 1 for one in found if one not in ties])
    inside = np.array([one.cost - one.strict for one in found if one not in ties])
    gaps = np.array([1 - one.bound / one.cost for one in found])
    impossible = sum(one.status == "impossible" for one in every)
    print(
        f"{count} ensembles, {len(every)} people: {len(found)} found, {impossible} impossible, {len(ties)} ties"
    )
    for name, values in (("cost / optimum - 1", excess), ("cost - optimum", inside), ("gap", gaps)):
        print(
            f"{name}: least {values.min():.2e}, median {np.median(values):.2e}, "
            f"mean {values.mean():.2e}, greatest {values.max():.2e}"
        )
    both = np.array([one.seconds for one in every])
    print(f"milliseconds each: HiGHS {500 * both[:, 0].mean():.1f}, Surefoot {1000 * both[:, 1].mean():.2f}")
    mistakes = [(one, mistake) for one in every if (mistake := one.mistake())]
    for one, mistake in mistakes[:10]:
        print(f"{mistake}: {one}")
    sys.exit(f"{len(mistakes)} answers are wrong" if mistakes else 0)


if __name__ == "__main__":
    main()
