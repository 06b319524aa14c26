"""A `.keras` archive as a folder: read as genuine Keras wrote it, written, and refused where it is none."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

import torchkeras.keras3 as keras
from torchkeras.errors import ForbiddenContentError, UnreadableFileError
from torchkeras.keras3 import saving
from torchkeras.models import load_model

FOLDER = Path(__file__).parent.parent / "golden/keras3-folder"
X, TARGETS = np.linspace(-1, 1, 8).reshape(2, 4).astype("float32"), np.ones((2, 2), "float32")
# What genuine Keras 3.15.1 predicts with the model in FOLDER, and after one step more.
BEFORE = [[0.8723815083503723, 0.7683194279670715], [0.8220573663711548, 1.038199543952942]]
AFTER = [[1.1215933561325073, 1.1666470766067505], [1.1514978408813477, 1.0062742233276367]]


@keras.saving.register_keras_serializable(package="folders")
class Noted(keras.layers.Layer):
    """A layer with a file of its own."""

    note = ""

    def call(self, inputs):
        return inputs

    def save_assets(self, inner_path):
        (Path(inner_path) / "note.txt").write_text(self.note)

    def load_assets(self, inner_path):
        self.note = (Path(inner_path) / "note.txt").read_text()


def noted(note: str):
    model = keras.Sequential([keras.Input((4,)), Noted(), keras.layers.Dense(2)])
    model.layers[0].note = note
    return model


def check(model) -> None:
    np.testing.assert_allclose(model.predict(X, verbose=0), BEFORE, rtol=1e-5)
    model.train_on_batch(X, TARGETS)
    np.testing.assert_allclose(model.predict(X, verbose=0), AFTER, rtol=1e-5)


@pytest.mark.parametrize("isolated", [False, True])
def test_a_folder_of_genuine_keras_loads_and_goes_on_training(isolated: bool):
    check(load_model(FOLDER, isolated=isolated))
    check(saving.load_model(str(FOLDER)))


@pytest.mark.parametrize("name", ["model.keras", "folder"])
def test_what_no_file_holds_is_warned_of(name: str, tmp_path: Path):
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])
    model.add_metric(model.outputs[0], name="largest")
    with pytest.warns(UserWarning, match="the metric 'largest'.* is not written to a config or file"):
        model.save(tmp_path / name, zipped=name.endswith(".keras"))


def test_weights_are_read_from_a_folder():
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])
    model.load_weights(FOLDER)
    np.testing.assert_allclose(model.predict(X, verbose=0), BEFORE, rtol=1e-5)


def test_a_folder_is_written_and_replaced(tmp_path: Path):
    for note in ("first", "second"):
        model = noted(note)
        model.save(tmp_path / "model", zipped=False)
        again = saving.load_model(tmp_path / "model")
        assert again.layers[0].note == note
        assert torch.equal(again(torch.ones(1, 4)), model(torch.ones(1, 4)))
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])
    saving.save_model(model, tmp_path / "model", zipped=False)  # without the files of a layer that it does not have
    assert not (tmp_path / "model/assets").exists()
    assert len(saving.load_model(tmp_path / "model").layers) == 1


def test_a_folder_that_is_there_stays_without_overwrite(tmp_path: Path):
    with pytest.raises(FileExistsError, match="overwrite is False"):
        noted("").save(tmp_path, overwrite=False, zipped=False)


def test_what_an_upload_to_hugging_face_adds_is_left_alone(tmp_path: Path):
    folder = Path(shutil.copytree(FOLDER, tmp_path / "model"))
    (folder / "README.md").write_text("# A model")
    (folder / "assets").mkdir()
    (folder / "assets/summary_plot.png").write_bytes(b"")
    check(saving.load_model(folder))


def test_a_folder_of_no_model_is_refused(tmp_path: Path):
    with pytest.raises(UnreadableFileError, match="not a regular file, but a folder"):
        saving.load_model(tmp_path)


def test_a_link_in_a_folder_is_refused(tmp_path: Path):
    folder = Path(shutil.copytree(FOLDER, tmp_path / "model"))
    (folder / "metadata.json").unlink()
    (folder / "metadata.json").symlink_to(FOLDER / "metadata.json")
    with pytest.raises(ForbiddenContentError, match=r"'metadata\.json' is a link"):
        saving.load_model(folder)


@pytest.mark.parametrize("name", ["metadata.json", "model.weights.h5"])
def test_a_folder_that_lacks_a_file_is_refused(tmp_path: Path, name: str):
    folder = Path(shutil.copytree(FOLDER, tmp_path / "model"))
    (folder / name).unlink()
    with pytest.raises(UnreadableFileError, match=f"there is no '{name}'"):
        saving.load_model(folder)
