"""How each layer is written: a file a family. To have imported them is to have their rules in the table."""

from torchkeras.export.plain.call import RULES as RULES
from torchkeras.export.plain.rules import (
    activation,
    attention,
    convolution,
    core,
    merging,
    modules,
    normalization,
    operations,
    preprocessing,
    recurrent,
)

FAMILIES = (activation, attention, convolution, core, merging, modules, normalization, operations, preprocessing)
FAMILIES = (*FAMILIES, recurrent)
