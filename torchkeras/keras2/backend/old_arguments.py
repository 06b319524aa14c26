"""What functions of the backend took in Keras 1: `border_mode`, `dim_ordering` and other names.

A call is Keras 1's if it has a name that only Keras 1 had, or "tf", "th" or "default" where the order of axes stands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from torchkeras import config
from torchkeras.keras2.backend.keras1 import check_shapes, data_format_of, kernel_of

_POOL = "x pool_size strides border_mode>padding dim_ordering>data_format pool_mode"
_CONV = "x kernel strides border_mode>padding dim_ordering>data_format"
_PAD = "x padding dim_ordering>data_format"

# The arguments of a function in order, as `old>new` if the name has changed; `old>` alone is checked.
SIGNATURES: Mapping[str, str] = {
    "conv1d": "x kernel stride>strides border_mode>padding image_shape> filter_shape>",
    "conv2d": f"{_CONV} image_shape> filter_shape> filter_dilation>dilation_rate",
    "conv3d": f"{_CONV} volume_shape> filter_shape> filter_dilation>dilation_rate",
    "expand_dims": "x dim>axis",
    "moving_average_update": "variable>x value momentum",
    "one_hot": "indices nb_classes>num_classes",
    "pool2d": _POOL,
    "pool3d": _POOL,
    "random_normal": "shape mean std>stddev dtype seed",
    "random_uniform": "shape low>minval high>maxval dtype seed",
    "resize_images": "X>x height_factor width_factor dim_ordering>data_format",
    "resize_volumes": "X>x depth_factor height_factor width_factor dim_ordering>data_format",
    "separable_conv2d": "x depthwise_kernel pointwise_kernel strides border_mode>padding dim_ordering>data_format",
    "spatial_2d_padding": _PAD,
    "spatial_3d_padding": _PAD,
}
KERNELS = {
    "conv2d": ("kernel",),
    "conv3d": ("kernel",),
    "separable_conv2d": ("depthwise_kernel", "pointwise_kernel"),
}
PADDINGS = ("spatial_2d_padding", "spatial_3d_padding")
ORDERINGS = (*config.DIM_ORDERINGS, "default")


def taking_old_names(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function of that name, which also takes Keras 1's arguments."""
    row = [argument.partition(">") for argument in SIGNATURES[name].split()]
    names = {old: new for old, _, new in row}
    changed = [old for old, arrow, _ in row if arrow]

    @wraps(function)
    def taking(*args: Any, **given: Any) -> Any:
        ordered = any(isinstance(each, str) and each in ORDERINGS for each in args)
        if not ordered and given.keys().isdisjoint(changed):
            return function(*args, **given)
        if len(args) > len(names) or not given.keys().isdisjoint(list(names)[: len(args)]):
            raise TypeError(f"{name}: an argument is given twice, or there are too many of them.")
        given.update(zip(names, args, strict=False))
        return function(**_under_new_names(name, names, given))

    return _padding(taking) if name in PADDINGS else taking


def _under_new_names(name: str, names: Mapping[str, str], given: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call as today's function takes them. `names`: new ones by old ones, "" where none is new."""
    checked = [word.removesuffix(">") for word in SIGNATURES[name].split() if word.endswith(">")]
    shapes = {old: given.pop(old, None) for old in checked}
    today = {names.get(old) or old: value for old, value in given.items()}
    if len(today) < len(given):
        raise TypeError(f"{name}: an argument is given under its old name and its new one.")
    return _translated(name, today, shapes)


def _translated(name: str, given: dict[str, Any], shapes: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments under today's names with today's values: the order of axes, that of a kernel, pairs of a padding."""
    if shapes:
        check_shapes(given["x"], given["kernel"], *shapes.values())
    if "dim_ordering>" in SIGNATURES[name]:
        given["data_format"] = data_format_of(given.get("data_format") or "default")
    for kernel in KERNELS.get(name, ()):
        given[kernel] = kernel_of(given[kernel], given["data_format"])
    return given


def _padding(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def padding(x: Any, padding: Any = None, *args: Any, **given: Any) -> Any:
        if padding is None:
            return function(x, *args, **given)
        return function(x, tuple((each, each) if isinstance(each, int) else each for each in padding), *args, **given)

    return padding
