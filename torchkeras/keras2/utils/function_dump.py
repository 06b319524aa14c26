"""`func_dump` and `func_load`: a function as text, and back within one process.

Keras wrote functions into files as marshalled bytecode. Loading such a text runs whatever code it holds, so `func_load`
never reads it. It takes only texts that `func_dump` of the same process made, or that a function of this process would
be as Keras wrote it before 2.1.2, and gives the code that this function has.
"""

from __future__ import annotations

import codecs
import gc
import marshal
from collections.abc import Callable
from types import CellType, CodeType, FunctionType
from typing import Any

from torchkeras.errors import ForbiddenContentError

_dumped: dict[str, CodeType] = {}


def func_dump(func: Callable[..., Any]) -> tuple[str, Any, Any]:
    """`(code, defaults, closure)` of a function written in Python; `code` is text.

    Example:
        >>> code, defaults, closure = func_dump(lambda x, times=2: times * x)
        >>> defaults
        (2,)
    """
    found: Any = func
    code = codecs.encode(marshal.dumps(found.__code__), "base64").decode("ascii")
    _dumped[code] = found.__code__
    cells = found.__closure__
    return code, found.__defaults__, tuple(cell.cell_contents for cell in cells) if cells else None


def func_load(code: Any, defaults: Any = None, closure: Any = None, globs: dict[str, Any] | None = None) -> Any:
    """The function that `func_dump` took apart.

    Arguments:
        code (text, or a list or tuple of three): the code, or all that `func_dump` returned.
        defaults (tuple or None, default None): the defaults of its last arguments.
        closure (tuple or None, default None): the values of the variables that it takes from around it, or their cells.
        globs (dict or None, default None): the names that it sees as global; None gives only Python's own.

    Errors:
        ForbiddenContentError: the code was not dumped by this process, and no function of it has this code.

    Example:
        >>> func_load(func_dump(lambda x, times=2: times * x))(3)
        6
    """
    if isinstance(code, (tuple, list)):
        code, defaults, closure = code
    found = _dumped.get(code) or _code_of_a_function(code)
    if found is None:
        raise ForbiddenContentError(
            "func_load: the function is stored as Python bytecode, which is never run; only what func_dump made in "
            "this process is loaded. Pass the function itself, as custom_objects do."
        )
    cells = (
        None if closure is None else tuple(each if isinstance(each, CellType) else CellType(each) for each in closure)
    )
    return FunctionType(found, {} if globs is None else globs, found.co_name, tuple(defaults or ()) or None, cells)


def _code_of_a_function(text: str) -> CodeType | None:
    """The code of a function that this process has, from its bytecode in the form of Keras before 2.1.2."""
    functions = [each for each in gc.get_objects() if type(each) is FunctionType]
    named = [each.__code__ for each in functions if each.__code__.co_name in text]
    dumped = text.encode("raw_unicode_escape")
    return next((code for code in named if marshal.dumps(code) == dumped), None)
