"""Which Keras a script asks for: by its own check of `keras.__version__`, or in the requirements at its head."""

from __future__ import annotations

import ast
import re

KERAS3 = 3
# A requirement in a block of inline metadata: `#   "keras>=3.5",`.
BLOCK = re.compile(r"^# /// script$(?:\n#.*)*", re.MULTILINE)
REQUIREMENT = re.compile(r"""["']keras\s*(?:>=|==|~=)\s*(\d+)""")
# Of "version OPERATOR constant": whether it says that the version is 3 or more; None where it says neither.
SAYS = {
    ast.GtE: lambda major: True if major >= KERAS3 else None,
    ast.Gt: lambda major: True if major >= KERAS3 else None,
    ast.Eq: lambda major: True if major >= KERAS3 else None,
    ast.Lt: lambda major: False if major == KERAS3 else None,
    ast.LtE: lambda major: False if major == KERAS3 - 1 else None,
    ast.NotEq: lambda major: False if major == KERAS3 else None,
}
FLIPPED = {ast.GtE: ast.LtE, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.Lt: ast.Gt, ast.Eq: ast.Eq, ast.NotEq: ast.NotEq}


def asks_for_keras3(source: str) -> bool:
    """Whether a script refuses to run, or to be installed, with a Keras before 3.

    It asserts that `keras.__version__` is at least 3, raises or exits where it is not, or lists `keras>=3` in a block
    of inline metadata. A script with a way for either Keras does not ask.

    Arguments:
        source (text): the script. What does not parse asks for nothing.

    Example:
        >>> asks_for_keras3("import keras; assert keras.__version__ >= '3'")
        True
        >>> asks_for_keras3("import keras; new = keras.__version__ >= '3'")
        False

    Source: https://packaging.python.org/en/latest/specifications/inline-script-metadata/
    """
    required = [int(major) for block in BLOCK.findall(source) for major in REQUIREMENT.findall(block)]
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return False
    return any(major >= KERAS3 for major in required) or any(map(_asks, ast.walk(tree)))


def _asks(node: ast.AST) -> bool:
    if isinstance(node, ast.Assert):
        return _says(node.test) is True
    if isinstance(node, ast.If):
        said = _says(node.test)
        return (said is False and _ends(node.body)) or (said is True and _ends(node.orelse))
    return False


def _says(test: ast.expr) -> bool | None:
    """Whether a condition says that the version is 3 or more, or that it is less; None where it says neither."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        said = _says(test.operand)
        return None if said is None else not said
    if isinstance(test, ast.Call) and isinstance(test.func, ast.Attribute) and test.func.attr == "startswith":
        is_three = bool(test.args) and _has_version(test.func) and _major(test.args[0]) == KERAS3
        return True if is_three else None
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return None
    (right,), kind = test.comparators, type(test.ops[0])
    version, constant = (test.left, right) if _has_version(test.left) else (right, test.left)
    kind = kind if version is test.left else FLIPPED.get(kind, kind)
    major = _major(constant)
    return SAYS[kind](major) if kind in SAYS and major is not None and _has_version(version) else None


def _has_version(node: ast.AST) -> bool:
    """Whether an expression uses `keras.__version__` or `keras.version()`."""
    return any(
        isinstance(each, ast.Attribute)
        and each.attr in ("__version__", "version")
        and isinstance(each.value, ast.Name)
        and each.value.id == "keras"
        for each in ast.walk(node)
    )


def _major(node: ast.AST) -> int | None:
    """The first number of "3.0", 3 or (3, 0), also as an argument of a function; None for what has none."""
    for each in ast.walk(node):
        if isinstance(each, ast.Constant) and isinstance(each.value, (str, int)):
            found = re.match(r"\d+", str(each.value))
            return int(found[0]) if found else None
    return None


def _ends(body: list[ast.stmt]) -> bool:
    """Whether statements raise an error or exit."""
    last = body[-1] if body else None
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call):
        return ast.unparse(last.value.func) in ("exit", "quit", "sys.exit", "os._exit")
    return isinstance(last, ast.Raise)
