"""Peak memory of training steps: torchkeras against the loop by hand of `by_hand.py`.

    python benchmarks/memory.py [--only cnn]

Each side trains two epochs of a workload of `workloads.py` in a process of its own, so that neither has what the other
left in the allocator. On a CUDA device the peak is that of `torch.cuda.max_memory_allocated` in the second epoch, data
and weights with it. On the CPU it is what torch allocates in the second epoch beyond what was there, by the profiler's
record of each allocation: the same in every run.
"""

import argparse
from collections.abc import Callable
from multiprocessing import get_context

import torch
import workloads
from by_hand import Loop
from workloads import WORKLOADS

import torchkeras
import torchkeras.layers
import torchkeras.models

SIDES = ("by hand", "torchkeras")
STEPS = 3


def epoch_of(name: str, side: str, device: str) -> Callable[[], float]:
    """An epoch of a side, which begins with the same weights as the other's."""
    workload = WORKLOADS[name]
    torch.manual_seed(0)
    x, y = workloads.samples(workload, STEPS)
    model = workloads.compiled(workload.network(torchkeras))
    if side == "by hand":
        return Loop(name, workload, x, y, workloads.weights_of(model), device).epoch
    resident, target = [torch.from_numpy(array).to(device) for array in x], torch.from_numpy(y).to(device)
    return lambda: workloads.keras_epoch(model, workload, resident, target)


def peak(name: str, side: str) -> int:
    """Bytes that the second epoch takes at most."""
    if not torch.cuda.is_available():
        epoch = epoch_of(name, side, "cpu")
        epoch()
        return peak_of_allocations(epoch)
    epoch = epoch_of(name, side, "cuda")
    epoch()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    epoch()
    torch.cuda.synchronize()
    return torch.cuda.max_memory_allocated()


def peak_of_allocations(run: Callable[[], object]) -> int:
    """The bytes that torch's allocator of the CPU gives out in `run`, beyond what it had given out, at most."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profile:
        run()
    events = [event for event in profile.profiler.kineto_results.events() if event.name() == "[memory]"]
    most = now = 0
    for event in sorted(events, key=lambda event: event.start_ns()):
        now += event.nbytes()
        most = max(most, now)
    return most


def compared(name: str) -> tuple[int, int]:
    """The peaks of the loop by hand and of torchkeras, each in a new process."""
    with get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        hand, ours = (pool.apply(peak, (name, side)) for side in SIDES)
    return hand, ours


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--only", choices=WORKLOADS, action="append", help="a workload; may be given again")
    chosen = options.parse_args()
    print(f"torch {torch.__version__}, {torch.cuda.get_device_name() if torch.cuda.is_available() else 'CPU'}")
    print(f"{'workload':<12} {'by hand, MB':>12} {'torchkeras, MB':>15} {'ratio':>7}")
    for name in chosen.only or WORKLOADS:
        hand, ours = compared(name)
        print(f"{name:<12} {hand / 1e6:>12.2f} {ours / 1e6:>15.2f} {ours / hand:>7.3f}", flush=True)


if __name__ == "__main__":
    main()
