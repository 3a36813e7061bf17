"""The command `surefoot` beside the programs that people train their models with."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).resolve().parents[2]
EPSILON = 0.1
FEATURES = ["isMale", "age", "native-country-United-States", "marital-status-Married", "education-num", "hours-per-week"]


def surefoot(folder, *arguments, expected=0):
    """What the command says; it must end with the expected code."""
    command = [ROOT / "target/debug/surefoot", *map(str, arguments)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == expected, f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout if expected < 2 else done.stderr


def scores(folder, problem, people):
    """The score of everybody in a table, by the engine."""
    command = [ROOT / "target/debug/examples/scores", problem, people]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return np.array([float(line) for line in done.stdout.split()])


def adult_file():
    """Where the project finds the file; none if nowhere."""
    if os.environ.get("SUREFOOT_DATA"):
        folders = [Path(os.environ["SUREFOOT_DATA"])]
    else:
        beside = [folder / "shared/data" for folder in [ROOT, *ROOT.parents]]
        programs = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share")
        folders = [*beside, programs / "surefoot"]
    files = [folder / name for folder in folders for name in ("adult.csv", "adult.data")]
    return next((file for file in files if file.is_file()), None)


@dataclass
class Adult:
    """People of the census: what they are and whether they earn more than 50,000 dollars."""

    people: pd.DataFrame
    rich: np.ndarray

    @property
    def values(self):
        return self.people[FEATURES].to_numpy(float)


@pytest.fixture(scope="session")
def adult():
    path = adult_file()
    if path is None:
        assert not os.environ.get("CI"), "adult.csv is missing; fetch it with `surefoot data fetch adult`"
        pytest.skip("adult.csv is missing; fetch it with `surefoot data fetch adult`")
    columns = "age workclass fnlwgt education education-num marital job relationship race sex gain loss hours country income"
    names = columns.split()
    table = pd.read_csv(path, header=None, names=names, skipinitialspace=True)
    people = pd.DataFrame(
        {
            "id": [f"p{row}" for row in range(len(table))],
            "isMale": (table.sex == "Male").astype(int),
            "age": table.age,
            "native-country-United-States": (table.country == "United-States").astype(int),
            "marital-status-Married": table.marital.str.startswith("Married").astype(int),
            "education-num": table["education-num"],
            "hours-per-week": table.hours,
        }
    )
    return Adult(people, (table.income == ">50K").to_numpy())


@pytest.fixture
def problem(adult, tmp_path):
    """Writes the problem file of `model.onnx` with `surefoot init` and a few edits; its folder."""

    def write(equations=""):
        adult.people.assign(rich=adult.rich.astype(int)).to_parquet(tmp_path / "people.parquet")
        surefoot(tmp_path, "init", "people.parquet", "--target", "rich")
        path = tmp_path / "problem.toml"
        parts = path.read_text().split("[[feature]]")
        for i, part in enumerate(parts):
            for name, change in [("education-num", "increase"), ("hours-per-week", "any")]:
                if f'name = "{name}"' in part:
                    part = part.replace('change = "fixed"', f'change = "{change}"', 1)
                    parts[i] = part.replace('kind = "integer"', 'kind = "real"', 1)
        text = "[[feature]]".join(parts).replace("epsilon = 0.1", f"epsilon = {EPSILON}\nsafety = 1e-5", 1)
        path.write_text(f'{text}\n{equations}\n[classifier]\nonnx = "model.onnx"\ninputs = "raw"\n')
        return tmp_path

    return write
