"""The code of a user's layer, or the function of a Lambda, while it runs.

Such code runs at each call. A layer or module that it makes has new weights each time, which no optimizer trains and no
file stores. This is an error.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn
from torch.nn.modules.module import register_module_parameter_registration_hook

from torchkeras.base.extensions import replaceable
from torchkeras.base.tracing import is_compiling

if TYPE_CHECKING:
    from torchkeras.engine.layer.layer import Layer

PATHS = "_made_by_code"  # an attribute of a layer: the ids of the modules that its code has made, by their paths


class _Code(threading.local):
    """`owner`: the layer whose code runs; None outside of such code, and while a layer makes its weights.

    `outermost`: stands for the outermost call of such code; None outside of one. `made`: what this code has made that
    has weights. `numpys`: while a symbolic call finds the shape of the output, the state of NumPy's random numbers
    before the code ran.
    """

    def __init__(self) -> None:
        self.owner: Any = None
        self.outermost: object | None = None
        self.made: tuple[Any, ...] = ()
        self.numpys: Any = None


CODE = _Code()


class _Hook:
    """`handle`: of the hook that torch calls for each new parameter, registered when the first user's code runs.

    It stays registered: all threads share torch's global hooks, and one thread must not change them while another
    iterates over them.
    """

    handle: Any = None


_HOOK = _Hook()


def is_users_layer(layer: Layer) -> bool:
    """Whether the class of a layer is not the package's own."""
    return layer._is_users


def numpys_place() -> Any:
    """The state of NumPy's global random numbers, in a few numbers."""
    _, words, position, has_next, following = np.random.get_state()  # noqa: NPY002 - the stream that scripts draw from
    return int(words[0]), position, has_next, following


def draws() -> bool:
    """Whether the running code has drawn random numbers from NumPy; known only in a symbolic call."""
    return CODE.owner is not None and CODE.numpys is not None and CODE.numpys != numpys_place()


def run(owner: Any, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function that is, or calls, the code of the layer `owner`.

    Raises ValueError for a module that the code makes at each call and does not store in the layer.
    """
    if is_compiling():
        return function(*args, **kwargs)
    if _HOOK.handle is None:
        _HOOK.handle = register_module_parameter_registration_hook(_note_module)
    before = CODE.owner, CODE.outermost, CODE.made, CODE.numpys
    CODE.outermost = CODE.outermost or object()
    CODE.owner, CODE.made = owner, ()
    CODE.numpys = numpys_place() if torch._C._len_torch_dispatch_stack() else None
    try:
        found = function(*args, **kwargs)
        if CODE.made:
            Made.check(owner, list(CODE.made))
        return found
    finally:
        CODE.owner, CODE.outermost, CODE.made, CODE.numpys = before


def note(made: Any) -> None:
    """Note something with weights that the running code has made."""
    if CODE.owner is not None:
        CODE.made = (*CODE.made, made)


@replaceable("note", "check")
class Made:
    """What to do with layers and modules that code has made; for old scripts an annex replaces both functions.

    `note`: called for a layer that the running code has built, and so may have made. `check`: called with everything
    noted, when the code has run.
    """

    note: Callable[[Any], None]
    check: Callable[[Any, list[Any]], None]


def check(owner: Any, made: list[Any]) -> None:
    """Raise ValueError for a module that is no part of the layer, or that replaces one that the code made before."""
    paths = {id(module): path for path, module in owner.named_modules()}
    known = vars(owner).setdefault(PATHS, {})
    for each in made:
        path = paths.get(id(each))
        if path is None or _has_no_values(each) or known.setdefault(path, id(each)) != id(each):
            name = getattr(each, "name", None)
            what = f"{type(each).__name__} {name!r}" if isinstance(name, str) else f"the module {type(each).__name__}"
            raise ValueError(
                f"{type(owner).__name__} {owner.name!r}: its code makes {what} in a call, so that each call has other "
                "weights, which nothing trains and no file has. Make it once and use it in the call: in __init__ of a "
                f"layer of your own, as self.inside = {type(each).__name__}(...); or call it on the symbolic tensor, "
                "as a layer of the graph."
            )


def _has_no_values(made: nn.Module) -> bool:
    """Whether a module was made on `meta`, while a symbolic call finds the shape of the output."""
    return torch._C._len_torch_dispatch_stack() > 0 and any(parameter.is_meta for parameter in made.parameters())


Made.note, Made.check = staticmethod(note), staticmethod(check)


def _note_module(module: nn.Module, name: str, parameter: nn.Parameter | None) -> None:
    # A layer notes itself when it is built. torch calls this for each parameter: a module with several comes in a row.
    if CODE.owner is not None and not hasattr(module, "_call_nodes") and not (CODE.made and CODE.made[-1] is module):
        note(module)
