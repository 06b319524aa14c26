"""How files say that a model was compiled: losses and metrics that are classes, and what cannot be said."""

import json
import re
import warnings
import zipfile
from collections.abc import Callable
from typing import Any

import h5py
import numpy as np
import pytest
import torch

import torchkeras
from torchkeras import losses, metrics, optimizers, registry
from torchkeras.errors import ArchitectureError
from torchkeras.layers import Dense, Input, SimpleRNN
from torchkeras.models import Model, Sequential, load_model
from torchkeras.saving.dialects import keras1
from torchkeras.saving.dialects.compile_config import modern_training
from torchkeras.saving.dialects.modern import KERAS2

X = np.linspace(-1, 1, 24, dtype="float32").reshape(6, 4)
BITS = (X[:, :3] > 0.3).astype("float32")
WEIGHTS = np.array([0, 1, 2, 0.5, 0, 3], "float32")


@pytest.fixture(autouse=True)
def _apart(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    torchkeras.clear_session()


def make(**options: Any) -> Model:
    model = Sequential([Dense(3, activation="sigmoid", input_shape=(4,))])
    model.compile(optimizers.SGD(0.1), **options)
    return model


def warned(model: Model, path: str) -> list[str]:
    """What is warned of when a model is saved."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model.save(path)
    return [str(each.message) for each in told]


def own_loss(y_true: torch.Tensor, y_pred: torch.Tensor) -> torch.Tensor:
    return (y_true - y_pred).abs().mean(-1)


class OwnLoss(losses.Loss):
    def __init__(self, factor: float = 1.0, **options: Any):
        super().__init__(**options)
        self.factor = factor

    def call(self, y_true: torch.Tensor, y_pred: torch.Tensor) -> torch.Tensor:
        return self.factor * (y_true - y_pred).abs().mean(-1)


class OwnMetric(metrics.Mean):
    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:  # type: ignore[override]
        super().update_state((y_true - y_pred).abs().mean(-1), sample_weight)


OWN = {"own_loss": own_loss, "OwnLoss": OwnLoss, "OwnMetric": OwnMetric}
NAMED = {"loss": "binary_crossentropy", "metrics": ["accuracy", "ce", "mae"], "weighted_metrics": ["mse"]}
PLAIN = {"loss": losses.MeanSquaredError(), "metrics": [metrics.BinaryAccuracy(name="hits"), "mae"]}
OPTIONS = {
    "loss": losses.BinaryCrossentropy(label_smoothing=0.1, reduction="sum"),
    "metrics": [metrics.AUC(num_thresholds=20), metrics.F1Score("macro"), metrics.OneHotMeanIoU(3)],
    "weighted_metrics": [metrics.Precision(top_k=2), metrics.MeanMetricWrapper(losses.dice, "dice", axis=1)],
    "on_nonfinite": "skip",
}
OF_USER = {"loss": OwnLoss(2.0), "metrics": [own_loss, OwnMetric("own"), losses.huber]}
WRAPPED = {"loss": losses.LossFunctionWrapper(own_loss), "metrics": [metrics.MeanMetricWrapper(own_loss)]}


@pytest.mark.filterwarnings("ignore:.*Keras 2.2.4 has no")
@pytest.mark.parametrize("suffix", [".h5", ".keras"])
@pytest.mark.parametrize(
    "options", [NAMED, PLAIN, OPTIONS, OF_USER, WRAPPED], ids=lambda found: str(found["loss"])[:20]
)
def test_a_model_comes_back_compiled_as_it_was(options, suffix):
    model = make(**options)
    model.train_on_batch(X, BITS, sample_weight=WEIGHTS)
    model.save(f"m{suffix}")
    again = load_model(f"m{suffix}", custom_objects=OWN)
    assert type(again.loss) is type(model.loss)
    assert again.on_nonfinite == model.on_nonfinite
    for one in (model, again):
        one.reset_metrics()
    for step in ("evaluate", "train_on_batch", "test_on_batch"):
        found = [
            getattr(one, step)(
                X, BITS, sample_weight=WEIGHTS, return_dict=True, **{"verbose": 0} if step[0] == "e" else {}
            )
            for one in (model, again)
        ]
        assert found[0] == found[1]


def test_classes_are_found_when_they_are_registered():
    with registry.custom_object_scope(OWN):
        make(**OF_USER).save("m.keras")
        assert load_model("m.keras").loss.factor == 2.0


def training_of(path: str) -> Any:
    with h5py.File(path) as file:
        return json.loads(str(file.attrs["training_config"]))


def test_in_an_h5_a_class_is_the_function_of_2_2_4_that_it_computes():
    make(**PLAIN).save("m.h5")
    found = training_of("m.h5")
    assert (found["loss"], found["metrics"]) == ("mean_squared_error", ["binary_accuracy", "mae"])
    assert found["torchkeras"]["loss"]["class_name"] == "MeanSquaredError"


def test_what_2_2_4_says_whole_stands_there_once():
    make(loss="mse", metrics=["mae"]).save("m.h5")
    assert "torchkeras" not in training_of("m.h5")


def test_an_h5_with_a_class_that_2_2_4_does_not_have():
    assert warned(make(loss=losses.Huber(delta=2.0), metrics=[metrics.AUC()]), "m.h5") == [
        "m.h5: Keras 2.2.4 has no AUC, Huber, and reads the model with compile=False alone; torchkeras reads all of it."
    ]


@pytest.mark.parametrize("loss", ["huber", "dice", "cosine_similarity", losses.huber])
def test_an_h5_with_a_function_that_2_2_4_does_not_have(loss: Any):
    name = loss if isinstance(loss, str) else loss.__name__
    (text,) = warned(make(loss=loss, metrics=["auc", "acc", "mae"]), "m.h5")
    assert text.startswith(f"m.h5: Keras 2.2.4 has no auc, {name}, and reads the model with compile=False alone;")


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [("bce", "binary_crossentropy"), ("kl_divergence", "kullback_leibler_divergence"), ("log_cosh", "logcosh")],
)
def test_in_an_h5_a_function_has_the_name_of_2_2_4(ours: str, theirs: str):
    assert warned(make(loss=ours, metrics=[ours]), "m.h5") == []
    found = training_of("m.h5")
    assert (found["loss"], found["metrics"]) == (theirs, [theirs])
    assert (load_model("m.h5").loss, load_model("m.h5").metrics) == (ours, [ours])


class OwnDense(losses.Loss):
    def __init__(self, factor: float):
        super().__init__()


def mean_squared_error(y_true: Any, y_pred: Any) -> Any:
    return 2 * losses.mean_squared_error(y_true, y_pred)


@pytest.mark.parametrize("suffix", [".h5", ".keras"])
@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"loss": torch.nn.MSELoss()}, "the loss MSELoss has neither a config nor a name to be written"),
        (
            {"loss": OwnDense(2.0)},
            (
                "the loss OwnDense has no config (OwnDense: the option 'factor' is no attribute of the object: keep it "
                "as `self.factor`, or define get_config.)"
            ),
        ),
        (
            {"loss": mean_squared_error},
            "the loss mean_squared_error has the name of another one, which would be taken for it",
        ),
    ],
)
def test_what_no_file_can_say_is_told(options, text, suffix):
    assert warned(make(**options), f"m{suffix}") == [
        f"m{suffix}: {text}, so the model is saved without: compile it again after loading."
    ]
    assert load_model(f"m{suffix}").optimizer is None


@pytest.mark.parametrize("suffix", [".h5", ".keras", ".safetensors", ".pt"])
def test_what_is_no_part_of_a_file_is_told(suffix):
    model = Sequential([Dense(3, activation="sigmoid", input_shape=(4,))])
    model.add_loss(model.outputs[0])
    model.compile("sgd", "mse", target_tensors=BITS)
    assert sorted(warned(model, f"m{suffix}")) == [
        (
            f"Sequential {model.name!r}: what add_loss and add_metric gave it (1 loss) is not written to a config or "
            "file: add it again to the model that is made from it."
        ),
        f"m{suffix}: target_tensors are not in the file: give them again after loading.",
    ]


# --- Keras 3 ---------------------------------------------------------------------------------------------------------


def compile_config(model: Model) -> Any:
    model.save("c.keras")
    with zipfile.ZipFile("c.keras") as archive:
        return json.loads(archive.read("config.json"))["compile_config"]


def test_classes_in_keras_3s_form():
    found = compile_config(make(loss=losses.Huber(delta=2.0), metrics=[metrics.Recall(name="found")]))
    assert found["loss"] == {
        "module": "keras.losses",
        "class_name": "Huber",
        "config": {"delta": 2.0, "reduction": "sum_over_batch_size", "name": "huber_loss"},
        "registered_name": None,
    }
    assert found["metrics"][0]["module"] == "keras.metrics"


def test_accuracy_that_keras_3_would_choose_otherwise():
    found = compile_config(make(loss="binary_crossentropy", metrics=["accuracy"]))
    assert found["metrics"][0]["class_name"] == "BinaryAccuracy"
    assert found["metrics"][0]["config"]["name"] == "accuracy"
    assert compile_config(make(loss="categorical_crossentropy", metrics=["acc"]))["metrics"] == ["acc"]


def test_metrics_of_several_outputs_are_a_list_each():
    i = Input((4,))
    model = Model(i, [Dense(2, name="a")(i), Dense(3, name="b")(i)])
    model.compile("sgd", "mse", metrics=["mae", "mape"])
    assert compile_config(model)["metrics"] == [["mae", "mape"], ["mae", "mape"]]


def test_functions_of_ones_own_in_keras_3s_form():
    found = compile_config(make(loss=own_loss, metrics=["huber"]))
    assert found["loss"] == {
        "module": "builtins",
        "class_name": "function",
        "config": "own_loss",
        "registered_name": "function",
    }
    assert found["metrics"][0]["config"] == "huber"


def test_a_function_with_options_is_for_this_package_alone():
    model = make(loss=losses.LossFunctionWrapper(own_loss, reduction="sum"))
    with pytest.warns(UserWarning, match=r"compile: the loss 'own_loss' with options has no form in Keras 3\.$"):
        model.save("m.keras")
    loaded = load_model("m.keras", custom_objects={"own_loss": own_loss})
    assert (type(loaded.loss), loaded.loss.get_config()) == (type(model.loss), model.loss.get_config())


# --- what a file may not say -----------------------------------------------------------------------------------------


def changed(suffix: str, change: dict[str, Any], in_own: bool = False) -> str:
    """A file whose training configuration is changed: of Keras 3 unless `.h5`."""
    path = f"m{suffix}"
    make(loss="mse", metrics=["mae"]).save(path)
    if suffix == ".h5":
        with h5py.File(path, "r+") as file:
            training = json.loads(str(file.attrs["training_config"]))
            file.attrs["training_config"] = json.dumps({**training, **change})
        return path
    with zipfile.ZipFile(path) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    config, metadata = json.loads(content["config.json"]), json.loads(content["metadata.json"])
    if in_own:
        metadata["torchkeras"].update(change)
    else:
        del metadata["torchkeras"]
        config["compile_config"].update(change)
    content |= {"config.json": json.dumps(config).encode(), "metadata.json": json.dumps(metadata).encode()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in content.items():
            archive.writestr(name, data)
    return path


def entry(kind: str, /, **options: Any) -> dict[str, Any]:
    return {"class_name": kind, "config": options}


def compiled_by(change: Callable[[dict[str, Any]], Any]) -> str:
    """A file of Keras 3 whose compile_config is changed, or replaced by what `change` gives, after a step by SGD."""
    path = changed(".keras", {})
    with zipfile.ZipFile(path) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    config = json.loads(content["config.json"])
    config["compile_config"] = change(config["compile_config"])
    content["config.json"] = json.dumps(config).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in content.items():
            archive.writestr(name, data)
    return path


@pytest.mark.parametrize("found", [{}, None, []], ids=repr)
def test_an_empty_compile_config_is_that_of_a_model_that_was_not_compiled(found: Any):
    assert load_model(compiled_by(lambda config: found)).optimizer is None


@pytest.mark.parametrize("alone", [False, True])
def test_without_an_optimizer_a_model_is_compiled_with_keras_s_default(alone: bool):
    """Keras 3 hands to `compile` what the file has: 0.992 before a step, and 0.967 after it, for a kernel of ones."""
    model = Sequential([Dense(2, input_shape=(3,), kernel_initializer="ones")])
    model.compile(optimizers.SGD(0.004, momentum=0.9), "mse")
    x, y = np.ones((4, 3)), np.full((4, 2), 2.0)
    model.fit(x, y, verbose=0)
    model.set_weights([np.full((3, 2), 1 - 0.001), np.full(2, -0.001)])  # as after a step by Adam
    model.save("adam.keras")
    with zipfile.ZipFile("adam.keras") as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    config = json.loads(content["config.json"])
    config["compile_config"] = (
        {"loss": "mse"} if alone else {k: v for k, v in config["compile_config"].items() if k != "optimizer"}
    )
    content |= {"config.json": json.dumps(config).encode(), "metadata.json": b'{"keras_version": "3.15.0"}'}
    with zipfile.ZipFile("m.keras", "w") as archive:
        for name, data in content.items():
            archive.writestr(name, data)
    text = "m.keras: its training configuration names no optimizer. As in Keras, the model is compiled with RMSprop, "
    with pytest.warns(UserWarning, match=re.escape(f"{text}which starts anew.")):
        found = load_model("m.keras")
    assert type(found.optimizer).__name__ == "RMSprop"
    assert found.optimizer.iterations == 0
    assert found.evaluate(x, y) == pytest.approx(0.992, abs=1e-4)
    found.train_on_batch(x, y)
    assert found.evaluate(x, y) == pytest.approx(0.967, abs=1e-4)
    assert load_model("m.keras", compile=False).optimizer is None


@pytest.mark.parametrize("optimizer", [None, 3])
def test_an_optimizer_that_is_none(optimizer: Any):
    """Keras 3 and tf.keras cannot load such a file at all."""
    path = compiled_by(lambda config: {**config, "optimizer": optimizer})
    text = f"{path}: its training configuration names no optimizer; load it with compile=False."
    with pytest.raises(ArchitectureError, match=f"^{re.escape(text)}$"):
        load_model(path)
    assert load_model(path, compile=False).optimizer is None


@pytest.mark.parametrize("option", ["metrics", "weighted_metrics", "loss_weights", "steps_per_execution"])
@pytest.mark.parametrize("null", [False, True])
def test_an_option_that_is_missing_or_null(option: str, null: bool):
    given = {option: None} if null else {}
    model = load_model(compiled_by(lambda config: {**{k: v for k, v in config.items() if k != option}, **given}))
    assert model.metrics_names == (["loss"] if option == "metrics" else ["loss", "mae"])


@pytest.mark.parametrize(
    "change",
    [
        {"loss": None},
        {"loss": None, "metrics": None, "loss_weights": None},
        {"loss": {"dense": None}},
        {"loss": [None]},
    ],
    ids=repr,
)
@pytest.mark.parametrize("suffix", [".h5", ".keras"])
def test_a_loss_that_is_null(suffix: str, change: dict[str, Any]):
    """As tf.keras writes it after `model.compile()`. There such a file loads and predicts; fit has no loss."""
    path = changed(suffix, change)
    text = f"{path}: its training configuration names no loss, so the model is not compiled. To train it, call compile "
    with pytest.warns(UserWarning, match=f"^{re.escape(text)}with a loss\\.$"):
        model = load_model(path)
    x = np.random.default_rng(0).normal(size=(3, 4)).astype("float32")
    assert model.optimizer is None
    np.testing.assert_array_equal(model.predict(x), load_model(path, compile=False).predict(x))
    model.compile("sgd", "mse")
    assert len(model.fit(x, np.zeros((3, *model.output_shape[1:])), verbose=0).history["loss"]) == 1


def test_a_loss_that_is_missing():
    path = compiled_by(lambda config: {k: v for k, v in config.items() if k != "loss"})
    with pytest.warns(UserWarning, match="names no loss, so the model is not compiled"):
        assert load_model(path).optimizer is None


def test_a_model_with_a_loss_of_its_own_needs_none_in_the_file():
    i = Input((4,))
    model = Model(i, Dense(3, activity_regularizer="l2")(i))
    model.compile("sgd")
    model.save("m.h5")
    assert type(load_model("m.h5").optimizer).__name__ == "SGD"


AGAIN = "; load it with compile=False and compile it yourself."
WITHOUT = " Load it with compile=False to go without."
REFUSED = {
    "a class of nobody": ({"loss": entry("os.system")}, "'os.system' is not known as a loss function" + AGAIN),
    "a function as a class": ({"loss": entry("mse")}, "mse is not known as a loss or metric" + AGAIN),
    "a name of nobody": ({"loss": "system"}, "'system' is not known as a loss function" + AGAIN),
    "a metric of tf_keras alone": (
        {"metrics": [entry("MeanRelativeError", name="m")]},
        "'MeanRelativeError' is not known as a metric function" + AGAIN,
    ),
    "no options": ({"loss": {"class_name": "Huber"}}, "Huber has no options" + AGAIN),
    "an option of nobody": (
        {"loss": entry("Huber", alpha=1)},
        "Huber: unknown option 'alpha'. Its options are delta, reduction, name, dtype." + WITHOUT,
    ),
    "a huge number": (
        {"loss": entry("SparseCategoricalCrossentropy", ignore_class=2**40)},
        "SparseCategoricalCrossentropy has ignore_class=1099511627776, which is over 2147483648" + AGAIN,
    ),
    "many thresholds": (
        {"metrics": [entry("AUC", num_thresholds=10**9)]},
        "AUC has num_thresholds=1000000000, and would count 1000000000 numbers" + AGAIN,
    ),
    "many classes": (
        {"metrics": [entry("MeanIoU", num_classes=10**5)]},
        "MeanIoU has num_classes=100000, and would count 10000000000 numbers" + AGAIN,
    ),
    "a number of another type": (
        {"loss": entry("Huber", delta="1")},
        "Huber: delta must be a number above 0; found '1'." + WITHOUT,
    ),
    "a number as a metric": ({"metrics": [3]}, "3 is no loss or metric" + AGAIN),
    "a function of options": (
        {"metrics": [entry("MeanMetricWrapper", fn="huber", delta=1.0, cut=2)]},
        "MeanMetricWrapper: huber: got an unexpected keyword argument 'cut'." + WITHOUT,
    ),
    "lists for other outputs": ({"metrics": [["mae"], ["mae"]]}, "metrics has 2 entries, for 1 outputs" + AGAIN),
    "metrics that are a number": ({"metrics": 3}, "metrics must be a list or a dictionary; found 3" + AGAIN),
    "metrics of another output": (
        {"metrics": {"x": ["mae"]}},
        "metrics names the output 'x'; the outputs are dense_1" + AGAIN,
    ),
    "accuracy beside a loss of one's own": (
        {"loss": entry("LossFunctionWrapper", fn="own_loss"), "weighted_metrics": ["accuracy"]},
        "'accuracy' in weighted_metrics depends on the shape of targets, which the loss does not show" + AGAIN,
    ),
}


@pytest.mark.parametrize(("change", "text"), REFUSED.values(), ids=REFUSED)
def test_a_file_of_keras_3_that_is_refused(change, text):
    path = changed(".keras", change)
    with pytest.raises(ArchitectureError, match=f"^{re.escape(path)}: {re.escape(text)}$"):
        load_model(path, custom_objects={"own_loss": own_loss})
    assert load_model(path, compile=False).optimizer is None


OF_OURS = {
    "a class of nobody": (
        {"loss": entry("Sequential", layers=[])},
        "Unknown loss function: 'Sequential'. An object of your own is found when it is passed in `custom_objects` or "
        "put into a CustomObjectScope." + WITHOUT,
    ),
    "a class as a function": (
        {"metrics": [entry("MeanMetricWrapper", fn="AUC")]},
        "'fn' must be the name of a metric function; found 'AUC'." + WITHOUT,
    ),
    "a function that is no name": (
        {"loss": entry("LossFunctionWrapper", fn=3)},
        "3 is no loss or metric" + AGAIN,
    ),
    "many thresholds": (
        {"metrics": [entry("AUC", num_thresholds=10**9)]},
        "AUC has num_thresholds=1000000000, and would count 1000000000 numbers" + AGAIN,
    ),
    "no function": (
        {"loss": entry("LossFunctionWrapper")},
        "'fn' must be the name of a loss function; found None." + WITHOUT,
    ),
    "a policy of nobody": (
        {"on_nonfinite": "explode"},
        "compile: on_nonfinite must be None or 'warn', 'stop', 'skip' or 'raise'; found 'explode'." + WITHOUT,
    ),
}


@pytest.mark.parametrize("suffix", [".h5", ".keras"])
@pytest.mark.parametrize(("change", "text"), OF_OURS.values(), ids=OF_OURS)
def test_a_file_of_ours_that_is_refused(change, text, suffix):
    path = changed(suffix, change, in_own=True)
    with pytest.raises(ArchitectureError, match=f"^{re.escape(path)}: {re.escape(text)}$"):
        load_model(path)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"torchkeras": 3}, "'torchkeras' in its training configuration must be a dictionary; found 3"),
        ({"torchkeras": {"lr": 3}}, "the option 'lr' of compile is not known"),
        ({"steps": 3}, "the option 'steps' of compile is not known"),
    ],
)
def test_an_entry_of_another_form(change, text):
    path = changed(".h5", change)
    with pytest.raises(ArchitectureError, match=f"^{re.escape(path)}: {re.escape(text + AGAIN)}$"):
        load_model(path)


# --- models of a class of one's own ----------------------------------------------------------------------------------


class OwnModel(Model):
    pass


class OwnSequential(Sequential):
    pass


@pytest.mark.parametrize("suffix", [".h5", ".keras"])
@pytest.mark.parametrize("kind", [OwnModel, OwnSequential])
def test_the_class_of_a_model_comes_back_with_its_steps(kind, suffix):
    i = Input((4,))
    model = kind(i, Dense(3)(i)) if kind is OwnModel else kind([Dense(3, input_shape=(4,))])
    model.compile("sgd", losses.MeanSquaredError())
    model.save(f"m{suffix}")
    again = load_model(f"m{suffix}", custom_objects={kind.__name__: kind})
    assert type(again) is kind
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    with pytest.raises(ArchitectureError, match=f"Unknown layer: '{kind.__name__}'"):
        load_model(f"m{suffix}")


@pytest.mark.parametrize(
    ("option", "name", "rule"),
    [
        ("metrics", "precision", "is a mean over batches, today's counts all samples"),
        ("metrics", "recall", "is a mean over batches, today's counts all samples"),
        ("metrics", "cosine", "is a mean over the last axis, today's is a sum"),
        ("loss", "cosine_proximity", "is a mean over the last axis, today's is a sum"),
        ("metrics", "fmeasure", "is a mean over batches, and is in torchkeras.keras2.metrics alone"),
        ("metrics", "matthews_correlation", "is a mean over batches, and is in torchkeras.keras2.metrics alone"),
    ],
)
def test_what_has_another_meaning_than_in_keras_1_is_refused(option, name, rule):
    model = make(loss="mse")
    training = {"optimizer_config": {"class_name": "SGD", "config": {"lr": 0.1}}, "loss": "mse", option: ["mae", name]}
    with pytest.raises(ArchitectureError, match=f"^{re.escape(f'old.h5: {name!r} of Keras 1 {rule}{AGAIN}')}$"):
        modern_training(training, "old.h5", keras1.DIALECT, model, {})
    for dialect, custom_objects in ((KERAS2, {}), (keras1.DIALECT, {name: len})):
        assert modern_training(training, "old.h5", dialect, model, custom_objects)[option] == ["mae", name]


@pytest.mark.parametrize("suffix", [".h5", ".keras"])
def test_a_name_of_ours_is_one_of_several_outputs_of_a_layer(suffix):
    inputs = Input((3, 2))
    model = Model(inputs, SimpleRNN(2, return_state=True, name="rnn")(inputs))
    model.compile("sgd", {"rnn": "mse", "rnn_1": "mae"}, metrics={"rnn": "mae"}, loss_weights={"rnn": 0.5})
    model.save(f"m{suffix}")
    again = load_model(f"m{suffix}")
    assert again.metrics_names == model.metrics_names
    x, y = np.ones((4, 3, 2), np.float32), [np.ones((4, 2), np.float32)] * 2
    assert again.evaluate(x, y, verbose=0) == model.evaluate(x, y, verbose=0)
