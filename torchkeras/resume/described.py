"""A description of a `fit` as plain data, to compare several processes, and a run with the checkpoint it resumes."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

import torch

from torchkeras.base.python import attributes_of
from torchkeras.callbacks.base import HOOKS, CallbackList
from torchkeras.data.contents import code_of, config_of, of_user, plain
from torchkeras.data.sources import Source
from torchkeras.engine.fit.training import EARLIER, OF_STATE
from torchkeras.engine.graph.layer_calls import Form, Way
from torchkeras.engine.graph.network import Network
from torchkeras.engine.graph.trace import graph_if_any, is_connected
from torchkeras.engine.layer.layer import Layer
from torchkeras.optimizers.torch_optimizer import OWN_OPTIONS
from torchkeras.resume import earlier_code
from torchkeras.resume.accepted import ACCEPTED

COMPILED = (
    *("loss", "metrics", "loss_weights", "sample_weight_mode", "weighted_metrics", "target_tensors", "on_nonfinite"),
    *("jit_compile", "cuda_graph", "steps_per_execution", "sync_batch_norm", "numerics"),
)
# Objects of torch that a custom train_step may use next to the optimizer of the model.
OWN = (torch.optim.Optimizer, torch.optim.lr_scheduler.LRScheduler, torch.amp.GradScaler)

# Where callbacks write: this does not change the training, and often contains the time.
PLACES = ("filepath", "filename", "log_dir", "path", "root")

# Options of callbacks that earlier checkpoints do not have: they count where they are not the default, which the class
# has under their name.
LATER = {"start_from_epoch", "save_freq", "initial_value_threshold", "raise_error", "profile_batch"}

LONG = 200  # characters of a value in an error
OPTIONS = (bool, int, float, str, tuple, list)  # types of attributes that are options of a module of torch
SHOWN = 3  # differences of one kind in an error

# The keys of a description that hold the code of a user's class (hooks: of a `LambdaCallback`), those that only group
# others, and those that are not compared: names, and attributes that models once had.
OF_CODE = ("methods", "values", *HOOKS)
GROUPS = ("methods", "names")
NOT_COMPARED = ("name", "text", *OF_STATE, *EARLIER, "_functions", "_sources", "_written", "_written_at")


# --- descriptions ----------------------------------------------------------------------------------------------------


def of_fit(
    model: Any, source: Source, validation: Source | None, callbacks: CallbackList, given: Mapping[str, Any]
) -> dict[str, Any]:
    """All that a run must have again to resume exactly, by the words of `BackupAndRestore(accept=)`.

    `given`: further arguments of `fit`.
    """
    data = source.contents()
    data.pop("weights", None)  # `given` has the sample weights and class weights
    return {
        **of_compile(model, deep=True),
        "model": of_model(model, deep=True),
        "workers": data.pop("workers", None),
        "batch_size": data.pop("batch_size"),
        "steps_per_epoch": data.pop("limit", None),
        "data": data,
        "validation_data": None if validation is None else validation.contents(),
        "callbacks": [_callback(each) for each in callbacks if getattr(each, "needed_to_resume", True)],
        **{name: plain(value, deep=True) for name, value in given.items()},
    }


def of_compile(model: Any, deep: bool = False) -> dict[str, Any]:
    """The options of `compile` of a model, by name."""
    options = of_optimizer(model.optimizer, deep)
    own = {
        name: of_optimizer(each, deep) if isinstance(each, torch.optim.Optimizer) else plain(each, deep)
        for name, each in own_optimizers(model).items()
    }
    return {
        "optimizer": {**{name: value for name, value in options.items() if name != "lr"}, **own},
        "learning_rate": options.get("lr"),
        **{name: plain(getattr(model._training.options, name), deep) for name in COMPILED},
    }


def of_optimizer(optimizer: Any, deep: bool = False) -> dict[str, Any]:
    """The class and options of an optimizer; one of torch has a list of each option, by its groups of parameters."""
    made = isinstance(optimizer, torch.optim.Optimizer)
    torchs = optimizer if made else getattr(optimizer, "optimizer", None)
    if not isinstance(torchs, torch.optim.Optimizer):
        config = dict(config_of(optimizer)) if hasattr(optimizer, "get_config") else {}
        config.pop("name", None)  # it counts the optimizers of a process
        if "learning_rate" in config:  # of a user's class in Keras 3's form
            config["lr"] = config.pop("learning_rate")
        return {"class": type(optimizer).__name__, **plain(config, deep)}
    groups = torchs.param_groups
    names = dict.fromkeys(name for group in groups for name in group if name not in ("params", "initial_lr"))
    own = {} if made else {name: plain(getattr(optimizer, name)) for name in OWN_OPTIONS}
    return {
        "class": type(torchs).__name__,
        **own,
        **{name: [_number(group.get(name)) for group in groups] for name in names},
    }


def own_optimizers(network: Any) -> dict[str, Any]:
    """The optimizers, schedulers and loss scales of torch in the attributes of a user's class, or in their items."""
    found: dict[str, Any] = {}
    for name, value in attributes_of(network).items():
        items: Any = ()
        if isinstance(value, dict):
            items = value.items()
        elif isinstance(value, (list, tuple)):
            items = enumerate(value)
        found |= {f"{name}.{key}": item for key, item in items}
        found[name] = value
    return {name: value for name, value in found.items() if isinstance(value, OWN)}


def of_model(model: Any, deep: bool = False) -> dict[str, Any]:
    """The layers of a model in their order, whatever their names are, and the code of its graph."""
    compiled = model._training.compiled
    networks = dict.fromkeys((model, model if compiled is None else compiled.network))
    places: dict[str, str] = {}
    calls, layers = [], []
    for module in dict.fromkeys(module for network in networks for module in network.modules()):
        if isinstance(module, Network) and is_connected(module) and graph_if_any(module) is not None:
            calls += _code(module, places).split("\n")
            layers += [{"class": type(module).__name__, **code_of(type(module))}] if deep else []
        else:
            layers.append(_layer(module, deep))
    return {"layers": layers, "code": calls}


def _code(network: Network, places: dict[str, str]) -> str:
    """The code of a network's graph, with layers by their places: in the order in which the code names them."""
    function = network._generated.function(network._generated.plain)

    def place(name: re.Match[str]) -> str:
        call = function.calls.get(name[1])
        if call is None:  # inside a string argument of a call
            return name[0]
        if isinstance(call, Form):
            return type(call.value).__name__
        return places.setdefault(call.key, f"layer{len(places)}") + ".compute_mask" * (call.way is Way.MASK)

    return re.sub(r"self\.(\w+)", place, function.text)


def _layer(module: Any, deep: bool) -> dict[str, Any]:
    description: dict[str, Any] = {"class": type(module).__name__}
    if isinstance(module, Layer):
        weights = [[list(each.shape), str(each.tensors[0].dtype), each.trains] for each in module.weights]
        description |= {"name": module.name, **plain(config_of(module), deep), "weights": weights}
    else:
        shapes = [[list(each.shape), str(each.dtype)] for each in module.parameters(recurse=False)]
        options = {name: value for name, value in attributes_of(module).items() if isinstance(value, OPTIONS)}
        description |= {
            **{name: plain(value) for name, value in options.items() if name[0] != "_" and name != "training"}
        }
        description |= {"parameters": shapes}
    if not deep:
        return description
    own = of_user(module, _of_every_layer())
    return {**description, **({"own": own} if own else {}), **code_of(type(module))}


@cache
def _of_every_layer() -> frozenset[str]:
    """The attributes that every layer has, and every module of torch."""
    return frozenset(vars(Layer()))


def _callback(callback: Any) -> dict[str, Any]:
    """The class of a callback, and the options of its constructor that it stores as attributes, without paths."""
    arguments = {*inspect.signature(type(callback)).parameters} - {*PLACES}
    names = {*arguments, *(f"_{name}" for name in arguments), *HOOKS}
    options = {name: value for name, value in attributes_of(callback).items() if name in names}
    for name in LATER & options.keys():
        if options[name] == getattr(type(callback), name, None):
            del options[name]
    more = getattr(callback, "_described", dict)()
    return {"class": type(callback).__name__, **plain({**options, **more}, deep=True), **code_of(type(callback))}


def _number(value: Any) -> Any:
    return float(value) if isinstance(value, torch.Tensor) and value.numel() == 1 else plain(value)


# --- differences -----------------------------------------------------------------------------------------------------


class Difference(NamedTuple):
    """A place where two descriptions differ. `decides`: whether the training may differ because of it."""

    place: str
    before: Any
    now: Any
    decides: bool

    def __str__(self) -> str:
        *above, name = self.place.split(".")
        if name == "code" and isinstance(self.before, str) and isinstance(self.now, str):
            return f"the code of {'.'.join(above)} has changed" if above else "the code has changed"
        subject = f"{self.place} is " if self.place else ""
        return f"{subject}{shown(self.before)} in the checkpoint, {shown(self.now)} here"


def differences(
    one: Any, other: Any, place: str = "", code_decides: bool = True, decides: bool = True
) -> Iterator[Difference]:
    """Where two descriptions differ. Names of layers do not count.

    `code_decides`: whether the code of a user's class counts, and the globals that it reads. Code that differs only in
    what it prints and logs never does.
    """
    if one == other:
        return
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        if one.get("class") != other.get("class"):  # all else differs too
            yield Difference(f"{place}.class" if place else "class", one.get("class"), other.get("class"), decides)
            return
        only_prints = "text" in one and one["text"] == other.get("text")
        for name in dict.fromkeys([*one, *other]):
            if name in NOT_COMPARED:
                continue
            counts = code_decides or name not in OF_CODE
            inner = place if name in GROUPS else f"{place}.{name}" if place else str(name)
            yield from differences(
                one.get(name),
                other.get(name),
                inner,
                code_decides,
                decides and counts and not (only_prints and name == "code"),
            )
        return
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for k, (mine, theirs) in enumerate(zip(one, other, strict=True)):
            yield from differences(mine, theirs, _item(place, k, mine, theirs), code_decides, decides)
        return
    yield Difference(place, one, other, decides)


def _item(place: str, number: int, mine: Any, theirs: Any) -> str:
    """The place of an item of a list: a layer by its name, a callback by its class."""
    if isinstance(theirs, Mapping) and theirs.get("name"):
        return f"layer {theirs['name']!r}"
    kind = theirs.get("class") if isinstance(theirs, Mapping) and isinstance(mine, Mapping) else None
    if not place and isinstance(kind, str) and mine.get("class") == kind:
        return kind
    return f"{place}[{number}]"


def shown(value: Any) -> str:
    """A value of a description, for an error."""
    if isinstance(value, list) and value and all(isinstance(each, Mapping) and "class" in each for each in value):
        value = [each["class"] for each in value]
    text = json.dumps(value)
    return text if len(text) <= LONG else f"{text[:LONG]}..."


def changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    """How a run differs from its checkpoint: a line for each word of `ACCEPTED`, those that decide and the others."""
    deciding, others = {}, {}
    one, other = before.get("model"), now.get("model")
    if one and other and earlier_code.is_of_earlier(one.get("code", ())):
        before = {**before, "model": {**one, "code": earlier_code.comparable(one["code"])}}
        now = {**now, "model": {**other, "code": earlier_code.comparable(other["code"])}}
    for word in ACCEPTED:
        found = [*differences(before.get(word), now.get(word), code_decides=word != "callbacks")]
        for lines, decides in ((deciding, True), (others, False)):
            listed = [str(each) for each in found if each.decides == decides]
            if listed:
                more = [f"and {len(listed) - SHOWN} more"] if len(listed) > SHOWN else []
                lines[word] = f"{word}: {'; '.join([*listed[:SHOWN], *more])}"
    return deciding, others
