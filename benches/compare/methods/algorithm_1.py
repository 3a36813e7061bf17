"""Algorithm 1 of the paper as one would write it in PyTorch: everybody in one batch, in floats.

Adam on the action with steps of 0.1; the cost is weighed with 1, falling by a tenth in each of 100
rounds of 50 steps; the worst perturbation is one normalised gradient step; whoever is favourable with
and without it is finished and leaves the batch.
"""

from __future__ import annotations

import os

import torch
from case import Case, Found, run, together

ROUNDS, STEPS, STEP, DECAY = 100, 50, 0.1, 0.9
#: Floats and doubles may disagree on which side of the boundary a logit is.
ENOUGH = 1e-5


def network(case: Case) -> torch.nn.Module:
    modules: list[torch.nn.Module] = []
    for weight, bias in case.layers:
        if modules:
            modules.append(torch.nn.Tanh())
        linear = torch.nn.Linear(weight.shape[1], weight.shape[0])
        linear.weight = torch.nn.Parameter(torch.tensor(weight, dtype=torch.float32), requires_grad=False)
        linear.bias = torch.nn.Parameter(torch.tensor(bias, dtype=torch.float32), requires_grad=False)
        modules.append(linear)
    return torch.nn.Sequential(*modules)


def solve(case: Case, epsilon: float, steps: int = ROUNDS * STEPS) -> list[list[float] | None]:
    model = network(case)
    tensor = lambda rows: torch.tensor(rows, dtype=torch.float32)  # noqa: E731
    x, low, high = tensor(case.people), tensor(case.lowest - case.people), tensor(case.highest - case.people)
    found: list[list[float] | None] = [None] * len(x)
    active = torch.arange(len(x))
    theta, first, second = (torch.zeros_like(x) for _ in range(3))
    weight = 1.0
    for number in range(steps):
        if number and number % STEPS == 0:
            weight *= DECAY
        acted = (x + theta).requires_grad_(epsilon > 0)
        plain = model(acted)
        worst = acted.detach()
        if epsilon > 0:
            (slope,) = torch.autograd.grad(plain.sum(), acted)
            worst = worst - epsilon * slope / slope.norm(dim=1, keepdim=True).clamp_min(1e-12)
        worst.requires_grad_()
        perturbed = model(worst)
        loss = torch.nn.functional.softplus(-perturbed).sum()
        (slope,) = torch.autograd.grad(loss, worst)
        done = (torch.minimum(plain, perturbed)[:, 0] >= ENOUGH).detach()
        if done.any():
            for person, reached in zip(active[done].tolist(), (x + theta)[done].double().tolist()):
                found[person] = reached
            keep = ~done
            active, x, low, high, theta = (t[keep] for t in (active, x, low, high, theta))
            first, second, slope = (t[keep] for t in (first, second, slope))
            if not len(active):
                break
        gradient = slope + weight * theta.sign()
        first = 0.9 * first + 0.1 * gradient
        second = 0.999 * second + 0.001 * gradient * gradient
        step = number + 1
        direction = first / (1 - 0.9**step) / (torch.sqrt(second / (1 - 0.999**step)) + 1e-8)
        theta = torch.maximum(torch.minimum(theta - STEP * direction, high), low)
    return found


def choose_threads(case: Case) -> None:
    """As many threads as are fastest: batches are small, and threads wait for each other."""
    taken = {}
    for threads in range(1, (os.cpu_count() or 1) + 1):
        torch.set_num_threads(threads)
        taken[threads] = together(1.0, lambda: solve(case, 0.1, STEPS), turns=5)[0]
    torch.set_num_threads(min(taken, key=taken.__getitem__))


def method(case: Case, seconds: float) -> list[Found]:
    choose_threads(case)
    results = []
    for epsilon in (0.0, 0.1):
        taken, found = together(seconds, lambda epsilon=epsilon: solve(case, epsilon), turns=3)
        note = f"torch {torch.__version__}, floats, {torch.get_num_threads()} threads"
        results.append(Found("PyTorch, Algorithm 1", epsilon, taken, found, note))
    return results


if __name__ == "__main__":
    run(method)
