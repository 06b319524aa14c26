"""Which TensorFlow a script was written for, 1 or 2, by the names in its text."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

# Names that only TensorFlow 1 had; those that end with a point are modules.
ONLY_1 = """
ConfigProto GPUOptions Graph InteractiveSession Print Session app. assign contrib. disable_v2_behavior div flags.
get_collection get_default_graph get_variable global_variables_initializer gfile. layers. log logging.
losses.softmax_cross_entropy losses.sparse_softmax_cross_entropy placeholder placeholder_with_default python_io.
random_normal random_uniform reset_default_graph set_random_seed summary.FileWriter summary.merge_all to_float
to_int32 train.AdagradOptimizer train.AdamOptimizer train.GradientDescentOptimizer train.MomentumOptimizer
train.RMSPropOptimizer train.Saver truncated_normal variable_scope compat.v1.disable_eager_execution
compat.v1.disable_v2_behavior
"""
_ONLY_1 = frozenset(ONLY_1.split())
TF = "tensorflow"


def _imports(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """(the name in the script, the path of what it is) of each import."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                first = each.name.partition(".")[0]
                yield (each.asname, each.name) if each.asname else (first, first)
                yield "", each.name
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for each in node.names:
                yield each.asname or each.name, f"{node.module}.{each.name}"


def _path(node: Any, known: dict[str, str]) -> str | None:
    """The whole path of `tf.nn.relu`; None for what begins with another name."""
    if isinstance(node, ast.Attribute):
        inner = _path(node.value, known)
        return None if inner is None else f"{inner}.{node.attr}"
    return known.get(node.id) if isinstance(node, ast.Name) else None


def _is_in(path: str, names: frozenset[str]) -> bool:
    parts = path.removeprefix(f"{TF}.").split(".")
    heads = {".".join(parts[:count]) for count in range(1, len(parts) + 1)}
    return any(head in names or f"{head}." in names for head in heads)


def version_of(text: str) -> int:
    """1 or 2, for the text of a script.

    Names that only TensorFlow 1 had mean 1, and so does an `import keras` where `tf.keras` is not used. Raises
    SyntaxError for what is no Python.

    Example:
        >>> version_of("import tensorflow as tf\\nx = tf.placeholder(tf.float32)")
        1
        >>> version_of("from tensorflow.keras.layers import Dense")
        2
    """
    tree = ast.parse(text)
    imports = list(_imports(tree))
    known = {name: path for name, path in imports if name}
    paths = [path for _, path in imports]
    paths += [path for node in ast.walk(tree) if isinstance(node, ast.Attribute) and (path := _path(node, known))]
    of_tf = [path for path in paths if path.startswith(f"{TF}.")]
    if any(_is_in(path, _ONLY_1) for path in of_tf):
        return 1
    has_keras = any(path == "keras" or path.startswith("keras.") for path in paths)
    return 1 if has_keras and not any(_is_in(path, frozenset({"keras."})) for path in of_tf) else 2
