"""What wrote a file's weights: the generation of Keras, its backend, and where its convolutions had the channels."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import h5py
import torch

from torchkeras import config
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.weights.weight import Variable
from torchkeras.engine.weights.weight_lists import KERAS1, TORCH, WRITTEN, FrozenModels, Order
from torchkeras.errors import ModelFileError, UnknownFormatError, WeightMismatchError
from torchkeras.legacy.weights import Step
from torchkeras.saving.containers.hdf5 import attribute, has_attribute, read_names
from torchkeras.saving.containers.hdf5_rules import member
from torchkeras.saving.containers.open_file import filename
from torchkeras.saving.layer_facts import facts

if TYPE_CHECKING:
    from torchkeras.saving.weights.matching import Match

LATER = re.compile(r"3\.|2\.[4-9]|2\.\d\d|2\..*-tf")  # tf.keras, which calls itself 2.4.0 or 2.3.0-tf, and Keras 3
# Those of Keras 2, two of them by other makers; and of Keras 3. All but Theano compute correlations.
BACKENDS2 = ("tensorflow", "theano", "cntk", "mxnet", "plaidml.keras.backend")
BACKENDS = (*BACKENDS2, "torch", "jax", "numpy", "openvino")
# The attribute by which our files say that the dicts of their model count by their sorted keys, as in tf.keras and
# Keras 3. Keras 2 has no dicts; our files without it have them in the order in which they were written.
SORTED = "torchkeras_sorted"

WITHOUT_SORTING = (2, 0, 6)  # the first version that does not sort the weights that train by their names


def _turn(kernel: torch.Tensor) -> torch.Tensor:
    return kernel.flip(tuple(range(kernel.ndim - 2)))


FLIPPED = Step("flipped along the spatial axes", _turn)


@dataclass(frozen=True)
class Origin:
    """The generation of Keras (1, 2 or 3) that wrote a file, whether it ran on Theano, and its data format if known.

    `state_by_name`: whether the state of its optimizer is in the order of the weights' names, not of the weights.
    `as_written`: whether dicts count in the order in which they were written, not by their sorted keys. `on_torch`:
    whether those inside a dict do, as in Keras 3 on torch.
    `moved`: if the data format is not the model's, the step that converts each weight, by its layer's id and paths.
    `later`: whether tf.keras or Keras 3 wrote it.
    """

    generation: int
    theano: bool
    data_format: str | None = None
    state_by_name: bool = False
    as_written: bool = False
    on_torch: bool = False
    moved: Mapping[Any, Step] = field(default_factory=dict)
    later: bool = False

    @property
    def layer_order(self) -> str | None:
        """The order of layers, if it is not today's."""
        if self.generation == 1:
            return KERAS1
        if self.as_written:
            return WRITTEN
        return TORCH if self.on_torch else None

    @property
    def order(self) -> Order:
        """The order of the weights of layers in layers."""
        return Order(FrozenModels.LATER if self.later else FrozenModels.NOW, self.layer_order)

    @classmethod
    def of(cls, group: h5py.Group, backend: str | None = None) -> Origin:
        """The origin of a group of weights; the caller's `backend` counts if the file does not say it.

        Raises UnknownFormatError for a file of an unknown Keras, and ValueError if the caller contradicts the file.
        """
        version = _version_of(group)
        found = _backend_of(group, version, backend)
        numbers = tuple(map(int, re.findall(r"\d+", version)[:3]))
        return cls(
            int(version[0]),
            (found or backend) == "theano",
            state_by_name=numbers < WITHOUT_SORTING,
            as_written=has_dicts_as_written(group, version),
            on_torch=version[0] == "3" and found == "torch",
            later=bool(LATER.match(version)),
        )

    def steps(self, variable: Variable) -> tuple[Step, ...]:
        """The steps for a weight: flipped back if Theano wrote it, then converted to the model's data format."""
        turned = variable.name in ("kernel", "recurrent_kernel") and any(
            facts(cls.__name__).turned for cls in type(variable.layer).__mro__
        )
        flipped = (FLIPPED,) if self.theano and turned and len(variable.shape) > 2 else ()
        moved = self.moved.get((id(variable.layer), variable.paths))
        return flipped if moved is None else (*flipped, moved)


def _version_of(group: h5py.Group) -> str:
    """The version of Keras that wrote a group of weights. Raises UnknownFormatError for another file."""
    file = filename(group)
    if not any(has_attribute(group, name) for name in ("layer_names", "layer_names0")):
        raise UnknownFormatError(f"{file}: {group.name} has no 'layer_names': it holds no weights of Keras.")
    version = str(_of_group_or_file(group, "keras_version", ""))
    if not version and _named_by_keras1(group):
        version = "1."  # Keras 1 writes no version into files of weights alone
    if version[:2] not in ("1.", "2.", "3."):
        raise UnknownFormatError(
            f"{file}: written by Keras {version or 'of an unknown version'}; files of Keras 1, 2 and 3 are read."
        )
    return version


def _of_group_or_file(group: h5py.Group, name: str, default: Any) -> Any:
    """An attribute of a group of weights, or of its file where the group does not have it."""
    found = attribute(group, name)
    return attribute(group.file, name, default) if found is None else found


def _backend_of(group: h5py.Group, version: str, backend: str | None) -> str | None:
    """The backend that a file says, None if it does not. `backend`: the caller's, which must not contradict it."""
    file, declared = filename(group), _of_group_or_file(group, "backend", None)
    found = None if declared is None else str(declared)
    if version.startswith("1."):
        found = backend_by_names(group)
    if found is None:
        return None
    if backend is not None and (backend == "theano") != (found == "theano"):
        raise ValueError(f"{file}: written on {found}, and original_backend says {backend!r}.")
    if found not in BACKENDS:
        raise UnknownFormatError(f"{file}: written on the backend {found!r}, which is not known.")
    return found


def has_dicts_as_written(group: h5py.Group, version: str) -> bool:
    """Whether a group of weights by layers has those of dicts in the order in which these were written."""
    of_keras2 = re.match(r"2\.[0-3]\b", version) is not None and "-tf" not in version
    return of_keras2 and not has_attribute(group, SORTED)


def backend_by_names(group: h5py.Group) -> str | None:
    """The backend of Keras 1, by names of weights: only TensorFlow's end with ":0". None without weights."""
    names = _all_names(group)
    if not names:
        return None
    return "tensorflow" if any(name.endswith(":0") for name in names) else "theano"


def _named_by_keras1(group: h5py.Group) -> bool:
    """Whether no weight has a scope in its name, as from Keras 2 on (`dense_1/kernel`, where 1 has `dense_1_W`)."""
    return not any("/" in name for name in _all_names(group))


def _all_names(group: h5py.Group) -> list[str]:
    return [name for layer in read_names(group, "layer_names") for name in _weight_names(group, layer)]


def _weight_names(group: h5py.Group, layer: str) -> list[str]:
    found = member(group, layer)
    return read_names(found, "weight_names") if isinstance(found, h5py.Group) else []


# --- channels first or last, as far as it can be found out ------------------------------------------------------------


FORMAT_KEYS = ("data_format", "dim_ordering")
# Flatten has the option for its own input alone, so it says nothing about the model.
APART = ("Flatten",)


def format_of_model(model: Layer) -> str | None:
    """The data format of a model's layers, if they agree."""
    found = {
        layer.data_format
        for layer in model.modules()
        if hasattr(layer, "data_format") and _counts(type(layer).__name__)
    }
    return _only(found)


def format_of_config(architecture: Any) -> str | None:
    """The data format of the layers in a config of any version, if they agree."""
    return _only({config.DIM_ORDERINGS.get(value, value) for value in _values(architecture)})


def _values(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        if isinstance(value.get("config"), (Mapping, list)) and not _counts(str(value.get("class_name"))):
            return
        for key, item in value.items():
            if key in FORMAT_KEYS and isinstance(item, str):
                yield item
            else:
                yield from _values(item)
    elif isinstance(value, list):
        for item in value:
            yield from _values(item)


def _counts(class_name: str) -> bool:
    return class_name not in APART


def _only(found: set[Any]) -> str | None:
    return found.pop() if len(found) == 1 and found <= set(config.DATA_FORMATS) else None


def format_by_kernels(file: str, attempt: Callable[[str], list[Match]]) -> str | None:
    """The data format that fits the shapes of Keras 1's kernels; None if no kernel depends on it.

    `attempt` matches the weights under a data format. Raises ModelFileError if both fit: then only the caller can
    decide.
    """
    fitting: dict[str, list[Match]] = {}
    for data_format in config.DATA_FORMATS:
        try:
            fitting[data_format] = attempt(data_format)
        except WeightMismatchError:
            continue
    if len(fitting) < 2:
        return next(iter(fitting), None)
    first, last = fitting.values()
    differing = [a for a, b in zip(first, last, strict=True) if a.recipe.deeds != b.recipe.deeds]
    if differing:
        names = ", ".join(dict.fromkeys(found.variable.full_name for found in differing))
        raise ModelFileError(
            f"{file}: weights of Keras 1, whose kernels fit both with channels first and with channels last ({names}). "
            "Say which: original_data_format='channels_first' (image_dim_ordering 'th') or 'channels_last' ('tf')."
        )
    return None


def agreed_format(file: str, said: str | None, file_format: str | None, model: str | None) -> str | None:
    """The data format of the file: what the caller says, or what the file shows.

    Raises ValueError if the two contradict, ModelFileError if the model has the other format and the caller did not ask
    for a conversion.
    """
    if said and file_format and said != file_format:
        raise ValueError(f"{file}: its convolutions are {file_format}, and original_data_format says {said!r}.")
    if file_format and model and file_format != model and not said:
        raise ModelFileError(
            f"{file}: its convolutions are {file_format}, those of the model {model}. To convert the weights, give "
            f"original_data_format={file_format!r}."
        )
    return said or file_format
