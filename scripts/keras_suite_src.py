"""`keras.src` for Keras 3's own tests: each name of genuine Keras's inner modules means what `torchkeras.keras3` has.

Genuine Keras's sources are read, not run: a class or function that they export as `keras.layers.Dense` is
`torchkeras.keras3.layers.Dense`, from whatever module a test takes it. What is not exported has no meaning here, and
fails when a test uses it; but for the tools of tests, which are loaded as they are, and for the few names of `EQUAL`.
An error or warning must be of the class that a test names; its sentence is Keras's own, and is not compared. How many
generators of random numbers a layer keeps is not counted either.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import os
import sys
import types
from collections.abc import Callable, Iterator
from functools import cache
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

import torch
from torch.utils._pytree import tree_map

import torchkeras
from torchkeras import keras3
from torchkeras.base.naming import snake_case
from torchkeras.keras3 import alias

# Tools that tests use, which run against the dialect as they are.
TOOLS = {
    "keras.src.api_export",
    "keras.src.testing",
    "keras.src.testing.test_case",
    "keras.src.testing.test_utils",
    "keras.src.utils.module_utils",
    "keras.src.utils.python_utils",
    "keras.src.backend.common.backend_utils",
    "keras.src.backend.common.dtypes",
}
# Where functions stand that genuine Keras's own backend has under the same names.
BACKEND = {
    "keras.src.backend": ("ops", "backend", "config", "random", ""),
    "keras.src.backend.core": ("ops",),
    "keras.src.backend.image": ("ops.image",),
    "keras.src.backend.linalg": ("ops.linalg",),
    "keras.src.backend.math": ("ops",),
    "keras.src.backend.nn": ("ops.nn",),
    "keras.src.backend.numpy": ("ops.numpy", "ops"),
    "keras.src.backend.random": ("random",),
    "keras.src.tree.torchtree_impl": ("tree",),
}
ABSENT = object()


class Inner:
    """A name of genuine Keras's inner modules that has no meaning here: using it fails."""

    def __init__(self, name: str):
        self._name = name

    def _fail(self, *args: Any, **given: Any) -> Any:
        raise NotImplementedError(f"torchkeras.keras3 has nothing for {self._name}")

    __call__ = __iter__ = __len__ = __getitem__ = __contains__ = __instancecheck__ = __enter__ = _fail

    def __exit__(self, *error: object) -> None:
        """Never entered."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Inner(f"{self._name}.{name}")

    def __mro_entries__(self, bases: Any) -> tuple[type, ...]:
        return (type("Inner", (), {"__init__": self._fail}),)


def _inside(path: str) -> Any:
    """A public thing of the dialect by its path in Keras, "layers.Dense"; ABSENT if there is none."""
    found: Any = keras3
    for part in filter(None, path.split(".")):
        found = getattr(found, part, ABSENT)
        if found is ABSENT:
            return ABSENT
    return found


class _Symbolic(type):
    """The class of `KerasTensor`: a shape and a type make an input of a graph."""

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, torchkeras.KerasTensor)

    def __call__(
        cls, shape: Any, dtype: Any = "float32", sparse: Any = False, ragged: Any = False, **given: Any
    ) -> Any:
        if sparse or ragged:
            raise ValueError("KerasTensor: sparse and ragged tensors are not supported.")
        return keras3.layers.Input(batch_shape=tuple(shape), dtype=dtype, name=given.get("name"))


class KerasTensor(metaclass=_Symbolic):
    """Genuine Keras's `KerasTensor(shape, dtype)`."""


def _is_tensor(value: Any) -> bool:
    return isinstance(value, torch.Tensor)


# Inner names that have an equal here: settings of genuine Keras's backend, and what its tests' tools ask.
EQUAL: dict[str, Any] = {
    "keras.src.backend.SUPPORTS_SPARSE_TENSORS": False,
    "keras.src.backend.SUPPORTS_RAGGED_TENSORS": False,
    "keras.src.backend.SUPPORTS_COMPLEX_DTYPES": True,
    "keras.src.backend.IS_THREAD_SAFE": True,
    "keras.src.backend.common.keras_tensor.KerasTensor": KerasTensor,
    "keras.src.backend.torch.trainer.TorchTrainer": keras3.Model,
    "keras.src.models.functional.Functional": keras3.Model,
    "keras.src.saving.saving_lib.load_model": keras3.saving.load_model,
    "keras.src.saving.saving_lib.save_model": keras3.saving.save_model,
    "keras.src.saving.saving_lib.save_weights_only": keras3.saving.save_weights,
    "keras.src.saving.saving_lib.load_weights_only": keras3.saving.load_weights,
    "keras.src.saving.saving_lib._METADATA_FILENAME": "metadata.json",
    "keras.src.utils.file_utils.join": os.path.join,
    "keras.src.utils.naming.to_snake_case": snake_case,
    "keras.src.utils.file_utils.exists": os.path.exists,
    "keras.src.legacy.saving.legacy_h5_format.save_model_to_hdf5": keras3.saving.save_model,
    "keras.src.backend.torch.core.get_device": lambda: "cpu",
    "keras.src.backend.is_tensor": _is_tensor,
    "keras.src.backend.compute_output_spec": lambda function, *args, **given: function(*args, **given),
    "keras.src.backend.get_keras_mask": lambda value: getattr(value, "_keras_mask", None),
    "keras.src.backend.set_keras_mask": lambda value, mask: setattr(value, "_keras_mask", mask),
    "keras.src.backend.backend": lambda: "torch",
    "keras.src.backend.device": lambda name: torch.device(name.partition(":")[0].lower()),
    "keras.src.backend.standardize_data_format": lambda given=None: given or keras3.config.image_data_format(),
    "keras.src.backend.common.symbolic_scope.in_symbolic_scope": lambda: False,  # custom code gets tensors with values
    "keras.src.utils.python_utils.removesuffix": str.removesuffix,
}


class Sources:
    """Genuine Keras's modules, read as text."""

    def __init__(self, folder: Path):
        self.folder = folder  # that has keras/

    def path(self, module: str) -> Path | None:
        """The file of a module."""
        place = self.folder.joinpath(*module.split("."))
        return next((file for file in (place / "__init__.py", place.with_suffix(".py")) if file.is_file()), None)

    @cache  # noqa: B019  (there is one object)
    def names(self, module: str) -> dict[str, ast.AST]:
        """What defines each name of a module: a class, a function or an import."""
        path = self.path(module)
        found: dict[str, ast.AST] = {}
        for node in _statements(ast.parse(path.read_text())) if path else ():
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                found[node.name] = node  # the last one counts
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                found[node.targets[0].id] = node
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("keras."):
                for each in node.names:
                    found.setdefault(each.asname or each.name, ast.ImportFrom(node.module, [each], 0))
        return found

    @cache  # noqa: B019
    def wild(self, module: str) -> list[str]:
        """The modules all of whose names a module takes."""
        path = self.path(module)
        found = _statements(ast.parse(path.read_text())) if path else ()
        return [node.module or "" for node in found if isinstance(node, ast.ImportFrom) and node.names[0].name == "*"]

    def exported(self, node: ast.AST) -> list[str]:
        """The public paths of a class or function."""
        found = []
        for call in getattr(node, "decorator_list", ()):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "keras_export":
                found += [each.value for each in ast.walk(call.args[0]) if isinstance(each, ast.Constant)]
        return found

    def function_of(self, module: str, operation: str) -> str | None:
        """The public path of the function that makes an operation: of `Absolute`, "keras.ops.absolute"."""
        for node in self.names(module).values():
            if isinstance(node, ast.FunctionDef) and (paths := self.exported(node)):
                calls = (each.func for each in ast.walk(node) if isinstance(each, ast.Call))
                if any(isinstance(each, ast.Name) and each.id == operation for each in calls):
                    return paths[0]
        return None


def _statements(tree: ast.AST) -> Iterator[ast.AST]:
    """The statements of a module, those within `if` and `try` too."""
    for node in ast.iter_child_nodes(tree):
        yield node
        if isinstance(node, (ast.If, ast.Try)):
            yield from _statements(node)


def _arguments(node: ast.ClassDef, method: str) -> list[str]:
    found = next((each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == method), None)
    return [each.arg for each in found.args.args[1:]] if found else []


class _Spec:
    """The shape of a tensor and the name of its type, as an operation of genuine Keras says them of its result."""

    def __init__(self, tensor: torch.Tensor):
        self.tensor, self.shape = tensor, tuple(tensor.shape)
        self.dtype = keras3.backend.standardize_dtype(tensor.dtype)

    def __getitem__(self, index: Any) -> _Spec:
        return _Spec(self.tensor[index])


def _spec(value: Any) -> Any:
    return _Spec(value) if isinstance(value, torch.Tensor) else value


def operation(node: ast.ClassDef, function: Callable[..., Any]) -> type:
    """Genuine Keras's class of an operation, as calls of the function that the dialect has for it."""
    options, inputs = _arguments(node, "__init__"), _arguments(node, "call")
    parameters = inspect.signature(function).parameters.values()
    several = any(each.kind is each.VAR_POSITIONAL for each in parameters)
    positional = [each.name for each in parameters if several and each.kind is each.POSITIONAL_OR_KEYWORD]

    class Operation:
        def __init__(self, *args: Any, name: str | None = None, dtype: Any = None, **given: Any):
            self.given = {**dict(zip(options, args, strict=False)), **given}
            if dtype is not None:
                self.given["dtype"] = dtype

        def __call__(self, *args: Any, **given: Any) -> Any:
            if len(args) > len(inputs):  # of any number, after the options that come by position
                first = {name: self.given[name] for name in positional if name in self.given}
                rest = {name: value for name, value in self.given.items() if name not in first}
                return function(*first.values(), *args, **given, **rest)
            return function(**dict(zip(inputs, args, strict=False)), **given, **self.given)

        call = __call__

        def symbolic_call(self, *args: Any, **given: Any) -> Any:
            return tree_map(_spec, self(*args, **given))

        compute_output_spec = symbolic_call

    Operation.__name__ = node.name
    return Operation


class Finder(MetaPathFinder, Loader):
    """Finds and makes `keras.src` and its modules."""

    def __init__(self, sources: Sources, tests: Path):
        self.sources, self.tests = sources, Sources(tests)

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """The spec of a module of genuine Keras, of a tool or of a test."""
        if fullname != "keras.src" and not fullname.startswith("keras.src."):
            return None
        if fullname.endswith("_test") and (file := self.tests.path(fullname)):
            return importlib.util.spec_from_file_location(fullname, file)
        file = self.sources.path(fullname)
        if fullname in TOOLS and file:
            return importlib.util.spec_from_file_location(fullname, file)
        if file or fullname in BACKEND:
            return ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec: ModuleSpec) -> types.ModuleType | None:
        """A module without names; `resolve` finds them when they are asked for."""
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        """Let the module answer for its names."""
        module.__dict__["__getattr__"] = lambda name: self.attribute(module.__name__, name)
        module.__dict__["__dir__"] = lambda: sorted(self.sources.names(module.__name__))

    def attribute(self, module: str, name: str) -> Any:
        """What a name of a module means."""
        if name.startswith("__"):
            raise AttributeError(name)
        found = self.resolve(module, name)
        if found is ABSENT and name not in self.sources.names(module) and module not in BACKEND:
            raise AttributeError(f"{module} of genuine Keras has no {name}")
        return Inner(f"{module}.{name}") if found is ABSENT else found

    def resolve(self, module: str, name: str) -> Any:
        """The same; ABSENT for what has none."""
        if f"{module}.{name}" in EQUAL:
            return EQUAL[f"{module}.{name}"]
        node = self.sources.names(module).get(name)
        if isinstance(node, ast.ImportFrom) and (node.module, node.names[0].name) != (module, name):
            return self._from(node.module or "", node.names[0].name)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id != name:
            return self.resolve(module, node.value.id)
        for public in self.sources.exported(node) if node is not None else ():
            found = _inside(public.removeprefix("keras").removeprefix("."))
            if found is not ABSENT:
                return found
        if isinstance(node, ast.ClassDef) and module.startswith("keras.src.ops"):
            public = self.sources.function_of(module, name)
            base = node.bases[0] if node.bases else None
            if public is None and isinstance(base, ast.Name) and base.id in self.sources.names(module):
                return self.resolve(module, base.id)  # another name of an operation
            found = _inside(public.removeprefix("keras.")) if public else ABSENT
            return found if found is ABSENT else operation(node, found)
        if self.find_spec(f"{module}.{name}") is not None:
            return importlib.import_module(f"{module}.{name}")
        for place in BACKEND.get(module, ()):
            found = _inside(f"{place}.{name}")
            if found is not ABSENT:
                return found
        for other in self.sources.wild(module) if module.startswith("keras.src.ops") else ():
            found = self.resolve(other, name)
            if found is not ABSENT:
                return found
        return ABSENT

    def _from(self, module: str, name: str) -> Any:
        found = self.resolve(module, name)
        if found is ABSENT and module in TOOLS:
            return getattr(importlib.import_module(module), name, ABSENT)
        return found


def install(sources: Path, tests: Path) -> None:
    """Let `keras` mean the dialect, and `keras.src` what stands for its public names, in this process."""
    alias.install()
    finder = Finder(Sources(sources), tests)
    sys.meta_path.insert(0, finder)
    for folder in sorted({file.parent.relative_to(tests) for file in (tests / "keras").rglob("*_test.py")}):
        if finder.find_spec(name := ".".join(folder.parts)):
            importlib.import_module(name)  # which pytest would make without names
    _change_tools()


def _change_tools() -> None:
    """Let the tools of tests ask for what is public."""
    tools: Any = importlib.import_module("keras.src.testing.test_case")

    def of_class(self: Any, error: type[BaseException], expected_regex: Any, *args: Any, **given: Any) -> Any:
        return self.assertRaises(error, *args, **given)  # noqa: PT027

    of_layer = tools.TestCase.run_layer_test

    def without_seeds(self: Any, *args: Any, **given: Any) -> None:
        for name in ("expected_num_seed_generators", "expected_num_non_trainable_variables"):
            given.pop(name, None)
        of_layer(self, *args, **given)

    def of_warning(self: Any, warning: type[Warning], expected_regex: Any, *args: Any, **given: Any) -> Any:
        return self.assertWarns(warning, *args, **given)

    tools.TestCase.assertRaisesRegex = of_class
    tools.TestCase.assertWarnsRegex = of_warning
    tools.TestCase.run_layer_test = without_seeds
    tools.get_seed_generators = lambda layer: []  # random numbers follow torch's generators
    keras3.Layer.torch_params = property(lambda layer: layer.weights)  # type: ignore[attr-defined]
