"""What `fit` and the like receive: the model is checked, data becomes a source of batches, callbacks a list.

An `Intake` checks data for one model: as tensors, or as a `Batch` if streamed.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from torchkeras.base.rules import integer, is_number, read
from torchkeras.base.texts import are_strings, keras_shape, strings_as_tensors
from torchkeras.callbacks.base import CallbackList
from torchkeras.callbacks.progress import level, shown
from torchkeras.callbacks.torch_scheduler import SCHEDULERS, TorchScheduler
from torchkeras.data import checks, sample_weights
from torchkeras.data.batch import Batch
from torchkeras.data.raw_batch import mapped, samples_in
from torchkeras.data.sources import Source, limited, open_source
from torchkeras.data.sources.limited import Limited
from torchkeras.data.target_kinds import AS_GIVEN, CLASSES, SOME_CLASSES
from torchkeras.engine.fit.alike import MOST_LOOKS, Expected, Passed, look_of, passed
from torchkeras.engine.fit.doubts import doubt_data
from torchkeras.engine.graph.network import (
    Network,
    device_of,
    float_type,
    in_order,
    input_form_of,
    is_by_name,
    is_deep,
    of_needed_keys,
    output_form_of,
    type_of,
)
from torchkeras.engine.graph.trace import has_own_code, is_connected
from torchkeras.engine.step.targets import Target, by_output
from torchkeras.engine.symbolic.tensor import as_list

if TYPE_CHECKING:
    from torchkeras.engine.fit.training import Training

Checked = tuple[list[Tensor], list[Tensor], list[Tensor | None]]
BATCH_SIZE = 32
VALIDATION_ITEMS = (
    "When passing validation_data, it must contain 2 (x_val, y_val) or 3 (x_val, y_val, val_sample_weights) items"
)


@dataclass(eq=False)
class Intake:
    """Checks inputs, targets and weights for a model.

    `has_targets`: whether there are targets, those of a compiled model (read after the model is built); else inputs
    alone. `trains`: whether `fit` takes the data, which then looks for likely mistakes.
    """

    training: Training
    class_weight: Any = None
    has_targets: bool = True
    trains: bool = False
    _passed: dict[Any, Passed] = field(default_factory=dict)  # by the look of the batch

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
        if self.training.only_trains:
            names = [f"x{number}" for number in range(len(as_list(x)))]
            floats = [float_type(network, torch.get_default_dtype())] * len(names)
            return checks.standardize(x, names, dtypes=floats, as_given=[True] * len(names))
        x = self._connected(x)
        shapes, types = zip(*((tensor.shape, type_of(network, tensor)) for tensor in network.inputs), strict=True)
        indices = None if network._graph is None else network._graph.index_layers
        return checks.standardize(
            x, network.input_names, shapes, types, "input", indices=indices, streamed=streamed,
            fits_rank=network._habits.fits_rank,
        )  # fmt: skip

    def _connected(self, x: Any) -> Any:
        """The inputs as a list where the model has them in a form of its own; the model is built if it is not yet."""
        network = self.network
        if not is_connected(network):
            self._build(x)
        form = input_form_of(network)
        if network._habits.leaves_out_keys and self.training.own_code is None:
            x = of_needed_keys(form, network.input_names, x)
        if form is None or is_by_name(form, network.input_names, x):
            return x
        if isinstance(form, Mapping):
            x = checks.by_column(x)
        return in_order(form, x, network.inputs, f"{self.training.described}: x")

    def _build(self, x: Any) -> None:
        """Build the model for its first inputs."""
        network, own_code = self.network, self.training.own_code
        if own_code is None:
            (first,) = checks.standardize(x, ["input"])
            network.build((None, *keras_shape(first)[1:]))
            return
        if are_strings(x) or not isinstance(x, (list, tuple, Mapping)):
            (x,) = checks.standardize(x, ["input"])
        own_code.see(strings_as_tensors(x))

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
            habits = self.training.model._habits
            if habits.weighs_by_shape:
                modes = [sample_weights.BY_SHAPE] * len(true)
            weights = sample_weights.standardize_weights(
                true, names, of_samples, of_classes, modes, any_class=habits.weighs_any_class
            )
        checks.check_lengths(inputs, true, weights)
        if self.trains and self.training.ready().looks_at_data:
            doubt_data(self.training, true, weights)
        return inputs, true, weights

    def true(self, y: Any) -> list[Tensor]:
        """Checked targets of one batch, as `arrays` has them."""
        return self._true(y, streamed=True)[0]

    def _true(self, y: Any, streamed: bool) -> tuple[list[Tensor], list[str], list[str | None]]:
        """Checked targets, their names, and how their samples are weighted."""
        targets, habits = self.training.ready().targets, self.training.model._habits
        y = self._of_targets(y, targets)
        if not targets and habits.leaves_out_targets and not self.is_free:
            y = None
        names, shapes, kinds, types, modes = self._expected(targets, y)
        true = checks.standardize_targets(y, names, shapes, kinds, types, habits.fits_rank)
        checks.check_labels(true, names, shapes, kinds, streamed)
        return true, names, modes

    def _of_targets(self, y: Any, targets: Sequence[Target]) -> Any:
        """What was passed as targets, or the `target_tensors` of the model, without those that nothing compares."""
        network, names = self.network, [target.name for target in targets]
        y = self._by_output(self.training.model.target_tensors if y is None else y)
        form = output_form_of(network)
        if self.training.model._habits.leaves_out_targets and 0 < len(targets) < len(network.outputs):
            if is_deep(form) and y is not None:
                y = in_order(form, y, network.outputs, f"{self.training.described}: y")
            y = _without_unscored(y, names, [target.index for target in targets], len(network.outputs))
            if is_deep(form):
                return y
        if form is None or y is None or (isinstance(y, Mapping) and set(y) <= set(names)):
            return y
        if not targets and self.is_free and not isinstance(y, (Mapping, list, tuple)):
            return y  # only the custom code knows to which outputs it belongs
        return in_order(form, y, network.outputs, f"{self.training.described}: y")

    def _expected(self, targets: Sequence[Target], y: Any) -> Expected:
        """What is expected of the targets of a compiled model, or of those in y if only a custom step uses them."""
        network, expected = self.network, Expected([], [], [], [], [])
        if not targets and self.is_free:
            dtype, count = float_type(network, torch.get_default_dtype()), len(as_list(y))
            names = [f"y{k}" for k in range(count)]
            return Expected(names, [(None,)] * count, [AS_GIVEN] * count, [dtype] * count, [None] * count)
        for target in targets:
            output, kind = network.outputs[target.index], target.objective.target_kind
            expected.names.append(target.name)
            expected.shapes.append(output.shape)
            expected.kinds.append(kind)
            expected.types.append(torch.int64 if kind in (CLASSES, SOME_CLASSES) else type_of(network, output))
            expected.modes.append(target.weight_mode)
        return expected

    def _by_output(self, given: Any) -> Any:
        """A dict by the names of layers as one by the names of outputs; anything else as it is."""
        if not isinstance(given, Mapping) or not self.has_targets:
            return given
        targets, owners = self.training.ready().targets, self.network._output_owners
        return by_output(given, [target.name for target in targets], [owners[target.index] for target in targets])

    def batch(self, x: Any, y: Any = None, sample_weight: Any = None, whole: int | None = None) -> Batch:
        """The same for one streamed batch, where it lies; `whole`: the samples of the batch of which this is a part."""
        y = y if self.has_targets else None
        is_plain = sample_weight is self.class_weight is whole is None
        look = look_of(x, y) if is_plain else None
        before = self._passed.get(look)
        alike = before and before.alike(x, y, self._made_for())
        if alike is not None:
            return alike
        inputs, targets, weights = self.arrays(x, y, sample_weight, streamed=True)
        size, fixed = len(inputs[0]), fixed_batch_size(self.network)
        if whole is None:
            whole = size
        if fixed is not None:
            checks.check_batches(self.training.described, fixed, False, whole, whole, "a batch")
        batch = Batch(inputs, targets, weights, size)
        graph = self.network._graph
        is_remembered = look is not None and (before is not None or len(self._passed) < MOST_LOOKS)
        if is_remembered and graph is not None and self._takes_lists:
            expected = self._expected(self.training.ready().targets, y) if self.has_targets else None
            found = passed(x, y, batch, self._made_for(), self.network.input_names, graph, expected)
            if found is not None:
                self._passed[look] = found
        return batch

    @property
    def _takes_lists(self) -> bool:
        """Whether a batch has its arrays in the order of the model's inputs and targets."""
        network = self.network
        return self.training.own_code is None and input_form_of(network) is None and output_form_of(network) is None

    def _made_for(self) -> tuple[Any, ...]:
        """What the checks of a batch depend on besides it: the graph, the type of the weights, and `compile`."""
        network = self.network
        compiled = self.training.ready() if self.has_targets else None
        return network._graph, float_type(network, torch.get_default_dtype()), compiled

    def raw(self, item: Any) -> Batch:
        """An item of a loader as it is, for a custom step; NumPy's arrays become tensors.

        Raises ValueError for class weights, which have no place in it.
        """
        if self.class_weight is not None:
            raise ValueError(
                f"fit: class_weight cannot be given: {self.training.described} has a train_step of its own, which gets "
                "the batches as they are made. Let them bring sample weights: (x, y, sample_weight)."
            )
        item = mapped(item, lambda tensor: tensor, None)
        return Batch([], [], [], samples_in(item), item)


def _without_unscored(y: Any, names: list[str], places: list[int], outputs: int) -> Any:
    """Targets of all outputs, of which only those that have a loss stay; anything else as it is."""
    if isinstance(y, Mapping) and set(names) < set(y):
        return {name: y[name] for name in names}
    if isinstance(y, (list, tuple)) and len(y) == outputs:
        return [y[place] for place in places]
    return y


def fixed_batch_size(network: Network) -> int | None:
    """The batch size that some input of a model has fixed; None for a model without a graph."""
    if not is_connected(network) or (network._graph is None and has_own_code(network)):
        return None
    sizes = (tensor.shape[0] for tensor in network.inputs)
    return next((size for size in sizes if size is not None), None)


# --- data ------------------------------------------------------------------------------------------------------------


def source_of(intake: Intake, x: Any, y: Any = None, sample_weight: Any = None, **options: Any) -> Source:
    """The source of the batches of a user's data; a model without a graph yet is built for it.

    `options`: those of `open_source`, among them `method`, `batch_size` and `raw`.
    """
    training, method, batch_size = intake.training, options["method"], options["batch_size"]
    model = training.model
    if batch_size is not None:
        read(method, "batch_size", integer(1), batch_size)
    source = open_source(
        x, y, sample_weight, **options, prepare=intake.batch, check_arrays=intake.arrays, device=device_of(model),
        default_batch_size=fixed_batch_size(model) or BATCH_SIZE, part=training.processes.dividing.part,
        to_its_end=model._habits.epochs_end_with_data,
    )  # fmt: skip
    raw = options.get("raw", False)
    if not is_connected(model) and not (raw and training.is_alone):
        source.see_first()  # for which the model is built
    if raw:
        source.give_raw(intake.raw)
    _check_batches_of(training, source, method)
    return source


def check_batches(training: Training, samples: int, batch_size: int, what: str) -> None:
    """Raise ValueError where the batches do not have the size that the model has fixed."""
    model = training.model
    checks.check_batches(training.described, fixed_batch_size(model), model.stateful, samples, batch_size, what)


def _check_batches_of(training: Training, source: Source, what: str) -> None:
    """As `check_batches`, where the source knows its sizes."""
    if source.samples is not None and source.batch_size is not None:
        check_batches(training, source.samples, source.batch_size, what)


def validation_of(
    training: Training,
    source: Source,
    split: float,
    given: Any,
    batch_size: int | None,
    own_batch_size: int | None,
    steps: int | None,
    made: dict[str, Any],
) -> tuple[Source, Source | None]:
    """The sources to train on and to validate on.

    `batch_size`: for arrays to validate on; it is that of the training where the validation has no `own_batch_size`.
    """
    if given is not None:
        if split:
            warnings.warn(f"fit: validation_data is given, so validation_split {split!r} is left out.", stacklevel=5)
        raw = training.has_own("test_step")
        options = {"shuffle": None, "steps": steps, "method": "validation", "raw": raw, **made}
        return source, _given_validation(training, given, batch_size, own_batch_size, options)
    if not (is_number(split) and 0.0 <= split < 1.0):
        raise ValueError(f"fit: validation_split must be from 0 up to, not including, 1; found {split!r}.")
    if not split:
        return source, None
    parts = source.split(split)
    if own_batch_size is not None:
        read("fit", "validation_batch_size", integer(1), own_batch_size)
        parts[1].batch_size = own_batch_size
    for part in parts:
        _check_batches_of(training, part, "validation_split")
    return parts[0], limited(parts[1], steps, "validation_steps")


def _given_validation(
    training: Training, given: Any, batch_size: int | None, own_batch_size: int | None, options: dict[str, Any]
) -> Source:
    """`validation_data`, opened: arrays in a list, or what makes its own batches."""
    if isinstance(given, (list, tuple)):
        if len(given) not in (2, 3):
            raise ValueError(f"{VALIDATION_ITEMS}; found {len(given)} items.")
        return source_of(Intake(training), *given, batch_size=batch_size, **options)
    if hasattr(given, "shape"):
        raise ValueError(f"{VALIDATION_ITEMS}; found {type(given).__name__}.")
    return source_of(Intake(training), given, batch_size=own_batch_size, **options)


def first_batches(source: Any, most: int) -> Any:
    """A source in epochs of its first batches, `most` of them or all that it has; None stays None."""
    return None if source is None else Limited(source, min(most, source.steps or most), "fast_dev_run")


# --- callbacks -------------------------------------------------------------------------------------------------------


def as_callbacks(given: Any) -> list[Any]:
    """A flat list of callbacks from a list or tuple, a `CallbackList`, a single callback, or None.

    A scheduler of `torch.optim.lr_scheduler` is wrapped in a `TorchScheduler`.
    """
    if given is None:
        return []
    if not isinstance(given, (list, tuple, CallbackList)):
        given = [given]
    return [TorchScheduler(item) if isinstance(item, SCHEDULERS) else item for item in given]


def hooks_of(
    training: Training,
    callbacks: Any,
    source: Source,
    verbose: int | str,
    epochs: int = 1,
    validates: bool = False,
    *last: Any,
) -> CallbackList:
    """The user's callbacks, those that show the run, then `last`; those that store the state of the run come last."""
    verbose = level(verbose)
    habits = training.model._habits
    found = [*as_callbacks(callbacks), *shown(verbose, make=habits.progress_bar), *last]
    hooks = habits.callback_list(sorted(found, key=lambda callback: hasattr(callback, "resume")))
    hooks.set_model(training.model)
    names: list[str] = []
    if training.compiled is not None:
        names += training.model._reported_names
    params: dict[str, Any] = {"epochs": epochs, "verbose": verbose, "do_validation": validates, "steps": None}
    if source.samples is not None:
        params = {"batch_size": source.batch_size, "samples": source.samples, **params}
    else:
        params["steps"] = source.steps
    if validates or source.samples is None:  # as in Keras 2.2.4, for a generator also without validation
        names += [f"val_{name}" for name in names]
    hooks.set_params({**params, "metrics": names})
    return hooks
