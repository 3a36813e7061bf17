"""Draws the figures of docs/why-robust.md; a test holds the files against what it draws."""

from __future__ import annotations

from pathlib import Path

import surefoot as sf

ANA = {"income": 2400, "savings": 6000}


def problem(epsilon: float, most: float | None = None) -> sf.Problem:
    """Ana's problem."""
    features = [
        sf.Feature("income", "increase", mean=3000, std=1500, most_change=most),
        sf.Feature("savings", "increase", mean=8000, std=4000, most_change=most),
    ]
    causal_model = sf.CausalModel(features, {"savings": "2 * income + u"})
    return sf.Problem(features, sf.Classifier.linear([0.8, 0.6], -0.5), causal_model, epsilon=epsilon)


def figures() -> dict[str, sf.Picture]:
    """Every figure by the name of its file."""
    robust = problem(0.1)
    standard = sf.recourse(problem(0.0), ANA)[0]
    return {
        "standard.svg": sf.plot_margin(robust, ANA, standard),
        "robust.svg": sf.plot_margin(robust, ANA),
        "trade-off.svg": sf.trade_off(problem(0.1, 4000), ANA).plot(),
    }


if __name__ == "__main__":
    for name, picture in figures().items():
        picture.write(Path(__file__).parent / name)
