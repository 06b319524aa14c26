"""`KerasFileEditor`: weights in files, looked at, changed and written again."""

import h5py
import numpy as np
import pytest
import torch

import torchkeras.keras3 as keras
from torchkeras.errors import ForbiddenContentError

layers = keras.layers


def _model(names=("first", "last")):
    inputs = keras.Input((2,))
    x = inputs
    for name in names:
        x = layers.Dense(3, name=name)(x)
    return keras.Model(inputs, x)


@pytest.fixture(params=["model.keras", "model.weights.h5"])
def saved(request, tmp_path):
    model = _model()
    path = tmp_path / request.param
    model.save(path) if path.suffix == ".keras" else model.save_weights(path)
    return model, path


def test_a_layer_is_put_between_others(saved, tmp_path, capsys):
    model, path = saved
    editor, wider = keras.saving.KerasFileEditor(path), _model(("first", "between", "last"))
    assert editor.compare(model) == {"status": "success", "error_count": 0, "match_count": 4}
    assert editor.compare(wider) == {"status": "error", "error_count": 1, "match_count": 4}
    assert "layers/dense_2: the file lacks this object of the model" in capsys.readouterr().out
    editor.rename_object("dense_1", "dense_2")
    editor.add_object("layers/dense_1", {"0": torch.eye(3)})
    editor.add_weights("dense_1", {"1": np.ones(4)})
    assert editor.compare(wider)["error_count"] == 1
    assert "layers/dense_1/1: shape (4,) in the file, (3,) in the model" in capsys.readouterr().out
    editor.add_weights("layers/dense_1", {"1": np.ones(3)})
    assert editor.compare(wider)["status"] == "success"
    editor.resave_weights(tmp_path / "wider.weights.h5")
    wider.load_weights(tmp_path / "wider.weights.h5")
    x = np.ones((1, 2), "float32")
    with torch.no_grad():
        wanted = model.layers[2](model.layers[1](x) + 1)
        torch.testing.assert_close(wider(x), wanted)
    model.load_weights(path)  # the file itself is as it was


def test_the_summary_shows_objects_and_weights(saved, capsys):
    keras.saving.KerasFileEditor(saved[1]).summary()
    assert capsys.readouterr().out.splitlines() == [
        "layers",
        "  dense ('first')",
        "    0: shape=(2, 3), dtype=float32",
        "    1: shape=(3,), dtype=float32",
        "  dense_1 ('last')",
        "    0: shape=(3, 3), dtype=float32",
        "    1: shape=(3,), dtype=float32",
    ]


def test_what_is_deleted_is_not_written(saved, tmp_path):
    model, path = saved
    editor = keras.saving.KerasFileEditor(path)
    editor.delete_weight("dense", "1")
    editor.delete_object("layers/dense_1")
    assert editor.compare(model)["error_count"] == 2
    editor.save(tmp_path / "less.weights.h5")
    again = keras.saving.KerasFileEditor(tmp_path / "less.weights.h5")
    assert list(again.weights_dict["layers"]) == ["dense"]
    assert list(again.weights_dict["layers"]["dense"]) == ["0"]
    np.testing.assert_array_equal(again.weights_dict["layers"]["dense"]["0"], model.get_weights()[0])


def test_layers_with_weights_of_their_own_and_layers_inside_are_whole(tmp_path):
    # Genuine Keras leaves out what is inside a layer without weights of its own.
    inputs = keras.Input((4, 6))
    x = layers.MultiHeadAttention(2, 3)(inputs, inputs)
    model = keras.Model(inputs, layers.Bidirectional(layers.LSTM(2))(x))
    model.save_weights(tmp_path / "model.weights.h5")
    editor = keras.saving.KerasFileEditor(tmp_path / "model.weights.h5")
    assert editor.compare(model) == {"status": "success", "error_count": 0, "match_count": len(model.weights)}
    editor.save(tmp_path / "again.weights.h5")
    other = keras.models.clone_model(model)
    other.load_weights(tmp_path / "again.weights.h5")
    for ours, theirs in zip(other.get_weights(), model.get_weights(), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_config_and_metadata_of_a_model_and_an_optimizer(tmp_path):
    model = _model()
    model.compile("adam", "mse")
    model.fit(np.ones((2, 2)), np.ones((2, 3)), verbose=0)
    model.save(tmp_path / "model.keras")
    editor = keras.saving.KerasFileEditor(tmp_path / "model.keras")
    assert editor.config["class_name"] == "Functional"
    assert "keras_version" in editor.metadata
    assert len(editor.weights_dict["optimizer"]) == 10
    assert editor.compare(model)["status"] == "success"
    assert editor.compare(_model())["status"] == "success"


def _linked(path, kind):
    with h5py.File(path, "w") as file:
        file.create_group("real").create_dataset("0", data=np.zeros(1))
        file["layers"] = h5py.SoftLink("/real") if kind == "soft" else h5py.ExternalLink("other.h5", "/real")


@pytest.mark.parametrize("kind", ["soft", "external"])
def test_links_are_refused(tmp_path, kind):
    _linked(tmp_path / "model.weights.h5", kind)
    with pytest.raises(ForbiddenContentError, match=r"a (soft )?link"):
        keras.saving.KerasFileEditor(tmp_path / "model.weights.h5")


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda editor: editor.rename_object("dense", "layers/other"), "new_name must be a name, not a path"),
        (lambda editor: editor.rename_object("dense", "dense_1"), "'layers' has a 'dense_1' already"),
        (lambda editor: editor.rename_object("layers/other", "dense_3"), "there is no object 'layers/other'"),
        (lambda editor: editor.delete_object("other"), "'other' names no object; `summary"),
        (lambda editor: editor.delete_weight("dense", "7"), r"'layers/dense' has no weight '7'; it has \['0', '1'\]"),
        (lambda editor: editor.add_weights("dense", [np.ones(1)]), "weights must be a dict .* found list"),
        (lambda editor: editor.add_object("more/dense", {"0": np.ones(1)}), "there is no object 'more'"),
        (lambda editor: editor.save("model.keras"), r"ends in .weights.h5; found model.keras"),
        (
            lambda editor: keras.saving.KerasFileEditor("model.h5"),
            "must end in .keras or .weights.h5; found 'model.h5'",
        ),
    ],
)
def test_what_is_refused(saved, call, text):
    with pytest.raises(ValueError, match=text):
        call(keras.saving.KerasFileEditor(saved[1]))


def test_a_name_of_several_objects_is_refused(saved):
    editor = keras.saving.KerasFileEditor(saved[1])
    editor.add_object("more", {"dense": {"0": np.ones(2)}})
    with pytest.raises(ValueError, match=r"'dense' names several objects: \['layers/dense', 'more/dense'\]"):
        editor.delete_object("dense")
