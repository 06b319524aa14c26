"""Milliseconds of LSTM(64) and GRU(64), forward and backward, over (64, 50, 32), for each way to compute them.

"torch" is the kernel of torch's own module, whose gates are always sigmoid; "scan" is the time loop with gradients
written by hand, for Keras's hard_sigmoid; "loop" is a time loop under autograd. All take turns in one process, so that
other work on the machine affects all of them. A ratio is the median of the rounds' ratios to the kernel's time. The
options are Keras 2.2.4's, except those that a line names.
"""

import argparse
import statistics
import time
from typing import Any

import torch
from torch import Tensor

from torchkeras.layers import GRU, LSTM

BATCH, STEPS, FEATURES, UNITS = 64, 50, 32, 64
WARM_UP_ROUNDS = 3

# Options and path; torch's comes first.
FAMILIES: list[list[tuple[str, str, Any]]] = [
    [
        ("LSTM, sigmoid", "torch", lambda: LSTM(UNITS, recurrent_activation="sigmoid")),
        ("LSTM", "scan", lambda: LSTM(UNITS)),
        ("LSTM, unroll", "loop", lambda: LSTM(UNITS, unroll=True)),
    ],
    [
        ("GRU, sigmoid, reset_after", "torch", lambda: GRU(UNITS, recurrent_activation="sigmoid", reset_after=True)),
        ("the same", "scan", lambda: GRU(UNITS, recurrent_activation="sigmoid", reset_after=True)),
        ("GRU, reset_after", "scan", lambda: GRU(UNITS, reset_after=True)),
        ("GRU", "scan", lambda: GRU(UNITS)),
        ("GRU, unroll", "loop", lambda: GRU(UNITS, unroll=True)),
    ],
]


def made(path: str, make: Any, sequence: Tensor) -> Any:
    """A layer in training mode that computes in the given way."""
    layer = make().train()
    layer(sequence)
    if path == "torch":  # which a hook on torch's module selects
        getattr(layer, layer.submodule).register_forward_hook(lambda *_: None)
    assert layer.path() == path, (path, layer.path())
    return layer


def milliseconds(layer: Any, sequence: Tensor, gradient: Tensor, repeats: int) -> float:
    started = time.perf_counter()
    for _ in range(repeats):
        layer(sequence).backward(gradient)
    if sequence.is_cuda:
        torch.cuda.synchronize()
    return (time.perf_counter() - started) * 1e3 / repeats


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--rounds", type=int, default=31, help="timed rounds, after three that are not timed")
    options.add_argument("--repeats", type=int, default=4, help="passes of one contender in a round")
    options.add_argument("--threads", type=int, default=torch.get_num_threads())
    chosen = options.parse_args()
    torch.set_num_threads(chosen.threads)

    device = "cuda" if torch.cuda.is_available() else "cpu"
    sequence = torch.randn(BATCH, STEPS, FEATURES, device=device)
    gradient = torch.randn(BATCH, UNITS, device=device)
    print(f"torch {torch.__version__}, {device}, {torch.get_num_threads()} threads, {chosen.rounds} rounds")
    for contenders in FAMILIES:
        layers = [made(path, make, sequence) for _, path, make in contenders]
        rounds = [
            [milliseconds(layer, sequence, gradient, chosen.repeats) for layer in layers]
            for _ in range(WARM_UP_ROUNDS + chosen.rounds)
        ][WARM_UP_ROUNDS:]
        for index, (name, path, _) in enumerate(contenders):
            times = statistics.median(timed[index] for timed in rounds)
            ratio = statistics.median(timed[index] / timed[0] for timed in rounds)
            print(f"{name:<25} {path:<6} {times:>8.3f} ms {ratio:>8.3f}")


if __name__ == "__main__":
    main()
