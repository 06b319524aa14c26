"""What a function of `keras.ops` takes more than the call of torch that it is, on small tensors: the ratio of both.

    python benchmarks/operations.py [--calls 2000] [--rounds 41] [--elements 16]

The two take turns, many calls at a time; a ratio is the median of the rounds' ratios.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch

from torchkeras.keras3 import ops


def pairs(x: torch.Tensor, m: torch.Tensor) -> dict[str, tuple[Callable[[], Any], Callable[[], Any]]]:
    """The same by torch and by `keras.ops`."""
    return {
        "exp": (lambda: torch.exp(x), lambda: ops.exp(x)),
        "add": (lambda: torch.add(x, x), lambda: ops.add(x, x)),
        "multiply": (lambda: torch.multiply(x, x), lambda: ops.multiply(x, x)),
        "maximum": (lambda: torch.maximum(x, x), lambda: ops.maximum(x, x)),
        "matmul": (lambda: torch.matmul(m, m), lambda: ops.matmul(m, m)),
        "sum": (lambda: torch.sum(m, 1), lambda: ops.sum(m, 1)),
        "mean": (lambda: torch.mean(m, 1), lambda: ops.mean(m, 1)),
        "reshape": (lambda: torch.reshape(m, (-1,)), lambda: ops.reshape(m, (-1,))),
        "transpose": (lambda: m.permute(1, 0), lambda: ops.transpose(m)),
        "concatenate": (lambda: torch.cat([m, m], 1), lambda: ops.concatenate([m, m], 1)),
        "softmax": (lambda: torch.softmax(m, -1), lambda: ops.softmax(m)),
        "relu": (lambda: torch.relu(x), lambda: ops.relu(x)),
    }


def seconds(function: Callable[[], Any], calls: int) -> float:
    started = time.perf_counter()
    for _ in range(calls):
        function()
    return time.perf_counter() - started


def ratio(of_torch: Callable[[], Any], ours: Callable[[], Any], calls: int, rounds: int) -> tuple[float, float]:
    """(microseconds of torch's call, ratio), medians."""
    seconds(of_torch, calls), seconds(ours, calls)
    found = [(seconds(of_torch, calls), seconds(ours, calls)) for _ in range(rounds)]
    return statistics.median(a for a, _ in found) / calls * 1e6, statistics.median(b / a for a, b in found)


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--calls", type=int, default=2000)
    options.add_argument("--rounds", type=int, default=41)
    options.add_argument("--elements", type=int, default=16, help="of a vector, and of each side of a matrix")
    chosen = options.parse_args()
    torch.set_num_threads(1)
    vector, matrix = torch.rand(chosen.elements), torch.rand(chosen.elements, chosen.elements)
    print(f"torch {torch.__version__}, {chosen.elements} elements; microseconds of torch's call, and the ratio to it")
    for name, (of_torch, ours) in pairs(vector, matrix).items():
        microseconds, found = ratio(of_torch, ours, chosen.calls, chosen.rounds)
        print(f"{name:12} {microseconds:6.2f}  {found:.3f}", flush=True)
