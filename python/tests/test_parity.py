"""Everything that the command line does can be done in Python."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable

import pytest

import surefoot as sf

#: The function for each command.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "attack": sf.attack,
    "audit": sf.audit,
    "certify": sf.certify,
    "data fetch": sf.fetch_data,
    "data list": sf.list_data,
    "demo": sf.demo,
    "epsilon": sf.coverage,
    "fit": sf.CausalModel.fit,
    "init": sf.init,
    "letters": sf.letters,
    "recourse": sf.recourse,
    "reproduce": sf.reproduce,
    "theory": sf.theory,
    "trade-off": sf.trade_off,
    "train": sf.Classifier.train,
    "validate": sf.validate,
    "verify": sf.verify,
}

#: Options and arguments that Python calls by other names.
NAMES = {
    "--evaluations": "max_evaluations",
    "--seconds": "max_seconds",
    "--seed": "random_state",
    "--batch": "batch_size",
    "--step": "learning_rate",
    "--validation": "validation_fraction",
    "--test": "test_fraction",
    "answers": "actions",
}

#: Options that are something else in Python, with what.
ELSEWHERE: dict[tuple[str, str], object] = {
    ("attack", "--output"): sf.Answers.to_arrow,
    ("audit", "--output"): sf.Audit.write,
    ("audit", "--overwrite"): sf.Audit.write,
    ("certify", "--output"): sf.Answers.to_arrow,
    ("epsilon", "--covariance"): sf.Uncertainty.covariance,
    ("fit", "--output"): sf.Problem.write,
    ("fit", "--problem"): sf.Problem.write,
    ("fit", "table"): sf.CausalModel.fit,
    ("letters", "--format"): sf.Letters.write,
    ("letters", "--output"): sf.Letters.write,
    ("letters", "--template"): sf.letters,
    ("recourse", "--output"): sf.Answers.to_arrow,
    ("recourse", "--person"): sf.recourse,
    ("recourse", "--resume"): sf.run,
    ("theory", "--method"): sf.run,
    ("theory", "--output"): sf.Theory,
    ("theory", "--person"): sf.theory,
    ("theory", "--seconds"): sf.run,
    ("trade-off", "--plot"): sf.TradeOff.plot,
    ("train", "--committee"): sf.run,
    ("train", "--grid"): sf.run,
    ("train", "--log"): sf.Classifier,
    ("train", "--loss-within"): sf.Uncertainty.weights,
    ("train", "--output"): sf.Problem.write,
    ("train", "--people"): sf.run,
    ("train", "--plot"): sf.run,
    ("train", "--problem"): sf.Problem.write,
    ("train", "--search"): sf.run,
    ("train", "--target"): sf.Classifier.train,
    ("train", "table"): sf.Classifier.train,
    ("validate", "--svg"): sf.CausalModel.plot,
}

#: Commands that only serve other programs over a network; Python is there already.
SERVICES = {"serve"}


def parameter(option: str) -> str:
    return NAMES.get(option, option.lstrip("-").replace("-", "_"))


def test_every_command_and_option_is_in_python() -> None:
    commands = dict(sf._engine.commands())
    assert set(commands) - SERVICES == set(FUNCTIONS)
    needed = set()
    for command, function in FUNCTIONS.items():
        parameters = inspect.signature(function).parameters
        for option in commands[command]:
            if option in ("--help", "--version"):
                continue
            if (command, option) in ELSEWHERE:
                needed.add((command, option))
                continue
            assert parameter(option) in parameters, (
                f"{command} {option} has no parameter of {function.__name__}()"
            )
    # Nothing is excused that is there.
    assert needed == set(ELSEWHERE)


def test_the_list_of_options_is_that_of_the_help(command: str) -> None:
    for name, options in sf._engine.commands():
        told = subprocess.run(
            [command, *name.split(), "--help"], capture_output=True, text=True, check=True
        ).stdout
        for option in options:
            assert option in told or f"[{option.upper()}]" in told or f"<{option.upper()}" in told, (
                name,
                option,
            )


def surefoot(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "surefoot", *words], cwd=folder, capture_output=True, text=True
    )


def test_the_package_has_the_command(command: str, examples: Path, tmp_path: Path) -> None:
    problem, people = str(examples / "linear/problem.toml"), str(examples / "linear/people.csv")
    for words in (
        ["--version"],
        ["validate", problem, people],
        ["recourse", problem, "--person", "{}"],
        ["nothing"],
    ):
        ours = surefoot(tmp_path, *words)
        theirs = subprocess.run([command, *words], cwd=tmp_path, capture_output=True, text=True)
        assert (ours.returncode, ours.stdout, ours.stderr) == (
            theirs.returncode,
            theirs.stdout,
            theirs.stderr,
        )


def test_commands_with_files(examples: Path, tmp_path: Path) -> None:
    problem, people = examples / "linear/problem.toml", examples / "linear/people.csv"
    output, proofs = tmp_path / "answers.csv", tmp_path / "proofs.jsonl"
    report = sf.run("recourse", problem, people, output=output, proofs=proofs, options=2)
    assert report.holds and "Written to" in str(report) and output.exists()
    assert sf.run("recourse", problem, people, output=output, options=2, resume=True).holds
    assert sf.run("verify", problem, proofs).holds
    with pytest.raises(sf.Error, match="nothing.toml"):
        sf.run("validate", tmp_path / "nothing.toml")
    actions = tmp_path / "actions.csv"
    actions.write_text(
        "id,action:income\n" + "".join(f"{row.split(',')[0]},1\n" for row in people.read_text().split()[1:])
    )
    weak = sf.run("certify", problem, people, actions)
    assert not weak.holds and "break" in weak.text


def test_problems_in_memory_reach_commands(linear: sf.Problem, people: dict[str, Any]) -> None:
    text = sf.validate(linear, people).text
    assert "savings = 2 * income + u" in text
    with pytest.raises(sf.Error, match="`savings`"):
        sf.validate(linear, {"income": [1.0]})
    assert "covers" in sf.coverage(linear, error=0.05, probability=0.9).text
    errors = {"income": [10.0, -20.0, 30.0, -5.0], "savings": [100.0, 50.0, -80.0, 3.0]}
    assert "4 observed errors" in sf.coverage(linear, errors=errors).text
    assert "adult" in sf.list_data().text
    with pytest.raises(sf.SettingError, match="name a data set"):
        sf.fetch_data()
    with pytest.raises(sf.Error, match="nothing"):
        sf.fetch_data("nothing")


def test_reproduce(tmp_path: Path) -> None:
    with pytest.raises(sf.Error, match="there are compas"):
        sf.reproduce(tmp_path / "out", only=["nothing"])
    folder = os.environ.get("SUREFOOT_DATA", Path(__file__).parents[3] / "shared/data")
    if not Path(folder).is_dir():
        pytest.skip("the data sets are not there")
    with pytest.raises(sf.Error):
        sf.reproduce(tmp_path / "out", data=tmp_path, only=["compas"], seeds=1)


def test_init(tmp_path: Path) -> None:
    table = tmp_path / "people.csv"
    table.write_text(
        "income,school,score,repaid\n2400,none,-9,0\n3600,degree,4,1\n3000,basic,7,1\n1000,none,5,0\n"
    )
    problem = tmp_path / "problem.toml"
    report = sf.init(
        table, "repaid", problem, change={"income": "increase", "school": "increase"},
        order={"school": ["none", "basic", "degree"]}, special={"score": {-9: "no record"}}, graph="school -> income",
    )  # fmt: skip
    assert "problem.graph" in report.text
    text = problem.read_text()
    assert 'categories = ["none", "basic", "degree"]' in text and "no record" in text
    with pytest.raises(sf.Error, match="already exists"):
        sf.init(table, "repaid", problem)
