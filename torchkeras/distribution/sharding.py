"""FSDP2 for our models: `shard` gives every process a part of the rows of each weight.

torch's `fully_shard` gathers the weights of a unit before its first layer runs, and frees them after its last; in the
backward pass it gathers them again, and leaves each process the mean gradient of its own rows.
"""

# pyright: reportPrivateImportUsage=false

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import FSDPModule, fully_shard
from torch.distributed.fsdp._fully_shard._fully_shard import get_cls_to_fsdp_cls
from torch.distributed.fsdp._fully_shard._fsdp_state import _get_module_fsdp_state

from torchkeras.distribution.units import LEAST, units_of
from torchkeras.shards import is_sharded, keep, sharded_as, whole


def shard(model: nn.Module, mesh: DeviceMesh, least: int = LEAST) -> None:
    """Share the weights of a model among the processes of a mesh; it must have its weights, on `meta` or not.

    Units are those of `units_of`, whose `least` this is. Weights without an axis stay whole on every process. Layers
    keep their classes: what `fully_shard` would add to them are names that files do not know.

    A mixed policy needs nothing else: weights are gathered as they are and cast by autocast, as in one process.
    """
    if is_sharding(model):
        return
    _lay_in_order(model)
    scalars = {parameter for parameter in model.parameters() if parameter.dim() == 0}
    options: dict[str, Any] = {"mesh": mesh, "reshard_after_forward": True, "ignored_params": scalars}
    units = units_of(model, least)
    with _keeping_classes(model):
        for unit in units:
            fully_shard(unit[0] if len(unit) == 1 else unit, **options)
        fully_shard(model, **options)
    for state in states_of(model):
        state._register_pre_backward_hook = partial(_watch, state)
        for group in state._fsdp_param_groups:
            # gloo has no mean: a sum, divided afterwards.
            group.force_sum_reduction_for_comms = mesh.device_type == "cpu"
    _state(model)._lazy_init()
    for module in model.modules():
        if any(map(is_sharded, module._parameters.values())):
            module.register_state_dict_post_hook(_give_whole)
            module.register_load_state_dict_pre_hook(_take_whole)


def is_sharding(model: nn.Module) -> bool:
    """Whether the weights of a model are shared among processes."""
    return any(map(is_sharded, model.parameters()))


def _state(module: nn.Module) -> Any:
    return fully_shard.state(module)  # type: ignore[attr-defined]


def states_of(model: nn.Module) -> list[Any]:
    """What FSDP2 knows of each unit, that of the whole model first."""
    found = (_get_module_fsdp_state(module) for module in model.modules())
    return list({id(state): state for state in found if state is not None}.values())


def _lay_in_order(model: nn.Module) -> None:
    """FSDP2 wants rows one after the other; kernels of images lie in the order of the images."""
    for parameter in model.parameters():
        if not parameter.is_contiguous():
            parameter.data = parameter.data.contiguous()


@contextmanager
def _keeping_classes(model: nn.Module) -> Iterator[None]:
    """Have `fully_shard` leave the classes of modules as they are, by its own table of the classes to give."""
    given = get_cls_to_fsdp_cls()
    before = dict(given)
    given.update({type(module): type(module) for module in model.modules()})
    try:
        yield
    finally:
        given.clear()
        given.update(before)


def _watch(state: Any, output: Any) -> Any:
    """Have a unit gathered in the backward pass before the first of its gradients is computed.

    A loss may go past an output, to the logits that it carries.
    """
    if torch.is_grad_enabled():
        for tensor in _tensors(output):
            for each in (tensor, getattr(tensor, "_keras_logits", None)):
                if isinstance(each, Tensor) and each.requires_grad:
                    each.register_hook(state._pre_backward)
    return output


def _tensors(output: Any) -> Iterator[Tensor]:
    if isinstance(output, Tensor):
        yield output
    elif isinstance(output, (list, tuple)):
        for each in output:
            yield from _tensors(each)
    elif isinstance(output, dict):
        yield from _tensors(list(output.values()))


# --- state dicts -----------------------------------------------------------------------------------------------------


def _give_whole(module: nn.Module, state_dict: dict[str, Any], prefix: str, metadata: Any) -> None:
    """A `state_dict` has whole tensors; with `keep_vars` it has the parameters themselves."""
    for name in module._parameters:
        tensor = state_dict.get(prefix + name)
        if is_sharded(tensor) and not isinstance(tensor, nn.Parameter):
            state_dict[prefix + name] = whole(tensor)


def _take_whole(module: nn.Module, state_dict: dict[str, Any], prefix: str, *_: Any) -> None:
    """What `load_state_dict` is given may be whole: each process takes its rows."""
    for name, parameter in module._parameters.items():
        given = state_dict.get(prefix + name)
        if is_sharded(parameter) and isinstance(given, Tensor) and not is_sharded(given):
            if given.shape == parameter.shape:  # type: ignore[union-attr]
                own = torch.empty_like(parameter, requires_grad=False)  # type: ignore[arg-type]
                keep(own, given)
                state_dict[prefix + name] = own
