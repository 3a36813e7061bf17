"""Tree ensembles of other programs: their decisions on random rows, at every threshold and beside it."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import catboost
import lightgbm
import numpy as np
import onnxruntime
import pandas as pd
import pytest
import xgboost
from onnxmltools import convert_lightgbm, convert_xgboost
from onnxmltools.convert.common.data_types import FloatTensorType
from skl2onnx import to_onnx
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import surefoot as sf
from surefoot import _engine

WIDTH = 5
FEATURES = [sf.Feature(f"x{i}", "any") for i in range(WIDTH)]


def table(rows: int = 1500, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of several magnitudes, some of them whole, and labels that depend on them."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(rows, WIDTH))
    x[:, 1] = np.round(40 + 13 * x[:, 1])
    x[:, 2] = 1e4 * np.exp(x[:, 2])
    x[:, 3] = np.round(x[:, 3], 1)
    x[:, 4] = random.integers(0, 8, rows)
    logit = x[:, 0] + (x[:, 1] - 40) / 13 + np.log(x[:, 2] / 1e4) * x[:, 3] + np.isin(x[:, 4], [1, 4, 6])
    return x, (logit + 0.5 * random.normal(size=rows) > 0.5).astype(int)


X, Y = table()


def with_missing(share: float = 0.1) -> np.ndarray:
    random = np.random.default_rng(1)
    return np.where(random.random(X.shape) < share, np.nan, X)


def neighbours(threshold: float) -> list[float]:
    """The threshold, and the numbers beside it in double and in single precision, and between the latter."""
    single = np.float32(threshold)
    around = [np.nextafter(single, np.float32(-np.inf)), single, np.nextafter(single, np.float32(np.inf))]
    middles = [(float(a) + float(b)) / 2 for a, b in zip(around, around[1:])]
    exact = [float(threshold), *map(float, around), *middles]
    return [value for x in exact for value in (np.nextafter(x, -np.inf), x, np.nextafter(x, np.inf))]


def probes(splits: list[tuple[int, float]], rows: np.ndarray, has_missing: bool) -> np.ndarray:
    """The rows; rows at each threshold of a model and beside it; and rows with missing values."""
    random = np.random.default_rng(2)
    made = [rows]
    splits = sorted({(feature, threshold) for feature, threshold in splits if np.isfinite(threshold)})
    for feature, threshold in splits:
        values = neighbours(threshold)
        chosen = rows[random.integers(0, len(rows), len(values))].copy()
        chosen[:, feature] = values
        made.append(chosen)
    if has_missing:
        made.append(np.where(random.random((500, WIDTH)) < 0.3, np.nan, rows[:500]))
    return np.concatenate(made)


def hold(
    classifier: sf.Classifier, predicted: np.ndarray, rows: np.ndarray, scores: np.ndarray | None
) -> None:
    """The decisions are the same for all rows; so are scores, to the precision of sums."""
    found, rounding = _engine.tree_scores(classifier.trees, classifier.threshold, np.ascontiguousarray(rows))
    different = np.flatnonzero((found >= 0) != predicted.astype(bool))
    print(f"{len(rows)} rows, {len(different)} decided otherwise")
    assert len(different) == 0, (rows[different[:3]], found[different[:3]])
    if scores is not None:
        assert np.max(np.abs(found - scores)) <= max(rounding, 1e-12)
    hold_scaled(classifier, predicted, rows)


def hold_scaled(classifier: sf.Classifier, predicted: np.ndarray, rows: np.ndarray) -> None:
    """The same holds for people in standardised units, where these tell neighbours apart."""
    # Of people every number is known and moderate.
    moderate = (np.abs(rows) < 1e90).all(axis=1)
    rows, predicted = rows[moderate], predicted[moderate]
    plain = sf.Problem(FEATURES, classifier, epsilon=0)
    assert np.array_equal(plain.score(rows) >= 0, predicted.astype(bool))
    means, stds = X.mean(axis=0), X.std(axis=0)
    features = [sf.Feature(f"x{i}", "any", mean=means[i], std=stds[i]) for i in range(WIDTH)]
    scaled = sf.Problem(features, classifier, epsilon=0).score(rows)
    different = np.flatnonzero((scaled >= 0) != predicted.astype(bool))
    # Two numbers beside each other may be the same in standardised units.
    for row in rows[different]:
        standardised = (row - means) / stds
        beside = [(np.nextafter(row, end) - means) / stds for end in (-np.inf, np.inf)]
        assert np.any(standardised == beside), row


def xgboost_splits(model: xgboost.XGBClassifier) -> list[tuple[int, float]]:
    trees = json.loads(bytes(model.get_booster().save_raw("json")))["learner"]["gradient_booster"]
    trees = trees.get("gbtree", trees)["model"]["trees"]
    return [
        (feature, threshold)
        for tree in trees
        for feature, threshold, left in zip(
            tree["split_indices"], tree["split_conditions"], tree["left_children"]
        )
        if left >= 0
    ]


XGBOOST = {
    "logistic": {},
    "deep": {"max_depth": 8, "n_estimators": 60},
    "exact": {"tree_method": "exact"},
    "logitraw": {"objective": "binary:logitraw"},
    "hinge": {"objective": "binary:hinge"},
    "reg": {"objective": "reg:logistic"},
    "dart": {"booster": "dart", "rate_drop": 0.3},
    "forest": {"num_parallel_tree": 4, "subsample": 0.6},
    "base": {"base_score": 0.2},
}


@pytest.mark.parametrize("name", XGBOOST)
def test_xgboost(name: str, tmp_path: Path) -> None:
    settings = {"n_estimators": 30, "max_depth": 4, **XGBOOST[name]}
    model = xgboost.XGBClassifier(**settings).fit(with_missing(), Y)
    rows = probes(xgboost_splits(model), X, True)
    predicted = model.predict(rows)
    margins = model.predict(rows, output_margin=True)
    if name in ("hinge", "logitraw"):
        predicted = margins > 0
    classifier = sf.Classifier.from_xgboost(model)
    hold(classifier, predicted, rows, margins)
    for ending in ("json", "ubj"):
        path = tmp_path / f"model.{ending}"
        model.save_model(path)
        hold(sf.Classifier.from_trees(path), predicted, rows, margins)
    opposite = sf.Classifier.from_xgboost(model, favourable=0)
    hold(opposite, ~predicted.astype(bool), rows, None)


@pytest.mark.parametrize("threshold", [0.2, 0.5, 0.8])
def test_thresholds_on_probabilities(threshold: float) -> None:
    model = xgboost.XGBClassifier(n_estimators=20, max_depth=3).fit(X, Y)
    hold(
        sf.Classifier.from_xgboost(model, threshold=threshold),
        model.predict_proba(X)[:, 1] >= threshold,
        X,
        None,
    )
    forest = RandomForestClassifier(10, max_depth=4, random_state=0).fit(X, Y)
    classifier = sf.Classifier.from_sklearn(forest, FEATURES, threshold=threshold)
    expected = forest.predict_proba(X)[:, 1] >= threshold if threshold != 0.5 else forest.predict(X)
    hold_scaled(classifier, expected, X)


def test_xgboost_stopped_early(tmp_path: Path) -> None:
    model = xgboost.XGBClassifier(n_estimators=200, max_depth=6, learning_rate=0.5, early_stopping_rounds=3)
    model.fit(X[:1000], Y[:1000], eval_set=[(X[1000:], Y[1000:])], verbose=False)
    assert model.best_iteration + 1 < model.get_booster().num_boosted_rounds()
    rows = probes(xgboost_splits(model)[:200], X, True)
    margins = model.predict(rows, output_margin=True)
    hold(sf.Classifier.from_xgboost(model), model.predict(rows), rows, margins)
    model.save_model(tmp_path / "model.json")
    hold(sf.Classifier.from_trees(tmp_path / "model.json"), model.predict(rows), rows, margins)


LIGHTGBM = {
    "plain": {},
    "zero as missing": {"zero_as_missing": True},
    "no missing": {"use_missing": False},
    "sigmoid": {"sigmoid": 2.5},
    "forest": {"boosting_type": "rf", "bagging_freq": 1, "bagging_fraction": 0.7},
    "dart": {"boosting_type": "dart"},
    "cross entropy": {"objective": "cross_entropy"},
}


@pytest.mark.parametrize("name", LIGHTGBM)
def test_lightgbm(name: str, tmp_path: Path) -> None:
    settings = {"objective": "binary", "num_leaves": 15, "verbose": -1, **LIGHTGBM[name]}
    data = with_missing()
    data[::7, 3] = 0.0
    model = lightgbm.train(settings, lightgbm.Dataset(data, Y), 30)
    frame = model.trees_to_dataframe().dropna(subset=["threshold"])
    features = [int(column.split("_")[1]) for column in frame.split_feature]
    splits = list(zip(features, map(float, frame.threshold)))
    rows = probes([*splits, (0, 0.0), (3, 0.0), (3, 1e-35), (3, -1e-35)], X, True)
    path = tmp_path / "model.txt"
    model.save_model(path)
    # That of a forest is not averaged.
    raw = model.predict(rows, raw_score=True) / (30 if name == "forest" else 1)
    hold(sf.Classifier.from_trees(path), model.predict(rows) > 0.5, rows, raw)
    hold(sf.Classifier.from_lightgbm(model), model.predict(rows) > 0.5, rows, raw)


CATBOOST = {
    "plain": {},
    "lossguide": {"grow_policy": "Lossguide", "max_leaves": 12},
    "depthwise": {"grow_policy": "Depthwise"},
    "missing is most": {"nan_mode": "Max"},
    "average": {"boost_from_average": True},
    "cross entropy": {"loss_function": "CrossEntropy"},
}


@pytest.mark.parametrize("name", CATBOOST)
def test_catboost(name: str, tmp_path: Path) -> None:
    settings = {"iterations": 40, "depth": 4, "verbose": 0, "allow_writing_files": False, **CATBOOST[name]}
    model = catboost.CatBoostClassifier(**settings).fit(with_missing(), Y)
    path = tmp_path / "model.json"
    model.save_model(str(path), format="json")
    floats = json.loads(path.read_text())["features_info"]["float_features"]
    splits = [
        (feature["flat_feature_index"], border) for feature in floats for border in feature["borders"] or []
    ]
    rows = probes(splits, X, True)
    raw = model.predict(rows, prediction_type="RawFormulaVal")
    predicted = model.predict(rows).astype(int)
    hold(sf.Classifier.from_trees(path), predicted, rows, raw)
    hold(sf.Classifier.from_catboost(model, favourable=0), 1 - predicted, rows, -raw)


SKLEARN = {
    "tree": DecisionTreeClassifier(max_depth=7, random_state=0),
    "forest": RandomForestClassifier(25, max_depth=6, random_state=0),
    "grown forest": RandomForestClassifier(20, random_state=0),
    "extra trees": ExtraTreesClassifier(20, max_depth=6, random_state=0),
    "boosting": GradientBoostingClassifier(n_estimators=30, random_state=0),
    "exponential": GradientBoostingClassifier(n_estimators=30, loss="exponential", random_state=0),
    "from zero": GradientBoostingClassifier(n_estimators=30, init="zero", random_state=0),
    "histogram": HistGradientBoostingClassifier(max_iter=30, random_state=0),
    "histogram categories": HistGradientBoostingClassifier(
        max_iter=30, categorical_features=[4], random_state=0
    ),
    "ada": AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=30, random_state=0),
}


def sklearn_splits(model: object) -> list[tuple[int, float]]:
    if hasattr(model, "_predictors"):
        nodes = np.concatenate([stage[0].nodes for stage in model._predictors])
        nodes = nodes[nodes["is_leaf"] == 0]
        return list(zip(nodes["feature_idx"].tolist(), nodes["num_threshold"].tolist()))
    trees = [tree.tree_ for tree in np.ravel(getattr(model, "estimators_", [model]))]
    return [
        (int(feature), float(threshold))
        for tree in trees
        for feature, threshold in zip(tree.feature, tree.threshold)
        if feature >= 0
    ]


@pytest.mark.parametrize("name", SKLEARN)
def test_sklearn(name: str, tmp_path: Path) -> None:
    model = SKLEARN[name]
    takes_missing = name not in ("boosting", "exponential", "from zero", "ada")
    model.fit(with_missing() if takes_missing else X, Y)
    rows = probes(sklearn_splits(model)[:3000], X, takes_missing)
    classifier = sf.Classifier.from_sklearn(model, FEATURES)
    raw = model.decision_function(rows) if hasattr(model, "decision_function") else None
    opposite = sf.Classifier.from_sklearn(model, FEATURES, favourable=0)
    if name == "histogram categories":
        # The model puts its columns into another order.
        hold_scaled(classifier, model.predict(rows), rows)
        hold_scaled(opposite, 1 - model.predict(rows), rows)
    else:
        hold(classifier, model.predict(rows), rows, raw)
        hold(opposite, 1 - model.predict(rows), rows, None)
    # The same from a problem file.
    classifier.save_trees(tmp_path / "model.json")
    problem = tmp_path / "problem.toml"
    entries = "".join(f'[[feature]]\nname = "x{i}"\nchange = "any"\n' for i in range(WIDTH))
    problem.write_text(f'epsilon = 0\n{entries}[classifier]\ntrees = "model.json"\n')
    whole = (np.abs(rows) < 1e90).all(axis=1)
    assert np.array_equal(sf.Problem.read(problem).score(rows[whole]) >= 0, model.predict(rows)[whole] == 1)


def frame() -> pd.DataFrame:
    names = np.array(["north", "south", "east", "west", "far", "sea", "hill", "town"])
    data = pd.DataFrame({f"x{i}": X[:, i] for i in range(4)})
    data["region"] = names[X[:, 4].astype(int)]
    return data


REGION = sf.Feature(
    "region", kind="category", categories=["north", "south", "east", "west", "far", "sea", "hill", "town"]
)
NAMED = [*FEATURES[:4], REGION]
NUMBERS = [f"x{i}" for i in range(4)]
PIPELINES = {
    "scaled forest": make_pipeline(
        make_column_transformer((StandardScaler(), NUMBERS), (OneHotEncoder(), ["region"])),
        RandomForestClassifier(20, max_depth=6, random_state=0),
    ),
    "codes": make_pipeline(
        make_column_transformer((MinMaxScaler(), NUMBERS), (OrdinalEncoder(), ["region"])),
        HistGradientBoostingClassifier(max_iter=30, categorical_features=[4], random_state=0),
    ),
    "xgboost": make_pipeline(
        make_column_transformer((OneHotEncoder(drop="first"), ["region"]), (StandardScaler(), NUMBERS)),
        xgboost.XGBClassifier(n_estimators=30, max_depth=4),
    ),
    "lightgbm": make_pipeline(
        make_column_transformer((OrdinalEncoder(), ["region"]), remainder="passthrough"),
        lightgbm.LGBMClassifier(n_estimators=30, num_leaves=12, verbose=-1),
    ),
    "catboost": make_pipeline(
        make_column_transformer((OneHotEncoder(), ["region"]), remainder=StandardScaler()),
        catboost.CatBoostClassifier(iterations=30, depth=4, verbose=0, allow_writing_files=False),
    ),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_pipelines(name: str) -> None:
    model = PIPELINES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(frame(), Y)
        problem = sf.Problem(NAMED, sf.Classifier.from_sklearn(model, NAMED), epsilon=0)
        people = frame()
        assert np.array_equal(problem.score(people) >= 0, model.predict(people) == 1)
        # At the thresholds of the first numbers, found by bisection of what the pipeline itself says.
        for row in range(12):
            person = people.iloc[[row] * 2].reset_index(drop=True)
            column = NUMBERS[row % 4]
            low, high = float(people[column].min()), float(people[column].max())
            first, last = model.predict(person.assign(**{column: [low, high]}))
            if first == last:
                continue
            while np.nextafter(low, high) < high:
                middle = low + (high - low) / 2
                decided = model.predict(person[:1].assign(**{column: middle}))[0]
                low, high = (middle, high) if decided == first else (low, middle)
            person[column] = [low, high]
            assert np.array_equal(problem.score(person) >= 0, model.predict(person) == 1), (row, low, high)


@pytest.mark.parametrize("program", ["xgboost", "lightgbm", "histogram"])
def test_categories_of_frames(program: str) -> None:
    data = frame().astype({"region": "category"})
    models = {
        "xgboost": xgboost.XGBClassifier(
            n_estimators=20, max_depth=4, enable_categorical=True, max_cat_to_onehot=1
        ),
        "lightgbm": lightgbm.LGBMClassifier(n_estimators=20, min_data_per_group=5, cat_smooth=1, verbose=-1),
        "histogram": HistGradientBoostingClassifier(max_iter=20, categorical_features="from_dtype"),
    }
    model = models[program].fit(data, Y)
    problem = sf.Problem(NAMED, sf.Classifier.from_sklearn(model, NAMED), epsilon=0)
    assert np.array_equal(problem.score(frame()) >= 0, model.predict(data) == 1)


@pytest.mark.parametrize("program", ["xgboost", "lightgbm"])
def test_categories_as_codes(program: str) -> None:
    """Codes beside each other, between them, negative and unknown ones."""
    kinds = ["float"] * 4 + ["c"]
    if program == "xgboost":
        data = xgboost.DMatrix(X, Y, feature_types=kinds, enable_categorical=True)
        model = xgboost.train({"objective": "binary:logistic", "max_cat_to_onehot": 1}, data, 20)
    else:
        settings = {"objective": "binary", "verbose": -1, "min_data_per_group": 5, "cat_smooth": 1}
        model = lightgbm.train(settings, lightgbm.Dataset(X, Y, categorical_feature=[4]), 20)
    codes = [
        -1.0,
        -0.5,
        0.0,
        *np.arange(0.0, 12.0, 0.5),
        np.nextafter(3, 0),
        np.nextafter(3, 4),
        40.0,
        np.nan,
    ]
    rows = np.repeat(X[:100], len(codes), axis=0)
    rows[:, 4] = np.tile(codes, 100)
    if program == "xgboost":
        rows = rows[~(rows[:, 4] < 0)]
        probability = model.predict(
            xgboost.DMatrix(rows, feature_types=kinds, enable_categorical=True), validate_features=False
        )
        classifier = sf.Classifier.from_xgboost(model)
    else:
        probability = model.predict(rows)
        classifier = sf.Classifier.from_lightgbm(model)
    hold(classifier, probability > 0.5, rows, None)


CALIBRATED = {
    "forest": RandomForestClassifier(20, max_depth=5, random_state=0),
    "boosting": GradientBoostingClassifier(n_estimators=20, random_state=0),
    "xgboost": xgboost.XGBClassifier(n_estimators=20, max_depth=3),
}


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("name", CALIBRATED)
def test_calibrated(name: str, method: str) -> None:
    inner = CALIBRATED[name].fit(X[:800], Y[:800])
    prefit = CalibratedClassifierCV(FrozenEstimator(inner), method=method, ensemble=False).fit(
        X[800:], Y[800:]
    )
    for threshold in (0.5, 0.35):
        classifier = sf.Classifier.from_sklearn(prefit, FEATURES, threshold=threshold)
        problem = sf.Problem(FEATURES, classifier, epsilon=0)
        probability = prefit.predict_proba(X)[:, 1]
        expected = probability > 0.5 if threshold == 0.5 else probability >= threshold
        clear = np.abs(probability - threshold) > 1e-12
        assert np.array_equal((problem.score(X) >= 0)[clear], expected[clear])
    folds = CalibratedClassifierCV(CALIBRATED[name], method=method, ensemble=True, cv=3).fit(X, Y)
    with pytest.raises(sf.errors.ClassifierError, match="averages 3 classifiers"):
        sf.Classifier.from_sklearn(folds, FEATURES)


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


def test_what_is_not_understood_is_refused_by_name(tmp_path: Path) -> None:
    three = np.arange(len(Y)) % 3
    refused = {
        "several classes": xgboost.XGBClassifier(n_estimators=2).fit(X, three),
        "gblinear": xgboost.XGBClassifier(n_estimators=2, booster="gblinear").fit(X, Y),
    }
    for words, model in refused.items():
        with pytest.raises(sf.errors.Error, match=words):
            sf.Classifier.from_xgboost(model)
    with pytest.raises(sf.errors.Error, match="linear leaves"):
        settings = {"objective": "binary", "linear_tree": True, "verbose": -1}
        sf.Classifier.from_lightgbm(lightgbm.train(settings, lightgbm.Dataset(X, Y), 3))
    with pytest.raises(sf.errors.Error, match="objective `regression`"):
        sf.Classifier.from_lightgbm(lightgbm.train({"verbose": -1}, lightgbm.Dataset(X, Y), 3))
    with pytest.raises(sf.errors.Error, match="categorical_features"):
        settings = {"iterations": 3, "verbose": 0, "allow_writing_files": False}
        model = catboost.CatBoostClassifier(**settings, cat_features=["region"])
        sf.Classifier.from_catboost(model.fit(frame(), Y))
    with pytest.raises(sf.errors.Error, match="starts from"):
        model = GradientBoostingClassifier(n_estimators=2, init=RandomForestClassifier(2)).fit(X, Y)
        sf.Classifier.from_sklearn(model, FEATURES)
