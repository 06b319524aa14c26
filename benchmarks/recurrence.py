"""Milliseconds of LSTM(64) forward and back, the input's projection among them: `lstm_scan` against torch's nn.LSTM.

torch's kernel knows the gate sigmoid alone; `lstm_scan` and the loop under autograd compute Keras's hard_sigmoid. All
take turns in one process, so that what else the machine does falls on all; a ratio is the median of the rounds' ratios.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from torchkeras.activations import hard_sigmoid
from torchkeras.layers.scan import lstm_scan

BATCH, STEPS, FEATURES, UNITS = 64, 50, 32, 64
WARM_UP_ROUNDS = 3


class Recurrence:
    """The contenders, which share weights, input and the gradient of the outputs."""

    def __init__(self, device: str):
        torch.manual_seed(0)
        self.lstm = nn.LSTM(FEATURES, UNITS).to(device)
        self.sequence = torch.randn(STEPS, BATCH, FEATURES, device=device)
        self.gradient = torch.randn(STEPS, BATCH, UNITS, device=device)

    def torch_kernel(self) -> Tensor:
        return self.lstm(self.sequence)[0]

    def scan(self) -> Tensor:
        state = self.sequence.new_zeros(BATCH, UNITS)
        return lstm_scan(self._projected(), state, state, self.lstm.weight_hh_l0, "hard_sigmoid")[0]

    def autograd_loop(self) -> Tensor:
        h = c = self.sequence.new_zeros(BATCH, UNITS)
        kernel, outputs = self.lstm.weight_hh_l0.t(), []
        for projected in self._projected().unbind(0):
            z = torch.addmm(projected, h, kernel).view(-1, 4, UNITS)
            i, f, _, o = hard_sigmoid(z).unbind(1)
            c = torch.addcmul(f * c, i, torch.tanh(z[:, 2]))
            h = o * torch.tanh(c)
            outputs.append(h)
        return torch.stack(outputs)

    def _projected(self) -> Tensor:
        return F.linear(self.sequence, self.lstm.weight_ih_l0, self.lstm.bias_ih_l0)

    def milliseconds(self, contender: Callable[[], Tensor], repeats: int) -> float:
        started = time.perf_counter()
        for _ in range(repeats):
            contender().backward(self.gradient)
        if self.sequence.is_cuda:
            torch.cuda.synchronize()
        return (time.perf_counter() - started) * 1e3 / repeats

    def gradients(self, contender: Callable[[], Tensor]) -> list[Tensor]:
        weights = [self.lstm.weight_ih_l0, self.lstm.bias_ih_l0, self.lstm.weight_hh_l0]
        return list(torch.autograd.grad(contender(), weights, self.gradient))


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--rounds", type=int, default=31, help="timed rounds, after three that are not timed")
    options.add_argument("--repeats", type=int, default=4, help="passes of one contender in a round")
    options.add_argument("--threads", type=int, default=torch.get_num_threads())
    chosen = options.parse_args()
    torch.set_num_threads(chosen.threads)

    device = "cuda" if torch.cuda.is_available() else "cpu"
    recurrence = Recurrence(device)
    contenders = [recurrence.torch_kernel, recurrence.scan, recurrence.autograd_loop]
    torch.testing.assert_close(*map(recurrence.gradients, contenders[1:]), rtol=1e-4, atol=1e-4)
    rounds = [
        [recurrence.milliseconds(contender, chosen.repeats) for contender in contenders]
        for _ in range(WARM_UP_ROUNDS + chosen.rounds)
    ][WARM_UP_ROUNDS:]

    print(f"torch {torch.__version__}, {device}, {torch.get_num_threads()} threads")
    print(f"milliseconds forward and back, medians of {chosen.rounds} rounds; ratio to nn.LSTM (sigmoid)")
    for index, contender in enumerate(contenders):
        times = statistics.median(timed[index] for timed in rounds)
        ratio = statistics.median(timed[index] / timed[0] for timed in rounds)
        print(f"{contender.__name__:<14} {times:>8.3f} {ratio:>8.3f}")


if __name__ == "__main__":
    main()
