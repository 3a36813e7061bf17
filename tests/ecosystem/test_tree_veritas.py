"""Certificates for tree ensembles beside Veritas, an independent exact verifier of boxes (balls of linf)."""

from __future__ import annotations

import numpy as np
import pandas as pd
import veritas
import xgboost
from trees import WIDTH, X, Y

import surefoot as sf

EPSILON = 0.1
ACTIONS = 500
#: Sums of leaves are rounded to single precision by XGBoost.
ROUNDING = 1e-5
MEANS, DEVIATIONS = X.mean(axis=0), X.std(axis=0)
FEATURES = [sf.Feature(f"x{i}", "any", mean=MEANS[i], std=DEVIATIONS[i]) for i in range(WIDTH)]
NAMES = [feature.name for feature in FEATURES]
MODELS = {
    "shallow": xgboost.XGBClassifier(n_estimators=40, max_depth=3, random_state=0),
    "deep": xgboost.XGBClassifier(n_estimators=40, max_depth=6, learning_rate=0.2, random_state=0),
}


def ball(centre: np.ndarray) -> list[veritas.Interval]:
    """The inputs that XGBoost compares: those of the ball, rounded to single precision, which keeps their order.
    Intervals of Veritas do not contain their upper ends."""
    lower = (centre - EPSILON * DEVIATIONS).astype(np.float32)
    upper = np.nextafter((centre + EPSILON * DEVIATIONS).astype(np.float32), np.float32(np.inf))
    return [veritas.Interval(float(low), float(high)) for low, high in zip(lower, upper)]


def least(trees: veritas.AddTree, centre: np.ndarray) -> tuple[float, np.ndarray]:
    """The least sum over the ball, by Veritas, and a point of the ball that has it."""
    config = veritas.Config(veritas.HeuristicType.MIN_OUTPUT)
    config.stop_when_optimal = True
    around = ball(centre)
    search = config.get_search(trees, around)
    assert search.step_for(30.0, 1000) == veritas.StopReason.OPTIMAL
    solution = search.get_solution(0)
    point = centre.astype(np.float32)
    for i, inside in solution.box().items():
        inside = inside.intersect(around[i])
        below = np.nextafter(np.float32(inside.hi), np.float32(-np.inf))
        point[i] = min(max(point[i], np.float32(inside.lo)), below)
    return solution.output, point


def changes(model: xgboost.XGBClassifier, problem: sf.Problem, people: np.ndarray) -> np.ndarray:
    """Our own actions for the ball and for one of half its radius, and moves to or towards people who are accepted."""
    random = np.random.default_rng(4)
    accepted = X[model.predict(X) == 1]
    made = (accepted[random.integers(len(accepted), size=len(people))] - people) * random.uniform(
        0.5, 1.2, size=(len(people), 1)
    )
    smaller = sf.Problem(FEATURES, sf.Classifier.from_xgboost(model), epsilon=EPSILON / 2, norm="linf")
    for every, asked in ((slice(0, None, 3), problem), (slice(1, None, 3), smaller)):
        reached = sf.recourse(asked, people[every]).counterfactuals()[NAMES].to_numpy()
        made[every] = np.where(np.isnan(reached), made[every], reached - people[every])
    return made


def test_certificates_are_those_of_veritas() -> None:
    verdicts, ties = [], 0
    for name, model in MODELS.items():
        model.fit(X, Y)
        trees = veritas.get_addtree(model, silent=True)
        single = X.astype(np.float32)
        assert np.abs(trees.eval(single)[:, 0] - model.predict(X, output_margin=True)).max() < ROUNDING
        problem = sf.Problem(FEATURES, sf.Classifier.from_xgboost(model), epsilon=EPSILON, norm="linf")
        people = X[model.predict(X) == 0][: ACTIONS // len(MODELS)]
        actions = changes(model, problem, people)
        table = sf.certify(problem, people, pd.DataFrame(actions, columns=NAMES)).to_pandas()
        for person, change, row in zip(people, actions, table.itertuples()):
            sum_, point = least(trees, person + change)
            verdicts.append(row.verdict)
            assert row.verdict in ("holds", "breaks"), (name, row)
            if abs(sum_) < ROUNDING:
                ties += 1
            elif row.verdict == "holds":
                # Veritas finds no counterexample, and no lower sum than what is certified.
                assert sum_ > 0 and row.margin <= sum_ + ROUNDING, (name, row, sum_)
            else:
                # Veritas finds one, which XGBoost itself confirms.
                assert sum_ < 0 and sum_ <= row.margin_at_most + ROUNDING, (name, row, sum_)
                assert model.predict(point[None, :])[0] == 0
    print(f"{len(verdicts)} actions, {verdicts.count('holds')} certified, {ties} ties")
    assert len(verdicts) == ACTIONS and ties < 5
    assert min(verdicts.count(verdict) for verdict in ("holds", "breaks")) > 100
