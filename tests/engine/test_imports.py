"""Imports point one way: the order below is that of the architecture, and no function imports anything."""

import ast
import sys
from pathlib import Path

import torchkeras

PACKAGE = Path(torchkeras.__file__).parent

# A module may import those that stand before it. A folder stands for all its modules, which may import each other.
ORDER = [
    "policy",
    "config",
    "mixed_precision",
    "saving.errors",
    "bytecode",
    "legacy",
    "arrays",
    "arrangement",
    "registry",
    "engine.naming",
    "declared",
    *("activations", "initializers", "regularizers", "constraints", "losses", "metrics"),
    *("parameter_groups", "optimizers"),
    *(
        "engine.tracing",
        *("engine.layout", "engine.modes", "engine.keys", "engine.structure", "engine.containers", "engine.meta_run"),
        *("engine.torch_functions", "engine.einops_backend", "engine.sizes"),
        "engine.symbol",
        "engine.precision",
        "engine.facts",
        "engine.spec",
        "engine.options",
        "engine.weight",
        "engine.owner",
        "engine.calls",
        "engine.shapes",
    ),
    *(
        "engine.functions",
        *("engine.call_arguments", "engine.call_text"),
        *("engine.added", "engine.calling", "engine.layer"),
        "engine.direct",
        *("engine.function_shapes", "engine.operation", "engine.applying"),
        "engine.input",
        "engine.graph",
        "engine.codegen",
        "engine.flops",
        "engine.summary",
        "engine.notebook",
    ),
    *("engine.call_forms", "engine.network", "engine.replacing", "engine.inference", "engine.subclassed"),
    *(
        "engine.rng",
        "engine.raw",
        "engine.prefetch",
        "engine.data",
        "engine.objectives",
        "engine.measures",
        "engine.compiled",
        "engine.checks",
        "engine.weighting",
        "engine.intake",
        "engine.sources",
        "saving.files.atomic",
        "saving.formats",
        "callbacks",
        "engine.guard",
        "engine.memory",
        "engine.scaling",
        *("engine.reach", "engine.recipe"),
        "engine.scoring",
        "engine.steps",
        "engine.one_graph",
        "engine.graphed",
        "engine.auto",
        "engine.loop",
        "engine.jit",
        "engine.late",
        "engine.run",
        "engine.gathered",
        "engine.fitting",
        "engine.one_process",
        "engine.extending",
        "engine.compiling",
        "engine.generators",
        "engine.trainer",
    ),
    "layers",
    "saving.files",
    *("saving.layouts.origin", "saving.layouts.matching", "saving.layouts.orderings"),
    *("saving.structure", "saving.architecture", "saving.dialects.keras0"),
    *("saving.layouts", "saving.reordering", "saving.optimizer_options", "saving.optimizer_state"),
    *("saving.dialects.dialect", "saving.dialects.later_training", "saving.keras2"),
    *("saving.sources", "saving.training"),
    *("saving.unwritten", "saving.dialects", "saving.loading"),
    "saving.writing",
    "visualization",
    "utils",
    "models",
    "utils",
    "__init__",
    *(
        "export.errors",
        "export.plain",
        "export.examples",
        "export.checking",
        "export.program",
        "export.onnx",
        "export.exporting",
    ),
    *("commands", "__main__"),
]


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if len(parts) > 1 and parts[-1] == "__init__" else parts)


def place(name: str) -> int:
    """Where a module stands: as itself, or as its folder."""
    while name not in ORDER:
        name = name.rpartition(".")[0]
        assert name, "not in ORDER"
    return ORDER.index(name)


def imported(tree: ast.AST) -> list[ast.Import | ast.ImportFrom]:
    return [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]


def own_imports(path: Path) -> set[str]:
    """The modules of the package that a file imports when it runs; those for type checkers alone do not count."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            node.body = []
    found = set()
    for node in imported(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "torchkeras":
            base = (node.module or "").removeprefix("torchkeras").lstrip(".")
            for alias in node.names:
                candidate = f"{base}.{alias.name}".lstrip(".")
                is_module = any((PACKAGE / candidate.replace(".", "/")).with_suffix(s).exists() for s in ("", ".py"))
                found.add(candidate if is_module else base)
    return found - {""}


# The `__init__` of a folder that is not one entry of ORDER is empty.
FILES = sorted(path for path in PACKAGE.rglob("*.py") if path.read_text())


def test_imports_point_one_way():
    wrong = []
    for path in FILES:
        name = module_name(path)
        wrong += [f"{name} imports {other}" for other in own_imports(path) if place(other) > place(name)]
    assert wrong == []


def test_no_function_imports():
    inside = [
        f"{module_name(path)}: {node.name}"
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and imported(node)
    ]
    assert inside == []


def test_only_the_core_dependencies_are_imported():
    allowed = {"torch", "numpy", "h5py", "tqdm", "torchkeras", "__future__"}
    names = {
        (node.module or "") if isinstance(node, ast.ImportFrom) else alias.name
        for path in FILES
        for node in imported(ast.parse(path.read_text()))
        for alias in node.names
    }
    assert {name.partition(".")[0] for name in names} - allowed - set(sys.stdlib_module_names) == set()
