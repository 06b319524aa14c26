"""`model.forward` with the inputs of the model's graph as its parameters, by their names.

torch.export and torch.onnx name inputs by the parameters of `model.forward`, and Hugging Face's Trainer chooses the
columns of its data by them. The class has one `forward` for any inputs, which `torch.compile` and torch.fx follow.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from types import MethodType
from typing import Any

from torchkeras.base.naming import identifiers
from torchkeras.base.tracing import compiled_somewhere, is_compiling
from torchkeras.engine.graph.codegen import GeneratedFunctions, compiled


class ByInputNames:
    """A decorator of `forward(self, *inputs, **options)`: a network with a graph has it with named parameters.

    The signature of the class's own names the options; its code does not, since torch.fx would put them first.
    """

    def __init__(self, function: Callable[..., Any]):
        self.__func__ = function
        options = inspect.signature(GeneratedFunctions.run).parameters.values()
        function.__signature__ = inspect.Signature([each for each in options if each.name != "direct"])  # type: ignore[attr-defined]

    def __get__(self, network: Any, kind: type | None = None) -> Any:
        if network is None:
            return self.__func__
        if compiled_somewhere() and is_compiling():  # which does not follow the making of a method
            return partial(self.__func__, network)
        return MethodType(network.__dict__.get("_named_forward", self.__func__), network)


USED = ("self", "_others", "_options", "_function", "_given")  # names in the text of `with_names`


def parameter_names(names: Sequence[str]) -> list[str]:
    """The names of parameters for inputs with these names."""
    return identifiers([*USED, *names])[len(USED) :]


@lru_cache(maxsize=1024)
def with_names(function: Callable[..., Any], names: tuple[str, ...]) -> Callable[..., Any]:
    """`function(self, *inputs, **options)` with a parameter for each input; the signature has these alone.

    The first may hold all inputs, in a list.
    """
    first, *others = parameter_names(names)
    heads = ", ".join([first, *(f"{name}=None" for name in others)])
    if others:
        given = f"*[_given for _given in ({first}, {', '.join(others)}) if _given is not None]"
    else:
        given = first
    text = f"def forward(self, {heads}, *_others, **_options):\n"
    text += f"    return _function(self, {given}, *_others, **_options)\n"
    forward: Any = compiled(text, f"forward({heads})", _function=function)
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    own = [inspect.Parameter("self", kind), inspect.Parameter(first, kind)]
    forward.__signature__ = inspect.Signature(own + [inspect.Parameter(name, kind, default=None) for name in others])
    forward.__doc__, forward.__module__ = function.__doc__, function.__module__
    forward.__qualname__ = function.__qualname__
    return forward
