"""Values as plain data, as JSON can hold it, without names of layers and addresses in memory."""

from __future__ import annotations

import argparse
import ast
import builtins
import hashlib
import inspect
import logging
import os
import random
import sys
import textwrap
import warnings
import zlib
from collections.abc import Collection, Iterator, Mapping, Set as AnySet
from functools import partial
from types import CodeType, FunctionType, GeneratorType, MethodType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from torchkeras.base.python import attributes_of

DEPTH, LONGEST = 6, 64  # how deep objects are followed; up to how many items a list is described item by item
WHOLE = 1 << 24  # bytes: a checksum reads all of an array up to this size, of a larger one as many bytes, in rows
ROWS = 256
SAMPLED = 4096  # items of a long list
OF_MODULES = ("_parameters", "_buffers", "_modules")
ARRAYS = (np.ndarray, Tensor)
VALUES = (bool, int, float, str, np.generic, list, tuple, dict, set, frozenset, *ARRAYS)
NAMESPACES = (SimpleNamespace, argparse.Namespace)
# Described elsewhere: the state of random numbers, options of optimizers.
ELSEWHERE = (np.random.Generator, np.random.RandomState, random.Random, torch.Generator, torch.optim.Optimizer)


def plain(value: Any, deep: bool = False) -> Any:
    """A value as plain data: options and configs, functions by name, arrays by type and shape.

    With `deep`, arrays have a checksum too, functions and classes of the user a digest of their code with the values
    that it names, and other objects their attributes.
    """
    return _Plain(deep).of(value, DEPTH)


def of_user(value: Any, known: Collection[str] = ()) -> dict[str, Any]:
    """The attributes of an object that hold code of the user; if its class is the user's, all values too; as `plain`.

    `known`: the names of attributes to leave out.
    """
    whole = _is_of_user(value)
    found = {name: item for name, item in _attribute_items(value) if name not in known}
    return {
        name: plain(item, deep=True)
        for name, item in found.items()
        if _is_code(item) or (whole and isinstance(item, VALUES))
    }


def checksum(array: Any) -> int:
    """A checksum of the values of an array or tensor; above 16 MB it reads 256 rows or fewer."""
    values = array.detach() if isinstance(array, Tensor) else array
    values = values.coalesce().values() if isinstance(values, Tensor) and values.is_sparse else values
    if values.nbytes > WHOLE and len(values) > 2:
        rows = max(2, min(ROWS, len(values), WHOLE * len(values) // values.nbytes))
        index = np.linspace(0, len(values) - 1, rows).astype(np.int64)
        on = values.device if isinstance(values, Tensor) else None
        values = values[index] if on is None else values[torch.from_numpy(index).to(on)]
    if isinstance(values, Tensor):
        values = values.cpu().contiguous().reshape(-1).view(torch.uint8).numpy()
    return zlib.crc32(repr(values.tolist()).encode() if values.dtype.hasobject else values.tobytes())


class _Plain:
    def __init__(self, deep: bool):
        self._deep = deep
        self._seen: dict[int, Any] = {}  # held, so that no other object gets its number

    def of(self, value: Any, depth: int) -> Any:
        if value is None or isinstance(value, (bool, int, str)):
            return value
        if isinstance(value, (float, np.generic)):
            return _number_as_json(value)
        if isinstance(value, ARRAYS):
            return self._array(value)
        if isinstance(value, os.PathLike):
            return os.fspath(value)
        if isinstance(value, Mapping):
            return self._mapping(value, depth)
        if isinstance(value, (list, tuple, range, AnySet)):
            return self._items(value, depth)
        if not isinstance(value, type) and getattr(value, "get_config", None) is not None:
            code = self.code(type(value), depth)
            return {"class": type(value).__name__, "config": self.of(config_of(value), depth), **code}
        if isinstance(value, torch.dtype):
            return str(value)
        return self._followed(value, depth) if self._deep else _name(value)

    def _mapping(self, value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
        named = {str(name): item for name, item in value.items() if name != "name"}
        return self._long(list(named.items())) or {name: self.of(item, depth) for name, item in named.items()}

    def _items(self, value: Any, depth: int) -> Any:
        items = sorted(value, key=repr) if isinstance(value, AnySet) else list(value)
        return self._long(items) or [self.of(item, depth) for item in items]

    def _array(self, value: Any) -> dict[str, Any]:
        about = {"type": str(value.dtype).removeprefix("torch."), "shape": list(value.shape)}
        whole = self._deep and not hasattr(value, "to_local")
        return {**about, "checksum": checksum(value)} if whole else about

    def _long(self, items: list[Any]) -> dict[str, Any]:
        """The length of a long list and a checksum of some of its items; empty for a short one."""
        if not self._deep or len(items) <= LONGEST:
            return {}
        some = items[:: max(1, len(items) // SAMPLED)]
        return {"items": len(items), "checksum": zlib.crc32(repr([self.of(item, 1) for item in some]).encode())}

    def _followed(self, value: Any, depth: int) -> Any:
        if isinstance(value, ELSEWHERE) or not depth or id(value) in self._seen:
            return type(value).__qualname__
        if isinstance(value, bytes):
            return zlib.crc32(value)
        if isinstance(value, type):
            return {"class": value.__qualname__, **self.code(value, depth)}
        self._seen[id(value)] = value
        if isinstance(value, MethodType):
            return {**self._function(value.__func__, depth), "self": self.of(value.__self__, depth - 1)}
        if isinstance(value, FunctionType):
            return self._function(value, depth)
        if isinstance(value, partial):
            return {name: self.of(getattr(value, name), depth - 1) for name in ("func", "args", "keywords")}
        if isinstance(value, GeneratorType):
            return self._generator(value, depth)
        if callable(value) and not hasattr(value, "__dict__"):
            return _name(value)
        return self._object(value, depth)

    def _generator(self, value: GeneratorType, depth: int) -> dict[str, Any]:
        frame = value.gi_frame
        local = self.of(frame.f_locals, depth - 1) if frame else {}
        text = _without_output(value.gi_code, frame.f_globals if frame else {})
        return {"generator": value.__qualname__, "code": digest(value.gi_code), **_digest(text), "names": local}

    def _function(self, function: FunctionType, depth: int) -> dict[str, Any]:
        code = function.__code__
        text = _without_output(code, function.__globals__)
        description = {
            name: self.of(value, depth - 1)
            for name, value in _named_values(function, text).items()
            if _is_code(value) or isinstance(value, (*VALUES, *NAMESPACES))
        }
        code_digest = digest(code, function.__doc__)
        return {"function": function.__qualname__, "code": code_digest, **_digest(text), "names": description}

    def code(self, kind: type, depth: int) -> dict[str, Any]:
        """The functions of a user's class, and of its bases if they are the user's too."""
        if not self._deep or id(kind) in self._seen or not depth:
            return {}
        self._seen[id(kind)] = kind
        members = _members(kind)
        functions = {name: each for name, each in members.items() if isinstance(each, FunctionType)}
        values = {name: each for name, each in members.items() if isinstance(each, VALUES) and name[:2] != "__"}
        description = {
            "methods": {name: self._function(each, depth - 1) for name, each in functions.items()},
            "values": {name: self.of(each, depth - 1) for name, each in values.items()},
        }
        return {what: found for what, found in description.items() if found}

    def _object(self, value: Any, depth: int) -> dict[str, Any]:
        description, whole = {}, _is_of_user(value)
        for name, item in _attribute_items(value):
            of_user = isinstance(item, ARRAYS) or name in OF_MODULES or (whole and _is_described(item))
            if not name.startswith("_") or of_user:
                description[name] = self.of(item, depth - 1)
        return {"class": type(value).__qualname__, **description, **self.code(type(value), depth)}


def _number_as_json(value: Any) -> Any:
    """A number as Python's; as text where JSON does not have it: NaN, complex."""
    number = value.item() if isinstance(value, np.generic) else value
    return number if number == number and isinstance(number, (bool, int, float, str)) else str(number)


def _named_values(function: FunctionType, text: ast.AST | None) -> dict[str, Any]:
    """The values that a function's code names: globals, what it closes over, defaults, attributes of user's modules.

    `text`: the code without what it prints and logs; names that only occur there are left out.
    """
    code = function.__code__
    names = [*_global_names(code)]
    if text is not None:
        read = _names_of_text(text)
        names = [name for name in names if name in read]
    named = {name: function.__globals__.get(name) for name in names}
    named |= dict(zip(code.co_freevars, map(_cell, function.__closure__ or ()), strict=True))
    named |= {f"argument {k}": each for k, each in enumerate(function.__defaults__ or ())}
    named |= function.__kwdefaults__ or {}
    for name, module in [*named.items()]:
        if isinstance(module, ModuleType) and _is_users(module.__name__):
            named |= {f"{name}.{each}": vars(module)[each] for each in names if each in vars(module)}
    return named


def _members(kind: type) -> dict[str, Any]:
    """What a class and its bases that are the user's define; of methods and properties the function."""
    found: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        if _is_users(base.__module__):
            for name, each in vars(base).items():
                function = getattr(each, "__func__", each)
                found[name] = function.fget if isinstance(function, property) else function
    return found


def code_of(kind: type) -> dict[str, Any]:
    """The code of a user's class; nothing of an installed one."""
    return _Plain(deep=True).code(kind, DEPTH)


def digest(code: CodeType, doc: str | None = None) -> str:
    """A digest of what a function does, whatever its place and its docstring."""
    known = hashlib.sha256(code.co_code)
    for each in code.co_consts:
        if isinstance(each, CodeType):
            known.update(digest(each).encode())
        elif each is None or each != doc:
            known.update(repr(sorted(map(repr, each)) if isinstance(each, frozenset) else each).encode())
    known.update(repr((code.co_names, code.co_freevars)).encode())
    return known.hexdigest()[:16]


def _digest(text: ast.AST | None) -> dict[str, str]:
    return {} if text is None else {"text": hashlib.sha256(ast.dump(text).encode()).hexdigest()[:16]}


def _without_output(code: CodeType, names: Mapping[str, Any]) -> ast.FunctionDef | None:
    """A function's text without its docstring and what it prints and logs; None where there is no text.

    `names`: the function's globals.
    """
    try:
        found = ast.parse(textwrap.dedent(inspect.getsource(code))).body[0]
    except (OSError, SyntaxError, IndexError, TypeError):
        return None
    if not isinstance(found, ast.FunctionDef) or found.name != code.co_name:
        return None  # the text of a lambda is the statement that it stands in
    found.decorator_list = []  # these are functions of their own; the digest is of this one
    return _WithoutOutput(names).visit(found)


class _WithoutOutput(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, Any]):
        self._names = names

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        return ast.Pass() if isinstance(node.value, ast.Constant) or self._is_output(node.value) else node

    def _is_output(self, value: ast.expr) -> bool:
        if not isinstance(value, ast.Call):
            return False
        root: ast.expr = value.func
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name):
            return False
        found = self._names.get(root.id, getattr(builtins, root.id, None))
        return found in (print, logging, warnings) or isinstance(found, logging.Logger)


def _names_of_text(text: ast.AST) -> frozenset[str]:
    nodes = [*ast.walk(text)]
    variables = {node.id for node in nodes if isinstance(node, ast.Name)}
    return frozenset(variables | {node.attr for node in nodes if isinstance(node, ast.Attribute)})


def config_of(value: Any) -> Any:
    """The config of an object; empty where it has none."""
    try:
        return getattr(value, "own_config", None) or value.get_config()
    except (NotImplementedError, TypeError, ValueError):  # a class of the user without a config
        return {}


def _global_names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _global_names(each)


def _cell(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # it is empty yet
        return None


def _attribute_items(value: Any) -> list[tuple[str, Any]]:
    slots = [name for base in type(value).__mro__ for name in getattr(base, "__slots__", ()) if hasattr(value, name)]
    return [*attributes_of(value).items(), *((name, getattr(value, name)) for name in slots)]


def _is_users(module: str) -> bool:
    """Whether a module is the user's own: neither installed nor of Python's library."""
    root = module.partition(".")[0]
    if root in sys.stdlib_module_names and root != "__main__":
        return False
    file = getattr(sys.modules.get(module), "__file__", None) or ""
    return root != __name__.partition(".")[0] and "site-packages" not in file and "dist-packages" not in file


def _is_of_user(value: Any) -> bool:
    return _is_users(type(value).__module__)


def _is_code(value: Any) -> bool:
    """Whether this is a function or class of the user's, or an object of such a class, other than a network."""
    if isinstance(value, (FunctionType, type)):
        return _is_users(value.__module__)
    if isinstance(value, partial):
        return True
    if isinstance(value, MethodType):
        return _is_code(value.__func__)
    return _is_of_user(value) and not isinstance(value, (torch.nn.Module, ModuleType))


def _is_described(value: Any) -> bool:
    return _is_code(value) or isinstance(value, VALUES)


def _name(value: Any) -> str:
    return getattr(value, "__qualname__", type(value).__qualname__)
