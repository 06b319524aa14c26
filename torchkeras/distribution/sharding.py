"""FSDP2 for our models: `shard` gives every process a part of the rows of each weight.

torch's `fully_shard` gathers the weights of a unit before its first layer runs, and frees them after its last; in the
backward pass it gathers them again, and leaves each process the mean gradient of its own rows.
"""

# pyright: reportPrivateImportUsage=false

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.nn.parameter import is_lazy

from torchkeras import config
from torchkeras.distribution.gathering import Kept, gather_by_calls, own_hooks
from torchkeras.distribution.group import take_first
from torchkeras.distribution.of_torch import (
    check_shares,
    cls_to_fsdp_cls,
    fully_shard,
    groups_of,
    state_of,
    unsafe_setattr_param,
)
from torchkeras.distribution.replicas import averaged
from torchkeras.distribution.shared_tensors import is_sharded, keep, members, part, parts, sharded_as, whole
from torchkeras.distribution.units import LEAST, units_of
from torchkeras.engine.adapters.tracked import with_replaced
from torchkeras.engine.building.building import materialize
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.weights.weight import own_variables, plain_modules
from torchkeras.engine.weights.weight_lists import ENGINES_OWN, TORCHS_OWN
from torchkeras.world.one_process import CURRENT, OneReplica

__all__ = ["shard"]


def shard(model: nn.Module, mesh: DeviceMesh, least: int = LEAST) -> None:
    """Share the weights of a model among the processes of a mesh.

    They begin as those of the first process; weights on `meta` become zeros, of which each process allocates its own
    rows alone. Units are those of `units_of`, whose `least` this is. Weights without an axis stay whole on every
    process. Layers keep their classes: what `fully_shard` would add to them are names that files do not know. A model
    that is sharded already stays as it is.

    A mixed policy needs nothing else: weights are gathered as they are and cast by autocast, as in one process.

    Raises RuntimeError for a model without weights and for an older torch, ValueError for a layer that keeps a weight
    in a second place.
    """
    check_shares("A mesh of processes")
    if shared_mesh(model) is not None:
        return
    if any(map(is_lazy, model.parameters())) or not getattr(model, "built", True):
        raise RuntimeError(f"{_named(model)} has no weights to share yet: call it on data, or build(input_shape).")
    _prepare_layers(model)
    strides = _lay_in_order(model)
    take_first((each for each in (*model.parameters(), *model.buffers()) if not each.is_meta), members(mesh)[0])
    units = units_of(model, least)
    _shard_units(model, units, mesh)
    device = torch.device(mesh.device_type, torch.cuda.current_device()) if mesh.device_type == "cuda" else None
    _allocate(model, device)
    root = _state(model)
    root._lazy_init()
    called = [_state(unit[0]) for unit in units] + [root]
    root.kept = Kept(called, most=2 * least)
    _hook_state_dicts(model, strides)


def _prepare_layers(model: nn.Module) -> None:
    """Check where layers keep their weights, and freeze the parameters that only torch's modules have."""
    for layer in model.modules():
        if isinstance(layer, Layer):
            _check_places(layer)
            for variable in own_variables(layer):
                for tensor in variable.further:  # which torch adds: kept at zero
                    tensor.requires_grad_(False)


def _shard_units(model: nn.Module, units: Sequence[Any], mesh: DeviceMesh) -> None:
    """Call `fully_shard` for each unit and for the model, and set how FSDP2 gathers weights and adds gradients."""
    scalars = {parameter for parameter in model.parameters() if parameter.dim() == 0}
    options: dict[str, Any] = {"mesh": mesh, "reshard_after_forward": True, "ignored_params": scalars}
    with _keeping_classes(model):
        for unit in units:
            fully_shard(unit[0] if len(unit) == 1 else unit, **options)
        fully_shard(model, **options)
    for state in states_of(model):
        gather_by_calls(state)
        for group in groups_of(state):
            # gloo has no mean: a sum, divided afterwards.
            group.force_sum_reduction_for_comms = mesh.device_type == "cpu"


class Sharded(OneReplica):
    """How a step computes on a model whose weights are shared: what `compiled.replicas` is asked for.

    `network`: what computes its outputs, and what is added to its losses. `hooks`: see `OneReplica`.
    """

    def __init__(self, model: nn.Module, network: nn.Module, mesh: DeviceMesh):
        self._parameters = list(model.parameters())
        self._group = group_of_mesh(mesh)
        root = _state(model)
        self._kept: Kept = root.kept
        groups = groups_of(root)
        if groups and all(module is not model for module in network.modules()):
            # The weights that belong to no unit are gathered by a call of the model.
            network.register_forward_pre_hook(root._pre_forward, prepend=True, with_kwargs=True)
            network.register_forward_hook(root._post_forward)
            self._kept.watch(network, groups[0])
        self.hooks = own_hooks(network) if self._kept.all else frozenset()

    def passing(self, run: Callable[..., Any]) -> Callable[..., Any]:
        """What computes the outputs of the model, where gradients are recorded: hooks of FSDP2 do the rest."""
        return partial(self._kept.passing, run)

    def gradients(self, loss: Tensor, parameters: list[Tensor], one: Tensor | None) -> list[Tensor | None]:
        """The means over the processes of the gradients of a loss, for each parameter those of this process's rows."""
        before = [parameter.grad for parameter in self._parameters]
        for parameter in self._parameters:
            parameter.grad = None
        try:
            self._kept.before_gradients_of(loss)
            assert one is not None
            loss.backward(CURRENT.batch.weighted(one))
            found = parts(parameter.grad for parameter in parameters)
        finally:
            self._kept.free()
            for parameter, gradient in zip(self._parameters, before, strict=True):
                parameter.grad = gradient
        # Of weights that are whole on every process, FSDP2 leaves each its own.
        places = [k for k, g in enumerate(found) if g is not None and not is_sharded(parameters[k])]
        for place, mean in zip(places, averaged([found[k] for k in places], self._group), strict=True):
            found[place] = mean
        return found

    def averaged(self, gradients: Sequence[Tensor | None]) -> list[Tensor | None]:
        """Refused: FSDP2 averages gradients in the backward pass, where the parts of a batch count alike."""
        raise RuntimeError(
            "A train_step that calls loss.backward() and optimizer.step() does not train weights that processes share: "
            "call self.minimize(loss), which does both."
        )


def mesh_of(setting: Any, device: torch.device) -> DeviceMesh | None:
    """The mesh that `compile(distribute=)` shares weights on; None for replicas.

    Raises RuntimeError for a torch that cannot share them.
    """
    if setting == "fsdp" or isinstance(setting, DeviceMesh):
        check_shares(f"compile: distribute={setting!r}")
    if isinstance(setting, DeviceMesh):
        return setting
    return init_device_mesh(device.type, (dist.get_world_size(),)) if setting == "fsdp" else None


def group_of_mesh(mesh: DeviceMesh) -> Any:
    """The group of all processes of a mesh. Raises ValueError for a mesh of several axes over a part of all."""
    if mesh.ndim > 1 and mesh.size() != dist.get_world_size():
        raise ValueError(
            f"compile: distribute has a mesh of {mesh.ndim} axes and {mesh.size()} of {dist.get_world_size()} "
            "processes: a mesh of several axes must have all of them."
        )
    return members(mesh)[0]


def shared_mesh(model: nn.Module) -> DeviceMesh | None:
    """The processes that share the weights of a model; None where each has all.

    Raises ValueError where `shard` did not make them DTensors.
    """
    mesh = next((each.device_mesh for each in model.parameters() if is_sharded(each)), None)  # type: ignore[misc]
    if mesh is not None and not hasattr(state_of(model), "kept"):
        raise ValueError(
            f"compile: {_named(model)} has parameters that are DTensors already. Give the model without to compile, "
            "which shares its weights by distribute='fsdp'; or train it by a loop of your own."
        )
    return mesh


def _state(module: nn.Module) -> Any:
    return fully_shard.state(module)  # type: ignore[attr-defined]


def states_of(model: nn.Module) -> list[Any]:
    """What FSDP2 knows of each unit, that of the whole model first."""
    found = (state_of(module) for module in model.modules())
    return list({id(state): state for state in found if state is not None}.values())


def _lay_in_order(model: nn.Module) -> dict[tuple[nn.Module, str], tuple[int, ...]]:
    """FSDP2 takes contiguous parameters alone; in a model in channels_last they are not. Their strides before."""
    own = [(module, name, p) for module in model.modules() for name, p in module._parameters.items() if p is not None]
    strides = {(module, name): parameter.stride() for module, name, parameter in own}
    for _, _, parameter in own:
        parameter.data = parameter.data.contiguous()
    return strides


def _check_places(layer: Layer) -> None:
    """Raise ValueError for a weight that a layer keeps beside where it is registered: it would not follow."""
    held = {id(parameter): None for parameter in layer.parameters()}
    for name, value in (*vars(layer).items(), *layer._modules.items()):
        if name not in ENGINES_OWN | TORCHS_OWN and with_replaced(value, held) is not value:
            raise ValueError(
                f"{_named(layer)} keeps a weight in {name!r} too, where it would not be gathered when processes share "
                "it: keep each weight in one attribute, not in a list."
            )


def _named(module: Any) -> str:
    return f"{type(module).__name__} {getattr(module, 'name', '')!r}"


def _allocate(model: nn.Module, device: torch.device | None) -> None:
    """Give memory to the rows that this process has of weights on `meta`, and to all else on `meta`."""
    place = config.device() if device is None else device
    owners = [layer for layer in model.modules() if isinstance(layer, Layer)]
    types = {module: layer._policy.variable_type for layer in owners for _, module in plain_modules(layer)}
    groups = [group for state in states_of(model) for group in groups_of(state)]
    for each in chain.from_iterable(group.fsdp_params for group in groups):
        old = each.sharded_param
        if old.is_meta:
            kind = types.get(each._module_info.module, old.dtype) if old.is_floating_point() else old.dtype
            values = torch.zeros(part(old).shape, dtype=kind, device=place)
            _set_parameter(each, nn.Parameter(sharded_as(values, old), requires_grad=old.requires_grad))
    for layer in reversed(owners):
        materialize(layer, draw=False)


def _set_parameter(shared: Any, parameter: nn.Parameter) -> None:
    """Set what FSDP2 has as one parameter in all modules that have it."""
    info = shared._module_info
    modules, names = (info.module, *info.shared_modules), (info.param_name, *info.shared_param_names)
    for module, name in zip(modules, names, strict=True):
        unsafe_setattr_param(module, name, parameter)
    shared.reset_sharded_param()


@contextmanager
def _keeping_classes(model: nn.Module) -> Iterator[None]:
    """Have `fully_shard` leave the classes of modules as they are, by its own table of the classes to give."""
    before = dict(cls_to_fsdp_cls)
    cls_to_fsdp_cls.update({type(module): type(module) for module in model.modules()})
    try:
        yield
    finally:
        cls_to_fsdp_cls.clear()
        cls_to_fsdp_cls.update(before)


# --- state dicts -----------------------------------------------------------------------------------------------------


def _hook_state_dicts(model: nn.Module, strides: Mapping[tuple[nn.Module, str], tuple[int, ...]]) -> None:
    """Let `state_dict` and `load_state_dict` of each module with sharded weights have whole tensors."""
    for module in model.modules():
        if any(map(is_sharded, module._parameters.values())):
            named = {name: strides.get((module, name), ()) for name in module._parameters}
            module.register_state_dict_post_hook(partial(_give_whole, named))
            module.register_load_state_dict_pre_hook(_take_whole)


def _give_whole(strides: Any, module: nn.Module, state_dict: dict[str, Any], prefix: str, metadata: Any) -> None:
    """A `state_dict` has whole tensors, laid out as in one process; with `keep_vars` the parameters themselves."""
    for name in module._parameters:
        tensor = state_dict.get(prefix + name)
        if is_sharded(tensor) and not isinstance(tensor, nn.Parameter):
            with torch.no_grad():
                values = whole(module._parameters[name])  # type: ignore[arg-type]  # the object that may be collected
                laid_out = torch.empty_strided(values.shape, strides[name], dtype=values.dtype, device=values.device)
                state_dict[prefix + name] = laid_out.copy_(values)


def _take_whole(module: nn.Module, state_dict: dict[str, Any], prefix: str, *_: Any) -> None:
    """What `load_state_dict` is given may be whole: each process takes its rows."""
    for name, parameter in module._parameters.items():
        given = state_dict.get(prefix + name)
        if parameter is None or not isinstance(given, Tensor) or is_sharded(given):
            continue
        if is_sharded(parameter) and given.shape == parameter.shape:
            own = torch.empty_like(parameter, requires_grad=False)
            keep(own, given)
            state_dict[prefix + name] = own
