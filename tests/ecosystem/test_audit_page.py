"""The page of an audit in Chromium: it needs no network and passes the accessibility rules of axe."""

import json
import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import ROOT, surefoot

HERE = Path(__file__).parent
NODE_MODULES = ROOT / "target/ecosystem/node/node_modules"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="session")
def audit(tmp_path_factory):
    """An audit with every kind of table: many people, small groups, people without recourse, advice of others."""
    folder = tmp_path_factory.mktemp("audit")
    problem = (ROOT / "examples/categories/problem.toml").read_text()
    (folder / "problem.toml").write_text(problem)
    draw = random.Random(1)
    rows = ["id,income,education,job,town"]
    for number in range(120):
        education = draw.choice(["none", "basic", "degree"])
        job = draw.choice(["clerk", "cook", "nurse"])
        town = draw.choice(["Ulm", "Bonn <b>", ""]) if number > 4 else "Köln"
        rows.append(f"p{number},{draw.randint(300, 3000)},{education},{job},{town}")
    (folder / "people.csv").write_text("\n".join(rows) + "\n")
    advice = [f"p{number},{draw.randint(50, 1500)}" for number in range(40)]
    (folder / "advice.csv").write_text("\n".join(["id,action:income", *advice]) + "\n")
    surefoot(
        folder, "audit", "problem.toml", "people.csv", "--by", "job", "--by", "town", "--by", "income: 1000, 2000",
        "--by", "job, town", "--actions", "advice.csv", "-o", "out",
    )
    return folder / "out"


def looks(audit, pictures=None):
    assert CHROMIUM, "Chromium is missing; `make test-ecosystem` installs it where apt-get does"
    environment = {**os.environ, "CHROMIUM": CHROMIUM, "NODE_PATH": str(NODE_MODULES)}
    command = ["node", HERE / "page.cjs", audit / "audit.html", *([pictures] if pictures else [])]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_page_is_accessible_and_needs_nothing_else(audit):
    seen = looks(audit, os.environ.get("SUREFOOT_PICTURES"))
    assert len(seen) == 5
    for look in seen:
        where = (look["media"], look["scheme"], look["width"])
        assert look["passes"] > 10, where
        assert look["violations"] == [], where
        assert look["requests"] == [], where
        assert look["overflow"] <= 0, where


def test_the_check_finds_what_is_wrong(audit, tmp_path):
    page = (audit / "audit.html").read_text()
    page = page.replace('<html lang="en">', "<html>").replace("--text: #1b1f24", "--text: #c0c0c0")
    page = page.replace("</main>", '<img src="https://localhost/x.png"></main>')
    (tmp_path / "audit.html").write_text(page.replace("default-src 'none'; ", ""))
    look = next(look for look in looks(tmp_path) if look["scheme"] == "light")
    rules = {violation["rule"] for violation in look["violations"]}
    assert {"html-has-lang", "color-contrast", "image-alt"} <= rules
    assert look["requests"] != []
