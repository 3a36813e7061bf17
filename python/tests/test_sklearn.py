"""Whole scikit-learn pipelines: the same decisions, and actions in the columns of people's tables."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier

import surefoot as sf

NUMBERS = ["income", "debt", "age"]
CHANGE: dict[str, sf.Change] = {"income": "increase", "debt": "decrease"}


def applicants(count: int = 400) -> tuple[pd.DataFrame, pd.Series[int]]:
    random = np.random.default_rng(7)
    frame = pd.DataFrame(
        {
            "job": random.choice(["clerk", "farmer", "nurse"], size=count),
            "income": random.gamma(4, 700, size=count),
            "owner": random.random(count) < 0.4,
            "debt": random.gamma(2, 900, size=count),
            "school": random.choice(["none", "some", "much"], size=count),
            "age": random.integers(18, 80, size=count),
            "district": random.choice([1, 2, 7], size=count),
        }
    )
    logit = (frame["income"] - frame["debt"] - 1200) / 600 + frame["owner"] + (frame["job"] == "nurse")
    return frame, (random.random(count) < 1 / (1 + np.exp(-logit))).astype(int)


def features(frame: pd.DataFrame) -> list[sf.Feature]:
    return sf.features(
        frame,
        change=CHANGE,
        kind={"district": "category", "school": "ordinal"},
        categories={"school": ["none", "some", "much"]},
    )


def encoder(**settings: Any) -> ColumnTransformer:
    return ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), NUMBERS),
            ("names", OneHotEncoder(**settings), ["job", "district"]),
            ("order", OrdinalEncoder(categories=[["none", "some", "much"]]), ["school"]),
        ],
        remainder="passthrough",
    )


PIPELINES = [
    make_pipeline(encoder(), LogisticRegression()),
    make_pipeline(encoder(drop="first", sparse_output=False), StandardScaler(), SGDClassifier(loss="log_loss", random_state=0)),
    make_pipeline(encoder(handle_unknown="ignore"), MaxAbsScaler(), RidgeClassifier()),
    make_pipeline(encoder(), MLPClassifier((8,), max_iter=40, random_state=0)),
    make_pipeline(encoder(), MLPClassifier((6, 5), activation="tanh", max_iter=40, random_state=0)),
    make_pipeline(encoder(), MLPClassifier((6,), activation="logistic", max_iter=40, random_state=0)),
    make_pipeline(encoder(), MLPClassifier((6, 5), activation="identity", max_iter=40, random_state=0)),
    make_pipeline(encoder(), RobustScaler(), PCA(4, whiten=True), LogisticRegression()),
    make_pipeline(encoder(), MinMaxScaler(), SelectKBest(k=4), LogisticRegression()),
    GridSearchCV(make_pipeline(encoder(), FunctionTransformer(), LogisticRegression()), {"logisticregression__C": [0.1, 1]}),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("pipeline", PIPELINES, ids=lambda p: " ".join(str(p).split())[:60])
def test_scores_are_those_of_the_pipeline(pipeline: Any) -> None:
    frame, outcomes = applicants()
    pipeline.fit(frame, outcomes)
    known = features(frame)
    problem = sf.Problem(known, sf.Classifier.from_sklearn(pipeline, known), epsilon=0.1)
    if hasattr(pipeline, "decision_function"):
        expected = pipeline.decision_function(frame)
    else:
        probability = pipeline.predict_proba(frame)[:, 1]
        expected = np.log(probability / (1 - probability))
    np.testing.assert_allclose(problem.score(frame), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("last", [LogisticRegression(), MLPClassifier((8,), max_iter=60, random_state=0)])
def test_the_pipeline_agrees_with_every_answer(last: Any) -> None:
    frame, outcomes = applicants()
    pipeline = make_pipeline(encoder(), last).fit(frame, outcomes)
    known = features(frame)
    problem = sf.Problem(known, sf.Classifier.from_sklearn(pipeline, known), epsilon=0.1)
    refused = frame[pipeline.predict(frame) == 0].head(30)
    answers = sf.recourse(problem, refused)
    assert answers.counts["favourable"] == 0
    assert answers.counts["found"] > 20
    after = answers.counterfactuals()
    found = refused.loc[after.index]
    assert list(after.columns) == list(frame.columns)
    # What may not change has not, as it was: names, numbers of districts, truths.
    for name in ("job", "school", "district", "owner"):
        assert (after[name] == found[name]).all(), name
    np.testing.assert_allclose(after["age"], found["age"], rtol=1e-14)
    assert (after["income"] >= found["income"] * (1 - 1e-14)).all()
    assert (pipeline.predict(after[frame.columns]) == 1).all()
    # Nor do shifts of up to epsilon make a difference, in any direction.
    random = np.random.default_rng(0)
    scale = {feature.name: feature.std for feature in known}
    for _ in range(20):
        direction = random.normal(size=(len(after), len(NUMBERS)))
        direction *= 0.1 / np.linalg.norm(direction, axis=1, keepdims=True)
        shifted = after.astype(dict.fromkeys(NUMBERS, float))
        for name, shift in zip(NUMBERS, direction.T):
            shifted[name] += scale[name] * shift
        assert (pipeline.predict(shifted[frame.columns]) == 1).all()


def test_the_favourable_class_may_be_the_first() -> None:
    frame, outcomes = applicants()
    numbers = frame[NUMBERS].astype(float)
    words = np.where(outcomes == 1, "granted", "refused")
    model = LogisticRegression().fit(numbers, words)
    known = sf.features(numbers, change=CHANGE)
    problem = sf.Problem(known, sf.Classifier.from_sklearn(model, known, favourable="granted"), epsilon=0.1)
    np.testing.assert_allclose(problem.score(numbers), -model.decision_function(numbers))
    stricter = sf.Classifier.from_sklearn(model, known, favourable="granted", threshold=0.8)
    favourable = sf.Problem(known, stricter, epsilon=0.1).score(numbers) >= 0
    np.testing.assert_array_equal(favourable, model.predict_proba(numbers)[:, 0] >= 0.8)


TREES = [
    make_pipeline(encoder(), RandomForestClassifier(15, max_depth=5, random_state=0)),
    make_pipeline(encoder(drop="first"), MinMaxScaler(), ExtraTreesClassifier(15, random_state=0)),
    make_pipeline(encoder(), RobustScaler(), DecisionTreeClassifier(max_depth=6, random_state=0)),
    make_pipeline(encoder(), SelectKBest(k=4), GradientBoostingClassifier(n_estimators=15, random_state=0)),
    make_pipeline(encoder(sparse_output=False), HistGradientBoostingClassifier(max_iter=15, random_state=0)),
    make_pipeline(encoder(), AdaBoostClassifier(n_estimators=10, random_state=0)),
    CalibratedClassifierCV(
        make_pipeline(encoder(), RandomForestClassifier(9, random_state=0)), ensemble=False
    ),
]


@pytest.mark.parametrize("pipeline", TREES, ids=lambda p: " ".join(str(p).split())[-60:])
def test_trees_decide_as_the_pipeline_does(pipeline: Any) -> None:
    frame, outcomes = applicants()
    pipeline.fit(frame, outcomes)
    known = features(frame)
    for favourable in (0, 1):
        classifier = sf.Classifier.from_sklearn(pipeline, known, favourable=favourable)
        problem = sf.Problem(known, classifier, epsilon=0.1)
        np.testing.assert_array_equal(problem.score(frame) >= 0, pipeline.predict(frame) == favourable)
        copy = pickle.loads(pickle.dumps(problem))
        np.testing.assert_array_equal(copy.score(frame), problem.score(frame))
    assert "tree" in repr(classifier)
    answers = sf.recourse(problem, frame.head(3), max_evaluations=2_000)
    for before, answer in zip(problem.score(frame.head(3)), answers, strict=True):
        assert (answer.status == "favourable") == (before >= 0)
        if answer.status == "found":
            reached = pd.DataFrame([answer.counterfactual])[list(frame.columns)]
            assert problem.score(reached)[0] >= 0


def test_what_is_not_understood_is_named() -> None:
    frame, outcomes = applicants()
    numbers = frame[NUMBERS].astype(float) / 1000
    known = sf.features(numbers, change=CHANGE)
    named = features(frame)
    three = np.arange(len(frame)) % 3
    refused: list[tuple[str, Callable[[], Any]]] = [
        ("KNeighborsClassifier is not understood", lambda: KNeighborsClassifier(2).fit(numbers, outcomes)),
        ("PCA", lambda: make_pipeline(PCA(2), RandomForestClassifier(2)).fit(numbers, outcomes)),
        ("averages 5 classifiers", lambda: CalibratedClassifierCV(RandomForestClassifier(2)).fit(numbers, outcomes)),
        ("AdaBoostClassifier over LogisticRegression", lambda: AdaBoostClassifier(LogisticRegression()).fit(numbers, outcomes)),
        ("step PolynomialFeatures is not", lambda: make_pipeline(PolynomialFeatures(), LogisticRegression()).fit(numbers, outcomes)),
        ("LogisticRegression has 3 classes", lambda: LogisticRegression().fit(numbers, three)),
        ("LogisticRegression is not fitted", lambda: LogisticRegression()),
        ("takes `wealth`, of which there is no feature", lambda: LogisticRegression().fit(numbers.assign(wealth=1.0), outcomes)),
    ]  # fmt: skip
    for message, make in refused:
        with pytest.raises(sf.ClassifierError, match=message):
            sf.Classifier.from_sklearn(make(), known)
    with pytest.raises(sf.ClassifierError, match="'maybe' is no class; there are `0`, `1`"):
        sf.Classifier.from_sklearn(LogisticRegression().fit(numbers, outcomes), known, favourable="maybe")
    encoded = make_pipeline(OneHotEncoder(), LogisticRegression()).fit(frame[["district"]], outcomes)
    with pytest.raises(
        sf.ClassifierError, match='`district`, which is of numbers; declare it with kind="category"'
    ):
        sf.Classifier.from_sklearn(encoded, sf.features(frame[["district"]]))
    with pytest.raises(sf.FeatureError, match="`job` has categories, which are neither more nor less"):
        job = [sf.Feature("job", "increase", categories=["clerk", "farmer", "nurse"])]
        sf.Problem(job, sf.Classifier.linear([1.0, 1.0, 1.0]), epsilon=0)
    with pytest.raises(sf.PeopleError, match="person 2, feature `job`: `pilot` is no category"):
        classifier = sf.Classifier.from_sklearn(
            make_pipeline(encoder(), LogisticRegression()).fit(frame, outcomes), named
        )
        strange = frame.head(3).copy()
        strange.loc[1, "job"] = "pilot"
        sf.recourse(sf.Problem(named, classifier, epsilon=0.1), strange)
