"""Rows at the thresholds of trees, and what must hold there for a classifier that was read."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.tree import DecisionTreeClassifier

import surefoot as sf
from surefoot import _engine

WIDTH = 5
FEATURES = [sf.Feature(f"x{i}", "any") for i in range(WIDTH)]


def table(rows: int = 1500, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of several magnitudes, some of them whole, and labels that depend on them."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(rows, WIDTH))
    x[:, 1] = np.round(40 + 13 * x[:, 1])
    x[:, 2] = 1e4 * np.exp(x[:, 2])
    x[:, 3] = np.round(x[:, 3], 1)
    x[:, 4] = random.integers(0, 8, rows)
    logit = x[:, 0] + (x[:, 1] - 40) / 13 + np.log(x[:, 2] / 1e4) * x[:, 3] + np.isin(x[:, 4], [1, 4, 6])
    return x, (logit + 0.5 * random.normal(size=rows) > 0.5).astype(int)


X, Y = table()


def with_missing(share: float = 0.1) -> np.ndarray:
    random = np.random.default_rng(1)
    return np.where(random.random(X.shape) < share, np.nan, X)


def neighbours(threshold: float) -> list[float]:
    """The threshold, and the numbers beside it in double and in single precision, and between the latter."""
    single = np.float32(threshold)
    around = [np.nextafter(single, np.float32(-np.inf)), single, np.nextafter(single, np.float32(np.inf))]
    middles = [(float(a) + float(b)) / 2 for a, b in zip(around, around[1:])]
    exact = [float(threshold), *map(float, around), *middles]
    return [value for x in exact for value in (np.nextafter(x, -np.inf), x, np.nextafter(x, np.inf))]


def probes(splits: list[tuple[int, float]], rows: np.ndarray, has_missing: bool) -> np.ndarray:
    """The rows; rows at each threshold of a model and beside it; and rows with missing values."""
    random = np.random.default_rng(2)
    made = [rows]
    splits = sorted({(feature, threshold) for feature, threshold in splits if np.isfinite(threshold)})
    for feature, threshold in splits:
        values = neighbours(threshold)
        chosen = rows[random.integers(0, len(rows), len(values))].copy()
        chosen[:, feature] = values
        made.append(chosen)
    if has_missing:
        made.append(np.where(random.random((500, WIDTH)) < 0.3, np.nan, rows[:500]))
    return np.concatenate(made)


def hold(
    classifier: sf.Classifier, predicted: np.ndarray, rows: np.ndarray, scores: np.ndarray | None
) -> None:
    """The decisions are the same for all rows; so are scores, to the precision of sums."""
    found, rounding = _engine.tree_scores(classifier.trees, classifier.threshold, np.ascontiguousarray(rows))
    different = np.flatnonzero((found >= 0) != predicted.astype(bool))
    print(f"{len(rows)} rows, {len(different)} decided otherwise")
    assert len(different) == 0, (rows[different[:3]], found[different[:3]])
    if scores is not None:
        assert np.max(np.abs(found - scores)) <= max(rounding, 1e-12)
    hold_scaled(classifier, predicted, rows)


def hold_scaled(classifier: sf.Classifier, predicted: np.ndarray, rows: np.ndarray) -> None:
    """The same holds for people in standardised units, where these tell neighbours apart."""
    # Of people every number is known and moderate.
    moderate = (np.abs(rows) < 1e90).all(axis=1)
    rows, predicted = rows[moderate], predicted[moderate]
    plain = sf.Problem(FEATURES, classifier, epsilon=0)
    assert np.array_equal(plain.score(rows) >= 0, predicted.astype(bool))
    means, stds = X.mean(axis=0), X.std(axis=0)
    features = [sf.Feature(f"x{i}", "any", mean=means[i], std=stds[i]) for i in range(WIDTH)]
    scaled = sf.Problem(features, classifier, epsilon=0).score(rows)
    different = np.flatnonzero((scaled >= 0) != predicted.astype(bool))
    # Two numbers beside each other may be the same in standardised units.
    for row in rows[different]:
        standardised = (row - means) / stds
        beside = [(np.nextafter(row, end) - means) / stds for end in (-np.inf, np.inf)]
        assert np.any(standardised == beside), row


def sklearn_splits(model: object) -> list[tuple[int, float]]:
    if hasattr(model, "_predictors"):
        nodes = np.concatenate([stage[0].nodes for stage in model._predictors])
        nodes = nodes[nodes["is_leaf"] == 0]
        return list(zip(nodes["feature_idx"].tolist(), nodes["num_threshold"].tolist()))
    trees = [tree.tree_ for tree in np.ravel(getattr(model, "estimators_", [model]))]
    return [
        (int(feature), float(threshold))
        for tree in trees
        for feature, threshold in zip(tree.feature, tree.threshold)
        if feature >= 0
    ]


SKLEARN = {
    "tree": DecisionTreeClassifier(max_depth=7, random_state=0),
    "forest": RandomForestClassifier(25, max_depth=6, random_state=0),
    "grown forest": RandomForestClassifier(20, random_state=0),
    "extra trees": ExtraTreesClassifier(20, max_depth=6, random_state=0),
    "boosting": GradientBoostingClassifier(n_estimators=30, random_state=0),
    "exponential": GradientBoostingClassifier(n_estimators=30, loss="exponential", random_state=0),
    "from zero": GradientBoostingClassifier(n_estimators=30, init="zero", random_state=0),
    "histogram": HistGradientBoostingClassifier(max_iter=30, random_state=0),
    "histogram categories": HistGradientBoostingClassifier(
        max_iter=30, categorical_features=[4], random_state=0
    ),
    "ada": AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=30, random_state=0),
}


def frame() -> pd.DataFrame:
    names = np.array(["north", "south", "east", "west", "far", "sea", "hill", "town"])
    data = pd.DataFrame({f"x{i}": X[:, i] for i in range(4)})
    data["region"] = names[X[:, 4].astype(int)]
    return data
