"""The estimator of scikit-learn, held against its own checks."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import surefoot as sf
from surefoot.sklearn import RecourseExplainer


@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [RecourseExplainer(), RecourseExplainer(make_pipeline(StandardScaler(), LogisticRegression()))]
)
def test_the_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


def applicants(count: int = 300) -> tuple[pd.DataFrame, np.ndarray[Any, np.dtype[np.bool_]]]:
    random = np.random.default_rng(0)
    income = random.normal(3000, 900, count)
    frame = pd.DataFrame(
        {
            "income": income,
            "savings": 2 * income + random.normal(0, 1500, count),
            "job": random.choice(["a", "b"], count),
        }
    )
    return frame, np.asarray(income + 0.1 * frame["savings"] + random.normal(0, 400, count) > 3700)


def test_what_it_explains_is_what_the_package_answers() -> None:
    frame, outcomes = applicants()
    columns = make_column_transformer((StandardScaler(), ["income", "savings"]), (OneHotEncoder(), ["job"]))
    pipeline = make_pipeline(columns, LogisticRegression())
    explainer = RecourseExplainer(
        pipeline, change={"income": "increase"}, graph="income -> savings", epsilon=0.2
    )
    words = np.where(outcomes, "yes", "no")
    assert explainer.fit(frame, words) is explainer and sf.RecourseExplainer is RecourseExplainer
    trained = clone(pipeline).fit(frame, words)
    np.testing.assert_array_equal(explainer.predict(frame), trained.predict(frame))
    np.testing.assert_array_equal(explainer.predict_proba(frame), trained.predict_proba(frame))
    answers = explainer.explain(frame.head(40), proofs=True)
    features = sf.features(frame, change={"income": "increase"}, observed_limits=False)
    model = sf.CausalModel.fit(features, frame, {"savings": ["income"]})
    problem = sf.Problem(features, sf.Classifier.from_sklearn(trained, features), model, epsilon=0.2)
    assert answers.to_arrow().equals(sf.recourse(problem, frame.head(40)).to_arrow())
    assert sf.verify(explainer.problem_, answers).holds
    assert set(explainer.predict(answers.counterfactuals())) == {"yes"}
    again = pickle.loads(pickle.dumps(explainer))
    assert again.explain(frame.head(40)).to_arrow().equals(answers.to_arrow())
    # The other way round.
    refused = RecourseExplainer(pipeline, change={"income": "any"}, favourable="no").fit(frame, words)
    assert refused.explain(frame).counts["favourable"] == (explainer.predict(frame) == "no").sum()


def test_trained_ones_searches_and_arrays() -> None:
    frame, outcomes = applicants()
    rows = frame[["income", "savings"]].to_numpy()
    forest = RandomForestClassifier(5, max_depth=3, random_state=0).fit(rows, outcomes)
    explainer = RecourseExplainer(forest, prefit=True, epsilon=0.0).fit(rows)
    assert explainer.estimator_ is forest
    counts = explainer.explain(rows[:10]).counts
    assert counts["found"] + counts["favourable"] == 10
    assert cross_val_score(RecourseExplainer(), rows, outcomes, cv=3).min() > 0.7
    search = GridSearchCV(RecourseExplainer(LogisticRegression()), {"estimator__C": [0.1, 1.0]}, cv=2).fit(
        rows, outcomes
    )
    assert search.best_estimator_.explain(rows[:3]).counts["undecided"] == 0
    with pytest.raises(sf.FeatureError, match="`height` is no column"):
        RecourseExplainer(change={"height": "any"}).fit(frame[["income"]], outcomes)
    with pytest.raises(ValueError, match="Only binary"):
        RecourseExplainer().fit(rows, np.arange(len(rows)) % 3)
