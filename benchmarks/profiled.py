"""Where the time of a step goes: microseconds by operation, for plain and for compiled steps.

    python benchmarks/profiled.py mlp [--steps 400] [--rows 20]

For `jit_compile=False`, `True`, and what "auto" does with short steps (kernels called from C++): the time of a step
without the profiler, then the output of `torch.profiler` for one. The three are measured one after the other, so their
times do not show which is faster: `suite.py` does.
"""

import argparse
import time
from typing import Any

import torch
import workloads
from torch.profiler import ProfilerActivity, profile
from workloads import WORKLOADS

import torchkeras
import torchkeras.layers
import torchkeras.models
from torchkeras.engine.speed.choose import FROM_CPP

SETTINGS: dict[str, Any] = {"plain": False, "compiled": True, "compiled, from C++": FROM_CPP}
WARM_UP_EPOCHS, TIMED_EPOCHS = 3, 3


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("workload", choices=WORKLOADS)
    options.add_argument("--steps", type=int, default=400, help="steps of an epoch")
    options.add_argument("--rows", type=int, default=20, help="operations shown")
    chosen = options.parse_args()
    workload = WORKLOADS[chosen.workload]
    x, y = workloads.samples(workload, chosen.steps)
    resident, target = [torch.from_numpy(array) for array in x], torch.from_numpy(y)
    for name, setting in SETTINGS.items():
        torchkeras.clear_session()
        model = workloads.compiled(workload.network(torchkeras), jit_compile=setting)
        for _ in range(WARM_UP_EPOCHS):
            workloads.keras_epoch(model, workload, resident, target)
        started = time.perf_counter()
        for _ in range(TIMED_EPOCHS):
            workloads.keras_epoch(model, workload, resident, target)
        seconds = (time.perf_counter() - started) / TIMED_EPOCHS / chosen.steps
        with profile(activities=[ProfilerActivity.CPU]) as found:
            workloads.keras_epoch(model, workload, resident, target)
        events = sorted(found.key_averages(), key=lambda event: -event.self_cpu_time_total)
        calls = sum(event.count for event in events if event.key.startswith("aten::"))
        print(f"{name}: {seconds * 1e6:.0f} microseconds a step, {calls / chosen.steps:.0f} calls of operations")
        for event in events[: chosen.rows]:
            each, times = event.self_cpu_time_total / chosen.steps, event.count / chosen.steps
            print(f"  {each:8.1f}  {times:6.2f} times  {event.key[:80]}")


if __name__ == "__main__":
    main()
