"""The same answers as the command line, bit for bit."""

from __future__ import annotations

import pickle
import subprocess
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pytest

import surefoot as sf


def answered(command: str, problem: Path, people: Path, output: Path, *settings: str) -> pa.Table:
    asked = [command, "recourse", str(problem), str(people), "-o", str(output), *settings]
    subprocess.run(asked, check=True, capture_output=True)
    with pa.ipc.open_file(output) as file:
        return file.read_all()


@pytest.mark.parametrize("example", ["independent", "linear", "network", "whole", "trees"])
def test_the_examples(command: str, examples: Path, tmp_path: Path, example: str) -> None:
    folder = examples / example
    expected = answered(command, folder / "problem.toml", folder / "people.csv", tmp_path / "answers.arrow")
    people = pyarrow.csv.read_csv(folder / "people.csv")
    problem = sf.Problem.read(folder / "problem.toml")
    for same in (problem, pickle.loads(pickle.dumps(problem))):
        table = sf.recourse(same, people).to_arrow()
        # A column that is not there for anybody is still there.
        assert table.column_names == expected.column_names
        assert table.combine_chunks().equals(expected.combine_chunks())
    output = tmp_path / "options.arrow"
    expected = answered(command, folder / "problem.toml", folder / "people.csv", output, "--options", "3")
    table = sf.recourse(problem, people, options=3).to_arrow()
    assert table.combine_chunks().equals(expected.combine_chunks())


def test_a_thousand_people(command: str, examples: Path, tmp_path: Path) -> None:
    import numpy as np

    random = np.random.default_rng(1)
    education = random.normal(12, 3, size=1000).clip(0, 25)
    income = 600 + 200 * education + random.normal(0, 1000, size=1000)
    people = pa.table(
        {"education": education, "income": income, "savings": random.normal(8000, 4000, size=1000)}
    )
    with pa.ipc.new_file(tmp_path / "people.arrow", people.schema) as file:
        file.write_table(people)
    problem = examples / "linear/problem.toml"
    expected = answered(command, problem, tmp_path / "people.arrow", tmp_path / "answers.arrow")
    table = sf.recourse(sf.Problem.read(problem), people).to_arrow()
    assert table.combine_chunks().equals(expected.combine_chunks())
