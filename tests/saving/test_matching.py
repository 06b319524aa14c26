"""Weights paired with a file's arrays: conversions, the report, reshaping, and no array taken for another."""

# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportIndexIssue=false
# h5py types what stands under a name as anything that may.

import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest
import torch

import torchkeras
from torchkeras.errors import ModelFileError, WeightMismatchError
from torchkeras.layers import (
    GRU,
    LSTM,
    BatchNormalization,
    Bidirectional,
    Conv2D,
    CuDNNGRU,
    CuDNNLSTM,
    Dense,
    Embedding,
    Flatten,
    Input,
)
from torchkeras.models import Model, Sequential, load_model
from torchkeras.saving.containers.pieces import SLAB
from torchkeras.saving.weights.matching import Named, match
from torchkeras.saving.weights.origin import Origin

GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.fixture(autouse=True)
def fresh_session(tmp_path, monkeypatch):
    torchkeras.clear_session()
    torch.manual_seed(0)
    monkeypatch.chdir(tmp_path)


# --- cuDNN -----------------------------------------------------------------------------------------------------------

TWINS = {
    "lstm": (CuDNNLSTM, lambda units: LSTM(units, recurrent_activation="sigmoid")),
    "gru": (CuDNNGRU, lambda units: GRU(units, recurrent_activation="sigmoid", reset_after=True)),
}


@pytest.mark.parametrize("kind", TWINS)
@pytest.mark.parametrize("stored", ["cu", "pl"])
def test_weights_of_a_cudnn_layer_and_its_twin_as_keras_converts_them(kind, stored):
    record = np.load(GOLDEN / "keras-2.2.4-cudnn.npz")
    layer = TWINS[kind][stored == "cu"](3)
    layer(Input((5, 2)))
    arrays = [Named(str(k), record[f"{kind}_{stored}_src{k}"]) for k in range(3)]
    for k, found in enumerate(match(layer.weights, arrays, Origin(2, False), "here")):
        found.take()
        np.testing.assert_array_equal(found.variable.numpy(), record[f"{kind}_{stored}_dst{k}"])


@pytest.mark.parametrize("kind", TWINS)
@pytest.mark.parametrize("wrapped", [False, True])
def test_a_model_of_cudnn_layers_and_its_twin_compute_the_same(kind, wrapped):
    cudnn, plain = (
        Sequential([(Bidirectional if wrapped else lambda layer: layer)(made(3)), Dense(2)]) for made in TWINS[kind]
    )
    x = np.random.default_rng(0).normal(size=(4, 5, 2)).astype("float32")
    expected = cudnn.predict(x)
    cudnn.save_weights("cudnn.h5")
    plain.build((None, 5, 2))
    plain.load_weights("cudnn.h5")
    np.testing.assert_allclose(plain.predict(x), expected, atol=1e-6)
    plain.save_weights("plain.h5")
    cudnn.set_weights([0 * weight for weight in cudnn.get_weights()])
    cudnn.load_weights("plain.h5")
    np.testing.assert_allclose(cudnn.predict(x), expected, atol=1e-6)


def test_gates_that_cudnn_does_not_have():
    cudnn = Sequential([CuDNNLSTM(3, input_shape=(5, 2), name="a")])
    cudnn.save_weights("cudnn.h5")
    with pytest.raises(WeightMismatchError) as error:
        Sequential([LSTM(3, input_shape=(5, 2), name="b")]).load_weights("cudnn.h5")
    assert str(error.value) == (
        "cudnn.h5: layer 'b' (LSTM): the arrays in the file are of a cuDNN layer, whose recurrent_activation is "
        "sigmoid; found 'hard_sigmoid'."
    )


# --- the report ------------------------------------------------------------------------------------------------------


def test_the_report_says_where_each_weight_came_from_and_what_was_done():
    model, report = load_model(GOLDEN / "keras-2.2.4-theano" / "conv2d_00" / "model.h5", report=True)
    assert [row.weight for row in report.rows] == [v.full_name for v in model.weights]
    kernel = report.rows[0]
    assert kernel.shape == model.weights[0].shape
    assert kernel.sources[0].startswith("/model_weights/")
    assert kernel.conversions == ("flipped along the spatial axes",)
    assert str(kernel) in str(report)


def test_what_by_name_leaves_alone_is_reported():
    Sequential([Dense(4, input_shape=(3,), name="a"), Dense(2, name="b")]).save_weights("file.h5")
    model = Sequential([Dense(4, input_shape=(3,), name="a"), Dense(2, name="c")])
    report = model.load_weights("file.h5", by_name=True, report=True)
    assert [row.weight for row in report.rows] == ["a/kernel:0", "a/bias:0"]
    assert report.left_in_model == ("c/kernel:0", "c/bias:0")
    assert report.left_in_file == ("/b/b/kernel:0", "/b/b/bias:0")
    assert str(report).splitlines() == [
        "file.h5: 2 weights",
        "a/kernel:0 (3, 4) <- /a/a/kernel:0",
        "a/bias:0 (4,) <- /a/a/bias:0",
        "c/kernel:0 left as it was",
        "c/bias:0 left as it was",
        "/b/b/kernel:0 in the file not taken",
        "/b/b/bias:0 in the file not taken",
    ]
    assert model.load_weights("file.h5", by_name=True) is None


def test_by_name_that_finds_no_layer():
    Sequential([Dense(4, input_shape=(3,), name="a")]).save_weights("file.h5")
    with pytest.raises(WeightMismatchError) as error:
        Sequential([Dense(4, input_shape=(3,), name="b")]).load_weights("file.h5", by_name=True)
    assert str(error.value) == "file.h5: by_name finds no layer: the file has a; the model has b with weights."


def test_skip_mismatch_leaves_a_layer_of_another_shape():
    Sequential([Dense(4, input_shape=(3,), name="a"), Dense(2, name="b")]).save_weights("file.h5")
    model = Sequential([Dense(4, input_shape=(3,), name="a"), Dense(5, name="b")])
    with pytest.warns(UserWarning, match="^Skipping loading of weights for layer 'b' due to mismatch of its weights: "):
        report = model.load_weights("file.h5", by_name=True, skip_mismatch=True, report=True)
    assert report.left_in_model == ("b/kernel:0", "b/bias:0")


def test_reshape():
    Sequential([Conv2D(4, 1, input_shape=(2, 2, 3), name="a")]).save_weights("file.h5")
    model = Sequential([Dense(4, input_shape=(3,), name="a")])
    with pytest.raises(
        WeightMismatchError, match=r"has shape \(3, 4\), but the saved a/kernel:0 has shape \(1, 1, 3, 4\)"
    ):
        model.load_weights("file.h5")
    report = model.load_weights("file.h5", reshape=True, report=True)
    assert report.rows[0].conversions == ("reshaped from (1, 1, 3, 4)",)
    with h5py.File("file.h5") as file:
        np.testing.assert_array_equal(model.get_weights()[0], file["a/a/kernel:0"][0, 0])


def test_values_of_another_type_are_cast_and_reported():
    model = Sequential([Dense(2, input_shape=(3,), name="a")])
    model.save_weights("file.h5")
    with h5py.File("file.h5", "r+") as file:
        values = file["a/a/kernel:0"][()]
        del file["a/a/kernel:0"]
        file["a"]["a/kernel:0"] = values.astype(">f8")
    report = model.load_weights("file.h5", report=True)
    assert report.rows[0].conversions == ("cast from >f8 to float32",)
    np.testing.assert_array_equal(model.get_weights()[0], values)


def test_a_weight_larger_than_what_is_read_at_once():
    model = Sequential([Dense(2100, input_shape=(2100,), name="a")])
    assert SLAB < 2 * 2100 * 2100
    expected = model.get_weights()
    model.save_weights("file.h5")
    model.set_weights([0 * weight for weight in expected])
    model.load_weights("file.h5")
    for found, wanted in zip(model.get_weights(), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)
    half = Sequential([Dense(2100, input_shape=(2100,), name="a")]).bfloat16()
    half.load_weights("file.h5")
    assert torch.equal(half.layers[0].linear.weight, torch.from_numpy(expected[0]).T.bfloat16())


# --- any single weight changed ---------------------------------------------------------------------------------------


def sources():
    x = Input((6, 6, 3))
    y = BatchNormalization()(Conv2D(4, 3)(x))
    inner = Sequential([Dense(5, input_shape=(4,)), BatchNormalization(), Dense(3)], name="inner")
    yield Model(x, Dense(2)(inner(Dense(4)(Flatten()(y)))))
    yield Sequential([Embedding(9, 3, input_length=5), Bidirectional(LSTM(4)), Dense(2)])
    yield Sequential([GRU(4, input_shape=(5, 2), reset_after=True), Dense(7), Dense(4)])


def layer_of(file, path):
    """The group that lists a weight, and its name there."""
    group, _, name = path.strip("/").partition("/")
    return file[group], name


def listed(group, names):
    group.attrs["weight_names"] = np.array([name.encode() for name in names])


def removed(file, path, other, listing):
    group, name = layer_of(file, path)
    del file[path]
    if listing:
        listed(group, [n.decode() for n in group.attrs["weight_names"] if n.decode() != name])


def duplicated(file, path, other, listing):
    group, name = layer_of(file, path)
    group[f"{name}_copy"] = file[path][()]
    if listing:
        names = [n.decode() for n in group.attrs["weight_names"]]
        names.insert(names.index(name), f"{name}_copy")
        listed(group, names)


def listed_twice(file, path, other, listing):
    group, name = layer_of(file, path)
    listed(group, [n.decode() for n in group.attrs["weight_names"] for _ in range(1 + (n.decode() == name))])


def reshaped(file, path, other, listing):
    values = file[path][()]
    del file[path]
    shapes = [(*values.shape, 1), (1, *values.shape), (values.size + 1,), (values.shape[0] + 1, *values.shape[1:])]
    file[path] = np.resize(values, shapes[len(other) % len(shapes)])


def swapped(file, path, other, listing):
    first, second = file[path][()], file[other][()]
    del file[path], file[other]
    file[path], file[other] = second, first


CHANGES = [removed, duplicated, listed_twice, reshaped, swapped]


def test_any_single_weight_changed_is_an_error():
    """1,000 drawn cases: a weight removed, duplicated, listed twice, reshaped, or swapped with one of another shape."""
    rng = np.random.default_rng(1)
    models = list(sources())
    files = []
    for k, model in enumerate(models):
        model.save_weights(f"{k}.h5")
        with h5py.File(f"{k}.h5") as file:
            shapes = {}
            file.visititems(
                lambda _, item, shapes=shapes: (
                    shapes.update({item.name: item.shape}) if isinstance(item, h5py.Dataset) else None
                )
            )
        files.append(shapes)
    for case in range(1000):
        k = case % len(models)
        path = rng.choice(list(files[k]))
        other = rng.choice([name for name, shape in files[k].items() if shape != files[k][path]])
        change, listing = CHANGES[rng.integers(len(CHANGES))], bool(rng.integers(2))
        shutil.copy(f"{k}.h5", "changed.h5")
        with h5py.File("changed.h5", "r+") as file:
            change(file, path, other, listing)
        before = models[k].get_weights()
        with pytest.raises(ModelFileError):
            models[k].load_weights("changed.h5")
        for found, wanted in zip(models[k].get_weights(), before, strict=True):
            assert np.array_equal(found, wanted), (case, change.__name__, path)
