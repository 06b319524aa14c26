"""The name of a layer stands for all of its outputs, as in Keras 2.2.4, whose numbers these are."""

import json

import h5py
import numpy as np
import pytest

from torchkeras.layers import Dense, Input
from torchkeras.models import Model, load_model


def drawn(seed, *shape):
    return np.random.RandomState(seed).normal(size=shape).astype("float32")


X = [drawn(k, 6, 3) for k in range(3)]
Y = [drawn(k + 10, 6, 2) for k in range(4)]
CLASSES = [np.eye(2)[np.random.RandomState(k).randint(0, 2, 6)] for k in range(4)]
RISING = np.arange(1.0, 7.0)


def model_of(**options):
    """Three outputs of the layer `r` and one of `s`: their names are r, r_1, r_2 and s."""
    inputs = [Input((3,)) for _ in range(3)]
    r, s = Dense(2, name="r", use_bias=False), Dense(2, name="s", use_bias=False)
    model = Model(inputs, [*map(r, inputs), s(inputs[0])])
    r.set_weights([drawn(5, 3, 2)])
    s.set_weights([drawn(6, 3, 2)])
    model.compile("sgd", **options)
    return model


LOSSES = [6.41614, 4.46049, 5.22477, 4.53402]
DOUBLE = {"r": 2.0, "s": 5.0}


@pytest.mark.parametrize(
    ("options", "given", "y", "expected"),
    [
        ({"loss": "mse"}, {}, Y, [20.63541, *LOSSES]),
        ({"loss": "mse", "loss_weights": {"r": 2.0}}, {}, Y, [36.73681, *LOSSES]),
        ({"loss": "mse", "loss_weights": DOUBLE}, {}, Y, [54.87287, *LOSSES]),
        ({"loss": "mse", "metrics": {"r": "mae"}}, {}, Y, [20.63541, *LOSSES, 1.69243, 1.69785, 1.84919]),
        ({"loss": {"r": "mse", "s": "mae"}}, {}, Y, [17.79964, *LOSSES[:3], 1.69824]),
        ({"loss": {"r": "mse"}}, {}, Y[:3], [16.1014, *LOSSES[:3]]),
        ({"loss": {"r": "mse"}}, {}, {"r": Y[0]}, [17.288, 6.41614, 5.60006, 5.2718]),
        ({"loss": "mse"}, {}, {"r": Y[0], "s": Y[3]}, [21.82201, 6.41614, 5.60006, 5.2718, 4.53402]),
        ({"loss": "mse", "sample_weight_mode": {"r": None, "s": None}}, {}, Y, [20.63541, *LOSSES]),
        (
            {"loss": "mse"},
            {"sample_weight": {"r": RISING}},
            Y,
            [55.6996, 18.79015, 16.14223, 16.23321, 4.53402],
        ),
        (
            {"loss": "mse", "weighted_metrics": {"r": "mae"}},
            {"sample_weight": {"r": RISING}},
            Y,
            [55.6996, 18.79015, 16.14223, 16.23321, 4.53402, 5.90503, 5.81137, 6.12111],
        ),
        (
            {"loss": "mse"},
            {"class_weight": {"r": {0: 1.0, 1: 3.0}}},
            CLASSES,
            [42.91113, 16.45558, 10.46688, 12.43915, 3.54953],
        ),
    ],
)
def test_a_name_of_a_layer(options, given, y, expected):
    assert model_of(**options).train_on_batch(X, y, **given) == pytest.approx(expected, abs=2e-5)


def test_an_output_that_is_named_itself():
    """As no Keras 2 can: there the other names are not known, or are left out silently."""
    found = model_of(loss="mse", loss_weights={"r": 2.0, "r_1": 3.0}).evaluate(X, Y, verbose=0)
    assert found[0] == pytest.approx(2 * LOSSES[0] + 3 * LOSSES[1] + 2 * LOSSES[2] + LOSSES[3], abs=2e-5)
    model = model_of(loss={"r": "mse", "r_1": None, "s": "mae"})
    assert model.metrics_names == ["loss", "r_loss", "r_2_loss", "s_loss"]
    found = model_of(loss="mse").evaluate(X, dict(zip(("r", "r_1", "r_2", "s"), Y, strict=True)), verbose=0)
    assert found == pytest.approx([20.63541, *LOSSES], abs=2e-5)


@pytest.mark.parametrize(
    ("option", "value"), [("loss", {"q": "mse"}), ("loss_weights", {"q": 1.0}), ("metrics", {"q": "mae"})]
)
def test_an_unknown_name(option, value):
    text = f"compile: {option} names the output 'q'; the outputs are r, r_1, r_2, s."
    with pytest.raises(ValueError, match=f"^{text}$"):
        model_of(**{"loss": "mse", option: value})


@pytest.mark.parametrize("suffix", ["h5", "keras", "pt"])
def test_in_a_file(suffix, tmp_path):
    path = tmp_path / f"model.{suffix}"
    model = model_of(loss={"r": "mse", "s": "mae"}, loss_weights={"r": 2.0}, metrics={"r": ["mae"]})
    model.save(path)
    again = load_model(path)
    assert again.metrics_names == model.metrics_names
    assert again.evaluate(X, Y, verbose=0) == pytest.approx(model.evaluate(X, Y, verbose=0), rel=1e-6)


@pytest.mark.parametrize(
    ("version", "training", "expected"),
    [
        ("2.2.4", {"loss": "mse", "loss_weights": {"r": 2.0}}, 36.73681),
        ("2.15.0", {"loss": "mse", "loss_weights": {"r": 2.0}}, 27.05155),  # tf.keras calls them r, r_1 and r_2
        ("2.15.0", {"loss": {"r": "mse", "s": "mae"}}, 8.11438),
        ("3.15.0", {"loss": {"r": "mse", "s": "mae"}}, 17.79964),
    ],
)
def test_what_a_name_means_is_said_by_the_version_of_a_file(version, training, expected, tmp_path):
    path = tmp_path / "model.h5"
    model_of(loss="mse").save(path)
    with h5py.File(path, "r+") as file:
        for group in (file, file["model_weights"]):
            group.attrs["keras_version"] = version.encode()
        told = json.loads(file.attrs["training_config"])
        file.attrs["training_config"] = json.dumps({**told, **training}).encode()
    model = load_model(path)
    targets = dict(zip(("r", "r_1", "r_2", "s"), Y, strict=True))
    found = model.evaluate(X, [targets[name.removesuffix("_loss")] for name in model.metrics_names[1:]], verbose=0)
    assert found[0] == pytest.approx(expected, abs=2e-5)
