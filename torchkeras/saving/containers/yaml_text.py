"""YAML of an architecture, as `to_yaml` of Keras 1 and 2 wrote it, within limits. Needs the package PyYAML.

Keras wrote Python tuples with a tag, Keras 1 some NumPy integers as calls that create them, and tf.keras in the same
way lists and shapes of TensorFlow. These are read as plain lists and numbers; nothing is called. Any other Python tag
is refused.
"""

from __future__ import annotations

import struct
import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from itertools import chain
from typing import Any

from torchkeras.base.extras import extra
from torchkeras.base.python import leave_room
from torchkeras.errors import FileLimitError, ForbiddenContentError, UnreadableFileError
from torchkeras.saving.containers.limits import LIMITS, Limits

PYTHON = "tag:yaml.org,2002:python/"
# Python tags for types that YAML has itself, and what each is read as.
PLAIN: Mapping[str, str] = {
    **{PYTHON + name: "seq" for name in ("tuple", "list")},
    **{PYTHON + name: "str" for name in ("unicode", "str")},
    **{PYTHON + name: "int" for name in ("int", "long")},
    **{PYTHON + name: name for name in ("bool", "float")},
    PYTHON + "none": "null",
    PYTHON + "dict": "map",
}
NUMPY_SCALAR = PYTHON + "object/apply:numpy.core.multiarray.scalar"
NUMPY_DTYPE = PYTHON + "object/apply:numpy.dtype"
TENSORFLOW = "tensorflow.python."
# Calls of TensorFlow's types that stand for their only argument.
OF_ONE = frozenset(
    f"{PYTHON}object/apply:{TENSORFLOW}{name}"
    for name in (
        "framework.tensor_shape.TensorShape",
        "framework.tensor_shape.Dimension",
        "training.tracking.data_structures.ListWrapper",
    )
)
LIST = f"{PYTHON}object/new:{TENSORFLOW}training.tracking.data_structures._ListWrapper"  # of TensorFlow 1.14
NUMBERS = {"i1": "b", "i2": "h", "i4": "i", "i8": "q", "u1": "B", "u2": "H", "u4": "I", "u8": "Q", "f4": "f", "f8": "d"}
SIMPLE = frozenset(f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "int", "float", "str", "seq", "map"))
BYTES = 8 << 20  # of a text; PyYAML reads about 0.5 MB a second
VALUES = 1_000_000  # of a text, counting everything that it repeats by aliases


def dump(config: Any) -> str:
    """The YAML of plain data. Tuples become lists, NumPy's numbers plain ones. Raises ImportError without PyYAML."""
    return _yaml().dump(_python_number(config), Dumper=_dumper(), default_flow_style=False)


def parse(text: str | bytes, where: str = "the architecture", limits: Limits = LIMITS) -> Any:
    """The plain data of a YAML text. `where`: what the text is, for errors.

    Raises ImportError without PyYAML, UnreadableFileError for a text that is not YAML, ForbiddenContentError for a tag
    that would call or import something, FileLimitError for a text that is too long, too deep or too repetitive.
    """
    yaml = _yaml()
    if len(text) > BYTES:
        raise FileLimitError(f"{where} has {len(text)} bytes; at most {BYTES} are read.")
    try:
        _check_depth(yaml.parse(text, Loader=yaml.SafeLoader), where, limits)
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        if node is None:
            return None
        _check_aliases(node, where, limits)
        return _Reader(yaml, where, limits).value(node)
    except yaml.YAMLError as error:
        raise UnreadableFileError(f"{where} is not YAML ({' '.join(str(error).split())[:200]}).") from error
    except UnicodeError as error:
        raise UnreadableFileError(f"{where} is not UTF-8 ({error}).") from error


def _check_depth(events: Any, where: str, limits: Limits) -> None:
    depth = most = 0
    for event in events:
        kind = type(event).__name__
        depth += kind.endswith(("SequenceStartEvent", "MappingStartEvent"))
        depth -= kind.endswith(("SequenceEndEvent", "MappingEndEvent"))
        if depth > limits.json_depth:
            raise FileLimitError(f"{where} is nested deeper than {limits.json_depth} levels.")
        most = max(most, depth)
    leave_room(most)


def _check_aliases(node: Any, where: str, limits: Limits) -> None:
    """Refuse data that is too large, too deep or endless if its aliases are followed."""
    known: dict[int, tuple[int, int] | None] = {}

    def measure(node: Any) -> tuple[int, int]:
        """The number of values in a node, and its depth; each node is visited once."""
        if isinstance(node.value, str):
            return 1, 0
        if id(node) not in known:
            known[id(node)] = None
            sizes, depths = zip((0, 0), *map(measure, _items(node)), strict=True)
            known[id(node)] = (1 + sum(sizes), 1 + max(depths))
        measured = known[id(node)]
        if measured is None:
            raise ForbiddenContentError(f"{where} holds a list or mapping that contains itself.")
        return measured

    size, depth = measure(node)
    if size > VALUES:
        raise FileLimitError(f"{where} stands for more than {VALUES} values.")
    if depth > limits.json_depth:
        raise FileLimitError(f"{where} is nested deeper than {limits.json_depth} levels.")


def _items(node: Any) -> Iterable[Any]:
    """The nodes directly inside: the items of a list, the keys and values of a mapping."""
    return node.value if node.id == "sequence" else chain.from_iterable(node.value)


class _Reader:
    """Turns YAML nodes into plain data."""

    def __init__(self, yaml: Any, where: str, limits: Limits):
        self.where, self.limits = where, limits
        self.scalars = yaml.SafeLoader("")

    def value(self, node: Any) -> Any:
        """The data of a node. Raises ForbiddenContentError, UnreadableFileError, FileLimitError."""
        if node.tag == NUMPY_SCALAR:
            return self._number(node)
        if node.tag in OF_ONE or node.tag == LIST:
            return self.value(self._inside(node))
        kind = PLAIN.get(node.tag, node.tag.removeprefix("tag:yaml.org,2002:"))
        shape, read = READ.get(kind, (None, None))
        if f"tag:yaml.org,2002:{kind}" not in SIMPLE or read is None:
            raise ForbiddenContentError(f"{self.where} holds the tag {node.tag[:200]!r}, which is not read.")
        if node.id != shape:
            raise UnreadableFileError(f"{self.where} has the tag {node.tag[:200]!r} at a {node.id}.")
        return read(self, node)

    def sequence(self, node: Any) -> list[Any]:
        return [self.value(item) for item in node.value]

    def mapping(self, node: Any) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            key = self.value(key_node)
            if not isinstance(key, (str, int, float, bool, type(None))):
                raise UnreadableFileError(f"{self.where} has a key that is no string: {key!r:.100}.")
            if key in found:  # PyYAML says nothing
                warnings.warn(
                    f"{self.where} has the key {key!r:.100} twice in one mapping; the last value counts.", stacklevel=2
                )
            found[key] = self.value(value_node)
        return found

    def scalar(self, node: Any) -> Any:
        if len(node.value) > self.limits.digits and not node.tag.endswith((":str", "/str", "/unicode")):
            raise FileLimitError(f"{self.where} holds a number of {len(node.value)} characters.")
        kind = PLAIN.get(node.tag, node.tag.rpartition(":")[2])
        try:
            return getattr(self.scalars, f"construct_yaml_{kind}")(node)
        except (ValueError, KeyError) as error:
            raise UnreadableFileError(f"{self.where} holds {node.value[:100]!r}, which is no {kind}.") from error

    def _inside(self, node: Any) -> Any:
        """What an object of TensorFlow holds."""
        if node.tag in OF_ONE:
            found = node.value if node.id == "sequence" else []
        else:
            pairs = node.value if node.id == "mapping" else []
            found = [item for key, item in pairs if key.value == "listitems"]
        if len(found) != 1:
            raise ForbiddenContentError(f"{self.where} holds the tag {node.tag!r} around what is not one value.")
        return found[0]

    def _number(self, node: Any) -> Any:
        """A NumPy number: its type, such as i8, and its bytes."""
        try:
            dtype, data = node.value
            parts = {key.value: item.value for key, item in dtype.value}
            code, order = parts["args"][0], parts["state"][1].value
            raw = self.scalars.construct_yaml_binary(data)
            if dtype.tag != NUMPY_DTYPE or order not in "<>|=":
                raise ValueError(dtype.tag)
            return struct.unpack((">" if order == ">" else "<") + NUMBERS[code.value], raw)[0]
        except (ValueError, TypeError, LookupError, AttributeError, struct.error) as error:
            raise ForbiddenContentError(f"{self.where} holds the tag {node.tag!r} around what is no number.") from error


READ: Mapping[str, tuple[str, Callable[[_Reader, Any], Any]]] = {
    "seq": ("sequence", _Reader.sequence),
    "map": ("mapping", _Reader.mapping),
    **dict.fromkeys(("null", "bool", "int", "float", "str"), ("scalar", _Reader.scalar)),
}


def _python_number(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _python_number(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_python_number(item) for item in value]
    return value.item() if hasattr(value, "item") and not getattr(value, "shape", ()) else value


@cache
def _dumper() -> Any:
    """A safe dumper that writes no aliases for an object that occurs twice."""
    base = _yaml().SafeDumper
    return type("Dumper", (base,), {"ignore_aliases": lambda self, data: True})


def _yaml() -> Any:
    return extra("yaml", "YAML")
