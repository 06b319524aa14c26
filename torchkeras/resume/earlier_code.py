"""The code of a graph in a checkpoint of an earlier version, where a layer has a method for each way to call it."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Sequence

ONE_OF_ALL = 10**6  # a number that no other layer has


def is_of_earlier(lines: Sequence[str]) -> bool:
    """Whether lines of code are as earlier versions wrote them: `layer0._call_module(x)`."""
    return any("._call_" in line for line in lines)


def comparable(lines: Sequence[str]) -> list[str]:
    """Lines of code of any version, normalized so that equal graphs have equal lines: statements, then comments."""
    text = "\n".join(lines)
    statements = ast.unparse(_Today().visit(ast.parse(text)))
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    comments = [token.string for token in tokens if token.type == tokenize.COMMENT]
    places: dict[str, str] = {}
    renamed = re.sub(r"\blayer\d+\b", lambda name: places.setdefault(name[0], f"layer{len(places)}"), statements)
    return [*renamed.split("\n"), *comments]


class _Today(ast.NodeTransformer):
    """Rewrites calls and names of layers in today's form."""

    def __init__(self) -> None:
        self._by_key: dict[str, str] = {}

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """`layer0['block/1']`, of a layer whose name is no identifier: `layer0` was all of these."""
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and re.fullmatch(r"layer\d+", node.value.id):
            name = self._by_key.setdefault(ast.unparse(node.slice), f"layer{ONE_OF_ALL + len(self._by_key)}")
            return ast.Name(name, node.ctx)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """`layer3._call_rectified(layer2, x)` is `layer3(x)`, `layer1._call_in_mode(True, x)` has its mode last."""
        self.generic_visit(node)
        if not (isinstance(node.func, ast.Attribute) and node.func.attr.startswith("_call_")):
            return node
        way, node.func = node.func.attr, node.func.value
        if way == "_call_rectified":
            del node.args[0]
        elif way == "_call_in_mode":
            node.keywords.append(ast.keyword("training", node.args.pop(0)))
        return node
