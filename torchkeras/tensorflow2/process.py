"""What `tf` has around its functions: devices, scopes, settings, records for TensorBoard, files and texts."""

from __future__ import annotations

import csv
import glob as globbing
import logging
import os
import re
import shutil
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from enum import Enum
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import numpy as np
import torch

from torchkeras import config
from torchkeras.base.extras import extra
from torchkeras.keras3 import tree
from torchkeras.tensorflow2.elements import StringTensor
from torchkeras.tensorflow2.signatures import taking
from torchkeras.tensorflow2.tensors import as_type, as_value, converted
from torchkeras.tensorflow2.variables import _text as text_of


def function(func: Callable[..., Any] | None = None, *args: Any, **options: Any) -> Any:
    """The function itself: torch computes at once, and `compile(jit_compile=True)` compiles a whole step.

    Its options, such as `input_signature`, change nothing.
    """
    if func is None:
        return function
    func.python_function = func  # type: ignore[attr-defined]
    func.get_concrete_function = lambda *args, **kwargs: func  # type: ignore[attr-defined]
    return func


def scope(*args: Any, **options: Any) -> AbstractContextManager[Any]:
    """A block, whose name or device changes nothing."""
    return nullcontext(args[0] if args else None)


def device(device_name: Any) -> AbstractContextManager[Any]:
    """A block whose new tensors lie on a device: "/CPU:0", "/GPU:0". Where there is no GPU they lie as ever."""
    is_gpu = "gpu" in str(device_name).lower()
    if is_gpu or not torch.cuda.is_available():
        return nullcontext()
    return torch.device("cpu")  # type: ignore[return-value]


def nothing(*args: Any, **options: Any) -> None:
    """Nothing."""


def without(name: str, instead: str) -> Callable[..., None]:
    """A function that writes nothing here, and warns that it does not."""

    def warn(*args: Any, **options: Any) -> None:
        warnings.warn(f"{name}: nothing is written here; {instead}.", stacklevel=2)

    return warn


def refused(name: str, instead: str) -> Callable[..., NoReturn]:
    """A function that raises NotImplementedError, which says what to do instead."""

    def refuse(*args: Any, **options: Any) -> NoReturn:
        raise NotImplementedError(f"{name}: {instead}.")

    return refuse


def printed(
    *values: Any,
    output_stream: Any = None,
    summarize: int = 3,
    sep: str = " ",
    end: str = "\n",
    name: Any = None,
) -> None:
    """Print values, of tensors the numbers."""
    print(*(_shown(each) for each in values), sep=sep, end=end)


def _shown(value: Any) -> Any:
    value = as_value(value) if isinstance(value, (torch.Tensor, StringTensor)) else value
    if isinstance(value, torch.Tensor):
        array = value.detach().cpu().numpy()
        return array if array.ndim else array.item()
    return value.numpy() if isinstance(value, StringTensor) else value


# --- devices ----------------------------------------------------------------------------------------------------------


class PhysicalDevice:
    """A device: its `name` and its `device_type`, "CPU" or "GPU"."""

    def __init__(self, name: str, device_type: str) -> None:
        self.name, self.device_type = name, device_type

    def __repr__(self) -> str:
        return f"PhysicalDevice(name={self.name!r}, device_type={self.device_type!r})"


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The CPU, and the GPUs that torch finds."""
    gpus = [PhysicalDevice(f"/physical_device:GPU:{k}", "GPU") for k in range(torch.cuda.device_count())]
    found = [PhysicalDevice("/physical_device:CPU:0", "CPU"), *gpus]
    return [each for each in found if device_type in (None, each.device_type)]


class LogicalDeviceConfiguration:
    """How one device would be made two; torch takes its memory as it needs it."""

    def __init__(self, memory_limit: Any = None, **options: Any) -> None:
        self.memory_limit = memory_limit


def _only(name: str, only: Any) -> Callable[[Any], None]:
    """A setting that has one value here. Raises NotImplementedError for another."""

    def check(value: Any = only) -> None:
        if bool(value) != only:
            raise NotImplementedError(f"tf.config.{name}: it must be {only!r} here; found {value!r}.")

    return check


def set_visible_devices(devices: Any, device_type: str | None = None) -> None:
    """Compute on the first GPU of a list, or on the CPU where it has none. A list of CPUs alone changes nothing."""
    given = list(devices) if isinstance(devices, (list, tuple)) else [devices]
    gpus = [each for each in given if each.device_type == "GPU"]
    if device_type == "CPU" or not torch.cuda.is_available():
        return
    config.set_device(f"cuda:{gpus[0].name.rpartition(':')[2]}" if gpus else "cpu")


def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The CPU, and the GPUs, unless `set_visible_devices` has chosen the CPU."""
    found = list_physical_devices(device_type)
    return found if config.device().type == "cuda" else [each for each in found if each.device_type == "CPU"]


def set_logical_device_configuration(device: Any, logical_devices: Sequence[Any]) -> None:
    """One device as one: its memory limit changes nothing. Raises NotImplementedError where one is to be several."""
    if len(logical_devices) > 1:
        raise NotImplementedError(
            f"tf.config.set_logical_device_configuration: one device cannot be {len(logical_devices)} here; start "
            "several processes by torchrun."
        )


_DEVICES: dict[str, Any] = {
    "list_physical_devices": list_physical_devices,
    **dict.fromkeys(("get_visible_devices", "list_logical_devices"), get_visible_devices),
    "set_visible_devices": set_visible_devices,
    "set_logical_device_configuration": set_logical_device_configuration,
    "LogicalDeviceConfiguration": LogicalDeviceConfiguration,
}
CONFIG: dict[str, Any] = {
    **_DEVICES,
    **{f"experimental.{name}": value for name, value in _DEVICES.items()},
    "experimental.set_memory_growth": nothing,
    "experimental.set_virtual_device_configuration": set_logical_device_configuration,
    "experimental.VirtualDeviceConfiguration": LogicalDeviceConfiguration,
    "experimental.get_memory_growth": lambda each: True,
    "experimental.enable_op_determinism": lambda: torch.use_deterministic_algorithms(True, warn_only=True),
    **dict.fromkeys(("run_functions_eagerly", "experimental_run_functions_eagerly"), nothing),
    "functions_run_eagerly": lambda: True,
    "set_soft_device_placement": nothing,
    "optimizer.set_jit": nothing,
    "optimizer.set_experimental_options": nothing,
    "threading.set_inter_op_parallelism_threads": nothing,
    "threading.set_intra_op_parallelism_threads": lambda count: torch.set_num_threads(count) if count else None,
    "threading.get_intra_op_parallelism_threads": torch.get_num_threads,
    "experimental_connect_to_cluster": refused("tf.config.experimental_connect_to_cluster", "start it by torchrun"),
}


# --- several devices --------------------------------------------------------------------------------------------------


class Strategy:
    """A scope in which models are made as ever, on one device. torchrun starts several processes, in which
    `compile(distribute=...)` shares the work.
    """

    num_replicas_in_sync = 1
    extended = None

    def __init__(self, *args: Any, **options: Any) -> None:
        if torch.cuda.device_count() > 1:
            print(
                f"tf.distribute.{type(self).__name__}: this trains on one device. For all of them start the script by "
                "`torchrun --nproc-per-node N`, and compile the model with distribute='ddp'."
            )

    def scope(self) -> AbstractContextManager[Any]:
        """A block, which changes nothing."""
        return nullcontext(self)

    def run(self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, options: Any = None) -> Any:
        """The result of a function."""
        return fn(*args, **(kwargs or {}))

    experimental_run_v2 = run

    def reduce(self, reduce_op: Any, value: Any, axis: int | None) -> Any:
        """The value of the one device; with an axis its sum or mean along that."""
        found = as_value(value)
        if axis is None:
            return found
        mean = str(getattr(reduce_op, "value", reduce_op)).lower() == "mean"
        return found.mean(axis) if mean else found.sum(axis)

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        """The dataset itself."""
        return dataset

    def distribute_datasets_from_function(self, dataset_fn: Callable[[Any], Any], options: Any = None) -> Any:
        """The dataset that a function makes."""
        return dataset_fn(SimpleNamespace(get_per_replica_batch_size=lambda size: size, num_input_pipelines=1))

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        """The value of the one device."""
        return (value,)


class MirroredStrategy(Strategy): ...


class OneDeviceStrategy(Strategy): ...


class MultiWorkerMirroredStrategy(Strategy): ...


class ReduceOp(Enum):
    """How the values of devices are joined."""

    SUM = "SUM"
    MEAN = "MEAN"


_DEFAULT: list[Strategy] = []


def get_strategy() -> Strategy:
    """The one strategy where none was chosen."""
    if not _DEFAULT:
        _DEFAULT.append(Strategy())
    return _DEFAULT[0]


DISTRIBUTE: dict[str, Any] = {
    **{each.__name__: each for each in (Strategy, MirroredStrategy, OneDeviceStrategy, MultiWorkerMirroredStrategy)},
    "experimental.MultiWorkerMirroredStrategy": MultiWorkerMirroredStrategy,
    "experimental.CentralStorageStrategy": MirroredStrategy,
    "ReduceOp": ReduceOp,
    "get_strategy": get_strategy,
    "has_strategy": lambda: False,
    "get_replica_context": lambda: SimpleNamespace(replica_id_in_sync_group=0, num_replicas_in_sync=1),
    **dict.fromkeys(
        ("TPUStrategy", "experimental.TPUStrategy", "cluster_resolver.TPUClusterResolver"),
        type("TPUStrategy", (), {"__init__": refused("tf.distribute.TPUStrategy", "torch runs on no TPU here")}),
    ),
}


# --- records ----------------------------------------------------------------------------------------------------------


class SummaryWriter:
    """A writer of records for TensorBoard; its block is where `tf.summary.scalar` writes."""

    def __init__(self, logdir: Any) -> None:
        writer = extra("torch.utils.tensorboard", "tf.summary.create_file_writer").SummaryWriter
        self._writer = writer(text_of(logdir))

    @contextmanager
    def as_default(self, step: Any = None) -> Any:
        """The block."""
        before = _writing[:]
        _writing[:] = [self._writer]
        try:
            yield self
        finally:
            self._writer.flush()
            _writing[:] = before

    def set_as_default(self, step: Any = None) -> None:
        """Write here from now on."""
        _writing[:] = [self._writer]

    def flush(self) -> None:
        """Write what waits to the disk."""
        self._writer.flush()

    def close(self) -> None:
        """Write what waits to the disk, and end."""
        self._writer.close()


_writing: list[Any] = []
_STEP: dict[str, Any] = {"experimental.set_step": None}


def _record(method: str) -> Callable[..., Any]:
    def write(name: str, data: Any, step: Any = None, *args: Any, **options: Any) -> bool:
        at = _STEP["experimental.set_step"] if step is None else int(step)
        for writer in _writing:
            value = data if isinstance(data, (str, bytes)) else as_value(data)
            if method == "add_images":
                writer.add_images(name, value, at, dataformats="NHWC")
            else:
                getattr(writer, method)(name, value, at)
        return bool(_writing)

    return write


SUMMARY: dict[str, Any] = {
    "SummaryWriter": SummaryWriter,
    "create_file_writer": lambda logdir, *args, **options: SummaryWriter(logdir),
    "create_noop_writer": lambda: SimpleNamespace(as_default=nullcontext),
    "scalar": _record("add_scalar"),
    "histogram": _record("add_histogram"),
    "image": _record("add_images"),
    "text": _record("add_text"),
    "experimental.set_step": lambda step: _STEP.update({"experimental.set_step": int(step)}),
    **dict.fromkeys(("trace_on", "trace_off"), nothing),
    **{
        name: without(f"tf.summary.{name}", "torch.profiler traces, and print(model.code) shows the graph")
        for name in ("trace_export", "graph")
    },
    "flush": lambda writer=None, name=None: [each.flush() for each in ([writer] if writer else _writing)] and None,
    "should_record_summaries": lambda: bool(_writing),
    "record_if": scope,
}


# --- checks -----------------------------------------------------------------------------------------------------------


class InvalidArgumentError(ValueError):
    """A value that a function cannot take."""


class OutOfRangeError(Exception):
    """There is no next element."""


class NotFoundError(OSError):
    """There is no such file."""


def _checked(holds: Callable[..., Any], says: str) -> Callable[..., Any]:
    def check(*args: Any, message: Any = None, summarize: Any = None, name: Any = None) -> None:
        values = [as_value(each) for each in args]
        if not bool(torch.as_tensor(holds(*values)).all()):
            raise InvalidArgumentError(
                message or f"tf.debugging: {says} does not hold of {[_shown(v) for v in values]}."
            )

    return check


def _asserted(condition: Any, data: Any = None, summarize: Any = None, name: Any = None) -> None:
    """Raise InvalidArgumentError where a condition does not hold."""
    if not bool(as_value(condition)):
        raise InvalidArgumentError(f"tf.debugging.Assert: {[_shown(each) for each in data or ()]}.")


def check_numerics(tensor: Any, message: str, name: Any = None) -> Any:
    """The tensor. Raises InvalidArgumentError where it has NaN or infinite numbers."""
    if not bool(torch.isfinite(as_value(tensor)).all()):
        raise InvalidArgumentError(f"{message}: the tensor has NaN or infinite numbers.")
    return tensor


def assert_shapes(shapes: Any, data: Any = None, summarize: Any = None, message: Any = None, name: Any = None) -> None:
    """Raise InvalidArgumentError where tensors do not have the sizes that stand beside them.

    A size is a number, a text that stands for one size in all of them, or None or "." for any.
    """
    known: dict[str, int] = {}
    for tensor, sizes in shapes.items() if isinstance(shapes, Mapping) else shapes:
        found, expected = tuple(as_value(tensor).shape), tuple(sizes)
        numbers = [
            known.setdefault(each, at) if _is_name(each) else each for each, at in zip(expected, found, strict=False)
        ]
        fits = all(number in (at, None, ".") for number, at in zip(numbers, found, strict=False))
        if len(found) != len(expected) or not fits:
            raise InvalidArgumentError(
                message
                or f"tf.debugging.assert_shapes: {expected} is not the shape {found} of a tensor; found {known}."
            )


def _is_name(size: Any) -> bool:
    return isinstance(size, str) and size != "."


_CHECKS = {
    "assert_equal": (lambda x, y: x == y, "x == y"),
    "assert_none_equal": (lambda x, y: x != y, "x != y"),
    "assert_greater": (lambda x, y: x > y, "x > y"),
    "assert_greater_equal": (lambda x, y: x >= y, "x >= y"),
    "assert_less": (lambda x, y: x < y, "x < y"),
    "assert_less_equal": (lambda x, y: x <= y, "x <= y"),
    "assert_positive": (lambda x: x > 0, "x > 0"),
    "assert_non_negative": (lambda x: x >= 0, "x >= 0"),
    "assert_near": (lambda x, y: torch.isclose(x, y.to(x.dtype), 1e-5, 1e-5), "x near y"),
    "assert_rank": (lambda x, rank: x.ndim == int(rank), "this rank"),
}
DEBUGGING: dict[str, Any] = {
    **{name: _checked(*row) for name, row in _CHECKS.items()},
    "Assert": _asserted,
    "assert_shapes": assert_shapes,
    "check_numerics": check_numerics,
    "is_numeric_tensor": lambda tensor: isinstance(tensor, torch.Tensor),
    "set_log_device_placement": nothing,
    "enable_check_numerics": refused(
        "tf.debugging.enable_check_numerics", "ask tf.debugging.check_numerics, or train with callbacks.TerminateOnNaN"
    ),
    "disable_check_numerics": nothing,
    "experimental.enable_dump_debug_info": refused(
        "tf.debugging.experimental.enable_dump_debug_info", "use torch.profiler or a debugger of Python"
    ),
    "disable_traceback_filtering": nothing,
}
ERRORS: dict[str, Any] = {each.__name__: each for each in (InvalidArgumentError, OutOfRangeError, NotFoundError)} | {
    "OpError": Exception,
    "ResourceExhaustedError": MemoryError,
    "UnknownError": RuntimeError,
}


# --- files and texts --------------------------------------------------------------------------------------------------


def read_file(filename: Any) -> StringTensor:
    """The bytes of a file."""
    return StringTensor.of(Path(_path(filename)).read_bytes())


def write_file(filename: Any, contents: Any) -> None:
    """Write bytes to a file."""
    Path(_path(filename)).write_bytes(StringTensor.of(contents).numpy())


def _path(path: Any) -> str:
    return text_of(path.numpy() if isinstance(path, StringTensor) else path)


class GFile:
    """A file, as `open` opens it."""

    def __new__(cls, name: Any, mode: str = "r") -> Any:
        """The open file."""
        return open(_path(name), mode)


GFILE: dict[str, Any] = {
    "GFile": GFile,
    "exists": lambda path: os.path.exists(_path(path)),
    "isdir": lambda path: os.path.isdir(_path(path)),
    "listdir": lambda path: sorted(os.listdir(_path(path))),
    "glob": lambda pattern: sorted(globbing.glob(_path(pattern))),
    "makedirs": lambda path: os.makedirs(_path(path), exist_ok=True),
    "mkdir": lambda path: os.mkdir(_path(path)),
    "remove": lambda path: os.remove(_path(path)),
    "rmtree": lambda path: shutil.rmtree(_path(path)),
    "copy": lambda src, dst, overwrite=False: shutil.copy(_path(src), _path(dst)),
    "rename": lambda src, dst, overwrite=False: os.replace(_path(src), _path(dst)),
    "walk": lambda top, topdown=True, onerror=None: os.walk(_path(top), topdown, onerror),
}


def _texts(values: Any) -> Any:
    """Texts as an array of bytes."""
    return np.asarray(StringTensor.of(values.numpy() if isinstance(values, StringTensor) else values))


def decode_raw(input_bytes: Any, out_type: Any, little_endian: bool = True, fixed_length: Any = None) -> Any:
    """The numbers in bytes."""
    kind = np.dtype(str(as_type(out_type)).removeprefix("torch.")).newbyteorder("<" if little_endian else ">")
    return as_value(np.frombuffer(StringTensor.of(_texts(input_bytes)).numpy(), kind).astype(kind.newbyteorder("=")))


def decode_csv(records: Any, record_defaults: Any, field_delim: str = ",", *args: Any, **options: Any) -> list[Any]:
    """The columns of lines of CSV, each of the type of its default, which stands where there is nothing."""
    array = _texts(records)
    rows = list(csv.reader([each.decode() for each in array.ravel()], delimiter=field_delim))
    columns = zip(*rows, strict=True)
    found = []
    for column, default in zip(columns, record_defaults, strict=True):
        first = as_value(default)
        filled = [each or first.reshape(-1)[0] for each in column] if first.shape else list(column)
        if isinstance(first, StringTensor):
            kept: Any = StringTensor.of(filled)
        else:
            kept = as_value(np.array(filled, "float64")).to(first.dtype)
        found.append(kept.reshape(array.shape))
    return found


IO: dict[str, Any] = {
    "read_file": taking("filename", read_file),
    "write_file": taking("filename contents", write_file),
    "matching_files": taking("pattern", lambda pattern: StringTensor.of(sorted(globbing.glob(_path(pattern))))),
    **{f"gfile.{name}": value for name, value in GFILE.items()},
    "decode_csv": decode_csv,
    "decode_raw": taking("input_bytes out_type little_endian=True fixed_length=None", decode_raw),
}


def on_texts(change: Callable[..., Any]) -> Callable[..., Any]:
    """A function of one text, for arrays of texts too."""

    def changed(input: Any, *args: Any, **options: Any) -> Any:
        array = _texts(input)
        found = np.vectorize(lambda each: change(each, *args), otypes=[object])(array)
        return (
            StringTensor.of(found)
            if not found.size or isinstance(found.flat[0], bytes)
            else as_value(found.astype(type(found.flat[0])))
        )

    changed.__doc__ = change.__doc__
    return changed


def _split(input: Any, sep: Any = None, maxsplit: int = -1, name: Any = None) -> Any:
    """The parts of a text between separators; of several texts a list for each."""
    mark = None if sep is None else text_of(sep)
    array = _texts(input)
    found = [StringTensor.of(each.decode().split(mark, maxsplit)) for each in array.ravel()]
    return found if array.ndim else found[0]


def _joined(inputs: Any, separator: str = "", name: Any = None) -> Any:
    """Texts one after another."""
    arrays = np.broadcast_arrays(*map(_texts, inputs))
    mark = text_of(separator).encode()
    return StringTensor.of(np.vectorize(lambda *each: mark.join(each), otypes=[object])(*arrays))


def _reduce_join(inputs: Any, axis: Any = None, keepdims: bool = False, separator: str = "", name: Any = None) -> Any:
    """Texts along an axis as one."""
    array, mark = _texts(inputs), text_of(separator).encode()
    if axis is None:
        return StringTensor.of(mark.join(array.ravel().tolist()))
    return StringTensor.of(np.apply_along_axis(lambda row: np.array(mark.join(row), dtype=object), axis, array))


def _to_number(input: Any, out_type: Any = "float32", name: Any = None) -> Any:
    """Numbers from texts."""
    return converted(_texts(input).astype("float64"), out_type)


def _formatted(template: str, inputs: Any, placeholder: str = "{}", summarize: int = 3, name: Any = None) -> Any:
    """A text with values in the places of its marks."""
    values = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    for value in values:
        template = template.replace(placeholder, str(_shown(value)), 1)
    return StringTensor.of(template)


STRINGS: dict[str, Any] = {
    "as_string": taking(
        "input precision=-1", lambda x, _: StringTensor.of(np.asarray(as_value(x)).astype(str).astype(object))
    ),
    "format": _formatted,
    "join": _joined,
    "length": on_texts(lambda each, *args: len(each)),
    "lower": on_texts(lambda each, *args: each.lower()),
    "upper": on_texts(lambda each, *args: each.upper()),
    "strip": on_texts(lambda each, *args: each.strip()),
    "reduce_join": _reduce_join,
    "regex_full_match": on_texts(lambda each, pattern: re.fullmatch(text_of(pattern).encode(), each) is not None),
    "regex_replace": on_texts(
        lambda each, pattern, rewrite, *args: re.sub(text_of(pattern).encode(), text_of(rewrite).encode(), each)
    ),
    "split": _split,
    "substr": on_texts(lambda each, pos, length, *args: each[int(pos) :][: int(length)]),
    "to_number": _to_number,
    "unicode_split": lambda text, *args: StringTensor.of(list(text_of(StringTensor.of(text).numpy()))),
}


def _map_structure(
    func: Callable[..., Any], *structure: Any, check_types: bool = True, expand_composites: bool = False
) -> Any:
    """`keras.tree.map_structure`."""
    return tree.map_structure(func, *structure)


NEST: dict[str, Any] = {
    "flatten": lambda structure, expand_composites=False: tree.flatten(structure),
    "map_structure": _map_structure,
    "pack_sequence_as": lambda structure, flat_sequence, expand_composites=False: tree.pack_sequence_as(
        structure, flat_sequence
    ),
    "is_nested": tree.is_nested,
    "assert_same_structure": lambda nest1, nest2, check_types=True, expand_composites=False: tree.assert_same_structure(
        nest1, nest2
    ),
}


_GPU = torch.cuda.is_available
NAMES: dict[str, Any] = {
    "Assert": _asserted,
    "assert_equal": DEBUGGING["assert_equal"],
    "control_dependencies": scope,
    "device": device,
    "executing_eagerly": lambda: True,
    "function": function,
    "group": nothing,
    "init_scope": nullcontext,
    "name_scope": scope,
    "no_gradient": refused("tf.no_gradient", "tf.stop_gradient ends the gradient of a tensor"),
    "no_op": nothing,
    "print": printed,
    "autograph.experimental.do_not_convert": function,
    "autograph.experimental.set_loop_options": nothing,
    "autograph.set_verbosity": nothing,
    "autograph.to_code": refused("tf.autograph.to_code", "a function runs as it is written"),
    "test.is_gpu_available": lambda *args, **options: _GPU(),
    "test.is_built_with_cuda": lambda: torch.version.cuda is not None,
    "test.gpu_device_name": lambda: "/device:GPU:0" if _GPU() else "",
    "compat.as_str": text_of,
    "compat.as_text": text_of,
    "compat.as_bytes": lambda text, *args: text_of(text).encode(),
    "experimental.function_executor_type": scope,
    "get_logger": lambda: logging.getLogger("tensorflow"),
    "sysconfig.get_build_info": dict,
    "version.VERSION": "2.15.0",
    "profiler.experimental.start": without("tf.profiler.experimental.start", "torch.profiler profiles"),
    "profiler.experimental.stop": nothing,
}
