"""Options of optimizers between our words and those of tf.keras and Keras 3; what only our own files have room for."""

import io
import re
import zipfile
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from torchkeras import clear_session, optimizers
from torchkeras.layers import Dense
from torchkeras.models import Sequential, load_model
from torchkeras.optimizers import SGD, Adagrad, Adam, AdamW, Nadam, RMSprop, schedules
from torchkeras.saving.optimizer.options import TF_KERAS_NADAM, from_keras3, to_keras3
from torchkeras.saving.optimizer.state import state_arrays

X, Y = np.random.default_rng(0).normal(size=(2, 6, 3)).astype("float32")


def of_keras3(kind: str, /, **options: Any) -> dict[str, Any]:
    return from_keras3({"class_name": kind, "config": options}, True)["config"]


def test_words_of_keras_3():
    assert of_keras3("SGD", clipnorm=1.0, global_clipnorm=None, use_ema=False, ema_momentum=0.9) == {
        "each_clipnorm": 1.0
    }
    assert of_keras3("Adam", global_clipnorm=1.0, weight_decay=0.1, name="adam") == {
        "clipnorm": 1.0,
        "weight_decay": 0.1,
    }
    assert of_keras3("RMSprop", momentum=0.0) == {"momentum": 0.0, "epsilon_inside_root": True}
    assert of_keras3("Adagrad") == {"epsilon_inside_root": True}
    assert of_keras3("Nadam") == {"schedule_decay": 1.0}
    assert of_keras3("AdamW", weight_decay=False) == {"weight_decay": 0.0}


def test_words_of_tf_keras_up_to_2_10():
    assert of_keras3("RMSprop", decay=0.0, momentum=0.0) == {
        "decay": 0.0,
        "momentum": 0.0,
        "epsilon_inside_root": False,
    }
    assert of_keras3("RMSprop", decay=0.0, momentum=0.5)["epsilon_inside_root"] is True
    assert of_keras3("Adagrad", decay=0.5) == {"decay": 0.5, "epsilon_inside_root": False}
    assert of_keras3("Nadam", decay=0.01) == {"schedule_decay": 0.01}
    assert of_keras3("Ftrl", decay=0.0) == {}


def inverse(**options: Any) -> dict[str, Any]:
    told = {"initial_learning_rate": 0.1, "decay_steps": 1, "decay_rate": 0.5, "staircase": False, **options}
    return {"class_name": "InverseTimeDecay", "config": told}


def test_a_schedule_that_is_decay_becomes_it():
    assert of_keras3("SGD", learning_rate=inverse()) == {"learning_rate": 0.1, "decay": 0.5}
    assert of_keras3("SGD", learning_rate=inverse(decay_steps=3))["learning_rate"]["class_name"] == "InverseTimeDecay"
    assert "decay" not in of_keras3("Lion", learning_rate=inverse())
    accumulated = of_keras3("SGD", learning_rate=inverse(decay_steps=2, staircase=True), gradient_accumulation_steps=2)
    assert accumulated == {"learning_rate": 0.1, "decay": 0.5, "gradient_accumulation_steps": 2}
    assert to_keras3(SGD(0.1, decay=0.5, gradient_accumulation_steps=2))[1]["learning_rate"]["config"] == {
        "initial_learning_rate": 0.1,
        "decay_steps": 2,
        "decay_rate": 0.5,
        "staircase": True,
    }


def test_a_factor_of_the_loss_changes_nothing():
    """Keras divides the gradients by it again."""
    assert of_keras3("SGD", loss_scale_factor=4.0) == of_keras3("SGD")


def test_nadam_of_tf_keras_is_warned_of():
    with pytest.warns(UserWarning, match=re.escape(TF_KERAS_NADAM)):
        of_keras3("Nadam", is_legacy_optimizer=False)


@pytest.mark.parametrize(
    ("config", "text"),
    [
        ({"class_name": "SGD"}, "the optimizer SGD has no options"),
        (
            {"class_name": "Ftrl", "config": {"decay": 0.1}},
            "the optimizer Ftrl has decay, which torchkeras's does not have",
        ),
        (
            {"class_name": "SGD", "config": {"learning_rate": {"class_name": "Mine"}}},
            "the learning rate of SGD is the schedule Mine, which has no options",
        ),
    ],
)
def test_what_is_not_ours_is_refused(config: dict[str, Any], text: str):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        from_keras3(config, True)
    assert str(caught.value) == text


class Mine(schedules.LearningRateSchedule):
    def __call__(self, step: int) -> float:
        return 0.1

    def get_config(self) -> dict[str, Any]:
        return {}


class Own(SGD):
    pass


@pytest.mark.parametrize(
    ("optimizer", "text"),
    [
        (Own(), "The optimizer Own has no form in Keras 3."),
        (
            Adagrad(),
            (
                "The optimizer Adagrad has no form in Keras 3, which adds epsilon under the root: save with "
                "include_optimizer=False."
            ),
        ),
        (Nadam(), "Nadam: schedule_decay 0.004 has no form in Keras 3, where it is 1."),
        (SGD(lr_multipliers={"a": 0.5}), "SGD: lr_multipliers has no form in Keras 3."),
        (
            AdamW(no_weight_decay=["bias"]),
            "AdamW: no_weight_decay has no form in Keras 3, whose files leave it out.",
        ),
        (
            SGD(each_clipnorm=0.5, clipvalue=1.0),
            "SGD: each_clipnorm 0.5 together with clipvalue has no form in Keras 3, which takes one of them.",
        ),
        (SGD(Mine()), "SGD: the schedule Mine has no form in Keras 3."),
        (SGD(schedules.CosineDecay(0.1, 9), decay=0.1), "SGD: decay together with a schedule has no form in Keras 3."),
    ],
)
def test_what_keras_3_has_not_is_refused(optimizer: Any, text: str):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        to_keras3(optimizer)
    assert str(caught.value) == text


IF_FROZEN = "If weights were frozen after compile, or train again, a file has the state of those that trained before."

# --- our own files ---------------------------------------------------------------------------------------------------

OPTIMIZERS: dict[str, Any] = {
    "averages": lambda: Adam(0.05, use_ema=True, ema_momentum=0.5, ema_overwrite_frequency=2),
    "accumulated": lambda: SGD(0.1, 0.5, gradient_accumulation_steps=2),
    "uneven": lambda: RMSprop(0.01, decay=0.1, momentum=0.5, gradient_accumulation_steps=4, epsilon_inside_root=True),
    "schedule": lambda: RMSprop(schedules.CosineDecay(0.1, 9), centered=True, epsilon_inside_root=True),
    "adagrad": lambda: Adagrad(0.1, epsilon_inside_root=True, initial_accumulator_value=0.1, decay=0.5),
    "nadam": lambda: Nadam(0.05, schedule_decay=1.0),
    "muon": lambda: optimizers.Muon(0.05, exclude_layers=["dense_2"]),
    "adafactor": lambda: optimizers.Adafactor(0.05),
    "lamb": lambda: optimizers.Lamb(0.05, each_clipnorm=0.1),
    "ftrl": lambda: optimizers.Ftrl(0.05),
    "lion": lambda: optimizers.Lion(0.05, weight_decay=0.1),
}


def trained(optimizer: Any) -> Sequential:
    clear_session()
    model = Sequential([Dense(4, activation="tanh", input_shape=(3,)), Dense(3)])
    model.compile(optimizer, "mse")
    for _ in range(3):
        model.train_on_batch(X, Y)
    return model


@pytest.mark.parametrize("suffix", [".h5", ".keras"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training_goes_on(name: str, suffix: str, tmp_path: Path):
    model = trained(OPTIMIZERS[name]())
    model.save(tmp_path / f"model{suffix}")
    again = load_model(tmp_path / f"model{suffix}")
    if suffix == ".h5":
        assert again.optimizer.get_config() == model.optimizer.get_config()
    ours, theirs = ([m.train_on_batch(X, Y) for _ in range(5)] for m in (model, again))
    assert theirs == pytest.approx(ours, rel=1e-5)
    assert again.optimizer.iterations == model.optimizer.iterations


def test_keras_2_reads_what_it_has():
    names = [f"training/weight_{k}:0" for k in range(5)]
    assert [name for name, _ in state_arrays(trained(SGD(0.1, 0.5)).optimizer)] == names
    assert [name for name, _ in state_arrays(trained(RMSprop(decay=0.1)).optimizer)] == names[:4]


def test_a_state_of_another_number_is_warned_of(tmp_path: Path):
    model = trained(optimizers.Lamb())
    model.save(tmp_path / "model.h5")
    with h5py.File(tmp_path / "model.h5", "r+") as file:
        attributes = file["optimizer_weights"].attrs
        attributes["weight_names"] = np.asarray(attributes["weight_names"])[:-1]
    with pytest.warns(UserWarning, match="begins without") as caught:
        loaded = load_model(tmp_path / "model.h5")
    assert [str(warning.message).replace(f"{tmp_path}/", "") for warning in caught] == [
        (
            "model.h5: the state of its optimizer is not taken, and Lamb begins without: the file has 8 arrays, which "
            f"are not those of the 4 weights that train. {IF_FROZEN}"
        )
    ]
    assert caught[0].filename == __file__
    assert loaded.optimizer.iterations == 0
    assert not any(array.any() for array in loaded.optimizer.get_weights())


@pytest.mark.parametrize("kind", [RMSprop, Adagrad, optimizers.Adadelta])
def test_steps_that_keras_2_has_no_place_for_are_where_it_does_not_look(kind: Any, tmp_path: Path):
    """Genuine 2.2.4 reads `weight_names` of `optimizer_weights`, and sets the state from these arrays alone."""
    trained(kind(decay=0.1)).save(tmp_path / "model.h5")
    with h5py.File(tmp_path / "model.h5") as file:
        group: Any = file["optimizer_weights"]
        keras, own = group.attrs["weight_names"], group["torchkeras"].attrs["weight_names"]
        assert [name.decode() for name in keras] == [f"training/weight_{k}:0" for k in range(len(keras))]
        assert len(keras) == 4 * len(kind().moment_names)
        assert list(own) == [b"iterations"]
        assert group["torchkeras/iterations"][()] == 3


def test_own_arrays_among_those_of_keras_2_are_read(tmp_path: Path):
    """As version 1 wrote them."""
    model = trained(RMSprop(decay=0.1, momentum=0.5))
    model.save(tmp_path / "model.h5")
    with h5py.File(tmp_path / "model.h5", "r+") as file:
        group: Any = file["optimizer_weights"]
        del group["torchkeras"].attrs["weight_names"]
        group.attrs["weight_names"] = [*group.attrs["weight_names"], b"torchkeras/iterations"]
    assert load_model(tmp_path / "model.h5").optimizer.iterations == 3


FROZEN = Path(__file__).parents[1] / "golden" / "frozen-after-compile"


@pytest.mark.parametrize("name", ["tf.h5", "tf.keras", "k3.h5"])
def test_a_model_frozen_after_compile(name: str):
    """Genuine Keras loads these too, and its optimizer has no state of the weights."""
    clear_session()
    record = np.load(FROZEN / f"{name[:2]}_io.npz")
    with pytest.warns(UserWarning, match="begins without") as caught:
        model = load_model(FROZEN / name)
    assert [str(warning.message).replace(f"{FROZEN}/", "") for warning in caught] == [
        (
            f"{name}: the state of its optimizer is not taken, and Adam begins without: the file has 9 arrays, which "
            "are not those of the 0 weights that train, all but dense/kernel:0, dense/bias:0, dense_1/kernel:0, "
            f"dense_1/bias:0. {IF_FROZEN}"
        )
    ]
    np.testing.assert_allclose(model.predict(record["x0"], verbose=0), record["y0"], atol=1e-6)
    assert (model.trainable_weights, model.optimizer.iterations) == ([], 0)


def test_keras_2_2_4_writes_that_all_weights_train():
    """It writes `trainable` of layers, not of the model: all train, in genuine 2.2.4 too, and have their state."""
    clear_session()
    model = load_model(FROZEN / "k2.h5")
    assert (len(model.trainable_weights), model.optimizer.iterations) == (4, 1)


@pytest.mark.parametrize("suffix", [".h5", ".keras"])
@pytest.mark.parametrize(("at_compile", "afterwards"), [((0,), ()), ((), (0,)), ((0,), (2,))])
def test_some_weights_are_frozen_and_others_train_again(at_compile: Any, afterwards: Any, suffix: str, tmp_path: Path):
    """Numbers of weights, and shapes where the numbers are equal, say that the state is of others."""
    clear_session()
    model = Sequential([Dense(4, input_shape=(3,)), Dense(5), Dense(3)])
    for k in at_compile:
        model.layers[k].trainable = False
    model.compile(optimizers.Adam(0.05), "mse")
    model.train_on_batch(X, Y)
    model.save(tmp_path / f"then{suffix}")
    for k, layer in enumerate(model.layers):
        layer.trainable = k not in afterwards
    model.compile(optimizers.Adam(0.05), "mse")
    model.save(tmp_path / f"now{suffix}")
    exchange_state(tmp_path / f"then{suffix}", tmp_path / f"now{suffix}")
    with pytest.warns(UserWarning, match="the state of its optimizer is not taken, and Adam begins without"):
        loaded = load_model(tmp_path / f"now{suffix}")
    assert loaded.optimizer.iterations == 0
    assert not any(array.any() for array in loaded.optimizer.get_weights())
    loaded.train_on_batch(X, Y)


def exchange_state(of: Path, to: Path) -> None:
    """Put the optimizer's state of one file into another, as Keras would have written it."""
    if to.suffix == ".h5":
        with h5py.File(of) as source, h5py.File(to, "r+") as target:
            target.pop("optimizer_weights", None)
            source.copy("optimizer_weights", target)
        return
    parts: dict[str, dict[str, bytes]] = {}
    for path in (of, to):
        with zipfile.ZipFile(path) as archive:
            parts[path.name] = {name: archive.read(name) for name in archive.namelist()}
    weights = io.BytesIO(parts[to.name]["model.weights.h5"])
    with h5py.File(io.BytesIO(parts[of.name]["model.weights.h5"])) as source, h5py.File(weights, "r+") as target:
        del target["optimizer"]
        source.copy("optimizer", target)
    with zipfile.ZipFile(to, "w") as archive:
        for name, content in {**parts[to.name], "model.weights.h5": weights.getvalue()}.items():
            archive.writestr(name, content)
