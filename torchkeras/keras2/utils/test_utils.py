"""`keras.utils.test_utils`: data and checks for tests of layers."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from torchkeras import Input, Model, clear_session, config
from torchkeras.base.dtypes import dtype_name
from torchkeras.keras2.renamed import renamed
from torchkeras.keras2.utils.generic_utils import has_arg

F = TypeVar("F", bound=Callable[..., Any])


@renamed(nb_train="num_train", nb_test="num_test", nb_class="num_classes")
def get_test_data(
    num_train: int = 1000,
    num_test: int = 500,
    input_shape: tuple[int, ...] = (10,),
    output_shape: tuple[int, ...] = (2,),
    classification: bool = True,
    num_classes: int = 2,
) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """`(x_train, y_train), (x_test, y_test)`, drawn around a number for each sample, from NumPy's global state.

    With `classification` the number is the class, and y has classes; else y is drawn around it as x is.
    """
    draw: Any = np.random  # the state that scripts seed
    samples = num_train + num_test
    x = np.zeros((samples, *input_shape), "float32")
    if classification:
        y = centre = draw.randint(0, num_classes, size=(samples,))
    else:
        y, centre = np.zeros((samples, *output_shape), "float32"), draw.random((samples,))
    for row, at in enumerate(centre):
        x[row] = draw.normal(loc=at, scale=0.7, size=input_shape)
        if not classification:
            y[row] = draw.normal(loc=at, scale=0.7, size=output_shape)
    return (x[:num_train], y[:num_train]), (x[num_train:], y[num_train:])


def layer_test(
    layer_cls: Any,
    kwargs: dict[str, Any] | None = None,
    input_shape: Any = None,
    input_dtype: Any = None,
    input_data: Any = None,
    expected_output: Any = None,
    expected_output_dtype: Any = None,
    fixed_batch_size: bool = False,
) -> np.ndarray:
    """Check a layer of one input and one output, and return its output.

    Weights are read and set; the shape and type of the output are those that were said; the model of the layer comes
    back from its config, and gives the same with the same weights; a layer that knows `training` trains a step.

    Arguments:
        layer_cls (class): the layer's.
        kwargs (dict or None, default None): its options.
        input_shape (tuple or None, default None): of data that are drawn; None in it draws a size from 1 to 3.
        input_dtype (type or None, default None): the type of the data.
        input_data (array or None, default None): the data, in place of drawn ones.
        expected_output (array or None, default None): what the layer gives, to 1e-3.
        expected_output_dtype (type or None, default None): the type of the output; None is that of the data.
        fixed_batch_size (bool, default False): whether the input has the batch size of `input_shape`.

    Errors:
        AssertionError: one of these does not hold.
    """
    if input_data is None:
        input_data = _drawn(input_shape, input_dtype or config.floatx())
    input_shape = input_shape or input_data.shape
    input_dtype = str(np.dtype(input_dtype or input_data.dtype))
    options = dict(kwargs or {})
    layer = layer_cls(**options)
    weights = layer.get_weights()
    layer.set_weights(weights)
    if weights and has_arg(layer_cls.__init__, "weights"):
        layer = layer_cls(**options, weights=weights)
    said = layer.compute_output_shape(input_shape)
    x = Input(batch_shape=input_shape if fixed_batch_size else (None, *input_shape[1:]), dtype=input_dtype)
    y = layer(x)
    _same(dtype_name(y.dtype), str(np.dtype(expected_output_dtype or input_dtype)), "type of the output")
    output = _model_test(Model(x, y), input_data, said, expected_output, has_arg(layer.call, "training"))
    type(layer).from_config({**layer.get_config(), "batch_input_shape": input_shape})
    return output


def _drawn(shape: Any, dtype: Any) -> np.ndarray:
    if not shape:
        raise AssertionError("layer_test: input_shape or input_data must be given.")
    draw: Any = np.random  # the state that scripts seed
    sizes = [draw.randint(1, 4) if size is None else size for size in shape]
    return (10 * draw.random(sizes)).astype(dtype)


def _model_test(model: Model, data: Any, said: Any, expected: Any, trains: bool) -> np.ndarray:
    output = model.predict(data)
    for size, found in zip(said, output.shape, strict=False):
        if size is not None:
            _same(found, size, "size in the output")
    if expected is not None:
        np.testing.assert_allclose(output, expected, rtol=1e-3)
    again = type(model).from_config(model.get_config())
    if model.weights:
        again.set_weights(model.get_weights())
        np.testing.assert_allclose(again.predict(data), output, rtol=1e-3)
    if trains:
        model.compile("rmsprop", "mse")
        model.train_on_batch(data, output)
    return output


def _same(found: Any, wanted: Any, what: str) -> None:
    if found != wanted:
        raise AssertionError(f"layer_test: the {what} is {found!r}, not {wanted!r}.")


def keras_test(func: F) -> F:
    """A test function; names of layers start again after it."""

    @wraps(func)
    def test(*args: Any, **kwargs: Any) -> Any:
        result = func(*args, **kwargs)
        clear_session()
        return result

    return test  # type: ignore[return-value]
