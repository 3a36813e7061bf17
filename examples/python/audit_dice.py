"""An audit of somebody else's counterfactuals: do those of DiCE hold if circumstances shift?"""

from __future__ import annotations

import dice_ml
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import surefoot as sf

COLUMNS = ["age", "income", "savings", "debt"]
VARIED = ["income", "savings", "debt"]
PEOPLE = 30


def applicants(count: int, seed: int) -> pd.DataFrame:
    """Made-up applicants, with whether they paid back."""
    random = np.random.default_rng(seed)
    income = random.gamma(5, 600, size=count)
    frame = pd.DataFrame(
        {
            "age": random.normal(45, 12, size=count),
            "income": income,
            "savings": 1.5 * income + random.normal(0, 2000, size=count),
            "debt": random.gamma(2, 1500, size=count),
        }
    )
    logit = (frame["income"] + 0.3 * frame["savings"] - 0.8 * frame["debt"] - 2200) / 700
    frame["paid_back"] = (random.random(count) < 1 / (1 + np.exp(-logit))).astype(int)
    return frame


def explained(data: pd.DataFrame, model: object, people: pd.DataFrame) -> pd.DataFrame:
    """One counterfactual of DiCE for each person, row by row; NaN where it has none."""
    table = dice_ml.Data(dataframe=data, continuous_features=COLUMNS, outcome_name="paid_back")
    explainer = dice_ml.Dice(table, dice_ml.Model(model=model, backend="sklearn"), method="random")
    explanations = explainer.generate_counterfactuals(
        people, total_CFs=1, desired_class=1, features_to_vary=VARIED, random_seed=0
    )
    rows = []
    for example in explanations.cf_examples_list:
        found = example.final_cfs_df
        rows.append(found[COLUMNS].iloc[0].astype(float) if found is not None and len(found) else None)
    missing = pd.Series(np.nan, index=COLUMNS)
    return pd.DataFrame([missing if row is None else row for row in rows], index=people.index)


def main() -> None:
    data = applicants(2000, seed=0)
    people, outcomes = data[COLUMNS], data["paid_back"]
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(people, outcomes)

    features = sf.features(
        people,
        change={"income": "increase", "savings": "increase", "debt": "decrease"},
        limits={"debt": (0, None)},
    )
    problem = sf.Problem(features, sf.Classifier.from_sklearn(model, features), epsilon=0.1)
    refused = people[model.predict(people) == 0].head(PEOPLE)

    counterfactuals = explained(data, model, refused)
    ours = sf.recourse(problem, refused)
    afterwards = {"DiCE": counterfactuals, "Surefoot": ours.counterfactuals()}
    theirs = sf.Actions.from_counterfactuals(problem, refused, counterfactuals)
    deviations = pd.Series({feature.name: feature.std for feature in features})
    for name, actions in (("DiCE", theirs), ("Surefoot", ours)):
        verdicts = sf.certify(problem, refused, actions).to_pandas()
        attacked = sf.attack(problem, refused, actions).to_pandas()
        acting = verdicts["verdict"].notna()
        effort = ((afterwards[name] - refused).abs() / deviations).sum(axis=1)[acting].mean()
        holding = (verdicts["verdict"][acting] == "holds").mean()
        smallest = attacked["smallest_break"][acting].min()
        print(
            f"{name}: {acting.sum()} actions of {effort:.2f} deviations on average. {holding:.0%} are proven to "
            f"hold; the weakest breaks with a shift of {smallest:.3f}."
        )
        for row in verdicts[verdicts["verdict"] == "breaks"].head(2).itertuples():
            print(f"  That of person {row.Index} breaks with {row.breaks_with}.")


if __name__ == "__main__":
    main()
