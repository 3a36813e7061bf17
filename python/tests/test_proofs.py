"""Proofs, from answers to the independent checker."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pyarrow.csv
import pytest

import surefoot as sf


@pytest.mark.parametrize("example", ["independent", "linear", "network", "whole", "trees"])
def test_proofs_are_those_of_the_command_line(
    command: str, examples: Path, tmp_path: Path, example: str
) -> None:
    folder = examples / example
    asked: list[str | Path] = [
        command,
        "recourse",
        folder / "problem.toml",
        folder / "people.csv",
        "-o",
        tmp_path / "answers.csv",
    ]
    subprocess.run([*asked, "--proofs", tmp_path / "proofs.jsonl"], check=True, capture_output=True)
    problem = sf.Problem.read(folder / "problem.toml")
    people = pyarrow.csv.read_csv(folder / "people.csv")
    answers = sf.recourse(problem, people, proofs=True)
    assert answers.proofs == (tmp_path / "proofs.jsonl").read_text().splitlines()
    for proofs in (answers, answers.proofs, tmp_path / "proofs.jsonl", str(tmp_path / "proofs.jsonl")):
        checked = sf.verify(problem, proofs)
        assert checked.holds and len(checked) == len(people)
    assert checked.column("id") == answers.column("id")
    assert checked.column("status") == answers.column("status")
    # A bound may be weaker with a proof, and is stated as it is proven.
    assert str(checked.column("text")[0])[:60] == answers[0].text[:60]
    answers.write_proofs(tmp_path / "again.jsonl")
    done = subprocess.run(
        [command, "verify", folder / "problem.toml", tmp_path / "again.jsonl"], capture_output=True
    )
    assert done.returncode == 0


def test_a_wrong_proof_is_not_verified(linear: sf.Problem) -> None:
    [line] = sf.recourse(linear, {"income": 2400, "savings": 6000}).proofs
    proof = json.loads(line)
    assert sf.verify(linear, [line]).column("cost_bound")[0] == pytest.approx(
        proof["proof"]["outcome"]["cost_bound"]
    )
    proof["proof"]["outcome"]["cost_bound"] *= 0.99
    assert sf.verify(linear, [json.dumps(proof)]).holds, "a weaker claim follows"
    proof["proof"]["outcome"]["cost_bound"] = 1.01 * proof["proof"]["outcome"]["cost"]
    checked = sf.verify(linear, [json.dumps(proof), line])
    assert checked.column("verification") == ["wrong", "verified"] and not checked.holds
    assert "the bound on the cost is" in str(checked.column("reason")[0])
    assert repr(checked) == "<2 proofs: 1 verified, 1 wrong>"


def test_references_of_letters(linear: sf.Problem, people: dict[str, Any], tmp_path: Path) -> None:
    letters = sf.letters(linear, people)
    assert sf.verify(linear, letters).holds
    letters.write(tmp_path / "sent")
    letter = next(letter for letter in letters if letter.reference)
    for proofs in (letters, tmp_path / "sent/proofs.jsonl"):
        checked = sf.verify(linear, proofs, reference=letter.reference)
        assert len(checked) == 1 and checked.holds and checked.column("id") == [letter.id]
    with pytest.raises(sf.FileError, match="no proof with the reference"):
        sf.verify(linear, letters, reference="0000-0000-0000-0000")
    with pytest.raises(sf.Error):
        sf.verify(linear, letters, reference="nonsense")


def test_what_is_no_proof_is_refused(linear: sf.Problem, network: sf.Problem, tmp_path: Path) -> None:
    ana = {"income": 2400, "savings": 6000}
    for lines, message in [
        (["{"], "proof 1: it is not JSON"),
        (["{}"], "proof 1: it has no `id`"),
        ([*sf.recourse(linear, ana).proofs, '{"id": "x", "proof": {}}'], "proof 2: "),
        ([], "there is no proof"),
    ]:
        with pytest.raises(sf.FileError, match=message):
            sf.verify(linear, lines)
    with pytest.raises(sf.FileError, match="is no file"):
        sf.verify(linear, tmp_path / "nothing.jsonl")
    (tmp_path / "binary.jsonl").write_bytes(b"\xff\xfe\n")
    with pytest.raises(sf.FileError, match="line 1: is not text"):
        sf.verify(linear, tmp_path / "binary.jsonl")
    with pytest.raises(sf.SettingError, match="proofs=True"):
        _ = sf.recourse(network, ana).proofs
    with pytest.raises(sf.SettingError, match="`proofs` has no effect with the method `descent`"):
        sf.recourse(network, ana, method="descent", proofs=True)


def test_many_proofs_are_checked_in_batches(linear: sf.Problem) -> None:
    people = {"income": [2000.0 + i for i in range(600)], "savings": [6000.0] * 600}
    answers = sf.recourse(linear, people)
    checked = sf.verify(linear, answers.proofs, n_jobs=1)
    assert len(checked) == 600 and checked.holds
    assert checked.column("id") == answers.column("id")
    with pytest.raises(sf.FileError, match="proof 601: "):
        sf.verify(linear, [*answers.proofs, "nonsense"])
