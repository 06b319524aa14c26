"""What `import keras` has beside its modules; importing it lets scripts write in the old way."""

from torchkeras.backend import settings
from torchkeras.keras2 import old_layers, old_numpy, old_optimizers
from torchkeras.keras2.inputs import Input
from torchkeras.models import Model, Sequential

__all__ = ["Input", "Model", "Sequential"]

old_layers.extend()
old_numpy.extend()
old_optimizers.extend()
settings.answer("tensorflow")  # whose order of axes, padding and formulas these are
