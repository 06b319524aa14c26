"""keras.datasets, from small files of the genuine formats; the numbers are those that Keras 2.2.4 gave."""

import gzip
import hashlib
import json
import pickle
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from torchkeras import config
from torchkeras.errors import ForbiddenContentError
from torchkeras.keras2.datasets import (
    boston_housing,
    cifar10,
    cifar100,
    fashion_mnist,
    imdb,
    mnist,
    plain_pickle,
    reuters,
)

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "keras-2.2.4-annex.json").read_text())


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    (tmp_path / "datasets").mkdir()
    return tmp_path / "datasets"


def put(folder: Path, module: ModuleType, name: str, monkeypatch: pytest.MonkeyPatch, **arrays: Any) -> None:
    """A file in the cache, whose hash the module then asks for."""
    np.savez(folder / name, **arrays)
    digest = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    monkeypatch.setattr(module, "HASH", digest)


def objects(lists: Any) -> np.ndarray:
    found = np.empty(len(lists), object)
    found[:] = lists
    return found


def plain(value: Any) -> Any:
    return [plain(each) for each in value] if isinstance(value, (tuple, list, np.ndarray)) else value


@pytest.mark.parametrize(("options", "expected"), GOLDEN["imdb"])
def test_imdb(options: Any, expected: Any, folder: Path, monkeypatch: pytest.MonkeyPatch):
    texts, labels = objects(GOLDEN["texts"]), np.array(GOLDEN["labels"])
    arrays = {"x_train": texts[:4], "y_train": labels[:4], "x_test": texts[4:], "y_test": labels[4:]}
    put(folder, imdb, "imdb.npz", monkeypatch, **arrays)
    (x_train, y_train), (x_test, y_test) = imdb.load_data(**options)
    assert plain([[x_train, y_train], [x_test, y_test]]) == expected
    assert (x_train.shape, x_train.dtype) == ((len(y_train),), object)


@pytest.mark.parametrize(("options", "expected"), GOLDEN["reuters"])
def test_reuters(options: Any, expected: Any, folder: Path, monkeypatch: pytest.MonkeyPatch):
    put(folder, reuters, "reuters.npz", monkeypatch, x=objects(GOLDEN["texts"]), y=GOLDEN["labels"])
    assert plain(reuters.load_data(**options)) == expected


@pytest.mark.parametrize(("options", "expected"), GOLDEN["boston_housing"])
def test_boston_housing(options: Any, expected: Any, folder: Path, monkeypatch: pytest.MonkeyPatch):
    put(folder, boston_housing, "boston_housing.npz", monkeypatch, x=np.arange(10.0).reshape(5, 2), y=np.arange(5.0))
    assert plain(boston_housing.load_data(**options)) == expected


def test_texts_in_the_names_of_keras_1_and_too_short_a_length(folder: Path, monkeypatch: pytest.MonkeyPatch):
    put(folder, reuters, "reuters.npz", monkeypatch, x=objects(GOLDEN["texts"]), y=GOLDEN["labels"])
    assert plain(reuters.load_data(nb_words=6)) == plain(reuters.load_data(num_words=6))  # type: ignore[call-arg]
    text = r"^After filtering for sequences shorter than maxlen=1, no sequence was kept\. Increase maxlen\.$"
    with pytest.raises(ValueError, match=text):
        reuters.load_data(maxlen=1)


@pytest.mark.parametrize("module", [imdb, reuters])
def test_word_index(module: Any, folder: Path, monkeypatch: pytest.MonkeyPatch):
    path = folder / "index.json"
    path.write_text('{"the": 1}')
    monkeypatch.setattr(module, "INDEX_HASH", hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest())
    assert module.get_word_index(str(path)) == {"the": 1}


def test_mnist(folder: Path, monkeypatch: pytest.MonkeyPatch):
    images, labels = np.arange(4 * 28 * 28).reshape(4, 28, 28).astype("uint8"), np.arange(4).astype("uint8")
    put(folder, mnist, "mnist.npz", monkeypatch, x_train=images, y_train=labels, x_test=images[:1], y_test=labels[:1])
    (x_train, y_train), (x_test, y_test) = mnist.load_data()
    assert np.array_equal(x_train, images)
    assert (y_train.tolist(), x_test.shape, y_test.dtype) == ([0, 1, 2, 3], (1, 28, 28), np.uint8)


def test_fashion_mnist(folder: Path):
    (folder / "fashion-mnist").mkdir()
    for part, count in (("train", 3), ("t10k", 2)):
        images = bytes(16) + bytes(range(count)) * 28 * 28
        with gzip.open(folder / "fashion-mnist" / f"{part}-images-idx3-ubyte.gz", "wb") as file:
            file.write(images)
        with gzip.open(folder / "fashion-mnist" / f"{part}-labels-idx1-ubyte.gz", "wb") as file:
            file.write(bytes(8) + bytes(range(count)))
    (x_train, y_train), (x_test, y_test) = fashion_mnist.load_data()
    assert (x_train.shape, x_test.shape) == ((3, 28, 28), (2, 28, 28))
    assert (y_train.tolist(), y_test.tolist()) == ([0, 1, 2], [0, 1])
    assert x_train.reshape(-1)[:4].tolist() == [0, 1, 2, 0]


def write_cifar(path: Path, count: int, start: int, **labels: list[int]) -> np.ndarray:
    images = (np.arange(count * 3072) + start).reshape(count, 3072).astype("uint8")
    held = {b"data": images, **{name.encode(): value for name, value in labels.items()}}
    path.write_bytes(pickle.dumps(held, protocol=2))
    return images.reshape(count, 3, 32, 32)


@pytest.mark.parametrize("data_format", ["channels_last", "channels_first"])
def test_cifar10(data_format: str, folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(config.SETTINGS, "image_data_format", data_format)
    unpacked = folder / "cifar-10-batches-py"
    unpacked.mkdir()
    parts = [write_cifar(unpacked / f"data_batch_{n}", 2, n, labels=[n, n + 1]) for n in range(1, 6)]
    write_cifar(unpacked / "test_batch", 3, 0, labels=[7, 8, 9])
    (x_train, y_train), (x_test, y_test) = cifar10.load_data()
    wanted = np.concatenate(parts)
    assert np.array_equal(x_train, wanted if data_format == "channels_first" else wanted.transpose(0, 2, 3, 1))
    assert (y_train.shape, y_train.dtype, y_train[:4, 0].tolist()) == ((10, 1), np.uint8, [1, 2, 2, 3])
    assert (len(x_test), y_test.tolist()) == (3, [[7], [8], [9]])


def test_cifar100(folder: Path):
    unpacked = folder / "cifar-100-python"
    unpacked.mkdir()
    for name in ("train", "test"):
        write_cifar(unpacked / name, 2, 0, fine_labels=[5, 99], coarse_labels=[1, 19])
    assert cifar100.load_data()[0][1].tolist() == [[5], [99]]
    assert cifar100.load_data("coarse")[1][1].tolist() == [[1], [19]]
    with pytest.raises(ValueError, match=r'^`label_mode` must be one of `"fine"`, `"coarse"`'):
        cifar100.load_data("other")


def test_what_python_2_wrote(tmp_path: Path):
    # protocol 2 of Python 2: a text key, and an array whose dtype has numbers for its options
    text = (
        b"\x80\x02}U\x04datacnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R"
        b"(K\x01K\x03\x85cnumpy\ndtype\nU\x02u1K\x00K\x01\x87R(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
        b"\x89U\x03\x01\x02\x03tbs."
    )
    (tmp_path / "old").write_bytes(text)
    with (tmp_path / "old").open("rb") as file:
        found = plain_pickle.unpickled(file)
    assert found[b"data"].tolist() == [1, 2, 3]


class Harm:
    def __reduce__(self) -> Any:
        return print, ("run",)


@pytest.mark.parametrize("encoding", ["bytes", "latin1"])
def test_a_pickle_runs_nothing(encoding: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "bad").write_bytes(pickle.dumps({"data": Harm()}, protocol=2))
    text = r"^A data set is made of arrays, lists and numbers; its file asks for __builtin__\.print\.$"
    with (tmp_path / "bad").open("rb") as file, pytest.raises(ForbiddenContentError, match=text):
        plain_pickle.unpickled(file, encoding)
    np.savez(tmp_path / "bad.npz", x=objects([Harm()]))
    with pytest.raises(ForbiddenContentError, match=r"its file asks for builtins\.print\.$"):
        plain_pickle.arrays(tmp_path / "bad.npz")
    assert capsys.readouterr().out == ""


def test_arrays_of_arrays_and_numbers(tmp_path: Path):
    held = objects([np.arange(3), [np.int64(4), 5]])
    np.savez_compressed(tmp_path / "a.npz", x=held, y=np.float32(2), z=np.zeros((0, 2)))
    found = plain_pickle.arrays(tmp_path / "a.npz")
    assert plain(found["x"]) == [[0, 1, 2], [4, 5]]
    assert (found["y"][()], found["z"].shape) == (2, (0, 2))
