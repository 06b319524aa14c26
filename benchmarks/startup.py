"""What a new process waits for: imports, the first step of a small model, the graph of a ResNet-50.

    python benchmarks/startup.py [--rounds 9]

Contenders take turns, each in a process of its own. A ratio is the median of the rounds' ratios to a group's first.

- imports: `import torch, h5py`; `import torchkeras`; the same with its layers and models, as a script uses it.
- first step: an MLP of plain torch modules with Adam, from its first forward pass to the end of the first update;
  `compile` and `fit` on one batch.

Memory is that of the process at the end, in megabytes more than the first of the group. Linux only, because of that.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time

from torchkeras.layers import (
    Activation,
    BatchNormalization,
    Conv2D,
    Dense,
    GlobalAveragePooling2D,
    Input,
    MaxPooling2D,
    add,
)
from torchkeras.models import Model

TIMED = """
import pathlib, time
{before}
started = time.perf_counter()
{timed}
seconds = time.perf_counter() - started
print(seconds, int(pathlib.Path("/proc/self/status").read_text().split("VmRSS:")[1].split()[0]) / 1024)
"""
BY_HAND = """
import torch
from torch import nn
x, y = torch.randn(32, 20), torch.randint(0, 10, (32,))
model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
"""
STEP_BY_HAND = """
optimizer = torch.optim.Adam(model.parameters(), fused=True)
loss = nn.functional.cross_entropy(model(x), y)
loss.backward()
optimizer.step()
loss.item()
"""
OURS = """
import numpy as np
from torchkeras import Sequential, layers
x, y = np.random.randn(32, 20).astype("float32"), np.random.randint(0, 10, 32)
hidden = [layers.Dense(64, activation="relu", input_shape=(20,)), layers.Dense(64, activation="relu")]
model = Sequential([*hidden, layers.Dense(10, activation="softmax")])
"""
FIT = """
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(x, y, verbose=0)
"""
GROUPS = {
    "imports": {
        "torch, h5py": ("", "import torch, h5py"),
        "torchkeras": ("", "import torchkeras"),
        "torchkeras.layers, .models": ("", "import torchkeras.layers, torchkeras.models"),
    },
    "first step": {"by hand": (BY_HAND, STEP_BY_HAND), "compile and fit": (OURS, FIT)},
}


def measured(before: str, timed: str) -> tuple[float, float]:
    """Seconds of some code in a new process, and the megabytes that the process then has."""
    command = [sys.executable, "-c", TIMED.format(before=before, timed=timed)]
    # Modules come compiled from where pip has put them.
    given = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    seconds, memory = subprocess.run(command, check=True, capture_output=True, text=True, env=given).stdout.split()
    return float(seconds), float(memory)


def compare(group: str, rounds: int) -> None:
    contenders = GROUPS[group]
    for code in contenders.values():
        measured(*code)
    found = [[measured(*code) for code in contenders.values()] for _ in range(rounds)]
    for k, name in enumerate(contenders):
        seconds = statistics.median(each[k][0] for each in found)
        ratio = statistics.median(each[k][0] / each[0][0] for each in found)
        memory = statistics.median(each[k][1] - each[0][1] for each in found)
        print(f"{group:<11} {name:<27} {seconds:7.3f} s  {ratio:6.3f}  {memory:+7.1f} MB", flush=True)


def convolution(features, filters: int, size: int, strides: int = 1, activation: str | None = "relu"):
    features = Conv2D(filters, size, strides=strides, padding="same")(features)
    features = BatchNormalization()(features)
    return Activation(activation)(features) if activation else features


def bottleneck(features, filters: int, strides: int, project: bool):
    hidden = convolution(features, filters, 1, strides)
    hidden = convolution(hidden, filters, 3)
    hidden = convolution(hidden, 4 * filters, 1, activation=None)
    shortcut = convolution(features, 4 * filters, 1, strides, activation=None) if project else features
    return Activation("relu")(add([hidden, shortcut]))


def resnet50() -> Model:
    image = Input((224, 224, 3))
    features = MaxPooling2D(3, strides=2, padding="same")(convolution(image, 64, 7, strides=2))
    for stage, (filters, blocks) in enumerate([(64, 3), (128, 4), (256, 6), (512, 3)]):
        for block in range(blocks):
            strides = 2 if stage and not block else 1
            features = bottleneck(features, filters, strides, project=not block)
    return Model(image, Dense(1000, activation="softmax")(GlobalAveragePooling2D()(features)))


def build_seconds() -> float:
    started = time.perf_counter()
    resnet50()
    return time.perf_counter() - started


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--rounds", type=int, default=9, help="processes of each contender")
    rounds = options.parse_args().rounds
    for group in GROUPS:
        compare(group, rounds)
    print(f"build ResNet-50, the first: {build_seconds():.3f} s")
    print(f"another:                    {statistics.median(build_seconds() for _ in range(3)):.3f} s")


if __name__ == "__main__":
    main()
