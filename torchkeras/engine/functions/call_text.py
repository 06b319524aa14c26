"""The call of a function as Python code: for the comments of a generated `forward`, and for ejected code."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Any

from torchkeras.engine.functions.function_arguments import inputs_in
from torchkeras.tensor_functions.torch_functions import BACKEND, PROPERTIES

INFIX = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "matmul": "@"}
INFIX |= {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=", "and": "&", "or": "|", "xor": "^"}
INFIX |= {"lshift": "<<", "rshift": ">>"}
PREFIX = {"neg": "-", "invert": "~"}
# The operators, with their numbers of operands.
OPERATIONS = {*((name, 2) for name in (*INFIX, "getitem")), *((name, 1) for name in PREFIX)}
PLAIN = (bool, int, float, str, type(None))
SIMPLE = re.compile(r"[ !#-\[\]-~]*")  # texts of printable ASCII without double quotes and backslashes


def line(function: str, arguments: Any, keywords: Mapping[str, Any]) -> str:
    """The call as Python code, with `{0}`, `{1}` for the inputs: `torch.cat([{0}, {1}], 1)`.

    `{constant_0}`, `{parameter_1}` stand for the layer's constants and parameters.
    """
    texts = list(map(_text, arguments))
    if (function, len(texts)) in OPERATIONS:
        return _operation(function, arguments, texts)
    texts += [f"{key}={_text(value)}" for key, value in keywords.items()]
    place, _, name = function.rpartition(".")
    if place != "torch.Tensor":
        shown = {"": name, "torch.nn.functional": f"F.{name}", BACKEND: f"K.{name}"}.get(place, function)
        return f"{shown}({', '.join(texts)})"
    tensor, *others = texts
    if name in PROPERTIES:
        return f"{_operand(tensor)}.{name}"
    return f"{_operand(tensor)}.{name}({', '.join(others)})"


def _operation(function: str, arguments: Sequence[Any], texts: list[str]) -> str:
    """A call that Python has an operator for: `a + b`, `-a`, `a[0, :]`."""
    if function in PREFIX:
        return f"{PREFIX[function]}{texts[0]}"
    if function in INFIX:
        left, right = map(_side, texts, arguments)
        return f"{left} {INFIX[function]} {right}"
    index = arguments[1]
    parts = index if isinstance(index, (list, tuple)) else [index]
    return f"{texts[0]}[{', '.join(map(_text, parts))}]"


def literal(value: Any) -> str:
    """One of the `PLAIN` values as Python code, also where its own `repr` is none: NumPy's float64, an IntEnum."""
    kind: Any = next(kind for kind in PLAIN if isinstance(value, kind))
    text = kind.__repr__(value)
    if isinstance(value, float) and not isfinite(value):
        return f'float("{text}")'
    if isinstance(value, str) and SIMPLE.fullmatch(value):
        return f'"{text[1:-1]}"'
    return text


def _side(text: str, argument: Any) -> str:
    """The text of an argument as one side of an operator."""
    return f"({text})" if _is_compound(argument) else _operand(text)


def _operand(text: str) -> str:
    return f"({text})" if text.startswith("-") else text


def _text(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        inside = ", ".join(map(_text, value))
        if inputs_in(value):
            return f"[{inside}]"
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if not isinstance(value, Mapping):
        return literal(value).replace("{", "{{").replace("}", "}}")
    (kind, what), *_ = value.items()
    return ENTRIES[kind](what)


def _complex_text(parts: Any) -> str:
    return repr(complex(*parts))


def _slice_text(parts: Any) -> str:
    texts = ["" if part is None else _text(part) for part in parts]
    return ":".join(texts).removesuffix(":")  # `1:2` for a slice without a step


def _permuted_text(form: Any) -> str:
    return f"{_text(form[0])}.permute({', '.join(map(str, form[1]))})"


def _size_text(form: Any) -> str:
    """The size of an axis of an input, `{0}.shape[1]`, or an operation on two sizes."""
    first, *others = form
    if not isinstance(first, str):
        return f"{{{first}}}.shape[{others[0]}]"
    return f" {first} ".join(f"({_text(part)})" if _is_compound(part) else _text(part) for part in others)


def _is_compound(size: Any) -> bool:
    return isinstance(size, Mapping) and "size" in size and isinstance(size["size"][0], str)


# The text of an entry, by its key (see `function_arguments`).
ENTRIES: Mapping[str, Callable[[Any], str]] = {
    "input": "{{{}}}".format,
    "constant": "{{constant_{}}}".format,
    "parameter": "{{parameter_{}}}".format,
    "expression": "{{expression_{}}}".format,
    "dtype": "torch.{}".format,
    "memory_format": "torch.{}".format,
    "slice": _slice_text,
    "size": _size_text,
    "permuted": _permuted_text,
    "ellipsis": lambda what: "...",
    "array": lambda what: "array",
    "complex": _complex_text,
}
