"""Vocabularies that stand beside the config of a `.keras` file: those of genuine Keras are read, others are refused."""

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

from torchkeras.errors import ArchitectureError, FileLimitError, ModelFileError, UnknownFormatError, UnreadableFileError
from torchkeras.layers import Input, IntegerLookup
from torchkeras.models import Model, load_model
from torchkeras.saving.containers import archive
from torchkeras.saving.containers.clean_copy import write_clean
from torchkeras.saving.containers.limits import Limits

# Written by Keras 3.15 on torch, after `adapt`: two look-ups, one in a model inside, and one whose vocabulary is given.
GENUINE = Path(__file__).parents[1] / "golden" / "keras-3.15-lookup" / "adapted.keras"
X = np.array([[1, 9, 5], [0, 2, -4]])
FOUND = [
    [[2, 1, 1], [0, 3, 1]],
    [[0, 2, 0, 1], [2, 0, 1, 0]],
    [[1, 1, 0, 0], [1, 0, 0, 0]],
    [[2.5, 0.5, 0.0], [2.5, 0.0, 2.0]],
]


def test_what_genuine_keras_adapted_is_read(tmp_path):
    model = load_model(GENUINE)
    assert [each.tolist() for each in model.predict(X)] == FOUND
    with pytest.warns(UserWarning, match="output_mode 'tf_idf' has no form in Keras 3"):
        model.save(tmp_path / "again.keras")
    assert [each.tolist() for each in load_model(tmp_path / "again.keras").predict(X)] == FOUND


def lookup(path: Path, members: dict[str, bytes], **options) -> Path:
    """A file of one look-up without a vocabulary, with further members."""
    inputs = Input((2,), dtype="int64")
    Model(inputs, IntegerLookup(vocabulary=[3, 4], name="l", **options)(inputs)).save(path)
    with zipfile.ZipFile(path) as found:
        parts = {name: found.read(name) for name in found.namelist()}
    config = json.loads(parts["config.json"])
    config["config"]["layers"][1]["config"]["vocabulary"] = None
    parts["config.json"] = json.dumps(config).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in {**parts, **members}.items():
            made.writestr(name, content)
    return path


OWN = "assets/layers/integer_lookup/vocabulary.txt"


def test_a_vocabulary_goes_into_the_config(tmp_path):
    path = lookup(tmp_path / "m.keras", {OWN: b"-1\n7\n-8\n\n"})
    assert load_model(path).predict(np.array([[7, -8], [1, 2]])).tolist() == [[1, 2], [0, 0]]


@pytest.mark.parametrize(
    ("members", "error", "text"),
    [
        ({OWN: b"-1\nx\n"}, UnreadableFileError, "must have an integer in each line"),
        ({OWN: b"\xff\xfe"}, UnreadableFileError, "is no text in UTF-8"),
        ({OWN: b""}, ArchitectureError, "must be a list of tokens"),
        ({OWN: b"99999999999999999999\n"}, ArchitectureError, "tokens must be integers"),
        ({OWN: b"5\n5\n"}, ArchitectureError, "misplaced or repeated"),
        (
            {OWN: b"5\n", "assets/layers/integer_lookup_1/vocabulary.txt": b"6\n"},
            UnreadableFileError,
            "'assets/layers/integer_lookup_1/vocabulary.txt' is of no layer that lacks a vocabulary",
        ),
        ({"assets/layers/dense/other.txt": b""}, UnknownFormatError, "something else in a file of its own"),
        ({"assets/layers/../vocabulary.txt": b"5"}, ModelFileError, "is not part of a model"),
        ({"assets/layers/a.b/vocabulary.txt": b"5"}, UnknownFormatError, "something else in a file of its own"),
    ],
)
def test_other_files_are_refused(members, error, text, tmp_path):
    with pytest.raises(error, match=text):
        load_model(lookup(tmp_path / "m.keras", members))


def test_vocabularies_are_not_endless(tmp_path):
    path = lookup(tmp_path / "m.keras", {OWN: b"1\n" * 10_000})
    with (
        pytest.raises(FileLimitError, match="unpacks to more than 9000 bytes"),
        archive.opened(path, limits=Limits(json=9_000)),
    ):
        pass


def test_a_clean_copy_has_the_vocabulary_in_its_config(tmp_path):
    path, copy = lookup(tmp_path / "m.keras", {OWN: b"-1\n7\n"}), tmp_path / "copy.keras"
    write_clean(path, copy)
    with zipfile.ZipFile(copy) as found:
        assert OWN not in found.namelist()
        assert json.loads(found.read("config.json"))["config"]["layers"][1]["config"]["vocabulary"] == [-1, 7]


def test_a_model_of_strings_says_where_its_layer_belongs(tmp_path):
    path = lookup(tmp_path / "m.keras", {OWN: b"5\n"})
    with zipfile.ZipFile(path) as found:
        parts = {name: found.read(name) for name in found.namelist()}
    parts["config.json"] = parts["config.json"].replace(b'"dtype": "int64"', b'"dtype": "string"', 1)
    with zipfile.ZipFile(path, "w") as made:
        for name, content in parts.items():
            made.writestr(name, content)
    with pytest.raises(ArchitectureError, match=r"IntegerLookup '\w+' takes numbers; found strings\. Call TextVecto"):
        load_model(path)
