"""Milliseconds a training step: torchkeras's `fit` against the same network and loop written by hand in PyTorch.

The hand-written side is tuned: data resident as tensors, batches gathered by `index_select`, fused Adam, loss and
accuracy added up on the device. Both start from the same weights and take turns, a whole epoch each, in one process, so
that what else the machine does falls on both; the ratio is the median of the rounds' ratios.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from torchkeras import layers
from torchkeras.layers import Conv2D, Dense, Dropout, Flatten, Input, MaxPooling2D
from torchkeras.models import Model

WARM_UP_ROUNDS = 2


@dataclass(frozen=True)
class Workload:
    """One network written twice; `reorder` takes an input array from Keras's axes to torch's."""

    input_shape: tuple[int, ...]
    batch_size: int
    steps: int
    keras: Callable[[], Model]
    by_hand: Callable[[], nn.Module]
    reorder: Callable[[np.ndarray], np.ndarray] = lambda array: array


def mlp() -> Model:
    features = Input((20,))
    hidden = Dense(64, activation="relu")(features)
    hidden = Dense(64, activation="relu")(hidden)
    return Model(features, Dense(10, activation="softmax")(hidden))


class MLP(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(20, 64)
        self.second = nn.Linear(64, 64)
        self.logits = nn.Linear(64, 10)

    def forward(self, features: Tensor) -> Tensor:
        return self.logits(F.relu(self.second(F.relu(self.first(features)))))


def cnn() -> Model:
    """The network of Keras's example `mnist_cnn`."""
    image = Input((28, 28, 1))
    hidden = Conv2D(32, 3, activation="relu")(image)
    hidden = Conv2D(64, 3, activation="relu")(hidden)
    hidden = Flatten()(Dropout(0.25)(MaxPooling2D(2)(hidden)))
    hidden = Dropout(0.5)(Dense(128, activation="relu")(hidden))
    return Model(image, Dense(10, activation="softmax")(hidden))


class CNN(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(1, 32, 3)
        self.second = nn.Conv2d(32, 64, 3)
        self.hidden = nn.Linear(64 * 12 * 12, 128)
        self.logits = nn.Linear(128, 10)

    def forward(self, image: Tensor) -> Tensor:
        hidden = F.max_pool2d(F.relu(self.second(F.relu(self.first(image)))), 2)
        hidden = F.dropout(hidden, 0.25, self.training).flatten(1)
        hidden = F.dropout(F.relu(self.hidden(hidden)), 0.5, self.training)
        return self.logits(hidden)


def lstm() -> Model:
    sequence = Input((50, 32))
    hidden = layers.LSTM(64, recurrent_activation="sigmoid")(sequence)
    return Model(sequence, Dense(10, activation="softmax")(hidden))


class LSTM(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(32, 64, batch_first=True)
        self.logits = nn.Linear(64, 10)

    def forward(self, sequence: Tensor) -> Tensor:
        output, _ = self.lstm(sequence)
        return self.logits(output[:, -1])


WORKLOADS = {
    "mlp": Workload((20,), 32, 300, mlp, MLP),
    "cnn": Workload((28, 28, 1), 128, 12, cnn, CNN, lambda images: np.moveaxis(images, -1, 1)),
    "lstm": Workload((50, 32), 64, 100, lstm, LSTM),
}


def samples(workload: Workload) -> tuple[np.ndarray, np.ndarray]:
    """Noise around ten prototypes, one a class: learnable, so that the losses of both sides say something."""
    random = np.random.default_rng(0)
    target = random.integers(0, 10, workload.batch_size * workload.steps)
    prototypes = random.standard_normal((10, *workload.input_shape))
    noise = random.standard_normal((len(target), *workload.input_shape))
    return (0.3 * prototypes[target] + noise).astype("float32"), target


def copy_weights(model: Model, network: nn.Module) -> None:
    """Give the hand-written network the Keras model's weights, from Keras's axes to torch's."""
    arrays = iter(model.get_weights())
    with torch.no_grad():
        for module in network.children():
            if isinstance(module, nn.LSTM):
                kernel, recurrent_kernel, bias = next(arrays), next(arrays), next(arrays)
                module.weight_ih_l0.copy_(torch.from_numpy(kernel.T))
                module.weight_hh_l0.copy_(torch.from_numpy(recurrent_kernel.T))
                module.bias_ih_l0.copy_(torch.from_numpy(bias))
                module.bias_hh_l0.zero_()
                continue
            kernel, bias = next(arrays), next(arrays)
            if isinstance(module, nn.Conv2d):
                module.weight.copy_(torch.from_numpy(kernel.transpose(3, 2, 0, 1)))
            elif kernel.shape[0] == 64 * 12 * 12:  # the Dense after the Flatten of channels-last features
                rows = kernel.reshape(12, 12, 64, -1).transpose(3, 2, 0, 1)
                module.weight.copy_(torch.from_numpy(rows.reshape(len(rows), -1)))
            else:
                module.weight.copy_(torch.from_numpy(kernel.T))
            module.bias.copy_(torch.from_numpy(bias))


def keras_epochs(model: Model, workload: Workload, x: np.ndarray, y: np.ndarray) -> Iterator[float]:
    """Loss of one `fit` epoch after another."""
    model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    while True:
        history = model.fit(x, y, batch_size=workload.batch_size, epochs=1, verbose=0, shuffle=True)
        yield float(history.history["loss"][0])


def hand_written_epochs(
    network: nn.Module, workload: Workload, x: np.ndarray, y: np.ndarray, device: str
) -> Iterator[float]:
    """Loss of one hand-written epoch after another."""
    network.to(device)
    inputs = torch.from_numpy(np.ascontiguousarray(workload.reorder(x))).to(device)
    targets = torch.from_numpy(y).to(device)
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3, eps=1e-7, fused=True)
    network.train()
    while True:
        loss_sum = torch.zeros((), device=device)
        correct = torch.zeros((), dtype=torch.int64, device=device)
        for index in torch.randperm(len(targets), device=device).split(workload.batch_size):
            target = targets.index_select(0, index)
            logits = network(inputs.index_select(0, index))
            loss = F.cross_entropy(logits, target)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            loss_sum += loss.detach() * len(index)
            correct += (logits.detach().argmax(1) == target).sum()
        float(correct / len(targets))
        yield float(loss_sum / len(targets))


def milliseconds_a_step(epochs: Iterator[float], steps: int) -> tuple[float, float]:
    """Time of one step of the next epoch, and the epoch's loss (reading it waits for the device)."""
    started = time.perf_counter()
    loss = next(epochs)
    return (time.perf_counter() - started) * 1e3 / steps, loss


def measure(name: str, rounds: int, device: str) -> float:
    """Print one row of the table; return the ratio."""
    workload = WORKLOADS[name]
    torch.manual_seed(0)
    x, y = samples(workload)
    model, network = workload.keras(), workload.by_hand()
    copy_weights(model, network)
    sides = (hand_written_epochs(network, workload, x, y, device), keras_epochs(model, workload, x, y))

    hand_written, ours, losses = [], [], []
    for round_number in range(WARM_UP_ROUNDS + rounds):
        order = sides if round_number % 2 else sides[::-1]  # neither side always comes first
        timed = {side: milliseconds_a_step(side, workload.steps) for side in order}
        losses.append(tuple(timed[side][1] for side in sides))
        if round_number >= WARM_UP_ROUNDS:
            hand_written.append(timed[sides[0]][0])
            ours.append(timed[sides[1]][0])

    ratio = statistics.median(mine / theirs for mine, theirs in zip(ours, hand_written, strict=True))
    print(
        f"{name:<8} {statistics.median(hand_written):>15.3f} {statistics.median(ours):>12.3f} {ratio:>8.3f}"
        f"   {losses[0][0]:.4f} {losses[0][1]:.4f}",
        flush=True,
    )
    # The first epoch starts from equal weights; the order of batches and the dropout differ, hence the slack.
    assert abs(losses[0][1] - losses[0][0]) < 0.1 * losses[0][0], f"{name}: the two sides do not train alike: {losses}"
    return ratio


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--rounds", type=int, default=11, help="timed rounds, after two that are not timed")
    options.add_argument("--only", choices=WORKLOADS, action="append", help="a workload; may be given again")
    chosen = options.parse_args()

    device = "cuda" if torch.cuda.is_available() else "cpu"
    print(f"torch {torch.__version__}, {device}, {torch.get_num_threads()} threads")
    print(f"milliseconds a training step, medians of {chosen.rounds} rounds")
    print(f"{'workload':<8} {'by hand':>15} {'torchkeras':>12} {'ratio':>8}   losses of the first epoch")
    for name in chosen.only or WORKLOADS:
        measure(name, chosen.rounds, device)


if __name__ == "__main__":
    main()
