"""A training step of several processes on the CPU: torchkeras against a loop by hand in DDP, or in FSDP2.

    python benchmarks/distributed.py [--processes 2] [--only mlp] [--rounds 7] [--distribute ddp]

Networks, data and loops are those of `step.py`. Both sides have the same batches, of which each process has its part,
and take turns, an epoch each; a ratio is the median of the rounds' ratios, in the main process. Batch normalization is
by each process's part, as in DistributedDataParallel; `--sync-batch-norm` shows what the whole batch costs.
"""

import argparse
import os
import socket
import statistics
import time
from dataclasses import replace
from multiprocessing import get_context
from typing import Any

import torch
import torch.distributed as dist
import workloads
from by_hand import Loop
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel
from workloads import WORKLOADS

import torchkeras
import torchkeras.layers
import torchkeras.models

NAMES = ("mlp", "cnn", "resnet20", "transformer", "embeddings")
WARM_UP = 2


def measured(rank: int, processes: int, port: int, name: str, given: Any, answers: Any) -> None:
    """Seconds of the epochs of both sides, told by the main process."""
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK=str(rank), WORLD_SIZE=str(processes))
    torch.set_num_threads(1)
    torch.manual_seed(0)
    dist.init_process_group("gloo")
    workload = WORKLOADS[name]
    x, y = workloads.samples(workload, given.steps or workload.steps)
    model = workload.network(torchkeras)
    model.compile(
        "adam", "sparse_categorical_crossentropy", metrics=["accuracy"], jit_compile=False,
        distribute=given.distribute, sync_batch_norm=given.sync_batch_norm,
    )  # fmt: skip
    share = replace(workload, batch_size=workload.batch_size // processes)
    mine = [each[rank::processes] for each in x]
    loop = Loop(name, share, mine, y[rank::processes], workloads.weights_of(model), "cpu")
    if given.distribute == "ddp":
        loop.network = DistributedDataParallel(loop.network)  # type: ignore[assignment]
    else:  # these are small: one unit, as torchkeras makes them
        loop.network = loop.network.to(memory_format=torch.contiguous_format)
        fully_shard(loop.network)
        loop.network.set_force_sum_reduction_for_comms(True)  # type: ignore[attr-defined]  # gloo has no mean
        loop.network.set_gradient_divide_factor(float(processes))  # type: ignore[attr-defined]
        loop.optimizer = torch.optim.Adam(loop.network.parameters(), lr=1e-3, eps=1e-7, fused=True)
    resident, target = [torch.from_numpy(each) for each in x], torch.from_numpy(y)
    times: tuple[list[float], list[float]] = ([], [])
    for number in range(WARM_UP + given.rounds):
        sides = [(0, loop.train), (1, lambda: workloads.keras_epoch(model, workload, resident, target))]
        for side, epoch in sides if number % 2 else reversed(sides):
            dist.barrier()
            began = time.perf_counter()
            epoch()
            times[side].append(time.perf_counter() - began)
    if rank == 0:
        answers.put([each[WARM_UP:] for each in times])
    dist.barrier()
    dist.destroy_process_group()


def run(name: str, given: Any) -> str:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        port = server.getsockname()[1]
    context = get_context("spawn")
    answers = context.Queue()
    arguments = (given.processes, port, name, given, answers)
    started = [context.Process(target=measured, args=(rank, *arguments)) for rank in range(given.processes)]
    for process in started:
        process.start()
    by_hand, ours = answers.get()
    for process in started:
        process.join()
    steps = given.steps or WORKLOADS[name].steps
    ratio = statistics.median(b / a for a, b in zip(by_hand, ours, strict=True))
    milliseconds = (1e3 * statistics.median(each) / steps for each in (by_hand, ours))
    return f"{name:12} {' '.join(f'{each:9.3f}' for each in milliseconds)} {ratio:6.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", action="append", choices=NAMES)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, help="batches of an epoch")
    parser.add_argument("--distribute", default="ddp", choices=["ddp", "fsdp"])
    parser.add_argument("--sync-batch-norm", action="store_true")
    given = parser.parse_args()
    print(f"{given.processes} processes, ms a step")
    print(f"{'':12} {'by hand':>9} {'ours':>9} {'ratio':>6}")
    for name in given.only or NAMES:
        print(run(name, given), flush=True)


if __name__ == "__main__":
    main()
