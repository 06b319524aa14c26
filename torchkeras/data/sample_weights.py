"""`sample_weight` and `class_weight` to one weight array a target, by the rules of Keras 2.2.4."""

import warnings
from collections.abc import Mapping, Sequence
from math import isfinite
from numbers import Real
from typing import Any

import numpy as np
import torch
from torch import Tensor

from torchkeras.base.arrays import as_numbers, as_tensor
from torchkeras.base.extensions import replaceable_in

replaceable_in(__name__, "_by_output")

MODES = (None, "temporal")
BY_SHAPE = "by shape"  # weights of samples, or of the values of their losses, as their own shape says
MOST = 10  # classes in an error


def standardize_weights(
    targets: Sequence[Tensor],
    names: Sequence[str],
    sample_weight: Any = None,
    class_weight: Any = None,
    modes: Sequence[str | None] | None = None,
    dtype: torch.dtype = torch.float32,
    *,
    any_class: bool = False,
) -> list[Tensor | None]:
    """The weights of each target, of shape (samples,), or (samples, steps) in the mode "temporal"; None for all ones.

    In the mode `BY_SHAPE` weights of samples keep their shape: that of the first axes of the target, where axes of size
    1 may follow.

    Both may be a dict by output, a list, or for a single output the value itself: an array of weights, a dict from
    class to weight. Where an output has both, `class_weight` is left out with a warning, as in Keras. With `any_class`,
    as in Keras 3, a class without a weight has 1, the first of several largest values of a row is its class, and
    numbers are rounded. Raises ValueError for weights that do not fit the targets and TypeError for another type.
    """
    of_samples = _by_output(sample_weight, names, "sample_weight")
    of_classes = _by_output(class_weight, names, "class_weight")
    result: list[Tensor | None] = []
    for target, name, weight, classes, mode in zip(
        targets, names, of_samples, of_classes, modes or [None] * len(names), strict=True
    ):
        _check_mode(target, name, mode)
        if weight is not None and classes is not None:
            warnings.warn(
                f"Output {name!r} has both sample_weight and class_weight: class_weight is left out.", stacklevel=2
            )
        if weight is not None:
            result.append(_of_samples(target, name, weight, mode).to(dtype))
        elif classes is not None:
            result.append(_of_classes(target, name, classes, any_class).to(dtype))
        else:
            result.append(None)
    return result


def _by_output(given: Any, names: Sequence[str], option: str) -> list[Any]:
    if given is None or _is_empty(given):
        return [None] * len(names)
    if isinstance(given, Mapping) and (len(names) > 1 or not given.keys().isdisjoint(names)):
        return _by_name(given, names, option)
    if len(names) == 1:
        return list(given) if _has_one_array(given) else [given]
    if not isinstance(given, (list, tuple)):
        raise TypeError(
            f"{option}: a model with {len(names)} outputs takes a list or a dict, with weights for each output; found "
            f"{type(given).__name__}."
        )
    if len(given) != len(names):
        raise ValueError(f"{option}: the model has {len(names)} outputs; found a list of {len(given)}.")
    return list(given)


def _is_empty(given: Any) -> bool:
    return isinstance(given, (list, tuple, Mapping)) and not given


def _has_one_array(given: Any) -> bool:
    """Whether this is a list with one array of weights, rather than a list of weights."""
    return isinstance(given, (list, tuple)) and len(given) == 1 and not np.isscalar(given[0])


def _by_name(given: Mapping[str, Any], names: Sequence[str], option: str) -> list[Any]:
    unknown = [key for key in given if key not in names]
    if unknown:
        own = {names[0]: dict(given)}
        hint = f" Give the weights by output: {own!r}." if all(map(_is_class, given)) else ""
        raise ValueError(f"{option}: no output is called {unknown[0]!r}; there are {list(names)}.{hint}")
    return [given.get(name) for name in names]


def _is_class(key: Any) -> bool:
    return isinstance(key, (int, np.integer))


def _check_mode(target: Tensor, name: str, mode: str | None) -> None:
    if mode not in (*MODES, BY_SHAPE):
        raise ValueError(f"Output {name!r}: sample_weight_mode must be None or 'temporal'; found {mode!r}.")
    if mode == "temporal" and target.dim() < 3:
        raise ValueError(
            f"Output {name!r}: sample_weight_mode 'temporal' needs a target with a time axis, of 3 or more axes; found "
            f"shape {tuple(target.shape)}."
        )


def _of_samples(target: Tensor, name: str, given: Any, mode: str | None) -> Tensor:
    if isinstance(given, (str, Mapping)):
        raise TypeError(f"Output {name!r}: sample_weight must be an array; found {given!r}.")
    weight = as_tensor(as_numbers(given, f"Output {name!r}: sample_weight"))
    if mode == BY_SHAPE:
        _check_shape(target, name, weight)
        return weight
    axes = 2 if mode == "temporal" else 1
    if weight.dim() != axes:
        hint = ""
        if axes == 1 and weight.shape[1:] == (1,):
            hint = " Give weights[:, 0]."
        elif weight.dim() > axes == 1:
            hint = " sample_weight_mode='temporal' in compile() takes a weight for each time step."
        raise ValueError(
            f"Output {name!r}: sample_weight must have {axes} axes under sample_weight_mode {mode!r}; found shape "
            f"{tuple(weight.shape)}.{hint}"
        )
    if weight.shape != target.shape[:axes]:
        raise ValueError(
            f"Output {name!r}: sample_weight of shape {tuple(weight.shape)} does not fit a target of shape "
            f"{tuple(target.shape)}: give it the shape {tuple(target.shape[:axes])}."
        )
    return weight


def _check_shape(target: Tensor, name: str, weight: Tensor) -> None:
    """Raise ValueError for a weight whose shape is not that of the first axes of a target, but for axes of size 1."""
    shape = weight.shape
    while len(shape) > 1 and shape[-1] == 1:
        shape = shape[:-1]
    if weight.dim() == 0 or weight.dim() > max(target.dim(), 2) or shape != target.shape[: len(shape)]:
        raise ValueError(
            f"Output {name!r}: sample_weight of shape {tuple(weight.shape)} does not fit a target of shape "
            f"{tuple(target.shape)}: give it the shape {tuple(target.shape[:1])}, or that of more of its first axes."
        )


def _of_classes(target: Tensor, name: str, given: Any, any_class: bool) -> Tensor:
    if not isinstance(given, Mapping):
        raise TypeError(f"Output {name!r}: class_weight must be a dict from class to weight; found {given!r}.")
    if target.dim() > 2:
        raise ValueError(f"Output {name!r}: class_weight takes targets of 2 axes; found shape {tuple(target.shape)}.")
    if target.dim() == 2 and target.shape[1] > 1:
        labels = target.argmax(1) if any_class else _one_class(target, name)
    else:
        labels = target.reshape(-1)
    classes, number = np.unique(labels.cpu().numpy(), return_inverse=True)
    if any_class:
        classes = classes.round()
        given = {**dict.fromkeys(classes.tolist(), 1.0), **given}
    missing = [label.item() for label in classes if label.item() not in given]
    if missing:
        more = f" and {len(missing) - MOST} more" if len(missing) > MOST else ""
        raise ValueError(
            f"Output {name!r}: class_weight has no weight for the classes {missing[:MOST]}{more} of the targets. Give "
            "each one."
        )
    weights = [_class_weight(given, label.item(), name) for label in classes]
    return torch.tensor(weights, dtype=torch.float64, device="cpu")[number.reshape(-1)]


def _class_weight(given: Mapping[Any, Any], label: Any, name: str) -> Any:
    weight = given[label]
    if not (isinstance(weight, Real) and isfinite(weight)):
        raise ValueError(
            f"Output {name!r}: class_weight must have a finite number for each class; found {weight!r} for {label}."
        )
    return weight


def _one_class(target: Tensor, name: str) -> Tensor:
    """The class of each row: the place of its largest value. Raises ValueError where that occurs several times."""
    largest = target.amax(1, keepdim=True)
    several = ((target == largest).sum(1) > 1).nonzero()
    if len(several):
        row = int(several[0])
        raise ValueError(
            f"Output {name!r}: class_weight takes targets of one class each; sample {row} has its largest value, "
            f"{largest[row].item():g}, for {int((target[row] == largest[row]).sum())} classes. Give sample_weight, or "
            "a loss that weights classes."
        )
    return target.argmax(1)
