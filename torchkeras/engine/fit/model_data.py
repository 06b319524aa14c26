"""What a user passes to `fit` and the like, against one model: checked tensors, or a `Batch` where it is streamed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from torchkeras.engine.data import checks, sample_weights
from torchkeras.engine.data.batch import Batch
from torchkeras.engine.data.raw_batch import mapped, samples_in
from torchkeras.engine.data.target_kinds import AS_GIVEN, CLASSES, SOME_CLASSES
from torchkeras.engine.graph.call_forms import float_type, in_order, is_by_name, type_of
from torchkeras.engine.graph.network import Network
from torchkeras.engine.step.targets import Target, by_output

Checked = tuple[list[Tensor], list[Tensor], list[Tensor | None]]


@dataclass(frozen=True, eq=False)
class Intake:
    """The inputs and targets that a model takes, and how their weights are made.

    `targets`: gives those of a compiled model (asked after the model is built); None where only inputs are taken.
    `default_targets`: used when no y is given. `free`: without a loss that says otherwise any targets are taken, for a
    step of the user's own.
    """

    network: Network
    targets: Callable[[], Sequence[Target]] | None = None
    class_weight: Any = None
    default_targets: Any = None
    free: bool = False

    def inputs(self, x: Any, streamed: bool = False) -> list[Tensor]:
        """Checked inputs; a model without a graph yet is built for them. Raises what `checks` raises."""
        network = self.network
        x = self._connected(x)
        shapes, types = zip(*((tensor.shape, type_of(network, tensor)) for tensor in network.inputs), strict=True)
        indices = None if network._graph is None else network._graph.index_layers
        return checks.standardize(x, network.input_names, shapes, types, "input", indices=indices, streamed=streamed)

    def _connected(self, x: Any) -> Any:
        """The inputs as a list where the model has them in a form of its own; the model is built if it is not yet."""
        network: Any = self.network
        if not network._is_connected and network._has_own_code:
            network._connect_to(x if isinstance(x, (list, tuple, Mapping)) else checks.standardize(x, ["input"])[0])
        elif not network._is_connected:
            (first,) = checks.standardize(x, ["input"])
            network.build((None, *first.shape[1:]))
        form = network._input_form
        if form is None or is_by_name(form, network.input_names, x):
            return x
        return in_order(form, x, network.inputs, f"{describe(network)}: x")

    def arrays(self, x: Any, y: Any = None, sample_weight: Any = None, streamed: bool = False) -> Checked:
        """Checked inputs, targets and weights. Raises what `checks` and `weighting` raise.

        Class numbers and indices of a `streamed` batch on a device are not looked at, since that would wait for it.
        """
        inputs = self.inputs(x, streamed)
        if self.targets is None:
            checks.check_lengths(inputs, [])
            return inputs, [], []
        true, names, modes = self._true(y, streamed)
        of_samples, of_classes = self._by_output(sample_weight), self._by_output(self.class_weight)
        weights = sample_weights.standardize_weights(true, names, of_samples, of_classes, modes)
        checks.check_lengths(inputs, true, weights)
        return inputs, true, weights

    def true(self, y: Any) -> list[Tensor]:
        """Checked targets of one batch, as `arrays` has them."""
        return self._true(y, streamed=True)[0]

    def _true(self, y: Any, streamed: bool) -> tuple[list[Tensor], list[str], list[str | None]]:
        """Checked targets, their names, and how their samples are weighted."""
        assert self.targets is not None
        targets = self.targets()
        names = [target.name for target in targets]
        kinds = [target.objective.target_kind for target in targets]
        outputs = [self.network.outputs[target.index] for target in targets]
        shapes: list[Any] = [tensor.shape for tensor in outputs]
        types = [
            torch.int64 if kind in (CLASSES, SOME_CLASSES) else type_of(self.network, tensor)
            for tensor, kind in zip(outputs, kinds, strict=True)
        ]
        y = self._by_output(self.default_targets if y is None else y)
        form = self.network._output_form
        if form is not None and y is not None and not (isinstance(y, Mapping) and set(y) <= set(names)):
            y = in_order(form, y, self.network.outputs, f"{describe(self.network)}: y")
        if not targets and self.free:
            count = 0 if y is None else len(y) if isinstance(y, (list, tuple)) else 1
            names, kinds = [f"y{k}" for k in range(count)], [AS_GIVEN] * count
            shapes, types = [(None,)] * count, [float_type(self.network, torch.get_default_dtype())] * count
        true = checks.standardize_targets(y, names, shapes, kinds, types)
        if not streamed or all(target.device.type == "cpu" for target in true):
            checks.check_labels(true, names, shapes, kinds)
        return true, names, [target.weight_mode for target in targets] or [None] * len(names)

    def _by_output(self, given: Any) -> Any:
        """What is given by the names of layers by those of outputs; anything else as it is."""
        if not isinstance(given, Mapping) or self.targets is None:
            return given
        targets, owners = self.targets(), self.network._output_owners
        return by_output(given, [target.name for target in targets], [owners[target.index] for target in targets])

    def batch(self, x: Any, y: Any = None, sample_weight: Any = None, whole: int | None = None) -> Batch:
        """The same for one streamed batch, where it lies; `whole`: the samples of a batch of which these are a part."""
        inputs, targets, weights = self.arrays(x, y, sample_weight, streamed=True)
        size, fixed = len(inputs[0]), fixed_batch_size(self.network)
        if fixed is not None:
            found = size if whole is None else whole
            checks.check_batches(describe(self.network), fixed, False, found, found, "a batch")
        return Batch(inputs, targets, weights, size)

    def raw(self, item: Any) -> Batch:
        """An item of a loader as it is, for a step of the user's own; NumPy's arrays become tensors.

        Raises ValueError for class weights, which would have to enter it.
        """
        if self.class_weight is not None:
            raise ValueError(
                f"fit: class_weight cannot be given: {describe(self.network)} has a train_step of its own, which gets "
                "the batches as they are made. Let them bring sample weights: (x, y, sample_weight)."
            )
        item = mapped(item, lambda tensor: tensor, None)
        return Batch([], [], [], samples_in(item), item)


def fixed_batch_size(network: Network) -> int | None:
    """The batch size that some input of a model has fixed; None for a model without a graph."""
    if not network._is_connected or (network._graph is None and network._has_own_code):
        return None
    shapes = [tensor.shape for tensor in network.inputs]
    return next((shape[0] for shape in shapes if shape[0] is not None), None)


def describe(network: Network) -> str:
    """Class and name of a model, for messages."""
    return f"{type(network).__name__} {network.name!r}"
