"""Architectures that run code when they are believed, or that are no architecture: each with its error.

The bytecode is real: whoever unmarshals and calls it makes a marker file.
"""

import base64
import marshal
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torchkeras.errors import ArchitectureError, FileLimitError, ForbiddenContentError, ModelFileError
from torchkeras.layers import IntegerLookup

MARKER = "marker-of-a-payload"
CODE = marshal.dumps((lambda *found: open("marker-of-a-payload", "w").close() or found[0]).__code__)
PACKED = base64.b64encode(CODE).decode()
DUMP = [PACKED, None, None]  # Keras 2 and tf_keras
RAW_DUMP = [CODE.decode("raw_unicode_escape"), None, None]  # Keras 1
KERAS3 = {"class_name": "__lambda__", "config": {"code": PACKED, "defaults": None, "closure": None}}


@dataclass(frozen=True)
class HostileConfig:
    name: str
    config: Any
    error: type[ModelFileError]
    text: str


def entry(kind: str, name: str = "l", **options: Any) -> dict[str, Any]:
    return {"class_name": kind, "config": {"name": name, **options}}


def stack(*layers: Any) -> dict[str, Any]:
    return entry("Sequential", "s", layers=[entry("InputLayer", "i", batch_input_shape=[None, 3]), *layers])


def first(batch_input_shape: Any) -> dict[str, Any]:
    """A model whose input has this shape."""
    return entry("Sequential", "s", layers=[dense(batch_input_shape=batch_input_shape)])


def graph(*layers: Any, output: Any = ("l", 0, 0), inputs: Any = ("i", 0, 0), **changes: Any) -> dict[str, Any]:
    """A functional model of an input `i` and these layers, each called on what stands before it unless it says."""
    entries, before = [], "i"
    for layer in (entry("InputLayer", "i", batch_input_shape=[None, 3]), *layers):
        nodes = layer.get("inbound_nodes", [[[before, 0, 0, {}]]] if entries else [])
        entries.append({"name": layer["config"]["name"], **layer, "inbound_nodes": nodes})
        before = layer["config"]["name"]
    config = {"layers": entries, "input_layers": [list(inputs)], "output_layers": [list(output)], **changes}
    return entry("Model", "m", **config)


def dense(name: str = "l", **options: Any) -> dict[str, Any]:
    return entry("Dense", name, **{"units": 2, **options})


def plain_lambda(**options: Any) -> dict[str, Any]:
    """A Lambda whose function is kept by a name that the test gives."""
    return entry("Lambda", **{"function": "known", "function_type": "function", "output_shape": None, **options})


SINKS = {
    "Keras 2's function": plain_lambda(function=DUMP, function_type="lambda"),
    "Keras 1's function": plain_lambda(function=RAW_DUMP, function_type="lambda"),
    "Keras 0's function": plain_lambda(function=CODE.decode("raw_unicode_escape"), function_type="lambda"),
    "tf_keras's function": plain_lambda(function=DUMP, function_type="lambda", module="os"),
    "Keras 3's function": entry("Lambda", function=KERAS3, output_shape=None, arguments={}),
    "a function said to be a name": plain_lambda(function=PACKED, function_type="function"),
    "a function said to be raw": plain_lambda(function=DUMP, function_type="raw"),
    "a function of no kind": entry("Lambda", function=DUMP),
    "Keras 2's output_shape": plain_lambda(output_shape=DUMP, output_shape_type="lambda"),
    "Keras 1's output_shape": plain_lambda(output_shape=RAW_DUMP, output_shape_type="lambda"),
    "Keras 3's output_shape": plain_lambda(output_shape=KERAS3),
    "an output_shape said to be a name": plain_lambda(output_shape=PACKED, output_shape_type="function"),
    "an output_shape said to be raw": plain_lambda(output_shape=DUMP, output_shape_type="raw"),
    "Keras 2's mask": plain_lambda(mask=DUMP, mask_type="lambda"),
    "Keras 3's mask": plain_lambda(mask=KERAS3),
    "a mask of no kind": plain_lambda(mask=DUMP),
    "Merge's mode": entry("Merge", mode=RAW_DUMP, mode_type="lambda", layers=[]),
    "Merge's mode of Keras 2": entry("Merge", mode=DUMP, mode_type="lambda", layers=[]),
    "Merge's mode said to be raw": entry("Merge", mode=PACKED, mode_type="raw", layers=[]),
    "Merge's mode of Keras 3": entry("Merge", mode=KERAS3, layers=[]),
    "Merge's output_shape": entry("Merge", mode="sum", mode_type="raw", output_shape=DUMP, output_shape_type="lambda"),
    "Merge's output_mask": entry("Merge", mode="sum", mode_type="raw", output_mask=DUMP, output_mask_type="lambda"),
}

NESTINGS: dict[str, Callable[[Any], Any]] = {
    "alone": lambda layer: layer,
    "in a Sequential": stack,
    "in the list of an old Sequential": lambda layer: {"class_name": "Sequential", "config": [dense(), layer]},
    "in a Model": graph,
    "in a Sequential in a Model": lambda layer: graph(stack(layer), output=("s", 1, 0)),
    "in a Model in a Model": lambda layer: graph(graph(layer), output=("m", 1, 0)),
    "in TimeDistributed": lambda layer: stack(entry("TimeDistributed", "t", layer=layer)),
    "in Bidirectional": lambda layer: stack(entry("Bidirectional", "b", layer=layer)),
    "in an RNN": lambda layer: stack(entry("RNN", "r", cell=layer)),
    "in Merge's layers": lambda layer: stack(
        entry("Merge", "merge", mode="sum", layers=[stack(layer), stack(dense())])
    ),
    "as an activation": lambda layer: stack(dense(activation=layer)),
    "in the arguments of a call": lambda layer: graph(
        {**dense(), "inbound_nodes": [[["i", 0, 0, {"training": layer}]]]}
    ),
}

ELSEWHERE = {
    "an activation of Keras 3": stack(dense(activation=KERAS3)),
    "an activation of Keras 3, as it writes some": stack(dense(activation={"value": DUMP})),
    "an initializer": stack(dense(kernel_initializer=KERAS3)),
    "a regularizer": stack(dense(kernel_regularizer={"class_name": "L2", "config": {"l2": KERAS3}})),
}


def nested(depth: int) -> dict[str, Any]:
    config = dense("d")
    for level in range(depth):
        config = entry("Sequential", f"s{level}", layers=[config])
    return config


def chain(length: int) -> dict[str, Any]:
    return stack(*(entry("Activation", f"a{index}", activation="relu") for index in range(length)))


CALL = ["i", 0, 0, {}]
BUILT = "cannot be built"

FUNCTIONS = (
    "torch.load",
    "torch.ops.load_library",
    "torch.Tensor.add_",
    "torch.compile",
    "torch.manual_seed",
    "os.system",
)
INPUT = {"input": 0}

CONFIGS = [
    *(
        HostileConfig(
            f"the function {name}",
            stack(entry("Operation", function=name, arguments=[INPUT])),
            ArchitectureError,
            "function must be the name of an operator",
        )
        for name in FUNCTIONS
    ),
    HostileConfig(
        "a function that writes over its input",
        stack(entry("Operation", function="torch.nn.functional.relu", arguments=[INPUT], keywords={"inplace": True})),
        ArchitectureError,
        "inplace=True writes over a tensor",
    ),
    HostileConfig(
        "a keyword that is code",
        stack(entry("Operation", function="torch.mean", arguments=[INPUT], keywords={"dim=open('x')": 1})),
        ArchitectureError,
        "keywords must be a dictionary of arguments by name",
    ),
    HostileConfig(
        "a constant without its bytes",
        stack(
            entry("Operation", function="add", arguments=[INPUT, {"constant": 0, "dtype": "int8", "shape": [10**12]}])
        ),
        ArchitectureError,
        "has another number of bytes",
    ),
    HostileConfig(
        "a module by its name",
        stack(entry("TorchModule", module="os.system")),
        ArchitectureError,
        "its module, a os.system, is not stored in the file",
    ),
    HostileConfig(
        "a class in a module's place",
        stack(entry("TorchModule", module="Other")),
        ArchitectureError,
        "is not stored in the file",
    ),
    HostileConfig("a module's function", stack(entry("os.system", command="x")), ArchitectureError, "Unknown layer"),
    HostileConfig("a builtin", stack(entry("eval")), ArchitectureError, "Unknown layer: 'eval'"),
    HostileConfig("a class of torch", stack(entry("torch.nn.Linear")), ArchitectureError, "Unknown layer"),
    HostileConfig("an optimizer", stack(entry("Adam")), ArchitectureError, "Unknown layer: 'Adam'"),
    HostileConfig("an initializer for a layer", stack(entry("GlorotUniform")), ArchitectureError, "Unknown layer"),
    HostileConfig("a function for a layer", stack(entry("known")), ArchitectureError, "is no class of a layer"),
    HostileConfig("a class that is no layer", stack(entry("Other")), ModelFileError, "layer"),
    HostileConfig("that class in a graph", graph(entry("Other")), ArchitectureError, "is no class of a layer"),
    HostileConfig("a base of layers", stack(entry("Layer", evil=1)), ArchitectureError, "Unknown layer: 'Layer'"),
    HostileConfig("a long name", stack(entry("x" * 1_000_000)), ArchitectureError, "a name of 1000000 letters"),
    HostileConfig("a class that is no text", stack({"class_name": 5, "config": {}}), ArchitectureError, "class_name"),
    HostileConfig("a class that is a list", stack({"class_name": [], "config": {}}), ArchitectureError, "class_name"),
    HostileConfig("options that are a list", stack({"class_name": "Dense", "config": [2]}), ArchitectureError, ""),
    HostileConfig(
        "options that are a text", stack({"class_name": "Dense", "config": "2"}), ArchitectureError, "config"
    ),
    HostileConfig("a layer that is a list", stack(["Dense", 2]), ArchitectureError, "found ['Dense', 2]"),
    HostileConfig("a layer that is nothing", stack(None), ArchitectureError, "found None"),
    HostileConfig("an unknown option", stack(dense(evil=1)), ArchitectureError, "unknown option 'evil'"),
    HostileConfig("an unknown module", stack(dense(module="os")), ArchitectureError, "unknown option 'module'"),
    HostileConfig("an option missing", stack(entry("Dense")), ArchitectureError, "option 'units' is missing"),
    HostileConfig("an option of another type", stack(dense(units=[2])), ArchitectureError, "units must be"),
    HostileConfig("an unknown activation", stack(dense(activation="os.abort")), ArchitectureError, "os.abort"),
    HostileConfig("a number for an activation", stack(dense(activation=5)), ArchitectureError, "activation"),
    HostileConfig("a name that is no text", stack(entry("Dense", 5, units=2)), ArchitectureError, "name must be"),  # type: ignore[arg-type]
    HostileConfig("no layers", entry("Sequential", layers=None), ArchitectureError, "needs a list of 'layers'"),
    HostileConfig("layers that are a mapping", entry("Sequential", layers={}), ArchitectureError, "list of 'layers'"),
    HostileConfig("two layers of one name", graph(dense("a"), dense("a")), ArchitectureError, "two layers 'a'"),
    HostileConfig("no name", graph({"class_name": "Dense", "config": {"name": "", "units": 2}}), ArchitectureError, ""),
    HostileConfig(
        "a call of itself",
        graph({**dense(), "inbound_nodes": [[["l", 0, 0, {}]]]}),
        ArchitectureError,
        "Call 0 of layer 'l' takes [['l', 0, 0, {}]], which the config does not make",
    ),
    HostileConfig(
        "a ring of calls",
        graph({**dense("a"), "inbound_nodes": [[["l", 0, 0, {}]]]}, dense()),
        ArchitectureError,
        "which the config does not make",
    ),
    HostileConfig(
        "a call before the first",
        graph({**dense(), "inbound_nodes": [[["i", -1, 0, {}]]]}),
        ArchitectureError,
        "'inbound_nodes' must be a list of calls",
    ),
    HostileConfig(
        "an output that is not there",
        graph({**dense(), "inbound_nodes": [[["i", 0, 7, {}]]]}),
        ArchitectureError,
        "takes output 7 of 'i', which has 1",
    ),
    HostileConfig(
        "an output before the first",
        graph({**dense(), "inbound_nodes": [[["i", 0, -1, {}]]]}),
        ArchitectureError,
        "'inbound_nodes' must be a list of calls",
    ),
    HostileConfig("no calls", graph({**dense(), "inbound_nodes": []}), ArchitectureError, "is called on nothing"),
    HostileConfig("an empty call", graph({**dense(), "inbound_nodes": [[]]}), ArchitectureError, "'inbound_nodes'"),
    HostileConfig("calls that are a text", graph({**dense(), "inbound_nodes": "i"}), ArchitectureError, "inbound_"),
    HostileConfig(
        "a call by a number", graph({**dense(), "inbound_nodes": [[[0, 0, 0, {}]]]}), ArchitectureError, "inbound_"
    ),
    HostileConfig(
        "arguments that are a list",
        graph({**dense(), "inbound_nodes": [[["i", 0, 0, []]]]}),
        ArchitectureError,
        "'inbound_nodes'",
    ),
    HostileConfig(
        "an argument that is code",
        graph({**dense(), "inbound_nodes": [[["i", 0, 0, {"x=open('marker-of-a-payload', 'w')": 1}]]]}),
        ArchitectureError,
        "its call takes no argument",
    ),
    HostileConfig("an input of nowhere", graph(dense(), inputs=("z", 0, 0)), ArchitectureError, "does not exist"),
    HostileConfig("an output of nowhere", graph(dense(), output=("z", 0, 0)), ArchitectureError, "does not exist"),
    HostileConfig("an output that is no place", graph(dense(), output=("l",)), ArchitectureError, "'output_layers'"),
    HostileConfig("outputs that are a number", graph(dense(), output_layers=3), ArchitectureError, "'output_layers'"),
    HostileConfig("no outputs", graph(dense(), output_layers=[]), ArchitectureError, "outputs must not be empty"),
    HostileConfig("an output for an input", graph(dense(), inputs=("l", 0, 0)), ArchitectureError, ""),
    HostileConfig("models in models", nested(201), FileLimitError, "More than 200 models stand in one another"),
    HostileConfig("layers without end", chain(25_001), FileLimitError, "more than 25000 layers"),
    HostileConfig("units that no machine has", stack(dense(units=10**30)), ArchitectureError, ""),
    HostileConfig(
        "filters that no machine has", stack(entry("Conv1D", filters=10**20, kernel_size=1)), ModelFileError, ""
    ),
    HostileConfig("a shape of texts", first(["x", "y"]), ArchitectureError, ""),
    HostileConfig("a shape below zero", first([None, -3]), ArchitectureError, ""),
    HostileConfig("a shape that is a number", first(3), ArchitectureError, ""),
    HostileConfig(
        "iterations without end",
        stack(entry("SpectralNormalization", layer=dense("d"), power_iterations=10**12)),
        ArchitectureError,
        "power_iterations must be an integer from 1 to 10000",
    ),
    HostileConfig(
        "a vocabulary without end",
        stack(entry("IntegerLookup", **{**IntegerLookup(vocabulary=[1]).get_config(), "num_oov_indices": 10**12})),
        ArchitectureError,
        "num_oov_indices must be an integer from 0 to 1000000",
    ),
    HostileConfig("an unknown type", stack(dense(dtype="os")), ArchitectureError, "os"),
]

CONFIGS += [
    HostileConfig(f"{sink}, {nesting}", wrap(layer), ForbiddenContentError, "stored as Python bytecode")
    for sink, layer in SINKS.items()
    for nesting, wrap in NESTINGS.items()
]
CONFIGS += [
    HostileConfig(name, config, ForbiddenContentError, "stored as Python bytecode")
    for name, config in ELSEWHERE.items()
]
