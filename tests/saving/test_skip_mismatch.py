"""`load_weights` with `skip_mismatch` and `by_name`, in every format: most often to go on with another head."""

import warnings

import numpy as np
import pytest

import torchkeras
from torchkeras.errors import WeightMismatchError
from torchkeras.layers import LSTM, BatchNormalization, Bidirectional, Dense, Input
from torchkeras.models import Model, Sequential

FILES = ("m.h5", "w.h5", "m.keras", "m.weights.h5", "m.pt", "w.pt", "m.safetensors", "w.safetensors")
OPTIONS = [{"skip_mismatch": True}, {"skip_mismatch": True, "by_name": True}]
SKIPPED = "^Skipping loading of weights for layer {!r} due to mismatch of its weights: "


@pytest.fixture(autouse=True)
def fresh(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    torchkeras.clear_session()


def base():
    inputs = Input((3,))
    return Model(inputs, Dense(4, name="inner")(BatchNormalization(name="norm")(inputs)), name="base")


def network(classes, head="head"):
    inputs = Input((3,))
    return Model(inputs, Dense(classes, name=head)(Dense(4, name="middle")(base()(inputs))))


def written(model, name):
    model.set_weights([np.random.default_rng(0).normal(size=array.shape) for array in model.get_weights()])
    (model.save_weights if name.startswith("w.") or name.endswith(".weights.h5") else model.save)(name)
    return {layer.name: layer.get_weights() for layer in model.layers}


def same(layer, arrays):
    return all(map(np.array_equal, layer.get_weights(), arrays))


def assert_all_but(name, arrays, model, before, report):
    """The layer of that name has its old arrays still, the others those of the file."""
    assert report.left_in_model == (f"{name}/kernel:0", f"{name}/bias:0")
    assert same(model.get_layer(name), arrays)
    for layer in ("base", "middle"):
        assert same(model.get_layer(layer), before[layer])


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("name", FILES)
def test_another_head(name, options):
    before, model = written(network(2), name), network(5)
    head = model.get_layer("head").get_weights()
    with pytest.warns(UserWarning, match=SKIPPED.format("head")) as caught:
        report = model.load_weights(name, report=True, **options)
    assert len(caught) == 1
    assert len(report.left_in_file) == 2
    assert len(report.rows) == 8
    assert_all_but("head", head, model, before, report)


@pytest.mark.parametrize("name", FILES)
def test_without_it_nothing_is_set(name):
    written(network(2), name)
    model = network(5)
    values = model.get_weights()
    with pytest.raises(WeightMismatchError):
        model.load_weights(name)
    assert same(model, values)


@pytest.mark.parametrize("name", FILES)
def test_by_name_leaves_other_layers_alone_without_a_word(name):
    before, model = written(network(2), name), network(5, head="other")
    other = model.get_layer("other").get_weights()
    report = model.load_weights(name, by_name=True, report=True)
    assert_all_but("other", other, model, before, report)


@pytest.mark.parametrize("name", FILES)
def test_by_name_alone_refuses_another_shape(name):
    written(network(2), name)
    with pytest.raises(WeightMismatchError, match=r"head.*shape"):
        network(5).load_weights(name, by_name=True)


@pytest.mark.parametrize("name", [name for name in FILES if "h5" in name or "keras" in name])
def test_by_name_of_no_layer(name):
    written(Sequential([Dense(2, input_shape=(3,), name="a")]), name)
    with pytest.raises(WeightMismatchError, match="by_name finds no layer: the file has a; the model has b with"):
        Sequential([Dense(2, input_shape=(3,), name="b")]).load_weights(name, by_name=True)


@pytest.mark.parametrize("name", ["m.pt", "m.safetensors"])
def test_by_name_of_no_tensor(name):
    written(Sequential([Dense(2, input_shape=(3,), name="a")]), name)
    with pytest.raises(WeightMismatchError, match="by_name finds no layer: none of the names in it is one of the mod"):
        Sequential([Dense(2, input_shape=(3,), name="b")]).load_weights(name, by_name=True)


@pytest.mark.parametrize("name", ["m.weights.h5", "m.keras", "m.pt", "m.safetensors"])
def test_a_layer_that_the_file_does_not_have(name):
    before = written(Sequential([Dense(4, input_shape=(3,), name="a")]), name)
    model = Sequential([Dense(4, input_shape=(3,), name="a"), Dense(2, name="b")])
    with pytest.warns(UserWarning, match=SKIPPED.format("b")) as caught:
        model.load_weights(name, skip_mismatch=True)
    assert len(caught) == 1
    assert same(model.get_layer("a"), before["a"])


@pytest.mark.parametrize("name", ["m.h5", "w.h5"])
def test_another_number_of_layers_is_an_error_where_only_the_order_tells(name):
    written(Sequential([Dense(4, input_shape=(3,), name="a")]), name)
    model = Sequential([Dense(4, input_shape=(3,), name="a"), Dense(2, name="b")])
    with pytest.raises(WeightMismatchError, match="With by_name=True, layers are paired by their names, and others"):
        model.load_weights(name, skip_mismatch=True)


@pytest.mark.parametrize("name", ["m.weights.h5", "m.keras"])
def test_layers_inside_are_skipped_one_by_one(name):
    def made(units, first):
        inputs = Input((5, 3))
        lstm = Bidirectional(LSTM(units, recurrent_activation="sigmoid"), name="both")
        return Model(inputs, Dense(2, name="last")(lstm(Dense(first, name="first")(inputs))))

    before, model = written(made(3, 4), name), made(3, 6)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.load_weights(name, skip_mismatch=True)
    assert [str(each.message).split("'")[1] for each in caught] == ["first", "forward_lstm_2", "backward_lstm_2"]
    assert same(model.get_layer("last"), before["last"])


@pytest.mark.parametrize("name", FILES)
def test_all_that_fits_is_loaded_without_a_warning(name):
    model = network(2)
    written(model, name)
    again = network(2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again.load_weights(name, skip_mismatch=True)
        assert same(again, model.get_weights())
        again = network(2)
        again.load_weights(name, by_name=True)
    assert same(again, model.get_weights())
