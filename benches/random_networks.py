"""Random networks of many features, all of which may change: costs beside an independent search.

    make bench-random-networks        # prints the table

Each network has two hidden layers of 50 units. The independent search is written here: from 200 starts, linear
programs over the worst perturbations found so far, which are found by projected gradients. It proves nothing. One
thread. Besides, the cost with a limit of one second is held against that with ten.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence

import numpy as np

os.environ["RAYON_NUM_THREADS"] = "1"
import surefoot as sf  # noqa: E402

HIDDEN = 50
EPSILON = 0.1
PEOPLE = 5
STARTS = 200
STEPS = 12
#: Rounds of an attack on many actions at a time.
ATTACKS = 12
#: An action holds in the independent search if no attack lowers its margin below this.
SLACK = -1e-6


class Network:
    """A random network with the derivative of its logit."""

    def __init__(self, features: int, activation: str, seed: int) -> None:
        random = np.random.default_rng(seed)
        sizes = [features, HIDDEN, HIDDEN, 1]
        self.activation = activation
        self.layers = [
            (random.normal(size=(m, n)) * 1.5 / np.sqrt(n), random.normal(size=m) * 0.3)
            for n, m in zip(sizes[:-1], sizes[1:], strict=True)
        ]
        points = random.normal(size=(2000, features))
        # Nine of ten are turned down.
        weight, bias = self.layers[-1]
        self.layers[-1] = (weight, bias - np.quantile(self.logit(points), 0.9))
        rejected = points[self.logit(points) < 0]
        self.people = rejected[:PEOPLE]

    def forward(self, x: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
        slopes = []
        for weight, bias in self.layers[:-1]:
            z = x @ weight.T + bias
            x = np.tanh(z) if self.activation == "tanh" else np.maximum(z, 0)
            slopes.append(1 - x**2 if self.activation == "tanh" else (z > 0).astype(float))
        weight, bias = self.layers[-1]
        return (x @ weight.T + bias)[:, 0], slopes

    def logit(self, x: np.ndarray) -> np.ndarray:
        return self.forward(x)[0]

    def gradient(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        value, slopes = self.forward(x)
        back = np.repeat(self.layers[-1][0], len(x), axis=0)
        for (weight, _), slope in zip(self.layers[-2::-1], slopes[::-1], strict=True):
            back = (back * slope) @ weight
        return value, back

    def worst(self, x: np.ndarray, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The least margins found around some points, and the perturbations."""
        shift = start
        best, least = shift, self.logit(x + shift)
        for _ in range(ATTACKS):
            slope = self.gradient(x + shift)[1]
            shift = -EPSILON * slope / np.maximum(np.linalg.norm(slope, axis=1, keepdims=True), 1e-12)
            value = self.logit(x + shift)
            best = np.where((value < least)[:, None], shift, best)
            least = np.minimum(least, value)
        return least, best


def program(
    rows: Sequence[np.ndarray], sides: Sequence[float], centre: np.ndarray, reach: float
) -> np.ndarray | None:
    """The cheapest change near a centre that meets all cuts, or the least violation of them."""
    from scipy.optimize import linprog

    n = len(centre)
    # Increases, decreases, and a violation that is expensive.
    cuts = np.array([np.concatenate([-row, row, [-1.0]]) for row in rows])
    near = np.block([[np.eye(n), -np.eye(n), np.zeros((n, 1))], [-np.eye(n), np.eye(n), np.zeros((n, 1))]])
    limits = np.concatenate([centre + reach, reach - centre])
    price = np.concatenate([np.ones(2 * n), [100.0]])
    done = linprog(price, np.vstack([cuts, near]), np.concatenate([-np.array(sides), limits]), method="highs")
    return done.x[:n] - done.x[n : 2 * n] if done.status == 0 else None


def independent(network: Network, x: np.ndarray, random: np.random.Generator) -> float:
    """The cost of the cheapest action that survives attacks, from many starts."""
    cheapest = np.inf
    for start in range(STARTS):
        change = np.zeros(len(x)) if start == 0 else random.normal(size=len(x)) * random.uniform(0, 0.5)
        shifts = np.zeros((1, len(x)))
        reach = 0.5
        for _ in range(STEPS):
            least, shift = network.worst((x + change)[None, :], np.zeros((1, len(x))))
            shifts = np.vstack([shifts, shift])[-6:]
            if least[0] >= SLACK and np.abs(change).sum() < cheapest:
                again = random.normal(size=(64, len(x)))
                again *= EPSILON / np.linalg.norm(again, axis=1, keepdims=True)
                thorough = network.worst(np.repeat((x + change)[None, :], 64, axis=0), again)[0]
                if thorough.min() >= SLACK:
                    cheapest = float(np.abs(change).sum())
            value, slope = network.gradient(x + change + shifts)
            following = program(list(slope), list(slope @ change - value), change, reach)
            if following is None:
                break
            change, reach = following, 0.75 * reach
    return cheapest


def ours(network: Network, **settings: object) -> tuple[list[float], list[float], float]:
    """Costs (infinite without an action), gaps and the mean seconds."""
    features = [sf.Feature(f"x{i}", "any", mean=0, std=1) for i in range(network.people.shape[1])]
    classifier = sf.Classifier.network(network.layers, activation=network.activation)
    problem = sf.Problem(features, classifier, epsilon=EPSILON)
    start = time.perf_counter()
    answers = sf.recourse(problem, network.people, **settings)
    seconds = (time.perf_counter() - start) / len(network.people)
    has_action = [status in ("found", "unproved") for status in answers.column("status")]
    costs = [c if has else np.inf for c, has in zip(answers.column("cost"), has_action, strict=True)]
    bounds = answers.column("cost_bound")
    gaps = [1 - b / c for b, c in zip(bounds, costs, strict=True) if b is not None and np.isfinite(c)]
    return costs, gaps, seconds


def beside(found: list[float], best: np.ndarray) -> str:
    """The mean cost as a share of that of the independent search, of those who have both."""
    both = np.isfinite(best) & np.isfinite(found)
    return f"{np.mean(np.array(found)[both]) / np.mean(best[both]):.4f}" if both.any() else "-"


def main() -> None:
    head = [
        "features", "activation", "with an action", "cost / independent", "gap", "s each",
        "local: with an action", "cost / independent", "s each", "1 s / 10 s",
    ]  # fmt: skip
    print("| " + " | ".join(head) + " |")
    print("|" + " --- |" * len(head))
    for features in [int(word) for word in sys.argv[1:]] or [30, 60]:
        for activation in ("tanh", "relu"):
            network = Network(features, activation, seed=features)
            random = np.random.default_rng(1)
            best = np.array([independent(network, x, random) for x in network.people])
            costs, gaps, seconds = ours(network)
            local, _, local_seconds = ours(network, method="local")
            one, ten = (np.array(ours(network, max_seconds=s)[0]) for s in (1, 10))
            both = np.isfinite(one) & np.isfinite(ten)
            counted = np.isfinite(best)
            row = [
                features, activation, f"{np.isfinite(costs).sum()} of {counted.sum()}", beside(costs, best),
                f"{np.mean(gaps):.1%}" if gaps else "-", f"{seconds:.2f}",
                f"{np.isfinite(local).sum()} of {counted.sum()}", beside(local, best), f"{local_seconds:.3f}",
                f"{one[both].mean() / ten[both].mean():.4f} ({both.sum()})" if both.any() else "-",
            ]  # fmt: skip
            print("| " + " | ".join(map(str, row)) + " |", flush=True)


if __name__ == "__main__":
    main()
