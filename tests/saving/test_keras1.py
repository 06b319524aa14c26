"""Architectures of genuine Keras 1 and 0 in today's form: what they leave out is found in the file, or an error."""

# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportIndexIssue=false, reportCallIssue=false
# h5py types what stands under a name as anything that may.

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import h5py
import numpy as np
import pytest
import torch

import torchkeras
from torchkeras.base import bytecode
from torchkeras.errors import (
    ArchitectureError,
    ForbiddenContentError,
    ModelFileError,
    UnknownFormatError,
    WeightMismatchError,
)
from torchkeras.layers import Dense
from torchkeras.legacy.weights import Stored, recipes_of_keras1
from torchkeras.models import Model, Sequential, model_from_config
from torchkeras.saving import model_file
from torchkeras.saving.containers.hdf5 import read_names, text
from torchkeras.saving.dialects.keras1 import doubts, modern_config
from torchkeras.saving.weights import numbered_layers

GOLDEN = Path(__file__).parent.parent / "golden"
OWN = GOLDEN / "keras-1.2.2-architectures"
KERAS_0 = GOLDEN / "keras-0.3.3-theano"
UNTOLD = {"conv_26", "conv_28", "conv_32"}  # a ZeroPadding2D or UpSampling2D alone: nothing shows its dim_ordering
STRIDED = {"own_rnn_051"}  # a ConvLSTM2D alone with a subsample, which its config leaves out
GIVEN = {
    "lambda2": {"cut": lambda x, k: x[:, :2] * k, "cut.output_shape": lambda shape: (shape[0], 2)},
    "mlambda": {"mm": lambda x: x[0] * x[1] + 1.0, "mm.output_shape": lambda shapes: shapes[0]},
    "mlambda_mask": {
        "mk": lambda x: x[0] - x[1],
        "mk.output_shape": lambda shapes: shapes[0],
        "mk.output_mask": lambda masks: masks[0],
    },
}
TOLD = {"up_dense_th": "channels_first"}
REFUSED = {"eigen", "convlstm_flat", "pool_theano"}


@pytest.fixture(autouse=True)
def fresh_session(monkeypatch: pytest.MonkeyPatch):
    torchkeras.clear_session()
    monkeypatch.setattr(torchkeras.config.SETTINGS, "chosen_image_data_format", None)


def about(path: Path) -> tuple[dict[str, Any], dict[str, Any], str | None]:
    """A file's architecture, its arrays' names and shapes, and the backend that they tell."""
    with h5py.File(path / "model.h5") as file:
        group = file["model_weights"]
        stored = {
            layer: [(name, group[layer][name].shape) for name in read_names(group[layer], "weight_names")]
            for layer in read_names(group, "layer_names")
        }
        names = [name for arrays in stored.values() for name, _ in arrays]
        backend = ("tensorflow" if names[0].endswith(":0") else "theano") if names else None
        return json.loads(text(file.attrs["model_config"])), stored, backend


def loaded(path: Path, data_format: str | None = None, custom_objects: Any = None) -> Model:
    config = modern_config(*about(path), data_format, custom_objects)
    model = model_from_config(json.loads(json.dumps(config)), custom_objects)
    model.load_weights(path / "model.h5")
    return model.eval()


def assert_saved_outputs(path: Path, model: Model) -> None:
    arrays = dict(np.load(path / "io.npz"))
    inputs = [arrays[f"x{k}"] for k in range(sum(name[0] == "x" for name in arrays))]
    found = model.predict(inputs, batch_size=len(inputs[0]))
    for k, output in enumerate(found if isinstance(found, list) else [found]):
        np.testing.assert_allclose(output, arrays[f"y{k}"], atol=1e-4, rtol=1e-3)


def cases(*folders: str, without: set[str]) -> list[Any]:
    paths = [path for folder in folders for path in sorted((GOLDEN / folder).iterdir())]
    return [pytest.param(path, id=f"{path.parent.name}-{path.name}") for path in paths if path.name not in without]


FOLDERS = ("keras-1.2.2-tensorflow", "keras-1.2.2-theano")


@pytest.mark.parametrize(
    "path",
    cases(*FOLDERS, *(f"keras-own-cases/{folder}" for folder in FOLDERS), without=UNTOLD | STRIDED)
    + cases(OWN.name, without={*GIVEN, *TOLD, *REFUSED}),
)
def test_a_file_says_how_it_was_computed(path: Path):
    assert_saved_outputs(path, loaded(path))


@pytest.mark.parametrize(
    "path", [path for folder in FOLDERS for path in sorted((GOLDEN / folder).iterdir()) if path.name in UNTOLD]
)
def test_what_nothing_tells_is_asked_for(path: Path):
    kind = "UpSampling2D" if path.name == "conv_32" else "ZeroPadding2D"
    expected = (
        f"{kind} '{kind.lower()}_1': Keras 1 does not write its dim_ordering, and nothing else in the file shows it. "
        "Give original_data_format='channels_last' or 'channels_first', or set image_data_format."
    )
    with pytest.raises(ArchitectureError, match=re.sub("_1'", r"_\\d+'", f"^{re.escape(expected)}$")):
        loaded(path)
    ordering = json.loads((path / "case.json").read_text())["image_data_format"]
    assert_saved_outputs(path, loaded(path, torchkeras.config.DIM_ORDERINGS[ordering]))


def test_a_dense_kernel_that_fits_both_readings_tells_nothing():
    path = OWN / "up_dense_th"
    with pytest.raises(
        ArchitectureError, match=r"^UpSampling2D 'upsampling2d_1': Keras 1 does not write its dim_ordering"
    ):
        loaded(path)
    assert_saved_outputs(path, loaded(path, TOLD[path.name]))


def test_a_kernel_that_fits_one_reading_tells_it():
    config, stored, backend = about(OWN / "pad_dense_th")
    assert modern_config(config, stored, backend)["config"]["layers"][0]["config"]["data_format"] == "channels_first"
    with pytest.raises(ArchitectureError, match="nothing else in the file shows it"):
        modern_config(config, {})  # the architecture alone


@pytest.mark.parametrize("name", GIVEN)
def test_functions_are_those_given(name: str):
    assert_saved_outputs(OWN / name, loaded(OWN / name, custom_objects=GIVEN[name]))


@pytest.mark.parametrize(
    ("name", "given", "missing", "place"),
    [
        ("lambda2", (), "cut", "Lambda 'cut': its function"),
        ("lambda2", ("cut",), "cut.output_shape", "Lambda 'cut': its output_shape"),
        ("mlambda", (), "mm", "Merge 'mm': its mode"),
        ("mlambda_mask", ("mk", "mk.output_shape"), "mk.output_mask", "Merge 'mk': its output_mask"),
    ],
)
def test_bytecode_is_refused_on_request(name: str, given: tuple[str, ...], missing: str, place: str):
    expected = (
        f"{place} is stored as Python bytecode, which is never run; pass the function itself: "
        f"custom_objects={{{missing!r}: function}}."
    )
    with pytest.raises(ForbiddenContentError, match=f"^{re.escape(expected)}$"):
        bytecode.read(about(OWN / name)[0], {key: GIVEN[name][key] for key in given}, bytecode.REFUSE)


@pytest.mark.parametrize("name", GIVEN)
def test_functions_are_read_as_formulas(name: str):
    assert_saved_outputs(OWN / name, loaded(OWN / name))


def test_bytecode_is_refused_at_any_depth():
    inner = {"class_name": "Lambda", "config": {"name": "f", "function": ["code", None, None]}}
    wrapped = {"class_name": "TimeDistributed", "config": {"name": "t", "layer": inner}}
    branch = {"class_name": "Sequential", "config": [wrapped]}
    merged = {"class_name": "Merge", "config": {"name": "m", "mode": "sum", "mode_type": "raw", "layers": [branch]}}
    nested = {"name": "s", "class_name": "Sequential", "config": [merged], "inbound_nodes": []}
    model = {"class_name": "Model", "config": {"name": "o", "layers": [nested], "input_layers": []}}
    with pytest.raises(ForbiddenContentError, match=r"^Lambda 'f': its function is stored as Python bytecode"):
        modern_config(model, {})


@pytest.mark.parametrize(("kind", "option"), [("Lambda", "function"), ("Merge", "mode"), ("Merge", "output_shape")])
def test_bytecode_in_a_string_is_no_name(kind: str, option: str):
    options = {"mode": "sum", "function": "double", option: "\xe3\x01", f"{option}_type": "lambda"}
    with pytest.raises(ForbiddenContentError, match=f"^{kind} 'x': its {option} is stored as Python bytecode"):
        modern_config(layer(kind, **options), {}, custom_objects={"\xe3\x01": len, "double": len})


TWO_OUTPUTS = {"class_name": "Model", "config": {"layers": [], "output_layers": [1, 2]}}


def layer(kind: str, **options: Any) -> dict[str, Any]:
    return {"class_name": "Sequential", "config": [{"class_name": kind, "config": {"name": "x", **options}}]}


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ([], "A layer of Keras 1 is written as 'class_name' and 'config'; found []."),
        ({"class_name": "Dense", "config": []}, "Dense: a config of Keras 1 is a dictionary; found []."),
        ({"class_name": "Model", "config": {"name": "m"}}, "Model 'm': a list of 'layers' is missing."),
        (
            layer("Dense", output_dim=3, W_regularizer={"name": "EigenvalueRegularizer", "k": 0.1}),
            "Dense 'x': W_regularizer is an EigenvalueRegularizer, which is not supported.",
        ),
        (
            layer("Dense", output_dim=3, W_constraint={"name": "MaxNorm", "norm": 2}),
            "Dense 'x': W_constraint: MaxNorm has no option 'norm'.",
        ),
        (
            layer("Dense", output_dim=3, units=3),
            "Dense 'x': Dense: output_dim and units are one option under two names; give one of them.",
        ),
        (
            layer("LSTM", output_dim=3, consume_less="tpu"),
            "LSTM 'x': LSTM: consume_less must be one of 'cpu', 'mem', 'gpu'; found 'tpu'.",
        ),
        (
            layer("Merge", mode="sum", layers=[TWO_OUTPUTS]),
            (
                "Merge 'x': one of its branches has 2 outputs, and Keras 1 does not write which of them it takes. "
                "Build the model by code and load the weights."
            ),
        ),
        ({"name": "Sequential"}, "Sequential: a list of 'layers' is missing."),
        ({"name": "Graph"}, "A Graph of Keras 0 is not read. Build it by code, as a Model."),
        (
            {"name": "Sequential", "layers": [[]]},
            "A layer of Keras 0 is written as a dictionary with its 'name'; found [].",
        ),
        (
            {"name": "Embedding", "input_dim": 5, "output_dim": 3, "dropout": 0.2},
            "Embedding 'embedding' of Keras 0: with dropout it scaled its outputs outside training as well; found 0.2.",
        ),
        (
            {"name": "BatchNormalization", "mode": 1, "custom_name": "n"},
            "BatchNormalization 'n' of Keras 0: mode=1 divided by another number than today's does.",
        ),
        (
            {"name": "Merge", "mode": "cos"},
            "Merge 'merge' of Keras 0: mode must be 'ave', 'concat', 'mul' or 'sum'; found 'cos'.",
        ),
    ],
)
def test_what_is_not_read_is_refused(config: Any, expected: str):
    with pytest.raises(ArchitectureError, match=f"^{re.escape(expected)}$"):
        modern_config(config, {})


def test_shared_axes_of_two_layers_of_one_name_are_refused():
    stored = {"model_1": [("x_alphas:0", (4, 1))], "model_2": [("x_alphas_1:0", (1, 3))]}
    with pytest.raises(
        ArchitectureError,
        match=r"^PReLU 'x': the file has weights of several layers of that name, of the shapes \(1, 3\), \(4",
    ):
        modern_config(layer("PReLU", init="zero"), stored)


def test_pooling_of_a_file_without_weights_asks_for_the_backend():
    config, stored, _ = about(OWN / "pool_theano")
    expected = (
        "MaxPooling3D 'maxpooling3d_10': 'same' padding differs between Theano and TensorFlow, and a file of Keras 1 "
        "without weights does not say its backend. Give original_backend='tensorflow' or 'theano'."
    )
    with pytest.raises(ArchitectureError, match=re.sub("_10'", r"_\\d+'", f"^{re.escape(expected)}$")):
        modern_config(config, stored)
    model = model_from_config(modern_config(config, stored, "theano"))
    for found in model.layers:
        found._follow_theano()
    assert_saved_outputs(OWN / "pool_theano", model.eval())
    assert model_from_config(modern_config(config, {}))  # its weights, in another file, may tell


def test_a_subsample_that_the_config_leaves_out_is_a_doubt():
    path = GOLDEN / "keras-own-cases" / "keras-1.2.2-theano" / "own_rnn_051"
    config, stored, backend = about(path)
    (found,) = doubts(config)
    assert re.fullmatch(r"ConvLSTM2D 'convlstm2d_\d+': its subsample is not written; it is taken as \(1, 1\)\.", found)
    assert json.loads((path / "case.json").read_text())["source"].endswith("subsample=(2, 2))")
    assert model_from_config(modern_config(config, stored, backend)).layers[-1].strides == (1, 1)
    with pytest.raises(WeightMismatchError):  # where what follows shows it
        loaded(OWN / "convlstm_flat")


def test_what_only_training_or_masks_depend_on_is_a_doubt():
    config = layer("SpatialDropout2D", p=0.3)
    assert doubts(config) == ["SpatialDropout2D 'x': its dim_ordering is not written; it is taken as 'tf'."]
    assert doubts(config, "channels_first") == []
    config = layer("Merge", mode=["code"], mode_type="lambda")
    assert doubts(config) == ["Merge 'x': its output_mask is not written; it is taken as None."]
    assert doubts(layer("Merge", mode="sum", mode_type="raw")) == []
    assert doubts(layer("Dense", output_dim=3)) == []


def test_a_class_of_the_users_own_is_left_as_it_is():
    class Dense2(Dense):
        pass

    config = layer("Dense", output_dim=3, own=1)
    assert modern_config(config, {}, custom_objects={"Dense": Dense2})["config"]["layers"][0] == {
        "class_name": "Dense",
        "config": {"name": "x", "output_dim": 3, "own": 1},
    }


def test_every_option_has_todays_name():
    config = layer(
        "Convolution2D", nb_filter=4, nb_row=3, nb_col=2, subsample=[1, 2], border_mode="same", dim_ordering="th",
        init="he_normal", activation="relu", bias=False,
        W_regularizer={"name": "WeightRegularizer", "l1": 0.1, "l2": 0.0},
        b_regularizer=None, activity_regularizer=None, W_constraint={"name": "MaxNorm", "m": 2, "axis": 0},
        b_constraint=None, batch_input_shape=[None, 3, 6, 6], input_dtype="float32",
    )  # fmt: skip
    assert modern_config(config, {})["config"]["layers"][0] == {
        "class_name": "Conv2D",
        "config": {
            "name": "x",
            "filters": 4,
            "kernel_size": (3, 2),
            "strides": [1, 2],
            "padding": "same",
            "data_format": "channels_first",
            "kernel_initializer": "he_normal",
            "activation": "relu",
            "use_bias": False,
            "kernel_regularizer": {"class_name": "L1L2", "config": {"l1": 0.1, "l2": 0.0}},
            "bias_regularizer": None,
            "activity_regularizer": None,
            "kernel_constraint": {"class_name": "MaxNorm", "config": {"max_value": 2, "axis": 3}},
            "bias_constraint": None,
            "batch_input_shape": [None, 3, 6, 6],
            "input_dtype": "float32",
        },
    }


@pytest.mark.parametrize(
    ("kind", "ordering", "shape", "axis"),
    [
        ("Convolution1D", None, (2, 1, 3, 4), [0, 1, 2]),
        ("Convolution2D", "th", (4, 3, 2, 5), 0),
        ("Convolution2D", "th", (4, 3, 2, 5), [1, 2, 3]),
        ("Convolution2D", "th", (4, 3, 2, 5), -1),
        ("Convolution2D", "tf", (2, 5, 3, 4), [0, 1, 2]),
        ("Convolution3D", "th", (4, 3, 2, 5, 2), 1),
        ("Deconvolution2D", "th", (4, 3, 2, 5), 0),
        ("Deconvolution2D", "tf", (2, 5, 3, 4), 2),
    ],
)
def test_a_constraint_goes_along_the_axes_that_keras_1_meant(kind: str, ordering: Any, shape: Any, axis: Any):
    sizes = {"1D": ["filter_length"], "2D": ["nb_row", "nb_col"], "3D": ["kernel_dim1", "kernel_dim2", "kernel_dim3"]}
    options: dict[str, Any] = dict.fromkeys(sizes[kind[-2:]], 3) | ({"dim_ordering": ordering} if ordering else {})
    entry = layer(kind, nb_filter=4, W_constraint={"name": "MaxNorm", "m": 0.5, "axis": axis}, **options)
    found = modern_config(entry, {})["config"]["layers"][0]
    made: Any = torchkeras.layers.deserialize(found)
    stored = Stored(("W",), (shape,), ordering == "th")
    kernel = torch.rand(shape, generator=torch.Generator().manual_seed(0))
    norms = kernel.square().sum(axis, keepdim=True).sqrt()
    (recipe,) = recipes_of_keras1(made, [SimpleNamespace(shape=(2, 3, 4))], stored)
    constrained = recipe.make([kernel * norms.clip(0, 0.5) / (norms + 1e-7)])
    torch.testing.assert_close(made.kernel_constraint(recipe.make([kernel])), constrained)


def test_a_constraint_along_an_axis_that_only_keras_1_had_is_refused():
    entry = layer("Convolution1D", nb_filter=4, filter_length=3, W_constraint={"name": "UnitNorm", "axis": 1})
    expected = "Conv1D 'x': kernel_constraint goes along axis 1, which only kernels of Keras 1 have."
    with pytest.raises(ArchitectureError, match=f"^{re.escape(expected)}$"):
        modern_config(entry, {})


# --- Keras 0 ---------------------------------------------------------------------------------------------------------


def old_model(path: Path) -> Sequential:
    data_format = torchkeras.config.DIM_ORDERINGS[json.loads((path / "case.json").read_text())["image_data_format"]]
    return model_from_config(modern_config(json.loads((path / "model.json").read_text()), {}, "theano", data_format))


@pytest.mark.parametrize("path", [pytest.param(path, id=path.name) for path in sorted(KERAS_0.iterdir())])
def test_numbered_layers_are_those_of_the_model(path: Path):
    model = old_model(path)
    with h5py.File(path / "weights.h5") as file:
        assert model_file.has_old_layout(file)
        names = [name for name, _ in numbered_layers.old_layout(file)]
        assert names == [f"layer_{k}" for k in range(len(names))]
        pairs = numbered_layers.old_pairs(file, model)
        for found, arrays in pairs:
            stored = sum(array.size for _, array in arrays)
            assert stored == sum(np.prod(variable.shape) for variable in found.weights), found.name
        taken = [array.name for _, arrays in pairs for _, array in arrays]
        assert len(set(taken)) == len(taken) == sum(len(arrays) for _, arrays in numbered_layers.old_layout(file))


def test_gates_statistics_and_carries_have_the_names_and_order_of_keras_1():
    found = {}
    for case in ("recurrent", "normalized", "text"):
        with h5py.File(KERAS_0 / case / "weights.h5") as file:
            for taking, arrays in numbered_layers.old_pairs(file, old_model(KERAS_0 / case)):
                found[taking.name] = [(name, array.name) for name, array in arrays]
    assert found["lstm"][:4] == [("lstm_W_i", "/layer_1/param_0"), ("lstm_U_i", "/layer_1/param_1"),
                                 ("lstm_b_i", "/layer_1/param_2"), ("lstm_W_c", "/layer_1/param_3")]  # fmt: skip
    assert len(found["lstm"]) == 12
    assert [name for name, _ in found["gru"][:7:3]] == ["gru_W_z", "gru_W_r", "gru_W_h"]
    assert found["batchnormalization"][3] == ("batchnormalization_running_std", "/layer_1/param_3")
    assert [name for name, _ in found["highway"]] == ["highway_W", "highway_W_carry", "highway_b", "highway_b_carry"]


def test_a_standard_deviation_becomes_the_variance_with_the_same_outputs():
    std, epsilon = np.array([0.5, 1.0, 0.01]), 0.05
    np.testing.assert_allclose(np.sqrt(numbered_layers.variance(std, epsilon) + epsilon), std + epsilon)


def test_a_model_of_other_layers_is_refused():
    model = Sequential([Dense(3, input_shape=(4,), name="d")])
    with h5py.File(KERAS_0 / "vgg" / "weights.h5") as file:
        expected = (
            f"{file.filename}: the file has 8 arrays; the model's layers with weights are d, for which Keras 0 wrote "
            "another number."
        )
        with pytest.raises(WeightMismatchError, match=f"^{re.escape(expected)}$"):
            numbered_layers.old_pairs(file, model)


def test_gaps_in_the_numbers_are_refused(tmp_path: Path):
    with h5py.File(tmp_path / "old.h5", "w") as file:
        file.attrs["nb_layers"] = 7
        file.create_group("layer_0").attrs["nb_params"] = 0
        with pytest.raises(
            WeightMismatchError, match=r"'nb_layers' of / must be a number up to the 1 members that it "
        ):
            numbered_layers.old_layout(file)
        file.attrs["nb_layers"] = 1
        del file["layer_0"]
        file.create_group("other")
        with pytest.raises(ModelFileError, match=r"/ has no group 'layer_0'\.$"):
            numbered_layers.old_layout(file)


def test_weights_of_a_graph_are_refused(tmp_path: Path):
    with h5py.File(tmp_path / "graph.h5", "w") as file:
        file.create_group("graph").attrs["nb_params"] = 0
        assert model_file.has_old_layout(file)
        with pytest.raises(
            UnknownFormatError, match="the weights of a Graph of Keras 0, in an order that the file does"
        ):
            numbered_layers.old_layout(file)


def test_layers_of_keras_0_that_share_their_class_get_names_of_their_own():
    names = [found.name for found in old_model(KERAS_0 / "branches").layers if isinstance(found, Dense)]
    assert sorted(names) == ["dense", "dense_2", "dense_3", "dense_4", "dense_5"]
    assert torch.is_tensor(old_model(KERAS_0 / "branches")([torch.zeros(1, 5), torch.zeros(1, 4)]))
