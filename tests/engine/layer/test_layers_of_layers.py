"""Layers made of layers, and calls of any arguments: written as people write them, on symbols and on tensors."""

import collections
import copy
import dataclasses
import pickle
import re
from typing import Any

import numpy as np
import pytest
import torch
from hand_written import assert_equal_states, data, fit, steps
from torch import nn

import torchkeras
from torchkeras.base.nested import taken_apart
from torchkeras.engine.layer.layer import Layer
from torchkeras.layers import (
    BatchNormalization,
    Dense,
    Dropout,
    Embedding,
    GlobalAveragePooling1D,
    Input,
    LayerNormalization,
    MultiHeadAttention,
    TimeDistributed,
)
from torchkeras.models import Model, Sequential, load_model


@pytest.fixture(autouse=True)
def fresh_session():
    torchkeras.clear_session()
    torch.manual_seed(0)


class TransformerBlock(Layer):
    """As keras.io has it, in "Text classification with Transformer"."""

    def __init__(self, embed_dim, num_heads, ff_dim, rate=0.1):
        super().__init__()
        self.att = MultiHeadAttention(num_heads=num_heads, key_dim=embed_dim)
        self.ffn = Sequential([Dense(ff_dim, activation="relu"), Dense(embed_dim)])
        self.layernorm1 = LayerNormalization(epsilon=1e-6)
        self.layernorm2 = LayerNormalization(epsilon=1e-6)
        self.dropout1 = Dropout(rate)
        self.dropout2 = Dropout(rate)

    def call(self, inputs):
        attn_output = self.att(inputs, inputs)
        attn_output = self.dropout1(attn_output)
        out1 = self.layernorm1(inputs + attn_output)
        ffn_output = self.ffn(out1)
        ffn_output = self.dropout2(ffn_output)
        return self.layernorm2(out1 + ffn_output)


class TokenAndPositionEmbedding(Layer):
    def __init__(self, maxlen, vocab_size, embed_dim):
        super().__init__()
        self.token_emb = Embedding(input_dim=vocab_size, output_dim=embed_dim)
        self.pos_emb = Embedding(input_dim=maxlen, output_dim=embed_dim)

    def call(self, x):
        maxlen = x.shape[-1]
        positions = torch.arange(0, maxlen, 1)  # without a device, as people write it
        positions = self.pos_emb(positions)
        x = self.token_emb(x)
        return x + positions


def test_the_transformer_of_keras_io_as_it_stands():
    inputs = Input((20,), dtype="int64")
    x = TokenAndPositionEmbedding(20, 50, 16)(inputs)
    x = TransformerBlock(16, 2, 8)(x)
    x = GlobalAveragePooling1D()(x)
    model = Model(inputs, Dense(2, activation="softmax")(x))
    embeddings, attention, dense, norms, last = 70 * 16, 3 * 17 * 32 + 33 * 16, 17 * 8 + 9 * 16, 4 * 16, 17 * 2
    expected = embeddings + attention + dense + norms + last
    assert model.count_params() == sum(p.numel() for p in model.parameters()) == expected
    tokens, labels = np.random.default_rng(0).integers(0, 50, (32, 20)), np.arange(32) % 2
    before = [p.detach().clone() for p in model.parameters()]
    model.compile("adam", "sparse_categorical_crossentropy")
    model.fit(tokens, labels, epochs=1, verbose=0)
    moved = [bool((a != b).any()) for a, b in zip(before, model.parameters(), strict=True)]
    assert all(moved)


class Inner(Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.dense = Dense(units)

    def call(self, inputs):
        return torch.relu(self.dense(inputs))


class Nested(Layer):
    """Three deep, in a list, a dict, a tuple and a ModuleList, one of them shared."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.blocks = []
        for units in (5, 4):
            self.blocks.append(Inner(units))
        self.named = {"a": Inner(4), "more": [Inner(4)]}
        self.pair = (Inner(4), None)
        self.torch_list = nn.ModuleList([Inner(4), nn.Linear(4, 4)])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        x = self.named["a"](x) + self.named["more"][0](x) + self.pair[0](x)
        for module in self.torch_list:
            x = module(x)
        return self.named["a"](x)


class ByHand(nn.Module):
    """`Nested` in plain PyTorch, then one more layer; in the order of torch's parameters."""

    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Linear(6, 5), nn.Linear(5, 4)])
        self.a, self.more, self.pair = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 4)
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)
        self.last = nn.Linear(4, 3)

    def forward(self, x):
        for block in self.blocks:
            x = torch.relu(block(x))
        x = torch.relu(self.a(x)) + torch.relu(self.more(x)) + torch.relu(self.pair(x))
        x = self.second(torch.relu(self.first(x)))
        return self.last(torch.relu(self.a(x)))


def nested_model(told=False):
    class Told(Nested):
        def compute_output_shape(self, input_shape):
            return (*input_shape[:-1], 4)

    x = Input((6,))
    return Model(x, Dense(3, name="last")((Told() if told else Nested(name="nested"))(x)))


@pytest.mark.parametrize("told", [False, True])
def test_all_inside_is_trained_as_by_hand(told):
    model, by_hand = nested_model(told), ByHand()
    assert model.count_params() == sum(p.numel() for p in by_hand.parameters())
    by_hand.load_state_dict(dict(zip(by_hand.state_dict(), model.state_dict().values(), strict=True)))
    x, y = data(16, 6)
    model.compile("sgd", "mse")
    fit(model, x, y)
    steps(by_hand, torch.optim.SGD(by_hand.parameters(), 0.01), x, y)
    assert_equal_states(model.state_dict(), by_hand.state_dict())


@pytest.mark.parametrize("suffix", [".h5", ".keras"])
def test_it_is_saved_whole(suffix, tmp_path):
    model = nested_model()
    model.save(tmp_path / f"model{suffix}")
    again = load_model(tmp_path / f"model{suffix}", custom_objects={"Nested": Nested})
    assert_equal_states(again.state_dict(), model.state_dict())
    x = torch.randn(4, 6)
    torch.testing.assert_close(again(x), model.eval()(x))


@pytest.mark.parametrize("suffix", [".h5", ".weights.h5", ".pt", ".safetensors"])
def test_its_weights_are_saved(suffix, tmp_path):
    model, other = nested_model(), nested_model()
    model.save_weights(tmp_path / f"weights{suffix}")
    other.load_weights(tmp_path / f"weights{suffix}")
    assert_equal_states(other.state_dict(), model.state_dict())


def test_copies_have_their_own():
    model = nested_model()
    x = torch.randn(4, 6)
    for again in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):  # noqa: S301
        torch.testing.assert_close(again(x), model(x))
        assert not set(map(id, again.parameters())) & set(map(id, model.parameters()))
        nested = again.get_layer("nested")
        nested.blocks.append(nn.Linear(4, 4))
        assert len(list(again.parameters())) == len(list(model.parameters())) + 2


def test_containers_are_made_after_torch_has_compiled_something():
    """From then on torch keeps a weak reference to every module."""
    torch.compile(nn.Linear(2, 2), backend="eager")(torch.zeros(1, 2))
    layer = Nested()
    first, second = layer.pair
    assert (len(layer.pair), layer.pair[0], second, layer.pair == (first, None)) == (2, first, None, True)
    more = (1,)
    assert layer.pair + more == (first, None, 1)


def test_on_tensors_first_and_then_on_symbols():
    layer = Nested()
    x = torch.randn(4, 6)
    expected = layer(x)
    assert len(layer.weights) == 14
    model = Model(i := Input((6,)), layer(i))
    torch.testing.assert_close(model(x), expected)


def test_in_a_sequential_and_shared():
    layer = Inner(6)
    model = Sequential([layer, layer, Dense(3)])
    model.compile("sgd", "mse")
    x, y = data(8, 6)
    model.fit(x.numpy(), y.numpy(), verbose=0)
    assert len(model.weights) == len(list(model.parameters())) == 4


def test_in_a_wrapper():
    model = Sequential([TimeDistributed(Inner(3), input_shape=(None, 6))])
    assert model.output_shape == (None, None, 3)
    assert model(torch.randn(2, 5, 6)).shape == (2, 5, 3)


def test_a_buffer_that_a_call_replaces_is_there_after_the_graph_is_built():
    class Mean(Layer):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.register_buffer("mean", torch.zeros(3))

        def call(self, inputs):
            self.mean = 0.5 * self.mean + 0.5 * inputs.detach().mean(0)
            return inputs - self.mean

    layer = Mean()
    model = Model(x := Input((3,)), layer(x))
    assert layer.mean.tolist() == [0.0, 0.0, 0.0]
    model(torch.ones(2, 3))
    assert layer.mean.tolist() == [0.5, 0.5, 0.5]
    assert [w.numpy().tolist() for w in model.weights] == [[0.5, 0.5, 0.5]]


# --- arguments -------------------------------------------------------------------------------------------------------

Pair = collections.namedtuple("Pair", "first second")


@dataclasses.dataclass
class Output:
    """As the outputs of models in other libraries."""

    logits: Any = None
    hidden: Any = None


class Joined(Layer):
    """Tensors by position and by name, None, dicts in, any structure out."""

    def __init__(self, out="dict", **kwargs):
        super().__init__(**kwargs)
        self.out = out
        self.query, self.key = Dense(4, use_bias=False), Dense(4, use_bias=False)

    def call(self, query, key=None, extra=None, scale=1.0, sizes=(1, 2)):
        y = self.query(query) * scale
        if key is not None:
            y = y + self.key(key)
        if extra is not None:
            y = y + extra["bias"].sum(-1, keepdim=True)
        made = {
            "dict": {"y": y, "twice": y * 2},
            "tuple": (y, y * 2),
            "named": Pair(y, Pair(y * 2, None)),
            "object": Output(logits=y, hidden=[y * 2]),
        }
        return made[self.out]

    def get_config(self):
        return {**super().get_config(), "out": self.out}


def opened(found):
    if isinstance(found, dict):
        return [found["y"], found["twice"]]
    if isinstance(found, Pair):
        return [found.first, found.second.first]
    return [found.logits, found.hidden[0]] if isinstance(found, Output) else list(found)


CALLS = {
    "one": lambda layer, a, b, c: layer(a),
    "position": lambda layer, a, b, c: layer(a, b),
    "name": lambda layer, a, b, c: layer(query=a, key=b),
    "mixed": lambda layer, a, b, c: layer(a, extra={"bias": c}, scale=2.0),
    "None": lambda layer, a, b, c: layer(a, None, extra={"bias": c}, sizes=[3]),
    "all": lambda layer, a, b, c: layer(a, b, {"bias": c}, 0.5),
}


@pytest.mark.parametrize("out", ["dict", "tuple", "named", "object"])
@pytest.mark.parametrize("how", CALLS)
def test_arguments_and_outputs_of_any_form(how, out, tmp_path):
    layer, call = Joined(out, name="joined"), CALLS[how]
    a, b, c = Input((3,), name="a"), Input((5,), name="b"), Input((2,), name="c")
    found = call(layer, a, b, c)
    assert type(found) is {"dict": dict, "tuple": list, "named": Pair, "object": Output}[out]
    model = Model([a, b, c], opened(found))
    tensors = [torch.randn(2, size) for size in (3, 5, 2)]
    expected = opened(call(layer, *tensors))
    for name in ("model.h5", "model.keras"):
        model.save(tmp_path / name)
    saved = [load_model(tmp_path / name, custom_objects={"Joined": Joined}) for name in ("model.h5", "model.keras")]
    for again in (model, copy.deepcopy(model), pickle.loads(pickle.dumps(model)), *saved):  # noqa: S301
        for y, wanted in zip(again(*tensors), expected, strict=True):
            torch.testing.assert_close(y, wanted)


class OfBoth(Layer):
    """Takes a tensor, and an object with two."""

    def call(self, x, both, scale=1.0):
        first, second = both.values() if isinstance(both, dict) else both if isinstance(both, Pair) else opened(both)
        return x + (first - 2 * second) * scale


OBJECTS = {
    "named": Pair,
    "object": lambda first, second: Output(first, [second]),
    "mapping": lambda first, second: collections.OrderedDict(one=first, two=second),
}


def taking(make):
    """A layer that takes objects, and a model that gives it these."""
    layer, a, b = OfBoth(name="of_both"), Input((3,), name="a"), Input((3,), name="b")
    return layer, Model([a, b], [layer(a, make(a, b), 0.5), layer(x=b, both=make(b, a))])


@pytest.mark.parametrize("make", OBJECTS.values(), ids=OBJECTS)
def test_objects_with_tensors_by_position_and_by_name(make):
    layer, model = taking(make)
    x, y = torch.randn(2, 3), torch.randn(2, 3)
    expected = [layer(x, make(x, y), 0.5), layer(y, make(y, x))]
    for again in (model, copy.deepcopy(model), pickle.loads(pickle.dumps(model))):  # noqa: S301
        torch.testing.assert_close(again(x, y), expected)


@pytest.mark.torch("2.13", "its compiler follows copies of objects")
@pytest.mark.parametrize("make", OBJECTS.values(), ids=OBJECTS)
def test_a_graph_that_makes_objects_is_compiled_whole(make):
    _, model = taking(make)
    x, y = torch.randn(2, 3), torch.randn(2, 3)
    compiled: Any = torch.compile(model, backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(x, y), model(x, y))


def test_an_object_alone_is_an_argument_of_a_graph():
    class First(Layer):
        def call(self, both):
            return opened(both)[0]

    a, b = Input((3,)), Input((3,))
    model = Model([a, b], First(name="first")(Output(a, [b])))
    assert [layer.name for layer in model.layers[2:]] == ["first"]


@pytest.mark.parametrize("write", [lambda model, path: model.save(path), lambda model, path: model.to_json()])
def test_no_config_holds_an_object(write, tmp_path):
    a, b = Input((3,)), Input((3,))
    model = Model([a, b], OfBoth(name="of_both")(a, Pair(a, b)))
    text = (
        "OfBoth 'of_both': its call gets a Pair, which no config holds: pass its tensors one by one, or in a list or "
        "dict. save_weights and copy.deepcopy need none."
    )
    for suffix in ("h5", "keras", "safetensors"):
        with pytest.raises(TypeError, match=f"^{re.escape(text)}$"):
            write(model, tmp_path / f"model.{suffix}")


@dataclasses.dataclass
class Scored:
    """An output object with a named tuple and a list inside, and values that are no tensors."""

    score: Any
    hidden: Pair
    count: int = 2


def scored(x):
    return Scored(Dense(2, name="score")(x), Pair(Dense(3, name="first")(x), [Dense(1, name="last")(x), None]))


def check_scored(found: Any, model: Model, data: torch.Tensor) -> None:
    assert (type(found), type(found.hidden), found.count, found.hidden.second[1]) == (Scored, Pair, 2, None)
    expected = Model(model.inputs, model.outputs)(data)
    torch.testing.assert_close([found.score, found.hidden.first, found.hidden.second[0]], expected)


@pytest.mark.torch("2.13", "its compiler follows copies of objects")
def test_a_graph_whose_outputs_are_an_object_is_compiled_whole():
    model, data = Model(x := Input((3,)), scored(x)), torch.randn(4, 3)
    check_scored(torch.compile(model, backend="eager", fullgraph=True)(data), model, data)


def test_a_graph_gives_its_outputs_in_an_object():
    model = Model(x := Input((3,)), scored(x))
    data = torch.randn(4, 3)
    inner = model(Input((3,)))
    copies = (model, copy.deepcopy(model), pickle.loads(pickle.dumps(model)))  # noqa: S301
    for again in (*copies, torch.fx.symbolic_trace(model)):
        check_scored(again(data), model, data)
    assert inner.hidden.second[0].shape == (None, 1)
    assert model.compute_output_shape((4, 3)).score == (4, 2)


def test_fit_and_predict_take_and_give_an_object():
    made, plain = Model(x := Input((3,)), scored(x)), Model(y := Input((3,)), taken_apart(scored(y))[1])
    plain.set_weights(made.get_weights())
    data, targets = np.ones((4, 3), "float32"), [np.ones((4, size)) for size in (2, 3, 1)]
    as_object = Scored(targets[0], Pair(targets[1], [targets[2], None]))
    for model in (made, plain):
        model.compile("sgd", "mse")
    assert made.fit(data, as_object, verbose=0).history == plain.fit(data, targets, verbose=0).history
    assert made.evaluate(data, targets, verbose=0) == plain.evaluate(data, targets, verbose=0)
    found, expected = made.predict(data, verbose=0), plain.predict(data, verbose=0)
    assert [found.score.tolist(), found.hidden.first.tolist()] == [each.tolist() for each in expected[:2]]
    with pytest.raises(ValueError) as error:  # noqa: PT011
        made.fit(data, Output(), verbose=0)
    assert str(error.value) == f"Model {made.name!r}: y takes a Scored; found Output."


@dataclasses.dataclass(frozen=True, slots=True)
class Slotted:
    """An object that has no `__dict__`."""

    score: Any
    count: int = 2


def test_a_dataclass_may_have_slots():
    class Doubled(Layer):
        def call(self, given):
            return Slotted(given.score * given.count)

    model = Model(x := Input((3,)), Doubled()(Slotted(x)))
    assert model(torch.ones(1, 3)).score.tolist() == [[2.0] * 3]


class StepOfOwn(Model):
    def train_step(self, data):
        x, y, _ = data
        y_pred = self(x, training=True)
        assert type(y_pred) is Scored
        loss = self.compute_loss(x, y, y_pred)
        self.minimize(loss, len(x))
        return {"loss": loss}


def test_a_step_of_ones_own_gets_an_object():
    model = StepOfOwn(x := Input((3,)), scored(x))
    model.compile("sgd", "mse")
    targets = [np.ones((4, size)) for size in (2, 3, 1)]
    losses = model.fit(np.ones((4, 3)), targets, epochs=2, verbose=0).history["loss"]
    assert losses[1] < losses[0]


@pytest.mark.parametrize("write", [lambda model, path: model.save(path), lambda model, path: model.to_json()])
@pytest.mark.parametrize("suffix", ["h5", "keras", "safetensors", "pt"])
def test_no_config_holds_an_object_of_outputs(write, suffix, tmp_path):
    model = Model(x := Input((3,)), scored(x))
    with pytest.raises(TypeError) as error:
        write(model, tmp_path / f"model.{suffix}")
    assert str(error.value) == (
        f"Model {model.name!r}: its outputs are in a Scored, which no config holds: give them in a list or dict. "
        "save_weights and copy.deepcopy need none."
    )


@pytest.mark.parametrize("suffix", ["h5", "keras", "safetensors", "pt"])
def test_a_named_tuple_of_outputs_is_a_list_in_a_file_with_a_warning(suffix, tmp_path):
    x = Input((3,))
    inner = Model(x, {"pair": Pair(Dense(2)(x), Dense(1)(x))}, name="inner")
    model, path = Model(y := Input((3,)), inner(y), name="model"), tmp_path / f"model.{suffix}"
    with pytest.warns(UserWarning, match="named tuple") as found:
        model.save(path)
    assert [str(each.message) for each in found] == [
        f"Model {name!r}: its outputs are in the named tuple Pair. In a config or file it is a list, without names: "
        "give them in a dict to keep names."
        for name in ("model", "inner")
    ]
    data = np.ones((4, 3), "float32")
    before, after = model.predict(data, verbose=0)["pair"], load_model(path).predict(data, verbose=0)["pair"]
    assert (type(before), type(after)) == (Pair, list)
    assert [each.tolist() for each in after] == [each.tolist() for each in before]


def test_inputs_come_in_no_object():
    x = Input((3,))
    with pytest.raises(TypeError) as error:
        Model(Output(x), Dense(2)(x), name="model")
    assert str(error.value) == (
        "Model 'model': inputs must be symbolic tensors, the outputs of layers; found Output. Give its tensors one by "
        "one, or in a list, tuple or dict."
    )
    with pytest.raises(TypeError) as error:
        Model(x, Output(Dense(2)(x), Dense(2)), name="model")
    assert str(error.value) == (
        "Model 'model': outputs must be symbolic tensors, the outputs of layers; found Dense. Call the layer on a "
        "symbolic tensor and give its output."
    )


def test_gradients_reach_all_arguments():
    layer = Joined(name="joined")
    a, b = Input((3,)), Input((5,))
    model = Model([a, b], layer(a, key=b)["y"])
    model.compile("sgd", "mse")
    before = model.get_weights()
    model.train_on_batch([np.ones((4, 3)), np.ones((4, 5))], np.zeros((4, 4)))
    assert all((x != y).any() for x, y in zip(before, model.get_weights(), strict=True))


def test_an_argument_that_the_call_does_not_take():
    with pytest.raises(TypeError) as error:
        Joined(name="joined")(Input((3,)), keys=Input((3,)))
    assert str(error.value) == "Joined 'joined': its call takes no argument 'keys'."
    with pytest.raises(TypeError) as error:
        Dense(3, name="dense")(Input((3,)), Input((3,)))
    assert str(error.value) == "Dense 'dense': its call: too many positional arguments."


def test_a_mixed_policy_reaches_all_inside():
    model = Model(x := Input((6,)), Inner(3, dtype="mixed_bfloat16")(x))
    assert model.outputs[0].dtype is torch.bfloat16
    assert {p.dtype for p in model.parameters()} == {torch.float32}
    assert model(torch.randn(2, 6)).dtype is torch.bfloat16


def test_statistics_inside_follow_training():
    class Normed(Layer):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.norm = BatchNormalization(momentum=0.5)

        def call(self, inputs):
            return self.norm(inputs)

    layer = Normed()
    model = Model(x := Input((3,)), layer(x))
    model.compile("sgd", "mse")
    model.train_on_batch(np.ones((4, 3)), np.zeros((4, 3)))
    assert layer.norm.moving_mean.tolist() == [0.5, 0.5, 0.5]
    layer.trainable = False
    model.compile("sgd", "mse")
    assert model.trainable_weights == []


def test_a_sequential_of_own_layers_in_a_model_that_is_built_by_a_shape():
    class Block(Layer):
        def __init__(self):
            super().__init__()
            self.dense = Dense(4)

        def call(self, inputs):
            return self.dense(inputs)

    class Blocks(Model):
        def __init__(self):
            super().__init__()
            self.blocks = Sequential([Block(), Block()])

        def call(self, inputs):
            return self.blocks(inputs)

    model = Blocks()
    model.build((None, 3))
    assert not any(weight.is_meta for weight in model.parameters())
    assert model(torch.ones(2, 3)).shape == (2, 4)
