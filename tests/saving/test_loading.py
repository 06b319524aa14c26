"""One way in for every format: data formats of files and models, what the caller says, other processes, states."""

# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportIndexIssue=false
# h5py types what stands under a name as anything that may.

import gc
import json
from pathlib import Path

import h5py
import numpy as np
import pytest
import torch

import torchkeras
from torchkeras.errors import (
    ArchitectureError,
    ModelFileError,
    UnknownFormatError,
    UnreadableFileError,
    WeightMismatchError,
)
from torchkeras.layers import Conv2D, Dense, Dropout, Flatten, GlobalAveragePooling2D, MaxPooling2D, PReLU
from torchkeras.models import (
    Sequential,
    convert_data_format,
    load_model,
    model_from_json,
    model_from_yaml,
    transfer_weights,
)
from torchkeras.saving import load, save

GOLDEN = Path(__file__).parents[1] / "golden"
KERAS_0 = GOLDEN / "keras-0.3.3-theano"


@pytest.fixture(autouse=True)
def fresh_session(tmp_path, monkeypatch):
    torchkeras.clear_session()
    torch.manual_seed(0)
    monkeypatch.chdir(tmp_path)


def cnn(data_format, filters=4, channels=3, name="c", flatten=None):
    shape = (5, 6, channels) if data_format == "channels_last" else (channels, 5, 6)
    return Sequential(
        [
            Conv2D(filters, 2, activation="tanh", data_format=data_format, input_shape=shape, name=name),
            MaxPooling2D(2, data_format=data_format),
            Flatten(data_format=flatten),
            Dense(3, name="d"),
        ]
    )


def images(channels=3):
    x = np.random.default_rng(0).normal(size=(4, 5, 6, channels)).astype("float32")
    return {"channels_last": x, "channels_first": np.moveaxis(x, -1, 1)}


def assert_same(model, expected, x):
    np.testing.assert_allclose(model.predict(x), expected, atol=1e-6)


# --- data formats ----------------------------------------------------------------------------------------------------


BOTH_WAYS = [("channels_first", "channels_last"), ("channels_last", "channels_first")]


@pytest.mark.parametrize(("there", "here"), BOTH_WAYS)
@pytest.mark.parametrize("name", ["file.h5", "file.keras"])
@pytest.mark.parametrize("flatten", ["channels_first", "channels_last"])
def test_a_whole_files_weights_are_brought_over_when_told(there, here, name, flatten):
    source, x = cnn(there, flatten=flatten), images()
    expected = source.predict(x[there])
    source.save(name)
    model = cnn(here)
    report = model.load_weights(name, original_data_format=there, report=True)
    assert_same(model, expected, x[here])
    turned = flatten == there == "channels_first"  # its rows are those of channels last
    assert (report.rows[2].conversions == ()) is (turned and here == "channels_last")
    with pytest.raises(ModelFileError) as error:
        model.load_weights(name)
    assert str(error.value) == (
        f"{name}: its convolutions are {there}, those of the model {here}. To convert the weights, give "
        f"original_data_format={there!r}."
    )
    with pytest.raises(ValueError, match=f"its convolutions are {there}, and original_data_format says '{here}'"):
        model.load_weights(name, original_data_format=here)


@pytest.mark.parametrize(("there", "here"), BOTH_WAYS)
def test_weights_alone_leave_open_what_a_flatten_did(there, here):
    source, model, x = cnn(there), cnn(here), images()
    source.save_weights("file.h5")
    with pytest.raises(WeightMismatchError) as error:
        model.load_weights("file.h5", original_data_format=there)
    assert str(error.value) == (
        "file.h5: its weights cannot be converted. A file of weights alone does not say whether its Flatten moved "
        "the channels to the end: build the model as it was, load the weights, and use transfer_weights."
    )
    transfer_weights(source, model)
    assert_same(model, source.predict(x[there]), x[here])


@pytest.mark.parametrize(("there", "here"), BOTH_WAYS)
def test_weights_alone_without_a_flatten_are_brought_over_when_told(there, here):
    def build(data_format):
        shape = (5, 6, 3) if data_format == "channels_last" else (3, 5, 6)
        pooled = GlobalAveragePooling2D(data_format=data_format)
        return Sequential([Conv2D(4, 2, data_format=data_format, input_shape=shape), PReLU(), pooled, Dense(2)])

    source, model, x = build(there), build(here), images()
    source.set_weights([np.random.default_rng(k).normal(size=w.shape) for k, w in enumerate(source.get_weights())])
    source.save_weights("file.h5")
    report = model.load_weights("file.h5", original_data_format=there, report=True)
    assert_same(model, source.predict(x[there]), x[here])
    assert [row.conversions for row in report.rows] == [(), (), ("axes moved",), (), ()]


def test_a_whole_model_in_the_other_data_format():
    source, x = cnn("channels_first"), images()
    source.save("first.keras")
    model = convert_data_format(load_model("first.keras"), "channels_last")
    assert_same(model, source.predict(x["channels_first"]), x["channels_last"])


def test_what_cannot_be_brought_over_is_refused():
    source = Sequential([Conv2D(4, 2, data_format="channels_first", input_shape=(3, 5, 6)), Dense(2)])
    model = Sequential([Conv2D(4, 2, data_format="channels_last", input_shape=(5, 6, 3)), Dense(2)])
    source.save_weights("file.h5")
    with pytest.raises(WeightMismatchError, match=r"^file\.h5: its weights cannot be converted\. Dense 'dense_2'"):
        model.load_weights("file.h5", original_data_format="channels_first")


def of_keras1(model, data_format, backend="tensorflow"):
    """The weights of a model alone, as Keras 1.2.2 wrote them: no version, kernels by the data format."""
    with h5py.File("keras1.h5", "w") as file:
        file.attrs["layer_names"] = np.array([layer.name.encode() for layer in model.layers])
        for layer in model.layers:
            names = []
            for variable, letter in zip(layer.weights, "Wb", strict=False):
                value = variable.numpy()
                if value.ndim == 4 and backend == "theano":
                    value = value[::-1, ::-1]
                if value.ndim == 4 and data_format == "channels_first":
                    value = value.transpose(3, 2, 0, 1)
                names.append(f"{layer.name}_{letter}" + ":0" * (backend == "tensorflow"))
                file.require_group(layer.name)[names[-1]] = value
            file.require_group(layer.name).attrs["weight_names"] = np.array([name.encode() for name in names])


@pytest.mark.parametrize("backend", ["tensorflow", "theano"])
def test_the_shapes_of_kernels_tell_the_data_format_of_keras_1(backend):
    source, x = cnn("channels_last"), images()
    of_keras1(source, "channels_last", backend)
    model = cnn("channels_last")
    model.load_weights("keras1.h5")
    assert_same(model, source.predict(x["channels_last"]), x["channels_last"])
    other = cnn("channels_first")
    with pytest.raises(ModelFileError, match="its convolutions are channels_last, those of the model channels_first"):
        other.load_weights("keras1.h5")
    other.load_weights("keras1.h5", original_data_format="channels_last")
    assert_same(other, source.predict(x["channels_last"]), x["channels_first"])


def test_kernels_of_keras_1_that_fit_both_data_formats_are_asked_for():
    source, x = cnn("channels_last", filters=2, channels=2), images(2)
    of_keras1(source, "channels_last")
    model = cnn("channels_last", filters=2, channels=2, name="mine")
    with pytest.raises(ModelFileError) as error:
        model.load_weights("keras1.h5")
    assert str(error.value) == (
        "keras1.h5: weights of Keras 1, whose kernels fit both with channels first and with channels last "
        "(mine/kernel:0). Say which: original_data_format='channels_first' (image_dim_ordering 'th') or "
        "'channels_last' ('tf')."
    )
    model.load_weights("keras1.h5", original_data_format="channels_last")
    assert_same(model, source.predict(x["channels_last"]), x["channels_last"])


def test_a_backend_against_the_names_of_keras_1():
    of_keras1(cnn("channels_last"), "channels_last", "theano")
    with pytest.raises(ValueError, match="written on theano, and original_backend says 'tensorflow'"):
        cnn("channels_last").load_weights("keras1.h5", original_backend="tensorflow")


@pytest.mark.parametrize("backend", ["mxnet", "plaidml.keras.backend", "cntk"])
@pytest.mark.parametrize("whole", [True, False])
def test_kernels_of_other_backends_are_as_those_of_tensorflow(backend, whole):
    """Genuine 2.2.4 converts kernels of Theano alone."""
    source = Sequential([Conv2D(3, 2, input_shape=(5, 5, 2)), Flatten(), Dense(2)])
    x = np.random.default_rng(0).normal(size=(3, 5, 5, 2)).astype("float32")
    (source.save if whole else source.save_weights)("m.h5")
    with h5py.File("m.h5", "r+") as file:
        for group in (file, file["model_weights"]) if whole else (file,):
            group.attrs["backend"] = backend.encode()
    if whole:
        found = load_model("m.h5")
    else:
        found = Sequential([Conv2D(3, 2, input_shape=(5, 5, 2)), Flatten(), Dense(2)])
        found.load_weights("m.h5", original_backend=backend)
    np.testing.assert_array_equal(found.predict(x), source.predict(x))


# --- Keras 0 ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", sorted(KERAS_0.iterdir()), ids=lambda path: path.name)
def test_numbered_layers_of_keras_0(path, monkeypatch):
    ordering = json.loads((path / "case.json").read_text())["image_data_format"]
    for setting in ("image_data_format", "chosen_image_data_format"):
        monkeypatch.setattr(torchkeras.config.SETTINGS, setting, torchkeras.config.DIM_ORDERINGS[ordering])
    model = model_from_json((path / "model.json").read_text())
    record = np.load(path / "io.npz")
    model.load_weights(path / "weights.h5", original_backend="theano")
    x = [record[name] for name in sorted(record) if name.startswith("x")]
    np.testing.assert_allclose(model.predict(x), record["y0"], atol=1e-4, rtol=1e-3)
    if any(isinstance(layer, Conv2D) for layer in model.layers):
        with pytest.raises(
            ModelFileError, match=r"which do not say on which backend .* was made\. Say original_backend="
        ):
            model.load_weights(path / "weights.h5")


# --- formats ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["w.h5", "w.weights.h5", "w.safetensors", "w.pt", "w.hdf5"])
def test_weights_by_suffix(name):
    source, model, x = cnn("channels_last"), cnn("channels_last"), images()["channels_last"]
    source.save_weights(name)
    report = model.load_weights(name, report=True)
    assert_same(model, source.predict(x), x)
    assert [row.weight for row in report.rows] == ["c/kernel:0", "c/bias:0", "d/kernel:0", "d/bias:0"]
    with pytest.raises(FileExistsError):
        source.save_weights(name, overwrite=False)


@pytest.mark.parametrize("name", ["m.h5", "m.keras"])
@pytest.mark.parametrize("isolated", [False, True])
def test_whole_models_by_suffix(name, isolated):
    source, x = cnn("channels_last"), images()["channels_last"]
    source.save(name)
    assert_same(load_model(name, isolated=isolated), source.predict(x), x)
    model = cnn("channels_last")
    model.load_weights(name, isolated=isolated)
    assert_same(model, source.predict(x), x)


def test_another_process_tells_of_a_damaged_file_by_its_own_name():
    cnn("channels_last").save("m.h5")
    data = bytearray(Path("m.h5").read_bytes())
    del data[len(data) // 2 :]
    Path("m.h5").write_bytes(data)
    with pytest.raises(UnreadableFileError, match=r"^m\.h5: "):
        load_model("m.h5", isolated=True)


@pytest.mark.parametrize(
    ("name", "option", "layout"),
    [
        ("w.weights.h5", {"reshape": True}, "Keras 3's paths"),
        ("w.weights.h5", {"original_backend": "theano"}, "Keras 3's paths"),
        ("w.safetensors", {"original_data_format": "channels_first"}, ".safetensors"),
    ],
)
def test_options_that_mean_nothing_for_a_format(name, option, layout):
    model = cnn("channels_last")
    model.save_weights(name)
    with pytest.raises(ValueError, match=f"^load_weights: {next(iter(option))} means nothing for a file of {layout}.$"):
        model.load_weights(name, **option)


def test_files_of_no_format():
    Path("m.h5").write_bytes(b"no format at all")
    with pytest.raises(UnreadableFileError, match=r"^m\.h5: not a readable HDF5 file"):
        load_model("m.h5")
    with h5py.File("n.h5", "w") as file:
        file["numbers"] = np.zeros(3)
    with pytest.raises(UnknownFormatError, match=r"^n\.h5: an HDF5 file without weights of Keras"):
        load_model("n.h5")
    cnn("channels_last").save_weights("w.weights.h5")
    with pytest.raises(UnknownFormatError, match=r"^w\.weights\.h5: there is no 'model_config' in it\."):
        load_model("w.weights.h5")


# --- architectures ---------------------------------------------------------------------------------------------------


def test_yaml():
    model = cnn("channels_last")
    again = model_from_yaml(model.to_yaml())
    assert json.loads(again.to_json()) == json.loads(model.to_json())


@pytest.mark.parametrize("path", sorted((GOLDEN / "yaml").glob("*.yaml")), ids=lambda path: path.stem)
def test_yaml_and_json_of_genuine_versions_make_one_model(path):
    from_yaml = model_from_yaml(path.read_text())
    torchkeras.clear_session()
    from_json = model_from_json(path.with_suffix(".json").read_text())
    assert json.loads(from_yaml.to_json()) == json.loads(from_json.to_json())


def test_an_architecture_that_says_nothing_of_its_version():
    config = {"class_name": "Sequential", "config": {"name": "s", "layers": []}}
    with pytest.raises(UnknownFormatError, match="no 'keras_version'"):
        model_from_json(json.dumps(config))


def test_compiling_as_a_file_says_what_is_not_known():
    model = Sequential([Dense(2, input_shape=(3,)), Dropout(0.5)])
    model.compile("adam", "mse")
    model.save("m.h5")
    with h5py.File("m.h5", "r+") as file:
        training = json.loads(file.attrs["training_config"])
        file.attrs["training_config"] = json.dumps({**training, "loss": "own_loss"})
    with pytest.raises(
        ArchitectureError, match=r"^m\.h5: Unknown loss function: 'own_loss'.*compile=False to go without"
    ):
        load_model("m.h5")
    assert load_model("m.h5", compile=False).optimizer is None


@pytest.mark.parametrize("is_on", [True, False])
def test_the_garbage_collector_rests_while_a_model_is_saved_and_loaded(is_on, monkeypatch):
    """Each look at all objects, of which none has become garbage, takes as long as a few layers."""
    model = Sequential([Dense(2, input_shape=(3,))])
    built, unloadable, states = load._built, save.unloadable, []
    monkeypatch.setattr(save, "unloadable", lambda model: states.append(gc.isenabled()) or unloadable(model))
    monkeypatch.setattr(load, "_built", lambda *given: states.append(gc.isenabled()) or built(*given))
    try:
        if not is_on:
            gc.disable()
        model.save("model.h5")
        assert (states, gc.isenabled()) == ([False], is_on)
        load_model("model.h5")
        assert (states, gc.isenabled()) == ([False] * 2, is_on)
        Path("model.h5").write_bytes(b"no file of HDF5")
        with pytest.raises(ModelFileError):
            load_model("model.h5")
        assert gc.isenabled() == is_on
    finally:
        gc.enable()
