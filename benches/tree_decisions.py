"""Decisions of tree ensembles as Surefoot reads them, beside those of the programs that trained them.

    make bench-tree-decisions        # prints the number of rows and of differing decisions

Names of data sets (adult, compas, german, bail) and of programs as arguments restrict it. On each of four data sets
each program trains a model, with a tenth of the values missing where the program takes that. Rows are up to 10,000 people; people with
each threshold of the model as their value, and the numbers beside it in double and in single precision; and people of
whom some values are missing. A decision that differs from the program's own `predict` is a mistake.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import catboost
import lightgbm
import numpy as np
import xgboost
from sklearn.base import clone
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.tree import DecisionTreeClassifier

os.environ["RAYON_NUM_THREADS"] = "1"
import surefoot as sf  # noqa: E402
from surefoot import _engine  # noqa: E402

sys.path[:0] = [
    str(Path(__file__).resolve().parent),
    str(Path(__file__).resolve().parents[1] / "tests/ecosystem"),
]
from credit_data import DATA  # noqa: E402
from trees import neighbours, sklearn_splits  # noqa: E402

PEOPLE = 10_000
Splits = list[tuple[int, float]]


def xgboost_splits(model: xgboost.XGBClassifier) -> Splits:
    booster = json.loads(bytes(model.get_booster().save_raw("json")))["learner"]["gradient_booster"]
    found = []
    for tree in booster["model"]["trees"]:
        lists = (tree["split_indices"], tree["split_conditions"], tree["left_children"])
        found += [(feature, threshold) for feature, threshold, left in zip(*lists) if left >= 0]
    return found


def lightgbm_splits(model: lightgbm.LGBMClassifier) -> Splits:
    nodes = model.booster_.trees_to_dataframe().dropna(subset=["threshold"])
    names = model.booster_.feature_name()
    return [(names.index(name), float(at)) for name, at in zip(nodes.split_feature, nodes.threshold)]


def catboost_splits(model: catboost.CatBoostClassifier) -> Splits:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.json")
        model.save_model(str(path), format="json")
        features = json.loads(path.read_text())["features_info"]["float_features"]
    return [(feature["flat_feature_index"], at) for feature in features for at in feature["borders"] or []]


def bagging_splits(model: BaggingClassifier) -> Splits:
    found = []
    for tree, columns in zip(model.estimators_, model.estimators_features_):
        found += [(int(columns[feature]), threshold) for feature, threshold in sklearn_splits(tree)]
    return found


#: For each program: a model, whether it takes missing values, and its thresholds.
PROGRAMS: dict[str, tuple[Any, bool, Callable[[Any], Splits]]] = {
    "xgboost": (xgboost.XGBClassifier(n_estimators=50, max_depth=4, random_state=0), True, xgboost_splits),
    "xgboost forest": (
        xgboost.XGBRFClassifier(n_estimators=50, max_depth=6, random_state=0),
        True,
        xgboost_splits,
    ),
    "lightgbm": (lightgbm.LGBMClassifier(n_estimators=50, random_state=0, verbose=-1), True, lightgbm_splits),
    "catboost": (
        catboost.CatBoostClassifier(iterations=50, random_seed=0, verbose=0, allow_writing_files=False),
        True,
        catboost_splits,
    ),
    "tree": (DecisionTreeClassifier(max_depth=10, random_state=0), True, sklearn_splits),
    "forest": (RandomForestClassifier(50, max_depth=6, random_state=0), True, sklearn_splits),
    "extra trees": (ExtraTreesClassifier(50, max_depth=6, random_state=0), True, sklearn_splits),
    "boosting": (GradientBoostingClassifier(n_estimators=50, random_state=0), False, sklearn_splits),
    "histogram": (HistGradientBoostingClassifier(max_iter=50, random_state=0), True, sklearn_splits),
    "ada": (
        AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=50, random_state=0),
        False,
        sklearn_splits,
    ),
    "bagging": (
        BaggingClassifier(DecisionTreeClassifier(max_depth=6), 30, max_features=0.7, random_state=0),
        True,
        bagging_splits,
    ),
}


def without_some(rows: np.ndarray, share: float, seed: int) -> np.ndarray:
    return np.where(np.random.default_rng(seed).random(rows.shape) < share, np.nan, rows)


def probed(rows: np.ndarray, splits: Splits, takes_missing: bool) -> np.ndarray:
    """The rows; some of them at each threshold and beside it; and some without all values."""
    random = np.random.default_rng(2)
    made = [rows]
    for feature, threshold in sorted({(feature, at) for feature, at in splits if np.isfinite(at)}):
        values = neighbours(threshold)
        chosen = rows[random.integers(0, len(rows), len(values))].copy()
        chosen[:, feature] = values
        made.append(chosen)
    if takes_missing:
        made.append(without_some(rows[: len(rows) // 2], 0.3, 3))
    return np.concatenate(made)


def counted(
    program: str, rows: np.ndarray, favourable: np.ndarray, people: int = PEOPLE
) -> tuple[int, int, int]:
    """The numbers of thresholds, of rows, and of decisions that differ."""
    unfitted, takes_missing, splits_of = PROGRAMS[program]
    model = clone(unfitted)
    model.fit(without_some(rows, 0.1, 1) if takes_missing else rows, favourable.astype(int))
    splits = splits_of(model)
    chosen = rows[np.random.default_rng(0).permutation(len(rows))[:people]]
    probes = probed(chosen, splits, takes_missing)
    features = [sf.Feature(f"x{i}", "any") for i in range(rows.shape[1])]
    classifier = sf.Classifier.from_sklearn(model, features)
    assert classifier.trees is not None
    scores, _ = _engine.tree_scores(classifier.trees, classifier.threshold, np.ascontiguousarray(probes))
    different = (scores >= 0) != (model.predict(probes) == 1)
    return len({*splits}), len(probes), int(different.sum())


def main() -> None:
    warnings.filterwarnings("ignore")
    only = set(sys.argv[1:])
    print("| data | program | people | thresholds | rows | different |")
    print("| --- | --- | --- | --- | --- | --- |")
    mistakes = 0
    for name, read in DATA.items():
        if only & {*DATA} and name not in only:
            continue
        data = read()
        rows, favourable = data.people.to_numpy(float), np.asarray(data.favourable)
        for program in PROGRAMS:
            if only & {*PROGRAMS} and program not in only:
                continue
            thresholds, count, different = counted(program, rows, favourable)
            people = min(PEOPLE, len(rows))
            print(f"| {name} | {program} | {people} | {thresholds} | {count} | {different} |", flush=True)
            mistakes += different
    sys.exit(f"{mistakes} decisions differ" if mistakes else 0)


if __name__ == "__main__":
    main()
