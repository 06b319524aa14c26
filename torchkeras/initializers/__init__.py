"""Initializers: shape to first values. Shapes are Keras's, (rows, columns, channels, filters): fans count on them.

With a `seed` each call gives the same numbers; without one they come from torch's own generator
(`torch.manual_seed`). Half types are drawn in float32.
"""

from typing import TYPE_CHECKING

from torchkeras import registry
from torchkeras.base.missing_names import missing_from as _missing_from
from torchkeras.initializers.distributions import (
    Constant,
    Identity,
    Initializer,
    Ones,
    Orthogonal,
    RandomNormal,
    RandomUniform,
    TruncatedNormal,
    VarianceScaling,
    Zeros,
    fill as fill,
    glorot_normal,
    glorot_uniform,
    he_normal,
    he_uniform,
    lecun_normal,
    lecun_uniform,
)

__all__ = [
    "Constant",
    "Identity",
    "Initializer",
    "Ones",
    "Orthogonal",
    "RandomNormal",
    "RandomUniform",
    "TruncatedNormal",
    "VarianceScaling",
    "Zeros",
    "constant",
    "deserialize",
    "get",
    "glorot_normal",
    "glorot_uniform",
    "he_normal",
    "he_uniform",
    "identity",
    "lecun_normal",
    "lecun_uniform",
    "normal",
    "one",
    "ones",
    "orthogonal",
    "random_normal",
    "random_uniform",
    "serialize",
    "truncated_normal",
    "uniform",
    "zero",
    "zeros",
]

zero = zeros = Zeros
one = ones = Ones
constant = Constant
uniform = random_uniform = RandomUniform
normal = random_normal = RandomNormal
truncated_normal = TruncatedNormal
identity = Identity
orthogonal = Orthogonal

# Every class and factory above is known by each of its names, aliases too.
for _name, _value in list(vars().items()):
    if hasattr(_value, "makes_object") or (isinstance(_value, type) and issubclass(_value, Initializer)):
        registry.initializers.register(_name, _value)


get = deserialize = registry.initializers.get
serialize = registry.initializers.serialize

if not TYPE_CHECKING:  # which would take any name for one of the module
    __getattr__ = _missing_from(__name__)
