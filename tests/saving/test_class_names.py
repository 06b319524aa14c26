"""A name means what it meant in the file's Keras."""

import json
import re
from typing import Any

import pytest

from torchkeras import layers
from torchkeras.errors import ArchitectureError
from torchkeras.models import Sequential, model_from_json


def text(name: str, version: str, backend: str = "tensorflow", **options: Any) -> str:
    entry = {"class_name": name, "config": {"name": "l", "batch_input_shape": [None, 4], **options}}
    return json.dumps({"class_name": "Sequential", "config": [entry], "keras_version": version, "backend": backend})


@pytest.mark.parametrize(
    ("name", "version", "title"),
    [
        *((name, "2.2.4", "Keras 2.2.4") for name in ("Attention", "LayerNormalization", "MultiHeadAttention")),
        *((name, "2.1.6", "Keras 2.2.4") for name in ("AdditiveAttention", "GroupNormalization", "Normalization")),
        *((name, "1.2.2", "Keras 1") for name in ("Attention", "Softmax", "ReLU", "Concatenate", "LayerNormalization")),
    ],
)
def test_a_class_that_came_later_is_the_authors(name: str, version: str, title: str):
    expected = (
        f"{name} 'l': {title} has no layer of this name, so the file means a class of its author's; pass it: "
        f"custom_objects={{{name!r}: class}}."
    )
    with pytest.raises(ArchitectureError, match=f"^{re.escape(expected)}$"):
        model_from_json(text(name, version))

    class Own(layers.Layer):
        def call(self, inputs: Any) -> Any:
            return inputs * 2

    model = model_from_json(text(name, version), {name: Own})
    assert type(model.layers[-1]) is Own


def test_our_own_files_have_our_layers():
    model = Sequential([layers.LayerNormalization(input_shape=(4,)), layers.Rescaling(0.5)])
    read = model_from_json(model.to_json())
    assert [type(layer).__name__ for layer in read.layers] == ["LayerNormalization", "Rescaling"]


def test_a_class_of_the_users_with_a_name_of_keras_goes_first():
    class BatchNormalization(layers.BatchNormalization):
        def __init__(self, own: int = 0, **options: Any):
            super().__init__(**options)
            self.own = own

    model = model_from_json(text("BatchNormalization", "2.2.4", own=3), {"BatchNormalization": BatchNormalization})
    assert model.layers[-1].own == 3


@pytest.mark.parametrize(("version", "option"), [("2.2.4", "units"), ("1.2.2", "output_dim")])
def test_whole_numbers_that_json_made_floats_are_read(version: str, option: str):
    assert model_from_json(text("Dense", version, **{option: 8.0})).output_shape == (None, 8)


def test_initializers_of_tf_keras_may_name_a_type():
    initializer = {"class_name": "GlorotUniform", "config": {"seed": None, "dtype": "float32"}}
    model = model_from_json(text("Dense", "2.4.0", units=3, kernel_initializer=initializer))
    assert model.output_shape == (None, 3)
