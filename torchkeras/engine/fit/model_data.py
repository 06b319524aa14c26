"""What a user passes to `fit` and the like, against one model: checked tensors, or a `Batch` where it is streamed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from torchkeras.data import checks, sample_weights
from torchkeras.data.batch import Batch
from torchkeras.data.raw_batch import mapped, samples_in
from torchkeras.data.target_kinds import AS_GIVEN, CLASSES, SOME_CLASSES
from torchkeras.engine.graph.call_forms import float_type, in_order, is_by_name, type_of
from torchkeras.engine.graph.network import Network
from torchkeras.engine.step.targets import by_output
from torchkeras.engine.symbolic.tensor import as_list

if TYPE_CHECKING:
    from torchkeras.engine.fit.training import Training

Checked = tuple[list[Tensor], list[Tensor], list[Tensor | None]]


@dataclass(frozen=True, eq=False)
class Intake:
    """The inputs and targets that a model takes, and how their weights are made.

    `has_targets`: whether it takes those of a compiled model (asked for after the model is built), not inputs alone.
    """

    training: Training
    class_weight: Any = None
    has_targets: bool = True

    @property
    def network(self) -> Network:
        """The model."""
        return self.training.model

    @property
    def is_free(self) -> bool:
        """Whether any targets are taken where no loss says otherwise, for a step of the user's own."""
        return any(map(self.training.has_own, ("train_step", "test_step", "compute_loss")))

    def inputs(self, x: Any, streamed: bool = False) -> list[Tensor]:
        """Checked inputs; a model without a graph yet is built for them. Raises what `checks` raises."""
        network = self.network
        x = self._connected(x)
        shapes, types = zip(*((tensor.shape, type_of(network, tensor)) for tensor in network.inputs), strict=True)
        indices = None if network._graph is None else network._graph.index_layers
        return checks.standardize(x, network.input_names, shapes, types, "input", indices=indices, streamed=streamed)

    def _connected(self, x: Any) -> Any:
        """The inputs as a list where the model has them in a form of its own; the model is built if it is not yet."""
        network, own_code = self.network, self.training.own_code
        if not network._is_connected and own_code is not None:
            own_code.see(x if isinstance(x, (list, tuple, Mapping)) else checks.standardize(x, ["input"])[0])
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
        if not self.has_targets:
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
        targets = self.training.ready().targets
        names = [target.name for target in targets]
        kinds = [target.objective.target_kind for target in targets]
        outputs = [self.network.outputs[target.index] for target in targets]
        shapes: list[Any] = [tensor.shape for tensor in outputs]
        types = [
            torch.int64 if kind in (CLASSES, SOME_CLASSES) else type_of(self.network, tensor)
            for tensor, kind in zip(outputs, kinds, strict=True)
        ]
        y = self._by_output(self.training.model.target_tensors if y is None else y)
        form = self.network._output_form
        if form is not None and y is not None and not (isinstance(y, Mapping) and set(y) <= set(names)):
            y = in_order(form, y, self.network.outputs, f"{describe(self.network)}: y")
        if not targets and self.is_free:
            count = len(as_list(y))
            names, kinds = [f"y{k}" for k in range(count)], [AS_GIVEN] * count
            shapes, types = [(None,)] * count, [float_type(self.network, torch.get_default_dtype())] * count
        true = checks.standardize_targets(y, names, shapes, kinds, types)
        if not streamed or all(target.device.type == "cpu" for target in true):
            checks.check_labels(true, names, shapes, kinds)
        return true, names, [target.weight_mode for target in targets] or [None] * len(names)

    def _by_output(self, given: Any) -> Any:
        """What is given by the names of layers by those of outputs; anything else as it is."""
        if not isinstance(given, Mapping) or not self.has_targets:
            return given
        targets, owners = self.training.ready().targets, self.network._output_owners
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
