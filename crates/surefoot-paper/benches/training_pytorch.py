"""Trains the Adult network with ALLR in PyTorch: the same steps as ours, to time them.

    python crates/surefoot-paper/benches/training_pytorch.py [epochs] [folder of reference files]

Needs torch, numpy and safetensors. Prints seconds per epoch for PyTorch on one and on two
threads and for `cargo bench -p surefoot-paper --bench training_speed`, which it runs in
between, and the ratio of the best of each.
"""

import json
import os
import subprocess
import sys
import time

import numpy
import torch
from safetensors import safe_open

EPSILON, LINEARITY, RELIANCE = 0.1, 3.0, 0.5
BATCH, STEP, INNER_STEPS, INNER_STEP = 100, 0.01, 10, 0.1


def adult(folder):
    file = safe_open(os.path.join(folder, "processed", "adult.safetensors"), "np")
    stored = file.get_tensor("x")
    # The table is stored by columns.
    rows = stored.reshape(-1).reshape(stored.shape[::-1]).T.copy()
    actionable = json.loads(file.metadata()["actionable"])
    train = file.get_tensor("split0.train")
    unactionable = torch.tensor([0.0 if i in actionable else 1.0 for i in range(rows.shape[1])])
    to = lambda values: torch.tensor(values[train], dtype=torch.float32)
    return to(rows), to(file.get_tensor("y")), unactionable


def worst_shift(model, x, value, gradient):
    """The shift with the largest departure from linearity, by projected Adam."""
    shift = (EPSILON * torch.randn_like(x)).requires_grad_()
    optimiser = torch.optim.Adam([shift], lr=INNER_STEP)
    for _ in range(INNER_STEPS):
        gap = (model(x + shift).squeeze(1) - (shift * gradient).sum(1) - value).abs()
        optimiser.zero_grad()
        (shift.grad,) = torch.autograd.grad(-gap.sum(), [shift])
        optimiser.step()
        with torch.no_grad():
            length = shift.norm(dim=1, keepdim=True)
            shift.mul_((EPSILON / length).clamp(max=1.0))
    return shift.detach()


def epoch(model, optimiser, rows, labels, unactionable):
    for batch in torch.randperm(len(rows)).split(BATCH):
        x, y = rows[batch].requires_grad_(), labels[batch]
        value = model(x).squeeze(1)
        (gradient,) = torch.autograd.grad(value.sum(), [x], create_graph=True)
        shift = worst_shift(model, x.detach(), value.detach(), gradient.detach())
        gap = model(x + shift).squeeze(1) - (shift * gradient).sum(1) - value
        reliance = (gradient * unactionable).square().sum(1)
        loss = torch.nn.functional.binary_cross_entropy_with_logits(value, y)
        loss = loss + LINEARITY * gap.abs().mean() + RELIANCE * reliance.mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()


def pytorch(threads, epochs, data):
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    rows, labels, unactionable = data
    width = rows.shape[1]
    model = torch.nn.Sequential(
        torch.nn.Linear(width, 100), torch.nn.Tanh(), torch.nn.Linear(100, 100), torch.nn.Tanh(), torch.nn.Linear(100, 1)
    )
    optimiser = torch.optim.Adam(model.parameters(), lr=STEP)
    start = time.perf_counter()
    for _ in range(epochs):
        epoch(model, optimiser, rows, labels, unactionable)
    return (time.perf_counter() - start) / epochs


def ours(epochs):
    command = ["cargo", "bench", "-q", "-p", "surefoot-paper", "--bench", "training_speed", "--", str(epochs)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[-1])


def main():
    epochs = int(sys.argv[1]) if len(sys.argv) > 1 else 80
    folder = sys.argv[2] if len(sys.argv) > 2 else os.environ.get("SUREFOOT_REFERENCE", "../shared/reference")
    data = adult(folder)
    rust = [ours(epochs)]
    one = pytorch(1, epochs, data)
    rust.append(ours(epochs))
    two = pytorch(2, epochs, data)
    rust.append(ours(epochs))
    print(f"seconds per epoch over {epochs} epochs: PyTorch {one:.3f} (1 thread), {two:.3f} (2 threads)")
    print("surefoot " + ", ".join(f"{seconds:.3f}" for seconds in rust))
    print(f"times as fast: {min(one, two) / numpy.median(rust):.1f}")


if __name__ == "__main__":
    main()
