"""Value and input gradient of a 7-100-100-1 tanh network, f64, 1,024 rows, one thread:
Surefoot beside PyTorch in one run. Needs PyTorch 2 (`pip install torch`), run from the
checkout: `python crates/surefoot/benches/against_pytorch.py`."""

import re
import statistics
import subprocess
import time

import torch


def pytorch() -> float:
    torch.set_num_threads(1)
    layers = [torch.nn.Linear(7, 100), torch.nn.Tanh(), torch.nn.Linear(100, 100), torch.nn.Tanh(), torch.nn.Linear(100, 1)]
    network = torch.nn.Sequential(*layers).double()
    for parameter in network.parameters():
        parameter.requires_grad_(False)
    rows = torch.randn(1024, 7, dtype=torch.float64, requires_grad=True)
    seconds = []
    for _ in range(300):
        start = time.perf_counter()
        torch.autograd.grad(network(rows).sum(), rows)
        seconds.append(time.perf_counter() - start)
    return 1e3 * statistics.median(seconds)


def surefoot() -> float:
    command = ["cargo", "bench", "--quiet", "-p", "surefoot", "--bench", "network"]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return float(re.search(r"([\d.]+) ms \(median\)", output)[1])


surefoot()  # builds
pairs = [(surefoot(), pytorch()) for _ in range(5)]
for ours, theirs in pairs:
    print(f"surefoot {ours:.3f} ms   pytorch {torch.__version__} {theirs:.3f} ms   {theirs / ours:.2f} times as fast")
print(f"median: {statistics.median(theirs / ours for ours, theirs in pairs):.2f} times as fast")
