"""Torch's functions in graphs, for `written_files`: calls by name, each on inputs x and y (3, 4), m (3, 3), p (0 to 1).

`SAME`: calls that Keras 3 has an operation for. `OTHERS`: calls that it does not have, which it refuses by name.
"""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F

from torchkeras.layers import Input
from torchkeras.models import Model

Call = Callable[[Any, Any, Any, Any], Any]

_OF_X = """
    abs neg exp exp2 expm1 square sin cos tan sinh cosh tanh asinh atan sigmoid erf erfc sinc floor ceil trunc sign
    signbit isnan isinf isfinite deg2rad rad2deg relu selu reciprocal round detach clone
""".split()  # noqa: SIM905
_OF_P = ["log", "log2", "log10", "log1p", "sqrt", "rsqrt", "asin", "acos", "atanh", "erfinv"]
_OF_XY = """
    add sub mul div maximum minimum fmax fmin fmod remainder atan2 hypot logaddexp logaddexp2 eq ne lt le gt ge
    logical_and logical_or logical_xor heaviside floor_divide
""".split()  # noqa: SIM905
_IN_F = ["relu6", "silu", "softsign", "tanhshrink", "logsigmoid", "hardswish", "hardsigmoid", "softplus", "gelu", "elu"]
_IN_F += ["celu", "leaky_relu", "hardtanh", "hardshrink", "softshrink", "glu"]
_REDUCED = ["sum", "mean", "amax", "amin", "logsumexp", "any", "all", "argmax", "argmin", "prod", "nansum", "nanmean"]
_TO_ONE = ["sum", "mean", "amax", "amin", "max", "min", "prod", "any", "all"]


def _bound(make: Callable[[Any], Call], function: Any) -> Call:
    return make(function)


def _called(name: str) -> Any:
    return getattr(torch, name)


SAME: dict[str, Call] = {
    **{name: _bound(lambda f: lambda x, y, m, p: f(x), _called(name)) for name in _OF_X},
    **{name: _bound(lambda f: lambda x, y, m, p: f(p), _called(name)) for name in _OF_P},
    **{name: _bound(lambda f: lambda x, y, m, p: f(x, y), _called(name)) for name in _OF_XY},
    **{name: _bound(lambda f: lambda x, y, m, p: f(x), getattr(F, name)) for name in _IN_F},
    **{f"{name}_axis": _bound(lambda f: lambda x, y, m, p: f(x, 1), _called(name)) for name in _REDUCED},
    **{
        f"{name}_kept": _bound(lambda f: lambda x, y, m, p: f(x, dim=2, keepdim=True), _called(name))
        for name in _REDUCED
    },
    **{f"{name}_all": _bound(lambda f: lambda x, y, m, p: x + f(x), _called(name)) for name in _TO_ONE},
    "acosh": lambda x, y, m, p: torch.acosh(p + 1),
    "add_number": lambda x, y, m, p: 2 + x * 3 - 1.5,
    "argsort": lambda x, y, m, p: x.argsort(-1),
    "array": lambda x, y, m, p: x * torch.tensor([1.0, 2.0, 3.0, 4.0]),
    "at": lambda x, y, m, p: x @ y.transpose(1, 2),
    "bmm": lambda x, y, m, p: torch.bmm(m, x),
    "cast": lambda x, y, m, p: (x * 3).to(torch.int32).float() + (x > 0).to(torch.float32),
    "cat": lambda x, y, m, p: torch.cat([x, y], 1),
    "cat_last": lambda x, y, m, p: torch.cat((x, m), dim=-1),
    "celu_half": lambda x, y, m, p: F.celu(x, 0.5),
    "chunk": lambda x, y, m, p: x.chunk(2, -1),
    "clamp": lambda x, y, m, p: x.clamp(-0.5, 0.5),
    "clamp_low": lambda x, y, m, p: x.clamp(min=0.1),
    "clamp_high": lambda x, y, m, p: torch.clamp_max(x, 0.1),
    "count_nonzero": lambda x, y, m, p: torch.count_nonzero(F.relu(x), dim=(1, 2)),
    "cumsum": lambda x, y, m, p: x.cumsum(1) + x.cumprod(2),
    "det": lambda x, y, m, p: torch.linalg.det(m),
    "diagonal": lambda x, y, m, p: m.diagonal(dim1=1, dim2=2),
    "diff": lambda x, y, m, p: torch.diff(x),
    "einsum": lambda x, y, m, p: torch.einsum("bij,bkj->bik", x, y),
    "elu_half": lambda x, y, m, p: F.elu(x, alpha=0.5),
    "flatten": lambda x, y, m, p: torch.flatten(x, 1),
    "flip": lambda x, y, m, p: x.flip(1, 2),
    "gelu_tanh": lambda x, y, m, p: F.gelu(x, approximate="tanh"),
    "getitem": lambda x, y, m, p: x[:, 1:, ::2] * x[..., 1:, :1] + x[:, None, 0, 1:3],
    "hardtanh_limits": lambda x, y, m, p: F.hardtanh(x, -0.2, 0.4),
    "index_select": lambda x, y, m, p: x.index_select(2, torch.tensor([2, 0])),
    "inv": lambda x, y, m, p: torch.linalg.inv(m + 3 * torch.eye(3)),
    "isclose": lambda x, y, m, p: torch.isclose(x, y, 0.5, 0.1),
    "leaky_relu_slope": lambda x, y, m, p: F.leaky_relu(x, 0.3),
    "log_softmax": lambda x, y, m, p: F.log_softmax(x, 1),
    "matmul": lambda x, y, m, p: torch.matmul(m, x),
    "mean_axes": lambda x, y, m, p: x.mean((1, 2)),
    "movedim": lambda x, y, m, p: x.movedim(1, 2),
    "nan_to_num": lambda x, y, m, p: torch.nan_to_num(torch.log(x), 0.0, 1.0, -1.0),
    "norm": lambda x, y, m, p: torch.linalg.norm(x, dim=2),
    "norm_matrix": lambda x, y, m, p: torch.linalg.norm(x, "fro", (1, 2), True),
    "normalize": lambda x, y, m, p: F.normalize(x, dim=-1),
    "normalize_sum": lambda x, y, m, p: F.normalize(x, p=1, dim=2),
    "one_hot": lambda x, y, m, p: F.one_hot((p * 3).long(), 3),
    "pad": lambda x, y, m, p: F.pad(x, (1, 2, 0, 1), value=1.5),
    "pad_reflect": lambda x, y, m, p: F.pad(x, (1, 2), mode="reflect"),
    "permute": lambda x, y, m, p: x.permute(0, 2, 1),
    "pow": lambda x, y, m, p: p**2 + p**0.5,
    "repeat": lambda x, y, m, p: x.repeat(1, 2, 1),
    "repeat_interleave": lambda x, y, m, p: x.repeat_interleave(2, 1),
    "reshape": lambda x, y, m, p: x.reshape(-1, 12),
    "reshape_sizes": lambda x, y, m, p: x.reshape(x.size(0), 2, 6),
    "roll": lambda x, y, m, p: torch.roll(x, (1, 2), (1, 2)),
    "round_decimals": lambda x, y, m, p: torch.round(x, decimals=1),
    "select": lambda x, y, m, p: x.select(1, 2),
    "softmax": lambda x, y, m, p: torch.softmax(x, -1),
    "softmax_axis": lambda x, y, m, p: F.softmax(x, dim=1),
    "split": lambda x, y, m, p: torch.split(x, 1, 1),
    "split_sizes": lambda x, y, m, p: x.split([1, 3], dim=2),
    "squeeze": lambda x, y, m, p: x[:, :, :1].squeeze(2),
    "stack": lambda x, y, m, p: torch.stack([x, y], 1),
    "std": lambda x, y, m, p: x.std(1, correction=0),
    "threshold": lambda x, y, m, p: F.threshold(x, 0.2, -1.0),
    "topk": lambda x, y, m, p: torch.topk(x, 2),
    "tril": lambda x, y, m, p: m.tril() + m.triu(1),
    "unbind": lambda x, y, m, p: x.unbind(1),
    "unflatten": lambda x, y, m, p: x.unflatten(2, (2, 2)),
    "unsqueeze": lambda x, y, m, p: x.unsqueeze(1) * x.unsqueeze(-1)[:, :1, :, 0],
    "var": lambda x, y, m, p: torch.var(x, 2, unbiased=False, keepdim=True),
    "view": lambda x, y, m, p: x.view(x.size(0), -1),
    "where": lambda x, y, m, p: torch.where(x > 0, x, y),
    "where_number": lambda x, y, m, p: torch.where(x > 0, x, 0.0),
    "zeros_like": lambda x, y, m, p: torch.zeros_like(x) + torch.ones_like(y),
}

OTHERS: dict[str, Call] = {
    "normalize_by_largest": lambda x, y, m, p: F.normalize(x, p=float("inf"), dim=-1),
    "normalize_by_root": lambda x, y, m, p: F.normalize(x.abs(), p=0.5, dim=-1),
    "addcmul": lambda x, y, m, p: torch.addcmul(x, x, y, value=2.0),
    "expand": lambda x, y, m, p: x[:, :1].expand(-1, 3, -1),
    "layer_norm": lambda x, y, m, p: F.layer_norm(x, (4,)),
    "lerp": lambda x, y, m, p: torch.lerp(x, y, 0.3),
    "linear": lambda x, y, m, p: F.linear(x, torch.nn.Parameter(torch.arange(8.0).reshape(2, 4))),
    "max_axis": lambda x, y, m, p: torch.max(x, 1),
    "mish": lambda x, y, m, p: F.mish(x),
    "mixed": lambda x, y, m, p: F.relu(torch.lerp(x, y, 0.3)) + 1,
    "scaled_dot_product_attention": lambda x, y, m, p: F.scaled_dot_product_attention(x, y, y),
    "softmax_float64": lambda x, y, m, p: torch.softmax(x, -1, dtype=torch.float64).float(),
    "std_sample": lambda x, y, m, p: x.std(1),
    "sum_float64": lambda x, y, m, p: x.sum(1, dtype=torch.float64).float(),
}


def model_of(call: Call) -> Model:
    """A model of x, y, m and p that returns what a call gives."""
    x, y, m, p = Input((3, 4)), Input((3, 4)), Input((3, 3)), Input((3, 4))
    found = call(x, y, m, p.sigmoid())
    return Model([x, y, m, p], list(found) if isinstance(found, tuple) else found)
