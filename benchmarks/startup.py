"""Seconds to import torchkeras after torch, and to build the graph of a ResNet-50: the first one, and later ones."""

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

IMPORT = """
import time
import torch
started = time.perf_counter()
import torchkeras, torchkeras.layers, torchkeras.models
print(time.perf_counter() - started)
"""


def import_seconds() -> float:
    """`import torchkeras` in a new process that has imported torch."""
    return float(subprocess.run([sys.executable, "-c", IMPORT], check=True, capture_output=True, text=True).stdout)


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
    print(f"import torchkeras, beyond torch: {statistics.median(import_seconds() for _ in range(5)):.3f} s")
    print(f"build ResNet-50, the first:      {build_seconds():.3f} s")
    print(f"another:                         {statistics.median(build_seconds() for _ in range(3)):.3f} s")


if __name__ == "__main__":
    main()
