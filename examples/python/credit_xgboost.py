"""An XGBoost credit model: what those it refuses can do, held against XGBoost itself."""

from __future__ import annotations

import numpy as np
import pandas as pd
import xgboost

import surefoot as sf

EPSILON = 0.1
#: How much of a higher income is saved.
SAVED = 1.5
NUMBERS = ["age", "income", "savings", "debt"]


def applicants(count: int, seed: int) -> pd.DataFrame:
    """Made-up applicants, with whether they paid back. Savings follow from income."""
    random = np.random.default_rng(seed)
    age = random.integers(18, 75, size=count)
    income = random.gamma(5, 500, size=count) + 15 * age
    savings = SAVED * income + random.normal(0, 2000, size=count)
    debt = random.gamma(2, 1500, size=count)
    logit = (income + 0.3 * savings - 0.8 * debt - 2000) / 900
    paid_back = (random.random(count) < 1 / (1 + np.exp(-logit))).astype(int)
    columns = {"age": age, "income": income, "savings": savings, "debt": debt, "paid_back": paid_back}
    return pd.DataFrame(columns).round(0)


def credit_model(data: pd.DataFrame) -> xgboost.XGBClassifier:
    """Boosted trees over the columns as they are."""
    model = xgboost.XGBClassifier(n_estimators=20, max_depth=3, learning_rate=0.3, random_state=0)
    return model.fit(data[NUMBERS], data["paid_back"])


def shifted(acted: pd.DataFrame, features: list[sf.Feature], count: int) -> pd.DataFrame:
    """The people after their actions, each under `count` random perturbations of norm epsilon."""
    random = np.random.default_rng(0)
    sizes = random.normal(size=(count * len(acted), len(features)))
    sizes *= EPSILON / np.linalg.norm(sizes, axis=1, keepdims=True)
    shifts = pd.DataFrame(sizes * [feature.std for feature in features], columns=NUMBERS)
    # Savings follow a shift of income.
    shifts["savings"] += SAVED * shifts["income"]
    return pd.concat([acted[NUMBERS]] * count, ignore_index=True) + shifts


def main() -> None:
    data = applicants(2000, seed=0)
    model = credit_model(data)
    people = data[NUMBERS]

    # What people can do about it: everything else is fixed.
    features = sf.features(
        people,
        change={"income": "increase", "savings": "increase", "debt": "decrease"},
        kind={"income": "real", "savings": "real", "debt": "real"},
        weight={"income": 2.0},
    )
    causal_model = sf.CausalModel(features, {"savings": f"{SAVED} * income + u"})
    classifier = sf.Classifier.from_xgboost(model)
    problem = sf.Problem(features, classifier, causal_model, epsilon=EPSILON)

    refused = people[model.predict(people) == 0].head(20)
    answers = sf.recourse(problem, refused)
    print(answers)
    print(answers[0])
    table = answers.to_pandas()
    gap = (1 - table["cost_bound"] / table["cost"]).max()
    print(f"That nothing cheaper holds is proven to within {gap:.1%} of the cost.")

    # XGBoost itself agrees, also about people whose circumstances differ.
    acted = answers.counterfactuals().dropna()
    share = (model.predict(shifted(acted, features, 100)) == 1).mean()
    print(f"XGBoost accepts {share:.0%} of perturbed people who act.")

    # The cheapest actions without uncertainty end right beside a threshold of a tree.
    cheapest = sf.recourse(sf.Problem(features, classifier, causal_model, epsilon=0.0), refused)
    for name, promised in (("cheapest", cheapest), ("robust", answers)):
        verdicts = sf.certify(problem, refused, promised).to_pandas()["verdict"]
        broken = (verdicts == "breaks").mean()
        print(f"{name}: {broken:.0%} of the actions break if circumstances shift by 0.1 deviations")


if __name__ == "__main__":
    main()
