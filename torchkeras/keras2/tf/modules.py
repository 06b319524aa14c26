"""`tensorflow` and the modules in it, made from tables of names: `K.tf`, and what `alias.install` answers."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, NoReturn

import torch

from torchkeras.keras2 import backend as K
from torchkeras.keras2.lambdas.keras_functions import Function
from torchkeras.keras2.lambdas.signatures import named
from torchkeras.keras2.lambdas.tensorflow_functions import FUNCTIONS
from torchkeras.keras2.old_values import giving_values
from torchkeras.keras2.tf import arrays, images, loops, nn, sessions
from torchkeras.keras2.tf.shapes import Dimension, TensorShape

NAME = "tensorflow"
VERSION = "1.14.0"
TYPES = ("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool", "complex64")
# Modules whose names scripts import at their head; a name in them that is missing raises where it is used.
DEEP = ("python", "contrib")
MODULES = ("nn", "math", "image", "linalg", "random", "train", "summary", "initializers", "losses", "layers", "test")
WITHOUT = "tensorboard.compat.notf"  # tells TensorBoard to do without TensorFlow


def _expanded(x: Any, axis: Any) -> Any:
    return K.expand_dims(x, axis)


# What the backend answers itself, as it knows sizes that only later calls have.
OF_BACKEND: Mapping[str, Function] = {
    "shape": named(lambda x, kind: K.shape(x), "input out_type=None"),
    "reshape": lambda tensor, shape, name=None: K.reshape(tensor, shape),
    "tile": named(K.tile, "input multiples"),
    "concat": lambda values, axis=0, name=None, concat_dim=None: K.concatenate(
        list(values), axis if concat_dim is None else concat_dim
    ),
    "stack": lambda values, axis=0, name=None: K.stack(list(values), axis),
    "cast": lambda x, dtype, name=None: K.cast(x, dtype),
    "to_float": lambda x, name=None: K.cast(x, "float32"),
    "to_int32": lambda x, name=None: K.cast(x, "int32"),
    "expand_dims": named(_expanded, "input axis"),
    "cond": lambda pred, true_fn=None, false_fn=None, strict=False, name=None, fn1=None, fn2=None: K.switch(
        pred, true_fn or fn1, false_fn or fn2
    ),
    "map_fn": lambda fn, elems, dtype=None, *_, **__: K.map_fn(fn, elems, dtype=dtype),
    "foldl": lambda fn, elems, initializer=None, *_, **__: K.foldl(fn, elems, initializer),
    "while_loop": loops.while_loop,
    "scan": loops.scan,
    "TensorArray": loops.TensorArray,
    **{
        name: lambda shape, mean=0.0, stddev=1.0, dtype="float32", seed=None, name=None, own=own: own(
            shape, mean, stddev, dtype, seed
        )
        for name, own in (
            *(("random_normal", K.random_normal), ("random.normal", K.random_normal)),
            *(("truncated_normal", K.truncated_normal), ("random.truncated_normal", K.truncated_normal)),
        )
    },
    **{
        name: lambda shape, minval=0.0, maxval=1.0, dtype="float32", seed=None, name=None: K.random_uniform(
            shape, minval, 1.0 if maxval is None else maxval, dtype, seed
        )
        for name in ("random_uniform", "random.uniform")
    },
}


def _names() -> dict[str, Any]:
    """All names, with the modules that they stand in."""
    nodes = {
        **{name: arrays.on_tensors(function) for name, function in FUNCTIONS.items()},
        **arrays.NODES,
        **{f"math.{name}": function for name, function in arrays.NODES.items() if "." not in name},
        **{f"nn.{name}": function for name, function in nn.NODES.items()},
        **images.NODES,
    }
    plain = {**OF_BACKEND, **arrays.PLAIN, **images.PLAIN, **{f"nn.{name}": each for name, each in nn.PLAIN.items()}}
    return {
        **{name: giving_values(arrays.published(name, each)) for name, each in nodes.items() if name not in plain},
        **{name: each if isinstance(each, type) else giving_values(each) for name, each in plain.items()},
        **sessions.NAMES,
        **{name: getattr(torch, name) for name in TYPES},
        "double": torch.float64,
        "Dimension": Dimension,
        "TensorShape": TensorShape,
        "__version__": VERSION,
        "VERSION": VERSION,
    }


class Missing:
    """A name of TensorFlow that has no equivalent here: any use of it raises NotImplementedError."""

    def __init__(self, name: str) -> None:
        self.__dict__["_name"] = name

    def _refuse(self, *args: Any, **given: Any) -> NoReturn:
        raise NotImplementedError(
            f"{self._name}: TensorFlow is not installed, and torchkeras has nothing in its place."
        )

    __call__ = __iter__ = __getitem__ = __enter__ = __exit__ = __mro_entries__ = _refuse

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Missing(f"{self._name}.{name}")


class TensorFlow(MetaPathFinder, Loader):
    """Finds `tensorflow` and the modules in it; the last to be asked, so that one that is installed comes first."""

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        """The spec of TensorFlow or a module in it; None for any other."""
        inside = fullname.removeprefix(f"{NAME}.")
        if fullname in (NAME, WITHOUT) or (inside != fullname and _is_module(inside)):
            return ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """The module, with its names in it."""
        return None if spec.name == WITHOUT else made(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Nothing: it is made with its names."""


@cache
def made(fullname: str) -> ModuleType:
    """`tensorflow`, or a module in it, with the names that it has."""
    module = ModuleType(fullname, "What scripts of Keras take from TensorFlow, answered by torchkeras.")
    prefix = fullname.removeprefix(NAME).removeprefix(".").removeprefix("compat.v1")
    module.__dict__.update(_in(_NAMES, prefix), __path__=[])
    module.__dict__["__getattr__"] = lambda name: _further(fullname, prefix, name)
    return module


def _is_module(inside: str) -> bool:
    first = inside.partition(".")[0]
    return inside in (*MODULES, "compat", "compat.v1") or first in DEEP


def _in(names: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """The names that stand directly in a module."""
    start = f"{prefix}." if prefix else ""
    found = {name.removeprefix(start): value for name, value in names.items() if name.startswith(start)}
    return {name: value for name, value in found.items() if "." not in name}


def _further(module: str, prefix: str, name: str) -> Any:
    """A module inside another; for a deep one any name, which raises where it is used."""
    inside = f"{prefix}.{name}" if prefix else name
    if name.startswith("__"):
        raise AttributeError(name)
    if inside == "keras":  # which the alias answers, or says how it would
        try:
            return importlib.import_module(f"{NAME}.keras")
        except ModuleNotFoundError as error:
            raise AttributeError(str(error)) from error
    if _is_module(inside) and prefix.partition(".")[0] not in DEEP:
        return made(f"{NAME}.{inside}")
    if prefix.partition(".")[0] in DEEP:
        return Missing(f"{module}.{name}")
    raise AttributeError(
        f"module {module!r} has no {name!r}: TensorFlow is not installed here, and torchkeras has nothing in its place."
    )


_NAMES = _names()
