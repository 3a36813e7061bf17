"""Models trained by scikit-learn and PyTorch, exported, and answered by surefoot: scores are those of
onnxruntime, and the models themselves confirm every answer."""

import numpy as np
import onnxruntime
import pandas as pd
import pytest
import torch
from conftest import EPSILON, FEATURES, scores, surefoot
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from skl2onnx import to_onnx
from torch import nn


def run_onnx(path, values):
    """The probability of the second class, or the logit where the model gives that."""
    session = onnxruntime.InferenceSession(path)
    kind = {"tensor(float)": np.float32, "tensor(double)": np.float64}[session.get_inputs()[0].type]
    output = session.run(None, {session.get_inputs()[0].name: values.astype(kind)})[-1]
    if isinstance(output, list):
        return np.array([one[1] for one in output])
    return output.reshape(len(values), -1)[:, -1]


def logistic(logit):
    return 1 / (1 + np.exp(-logit))


class Scaled(nn.Module):
    """A network with its scaler in front."""

    def __init__(self, values, network):
        super().__init__()
        self.register_buffer("mean", torch.tensor(values.mean(0), dtype=torch.float32))
        self.register_buffer("std", torch.tensor(values.std(0), dtype=torch.float32))
        self.network = network

    def forward(self, x):
        return self.network((x - self.mean) / self.std)


def train(model, adult, rows=8000):
    torch.manual_seed(1)
    x = torch.tensor(adult.values[:rows], dtype=torch.float32)
    y = torch.tensor(adult.rich[:rows])
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(60):
        optimiser.zero_grad()
        output = model(x)
        if output.shape[1] == 2:
            loss = nn.functional.nll_loss(torch.log_softmax(output, 1), y.long())
        else:
            loss = nn.functional.binary_cross_entropy_with_logits(output[:, 0], y.float())
        loss.backward()
        optimiser.step()
    return model.eval()


def network(*layers):
    torch.manual_seed(2)
    return nn.Sequential(*layers)


def export(model, path, exporter):
    x = torch.zeros(2, len(FEATURES))
    if exporter == "torchscript":
        torch.onnx.export(model, (x,), path, dynamo=False, input_names=["x"], dynamic_axes={"x": {0: "n"}})
    else:
        torch.onnx.export(model, (x,), path, dynamo=True, dynamic_shapes=({0: torch.export.Dim("n")},), verbose=False)


def favourable_in_torch(model):
    def favourable(values):
        with torch.no_grad():
            output = model(torch.tensor(values, dtype=torch.float32)).numpy()
        return output[:, 1] >= output[:, 0] if output.shape[1] == 2 else output[:, 0] >= 0

    return favourable


def shifted(adult, counterfactual, causes=None, count=200):
    """Counterfactuals of people whose circumstances have shifted as far as is guarded against."""
    random = np.random.default_rng(3)
    shifts = random.normal(size=(len(counterfactual), count, len(FEATURES)))
    shifts *= EPSILON / np.linalg.norm(shifts, axis=2, keepdims=True)
    # As `init` scales: binary features by one.
    values = adult.values
    std = np.where(np.isin(values, [0, 1]).all(0), 1, values.std(0, ddof=1))
    shifts *= std
    if causes is not None:
        shifts = causes(shifts)
    return (counterfactual[:, None, :] + shifts).reshape(-1, len(FEATURES))


def answered(folder, adult, favourable, people, causes=None):
    """Asks for recourse and has the model itself confirm it."""
    surefoot(folder, "validate", "problem.toml", "people.parquet")
    people.to_csv(folder / "some.csv", index=False)
    said = surefoot(folder, "recourse", "problem.toml", "some.csv", "-o", "answers.parquet", "--evaluations", 20000)
    assert "Written to answers.parquet" in said
    answers = pd.read_parquet(folder / "answers.parquet")
    assert list(answers.id) == list(people.id)
    is_favourable = favourable(people[FEATURES].to_numpy(float))
    assert ((answers.status == "favourable") == is_favourable).all()
    found = answers[answers.status == "found"]
    assert len(found) >= 1, answers.status.value_counts()
    after = found[[f"counterfactual:{name}" for name in FEATURES]].to_numpy()
    assert favourable(after).all()
    assert favourable(shifted(adult, after, causes)).all()
    # What was found out by others too: the attack finds nothing, the proofs are confirmed.
    said = surefoot(folder, "attack", "problem.toml", "some.csv", "answers.parquet", "-o", "breaks.csv")
    assert f"{len(found)} action{'s' if len(found) > 1 else ''}: 0 are broken" in said
    assert "0 do not" in surefoot(folder, "certify", "problem.toml", "some.csv", "answers.parquet")
    return answers


def refused(adult, favourable, count):
    """Some people whom a model turns down, and a few others."""
    down = ~favourable(adult.values)
    return pd.concat([adult.people[down][:count], adult.people[~down][:3]])


def assert_same(found, expected):
    """To 1e-6, of the size of the number where that is above one."""
    error = np.abs(found - expected) / np.maximum(1, np.abs(expected))
    assert error.max() < 1e-6, error.max()


SKLEARN = {
    "regression": LogisticRegression(max_iter=5000),
    "scaled regression": make_pipeline(StandardScaler(), LogisticRegression()),
    "relu": make_pipeline(StandardScaler(), MLPClassifier((8,), max_iter=20, random_state=1)),
    "tanh": make_pipeline(StandardScaler(), MLPClassifier((6, 6), activation="tanh", max_iter=20, random_state=1)),
    "logistic": make_pipeline(StandardScaler(), MLPClassifier((8,), activation="logistic", max_iter=20, random_state=1)),
}


@pytest.mark.parametrize("name", SKLEARN)
def test_scikit_learn(name, adult, problem):
    model = SKLEARN[name].fit(adult.values, adult.rich)
    folder = problem()
    for kind, zipmap in [(np.float32, True), (np.float32, False), (np.float64, False)]:
        exported = to_onnx(model, adult.values[:1].astype(kind), options={id(model): {"zipmap": zipmap}})
        (folder / "model.onnx").write_bytes(exported.SerializeToString())
        expected = run_onnx(folder / "model.onnx", adult.values)
        assert_same(logistic(scores(folder, "problem.toml", "people.parquet")), expected)

    def favourable(values):
        return model.predict_proba(values)[:, 1] >= 0.5

    is_linear = "regression" in name
    answered(folder, adult, favourable, refused(adult, favourable, 2000 if is_linear else 6))


TORCH = {
    "logit": lambda: network(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 1)),
    "two logits": lambda: network(nn.Linear(6, 8), nn.ReLU(), nn.Dropout(0.1), nn.Linear(8, 2)),
    "wide": lambda: network(nn.Flatten(), nn.Linear(6, 100, bias=False), nn.Sigmoid(), nn.Linear(100, 1)),
}


@pytest.mark.parametrize("exporter", ["torchscript", "dynamo"])
@pytest.mark.parametrize("name", TORCH)
def test_pytorch(name, exporter, adult, problem):
    model = train(Scaled(adult.values, TORCH[name]()), adult)
    folder = problem()
    path = folder / "model.onnx"
    # First with its probabilities, then with bare logits.
    end = nn.Softmax(dim=1) if name == "two logits" else nn.Sigmoid()
    export(nn.Sequential(model, end).eval(), path, exporter)
    assert_same(logistic(scores(folder, "problem.toml", "people.parquet")), run_onnx(path, adult.values))
    export(model, path, exporter)
    if exporter == "dynamo" and name == "wide":
        assert (folder / "model.onnx.data").exists(), "larger weights stand beside the model"
    if name != "two logits":
        assert_same(scores(folder, "problem.toml", "people.parquet"), run_onnx(path, adult.values))
    favourable = favourable_in_torch(model)
    if exporter == "dynamo":
        answered(folder, adult, favourable, refused(adult, favourable, 5))


def test_causes(adult, problem):
    """Hours follow education: what a shift or an action causes is worked out here once more."""
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(adult.values, adult.rich)
    folder = problem('[[equation]]\nfeature = "hours-per-week"\nformula = "30 + 0.8 * `education-num` + u"\n')
    exported = to_onnx(model, adult.values[:1].astype(np.float32))
    (folder / "model.onnx").write_bytes(exported.SerializeToString())

    def favourable(values):
        return model.predict_proba(values)[:, 1] >= 0.5

    def causes(shifts):
        shifts = shifts.copy()
        shifts[..., 5] += 0.8 * shifts[..., 4]
        return shifts

    people = refused(adult, favourable, 1000)
    answers = answered(folder, adult, favourable, people, causes)
    found = answers[answers.status == "found"].set_index("id")
    before = people.set_index("id").loc[found.index]
    change = found[["action:education-num", "action:hours-per-week"]].to_numpy()
    education = before["education-num"].to_numpy() + np.nan_to_num(change[:, 0])
    follows = before["hours-per-week"].to_numpy() + 0.8 * np.nan_to_num(change[:, 0])
    hours = np.where(np.isnan(change[:, 1]), follows, before["hours-per-week"].to_numpy() + change[:, 1])
    assert np.allclose(found["counterfactual:education-num"], education)
    assert np.allclose(found["counterfactual:hours-per-week"], hours)


def test_foreign_models_are_refused_by_operator(adult, problem):
    folder = problem()
    path = folder / "model.onnx"
    forest = RandomForestClassifier(3, max_depth=2, random_state=1).fit(adult.values, adult.rich)
    path.write_bytes(to_onnx(forest, adult.values[:1].astype(np.float32)).SerializeToString())
    surefoot(folder, "validate", "problem.toml")

    def favourable(values):
        return forest.predict(values.reshape(-1, values.shape[-1])).reshape(values.shape[:-1]) == 1

    answered(folder, adult, favourable, refused(adult, favourable, 6))
    vectors = SVC().fit(adult.values[:300], adult.rich[:300])
    path.write_bytes(to_onnx(vectors, adult.values[:1].astype(np.float32)).SerializeToString())
    said = surefoot(folder, "validate", "problem.toml", expected=2)
    assert "SVMClassifier" in said and "model.onnx" in said and "line" in said
    export(network(nn.Linear(6, 8), nn.GELU(), nn.Linear(8, 1)).eval(), path, "dynamo")
    said = surefoot(folder, "recourse", "problem.toml", "people.parquet", "-o", "answers.csv", expected=2)
    assert "`Gelu`" in said and not (folder / "answers.csv").exists()
    path.write_bytes(path.read_bytes()[:100])
    assert "ONNX" in surefoot(folder, "validate", "problem.toml", expected=2)
