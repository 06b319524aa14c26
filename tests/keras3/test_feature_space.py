"""`FeatureSpace`: what `same/feature_space.py` leaves out."""

import gzip
import zipfile
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader

import torchkeras.keras3 as keras
from torchkeras.errors import UnreadableFileError
from torchkeras.tensorflow2.data import Dataset

FeatureSpace = keras.utils.FeatureSpace
DATA = {
    "age": [20.0, 30.0, 40.0, 50.0],
    "dose": [1.0, 2.0, 3.0, 4.0],
    "kind": ["b", "a", "b", "c"],
    "level": [3, 1, 3, 2],
}
KINDS = {
    "age": "float_normalized",
    "dose": "float_discretized",
    "kind": "string_categorical",
    "level": "integer_hashed",
}
ROWS = [{name: values[place] for name, values in DATA.items()} for place in range(4)]


def adapted(data=DATA, **options):
    space = FeatureSpace(KINDS, crosses=[("kind", "level")], crossing_dim=5, num_discretization_bins=3, **options)
    space.adapt(data)
    return space


@pytest.mark.parametrize(
    "data",
    [
        ROWS,
        [(row, 1.0) for row in ROWS],
        [{name: values[:2] for name, values in DATA.items()}, {name: values[2:] for name, values in DATA.items()}],
        DataLoader(ROWS, batch_size=3),  # pyright: ignore[reportArgumentType]
        iter(ROWS),
    ],
    ids=["samples", "with targets", "batches", "loader", "once"],
)
def test_adapt_takes_samples_and_batches(data):
    assert torch.equal(adapted(data)(DATA), adapted()(DATA))


def test_datasets_of_tensorflow_before_and_after_batches():
    dataset, wanted = Dataset.from_tensor_slices((DATA, [0.0, 1.0, 0.0, 1.0])), adapted()(DATA)
    space = adapted(dataset.batch(3).map(lambda x, y: x))
    assert torch.equal(adapted(dataset)(DATA), wanted)
    assert torch.equal(torch.cat([x for x, _ in dataset.batch(3).map(lambda x, y: (space(x), y))]), wanted)
    assert torch.equal(torch.stack([x for x, _ in dataset.map(lambda x, y: (space(x), y))]), wanted)


def test_columns_may_be_arrays_tensors_and_bytes():
    space, wanted = adapted(), adapted()(DATA)
    arrays = {name: np.array(values) for name, values in DATA.items()}
    assert torch.equal(space(arrays), wanted)
    assert torch.equal(
        space({**arrays, "age": torch.tensor(DATA["age"]), "level": torch.tensor([[3], [1], [3], [2]])}), wanted
    )
    assert torch.equal(space({**arrays, "kind": np.array([b"b", b"a", b"b", b"c"], dtype=object)}), wanted)
    assert torch.equal(space(ROWS[2]), wanted[2])


def test_large_integers_stay_whole():
    # Genuine Keras's input of such a feature has the type int32, its calls have that of the data, as here.
    space = FeatureSpace({"number": FeatureSpace.integer_categorical(output_mode="int")}, output_mode="dict")
    space.adapt({"number": [2**40, 2**41]})
    assert space({"number": [2**41, 2**40, 0]})["number"].tolist() == [[1], [2], [0]]


def test_boundaries_may_be_given():
    # Genuine Keras cannot adapt the others beside such a feature.
    layer = keras.layers.Discretization([1.5, 3.5])
    space = FeatureSpace({"dose": FeatureSpace.feature("float32", layer, "one_hot"), "age": "float_normalized"})
    space.adapt(DATA)
    assert space(DATA)[:, 1:].argmax(-1).tolist() == [0, 1, 1, 2]


def test_models_of_encoded_features_and_of_inputs():
    space = adapted()
    features, inputs = space.get_encoded_features(), space.get_inputs()
    assert [(name, each.shape, each.dtype) for name, each in inputs.items()] == [
        ("age", (None, 1), torch.float32),
        ("dose", (None, 1), torch.float32),
        ("kind", (None, 1, None), torch.uint32),  # strings, with an axis for their bytes
        ("level", (None, 1), torch.int32),
    ]
    outputs = keras.layers.Dense(1)(features)
    training = keras.Model(features, outputs)
    training.compile("sgd", "mse")
    training.fit(space(DATA), np.zeros((4, 1)), verbose=0)
    columns = {name: np.array(values).reshape(-1, 1) for name, values in DATA.items()}
    whole = keras.Model(inputs, outputs)
    np.testing.assert_allclose(whole.predict(columns, verbose=0), training.predict(space(DATA), verbose=0), rtol=1e-6)


def test_texts_are_inputs():
    text = keras.layers.TextVectorization(output_sequence_length=3, output_mode="int")
    space = FeatureSpace({"text": FeatureSpace.feature("string", text, "int")}, output_mode="dict")
    space.adapt({"text": ["one two", "two"]})
    model = keras.Model(space.get_inputs(), space.get_encoded_features())
    for found in (space({"text": ["two two two two"]}), model({"text": np.array(["two two two two"])})):
        assert found["text"].tolist() == [[2, 2, 2]]


def test_a_file_has_vocabularies_and_statistics(tmp_path):
    space = adapted()
    space.save(tmp_path / "space.keras")
    loaded = keras.models.load_model(tmp_path / "space.keras")
    assert torch.equal(loaded(DATA), space(DATA))
    assert loaded.get_config() == space.get_config()
    loaded.save(tmp_path / "again.keras")
    assert torch.equal(keras.saving.load_model(tmp_path / "again.keras")(DATA), space(DATA))
    assert torch.equal(deepcopy(loaded)(DATA), space(DATA))


def test_a_file_of_genuine_keras():
    folder = Path(__file__).parent.parent / "golden/keras3/feature_space"
    space = keras.models.load_model(folder / "space.keras")
    data = {"a": [0.0, 1.0, 2.0], "b": [0.0, 1.0, 2.0], "c": [0.0, 1.0, 2.0], "d": ["x", "y", "z"]}
    data |= {"e": [3, 4, 4], "f": ["q", "r", "s"]}
    with gzip.open(folder / "encoded.txt.gz", "rt") as found:
        np.testing.assert_array_equal(space(data).numpy(), np.loadtxt(found, dtype="float32"))
    assert space.preprocessors["d"].get_vocabulary() == ["[UNK]", "z", "y", "x"]


def test_a_damaged_file_is_refused(tmp_path):
    adapted().save(tmp_path / "space.keras")
    with zipfile.ZipFile(tmp_path / "space.keras") as found, zipfile.ZipFile(tmp_path / "bad.keras", "w") as made:
        for name in found.namelist():
            text = b'{"class_name": "FeatureSpace", "config": 1}' if name == "config.json" else found.read(name)
            made.writestr(name, text)
    with pytest.raises(UnreadableFileError, match="its config must be that of a FeatureSpace"):
        keras.models.load_model(tmp_path / "bad.keras")


def test_preprocessors_of_ones_own(tmp_path):
    space = FeatureSpace({"age": FeatureSpace.feature("float32", keras.layers.Dense(2), "float")})
    wanted = space(DATA)
    assert wanted.shape == (4, 2)
    space.save(tmp_path / "space.keras")
    assert torch.equal(keras.models.load_model(tmp_path / "space.keras")(DATA), wanted)
    inner = keras.Sequential([keras.Input((1,)), keras.layers.Dense(2)])
    space = FeatureSpace({"age": FeatureSpace.feature("float32", inner, "float")})
    with pytest.raises(ValueError, match="the preprocessor of 'age' has layers inside that have weights"):
        space.save(tmp_path / "inner.keras")


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: FeatureSpace({}), "features must be a dict of one or more"),
        (lambda: FeatureSpace({"a": "float"}, output_mode="sum"), "invalid value for argument `output_mode`.*'sum'"),
        (lambda: FeatureSpace({"a": "text"}), "the feature 'a'.*found 'text'"),
        (lambda: FeatureSpace({"a": "float"}, crosses=[("a", "b")]), "should be present in features.*'b'"),
        (lambda: FeatureSpace({"a": "float"}, crosses=[("a", "a")], crossing_dim=0), "takes `crossing_dim`.*found 0"),
        (lambda: FeatureSpace.feature("float32", len, "float"), "preprocessor must be a layer; found <built-in"),
        (lambda: FeatureSpace.cross(("a", "b"), 3, output_mode="float"), "Cross: invalid value for argument `output_"),
        (lambda: FeatureSpace(KINDS)(DATA), "You need to call `.adapt"),
        (lambda: FeatureSpace(KINDS).get_inputs(), "You need to call `.adapt"),
        (lambda: FeatureSpace(KINDS).adapt([1.0]), "adapt takes dicts of columns; found float"),
        (lambda: FeatureSpace(KINDS).adapt(3), "adapt takes a dict of columns, or an iterable .* found int"),
        (lambda: FeatureSpace(KINDS).adapt([]), "adapt was given no data"),
        (lambda: adapted()({"age": [1.0]}), r"the data lack \['dose', 'kind', 'level'\]"),
        (lambda: adapted()([1.0]), "takes a dict of columns; found list"),
        (
            lambda: FeatureSpace({"n": FeatureSpace.integer_hashed(3, "int")})({"n": [1]}),
            "'n' is of torch.int64, which",
        ),
        (
            lambda: FeatureSpace({"a": FeatureSpace.feature("float32", keras.layers.Rescaling(2.0), "one_hot")})(
                DATA | {"a": [1.0]}
            ),
            "its preprocessor Rescaling does not say how many integers",
        ),
        (lambda: adapted().save("space.h5"), r"is saved in a file that ends in .keras"),
    ],
)
def test_what_is_refused(call, text):
    with pytest.raises(ValueError, match=text):
        call()
