"""Hashing and HashedCrossing beyond the numbers of genuine Keras, which tests/keras3/same/text_layers.py has."""

import json
import re

import numpy as np
import pytest
import torch

from torchkeras.base.fingerprints import fingerprints, keyed_hashes
from torchkeras.layers import HashedCrossing, Hashing, Input
from torchkeras.models import Model, load_model

# Of TensorFlow 2.21, for texts of each way to compute: their first bytes are 0, 7, 14 ... modulo 256.
LENGTHS = (0, 1, 3, 4, 7, 8, 16, 17, 32, 33, 64, 65, 128, 129, 300)
FARM: list[int] = [
    1936946117179621456,
    4494688008148699989,
    7836721383716570152,
    365121004050576997,
    1123016345076934235,
    6649577755799664552,
    8913314169182629276,
    2691913911681613941,
    764915578794662492,
    8882213536466149448,
    6936790096686938507,
    1750252573709625707,
    2861393397590574204,
    7832425477904519772,
    877258984558720017,
]
SIP: list[int] = [
    1938828696120116328,
    5006811311730909315,
    796530520671583669,
    282952013505549166,
    101016468831137266,
    2303143535459459268,
    4719735266385567661,
    6995225047617813770,
    1389958470110778300,
    312736665240542052,
    2587034802497635889,
    8453812539967264561,
    249321363903883809,
    3901968646540337673,
    4835335014391951879,
]


def test_hashes_are_those_of_tensorflow():
    texts = [bytes(7 * place % 256 for place in range(length)) for length in LENGTHS]
    bins = np.uint64(2**63 - 1)
    assert (fingerprints(texts) % bins).tolist() == FARM
    assert (keyed_hashes(texts, (133, 2**62 + 5)) % bins).tolist() == SIP


def test_in_models_and_files(tmp_path):
    x, y = Input((1,), dtype="int64", name="x"), Input((1,), dtype="int64", name="y")
    model = Model([x, y], [Hashing(7, salt=3)(x), HashedCrossing(5, output_mode="one_hot")([x, y])])
    given = [np.arange(4)[:, None], np.arange(4)[::-1, None].copy()]
    expected = model.predict(given)
    assert [each.shape for each in expected] == [(4, 1), (4, 5)]
    for name in ("model.keras", "model.h5"):
        model.save(tmp_path / name)
        for found, wanted in zip(load_model(tmp_path / name).predict(given), expected, strict=True):
            np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("layer", [Hashing(4, mask_value="a", salt=[1, 2], output_mode="count"), HashedCrossing(3)])
def test_a_config_makes_the_layer_again(layer):
    config = json.loads(json.dumps(layer.get_config()))
    again = type(layer).from_config(config)
    x = np.array([["a"], ["b"]])
    given = x if isinstance(layer, Hashing) else [x, x]
    assert torch.equal(again(given), layer(given))
    assert again.get_config() == layer.get_config()


def test_types():
    assert Hashing(3)(["a"]).dtype == torch.int64
    assert Hashing(3, dtype="int32")(["a"]).dtype == torch.int32
    assert Hashing(3, output_mode="one_hot")(["a"]).dtype == torch.float32
    assert Hashing(3)(Input((2,), dtype="int32")).dtype == torch.int64


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Hashing(0), "Hashing: num_bins must be an integer of at least 1; found 0."),
        (
            lambda: Hashing(3, salt=[1]),
            "Hashing: salt must be an integer from 0 to below 2**63 or two of them, or None; found [1].",
        ),
        (
            lambda: Hashing(3, mask_value=0.5),
            "Hashing: mask_value must be an integer or a string, or None; found 0.5.",
        ),
        (
            lambda: Hashing(3, sparse=True),
            "Hashing: sparse must be False, torch computes with dense tensors; found True.",
        ),
        (
            lambda: Hashing(3, dtype="float32", name="h"),
            "Hashing 'h': with output_mode 'int', dtype must be 'int32' or 'int64'; found 'float32'.",
        ),
        (
            lambda: Hashing(3, name="h")([True]),
            "Hashing 'h': what is hashed must be strings or integers; found bool.",
        ),
        (
            lambda: HashedCrossing(3, output_mode="count"),
            "HashedCrossing: output_mode must be one of 'int', 'one_hot'; found 'count'.",
        ),
        (
            lambda: HashedCrossing(3, name="h")(torch.tensor(1)),
            (
                "HashedCrossing 'h': there must be two or more inputs, all of the shape (), (batch,) or (batch, 1); "
                "found [()]."
            ),
        ),
        (
            lambda: HashedCrossing(3, name="h")([["a"]]),
            (
                "HashedCrossing 'h': there must be two or more inputs, all of the shape (), (batch,) or (batch, 1); "
                "found [(1,)]."
            ),
        ),
        (
            lambda: HashedCrossing(3, name="h")([[0.5], [1]]),
            "HashedCrossing 'h': features must be strings or integers; found float64.",
        ),
        (
            lambda: HashedCrossing(3, name="h")([Input((2,), dtype="int64")] * 2),
            (
                "HashedCrossing 'h': there must be two or more inputs, all of the shape (), (batch,) or (batch, 1); "
                "found [(None, 2), (None, 2)]."
            ),
        ),
    ],
)
def test_bad_values_are_refused(make, text):
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        make()
