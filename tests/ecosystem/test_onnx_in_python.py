"""ONNX models in the Python package: the scores of those who wrote them."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from skl2onnx import to_onnx
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import surefoot as sf

FEATURES = [sf.Feature(name, "any", mean=10.0 * k, std=2.0) for k, name in enumerate("abc")]


@pytest.mark.parametrize("last", [LogisticRegression(), MLPClassifier((5,), max_iter=300, random_state=0)])
def test_scores_and_problem_files(last: LogisticRegression, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    rows = random.normal([0.0, 10.0, 20.0], 2.0, size=(300, 3))
    outcomes = (rows.sum(axis=1) + random.normal(size=300) > 30).astype(int)
    pipeline = make_pipeline(StandardScaler(), last).fit(rows, outcomes)
    model = to_onnx(pipeline, rows[:1].astype(np.float64), options={"zipmap": False}).SerializeToString()
    (tmp_path / "model.onnx").write_bytes(model)
    probability = pipeline.predict_proba(rows)[:, 1]
    expected = np.log(probability) - np.log1p(-probability)
    for given in (model, tmp_path / "model.onnx", str(tmp_path / "model.onnx")):
        problem = sf.Problem(FEATURES, sf.Classifier.from_onnx(given, inputs="raw"), epsilon=0.1)
        np.testing.assert_allclose(problem.score(rows), expected, atol=1e-4)
    features = "".join(
        f'[[feature]]\nname = "{f.name}"\nmean = {f.mean}\nstd = 2\nchange = "any"\n' for f in FEATURES
    )
    text = f'epsilon = 0.1\n{features}[classifier]\nonnx = "model.onnx"\ninputs = "raw"\nthreshold = 0.5\n'
    (tmp_path / "problem.toml").write_text(text)
    read = pickle.loads(pickle.dumps(sf.Problem.read(tmp_path / "problem.toml")))
    np.testing.assert_array_equal(read.score(rows), problem.score(rows))


def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(sf.ClassifierError):
        sf.Classifier.from_onnx(b"nothing of the kind")
    with pytest.raises(sf.FileError, match="cannot be read"):
        sf.Classifier.from_onnx(tmp_path / "model.onnx")
