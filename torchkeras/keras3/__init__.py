"""Keras 3's API, for code written for it: `import torchkeras.keras3 as keras`. So far `keras.ops`."""

from torchkeras.keras3 import ops as ops
