"""Peak memory of training steps on a CUDA device: torchkeras against the loop by hand of `by_hand.py`.

    python benchmarks/memory.py [--only cnn]

Each side trains two epochs of a workload of `workloads.py` in a process of its own, so that neither has what the other
left in the allocator. The peak is that of `torch.cuda.max_memory_allocated` in the second epoch, the data with it.
"""

import argparse
from multiprocessing import get_context

import torch
import workloads
from by_hand import Loop
from workloads import WORKLOADS

import torchkeras
import torchkeras.layers
import torchkeras.models

SIDES = ("by hand", "torchkeras")
STEPS = 6


def peak(name: str, side: str) -> int:
    """Bytes that the second epoch takes at most."""
    workload = WORKLOADS[name]
    torch.manual_seed(0)
    x, y = workloads.samples(workload, STEPS)
    model = workloads.compiled(workload.network(torchkeras))
    weights = workloads.weights_of(model)
    if side == "by hand":
        del model
        epoch = Loop(name, workload, x, y, weights, "cuda").epoch
    else:
        resident, target = [torch.from_numpy(array).cuda() for array in x], torch.from_numpy(y).cuda()

        def epoch() -> float:
            return workloads.keras_epoch(model, workload, resident, target)

    epoch()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    epoch()
    torch.cuda.synchronize()
    return torch.cuda.max_memory_allocated()


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--only", choices=WORKLOADS, action="append", help="a workload; may be given again")
    chosen = options.parse_args()
    if not torch.cuda.is_available():
        raise SystemExit("benchmarks/memory.py: torch finds no CUDA device.")
    print(f"torch {torch.__version__}, {torch.cuda.get_device_name()}")
    print(f"{'workload':<12} {'by hand, MB':>12} {'torchkeras, MB':>15} {'ratio':>7}")
    for name in chosen.only or WORKLOADS:
        with get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
            hand, ours = (pool.apply(peak, (name, side)) for side in SIDES)
        print(f"{name:<12} {hand / 1e6:>12.2f} {ours / 1e6:>15.2f} {ours / hand:>7.3f}", flush=True)


if __name__ == "__main__":
    main()
