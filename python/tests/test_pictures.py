"""Pictures say what answers say; a notebook shows them."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import surefoot as sf

SVG = "{http://www.w3.org/2000/svg}"


def texts(picture: sf.Picture) -> list[str]:
    """The words of a picture, which is well-formed and as large as it says."""
    root = ElementTree.fromstring(picture.svg)
    assert root.tag == f"{SVG}svg" and "nan" not in picture.svg
    assert picture._repr_svg_() == picture.svg
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    for text in root.iter(f"{SVG}text"):
        assert -1 <= float(text.attrib["x"]) <= width and -1 <= float(text.attrib["y"]) <= height
    return ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]


def test_an_answer(linear: sf.Problem, tmp_path: Path) -> None:
    answer = sf.recourse(linear, {"income": 2400, "savings": 6000})[0]
    picture = answer.plot()
    words = texts(picture)
    assert "2,400 → 3,910" in words and "6,000 → 9,021" in words
    assert words.index("income") < words.index("changed") < words.index("savings") < words.index("follows")
    assert repr(picture) == "<picture: 1: found>"
    picture.write(tmp_path / "answer.svg")
    assert (tmp_path / "answer.svg").read_text() == picture.svg
    with pytest.raises(sf.FileError, match=r"ends in \.svg"):
        picture.write(tmp_path / "answer.png")
    assert "Nothing changes." in texts(sf.recourse(linear, {"income": 9000, "savings": 26000})[0].plot())


def test_text_from_data_is_harmless() -> None:
    name = '<script>"x"&\''
    feature = sf.Feature(name, "increase", mean=3000, std=1500)
    problem = sf.Problem([feature], sf.Classifier.linear([1.0]), epsilon=0.1)
    answers = sf.recourse(problem, {"id": ["<b>"], name: [2400.0]})
    for picture in (answers[0].plot(), answers.plot_costs([name])):
        texts(picture)
        assert "<script>" not in picture.svg and "<b>" not in picture.svg
    for shown in (answers._repr_html_(), answers[0]._repr_html_(), problem._repr_html_()):
        assert "<script>" not in shown and "<b>" not in shown


def test_a_trade_off(features: list[sf.Feature]) -> None:
    limited = [sf.Feature("income", "increase", mean=3000, std=1500, limits=(0, 6000))]
    problem = sf.Problem(limited, sf.Classifier.linear([1.0]), epsilon=0.1)
    curve = sf.trade_off(problem, {"income": 2400})
    words = texts(curve.plot())
    assert "proven: no action from here on" in words and "an action up to here" in words
    assert curve.plot().svg.count("<circle") == int(
        np.isfinite(np.asarray(curve.column("cost"), dtype=float)).sum()
    )
    poor = [sf.Feature("income", "increase", mean=3000, std=1500, limits=(0, 2900))]
    never = sf.trade_off(
        sf.Problem(poor, sf.Classifier.linear([1.0]), epsilon=0.1), {"income": 2400}, [0.0, 0.5]
    )
    assert never.possible is None and never.impossible == 0
    assert "an action up to here" not in texts(never.plot())


def test_a_graph_has_causes_before_effects(features: list[sf.Feature]) -> None:
    named = [sf.Feature(name) for name in "abcde"]
    equations = {"b": "a + u", "c": "a + b + u", "d": "a + c + u"}
    picture = sf.CausalModel(named, equations).plot()
    words = texts(picture)
    assert set(words) == {"Causal graph", "a", "b", "c", "d"}
    place = {
        text: float(x)
        for x, text in re.findall(
            r'<text x="([\d.]+)"[^>]*text-anchor="middle"[^>]*>(\w)</text>', picture.svg
        )
    }
    assert place["a"] < place["b"] < place["c"] < place["d"]
    assert picture.svg.count("marker-end") == 5
    assert texts(sf.CausalModel(named, {}).plot()) == ["Causal graph"]


def test_costs_of_groups(linear: sf.Problem, people: dict[str, Any]) -> None:
    answers = sf.recourse(linear, people)
    found = answers.counts["found"]
    words = texts(answers.plot_costs())
    assert f"{found} of {found} have an action" in words and "everybody" in words
    halves = ["north" if i % 2 else "south" for i in range(40)]
    words = texts(answers.plot_costs(halves))
    counts = [int(word.split()[0]) for word in words if word.endswith("have an action")]
    assert sum(counts) == found and words.index("north") < words.index("south")
    assert len([word for word in texts(answers.plot_costs("income")) if word.endswith("have an action")]) == 4
    for by, message in (["x"], "by has 1 values"), ("height", "`height` is no feature"):
        with pytest.raises(sf.PeopleError, match=message):
            answers.plot_costs(by)
    rich = sf.recourse(linear, {"income": [9000], "savings": [26000]})
    assert "Nobody is turned down." in texts(rich.plot_costs())


def points(path: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array([[float(x) for x in pair.split()] for pair in re.findall(r"[\d.]+ [\d.]+", path)])


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_the_margin_is_that_of_the_problem(features: list[sf.Feature], norm: Any) -> None:
    causal_model = sf.CausalModel(features, {"savings": "2 * income + u"})
    problem = sf.Problem(
        features, sf.Classifier.linear([0.8, 0.6], -0.5), causal_model, epsilon=0.2, norm=norm
    )
    person = {"income": 2400, "savings": 6000}
    answer = sf.recourse(problem, person)[0]
    source = {name: [value] for name, value in person.items()}
    circle = [(np.cos(angle), np.sin(angle)) for angle in np.linspace(0, 2 * np.pi, 73)[:-1]]
    native = sf._engine.shifted
    acted = sf.Actions.from_changes(problem, {"action:income": [answer["income"]]})._native
    people = [np.array([2400.0]), np.array([6000.0])]
    before = np.array(native(problem._native, people, None, "income", "savings", circle))
    after = np.array(native(problem._native, people, acted, "income", "savings", circle))
    # Whoever is shifted by D follows the equations: savings rise by twice the shift of income.
    shifts = np.stack(
        [(before[:, 0] - 2400) / 1500, (before[:, 1] - 6000 - 2 * (before[:, 0] - 2400)) / 4000], 1
    )
    sizes = np.linalg.norm(shifts, {"l1": 1, "l2": 2, "linf": np.inf}[norm], axis=1)
    assert sizes.max() == pytest.approx(0.2) and sizes.min() > 0.199 - (0.001 if norm == "l2" else 0)
    # All of them are favourable after the action, the worst one just so.
    scores = problem.score({"income": after[:, 0], "savings": after[:, 1]})
    assert -1e-9 < scores.min() < 1e-3
    assert len(source) == 2
    assert "Decision over income and savings" in sf.plot_margin(problem, person, answer).svg


def test_what_a_margin_is_drawn_of(features: list[sf.Feature], network: sf.Problem) -> None:
    ana = {"income": 2400, "savings": 6000}
    words = texts(sf.plot_margin(network, ana))
    assert "income" in words and "savings" in words and "shaded: favourable" in words
    answers = sf.recourse(network, ana)
    assert sf.plot_margin(network, ana, answers).svg == sf.plot_margin(network, ana, answers[0]).svg
    third = [
        *features,
        sf.Feature("job", "any", categories=["clerk", "cook"]),
        sf.Feature("age", mean=40, std=10),
    ]
    problem = sf.Problem(third, sf.Classifier.linear([0.8, 0.6, 0.0, 2.0, 0.1], -0.5), epsilon=0.1)
    person = {**ana, "job": "clerk", "age": 30}
    words = texts(sf.plot_margin(problem, person, features=("age", "income")))
    assert "age" in words and any("all other features" in word for word in words)
    for wrong in [("job", "age"), ("age", "age"), ("age", "height")]:
        with pytest.raises(sf.SettingError, match="name two different features with numbers"):
            sf.plot_margin(problem, person, features=wrong)
