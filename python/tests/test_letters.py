"""Letters, and that the command verifies what they say."""

from __future__ import annotations

import csv
import subprocess
from pathlib import Path

import pytest

import surefoot as sf


@pytest.fixture
def ana() -> dict[str, object]:
    return {"id": ["ana", "../x"], "income": [2400, 1000], "savings": [6000, 2000]}


def test_letters_say_what_the_answers_say(linear: sf.Problem, ana: dict[str, object]) -> None:
    letters = sf.letters(linear, ana, options=2)
    assert [letter.id for letter in letters] == ["ana", "../x"]
    assert len(letters) == 2
    first = letters[0]
    assert first.status == sf.recourse(linear, ana)[0].status == "found"
    # The cheapest raise is 1510.4, and three digits make it 1520.
    assert first.data["steps"][0]["change"] == pytest.approx(1520)
    assert "Income: raise by 1520, from 2400 to 3920." in first.text
    assert first.reference is not None
    assert f"Reference: {first.reference}" in str(first)
    assert "<h1>About your application</h1>" in first.html
    assert first.data["options"][0]["reference"] != first.reference
    german = sf.letters(linear, ana, language="de")[:1]
    assert "Ihr Antrag wurde abgelehnt." in german[0].text
    assert list(letters.to_pandas()["letter"]) == [letter.text for letter in letters]


@pytest.mark.parametrize("format", ["text", "html", "document", "json", "table"])
def test_folders_are_those_of_the_command(command: str, examples: Path, tmp_path: Path, format: str) -> None:
    path = examples / "linear/problem.toml"
    table = examples / "linear/people.csv"
    with open(table, newline="") as file:
        rows = list(csv.DictReader(file))
    people = {name: [row[name] if name == "id" else float(row[name]) for row in rows] for name in rows[0]}
    sf.letters(sf.Problem.read(path), people, options=2).write(tmp_path / "python", format=format)  # type: ignore[arg-type]
    arguments = [command, "letters", str(path), str(table), "-o", str(tmp_path / "command"), "--options", "2"]
    subprocess.run([*arguments, "--format", format], check=True, capture_output=True)
    names = sorted(file.name for file in (tmp_path / "command").iterdir())
    assert names == sorted(file.name for file in (tmp_path / "python").iterdir())
    for name in names:
        assert (tmp_path / "python" / name).read_bytes() == (tmp_path / "command" / name).read_bytes(), name


def test_nothing_is_overwritten(linear: sf.Problem, ana: dict[str, object], tmp_path: Path) -> None:
    letters = sf.letters(linear, ana)
    letters.write(tmp_path / "letters")
    before = sorted(file.name for file in (tmp_path / "letters").iterdir())
    assert len(before) == 4
    assert not (tmp_path / "x.txt").exists()
    with pytest.raises(sf.FileError, match="not empty"):
        letters.write(tmp_path / "letters", format="html")
    assert sorted(file.name for file in (tmp_path / "letters").iterdir()) == before
    with pytest.raises(sf.SettingError, match="`pdf`"):
        letters.write(tmp_path / "other", format="pdf")  # type: ignore[arg-type]
    assert [file.name for file in tmp_path.iterdir()] == ["letters"]


def test_mistakes_are_named(linear: sf.Problem, ana: dict[str, object], tmp_path: Path) -> None:
    with pytest.raises(sf.SettingError, match="`fr`"):
        sf.letters(linear, ana, language="fr")  # type: ignore[arg-type]
    with pytest.raises(sf.SettingError):
        sf.letters(linear, ana, method="local", options=2)
    template = tmp_path / "own.txt"
    template.write_text("a\n{{ letter.nothing }}")
    with pytest.raises(sf.SettingError, match="line 2"):
        sf.letters(linear, ana, text_template=template)
    reasons = tmp_path / "reasons.toml"
    reasons.write_text('[[reason]]\nfeature = "incme"')
    with pytest.raises(sf.FileError, match="did you mean `income`"):
        sf.letters(linear, ana, reasons=reasons)
    unproved = sf.letters(linear, ana, method="local")[0]
    assert unproved.reference is None
    assert "not proven" in unproved.text
