"""Models whose inputs, calls and outputs are dicts: Keras counts these by their sorted keys, in every file."""

import copy
import json
import re
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import torch

from tests.numpy_pickles import loaded
from torchkeras import layers
from torchkeras.errors import ModelFileError
from torchkeras.layers import Dense, Input, Subtract
from torchkeras.models import Model, load_model, model_from_json, model_from_yaml

GOLDEN = Path(__file__).parents[1] / "golden" / "dicts"
GENUINE = ("keras-3.15-torch", "keras-3.15-tensorflow", "tf.keras-2.15-tensorflow")
UNSORTED = "torchkeras-unsorted"  # our own files, from before keys were sorted


RECORDS = {
    (version, name): loaded(packed.tobytes())
    for version in (*GENUINE, UNSORTED)
    for name, packed in np.load(GOLDEN / f"{version}.npz").items()
}


def scope_of(record):
    """The names of a record's source; layers made before shift the numbers in the names of those that follow."""
    scope = {**vars(layers), "Model": Model, "__name__": __name__}
    exec(record["own"], scope)  # noqa: S102  (as above)
    return scope


def built(record):
    scope = scope_of(record)
    exec(record["source"], scope)  # noqa: S102  (as above)
    return scope["model"]


def own_of(record):
    scope = scope_of(record)
    return {"Split": scope["Split"], "Join": scope["Join"]}


def stored(record, key, folder):
    path = folder / f"file.{key.partition('.')[2]}"
    path.write_bytes(record[key])
    return path


def check_equal(found, expected):
    """Numbers, and the form in which they are nested."""
    if isinstance(expected, dict):
        assert set(found) == set(expected)
        for key, item in expected.items():
            check_equal(found[key], item)
    elif isinstance(expected, (list, tuple)):
        assert isinstance(found, (list, tuple))
        for one, other in zip(found, expected, strict=True):
            check_equal(one, other)
    else:
        found = found.detach() if isinstance(found, torch.Tensor) else found
        np.testing.assert_allclose(np.asarray(found), expected, rtol=2e-5, atol=1e-6)


FILES = [
    (version, name, key)
    for (version, name), record in RECORDS.items()
    for key in record
    if key[:5] in ("whole", "weigh")
]
WHOLE = [each for each in FILES if each[2].startswith("whole")]
WEIGHTS = [each for each in FILES if each[2].startswith("weights")]
TRAINED = [each for each in WHOLE if each[1].startswith("trained")]


@pytest.mark.parametrize(("version", "name", "key"), WHOLE)
def test_models(version, name, key, tmp_path):
    record = RECORDS[version, name]
    model = load_model(stored(record, key, tmp_path), custom_objects=own_of(record))
    check_equal(model.predict(record["inputs"]), record["outputs"])
    check_equal(model(record["inputs"]), record["outputs"])


@pytest.mark.parametrize(("version", "name", "key"), WEIGHTS)
@pytest.mark.parametrize("shift", [0, 9])
def test_weights_alone(version, name, key, shift, tmp_path):
    """Whatever numbers the names of layers have, of which so many were made before."""
    record = RECORDS[version, name]
    for _ in range(shift):
        layers.Dense(1)
    model = built(record)
    model.load_weights(stored(record, key, tmp_path))
    check_equal(model.predict(record["inputs"]), record["outputs"])


@pytest.mark.parametrize(("version", "name"), [about for about in RECORDS if about[0] in GENUINE])
def test_the_order_of_weights_is_keras_s(version, name):
    record = RECORDS[version, name]
    model = built(record)
    model.set_weights(record["arrays"])
    check_equal(model.predict(record["inputs"]), record["outputs"])


def total(scores):
    return scores[0] if isinstance(scores, list) else scores


@pytest.mark.parametrize(("version", "name", "key"), TRAINED)
def test_training_goes_on(version, name, key, tmp_path):
    """Losses and their weights are those of their outputs; two more steps by the state in the file are Keras's."""
    record = RECORDS[version, name]
    model = load_model(stored(record, key, tmp_path))
    x, y, (before, after) = record["inputs"], record["targets"], record["scores"]
    assert total(model.evaluate(x, y)) == pytest.approx(total(before), rel=1e-5)
    if not key.endswith("pt"):  # which holds no state of an optimizer
        for _ in range(2):
            model.train_on_batch(x, y)
        assert total(model.evaluate(x, y)) == pytest.approx(total(after), rel=1e-5)


@pytest.mark.parametrize("suffix", ["keras", "h5", "pt", "safetensors"])
@pytest.mark.parametrize("name", [name for version, name in RECORDS if version == GENUINE[1]])
def test_there_and_back(name, suffix, tmp_path):
    record = RECORDS[GENUINE[1], name]
    model, path = built(record), tmp_path / f"model.{suffix}"
    model.save(path, include_optimizer=suffix in ("keras", "h5") or not name.startswith("trained"))
    again = load_model(path, custom_objects=own_of(record))
    expected = model.predict(record["inputs"])
    check_equal(again.predict(record["inputs"]), expected)
    assert [layer.name for layer in again.layers] == [layer.name for layer in model.layers]
    for text in (model.to_json(), model.to_yaml()):
        read = model_from_json if text.startswith("{") else model_from_yaml
        made = read(text, custom_objects=own_of(record))
        made.set_weights(model.get_weights())
        check_equal(made.predict(record["inputs"]), expected)
    check_equal(copy.deepcopy(again).predict(record["inputs"]), expected)


def subtracting():
    zz, aa = Input((1,), name="zz"), Input((1,), name="aa")
    return Model({"zz": zz, "aa": aa}, Subtract()([zz, aa]))


@pytest.mark.parametrize("suffix", ["keras", "h5", "pt"])
def test_a_model_with_dict_inputs_inside(suffix, tmp_path):
    inner, q, b = subtracting(), Input((1,), name="q"), Input((1,), name="b")
    outer = Model({"q": q, "b": b}, inner({"zz": q, "aa": b}))
    x = {"q": np.full((2, 1), 10.0), "b": np.ones((2, 1))}
    outer.save(tmp_path / f"model.{suffix}")
    for model in (outer, load_model(tmp_path / f"model.{suffix}")):
        assert model.predict(x).ravel().tolist() == [9.0, 9.0]


def test_layers_and_outputs_are_in_the_order_of_keys():
    inputs = Input((2,), name="i")
    model = Model(inputs, {"b": Dense(2, name="of_b")(inputs), "a": Dense(2, name="of_a")(inputs)})
    assert [layer.name for layer in model.layers] == ["i", "of_a", "of_b"]
    assert model.output_names == ["a", "b"]
    assert [each.full_name for each in model.weights] == [
        "of_a/kernel:0",
        "of_a/bias:0",
        "of_b/kernel:0",
        "of_b/bias:0",
    ]
    model.compile("sgd", {"b": "mse", "a": "mae"})
    assert model.metrics_names == ["loss", "a_loss", "b_loss"]
    assert list(model.predict(np.ones((1, 2)))) == ["b", "a"]  # as it was written


def test_torch_has_the_layers_as_they_were_written():
    """Names in a state_dict, and the order of parameters for an optimizer of torch, are no matter of Keras's."""
    inputs = Input((2,))
    model = Model(inputs, {"b": Dense(3)(inputs), "a": Dense(4)(inputs)})
    shapes = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    assert [(name, shape) for name, shape in shapes.items() if name.endswith("weight")] == [
        ("dense_a.linear.weight", (3, 2)),
        ("dense_b.linear.weight", (4, 2)),
    ]
    assert [tuple(each.shape) for each in model.parameters()] == [(3, 2), (3,), (4, 2), (4,)]
    assert [array.shape for array in model.get_weights()] == [(2, 4), (4,), (2, 3), (3,)]


def test_an_ordered_dict_counts_by_its_keys_too():
    """As in tf.keras; Keras 3 has it by its own order until it is saved."""
    inputs = Input((2,))
    outputs = OrderedDict([("b", Dense(2, name="of_b")(inputs)), ("a", Dense(2, name="of_a")(inputs))])
    assert [layer.name for layer in Model(inputs, outputs).layers][1:] == ["of_a", "of_b"]


def test_keys_that_cannot_be_sorted_count_as_they_stand():
    inputs = Input((2,))
    model = Model(inputs, {"b": Dense(2, name="of_b")(inputs), 1: Dense(2, name="of_1")(inputs)})
    assert [layer.name for layer in model.layers][1:] == ["of_b", "of_1"]


def test_the_keys_of_inputs_come_before_the_names():
    aa, zz = Input((1,), name="aa"), Input((1,), name="zz")
    model = Model({"zz": aa, "aa": zz}, Subtract()([aa, zz]))
    x = {"zz": torch.full((1, 1), 10.0), "aa": torch.ones(1, 1)}
    assert model(x).item() == 9.0
    assert model.predict({key: value.numpy() for key, value in x.items()}).item() == 9.0


@pytest.mark.parametrize("call", ["__call__", "predict"])
def test_a_list_in_the_place_of_a_dict(call):
    """It is taken in Keras's order, unless the dict was written in another one and the shapes tell nothing."""
    where = {"__call__": "its call", "predict": "x"}[call]
    model = subtracting()
    text = (
        f"Model '{model.name}': {where} takes the form {{'zz': ..., 'aa': ...}}; found a list. Keras sorts the keys of "
    )
    text += "a dict, and they were written in another order: give a dict."
    with pytest.raises(ValueError, match=re.escape(text)):
        getattr(model, call)([np.ones((1, 1), "float32")] * 2)
    one, two = Input((1,)), Input((2,))
    for keys in (("a", "z"), ("z", "a")):
        model = Model(dict(zip(keys, (one, two), strict=True)), {"y": Dense(1)(one), "x": Dense(2)(two)})
        arrays = dict(zip(keys, (np.ones((3, 1), "float32"), np.ones((3, 2), "float32")), strict=True))
        check_equal(getattr(model, call)([arrays["a"], arrays["z"]]), model.predict(arrays))


def test_targets_in_a_list_in_the_place_of_a_dict():
    inputs = Input((2,))
    model = Model(inputs, {"b": Dense(2)(inputs), "a": Dense(2)(inputs)})
    model.compile("sgd", "mse")
    text = f"Model '{model.name}': y takes the form {{'b': ..., 'a': ...}}; found a list."
    with pytest.raises(ValueError, match=re.escape(text)):
        model.evaluate(np.ones((1, 2)), [np.ones((1, 2))] * 2)


def test_one_input_or_output_in_a_dict_is_taken_alone():
    inputs = Input((2,))
    model = Model({"x": inputs}, {"y": Dense(1)(inputs)})
    model.compile("sgd", "mse")
    x, y = np.ones((3, 2)), np.ones((3, 1))
    assert model.evaluate(x, y) == model.evaluate({"x": x}, {"y": y})


def test_losses_of_outputs_in_a_dict_are_lists_for_keras_2(tmp_path):
    """Its names of outputs are those of layers."""
    inputs = Input((2,))
    model = Model(inputs, {"b": Dense(2)(inputs), "a": Dense(2)(inputs)})
    model.compile("sgd", {"b": "mse", "a": "mae"}, loss_weights={"b": 2.0}, metrics={"b": "mae"})
    model.save(tmp_path / "model.h5")
    with h5py.File(tmp_path / "model.h5") as file:
        training = json.loads(file.attrs["training_config"])
    assert training["loss"] == ["mae", "mse"]
    assert training["loss_weights"] == [1.0, 2.0]
    assert training["metrics"] == [[], ["mae"]]


def test_a_call_of_a_model_with_dict_inputs_is_a_dict_for_keras_3(tmp_path):
    """Which refuses a list in its place."""
    inner, q, b = subtracting(), Input((1,), name="q"), Input((1,), name="b")
    Model([q, b], inner({"zz": q, "aa": b})).save(tmp_path / "model.keras")
    with zipfile.ZipFile(tmp_path / "model.keras") as archive:
        entries = json.loads(archive.read("config.json"))["config"]["layers"]
    (call,) = next(entry["inbound_nodes"] for entry in entries if entry["name"] == inner.name)
    (given,) = call["args"]
    assert {key: tensor["config"]["keras_history"] for key, tensor in given.items()} == {
        "zz": ["q", 0, 0],
        "aa": ["b", 0, 0],
    }


# --- a dict inside a dict, whose keys Keras 3 does not sort on torch ------------------------------------------------

INSIDE = GOLDEN / "inside-on-torch"  # by Keras 3.15 on torch, after three steps of Adam; outputs after two more


def dict_inside(**names: str) -> Model:
    def dense(key: str) -> Dense:
        return Dense(2, name=names.get(key))

    i = Input((2,))
    return Model(i, {"z": {"b": dense("zb")(i), "a": dense("za")(i)}, "c": dense("c")(i)})


@pytest.mark.parametrize("suffix", ["keras", "h5"])
def test_training_goes_on_with_the_moments_in_the_order_of_torch(suffix):
    """Read in the order of the keys, those of a and b were exchanged: a was 0.3 off, b 0.8."""
    record, model = np.load(INSIDE / "io.npz"), load_model(INSIDE / f"model.{suffix}")
    x = record["x"]
    for _ in range(2):
        model.train_on_batch(x, {"z": {"b": x * 0, "a": x * 9}, "c": x * 0 + 3})
    check_equal(model.predict(x), {"z": {"a": record["a"], "b": record["b"]}, "c": record["c"]})


def test_names_say_which_layer_is_meant():
    model, whole = dict_inside(zb="zb", za="za", c="c"), load_model(INSIDE / "model.keras")
    model.load_weights(INSIDE / "model.weights.h5")
    check_equal(model.get_weights(), whole.get_weights())


def test_without_names_the_order_is_in_doubt():
    file, model = INSIDE / "model.weights.h5", dict_inside(zb="one", za="two", c="three")
    before = model.get_weights()
    with pytest.raises(ModelFileError) as error:
        model.load_weights(file)
    assert str(error.value) == (
        f"{file}: Keras 3 sorts the keys of a dict inside a dict, but not on torch. The file does not say on which "
        "backend it was written, and both orders fit two/kernel:0, two/bias:0, one/kernel:0, one/bias:0. Give the "
        "layers the names that they have in the file."
    )
    check_equal(model.get_weights(), before)


def test_our_own_weights_are_in_one_order(tmp_path):
    model, other = dict_inside(zb="zb", za="za", c="c"), dict_inside(zb="one", za="two", c="three")
    with pytest.warns(UserWarning, match="not on torch"):
        model.save_weights(tmp_path / "w.weights.h5")
    other.load_weights(tmp_path / "w.weights.h5")
    check_equal(other.get_weights(), model.get_weights())


@pytest.mark.parametrize("name", ["w.h5", "w.weights.h5"])
def test_weights_alone_warn_of_keras_3_on_torch(name, tmp_path):
    """It makes zb first there: read without a word, the weights of a and b are exchanged."""
    model, path = dict_inside(zb="zb", za="za", c="c"), tmp_path / name
    with pytest.warns(UserWarning, match="not on torch") as caught:
        model.save_weights(path)
    (found,) = caught
    assert str(found.message) == (
        f"{path}: {model.name!r} has a dict inside a dict, whose keys Keras 3 sorts, but not on torch: there it reads "
        "these weights in another order, unless the model is made with the keys in sorted order. A whole model, "
        "saved as .keras, has one order on every backend."
    )
    assert found.filename == __file__


def test_a_whole_model_has_one_order_for_keras_3_on_every_backend(tmp_path):
    """Keras 3.15 on torch, which keeps the order of the file, read the moments of a and b exchanged before."""
    i = {"q": {"z": Input((2,), name="z"), "c": Input((2,), name="c")}}
    inner = Model(i, {"o": {"b": Dense(2)(i["q"]["z"]), "a": Dense(2)(i["q"]["c"])}}, name="inner")
    j = Input((2,))
    found: Any = inner({"q": {"z": j, "c": j * 2.0}})
    model = Model(j, {"o": {"b": found["o"]["b"], "a": found["o"]["a"]}})
    model.save(tmp_path / "m.keras")
    config = json.loads(zipfile.ZipFile(tmp_path / "m.keras").read("config.json"))["config"]
    nested = next(entry for entry in config["layers"] if entry["name"] == "inner")
    assert [*config["output_layers"]["o"]] == ["a", "b"]
    assert [*nested["config"]["input_layers"]["q"]] == ["c", "z"]
    assert [*nested["config"]["output_layers"]["o"]] == ["a", "b"]
    assert [*nested["inbound_nodes"][0]["args"][0]["q"]] == ["c", "z"]
    x = np.ones((3, 2), np.float32)
    check_equal(load_model(tmp_path / "m.keras").predict(x), model.predict(x))
