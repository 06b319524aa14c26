"""keras.utils of Keras 1 and 2: names to objects, lists, lengths, weights, bars; held to what Keras 2.2.4 gave."""

import io
import json
import marshal
import re
import sys
import time
import warnings
from codecs import encode
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from torchkeras import Input, Model, Sequential, activations, config, layers, regularizers
from torchkeras.errors import ForbiddenContentError
from torchkeras.keras2 import utils
from torchkeras.keras2.engine import training_utils
from torchkeras.keras2.utils import conv_utils, generic_utils, layer_utils, np_utils, test_utils, visualize_util

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "keras-2.2.4-annex.json").read_text())


# --- names and objects -----------------------------------------------------------------------------------------------


class Doubling:
    def __init__(self, by: float = 2.0):
        self.by = by

    def get_config(self) -> dict[str, Any]:
        return {"by": self.by}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> "Doubling":
        return cls(**config)


def test_an_object_goes_to_a_dict_and_back():
    written = generic_utils.serialize_keras_object(Doubling(3.0))
    assert written == {"class_name": "Doubling", "config": {"by": 3.0}}
    assert generic_utils.deserialize_keras_object(written, {"Doubling": Doubling}).by == 3.0
    assert generic_utils.deserialize_keras_object(written, custom_objects={"Doubling": Doubling}).by == 3.0
    assert generic_utils.deserialize_keras_object(written, {"Doubling": lambda by: by + 1}) == 4.0
    with utils.custom_object_scope({"Doubling": Doubling}):
        assert generic_utils.deserialize_keras_object(written).by == 3.0


def test_a_function_goes_to_its_name_and_back():
    assert generic_utils.serialize_keras_object(np.mean) == "mean"
    assert generic_utils.deserialize_keras_object("mean", vars(np)) is np.mean
    assert generic_utils.serialize_keras_object(None) is None


def test_custom_objects_reach_what_is_made_inside():
    def inner(x: Any) -> Any:
        return 2 * x

    written = {"class_name": "Activation", "config": {"activation": "inner"}}
    known = {"Activation": layers.Activation}
    made = generic_utils.deserialize_keras_object(written, known, {"inner": inner})
    assert made(torch.ones(2)).tolist() == [2, 2]


@pytest.mark.parametrize(("call", "message"), [
    (lambda: generic_utils.deserialize_keras_object("x", {}, printable_module_name="loss"), "Unknown loss: x"),
    (lambda: generic_utils.deserialize_keras_object({"class_name": "X", "config": {}}, {}), "Unknown object: X"),
    (lambda: generic_utils.deserialize_keras_object({"class_name": "X"}, {}),
     "What describes an object is its name, or a 'class_name' and a 'config'; found {'class_name': 'X'}."),
    (lambda: generic_utils.serialize_keras_object(1), "Cannot serialize 1: it has neither a get_config nor a name."),
    (lambda: generic_utils.get_from_module("x", {}, "loss"), "Invalid loss: x"),
])  # fmt: skip
def test_what_is_unknown(call: Any, message: str):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        call()


def test_get_from_module():
    known = {"Doubling": Doubling, "mean": np.mean}
    assert generic_utils.get_from_module("mean", known, "function") is np.mean
    assert generic_utils.get_from_module("Doubling", known, "x", instantiate=True).by == 2
    assert generic_utils.get_from_module("Doubling", known, "x", instantiate=True, kwargs={"by": 5}).by == 5
    assert generic_utils.get_from_module({"name": "Doubling", "by": 7}, known, "x").by == 7
    assert generic_utils.get_from_module(None, known, "x") is None


def test_custom_objects_are_those_of_the_package():
    with utils.CustomObjectScope({"mine": abs}):
        assert activations.get("mine") is abs
        assert utils.get_custom_objects()["mine"] is abs
    assert "mine" not in utils.get_custom_objects()
    assert isinstance(utils.serialize_keras_object(regularizers.l2(0.5)), dict)


# --- functions as text -----------------------------------------------------------------------------------------------


def test_a_dumped_function_is_loaded_in_its_process():
    times = 3

    def scaled(x: float, plus: float = 1.0) -> float:
        return times * x + plus

    dumped = generic_utils.func_dump(scaled)
    assert dumped[1:] == ((1.0,), (3,))
    loaded = generic_utils.func_load(dumped)
    assert (loaded(2), loaded.__code__) == (7.0, scaled.__code__)
    assert generic_utils.func_load(dumped[0], closure=(5,))(2, 0) == 10
    assert generic_utils.func_load(list(generic_utils.func_dump(lambda: offset)), globs={"offset": 4})() == 4  # noqa: F821  # type: ignore[name-defined]


def test_the_older_form_of_a_function_is_its_code():
    def squared(x, times=2):
        return times * x**2

    text = marshal.dumps(squared.__code__).decode("raw_unicode_escape")
    loaded = generic_utils.func_load(text, defaults=squared.__defaults__)
    assert (loaded(3), loaded.__code__) == (18, squared.__code__)
    other = marshal.dumps(compile("raise SystemExit", "elsewhere", "exec")).decode("raw_unicode_escape")
    with pytest.raises(ForbiddenContentError, match=r"^func_load: the function is stored as Python bytecode, "):
        generic_utils.func_load(other)


def test_bytecode_from_elsewhere_is_not_run():
    code = compile("raise SystemExit", "elsewhere", "exec")
    text = encode(marshal.dumps(code), "base64").decode("ascii")
    with pytest.raises(ForbiddenContentError, match=r"^func_load: the function is stored as Python bytecode, "):
        generic_utils.func_load(text)


# --- lists and arguments ---------------------------------------------------------------------------------------------


def test_lists():
    assert generic_utils.to_list([1]) == [1]
    assert generic_utils.to_list((1, 2)) == [(1, 2)]
    assert generic_utils.to_list((1, 2), allow_tuple=True) == [1, 2]
    assert generic_utils.unpack_singleton([4]) == 4
    assert generic_utils.unpack_singleton((4, 5)) == (4, 5)
    assert generic_utils.is_all_none((None, None))
    assert not generic_utils.is_all_none([None, 0])
    assert generic_utils.make_tuple(1, 2) == (1, 2)
    one, other = object(), object()
    assert generic_utils.object_list_uid([one, other]) == f"{id(one)}, {id(other)}"


def test_slice_arrays():
    assert training_utils.slice_X is generic_utils.slice_arrays  # as Keras 1's examples import it
    x, y = np.arange(5), np.arange(10).reshape(5, 2)
    assert [part.tolist() for part in generic_utils.slice_arrays([x, y], 1, 3)] == [[1, 2], [[2, 3], [4, 5]]]
    assert generic_utils.slice_arrays([x, None], np.array([0, 4]))[0].tolist() == [0, 4]
    assert generic_utils.slice_arrays([x, None], [0])[1] is None
    assert generic_utils.slice_arrays(x, 1, 3).tolist() == [1, 2]
    assert generic_utils.slice_arrays(None) == [None]


def test_transpose_shape():
    assert generic_utils.transpose_shape((16, 8, 9, 3), "channels_first", (1, 2)) == (16, 3, 8, 9)
    assert generic_utils.transpose_shape([8, 9, 3], "channels_first", (0, 1)) == [3, 8, 9]
    assert generic_utils.transpose_shape((16, 8, 9, 3), "channels_last", (1, 2)) == (16, 8, 9, 3)
    with pytest.raises(ValueError, match=r"found 'first'\.$"):
        generic_utils.transpose_shape((1,), "first", (0,))


@pytest.mark.parametrize(("function", "name", "accept_all", "expected"), [
    (lambda x, y=1: x, "y", False, True),
    (lambda x: x, "y", True, False),
    (lambda x, **others: x, "y", False, False),
    (lambda x, **others: x, "y", True, True),
    (lambda x, *, y: x, "y", False, True),
    (lambda x, /: x, "x", False, False),
    (Sequential.fit, "epochs", False, True),
])  # fmt: skip
def test_has_arg(function: Any, name: str, accept_all: bool, expected: bool):
    assert generic_utils.has_arg(function, name, accept_all) is expected


# --- convolutions ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "arguments", "expected"), GOLDEN["lengths"])
def test_lengths_of_convolutions(name: str, arguments: list[Any], expected: int | None):
    assert getattr(conv_utils, name)(*arguments) == expected


def test_options_of_convolutions():
    assert conv_utils.normalize_tuple(5, 2, "kernel_size") == (5, 5)
    assert conv_utils.normalize_tuple([7, 9], 2, "kernel_size") == (7, 9)
    assert conv_utils.normalize_padding("SAME") == "same"
    assert conv_utils.normalize_data_format(None) == config.image_data_format()
    assert conv_utils.normalize_data_format("Channels_First") == "channels_first"
    for bad in (None, [2, 3, 4], ["a", "b"]):
        with pytest.raises(
            ValueError, match=f"^The `strides` argument must be a tuple of 2 integers. Received: {re.escape(str(bad))}$"
        ):
            conv_utils.normalize_tuple(bad, 2, "strides")
    with pytest.raises(ValueError, match=r"Received: diagonal$"):
        conv_utils.normalize_padding("diagonal")
    with pytest.raises(ValueError, match=r"found 'middle'\.$"):
        conv_utils.normalize_data_format("middle")
    with pytest.raises(AssertionError, match=r"^padding must be one of same, valid, full; found 'causal'\.$"):
        conv_utils.conv_input_length(3, 3, "causal", 1)


def test_kernels_are_turned_round():
    kernel = np.arange(2 * 3 * 4 * 5).reshape(2, 3, 4, 5)
    assert np.array_equal(conv_utils.convert_kernel(kernel), kernel[::-1, ::-1])
    assert np.array_equal(np_utils.convert_kernel(kernel, "tf"), kernel[::-1, ::-1])
    assert np.array_equal(np_utils.convert_kernel(kernel, "th"), kernel[:, :, ::-1, ::-1])
    with pytest.raises(ValueError, match="Invalid kernel shape"):
        conv_utils.convert_kernel(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="Invalid dim_ordering"):
        np_utils.convert_kernel(kernel, "middle")


# --- arrays ----------------------------------------------------------------------------------------------------------


def test_class_numbers_in_the_names_of_keras_1():
    assert np_utils.to_categorical([0, 2], nb_classes=3).tolist() == [[1, 0, 0], [0, 0, 1]]  # type: ignore[call-arg]
    assert np_utils.normalize(a=np.array([[3.0, 4.0]])).tolist() == [[0.6, 0.8]]  # type: ignore[call-arg]
    assert np_utils.conv_output_length(7, 3, border_mode="valid", stride=2) == 3  # type: ignore[call-arg]
    assert np_utils.probas_to_classes(np.array([[0.2, 0.8], [0.6, 0.4]])).tolist() == [1, 0]
    assert np_utils.probas_to_classes(np.array([[0.2], [0.6]])).tolist() == [0, 1]
    assert np_utils.accuracy([1, 2, 3, 4], [1, 2, 0, 4]) == 0.75
    assert np_utils.binary_logloss(np.array([0.5, 1.0]), [1, 1]) == pytest.approx(np.log(2) / 2)
    assert np_utils.multiclass_logloss([[0.5, 0.5], [0.25, 0.75]], [1, 2]) == pytest.approx(-np.log(0.5 * 0.75) / 2)


# --- bars ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("target", "verbose", "run", "tty", "stateful", "expected"), GOLDEN["progbar"])
def test_progbar(
    target: int | None, verbose: int, run: Any, tty: bool, stateful: Any, expected: str, monkeypatch: pytest.MonkeyPatch
):
    text, now = io.StringIO(), [1000.0]
    monkeypatch.setattr(text, "isatty", lambda: tty)
    monkeypatch.setattr(time, "time", lambda: now[0])
    monkeypatch.setattr(sys, "stdout", text)
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    bar = utils.Progbar(target, width=10, verbose=verbose, stateful_metrics=stateful)
    for wait, current, values in run:
        now[0] += wait
        bar.update(current, values)
    assert text.getvalue() == expected


def test_progbar_adds_steps(capsys: pytest.CaptureFixture[str]):
    bar = utils.Progbar(2, width=4)
    bar.add(1)
    bar.add(1, [("loss", 1.5)])
    assert bar.seen_so_far == 2
    assert "2/2 [====]" in (out := capsys.readouterr().out)
    assert out.endswith(" - loss: 1.5000\n")


# --- layers ----------------------------------------------------------------------------------------------------------


def test_parameters_are_counted_once():
    dense = layers.Dense(3)
    model = Sequential([layers.Input((2,)), dense, layers.BatchNormalization()])
    assert layer_utils.count_params([*dense.weights, *dense.weights]) == 9
    assert layer_utils.count_total_params([*model.layers, dense]) == (15, 6)


def test_print_summary_and_layer_from_config(capsys: pytest.CaptureFixture[str]):
    model = Sequential([layers.Dense(3, input_shape=(2,))])
    utils.print_summary(model, line_length=40)
    assert "Total params: 9" in capsys.readouterr().out
    assert layer_utils.layer_from_config({"class_name": "Dense", "config": {"units": 4}}).units == 4


def test_all_kernels_of_a_model_are_turned_round():
    model = Sequential(
        [layers.Conv2D(2, 3, input_shape=(5, 5, 1)), layers.DepthwiseConv2D(2), layers.Conv2DTranspose(1, 2)]
    )
    before = model.get_weights()
    utils.convert_all_kernels_in_model(model)
    for place, (old, new) in enumerate(zip(before, model.get_weights(), strict=True)):
        turned = place in (0, 4)
        assert np.array_equal(new, old[::-1, ::-1] if turned else old), place


@pytest.mark.parametrize("target", ["channels_first", "channels_last"])
def test_rows_of_a_dense_layer_follow_the_data_format(target: str):
    last, first = (5, 4, 3), (3, 5, 4)
    given, wanted = (last, first) if target == "channels_first" else (first, last)

    def model(shape: Any, data_format: str) -> Model:
        return Sequential(
            [layers.MaxPooling2D(1, data_format=data_format, input_shape=shape), layers.Flatten(), layers.Dense(2)]
        )

    other = "channels_last" if target == "channels_first" else "channels_first"
    old, new = model(given, other), model(wanted, target)
    x = np.random.default_rng(0).normal(size=(2, *given)).astype("float32")
    expected = old.predict(x)
    layer_utils.convert_dense_weights_data_format(old.layers[-1], wanted, target)
    new.set_weights(old.get_weights())
    moved = x.transpose(0, 3, 1, 2) if target == "channels_first" else x.transpose(0, 2, 3, 1)
    np.testing.assert_allclose(new.predict(moved), expected, atol=1e-5)


def test_source_inputs():
    a, b = Input((3,)), Input((3,))
    dense = layers.Dense(3)
    x = layers.add([dense(a), dense(b)])
    y = layers.add([x, x, a])
    found = utils.get_source_inputs(y)
    assert [each is wanted for each, wanted in zip(found, [a, b], strict=True)] == [True, True]
    assert utils.get_source_inputs(a)[0] is a
    assert utils.get_source_inputs(y, dense, 1)[0] is b
    assert utils.get_source_inputs(3) == 3


def test_source_inputs_of_a_deep_graph():
    inputs = x = Input((3,))
    for _ in range(300):
        x = layers.add([x, x])
    (found,) = utils.get_source_inputs(x)
    assert found is inputs


def test_several_devices_are_refused():
    text = "start one process for each device: `torchrun --nproc-per-node=2 script.py`."
    for gpus in (2, [0, 1]):
        with pytest.raises(NotImplementedError, match=re.escape(text)):
            utils.multi_gpu_model(None, gpus)


def test_a_model_is_drawn(tmp_path: Path):
    model = Sequential([layers.Dense(3, input_shape=(2,), name="out")])
    visualize_util.plot(model, to_file=str(tmp_path / "model.dot"), show_shapes=True)
    assert "out" in (tmp_path / "model.dot").read_text()


# --- tests of layers -------------------------------------------------------------------------------------------------


def test_test_data():
    (x, y), (x_test, y_test) = test_utils.get_test_data(nb_train=8, nb_test=4, input_shape=(3,), nb_class=4)  # type: ignore[call-arg]
    assert (x.shape, y.shape, x_test.shape, y_test.shape) == ((8, 3), (8,), (4, 3), (4,))
    assert set(np.concatenate([y, y_test])) <= set(range(4))
    (x, y), _ = test_utils.get_test_data(8, 4, (3, 2), (5,), classification=False)
    assert (x.shape, y.shape, x.dtype, y.dtype) == ((8, 3, 2), (8, 5), np.float32, np.float32)


def test_layer_test_passes_layers_and_finds_faults():
    output = test_utils.layer_test(layers.Dense, {"units": 3}, input_shape=(2, 4))
    assert output.shape == (2, 3)
    test_utils.layer_test(layers.Dropout, {"rate": 0.5}, input_shape=(2, None, 4), fixed_batch_size=False)
    x = np.ones((2, 3), "float32")
    test_utils.layer_test(layers.Activation, {"activation": "tanh"}, input_data=x, expected_output=np.tanh(x))
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        test_utils.layer_test(layers.Activation, {"activation": "tanh"}, input_data=x, expected_output=x)
    with pytest.raises(AssertionError, match=r"^layer_test: the type of the output is 'float32', not 'int32'\.$"):
        test_utils.layer_test(layers.Dense, {"units": 3}, input_shape=(2, 4), expected_output_dtype="int32")


def test_names_begin_anew_after_a_keras_test():
    @test_utils.keras_test
    def named() -> str:
        return layers.Dense(1).name

    named()
    assert named() == "dense_1"


@pytest.mark.parametrize(
    ("y", "classes", "rows", "deeds"),
    [
        ([-1, 1], None, [[0, 1], [0, 1]], ["-1 is no class number; it counts from the end, so it is class 1 of 2"]),
        ([-3, 2], 3, [[1, 0, 0], [0, 0, 1]], ["-3 is no class number; it counts from the end, so it is class 0 of 3"]),
        ([1.7, 0.2], None, [[0, 1], [1, 0]], ["1.7 is no class number; it is cut to an integer"]),
        ([-0.5, 2.0], None, [[1, 0, 0], [0, 0, 1]], ["-0.5 is no class number; it is cut to an integer"]),
        ([[0], [1]], None, [[1, 0], [0, 1]], []),
    ],
)
def test_class_numbers_as_keras_2_took_them(y: list[Any], classes: int | None, rows: list[Any], deeds: list[str]):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert np_utils.to_categorical(y, classes).tolist() == rows
    end = ", as in Keras 2. Count classes from 0: np.unique(y, return_inverse=True)[1] does."
    assert [str(each.message) for each in caught] == [f"to_categorical: {deed}{end}" for deed in deeds]
    assert all(each.filename == __file__ for each in caught)


def test_class_numbers_that_keras_2_refused():
    for y, number in (([-4, 1], 3), ([-1], None), ([3], 2)):
        with pytest.raises(ValueError, match=r"^to_categorical: class numbers must "):
            np_utils.to_categorical(y, number)
