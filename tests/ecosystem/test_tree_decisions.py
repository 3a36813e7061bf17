"""Decisions on people of the census at thresholds of trees: a sample of `make bench-tree-decisions`."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benches"))
from tree_decisions import PROGRAMS, counted  # noqa: E402


@pytest.mark.parametrize("program", PROGRAMS)
def test_decisions_are_those_of_the_program(adult, program: str) -> None:
    thresholds, rows, different = counted(program, adult.values[:4000], np.asarray(adult.rich)[:4000], 1000)
    assert different == 0
    assert thresholds > 20 and rows > 1000
