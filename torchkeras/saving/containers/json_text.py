"""JSON from a file, and for one, within limits.

It may have `NaN`, `Infinity` and `-Infinity`, as Keras writes for layers such as `ReLU(max_value=inf)`.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

from torchkeras.base.python import leave_room
from torchkeras.errors import FileLimitError, UnreadableFileError
from torchkeras.saving.containers.limits import LIMITS, Limits

_NO_BRACKETS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[^\[\]{}"]+', re.DOTALL)
_HALF_A_PAIR = re.compile(r"\\u[dD][89a-fA-F]")


def written(value: Any, where: str, limits: Limits = LIMITS) -> str:
    """A value as JSON for a file. Raises FileLimitError for a text longer than is read."""
    text = json.dumps(value)
    _check_length(text, where, limits)
    return text


def _check_length(text: str | bytes, where: str, limits: Limits) -> None:
    if len(text) > limits.json:
        raise FileLimitError(f"{where} has {len(text)} bytes; at most {limits.json} are read.")


def parse(text: str | bytes, where: str, limits: Limits = LIMITS) -> Any:
    """The value of a JSON text. `where`: what the text is, for errors: "m.h5: attribute 'config'".

    Raises UnreadableFileError for a text that is not JSON, FileLimitError for one that is too long or too deep.
    """
    _check_length(text, where, limits)
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError as error:
            raise UnreadableFileError(f"{where} is not UTF-8 ({error}).") from error
    _check_depth(text, where, limits)

    def integer(digits: str) -> int:
        return int(short(digits))

    def short(digits: str) -> str:
        if len(digits) > limits.digits:
            raise FileLimitError(f"{where} holds a number of {len(digits)} digits; at most {limits.digits} are read.")
        return digits

    def real(digits: str) -> float:
        value = float(short(digits))
        if math.isinf(value):
            raise UnreadableFileError(f"{where} holds {digits}, which is over the largest number.")
        return value

    def mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found:
                raise UnreadableFileError(f"{where} has the key {key[:100]!r} twice in one object.")
            found[key] = value
        return found

    try:
        value = json.loads(text, parse_int=integer, parse_float=real, object_pairs_hook=mapping)
        if _HALF_A_PAIR.search(text):
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        raise UnreadableFileError(f"{where} holds half a surrogate pair, which is no character.") from error
    except json.JSONDecodeError as error:
        raise UnreadableFileError(f"{where} is not JSON ({error}).") from error
    return value


def _check_depth(text: str, where: str, limits: Limits) -> None:
    depth = most = 0
    for bracket in _NO_BRACKETS.sub("", text):
        depth += 1 if bracket in "[{" else -1
        if depth > limits.json_depth:
            raise FileLimitError(f"{where} is nested deeper than {limits.json_depth} levels.")
        most = max(most, depth)
    leave_room(most)
