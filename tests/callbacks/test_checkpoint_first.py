"""ModelCheckpoint says before the first epoch that it will not be able to save, and writes nothing to find out."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from torchkeras.callbacks import ModelCheckpoint
from torchkeras.layers import LSTM, Dense, Input, Lambda
from torchkeras.models import Model, Sequential, load_model

X, Y = np.ones((4, 3), "float32"), np.ones((4, 2), "float32")


def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2


class Plain(Model):
    def __init__(self) -> None:
        super().__init__()
        self.dense = Dense(2)
        self.build((None, 3))

    def call(self, inputs: Any) -> Any:
        return self.dense(inputs)


def of_two_models() -> Model:
    i, j, dense = Input((3,)), Input((3,)), Dense(3)
    return Model(i, Dense(2)(Model(j, dense(j))(dense(i))))


def complex_weight() -> Model:
    model = Sequential([Dense(2, input_shape=(3,))])
    model.register_buffer("phase", torch.zeros(2, dtype=torch.complex64))
    return model


def fitted(model: Model, path: Path, **options: Any) -> list[int]:
    """The epochs that began."""
    began: list[int] = []
    model.compile("sgd", "mse")
    checkpoint = ModelCheckpoint(path, **options)
    noted = type("Noted", (ModelCheckpoint,), {"on_epoch_begin": lambda self, epoch, logs=None: began.append(epoch)})
    try:
        model.fit(
            X, Y, epochs=1, verbose=0, callbacks=[checkpoint, noted(path.parent / "w.h5", save_weights_only=True)]
        )
    finally:
        assert path.exists() or not list(path.parent.iterdir())
    return began


CASES: dict[str, tuple[Callable[[], Model], str, str]] = {
    "a complex buffer in .keras": (complex_weight, "m.keras", "A file that ends in .safetensors can hold it."),
    "a complex buffer": (complex_weight, "m.h5", "A file that ends in .safetensors can hold it."),
    "no config": (Plain, "m.keras", "Its weights can be saved: save_weights_only=True."),
}


@pytest.mark.parametrize("name", CASES)
def test_a_model_without_a_form_in_the_format(name: str, tmp_path: Path):
    make, file, text = CASES[name]
    with pytest.raises(ValueError, match="before the first epoch") as caught:
        fitted(make(), tmp_path / file)
    assert str(caught.value).startswith("ModelCheckpoint: save will fail, so it is said before the first epoch: ")
    assert str(caught.value).endswith(text)
    assert list(tmp_path.iterdir()) == []


def test_what_can_be_saved_is(tmp_path: Path):
    fitted(Plain(), tmp_path / "m.weights.h5", save_weights_only=True)
    i = Input((3,))
    fitted(Model(i, Dense(2)(torch.relu(i))), tmp_path / "m.keras")
    fitted(Model(i, Dense(2)(Lambda(twice)(i))), tmp_path / "l.keras")
    with pytest.warns(UserWarning, match="Keras 3 refuses it"):
        fitted(of_two_models(), tmp_path / "two.keras")
    assert load_model(tmp_path / "m.keras").predict(X).shape == (4, 2)


def test_a_default_lstm_is_saved(tmp_path: Path):
    model = Sequential([LSTM(2, input_shape=(5, 3))])
    model.compile("rmsprop", "mse")
    x = np.ones((4, 5, 3), "float32")
    with pytest.warns(UserWarning, match=r"Keras 3 refuses it: LSTM .* The optimizer RMSprop"):
        model.fit(x, Y, epochs=1, verbose=0, callbacks=[ModelCheckpoint(tmp_path / "m.keras")])
    np.testing.assert_array_equal(load_model(tmp_path / "m.keras").predict(x), model.predict(x))


def begin(path: Path) -> None:
    ModelCheckpoint(path).on_train_begin()


def test_a_file_in_place_of_a_folder(tmp_path: Path):
    (tmp_path / "f").write_text("")
    with pytest.raises(NotADirectoryError) as caught:
        begin(tmp_path / "f" / "m.h5")
    assert caught.value.filename == str(tmp_path / "f" / "m.h5")


def test_a_folder_in_place_of_the_file(tmp_path: Path):
    (tmp_path / "m.h5").mkdir()
    with pytest.raises(IsADirectoryError) as caught:
        begin(tmp_path / "m.h5")
    assert caught.value.filename == str(tmp_path / "m.h5")


def test_a_folder_without_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(PermissionError) as caught:
        begin(tmp_path / "new" / "m.h5")
    assert caught.value.filename == str(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_missing_folders_are_made_when_the_file_is_written(tmp_path: Path):
    begin(tmp_path / "a" / "b" / "m-{epoch:02d}-{val_loss:.2f}.h5")
    assert list(tmp_path.iterdir()) == []
