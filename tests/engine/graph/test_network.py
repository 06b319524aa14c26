"""Graphs of layers: their order, names, nodes, nesting, and the errors of graphs that are none."""

import copy
import gc
import linecache
import pickle
import re
import subprocess
import sys
import textwrap
from collections import OrderedDict

import numpy as np
import pytest
import torch
from torch import nn

import torchkeras
from torchkeras.engine.graph.network import letters
from torchkeras.layers import (
    LSTM,
    Activation,
    Add,
    BatchNormalization,
    Concatenate,
    Conv2D,
    Dense,
    Flatten,
    GlobalAveragePooling2D,
    Input,
    Lambda,
    LeakyReLU,
    MaxPooling2D,
    TimeDistributed,
    ZeroPadding2D,
)
from torchkeras.models import Model, Sequential, clone_model, load_model, model_from_json


@pytest.fixture(autouse=True)
def fresh_session():
    torchkeras.clear_session()
    torch.manual_seed(0)


def small():
    x = Input((4,))
    return Model(x, Dense(2)(Dense(3)(x)))


# --- the order of layers, as genuine Keras 2.2.4 gives it ------------------------------------------------------------


def diamond():
    a, b = Input((4,), name="a"), Input((4,), name="b")
    left = Dense(3, name="left")(a)
    right = Dense(3, name="right")(b)
    deep = Dense(3, name="deep")(Dense(3, name="middle")(b))
    joined = Add(name="joined")([right, left])
    return Model([a, b], Concatenate(name="out")([deep, joined]))


def shared():
    dense = Dense(4, name="shared")
    a, b = Input((4,), name="a"), Input((4,), name="b")
    first = dense(a)
    second = dense(Dense(4, name="before")(b))
    return Model([b, a], [Dense(2, name="top")(second), Dense(1, name="side")(first)])


def residual():
    x = Input((8, 8, 3), name="image")
    y = Conv2D(4, 3, padding="same", name="stem")(x)
    for k in range(2):
        z = Conv2D(4, 3, padding="same", name=f"conv{k}")(y)
        z = BatchNormalization(name=f"norm{k}")(z)
        y = Activation("relu", name=f"relu{k}")(Add(name=f"add{k}")([z, y]))
    pooled = GlobalAveragePooling2D(name="pool")(y)
    return Model(x, [Dense(2, name="classes")(pooled), pooled])


def two_ends():
    x = Input((5,), name="x")
    late, early = Dense(2, name="late"), Dense(2, name="early")
    a = early(x)
    b = late(Dense(5, name="inner")(x))
    c = Lambda(lambda t: t * 2.0, name="double")(a)
    return Model(x, [b, c, a])


BLOCKS = ["conv0", "norm0", "add0", "relu0", "conv1", "norm1", "add1", "relu1"]
ORDERS = {
    diamond: ["b", "a", "middle", "right", "left", "deep", "joined", "out"],
    shared: ["b", "before", "a", "shared", "top", "side"],
    residual: ["image", "stem", *BLOCKS, "pool", "classes"],
    two_ends: ["x", "inner", "early", "late", "double"],
}


@pytest.mark.parametrize("build", ORDERS)
def test_layers_stand_in_kerass_order(build):
    assert [layer.name for layer in build().layers] == ORDERS[build]


def test_an_input_that_no_output_needs_stays_an_input():
    a, b = Input((2,), name="a"), Input((2,), name="b")
    model = Model([a, b], Dense(1, name="d")(a))
    assert [layer.name for layer in model.layers] == ["a", "b", "d"]
    assert model(torch.ones(3, 2), torch.ones(3, 2)).shape == (3, 1)


# --- names -----------------------------------------------------------------------------------------------------------


def test_automatic_names_count_afresh_after_clear_session():
    for _ in range(2):
        torchkeras.clear_session()
        layers = [Dense(1), Dense(1), Conv2D(1, 1), MaxPooling2D(), LSTM(1), LeakyReLU(), ZeroPadding2D(), Sequential()]
        layers += [BatchNormalization(), GlobalAveragePooling2D(), TimeDistributed(Flatten())]
        assert [layer.name for layer in layers] == [
            *("dense_1", "dense_2", "conv2d_1", "max_pooling2d_1", "lstm_1", "leaky_re_lu_1", "zero_padding2d_1"),
            *("sequential_1", "batch_normalization_1", "global_average_pooling2d_1", "time_distributed_1"),
        ]
        assert Input((1,)).name == "input_1"
        assert small().name == "model_1"


def test_get_layer():
    model = small()
    assert model.get_layer("dense_1") is model.layers[2]
    assert model.get_layer(index=1) is model.layers[1]
    assert model.get_layer(index=-1) is model.layers[2]
    assert model.get_layer("dense_1", index=2) is model.layers[2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "nope"}, "No such layer: 'nope'. The layers are input_1, dense_2, dense_1."),
        ({"index": 3}, "Was asked to retrieve layer at index 3 but model only has 3 layers."),
        ({}, "Provide either a layer name or layer index."),
        (
            {"name": "dense_1", "index": 0},
            "get_layer: name and index are of two layers: found 'dense_1', and 'input_1' at 0. Give one of them.",
        ),
    ],
)
def test_get_layer_errors(arguments, message):
    with pytest.raises(ValueError, match="layer") as error:
        small().get_layer(**arguments)
    assert str(error.value) == message


# --- nodes of shared layers ------------------------------------------------------------------------------------------


def test_a_shared_layer_has_a_node_for_every_call():
    layer = Conv2D(2, 3, name="conv")
    a, b = Input((8, 8, 3)), Input((9, 9, 3))
    outputs = [layer(a), layer(b)]
    assert [layer.get_input_at(k) for k in (0, 1)] == [a, b]
    assert [layer.get_output_at(k) for k in (0, 1)] == outputs
    assert [layer.get_input_shape_at(k) for k in (0, 1)] == [(None, 8, 8, 3), (None, 9, 9, 3)]
    assert [layer.get_output_shape_at(k) for k in (0, 1)] == [(None, 6, 6, 2), (None, 7, 7, 2)]
    assert [layer.get_input_mask_at(0), layer.get_output_mask_at(1)] == [None, None]
    assert [tensor._keras_history[1:] for tensor in outputs] == [(0, 0), (1, 0)]
    for what in ("input", "output", "input_mask", "output_mask"):
        with pytest.raises(AttributeError) as error:
            getattr(layer, what)
        assert str(error.value) == (
            f"Layer conv has multiple inbound nodes, hence the notion of 'layer {what.replace('_', ' ')}' is "
            f"ill-defined. Use `get_{what}_at(node_index)` instead."
        )
    for side in ("input", "output"):
        with pytest.raises(AttributeError) as error:
            getattr(layer, f"{side}_shape")
        assert str(error.value) == (
            f"The layer 'conv' has multiple inbound nodes with different {side} shapes. Hence the notion of "
            f"'{side} shape' is ill-defined for the layer. Use `get_{side}_shape_at(node_index)` instead."
        )
    with pytest.raises(ValueError, match="node 2") as error:
        layer.get_input_at(2)
    assert str(error.value) == "Asked to get input at node 2, but the layer has only 2 inbound nodes."


def test_shapes_that_agree_are_told():
    layer = Dense(3)
    layer(Input((4,)))
    layer(Input((4,)))
    assert (layer.input_shape, layer.output_shape) == ((None, 4), (None, 3))


def test_a_layer_without_calls():
    layer = Dense(3, name="d")
    with pytest.raises(RuntimeError) as runtime:
        layer.get_output_shape_at(0)
    assert str(runtime.value) == "The layer has never been called and thus has no defined output shape."
    for name, message in {
        "output": "Layer d is not connected, no output to return.",
        "output_shape": "The layer has never been called and thus has no defined output shape.",
        "kernel": "d: kernel is made when the layer is first called. Call it before, or build it.",
        "nothing": "'Dense' object has no attribute 'nothing'",
    }.items():
        with pytest.raises(AttributeError) as error:
            getattr(layer, name)
        assert str(error.value) == message


def test_nodes_tell_where_their_inputs_come_from():
    model = shared()
    node = model.get_layer("shared")._inbound_nodes[1]
    assert [layer.name for layer in node.inbound_layers] == ["before"]
    assert (node.node_indices, node.tensor_indices) == ([0], [0])
    assert (node.input_shapes, node.output_shapes) == ([(None, 4)], [(None, 4)])


# --- several inputs, models in models --------------------------------------------------------------------------------


def test_several_inputs_and_outputs():
    model = shared()
    assert model.input_names == ["b", "a"]
    assert model.output_names == ["top", "side"]
    assert (model.input_shape, model.output_shape) == ([(None, 4)] * 2, [(None, 2), (None, 1)])
    assert model.input == model.inputs
    b, a = torch.randn(3, 4), torch.randn(3, 4)
    dense, before, top, side = (model.get_layer(name) for name in ("shared", "before", "top", "side"))
    for found, expected in zip(model([b, a]), [top(dense(before(b))), side(dense(a))], strict=True):
        torch.testing.assert_close(found, expected)
    by_name = model.predict({"a": a.numpy(), "b": b.numpy()})
    np.testing.assert_allclose(by_name[1], side(dense(a)).detach().numpy(), rtol=1e-6)


def test_one_output_is_no_list():
    model = Model([x := Input((3,))], [Dense(2)(x)])
    assert (model.input_shape, model.output_shape) == ((None, 3), (None, 2))
    assert model.output is model.outputs[0]


def test_a_model_as_a_layer_shares_its_weights():
    inner = small()
    x = Input((4,))
    outer = Model(x, inner(x) + inner(x * 2.0))
    values = torch.randn(3, 4)
    torch.testing.assert_close(outer(values), inner(values) + inner(values * 2))
    assert outer.count_params() == inner.count_params() == 23
    assert inner.get_output_shape_at(1) == (None, 2)
    assert inner.get_input_at(0) is inner.input


def test_models_in_models_in_models():
    x, model = Input((4,)), small()
    for depth in range(4):
        z = Input((4,))
        model = Model(z, model(z), name=f"depth{depth}")
    values = torch.randn(2, 4)
    torch.testing.assert_close(Model(x, model(x))(values), model(values))
    assert next(iter(model.state_dict())) == "depth2.depth1.depth0.model_a.dense_a.linear.weight"


def test_a_model_over_a_part_of_another_shares_its_layers():
    base = residual()
    part = Model(base.input, base.get_layer("relu0").output)
    assert [layer.name for layer in part.layers] == ["image", "stem", *BLOCKS[:4]]
    assert part.get_layer("stem") is base.get_layer("stem")
    tail = Model(base.input, Dense(3)(base.get_layer("pool").output))
    assert tail(torch.zeros(2, 8, 8, 3)).shape == (2, 3)


def test_an_input_may_be_an_output():
    x = Input((3,), name="x")
    model = Model(x, [x, x])
    assert model.output_names == ["x", "x_1"]
    assert [found.tolist() for found in model(torch.ones(1, 3))] == [[[1.0] * 3]] * 2


# --- weights ---------------------------------------------------------------------------------------------------------


def test_weights_as_arrays_in_kerass_layout():
    model = small()
    assert [array.shape for array in model.get_weights()] == [(4, 3), (3,), (3, 2), (2,)]
    arrays = [np.full(array.shape, k, "float32") for k, array in enumerate(model.get_weights())]
    model.set_weights(arrays)
    for found, expected in zip(model.get_weights(), arrays, strict=True):
        np.testing.assert_array_equal(found, expected)
    assert model.count_params() == 23
    assert model.get_layer("dense_1").count_params() == 8


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (
            [(4, 3)],
            (
                "model_1: set_weights was given 1 arrays; the layer has 4 weights: dense_2/kernel:0, dense_2/bias:0, "
                "dense_1/kernel:0, dense_1/bias:0."
            ),
        ),
        (
            [(4, 3), (3,), (2, 3), (2,)],
            (
                "model_1: weight 'dense_1/kernel:0' has shape (3, 2); the array given for it has shape (2, 3). Give "
                "arrays as get_weights() does, kernels as (inputs, units)."
            ),
        ),
    ],
)
def test_set_weights_errors_change_nothing(shapes, message):
    model = small()
    before = model.get_weights()
    with pytest.raises(ValueError, match="model_1") as error:
        model.set_weights([np.ones(shape) for shape in shapes])
    assert str(error.value) == message
    for found, expected in zip(model.get_weights(), before, strict=True):
        np.testing.assert_array_equal(found, expected)


def test_count_params_needs_a_built_layer():
    with pytest.raises(RuntimeError) as error:
        Dense(2).count_params()
    assert str(error.value) == (
        "You tried to call `count_params` on dense_1, but the layer isn't built. You can build it by calling it, or "
        "with `dense_1.build(input_shape)`."
    )


def test_the_lines_of_a_model_are_there_as_long_as_it_is():
    def lines() -> list[str]:
        return [name for name in linecache.cache if "passing_by" in name]

    model = Sequential([Dense(2, input_shape=(3,))], name="passing_by")
    model(torch.ones(1, 3))
    assert lines() == ["<torchkeras passing_by>"]
    other = Sequential([Dense(2, input_shape=(3,))], name="passing_by")
    other(torch.ones(1, 3))
    del model
    gc.collect()
    assert lines() == ["<torchkeras passing_by>"]  # now the other's
    del other
    gc.collect()
    assert lines() == []


def test_a_layer_of_the_graph_is_not_deleted():
    model = Sequential([Dense(2, input_shape=(3,), name="first")], name="m")
    model.other = torch.nn.Linear(2, 2)
    del model.other
    text = "Sequential 'm': 'first' is a layer of its graph: put another in its place, or make a model without it."
    with pytest.raises(AttributeError, match=f"^{re.escape(text)}$"):
        del model.first


@pytest.mark.parametrize(("value", "kind"), [(np.float64(3), "float64"), (3, "int")])
def test_a_number_is_no_input(value, kind):
    model = Sequential([Dense(2, input_shape=(3,))], name="m")
    text = f"Sequential 'm': its call takes tensors or arrays; found {value!r}, of type {kind}."
    with pytest.raises(TypeError, match=f"^{re.escape(text)}$"):
        model(value)


def test_a_layer_beside_the_graph_may_be_unbuilt():
    model = Sequential([Dense(2, input_shape=(3,))])
    model.beside = Dense(4)
    model.compile("sgd", "mse")
    model.fit(np.ones((4, 3)), np.ones((4, 2)), verbose=0)
    assert model(torch.ones(1, 3)).shape == (1, 2)
    assert not model.beside.built


# --- names of submodules, which do not depend on what was made before -------------------------------------------------


def build():
    image = Input((6, 6, 1))
    h = BatchNormalization()(Conv2D(2, 3)(image))
    h = Flatten()(Conv2D(2, 3, name="second.conv")(h) + 1)
    return Model(image, Sequential([Dense(4), Dense(3)])(Dense(5, name="dense")(h)))


KEYS = [
    "conv2d_a.conv.weight",
    "conv2d_a.conv.bias",
    "batch_normalization_a.norm.weight",
    "batch_normalization_a.norm.bias",
    "batch_normalization_a.norm.running_mean",
    "batch_normalization_a.norm.running_var",
    "batch_normalization_a.norm.num_batches_tracked",
    "second_conv.conv.weight",
    "second_conv.conv.bias",
    "dense.linear.weight",
    "dense.linear.bias",
    "sequential_a.dense_a.linear.weight",
    "sequential_a.dense_a.linear.bias",
    "sequential_a.dense_b.linear.weight",
    "sequential_a.dense_b.linear.bias",
]


IMAGES = torch.randn(2, 6, 6, 1)


def test_a_second_model_of_the_same_code_has_the_same_keys():
    first, second = build(), build()
    assert first.layers[1].name != second.layers[1].name
    assert list(first.state_dict()) == list(second.state_dict()) == KEYS
    second.load_state_dict(first.state_dict())
    torch.testing.assert_close(second.eval()(IMAGES), first.eval()(IMAGES))


def test_copies_and_models_of_configs_have_them_too(tmp_path):
    build()
    model = build()
    model.save(tmp_path / "model.h5")
    model.save(tmp_path / "model.keras")
    loaded = [load_model(tmp_path / name) for name in ("model.h5", "model.keras")]
    copies = [copy.deepcopy(model), pickle.loads(pickle.dumps(model))]  # noqa: S301
    for again in (*loaded, *copies, clone_model(model), model_from_json(model.to_json())):
        assert list(again.state_dict()) == KEYS
        again.load_state_dict(model.state_dict())


@pytest.mark.parametrize("suffix", [".pt", ".safetensors"])
def test_files_of_another_process_load(suffix, tmp_path):
    path = tmp_path / f"weights{suffix}"
    code = textwrap.dedent(f"""
        from torchkeras.layers import Dense
        from torchkeras.models import Sequential
        for _ in range(3):
            model = Sequential([Dense(4, input_shape=(3,)), Dense(2)])
        model.save_weights({str(path)!r})
    """)
    subprocess.run([sys.executable, "-c", code], check=True)
    model = Sequential([Dense(4, input_shape=(3,)), Dense(2)])
    before = model.get_weights()
    model.load_weights(path)
    assert (before[0] != model.get_weights()[0]).any()


def test_keys_of_older_versions_are_read(tmp_path):
    model = build()
    names = {"conv2d_a": "conv2d_1", "batch_normalization_a": "batch_normalization_1", "sequential_a": "sequential_1"}
    old = OrderedDict()
    for key, tensor in model.state_dict().items():
        first, _, rest = key.partition(".")
        rest = rest.replace("dense_a.", "dense_1.").replace("dense_b.", "dense_2.")
        old[f"{names.get(first, first)}.{rest}"] = torch.randn_like(tensor) if tensor.is_floating_point() else tensor
    torch.save(old, tmp_path / "old.pt")
    again = copy.deepcopy(model)
    model.load_state_dict(old)
    again.load_weights(tmp_path / "old.pt")
    for read in (model, again):
        for found, expected in zip(read.state_dict().values(), old.values(), strict=True):
            assert torch.equal(found, expected)


def test_a_layer_is_found_by_its_name():
    build()
    model = build()
    for layer in model.layers[1:]:
        if "." not in layer.name:
            assert getattr(model, layer.name) is layer
    assert model.conv2d_a is model.layers[1]
    with pytest.raises(AttributeError, match="conv2d_9"):
        _ = model.conv2d_9


def test_a_layer_may_have_the_name_of_a_key():
    x = Input((3,))
    model = Model(x, Dense(2)(Dense(3, name="dense_a")(Dense(3)(x))))
    assert [key.partition(".")[0] for key in model.state_dict()][::2] == ["dense_b", "dense_a", "dense_c"]


def test_letters():
    assert [letters(number) for number in (1, 2, 26, 27, 52, 53, 703)] == ["a", "b", "z", "aa", "az", "ba", "aaa"]


def test_a_sequential_has_the_same_keys_before_and_after_it_is_built():
    model = Sequential([Dense(4), nn.Linear(4, 4), Dense(2)])
    before = [name for name, _ in model.named_children()]
    model.build((None, 3))
    assert [name for name, _ in model.named_children()] == before == ["dense_a", "torch_module_a", "dense_b"]
