"""What `import keras` has beside its modules; importing it lets scripts write layers and optimizers in the old way."""

from torchkeras.backend import settings
from torchkeras.keras2 import old_graphs, old_lambdas, old_layers, old_optimizers, old_phase, old_seeds, old_training
from torchkeras.keras2.layers import Input
from torchkeras.models import Model, Sequential

__all__ = ["Input", "Model", "Sequential"]

old_layers.extend()
old_optimizers.extend()
old_phase.extend()
old_graphs.extend()
old_training.extend()
old_seeds.extend()
old_lambdas.extend()
settings.answer("tensorflow")  # whose order of axes, padding and formulas these are
