"""What `import keras` has beside its modules; importing it lets scripts write layers and optimizers in the old way."""

import torch

from torchkeras import backend
from torchkeras.backend import settings
from torchkeras.engine.graph.input import Input
from torchkeras.keras2 import old_calls, old_generators, old_lambdas, old_layers, old_lists, old_optimizers, old_tensors
from torchkeras.keras2.session import get_session
from torchkeras.models import Model, Sequential

__all__ = ["Input", "Model", "Sequential"]

old_tensors.extend()
old_layers.extend()
old_calls.extend()
old_generators.extend()
old_lambdas.extend()
old_lists.extend()
old_optimizers.extend()
settings.answer("tensorflow")  # whose order of axes, padding and formulas these are
vars(backend).update(
    _BACKEND=settings.backend(),
    get_session=get_session,
    _get_available_gpus=lambda: [f"/device:GPU:{number}" for number in range(torch.cuda.device_count())],
)
