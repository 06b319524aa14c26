"""What scripts take from `keras.optimizers` beside the optimizers, which they may write in Keras 2's manner."""

from torchkeras.keras2 import old_optimizers

old_optimizers.extend()
