"""Names, copies and access, as users of Python expect them."""

from __future__ import annotations

import inspect
import pickle
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpydoc.docscrape import get_doc_object
from numpydoc.validate import validate

import surefoot as sf
import surefoot.sklearn
import surefoot.spark

#: What numpydoc checks of every public name.
CHECKS = {
    "GL01": False, "GL03": True, "GL05": True, "GL06": True, "GL07": True, "GL08": True, "GL09": True, "GL10": True,
    "SS01": True, "SS02": True, "SS03": True, "SS04": True,
    "PR01": True, "PR02": True, "PR03": True, "PR04": True, "PR05": True, "PR06": True, "PR07": True, "PR08": True,
    "PR09": True, "PR10": True, "RT01": True, "RT02": True, "RT03": True, "RT04": True, "RT05": True,
}  # fmt: skip


#: Classes that functions and methods of the package make; nobody calls their constructors.
RESULTS = {
    "Actions", "Answer", "Answers", "Audit", "Classifier", "Equation", "FittedEquation", "Letter", "Letters", "Picture",
    "Report", "Table", "Theory", "TradeOff", "Uncertainty", "Verification",
}  # fmt: skip


def public() -> Iterator[str]:
    """Every public class, function, method and property."""
    for module, place in (
        ("surefoot", sf),
        ("surefoot.spark", surefoot.spark),
        ("surefoot.sklearn", surefoot.sklearn),
    ):
        for name in place.__all__:
            thing = getattr(place, name)
            if not (inspect.isclass(thing) or inspect.isfunction(thing)):
                continue
            yield f"{module}.{name}"
            if inspect.isclass(thing) and not issubclass(thing, (Exception, Warning)):
                for inner, value in vars(thing).items():
                    if not inner.startswith("_") and (
                        callable(value) or isinstance(value, (property, classmethod))
                    ):
                        yield f"{module}.{name}.{inner}"


@pytest.mark.parametrize("name", sorted(public()))
def test_docstrings_are_complete(name: str) -> None:
    excused = {"PR01"} if name.rpartition(".")[2] in RESULTS else set()
    faults = [
        (code, words) for code, words in validate(name)["errors"] if CHECKS.get(code) and code not in excused
    ]
    assert not faults
    thing = get_doc_object(validate_target(name))
    if "." not in name.partition(".")[2] and not name.endswith(("Error", "Warning")):
        assert thing["Examples"], f"{name} has no example"


def validate_target(name: str) -> Any:
    module, _, rest = name.partition(".")
    thing: Any = sf if module == "surefoot" else None
    for part in rest.split("."):
        thing = getattr(thing, part)
    return thing


def test_former_names_warn(features: list[sf.Feature], linear: sf.Problem, people: dict[str, Any]) -> None:
    outcomes = np.asarray(people["income"]) > 2500
    train: Any = sf.Classifier.train
    fit: Any = sf.CausalModel.fit
    recourse: Any = sf.recourse
    with pytest.warns(FutureWarning, match=r"`batch` of train\(\) is now `batch_size`") as told:
        former = train(features, people, outcomes, hidden=(), epochs=3, batch=10, test_fraction=0)
    assert told[0].filename == __file__
    new = sf.Classifier.train(features, people, outcomes, hidden=(), epochs=3, batch_size=10, test_fraction=0)
    np.testing.assert_array_equal(former.layers[0][0], new.layers[0][0])
    with pytest.warns(FutureWarning, match="train is now Classifier.train") as told:
        sf.train(features, people, outcomes, hidden=(), epochs=3)
    assert told[0].filename == __file__
    with pytest.warns(FutureWarning, match="fit is now CausalModel.fit"):
        sf.fit(features, people, {"savings": ["income"]})
    with pytest.warns(FutureWarning, match="`seed`"):
        fit(features, people, {"savings": ["income"]}, seed=3)
    calls: list[Any] = [sf.recourse, sf.letters, sf.audit]
    for call in calls:
        with pytest.warns(FutureWarning, match="`evaluations`"):
            call(linear, people, evaluations=1000)
    with pytest.raises(TypeError, match="both `evaluations` and `max_evaluations`"):
        recourse(linear, people, evaluations=1, max_evaluations=2)
    with pytest.raises(TypeError, match="unexpected"):
        recourse(linear, people, nothing=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sf.recourse(linear, people, max_evaluations=1000)


def test_threads(linear: sf.Problem, network: sf.Problem, people: dict[str, Any]) -> None:
    few = {name: values[:6] for name, values in people.items()}
    for problem in (linear, network):
        tables = [sf.recourse(problem, few, n_jobs=jobs).to_arrow() for jobs in (None, 1, 2, -1)]
        assert all(table.equals(tables[0]) for table in tables)
    for wrong in (0, -2):
        with pytest.raises(sf.SettingError, match="n_jobs"):
            sf.recourse(linear, few, n_jobs=wrong)
    # A limit ends with the call.
    assert sf._engine.limit_threads(0) == 0


def test_answers_are_copied_whole(linear: sf.Problem, network: sf.Problem, people: dict[str, Any]) -> None:
    few = {name: values[:5] for name, values in people.items()}
    for problem, kept in ((linear, False), (network, True)):
        answers = sf.recourse(problem, few, proofs=kept)
        again = pickle.loads(pickle.dumps(answers))
        twice = pickle.loads(pickle.dumps(again))
        for copy in (again, twice):
            assert copy.to_arrow().equals(answers.to_arrow())
            assert (
                list(copy) == list(answers) and copy.counts == answers.counts and repr(copy) == repr(answers)
            )
            assert copy.proofs == answers.proofs
            certified = sf.certify(problem, few, copy)
            assert certified.to_arrow().equals(sf.certify(problem, few, answers).to_arrow())
        table = pickle.loads(pickle.dumps(certified))
        assert table.to_arrow().equals(certified.to_arrow())
        answer = pickle.loads(pickle.dumps(answers[0]))
        assert answer == answers[0] and answer.plot().svg == answers[0].plot().svg
    unkept = pickle.loads(pickle.dumps(sf.recourse(network, few)))
    with pytest.raises(sf.SettingError, match="proofs=True"):
        _ = unkept.proofs
    curve = sf.trade_off(linear, {"income": 2400, "savings": 6000}, [0, 0.1])
    assert pickle.loads(pickle.dumps(curve)).possible == curve.possible
    model = linear.causal_model
    assert model is not None and repr(pickle.loads(pickle.dumps(model))) == repr(model)


def test_access(linear: sf.Problem) -> None:
    answers = sf.recourse(linear, {"id": ["ana", "ben"], "income": [2400, 9000], "savings": [6000, 26000]})
    assert answers["ana"] == answers[0] and answers["ben"].status == "favourable"
    with pytest.raises(KeyError, match="nobody with the id `eve`"):
        _ = answers["eve"]
    several = sf.recourse(linear, {"id": ["ana"], "income": [2400], "savings": [6000]}, options=2)
    assert len(several) == 2 and several["ana"] == several[0]
    ana, ben = answers
    assert len(ana) == 1 and list(ana) == ["income"] and ana["income"] == ana.action["income"]
    assert len(ben) == 0 and bool(ben)
    with pytest.raises(KeyError, match="acted upon are income"):
        _ = ana["savings"]
    assert len(linear) == 2 and linear["savings"].mean == 8000
    with pytest.raises(KeyError, match="`age`"):
        _ = linear["age"]
    model = linear.causal_model
    assert model is not None and len(model) == 1 and list(model) == ["savings"]
    assert repr(model["savings"]) == "Equation('2 * income + u')"
    with pytest.raises(KeyError, match="`income`"):
        _ = model["income"]


def test_notebooks_show_what_changes_first(linear: sf.Problem) -> None:
    reverse = [sf.Feature("age", mean=40, std=10), *reversed(linear.features)]
    model = sf.CausalModel(reverse, {"savings": "2 * income + u"})
    problem = sf.Problem(reverse, sf.Classifier.linear([0.0, 0.6, 0.8], -0.5), model, epsilon=0.1)
    answers = sf.recourse(problem, {"age": [30], "savings": [6000], "income": [2400]})
    shown = answers[0]._repr_html_()
    assert shown.index("income</strong>") < shown.index("savings</em>") < shown.index("<td>age")
    assert "follows" in shown and "1 found" in answers._repr_html_()
    assert "<svg" in model._repr_html_() and "2 * income + u" in model._repr_html_()
    page = problem._repr_html_()
    assert page.index("income") < page.index("age") and "epsilon 0.1" in page
    many = sf.recourse(linear, {"income": [2400] * 30, "savings": [6000] * 30})
    assert "and 10 more" in many._repr_html_()
