"""auto_LiRPA about the actions that `cargo bench -p surefoot-paper --bench verdicts` has written.

    python methods/auto_lirpa.py REFERENCE VERDICTS.json BOUNDS.json

The margin of an action as a function of the perturbation is written as a module of torch, causal model and all,
and bounded from below over the same ball by interval propagation, by CROWN and by CROWN with optimised slopes (the
package's own settings), for all actions on the same features at once, on one thread, in floats as is usual. The
margin under one perturbation is compared with the engine's, so that both are asked the same question.
"""

from __future__ import annotations

import copy
import json
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any, Optional

import numpy as np
import torch
from auto_LiRPA import BoundedModule, BoundedTensor, PerturbationLpNorm
from safetensors import safe_open

Tensor = torch.Tensor
#: What the package calls each method.
METHODS = {"interval": "IBP", "CROWN": "backward", "optimised CROWN": "CROWN-Optimized"}
#: How much floats and doubles may differ in the margin, relative to its size.
AGREEMENT = 1e-3
#: Name, mean and standard deviation of the features of Loan, whose equations are in own units.
LOAN = [
    (0.0, 1.0),
    (-0.046973433, 11.074237),
    (-0.059363052, 0.13772593),
    (0.013938685, 2.787965),
    (-0.00097113004, 4.545642),
    (0.48712617, 2.5124693),
    (-2.0761824, 5.564847),
]
GENDER, AGE, EDUCATION, AMOUNT, DURATION, INCOME, SAVINGS = range(7)


def linear(weight: np.ndarray, bias: Optional[np.ndarray] = None) -> torch.nn.Linear:
    module = torch.nn.Linear(weight.shape[1], weight.shape[0], bias=bias is not None)
    module.weight = torch.nn.Parameter(torch.tensor(weight, dtype=torch.float32), requires_grad=False)
    if bias is not None:
        module.bias = torch.nn.Parameter(torch.tensor(bias, dtype=torch.float32), requires_grad=False)
    return module


class Layers(torch.nn.Module):
    """A tanh network whose inputs are columns of their own."""

    def __init__(self, layers: list[tuple[np.ndarray, np.ndarray]]) -> None:
        super().__init__()
        weight, bias = layers[0]
        self.columns = torch.nn.ModuleList(
            linear(weight[:, [i]], bias if i == 0 else None) for i in range(weight.shape[1])
        )
        self.others = torch.nn.ModuleList(linear(*layer) for layer in layers[1:])

    def forward(self, *columns: Tensor) -> Tensor:
        total = self.columns[0](columns[0])
        for module, column in zip(list(self.columns)[1:], columns[1:]):
            total = total + module(column)
        for module in self.others:
            total = module(torch.tanh(total))
        return total


class CausalModel(torch.nn.Module):
    """Equations with additive noise; features without causes have none."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.order = list(range(width))
        self.parents: dict[int, list[int]] = {}
        self.scaling = [(0.0, 1.0)] * width

    def value(self, node: int, parents: list[Tensor], noise: Tensor) -> Tensor:
        raise NotImplementedError

    def noise(self, node: int, parents: list[Tensor], value: Tensor) -> Tensor:
        """Of an equation whose noise is a summand."""
        return value - self.value(node, parents, torch.zeros_like(value))


class Fitted(CausalModel):
    """Linear equations and networks of the reference files."""

    def __init__(self, width: int, path: Path) -> None:
        super().__init__(width)
        if not path.exists():
            return
        with safe_open(path, "numpy") as file:
            stored = json.loads(file.metadata()["parents"])
            self.parents = {int(node): parents for node, parents in stored.items() if parents}
            self.equations = torch.nn.ModuleDict(
                {str(node): Layers(read(file, f"node{node}.")) for node in self.parents}
            )
        placed: list[int] = []
        while len(placed) < width:
            ready = [
                i for i in range(width) if i not in placed and set(self.parents.get(i, [])) <= set(placed)
            ]
            placed += ready
        self.order = placed

    def value(self, node: int, parents: list[Tensor], noise: Tensor) -> Tensor:
        return self.equations[str(node)](*parents) + noise


class Loan(CausalModel):
    """The analytic model of Loan, in own units."""

    def __init__(self) -> None:
        super().__init__(len(LOAN))
        self.scaling = LOAN
        self.parents = {
            EDUCATION: [GENDER, AGE],
            AMOUNT: [GENDER, AGE],
            DURATION: [GENDER, AGE, AMOUNT],
            INCOME: [GENDER, AGE, EDUCATION],
            SAVINGS: [INCOME],
        }

    def value(self, node: int, parents: list[Tensor], noise: Tensor) -> Tensor:
        if node == EDUCATION:
            gender, age = parents
            return torch.sigmoid(0.5 * gender + torch.sigmoid(0.1 * age) + noise - 1.0) - 0.5
        if node == AMOUNT:
            gender, age = parents
            return -0.01 * ((age - 5.0) * (age - 5.0)) + gender + noise + 1.0
        if node == DURATION:
            gender, age, amount = parents
            return 0.1 * age + 2.0 * gender + amount + noise - 1.0
        if node == INCOME:
            gender, age, education = parents
            return 0.1 * age + 2.0 * gender + gender * education + noise - 0.5
        return 1.5 * torch.relu(parents[0]) + noise - 4.0

    def noise(self, node: int, parents: list[Tensor], value: Tensor) -> Tensor:
        if node != EDUCATION:
            return super().noise(node, parents, value)
        gender, age = parents
        return torch.log((0.5 + value) / (0.5 - value)) + 1 - 0.5 * gender - torch.sigmoid(0.1 * age)


class MarginModule(torch.nn.Module):
    """The margin of actions on some features; the noise and the changes of each action are inputs.

    A perturbed person is the equations with the person's noise, each plus its part of the perturbation. Acting adds
    the changes to some features; those that follow from them follow, with the perturbed person's noise.
    """

    def __init__(self, causes: CausalModel, network: Layers, acted: list[int], width: int) -> None:
        super().__init__()
        self.causes, self.network, self.acted, self.width = causes, network, acted, width
        # The package cannot optimise slopes through a module that is used twice.
        self.followed = copy.deepcopy(causes)
        self.parts = torch.nn.ModuleList(
            linear(np.eye(width)[[i]] * causes.scaling[i][1]) for i in range(width)
        )

    def forward(self, perturbation: Tensor, *inputs: Tensor) -> Tensor:
        noises, changes = inputs[: self.width], inputs[self.width :]
        before: dict[int, Tensor] = {}
        after: dict[int, Tensor] = {}
        follows: set[int] = set()
        for node in self.causes.order:
            part = self.parts[node](perturbation)
            parents = self.causes.parents.get(node, [])
            if parents:
                before[node] = self.causes.value(node, [before[i] for i in parents], noises[node]) + part
            else:
                before[node] = noises[node] + part
            if node in self.acted:
                after[node] = before[node] + changes[self.acted.index(node)]
                follows.add(node)
            elif follows & set(parents):
                after[node] = self.followed.value(node, [after[i] for i in parents], noises[node]) + part
                follows.add(node)
            else:
                after[node] = before[node]
        return self.network(*[after[i] for i in range(self.width)])


def read(file: Any, prefix: str) -> list[tuple[np.ndarray, np.ndarray]]:
    layers = []
    names = set(file.keys())
    while f"{prefix}layer{len(layers)}.weight" in names:
        name = f"{prefix}layer{len(layers)}"
        layers.append((file.get_tensor(f"{name}.weight"), file.get_tensor(f"{name}.bias").reshape(-1)))
    return layers


class Case:
    """A network of the reference files, its causal model, and the people whom it turns down."""

    def __init__(self, reference: Path, name: str, dataset: str) -> None:
        with safe_open(reference / f"cases/{name}.safetensors", "numpy") as file:
            layers = read(file, "")
            threshold = float(file.metadata()["threshold"])
            self.people = file.get_tensor("individuals")
        self.width = self.people.shape[1]
        path = reference / f"scms/{dataset}_mlp.safetensors"
        self.causes = Loan() if dataset == "loan" else Fitted(self.width, path)
        mean, std = np.array(self.causes.scaling).T
        weight, bias = layers[0]
        layers[0] = (weight / std, bias - weight @ (mean / std))
        layers[-1] = (layers[-1][0], layers[-1][1] - np.log(threshold / (1 - threshold)))
        self.network = Layers(layers)

    def inputs(self, rows: list[dict[str, Any]]) -> tuple[Tensor, ...]:
        """The noise of each person and the changes of each action, column by column, in the units of the equations."""
        people = self.people[[row["person"] for row in rows]].astype(np.float64)
        mean, std = np.array(self.causes.scaling).T
        values = [
            torch.tensor(column, dtype=torch.float32).reshape(-1, 1) for column in (people * std + mean).T
        ]
        noises = [
            self.causes.noise(i, [values[j] for j in self.causes.parents[i]], values[i])
            if self.causes.parents.get(i)
            else values[i]
            for i in range(self.width)
        ]
        features = rows[0]["features"]
        changes = np.array([row["change"] for row in rows]) * std[features]
        columns = [torch.tensor(column, dtype=torch.float32).reshape(-1, 1) for column in changes.T]
        return (*noises, *columns)


def check(module: MarginModule, inputs: tuple[Tensor, ...], rows: list[dict[str, Any]]) -> None:
    """Holds the margin under one perturbation against the engine's."""
    perturbation = torch.tensor([row["perturbation"] for row in rows], dtype=torch.float32)
    margins = module(perturbation, *inputs)[:, 0].tolist()
    for row, margin in zip(rows, margins):
        expected = row["perturbed_margin"]
        # A perturbation that concerns nobody has no margin.
        if expected is not None and abs(margin - expected) > AGREEMENT * (1 + abs(expected)):
            sys.exit(f"the margin of person {row['person']} is {margin}, but {expected} by the engine")


def bounds(
    module: MarginModule, inputs: tuple[Tensor, ...], epsilon: float, method: str
) -> tuple[list[float], float]:
    """The lower bound for each action, and the seconds for all of them."""
    count = len(inputs[0])
    zero = torch.zeros(count, module.width)
    # Its default is for convolutions, of which there are none; sums of columns fail with it.
    options = {"conv_mode": "matrix", "sparse_intermediate_bounds": False}
    bounded = BoundedModule(module, (zero, *inputs), bound_opts=options, device="cpu")
    ball = BoundedTensor(zero, PerturbationLpNorm(norm=2, eps=epsilon))
    start = time.process_time()
    lower, _ = bounded.compute_bounds(x=(ball, *inputs), method=METHODS[method], bound_upper=False)
    return lower.detach()[:, 0].tolist(), time.process_time() - start


def main() -> None:
    reference, source, target = map(Path, sys.argv[1:])
    torch.set_num_threads(1)
    stored = json.loads(source.read_text())
    case = Case(reference, stored["name"], stored["dataset"])
    groups: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for position, row in enumerate(stored["actions"]):
        groups[tuple(row["features"])].append(position)
    found: dict[str, Any] = {"version": f"auto_LiRPA 0.3, torch {torch.__version__}", "methods": {}}
    for method in METHODS:
        lower: list[Optional[float]] = [None] * len(stored["actions"])
        seconds = 0.0
        for features, positions in groups.items():
            rows = [stored["actions"][i] for i in positions]
            module = MarginModule(case.causes, case.network, list(features), case.width)
            inputs = case.inputs(rows)
            check(module, inputs, rows)
            try:
                values, taken = bounds(module, inputs, stored["epsilon"], method)
            except (AssertionError, IndexError, RuntimeError, ValueError) as error:
                # It cannot bound every module by every method.
                found["methods"][method] = {"error": f"{type(error).__name__}: {error}"[:100]}
                break
            seconds += taken
            for position, value in zip(positions, values):
                lower[position] = value
        else:
            found["methods"][method] = {"lower": lower, "seconds": seconds}
    target.write_text(json.dumps(found))


if __name__ == "__main__":
    main()
