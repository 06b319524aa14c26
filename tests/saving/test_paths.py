"""Weights by the paths of Keras 3: files of genuine Keras 3.15 and tf_keras 2.21, ours, and files that do not fit."""

import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import torchkeras
from torchkeras import layers, models, optimizers
from torchkeras.errors import WeightMismatchError
from torchkeras.layers import (
    LSTM,
    RNN,
    Add,
    Bidirectional,
    Conv2D,
    Dense,
    Dropout,
    GRUCell,
    Input,
    LSTMCell,
    MultiHeadAttention,
    SpectralNormalization,
    TimeDistributed,
)
from torchkeras.models import Model, Sequential
from torchkeras.saving.optimizer.keras3_order import write_optimizer
from torchkeras.saving.weights.paths import pairs, snake_case, write

GOLDEN = Path(__file__).parents[1] / "golden"
CASES = [path for folder in ("keras-3.15", "tf_keras-2.21") for path in sorted((GOLDEN / folder).iterdir())]


def opened(path: Path, mode: str = "r") -> Any:
    return h5py.File(path, mode)


# The defaults of today's Keras, where ours are those of Keras 2.2.4.
DEFAULTS = {
    "GRU": {"recurrent_activation": "sigmoid", "reset_after": True},
    "LSTM": {"recurrent_activation": "sigmoid"},
}


def with_defaults(name: str) -> Any:
    made_by = getattr(layers, name)
    return lambda *args, **options: made_by(*args, **{**DEFAULTS[name], **options})


def sequential(given: list[Any], name: str | None = None) -> Sequential:
    """A Sequential that begins with an Input, as Keras 3 has it."""
    return Sequential([given[0]._keras_history.layer, *given[1:]], name=name)


def model_of(case: Path) -> Model:
    """What the case's own code makes."""
    torchkeras.clear_session()
    about = json.loads((case / "case.json").read_text())
    scope = {
        **vars(layers),
        **vars(models),
        **{name: with_defaults(name) for name in DEFAULTS},
        "Sequential": sequential,
    }
    if about["package"] == "keras":
        conv_lstm = layers.ConvLSTM2D
        scope["ConvLSTM2D"] = lambda *args, **options: conv_lstm(*args, recurrent_activation="sigmoid", **options)
    exec(about["source"], scope)  # noqa: S102  (code of the golden cases)
    return scope["model"]


def take(file: h5py.File, model: Model) -> None:
    for variable, array in pairs(file, model):
        variable.assign(array[()])


@pytest.mark.parametrize("case", CASES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_files_of_genuine_versions_give_their_outputs(case: Path):
    model, arrays = model_of(case), np.load(case / "io.npz")
    with opened(case / "model.weights.h5") as file:
        take(file, model)
    inputs = [arrays[f"x{k}"] for k in range(len(model.inputs))]
    outputs = model.predict(inputs if len(inputs) > 1 else inputs[0])
    for k, output in enumerate(outputs if isinstance(outputs, list) else [outputs]):
        np.testing.assert_allclose(output, arrays[f"y{k}"], rtol=1e-3, atol=1e-4)


def shapes_in(file: h5py.File) -> dict[str, Any]:
    found: dict[str, Any] = {}
    file.visititems(lambda name, item: found.update({name: getattr(item, "shape", None)}))
    return {name: shape for name, shape in found.items() if name.partition("/")[0] != "optimizer"}


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.parent.name == "keras-3.15"], ids=lambda path: path.name
)
def test_what_is_written_has_the_paths_of_keras_3(case: Path, tmp_path: Path):
    model = model_of(case)
    with opened(tmp_path / "ours.weights.h5", "w") as ours, opened(case / "model.weights.h5") as genuine:
        write(ours, model)
        assert shapes_in(ours) == shapes_in(genuine)
        assert ours["layers"].keys() == genuine["layers"].keys()


def test_classes_are_spelled_as_in_keras_3():
    assert [snake_case(name) for name in ("Dense", "ConvLSTM2D", "PReLU", "Conv2DTranspose", "CuDNNGRU")] == [
        *("dense", "conv_lstm2d", "p_re_lu", "conv2d_transpose", "cu_dnngru"),
    ]


def paths_of(model: Model, tmp_path: Path) -> list[str]:
    with opened(tmp_path / "paths.h5", "w") as file:
        write(file, model)
        return [str(array.name) for _, array in pairs(file, model)]


def test_layers_inside_stand_at_the_names_of_attributes(tmp_path: Path):
    i = Input((4, 3))
    h = RNN([LSTMCell(2), GRUCell(2), LSTMCell(2, use_bias=False)], return_sequences=True)(i)
    h = Bidirectional(LSTM(2, return_sequences=True))(h)
    h = TimeDistributed(Sequential([Dense(3, use_bias=False, input_shape=(4,)), Dense(2, use_bias=False)]))(h)
    assert paths_of(Model(i, h), tmp_path) == [
        *(f"/layers/rnn/cell/cells/lstm_cell/vars/{k}" for k in range(3)),
        *(f"/layers/rnn/cell/cells/gru_cell/vars/{k}" for k in range(3)),
        *(f"/layers/rnn/cell/cells/lstm_cell_1/vars/{k}" for k in range(2)),
        *(f"/layers/bidirectional/forward_layer/cell/vars/{k}" for k in range(3)),
        *(f"/layers/bidirectional/backward_layer/cell/vars/{k}" for k in range(3)),
        "/layers/time_distributed/layer/layers/dense/vars/0",
        "/layers/time_distributed/layer/layers/dense_1/vars/0",
    ]


def test_attention_is_read_under_the_private_names_of_tf_keras(tmp_path: Path):
    a = Input((4, 3))
    model = Model(a, MultiHeadAttention(2, 3)(a, a))
    with opened(tmp_path / "a.weights.h5", "w") as file:
        write(file, model)
        group = file["layers/multi_head_attention"]
        for name in ("query", "key", "value", "output"):
            group.move(f"{name}_dense", f"_{name}_dense")
        assert len(pairs(file, model)) == 8


# --- shared layers and order -----------------------------------------------------------------------------------------


def sharing() -> Model:
    i, j, dense = Input((3,)), Input((3,)), Dense(3)
    inner = Model(j, Dense(3)(dense(j)))
    return Model(i, Dense(3)(inner(dense(i))))


@pytest.mark.parametrize("name", ["dense_1", "dense"], ids=["keras 3 counts a shared layer", "tf_keras does not"])
def test_a_shared_layer_stands_where_it_is_met_first(name: str, tmp_path: Path):
    model = sharing()
    with opened(tmp_path / "a.weights.h5", "w") as file:
        write(file, model)
        file["layers/functional/layers"].move("dense_1", "moved")
        file["layers/functional/layers"].move("moved", name)
        found = {variable.full_name: array.name for variable, array in pairs(file, model)}
    inner = model.layers[2]
    assert found[f"{inner.layers[-1].name}/kernel:0"] == f"/layers/functional/layers/{name}/vars/0"
    assert len(found) == 6


def test_files_of_keras_2_12_count_layers_with_weights_twice(tmp_path: Path):
    model = Sequential([Dense(3, input_shape=(3,)), Dropout(0.1), Dense(3), Dropout(0.1), Dense(3)])
    with opened(tmp_path / "a.weights.h5", "w") as file:
        write(file, model)
        file.move("layers", "_layer_checkpoint_dependencies")
        group = file["_layer_checkpoint_dependencies"]
        for layer in group.values():
            layer["vars"].attrs.clear()
        group.move("dense_2", "dense_4")
        group.move("dense_1", "dense_2")
        assert [str(array.name).split("/")[2] for _, array in pairs(file, model)[::2]] == [
            "dense",
            "dense_2",
            "dense_4",
        ]


def test_names_that_are_the_models_go_before_the_order(tmp_path: Path):
    first = Sequential([Dense(3, name="a", input_shape=(3,)), Dense(3, name="b")])
    second = Sequential([Dense(3, name="b", input_shape=(3,)), Dense(3, name="a")])
    with opened(tmp_path / "a.weights.h5", "w") as file:
        write(file, first)
        take(file, second)
    np.testing.assert_array_equal(first.get_layer("a").get_weights()[0], second.get_layer("a").get_weights()[0])


def test_other_names_leave_the_order(tmp_path: Path):
    first = Sequential([Dense(3, name="a", input_shape=(3,)), Dense(3, name="b")])
    second = Sequential([Dense(3, name="b", input_shape=(3,)), Dense(3, name="c")])
    with opened(tmp_path / "a.weights.h5", "w") as file:
        write(file, first)
        take(file, second)
    np.testing.assert_array_equal(first.get_layer("a").get_weights()[0], second.get_layer("b").get_weights()[0])


# --- files that do not fit -------------------------------------------------------------------------------------------


def small() -> Model:
    torchkeras.clear_session()
    return Sequential([Conv2D(2, 3, input_shape=(4, 4, 1)), layers.Flatten(), Dense(3)], name="small")


def refusal(change: Any, tmp_path: Path) -> str:
    with opened(tmp_path / "a.weights.h5", "w") as file:
        model = small()
        write(file, model)
        change(file)
        with pytest.raises(WeightMismatchError) as caught:
            pairs(file, model)
    return str(caught.value).replace(f"{tmp_path}/", "")


def replace(name: str, values: Any) -> Any:
    def change(file: h5py.File) -> None:
        if name in file:
            del file[name]
        if values is not None:
            file.create_dataset(name, data=values)

    return change


ADVICE = "Build the model as it was when its weights were saved."


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (
            replace("layers/dense/vars/1", None),
            (
                "layer 'dense_1' (Dense) has 2 weights (dense_1/kernel:0, dense_1/bias:0); "
                f"/layers/dense/vars in the file has 1. {ADVICE}"
            ),
        ),
        (
            replace("layers/dense/vars/2", np.zeros(3)),
            (
                "layer 'dense_1' (Dense) has 2 weights (dense_1/kernel:0, dense_1/bias:0); "
                f"/layers/dense/vars in the file has 3. {ADVICE}"
            ),
        ),
        (
            replace("layers/dense/vars/0", np.zeros((3, 8))),
            (
                "layer 'dense_1' (Dense): weight 'dense_1/kernel:0' has shape (8, 3); "
                f"/layers/dense/vars/0 in the file has shape (3, 8). {ADVICE}"
            ),
        ),
        (
            replace("layers/dense/vars/1", np.array([b"a"] * 3)),
            "layer 'dense_1' (Dense): /layers/dense/vars/1 in the file holds |S1, not numbers.",
        ),
        (
            replace("layers/dense", None),
            "/layers has 1 layers with weights (conv2d); Sequential 'small' of the model has 2 (conv2d, dense).",
        ),
        (
            replace("layers/lstm/vars/0", np.zeros(3)),
            (
                "/layers has 3 layers with weights (conv2d, dense, lstm); "
                "Sequential 'small' of the model has 2 (conv2d, dense)."
            ),
        ),
        (replace("vars/0", np.zeros(3)), "/vars/0 of shape (3,) is of no weight of the model."),
        (
            replace("layers/dense/cell/vars/0", np.zeros(3)),
            "/layers/dense/cell/vars/0 of shape (3,) is of no weight of the model.",
        ),
    ],
)
def test_what_does_not_fit_is_refused(change: Any, text: str, tmp_path: Path):
    assert refusal(change, tmp_path) == f"a.weights.h5: {text}"


def test_states_of_random_numbers_and_of_training_are_left_out(tmp_path: Path):
    model = small()
    with opened(tmp_path / "a.weights.h5", "w") as file:
        write(file, model)
        file.create_dataset("layers/flatten/seed_generator/vars/0", data=np.zeros(2, np.uint32))
        file.create_dataset("metrics/mean/vars/0", data=0.0)
        file.create_dataset("optimizer/vars/0", data=0)
        assert len(pairs(file, model)) == 4


def test_a_weight_that_stands_twice_must_be_the_same_twice(tmp_path: Path):
    torchkeras.clear_session()
    model = Sequential([SpectralNormalization(Dense(2), input_shape=(3,))])
    with opened(tmp_path / "a.weights.h5", "w") as file:
        write(file, model)
        assert len(pairs(file, model)) == 3
        file["layers/spectral_normalization/vars/0"][0, 0] += 1
        with pytest.raises(WeightMismatchError) as caught:
            pairs(file, model)
    assert str(caught.value).replace(f"{tmp_path}/", "") == (
        "a.weights.h5: layer 'dense_1' (Dense): /layers/spectral_normalization/vars/0 and "
        "/layers/spectral_normalization/layer/vars/0 in the file are one weight, 'dense_1/kernel:0', "
        "and have different values."
    )


# --- the optimizer ---------------------------------------------------------------------------------------------------

OPTIMIZERS = {
    "sgd": lambda: optimizers.SGD(0.1),
    "momentum": lambda: optimizers.SGD(0.1, momentum=0.9, nesterov=True),
    "decay": lambda: optimizers.SGD(0.1, momentum=0.9, decay=0.1),
    "adam": lambda: optimizers.Adam(0.01, clipnorm=1.0),
    "amsgrad": lambda: optimizers.Adam(amsgrad=True),
}


def trained(optimizer: Any) -> Model:
    i = Input((3,))
    model = Model(i, Dense(2)(Add()([Dense(3)(i), Dense(3)(i)])))
    model.compile(optimizer, "mse")
    for _ in range(3):
        step(model)
    return model


def step(model: Model) -> Any:
    return model.train_on_batch(np.ones((4, 3), "float32"), np.zeros((4, 2), "float32"))


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training_goes_on_where_it_stopped(name: str, tmp_path: Path):
    model = trained(OPTIMIZERS[name]())
    model.save(tmp_path / "model.keras")
    again = models.load_model(tmp_path / "model.keras")
    assert again.optimizer.get_config() == model.optimizer.get_config()
    for ours, theirs in zip(model.optimizer.get_weights(), again.optimizer.get_weights(), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert [step(again) for _ in range(3)] == [step(model) for _ in range(3)]


def test_without_its_optimizer_a_model_is_not_compiled(tmp_path: Path):
    trained(optimizers.Adam()).save(tmp_path / "model.keras", include_optimizer=False)
    assert models.load_model(tmp_path / "model.keras").optimizer is None
    with opened(tmp_path / "state.weights.h5", "w") as file:
        model = trained(optimizers.Adam())
        write_optimizer(file, model, model.optimizer)
        assert len(file["optimizer/vars"]) == 2 + 2 * 6


@pytest.mark.filterwarnings("ignore:.* its causal is not written by tf.keras 2.10 and later; it is taken as False")
@pytest.mark.parametrize(
    "case", [path for path in CASES if path.parent.name.startswith("tf")], ids=lambda path: path.name
)
def test_the_state_in_genuine_files_is_adams(case: Path):
    model = models.load_model(case / "model.keras")
    with opened(case / "model.weights.h5") as file:
        names = sorted(file["optimizer/vars"], key=int)
        stored = [file["optimizer/vars"][name][()] for name in names]
    moments = [value for value in model.optimizer.get_weights()[1:] if value.shape != (1,)]
    first, second = moments[: len(moments) // 2], moments[len(moments) // 2 :]
    found = [value for pair in zip(first, second, strict=True) for value in pair]
    assert model.optimizer.iterations == stored[0]
    for ours, theirs in zip(found, stored[1:], strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_rmsprop_is_another_in_keras_3(tmp_path: Path):
    model, path = trained(optimizers.RMSprop()), tmp_path / "model.keras"
    with pytest.warns(UserWarning) as caught:  # noqa: PT030  (its text is compared whole)
        model.save(path)
    text = (
        f"{path}: torchkeras reads the file, Keras 3 refuses it: The optimizer RMSprop has no form in Keras 3, which "
        "adds epsilon under the root: save with include_optimizer=False."
    )
    assert [str(each.message) for each in caught] == [text]
    for ours, theirs in zip(
        model.optimizer.get_weights(), models.load_model(path).optimizer.get_weights(), strict=True
    ):
        np.testing.assert_array_equal(ours, theirs)


def test_another_optimizers_state_is_not_taken(tmp_path: Path):
    model = trained(optimizers.Adam())
    model.save(tmp_path / "model.h5")
    with opened(tmp_path / "model.h5", "r+") as file:
        file.attrs["training_config"] = file.attrs["training_config"].replace("Adam", "RMSprop").replace(
            '"beta_1": 0.9, "beta_2": 0.999, ', '"rho": 0.9, '
        ).replace(', "amsgrad": false', "")  # fmt: skip
    with pytest.warns(
        UserWarning, match="its optimizer is not taken, and RMSprop begins without: the file has 19 arrays"
    ):
        loaded = models.load_model(tmp_path / "model.h5")
    assert loaded.optimizer.iterations == 0
