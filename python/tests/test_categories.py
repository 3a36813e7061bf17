"""Columns of text: the same problem in a file, on the command line and in Python."""

from __future__ import annotations

import dataclasses
import pickle
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pytest

import surefoot as sf
from surefoot import spark


def declared() -> sf.Problem:
    """The example, declared in Python."""
    features = [
        sf.Feature("income", "increase", mean=2500, std=900, limits=(0, None), weight=2),
        sf.Feature(
            "education",
            "increase",
            mean=0.8,
            std=0.7,
            weight=0.5,
            kind="ordinal",
            categories=["none", "basic", "degree"],
        ),
        sf.Feature("job", "any", mean=0.33, std=0.47, weight=0.25, categories=["clerk", "cook", "nurse"]),
    ]
    return sf.Problem(
        features,
        sf.Classifier.linear([0.9, 0.3, 0.0, -0.2, 0.7], -0.5),
        sf.CausalModel(features, {"income": "400 * education + u"}),
        epsilon=0.1,
        forbid=[("job", "cook", "nurse"), ("education", "none", "degree")],
    )


def test_file_command_and_python_agree(command: str, examples: Path, tmp_path: Path) -> None:
    folder = examples / "categories"
    output = tmp_path / "answers.arrow"
    asked = [command, "recourse", str(folder / "problem.toml"), str(folder / "people.csv"), "-o", str(output)]
    subprocess.run(asked, check=True, capture_output=True)
    with pa.ipc.open_file(output) as file:
        expected = file.read_all()
    read = sf.Problem.read(folder / "problem.toml")
    assert read.features == declared().features
    people = pyarrow.csv.read_csv(folder / "people.csv")
    frame = pd.read_csv(folder / "people.csv")
    for problem in (read, pickle.loads(pickle.dumps(read)), declared()):
        for table in (people, frame):
            answers = sf.recourse(problem, table)
            assert answers.to_arrow().combine_chunks().equals(expected.combine_chunks())
        assert answers[0].action == {"job": "nurse"}
        assert answers[0].text.startswith("Change job from clerk to nurse.")
        assert answers[0].person == {"income": 2100.0, "education": "basic", "job": "clerk"}
    verdicts = sf.certify(read, people, sf.recourse(read, people))
    assert verdicts.column("verdict") == ["holds", "holds", None, "holds"]


def test_features_of_init_and_of_python_are_the_same(command: str, tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "income": [1900.5, 3200.0, 2400.0, 4100.0, 2800.0, 3600.0],
            "job": ["clerk", "nurse", "clerk", "farmer", "nurse", "farmer"],
            "paid": [0, 1, 0, 1, 0, 1],
        }
    )
    frame.to_csv(tmp_path / "people.csv", index=False)
    asked = [command, "init", str(tmp_path / "people.csv"), "--target", "paid"]
    subprocess.run([*asked, "-o", str(tmp_path / "problem.toml")], check=True, capture_output=True)
    with open(tmp_path / "problem.toml", "a") as file:
        file.write("[classifier]\ncoefficients = [1.0, 0.0, 0.0, 1.0]\nintercept = 0\n")
    problem = sf.Problem.read(tmp_path / "problem.toml")
    assert list(problem.features) == sf.features(frame, columns=["income", "job"])
    assert (
        problem.score(frame).tolist()
        == sf.Problem(
            sf.features(frame, columns=["income", "job"]),
            sf.Classifier.linear([1.0, 0.0, 0.0, 1.0]),
            epsilon=0.1,
        )
        .score(frame)
        .tolist()
    )


def test_the_schema_for_spark_is_that_of_the_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    types = ModuleType("pyspark.sql.types")
    kinds = {
        "DoubleType": pa.float64,
        "StringType": pa.string,
        "StructField": pa.field,
        "StructType": pa.schema,
    }
    for name, kind in kinds.items():
        setattr(types, name, kind)
    sql = ModuleType("pyspark.sql")
    sql.types = types  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pyspark", ModuleType("pyspark"))
    monkeypatch.setitem(sys.modules, "pyspark.sql", sql)
    problem = declared()
    people = {"income": [2100.0, 1500.0], "education": ["basic", "none"], "job": ["clerk", "cook"]}
    for options in (1, 2):
        schema: Any = spark.schema(problem, options)
        assert schema.equals(sf.recourse(problem, people, options=options).to_arrow().schema)


def test_texts_that_are_no_categories() -> None:
    problem = declared()
    person = {"income": 2000.0, "education": "basic", "job": "clerc"}
    with pytest.raises(
        sf.PeopleError, match="person 1, feature `job`: `clerc` is no category; did you mean `clerk`"
    ):
        sf.recourse(problem, person)
    with pytest.raises(sf.PeopleError, match="`king` is no category; there are `clerk`, `cook` and `nurse`"):
        sf.recourse(problem, {**person, "job": "king"})


def test_levels_are_told_by_their_names() -> None:
    answer = sf.recourse(declared(), {"income": 1900, "education": "none", "job": "clerk"})[0]
    assert answer.action == {"education": "basic", "job": "nurse"}
    assert answer.counterfactual == {"income": 2300.0, "education": "basic", "job": "nurse"}
    assert answer.text.startswith("Raise education from none to basic and change job from clerk to nurse.")


def test_limits_of_levels_count() -> None:
    levels = ["none", "basic", "degree"]
    feature = sf.Feature("education", "increase", kind="ordinal", categories=levels, limits=(None, 1))
    problem = sf.Problem([feature], sf.Classifier.linear([1.0], -1.5), epsilon=0.1)
    assert sf.recourse(problem, {"education": "none"})[0].status == "impossible"
    free = sf.Problem(
        [dataclasses.replace(feature, limits=None)], sf.Classifier.linear([1.0], -1.5), epsilon=0.1
    )
    assert sf.recourse(free, {"education": "none"})[0].action == {"education": "degree"}
