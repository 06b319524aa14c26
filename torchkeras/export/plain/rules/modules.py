"""Modules of torch in a graph: written as the text that makes them, or given by the user."""

from __future__ import annotations

from typing import Any

from torch import nn

from torchkeras import layers
from torchkeras.base.nested import POSITIONAL, TensorSlot
from torchkeras.engine.building.meta_run import MadeOnMeta
from torchkeras.export.errors import EjectError
from torchkeras.export.plain.call import LayerCall, rule, slots


@rule(layers.TorchModule)
def torch_module(layer: Any, call: LayerCall) -> Any:
    module = layer.module
    text = text_of(module)
    path = call.module(text, module) if text else call.writer.given_module(layer, layer.name, module)
    text = f"{path}({_arguments(call)})"
    if len(call.outputs) == 1:
        return call.line(text, *call.inputs)
    made = tuple(call.new() for _ in call.outputs)
    call.assign(made, text, *call.inputs)
    return made


def _arguments(call: LayerCall) -> str:
    """The arguments of the module's call."""
    given = call.argument(POSITIONAL)
    if given is None:
        texts = [f"[{slots(len(call.inputs))}]" if call.several else "{0}"]
    else:
        texts = [_literal(call, each) for each in given]
    named = [name for name in call.arguments if name != POSITIONAL]
    return ", ".join([*texts, *(f"{name}={_literal(call, call.argument(name))}" for name in named)])


def _literal(call: LayerCall, value: Any) -> str:
    if isinstance(value, TensorSlot):
        return f"{{{value.index}}}"
    if type(value) in (list, tuple):
        inside = ", ".join(_literal(call, item) for item in value)
        return f"[{inside}]" if type(value) is list else f"({inside}{',' * (len(value) == 1)})"
    if isinstance(value, (bool, int, float, str, type(None))):
        return repr(value).replace("{", "{{").replace("}", "}}")
    raise EjectError(f"TorchModule {call.layer.name!r}: eject takes plain arguments alone; found {value!r}.")


def text_of(module: nn.Module) -> str | None:
    """The text that makes a torch module, `nn.Linear(in_features=4, out_features=3, bias=True)`; None for others.

    It is the `repr` of most modules. The text is run, on `meta`, to check that it makes the same module.
    """
    if type(module) is nn.Sequential and all(name.isdigit() for name, _ in module.named_children()):
        texts = [text_of(child) for child in module]
        return None if None in texts else f"nn.Sequential({', '.join(map(str, texts))})"
    text = f"nn.{module!r}"
    if not type(module).__module__.startswith("torch.nn.modules.") or "\n" in text:
        return None
    return text if _makes(text, module) else None


def _makes(text: str, module: nn.Module) -> bool:
    """Whether a text makes such a module as this one."""
    try:
        with MadeOnMeta():
            made = eval(text, {"nn": nn})
    except (SyntaxError, TypeError, NameError, ValueError):
        return False
    return type(made) is type(module) and _like(made) == _like(module)


def _like(module: nn.Module) -> tuple[Any, ...]:
    """Everything that distinguishes two modules of one class, except the values of their tensors."""
    tensors = {name: (tuple(tensor.shape), tensor.dtype) for name, tensor in module.state_dict().items()}
    plain = (bool, int, float, str, tuple, type(None))
    options = {name: value for name, value in vars(module).items() if isinstance(value, plain)}
    options.pop("training")
    return repr(module), tensors, options
