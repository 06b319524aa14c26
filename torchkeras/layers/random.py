"""What layers that draw numbers share: the option `seed`."""

from typing import Any

import torch

from torchkeras.engine.layer import Layer
from torchkeras.engine.options import OptionalInt


class Seeded(Layer, abstract=True):
    """A layer that draws numbers: from torch's own generator, or with a `seed` from one that starts there."""

    seed: OptionalInt = None

    _generator: torch.Generator | None = None

    def _generator_on(self, device: torch.device) -> torch.Generator | None:
        if self.seed is None or device.type == "meta":
            return None
        if self._generator is None or self._generator.device != device:
            self._generator = torch.Generator(device).manual_seed(self.seed)
        return self._generator

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_generator": None}
