"""The engine. Not for use: what is for use is in `surefoot` itself."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from ._features import Feature
from ._models import Classifier, Equation, Layers

__version__: str

Progress = Callable[[int], object]

class _Feature(TypedDict):
    name: str
    kind: Any
    mean: float
    std: float
    limits: tuple[float, float] | None
    change: Any
    step: float | None
    most_change: float | None
    most_change_share: float | None
    weight: float
    norm_weight: float
    categories: list[str]
    label: str | None
    unit: list[str] | None
    describe: dict[str, str] | None
    special: dict[float, str] | list[float]
    missing: dict[str, Any] | None

class _StatedClassifier(TypedDict):
    name: str
    layers: Layers | None
    activation: Any
    threshold: float
    inputs: Any
    file: PathLike[str] | None
    is_onnx: bool

class _StatedEquation(TypedDict):
    feature: str
    formula: str | None
    inverse: str | None
    parents: list[str]
    layers: Layers
    activation: Any
    inputs: Any

class _Observed(TypedDict):
    is_binary: bool
    mean: float
    std: float
    limits: tuple[float, float]

class _Trained(TypedDict):
    layers: Layers
    threshold: float
    losses: list[tuple[float, float | None]]
    kept: int
    accuracy: tuple[float, float | None]
    differs: bool
    covariance: list[list[float]] | None
    loss: float | None

class _Fitted(TypedDict):
    feature: str
    parents: list[str]
    layers: Layers
    r_squared: float
    deviation: float
    within: list[float]
    band: float | None
    warnings: list[str]

class CausalModel:
    def __new__(
        cls, features: Sequence[Feature], equations: Sequence[tuple[str, Equation]]
    ) -> CausalModel: ...
    def parents(self, feature: str) -> list[str]: ...
    def counterfactual(
        self, people: Any, changes: Sequence[tuple[str, float]], relative: bool
    ) -> NDArray[np.float64]: ...

class Problem:
    def __new__(
        cls,
        features: Sequence[Feature],
        classifiers: Sequence[tuple[str, Classifier]],
        agree: int | None,
        causal_model: CausalModel | None,
        alternatives: Sequence[tuple[str, CausalModel]],
        epsilon: float,
        norm: str,
        cost: str,
        form: str,
        limits_on: str,
        safety: float | None,
        constraints: Sequence[str],
        forbidden_categories: Sequence[tuple[str, Sequence[str], Sequence[str]]],
        forbidden_values: Sequence[tuple[str, Sequence[float], Sequence[float]]],
        most_changes: int | None,
        one_of: Sequence[Sequence[str]],
        uncertainty: str | None,
    ) -> Problem: ...
    @staticmethod
    def read(path: str | PathLike[str]) -> Problem: ...
    @property
    def files(self) -> list[PathLike[str]]: ...
    @property
    def features(self) -> list[_Feature]: ...
    def graph(self) -> list[tuple[str, list[str]]]: ...
    def answer_columns(self, has_options: bool) -> list[tuple[str, str]]: ...
    @property
    def epsilon(self) -> float: ...
    @property
    def threshold(self) -> float: ...
    @property
    def is_causal(self) -> bool: ...
    def score(self, people: Any) -> NDArray[np.float64]: ...

class Table:
    @staticmethod
    def from_columns(given: Sequence[tuple[str, str, list[Any]]]) -> Table: ...
    def to_columns(self) -> list[tuple[str, str, list[Any]]]: ...
    def __len__(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    def columns(self) -> dict[str, NDArray[np.float64] | NDArray[np.bool_] | list[str | None]]: ...
    def row(self, index: int) -> dict[str, float | bool | str | None]: ...

class Answers:
    def __len__(self) -> int: ...
    def counts(self) -> dict[str, int]: ...
    def table(self) -> Table: ...
    def actions(self) -> Actions: ...
    def person_of(self, index: int) -> int: ...
    def proofs(self) -> list[str]: ...
    def text(self, index: int) -> str: ...
    def person(self, index: int) -> dict[str, float | str]: ...

class Letter:
    id: str
    status: str
    reference: str | None
    text: str
    html: str
    page: str
    json: str
    file_name: str
    proofs: str

class Actions:
    @staticmethod
    def from_changes(problem: Problem, changes: Sequence[tuple[str, NDArray[np.float64]]]) -> Actions: ...
    @staticmethod
    def from_counterfactuals(problem: Problem, people: Any, counterfactuals: Any) -> Actions: ...
    @staticmethod
    def from_parts(parts: Sequence[tuple[list[int], list[float]] | None]) -> Actions: ...
    def parts(self) -> list[tuple[list[int], list[float]] | None]: ...
    def __len__(self) -> int: ...
    def acting(self) -> int: ...

def command_line(arguments: list[str]) -> int: ...
def commands() -> list[tuple[str, list[str]]]: ...
def parse_graph(text: str) -> list[tuple[str, list[str]]]: ...
def limit_threads(threads: int) -> int: ...
def problem_parts(
    path: str | PathLike[str],
) -> tuple[list[_StatedClassifier], int | None, list[_StatedEquation]]: ...
def shifted(
    problem: Problem,
    person: Any,
    actions: Actions | None,
    first: str,
    second: str,
    directions: Sequence[tuple[float, float]],
) -> list[tuple[float, float]] | None: ...
def report_columns(table: str) -> list[tuple[str, str, str]]: ...
def observe(name: str, values: NDArray[np.float64]) -> _Observed: ...
def read_onnx(model: bytes | str | PathLike[str]) -> tuple[Layers, Any] | None: ...
def tree_counts(model: bytes) -> tuple[int, int, int]: ...
def tree_scores(
    model: bytes, threshold: float, rows: NDArray[np.float64]
) -> tuple[NDArray[np.float64], float]: ...
def recourse(
    problem: Problem,
    people: Any,
    ids: list[str] | None,
    id: str | None,
    method: str,
    gap: float,
    evaluations: int | None,
    seconds: float | None,
    options: int,
    explain: bool,
    proofs: bool,
    progress: Progress | None,
) -> Answers: ...
def verify(
    problem: Problem,
    lines: list[str],
    reference: str | None,
    first_line: int,
    progress: Progress | None,
) -> Table: ...
def trade_off(
    problem: Problem,
    person: Any,
    epsilons: list[float] | None,
    method: str,
    gap: float,
    evaluations: int | None,
    seconds: float | None,
    progress: Progress | None,
) -> tuple[Table, float | None, float | None]: ...
def theory(
    problem: Problem,
    people: Any,
    ids: list[str] | None,
    id: str | None,
    gap: float,
    evaluations: int | None,
    progress: Progress | None,
) -> tuple[str, list[tuple[str, list[str]]], str, Table | None]: ...
def attack(
    problem: Problem,
    people: Any,
    actions: Actions,
    ids: list[str] | None,
    id: str | None,
    method: str,
    evaluations: int | None,
    progress: Progress | None,
) -> Table: ...
def letters(
    problem: Problem,
    people: Any,
    ids: list[str] | None,
    id: str | None,
    language: str,
    options: int,
    reasons: str | PathLike[str] | None,
    text_template: str | PathLike[str] | None,
    html_template: str | PathLike[str] | None,
    method: str,
    gap: float,
    evaluations: int | None,
    seconds: float | None,
    progress: Progress | None,
) -> list[Letter]: ...
def document_frame(language: str, title: str) -> tuple[str, str]: ...

class Audit:
    def findings(self) -> list[str]: ...
    def json(self) -> str: ...
    def page(self, title: str) -> str: ...

def audit_columns(problem: Problem, by: list[str], known: list[str]) -> list[str]: ...
def audit(
    problem: Problem,
    people: Any,
    by: list[str],
    known: list[str],
    further: dict[str, list[str]],
    actions: Actions | None,
    ids: list[str] | None,
    id: str | None,
    method: str,
    gap: float,
    evaluations: int | None,
    seconds: float | None,
    seed: int,
    progress: Progress | None,
) -> Audit: ...
def certify(
    problem: Problem,
    people: Any,
    actions: Actions,
    ids: list[str] | None,
    id: str | None,
    evaluations: int | None,
    progress: Progress | None,
) -> Table: ...
def train(
    features: Sequence[Feature],
    people: Any,
    labels: NDArray[np.bool_],
    settings: Mapping[str, object],
    progress: Progress | None,
) -> _Trained: ...
def fit(
    features: Sequence[Feature],
    people: Any,
    graph: Sequence[tuple[str, Sequence[str]]],
    settings: Mapping[str, object],
    progress: Progress | None,
) -> list[_Fitted]: ...
