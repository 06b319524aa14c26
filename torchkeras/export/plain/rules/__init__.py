"""How each layer is written, one file for each family. Importing these files registers their rules."""

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
