"""How each layer is written: a file a family."""

from torchkeras.export.plain.rules import (
    attention,
    convolution,
    core,
    modules,
    normalization,
    operations,
    preprocessing,
    recurrent,
)

FAMILIES = (core, convolution, normalization, recurrent, attention, operations, preprocessing, modules)


def register() -> None:
    """Let all rules be known: to have imported this module is enough."""
