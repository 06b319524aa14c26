"""Functions of a config, stored as bytecode, read as formulas. Nothing of them is run."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from keyword import iskeyword
from typing import Any

from torchkeras.keras2.lambdas.expression import STEP, TRAINING, Argument, Call, made
from torchkeras.keras2.lambdas.formula import Formula
from torchkeras.keras2.lambdas.interpreter import Interpreter
from torchkeras.keras2.lambdas.limits import INPUTS, Budget, Refused, weigh
from torchkeras.keras2.lambdas.marshalled import Code, parse
from torchkeras.keras2.lambdas.values import Cell, Function, frozen, is_known

# How many arguments the layer gives to each of its functions; the others are settled.
GIVEN: Mapping[str, int] = {"function": 1, "mode": 1, "output_shape": 1, "mask": 2, "output_mask": 1}
CALLED = ("function", "mode")  # options whose function also gets the config's `arguments`, the mask and `training`
MASK = "mask"


def formula_of(
    option: str,
    config: Mapping[str, Any],
    given: Mapping[str, Any],
    inputs: int | None = None,
    version: str | None = None,
) -> Formula:
    """The function that a layer's config has as bytecode.

    `given`: the user's values for names that the function takes from its module. `inputs`: how many tensors the layer
    is called on, if that is known: a function that goes through a list of so many can then be read. `version`: of the
    Keras that wrote the config, which tells what some of TensorFlow's names mean. Raises Refused for a function with
    anything that is not on the list.
    """
    try:
        return _read(option, config, given, 1, version)
    except Refused:
        if inputs is None or not 1 < inputs <= INPUTS:
            raise
    return _read(option, config, given, inputs, version)


def _read(
    option: str, config: Mapping[str, Any], given: Mapping[str, Any], inputs: int, version: str | None
) -> Formula:
    stored = config.get(option)
    newer = isinstance(stored, Mapping) or "module" in config  # of TensorFlow 2
    function = stored_function(stored)
    keywords = _arguments(config) if option in CALLED else {}
    names = _parameters(function.code, GIVEN[option])
    if option in CALLED:
        others = function.code.variables[len(names) : function.code.arguments + function.code.keyword_only]
        passed = (MASK, TRAINING) if newer else (MASK,)
        keywords |= {name: made(Argument, name) for name in passed if name in {*others} - keywords.keys()}
    interpreter = Interpreter(given, newer, tensorflow_of(version))
    interpreter.taken |= {*names, MASK, TRAINING}
    values: list[Any] = [made(Argument, name) for name in names]
    if inputs > 1:
        values[0] = [made(Call, "unpacked", (values[0], inputs, place)) for place in range(inputs)]
    result = frozen(interpreter.call(function, values, keywords))
    weigh(result, Budget())
    parameters = (*names, MASK) if isinstance(keywords.get(MASK), STEP) else names
    return Formula(str(config.get("name") or option), parameters, result, interpreter.own)


def _arguments(config: Mapping[str, Any]) -> dict[str, Any]:
    """The values that a layer's config passes to its function by name."""
    arguments = _plain(config.get("arguments") or {})
    if not isinstance(arguments, dict) or not all(isinstance(key, str) for key in arguments):
        raise Refused("arguments that are not a dictionary")
    return dict(arguments)


def tensorflow_of(version: str | None) -> int | None:
    """Which TensorFlow a version of Keras ran on, 1 or 2; None where it may have been both."""
    found = re.match(r"(\d+)\.(\d+)", version or "")
    if found is None:
        return None
    numbers, of_tensorflow = tuple(map(int, found.groups())), str(version).endswith("-tf")
    if numbers < (2, 3) and not of_tensorflow:
        return 1
    return 2 if numbers > (2, 3) or (of_tensorflow and numbers == (2, 3)) else None


def _parameters(code: Code, count: int) -> tuple[str, ...]:
    own = code.variables[: min(code.arguments, count)]
    if len(set(own)) < len(own) or not all(name.isidentifier() and not iskeyword(name) for name in own):
        raise Refused("arguments without names of their own")
    return (*own, *(f"input_{place + 1}" for place in range(len(own), count)))


def stored_function(value: Any) -> Function:
    """The function in one of the forms in which Kerases store one. Raises Refused for another form."""
    text, defaults, closure = _stored_parts(value)
    code = _code(text)
    for each in (defaults, closure):
        if not isinstance(each, (list, tuple, type(None))):
            raise Refused("defaults or shared variables that are not a list")
    cells = tuple(Cell(name, part) for name, part in zip(code.free, _plain(list(closure or ())), strict=False))
    return Function(code, tuple(_plain(list(defaults or ()))), {}, cells)


def _stored_parts(value: Any) -> tuple[Any, ...]:
    """The code, the defaults and the shared variables of a stored function, None for what it does not have."""
    if isinstance(value, Mapping):  # Keras 3
        inner = value.get("config")
        value = [inner.get(key) for key in ("code", "defaults", "closure")] if isinstance(inner, Mapping) else [None]
    if isinstance(value, (str, bytes)):
        value = [value]
    if not isinstance(value, (list, tuple)) or not 1 <= len(value) <= 3:
        raise Refused("a function in another form than Keras's")
    return (*value, None, None)[:3]


def _code(text: Any) -> Code:
    data = text
    if isinstance(text, str):
        try:
            return parse(base64.b64decode("".join(text.split()).encode("ascii"), validate=True))
        except (binascii.Error, UnicodeEncodeError):
            data = text.encode("raw_unicode_escape")  # as Keras 1 and the first versions of 2 wrote it
    if not isinstance(data, bytes):
        raise Refused("a function without its code")
    return parse(data)


def _plain(value: Any, depth: int = 0) -> Any:
    """Data of the config as values: an array as a list. Raises Refused for anything else."""
    weigh(value, Budget())
    if isinstance(value, Mapping):
        return _plain_mapping(value)
    if isinstance(value, (list, tuple)):
        return type(value)(_plain(part) for part in value)
    if not is_known(value):
        raise Refused(f"a value of type {type(value).__name__}")
    return value


def _plain_mapping(value: Mapping[Any, Any]) -> Any:
    if value.get("type") == "ndarray" and "value" in value:
        return _plain(value["value"])
    if value.get("class_name") == "__tuple__" and isinstance(value.get("items"), Sequence):
        return tuple(_plain(part) for part in value["items"])
    return {str(key): _plain(part) for key, part in value.items()}
