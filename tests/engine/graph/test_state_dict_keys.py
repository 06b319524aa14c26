"""The names of a model's tensors do not depend on what was made before in the process; layers of a graph replaced."""

import copy
import pickle
import subprocess
import sys
import textwrap
from collections import OrderedDict

import numpy as np
import pytest
import torch
from hand_written import data, fit, steps
from torch import nn

import torchkeras
from torchkeras.engine.graph.network import letters
from torchkeras.layers import BatchNormalization, Conv2D, Dense, Flatten, Input
from torchkeras.models import Model, Sequential, clone_model, load_model, model_from_json


@pytest.fixture(autouse=True)
def fresh_session():
    torchkeras.clear_session()
    torch.manual_seed(0)


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


# --- a layer replaced ------------------------------------------------------------------------------------------------


def classifier():
    x = Input((6,))
    return Model(x, Dense(3, name="head")(Dense(4, activation="relu", name="body")(x)))


def test_a_head_replaced_by_a_module_trains_as_by_hand():
    model, head = classifier(), nn.Linear(4, 2)
    by_hand = nn.Sequential(nn.Linear(6, 4), nn.ReLU(), copy.deepcopy(head))
    by_hand[0].load_state_dict(model.body.linear.state_dict())
    model.compile("sgd", "mse")
    model.fit(np.zeros((4, 6)), np.zeros((4, 3)), epochs=1, verbose=0)
    model.body.linear.load_state_dict(by_hand[0].state_dict())
    model.head = head
    assert (model.output_shape, model.head.module) == ((None, 2), head)
    x, y = data(16, 6, outputs=2)
    fit(model, x, y)
    steps(by_hand, torch.optim.SGD(by_hand.parameters(), 0.01), x, y)
    for found, expected in zip(model.parameters(), by_hand.parameters(), strict=True):
        torch.testing.assert_close(found, expected)
    assert model.count_params() == 6 * 4 + 4 + 4 * 2 + 2


def test_what_comes_after_a_replaced_layer_is_called_again():
    model = classifier()
    inner = Dense(4, activation="tanh", name="other")
    model.body = inner
    x = torch.randn(3, 6)
    torch.testing.assert_close(model(x), model.head.linear(torch.tanh(inner.linear(x))))
    assert [layer.name for layer in model.layers[1:]] == ["other", "head"]


def test_a_layer_of_a_sequential_replaced():
    model = Sequential([Dense(4, input_shape=(6,)), Dense(3, name="head")])
    model.head = Dense(2)
    model.add(Dense(5))
    assert [layer.name for layer in model.layers] == ["dense_1", "dense_2", "dense_3"]
    assert model(torch.randn(2, 6)).shape == (2, 5)


def test_a_module_that_does_not_fit_changes_nothing():
    model = classifier()
    code, before = model.code, list(model.state_dict())
    with pytest.raises(ValueError, match="cannot compute on input shape"):
        model.head = nn.Linear(9, 2)
    assert (model.code, list(model.state_dict())) == (code, before)


def test_a_module_beside_the_graph_is_a_weight_of_the_model(tmp_path):
    model = classifier()
    model.extra = nn.Linear(2, 2)
    assert model.count_params() == sum(p.numel() for p in model.parameters())
    for name in ("w.h5", "w.weights.h5", "w.pt"):
        model.save_weights(tmp_path / name)
        again = classifier()
        again.extra = nn.Linear(2, 2)
        again.load_weights(tmp_path / name)
        torch.testing.assert_close(again.extra.weight, model.extra.weight)
