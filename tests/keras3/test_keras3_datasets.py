"""`keras.datasets`, from small files of the genuine formats."""

import hashlib
import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from torchkeras import keras3 as keras


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    (tmp_path / "datasets").mkdir()
    return tmp_path / "datasets"


def put(folder: Path, module: str, name: str, monkeypatch: pytest.MonkeyPatch, **arrays: Any) -> None:
    """A file in the cache, whose hash the module then asks for."""
    np.savez(folder / name, **arrays)
    digest = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    monkeypatch.setattr(importlib.import_module(module), "HASH", digest)


def order(seed: int, *counts: int) -> list[np.ndarray]:
    """The orders that a seed gives, of one random state."""
    state, found = np.random.RandomState(seed), []
    for count in counts:
        found.append(np.arange(count))
        state.shuffle(found[-1])
    return found


def test_houses_of_boston_leave_the_global_state(folder, monkeypatch):
    x, y = np.arange(20.0).reshape(10, 2), np.arange(10.0)
    put(folder, "torchkeras.keras2.datasets.boston_housing", "boston_housing.npz", monkeypatch, x=x, y=y)
    np.random.seed(1)  # noqa: NPY002
    expected = np.random.RandomState(1).rand()
    (x_train, y_train), (x_test, y_test) = keras.datasets.boston_housing.load_data(test_split=0.3, seed=5)
    assert np.random.rand() == expected  # noqa: NPY002
    (shuffled,) = order(5, 10)
    np.testing.assert_array_equal(np.concatenate([x_train, x_test]), x[shuffled])
    np.testing.assert_array_equal(y_test, y[shuffled][7:])
    assert len(y_train) == 7
    with pytest.raises(ValueError, match=r"boston_housing.load_data: test_split must be at least 0 and less than 1"):
        keras.datasets.boston_housing.load_data(test_split=1)


@pytest.mark.parametrize(("version", "rows"), [("small", 600), ("large", 700)])
def test_houses_of_california(folder, monkeypatch, version, rows):
    x, y = np.arange(1400.0).reshape(700, 2), np.arange(700.0)
    put(folder, "torchkeras.keras3.datasets.california_housing", "california_housing.npz", monkeypatch, x=x, y=y)
    (x_train, y_train), (x_test, y_test) = keras.datasets.california_housing.load_data(version)
    (shuffled,) = order(113, rows)
    np.testing.assert_array_equal(np.concatenate([y_train, y_test]), y[shuffled])
    np.testing.assert_array_equal(x_test, x[shuffled][int(rows * 0.8) :])
    assert len(x_train) == int(rows * 0.8)


def test_versions_of_california():
    with pytest.raises(ValueError, match="version must be 'small' or 'large'; found 'tiny'"):
        keras.datasets.california_housing.load_data("tiny")


def lists(texts: list[list[int]]) -> np.ndarray:
    found = np.empty(len(texts), object)
    found[:] = texts
    return found


def test_reviews_that_are_too_long_leave_their_own_part(folder, monkeypatch):
    train, test = lists([[1] * 2, [1] * 9, [1] * 3]), lists([[1] * 9, [1] * 4])
    arrays = {"x_train": train, "y_train": np.arange(3), "x_test": test, "y_test": np.arange(2)}
    put(folder, "torchkeras.keras2.datasets.imdb", "imdb.npz", monkeypatch, **arrays)
    (x_train, y_train), (x_test, y_test) = keras.datasets.imdb.load_data(maxlen=6, num_words=100)
    of_train, of_test = order(113, 3, 2)
    assert [len(text) - 1 for text in x_train] == [len(train[row]) for row in of_train if row != 1]
    assert [len(text) - 1 for text in x_test] == [4]
    assert y_train.tolist() == [row for row in of_train if row != 1]
    assert y_test.tolist() == [row for row in of_test if row != 0]
    with pytest.raises(ValueError, match="maxlen 4 leaves no text for training or none for testing"):
        keras.datasets.imdb.load_data(maxlen=4, num_words=100)
    with pytest.raises(TypeError, match="unknown argument 'words'"):
        keras.datasets.imdb.load_data(words=3)
    assert len(keras.datasets.imdb.load_data(nb_words=100)[0][0]) == 3


def test_news(folder, monkeypatch):
    texts = lists([[number] * 3 for number in range(1, 11)])
    put(folder, "torchkeras.keras2.datasets.reuters", "reuters.npz", monkeypatch, x=texts, y=np.arange(10))
    (x_train, y_train), (x_test, y_test) = keras.datasets.reuters.load_data(num_words=100)
    (shuffled,) = order(113, 10)
    assert [*y_train, *y_test] == shuffled.tolist()
    assert x_train[0] == [1, *[shuffled[0] + 1 + 3] * 3]
    assert len(x_test) == 2
    assert len(keras.datasets.reuters.get_label_names()) == 46


def test_digits(folder, monkeypatch):
    arrays = {f"{kind}_{part}": np.arange(3) for kind in "xy" for part in ("train", "test")}
    put(folder, "torchkeras.keras2.datasets.mnist", "mnist.npz", monkeypatch, **arrays)
    (x_train, _), _ = keras.datasets.mnist.load_data()
    np.testing.assert_array_equal(x_train, np.arange(3))
