"""keras.preprocessing: keras-preprocessing on today's NumPy, with this package's settings and Keras 1's names."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from torchkeras import Sequential, config, layers
from torchkeras.keras2.preprocessing import image, sequence, text
from torchkeras.utils import Sequence

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "keras-2.2.4-annex.json").read_text())


# --- sequences -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("lists", "maxlen", "padding", "truncating", "value", "expected"), GOLDEN["pad_sequences"])
def test_pad_sequences(lists: Any, maxlen: Any, padding: str, truncating: str, value: float, expected: Any):
    found = sequence.pad_sequences(lists, maxlen, "int32", padding, truncating, value)
    assert (found.dtype, found.tolist()) == (np.int32, expected)
    arrays = [np.array(each) for each in lists]
    assert sequence.pad_sequences(arrays, maxlen, "int32", padding, truncating, value).tolist() == expected


def test_pad_sequences_of_texts_and_of_length_0():
    found = sequence.pad_sequences([["a"], ["bb", "c"]], dtype=object, value="-")
    assert found.tolist() == [["-", "a"], ["bb", "c"]]
    assert sequence.pad_sequences([["a"]], maxlen=2, dtype="<U3", value="-").tolist() == [["-", "a"]]
    assert sequence.pad_sequences([[1, 2]], maxlen=0).shape == (1, 0)


@pytest.mark.parametrize(("call", "message"), [
    (lambda: sequence.pad_sequences(3), r"^`sequences` must be iterable\.$"),
    (lambda: sequence.pad_sequences([1, 2]), r"^`sequences` must be a list of iterables\. Found non-iterable: 1$"),
    (lambda: sequence.pad_sequences([[1]], padding="end"), r'^pad_sequences: padding must be "pre" or "post"; found'),
    (lambda: sequence.pad_sequences([["a"]], value="-"), r"^pad_sequences: the text '-' does not fit into dtype int32"),
    (lambda: sequence.pad_sequences([[[1]], [[1, 2]]]), r"^Shape of sample \(2,\) of sequence at position 1 is diff"),
])  # fmt: skip
def test_what_cannot_be_padded(call: Any, message: str):
    with pytest.raises(ValueError, match=message):
        call()


def test_windows_of_a_series_are_a_sequence_that_fit_takes():
    series = np.arange(20.0)[:, None]
    windows = sequence.TimeseriesGenerator(series, series, length=4, sampling_rate=2, batch_size=5)
    assert isinstance(windows, Sequence)
    x, y = windows[0]
    assert (x[0, :, 0].tolist(), y[0].tolist(), len(windows)) == ([0, 2], [4], 4)
    model = Sequential([layers.Flatten(input_shape=(2, 1)), layers.Dense(1)])
    model.compile("sgd", "mse")
    assert model.fit_generator(windows, epochs=1, verbose=0).epoch == [0]


def test_pairs_of_words():
    table = sequence.make_sampling_table(5)
    pairs, labels = sequence.skipgrams([1, 2, 3], 5, window_size=1, negative_samples=0.0, shuffle=False)
    assert (len(table), pairs, labels) == (5, [[1, 2], [2, 1], [2, 3], [3, 2]], [1, 1, 1, 1])


# --- texts -----------------------------------------------------------------------------------------------------------


def test_tokenizer():
    texts = ["The cat sat on the mat.", "The dog sat on the log!"]
    tokenizer = text.Tokenizer(num_words=4)
    tokenizer.fit_on_texts(texts)
    assert tokenizer.word_index == {"the": 1, "sat": 2, "on": 3, "cat": 4, "mat": 5, "dog": 6, "log": 7}
    assert tokenizer.texts_to_sequences(texts) == [[1, 2, 3, 1], [1, 2, 3, 1]]
    for mode, row in (("binary", [0, 1, 1, 1]), ("count", [0, 2, 1, 1]), ("freq", [0, 0.5, 0.25, 0.25])):
        assert tokenizer.texts_to_matrix(texts, mode)[0].tolist() == row
    assert tokenizer.texts_to_matrix(texts, "tfidf").shape == (2, 4)
    assert text.text_to_word_sequence("A b, A!", lower=False) == ["A", "b", "A"]
    assert text.hashing_trick("a b a", 9, hash_function="md5")[0] == text.hashing_trick("a", 9, hash_function="md5")[0]
    assert len(text.one_hot("a b c", 5)) == 3
    with pytest.warns(UserWarning, match="renamed `num_words`"):
        assert text.Tokenizer(nb_words=4).num_words == 4


# --- images ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    draw = np.random.default_rng(0)
    for kind in ("cat", "dog"):
        (tmp_path / kind).mkdir()
        for number in range(3):
            pixels = draw.integers(0, 256, (10, 12, 3)).astype("uint8")
            Image.fromarray(pixels).save(tmp_path / kind / f"{number}.png")
    return tmp_path


def test_images_and_arrays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pixels = np.arange(4 * 5 * 3).reshape(4, 5, 3).astype("float32")
    image.save_img(tmp_path / "a.png", pixels, scale=False)
    loaded = image.load_img(tmp_path / "a.png")
    found = image.img_to_array(loaded)
    assert (found.dtype, found.tolist()) == (np.float32, pixels.tolist())
    assert image.img_to_array(loaded, dim_ordering="th").shape == (3, 4, 5)
    assert image.load_img(tmp_path / "a.png", target_size=(8, 6)).size == (6, 8)
    assert image.load_img(tmp_path / "a.png", color_mode="grayscale").mode == "L"
    monkeypatch.setattr(config.SETTINGS, "image_data_format", "channels_first")
    monkeypatch.setattr(config.SETTINGS, "floatx", "float64")
    found = image.img_to_array(loaded)
    assert (found.shape, found.dtype) == ((3, 4, 5), np.float64)
    assert image.array_to_img(found, scale=False).size == (5, 4)
    assert [Path(each).name for each in image.list_pictures(str(tmp_path), ext="jpg|png")] == ["a.png"]


def test_random_changes_are_those_of_keras_preprocessing():
    x = np.arange(48.0).reshape(4, 4, 3)
    axes = {"row_axis": 0, "col_axis": 1, "channel_axis": 2}
    for change in (image.random_rotation, image.random_shear):
        assert change(x, 20, **axes).shape == x.shape
    assert image.random_shift(x, 0.5, 0.5, **axes).shape == x.shape
    assert image.random_zoom(x, (0.5, 0.9), **axes).shape == x.shape
    assert np.abs(image.random_channel_shift(x, intensity=5, channel_axis=2) - x).max() <= 5
    assert image.random_brightness(x, (0.5, 0.9)).shape == x.shape
    assert np.array_equal(image.flip_axis(x, 1), x[:, ::-1])


def test_an_image_moved_by_a_matrix():
    x = np.arange(12.0).reshape(1, 3, 4)
    moved = image.apply_transform(x, np.array([[1, 0, 1], [0, 1, 0], [0, 0, 1]]), fill_mode="constant", cval=-1)
    assert moved[0].tolist() == [[4, 5, 6, 7], [8, 9, 10, 11], [-1, -1, -1, -1]]
    about = image.transform_matrix_offset_center(np.eye(3), 3, 4)
    assert np.array_equal(image.apply_transform(x.transpose(1, 2, 0), about, channel_axis=2)[..., 0], x[0])


def test_images_changed_at_random_train_a_model():
    x, y = np.random.default_rng(0).random((8, 6, 6, 3)), np.eye(2)[np.arange(8) % 2]
    options = {"rotation_range": 20, "width_shift_range": 0.2, "zoom_range": 0.2, "horizontal_flip": True}
    generator = image.ImageDataGenerator(featurewise_center=True, featurewise_std_normalization=True, **options)
    generator.fit(x, augment=True, seed=1)
    batches = generator.flow(X=x, y=y, batch_size=4, seed=2)
    assert isinstance(batches, Sequence)
    first, targets = batches[0]
    assert (first.shape, first.dtype, targets.shape) == ((4, 6, 6, 3), np.float32, (4, 2))
    again = generator.flow(x, y, batch_size=4, seed=2)
    assert np.array_equal(first, again[0][0])
    model = Sequential([layers.Flatten(input_shape=(6, 6, 3)), layers.Dense(2, activation="softmax")])
    model.compile("sgd", "categorical_crossentropy")
    assert model.fit_generator(batches, steps_per_epoch=2, epochs=2, verbose=0).epoch == [0, 1]
    assert model.fit_generator(batches, epochs=2, verbose=0, workers=2).epoch == [0, 1]  # which knows its length


def test_whitening_and_the_other_data_format():
    generator = image.ImageDataGenerator(zca_whitening=True, featurewise_center=True, dim_ordering="th")
    assert (generator.data_format, generator.channel_axis) == ("channels_first", 1)
    x = np.random.default_rng(0).random((6, 3, 4, 4))
    generator.fit(x)
    assert next(generator.flow(x, batch_size=3)).shape == (3, 3, 4, 4)
    with pytest.raises(ValueError, match=r"^`data_format` should be "):
        image.ImageDataGenerator(data_format="middle")


def test_pictures_of_a_folder(pictures: Path):
    generator = image.ImageDataGenerator(rescale=1 / 255, validation_split=0.34)
    batches = generator.flow_from_directory(str(pictures), target_size=(8, 9), batch_size=2, shuffle=False)
    assert (batches.samples, batches.nb_sample, batches.nb_class) == (6, 6, 2)
    assert batches.class_indices == {"cat": 0, "dog": 1}
    x, y = next(batches)
    assert (x.shape, y.tolist()) == ((2, 8, 9, 3), [[1, 0], [1, 0]])
    assert 0 <= x.min() <= x.max() <= 1
    part = generator.flow_from_directory(str(pictures), class_mode="binary", subset="validation")
    assert part.samples == 2


@pytest.mark.parametrize("made_by", [image.NumpyArrayIterator, image.DirectoryIterator])
def test_iterators_are_sequences(made_by: Any):
    assert issubclass(made_by, Sequence)
    assert issubclass(made_by, image.Iterator)


def test_iterators_by_themselves(pictures: Path):
    generator = image.ImageDataGenerator()
    found = image.DirectoryIterator(str(pictures), generator, target_size=(4, 4), dim_ordering="tf", batch_size=3)
    assert found[1][0].shape == (3, 4, 4, 3)
    found = image.NumpyArrayIterator(np.zeros((5, 4, 4, 1)), np.arange(5), generator, batch_size=2)
    assert [len(found[index][1]) for index in range(3)] == [2, 2, 1]
