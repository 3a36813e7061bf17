"""Dask and Ray Data answer as one machine does, and two workers share the work."""

import os
import sys

import numpy as np
import pandas as pd
import pytest

import surefoot as sf

ROWS = 4000


def problem_and_people():
    features = [
        sf.Feature("income", "increase", mean=3000, std=1500),
        sf.Feature("savings", "increase", mean=8000, std=4000),
    ]
    causal_model = sf.CausalModel(features, {"savings": "2 * income + u"})
    problem = sf.Problem(features, sf.Classifier.linear([0.8, 0.6], -0.5), causal_model, epsilon=0.1)
    random = np.random.default_rng(0)
    income = random.normal(3000, 1500, ROWS)
    people = pd.DataFrame(
        {"id": [f"p{i}" for i in range(ROWS)], "income": income, "savings": 2 * income + random.normal(2000, 2000, ROWS)}
    )
    return problem, people


def check(found, problem, people):
    """The answers, in the order of the people, are those of one machine; two processes made them."""
    expected = sf.recourse(problem, people).to_pandas()
    found = found.set_index("id").loc[people["id"]].reset_index()
    workers = found.pop("worker")
    for name in expected:
        if expected[name].dtype.kind == "f":
            np.testing.assert_array_equal(found[name].to_numpy(dtype=float, na_value=np.nan), expected[name])
        else:
            assert [None if pd.isna(v) else v for v in found[name]] == [None if pd.isna(v) else v for v in expected[name]]
    assert workers.nunique() == 2 and os.getpid() not in set(workers)
    assert workers.value_counts().min() >= ROWS / 8


def test_dask():
    dd = pytest.importorskip("dask.dataframe")
    distributed = pytest.importorskip("distributed")
    problem, people = problem_and_people()

    def answer(part):
        return sf.recourse(problem, part, n_jobs=1).to_pandas().assign(worker=os.getpid())

    like = answer(people.head(1))
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster):
            frame = dd.from_pandas(people, npartitions=8)
            found = frame.map_partitions(answer, meta=like).compute()
    check(found, problem, people)


def test_ray_data(monkeypatch):
    # On a busy machine its processes take their time to start.
    monkeypatch.setenv("RAY_raylet_start_wait_time_s", "120")
    ray = pytest.importorskip("ray")
    problem, people = problem_and_people()

    class Answer:
        """One per worker: the problem is unpickled once."""

        def __init__(self, given):
            self.problem = given

        def __call__(self, batch):
            import pyarrow as pa

            table = sf.recourse(self.problem, batch, n_jobs=1).to_arrow()
            return table.append_column("worker", pa.array([os.getpid()] * table.num_rows))

    # Workers find the package where this process does.
    paths = os.pathsep.join(path for path in sys.path if path)
    # Two are for the workers, and two for what Ray does beside them.
    ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False, runtime_env={"env_vars": {"PYTHONPATH": paths}})
    try:
        parts = [people.iloc[start : start + ROWS // 8] for start in range(0, ROWS, ROWS // 8)]
        dataset = ray.data.from_pandas(parts)
        answers = dataset.map_batches(
            Answer,
            fn_constructor_args=(problem,),
            batch_format="pyarrow",
            batch_size=ROWS // 8,
            compute=ray.data.ActorPoolStrategy(size=2),
        )
        check(answers.to_pandas(), problem, people)
    finally:
        ray.shutdown()
