"""Torch's functions and methods on symbolic tensors compute as on tensors, and stay so in copies and files.

Each row of the tables is Python as a person writes it; the same text is evaluated on tensors and on symbolic ones.
"""

import copy
import json
import operator
import pickle
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from texts import NAMES, VALUES, Row, assert_same, inputs_of, parts
from torch import nn

import torchkeras
from torchkeras.engine.functions.operators import Operation
from torchkeras.engine.symbolic.tensor import KerasTensor
from torchkeras.errors import ArchitectureError
from torchkeras.layers import Dense, Embedding, Input
from torchkeras.models import Model, clone_model, load_model, model_from_json
from torchkeras.tensor_functions import torch_functions

FUNCTIONS = [
    Row("torch.relu(a)"),
    Row("torch.sigmoid(a)"),
    Row("torch.exp(a)"),
    Row("torch.log1p(a)"),
    Row("torch.clamp(a, 0.2, 0.8)"),
    Row("torch.clamp(a, min=0.5)"),
    Row("torch.add(a, b)", "a + b"),
    Row("torch.add(a, b, alpha=2)"),
    Row("torch.maximum(a, b)"),
    Row("torch.where(a > 0.5, a, b)", "torch.where(x, a, b)"),
    Row("torch.where(a > 0.5, a, 0.0)", "torch.where(x, a, 0.0)"),
    Row("torch.lerp(a, b, 0.25)"),
    Row("torch.cat([a, b], 1)"),
    Row("torch.cat((a, b), dim=-1)", "torch.cat([a, b], dim=-1)"),
    Row("torch.stack([a, b], 1)"),
    Row("torch.bmm(a, m)"),
    Row("torch.matmul(a, m)", "a @ m"),
    Row('torch.einsum("bij,bjk->bik", a, m)'),
    Row('torch.einsum("bij->bji", a)'),
    Row("torch.tensordot(a, torch.ones(4, 3), dims=1)", "torch.tensordot(a, constant_0, dims=1)"),
    Row("torch.sum(a, 1)"),
    Row("torch.sum(a, dim=(1, 2), keepdim=True)"),
    Row("torch.mean(a, -1)"),
    Row("torch.var(a, 1, correction=0)"),
    Row("torch.amax(a, 1)"),
    Row("torch.argmax(a, 2)"),
    Row("torch.max(a, 1)"),
    Row("torch.topk(a, 3)"),
    Row("torch.topk(a, 2, dim=1, largest=False)"),
    Row("torch.sort(a, 1, descending=True)", "torch.sort(a, 1, descending=True)"),
    Row("torch.aminmax(a, dim=1)"),
    Row("torch.cumsum(a, 1)"),
    Row("torch.logsumexp(a, 1)"),
    Row("torch.softmax(a, 1)"),
    Row("torch.unsqueeze(a, 1)"),
    Row("torch.squeeze(torch.unsqueeze(a, 1), 1)", "torch.squeeze(x, 1)"),
    Row("torch.flatten(a, 1)"),
    Row("torch.unflatten(a, 2, (2, 2))"),
    Row("torch.reshape(a, (-1, 4))"),
    Row("torch.permute(a, (0, 2, 1))"),
    Row("torch.transpose(a, 1, 2)"),
    Row("torch.flip(a, (1,))"),
    Row("torch.roll(a, 1, 1)"),
    Row("torch.tile(a, (1, 2, 1))"),
    Row("torch.repeat_interleave(a, 2, dim=1)"),
    Row("torch.gather(a, 1, n)"),
    Row("torch.index_select(a, 2, torch.tensor([0, 3]))", "torch.index_select(a, 2, constant_0)"),
    Row("torch.split(a, [1, 3], 2)", "torch.split(a, (1, 3), dim=2)"),
    Row("torch.chunk(a, 2, 2)"),
    Row("torch.unbind(a, 2)"),
    Row("torch.tril(a)"),
    Row("torch.diff(a, dim=1)"),
    Row("torch.isnan(a)"),
    Row("torch.zeros_like(a)"),
    Row("torch.cdist(a, b)"),
    Row("torch.special.expit(a)"),
    Row("torch.linalg.vector_norm(a, dim=1)"),
    Row("torch.fft.rfft(a, dim=2)"),
    Row("F.gelu(a)"),
    Row('F.gelu(a, approximate="tanh")'),
    Row("F.silu(a)"),
    Row("F.leaky_relu(a, 0.1)", "F.leaky_relu(a, negative_slope=0.1)"),
    Row("F.hardswish(a)"),
    Row("F.softmax(a, dim=-1)"),
    Row("F.log_softmax(a, 1)", "F.log_softmax(a, dim=1)"),
    Row("F.normalize(a, dim=1)", "F.normalize(a)"),
    Row("F.normalize(a, dim=2)"),
    Row("F.layer_norm(a, (4,))"),
    Row("F.pad(a, (1, 2))"),
    Row("F.pad(a, (0, 0, 1, 1), value=0.5)"),
    Row("F.one_hot(n, 5)"),
    Row("F.embedding(n, torch.ones(4, 3))", "F.embedding(n, constant_0)"),
    Row("F.linear(a, torch.ones(3, 4), torch.zeros(3))", "F.linear(a, constant_0, constant_1)"),
    Row("F.scaled_dot_product_attention(a, b, b)"),
    Row("F.scaled_dot_product_attention(a, b, b, is_causal=True)"),
    Row("F.cosine_similarity(a, b, 2)", "torch.cosine_similarity(a, b, 2)"),
    Row("torch.max_pool2d(i, 2)", unknown=(2, 3)),
    Row("F.max_pool2d(i, 2)", unknown=(2, 3)),
    Row(
        "F.max_pool2d(i, 2, return_indices=True)", "F.max_pool2d_with_indices(i, 2, return_indices=True)", (2, 3)
    ),  # which torch calls
    Row("F.avg_pool2d(i, 2)", unknown=(2, 3)),
    Row("F.adaptive_avg_pool2d(i, (1, 1))", unknown=(2, 3)),
    Row("F.conv2d(i, torch.ones(2, 3, 3, 3), padding=1)", "torch.conv2d(i, constant_0, padding=1)", (2, 3)),
    Row("F.interpolate(i, scale_factor=2)", unknown=(2, 3)),
    Row("F.unfold(i, 2)", "F.unfold(i, 2)", (2, 3)),
    Row("F.dropout(a, 0.5, training=False)", "F.dropout(a, training=False)"),
]

METHODS = [
    Row("a.view(-1, 4)", "a.reshape(-1, 4)"),
    Row("a.view(-1, 2, 12)", "a.reshape(-1, 2, 12)", ()),
    Row("a.reshape(-1, 4)"),
    Row("a.reshape((-1, 2))"),
    Row("a.flatten(1)"),
    Row("a.flatten(1, 2)"),
    Row("a.unflatten(2, (2, -1))"),
    Row("a.mean(1)"),
    Row("a.mean((1, 2))"),
    Row("a.mean(dim=1, keepdim=True)"),
    Row("a.sum()"),
    Row("a.sum(-1)"),
    Row("a.std(1)"),
    Row("a.max(1)"),
    Row("a.max()"),
    Row("a.amin(1)"),
    Row("a.argmax(-1)"),
    Row("a.argsort(1)"),
    Row("a.sort(1)"),
    Row("a.topk(2, 1)"),
    Row("a.norm(dim=1)"),
    Row("a.prod(1)"),
    Row("a.cumsum(1)"),
    Row("a.abs()", "abs(a)"),
    Row("a.sqrt()"),
    Row("a.pow(2)", "a ** 2"),
    Row("a.exp()"),
    Row("a.tanh()"),
    Row("a.softmax(-1)"),
    Row("a.clamp(0.2, 0.6)"),
    Row("a.clamp(min=0.3)"),
    Row("a.float()"),
    Row("a.half()"),
    Row("a.long()"),
    Row("a.to(torch.float16)"),
    Row("a.to(dtype=torch.float64)"),
    Row("a.type_as(n)"),
    Row("a.bool()"),
    Row("a.permute(0, 2, 1)"),
    Row("a.transpose(1, 2)"),
    Row("a.mT"),
    Row("a.unsqueeze(-1)"),
    Row("a.squeeze()"),
    Row("a.expand(3, -1, -1, -1)"),
    Row("a.expand_as(b)"),
    Row("a.repeat(1, 2, 1)"),
    Row("a.split(2, 2)", "a.split(2, 2)"),
    Row("a.chunk(2, dim=2)"),
    Row("a.unbind(2)"),
    Row("a.select(2, 0)"),
    Row("a.narrow(2, 1, 2)"),
    Row("a.roll(1, 2)"),
    Row("a.flip(1)"),
    Row("a.gather(1, n)"),
    Row("a.masked_fill(a > 0.5, float('-inf'))", 'a.masked_fill(x, float("-inf"))'),
    Row("a.bmm(m)"),
    Row("a.matmul(m)", "a @ m"),
    Row("a.add(b, alpha=0.5)"),
    Row("a.contiguous()"),
    Row("a.detach()"),
    Row("a.clone()"),
    Row("a.tril(1)"),
    Row("a.diagonal(dim1=1, dim2=2)", unknown=()),
    Row("a.new_zeros(3) + a.sum()", "x + x1"),
    Row("a[:, 1:]", "a[:, 1:]"),
    Row("a[..., 0]"),
    Row("a[:, None]"),
    Row("a[:, :, torch.tensor([0, 2])]", "a[:, :, constant_0]"),
    Row("a[:, :, [0, 2]]", "a[:, :, constant_0]"),
    Row("a[:, :, [True, False, True, False]]", "a[:, :, constant_0]"),
    Row("a[:, torch.tensor(1)]", "a[:, 1]"),
    Row("torch.arange(4)[n]", "constant_0[n]"),
    Row("a * torch.ones(4)", "a * constant_0"),
    Row("torch.ones(4) - a", "constant_0 - a"),
    Row("torch.ones(5, 6) @ a", "constant_0 @ a", ()),
    Row("-2 ** a", "-x"),
    Row("(-2) ** a.long()", "(-2) ** x"),
    Row("(a == b) | ~(a > 0.5)", "x1 | x"),
]
ROWS = [*FUNCTIONS, *METHODS]


def test_how_many_are_in_the_tables():
    assert len({row.text.partition("(")[0] for row in FUNCTIONS}) >= 60
    assert len({row.text.partition("(")[0] for row in METHODS if row.text.startswith("a.")}) >= 45


@pytest.fixture(autouse=True)
def fresh_session():
    torchkeras.clear_session()


@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
@pytest.mark.parametrize("row", ROWS, ids=[row.text for row in ROWS])
def test_value_shape_line_copies_and_files(row: Row, known: bool, tmp_path):
    symbolic, given = inputs_of(row, () if known else row.unknown), [VALUES[name] for name in row.used]
    outputs, expected = row.compute(symbolic), row.compute(VALUES)
    assert type(outputs) is (KerasTensor if isinstance(expected, torch.Tensor) else type(expected))
    for mine, other in zip(parts(outputs), parts(expected), strict=True):
        assert mine.dtype == other.dtype
        assert len(mine.shape) == other.dim()
        pairs = zip(mine.shape, other.shape, strict=True)
        assert all(size in (None, real) for size, real in pairs), (mine.shape, other.shape)
    model = Model(list(symbolic.values()), list(outputs) if isinstance(outputs, tuple) else outputs)
    assert_same(model(*given), expected)
    assert f"# {row.line or row.text} -> " in model.code
    written = json.loads(model.to_json())
    path = tmp_path / "model.h5"
    model.save(path)
    for again in (
        model_from_json(model.to_json()),
        clone_model(model),
        pickle.loads(pickle.dumps(model)),  # noqa: S301
        copy.deepcopy(model),
        load_model(path),
    ):
        assert_same(again(*given), expected)
        assert json.loads(again.to_json()) == written


# --- what is not a node ----------------------------------------------------------------------------------------------

x: Any = Input((5, 4), name="x")
y: Any = Input((None, 4), name="y")
X = "<KerasTensor 'x' shape=(?, 5, 4) dtype=float32>"
Y = "<KerasTensor 'y' shape=(?, ?, 4) dtype=float32>"


def test_arrays_take_the_type_of_the_tensor():
    array = np.arange(4.0)
    for output in (x * array, array * x, array + x, x - array):
        assert output.dtype is torch.float32
    assert (x == array).dtype is torch.bool
    given = torch.rand(2, 5, 4)
    torch.testing.assert_close(Model(x, array - x)(given), torch.arange(4.0) - given)


def test_a_constant_moves_with_its_model_and_is_no_weight():
    model = Model(x, x * torch.full((4,), 3.0))
    assert (model.weights, list(model.state_dict()), model.count_params()) == ([], [], 0)
    assert [buffer.tolist() for buffer in model.buffers()] == [[3.0] * 4]
    assert model.half()(torch.ones(1, 5, 4).half()).dtype is torch.float16


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.int8, torch.bool, torch.complex64, torch.int64])
def test_constants_of_any_type_come_back_from_a_config(dtype):
    constant = torch.tensor([[1.5], [0.0]]).to(dtype)
    model = Model(x, torch.where(x > 0, constant.sum(), constant[0, 0]) if dtype is torch.bool else x[:, :2] * constant)
    torch.testing.assert_close(model_from_json(model.to_json())(torch.ones(1, 5, 4)), model(torch.ones(1, 5, 4)))


def test_constants_that_are_empty_or_not_finite_come_back():
    constants = torch.tensor([float("nan"), float("inf"), -0.0, 1e-45])
    model = Model(x, [x * constants, x[:, torch.empty(0, dtype=torch.int64)]])
    again = model_from_json(model.to_json())
    assert_same(again(torch.ones(1, 5, 4)), model(torch.ones(1, 5, 4)))


def test_a_parameter_is_a_weight():
    kernel = nn.Parameter(torch.randn(4, 3))
    frozen = nn.Parameter(torch.ones(3), requires_grad=False)
    model = Model(x, (x @ kernel) * frozen)
    assert next(model.parameters()) is kernel
    assert (model.count_params(), len(model.trainable_weights), len(model.non_trainable_weights)) == (15, 1, 1)
    before, given = kernel.detach().clone(), torch.rand(8, 5, 4)
    expected = ((given @ before) * frozen - 1).square().mean()
    model.compile("sgd", "mse")
    loss = model.train_on_batch(given, torch.ones(8, 5, 3))
    torch.testing.assert_close(torch.tensor(float(loss)), expected)
    assert not torch.equal(kernel, before)
    assert frozen.tolist() == [1, 1, 1]


def test_parameters_come_back_from_files(tmp_path):
    model = Model(x, (x @ nn.Parameter(torch.randn(4, 3))) * nn.Parameter(torch.ones(3), requires_grad=False))
    model.save(tmp_path / "model.h5")
    given = torch.rand(2, 5, 4)
    pickled = pickle.loads(pickle.dumps(model))  # noqa: S301
    for again in (load_model(tmp_path / "model.h5"), pickled, copy.deepcopy(model)):
        assert_same(again(given), model(given))
        assert [len(again.trainable_weights), len(again.non_trainable_weights)] == [1, 1]
    clone = clone_model(model)
    clone.set_weights(model.get_weights())
    assert_same(clone(given), model(given))


def test_a_parameter_of_two_layers_is_not_torn_apart_by_a_file():
    kernel = nn.Parameter(torch.randn(4, 4))
    model = Model(x, (x @ kernel) @ kernel)
    assert sum(1 for _ in model.parameters()) == 1
    clone = clone_model(model)
    clone.set_weights(model.get_weights())
    for again in (clone, model_from_json(model.to_json())):
        assert sum(1 for _ in again.parameters()) == 1
    given = torch.rand(2, 5, 4)
    assert_same(clone(given), model(given))
    again = pickle.loads(pickle.dumps(model))  # noqa: S301
    assert sum(1 for _ in again.parameters()) == 1


def test_masks_pass_functions_of_each_number_and_end_at_others():
    vectors: Any = Embedding(5, 3, mask_zero=True)(Input((4,), dtype="int32"))
    kept: Any
    ended: Any
    for kept in (torch.relu(vectors), F.gelu(vectors), vectors.to(torch.float16), vectors * torch.ones(3)):
        assert kept._keras_mask.shape == (None, 4)
    for ended in (vectors.mean(1), torch.cat([vectors, vectors], 1), F.softmax(vectors, 1)):
        assert ended._keras_mask is None


def test_a_function_that_has_no_public_name_computes_and_is_refused_by_name_in_files():
    model = Model(x, torch.ops.aten.relu(x))
    torch.testing.assert_close(model(torch.full((1, 5, 4), -1.0)), torch.zeros(1, 5, 4))
    with pytest.raises(ValueError, match="none of torch's own") as error:
        model.to_json()
    assert str(error.value) == (
        "Operation 'operation_relu_1': relu is none of torch's own public functions, so no config "
        "can hold it. Put it "
        "into a Lambda, or a Layer of your own."
    )


VALUES_NEEDED = "a graph has no values before it runs; put the code into a Lambda, or the forward of a Layer."
MODULE = (
    "{0} is a module of torch and was called on a symbolic tensor. Make it a layer, which owns its "
    "weights and follows "
    "the mode: torchkeras.layers.TorchModule(module)(tensor), where module is the {0}."
)
ERRORS = [
    ("x.add_(1)", "Tensor.add_", "it changes a tensor in place; write add, which gives a new one."),
    ("torch.relu_(x)", "relu_", "it changes a tensor in place; write relu, which gives a new one."),
    ("torch.ones(4).mul_(x)", "Tensor.mul_", "it changes a tensor in place; write mul, which gives a new one."),
    (
        "operator.setitem(x, 0, 1)",
        "Tensor.__setitem__",
        "it changes a tensor in place; write torch.where, x.index_copy or x.masked_fill, which give a new one.",
    ),
    (
        "F.relu(x, inplace=True)",
        "nn.functional.relu",
        "inplace=True writes over a tensor that others may need; leave it out.",
    ),
    ("x.item()", "Tensor.item", VALUES_NEEDED),
    ("x.tolist()", "Tensor.tolist", VALUES_NEEDED),
    ("x.numpy()", "Tensor.numpy", VALUES_NEEDED),
    ("x.backward()", "Tensor.backward", VALUES_NEEDED),
    ("torch.equal(x, x)", "equal", VALUES_NEEDED),
    ("x.is_contiguous()", "Tensor.is_contiguous", VALUES_NEEDED),
    ("x.cuda()", "Tensor.cuda", "where a model computes is settled by model.to(device)."),
    ("x.to('cuda')", "Tensor.to", "where a model computes is settled by model.to(device)."),
    ("torch.zeros_like(x, device='cpu')", "zeros_like", "where a model computes is settled by model.to(device)."),
    ("torch.empty_like(x)", "empty_like", "write zeros_like, whose values are defined."),
    ("x.type(torch.float16)", "Tensor.type", "write x.to(torch.float16)."),
    *(
        (text, name, "training=True would hold in evaluation too; use the layer of that kind, which follows the mode.")
        for text, name in (
            ("F.dropout(x)", "nn.functional.dropout"),
            ("F.rrelu(x, training=True)", "nn.functional.rrelu"),
        )
    ),
    (
        "F.scaled_dot_product_attention(x, x, x, dropout_p=0.1)",
        "nn.functional.scaled_dot_product_attention",
        "dropout_p would drop in evaluation too; use MultiHeadAttention(dropout=...), which follows the mode.",
    ),
]


@pytest.mark.parametrize(("text", "name", "reason"), ERRORS, ids=[text for text, *_ in ERRORS])
def test_refused_functions(text, name, reason):
    with pytest.raises(TypeError) as error:
        eval(text, {**NAMES, "x": x, "operator": operator})
    assert str(error.value) == f"torch.{name} cannot be applied to a symbolic tensor: {reason}"


def said_by_torch(act: Any) -> str:
    with pytest.raises(TypeError) as error:
        act()
    return str(error.value)


UNKNOWN = [
    (
        lambda: y + torch.ones(5, 4),
        ValueError,
        (
            f"Operation 'operation_add_1' (y + constant_0): axis 1 of {Y} is unknown, and it computes "
            f"only where that is 5; "
            "give the Input that size."
        ),
    ),
    (
        lambda: y.unbind(1),
        ValueError,
        (
            f"Operation 'operation_unbind_1' (y.unbind(1)): how many outputs it has depends on axis 0 "
            f"of {Y} and axis 1 of "
            f"{Y}, whose size is unknown; give the Input that size."
        ),
    ),
    (
        lambda: x.reshape(x.shape[0], -1),
        TypeError,
        (
            f"Operation 'operation_reshape_1' (x.reshape(None, -1)): None stands for a size that is "
            f"unknown before data "
            f"comes (axis 0 of {X}). Write x.size(axis) in place of x.shape[axis], or -1. "
            f"({said_by_torch(lambda: torch.ones(2).reshape(None, -1))})"  # type: ignore[call-overload]
        ),
    ),
    *(
        (
            build,
            TypeError,
            (
                f"<{text}> is unknown before data comes, so a graph cannot compare it or count by it; it goes with "
                "whole numbers by *, //, + and -, and functions take it as a size."
            ),
        )
        for build, text in (
            (lambda: x.size(0) == 1, "x.size(0)"),
            (lambda: range(x.size(0)), "x.size(0)"),
            (lambda: bool(y.size(1) // 2), "y.size(1) // 2"),
            (lambda: y.size(0) * (y.size(1) - 1) % 2, "y.size(0) * (y.size(1) - 1)"),
        )
    ),
    (
        lambda: x[x > 0],
        ValueError,
        (
            "Operation 'operation_getitem_1' (x[operation_gt_1]): the shape of its result depends on "
            "values, which a graph "
            "has not; compute it in a Lambda."
        ),
    ),
    (lambda: int(x), TypeError, f"{X} has no value yet, so it is no number: a graph cannot count by it."),
    (lambda: float(x), TypeError, f"{X} has no value yet, so it is no number: a graph cannot count by it."),
    (
        lambda: x.mean(object()),
        TypeError,
        (
            "torch.Tensor.mean: a function in a graph takes tensors, arrays, numbers, texts, slices "
            "and types as arguments; "
            "found object."
        ),
    ),
    (
        lambda: x * torch.ones(4, requires_grad=True),
        ValueError,
        (
            "Operation 'operation_mul_1': a tensor of shape (4,) needs a gradient but is no "
            "nn.Parameter, so it would not "
            "be trained. Make it an nn.Parameter, or take x.detach()."
        ),
    ),
    (
        lambda: x * torch.ones(4, device="meta"),
        ValueError,
        "Operation 'operation_mul_1': a constant of shape (4,) lies on 'meta' and has no values: make it on the CPU.",
    ),
    (lambda: nn.Linear(4, 2)(x), TypeError, MODULE.format("Linear")),
    (lambda: nn.Sequential(nn.Flatten(), nn.Linear(20, 2))(x), TypeError, MODULE.format("Sequential")),
    (lambda: nn.Dropout(0.5).forward(x), TypeError, MODULE.format("Dropout")),
]


@pytest.mark.parametrize(("build", "kind", "message"), UNKNOWN)
def test_error(build, kind, message):
    with pytest.raises(kind) as error:
        build()
    assert str(error.value) == message


# --- the closed list -------------------------------------------------------------------------------------------------


def test_the_list_has_functions_of_tensors_alone():
    names = set(torch_functions.functions())
    assert {"torch.cat", "torch.Tensor.view", "torch.nn.functional.gelu", "torch.linalg.qr", "torch.fft.fft"} <= names
    last = {torch_functions.short(name) for name in names}
    for word in ("load", "save", "compile", "manual_seed", "seed", "from_file", "set_default_dtype", "storage", "vmap"):
        assert word not in last
    assert not any(name.endswith("_") or name.startswith("_") for name in last)
    assert all(name in last for name in torch_functions.POINTWISE)


CONSTANT = {"constant": 0, "dtype": "float32", "shape": [2], "data": "AACAPwAAAEA="}
HOSTILE = [
    ("torch.load", ["/tmp/x"], {}),
    ("torch.ops.load_library", ["x"], {}),
    ("torch._C._cuda_init", [], {}),
    ("os.system", ["true"], {}),
    ("torch.Tensor.__reduce_ex__", [{"input": 0}, 2], {}),
    ("torch.Tensor.add_", [{"input": 0}, 1], {}),
    ("torch.nn.functional.relu", [{"input": 0}], {"inplace": True}),
    ("torch.relu", [{"input": 0}], {"out": {"input": 0}}),
    ("torch.relu", [{"input": 7}], {}),
    ("torch.relu", [{"input": -1}], {}),
    ("torch.relu", [{"input": 0, "x": 1}], {}),
    ("torch.relu", [{}], {}),
    ("torch.relu", [3], {}),
    ("torch.relu", 3, {}),
    ("torch.mean", [{"input": 0}], {"__class__": 1}),
    ("torch.mean", [{"input": 0}], {"dim) or (1": 1}),
    ("torch.mean", [{"input": 0}], [1]),
    ("torch.Tensor.to", [{"input": 0}, {"dtype": "load"}], {}),
    ("torch.Tensor.to", [{"input": 0}, "cuda"], {}),
    ("add", [{"input": 0}, {**CONSTANT, "shape": [3]}], {}),
    ("add", [{"input": 0}, {**CONSTANT, "shape": [-2]}], {}),
    ("add", [{"input": 0}, {**CONSTANT, "shape": [10**12]}], {}),
    ("add", [{"input": 0}, {**CONSTANT, "dtype": "load"}], {}),
    ("add", [{"input": 0}, {**CONSTANT, "data": "%"}], {}),
    ("add", [{"input": 0}, {**CONSTANT, "data": 5}], {}),
    ("add", [{"input": 0}, {"parameter": 0, "shape": "x", "dtype": "float32", "trainable": True}], {}),
    ("add", [{"input": 0}, {"parameter": 0, "shape": [3], "dtype": "load", "trainable": True}], {}),
    ("add", [{"input": 0}, {"parameter": 0}], {}),
    ("getitem", [{"input": 0}, {"slice": [1]}], {}),
    ("torch.Tensor.reshape", [{"input": 0}, {"size": [0, 99]}], {}),
    ("torch.Tensor.reshape", [{"input": 0}, {"size": [9, 0]}], {}),
    ("torch.Tensor.reshape", [{"input": 0}, {"size": ["**", 9, 9]}], {}),
    ("torch.Tensor.reshape", [{"input": 0}, {"size": ["*", {"size": []}, 9]}], {}),
    ("torch.Tensor.reshape", [{"input": 0}, {"size": ["//", {"size": [0, 0]}, 0]}], {}),
]


@pytest.mark.parametrize(("function", "arguments", "keywords"), HOSTILE)
def test_hostile_configs_are_refused(function, arguments, keywords):
    config = json.loads(Model(x, x + 1).to_json())
    entry = next(layer for layer in config["config"]["layers"] if layer["class_name"] == "Operation")
    entry["config"].update(function=function, arguments=arguments, keywords=keywords)
    with pytest.raises(ArchitectureError):
        model_from_json(json.dumps(config))


def test_names_that_files_had_before_go_on():
    for function, arguments in (("mean", [{"input": 0}, 1, True]), ("add", [{"input": 0}, {"array": [1, 2, 3, 4]}])):
        layer = Operation(function, arguments)
        model = Model(x, layer(x))
        assert "keywords" not in layer.get_config()
        again = model_from_json(model.to_json())
        assert_same(again(torch.ones(1, 5, 4)), model(torch.ones(1, 5, 4)))


def test_shape_driven_code():
    def attention(q: Any, heads: int) -> Any:
        _, time, features = q.shape
        split = q.view(-1, time, heads, features // heads).transpose(1, 2)
        scores = split @ split.transpose(-2, -1) / (features // heads) ** 0.5
        causal = torch.ones(time, time, dtype=torch.bool).tril()
        weights = scores.masked_fill(~causal, float("-inf")).softmax(-1)
        return (weights @ split).transpose(1, 2).reshape(-1, time, features)

    given = torch.rand(2, 5, 4)
    torch.testing.assert_close(Model(x, Dense(4)(attention(x, 2)))(given).shape, given.shape)
    torch.testing.assert_close(Model(x, attention(x, 2))(given), attention(given, 2))
