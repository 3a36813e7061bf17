"""A scikit-learn credit model: what those it refuses can do, in the columns of their own table."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import surefoot as sf


def applicants(count: int, seed: int) -> pd.DataFrame:
    """Made-up applicants, with whether they paid back."""
    random = np.random.default_rng(seed)
    age = random.integers(18, 75, size=count)
    income = random.gamma(5, 500, size=count) + 15 * age
    frame = pd.DataFrame(
        {
            "age": age,
            "job": random.choice(["clerk", "farmer", "nurse", "none"], size=count),
            "income": income,
            "savings": 1.5 * income + random.normal(0, 2000, size=count),
            "debt": random.gamma(2, 1500, size=count),
        }
    )
    logit = (frame["income"] + 0.3 * frame["savings"] - 0.8 * frame["debt"] - 3000) / 900
    logit -= 1.5 * (frame["job"] == "none")
    frame["paid_back"] = (random.random(count) < 1 / (1 + np.exp(-logit))).astype(int)
    return frame


def credit_model(people: pd.DataFrame, outcomes: pd.Series[int]) -> Pipeline:
    """An ordinary pipeline: scaler, encoder, classifier."""
    columns = ColumnTransformer(
        [
            ("numbers", StandardScaler(), ["age", "income", "savings", "debt"]),
            ("job", OneHotEncoder(), ["job"]),
        ]
    )
    return make_pipeline(columns, LogisticRegression()).fit(people, outcomes)


def main() -> None:
    data = applicants(2000, seed=0)
    people, outcomes = data.drop(columns="paid_back"), data["paid_back"]
    model = credit_model(people, outcomes)

    # What people can do about it: everything else is fixed.
    features = sf.features(
        people,
        change={"income": "increase", "savings": "increase", "debt": "decrease"},
        limits={"income": (0, None), "debt": (0, None)},
        weight={"income": 2.0},
    )
    classifier = sf.Classifier.from_sklearn(model, features)
    problem = sf.Problem(features, classifier, epsilon=0.1)

    refused = people[model.predict(people) == 0]
    answers = sf.recourse(problem, refused)
    print(answers)
    print(answers[0])

    # The model itself agrees, and the answers hold where the cheapest ones do not.
    after = answers.counterfactuals()
    agrees = (model.predict(after) == 1).mean()
    print(f"The model accepts {agrees:.0%} of those who act.")
    cheapest = sf.recourse(sf.Problem(features, classifier, epsilon=0.0), refused)
    for name, promised in (("cheapest", cheapest), ("robust", answers)):
        broken = sf.attack(problem, refused, promised).to_pandas()["broken"]
        print(f"{name}: {broken.mean():.0%} of the actions break if circumstances shift by 0.1 deviations")


if __name__ == "__main__":
    main()
