"""alibi: its counterfactuals after Wachter et al., person after person.

Its features have the same ranges for everybody, and it knows none that stay. So it is asked about the
change of what may be changed, from none, and told the person by what its model adds; derivatives are by
finite differences, as it takes them of any model that is a function.
"""

from __future__ import annotations

import importlib.metadata
import os
import sys
from typing import Optional

# This file has the name of the package.
sys.path.append(sys.path.pop(0))
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf
from alibi.explainers import Counterfactual
from case import Array, Case, Found, one_by_one, run

tf.compat.v1.disable_v2_behavior()
tf.get_logger().setLevel("ERROR")


def method(case: Case, seconds: float) -> list[Found]:
    acting = case.actionable
    lowest, highest = (end[:, acting] - case.people[:, acting] for end in case.room())
    asked = 0

    def reached(change: Array) -> Array:
        rows = np.repeat(case.people[[asked]], len(change), axis=0)
        rows[:, acting] += np.clip(change, lowest[asked], highest[asked])
        return np.clip(rows, case.lowest[asked], case.highest[asked])

    def probabilities(change: Array) -> Array:
        favourable = case.probability(reached(np.asarray(change, dtype=float)))
        return np.stack([1 - favourable, favourable], axis=1)

    explainer = Counterfactual(
        probabilities, shape=(1, len(acting)), distance_fn="l1", target_proba=0.55, tol=0.05,
        target_class=1, max_iter=200, lam_init=0.1, max_lam_steps=6, learning_rate_init=0.1,
        feature_range=(lowest.min(axis=0)[None], highest.max(axis=0)[None]), eps=0.001, init="identity",
    )  # fmt: skip

    def answer(person: int) -> Optional[Array]:
        nonlocal asked
        asked = person
        found = explainer.explain(np.zeros((1, len(acting)), dtype=np.float32)).cf
        return None if found is None else reached(np.asarray(found["X"], dtype=float))[0]

    taken, found = one_by_one(case, seconds, answer)
    note = f"alibi {importlib.metadata.version('alibi')}, TensorFlow {tf.__version__}, at most 6 x 200 steps"
    return [Found("alibi, Counterfactual", 0.0, taken, found, note)]


if __name__ == "__main__":
    run(method)
