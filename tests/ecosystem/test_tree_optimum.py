"""The cheapest actions for tree ensembles beside the optimum of a mixed-integer program: a sample of
`make bench-tree-optimum`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "benches"))
from tree_optimum import compared  # noqa: E402


def test_costs_are_those_of_the_optimum() -> None:
    every = [one for seed in range(1000, 1030) for one in compared(seed)]
    for one in every:
        assert one.mistake() is None, (one.mistake(), one)
    assert sum(one.status == "found" for one in every) > 50
    assert sum(one.status == "impossible" for one in every) > 3
