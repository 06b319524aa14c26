"""Activations: values on tensors, arrays, numbers and lists, in a graph, by name; what configs say."""

import numpy as np
import torch

NAMES = """
celu elu exponential gelu glu hard_shrink hard_sigmoid hard_silu hard_swish hard_tanh leaky_relu linear log_sigmoid
log_softmax mish relu relu6 selu sigmoid silu soft_shrink softmax softplus softsign sparse_plus sparse_sigmoid
squareplus swish tanh tanh_shrink
""".split()  # noqa: SIM905
NOT_IN_A_GRAPH = (
    "hard_silu",
    "hard_swish",
    "mish",
)  # of genuine Keras, which converts symbolic tensors to values there
X = np.array(
    [[-9.0, -3.5, -3.0, -1.0, -0.5, -0.25], [0.0, 0.25, 0.5, 1.0, 2.5, 8.0], [1.5, -2.0, 7.0, -6.0, 3.0, 0.1]],
    "float32",
)


def _array(keras, value):
    return keras.ops.convert_to_numpy(value)


def case_values_of_a_tensor(keras):
    return {name: _array(keras, getattr(keras.activations, name)(torch.from_numpy(X))) for name in NAMES}


def case_values_of_an_array(keras):
    return {name: _array(keras, getattr(keras.activations, name)(X)) for name in NAMES if name != "softmax"}


def case_other_types(keras):
    found = {}
    for kind in ("float64", "bfloat16", "float16"):
        x = torch.from_numpy(X).to(getattr(torch, kind))
        made = {name: getattr(keras.activations, name)(x) for name in NAMES}
        found[kind] = {name: [str(each.dtype), _array(keras, each.float())] for name, each in made.items()}
    return found


def case_whole_numbers(keras):
    names = ("relu", "tanh", "sigmoid", "softsign", "squareplus", "sparse_sigmoid", "exponential", "linear")
    found = {name: getattr(keras.activations, name)(torch.tensor([1, -2, 3])) for name in names}
    return {name: _array(keras, each) for name, each in found.items()}


def case_numbers_and_lists(keras):
    found = {name: getattr(keras.activations, name)([1.0, -2.0]) for name in ("relu", "tanh", "elu", "gelu", "mish")}
    found["number"] = keras.activations.relu(-1.5)
    found["whole"] = keras.activations.relu([1, -2])
    return {name: _array(keras, each) for name, each in found.items()}


def case_options(keras):
    a, x = keras.activations, torch.from_numpy(X)
    found = {
        "celu": a.celu(x, 0.5),
        "elu": a.elu(x, alpha=0.5),
        "gelu": a.gelu(x, approximate=True),
        "gelu at most by place": a.gelu(x, True),
        "glu": a.glu(x[:2], axis=0),
        "hard_shrink": a.hard_shrink(x, threshold=1.0),
        "leaky_relu": a.leaky_relu(x, negative_slope=0.5),
        "log_softmax": a.log_softmax(x, axis=0),
        "relu slope": a.relu(x, negative_slope=0.1),
        "relu most": a.relu(x, max_value=2.0),
        "relu 6": a.relu(x, max_value=6),
        "relu threshold": a.relu(x, threshold=1.0),
        "relu all": a.relu(x, 0.5, 3.0, 1.0),
        "relu slope and threshold": a.relu(x, 0.5, threshold=1.0),
        "relu slope and most": a.relu(x, 0.5, 2.0),
        "soft_shrink": a.soft_shrink(x, threshold=1.0),
        "softmax": a.softmax(x, axis=0),
        "softmax of several": a.softmax(x, axis=(0, 1)),
        "softmax of one axis": a.softmax(x[0]),
        "squareplus": a.squareplus(x, b=1),
        "threshold": a.threshold(x, 0.5, -1.0),
        "threshold by name": a.threshold(x, threshold=0.5, default_value=7.0),
    }
    return {name: _array(keras, each) for name, each in found.items()}


def case_in_a_graph(keras):
    found = {}
    for name in (name for name in NAMES if name not in NOT_IN_A_GRAPH):
        inputs = keras.Input((6,))
        outputs = getattr(keras.activations, name)(inputs)
        model = keras.Model(inputs, outputs) if name != "linear" else None
        found[name] = [list(outputs.shape), None if model is None else _array(keras, model(X))]
    inputs = keras.Input((6,))
    options = keras.activations.relu(inputs, negative_slope=0.1, max_value=2.0)
    return {**found, "options": _array(keras, keras.Model(inputs, options)(X))}


def case_gradients(keras):
    found = {}
    for name in NAMES:
        x = torch.from_numpy(X[:, 1:5] + 0.01).requires_grad_()
        getattr(keras.activations, name)(x).square().sum().backward()
        found[name] = x.grad.numpy()  # type: ignore[union-attr]
    return found


def case_by_name(keras):
    a = keras.activations
    same = {name: a.get(name) is getattr(a, name) for name in NAMES}
    return {
        **same,
        "None": a.get(None) is a.linear,
        "itself": a.get(a.relu) is a.relu,
        "deserialize": a.deserialize("relu") is a.relu,
        "threshold": a.get("threshold") is a.threshold,
    }


def _mine(x):
    return x


def case_configs(keras):
    a = keras.activations
    return {
        **{name: a.serialize(getattr(a, name)) for name in NAMES},
        "of the user's": a.serialize(_mine),
        "named": [getattr(a, name).__name__ for name in NAMES],
    }


def case_read_from_configs(keras):
    a = keras.activations
    entry = {"module": "builtins", "class_name": "function", "config": "_mine", "registered_name": "function"}
    layer = a.get({"module": "keras.layers", "class_name": "ReLU", "config": {"max_value": 2.0}})
    return [
        a.deserialize(entry, custom_objects={"_mine": _mine}) is _mine,
        a.get(_mine) is _mine,
        _array(keras, layer(torch.from_numpy(X))),
    ]


def case_refused(keras):
    found = {}
    for name, bad in {"unknown": "nope", "number": 3, "dict": {"a": 1}}.items():
        try:
            keras.activations.get(bad)
        except ValueError:
            found[name] = "ValueError"
    return found


TOLERANCES = {"other_types": (1e-2, 1e-2)}  # of half types, in which torch has another order of operations
