"""Robust causal recourse, with proof.

For somebody whom a model has turned down: what can they do, at the least effort, that will still
work if their circumstances shift a little?

>>> import surefoot as sf
>>> features = [
...     sf.Feature("income", "increase", mean=3000, std=1500),
...     sf.Feature("savings", "increase", mean=8000, std=4000),
... ]
>>> causal_model = sf.CausalModel(features, {"savings": "2 * income + u"})
>>> classifier = sf.Classifier.linear([0.8, 0.6], -0.5)
>>> problem = sf.Problem(features, classifier, causal_model, epsilon=0.1)
>>> print(sf.recourse(problem, {"income": 2400, "savings": 6000})[0])
Raise income by 1511 (from 2400 to 3911). This still works if circumstances shift a little: \
income by up to 150 or savings by up to 400, or several together by accordingly less. \
That is proven, as is that no cheaper allowed action would do.
"""

from ._answers import Answer, Answers, Table
from ._audit import Audit, audit
from ._causal import CausalModel, FittedEquation, fit
from ._command import Report, coverage, demo, fetch_data, init, list_data, reproduce, run, validate
from ._committee import Committee
from ._engine import __version__
from ._features import Change, Feature, Kind, features
from ._graph import causal_graphs, read_graph, write_graph
from ._letters import Letter, Letters, letters
from ._models import Classifier, Equation
from ._picture import Picture
from ._plots import plot_margin
from ._problem import Problem
from ._theory import Theory, theory
from ._training import train_former as train
from ._uncertainty import Uncertainty
from ._verbs import Actions, TradeOff, attack, certify, recourse, recourse_batches, trade_off
from ._verify import Verification, verify
from .errors import (
    CausalModelError,
    ClassifierError,
    Error,
    FeatureError,
    FileError,
    FitWarning,
    MissingPackageError,
    PeopleError,
    SettingError,
    TrainingError,
    TrainingWarning,
)

__all__ = [
    "Actions",
    "Answer",
    "Answers",
    "Audit",
    "CausalModel",
    "CausalModelError",
    "Change",
    "Classifier",
    "ClassifierError",
    "Committee",
    "Equation",
    "Error",
    "Feature",
    "FeatureError",
    "FileError",
    "FitWarning",
    "FittedEquation",
    "Kind",
    "Letter",
    "Letters",
    "MissingPackageError",
    "PeopleError",
    "Picture",
    "Problem",
    "Report",
    "SettingError",
    "Table",
    "Theory",
    "TradeOff",
    "TrainingError",
    "TrainingWarning",
    "Uncertainty",
    "Verification",
    "__version__",
    "attack",
    "audit",
    "causal_graphs",
    "certify",
    "coverage",
    "demo",
    "features",
    "fetch_data",
    "fit",
    "init",
    "letters",
    "list_data",
    "plot_margin",
    "read_graph",
    "recourse",
    "recourse_batches",
    "reproduce",
    "run",
    "theory",
    "trade_off",
    "train",
    "validate",
    "verify",
    "write_graph",
]


def __getattr__(name: str) -> object:
    # scikit-learn is imported where it is needed.
    if name == "RecourseExplainer":
        from .sklearn import RecourseExplainer

        return RecourseExplainer
    raise AttributeError(f"module `surefoot` has no attribute `{name}`")
