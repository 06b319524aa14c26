"""Which Keras wrote a config: by its version, else by its forms, else an error."""

import re

import pytest
from translated import GOLDEN, config_in

from torchkeras.errors import UnknownFormatError
from torchkeras.saving.dialects.modern import dialect

KERAS_2_RAN_ON = "Keras 2 ran on tensorflow, theano, cntk, mxnet, plaidml.keras.backend"


@pytest.mark.parametrize(
    ("version", "backend", "found"),
    [
        ("0.3.3", None, "keras1"),
        ("1.2.2", None, "keras1"),
        ("2.0.0", "theano", "keras2"),
        ("2.2.4", "tensorflow", "keras2"),
        ("2.3.1", "cntk", "keras2"),
        ("2.2.4", "plaidml.keras.backend", "keras2"),
        ("2.2.4.2", "mxnet", "keras2"),
        ("2.1.6-tf", "tensorflow", "tf_keras"),
        ("2.3.0-tf", "tensorflow", "tf_keras"),
        ("2.4.0", "tensorflow", "tf_keras"),
        ("2.15.0", None, "tf_keras"),
        ("2.21.0", "tensorflow", "tf_keras"),
        ("3.0.0", "jax", "keras3"),
        ("3.15.1", "torch", "keras3"),
    ],
)
def test_version(version, backend, found):
    assert dialect({}, version, backend).name == found
    assert dialect({"keras_version": version, "backend": backend}).name == found


@pytest.mark.parametrize(
    ("folder", "found"),
    [
        ("keras-1.2.2-tensorflow/conv_00", "keras1"),
        ("keras-2.2.4-tensorflow/dense_02", "keras2"),
        ("tf_keras-2.21/lstm_default", "tf_keras"),
        ("keras-3.15/lstm_default", "keras3"),
        ("keras-3.15/nested_sequential", "keras3"),
    ],
)
def test_forms(folder, found):
    assert dialect(config_in(GOLDEN / folder, "model.h5")).name == found


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (({}, "4.0.0"), "Written by Keras 4.0.0; files of Keras 1, 2 and 3 are read."),
        (({}, "new"), "The version of Keras must be such as '2.2.4'; found 'new'."),
        (({}, "2.2.4", "torch"), f"Written by Keras 2.2.4 on torch; {KERAS_2_RAN_ON}."),
        (
            ({"class_name": "Sequential", "config": []},),
            "The architecture has no 'keras_version', and its forms are those of nothing alone.",
        ),
        (
            ([{"time_major": False}, {"border_mode": "same"}],),
            "The architecture has no 'keras_version', and its forms are those of keras1, tf_keras alone.",
        ),
    ],
)
def test_error(arguments, text):
    with pytest.raises(UnknownFormatError, match=f"^{re.escape(text)}$"):
        dialect(*arguments)
