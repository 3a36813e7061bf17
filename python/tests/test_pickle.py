"""Problems go to other processes and come back the same."""

from __future__ import annotations

import multiprocessing
import pickle
from typing import Any

import pytest

import surefoot as sf


def test_problems_survive_pickling(linear: sf.Problem, network: sf.Problem, people: dict[str, Any]) -> None:
    for problem in (linear, network):
        again = pickle.loads(pickle.dumps(problem))
        assert repr(again) == repr(problem)
        assert sf.recourse(again, people).to_arrow().equals(sf.recourse(problem, people).to_arrow())


def answer(problem: sf.Problem, people: dict[str, Any]) -> list[float | None]:
    return [answer.cost for answer in sf.recourse(problem, people)]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_other_processes_answer_too(linear: sf.Problem, people: dict[str, Any], method: str) -> None:
    # The parent has threads by now, of which a fork has none.
    expected = answer(linear, people)
    with multiprocessing.get_context(method).Pool(1) as pool:
        assert pool.apply_async(answer, (linear, people)).get(timeout=60) == expected
