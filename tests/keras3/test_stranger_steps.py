"""What a step of one's own reports where genuine Keras 3.15 reports 0 for a loss that nobody counted."""

from typing import Any

import numpy as np
import torch

import torchkeras.keras3 as keras

ROWS = np.linspace(-1, 1, 40).reshape(10, 4).astype("float32")
TARGETS = ROWS.sum(1, keepdims=True).astype("float32")


class LossAlone(keras.Model):
    def train_step(self, data: Any) -> dict[str, Any]:
        x, y = data[:2]
        loss = torch.mean(torch.square(self(x, training=True) - y))
        self.minimize(loss, len(x))
        self.losses_seen.append(float(loss.detach()))
        return {"loss": loss}

    losses_seen: list[float]


def _model() -> LossAlone:
    inputs = keras.Input((4,))
    model = LossAlone(inputs, keras.layers.Dense(1, kernel_initializer="ones")(inputs))
    model.losses_seen = []
    model.compile(optimizer="sgd", loss="mse")
    return model


def test_a_loss_that_no_metric_counts_is_that_of_the_last_batch():
    # Genuine Keras 3.15 gives the result of its loss tracker, 0.0, where the names of the two are the same.
    model = _model()
    history = model.fit(ROWS, 2 * TARGETS, batch_size=4, epochs=2, shuffle=False, verbose=0).history  # type: ignore[arg-type]
    np.testing.assert_allclose(history["loss"], model.losses_seen[2::3], rtol=1e-6)


def test_an_evaluation_without_a_step_of_ones_own_has_its_mean_loss():
    model = _model()
    expected = float(np.mean(np.square(model.predict(ROWS, verbose=0) - 2 * TARGETS)))
    np.testing.assert_allclose(model.evaluate(ROWS, 2 * TARGETS, batch_size=4, verbose=0), expected, rtol=1e-5)
