"""Audits: the same as those of the command, as tables, in words and as a page."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import surefoot as sf


@pytest.fixture
def problem() -> sf.Problem:
    features = [
        sf.Feature("income", "increase", mean=3000, std=1500),
        sf.Feature("age", mean=40, std=10),
    ]
    return sf.Problem(features, sf.Classifier.linear([1.0, 0.5], -0.5), epsilon=0.1)


@pytest.fixture
def people() -> pd.DataFrame:
    draw = np.random.default_rng(1)
    income, age = draw.normal(2800, 800, 60), draw.integers(20, 70, 60)
    town = ["Ulm" if number % 3 else None for number in range(60)]
    return pd.DataFrame({"income": income, "age": age, "town": town})


def test_tables_and_words(problem: sf.Problem, people: pd.DataFrame) -> None:
    audit = sf.audit(problem, people, ["town", "age: 30, 50"])
    answers = sf.recourse(problem, people).to_pandas()
    groups: Any = audit.to_pandas("groups").set_index("name")
    assert list(groups.index) == [
        "everybody",
        "town: Ulm",
        "town: (not stated)",
        "age: under 30",
        "age: 30 to under 50",
        "age: 50 and over",
    ]
    selections = {
        "everybody": people["age"] > 0,
        "town: Ulm": people["town"].notna(),
        "age: 30 to under 50": (people["age"] >= 30) & (people["age"] < 50),
    }
    for name, chosen in selections.items():
        part = answers[chosen.to_numpy()]
        found = part[part["status"] == "found"]
        row = groups.loc[name]
        assert row["counts_people"] == len(part)
        assert row["counts_found"] == len(found)
        assert row["counts_turned_down"] == (part["status"] != "favourable").sum()
        np.testing.assert_allclose(row["cost_mean_upper"], found["cost"].mean())
        np.testing.assert_allclose(row["cost_mean_lower"], found["cost_bound"].mean())
        asked: Any = audit.to_pandas("asked").set_index(["group", "column"]).loc[(name, "income")]
        np.testing.assert_allclose(asked["raised_mean"], found["action:income"].mean())
    pairs = audit.tables["pairs"]
    assert pairs["first"] == ["town: Ulm", "age: under 30", "age: under 30", "age: 30 to under 50"]
    assert audit.tables["twins"] == {}
    assert audit.summary.startswith("60 people were asked about.") and str(audit) == audit.summary
    assert (
        repr(audit)
        == f"<audit of 60 people, {groups.loc['everybody', 'counts_turned_down']:.0f} of them turned down>"
    )
    assert "<h1>Audit of people</h1>" in audit.html and "iframe" in audit._repr_html_()


def test_the_same_as_the_command(command: str, examples: Path, tmp_path: Path) -> None:
    folder = examples / "categories"
    arguments: list[str | Path] = [
        folder / "problem.toml",
        folder / "people.csv",
        "--by",
        "job",
        "--by",
        "income: 2000",
    ]
    subprocess.run([command, "audit", *arguments, "-o", tmp_path / "out"], check=True, capture_output=True)
    problem = sf.Problem.read(folder / "problem.toml")
    people = pd.read_csv(folder / "people.csv", keep_default_na=False)
    audit = sf.audit(problem, people, ["job", "income: 2000"], title="people.csv")
    assert audit.json == json.loads((tmp_path / "out/audit.json").read_text())
    assert audit.html == (tmp_path / "out/audit.html").read_text()


def test_advice_of_others(problem: sf.Problem, people: pd.DataFrame) -> None:
    answers = sf.recourse(problem, people)
    audit = sf.audit(problem, people, actions=answers)
    advice = audit.json["everybody"]["advice"]
    assert advice["holding_and_feasible"] == advice["actions"] == answers.counts["found"]
    assert audit.tables["advice"]["verdict"] == ["holds"] * answers.counts["found"]
    less = sf.Actions.from_changes(problem, {"income": np.full(len(people), 1.0)})
    breaking = sf.audit(problem, people, actions=less).json["everybody"]["advice"]["breaking"]
    turned_down = len(people) - answers.counts["favourable"]
    assert 0 < breaking <= len(people) and breaking >= turned_down - 1


def test_files(problem: sf.Problem, people: pd.DataFrame, tmp_path: Path) -> None:
    audit = sf.audit(problem, people, "town")
    audit.write(tmp_path / "out")
    assert json.loads((tmp_path / "out/audit.json").read_text()) == audit.json
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["audit.html", "audit.json"]
    with pytest.raises(sf.FileError, match=r"has audit.html already"):
        audit.write(tmp_path / "out")
    audit.write(tmp_path / "out", overwrite=True)
    with pytest.raises(sf.FileError, match="cannot be written"):
        audit.write(tmp_path / "none/out")


@pytest.mark.parametrize(
    ("by", "words"),
    [
        ("twon", "did you mean `town`"),
        ("income", "there are 60 groups"),
        ("age: 50, 30", "ascending order"),
        (["town", "town"], "asked for twice"),
    ],
)
def test_groups_are_refused(problem: sf.Problem, people: pd.DataFrame, by: str, words: str) -> None:
    with pytest.raises(sf.SettingError, match=words):
        sf.audit(problem, people, by)


def test_methods_without_proof_are_refused(problem: sf.Problem, people: pd.DataFrame) -> None:
    with pytest.raises(sf.SettingError, match="proves nothing"):
        sf.audit(problem, people, method="local")
