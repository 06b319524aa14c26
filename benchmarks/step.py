"""Milliseconds per step of training, evaluation and prediction: torchkeras against a loop written by hand in PyTorch.

    python benchmarks/step.py [--only lstm] [--rounds 11] [--peer keras3=/path/to/python]

`workloads.py` has the networks and their data, `by_hand.py` the hand-written side. All contenders start from the same
weights and take turns, a whole epoch each, so that other work on the machine affects all of them. A ratio is the median
of the rounds' ratios to the hand-written loop. The rounds come from several processes, one after the other, since the
place of a process's memory changes a ratio by a few hundredths. Peers (`peers.py`) run in their own environments:
`keras3` (Keras 3 on torch), `tf_keras`, `lightning`. They are left out unless `--peer` gives their python.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import Any, NamedTuple

import torch
import workloads
from by_hand import Loop
from peers import PEERS, Peer, named_python
from workloads import WORKLOADS

import torchkeras
import torchkeras.layers
import torchkeras.models

WARM_UP_ROUNDS = 2
BY_HAND, OURS = "by hand", "torchkeras"
SAME = 1e-3  # relative difference of losses with the same weights
ALIKE = 0.1  # the same in the first epoch of training, where the order of samples and dropout differ
APART = 0.25  # the same at the end, plus a tenth of the first loss: with dropout, one may learn sooner


class Times(NamedTuple):
    """A contender's timed rounds, and the losses of all."""

    name: str
    seconds: list[float]
    losses: list[float]


@dataclass
class Contender:
    """`epoch` returns seconds and loss; both are recorded."""

    name: str
    epoch: Callable[[], tuple[float, float]]
    seconds: list[float] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    is_ready: Callable[[], bool] = lambda: True  # whether the work of the first epochs is done
    warm_up: list[float] = field(default_factory=list)  # seconds of epochs that do not count

    def take_turn(self) -> None:
        seconds, loss = self.epoch()
        self.seconds.append(seconds)
        self.losses.append(loss)


def timed(epoch: Callable[[], float]) -> Callable[[], tuple[float, float]]:
    """Seconds of an epoch, and its loss; reading the loss waits for the device."""

    def run() -> tuple[float, float]:
        started = time.perf_counter()
        loss = epoch()
        return time.perf_counter() - started, loss

    return run


def contenders(name: str, steps: int, device: str, pythons: dict[str, str]) -> tuple[list[Contender], list[Peer]]:
    """The hand-written loop, torchkeras and the peers, with the same weights. Asserts that the first two are equal."""
    workload = WORKLOADS[name]
    torch.manual_seed(0)
    torchkeras.clear_session()
    x, y = workloads.samples(workload, steps)
    model = workloads.compiled(workload.network(torchkeras))
    weights = workloads.weights_of(model)
    loop = Loop(name, workload, x, y, weights, device)
    resident = [torch.from_numpy(array).to(device) for array in x]
    target = torch.from_numpy(y).to(device)

    found = model.evaluate(resident, target, batch_size=workload.batch_size, verbose=0)[0]
    check(name, [Contender(BY_HAND, timed(loop.evaluate), losses=[loop.evaluate()])], found, SAME, 0.0)

    peers = [Peer(kind, python, name, steps, weights) for kind, python in pythons.items()]
    ours = timed(lambda: workloads.keras_epoch(model, workload, resident, target))
    return [
        Contender(BY_HAND, timed(loop.epoch)),
        Contender(OURS, ours),
        *(Contender(peer.kind, peer.epoch) for peer in peers),
    ], peers


def check(name: str, each: list[Contender], expected: float, relative: float, slack: float) -> None:
    """Assert that the last loss of each is the expected one, up to a relative and an absolute difference."""
    for contender in each:
        difference = abs(contender.losses[-1] - expected)
        assert difference <= relative * abs(expected) + slack, (
            f"{name}: {contender.name} has a loss of {contender.losses[-1]:.5f} where {expected:.5f} is expected."
        )


def take_turns(each: list[Contender], number: int) -> None:
    """Run one round, in an order that changes with its number."""
    first = number % len(each)
    for contender in each[first:] + each[:first]:
        contender.take_turn()


def median_ratio(seconds: list[float], of: list[float]) -> float:
    """The median of the rounds' ratios."""
    return statistics.median(a / b for a, b in zip(seconds, of, strict=True))


def measure(name: str, rounds: int, steps: int, device: str, pythons: dict[str, str]) -> list[Times]:
    """Time all contenders on one workload. Asserts that their losses are alike in the first and in the last epoch."""
    each, peers = contenders(name, steps, device, pythons)
    tolerance = (ALIKE, APART) if WORKLOADS[name].mode == "fit" else (SAME, 0.0)
    try:
        for number in range(WARM_UP_ROUNDS + rounds):
            take_turns(each, number)
            if number in (0, WARM_UP_ROUNDS + rounds - 1):
                check(name, each, each[0].losses[-1], *tolerance)
    finally:
        for peer in peers:
            peer.close()
    return [Times(one.name, one.seconds[WARM_UP_ROUNDS:], one.losses) for one in each]


def measured_anew(processes: int, *of: Any) -> list[Times]:
    """The rounds of several new processes, one after the other."""
    with get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        runs = [pool.apply(measure, of) for _ in range(processes)]
    return [
        Times(each[0].name, [second for one in each for second in one.seconds], each[0].losses)
        for each in zip(*runs, strict=True)
    ]


def row(name: str, each: list[Times], steps: int) -> str:
    """The milliseconds of the hand-written loop, and milliseconds and ratio of each other contender."""
    by_hand, *others = each
    cells = [f"{name:<12}", f"{statistics.median(by_hand.seconds) * 1e3 / steps:>10.3f}"]
    for other in others:
        ratio = median_ratio(other.seconds, by_hand.seconds)
        cells.append(f"{statistics.median(other.seconds) * 1e3 / steps:>10.3f} {ratio:>7.3f}")
    return "  ".join([*cells, f"{by_hand.losses[0]:.4f} {others[0].losses[0]:.4f}"])


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--rounds", type=int, default=3, help="a process's timed rounds, after two that are not timed")
    options.add_argument("--processes", type=int, default=5, help="processes one after the other")
    options.add_argument("--only", choices=WORKLOADS, action="append", help="a workload; may be given again")
    options.add_argument("--steps", type=int, help="steps of an epoch, instead of each workload's own number")
    options.add_argument(
        "--peer", type=named_python(PEERS), action="append", default=[], help="kind=python; may come again"
    )
    chosen = options.parse_args()

    device, pythons = "cuda" if torch.cuda.is_available() else "cpu", dict(chosen.peer)
    print(f"torch {torch.__version__}, {device}, {torch.get_num_threads()} threads")
    rounds = f"medians of {chosen.processes} times {chosen.rounds} rounds"
    print(f"milliseconds a step and ratios to the loop by hand, {rounds}")
    for kind in PEERS:
        if kind not in pythons:
            print(f"left out: {kind} (no --peer {kind}=/path/to/python)")
    headings = "  ".join(f"{column:>10} {'ratio':>7}" for column in [OURS, *pythons])
    print(f"{'workload':<12}  {BY_HAND:>10}  {headings}  losses of the first epoch, the first two")
    for name in chosen.only or WORKLOADS:
        steps = chosen.steps or WORKLOADS[name].steps
        each = measured_anew(chosen.processes, name, chosen.rounds, steps, device, pythons)
        print(row(name, each, steps), flush=True)


if __name__ == "__main__":
    main()
