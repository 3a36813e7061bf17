"""The page of `surefoot serve` in Chromium: asked as people ask it, held against what the command line answers."""

import csv
import filecmp
import json
import os
import re
import shutil
import subprocess
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

from conftest import ROOT, surefoot

HERE = Path(__file__).parent
PAGE = ROOT / "page"
ASSETS = ROOT / "crates/surefoot-cli/src/serve/page"
NODE_MODULES = ROOT / "target/ecosystem/node/node_modules"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
# Pictures are kept where somebody wants to look at them.
PICTURES = os.environ.get("SUREFOOT_PICTURES")


@contextmanager
def service(*arguments, environment=None):
    """The address of a service that runs as long as the block."""
    command = [ROOT / "target/debug/surefoot", "serve", *map(str, arguments), "--listen", "127.0.0.1:0"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, **(environment or {})}
    )
    try:
        lines = []
        for line in process.stdout:
            lines.append(line)
            found = re.search(r"http://127\.0\.0\.1:\d+", line)
            if found:
                break
        else:
            raise AssertionError("".join(lines))
        # A full pipe would stop the service.
        threading.Thread(target=process.stdout.read, daemon=True).start()
        yield found[0] + "/"
    finally:
        process.terminate()
        process.wait(timeout=60)


def play(story, address, folder=None):
    """What the page showed in a story."""
    assert CHROMIUM, "Chromium is missing; `make test-ecosystem` installs it where apt-get does"
    environment = {**os.environ, "CHROMIUM": CHROMIUM, "NODE_PATH": str(NODE_MODULES)}
    command = ["node", HERE / "serve_page.cjs", story, address, *([folder] if folder else [])]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def copied(example, folder):
    """A copy of an example with its people."""
    return Path(shutil.copytree(ROOT / "examples" / example, folder / example))


def answers(folder, *arguments):
    """The answers of the command line."""
    surefoot(folder, "recourse", "problem.toml", "people.csv", "-o", "answers.csv", *arguments)
    with open(folder / "answers.csv", newline="") as file:
        return list(csv.DictReader(file))


def effort(text):
    """The number of "Effort 1.01"."""
    return float(text.removeprefix("Effort ").replace(",", ""))


STATUS = {
    "favourable": "The decision is favourable",
    "found": "There is a way, and it is proven to work",
    "impossible": "No allowed action is enough",
    "undecided": "This could not be decided",
}


@pytest.fixture(scope="module")
def linear(tmp_path_factory):
    return copied("linear", tmp_path_factory.mktemp("linear"))


@pytest.fixture(scope="module")
def story(linear):
    with service(linear / "problem.toml") as address:
        return play("story", address, linear)


def test_nothing_is_requested_from_elsewhere_and_nothing_goes_wrong(story):
    assert story["noted"]["elsewhere"] == []
    assert story["noted"]["wrong"] == []


def test_a_person_of_a_table_gets_the_answer_of_the_command_line(story, linear):
    ana = answers(linear)[0]
    seen = story["fromTable"]
    assert seen["status"] == STATUS["found"]
    assert effort(seen["effort"]) == pytest.approx(float(ana["cost"]), rel=5e-3)
    assert [step for step in seen["steps"] if step.startswith("Income: raise by 1728, from 2400 to 4128")]
    assert [line for line in seen["consequences"] if line.startswith("Savings: rises from 6000 to about 8")]
    assert (seen["bars"], seen["acted"], seen["followed"]) == (2, 1, 1)
    assert "Income: raise" in seen["announced"]
    assert seen["epsilon"] == "0.1"
    assert len(seen["shown"]) == 7
    assert seen["points"] > 3


def test_the_attack_view_breaks_the_cheapest_action_and_not_this_one(story):
    cheapest, own = story["fromTable"]["attack"]
    assert "would break it" in cheapest
    assert "does not break this action" in own and "that is proven" in own
    assert story["unsafe"]["attack"] == []


def test_locks_change_the_answer(story):
    assert not any(step.startswith("Income: raise") for step in story["locked"]["steps"])
    assert effort(story["locked"]["effort"]) > effort(story["fromTable"]["effort"])
    assert "Please unlock something" in story["allLocked"]
    seen = story["impossible"]
    assert (seen["status"], seen["badge"], seen["steps"]) == (STATUS["impossible"], "Not favourable", [])
    assert "what you locked" in seen["answer"]
    assert "options" not in seen["shown"] and "attack" not in seen["shown"]
    assert story["unlocked"]["steps"] == story["fromTable"]["steps"]


def test_the_slider_changes_the_answer(story):
    assert (story["safer"]["epsilon"], story["unsafe"]["epsilon"]) == ("0.2", "0")
    assert story["sliderText"] == "0.2 standard deviations"
    efforts = [effort(story[name]["effort"]) for name in ("unsafe", "fromTable", "safer")]
    assert efforts == sorted(efforts) and len(set(efforts)) == 3
    assert story["chosen"]["epsilon"] not in ("0", "0.1", "0.2")
    assert effort(story["chosen"]["effort"]) > 0


def test_limits_change_the_answer(story):
    assert not any(step.startswith("Income: raise by 1728") for step in story["limited"]["steps"])
    assert effort(story["limited"]["effort"]) > effort(story["fromTable"]["effort"])


def test_the_proof_is_kept_and_checked_again(story, linear):
    assert story["verified"].startswith("Checked again by separate code")
    assert story["proof"]["name"].endswith(".jsonl")
    (linear / "downloaded.jsonl").write_text(story["proof"]["text"])
    assert "verified" in surefoot(linear, "verify", "problem.toml", "downloaded.jsonl")
    assert story["lockedVerified"].startswith("Checked again by separate code")
    body = json.loads(story["lockedProof"]["text"])
    assert (body["locked"], len(body["proofs"])) == (["income"], 1)


def test_what_is_proven_is_said_in_plain_words(story):
    holds, bound = story["fromTable"]["proven"]
    assert "gets a favourable decision" in holds and "0.1" in holds
    assert "less effort" in bound
    assert "150" in story["fromTable"]["allowed"]
    assert story["impossible"]["proven"][0].startswith("No allowed action leads to a favourable decision")
    assert story["favourable"]["proven"] == ["That the decision is favourable with exactly these values."]


def test_the_letter_is_that_of_the_person(story):
    assert "ana" in story["letter"] and "Income: raise by" in story["letter"]
    assert story["letterFile"]["text"].lower().startswith("<!doctype html>")
    assert "no change that is possible" in story["impossibleLetter"]
    assert "favourable" in story["favourableLetter"]


def test_a_field_that_is_no_number_is_told_beside_it(story):
    fault = story["fault"]
    assert (fault["beside"], fault["invalid"]) == (["Please write a number."], "true")
    assert fault["answer"] == "To get an answer, please look at: Income."


def test_a_favourable_decision_asks_for_nothing(story):
    seen = story["favourable"]
    assert (seen["status"], seen["badge"], seen["steps"]) == (STATUS["favourable"], "Favourable", [])
    assert "was not asked" in seen["answer"]
    assert not {"options", "curve", "attack"} & set(seen["shown"])


def test_the_language_and_the_colours_are_remembered(story):
    german = story["german"]
    assert (german["lang"], german["title"], german["focused"]) == ("de", "Was wäre nötig? – Surefoot", "Deutsch")
    assert german["status"] == "Es gibt einen Weg, und er ist bewiesen"
    assert any("erhöhen" in step for step in german["steps"])
    assert "Warum" in german["letter"]
    assert german["effort"] == story["second"]["effort"].replace("Effort", "Aufwand").replace(".", ",")
    assert story["reloaded"]["title"] == german["title"]
    assert story["reloaded"]["theme"] == story["theme"]


@pytest.mark.parametrize("example", ["network", "categories", "trees", "whole", "uncertain", "weights", "independent"])
def test_every_kind_of_problem_is_answered_as_by_the_command_line(example, tmp_path):
    folder = copied(example, tmp_path)
    if example == "uncertain":
        # A curve takes half a minute.
        people = (folder / "people.csv").read_text().splitlines()
        (folder / "people.csv").write_text("\n".join(people[:2]) + "\n")
    expected = answers(folder)
    with service(folder / "problem.toml") as address:
        found = play("everybody", address, folder)
    assert (found["noted"]["elsewhere"], found["noted"]["wrong"]) == ([], [])
    assert len(found["people"]) == len(expected)
    for seen, answer in zip(found["people"], expected):
        assert seen["id"] == answer["id"]
        assert seen["status"] == STATUS[answer["status"]], answer["id"]
        assert seen["id"] in seen["letter"]
        if answer["status"] == "found":
            assert seen["points"] > 3
            assert effort(seen["effort"]) == pytest.approx(float(answer["cost"]), rel=5e-3)
            assert seen["bars"] >= len(seen["steps"]) >= 1
            assert seen["options"] != 1
            assert "proven" in seen["attack"][1]


def test_errors_are_told_kindly_and_the_page_goes_on(linear):
    with service(linear / "problem.toml") as address:
        found = play("errors", address)
    assert "could not answer for these values" in found["invalid"] and "out of range" in found["invalid"]
    assert "Request abc123" in found["invalid"]
    assert "longer than the service allows" in found["slow"]
    assert "made a fault" in found["internal"]
    assert "cannot be reached" in found["away"] and found["awayIncome"] == "2000"
    assert found["busy"] == "The service is busy. Asking again in 1 second …"
    assert "cannot be reached" in found["cut"]
    for name in ("invalid", "slow", "internal", "busy", "away"):
        assert found[f"{name}Afterwards"] == STATUS["found"], name
    assert "This part could not be had" in found["part"]
    assert found["partAnswer"] == STATUS["found"]
    assert found["partAfterwards"] > 3
    assert found["table-empty"].startswith("This file holds no table")
    assert "Row 1 has 3 cells where the first line has 2" in found["table-uneven"]
    assert "Savings" in found["table-unread"] and "Income" in found["table-unread"]


def test_better_answers_are_shown_while_a_search_goes_on(linear):
    with service(linear / "problem.toml") as address:
        progress = play("stream", address)["progress"]
    assert "effort 1.07, proven to work" in progress
    assert "Income +1605" in progress
    # A bound is rounded down.
    assert "less effort than 0.949" in progress


def test_a_service_with_a_token_asks_for_it(linear, tmp_path):
    (tmp_path / "token").write_text("right-right-right-right\n")
    with service(linear / "problem.toml", "--token-file", tmp_path / "token") as address:
        found = play("token", address)
    assert "asks for a token" in found["asked"]
    assert "refused" in found["refused"]
    assert found["answer"]["status"] == STATUS["found"]


def test_everything_can_be_reached_by_keyboard(linear):
    with service(linear / "problem.toml") as address:
        found = play("keyboard", address)
    passed = found["passed"]
    assert passed[0] == "A Skip to the answer"
    for name in ("INPUT Income", "INPUT I cannot change this: Income", "BUTTON Download the proof", "BUTTON Print"):
        assert name in passed, passed
    assert any(name.startswith("INPUT How far circumstances") for name in passed)
    assert any("Open a table" in name for name in passed)
    assert found["hidden"] == 0


@pytest.mark.parametrize("example", ["linear", "whole"])
def test_the_page_is_accessible_in_every_width_theme_and_language(example, tmp_path):
    folder = copied(example, tmp_path)
    with service(folder / "problem.toml") as address:
        seen = play("looks", address, folder)
    if PICTURES:
        for picture in folder.glob("*.png"):
            shutil.copy(picture, Path(PICTURES) / f"{example}-{picture.name}")
    assert len(seen) == 4
    for look in seen:
        where = (look["width"], look["scheme"], look["locale"])
        assert look["passes"] > 20, where
        assert look["violations"] == [], where
        assert look["elsewhere"] == [], where
        assert look["overflow"] <= 0, where


@pytest.fixture(scope="module")
def built():
    """The folder of the page's sources with its packages."""
    npm = ["npm", "ci", "--no-audit", "--no-fund", "--silent"]
    if not (PAGE / "node_modules/.package-lock.json").exists():
        subprocess.run(npm, cwd=PAGE, check=True, timeout=600)
    return PAGE


def test_the_committed_page_is_what_npm_builds(built, tmp_path):
    subprocess.run(["node", "build.mjs", tmp_path], cwd=built, check=True, timeout=120)
    names = sorted(path.name for path in ASSETS.iterdir())
    assert names == sorted(path.name for path in tmp_path.iterdir())
    _, different, missing = filecmp.cmpfiles(ASSETS, tmp_path, names, shallow=False)
    assert (different, missing) == ([], []), "run `npm run build` in page/ and commit what it writes"
    assert sum((ASSETS / name).stat().st_size for name in names) < 120_000
    assert (ASSETS / "page.js").stat().st_size < 100_000


def test_types_and_pure_functions_of_the_page(built):
    for script in ("check", "test"):
        done = subprocess.run(["npm", "run", "--silent", script], cwd=built, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"# pass [1-9]\d", done.stdout) and "# fail 0" in done.stdout
