"""Tree models behind pipelines, categories and calibration, beside scikit-learn."""

from __future__ import annotations

import warnings

import catboost
import lightgbm
import numpy as np
import pytest
import xgboost
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, OrdinalEncoder, StandardScaler
from trees import FEATURES, X, Y, frame, hold

import surefoot as sf

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
