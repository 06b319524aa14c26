"""Python's operators and functions of numbers, on what a formula may hold: within limits, and never by a method of it.

Tensors, and the sizes of tensors of which an exporter makes symbols, are handed to torch.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from torchkeras.keras2.backend.sizes import Shape
from torchkeras.keras2.lambdas.limits import LENGTH, NUMBER

SEQUENCES = (tuple, list)
PLAIN = (int, float, str, type(None), tuple, list, slice, type(Ellipsis))


def _known(*values: Any) -> bool:
    return all(isinstance(value, PLAIN) for value in values)


def _limited(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """An operator of two values, whose result may not be beyond the limits."""

    def apply(x: Any, y: Any) -> Any:
        if isinstance(x, Shape) or isinstance(y, Shape):
            return _by_size(apply, x, y)
        if isinstance(x, Tensor) and isinstance(y, SEQUENCES):
            y = _like(y, x)
        elif isinstance(y, Tensor) and isinstance(x, SEQUENCES):
            x = _like(x, y)
        result = function(x, y)
        if isinstance(result, int) and abs(result) >= NUMBER:
            raise ValueError(f"a whole number beyond {NUMBER}")
        if isinstance(result, complex):
            raise ValueError("a complex number")
        return result

    return apply


def _by_size(function: Callable[[Any, Any], Any], x: Any, y: Any) -> Shape:
    """An operator of two values, one of which is a shape at least, for each of its sizes."""
    count = len(x if isinstance(x, Shape) else y)
    parts = (list(each) if isinstance(each, SEQUENCES) else [each] * count for each in (x, y))
    return Shape(function(*both) for both in zip(*parts, strict=True))


def _like(values: Any, like: Tensor) -> Tensor:
    """Numbers as a tensor of the type of another."""
    return torch.tensor(values, dtype=like.dtype, device=like.device)


def _add(x: Any, y: Any) -> Any:
    added: Any = x
    if _known(x, y) and isinstance(x, (str, *SEQUENCES)) and isinstance(y, (str, *SEQUENCES)):
        if len(x) + len(y) > LENGTH:
            raise ValueError(f"a sequence of over {LENGTH}")
        if isinstance(x, list) != isinstance(y, list) and not isinstance(x, str) and not isinstance(y, str):
            return tuple(x) + tuple(y)  # JSON made a list of a tuple
    return added + y


def _multiply(x: Any, y: Any) -> Any:
    for sequence, count in ((x, y), (y, x)):
        if isinstance(sequence, (str, *SEQUENCES)):
            if not isinstance(count, int) or len(sequence) * max(count, 1) > LENGTH:
                raise ValueError(f"a sequence of over {LENGTH}, or not repeated by a whole number")
            return sequence * count
    return x * y


def _power(x: Any, y: Any) -> Any:
    if isinstance(x, int) and isinstance(y, int) and y > 64 and abs(x) > 1:
        raise ValueError(f"a whole number beyond {NUMBER}")
    return x**y


def _modulo(x: Any, y: Any) -> Any:
    if isinstance(x, str):
        raise TypeError("a text is not formatted")
    return torch.remainder(x, y) if isinstance(x, Tensor) else x % y


def _shifted(x: Any, y: Any) -> Any:
    if isinstance(y, int) and y > 64:
        raise ValueError(f"a whole number beyond {NUMBER}")
    return x << y


def _old_divide(x: Any, y: Any) -> Any:
    """Python 2's: whole numbers give a whole number."""
    whole = all(not each.is_floating_point() if isinstance(each, Tensor) else isinstance(each, int) for each in (x, y))
    return x // y if whole else x / y


def _same_object(x: Any, y: Any) -> Any:
    if isinstance(x, Tensor) or isinstance(y, Tensor):
        raise TypeError("TensorFlow 1 compares tensors by == as objects, not as numbers; K.equal compares numbers")
    return x == y


def _is(x: Any, y: Any) -> bool:
    constants = (None, True, False, Ellipsis)
    return any(x is each and y is each for each in constants)


def _contains(x: Any, items: Any) -> bool:
    if isinstance(items, str):
        return isinstance(x, str) and x in items
    if not isinstance(items, (*SEQUENCES, dict)) or isinstance(x, Tensor):
        raise TypeError("`in` asks for a known value in a known list")
    return any(each is x or (_known(each, x) and each == x) for each in items)


def _not(x: Any) -> bool:
    return not truth(x)


def truth(value: Any) -> bool:
    """Whether a condition holds. Raises TypeError for a tensor."""
    if isinstance(value, Tensor):
        raise TypeError("a branch by the values of a tensor")
    return bool(value)


def item(x: Any, key: Any) -> Any:
    """x[key], with TensorFlow's rules for a tensor: a negative step turns an axis."""
    if not isinstance(x, Tensor):
        return x[key]
    keys = key if isinstance(key, tuple) else (key,)
    if any(isinstance(each, (list, dict, str, float)) for each in keys):
        raise TypeError("a tensor is indexed by whole numbers and slices")
    if any(isinstance(each, Tensor) and (each.dtype is torch.bool or each.dim()) for each in keys):
        raise TypeError("TensorFlow 1 does not index by a tensor")
    return _turned(x, keys) if any(map(_goes_back, keys)) else x[keys]


def _goes_back(key: Any) -> bool:
    return isinstance(key, slice) and isinstance(key.step, int) and key.step < 0


def _turned(x: Tensor, keys: Sequence[Any]) -> Tensor:
    """Torch has no negative steps: the axis is turned, then taken forwards."""
    named = sum(key is not None and key is not Ellipsis for key in keys)
    axis, forward = 0, []
    for key in keys:
        if key is Ellipsis:
            axis += x.dim() - named
        elif key is not None:
            if _goes_back(key):
                start, stop, step = key.indices(x.shape[axis])
                x = x.flip(axis)
                last = x.shape[axis] - 1
                key = slice(last - start, last - stop if stop >= 0 else None, -step)
            axis += 1
        forward.append(key)
    return x[tuple(forward)]


def unpacked(x: Any, count: int, place: int) -> Any:
    """The value at a place of a list that must have this many."""
    if not isinstance(x, (*SEQUENCES, torch.Size)):
        raise TypeError(f"{type(x).__name__} is not a list that can be taken apart")
    if len(x) != count:
        raise ValueError(f"{len(x)} values, of which {count} are to be taken")
    return x[place]


def replaced(items: Sequence[Any], key: int, value: Any) -> list[Any]:
    """A list with another value at a place."""
    found = list(items)
    found[key] = value
    return found


def fail(text: str = "it raises an error") -> Any:
    """What a branch does that raises an error. Raises ValueError."""
    raise ValueError(text)


def _is_instance(x: Any, classes: Sequence[str]) -> bool:
    kinds = {"list": list, "tuple": tuple, "int": int, "float": float, "str": str, "bool": bool}
    return isinstance(x, tuple(kinds[name] for name in classes))


def _length(x: Any) -> int:
    return int(x.shape[0]) if isinstance(x, Tensor) else len(x)


def _added(values: Any, start: Any = 0) -> Any:
    for value in values:
        start = _add(start, value)
    return start


def _integer(x: Any = 0) -> int:
    if not isinstance(x, (int, float)) and not isinstance(x, torch.SymInt):
        raise TypeError(f"int of {type(x).__name__}")
    return int(x)


def _real(x: Any = 0.0) -> float:
    if isinstance(x, str):
        return float(x[:50])
    if not isinstance(x, (int, float, torch.SymInt)):
        raise TypeError(f"float of {type(x).__name__}")
    return float(x)


def _numbers(*values: Any) -> Sequence[Any]:
    found = values[0] if len(values) == 1 and isinstance(values[0], (*SEQUENCES, torch.Size)) else values
    if any(isinstance(each, Tensor) for each in found):
        raise TypeError("it is a function of known numbers, not of tensors")
    return found


def _range(*ends: Any) -> tuple[int, ...]:
    found = range(*ends)
    if len(found) > LENGTH:
        raise ValueError(f"a range of {len(found)}")
    return tuple(found)


def _rounded(x: Any, digits: Any = None) -> Any:
    return round(*_numbers(x, digits)) if digits is not None else round(_numbers(x)[0])


def _text(x: Any) -> str:
    if not isinstance(x, (str, int, float, bool, type(None))):
        raise TypeError(f"str of {type(x).__name__}")
    return str(x)


def _product(x: Any, axis: None = None) -> Any:
    result: Any = 1
    for each in _numbers(x):
        result = _LIMITED_MULTIPLY(result, each)
    return result


def _magnitude(x: Any) -> Any:
    return abs(x)


_LIMITED_MULTIPLY = _limited(_multiply)

# Python's operators, by the sign that a formula prints.
OPERATORS: Mapping[str, Callable[..., Any]] = {
    "+": _limited(_add),
    "-": _limited(operator.sub),
    "*": _LIMITED_MULTIPLY,
    "/": _limited(operator.truediv),
    "old /": _limited(_old_divide),
    "//": _limited(operator.floordiv),
    "%": _limited(_modulo),
    "**": _limited(_power),
    "@": operator.matmul,
    "<<": _limited(_shifted),
    ">>": operator.rshift,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<": _limited(operator.lt),
    "<=": _limited(operator.le),
    ">": _limited(operator.gt),
    ">=": _limited(operator.ge),
    "==": operator.eq,
    "!=": operator.ne,
    "old ==": _same_object,
    "old !=": lambda x, y: not _same_object(x, y),
    "is": _is,
    "is not": lambda x, y: not _is(x, y),
    "in": _contains,
    "not in": lambda x, items: not _contains(x, items),
    "not": _not,
    "negative": operator.neg,
    "positive": operator.pos,
    "~": operator.invert,
    "[]": item,
    "unpacked": unpacked,
    "isinstance": _is_instance,
    "replaced": replaced,
}

BUILTINS: Mapping[str, Callable[..., Any]] = {
    "abs": _magnitude,
    "bool": truth,
    "enumerate": lambda x, start=0: tuple(enumerate(x, start)),
    "float": _real,
    "int": _integer,
    "len": _length,
    "list": lambda x=(): list(x),
    "max": lambda *x: max(_numbers(*x)),
    "min": lambda *x: min(_numbers(*x)),
    "range": _range,
    "reversed": lambda x: tuple(reversed(x)),
    "round": _rounded,
    "slice": lambda *ends: slice(*ends),
    "sorted": lambda x: sorted(_numbers(x)),
    "str": _text,
    "sum": _added,
    "tuple": lambda x=(): tuple(x),
    "xrange": _range,
    "zip": lambda *x: tuple(zip(*x, strict=False)),
}


def _of_a_number(name: str) -> Callable[[Any], Any]:
    function = getattr(math, name)
    return lambda x: function(*_numbers(x, 0)[:1])


_MATH = ("sqrt", "log", "log2", "log10", "exp", "sin", "cos", "tan", "floor", "ceil")
NUMPY: Mapping[str, Callable[..., Any]] = {
    **{name: _of_a_number(name) for name in _MATH},
    "abs": lambda x: abs(*_numbers(x, 0)[:1]),
    "floor": lambda x: float(_of_a_number("floor")(x)),
    "ceil": lambda x: float(_of_a_number("ceil")(x)),
    "power": lambda x, y: OPERATORS["**"](*_numbers(x, y)),
    "prod": _product,
    "sum": lambda x, axis=None: _added(_numbers(x)),
    "mean": lambda x, axis=None: _added(_numbers(x)) / len(_numbers(x)),
    "maximum": lambda x, y: max(_numbers(x, y)),
    "minimum": lambda x, y: min(_numbers(x, y)),
    "round": lambda x: round(_numbers(x, 0)[0], 0),
    **dict.fromkeys(("float32", "float64", "float16"), _real),
    **dict.fromkeys(("int32", "int64", "int"), _integer),
}
MATH: Mapping[str, Callable[..., Any]] = {
    **{name: _of_a_number(name) for name in _MATH},
    "pow": lambda x, y: float(OPERATORS["**"](*_numbers(x, y))),
}
CONSTANTS: Mapping[str, Any] = {
    **{f"{module}.{name}": getattr(math, name) for module in ("np", "math") for name in ("pi", "e", "inf")},
    "np.newaxis": None,
    "tf.newaxis": None,
    "tf.image.ResizeMethod.BILINEAR": 0,
    "tf.image.ResizeMethod.NEAREST_NEIGHBOR": 1,
}
