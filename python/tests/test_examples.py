"""The example that needs scikit-learn alone; others are run with their packages."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_credit_model(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "examples/python/credit_sklearn.py"), run_name="__main__")
    said = capsys.readouterr().out
    assert "The model accepts 100% of those who act." in said
    assert "robust: 0% of the actions break" in said
