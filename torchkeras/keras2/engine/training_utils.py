"""`keras.engine.training_utils`: what training does to data and losses, for scripts that do it by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from torchkeras.data import sample_weights
from torchkeras.keras2 import backend as K
from torchkeras.keras2.utils.generic_utils import slice_arrays, to_list

__all__ = [
    "batch_shuffle",
    "check_array_length_consistency",
    "check_loss_and_target_compatibility",
    "check_num_samples",
    "collect_metrics",
    "iter_sequence_infinite",
    "make_batches",
    "slice_X",
    "slice_arrays",
    "standardize_class_weights",
    "standardize_input_data",
    "standardize_sample_weights",
    "standardize_single_array",
    "standardize_weights",
    "weighted_masked_objective",
    "weighted_objective",
]

# By name, as the backend has some of them too.
LIKE_OUTPUTS = ("mean_squared_error", "binary_crossentropy", "categorical_crossentropy")

slice_X = slice_arrays  # noqa: N816  (Keras 1's name)


def make_batches(size: int, batch_size: int) -> list[tuple[int, int]]:
    """The first row of each batch, and the row after its last: [(0, 2), (2, 3)] for 3 rows in batches of 2."""
    return [(first, min(first + batch_size, size)) for first in range(0, size, batch_size)]


def batch_shuffle(index_array: Any, batch_size: int) -> np.ndarray:
    """The whole batches of an array of indices in another order; the rest stays at its end."""
    index = np.asarray(index_array)
    whole = len(index) // batch_size * batch_size
    batches = index[:whole].reshape(-1, batch_size)
    draw: Any = np.random  # the state that scripts seed
    draw.shuffle(batches)
    return np.append(batches.reshape(-1), index[whole:])


def standardize_single_array(x: Any) -> Any:
    """An array of one axis with a second one, of length 1; all else as it is."""
    if x is None or K.is_tensor(x):
        return x
    found = x.values if hasattr(x, "iloc") else x
    return np.expand_dims(found, 1) if found.ndim == 1 else found


def standardize_input_data(
    data: Any, names: Sequence[str], shapes: Any = None, check_batch_axis: bool = True, exception_prefix: str = ""
) -> list[Any]:
    """Arrays for `names` in their order, from one array, a list or a dict.

    Arguments:
        data (array, list, dict or None): what a user gave.
        names (list of texts): the inputs or targets.
        shapes (list or None): the shape of each, None in it for any size; a shape may be None.
        check_batch_axis (bool): whether the first axis is compared too.
        exception_prefix (text): what errors call the data: "input", "target".

    Errors:
        ValueError: another number of arrays, a missing name, or a shape that does not fit.
    """
    given = _by_name(data, names) if isinstance(data, Mapping) else _in_list(data, len(names))
    if len(given) != len(names):
        raise ValueError(
            f"Error when checking model {exception_prefix}: the model expects {len(names)} arrays "
            f"({', '.join(names)}); found {len(given)}."
        )
    found = [standardize_single_array(each) for each in given]
    first_axis = 0 if check_batch_axis else 1
    for name, array, shape in zip(names, found, shapes or [None] * len(names), strict=True):
        if array is None or shape is None:
            continue
        sizes, wanted = tuple(array.shape)[first_axis:], tuple(shape)[first_axis:]
        if not _fits(sizes, wanted):
            raise ValueError(
                f"Error when checking {exception_prefix}: expected {name} to have shape {wanted}; found an array with "
                f"shape {sizes}."
            )
    return found


def _by_name(data: Mapping[str, Any], names: Sequence[str]) -> list[Any]:
    """The arrays of a dict for these names. Raises ValueError for a missing one."""
    missing = [name for name in names if name not in data]
    if missing:
        raise ValueError(f"No data provided for {missing[0]!r}. Need data for each key in: {list(names)}.")
    return [data[name] for name in names]


def _in_list(data: Any, count: int) -> Any:
    """The arrays for `count` names: a list, one array, or the numbers of one; None for all."""
    if data is None:
        return [None] * count
    if hasattr(data, "shape"):
        return [data]
    return [np.asarray(data)] if count == 1 and np.ndim(data[0]) == 0 else data


def _fits(sizes: tuple[Any, ...], wanted: tuple[Any, ...]) -> bool:
    """Whether an array has a shape, in which None is any size."""
    return len(sizes) == len(wanted) and all(b in (None, a) for a, b in zip(sizes, wanted, strict=True))


def _by_output(given: Any, names: Sequence[str], kind: str) -> list[Any]:
    """What a list or a dict has for each output, None for none. `kind` is what errors call it."""
    if given is None or len(given) == 0:
        return [None] * len(names)
    if len(names) == 1:
        return [_of_one_output(given, names[0])]
    if isinstance(given, list) and len(given) == len(names):
        return given
    if isinstance(given, dict):
        return [given.get(name) for name in names]
    if isinstance(given, list):
        raise ValueError(
            f"Provided `{kind}` was a list of {len(given)} elements, but the model has {len(names)} outputs."
        )
    raise TypeError(
        f"The model has {len(names)} outputs, so `{kind}` should be either a list or a dict; found {given!r}."
    )


def _of_one_output(given: Any, name: str) -> Any:
    if isinstance(given, list) and len(given) == 1:
        return given[0]
    return given[name] if isinstance(given, dict) and name in given else given


def standardize_sample_weights(sample_weight: Any, output_names: Sequence[str]) -> list[Any]:
    """The sample weights of each output, None for none, from a list or a dict."""
    return _by_output(sample_weight, output_names, "sample_weight")


def standardize_class_weights(class_weight: Any, output_names: Sequence[str]) -> list[Any]:
    """The class weights of each output, None for none, from a list or a dict."""
    return _by_output(class_weight, output_names, "class_weight")


def standardize_weights(
    y: Any, sample_weight: Any = None, class_weight: Any = None, sample_weight_mode: str | None = None
) -> np.ndarray:
    """A weight for each sample of a target, or for each time step with "temporal"; ones where none is given."""
    y = np.asarray(y)
    target = torch.as_tensor(y)
    (found,) = sample_weights.standardize_weights(
        [target], ["output"], None if sample_weight is None else [sample_weight], class_weight, [sample_weight_mode]
    )
    if found is not None:
        return found.numpy()
    return np.ones(y.shape[: 2 if sample_weight_mode == "temporal" else 1], K.floatx())


def check_array_length_consistency(inputs: Any, targets: Any, weights: Any = None) -> None:
    """Raise ValueError unless inputs, targets and weights have as many samples."""
    of_inputs = _lengths("input", inputs)
    of_targets = _lengths("target", targets)
    of_weights = _lengths("sample_weight", weights)
    if of_inputs and of_targets and of_inputs != of_targets:
        raise ValueError(
            f"Input arrays should have the same number of samples as target arrays. Found {of_inputs.pop()} input "
            f"samples and {of_targets.pop()} target samples."
        )
    if of_targets and of_weights and of_targets != of_weights:
        raise ValueError(
            f"Sample_weight arrays should have the same number of samples as target arrays. Got {of_targets.pop()} "
            f"target samples and {of_weights.pop()} weights."
        )


def _lengths(what: str, arrays: Any) -> set[int]:
    """The number of samples, 0 for None, as a set of one or of none. Raises ValueError for arrays of several."""
    given: Any = [None] if arrays is None else arrays
    lengths = {0 if each is None else int(each.shape[0]) for each in given}
    if len(lengths) > 1:
        shapes = [None if each is None else tuple(each.shape) for each in given]
        raise ValueError(f"All {what} arrays should have the same number of samples. Got array shapes: {shapes}.")
    return lengths


def check_loss_and_target_compatibility(targets: Sequence[Any], loss_fns: Sequence[Any], output_shapes: Any) -> None:
    """Raise ValueError for a target whose shape does not fit its loss and output."""
    for y, loss, shape in zip(targets, loss_fns, output_shapes, strict=False):
        if y is None or loss is None:
            continue
        name = getattr(loss, "__name__", None)
        if name == "categorical_crossentropy" and y.shape[-1] == 1:
            raise ValueError(
                f"You are passing a target array of shape {tuple(y.shape)} while using as loss "
                "`categorical_crossentropy`, which expects one number for each class: make it with to_categorical(y), "
                "or use `sparse_categorical_crossentropy`."
            )
        sizes = zip(y.shape[1:], shape[1:], strict=False)
        if name in LIKE_OUTPUTS and any(wanted not in (None, size) for size, wanted in sizes):
            raise ValueError(
                f"A target array with shape {tuple(y.shape)} was passed for an output of shape {tuple(shape)} while "
                f"using as loss `{name}`. This loss expects targets to have the same shape as the output."
            )


def collect_metrics(metrics: Any, output_names: Sequence[str]) -> list[list[Any]]:
    """The metrics of each output, from one list for all, or a dict by output."""
    if not metrics:
        return [[] for _ in output_names]
    if isinstance(metrics, list):
        return [list(metrics) for _ in output_names]
    if isinstance(metrics, dict):
        return [to_list(metrics.get(name, [])) for name in output_names]
    raise TypeError(f"Type of `metrics` argument not understood. Expected a list or dictionary, found: {metrics!r}.")


def weighted_masked_objective(fn: Callable[..., Any] | None) -> Callable[..., Any] | None:
    """A loss `fn(y_true, y_pred)` as `weighted(y_true, y_pred, weights, mask=None)`, one number; None for None."""
    if fn is None:
        return None

    def weighted(y_true: Any, y_pred: Any, weights: Any, mask: Any = None) -> Any:
        scores = fn(y_true, y_pred)
        if mask is not None:
            mask = K.cast(mask, K.floatx())
            scores = scores * mask / K.mean(mask)
        if weights is not None:
            further = list(range(K.ndim(weights), K.ndim(scores)))
            scores = K.mean(scores, axis=further) if further else scores
            scores = scores * weights / K.mean(K.cast(K.not_equal(weights, 0), K.floatx()))
        return K.mean(scores)

    return weighted


weighted_objective = weighted_masked_objective  # Keras 1's name


def check_num_samples(
    ins: Sequence[Any], batch_size: int | None = None, steps: int | None = None, steps_name: str = "steps"
) -> int | None:
    """The number of samples; None where `steps` says how much there is. Raises ValueError for both, and for neither."""
    if steps is not None:
        if batch_size is not None:
            raise ValueError(f"If {steps_name} is set, the `batch_size` must be None.")
        return None
    if not ins or not hasattr(ins[0], "shape"):
        raise ValueError(f"Either the input data should have a defined shape, or {steps_name} should be specified.")
    return int(ins[0].shape[0])


def iter_sequence_infinite(seq: Any) -> Iterator[Any]:
    """The items of a sequence, again and again."""
    while True:
        yield from seq
