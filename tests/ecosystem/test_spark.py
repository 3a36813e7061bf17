"""Recourse on a real cluster: two workers of a local one, each a process of its own."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyspark
import pytest
import xgboost
from pyspark.sql import DataFrame, SparkSession

import surefoot as sf
from surefoot.spark import recourse

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def session() -> Iterator[SparkSession]:
    os.environ["SPARK_HOME"] = str(Path(pyspark.__file__).parent)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("surefoot")
    session = (
        builder.config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "2").getOrCreate()
    )
    yield session
    session.stop()


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    random = np.random.default_rng(0)
    education = random.normal(12, 3, size=2000).clip(0, 25)
    income = 600 + 200 * education + random.normal(0, 1000, size=2000)
    savings = random.normal(8000, 4000, size=2000)
    ids = [f"p{i}" for i in range(2000)]
    return pd.DataFrame({"id": ids, "education": education, "income": income, "savings": savings})


def by_id(table: pa.Table) -> pa.Table:
    return table.sort_by("id").combine_chunks()


def spread(session: SparkSession, people: pd.DataFrame) -> DataFrame:
    return session.createDataFrame(people).repartition(8)


def test_answers_are_those_of_one_machine(session: SparkSession, people: pd.DataFrame) -> None:
    problem = sf.Problem.read(ROOT / "examples/linear/problem.toml")
    answers = recourse(spread(session, people), problem).toArrow()
    expected = sf.recourse(problem, people).to_arrow()
    assert by_id(answers).equals(by_id(expected).cast(answers.schema))


def test_both_workers_answer_and_get_the_problem_once(session: SparkSession, people: pd.DataFrame) -> None:
    problem = Counted(sf.Problem.read(ROOT / "examples/linear/problem.toml"))
    pickled = Counted.pickled
    answers = recourse(spread(session, people), problem)  # type: ignore[arg-type]

    # Inside, so that it is sent along: workers do not have this file.
    def where(rows: Iterator[Any]) -> Iterator[tuple[str, int]]:
        count = sum(1 for _ in rows)
        # Long enough that one worker cannot do everything before the other begins.
        time.sleep(0.5)
        # The folder in which an executor runs is its own.
        yield os.path.basename(os.getcwd()), count

    executors = answers.rdd.mapPartitions(where).collect()
    assert sum(count for _, count in executors) == len(people)
    assert len({executor for executor, count in executors if count}) == 2
    assert Counted.pickled == pickled + 1


def test_trees_go_to_the_workers(session: SparkSession, people: pd.DataFrame, tmp_path: Path) -> None:
    """Answers for a tree ensemble of a file, and for one of XGBoost, are those of one machine."""
    some = people.head(60)
    columns = ["education", "income", "savings"]
    logit = (people["income"] + 0.3 * people["savings"] - 6000) / 500
    model = xgboost.XGBClassifier(n_estimators=20, max_depth=3, random_state=0)
    model.fit(people[columns], logit > np.random.default_rng(1).normal(size=len(people)))
    features = sf.features(people[columns], change={"income": "increase", "savings": "any"})
    built = sf.Problem(features, sf.Classifier.from_xgboost(model), epsilon=0.1)
    # The same from files, which workers do not have.
    model.save_model(tmp_path / "model.json")
    lines = ["epsilon = 0.1"]
    for feature in features:
        lines += ["[[feature]]", f'name = "{feature.name}"', f'change = "{feature.change}"']
        lines += [f"mean = {feature.mean}", f"std = {feature.std}", f"limits = {list(feature.limits)}"]
    (tmp_path / "problem.toml").write_text("\n".join([*lines, "[classifier]", 'trees = "model.json"']))
    read = sf.Problem.read(tmp_path / "problem.toml")
    for problem in (built, read):
        answers = recourse(session.createDataFrame(some).repartition(4), problem).toArrow()
        expected = sf.recourse(problem, some)
        assert expected.counts["found"] > 5
        assert by_id(answers).equals(by_id(expected.to_arrow()).cast(answers.schema))


class Counted:
    """A problem that counts how often it is packed up."""

    pickled = 0

    def __init__(self, problem: sf.Problem) -> None:
        self.problem = problem

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["problem"], name)

    def __reduce__(self) -> tuple[Any, ...]:
        Counted.pickled += 1
        return self.problem.__reduce__()


def test_people_need_an_id(session: SparkSession, people: pd.DataFrame) -> None:
    problem = sf.Problem.read(ROOT / "examples/linear/problem.toml")
    with pytest.raises(sf.PeopleError, match="no column `id` that identifies people"):
        recourse(session.createDataFrame(people.drop(columns="id")), problem)
    with pytest.raises(sf.PeopleError, match="no column `income`"):
        recourse(session.createDataFrame(people.drop(columns="income")), problem)
