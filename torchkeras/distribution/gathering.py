"""When the weights of a unit are gathered, and how long they stay: what FSDP2 does at the calls of its modules."""

# pyright: reportPrivateImportUsage=false

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import accumulate
from typing import Any

from torch import Tensor, is_grad_enabled, nn

from torchkeras.distribution.of_torch import TrainingState, groups_of
from torchkeras.engine.graph.layer_calls import HOOKS


def gather_by_calls(state: Any) -> None:
    """Have the weights of a unit gathered before the first call of one of its modules, and freed after the last.

    `state`: what FSDP2 knows of the unit. In the backward pass they are gathered before the first of their gradients is
    computed: a loss may go past an output, to the logits that it carries, or past the last module of several.
    """
    state._register_pre_backward_hook = partial(_watch, state)
    if len(state._modules) > 1:  # torch's own hooks do all their work again at each module
        state._pre_forward_hook_handle.remove()
        for module in state._modules:
            module.register_forward_pre_hook(partial(_before_call, state), prepend=True, with_kwargs=True)
            module.register_forward_hook(partial(_after_call, state), always_call=True)


def _before_call(state: Any, module: nn.Module, args: Any, kwargs: Any) -> Any:
    left = state._modules_to_run_forward
    if not left:
        left.update(state._modules)
    if state._training_state is TrainingState.FORWARD and groups_of(state)[0].is_unsharded:
        return None
    return state._pre_forward(module, args, kwargs)


def _after_call(state: Any, module: nn.Module, inputs: Any, output: Any) -> Any:
    left = state._modules_to_run_forward
    if module in left:
        left.remove(module)
        if not left:
            return state._post_forward(module, inputs, output)
    return _watch(state, output)


def _watch(state: Any, output: Any) -> Any:
    if is_grad_enabled():
        for tensor in _tensors(output):
            for each in (tensor, getattr(tensor, "_keras_logits", None)):
                if isinstance(each, Tensor) and each.requires_grad:
                    each.register_hook(partial(_before_gradient, state))
    return output


def _before_gradient(state: Any, gradient: Tensor) -> None:
    groups = groups_of(state)
    if not groups or groups[0]._training_state is not TrainingState.PRE_BACKWARD:
        state._pre_backward(gradient)


def _tensors(output: Any) -> Iterator[Tensor]:
    if isinstance(output, Tensor):
        yield output
    elif isinstance(output, (list, tuple)):
        for each in output:
            yield from _tensors(each)
    elif isinstance(output, dict):
        yield from _tensors(list(output.values()))


def own_hooks(module: nn.Module) -> frozenset[int]:
    """The hooks at the calls of a module, and of all inside, that gather and free weights: their `id`s."""
    found = (hook for each in module.modules() for name in HOOKS for hook in getattr(each, name).values())
    return frozenset(id(hook) for hook in found if _module_of(hook).startswith(("torch.distributed.", __name__)))


def _module_of(hook: Any) -> str:
    return getattr(hook.func if isinstance(hook, partial) else hook, "__module__", "")


class Kept:
    """Weights that a training step keeps whole between its forward and its backward pass: those of the last units.

    With these the backward pass begins: to free them in between would be to gather them twice. torch keeps the root for
    the same reason, after every pass. Here only a step keeps weights, until it has its gradients; and to all who look
    at the model in between, such as a regularizer, each process has its rows.

    `states`: what FSDP2 knows of the units, in the order of their calls, the root last. Of several, those are kept that
    have together at most `most` values. Where these are `all`, the step itself gathers them before the forward pass,
    and no call of a layer has to.
    """

    def __init__(self, states: list[Any], most: int):
        self._states = states
        groups = [group for state in states for group in groups_of(state)]
        sizes = accumulate(sum(each._orig_size.numel() for each in group.fsdp_params) for group in reversed(groups))
        count = sum(1 for k, size in enumerate(sizes) if k == 0 or size <= most)
        self.all = count == len(groups)
        groups = groups[len(groups) - count :]
        self._waiting = dict.fromkeys(groups, False)  # whether it is whole, and the modules have its rows
        self._freed = {group: group.post_forward_mesh_info for group in groups}
        for group in groups:
            group.pre_backward = partial(self._before_gradients, group, group.pre_backward)
            for module in group.modules:
                self.watch(module, group)

    def watch(self, module: nn.Module, group: Any) -> None:
        """Look at each call of a module that computes with the weights of a group."""
        if group in self._waiting:
            module.register_forward_pre_hook(partial(self._called, group), prepend=True)

    def passing(self, run: Callable[..., Any], *inputs: Any, **options: Any) -> Any:
        """What a forward pass computes, after which the weights stay whole."""
        self.free()
        for group in self._freed:
            group.post_forward_mesh_info = None  # which says that it stays as it is
        try:
            if self.all:
                self._gather()
            found = run(*inputs, **options)
            if self.all:
                self._gathered()
        except BaseException:
            self._waiting = dict.fromkeys(self._waiting, True)
            self.free()
            for state in self._states if self.all else ():
                state._training_state = TrainingState.IDLE
            raise
        finally:
            for group, mesh in self._freed.items():
                group.post_forward_mesh_info = mesh
        for group in self._freed:
            if group.is_unsharded:
                _show(group, "sharded_param")
                self._waiting[group] = True
        return found

    def _gather(self) -> None:
        for state in reversed(self._states):  # the root begins
            state._pre_forward(state._modules[0], (), {})

    def _gathered(self) -> None:
        for state in self._states:
            state._modules_to_run_forward.clear()
            state._post_forward(state._modules[0], (), None)

    def before_gradients_of(self, loss: Tensor) -> None:
        """Report to FSDP2 when the gradients of a loss begin to be computed, where no call of a layer does."""
        if self.all:
            loss.register_hook(self._begin_backward)

    def _begin_backward(self, gradient: Tensor) -> None:
        for state in reversed(self._states):
            _before_gradient(state, gradient)

    def free(self) -> None:
        """Leave each process its rows, where a step has kept more."""
        for group, waiting in self._waiting.items():
            if waiting:
                self._waiting[group] = False
                group._training_state = TrainingState.IDLE
                group.reshard()

    def _called(self, group: Any, module: nn.Module, inputs: Any) -> None:
        """Before a layer is called: what a step has left that was broken off is old."""
        if self._waiting[group] and group._training_state is not TrainingState.PRE_BACKWARD:
            self.free()

    def _before_gradients(self, group: Any, gather: Callable[..., None], *args: Any) -> None:
        gather(*args)
        if self._waiting[group]:
            _show(group, "unsharded_param")  # to a layer that computes once more what it has not kept


def _show(group: Any, which: str) -> None:
    for each in group.fsdp_params:
        each._setattr_on_modules(getattr(each, which))
