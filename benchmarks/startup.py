"""What a new process waits for: imports, the first step of a small model, a small file, the graph of a ResNet-50.

    python benchmarks/startup.py [--rounds 9] [--only imports]

Contenders take turns, each in a process of its own. A ratio is the median of the rounds' ratios to a group's first.

- imports: `import torch, h5py`; `import torchkeras`; the same with its layers and models, as a script uses it.
- first step: an MLP of plain torch modules with Adam, from its first forward pass to the end of the first update;
  `compile` and `fit` on one batch.
- small file, cold: a CNN of 25 layers. By hand, its modules are made, and `load_state_dict` takes what `torch.load`
  reads; `load_model` of each format. What is imported for that counts.
- small file, warm: the same, the third time.

Memory is that of the process at the end, in megabytes more than the first of the group. Linux only, because of that.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

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
from torchkeras.models import Model, Sequential

TIMED = """
import pathlib, sys, time
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
NETWORK_BY_HAND = """
import torch
from torch import nn
class Mean(nn.Module):
    def forward(self, features):
        return features.mean((2, 3))
def made():
    layers = [nn.Conv2d(3, 16, 3, padding=1), nn.ReLU()]
    for _ in range(7):
        layers += [nn.Conv2d(16, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU()]
    return nn.Sequential(*layers, Mean(), nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 10), nn.Softmax(1))
def load():
    model = made()
    model.load_state_dict(torch.load(sys.argv[1] + "/by_hand.pt", weights_only=True))
"""
LOADS = """
from torchkeras.models import load_model
def load():
    load_model(sys.argv[1] + "/{file}")
"""
FORMATS = (".h5", ".keras", ".safetensors", ".pt")
SMALL_FILE = {"by hand": NETWORK_BY_HAND, **{suffix: LOADS.format(file="model" + suffix) for suffix in FORMATS}}
GROUPS = {
    "imports": {
        "torch, h5py": ("", "import torch, h5py"),
        "torchkeras": ("", "import torchkeras"),
        "torchkeras.layers, .models": ("", "import torchkeras.layers, torchkeras.models"),
    },
    "first step": {"by hand": (BY_HAND, STEP_BY_HAND), "compile and fit": (OURS, FIT)},
    "small file, cold": {name: (code, "load()") for name, code in SMALL_FILE.items()},
    "small file, warm": {name: (code + "load()\nload()", "load()") for name, code in SMALL_FILE.items()},
}


class Measured(NamedTuple):
    """Medians of a contender: seconds, their ratio to the group's first, megabytes more than the first."""

    seconds: float
    ratio: float
    megabytes: float


def small_network() -> Sequential:
    """The model of "small file"."""
    layers = [Conv2D(16, 3, padding="same", activation="relu", input_shape=(32, 32, 3))]
    for _ in range(7):
        layers += [Conv2D(16, 3, padding="same", use_bias=False), BatchNormalization(), Activation("relu")]
    return Sequential(
        [*layers, GlobalAveragePooling2D(), Dense(64, activation="relu"), Dense(10, activation="softmax")]
    )


def write_files(folder: str) -> None:
    """The model of "small file" in each format, and what is loaded by hand."""
    model = small_network()
    for suffix in FORMATS:
        model.save(f"{folder}/model{suffix}")
    save = "torch.save(made().state_dict(), sys.argv[1] + '/by_hand.pt')"
    subprocess.run([sys.executable, "-c", f"import sys\n{NETWORK_BY_HAND}{save}", folder], check=True)


def measured(before: str, timed: str, folder: str) -> tuple[float, float]:
    """Seconds of some code in a new process, and the megabytes that the process then has."""
    command = [sys.executable, "-c", TIMED.format(before=before, timed=timed), folder]
    # Modules come compiled from where pip has put them.
    given = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    seconds, memory = subprocess.run(command, check=True, capture_output=True, text=True, env=given).stdout.split()
    return float(seconds), float(memory)


def compared(group: str, rounds: int) -> dict[str, Measured]:
    """Each contender of a group, the first with a ratio of 1."""
    contenders = GROUPS[group]
    with tempfile.TemporaryDirectory() as folder:
        if "file" in group:
            write_files(folder)
        for code in contenders.values():
            measured(*code, folder)
        found = [[measured(*code, folder) for code in contenders.values()] for _ in range(rounds)]
    return {
        name: Measured(
            statistics.median(each[k][0] for each in found),
            statistics.median(each[k][0] / each[0][0] for each in found),
            statistics.median(each[k][1] - each[0][1] for each in found),
        )
        for k, name in enumerate(contenders)
    }


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
    options.add_argument("--only", choices=GROUPS, action="append", help="a group; may be given again")
    given = options.parse_args()
    for group in given.only or GROUPS:
        for name, (seconds, ratio, megabytes) in compared(group, given.rounds).items():
            print(f"{group:<17} {name:<27} {seconds:7.3f} s  {ratio:6.3f}  {megabytes:+7.1f} MB", flush=True)
    if given.only:
        return
    print(f"build ResNet-50, the first: {build_seconds():.3f} s")
    print(f"another:                    {statistics.median(build_seconds() for _ in range(3)):.3f} s")


if __name__ == "__main__":
    main()
