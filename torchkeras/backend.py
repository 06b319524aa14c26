"""Keras's backend, `from torchkeras import backend as K`: the module `torchkeras.keras2.backend` by its public name."""

import sys

from torchkeras.base.moved import find_moved_first
from torchkeras.keras2.backend import *  # noqa: F403  (which type checkers read)
from torchkeras.keras2.backend import __all__  # noqa: F401

find_moved_first()
sys.modules[__name__] = sys.modules["torchkeras.keras2.backend"]
