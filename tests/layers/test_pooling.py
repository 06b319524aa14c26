"""Pooling computes what Keras 2.2.4 does, with every option, and also Keras 3's additions."""

import re

import pytest
import torch
from golden import cases, check, compiles, remade, same_in_both_formats
from spatial_golden import check_expression, expressions

from torchkeras import config, layers
from torchkeras.engine.graph.input import Input
from torchkeras.layers.adaptive_pooling import (
    AdaptiveAveragePooling1D,
    AdaptiveAveragePooling2D,
    AdaptiveAveragePooling3D,
    AdaptiveMaxPooling1D,
    AdaptiveMaxPooling2D,
    AdaptiveMaxPooling3D,
)
from torchkeras.layers.core import Masking
from torchkeras.layers.global_pooling import (
    GlobalAveragePooling1D,
    GlobalAveragePooling2D,
    GlobalAveragePooling3D,
    GlobalMaxPooling1D,
    GlobalMaxPooling2D,
    GlobalMaxPooling3D,
)
from torchkeras.layers.layer_normalization import LayerNormalization
from torchkeras.layers.pooling import (
    AveragePooling1D,
    AveragePooling2D,
    AveragePooling3D,
    MaxPooling1D,
    MaxPooling2D,
    MaxPooling3D,
)
from torchkeras.models.model import Model

WINDOWS = (MaxPooling1D, MaxPooling2D, MaxPooling3D, AveragePooling1D, AveragePooling2D, AveragePooling3D)
GLOBAL_MAX = (GlobalMaxPooling1D, GlobalMaxPooling2D, GlobalMaxPooling3D)
GLOBAL = (*GLOBAL_MAX, GlobalAveragePooling1D, GlobalAveragePooling2D, GlobalAveragePooling3D)
ADAPTIVE = (
    *(AdaptiveMaxPooling1D, AdaptiveMaxPooling2D, AdaptiveMaxPooling3D),
    *(AdaptiveAveragePooling1D, AdaptiveAveragePooling2D, AdaptiveAveragePooling3D),
)

# Keras 2.2.4 of arange(16) - 8 as a 4x4 image, padding='same'.
SAME = [
    (MaxPooling2D, 2, 1, [-3, -2, -1, -1, 1, 2, 3, 3, 5, 6, 7, 7, 5, 6, 7, 7]),
    (AveragePooling2D, 2, 1, [-5.5, -4.5, -3.5, -3, -1.5, -0.5, 0.5, 1, 2.5, 3.5, 4.5, 5, 4.5, 5.5, 6.5, 7]),
    (MaxPooling2D, 3, 2, [2, 3, 6, 7]),
    (AveragePooling2D, 3, 2, [-3, -1.5, 3, 4.5]),
    (MaxPooling2D, 3, 1, [-3, -2, -1, -1, 1, 2, 3, 3, 5, 6, 7, 7, 5, 6, 7, 7]),
    (AveragePooling2D, 3, 1, [-5.5, -5, -4, -3.5, -3.5, -3, -2, -1.5, 0.5, 1, 2, 2.5, 2.5, 3, 4, 4.5]),
    (MaxPooling2D, 2, 3, [-3, -1, 5, 7]),
    (AveragePooling2D, 2, 3, [-5.5, -3, 4.5, 7]),
]


@pytest.mark.parametrize("case", cases(*WINDOWS, *GLOBAL))
def test_values_are_those_of_keras(case):
    check(case, *WINDOWS, *GLOBAL)


@pytest.mark.parametrize("expression", expressions("MaxPooling", "AveragePooling"))
def test_windows_lie_where_keras_puts_them(expression):
    check_expression(expression)


@pytest.mark.parametrize("window", [(4, 1, 3), (2, 5, 2), (3, 3, 9)])
@pytest.mark.parametrize("strides", [1, 2, (3, 1, 2)])
def test_gradients_of_windows_longer_than_a_volume_are_right(window, strides):
    layer = AveragePooling3D(window, strides, "same")
    volumes = torch.randn(1, 3, 4, 5, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(layer, volumes)


@pytest.mark.parametrize(("cls", "pool_size", "strides", "values"), SAME)
def test_same_padding_is_that_of_keras(cls, pool_size, strides, values):
    found = cls(pool_size, strides=strides, padding="same")(torch.arange(16.0).reshape(1, 4, 4, 1) - 8)
    torch.testing.assert_close(found.flatten(), torch.tensor(values, dtype=torch.float32))


@pytest.mark.parametrize("cls", [MaxPooling2D, AveragePooling2D])
@pytest.mark.parametrize("padding", ["valid", "SAME"])
@pytest.mark.parametrize(("pool_size", "strides"), [(2, None), (3, 1), ((2, 4), 1), ((4, 1), (1, 3)), (2, 5)])
def test_sizes_are_those_of_keras_in_both_data_formats(cls, padding, pool_size, strides):
    layer = cls(pool_size, strides, padding)
    found = same_in_both_formats(cls, pool_size, strides, padding)
    ends = (0, 0) if padding == "SAME" else tuple(window - 1 for window in layer.pool_size)
    expected = [-(-(size - end) // s) for size, end, s in zip((9, 8), ends, layer.strides, strict=True)]
    assert list(found.shape[2:]) == expected


@pytest.mark.parametrize("cls", GLOBAL)
def test_global_pooling_is_over_all_spatial_axes(cls):
    shape, axes = (2, 3, 4, 5, 6)[: cls.rank + 2], tuple(range(2, cls.rank + 2))
    values = torch.randn(shape)
    reduce = torch.amax if cls in GLOBAL_MAX else torch.mean
    torch.testing.assert_close(cls(data_format="channels_first")(values), reduce(values, axes))
    torch.testing.assert_close(cls("channels_first", True)(values), reduce(values, axes, keepdim=True))
    assert same_in_both_formats(cls, shape=shape).shape == (2, 3)
    assert same_in_both_formats(cls, shape=shape, keepdims=True).shape == (2, 3, *(1,) * cls.rank)
    assert cls()(Input((*(None,) * cls.rank, 3))).shape == (None, 3)
    assert cls(keepdims=True)(Input((*(None,) * cls.rank, 3))).shape == (None, *(1,) * cls.rank, 3)
    assert "keepdims" not in cls().get_config()
    assert remade(cls(keepdims=True)).keepdims is True


@pytest.mark.parametrize("cls", GLOBAL)
def test_global_pooling_moves_no_axes(cls):
    inputs = Input((*range(4, 4 + cls.rank), 3))
    between = LayerNormalization()(inputs)
    model = Model(inputs, [cls()(between), between])
    pooled, normalized = model(torch.randn(2, *inputs.shape[1:]))
    (gradient,) = torch.autograd.grad(pooled.sum(), normalized)
    assert "permute" not in model.code
    assert gradient.is_contiguous()  # what comes before need not copy it


@pytest.mark.parametrize("data_format", ["channels_first", "channels_last"])
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("cls", GLOBAL)
def test_global_pooling_knows_its_channels_behind_a_convolution(cls, keepdims, data_format):
    # The convolution gives its channels at axis 1 in memory's order, wherever Keras's shape has them.
    inputs = Input((*range(5, 5 + cls.rank), 3))
    convolved = getattr(layers, f"Conv{cls.rank}D")(4, 2, data_format="channels_last")(inputs)
    model = Model(inputs, [convolved, cls(data_format=data_format, keepdims=keepdims)(convolved)])
    values, pooled = model(torch.randn(2, *inputs.shape[1:]))
    axes = tuple(range(1, cls.rank + 1) if data_format == "channels_last" else range(2, cls.rank + 2))
    torch.testing.assert_close(pooled, (torch.amax if cls in GLOBAL_MAX else torch.mean)(values, axes, keepdims))
    assert pooled.shape[1:] == model.outputs[1].shape[1:]


def test_the_mean_over_time_leaves_masked_steps_out():
    # Values of Keras 2.2.4 (of Keras 3.15 for channels_first, where Keras 2.2.4 mixes up the axes).
    x, mask = torch.arange(12.0).reshape(2, 3, 2), torch.tensor([[True, True, False], [True, False, False]])
    expected = torch.tensor([[1.0, 2], [6, 7]])
    torch.testing.assert_close(GlobalAveragePooling1D()(x, mask=mask), expected)
    torch.testing.assert_close(GlobalAveragePooling1D("channels_first")(x.transpose(1, 2), mask=mask), expected)
    torch.testing.assert_close(GlobalAveragePooling1D(keepdims=True)(x, mask=mask), expected[:, None])
    assert GlobalAveragePooling1D()(x, mask=mask & False).isnan().all()
    assert GlobalAveragePooling1D()(Masking()(Input((None, 2))))._keras_mask is None
    compiles(GlobalAveragePooling1D(), x, mask=mask)


@pytest.mark.parametrize("cls", [MaxPooling1D, GlobalMaxPooling1D, AveragePooling1D])
def test_others_refuse_a_mask(cls):
    with pytest.raises(TypeError, match="does not support masking"):
        cls()(Masking()(Input((4, 3))))


# Values of Keras 3.15, of the squares of 0 to 4, of 0 to 19 as an image of 4 by 5, and of 0 to 23 as a volume.
@pytest.mark.parametrize(
    ("layer", "inputs", "values"),
    [
        (AdaptiveAveragePooling1D(3), torch.arange(5.0) ** 2, [0.5, 4.666666507720947, 12.5]),
        (AdaptiveMaxPooling1D(3), torch.arange(5.0) ** 2, [1.0, 9.0, 16.0]),
        (AdaptiveAveragePooling1D(7), torch.arange(5.0) ** 2, [0.0, 0.5, 2.5, 4.0, 6.5, 12.5, 16.0]),
        (AdaptiveAveragePooling2D((3, 2)), torch.arange(20.0).reshape(4, 5), [3.5, 5.5, 8.5, 10.5, 13.5, 15.5]),
        (AdaptiveMaxPooling2D((3, 2)), torch.arange(20.0).reshape(4, 5), [7.0, 9.0, 12.0, 14.0, 17.0, 19.0]),
        (AdaptiveMaxPooling2D(1), torch.arange(20.0).reshape(4, 5), [19.0]),
        (AdaptiveAveragePooling3D((1, 2, 3)), torch.arange(24.0).reshape(2, 3, 4), [8.5, 9.5, 10.5, 12.5, 13.5, 14.5]),
        (AdaptiveMaxPooling3D((1, 2, 3)), torch.arange(24.0).reshape(2, 3, 4), [17.0, 18.0, 19.0, 21.0, 22.0, 23.0]),
    ],
)
def test_adaptive_pooling_has_the_size_asked_for(layer, inputs, values):
    torch.testing.assert_close(layer(inputs[None, ..., None]).flatten(), torch.tensor(values))
    assert layer(Input((*(None,) * layer.rank, 3))).shape == (None, *layer.output_size, 3)
    assert remade(layer).output_size == layer.output_size
    compiles(layer, inputs[None, None])
    same_in_both_formats(type(layer), layer.output_size, shape=(2, 3, 4, 5, 6)[: layer.rank + 2])


def test_over_one_axis_channels_are_last_whatever_is_configured():
    before = config.image_data_format()
    config.set_image_data_format("channels_first")
    try:
        made = [
            cls().data_format for cls in (MaxPooling1D, AveragePooling1D, GlobalMaxPooling1D, GlobalAveragePooling1D)
        ]
        assert (made, MaxPooling2D().data_format) == (["channels_last"] * 4, "channels_first")
    finally:
        config.set_image_data_format(before)


def test_short_names():
    for rank in "123":
        for short, name in (("Max", "Max"), ("Avg", "Average")):
            assert getattr(layers, f"{short}Pool{rank}D") is getattr(layers, f"{name}Pooling{rank}D")
            assert getattr(layers, f"Global{short}Pool{rank}D") is getattr(layers, f"Global{name}Pooling{rank}D")


@pytest.mark.parametrize("cls", [MaxPooling2D, AveragePooling2D])
def test_padding_never_wins_and_whole_windows_use_a_torch_module(cls):
    assert (cls(3, 1, "same")(-torch.ones(1, 4, 4, 1)) == -1).all()
    layer = cls()
    output = layer(Input((None, 9, 3)))
    assert output.shape == (None, None, 4, 3)
    assert type(layer.pool).__name__.endswith("Pool2d")
    assert remade(layer).strides == (2, 2)


@pytest.mark.torch("2.8", "its compiler follows whole models")
@pytest.mark.parametrize("cls", [*WINDOWS, *GLOBAL])
def test_each_layer_compiles_whole(cls):
    shape = (2, 5, 6, 7, 3)
    for options in ({"padding": "same", "strides": 1}, {"padding": "same"}, {}) if cls in WINDOWS else ({},):
        layer = cls(**options)
        layer(torch.randn(*shape[: cls.rank + 1], 3))
        compiles(layer, torch.randn(2, 3, *shape[1 : cls.rank + 1]))


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: MaxPooling2D(0), "MaxPooling2D: pool_size must hold integers of at least 1; found 0."),
        (lambda: MaxPooling2D(2, strides=(1,)), "MaxPooling2D: strides must be an integer or 2 integers; found (1,)."),
        (
            lambda: MaxPooling2D(padding="full"),
            "MaxPooling2D: padding must be one of 'valid', 'same', 'theano'; found 'full'.",
        ),
        (
            lambda: GlobalMaxPooling2D("first"),
            "GlobalMaxPooling2D: data_format must be one of 'channels_last', 'channels_first', None; found 'first'.",
        ),
        (
            lambda: AveragePooling2D((2, 3), name="half")(Input((4, 2, 3))),
            "AveragePooling2D 'half': pool_size (2, 3) does not fit the input (None, 4, 2, 3): axis 2 is 2 long.",
        ),
        (lambda: GlobalMaxPooling1D(keepdims=2), "GlobalMaxPooling1D: keepdims must be True, False, 1 or 0; found 2."),
        (
            lambda: AdaptiveMaxPooling2D((2, 0)),
            "AdaptiveMaxPooling2D: output_size must hold integers of at least 1; found (2, 0).",
        ),
        (
            lambda: MaxPooling1D(5, name="line")(Input((4, 3))),
            "MaxPooling1D 'line': pool_size (5,) does not fit the input (None, 4, 3): axis 1 is 4 long.",
        ),
        (
            lambda: GlobalMaxPooling2D(name="all")(Input((4, 3))),
            (
                "Input 0 is incompatible with layer all: expected ndim=4, found ndim=3 (input shape (None, 4, 3)). "
                "Give it an input of 4 axes: samples, rows, columns and channels."
            ),
        ),
    ],
)
def test_bad_values_are_refused(make, text):
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        make()


@pytest.mark.parametrize("dtype", [torch.int8, torch.int32, torch.int64, torch.uint8])
@pytest.mark.parametrize("data_format", ["channels_first", "channels_last"])
def test_maxima_of_integers_are_those_of_floats(dtype: torch.dtype, data_format: str):
    values = torch.randint(0 if dtype is torch.uint8 else -20, 20, (2, 6, 5, 3), dtype=dtype)
    layer = MaxPooling2D(2, 1, data_format=data_format)
    assert torch.equal(layer(values).double(), layer(values.double()))
