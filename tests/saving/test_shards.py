"""Weights of Keras 3 in shards: read as genuine Keras wrote them, written, and refused where a shard is damaged."""

import json
import shutil
import warnings
from pathlib import Path

import h5py
import numpy as np
import pytest

import torchkeras.keras3 as keras
from torchkeras.errors import ForbiddenContentError, UnknownFormatError, UnreadableFileError
from torchkeras.models import load_model

FILES = Path(__file__).parent.parent / "golden/keras3-shards"
X = np.linspace(-1, 1, 8).reshape(2, 4).astype("float32")
# What genuine Keras 3.15.1 predicts with the weights in FILES.
Y = [[-0.2190127670764923, 0.8704684972763062], [-0.2513279914855957, 0.8906955122947693]]
INDEX, FIRST = "m.weights.json", "m_00000.weights.h5"
SIZE = 400 / 1024**3  # of a shard, in GB


def built(units: int = 2):
    inputs = keras.Input((4,))
    hidden = keras.layers.Reshape((3, 1))(keras.layers.Dense(3, name="first")(inputs))
    return keras.Model(inputs, keras.layers.Dense(units, name="last")(keras.layers.LSTM(5, name="lstm")(hidden)))


def values(model) -> list[np.ndarray]:
    return [weight.numpy() for weight in model.weights]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FILES, tmp_path / "files"))


def refused(folder: Path, error: type[Exception], text: str) -> None:
    model = built()
    before = values(model)
    with pytest.raises(error, match=text):
        model.load_weights(folder / INDEX)
    for old, new in zip(before, values(model), strict=True):
        np.testing.assert_array_equal(old, new)


@pytest.mark.parametrize("isolated", [False, True])
def test_shards_of_genuine_keras_have_the_numbers_that_they_had(isolated: bool):
    model = built()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.load_weights(FILES / INDEX, isolated=isolated)
    np.testing.assert_allclose(model.predict(X, verbose=0), Y, rtol=1e-5)


@pytest.mark.parametrize("options", [{"by_name": True}, {"skip_mismatch": True}])
def test_options_hold_for_shards(options):
    model = built()
    model.load_weights(FILES / INDEX, **options)
    np.testing.assert_allclose(model.predict(X, verbose=0), Y, rtol=1e-5)


def test_a_layer_that_does_not_fit_is_left_alone():
    model = built(units=3)
    before = model.get_layer("last").get_weights()[0]
    with pytest.warns(UserWarning, match="last"):
        model.load_weights(FILES / INDEX, skip_mismatch=True)
    np.testing.assert_array_equal(model.get_layer("last").get_weights()[0], before)


def test_a_layer_may_be_skipped():
    model = built()
    before = model.get_layer("last").get_weights()[0]
    model.load_weights(FILES / INDEX, objects_to_skip=[model.get_layer("last")])
    np.testing.assert_array_equal(model.get_layer("last").get_weights()[0], before)


def test_shards_are_written_and_read(tmp_path: Path):
    model, other = built(), built()
    model.save_weights(tmp_path / INDEX, max_shard_size=SIZE)
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted(each.name for each in FILES.iterdir())
    here, there = (json.loads((folder / INDEX).read_text()) for folder in (tmp_path, FILES))
    assert here["metadata"]["total_size"] == there["metadata"]["total_size"]
    assert here["weight_map"].keys() == there["weight_map"].keys()
    other.load_weights(tmp_path / INDEX)
    for mine, read in zip(values(model), values(other), strict=True):
        np.testing.assert_array_equal(mine, read)


def test_shards_replace_those_that_are_there(tmp_path: Path):
    first, second, third = built(), built(), built()
    first.save_weights(tmp_path / INDEX, max_shard_size=SIZE)
    with pytest.raises(FileExistsError, match=INDEX):
        second.save_weights(tmp_path / INDEX, overwrite=False, max_shard_size=1)
    second.save_weights(tmp_path / INDEX, max_shard_size=1)
    third.load_weights(tmp_path / INDEX)
    np.testing.assert_array_equal(values(third)[0], values(second)[0])


def test_nothing_is_replaced_when_a_weight_is_larger_than_a_shard(files: Path):
    before = {each.name: each.read_bytes() for each in files.iterdir()}
    with pytest.raises(ValueError, match=r"max_shard_size must be at least 3\.73e-07 \(GB\); found 1\.86e-07"):
        built().save_weights(files / INDEX, max_shard_size=200 / 1024**3)
    assert {each.name: each.read_bytes() for each in files.iterdir()} == before


def test_the_name_of_a_file_of_weights_gives_that_of_the_index(tmp_path: Path):
    with pytest.warns(UserWarning, match="the file is an index"):
        keras.saving.save_weights(built(), tmp_path / "m.weights.h5", max_shard_size=1)
    assert sorted(each.name for each in tmp_path.iterdir()) == [INDEX, FIRST]


@pytest.mark.parametrize("size", [0, -1, "1", True, float("nan")])
def test_another_size_is_refused(tmp_path: Path, size):
    with pytest.raises(ValueError, match="max_shard_size must be a positive number, of GB; found"):
        built().save_weights(tmp_path / INDEX, max_shard_size=size)


def test_another_name_is_refused(tmp_path: Path):
    with pytest.raises(ValueError, match=r"ends in \.weights\.json"):
        built().save_weights(tmp_path / "m.h5", max_shard_size=1)
    with pytest.raises(ValueError, match="needs max_shard_size"):
        built().save_weights(tmp_path / INDEX)


def test_a_missing_shard_is_named(files: Path):
    (files / "m_00001.weights.h5").unlink()
    refused(files, UnreadableFileError, "the shard 'm_00001.weights.h5' is not there")


def test_a_truncated_shard_is_named(files: Path):
    shard = files / "m_00001.weights.h5"
    shard.write_bytes(shard.read_bytes()[:-100])
    refused(files, UnreadableFileError, "m_00001.weights.h5: not a readable HDF5 file")


def test_a_doubled_shard_is_named(files: Path):
    shutil.copy(files / "m_00002.weights.h5", files / "m_00001.weights.h5")
    refused(files, UnreadableFileError, "both shards have|the shard 'm_00001.weights.h5'")


def test_an_array_in_two_shards_is_refused(files: Path):
    with h5py.File(files / FIRST) as first, h5py.File(files / "m_00001.weights.h5", "a") as second:
        place = "layers/dense/vars/0"
        second[place] = np.asarray(first[place])
    refused(files, UnreadableFileError, "'m_00001.weights.h5' has further weights at /layers/dense/vars")
    index = json.loads((files / INDEX).read_text())
    index["weight_map"]["/layers/dense/vars"] = [FIRST, "m_00001.weights.h5"]
    (files / INDEX).write_text(json.dumps(index))
    refused(files, UnreadableFileError, "both shards have /layers/dense/vars/0")


@pytest.mark.parametrize("name", ["../x.weights.h5", "/x.weights.h5", ".x.weights.h5", "x.txt", 3])
def test_a_shard_elsewhere_is_refused(files: Path, name):
    (files / INDEX).write_text(json.dumps({"weight_map": {"/vars": name}}))
    refused(files, ForbiddenContentError, "must be a file beside the index")


def test_a_shard_listed_twice_is_refused(files: Path):
    (files / INDEX).write_text(json.dumps({"weight_map": {"/vars": [FIRST, FIRST]}}))
    refused(files, UnreadableFileError, f"{FIRST}' is listed twice")


def test_other_json_is_no_index(files: Path):
    (files / INDEX).write_text(built().to_json())
    refused(files, UnknownFormatError, "no index of weights in shards")


def test_an_index_is_no_model():
    with pytest.raises(UnknownFormatError, match="no 'model_config'"):
        load_model(FILES / INDEX)


def test_a_model_without_weights_has_one_shard(tmp_path: Path):
    inputs = keras.Input((4,))
    model = keras.Model(inputs, keras.layers.Activation("relu")(inputs))
    model.save_weights(tmp_path / INDEX, max_shard_size=1)
    model.load_weights(tmp_path / INDEX)
