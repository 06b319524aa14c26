"""The data that a user passes to `fit` and the like, checked for one model: as tensors, or as a `Batch` if streamed."""

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
from torchkeras.engine.graph.network import (
    Network,
    float_type,
    in_order,
    input_form_of,
    is_by_name,
    output_form_of,
    type_of,
)
from torchkeras.engine.graph.trace import has_own_code, is_connected
from torchkeras.engine.step.targets import by_output
from torchkeras.engine.symbolic.tensor import as_list

if TYPE_CHECKING:
    from torchkeras.engine.fit.training import Training

Checked = tuple[list[Tensor], list[Tensor], list[Tensor | None]]


@dataclass(frozen=True, eq=False)
class Intake:
    """Checks inputs, targets and weights for a model.

    `has_targets`: whether there are targets, those of a compiled model (read after the model is built); else inputs
    alone.
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
        """Whether targets without a loss are allowed, since a custom step may use them."""
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
        network = self.network
        if not is_connected(network):
            self._build(x)
        form = input_form_of(network)
        if form is None or is_by_name(form, network.input_names, x):
            return x
        return in_order(form, x, network.inputs, f"{describe(network)}: x")

    def _build(self, x: Any) -> None:
        """Build the model for its first inputs."""
        network, own_code = self.network, self.training.own_code
        if own_code is None:
            (first,) = checks.standardize(x, ["input"])
            network.build((None, *first.shape[1:]))
            return
        if not isinstance(x, (list, tuple, Mapping)):
            (x,) = checks.standardize(x, ["input"])
        own_code.see(x)

    def arrays(self, x: Any, y: Any = None, sample_weight: Any = None, streamed: bool = False) -> Checked:
        """Checked inputs, targets and weights. Raises as `checks` and `sample_weights`.

        The values of class numbers and indices of a `streamed` batch on a device are not checked: that would wait for
        the device.
        """
        inputs = self.inputs(x, streamed)
        if not self.has_targets:
            checks.check_lengths(inputs, [])
            return inputs, [], []
        true, names, modes = self._true(y, streamed)
        weights: list[Tensor | None] = [None] * len(true)
        if sample_weight is not None or self.class_weight is not None or any(modes):
            of_samples, of_classes = self._by_output(sample_weight), self._by_output(self.class_weight)
            weights = sample_weights.standardize_weights(true, names, of_samples, of_classes, modes)
        checks.check_lengths(inputs, true, weights)
        return inputs, true, weights

    def true(self, y: Any) -> list[Tensor]:
        """Checked targets of one batch, as `arrays` has them."""
        return self._true(y, streamed=True)[0]

    def _true(self, y: Any, streamed: bool) -> tuple[list[Tensor], list[str], list[str | None]]:
        """Checked targets, their names, and how their samples are weighted."""
        network, targets = self.network, self.training.ready().targets
        names, shapes, kinds, types = [], [], [], []
        modes: list[str | None] = []
        for target in targets:
            output, kind = network.outputs[target.index], target.objective.target_kind
            names.append(target.name)
            shapes.append(output.shape)
            kinds.append(kind)
            modes.append(target.weight_mode)
            types.append(torch.int64 if kind in (CLASSES, SOME_CLASSES) else type_of(network, output))
        if y is None:
            y = self.training.model.target_tensors
        y = self._by_output(y)
        form = output_form_of(network)
        if form is not None and y is not None and not (isinstance(y, Mapping) and set(y) <= set(names)):
            y = in_order(form, y, network.outputs, f"{describe(network)}: y")
        if not targets and self.is_free:
            count = len(as_list(y))
            names, kinds = [f"y{k}" for k in range(count)], [AS_GIVEN] * count
            modes += [None] * count
            shapes, types = [(None,)] * count, [float_type(network, torch.get_default_dtype())] * count
        true = checks.standardize_targets(y, names, shapes, kinds, types)
        if not streamed or all(target.device.type == "cpu" for target in true):
            checks.check_labels(true, names, shapes, kinds)
        return true, names, modes

    def _by_output(self, given: Any) -> Any:
        """A dict by the names of layers as one by the names of outputs; anything else as it is."""
        if not isinstance(given, Mapping) or not self.has_targets:
            return given
        targets, owners = self.training.ready().targets, self.network._output_owners
        return by_output(given, [target.name for target in targets], [owners[target.index] for target in targets])

    def batch(self, x: Any, y: Any = None, sample_weight: Any = None, whole: int | None = None) -> Batch:
        """The same for one streamed batch, where it lies; `whole`: the samples of the batch of which this is a part."""
        inputs, targets, weights = self.arrays(x, y, sample_weight, streamed=True)
        size, fixed = len(inputs[0]), fixed_batch_size(self.network)
        if whole is None:
            whole = size
        if fixed is not None:
            checks.check_batches(describe(self.network), fixed, False, whole, whole, "a batch")
        return Batch(inputs, targets, weights, size)

    def raw(self, item: Any) -> Batch:
        """An item of a loader as it is, for a custom step; NumPy's arrays become tensors.

        Raises ValueError for class weights, which have no place in it.
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
    if not is_connected(network) or (network._graph is None and has_own_code(network)):
        return None
    sizes = (tensor.shape[0] for tensor in network.inputs)
    return next((size for size in sizes if size is not None), None)


def describe(network: Network) -> str:
    """Class and name of a model, for messages."""
    return f"{type(network).__name__} {network.name!r}"
