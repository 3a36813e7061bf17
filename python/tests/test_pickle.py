"""Problems go to other processes and come back the same."""

from __future__ import annotations

import multiprocessing
import pickle
import struct
from pathlib import Path
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


def field(number: int, content: bytes) -> bytes:
    """A field of a protobuf message whose content has less than 128 bytes."""
    return bytes([number << 3 | 2, len(content)]) + content


def test_models_with_weights_in_another_file_are_sent_along(tmp_path: Path) -> None:
    entry = field(1, b"location") + field(2, b"model.data")
    # Two rows and one column of floats, which are in another file.
    weight = bytes([8, 2, 8, 1, 16, 1]) + field(8, b"w") + field(13, entry) + bytes([14 << 3, 1])
    node = field(1, b"x") + field(1, b"w") + field(2, b"y") + field(4, b"MatMul")
    graph = field(1, node) + field(5, weight) + field(11, field(1, b"x")) + field(12, field(1, b"y"))
    (tmp_path / "model.onnx").write_bytes(field(7, graph))
    (tmp_path / "model.data").write_bytes(struct.pack("<2f", 1.0, 2.0))
    features = "".join(f'[[feature]]\nname = "{name}"\nchange = "any"\n' for name in "ab")
    text = f'epsilon = 0.1\n{features}[classifier]\nonnx = "model.onnx"\n'
    (tmp_path / "problem.toml").write_text(text)
    problem = sf.Problem.read(tmp_path / "problem.toml")
    packed = pickle.dumps(problem)
    for path in tmp_path.iterdir():
        path.unlink()
    people = {"a": [1.0, -1.0], "b": [0.5, 2.0]}
    assert list(pickle.loads(packed).score(people)) == list(problem.score(people)) == [2.0, 3.0]


def test_only_files_are_read(tmp_path: Path) -> None:
    with pytest.raises(sf.FileError, match="it is a folder; give a regular file"):
        sf.Problem.read(tmp_path)
    with pytest.raises(sf.FileError, match="it is a device; give a regular file"):
        sf.Problem.read("/dev/zero")
