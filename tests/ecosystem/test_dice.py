"""The audit of counterfactuals of DiCE, as it is from PyPI."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_audit_runs(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "examples/python/audit_dice.py"), run_name="__main__")
    said = capsys.readouterr().out
    assert "DiCE: 30 actions" in said
    assert "Surefoot: 30 actions" in said
    # At least one of theirs breaks, and none of ours.
    assert "breaks with" in said.split("Surefoot")[0]
    assert "100% are proven to hold" in said.split("Surefoot")[1]
