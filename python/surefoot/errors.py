"""Exceptions, by what a mistake is about. Messages name the place and the remedy.

>>> import surefoot as sf
>>> try:
...     sf.Problem([sf.Feature("age", std=-1)], sf.Classifier.linear([1.0]), epsilon=0.1)
... except sf.FeatureError as error:
...     print(error)
feature `age`: the standard deviation is -1.0; it must be positive, between 1e-100 and 1e100 (drop a constant feature, or use 1; for numbers beyond choose another unit)

That nobody can do anything is an answer (``status == "impossible"``) and not an error.
"""

from __future__ import annotations

__all__ = [
    "CausalModelError",
    "ClassifierError",
    "Error",
    "FeatureError",
    "FileError",
    "FitWarning",
    "MissingPackageError",
    "PeopleError",
    "SettingError",
    "TrainingError",
    "TrainingWarning",
]


class Error(Exception):
    """What every exception of this package is."""


class FeatureError(Error, ValueError):
    """A feature, or the list of them, cannot be as declared."""


class PeopleError(Error, ValueError):
    """A table of people, or of their actions, does not fit the problem."""


class CausalModelError(Error, ValueError):
    """The causal graph or an equation cannot be as declared."""


class ClassifierError(Error, ValueError):
    """The classifier cannot be as declared, or a model is not understood."""


class SettingError(Error, ValueError):
    """A setting is out of its range, or a word is not known."""


class TrainingError(Error, ValueError):
    """Training or fitting is impossible with these rows."""


class FileError(Error, ValueError):
    """A file cannot be read, or has mistakes; the message lists all of them."""


class MissingPackageError(Error, ImportError):
    """Something was asked for that needs a package that is not installed."""


class FitWarning(UserWarning):
    """Something casts doubt on a fitted equation."""


class TrainingWarning(UserWarning):
    """A trained classifier is not as good for others as for those it was trained on."""
