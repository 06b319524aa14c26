"""What `import keras` has beside its modules."""

from torchkeras.engine.graph.input import Input as Input
from torchkeras.models import Model as Model, Sequential as Sequential

from torchkeras.keras2 import old_layers, old_optimizers

old_layers.extend()
old_optimizers.extend()
