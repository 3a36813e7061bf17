"""Answers: what they say, and the tables that they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import surefoot as sf

ANA = {"income": 2400, "savings": 6000}


def test_ana_is_told_what_the_engine_tells_her(linear: sf.Problem) -> None:
    answer = sf.recourse(linear, ANA)[0]
    assert str(answer) == (
        "Raise income by 1511 (from 2400 to 3911). This still works if circumstances shift a little: "
        "income by up to 150 or savings by up to 400, or several together by accordingly less. That is "
        "proven, as is that no cheaper allowed action would do."
    )
    assert repr(answer) == f"1: {answer.text}"
    assert answer.status == "found"
    assert answer.status == "found"
    assert answer.action == pytest.approx({"income": 1510.385}, abs=0.001)
    assert answer.person == ANA
    assert answer.counterfactual["savings"] == pytest.approx(6000 + 2 * answer.action["income"])
    assert answer.cost == pytest.approx(answer.action["income"] / 1500)
    assert answer.cost_bound is not None
    assert answer.cost is not None
    assert answer.cost_bound <= answer.cost


def test_a_notebook_shows_a_table(linear: sf.Problem) -> None:
    shown = sf.recourse(linear, {"id": "<ana>", **ANA})[0]._repr_html_()
    assert "&lt;ana&gt;: found" in shown
    assert shown.count("<tr") == 3
    assert "+1510.3" in shown


def test_every_kind_of_table_gets_the_same_answers(linear: sf.Problem, people: dict[str, Any]) -> None:
    frame = pd.DataFrame(people)
    rows = frame.to_numpy()
    expected = sf.recourse(linear, frame).to_arrow()
    for given in (
        people,
        {name: list(column) for name, column in people.items()},
        frame.to_dict("records"),
        frame[["savings", "income"]],
        frame.astype("Float64"),
        pl.DataFrame(people),
        pa.table(people),
        pa.Table.from_batches(pa.table(people).to_batches(max_chunksize=7)),
        pa.RecordBatch.from_pydict(people),
        rows,
        np.asfortranarray(rows),
        np.repeat(rows, 2, axis=0)[::2],
        rows.tolist(),
    ):
        assert sf.recourse(linear, given).to_arrow().equals(expected), type(given)


def test_tables_come_out_the_same_everywhere(linear: sf.Problem, people: dict[str, Any]) -> None:
    answers = sf.recourse(linear, pd.DataFrame(people, index=range(100, 140)))
    arrow, pandas, polars = answers.to_arrow(), answers.to_pandas(), answers.to_polars()
    assert arrow.column_names == list(pandas.columns) == polars.columns == answers.column_names
    assert list(pandas.index) == list(range(100, 140))
    assert polars.to_arrow().cast(arrow.schema).equals(arrow)
    for name in ("cost", "action:income", "counterfactual:savings"):
        column = arrow.column(name).to_numpy()
        np.testing.assert_array_equal(pandas[name].to_numpy(), column)
        np.testing.assert_array_equal(answers.column(name), column)
    assert pandas["status"].tolist() == arrow.column("status").to_pylist()
    assert sum(answers.counts.values()) == len(answers) == 40
    assert answers.counts["found"] == (pandas["status"] == "found").sum() > 0
    assert [answer.cost for answer in answers] == arrow.column("cost").to_pylist()
    assert answers[-1] == answers[39]
    assert answers[2:4] == [answers[2], answers[3]]
    with pytest.raises(IndexError, match="no number 40"):
        answers[40]
    with pytest.raises(KeyError, match="no column `price`"):
        answers.column("price")


def test_arrow_goes_out_without_copies(linear: sf.Problem, people: dict[str, Any]) -> None:
    answers = sf.recourse(linear, people)
    first, second = answers.to_arrow(), answers.to_arrow()
    for name in first.column_names:
        addresses = [
            [buffer.address for buffer in table.column(name).chunk(0).buffers() if buffer is not None]
            for table in (first, second)
        ]
        assert addresses[0] == addresses[1], name


def test_people_are_known_by_their_id(linear: sf.Problem, people: dict[str, Any]) -> None:
    named = {"id": [f"p{i}" for i in range(40)], **people}
    for table in (named, pd.DataFrame(named), pl.DataFrame(named), pa.table(named)):
        assert sf.recourse(linear, table).to_arrow().column("id").to_pylist() == named["id"]
    numbered = pd.DataFrame({"person": np.arange(40.0), **people})
    assert sf.recourse(linear, numbered, id="person")[7].id == "7"
    assert sf.recourse(linear, pa.Table.from_pandas(numbered), id="person")[7].id == "7"
    assert sf.recourse(linear, people)[7].id == "8"


def test_columns_may_have_numbers_for_names(people: dict[str, Any]) -> None:
    features = [sf.Feature("0", "increase", mean=3000, std=1500), sf.Feature("1")]
    problem = sf.Problem(features, sf.Classifier.linear([1.0, 0.0]), epsilon=0.1)
    frame = pd.DataFrame(np.stack(list(people.values()), axis=1))
    assert sf.recourse(problem, frame).to_arrow().equals(sf.recourse(problem, frame.to_numpy()).to_arrow())


def test_batches_are_answered_one_by_one(linear: sf.Problem, people: dict[str, Any]) -> None:
    table = pa.table({"id": [str(i) for i in range(40)], **people})
    batches = list(sf.recourse_batches(linear, table.to_batches(max_chunksize=16)))
    assert [len(batch) for batch in batches] == [16, 16, 8]
    assert pa.Table.from_batches(batches).combine_chunks().equals(sf.recourse(linear, table).to_arrow())


def test_a_network_is_answered_with_proof(network: sf.Problem, people: dict[str, Any]) -> None:
    answers = sf.recourse(network, people)
    assert answers.counts["found"] >= 5
    verdicts = sf.certify(network, people, answers)
    acting = [answer.status == "found" for answer in answers]
    assert verdicts.column("verdict") == ["holds" if acts else None for acts in acting]
    attacked = sf.attack(network, people, answers).to_pandas()
    assert not attacked["broken"].any()
    assert (attacked["smallest_break"][acting] > network.epsilon).all()


def test_what_is_acted_upon_and_nothing_else() -> None:
    features = [
        sf.Feature("income", "any", mean=10, std=2),
        sf.Feature("savings", "any", mean=10, std=2),
        sf.Feature("job", "any", categories=["clerk", "cook"]),
    ]
    person = {"income": 10.0, "savings": 10.0, "job": "clerk"}
    suffers = sf.CausalModel(features, {"savings": "19 - 0.9 * income + u"})
    classifier = sf.Classifier.linear([1.0, 0.9, 0.0, 0.0], -1.0)
    cases: list[tuple[Any, Any, set[str]]] = [
        (suffers, "relative", {"income", "savings"}),
        (None, "relative", {"income"}),
        # A level undoes a shift: it is part of the action that the others stay.
        (None, "absolute", {"income", "savings", "job"}),
    ]
    for causal_model, form, acted in cases:
        problem = sf.Problem(features, classifier, causal_model, epsilon=0.1, form=form)
        answers = sf.recourse(problem, person)
        assert answers.column("intervention") == [";".join(f.name for f in features if f.name in acted)]
        assert set(answers[0].action) == acted
        assert answers[0].action["income"] > 0
        # What is held stays: a change of 0, or the category that it is.
        assert answers[0].action.get("savings", 0.0) == 0.0
        assert answers[0].action.get("job", "clerk") == "clerk"
        assert "certified" not in answers.column_names


def test_actions_of_others_are_judged(linear: sf.Problem, people: dict[str, Any]) -> None:
    answers = sf.recourse(linear, people)
    half = {"action:income": np.asarray(answers.column("action:income")) / 2}
    verdicts = sf.certify(linear, people, half)
    attacked = sf.attack(linear, people, half)
    for answer, verdict, broken in zip(answers, verdicts.column("verdict"), attacked.column("broken")):
        if "income" in answer.action:
            assert (verdict, broken) == ("breaks", True)
    changed = {"income": people["income"] + 100000.0, "savings": people["savings"]}
    actions = sf.Actions.from_counterfactuals(linear, people, changed)
    assert repr(actions) == "<40 actions of 40 people>"
    assert set(sf.certify(linear, people, actions).column("verdict")) == {"holds"}
    with pytest.raises(sf.PeopleError, match="40 people and 3 actions"):
        sf.attack(linear, people, {"income": [1.0, 2.0, 3.0]})
    with pytest.raises(sf.PeopleError, match="no column of actions"):
        sf.attack(linear, people, {"wealth": [1.0]})
    with pytest.raises(sf.SettingError, match="`rude` is no attack"):
        sf.attack(linear, people, answers, method="rude")  # type: ignore[arg-type]


def test_actions_that_cannot_be_taken_are_told() -> None:
    features = [
        sf.Feature("age", mean=40, std=10),
        sf.Feature("income", "increase", limits=(0, 9)),
        sf.Feature("job", "any", kind="category", categories=["clerk", "cook"]),
    ]
    classifier = sf.Classifier.linear([0.1, 1.0, 0.0, 0.0], -4.0)
    problem = sf.Problem(features, classifier, epsilon=0.1, constraints=["income >= 0.1 * age"])
    people = {"age": [40.0] * 4, "income": [2.0] * 4, "job": ["clerk"] * 4}
    changes = {"age": [np.nan, np.nan, 30.0, np.nan], "income": [5.0, 9.0, np.nan, np.nan]}
    expected = [
        None,
        "`income` would become 11, above its limit of 9",
        "`age` may not be changed; the constraint `income >= 0.1 * age` is not met",
        None,
    ]
    for judged in (sf.certify(problem, people, changes), sf.attack(problem, people, changes)):
        assert judged.column_names[-2:] == ["feasible", "reason"]
        table = judged.to_arrow()
        assert table.column("feasible").to_pylist() == [True, False, False, None]
        assert table.column("reason").to_pylist() == expected
    assert sf.certify(problem, people, changes).column("verdict")[1] == "holds"
