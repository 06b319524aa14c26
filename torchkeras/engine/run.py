"""Where a `fit` stands: what going on after a stop needs beside the script itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch

from torchkeras.callbacks.base import CallbackList
from torchkeras.engine import rng
from torchkeras.engine.data import Batch
from torchkeras.engine.loop import Sums
from torchkeras.engine.network import Network
from torchkeras.engine.sources import Source
from torchkeras.engine.steps import Recipe

FORMAT = 1


class Run:
    """One call of `fit`: the epoch, the batches and sums of it, and whether it was interrupted.

    `keeps`: whether some callback may ask for the state, so that the random numbers at an epoch's start are kept.
    `interrupted`: set by a callback that has written a checkpoint in the middle of an epoch and wants the end.
    """

    def __init__(self, network: Any, source: Source, callbacks: CallbackList, epoch: int):
        self.network, self.source, self.callbacks = network, source, callbacks
        self.epoch = epoch
        self.sums = Sums()
        self.interrupted = False
        self.keeps = any(hasattr(callback, "resume") for callback in callbacks)
        self._order_random: dict[str, Any] = {}
        self._resumed: Mapping[str, Any] | None = None

    @property
    def recipe(self) -> Recipe:
        """That of the model now: a callback may have changed what trains."""
        return self.network._ready()

    # --- an epoch ----------------------------------------------------------------------------------------------------

    def opened(self, order: str) -> Iterator[Batch]:
        """The batches of the epoch; behind those already done, when it goes on in the middle of one."""
        recipe = self.recipe
        guard = recipe.guard
        self.sums = Sums(recipe.kept, samples=None if guard is None else lambda: guard.good_samples)
        if guard is not None:
            guard.begin()
        for metric in recipe.kept.values():
            metric.reset_state()
        saved, self._resumed = self._resumed, None
        if saved is None or not saved["sums"]["batches"]:
            self._order_random = rng.state() if self.keeps else {}
            return self.source.batches(order)
        self._restore(saved)  # once more: hooks at the epoch's start may have changed what was there
        rng.restore(saved["order_random"])
        self._order_random = saved["order_random"]
        batches = self.source.batches(order, skip=saved["sums"]["batches"])
        rng.restore(saved["random"])
        return batches

    # --- the state ---------------------------------------------------------------------------------------------------

    def state_dict(self, epoch_done: bool = False) -> dict[str, Any]:
        """All that going on bit by bit needs: tensors (not copied) and plain values. `epoch_done`: at an epoch's end."""
        sums = Sums() if epoch_done else self.sums
        return {
            "format": FORMAT,
            "epoch": self.epoch + int(epoch_done),
            "tensors": _tensors(self.network),
            "generators": _generators(self.network),
            "optimizer": [type(self.recipe.optimizer).__name__, self.recipe.optimizer.state_dict()],
            "sums": {"totals": sums.totals, "seen": sums.seen, "batches": sums.batches},
            "metrics": {name: metric.state_dict() for name, metric in self.recipe.kept.items()},
            "callbacks": [[type(callback).__name__, state] for callback, state in _states(self.callbacks)],
            "guard": {} if self.recipe.guard is None else self.recipe.guard.state_dict(),
            "source": self.source.state_dict(),
            "order_random": {} if epoch_done else self._order_random,
            "random": rng.state(),
            "stop_training": bool(getattr(self.network, "stop_training", False)),
        }

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        """Go on from a state. Raises ValueError when it is of another model, optimizer or list of callbacks."""
        self._check(saved)
        self._restore(saved)
        self.source.load_state_dict(saved["source"])
        self.epoch = saved["epoch"]
        self.network.__dict__["stop_training"] = saved["stop_training"]
        self._resumed = saved

    def _check(self, saved: Mapping[str, Any]) -> None:
        if saved.get("format") != FORMAT:
            raise ValueError(f"The checkpoint has format {saved.get('format')!r}; this version reads {FORMAT}.")
        here = {name: tuple(tensor.shape) for name, tensor in _tensors(self.network).items()}
        there = {name: tuple(tensor.shape) for name, tensor in saved["tensors"].items()}
        for name in [*here, *there]:
            if here.get(name) != there.get(name):
                raise ValueError(
                    f"The checkpoint is of another model: {name!r} has shape {there.get(name)} in it, here "
                    f"{here.get(name)}."
                )
        for what, mine, other in (
            ("optimizer", type(self.recipe.optimizer).__name__, saved["optimizer"][0]),
            ("metrics", sorted(self.recipe.kept), sorted(saved["metrics"])),
        ):
            if mine != other:
                raise ValueError(f"The checkpoint was made with the {what} {other}; here there is {mine}.")
        self._callbacks_of(saved)

    def _callbacks_of(self, saved: Mapping[str, Any]) -> list[tuple[Any, Any]]:
        """The callbacks with the states saved for them, by class and order."""
        found, rest = [], list(self.callbacks)
        for name, state in saved["callbacks"]:
            callback = next((callback for callback in rest if type(callback).__name__ == name), None)
            if callback is None:
                raise ValueError(f"The checkpoint has the state of a callback {name}, which is not given here.")
            rest = rest[rest.index(callback) + 1 :]
            found.append((callback, state))
        return found

    @torch.no_grad()
    def _restore(self, saved: Mapping[str, Any]) -> None:
        for name, tensor in _tensors(self.network).items():
            tensor.copy_(saved["tensors"][name])
        for name, (device, state) in saved["generators"].items():
            module, _, key = name.rpartition(".")
            setattr(self.network.get_submodule(module), key, torch.Generator(device).set_state(state))
        self.recipe.optimizer.load_state_dict(saved["optimizer"][1])
        device = next((t.device for t in _tensors(self.network).values()), None)
        sums = saved["sums"]
        self.sums.totals = {name: total.to(device, copy=True) for name, total in sums["totals"].items()}
        self.sums.seen, self.sums.batches = sums["seen"], sums["batches"]
        for name, found in saved["metrics"].items():
            self.recipe.kept[name].load_state_dict(found)
        for callback, state in self._callbacks_of(saved):
            callback.load_state_dict(state)
        if self.recipe.guard is not None and saved["guard"]:
            self.recipe.guard.load_state_dict(saved["guard"])
        rng.restore(saved["random"])


def _tensors(network: Network) -> dict[str, torch.Tensor]:
    """All tensors of a model by name, buffers that no file has included."""
    return {name: tensor.detach() for name, tensor in (*network.named_parameters(), *network.named_buffers())}


def _generators(network: Network) -> dict[str, list[Any]]:
    """The generators of the layers that draw from one of their own: device and state."""
    return {
        f"{name}.{key}": [str(value.device), value.get_state()]
        for name, module in network.named_modules()
        for key, value in vars(module).items()
        if isinstance(value, torch.Generator)
    }


def _states(callbacks: CallbackList) -> list[tuple[Any, Any]]:
    """The callbacks that have a state, with it."""
    found = [(callback, callback.state_dict()) for callback in callbacks if hasattr(callback, "state_dict")]
    return [(callback, _plain(state)) for callback, state in found if state]


def _plain(value: Any) -> Any:
    """Arrays of NumPy as tensors, its numbers as Python's: a checkpoint holds nothing else."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return torch.from_numpy(value.copy())
    return value.item() if isinstance(value, np.generic) else value
