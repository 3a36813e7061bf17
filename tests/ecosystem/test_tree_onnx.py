"""Tree models in ONNX files, beside onnxruntime."""

from __future__ import annotations

from pathlib import Path

import catboost
import lightgbm
import numpy as np
import onnxruntime
import pytest
import xgboost
from onnxmltools import convert_lightgbm, convert_xgboost
from onnxmltools.convert.common.data_types import FloatTensorType
from skl2onnx import to_onnx
from sklearn.ensemble import (
    GradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from trees import SKLEARN, WIDTH, X, Y, hold, hold_scaled, probes, sklearn_splits

import surefoot as sf


def onnx_models() -> dict[str, bytes]:
    single = X.astype(np.float32)
    kinds = [("input", FloatTensorType([None, WIDTH]))]
    without = {"zipmap": False}
    made = {}
    for name in ("tree", "forest", "extra trees", "boosting"):
        model = SKLEARN[name].fit(single, Y)
        made[f"skl2onnx {name}"] = to_onnx(model, single[:1], options={id(model): without})
        made[f"skl2onnx {name} zipmap"] = to_onnx(model, single[:1])
        scaled = make_pipeline(StandardScaler(), model).fit(single, Y)
        made[f"skl2onnx {name} scaled"] = to_onnx(scaled, single[:1], options={id(scaled): without})
    boosted = xgboost.XGBClassifier(n_estimators=20, max_depth=4).fit(single, Y)
    made["onnxmltools xgboost"] = convert_xgboost(boosted, initial_types=kinds)
    light = lightgbm.LGBMClassifier(n_estimators=20, num_leaves=12, verbose=-1).fit(single, Y)
    made["onnxmltools lightgbm"] = convert_lightgbm(light, initial_types=kinds)
    made["onnxmltools lightgbm tensor"] = convert_lightgbm(light, initial_types=kinds, zipmap=False)
    return {name: model.SerializeToString() for name, model in made.items()}


def catboost_onnx(path: Path) -> bytes:
    settings = {"iterations": 20, "depth": 4, "verbose": 0, "allow_writing_files": False}
    catboost.CatBoostClassifier(**settings).fit(X, Y).save_model(str(path), format="onnx")
    return path.read_bytes()


def test_onnx(tmp_path: Path) -> None:
    import onnx

    models = {**onnx_models(), "catboost": catboost_onnx(tmp_path / "catboost.onnx")}
    for name, content in models.items():
        session = onnxruntime.InferenceSession(content)
        node = next(n for n in onnx.load_from_string(content).graph.node if n.op_type.startswith("Tree"))
        values = {item.name: onnx.helper.get_attribute_value(item) for item in node.attribute}
        splits = [
            (feature, threshold)
            for feature, threshold, mode in zip(
                values["nodes_featureids"], values["nodes_values"], values["nodes_modes"]
            )
            if mode != b"LEAF"
        ]
        is_scaled = "scaled" in name
        rows = X.copy() if is_scaled else probes(splits[:500], X, True)
        given = {session.get_inputs()[0].name: rows.astype(np.float32)}
        labels = np.asarray(session.run(None, given)[0]).ravel()
        classifier = sf.Classifier.from_onnx(content, inputs="raw")
        if is_scaled:
            hold_scaled(classifier, labels == 1, rows)
        else:
            print(name, end=": ")
            hold(classifier, labels == 1, rows, None)


@pytest.mark.parametrize("kind", [GradientBoostingRegressor, RandomForestRegressor])
def test_onnx_regressors(kind: type) -> None:
    """Sums and averages, whose value is the logit."""
    model = kind(n_estimators=20, max_depth=4, random_state=0).fit(X.astype(np.float32), Y - 0.5)
    content = to_onnx(model, X[:1].astype(np.float32)).SerializeToString()
    rows = probes(sklearn_splits(model)[:300], X, False)
    values = onnxruntime.InferenceSession(content).run(None, {"X": rows.astype(np.float32)})[0].ravel()
    hold(sf.Classifier.from_onnx(content, inputs="raw"), values >= 0, rows, values)


def tree_ensemble_5(modes: list[int]) -> bytes:
    """A model with the operator of version 5: two trees of random tests."""
    from onnx import TensorProto, helper, numpy_helper

    random = np.random.default_rng(3)
    splits = np.round(random.normal(size=len(modes)), 1).astype(np.float32)
    count = len(modes)
    members = np.array([1, 3, 5, np.nan, 0, 2, np.nan], dtype=np.float32)
    node = helper.make_node(
        "TreeEnsemble",
        ["x"],
        ["y"],
        domain="ai.onnx.ml",
        n_targets=1,
        aggregate_function=1,
        post_transform=0,
        tree_roots=[0, 3],
        nodes_featureids=[0, 4, 3, 0, 4, 3],
        nodes_modes=numpy_helper.from_array(np.array(modes, dtype=np.uint8), "modes"),
        nodes_splits=numpy_helper.from_array(splits, "splits"),
        nodes_truenodeids=[1, 0, 2, 4, 4, 6],
        nodes_trueleafs=[0, 1, 1, 0, 1, 1],
        nodes_falsenodeids=[2, 1, 3, 5, 5, 7],
        nodes_falseleafs=[0, 1, 1, 0, 1, 1],
        nodes_missing_value_tracks_true=[0, 1, 0, 1, 0, 0],
        leaf_targetids=[0] * 8,
        leaf_weights=numpy_helper.from_array(
            np.array([1, -2, 3, -1, -2, 1, -1, 2], dtype=np.float32) / 4, "w"
        ),
        membership_values=numpy_helper.from_array(members, "members"),
    )
    assert count == 6
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, WIDTH])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None, 1])],
    )
    opsets = [helper.make_opsetid("ai.onnx.ml", 5), helper.make_opsetid("", 21)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()


@pytest.mark.parametrize("modes", [[0, 1, 2, 3, 0, 1], [1, 4, 5, 0, 5, 2], [3, 6, 0, 2, 6, 1]])
def test_onnx_version_5(modes: list[int]) -> None:
    content = tree_ensemble_5(modes)
    rows = probes([(0, 0.1), (0, -0.3), (3, 0.4), (4, 1.0), (4, 2.0)], X, False)
    values = onnxruntime.InferenceSession(content).run(None, {"x": rows.astype(np.float32)})[0].ravel()
    hold(sf.Classifier.from_onnx(content, inputs="raw"), values >= 0, rows, values)
