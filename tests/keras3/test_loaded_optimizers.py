"""The optimizer of a loaded model is of the dialect's class."""

from pathlib import Path

import numpy as np
import pytest

import torchkeras.keras3 as keras

ROWS, TARGETS = np.ones((4, 3), "float32"), np.ones((4, 2), "float32")


def test_weights_without_decay_leave_the_optimizer_of_the_dialect(tmp_path: Path) -> None:
    optimizer = keras.optimizers.AdamW(keras.optimizers.schedules.CosineDecay(1e-3, 20), weight_decay=0.01, clipnorm=1)
    optimizer.exclude_from_weight_decay(var_names=["bias"])
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    model.compile(optimizer, "mse")
    model.fit(ROWS, TARGETS, verbose=0)
    # Genuine Keras 3 forgets in its file which weights have no decay.
    with pytest.warns(UserWarning, match="no_weight_decay has no form in Keras 3"):
        model.save(tmp_path / "model.keras")
    again = keras.models.load_model(tmp_path / "model.keras")
    assert type(again.optimizer) is keras.optimizers.AdamW
    assert again.optimizer.get_config()["learning_rate"]["class_name"] == "CosineDecay"
    assert (again.optimizer.get_config()["clipnorm"], int(again.optimizer.iterations)) == (1, 1)
    for each in (model, again):  # the loaded model trains on as the saved one does
        each.fit(ROWS, TARGETS, epochs=2, verbose=0)
    for value, expected in zip(again.get_weights(), model.get_weights(), strict=True):
        np.testing.assert_array_equal(value, expected)
