"""Noise is Keras 2.2.4's: what it draws in training, nothing outside of it."""

import copy
import pickle
import re
from functools import partial

import pytest
import torch
from golden import cases, check, compiles, remade

from torchkeras.engine.graph.input import Input
from torchkeras.engine.modes import call_module
from torchkeras.engine.symbolic.axis_order import Layout
from torchkeras.layers.core import Masking
from torchkeras.layers.noise import (
    AlphaDropout,
    Dropout,
    GaussianDropout,
    GaussianNoise,
    SpatialDropout1D,
    SpatialDropout2D,
    SpatialDropout3D,
)

SPATIAL = (SpatialDropout1D, SpatialDropout2D, SpatialDropout3D)
CLASSES = (AlphaDropout, Dropout, GaussianDropout, GaussianNoise, *SPATIAL)


def example(cls):
    """Samples whose number of axes the layer takes."""
    return torch.ones(4, *(5,) * getattr(cls, "rank", 1), 8)


@pytest.mark.parametrize("case", cases(*CLASSES))
def test_values_are_those_of_keras(case):
    check(case, *CLASSES)


@pytest.mark.parametrize("cls", CLASSES)
def test_all_are_still_outside_of_training_and_pass_masks(cls):
    layer, x = cls(0.5), example(cls)
    assert layer(x, training=False) is not None
    assert torch.equal(layer(x, training=False), x)
    assert torch.equal(layer.eval()(x), x)
    assert not torch.equal(layer(x, training=True), x)
    assert not torch.equal(layer.train()(x), x)
    assert torch.equal(cls(0)(x, training=True), x)
    inputs = Masking()(Input(x.shape[1:]))
    assert cls(0.5)(inputs)._keras_mask.shape == inputs._keras_mask.shape
    assert cls(0.5)(inputs).shape == inputs.shape


@pytest.mark.parametrize("cls", CLASSES)
def test_a_seed_gives_the_same_again_in_copies_too(cls):
    x = example(cls)
    layer = cls(0.5, seed=1)
    first, second = layer(x), layer(x)
    assert not torch.equal(first, second)
    for again in (remade(layer), copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):  # noqa: S301
        assert torch.equal(again(x), first)
    torch.manual_seed(0)
    expected = torch.rand(1)
    torch.manual_seed(0)
    layer(x)
    assert torch.equal(torch.rand(1), expected)


@pytest.mark.torch("2.8", "its compiler follows whole models")
@pytest.mark.parametrize("cls", CLASSES)
def test_each_compiles_whole(cls):
    x = example(cls)
    shaped = [{"noise_shape": (None, 1, 8)}] if cls in (Dropout, AlphaDropout) else []
    for options in ({}, *shaped):
        layer = cls(0.5, **options)
        layer(x)
        compiled = torch.compile(partial(call_module, layer), fullgraph=True, backend="eager")
        assert not torch.equal(compiled(x), x)
        compiles(layer, x, training=False)


@pytest.mark.parametrize(
    "options", [{}, {"seed": 7}, {"noise_shape": (None, 1, 4)}, {"noise_shape": (8, None, 1), "seed": 3}]
)
@pytest.mark.parametrize(("cls", "values"), [(Dropout, [0, 1 / 0.75]), (AlphaDropout, [-1.1435442, 1.2484393])])
def test_dropout_drops_the_rate_in_the_shape_told(cls, values, options):
    layer = cls(0.25, **options)
    x = torch.ones(8, 500, 4)
    found = layer(x, training=True)
    torch.testing.assert_close(found.unique(), torch.tensor(values))  # of ones, Keras 2.2.4 makes these values
    for axis, size in enumerate(options.get("noise_shape") or ()):
        if size == 1:
            assert (found == found.narrow(axis, 0, 1)).all()
    if "noise_shape" not in options:
        assert abs(float((found == found.min()).float().mean()) - 0.25) < 0.03
    assert layer(Input((500, 4))).shape == (None, 500, 4)
    assert remade(layer).noise_shape == layer.noise_shape
    assert layer._facts.layout is (Layout.KERAS if "noise_shape" in options else Layout.ANY)


@pytest.mark.parametrize("rate", [0.001, 0.01, 0.1, 0.25, 0.3, 0.5, 0.99, 0.995])
def test_a_dropout_keeps_the_share_of_its_rate_each_place_by_itself(rate):
    torch.manual_seed(0)
    count = 2_000_000
    dropped = Dropout(rate)(torch.ones(count), training=True) == 0
    spread = (rate * (1 - rate)) ** 0.5
    assert abs(float(dropped.double().mean()) - rate) < 5 * spread / count**0.5
    for apart in (1, 2, 3, 4, 7, 8):  # neighbours that come from one word, and those that do not
        both = (dropped[apart:] & dropped[:-apart]).double().mean()
        assert abs(float(both) - rate**2) < 5 * rate / count**0.5


def test_images_with_their_channels_last_keep_that_under_dropout():
    x = torch.randn(2, 3, 4, 5).contiguous(memory_format=torch.channels_last)
    assert Dropout(0.5)(x, training=True).stride() == x.stride()
    wider = torch.ones(2, 3, 4, 6)[..., :5]
    assert set(Dropout(0.5)(wider, training=True).unique().tolist()) == {0.0, 2.0}


def test_alpha_dropout_keeps_mean_and_variance():
    torch.manual_seed(0)
    found = AlphaDropout(0.3)(torch.randn(400, 500))
    assert abs(float(found.mean())) < 0.02
    assert abs(float(found.var()) - 1) < 0.02


def test_gaussian_noise_has_the_spread_told():
    torch.manual_seed(0)
    x = torch.full((400, 500), 3.0)
    for layer, deviation in ((GaussianNoise(0.5), 0.5), (GaussianDropout(0.2), 3 * (0.2 / 0.8) ** 0.5)):
        found = layer(x)
        assert abs(float(found.mean()) - 3) < 0.02
        assert abs(float(found.std()) - deviation) < 0.02
        assert layer._facts.layout is Layout.ANY


@pytest.mark.parametrize("cls", [AlphaDropout, GaussianDropout])
def test_a_rate_of_one_changes_nothing(cls):
    assert torch.equal(cls(1)(torch.ones(3, 4), training=True), torch.ones(3, 4))


@pytest.mark.parametrize("cls", SPATIAL)
@pytest.mark.parametrize("seed", [None, 3])
def test_spatial_dropout_drops_whole_channels(cls, seed):
    x = torch.ones(50, *(3,) * cls.rank, 20)
    found = cls(0.25, seed=seed)(x)
    torch.testing.assert_close(found.unique(), torch.tensor([0, 1 / 0.75]))
    one_place = found.flatten(1, -2)[:, :1]
    assert (found.flatten(1, -2) == one_place).all()
    assert abs(float((one_place == 0).float().mean()) - 0.25) < 0.06
    if cls.rank > 1:
        first = cls(0.25, "channels_first", seed)(x.movedim(-1, 1))
        assert (first.flatten(2) == first.flatten(2)[:, :, :1]).all()
        assert 0 < float((first == 0).float().mean()) < 1


def test_spatial_dropout_reads_what_keras_2_wrote():
    config = {"name": "s", "trainable": True, "rate": 0.3, "noise_shape": None, "seed": None}
    assert SpatialDropout2D.from_config(config).rate == 0.3
    with pytest.raises(TypeError, match=r"^SpatialDropout2D: unknown option 'noise_shape'\."):
        SpatialDropout2D.from_config({**config, "noise_shape": (1, 2)})


def test_a_seed_that_keras_2_does_not_know_is_written_only_when_given():
    for cls in (GaussianNoise, GaussianDropout, *SPATIAL):
        assert "seed" not in cls(0.5).get_config()
        assert cls(0.5, seed=3).get_config()["seed"] == 3


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Dropout(1), "Dropout: rate must be a number from 0 to below 1; found 1."),
        (
            lambda: SpatialDropout1D(1),
            "SpatialDropout1D: rate must be a number from 0 to below 1; found 1.",
        ),
        (lambda: AlphaDropout(1.5), "AlphaDropout: rate must be a number from 0 to 1; found 1.5."),
        (lambda: GaussianDropout(-0.1), "GaussianDropout: rate must be a number from 0 to 1; found -0.1."),
        (lambda: GaussianNoise(-1), "GaussianNoise: stddev must be a number of at least 0; found -1."),
        (
            lambda: Dropout(0.5, noise_shape=(0,)),
            (
                "Dropout: noise_shape must be a tuple of positive integers and None, the batch axis counted, or None; "
                "found (0,)."
            ),
        ),
        (lambda: Dropout(0.5, seed=1.5), "Dropout: seed must be an integer, or None; found 1.5."),
        (lambda: GaussianNoise(0.5, "a"), "GaussianNoise: seed must be an integer, or None; found 'a'."),
        (
            lambda: Dropout(0.5, (None, 1), name="d")(Input((4, 3))),
            "Dropout 'd': noise_shape (None, 1) must have as many axes as the input (None, 4, 3).",
        ),
        (
            lambda: SpatialDropout3D(0.5, name="s")(Input((4, 3))),
            (
                "Input 0 is incompatible with layer s: expected ndim=5, found ndim=3 (input shape (None, 4, 3)). "
                "Give it an input of 5 axes."
            ),
        ),
    ],
)
def test_bad_values_are_refused(make, text):
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        make()
