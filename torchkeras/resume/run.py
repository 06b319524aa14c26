"""The state of a `fit`: all that resuming it after a stop needs, apart from the script itself."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from torchkeras.base.python import attributes_of
from torchkeras.callbacks.base import CallbackList, is_called
from torchkeras.data import random_state
from torchkeras.data.batch import Batch
from torchkeras.data.sources import Source
from torchkeras.data.sources.limited import Limited
from torchkeras.engine.fit.results import Sums
from torchkeras.engine.fit.runs import Run
from torchkeras.engine.graph.network import Network
from torchkeras.optimizers import TorchOptimizer
from torchkeras.resume.described import changes, of_fit, own_optimizers

if TYPE_CHECKING:
    from torchkeras.engine.fit.training import Training

FORMAT = 1

# Options that the numbers of an epoch depend on: where one has changed, they begin again.
NUMBERS = frozenset(("model", "loss", "loss_weights", "metrics", "weighted_metrics"))


class ResumableRun(Run):
    """A `fit` whose state a callback may store, and that may resume from such a state.

    `validation`: the source of the data to validate on, which has a position too. `described`: what a run that resumes
    this one must have again, see `described.of_fit`. `given`: further arguments of `fit`, for it.
    """

    def __init__(
        self,
        training: Training,
        source: Source,
        callbacks: CallbackList,
        epoch: int,
        validation: Source | None = None,
        given: Mapping[str, Any] | None = None,
    ):
        super().__init__(training, source, epoch)
        self.callbacks, self.validation = callbacks, validation
        self._order_random: dict[str, Any] = {}
        self._resumed: Mapping[str, Any] | None = None
        self._changed: frozenset[str] = frozenset()  # the words for what differs from the checkpoint, and is accepted
        self.described = of_fit(self.network, source, validation, callbacks, given or {})
        self._options = _options(training.model.optimizer)
        for each in self._sources().values():
            each.keep()
            each.state_dict()  # raises, before any training, for data that cannot be resumed

    @property
    def start(self) -> int:
        """The number of batches of the next epoch that an earlier run has done."""
        return 0 if self._resumed is None else self._resumed["sums"]["batches"]

    @property
    def midway(self) -> bool:
        return self.start > 0

    def _sources(self) -> dict[str, Source]:
        found = {"fit": self.source, "validation": self.validation}
        return {name: source for name, source in found.items() if source is not None}

    def _generators(self) -> dict[str, Any]:
        """The random generators in the user's data."""
        return {f"{k}:{place}": g for k, source in self._sources().items() for place, g in source.generators().items()}

    def _drawn(self) -> dict[str, Any]:
        return {part.replace("own:", "own:fit:"): found for part, found in self.source.drawn().items()}

    # --- an epoch ----------------------------------------------------------------------------------------------------

    def opened(self, order: str) -> Iterator[Batch]:
        """The batches of the epoch that are not done yet."""
        self.begin_epoch()
        saved, start = self._resumed, self.start
        self._resumed = None
        if saved is None or not start:
            self._order_random = random_state.state(self._generators())
            return self.source.batches(order)
        self._restore(saved)  # again: hooks at the start of the epoch may have changed the state
        self._order_random = saved["order_random"]
        random_state.restore(self._order_random, self._generators())
        batches = self.source.batches(order, skip=start)
        random_state.restore(saved["random"], self._generators())
        return batches

    # --- the state ---------------------------------------------------------------------------------------------------

    def state_dict(self, epoch_done: bool = False) -> dict[str, Any]:
        """All that resuming bit by bit needs: tensors (not copied) and plain values. `epoch_done`: at an epoch's end.

        Raises TypeError where the state of a callback, metric, optimizer or the data holds anything else, and
        ValueError where no optimizer can be found.
        """
        compiled, sums = self.compiled, Sums() if epoch_done else self.sums
        optimizer, own = self.network.optimizer, own_optimizers(self.network)
        if optimizer is None and not own:
            raise ValueError(
                f"{type(self.network).__name__} was compiled without an optimizer, and has none among its attributes: "
                "the state of what its train_step trains with would not be kept."
            )
        state = {} if optimizer is None else optimizer.state_dict()
        found = {
            "tensors": tensors_of(self.network),
            "generators": _generators(self.network),
            "optimizer": [type(optimizer).__name__, state],
            "own": {name: each.state_dict() for name, each in own.items()},
            "sums": {"totals": sums.totals, **_counts(sums)},
            "metrics": {name: metric.state_dict() for name, metric in compiled.kept.items()},
            "callbacks": {name: state for name, (_, state) in _states(self.callbacks).items()},
            "guard": {} if compiled.guard is None else compiled.guard.state_dict(),
            "loss_scale": {} if compiled.scaling is None else compiled.scaling.state_dict(),
            "sources": {name: source.state_dict() for name, source in self._sources().items()},
            "first": {name: source.first for name, source in self._sources().items()},
            "order_random": {} if epoch_done else self._order_random,
            "random": {**random_state.state(self._generators()), **self._drawn()},
            "step_random": self.processes.step_random(),
            "stop_training": bool(getattr(self.network, "stop_training", False)),
            "described": self.described,
        }
        return {"format": FORMAT, "epoch": self.epoch + int(epoch_done), **_storable(found, "state")}

    def load_state_dict(self, saved: Mapping[str, Any], accept: Collection[str] = ()) -> None:
        """Resume from a state; what the words in `accept` stand for may have changed.

        Raises ValueError, which names every difference, when anything else has changed.
        """
        self._compare(saved, accept)
        for name, source in self._sources().items():
            self._find_place(source, saved["sources"].get(name, {}))
            source.first = None if "data" in accept else saved.get("first", {}).get(name)
        if self.validation is not None:
            self.validation.catch_up("sequential")
        self._restore(saved)
        self.epoch = saved["epoch"]
        self.network.__dict__["stop_training"] = saved["stop_training"]
        self._resumed = saved

    def _compare(self, saved: Mapping[str, Any], accept: Collection[str]) -> None:
        if saved.get("format") != FORMAT:
            raise ValueError(f"The checkpoint has format {saved.get('format')!r}; this version reads {FORMAT}.")
        before = saved.get("described")
        if before is None:
            warnings.warn(
                "BackupAndRestore: the checkpoint is of an older version, and does not say of which data, options and "
                "callbacks it is: that these are the same is not checked.",
                stacklevel=5,
            )
            before = self.described
        found, code = changes(before, self.described)
        if self._left_by(saved):
            found.pop("learning_rate", None)
        found, code = self.processes.of_main((found, code))  # so that all raise or none
        weights, wrong = self._weights(saved), [line for word, line in found.items() if word not in accept]
        if weights or wrong:
            words = "" if weights else f", go on with the new ones by BackupAndRestore(..., accept={tuple(found)!r})"
            lines = ["It differs:", *(f"  {line}" for line in [*weights, *wrong])]
            raise ValueError(
                "\n".join([*lines, f"Make them what they were{words}, or begin again with another folder."])
            )
        noted = [line for word, line in code.items() if word not in accept]
        if noted:
            listed = "; ".join(noted)
            warnings.warn(
                f"BackupAndRestore: code has changed since the checkpoint; the run goes on with it. {listed}.",
                RuntimeWarning,
                stacklevel=5,
            )
        self._changed = frozenset(found)
        self.described = {**before, **{word: self.described[word] for word in (*found, *code)}}

    def _left_by(self, saved: Mapping[str, Any]) -> bool:
        """Whether the present rate is that of the checkpoint, since the same process resumes."""
        now, state = self.described["learning_rate"], saved["optimizer"][1]
        groups = state.get("torch", {}).get("param_groups", [])
        return now == ([float(group["lr"]) for group in groups] or state.get("options", {}).get("lr"))

    def _weights(self, saved: Mapping[str, Any]) -> list[str]:
        """How the tensors of the model differ from those of the checkpoint."""
        here = {name: tuple(tensor.shape) for name, tensor in tensors_of(self.network).items()}
        there = {name: tuple(tensor.shape) for name, tensor in saved["tensors"].items()}
        wrong = [name for name in dict.fromkeys([*here, *there]) if here.get(name) != there.get(name)]
        lines = [
            f"weights: {name!r} has shape {there.get(name, 'none')} in the checkpoint, {here.get(name, 'none')} here"
            for name in wrong[:3]
        ]
        if any(name not in there or name not in here for name in wrong):
            lines.append(
                "weights: there are other names. Within one process layers without a name are numbered on: give them "
                "names, or call torchkeras.clear_session() before the model is made"
            )
        return lines

    def _find_place(self, source: Source, state: Mapping[str, Any]) -> None:
        """Move a source to the position of a state. One of other data, with another kind of state, starts again."""
        own = source.state_dict()
        state = state if "taken" in own else state.get("source", state) if "taken" in state else state
        if isinstance(source, Limited) and "taken" not in state:
            source = source.source
            own = source.state_dict()
        if own.keys() == state.keys() or not self._changed:
            source.load_state_dict(dict(state))

    @torch.no_grad()
    def _restore(self, saved: Mapping[str, Any]) -> None:
        callbacks, changed = _by_class(self.callbacks), self._changed
        for name, state in saved["callbacks"].items():  # before the optimizer: they may decide what trains
            if name in callbacks and is_called(callbacks[name]):
                callbacks[name].load_state_dict(state)
        compiled = self.compiled
        tensors = tensors_of(self.network)
        for name, tensor in tensors.items():
            tensor.copy_(saved["tensors"][name])
        modules = dict(self.network.named_modules())
        for name, (device, state) in saved["generators"].items():
            module, _, key = name.rpartition(".")
            if module in modules:
                setattr(modules[module], key, random_state.generator(device, state))
        if self.network.optimizer is not None:
            self._restore_optimizer(self.network.optimizer, saved["optimizer"][1])
        for name, each in own_optimizers(self.network).items():
            if name in saved["own"]:
                each.load_state_dict(saved["own"][name])
        device = next((tensor.device for tensor in tensors.values()), None)
        sums = saved["sums"]
        self.sums.totals = {name: total.to(device, copy=True) for name, total in sums["totals"].items()}
        for name in _counts(self.sums):
            setattr(self.sums, name, sums.get(name, 0))  # older checkpoints have fewer
        if changed & NUMBERS:  # the numbers of this epoch are those of its remaining batches
            self.sums.totals, self.sums.seen = {}, 0
        else:
            for name, found in saved["metrics"].items():
                compiled.kept[name].load_state_dict(found)
        if compiled.guard is not None and saved["guard"]:
            compiled.guard.load_state_dict(saved["guard"])
        if compiled.scaling is not None and saved.get("loss_scale"):  # which older checkpoints have not
            compiled.scaling.load_state_dict(saved["loss_scale"])
        random_state.restore(saved["random"], self._generators())
        self.processes.restore_step_random(saved.get("step_random", {}))

    def _restore_optimizer(self, optimizer: Any, state: Mapping[str, Any]) -> None:
        """Give an optimizer its state; where another optimizer or model is accepted, it may start without."""
        try:
            optimizer.load_state_dict(with_options(state, self._options, self._changed))
        except ValueError as error:
            if not self._changed & {"model", "optimizer"}:
                raise
            warnings.warn(f"BackupAndRestore: the optimizer begins again. {error}", RuntimeWarning, stacklevel=2)


def _counts(sums: Sums) -> dict[str, int]:
    """The counts of an epoch, which are on the host."""
    return {name: value for name, value in vars(sums).items() if isinstance(value, int)}


def tensors_of(network: Network) -> dict[str, torch.Tensor]:
    """All tensors of a model by name, also buffers that no file holds."""
    return {name: tensor.detach() for name, tensor in (*network.named_parameters(), *network.named_buffers())}


def _generators(network: Network) -> dict[str, list[Any]]:
    """Device and state of the random generators that layers own."""
    return {
        f"{name}.{key}": [str(value.device), value.get_state()]
        for name, module in network.named_modules()
        for key, value in attributes_of(module).items()
        if isinstance(value, torch.Generator)
    }


def _options(optimizer: Any) -> Any:
    """The options of an optimizer, in the form of its state."""
    if isinstance(optimizer, TorchOptimizer):
        return [{name: value for name, value in group.items() if name != "params"} for group in optimizer.param_groups]
    return {} if optimizer is None else optimizer.state_dict()["options"]


def with_options(state: Mapping[str, Any], options: Any, changed: Collection[str]) -> dict[str, Any]:
    """The state of an optimizer, with these options where a change was accepted."""

    def chosen(name: str) -> bool:
        return ("learning_rate" if name in ("lr", "initial_lr") else "optimizer") in changed

    def mixed(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
        return {**before, **{name: value for name, value in now.items() if chosen(name)}}

    if "options" in state and isinstance(options, dict):
        return {**state, "options": mixed(state["options"], options)}
    if "torch" not in state or isinstance(options, dict):
        return dict(state)
    groups = [mixed(*each) for each in zip(state["torch"]["param_groups"], options, strict=False)]
    return {**state, "torch": {**state["torch"], "param_groups": groups}}


def _by_class(callbacks: CallbackList) -> dict[str, Any]:
    """Callbacks by class; a second one of a class is "EarlyStopping 2"."""
    found: dict[str, Any] = {}
    counts: Counter[str] = Counter()
    for callback in callbacks:
        name = type(callback).__name__
        counts[name] += 1
        found[name if counts[name] == 1 else f"{name} {counts[name]}"] = callback
    return found


def _states(callbacks: CallbackList) -> dict[str, tuple[Any, Any]]:
    """The callbacks that have a state, with it."""
    found = {
        name: (each, each.state_dict())
        for name, each in _by_class(callbacks).items()
        if hasattr(each, "state_dict") and is_called(each)
    }
    return {name: (callback, state) for name, (callback, state) in found.items() if state}


def _storable(value: Any, place: str) -> Any:
    """Arrays of NumPy as tensors, its numbers as Python's: a checkpoint holds nothing else."""
    if isinstance(value, Mapping):
        return {_storable(key, place): _storable(item, f"{place}[{key!r}]") for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        found = [_storable(item, f"{place}[{i}]") for i, item in enumerate(value)]
        return tuple(found) if isinstance(value, tuple) else found
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
        return torch.from_numpy(value.copy())
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, torch.Tensor):
        return value.detach()
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        return value
    raise TypeError(
        "BackupAndRestore keeps numbers, strings, arrays and lists and dicts of them; "
        f"{place} is a {type(value).__name__}."
    )
