"""Train a small network on 1,797 scanned digits, save it, load it, and load a file that Keras 2.2.4 wrote.

Exits with a message and status 1 if a number is not what it should be, so it is also a test of the whole package.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from sklearn.datasets import load_digits

from torchkeras.layers import Activation, Conv2D, Dense, Dropout, Flatten, Input, MaxPooling2D
from torchkeras.models import Model, load_model

GOLDEN = Path(__file__).parents[1] / "tests" / "golden" / "keras-2.2.4-tensorflow" / "model_resnet_block"
LEAST_ACCURACY = 0.98
LARGEST_DIFFERENCE = 1e-4


def digits() -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Training and held-out (images, labels), images as (samples, 8, 8, 1) in 0..1; every fifth scan is held out."""
    scans = load_digits()
    images = (scans.images / 16).astype("float32")[..., np.newaxis]
    held_out = np.arange(len(images)) % 5 == 0
    return (images[~held_out], scans.target[~held_out]), (images[held_out], scans.target[held_out])


def network() -> Model:
    image = Input((8, 8, 1))
    hidden = Conv2D(48, 3, padding="same", activation="relu")(image)
    hidden = Conv2D(48, 3, padding="same", activation="relu")(hidden)
    hidden = Dropout(0.25)(MaxPooling2D()(hidden))
    hidden = Conv2D(96, 3, padding="same", activation="relu")(hidden)
    hidden = Dropout(0.25)(MaxPooling2D()(hidden))
    hidden = Dense(128, activation="relu")(Flatten()(hidden))
    hidden = Dense(10)(Dropout(0.5)(hidden))
    return Model(image, Activation("softmax")(hidden))


def require(holds: bool, otherwise: str) -> None:
    if not holds:
        sys.exit(f"demo: {otherwise}")


def train(epochs: int) -> tuple[Model, np.ndarray]:
    """A network trained on four fifths of the digits, and the held-out images; it must get 98 % of them right."""
    training, held_out = digits()
    model = network()
    model.summary()
    print("\nprint(model.code) shows the forward that was generated from this graph.\n")

    model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    started = time.perf_counter()
    model.fit(*training, batch_size=64, epochs=epochs, validation_data=held_out, verbose=2)
    seconds = time.perf_counter() - started

    _, accuracy = model.evaluate(*held_out, verbose=0)
    print(f"\n{accuracy:.2%} of {len(held_out[0])} held-out digits are right after {seconds:.0f} s of training.")
    require(accuracy >= LEAST_ACCURACY, f"accuracy {accuracy:.2%} is below {LEAST_ACCURACY:.0%}.")
    return model, held_out[0]


def save_and_load(model: Model, images: np.ndarray, path: Path) -> None:
    model.save(str(path))
    difference = np.abs(load_model(str(path)).predict(images) - model.predict(images)).max()
    print(f"Saved as {path} and loaded: predictions differ by {difference:.1e} at most.")
    require(difference == 0, "the loaded model does not predict what the saved one did.")


def load_keras_2_2_4() -> None:
    arrays = np.load(GOLDEN / "io.npz")
    difference = np.abs(load_model(str(GOLDEN / "model.h5")).predict(arrays["x0"]) - arrays["y0"]).max()
    print(f"A residual network that Keras 2.2.4 saved: outputs differ from Keras's own by {difference:.1e} at most.")
    require(difference < LARGEST_DIFFERENCE, f"that is more than {LARGEST_DIFFERENCE:.0e}.")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    options.add_argument("--out", type=Path, help="the folder that keeps digits.h5 (a temporary one otherwise)")
    options.add_argument("--epochs", type=int, default=24)
    options.add_argument("--seed", type=int, default=0)
    chosen = options.parse_args()

    torch.manual_seed(chosen.seed)
    model, images = train(chosen.epochs)
    with tempfile.TemporaryDirectory() as temporary:
        folder = chosen.out or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        save_and_load(model, images, folder / "digits.h5")
    load_keras_2_2_4()


if __name__ == "__main__":
    main()
