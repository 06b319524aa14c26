"""One object for each weight of the dialect: where it is kept, how it follows torch's tensors, and what is refused."""

import copy
import pickle
import re

import numpy as np
import pytest
import torch

from torchkeras import keras3
from torchkeras.keras3 import Variable, layers

ROWS = torch.ones(2, 3)


class Scale(layers.Layer):
    def build(self, input_shape):
        self.scale = self.add_weight(shape=(input_shape[-1],), initializer="ones", name="scale")
        self.calls = self.add_weight(initializer="zeros", trainable=False)
        self.listed = [Variable(1.0), self.add_weight(initializer="ones")]

    def call(self, inputs):
        self.calls.assign_add(1)
        return inputs * self.scale + self.listed[0] + self.listed[1]


@pytest.mark.parametrize(
    ("layer", "shape", "names"),
    [
        (layers.Dense(2), (None, 3), ("kernel", "bias")),
        (layers.Conv1D(2, 2), (None, 4, 3), ("kernel", "bias")),
        (layers.GRU(2), (None, 4, 3), ("kernel", "recurrent_kernel", "bias")),
        (layers.LSTM(2), (None, 4, 3), ("kernel", "recurrent_kernel", "bias")),
        (layers.BatchNormalization(), (None, 3), ("gamma", "beta", "moving_mean", "moving_variance")),
        (layers.SeparableConv1D(2, 2), (None, 4, 3), ("depthwise_kernel", "pointwise_kernel", "bias")),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_attribute_is_the_entry_of_weights(layer, shape, names):
    layer.build(shape)
    for name, weight in zip(names, layer.weights, strict=True):
        assert getattr(layer, name) is weight
        assert isinstance(weight, Variable)
        weight.assign(np.full(weight.shape, 0.5))
        assert all(bool((tensor == 0.5).all()) for tensor in weight.tensors)


def test_what_add_weight_returns_is_the_attribute_and_the_entry():
    layer = Scale()
    layer(ROWS)
    assert layer.scale is layer.weights[0]
    assert {id(each.value) for each in layer.trainable_weights} == set(map(id, layer.parameters()))
    assert len(layer.weights) == len(set(map(id, layer.weights))) == 4
    assert float(layer.calls) == 1.0
    del layer.scale
    assert "scale" not in dict(layer.named_parameters())
    assert len(layer.weights) == 3


def test_a_weight_follows_moves_state_dicts_copies_and_pickles():
    layer = Scale()
    layer(ROWS)
    scale = layer.scale
    layer.load_state_dict({name: torch.full_like(tensor, 3.0) for name, tensor in layer.state_dict().items()})
    assert scale.numpy().tolist() == [3.0, 3.0, 3.0]
    layer.load_state_dict(
        {name: torch.full_like(tensor, 4.0) for name, tensor in layer.state_dict().items()}, assign=True
    )
    assert scale.numpy().tolist() == [4.0, 4.0, 4.0]
    layer.to(torch.float64)
    assert (scale.dtype, layer.calls.dtype, layer.scale is scale) == ("float64", "float64", True)
    for again in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):  # noqa: S301
        assert again.scale is again.weights[0]
        assert again.scale.layer is again
        assert again.scale.value is not scale.value
        assert any(again.listed[0] is each for each in again.weights)


def test_training_moves_the_one_object():
    model = keras3.Sequential([keras3.Input((3,)), layers.Dense(2), Scale()])
    kernel, scale = model.layers[0].kernel, model.layers[1].scale
    before = kernel.numpy(), scale.numpy()
    model.compile(keras3.optimizers.SGD(0.1), "mse", jit_compile=False)
    model.fit(np.ones((4, 3)), np.zeros((4, 2)), verbose=0)
    assert (kernel.numpy() != before[0]).any()
    assert (scale.numpy() != before[1]).any()
    assert kernel is model.layers[0].weights[0]


@pytest.mark.torch("2.13", "its compiler follows layers of your own for Keras 3")
def test_torch_computes_with_it_in_compiled_code():
    layer = Scale()
    layer(ROWS)
    compiled = torch.compile(layer, backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(ROWS), layer(ROWS))
    assert float(layer.calls) == 3.0


@pytest.mark.torch("2.13", "its compiler follows layers of your own for Keras 3")
def test_torch_computes_with_low_rank_matrices_in_compiled_code():
    layer = layers.Dense(2, lora_rank=2)
    model = keras3.Sequential([keras3.Input((3,)), layer])
    layer.lora_kernel_b.assign(np.ones((2, 2)))
    torch.testing.assert_close(torch.compile(model, backend="eager")(ROWS), layer(ROWS))


def test_torch_computes_with_it():
    dense = layers.Dense(2)
    dense.build((None, 3))
    torch.testing.assert_close(torch.cat([dense.kernel, dense.kernel]), dense.kernel.value.repeat(2, 1))
    torch.testing.assert_close(torch.nn.functional.linear(ROWS, dense.kernel.T, dense.bias), dense(ROWS))
    dense.kernel.sum().backward()
    assert dense.linear.weight.grad is not None
    assert dense.kernel.value.grad.shape == (3, 2)
    dense.kernel.grad = None
    assert dense.linear.weight.grad is None
    dense.kernel.requires_grad = False
    assert not dense.kernel.trainable


def test_a_symbolic_tensor_takes_it_as_a_weight():
    dense = layers.Dense(2)
    dense.build((None, 3))
    inputs = keras3.Input((3,))
    model = keras3.Model(inputs, keras3.ops.matmul(inputs, dense.kernel) * 2)
    dense.kernel.assign(np.ones((3, 2)))
    assert model(ROWS).tolist() == [[6.0, 6.0], [6.0, 6.0]]


def test_a_penalty_of_a_frozen_weight_does_not_count():
    dense = layers.Dense(2, kernel_regularizer="l2")
    dense.build((None, 3))
    assert len(dense.losses) == 1
    dense.kernel.trainable = False
    assert dense.losses == []
    dense.kernel.trainable = True
    dense.kernel.regularizer = None
    assert dense.losses == []
    assert dense.kernel_regularizer is None


def test_a_weight_of_another_layer_is_shared():
    class Tied(layers.Layer):
        def __init__(self, other):
            super().__init__()
            self.table = other.embeddings

        def call(self, inputs):
            return keras3.ops.matmul(inputs, self.table)

    table = layers.Embedding(3, 2)
    table.build((None, 1))
    tied = Tied(table)
    assert tied.weights[0] is table.embeddings
    assert next(tied.parameters()) is next(table.parameters())
    torch.testing.assert_close(tied(ROWS), ROWS @ table.embedding.weight)


@pytest.mark.parametrize(
    ("deed", "text"),
    [
        (lambda: bool(Variable(1.0)), "a variable is no truth value"),
        (lambda: Variable(1.0, name="a/b"), "Variable: name must be a text without '/'; found 'a/b'."),
        (lambda: layers.Layer(name="l").add_weight("w"), "Layer 'l': add_weight: name must be given by name"),
        (lambda: layers.Layer(name="l").add_weight((1,), shape=(1,)), "shape is given twice, by position and by name."),
        (lambda: layers.Layer(name="l").add_weight((), "ones", None, 1), "takes at most 3 arguments by position"),
        (lambda: setattr(Variable(1.0, name="v"), "constraint", 3), "constraint must be a function or None; found 3."),
        (lambda: layers.Dense(2, trainable=None, name="d"), "Dense 'd': trainable must be True or False; found None."),
        (lambda: layers.Dense(2, name="d").enable_lora(2), "Dense 'd': enable_lora needs the kernel"),
        (lambda: layers.Dense(2, kernel_constraint="max_norm").enable_lora(2), "kernel_constraint must be None"),
        (lambda: layers.Dense(2, name="d").quantize("int8"), "Dense 'd' has no quantize: quantize the torch module"),
        (lambda: layers.Dense(2, name="d").stateless_call([], [], ROWS), "stateless_call needs weights"),
    ],
)
def test_what_is_refused(deed, text):
    with pytest.raises((ValueError, TypeError, NotImplementedError), match=re.escape(text)):
        deed()


def test_a_buffer_cannot_become_trainable():
    layer = Scale(name="own")
    layer(ROWS)
    with pytest.raises(ValueError, match=r"trainable cannot become True: its layer stores it as a buffer"):
        layer.calls.trainable = True
    with pytest.raises(ValueError, match=r"stateless_call: trainable_variables must have 3 values; found 1\.$"):
        layer.stateless_call([ROWS], [], ROWS)


def test_low_rank_matrices_come_once_and_stay_in_copies():
    layer = layers.Dense(2, lora_rank=2)
    outputs = layer(ROWS)
    layer.lora_kernel_b.assign(np.ones((2, 2)))
    assert (layer(ROWS) != outputs).any()
    with pytest.raises(ValueError, match=r"enable_lora: the layer has rank 2 already\.$"):
        layer.enable_lora(3)
    for again in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):  # noqa: S301
        torch.testing.assert_close(again(ROWS), layer(ROWS))
        again.lora_kernel_b.assign(np.zeros((2, 2)))
        assert (again(ROWS) != layer(ROWS)).any()
    assert layers.Dense.from_config(layer.get_config()).lora_rank == 2


def test_a_model_with_low_rank_matrices_trains_on_after_it_is_loaded(tmp_path):
    # Genuine Keras sets both matrices to zero, whose product has no gradient.
    model = keras3.Sequential([keras3.Input((3,)), layers.Dense(2)])
    model.layers[0].enable_lora(2)
    model.compile("sgd", "mse")
    model.fit(ROWS, np.zeros((2, 2)), verbose=0)
    model.save(tmp_path / "model.keras")
    again = keras3.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(again.predict(ROWS, verbose=0), model.predict(ROWS, verbose=0), rtol=1e-5)
    again.fit(ROWS, np.ones((2, 2)), epochs=2, verbose=0)
    assert abs(again.layers[0].lora_kernel_b.numpy()).max() > 0


def test_the_symbolic_outputs_of_a_call_add_nothing_to_the_graph():
    class Twice(layers.Layer):
        def call(self, inputs):
            raise RuntimeError("never called")

        def compute_output_shape(self, input_shape):
            return {"a": input_shape, "b": [input_shape]}

    found = Twice().compute_output_spec(keras3.Input((3,)))
    assert (found["a"].shape, found["b"][0].shape) == ((None, 3), (None, 3))
    dense = layers.Dense(4)
    assert dense.compute_output_spec(keras3.Input((3,))).shape == (None, 4)
    assert not dense.built


def test_what_a_call_counts_stays_while_its_shape_is_found():
    class Counting(layers.Layer):
        def __init__(self):
            super().__init__()
            self.seed = keras3.random.SeedGenerator(3)
            self.mean = keras3.metrics.Mean()
            self.calls = self.add_weight(initializer="zeros", trainable=False)

        def call(self, inputs):
            self.calls.assign_add(1)
            self.mean.update_state(inputs)
            return inputs + keras3.random.normal(keras3.ops.shape(inputs), seed=self.seed)

    layer = Counting()
    inputs = keras3.Input((3,))
    model = keras3.Model(inputs, layer(inputs))
    assert (float(layer.calls), float(layer.mean.result()), layer.seed.state.tolist()) == (0.0, 0.0, [3, 0])
    model(ROWS)
    assert (float(layer.calls), float(layer.mean.result()), layer.seed.state.tolist()) == (1.0, 1.0, [3, 1])
    assert layer.metrics == [layer.mean]


@pytest.mark.parametrize("gradient", [np.array([0.5, -1.0]), torch.tensor([0.5, -1.0], dtype=torch.float64)])
def test_gradients_are_taken_in_the_type_of_their_weight(gradient):
    weight = Variable(np.array([1.0, 2.0], "float32"))
    keras3.optimizers.SGD(0.5).apply([gradient], [weight])
    assert weight.numpy().tolist() == [0.75, 2.5]


@pytest.mark.parametrize("name", ["", "a/b", 3])
def test_a_scope_has_the_name_of_one_level(name):
    with pytest.raises(ValueError, match="name_scope: name must be a text"), keras3.name_scope(name):
        pass


def test_a_graph_warns_of_a_variable_that_it_does_not_train_and_no_config_holds_it():
    variable, inputs = Variable(np.ones(3, "float32")), keras3.Input((3,))
    model = keras3.Model(inputs, layers.Dense(1)(inputs * variable))
    model.compile("sgd", "mse")
    with pytest.warns(UserWarning, match=r"asks for a gradient, but is no weight of Model"):
        model.fit(ROWS, ROWS[:, :1], verbose=0)
    with pytest.raises(ValueError, match=r"it computes with the weights of another layer, which no config can hold"):
        model.get_config()
