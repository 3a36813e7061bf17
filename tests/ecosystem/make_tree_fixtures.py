"""Writes the small tree ensembles of the Rust tests, with what the programs themselves say of some rows, and the
model of `examples/trees`.

Run with the environment of `make test-ecosystem`; the files are committed.
"""

from __future__ import annotations

import json
import re
import runpy
import warnings
from pathlib import Path

import catboost
import lightgbm
import numpy as np
import onnxruntime
import xgboost
from skl2onnx import to_onnx
from sklearn.ensemble import (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import surefoot as sf

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "crates" / "surefoot" / "tests" / "trees"
FEATURES = [sf.Feature(name, "any") for name in ("a", "b", "c")]


def table() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    x = random.normal(size=(400, 3)).round(2)
    x[:, 2] = random.integers(0, 6, 400)
    y = x[:, 0] + x[:, 1] ** 2 + 1.5 * np.isin(x[:, 2], [1, 4]) + 0.3 * random.normal(size=400) > 1
    return x, y.astype(int)


X, Y = table()


def rows(thresholds: list[tuple[int, float]], has_missing: bool) -> np.ndarray:
    """People, rows at thresholds and beside them, and rows with missing values."""
    made = [*X[:10]]
    for k, (column, threshold) in enumerate(thresholds[:4]):
        single = np.float32(threshold)
        for value in (
            threshold,
            np.nextafter(single, np.float32(-9e9)),
            single,
            np.nextafter(single, np.float32(9e9)),
        ):
            for near in (np.nextafter(float(value), -9e9), float(value), np.nextafter(float(value), 9e9)):
                row = X[20 + k].copy()
                row[column] = near
                made.append(row)
    for k in range(6 if has_missing else 0):
        row = X[40 + k].copy()
        row[k % 3] = np.nan
        made.append(row)
    return np.array(made)


def keep(
    name: str, content: bytes, table: np.ndarray, decisions: np.ndarray, sums: np.ndarray | None
) -> None:
    (FOLDER / name).write_bytes(content)
    expected = {
        "rows": [[None if np.isnan(value) else value for value in row] for row in table.tolist()],
        "favourable": [bool(decision) for decision in decisions],
        "sums": None if sums is None else np.ravel(sums).astype(float).tolist(),
    }
    (FOLDER / f"{name}.expected").write_text(json.dumps(expected))
    print(name, len(content), "bytes", len(table), "rows")


def gradient_boosters() -> None:
    data = np.where(np.random.default_rng(1).random(X.shape) < 0.1, np.nan, X)
    matrix = xgboost.DMatrix(data, Y, feature_names=["a", "b", "c"], feature_types=["float", "float", "c"])
    model = xgboost.train({"objective": "binary:logistic", "max_depth": 3, "max_cat_to_onehot": 1}, matrix, 3)
    at = rows([(0, 0.53), (0, -0.61), (1, 0.88)], True)
    given = xgboost.DMatrix(at, feature_names=["a", "b", "c"], feature_types=["float", "float", "c"])
    margins = model.predict(given, output_margin=True)
    for ending in ("json", "ubj"):
        keep(f"xgboost.{ending}", bytes(model.save_raw(ending)), at, model.predict(given) > 0.5, margins)

    settings = {
        "objective": "binary",
        "num_leaves": 6,
        "verbose": -1,
        "min_data_per_group": 5,
        "cat_smooth": 1,
    }
    dataset = lightgbm.Dataset(data, Y, feature_name=["a", "b", "c"], categorical_feature=[2])
    light = lightgbm.train(settings, dataset, 3)
    text = re.sub(r"\nfeature_importances:.*", "\n", light.model_to_string(), flags=re.DOTALL)
    at = rows([(0, 0.475), (0, -0.615), (1, 0.795)], True)
    keep("lightgbm.txt", text.encode(), at, light.predict(at) > 0.5, light.predict(at, raw_score=True))

    for name, policy in (("catboost", "SymmetricTree"), ("catboost-lossguide", "Lossguide")):
        cat = catboost.CatBoostClassifier(
            iterations=3, depth=3, verbose=0, grow_policy=policy, allow_writing_files=False
        ).fit(data, Y)
        path = FOLDER / "model.json"
        cat.save_model(str(path), format="json")
        document = json.loads(path.read_text())
        path.unlink()
        del document["model_info"]
        floats = document["features_info"]["float_features"]
        at = rows([(f["flat_feature_index"], f["borders"][-1]) for f in floats if f["borders"]], True)
        raw = cat.predict(at, prediction_type="RawFormulaVal")
        keep(f"{name}.json", json.dumps(document).encode(), at, cat.predict(at), raw)


def scikit_learn() -> None:
    models = {
        "tree": DecisionTreeClassifier(max_depth=4, random_state=0),
        "forest": RandomForestClassifier(4, max_depth=3, random_state=0),
        "boosting": GradientBoostingClassifier(n_estimators=4, random_state=0),
        "histogram": HistGradientBoostingClassifier(max_iter=3, max_leaf_nodes=6, random_state=0),
        "ada": AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=4, random_state=0),
    }
    for name, model in models.items():
        model.fit(X, Y)
        at = rows([(0, 0.475), (1, 0.88), (1, 1.165)], False)
        content = sf.Classifier.from_sklearn(model, FEATURES).trees
        sums = model.decision_function(at) if hasattr(model, "decision_function") else None
        keep(f"sklearn-{name}.json", content, at, model.predict(at), sums)


def onnx() -> None:
    single = X.astype(np.float32)
    forest = RandomForestClassifier(3, max_depth=3, random_state=0).fit(single, Y)
    boosting = GradientBoostingClassifier(n_estimators=3, random_state=0).fit(single, Y)
    scaled = make_pipeline(StandardScaler(), GradientBoostingClassifier(n_estimators=3, random_state=0))
    scaled.fit(single, Y)
    at = rows([(0, 0.475), (1, 0.88), (1, 1.165)], False)
    for name, model in (("forest", forest), ("scaled", scaled), ("boosting", boosting)):
        content = to_onnx(model, single[:1], options={id(model): {"zipmap": False}}).SerializeToString()
        session = onnxruntime.InferenceSession(content)
        label, _ = session.run(None, {"X": at.astype(np.float32)})
        keep(f"onnx-{name}.onnx", content, at, label == 1, None)


def example() -> None:
    credit = runpy.run_path(str(ROOT / "examples/python/credit_xgboost.py"))
    credit["credit_model"](credit["applicants"](2000, seed=0)).save_model(ROOT / "examples/trees/model.json")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    FOLDER.mkdir(exist_ok=True)
    gradient_boosters()
    scikit_learn()
    onnx()
    example()
