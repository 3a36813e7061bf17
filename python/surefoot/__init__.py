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
from ._committee import Committee
from ._engine import __version__
from ._features import Change, Feature, Kind, features
from ._letters import Letter, Letters, letters
from ._models import Classifier, Equation
from ._problem import Problem
from ._theory import Theory, theory
from ._uncertainty import Uncertainty
from ._verbs import Actions, TradeOff, attack, certify, recourse, recourse_batches, trade_off, train
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
    "Problem",
    "SettingError",
    "Table",
    "Theory",
    "TradeOff",
    "TrainingError",
    "TrainingWarning",
    "Uncertainty",
    "__version__",
    "attack",
    "audit",
    "certify",
    "features",
    "fit",
    "letters",
    "recourse",
    "recourse_batches",
    "theory",
    "trade_off",
    "train",
]
