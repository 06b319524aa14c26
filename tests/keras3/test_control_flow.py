"""Operations that call functions, and those that describe tensors."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from torchkeras import Input, Model
from torchkeras.keras3 import ops
from torchkeras.layers import Dense, Lambda

X = np.arange(6, dtype="float32").reshape(3, 2)


def values(found: Any) -> Any:
    return found.tolist() if isinstance(found, Tensor) else [values(each) for each in found]


def test_about_tensors():
    assert ops.shape(X) == ops.shape(torch.as_tensor(X)) == (3, 2)
    assert ops.shape(Dense(4)(Input((5,))))[1] == 4
    assert [ops.ndim(each) for each in (X, torch.zeros(1), Input((2,)), 3.0)] == [2, 1, 2, 0]
    assert [ops.dtype(each) for each in (X, torch.zeros(1), Input((2,)))] == ["float32"] * 3
    assert ops.is_tensor(torch.zeros(1))
    assert ops.is_tensor(Input((2,)))
    assert not ops.is_tensor(X)
    found = ops.convert_to_numpy(torch.ones(2, dtype=torch.bfloat16, requires_grad=True))
    assert isinstance(found, np.ndarray)
    assert found.tolist() == [1.0, 1.0]
    assert ops.convert_to_numpy([1, 2]).dtype == "int64"  # as NumPy has it


def test_the_shape_of_a_symbolic_tensor_is_taken_by_reshape():
    inputs = Input((2, 3))
    outputs = ops.reshape(inputs, (ops.shape(inputs)[0], 6))
    assert Model(inputs, outputs)(torch.ones(5, 2, 3)).shape == (5, 6)


@pytest.mark.parametrize("pred", [True, 1, torch.tensor(True), np.bool_(True), torch.tensor(2.0)])
def test_cond(pred: Any):
    assert ops.cond(pred, lambda: "yes", lambda: "no") == "yes"
    assert ops.cond(not pred, lambda: "yes", lambda: "no") == "no"


@pytest.mark.parametrize(("index", "expected"), [(0, 3), (1, 2), (-1, 3), (7, 2), (torch.tensor(1), 2)])
def test_switch(index: Any, expected: int):
    assert ops.switch(index, [lambda x, y: x + y, lambda x, y: x * y], 1, 2) == expected


def test_loops():
    assert values(ops.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (0, 1.0))) == [3, 8.0]
    assert values(ops.while_loop(lambda i: i < 9, lambda i: i + 1, 0, maximum_iterations=4)) == 4
    assert values(ops.while_loop(lambda i: i < 9, lambda i: i + 1, 0, maximum_iterations=0)) == 0
    assert ops.fori_loop(1, 4, lambda i, total: total + i, 10) == 16
    assert values(ops.map(lambda x: x.sum(), X)) == [1.0, 5.0, 9.0]
    assert values(ops.map(lambda pair: pair[0] + pair[1], (X, X))) == (2 * X).tolist()


def test_scan():
    carry, found = ops.scan(lambda total, x: (total + x, total * 10), 0, np.array([1, 2, 3]))
    assert (values(carry), values(found)) == (6, [0, 10, 30])
    carry, found = ops.scan(lambda total, x: (total + x, total), 0, np.array([1, 2, 3]), reverse=True)
    assert (values(carry), values(found)) == (6, [5, 3, 0])
    carry, found = ops.scan(lambda total, _: (total * 2, None), 1, length=3)
    assert (values(carry), values(found)) == (8, [0, 0, 0])


@pytest.mark.parametrize("count", [1, 2, 3, 4, 7, 8, 11])
@pytest.mark.parametrize("reverse", [False, True])
def test_associative_scan_is_all_prefixes(count: int, reverse: bool):
    x = torch.arange(1.0, 1 + 2 * count).reshape(2, count)
    expected = x.flip(1).cumsum(1).flip(1) if reverse else x.cumsum(1)
    assert torch.equal(ops.associative_scan(torch.add, x, reverse, axis=1), expected)
    both = ops.associative_scan(lambda a, b: {"s": a["s"] + b["s"], "p": a["p"] * b["p"]}, {"s": x[0], "p": x[1]})
    assert torch.equal(both["s"], x[0].cumsum(0))
    torch.testing.assert_close(both["p"], x[1].cumprod(0))


def test_an_associative_scan_of_matrices_keeps_the_order():
    x = torch.randn(5, 2, 2)
    found, expected = ops.associative_scan(torch.matmul, x), x[0]
    for place in range(5):
        torch.testing.assert_close(found[place], expected)
        expected = expected @ x[place + 1] if place < 4 else expected


def test_functions_of_elements():
    assert values(ops.vectorized_map(lambda x: x.sum(), X)) == [1.0, 5.0, 9.0]
    assert values(ops.vectorized_map(lambda pair: pair[0] * pair[1], (X, X))) == (X * X).tolist()
    larger = ops.vectorize(lambda x, y: torch.maximum(x, y))
    assert values(larger(X, [1.0, 2.0])) == np.maximum(X, [1.0, 2.0]).tolist()
    scaled = ops.vectorize(lambda x, by: x * by, excluded={1})
    assert values(scaled(X, 3)) == (3 * X).tolist()
    dot = ops.vectorize(lambda x, y: (x * y).sum(), signature="(n),(n)->()")
    assert values(dot(X, [1.0, 2.0])) == (X @ [1.0, 2.0]).tolist()


@pytest.mark.parametrize("of_upstream", [True, False])
def test_a_gradient_of_ones_own(of_upstream: bool):
    def with_gradient(x: Tensor) -> Any:
        e = torch.exp(x)
        if of_upstream:
            return torch.log(1 + e), lambda upstream: upstream * (1 - 1 / (1 + e))
        return torch.log(1 + e), lambda *args, upstream: upstream * (1 - 1 / (1 + e))

    x = torch.tensor(100.0, requires_grad=True)
    ops.custom_gradient(with_gradient)(x).backward()
    assert x.grad == 1.0


# For symbolic tensors: what makes one node, the shapes of its results and their values for X.
NODES: dict[str, tuple[Any, Any, Any]] = {
    "cond": (
        lambda s: ops.cond(ops.sum(s) > 100, lambda: ops.ones((3,)), lambda: np.zeros(3, "float32")),
        (3,),
        [0.0, 0.0, 0.0],
    ),
    "switch": (lambda s: ops.switch(ops.sum(s), [torch.neg, lambda x: x + 1], s), (None, 2), (X + 1).tolist()),
    "while_loop": (
        lambda s: ops.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (0, s)),
        [(), (None, 2)],
        [3, (X * 8).tolist()],
    ),
    "fori_loop": (lambda s: ops.fori_loop(0, 3, lambda i, x: x + i, s), (None, 2), (X + 3).tolist()),
    "scan": (
        lambda s: ops.scan(lambda c, x: (c + x, {"x": x * ops.ones((2,))}), ops.zeros((2,)), s),
        [(2,), {"x": (None, 2)}],
        [X.sum(0).tolist(), {"x": X.tolist()}],
    ),
    "map": (lambda s: ops.map(lambda x: x.sum(), s), (None,), X.sum(1).tolist()),
    "associative_scan": (lambda s: ops.associative_scan(torch.add, s), (None, 2), X.cumsum(0).tolist()),
    "vectorized_map": (lambda s: ops.vectorized_map(lambda x: x[0] * x[1], s), (None,), (X[:, 0] * X[:, 1]).tolist()),
    "vectorize": (lambda s: ops.vectorize(lambda x, y: x + y)(s, 1.0), (None, 2), (X + 1).tolist()),
}


def changed(found: Any, change: Any) -> Any:
    """Nested results with each tensor changed."""
    if isinstance(found, dict):
        return {name: changed(each, change) for name, each in found.items()}
    return [changed(each, change) for each in found] if isinstance(found, (list, tuple)) else change(found)


@pytest.mark.parametrize("name", NODES)
def test_for_symbolic_tensors_it_is_one_node(name: str):
    call, shapes, expected = NODES[name]
    inputs = Input((2,))
    outputs = call(inputs)
    assert changed(outputs, lambda tensor: tensor.shape) == shapes
    model = Model(inputs, outputs)
    assert [layer.name for layer in model.layers].count(f"operation_{name}_1") <= 1
    assert changed(model(torch.from_numpy(X)), lambda tensor: tensor.tolist()) == expected
    assert changed(copy.deepcopy(model)(torch.from_numpy(X)), lambda tensor: tensor.tolist()) == expected


def test_a_branch_is_chosen_by_the_values_of_each_batch():
    inputs = Input((2,))
    outputs = inputs + ops.cond(ops.sum(inputs) > 0, lambda: ops.ones(()), lambda: -ops.ones(()))
    model = Model(inputs, outputs)
    assert values(model(torch.ones(1, 2))) == [[2.0, 2.0]]
    assert values(model(-torch.ones(1, 2))) == [[-2.0, -2.0]]


def test_gradients_go_through_a_node():
    inputs = Input((2,))
    model = Model(inputs, ops.fori_loop(0, 2, lambda i, x: x * x, Dense(1, kernel_initializer="ones")(inputs)))
    model(torch.ones(1, 2)).backward()
    assert values(model.layers[1].kernel.grad) == [[32.0], [32.0]]


def test_in_the_call_of_a_layer_shapes_are_found_too():
    inputs = Input((2,))
    outputs = Lambda(lambda x: ops.cond(ops.sum(x) > 0, lambda: x + 1, lambda: x - 1))(inputs)
    assert outputs.shape == (None, 2)
    assert values(Model(inputs, outputs)(-torch.ones(1, 2))) == [[-2.0, -2.0]]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda s: ops.cond(ops.sum(s), lambda: 1.0, lambda: 1),
            ValueError,
            r"true_fn and false_fn must give the same",
        ),
        (lambda s: ops.switch(ops.sum(s), [torch.neg, ops.sum], s), ValueError, "the branches must give the same"),
        (lambda s: ops.while_loop(lambda x: True, ops.sum, s), ValueError, "loop_vars and body must give the same"),
        (
            lambda s: ops.fori_loop(0, 2, lambda i, x: x.sum(), s),
            ValueError,
            "init_val and body_fun must give the same",
        ),
        (lambda s: ops.scan(lambda c, x: (x, c), 0, s), ValueError, "init and f must give the same"),
        (lambda s: ops.cond(ops.sum(s), lambda: s + 1, lambda: s), TypeError, "that is none of its arguments"),
    ],
)
def test_what_a_graph_cannot_know_is_refused(call: Any, error: type[Exception], words: str):
    with pytest.raises(error, match=words):
        call(Input((2,)))


def test_no_config_holds_a_function():
    inputs = Input((2,))
    model = Model(inputs, ops.map(torch.abs, inputs))
    with pytest.raises(ValueError, match=r"keras.ops.map is none of torch's own public functions"):
        model.get_config()


REFUSED = {
    "custom_gradient": lambda s: ops.custom_gradient(lambda x: (x, None))(s),
    "convert_to_numpy": ops.convert_to_numpy,
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_symbolic_tensor_decides_nothing(name: str):
    with pytest.raises(TypeError, match=rf"keras.ops.{name} needs values, which a symbolic tensor has not"):
        REFUSED[name](Input((2,)))


def test_in_a_layer_they_compute():
    inputs = Input((3,))
    outputs = Lambda(lambda x: ops.fori_loop(0, 3, lambda i, y: y + i, x))(inputs)
    assert values(Model(inputs, outputs)(torch.zeros(1, 3))) == [[3.0, 3.0, 3.0]]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: ops.scan(3, 0, X), TypeError, "f must be a function"),
        (lambda: ops.scan(lambda c, x: (c, x), 0), ValueError, "give xs, or the length"),
        (lambda: ops.scan(lambda c, x: (c, x), 0, X, unroll=0), ValueError, "unroll must be"),
        (lambda: ops.associative_scan(torch.add, (X, X[:2])), ValueError, "one length along axis 0"),
        (lambda: ops.vectorize(3), TypeError, "pyfunc must be a function"),
        (lambda: ops.vectorize(abs, signature="n"), ValueError, "a signature is like"),
        (lambda: ops.scatter_update(X, [[0]], [X[0]], "mean"), ValueError, "reduction must be"),
        (lambda: ops.convert_to_tensor(X, sparse=True), ValueError, "sparse=True is not supported"),
    ],
)
def test_errors(call: Any, error: type[Exception], words: str):
    with pytest.raises(error, match=words):
        call()
