"""A PyTorch network with a causal graph: actions whose consequences count, with proof."""

from __future__ import annotations

import numpy as np
import pandas as pd
import torch

import surefoot as sf

GRAPH = {"income": ["age", "education"], "savings": ["income"]}


def applicants(count: int, seed: int) -> tuple[pd.DataFrame, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    """Made-up applicants: education raises income, and income raises savings."""
    random = np.random.default_rng(seed)
    age = random.normal(45, 12, size=count)
    education = random.normal(12, 3, size=count)
    income = 200 * education + 10 * age + random.normal(0, 600, size=count)
    savings = 2 * income + random.normal(0, 2500, size=count)
    logit = (income - 2850) / 500 + (savings - 5700) / 3000 + np.sin(education)
    frame = pd.DataFrame({"age": age, "education": education, "income": income, "savings": savings})
    return frame, random.random(count) < 1 / (1 + np.exp(-logit))


def credit_model(
    rows: np.ndarray[tuple[int, int], np.dtype[np.float64]], outcomes: object
) -> torch.nn.Module:
    """A small network on standardised rows."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(4, 16),
        torch.nn.Tanh(),
        torch.nn.Linear(16, 16),
        torch.nn.Tanh(),
        torch.nn.Linear(16, 1),
    )
    inputs = torch.as_tensor(rows, dtype=torch.float32)
    targets = torch.as_tensor(outcomes, dtype=torch.float32)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(300):
        optimiser.zero_grad()
        loss = torch.nn.functional.binary_cross_entropy_with_logits(model(inputs)[:, 0], targets)
        loss.backward()
        optimiser.step()
    return model


def main() -> None:
    people, outcomes = applicants(2000, seed=0)
    features = sf.features(
        people,
        change={"education": "increase", "income": "increase", "savings": "any"},
        limits={"education": (0, 25)},
    )
    mean = np.array([feature.mean for feature in features])
    std = np.array([feature.std for feature in features])
    model = credit_model((people.to_numpy() - mean) / std, outcomes)

    causal_model = sf.CausalModel.fit(features, people, GRAPH)
    for equation in causal_model.fitted:
        print(f"{equation.feature}: {equation.r_squared:.0%} explained by {', '.join(equation.parents)}")
    classifier = sf.Classifier.from_torch(model)
    causal = sf.Problem(features, classifier, causal_model, epsilon=0.1)
    independent = sf.Problem(features, classifier, epsilon=0.1)

    refused = people[causal.score(people) < 0].head(60)
    answers = sf.recourse(causal, refused)
    print(answers)
    print(next(answer for answer in answers if answer.status == "found"))

    # Those who ignore that income raises savings ask for too much, or for what does not hold.
    other = sf.recourse(independent, refused).to_pandas()
    both = (answers.to_pandas()["status"] == "found") & (other["status"] == "found")
    saved = 1 - answers.to_pandas()["cost"][both].sum() / other["cost"][both].sum()
    print(f"Whoever counts consequences spares people {saved:.0%} of the effort.")


if __name__ == "__main__":
    main()
