"""DiCE: random, genetic and gradient search, one counterfactual for each person.

DiCE knows features to vary and permitted ranges, which are given for each person. Its search by gradients
is written for PyTorch; the others ask any model.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import io
import warnings
from typing import Any, Optional

import dice_ml
import numpy as np
import pandas as pd
import torch
from algorithm_1 import network
from case import Array, Case, Found, one_by_one, run

warnings.filterwarnings("ignore")


class Model:
    """The classifier as scikit-learn has them."""

    classes_ = np.array([0, 1])

    def __init__(self, case: Case) -> None:
        self.case = case

    def predict_proba(self, rows: Any) -> Array:
        favourable = self.case.probability(np.asarray(rows, dtype=float))
        return np.stack([1 - favourable, favourable], axis=1)

    def predict(self, rows: Any) -> Array:
        return (self.predict_proba(rows)[:, 1] >= 0.5).astype(int)


class Scaled(torch.nn.Module):
    """The classifier behind the scaling that DiCE does: the range of each column to [0, 1]."""

    def __init__(self, case: Case, known: pd.DataFrame) -> None:
        super().__init__()
        self.low = torch.tensor(known.min().to_numpy(), dtype=torch.float32)
        self.range = torch.tensor((known.max() - known.min()).to_numpy(), dtype=torch.float32)
        self.inner = network(case)

    def forward(self, scaled: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(self.inner(self.low + self.range * scaled.float()))


def method(case: Case, seconds: float) -> list[Found]:
    # One person at a time: threads would only wait for each other.
    torch.set_num_threads(1)
    known = pd.DataFrame(case.known, columns=case.names)
    labelled = known.assign(favourable=case.known_favourable.astype(int))
    people = pd.DataFrame(case.people, columns=case.names)
    vary = [case.names[i] for i in case.actionable]
    lowest, highest = case.room()
    version = importlib.metadata.version("dice-ml")
    results = []
    for kind in ("random", "genetic", "gradient"):
        data = dice_ml.Data(dataframe=labelled, continuous_features=case.names, outcome_name="favourable")
        if kind == "gradient":
            model = dice_ml.Model(model=Scaled(case, known), backend="PYT", func="ohe-min-max")
            # With its own step and 5,000 iterations it takes most of a minute for each person.
            settings = {
                "verbose": False, "posthoc_sparsity_param": None, "learning_rate": 0.05, "max_iter": 500,
                "proximity_weight": 0.1, "diversity_weight": 0.0,
            }  # fmt: skip
        else:
            model = dice_ml.Model(model=Model(case), backend="sklearn")
            settings = {"random_seed": 0} if kind == "random" else {}
        explainer = dice_ml.Dice(data, model, method=kind)

        def answer(person: int, explainer: Any = explainer, settings: Any = settings) -> Optional[Array]:
            # Gradients ask for the ranges of what stays, too, and divide by them.
            ends = zip(
                case.names, np.minimum(known.min(), lowest[person]), np.maximum(known.max(), highest[person])
            )
            permitted = {name: [float(low), float(high)] for name, low, high in ends}
            for i in case.actionable:
                permitted[case.names[i]] = [float(lowest[person, i]), float(highest[person, i])]
            quiet = io.StringIO()
            with contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet):
                try:
                    examples = explainer.generate_counterfactuals(
                        people.iloc[[person]], total_CFs=1, desired_class=1, features_to_vary=vary,
                        permitted_range=permitted, **settings,
                    ).cf_examples_list  # fmt: skip
                except Exception as error:  # noqa: BLE001 - its class lives in another package
                    if "No counterfactuals found" in str(error):
                        return None
                    raise
            found = examples[0].final_cfs_df
            if found is None or not len(found):
                return None
            return found[case.names].iloc[0].to_numpy(float)

        try:
            taken, found = one_by_one(case, seconds, answer)
            words = "".join(f", {key} {value}" for key, value in settings.items() if key != "verbose")
            results.append(Found(f"DiCE, {kind}", 0.0, taken, found, f"dice-ml {version}{words}"))
        except Exception as error:  # noqa: BLE001 - what does not run is told
            results.append(Found(f"DiCE, {kind}", 0.0, 0.0, [], f"{type(error).__name__}: {error}"))
    return results


if __name__ == "__main__":
    run(method)
