"""The code of a user's layer, or the function of a Lambda, while it runs.

Such code runs at each call. A layer or module that it makes has new weights each time, which nothing trains and no file
has: that is refused.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn
from torch.nn.modules.module import register_module_parameter_registration_hook

from torchkeras.base.tracing import compiled_somewhere, is_compiling

if TYPE_CHECKING:
    from torchkeras.engine.layer.layer import Layer

PATHS = "_made_by_code"  # an attribute of a layer: what its code has made, by the paths where it keeps it


class _Code(threading.local):
    """`owner`: the layer whose code runs; None outside of such code, and while a layer makes its weights.

    `made`: what this code has made that has weights; None for nothing. `numpys`: while the shape of its output is
    found, where NumPy's stream of random numbers was when it began.
    """

    owner: Any = None
    made: list[Any] | None = None
    numpys: Any = None


CODE = _Code()


class _Hook:
    """`handle`: that of the hook by which torch says which modules are made, from the first code that runs on.

    It stays then: torch goes through the hooks of the process in every thread, and one that comes and goes with each
    call could change them under another thread's hands.
    """

    handle: Any = None


_HOOK = _Hook()


def is_users(layer: Layer) -> bool:
    """Whether the class of a layer is not the package's own."""
    return layer._is_users


def numpys_place() -> Any:
    """Where NumPy's stream of random numbers is."""
    _, words, position, has_next, following = np.random.get_state()  # noqa: NPY002 - the stream that scripts draw from
    return int(words[0]), position, has_next, following


def draws() -> bool:
    """Whether the code under way has drawn random numbers from NumPy; known while shapes are found."""
    return CODE.owner is not None and CODE.numpys is not None and CODE.numpys != numpys_place()


def run(owner: Any, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What a function gives that is, or calls, the code of the layer `owner`.

    Raises ValueError for what the code makes at each call, and does not keep in the layer.
    """
    if compiled_somewhere() and is_compiling():
        return function(*args, **kwargs)
    if _HOOK.handle is None:
        _HOOK.handle = register_module_parameter_registration_hook(_note_module)
    before = CODE.owner, CODE.made, CODE.numpys
    CODE.owner, CODE.made = owner, None
    CODE.numpys = numpys_place() if torch._C._len_torch_dispatch_stack() else None
    try:
        found = function(*args, **kwargs)
        if CODE.made is not None:
            Made.check(owner, CODE.made)
        return found
    finally:
        CODE.owner, CODE.made, CODE.numpys = before


def note(made: Any) -> None:
    """Note what the code under way has made that has weights."""
    if CODE.owner is not None:
        CODE.made = [*(CODE.made or ()), made]


class Made:
    """What becomes of layers and modules that code has made; an annex says otherwise for old scripts.

    `note`: of a layer that the code under way has built, maybe made. `check`: of all that was noted, when it has run.
    """

    note: Callable[[Any], None]
    check: Callable[[Any, list[Any]], None]


def check(owner: Any, made: list[Any]) -> None:
    """Raise ValueError for what is no part of the layer, or takes the place of what the code made before."""
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
    """Whether something was made while the shape of a layer's output is found, on `meta`."""
    return torch._C._len_torch_dispatch_stack() > 0 and any(parameter.is_meta for parameter in made.parameters())


Made.note, Made.check = staticmethod(note), staticmethod(check)


def _note_module(module: nn.Module, name: str, parameter: nn.Parameter | None) -> None:
    # A layer notes itself, when it is built.
    if CODE.owner is not None and not hasattr(module, "_call_nodes") and not (CODE.made and CODE.made[-1] is module):
        note(module)
