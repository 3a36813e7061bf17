"""Graphs as text; those of other packages are in tests/ecosystem."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

import surefoot as sf

DOT = 'strict digraph "g" { /* x */ rankdir=LR; age [label="a"]; age -> {income "hours, worked"}; income -> savings [w=1] }'
GML = 'graph [ directed 1 node [ id 0 label "age" ] node [ id 1 label "a &amp; b" ] edge [ source 0 target 1 w 2.5 ] ]'


def test_text_is_recognised_by_what_it_is(tmp_path: Path) -> None:
    expected = {"income": ["age"], "hours, worked": ["age"], "savings": ["income"]}
    assert sf.read_graph(DOT) == expected
    assert sf.read_graph("age -> income, `hours, worked`; income -> savings") == expected
    assert sf.read_graph(GML) == {"a & b": ["age"]}
    for name in ("graph.dot", "graph.txt"):
        (tmp_path / name).write_text(DOT)
        assert sf.read_graph(tmp_path / name) == expected == sf.read_graph(str(tmp_path / name))
    for wrong, message in [
        ("digraph { a -- b }", "graph in DOT: the edge between `a` and `b` has no direction"),
        (GML.replace("directed 1", "directed 0"), "graph in GML: the graph is not directed"),
        ("age income", "there is no arrow"),
        (str(tmp_path / "nothing.dot"), "cannot be read"),
    ]:
        with pytest.raises(sf.CausalModelError, match=message):
            sf.read_graph(wrong)


def test_no_text_ends_the_process() -> None:
    draw = random.Random(0)
    letters = ' \n"{}[]<>-=;,:#/*\\ä→\x00ab01&;'
    read = 0
    for _ in range(4000):
        text = list(draw.choice([DOT, GML, "age, sex -> income; `a b` <- c"]))
        for _ in range(draw.randint(1, 6)):
            place = draw.randrange(len(text) + 1)
            text[place : place + draw.randint(0, 3)] = draw.choices(letters, k=draw.randint(0, 3))
        try:
            read += bool(sf._engine.parse_graph("".join(text)))
        except sf.CausalModelError as error:
            assert str(error)
    assert read > 100


def test_written_graphs_read_as_the_same() -> None:
    draw = random.Random(1)
    for _ in range(200):
        names = list(
            {
                "".join(draw.choices("ab \"'{};->,ä&<\\", k=draw.randint(1, 6))).strip() or "x"
                for _ in range(4)
            }
        )
        graph = {names[0]: names[1:]} if len(names) > 1 else {names[0]: ["y"]}
        for language in ("dot", "gml"):
            if language == "dot" and any('\\"' in name or name.endswith("\\") for name in names):
                with pytest.raises(sf.CausalModelError, match="write GML"):
                    sf.write_graph(graph)
                continue
            text = sf.write_graph(graph, format=language)
            assert sf.read_graph(text) == graph, text


def test_the_command_takes_the_same_file(command: str, examples: Path, tmp_path: Path) -> None:
    graphs = {"lines": "age, education -> income; income -> savings"}
    graphs["dot"] = sf.write_graph(sf.read_graph(graphs["lines"]))
    graphs["gml"] = sf.write_graph(sf.read_graph(graphs["lines"]), format="gml")
    written = set()
    for name, text in graphs.items():
        problem, graph = tmp_path / f"{name}.toml", tmp_path / f"graph.{name}"
        problem.write_text((examples / "training/problem.toml").read_text())
        graph.write_text(text)
        asked: list[object] = [
            command,
            "fit",
            examples / "training/people.csv",
            "--graph",
            graph,
            "--problem",
            problem,
        ]
        subprocess.run([str(word) for word in asked], check=True, capture_output=True)
        written.add(problem.read_text())
    assert len(written) == 1
    graph.write_text("graph { age -- income }")
    done = subprocess.run([str(word) for word in asked], capture_output=True, text=True)
    assert done.returncode == 2 and "has no direction" in done.stderr
