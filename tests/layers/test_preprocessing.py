"""Scaling, resizing, normalizing, binning and encoding as Keras 3.15 does (its cases: test_keras3.py)."""

import re

import numpy as np
import pandas as pd
import pytest
import torch
from golden import compiles, remade, same_in_both_formats

from torchkeras import config
from torchkeras.export.errors import EjectError
from torchkeras.export.plain.module_text import write
from torchkeras.layers import Dense, Input
from torchkeras.layers.image_preprocessing import CenterCrop, Rescaling, Resizing
from torchkeras.layers.lookup import IntegerLookup, StringLookup
from torchkeras.layers.preprocessing import CategoryEncoding, Discretization, Normalization
from torchkeras.layers.text import TextVectorization
from torchkeras.models import Model, Sequential, load_model

PIXELS = torch.arange(0, 240, dtype=torch.uint8).reshape(1, 8, 10, 3)
WAVES = np.sin(np.arange(400)).reshape(100, 4).astype("float32")


@pytest.mark.parametrize(
    ("option", "value", "then"), [("scale", [1.0, 2.0, 4.0], [1, 2, 4]), ("offset", [4.0, 5.0, 6.0], [5, 7, 9])]
)
def test_a_number_becomes_no_array_any_more_nor_an_array_a_number(option, value, then):
    inputs, ones = Input((3,)), torch.ones(1, 3)
    refused = rf"^Rescaling 'own': {option} cannot change from .* make a layer with that option\.$"
    layer = Rescaling(2.0, name="own")
    model = Model(inputs, layer(inputs))
    with pytest.raises(ValueError, match=refused):
        setattr(layer, option, value)
    assert model(ones).tolist() == [[2, 2, 2]]
    layer = Rescaling([1.0, 2.0, 3.0], [0.0, 0.0, 0.0], name="own")
    model = Model(inputs, layer(inputs))
    with pytest.raises(ValueError, match=refused):
        setattr(layer, option, 2.0)
    assert model(ones).tolist() == [[1, 2, 3]]
    setattr(layer, option, value)
    assert model(ones).tolist() == [then]


def test_an_array_that_does_not_fit_the_input_is_refused():
    said = (
        r"^Rescaling 'own': offset must be a number, or have one for each index of the last axes of the input; found "
        r"the shape \(3,\) for the input shape \((None|2), 4\)\.$"
    )
    for inputs in (Input((4,)), torch.ones(2, 4)):
        with pytest.raises(ValueError, match=said):
            Rescaling(1.0, [1.0, 2.0, 3.0], name="own")(inputs)


def test_rescaling_makes_floats():
    layer = Rescaling(1 / 255)
    assert layer(PIXELS).dtype == torch.float32
    assert layer(Input((8, 10, 3), dtype="uint8")).dtype == torch.float32
    assert Rescaling(0.5, -1)(torch.tensor([[2, 4]])).tolist() == [[0, 1]]
    assert Rescaling([0.5, 2.0], [-1, 1])(torch.tensor([[2, 4]])).tolist() == [[0, 9]]
    compiles(layer, PIXELS)
    remade(layer)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"interpolation": "nearest"},
        {"interpolation": "bicubic", "antialias": True},
        {"crop_to_aspect_ratio": True},
        {"pad_to_aspect_ratio": True, "fill_value": 0.5, "antialias": True},
    ],
)
def test_resizing_is_the_same_in_both_formats(options):
    assert same_in_both_formats(Resizing, 4, 11, **options).shape == (2, 3, 4, 11)
    same_in_both_formats(CenterCrop, 4, 11)
    compiles(Resizing(4, 11, data_format="channels_first", **options), torch.rand(2, 3, 9, 8))
    assert remade(Resizing(4, 11, **options)).get_config()["width"] == 11


def test_resizing_rounds_integers_and_keeps_their_type():
    layer = Resizing(16, 10, "bicubic")
    found = layer(PIXELS)
    assert found.dtype == torch.uint8
    expected = Resizing(16, 10, "bicubic")(PIXELS.float()).round().clamp(0, 255)
    assert torch.equal(found.float(), expected)
    assert layer(Input((8, 10, 3), dtype="uint8")).dtype == torch.uint8
    assert Resizing(4, 5)(Input((None, None, 3))).shape == (None, 4, 5, 3)


def test_margins_keep_the_aspect_ratio():
    images = torch.full((2, 4, 8, 1), 7.0)
    assert torch.equal(Resizing(2, 4, pad_to_aspect_ratio=True)(images), Resizing(2, 4)(images))
    layer = Resizing(8, 8, "nearest", pad_to_aspect_ratio=True, fill_value=1)
    assert layer(images)[0, :, 0, 0].tolist() == [1, 1, 7, 7, 7, 7, 1, 1]
    assert layer(images.to(torch.uint8)).dtype == torch.uint8
    assert remade(layer).get_config()["fill_value"] == 1
    with pytest.raises(EjectError, match=r"Resizing .*: eject does not write pad_to_aspect_ratio"):
        write(Sequential([Input((4, 8, 1)), layer]), "model.pt")


def test_a_single_image_may_go_in():
    for layer in (Resizing(4, 5), CenterCrop(4, 5)):
        assert torch.equal(layer(PIXELS[0]), layer(PIXELS[:1])[0])


def test_normalization_by_what_adapt_finds():
    data = np.random.default_rng(0).normal(3, 2, (60, 4, 3)).astype("float32")
    for axis, others in ((-1, (0, 1)), (None, (0, 1, 2)), ((1, 2), (0,))):
        mean, deviation = data.mean(others, keepdims=True), data.std(others, keepdims=True)
        for given in (data, torch.from_numpy(data), [data[:7], data[7:50], data[50:]], iter([(data, "labels")])):
            layer = Normalization(axis)
            layer.adapt(given)
            found = layer(torch.from_numpy(data)).numpy()
            np.testing.assert_allclose(found, (data - mean) / deviation, rtol=1e-4, atol=1e-5)
            inverse = Normalization(axis, invert=True)
            inverse.adapt(given if not hasattr(given, "__next__") else data)
            np.testing.assert_allclose(inverse(torch.from_numpy(found)).numpy(), data, rtol=1e-4, atol=1e-5)
    assert [weight.full_name.partition("/")[2] for weight in layer.weights] == ["mean:0", "variance:0", "count:0"]
    assert layer.trainable_weights == []
    assert remade(layer).axis == (1, 2)
    compiles(layer, torch.from_numpy(data))


def test_a_constant_feature_is_divided_by_epsilon():
    layer = Normalization(mean=[1.0, 2.0], variance=[0.0, 4.0])
    found = layer(torch.tensor([[1.0, 4.0], [1.5, 2.0]]))
    torch.testing.assert_close(found, torch.tensor([[0.0, 1.0], [0.5 / config.epsilon(), 0.0]]))
    assert layer.weights == []


TABLE = pd.DataFrame({"age": [1, 3, 5], "rate": [0.5, 1.0, 4.5], "new": [True, False, True]})


@pytest.mark.parametrize("data", [TABLE, TABLE.astype({"age": "Int64"}), TABLE.to_numpy(float).tolist()])
def test_a_table_and_lists_of_numbers_adapt_as_their_array(data):
    layer, expected = Normalization(), Normalization()
    layer.adapt(data)
    expected.adapt(TABLE.to_numpy(float))
    assert torch.equal(layer.mean, expected.mean)
    assert torch.equal(layer.variance, expected.variance)
    bins, of_array = Discretization(num_bins=3), Discretization(num_bins=3)
    bins.adapt(data)
    of_array.adapt(TABLE.to_numpy(float))
    assert bins.bin_boundaries == of_array.bin_boundaries


@pytest.mark.parametrize("layer", [Normalization(name="own"), Discretization(num_bins=2, name="own")])
@pytest.mark.parametrize(("value", "found"), [("x", "'x'"), (pd.NA, "<NA>")])
def test_a_table_without_numbers_is_refused(layer, value, found):
    table = pd.DataFrame({"a": pd.Series([1, value], dtype="Int64" if value is pd.NA else object), "b": [1.0, 2.0]})
    with pytest.raises(ValueError, match=rf"^{type(layer).__name__} 'own': adapt takes numbers; found {found}\.$"):
        layer.adapt(table)


@pytest.mark.parametrize("layer", [StringLookup(), TextVectorization(), StringLookup(output_mode="tf_idf")])
@pytest.mark.parametrize(
    "take", [lambda frame: frame, lambda frame: frame["kind"], lambda frame: frame.astype("category")["kind"]]
)
def test_a_table_of_words_adapts_by_its_values(layer, take):
    layer.adapt(take(pd.DataFrame({"kind": ["b", "a", "b"]})))
    assert layer.get_vocabulary()[-2:] == ["b", "a"]
    integers = IntegerLookup()
    for kind in ("int64", "Int64"):
        integers.adapt(pd.DataFrame({"kind": [7, 3, 7]}, dtype=kind))
        assert integers.get_vocabulary() == [-1, 7, 3]


def test_what_adapt_found_is_in_a_file(tmp_path):
    data = torch.from_numpy(WAVES)
    normalized, binned = Normalization(), Discretization(num_bins=3, output_mode="multi_hot")
    normalized.adapt(data)
    binned.adapt((data - data.mean(0)) / data.std(0))
    model = Sequential([normalized, Rescaling(2.0), binned, Dense(2)])
    model(data)
    model.save(tmp_path / "model.h5")
    torch.testing.assert_close(load_model(tmp_path / "model.h5")(data), model(data))


@pytest.mark.parametrize("data", [WAVES, torch.from_numpy(WAVES), [WAVES[:30], WAVES[30:37], WAVES[37:]]])
@pytest.mark.parametrize("bins", [1, 4, 5])
def test_discretization_finds_bins_with_the_same_share_of_the_data(bins, data):
    layer = Discretization(num_bins=bins)
    assert layer(Input((4,))).shape == (None, 4)
    layer.adapt(data)
    values = torch.from_numpy(WAVES)
    assert layer(values).flatten().bincount().tolist() == [400 // bins] * bins
    assert torch.equal(remade(layer)(values), layer(values))
    np.testing.assert_array_equal(layer(values).numpy(), np.digitize(WAVES, np.float32(layer.bin_boundaries)))
    compiles(layer, values)


def test_discretization_takes_the_steps_it_is_told():
    first, all_of_them = Discretization(num_bins=4), Discretization(num_bins=4)
    first.adapt((batch for batch in (WAVES, WAVES + 9)), steps=1)
    all_of_them.adapt(WAVES)
    assert first.bin_boundaries == all_of_them.bin_boundaries
    assert Discretization(num_bins=4, output_mode="one_hot")(Input((3,))).shape == (None, 3, 4)


def test_the_config_of_an_adapted_discretization_may_have_fewer_boundaries():
    # Genuine Keras finds no more boundaries than there are values.
    config = {"name": "d", "num_bins": 32, "bin_boundaries": [0.0, 1.0], "output_mode": "one_hot"}
    layer = Discretization.from_config(config)
    assert layer(torch.tensor([0.5, 7.0])).tolist() == [[0, 1, 0], [0, 0, 1]]
    again = Discretization.from_config(layer.get_config())
    assert (again.num_bins, again.bin_boundaries) == (32, [0.0, 1.0])
    layer.adapt(WAVES)
    assert len(layer.bin_boundaries) == 31
    with pytest.raises(ValueError, match="give bin_boundaries or num_bins, and not both"):
        Discretization.from_config({**config, "num_bins": 2})


def test_negative_indices_count_for_nothing():
    indices = torch.tensor([[0, -1, 2], [1, 1, -7]])
    assert CategoryEncoding(3)(indices).tolist() == [[1, 0, 1], [0, 1, 0]]
    assert CategoryEncoding(3, "count")(indices).tolist() == [[1, 0, 1], [0, 2, 0]]
    assert CategoryEncoding(3, "one_hot")(indices)[0].tolist() == [[1, 0, 0], [0, 0, 0], [0, 0, 1]]
    with pytest.raises(RuntimeError, match="out of bounds"):
        CategoryEncoding(3)(torch.tensor([[3]]))
    compiles(CategoryEncoding(3, "count"), indices)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Rescaling("a"), "Rescaling: scale must be a number or an array of numbers; found 'a'."),
        (lambda: Rescaling([[], [1]]), "Rescaling: scale must be a number or an array of numbers; found [[], [1]]."),
        (
            lambda: Resizing(4, 5, "lanczos3"),
            "Resizing: interpolation must be one of 'bilinear', 'nearest', 'bicubic'; found 'lanczos3'.",
        ),
        (lambda: Resizing(4, 5, fill_mode="wrap"), "Resizing: fill_mode must be 'constant'; found 'wrap'."),
        (lambda: Resizing(4, 5, fill_value="1"), "Resizing: fill_value must be a number; found '1'."),
        (
            lambda: Resizing(4, 5, "bilinear", True, True, name="r")(torch.zeros(1, 2, 2, 3)),
            "Resizing 'r': only one of crop_to_aspect_ratio and pad_to_aspect_ratio can be True.",
        ),
        (
            lambda: Normalization(mean="a", variance=1),
            "Normalization: mean must be a number or an array of numbers, or None; found 'a'.",
        ),
        (lambda: CenterCrop(0, 5), "CenterCrop: height must be an integer of at least 1; found 0."),
        (
            lambda: Normalization(mean=1, name="n"),
            "Normalization 'n': mean and variance go together, of one shape; found 1 and None.",
        ),
        (
            lambda: Normalization(mean=[1, 2], variance=[1], name="n"),
            "Normalization 'n': mean and variance go together, of one shape; found [1, 2] and [1].",
        ),
        (
            lambda: Normalization(mean=[1, 2], variance=[1, 2], name="n")(torch.zeros(2, 3)),
            "Normalization 'n': mean of shape (2,) does not fit axis (-1,), of size (3,).",
        ),
        (
            lambda: Normalization(2, name="n")(Input((3,))),
            "Normalization 'n': axis (2,) is not one of the input (None, 3).",
        ),
        (
            lambda: Normalization(1, name="n")(Input((None, 3))),
            "Normalization 'n': axis 1 of the input must be known; the input shape is (None, None, 3).",
        ),
        (
            lambda: Normalization(mean=1, variance=1, name="n").adapt(WAVES),
            "Normalization 'n': adapt has nothing to find, mean and variance are given.",
        ),
        (lambda: Normalization(name="n").adapt([]), "Normalization 'n': adapt was given no data."),
        (
            lambda: Normalization("last"),
            "Normalization: axis must be an integer or several, or None; found 'last'.",
        ),
        (lambda: CategoryEncoding(), "CategoryEncoding: num_tokens must be an integer of at least 1; found None."),
        (
            lambda: CategoryEncoding(3, "int"),
            "CategoryEncoding: output_mode must be one of 'multi_hot', 'one_hot', 'count'; found 'int'.",
        ),
        (
            lambda: CategoryEncoding(3, sparse=True),
            "CategoryEncoding: sparse must be False, torch computes with dense tensors; found True.",
        ),
        (
            lambda: Discretization([2.0, 1.0]),
            (
                "Discretization: bin_boundaries must be a list of numbers, none below the one before, or None; "
                "found [2.0, 1.0]."
            ),
        ),
        (lambda: Discretization(name="d"), "Discretization 'd': give bin_boundaries or num_bins, and not both."),
        (
            lambda: Discretization([1], 3, name="d"),
            "Discretization 'd': give bin_boundaries or num_bins, and not both.",
        ),
        (
            lambda: Discretization(num_bins=3, epsilon=0),
            "Discretization: epsilon must be a number above 0 and below 1; found 0.",
        ),
        (
            lambda: Discretization([1], name="d").adapt(WAVES),
            "Discretization 'd': adapt has nothing to find, bin_boundaries are given.",
        ),
        (lambda: Discretization(num_bins=3, name="d").adapt([]), "Discretization 'd': adapt was given no data."),
        (
            lambda: Discretization(num_bins=3, name="d")(torch.zeros(2, 3)),
            "Discretization 'd': there are no boundaries yet; call adapt.",
        ),
    ],
)
def test_bad_values_are_refused(make, text):
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        make()


def test_adapt_refuses_data_of_another_shape():
    layer = Normalization(name="n")
    with pytest.raises(ValueError, match=r"^Input 0 is incompatible with layer n: expected axis 1 of input shape"):
        layer.adapt([WAVES, WAVES[:, :3]])
