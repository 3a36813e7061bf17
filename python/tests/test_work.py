"""Long work: interrupted, watched, and with the interpreter free meanwhile."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
import tracemalloc
from typing import Any

import numpy as np
import pytest

import surefoot as sf

LONG = """
import time
import numpy as np
import surefoot as sf

random = np.random.default_rng(0)
features = [sf.Feature(name, "any") for name in "abcdefgh"]
layers = [(random.normal(size=(60, 8)), random.normal(size=60)) for _ in range(1)]
layers += [(random.normal(size=(60, 60)) / 4, random.normal(size=60)), (random.normal(size=(1, 60)), [-9.0])]
problem = sf.Problem(features, sf.Classifier.network(layers), epsilon=0.5)
print("ready", flush=True)
try:
    sf.recourse(problem, random.normal(size=(100_000, 8)))
except KeyboardInterrupt:
    print("stopped", flush=True)
"""


def test_an_interrupt_ends_it_within_a_second() -> None:
    with subprocess.Popen([sys.executable, "-c", LONG], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.5)
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "stopped\n"
        took = time.monotonic() - start
        assert process.wait(timeout=30) == 0
    assert took < 1.0


def test_the_interpreter_is_free_meanwhile(network: sf.Problem) -> None:
    people = np.random.default_rng(0).normal((3000, 8000), (1500, 4000), size=(400, 2))
    worker = threading.Thread(target=sf.recourse, args=(network, people))
    ticks = 0
    worker.start()
    while worker.is_alive():
        ticks += 1
        time.sleep(0.001)
    assert ticks > 10


def test_progress_adds_up(
    network: sf.Problem, people: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []

    class Bar:
        def __init__(self, total: int | None, unit: str) -> None:
            assert (total, unit) == (40, "people")

        def __enter__(self) -> Bar:
            return self

        def __exit__(self, *_: object) -> None: ...

        def update(self, steps: int) -> None:
            seen.append(steps)

    monkeypatch.setattr("tqdm.auto.tqdm", Bar)
    sf.recourse(network, people, progress=True)
    assert sum(seen) == 40


def test_arrays_are_not_copied(linear: sf.Problem) -> None:
    people = np.random.default_rng(0).normal((3000, 8000), (1500, 4000), size=(100_000, 2))
    columns = {"income": people[:, 0], "savings": people[:, 1]}
    sf.recourse(linear, people[:10])
    for given in (people, columns):
        # What numpy allocates is traced.
        tracemalloc.start()
        sf.recourse(linear, given)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < people.nbytes / 10
