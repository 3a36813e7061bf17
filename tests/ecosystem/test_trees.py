"""Tree ensembles of other programs: their decisions on random rows, at every threshold and beside it."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import catboost
import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from sklearn.ensemble import (
    BaggingClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from trees import (
    FEATURES,
    SKLEARN,
    WIDTH,
    X,
    Y,
    frame,
    hold,
    hold_scaled,
    probes,
    sklearn_splits,
    with_missing,
)

import surefoot as sf


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
    classifier = sf.Classifier.from_xgboost(model)
    # The classifier compares the raw margin with one half.
    scores = margins - 0.5 if name == "logitraw" else margins
    hold(classifier, predicted, rows, scores)
    # A booster alone decides nothing, so that its margin counts as a logit.
    if name == "logitraw":
        hold(sf.Classifier.from_xgboost(model.get_booster()), margins > 0, rows, margins)
    for ending in ("json", "ubj"):
        path = tmp_path / f"model.{ending}"
        model.save_model(path)
        hold(sf.Classifier.from_trees(path), predicted, rows, scores)
    opposite = sf.Classifier.from_xgboost(model, favourable=0)
    hold(opposite, ~predicted.astype(bool), rows, None)


def test_thresholds_on_raw_margins_are_those_of_the_classifier() -> None:
    model = xgboost.XGBClassifier(n_estimators=20, max_depth=3, objective="binary:logitraw").fit(X, Y)
    for threshold in (0.2, 0.5, 0.8):
        expected = model.predict_proba(X)[:, 1]
        expected = expected > threshold if threshold == 0.5 else expected >= threshold
        hold(sf.Classifier.from_xgboost(model, threshold=threshold), expected, X, None)


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


def test_what_is_not_understood_is_refused_by_name(tmp_path: Path) -> None:
    three = np.arange(len(Y)) % 3
    refused = {
        "3 classes": xgboost.XGBClassifier(n_estimators=2).fit(X, three),
        "gblinear": xgboost.XGBClassifier(n_estimators=2, booster="gblinear").fit(X, Y),
    }
    for words, model in refused.items():
        with pytest.raises(sf.errors.Error, match=words):
            sf.Classifier.from_xgboost(model)
    with pytest.raises(sf.errors.Error, match="several classes; use two|3 classes"):
        settings = {"iterations": 3, "verbose": 0, "allow_writing_files": False}
        sf.Classifier.from_catboost(catboost.CatBoostClassifier(**settings).fit(X, three))
    path = tmp_path / "three.json"
    catboost.CatBoostClassifier(**settings).fit(X, three).save_model(str(path), format="json")
    with pytest.raises(sf.errors.Error, match="CatBoost with several classes.*use two classes"):
        sf.Problem(FEATURES, sf.Classifier.from_trees(path), epsilon=0)
    with pytest.raises(sf.errors.Error, match="RandomForestClassifier has seen one class alone"):
        sf.Classifier.from_sklearn(RandomForestClassifier(2).fit(X, np.zeros(len(X))), FEATURES)
    with pytest.raises(sf.errors.Error, match="BaggingClassifier over GaussianNB"):
        sf.Classifier.from_sklearn(BaggingClassifier(GaussianNB(), 2).fit(X, Y), FEATURES)
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


def test_unfitted_models_are_refused_by_name() -> None:
    models = [
        (sf.Classifier.from_xgboost, xgboost.XGBClassifier()),
        (sf.Classifier.from_lightgbm, lightgbm.LGBMClassifier()),
        (sf.Classifier.from_catboost, catboost.CatBoostClassifier()),
    ]
    for read, model in models:
        words = f"{type(model).__name__} is not fitted"
        with pytest.raises(sf.errors.ClassifierError, match=words):
            read(model)
        with pytest.raises(sf.errors.ClassifierError, match=words):
            sf.Classifier.from_sklearn(model, FEATURES)
    for model in (RandomForestClassifier(), BaggingClassifier(), xgboost.XGBRFClassifier()):
        with pytest.raises(sf.errors.ClassifierError, match=f"{type(model).__name__} is not fitted"):
            sf.Classifier.from_sklearn(model, FEATURES)


@pytest.mark.parametrize(
    "settings", [{}, {"max_features": 0.5}, {"bootstrap_features": True}, {"max_samples": 3}]
)
def test_bagged_trees(settings: dict[str, object]) -> None:
    """Trees over some of the columns, and of samples so small that some have one class alone."""
    model = BaggingClassifier(DecisionTreeClassifier(max_depth=5), 15, random_state=0, **settings)
    model.fit(with_missing(), Y)
    splits = [
        (int(columns[feature]), threshold)
        for tree, columns in zip(model.estimators_, model.estimators_features_)
        for feature, threshold in sklearn_splits(tree)
    ]
    rows = probes(splits, X, True)
    hold(sf.Classifier.from_sklearn(model, FEATURES), model.predict(rows), rows, None)
    hold(sf.Classifier.from_sklearn(model, FEATURES, favourable=0), 1 - model.predict(rows), rows, None)


def test_forests_of_xgboost() -> None:
    model = xgboost.XGBRFClassifier(n_estimators=20, max_depth=5).fit(with_missing(), Y)
    rows = probes(xgboost_splits(model), X, True)
    hold(sf.Classifier.from_sklearn(model, FEATURES), model.predict(rows), rows, None)


def test_attacks_that_follow_gradients_are_refused() -> None:
    model = xgboost.XGBClassifier(n_estimators=5, max_depth=3).fit(X, Y)
    problem = sf.Problem(FEATURES, sf.Classifier.from_xgboost(model), epsilon=0.1)
    actions = np.zeros((3, WIDTH)) + 0.1
    changes = {f"action:x{i}": actions[:, i] for i in range(WIDTH)}
    for name in ("fast_gradient", "deepfool", "carlini_wagner"):
        with pytest.raises(sf.errors.SettingError, match=f"`{name}` follows gradients.*`smallest`"):
            sf.attack(problem, X[:3], changes, method=name)
    assert len(sf.attack(problem, X[:3], changes).column("broken")) == 3


MODELS = {
    "xgboost": lambda: xgboost.XGBClassifier(n_estimators=20, max_depth=3, random_state=0),
    "lightgbm": lambda: lightgbm.LGBMClassifier(n_estimators=20, max_depth=3, random_state=0, verbose=-1),
    "catboost": lambda: catboost.CatBoostClassifier(
        iterations=20, depth=3, random_seed=0, verbose=False, allow_writing_files=False
    ),
    "forest": lambda: RandomForestClassifier(20, max_depth=4, random_state=0),
    "boosting": lambda: GradientBoostingClassifier(n_estimators=20, max_depth=3, random_state=0),
}


@pytest.mark.parametrize("name", MODELS)
def test_actions_hold_for_the_original_program(name: str) -> None:
    """Perturbed people who act are accepted by the program that made the model."""
    model = MODELS[name]().fit(X, Y)
    deviation = X.std(axis=0)
    features = [
        sf.Feature(f"x{i}", "any" if i in (0, 2, 3) else "fixed", mean=0.0, std=float(deviation[i]))
        for i in range(WIDTH)
    ]
    problem = sf.Problem(features, sf.Classifier.from_sklearn(model, features), epsilon=0.05)
    rejected = X[model.predict(X) == 0][:6]
    people = pd.DataFrame({"id": range(len(rejected))} | {f"x{i}": rejected[:, i] for i in range(WIDTH)})
    answers = sf.recourse(problem, people)
    random = np.random.default_rng(3)
    found = 0
    for person, answer in zip(rejected, answers):
        if answer.status != "found":
            assert answer.status == "impossible", answer.status
            continue
        found += 1
        shifts = random.normal(size=(500, WIDTH))
        shifts *= 0.05 * random.random((500, 1)) / np.linalg.norm(shifts, axis=1, keepdims=True)
        acted = np.array([answer.counterfactual[f"x{i}"] for i in range(WIDTH)]) + shifts * deviation
        assert (model.predict(acted) == 1).all(), name
        assert not np.array_equal(person, acted[0])
    assert found >= 4, found


def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(Path(__file__).parents[2] / "examples/python/credit_xgboost.py"), run_name="__main__")
    said = capsys.readouterr().out
    assert "XGBoost accepts 100% of perturbed people who act." in said
    assert "robust: 0% of the actions break" in said
    assert "Raise" in said
