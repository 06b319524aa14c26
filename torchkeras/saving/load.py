"""Load weights and whole models from files of any format; nothing is set before everything is known to fit."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from torch.nn import Module

from torchkeras import registry
from torchkeras.base import bytecode
from torchkeras.base.malloc import large_pages
from torchkeras.base.python import collector_resting
from torchkeras.config import DATA_FORMATS
from torchkeras.engine.building.building import Places, materialize, on_meta
from torchkeras.engine.fit.training import training_of
from torchkeras.engine.graph.network import Network
from torchkeras.engine.graph.trace import has_own_code, is_connected
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.step.optimizer_reach import bind
from torchkeras.engine.symbolic.tensor import calls_of
from torchkeras.engine.weights.weight import Variable, trained
from torchkeras.engine.weights.weight_lists import WRITTEN, FrozenModels, Order, distinct, weights_in
from torchkeras.errors import (
    ArchitectureError,
    ModelFileError,
    UnknownFormatError,
    UnreadableFileError,
    WeightMismatchError,
)
from torchkeras.layers.shaping import Flatten
from torchkeras.legacy.weights import Step
from torchkeras.saving import formats, own_assets
from torchkeras.saving.containers.isolated import cleaned
from torchkeras.saving.containers.open_file import shown
from torchkeras.saving.containers.unzipped import archived
from torchkeras.saving.data_format.convert import reorderings
from torchkeras.saving.data_format.tracker import Tracker
from torchkeras.saving.dialects import modern
from torchkeras.saving.dialects.compile_config import modern_training
from torchkeras.saving.extra_keys import give_types
from torchkeras.saving.formats import named
from torchkeras.saving.graph_config import building, check, make_model
from torchkeras.saving.model_file import GROUPS, NUMBERS, PATHS, ModelFile, described, opened
from torchkeras.saving.optimizer.by_name import restore_by_name
from torchkeras.saving.optimizer.state import restore, restore_scale
from torchkeras.saving.training_config import compile_as
from torchkeras.saving.weights import (
    either_backend,
    later_defaults,
    layer_groups,
    numbered_layers,
    paths,
    state,
)
from torchkeras.saving.weights.matching import Match, Named, Report, match_one, take
from torchkeras.saving.weights.origin import (
    BACKENDS,
    Origin,
    agreed_format,
    format_by_kernels,
    format_of_config,
    format_of_model,
)

if TYPE_CHECKING:
    from torchkeras.models.model import Model

PathLike = str | os.PathLike[str]


@dataclass(frozen=True)
class Taking:
    """How weights are taken from a file: the options of `load_weights`."""

    by_name: bool = False
    skip_mismatch: bool = False
    reshape: bool = False
    original_backend: str | None = None
    original_data_format: str | None = None
    strict: bool = True  # whether what may be damage, or an edit, is an error and not a warning
    report: bool = False  # whether to say what was done with each weight
    mmap: bool = False  # whether weights lie in the file itself
    objects_to_skip: Sequence[Layer] = ()  # layers that are left alone, with those inside

    def __post_init__(self) -> None:
        for option, value, known in (
            ("original_backend", self.original_backend, BACKENDS),
            ("original_data_format", self.original_data_format, DATA_FORMATS),
        ):
            if value is not None and value not in known:
                raise ValueError(f"{option} must be one of {', '.join(map(repr, known))}, or None; found {value!r}.")

    def only(self, layout: str, *but: str) -> None:
        """Raise ValueError if an option is set that has no meaning for a layout; `but` lists those that have one."""
        formats_said = "original_backend", "original_data_format"
        for option in ("by_name", "skip_mismatch", "reshape", *formats_said, "objects_to_skip"):
            if getattr(self, option) and option not in but:
                raise ValueError(f"load_weights: {option} means nothing for a file of {layout}.")


def load_weights(model: Network, path: PathLike, taking: Taking, isolated: bool = False) -> Report | None:
    """Set a model's weights from a file of weights or of a whole model; after an error none are set."""
    with _advised(path), _readable(path, isolated, taking.strict) as file:
        layout = _layout_of_tensors(file, taking)
        if layout is not None:
            with layout.opened(file) as stored:
                own_assets.check_form(model, shown(file), holds_assets=True, holds_values=False)
                left = state.fill(model, stored, shown(file), taking.by_name, taking.skip_mismatch)
            return Report.of_state(shown(file), model, *left) if taking.report else None
        with opened(file, taking.strict) as source:
            matches, _, report = _take(source, model, taking, source.config)
        if source.config is None:
            later_defaults.warn(source.name, source.version, matches)
        return report


def load_model(
    path: PathLike,
    custom_objects: Mapping[str, Any] | None,
    compiled: bool,
    taking: Taking,
    isolated: bool = False,
    lambdas: str = bytecode.READ,
    memory: Callable[[Any], None] | None = None,
) -> tuple[Any, Report | None]:
    """A model with its weights and, if `compiled` and the file has them, its optimizer, losses and metrics.

    `memory`: what allocates the weights of a model on `meta`; None is `give_memory`.
    """
    memory = memory or give_memory
    with collector_resting(), _advised(path), _readable(path, isolated, taking.strict) as file:
        layout = _layout_of_tensors(file, taking)
        if layout is not None:
            return _of_tensors(file, layout, taking, custom_objects, compiled, lambdas, memory)
        return _of_keras(file, taking, custom_objects, compiled, lambdas, memory)


def _of_keras(
    path: PathLike, taking: Taking, custom_objects: Any, compiled: bool, lambdas: str, memory: Callable[[Any], None]
) -> tuple[Any, Report | None]:
    """A model from a file of a Keras, or of the form of one."""
    with opened(path, taking.strict) as source:
        if source.config is None:
            raise UnknownFormatError(
                f"{source.name}: there is no 'model_config' in it. A file of weights alone is read by "
                "`model.load_weights` of a model built by code."
            )
        config = _modern(source, taking, custom_objects, lambdas)
        model = _built(source, config, custom_objects)
        # The caller's data format is already part of the architecture; the weights belong to that.
        own = replace(taking, original_data_format=None)

        def allocate() -> None:
            memory(model)
            give_types(model, source.types, source.name)

        matches, origin, report = _take(source, model, own, None, memory=allocate)
        if source.container is not None:
            own_assets.read_assets(model, source.container, source.name)
        source.frozen.freeze_parameters(model, source.name)
        model._take_up_values()
        if compiled and source.training is not None and _compile(source, model, custom_objects):
            state_arrays = source.optimizer()
            if state_arrays:
                _restore(model, state_arrays, matches, origin, source)
                restore_scale(model, state_arrays, source.name)
    model.eval()
    return model, report


def _restore(model: Network, arrays: list[Named], matches: list[Match], origin: Origin, source: ModelFile) -> None:
    """Give the optimizer of a compiled model the state of a file."""
    optimizer, variables = model.optimizer, model.trainable_weights
    listed: Iterable[Variable] = ()
    if origin.as_written:
        listed = weights_in(model, Order(layers=WRITTEN))
    elif origin.generation == 3 and either_backend.depends(model):
        listed = distinct(_as_listed(model, source.config), variables)
    if listed:  # bound in the file's order for as long as that counts: when it is next read it is in today's
        variables, parameters = trained(listed)
        bind(optimizer, variables, parameters)
    restore(optimizer, arrays, matches, variables, origin, source.name)


def _as_listed(model: Network, entry: Mapping[str, Any]) -> Iterator[Variable]:
    """The weights of a model of a file, its layers in the order in which the architecture there lists them."""
    layers, config = {layer.name: layer for layer in model.layers}, entry["config"]
    for item in config["layers"] if isinstance(config, Mapping) and "layers" in config else ():
        layer = layers.get(item["config"].get("name"))
        if isinstance(layer, Network):
            yield from _as_listed(layer, item)
        elif layer is not None:
            yield from layer.weights


def is_whole(path: PathLike) -> bool:
    """Whether a file holds an architecture as well as weights. Raises the errors of reading the file."""
    kind = formats.of_tensors(path)
    if kind is not None:
        with named(kind.tensors).opened(path) as stored:
            return stored.about is not None
    with opened(path) as source:
        return source.config is not None


def _of_tensors(
    path: PathLike,
    layout: Any,
    taking: Taking,
    custom_objects: Any,
    compiled: bool,
    lambdas: str,
    memory: Callable[[Any], None],
) -> tuple[Any, Report | None]:
    """A model from a file of tensors under the names of its `state_dict`, with a text that describes the model."""
    with layout.opened(path, maps=taking.mmap) as stored:
        if taking.mmap and stored.tensors and not stored.stretches:
            raise ValueError(
                f"load_model: mmap=True cannot map {shown(path)}: torch before 1.6 or a big-endian machine wrote it, "
                "or this system is Windows. Load it without mmap."
            )
        if stored.about is None:
            raise UnknownFormatError(
                f"{shown(path)}: it holds only weights, no architecture. Build the model as it was, and load them with "
                "`model.load_weights`."
            )
        source = described(stored.about, shown(path))
        model = _built(source, _modern(source, Taking(), custom_objects, lambdas), custom_objects)
        own_assets.check_form(model, source.name, holds_assets=False, holds_values=False)
        memory(model)
        give_types(model, source.types, source.name)
        state.fill(model, stored, shown(path))
        source.frozen.freeze_parameters(model, source.name)
        model._take_up_values()
        is_compiled = compiled and source.training is not None and _compile(source, model, custom_objects)
        if is_compiled and source.state is not None:
            restore_by_name(model, stored.optimizer, source.state, source.name)
    model.eval()
    return model, Report.of_state(shown(path), model) if taking.report else None


def _layout_of_tensors(path: PathLike, taking: Taking) -> Any:
    """The module that reads a file of tensors under torch's names; None for a file of Keras."""
    kind = formats.of_tensors(path)
    if kind is None:
        if taking.mmap:
            raise ValueError(
                "load_model: mmap=True is for .safetensors and .pt files, which have the numbers in torch's order; "
                f"found {shown(path)}, in a format of Keras. Load it without mmap, and save the model as .safetensors."
            )
        return None
    taking.only(kind.suffixes[0], "by_name", "skip_mismatch")
    return named(kind.tensors)


@contextmanager
def _advised(path: PathLike) -> Iterator[None]:
    """Name the command that says what to do, below the error of a damaged file. Python 3.10 has no place for it."""
    try:
        yield
    except UnreadableFileError as error:
        if sys.version_info >= (3, 11):
            error.add_note(f"What to do about it: torchkeras doctor {path}")
        raise


@contextmanager
def _readable(path: PathLike, isolated: bool, strict: bool) -> Iterator[PathLike]:
    kind = "model" if strict else "doubtful model"
    with (
        archived(path) if os.path.isdir(path) else nullcontext(path) as file,
        cleaned(file, kind=kind) if isolated else nullcontext(file) as found,
    ):
        yield found


def _modern(
    source: ModelFile, taking: Taking, custom_objects: Mapping[str, Any] | None, lambdas: str = bytecode.READ
) -> Any:
    try:
        return modern.of_source(source, taking.original_backend, taking.original_data_format, custom_objects, lambdas)
    except ModelFileError as error:
        raise type(error)(f"{source.name}: {error}") from error


def _built(source: ModelFile, config: Any, custom_objects: Mapping[str, Any] | None) -> Any:
    """The model of a config, on `meta`."""
    try:
        with on_meta():
            check(config)
            model = make_model(config, custom_objects)
    except ModelFileError as error:
        raise type(error)(f"{source.name}: {error}") from error
    if not isinstance(model, Network):
        raise ArchitectureError(f"{source.name}: its architecture is a {type(model).__name__}, not a model.")
    if has_own_code(model) and not is_connected(model):
        raise ArchitectureError(
            f"{source.name}: {type(model).__name__} {model.name!r}, as its from_config made it, has no weights yet: "
            "let from_config call build(input_shape)."
        )
    source.frozen.freeze_layers(model, source.name)
    return model


def _compile(source: ModelFile, model: Model, custom_objects: Mapping[str, Any] | None) -> bool:
    """Compile a model as its file says, and return whether it is. Without a loss it is not: it can only predict."""
    if model._compiles_itself:
        return model._compile_itself(None if source.container is None else source.container.config["compile_config"])
    known = {**registry.get_custom_objects(), **(custom_objects or {})}
    dialect = modern.dialect_of(source)
    training = modern_training(
        bytecode.read(source.training, known),
        source.name,
        dialect,
        model,
        known,
        source.backend,
        dialect.rules(source),
        source.as_written,
    )
    try:
        with building("The training configuration"):
            compiled = compile_as(model, training, custom_objects)
            if compiled and model._is_connected:
                training_of(model).ready()  # the state of the optimizer is for weights that it knows
    except ArchitectureError as error:
        raise ArchitectureError(f"{source.name}: {error} Load it with compile=False to go without.") from error
    if not compiled:
        text = "names no loss, so the model is not compiled. To train it, call compile with a loss."
    elif not source.told_optimizer:
        text = "names no optimizer. As in Keras, the model is compiled with RMSprop, which starts anew."
    else:
        return True
    warnings.warn(f"{source.name}: its training configuration {text}", stacklevel=6)
    return compiled


def give_memory(model: Layer) -> None:
    """Allocate what was built on `meta`, innermost layers first, without drawing initial values."""
    places = Places.now()
    for module in reversed(list(model.modules())):
        if isinstance(module, Layer):
            materialize(module, draw=False, places=places)
    for tensor in (*model.parameters(), *model.buffers()):
        large_pages(tensor)


# --- weights ---------------------------------------------------------------------------------------------------------

Matched = tuple[list[Match], Origin]


def _take(
    source: ModelFile, model: Network, taking: Taking, config: Any, memory: Callable[[], None] = lambda: None
) -> tuple[list[Match], Origin, Report | None]:
    """Match all weights, call `memory()`, then take the values. `config`: shows the file's data format."""
    if source.layout != PATHS and taking.objects_to_skip:
        raise ValueError(f"load_weights: {source.name}: objects_to_skip is for files in the form of Keras 3 alone.")
    own_assets.check_form(model, source.name, holds_assets=True, holds_values=source.layout == PATHS)
    matches, origin = _MATCHED[source.layout](source, model, taking, config)
    memory()
    layer_groups.follow_origin(source.name, model, matches, origin, taking.by_name)
    if own_assets.stores_itself(model):
        matches = [*matches, *own_assets.read_values(source.weights, model, taking, origin)]
    take(matches)
    if not taking.report:
        return matches, origin, None
    left = _UNTAKEN[source.layout](source.weights, matches) if taking.by_name or taking.skip_mismatch else ()
    return matches, origin, Report.of(source.name, matches, model, left)


def _by_groups(source: ModelFile, model: Network, taking: Taking, config: Any) -> Matched:
    named = config is None and source.config is not None  # the model was made of the file's own architecture

    def attempt(made: Origin) -> list[Match]:
        if taking.by_name:
            return layer_groups.match_by_name(source.weights, model, made, taking.skip_mismatch, taking.reshape)
        # A file of ours.
        order = Order(FrozenModels.CONFIG, made.layer_order) if source.frozen.layers else made.order
        return layer_groups.match_in_order(
            source.weights, model, made, order, taking.skip_mismatch, taking.reshape, named
        )

    origin = Origin.of(source.weights, taking.original_backend)
    return _settled(source, model, taking, config, origin, attempt)


def _by_paths(source: ModelFile, model: Network, taking: Taking, config: Any) -> Matched:
    taking.only("Keras 3's paths", "by_name", "skip_mismatch", "original_data_format", "objects_to_skip")

    def attempt(made: Origin) -> list[Match]:
        found = paths.pairs(
            source.weights, model, made.layer_order, taking.by_name, taking.skip_mismatch, taking.objects_to_skip
        )
        return [match_one(variable, array, made) for variable, array in found]

    def settled(on_torch: bool = False) -> Matched:
        origin = Origin(3, False, as_written=source.as_written, on_torch=on_torch)
        return _settled(source, model, taking, config, origin, attempt)

    return either_backend.settle(source.name, settled) if source.unsure and either_backend.depends(model) else settled()


def _by_numbers(source: ModelFile, model: Network, taking: Taking, config: Any) -> Matched:
    taking.only("Keras 0's numbered layers", "original_backend", "original_data_format")
    backend = taking.original_backend

    def attempt(made: Origin) -> list[Match]:
        return numbered_layers.match(source.weights, model, made, backend is not None)

    return _settled(source, model, taking, config, Origin(1, backend == "theano"), attempt)


_UNTAKEN: Mapping[str, Callable[..., list[str]]] = {GROUPS: layer_groups.untaken, PATHS: paths.untaken}
_MATCHED: Mapping[str, Callable[..., Matched]] = {GROUPS: _by_groups, PATHS: _by_paths, NUMBERS: _by_numbers}


def _settled(
    source: ModelFile,
    model: Network,
    taking: Taking,
    config: Any,
    origin: Origin,
    attempt: Callable[[Origin], list[Match]],
) -> Matched:
    """The matches of `attempt`, after it is settled where the file's convolutions have their channels."""
    own, said, declared_format = (
        format_of_model(model),
        taking.original_data_format,
        format_of_config(config),
    )
    if origin.generation == 1 and source.config is None and said is None:
        declared_format = format_by_kernels(source.name, lambda tried: attempt(replace(origin, data_format=tried)))
    data_format = agreed_format(source.name, said, declared_format, own)
    moved: Mapping[Any, Step] = {}
    if data_format is not None and own is not None and data_format != own:
        moved = _moved(source, model, data_format, origin)
    settled = replace(origin, data_format=data_format, moved=moved)
    return attempt(settled), settled


def _moved(source: ModelFile, model: Network, data_format: str, origin: Origin) -> dict[Any, Step]:
    """The steps that convert weights from the same architecture in the other data format.

    Raises WeightMismatchError if they cannot be converted, or if it is open what a Flatten did: since Keras 2.2 it may
    have moved channels to the end, and a file of weights alone does not say so.
    """
    try:
        if source.config is not None:
            there = _built(source, _modern(source, Taking(), None), None)
            found = Tracker(there, model).reorderings
        else:
            if origin.generation > 1 and any(map(_flattens_images, model.modules())):
                raise ValueError(
                    "A file of weights alone does not say whether its Flatten moved the channels to the end: build the "
                    "model as it was, load the weights, and use transfer_weights."
                )
            found = reorderings(model, data_format, origin.generation == 1)
    except ModelFileError:
        raise
    except ValueError as error:
        raise WeightMismatchError(f"{source.name}: its weights cannot be converted. {error}") from error
    return {key: Step(str(reordering), reordering) for key, reordering in found.items() if reordering.steps}


def _flattens_images(module: Module) -> bool:
    if not isinstance(module, Flatten):
        return False
    return any(tensor.ndim > 3 for node in calls_of(module) for tensor in node.input_tensors)
