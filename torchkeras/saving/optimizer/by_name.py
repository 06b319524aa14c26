"""The state of an optimizer in `.safetensors` and `.pt`: tensors by the names of the parameters, and numbers.

`ms/dense_a.linear.weight` is the moment `ms` of the parameter that the `state_dict` calls `dense_a.linear.weight`;
`average/...` and `accumulated/...` are moving averages and means of gradients that wait for a step. The numbers are
plain values: the steps, what an optimizer counts besides, what has accumulated, and the loss scale of float16.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from torch import Tensor

from torchkeras.base.arrays import to_numpy
from torchkeras.engine.fit.training import training_of
from torchkeras.errors import UnreadableFileError, WeightMismatchError
from torchkeras.optimizers.base import Optimizer
from torchkeras.saving.optimizer.state import BESIDE, listed, restore_scale
from torchkeras.saving.weights.matching import Named
from torchkeras.saving.weights.state import tensors_of

if TYPE_CHECKING:
    from torchkeras.models.model import Model

AVERAGE, ACCUMULATED = "average", "accumulated"
SCALE = "scale"  # the key of the loss scale among the numbers
NOTHING = {"count": 0, "samples": 0.0, "present": []}  # what has accumulated after a step
Numbers = dict[str, Any]


def state_by_name(model: Model, optimizer: Optimizer) -> tuple[dict[str, Tensor], Numbers]:
    """The state of a compiled model's optimizer: tensors by name, and numbers that JSON can hold."""
    names, accumulated = _parameter_names(model, optimizer), optimizer.state_dict()["accumulated"]
    tensors = {
        f"{what}/{name}": value.detach().cpu().contiguous()
        for what, values in optimizer.by_parameter().items()
        for name, value in zip(names, values, strict=True)
    }
    scaling, samples = training_of(model).ready().scaling, accumulated["samples"]
    numbers: Numbers = {"iterations": optimizer.iterations, "more": optimizer._more()}
    if accumulated["count"]:
        numbers[ACCUMULATED] = {
            "count": accumulated["count"],
            "samples": None if samples is None else float(samples),
            "present": accumulated["present"],
        }
    if scaling is not None:
        numbers[SCALE] = {name: value.item() for name, value in scaling.state_dict().items()}
    return tensors, numbers


def restore_by_name(
    model: Model, stored: Mapping[str, tuple[tuple[int, ...], Callable[[], Tensor]]], numbers: Any, file: str
) -> None:
    """Give a compiled model's optimizer the state of a file: shapes and values by name, and numbers.

    Warns of a state of other weights, and takes none of it. Raises UnreadableFileError for bad numbers.
    """
    optimizer = model.optimizer
    names = _parameter_names(model, optimizer)
    kinds = {name.partition("/")[0] for name in stored}
    _check_numbers(numbers, optimizer, kinds, len(names), file)
    shapes = {name: tuple(tensor.shape) for name, tensor in zip(names, optimizer._given, strict=True)}
    differ = _differences(stored, shapes, optimizer, kinds)
    if differ:
        warnings.warn(
            f"{file}: the state of its optimizer is not taken, and {type(optimizer).__name__} begins without: it is "
            f"not that of the {len(names)} parameters that train; first differ {listed(differ)}.",
            stacklevel=5,
        )
        return

    def values(kind: str) -> list[Tensor]:
        return [stored[f"{kind}/{name}"][1]() for name in names] if kind in kinds else []

    try:
        optimizer.load_state_dict(
            {
                "class_name": type(optimizer).__name__,
                "iterations": numbers["iterations"],
                "options": {},
                "moments": {name: values(name) for name in optimizer.moment_names},
                "averages": values(AVERAGE),
                "accumulated": {**numbers.get(ACCUMULATED, NOTHING), "gradients": values(ACCUMULATED)},
                "more": numbers["more"],
            }
        )
    except (ValueError, RuntimeError) as error:
        raise WeightMismatchError(f"{file}: the state of its optimizer does not fit: {error}") from error
    scale = numbers.get(SCALE, {})
    restore_scale(model, [Named(f"{BESIDE}{name}", to_numpy(value)) for name, value in scale.items()], file)


def _differences(
    stored: Mapping[str, tuple[tuple[int, ...], Any]],
    shapes: Mapping[str, tuple[int, ...]],
    optimizer: Any,
    kinds: set[str],
) -> list[str]:
    """The names in which a file's tensors differ from those of the parameters, whose shapes are given by name."""
    unknown = sorted(kinds - {*optimizer.moment_names, AVERAGE, ACCUMULATED})
    if unknown:
        return unknown
    expected = {f"{kind}/{name}" for kind in kinds for name in shapes}
    if expected != stored.keys():
        return sorted(expected ^ stored.keys())
    as_parameters = [name for name in stored if name.startswith((f"{AVERAGE}/", f"{ACCUMULATED}/"))]
    return sorted(name for name in as_parameters if stored[name][0] != shapes.get(name.partition("/")[2]))


def _parameter_names(model: Model, optimizer: Any) -> list[str]:
    """The name of each parameter that the optimizer is bound to, in its order."""
    names = {id(tensor): names[0] for names, tensor in tensors_of(model).items()}
    return [names[id(parameter)] for parameter in optimizer._given or ()]


def _check_numbers(numbers: Any, optimizer: Any, kinds: set[str], count: int, file: str) -> None:
    """Raise UnreadableFileError for numbers of another form than `state_by_name` gives."""
    saved_numbers = numbers if isinstance(numbers, Mapping) else {}
    accumulated = saved_numbers.get(ACCUMULATED, NOTHING)
    good = (
        _is_count(saved_numbers.get("iterations"))
        and _are_numbers(saved_numbers.get("more"))
        and saved_numbers["more"].keys() == optimizer._more().keys()
        and _are_numbers(saved_numbers.get(SCALE, {}))
        and _are_of_accumulation(accumulated, count)
        and bool(accumulated["count"]) is (ACCUMULATED in kinds)
    )
    if not good:
        raise UnreadableFileError(f"{file}: the numbers of its optimizer's state are {numbers!r:.200}.")


def _are_of_accumulation(numbers: Any, parameters: int) -> bool:
    """Whether numbers may be what has accumulated: batches, samples, and which parameters have gradients."""
    if not isinstance(numbers, Mapping) or numbers.keys() != NOTHING.keys() or not _is_count(numbers["count"]):
        return False
    if numbers["samples"] is not None and not _are_numbers({"samples": numbers["samples"]}):
        return False
    present = numbers["present"]
    return isinstance(present, list) and all(_is_count(place) and place < parameters for place in present)


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _are_numbers(values: Any) -> bool:
    return isinstance(values, Mapping) and all(type(value) in (int, float) for value in values.values())
