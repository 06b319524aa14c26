"""Losses of masked outputs: Keras 2.3 and tf.keras up to 2.10 divide by all steps, later versions by the unmasked.

The files are made by `scripts/golden_masked_outputs.py` under the genuine versions.
"""

from pathlib import Path

import h5py
import numpy as np
import pytest
import torch

from torchkeras import losses
from torchkeras.layers import Masking
from torchkeras.models import Sequential, load_model

GOLDEN = Path(__file__).parents[1] / "golden" / "masked-outputs"
FILES = sorted(path for path in GOLDEN.iterdir() if path.suffix != ".npz")
# Keras 3 has weights of steps without a sample_weight_mode, which is asked for here.
UNWEIGHTED = ("3-two", "3-sum")


def batch_of(path, model):
    with np.load(path.with_suffix(".npz")) as stored:
        numbers = dict(stored)
    y, w = ([numbers[f"{key}{place}"] for place, _ in enumerate(model.outputs)] for key in "yw")
    return numbers, (numbers["x"], *((y, w) if len(y) > 1 else (y[0], w[0])))


def same(path, model):
    """Compare what a model reports and learns with what its file's writer did."""
    numbers, (x, y, w) = batch_of(path, model)
    start = model.get_weights()
    weighted = {} if path.stem in UNWEIGHTED else {"sample_weight": w}
    for named, trained, given in (("plain", "trained", {}), ("weighted", "trained_weighted", weighted)):
        if given is weighted and not weighted:
            continue
        reported = np.ravel(model.evaluate(x, y, batch_size=3, verbose=0, **given))
        # Keras 3 reports weighted metrics first.
        np.testing.assert_allclose(np.sort(reported), np.sort(numbers[named]), rtol=1e-5)
        assert reported[0] == pytest.approx(numbers[named][0], rel=1e-5)
        model.set_weights(start)
        model.fit(x, y, batch_size=3, shuffle=False, verbose=0, **given)
        for place, weight in enumerate(model.get_weights()):
            np.testing.assert_allclose(weight, numbers[f"{trained}{place}"], atol=1e-6)
        model.set_weights(start)


def test_all_files_are_there():
    assert [path.stem for path in FILES] == [
        *(
            "1.12-named",
            "1.12-squared",
            "1.13-named",
            "1.13-squared",
            "1.14-mse",
            "1.14-sum",
            "1.14-temporal",
            "1.14-two",
        ),
        *("2.10-mse", "2.10-two", "2.15-mse", "2.15-two"),
        *("2.3-mse", "2.3-named", "2.3-sum", "2.3-temporal", "2.3-two", "3-sum", "3-two"),
    ]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_reports_and_trains_as_its_version(path):
    same(path, load_model(path))


@pytest.mark.parametrize("suffix", [".h5", ".keras", ".pt"])
@pytest.mark.parametrize("stem", ["1.14-two", "2.10-mse", "2.15-mse", "2.3-mse"])
@pytest.mark.filterwarnings("ignore")
def test_own_files_of_such_a_model_keep_it(stem, suffix, tmp_path):
    path = GOLDEN / f"{stem}.h5"
    load_model(path).save(tmp_path / f"m{suffix}")
    same(path, load_model(tmp_path / f"m{suffix}"))


def test_before_1_9_losses_were_functions_with_the_weighted_mean_of_keras(tmp_path):
    """Their weights of 0 are left out, and others are not divided by their mean."""
    path = tmp_path / "m.h5"
    path.write_bytes((GOLDEN / "1.12-named.h5").read_bytes())
    with h5py.File(path, "r+") as file:
        file.attrs["keras_version"] = "2.1.5-tf"
    model = load_model(path)
    _, (x, y, w) = batch_of(GOLDEN / "1.12-named.h5", model)
    counted = np.any(x, axis=-1)
    errors = np.abs(model.predict(x) - y)[..., 0] * counted / counted.mean()
    expected = (errors.mean(-1) * w).mean() / (np.count_nonzero(w) / len(w))
    assert model.evaluate(x, y, sample_weight=w, verbose=0)[0] == pytest.approx(expected, rel=1e-5)


X = np.array([[[1.0], [2.0], [0.0], [0.0]], [[1.0], [1.0], [3.0], [0.0]]], "float32")
ERRORS = 1 + 4 + 1 + 1 + 9  # of the five unmasked steps, for targets of 0


class Own(losses.Loss):
    def call(self, y_true, y_pred):
        return ((y_true - y_pred) ** 2).mean(-1)


@pytest.mark.parametrize(
    "loss", ["mse", losses.MeanSquaredError(), Own(), torch.nn.MSELoss(reduction="none")], ids=lambda each: str(each)
)
@pytest.mark.parametrize(("numerics", "steps"), [(None, 5), ("keras", 5), ("tensorflow", 5), ("tensorflow-2.10", 8)])
def test_the_option_says_by_which_steps_a_loss_divides(loss, numerics, steps):
    model = Sequential([Masking(input_shape=(4, 1))])
    model.compile("sgd", loss, metrics=["mse"], numerics=numerics)
    loss, metric = model.evaluate(X, np.zeros_like(X), verbose=0)
    assert loss == pytest.approx(ERRORS / steps)
    assert metric == pytest.approx(ERRORS / 5)


def test_a_class_that_a_loss_ignores_is_left_out_of_all_steps():
    """What the loss itself leaves out is no mask of the output: its mean is over the rest."""
    model = Sequential([Masking(input_shape=(4, 2))])
    x = np.concatenate([X, 1 - X], -1) * (X != 0)
    loss = losses.SparseCategoricalCrossentropy(from_logits=True, ignore_class=1)
    labels = np.array([[[0], [1], [0], [0]], [[0], [0], [0], [1]]])
    model.compile("sgd", loss, numerics="tensorflow-2.10")
    each = torch.nn.functional.cross_entropy(
        torch.tensor(x).flatten(0, 1), torch.tensor(labels).flatten(), reduction="none"
    ).reshape(2, 4)
    counted = torch.tensor((X != 0) & (labels == 0))[..., 0]
    expected = each[counted].sum() / (labels == 0).sum()
    assert model.evaluate(x, labels, verbose=0) == pytest.approx(float(expected))
