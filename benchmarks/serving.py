"""Requests a second of `serve`, from threads that each send one sample after another, against batching by hand.

    OMP_NUM_THREADS=1 python benchmarks/serving.py [--clients 8] [--seconds 0.25] [--rounds 20] [--only mlp]

By hand: a queue, a thread that takes what waits as one batch, `inference_mode`, and a future for each answer. As many
threads as clients send samples, which are arrays, and wait for the answers. Servers take turns of so many seconds; a
ratio is the median of the rounds' ratios. Both have the same most samples of a batch and the same delay: none, which
is the best for clients that wait, and that of 2 ms. One thread of torch leaves the others to the clients; the variable
says so, since `torch.set_num_threads` does not reach what a server's thread computes by oneDNN.
"""

import argparse
import queue
import statistics
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import numpy as np
import torch
import workloads
from by_hand import made
from step import WARM_UP_ROUNDS, median_ratio
from torch import nn

import torchkeras
import torchkeras.layers
import torchkeras.models

NAMES = ("mlp", "cnn", "lstm")
MOST, DELAYS = 32, (0.0, 0.002)  # the most samples of a batch; seconds that a sample may wait for others


class ByHand:
    """Answers samples by batches of them."""

    def __init__(self, network: nn.Module, delay: float):
        self.network, self.delay = network.eval(), delay
        self.waiting: queue.SimpleQueue[tuple[np.ndarray, Future[np.ndarray]] | None] = queue.SimpleQueue()
        self.thread = threading.Thread(target=self.work)
        self.thread.start()

    def __call__(self, sample: np.ndarray) -> np.ndarray:
        answer: Future[np.ndarray] = Future()
        self.waiting.put((sample, answer))
        return answer.result()

    @torch.inference_mode()
    def work(self) -> None:
        while (first := self.waiting.get()) is not None:
            batch = self.gathered(first)
            try:
                outputs = self.network(torch.from_numpy(np.stack([sample for sample, _ in batch]))).numpy()
            except Exception as error:  # noqa: BLE001  # of whatever kind, it is the answer
                for _, answer in batch:
                    answer.set_exception(error)
                continue
            for output, (_, answer) in zip(outputs, batch, strict=True):
                answer.set_result(output)

    def gathered(self, first: Any) -> list[Any]:
        """The first request, and those that come in time."""
        batch, until = [first], time.monotonic() + self.delay
        while len(batch) < MOST:
            try:
                left = until - time.monotonic()
                more = self.waiting.get(timeout=left) if left > 0 else self.waiting.get_nowait()
            except queue.Empty:
                break
            if more is None:
                self.waiting.put(None)
                break
            batch.append(more)
        return batch

    def close(self) -> None:
        self.waiting.put(None)
        self.thread.join()


def requests_a_second(server: Callable[[np.ndarray], Any], samples: np.ndarray, clients: int, seconds: float) -> float:
    """Threads send samples until the time is over."""
    until, answered = time.perf_counter() + seconds, [0] * clients

    def send(client: int) -> None:
        while time.perf_counter() < until:
            server(samples[(client + answered[client]) % len(samples)])
            answered[client] += 1

    threads = [threading.Thread(target=send, args=(client,)) for client in range(clients)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(answered) / (time.perf_counter() - began)


def measure(name: str, delay: float, clients: int, seconds: float, rounds: int) -> tuple[list[float], list[float]]:
    """Requests a second of both, a number a round. Asserts that the answers are equal."""
    torchkeras.clear_session()
    workload = workloads.WORKLOADS[name]
    model = workload.network(torchkeras)
    samples = workloads.samples(workload, 1)[0][0]
    by_hand = ByHand(nn.Sequential(made(name, workloads.weights_of(model)), nn.Softmax(-1)), delay)
    ours = torchkeras.serve(model, max_batch=MOST, max_delay=delay)
    try:
        for sample in samples[:8]:
            np.testing.assert_allclose(ours(sample), by_hand(sample), rtol=1e-4, atol=1e-6)
        found: dict[Any, list[float]] = {ours: [], by_hand: []}
        for number in range(WARM_UP_ROUNDS + rounds):
            for server in (ours, by_hand) if number % 2 else (by_hand, ours):
                found[server].append(requests_a_second(server, samples, clients, seconds))
    finally:
        ours.close()
        by_hand.close()
    return found[ours][WARM_UP_ROUNDS:], found[by_hand][WARM_UP_ROUNDS:]


def compared(
    rounds: int = 20, clients: int = 8, seconds: float = 0.25, only: tuple[str, ...] = NAMES
) -> dict[str, list[float]]:
    """The ratios of the requests a second of `serve` to those by hand, by network and delay, a number a round."""
    ratios = {}
    for name in only:
        for delay in DELAYS:
            ours, by_hand = measure(name, delay, clients, seconds, rounds)
            ratios[f"{name}, delay of {1e3 * delay:g} ms"] = [a / b for a, b in zip(ours, by_hand, strict=True)]
            print(
                f"{name:<6} {1e3 * delay:4.1f} ms  serve {statistics.median(ours):8.0f}  "
                f"by hand {statistics.median(by_hand):8.0f}  ratio {median_ratio(ours, by_hand):6.3f}",
                flush=True,
            )
    return ratios


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--clients", type=int, default=8, help="threads that send samples")
    options.add_argument("--seconds", type=float, default=0.25, help="of a turn")
    options.add_argument("--rounds", type=int, default=20, help=f"timed turns, after {WARM_UP_ROUNDS} that are not")
    options.add_argument("--only", choices=NAMES, action="append", help="a network; may be given again")
    given = options.parse_args()
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads")
    print(f"requests a second of {given.clients} threads; medians of {given.rounds} turns of {given.seconds:g} s")
    compared(given.rounds, given.clients, given.seconds, tuple(given.only or NAMES))


if __name__ == "__main__":
    main()
